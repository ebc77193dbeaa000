/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_stick_slip.c - Runge-Kutta methods that capture events keep their order through stick and slip.
 *
 *   incline      a block on an incline under a harmonic force slides, sticks and slides again, both ways; in closed form
 *                between events, whose times are roots
 *   oscillator   a block on a spring turns round with friction and sticks: cosines around +-mu N / k
 *   stop         a mass on a plane under a constant force f across its way, mu g = 2 f, comes to rest. With T = tan(phi/2)
 *                of the angle between velocity and force |v| = C T (1 + T^2) / 2, and at rest
 *                  x = C^2/4f (T0^2/2 - T0^6/6),   y = C^2/2f (T0^3/3 + T0^5/5),   t = C/2f (T0 + T0^3/3)
 *   turning      a mass on a plane under a force that turns and pulses: slips, sticks, slips in another direction;
 *                reference: adaptive with a tolerance of 1e-12
 */
#include "saltus/adaptive.h"
#include "saltus/scene.h"
#include "saltus/sim.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GRIDS = 4 };

/* ---- references ------------------------------------------------------------------------------ */

static const double pi = 3.14159265358979323846;
static const double incline_pull = 2.0, incline_swing = 6.0, incline_bound = 5.0;

/* Force without friction. */
static double incline_force(double t) {
  return incline_pull + incline_swing * cos(t);
}

typedef struct slide {
  double t, x, v, sense;
} slide;

static double slide_velocity(const slide* s, double t) {
  double a = incline_pull - s->sense * incline_bound;
  return s->v + a * (t - s->t) + incline_swing * (sin(t) - sin(s->t));
}

static double slide_position(const slide* s, double t) {
  double a = incline_pull - s->sense * incline_bound;
  double d = t - s->t;
  return s->x + s->v * d + 0.5 * a * d * d - incline_swing * (cos(t) - cos(s->t)) -
         incline_swing * sin(s->t) * d;
}

/* The first root after t of what is positive there, by steps far shorter than any phase and bisection. */
static double first_root(const slide* s, double t, double until, bool sticks) {
  const double step = 1e-3;
  for (double a = t + 1e-9; a < until; a += step) {
    double b = a + step;
    double f = sticks ? incline_bound - fabs(incline_force(b)) : s->sense * slide_velocity(s, b);
    if (f > 0.0) {
      continue;
    }
    for (int k = 0; k < 100 && a < 0.5 * (a + b) && 0.5 * (a + b) < b; k++) {
      double c = 0.5 * (a + b);
      f = sticks ? incline_bound - fabs(incline_force(c)) : s->sense * slide_velocity(s, c);
      *(f > 0.0 ? &a : &b) = c;
    }
    return b;
  }
  return INFINITY;
}

static void incline_exact(double until, double q[2]) {
  slide s = {.t = 0.0, .x = 0.0, .v = 0.5, .sense = 1.0};
  q[0] = q[1] = 0.0;
  for (;;) {
    double stop = first_root(&s, s.t, until, false);
    if (!(stop < until)) {
      q[0] = slide_position(&s, until);
      return;
    }
    s.x = slide_position(&s, stop);
    s.t = stop;
    s.v = 0.0;
    if (fabs(incline_force(s.t)) <= incline_bound) {
      s.t = first_root(&s, s.t, until, true);
      if (!(s.t < until)) {
        q[0] = s.x;
        return;
      }
    }
    s.sense = incline_force(s.t) > 0.0 ? 1.0 : -1.0;
  }
}

/* Half periods of cosines around +-0.04, then rest at -0.02. */
static void oscillator_exact(double until, double q[2]) {
  double x = 0.3;
  double half = pi / 10.0;
  q[1] = 0.0;
  while (fabs(x) > 0.04) {
    double centre = x > 0.0 ? 0.04 : -0.04;
    if (until < half) {
      q[0] = centre + (x - centre) * cos(10.0 * until);
      return;
    }
    x = 2.0 * centre - x;
    until -= half;
  }
  q[0] = x;
}

static void stop_exact(double until, double q[2]) {
  (void)until; /* at rest */
  const double f = 1.0;
  double T = tan(0.5 * 1.2);
  double C = 2.0 * 0.8 / (T * (1.0 + T * T));
  q[0] = C * C / (4.0 * f) * (0.5 * T * T - pow(T, 6.0) / 6.0);
  q[1] = C * C / (2.0 * f) * (T * T * T / 3.0 + pow(T, 5.0) / 5.0);
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static const char incline_text[] = "saltus: 1\n"
                                   "coordinates: {x: {start: 0, velocity: 0.5}, y: 0}\n"
                                   "kinetic: (x'^2 + y'^2)/2\n"
                                   "potential: 10*y - 2*x\n"
                                   "forces: {x: 6*cos(t)}\n"
                                   "contacts: [{name: floor, gap: y, slip: x, friction: 0.5}]\n";

static const char oscillator_text[] = "saltus: 1\n"
                                      "coordinates: {x: 0.3, y: 0}\n"
                                      "kinetic: (x'^2 + y'^2)/2\n"
                                      "potential: 50*x^2 + 10*y\n"
                                      "contacts: [{name: floor, gap: y, slip: x, friction: 0.4}]\n";

static const char stop_text[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0, velocity: 0.8*cos(1.2)}, y: {start: 0, velocity: 0.8*sin(1.2)}, "
    "z: 0}\n"
    "kinetic: (x'^2 + y'^2 + z'^2)/2\n"
    "potential: 10*z - x\n"
    "contacts: [{name: floor, gap: z, slip: x', slip2: y', friction: 0.2}]\n";

static const char turning_text[] =
    "saltus: 1\n"
    "coordinates: {x: {start: 0, velocity: 0.5}, y: {start: 0, velocity: 0.2}, z: 0}\n"
    "kinetic: (x'^2 + y'^2 + z'^2)/2\n"
    "potential: 10*z\n"
    "forces: {x: (2.5 + 1.5*sin(5*t))*cos(2*t), y: (2.5 + 1.5*sin(5*t))*sin(2*t)}\n"
    "contacts: [{name: floor, gap: z, slip: x', slip2: y', friction: 0.3}]\n";

typedef struct scene_case {
  const char *label, *text;
  void (*exact)(double until, double q[2]); /* NULL: by adaptive */
  double until;
  bool space;
  int coarsest; /* steps */
} scene_case;

static const scene_case scenes[] = {
    {"incline", incline_text, incline_exact, 12.0, false, 61},
    {"oscillator", oscillator_text, oscillator_exact, 0.75, false, 41},
    {"stop in space", stop_text, stop_exact, 1.5, true, 23},
    {"turning force", turning_text, NULL, 3.0, true, 60},
};

static saltus_status run_scene(const scene_case* c, const char* scheme, int steps, double q[2]) {
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = c->label, .text = c->text, .log = cli_log()};
  saltus_status status = saltus_scene_create(&made, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options tight = saltus_adaptive_options_default();
  tight.rtol = tight.atol = 1e-12;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = steps > 0 ? scheme : "adaptive",
                              .options = steps > 0 ? NULL : &tight,
                              .h = steps > 0 ? c->until / steps : 0.0,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .log = cli_log()};
  status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_OK) {
    status = steps > 0 ? saltus_sim_run(sim, steps) : saltus_sim_run_until(sim, c->until);
    memcpy(q, saltus_sim_q(sim), 2 * sizeof(double));
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return status;
}

/* ---- orders ----------------------------------------------------------------------------------- */

/* Least squares over those above what events at 64 roundings, and a reference at 1e-12, leave. */
static double slope(const double* h, const double* e, double floor) {
  double n = 0.0, sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (int k = 0; k < GRIDS; k++) {
    if (e[k] > floor) {
      double x = log(h[k]);
      double y = log(e[k]);
      n += 1.0, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
  }
  return n > 1.0 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : NAN;
}

typedef struct method_case {
  const char* name;
  int order;
  bool explicit_one;
} method_case;

/* Of every order implicit ones first. */
static const method_case methods[] = {
    {"radau-iia-1", 1, false}, {"explicit-euler", 1, true},  {"gauss-2", 2, false},
    {"midpoint", 2, true},     {"lobatto-iiia-2", 2, false}, {"radau-iia-3", 3, false},
    {"heun-3", 3, true},       {"herk-3", 3, true},          {"gauss-4", 4, false},
    {"rk4", 4, true},          {"hem-4", 4, true},           {"lobatto-iiia-4", 4, false},
    {"radau-iia-5", 5, false}, {"dopri5", 5, true},          {"rkf45", 5, true},
};

/* least [6]: error of the first implicit method of each order with the shortest step. */
static int run_method(study_report* report, const scene_case* c, const method_case* m,
                      const double exact[2], double* least) {
  double h[GRIDS], e[GRIDS];
  int steps = c->coarsest * (m->order == 1 ? 8 : m->order == 2 ? 2 : 1);
  for (int k = 0; k < GRIDS; k++) {
    double q[2] = {NAN, NAN};
    saltus_status status = run_scene(c, m->name, steps << k, q);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    h[k] = c->until / (steps << k);
    e[k] = fmax(fabs(q[0] - exact[0]), c->space ? fabs(q[1] - exact[1]) : 0.0);
  }
  char text[128];
  snprintf(text, sizeof text, "%s, %s", c->label, m->name);
  study_add_series(report, text, GRIDS, h, e, e);
  double floor = c->exact != NULL ? 2e-14 : 5e-12;
  if (c->space && m->explicit_one) {
    /* they hand slip that is stiff to Radau's methods of no smaller order: a mixture of errors, none of them larger than
     * the constants of explicit methods, up to 20 times those of Gauss', make them */
    snprintf(text, sizeof text, "%s, %s: error with the shortest step", c->label, m->name);
    study_claim_most(report, text, e[GRIDS - 1], fmax(30.0 * least[m->order], 4.0 * floor));
  } else {
    snprintf(text, sizeof text, "%s, %s: order", c->label, m->name);
    study_claim_range(report, text, slope(h, e, floor), m->order - 0.5, m->order + 1.2);
    least[m->order] = isinf(least[m->order]) ? e[GRIDS - 1] : least[m->order];
  }
  return CLI_DONE;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  int code = CLI_DONE;
  report->named = true;
  report->one_number = true;
  report->first_label = "error of the position [m]";
  for (size_t s = 0; s < sizeof scenes / sizeof scenes[0] && code == CLI_DONE; s++) {
    double exact[2] = {0.0, 0.0};
    double least[6] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
    if (scenes[s].exact != NULL) {
      scenes[s].exact(scenes[s].until, exact);
      double q[2];
      code = cli_exit_code(run_scene(&scenes[s], NULL, 0, q));
      char id[96];
      snprintf(id, sizeof id, "%s: adaptive at 1e-12 against the closed form", scenes[s].label);
      study_claim_error(report, id, fmax(fabs(q[0] - exact[0]), fabs(q[1] - exact[1])), 1e-11);
    } else {
      code = cli_exit_code(run_scene(&scenes[s], NULL, 0, exact));
    }
    for (size_t m = 0; m < sizeof methods / sizeof methods[0] && code == CLI_DONE; m++) {
      code = run_method(report, &scenes[s], &methods[m], exact, least);
    }
  }
  return code;
}

const study study_law_stick_slip = {
    "law-stick-slip",
    "orders of Runge-Kutta methods through stick and slip, plane and space",
    "closed forms; adaptive at 1e-12",
    false,
    run,
    NULL};
