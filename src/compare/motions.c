/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * motions.c - two recorded motions at common instants, and the distance of their graphs.
 *
 * Between frames i and i + 1, s = (t - t_i) / h, positions are the cubic
 *
 *   (1 + 2 s)(1 - s)^2 q_i + s^2 (3 - 2 s) q_(i+1) + s (1 - s) h ((1 - s) q'_i - s q'_(i+1))
 *
 * with q' from the velocities behind the first frame and before the second one: exact for free flight.
 */
#include "compare_state.h"
#include "saltus/measure.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* With at least this many common instants, only these are compared. */
enum { ENOUGH = 20 };

/* A recording that is read in order of time. */
typedef struct motions_reader {
  const saltus_recording_data* data;
  long long at;     /* last frame that is not after the instant */
  double* position; /* [nq] there */
  double* rates;    /* [2 nq] of the ends */
  bool between;     /* the instant is between frames */
} motions_reader;

static bool same(double a, double b) {
  return fabs(a - b) <= 16.0 * DBL_EPSILON * fmax(fabs(a), fabs(b));
}

/* q' of a frame; false: undefined. */
static bool rate_of(const saltusi_comparison* c, const saltus_recording_data* d, long long i,
                    double* rate) {
  const saltus_system* s = c->def.system;
  const double* v = d->v + i * d->nv;
  if (s != NULL && s->ops->rate != NULL) {
    s->ops->rate(s->self, d->q + i * d->nq, v, rate);
    return true;
  }
  if (d->nq == d->nv) {
    memcpy(rate, v, (size_t)d->nq * sizeof *rate);
  }
  return d->nq == d->nv;
}

static void read_at(const saltusi_comparison* c, motions_reader* r, double t) {
  const saltus_recording_data* d = r->data;
  int n = d->nq;
  while (r->at + 1 < d->count && (d->t[r->at + 1] <= t || same(d->t[r->at + 1], t))) {
    r->at++;
  }
  const double* q0 = d->q + r->at * n;
  r->between = !same(d->t[r->at], t) && r->at + 1 < d->count;
  if (!r->between) {
    memcpy(r->position, q0, (size_t)n * sizeof *q0);
    return;
  }
  double h = d->t[r->at + 1] - d->t[r->at];
  double s = (t - d->t[r->at]) / h;
  bool known = rate_of(c, d, r->at, r->rates) && rate_of(c, d, r->at + 1, r->rates + n);
  for (int i = 0; i < n; i++) {
    double q1 = q0[n + i];
    double line = (1.0 - s) * q0[i] + s * q1;
    double cubic = (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s) * q0[i] + s * s * (3.0 - 2.0 * s) * q1 +
                   s * (1.0 - s) * h * ((1.0 - s) * r->rates[i] - s * r->rates[n + i]);
    r->position[i] = known ? cubic : line;
  }
}

/* Writes to t the instants within the common time: those of both recordings, or only common ones. */
static long long list_instants(const saltusi_comparison* c, bool shared, double* t) {
  const saltus_recording_data* a = c->def.a;
  const saltus_recording_data* b = c->def.b;
  long long i = 0;
  long long j = 0;
  long long count = 0;
  while (i < a->count || j < b->count) {
    double ta = i < a->count ? a->t[i] : INFINITY;
    double tb = j < b->count ? b->t[j] : INFINITY;
    bool both = same(ta, tb);
    double next = both ? ta : fmin(ta, tb);
    i += both || ta < tb;
    j += both || tb < ta;
    bool within = (next >= c->out.start || same(next, c->out.start)) &&
                  (next <= c->out.end || same(next, c->out.end));
    bool again = count > 0 && same(t[count - 1], next); /* two sides of an impact */
    if (within && !again && (both || !shared)) {
      t[count++] = next;
    }
  }
  return count;
}

typedef struct motions_columns {
  double *largest, *at, *mean;
} motions_columns;

static void compare_at(saltusi_comparison* c, const double* instants, double* difference,
                       motions_reader* readers, motions_columns* of) {
  saltus_comparison* out = &c->out;
  double last = out->start;
  for (int i = 0; i < out->nq; i++) {
    of->at[i] = out->start;
  }
  for (long long k = 0; k < out->instants; k++) {
    double t = instants[k];
    read_at(c, &readers[0], t);
    read_at(c, &readers[1], t);
    out->interpolated = out->interpolated || readers[0].between || readers[1].between;
    difference[k] = 0.0;
    for (int i = 0; i < out->nq; i++) {
      double off = fabs(readers[0].position[i] - readers[1].position[i]);
      difference[k] = off <= difference[k] ? difference[k] : off; /* NaN wins */
      of->mean[i] += off * (t - last) / (out->end - out->start);
      if (!(off <= of->largest[i])) {
        of->largest[i] = off;
        of->at[i] = t;
      }
    }
    last = t;
  }
  out->positions = (saltus_difference){.value = out->nq > 0 ? 0.0 : NAN, .t = NAN};
  for (int i = 0; i < out->nq; i++) {
    if (i == 0 || !(of->largest[i] <= out->positions.value)) {
      out->positions = (saltus_difference){of->largest[i], of->at[i], i};
    }
  }
}

/* --- graphs ----------------------------------------------------------------------------------------- */

/* Points (t, x) of one column within the common time; returns their number. */
static int draw(const saltusi_comparison* c, const saltus_recording_data* d, const double* x,
                int width, int column, double* points) {
  int count = 0;
  for (long long i = 0; i < d->count; i++) {
    bool within = d->t[i] >= c->out.start - DBL_EPSILON * fabs(c->out.start) &&
                  d->t[i] <= c->out.end + DBL_EPSILON * fabs(c->out.end);
    if (within) {
      points[(ptrdiff_t)2 * count] = d->t[i];
      points[(ptrdiff_t)2 * count + 1] = x[i * width + column];
      count++;
    }
  }
  return count;
}

static saltus_status compare_graphs(saltusi_comparison* c, const double* xa, const double* xb,
                                    int width, double* distance, saltus_difference* worst) {
  const saltus_recording_data* a = c->def.a;
  const saltus_recording_data* b = c->def.b;
  *worst = (saltus_difference){.value = width > 0 ? 0.0 : NAN, .t = NAN};
  saltusi_pool pool = saltusi_pool_over(&c->allocator);
  double* points = SALTUSI_TAKE(&pool, double, 2 * (a->count + b->count));
  saltus_status status = points != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  for (int i = 0; i < width && status == SALTUS_OK; i++) {
    saltus_graph ga = {.n = 1, .points = points};
    ga.count = draw(c, a, xa, width, i, points);
    saltus_graph gb = {.n = 1, .points = points + (ptrdiff_t)2 * ga.count};
    gb.count = draw(c, b, xb, width, i, points + (ptrdiff_t)2 * ga.count);
    const saltus_graph_tolerance fine = {.rtol = 1e-6, .atol = 1e-14};
    status = saltus_hausdorff(&ga, &gb, fine, &c->allocator, &distance[i]);
    if (status == SALTUS_OK && !(distance[i] <= worst->value)) {
      *worst = (saltus_difference){distance[i], NAN, i};
    }
  }
  saltusi_pool_free(&pool);
  return status;
}

saltus_status saltusi_compare_motions(saltusi_comparison* c) {
  assert(c != NULL);
  saltus_comparison* out = &c->out;
  const saltus_recording_data* a = c->def.a;
  const saltus_recording_data* b = c->def.b;
  saltusi_pool* p = &c->pool;
  size_t nq = (size_t)out->nq;
  double* instants = SALTUSI_TAKE(p, double, a->count + b->count + 1);
  double* difference = SALTUSI_TAKE(p, double, a->count + b->count + 1);
  motions_columns of = {SALTUSI_TAKE(p, double, nq), SALTUSI_TAKE(p, double, nq),
                        SALTUSI_TAKE(p, double, nq)};
  double* position_graphs = SALTUSI_TAKE(p, double, nq);
  double* velocity_graphs = SALTUSI_TAKE(p, double, out->nv);
  motions_reader readers[2] = {{.data = a}, {.data = b}};
  for (int k = 0; k < 2; k++) {
    readers[k].position = SALTUSI_TAKE(p, double, nq);
    readers[k].rates = SALTUSI_TAKE(p, double, 2 * nq);
  }
  if (p->failed) {
    return SALTUS_ERR_MEMORY;
  }
  out->instants = list_instants(c, true, instants);
  if (out->instants < ENOUGH) {
    out->instants = list_instants(c, false, instants);
  }
  compare_at(c, instants, difference, readers, &of);
  out->instant = instants;
  out->difference = difference;
  out->position = of.largest;
  out->position_at = of.at;
  out->position_mean = of.mean;
  out->position_graphs = position_graphs;
  out->velocity_graphs = velocity_graphs;
  saltus_status status =
      compare_graphs(c, a->q, b->q, out->nq, position_graphs, &out->position_graph);
  return status == SALTUS_OK
             ? compare_graphs(c, a->v, b->v, out->nv, velocity_graphs, &out->velocity_graph)
             : status;
}
