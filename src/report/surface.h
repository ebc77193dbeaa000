/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * surface.h - points, lines and polygons of shapes and of drawn objects, in body axes.
 */
#ifndef SALTUSI_REPORT_SURFACE_H
#define SALTUSI_REPORT_SURFACE_H

#include "saltus/drawing.h"
#include "saltus/mechanism.h"
#include "saltus/memory.h"

#include <stddef.h>

typedef struct saltusi_surface_point {
  double x[3]; /* m, in the axes of its body */
  int body;    /* -1: the world */
} saltusi_surface_point;

typedef enum saltusi_cell_kind {
  SALTUSI_CELL_POINT,
  SALTUSI_CELL_LINE,
  SALTUSI_CELL_AREA,
  SALTUSI_CELL_KINDS
} saltusi_cell_kind;

typedef struct saltusi_cell {
  size_t first; /* place in corner */
  int count;
  int body, thing;
} saltusi_cell;

/* Cells of one kind. */
typedef struct saltusi_cells {
  saltusi_cell* list;
  size_t count, room;
  int* corner;
  size_t corners, corner_room;
} saltusi_cells;

typedef struct saltusi_surface {
  const saltus_allocator* memory;
  int around;      /* corners of a circle */
  int body, thing; /* indices of the cells being added */
  saltusi_surface_point* point;
  size_t points, room;
  saltusi_cells cells[SALTUSI_CELL_KINDS];
  bool failed; /* no memory */
} saltusi_surface;

/* Adds a point; returns its index. */
int saltusi_surface_point_add(saltusi_surface* s, double x, double y, double z);
void saltusi_surface_cell_add(saltusi_surface* s, saltusi_cell_kind kind, const int* corner,
                              int count);
/* A cell of consecutive points; closed: the first point is repeated at the end. */
void saltusi_surface_run_add(saltusi_surface* s, saltusi_cell_kind kind, int first, int count,
                             bool closed);
void saltusi_surface_free(saltusi_surface* s);

/* Present sizes, and truncation to earlier sizes. */
typedef struct saltusi_surface_mark {
  size_t points, count[SALTUSI_CELL_KINDS], corners[SALTUSI_CELL_KINDS];
} saltusi_surface_mark;
saltusi_surface_mark saltusi_surface_here(const saltusi_surface* s);
void saltusi_surface_back(saltusi_surface* s, const saltusi_surface_mark* mark);

/* A shape of a body; unbounded shapes extend `far` around the centre, in the axes of the body. */
void saltusi_surface_shape(saltusi_surface* s, const saltus_mechanism* mechanism, int shape,
                           const double middle[3], double far);

/* An object of the section `view` in world axes; contacts and texts have no surface. */
void saltusi_surface_drawn(saltusi_surface* s, const saltus_drawn* thing, int dimension,
                           const double* values);

#endif
