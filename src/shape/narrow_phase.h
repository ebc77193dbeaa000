/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * narrow_phase.h - families of shapes: each makes shapes of its kinds and lists the pairs of features of two of them.
 * narrow_phase.c selects the family of a pair: in the plane `planar`; in space `mesh` if one of the two is a mesh or
 * a heightfield, `polytope` if both are boxes, hulls or half-spaces, `curved` otherwise.
 */
#ifndef SALTUSI_NARROW_PHASE_H
#define SALTUSI_NARROW_PHASE_H

#include "shape/pair/pair.h"
#include "shape/shape.h"

/* Two shapes and the poses of their bodies. */
typedef struct saltusi_two {
  const saltusi_shape* A;
  const saltusi_body_pose* a;
  const saltusi_shape* B;
  const saltusi_body_pose* b;
} saltusi_two;

typedef struct saltusi_family {
  bool (*treats)(const saltusi_shape* A, const saltusi_shape* B);
  void (*pairs)(const saltusi_two* two, const saltusi_near* near, saltusi_candidates* out);
  void (*separation)(const saltusi_two* two, saltusi_separation* out);
  void (*pair)(const saltusi_two* two, const saltusi_feature_candidate* numbers,
               saltusi_pair* pair);
  int (*guards)(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                double guard[SALTUSI_GUARDS]);
} saltusi_family;

extern const saltusi_family saltusi_planar, saltusi_curved, saltusi_polytopes, saltusi_meshes;

/* Adds a pair that is within reach; beyond the capacity it is only counted. */
void saltusi_candidate_add(saltusi_candidates* list, const saltusi_feature_candidate* candidate);

/* Placement of a shape: from its own axes to those of the body. */
typedef struct saltusi_placing {
  double x[3];
  double R[9];
} saltusi_placing;

/* Arguments of the functions that make shapes: definition, placement, pool, and the buffer of
 * messages. */
typedef struct saltusi_making {
  const saltus_shape_def* def;
  saltusi_placing placing;
  saltusi_pool* pool;
  saltus_log log;
} saltusi_making;

saltus_status saltusi_make_planar(const saltusi_making* making, saltusi_shape* out);
saltus_status saltusi_make_curved(const saltusi_making* making, saltusi_shape* out);
saltus_status saltusi_make_polytope(const saltusi_making* making, saltusi_shape* out);
saltus_status saltusi_make_mesh(const saltusi_making* making, saltusi_shape* out);

/* Writes the message "shape NAME: ..." and returns SALTUS_ERR_INPUT. */
saltus_status saltusi_shape_refuse(const saltusi_making* making, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* From the shape's own axes to those of the body. */
void saltusi_placed_point(const saltusi_placing* placing, const double own[3], double body[3]);
void saltusi_placed_direction(const saltusi_placing* placing, const double own[3], double body[3]);

/* Sets centre, radius and size of a shape contained in the hull of its vertices, rounded by rho. */
void saltusi_shape_ball(const double (*vertex)[3], int count, double rho, saltusi_shape* out);

/* A direction normal to a, of length 1, a function of a alone. */
void saltusi_normal_to(const double a[3], double e[3]);

#endif
