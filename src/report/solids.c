/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solids.c - see solids.h. Curved surfaces are triangulated with vertices on the surface. A rounded box or hull is drawn as
 * spheres at its vertices, cylinders along its edges, and offset faces; their interior parts are hidden.
 */
#include "report/solids.h"

#include <assert.h>
#include <math.h>

static const double turn = 6.28318530717958647692;
const double saltusi_upright[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

/* ----------------------------------------------------------------------------------- parts --- */

static int add_own(saltusi_surface* s, saltusi_axes at, double x, double y, double z) {
  const double* R = at.R;
  return saltusi_surface_point_add(s, at.x[0] + R[0] * x + R[1] * y + R[2] * z,
                                   at.x[1] + R[3] * x + R[4] * y + R[5] * z,
                                   at.x[2] + R[6] * x + R[7] * y + R[8] * z);
}

/* Surface of revolution of a profile (distance from the axis, height) about z, scaled along x and y. Points on the
 * axis are merged. */
typedef struct profile {
  double (*point)[2];
  int count;
  bool ring; /* the last is joined to the first */
} profile;

static void add_turned(saltusi_surface* s, saltusi_axes at, const profile* p,
                       const double scale[2]) {
  const int n = s->around, bands = p->ring ? p->count : p->count - 1;
  const int first = (int)s->points;
  int ring[2] = {first, first};
  for (int i = 0; i < p->count; i++) {
    const int copies = p->point[i][0] > 0.0 ? n : 1;
    for (int k = 0; k < copies; k++) {
      const double angle = turn * k / n;
      add_own(s, at, scale[0] * p->point[i][0] * cos(angle), scale[1] * p->point[i][0] * sin(angle),
              p->point[i][1]);
    }
  }
  for (int i = 0; i < bands; i++) {
    const int next = (i + 1) % p->count;
    const bool wide[2] = {p->point[i][0] > 0.0, p->point[next][0] > 0.0};
    ring[1] = next == 0 ? first : ring[0] + (wide[0] ? n : 1);
    for (int k = 0; k < n; k++) {
      const int a = wide[0] ? k : 0, b = wide[0] ? (k + 1) % n : 0;
      const int c = wide[1] ? (k + 1) % n : 0, d = wide[1] ? k : 0;
      int corner[4] = {ring[0] + a, ring[0] + b, ring[1] + c, ring[1] + d};
      int count = 4;
      if (!wide[0]) {
        corner[1] = corner[2];
        corner[2] = corner[3];
        count = 3;
      } else if (!wide[1]) {
        count = 3;
      }
      saltusi_surface_cell_add(s, SALTUSI_CELL_AREA, corner, count);
    }
    ring[0] = ring[1];
  }
}

/* An arc of the profile about (0, height): from the lower to the upper angle over the plane of z. */
static int add_arc(double (*point)[2], int count, int pieces, double radius, double height,
                   const double angle[2]) {
  for (int i = 0; i <= pieces; i++) {
    const double a = angle[0] + (angle[1] - angle[0]) * i / pieces;
    const bool pole = fabs(fabs(a) - 0.25 * turn) < 1e-9;
    point[count][0] = pole ? 0.0 : radius * cos(a);
    point[count++][1] = height + radius * sin(a);
  }
  return count;
}

static const double round_scale[2] = {1.0, 1.0};

void saltusi_add_ball(saltusi_surface* s, saltusi_axes at, double radius, double length) {
  assert(s != NULL);
  double point[SALTUSI_MOST_AROUND + 4][2];
  const double lower[2] = {-0.25 * turn, 0.0}, upper[2] = {0.0, 0.25 * turn};
  const int pieces = s->around / 4;
  profile p = {.point = point};
  p.count = add_arc(point, 0, pieces, radius, -0.5 * length, lower);
  p.count =
      add_arc(point, length > 0.0 ? p.count : p.count - 1, pieces, radius, 0.5 * length, upper);
  add_turned(s, at, &p, round_scale);
}

void saltusi_add_ellipsoid(saltusi_surface* s, saltusi_axes at, const double size[3]) {
  assert(s != NULL);
  double point[SALTUSI_MOST_AROUND + 4][2];
  const double whole[2] = {-0.25 * turn, 0.25 * turn};
  profile p = {.point = point};
  p.count = add_arc(point, 0, s->around / 2, 1.0, 0.0, whole);
  for (int i = 0; i < p.count; i++) {
    point[i][1] *= size[2];
  }
  add_turned(s, at, &p, size);
}

void saltusi_add_frustum(saltusi_surface* s, saltusi_axes at, const double height[2],
                         const double radius[2]) {
  assert(s != NULL);
  double point[4][2] = {
      {0.0, height[0]}, {radius[0], height[0]}, {radius[1], height[1]}, {0.0, height[1]}};
  profile p = {.point = point, .count = radius[1] > 0.0 ? 4 : 3};
  add_turned(s, at, &p, round_scale);
}

void saltusi_add_torus(saltusi_surface* s, saltusi_axes at, double large, double small) {
  assert(s != NULL);
  double point[SALTUSI_MOST_AROUND + 4][2];
  profile p = {.point = point, .count = s->around, .ring = true};
  for (int i = 0; i < s->around; i++) {
    point[i][0] = large + small * cos(turn * i / s->around);
    point[i][1] = small * sin(turn * i / s->around);
  }
  add_turned(s, at, &p, round_scale);
}

/* ------------------------------------------------------------------------- boxes and hulls --- */

static void face_normal(const double (*corner)[3], const int* place, int count, double normal[3]) {
  normal[0] = normal[1] = normal[2] = 0.0;
  for (int i = 0; i < count; i++) { /* Newell's sums, for any planar loop */
    const double* a = corner[place[i]];
    const double* b = corner[place[(i + 1) % count]];
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      normal[k] += (a[l] - b[l]) * (a[m] + b[m]);
    }
  }
  const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  for (int k = 0; k < 3 && length > 0.0; k++) {
    normal[k] /= length;
  }
}

/* A tube of the radius from a to b. */
static void add_tube(saltusi_surface* s, const double a[3], const double b[3], double radius) {
  double z[3], x[3], y[3], length = 0.0, size = 0.0;
  int least = 0;
  for (int k = 0; k < 3; k++) {
    z[k] = b[k] - a[k];
    length += z[k] * z[k];
  }
  length = sqrt(length);
  if (!(length > 0.0)) {
    return;
  }
  for (int k = 0; k < 3; k++) {
    z[k] /= length;
    least = fabs(z[k]) < fabs(z[least]) ? k : least;
  }
  for (int k = 0; k < 3; k++) { /* the axis that is least along z, made normal to it */
    x[k] = (k == least ? 1.0 : 0.0) - z[least] * z[k];
    size += x[k] * x[k];
  }
  for (int k = 0; k < 3; k++) {
    x[k] /= sqrt(size);
  }
  for (int k = 0; k < 3; k++) {
    y[k] = z[(k + 1) % 3] * x[(k + 2) % 3] - z[(k + 2) % 3] * x[(k + 1) % 3];
  }
  const double R[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
  double point[2][2] = {{radius, 0.0}, {radius, length}};
  const profile p = {.point = point, .count = 2};
  add_turned(s, (saltusi_axes){a, R}, &p, round_scale);
}

/* A face with corners in body axes, offset outwards by the radius, with tubes along its edges (each once: from the
 * face with ascending vertex indices). */
static void add_face(saltusi_surface* s, const double (*corner)[3], const int* place, int count,
                     double radius) {
  double normal[3];
  face_normal(corner, place, count, normal);
  const int first = (int)s->points;
  for (int i = 0; i < count; i++) {
    const double* x = corner[place[i]];
    saltusi_surface_point_add(s, x[0] + radius * normal[0], x[1] + radius * normal[1],
                              x[2] + radius * normal[2]);
  }
  saltusi_surface_run_add(s, SALTUSI_CELL_AREA, first, count, false);
  for (int i = 0; i < count && radius > 0.0; i++) {
    const int a = place[i], b = place[(i + 1) % count];
    if (a < b) {
      add_tube(s, corner[a], corner[b], radius);
    }
  }
}

static void add_corners(saltusi_surface* s, const double (*corner)[3], int count, double radius) {
  for (int i = 0; i < count && radius > 0.0; i++) {
    saltusi_add_ball(s, (saltusi_axes){corner[i], saltusi_upright}, radius, 0.0);
  }
}

void saltusi_add_box(saltusi_surface* s, saltusi_axes at, const double size[3], double radius) {
  assert(s != NULL);
  static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  double corner[8][3];
  for (int i = 0; i < 8; i++) {
    for (int k = 0; k < 3; k++) {
      corner[i][k] = at.x[k];
      for (int j = 0; j < 3; j++) {
        corner[i][k] += at.R[3 * k + j] * ((i >> j & 1) != 0 ? 0.5 : -0.5) * size[j];
      }
    }
  }
  for (int f = 0; f < 6; f++) {
    add_face(s, (const double(*)[3])corner, faces[f], 4, radius);
  }
  add_corners(s, (const double(*)[3])corner, 8, radius);
}

void saltusi_add_hull(saltusi_surface* s, const saltus_mechanism* mechanism, int shape,
                      const saltus_shape_form* form) {
  assert(s != NULL);
  const int* corner;
  int count;
  for (int f = 0; (count = saltus_mechanism_hull_face(mechanism, shape, f, &corner)) > 0; f++) {
    add_face(s, form->points, corner, count, form->radius);
  }
  add_corners(s, form->points, form->point_count, form->radius);
}

void saltusi_add_mesh(saltusi_surface* s, const saltus_shape_form* form) {
  assert(s != NULL);
  const int first = (int)s->points;
  for (int i = 0; i < form->point_count; i++) {
    const double* x = form->points[i];
    saltusi_surface_point_add(s, x[0], x[1], x[2]);
  }
  for (int i = 0; i < form->triangle_count; i++) {
    const int corner[3] = {first + form->triangles[i][0], first + form->triangles[i][1],
                           first + form->triangles[i][2]};
    saltusi_surface_cell_add(s, SALTUSI_CELL_AREA, corner, 3);
  }
}

void saltusi_add_half_space(saltusi_surface* s, const saltus_shape_form* form,
                            const double middle[3], double far) {
  assert(s != NULL);
  double foot[2] = {0.0, 0.0};
  int corner[4];
  for (int k = 0; k < 3; k++) {
    foot[0] += form->axes[3 * k] * (middle[k] - form->position[k]);
    foot[1] += form->axes[3 * k + 1] * (middle[k] - form->position[k]);
  }
  for (int i = 0; i < 4; i++) {
    corner[i] =
        add_own(s, (saltusi_axes){form->position, form->axes},
                foot[0] + (i == 1 || i == 2 ? far : -far), foot[1] + (i > 1 ? far : -far), 0.0);
  }
  saltusi_surface_cell_add(s, SALTUSI_CELL_AREA, corner, 4);
}
