/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Room for later versions: a struct that carries something there is refused with its name, because this
 * version would ignore it. docs/abi.md.
 */
#include "saltus_test.h"

#include <stdio.h>

static saltus_kept_message message;

static void fall(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -1.0;
}

static void unit_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static const double zero[1] = {0.0};

static saltus_system_ops body_ops(void) {
  return (saltus_system_ops){.mass = unit_mass, .force = fall};
}

static saltus_system body(const saltus_system_ops* ops) {
  return (saltus_system){.ops = ops, .dims = {.nq = 1, .nv = 1}};
}

static saltus_sim_def sim_def(const saltus_system* system) {
  return (saltus_sim_def){.system = system,
                          .scheme = "moreau-jean",
                          .h = 0.1,
                          .q0 = zero,
                          .v0 = zero,
                          .log = saltus_log_keep(&message)};
}

static void expect_refused(const saltus_sim_def* def, const char* name) {
  saltus_sim* sim = (saltus_sim*)&message;
  message.text[0] = '\0';
  assert_int_equal(saltus_sim_create(def, &sim), SALTUS_ERR_RANGE);
  assert_null(sim);
  assert_says(message, name);
  assert_says(message, saltus_version());
}

static void an_initialiser_with_names_leaves_it_zero(void** state) {
  (void)state;
  const saltus_system_ops ops = body_ops();
  const saltus_system system = body(&ops);
  const saltus_sim_def def = sim_def(&system);
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  saltus_sim_destroy(sim);
}

static void a_system_with_more_than_is_known_is_refused(void** state) {
  (void)state;
  saltus_system_ops ops = body_ops();
  saltus_system system = body(&ops);
  const saltus_sim_def def = sim_def(&system);
  ops.reserved[4] = 1; /* the last */
  expect_refused(&def, "saltus_system_ops: reserved[4]");
  ops = body_ops();
  system.reserved[2] = 1; /* the last */
  expect_refused(&def, "saltus_system: reserved[2]");
  system = body(&ops);
  system.dims.reserved[0] = 1;
  expect_refused(&def, "saltus_dims");
  saltus_linear_ops linear = {.diagonal = true, .reserved = {1}};
  system = body(&ops);
  ops.linear = &linear;
  expect_refused(&def, "saltus_linear_ops");
  ops = body_ops();
  const saltus_enclosure_ops enclosure = {.reserved = {1}};
  ops.enclosure = &enclosure;
  expect_refused(&def, "saltus_enclosure_ops: reserved[0]");
  ops = body_ops();
  const saltus_own_impact own = {.reserved = {1}};
  const saltus_contact_law laws[2] = {{.e_N = 0.5}, {.e_N = 0.5, .own = &own}};
  system.laws = laws;
  system.law_count = 2;
  expect_refused(&def, "saltus_own_impact: reserved[0]");
}

static void definitions_with_more_than_is_known_are_refused(void** state) {
  (void)state;
  const saltus_system_ops ops = body_ops();
  const saltus_system system = body(&ops);
  saltus_sim_def def = sim_def(&system);
  def.reserved[0] = 1;
  expect_refused(&def, "saltus_sim_def");
  def = sim_def(&system);
  def.progress.reserved[1] = 1;
  expect_refused(&def, "saltus_progress");
  const saltus_recorder recorder = {.reserved = {1}};
  def = sim_def(&system);
  def.recorders = &recorder;
  def.recorder_count = 1;
  expect_refused(&def, "saltus_recorder");
}

/* The status of a call with a fresh message. */
#define REFUSES(call, name)                                                                        \
  do {                                                                                             \
    message.text[0] = '\0';                                                                        \
    assert_int_equal((call), SALTUS_ERR_RANGE);                                                    \
    assert_says(message, name);                                                                    \
  } while (0)

static void other_definitions_with_more_than_is_known_are_refused(void** state) {
  (void)state;
  const saltus_system_ops ops = body_ops();
  const saltus_system system = body(&ops);
  const saltus_log log = saltus_log_keep(&message);
  saltus_scheme* scheme;
  const saltus_scheme_def scheme_def = {
      .scheme = "moreau-jean", .system = &system, .log = log, .reserved = {1}};
  REFUSES(saltus_scheme_create(&scheme_def, &scheme), "saltus_scheme_def");
  saltus_integrator* integrator;
  const saltus_integrator_def integrator_def = {.system = &system,
                                                .q0 = zero,
                                                .v0 = zero,
                                                .rtol = 1e-6,
                                                .atol = 1e-6,
                                                .log = log,
                                                .reserved = {1}};
  REFUSES(saltus_integrator_create(&integrator_def, &integrator), "saltus_integrator_def");
  saltus_scene* scene;
  const saltus_scene_def scene_def = {.text = "saltus: 1", .log = log, .reserved = {1}};
  REFUSES(saltus_scene_create(&scene_def, &scene), "saltus_scene_def");
  saltus_run* run;
  const saltus_run_def run_def = {.log = log, .reserved = {1}};
  REFUSES(saltus_run_create(&run_def, &run), "saltus_run_def");
  saltus_recording* recording;
  const saltus_recording_def recording_def = {.path = "x.csv", .log = log, .reserved = {1}};
  REFUSES(saltus_recording_create(&recording_def, &recording), "saltus_recording_def");
  saltus_start_move move;
  const saltus_start_def start_def = {.system = &system, .log = log, .reserved = {1}};
  REFUSES(saltus_start_project(&start_def, &move), "saltus_start_def");
  saltus_friction_solver* friction;
  saltus_lcp_solver* lcp;
  const saltus_solver_def solver_def = {.log = log, .reserved = {1}};
  REFUSES(saltus_friction_solver_create(&solver_def, &friction), "saltus_solver_def");
  REFUSES(saltus_lcp_solver_create(&solver_def, &lcp), "saltus_solver_def");
}

static void the_version_is_a_number_too(void** state) {
  (void)state;
  int number = saltus_version_number();
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
  assert_string_equal(text, saltus_version());
  assert_int_equal(number, SALTUS_VERSION_NUMBER);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_initialiser_with_names_leaves_it_zero),
      cmocka_unit_test(a_system_with_more_than_is_known_is_refused),
      cmocka_unit_test(definitions_with_more_than_is_known_are_refused),
      cmocka_unit_test(other_definitions_with_more_than_is_known_are_refused),
      cmocka_unit_test(the_version_is_a_number_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
