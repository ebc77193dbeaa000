/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * play.c - entry points of the playground: a scene as text becomes the document of a run. The recording is a table in
 * memory.
 */
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
EM_JS(void, play_tell, (double t, double end), { Module["onProgress"](t, end); });
#define EXPORT EMSCRIPTEN_KEEPALIVE
#else
#define EXPORT
static void play_tell(double t, double end) {
  (void)t, (void)end;
}
#endif

/* Runs with a fixed step and more steps than this are recorded as the scene says, without a certificate. */
static const double all_steps = 20000.0;

enum { MOST_OVERRIDES = 64, MESSAGES = 8192, EXPLANATION = 8192, NAMES = 4096 };

/* The result of a run; one at a time. */
typedef struct play {
  char messages[MESSAGES];
  unsigned char* bytes;
  size_t count, room;
} play;

EXPORT play* play_run(const char* text, const char* scheme, const char* overrides, double tol,
                      double step, double until);
EXPORT const unsigned char* play_document(const play* p);
EXPORT size_t play_bytes(const play* p);
EXPORT const char* play_message(const play* p);
EXPORT void play_free(play* p);
EXPORT const char* play_schemes(void);

static void hear(void* user, saltus_level level, const char* text) {
  play* p = user;
  const size_t used = strlen(p->messages);
  if (level != SALTUS_LEVEL_NOTE && used + 2 < MESSAGES) {
    snprintf(p->messages + used, MESSAGES - used, "%s%s\n",
             level == SALTUS_LEVEL_WARNING ? "warning: " : "", text);
  }
}

static saltus_status take(void* user, const void* bytes, size_t size) {
  play* p = user;
  if (p->count + size > p->room) {
    p->room = 2 * (p->count + size);
    unsigned char* larger = realloc(p->bytes, p->room);
    if (larger == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    p->bytes = larger;
  }
  memcpy(p->bytes + p->count, bytes, size);
  p->count += size;
  return SALTUS_OK;
}

static saltus_status tell(void* user, double t, double end, long long steps) {
  (void)user, (void)steps;
  play_tell(t, end);
  return SALTUS_OK;
}

/* "name=value" lines, cut in place; how many. */
static int cut(char* lines, saltus_override* list) {
  int count = 0;
  for (char* line = strtok(lines, "\n"); line != NULL && count < MOST_OVERRIDES;
       line = strtok(NULL, "\n")) {
    char* equals = strchr(line, '=');
    if (equals != NULL) {
      *equals = '\0';
      list[count++] = (saltus_override){.name = line, .value = equals + 1};
    }
  }
  return count;
}

/* Runs and records; a run that stops early keeps its frames. */
static saltus_status record(const saltus_scene_view* scene, const saltus_run_def* def,
                            const char* path, saltus_log log) {
  saltus_run* run;
  saltus_status status = saltus_run_create(def, &run);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_run_settings* settings = saltus_run_get_settings(run);
  saltus_recording_def file = saltus_recording_def_default();
  saltus_recording* recording = NULL;
  file.path = path;
  file.force = true;
  file.flush_interval = 1e9;
  file.system = scene->system;
  file.joint_names = scene->joint_names;
  file.observables = scene->observables;
  file.name = scene->name;
  file.scheme = settings->scheme->name;
  file.options = settings->options_text;
  file.scene = scene->text;
  file.until = settings->until;
  file.log = log;
  status = saltus_recording_create(&file, &recording);
  if (status == SALTUS_OK) {
    status = saltus_run_record(run, saltus_recording_recorder(recording));
  }
  if (status == SALTUS_OK) {
    status = saltus_run_execute(run);
    const saltus_run_result* result = saltus_run_outcome(run);
    char explanation[EXPLANATION];
    saltus_run_explain(run, explanation, sizeof explanation);
    saltus_recording_explain(recording, explanation);
    const saltus_recording_summary summary = {.failure =
                                                  status == SALTUS_OK ? NULL : result->reason,
                                              .steps = result->steps,
                                              .cpu_seconds = NAN};
    const saltus_status closed = saltus_recording_close(recording, &summary);
    status = result->frames > 1 ? closed : status;
  }
  saltus_recording_destroy(recording);
  saltus_run_destroy(run);
  return status;
}

static void report(play* p, const saltus_scene_view* scene, const char* path, saltus_log log) {
  saltus_recording_data* data;
  if (saltus_recording_read(path, log, NULL, &data) != SALTUS_OK) {
    return;
  }
  saltus_report_def def = saltus_report_def_default();
  saltus_certificate certificate;
  saltus_verify_def judge = saltus_verify_def_of(scene, data);
  def.data = data;
  def.scene = scene;
  def.log = log;
  def.write = take;
  def.user = p;
  const saltus_scheme_info* scheme = saltus_scheme_find(data->scheme);
  const bool dense = scheme != NULL && scheme->chooses_step && scheme->dense;
  if (data->count < 20000 && saltus_verify_has_steps(data, dense) &&
      saltus_verify(&judge, &certificate) == SALTUS_OK) {
    def.certificate = &certificate;
  }
  if (saltus_report_document(&def, NULL) != SALTUS_OK) {
    p->count = 0;
  }
  saltus_recording_data_destroy(data);
}

/* Whether all steps are recorded: of schemes that choose them, and of a moderate number of fixed ones. */
static bool every_step(const saltus_run_def* def) {
  const saltus_scene_view* scene = def->scene;
  const double end = isfinite(def->until) ? def->until : scene->until;
  const double step = isfinite(def->step) ? def->step : scene->step;
  const bool fixed = !isfinite(def->tol) && isfinite(step) && step > 0.0;
  return !fixed || !isfinite(end) || end / step < all_steps;
}

play* play_run(const char* text, const char* scheme, const char* overrides, double tol, double step,
               double until) {
  static const char path[] = "/tmp/run.csv";
  play* p = calloc(1, sizeof *p);
  char* lines = strdup(overrides);
  saltus_override list[MOST_OVERRIDES];
  if (p == NULL || lines == NULL) {
    free(lines);
    return p;
  }
  const saltus_log log = {.write = hear, .user = p};
  const saltus_scene_def scene_def = {.text = text,
                                      .path = "scene",
                                      .overrides = list,
                                      .override_count = cut(lines, list),
                                      .log = log};
  saltus_scene* scene;
  if (saltus_scene_create(&scene_def, &scene) == SALTUS_OK) {
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    def.scheme = scheme[0] != '\0' ? scheme : NULL;
    def.tol = tol > 0.0 ? tol : NAN;
    def.step = step > 0.0 ? step : NAN;
    def.until = until > 0.0 ? until : NAN;
    def.record_jumps = true;
    def.record_middles = true;
    if (every_step(&def)) {
      def.record_every = 1; /* as saltus run --certify */
    }
    def.progress = (saltus_progress){.report = tell};
    def.log = log;
    if (record(def.scene, &def, path, log) == SALTUS_OK) {
      report(p, def.scene, path, log);
    }
    saltus_scene_destroy(scene);
    remove(path);
    remove("/tmp/run.events.csv");
    remove("/tmp/run.contacts.csv");
  }
  free(lines);
  return p;
}

const unsigned char* play_document(const play* p) {
  return p->bytes;
}

size_t play_bytes(const play* p) {
  return p->count;
}

const char* play_message(const play* p) {
  return p->messages;
}

/* Names of all schemes, with blanks between them. */
const char* play_schemes(void) {
  static char names[NAMES];
  names[0] = '\0';
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? " " : "",
             saltus_scheme_at(i)->name);
  }
  return names;
}

void play_free(play* p) {
  if (p != NULL) {
    free(p->bytes);
    free(p);
  }
}
