/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance_run.c - see tolerance_run.h.
 */
#include "tolerance_run.h"

#include "potra_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Both sides of a jump are looked at this far from it [s]. */
static const double side = 1e-14;

/* ---- models -------------------------------------------------------------------------------- */

saltus_status tolerance_open(const tolerance_case* what, saltus_log log, tolerance_model* model) {
  *model = (tolerance_model){0};
  saltus_status status;
  if (what->problem != NULL) {
    status = saltus_known_motion_create(what->problem, log, NULL, &model->problem);
    if (status == SALTUS_OK) {
      model->system = saltus_known_motion_system(model->problem);
      model->q0 = saltus_known_motion_q0(model->problem);
      model->v0 = saltus_known_motion_v0(model->problem);
    }
  } else {
    const saltus_scene_def def = {.path = what->scene,
                                  .text = what->text != NULL ? what->text
                                                             : potra_scene_text(what->scene),
                                  .overrides = what->overrides,
                                  .override_count = what->override_count,
                                  .log = log};
    status = def.text != NULL ? saltus_scene_create(&def, &model->scene) : SALTUS_ERR_NAME;
    if (status == SALTUS_OK) {
      const saltus_scene_view* view = saltus_scene_get_view(model->scene);
      model->system = view->system;
      model->q0 = view->q0;
      model->v0 = view->v0;
    }
  }
  if (what->q0 != NULL) {
    model->q0 = what->q0;
  }
  return status;
}

void tolerance_close(tolerance_model* model) {
  saltus_scene_destroy(model->scene);
  saltus_known_motion_destroy(model->problem);
  *model = (tolerance_model){0};
}

tolerance_run tolerance_of(const tolerance_case* what, const tolerance_model* model, double tol,
                           saltusi_adaptive_method method) {
  tolerance_run run = {
      .system = model->system,
      .q0 = model->q0,
      .v0 = model->v0,
      .t_end = what->t_end,
      .settings = {.rtol = tol, .atol = tol, .atol_v = tol, .method = (int)method},
      .in_units = what->unit_q != NULL,
  };
  for (int i = 0; run.in_units && i < model->system->dims.nv; i++) {
    run.atol_q[i] = tol * what->unit_q[i];
    run.atol_v[i] = tol * what->unit_v[i];
  }
  return run;
}

/* ---- a run --------------------------------------------------------------------------------- */

/* One more place in an array; NULL: no room, and the array is as it was. */
static void* grow(void* array, int count, int* capacity, size_t size) {
  if (count < *capacity) {
    return array;
  }
  int more = *capacity > 0 ? 2 * *capacity : 64;
  void* wider = realloc(array, (size_t)more * size);
  if (wider != NULL) {
    *capacity = more;
  }
  return wider;
}

static void keep_event(void* who, const saltus_event* event) {
  tolerance_run* run = who;
  saltus_event* events =
      grow(run->events, run->event_count, &run->event_capacity, sizeof *run->events);
  if (events != NULL) {
    run->events = events;
    run->events[run->event_count++] = *event;
  }
}

static saltus_status keep_segment(tolerance_run* run, const saltusi_adaptive* w) {
  int capacity = run->segment_capacity;
  double* begins = grow(run->begins, run->segment_count, &capacity, sizeof(double));
  if (begins == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  run->begins = begins;
  double* dense =
      grow(run->dense, run->segment_count, &run->segment_capacity, run->stride * sizeof(double));
  if (dense == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  run->dense = dense;
  run->begins[run->segment_count] = w->step.t;
  saltusi_adaptive_dense_write(w, run->dense + (size_t)run->segment_count * run->stride);
  run->segment_count++;
  return SALTUS_OK;
}

static saltus_status note_depth(tolerance_run* run, saltusi_adaptive* w, const double* q) {
  saltus_status status = w->o.nc > 0 ? saltusi_mode_gaps(&w->mode, run->t, q) : SALTUS_OK;
  for (int key = 0; key < w->o.nc; key++) {
    run->deepest = fmin(run->deepest, w->mode.gap[key]);
  }
  return status;
}

static saltus_status steps(tolerance_run* run, saltusi_adaptive* w, double* memory, double* spare) {
  const saltus_dims* d = &run->system->dims;
  double* q1 = spare;
  double* v1 = spare + d->nq;
  saltus_status status = SALTUS_OK;
  while (run->t < run->t_end && status == SALTUS_OK) {
    w->step.t = run->t;
    status = saltusi_adaptive_step(w, memory, run->t_end - run->t, run->q, run->v, q1, v1);
    if (status == SALTUS_OK) {
      status = keep_segment(run, w);
    }
    if (status == SALTUS_OK) {
      bool last = w->outcome.length >= run->t_end - run->t;
      run->t = last ? run->t_end : run->t + w->outcome.length;
      memcpy(run->q, q1, (size_t)d->nq * sizeof(double));
      memcpy(run->v, v1, (size_t)d->nv * sizeof(double));
      status = note_depth(run, w, run->q);
    }
    if (status == SALTUS_OK && run->steps_max > 0 && w->counts.steps > run->steps_max) {
      status = SALTUS_RETRY_SMALLER;
    }
  }
  run->counts = w->counts;
  return status;
}

static void layout(saltusi_eval* eval, saltusi_adaptive* w, saltus_arena* arena) {
  saltusi_eval_layout(eval, arena);
  saltusi_adaptive_layout(w, eval, true, arena);
}

saltus_status tolerance_go(tolerance_run* run) {
  const saltus_system* sys = run->system;
  const saltus_dims* d = &sys->dims;
  size_t width = (size_t)d->nq + (size_t)d->nv;
  saltusi_eval eval = {.sys = *sys};
  saltusi_adaptive w = {0};
  saltus_arena arena = saltus_arena_counting();
  layout(&eval, &w, &arena);
  size_t room = arena.used;
  void* block = aligned_alloc(64, (room + 63) / 64 * 64);
  double* memory = calloc(saltusi_adaptive_memory_count(sys, true), sizeof(double));
  double* spare = calloc(width, sizeof(double));
  run->stride = saltusi_adaptive_dense_count(sys);
  run->q = calloc(width, sizeof(double));
  saltus_status status = SALTUS_ERR_MEMORY;
  if (block != NULL && memory != NULL && spare != NULL && run->q != NULL) {
    memset(block, 0, room);
    arena = saltus_arena_over(block, room);
    layout(&eval, &w, &arena);
    run->v = run->q + d->nq;
    memcpy(run->q, run->q0, (size_t)d->nq * sizeof(double));
    memcpy(run->v, run->v0, (size_t)d->nv * sizeof(double));
    w.eval = &eval;
    w.sys = &eval.sys;
    w.o.settings = run->settings;
    w.o.settings.atol_q_each = run->in_units ? run->atol_q : NULL;
    w.o.settings.atol_v_each = run->in_units ? run->atol_v : NULL;
    w.report = keep_event;
    w.who = run;
    w.log = run->log;
    status = steps(run, &w, memory, spare);
  }
  free(spare);
  free(memory);
  free(block);
  return status;
}

void tolerance_free(tolerance_run* run) {
  free(run->events);
  free(run->q);
  free(run->begins);
  free(run->dense);
  run->events = NULL;
  run->q = run->v = run->begins = run->dense = NULL;
}

/* ---- motions ------------------------------------------------------------------------------- */

void tolerance_at(const tolerance_run* run, double t, double* q, double* v) {
  int low = 0; /* the last segment that begins at or before t */
  int high = run->segment_count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (run->begins[middle] <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const saltusi_moment at = {.t = t, .right = true};
  saltusi_adaptive_dense_read(run->system, run->dense + (size_t)low * run->stride, at, q, v);
}

static double distance(int n, const double* a, const double* b) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most;
}

/* Distance in v from the straight line that fills in a jump of the reference. */
static double from_jump(const tolerance_run* reference, double t, const double* v) {
  int n = reference->system->dims.nv;
  double q[TOLERANCE_WIDTH];
  double before[TOLERANCE_WIDTH];
  double after[TOLERANCE_WIDTH];
  tolerance_at(reference, t - side, q, before);
  tolerance_at(reference, t + side, q, after);
  double along = 0.0;
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    double jump = after[i] - before[i];
    along += (v[i] - before[i]) * jump;
    size += jump * jump;
  }
  double part = size > 0.0 ? fmin(1.0, fmax(0.0, along / size)) : 0.0;
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(v[i] - before[i] - part * (after[i] - before[i])));
  }
  return most;
}

static void compare_at(const tolerance_run* run, const tolerance_run* reference, double t,
                       double* q_max, double* v_graph) {
  const saltus_dims* d = &run->system->dims;
  double q[2][TOLERANCE_WIDTH];
  double v[2][TOLERANCE_WIDTH];
  tolerance_at(run, t, q[0], v[0]);
  tolerance_at(reference, t, q[1], v[1]);
  *q_max = fmax(*q_max, distance(d->nq, q[0], q[1]));
  double apart = distance(d->nv, v[0], v[1]);
  double straight = apart;
  for (int k = 0; straight > 1e-13 && k < reference->event_count; k++) {
    const saltus_event* event = &reference->events[k];
    if (event->kind == SALTUS_EVENT_IMPACT && fabs(event->t - t) <= straight) {
      apart = fmin(apart, fmax(fabs(event->t - t), from_jump(reference, event->t, v[0])));
    }
  }
  *v_graph = fmax(*v_graph, apart);
}

void tolerance_compare(const tolerance_run* run, const tolerance_run* reference, double* q_max,
                       double* v_graph) {
  enum { INSTANTS = 600 };
  *q_max = 0.0;
  *v_graph = 0.0;
  for (int i = 0; i < INSTANTS; i++) {
    compare_at(run, reference, run->t_end * i / (INSTANTS - 1), q_max, v_graph);
  }
  for (int k = 0; k < run->event_count; k++) {
    double t = run->events[k].t;
    if (run->events[k].kind == SALTUS_EVENT_IMPACT && t < run->t_end) {
      compare_at(run, reference, t - side, q_max, v_graph);
      compare_at(run, reference, t + side, q_max, v_graph);
    }
  }
}

const saltus_event* tolerance_event(const tolerance_run* run, saltus_event_kind kind, int i) {
  for (int k = 0; k < run->event_count; k++) {
    if (run->events[k].kind == kind && i-- == 0) {
      return &run->events[k];
    }
  }
  return NULL;
}

int tolerance_count(const tolerance_run* run, saltus_event_kind kind) {
  int count = 0;
  while (tolerance_event(run, kind, count) != NULL) {
    count++;
  }
  return count;
}
