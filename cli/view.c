/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * view.c - saltus view: runs a scene if the target is one, writes the report, and opens it in a browser.
 */
#include "report.h"

#include "saltus/version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 4096 };

static bool is_recording(const char* target) {
  const char* dot = strrchr(target, '.');
  return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".csv") == 0);
}

/* The name of a target without folders and extension, for files. */
static void stem_of(const char* target, char* stem, size_t bytes) {
  const char* slash = strrchr(target, '/');
  const char* name = slash != NULL ? slash + 1 : target;
  const char* dot = strrchr(name, '.');
  int length = dot != NULL && dot != name ? (int)(dot - name) : (int)strlen(name);
  snprintf(stem, bytes, "%.*s", length > 0 ? length : 1, length > 0 ? name : "-");
  if (strcmp(stem, "-") == 0) { /* the standard input */
    snprintf(stem, bytes, "scene");
  }
}

/* `saltus run` with the arguments of this command. */
static int run_scene(const cli_args* args, const char* recording) {
  int count;
  const cli_command* commands = cli_commands(&count);
  const cli_command* run = NULL;
  for (int i = 0; i < count; i++) {
    run = strcmp(commands[i].name, "run") == 0 ? &commands[i] : run;
  }
  cli_args made = {.command = run, .positional_count = 1, .positional = {args->positional[0]}};
  for (int k = 0; k < run->option_count; k++) {
    const cli_option* option = &run->options[k];
    for (int i = 0; i < args->given_count; i++) {
      const bool same = strcmp(args->given[i].option->name, option->name) == 0;
      if (same && strcmp(option->name, "-o") != 0 && strcmp(option->name, "--force") != 0 &&
          made.given_count < CLI_MOST - 1) {
        made.given[made.given_count++] = (cli_given){option, args->given[i].value};
      }
    }
    if (strcmp(option->name, "-o") == 0) {
      made.given[made.given_count++] = (cli_given){option, recording};
    }
  }
  return run->run(&made);
}

/* Opens a page in the viewer of the desktop; prints its path when there is none. */
static void open_page(const char* path) {
  static const char* const openers[] = {"xdg-open", "open", "sensible-browser"};
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stderr) != NULL) {
      for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
        execlp(openers[i], openers[i], path, (char*)NULL);
      }
    }
    _exit(127);
  }
  int state = 0;
  const bool ended = child > 0 && waitpid(child, &state, 0) == child;
  if (!ended || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    printf("Open it with a browser; none could be started here.\n");
  }
}

/* Path of the page: -o, or a new temporary folder. */
static int choose_paths(const cli_args* args, char* page, char* recording) {
  char folder[PATH / 4], stem[PATH / 8];
  const char* temporary = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/saltus-XXXXXX", temporary != NULL ? temporary : "/tmp");
  stem_of(args->positional[0], stem, sizeof stem);
  if (mkdtemp(folder) == NULL) {
    cli_error("view: %s: %s", folder, strerror(errno));
    return CLI_FAILED;
  }
  const char* out = cli_value(args, "-o");
  snprintf(recording, PATH, "%s/%s.%s", folder, stem, saltus_has("hdf5") ? "h5" : "csv");
  if (out != NULL) {
    snprintf(page, PATH, "%s", out);
  } else {
    snprintf(page, PATH, "%s/%s.html", folder, stem);
  }
  return CLI_DONE;
}

int cli_view(const cli_args* args) {
  char page[PATH], recording[PATH];
  const char* target = args->positional[0];
  int code = choose_paths(args, page, recording);
  if (code == CLI_DONE && !is_recording(target)) {
    code = run_scene(args, recording);
    target = recording;
  }
  if (code == CLI_DONE) {
    const cli_report report = {
        .recording = target, .out = page, .certify = !cli_has(args, "--no-certificate")};
    code = cli_report_write(args, &report);
  }
  if (target == recording && code == CLI_DONE) {
    remove(recording);
  }
  if (code == CLI_DONE && !cli_has(args, "--no-open")) {
    open_page(page);
  }
  return code;
}
