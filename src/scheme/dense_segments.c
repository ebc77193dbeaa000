/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense_segments.c - see dense_segments.h.
 *
 *   data      count | q_end | v_end | segments
 *   segment   t | h | jump | accelerations valid | q0 | v0 | q1 | v1 | a0 | a1 | held [nc] | marks [nc x marks]
 */
#include "scheme/dense_segments.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A step through a Zeno point with restitution 0.99 has about four thousand segments. 256 KiB hold half of them for a
 * few coordinates; the shortest ones are dropped. */
enum { BYTES_MOST = 1 << 18, PIECES_LEAST = 32, PIECES_MOST = 4096 };

enum { T, H, JUMP, KNOWN, HEAD };

size_t saltusi_dense_segments_doubles(const saltus_dims* dims, int marks) {
  assert(dims != NULL);
  saltusi_dense_segments p = saltusi_dense_segments_over(NULL, dims, marks);
  return 1 + (size_t)p.nq + (size_t)p.nv + (size_t)p.capacity * p.stride;
}

saltusi_dense_segments saltusi_dense_segments_over(double* data, const saltus_dims* dims,
                                                   int marks) {
  assert(dims != NULL && marks >= 0);
  saltusi_dense_segments p = {
      .data = data, .nq = dims->nq, .nv = dims->nv, .nc = dims->nc, .marks = marks};
  p.stride = HEAD + 2 * (size_t)p.nq + 4 * (size_t)p.nv + (1 + (size_t)marks) * (size_t)p.nc;
  size_t fit = BYTES_MOST / (p.stride * sizeof(double));
  p.capacity = fit < PIECES_LEAST ? PIECES_LEAST : fit > PIECES_MOST ? PIECES_MOST : (int)fit;
  return p;
}

/* The number of segments that fit depends on their size; the last are dropped. */
void saltusi_dense_segments_transfer(const saltus_dims* dims, int marks,
                                     saltusi_state_transfer* carry) {
  assert(dims != NULL && carry != NULL);
  saltus_dims there = *dims;
  there.nc = carry->contacts_from;
  saltus_dims here = *dims;
  here.nc = carry->contacts_to;
  const saltusi_dense_segments old = saltusi_dense_segments_over(NULL, &there, marks);
  const saltusi_dense_segments now = saltusi_dense_segments_over(NULL, &here, marks);
  const size_t plain = old.stride - (1 + (size_t)marks) * (size_t)old.nc;
  double* to = carry->to;
  saltusi_transfer_plain(carry, 1 + (size_t)dims->nq + (size_t)dims->nv);
  for (int i = 0; i < now.capacity; i++) {
    if (i == old.capacity) {
      carry->from = NULL;
    }
    saltusi_transfer_plain(carry, plain);
    saltusi_transfer_each(carry, 1);
    saltusi_transfer_each(carry, (size_t)marks);
  }
  if (to != NULL && to[0] > now.capacity) {
    to[0] = now.capacity;
  }
}

static int count_of(const saltusi_dense_segments* p) {
  return (int)p->data[0];
}

static double* place(const saltusi_dense_segments* p, int i) {
  return p->data + 1 + p->nq + p->nv + (size_t)i * p->stride;
}

static double* q0_of(const saltusi_dense_segments* p, int i) {
  return place(p, i) + HEAD;
}

static double* v0_of(const saltusi_dense_segments* p, int i) {
  return q0_of(p, i) + p->nq;
}

static double* q1_of(const saltusi_dense_segments* p, int i) {
  return v0_of(p, i) + p->nv;
}

static double* v1_of(const saltusi_dense_segments* p, int i) {
  return q1_of(p, i) + p->nq;
}

static double* a0_of(const saltusi_dense_segments* p, int i) {
  return v1_of(p, i) + p->nv;
}

static double* held_of(const saltusi_dense_segments* p, int i) {
  return a0_of(p, i) + 2 * (size_t)p->nv;
}

static void copy(int n, const double* from, double* to) {
  memcpy(to, from, (size_t)n * sizeof(double));
}

void saltusi_dense_segments_clear(const saltusi_dense_segments* p) {
  assert(p != NULL);
  if (p->data != NULL) {
    p->data[0] = 0.0;
  }
}

static void forget_shortest(const saltusi_dense_segments* p) {
  int shortest = 0;
  int count = count_of(p);
  for (int i = 1; i < count; i++) {
    if (place(p, i)[H] < place(p, shortest)[H]) {
      shortest = i;
    }
  }
  memmove(place(p, shortest), place(p, shortest + 1),
          (size_t)(count - 1 - shortest) * p->stride * sizeof(double));
  p->data[0] = count - 1;
}

void saltusi_dense_segments_add(const saltusi_dense_segments* p,
                                const saltusi_dense_segment* piece) {
  assert(p != NULL && piece != NULL);
  if (p->data == NULL || !(piece->h > 0.0)) {
    return;
  }
  if (count_of(p) == p->capacity) {
    forget_shortest(p);
  }
  int i = count_of(p);
  double* at = place(p, i);
  at[T] = piece->t;
  at[H] = piece->h;
  at[JUMP] = piece->jump ? 1.0 : 0.0;
  at[KNOWN] = 0.0;
  copy(p->nq, piece->q0, q0_of(p, i));
  copy(p->nv, piece->v0, v0_of(p, i));
  copy(p->nq, piece->q1, q1_of(p, i));
  copy(p->nv, piece->v1, v1_of(p, i));
  for (int key = 0; key < p->nc; key++) {
    held_of(p, i)[key] = piece->held != NULL && piece->held[key] ? 1.0 : 0.0;
  }
  if (piece->marks != NULL) {
    copy(p->nc * p->marks, piece->marks, held_of(p, i) + p->nc);
  }
  p->data[0] = i + 1;
}

void saltusi_dense_segments_end(const saltusi_dense_segments* p, const double* q, const double* v) {
  assert(p != NULL);
  if (p->data != NULL) {
    copy(p->nq, q, p->data + 1);
    copy(p->nv, v, p->data + 1 + p->nq);
  }
}

/* The segment of t: the last that starts before it, or at it for a right limit. */
static int find(const saltusi_dense_segments* p, double t, saltus_side side) {
  int low = 0;
  int high = count_of(p) - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    double start = place(p, middle)[T];
    bool before = side == SALTUS_RIGHT ? start <= t : start < t;
    low = before ? middle : low;
    high = before ? high : middle - 1;
  }
  return low;
}

static saltus_status accelerate(const saltusi_dense_segments* p, const saltusi_dense_system* system,
                                int i) {
  double* at = place(p, i);
  if (at[KNOWN] != 0.0) {
    return SALTUS_OK;
  }
  int count = 0;
  for (int key = 0; key < p->nc; key++) {
    if (held_of(p, i)[key] != 0.0) {
      system->keys[count++] = key;
    }
  }
  double* a0 = a0_of(p, i);
  saltusi_dense_segment_point end = {.t = at[T],
                                     .q = q0_of(p, i),
                                     .v = v0_of(p, i),
                                     .keys = system->keys,
                                     .count = count,
                                     .marks = held_of(p, i) + p->nc};
  saltus_status status = system->acceleration(system->user, &end, a0);
  if (status == SALTUS_OK) {
    end.t = at[T] + at[H];
    end.q = q1_of(p, i);
    end.v = v1_of(p, i);
    status = system->acceleration(system->user, &end, a0 + p->nv);
  }
  at[KNOWN] = status == SALTUS_OK ? 1.0 : 0.0;
  return status;
}

static void smooth(const saltusi_dense_segments* p, int i, double t, double* q, double* v) {
  const double* at = place(p, i);
  const double *q0 = q0_of(p, i), *q1 = q1_of(p, i), *v0 = v0_of(p, i), *v1 = v1_of(p, i);
  const double *a0 = a0_of(p, i), *a1 = a0 + p->nv;
  double h = at[H];
  double s = (t - at[T]) / h;
  double s2 = s * s;
  double s3 = s2 * s;
  double by_a = s3 * (10.0 - 15.0 * s + 6.0 * s2);
  double by_b = s3 * (-4.0 + 7.0 * s - 3.0 * s2);
  double by_c = 0.5 * s3 * (1.0 - 2.0 * s + s2);
  double rate_a = s2 * (30.0 - 60.0 * s + 30.0 * s2);
  double rate_b = s2 * (-12.0 + 28.0 * s - 15.0 * s2);
  double rate_c = 0.5 * s2 * (3.0 - 8.0 * s + 5.0 * s2);
  for (int k = 0; k < p->nv; k++) {
    double A = q1[k] - q0[k] - h * (v0[k] + 0.5 * h * a0[k]);
    double B = h * (v1[k] - v0[k] - h * a0[k]);
    double C = h * h * (a1[k] - a0[k]);
    q[k] = q0[k] + h * s * (v0[k] + 0.5 * h * s * a0[k]) + by_a * A + by_b * B + by_c * C;
    v[k] = v0[k] + h * s * a0[k] + (rate_a * A + rate_b * B + rate_c * C) / h;
  }
}

/* The same with maps. */
static void smooth_turned(const saltusi_dense_segments* p, const saltusi_dense_system* system,
                          int i, double t, double* q, double* v) {
  const double* at = place(p, i);
  const saltusi_dense_segment piece = {.t = at[T],
                                       .h = at[H],
                                       .q0 = q0_of(p, i),
                                       .v0 = v0_of(p, i),
                                       .q1 = q1_of(p, i),
                                       .v1 = v1_of(p, i),
                                       .a0 = a0_of(p, i),
                                       .a1 = a0_of(p, i) + p->nv};
  saltusi_dense_segment_turned(system->sys, &piece, (t - at[T]) / at[H], system->room, q, v);
}

/* A fraction s of the displacement between positions. */
static void between(const saltusi_dense_system* system, const double* q0, const double* q1,
                    double s, double* q) {
  if (!saltusi_has_maps(system->sys)) {
    for (int k = 0; k < system->sys->dims.nq; k++) {
      q[k] = q0[k] + s * (q1[k] - q0[k]);
    }
    return;
  }
  saltusi_difference(system->sys, q0, q1, system->room);
  saltusi_advance(system->sys, q0, system->room, s, q);
}

static void linear(int n, const double* x0, const double* x1, double s, double* x) {
  for (int k = 0; k < n; k++) {
    x[k] = x0[k] + s * (x1[k] - x0[k]);
  }
}

saltus_status saltusi_dense_segments_at(const saltusi_dense_segments* p,
                                        const saltusi_dense_system* system, double t,
                                        saltus_side side, double* q, double* v) {
  assert(p != NULL && system != NULL);
  int count = count_of(p);
  if (count == 0) { /* only the end state is stored */
    copy(p->nq, p->data + 1, q);
    copy(p->nv, p->data + 1 + p->nq, v);
    return SALTUS_OK;
  }
  int i = find(p, t, side);
  const double* at = place(p, i);
  double end = at[T] + at[H];
  /* times of events are separate sums: left of the end of a jump is inside of it up to rounding */
  const double rounding = 4.0 * DBL_EPSILON * fmax(fabs(t), fabs(end));
  bool beyond = side == SALTUS_RIGHT ? t >= end : t > end + rounding;
  if (beyond) { /* a dropped segment, or the end of the step */
    bool last = i + 1 == count;
    const double* q1 = last ? p->data + 1 : q0_of(p, i + 1);
    const double* v1 = last ? q1 + p->nq : v0_of(p, i + 1);
    double s = last ? 1.0 : (t - end) / (place(p, i + 1)[T] - end);
    between(system, q1_of(p, i), q1, s, q);
    linear(p->nv, v1_of(p, i), v1, s, v);
    return SALTUS_OK;
  }
  if (at[JUMP] != 0.0) {
    between(system, q0_of(p, i), q1_of(p, i), (t - at[T]) / at[H], q);
    copy(p->nv, v0_of(p, i), v);
    return SALTUS_OK;
  }
  saltus_status status = accelerate(p, system, i);
  if (status == SALTUS_OK && saltusi_has_maps(system->sys)) {
    smooth_turned(p, system, i, t, q, v);
  } else if (status == SALTUS_OK) {
    smooth(p, i, t, q, v);
  }
  return status;
}
