/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every scheme makes of one system in all forms in which it can be said: dense, with a structure, by
 * blocks, with sparse rows, with the rows of a joint one by one.
 */
#include "saltus_test.h"

#include "bodies.h"

#include <stdlib.h>

enum { BODIES = 6, NV = 3 * BODIES };

/* Six bodies in a row with springs, two pins, three contacts; none closed at the start. */
static void fill(bodies* b, bool pins, double* q, double* v) {
  *b = (bodies){.count = BODIES,
                .springs = BODIES - 1,
                .pins = pins ? 2 : 0,
                .pin = {0, 2, 3, 5},
                .contacts = 3,
                .k = 20.0,
                .k3 = 1.0,
                .c = 0.5,
                .g = 9.81,
                .e = 0.5};
  for (int i = 0; i < BODIES; i++) {
    if (i + 1 < BODIES) {
      b->spring[2 * i] = i;
      b->spring[2 * i + 1] = i + 1;
    }
    q[3 * i] = 0.1 * i;
    q[3 * i + 1] = 0.05 + 0.01 * i;
    q[3 * i + 2] = 0.2 * i;
    v[3 * i] = v[3 * i + 1] = v[3 * i + 2] = 0.0;
  }
}

/* State at t = 0.3, or false where the scheme does not take the system. */
static bool run(const char* scheme, unsigned form, bool pins, double* q) {
  static bodies b;
  double v[NV];
  fill(&b, pins, q, v);
  const saltus_system sys = bodies_system(&b, form, q);
  saltus_sim* sim;
  saltus_kept_message kept;
  const saltus_sim_def def = {
      .system = &sys, .scheme = scheme, .h = 0.01, .q0 = q, .v0 = v, .log = saltus_log_keep(&kept)};
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_ERR_UNSUPPORTED) {
    return false;
  }
  assert_int_equal(status, SALTUS_OK);
  status = saltus_sim_run_until(sim, 0.3);
  if (status != SALTUS_OK && status != SALTUS_ERR_ACCUMULATION) {
    fail_msg("%s, form %u: %s", scheme, form, kept.text);
  }
  memcpy(q, saltus_sim_q(sim), NV * sizeof(double));
  q[0] += saltus_sim_time(sim); /* an event-driven scheme may end before */
  saltus_sim_destroy(sim);
  return true;
}

/* 1e-9: rounding of 1e-16, a thousand times for the steps and iterations and 1e3 for impacts, whose times
 * differ by as much; schemes with a tolerance of their own end within it. */
static void every_form_gives_the_same_motion(void** state) {
  (void)state;
  int compared = 0;
  for (int s = 0; s < saltus_scheme_count(); s++) {
    const saltus_scheme_info* info = saltus_scheme_at(s);
    for (int pins = 0; pins < 2; pins++) {
      double dense[NV], other[NV];
      if (!run(info->name, 0, pins == 1, dense)) {
        continue;
      }
      static const unsigned forms[] = {BODIES_STRUCTURE, BODIES_BLOCKS,
                                       BODIES_BLOCKS | BODIES_SPARSE,
                                       BODIES_BLOCKS | BODIES_SPARSE | BODIES_ROW_JOINTS};
      for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        assert_true(run(info->name, forms[k], pins == 1, other));
        for (int i = 0; i < NV; i++) {
          if (!(fabs(other[i] - dense[i]) <= (info->chooses_step ? 1e-6 : 1e-9))) {
            fail_msg("%s, form %u, pins %d: q[%d] is %.17g, dense %.17g", info->name, forms[k],
                     pins, i, other[i], dense[i]);
          }
        }
      }
      compared++;
    }
  }
  assert_true(compared > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_gives_the_same_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
