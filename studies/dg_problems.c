/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_problems.c - one mass over a floor, measured inside the steps. See dg_problems.h.
 */
#include "dg_problems.h"

#include <math.h>
#include <string.h>

/* ---- problems ---------------------------------------------------------------------------------- */

static const double pi = 3.14159265358979323846;

static double square_force(double t) {
  return -10.0 * t * t;
}

static void exact_42(double t, double x[3]) {
  x[0] = 1.0 - 5.0 / 6.0 * t * t * t * t;
  x[1] = -10.0 / 3.0 * t * t * t;
  x[2] = 0.0;
}

static void exact_43(double t, double x[3]) {
  x[0] = x[1] = 0.0;
  x[2] = 10.0 / 3.0 * t * t * t;
}

static double cosine_force(double t) {
  return -10.0 * cos(3.0 * t);
}

static void exact_42s(double t, double x[3]) {
  x[0] = 1.0 + 10.0 / 9.0 * (cos(3.0 * t) - 1.0);
  x[1] = -10.0 / 3.0 * sin(3.0 * t);
  x[2] = 0.0;
}

static double pressing_force(double t) {
  return -(10.0 + 5.0 * sin(3.0 * t));
}

static void exact_43s(double t, double x[3]) {
  x[0] = x[1] = 0.0;
  x[2] = 10.0 * t - 5.0 / 3.0 * (cos(3.0 * t) - 1.0);
}

static double steady_force(double t) {
  (void)t;
  return -2.0;
}

enum { BOUNCES = 50 };

/* Equations (78)-(81), with q = v = 0 and i = 2 t from the accumulation at t = 3 on
 * (docs/theory/time-dg.md, 4). */
static void exact_44(double t, double x[3]) {
  if (t < 1.0) {
    x[0] = 1.0 - t * t;
    x[1] = -2.0 * t;
    x[2] = 0.0;
    return;
  }
  double given = 0.0;
  for (int n = 0; n < BOUNCES; n++) {
    double part = ldexp(1.0, -n);
    given += 3.0 * part;
    if (t < 3.0 - part) {
      x[0] = -(t - 3.0) * (t - 3.0) - 3.0 * part * (t - 1.0) + 2.0 * part * (3.0 - part);
      x[1] = -2.0 * (t - 3.0) - 3.0 * part;
      x[2] = given;
      return;
    }
  }
  x[0] = x[1] = 0.0;
  x[2] = 2.0 * t;
}

static double jump_44(int k) {
  return k < BOUNCES ? 3.0 - ldexp(1.0, 1 - k) : 3.0;
}

/* Rest until the force turns upward at pi/6. */
static void exact_take_off(double t, double x[3]) {
  double lift = pi / 6.0;
  double flown = fmax(t - lift, 0.0);
  x[0] = flown > 0.0 ? 10.0 / 3.0 * flown + 10.0 / 9.0 * cos(3.0 * t) : 0.0;
  x[1] = flown > 0.0 ? -10.0 / 3.0 * (sin(3.0 * t) - 1.0) : 0.0;
  x[2] = 10.0 / 3.0 * sin(3.0 * fmin(t, lift));
}

static double jump_take_off(int k) {
  (void)k;
  return pi / 6.0;
}

static const dg_ball balls[] = {
    {.name = "4.2", .force = square_force, .q0 = 1.0, .t_end = 1.0, .exact = exact_42},
    {.name = "4.3", .force = square_force, .floor = true, .t_end = 1.0, .exact = exact_43},
    {.name = "4.4",
     .force = steady_force,
     .floor = true,
     .restitution = 0.5,
     .q0 = 1.0,
     .t_end = 4.0,
     .exact = exact_44,
     .jump = jump_44,
     .jumps = BOUNCES + 1},
    {.name = "4.2s", .force = cosine_force, .q0 = 1.0, .t_end = 1.0, .exact = exact_42s},
    {.name = "4.3s", .force = pressing_force, .floor = true, .t_end = 1.0, .exact = exact_43s},
    {.name = "take-off",
     .force = cosine_force,
     .floor = true,
     .t_end = 0.9,
     .exact = exact_take_off,
     .jump = jump_take_off,
     .jumps = 1},
};

const dg_ball* dg_ball_find(const char* name) {
  for (size_t i = 0; i < sizeof balls / sizeof balls[0]; i++) {
    if (strcmp(balls[i].name, name) == 0) {
      return &balls[i];
    }
  }
  return NULL;
}

/* ---- system ------------------------------------------------------------------------------------ */

static void unit_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void timed_force(const void* self, const saltus_point* at, double* F) {
  const dg_ball* ball = self;
  F[0] = ball->force(at->t);
}

static saltus_status floor_gap(const void* self, const saltus_point* at,
                               saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void floor_row(const void* self, const saltus_point* at, uint64_t identity,
                      saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static saltus_system ball_system(const dg_ball* ball, const saltus_contact_law* law) {
  static const saltus_system_ops ops = {
      .mass = unit_mass, .force = timed_force, .contacts = floor_gap, .contact = floor_row};
  return (saltus_system){.ops = &ops,
                         .self = ball,
                         .dims = {.nq = 1, .nv = 1, .nc = ball->floor ? 1 : 0},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = law,
                         .law_count = ball->floor ? 1 : 0};
}

/* ---- measuring --------------------------------------------------------------------------------- */

/* Gauss' rule with 12 points on [-1, 1], positive half. */
static const double gauss_x[6] = {0.1252334085114689, 0.3678314989981802, 0.5873179542866175,
                                  0.7699026741943047, 0.9041172563704749, 0.9815606342467193};
static const double gauss_w[6] = {0.2491470458134028, 0.2334925365383548, 0.2031674267230659,
                                  0.1600783285433462, 0.1069393259953184, 0.0471753363865118};

/* The step just taken. */
typedef struct stepped {
  const dg_ball* ball;
  saltus_scheme* scheme;
  bool dense;
  double t, h;
  double before[2], after[2]; /* q, v */
  double given;               /* N s up to its start */
} stepped;

/* q, v, i inside the step; a scheme without dense output: linear, and the interaction so far. */
static saltus_status inside(const stepped* s, double t, double x[3]) {
  if (!s->dense) {
    double part = (t - s->t) / s->h;
    x[0] = s->before[0] + part * (s->after[0] - s->before[0]);
    x[1] = s->before[1] + part * (s->after[1] - s->before[1]);
    x[2] = s->given;
    return SALTUS_OK;
  }
  saltus_status status = saltus_scheme_dense(s->scheme, t, SALTUS_RIGHT, &x[0], &x[1]);
  x[2] = s->given;
  if (status == SALTUS_OK && s->ball->floor) {
    saltus_contact_inside contact;
    status = saltus_scheme_dense_contact(s->scheme, t, SALTUS_RIGHT, 0, &contact);
    x[2] += contact.lasting[0] + contact.impulse[0];
  }
  return status;
}

static saltus_status add_piece(const stepped* s, double from, double to, dg_errors* errors) {
  for (int k = 0; k < 12; k++) {
    double side = k < 6 ? -1.0 : 1.0;
    double t = from + 0.5 * (to - from) * (1.0 + side * gauss_x[k % 6]);
    double weight = 0.5 * (to - from) * gauss_w[k % 6];
    double x[3];
    double exact[3];
    saltus_status status = inside(s, t, x);
    if (status != SALTUS_OK) {
      return status;
    }
    s->ball->exact(t, exact);
    errors->q += weight * fabs(x[0] - exact[0]);
    errors->v += weight * fabs(x[1] - exact[1]);
    errors->i += weight * fabs(x[2] - exact[2]);
  }
  return SALTUS_OK;
}

static saltus_status add_step(const stepped* s, dg_errors* errors) {
  double from = s->t;
  double end = s->t + s->h;
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < s->ball->jumps && status == SALTUS_OK; k++) {
    double cut = s->ball->jump(k);
    if (cut > from && cut < end) {
      status = add_piece(s, from, cut, errors);
      from = cut;
    }
  }
  return status == SALTUS_OK ? add_piece(s, from, end, errors) : status;
}

/* Least and largest contact force of the last step. */
static void look_at_forces(const stepped* s, dg_errors* errors) {
  enum { POINTS = 33 };
  errors->least_force = INFINITY;
  errors->largest_force = -INFINITY;
  for (int k = 0; k <= POINTS && s->dense && s->ball->floor; k++) {
    saltus_contact_inside contact;
    double t = s->t + k * s->h / POINTS;
    if (saltus_scheme_dense_contact(s->scheme, t, SALTUS_LEFT, 0, &contact) == SALTUS_OK) {
      errors->least_force = fmin(errors->least_force, contact.force[0]);
      errors->largest_force = fmax(errors->largest_force, contact.force[0]);
    }
  }
}

saltus_status dg_ball_measure(const dg_ball* ball, const char* scheme, const void* options,
                              int steps, saltus_log log, dg_errors* errors) {
  const saltus_contact_law law = {.name = "floor", .e_N = ball->restitution};
  const saltus_system system = ball_system(ball, &law);
  const saltus_scheme_def def = {
      .scheme = scheme, .options = options, .system = &system, .log = log};
  stepped s = {.ball = ball, .h = ball->t_end / steps, .after = {ball->q0, 0.0}};
  *errors = (dg_errors){0};
  saltus_status status = saltus_scheme_create(&def, &s.scheme);
  if (status != SALTUS_OK) {
    return status;
  }
  s.dense = saltus_scheme_find(scheme)->dense;
  for (int i = 0; i < steps && status == SALTUS_OK; i++) {
    s.t = i * s.h;
    memcpy(s.before, s.after, sizeof s.before);
    saltus_state x = {s.t, &s.after[0], &s.after[1]};
    saltus_step_report report;
    status = saltus_scheme_step(s.scheme, s.h, &x, &report);
    if (status == SALTUS_OK) {
      status = add_step(&s, errors);
    }
    if (status == SALTUS_OK && report.active > 0) {
      s.given += report.contacts[0].impulse[0];
      errors->impacts += report.contacts[0].impact ? 1 : 0;
    }
  }
  look_at_forces(&s, errors);
  double exact[3];
  ball->exact(ball->t_end, exact);
  errors->q_last = s.after[0];
  errors->v_last = s.after[1];
  errors->q_end = fabs(s.after[0] - exact[0]);
  errors->v_end = fabs(s.after[1] - exact[1]);
  errors->work = saltus_scheme_work(s.scheme);
  saltus_scheme_destroy(s.scheme);
  return status;
}
