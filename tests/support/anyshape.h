/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * anyshape.h - random shapes of every kind of space, in random poses.
 */
#ifndef ANYSHAPE_H
#define ANYSHAPE_H

#include "base/pool.h"
#include "saltus_test.h"
#include "shape/narrow_phase.h"

typedef enum any_kind {
  ANY_SPHERE,
  ANY_CAPSULE,
  ANY_CYLINDER,
  ANY_CONE,
  ANY_ELLIPSOID,
  ANY_TORUS,
  ANY_BOX,
  ANY_ROUND_BOX,
  ANY_HULL, /* builds without qhull: a box */
  ANY_ROUND_HULL,
  ANY_HALF_SPACE,
  ANY_MESH, /* closed, a star about its origin */
  ANY_HEIGHTFIELD,
  ANY_KINDS
} any_kind;

const char* any_name(any_kind kind);

typedef struct any {
  saltus_shape_def def;
  saltusi_pool pool;
  saltusi_shape shape;
  saltusi_body_pose at;
  double point[3 * 32];
  int triangle[3 * 32];
} any;

double any_between(uint64_t* seed, double low, double high);

/* About 1 m large, its own origin off that of the body. Fails the test when it is refused. */
void any_make(uint64_t* seed, any_kind kind, any* out);
void any_free(any* one);

/* A pose with x within `spread` of the origin, any orientation. */
void any_place(uint64_t* seed, double spread, saltusi_body_pose* at);

/* Turned about the middle of its shape by the vector r, then moved by d. */
void any_move(any* one, const double r[3], const double d[3]);

/* A comes along a straight line towards B until the separation is zero; false: it does not become so. */
bool any_touch(any* A, any* B);

#endif
