/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_orders.c - order of the discontinuity at an event, the lowest derivative of q that jumps (Acary 2009,
 * perspectives: "order of the discontinuity"), found from the dense output of `adaptive` on both sides. Impacts have
 * order 1, the end of slip and its reversal order 2, the start of slip and the release of a contact order 3: forces
 * are continuous there, their rates are not.
 */
#include "potra_run.h"
#include "study.h"

#include "saltus/integrator.h"

#include <math.h>
#include <stdio.h>

enum { NODES = 7, DERIVATIVES = 4, WIDTH = 4 };

typedef struct order_case {
  const char *scene, *parameter;
  double value;
  saltus_event_kind kind;
  double until; /* s, the event is before */
  int order;
} order_case;

static const order_case cases[] = {
    {"ball", NULL, 0.0, SALTUS_EVENT_IMPACT, 4.0, 1},
    {"pendulum-wall", NULL, 0.0, SALTUS_EVENT_IMPACT, 2.0, 1},
    {"block-stick-slip", "a", 8.0, SALTUS_EVENT_STICK, 2.0, 2},
    {"block-stick-slip", "a", 20.0, SALTUS_EVENT_REVERSAL, 4.0, 2},
    {"block-stick-slip", "a", 8.0, SALTUS_EVENT_SLIP, 4.0, 3},
    {"take-off", NULL, 0.0, SALTUS_EVENT_OPEN, 4.0, 3},
    {"belt", NULL, 0.0, SALTUS_EVENT_STICK, 6.0, 2},
    {"belt", NULL, 0.0, SALTUS_EVENT_SLIP, 6.0, 3},
};

/* Derivatives 0 .. DERIVATIVES - 1 at x = 0 of the polynomial through NODES values: Newton's divided differences,
 * expanded from the last node to the first. */
static void derivatives(const double x[NODES], double y[NODES], double out[DERIVATIVES]) {
  for (int k = 1; k < NODES; k++) {
    for (int i = NODES - 1; i >= k; i--) {
      y[i] = (y[i] - y[i - 1]) / (x[i] - x[i - k]);
    }
  }
  double c[NODES] = {0.0};
  for (int k = NODES - 1; k >= 0; k--) {
    for (int j = NODES - 1; j >= 1; j--) {
      c[j] = c[j - 1] - x[k] * c[j];
    }
    c[0] = y[k] - x[k] * c[0];
  }
  double factorial = 1.0;
  for (int j = 0; j < DERIVATIVES; j++) {
    out[j] = factorial * c[j];
    factorial *= j + 1;
  }
}

/* Derivatives of the velocities on one side of t, from Chebyshev points up to `width` away; *most is at least the
 * largest velocity there. */
static saltus_status one_side(saltus_integrator* it, int nv, double t, double width,
                              double out[WIDTH][DERIVATIVES], double* most) {
  double x[NODES];
  double y[WIDTH][NODES];
  for (int k = 0; k < NODES; k++) {
    double v[WIDTH];
    x[k] = 0.5 * width * (1.0 - cos(acos(-1.0) * (k + 0.5) / NODES));
    const saltus_side side = width < 0.0 ? SALTUS_LEFT : SALTUS_RIGHT;
    const saltus_status status = saltus_integrator_dense(it, t + x[k], side, NULL, v);
    if (status != SALTUS_OK) {
      return status;
    }
    for (int j = 0; j < nv; j++) {
      y[j][k] = v[j];
      *most = fmax(*most, fabs(v[j]));
    }
  }
  for (int j = 0; j < nv; j++) {
    derivatives(x, y[j], out[j]);
  }
  return SALTUS_OK;
}

/* The lowest derivative of q that jumps at t by more than 1e-3 of what the velocities near it allow; 0: none up to
 * DERIVATIVES. */
static saltus_status find_order(saltus_integrator* it, int nv, double t, double width,
                                double* order) {
  double left[WIDTH][DERIVATIVES];
  double right[WIDTH][DERIVATIVES];
  double most = 0.0;
  saltus_status status = one_side(it, nv, t, -width, left, &most);
  if (status == SALTUS_OK) {
    status = one_side(it, nv, t, width, right, &most);
  }
  *order = 0.0;
  for (int p = 0; p < DERIVATIVES && status == SALTUS_OK && *order == 0.0; p++) {
    double jump = 0.0;
    for (int j = 0; j < nv; j++) {
      jump = fmax(jump, fabs(right[j][p] - left[j][p]));
    }
    *order = jump > 1e-3 * most / pow(width, p) ? p + 1.0 : 0.0;
  }
  return status;
}

static saltus_status measure(const order_case* c, double* order) {
  char value[32];
  snprintf(value, sizeof value, "%g", c->value);
  const saltus_override override = {.name = c->parameter, .value = value};
  const saltus_scene_def made = {.path = c->scene,
                                 .text = potra_scene_text(c->scene),
                                 .overrides = &override,
                                 .override_count = c->parameter != NULL ? 1 : 0,
                                 .log = cli_log()};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&made, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_integrator_def def = {.system = view->system,
                                     .q0 = view->q0,
                                     .v0 = view->v0,
                                     .rtol = 1e-13,
                                     .atol = 1e-13,
                                     .h_max = 1e-3 * c->until,
                                     .dense_steps = 64,
                                     .log = cli_log()};
  saltus_integrator* it = NULL;
  const saltus_event* event = NULL;
  status = saltus_integrator_create(&def, &it);
  if (status == SALTUS_OK) {
    status = saltus_integrator_advance(it, c->until, SALTUS_STOP(c->kind), &event);
  }
  if (status == SALTUS_OK && event != NULL) {
    const double t = event->t;
    const double width = 5e-3 * c->until;
    status = saltus_integrator_advance(it, t + width, SALTUS_STOP_NEVER, NULL);
    if (status == SALTUS_OK) {
      status = find_order(it, view->system->dims.nv, t, width, order);
    }
  }
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
  return status;
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double order = NAN;
    char id[128];
    const saltus_status status = measure(&cases[i], &order);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    snprintf(id, sizeof id, "order of the discontinuity, %s, %s",
             saltus_event_kind_name(cases[i].kind), cases[i].scene);
    study_claim_range(report, id, order, cases[i].order, cases[i].order);
  }
  return CLI_DONE;
}

const study study_event_orders = {
    .name = "event-orders",
    .summary = "order of the discontinuity at events: the lowest derivative that jumps",
    .source = "Acary 2009 (RR-7151), perspectives",
    .run = run,
};
