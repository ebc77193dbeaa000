/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_compare.c - two recordings beside each other: distances with closed forms, events one to one, refusals.
 */
#include "recorded.h"

#include <stdio.h>

/* A ball that falls from 1 m with 2 m/s^2, so that it strikes at 1 s with 2 m/s. */
#define BALL(e, g, until)                                                                          \
  "saltus: 1\n"                                                                                    \
  "coordinates: {y: {start: 1, unit: m}}\n"                                                        \
  "kinetic: y'^2/2\n"                                                                              \
  "potential: " g "*y\n"                                                                           \
  "contacts:\n"                                                                                    \
  "  - {name: floor, gap: y, restitution: " e "}\n"                                                \
  "simulate: {until: " until "}\n"

static const way finely = {.scheme = "adaptive", .tol = 1e-10};

static saltus_comparison* compare(const recorded* a, const recorded* b, bool any) {
  saltus_kept_message kept;
  saltus_compare_def def = saltus_compare_def_default();
  def.a = a->data;
  def.b = b->data;
  def.any = any;
  def.log = saltus_log_keep(&kept);
  saltus_comparison* c = NULL;
  if (saltus_compare(&def, &c) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return c;
}

static void a_recording_is_itself(void** state) {
  (void)state;
  recorded r = record("double-pendulum", (way){.scheme = "adaptive", .tol = 1e-6});
  saltus_comparison* c = compare(&r, &r, false);
  assert_true(c->positions.value == 0.0 && c->position_graph.value <= 1e-13);
  assert_true(c->velocity_graph.value <= 1e-13);
  assert_false(c->interpolated);
  assert_true(c->matched == r.data->event_count && c->only_a == 0 && c->only_b == 0);
  assert_true(c->worst.dt == 0.0 && c->worst.impulse == 0.0);
  assert_true(c->start == r.data->t[0] && c->end == r.data->t[r.data->count - 1]);
  saltus_comparison_destroy(c);
  forget(&r);
}

/* After the impact y = 2 e s - s^2: with e = 1/2 and 1/4 they are s/2 apart until 1.5 s. */
static void balls_of_different_restitution_part_at_the_impact(void** state) {
  (void)state;
  recorded a = record_text(BALL("1/2", "2", "1.499"), finely);
  recorded b = record_text(BALL("1/4", "2", "1.499"), finely);
  saltus_comparison* c = compare(&a, &b, true);
  assert_near(c->positions.value, 0.5 * 0.499, 1e-9);
  assert_near(c->positions.t, 1.499, 1e-12);
  /* jumps end at 1 and 1/2 m/s; what is left of the lines is nearer than that */
  assert_near(c->velocity_graph.value, 0.5, 1e-6);
  assert_int_equal(c->pair_count, 1);
  assert_int_equal(c->matched, 1);
  assert_near(c->pairs[0].dt, 0.0, 1e-9);
  assert_near(c->pairs[0].u_after, -0.5, 1e-9);
  assert_near(c->pairs[0].impulse, 0.5, 1e-9);
  assert_near(c->pairs[0].energy, (0.25 * 0.25 - 0.5 * 0.5) * 2.0, 1e-9); /* (e^2 - 1) v^2 / 2 */
  saltus_comparison_destroy(c);
  forget(&a);
  forget(&b);
}

/* Impacts at sqrt(2 / g): 1 s and 1 / 1.01 s. Frames of one are no frames of the other: cubics are exact. */
static void impacts_at_different_times_are_matched(void** state) {
  (void)state;
  recorded a = record_text(BALL("0", "2", "1.2"), finely);
  recorded b = record_text(BALL("0", "2*1.01^2", "1.2"), finely);
  saltus_comparison* c = compare(&a, &b, true);
  assert_true(c->interpolated);
  /* g/2 t^2 apart until the second ball lies, then what the first has left */
  assert_near(c->positions.value, 1.0 - 1.0 / (1.01 * 1.01), 1e-9);
  assert_near(c->positions.t, 1.0 / 1.01, 1e-9);
  const saltus_event_pair* impact = &c->pairs[0];
  assert_true(impact->a == 0 && impact->b == 0);
  assert_near(impact->dt, 1.0 / 1.01 - 1.0, 1e-9);
  assert_near(impact->u_before, -0.02, 1e-8);
  assert_near(c->worst.dt, 1.0 - 1.0 / 1.01, 1e-9);
  saltus_comparison_destroy(c);

  saltus_compare_def def = saltus_compare_def_default();
  def.a = a.data;
  def.b = b.data;
  def.any = true;
  def.match = 0.005; /* nearer than they are */
  assert_int_equal(saltus_compare(&def, &c), SALTUS_OK);
  assert_int_equal(c->matched, 0);
  assert_true(c->only_a == a.data->event_count && c->only_b == b.data->event_count);
  saltus_comparison_destroy(c);
  forget(&a);
  forget(&b);
}

/* One event in the middle of a row is missing: its neighbours keep their partners. */
static void a_missing_event_is_found(void** state) {
  (void)state;
  recorded a = record_text(BALL("1/2", "2", "2.9"), finely);
  recorded b = record_text(BALL("1/2", "2", "2.9"), finely);
  saltus_recording_data* d = b.data;
  assert_true(d->event_count >= 4 && d->events[1].kind == SALTUS_EVENT_IMPACT);
  memmove(d->events + 1, d->events + 2, (size_t)(d->event_count - 2) * sizeof *d->events);
  d->event_count--;
  saltus_comparison* c = compare(&a, &b, false);
  assert_int_equal(c->only_a, 1);
  assert_int_equal(c->only_b, 0);
  assert_true(c->pairs[1].a == 1 && c->pairs[1].b == -1 && isnan(c->pairs[1].dt));
  assert_true(c->worst.dt == 0.0);
  saltus_comparison_destroy(c);
  forget(&a);
  forget(&b);
}

static void what_cannot_be_compared_is_refused(void** state) {
  (void)state;
  recorded a = record_text(BALL("1/2", "2", "1.2"), finely);
  recorded b = record_text(BALL("1/4", "2", "1.2"), finely);
  recorded other = record("double-pendulum", (way){.scheme = "adaptive", .tol = 1e-4});
  saltus_kept_message kept;
  saltus_comparison* c = NULL;
  saltus_compare_def def = saltus_compare_def_default();
  def.log = saltus_log_keep(&kept);
  def.a = a.data;
  def.b = b.data;
  assert_int_equal(saltus_compare(&def, &c), SALTUS_ERR_INPUT);
  assert_says(kept, "different scenes");
  assert_null(c);
  def.b = other.data;
  def.any = true;
  def.log = saltus_log_keep(&kept);
  assert_int_equal(saltus_compare(&def, &c), SALTUS_ERR_INPUT);
  assert_says(kept, "not the same");
  def.b = b.data;
  def.log = saltus_log_keep(&kept);
  for (long long i = 0; i < b.data->count; i++) {
    b.data->t[i] += 10.0;
  }
  assert_int_equal(saltus_compare(&def, &c), SALTUS_ERR_INPUT);
  assert_says(kept, "no time in common");
  b.data->t[0] += 100.0;
  def.log = saltus_log_keep(&kept);
  assert_int_equal(saltus_compare(&def, &c), SALTUS_ERR_INPUT);
  assert_says(kept, "does not run forwards");
  def.match = NAN;
  assert_int_equal(saltus_compare(&def, &c), SALTUS_ERR_RANGE);
  forget(&a);
  forget(&b);
  forget(&other);
}

static void without_memory_nothing_is_leaked(void** state) {
  (void)state;
  recorded r = record_text(BALL("1/2", "2", "1.2"), finely);
  for (int k = 1; k < 100; k++) {
    counter count = {.fail_at = k};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_compare_def def = saltus_compare_def_default();
    def.a = def.b = r.data;
    def.allocator = &allocator;
    saltus_comparison* c = NULL;
    saltus_status status = saltus_compare(&def, &c);
    if (status == SALTUS_OK) {
      assert_true(k > 5);
      saltus_comparison_destroy(c);
      assert_int_equal(count.live, 0);
      break;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
    assert_null(c);
    assert_int_equal(count.live, 0);
  }
  forget(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_recording_is_itself),
      cmocka_unit_test(balls_of_different_restitution_part_at_the_impact),
      cmocka_unit_test(impacts_at_different_times_are_matched),
      cmocka_unit_test(a_missing_event_is_found),
      cmocka_unit_test(what_cannot_be_compared_is_refused),
      cmocka_unit_test(without_memory_nothing_is_leaked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
