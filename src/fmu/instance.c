/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * instance.c - see instance.h.
 */
#include "fmu/instance.h"

#include "base/log.h"
#include "base/number.h"
#include "base/regular.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times of importers are sums: differences up to this, relative to 1 s or to the time, are rounding. */
static const double equal_times = 1e-9;

static double slack(double t) {
  return equal_times * fmax(1.0, fabs(t));
}

/* ---- opening ---- */

/* A file of the resources with a terminating zero; NULL after a message. */
static char* load(saltusi_fmu_instance* in, const char* folder, const char* name, size_t* size) {
  char* path = saltusi_pool_join(&in->pool, folder, name);
  FILE* file = path != NULL ? saltusi_regular_stream(path) : NULL;
  const long bytes = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* text = bytes >= 0 ? SALTUSI_TAKE(&in->pool, char, bytes + 1) : NULL;
  bool read = text != NULL && fseek(file, 0, SEEK_SET) == 0 &&
              fread(text, 1, (size_t)bytes, file) == (size_t)bytes;
  if (!read) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s%s: %s", folder, name,
                file == NULL ? saltusi_regular_reason(errno) : "could not be read");
  }
  if (file != NULL) {
    fclose(file);
  }
  *size = read ? (size_t)bytes : 0;
  return read ? text : NULL;
}

/* The token of the resources, with meshes. */
static saltus_status read_token(saltusi_fmu_instance* in, const char* folder,
                                const saltusi_export_file first[2]) {
  enum { MOST = 4096 };
  const char* path;
  char name[48];
  int count = 0;
  while (count < MOST && saltus_scene_file(in->base, count, &path, name)) {
    count++;
  }
  saltusi_export_file* files = SALTUSI_TAKE(&in->pool, saltusi_export_file, count + 2);
  if (files == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  files[0] = first[0];
  files[1] = first[1];
  for (int i = 0; i < count; i++) {
    saltus_scene_file(in->base, i, &path, name);
    files[i + 2].bytes = load(in, folder, path, &files[i + 2].size);
    if (files[i + 2].bytes == NULL) {
      return SALTUS_ERR_IO;
    }
  }
  saltusi_export_token(files, count + 2, in->token);
  return SALTUS_OK;
}

static saltus_status open_scene(saltusi_fmu_instance* in, const char* folder) {
  saltusi_export_file files[2] = {{.name = "scene.tree"}, {.name = "export.txt"}};
  char* texts[2];
  for (int i = 0; i < 2; i++) {
    texts[i] = load(in, folder, files[i].name, &files[i].size);
    files[i].bytes = texts[i];
    if (texts[i] == NULL) {
      return SALTUS_ERR_IO;
    }
  }
  const char* path = saltusi_pool_join(&in->pool, folder, "scene.tree");
  if (path == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  if (strlen(texts[0]) != files[0].size || strlen(texts[1]) != files[1].size) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%s: contains zero bytes", path);
    return SALTUS_ERR_INPUT;
  }
  const saltus_scene_def def = {.path = path, .text = texts[0], .log = in->log, .ramps = true};
  saltus_status status = saltus_scene_create(&def, &in->base);
  in->scene = in->base;
  status = status == SALTUS_OK ? read_token(in, folder, files) : status;
  if (status == SALTUS_OK && !saltusi_export_settings_read(texts[1], &in->settings)) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "%sexport.txt: not the settings of an export", folder);
    status = SALTUS_ERR_INPUT;
  }
  return status;
}

static saltus_status list_variables(saltusi_fmu_instance* in) {
  const saltus_scene_view* view = saltus_scene_get_view(in->base);
  saltus_status status = saltusi_variables_list(view, &in->pool, &in->variables, &in->count);
  const int outputs = view->observables != NULL ? view->observables->output_count : 0;
  in->given = SALTUSI_TAKE(&in->pool, bool, in->count + 1);
  in->values = SALTUSI_TAKE(&in->pool, double, in->count + 1);
  in->outputs = SALTUSI_TAKE(&in->pool, double, outputs + 1);
  in->inputs = SALTUSI_TAKE(&in->pool, double, view->input_count + 1);
  in->slopes = SALTUSI_TAKE(&in->pool, double, view->input_count + 1);
  in->ramps = view->interface->ramps;
  in->t0 = in->t = view->start;
  return in->pool.failed ? SALTUS_ERR_MEMORY : status;
}

saltusi_fmu_instance* saltusi_fmu_instance_open(const char* folder, saltus_log log) {
  assert(folder != NULL);
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_fmu_instance* in = SALTUSI_TAKE(&pool, saltusi_fmu_instance, 1);
  if (in == NULL) {
    return NULL;
  }
  *in = (saltusi_fmu_instance){.pool = pool, .log = log, .stop = NAN, .tol = NAN};
  saltus_status status = open_scene(in, folder);
  status = status == SALTUS_OK ? list_variables(in) : status;
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "no memory");
  }
  if (status == SALTUS_OK) { /* whether it can be run at all */
    status = saltusi_fmu_instance_begin(in);
    saltus_run_destroy(in->run);
    in->run = NULL;
  }
  if (status != SALTUS_OK) {
    saltusi_fmu_instance_close(in);
    return NULL;
  }
  return in;
}

/* Drops the run and the scene with set values. */
static void drop(saltusi_fmu_instance* in) {
  saltus_run_destroy(in->run);
  in->run = NULL;
  if (in->scene != in->base) {
    saltus_scene_destroy(in->scene);
  }
  in->scene = in->base;
}

void saltusi_fmu_instance_close(saltusi_fmu_instance* in) {
  if (in != NULL) {
    drop(in);
    saltus_scene_destroy(in->base);
    saltusi_pool pool = in->pool;
    saltusi_pool_free(&pool);
  }
}

/* ---- initialisation ---- */

static saltus_status set_inputs(saltusi_fmu_instance* in, double since) {
  return in->ramps ? saltus_scene_set_ramps(in->scene, since, in->inputs, in->slopes)
                   : saltus_scene_set_inputs(in->scene, in->inputs);
}

/* The inputs and their slopes at the present time. */
static void look_inputs(saltusi_fmu_instance* in) {
  const double since = saltus_scene_ramps(in->scene, in->inputs, in->slopes);
  for (int i = 0; in->ramps && i < saltus_scene_get_view(in->base)->input_count; i++) {
    in->inputs[i] += in->slopes[i] * (in->t - since);
  }
}

/* The scene with the values that were set; inputs as set or at their starts. */
static saltus_status remake(saltusi_fmu_instance* in) {
  enum { TEXT = 32 };
  int count = 0;
  for (int i = 0; i < in->count; i++) {
    count += in->given[i] && in->variables[i].kind != SALTUSI_VARIABLE_INPUT;
  }
  drop(in);
  saltus_status status = SALTUS_OK;
  if (count > 0) {
    saltus_override* list = calloc((size_t)count, sizeof *list);
    char(*texts)[TEXT] = calloc((size_t)count, sizeof *texts);
    int n = 0;
    for (int i = 0; i < in->count && list != NULL && texts != NULL; i++) {
      if (in->given[i] && in->variables[i].kind != SALTUSI_VARIABLE_INPUT) {
        saltusi_print(texts[n], TEXT, "%.17g", in->values[i]);
        list[n] = (saltus_override){.name = in->variables[i].own, .value = texts[n]};
        n++;
      }
    }
    const saltus_scene_def def = {.like = in->base,
                                  .overrides = list,
                                  .override_count = n,
                                  .log = in->log,
                                  .mark = "",
                                  .ramps = true};
    saltus_scene* scene = NULL;
    status = n == count ? saltus_scene_create(&def, &scene) : SALTUS_ERR_MEMORY;
    in->scene = scene != NULL ? scene : in->base;
    free(list);
    free(texts);
  }
  for (int i = 0; i < in->count; i++) {
    const saltusi_variable* v = &in->variables[i];
    if (v->kind == SALTUSI_VARIABLE_INPUT) {
      in->inputs[v->index] = in->given[i] ? in->values[i] : v->start;
    }
  }
  in->outputs_known = false;
  in->dirty = status != SALTUS_OK;
  return status == SALTUS_OK ? set_inputs(in, in->t0) : status;
}

saltus_status saltusi_fmu_instance_experiment(saltusi_fmu_instance* in, double t0, double stop,
                                              double tol) {
  assert(in != NULL);
  const bool valid = isfinite(t0) && (isnan(stop) || (isfinite(stop) && stop > t0)) &&
                     (isnan(tol) || (isfinite(tol) && tol > 0.0));
  if (!valid) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR,
                "start %.17g s, end %.17g s, tolerance %g: the start must be finite, the end after "
                "it, the tolerance positive",
                t0, stop, tol);
    return SALTUS_ERR_RANGE;
  }
  in->t0 = in->t = t0;
  in->stop = stop;
  in->tol = tol;
  return SALTUS_OK;
}

saltus_status saltusi_fmu_instance_begin(saltusi_fmu_instance* in) {
  assert(in != NULL);
  saltus_status status = remake(in);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scene_view* view = saltus_scene_get_view(in->scene);
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.log = in->log;
  def.stepping = true;
  def.step_ends = in->update != NULL;
  def.threads = 1;
  def.scheme = in->settings.scheme;
  def.step = in->settings.step;
  def.tol = in->settings.tol;
  def.start = in->t0;
  def.until = isnan(in->stop) ? HUGE_VAL : in->stop;
  status = saltus_run_create(&def, &in->run);
  const saltus_run_settings* s = status == SALTUS_OK ? saltus_run_get_settings(in->run) : NULL;
  in->dense = s != NULL && s->scheme->chooses_step;
  const bool fixed = s != NULL && !in->dense && s->control == NULL;
  const bool tolerance = s != NULL && !isnan(in->tol) && !fixed;
  if (fixed ||
      tolerance) { /* steps of fixed length divide the time of the scene, not of the importer */
    saltus_run_destroy(in->run);
    in->run = NULL;
    def.tol = tolerance ? in->tol : def.tol;
    def.until = fixed && !isnan(view->until) ? in->t0 + (view->until - view->start) : def.until;
    status = saltus_run_create(&def, &in->run);
  }
  in->t = in->t0;
  in->left = false;
  in->outputs_known = false;
  return status;
}

saltus_status saltusi_fmu_instance_reset(saltusi_fmu_instance* in) {
  assert(in != NULL);
  memset(in->given, 0, (size_t)in->count * sizeof *in->given);
  memset(in->slopes, 0, (size_t)saltus_scene_get_view(in->base)->input_count * sizeof(double));
  in->t0 = in->t = saltus_scene_get_view(in->base)->start;
  in->stop = in->tol = NAN;
  in->left = false;
  return remake(in);
}

/* ---- values ---- */

static saltus_status refuse(saltusi_fmu_instance* in, unsigned reference, const char* why) {
  saltusi_log(in->log, SALTUS_LEVEL_ERROR, "value reference %u (%s) %s", reference,
              reference < (unsigned)in->count ? in->variables[reference].name : "unknown", why);
  return SALTUS_ERR_NAME;
}

static void look(const saltusi_fmu_instance* in, const double** q, const double** v) {
  const saltus_scene_view* view = saltus_scene_get_view(in->scene);
  *q = view->q0;
  *v = view->v0;
  if (in->run != NULL) {
    const saltus_run_instant now = saltus_run_present(in->run);
    *q = in->left ? now.q_left : now.q;
    *v = in->left ? now.v_left : now.v;
  }
}

static saltus_status compute_outputs(saltusi_fmu_instance* in) {
  if (in->outputs_known) {
    return SALTUS_OK;
  }
  const double *q, *v;
  look(in, &q, &v);
  const saltus_status status =
      in->run != NULL
          ? saltus_run_outputs(in->run, in->left ? SALTUS_LEFT : SALTUS_RIGHT, in->outputs)
          : saltus_scene_outputs(in->scene, in->t, q, v, NULL, in->outputs);
  in->outputs_known = status == SALTUS_OK;
  return status;
}

saltus_status saltusi_fmu_instance_get(saltusi_fmu_instance* in, unsigned reference,
                                       double* value) {
  assert(in != NULL && value != NULL && in->count >= 0);
  if (reference >= (unsigned)in->count) {
    return refuse(in, reference, "does not exist");
  }
  saltus_status status = in->dirty && in->run == NULL ? remake(in) : SALTUS_OK;
  if (status != SALTUS_OK) {
    return status;
  }
  const saltusi_variable* one = &in->variables[reference];
  const double *q, *v;
  look(in, &q, &v);
  switch (one->kind) {
  case SALTUSI_VARIABLE_TIME:
    *value = in->t;
    break;
  case SALTUSI_VARIABLE_Q:
    *value = q[one->index];
    break;
  case SALTUSI_VARIABLE_V:
    *value = v[one->index];
    break;
  case SALTUSI_VARIABLE_OUTPUT:
    status = compute_outputs(in);
    *value = in->outputs[one->index];
    break;
  case SALTUSI_VARIABLE_INPUT:
    look_inputs(in);
    *value = in->inputs[one->index];
    break;
  case SALTUSI_VARIABLE_PARAMETER:
    *value = saltus_scene_get_view(in->scene)->interface->parameters[one->index].value;
    break;
  }
  return status;
}

saltus_status saltusi_fmu_instance_set(saltusi_fmu_instance* in, unsigned reference, double value) {
  assert(in != NULL);
  if (reference >= (unsigned)in->count || !in->variables[reference].settable) {
    return refuse(in, reference, "cannot be set");
  }
  if (!isfinite(value)) {
    saltus_status status = refuse(in, reference, "is not finite");
    return status == SALTUS_ERR_NAME ? SALTUS_ERR_RANGE : status;
  }
  const saltusi_variable* one = &in->variables[reference];
  if (one->kind != SALTUSI_VARIABLE_INPUT && in->run != NULL) {
    return refuse(in, reference, "is fixed after the initialisation");
  }
  in->given[reference] = true;
  in->values[reference] = value;
  in->outputs_known = false;
  if (one->kind != SALTUSI_VARIABLE_INPUT) {
    in->dirty = true;
    return SALTUS_OK;
  }
  look_inputs(in);
  const double now = in->inputs[one->index];
  const bool ramp =
      in->slopes[one->index] != 0.0; /* goes on if the value is its own, to rounding */
  if (value == now || (ramp && fabs(value - now) <= 4.0 * DBL_EPSILON * fabs(now))) {
    return SALTUS_OK;
  }
  in->inputs[one->index] = value;
  return set_inputs(in, in->t);
}

saltus_status saltusi_fmu_instance_set_slope(saltusi_fmu_instance* in, unsigned reference,
                                             double slope) {
  assert(in != NULL);
  if (reference >= (unsigned)in->count || !in->ramps ||
      in->variables[reference].kind != SALTUSI_VARIABLE_INPUT) {
    return refuse(in, reference, "cannot have a derivative");
  }
  const int i = in->variables[reference].index;
  look_inputs(in);
  if (in->slopes[i] == slope) {
    return SALTUS_OK;
  }
  in->slopes[i] = slope;
  return set_inputs(in, in->t);
}

/* ---- steps ---- */

/* Shows the state at the end of an own step; where the communication step ends. */
static double update_at(saltusi_fmu_instance* in, double t, double target) {
  in->t = t;
  in->outputs_known = false;
  const double end = in->update(in->user, t, target);
  in->outputs_known = false;
  return end < target ? fmax(t, end) : target;
}

saltus_status saltusi_fmu_instance_step(saltusi_fmu_instance* in, double target, bool early,
                                        bool sides, bool* happened) {
  assert(in != NULL && in->run != NULL && happened != NULL);
  *happened = false;
  in->outputs_known = false;
  in->left = false;
  if (!isnan(in->stop) && fabs(target - in->stop) <= slack(target)) {
    target = in->stop; /* sums of communication steps */
  }
  const double now = saltus_run_present(in->run).t;
  if (target <= now) { /* the same point by another sum */
    return target > now - slack(now) ? SALTUS_OK : SALTUS_ERR_RANGE;
  }
  /* An impact in the last 1e-9 before the target counts as one at the target, and not as an early return. */
  const saltus_event* event = NULL;
  const unsigned stop = early && in->dense ? SALTUS_STOP(SALTUS_EVENT_IMPACT) : 0U;
  saltus_status status;
  bool inside; /* of the communication step, at the end of an own step */
  do {
    status = saltus_run_advance(in->run, target, stop, &event);
    *happened = *happened || (event != NULL && event->t > now);
    const double t = saltus_run_present(in->run).t;
    inside = in->update != NULL && status == SALTUS_OK && event == NULL && t < target;
    target = inside ? update_at(in, t, target) : target;
  } while (status == SALTUS_OK &&
           ((inside && in->t < target) ||
            (event != NULL && (!(event->t > now) || event->t >= target - slack(target)))));
  in->t = saltus_run_present(in->run).t;
  in->left = *happened && sides && status == SALTUS_OK;
  return status;
}

saltus_status saltusi_fmu_instance_update(saltusi_fmu_instance* in) {
  assert(in != NULL);
  in->left = false;
  in->outputs_known = false;
  const saltus_event* event = NULL;
  saltus_status status = SALTUS_OK;
  do { /* all impacts of the instant */
    status = in->run != NULL && in->dense
                 ? saltus_run_advance(in->run, saltus_run_present(in->run).t,
                                      SALTUS_STOP(SALTUS_EVENT_IMPACT), &event)
                 : SALTUS_OK;
  } while (status == SALTUS_OK && event != NULL);
  return status;
}

/* ---- state: head | values | given | inputs and slopes | run ---- */

typedef struct instance_head {
  char magic[8];
  char token[40];
  double t0, stop, tol, t, since; /* since: of the ramps of inputs */
  int64_t count, left, running;
  uint64_t run;
} instance_head;

static size_t fixed_bytes(const saltusi_fmu_instance* in) {
  const int inputs = saltus_scene_get_view(in->base)->input_count;
  return sizeof(instance_head) + (size_t)in->count * (sizeof(double) + 1) +
         2 * (size_t)inputs * sizeof(double);
}

size_t saltusi_fmu_instance_bytes(const saltusi_fmu_instance* in) {
  assert(in != NULL);
  return fixed_bytes(in) + (in->run != NULL ? saltus_run_state_bytes(in->run) : 0);
}

void saltusi_fmu_instance_save(const saltusi_fmu_instance* in, void* bytes) {
  assert(in != NULL && bytes != NULL);
  instance_head head = {.t0 = in->t0,
                        .stop = in->stop,
                        .tol = in->tol,
                        .t = in->t,
                        .since = saltus_scene_ramps(in->scene, in->inputs, in->slopes),
                        .count = in->count,
                        .left = in->left,
                        .running = in->run != NULL,
                        .run = in->run != NULL ? saltus_run_state_bytes(in->run) : 0};
  memcpy(head.magic, "saltus-f", sizeof head.magic);
  memcpy(head.token, in->token, sizeof in->token);
  unsigned char* to = bytes;
  memcpy(to, &head, sizeof head);
  to += sizeof head;
  for (int i = 0; i < in->count; i++, to += sizeof(double)) {
    const double value = in->given[i] ? in->values[i] : 0.0;
    memcpy(to, &value, sizeof value);
  }
  for (int i = 0; i < in->count; i++) {
    *to++ = in->given[i] ? 1 : 0;
  }
  const size_t inputs = (size_t)saltus_scene_get_view(in->base)->input_count * sizeof(double);
  memcpy(to, in->inputs, inputs);
  memcpy(to + inputs, in->slopes, inputs);
  if (in->run != NULL) {
    saltus_run_state_save(in->run, to + 2 * inputs);
  }
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

/* Takes over the values of the bytes; true if scene and run are those of the saved instance. */
static bool take_values(saltusi_fmu_instance* in, const instance_head* head,
                        const unsigned char* from) {
  const unsigned char* given = from + (size_t)in->count * sizeof(double);
  bool kept = head->t0 == in->t0 && same(head->stop, in->stop) && same(head->tol, in->tol) &&
              !in->dirty && (head->running != 0) == (in->run != NULL);
  for (int i = 0; i < in->count; i++) {
    double value;
    memcpy(&value, from + (size_t)i * sizeof value, sizeof value);
    const bool is_given = given[i] != 0 && isfinite(value) && in->variables[i].settable;
    if (in->variables[i].kind != SALTUSI_VARIABLE_INPUT) {
      kept = kept && in->given[i] == is_given && (!is_given || in->values[i] == value);
    }
    in->given[i] = is_given;
    in->values[i] = value;
  }
  in->t0 = head->t0;
  in->stop = head->stop;
  in->tol = head->tol;
  return kept;
}

saltus_status saltusi_fmu_instance_load(saltusi_fmu_instance* in, const void* bytes, size_t size) {
  assert(in != NULL && bytes != NULL);
  instance_head head = {.count = -1};
  if (size >= sizeof head) {
    memcpy(&head, bytes, sizeof head);
  }
  if (memcmp(head.magic, "saltus-f", sizeof head.magic) != 0 || head.count != in->count ||
      memcmp(head.token, in->token, sizeof in->token) != 0 || head.run > size ||
      fixed_bytes(in) + head.run != size || !isfinite(head.t0) || !isfinite(head.t)) {
    saltusi_log(in->log, SALTUS_LEVEL_ERROR, "the bytes are no state of this FMU");
    return SALTUS_ERR_INPUT;
  }
  const unsigned char* from = (const unsigned char*)bytes + sizeof head;
  saltus_status status = SALTUS_OK;
  if (!take_values(in, &head, from)) {
    status = head.running != 0 ? saltusi_fmu_instance_begin(in) : remake(in);
  }
  from += (size_t)in->count * (sizeof(double) + 1);
  const size_t inputs = (size_t)saltus_scene_get_view(in->base)->input_count * sizeof(double);
  memcpy(in->inputs, from, inputs);
  memcpy(in->slopes, from + inputs, inputs);
  status = status == SALTUS_OK ? set_inputs(in, head.since) : status;
  if (status == SALTUS_OK && in->run != NULL) {
    status = saltus_run_state_load(in->run, from + 2 * inputs, (size_t)head.run);
    memcpy(in->inputs, from, inputs); /* those that events had switched */
    status = status == SALTUS_OK ? set_inputs(in, head.since) : status;
  }
  in->t = head.t;
  in->left = head.left != 0;
  in->outputs_known = false;
  return status;
}
