/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_run.c - see bodies_run.h.
 */
#include "bodies_run.h"

#include "potra_run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What the recorder gets. */
typedef struct listener {
  const bodies_case* of;
  int first;                                    /* instants before this one are not expected */
  int frames;                                   /* frames after the first one */
  double at[BODIES_INSTANTS + 1][BODIES_WIDTH]; /* outputs at the instants, from 1 */
  double error, energy_start, energy_drift;
  int kept; /* instant whose state is kept */
  double q[BODIES_STATE], v[BODIES_STATE];
  int nq, nv;
} listener;

static double time_of(const bodies_case* of, int instant) {
  return of->until * instant / of->instants;
}

static saltus_status listen(void* user, const saltus_frame* frame) {
  listener* l = user;
  double energy = frame->kinetic + frame->potential;
  int instant = l->first + l->frames++;
  if (instant == l->first) { /* the start */
    l->energy_start = energy;
    return SALTUS_OK;
  }
  if (instant > l->of->instants || frame->output_count < l->of->width) {
    return SALTUS_ERR_RANGE;
  }
  if (l->of->exact == NULL) {
    return SALTUS_OK;
  }
  l->energy_drift = fmax(l->energy_drift, fabs(energy - l->energy_start));
  double exact[BODIES_WIDTH];
  l->of->exact(l->of->who, time_of(l->of, instant), exact);
  for (int i = 0; i < l->of->width; i++) {
    double off = fabs(frame->outputs[i] - exact[i]) / fmax(1.0, fabs(exact[i]));
    l->error = isnan(off) ? INFINITY : fmax(l->error, off);
    l->at[instant][i] = frame->outputs[i];
  }
  if (instant == l->kept) {
    memcpy(l->q, frame->q, (size_t)l->nq * sizeof l->q[0]);
    memcpy(l->v, frame->v, (size_t)l->nv * sizeof l->v[0]);
  }
  return SALTUS_OK;
}

/* A definition with what all runs share; times[] are the instants from l->first on. */
static saltus_run_def define(const bodies_case* of, const saltus_scene_view* view, listener* l,
                             saltus_recorder* recorder, saltus_log log) {
  *recorder = (saltus_recorder){.frame = listen, .user = l};
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.until = of->until;
  def.recorders = recorder;
  def.recorder_count = 1;
  def.log = log;
  l->of = of;
  l->nq = view->system->dims.nq;
  l->nv = view->system->dims.nv;
  return def;
}

static saltus_status go(const saltus_run_def* def, saltus_run** run) {
  saltus_status status = saltus_run_create(def, run);
  return status == SALTUS_OK ? saltus_run_execute(*run) : status;
}

static saltus_status open_scene(const bodies_case* of, saltus_log log, saltus_scene** scene) {
  const char* text = of->text != NULL ? of->text : potra_scene_text(of->scene);
  if (text == NULL) {
    return SALTUS_ERR_NAME;
  }
  const saltus_scene_def def = {.path = of->scene, .text = text, .log = log};
  return saltus_scene_create(&def, scene);
}

saltus_status bodies_go(bodies_run* r) {
  assert(r->of->instants <= BODIES_INSTANTS && r->of->width <= BODIES_WIDTH);
  saltus_scene* scene = NULL;
  saltus_status status = open_scene(r->of, r->log, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  listener l = {.kept = -1};
  saltus_recorder recorder;
  saltus_run_def def = define(r->of, saltus_scene_get_view(scene), &l, &recorder, r->log);
  double times[BODIES_INSTANTS];
  def.scheme = r->scheme != NULL ? r->scheme : "adaptive";
  def.options_line = r->options;
  if (r->steps > 0) {
    def.step = r->of->until / (double)r->steps;
  }
  if (!(r->tol > 0.0)) {
    def.record_every = r->steps / r->of->instants;
  } else {
    for (int k = 0; k < r->of->instants; k++) {
      times[k] = time_of(r->of, k + 1);
    }
    def.tol = r->tol;
    def.global = r->global;
    def.record_times = times;
    def.record_time_count = r->of->instants;
  }
  saltus_run* run = NULL;
  status = go(&def, &run);
  if (run != NULL) {
    const saltus_run_result* out = saltus_run_outcome(run);
    bool all = l.frames == r->of->instants + 1;
    r->error = all ? fmax(0.0, l.error - r->of->accuracy) : INFINITY;
    r->defect = out->joint_drift;
    r->energy_drift = l.energy_drift;
    r->taken = out->steps;
    r->work = out->work;
    r->cpu = out->cpu + out->accuracy.cpu;
    r->accuracy = out->accuracy;
  }
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
  return status;
}

/* ---- amplification ------------------------------------------------------------------------- */

saltus_status bodies_amplification(const bodies_case* of, saltus_log log, double* K) {
  const double part = 1e-6; /* squares of it are below what is asked for */
  saltus_scene* scene = NULL;
  saltus_status status = open_scene(of, log, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  static const double tol = 1e-11;
  int early = 1 + of->instants / 20;
  double times[BODIES_INSTANTS];
  for (int k = 0; k < of->instants; k++) {
    times[k] = time_of(of, k + 1);
  }
  listener first = {.kept = early}, second = {.first = early, .kept = -1};
  saltus_recorder recorder;
  saltus_run* run = NULL;
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert(view->system->dims.nq <= BODIES_STATE);
  saltus_run_def def = define(of, view, &first, &recorder, log);
  def.scheme = "adaptive";
  def.tol = tol;
  def.record_times = times;
  def.record_time_count = of->instants;
  status = go(&def, &run);
  saltus_run_destroy(run);
  if (status == SALTUS_OK) {
    for (int i = 0; i < first.nv; i++) {
      first.v[i] *= 1.0 + part;
    }
    def = define(of, view, &second, &recorder, log);
    def.scheme = "adaptive";
    def.tol = tol;
    def.start = time_of(of, early);
    def.q0 = first.q;
    def.v0 = first.v;
    def.record_times = times + early;
    def.record_time_count = of->instants - early;
    run = NULL;
    status = go(&def, &run);
    saltus_run_destroy(run);
  }
  *K = 1.0;
  for (int k = early + 1; k <= of->instants && status == SALTUS_OK; k++) {
    for (int i = 0; i < of->width; i++) {
      double off = fabs(second.at[k][i] - first.at[k][i]) / fmax(1.0, fabs(first.at[k][i]));
      *K = fmax(*K, off / part);
    }
  }
  saltus_scene_destroy(scene);
  return status;
}
