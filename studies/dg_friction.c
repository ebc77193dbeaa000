/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_friction.c - time-discontinuous Galerkin schemes with Coulomb friction: a block on a spring
 * that slides and sticks (docs/theory/problems.md, 6.7), and the woodpecker toy (T11:
 * docs/theory/problems.md, 7.3).
 */
#include "dg_series.h"
#include "potra_run.h"
#include "saltus/scene.h"
#include "saltus/sim.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK_GRIDS = 5 };

static saltus_status run_block(study_report* report, int family, int degree) {
  static const double independent[DG_DEGREES] = {0.0, 4.1e-5, 8.4e-10, 3.2e-10, 0.0};
  static const double order[DG_DEGREES] = {0.0, 2.0, 4.0, 4.0, 0.0};
  saltus_dg_options o = dg_options(family, degree);
  double h[BLOCK_GRIDS];
  double e[BLOCK_GRIDS];
  dg_end end;
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < BLOCK_GRIDS && status == SALTUS_OK; k++) {
    status = dg_motion_run(&dg_block, dg_families[family], &o, 0.25, 25 << k, cli_log(), &end);
    h[k] = 0.25 / (25 << k);
    study_note_run(report, 25 << k, end.work);
    e[k] = fabs(end.q[0] - 0.04 - 0.26 * cos(2.5));
  }
  if (status != SALTUS_OK) {
    return status;
  }
  char text[128];
  char method[32];
  snprintf(text, sizeof text, "x while sliding: %s", dg_families[family]);
  snprintf(method, sizeof method, "degree %d", degree);
  dg_add(report, text, method, BLOCK_GRIDS, h, e);
  if (family == 0) {
    snprintf(text, sizeof text, "x at 0.25 s, h = 0.005, dg-minus degree %d", degree);
    if (degree == 4) {
      study_claim_most(report, text, e[1], 1e-14);
    } else {
      dg_claim_independent(report, text, e[1], independent[degree]);
      snprintf(text, sizeof text, "order while sliding, dg-minus degree %d", degree);
      study_claim_range(report, text, dg_slope(3, h, e), order[degree] - 0.1, order[degree] + 0.1);
    }
  }
  status = dg_motion_run(&dg_block, dg_families[family], &o, 2.0, 1000, cli_log(), &end);
  snprintf(text, sizeof text, "where it sticks, x + 0.02 m, %s degree %d", dg_families[family],
           degree);
  study_claim_range(report, text, end.q[0] + 0.02, -1e-5, 1e-5);
  snprintf(text, sizeof text, "speed while it sticks, %s degree %d", dg_families[family], degree);
  study_claim_most(report, text, fabs(end.v[0]), 1e-15);
  return status;
}

/* ---- woodpecker ---------------------------------------------------------------------------------- */

typedef struct cycles {
  int settled; /* crossings before those that count */
  int count;
  double first_t, first_y, last_t, last_y; /* upward crossings of phi_S = -0.3 */
  double shortest, longest;                /* s */
  double least, most;                      /* m, fall of a cycle */
} cycles;

static void cross(cycles* c, double t, double y) {
  if (++c->count == c->settled) {
    c->first_t = t;
    c->first_y = y;
    c->shortest = c->least = INFINITY;
  } else if (c->count > c->settled) {
    c->shortest = fmin(c->shortest, t - c->last_t);
    c->longest = fmax(c->longest, t - c->last_t);
    c->least = fmin(c->least, c->last_y - y);
    c->most = fmax(c->most, c->last_y - y);
  }
  c->last_t = t;
  c->last_y = y;
}

static saltus_status run_woodpecker(const saltus_scene_view* view, double h, double until,
                                    cycles* c) {
  saltus_dg_options o = dg_options(0, 1);
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "dg-minus",
                              .options = &o,
                              .h = h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .log = cli_log()};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  double y = view->q0[0];
  double phi = view->q0[2];
  while (status == SALTUS_OK && saltus_sim_time(sim) < until - 0.5 * h) {
    status = saltus_sim_step(sim);
    const double* q = saltus_sim_q(sim);
    if (phi < -0.3 && q[2] >= -0.3) {
      double part = (-0.3 - phi) / (q[2] - phi);
      cross(c, saltus_sim_time(sim) - (1.0 - part) * h, y + part * (q[0] - y));
    }
    y = q[0];
    phi = q[2];
  }
  saltus_sim_destroy(sim);
  return status;
}

/* T11 gives the cycles of the first second at h = 1e-4, rounded to the last digit there, and bounds
 * for means over 4 s once the motion repeats itself. */
static saltus_status claim_woodpecker(study_report* report, const saltus_scene_view* view) {
  cycles c = {.settled = 1};
  saltus_status status = run_woodpecker(view, 1e-4, 1.0, &c);
  if (status == SALTUS_OK) {
    const char* who = "woodpecker, dg-minus degree 1, h = 1e-4, first second";
    char id[128];
    snprintf(id, sizeof id, "shortest cycle, %s", who);
    study_claim_range(report, id, c.shortest, 0.14535, 0.14695);
    snprintf(id, sizeof id, "longest cycle, %s", who);
    study_claim_range(report, id, c.longest, 0.14535, 0.14695);
    snprintf(id, sizeof id, "least fall, %s", who);
    study_claim_range(report, id, c.least, 0.01905, 0.02015);
    snprintf(id, sizeof id, "largest fall, %s", who);
    study_claim_range(report, id, c.most, 0.01905, 0.02015);
    c = (cycles){.settled = 6};
    status = run_woodpecker(view, 2e-5, 4.0, &c);
  }
  if (status == SALTUS_OK) {
    int count = c.count - c.settled;
    study_claim_range(report, "mean cycle, woodpecker, dg-minus degree 1, h = 2e-5",
                      (c.last_t - c.first_t) / count, 0.1455, 0.1465);
    study_claim_range(report, "mean fall, woodpecker, dg-minus degree 1, h = 2e-5",
                      (c.first_y - c.last_y) / count, 0.0192, 0.0198);
  }
  return status;
}

static int open_and_claim(study_report* report) {
  const saltus_scene_def def = {
      .path = "woodpecker", .text = potra_scene_text("woodpecker"), .log = cli_log()};
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status == SALTUS_OK) {
    status = claim_woodpecker(report, saltus_scene_get_view(scene));
    saltus_scene_destroy(scene);
  }
  return cli_exit_code(status);
}

static int run(const cli_args* args, study_report* report) {
  (void)args;
  for (int family = 0; family < 2; family++) {
    for (int M = 1; M < DG_DEGREES; M++) {
      saltus_status status = run_block(report, family, M);
      if (status != SALTUS_OK) {
        return cli_exit_code(status);
      }
    }
  }
  return open_and_claim(report);
}

const study study_dg_friction = {
    .name = "dg-friction",
    .summary = "time-DG schemes with friction: a block on a spring, and the woodpecker",
    .source = "docs/theory/problems.md, 6.7 and 7.3",
    .run = run,
};
