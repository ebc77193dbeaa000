/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * separation_bounds.c - lower bound of the gap of two shapes over a trajectory segment:
 * saltus_enclosure_ops.contact_clear. For each of the two bodies around the middle of the segment, with p its
 * quaternion and primes for d/ds:
 *
 *   origin   x'' / 2 from the trajectory enclosure
 *   space    W = 2 Im(p' p^-1),  R' = [W] R,  |W| <= 2 |p'| / |p|,  |R''| <= |W|^2 + |W'|,
 *            W' = 2 Im(p'' p^-1 - (p' p^-1)^2),  |p| >= |p(m)| - span |p'|
 *   plane    |R''| <= a'^2 + |a''|
 *   driven   by Taylor arithmetic, entry by entry
 */
#include "body/contacts.h"
#include "body/enclosure.h"
#include "body/taylor.h"
#include "shape/bounds/bounds.h"

#include <assert.h>
#include <string.h>

static double middle_of(saltus_interval x) {
  return 0.5 * (x.lo + x.hi);
}

static double magnitude(saltus_interval x) {
  return fmax(fabs(x.lo), fabs(x.hi));
}

/* Norm of coefficient k of some coordinates. */
static double norm_of(const saltus_interval* q, int count, int stride, int k) {
  double sum = 0.0;
  for (int i = 0; i < count; i++) {
    const double m = magnitude(q[(size_t)i * (size_t)stride + (size_t)k]);
    sum += m * m;
  }
  return sqrt(sum);
}

/* A trajectory segment: enclosures over all of it and at its middle, both of order 2. */
typedef struct separation_bounds_stretch {
  saltusi_motion_segment over, middle;
  double span;
} separation_bounds_stretch;

static void turning_in_plane(const separation_bounds_stretch* st, int q, saltusi_drift* out) {
  const saltus_interval* all = st->over.course->q + (size_t)q * (size_t)st->over.stride;
  const saltus_interval* mid = st->middle.course->q + (size_t)q * (size_t)st->middle.stride;
  const double angle = middle_of(mid[0]), rate = middle_of(mid[1]);
  const double c = cos(angle), s = sin(angle);
  const double R[9] = {c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0};
  const double R1[9] = {-s * rate, -c * rate, 0.0, c * rate, -s * rate, 0.0, 0.0, 0.0, 0.0};
  memcpy(out->at.R, R, sizeof R);
  memcpy(out->R1, R1, sizeof R1);
  out->spin = magnitude(all[1]);
  out->twist = 0.5 * out->spin * out->spin + magnitude(all[2]);
}

static void turning_in_space(const separation_bounds_stretch* st, int q, saltusi_drift* out) {
  const int stride = st->over.stride;
  const saltus_interval* all = st->over.course->q + (size_t)q * (size_t)stride;
  const saltus_interval* mid = st->middle.course->q + (size_t)q * (size_t)st->middle.stride;
  double p[4], p1[4], back[4], W[4];
  for (int k = 0; k < 4; k++) {
    p[k] = middle_of(mid[(size_t)k * (size_t)st->middle.stride]);
    p1[k] = middle_of(mid[(size_t)k * (size_t)st->middle.stride + 1]);
    back[k] = k == 0 ? p[k] : -p[k];
  }
  const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
  saltusi_quaternion_matrix(p, out->at.R);
  saltusi_quaternion_product(p1, back, W);
  for (int k = 1; k < 4; k++) {
    W[k] *= 2.0 / square;
  }
  for (int j = 0; j < 3; j++) { /* columns: W x R e_j */
    const double column[3] = {out->at.R[j], out->at.R[3 + j], out->at.R[6 + j]};
    double turned[3];
    saltusi_cross(W + 1, column, turned);
    for (int i = 0; i < 3; i++) {
      out->R1[3 * i + j] = turned[i];
    }
  }
  const double first = norm_of(all, 4, stride, 1), second = norm_of(all, 4, stride, 2);
  const double least = sqrt(square) - st->span * first;
  if (!(least > 0.0)) {
    out->spin = out->twist = INFINITY;
    return;
  }
  const double rate = first / least;
  out->spin = 2.0 * rate;
  /* (|W|^2 + |W'|) / 2 with p'' / 2 = `second` at most */
  out->twist = 2.0 * rate * rate + (2.0 * second / least + rate * rate);
}

/* Taylor coefficients 0 and 1 at the middle, and bounds of coefficients 1 and 2 over the segment. */
static void spread(const separation_bounds_stretch* st, const saltusi_taylor* all,
                   const saltusi_taylor* mid, int count, double* first, double size[3]) {
  size[1] = size[2] = 0.0;
  for (int k = 0; k < count; k++) {
    saltus_interval c[ORDERS], at[ORDERS];
    saltusi_jet_write(saltusi_taylor_read_only(&all[k]), st->over.order, c);
    saltusi_jet_write(saltusi_taylor_read_only(&mid[k]), st->middle.order, at);
    first[k] = middle_of(at[1]);
    for (int j = 1; j < 3; j++) {
      size[j] = hypot(size[j], magnitude(c[j]));
    }
  }
}

static void driven(const separation_bounds_stretch* st, int body, saltusi_drift* out) {
  saltusi_body_segment all, mid;
  double size[3];
  saltusi_pose pose;
  saltusi_pose_at(st->over.m, body, middle_of(st->middle.course->t[0]), NULL, &pose);
  memcpy(out->at.x, pose.x, sizeof pose.x);
  memcpy(out->at.R, pose.R, sizeof pose.R);
  saltusi_segment_pose(&st->over, body, &all);
  saltusi_segment_pose(&st->middle, body, &mid);
  spread(st, all.x.k, mid.x.k, 3, out->x1, size);
  out->bend = size[2];
  spread(st, all.R.k, mid.R.k, 9, out->R1, size);
  out->spin = size[1];
  out->twist = size[2];
}

static void drift_of(const separation_bounds_stretch* st, int number, saltusi_drift* out) {
  const saltus_mechanism* m = st->over.m;
  const saltusi_body* body = &m->bodies[number];
  memset(out, 0, sizeof *out);
  if (body->kind == SALTUS_BODY_DRIVEN) {
    driven(st, number, out);
    return;
  }
  memcpy(out->at.x, body->pose.x, sizeof out->at.x);
  memcpy(out->at.R, body->pose.R, sizeof out->at.R);
  if (body->kind == SALTUS_BODY_FIXED) {
    return;
  }
  const int n = m->plane ? 2 : 3;
  for (int k = 0; k < n; k++) {
    const saltus_interval* mid =
        st->middle.course->q + (size_t)(body->q + k) * (size_t)st->middle.stride;
    out->at.x[k] = middle_of(mid[0]);
    out->x1[k] = middle_of(mid[1]);
  }
  out->bend = norm_of(st->over.course->q + (size_t)body->q * (size_t)st->over.stride, n,
                      st->over.stride, 2);
  if (m->plane) {
    turning_in_plane(st, body->q + 2, out);
  } else {
    turning_in_space(st, body->q + 3, out);
  }
}

void saltusi_shapes_clear(const void* self, const saltus_course* over, const saltus_course* middle,
                          double span, uint64_t identity, double margin, saltus_clearance* out) {
  const saltus_mechanism* m = self;
  assert(m != NULL && over != NULL && middle != NULL && out != NULL);
  assert((identity & SALTUSI_LISTED) == 0 && over->order >= 2 && middle->order >= 2);
  const separation_bounds_stretch st = {.over = saltusi_segment_over(m, over),
                                        .middle = saltusi_segment_over(m, middle),
                                        .span = span};
  int instance[2];
  saltusi_feature_candidate numbers;
  saltusi_drift drift[2];
  saltusi_world_decode(m->world, identity, &instance[0], &instance[1], &numbers);
  const saltusi_instance *a = &m->world->instance[instance[0]],
                         *b = &m->world->instance[instance[1]];
  drift_of(&st, a->carrier, &drift[0]);
  drift_of(&st, b->carrier, &drift[1]);
  saltusi_lower lower;
  const saltusi_two_drifts two = {&a->shape, &drift[0], &b->shape, &drift[1]};
  const saltusi_support_span piece = {.s = span, .margin = margin};
  if (numbers.a == 0 || numbers.b == 0) {
    saltusi_shape_below(&two, &piece, &lower);
  } else {
    saltusi_features_below(&two, &numbers, &piece, &lower);
  }
  *out = (saltus_clearance){.value = lower.value,
                            .lowest = lower.lowest,
                            .clear = {lower.clear[0], lower.clear[1]},
                            .exact = lower.exact,
                            .rate = lower.rate};
}
