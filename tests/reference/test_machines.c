/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_machines.c - machines with clearances, cams and stops against the numbers of studies/machine_cases.c.
 */
#include "machine_run.h"
#include "saltus_test.h"

#include <stdio.h>

static void machines_move_as_independent_codes_say(void** unused) {
  (void)unused;
  for (int k = 0; machine_case_at(k) != NULL; k++) {
    const machine_case* of = machine_case_at(k);
    for (int j = 0; j < 2 && of->tolerance[j] > 0.0; j++) {
      char path[512];
      saltus_kept_message kept;
      snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_SCENES, of->scene);
      machine_run run = {.scene = path,
                         .parameters = of->parameters,
                         .scheme = "adaptive",
                         .tol = of->tolerance[j],
                         .until = of->until,
                         .least = of->least,
                         .after = of->after,
                         .log = saltus_log_keep(&kept)};
      if (machine_go(&run) != SALTUS_OK) {
        fail_msg("%s: %s", of->label, kept.text);
      }
      for (int i = 0; i < of->count; i++) {
        const machine_number* number = &of->numbers[i];
        const double found = machine_find(&run, number);
        const double most = number->off + number->tolerances * run.tol;
        if (!(fabs(found - number->expected) <= most)) {
          char what[80];
          machine_describe(number, what, sizeof what);
          fail_msg("%s, tol %g, %s: %.15g, expected %.15g within %g", of->label, run.tol, what,
                   found, number->expected, most);
        }
      }
      machine_free(&run);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(machines_move_as_independent_codes_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
