/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contacts of rigid bodies, packed by four, or by eight in single precision, beside a sweep that visits them one after the other in the order of
 * the groups. Bodies have any mass, and turning with gyroscopic forces in it; two that meet have one to eight contacts, some of them on the
 * ground, some smooth, some with springs. Residuals are computed here, from impulses alone.
 */
#include "saltus_test.h"

#include "solve/body_space/body_gauss_seidel.h"
#include "solve/body_space/body_groups.h"
#include "solve/friction/friction_step.h"

#include <math.h>
#include <stdlib.h>

enum { BODIES = 30, UNITS = 250, WIDTH = SALTUSI_BODY_WIDTH, ROWS = SALTUSI_BODY_ROWS };
enum { BOTH = SALTUSI_CONTACT_ROWS, BLOCK = SALTUSI_BODY_BLOCK };

static uint64_t seed = 2027;

static double spread(void) {
  return 2.0 * saltus_test_random(&seed) - 1.0;
}

typedef struct heap {
  saltusi_friction_step step;
  saltusi_bodies bodies;
  void* block;
  int offset[UNITS + 1], start[UNITS + 1], unit[UNITS], at[UNITS + 1];
  double own[9 * UNITS], mu[UNITS], q[3 * UNITS], r[3 * UNITS];
} heap;

static void lay_out(heap* p, saltus_arena* arena) {
  saltusi_friction_step_layout(&p->step, UNITS, 3, 3 * UNITS, arena);
  saltusi_bodies_layout(&p->bodies, UNITS, BODIES, arena);
}

static void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void draw_frame(double* frame) {
  double any[3] = {spread(), spread(), spread()};
  for (int k = 0; k < 3; k++) {
    frame[k] = spread();
  }
  for (int row = 0; row < 3; row++) {
    double* e = frame + 3 * row;
    if (row > 0) {
      cross(frame, row == 1 ? any : frame + 3, e);
    }
    const double size = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for (int k = 0; k < 3; k++) {
      e[k] /= size;
    }
  }
}

/* 1 / m, and the inverse of an inertia with a skew part. */
static void draw_bodies(saltusi_bodies* b, int bodies) {
  b->bodies = bodies;
  memset(b->inverse, 0, (size_t)bodies * BLOCK * sizeof(double));
  for (int k = 0; k < bodies; k++) {
    double* inverse = b->inverse + (size_t)k * BLOCK;
    const double light = 0.3 + saltus_test_random(&seed);
    for (int a = 0; a < 3; a++) {
      inverse[a * (WIDTH + 1)] = light;
      inverse[(3 + a) * (WIDTH + 1)] = light * (4.0 + 3.0 * spread());
      inverse[(3 + a) * WIDTH + 3 + (a + 1) % 3] = 0.3 * light;
      inverse[(3 + a) * WIDTH + 3 + (a + 2) % 3] = 0.1 * light;
    }
  }
}

static void draw_contact(heap* p, int i) {
  double frame[9];
  double* G = p->bodies.G + (size_t)i * BOTH;
  memset(G, 0, BOTH * sizeof(double));
  draw_frame(frame);
  for (int s = 0; s < 2 && p->bodies.body[2 * i + s] >= 0; s++) {
    const double arm[3] = {0.5 * spread(), 0.5 * spread(), 0.5 * spread()};
    for (int k = 0; k < 3; k++) {
      double turned[3];
      cross(arm, frame + 3 * k, turned);
      for (int a = 0; a < 3; a++) {
        G[s * ROWS + k * WIDTH + a] = s == 0 ? frame[3 * k + a] : -frame[3 * k + a];
        G[s * ROWS + k * WIDTH + 3 + a] = turned[a];
      }
    }
  }
  const int sort = i % 11;
  p->mu[i] = sort == 0 ? 0.0 : 0.1 + 0.7 * saltus_test_random(&seed);
  for (int k = 0; k < 3; k++) {
    p->bodies.soft[3 * i + k] = sort == 1 ? 0.2 : 0.0;
  }
}

static double diagonal(const saltusi_bodies* b, int i, int k, int l) {
  double sum = k == l ? b->soft[3 * i + k] : 0.0;
  for (int s = 0; s < 2 && b->body[2 * i + s] >= 0; s++) {
    const double* G = b->G + (size_t)i * BOTH + (size_t)s * ROWS;
    for (int a = 0; a < WIDTH * WIDTH; a++) {
      sum += G[k * WIDTH + a / WIDTH] * b->inverse[b->body[2 * i + s] * BLOCK + a] *
             G[l * WIDTH + a % WIDTH];
    }
  }
  return sum;
}

/* Runs of one to eight contacts, every fourth on the ground. */
static void draw(heap* p, int bodies, int units) {
  saltusi_bodies* b = &p->bodies;
  draw_bodies(b, bodies);
  b->units = units;
  b->softens = true;
  for (int i = 0, left = 0, run = 0; i < units; i++, left--) {
    if (left == 0) {
      left = 1 + (int)(8.0 * saltus_test_random(&seed));
      run++;
      b->body[2 * i] = run * 7 % bodies;
      b->body[2 * i + 1] = run % 4 == 0 ? -1 : (run * 7 + 1 + run % 3) % bodies;
    } else {
      b->body[2 * i] = b->body[2 * i - 2];
      b->body[2 * i + 1] = b->body[2 * i - 1];
    }
    draw_contact(p, i);
  }
  for (int i = 0; i <= units; i++) {
    p->offset[i] = 3 * i;
    p->start[i] = i;
    p->at[i] = 9 * i;
    for (int k = 0; k < 9 && i < units; k++) {
      p->unit[i] = i;
      p->own[9 * i + k] = diagonal(b, i, k / 3, k % 3);
    }
  }
  /* bodies that were thrown: contacts of one pair agree with each other */
  double v[BODIES * WIDTH];
  for (int k = 0; k < bodies * WIDTH; k++) {
    v[k] = spread();
  }
  memset(p->q, 0, sizeof p->q);
  for (int i = 0; i < units; i++) {
    saltusi_bodies_add(b, i, v, p->q + 3 * (size_t)i);
  }
}

static heap* make(void) {
  heap* p = calloc(1, sizeof *p);
  assert_non_null(p);
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, &arena);
  size_t bytes = arena.used;
  p->block = calloc(1, bytes);
  assert_non_null(p->block);
  arena = saltus_arena_over(p->block, bytes);
  lay_out(p, &arena);
  return p;
}

static void discard(heap* p) {
  free(p->block);
  free(p);
}

/* The case of the problem, without impulses and slips of before. */
static saltusi_friction_case* prepare(heap* p) {
  const saltusi_step_blocks own = {
      .offset = p->offset, .start = p->start, .unit = p->unit, .place = p->at, .values = p->own};
  saltusi_friction_step_load(&p->step, &own, 0, p->bodies.units);
  assert_true(saltusi_bodies_prepare(&p->bodies));
  p->step.bodies = &p->bodies;
  p->step.thin = true;
  p->step.tol = 1e6;
  memset(p->r, 0, sizeof p->r);
  assert_true(saltusi_friction_step_solve_blocks(&p->step, p->mu, p->q, p->r));
  memset(p->r, 0, sizeof p->r);
  saltusi_friction_case* in = &p->step.work.given;
  memset(in->slip, 0, (size_t)p->bodies.units * sizeof(double));
  return in;
}

/* A way to pack contacts, and what to expect of it. */
typedef struct packing {
  int lanes;
  const saltusi_body_kernel* kernel;
  double impulses; /* errors after fifteen sweeps, over the largest */
  double slips;    /* of multipliers, over them or a hundredth of W */
} packing;

static const packing packings[] = {
    /* to which contacts that slip are solved */
    {4, &saltusi_body_kernel_rigid, 1e-12, 1e-8},
    /* measured: 1e-6, a dozen roundings, and 6e-3 where the multiplier is large, and impulses next to nothing */
    {8, &saltusi_body_kernel_float, 3e-6, 2e-2}};
enum { PACKINGS = sizeof packings / sizeof packings[0] };

/* |F / rho| / |q| from r alone. */
static double residual(const heap* p, const double* r) {
  const saltusi_bodies* b = &p->bodies;
  double v[BODIES * WIDTH] = {0.0}, sum = 0.0, size = 0.0;
  for (int i = 0; i < b->units; i++) {
    for (int a = 0; a < BOTH; a++) {
      const int body = b->body[2 * i + a / ROWS];
      for (int c = 0; c < WIDTH && body >= 0; c++) {
        v[body * WIDTH + c] += b->inverse[body * BLOCK + c * WIDTH + a % WIDTH] *
                               b->G[i * BOTH + a] * r[3 * i + a % ROWS / WIDTH];
      }
    }
  }
  for (int i = 0; i < b->units; i++) {
    double u[3], x[3];
    for (int k = 0; k < 3; k++) {
      u[k] = p->q[3 * i + k] + b->soft[3 * i + k] * r[3 * i + k];
      for (int a = 0; a < 2 * WIDTH; a++) {
        const int body = b->body[2 * i + a / WIDTH];
        u[k] += body < 0 ? 0.0
                         : b->G[i * BOTH + a / WIDTH * ROWS + k * WIDTH + a % WIDTH] *
                               v[body * WIDTH + a % WIDTH];
      }
    }
    const double rho = 3.0 / (p->own[9 * i] + p->own[9 * i + 4] + p->own[9 * i + 8]);
    for (int k = 0; k < 3; k++) {
      x[k] = r[3 * i + k] - rho * (u[k] + (k == 0 ? p->mu[i] * hypot(u[1], u[2]) : 0.0));
    }
    saltusi_cone_project(3, p->mu[i], x);
    for (int k = 0; k < 3; k++) {
      sum += (r[3 * i + k] - x[k]) * (r[3 * i + k] - x[k]) / (rho * rho);
      size += p->q[3 * i + k] * p->q[3 * i + k];
    }
  }
  return sqrt(sum / size);
}

/* A sweep and its momentum in the order of the groups, one contact after the other; counts states. */
static void sweep_apart(const heap* p, int lanes, const saltusi_group_points* points, double* v,
                        double* slip, int* states) {
  const saltusi_friction_case* in = &p->step.work.given;
  const saltusi_bodies* b = &p->bodies;
  for (int at = 0; at < lanes * b->groups; at++) {
    const int i = b->lane[at];
    if (i < 0) {
      continue;
    }
    double *r = points->r + 3 * (size_t)i, u[3], fresh[3], change[3];
    memcpy(u, p->q + 3 * (size_t)i, sizeof u);
    saltusi_bodies_add(b, i, v, u);
    saltusi_bodies_add_compliance(b, i, r, u);
    for (int k = 0; k < 9; k++) {
      u[k / 3] -= p->own[9 * i + k] * r[k % 3];
    }
    states[saltusi_one_contact_spatial(in->local + in->pattern->local_at[i], p->mu[i], u, fresh,
                                       slip + i)]++;
    for (int k = 0; k < 3; k++) {
      change[k] = fresh[k] - r[k];
      r[k] = fresh[k];
    }
    saltusi_bodies_push(b, i, change, v);
  }
}

static void extrapolate_apart(const heap* p, const saltusi_group_points* points, double* v) {
  for (int i = 0; i < p->bodies.units; i++) {
    double change[3];
    (void)saltusi_momentum(points, i, change);
    saltusi_bodies_push(&p->bodies, i, change, v);
  }
}

/* Fifteen sweeps with momentum between them; returns idle lanes. */
static int compare_sweeps(heap* p, const packing* way, int* states) {
  saltusi_friction_case* in = prepare(p);
  static double r[3 * UNITS], x[3 * UNITS], before[3 * UNITS], age[UNITS], slip[UNITS];
  double v[BODIES * WIDTH] = {0.0}, largest = 0.0;
  const saltusi_group_points apart = {r, x, before, age};
  static double u[3 * UNITS];
  memset(r, 0, sizeof r);
  memset(x, 0, sizeof x);
  memset(before, 0, sizeof before);
  memset(age, 0, sizeof age);
  memset(slip, 0, sizeof slip);
  p->bodies.single.wanted = true;
  assert_true(way->kernel->pack(in));
  way->kernel->start(in, p->r);
  saltusi_kernel_reset(way->kernel, in, p->r, u);
  for (int sweep = 0; sweep < 15; sweep++) {
    way->kernel->iterate(in);
    sweep_apart(p, way->lanes, &apart, v, slip, states);
    if (sweep < 14) {
      way->kernel->extrapolate(in);
      extrapolate_apart(p, &apart, v);
    }
  }
  way->kernel->fetch(in, p->r);
  for (int k = 0; k < 3 * p->bodies.units; k++) {
    largest = fmax(largest, fabs(r[k]));
  }
  for (int k = 0; k < 3 * p->bodies.units; k++) {
    assert_near(p->r[k], r[k], way->impulses * largest);
  }
  for (int i = 0; i < p->bodies.units; i++) { /* slips are known for whoever comes next */
    assert_near(in->slip[i], slip[i], way->slips * (slip[i] + 0.01 / in->rho[i]));
  }
  assert_near(saltusi_kernel_reset(way->kernel, in, p->r, u), residual(p, p->r), 1e-13);
  int idle = 0;
  for (int at = 0; at < way->lanes * p->bodies.groups; at++) {
    idle += p->bodies.lane[at] < 0;
  }
  return idle;
}

static void groups_are_swept_like_contacts_one_after_the_other(void** state) {
  (void)state;
  heap* p = make();
  for (int way = 0; way < PACKINGS; way++) {
    int states[3] = {0, 0, 0}, idle = 0;
    for (int trial = 0; trial < 10; trial++) {
      draw(p, BODIES, UNITS - 3 * trial);
      idle += compare_sweeps(p, packings + way, states);
    }
    for (int k = 0; k < 3; k++) { /* open, stick and slip */
      assert_in_range(states[k], 1000, 40000);
    }
    assert_in_range(idle, 1, 1000 * packings[way].lanes / 4);
  }
  discard(p);
}

/* No two contacts of a group have a body in common, each contact is in one group, and those of a run come one after the other. */
static void check_lanes(heap* p, const packing* way) {
  const int lanes = way->lanes;
  draw(p, BODIES, UNITS);
  saltusi_friction_case* in = prepare(p);
  const saltusi_bodies* b = &p->bodies;
  p->bodies.single.wanted = true;
  assert_true(way->kernel->pack(in));
  int seen[UNITS] = {0};
  for (int at = 0; at < lanes * b->groups; at++) {
    const int i = b->lane[at];
    for (int other = at - at % lanes; other < at; other++) {
      for (int s = 0; s < 4; s++) {
        const int body = b->pair[2 * at + s / 2];
        assert_true(body == BODIES || body != b->pair[2 * other + s % 2]);
      }
    }
    for (int s = 0; s < 2; s++) {
      const int body = i >= 0 ? b->body[2 * i + s] : -1;
      assert_int_equal(b->pair[2 * at + s], body >= 0 ? body : BODIES);
    }
    if (i >= 0) {
      seen[i]++;
      const bool goes_on = i + 1 < UNITS && b->body[2 * i] == b->body[2 * i + 2] &&
                           b->body[2 * i + 1] == b->body[2 * i + 3];
      assert_true(!goes_on || b->lane[at + lanes] == i + 1);
    }
  }
  for (int i = 0; i < UNITS; i++) {
    assert_int_equal(seen[i], 1);
  }
  /* measured: 67 by four, 37 by eight, of 30 bodies */
  assert_in_range(b->groups, UNITS / lanes, (lanes == 4 ? 4 : 5) * UNITS / (3 * lanes));
}

static void lanes_take_runs_of_contacts(void** state) {
  (void)state;
  heap* p = make();
  for (int way = 0; way < PACKINGS; way++) {
    check_lanes(p, packings + way);
  }
  discard(p);
}

/* Single precision works on changes: with springs it comes to 1e-7, where rounding of the impulses alone leaves 3e-7 in them, whatever the units. */
static void single_precision_finds_what_double_precision_judges(void** state) {
  (void)state;
  heap* p = make();
  for (int trial = 0; trial < 6; trial++) {
    const double mass = trial % 3 == 0 ? 1.0 : trial % 3 == 1 ? 1e9 : 1e-9;
    const double speed = trial < 3 ? 1.0 : 1e-10;
    draw(p, BODIES, UNITS);
    for (int k = 0; k < BODIES * BLOCK; k++) {
      p->bodies.inverse[k] /= mass;
    }
    for (int k = 0; k < 3 * UNITS; k++) {
      p->bodies.soft[k] = 0.2 / mass;
      p->q[k] *= speed;
    }
    for (int k = 0; k < 9 * UNITS; k++) {
      p->own[k] = diagonal(&p->bodies, k / 9, k % 9 / 3, k % 3);
    }
    saltusi_friction_case* in = prepare(p);
    p->bodies.single.wanted = true;
    const saltusi_body_gauss_seidel settings = {.sweeps = 4000, .tol = 1e-7};
    const saltusi_stage stage =
        saltusi_gauss_seidel_bodies(&p->step.work.sweep, in, &settings, p->r);
    const double found = residual(p, p->r);
    assert_near(stage.residual, found, 1e-12);
    assert_true(found <= 1e-7 * (1.0 + 1e-6));
    assert_true(stage.iterations < 400);
  }
  discard(p);
}

/* Sweeps say the residual of the impulses they leave, of many bodies and of three, whose contacts fill no groups. */
static void sweeps_say_the_residual_that_they_leave(void** state) {
  (void)state;
  seed = 4; /* heaps without springs that 400 sweeps solve, which not all are */
  heap* p = make();
  for (int trial = 0; trial < 10; trial++) {
    draw(p, trial % 2 == 0 ? BODIES : 3, trial % 2 == 0 ? UNITS : 30);
    saltusi_friction_case* in = prepare(p);
    assert_true(saltusi_body_kernel_rigid.pack(in) == (trial % 2 == 0));
    const saltusi_body_gauss_seidel settings = {.sweeps = 400, .tol = 1e-4};
    p->bodies.kind = NULL;
    const saltusi_stage stage =
        saltusi_gauss_seidel_bodies(&p->step.work.sweep, in, &settings, p->r);
    const double found = residual(p, p->r);
    assert_near(stage.residual, found, 1e-12);
    assert_true(found <= 1e-4 * (1.0 + 1e-6));
  }
  discard(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_are_swept_like_contacts_one_after_the_other),
      cmocka_unit_test(lanes_take_runs_of_contacts),
      cmocka_unit_test(single_precision_finds_what_double_precision_judges),
      cmocka_unit_test(sweeps_say_the_residual_that_they_leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
