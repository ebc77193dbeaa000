/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shape.h - a shape after parsing of its definition: numbered features in body axes, and data of each kind. It
 * contains geometry alone: poses and velocities, no masses, no laws.
 *
 * Numbers of features: 0 is the shape itself, then vertices, edges, faces (a cylinder has a side, two rims and two
 * ends), and additional numbers for second minima of curved pairs.
 */
#ifndef SALTUSI_SHAPE_H
#define SALTUSI_SHAPE_H

#include "base/pool.h"
#include "saltus/shape.h"
#include "shape/feature.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct saltusi_polytope; /* box, hull: faces, edges, loops (polytope.h) */
struct saltusi_mesh;     /* mesh, heightfield (mesh.h) */
struct
    saltusi_planar_outline; /* polygon, chain: neighbours, convexity of vertices (planar_outline.h) */

/* The definition, for drawing; columns of R are the axes of the shape in those of the body. */
typedef struct saltusi_form {
  double x[3], R[9];
  double radius, length, size[3]; /* m */
  bool hollow;
} saltusi_form;

typedef struct saltusi_shape {
  const char* name;
  saltus_shape_kind kind;
  int dimension;
  double rho;                     /* m, rounding radius of all features; 0: sharp */
  int features;                   /* numbers are 0 .. features - 1 */
  const saltusi_feature* feature; /* [stored] number k is feature[k - 1] */
  int stored;
  double centre[3], radius; /* m, bounding ball in body axes; radius INFINITY: unbounded */
  double size;              /* m, scale of thresholds: eps x size */
  bool convex;
  const struct saltusi_polytope* polytope;
  const struct saltusi_mesh* mesh;
  const struct saltusi_planar_outline* outline;
  const saltusi_form* form;
} saltusi_shape;

/* Makes a shape in a pool; SALTUS_ERR_INPUT with a message that names the shape, the error, its value and the
 * allowed values. */
saltus_status saltusi_shape_make(const saltus_shape_def* def, int dimension, saltusi_pool* pool,
                                 saltus_log log, saltusi_shape* out);

/* True if two definitions are bitwise equal except for their names; false for chains, meshes and heightfields. */
bool saltusi_shape_is_alike(const saltus_shape_def* a, const saltus_shape_def* b);

/* A shape with the definition of another one. It shares the data of features, so that those of a thousand equal
 * boxes stay in the cache. */
saltus_status saltusi_shape_repeat(const saltusi_shape* made, const char* name, saltusi_pool* pool,
                                   saltusi_shape* out);

/* Bounding box in world axes, rounded outwards; infinite in the directions of half-spaces. */
void saltusi_shape_box(const saltusi_shape* shape, const saltusi_body_pose* at, double low[3],
                       double high[3]);

/* A pair of features that may touch. */
typedef struct saltusi_feature_candidate {
  int a, b;         /* numbers of the features of both shapes */
  int branch;       /* of saltusi_pair */
  double gap;       /* m */
  double normal[3]; /* world, from B to A */
  double point[3];  /* m, world, on B */
} saltusi_feature_candidate;

typedef struct saltusi_candidates {
  int count; /* number of pairs; those above the capacity are not written */
  int capacity;
  saltusi_feature_candidate* item;
} saltusi_candidates;

typedef struct saltusi_near {
  double reach; /* m: pairs with a gap up to this */
  double delta; /* rad, widens cones of normals: |w_A - w_B| h + reach / size */
  /* All pairs that can come into contact if the shapes move by reach and rotate by delta: ends of features are
   * widened by reach, and pairs at corners are not reduced to one. A family of shapes may list fewer pairs, those of
   * the present pose. */
  bool all;
  bool here; /* of the present pose alone, without rotation: a circle is tilted or flat */
} saltusi_near;

/* All pairs of features of two shapes within reach (docs/theory/contact-geometry.md, 4), in the order of (a, b).
 * One function for each pair of kinds (a table in narrow_phase.c). SALTUS_ERR_UNSUPPORTED (without a message): the
 * pair of kinds is not supported; saltusi_shape_treats reports this before a run. */
saltus_status saltusi_shape_pairs(const saltusi_shape* A, const saltusi_body_pose* a,
                                  const saltusi_shape* B, const saltusi_body_pose* b,
                                  const saltusi_near* near, saltusi_candidates* out);
bool saltusi_shape_treats(const saltusi_shape* A, const saltusi_shape* B);

/* Largest tilt between two shapes in face contact for the penetrations in the list: with compliant contacts one
 * side penetrates more than the other. 0: no penetration, or one is a ball or an ellipsoid, which has no faces. */
double saltusi_shape_tilt(const saltusi_shape* A, const saltusi_shape* B,
                          const saltusi_candidates* list);

/* Signed distance of two shapes. Positive: distance along `normal` (Euclidean, or the largest over separating
 * axes); both decrease at most at the speed of approach. Negative: the smallest translation along `normal` that
 * separates them. */
typedef struct saltusi_separation {
  double distance;
  double normal[3]; /* world, from B to A */
  double point[3];  /* m, world, near to the closest points */
  double
      slack; /* m, error of the distance of separated shapes by the search: they may be closer by this */
} saltusi_separation;
saltus_status saltusi_shape_separation(const saltusi_shape* A, const saltusi_body_pose* a,
                                       const saltusi_shape* B, const saltusi_body_pose* b,
                                       saltusi_separation* out);

/* One pair of features by their numbers, for gaps and rows of a given contact: the data of saltusi_pair. */
struct saltusi_pair;
void saltusi_shape_pair(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                        const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                        struct saltusi_pair* pair);

/* Name of a feature: "face 3", "lower rim"; numbers begin with 1. */
void saltusi_feature_text(const saltusi_shape* shape, int number, char* text, size_t size);

/* Guards, positive while the features of a closed contact are those in contact (docs/theory/contact-geometry.md,
 * 6); at most SALTUSI_GUARDS values, m or sine of an angle. Returns their number, plus SALTUSI_LIES_DOWN if a
 * circle has become flat on a plane, plus SALTUSI_TILTS if the last guard is the tilt of a circle on a plane
 * beyond the tolerance of flatness. */
enum { SALTUSI_GUARDS = 16, SALTUSI_LIES_DOWN = 64, SALTUSI_TILTS = 128 };
int saltusi_shape_guards(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                         const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                         double guard[SALTUSI_GUARDS]);

#endif
