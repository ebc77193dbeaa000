/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense_output.c - the motion inside the last steps, by the dense output of the scheme.
 */
#include "base/log.h"
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

size_t saltusi_scheme_dense_count(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->dense_count;
}

size_t saltusi_scheme_dense_count_for(const saltus_scheme* scheme, int contacts) {
  assert(scheme != NULL);
  saltus_system sys = scheme->eval.sys;
  sys.dims.nc = contacts;
  return scheme->clocks != NULL ? scheme->dense_count : saltusi_scheme_dense_doubles(scheme, &sys);
}

void saltusi_scheme_dense_copy(const saltus_scheme* scheme, double* data) {
  assert(scheme != NULL);
  memcpy(data, scheme->dense[1].data, scheme->dense_count * sizeof(double));
}

const double* saltusi_scheme_dense_data(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->dense[1].data;
}

void saltusi_scheme_dense_span(const saltus_scheme* scheme, double* t, double* h) {
  assert(scheme != NULL && t != NULL && h != NULL);
  *t = scheme->dense[1].t;
  *h = scheme->dense_count > 0 ? scheme->dense[1].h : 0.0;
}

void saltusi_scheme_dense_restore(saltus_scheme* scheme, double t, double h, int contacts,
                                  const double* data) {
  assert(scheme != NULL && data != NULL && scheme->dense_count > 0);
  saltusi_scheme_forget(scheme);
  saltusi_scheme_dense_transfer(scheme, contacts, data, scheme->dense[1].data);
  scheme->dense[1].t = t;
  scheme->dense[1].h = h;
}

saltus_status saltusi_scheme_dense_ask(saltus_scheme* scheme, double* data,
                                       const saltusi_dense_query* at) {
  assert(scheme != NULL && at != NULL);
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = data;
  if (saltusi_substitute_dense(scheme, &query)) {
    return SALTUS_OK;
  }
  return scheme->clocks != NULL ? saltusi_async_islands_dense(scheme->clocks, &query)
                                : scheme->ops->dense(scheme->work, scheme->options, &query);
}

/* One contact at the time of a complete query. */
static void ask_contact(saltus_scheme* scheme, const saltusi_dense_query* query, int key,
                        saltus_contact_inside* contact) {
  if (scheme->clocks != NULL) {
    saltusi_async_islands_dense_contact(scheme->clocks, query, key, contact);
  } else if (!saltusi_substitute_contact(scheme, query, key, contact)) {
    scheme->ops->dense_contact(scheme->work, scheme->options, query, key, contact);
  }
}

static void ask_joints(saltus_scheme* scheme, const saltusi_dense_query* query, double* force,
                       double* lasting) {
  if (scheme->clocks != NULL) {
    saltusi_async_islands_dense_joints(scheme->clocks, query, force, lasting);
  } else {
    scheme->ops->dense_joints(scheme->work, scheme->options, query, force, lasting);
  }
}

bool saltusi_scheme_knows_forces(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->ops->info.locates_events && scheme->ops->dense_contact != NULL &&
         scheme->ops->dense_joints != NULL;
}

void saltusi_scheme_dense_contact_ask(saltus_scheme* scheme, double* data,
                                      const saltusi_dense_query* at, int key,
                                      saltus_contact_inside* contact) {
  assert(scheme != NULL && at != NULL && contact != NULL && key >= 0);
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = data;
  ask_contact(scheme, &query, key, contact);
}

void saltusi_scheme_dense_lasting(saltus_scheme* scheme, const saltusi_dense_query* at,
                                  double* lasting) {
  assert(scheme != NULL && at != NULL);
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  for (int key = 0; key < d->nc; key++) {
    saltus_contact_inside contact;
    ask_contact(scheme, &query, key, &contact);
    memcpy(lasting + 3 * (size_t)key, contact.lasting, sizeof contact.lasting);
  }
  ask_joints(scheme, &query, NULL, lasting + 3 * (size_t)d->nc);
}

void saltusi_scheme_dense_forces(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 double* forces) {
  assert(scheme != NULL && at != NULL);
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  for (int key = 0; key < scheme->eval.sys.dims.nc; key++) {
    saltus_contact_inside contact;
    ask_contact(scheme, &query, key, &contact);
    memcpy(forces + 3 * (size_t)key, contact.force, sizeof contact.force);
  }
  ask_joints(scheme, &query, forces + 3 * (size_t)scheme->eval.sys.dims.nc, NULL);
}

void saltusi_scheme_dense_power(saltus_scheme* scheme, const saltusi_dense_query* at,
                                double power[2]) {
  assert(scheme != NULL && at != NULL && power != NULL);
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  power[0] = power[1] = 0.0;
  if (scheme->clocks == NULL && scheme->ops->dense_power != NULL) {
    scheme->ops->dense_power(scheme->work, scheme->options, &query, power);
  }
}

void saltusi_scheme_dense_work(saltus_scheme* scheme, double work[2]) {
  assert(scheme != NULL && work != NULL);
  const saltusi_dense_query query = {.eval = &scheme->eval, .data = scheme->dense[1].data};
  work[0] = work[1] = 0.0;
  if (scheme->clocks == NULL && scheme->ops->dense_work != NULL) {
    scheme->ops->dense_work(scheme->work, scheme->options, &query, work);
  }
}

bool saltusi_scheme_dense_bounce(saltus_scheme* scheme, const saltusi_dense_query* at,
                                 saltusi_bounce_inside* bounce) {
  assert(scheme != NULL && at != NULL && bounce != NULL);
  saltusi_dense_query query = *at;
  query.eval = &scheme->eval;
  query.data = scheme->dense[1].data;
  return scheme->clocks == NULL && scheme->ops->dense_bounce != NULL &&
         scheme->ops->dense_bounce(scheme->work, scheme->options, &query, bounce);
}

saltus_status saltusi_scheme_forces(saltus_scheme* scheme, const saltus_state* state,
                                    double* forces) {
  assert(scheme != NULL && state != NULL);
  if (scheme->ops->forces == NULL) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  const saltusi_step step = {.eval = &scheme->eval,
                             .t = state->t,
                             .h = INFINITY,
                             .q0 = state->q,
                             .v0 = state->v,
                             .memory0 = scheme->memory0,
                             .memory1 = scheme->memory1,
                             .atol_q = scheme->has_atol_q ? scheme->atol_q : NULL,
                             .atol_v = scheme->has_atol_v ? scheme->atol_v : NULL};
  saltus_work kept = scheme->eval.work; /* queries do not count as work of the run */
  saltus_status status = scheme->clocks != NULL
                             ? saltusi_async_islands_forces(scheme->clocks, &step, forces)
                             : scheme->ops->forces(scheme->work, scheme->options, &step, forces);
  scheme->eval.work = kept;
  return status;
}

saltus_status saltusi_scheme_dense(saltus_scheme* scheme, int steps,
                                   const saltusi_dense_query* at) {
  assert(scheme != NULL && at != NULL);
  if (scheme->dense_count == 0) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltus_status status = SALTUS_ERR_RANGE;
  for (int i = 1; i <= steps && i < DENSE_STEPS; i++) {
    const dense_step* step = &scheme->dense[i];
    /* the end of a step is defined up to rounding: the caller may have summed it differently */
    double slack = 8.0 * DBL_EPSILON * fmax(fabs(step->t), step->h);
    double end = step->t + step->h;
    if (step->h > 0.0 && at->t >= step->t - slack && at->t <= end + slack) {
      saltusi_dense_query query = *at;
      /* steps may be as short as the rounding of time: the nearer end is used */
      const bool ends = fabs(at->t - end) <= fmin(slack, fabs(at->t - step->t));
      query.t = ends ? end : fmax(at->t, step->t);
      status = saltusi_scheme_dense_ask(scheme, step->data, &query);
      /* left limit at the start of a step: end of the previous one, if it is stored */
      if (at->side == SALTUS_RIGHT || ends || at->t > step->t + slack) {
        break;
      }
    }
  }
  return status;
}

saltus_status saltusi_scheme_dense_tried(saltus_scheme* scheme, const saltusi_dense_query* at) {
  assert(scheme != NULL && at != NULL);
  if (scheme->dense_count == 0) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  const dense_step* step = &scheme->dense[0];
  saltusi_dense_query query = *at;
  query.t = fmin(fmax(at->t, step->t), step->t + step->h);
  return saltusi_scheme_dense_ask(scheme, step->data, &query);
}

saltus_status saltus_scheme_dense(saltus_scheme* scheme, double t, saltus_side side, double* q,
                                  double* v) {
  assert(scheme != NULL);
  const saltusi_dense_query query = {.t = t,
                                     .side = side,
                                     .q = q != NULL ? q : scheme->next.q,
                                     .v = v != NULL ? v : scheme->next.v};
  saltus_status status = saltusi_scheme_dense(scheme, 1, &query);
  if (status == SALTUS_ERR_UNSUPPORTED) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s has no dense output",
                scheme->ops->info.name);
  } else if (status == SALTUS_ERR_RANGE) {
    const dense_step* last = &scheme->dense[1];
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "dense output: t = %.17g s is not within the last step, %.17g s to %.17g s", t,
                last->t, last->t + last->h);
  }
  return status;
}

saltus_status saltus_scheme_dense_contact(saltus_scheme* scheme, double t, saltus_side side,
                                          int key, saltus_contact_inside* contact) {
  assert(scheme != NULL && contact != NULL);
  if (scheme->ops->dense_contact == NULL) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s has no contact forces inside a step",
                scheme->ops->info.name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (key < 0 || key >= scheme->eval.sys.dims.nc) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "dense output: no contact %d; there are %d", key,
                scheme->eval.sys.dims.nc);
    return SALTUS_ERR_RANGE;
  }
  saltus_status status = saltus_scheme_dense(scheme, t, side, NULL, NULL);
  if (status == SALTUS_OK) {
    const dense_step* last = &scheme->dense[1];
    const saltusi_dense_query query = {
        .eval = &scheme->eval, .data = last->data, .t = t, .side = side};
    ask_contact(scheme, &query, key, contact);
  }
  return status;
}
