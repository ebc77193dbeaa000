/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * closest_points.h - two features where they are closest: place, tangents T = dp/du and second derivatives H of each. Lengths
 * are counted from the origin of B's carrier, so that rounding is that of the distance of the two.
 */
#ifndef SALTUSI_CLOSEST_POINTS_H
#define SALTUSI_CLOSEST_POINTS_H

#include "shape/pair/pair.h"

/* A feature in world axes, and its skeleton at one point. Surfaces that are curved have parameters of their own at each
 * point (u = 0 there), so that no poles are in the way. */
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
  bool
      by_tangents; /* the normal is that of a surface or of two curves that cross; else that of d */
} saltusi_closest_points;

/* False: no such points, or not determined. */
bool saltusi_pair_meet(const saltusi_pair* pair, saltusi_closest_points* out);

/* The same; `only`: false where this branch has no minimum of its own, for lists. */
bool saltusi_pair_meet_only(const saltusi_pair* pair, bool only, saltusi_closest_points* out);

/* Rows of points, lines and planes as saltusi_pair_rows_still finds them, with the same bits; false: of other kinds, or where
 * something may be undetermined. */
bool saltusi_pair_rows_straight(const saltusi_pair* pair, bool planar, int count,
                                saltusi_pair_rows* out);

/* Which way d = p_A - p_B has to point, as numbers of the ways to find closest points see it. */
typedef struct saltusi_aim {
  int branch;
  double side[3];
  bool only; /* another minimum does not serve where this branch has none */
} saltusi_aim;

/* Closest points of two skeletons: fills p, T, H, normal and u of both. The kinds are those of the table that calls it,
 * in the order of their numbers. */
typedef bool saltusi_meet(saltusi_closest_point* first, saltusi_closest_point* second,
                          const saltusi_aim* aim);
saltusi_meet saltusi_meet_point_point, saltusi_meet_point_line, saltusi_meet_point_plane,
    saltusi_meet_line_line, saltusi_meet_point_circle, saltusi_meet_plane_circle,
    saltusi_meet_point_ellipsoid, saltusi_meet_line_ellipsoid, saltusi_meet_plane_ellipsoid,
    saltusi_meet_ellipsoids, saltusi_meet_point_cone, saltusi_meet_line_cone,
    saltusi_meet_line_circle, saltusi_meet_circles, saltusi_meet_circle_ellipsoid,
    saltusi_meet_circle_cone, saltusi_meet_cones, saltusi_meet_ellipsoid_cone;

/* Of two circles: how far the place is from the end of the half of the first that its branch stands for, positive inside, as a
 * cosine; the other branch takes over there. */
double saltusi_circles_side(const saltusi_closest_points* at, int branch);

/* Sets the skeleton at a point of a line, plane or circle by its parameters. */
void saltusi_spot_on_line(saltusi_closest_point* line, double u);
void saltusi_spot_on_plane(saltusi_closest_point* plane, const double at[3]);
void saltusi_spot_on_circle(saltusi_closest_point* circle, double cosine, double sine);

/* Of an ellipsoid at its farthest point in a direction of any length; of the side of a cone at a distance from its tip
 * along its straight line in the direction r, false at the tip. */
void saltusi_spot_of_support(saltusi_closest_point* spot, const double n[3]);
bool saltusi_spot_on_cone(saltusi_closest_point* cone, const double r[3], double along);

/* How far w is from the axis a, and in which direction r of length 1, normal to a to rounding however near w is to the
 * axis; 0: on it, r is without meaning. */
double saltusi_away_from(const double a[3], const double w[3], double r[3]);

/* u' of A and B for the angular velocities of both and V = V_A - V_B of the material at p_A and p_B; false where they are
 * not determined. */
bool saltusi_closest_points_rates(const saltusi_closest_points* at, const double WA[3],
                                  const double WB[3], const double V[3], double du[2][2]);

/* Of the system that gives these rates; INFINITY: singular. */
double saltusi_closest_points_condition(const saltusi_closest_points* at);

/* Solves J x = b of n <= 4 unknowns in place (b becomes x) by elimination with pivots; false: singular. */
bool saltusi_solve_small(int n, double J[16], double b[4]);

#endif
