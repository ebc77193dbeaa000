/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check_flexible.c - mass properties and frequencies of a flexible body, and the rigid solid inside of its surface beside it:
 * a wrong scale of the mesh or a missing part of the matrices differs in density, centre or inertia.
 */
#include "check_bodies.h"
#include "saltus/flexible.h"
#include "saltus/shape.h"

#include <math.h>
#include <stdio.h>

static const double two_pi = 6.283185307179586;

/* Entries of the inertia matrix as of a shape: xx, yy, zz, xy, xz, yz. */
static void inertia_of(const saltus_flexible* b, double out[6]) {
  const double *C = b->C0, trace = C[0] + C[4] + C[8];
  const double values[6] = {trace - C[0],         trace - C[4],         trace - C[8],
                            -0.5 * (C[1] + C[3]), -0.5 * (C[2] + C[6]), -0.5 * (C[5] + C[7])};
  for (int i = 0; i < 6; i++) {
    out[i] = values[i];
  }
}

saltus_status check_flexible_solid(const saltus_flexible* b, check_solid* out) {
  const saltus_shape_def def = {.name = "surface of a flexible body",
                                .kind = SALTUS_SHAPE_MESH,
                                .points = b->node,
                                .point_count = b->nodes,
                                .triangles = b->triangle,
                                .triangle_count = b->triangles};
  saltus_shape_mass solid;
  saltus_status status = b->triangles > 0
                             ? saltus_shape_mass_properties(&def, 3, (saltus_log){0}, &solid)
                             : SALTUS_ERR_INPUT;
  if (status != SALTUS_OK) {
    return status;
  }
  double inertia[6], off = 0.0, size = 0.0, centre = 0.0;
  inertia_of(b, inertia);
  out->density = b->mass / solid.volume;
  for (int i = 0; i < 6; i++) {
    off = fmax(off, fabs(out->density * solid.inertia[i] - inertia[i]));
    size = fmax(size, fabs(inertia[i]));
  }
  for (int i = 0; i < 3; i++) {
    centre += solid.centre[i] * solid.centre[i];
  }
  out->inertia = off / size;
  out->centre = sqrt(centre);
  return SALTUS_OK;
}

void check_flexible_print(const saltus_flexible* b) {
  double inertia[6];
  check_solid solid;
  inertia_of(b, inertia);
  printf("mass %.9g kg, centre (%.9g, %.9g, %.9g) m\n", b->mass, b->centre[0], b->centre[1],
         b->centre[2]);
  printf("inertia about it: %.9g, %.9g, %.9g kg m^2; products %.3g, %.3g, %.3g\n", inertia[0],
         inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]);
  if (check_flexible_solid(b, &solid) == SALTUS_OK) {
    printf(
        "rigid solid with its surface: density %.6g kg/m^3, centre %.3g m apart, inertia %.2g %% "
        "apart\n",
        solid.density, solid.centre, 100.0 * solid.inertia);
    if (!(solid.density >= 1.0 && solid.density <= 30000.0)) {
      fprintf(stderr,
              "saltus: warning: the density of the flexible body is %.3g kg/m^3, usual are 1 to "
              "30000: is the mesh in m (--scale)?\n",
              solid.density);
    }
  }
  printf("%d nodes, %d frames, %d modes with mean axes%s:\n", b->nodes, b->frames, b->modes,
         b->stiffen != NULL ? ", geometric stiffness" : "");
  for (int i = 0; i < b->modes; i++) {
    printf("  mode %3d  %.8g Hz\n", i + 1, b->omega[i] / two_pi);
  }
}
