/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * column.c - unit masses on a line, in contact with their neighbours, without extent.
 *
 *   column:N  N balls at 1, 2, ..., N m above a floor fall with v' = -2
 *   stack:N   N balls lie on the floor and on each other, one more falls from 1 m with v' = -2
 *   chain:N   ball 1 hits N - 1 touching balls with speed 1 m/s at t = 1 s; no floor, no force
 *
 *   gaps  q_1 on a floor, q_i - q_(i-1);  Newton's law with e = 1/2 at all contacts at once
 *
 * Analytic solutions. column:1 is the bouncing ball. In a stack the falling ball bounces as if alone: the law
 * requires U+ >= 0 of the closed contacts below and U+ = -e U- of the top one; equal impulses in all contacts satisfy
 * both. In a chain balls 2..N leave with (1 + e)/N, ball 1 with that less e.
 *
 * Masses are the unit matrix and forces constant, so A = m 1: the linear algebra is one number.
 */
#include "measure/motion_family.h"
#include "measure/system_parts.h"

#include <math.h>
#include <stdio.h>

typedef struct column_parameters {
  double force; /* N on every ball */
  bool floor;   /* contact 0 is with the floor */
} column_parameters;

static const saltus_known_motion* problem_of(const void* self) {
  return (const saltus_known_motion*)self;
}

static const column_parameters* data_of(const void* self) {
  return (const column_parameters*)problem_of(self)->family->data;
}

static int balls_of(const void* self) {
  return problem_of(self)->system.dims.nv;
}

/* ---- system ------------------------------------------------------------------------------ */

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  for (int i = 0; i < balls_of(self); i++) {
    F[i] = data_of(self)->force;
  }
}

static double potential(const void* self, const saltus_point* at) {
  double sum = 0.0;
  for (int i = 0; i < balls_of(self); i++) {
    sum += at->q[i];
  }
  return -data_of(self)->force * sum;
}

/* The upper ball of a contact; the lower one is the one before, or the floor. */
static int upper_ball(const void* self, int key) {
  return data_of(self)->floor ? key : key + 1;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  for (int key = 0; key < problem_of(self)->system.dims.nc; key++) {
    int i = upper_ball(self, key);
    list->gap[key] = i == 0 ? at->q[0] : at->q[i] - at->q[i - 1];
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  (void)at;
  int i = upper_ball(self, key);
  if (i == 0) {
    rows->width = 1;
    rows->column[0] = 0;
    rows->G[0] = 1.0;
  } else {
    rows->width = 2;
    rows->column[0] = i - 1;
    rows->column[1] = i;
    rows->G[0] = -1.0;
    rows->G[1] = 1.0;
  }
}

static size_t linear_bytes(const void* self) {
  (void)self;
  return sizeof(double);
}

static saltus_status linear_assemble(const void* self, void* matrix, const saltus_point* at,
                                     double m, double fv, double fq) {
  (void)self;
  (void)at;
  (void)fv;
  (void)fq;
  *(double*)matrix = m;
  return m != 0.0 && isfinite(m) ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

static void linear_solve(const void* self, const void* matrix, double* x) {
  double m = *(const double*)matrix;
  for (int i = 0; i < balls_of(self); i++) {
    x[i] /= m;
  }
}

static void linear_mass_times(const void* self, const saltus_point* at, const double* x,
                              double* y) {
  (void)at;
  for (int i = 0; i < balls_of(self); i++) {
    y[i] = x[i];
  }
}

static const saltus_linear_ops linear = {
    .diagonal = true,
    .bytes = linear_bytes,
    .assemble = linear_assemble,
    .solve = linear_solve,
    .mass_times = linear_mass_times,
};

static const saltus_system_ops ops = {
    SALTUSI_UNIT_MASSES, .force = force,         .contacts = contacts,      .contact = contact,
    SALTUSI_FREE_FORCES, .potential = potential, .power = saltusi_no_power, .linear = &linear,
};

static saltus_dims dims(int balls, int contact_count) {
  return (saltus_dims){
      .nq = balls, .nv = balls, .nc = contact_count, .row_width = balls > 1 ? 2 : 1};
}

static void floor_name(int size, int contact_, char* text, size_t bytes) {
  (void)size;
  if (contact_ == 0) {
    snprintf(text, bytes, "floor");
  } else {
    snprintf(text, bytes, "balls %d-%d", contact_, contact_ + 1);
  }
}

static void pair_name(int size, int contact_, char* text, size_t bytes) {
  floor_name(size, contact_ + 1, text, bytes);
}

/* ---- column ------------------------------------------------------------------------------ */

static saltus_dims column_dims(int size) {
  return dims(size, size);
}

static void column_setup(saltus_known_motion* problem) {
  for (int i = 0; i < problem->size; i++) {
    problem->q0[i] = i + 1.0;
    problem->v0[i] = 0.0;
  }
  if (problem->size == 1) {
    problem->info.known = SALTUS_KNOWN_EXACT;
    saltusi_ball_segments(problem);
  }
}

/* ---- stack ------------------------------------------------------------------------------- */

static saltus_dims stack_dims(int size) {
  return dims(size + 1, size + 1);
}

static void stack_setup(saltus_known_motion* problem) {
  for (int i = 0; i <= problem->size; i++) {
    problem->q0[i] = i == problem->size ? 1.0 : 0.0;
    problem->v0[i] = 0.0;
  }
  saltusi_ball_segments(problem);
}

/* The last ball bounces; also for a column of one ball. */
static void stack_at(const saltus_known_motion* problem, const saltusi_flight_segment* piece,
                     double t, int coordinate, double x[2]) {
  if (coordinate == balls_of(problem) - 1) {
    saltusi_ball_at(piece, t, x);
  } else {
    x[0] = x[1] = 0.0;
  }
}

static bool stack_curved(const saltus_known_motion* problem, int coordinate, int which) {
  return which == 0 && coordinate == balls_of(problem) - 1;
}

/* ---- chain ------------------------------------------------------------------------------- */

static saltus_dims chain_dims(int size) {
  return dims(size, size - 1);
}

static void chain_setup(saltus_known_motion* problem) {
  for (int i = 0; i < problem->size; i++) {
    problem->q0[i] = i == 0 ? 0.0 : 1.0;
    problem->v0[i] = i == 0 ? 1.0 : 0.0;
  }
  saltusi_motion_push(problem, (saltusi_flight_segment){0.0, 0.0, 1.0, false});
  double v_rest = (1.0 + problem->family->restitution) / problem->size;
  saltusi_motion_push(problem, (saltusi_flight_segment){1.0, 1.0, v_rest, true});
}

static void chain_at(const saltus_known_motion* problem, const saltusi_flight_segment* piece,
                     double t, int coordinate, double x[2]) {
  bool first = coordinate == 0;
  if (piece->t == 0.0) {
    x[1] = first ? 1.0 : 0.0;
    x[0] = first ? t : 1.0;
  } else {
    x[1] = first ? piece->v - problem->family->restitution : piece->v;
    x[0] = 1.0 + x[1] * (t - piece->t);
  }
}

static bool chain_curved(const saltus_known_motion* problem, int coordinate, int which) {
  (void)problem;
  (void)coordinate;
  (void)which;
  return false;
}

/* ---- families ---------------------------------------------------------------------------- */

static const column_parameters falling = {.force = -2.0, .floor = true};
static const column_parameters drifting = {.force = 0.0, .floor = false};

/* Common part of the three families. */
#define ROW_OF_BALLS .ops = &ops, SALTUSI_BOUNCING_BALLS, .size_max = 1000000

/* Those over a floor. */
#define FALLING_BALLS                                                                              \
  ROW_OF_BALLS, .size = 3, .size_min = 1, .data = &falling, .contact_name = floor_name,            \
                .piece_capacity = SALTUSI_BALL_PIECES, .at = stack_at, .curved = stack_curved

const saltusi_motion_family saltusi_motion_column = {
    .info = {.name = "column",
             .summary = "column:N, N balls 1 m apart fall onto a floor and each other, v' = -2, "
                        "e = 1/2; N = 3",
             .source = "many contacts at once; column:1 is RR-7151 (2009), example 1",
             .t_end = 8.0,
             .known = SALTUS_KNOWN_NOT},
    FALLING_BALLS,
    .dims = column_dims,
    .setup = column_setup,
};

const saltusi_motion_family saltusi_motion_stack = {
    .info = {.name = "stack",
             .summary =
                 "stack:N, a ball falls from 1 m on N balls at rest, v' = -2, e = 1/2; N = 3",
             .source = "exact: the falling ball bounces as in RR-7151, example 1",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    FALLING_BALLS,
    .dims = stack_dims,
    .setup = stack_setup,
};

const saltusi_motion_family saltusi_motion_chain = {
    .info = {.name = "chain",
             .summary =
                 "chain:N, a ball hits N - 1 touching balls with 1 m/s at 1 s, e = 1/2; N = 5",
             .source = "exact: Newton's law at all contacts at once",
             .t_end = 2.0,
             .known = SALTUS_KNOWN_EXACT},
    .size = 5,
    .size_min = 2,
    .data = &drifting,
    .dims = chain_dims,
    .contact_name = pair_name,
    .piece_capacity = 2,
    .setup = chain_setup,
    .at = chain_at,
    .curved = chain_curved,
    ROW_OF_BALLS,
};
