/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shape.h - a shape after its definition was read: features in body axes with numbers, and what each kind needs
 * besides. Geometry alone: it knows poses and velocities, no masses, no laws.
 *
 * Numbers of features: 0 is the shape itself, then vertices, edges, faces (whatever these are for a kind: a cylinder
 * has a side, two rims and two ends), and extra numbers for second minima of curved pairs.
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
    saltusi_planar_outline; /* polygon, chain: neighbours and which vertices are convex (outline.h) */

/* As it was defined, for those who draw it; columns of R are its own axes in those of the body. */
typedef struct saltusi_form {
  double x[3], R[9];
  double radius, length, size[3]; /* m */
  bool hollow;
} saltusi_form;

typedef struct saltusi_shape {
  const char* name;
  saltus_shape_kind kind;
  int dimension;
  double rho;                     /* m, of all features; 0: sharp */
  int features;                   /* numbers are 0 .. features - 1 */
  const saltusi_feature* feature; /* [stored] number k is feature[k - 1] */
  int stored;
  double centre[3],
      radius;  /* m, a ball in body axes that holds it; radius INFINITY: it has no end */
  double size; /* m, the scale of its thresholds: eps x size */
  bool convex;
  const struct saltusi_polytope* polytope;
  const struct saltusi_mesh* mesh;
  const struct saltusi_planar_outline* outline;
  const saltusi_form* form;
} saltusi_shape;

/* Makes a shape in a pool; SALTUS_ERR_INPUT with a message that names the shape, what is wrong, its value and what is
 * allowed. */
saltus_status saltusi_shape_make(const saltus_shape_def* def, int dimension, saltusi_pool* pool,
                                 saltus_log log, saltusi_shape* out);

/* Whether two definitions say the same, bit by bit, but for their names; of chains, meshes and heightfields false. */
bool saltusi_shape_is_alike(const saltus_shape_def* a, const saltus_shape_def* b);

/* A shape by the definition of another one, which has the same parts in memory: those of a thousand boxes that are alike
 * stay in the cache. */
saltus_status saltusi_shape_repeat(const saltusi_shape* made, const char* name, saltusi_pool* pool,
                                   saltusi_shape* out);

/* A box in world axes that holds the shape, outward rounded. Infinite for half-spaces where they are. */
void saltusi_shape_box(const saltusi_shape* shape, const saltusi_body_pose* at, double low[3],
                       double high[3]);

/* A pair of features that may touch. */
typedef struct saltusi_feature_candidate {
  int a, b;         /* numbers of the features of the two shapes */
  int branch;       /* of saltusi_pair */
  double gap;       /* m */
  double normal[3]; /* world, from B to A */
  double point[3];  /* m, world, on B */
} saltusi_feature_candidate;

typedef struct saltusi_candidates {
  int count; /* how many there are: may be larger than capacity, then the rest is not written */
  int capacity;
  saltusi_feature_candidate* item;
} saltusi_candidates;

typedef struct saltusi_near {
  double reach; /* m: pairs with a gap up to this */
  double delta; /* rad, by which cones of normals are widened: |w_A - w_B| h + reach / size */
  bool
      all; /* every pair that can come to touch when its shapes move by reach and turn by delta: ends of features are
                   * widened by reach, and nothing is chosen at corners; a family may list fewer, those of this place */
  bool here; /* of this place alone, where nothing turns: a circle is tilted or flat */
} saltusi_near;

/* All pairs of features of two shapes within reach, as docs/theory/contact-geometry.md, 4, says. The order is that of
 * (a, b). One function for each pair of kinds (a table in narrow_phase.c). SALTUS_ERR_UNSUPPORTED (with no text): this pair
 * of kinds is not treated; saltusi_shape_treats says so before a run. */
saltus_status saltusi_shape_pairs(const saltusi_shape* A, const saltusi_body_pose* a,
                                  const saltusi_shape* B, const saltusi_body_pose* b,
                                  const saltusi_near* near, saltusi_candidates* out);
bool saltusi_shape_treats(const saltusi_shape* A, const saltusi_shape* B);

/* The angle at which two shapes may lie that are in each other as deep as the pairs of the list: where contacts give way, one side
 * sinks in more than the other. 0: they are not in each other, or one is a ball or an ellipsoid, which does not lie. */
double saltusi_shape_tilt(const saltusi_shape* A, const saltusi_shape* B,
                          const saltusi_candidates* list);

/* How far two shapes are apart. Positive: no point of one is in the other, the value is a distance along `normal` (the
 * Euclidean one, or the largest over separating axes: both fall by at most the speed of approach). Negative: the least
 * movement along `normal` that parts them. */
typedef struct saltusi_separation {
  double distance;
  double normal[3]; /* world, from B to A */
  double point[3];  /* m, world, near where they are closest */
  double slack;     /* m, how much nearer shapes may be that are apart: what a search leaves open */
} saltusi_separation;
saltus_status saltusi_shape_separation(const saltusi_shape* A, const saltusi_body_pose* a,
                                       const saltusi_shape* B, const saltusi_body_pose* b,
                                       saltusi_separation* out);

/* One pair of features by numbers, for gaps and rows of a known contact: what saltusi_pair needs. */
struct saltusi_pair;
void saltusi_shape_pair(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                        const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                        struct saltusi_pair* pair);

/* A feature in words: "face 3", "lower rim"; numbers begin with 1. */
void saltusi_feature_text(const saltusi_shape* shape, int number, char* text, size_t size);

/* Positive while the features of a closed contact are those that touch (docs/theory/contact-geometry.md, 6); at most
 * SALTUSI_GUARDS values, m or sine of an angle. Returns how many; added to that: a circle has come to be flat on a
 * plane, the last guard is the tilt of a circle on a plane beyond what counts as flat. */
enum { SALTUSI_GUARDS = 16, SALTUSI_LIES_DOWN = 64, SALTUSI_TILTS = 128 };
int saltusi_shape_guards(const saltusi_shape* A, const saltusi_body_pose* a, const saltusi_shape* B,
                         const saltusi_body_pose* b, const saltusi_feature_candidate* numbers,
                         double guard[SALTUSI_GUARDS]);

#endif
