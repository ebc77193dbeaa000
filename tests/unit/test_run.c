/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_run.c - what a scene and overrides mean; results, interruption and snapshots of runs.
 */
#include "saltus_test.h"
#include "systems.h"

#include <stdio.h>
#include <stdlib.h>

static const char head[] = "saltus: 1\n"
                           "coordinates: {q: {start: 1}}\n"
                           "kinetic: q'^2/2\n"
                           "potential: 2*q\n"
                           "contacts: [{name: floor, gap: q, restitution: 1/2}]\n";

/* A scene with these words in `simulate`. */
static saltus_scene* scene_of(const char* simulate) {
  char text[1024];
  snprintf(text, sizeof text, "%ssimulate: {%s}\n", head, simulate);
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s: %s", simulate, kept.text);
  }
  return scene;
}

static saltus_run_def def_of(const saltus_scene* scene) {
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  return def;
}

static saltus_run* make(const saltus_run_def* def) {
  static saltus_kept_message kept; /* runs speak as long as they live */
  saltus_run_def heard = *def;
  heard.log = saltus_log_keep(&kept);
  saltus_run* run;
  if (saltus_run_create(&heard, &run) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return run;
}

/* ---- what a tolerance means ------------------------------------------------------------------ */

typedef enum meaning { IN_OPTIONS, EMBEDDED, VARIABLE_ORDER, REFUSED } meaning;

/* Every scheme that there is; a new one has to be entered here. */
static const struct {
  const char* scheme;
  meaning tol;
} meanings[] = {
    {"moreau-jean", VARIABLE_ORDER},
    {"moreau-jean-projected", VARIABLE_ORDER},
    {"moreau-midpoint", VARIABLE_ORDER},
    {"moreau-extrapolated", EMBEDDED},
    {"variational", REFUSED},
    {"rattle", REFUSED},
    {"schatzman-paoli", REFUSED},
    {"splitting-rkf45", REFUSED},
    {"splitting-rkf45-contact", REFUSED},
    {"dg-minus", EMBEDDED},
    {"dg-plus", EMBEDDED},
    {"trapezoidal-implicit-mean", REFUSED},
    {"trapezoidal-implicit-end", REFUSED},
    {"explicit-euler", REFUSED},
    {"midpoint", REFUSED},
    {"heun-3", REFUSED},
    {"rk4", REFUSED},
    {"rkf45", EMBEDDED},
    {"dopri5", EMBEDDED},
    {"radau-iia-1", REFUSED},
    {"radau-iia-3", REFUSED},
    {"radau-iia-5", REFUSED},
    {"lobatto-iiia-2", REFUSED},
    {"lobatto-iiia-4", REFUSED},
    {"lobatto-iiia-6", REFUSED},
    {"gauss-2", REFUSED},
    {"gauss-4", REFUSED},
    {"gauss-6", REFUSED},
    {"herk-3", REFUSED},
    {"hem-4", REFUSED},
    {"event-driven", REFUSED},
    {"adaptive", IN_OPTIONS},
    {"adaptive-dopri5", IN_OPTIONS},
    {"adaptive-dop853", IN_OPTIONS},
    {"adaptive-radau5", IN_OPTIONS},
};
enum { MEANINGS = sizeof meanings / sizeof meanings[0] };

static void assert_tolerance(const saltus_run* run, const char* scheme, meaning tol, double value) {
  const saltus_run_settings* s = saltus_run_get_settings(run);
  assert_string_equal(s->scheme->name, scheme);
  if (tol == IN_OPTIONS) {
    assert_null(s->control);
    assert_true(s->rtol == value && s->atol == value && s->atol_velocity == value);
  } else {
    assert_string_equal(s->control, tol == EMBEDDED ? "embedded" : "variable-order");
    assert_true(s->control_options.rtol == value && s->control_options.atol == value);
    assert_true(isnan(s->rtol) && isnan(s->atol));
  }
  assert_true(s->h == 0.0 && s->steps == 0);
}

/* A scheme and a tolerance mean the same wherever the two are written: both in the scene, both as
 * overrides, or one here and one there, also over a step or another scheme of the scene. */
static void a_tolerance_has_one_meaning_for_a_scheme(void** state) {
  (void)state;
  assert_int_equal(saltus_scheme_count(), MEANINGS);
  for (int i = 0; i < MEANINGS; i++) {
    const char* name = meanings[i].scheme;
    const char* const scenes[] = {"until: 1, scheme: %s, tol: 1e-5",
                                  "until: 1",
                                  "until: 1, tol: 1e-5",
                                  "until: 1, scheme: moreau-jean, step: 0.1",
                                  "until: 1, scheme: dopri5, tol: 1e-5",
                                  "until: 1, scheme: adaptive, tol: 1e-5"};
    for (int k = meanings[i].tol == REFUSED ? 1 : 0; k < 6; k++) {
      char simulate[128];
      snprintf(simulate, sizeof simulate, k == 0 ? scenes[k] : "%s", k == 0 ? name : scenes[k]);
      saltus_scene* scene = scene_of(simulate);
      saltus_kept_message kept;
      saltus_run_def def = def_of(scene);
      def.scheme = k > 0 ? name : NULL;
      def.tol = k == 1 || k == 3 ? 1e-5 : NAN;
      def.log = saltus_log_keep(&kept);
      saltus_run* run;
      saltus_status status = saltus_run_create(&def, &run);
      if (meanings[i].tol == REFUSED) {
        assert_int_equal(status, SALTUS_ERR_UNSUPPORTED);
        assert_says(kept, "has no tolerance, it ");
        assert_says(kept, "; give step H");
      } else {
        assert_int_equal(status, SALTUS_OK);
        assert_tolerance(run, name, meanings[i].tol, 1e-5);
      }
      saltus_run_destroy(run);
      saltus_scene_destroy(scene);
    }
  }
}

static void a_scene_may_not_give_a_tolerance_to_a_scheme_with_a_constant_step(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, "%ssimulate: {until: 1, scheme: rattle, tol: 1e-5}\n", head);
  saltus_kept_message kept;
  const saltus_scene_def def = {.path = "s.yaml", .text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_ERR_INPUT);
  assert_says(kept, "s.yaml:6:43: scheme rattle has no tolerance, it needs a constant step");
}

/* The scheme when only a tolerance is given: one with an error estimate stays, others make way. */
static void a_tolerance_alone_keeps_schemes_that_have_an_estimate(void** state) {
  (void)state;
  static const struct {
    const char *simulate, *scheme;
    meaning tol;
  } cases[] = {
      {"until: 1, scheme: rkf45, step: 0.1", "rkf45", EMBEDDED},
      {"until: 1, scheme: rkf45, tol: 1e-3", "rkf45", EMBEDDED},
      {"until: 1, scheme: adaptive-radau5", "adaptive-radau5", IN_OPTIONS},
      {"until: 1, scheme: adaptive-radau5, tol: 1e-3", "adaptive-radau5", IN_OPTIONS},
      {"until: 1, scheme: moreau-jean, tol: 1e-3", "moreau-jean", VARIABLE_ORDER},
      {"until: 1, scheme: moreau-jean, step: 0.1", "adaptive", IN_OPTIONS},
      {"until: 1, scheme: rattle, step: 0.1", "adaptive", IN_OPTIONS},
      {"until: 1, step: 0.1", "adaptive", IN_OPTIONS},
      {"until: 1", "adaptive", IN_OPTIONS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_scene* scene = scene_of(cases[i].simulate);
    saltus_run_def def = def_of(scene);
    def.tol = 1e-6;
    saltus_run* run = make(&def);
    assert_tolerance(run, cases[i].scheme, cases[i].tol, 1e-6);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
}

/* Without any word the tolerance is 1e-6, relative and absolute, in every place. */
static void a_tolerance_that_nobody_gives_is_one_in_a_million(void** state) {
  (void)state;
  static const struct {
    const char *simulate, *scheme;
    meaning tol;
  } cases[] = {{"until: 1", "adaptive", IN_OPTIONS},
               {"until: 1, scheme: rkf45, control: embedded", "rkf45", EMBEDDED},
               {"until: 1, control: variable-order", "moreau-jean", VARIABLE_ORDER}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_scene* scene = scene_of(cases[i].simulate);
    saltus_run_def def = def_of(scene);
    saltus_run* run = make(&def);
    assert_tolerance(run, cases[i].scheme, cases[i].tol, 1e-6);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
}

static void
a_controller_that_the_scene_names_keeps_its_options_under_another_tolerance(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 1, scheme: moreau-jean, control: violation, tol: 1e-3, "
                                 "control_options: {alpha_max: 2}");
  saltus_run_def def = def_of(scene);
  def.tol = 1e-4;
  saltus_run* run = make(&def);
  const saltus_run_settings* s = saltus_run_get_settings(run);
  assert_string_equal(s->control, "violation");
  assert_true(s->control_options.alpha_max == 2.0);
  assert_true(s->control_options.atol == 1e-4 && s->control_options.rtol == 1e-4);
  saltus_run_destroy(run);
  /* what is given by name stands over the tolerance */
  const saltus_override own = {"rtol", "0.25"};
  def.control_options = &own;
  def.control_option_count = 1;
  run = make(&def);
  assert_true(saltus_run_get_settings(run)->control_options.rtol == 0.25);
  assert_true(saltus_run_get_settings(run)->control_options.atol == 1e-4);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* ---- overrides ------------------------------------------------------------------------------ */

static void overrides_stand_over_the_scene(void** state) {
  (void)state;
  saltus_scene* scene =
      scene_of("until: 1, scheme: moreau-jean, step: 0.1, options: {theta: 0.75, gamma: 0.25}");
  const saltus_override gamma = {"gamma", "0.5"};
  saltus_run_def def = def_of(scene);
  def.options = &gamma;
  def.option_count = 1;
  def.step = 0.3;
  def.until = 2.0;
  def.record_every = 3;
  saltus_run* run = make(&def);
  const saltus_run_settings* s = saltus_run_get_settings(run);
  const saltus_moreau_jean_options* o = s->options;
  assert_true(s->own && o->theta == 0.75 && o->gamma == 0.5);
  assert_true(s->until == 2.0 && s->step == 0.3);
  assert_int_equal(s->steps, 7); /* shortened so that they end exactly there */
  assert_near(s->h, 2.0 / 7.0, 1e-16);
  assert_int_equal(s->record_every, 3);
  saltus_run_destroy(run);
  /* options of the scene's scheme are not those of another */
  def.scheme = "moreau-jean-projected";
  def.option_count = 0;
  run = make(&def);
  assert_false(saltus_run_get_settings(run)->own);
  assert_null(strstr(saltus_run_get_settings(run)->options_text, "theta=0.75"));
  saltus_run_destroy(run);
  /* one text, then single ones over it */
  def.scheme = NULL;
  def.options_line = " theta=1  gamma=1";
  def.option_count = 1;
  run = make(&def);
  o = saltus_run_get_settings(run)->options;
  assert_true(o->theta == 1.0 && o->gamma == 0.5);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

static void states_are_recorded_where_somebody_says_so(void** state) {
  (void)state;
  static const struct {
    const char *simulate, *record;
    const char* scheme;
    long long every; /* override */
    double dt;       /* override */
    long long record_every;
    double record_dt;
  } cases[] = {
      {"until: 2, tol: 1e-3", "", NULL, 0, NAN, 1, 2.0 / 500.0},
      {"until: 2, tol: 1e-3", "record: {every: 5}\n", NULL, 0, NAN, 5, 0.0},
      {"until: 2, tol: 1e-3", "record: {dt: 0.5}\n", NULL, 0, NAN, 1, 0.5},
      {"until: 2, tol: 1e-3", "record: {dt: 0.5}\n", NULL, 2, NAN, 2, 0.0},
      {"until: 2, tol: 1e-3", "record: {every: 5}\n", NULL, 0, 0.25, 5, 0.25},
      {"until: 2, scheme: moreau-jean, step: 0.1", "", NULL, 0, NAN, 1, 0.0},
      /* what the scene says is meant for the steps of its own scheme */
      {"until: 2, scheme: moreau-jean, step: 0.1", "record: {every: 5}\n", "adaptive", 0, NAN, 1,
       2.0 / 500.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1024];
    snprintf(text, sizeof text, "%ssimulate: {%s}\n%s", head, cases[i].simulate, cases[i].record);
    const saltus_scene_def scene_def = {.text = text};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
    saltus_run_def def = def_of(scene);
    def.scheme = cases[i].scheme;
    def.record_every = cases[i].every;
    def.record_dt = cases[i].dt;
    saltus_run* run = make(&def);
    assert_int_equal(saltus_run_get_settings(run)->record_every, cases[i].record_every);
    assert_true(saltus_run_get_settings(run)->record_dt == cases[i].record_dt);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
}

typedef struct refused {
  const char* simulate;
  saltus_run_def def; /* what is not zero, and `set` */
  int set;            /* which number is given */
  double value;
  saltus_status status;
  const char* says;
} refused;

enum { NO_NUMBER, STEP, TOL, RTOL, UNTIL, DT };

static const saltus_override wrong_option = {"theta", "2"};
static const saltus_override no_option = {"tehta", "1"};

static const refused refusals[] = {
    {"step: 0.1",
     {0},
     NO_NUMBER,
     0,
     SALTUS_ERR_INPUT,
     "run: no end; give until T or simulate: {until: T} in the scene"},
    {"step: 0.1, until: 1",
     {0},
     UNTIL,
     -1.0,
     SALTUS_ERR_RANGE,
     "run: the end -1 s is not after the start 0 s"},
    {"until: 1, scheme: moreau-jean",
     {0},
     NO_NUMBER,
     0,
     SALTUS_ERR_INPUT,
     "run: no step; give step H"},
    {"until: 1", {0}, STEP, 0.0, SALTUS_ERR_RANGE, "run: step is 0, must be positive and finite"},
    {"until: 1",
     {0},
     TOL,
     0.0,
     SALTUS_ERR_RANGE,
     "run: tol is 0, must be a number between 1e-14 and 0.1"},
    {"until: 1",
     {.mark = "--"},
     TOL,
     0.5,
     SALTUS_ERR_RANGE,
     "run: --tol is 0.5, must be a number between 1e-14 and 0.1"},
    {"until: 1",
     {.scheme = "dopri5"},
     TOL,
     2.0,
     SALTUS_ERR_RANGE,
     "run: tol is 2, must be a number between 1e-15 and 1"},
    {"until: 1",
     {.scheme = "rk4"},
     RTOL,
     1e-3,
     SALTUS_ERR_UNSUPPORTED,
     "run: rtol is a tolerance of schemes that choose their steps; scheme rk4 does not"},
    {"until: 1, step: 0.1",
     {.scheme = "moreau-jaen"},
     NO_NUMBER,
     0,
     SALTUS_ERR_NAME,
     "run: no scheme \"moreau-jaen\"; did you mean moreau-jean?; see saltus list schemes"},
    {"until: 1, step: 0.1",
     {.control = "fast"},
     NO_NUMBER,
     0,
     SALTUS_ERR_NAME,
     "run: no step control \"fast\"; see saltus list controls"},
    {"until: 1, step: 0.1",
     {.options = &wrong_option, .option_count = 1},
     NO_NUMBER,
     0,
     SALTUS_ERR_RANGE,
     "moreau-jean: option \"theta\" is \"2\", allowed: 0 .. 1"},
    {"until: 1, step: 0.1",
     {.options = &no_option, .option_count = 1},
     NO_NUMBER,
     0,
     SALTUS_ERR_NAME,
     "moreau-jean: no option \"tehta\"; there are: theta"},
    {"until: 1, step: 0.1",
     {.options_line = "theta"},
     NO_NUMBER,
     0,
     SALTUS_ERR_INPUT,
     "moreau-jean: an option is \"theta\", must be name=value"},
    {"until: 1, step: 0.1",
     {.record_every = 2},
     DT,
     0.1,
     SALTUS_ERR_RANGE,
     "run: every and output-dt exclude each other"},
    {"until: 1, step: 0.1",
     {0},
     DT,
     -1.0,
     SALTUS_ERR_RANGE,
     "run: output-dt is -1, must be positive and finite"},
    {"until: 1, scheme: rk4",
     {.control = "order-0"},
     STEP,
     0.1,
     SALTUS_ERR_UNSUPPORTED,
     "run: step and control exclude each other: steps of scheme rk4 are fixed or controlled"},
    {"until: 1, scheme: adaptive",
     {.control = "order-0"},
     NO_NUMBER,
     0,
     SALTUS_ERR_UNSUPPORTED,
     "scheme adaptive chooses its steps itself; it has no control"},
    {"until: 1, step: 0.1",
     {.option_count = 1},
     NO_NUMBER,
     0,
     SALTUS_ERR_RANGE,
     "run: a count is not the length of its list"},
    {"until: 1, step: 1e-30", {0}, NO_NUMBER, 0, SALTUS_ERR_RANGE, "below the resolution of time"},
};

static void wrong_overrides_are_refused_with_their_names(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refused* r = &refusals[i];
    saltus_scene* scene = scene_of(r->simulate);
    saltus_kept_message kept;
    saltus_run_def def = def_of(scene);
    double* const numbers[] = {NULL, &def.step, &def.tol, &def.rtol, &def.until, &def.record_dt};
    def.scheme = r->def.scheme;
    def.control = r->def.control;
    def.options = r->def.options;
    def.option_count = r->def.option_count;
    def.options_line = r->def.options_line;
    def.record_every = r->def.record_every;
    def.mark = r->def.mark;
    def.log = saltus_log_keep(&kept);
    if (r->set != NO_NUMBER) {
      *numbers[r->set] = r->value;
    }
    saltus_run* run = (saltus_run*)&kept;
    assert_int_equal(saltus_run_create(&def, &run), r->status);
    assert_null(run);
    assert_says(kept, r->says);
    saltus_scene_destroy(scene);
  }
}

static void a_run_without_a_scene_is_refused(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_run_def def = saltus_run_def_default();
  def.log = saltus_log_keep(&kept);
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_RANGE);
  assert_null(run);
  assert_says(kept, "run: no scene given");
}

/* ---- results -------------------------------------------------------------------------------- */

static bool exact_ball(const void* self, double t, double* q, double* v) {
  (void)v;
  q[0] = ball_height(self, 1.0, t);
  return true;
}

/* A ball of 1 kg from 1 m, e = 1/2, g = 9.81 m/s^2, as callbacks: the first impact is at sqrt(2/g) and
 * impacts accumulate at 3 sqrt(2/g) = 1.35457 s. */
static void the_result_is_that_of_the_motion(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double q0 = 1.0;
  const double v0 = 0.0;
  const saltus_scene_view view = saltus_run_system(&sys, &q0, &v0);
  saltus_run_def def = saltus_run_def_default();
  def.scene = &view;
  def.tol = 1e-9;
  def.until = 2.0;
  def.exact = (saltus_run_exact){exact_ball, &b};
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* r = saltus_run_outcome(run);
  double fall = sqrt(2.0 / 9.81);
  assert_int_equal(r->status, SALTUS_OK);
  assert_string_equal(r->reason, "complete");
  assert_true(r->t == 2.0 && r->frames >= 501);
  assert_near(r->events[SALTUS_EVENT_IMPACT].first[0].t, fall, 1e-9);
  assert_int_equal(r->events[SALTUS_EVENT_ACCUMULATION].count, 1);
  assert_near(r->events[SALTUS_EVENT_ACCUMULATION].last.t, 3.0 * fall, 1e-8);
  assert_near(r->energy_start, 9.81, 1e-12);
  assert_near(r->energy_end, 0.0, 1e-8);
  assert_near(r->impact_loss, 9.81, 1e-7); /* all of it */
  assert_near(r->ledger.impact, -9.81, 1e-7);
  assert_true(r->compared == r->frames);
  assert_true(r->error < 1e-8 && r->error_mean < 2.0 * r->error);
  assert_true(r->penetration < 1e-9 && r->work.force_evaluations > 0);
  assert_true(r->tally != NULL && r->tally->steps == r->steps);
  assert_int_equal(r->creations, 0);
  assert_true(isnan(r->first_creation));
  saltus_run_destroy(run);
}

/* A recorder that keeps the largest values itself, and what it saw. */
typedef struct observer {
  long long frames, impacts;
  double penetration, residual, last_t;
} observer;

static saltus_status keep_frame(void* user, const saltus_frame* frame) {
  observer* o = user;
  o->frames++;
  o->last_t = frame->t;
  o->penetration = fmax(o->penetration, frame->penetration);
  o->residual = fmax(o->residual, frame->residual_velocity);
  return SALTUS_OK;
}

static saltus_status keep_event(void* user, const saltus_event* event) {
  observer* o = user;
  o->impacts += event->kind == SALTUS_EVENT_IMPACT;
  return SALTUS_OK;
}

static void recorders_see_what_the_result_says(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, step: 0.01");
  observer before = {0};
  observer after = {0};
  const saltus_recorder first = {.frame = keep_frame, .event = keep_event, .user = &before};
  const saltus_recorder second = {.frame = keep_frame, .event = keep_event, .user = &after};
  const saltus_recorder nobody = {.frame = NULL};
  saltus_run_def def = def_of(scene);
  def.recorders = &first;
  def.recorder_count = 1;
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_record(run, nobody), SALTUS_OK);
  assert_int_equal(saltus_run_record(run, second), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* r = saltus_run_outcome(run);
  assert_memory_equal(&before, &after, sizeof before);
  assert_int_equal(r->frames, 201);
  assert_int_equal(before.frames, 201);
  assert_true(before.impacts > 0 && r->events[SALTUS_EVENT_IMPACT].count == before.impacts);
  assert_true(r->penetration == before.penetration && r->penetration > 0.0);
  assert_true(r->residual_velocity == before.residual);
  assert_true(before.last_t == r->t && r->steps == 200);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

static saltus_status full_disk(void* user, const saltus_frame* frame) {
  (void)user;
  return frame->t > 0.5 ? SALTUS_ERR_IO : SALTUS_OK;
}

static void a_recorder_that_fails_ends_the_run_with_its_status(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, step: 0.01");
  saltus_run_def def = def_of(scene);
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_record(run, (saltus_recorder){.frame = full_disk}), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_ERR_IO);
  const saltus_run_result* r = saltus_run_outcome(run);
  assert_int_equal(r->status, SALTUS_ERR_IO);
  assert_near(r->t, 0.51, 1e-12);
  assert_non_null(strstr(r->reason, " at t = 0.51"));
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* ---- progress and interruption ---------------------------------------------------------------- */

/* A clock that is `tick` later at every look, and who asks. */
typedef struct asked {
  double now, tick, last, least; /* s */
  long long looks, calls, same;  /* same: calls in the step of the call before */
  long long step;
  double stop_at; /* s of the run */
} asked;

static double look(void* user) {
  asked* a = user;
  a->looks++;
  return a->now += a->tick;
}

static saltus_status answer(void* user, double t, double t_end, long long step) {
  asked* a = user;
  assert_true(t <= t_end);
  a->least = a->calls > 0 ? fmin(a->least, a->now - a->last) : a->now;
  a->same += a->calls > 0 && a->step == step;
  a->step = step;
  a->last = a->now;
  a->calls++;
  return t >= a->stop_at ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

static saltus_progress progress_of(asked* a, double interval) {
  return (saltus_progress){.report = answer, .user = a, .interval = interval, .clock = look};
}

static void progress_is_asked_by_the_clock(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, step: 0.001");
  const double ticks[] = {1.0, 0.03, 1e-4}; /* s between two looks: slow, usual and fast steps */
  for (int i = 0; i < 3; i++) {
    asked a = {.tick = ticks[i], .stop_at = INFINITY};
    saltus_run_def def = def_of(scene);
    def.progress = progress_of(&a, 0.25);
    saltus_run* run = make(&def);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    double seconds = a.now - ticks[i]; /* from the first look on */
    assert_true((double)a.calls <= seconds / 0.25);
    /* never late by more than a look */
    assert_true((double)a.calls >= floor(seconds / (0.25 + ticks[i])));
    assert_true(a.calls == 0 || a.least >= 0.25);
    /* slow steps are asked about every time, before and after; fast ones look rarely */
    assert_true(i == 0 ? a.calls >= 2000 : i == 1 ? a.looks > 2000 : a.looks < 1000);
    saltus_run_destroy(run);
  }
  saltus_scene_destroy(scene);
}

/* One step to a tolerance with thousands of recorded states is asked about inside it. */
static void progress_is_asked_inside_a_long_step(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 0.9, tol: 1e-6");
  asked a = {.tick = 1.0, .stop_at = INFINITY};
  saltus_run_def def = def_of(scene);
  def.record_dt = 1e-4;
  def.progress = progress_of(&a, 0.5);
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* r = saltus_run_outcome(run);
  assert_true(r->steps < 100 && r->frames > 9000);
  assert_true(a.same > 9000); /* between frames */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* One step with an accumulation of impacts: piles of shapes searched for seconds without obeying signals. */
static void a_search_for_events_is_asked_inside_a_step(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 4, scheme: rk4, step: 4");
  asked a = {.tick = 1.0, .stop_at = INFINITY};
  saltus_run_def def = def_of(scene);
  def.progress = progress_of(&a, 0.5);
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  assert_int_equal(saltus_run_outcome(run)->steps, 1);
  assert_true(a.same >= 4); /* of 5; 0 where only ends of steps ask */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* A run that is stopped and goes on ends with the bits of one that was not; its recording can be read
 * after the stop. */
static void an_interrupted_run_keeps_its_recording_and_goes_on(void** state) {
  (void)state;
  static const char* const simulate[] = {
      "until: 4, scheme: moreau-jean, step: 0.001", "until: 4, scheme: radau-iia-5, step: 0.01",
      "until: 4, scheme: rkf45, tol: 1e-5", "until: 4, tol: 1e-7"};
  for (int i = 0; i < 4; i++) {
    saltus_scene* scene = scene_of(simulate[i]);
    saltus_run_def def = def_of(scene);
    saltus_run* whole = make(&def);
    assert_int_equal(saltus_run_execute(whole), SALTUS_OK);
    char path[64];
    snprintf(path, sizeof path, "interrupted_%d.csv", i);
    asked a = {.tick = 1.0, .stop_at = 1.25};
    def.progress = progress_of(&a, 0.5);
    saltus_run* run = make(&def);
    saltus_recording_def file = saltus_recording_def_default();
    file.path = path;
    file.system = def.scene->system;
    file.scheme = saltus_run_get_settings(run)->scheme->name;
    saltus_recording* recording;
    assert_int_equal(saltus_recording_create(&file, &recording), SALTUS_OK);
    assert_int_equal(saltus_run_record(run, saltus_recording_recorder(recording)), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_ERR_STOPPED);
    const saltus_run_result* r = saltus_run_outcome(run);
    assert_int_equal(r->status, SALTUS_ERR_STOPPED);
    assert_true(r->t >= 1.25 && r->t < 4.0);
    assert_non_null(strstr(r->reason, " at t = "));
    assert_int_equal(saltus_recording_flush(recording), SALTUS_OK);
    saltus_recording_data* data;
    assert_int_equal(saltus_recording_read(path, (saltus_log){0}, NULL, &data), SALTUS_OK);
    assert_true(data->count == r->frames && data->t[data->count - 1] == r->t);
    assert_true(data->q[data->count - 1] == r->q[0]);
    saltus_recording_data_destroy(data);
    /* go on */
    a.stop_at = INFINITY;
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    assert_true(r->t == 4.0 && r->steps == saltus_run_outcome(whole)->steps);
    assert_memory_equal(r->q, saltus_run_outcome(whole)->q, sizeof(double));
    assert_memory_equal(r->v, saltus_run_outcome(whole)->v, sizeof(double));
    assert_string_equal(r->reason, "complete");
    const saltus_recording_summary summary = {.steps = r->steps, .cpu_seconds = NAN};
    assert_int_equal(saltus_recording_close(recording, &summary), SALTUS_OK);
    assert_int_equal(saltus_recording_read(path, (saltus_log){0}, NULL, &data), SALTUS_OK);
    for (long long k = 1; k < data->count; k++) { /* nothing twice, nothing at a wrong time */
      assert_true(data->t[k] > data->t[k - 1]);
    }
    saltus_recording_data_destroy(data);
    saltus_recording_destroy(recording);
    remove(path);
    snprintf(path, sizeof path, "interrupted_%d.events.csv", i);
    remove(path);
    saltus_run_destroy(run);
    saltus_run_destroy(whole);
    saltus_scene_destroy(scene);
  }
}

/* Stopped between the frames of one step: those that were due before the stop are left out, none comes
 * twice or at another time. */
static void a_stop_between_frames_repeats_none(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 0.9, tol: 1e-6");
  asked a = {.tick = 1.0, .stop_at = 0.25};
  observer o = {0};
  const saltus_recorder recorder = {.frame = keep_frame, .user = &o};
  saltus_run_def def = def_of(scene);
  def.record_dt = 1e-3;
  def.progress = progress_of(&a, 0.5);
  def.recorders = &recorder;
  def.recorder_count = 1;
  saltus_run* run = make(&def);
  saltus_status status = saltus_run_execute(run);
  for (int k = 0; status == SALTUS_ERR_STOPPED && k < 5000; k++) {
    double t = saltus_run_outcome(run)->t;
    assert_true(o.last_t == t);
    a.stop_at = t + 0.05;
    status = saltus_run_execute(run);
  }
  assert_int_equal(status, SALTUS_OK);
  assert_true(saltus_run_outcome(run)->t == 0.9 && o.last_t == 0.9);
  assert_true(o.frames <= 901 + 20); /* one more for each stop */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

static void a_flag_stops_a_run(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, step: 0.01");
  volatile int flag = 1;
  saltus_run_def def = def_of(scene);
  def.cancel = &flag;
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_execute(run), SALTUS_ERR_STOPPED);
  assert_int_equal(saltus_run_outcome(run)->steps, 0);
  assert_int_equal(saltus_run_outcome(run)->frames, 1);
  flag = 0;
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  assert_int_equal(saltus_run_outcome(run)->frames, 201); /* the first one once */
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* ---- snapshots ------------------------------------------------------------------------------ */

static saltus_run_snapshot* keep(const saltus_run* run, const char* target) {
  size_t size = saltus_run_snapshot_save(run, target, "", NULL);
  void* bytes = malloc(size);
  assert_int_equal(saltus_run_snapshot_save(run, target, "", bytes), size);
  saltus_run_snapshot* snapshot;
  assert_int_equal(
      saltus_run_snapshot_create("kept", bytes, size, (saltus_log){0}, NULL, &snapshot), SALTUS_OK);
  free(bytes);
  return snapshot;
}

static void a_resumed_run_has_the_bits_of_a_whole_one(void** state) {
  (void)state;
  static const char* const simulate[] = {
      "until: 4, scheme: moreau-jean, step: 0.003, options: {theta: 0.75}",
      "until: 4, scheme: radau-iia-5, control: variable-order",
      "until: 4, scheme: rkf45, tol: 1e-5", "until: 4, tol: 1e-7"};
  for (int i = 0; i < 4; i++) {
    saltus_scene* scene = scene_of(simulate[i]);
    saltus_run_def def = def_of(scene);
    saltus_run* whole = make(&def);
    assert_int_equal(saltus_run_execute(whole), SALTUS_OK);
    asked a = {.tick = 1.0, .stop_at = 1.7};
    def.progress = progress_of(&a, 0.5);
    saltus_run* first = make(&def);
    assert_int_equal(saltus_run_execute(first), SALTUS_ERR_STOPPED);
    saltus_run_snapshot* kept = keep(first, "the ball");
    assert_string_equal(kept->target, "the ball");
    assert_true(kept->t == saltus_run_outcome(first)->t && kept->until == 4.0);
    /* a scene that says something else about the run: the snapshot knows */
    saltus_scene* other = scene_of("until: 1, scheme: rk4, step: 0.5");
    saltus_run_def rest = def_of(other);
    rest.resume = kept;
    saltus_run* second = make(&rest);
    assert_true(saltus_run_outcome(second)->t == kept->t);
    assert_string_equal(saltus_run_get_settings(second)->options_text,
                        saltus_run_get_settings(whole)->options_text);
    assert_int_equal(saltus_run_execute(second), SALTUS_OK);
    assert_true(saltus_run_outcome(second)->t == 4.0);
    assert_memory_equal(saltus_run_outcome(second)->q, saltus_run_outcome(whole)->q, 8);
    assert_memory_equal(saltus_run_outcome(second)->v, saltus_run_outcome(whole)->v, 8);
    saltus_run_destroy(second);
    saltus_run_destroy(first);
    saltus_run_destroy(whole);
    saltus_run_snapshot_destroy(kept);
    saltus_scene_destroy(other);
    saltus_scene_destroy(scene);
  }
}

static void a_snapshot_allows_no_other_scheme_and_no_earlier_end(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, step: 0.01");
  saltus_run_def def = def_of(scene);
  saltus_run* run = make(&def);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  saltus_run_snapshot* kept = keep(run, "ball");
  saltus_run_destroy(run);
  saltus_kept_message message;
  def.resume = kept;
  def.log = saltus_log_keep(&message);
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_RANGE);
  assert_says(message, "run: it ends at t = 2 s; give until with a later time");
  def.until = 3.0;
  def.tol = 1e-3;
  def.log = saltus_log_keep(&message);
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_UNSUPPORTED);
  assert_says(message, "run: a resumed run has the scheme, options, steps and start of its first");
  assert_null(run);
  saltus_run_snapshot_destroy(kept);
  saltus_scene_destroy(scene);
}

/* Every beginning of a snapshot, and every one with a byte changed in its head, is refused or read; the
 * state in it is judged by the simulation. */
static void damaged_snapshots_are_refused(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, tol: 1e-2");
  saltus_run_def def = def_of(scene);
  saltus_run* run = make(&def);
  size_t size = saltus_run_snapshot_save(run, "ball", "saltus: 1\n", NULL);
  char* bytes = malloc(size);
  char* copy = malloc(size);
  saltus_run_snapshot_save(run, "ball", "saltus: 1\n", bytes);
  saltus_run_snapshot* snapshot;
  for (size_t n = 0; n < size; n++) {
    saltus_kept_message kept;
    assert_int_equal(
        saltus_run_snapshot_create("cut", bytes, n, saltus_log_keep(&kept), NULL, &snapshot),
        SALTUS_ERR_INPUT);
    assert_null(snapshot);
    assert_says(kept, "cut: not a snapshot that can be read: ");
  }
  for (size_t n = 0; n < size; n++) {
    memcpy(copy, bytes, size);
    copy[n] = (char)(copy[n] ^ 5);
    saltus_status status =
        saltus_run_snapshot_create("hit", copy, size, (saltus_log){0}, NULL, &snapshot);
    assert_true(status == SALTUS_OK || status == SALTUS_ERR_INPUT);
    saltus_run_snapshot_destroy(snapshot);
  }
  free(bytes);
  free(copy);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void a_failed_allocation_keeps_nothing(void** state) {
  (void)state;
  saltus_scene* scene = scene_of("until: 2, scheme: moreau-jean, tol: 1e-3");
  int fail_at = 1;
  for (;; fail_at++) {
    counter count = {.fail_at = fail_at};
    saltus_allocator allocator = counting_allocator(&count);
    const saltus_recorder nobody = {.frame = NULL};
    saltus_run_def def = def_of(scene);
    def.recorders = &nobody;
    def.recorder_count = 1;
    def.allocator = &allocator;
    saltus_run* run;
    saltus_status status = saltus_run_create(&def, &run);
    if (status == SALTUS_OK) {
      saltus_run_destroy(run);
      assert_int_equal(count.live, 0);
      break;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
    assert_null(run);
    assert_int_equal(count.live, 0);
  }
  assert_true(fail_at > 4); /* run, recorders, simulation, scheme at least */
  saltus_scene_destroy(scene);
}

/* Explicit Euler makes energy: with fixed steps that is a warning at the end of the run, with the number; at short steps
 * none. */
static void energy_that_fixed_steps_make_is_a_warning(void** state) {
  (void)state;
  const saltus_scene_def swing = {
      .text = "saltus: 1\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\npotential: 8*x^2\n"
              "simulate: {until: 1, scheme: explicit-euler, step: 0.01}\n"};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&swing, &scene), SALTUS_OK);
  for (int k = 0; k < 2; k++) {
    saltus_kept_message kept = {0};
    saltus_run_def def = def_of(scene);
    saltus_run* run;
    def.step = k == 0 ? 0.01 : 1e-5;
    def.log = saltus_log_keep(&kept);
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    assert_true((strstr(kept.text, "that no force accounts for") != NULL) == (k == 0));
    saltus_run_destroy(run);
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_that_fixed_steps_make_is_a_warning),
      cmocka_unit_test(a_tolerance_has_one_meaning_for_a_scheme),
      cmocka_unit_test(a_scene_may_not_give_a_tolerance_to_a_scheme_with_a_constant_step),
      cmocka_unit_test(a_tolerance_alone_keeps_schemes_that_have_an_estimate),
      cmocka_unit_test(a_tolerance_that_nobody_gives_is_one_in_a_million),
      cmocka_unit_test(a_controller_that_the_scene_names_keeps_its_options_under_another_tolerance),
      cmocka_unit_test(overrides_stand_over_the_scene),
      cmocka_unit_test(states_are_recorded_where_somebody_says_so),
      cmocka_unit_test(wrong_overrides_are_refused_with_their_names),
      cmocka_unit_test(a_run_without_a_scene_is_refused),
      cmocka_unit_test(the_result_is_that_of_the_motion),
      cmocka_unit_test(recorders_see_what_the_result_says),
      cmocka_unit_test(a_recorder_that_fails_ends_the_run_with_its_status),
      cmocka_unit_test(progress_is_asked_by_the_clock),
      cmocka_unit_test(progress_is_asked_inside_a_long_step),
      cmocka_unit_test(a_search_for_events_is_asked_inside_a_step),
      cmocka_unit_test(an_interrupted_run_keeps_its_recording_and_goes_on),
      cmocka_unit_test(a_stop_between_frames_repeats_none),
      cmocka_unit_test(a_flag_stops_a_run),
      cmocka_unit_test(a_resumed_run_has_the_bits_of_a_whole_one),
      cmocka_unit_test(a_snapshot_allows_no_other_scheme_and_no_earlier_end),
      cmocka_unit_test(damaged_snapshots_are_refused),
      cmocka_unit_test(a_failed_allocation_keeps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
