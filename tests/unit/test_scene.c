/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_scene.c - the scenes of scenes/: they load, their derivatives are right, they move as the
 * built-in problems do, and they run to their end. What is refused is in test_scene_refused.c.
 */
#include "saltus_test.h"
#include "system/evaluate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 256, PATH = 512 };

static saltus_sim* start_run(const saltus_scene_view* view) {
  const saltus_sim_def def = {.system = view->system,
                              .scheme = view->scheme,
                              .options = view->options,
                              .t0 = view->start,
                              .h = view->step,
                              .q0 = view->q0,
                              .v0 = view->v0};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

/* From its start to its end, as the scene says. */
static saltus_sim* run_to_end(const saltus_scene_view* view) {
  saltus_sim* sim = start_run(view);
  long long steps = saltus_sim_step_count(view->start, view->until, view->step, NULL);
  assert_int_equal(saltus_sim_run(sim, steps), SALTUS_OK);
  assert_near(saltus_sim_time(sim), view->until, 1e-9);
  return sim;
}

static double energy(const saltus_scene_view* view, const double* q, const double* v) {
  void* scratch = malloc(view->system->dims.scratch + 1);
  assert_non_null(scratch);
  const saltus_point at = {.t = view->start, .q = q, .v = v, .scratch = scratch};
  double sum = view->system->ops->kinetic(view->system->self, &at) +
               view->system->ops->potential(view->system->self, &at);
  free(scratch);
  return sum;
}

/* ---- all scenes -------------------------------------------------------------------------- */

static int by_name(const void* a, const void* b) {
  return strcmp(a, b);
}

static int list_scenes(char names[MOST][PATH]) {
  DIR* folder = opendir(SALTUS_SCENES);
  assert_non_null(folder);
  int count = 0;
  const struct dirent* entry;
  while ((entry = readdir(folder)) != NULL) {
    const char* end = strstr(entry->d_name, ".yaml");
    if (end != NULL && end[5] == '\0') {
      assert_true(count < MOST);
      snprintf(names[count++], PATH, "%.*s", (int)(end - entry->d_name), entry->d_name);
    }
  }
  closedir(folder);
  qsort(names, (size_t)count, sizeof names[0], by_name); /* folders have an order of their own */
  return count;
}

/* Springs of 1e4 to 1e9 N/m between links. */
static bool has_beams(const char* name) {
  return strncmp(name, "flexible-", 9) == 0 || strcmp(name, "machine-valve-train") == 0;
}

/* 1e-10: differences of sixth order at a step of 1e-2 leave 1e-14 of truncation and eps |f| / 1e-2
 * of rounding, 1e-12 for the largest forces here; a wrong term is off by far more. The governor has dampers of
 * 4e4 N s/m between points 0.4 m apart, which turn: of (1e-2/0.4)^6 a part is left. */
static void check_at(const saltus_scene_view* view, const char* name, double t, const double* q,
                     const double* v) {
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(view->system, t, q, v, (saltus_log){0}, &result), SALTUS_OK);
  /* a step of 2 mm at centres 20 mm apart leaves (1/10)^6 of a part of c */
  double allowed = strcmp(name, "bodies-flyball") == 0   ? 2e-9
                   : strcmp(name, "machine-cradle") == 0 ? 2e-8
                                                         : 1e-10;
  if (has_beams(
          name)) { /* eps |f| / 1e-2 of rounding, of differences of sixth order some tens of it */
    double F[MOST], most = 0.0;
    void* scratch = calloc(view->system->dims.scratch + 1, 1);
    const saltus_point at = {.t = t, .q = q, .v = v, .scratch = scratch};
    view->system->ops->force(view->system->self, &at, F);
    for (int i = 0; i < view->system->dims.nv; i++) {
      most = fmax(most, fabs(F[i]));
    }
    free(scratch);
    /* steps of 1e-2 at links of 6 to 12 mm; the cam has a radius of 20 mm, as the balls of the cradle are apart */
    allowed =
        (strcmp(name, "machine-valve-train") == 0 ? 1e-7 : 1e-9) + 50.0 * 2.2e-16 * most / 1e-2;
  }
  if (!(result.worst <= allowed) || !result.traits_hold) {
    fail_msg("%s: %s differs by %g, traits %s", name, result.where, result.worst,
             result.traits_hold ? "hold" : "do not hold");
  }
}

static void derivatives_of_every_scene_agree_with_differences(void** state) {
  (void)state;
  char names[MOST][PATH];
  int count = list_scenes(names);
  assert_true(count >= 16);
  int drawn = 0;
  for (int i = 0; i < count; i++) {
    saltus_scene* scene = saltus_test_scene(names[i], NULL, 0);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    assert_int_equal(saltus_system_validate(view->system, (saltus_log){0}), SALTUS_OK);
    check_at(view, names[i], view->start, view->q0, view->v0);
    uint64_t seed =
        20 + (uint64_t)(has_beams(names[i]) ? i : drawn++); /* as before there were beams */
    /* twelve teeth of 5 mm: 0.1 m from the start there is a border between two pieces within every step of differences;
     * test_elements looks at ratchets of a metre */
    const int draws = strcmp(names[i], "machine-ratchet") == 0 ? 0 : 5;
    for (int k = 0; k < draws; k++) {
      double q[MOST], v[MOST], d[MOST];
      assert_true(view->system->dims.nq <= MOST);
      for (int j = 0; j < view->system->dims.nv; j++) {
        d[j] = (has_beams(names[i]) ? 2e-6 : 0.2) * (saltus_test_random(&seed) - 0.5);
        v[j] = view->v0[j] + 2.0 * (saltus_test_random(&seed) - 0.5);
      }
      saltusi_advance(view->system, view->q0, d, 1.0, q);
      check_at(view, names[i], view->start + saltus_test_random(&seed), q, v);
    }
    saltus_scene_destroy(scene);
  }
}

static void every_scene_says_what_it_is_and_how_to_run_it(void** state) {
  (void)state;
  char names[MOST][PATH];
  int count = list_scenes(names);
  for (int i = 0; i < count; i++) {
    saltus_scene* scene = saltus_test_scene(names[i], NULL, 0);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    assert_true(strlen(view->name) > 0 && strlen(view->name) < 60);
    assert_true(strlen(view->description) > 40);
    const saltus_scheme_info* scheme = saltus_scheme_find(view->scheme);
    assert_non_null(scheme);
    assert_true(view->until > view->start && (scheme->chooses_step || view->step > 0.0));
    for (int j = 0; j < view->system->dims.nq; j++) {
      assert_string_not_equal(view->system->q_labels[j].unit, "");
    }
    /* at most a few thousand frames */
    assert_true(scheme->chooses_step ||
                (view->until - view->start) / view->step / (double)view->record_every < 20000);
    saltus_scene_destroy(scene);
  }
}

/* ---- twins ------------------------------------------------------------------------------- */

/* The largest difference of q and v between the scene and the built-in problem that it names, over
 * 2000 steps h of the same scheme. */
static double distance_from_twin(const char* name, double h) {
  saltus_scene* scene = saltus_test_scene(name, NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create(view->reference, (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  const saltus_system* twin = saltus_known_motion_system(problem);
  saltus_scene_view as_scene = *view;
  as_scene.step = h;
  saltus_scene_view as_built_in = as_scene;
  as_built_in.system = twin;
  as_built_in.q0 = saltus_known_motion_q0(problem);
  as_built_in.v0 = saltus_known_motion_v0(problem);
  assert_int_equal(twin->dims.nv, view->system->dims.nv);
  assert_int_equal(twin->dims.nc, view->system->dims.nc);
  assert_int_equal(twin->traits, view->system->traits);
  saltus_sim* a = start_run(&as_scene);
  saltus_sim* b = start_run(&as_built_in);
  double worst = 0.0;
  for (int k = 0; k <= 2000; k++) {
    for (int i = 0; i < twin->dims.nv; i++) {
      worst = fmax(worst, fabs(saltus_sim_q(a)[i] - saltus_sim_q(b)[i]));
      worst = fmax(worst, fabs(saltus_sim_v(a)[i] - saltus_sim_v(b)[i]));
    }
    assert_int_equal(saltus_sim_step(a), SALTUS_OK);
    assert_int_equal(saltus_sim_step(b), SALTUS_OK);
  }
  saltus_sim_destroy(a);
  saltus_sim_destroy(b);
  saltus_known_motion_destroy(problem);
  saltus_scene_destroy(scene);
  return worst;
}

/* Masses are 1 and forces are the same sums of the same terms once constants are folded, and adding
 * zeros or negating changes no bit: so every step is the same to the last one. Twenty seconds
 * contain all impacts, their accumulation and rest. */
static void linear_scenes_give_the_bits_of_their_built_in_twins(void** state) {
  (void)state;
  const char* const names[] = {"ball",       "forced-ball",       "chain-5",
                               "stack-5",    "column-10",         "oscillator-preload",
                               "oscillator", "oscillator-damped", NULL};
  for (int i = 0; names[i] != NULL; i++) {
    double distance = distance_from_twin(names[i], 0.01);
    if (distance != 0.0) {
      fail_msg("%s differs by %g", names[i], distance);
    }
  }
}

/* The formulas of the double pendulum are derived from its energy, so sums come in another order:
 * roundings differ, and impacts and their accumulation may spread them. Measured 9e-16 within 3 s;
 * 1e-12 leaves room for other compilers, and a wrong term is off by far more. */
static void the_double_pendulum_stays_with_its_twin_through_27_impacts(void** state) {
  (void)state;
  assert_near(distance_from_twin("pendulum-wall", 0.0015), 0.0, 1e-12);
}

/* ---- runs -------------------------------------------------------------------------------- */

/* Moreau's midpoint rule with the mean velocity keeps the energy through 219 lossless impacts: within
 * [-0.14 %, +0.03 %] of E0 = -7.130389 J by another program (docs/theory/problems.md, 7.1). */
static void the_spring_pendulum_keeps_its_energy_for_250_seconds(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("spring-pendulum", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double before = energy(view, view->q0, view->v0);
  assert_near(before, -7.130389, 5e-7);
  saltus_sim* sim = run_to_end(view);
  double after = energy(view, saltus_sim_q(sim), saltus_sim_v(sim));
  assert_near((after - before) / before, -0.0005, 0.001);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* Without friction nothing holds the woodpecker: its momentum falls as (mM + mS) g t whatever beak
 * and sleeve do. 1e-12: 50000 steps of rounding in a momentum of 0.05 N s. */
static void the_woodpecker_falls_freely_without_friction(void** state) {
  (void)state;
  const saltus_override smooth = {"mu", "0"};
  saltus_scene* scene = saltus_test_scene("woodpecker", &smooth, 1);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sim* sim = run_to_end(view);
  const double* v = saltus_sim_v(sim);
  const double* q = saltus_sim_q(sim);
  double momentum = 0.0048 * v[0] + 0.0045 * (0.010 * v[1] + 0.015 * v[2]);
  double start = 0.0048 * -0.3411 + 0.0045 * 0.015 * -7.4583;
  assert_near(momentum, start - 0.0048 * 9.81 * 1.0, 1e-12);
  assert_true(0.0006 + 0.0058 * q[1] > -1e-6 && 0.0006 - 0.0058 * q[1] > -1e-6);
  assert_true(0.0024 - 0.02 * q[2] > -1e-4);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* First order in h = 5e-4; measured 9e-5 rad and 1e-3 rad/s, allowed is five times that. */
static void the_double_pendulum_at_a_wall_ends_near_its_reference(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("pendulum-wall", NULL, 0);
  saltus_sim* sim = run_to_end(saltus_scene_get_view(scene));
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("pendulum-wall", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  double q[2], v[2];
  assert_true(saltus_known_motion_exact(problem, 3.0, q, v));
  for (int i = 0; i < 2; i++) {
    assert_near(saltus_sim_q(sim)[i], q[i], 5e-4);
    assert_near(saltus_sim_v(sim)[i], v[i], 5e-3);
  }
  saltus_known_motion_destroy(problem);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* At rest no velocity is left, and every gap is within the penetration that a step allows: h times
 * the largest speed of an impact, 0.002 x sqrt(2 x 2 x 10). */
static void the_column_of_ten_comes_to_rest_on_the_floor(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("column-10", NULL, 0);
  saltus_sim* sim = run_to_end(saltus_scene_get_view(scene));
  const double* q = saltus_sim_q(sim);
  for (int i = 0; i < 10; i++) {
    assert_near(saltus_sim_v(sim)[i], 0.0, 1e-12);
    assert_near(i == 0 ? q[0] : q[i] - q[i - 1], 0.0, 0.013);
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* Potra et al. 2006, 10.1, with g = 9.8: x1(2.5), x2(2.5) and the energy after the fifth impact from
 * docs/theory/problems.md, 8.1. First order in h = 5e-4, joints drift by the same order. */
static void the_double_pendulum_with_joints_ends_near_the_published_motion(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("double-pendulum", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sim* sim = run_to_end(view);
  const double* q = saltus_sim_q(sim);
  assert_near(q[0], 0.02196211769492, 2e-3);
  assert_near(q[2], 0.02376948677391, 2e-3);
  assert_near(q[0] * q[0] + q[1] * q[1], 1.0, 5e-3);
  assert_near(energy(view, q, saltus_sim_v(sim)), -29.3931231, 0.05);
  assert_string_equal(view->joint_names[1], "lower rod");
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* A driven floor throws the ball again and again, and never lets it through by more than a step of
 * the relative speed. */
static void a_moving_floor_carries_its_ball(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("moving-floor", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sim* sim = start_run(view);
  const double a = 1.6 * 9.81 / 400.0;
  double highest = 0.0;
  for (int k = 0; k < 10000; k++) {
    assert_int_equal(saltus_sim_step(sim), SALTUS_OK);
    double gap = saltus_sim_q(sim)[0] - a * sin(20.0 * saltus_sim_time(sim));
    assert_true(gap > -2e-3);
    highest = k > 5000 ? fmax(highest, gap) : 0.0;
  }
  assert_true(highest > 0.01);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* ---- overrides --------------------------------------------------------------------------- */

/* The dropped ball becomes the ball of the literature; formulas may use other parameters. */
static void overrides_turn_one_scene_into_another(void** state) {
  (void)state;
  const saltus_override overrides[] = {{"m", "1"}, {"g", "2"}, {"e", "m/2"}, {"h", "g - m"}};
  saltus_scene* dropped = saltus_test_scene("drop", overrides, 4);
  saltus_scene* ball = saltus_test_scene("ball", NULL, 0);
  saltus_scene_view view = *saltus_scene_get_view(dropped);
  view.step = saltus_scene_get_view(ball)->step;
  saltus_sim* a = start_run(&view);
  saltus_sim* b = start_run(saltus_scene_get_view(ball));
  for (int k = 0; k < 1000; k++) {
    assert_int_equal(saltus_sim_step(a), SALTUS_OK);
    assert_int_equal(saltus_sim_step(b), SALTUS_OK);
    assert_true(saltus_sim_q(a)[0] == saltus_sim_q(b)[0]);
    assert_true(saltus_sim_v(a)[0] == saltus_sim_v(b)[0]);
  }
  saltus_sim_destroy(a);
  saltus_sim_destroy(b);
  saltus_scene_destroy(dropped);
  saltus_scene_destroy(ball);
}

/* Without restitution the ball stays down after the first impact at sqrt(2/9.81) = 0.4515 s. */
static void an_override_of_restitution_ends_the_bouncing(void** state) {
  (void)state;
  const saltus_override none = {"e", "0"};
  saltus_scene* scene = saltus_test_scene("drop", &none, 1);
  saltus_sim* sim = start_run(saltus_scene_get_view(scene));
  assert_int_equal(saltus_sim_run(sim, 450), SALTUS_OK);
  assert_near(saltus_sim_v(sim)[0], -9.81 * 0.45, 1e-12);
  assert_int_equal(saltus_sim_run(sim, 460), SALTUS_OK);
  assert_true(saltus_sim_v(sim)[0] == 0.0);
  assert_near(saltus_sim_q(sim)[0], 0.0, 5e-3);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* Overrides of a scene are those of every scene like it, and of its text in a recording; later ones replace earlier ones. */
static void a_scene_like_another_has_its_overrides(void** state) {
  (void)state;
  const saltus_override first[] = {{"m", "3"}, {"g", "2"}}, second[] = {{"g", "m + 4"}};
  saltus_scene *scene = saltus_test_scene("drop", first, 2), *like, *again;
  saltus_scene_def def = {.like = scene, .overrides = second, .override_count = 1};
  assert_int_equal(saltus_scene_create(&def, &like), SALTUS_OK);
  def = (saltus_scene_def){.like = like};
  assert_int_equal(saltus_scene_create(&def, &again), SALTUS_OK);
  double value = 0.0;
  assert_int_equal(saltus_scene_value(scene, "m*g", (saltus_log){0}, &value), SALTUS_OK);
  assert_true(value == 6.0);
  assert_int_equal(saltus_scene_value(again, "m*g", (saltus_log){0}, &value), SALTUS_OK);
  assert_true(value == 21.0);
  assert_int_equal(saltus_scene_value(again, "no_such_name", (saltus_log){0}, &value),
                   SALTUS_ERR_INPUT);
  assert_true(value == 21.0);
  saltus_scene_destroy(again);
  saltus_scene_destroy(like);
  saltus_scene_destroy(scene);
}

static void a_recorded_text_has_its_overrides(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\nparameters: {k: 1, c: 2}\n"
                             "coordinates: {x: {start: k}}\nkinetic: x'^2/2\n"
                             "# --set k=5\n# --set x'=c\n# --set k=6";
  static const struct {
    bool recorded;
    int overrides;
    double k, v;
  } cases[] = {{false, 0, 1.0, 0.0}, {true, 0, 6.0, 2.0}, {true, 1, 7.0, 2.0}};
  const saltus_override own = {"k", "7"};
  for (int i = 0; i < 3; i++) {
    saltus_scene_def def = {.text = text,
                            .recorded = cases[i].recorded,
                            .overrides = &own,
                            .override_count = cases[i].overrides};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
    assert_true(saltus_scene_get_view(scene)->q0[0] == cases[i].k);
    assert_true(saltus_scene_get_view(scene)->v0[0] == cases[i].v);
    saltus_scene_destroy(scene);
  }
}

/* ---- short forms ------------------------------------------------------------------------- */

static void short_forms_and_empty_sections_mean_what_they_look_like(void** state) {
  (void)state;
  const char* text = "saltus: 1\n"
                     "parameters:\n"
                     "coordinates: {x: 1.5, y: , z: {velocity: 2}}\n"
                     "kinetic: x'^2 + y'^2 + z'^2\n"
                     "forces:\njoints:\ncontacts:\nsimulate:\nrecord:\n";
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_true(view->q0[0] == 1.5 && view->q0[1] == 0.0 && view->q0[2] == 0.0);
  assert_true(view->v0[0] == 0.0 && view->v0[2] == 2.0);
  assert_string_equal(view->name, "");
  assert_string_equal(view->text, text);
  assert_null(view->scheme);
  assert_null(view->reference);
  assert_true(isnan(view->until) && isnan(view->step) && view->start == 0.0);
  assert_true(view->start_tolerance == 1e-2 && view->record_every == 1);
  saltus_scene_destroy(scene);
}

static void tolerances_belong_to_coordinates_and_to_the_scheme(void** state) {
  (void)state;
  saltus_kept_message kept;
  const saltus_scene_def def = {
      .text = "saltus: 1\n"
              "parameters: {um: 1e-6}\n"
              "coordinates: {x: {tolerance: 2*um}, y: 1, z: {velocity_tolerance: um/2}}\n"
              "kinetic: x'^2 + y'^2 + z'^2\n"
              "simulate: {until: 1, tol: 1e-9}\n",
      .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_true(view->atol_q[0] == 2e-6 && view->atol_q[1] == 0.0 && view->atol_q[2] == 0.0);
  assert_true(view->atol_v[0] == 0.0 && view->atol_v[1] == 0.0 && view->atol_v[2] == 0.5e-6);
  assert_string_equal(view->scheme, "adaptive");
  const saltus_adaptive_options* options = view->options;
  assert_true(options->rtol == 1e-9 && options->atol == 1e-9);
  assert_null(view->control);
  assert_false(view->record_given);
  saltus_scene_destroy(scene);
}

static void a_scene_carries_options_times_and_recording(void** state) {
  (void)state;
  saltus_kept_message kept;
  const saltus_scene_def def = {
      .text = "saltus: 1\n"
              "parameters: {h: 0.25}\n"
              "coordinates: {x: 1}\n"
              "kinetic: x'^2\n"
              "contacts: [{gap: x, impact: poisson, restitution: h}, {name: top, gap: 2 - x}]\n"
              "simulate: {start: -h, until: 4*h, step: h/2, start_tolerance: 1e-3, scheme: "
              "moreau-jean,\n"
              "  options: {theta: 1, jump: start}}\n"
              "record: {every: 7}\n"
              "reference: motion.csv\n",
      .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_moreau_jean_options* options = view->options;
  assert_true(view->start == -0.25 && view->until == 1.0 && view->step == 0.125);
  assert_true(view->start_tolerance == 1e-3 && view->record_every == 7);
  assert_string_equal(view->scheme, "moreau-jean");
  assert_true(options->theta == 1.0 && options->jump == SALTUS_JUMP_START);
  assert_string_equal(view->reference, "motion.csv");
  assert_string_equal(view->system->laws[0].name, "contact 1");
  assert_int_equal(view->system->laws[0].impact, SALTUS_IMPACT_POISSON);
  assert_true(view->system->laws[0].e_N == 0.25 && view->system->laws[1].e_N == 0.0);
  assert_string_equal(view->system->laws[1].name, "top");
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_every_scene_agree_with_differences),
      cmocka_unit_test(every_scene_says_what_it_is_and_how_to_run_it),
      cmocka_unit_test(linear_scenes_give_the_bits_of_their_built_in_twins),
      cmocka_unit_test(the_double_pendulum_stays_with_its_twin_through_27_impacts),
      cmocka_unit_test(the_spring_pendulum_keeps_its_energy_for_250_seconds),
      cmocka_unit_test(the_woodpecker_falls_freely_without_friction),
      cmocka_unit_test(the_double_pendulum_at_a_wall_ends_near_its_reference),
      cmocka_unit_test(the_column_of_ten_comes_to_rest_on_the_floor),
      cmocka_unit_test(the_double_pendulum_with_joints_ends_near_the_published_motion),
      cmocka_unit_test(a_moving_floor_carries_its_ball),
      cmocka_unit_test(overrides_turn_one_scene_into_another),
      cmocka_unit_test(an_override_of_restitution_ends_the_bouncing),
      cmocka_unit_test(a_scene_like_another_has_its_overrides),
      cmocka_unit_test(a_recorded_text_has_its_overrides),
      cmocka_unit_test(short_forms_and_empty_sections_mean_what_they_look_like),
      cmocka_unit_test(tolerances_belong_to_coordinates_and_to_the_scheme),
      cmocka_unit_test(a_scene_carries_options_times_and_recording),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
