/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Redundant supports that stick: forces that hold them are many, and those of a run are inside of all cones
 * (docs/theory/adaptive.md, 4.3). A bar along a groove of half angle gamma, mu = 0.3, has two supports on each side. It slides
 * when it is pushed with more than mu m g / sin(gamma); supports that press each other across the groove hold up to
 *
 *   F = m g / sin(gamma) max_T sqrt(mu^2 (1 + T)^2 - T^2) = m g mu / (sin(gamma) sqrt(1 - mu^2)),   gamma = pi/4,
 *
 * T the friction across, in parts of the force of a side without it. In between both sticking and sliding obey all laws.
 */
#include "recorded.h"

#include <stdio.h>

static const double mu = 0.3, weight = 9.81;

#define BAR(gravity, more)                                                                         \
  "saltus: 1\n"                                                                                    \
  "world: {dimension: 3, gravity: " gravity ", shapes: "                                           \
  "[{half-space: {}, orientation: {axis: [1, 0, 0], angle: pi/4}},"                                \
  " {half-space: {}, orientation: {axis: [1, 0, 0], angle: -pi/4}}]}\n"                            \
  "materials: {default: {friction: 0.3, restitution: 0}}\n"                                        \
  "bodies:\n"                                                                                      \
  "  bar: {mass: 1, shapes: [{capsule: {radius: 0.1, length: 0.5},"                                \
  " orientation: {axis: [0, 1, 0], angle: pi/2}}], position: [0, 0, 0.1*sqrt(2)]}\n" more

/* The largest friction of a frame before `until`, in parts of its bound; forces are means over steps. */
static double most_used(const recorded* r, double until) {
  const saltus_recording_data* d = r->data;
  double most = 0.0;
  for (long long k = 1; k < d->count && d->t[k] < until; k++) {
    for (long long i = d->table.start[k]; i < d->table.start[k + 1]; i++) {
      const double* f = d->table.force + 3 * i;
      assert_true(f[0] >= 0.0);
      most = fmax(most, hypot(f[1], f[2]) / fmax(mu * f[0], 1e-300));
    }
  }
  return most;
}

static void assert_certified(const recorded* r, const char* name) {
  const saltus_certificate c = verify(r, saltus_scene_get_view(r->scene));
  say_failures(&c, name);
  assert_true(c.items[SALTUS_VERIFY_CONE].checked > 0 &&
              c.items[SALTUS_VERIFY_MOMENTUM].checked > 0);
  assert_true(c.passed);
}

/* tan(tilt) is 0.5 % and 0.005 % below mu / sin(gamma). */
static void a_bar_in_a_tilted_groove_is_held_inside_of_all_cones(void** state) {
  (void)state;
  static const char* const texts[] = {
      BAR("[9.81*sin(atan(0.995*0.3*sqrt(2))), 0, -9.81*cos(atan(0.995*0.3*sqrt(2)))]", ""),
      BAR("[9.81*sin(atan(0.99995*0.3*sqrt(2))), 0, -9.81*cos(atan(0.99995*0.3*sqrt(2)))]", "")};
  for (int i = 0; i < 2; i++) {
    for (double tol = 1e-4; tol > 1e-11; tol *= 1e-3) {
      recorded r = record_text(texts[i], (way){.scheme = "adaptive", .tol = tol, .until = 1.0});
      const saltus_recording_data* d = r.data;
      assert_near(d->q[(d->count - 1) * d->nq], 0.0, 1e-14);
      assert_true(d->count > 2 && most_used(&r, 2.0) <= 1.0 + 1e-9);
      assert_certified(&r, "tilted groove");
      forget(&r);
    }
  }
}

/* Shares change while the push grows at 4 N/s. Certain to hold until 1.0405 s, certain to slide at 1.0908 s. */
static void a_bar_that_is_pushed_harder_slides_when_no_shares_hold_it(void** state) {
  (void)state;
  const double rate = 4.0, force = mu * weight * sqrt(2.0);
  const double first = force / rate, last = first / sqrt(1.0 - mu * mu);
  for (double tol = 1e-4; tol > 5e-8; tol *= 1e-1) {
    recorded r = record_text(
        BAR("[0, 0, -9.81]", "forces:\n  - {name: push, at: bar, force: [4*t, 0, 0]}\n"),
        (way){.scheme = "adaptive", .tol = tol, .until = 1.2});
    const saltus_recording_data* d = r.data;
    assert_int_equal(d->event_count, 4);
    for (int i = 0; i < 4; i++) {
      assert_int_equal(d->events[i].kind, SALTUS_EVENT_SLIP);
      assert_true(d->events[i].t > first && d->events[i].t < last);
    }
    assert_true(most_used(&r, first) <= 1.0 + 1e-9);
    assert_certified(&r, "pushed bar");
    forget(&r);
  }
}

/* Slip begins with a velocity of nearly nothing, and its direction relaxes at mu l_N / |U_T|, by many orders slower in the end:
 * the bar does not turn about its axis. A Jacobian of another slip let that grow from rounding to 2e-5 rad/s. */
static void a_bar_that_begins_to_slide_does_not_turn(void** state) {
  (void)state;
  for (double tol = 1e-7; tol > 5e-11; tol *= 1e-1) {
    recorded r = record_text(
        BAR("[0, 0, -9.81]", "forces:\n  - {name: push, at: bar, force: [4*t, 0, 0]}\n"),
        (way){.scheme = "adaptive", .tol = tol, .until = 1.5});
    const saltus_recording_data* d = r.data;
    for (long long k = 0; k < d->count; k++) {
      assert_near(d->v[k * d->nv + 3], 0.0,
                  10.0 * tol); /* no force turns it; rounding is amplified */
    }
    const saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    assert_true(c.items[SALTUS_VERIFY_MOMENTUM].checked > 0);
    assert_true(c.items[SALTUS_VERIFY_MOMENTUM].passed && c.items[SALTUS_VERIFY_POSITIONS].passed);
    forget(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bar_in_a_tilted_groove_is_held_inside_of_all_cones),
      cmocka_unit_test(a_bar_that_is_pushed_harder_slides_when_no_shares_hold_it),
      cmocka_unit_test(a_bar_that_begins_to_slide_does_not_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
