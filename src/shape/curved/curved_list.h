/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * curved_list.h - how pairs of features of curved shapes are listed, by kinds.
 */
#ifndef SALTUSI_CURVED_LIST_H
#define SALTUSI_CURVED_LIST_H

#include "shape/curved/curved.h"
#include "shape/narrow_phase.h"
#include "shape/pair/closest_points.h"

#include <math.h>

/* Two shapes in the order of ranks, and where pairs go. */
typedef struct saltusi_listing {
  const saltusi_two* two;
  bool all, here;  /* as of saltusi_near */
  double reach;    /* m */
  double sine;     /* by which cones of normals are widened */
  bool flipped;    /* the caller has them the other way round */
  bool all_around; /* fixed points of rings count against everything */
  bool anything;   /* whatever two features meet, when nothing else does */
  bool borderless; /* planes and lines have no end: of shapes that are deep in each other */
  saltusi_candidates* out;
  const saltusi_separation* best; /* of convex shapes: how far they are apart; NULL: not asked */
  double delta;                   /* rad, how far normals may be from that one, with `best` */
  saltusi_separation* least;      /* not NULL: nothing is listed, the least gap is kept here */
} saltusi_listing;

/* Where two features are closest; adds them there if they are within reach; both at once. */
bool saltusi_list_meet(const saltusi_listing* list, int a, int b, int branch,
                       saltusi_closest_points* at);
bool saltusi_list_met(const saltusi_listing* list, int a, int b, int branch,
                      const saltusi_closest_points* at);
bool saltusi_list_add(const saltusi_listing* list, int a, int b, int branch);

/* Where the closest points of a pair may come to lie (m, beyond the ends of its features) and how its normal may turn (sine)
 * while its bodies move by `reach` and turn by `delta`: what the system of its parameters makes of these movements. */
typedef struct saltusi_capacity {
  double wide, sine;
} saltusi_capacity;
saltusi_capacity saltusi_capacity_of(const saltusi_closest_points* at, double reach, double delta,
                                     double size);

/* A feature of a shape where it meets another. */
typedef struct saltusi_touching {
  const saltusi_shape* shape;
  const saltusi_body_pose* at;
  int number;
  const saltusi_closest_point* spot;
  const double* outward; /* world */
  double wide;           /* m, beyond the ends of lines */
} saltusi_touching;

/* The closest point is on the feature, and the normal, widened by the sine, one of its normals. `from`: the carrier, from
 * the origin of lengths; `touch`: m, beyond borders. */
bool saltusi_feature_counts(const saltusi_touching* touching, const double from[3], double sine,
                            double touch);

/* Adds a round point of one of the two (of = 0: of A) against the whole of the other: where this is closest, or, for all
 * pairs, each feature whose region it can reach. */
void saltusi_list_round(const saltusi_listing* list, int of, int number);

/* Adds two lines where they are closest inside of both and not parallel. */
bool saltusi_list_lines(const saltusi_listing* list, int a, int b);

/* Below this sine a circle may lie flat on a plane. */
static inline double saltusi_rim_sine(const saltusi_listing* list) {
  return list->here ? SALTUSI_LIES_FLAT : fmax(SALTUSI_LIES_FLAT, list->sine);
}
/* A circle has come to be flat, and where it was lowest is still known: its direction to the root of rounding. */
static inline bool saltusi_lies_down(double sine) {
  return sine > 0.5 * SALTUSI_LIES_FLAT && sine <= SALTUSI_LIES_FLAT;
}

/* A point of one body in the axes of another. */
void saltusi_seen_from(const saltusi_body_pose* other, const saltusi_body_pose* at,
                       const double own[3], double out[3]);

typedef void saltusi_lister(const saltusi_listing* list);
saltusi_lister saltusi_list_ball;     /* a sphere and anything: where it is closest */
saltusi_lister saltusi_list_capsules; /* two capsules */
saltusi_lister saltusi_list_on_plane; /* anything on a half-space */
saltusi_lister saltusi_list_inside;   /* anything in a hollow sphere */
saltusi_lister saltusi_list_capsule_polytope;
saltusi_lister saltusi_list_features; /* all pairs of features that count */
saltusi_lister saltusi_list_ring;     /* the same where one is a torus */
saltusi_lister saltusi_list_convex;   /* those of two convex shapes near their best axis */

/* Positive while the features of a pair are those that touch. */
int saltusi_curved_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                          const saltusi_closest_points* at, double guard[SALTUSI_GUARDS]);

/* False: the middle line of the capsule is outside. Else the least movement that parts them. */
bool saltusi_capsule_in_polytope(const saltusi_two* two, saltusi_separation* out);

/* Of any two convex shapes; and cheaper, a local one of the ways out where they overlap. */
void saltusi_convex_separation(const saltusi_two* two, saltusi_separation* out);
void saltusi_convex_near(const saltusi_two* two, saltusi_separation* out);

/* Of a torus and something convex or another torus; `slack` is set. */
void saltusi_ring_separation(const saltusi_two* two, saltusi_separation* out);

/* The least gap of all pairs of two shapes in the order of ranks that are apart. */
void saltusi_least_gap(const saltusi_two* two, saltusi_separation* out);

/* Of two shapes in the order of ranks; normal and point as for the caller's A and B. */
void saltusi_curved_separation(const saltusi_two* two, saltusi_separation* out);

#endif
