/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Shapes against arbitrary numbers: sizes from 1e-6 to 1e6 m, features of almost no size, coincident middles, faces that
 * are parallel, poses that are almost so. Whatever is accepted gives finite lists, separations, guards and rows; whatever
 * is refused says why. Ten million calls under make test-long.
 */
#include "anyshape.h"
#include "math/rotation.h"
#include "shape/pair/pair.h"

#include <stdio.h>

enum { MOST = 512, POINTS = 32 };

static const saltus_shape_kind plane_kinds[] = {SALTUS_SHAPE_CIRCLE,  SALTUS_SHAPE_SEGMENT,
                                                SALTUS_SHAPE_POLYGON, SALTUS_SHAPE_HALF_PLANE,
                                                SALTUS_SHAPE_CHAIN,   SALTUS_SHAPE_CAPSULE};

typedef struct fuzz {
  uint64_t seed, kept; /* that with which this draw began */
  long calls, accepted, refused;
} fuzz;

typedef struct solid {
  saltus_shape_def def;
  saltusi_pool pool;
  saltusi_shape shape;
  saltusi_body_pose at;
  double point[3 * POINTS];
  double bulge[POINTS];
  int triangle[3 * POINTS];
} solid;

static double uniform(fuzz* f) {
  return saltus_test_random(&f->seed);
}

static int choose(fuzz* f, int count) {
  return (int)(uniform(f) * count);
}

/* Round numbers, almost nothing, and anything between -1 and 1. */
static double number(fuzz* f) {
  static const double few[] = {0.0, 1.0, -1.0, 0.5, 0.25, 1e-9, 1e-3, -1e-12};
  return uniform(f) < 0.5 ? few[choose(f, 8)] : 2.0 * uniform(f) - 1.0;
}

static double length(fuzz* f) {
  static const double few[] = {1.0, 0.5, 1.0, 2.0, 1e-9, 1e-4};
  return uniform(f) < 0.4 ? few[choose(f, 6)] : 0.05 + uniform(f);
}

static void damage(fuzz* f, double* value) {
  static const double bad[] = {0.0, -1.0, (double)NAN, (double)INFINITY, 1e300, 1e-300};
  if (uniform(f) < 0.5) {
    *value = bad[choose(f, 6)];
  }
}

static void fill_points(fuzz* f, solid* out, int count, int width, double scale) {
  out->def.points = out->point;
  out->def.point_count = count;
  for (int k = 0; k < width * count; k++) {
    out->point[k] = scale * number(f);
  }
}

/* A tetrahedron or an octahedron with its corners moved, some of them into others. */
static void fill_mesh(fuzz* f, solid* out, double scale) {
  static const double corner[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                      {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  static const int face[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                 {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  const double by = uniform(f) < 0.5 ? 0.0 : 0.6;
  out->def.points = out->point;
  out->def.point_count = 6;
  out->def.triangles = out->triangle;
  out->def.triangle_count = uniform(f) < 0.8 ? 8 : 1 + choose(f, 8);
  for (int p = 0; p < 6; p++) {
    for (int k = 0; k < 3; k++) {
      out->point[3 * p + k] = scale * (corner[p][k] + by * number(f));
    }
  }
  memcpy(out->triangle, face, sizeof face);
}

static void fill_ring(fuzz* f, solid* out, double scale) {
  const int count = 2 + choose(f, 8);
  out->def.points = out->point;
  out->def.point_count = count;
  const double bent = uniform(f) < 0.7 ? 0.0 : 0.5;
  for (int p = 0; p < count; p++) { /* counter-clockwise, more or less */
    const double angle = 6.283185307179586 * (p + bent * number(f)) / count;
    const double r = scale * (1.0 + bent * number(f));
    out->point[2 * p] = r * cos(angle);
    out->point[2 * p + 1] = r * sin(angle);
    out->bulge[p] = uniform(f) < 0.5 ? 0.0 : number(f);
  }
  out->def.bulges = out->def.kind == SALTUS_SHAPE_CHAIN && uniform(f) < 0.5 ? out->bulge : NULL;
  out->def.closed = uniform(f) < 0.5;
}

static void define(fuzz* f, int dimension, double scale, solid* out) {
  saltus_shape_def* def = &out->def;
  def->name = "drawn";
  def->kind =
      dimension == 2
          ? plane_kinds[choose(f, 6)]
          : (saltus_shape_kind)(SALTUS_SHAPE_CAPSULE +
                                choose(f, SALTUS_SHAPE_HEIGHTFIELD - SALTUS_SHAPE_CAPSULE + 1));
  if (def->kind == SALTUS_SHAPE_HULL && uniform(f) < 0.7) {
    def->kind = SALTUS_SHAPE_BOX; /* hulls are slow to make */
  }
  def->radius = scale * length(f);
  def->length = scale * length(f);
  for (int k = 0; k < 3; k++) {
    def->size[k] = scale * length(f);
    def->position[k] = k < dimension && uniform(f) < 0.3 ? scale * number(f) : 0.0;
  }
  const bool points = def->kind == SALTUS_SHAPE_POLYGON || def->kind == SALTUS_SHAPE_HULL ||
                      def->kind == SALTUS_SHAPE_BOX || def->kind == SALTUS_SHAPE_SEGMENT;
  def->radius *= points && uniform(f) < 0.6 ? 0.0 : 1.0;
  def->size[0] += def->kind == SALTUS_SHAPE_TORUS ? def->radius : 0.0;
  def->hollow = uniform(f) < 0.2;
  if (def->kind == SALTUS_SHAPE_HULL) {
    fill_points(f, out, 3 + choose(f, 12), 3, scale);
  } else if (def->kind == SALTUS_SHAPE_SEGMENT) {
    fill_points(f, out, 2, 2, scale);
  } else if (def->kind == SALTUS_SHAPE_MESH) {
    fill_mesh(f, out, scale);
  } else if (def->kind == SALTUS_SHAPE_HEIGHTFIELD) {
    def->heights = out->point;
    def->columns = 2 + choose(f, 5);
    def->rows = 2 + choose(f, 4);
    def->spacing[0] = scale * length(f);
    def->spacing[1] = scale * length(f);
    for (int k = 0; k < def->columns * def->rows; k++) {
      out->point[k] = 0.3 * scale * number(f);
    }
  } else if (def->kind == SALTUS_SHAPE_POLYGON || def->kind == SALTUS_SHAPE_CHAIN) {
    fill_ring(f, out, scale);
  }
}

/* Quarter turns, almost none, anything; in the plane about z. */
static void turn(fuzz* f, int dimension, double R[9]) {
  double r[3] = {0.0, 0.0, 0.0}, p[4];
  for (int k = dimension == 2 ? 2 : 0; k < 3; k++) {
    r[k] = uniform(f) < 0.3 ? 0.0 : 1.5707963267948966 * number(f) * (uniform(f) < 0.3 ? 1.0 : 4.0);
  }
  saltusi_quaternion_exp(r, p);
  saltusi_quaternion_matrix(p, R);
}

/* True: accepted. A refusal names the shape and says something. */
static bool make(fuzz* f, int dimension, double scale, bool damaged, solid* out) {
  memset(out, 0, sizeof *out);
  define(f, dimension, scale, out);
  if (damaged) {
    double* const of[] = {&out->def.radius,         &out->def.length,     &out->def.size[0],
                          &out->def.size[1],        &out->def.spacing[0], &out->def.position[1],
                          &out->point[choose(f, 8)]};
    damage(f, of[choose(f, 7)]);
    out->def.point_count -= uniform(f) < 0.2;
    out->def.triangle_count -= uniform(f) < 0.2;
    out->triangle[choose(f, 6)] += uniform(f) < 0.1 ? 100 : 0;
  }
  out->pool = saltusi_pool_over(NULL);
  saltus_kept_message kept = {.text = ""};
  const saltus_status status =
      saltusi_shape_make(&out->def, dimension, &out->pool, saltus_log_keep(&kept), &out->shape);
  f->calls++;
  if (status != SALTUS_OK) {
    assert_true(status == SALTUS_ERR_INPUT || status == SALTUS_ERR_UNSUPPORTED);
    assert_says(kept, "drawn");
    saltusi_pool_free(&out->pool);
    f->refused++;
    return false;
  }
  f->accepted++;
  turn(f, dimension, out->at.R);
  return true;
}

#define claim(f, what, A, B)                                                                       \
  do {                                                                                             \
    if (!(what)) {                                                                                 \
      print_message("draw that begins with seed %llu: not so: %s (%s and %s)\n",                   \
                    (unsigned long long)(f)->kept, #what, saltus_shape_kind_name((A)->def.kind),   \
                    saltus_shape_kind_name((B)->def.kind));                                        \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

static bool is_finite3(const double x[3]) {
  return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static bool is_unit(const double n[3]) {
  return fabs(saltusi_dot3(n, n) - 1.0) <= 1e-9;
}

static void look_at_pair(fuzz* f, const solid* A, const solid* B,
                         const saltusi_feature_candidate* c, double reach) {
  double guard[SALTUSI_GUARDS];
  saltusi_pair pair;
  saltusi_pair_rows rows;
  claim(f, c->gap <= reach, A, B); /* NaN fails */
  claim(f, isfinite(c->gap) && is_finite3(c->point) && is_unit(c->normal), A, B);
  claim(f, c->a >= 1 && c->a < A->shape.features && c->b >= 1 && c->b < B->shape.features, A, B);
  const int guards = saltusi_shape_guards(&A->shape, &A->at, &B->shape, &B->at, c, guard) &
                     ~(SALTUSI_LIES_DOWN | SALTUSI_TILTS);
  claim(f, guards >= 0 && guards <= SALTUSI_GUARDS, A, B);
  for (int g = 0; g < guards; g++) {
    claim(f, guard[g] == guard[g], A, B);
  }
  saltusi_shape_pair(&A->shape, &A->at, &B->shape, &B->at, c, &pair);
  if (saltusi_pair_rows_at(&pair, A->shape.dimension == 2, &rows)) {
    for (int r = 0; r < A->shape.dimension; r++) {
      claim(f, isfinite(rows.c[r]) && is_unit(rows.frame[r]), A, B);
      for (int k = 0; k < 6; k++) {
        claim(f, isfinite(rows.GA[r][k]) && isfinite(rows.GB[r][k]), A, B);
      }
    }
  }
  f->calls += 2;
}

static void look_at(fuzz* f, const solid* A, const solid* B, double scale, bool apart_too) {
  static saltusi_feature_candidate room[MOST];
  saltusi_candidates list = {.capacity = MOST, .item = room};
  const saltusi_near near = {.reach = uniform(f) < 0.2 ? 0.0 : scale * fabs(number(f)),
                             .delta = fabs(number(f)),
                             .all = uniform(f) < 0.3};
  assert_int_equal(saltusi_shape_pairs(&A->shape, &A->at, &B->shape, &B->at, &near, &list),
                   SALTUS_OK);
  f->calls++;
  for (int k = 0; k < list.count && k < MOST && k < 24; k++) {
    look_at_pair(f, A, B, &room[k], near.reach);
  }
  if (apart_too) {
    saltusi_separation apart;
    assert_int_equal(saltusi_shape_separation(&A->shape, &A->at, &B->shape, &B->at, &apart),
                     SALTUS_OK);
    claim(f, isfinite(apart.distance) && is_unit(apart.normal) && is_finite3(apart.point), A, B);
    f->calls++;
  }
}

/* Both at one place, touching along an axis, or anywhere; far from the origin of the world as well. */
static void place(fuzz* f, double scale, int dimension, solid* A, solid* B) {
  const double far = uniform(f) < 0.2 ? 1e3 * scale : 0.0;
  for (int k = 0; k < 3; k++) {
    B->at.x[k] = k < dimension ? far : 0.0;
    A->at.x[k] = B->at.x[k] + (k < dimension ? scale * number(f) : 0.0);
    A->at.v[k] = k < dimension ? number(f) : 0.0;
    A->at.w[k] = dimension == 3 || k == 2 ? number(f) : 0.0;
  }
}

static void one_draw(fuzz* f, bool damaged) {
  f->kept = f->seed;
  solid A, B;
  const int dimension = uniform(f) < 0.3 ? 2 : 3;
  const double scale = pow(10.0, choose(f, 13) - 6);
  const double other = uniform(f) < 0.8 ? 1.0 : pow(10.0, choose(f, 7) - 3);
  if (!make(f, dimension, scale, damaged, &A)) {
    return;
  }
  if (make(f, dimension, scale * other, damaged, &B)) {
    const bool searched = A.shape.polytope == NULL || B.shape.polytope == NULL;
    for (int i = 0; i < 12 && saltusi_shape_treats(&A.shape, &B.shape); i++) {
      place(f, scale * fmax(other, 1.0), dimension, &A, &B);
      look_at(f, &A, &B, scale, !searched || dimension == 2 || i == 0);
      if (i % 4 == 3) {
        turn(f, dimension, A.at.R);
        look_at(f, &B, &A, scale, false);
      }
    }
    saltusi_pool_free(&B.pool);
  }
  saltusi_pool_free(&A.pool);
}

static void whatever_is_accepted_gives_numbers(void** state) {
  (void)state;
  fuzz f = {.seed = 2024};
  const long most = saltus_test_long() ? 10000000 : saltus_test_draws(60000);
  for (int n = 0; f.calls < most; n++) {
    one_draw(&f, n % 4 == 3);
  }
  assert_true(f.accepted > f.refused && f.refused > saltus_test_draws(100));
  if (saltus_test_long()) {
    printf("%ld calls, %ld shapes accepted, %ld refused\n", f.calls, f.accepted, f.refused);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_accepted_gives_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
