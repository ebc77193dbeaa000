/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * beam_shape.h - a beam as it is read, and its geometry: curves, boundaries and axes of its cells.
 */
#ifndef SALTUSI_BEAM_SHAPE_H
#define SALTUSI_BEAM_SHAPE_H

#include "scene/builder.h"

typedef enum saltusi_beam_end {
  SALTUSI_END_CLAMPED,
  SALTUSI_END_PINNED,
  SALTUSI_END_FREE
} saltusi_beam_end;
typedef enum saltusi_beam_contact {
  SALTUSI_AT_LINKS,
  SALTUSI_AT_NODES,
  SALTUSI_AT_ENDS,
  SALTUSI_AT_NONE
} saltusi_beam_contact;

typedef struct saltusi_beam {
  const char* name;
  const saltusi_yaml_node* item;
  int elements, cells;
  bool by_nodes, stretch, closed, straight, plane;
  saltusi_beam_end end[2];
  const char* marker[2]; /* NULL: none */
  double E, G, density, A, I[2], J, damping;
  double radius;
  saltusi_beam_contact at;
  const char* surface;
  const char* const* groups;
  double velocity[3], w[3];
  double *rest_angle, *start_angle; /* [cells] rad, of the plane: continuous along the beam */
  double *rest, *start;             /* [3 (cells + 1)] boundaries of the cells */
  double *rest_R,
      *start_R; /* [9 cells] axes of the cells to the world; the axis is x in the plane, z in space */
} saltusi_beam;

typedef struct saltusi_beam_frame {
  double p[3], R[9];
} saltusi_beam_frame;

/* The frame of a marker; false: there is none of this name. */
bool saltusi_beam_marker_frame(const saltusi_scene_builder* b, const char* name, int depth,
                               saltusi_beam_frame* out);
/* n + 1 nodes [3 each]: at s = i/n of a curve; points, or at equal lengths of their polyline. */
void saltusi_beam_read_curve(saltusi_scene_builder* b, const saltusi_yaml_node* node, int n,
                             double* x);
void saltusi_beam_read_points(saltusi_scene_builder* b, const saltusi_yaml_node* node, int n,
                              double* x);
/* Boundaries of the cells from nodes. */
double* saltusi_beam_boundaries(saltusi_scene_builder* b, const saltusi_beam* of,
                                const double* nodes);
/* The shortest rotation of the axes R that takes their tangent to `to`. */
void saltusi_beam_transport(const double R[9], bool plane, const double to[3], double out[9]);
/* Axes of the cells, the normal carried without twist; angles of the plane without jumps. */
double* saltusi_beam_axes(saltusi_scene_builder* b, const saltusi_beam* of, const double* x,
                          const double* normal);
double* saltusi_beam_angles(saltusi_scene_builder* b, const saltusi_beam* of, const double* R);

#endif
