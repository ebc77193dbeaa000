/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass.h - mass properties of shapes and of their unions.
 */
#ifndef SALTUSI_MASS_H
#define SALTUSI_MASS_H

#include "shape/shape.h"

/* Parts with densities as one body, by the parallel axis theorem: `volume` of the result is the mass, kg,
 * `inertia` in kg m^2 about the common centre. Overlapping volumes count twice. The mass has to be positive. */
void saltusi_mass_combine(const saltus_shape_mass* part, const double* density, int count,
                          int dimension, saltus_shape_mass* whole);

/* Volume, first and second moments about a point; additive. */
typedef struct saltusi_moments {
  double volume;
  double first[3];
  double second[9]; /* integral of x x^T */
} saltusi_moments;

/* The box or hull with its rounding, about its first vertex, in body axes. */
void saltusi_moments_polytope(const saltusi_shape* shape, saltusi_moments* sum);
/* Sum of signed tetrahedra from the first point to the triangles of a closed surface. */
void saltusi_moments_triangles(const double* points, const int* triangles, int count,
                               saltusi_moments* sum);
/* Adds density x x^T integrals of a tetrahedron from the origin to a, b, c. */
void saltusi_moments_tetrahedron(const double a[3], const double b[3], const double c[3],
                                 saltusi_moments* sum);

/* Area, centre and polar moment about it of a planar shape; its own axes. False: it has no area. */
bool saltusi_area_of(const saltus_shape_def* def, double* area, double centre[2], double* polar);

#endif
