/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Tolerance-driven integration against the tables of an independent program (docs/theory/adaptive.md,
 * 12): the errors are those of Dormand-Prince 5(4), measured against the method of order 8 at 1e-13, and
 * that one against exact solutions.
 */
#include "saltus_test.h"

#include "tolerance_run.h"

#include <stdio.h>
#include <stdlib.h>

static void must(saltus_status status, const char* what, const saltus_kept_message* kept) {
  if (status != SALTUS_OK) {
    fail_msg("%s: %s (%s)", what, saltus_status_text(status), kept->text);
  }
}

/* Velocities of 10 m/s after some fifty roundings. */
static const double rounding = 1e-13;

static void check_row(const tolerance_case* what, double tol, const tolerance_row* row,
                      const tolerance_run* run, const tolerance_run* reference) {
  double q_max;
  double v_graph;
  tolerance_compare(run, reference, &q_max, &v_graph);
  if (getenv("SALTUS_TOL_SCALE") != NULL) {
    print_message("%-22s %.0e: steps %lld %d, rejected %lld %d, rates %lld %d, events %lld %d, q "
                  "%.2f %.2f, v %.2f %.2f\n",
                  what->name, tol, run->counts.steps, row->steps, run->counts.rejections,
                  row->rejections, run->counts.rates, row->rates, run->counts.events, row->events,
                  q_max / tol, row->q_max, v_graph / tol, row->v_graph);
  }
  char at[64];
  snprintf(at, sizeof at, "%s at %.0e", what->name, tol);
  if (!(q_max <= tol * fmax(10.0, 2.0 * row->q_max))) {
    fail_msg("%s: error of q is %g tol, printed %g", at, q_max / tol, row->q_max);
  }
  if (row->steps > 0 && !(v_graph <= 2.0 * row->v_graph * tol + rounding)) {
    fail_msg("%s: graph of v is off by %g tol, printed %g", at, v_graph / tol, row->v_graph);
  }
  /* Within a fifth. A ball whose first bounce already allows the jump needs one impact less; which one
   * it is, rounding decides. */
  double one_impact = row->events > run->counts.events ? 18.0 : 0.0;
  /* the program of the tables evaluates the acceleration after each bounce anew, which is that of the rate
   * at the start of the step */
  double known = row->events;
  double rates = (double)run->counts.rates;
  if (!(rates <= 1.2 * row->rates && rates >= 0.8 * (row->rates - known - one_impact))) {
    fail_msg("%s: %lld evaluations, printed %d", at, run->counts.rates, row->rates);
  }
  if (what->events_exact) {
    assert_int_equal(run->counts.events, row->events);
  }
}

static void every_row_of_the_tables_holds(void** state) {
  (void)state;
  for (int i = 0; tolerance_case_at(i) != NULL; i++) {
    const tolerance_case* what = tolerance_case_at(i);
    saltus_kept_message kept = {0};
    saltus_log log = saltus_log_keep(&kept);
    tolerance_model model;
    must(tolerance_open(what, log, &model), what->name, &kept);
    tolerance_run reference = tolerance_of(what, &model, 1e-13, SALTUSI_DOP853);
    reference.log = log;
    must(tolerance_go(&reference), what->name, &kept);
    for (int k = 0; k < TOLERANCE_ROWS && what->row[k].rates > 0; k++) {
      double tol = pow(10.0, -3.0 - k);
      tolerance_run run = tolerance_of(what, &model, tol, SALTUSI_DOPRI5);
      run.log = log;
      must(tolerance_go(&run), what->name, &kept);
      check_row(what, tol, &what->row[k], &run, &reference);
      tolerance_free(&run);
    }
    tolerance_free(&reference);
    tolerance_close(&model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_of_the_tables_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
