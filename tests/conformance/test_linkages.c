/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Steps of moreau-jean on many links: iterations do not grow with their number, a chain passes the crack of its
 * whip with joints closed, steps that are given up leave a message, and resumed runs have the same bits.
 */
#include "saltus_test.h"

#include "../../bench/links.h"

#include "saltus/sim.h"

#include <math.h>
#include <stdlib.h>

static saltus_sim* start(const saltus_mechanism* made, const saltus_moreau_jean_options* options,
                         saltus_log log) {
  const saltus_sim_def def = {.system = saltus_mechanism_system(made),
                              .scheme = "moreau-jean",
                              .options = options,
                              .h = 1.0 / 240.0,
                              .q0 = saltus_mechanism_q0(made),
                              .v0 = saltus_mechanism_v0(made),
                              .log = log};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

static double iterations(const links_def* def, int steps) {
  saltus_mechanism* made = links_create(def);
  const saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  saltus_sim* sim = start(made, &options, (saltus_log){0});
  assert_int_equal(saltus_sim_run(sim, steps), SALTUS_OK);
  double each = (double)saltus_sim_work(sim).newton_iterations / steps;
  saltus_sim_destroy(sim);
  saltus_mechanism_destroy(made);
  return each;
}

/* Without what tension does in the matrix they are 9 and 14. */
static void iterations_do_not_grow_with_the_chain(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    links_def def = {.dimension = k == 0 ? 2 : 3, .count = 100, .twisted = k == 2};
    double few = iterations(&def, 20);
    def.count = 1000;
    double many = iterations(&def, 20);
    assert_true(few <= 6.0);
    assert_true(many <= few + 1.0);
  }
}

/* The last steps tell where the next one ends: 2.8 iterations a step instead of 3.7 from v_k, for the same
 * motion: both are solved to 1e-10 of velocities of some 5 m/s, and differences of a chain that falls grow. */
static void steps_start_where_the_last_ones_lead(void** state) {
  (void)state;
  enum { STEPS = 120 };
  saltus_mechanism* made = links_create(&(links_def){.dimension = 3, .count = 60, .twisted = true});
  const saltus_system* sys = saltus_mechanism_system(made);
  double each[2];
  saltus_sim* sim[2];
  for (int k = 0; k < 2; k++) {
    saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
    options.newton_tol = 1e-10;
    options.warm_start = k == 0 ? SALTUS_WARM_START_YES : SALTUS_WARM_START_NO;
    sim[k] = start(made, &options, (saltus_log){0});
    assert_int_equal(saltus_sim_run(sim[k], STEPS), SALTUS_OK);
    each[k] = (double)saltus_sim_work(sim[k]).newton_iterations / STEPS;
  }
  assert_true(each[0] <= each[1] - 0.5);
  for (int i = 0; i < sys->dims.nq; i++) {
    assert_near(saltus_sim_q(sim[0])[i], saltus_sim_q(sim[1])[i], 1e-6);
  }
  saltus_sim_destroy(sim[0]);
  saltus_sim_destroy(sim[1]);
  saltus_mechanism_destroy(made);
}

/* 100 links released from the horizontal: from 4.37 s on links turn by radians in a step, which is taken in parts.
 * The bound of energy is four times what was found, 9e-6 of what gravity can give. */
static void a_whip_cracks_with_its_joints_closed(void** state) {
  (void)state;
  saltus_mechanism* made = links_create(&(links_def){.dimension = 2, .count = 100});
  const saltus_system* sys = saltus_mechanism_system(made);
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.project_joints = 1;
  options.newton_tol = 1e-10;
  saltus_sim* sim = start(made, &options, (saltus_log){0});
  const double from = links_energy(sys, 0.0, saltus_mechanism_q0(made), saltus_mechanism_v0(made));
  const double scale = 0.1 * 9.81 * 100 * 5.0;
  for (int k = 1; k <= 12; k++) {
    assert_int_equal(saltus_sim_run(sim, 100 * k), SALTUS_OK);
    const double t = saltus_sim_time(sim);
    assert_near(links_defect(sys, t, saltus_sim_q(sim)), 0.0, 1e-11);
    assert_near(links_energy(sys, t, saltus_sim_q(sim), saltus_sim_v(sim)) / scale, from / scale,
                4e-5);
  }
  /* steps that follow one in parts start with as many: 6.5 iterations a step, 10 when each begins anew */
  assert_true((double)saltus_sim_work(sim).newton_iterations <= 8.0 * 1200);
  saltus_sim_destroy(sim);
  saltus_mechanism_destroy(made);
}

/* One iteration solves nothing here, however small the parts of a step. */
static void a_step_that_is_given_up_says_so(void** state) {
  (void)state;
  saltus_mechanism* made = links_create(&(links_def){.dimension = 3, .count = 30});
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.newton_max = 1;
  saltus_kept_message kept;
  saltus_sim* sim = start(made, &options, saltus_log_keep(&kept));
  assert_int_equal(saltus_sim_run(sim, 5), SALTUS_RETRY_SMALLER);
  assert_says(kept, "did not converge");
  assert_true(saltus_sim_time(sim) == 0.0);
  saltus_sim_destroy(sim);
  saltus_mechanism_destroy(made);
}

/* Positions that go on with the velocities of the start show where. */
static void and_names_the_joint_that_opens_most(void** state) {
  (void)state;
  saltus_mechanism* made = links_create(&(links_def){.dimension = 3, .count = 30, .twisted = true});
  const saltus_system* sys = saltus_mechanism_system(made);
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  saltus_sim* sim = start(made, &options, (saltus_log){0});
  assert_int_equal(saltus_sim_run(sim, 40), SALTUS_OK);
  options.newton_max = 1;
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = sys,
                              .scheme = "moreau-jean",
                              .options = &options,
                              .h = 1.0 / 240.0,
                              .q0 = saltus_sim_q(sim),
                              .v0 = saltus_sim_v(sim),
                              .log = saltus_log_keep(&kept)};
  saltus_sim* refused;
  assert_int_equal(saltus_sim_create(&def, &refused), SALTUS_OK);
  assert_int_equal(saltus_sim_run(refused, 1), SALTUS_RETRY_SMALLER);
  double* q = calloc((size_t)sys->dims.nq, sizeof(double));
  double* g = calloc((size_t)sys->dims.nj, sizeof(double));
  void* scratch = calloc(1, sys->dims.scratch + 1);
  sys->ops->advance(sys->self, saltus_sim_q(refused), saltus_sim_v(refused), def.h, q);
  sys->ops->joints(sys->self, &(saltus_point){.t = def.h, .q = q, .scratch = scratch}, g);
  int worst = 0;
  for (int r = 1; r < sys->dims.nj; r++) {
    worst = fabs(g[r]) > fabs(g[worst]) ? r : worst;
  }
  assert_says(kept, "did not converge");
  assert_says(kept, sys->joint_names[worst]);
  free(q);
  free(g);
  free(scratch);
  saltus_sim_destroy(refused);
  saltus_sim_destroy(sim);
  saltus_mechanism_destroy(made);
}

/* Impulses that steps start from are part of what is carried. */
static void chains_resume_with_the_same_bits(void** state) {
  (void)state;
  saltus_mechanism* made = links_create(&(links_def){.dimension = 3, .count = 30, .twisted = true});
  const saltus_system* sys = saltus_mechanism_system(made);
  const size_t nq = (size_t)sys->dims.nq * sizeof(double),
               nv = (size_t)sys->dims.nv * sizeof(double);
  const saltus_scheme_def def = {.scheme = "moreau-jean", .system = sys};
  saltus_scheme *whole, *resumed;
  assert_int_equal(saltus_scheme_create(&def, &whole), SALTUS_OK);
  assert_int_equal(saltus_scheme_create(&def, &resumed), SALTUS_OK);
  saltus_state a = {.q = malloc(nq), .v = malloc(nv)}, b = {.q = malloc(nq), .v = malloc(nv)};
  memcpy(a.q, saltus_mechanism_q0(made), nq);
  memcpy(a.v, saltus_mechanism_v0(made), nv);
  for (int k = 0; k < 20; k++) {
    if (k == 10) {
      const size_t bytes = saltus_scheme_memory_bytes(whole);
      assert_true(bytes > (size_t)sys->dims.nj * sizeof(double));
      void* kept = malloc(bytes);
      saltus_scheme_memory_save(whole, kept);
      assert_int_equal(saltus_scheme_memory_load(resumed, kept, bytes), SALTUS_OK);
      free(kept);
      memcpy(b.q, a.q, nq);
      memcpy(b.v, a.v, nv);
      b.t = a.t;
    }
    assert_int_equal(saltus_scheme_step(whole, 0.004, &a, NULL), SALTUS_OK);
    if (k >= 10) {
      assert_int_equal(saltus_scheme_step(resumed, 0.004, &b, NULL), SALTUS_OK);
    }
  }
  assert_memory_equal(a.q, b.q, nq);
  assert_memory_equal(a.v, b.v, nv);
  free(a.q);
  free(a.v);
  free(b.q);
  free(b.v);
  saltus_scheme_destroy(whole);
  saltus_scheme_destroy(resumed);
  saltus_mechanism_destroy(made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_do_not_grow_with_the_chain),
      cmocka_unit_test(steps_start_where_the_last_ones_lead),
      cmocka_unit_test(a_whip_cracks_with_its_joints_closed),
      cmocka_unit_test(a_step_that_is_given_up_says_so),
      cmocka_unit_test(and_names_the_joint_that_opens_most),
      cmocka_unit_test(chains_resume_with_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
