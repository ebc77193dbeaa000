/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * potra_tables.c - tables 10.1 to 10.3 of Potra, Anitescu, Gavrea and Trinkle 2006: the double
 * pendulum at a wall, and the block that sticks and slips. Expected values are those of an
 * independent program (docs/theory/problems.md, 8.1 and 8.2); they agree with the printed ones but
 * for one of 21 and one of 12, which are not explained (book, errata).
 */
#include "potra_run.h"
#include "study.h"

#include <math.h>
#include <stdio.h>

/* x1, y1, x2, y2 after 2.5 s with g = 9.8, by two independent integrators to 1e-13. */
static const double pendulum_end[4] = {0.02196211769492, -0.99975880360533, 0.02376948677391,
                                       -1.99975717031250};
/* x of the block after 2 s, exact. */
static const double block_end = 3.00434856972686523;

/* Error and both joints for h = 2^-5 ... 2^-11. */
static const double table1[7][3] = {
    {2.3822e-3, 1.2674e-3, 3.1835e-3}, {6.1373e-4, 3.1379e-4, 8.2851e-4},
    {1.5445e-4, 7.8220e-5, 2.1371e-4}, {3.9452e-5, 1.9536e-5, 5.4761e-5},
    {1.0066e-5, 4.8828e-6, 1.3714e-5}, {2.4159e-6, 1.2213e-6, 3.4379e-6},
    {6.1574e-7, 3.0490e-7, 8.5998e-7}};

/* Errors for h = 2^-5 ... 2^-10: end velocity and mean velocity without detection, both with it. */
static const double table2[6] = {5.197e-5, 1.025e-5, 2.555e-6, 6.552e-7, 1.549e-7, 4.409e-8};
static const double detected[6] = {7.185e-5, 1.815e-5, 4.589e-6, 1.150e-6, 2.883e-7, 7.213e-8};
/* As the paper prints them. The last one is 11 % below 4.409e-8, which two programs give without detection, and it is no misprint: the printed
 * rate 3.912 belongs to it, 1.549e-7 / 3.959e-8. Another reference solution does not explain it either: an offset of 4.5e-9 would show in the line
 * above, which agrees to 1e-10. It is not explained (docs/theory/trapezoidal.md, 5). */
static const double printed2[6] = {5.197e-5, 1.025e-5, 2.555e-6, 6.551e-7, 1.549e-7, 3.959e-8};
static const double printed3[6] = {8.023e-5, 2.310e-5, 5.619e-6, 1.395e-6, 3.652e-7, 8.246e-8};
static const double table3[6] = {8.023e-5, 2.310e-5, 5.619e-6, 1.395e-6, 3.652e-7, 8.246e-8};

static int run_table1(const cli_args* args, study_report* report) {
  (void)args;
  double h[7];
  double error[7];
  double joint[7];
  double off[3] = {0.0};
  for (int k = 0; k < 7; k++) {
    h[k] = ldexp(1.0, -5 - k);
    potra_run run = {.scene = "double-pendulum-poisson",
                     .scheme = "trapezoidal-implicit-mean",
                     .t_end = 2.5,
                     .h = h[k],
                     .log = cli_log()};
    saltus_status status = potra_go(&run);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    study_note_run(report, (long long)(run.t_end / h[k] + 0.5), run.work);
    const double* q = run.q;
    error[k] = potra_distance(4, q, pendulum_end);
    joint[k] = hypot(q[0], q[1]) - 1.0;
    const double measured[3] = {error[k], q[0] * q[0] + q[1] * q[1] - 1.0,
                                (q[0] - q[2]) * (q[0] - q[2]) + (q[1] - q[3]) * (q[1] - q[3]) -
                                    1.0};
    static const char* const names[3] = {"error of q", "upper joint", "lower joint"};
    char id[96];
    snprintf(id, sizeof id, "%s, h = 2^-%d", names[0], 5 + k);
    study_claim_near(report, id, measured[0], table1[k][0], 0.005);
    for (int i = 1; i < 3; i++) {
      off[i] = fmax(off[i], fabs(measured[i] / table1[k][i] - 1.0));
      if (k == 6) {
        snprintf(id, sizeof id, "%s, seven steps, largest relative difference", names[i]);
        study_claim_error(report, id, off[i], 0.005);
      }
    }
    if (k > 0) {
      snprintf(id, sizeof id, "ratio of errors, h = 2^-%d to 2^-%d", 4 + k, 5 + k);
      study_claim_range(report, id, error[k - 1] / error[k], 3.8, 4.2);
    }
  }
  study_add_series(report, "double pendulum, q at 2.5 s; drift of the upper joint", 7, h, error,
                   joint);
  return CLI_DONE;
}

/* |x(2) - exact| of the block. */
static int block_error(study_report* report, const char* scheme, const char* options, double h,
                       double* error) {
  potra_run run = {.scene = "block-stick-slip",
                   .scheme = scheme,
                   .options = options,
                   .t_end = 2.0,
                   .h = h,
                   .log = cli_log()};
  saltus_status status = potra_go(&run);
  study_note_run(report, (long long)(run.t_end / h + 0.5), run.work);
  *error = fabs(run.q[0] - block_end);
  return cli_exit_code(status);
}

/* One table without detection, and what tends to 0.0757 h^2 with it: (4/3) (1 - cos t1), t1 the first
 * stick. */
static int run_block(study_report* report, const char* scheme, const double* table,
                     const double* printed) {
  static const char* const options[2] = {"detection=off", "detection=on"};
  double h[6];
  double error[6];
  double none[6];
  for (int on = 0; on < 2; on++) {
    for (int k = 0; k < 6; k++) {
      h[k] = ldexp(1.0, -5 - k);
      none[k] = NAN;
      int code = block_error(report, scheme, options[on], h[k], &error[k]);
      if (code != CLI_DONE) {
        return code;
      }
      char id[96];
      snprintf(id, sizeof id, "error of x, %s, h = 2^-%d", options[on], 5 + k);
      study_claim_near(report, id, error[k], on == 0 ? table[k] : detected[k], 0.01);
      if (on == 0) {
        const bool apart = fabs(table[k] / printed[k] - 1.0) > 0.01;
        snprintf(id, sizeof id, "the same over the printed %.3e, h = 2^-%d%s", printed[k], 5 + k,
                 apart ? " (not explained)" : "");
        study_measure(report, id, error[k] / printed[k]);
      }
    }
    if (on == 1) {
      study_claim_near(report, "error / h^2 with detection, h = 2^-10", error[5] / (h[5] * h[5]),
                       0.0757, 0.005);
    }
    char label[96];
    snprintf(label, sizeof label, "%s, %s", scheme, options[on]);
    study_add_series(report, label, 6, h, error, none);
  }
  return CLI_DONE;
}

static int run_table2(const cli_args* args, study_report* report) {
  (void)args;
  return run_block(report, "trapezoidal-implicit-end", table2, printed2);
}

static int run_table3(const cli_args* args, study_report* report) {
  (void)args;
  return run_block(report, "trapezoidal-implicit-mean", table3, printed3);
}

const study study_potra2006_table1 = {
    .name = "potra2006-table1",
    .summary = "double pendulum at a wall: error and drift of the joints over the step",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, table 10.1",
    .run = run_table1,
};

const study study_potra2006_table2 = {
    .name = "potra2006-table2",
    .summary = "block that sticks and slips, law on the end velocity",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, table 10.2",
    .run = run_table2,
};

const study study_potra2006_table3 = {
    .name = "potra2006-table3",
    .summary = "block that sticks and slips, law on the mean velocity",
    .source = "Potra, Anitescu, Gavrea and Trinkle 2006, table 10.3",
    .run = run_table3,
};
