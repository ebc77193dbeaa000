/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rigid.h - one rigid body in space by callbacks: q = (x, y, z, unit quaternion w, x, y, z from body to
 * world), v = (x', y', z' in the world, angular velocity in body axes), M = diag(m, m, m, I),
 * F = (m g, -w x I w). It may be held at a point by a spherical joint in the origin, and its corners may
 * touch the plane z = 0.
 */
#ifndef SALTUS_RIGID_H
#define SALTUS_RIGID_H

#include "saltus/saltus.h"

enum { RIGID_NQ = 7, RIGID_NV = 6, RIGID_CORNERS = 8 };

typedef struct rigid_body {
  double mass;       /* kg */
  double inertia[3]; /* kg m^2 about the body axes */
  double gravity;    /* m/s^2, along -z */
  bool joint;        /* the body point `pivot` stays in the origin */
  double pivot[3];   /* m, in body axes from the centre of mass */
  int corners;       /* that touch the plane */
  double corner[RIGID_CORNERS][3];
  saltus_contact_law law[RIGID_CORNERS];
  double stiffness; /* N m, of a rotational spring towards the direction z: V = k (1 - (R e_z)_z) */
} rigid_body;

/* A view of the body, which has to outlive it. */
saltus_system rigid_system(const rigid_body* body);

void quaternion_product(const double* p, const double* q, double* r);
/* World components of a vector in body axes, r = R x; x may not be r. */
void quaternion_rotate(const double* quaternion, const double* x, double* r);
/* Angle between two attitudes, rad. */
double quaternion_angle(const double* p, const double* q);
/* |quaternion| - 1 */
double quaternion_excess(const double* quaternion);
double rigid_energy(const rigid_body* body, const double* q, const double* v);
/* Angular momentum about the origin in the world. */
void rigid_momentum(const rigid_body* body, const double* q, const double* v, double* L);

/* A bar of length 2 m that tumbles in the plane y = 0, with its ends on the ground: as a rigid body that turns about
 * its y axis, and with two coordinates and an angle, q = (x, z, a), q' = v. 2 kg, 0.4 kg m^2. */
typedef struct planar_bar {
  saltus_contact_law law[2];
} planar_bar;

planar_bar planar_bar_with(int tangents, double mu, double e_N);
saltus_system planar_bar_system(const planar_bar* bar);
rigid_body rigid_bar_with(int tangents, double mu, double e_N);

#endif
