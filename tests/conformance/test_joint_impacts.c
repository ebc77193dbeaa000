/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_joint_impacts.c - forces of joints without the impulses of impacts, in every scheme, against closed forms.
 *
 * A rod of mass m and inertia I turns about a hinge at the distance c of its centre with w, without gravity, and its centre
 * strikes a stop with restitution e. About the hinge the stop gives P c = (m c^2 + I) (1 + e) w, so that the hinge gives
 *
 *   J = P - m c (1 + e) w = (1 + e) w I / c   at the impact,   F = m c w^2 before it and m c (e w)^2 after it.
 */
#include "saltus_test.h"

#include <math.h>
#include <string.h>

static const char rod[] =
    "saltus: 1\n"
    "parameters: {m: 2, I: 0.3, c: 0.5, w: -3, e: 0.6}\n"
    "world: {dimension: 2, gravity: [0, 0]}\n"
    "bodies:\n"
    "  rod: {mass: m, inertia: I, position: [c*cos(0.3), c*sin(0.3)], angle: 0.3,\n"
    "        velocity: [-c*w*sin(0.3), c*w*cos(0.3)], angular_velocity: w}\n"
    "markers: {wall: {}, end: {body: rod, point: [-c, 0]}}\n"
    "joints: [{name: hinge, type: revolute, between: [wall, end]}]\n"
    "contacts: [{name: stop, gap: rod.y, restitution: e}]\n"
    "outputs: {pull: \"hypot(hinge.force.x, hinge.force.y)\"}\n";

static const double before = 9.0, after = 3.24, given = 2.88; /* N, N, N s */

/* What a run shows of its hinge. */
typedef struct hinge {
  double most, output; /* N, largest recorded force and output */
  double last;         /* N s, integral of the force from 0.12 s to the end at 0.15 s */
  double t;
  double impulse[2]; /* N s, sum */
} hinge;

static saltus_status see(void* user, const saltus_frame* frame) {
  hinge* h = user;
  const double force = hypot(frame->joint_forces[0], frame->joint_forces[1]);
  h->last +=
      h->t >= 0.12 - 1e-9 ? force * (frame->t - h->t) : 0.0; /* some alternate from step to step */
  h->t = frame->t;
  if (frame->t > 0.0) {
    h->most = fmax(h->most, force);
    h->output = fmax(h->output, frame->outputs[0]);
  }
  for (int k = 0; k < 2; k++) {
    h->impulse[k] += frame->joint_impulses[k];
  }
  return SALTUS_OK;
}

static hinge run(const saltus_scene_view* view, const char* scheme, double h, double dt,
                 const char* control) {
  hinge found = {0};
  const saltus_recorder recorder = {.frame = see, .user = &found};
  const saltus_scheme_info* info = saltus_scheme_find(scheme);
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .h = info->chooses_step ? 0.0 : h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .control = control,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_dt = dt,
                              .observables = view->observables};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, 0.15), SALTUS_OK);
  saltus_sim_destroy(sim);
  found.last /= 0.03;
  return found;
}

/* An impulse in a force would be 2.88 N s / 2e-4 s = 14400 N. Schemes of order 1 are wrong by parts of 1e-3 with these steps, and
 * a mean over a step through the impact lies between the forces beside it. */
static void impulses_are_no_forces_of_joints_in_any_scheme(void** state) {
  (void)state;
  const saltus_scene_def def = {.text = rod};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  for (int i = 0; saltus_scheme_at(i) != NULL; i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    const hinge found = run(view, info->name, 2e-4, info->chooses_step ? 2e-4 : 0.0, NULL);
    const double sum = hypot(found.impulse[0], found.impulse[1]);
    if (!(fabs(found.most - before) < 0.02 * before &&
          fabs(found.output - before) < 0.02 * before && fabs(found.last - after) < 0.02 * after &&
          fabs(sum - given) < 0.02 * given)) {
      fail_msg("%s: forces up to %g N, output %g N, %g N at the end, impulse %g N s", info->name,
               found.most, found.output, found.last, sum);
    }
  }
  saltus_scene_destroy(scene);
}

/* Frames at given times, as short as one likes, and both halves of a controlled step. */
static void the_recording_interval_does_not_matter(void** state) {
  (void)state;
  const saltus_scene_def def = {.text = rod};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  static const char* const schemes[] = {"adaptive", "rk4", "radau-iia-5"};
  for (int i = 0; i < 6; i++) {
    const hinge found = run(view, schemes[i / 2], 1e-3, i % 2 == 0 ? 1e-3 : 1e-5, NULL);
    assert_near(found.most, before, 1e-4);
    assert_near(found.last, after, 1e-4);
    assert_near(hypot(found.impulse[0], found.impulse[1]), given, 1e-4);
  }
  const hinge found = run(view, "moreau-jean", 1e-3, 0.0, "variable-order");
  assert_near(found.most, before, 0.02 * before);
  assert_near(hypot(found.impulse[0], found.impulse[1]), given, 0.02 * given);
  saltus_scene_destroy(scene);
}

/* With gravity the rod comes to rest on the stop through an accumulation of impacts: impulses of hinge, stop and weight make no
 * momentum, and those of the hinge at impacts are -I/(I + m c^2) of those of the stop. */
typedef struct balance {
  double t;
  double hinge, struck, stop, impulse; /* N s */
} balance;

static saltus_status weigh(void* user, const saltus_frame* frame) {
  balance* b = user;
  const double dt = frame->t - b->t;
  b->hinge += frame->joint_forces[1] * dt;
  b->struck += frame->joint_impulses[1];
  b->stop += frame->contacts[0].force[0] * dt;
  b->impulse += frame->contacts[0].impulse[0];
  b->t = frame->t;
  return SALTUS_OK;
}

static void impulses_balance_through_an_accumulation(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {m: 2, I: 0.3, c: 0.5}\n"
      "world: {dimension: 2, gravity: [0, -9.81]}\n"
      "bodies: {rod: {mass: m, inertia: I, position: [c*cos(0.5), c*sin(0.5)], angle: 0.5}}\n"
      "markers: {wall: {}, end: {body: rod, point: [-c, 0]}}\n"
      "joints: [{name: hinge, type: revolute, between: [wall, end]}]\n"
      "contacts: [{name: stop, gap: rod.y, restitution: 0.5}]\n";
  const saltus_scene_def def = {.text = text};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options tight = saltus_adaptive_options_default();
  tight.rtol = tight.atol = 1e-9;
  static const char* const schemes[] = {"adaptive", "adaptive", "rk4", "moreau-jean"};
  for (int i = 0; i < 4; i++) { /* adaptive: at its steps, and inside them */
    balance b = {0};
    const saltus_recorder recorder = {.frame = weigh, .user = &b};
    const saltus_sim_def sim_def = {.system = view->system,
                                    .scheme = schemes[i],
                                    .options = i < 2 ? &tight : NULL,
                                    .h = i < 2 ? 0.0 : 1e-3,
                                    .q0 = view->q0,
                                    .v0 = view->v0,
                                    .recorders = &recorder,
                                    .recorder_count = 1,
                                    .record_dt = i == 1 ? 1e-3 : 0.0};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&sim_def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run_until(sim, 2.0), SALTUS_OK);
    saltus_sim_destroy(sim);
    assert_near(b.hinge + b.struck + b.stop + b.impulse, 2.0 * 2.0 * 9.81, 1e-7);
    /* rows of moreau-jean are those of the middle of a step */
    assert_near(b.struck, -0.375 * b.impulse, i < 3 ? 1e-6 : 1e-3 * b.impulse);
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impulses_are_no_forces_of_joints_in_any_scheme),
      cmocka_unit_test(the_recording_interval_does_not_matter),
      cmocka_unit_test(impulses_balance_through_an_accumulation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
