/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_changing_edges.c - contacts that come and go: bounces that an accumulation jumps over meet what is
 * listed only there; callbacks that fail while gaps are asked for a frame or by
 * step control; bytes that are refused; laws that contacts share.
 */
#include "discs.h"
#include "saltus/saltus.h"
#include "saltus_test.h"

#include <math.h>
#include <string.h>

/* A ball between a floor at 0 and a ceiling at 1.5 m, each listed within 1 mm. */
enum { FLOOR, CEILING };
static const double ceiling_at = 1.5;
static const double near_to = 1e-3;

static double gap_of(double y, uint64_t identity) {
  return identity == FLOOR ? y : ceiling_at - y;
}

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  M[0] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  F[0] = -9.81;
}

static void add(saltus_contact_list* list, uint64_t identity, double gap) {
  if (list->count < list->capacity) {
    list->identity[list->count] = identity;
    list->law[list->count] = (int)identity;
    list->gap[list->count] = gap;
  }
  list->count++;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->count = 0;
  for (uint64_t i = FLOOR; i <= CEILING; i++) {
    if (gap_of(at->q[0], i) <= near_to) {
      add(list, i, gap_of(at->q[0], i));
    }
  }
  list->reach = fmin(list->reach, near_to);
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  (void)self;
  list->count = 0;
  if (over->q_low[0] <= list->reach) {
    add(list, FLOOR, 0.0);
  }
  if (ceiling_at - over->q_high[0] <= list->reach) {
    add(list, CEILING, 0.0);
  }
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  (void)self;
  for (int i = 0; i < count; i++) {
    gap[i] = gap_of(at->q[0], identity[i]);
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self;
  (void)at;
  rows->G[0] = identity == FLOOR ? 1.0 : -1.0;
}

static saltus_status count_ceiling(void* user, const saltus_event* event) {
  *(int*)user += event->kind == SALTUS_EVENT_IMPACT && event->identity == CEILING ? 1 : 0;
  return SALTUS_OK;
}

/* After its first impact at 60 m/s the ball would come to rest after bounces of 1.8 m, through the ceiling. */
static void an_accumulation_does_not_pass_through_what_is_not_listed(void** state) {
  (void)state;
  const saltus_contact_law laws[] = {{.name = "floor", .e_N = 0.1},
                                     {.name = "ceiling", .e_N = 0.5}};
  for (int told = 0; told < 3; told++) { /* lists alone, with gaps, and with sweeps */
    const saltus_system_ops ops = {.mass = mass,
                                   .force = force,
                                   .contacts = contacts,
                                   .contact = contact,
                                   .gaps = told > 0 ? gaps : NULL,
                                   .sweep = told > 1 ? sweep : NULL};
    const saltus_system system = {.ops = &ops,
                                  .dims = {.nq = 1, .nv = 1, .nc = 1},
                                  .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE |
                                            SALTUS_CHANGING_CONTACTS,
                                  .laws = laws,
                                  .law_count = 2};
    saltus_adaptive_options options = saltus_adaptive_options_default();
    options.h_first = 0.75;
    const double q0 = 0.1;
    const double v0 = -60.0;
    int ceiling = 0;
    const saltus_recorder recorder = {.event = count_ceiling, .user = &ceiling};
    const saltus_sim_def def = {.system = &system,
                                .scheme = "adaptive",
                                .options = &options,
                                .q0 = &q0,
                                .v0 = &v0,
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
    assert_int_equal(ceiling, 1);
    saltus_sim_destroy(sim);
  }
}

/* Discs whose rows and lists fail at velocities and states that only a frame and step control ask for. */
static long calls, fails_at;
static saltus_system_ops inner;

static saltus_status failing_contacts(const void* self, const saltus_point* at,
                                      saltus_contact_list* list) {
  if (++calls == fails_at) {
    saltus_fail(at, "call %ld", calls);
  }
  return inner.contacts(self, at, list);
}

static saltus_status ignore_frame(void* user, const saltus_frame* frame) {
  (void)user;
  (void)frame;
  return SALTUS_OK;
}

static saltus_status run_discs(const char* control, long fails) {
  static discs d;
  static saltus_system_ops ops;
  d = discs_usual(3);
  d.changing = true;
  d.near = 0.02;
  d.first = 16; /* no step is done once more */
  saltus_system system = discs_system(&d, &inner);
  ops = inner;
  ops.contacts = failing_contacts;
  system.ops = &ops;
  const double q0[] = {0.0, 0.2, 0.5, 0.15, 1.0, 0.3};
  const double v0[6] = {0.0};
  const saltus_recorder recorder = {.frame = ignore_frame};
  const saltus_sim_def def = {.system = &system,
                              .scheme = "moreau-jean",
                              .h = control == NULL ? 0.01 : 0.0,
                              .control = control,
                              .q0 = q0,
                              .v0 = v0,
                              .recorders = &recorder,
                              .recorder_count = 1};
  saltus_sim* sim;
  calls = 0;
  fails_at = 0;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  fails_at = fails > 0 ? calls + fails : 0;
  saltus_status status = saltus_sim_run_until(sim, 0.2);
  saltus_sim_destroy(sim);
  return status;
}

static void no_failure_is_lost(void** state) {
  (void)state;
  const char* const controls[] = {NULL, "variable-order"};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(run_discs(controls[k], 0), SALTUS_OK);
    for (long call = 1; call <= 40; call++) {
      assert_int_equal(run_discs(controls[k], call), SALTUS_ERR_SYSTEM);
    }
  }
}

/* Bytes that are too short are refused, and the motion goes on to the bits of one that was not disturbed. */
static void a_refused_snapshot_changes_nothing(void** state) {
  (void)state;
  discs d = discs_usual(4);
  d.changing = d.knows_gaps = d.knows_sweep = true;
  d.near = 0.02;
  d.laws[0] = (saltus_contact_law){.name = "floor", .tangents = 1, .mu = 0.4};
  saltus_system_ops ops;
  const saltus_system system = discs_system(&d, &ops);
  const double q0[] = {0.0, 0.1, 3.0, 0.5, 6.0, 0.8, 9.0, 0.101};
  const double v0[] = {1.5, 1.0, 2.0, 0.0, 1.0, 0.0, -2.0, 2.2};
  const saltus_sim_def def = {.system = &system, .scheme = "adaptive", .q0 = q0, .v0 = v0};
  saltus_sim* sims[2];
  static unsigned char bytes[1 << 16];
  for (int i = 0; i < 2; i++) {
    assert_int_equal(saltus_sim_create(&def, &sims[i]), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sims[i], 0.37), SALTUS_OK);
    size_t size = saltus_sim_snapshot_bytes(sims[i]);
    assert_true(size <= sizeof bytes);
    saltus_sim_snapshot_save(sims[i], bytes);
    assert_int_equal(saltus_sim_run_until(sims[i], 0.39), SALTUS_OK);
    for (size_t less = 1; i == 1 && less < 200; less++) {
      assert_int_equal(saltus_sim_snapshot_load(sims[i], bytes, size - less), SALTUS_ERR_INPUT);
    }
    assert_int_equal(saltus_sim_run_until(sims[i], 1.2), SALTUS_OK);
  }
  assert_memory_equal(saltus_sim_q(sims[0]), saltus_sim_q(sims[1]), sizeof q0);
  assert_memory_equal(saltus_sim_v(sims[0]), saltus_sim_v(sims[1]), sizeof v0);
  saltus_sim_destroy(sims[0]);
  saltus_sim_destroy(sims[1]);
}

/* ---- laws that contacts share -------------------------------------------------------------------- */

/* What recorders learn about the laws of two discs above a floor: contacts 0 and 1 are those with the floor
 * and share law 0, contact 2 between the discs has law 1. */
typedef struct learned {
  int frames, impacts, wrong;
} learned;

static saltus_status learn_frame(void* user, const saltus_frame* frame) {
  learned* l = user;
  l->frames++;
  for (int i = 0; i < frame->contact_count; i++) {
    l->wrong += frame->contacts[i].law != (frame->contacts[i].identity < 2 ? 0 : 1);
  }
  return SALTUS_OK;
}

static saltus_status learn_event(void* user, const saltus_event* event) {
  learned* l = user;
  l->impacts += event->kind == SALTUS_EVENT_IMPACT;
  l->wrong += event->law != (event->identity < 2 ? 0 : 1);
  return SALTUS_OK;
}

static void shared_laws_are_reported_as_they_are(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean", "adaptive"};
  for (int k = 0; k < 2; k++) {
    discs d = discs_usual(2);
    saltus_system_ops ops;
    saltus_system sys = discs_system(&d, &ops);
    const double q0[] = {0.0, 0.1, 0.0, 0.35}; /* one stands, the other falls on it */
    const double v0[4] = {0.0};
    learned l = {0};
    const saltus_recorder recorder = {.frame = learn_frame, .event = learn_event, .user = &l};
    const saltus_sim_def def = {.system = &sys,
                                .scheme = schemes[k],
                                .h = 0.005,
                                .q0 = q0,
                                .v0 = v0,
                                .recorders = &recorder,
                                .recorder_count = 1};
    saltus_sim* sim = NULL;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 0.3), SALTUS_OK);
    assert_true(l.frames > 1 && l.impacts > 0);
    assert_int_equal(l.wrong, 0);
    saltus_sim_destroy(sim);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_accumulation_does_not_pass_through_what_is_not_listed),
      cmocka_unit_test(no_failure_is_lost),
      cmocka_unit_test(a_refused_snapshot_changes_nothing),
      cmocka_unit_test(shared_laws_are_reported_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
