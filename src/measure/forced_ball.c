/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * forced_ball.c - a ball on the floor, lifted off by a growing force.
 *
 *   v' = -2 + 4 sin(pi t) + lambda,  q >= 0,  e = 1/2,  q(0) = v(0) = 0
 *
 * It rests until the total force changes sign at t = 1/6. A flight from (t0, 0, v0) is, with s = t - t0, a0 = -2 + 4
 * sin(pi t0), x = pi s,
 *
 *   v = v0 + a0 s + 4/pi   [cos(pi t0) (1 - cos x) - sin(pi t0) (x - sin x)]
 *   q = v0 s + a0 s^2/2 + 4/pi^2 [cos(pi t0) (x - sin x) - sin(pi t0) (x^2/2 - 1 + cos x)]
 *
 * where the brackets are of third and fourth order in s and are computed as such.
 */
#include "measure/falling_root.h"
#include "measure/motion_family.h"
#include "measure/system_parts.h"

#include <math.h>

static const double pi = 3.14159265358979323846;
static const double steady = -2.0;        /* N */
static const double swing = 4.0;          /* N */
static const double lift_off = 1.0 / 6.0; /* s, steady + swing sin(pi t) = 0 */
static const double usual_end = 5.0;      /* s */
static const double scan = 1.0 / 256.0;   /* s, far below the shortest flight up to usual_end */
static const saltusi_flight_segment at_rest = {0.0, 0.0, 0.0, false};

/* ---- system ------------------------------------------------------------------------------ */

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  F[0] = steady + swing * sin(pi * at->t);
}

/* Potential of the constant part; the rest of the force is external. */
static double potential(const void* self, const saltus_point* at) {
  (void)self;
  return -steady * at->q[0];
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  (void)self;
  out[0] = swing * sin(pi * at->t) * at->v[0];
  out[1] = 0.0;
}

static const saltus_system_ops ops = {
    SALTUSI_UNIT_MASSES, .force = force,         SALTUSI_ON_FLOOR,
    SALTUSI_FREE_FORCES, .potential = potential, .power = power,
};

/* ---- motion ------------------------------------------------------------------------------ */

/* x - sin x; below 1 by its series, since the difference suffers from cancellation. */
static double sine_rest(double x) {
  if (fabs(x) > 1.0) {
    return x - sin(x);
  }
  double term = x * x * x / 6.0;
  double sum = 0.0;
  for (int k = 4; k < 24; k += 2) {
    sum += term;
    term *= -x * x / (k * (k + 1));
  }
  return sum;
}

/* x^2/2 - 1 + cos x = 2 (y^2 - sin^2 y) with y = x/2 */
static double cosine_rest(double x) {
  double y = 0.5 * x;
  return 2.0 * sine_rest(y) * (y + sin(y));
}

static void fly(const void* data, double s, double x[2]) {
  const saltusi_flight_segment* piece = data;
  double sine = sin(pi * piece->t);
  double cosine = cos(pi * piece->t);
  double a0 = steady + swing * sine;
  double half = sin(0.5 * pi * s);
  double third = sine_rest(pi * s);
  x[0] = s * (piece->v + 0.5 * a0 * s) +
         swing / (pi * pi) * (cosine * third - sine * cosine_rest(pi * s));
  x[1] = piece->v + a0 * s + swing / pi * (cosine * 2.0 * half * half - sine * third);
}

/* Time of the next impact: scan to the first point below the floor, then refine. */
static double flight_time(const saltusi_flight_segment* piece) {
  double x[2];
  double s = scan;
  for (fly(piece, s, x); x[0] > 0.0; fly(piece, s, x)) {
    s += scan;
  }
  return saltusi_falling_root(fly, piece, s - scan, s, s - 0.5 * scan);
}

static void setup(saltus_known_motion* problem) {
  problem->q0[0] = 0.0;
  problem->v0[0] = 0.0;
  saltusi_motion_push(problem, at_rest);
  saltusi_flight_segment piece = {lift_off, 0.0, 0.0, false};
  while (piece.t <= usual_end) {
    saltusi_motion_push(problem, piece);
    double s = flight_time(&piece);
    double x[2];
    fly(&piece, s, x);
    piece = (saltusi_flight_segment){piece.t + s, 0.0, -problem->family->restitution * x[1], true};
  }
  problem->known_until = piece.t;
}

static void at(const saltus_known_motion* problem, const saltusi_flight_segment* piece, double t,
               int coordinate, double x[2]) {
  (void)problem;
  (void)coordinate;
  if (piece->t < lift_off) {
    x[0] = x[1] = 0.0;
    return;
  }
  fly(piece, t - piece->t, x);
}

static bool curved(const saltus_known_motion* problem, int coordinate, int which) {
  (void)problem;
  (void)coordinate;
  (void)which;
  return true;
}

const saltusi_motion_family saltusi_motion_forced_ball = {
    .info = {.name = "forced-ball",
             .summary = "ball v' = -2 + 4 sin(pi t), e = 1/2, at rest on the floor until 1/6 s",
             .source = "detachment test for event-capturing schemes (not in RR-7151)",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    .ops = &ops,
    SALTUSI_BOUNCING_BALLS,
    .dims = saltusi_floor_dims,
    .contact_name = saltusi_floor_name,
    .piece_capacity = 32,
    .setup = setup,
    .at = at,
    .curved = curved,
};
