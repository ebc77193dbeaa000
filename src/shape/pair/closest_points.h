/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * closest_points.h - closest points of two features: position, tangents T = dp/du and second derivatives H of each.
 * Positions are relative to the origin of B's carrier, so that rounding errors scale with the distance of the two.
 */
#ifndef SALTUSI_CLOSEST_POINTS_H
#define SALTUSI_CLOSEST_POINTS_H

#include "shape/pair/pair.h"

/* A feature in world axes, and its skeleton at one point. Curved surfaces have local parameters at each point (u =
 * 0 there), which avoids poles. */
typedef struct saltusi_closest_point {
  saltusi_feature_kind kind;
  int k; /* parameters: 0 point, 1 curve, 2 surface */
  double rho;
  const double* size;
  double origin[3], a[3], e[3], f[3]; /* f = a x e */
  double p[3];
  double T[2][3];
  double H[3][3];   /* by u0 u0, u0 u1, u1 u1 */
  double normal[3]; /* outward, of a surface */
  double u[2];      /* line: length; circle: angle; plane: lengths along e and f; else 0 */
} saltusi_closest_point;

typedef struct saltusi_closest_points {
  saltusi_closest_point spot[2]; /* of A and B */
  double normal[3];
  double apart; /* m, between the skeletons along the normal */
  int first; /* the spot that is the first in the dispatch table: branches are minima on halves of its circle */
  bool
      by_tangents; /* the normal is that of a surface or of two curves that cross; else that of d */
} saltusi_closest_points;

/* False: no such points, or not determined. */
bool saltusi_pair_meet(const saltusi_pair* pair, saltusi_closest_points* out);

/* The same; `only`: false if this branch has no minimum of its own, for lists. */
bool saltusi_pair_meet_only(const saltusi_pair* pair, bool only, saltusi_closest_points* out);

/* Rows of points, lines and planes, bitwise identical to saltusi_pair_rows_still; false: other kinds, or possibly
 * undetermined. */
bool saltusi_pair_rows_straight(const saltusi_pair* pair, bool planar, int count,
                                saltusi_pair_rows* out);

/* Required orientation of d = p_A - p_B and the minimum selected, in the order of the kinds. */
typedef struct saltusi_aim {
  int branch;
  double side[3];
  bool only; /* no fallback to another minimum if this branch has none */
} saltusi_aim;

/* Closest points of two skeletons: sets p, T, H, normal and u of both. The kinds are those of the dispatch table,
 * in the order of their numbers. */
typedef bool saltusi_meet(saltusi_closest_point* first, saltusi_closest_point* second,
                          const saltusi_aim* aim);
saltusi_meet saltusi_meet_point_point, saltusi_meet_point_line, saltusi_meet_point_plane,
    saltusi_meet_line_line, saltusi_meet_point_circle, saltusi_meet_plane_circle,
    saltusi_meet_point_ellipsoid, saltusi_meet_line_ellipsoid, saltusi_meet_plane_ellipsoid,
    saltusi_meet_ellipsoids, saltusi_meet_point_cone, saltusi_meet_line_cone,
    saltusi_meet_line_circle, saltusi_meet_circles, saltusi_meet_circle_ellipsoid,
    saltusi_meet_circle_cone, saltusi_meet_cones, saltusi_meet_ellipsoid_cone;

/* Whether the branches of the pair are minima on halves of a circle: with a circle, an ellipsoid or a cone. */
bool saltusi_circle_has_halves(const saltusi_closest_points* at);
/* For such a pair: distance of the point from the end of the half circle of its branch, positive inside, as a
 * cosine; the other branch is valid beyond. */
double saltusi_circle_side(const saltusi_closest_points* at, int branch);

/* Sets the skeleton at a point of a line, plane or circle, from its parameters. */
void saltusi_spot_on_line(saltusi_closest_point* line, double u);
void saltusi_spot_on_plane(saltusi_closest_point* plane, const double at[3]);
void saltusi_spot_on_circle(saltusi_closest_point* circle, double cosine, double sine);

/* For an ellipsoid at its support point in a direction of any length; for the side of a cone at a distance from
 * its tip along the generator in the direction r, false at the tip. */
void saltusi_spot_of_support(saltusi_closest_point* spot, const double n[3]);
bool saltusi_spot_on_cone(saltusi_closest_point* cone, const double r[3], double along);

/* Distance of w from the axis a, and its direction r of length 1, normal to a to rounding however close w is to
 * the axis; 0: on the axis, r is undefined. */
double saltusi_away_from(const double a[3], const double w[3], double r[3]);

/* u' of A and B for the angular velocities of both and the relative material velocity V = V_A - V_B at p_A and
 * p_B; false: not determined. */
bool saltusi_closest_points_rates(const saltusi_closest_points* at, const double WA[3],
                                  const double WB[3], const double V[3], double du[2][2]);

/* Condition number of the system of these rates; INFINITY: singular. */
double saltusi_closest_points_condition(const saltusi_closest_points* at);

/* Solves J x = b, n <= 4 unknowns, in place (b becomes x), by elimination with pivoting; false:
 * singular. */
bool saltusi_solve_small(int n, double J[16], double b[4]);

#endif
