/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Three boxes of a pile, 16 contacts with springs, that sweeps with momentum drive around in a circle: contacts that slip go on in the
 * direction that they had, which turns by a right angle with every sweep. tests/support/circling_contacts.txt has the two bodies of every contact
 * (-1: held), its velocity without impulses in m/s, impulses of the circle in N s, and three rows of each body. Boxes are of 1 kg and
 * 0.1 m; impulses are judged by the whole W + S, which is made here.
 */
#include "cone.h"
#include "saltus_test.h"

#include "solve/body_space/body_gauss_seidel.h"
#include "solve/friction/friction_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 16, BODIES = 3, ROWS = 3 * UNITS, WIDTH = SALTUSI_BODY_WIDTH };
static const double friction = 0.5, turning = 600.0; /* 1 / (1 kg (0.1 m)^2 / 6) */
static const double springs[3] = {0.0576, 0.2016, 0.2016};

typedef struct cluster {
  double q[ROWS], circle[ROWS], mu[UNITS];
  double W[ROWS * ROWS]; /* with springs */
  saltusi_friction_step step;
  saltusi_bodies bodies;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS], place[UNITS + 1];
  double own[9 * UNITS];
  void* block;
} cluster;

static void lay_out(cluster* c, saltus_arena* arena) {
  const saltusi_step_sizes sizes = {.units = UNITS,
                                    .rows_each = 3,
                                    .rows = ROWS,
                                    .blocks = UNITS,
                                    .values = 9 * UNITS,
                                    .factored = UNITS,
                                    .bodies = BODIES};
  saltusi_friction_step_layout_sizes(&c->step, &sizes, arena);
  saltusi_bodies_layout(&c->bodies, UNITS, BODIES, arena);
}

static void read_numbers(FILE* file, int count, double* to) {
  for (int k = 0; k < count; k++) {
    assert_int_equal(fscanf(file, "%lf", to + k), 1);
  }
}

static void read_contacts(cluster* c) {
  FILE* file = fopen(SALTUS_CIRCLING, "r");
  assert_non_null(file);
  int units = 0, bodies = 0;
  assert_int_equal(fscanf(file, "%d %d", &units, &bodies), 2);
  assert_true(units == UNITS && bodies == BODIES);
  for (int i = 0; i < UNITS; i++) {
    int* body = c->bodies.body + 2 * i;
    assert_int_equal(fscanf(file, "%d %d", body, body + 1), 2);
    read_numbers(file, 3, c->q + 3 * i);
    read_numbers(file, 3, c->circle + 3 * i);
    read_numbers(file, SALTUSI_CONTACT_ROWS, c->bodies.G + i * SALTUSI_CONTACT_ROWS);
  }
  fclose(file);
}

/* What an impulse along row a does to the velocity along row b. */
static double moves(const cluster* c, int a, int b) {
  double sum = 0.0;
  for (int s = 0; s < 2; s++) {
    for (int t = 0; t < 2; t++) {
      const int body = c->bodies.body[2 * (a / 3) + s];
      const double* x =
          c->bodies.G + (a / 3) * SALTUSI_CONTACT_ROWS + s * SALTUSI_BODY_ROWS + a % 3 * WIDTH;
      const double* y =
          c->bodies.G + (b / 3) * SALTUSI_CONTACT_ROWS + t * SALTUSI_BODY_ROWS + b % 3 * WIDTH;
      for (int k = 0; k < WIDTH && body >= 0 && body == c->bodies.body[2 * (b / 3) + t]; k++) {
        sum += x[k] * y[k] * (k < 3 ? 1.0 : turning);
      }
    }
  }
  return sum;
}

static void write_problem(cluster* c) {
  c->bodies.units = UNITS;
  c->bodies.bodies = BODIES;
  c->bodies.softens = true;
  c->bodies.single.wanted = true;
  for (int k = 0; k < BODIES * SALTUSI_BODY_BLOCK; k++) {
    const int at = k % SALTUSI_BODY_BLOCK;
    c->bodies.inverse[k] = at % (WIDTH + 1) != 0 ? 0.0 : at / WIDTH < 3 ? 1.0 : turning;
  }
  for (int a = 0; a < ROWS; a++) {
    for (int b = 0; b < ROWS; b++) {
      c->W[a * ROWS + b] = moves(c, a, b) + (a == b ? springs[a % 3] : 0.0);
    }
    c->bodies.soft[a] = springs[a % 3];
  }
  for (int i = 0; i <= UNITS; i++) {
    c->offset[i] = 3 * i;
    c->start[i] = i;
    c->place[i] = 9 * i;
    for (int k = 0; k < 9 && i < UNITS; k++) {
      c->unit[i] = i;
      c->mu[i] = friction;
      c->own[9 * i + k] = c->W[(3 * i + k / 3) * ROWS + 3 * i + k % 3];
    }
  }
  assert_true(saltusi_bodies_prepare(&c->bodies));
}

static cluster* make(void) {
  cluster* c = calloc(1, sizeof *c);
  assert_non_null(c);
  saltus_arena arena = saltus_arena_counting();
  lay_out(c, &arena);
  const size_t bytes = arena.used;
  c->block = calloc(1, bytes);
  assert_non_null(c->block);
  arena = saltus_arena_over(c->block, bytes);
  lay_out(c, &arena);
  read_contacts(c);
  write_problem(c);
  const saltusi_step_blocks thin = {
      .offset = c->offset, .start = c->start, .unit = c->unit, .place = c->place, .values = c->own};
  saltusi_friction_step_load(&c->step, &thin, 0, UNITS);
  saltusi_friction_case* in = &c->step.work.given;
  in->pattern = &c->step.work.pattern;
  in->bodies = &c->bodies;
  in->domains = NULL;
  in->team = NULL;
  in->values = c->own;
  in->q = c->q;
  in->mu = c->mu;
  saltusi_friction_case_prepare(in);
  return c;
}

static void discard(cluster* c) {
  free(c->block);
  free(c);
}

/* |(r - projection of r - rho (u + mu |u_T| n)) / rho| / |q|, rho = 3 / trace of W_ii. */
static double residual(const cluster* c, const double* r) {
  double sum = 0.0, unit = 0.0;
  for (int i = 0; i < UNITS; i++) {
    const double* own = c->own + 9 * i;
    const double rho = 3.0 / (own[0] + own[4] + own[8]);
    double u[3], x[3];
    for (int k = 0; k < 3; k++) {
      u[k] = c->q[3 * i + k];
      for (int b = 0; b < ROWS; b++) {
        u[k] += c->W[(3 * i + k) * ROWS + b] * r[b];
      }
    }
    u[0] += friction * hypot(u[1], u[2]);
    for (int k = 0; k < 3; k++) {
      x[k] = r[3 * i + k] - rho * u[k];
    }
    project_on_cone(friction, x);
    for (int k = 0; k < 3; k++) {
      const double miss = (r[3 * i + k] - x[k]) / rho;
      sum += miss * miss;
      unit += c->q[3 * i + k] * c->q[3 * i + k];
    }
  }
  return sqrt(sum / unit);
}

/* Residual of so many sweeps from the circle. */
static double swept(cluster* c, int sweeps, bool plain) {
  const saltusi_body_gauss_seidel settings = {.sweeps = sweeps, .tol = 1e-6, .plain = plain};
  double r[ROWS];
  memcpy(r, c->circle, sizeof r);
  (void)saltusi_gauss_seidel_bodies(&c->step.work.sweep, &c->step.work.given, &settings, r);
  return residual(c, r);
}

/* Momentum stays in the circle, however long; sweeps without it leave it, and so does Newton's method with sweeps in turn. */
static void contacts_leave_the_circle_of_momentum(void** state) {
  (void)state;
  cluster* c = make();
  assert_true(residual(c, c->circle) > 0.1);
  assert_true(swept(c, 1000, false) > 1e-3); /* else this is not the problem that it was */
  assert_true(swept(c, 10, true) < 1e-2);
  assert_true(swept(c, 1000, true) <= 1e-6 * (1.0 + 1e-6));
  saltusi_friction_work* work = &c->step.work;
  const saltus_allocator memory = saltus_allocator_default(); /* there is room: nobody asks */
  const saltusi_compliant_settings settings = {.steps = 8, .tol = 1e-6};
  double r[ROWS];
  memcpy(r, c->circle, sizeof r);
  assert_int_equal(
      saltusi_compliant_reserve(&work->soft, &c->bodies, &work->second_memory, &memory), SALTUS_OK);
  (void)saltusi_body_newton_compliant(&work->soft, &work->sweep, &work->given, &settings, r);
  assert_true(residual(c, r) <= 1e-6 * (1.0 + 1e-6)); /* by other sums */
  discard(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contacts_leave_the_circle_of_momentum)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
