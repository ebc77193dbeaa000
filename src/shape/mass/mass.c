/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mass.c - volume, centre and inertia of shapes of density 1, by exact integrals. Curved surfaces are not faceted:
 * 128 x 128 facets of a torus have a volume error of 8e-4.
 *
 *   solids of revolution   closed forms, V (about their own centre):
 *     sphere 2/5 V r^2; cylinder V r^2/2, V (3 r^2 + h^2)/12; cone 3/10 V r^2, V (3/20 r^2 + 3/80 h^2), centre h/4
 *     capsule cylinder c and ball s: c r^2/2 + 2/5 s r^2, c (3 r^2 + l^2)/12 + s (2/5 r^2 + 3/8 r l + l^2/4)
 *     torus V (R^2 + 3/4 r^2), V (R^2/2 + 5/8 r^2), V = 2 pi^2 R r^2
 *   polytopes              signed tetrahedra from a vertex, d = a.(b x c), s = a + b + c:
 *     V = sum d/6, first = sum d s/24, second = sum d (s s^T + a a^T + b b^T + c c^T)/120, I = tr S - S
 */
#include "shape/mass/mass.h"

#include "base/log.h"
#include "math/rotation.h"
#include "shape/mesh/mesh.h"
#include "shape/narrow_phase.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* About the centre, in axes of the shape: I = diag(x, y, z), centre (0, 0, c). */
typedef struct simple {
  double volume, centre, x, y, z;
} simple;

static simple round_body(double volume, double centre, double across, double along) {
  return (simple){volume, centre, across, across, along};
}

/* Shapes with diagonal inertia in their own axes; false: the shape is not one of these. */
static bool simple_of(const saltus_shape_def* def, simple* out) {
  const double r = def->radius, l = def->length, rr = r * r, ll = l * l;
  const double* s = def->size;
  switch (def->kind) {
  case SALTUS_SHAPE_SPHERE: {
    const double V = 4.0 / 3.0 * PI * rr * r;
    *out = round_body(V, 0.0, 0.4 * V * rr, 0.4 * V * rr);
    return true;
  }
  case SALTUS_SHAPE_CYLINDER: {
    const double V = PI * rr * l;
    *out = round_body(V, 0.0, V * (3.0 * rr + ll) / 12.0, V * rr / 2.0);
    return true;
  }
  case SALTUS_SHAPE_CONE: {
    const double V = PI * rr * l / 3.0;
    *out = round_body(V, l / 4.0, V * (0.15 * rr + 3.0 / 80.0 * ll), 0.3 * V * rr);
    return true;
  }
  case SALTUS_SHAPE_CAPSULE: {
    const double c = PI * rr * l, b = 4.0 / 3.0 * PI * rr * r;
    *out = round_body(c + b, 0.0,
                      c * (3.0 * rr + ll) / 12.0 + b * (0.4 * rr + 0.375 * r * l + ll / 4.0),
                      c * rr / 2.0 + 0.4 * b * rr);
    return true;
  }
  case SALTUS_SHAPE_TORUS: {
    const double RR = s[0] * s[0], V = 2.0 * PI * PI * s[0] * rr;
    *out = round_body(V, 0.0, V * (RR / 2.0 + 0.625 * rr), V * (RR + 0.75 * rr));
    return true;
  }
  case SALTUS_SHAPE_ELLIPSOID: {
    const double V = 4.0 / 3.0 * PI * s[0] * s[1] * s[2];
    *out = (simple){V, 0.0, V * (s[1] * s[1] + s[2] * s[2]) / 5.0,
                    V * (s[0] * s[0] + s[2] * s[2]) / 5.0, V * (s[0] * s[0] + s[1] * s[1]) / 5.0};
    return true;
  }
  default:
    return false;
  }
}

/* R diag R^T. */
static void turned(const double R[9], const simple* own, double inertia[6]) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const double diagonal[3] = {own->x, own->y, own->z};
  for (int k = 0; k < 6; k++) {
    inertia[k] = 0.0;
    for (int j = 0; j < 3; j++) {
      inertia[k] += R[3 * row[k] + j] * diagonal[j] * R[3 * column[k] + j];
    }
  }
}

void saltusi_moments_tetrahedron(const double a[3], const double b[3], const double c[3],
                                 saltusi_moments* sum) {
  assert(a != NULL && b != NULL && c != NULL && sum != NULL);
  double n[3];
  saltusi_cross(b, c, n);
  const double d = saltusi_dot3(a, n);
  const double s[3] = {a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]};
  sum->volume += d / 6.0;
  for (int i = 0; i < 3; i++) {
    sum->first[i] += d * s[i] / 24.0;
    for (int j = 0; j < 3; j++) {
      sum->second[3 * i + j] += d * (s[i] * s[j] + a[i] * a[j] + b[i] * b[j] + c[i] * c[j]) / 120.0;
    }
  }
}

void saltusi_moments_triangles(const double* points, const int* triangles, int count,
                               saltusi_moments* sum) {
  assert(points != NULL && triangles != NULL && count >= 0 && sum != NULL);
  memset(sum, 0, sizeof *sum);
  for (int t = 0; t < count; t++) {
    double corner[3][3];
    for (int k = 0; k < 3; k++) {
      saltusi_minus3(points + (size_t)3 * (size_t)triangles[3 * (size_t)t + (size_t)k], points,
                     corner[k]);
    }
    saltusi_moments_tetrahedron(corner[0], corner[1], corner[2], sum);
  }
}

/* From moments about `origin` to those about the centre. */
static void from_moments(const saltusi_moments* sum, const double origin[3],
                         saltus_shape_mass* mass) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  double c[3], S[9], trace = 0.0;
  for (int k = 0; k < 3; k++) {
    c[k] = sum->first[k] / sum->volume;
    mass->centre[k] = origin[k] + c[k];
  }
  for (int k = 0; k < 9; k++) {
    S[k] = sum->second[k] - sum->volume * c[k / 3] * c[k % 3];
    trace += k % 4 == 0 ? S[k] : 0.0;
  }
  mass->volume = sum->volume;
  for (int k = 0; k < 6; k++) {
    mass->inertia[k] = (k < 3 ? trace : 0.0) - S[3 * row[k] + column[k]];
  }
}

/* Transforms centre and inertia from the axes of the shape to those of the body. */
static void place_mass(const saltusi_placing* placing, saltus_shape_mass* mass) {
  static const int place[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
  double own[9], half[9], body[9], centre[3];
  for (int k = 0; k < 9; k++) {
    own[k] = mass->inertia[place[k]];
  }
  saltusi_matrix3_product(placing->R, own, half);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      body[3 * i + j] = saltusi_dot3(half + 3 * i, placing->R + 3 * j);
    }
  }
  for (int k = 0; k < 9; k++) {
    mass->inertia[place[k]] = body[k];
  }
  memcpy(centre, mass->centre, sizeof centre);
  saltusi_placed_point(placing, centre, mass->centre);
}

static void weigh_plane(const saltusi_making* making, double area, const double own[2],
                        double polar, saltus_shape_mass* mass) {
  const double centre[3] = {own[0], own[1], 0.0};
  mass->volume = area;
  mass->inertia[0] = polar;
  saltusi_placed_point(&making->placing, centre, mass->centre);
}

static saltus_status no_volume(const saltusi_making* making, int dimension) {
  return saltusi_shape_refuse(making, "a %s%s has no %s: give mass and inertia of its body",
                              making->def->hollow ? "hollow " : "",
                              saltus_shape_kind_name(making->def->kind),
                              dimension == 2 ? "area" : "volume");
}

static saltus_status weigh_space(const saltusi_making* making, const saltusi_shape* shape,
                                 saltus_shape_mass* mass) {
  const saltus_shape_def* def = making->def;
  simple own;
  if (!def->hollow && simple_of(def, &own)) {
    const double centre[3] = {0.0, 0.0, own.centre};
    mass->volume = own.volume;
    turned(making->placing.R, &own, mass->inertia);
    saltusi_placed_point(&making->placing, centre, mass->centre);
    return SALTUS_OK;
  }
  saltusi_moments sum;
  if (shape->polytope != NULL) {
    saltusi_moments_polytope(shape, &sum);
    from_moments(&sum, shape->polytope->vertex[0], mass);
    return SALTUS_OK;
  }
  if (def->kind == SALTUS_SHAPE_MESH && saltusi_mesh_is_closed(shape)) {
    saltusi_moments_triangles(def->points, def->triangles, def->triangle_count, &sum);
    from_moments(&sum, def->points, mass);
    place_mass(&making->placing, mass);
    return SALTUS_OK;
  }
  if (def->kind == SALTUS_SHAPE_MESH) {
    return saltusi_shape_refuse(making, "its mesh is open and has no volume: close it, or give "
                                        "mass and inertia of its body");
  }
  return no_volume(making, 3);
}

saltus_status saltus_shape_mass_properties(const saltus_shape_def* def, int dimension,
                                           saltus_log log, saltus_shape_mass* mass) {
  assert(def != NULL && mass != NULL && (dimension == 2 || dimension == 3));
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_making making = {.def = def, .pool = &pool, .log = log};
  saltusi_shape shape;
  saltus_status status = saltusi_shape_make(def, dimension, &pool, log, &shape);
  if (status == SALTUS_OK) {
    saltus_shape_mass found = {.volume = 0.0};
    memcpy(making.placing.x, def->position, (size_t)dimension * sizeof(double));
    saltusi_orientation_matrix(&def->orientation,
                               making.placing.R); /* valid: the shape was made with it */
    double area, centre[2], polar;
    if (dimension == 3) {
      status = weigh_space(&making, &shape, &found);
    } else if (saltusi_area_of(def, &area, centre, &polar)) {
      weigh_plane(&making, area, centre, polar, &found);
    } else {
      status = no_volume(&making, 2);
    }
    if (status == SALTUS_OK) {
      *mass = found;
    }
  }
  saltusi_pool_free(&pool);
  return status;
}

void saltusi_mass_combine(const saltus_shape_mass* part, const double* density, int count,
                          int dimension, saltus_shape_mass* whole) {
  assert(part != NULL && density != NULL && count > 0 && whole != NULL);
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  saltus_shape_mass sum = {.volume = 0.0};
  for (int i = 0; i < count; i++) {
    sum.volume += density[i] * part[i].volume;
  }
  for (int i = 0; i < count; i++) {
    saltusi_along(density[i] * part[i].volume / sum.volume, part[i].centre, sum.centre, sum.centre);
  }
  for (int i = 0; i < count; i++) {
    double d[3];
    saltusi_minus3(part[i].centre, sum.centre, d);
    const double m = density[i] * part[i].volume, square = saltusi_dot3(d, d);
    for (int k = 0; k < 6; k++) {
      const double axes = (k < 3 ? square : 0.0) - d[row[k]] * d[column[k]];
      sum.inertia[k] += density[i] * part[i].inertia[k] + m * (dimension == 3 ? axes
                                                               : k == 0       ? square
                                                                              : 0.0);
    }
  }
  *whole = sum;
}
