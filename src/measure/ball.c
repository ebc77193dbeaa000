/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ball.c - the bouncing ball, Acary 2009, (10).
 *
 *   v' = -2 + lambda,  q >= 0,  e = 1/2,  q(0) = 1,  v(0) = 0
 *   impacts            t_n = 3 - 2^(1-n), v+ = 2^-n, n = 0, 1, 2, ..., rest from t = 3
 *   t_n <= t < t_n+1   q = (s - x)(2x - s),  v = 2s - 3x,  s = 3 - t,  x = 2^-n
 *
 * The factors are exact differences, so there is no cancellation near the accumulation. Every t_n that differs from 3
 * is a double; n up to 52 lists them all and the search in the list is exact.
 */
#include "measure/motion_family.h"
#include "measure/system_parts.h"

#include <assert.h>
#include <math.h>

enum { LAST_FLIGHT = 52 }; /* 3 - 2^-51 is the largest double below 3 */

static const double force_on_ball = -2.0; /* N */
static const double rest_time = 3.0;      /* s */

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  F[0] = force_on_ball;
}

static double potential(const void* self, const saltus_point* at) {
  (void)self;
  return -force_on_ball * at->q[0];
}

void saltusi_ball_segments(saltus_known_motion* problem) {
  assert(problem != NULL);
  saltusi_motion_push(problem, (saltusi_flight_segment){0.0, 1.0, 0.0, false});
  for (int n = 0; n <= LAST_FLIGHT; n++) {
    double x = ldexp(1.0, -n);
    saltusi_motion_push(problem, (saltusi_flight_segment){rest_time - 2.0 * x, 0.0, x, true});
  }
  saltusi_motion_push(problem, (saltusi_flight_segment){rest_time, 0.0, 0.0, false});
  problem->rest = rest_time;
}

void saltusi_ball_at(const saltusi_flight_segment* piece, double t, double x[2]) {
  assert(piece != NULL && x != NULL);
  if (piece->t >= rest_time) {
    x[0] = x[1] = 0.0;
  } else if (piece->t == 0.0) {
    x[0] = (1.0 - t) * (1.0 + t);
    x[1] = -2.0 * t;
  } else {
    double s = rest_time - t;
    x[0] = (s - piece->v) * (2.0 * piece->v - s);
    x[1] = 2.0 * s - 3.0 * piece->v;
  }
}

static void setup(saltus_known_motion* problem) {
  problem->q0[0] = 1.0;
  problem->v0[0] = 0.0;
  saltusi_ball_segments(problem);
}

static void at(const saltus_known_motion* problem, const saltusi_flight_segment* piece, double t,
               int coordinate, double x[2]) {
  (void)problem;
  (void)coordinate;
  saltusi_ball_at(piece, t, x);
}

static bool curved(const saltus_known_motion* problem, int coordinate, int which) {
  (void)problem;
  (void)coordinate;
  return which == 0;
}

static const saltus_system_ops ops = {
    SALTUSI_UNIT_MASSES, .force = force,         SALTUSI_ON_FLOOR,
    SALTUSI_FREE_FORCES, .potential = potential, .power = saltusi_no_power,
};

const saltusi_motion_family saltusi_motion_ball = {
    .info = {.name = "ball",
             .summary = "bouncing ball v' = -2, e = 1/2, q0 = 1 m; impacts accumulate at 3 s",
             .source = "Acary, RR-7151 (2009), example 1",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    .ops = &ops,
    SALTUSI_BOUNCING_BALLS,
    .dims = saltusi_floor_dims,
    .contact_name = saltusi_floor_name,
    .piece_capacity = SALTUSI_BALL_PIECES,
    .setup = setup,
    .at = at,
    .curved = curved,
};
