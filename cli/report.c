/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * report.c - saltus report: a recording as one page for browsers.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "report.h"

#include "design.h"
#include "files.h"
#include "saltus/report.h"
#include "verify.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static saltus_status write_bytes(void* user, const void* bytes, size_t size) {
  return fwrite(bytes, 1, size, user) == size ? SALTUS_OK : SALTUS_ERR_IO;
}

/* Beginning of a page written by Saltus; other files are replaced only with --force. */
static bool may_replace(const char* path, bool force) {
  static const char mark[] = "<!doctype html><!-- saltus report -->";
  char begin[sizeof mark] = "";
  struct stat there;
  const bool regular =
      stat(path, &there) == 0 && S_ISREG(there.st_mode); /* others are refused later */
  FILE* file = force || !regular ? NULL : fopen(path, "rb");
  if (file == NULL) {
    return true;
  }
  const size_t count = fread(begin, 1, sizeof mark - 1, file);
  fclose(file);
  return count == 0 || memcmp(begin, mark, sizeof mark - 1) == 0;
}

static int write_page(const char* path, saltus_report_def* def, saltus_report_about* about) {
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code != CLI_DONE) {
    return code;
  }
  def->write = write_bytes;
  def->user = out.file;
  saltus_status status = saltus_report_page(def, about);
  if (status != SALTUS_OK && status != SALTUS_ERR_IO) { /* after a message */
    (void)saltusi_replacement_close(&out, false);
    return cli_exit_code(status);
  }
  return cli_file_close(&out, status == SALTUS_OK);
}

/* Design quantities of a run as JSON, malloc'd; NULL: none. */
static char* answers_of(const saltus_recording_data* data, const saltus_scene_view* view) {
  cli_design design = {.wanted = true};
  char* text = NULL;
  size_t size = 0;
  const bool fits = data->nq == view->system->dims.nq && data->nv == view->system->dims.nv &&
                    data->nj == view->system->dims.nj &&
                    (data->changing || data->nc == view->system->dims.nc);
  FILE* out = fits ? open_memstream(&text, &size) : NULL;
  if (out != NULL && cli_design_start(&design, view)) {
    cli_design_replay(&design, data);
    json writer = {.file = out};
    json_open(&writer, NULL, '{');
    cli_design_json(&writer, &design);
    json_close(&writer, '}');
  }
  if (out != NULL) {
    fclose(out);
  }
  cli_design_free(&design);
  return text;
}

static int report(const cli_report* r, saltus_recording_data* data, const cli_model* model) {
  saltus_report_def def = saltus_report_def_default();
  saltus_report_about about;
  cli_certificate made = {.data = data};
  def.data = data;
  def.scene = model != NULL ? &model->view : NULL;
  def.log = cli_log();
  if (model != NULL && r->certify &&
      cli_certificate_make(r->recording, &model->view, &made) == CLI_DONE && made.every_step) {
    def.certificate = &made.certificate;
  }
  saltus_table* measured = NULL;
  if (r->measured != NULL &&
      saltus_table_read(r->measured, cli_log(), NULL, &measured) != SALTUS_OK) {
    return CLI_USAGE;
  }
  char* answers = model != NULL ? answers_of(data, &model->view) : NULL;
  def.answers = answers;
  def.measured = measured;
  int code = write_page(r->out, &def, &about);
  free(answers);
  saltus_table_destroy(measured);
  if (code == CLI_DONE) {
    printf("Report: %s", r->out);
    if (about.shown < about.recorded) {
      printf(", %lld of %lld states%s", about.shown, about.recorded,
             about.events_shown ? ", with those beside every event" : "; all events are listed");
    }
    printf("\n");
  }
  return code;
}

int cli_report_write(const cli_args* args, const cli_report* r) {
  if (!saltus_report_has_viewer()) {
    cli_error("%s: this build has no viewer; it is made where node and npm are installed "
              "(docs/viewer.md)",
              args->command->name);
    return CLI_FAILED;
  }
  if (!may_replace(r->out, cli_has(args, "--force"))) {
    cli_error("%s exists and is not a report; --force overwrites it", r->out);
    return CLI_USAGE;
  }
  saltus_recording_data* data;
  if (saltus_recording_read(r->recording, cli_log(), NULL, &data) != SALTUS_OK) {
    return CLI_USAGE;
  }
  cli_model model = {.target = r->recording};
  int code = CLI_USAGE;
  if (data->count < 1) {
    cli_error("%s: %s holds no states yet", args->command->name, r->recording);
  } else if (data->scene[0] == '\0') { /* of a problem, or of another program */
    code = report(r, data, NULL);
  } else {
    code = cli_model_open_text(args, r->recording, data->scene, &model);
    code = code == CLI_DONE ? report(r, data, &model) : code;
  }
  cli_model_close(&model);
  saltus_recording_data_destroy(data);
  return code;
}

/* Prints a page by a browser without a window. */
static int print_page(const char* page, const char* out) {
  static const char* const browsers[] = {"chromium", "chromium-browser", "google-chrome"};
  char url[4200], to[4200], full[PATH_MAX];
  if (realpath(page, full) == NULL) {
    cli_error("report: %s: %s", page, strerror(errno));
    return CLI_FAILED;
  }
  snprintf(url, sizeof url, "file://%s", full);
  snprintf(to, sizeof to, "--print-to-pdf=%s", out);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const char* sandbox = geteuid() == 0 ? "--no-sandbox" : "--headless"; /* root has no sandbox */
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(nowhere, STDERR_FILENO) >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0) {
      for (size_t i = 0; i < sizeof browsers / sizeof browsers[0]; i++) {
        execlp(browsers[i], browsers[i], "--headless", sandbox, "--use-angle=swiftshader",
               "--enable-unsafe-swiftshader", "--no-pdf-header-footer",
               "--virtual-time-budget=5000", to, url, (char*)NULL);
      }
    }
    _exit(127);
  }
  int state = 0;
  const bool ended = child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state);
  if (!ended || WEXITSTATUS(state) != 0 || access(out, R_OK) != 0) {
    cli_error(ended && WEXITSTATUS(state) == 127
                  ? "report: --pdf needs chromium, which is not installed"
                  : "report: %s could not be printed by chromium",
              out);
    return CLI_FAILED;
  }
  printf("Printed: %s\n", out);
  return CLI_DONE;
}

int cli_report_command(const cli_args* args) {
  const char* pdf = cli_value(args, "--pdf");
  char beside[4096];
  cli_report r = {.recording = args->positional[0],
                  .out = cli_value(args, "-o"),
                  .measured = cli_value(args, "--measured"),
                  .certify = !cli_has(args, "--no-certificate")};
  if (r.out == NULL) {
    const char* dot = strrchr(r.recording, '.');
    int stem = dot != NULL ? (int)(dot - r.recording) : (int)strlen(r.recording);
    snprintf(beside, sizeof beside, "%.*s.html", stem, r.recording);
    r.out = beside;
  }
  struct stat there;
  if (pdf != NULL && stat(pdf, &there) == 0 && !cli_has(args, "--force")) {
    cli_error("%s exists and is not overwritten; give another name, or --force", pdf);
    return CLI_USAGE;
  }
  const int code = cli_report_write(args, &r);
  return code == CLI_DONE && pdf != NULL ? print_page(r.out, pdf) : code;
}
