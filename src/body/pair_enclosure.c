/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pair_enclosure.c - gaps of feature pairs over a trajectory segment, in interval Taylor arithmetic: the closed
 * forms of shape/pair/pair_closest.c. With w = p_A - p_B of the points of both, a and b their directions:
 *
 *   point-point   sqrt(w . w)                      point-line    |w - b (b . w)|
 *   point-plane   b . w                            line-line     +-(a x b) . w / |a x b|
 *
 * less the radii; the distance of hollow features is negative. For boxes and hulls the product with the outward directions of
 * both determines the sign; where it is undecided there is no bound.
 */
#include "body/contacts.h"
#include "body/enclosure.h"
#include "body/taylor.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* A feature pair by its identity, without the poses of its bodies. */
typedef struct pair_enclosure_data {
  int body[2];
  const saltusi_shape* shape[2];
  saltusi_feature_candidate numbers;
  const saltusi_feature* feature[2];
} pair_enclosure_data;

static void recognise(const saltus_mechanism* m, uint64_t identity, pair_enclosure_data* k) {
  int instance[2];
  saltusi_world_decode(m->world, identity, &instance[0], &instance[1], &k->numbers);
  for (int i = 0; i < 2; i++) {
    const int number = i == 0 ? k->numbers.a : k->numbers.b;
    k->shape[i] = &m->world->instance[instance[i]].shape;
    k->body[i] = m->world->instance[instance[i]].carrier;
    k->feature[i] =
        number > 0 && number <= k->shape[i]->stored ? &k->shape[i]->feature[number - 1] : NULL;
  }
}

/* The pair with the axes of one body as given and those of the other zero: the part of `side` in body axes. */
static saltusi_pair pair_with(const pair_enclosure_data* k, int which) {
  static const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  saltusi_body_pose on[2] = {{{0.0}, {0.0}, {0.0}, {0.0}}, {{0.0}, {0.0}, {0.0}, {0.0}}};
  memcpy(on[which].R, unit, sizeof unit);
  saltusi_pair pair = {0};
  saltusi_shape_pair(k->shape[0], &on[0], k->shape[1], &on[1], &k->numbers, &pair);
  return pair;
}

typedef enum form { NONE, POINTS, POINT_LINE, POINT_PLANE, LINES } form;

/* The formula of the pair; `second` is the feature that it names last. */
static form form_of(const pair_enclosure_data* k, int* second) {
  const saltusi_feature *A = k->feature[0], *B = k->feature[1];
  *second = 1;
  if (A == NULL || B == NULL || k->numbers.branch != 0) {
    return NONE;
  }
  const bool later = A->kind > B->kind;
  const saltusi_feature_kind first = later ? B->kind : A->kind, last = later ? A->kind : B->kind;
  *second = later ? 0 : 1;
  if (first == SALTUSI_FEATURE_POINT) {
    return last == SALTUSI_FEATURE_POINT   ? POINTS
           : last == SALTUSI_FEATURE_LINE  ? POINT_LINE
           : last == SALTUSI_FEATURE_PLANE ? POINT_PLANE
                                           : NONE;
  }
  if (first == SALTUSI_FEATURE_LINE && last == SALTUSI_FEATURE_LINE) {
    return LINES;
  }
  return NONE;
}

unsigned saltusi_pair_depends(const saltus_mechanism* m, saltus_quantity what, uint64_t identity) {
  assert(m != NULL && m->world != NULL);
  pair_enclosure_data k;
  int second;
  recognise(m, identity, &k);
  const unsigned on = SALTUS_ON_T | SALTUS_ON_Q | SALTUS_NOT_AFFINE;
  if (what == SALTUS_QUANTITY_VELOCITY) {
    return on | SALTUS_ON_V | SALTUS_NOT_ENCLOSED;
  }
  return form_of(&k, &second) != NONE ? on | SALTUS_NOT_POLYNOMIAL : on | SALTUS_NOT_ENCLOSED;
}

/* A vector of a body in world axes. */
static void turned(const saltusi_motion_segment* p, const saltusi_body_segment* body,
                   const double x[3], saltusi_taylor3* to) {
  for (int i = 0; i < 3; i++) {
    saltusi_taylor_set(p, &to->k[i], 0.0);
    for (int j = 0; j < 3; j++) {
      saltusi_taylor_add_scaled(p, &to->k[i], &body->R.k[3 * i + j], x[j]);
    }
  }
}

/* p_A - p_B */
static void way(const saltusi_motion_segment* p, const pair_enclosure_data* k,
                const saltusi_body_segment at[2], saltusi_taylor3* w) {
  saltusi_taylor3 other;
  *w = at[0].x;
  saltusi_taylor3_subtract(p, w, &at[1].x);
  turned(p, &at[0], k->feature[0]->p, &other);
  saltusi_taylor3_add(p, w, &other);
  turned(p, &at[1], k->feature[1]->p, &other);
  saltusi_taylor3_subtract(p, w, &other);
}

static void root_of(const saltusi_motion_segment* p, saltusi_taylor* x) {
  const saltusi_taylor square = *x;
  saltusi_taylor_apply(p, x, SALTUSI_SQRT, &square);
}

/* -1, 1, or 0 if undecided. */
static double sign_of(const saltusi_taylor* x) {
  return x->c[0].lo > 0.0 ? 1.0 : x->c[0].hi < 0.0 ? -1.0 : 0.0;
}

/* The sign of d . side, `side` the outward directions of both; 2: neither has any. */
static double side_sign(const saltusi_motion_segment* p, const pair_enclosure_data* k,
                        const saltusi_body_segment at[2], const saltusi_taylor3* d) {
  const saltusi_pair own[2] = {pair_with(k, 0), pair_with(k, 1)};
  saltusi_taylor3 side, part;
  saltusi_taylor facing;
  if (saltusi_dot3(own[0].side, own[0].side) + saltusi_dot3(own[1].side, own[1].side) == 0.0) {
    return 2.0;
  }
  turned(p, &at[0], own[0].side, &side);
  turned(p, &at[1], own[1].side, &part);
  saltusi_taylor3_add(p, &side, &part);
  saltusi_taylor3_dot(p, d, &side, &facing);
  return sign_of(&facing);
}

/* Sign of a distance along d: negative for hollow features, and for a centre that is inside. */
static double distance_sign(const saltusi_motion_segment* p, const pair_enclosure_data* k,
                            const saltusi_body_segment at[2], const saltusi_taylor3* d) {
  const bool hollow = (k->feature[0]->rho < 0.0) != (k->feature[1]->rho < 0.0);
  const double facing = side_sign(p, k, at, d);
  return hollow ? -1.0 : facing == 2.0 ? 1.0 : facing;
}

static double lines(const saltusi_motion_segment* p, const pair_enclosure_data* k,
                    const saltusi_body_segment at[2], const saltusi_taylor3* w,
                    saltusi_taylor* to) {
  saltusi_taylor3 a, b, across;
  saltusi_taylor square;
  turned(p, &at[0], k->feature[0]->a, &a);
  turned(p, &at[1], k->feature[1]->a, &b);
  saltusi_taylor3_cross(p, &a, &b, &across);
  saltusi_taylor3_dot(p, &across, &across, &square);
  root_of(p, &square);
  saltusi_taylor3_dot(p, &across, w, to);
  saltusi_taylor_divide(p, to, &square);
  const double facing = side_sign(p, k, at, &across);
  return facing == 2.0 ? sign_of(to) : facing;
}

/* Parallel edges: their guard excludes contact, and shapes_gaps() returns INFINITY. */
static bool are_parallel(const saltusi_motion_segment* p, const pair_enclosure_data* k) {
  const double parallel = 3e-6; /* as for guards: docs/theory/contact-polytopes.md */
  saltusi_body_segment at[2];
  saltusi_taylor3 a, b, across;
  saltusi_taylor square;
  for (int i = 0; i < 2; i++) {
    saltusi_segment_pose(p, k->body[i], &at[i]);
  }
  turned(p, &at[0], k->feature[0]->a, &a);
  turned(p, &at[1], k->feature[1]->a, &b);
  saltusi_taylor3_cross(p, &a, &b, &across);
  saltusi_taylor3_dot(p, &across, &across, &square);
  return square.c[0].hi < parallel * parallel;
}

/* The distance of the skeletons; false: its sign is undecided. */
static bool apart(const saltusi_motion_segment* p, const pair_enclosure_data* k, form f, int second,
                  saltusi_taylor* to) {
  const double rho = k->feature[0]->rho + k->feature[1]->rho;
  double sign = second == 1 ? 1.0 : -1.0; /* w is from B to A */
  saltusi_body_segment at[2];
  saltusi_taylor3 w, b;
  saltusi_taylor along;
  for (int i = 0; i < 2; i++) {
    saltusi_segment_pose(p, k->body[i], &at[i]);
  }
  way(p, k, at, &w);
  if (f != POINTS && f != LINES) {
    turned(p, &at[second], k->feature[second]->a, &b);
    saltusi_taylor3_dot(p, &b, &w, &along);
  }
  switch (f) {
  case POINTS:
    saltusi_taylor3_dot(p, &w, &w, to);
    root_of(p, to);
    sign = distance_sign(p, k, at, &w);
    break;
  case POINT_LINE:
    for (int i = 0; i < 3; i++) {
      saltusi_taylor_add_product(p, &w.k[i], &along, &b.k[i], -1);
    }
    saltusi_taylor3_dot(p, &w, &w, to);
    root_of(p, to);
    sign = distance_sign(p, k, at, &w);
    break;
  case POINT_PLANE:
    *to = along;
    break;
  default:
    sign = lines(p, k, at, &w, to);
    break;
  }
  saltusi_taylor_scale(p, to, sign);
  saltusi_taylor_set(p, &along, rho);
  saltusi_taylor_subtract(p, to, &along);
  return sign != 0.0;
}

void saltusi_pair_along(const saltusi_motion_segment* p, uint64_t identity, saltus_interval* out) {
  assert(p != NULL && out != NULL);
  pair_enclosure_data k;
  int second;
  saltusi_taylor value;
  recognise(p->m, identity, &k);
  const form f = form_of(&k, &second);
  const saltusi_motion_segment flat = {.m = p->m, .course = p->course, .stride = p->stride};
  if (f == LINES && are_parallel(&flat, &k)) {
    for (int i = 0; i <= p->order; i++) {
      out[i] = i == 0 ? (saltus_interval){DBL_MAX, INFINITY} : saltusi_everything;
    }
    return;
  }
  const bool enclosed = f != NONE && apart(p, &k, f, second, &value);
  if (enclosed) {
    saltusi_jet_write(saltusi_taylor_read_only(&value), p->order, out);
  }
  for (int i = 0; !enclosed && i <= p->order; i++) {
    out[i] = saltusi_everything;
  }
}

void saltusi_pair_bodies(const saltus_mechanism* m, uint64_t identity, int body[2]) {
  assert(m != NULL && m->world != NULL && body != NULL);
  pair_enclosure_data k;
  recognise(m, identity, &k);
  body[0] = k.body[0];
  body[1] = k.body[1];
}
