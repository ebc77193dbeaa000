/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_turning_joints.c - schemes that hold joints by the mean velocity of a step, on bodies that turn many times: what
 * the mean leaves off the joints changes its sign in each step and, left alone, grows by e^0.45 and more per rad from
 * rounding, whatever the step.
 */
#include "saltus_test.h"

#include <float.h>

static const char* const schemes[] = {"moreau-midpoint", "trapezoidal-implicit-mean"};

/* An arm on a hinge without gravity: angle = 40 t. */
static const char plane[] = "saltus: 1\n"
                            "world: {dimension: 2, gravity: [0, 0]}\n"
                            "bodies:\n"
                            "  arm: {mass: 1, inertia: 0.01, position: [0.5, 0], "
                            "velocity: [0, 20], angular_velocity: 40}\n"
                            "markers: {e: {body: arm, point: [-0.5, 0]}, w: {}}\n"
                            "joints:\n"
                            "  - {name: h, type: revolute, between: [w, e]}\n";
static const char space[] = "saltus: 1\n"
                            "world: {dimension: 3, gravity: [0, 0, 0]}\n"
                            "bodies:\n"
                            "  arm: {mass: 1, inertia: [0.03, 0.02, 0.01], position: [0.5, 0, 0], "
                            "velocity: [0, 20, 0], angular_velocity: [0, 0, 40]}\n"
                            "markers: {e: {body: arm, point: [-0.5, 0, 0]}, w: {}}\n"
                            "joints:\n"
                            "  - {name: h, type: revolute, between: [w, e]}\n";
/* Two arms in one line that turn together, the outer one faster at the start: it swings about the line. */
static const char arms[] =
    "saltus: 1\n"
    "world: {dimension: 2, gravity: [0, 0]}\n"
    "bodies:\n"
    "  upper: {mass: 1, inertia: 0.1, position: [0.5, 0], "
    "velocity: [0, 20], angular_velocity: 40}\n"
    "  lower: {mass: 1, inertia: 0.1, position: [1.5, 0], "
    "velocity: [0, 62.5], angular_velocity: 45}\n"
    "markers: {w: {}, a: {body: upper, point: [-0.5, 0]}, "
    "b: {body: upper, point: [0.5, 0]}, c: {body: lower, point: [-0.5, 0]}}\n"
    "joints:\n"
    "  - {name: h, type: revolute, between: [w, a]}\n"
    "  - {name: k, type: revolute, between: [b, c]}\n";

typedef struct outcome {
  double q[8], v[6];
  double impulse; /* N s, the largest of a joint row in a step */
} outcome;

/* 2 s in steps of the same length; adaptive to 1e-10 takes its own. */
static outcome run(const char* text, const char* scheme, int steps) {
  saltus_kept_message kept = {0};
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene = NULL;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_dims* d = &view->system->dims;
  const bool chooses = strcmp(scheme, "adaptive") == 0;
  const saltus_scheme_info* info = saltus_scheme_find(scheme);
  double options[64] = {0.0};
  saltus_options_defaults(&info->options, options);
  for (int i = 0; chooses && i < 2; i++) {
    assert_int_equal(saltus_options_set(&info->options, options, scheme, i == 0 ? "rtol" : "atol",
                                        "1e-10", saltus_log_keep(&kept)),
                     SALTUS_OK);
  }
  const saltus_scheme_def made_def = {
      .scheme = scheme, .system = view->system, .options = options, .log = saltus_log_keep(&kept)};
  saltus_scheme* made = NULL;
  assert_int_equal(saltus_scheme_create(&made_def, &made), SALTUS_OK);
  outcome out = {0};
  memcpy(out.q, view->q0, (size_t)d->nq * sizeof(double));
  memcpy(out.v, view->v0, (size_t)d->nv * sizeof(double));
  saltus_state state = {.q = out.q, .v = out.v};
  for (int i = 0; chooses ? state.t < 2.0 : i < steps; i++) {
    saltus_step_report report = {0};
    if (saltus_scheme_step(made, chooses ? 2.0 - state.t : 2.0 / steps, &state, &report) !=
        SALTUS_OK) {
      fail_msg("%s: %s", scheme, kept.text);
    }
    for (int j = 0; !chooses && j < d->nj; j++) {
      out.impulse = fmax(out.impulse, fabs(report.joint_impulses[j]));
    }
  }
  saltus_scheme_destroy(made);
  saltus_scene_destroy(scene);
  return out;
}

/* Velocity of the end of the arm that the hinge holds. */
static double hinge_speed(const outcome* out, bool spatial) {
  double angle = spatial ? out->q[7] : out->q[2];
  double rate = spatial ? out->v[5] : out->v[2];
  return hypot(out->v[0] + 0.5 * rate * sin(angle), out->v[1] - 0.5 * rate * cos(angle));
}

static void arms_turn_by_the_angle_they_should(void** state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    const bool spatial = i >= 2;
    double error[4];
    for (int k = 0; k < 4; k++) {
      int steps = 1000 << k;
      double turn = 40.0 * 2.0 / steps; /* rad in a step */
      outcome out = run(spatial ? space : plane, schemes[i % 2], steps);
      error[k] = fabs((spatial ? out.q[7] : out.q[2]) - 80.0);
      /* what a step leaves is at most turn^2 times the speed; projected always, some roundings of it */
      double bound = i % 2 == 0 ? 20.0 * 64.0 * DBL_EPSILON : 20.4 * turn * turn;
      double off = hinge_speed(&out, spatial);
      if (!(off <= bound)) {
        fail_msg("%s: %.2e m/s off the hinge, %d steps", schemes[i % 2], off, steps);
      }
      /* the hinge gives m r w^2 h = 20 m/s times the angle of a step, and what turns and ends U */
      assert_true(out.impulse <= 20.0 * turn * (1.0 + 3.0 * turn));
    }
    assert_true(error[0] < 0.1);
    for (int k = 0; k < 3; k++) {
      if (!(error[k] / error[k + 1] > 3.8 && error[k] / error[k + 1] < 5.5)) {
        fail_msg("%s: %.2e and %.2e rad", schemes[i % 2], error[k], error[k + 1]);
      }
    }
  }
}

/* Both angles at 2 s, after 13 turns. */
static void a_double_pendulum_turns_as_adaptive_says(void** state) {
  (void)state;
  const outcome exact = run(arms, "adaptive", 1);
  for (int i = 0; i < 2; i++) {
    double error[3];
    for (int k = 0; k < 3; k++) {
      outcome out = run(arms, schemes[i], 2000 << k);
      error[k] = fmax(fabs(out.q[2] - exact.q[2]), fabs(out.q[5] - exact.q[5]));
    }
    for (int k = 0; k < 2; k++) {
      if (!(error[k] < 0.05 && error[k] / error[k + 1] > 3.6 && error[k] / error[k + 1] < 4.5)) {
        fail_msg("%s: %.2e and %.2e rad", schemes[i], error[k], error[k + 1]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arms_turn_by_the_angle_they_should),
      cmocka_unit_test(a_double_pendulum_turns_as_adaptive_says),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
