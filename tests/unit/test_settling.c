/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A step of 125 balls that settle between walls, 305 contacts: one that sweeps leave again, where the path of the
 * interior point turns back and Newton's method goes nowhere. tests/support/settling_spheres.txt has the two bodies of
 * every contact (-1: the walls), its normal towards the first, a tangent, and its velocity without impulses in m/s.
 * Balls are of 0.5 kg and 0.05 m; their impulses are judged here by their motion and the projection on Coulomb's cone.
 * Where contacts give way Newton's method by bodies has its room from the start, whatever else may be factored.
 */
#include "cone.h"
#include "saltus_test.h"

#include "solve/friction/friction_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNITS = 305, BODIES = 124, WIDTH = SALTUSI_BODY_WIDTH };
static const double friction = 0.5, mass = 0.5, radius = 0.05;

typedef struct pile {
  int body[2 * UNITS];
  double frame[9 * UNITS]; /* normal and tangents of each */
  double q[3 * UNITS], r[3 * UNITS], mu[UNITS];
  saltusi_friction_step step;
  saltusi_bodies bodies;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS], place[UNITS + 1];
  double values[9 * UNITS]; /* of the diagonal blocks */
  double soft;              /* part of them by which contacts give way */
  void* block;
} pile;

static double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

/* The file has nine digits of n and t. */
static void straighten(double* frame) {
  double* n = frame;
  double* t = frame + 3;
  const double length = sqrt(dot(n, n));
  for (int k = 0; k < 3; k++) {
    n[k] /= length;
  }
  const double along = dot(n, t);
  for (int k = 0; k < 3; k++) {
    t[k] -= along * n[k];
  }
  const double size = sqrt(dot(t, t));
  for (int k = 0; k < 3; k++) {
    t[k] /= size;
  }
  cross(n, t, frame + 6);
}

static void read_pile(pile* p) {
  FILE* file = fopen(SALTUS_SETTLING, "r");
  assert_non_null(file);
  int units = 0, bodies = 0;
  assert_int_equal(fscanf(file, "%d %d", &units, &bodies), 2);
  assert_int_equal(units, UNITS);
  assert_int_equal(bodies, BODIES);
  for (int i = 0; i < UNITS; i++) {
    double* f = p->frame + 9 * i;
    double* q = p->q + 3 * i;
    assert_int_equal(fscanf(file, "%d %d %lf %lf %lf %lf %lf %lf %lf %lf %lf", p->body + 2 * i,
                            p->body + 2 * i + 1, f, f + 1, f + 2, f + 3, f + 4, f + 5, q, q + 1,
                            q + 2),
                     11);
    straighten(f);
    p->mu[i] = friction;
  }
  fclose(file);
}

static void lay_out(pile* p, int factored, int bodies, saltus_arena* arena) {
  const saltusi_step_sizes sizes = {.units = UNITS,
                                    .rows_each = 3,
                                    .rows = 3 * UNITS,
                                    .blocks = UNITS,
                                    .values = 9 * UNITS,
                                    .factored = factored,
                                    .bodies = bodies};
  saltusi_friction_step_layout_sizes(&p->step, &sizes, arena);
  saltusi_bodies_layout(&p->bodies, UNITS, BODIES, arena);
}

/* Rows of both bodies: the velocity of the first at the contact less that of the second. */
static void write_rows(pile* p, int i) {
  const double* frame = p->frame + 9 * i;
  for (int s = 0; s < 2; s++) {
    p->bodies.body[2 * i + s] = p->body[2 * i + s];
    double* G = p->bodies.G + i * SALTUSI_CONTACT_ROWS + s * SALTUSI_BODY_ROWS;
    for (int k = 0; k < 3; k++) {
      double arm[3] = {0.0, 0.0, 0.0};
      if (k > 0) {
        cross(frame, frame + 3 * k, arm);
      }
      for (int a = 0; a < 3; a++) {
        const bool there = p->body[2 * i + s] >= 0;
        G[k * WIDTH + a] = there ? (s == 0 ? 1.0 : -1.0) * frame[3 * k + a] : 0.0;
        G[k * WIDTH + 3 + a] = there ? -radius * arm[a] : 0.0;
      }
    }
  }
}

static void write_diagonal(pile* p, int i) {
  const double inertia = 0.4 * mass * radius * radius;
  const int sides = p->body[2 * i + 1] >= 0 ? 2 : 1;
  p->offset[i] = 3 * i;
  p->start[i] = p->unit[i] = i;
  p->place[i] = 9 * i;
  for (int k = 0; k < 9; k++) {
    p->values[9 * i + k] = 0.0;
  }
  p->values[9 * i] = sides / mass;
  p->values[9 * i + 4] = p->values[9 * i + 8] = sides * (1.0 / mass + radius * radius / inertia);
}

static void write_bodies(pile* p) {
  p->bodies.units = UNITS;
  p->bodies.bodies = BODIES;
  for (int k = 0; k < BODIES; k++) {
    double* inverse = p->bodies.inverse + k * SALTUSI_BODY_BLOCK;
    for (int a = 0; a < SALTUSI_BODY_BLOCK; a++) {
      inverse[a] = 0.0;
    }
    for (int a = 0; a < WIDTH; a++) {
      inverse[a * (WIDTH + 1)] = a < 3 ? 1.0 / mass : 1.0 / (0.4 * mass * radius * radius);
    }
  }
  for (int i = 0; i < UNITS; i++) {
    write_rows(p, i);
    write_diagonal(p, i);
    for (int k = 0; k < 3; k++) {
      p->bodies.soft[3 * i + k] = p->soft * p->values[9 * i + 4 * k];
      p->values[9 * i + 4 * k] *= 1.0 + p->soft;
    }
  }
  p->bodies.softens = p->soft > 0.0;
  p->offset[UNITS] = 3 * UNITS;
  p->start[UNITS] = UNITS;
  p->place[UNITS] = 9 * UNITS;
  assert_true(saltusi_bodies_prepare(&p->bodies));
}

/* Velocities of the balls by their impulses. */
static void move(const pile* p, double* v) {
  const double inertia = 0.4 * mass * radius * radius;
  for (int k = 0; k < BODIES * WIDTH; k++) {
    v[k] = 0.0;
  }
  for (int i = 0; i < UNITS; i++) {
    const double* f = p->frame + 9 * i;
    const double* r = p->r + 3 * i;
    double push[3], turn[3];
    for (int a = 0; a < 3; a++) {
      push[a] = f[a] * r[0] + f[3 + a] * r[1] + f[6 + a] * r[2];
    }
    cross(f, push,
          turn); /* at -radius n from the first centre, radius n from the second with -push */
    for (int s = 0; s < 2; s++) {
      double* w = p->body[2 * i + s] < 0 ? NULL : v + p->body[2 * i + s] * WIDTH;
      for (int a = 0; a < 3 && w != NULL; a++) {
        w[a] += (s == 0 ? 1.0 : -1.0) * push[a] / mass;
        w[3 + a] -= radius * turn[a] / inertia;
      }
    }
  }
}

/* Relative velocity of contact i. */
static void relative(const pile* p, const double* v, int i, double* u) {
  const double* f = p->frame + 9 * i;
  double total[3] = {0.0, 0.0, 0.0};
  for (int s = 0; s < 2; s++) {
    if (p->body[2 * i + s] >= 0) {
      const double* w = v + p->body[2 * i + s] * WIDTH;
      const double side = s == 0 ? 1.0 : -1.0;
      const double arm[3] = {-side * radius * f[0], -side * radius * f[1], -side * radius * f[2]};
      double swing[3];
      cross(w + 3, arm, swing);
      for (int a = 0; a < 3; a++) {
        total[a] += side * (w[a] + swing[a]);
      }
    }
  }
  for (int k = 0; k < 3; k++) {
    u[k] = p->q[3 * i + k] + dot(f + 3 * k, total);
  }
}

/* |(r - projection of r - rho (u + mu |u_T| n)) / rho| / |q|, rho = 3 / trace W_ii. */
static double residual(const pile* p) {
  static double v[BODIES * WIDTH];
  double sum = 0.0, unit = 0.0;
  move(p, v);
  for (int i = 0; i < UNITS; i++) {
    const double* r = p->r + 3 * i;
    const double* W = p->values + 9 * i;
    const double rho = 3.0 / (W[0] + W[4] + W[8]);
    double u[3];
    relative(p, v, i, u);
    for (int k = 0; k < 3; k++) {
      u[k] += p->soft / (1.0 + p->soft) * W[4 * k] * r[k];
    }
    u[0] += friction * hypot(u[1], u[2]);
    double x[3] = {r[0] - rho * u[0], r[1] - rho * u[1], r[2] - rho * u[2]};
    project_on_cone(friction, x);
    for (int k = 0; k < 3; k++) {
      sum += (r[k] - x[k]) / rho * ((r[k] - x[k]) / rho);
      unit += p->q[3 * i + k] * p->q[3 * i + k];
    }
  }
  return sqrt(sum / unit);
}

/* The pile with room to factor so many contacts and for Newton's method on so many bodies, ready to be solved. */
static pile* make(double soft, double tol, int factored, int bodies) {
  pile* p = calloc(1, sizeof *p);
  assert_non_null(p);
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, factored, bodies, &arena);
  const size_t bytes = arena.used;
  p->block = calloc(1, bytes);
  assert_non_null(p->block);
  arena = saltus_arena_over(p->block, bytes);
  lay_out(p, factored, bodies, &arena);
  read_pile(p);
  p->soft = soft;
  write_bodies(p);
  const saltusi_step_blocks thin = {.offset = p->offset,
                                    .start = p->start,
                                    .unit = p->unit,
                                    .place = p->place,
                                    .values = p->values};
  saltusi_friction_step_load(&p->step, &thin, 0, UNITS);
  p->step.bodies = &p->bodies;
  p->step.thin = true;
  p->step.tol = tol;
  return p;
}

static void discard(pile* p) {
  free(p->block);
  free(p);
}

static void every_step_of_a_settling_pile_has_impulses(void** state) {
  (void)state;
  pile* p = make(0.0, 1e-6, UNITS, 0);
  assert_true(residual(p) > 0.1); /* without impulses */
  assert_true(saltusi_friction_step_solve_blocks(&p->step, p->mu, p->q, p->r));
  assert_true(residual(p) <= 1e-6 * (1.0 + 1e-6)); /* by other sums */
  discard(p);
}

/* Contacts that give way have the room of Newton's method by bodies from the start. */
static void newton_has_room_where_nothing_else_can_be_factored(void** state) {
  (void)state;
  for (int room = 0; room < 2; room++) {
    pile* p = make(0.01, 1e-6, 1, room * BODIES);
    assert_true(saltusi_friction_step_solve_blocks(&p->step, p->mu, p->q, p->r));
    assert_true(residual(p) <= 1e-6 * (1.0 + 1e-6));
    saltusi_friction_work* work = &p->step.work;
    const saltus_status status =
        saltusi_compliant_reserve(&work->soft, &p->bodies, &work->second_memory, &work->memory);
    assert_int_equal(status, room == 1 ? SALTUS_OK : SALTUS_ERR_MEMORY);
    assert_true(p->step.lacks == (room == 0));
    discard(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_of_a_settling_pile_has_impulses),
      cmocka_unit_test(newton_has_room_where_nothing_else_can_be_factored)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
