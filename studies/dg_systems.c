/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_systems.c - systems of several coordinates for the time-discontinuous Galerkin schemes. See
 * dg_problems.h.
 */
#include "dg_problems.h"

#include <math.h>
#include <string.h>

/* ---- spring pendulum, T3 ------------------------------------------------------------------------ */

static void pendulum_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  M[0] = 1.0;
  M[1] = M[2] = 0.0;
  M[3] = at->q[0] * at->q[0];
}

static void pendulum_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  double l = at->q[0], p = at->q[1], dl = at->v[0], w = at->v[1];
  F[0] = l * w * w - 20.0 * (l - 1.0) + 9.81 * cos(p) - 0.3 * dl + sin(2.0 * at->t);
  F[1] = -2.0 * l * dl * w - 9.81 * l * sin(p) - 0.3 * w;
}

static saltus_system pendulum_system(void) {
  static const saltus_system_ops ops = {.mass = pendulum_mass, .force = pendulum_force};
  return (saltus_system){.ops = &ops, .dims = {.nq = 2, .nv = 2}};
}

const dg_motion dg_spring_pendulum = {.name = "spring pendulum",
                                      .system = pendulum_system,
                                      .q0 = {1.2, 1.0},
                                      .v0 = {0.3, -0.5},
                                      .n = 2};

/* ---- bowl, T4 ----------------------------------------------------------------------------------- */

static void unit_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = M[3] = 1.0;
  M[1] = M[2] = 0.0;
}

static void gravity(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = 0.0;
  F[1] = -10.0;
}

static saltus_status bowl_gap(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = 1.0 - hypot(at->q[0], at->q[1]);
  return SALTUS_OK;
}

static void bowl_row(const void* self, const saltus_point* at, uint64_t identity,
                     saltus_rows* rows) {
  (void)self, (void)identity;
  double x = at->q[0], y = at->q[1];
  double r = hypot(x, y);
  rows->G[0] = -x / r;
  rows->G[1] = -y / r;
  if (rows->c != NULL) { /* -(v_t)^2 / r */
    double across = (x * at->v[1] - y * at->v[0]) / r;
    rows->c[0] = -across * across / r;
  }
}

static saltus_system bowl_system(void) {
  static const saltus_contact_law law = {.name = "bowl"};
  static const saltus_system_ops ops = {
      .mass = unit_mass, .force = gravity, .contacts = bowl_gap, .contact = bowl_row};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 2, .nv = 2, .nc = 1},
                         .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                         .laws = &law,
                         .law_count = 1};
}

/* sin and -cos of 60 degrees */
const dg_motion dg_bowl = {
    .name = "bowl", .system = bowl_system, .q0 = {0.86602540378443864676, -0.5}, .n = 2};

/* ---- bar, T5 ------------------------------------------------------------------------------------ */

static const double bar_x[2] = {-0.2, 0.3}; /* m */

static void bar_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
  M[1] = M[2] = 0.0;
  M[3] = 1.0 / 12.0;
}

static void bar_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -10.0;
  F[1] = 0.0;
}

static saltus_status bar_gap(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  for (int k = 0; k < 2; k++) {
    list->gap[k] = at->q[0] + bar_x[k] * at->q[1];
  }
  return SALTUS_OK;
}

static void bar_row(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  (void)self, (void)at;
  rows->G[0] = 1.0;
  rows->G[1] = bar_x[key];
}

static saltus_system bar_system(void) {
  static const saltus_contact_law laws[2] = {{.name = "left"}, {.name = "right", .e_N = 0.5}};
  static const saltus_system_ops ops = {
      .mass = bar_mass, .force = bar_force, .contacts = bar_gap, .contact = bar_row};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 2, .nv = 2, .nc = 2},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = laws,
                         .law_count = 2};
}

/* gaps 0 and 0.1 m: theta = 0.2, y = 0.04 */
const dg_motion dg_bar = {.name = "bar", .system = bar_system, .q0 = {0.04, 0.2}, .n = 2};

/* ---- block with friction, T7 -------------------------------------------------------------------- */

static void block_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  F[0] = -100.0 * at->q[0];
  F[1] = -20.0;
}

static saltus_status block_gap(const void* self, const saltus_point* at,
                               saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[1];
  return SALTUS_OK;
}

static void block_row(const void* self, const saltus_point* at, uint64_t identity,
                      saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[1] = 1.0;
  if (rows->count > 1) {
    rows->G[rows->stride] = 1.0;
  }
}

static saltus_system block_system(void) {
  static const saltus_contact_law law = {.name = "floor", .tangents = 1, .mu = 0.2};
  static const saltus_system_ops ops = {
      .mass = unit_mass, .force = block_force, .contacts = block_gap, .contact = block_row};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 2, .nv = 2, .nc = 1},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = &law,
                         .law_count = 1};
}

const dg_motion dg_block = {.name = "block", .system = block_system, .q0 = {0.3, 0.0}, .n = 2};

/* ---- oscillator, T8 ----------------------------------------------------------------------------- */

static void one(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void oscillator_force(const void* self, const saltus_point* at, double* F) {
  const dg_oscillator* o = self;
  F[0] = -o->stiffness * at->q[0] - o->damping * at->v[0];
}

static saltus_system dg_oscillator_system(const dg_oscillator* self) {
  static const saltus_system_ops ops = {.mass = one, .force = oscillator_force};
  return (saltus_system){.ops = &ops,
                         .self = self,
                         .dims = {.nq = 1, .nv = 1},
                         .traits = SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE};
}

/* ---- runs --------------------------------------------------------------------------------------- */

static void follow(const saltus_step_report* report, saltus_scheme* scheme, double t, dg_end* end) {
  bool seen = false;
  for (int i = 0; i < report->active; i++) {
    const saltus_contact_step* contact = &report->contacts[i];
    double sudden = contact->impact ? contact->impulse[0] - contact->lasting[0] : 0.0;
    end->impulse[contact->key] += sudden;
    end->lasting[contact->key] += contact->impulse[0] - sudden;
    end->impacts += contact->impact ? 1 : 0;
    seen = seen || contact->key == 0;
  }
  end->lost += seen ? 0 : 1;
  end->sweeps += report->newton_iterations;
  saltus_contact_inside contact;
  if (saltus_scheme_dense_contact(scheme, t, SALTUS_LEFT, 0, &contact) == SALTUS_OK) {
    end->force = contact.force[0];
  }
}

saltus_status dg_motion_run(const dg_motion* motion, const char* scheme, const void* options,
                            double t_end, int steps, saltus_log log, dg_end* end) {
  const saltus_system system = motion->system();
  const saltus_scheme_def def = {
      .scheme = scheme, .options = options, .system = &system, .log = log};
  saltus_scheme* run = NULL;
  *end = (dg_end){0};
  memcpy(end->q, motion->q0, sizeof end->q);
  memcpy(end->v, motion->v0, sizeof end->v);
  saltus_status status = saltus_scheme_create(&def, &run);
  double h = t_end / steps;
  for (int i = 0; i < steps && status == SALTUS_OK; i++) {
    saltus_state x = {i * h, end->q, end->v};
    saltus_step_report report;
    status = saltus_scheme_step(run, h, &x, &report);
    if (status == SALTUS_OK && system.dims.nc > 0) {
      follow(&report, run, x.t, end);
      double gap[2];
      uint64_t identities[2] = {0, 1};
      int laws[2] = {0, 1};
      saltus_contact_list list = {
          .count = system.dims.nc, .capacity = 2, .gap = gap, .identity = identities, .law = laws};
      const saltus_point at = {.t = x.t, .q = end->q, .v = end->v};
      system.ops->contacts(system.self, &at, &list);
      end->drift = fmax(end->drift, fabs(gap[0]));
    }
  }
  if (run != NULL) {
    end->work = saltus_scheme_work(run);
  }
  saltus_scheme_destroy(run);
  return status;
}

/* ---- references --------------------------------------------------------------------------------- */

typedef void (*rate_function)(double t, const double* y, double* dy);

/* Classical Runge-Kutta to t = 1; 20000 steps leave about 1e-15. */
static void integrate(rate_function rate, int n, double* y) {
  enum { STEPS = 20000, MOST = 4 };
  const double h = 1.0 / STEPS;
  static const double nodes[4] = {0.0, 0.5, 0.5, 1.0};
  static const double weights[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  for (int i = 0; i < STEPS; i++) {
    double k[MOST] = {0.0};
    double sum[MOST] = {0.0};
    for (int s = 0; s < 4; s++) {
      double at[MOST] = {0.0};
      for (int j = 0; j < n; j++) {
        at[j] = y[j] + h * nodes[s] * k[j];
      }
      rate((i + nodes[s]) * h, at, k);
      for (int j = 0; j < n; j++) {
        sum[j] += weights[s] * k[j];
      }
    }
    for (int j = 0; j < n; j++) {
      y[j] += h * sum[j];
    }
  }
}

static void spring_rate(double t, const double* y, double* dy) {
  const saltus_point at = {.t = t, .q = y, .v = y + 2};
  double F[2];
  pendulum_force(NULL, &at, F);
  dy[0] = y[2];
  dy[1] = y[3];
  dy[2] = F[0];
  dy[3] = F[1] / (y[0] * y[0]);
}

void dg_spring_pendulum_exact(double q[2], double v[2]) {
  double y[4] = {1.2, 1.0, 0.3, -0.5};
  integrate(spring_rate, 4, y);
  memcpy(q, y, 2 * sizeof(double));
  memcpy(v, y + 2, 2 * sizeof(double));
}

/* Angle, its rate, impulse of the contact. */
static void bowl_rate(double t, const double* y, double* dy) {
  (void)t;
  dy[0] = y[1];
  dy[1] = -10.0 * sin(y[0]);
  dy[2] = y[1] * y[1] + 10.0 * cos(y[0]);
}

void dg_bowl_exact(double q[2], double v[2], double* impulse, double* force) {
  double y[3] = {1.04719755119659774615, 0.0, 0.0};
  integrate(bowl_rate, 3, y);
  q[0] = sin(y[0]);
  q[1] = -cos(y[0]);
  v[0] = y[1] * cos(y[0]);
  v[1] = y[1] * sin(y[0]);
  *impulse = y[2];
  *force = y[1] * y[1] + 10.0 * cos(y[0]);
}

/* ---- stability ---------------------------------------------------------------------------------- */

static saltus_status one_step(const char* scheme, const void* options,
                              const dg_oscillator* oscillator, saltus_log log, double x[2],
                              saltus_work* work) {
  const saltus_system system = dg_oscillator_system(oscillator);
  const saltus_scheme_def def = {
      .scheme = scheme, .options = options, .system = &system, .log = log};
  saltus_scheme* run;
  saltus_status status = saltus_scheme_create(&def, &run);
  if (status == SALTUS_OK) {
    saltus_state state = {0.0, &x[0], &x[1]};
    status = saltus_scheme_step(run, 1.0, &state, NULL);
    saltus_work spent = saltus_scheme_work(run);
    work->steps += spent.steps;
    work->force_evaluations += spent.force_evaluations;
    work->newton_iterations += spent.newton_iterations;
  }
  saltus_scheme_destroy(run);
  return status;
}

saltus_status dg_growth(const char* scheme, const void* options, const dg_oscillator* oscillator,
                        saltus_log log, double* growth, saltus_work* work) {
  double a[2] = {1.0, 0.0};
  double b[2] = {0.0, 1.0};
  saltus_status status = one_step(scheme, options, oscillator, log, a, work);
  if (status == SALTUS_OK) {
    status = one_step(scheme, options, oscillator, log, b, work);
  }
  double trace = a[0] + b[1];
  double determinant = a[0] * b[1] - a[1] * b[0];
  double root = 0.25 * trace * trace - determinant;
  *growth = root > 0.0 ? 0.5 * fabs(trace) + sqrt(root) : sqrt(determinant);
  return status;
}

saltus_status dg_decay(const char* scheme, const void* options, double damping, saltus_log log,
                       double* factor, saltus_work* work) {
  const dg_oscillator oscillator = {.damping = damping};
  double x[2] = {0.0, 1.0};
  saltus_status status = one_step(scheme, options, &oscillator, log, x, work);
  *factor = fabs(x[1]);
  return status;
}
