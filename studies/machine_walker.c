/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * machine_walker.c - passive walkers: the simplest one as its feet lose their mass, and one with a torso on a bisecting
 * hip beside an integrator with the stance foot as a hinge.
 */
#include "machine_run.h"
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct stride {
  double angle, rate; /* of the new leg, just behind its strike */
  double swing;       /* rate of the other one */
  double time;        /* s, of the last step */
  int strikes;
} stride;

static machine_run prepare(const char* scene, const char* parameters, double tol, double until) {
  return (machine_run){.scene = scene,
                       .text = potra_scene_text(scene),
                       .parameters = parameters,
                       .scheme = "adaptive",
                       .tol = tol,
                       .until = until,
                       .least = 1e-3,
                       .log = cli_log()};
}

/* Walks `steps` steps and looks just behind the last strike. */
static saltus_status walk(study_report* report, const char* scene, const char* parameters,
                          int steps, stride* out) {
  const double behind = 1e-9, tol = 1e-11;
  machine_run first = prepare(scene, parameters, tol, 4.1 * steps);
  saltus_status status = machine_go(&first);
  if (status == SALTUS_OK) {
    study_note_run(report, first.steps, first.work);
  }
  const saltus_event* last =
      status == SALTUS_OK ? machine_event(&first, SALTUS_EVENT_IMPACT, NULL, steps) : NULL;
  const saltus_event* before = steps > 1 && last != NULL
                                   ? machine_event(&first, SALTUS_EVENT_IMPACT, NULL, steps - 1)
                                   : NULL;
  if (last == NULL) {
    machine_free(&first);
    return status != SALTUS_OK ? status : SALTUS_ERR_INPUT;
  }
  const bool second = last->law == 1;
  const double t = last->t;
  out->time = t - (before != NULL ? before->t : 0.0);
  machine_run run = prepare(scene, parameters, tol, t + behind);
  status = machine_go(&run);
  out->rate = machine_value(&run, second ? "leg2'" : "leg1'");
  out->swing = machine_value(&run, second ? "leg1'" : "leg2'");
  out->angle = machine_value(&run, second ? "leg2" : "leg1") - behind * out->rate;
  out->strikes = 0;
  for (int i = 0; i < run.event_count; i++) {
    out->strikes += run.events[i].kind == SALTUS_EVENT_IMPACT;
  }
  machine_free(&first);
  machine_free(&run);
  return status;
}

/* Eigenvalues of the return map (angle, rate) -> (angle, rate) over one step, by central differences. */
static saltus_status multipliers(study_report* report, double b, const stride* at, double* real,
                                 double* imaginary) {
  const double d = 1e-5;
  double J[2][2];
  for (int k = 0; k < 2; k++) {
    stride side[2];
    for (int s = 0; s < 2; s++) {
      char parameters[160];
      const double move = s == 0 ? d : -d;
      snprintf(parameters, sizeof parameters, "b=%.17g th=%.17g w=%.17g", b,
               at->angle + (k == 0 ? move : 0.0), at->rate + (k == 1 ? move : 0.0));
      const saltus_status status = walk(report, "machine-walker", parameters, 1, &side[s]);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    J[0][k] = (side[0].angle - side[1].angle) / (2.0 * d);
    J[1][k] = (side[0].rate - side[1].rate) / (2.0 * d);
  }
  const double half = 0.5 * (J[0][0] + J[1][1]);
  const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
  *real = half;
  *imaginary = sqrt(fmax(0.0, det - half * half));
  return SALTUS_OK;
}

static int run_walker(const cli_args* args, study_report* report) {
  (void)args;
  enum { MASSES = 3, STEPS = 40 };
  const double angle = 0.2003109, rate = -0.1998325, time = 3.882464; /* 7 digits are printed */
  double b[MASSES], e_angle[MASSES], e_rate[MASSES], real[MASSES], imaginary[MASSES];
  stride at[MASSES];
  char id[128];
  for (int i = 0; i < MASSES; i++) {
    char parameters[64];
    b[i] = pow(10.0, -2 - i);
    snprintf(parameters, sizeof parameters, "b=%.17g", b[i]);
    saltus_status status = walk(report, "machine-walker", parameters, STEPS, &at[i]);
    status =
        status == SALTUS_OK ? multipliers(report, b[i], &at[i], &real[i], &imaginary[i]) : status;
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    e_angle[i] = fabs(at[i].angle - angle);
    e_rate[i] = fabs(at[i].rate - rate);
    snprintf(id, sizeof id, "feet of %.0e: angle of the fixed point, distance over mass", b[i]);
    study_claim_most(report, id, e_angle[i] / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: its rate, distance over mass", b[i]);
    study_claim_most(report, id, e_rate[i] / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: time of a step, distance over mass", b[i]);
    study_claim_most(report, id, fabs(at[i].time - time) / b[i], 1.0);
    snprintf(id, sizeof id, "feet of %.0e: multiplier, distance", b[i]);
    study_claim_most(report, id, hypot(real[i] + 0.1901, imaginary[i] - 0.5576),
                     20.0 * b[i] + 2e-4);
    snprintf(id, sizeof id, "feet of %.0e: strikes in %d steps", b[i], (int)STEPS);
    study_claim_range(report, id, at[i].strikes, STEPS, STEPS);
  }
  study_add_series(report, "fixed point", MASSES, b, e_angle, e_rate);
  report->x_label = "mass of a foot over that of the hip";
  report->first_label = "angle [rad]";
  report->second_label = "rate [rad/s]";
  /* linear in the mass: what the last two lead to */
  study_claim_near(report, "angle, extrapolated", at[2].angle + (at[2].angle - at[1].angle) / 9.0,
                   angle, 1e-6);
  study_claim_near(report, "rate, extrapolated", at[2].rate + (at[2].rate - at[1].rate) / 9.0, rate,
                   1e-6);
  /* four digits are printed */
  study_claim_near(report, "real part of the multipliers, extrapolated",
                   real[2] + (real[2] - real[1]) / 9.0, -0.1901, 1e-3);
  study_claim_near(report, "imaginary part of the multipliers, extrapolated",
                   imaginary[2] + (imaginary[2] - imaginary[1]) / 9.0, 0.5576, 5e-4);
  study_claim_near(report, "time of a step, extrapolated",
                   at[2].time + (at[2].time - at[1].time) / 9.0, time, 1e-6);
  return CLI_DONE;
}

/* ---- a torso on a bisecting hip ---- */

/* Legs of length 1 on a slope, by angles a of the stance leg and c of the swing leg; the stance foot is a hinge. Point
 * masses: 1 at the hip, b at the swing foot, m at the distance l above the hip in the direction p = (a + c)/2. g = 1. */
static const double slope = 0.009, b_foot = 0.01, m_torso = 0.3, l_torso = 0.2, k_hip = 0.024;

/* y = (a, c, a', c'); dy its rate, from M q'' = sum of m J^T (g - J' q'). */
static void rate(const double* y, double* dy) {
  const double a = y[0], c = y[1], p = 0.5 * (a + c), w = y[2], u = y[3], r = 0.5 * (w + u);
  const struct {
    double mass, jx[2], jy[2], ax, ay;
  } points[] = {{1.0, {-cos(a), 0.0}, {-sin(a), 0.0}, sin(a) * w * w, -cos(a) * w * w},
                {b_foot,
                 {-cos(a), cos(c)},
                 {-sin(a), sin(c)},
                 sin(a) * w * w - sin(c) * u * u,
                 -cos(a) * w * w + cos(c) * u * u},
                {m_torso,
                 {-cos(a) - 0.5 * l_torso * cos(p), -0.5 * l_torso * cos(p)},
                 {-sin(a) - 0.5 * l_torso * sin(p), -0.5 * l_torso * sin(p)},
                 sin(a) * w * w + l_torso * sin(p) * r * r,
                 -cos(a) * w * w - l_torso * cos(p) * r * r}};
  double M[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  double f[2] = {-k_hip * (a - c), k_hip * (a - c)};
  for (int k = 0; k < 3; k++) {
    const double* jx = points[k].jx;
    const double* jy = points[k].jy;
    for (int i = 0; i < 2; i++) {
      f[i] += points[k].mass *
              (jx[i] * (sin(slope) - points[k].ax) + jy[i] * (-cos(slope) - points[k].ay));
      for (int j = 0; j < 2; j++) {
        M[i][j] += points[k].mass * (jx[i] * jx[j] + jy[i] * jy[j]);
      }
    }
  }
  const double det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
  dy[0] = w;
  dy[1] = u;
  dy[2] = (f[0] * M[1][1] - f[1] * M[0][1]) / det;
  dy[3] = (f[1] * M[0][0] - f[0] * M[1][0]) / det;
}

/* The classical Runge-Kutta method. */
static void advance(const double* y, double h, double* out) {
  double k[4][4], at[4];
  rate(y, k[0]);
  for (int s = 1; s < 4; s++) {
    for (int i = 0; i < 4; i++) {
      at[i] = y[i] + (s == 3 ? h : 0.5 * h) * k[s - 1][i];
    }
    rate(at, k[s]);
  }
  for (int i = 0; i < 4; i++) {
    out[i] = y[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
  }
}

/* Strike of the swing foot, without rebound, while the other foot is free: the angular momentum of all masses about the
 * new foot is kept, and that of the leg that leaves, with its part of the torso, about the hip. */
static void strike(double* y) {
  const double a = y[0], c = y[1], p = 0.5 * (a + c), w = y[2], u = y[3], r = 0.5 * (w + u);
  const double hip[2] = {-sin(c), cos(c)}; /* from the new foot, as all places below */
  const double places[3][2] = {{hip[0], hip[1]},
                               {hip[0] + sin(a), hip[1] - cos(a)},
                               {hip[0] - l_torso * sin(p), hip[1] + l_torso * cos(p)}};
  const double arms[3][2] = {
      {0.0, 0.0}, {sin(a), -cos(a)}, {-l_torso * sin(p), l_torso * cos(p)}}; /* from the hip */
  const double masses[3] = {1.0, b_foot, m_torso};
  double want[2] = {0.0, 0.0}, K[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
  for (int k = 0; k < 3; k++) {
    /* velocities: before, and after by unit rates of the old leg and of the new one */
    const double turns[3][3] = {{0.0, w, r}, {0.0, 1.0, 0.5}, {0.0, 0.0, 0.5}};
    const double hips[3][2] = {{-cos(a) * w, -sin(a) * w}, {0.0, 0.0}, {-hip[1], hip[0]}};
    const double part = k == 0 ? 0.0 : k == 1 ? 1.0 : 0.5;
    for (int s = 0; s < 3; s++) {
      const double vx = hips[s][0] - arms[k][1] * turns[s][k];
      const double vy = hips[s][1] + arms[k][0] * turns[s][k];
      const double whole = masses[k] * (places[k][0] * vy - places[k][1] * vx);
      const double leg = part * masses[k] * (arms[k][0] * vy - arms[k][1] * vx);
      *(s == 0 ? &want[0] : &K[0][s - 1]) += whole;
      *(s == 0 ? &want[1] : &K[1][s - 1]) += leg;
    }
  }
  const double det = K[0][0] * K[1][1] - K[0][1] * K[1][0];
  const double old = (want[0] * K[1][1] - want[1] * K[0][1]) / det;
  const double fresh = (want[1] * K[0][0] - want[0] * K[1][0]) / det;
  const double out[4] = {c, a, fresh, old};
  memcpy(y, out, sizeof out);
}

/* One step by the reference: z = (angle, rate, rate of the other leg) just behind a strike, in and out. */
static double reference(double* z) {
  const double h = 5e-3;
  double y[4] = {z[0], -z[0], z[1], z[2]}, next[4];
  double t = 0.0;
  for (;; t += h) {
    advance(y, h, next);
    if (t > 0.5 && next[1] > 0.1 && cos(next[0]) < cos(next[1])) {
      break;
    }
    memcpy(y, next, sizeof next);
  }
  double low = 0.0, high = h;
  for (int k = 0; k < 60; k++) {
    const double middle = 0.5 * (low + high);
    advance(y, middle, next);
    *(cos(next[0]) < cos(next[1]) ? &high : &low) = middle;
  }
  strike(next);
  z[0] = next[0];
  z[1] = next[2];
  z[2] = next[3];
  return t + 0.5 * (low + high);
}

static int run_torso(const cli_args* args, study_report* report) {
  (void)args;
  enum { STEPS = 60 };
  char parameters[160], id[128];
  /* single steps, on the gait and beside it */
  static const double starts[][3] = {
      {0.2, -0.2, -0.24}, {0.19, -0.2, -0.24}, {0.2, -0.21, -0.24}, {0.2, -0.2, -0.2}};
  for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++) {
    double z[3] = {starts[k][0], starts[k][1], starts[k][2]};
    snprintf(parameters, sizeof parameters, "th=%.17g w=%.17g u=%.17g", z[0], z[1], z[2]);
    stride at;
    const saltus_status status = walk(report, "machine-walker-torso", parameters, 1, &at);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    const double time = reference(z);
    const double off = fmax(fmax(fabs(at.angle - z[0]), fabs(at.rate - z[1])),
                            fmax(fabs(at.swing - z[2]), fabs(at.time - time)));
    snprintf(id, sizeof id, "one step from %g rad, %g and %g rad/s: distance", starts[k][0],
             starts[k][1], starts[k][2]);
    study_claim_error(report, id, off, 1e-8);
  }
  stride gait;
  const saltus_status status = walk(report, "machine-walker-torso", NULL, STEPS, &gait);
  if (status != SALTUS_OK) {
    return cli_exit_code(status);
  }
  double z[3] = {0.2, -0.2, -0.24}, time = 0.0;
  for (int k = 0; k < STEPS; k++) {
    time = reference(z);
  }
  study_claim_range(report, "strikes", gait.strikes, STEPS, STEPS);
  study_claim_near(report, "angle of the periodic gait", gait.angle, z[0], 1e-8);
  study_claim_near(report, "its rate", gait.rate, z[1], 1e-8);
  study_claim_near(report, "rate of the other leg", gait.swing, z[2], 1e-8);
  study_claim_near(report, "time of a step", gait.time, time, 1e-8);
  return CLI_DONE;
}

const study study_machine_walker = {
    "machine-walker",
    "the simplest walker as its feet lose their mass",
    "Garcia, Chatterjee, Ruina, Coleman, J. Biomech. Eng. 120 (1998)",
    false,
    run_walker,
    NULL};
const study study_machine_torso = {
    "machine-walker-torso",
    "a walker with a torso on a bisecting hip: steps and the periodic gait",
    "an integrator with the stance foot as a hinge; Wisse, Schwab, van der Helm, Robotica 22 "
    "(2004)",
    false,
    run_torso,
    NULL};
