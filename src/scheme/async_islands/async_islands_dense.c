/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * async_islands_dense.c - the motion inside a common step, from those of the steps of islands:
 *
 *   t | for each island its offset below | for each island: steps | for each of them t0, t1, impulses of joints,
 *   its motion
 */
#include "scheme/async_islands/async_islands.h"
#include "scheme/scheme_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A step of an island in the doubles. */
typedef struct async_islands_dense_segment {
  double t0, t1;
  const double* joints;
  double* data;
} async_islands_dense_segment;

/* Whether step k of an island is part of a common step that ends at t. */
static bool is_inside(const saltusi_async_island* clock, int k, double t) {
  return k < clock->count && (k == 0 || clock->step[(clock->first + k) % SALTUSI_CLOCK_KEPT].t0 <
                                            t - saltusi_async_island_slack(t));
}

size_t saltusi_async_islands_dense_workspace(const saltusi_async_islands* clocks, double t1) {
  assert(clocks != NULL);
  size_t room = 1 + 2 * (size_t)clocks->count;
  for (int i = 0; i < clocks->count; i++) {
    const saltusi_async_island* clock = &clocks->clock[i];
    for (int k = 0; is_inside(clock, k, t1); k++) {
      room += saltusi_async_island_doubles(clock);
    }
  }
  return room;
}

void saltusi_async_islands_dense_write(saltusi_async_islands* clocks, double t0, double t1,
                                       double* data) {
  assert(clocks != NULL && data != NULL);
  size_t at = 1 + (size_t)clocks->count;
  data[0] = t0;
  for (int i = 0; i < clocks->count; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    double* steps = data + at;
    data[1 + i] = (double)at++;
    *steps = 0.0;
    for (int k = 0; is_inside(clock, k, t1); k++) {
      const saltusi_async_island_step* step = saltusi_async_island_at(clock, k);
      data[at] = step->t0;
      data[at + 1] = step->t1;
      size_t nj = (size_t)clock->view->system.dims.nj;
      if (nj > 0) {
        memcpy(data + at + 2, step->joints, nj * sizeof(double));
      }
      memcpy(data + at + 2 + nj, step->dense, clock->dense_count * sizeof(double));
      at += saltusi_async_island_doubles(clock);
      *steps += 1.0;
    }
  }
}

static int piece_count(const double* data, int i) {
  return (int)data[(size_t)data[1 + i]];
}

static async_islands_dense_segment piece_at(const saltusi_async_islands* c, double* data, int i,
                                            int k) {
  const saltusi_async_island* clock = &c->clock[i];
  double* at = data + (size_t)data[1 + i] + 1 + (size_t)k * saltusi_async_island_doubles(clock);
  return (async_islands_dense_segment){at[0], at[1], at + 2, at + 2 + clock->view->system.dims.nj};
}

/* Kept step of an island that contains the time of a query; at the boundary of two steps, by the side of the query. */
static int find(const saltusi_async_islands* c, const saltusi_dense_query* query, int i) {
  int count = piece_count(query->data, i);
  double slack = saltusi_async_island_slack(query->t);
  for (int k = 0; k + 1 < count; k++) {
    double end = piece_at(c, query->data, i, k).t1;
    if (query->side == SALTUS_RIGHT ? query->t < end - slack : query->t <= end + slack) {
      return k;
    }
  }
  return count - 1;
}

/* The same query in the numbering of an island. */
static saltusi_dense_query ask(const saltusi_async_island* clock, const saltusi_dense_query* query,
                               const async_islands_dense_segment* p) {
  saltusi_dense_query own = *query;
  own.eval = &clock->scheme->eval;
  own.data = p->data;
  own.t = fmin(fmax(query->t, p->t0), p->t1);
  return own;
}

saltus_status saltusi_async_islands_dense(saltusi_async_islands* clocks,
                                          const saltusi_dense_query* query) {
  assert(clocks != NULL && query != NULL);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < clocks->count && status == SALTUS_OK; i++) {
    saltusi_async_island* clock = &clocks->clock[i];
    const saltusi_island_view* view = clock->view;
    int nv = view->system.dims.nv;
    const async_islands_dense_segment p = piece_at(clocks, query->data, i, find(clocks, query, i));
    saltusi_dense_query own = ask(clock, query, &p);
    own.q = clock->shown;
    own.v = clock->shown + nv;
    status = clock->scheme->ops->dense(clock->scheme->work, clock->scheme->options, &own);
    for (int k = 0; k < nv; k++) {
      if (query->q != NULL) {
        query->q[view->velocity[k]] = own.q[k];
      }
      if (query->v != NULL) {
        query->v[view->velocity[k]] = own.v[k];
      }
    }
  }
  return status;
}

static void contact_inside(const saltusi_async_island* clock, const saltusi_dense_query* query,
                           const async_islands_dense_segment* p, int key,
                           saltus_contact_inside* contact) {
  const saltusi_dense_query own = ask(clock, query, p);
  clock->scheme->ops->dense_contact(clock->scheme->work, clock->scheme->options, &own, key,
                                    contact);
}

static void joints_inside(const saltusi_async_island* clock, const saltusi_dense_query* query,
                          const async_islands_dense_segment* p, double* force, double* lasting) {
  const saltusi_dense_query own = ask(clock, query, p);
  clock->scheme->ops->dense_joints(clock->scheme->work, clock->scheme->options, &own, force,
                                   lasting);
}

void saltusi_async_islands_dense_contact(saltusi_async_islands* clocks,
                                         const saltusi_dense_query* query, int key,
                                         saltus_contact_inside* contact) {
  assert(clocks != NULL && query != NULL && contact != NULL && key >= 0);
  int i = clocks->views.of_contact[key];
  int local = clocks->views.local_contact[key];
  const saltusi_async_island* clock = &clocks->clock[i];
  int last = find(clocks, query, i);
  const async_islands_dense_segment p = piece_at(clocks, query->data, i, last);
  contact_inside(clock, query, &p, local, contact);
  for (int k = 0; k <= last; k++) { /* impulses since the start of the common step */
    saltus_contact_inside at;
    const async_islands_dense_segment of = piece_at(clocks, query->data, i, k);
    saltusi_dense_query border = *query;
    border.side = SALTUS_RIGHT;
    border.t = k < last ? of.t1 : query->data[0];
    if (k < last) {
      contact_inside(clock, &border, &of, local, &at);
      for (int r = 0; r < 3; r++) {
        contact->lasting[r] += at.lasting[r];
        contact->impulse[r] += at.impulse[r];
      }
    }
    if (k == 0 && of.t0 < query->data[0] - saltusi_async_island_slack(query->data[0])) {
      border.t = query->data[0];
      contact_inside(clock, &border, &of, local, &at);
      for (int r = 0; r < 3; r++) {
        contact->lasting[r] -= at.lasting[r];
        contact->impulse[r] -= at.impulse[r];
      }
    }
  }
}

/* Impulses of the joints of an island from the start of the common step to the query, stored behind
 * those of one segment. */
static void sum_joints(saltusi_async_islands* clocks, const saltusi_dense_query* query, int island,
                       int last) {
  const saltusi_async_island* clock = &clocks->clock[island];
  int nj = clock->view->system.dims.nj;
  double* own = clocks->lasting;
  double* sum = clocks->lasting + nj;
  memset(sum, 0, (size_t)nj * sizeof(double));
  for (int k = 0; k <= last; k++) {
    const async_islands_dense_segment of = piece_at(clocks, query->data, island, k);
    saltusi_dense_query border = *query;
    if (k == last) {
      joints_inside(clock, query, &of, NULL, own);
    }
    for (int j = 0; j < nj; j++) {
      sum[j] += k < last ? of.joints[j] : own[j];
    }
    if (k == 0 && of.t0 < query->data[0]) {
      border.t = query->data[0];
      joints_inside(clock, &border, &of, NULL, own);
      for (int j = 0; j < nj; j++) {
        sum[j] -= own[j];
      }
    }
  }
}

void saltusi_async_islands_dense_joints(saltusi_async_islands* clocks,
                                        const saltusi_dense_query* query, double* force,
                                        double* lasting) {
  assert(clocks != NULL && query != NULL);
  for (int i = 0; i < clocks->count; i++) {
    const saltusi_async_island* clock = &clocks->clock[i];
    int nj = clock->view->system.dims.nj;
    int last = nj > 0 ? find(clocks, query, i) : -1;
    double* own = clocks->lasting;
    double* sum = clocks->lasting + nj;
    sum_joints(clocks, query, i, last);
    if (nj > 0) {
      const async_islands_dense_segment of = piece_at(clocks, query->data, i, last);
      joints_inside(clock, query, &of, own, NULL);
    }
    for (int j = 0; j < nj; j++) {
      int row = clock->view->row[j];
      if (force != NULL) {
        force[row] = own[j];
      }
      if (lasting != NULL) {
        lasting[row] = sum[j];
      }
    }
  }
}

void saltusi_async_island_non_impulsive(saltusi_async_island* clock,
                                        saltusi_async_island_step* step, double t, int key,
                                        double* lasting) {
  assert(clock != NULL && step != NULL && lasting != NULL);
  const saltusi_dense_query query = {.t = t, .side = SALTUS_RIGHT};
  const async_islands_dense_segment p = {step->t0, step->t1, step->joints, step->dense};
  saltus_contact_inside contact;
  contact_inside(clock, &query, &p, key, &contact);
  memcpy(lasting, contact.lasting, sizeof contact.lasting);
}

void saltusi_async_island_joints(saltusi_async_island* clock, saltusi_async_island_step* step,
                                 double t, double* lasting) {
  assert(clock != NULL && step != NULL && lasting != NULL);
  const saltusi_dense_query query = {.t = t, .side = SALTUS_RIGHT};
  const async_islands_dense_segment p = {step->t0, step->t1, step->joints, step->dense};
  if (t >= step->t1 - saltusi_async_island_slack(t)) {
    memcpy(lasting, step->joints, (size_t)clock->view->system.dims.nj * sizeof(double));
  } else {
    joints_inside(clock, &query, &p, NULL, lasting);
  }
}

void saltusi_async_island_forces(saltusi_async_island* clock, saltusi_async_island_step* step,
                                 double t, double* forces) {
  assert(clock != NULL && step != NULL && forces != NULL);
  const saltusi_dense_query query = {.t = t, .side = SALTUS_RIGHT};
  const async_islands_dense_segment p = {step->t0, step->t1, step->joints, step->dense};
  int nc = clock->view->system.dims.nc;
  for (int key = 0; key < nc; key++) {
    saltus_contact_inside contact;
    contact_inside(clock, &query, &p, key, &contact);
    memcpy(forces + 3 * (size_t)key, contact.force, sizeof contact.force);
  }
  if (clock->view->system.dims.nj > 0) {
    joints_inside(clock, &query, &p, forces + 3 * (size_t)nc, NULL);
  }
}

/* ---- for the ledger -------------------------------------------------------------------------- */

int saltusi_scheme_islands(const saltus_scheme* scheme) {
  assert(scheme != NULL);
  return scheme->clocks != NULL ? scheme->clocks->count : 0;
}

const saltus_system* saltusi_scheme_island_system(const saltus_scheme* scheme, int island,
                                                  const int** velocities, const int** contacts) {
  assert(scheme != NULL && scheme->clocks != NULL && velocities != NULL && contacts != NULL);
  const saltusi_island_view* view = &scheme->clocks->views.view[island];
  *velocities = view->velocity;
  *contacts = view->contact;
  return &view->system;
}

bool saltusi_scheme_island_step(saltus_scheme* scheme, int island, int i,
                                saltusi_island_step* step) {
  assert(scheme != NULL && scheme->clocks != NULL && step != NULL && i >= 0);
  saltusi_async_island* clock = &scheme->clocks->clock[island];
  if (i >= clock->count) {
    return false;
  }
  saltusi_async_island_step* kept = saltusi_async_island_at(clock, i);
  const saltusi_async_island_step* after =
      i + 1 < clock->count ? saltusi_async_island_at(clock, i + 1) : NULL;
  *step = (saltusi_island_step){.scheme = clock->scheme,
                                .report = &kept->report,
                                .from = {kept->t0, kept->q, kept->v},
                                .to = {kept->t1, after != NULL ? after->q : clock->front.q,
                                       after != NULL ? after->v : clock->front.v},
                                .data = kept->dense};
  return true;
}

saltus_status saltusi_island_motion(const saltusi_island_step* step,
                                    const saltusi_dense_query* at) {
  assert(step != NULL && at != NULL);
  return saltusi_scheme_dense_ask(step->scheme, step->data, at);
}

void saltusi_island_forces(const saltusi_island_step* step, const saltusi_dense_query* at,
                           double* forces) {
  assert(step != NULL && at != NULL && forces != NULL);
  const saltus_scheme* scheme = step->scheme;
  const saltus_dims* d = &scheme->eval.sys.dims;
  saltusi_dense_query query = *at;
  query.eval = &step->scheme->eval;
  query.data = step->data;
  for (int key = 0; key < d->nc; key++) {
    saltus_contact_inside contact;
    scheme->ops->dense_contact(scheme->work, scheme->options, &query, key, &contact);
    memcpy(forces + 3 * (size_t)key, contact.force, sizeof contact.force);
  }
  scheme->ops->dense_joints(scheme->work, scheme->options, &query, forces + 3 * (size_t)d->nc,
                            NULL);
}

bool saltusi_island_bounce(const saltusi_island_step* step, const saltusi_dense_query* at,
                           saltusi_bounce_inside* bounce) {
  assert(step != NULL && at != NULL && bounce != NULL);
  const saltus_scheme* scheme = step->scheme;
  saltusi_dense_query query = *at;
  query.eval = &step->scheme->eval;
  query.data = step->data;
  return scheme->ops->dense_bounce != NULL &&
         scheme->ops->dense_bounce(scheme->work, scheme->options, &query, bounce);
}
