/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A step has as many events as it meets: buffers start small and grow, and the step is the same.
 */
#include "saltus_test.h"

/* Balls side by side, dropped together: m = 1 kg, F = -2 N, from 1 m. The first impact is at 1 s with
 * 2 m/s; the flight after impact n lasts 2 e^n s and ends with 2 e^n m/s, all of them at 1999 s. */
enum { BALLS = 4 };
static const double e = 0.999;
static const double t_end = 1700.0; /* 1894 impacts of each ball in one step */

static double impact_time(int n) { /* n from 0 */
  return 1.0 + 2.0 * e * (1.0 - pow(e, n)) / (1.0 - e);
}

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  memset(M, 0, BALLS * BALLS * sizeof(double));
  for (int i = 0; i < BALLS; i++) {
    M[i * BALLS + i] = 1.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  for (int i = 0; i < BALLS; i++) {
    F[i] = -2.0;
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  memcpy(list->gap, at->q, BALLS * sizeof(double));
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t key, saltus_rows* rows) {
  (void)self;
  (void)at;
  rows->G[key] = 1.0;
}

static const saltus_system_ops ops = {
    .mass = mass, .force = force, .contacts = contacts, .contact = contact};
static const saltus_contact_law laws[BALLS] = {{.e_N = e}, {.e_N = e}, {.e_N = e}, {.e_N = e}};
static const saltus_system balls = {
    .ops = &ops,
    .dims = {.nq = BALLS, .nv = BALLS, .nc = BALLS},
    .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
    .laws = laws,
    .law_count = BALLS,
};

typedef struct seen {
  long long impacts[BALLS];
  double impulse;  /* N s, of all */
  double worst;    /* s, of the times */
  double recorded; /* N s, by the frames */
} seen;

static saltus_status on_event(void* user, const saltus_event* event) {
  seen* s = user;
  assert_true(event->identity == (uint64_t)event->contact);
  if (event->kind == SALTUS_EVENT_IMPACT) {
    int n = (int)s->impacts[event->contact]++;
    s->worst = fmax(s->worst, fabs(event->t - impact_time(n)));
    s->impulse += event->impulse[0];
  }
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  seen* s = user;
  for (int i = 0; i < BALLS; i++) {
    assert_true(frame->contacts[i].identity == (uint64_t)i);
    s->recorded += frame->contacts[i].impulse[0];
  }
  return SALTUS_OK;
}

static void check(const seen* s) {
  int expected = 0;
  double impulse = 0.0;
  while (impact_time(expected) < t_end) {
    impulse += BALLS * 2.0 * (1.0 + e) * pow(e, expected);
    expected++;
  }
  assert_true(BALLS * expected > 7000);
  for (int i = 0; i < BALLS; i++) {
    assert_int_equal(s->impacts[i], expected);
  }
  /* every impact is located to 1e-9 s, and the errors of all before it add up */
  assert_near(s->worst, 0.0, 1e-9 * expected);
  assert_near(s->impulse, impulse, 1e-9 * BALLS * expected);
  assert_near(s->recorded, s->impulse, 1e-12 * impulse * expected);
}

static saltus_event_driven_options located(void) {
  saltus_event_driven_options options = saltus_event_driven_options_default();
  options.at_accumulation = SALTUS_AT_ACCUMULATION_CAPTURE;
  options.tolerance = 1e-9;
  return options;
}

static const double q0[BALLS] = {1.0, 1.0, 1.0, 1.0};
static const double v0[BALLS] = {0.0};

static void one_step_reports_thousands_of_impacts(void** state) {
  (void)state;
  const saltus_event_driven_options options = located();
  seen s = {{0}, 0.0, 0.0, 0.0};
  const saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = &s};
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = &balls,
                              .scheme = "event-driven",
                              .options = &options,
                              .h = t_end,
                              .q0 = q0,
                              .v0 = v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept),
                              .allocator = &allocator};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  if (saltus_sim_step(sim) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  check(&s);
  saltus_sim_destroy(sim);
  assert_int_equal(count.live, 0);
}

/* What a step costs and where it ends does not depend on how much room there was before it. */
static void a_step_with_room_enough_is_the_same_step(void** state) {
  (void)state;
  const saltus_event_driven_options options = located();
  const saltus_scheme_def def = {.scheme = "event-driven", .options = &options, .system = &balls};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q[2][BALLS], v[2][BALLS];
  saltus_work work[3] = {saltus_scheme_work(scheme)};
  int events[2];
  for (int i = 0; i < 2; i++) { /* the first one has to grow, the second has what it left */
    memcpy(q[i], q0, sizeof q0);
    memcpy(v[i], v0, sizeof v0);
    saltus_state x = {.t = 0.0, .q = q[i], .v = v[i]};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 500.0, &x, &report), SALTUS_OK);
    work[i + 1] = saltus_scheme_work(scheme);
    events[i] = report.event_count;
    assert_true(report.events[events[i] - 1].identity ==
                (uint64_t)report.events[events[i] - 1].contact);
  }
  assert_in_range(events[0], 500, 4096);
  assert_int_equal(events[0], events[1]);
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_memory_equal(v[0], v[1], sizeof v[0]);
  assert_int_equal(work[1].force_evaluations - work[0].force_evaluations,
                   work[2].force_evaluations - work[1].force_evaluations);
  saltus_scheme_destroy(scheme);
}

/* Without memory for them the step fails and leaves the state alone. */
static void a_step_without_memory_for_its_events_is_undone(void** state) {
  (void)state;
  const saltus_event_driven_options options = located();
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  saltus_kept_message kept;
  const saltus_scheme_def def = {.scheme = "event-driven",
                                 .options = &options,
                                 .system = &balls,
                                 .log = saltus_log_keep(&kept),
                                 .allocator = &allocator};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q[BALLS], v[BALLS];
  memcpy(q, q0, sizeof q);
  memcpy(v, v0, sizeof v);
  saltus_state x = {.t = 0.0, .q = q, .v = v};
  count.fail_at = count.calls + 1;
  assert_int_equal(saltus_scheme_step(scheme, 500.0, &x, NULL), SALTUS_ERR_MEMORY);
  assert_says(kept, "events of a step");
  assert_memory_equal(q, q0, sizeof q);
  assert_true(x.t == 0.0);
  saltus_scheme_destroy(scheme);
  assert_int_equal(count.live, 0);
}

/* A ball simulation does not carry room for events that it never has: 4096 of them were 480 kB. */
typedef struct meter {
  size_t live;
} meter;

static void* measured_alloc(size_t bytes, void* user) {
  ((meter*)user)->live += bytes;
  const saltus_allocator usual = saltus_allocator_default();
  return usual.alloc(bytes, usual.user);
}

static void measured_free(void* block, size_t bytes, void* user) {
  ((meter*)user)->live -= bytes;
  const saltus_allocator usual = saltus_allocator_default();
  usual.free(block, bytes, usual.user);
}

static void a_simulation_begins_with_room_for_few_events(void** state) {
  (void)state;
  meter m = {0};
  const saltus_allocator allocator = {measured_alloc, measured_free, &m};
  const saltus_sim_def def = {
      .system = &balls, .scheme = "adaptive", .q0 = q0, .v0 = v0, .allocator = &allocator};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  /* 60377 with 200 bytes of each island for captured intervals; 4096 events would be 480 kB */
  assert_in_range(m.live, 1, 61000);
  saltus_sim_destroy(sim);
  assert_int_equal(m.live, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_step_reports_thousands_of_impacts),
      cmocka_unit_test(a_step_with_room_enough_is_the_same_step),
      cmocka_unit_test(a_step_without_memory_for_its_events_is_undone),
      cmocka_unit_test(a_simulation_begins_with_room_for_few_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
