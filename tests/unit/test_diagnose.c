/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Systems of callbacks that are not defined everywhere, flags that end a step from outside, and texts
 * that steer terminals.
 */
#include "saltus_test.h"

#include "base/visible.h"
#include "saltus/integrator.h"
#include "saltus/sim.h"

#include <math.h>
#include <string.h>

/* A unit mass on a line; its force has no value below `edge`. It may set a flag after some calls. */
typedef struct line {
  double edge;
  int* flag;
  int* calls;
  int stall_limit; /* calls before the flag is set; 0: never */
} line;

static void line_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  M[0] = 1.0;
}

static void line_force(const void* self, const saltus_point* at, double* F) {
  const line* l = self;
  F[0] = -2.0 + 1e-3 * sqrt(at->q[0] - l->edge);
  if (l->calls != NULL && ++*l->calls == l->stall_limit) {
    *l->flag = 1;
  }
}

static const saltus_system_ops line_ops = {.mass = line_mass, .force = line_force};
static const saltus_label names[] = {{"height", "m"}};
static const saltus_label rates[] = {{"speed", "m/s"}};

static saltus_system line_system(const line* l) {
  return (saltus_system){.ops = &line_ops,
                         .self = l,
                         .dims = {.nq = 1, .nv = 1},
                         .q_labels = names,
                         .v_labels = rates};
}

static void the_value_that_is_missing_is_named(void** state) {
  (void)state;
  const line l = {.edge = 0.5};
  const saltus_system sys = line_system(&l);
  char text[256];
  const double inside = 1.0;
  const double outside = 0.25;
  const double v = -3.0;
  assert_int_equal(saltus_system_diagnose(&sys, 0.0, &inside, &v, text, sizeof text), SALTUS_OK);
  assert_string_equal(text, "");
  assert_int_equal(saltus_system_diagnose(&sys, 7.0, &outside, &v, text, sizeof text),
                   SALTUS_ERR_UNDEFINED);
  assert_string_equal(text, "the force on coordinate height is nan at t = 7 s, height = 0.25 m, "
                            "speed = -3 m/s");
}

/* y = 1 - t^2 reaches 1/2 at t = 0.7071, but for a force of 1e-3 N. */
static void a_step_says_which_callback_it_met_and_where(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean", "rk4", "radau-iia-5", "dg-minus",
                                        "adaptive"};
  for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
    const line l = {.edge = 0.5};
    const saltus_system sys = line_system(&l);
    const double q0 = 1.0;
    const double v0 = 0.0;
    saltus_kept_message kept;
    const saltus_sim_def def = {.system = &sys,
                                .scheme = schemes[i],
                                .h = 0.01,
                                .q0 = &q0,
                                .v0 = &v0,
                                .log = saltus_log_keep(&kept)};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_not_equal(saltus_sim_run_until(sim, 1.0), SALTUS_OK);
    assert_non_null(strstr(kept.text, "the force on coordinate height is "));
    assert_near(saltus_sim_time(sim), 0.7071, 0.02);
    assert_true(isfinite(saltus_sim_q(sim)[0]));
    saltus_sim_destroy(sim);
  }
}

static void a_start_without_a_value_is_refused(void** state) {
  (void)state;
  const line l = {.edge = 0.5};
  const saltus_system sys = line_system(&l);
  const double q0 = 0.25;
  const double v0 = 0.0;
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "moreau-jean",
                              .h = 0.01,
                              .q0 = &q0,
                              .v0 = &v0,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_UNDEFINED);
  assert_non_null(strstr(kept.text, "simulation: undefined at the start: the force on coordinate"));
  const saltus_integrator_def integrator = {
      .system = &sys, .q0 = &q0, .v0 = &v0, .log = saltus_log_keep(&kept)};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&integrator, &it), SALTUS_ERR_UNDEFINED);
  assert_non_null(strstr(kept.text, "integrator: undefined at the start"));
}

/* The flag is set inside a step: nothing of that step stays, and the next call goes on. */
static void a_flag_ends_the_integrator_inside_a_step(void** state) {
  (void)state;
  int flag = 0;
  int calls = 0;
  const line l = {.edge = -1e9, .flag = &flag, .calls = &calls, .stall_limit = 40};
  const saltus_system sys = line_system(&l);
  const double q0 = 1.0;
  const double v0 = 0.0;
  const saltus_integrator_def def = {.system = &sys,
                                     .q0 = &q0,
                                     .v0 = &v0,
                                     .rtol = 1e-10,
                                     .atol = 1e-10,
                                     .h_max = 0.01,
                                     .cancel = &flag};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_ERR_STOPPED);
  assert_true(calls < 80); /* a step takes some 20 */
  double t = saltus_integrator_time(it);
  assert_true(t < 0.1);
  flag = 0;
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_true(saltus_integrator_time(it) == 1.0);
  saltus_integrator_destroy(it);
}

static void what_steers_a_terminal_is_shown(void** state) {
  (void)state;
  static const struct {
    const char *text, *shown;
  } cases[] = {
      {"plain", "plain"},
      {"\x1b[2J", "\\x1b[2J"},
      {"\xc3\xa9 \xe7\x90\x83 \xf0\x9f\x98\x80", "\xc3\xa9 \xe7\x90\x83 \xf0\x9f\x98\x80"},
      {"\xc2\x9b", "\\xc2\\x9b"},                              /* CSI as a character */
      {"\x9b", "\\x9b"},                                       /* and as a byte */
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},                     /* right to left from here on */
      {"\xc0\xaf \xed\xa0\x80", "\\xc0\\xaf \\xed\\xa0\\x80"}, /* overlong; half of a pair */
      {"\xe7\x90", "\\xe7\\x90"},                              /* cut */
      {"a\nb\x7f", "a\\x0ab\\x7f"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char out[64];
    assert_string_equal(saltusi_visible_text(cases[i].text, out, sizeof out), cases[i].shown);
  }
  char few[7];
  assert_string_equal(saltusi_visible_text("ab\x1b\x1b", few, sizeof few), "ab\\x1b");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_value_that_is_missing_is_named),
      cmocka_unit_test(a_step_says_which_callback_it_met_and_where),
      cmocka_unit_test(a_start_without_a_value_is_refused),
      cmocka_unit_test(a_flag_ends_the_integrator_inside_a_step),
      cmocka_unit_test(what_steers_a_terminal_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
