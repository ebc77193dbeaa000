/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * simulate.c - runs of experiments: residuals of their windows, errors of whole runs. A job has one set of values and some
 * experiments, with its own scene, so that results do not depend on the number of threads.
 *
 *   pose     r = (p - p_m, arm (R - R_m)): |r|^2 is the mean square distance of the corners of a cube of half width `arm`
 *   loss     sum rho(|r|^2/scale^2) over frames and measured values
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "fit/fit.h"
#include "math/rotation.h"
#include "run/settings.h"
#include "saltus/mechanism.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 8, VALUE_TEXT = 32 };

double saltusi_fit_rho(saltusi_fit_loss loss, double z, double* slope) {
  assert(z >= 0.0 || isnan(z));
  double value = z, rate = 1.0;
  const double root = sqrt(z);
  if (loss == SALTUSI_LOSS_HUBER && z > 1.0) {
    value = 2.0 * root - 1.0;
    rate = 1.0 / root;
  } else if (loss == SALTUSI_LOSS_SOFT_L1) {
    const double s = sqrt(1.0 + z);
    value = 2.0 * z / (s + 1.0); /* 2 (s - 1) */
    rate = 1.0 / s;
  } else if (loss == SALTUSI_LOSS_CAUCHY) {
    value = log1p(z);
    rate = 1.0 / (1.0 + z);
  }
  if (slope != NULL) {
    *slope = rate;
  }
  return value;
}

double saltusi_fit_cost(const saltus_fit* fit, const double* residuals, int experiment) {
  assert(fit != NULL && residuals != NULL);
  const saltusi_fit_experiment* e = &fit->experiment[experiment];
  const double* r = residuals + e->residual;
  double cost = 0.0;
  for (int f = e->from; f <= e->to; f++) {
    for (int i = 0; i < fit->measured_count; i++) {
      double z = 0.0;
      for (int k = 0; k < fit->measured[i].size; k++) {
        z += r[k] * r[k];
      }
      cost += saltusi_fit_rho(fit->loss, z, NULL);
      r += fit->measured[i].size;
    }
  }
  return cost;
}

/* ---- one run ---- */

typedef struct run {
  const saltus_fit* fit;
  const saltusi_fit_experiment* e;
  const saltus_scene_view* view;
  double* residuals; /* of the experiment; NULL: none */
  saltus_fit_score* score;
  double limit; /* s */
  bool late;
  double began;    /* s of computing time */
  int next;        /* frame that is awaited */
  int last;        /* frame at which the run ends */
  double sums[2];  /* of errors of position and rotation */
  double* outputs; /* of the last state */
  char* reason;
} run;

static double clock_of_thread(void* user) {
  (void)user;
  return saltusi_clock_thread();
}

static saltus_status watch(void* user, double t, double t_end, long long step) {
  run* r = user;
  (void)t;
  (void)t_end;
  (void)step;
  r->late = r->late || saltusi_clock_thread() - r->began > r->limit;
  return r->late ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

/* Residual of measured value i, over its scale; errors of a pose in m and degrees. */
static void compare(const run* r, int i, const double* measured, const double* q,
                    const double* outputs, double* out, double errors[2]) {
  const saltusi_fit_measured* m = &r->fit->measured[i];
  if (m->kind != SALTUSI_FIT_POSE) {
    double d = outputs[r->fit->output_first + m->q] - measured[m->columns[0]];
    if (m->kind == SALTUSI_FIT_ANGLE) {
      d = remainder(d, 6.283185307179586);
    }
    out[0] = d / m->scale;
    errors[0] = d * d;
    errors[1] = 0.0;
    return;
  }
  double pose[7], A[9], B[9], way = 0.0, dot = 0.0, length = 0.0;
  for (int k = 0; k < 7; k++) {
    pose[k] = measured[m->columns[k]];
  }
  saltusi_quaternion_matrix(q + m->q + 3, A);
  saltusi_quaternion_matrix(pose + 3, B);
  for (int k = 0; k < 3; k++) {
    const double d = q[m->q + k] - pose[k];
    out[k] = d / m->scale;
    way += d * d;
  }
  for (int k = 0; k < 9; k++) {
    out[3 + k] = m->arm * (A[k] - B[k]) / m->scale;
  }
  for (int k = 3; k < 7; k++) {
    dot += q[m->q + k] * pose[k];
    length += pose[k] * pose[k];
  }
  errors[0] = sqrt(way);
  errors[1] = 114.59155902616465 * acos(fmin(1.0, fabs(dot) / sqrt(length)));
}

/* Axis of the body that points up, 1 to 3, negative: down. */
static int upward(const double* quaternion) {
  double R[9];
  int most = 0;
  saltusi_quaternion_matrix(quaternion, R);
  for (int k = 1; k < 3; k++) {
    most = fabs(R[6 + k]) > fabs(R[6 + most]) ? k : most;
  }
  return R[6 + most] > 0.0 ? most + 1 : -most - 1;
}

static void judge(run* r, int frame, const double* q, const double errors[2]) {
  const saltus_fit* fit = r->fit;
  const saltusi_fit_measured* m = &fit->measured[0];
  const bool pose = m->kind == SALTUSI_FIT_POSE;
  const double unit = pose ? 100.0 / m->width : 1.0;
  saltus_fit_score* s = r->score;
  r->sums[0] += errors[0] * unit;
  r->sums[1] += errors[1];
  if (frame == r->e->to) {
    s->window_position = pose ? errors[0] * unit : sqrt(errors[0]);
    s->window_rotation = errors[1];
    s->window_cpu = saltusi_clock_thread() - r->began;
  }
  if (frame == r->last) {
    const int count = r->last + 1;
    s->position = pose ? r->sums[0] / count : sqrt(r->sums[0] / count);
    s->rotation = r->sums[1] / count;
    if (pose) {
      const double* x = fit->frames.values + (r->e->first + frame) * (long long)fit->frames.columns;
      double measured[4];
      for (int k = 0; k < 4; k++) {
        measured[k] = x[m->columns[3 + k]];
      }
      s->face = upward(q + m->q + 3) == upward(measured);
    }
  }
}

/* Frames up to `until` from one state. */
static void take_frame(run* r, int until, const double* q, const double* outputs) {
  const saltus_fit* fit = r->fit;
  for (; r->next <= until; r->next++) {
    const int f = r->next;
    const double* x = fit->frames.values + (r->e->first + f) * (long long)fit->frames.columns;
    double scratch[12], errors[2];
    const bool inside = f >= r->e->from && f <= r->e->to;
    double* out = r->residuals != NULL && inside
                      ? r->residuals + (ptrdiff_t)(f - r->e->from) * fit->per_frame
                      : NULL;
    for (int i = 0; i < fit->measured_count && (out != NULL || r->score != NULL); i++) {
      compare(r, i, x, q, outputs, out != NULL ? out : scratch, errors);
      out = out != NULL ? out + fit->measured[i].size : NULL;
      if (i == 0 && r->score != NULL) {
        judge(r, f, q, errors);
      }
    }
  }
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  run* r = user;
  const double t0 = r->view->start;
  const double* time = r->fit->time + r->e->first;
  int f = r->next;
  while (f <= r->last && time[f] - time[0] <= frame->t - t0 + 1e-9 * (1.0 + fabs(frame->t))) {
    f++;
  }
  take_frame(r, f - 1, frame->q, frame->outputs);
  if (frame->output_count > 0) {
    memcpy(r->outputs, frame->outputs, (size_t)frame->output_count * sizeof(double));
  }
  return SALTUS_OK;
}

/* ---- starts ---- */

static void start_of(const run* r, const saltusi_fit_variant* variant, double* q, double* v,
                     double* way) {
  const saltus_fit* fit = r->fit;
  const saltus_system* system = r->view->system;
  const double* row = fit->index.values + r->e->row * (long long)fit->index.columns;
  const double* nuisance = fit->nuisance + (r->e - fit->experiment) * (ptrdiff_t)fit->freedoms;
  int at = 0;
  memcpy(q, r->view->q0, (size_t)fit->nq * sizeof *q);
  memcpy(v, r->view->v0, (size_t)fit->nv * sizeof *v);
  memset(way, 0, (size_t)fit->nv * sizeof *way);
  for (int i = 0; i < fit->starts; i++) {
    const saltusi_fit_start* s = &fit->start[i];
    for (int k = 0; k < s->positions + s->velocities; k++) {
      double* to = k < s->positions ? &q[s->q + k] : &v[s->v + k - s->positions];
      *to = s->columns[k] >= 0 ? row[s->columns[k]] : *to;
    }
    for (int k = 0; s->free && k < 2 * s->velocities; k++, at++) {
      const double value = nuisance[at] + (variant->free == at ? variant->change : 0.0);
      *(k < s->velocities ? &way[s->v + k] : &v[s->v + k - s->velocities]) += value;
    }
    if (s->positions == 7) {
      double length = 0.0;
      for (int k = 3; k < 7; k++) {
        length += q[s->q + k] * q[s->q + k];
      }
      for (int k = 3; k < 7; k++) {
        q[s->q + k] /= sqrt(length);
      }
    }
  }
  if (fit->freedoms > 0) {
    double* moved = way + fit->nv;
    if (system->ops->advance != NULL) {
      system->ops->advance(system->self, q, way, 1.0, moved);
      memcpy(q, moved, (size_t)fit->nq * sizeof *q);
    } else {
      for (int k = 0; k < fit->nv; k++) {
        q[k] += way[k];
      }
    }
  }
}

static void hear(void* user, saltus_level level, const char* text) {
  char* reason = user;
  if (level == SALTUS_LEVEL_ERROR && reason[0] == '\0') {
    snprintf(reason, SALTUS_FIT_REASON, "%.*s", (int)strcspn(text, "\n"), text);
  }
}

/* A run to its last frame; false: it failed, and later frames have its last state. */
static saltus_status simulate(run* r, const saltusi_fit_variant* variant, saltusi_pool* pool,
                              bool* failed) {
  const saltus_fit* fit = r->fit;
  double* q = SALTUSI_TAKE(pool, double, 2 * fit->nq + 3 * fit->nv);
  double* times = SALTUSI_TAKE(pool, double, r->last + 1);
  const saltus_observables* seen = r->view->observables;
  r->outputs = SALTUSI_TAKE(pool, double, (seen != NULL ? seen->output_count : 0) + 1);
  if (q == NULL || times == NULL || r->outputs == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  double *v = q + fit->nq, *way = v + fit->nv;
  start_of(r, variant, q, v, way);
  const double* time = fit->time + r->e->first;
  for (int f = 0; f <= r->last; f++) {
    times[f] = r->view->start + time[f] - time[0];
  }
  saltus_run_def def = saltus_run_def_default();
  def.scene = r->view;
  def.until = times[r->last];
  def.log = (saltus_log){.write = hear, .user = r->reason};
  saltus_run_settings settings;
  saltus_status status = saltusi_run_resolve(&def, false, pool, &settings);
  const saltus_recorder recorder = {
      .frame = on_frame, .user = r, .contacts_unseen = 1, .ledger_unseen = 1};
  const saltus_sim_def sim_def = {
      .system = r->view->system,
      .scheme = settings.scheme != NULL ? settings.scheme->name : NULL,
      .options = settings.options,
      .atol_q = r->view->atol_q,
      .atol_v = r->view->atol_v,
      .t0 = r->view->start,
      .h = settings.h,
      .q0 = q,
      .v0 = v,
      .control = settings.control,
      .control_options = &settings.control_options,
      .recorders = &recorder,
      .recorder_count = 1,
      .record_times = times,
      .record_time_count = r->last + 1,
      .observables = r->view->observables,
      .changes = r->view->input_count > 0 ? r->view->input_changes : NULL,
      .progress = {.report = watch,
                   .user = r,
                   .interval = 0.1 * r->limit,
                   .clock = clock_of_thread},
      .cancel = fit->def.cancel,
      .log = def.log,
  };
  saltus_sim* sim = NULL;
  r->began = saltusi_clock_thread();
  status = status == SALTUS_OK ? saltus_sim_create(&sim_def, &sim) : status;
  if (status == SALTUS_OK) {
    status = settings.steps > 0 ? saltus_sim_run(sim, settings.steps)
                                : saltus_sim_run_until(sim, settings.until);
  }
  if (status == SALTUS_ERR_STOPPED && !r->late) {
    saltus_sim_destroy(sim);
    return status;
  }
  *failed = status != SALTUS_OK || r->next <= r->last;
  if (*failed) {
    if (r->late) {
      saltusi_print(r->reason, SALTUS_FIT_REASON,
                    "took more than %g s of computing time; was at %g s", r->limit,
                    saltus_sim_time(sim));
    }
    take_frame(r, r->last, sim != NULL ? saltus_sim_q(sim) : q, r->outputs);
  }
  if (r->score != NULL) {
    r->score->cpu = saltusi_clock_thread() - r->began;
  }
  saltus_sim_destroy(sim);
  return SALTUS_OK;
}

/* ---- jobs ---- */

typedef struct work {
  saltus_fit* fit;
  const saltusi_fit_variant* variants;
  const saltusi_fit_results* results;
  const int* list; /* experiments that are run */
  int count, chunks;
  saltus_status* status; /* [jobs] */
} work;

static saltus_status make_scene(const saltus_fit* fit, const double* values, saltus_log log,
                                saltus_scene** out) {
  saltus_override overrides[SALTUSI_FIT_UNKNOWNS];
  char texts[SALTUSI_FIT_UNKNOWNS][VALUE_TEXT];
  for (int i = 0; i < fit->unknowns; i++) {
    saltusi_print(texts[i], VALUE_TEXT, "%.17g", values[i]);
    overrides[i] = (saltus_override){.name = fit->unknown[i].name, .value = texts[i]};
  }
  const saltus_scene_def def = {.like = fit->scene,
                                .overrides = overrides,
                                .override_count = fit->unknowns,
                                .outputs = fit->outputs,
                                .output_count = fit->output_count,
                                .log = log};
  return saltus_scene_create(&def, out);
}

static saltus_status run_one(const work* w, const saltus_scene_view* view, int variant, int e) {
  saltus_fit* fit = w->fit;
  const saltusi_fit_results* out = w->results;
  const saltusi_fit_experiment* experiment = &fit->experiment[e];
  char reason[SALTUS_FIT_REASON] = "";
  saltus_fit_score* score = out->scores != NULL ? &out->scores[e] : NULL;
  double* residuals = out->residuals != NULL
                          ? out->residuals + variant * fit->residuals + experiment->residual
                          : NULL;
  if (score != NULL) {
    *score = (saltus_fit_score){.id = experiment->id};
  }
  run r = {.fit = fit,
           .e = experiment,
           .view = view,
           .residuals = residuals,
           .score = score,
           .limit = fit->def.time_limit > 0.0 ? fit->def.time_limit : 10.0,
           .last = score != NULL ? experiment->count - 1 : experiment->to,
           .reason = reason};
  saltusi_pool pool = saltusi_pool_over(NULL);
  bool failed = false;
  const saltus_status status = simulate(&r, &w->variants[variant], &pool, &failed);
  saltusi_pool_free(&pool);
  if (failed && reason[0] == '\0') {
    snprintf(reason, sizeof reason, "the run ended early");
  }
  if (failed && score != NULL) {
    memcpy(score->reason, reason, sizeof reason);
  }
  if (out->failed != NULL) {
    out->failed[variant * fit->experiments + e] = failed;
  }
  return status;
}

static void run_job(void* context, int job) {
  const work* w = context;
  const int variant = job / w->chunks, chunk = job % w->chunks;
  saltus_scene* scene = NULL;
  saltus_status status =
      w->fit->def.cancel != NULL && *w->fit->def.cancel != 0
          ? SALTUS_ERR_STOPPED
          : make_scene(w->fit, w->variants[variant].values, w->fit->def.log, &scene);
  for (int i = chunk * CHUNK; i < (chunk + 1) * CHUNK && i < w->count && status == SALTUS_OK; i++) {
    status = run_one(w, saltus_scene_get_view(scene), variant, w->list[i]);
  }
  saltus_scene_destroy(scene);
  w->status[job] = status;
}

saltus_status saltusi_fit_run(saltus_fit* fit, const saltusi_fit_variant* variants, int count,
                              const saltusi_fit_results* results) {
  assert(fit != NULL && variants != NULL && results != NULL && count > 0);
  saltusi_pool pool = saltusi_pool_over(NULL);
  int* list = SALTUSI_TAKE(&pool, int, fit->experiments + 1);
  work w = {.fit = fit, .variants = variants, .results = results, .list = list};
  int held = 0;
  for (int i = 0; i < fit->experiments; i++) {
    held += fit->experiment[i].weight == 0;
  }
  for (int i = 0; i < fit->experiments && list != NULL; i++) {
    if (results->scores != NULL ? held == 0 || fit->experiment[i].weight == 0
                                : fit->experiment[i].weight > 0) {
      list[w.count++] = i;
    }
  }
  w.chunks = (w.count + CHUNK - 1) / CHUNK;
  const int jobs = count * w.chunks;
  w.status = SALTUSI_TAKE(&pool, saltus_status, jobs + 1);
  saltus_status status = w.status != NULL && list != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  if (status == SALTUS_OK && jobs > SALTUSI_TEAM_JOBS) {
    saltusi_log(fit->def.log, SALTUS_LEVEL_ERROR,
                "fit: %d experiments with %d sets of values are too many", w.count, count);
    status = SALTUS_ERR_RANGE;
  }
  if (status == SALTUS_OK) {
    saltusi_thread_pool_run(fit->team, jobs, run_job, &w);
    fit->view.runs += (long long)count * w.count;
  }
  for (int i = 0; i < jobs && status == SALTUS_OK; i++) {
    status = w.status[i];
  }
  saltusi_pool_free(&pool);
  return status;
}
