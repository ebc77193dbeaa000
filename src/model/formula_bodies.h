/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_bodies.h - bodies, markers and joints of a mechanism as expressions.
 *
 * Positions and velocities of the mechanism follow those by formula. Expressions are built
 * when a formula refers to them: a mechanism without references has no cost here.
 */
#ifndef SALTUSI_FORMULA_BODIES_H
#define SALTUSI_FORMULA_BODIES_H

#include "formula/parse.h"
#include "saltus/formula.h"

struct saltusi_formula_builder;

/* A body or a marker: its origin, its axes as columns (row major), in the plane its angle. */
typedef struct saltusi_formula_frame {
  bool known;
  saltusi_expr p[3], R[9];
  saltusi_expr angle;
} saltusi_formula_frame;

typedef struct saltusi_formula_bodies {
  const saltus_mechanism* mechanism; /* NULL: none */
  int body_count, marker_count, joint_count;
  saltusi_formula_frame* bodies;  /* [body_count + 1], the last is the world */
  saltusi_formula_frame* markers; /* [marker_count] */
  saltusi_scene_objects things;
  bool named_results; /* a formula refers to the force of a joint */
} saltusi_formula_bodies;

/* Numbers of positions, velocities and names of a mechanism; zero without one. */
typedef struct saltusi_formula_bodies_size {
  int nq, nv, names;
} saltusi_formula_bodies_size;
saltusi_formula_bodies_size saltusi_formula_bodies_measure(const saltus_mechanism* mechanism);

/* Forces and torques of joints, as values of a formula. */
int saltusi_formula_bodies_results(const saltus_mechanism* mechanism);

saltus_status saltusi_formula_bodies_start(struct saltusi_formula_builder* builder);

/* Names of bodies, markers and joints, in this order; NULL past the end. */
const char* saltusi_formula_bodies_name(const struct saltusi_formula_builder* builder, int thing);
const char* saltusi_formula_bodies_kind(const struct saltusi_formula_builder* builder, int thing);

bool saltusi_formula_bodies_plane(const struct saltusi_formula_builder* builder);
const saltusi_formula_frame* saltusi_formula_body_frame(struct saltusi_formula_builder* builder,
                                                        int body);

/* Angular velocity of the second body relative to the first along an axis of a frame, formula_turning.c. */
saltusi_expr saltusi_formula_turning(struct saltusi_formula_builder* builder, const int bodies[2],
                                     const saltusi_formula_frame* axes, int axis);
/* A joint row that contains a formula; false: none. */
bool saltusi_formula_moved_row(struct saltusi_formula_builder* builder, int row, saltusi_expr* g);
/* Adds forces of the mechanism to those by formula, F [nv], so that bounds cover all forces on a coordinate. bounded
 * [nv]: false if a force has no formula, or no bound. */
saltus_status saltusi_formula_bodies_forces(struct saltusi_formula_builder* builder,
                                            saltusi_expr* F, bool* bounded);
/* The gap of a limit. */
saltusi_expr saltusi_formula_limit(struct saltusi_formula_builder* builder, int i);

/* The marker, or the origin and the axes of the body, of that name. */
typedef struct saltusi_formula_spot {
  const saltusi_formula_frame* frame;
  int body; /* -1: the world */
  int v;    /* first velocity of the body among all; -1: it has none */
} saltusi_formula_spot;
bool saltusi_formula_spot_find(struct saltusi_formula_builder* builder, const char* name,
                               saltusi_formula_spot* spot);

#endif
