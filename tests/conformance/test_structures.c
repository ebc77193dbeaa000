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
static bool run(const char* scheme, unsigned form, int variant, double* q) {
  static bodies b;
  double v[NV];
  fill(&b, variant % 2 == 1, q, v);
  b.mu = variant / 2 == 1 ? 0.3 : 0.0;
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
    for (int variant = 0; variant < 4 && saltus_test_takes(s);
         variant++) { /* pins, friction, both */
      double dense[NV], other[NV];
      if (!run(info->name, 0, variant, dense)) {
        continue;
      }
      static const unsigned forms[] = {BODIES_STRUCTURE, BODIES_BLOCKS,
                                       BODIES_BLOCKS | BODIES_SPARSE,
                                       BODIES_BLOCKS | BODIES_SPARSE | BODIES_ROW_JOINTS};
      for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        assert_true(run(info->name, forms[k], variant, other));
        for (int i = 0; i < NV; i++) {
          if (!(fabs(other[i] - dense[i]) <= (info->chooses_step ? 1e-6 : 1e-9))) {
            fail_msg("%s, form %u, variant %d: q[%d] is %.17g, dense %.17g", info->name, forms[k],
                     variant, i, other[i], dense[i]);
          }
        }
      }
      compared++;
    }
  }
  assert_true(compared > (saltus_test_sanitized() ? 13 : 40));
}

enum { FAILS_MOST = 200 };

/* Steps of 0.04 s through t = 0.5 s, where the force fails: the step that meets it ends with that, in its
 * words, and leaves the state. Once the force is there again the scheme goes on. */
static void a_failing_callback_ends_the_step_of_every_scheme(void** state) {
  (void)state;
  static bodies b;
  for (int s = 0; s < saltus_scheme_count(); s++) {
    const saltus_scheme_info* info = saltus_scheme_at(s);
    double q[NV], v[NV], q_before[NV], v_before[NV];
    fill(&b, false, q, v);
    b.fails_after = 0.5;
    b.contacts = 0; /* event-driven schemes stop at accumulations */
    const saltus_system sys = bodies_system(&b, BODIES_BLOCKS, q);
    saltus_kept_message kept;
    saltus_scheme* scheme;
    const saltus_scheme_def def = {
        .scheme = info->name, .system = &sys, .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    saltus_state x = {0.0, q, v};
    saltus_status status = SALTUS_OK;
    double t_before = 0.0;
    for (int k = 0; k < FAILS_MOST && status == SALTUS_OK; k++) {
      t_before = x.t;
      memcpy(q_before, q, sizeof q);
      memcpy(v_before, v, sizeof v);
      status = saltus_scheme_step(scheme, 0.04, &x, NULL);
    }
    if (status != SALTUS_ERR_SYSTEM ||
        strstr(kept.text, "the motor of body 1 stalls at t = 0.5") == NULL) {
      fail_msg("%s ends with %s, at t = %g: %s", info->name, saltus_status_text(status), x.t,
               kept.text);
    }
    assert_true(x.t == t_before && t_before <= 0.5 + 0.04 && t_before > 0.3);
    assert_memory_equal(q, q_before, sizeof q);
    assert_memory_equal(v, v_before, sizeof v);
    b.fails_after = 0.0;
    assert_int_equal(saltus_scheme_step(scheme, 0.04, &x, NULL), SALTUS_OK);
    assert_true(x.t > t_before);
    saltus_scheme_destroy(scheme);
  }
}

static saltus_status ignore(void* user, const saltus_frame* frame) {
  (void)user;
  (void)frame;
  return SALTUS_OK;
}

/* Where nothing but a recording asks, at the start, and in the checker. */
static void failures_beside_the_steps_are_reported(void** state) {
  (void)state;
  static bodies b;
  double q[NV], v[NV];
  fill(&b, true, q, v);
  b.potential_fails = 0.2;
  const saltus_system sys = bodies_system(&b, 0, q);
  saltus_kept_message kept;
  saltus_sim* sim;
  const saltus_recorder recorder = {.frame = ignore};
  saltus_sim_def def = {.system = &sys,
                        .scheme = "moreau-jean",
                        .h = 0.01,
                        .q0 = q,
                        .v0 = v,
                        .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 0.4), SALTUS_OK); /* nobody asks for energies */
  saltus_sim_destroy(sim);

  def.recorders = &recorder;
  def.recorder_count = 1;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 0.4), SALTUS_ERR_SYSTEM);
  assert_says(kept, "no potential after t = 0.2");
  assert_near(saltus_sim_time(sim), 0.21, 1e-12);
  saltus_sim_destroy(sim);

  def.t0 = 0.3;
  def.log = saltus_log_keep(&kept);
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_ERR_SYSTEM);
  assert_says(kept, "at the start a callback of the system failed: no potential after t = 0.2");

  saltus_system_check_result result;
  b.potential_fails = 0.0;
  b.fails_after = 0.2;
  assert_int_equal(saltus_system_check(&sys, 0.3, q, v, saltus_log_keep(&kept), &result),
                   SALTUS_ERR_SYSTEM);
  assert_says(kept, "check: a callback of the system failed: the motor of body 1");
}

/* Bytes that are asked for, and how often. */
typedef struct asked {
  size_t bytes;
  int calls;
} asked;

static void* ask(size_t bytes, void* user) {
  asked* a = user;
  a->bytes += bytes;
  a->calls++;
  const saltus_allocator memory = saltus_allocator_default();
  return memory.alloc(bytes, memory.user);
}

static void give_back(void* block, size_t bytes, void* user) {
  (void)user;
  const saltus_allocator memory = saltus_allocator_default();
  memory.free(block, bytes, memory.user);
}

/* A chain with springs, implicit: memory in proportion to its length, one factorisation in all (A is
 * constant), as many evaluations in a step whatever the length. What one factorisation costs is in
 * tests/unit/test_block_lu.c. */
static void a_chain_with_springs_costs_in_proportion(void** state) {
  (void)state;
  static bodies b;
  static double q[3 * 1024], v[3 * 1024];
  double bytes[2];
  long long forces[2];
  for (int round = 0; round < 2; round++) {
    b = (bodies){.count = round == 0 ? 256 : 1024, .k = 100.0, .c = 1.0};
    for (int i = 0; i < 3 * b.count; i++) {
      q[i] = i % 3 == 0 ? 0.1 * i : 0.0;
      v[i] = sin(0.1 * i);
    }
    for (int i = 0; i + 1 < b.count; i++) {
      b.spring[2 * i] = i;
      b.spring[2 * i + 1] = i + 1;
    }
    b.springs = b.count - 1;
    const saltus_system sys = bodies_system(&b, BODIES_BLOCKS | BODIES_SPARSE, q);
    asked a = {0};
    const saltus_allocator memory = {ask, give_back, &a};
    const saltus_scheme_def def = {.scheme = "moreau-jean", .system = &sys, .allocator = &memory};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    bytes[round] = (double)a.bytes;
    const int calls = a.calls;
    saltus_state x = {0.0, q, v};
    for (int k = 0; k < 10; k++) {
      assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, NULL), SALTUS_OK);
    }
    assert_int_equal(a.calls, calls); /* no step asks for memory */
    const saltus_work work = saltus_scheme_work(scheme);
    forces[round] = work.force_evaluations;
    assert_int_equal(work.factorizations, 1);
    saltus_scheme_destroy(scheme);
  }
  assert_true(bytes[1] <= 4.02 * bytes[0]);
  assert_int_equal(forces[0], forces[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_form_gives_the_same_motion),
      cmocka_unit_test(a_failing_callback_ends_the_step_of_every_scheme),
      cmocka_unit_test(failures_beside_the_steps_are_reported),
      cmocka_unit_test(a_chain_with_springs_costs_in_proportion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
