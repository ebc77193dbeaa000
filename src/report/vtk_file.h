/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_file.h - one file of VTK's XML format for points with lines and polygons (PolyData, .vtp) during its
 * construction. Arrays are in base64, preceded by their length in bytes.
 */
#ifndef SALTUSI_REPORT_VTK_FILE_H
#define SALTUSI_REPORT_VTK_FILE_H

#include "report/bytes.h"
#include "report/surface.h"

typedef enum saltusi_vtk_type {
  SALTUSI_VTK_FLOAT32,
  SALTUSI_VTK_FLOAT64,
  SALTUSI_VTK_INT32,
  SALTUSI_VTK_UINT64
} saltusi_vtk_type;

typedef struct saltusi_vtk_file {
  saltusi_bytes text;
  saltusi_bytes array; /* the one that is being written, before it is encoded */
  saltusi_vtk_type type;
} saltusi_vtk_file;

void saltusi_vtk_begin(saltusi_vtk_file* f, double t);
/* A list of names besides the data; before the element `Piece`. */
void saltusi_vtk_names(saltusi_vtk_file* f, const char* name, const char* const* names, int count);
/* Numbers of points and of cells of each kind that follow. */
void saltusi_vtk_piece(saltusi_vtk_file* f, size_t points, const size_t cells[SALTUSI_CELL_KINDS]);
void saltusi_vtk_end(saltusi_vtk_file* f);

/* "PointData", "CellData", "Points" and so on. */
void saltusi_vtk_open(saltusi_vtk_file* f, const char* element);
void saltusi_vtk_close(saltusi_vtk_file* f, const char* element);

/* An array of tuples of `width`, its numbers, its end. Values that are not finite become 0, since VTK cannot represent
 * them. */
void saltusi_vtk_array(saltusi_vtk_file* f, const char* name, saltusi_vtk_type type, int width);
void saltusi_vtk_number(saltusi_vtk_file* f, double value);
void saltusi_vtk_vector(saltusi_vtk_file* f, const double value[3]);
void saltusi_vtk_whole(saltusi_vtk_file* f, uint64_t value);
void saltusi_vtk_array_end(saltusi_vtk_file* f);

/* Verts, Lines and Polys of a surface. */
void saltusi_vtk_cells(saltusi_vtk_file* f, const saltusi_surface* s);

#endif
