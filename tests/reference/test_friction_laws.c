/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction laws in scenes, with steps of Moreau and Jean: where motions end, and periods of stick-slip, are those of
 * closed forms to the first order in the step.
 */
#include "saltus_test.h"

#include "../../studies/friction_cases.h"

#include <math.h>
#include <stdio.h>

/* Largest error near a step: stops fall anywhere into a step. */
static double error_near(const friction_case* of, const char* scheme, double h) {
  static const double parts[] = {1.0, 0.93, 0.87};
  double worst = 0.0;
  char text[1024];
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    const double found = friction_case_run(of, scheme, parts[k] * h, text, sizeof text);
    if (!isfinite(found)) {
      fail_msg("%s: %s", of->label, text);
    }
    worst = fmax(worst, fabs(found - of->value));
  }
  return worst;
}

static void claim(const friction_case* of, const char* scheme) {
  const double h = 0.004;
  const double coarse = error_near(of, scheme, h), fine = error_near(of, scheme, h / 8.0);
  if (!(coarse <= of->constant * h && fine <= of->constant * h / 8.0 && fine <= coarse / 3.0)) {
    fail_msg("%s, %s: errors %g and %g at steps of %g s and an eighth of it", scheme, of->label,
             coarse, fine, h);
  }
}

static void motions_end_where_closed_forms_say(void** state) {
  (void)state;
  for (int i = 0; friction_case_at(i) != NULL; i++) {
    claim(friction_case_at(i), "moreau-jean");
  }
}

/* Schemes beside moreau-jean, on one case of each law. */
static void other_schemes_find_the_same(void** state) {
  (void)state;
  static const int cases[] = {2, 4, 6, 7, 8, 9, 10, 13, 17};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    claim(friction_case_at(cases[k]), "moreau-jean-projected");
    claim(friction_case_at(cases[k]), "moreau-midpoint");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_end_where_closed_forms_say),
      cmocka_unit_test(other_schemes_find_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
