/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_global_tolerance.c - tolerances of the motion: errors against analytic solutions, chaotic motions, and the distance of
 * motions with different impact times.
 */
#include "run/trajectory_samples.h"
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- motions that are known ------------------------------------------------------------------ */

typedef struct known {
  const saltus_known_motion* problem;
  double (*exact)(double t, int coordinate); /* or of positions alone */
} known;

typedef struct listener {
  known of;
  double tol;
  double error; /* of positions, in tol max(1, |x|) */
  int frames;
} listener;

static saltus_status listen(void* user, const saltus_frame* frame) {
  listener* l = user;
  double q[8], v[8];
  l->frames++;
  if (l->of.problem != NULL && !saltus_known_motion_exact(l->of.problem, frame->t, q, v)) {
    return SALTUS_OK;
  }
  int count = l->of.problem != NULL ? saltus_known_motion_system(l->of.problem)->dims.nq : 1;
  for (int i = 0; i < count; i++) {
    double right = l->of.problem != NULL ? q[i] : l->of.exact(frame->t, i);
    l->error = fmax(l->error, fabs(frame->q[i] - right) / fmax(1.0, fabs(right)) / l->tol);
  }
  return SALTUS_OK;
}

static saltus_run_accuracy run_known(const saltus_scene_view* view, known of, bool global,
                                     listener* l) {
  saltus_kept_message kept;
  const saltus_recorder recorder = {.frame = listen, .user = l};
  saltus_run_def def = saltus_run_def_default();
  l->of = of;
  def.scene = view;
  def.tol = l->tol;
  def.global = global;
  def.scheme = "adaptive";
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  if (saltus_run_create(&def, &run) != SALTUS_OK || saltus_run_execute(run) != SALTUS_OK) {
    fail_msg("%g: %s", l->tol, kept.text);
  }
  saltus_run_accuracy accuracy = saltus_run_outcome(run)->accuracy;
  saltus_run_destroy(run);
  return accuracy;
}

static double coulomb_block(double t, int coordinate) {
  (void)coordinate;
  int half = (int)floor(t * 10.0 / 3.14159265358979323846);
  if (half >= 4) {
    return -0.02;
  }
  double shift = half % 2 == 0 ? 0.04 : -0.04; /* rest position of the half swing */
  double start = (half % 2 == 0 ? 1.0 : -1.0) * (0.3 - 0.08 * half);
  return shift + (start - shift) * cos(10.0 * t - half * 3.14159265358979323846);
}

/* The error stays below what was asked, the estimate above the error, and what is printed belongs together. */
static void check_accuracy(const saltus_scene_view* view, known of, const char* name) {
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  for (int k = 0; k < 4; k++) {
    listener l = {.tol = tolerances[k]};
    saltus_run_accuracy a = run_known(view, of, true, &l);
    /* below a thousandth of the tolerance what runs share is seen too: rounding, accuracy of the table */
    bool covered = l.error <= 2.0 * a.error + 1e-3;
    if (!a.known || !(l.error <= 1.0) || !(a.error <= 1.0) || !covered) {
      fail_msg("%s, %g: error %g, estimated %g", name, l.tol, l.error, a.error);
    }
    assert_true(a.rtol == tolerances[k] && a.atol == tolerances[k]);
    assert_true(a.trials >= 3 && a.parts[0] == 1.0 && a.part <= 1.0);
    assert_near(a.amplification * a.part * 2.0, a.error, 1e-12 * fmax(1.0, a.error));
  }
}

static void errors_against_closed_forms_are_below_the_tolerance(void** state) {
  (void)state;
  static const char* const names[] = {"ball",        "oscillator",    "oscillator-damped",
                                      "forced-ball", "pendulum-wall", "oscillator-preload"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    saltus_known_motion* problem;
    assert_int_equal(saltus_known_motion_create(names[i], (saltus_log){0}, NULL, &problem),
                     SALTUS_OK);
    saltus_scene_view view =
        saltus_run_system(saltus_known_motion_system(problem), saltus_known_motion_q0(problem),
                          saltus_known_motion_v0(problem));
    view.until = saltus_known_motion_get_info(problem)->t_end;
    check_accuracy(&view, (known){.problem = problem}, names[i]);
    saltus_known_motion_destroy(problem);
  }
}

static void errors_with_dry_friction_are_below_the_tolerance(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("coulomb-block", NULL, 0);
  check_accuracy(saltus_scene_get_view(scene), (known){.exact = coulomb_block}, "block");
  saltus_scene_destroy(scene);
}

/* Errors of this oscillator add up to more than the tolerance of a step. */
static const char many_swings[] =
    "saltus: 1\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\npotential: x^2/2\n"
    "simulate: {until: 400}\n";

static double swing(double t, int coordinate) {
  (void)coordinate;
  return cos(t);
}

static saltus_scene* scene_of(const char* text) {
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return scene;
}

static void errors_that_add_up_are_seen_and_reduced(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(many_swings);
  listener plain = {.tol = 1e-6}, tight = {.tol = 1e-6};
  const known of = {.exact = swing};
  run_known(saltus_scene_get_view(scene), of, false, &plain);
  saltus_run_accuracy a = run_known(saltus_scene_get_view(scene), of, true, &tight);
  assert_true(plain.error > 10.0); /* what there is to do */
  assert_true(tight.error <= 1.0 && tight.error <= a.error);
  /* the amplification of the estimate is what was seen without it, to the factor between runs */
  assert_true(a.amplification > 0.2 * plain.error && a.amplification < 5.0 * plain.error);
  assert_int_equal(plain.frames, tight.frames); /* repetitions are unseen */
  saltus_scene_destroy(scene);
}

static void the_run_that_is_kept_has_the_bits_of_its_tolerance(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(many_swings);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.tol = 1e-5;
  def.global = true;
  saltus_run *run, *same;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_tighten(run), SALTUS_OK);
  double tol = saltus_run_get_settings(run)->rtol;
  assert_true(tol < 1e-6 && saltus_run_get_settings(run)->global);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  def.tol = tol;
  def.global = false;
  assert_int_equal(saltus_run_create(&def, &same), SALTUS_OK);
  assert_int_equal(saltus_run_execute(same), SALTUS_OK);
  assert_true(saltus_run_outcome(run)->q[0] == saltus_run_outcome(same)->q[0]);
  assert_true(saltus_run_outcome(run)->v[0] == saltus_run_outcome(same)->v[0]);
  assert_false(saltus_run_outcome(same)->accuracy.known);
  saltus_run_destroy(run);
  saltus_run_destroy(same);
  saltus_scene_destroy(scene);
}

/* ---- motions that cannot be known ------------------------------------------------------------- */

static const char chaos[] =
    "saltus: 1\ncoordinates: {a: {start: 2.5}, b: {start: 2}}\n"
    "kinetic: a'^2 + b'^2/2 + a'*b'*cos(a - b)\npotential: -9.81*(2*cos(a) + cos(b))\n"
    "contacts: [{name: wall, gap: 1.6 - sin(a) - sin(b), restitution: 0.9}]\n"
    "simulate: {until: 30, tol: 1e-6, global: true}\n";

typedef struct last_state {
  double q[2];
} last_state;

static saltus_status keep_last(void* user, const saltus_frame* frame) {
  memcpy(user, frame->q, sizeof(last_state));
  return SALTUS_OK;
}

static last_state state_at(const saltus_scene_view* view, double until, double tol) {
  last_state last = {{0}};
  const saltus_recorder recorder = {.frame = keep_last, .user = &last};
  saltus_scene_view own = *view;
  own.global = false;
  saltus_run_def def = saltus_run_def_default();
  def.scene = &own;
  def.tol = tol;
  def.until = until;
  def.recorders = &recorder;
  def.recorder_count = 1;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  saltus_run_destroy(run);
  return last;
}

static double apart(last_state a, last_state b) {
  return fmax(fabs(a.q[0] - b.q[0]), fabs(a.q[1] - b.q[1]));
}

static void chaos_is_refused_with_the_time_up_to_which_it_is_known(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(chaos);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_true(view->global);
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_ERR_ACCURACY);
  assert_says(kept, "a global error of 1e-06 cannot be reached up to t = 30 s in double precision, "
                    "only up to t = ");
  const saltus_run_result* r = saltus_run_outcome(run);
  assert_false(r->accuracy.known);
  assert_int_equal(r->status, SALTUS_ERR_ACCURACY);
  assert_true(r->t == 0.0 && r->frames == 0 && r->accuracy.amplification > 1e9);
  double known_until = r->accuracy.predictable;
  saltus_run_destroy(run);
  /* other tolerances than those that were tried agree there, and not at the end */
  double there = apart(state_at(view, known_until, 3e-13), state_at(view, known_until, 7e-14));
  assert_true(known_until > 5.0 && there < 1e-6);
  assert_true(apart(state_at(view, 30.0, 3e-13), state_at(view, 30.0, 7e-14)) > 1e-2);
  saltus_scene_destroy(scene);
}

static void chaos_is_tightened_as_long_as_it_can_be_known(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(chaos);
  last_state last = {{0}};
  const saltus_recorder recorder = {.frame = keep_last, .user = &last};
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.until = 5.0;
  def.recorders = &recorder;
  def.recorder_count = 1;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_accuracy* a = &saltus_run_outcome(run)->accuracy;
  assert_true(a->known && a->part < 1e-3 && a->amplification > 1e3);
  assert_true(apart(last, state_at(def.scene, 5.0, 1e-13)) < 1e-6 * (1.0 + fabs(last.q[0])));
  assert_true(apart(state_at(def.scene, 5.0, 1e-6), last) >
              1e-4); /* a step's alone is not enough */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* ---- refusals and interruptions ----------------------------------------------------------------- */

static void schemes_without_a_tolerance_of_steps_are_refused(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(many_swings);
  static const char* const schemes[] = {"moreau-jean", "rkf45", "dopri5"};
  for (int i = 0; i < 3; i++) {
    saltus_kept_message kept;
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    def.scheme = schemes[i];
    def.tol = 1e-4;
    def.global = true;
    def.log = saltus_log_keep(&kept);
    saltus_run* run;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_UNSUPPORTED);
    assert_says(kept, "global needs a scheme that chooses its steps by a tolerance");
    assert_says(kept, schemes[i]);
  }
  saltus_scene_destroy(scene);
}

static void a_tolerance_at_the_limit_of_the_scheme_is_refused(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(many_swings);
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.tol = 1e-14;
  def.global = true;
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_tighten(run), SALTUS_ERR_ACCURACY);
  assert_says(kept, "steps of a smaller tolerance than scheme adaptive allows");
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* Steps at a singular position have a least tolerance; what is in the way is named. */
static void a_scheme_that_fails_is_heard_with_the_name_of_what_failed(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("bodies-four-bar-1", NULL, 0);
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.tol = 1e-8;
  def.global = true;
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_tighten(run), SALTUS_ERR_ACCURACY);
  assert_says(kept, "by this scheme, only up to t = ");
  assert_says(kept, "no step is possible at t = ");
  assert_says(kept, "'. Give an earlier end"); /* a velocity by its name */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

static const char pushed[] =
    "saltus: 1\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\npotential: x^2/2\n"
    "inputs: {push: 0}\nforces: {x: push}\nsimulate: {until: 40}\n";

typedef struct interference {
  saltus_scene* scene;
  int calls;
  bool stops;
} interference;

static saltus_status interfere(void* user, double t, double t_end, long long step) {
  (void)t;
  (void)t_end;
  (void)step;
  interference* f = user;
  f->calls++;
  if (f->stops) {
    return f->calls == 3 ? SALTUS_ERR_STOPPED : SALTUS_OK;
  }
  return saltus_scene_set_input(f->scene, "push", f->calls);
}

static saltus_status tighten_with(interference* f, bool again, saltus_kept_message* kept) {
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(f->scene);
  def.tol = 1e-5;
  def.global = true;
  def.log = saltus_log_keep(kept);
  def.progress = (saltus_progress){.report = interfere, .user = f, .interval = 1e-9};
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  saltus_status status = saltus_run_execute(run);
  if (again) {
    assert_int_equal(status, SALTUS_ERR_STOPPED);
    status = saltus_run_execute(run);
    assert_true(saltus_run_outcome(run)->accuracy.known);
  }
  saltus_run_destroy(run);
  return status;
}

static void inputs_that_change_between_repetitions_are_refused(void** state) {
  (void)state;
  saltus_kept_message kept;
  interference f = {.scene = scene_of(pushed)};
  assert_int_equal(tighten_with(&f, false, &kept), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "inputs that are set during a run with a tolerance of the motion");
  saltus_scene_destroy(f.scene);
}

static void a_search_that_is_stopped_begins_anew(void** state) {
  (void)state;
  saltus_kept_message kept;
  interference f = {.scene = scene_of(pushed), .stops = true};
  assert_int_equal(tighten_with(&f, true, &kept), SALTUS_OK);
  saltus_scene_destroy(f.scene);
}

static void memory_that_ends_is_an_error_and_leaves_nothing(void** state) {
  (void)state;
  saltus_scene* scene = scene_of(many_swings);
  int refused = 0;
  for (int fail_at = 1; fail_at < 400; fail_at++) {
    counter count = {.fail_at = fail_at};
    const saltus_allocator allocator = counting_allocator(&count);
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    def.until = 2.0;
    def.tol = 1e-3;
    def.global = true;
    def.allocator = &allocator;
    saltus_run* run;
    saltus_status status = saltus_run_create(&def, &run);
    if (status == SALTUS_OK) {
      status = saltus_run_execute(run);
      saltus_run_destroy(run);
    }
    assert_int_equal(count.live, 0);
    if (status == SALTUS_OK) {
      break;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
    refused++;
  }
  assert_true(refused > 20 && refused < 399); /* every place was reached, and then none is left */
  saltus_scene_destroy(scene);
}

/* ---- distances --------------------------------------------------------------------------------- */

static void no_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  M[0] = 1.0;
}

static void no_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  F[0] = 0.0;
}

static const saltus_system_ops ops = {.mass = no_mass, .force = no_force};
static const saltus_system point = {.ops = &ops, .dims = {.nq = 1, .nv = 1}};

/* A point that comes with -u, is hit at the time `hit` at 0 and leaves with u, heard at the times. */
static void hear_bounce(saltusi_trajectory_samples* track, double hit, double u) {
  const saltus_recorder recorder = saltusi_trajectory_samples_recorder(track);
  bool jumped = false;
  for (int k = 0; k < track->count; k++) {
    double t = track->times[k];
    if (t >= hit && !jumped) {
      double q = 0.0, before = -u, after = u;
      recorder.frame(recorder.user, &(saltus_frame){.t = hit, .q = &q, .v = &before});
      recorder.frame(recorder.user, &(saltus_frame){.t = hit, .q = &q, .v = &after});
      jumped = true;
    }
    double q = u * fabs(t - hit), v = t < hit ? -u : u;
    if (t == hit) {
      continue; /* heard as the right side of the jump */
    }
    recorder.frame(recorder.user, &(saltus_frame){.t = t, .q = &q, .v = &v});
  }
}

static double largest_distance(double first, double second, double u, double tol) {
  static const double times[] = {0.5, 0.9, 1.0, 1.0005, 1.1, 1.5};
  enum { COUNT = sizeof times / sizeof times[0] };
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_asked asked = {.sys = &point, .rtol = 1e-12, .atol = tol, .atol_velocity = tol};
  const double q0 = 1.0;
  assert_true(saltusi_asked_start(&asked, &q0, &pool));
  saltusi_trajectory_samples tracks[2];
  double profile[COUNT], room[2], most = 0.0;
  for (int i = 0; i < 2; i++) {
    assert_true(saltusi_trajectory_samples_start(&tracks[i], &point, times, COUNT, &pool));
    hear_bounce(&tracks[i], i == 0 ? first : second, u);
    assert_int_equal(tracks[i].jump_count, 1);
  }
  saltusi_trajectory_samples_compare(&asked, &tracks[0], &tracks[1], room, profile);
  for (int k = 0; k < COUNT; k++) {
    most = fmax(most, profile[k]);
  }
  saltusi_trajectory_samples_end(&tracks[0]);
  saltusi_trajectory_samples_end(&tracks[1]);
  saltusi_pool_free(&pool);
  return most;
}

/* Moved by s, a jump from -u to u moves positions by u s; an instant between is 2 u s of jump away at most. */
static void an_impact_at_another_time_is_as_far_as_it_moves_positions(void** state) {
  (void)state;
  const double tol = 1e-4;
  static const double speeds[] = {0.1, 1.0, 20.0};
  static const double shifts[] = {1e-6, 1e-5, 1e-4, 1e-3};
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) {
      double u = speeds[i], s = shifts[k];
      double d = largest_distance(1.0 - 0.4 * s, 1.0 + 0.6 * s, u, tol);
      double moved = u * s / tol;
      assert_true(d >= 0.99 * moved && d <= 2.02 * moved);
    }
  }
  assert_near(largest_distance(1.0, 1.0, 1.0, tol), 0.0, 1e-9);
}

static void velocities_away_from_impacts_are_compared_as_they_are(void** state) {
  (void)state;
  static const double times[] = {1.0};
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_asked asked = {.sys = &point, .rtol = 0.0, .atol = 1e-3, .atol_velocity = 1e-2};
  const double q0 = 1.0;
  assert_true(saltusi_asked_start(&asked, &q0, &pool));
  saltusi_trajectory_samples a, b;
  assert_true(saltusi_trajectory_samples_start(&a, &point, times, 1, &pool));
  assert_true(saltusi_trajectory_samples_start(&b, &point, times, 1, &pool));
  double profile, room[2];
  saltusi_trajectory_samples_compare(&asked, &a, &b, room, &profile);
  assert_true(isinf(profile)); /* what was not heard is no agreement */
  const saltus_recorder first = saltusi_trajectory_samples_recorder(&a),
                        second = saltusi_trajectory_samples_recorder(&b);
  double q = 1.0, v = 2.0, moved = 1.002, faster = 2.05;
  first.frame(first.user, &(saltus_frame){.t = 1.0, .q = &q, .v = &v});
  second.frame(second.user, &(saltus_frame){.t = 1.0, .q = &moved, .v = &faster});
  saltusi_trajectory_samples_compare(&asked, &a, &b, room, &profile);
  assert_near(profile, 5.0, 1e-9); /* 0.05 / 1e-2; positions 2 */
  saltusi_pool_free(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_against_closed_forms_are_below_the_tolerance),
      cmocka_unit_test(errors_with_dry_friction_are_below_the_tolerance),
      cmocka_unit_test(errors_that_add_up_are_seen_and_reduced),
      cmocka_unit_test(the_run_that_is_kept_has_the_bits_of_its_tolerance),
      cmocka_unit_test(chaos_is_refused_with_the_time_up_to_which_it_is_known),
      cmocka_unit_test(chaos_is_tightened_as_long_as_it_can_be_known),
      cmocka_unit_test(schemes_without_a_tolerance_of_steps_are_refused),
      cmocka_unit_test(a_tolerance_at_the_limit_of_the_scheme_is_refused),
      cmocka_unit_test(a_scheme_that_fails_is_heard_with_the_name_of_what_failed),
      cmocka_unit_test(inputs_that_change_between_repetitions_are_refused),
      cmocka_unit_test(a_search_that_is_stopped_begins_anew),
      cmocka_unit_test(memory_that_ends_is_an_error_and_leaves_nothing),
      cmocka_unit_test(an_impact_at_another_time_is_as_far_as_it_moves_positions),
      cmocka_unit_test(velocities_away_from_impacts_are_compared_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
