/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * oscillator.c - a damped linear oscillator against a stop, Acary 2009, (11), and a preloaded one.
 *
 *   v' = f0 - c v - k q + lambda,  q >= 0,  q(0) = 1,  v(0) = 0,  k = (2 pi)^2
 *
 * With z = c/2, w0^2 = k, w^2 = w0^2 - z^2 and the responses to an impulse and to a step,
 *
 *   psi = e^(-z s) sin(w s) / w
 *   phi = integral of psi = (1 - e^(-z s) (cos w s + z/w sin w s)) / w0^2
 *
 * a flight from (q, v) is  q + v psi + b phi  with  b = f0 - k q. For short times phi is evaluated by its power
 * series; flights of 1e-15 s are then as accurate as long ones.
 *
 * Without preload impacts are half a period pi/w apart. With f0 < 0 they accumulate; the flight times are summed with
 * compensation until they are below rounding; the rest is a geometric series.
 */
#include "measure/falling_root.h"
#include "measure/motion_family.h"
#include "measure/system_parts.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef struct oscillator_parameters {
  double c;  /* N s/m */
  double f0; /* N, <= 0 */
} oscillator_parameters;

/* Stiffness (2 pi)^2 N/m: the free oscillator has period 1 s. */
static double stiffness(void) {
  return 4.0 * pi * pi;
}

static const oscillator_parameters* data_of(const void* self) {
  return (const oscillator_parameters*)((const saltus_known_motion*)self)->family->data;
}

/* ---- system ------------------------------------------------------------------------------ */

static void force(const void* self, const saltus_point* at, double* F) {
  const oscillator_parameters* p = data_of(self);
  F[0] = p->f0 - p->c * at->v[0] - stiffness() * at->q[0];
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  (void)self;
  (void)at;
  F_q[0] = -stiffness();
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  (void)at;
  F_v[0] = -data_of(self)->c;
}

static double potential(const void* self, const saltus_point* at) {
  return (0.5 * stiffness() * at->q[0] - data_of(self)->f0) * at->q[0];
}

/* Power of the damper. */
static void power(const void* self, const saltus_point* at, double out[2]) {
  out[0] = -data_of(self)->c * at->v[0] * at->v[0];
  out[1] = 0.0;
}

static const saltus_system_ops ops = {
    SALTUSI_UNIT_MASSES, .force = force,         SALTUSI_ON_FLOOR, .force_q = force_q,
    .force_v = force_v,  .potential = potential, .power = power,
};

/* ---- motion ------------------------------------------------------------------------------ */

typedef struct oscillator_flight {
  double z, w; /* 1/s */
  double q, v; /* at the start */
  double b;    /* m/s^2, acceleration at the start without damping */
} oscillator_flight;

static oscillator_flight flight_from(const oscillator_parameters* p, double q, double v) {
  double z = 0.5 * p->c;
  return (oscillator_flight){z, sqrt(stiffness() - z * z), q, v, p->f0 - stiffness() * q};
}

/* phi by psi'' = -2 z psi' - w0^2 psi: with psi = sum a_k s^k, phi = sum a_k s^(k+1) / (k+1). */
static double step_response_series(double z, double s) {
  double a0 = 0.0; /* a_k s^k */
  double a1 = s;   /* a_(k+1) s^(k+1) */
  double sum = 0.0;
  for (int k = 0; k < 24; k++) {
    sum += a1 * s / (k + 2);
    double a2 = -(2.0 * z * (k + 1) * a1 * s + stiffness() * a0 * s * s) / ((k + 2) * (k + 1));
    a0 = a1;
    a1 = a2;
  }
  return sum;
}

static void fly(const void* data, double s, double x[2]) {
  const oscillator_flight* f = data;
  double decay = exp(-f->z * s);
  double sine = sin(f->w * s);
  double cosine = cos(f->w * s);
  double psi = decay * sine / f->w;
  double rate = decay * (cosine - f->z / f->w * sine);
  double phi = f->w * s < 0.5 ? step_response_series(f->z, s)
                              : (1.0 - decay * (cosine + f->z / f->w * sine)) / stiffness();
  x[0] = f->q + f->v * psi + f->b * phi;
  x[1] = f->v * rate + f->b * psi;
}

/* Time from the start of the flight to its end at q = 0. */
static double flight_time(const oscillator_parameters* p, const oscillator_flight* f) {
  if (p->f0 == 0.0) {
    return f->q == 0.0 ? pi / f->w : (0.5 * pi + atan(f->z / f->w)) / f->w;
  }
  /* the apex, and half a period later, when the flight has ended */
  double apex = atan2(f->v * f->w, f->v * f->z - f->b) / f->w;
  return saltusi_falling_root(fly, f, apex, apex + pi / f->w, f->q == 0.0 ? 2.0 * apex : 0.0);
}

/* Impacts without preload continue for ever; they are listed for this long. */
static const double horizon = 100.0; /* s */
/* Flights from slower rebounds last 1e-15 s, about the spacing of doubles at t_acc. */
static const double slowest = 1e-14; /* m/s */

static void list_periodic(saltus_known_motion* problem, const oscillator_parameters* p) {
  double e = problem->family->restitution;
  oscillator_flight f = flight_from(p, 1.0, 0.0);
  double first = flight_time(p, &f);
  double period = pi / f.w;
  double t = first;
  double s = first;
  for (int n = 1; t <= horizon; n++) {
    double x[2];
    fly(&f, s, x);
    f = flight_from(p, 0.0, -e * x[1]);
    saltusi_motion_push(problem, (saltusi_flight_segment){t, 0.0, f.v, true});
    s = period;
    t = first + n * period;
  }
  problem->known_until = t;
}

static void list_accumulating(saltus_known_motion* problem, const oscillator_parameters* p) {
  double e = problem->family->restitution;
  oscillator_flight f = flight_from(p, 1.0, 0.0);
  double t = 0.0;
  double lost = 0.0; /* rounding error of t */
  do {
    double s = flight_time(p, &f);
    double x[2];
    fly(&f, s, x);
    double sum = t + (s + lost);
    lost = (s + lost) - (sum - t);
    t = sum;
    f = flight_from(p, 0.0, -e * x[1]);
    if (f.v > slowest) {
      saltusi_motion_push(problem, (saltusi_flight_segment){t, 0.0, f.v, true});
    }
  } while (f.v > 1e-4 * slowest);
  double tail = 2.0 * f.v / -p->f0 / (1.0 - e);
  problem->rest = t + (tail + lost);
  saltusi_motion_push(problem, (saltusi_flight_segment){problem->rest, 0.0, 0.0, false});
}

static void setup(saltus_known_motion* problem) {
  const oscillator_parameters* p = data_of(problem);
  problem->q0[0] = 1.0;
  problem->v0[0] = 0.0;
  saltusi_motion_push(problem, (saltusi_flight_segment){0.0, 1.0, 0.0, false});
  if (p->f0 == 0.0) {
    list_periodic(problem, p);
  } else {
    list_accumulating(problem, p);
  }
}

static void at(const saltus_known_motion* problem, const saltusi_flight_segment* piece, double t,
               int coordinate, double x[2]) {
  (void)coordinate;
  if (piece->t >= problem->rest) {
    x[0] = x[1] = 0.0;
    return;
  }
  oscillator_flight f = flight_from(data_of(problem), piece->q, piece->v);
  fly(&f, t - piece->t, x);
}

static bool curved(const saltus_known_motion* problem, int coordinate, int which) {
  (void)problem;
  (void)coordinate;
  (void)which;
  return true;
}

/* ---- families ---------------------------------------------------------------------------- */

static const oscillator_parameters undamped = {.c = 0.0, .f0 = 0.0};
static const oscillator_parameters damped = {.c = 0.1, .f0 = 0.0};
static const oscillator_parameters preloaded = {.c = 0.5, .f0 = -20.0};

/* Common part of the three families. */
#define OSCILLATOR                                                                                 \
  .ops = &ops, .traits = SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE | SALTUS_CONSTANT_NORMALS,     \
  .q_unit = "m", .v_unit = "m/s", .dims = saltusi_floor_dims, .contact_name = saltusi_floor_name,  \
  .piece_capacity = 256, .setup = setup, .at = at, .curved = curved

const saltusi_motion_family saltusi_motion_oscillator = {
    .info = {.name = "oscillator",
             .summary = "oscillator v' = -(2 pi)^2 q at a stop, e = 0.8, q0 = 1 m",
             .source = "Acary, RR-7151 (2009), example 2",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    .data = &undamped,
    .restitution = 0.8,
    OSCILLATOR,
};

const saltusi_motion_family saltusi_motion_oscillator_damped = {
    .info = {.name = "oscillator-damped",
             .summary = "oscillator v' = -(2 pi)^2 q - 0.1 v at a stop, e = 0.5, q0 = 1 m",
             .source = "Acary, RR-7151 (2009), example 2",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    .data = &damped,
    .restitution = 0.5,
    OSCILLATOR,
};

const saltusi_motion_family saltusi_motion_oscillator_preload = {
    .info = {.name = "oscillator-preload",
             .summary = "oscillator v' = -20 - (2 pi)^2 q - 0.5 v at a stop, e = 0.5, q0 = 1 m; "
                        "impacts accumulate at 0.859 s",
             .source = "Acary, RR-7151 (2009), example 2 with a constant force added",
             .t_end = 5.0,
             .known = SALTUS_KNOWN_EXACT},
    .data = &preloaded,
    .restitution = 0.5,
    OSCILLATOR,
};
