/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contact problems of balls by their bodies: a pyramid of 55 balls that rests between four walls. Rows are made here
 * from places, arms in a frame of each ball's own; impulses are judged by the weight that floor and walls carry and
 * by a residual that is computed here.
 */
#include "saltus_test.h"

#include "solve/body_space/body_gauss_seidel.h"
#include "solve/body_space/body_groups.h"
#include "solve/friction/friction_step.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 5, BALLS = 55, ROOM = 260, WIDTH = SALTUSI_BODY_WIDTH };

static const double radius = 0.05, mass = 0.5, friction = 0.5;
static const double fall = 9.81 / 240.0; /* what gravity adds to a velocity in a step */

static uint64_t seed = 4711;

static double spread(void) {
  return 2.0 * saltus_test_random(&seed) - 1.0;
}

typedef struct pyramid {
  saltusi_friction_step step;
  saltusi_bodies bodies;
  void* block;
  int units, grounds;
  double up[3 * ROOM]; /* vertical part of the rows of floor and walls */
  double place[BALLS][3], turn[BALLS][9];
  int offset[ROOM + 1], start[ROOM + 1], unit[ROOM], at[ROOM + 1];
  double own[9 * ROOM], mu[ROOM], q[3 * ROOM], r[3 * ROOM];
} pyramid;

static void lay_out(pyramid* p, saltus_arena* arena) {
  saltusi_friction_step_layout(&p->step, ROOM, 3, 3 * ROOM, arena);
  saltusi_bodies_layout(&p->bodies, ROOM, BALLS, arena);
}

static void cross(const double* a, const double* b, double* c) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalise(double* a) {
  double size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  for (int k = 0; k < 3; k++) {
    a[k] /= size;
  }
}

/* Three unit vectors, the first one given, the others at random around it. */
static void draw_frame(double* frame) {
  double any[3] = {spread(), spread(), spread()};
  cross(frame, any, frame + 3);
  normalise(frame + 3);
  cross(frame, frame + 3, frame + 6);
}

/* Rows of one side: velocities along `sign` times the frame, arm from the centre along `sign` times -normal. */
static void write_side(const pyramid* p, int ball, const double* frame, double sign, double* G) {
  const double arm[3] = {-sign * radius * frame[0], -sign * radius * frame[1],
                         -sign * radius * frame[2]};
  for (int k = 0; k < 3; k++) {
    double turned[3];
    cross(arm, frame + 3 * k, turned);
    for (int a = 0; a < 3; a++) {
      G[k * WIDTH + a] = sign * frame[3 * k + a];
      double sum = 0.0;
      for (int c = 0; c < 3; c++) {
        sum += p->turn[ball][3 * a + c] * turned[c];
      }
      G[k * WIDTH + 3 + a] = k == 0 ? 0.0 : sign * sum;
    }
  }
}

/* normal: of the ground that stands for the second ball, or NULL */
static void add_contact(pyramid* p, int first, int second, const double* normal) {
  const int i = p->units++;
  assert_true(i < ROOM);
  double frame[9] = {0.0};
  double* G = p->bodies.G + (size_t)i * SALTUSI_CONTACT_ROWS;
  memset(G, 0, SALTUSI_CONTACT_ROWS * sizeof(double));
  for (int k = 0; k < 3; k++) {
    frame[k] = normal != NULL ? normal[k] : p->place[first][k] - p->place[second][k];
  }
  normalise(frame);
  draw_frame(frame);
  p->bodies.body[2 * i] = first;
  p->bodies.body[2 * i + 1] = second;
  write_side(p, first, frame, 1.0, G);
  if (second >= 0) {
    write_side(p, second, frame, -1.0, G + SALTUSI_BODY_ROWS);
  }
  for (int k = 0; k < 3; k++) {
    p->up[3 * i + k] = frame[3 * k + 2];
    p->q[3 * i + k] = second < 0 ? -fall * frame[3 * k + 2] : 0.0; /* pairs fall together */
  }
  p->mu[i] = friction;
}

static void write_own(pyramid* p) {
  const saltusi_bodies* b = &p->bodies;
  for (int i = 0; i < p->units; i++) {
    for (int k = 0; k < 9; k++) {
      double sum = 0.0;
      for (int a = 0; a < SALTUSI_CONTACT_ROWS; a++) {
        int side = a / SALTUSI_BODY_ROWS, body = b->body[2 * i + side];
        if (body >= 0 && a % SALTUSI_BODY_ROWS < WIDTH) {
          const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS + side * SALTUSI_BODY_ROWS;
          const double inverse = b->inverse[body * SALTUSI_BODY_BLOCK + (a % WIDTH) * (WIDTH + 1)];
          sum += G[k / 3 * WIDTH + a % WIDTH] * inverse * G[k % 3 * WIDTH + a % WIDTH];
        }
      }
      p->own[9 * i + k] = sum;
    }
  }
}

static void build(pyramid* p) {
  int count = 0;
  for (int layer = 0; layer < SIDE; layer++) {
    for (int k = 0; k < (SIDE - layer) * (SIDE - layer); k++, count++) {
      p->place[count][0] = radius * (2 * (k % (SIDE - layer)) + layer);
      p->place[count][1] = radius * (2 * (k / (SIDE - layer)) + layer);
      p->place[count][2] = radius * (1.0 + layer * sqrt(2.0));
      double frame[9] = {spread(), spread(), spread()};
      normalise(frame);
      draw_frame(frame);
      memcpy(p->turn[count], frame, sizeof frame);
    }
  }
  assert_int_equal(count, BALLS);
  memset(p->bodies.inverse, 0, sizeof(double) * BALLS * SALTUSI_BODY_BLOCK);
  for (int k = 0; k < BALLS * WIDTH; k++) {
    p->bodies.inverse[k / WIDTH * SALTUSI_BODY_BLOCK + k % WIDTH * (WIDTH + 1)] =
        k % WIDTH < 3 ? 1.0 / mass : 2.5 / (mass * radius * radius);
  }
  p->units = 0;
  static const double normals[5][3] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int a = 0; a < SIDE * SIDE; a++) {
    const int x = a % SIDE, y = a / SIDE;
    const bool meets[5] = {true, x == 0, x == SIDE - 1, y == 0, y == SIDE - 1};
    for (int k = 0; k < 5; k++) {
      if (meets[k]) {
        add_contact(p, a, -1, normals[k]);
      }
    }
  }
  p->grounds = p->units;
  for (int a = 0; a < BALLS; a++) {
    for (int b = a + 1; b < BALLS; b++) {
      double distance2 = 0.0;
      for (int k = 0; k < 3; k++) {
        distance2 += (p->place[a][k] - p->place[b][k]) * (p->place[a][k] - p->place[b][k]);
      }
      if (distance2 < 4.0 * radius * radius * (1.0 + 1e-9)) {
        add_contact(p, b, a, NULL);
      }
    }
  }
  p->bodies.units = p->units;
  p->bodies.bodies = BALLS;
  write_own(p);
  for (int i = 0; i <= p->units; i++) {
    p->offset[i] = 3 * i;
    p->start[i] = i;
    p->at[i] = 9 * i;
    p->unit[i < p->units ? i : 0] = i < p->units ? i : 0;
  }
}

static pyramid* make(void) {
  pyramid* p = calloc(1, sizeof *p);
  assert_non_null(p);
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, &arena);
  size_t bytes = arena.used;
  p->block = calloc(1, bytes);
  assert_non_null(p->block);
  arena = saltus_arena_over(p->block, bytes);
  lay_out(p, &arena);
  build(p);
  return p;
}

static void discard(pyramid* p) {
  free(p->block);
  free(p);
}

static bool solve(pyramid* p, double tol) {
  const saltusi_step_blocks own = {
      .offset = p->offset, .start = p->start, .unit = p->unit, .place = p->at, .values = p->own};
  saltusi_friction_step_load(&p->step, &own, 0, p->units);
  assert_true(saltusi_bodies_prepare(&p->bodies));
  p->step.bodies = &p->bodies;
  p->step.thin = true;
  p->step.tol = tol;
  return saltusi_friction_step_solve_blocks(&p->step, p->mu, p->q, p->r);
}

/* |F / rho| / |q| from r alone. */
static double residual(const pyramid* p) {
  const saltusi_bodies* b = &p->bodies;
  double v[BALLS][WIDTH] = {{0.0}};
  double sum = 0.0, size = 0.0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < p->units; i++) {
      double u[3] = {p->q[3 * i], p->q[3 * i + 1], p->q[3 * i + 2]};
      for (int a = 0; a < SALTUSI_CONTACT_ROWS; a++) {
        int body = b->body[2 * i + a / SALTUSI_BODY_ROWS], k = a % SALTUSI_BODY_ROWS / WIDTH;
        if (body < 0) {
          continue;
        }
        double G = b->G[i * SALTUSI_CONTACT_ROWS + a];
        if (pass == 0) {
          v[body][a % WIDTH] +=
              b->inverse[body * SALTUSI_BODY_BLOCK + a % WIDTH * (WIDTH + 1)] * G * p->r[3 * i + k];
        } else {
          u[k] += G * v[body][a % WIDTH];
        }
      }
      const double* W = p->own + 9 * i;
      const double rho = 3.0 / (W[0] + W[4] + W[8]), t = sqrt(u[1] * u[1] + u[2] * u[2]);
      double x[3] = {p->r[3 * i] - rho * (u[0] + p->mu[i] * t), p->r[3 * i + 1] - rho * u[1],
                     p->r[3 * i + 2] - rho * u[2]};
      saltusi_cone_project(3, p->mu[i], x);
      for (int k = 0; k < 3 && pass == 1; k++) {
        sum += (p->r[3 * i + k] - x[k]) * (p->r[3 * i + k] - x[k]) / (rho * rho);
        size += p->q[3 * i + k] * p->q[3 * i + k];
      }
    }
  }
  return sqrt(sum / size);
}

static void a_pyramid_of_balls_rests_between_walls(void** state) {
  (void)state;
  pyramid* p = make();
  assert_true(solve(p, 1e-6));
  assert_true(residual(p) <= 1e-6 * (1.0 + 1e-6)); /* of another order of sums */
  double carried = 0.0;
  for (int i = 0; i < p->grounds; i++) {
    carried += p->r[3 * i] * p->up[3 * i] + p->r[3 * i + 1] * p->up[3 * i + 1] +
               p->r[3 * i + 2] * p->up[3 * i + 2];
  }
  /* |q| is five falls; a ball that moves with all of the residual lacks five times 1e-6 of its weight */
  assert_near(carried / (BALLS * mass * fall), 1.0, 1e-5);
  discard(p);
}

/* Measured: 35 sweeps, and none from the solution. */
static void a_pyramid_of_balls_takes_few_sweeps(void** state) {
  (void)state;
  pyramid* p = make();
  assert_true(solve(p, 1e-6));
  assert_in_range(p->step.iterations, 1, 50);
  assert_true(solve(p, 1e-6));
  assert_int_equal(p->step.iterations, 0);
  discard(p);
}

/* Contacts in the order in which packed ones are visited, four at once: number k was order[k]. */
static void rearrange(pyramid* p, int* order) {
  enum { ROWS = SALTUSI_CONTACT_ROWS };
  static double G[ROOM * ROWS], q[3 * ROOM];
  static int body[2 * ROOM];
  int count = 0;
  memcpy(G, p->bodies.G, (size_t)(p->units * ROWS) * sizeof(double));
  memcpy(q, p->q, sizeof q);
  memcpy(body, p->bodies.body, (size_t)(2 * p->units) * sizeof(int));
  for (int at = 0; at < 4 * p->bodies.groups; at++) {
    const int i = p->bodies.lane[at];
    if (i >= 0) {
      memcpy(p->bodies.G + count * ROWS, G + i * ROWS, ROWS * sizeof(double));
      memcpy(p->bodies.body + 2 * count, body + 2 * i, 2 * sizeof(int));
      memcpy(p->q + 3 * count, q + 3 * i, 3 * sizeof(double));
      order[count++] = i;
    }
  }
  assert_int_equal(count, p->units); /* each of them once */
  write_own(p);
}

/* No two contacts of four have a ball in common: they are visited as if one after the other. */
static void contacts_of_one_group_do_not_meet(void** state) {
  (void)state;
  pyramid* p = make();
  assert_true(solve(p, 1e-2)); /* which prepares the case */
  assert_true(saltusi_body_kernel_rigid.pack(&p->step.work.given));
  for (int at = 0; at < 4 * p->bodies.groups; at++) {
    for (int other = at - at % 4; other < at; other++) {
      for (int s = 0; s < 4; s++) {
        const int ball = p->bodies.pair[2 * at + s / 2];
        assert_true(ball == BALLS || ball != p->bodies.pair[2 * other + s % 2]);
      }
    }
  }
  assert_in_range(p->bodies.groups, p->units / 4, p->units / 3);
  discard(p);
}

/* The same sweeps with contacts packed by four, with friction in closed form; with the slip of other rigid bodies, one ball of
 * which has an inertia that differs in one direction by too little to count; and one by one. */
static void packed_contacts_are_swept_like_others(void** state) {
  (void)state;
  pyramid* p = make();
  const saltusi_body_gauss_seidel seven = {.sweeps = 7, .tol = 0.0};
  double packed[3 * ROOM];
  int order[ROOM];
  assert_true(solve(p, 1e-2));
  saltusi_friction_case* in = &p->step.work.given;
  memset(packed, 0, sizeof packed);
  assert_true(saltusi_body_kernel_rigid.pack(in));
  saltusi_gauss_seidel_bodies(&p->step.work.sweep, in, &seven, packed);
  rearrange(p, order);
  memset(p->r, 0, sizeof p->r);
  assert_true(solve(p, 1e-2));
  assert_true(p->bodies.single.round);
  p->bodies.inverse[3 * (WIDTH + 1)] *= 1.0 + 1e-15;
  for (int other = 0; other < 2; other++) {
    p->bodies.inverse[1] = other == 0 ? 0.0 : 1e-30; /* as of no rigid body */
    p->bodies.kind = NULL;
    memset(p->r, 0, sizeof p->r);
    assert_true(saltusi_body_kernel_rigid.pack(in) == (other == 0));
    p->bodies.single.round = false;
    saltusi_gauss_seidel_bodies(&p->step.work.sweep, in, &seven, p->r);
    for (int k = 0; k < 3 * p->units; k++) { /* impulses of 0.02 to 0.1, seven sweeps */
      assert_near(p->r[k], packed[3 * order[k / 3] + k % 3], 1e-13);
    }
  }
  discard(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pyramid_of_balls_rests_between_walls),
      cmocka_unit_test(a_pyramid_of_balls_takes_few_sweeps),
      cmocka_unit_test(contacts_of_one_group_do_not_meet),
      cmocka_unit_test(packed_contacts_are_swept_like_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
