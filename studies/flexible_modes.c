/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_modes.c - a bar in modes against a wall: what truncation does to rebound and loss. The bar of 10 m, 10 kg, 30 m/s
 * speed of waves has body files in closed form: free modes, Craig and Bampton's modes, free modes with the residual
 * flexibility of its end as a spring.
 *
 *   free          phi_j = sqrt(2/m) cos(j pi x/L)       w_j = j pi c/L          loss E0/(2 k + 1)
 *   fixed         Phi_j = sqrt(2/m) sin((j - 1/2) pi x/L), masses L_j            loss E0 (1 - S_k), S_k = sum L_j^2/m
 *   modes of both: m + sum lambda L_j^2/(w_j^2 - lambda) = 0
 */
#include "machine_run.h"
#include "saltus/flexible.h"
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 24 };
static const double pi = 3.14159265358979324, mass = 10.0, length = 10.0, wave = 30.0;

typedef struct bar {
  int modes;
  double omega[MOST], tip[MOST]; /* rad/s; displacement of the end at x = 0 */
  double first[MOST];            /* kg^(1/2) m, sum m x phi about the centre */
} bar;

static void free_modes(int k, bar* out) {
  out->modes = k;
  for (int j = 1; j <= k; j++) {
    const double a = j * pi / length;
    out->omega[j - 1] = a * wave;
    out->tip[j - 1] = sqrt(2.0 / mass);
    out->first[j - 1] = j % 2 == 0 ? 0.0 : -2.0 * sqrt(2.0 * mass) / (length * a * a);
  }
}

static double fixed_omega(int j) {
  return (j - 0.5) * pi * wave / length;
}
static double fixed_mass(int j) {
  return sqrt(2.0 * mass) / ((j - 0.5) * pi);
}

/* The secular equation of k fixed-interface modes. */
static double secular(int k, double lambda) {
  double g = mass;
  for (int j = 1; j <= k; j++) {
    const double w = fixed_omega(j), L = fixed_mass(j);
    g += lambda * L * L / (w * w - lambda);
  }
  return g;
}

static void craig_bampton(int k, bar* out) {
  out->modes = k;
  for (int n = 1; n <= k; n++) {
    double low = pow(fixed_omega(n), 2), high = n < k ? pow(fixed_omega(n + 1), 2) : 1e3 * low;
    for (int i = 0; i < 200; i++) {
      const double middle = 0.5 * (low + high);
      *(secular(k, middle) < 0.0 ? &low : &high) = middle;
    }
    const double lambda = 0.5 * (low + high);
    double square = -mass, first = 0.0;
    for (int j = 1; j <= k; j++) {
      const double w = fixed_omega(j), L = fixed_mass(j), q = lambda * L / (w * w - lambda);
      const double a = (j - 0.5) * pi / length;
      square += q * q;
      first +=
          q * (sqrt(2.0 * mass) / length * (j % 2 == 1 ? 1.0 : -1.0) / (a * a) - 0.5 * length * L);
    }
    out->omega[n - 1] = sqrt(lambda);
    out->tip[n - 1] = 1.0 / sqrt(square);
    out->first[n - 1] = first / sqrt(square);
  }
}

static saltus_status write_bar(const bar* b, const char* path) {
  static double C1[9 * MOST], C2[9 * MOST * MOST], zero[6 * MOST], phi[3 * MOST], shape[6 * MOST];
  static const double node[6] = {-5.0, 0.0, 0.0, 5.0, 0.0, 0.0};
  const saltus_flexible_frame frame = {.name = "tip", .s = {-0.5 * length, 0.0, 0.0}};
  const int k = b->modes;
  memset(C2, 0, sizeof C2);
  memset(shape, 0, sizeof shape);
  for (int j = 0; j < k; j++) {
    C1[9 * j] = b->first[j];
    C2[9 * (j * k + j)] = 1.0;
    phi[j] = shape[j] = b->tip[j];
    phi[k + j] = phi[2 * k + j] = 0.0;
  }
  const saltus_flexible body = {.modes = k,
                                .frames = 1,
                                .nodes = 2,
                                .mass = mass,
                                .C0 = {mass * length * length / 12.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0},
                                .C1 = C1,
                                .C2 = C2,
                                .omega = b->omega,
                                .zeta = zero,
                                .effective = zero,
                                .frame = &frame,
                                .phi = phi,
                                .psi = zero,
                                .node = node,
                                .shape = shape};
  return saltus_flexible_save(&body, path, cli_log());
}

/* r [m/N]: compliance of the modes that are left out; 0: a stop with e = 0. */
static int run_one(study_report* report, const bar* b, double r, double g, double until,
                   machine_run* run) {
  static char text[2000];
  char path[] = "/tmp/saltus-bar-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) {
    return cli_exit_code(SALTUS_ERR_IO);
  }
  close(file);
  unlink(path);
  saltus_status status = write_bar(b, path);
  char contact[300];
  if (r > 0.0) {
    snprintf(contact, sizeof contact,
             "forces:\n  - {name: spring, at: end, force: [\"max(0, -end.x)*%.17g\", 0, 0]}\n"
             "events: {touch: end.x}\n",
             1.0 / r);
  } else {
    snprintf(contact, sizeof contact,
             "elements:\n  - {name: stop, type: stop, between: [wall, end]}\n");
  }
  snprintf(text, sizeof text,
           "saltus: 1\nworld: {dimension: 3, gravity: [%.17g, 0, 0]}\nbodies:\n  rod: {flexible: "
           "%s, position: [10, 0, 0], velocity: [%.17g, 0, 0]}\nmarkers:\n  wall: {orientation: "
           "{axis: [0, 1, 0], angle: pi/2}}\n  end: {body: rod_tip}\n%soutputs: {gap: end.x}\n"
           "simulate: {until: 1}\n",
           -g, path, g > 0.0 ? 0.0 : -10.0, contact);
  *run = (machine_run){.scene = "bar in modes",
                       .text = text,
                       .scheme = "adaptive",
                       .tol = 1e-10,
                       .until = until,
                       .log = cli_log()};
  status = status == SALTUS_OK ? machine_go(run) : status;
  unlink(path);
  if (status != SALTUS_OK) {
    machine_free(run);
    return cli_exit_code(status);
  }
  study_note_run(report, run->steps, run->work);
  return CLI_DONE;
}

static double residual(int k) {
  double sum = pi * pi / 6.0;
  for (int j = 1; j <= k; j++) {
    sum -= 1.0 / ((double)j * j);
  }
  return 2.0 / mass * pow(length / (pi * wave), 2) * sum;
}

static double last_opening(const machine_run* run) {
  double t = (double)NAN;
  for (int i = 1; machine_event(run, SALTUS_EVENT_OPEN, NULL, i) != NULL; i++) {
    t = machine_event(run, SALTUS_EVENT_OPEN, NULL, i)->t;
  }
  return t;
}

static int run_truncated(study_report* report, bool fixed, int k, double e_app, double* defect) {
  bar b;
  machine_run run;
  double S = 0.0;
  for (int j = 1; j <= k; j++) {
    S += fixed_mass(j) * fixed_mass(j) / mass;
  }
  if (fixed) {
    craig_bampton(k, &b);
  } else {
    free_modes(k, &b);
  }
  const int code = run_one(report, &b, 0.0, 0.0, 2.0, &run);
  if (code != CLI_DONE) {
    return code;
  }
  char id[96];
  const char* name = fixed ? "fixed-interface modes" : "free modes";
  snprintf(id, sizeof id, "%d %s: loss at the impacts [J]", k, name);
  study_claim_near(report, id, -run.ledger.impact, 500.0 * (fixed ? 1.0 - S : 1.0 / (2 * k + 1)),
                   1e-6);
  snprintf(id, sizeof id, "%d %s: apparent restitution", k, name);
  *defect = 1.0 - machine_value(&run, "momentum.x") / 100.0;
  study_claim_near(report, id, 1.0 - *defect, fixed ? S : e_app, 1e-4);
  if (fixed) {
    snprintf(id, sizeof id, "%d %s: end of the contact [s]", k, name);
    study_claim_near(report, id, last_opening(&run), 7.0 / 6.0, 1e-5);
  }
  machine_free(&run);
  return CLI_DONE;
}

static int run_residual(study_report* report, int k, double e_app, double* defect) {
  bar b;
  machine_run run;
  char id[96];
  free_modes(k, &b);
  const int code = run_one(report, &b, residual(k), 0.0, 2.0, &run);
  if (code != CLI_DONE) {
    return code;
  }
  snprintf(id, sizeof id, "%d free modes and residual flexibility: apparent restitution", k);
  *defect = 1.0 - machine_value(&run, "momentum.x") / 100.0;
  study_claim_error(report, id, fabs(1.0 - *defect - e_app), 1e-5);
  snprintf(id, sizeof id, "%d free modes and residual flexibility: loss [J]", k);
  study_claim_most(report, id, fabs(run.ledger.impact) + fabs(run.ledger.remainder), 1e-6);
  machine_free(&run);
  return CLI_DONE;
}

static int run_bar_modes(const cli_args* args, study_report* report) {
  (void)args;
  static const int modes[3] = {5, 10, 20};
  static const double by_free[3] = {0.90894, 0.95227, 0.97554},
                      by_residual[3] = {0.998851, 0.999134, 0.999473};
  static const char* const names[3] = {"free modes", "fixed-interface modes",
                                       "residual flexibility"};
  double defect[3][3], x[3];
  int code = CLI_DONE;
  report->x_label = "1/number of modes";
  report->first_label = "1 - apparent restitution";
  report->one_number = true;
  for (int basis = 0; basis < 3; basis++) {
    for (int i = 0; i < 3 && code == CLI_DONE; i++) {
      x[i] = 1.0 / modes[i];
      code = basis < 2 ? run_truncated(report, basis == 1, modes[i], by_free[i], &defect[basis][i])
                       : run_residual(report, modes[i], by_residual[i], &defect[basis][i]);
    }
    if (code == CLI_DONE) {
      study_add_series(report, names[basis], 3, x, defect[basis], defect[basis]);
    }
  }
  bar b;
  machine_run run;
  free_modes(15, &b);
  code = code == CLI_DONE ? run_one(report, &b, residual(15), 10.0, 16.0 / 3.0, &run) : code;
  if (code == CLI_DONE) {
    study_claim_error(report,
                      "15 free modes and residual flexibility, g = 10: gap after a period "
                      "beside 5 m [m]",
                      fabs(machine_value(&run, "gap") - 5.0), 0.006);
    machine_free(&run);
  }
  return code;
}

const study study_flexible_bar_modes = {
    .name = "flexible-bar-modes",
    .summary = "bar in modes against a wall",
    .source = "Craig and Bampton, AIAA J. 6 (1968) 1313; sums in closed form; independent code",
    .run = run_bar_modes};
