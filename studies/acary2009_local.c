/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * acary2009_local.c - local errors of Moreau's scheme (Acary 2009, section 4): the formulas (31)-(33)
 * and (62) as corrected, and the orders of Propositions 1 to 3.
 *
 * One contact, unit mass, constant force f: q' = v, v' = f, impact at t_k + sigma h.
 */
#include "measure/local_error.h"
#include "study.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

typedef struct ball {
  double f;
  saltus_contact_law law;
} ball;

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  F[0] = ((const ball*)self)->f;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static const saltus_system_ops ops = {
    .mass = mass, .force = force, .contacts = contacts, .contact = contact};

/* One step under test: data at t_k, the exact end, and what came out. */
typedef struct one_step {
  double f, rho, theta, gamma, h, sigma;
  double q, v, q_end, v_end;
  saltusi_local_error error;
} one_step;

static int measure(one_step* s) {
  const ball b = {.f = s->f, .law = {.e_N = s->rho}};
  const saltus_system sys = {.ops = &ops,
                             .self = &b,
                             .dims = {.nq = 1, .nv = 1, .nc = 1},
                             .traits =
                                 SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                             .laws = &b.law,
                             .law_count = 1};
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.theta = s->theta;
  options.gamma = s->gamma;
  const saltusi_local_def def = {.system = &sys,
                                 .scheme = "moreau-jean",
                                 .options = &options,
                                 .h = s->h,
                                 .q = &s->q,
                                 .v = &s->v,
                                 .q_end = &s->q_end,
                                 .v_end = &s->v_end};
  return cli_exit_code(saltusi_local_error_measure(&def, &s->error));
}

/* Fills q and the exact end for an impact at sigma h, from v, f, rho, sigma, h. */
static void place_impact(one_step* s) {
  double before = s->sigma * s->h;
  double after = (1.0 - s->sigma) * s->h;
  s->q = -s->v * before - 0.5 * s->f * before * before;
  double up = -s->rho * (s->v + s->f * before);
  s->q_end = up * after + 0.5 * s->f * after * after;
  s->v_end = up + s->f * after;
}

/* (31) as corrected, in q_k. */
static void formula(const one_step* s, bool impulse, double* e_q, double* e_v) {
  double r = s->rho;
  double g = s->sigma;
  double h = s->h;
  double bracket = r * (1.0 - g) * g - 0.5 * (1.0 - g) * (1.0 - g);
  if (impulse) {
    *e_v = h * s->f * (1.0 - g - r * g);
    *e_q = -s->q - h * ((1.0 + r) * (1.0 - s->theta) - r * g) * s->v - s->f * h * h * bracket;
  } else {
    *e_v = -(1.0 + r) * (s->v + h * g * s->f);
    *e_q = -s->q - h * (r * (1.0 - g) + 1.0) * s->v - s->f * h * h * (bracket + s->theta);
  }
}

static double uniform(uint64_t* state, double lo, double hi) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return lo + (hi - lo) * (double)(*state >> 11) * 0x1p-53;
}

/* (31) and (32) for 1000 random steps with an impact, forecast or not; (32) is (31) with the impact
 * at sigma h put in for q_k, which is how q_k is made here. */
static int claim_formulas(study_report* report) {
  uint64_t seed = 2009;
  double worst = 0.0;
  int with = 0;
  int without = 0;
  for (int i = 0; i < 1000; i++) {
    one_step s = {.f = uniform(&seed, -3.0, -0.5),
                  .rho = uniform(&seed, 0.0, 1.0),
                  .theta = uniform(&seed, 0.0, 1.0),
                  .gamma = uniform(&seed, 0.0, 1.0) < 0.5 ? 0.0 : 1.0,
                  .h = uniform(&seed, 1e-3, 0.1),
                  .sigma = uniform(&seed, 0.02, 0.98),
                  .v = uniform(&seed, -3.0, -1.0)};
    place_impact(&s);
    int code = measure(&s);
    if (code != CLI_DONE) {
      return code;
    }
    bool impulse = s.error.impulse[0] > 0.0;
    with += impulse;
    without += !impulse;
    double e_q;
    double e_v;
    formula(&s, impulse, &e_q, &e_v);
    worst = fmax(worst, fmax(fabs(e_q - s.error.e_q[0]), fabs(e_v - s.error.e_v[0])));
  }
  study_claim_error(report, "(31), (32) corrected, 1000 random steps, largest difference", worst,
                    1e-12);
  study_claim_range(report, "of these with an impulse", with, 200, 800);
  study_claim_range(report, "of these without", without, 200, 800);
  return CLI_DONE;
}

/* (62) as corrected: e_U = (1 + rho) U_k + h f where the scheme sees an impact that does not happen. */
static int claim_false_alarm(study_report* report) {
  uint64_t seed = 62;
  double worst = 0.0;
  int seen = 0;
  for (int i = 0; i < 1000; i++) {
    one_step s = {.f = uniform(&seed, 20.0, 60.0),
                  .rho = uniform(&seed, 0.0, 1.0),
                  .theta = uniform(&seed, 0.0, 1.0),
                  .gamma = 1.0,
                  .h = 0.05,
                  .v = uniform(&seed, -1.0, -0.5)};
    s.q = uniform(&seed, 0.6, 0.99) * -s.v * s.h; /* inside the forecast */
    s.q_end = s.q + s.h * s.v + 0.5 * s.f * s.h * s.h;
    s.v_end = s.v + s.h * s.f;
    bool flies = s.v * s.v < 2.0 * s.f * s.q; /* the force turns it before the floor */
    int code = flies ? measure(&s) : CLI_DONE;
    if (code != CLI_DONE) {
      return code;
    }
    if (!flies || !(s.error.impulse[0] > 0.0)) {
      continue;
    }
    seen++;
    /* e_U = 0 - [U_{k+1} - U_k - h f], and e_v = v_end - v_{k+1} = U_k + h f - U_{k+1} */
    worst = fmax(worst, fabs(s.error.e_v[0] - ((1.0 + s.rho) * s.v + s.h * s.f)));
  }
  study_claim_error(report, "(62) corrected, first line, largest difference", worst, 1e-12);
  study_claim_range(report, "steps with a false alarm", seen, 5, 1000);
  return CLI_DONE;
}

/* The values of methods 3.2: t_k = 0.97, h = 0.05 on the bouncing ball, sigma = 0.6. */
static int claim_values(study_report* report) {
  for (int k = 0; k < 2; k++) {
    one_step s = {.f = -2.0,
                  .rho = 0.5,
                  .theta = 0.5,
                  .gamma = k == 0 ? 1.0 : 0.0,
                  .h = 0.05,
                  .q = 1.0 - 0.97 * 0.97,
                  .v = -1.94,
                  .q_end = 0.02 * (2.0 - 1.02),
                  .v_end = 2.0 * (3.0 - 1.02) - 3.0};
    int code = measure(&s);
    if (code != CLI_DONE) {
      return code;
    }
    double e_v = k == 0 ? -0.01 : 3.0;
    double e_q = k == 0 ? -0.01525 : 0.06;
    study_claim_most(
        report, k == 0 ? "e_v at 0.97, forecast: off -0.01 by" : "e_v at 0.97, missed: off 3 by",
        fabs(s.error.e_v[0] - e_v), 1e-12);
    study_claim_most(report,
                     k == 0 ? "e_q at 0.97, forecast: off -0.01525 by"
                            : "e_q at 0.97, missed: off 0.06 by",
                     fabs(s.error.e_q[0] - e_q), 1e-12);
  }
  return CLI_DONE;
}

/* (33): the step [3 - h, 3 + h] over the accumulation. Found: e_v = h - 3/2^(n0+1); missed: 2h +
 * 3/2^n0, n0 the bounce in which 3 - h lies. */
static int claim_accumulation(study_report* report) {
  static const struct {
    double h;
    double e_v;
    const char* id;
  } steps[] = {{0.3, -0.075, "(33) h = 0.3, found: e_v off -0.075 by"},
               {0.11, 0.4075, "(33) h = 0.11, missed: e_v off 0.4075 by"}};
  for (int k = 0; k < 2; k++) {
    double h = steps[k].h;
    double x = 1.0; /* 2^-n0 < h <= 2^(1-n0) */
    while (x >= h) {
      x *= 0.5;
    }
    one_step s = {.f = -2.0,
                  .rho = 0.5,
                  .theta = 0.5,
                  .gamma = 1.0,
                  .h = 2.0 * h,
                  .q = (h - x) * (2.0 * x - h),
                  .v = 2.0 * h - 3.0 * x};
    int code = measure(&s);
    if (code != CLI_DONE) {
      return code;
    }
    study_claim_error(report, steps[k].id, fabs(s.error.e_v[0] - steps[k].e_v), 1e-12);
  }
  return CLI_DONE;
}

/* Largest errors over the phases of the impact, for a step h; with gamma = 1 only the steps count whose
 * forecast is right, I_* = I_k, with gamma = 0 those whose forecast is wrong. */
static int worst_over_phases(study_report* report, double gamma, double h, double worst[2]) {
  worst[0] = 0.0;
  worst[1] = 0.0;
  study_note_run(report, 0, (saltus_work){0});
  for (int i = 1; i < 200; i++) {
    one_step s = {.f = -2.0, .rho = 0.5, .theta = 0.5, .gamma = gamma, .h = h, .v = -2.0};
    s.sigma = i / 200.0;
    place_impact(&s);
    int code = measure(&s);
    if (code != CLI_DONE) {
      return code;
    }
    study_add_to_run(report, 1, s.error.work);
    if ((s.error.forecast != 0) == (gamma == 1.0)) {
      worst[0] = fmax(worst[0], fabs(s.error.e_q[0]));
      worst[1] = fmax(worst[1], fabs(s.error.e_v[0]));
    }
  }
  return CLI_DONE;
}

/* Propositions 1 and 3: e_q = O(h); e_v = O(1) when the impact is missed, O(h) when it is forecast. */
static int claim_propositions(study_report* report) {
  for (int k = 0; k < 2; k++) {
    double h[6];
    double e_q[6];
    double e_v[6];
    for (int i = 0; i < 6; i++) {
      double worst[2];
      h[i] = 0.1 * pow(0.5, i);
      int code = worst_over_phases(report, k == 0 ? 0.0 : 1.0, h[i], worst);
      if (code != CLI_DONE) {
        return code;
      }
      e_q[i] = worst[0];
      e_v[i] = worst[1];
    }
    const char* how = k == 0 ? "missed (Prop. 1)" : "forecast (Prop. 3)";
    char id[128];
    snprintf(id, sizeof id, "impact %s", how);
    study_add_series(report, id, 6, h, e_q, e_v);
    snprintf(id, sizeof id, "local order of q, impact %s", how);
    study_claim_range(report, id, saltus_slope(6, h, e_q), 0.9, 1.1);
    snprintf(id, sizeof id, "local order of v, impact %s", how);
    study_claim_range(report, id, saltus_slope(6, h, e_v), k - 0.1, k + 0.1);
  }
  return CLI_DONE;
}

/* A unit mass that slides inside the unit circle, gravity 10: a persistent curved contact. */
static void bowl_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = M[3] = 1.0;
  M[1] = M[2] = 0.0;
}

static void bowl_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = 0.0;
  F[1] = -10.0;
}

static saltus_status bowl_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  (void)self;
  list->gap[0] = 0.5 * (1.0 - at->q[0] * at->q[0] - at->q[1] * at->q[1]);
  return SALTUS_OK;
}

static void bowl_contact(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_rows* rows) {
  (void)self, (void)identity;
  rows->G[0] = -at->q[0];
  rows->G[1] = -at->q[1];
}

/* The angle from the bottom and its rate after h: classical Runge-Kutta with 64 steps. */
static void swing(double* angle, double* rate, double h) {
  enum { PARTS = 64 };
  double d = h / PARTS;
  for (int i = 0; i < PARTS; i++) {
    double k1 = -10.0 * sin(*angle);
    double k2 = -10.0 * sin(*angle + 0.5 * d * *rate);
    double k3 = -10.0 * sin(*angle + 0.5 * d * *rate + 0.25 * d * d * k1);
    double k4 = -10.0 * sin(*angle + d * *rate + 0.5 * d * d * k2);
    *angle += d * *rate + d * d * (k1 + k2 + k3) / 6.0;
    *rate += d * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0;
  }
}

static void on_circle(double angle, double rate, double* q, double* v) {
  q[0] = sin(angle);
  q[1] = -cos(angle);
  v[0] = rate * cos(angle);
  v[1] = rate * sin(angle);
}

static int bowl_step(study_report* report, double theta, double h, double e[2]) {
  static const saltus_system_ops bowl_ops = {
      .mass = bowl_mass, .force = bowl_force, .contacts = bowl_contacts, .contact = bowl_contact};
  static const saltus_contact_law law = {.e_N = 0.5};
  const saltus_system sys = {.ops = &bowl_ops,
                             .dims = {.nq = 2, .nv = 2, .nc = 1},
                             .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                             .laws = &law,
                             .law_count = 1};
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.theta = theta;
  options.jump = SALTUS_JUMP_START;
  double q[2];
  double v[2];
  double q_end[2];
  double v_end[2];
  double angle = 0.5;
  double rate = 1.0;
  on_circle(angle, rate, q, v);
  swing(&angle, &rate, h);
  on_circle(angle, rate, q_end, v_end);
  const saltusi_local_def def = {.system = &sys,
                                 .scheme = "moreau-jean",
                                 .options = &options,
                                 .h = h,
                                 .q = q,
                                 .v = v,
                                 .q_end = q_end,
                                 .v_end = v_end};
  saltusi_local_error error;
  int code = cli_exit_code(saltusi_local_error_measure(&def, &error));
  study_note_run(report, 1, error.work);
  e[0] = fmax(fabs(error.e_q[0]), fabs(error.e_q[1]));
  e[1] = fmax(fabs(error.e_v[0]), fabs(error.e_v[1]));
  return error.forecast == 1 ? code : CLI_FAILED;
}

/* Proposition 2 as corrected: on a persistent curved contact e_q = O(h^2) always, e_v = O(h^2) only
 * for theta = 1 with U_k = G(q_k)^T v_k = 0; theta = 1/2 has O(h). */
static int claim_persistent(study_report* report) {
  static const struct {
    double theta, v_order;
    const char *q_id, *v_id;
  } cases[] = {{1.0, 2.0, "local order of q, persistent, theta = 1 (Prop. 2)",
                "local order of v, persistent, theta = 1 (Prop. 2)"},
               {0.5, 1.0, "local order of q, persistent, theta = 1/2 (Prop. 2)",
                "local order of v, persistent, theta = 1/2 (Prop. 2)"}};
  for (int k = 0; k < 2; k++) {
    double h[6];
    double e_q[6];
    double e_v[6];
    for (int i = 0; i < 6; i++) {
      double e[2];
      h[i] = 0.02 * pow(0.5, i);
      int code = bowl_step(report, cases[k].theta, h[i], e);
      if (code != CLI_DONE) {
        return code;
      }
      e_q[i] = e[0];
      e_v[i] = e[1];
    }
    study_add_series(report, k == 0 ? "persistent, theta = 1" : "persistent, theta = 1/2", 6, h,
                     e_q, e_v);
    study_claim_range(report, cases[k].q_id, saltus_slope(6, h, e_q), 1.9, 2.1);
    study_claim_range(report, cases[k].v_id, saltus_slope(6, h, e_v), cases[k].v_order - 0.1,
                      cases[k].v_order + 0.1);
  }
  return CLI_DONE;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  int (*const claims[])(study_report*) = {claim_values,      claim_formulas,     claim_accumulation,
                                          claim_false_alarm, claim_propositions, claim_persistent};
  for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
    int code = claims[i](report);
    if (code != CLI_DONE) {
      return code;
    }
  }
  return CLI_DONE;
}

const study study_acary2009_local_error = {
    .name = "acary2009-local-error",
    .summary = "local errors of Moreau's scheme: formulas and orders, as corrected",
    .source = "Acary 2009 (RR-7151), section 4, equations (31)-(33), (62)",
    .run = run,
};
