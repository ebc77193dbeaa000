/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shape.h - shapes of bodies: geometry, mass properties and surface features.
 *
 * Curved shapes are exact, without facets. A shape may be rounded: `radius` is then added on all sides. docs/shapes.md
 * has a picture and the feature numbers of each.
 */
#ifndef SALTUS_SHAPE_H
#define SALTUS_SHAPE_H

#include "saltus/api.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/orientation.h"
#include "saltus/status.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

typedef enum saltus_shape_kind {
  /* plane */
  SALTUS_SHAPE_CIRCLE, /* radius; hollow: the inside of a ring */
  SALTUS_SHAPE_SEGMENT, /* two points; one-sided: free on the left of first -> second; radius: two-sided, a bar */
  SALTUS_SHAPE_POLYGON, /* points counter-clockwise, convex or simple; radius: rounded by it (convex ones) */
  SALTUS_SHAPE_HALF_PLANE, /* the side y < 0 of its own axes */
  SALTUS_SHAPE_CHAIN, /* segments and arcs (`bulges`), open or closed, one-sided: free on the left */
  /* plane and space */
  SALTUS_SHAPE_CAPSULE, /* radius, length between the centres of its ends; along x in the plane, z in space */
  /* space */
  SALTUS_SHAPE_SPHERE,   /* radius; hollow: the inside */
  SALTUS_SHAPE_BOX,      /* size: lengths of its edges; radius: rounded outside of these */
  SALTUS_SHAPE_CYLINDER, /* radius, length; along z, centred */
  SALTUS_SHAPE_CONE,     /* radius of the base, length; along z, base at z = 0, tip at z = length */
  SALTUS_SHAPE_ELLIPSOID,  /* size: semi-axes */
  SALTUS_SHAPE_TORUS,      /* size[0]: radius of the circle about z, radius: of the tube */
  SALTUS_SHAPE_HALF_SPACE, /* the side z < 0 of its own axes */
  SALTUS_SHAPE_HULL,       /* convex hull of the points; radius: rounded by it */
  SALTUS_SHAPE_MESH, /* points and triangles, counter-clockwise from outside; closed, or open: one-sided */
  SALTUS_SHAPE_HEIGHTFIELD /* heights over a grid, free above; cells are cut from (i,j) to (i+1,j+1) */
} saltus_shape_kind;

typedef struct saltus_shape_def {
  const char* name;
  saltus_shape_kind kind;
  double position[3];             /* m, of the shape's own origin, in body axes */
  saltus_orientation orientation; /* of its own axes */
  double radius;                  /* m */
  double length;                  /* m */
  double size[3];                 /* m */
  bool hollow;                    /* circle, sphere: the free side is inside */
  bool closed;                    /* chain: the last point is joined to the first */
  const double* points;           /* [2 or 3 point_count] m, in the shape's own axes */
  int point_count;
  /* chain: [segments] tan(angle / 4) of the arc, 0: straight; NULL: all straight */
  const double* bulges;
  const int* triangles; /* [3 triangle_count] indices of points */
  int triangle_count;
  const double* heights; /* [columns x rows] m, row by row; the origin is the first */
  int columns, rows;     /* points along x and y */
  double spacing[2];     /* m, between columns and rows */
  SALTUS_RESERVED(6);
} saltus_shape_def;

/* "circle", "half-space" and so on, as in scenes; NULL: no such kind. */
SALTUS_API const char* saltus_shape_kind_name(saltus_shape_kind kind);

/* Mass properties of this shape with density 1, by exact integrals. */
typedef struct saltus_shape_mass {
  double volume;    /* m^3; of the plane m^2 */
  double centre[3]; /* m, in body axes */
  double inertia
      [6]; /* m^5 about the centre in body axes: xx, yy, zz, xy, xz, yz (entries of the matrix); in the plane m^4, only the first */
} saltus_shape_mass;

/* SALTUS_ERR_INPUT with a message for shapes without a volume (half-spaces, chains, heightfields, open meshes) and
 * for invalid shapes. */
SALTUS_API saltus_status saltus_shape_mass_properties(const saltus_shape_def* def, int dimension,
                                                      saltus_log log, saltus_shape_mass* mass);

SALTUS_END_DECLS

#endif
