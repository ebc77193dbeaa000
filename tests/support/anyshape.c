/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * anyshape.c - see anyshape.h.
 */
#include "anyshape.h"

#include "math/rotation.h"

#include <string.h>

const char* any_name(any_kind kind) {
  static const char* const names[ANY_KINDS] = {
      "sphere",       "capsule", "cylinder",      "cone",       "ellipsoid", "torus",      "box",
      "box, rounded", "hull",    "hull, rounded", "half-space", "mesh",      "heightfield"};
  return names[kind];
}

double any_between(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

/* An octahedron with its edges halved, each corner at a random distance from the origin. */
static void star(uint64_t* seed, any* out) {
  static const double axis[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  int between[6][6], points = 6, triangles = 0;
  memset(between, 0, sizeof between);
  for (int i = 0; i < 6; i++) {
    memcpy(out->point + 3 * i, axis[i], sizeof axis[i]);
    for (int j = 0; j < i; j++) {
      if (j / 2 != i / 2) {
        for (int k = 0; k < 3; k++) {
          out->point[3 * points + k] = sqrt(0.5) * (axis[i][k] + axis[j][k]);
        }
        between[i][j] = between[j][i] = points++;
      }
    }
  }
  for (int o = 0; o < 8; o++) {
    int c[3] = {o & 1, 2 + (o >> 1 & 1), 4 + (o >> 2 & 1)};
    if (((o & 1) + (o >> 1 & 1) + (o >> 2 & 1)) % 2 == 1) { /* counter-clockwise from outside */
      const int kept = c[0];
      c[0] = c[1];
      c[1] = kept;
    }
    const int m[3] = {between[c[0]][c[1]], between[c[1]][c[2]], between[c[2]][c[0]]};
    const int four[4][3] = {
        {c[0], m[0], m[2]}, {m[0], c[1], m[1]}, {m[2], m[1], c[2]}, {m[0], m[1], m[2]}};
    memcpy(out->triangle + 3 * triangles, four, sizeof four);
    triangles += 4;
  }
  for (int p = 0; p < points; p++) {
    const double r = any_between(seed, 0.6, 1.2);
    for (int k = 0; k < 3; k++) {
      out->point[3 * p + k] *= r;
    }
  }
  out->def.points = out->point;
  out->def.point_count = points;
  out->def.triangles = out->triangle;
  out->def.triangle_count = triangles;
}

static const saltus_shape_kind kind_of[ANY_KINDS] = {
    SALTUS_SHAPE_SPHERE,     SALTUS_SHAPE_CAPSULE, SALTUS_SHAPE_CYLINDER,   SALTUS_SHAPE_CONE,
    SALTUS_SHAPE_ELLIPSOID,  SALTUS_SHAPE_TORUS,   SALTUS_SHAPE_BOX,        SALTUS_SHAPE_BOX,
    SALTUS_SHAPE_HULL,       SALTUS_SHAPE_HULL,    SALTUS_SHAPE_HALF_SPACE, SALTUS_SHAPE_MESH,
    SALTUS_SHAPE_HEIGHTFIELD};

static void define(uint64_t* seed, any_kind kind, any* out) {
  saltus_shape_def* def = &out->def;
  def->name = any_name(kind);
  def->kind = kind_of[kind];
  if (def->kind == SALTUS_SHAPE_HULL && !saltus_has("qhull")) {
    def->kind = SALTUS_SHAPE_BOX;
  }
  def->radius = any_between(seed, 0.1, 0.8);
  def->length = any_between(seed, 0.2, 2.0);
  for (int k = 0; k < 3; k++) {
    def->size[k] = any_between(seed, 0.3, 1.2);
    def->position[k] = any_between(seed, -0.3, 0.3);
  }
  if (kind == ANY_BOX || kind == ANY_HULL) {
    def->radius = 0.0;
  } else if (kind == ANY_ROUND_BOX || kind == ANY_ROUND_HULL) {
    def->radius = any_between(seed, 0.05, 0.3);
  } else if (kind == ANY_TORUS) {
    def->size[0] = any_between(seed, 0.5, 1.0);
    def->radius = any_between(seed, 0.1, 0.4);
  }
  if (def->kind == SALTUS_SHAPE_HULL) {
    def->points = out->point;
    def->point_count = 5 + (int)any_between(seed, 0.0, 12.0);
    for (int k = 0; k < 3 * def->point_count; k++) {
      out->point[k] = any_between(seed, -0.7, 0.7);
    }
  } else if (kind == ANY_MESH) {
    star(seed, out);
  } else if (kind == ANY_HEIGHTFIELD) {
    def->heights = out->point;
    def->columns = 6;
    def->rows = 5;
    def->spacing[0] = 0.8;
    def->spacing[1] = 0.9;
    for (int k = 0; k < 30; k++) {
      out->point[k] = any_between(seed, -0.3, 0.3);
    }
  }
}

void any_place(uint64_t* seed, double spread, saltusi_body_pose* at) {
  double p[4], square;
  do {
    square = 0.0;
    for (int k = 0; k < 4; k++) {
      p[k] = any_between(seed, -1.0, 1.0);
      square += p[k] * p[k];
    }
  } while (square < 0.01 || square > 1.0);
  memset(at, 0, sizeof *at);
  saltusi_quaternion_matrix(p, at->R);
  for (int k = 0; k < 3; k++) {
    at->x[k] = any_between(seed, -spread, spread);
  }
}

void any_make(uint64_t* seed, any_kind kind, any* out) {
  memset(out, 0, sizeof *out);
  define(seed, kind, out);
  out->def.orientation.kind = SALTUS_ORIENTATION_QUATERNION;
  for (int k = 0; k < 4; k++) {
    out->def.orientation.value[k] = any_between(seed, 0.1, 1.0);
  }
  out->pool = saltusi_pool_over(NULL);
  assert_int_equal(saltusi_shape_make(&out->def, 3, &out->pool, (saltus_log){0}, &out->shape),
                   SALTUS_OK);
  any_place(seed, 3.0, &out->at);
}

void any_free(any* one) {
  saltusi_pool_free(&one->pool);
}

void any_move(any* one, const double r[3], const double d[3]) {
  double p[4], turn[9], before[9], centre[3], after[3];
  saltusi_quaternion_exp(r, p);
  saltusi_quaternion_matrix(p, turn);
  saltusi_turn(one->at.R, one->shape.centre, centre);
  memcpy(before, one->at.R, sizeof before);
  saltusi_matrix3_product(turn, before, one->at.R);
  saltusi_turn(one->at.R, one->shape.centre, after);
  for (int k = 0; k < 3; k++) {
    one->at.x[k] += centre[k] - after[k] + d[k];
  }
}

/* Of a heightfield the middle of its cells is meant, of a half-space a point below its plane. */
static void middle_of(const any* one, double out[3]) {
  double own[3] = {one->shape.centre[0], one->shape.centre[1], one->shape.centre[2]};
  if (one->def.kind == SALTUS_SHAPE_HALF_SPACE) {
    saltusi_along(-1.0, one->shape.feature[0].a, one->shape.feature[0].p, own);
  }
  saltusi_turn(one->at.R, own, out);
  saltusi_along(1.0, one->at.x, out, out);
}

bool any_touch(any* A, any* B) {
  double from[3], to[3], way[3];
  middle_of(A, from);
  middle_of(B, to);
  if (B->def.kind == SALTUS_SHAPE_HEIGHTFIELD || B->def.kind == SALTUS_SHAPE_HALF_SPACE) {
    double own[9], up[3], world[3]; /* from above */
    saltusi_orientation_matrix(&B->def.orientation, own);
    for (int k = 0; k < 3; k++) {
      up[k] = own[3 * k + 2];
    }
    saltusi_turn(B->at.R, up, world);
    for (int k = 0; k < 3; k++) {
      A->at.x[k] += to[k] + 6.0 * world[k] - from[k];
    }
    middle_of(A, from);
  }
  saltusi_minus3(to, from, way);
  const double length = sqrt(saltusi_dot3(way, way));
  if (!(length > 0.0)) {
    return false;
  }
  for (int i = 0; i < 400;
       i++) { /* as far as nothing can touch; the least speed of approach is that of the slope */
    saltusi_separation apart;
    if (saltusi_shape_separation(&A->shape, &A->at, &B->shape, &B->at, &apart) != SALTUS_OK ||
        apart.distance < -1e-10) {
      return false;
    }
    if (apart.distance < 1e-11) {
      return true;
    }
    saltusi_along(apart.distance / length, way, A->at.x, A->at.x);
  }
  return false;
}
