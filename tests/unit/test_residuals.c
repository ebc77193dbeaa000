/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_residuals.c - what a step says about itself: each kind from a step made by hand, and of runs what recordings have.
 */
#include "recorded.h"
#include "sim/residuals.h"

#include <stdio.h>

static const saltus_contact_law laws[] = {{.tangents = 2, .mu = 0.5}, {.tangents = 0}};
static const saltus_system two = {.laws = laws, .law_count = 2};

/* A contact that slides along x with 2 m/s under 1 N s in a step of 0.1 s. */
static saltus_contact_step sliding(void) {
  return (saltus_contact_step){.key = 3,
                               .identity = 3,
                               .impulse = {1.0, -0.5, 0.0},
                               .slip_before = {2.0, 0.0},
                               .slip_after = {2.0, 0.0}};
}

static saltusi_residuals look(saltus_contact_step contact) {
  saltusi_residuals r;
  saltusi_residuals_start(&r);
  const saltus_step_report report = {
      .active = 1, .contacts = &contact, .projection = 1e-7, .residual_velocity = 1e-9};
  saltusi_residuals_step(&r, &two, &report, 1.0, 1.1, false);
  return r;
}

static void a_step_that_obeys_has_none(void** state) {
  (void)state;
  saltusi_residuals r = look(sliding());
  for (int k = 0; k < SALTUS_RESIDUAL_PROJECTION; k++) {
    assert_true(r.worst[k].value == 0.0 || k == SALTUS_RESIDUAL_REMAINDER);
  }
  assert_true(r.worst[SALTUS_RESIDUAL_PROJECTION].value == 1e-7);
  assert_true(r.worst[SALTUS_RESIDUAL_SOLVER].value == 1e-9);
  assert_true(r.worst[SALTUS_RESIDUAL_SOLVER].t == 1.1);
}

static void every_violation_is_seen_in_its_unit(void** state) {
  (void)state;
  saltus_contact_step deep = sliding();
  deep.gap = -0.003;
  saltusi_residuals r = look(deep);
  const saltus_worst* w = &r.worst[SALTUS_RESIDUAL_PENETRATION];
  assert_true(w->value == 0.003 && w->t == 1.0 && w->has_contact && w->identity == 3);

  saltus_contact_step approaching = sliding();
  approaching.u_after = -0.25;
  r = look(approaching);
  assert_true(r.worst[SALTUS_RESIDUAL_APPROACH].value == 0.25);

  saltus_contact_step far_off = sliding();
  far_off.gap = 0.5; /* 0.1 s at 1 m/s: not before it has 0.4 m left */
  far_off.u_before = -1.0;
  r = look(far_off);
  assert_near(r.worst[SALTUS_RESIDUAL_OPEN].value, 10.0, 1e-12);
  far_off.u_before = -5.0; /* it can close */
  r = look(far_off);
  assert_true(r.worst[SALTUS_RESIDUAL_OPEN].value == 0.0);

  saltus_contact_step rough = sliding();
  rough.impulse[1] = -0.6;
  r = look(rough);
  assert_near(r.worst[SALTUS_RESIDUAL_CONE].value, 1.0, 1e-12); /* 0.1 N s in 0.1 s */

  saltus_contact_step aside = sliding();
  aside.impulse[1] = -0.5 * cos(0.3);
  aside.impulse[2] = 0.5 * sin(0.3);
  r = look(aside);
  assert_near(r.worst[SALTUS_RESIDUAL_ANGLE].value, 0.3, 1e-12);
  aside.impulse[1] = 0.5; /* along the slip */
  aside.impulse[2] = 0.0;
  r = look(aside);
  assert_near(r.worst[SALTUS_RESIDUAL_ANGLE].value, acos(-1.0), 1e-12);
}

/* Friction of a located impact is against the slip after it, whichever way the contact slid before; where slip turns back within
 * a step without an impact, its ends do not tell. */
/* Whatever its size, and however little friction is beyond the cone: to the bit what hypot says. Slip counts as soon as
 * it is beyond a millionth of the fastest. */
static void friction_is_judged_to_the_last_bit(void** state) {
  (void)state;
  uint64_t seed = 5;
  for (int i = 0; i < 20000; i++) {
    const double size = pow(10.0, 300.0 * (saltus_test_random(&seed) - 0.5));
    const double off = pow(10.0, -17.0 * saltus_test_random(&seed));
    const double angle = 6.0 * saltus_test_random(&seed);
    const double long_by = 0.5 * size * (1.0 + (i % 2 == 0 ? off : -off));
    const double slow = 1e-6 * (1.0 + (i / 2 % 2 == 0 ? off : -off));
    saltus_contact_step contact[2] = {sliding(), sliding()};
    contact[1].impulse[0] = size;
    contact[1].impulse[1] = long_by * cos(angle);
    contact[1].impulse[2] = long_by * sin(angle);
    contact[1].slip_after[0] = 2.0 * slow * cos(2.0 * angle);
    contact[1].slip_after[1] = 2.0 * slow * sin(2.0 * angle);
    saltusi_residuals r;
    saltusi_residuals_start(&r);
    const saltus_step_report report = {.active = 2, .contacts = contact};
    saltusi_residuals_step(&r, &two, &report, 0.0, 1.0, false);
    const double *P = contact[1].impulse, *u = contact[1].slip_after;
    const double beyond = hypot(P[1], P[2]) - 0.5 * P[0];
    assert_true(r.worst[SALTUS_RESIDUAL_CONE].value == fmax(0.0, beyond));
    const bool slides = hypot(P[1], P[2]) > 0.999 * 0.5 * P[0] && hypot(u[0], u[1]) > 1e-6 * 2.0;
    const double aside = atan2(fabs(P[1] * u[1] - P[2] * u[0]), -(P[1] * u[0] + P[2] * u[1]));
    assert_true(r.worst[SALTUS_RESIDUAL_ANGLE].value == (slides ? aside : 0.0));
  }
}

static void located_impacts_are_judged_by_the_slip_after_them(void** state) {
  (void)state;
  saltus_contact_step turning = sliding();
  turning.slip_after[0] = -1.0;
  saltus_event hit = {.kind = SALTUS_EVENT_IMPACT,
                      .t = 1.05,
                      .impulse = {1.0, 0.5, 0.0},
                      .slip_before = {2.0, 0.0},
                      .slip_after = {-1.0, 0.0}};
  saltus_step_report report = {.active = 1, .contacts = &turning, .event_count = 1, .events = &hit};
  saltusi_residuals r;
  saltusi_residuals_start(&r);
  saltusi_residuals_step(&r, &two, &report, 1.0, 1.1, true);
  assert_true(r.worst[SALTUS_RESIDUAL_ANGLE].value == 0.0);
  hit.impulse[1] = -0.5;
  hit.u_after = -0.125;
  saltusi_residuals_step(&r, &two, &report, 1.0, 1.1, true);
  assert_near(r.worst[SALTUS_RESIDUAL_ANGLE].value, acos(-1.0), 1e-12);
  assert_true(r.worst[SALTUS_RESIDUAL_ANGLE].t == 1.05);
  assert_true(r.worst[SALTUS_RESIDUAL_APPROACH].value == 0.125);
}

/* The worst of a run is the largest of its states and steps, where it is. */
static void runs_have_what_their_recordings_have(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("double-pendulum-rough", NULL, 0);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.scheme = "moreau-jean";
  def.step = 1e-3;
  saltus_run* run = NULL;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* result = saltus_run_outcome(run);
  recorded r = record("double-pendulum-rough", (way){.scheme = "moreau-jean", .step = 1e-3});
  const saltus_recording_data* d = r.data;
  const saltus_worst* deep = &result->residuals[SALTUS_RESIDUAL_PENETRATION];
  double least = 0.0;
  long long at = 0;
  for (long long i = 0; i < d->count * d->nc; i++) {
    at = d->gap[i] < least ? i : at;
    least = fmin(least, d->gap[i]);
  }
  assert_true(deep->value == -least && deep->has_contact);
  assert_true(deep->identity == (uint64_t)(at % d->nc) && deep->t == d->t[at / d->nc]);
  assert_true(result->residuals[SALTUS_RESIDUAL_JOINTS].value == result->joint_drift);
  assert_true(result->residuals[SALTUS_RESIDUAL_SOLVER].value == result->residual_velocity);
  double remainder = 0.0;
  for (long long i = 0; i < d->count; i++) {
    remainder = fmax(remainder, fabs(d->energy_remainder[i]));
  }
  assert_true(result->residuals[SALTUS_RESIDUAL_REMAINDER].value == remainder);
  /* rods of |r|^2 - L^2: 2 r . v, written out */
  double fastest = 0.0;
  for (long long i = 0; i < d->count; i++) {
    const double *q = d->q + 4 * i, *v = d->v + 4 * i;
    double upper = 2.0 * (q[0] * v[0] + q[1] * v[1]);
    double lower = 2.0 * ((q[0] - q[2]) * (v[0] - v[2]) + (q[1] - q[3]) * (v[1] - v[3]));
    fastest = fmax(fastest, fmax(fabs(upper), fabs(lower)));
  }
  assert_near(result->residuals[SALTUS_RESIDUAL_JOINT_RATES].value, fastest, 1e-12);
  forget(&r);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_that_obeys_has_none),
      cmocka_unit_test(every_violation_is_seen_in_its_unit),
      cmocka_unit_test(friction_is_judged_to_the_last_bit),
      cmocka_unit_test(located_impacts_are_judged_by_the_slip_after_them),
      cmocka_unit_test(runs_have_what_their_recordings_have),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
