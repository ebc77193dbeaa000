/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bounds of distances and gaps of shapes over pieces of motions hold at every moment of them, for every pair of kinds, and
 * do not give away more than the bend of the motion. The search for events stands on this.
 */
#include "adaptive/event/trajectory_enclosure.h"
#include "anyshape.h"
#include "body/mechanism.h"
#include "math/rotation.h"
#include "shape/bounds/bounds.h"
#include "shape/pair/pair.h"
#include "shape/world.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- shapes on bodies that move as x + v s + a s^2, turned by the vector w s ---- */

typedef struct moving {
  saltusi_body_pose start;
  double v[3], a[3], w[3];
} moving;

static double length(const double a[3]) {
  return sqrt(saltusi_dot3(a, a));
}

static void carrier_at(const moving* m, double s, saltusi_body_pose* out) {
  const double turn[3] = {s * m->w[0], s * m->w[1], s * m->w[2]};
  double p[4], by[9];
  saltusi_quaternion_exp(turn, p);
  saltusi_quaternion_matrix(p, by);
  memset(out, 0, sizeof *out);
  saltusi_matrix3_product(by, m->start.R, out->R);
  for (int k = 0; k < 3; k++) {
    out->x[k] = m->start.x[k] + s * (m->v[k] + s * m->a[k]);
  }
}

static saltusi_drift drift_of(const moving* m) {
  const double w2 = saltusi_dot3(m->w, m->w);
  saltusi_drift d = {.at = m->start, .bend = length(m->a), .twist = 0.5 * w2, .spin = length(m->w)};
  memcpy(d.x1, m->v, sizeof d.x1);
  for (int j = 0; j < 3; j++) {
    const double column[3] = {m->start.R[j], m->start.R[3 + j], m->start.R[6 + j]};
    double turned[3];
    saltusi_cross(m->w, column, turned);
    for (int i = 0; i < 3; i++) {
      d.R1[3 * i + j] = turned[i];
    }
  }
  return d;
}

static moving random_motion(uint64_t* seed, const saltusi_body_pose* start, bool turns) {
  moving m = {.start = *start};
  for (int k = 0; k < 3; k++) {
    m.v[k] = any_between(seed, -1.0, 1.0);
    m.a[k] = any_between(seed, -1.0, 1.0);
    m.w[k] = turns ? any_between(seed, -2.0, 2.0) : 0.0;
  }
  return m;
}

typedef struct tally {
  int draws, bounded; /* with a bound that says something */
} tally;

static void one_draw(uint64_t* seed, any_kind i, any_kind j, tally* sum) {
  enum { LOOKS = 40 };
  any A, B;
  any_make(seed, i, &A);
  any_make(seed, j, &B);
  any_place(seed, 2.0, &A.at);
  any_place(seed, 0.5, &B.at);
  saltusi_separation now;
  if (saltusi_shape_treats(&A.shape, &B.shape)) {
    saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &now);
    const moving a = random_motion(seed, &A.at, true);
    const moving b = random_motion(seed, &B.at, saltus_test_random(seed) < 0.5);
    const saltusi_drift da = drift_of(&a), db = drift_of(&b);
    const saltusi_support_span span = {.s = pow(10.0, any_between(seed, -3.0, 0.0)),
                                       .margin = 1e-12};
    saltusi_lower lower;
    saltusi_shape_below(&(saltusi_two_drifts){&A.shape, &da, &B.shape, &db}, &span, &lower);
    if (now.distance > 0.0) {
      sum->draws++;
      assert_near(lower.value, now.distance, 0.0);
      sum->bounded += lower.clear[0] > 0.0 && lower.clear[1] > 0.0;
      assert_true(lower.clear[0] <= span.s && lower.clear[1] <= span.s);
    }
    for (int n = 0; n <= LOOKS && now.distance > 0.0; n++) {
      const double s = span.s * (2.0 * n - LOOKS) / LOOKS;
      saltusi_body_pose at[2];
      saltusi_separation then;
      carrier_at(&a, s, &at[0]);
      carrier_at(&b, s, &at[1]);
      saltusi_shape_separation(&A.shape, &at[0], &B.shape, &at[1], &then);
      const double rounding = 1e-9;         /* of separations by iteration */
      if (i >= ANY_MESH || j >= ANY_MESH) { /* beside a heightfield its sign jumps */
        then.distance = fabs(then.distance);
      }
      /* of boxes and hulls it is the largest over their own axes: positive at once, not as large; depths of what is not
       * convex jump */
      const bool flat = A.shape.polytope != NULL && B.shape.polytope != NULL;
      const bool convex = A.shape.convex && B.shape.convex;
      const bool ring = (i == ANY_TORUS && (B.shape.convex || j == ANY_TORUS)) ||
                        (j == ANY_TORUS && A.shape.convex);
      const double least = flat             ? fmin(lower.lowest, 0.0)
                           : convex || ring ? lower.lowest
                                            : (lower.lowest > 0.0 ? 0.0 : -INFINITY);
      if (then.distance < least - rounding ||
          (s >= -lower.clear[0] && s <= lower.clear[1] && then.distance < -rounding)) {
        fail_msg("%s and %s: %.3e at s = %g of %g, lowest %.3e, clear %g, %g", any_name(i),
                 any_name(j), then.distance, s, span.s, lower.lowest, lower.clear[0],
                 lower.clear[1]);
      }
    }
  }
  any_free(&A);
  any_free(&B);
}

static void bounds_hold_all_along(void** state) {
  (void)state;
  const int draws = saltus_test_long() ? 2000 : saltus_test_draws(6);
  for (int i = 0; i < ANY_KINDS; i++) {
    for (int j = 0; j < ANY_KINDS; j++) {
      uint64_t seed = 77 + (uint64_t)(ANY_KINDS * i + j);
      tally sum = {0};
      for (int n = 0; n < draws; n++) {
        one_draw(&seed, (any_kind)i, (any_kind)j, &sum);
      }
      assert_true(2 * sum.bounded >= sum.draws); /* most are apart by more than rounding */
    }
  }
}

/* Whatever is nearest, overlapping or not: a torus and something convex come nearer by no more than they move, as the bounds
 * of tori take it. What is jumped over is an event missed. */
static void distances_of_tori_never_jump(void** state) {
  enum { LOOKS = 60 };
  (void)state;
  const int draws = saltus_test_long() ? 2000 : saltus_test_draws(40);
  for (int j = 0; j < ANY_MESH; j++) {
    uint64_t seed = 770 + (uint64_t)j;
    for (int n = 0; n < draws; n++) {
      any A, B;
      any_make(&seed, ANY_TORUS, &A);
      any_make(&seed, (any_kind)j, &B);
      any_place(&seed, 1.0, &A.at);
      any_place(&seed, 0.5, &B.at);
      const moving a = random_motion(&seed, &A.at, true);
      const double step = 1.0 / LOOKS, radius = A.shape.radius + length(A.shape.centre);
      double last = NAN;
      for (int i = 0; i <= LOOKS; i++) {
        const double s = i * step;
        saltusi_body_pose at;
        saltusi_separation apart;
        carrier_at(&a, s, &at);
        saltusi_shape_separation(&A.shape, &at, &B.shape, &B.at, &apart);
        /* the mean of v + 2 a s over the step, and the farthest point that turns */
        const double speed = length(a.v) + (2.0 * s + step) * length(a.a) + length(a.w) * radius;
        if (fabs(apart.distance - last) > speed * step + 1e-9) {
          fail_msg("torus and %s, draw %d: from %.9f to %.9f at s = %g", any_name((any_kind)j), n,
                   last, apart.distance, s);
        }
        last = apart.distance;
      }
      any_free(&A);
      any_free(&B);
    }
  }
}

/* Coaxial, all of a ring is as near: a search of it ends before it knows, says how much it leaves open, and bounds count
 * that in. A shift of a tenth of the gap ends this. */
static void what_a_search_leaves_open_is_counted(void** state) {
  (void)state;
  any A = {.def = {.kind = SALTUS_SHAPE_TORUS, .radius = 0.1, .size = {1.0}, .name = "ring"}};
  any B = {.def = {.kind = SALTUS_SHAPE_CONE, .radius = 1.2, .length = 2.0, .name = "peg"}};
  any* both[2] = {&A, &B};
  for (int k = 0; k < 2; k++) {
    both[k]->pool = saltusi_pool_over(NULL);
    assert_int_equal(
        saltusi_shape_make(&both[k]->def, 3, &both[k]->pool, (saltus_log){0}, &both[k]->shape),
        SALTUS_OK);
    both[k]->at = (saltusi_body_pose){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  }
  A.at.x[2] = 0.9;
  /* (1, 0.9) from the straight line of the side through (1.2, 0) and (0, 2) */
  const double exact = (2.0 * 1.0 + 1.2 * 0.9 - 2.4) / sqrt(1.2 * 1.2 + 4.0) - 0.1;
  for (int shifted = 0; shifted < 2; shifted++) {
    A.at.x[0] = 0.02 * shifted;
    saltusi_separation apart;
    saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &apart);
    const double expected = exact - 2.0 / sqrt(1.2 * 1.2 + 4.0) * A.at.x[0];
    assert_near(apart.distance, expected, 1e-14);
    assert_true(shifted ? apart.slack <= 1e-6 * expected
                        : apart.slack > 1e-6 * expected && apart.slack < 1e-3);
    const moving still = {.start = A.at}, fixed = {.start = B.at};
    const saltusi_drift da = drift_of(&still), db = drift_of(&fixed);
    saltusi_lower lower;
    saltusi_shape_below(&(saltusi_two_drifts){&A.shape, &da, &B.shape, &db},
                        &(saltusi_support_span){.s = 0.1}, &lower);
    assert_near(lower.value, apart.distance, 0.0);
    assert_near(lower.lowest, apart.distance - apart.slack, 0.0);
  }
  any_free(&A);
  any_free(&B);
}

/* ---- pairs of features ---- */

/* Whether a closest point is on a feature as far as that goes. */
static bool is_on(const saltusi_feature* f, const double u[2]) {
  const double k = f->size[0];
  return f->kind == SALTUSI_FEATURE_LINE   ? u[0] >= 0.0 && u[0] <= f->size[0]
         : f->kind == SALTUSI_FEATURE_CONE ? u[0] >= 0.0 && u[0] <= f->size[1] * sqrt(1.0 + k * k)
                                           : true;
}

/* How far the closest points of a pair are apart; INFINITY: they are not on both. */
static double way_of(const any* A, const saltusi_body_pose* a, const any* B,
                     const saltusi_body_pose* b, const saltusi_feature_candidate* numbers) {
  saltusi_pair pair;
  saltusi_closest at;
  double d[3];
  saltusi_shape_pair(&A->shape, a, &B->shape, b, numbers, &pair);
  if (!saltusi_pair_closest(&pair, &at) || !is_on(pair.A, at.uA) || !is_on(pair.B, at.uB)) {
    return INFINITY;
  }
  saltusi_minus3(at.pA, at.pB, d);
  return length(d) - pair.A->rho - pair.B->rho;
}

static bool is_plane(const any* one, int number) {
  return one->shape.feature[number - 1].kind == SALTUSI_FEATURE_PLANE;
}

/* The line that the side of a cylinder is about has round ends, which the cylinder has not. */
static bool goes_beyond(const any* one, int number) {
  return one->def.kind == SALTUS_SHAPE_CYLINDER &&
         one->shape.feature[number - 1].kind == SALTUSI_FEATURE_LINE;
}

static void one_pair(uint64_t* seed, any_kind i, any_kind j, tally* sum) {
  enum { LOOKS = 40 };
  any A, B;
  any_make(seed, i, &A);
  any_make(seed, j, &B);
  any_place(seed, 1.5, &A.at);
  any_place(seed, 0.5, &B.at);
  const moving a = random_motion(seed, &A.at, true);
  const moving b = random_motion(seed, &B.at, saltus_test_random(seed) < 0.5);
  const saltusi_drift da = drift_of(&a), db = drift_of(&b);
  const saltusi_support_span span = {.s = pow(10.0, any_between(seed, -3.0, 0.0)), .margin = 1e-12};
  const saltusi_feature_candidate numbers = {
      .a = 1 + (int)(saltus_test_random(seed) * A.shape.stored),
      .b = 1 + (int)(saltus_test_random(seed) * B.shape.stored),
      .branch = saltus_test_random(seed) < 0.5};
  saltusi_separation now;
  saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &now);
  saltusi_lower lower;
  saltusi_features_below(&(saltusi_two_drifts){&A.shape, &da, &B.shape, &db}, &numbers, &span,
                         &lower);
  const bool planes = is_plane(&A, numbers.a) || is_plane(&B, numbers.b);
  if (!isnan(lower.value) && !planes) {
    const bool parted = A.shape.convex && B.shape.convex && now.distance > 1e-3 &&
                        !goes_beyond(&A, numbers.a) && !goes_beyond(&B, numbers.b);
    sum->draws += parted;
    sum->bounded += parted && lower.clear[0] > 0.0 && lower.clear[1] > 0.0;
    for (int n = 0; n <= LOOKS; n++) {
      const double s = span.s * (2.0 * n - LOOKS) / LOOKS;
      saltusi_body_pose at[2];
      carrier_at(&a, s, &at[0]);
      carrier_at(&b, s, &at[1]);
      const double way = way_of(&A, &at[0], &B, &at[1], &numbers);
      if (way < lower.lowest - 1e-9 || (s > -lower.clear[0] && s < lower.clear[1] && way < -1e-9)) {
        fail_msg("%s, feature %d, and %s, feature %d: %.3e at s = %g of %g, lowest %.3e, clear %g, "
                 "%g",
                 any_name(i), numbers.a, any_name(j), numbers.b, way, s, span.s, lower.lowest,
                 lower.clear[0], lower.clear[1]);
      }
    }
  }
  any_free(&A);
  any_free(&B);
}

/* Features that are apart over a piece do not touch in it. Those of convex shapes that are apart are. */
static void features_stay_apart_where_bounds_say_so(void** state) {
  (void)state;
  const int draws = saltus_test_long() ? 20000 : saltus_test_draws(60);
  for (int i = 0; i < ANY_HALF_SPACE; i++) {
    for (int j = 0; j < ANY_HALF_SPACE; j++) {
      uint64_t seed = 7700 + (uint64_t)(ANY_KINDS * i + j);
      tally sum = {0};
      for (int n = 0; n < draws; n++) {
        one_pair(&seed, (any_kind)i, (any_kind)j, &sum);
      }
      if (20 * sum.bounded < 19 * sum.draws) {
        fail_msg("%s and %s: %d of %d bounded", any_name((any_kind)i), any_name((any_kind)j),
                 sum.bounded, sum.draws);
      }
    }
  }
}

/* Guards of rims, rings and ellipsoids on faces change no faster than bounds say, between any two moments of a piece. */
static void guards_on_planes_change_as_slowly_as_said(void** state) {
  enum { LOOKS = 50 };
  static const struct {
    any_kind kind;
    int feature;
  } on[] = {
      {ANY_CYLINDER, 17}, {ANY_CYLINDER, 18}, {ANY_CONE, 10}, {ANY_TORUS, 9}, {ANY_ELLIPSOID, 1}};
  static const any_kind below[] = {ANY_BOX, ANY_HALF_SPACE, ANY_CYLINDER, ANY_CONE};
  (void)state;
  uint64_t seed = 21;
  int known = 0;
  const int draws = 20 * (saltus_test_long() ? 5000 : saltus_test_draws(60));
  for (int n = 0; n < draws; n++) {
    any A, B;
    const int i = n % 5, j = n / 5 % 4;
    any_make(&seed, on[i].kind, &A);
    any_make(&seed, below[j], &B);
    any_place(&seed, 1.0, &A.at);
    any_place(&seed, 0.5, &B.at);
    const moving a = random_motion(&seed, &A.at, true);
    const moving b = random_motion(&seed, &B.at, saltus_test_random(&seed) < 0.5);
    const saltusi_drift da = drift_of(&a), db = drift_of(&b);
    const saltusi_support_span span = {.s = pow(10.0, any_between(&seed, -4.0, -0.5))};
    const saltusi_feature_candidate pair = {.a = on[i].feature, .b = B.shape.stored};
    saltusi_lower lower;
    assert_true(is_plane(&B, pair.b));
    saltusi_features_below(&(saltusi_two_drifts){&A.shape, &da, &B.shape, &db}, &pair, &span,
                           &lower);
    known += lower.rate < INFINITY;
    double last[SALTUSI_GUARDS];
    for (int k = 0; k <= LOOKS && lower.rate < INFINITY; k++) {
      const double step = 2.0 * span.s / LOOKS;
      double guard[SALTUSI_GUARDS];
      saltusi_body_pose at[2];
      carrier_at(&a, k * step - span.s, &at[0]);
      carrier_at(&b, k * step - span.s, &at[1]);
      const int count = saltusi_shape_guards(&A.shape, &at[0], &B.shape, &at[1], &pair, guard) &
                        (SALTUSI_LIES_DOWN - 1);
      for (int g = 0; g < count; g++) {
        if (k > 0 && isfinite(guard[g]) &&
            fabs(guard[g] - last[g]) > lower.rate * step * (1.0 + 1e-9) + 1e-12) {
          fail_msg("guard %d of %s on %s: from %g to %g within %g, rate %g", g,
                   any_name(on[i].kind), any_name(below[j]), last[g], guard[g], step, lower.rate);
        }
      }
      memcpy(last, guard, sizeof last);
    }
    any_free(&A);
    any_free(&B);
  }
  assert_true(2 * known >= draws);
}

/* Of the curved features that are `gap` apart: how many there are, and of how many bounds know that. */
static void ask_those_at(const any* A, const any* B, double gap, tally* sum) {
  enum { MOST = 64 };
  saltusi_feature_candidate room[MOST];
  saltusi_candidates list = {.capacity = MOST, .item = room};
  const saltusi_near near = {.reach = 1e-5, .delta = 1e-3};
  const saltusi_drift a = {.at = A->at}, b = {.at = B->at};
  saltusi_shape_pairs(&A->shape, &A->at, &B->shape, &B->at, &near, &list);
  for (int k = 0; k < list.count && k < MOST; k++) {
    const bool curved =
        saltusi_hulls_treat(&A->shape.feature[room[k].a - 1], &B->shape.feature[room[k].b - 1]);
    saltusi_lower lower;
    saltusi_features_below(&(saltusi_two_drifts){&A->shape, &a, &B->shape, &b}, &room[k],
                           &(saltusi_support_span){.s = 0.0}, &lower);
    if (curved && fabs(room[k].gap - gap) < 1e-9) {
      sum->draws++;
      sum->bounded += lower.exact && fabs(lower.value - room[k].gap) < 1e-12;
    }
  }
}

/* Where convex shapes come to touch, the gap of the features that do is what bounds know, to either side of zero. */
static void gaps_of_features_that_touch_are_known(void** state) {
  static const any_kind kinds[] = {ANY_SPHERE, ANY_CAPSULE,   ANY_CYLINDER,
                                   ANY_CONE,   ANY_ELLIPSOID, ANY_BOX};
  (void)state;
  uint64_t seed = 55;
  tally sum = {0};
  for (int n = 0; n < 36 * saltus_test_draws(20); n++) {
    any A, B;
    any_make(&seed, kinds[n % 6], &A);
    any_make(&seed, kinds[n / 6 % 6], &B);
    any_place(&seed, 3.0, &A.at);
    any_place(&seed, 0.5, &B.at);
    const bool touch = any_touch(&A, &B);
    for (int side = -1; side <= 1 && touch; side += 2) {
      const double gap = side * 1e-6;
      saltusi_separation at;
      saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &at);
      saltusi_along(gap - at.distance, at.normal, A.at.x, A.at.x);
      ask_those_at(&A, &B, gap, &sum);
    }
    any_free(&A);
    any_free(&B);
  }
  assert_true(sum.draws > 150);
  assert_int_equal(sum.bounded, sum.draws);
}

/* Two shapes pass each other with the smallest gap in the middle: what is clear is as long as the square root of the gap
 * allows, whatever the speed along. */
static void passing_by_is_clear_for_long(void** state) {
  (void)state;
  uint64_t seed = 5;
  static const any_kind kinds[] = {ANY_SPHERE,    ANY_CAPSULE, ANY_CYLINDER, ANY_CONE,
                                   ANY_ELLIPSOID, ANY_BOX,     ANY_HULL,     ANY_ROUND_BOX};
  for (int n = 0; n < 192; n++) {
    any A, B;
    any_make(&seed, kinds[n % 8], &A);
    any_make(&seed, kinds[n / 8 % 8], &B);
    saltusi_separation at;
    if (any_touch(&A, &B)) {
      const double gap = 1e-8;
      saltusi_shape_separation(&A.shape, &A.at, &B.shape, &B.at, &at);
      moving a = random_motion(&seed, &A.at, false), b = {.start = B.at};
      saltusi_along(-saltusi_dot3(a.v, at.normal), at.normal, a.v, a.v);
      saltusi_along(gap - at.distance, at.normal, a.start.x, a.start.x);
      const saltusi_drift da = drift_of(&a), db = drift_of(&b);
      saltusi_lower lower;
      saltusi_shape_below(&(saltusi_two_drifts){&A.shape, &da, &B.shape, &db},
                          &(saltusi_support_span){.s = 1e-3}, &lower);
      /* low - bend s^2 > 0 with bend |a| <= 1.8; the normal of an iteration may cost a part of the gap */
      assert_true(lower.clear[0] >= 0.3 * sqrt(gap / 1.8));
      assert_true(lower.clear[1] >= 0.3 * sqrt(gap / 1.8));
    }
    any_free(&A);
    any_free(&B);
  }
}

/* ---- mechanisms along polynomials ---- */

enum { COORDINATES = 32, ORDER = 2, JET = ORDER + 1, DEGREE = 4 };

typedef struct course {
  int nq;
  double t, h;
  double power[COORDINATES][DEGREE + 1];
  saltus_interval time[JET], q[COORDINATES * JET];
} course;

static saltus_course course_over(course* c, double a, double b) {
  const double t = c->t + a * c->h, end = c->t + b * c->h;
  c->time[0] = (saltus_interval){t, end};
  c->time[1] = (saltus_interval){c->h, c->h};
  c->time[2] = (saltus_interval){0.0, 0.0};
  for (int i = 0; i < c->nq; i++) {
    saltusi_powers_enclose(DEGREE, c->power[i], a, b, ORDER, c->q + (ptrdiff_t)i * JET);
  }
  return (saltus_course){.order = ORDER, .stride = JET, .t = c->time, .q = c->q};
}

static void positions_at(const course* c, double theta, double* q) {
  for (int i = 0; i < c->nq; i++) {
    q[i] = 0.0;
    for (int k = DEGREE; k >= 0; k--) {
      q[i] = q[i] * theta + c->power[i][k];
    }
  }
}

static void random_course(uint64_t* seed, const saltus_system* sys, const double* q0, course* c) {
  *c = (course){.nq = sys->dims.nq, .t = any_between(seed, 0.0, 3.0), .h = 0.5};
  assert_true(c->nq <= COORDINATES);
  for (int i = 0; i < c->nq; i++) {
    for (int k = 0; k <= DEGREE; k++) {
      c->power[i][k] = (k == 0 ? q0[i] : 0.0) + any_between(seed, -0.4, 0.4);
    }
  }
}

static double gap_at(const saltus_system* sys, const course* c, double theta, uint64_t identity,
                     void* scratch) {
  double q[COORDINATES], gap;
  positions_at(c, theta, q);
  const saltus_point at = {.t = c->t + theta * c->h, .q = q, .scratch = scratch};
  assert_int_equal(sys->ops->gaps(sys->self, &at, 1, &identity, &gap), SALTUS_OK);
  return gap;
}

static void look_at_watch(const saltus_system* sys, course* c, uint64_t identity, double a,
                          double b, void* scratch) {
  enum { LOOKS = 32 };
  course other = *c;
  const double m = 0.5 * (a + b);
  const saltus_course over = course_over(c, a, b), middle = course_over(&other, m, m);
  saltus_clearance found;
  sys->ops->enclosure->contact_clear(sys->self, &over, &middle, 0.5 * (b - a), identity, 1e-12,
                                     &found);
  assert_near(found.value, gap_at(sys, c, m, identity, scratch), 1e-12);
  for (int n = 0; n <= LOOKS && found.value > 0.0; n++) {
    const double x = a + (b - a) * n / LOOKS;
    const double gap = gap_at(sys, c, x, identity, scratch);
    if ((found.lowest > 0.0 && gap < -1e-9) || /* depths jump where shapes are not convex */
        (gap <= -1e-9 && x >= m - found.clear[0] && x <= m + found.clear[1])) {
      fail_msg("watch %" PRIx64 ": %.3e at %g of %g, %g, lowest %.3e, clear %g, %g", identity, gap,
               x, a, b, found.lowest, found.clear[0], found.clear[1]);
    }
  }
}

/* Values and slopes of a pair of features; counts what is enclosed. */
static int look_at_pair(const saltus_system* sys, course* c, uint64_t identity, double a, double b,
                        void* scratch) {
  enum { LOOKS = 8 };
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  const unsigned depends = ops->contact_depends(sys->self, SALTUS_QUANTITY_GAP, identity);
  if ((depends & SALTUS_NOT_ENCLOSED) != 0) {
    return 0;
  }
  const saltus_course over = course_over(c, a, b);
  saltus_interval out[JET];
  ops->contact_along(sys->self, &over, SALTUS_QUANTITY_GAP, identity, out);
  for (int n = 0; n <= LOOKS; n++) {
    const double x = a + (b - a) * n / LOOKS, step = 1e-5 * (b - a);
    const double gap = gap_at(sys, c, x, identity, scratch);
    const double next = gap_at(sys, c, x + step, identity, scratch);
    if (!isinf(gap) && !(gap >= out[0].lo - 1e-12 && gap <= out[0].hi + 1e-12)) {
      fail_msg("pair %" PRIx64 ": gap %.17g outside of %.17g, %.17g", identity, gap, out[0].lo,
               out[0].hi);
    }
    const double slope = (next - gap) / step, error = 1e-6 + 1e-4 * fabs(slope);
    assert_true(n == LOOKS || isinf(gap) || isinf(next) ||
                (slope >= out[1].lo - error && slope <= out[1].hi + error));
  }
  return isfinite(out[0].lo) ? 1 : 0;
}

static void look_at_scene(const char* text, int draws, int least) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_system* sys = view->system;
  const saltusi_world* world = ((const saltus_mechanism*)sys->self)->world;
  void* scratch = calloc(1, sys->dims.scratch);
  uint64_t seed = 3;
  int enclosed = 0;
  for (int n = 0; n < draws; n++) {
    course c;
    random_course(&seed, sys, view->q0, &c);
    const double a = any_between(&seed, 0.0, 0.9);
    const double b = a + (1.0 - a) * pow(10.0, any_between(&seed, -3.0, 0.0));
    for (int i = 0; i < world->free_count; i++) {
      for (int j = i + 1; j < world->count; j++) {
        if (saltusi_world_law(world, i, j) < 0) {
          continue;
        }
        saltusi_feature_candidate pair = {.a = 0};
        look_at_watch(sys, &c, saltusi_world_identity(world, i, j, &pair), a, b, scratch);
        pair.a = 1 + (int)(saltus_test_random(&seed) * world->instance[i].shape.stored);
        pair.b = 1 + (int)(saltus_test_random(&seed) * world->instance[j].shape.stored);
        enclosed +=
            look_at_pair(sys, &c, saltusi_world_identity(world, i, j, &pair), a, b, scratch);
      }
    }
  }
  assert_true(enclosed >= least);
  free(scratch);
  saltus_scene_destroy(scene);
}

static void bounds_hold_along_polynomials_in_space(void** state) {
  (void)state;
  look_at_scene(
      "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
      "bodies:\n"
      "  cube: {mass: 1, shapes: [{box: {size: [1, 0.7, 0.4]}}], position: [0, 0, 1]}\n"
      "  pill: {mass: 1, shapes: [{capsule: {radius: 0.2, length: 0.8}}], position: [2, 0, 1]}\n"
      "  disc: {mass: 1, shapes: [{cylinder: {radius: 0.5, length: 0.1}}], position: [0, 2, 1]}\n"
      "  table: {driven: {x: sin(3*t), y: 2 + 0.1*t, z: 3, rpy: [t, cos(2*t), "
      "0.3]}, shapes: [{box: {size: [2, 2, 0.1]}}, {sphere: {radius: 0.3}, position: [0, 0, "
      "1]}]}\n",
      saltus_test_long() ? 20000 : saltus_test_draws(300), 300);
}

static void bounds_hold_along_polynomials_in_the_plane(void** state) {
  (void)state;
  look_at_scene(
      "saltus: 1\nworld: {dimension: 2, shapes: [{half-plane: {}, position: [0, -8]}, {polygon: "
      "{points: [[-3, 1], "
      "[3, 1], [3, 4], [2, 2], [-2, 2], [-3, 4]]}}, {circle: {radius: 9, hollow: true}}, "
      "{chain: {points: [[5, -5], [0, -3], [-5, -5]]}}]}\n"
      "bodies:\n"
      "  square: {mass: 1, shapes: [{polygon: {points: [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], "
      "[-0.5, 0.5]]}}], position: [0, 3]}\n"
      "  star: {mass: 1, shapes: [{polygon: {points: [[0, 0], [1, 0], [0.3, 0.3], [0, 1]]}}], "
      "position: [0, -0.9]}\n"
      "  pill: {mass: 1, shapes: [{capsule: {radius: 0.2, length: 0.8}}], position: [0, -2]}\n"
      "  ball: {mass: 1, shapes: [{circle: {radius: 0.4}}], position: [3, -1]}\n",
      saltus_test_long() ? 20000 : saltus_test_draws(300), 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_hold_all_along),
      cmocka_unit_test(distances_of_tori_never_jump),
      cmocka_unit_test(what_a_search_leaves_open_is_counted),
      cmocka_unit_test(features_stay_apart_where_bounds_say_so),
      cmocka_unit_test(guards_on_planes_change_as_slowly_as_said),
      cmocka_unit_test(gaps_of_features_that_touch_are_known),
      cmocka_unit_test(passing_by_is_clear_for_long),
      cmocka_unit_test(bounds_hold_along_polynomials_in_space),
      cmocka_unit_test(bounds_hold_along_polynomials_in_the_plane),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
