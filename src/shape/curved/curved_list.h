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

/* Two shapes in the order of ranks, and the output of the list. */
typedef struct saltusi_listing {
  const saltusi_two* two;
  bool all, here;  /* as in saltusi_near */
  double reach;    /* m */
  double sine;     /* widening of normal cones */
  bool flipped;    /* order opposite to that of the caller */
  bool all_around; /* fixed points of rings are paired with every feature */
  bool anything;   /* last resort: every pair of features, regardless of cones and borders */
  bool borderless; /* planes and lines without ends, for deep overlap */
  saltusi_candidates* out;
  const saltusi_separation* best; /* of convex shapes: their separation; NULL: not computed */
  double delta;                   /* rad, largest angle of a normal to that of `best` */
  saltusi_separation* least;      /* not NULL: no pair is listed; receives the least gap */
} saltusi_listing;

/* Closest points of two features; adds the pair if it is within reach; both in one call. */
bool saltusi_list_meet(const saltusi_listing* list, int a, int b, int branch,
                       saltusi_closest_points* at);
bool saltusi_list_met(const saltusi_listing* list, int a, int b, int branch,
                      const saltusi_closest_points* at);
bool saltusi_list_add(const saltusi_listing* list, int a, int b, int branch);

/* Largest displacement of the closest points of a pair (m, beyond the ends of its features) and rotation of its
 * normal (sine), for a displacement of the bodies by `reach` and a rotation by `delta`, by linearisation of the
 * system of the closest points. */
typedef struct saltusi_capacity {
  double wide, sine;
} saltusi_capacity;
saltusi_capacity saltusi_capacity_of(const saltusi_closest_points* at, double reach, double delta,
                                     double size);

/* A feature of a shape at its closest point to another. */
typedef struct saltusi_touching {
  const saltusi_shape* shape;
  const saltusi_body_pose* at;
  int number;
  const saltusi_closest_point* spot;
  const double* outward; /* world */
  double wide;           /* m, beyond the ends of lines */
} saltusi_touching;

/* Whether the closest point is on the feature and the normal in its normal cone, widened by the sine. `from`:
 * origin of the carrier, from the origin of lengths; `touch`: m, tolerance at borders. */
bool saltusi_feature_counts(const saltusi_touching* touching, const double from[3], double sine,
                            double touch);

/* Adds a rounded point of one of the two (of = 0: of A) against the other shape: with the closest feature or, for
 * all pairs, with each feature whose region is within reach. */
void saltusi_list_round(const saltusi_listing* list, int of, int number);

/* Adds two lines that are not parallel, if their closest points are in the interior of both. */
bool saltusi_list_lines(const saltusi_listing* list, int a, int b);

/* Below this sine a circle may be in face contact with a plane. */
static inline double saltusi_rim_sine(const saltusi_listing* list) {
  return list->here ? SALTUSI_LIES_FLAT : fmax(SALTUSI_LIES_FLAT, list->sine);
}
/* A circle that settles into face contact. The direction to its lowest point is still determined, to the square
 * root of rounding. */
static inline bool saltusi_lies_down(double sine) {
  return sine > 0.5 * SALTUSI_LIES_FLAT && sine <= SALTUSI_LIES_FLAT;
}

/* A point of one body in the axes of another. */
void saltusi_seen_from(const saltusi_body_pose* other, const saltusi_body_pose* at,
                       const double own[3], double out[3]);

typedef void saltusi_lister(const saltusi_listing* list);
saltusi_lister saltusi_list_ball;     /* a sphere and any shape, at the closest point */
saltusi_lister saltusi_list_capsules; /* two capsules */
saltusi_lister saltusi_list_on_plane; /* any shape on a half-space */
saltusi_lister saltusi_list_inside;   /* a sphere or capsule in a hollow sphere */
saltusi_lister saltusi_list_capsule_polytope;
saltusi_lister saltusi_list_features; /* all pairs with valid normals and closest points */
saltusi_lister saltusi_list_ring;     /* the same where one is a torus */
saltusi_lister saltusi_list_convex;   /* pairs of two convex shapes near their best axis */

/* Positive while the features of a pair are the touching ones. */
int saltusi_curved_guards(const saltusi_two* two, const saltusi_feature_candidate* numbers,
                          const saltusi_closest_points* at, double guard[SALTUSI_GUARDS]);

/* False: the axis of the capsule is outside. Else the least separating translation. */
bool saltusi_capsule_in_polytope(const saltusi_two* two, saltusi_separation* out);

/* Of any two convex shapes. The second is cheaper: for overlapping shapes, a local maximum over the directions. */
void saltusi_convex_separation(const saltusi_two* two, saltusi_separation* out);
void saltusi_convex_near(const saltusi_two* two, saltusi_separation* out);

/* Of a torus and a convex shape or another torus; sets `slack`. */
void saltusi_ring_separation(const saltusi_two* two, saltusi_separation* out);

/* The least gap over all pairs of features of two separated shapes in the order of ranks. */
void saltusi_least_gap(const saltusi_two* two, saltusi_separation* out);

/* Of two shapes in the order of ranks; normal and point as for A and B of the caller. */
void saltusi_curved_separation(const saltusi_two* two, saltusi_separation* out);

#endif
