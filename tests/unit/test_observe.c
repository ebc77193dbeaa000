/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Outputs and events that a scene defines by formulas, against the closed motion of a ball: it falls
 * from 1 m under -2 N, y = 1 - t^2, hits at t = 1, and rebounds with e = 1/2: y = (t-1) - (t-1)^2 until
 * t = 2, y = (t-2)/2 - (t-2)^2 until t = 2.5.
 */
#include "saltus_test.h"

#include "saltus/saltus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

typedef struct summary {
  saltus_event events[MOST];
  int count;
  double outputs[MOST][2], t[MOST], q[MOST], v[MOST];
  int frames;
} summary;

static saltus_status on_event(void* user, const saltus_event* event) {
  summary* s = user;
  assert_true(s->count < MOST);
  s->events[s->count++] = *event;
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  summary* s = user;
  if (s->frames < MOST) {
    for (int i = 0; i < frame->output_count && i < 2; i++) {
      s->outputs[s->frames][i] = frame->outputs[i];
    }
    s->t[s->frames] = frame->t;
    s->q[s->frames] = frame->q[0];
    s->v[s->frames++] = frame->v[0];
  }
  return SALTUS_OK;
}

static saltus_scene* read(const char* sections) {
  char text[2048];
  snprintf(text, sizeof text,
           "saltus: 1\nparameters: {half: 1/2}\ncoordinates: {y: {start: 1, unit: m}}\n"
           "kinetic: y'^2/2\npotential: 2*y\ncontacts: [{name: floor, gap: y, restitution: 1/2}]\n"
           "%s\n",
           sections);
  const saltus_scene_def def = {.path = "s.yaml", .text = text};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  return scene;
}

static saltus_sim* make(const saltus_scene* scene, const char* scheme, saltus_recorder* recorder) {
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  bool chooses = saltus_scheme_find(scheme)->chooses_step;
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-10;
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .options = chooses ? &options : NULL,
                              .h = chooses ? 0.0 : 1e-3,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .observables = view->observables,
                              .recorders = recorder,
                              .recorder_count = 1};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

static summary run(const char* sections, const char* scheme, double until) {
  saltus_scene* scene = read(sections);
  summary s = {.count = 0};
  saltus_recorder recorder = {.frame = on_frame, .event = on_event, .user = &s};
  saltus_sim* sim = make(scene, scheme, &recorder);
  assert_int_equal(saltus_sim_run_until(sim, until), SALTUS_OK);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  for (int i = 1; i < s.count; i++) {
    assert_true(s.events[i].t >= s.events[i - 1].t);
  }
  return s;
}

/* The n-th event of one of the scene's functions; its time must be as given. */
static void assert_met(const summary* s, int function, int n, saltus_event_kind kind, double t,
                       double tol) {
  int seen = 0;
  for (int i = 0; i < s->count; i++) {
    const saltus_event* e = &s->events[i];
    bool own = e->kind == SALTUS_EVENT_RISE || e->kind == SALTUS_EVENT_FALL;
    if (own && e->contact == function && seen++ == n) {
      assert_int_equal(e->kind, kind);
      assert_near(e->t, t, tol);
      return;
    }
  }
  fail_msg("function %d has %d events, wanted number %d at %g s", function, seen, n, t);
}

static int count_own(const summary* s, int function) {
  int count = 0;
  for (int i = 0; i < s->count; i++) {
    bool own = s->events[i].kind == SALTUS_EVENT_RISE || s->events[i].kind == SALTUS_EVENT_FALL;
    count += own && s->events[i].contact == function;
  }
  return count;
}

/* y = 0.2 is passed at sqrt(0.8), and in the second flight at 1 + (1 +- sqrt(0.2))/2. */
static void crossings_of_a_height_are_where_they_are(void** state) {
  (void)state;
  summary s = run("events: {height: y - 0.2}", "adaptive", 2.4);
  assert_int_equal(count_own(&s, 0), 3);
  assert_met(&s, 0, 0, SALTUS_EVENT_FALL, sqrt(0.8), 1e-12);
  assert_met(&s, 0, 1, SALTUS_EVENT_RISE, 1.5 - 0.5 * sqrt(0.2), 1e-12);
  assert_met(&s, 0, 2, SALTUS_EVENT_FALL, 1.5 + 0.5 * sqrt(0.2), 1e-12);
}

/* The velocity goes from -2 to 1 at t = 1 and from -1 to 1/2 at t = 2; it passes through zero at the
 * tops. At the start it is zero and leaves it: no event. */
static void a_jump_across_zero_is_an_event_at_the_jump(void** state) {
  (void)state;
  summary s = run("events: {turn: y'}", "adaptive", 2.4);
  assert_int_equal(count_own(&s, 0), 4);
  assert_met(&s, 0, 0, SALTUS_EVENT_RISE, 1.0, 1e-12);
  assert_met(&s, 0, 1, SALTUS_EVENT_FALL, 1.5, 1e-12);
  assert_met(&s, 0, 2, SALTUS_EVENT_RISE, 2.0, 1e-12);
  assert_met(&s, 0, 3, SALTUS_EVENT_FALL, 2.25, 1e-12);
}

static void only_the_wanted_direction_is_reported(void** state) {
  (void)state;
  summary s = run("events:\n  up: {formula: y', direction: rising}\n"
                  "  down: {formula: y', direction: falling}\n"
                  "  any: {formula: y', direction: both}",
                  "adaptive", 2.4);
  assert_int_equal(count_own(&s, 0), 2);
  assert_int_equal(count_own(&s, 1), 2);
  assert_int_equal(count_own(&s, 2), 4);
  assert_met(&s, 1, 0, SALTUS_EVENT_FALL, 1.5, 1e-12);
}

/* (t - 0.3)^2 = 1e-8 at 0.3 -+ 1e-4: both zeros lie between two samples of a step of 1 s. */
static void a_dip_below_zero_between_two_samples_is_found(void** state) {
  (void)state;
  summary s = run("events: {dip: (t - 0.3)^2 - 1e-8}", "adaptive", 0.9);
  assert_int_equal(count_own(&s, 0), 2);
  assert_met(&s, 0, 0, SALTUS_EVENT_FALL, 0.3 - 1e-4, 1e-12);
  assert_met(&s, 0, 1, SALTUS_EVENT_RISE, 0.3 + 1e-4, 1e-12);
}

/* The gap comes to zero and stays there after t = 3; it never passes through it. A function that is
 * undefined for a while has no event there. */
static void what_stays_at_zero_or_is_undefined_passes_nothing(void** state) {
  (void)state;
  summary s = run("events: {gap: y, sum: y - abs(y), root: sqrt(y - 0.5) + 1}", "adaptive", 4.0);
  assert_int_equal(count_own(&s, 0), 0);
  assert_int_equal(count_own(&s, 1), 0);
  assert_int_equal(count_own(&s, 2), 0);
}

/* Schemes with dense output locate the zero on it; the others say in which step it was. */
static void every_scheme_reports_the_same_events(void** state) {
  (void)state;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* scheme = saltus_scheme_at(i);
    if (scheme->stops || scheme->penetrates) {
      continue;
    }
    summary s = run("events: {height: y - 0.2}", scheme->name, 1.9);
    assert_int_equal(count_own(&s, 0), 3);
    /* schemes of order 1 are off by h times a velocity of up to 2 m/s, over impacts by some h */
    double tol = scheme->chooses_step ? 1e-9 : 1e-2;
    assert_met(&s, 0, 0, SALTUS_EVENT_FALL, sqrt(0.8), tol);
    assert_met(&s, 0, 2, SALTUS_EVENT_FALL, 1.5 + 0.5 * sqrt(0.2), tol);
    for (int k = 0; k < s.count; k++) {
      const saltus_event* e = &s.events[k];
      bool own = e->kind == SALTUS_EVENT_RISE || e->kind == SALTUS_EVENT_FALL;
      /* to the rounding of time, or to a step of 1e-3 s */
      assert_true(!own || e->t_accuracy <= (scheme->dense ? 1e-14 : 1.0000001e-3));
    }
  }
}

static void outputs_are_the_formulas_at_every_frame(void** state) {
  (void)state;
  summary s = run("outputs:\n  depth: {formula: half - y, unit: m}\n  power: -2*y'*cos(t)",
                  "moreau-jean", 0.4);
  assert_true(s.frames > 100);
  for (int i = 0; i < s.frames; i++) {
    assert_near(s.outputs[i][0], 0.5 - s.q[i], 1e-15);
    assert_near(s.outputs[i][1], -2.0 * s.v[i] * cos(s.t[i]), 1e-15);
  }
}

/* Signs of the functions are part of a snapshot: the events after it are those of the whole run. */
static void a_resumed_run_reports_the_same_events(void** state) {
  (void)state;
  const char* sections = "events: {height: y - 0.2, turn: y'}";
  saltus_scene* scene = read(sections);
  summary first = {.count = 0};
  summary second = {.count = 0};
  saltus_recorder recorders[] = {{.event = on_event, .user = &first},
                                 {.event = on_event, .user = &second}};
  saltus_sim* sim = make(scene, "moreau-jean", &recorders[0]);
  saltus_sim* other = make(scene, "moreau-jean", &recorders[1]);
  assert_int_equal(saltus_sim_run(sim, 1300), SALTUS_OK);
  size_t bytes = saltus_sim_snapshot_bytes(sim);
  void* snapshot = malloc(bytes);
  saltus_sim_snapshot_save(sim, snapshot);
  int before = first.count;
  assert_int_equal(saltus_sim_run(sim, 2400), SALTUS_OK);
  assert_int_equal(saltus_sim_snapshot_load(other, snapshot, bytes), SALTUS_OK);
  assert_int_equal(saltus_sim_run(other, 2400), SALTUS_OK);
  assert_int_equal(second.count, first.count - before);
  for (int i = 0; i < second.count; i++) {
    assert_memory_equal(&second.events[i].t, &first.events[before + i].t, sizeof(double));
  }
  free(snapshot);
  saltus_sim_destroy(sim);
  saltus_sim_destroy(other);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossings_of_a_height_are_where_they_are),
      cmocka_unit_test(a_jump_across_zero_is_an_event_at_the_jump),
      cmocka_unit_test(only_the_wanted_direction_is_reported),
      cmocka_unit_test(a_dip_below_zero_between_two_samples_is_found),
      cmocka_unit_test(what_stays_at_zero_or_is_undefined_passes_nothing),
      cmocka_unit_test(every_scheme_reports_the_same_events),
      cmocka_unit_test(outputs_are_the_formulas_at_every_frame),
      cmocka_unit_test(a_resumed_run_reports_the_same_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
