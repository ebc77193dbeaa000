/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run_statistics.c - see run_statistics.h.
 */
#include "run/run_statistics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool saltusi_run_statistics_start(saltusi_run_statistics* gather, const saltus_run_def* def,
                                  saltusi_pool* pool, saltus_run_result* result) {
  assert(def->scene != NULL && result != NULL);
  const saltus_dims* dims = &def->scene->system->dims;
  const saltus_observables* own = def->scene->observables;
  *gather = (saltusi_run_statistics){.result = result, .nq = dims->nq, .exact = def->exact};
  if (def->exact.at != NULL) {
    gather->q = SALTUSI_TAKE(pool, double, dims->nq);
    gather->v = SALTUSI_TAKE(pool, double, dims->nv);
  }
  if (own != NULL) {
    gather->output_count = own->output_count;
    gather->outputs = SALTUSI_TAKE(pool, double, own->output_count);
    gather->crossings = SALTUSI_TAKE(pool, long long, 2 * (size_t)own->event_count);
  }
  result->outputs = gather->outputs;
  result->crossings = gather->crossings;
  result->first_creation = NAN;
  result->error = NAN;
  result->error_mean = NAN;
  return !pool->failed;
}

static void compare(saltusi_run_statistics* g, const saltus_frame* frame) {
  saltus_run_result* r = g->result;
  if (g->exact.at == NULL || !g->exact.at(g->exact.self, frame->t, g->q, g->v)) {
    return;
  }
  double worst = 0.0;
  for (int i = 0; i < g->nq; i++) {
    worst = fmax(worst, fabs(frame->q[i] - g->q[i]));
  }
  bool first = r->compared++ == 0;
  r->error = first ? worst : fmax(r->error, worst);
  r->error_mean = (first ? 0.0 : r->error_mean) + worst * (frame->t - g->last_t);
  g->last_t = frame->t;
}

void saltusi_run_statistics_frame(saltusi_run_statistics* g, const saltus_frame* frame) {
  saltus_run_result* r = g->result;
  double energy = frame->kinetic + frame->potential;
  if (r->frames++ == 0) {
    r->energy_start = energy;
    g->last_t = frame->t;
  }
  r->energy_end = energy;
  r->ledger = frame->energy;
  r->impact_loss = 0.0 - frame->energy.impact; /* nothing is 0, not -0 */
  r->penetration = fmax(r->penetration, frame->penetration);
  r->joint_drift = fmax(r->joint_drift, frame->joint_drift);
  r->projection = fmax(r->projection, frame->projection);
  r->residual_velocity = fmax(r->residual_velocity, frame->residual_velocity);
  r->residual_impulse = fmax(r->residual_impulse, frame->residual_impulse);
  r->estimate = fmax(r->estimate, frame->error);
  r->rejections += frame->rejections;
  assert(frame->output_count == 0 || frame->output_count == g->output_count);
  if (frame->output_count > 0) {
    memcpy(g->outputs, frame->outputs, (size_t)frame->output_count * sizeof(double));
  }
  compare(g, frame);
}

void saltusi_run_statistics_event(saltusi_run_statistics* g, const saltus_event* event) {
  saltus_run_result* r = g->result;
  assert((int)event->kind >= 0 && (int)event->kind < SALTUS_EVENT_KINDS);
  saltus_run_events* kind = &r->events[event->kind];
  if (event->kind == SALTUS_EVENT_RISE || event->kind == SALTUS_EVENT_FALL) {
    g->crossings[2 * event->contact + (event->kind == SALTUS_EVENT_FALL)]++;
  }
  if (kind->count < SALTUS_RUN_FIRST) {
    kind->first[kind->count] = *event;
  }
  if (kind->count == 0 || event->energy_change > kind->worst.energy_change) {
    kind->worst = *event;
  }
  kind->last = *event;
  kind->count++;
}
