/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_exact.h - motions of mechanisms that are known: by elliptic functions, or in tables that two independent
 * formulations agree on (data/reference/bodies/). None of it knows the library's bodies.
 */
#ifndef BODIES_EXACT_H
#define BODIES_EXACT_H

typedef struct bodies_table {
  const char* name;
  int width; /* columns behind time */
  int rows;
  const double* numbers; /* [rows x (1 + width)] */
} bodies_table;

const bodies_table* bodies_table_find(const char* name); /* NULL: none */

/* The row at this time, which is one of the table's to a thousandth of their distance; NaN: none is. */
void bodies_table_at(const bodies_table* table, double t, double* out);

/* Point mass on a bar of 1 m from (-1, 0) at rest: x, y. */
void bodies_pendulum(double t, double* out);

/* N windows of upright cranks with the rate 1 rad/s: x, y of the first crank's tip. */
void bodies_four_bar(int windows, double t, double* out);

/* How far a part e of the velocity in its lowest position moves the tip within `until`, over e. */
double bodies_four_bar_amplification(int windows, double until);

/* A parallelogram of three uniform rods that swings from an angle off the vertical, at rest: x, z and y of
 * the left crank's tip. */
void bodies_hanging_four_bar(double angle, double t, double* out);

/* Free rotation with moments 1, 10, 11 from (0, 2, 1e-4) rad/s: angular velocity in body axes. */
void bodies_free_rotation(double t, double* out);

/* A symmetric top on its tip, released with spin alone: x, y, z of the centre of mass and of a point of the rim,
 * which lies `rim` along x of the body from the centre. */
typedef struct bodies_top {
  double m_g_l;  /* N m */
  double I1, I3; /* kg m^2 about the tip */
  double l, rim; /* m */
  double tilt;   /* rad, at the start, in the plane of x and z */
  double spin;   /* rad/s about its axis */
} bodies_top;
void bodies_heavy_top(const bodies_top* top, double t, double* out);

/* Nutation: its period [s], the lowest cosine of the tilt, and the precession in one period [rad]. */
void bodies_nutation(const bodies_top* top, double* period, double* lowest, double* precession);

#endif
