/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The integrator as its users meet it: times, stops, dense output, events, tolerances, refusals.
 */
#include "saltus_test.h"

#include "systems.h"

#include <stdlib.h>

static const double height = 1.0;
static const double at_rest = 0.0;

/* 1 m above the floor under 9.81 m/s^2, e = 1/2. */
static const double first_impact = 0.45152364098573089; /* sqrt(2 / g) */
static const double t_inf = 1.3545709229571927;         /* three times that */

static saltus_integrator_def usual(const saltus_system* sys) {
  return (saltus_integrator_def){
      .system = sys, .q0 = &height, .v0 = &at_rest, .rtol = 1e-8, .atol = 1e-8};
}

static saltus_integrator* make(const saltus_integrator_def* def) {
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(def, &it), SALTUS_OK);
  return it;
}

static void any_output_times_give_the_same_motion_at_the_same_cost(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const saltus_integrator_def def = usual(&sys);
  saltus_integrator* whole = make(&def);
  assert_int_equal(saltus_integrator_advance(whole, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  saltus_integrator* often = make(&def);
  for (int i = 1; i <= 1000; i++) {
    double t = 2.0 * i / 1000.0;
    assert_int_equal(saltus_integrator_advance(often, t, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    assert_true(saltus_integrator_time(often) == t);
    /* exact for every tolerance: the motion is a parabola between impacts */
    assert_near(saltus_integrator_q(often)[0], ball_height(&b, height, t), 1e-12);
  }
  saltus_integrator_cost a = saltus_integrator_costs(whole);
  saltus_integrator_cost c = saltus_integrator_costs(often);
  assert_int_equal(a.tally->steps, c.tally->steps);
  assert_int_equal(a.work.force_evaluations, c.work.force_evaluations);
  assert_int_equal(a.events[SALTUS_EVENT_IMPACT], c.events[SALTUS_EVENT_IMPACT]);
  assert_true(saltus_integrator_q(whole)[0] == saltus_integrator_q(often)[0]);
  saltus_integrator_destroy(whole);
  saltus_integrator_destroy(often);
}

static void it_stops_at_the_events_that_were_asked_for(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const saltus_integrator_def def = usual(&sys);
  saltus_integrator* it = make(&def);
  const saltus_event* event;
  double t = first_impact;
  double flight = first_impact; /* the n-th lasts 2 sqrt(2/g) e^n */
  double speed = sqrt(2.0 * 9.81);
  for (int k = 0; k < 6; k++) {
    assert_int_equal(saltus_integrator_advance(it, 5.0, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event),
                     SALTUS_OK);
    assert_non_null(event);
    assert_near(event->t, t, 1e-13);
    assert_true(saltus_integrator_time(it) == event->t);
    assert_near(saltus_integrator_v(it)[0], 0.5 * speed, 1e-12); /* right after the impact */
    assert_near(saltus_integrator_q(it)[0], 0.0, 1e-13);
    speed *= 0.5;
    t += flight;
    flight *= 0.5;
  }
  assert_int_equal(
      saltus_integrator_advance(it, 5.0, SALTUS_STOP(SALTUS_EVENT_ACCUMULATION), &event),
      SALTUS_OK);
  assert_near(event->t, t_inf, 1e-12);
  assert_int_equal(
      saltus_integrator_advance(it, 5.0, SALTUS_STOP(SALTUS_EVENT_ACCUMULATION), &event),
      SALTUS_OK);
  assert_null(event);
  assert_true(saltus_integrator_time(it) == 5.0);
  saltus_integrator_destroy(it);
}

static void both_sides_of_a_jump_and_forces_are_there(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const saltus_integrator_def def = usual(&sys);
  saltus_integrator* it = make(&def);
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  double speed = sqrt(2.0 * 9.81);
  for (long long i = 0; i < 8; i++) {
    const saltus_event* event = saltus_integrator_event(it, i);
    double q;
    double v;
    assert_int_equal(event->kind, SALTUS_EVENT_IMPACT);
    assert_int_equal(saltus_integrator_dense(it, event->t, SALTUS_LEFT, &q, &v), SALTUS_OK);
    assert_near(v, -speed, 1e-11);
    assert_near(q, 0.0, 1e-12);
    assert_int_equal(saltus_integrator_dense(it, event->t, SALTUS_RIGHT, NULL, &v), SALTUS_OK);
    assert_near(v, 0.5 * speed, 1e-11);
    assert_near(event->impulse[0], 1.5 * speed, 1e-11);
    speed *= 0.5;
  }
  double force[3];
  assert_int_equal(saltus_integrator_forces(it, 1.0, force), SALTUS_OK);
  assert_near(force[0], 0.0, 0.0); /* it bounces: impulses, no force */
  assert_int_equal(saltus_integrator_forces(it, 1.7, force), SALTUS_OK);
  assert_near(force[0], 9.81, 1e-10);
  double q;
  double v;
  assert_int_equal(saltus_integrator_dense(it, 0.0, SALTUS_LEFT, &q, &v), SALTUS_OK);
  assert_true(q == 1.0 && v == 0.0);
  saltus_integrator_destroy(it);
}

/* A floor that comes up: the ball lies on it, so the start is an impact. */
static void an_impact_at_the_start_has_two_sides_too(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_integrator_def def = usual(&sys);
  const double down = -2.0;
  const double on_floor = 0.0;
  def.q0 = &on_floor;
  def.v0 = &down;
  saltus_integrator* it = make(&def);
  assert_true(saltus_integrator_v(it)[0] == -2.0);
  const saltus_event* event;
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_ALWAYS, &event), SALTUS_OK);
  assert_int_equal(event->kind, SALTUS_EVENT_IMPACT);
  assert_true(event->t == 0.0 && saltus_integrator_time(it) == 0.0);
  assert_near(saltus_integrator_v(it)[0], 1.0, 1e-15);
  double v;
  assert_int_equal(saltus_integrator_dense(it, 0.0, SALTUS_LEFT, NULL, &v), SALTUS_OK);
  assert_near(v, -2.0, 0.0);
  assert_int_equal(saltus_integrator_dense(it, 0.0, SALTUS_RIGHT, NULL, &v), SALTUS_OK);
  assert_near(v, 1.0, 1e-15);
  saltus_integrator_destroy(it);
}

static void what_is_forgotten_is_refused_with_the_times_that_are_known(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_kept_message message;
  saltus_integrator_def def = usual(&sys);
  def.dense_steps = 2;
  def.event_room = 3;
  def.h_max = 0.01;
  def.log = saltus_log_keep(&message);
  saltus_integrator* it = make(&def);
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  long long count = saltus_integrator_event_count(it);
  assert_true(count > 10);
  assert_null(saltus_integrator_event(it, count - 4));
  assert_null(saltus_integrator_event(it, count));
  assert_null(saltus_integrator_event(it, -1));
  assert_int_equal(saltus_integrator_event(it, count - 1)->kind, SALTUS_EVENT_CLOSE);
  double from = saltus_integrator_dense_from(it);
  assert_true(from < 2.0 && from > 1.97);
  double q;
  assert_int_equal(saltus_integrator_dense(it, from, SALTUS_RIGHT, &q, NULL), SALTUS_OK);
  assert_int_equal(saltus_integrator_dense(it, 0.5, SALTUS_RIGHT, &q, NULL), SALTUS_ERR_RANGE);
  assert_says(message, "t = 0.5 s is not between");
  def.log = saltus_log_keep(&message);
  assert_int_equal(saltus_integrator_dense(it, 2.1, SALTUS_RIGHT, &q, NULL), SALTUS_ERR_RANGE);
  assert_says(message, "and the present 2 s");
  saltus_integrator_destroy(it);
}

/* A stiff spring and a soft one in one system: q1'' = -1e4 q1, q2'' = -q2. */
static void springs_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = M[3] = 1.0;
  M[1] = M[2] = 0.0;
}

static void springs_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  F[0] = -1e4 * at->q[0];
  F[1] = -at->q[1];
}

static long long steps_to_ten(saltus_integrator* it) {
  const double start[] = {1.0, 1.0};
  const double rest[] = {0.0, 0.0};
  long long before = saltus_integrator_costs(it).tally->steps;
  assert_int_equal(saltus_integrator_restart(it, 0.0, start, rest), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 10.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  return saltus_integrator_costs(it).tally->steps - before;
}

static void tolerances_can_be_set_for_all_and_for_each(void** state) {
  (void)state;
  const saltus_system_ops ops = {.mass = springs_mass, .force = springs_force};
  const saltus_system sys = {.ops = &ops, .dims = {.nq = 2, .nv = 2}};
  const double start[] = {1.0, 1.0};
  const double rest[] = {0.0, 0.0};
  saltus_kept_message message;
  const saltus_integrator_def def = {
      .system = &sys, .q0 = start, .v0 = rest, .log = saltus_log_keep(&message)};
  saltus_integrator* it = make(&def);
  long long usual_steps = steps_to_ten(it);
  assert_int_equal(saltus_integrator_set_tolerances(it, 1e-10, 1e-10, 0.0), SALTUS_OK);
  long long fine_steps = steps_to_ten(it);
  assert_true(fine_steps > 2 * usual_steps);
  /* order 8 over 1600 radians: some hundred tolerances */
  assert_near(saltus_integrator_q(it)[0], cos(1000.0), 1e-10 * 3000.0);
  assert_near(saltus_integrator_q(it)[1], cos(10.0), 1e-9);
  /* positions of the fast one within 1000, velocities within 1e5: it does not count */
  const double atol_q[] = {1e3, 1e-8};
  const double atol_v[] = {1e5, 1e-8};
  assert_int_equal(saltus_integrator_set_tolerances_each(it, 1e-8, atol_q, atol_v), SALTUS_OK);
  assert_true(10 * steps_to_ten(it) < fine_steps);
  assert_near(saltus_integrator_q(it)[1], cos(10.0), 1e-7);

  const double bad[] = {1e-8, 0.0};
  assert_int_equal(saltus_integrator_set_tolerances_each(it, 1e-8, atol_q, bad), SALTUS_ERR_RANGE);
  assert_says(message, "atol_v[1] is 0, must be positive");
  assert_int_equal(saltus_integrator_set_tolerances(it, -1.0, 1e-8, 0.0), SALTUS_ERR_RANGE);
  assert_int_equal(saltus_integrator_set_tolerances(it, 1e-8, 0.0, 0.0), SALTUS_ERR_RANGE);
  saltus_integrator_destroy(it);
}

static void bad_definitions_and_times_are_refused_by_name(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const double broken = NAN;
  saltus_kept_message message;
  const struct {
    saltus_integrator_def def;
    saltus_status status;
    const char* says;
  } cases[] = {
      {{.q0 = &height, .v0 = &at_rest}, SALTUS_ERR_RANGE, "no system given"},
      {{.system = &sys, .v0 = &at_rest}, SALTUS_ERR_RANGE, "q0 is missing"},
      {{.system = &sys, .q0 = &broken, .v0 = &at_rest}, SALTUS_ERR_RANGE, "q0[0] is nan"},
      {{.system = &sys, .q0 = &height, .v0 = &broken}, SALTUS_ERR_RANGE, "v0[0] is nan"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .t0 = NAN}, SALTUS_ERR_RANGE, "t0 is nan"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .rtol = 2.0}, SALTUS_ERR_RANGE, "rtol"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .atol = -1.0}, SALTUS_ERR_RANGE, "atol"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .atol_q = &broken},
       SALTUS_ERR_RANGE,
       "atol_q[0] is nan"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .duration = -1.0},
       SALTUS_ERR_RANGE,
       "duration is -1"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .dense_steps = -1},
       SALTUS_ERR_RANGE,
       "dense_steps is -1"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .scheme = "moreau-jean"},
       SALTUS_ERR_UNSUPPORTED,
       "scheme moreau-jean has no tolerance"},
      {{.system = &sys, .q0 = &height, .v0 = &at_rest, .scheme = "ada"},
       SALTUS_ERR_NAME,
       "no scheme \"ada\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_integrator_def def = cases[i].def;
    def.log = saltus_log_keep(&message);
    saltus_integrator* it = (saltus_integrator*)&message;
    assert_int_equal(saltus_integrator_create(&def, &it), cases[i].status);
    assert_null(it);
    assert_says(message, cases[i].says);
  }
  saltus_integrator_def def = usual(&sys);
  def.duration = 1.0;
  def.log = saltus_log_keep(&message);
  saltus_integrator* it = make(&def);
  const double bad_times[] = {-0.1, 1.1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    message.text[0] = '\0';
    assert_int_equal(saltus_integrator_advance(it, bad_times[i], SALTUS_STOP_NEVER, NULL),
                     SALTUS_ERR_RANGE);
    assert_says(message, "cannot go to t = ");
  }
  double force[3];
  assert_int_equal(saltus_integrator_forces(it, 0.0, force), SALTUS_ERR_RANGE);
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_near(saltus_integrator_q(it)[0], ball_height(&b, height, 1.0), 1e-12);
  saltus_integrator_destroy(it);
  saltus_integrator_destroy(NULL);
}

static void a_failing_step_leaves_it_where_the_step_began(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_kept_message message;
  saltus_integrator_def def = usual(&sys);
  def.log = saltus_log_keep(&message);
  saltus_integrator* it = make(&def);
  assert_int_equal(saltus_integrator_advance(it, 0.2, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  b.broken = true;
  assert_true(saltus_integrator_advance(it, 3.0, SALTUS_STOP_NEVER, NULL) != SALTUS_OK);
  assert_true(message.text[0] != '\0');
  double t = saltus_integrator_time(it);
  assert_true(t >= 0.2 && t < 3.0);
  assert_near(saltus_integrator_q(it)[0], ball_height(&b, height, t), 1e-12);
  saltus_integrator_destroy(it);
}

static void memory_is_taken_at_creation_only_and_given_back(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  saltus_integrator_def def = usual(&sys);
  def.allocator = &allocator;
  saltus_integrator* it = make(&def);
  int calls = count.calls;
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_int_equal(saltus_integrator_set_tolerances(it, 1e-4, 1e-4, 0.0), SALTUS_OK);
  assert_int_equal(saltus_integrator_restart(it, 0.0, &height, &at_rest), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 2.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_int_equal(count.calls, calls);
  saltus_integrator_destroy(it);
  assert_int_equal(count.live, 0);
  for (int fail = 1; fail <= calls; fail++) { /* no leak, whichever request fails */
    count = (counter){.fail_at = fail};
    assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_ERR_MEMORY);
    assert_null(it);
    assert_int_equal(count.live, 0);
  }
}

/* Where the caller stands inside a step, events that wait, what the scheme remembers: all of it. */
static void a_snapshot_goes_on_with_the_same_bits_from_inside_a_step(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const saltus_integrator_def def = usual(&sys);
  const double places[] = {0.0, 0.2, first_impact, 0.7, t_inf, 1.6};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    saltus_integrator* first = make(&def);
    const saltus_event* event;
    assert_int_equal(
        saltus_integrator_advance(first, places[i], SALTUS_STOP(SALTUS_EVENT_IMPACT), &event),
        SALTUS_OK);
    size_t bytes = saltus_integrator_snapshot_bytes(first);
    void* kept = malloc(bytes);
    saltus_integrator_snapshot_save(first, kept);
    saltus_integrator* other = make(&def);
    assert_int_equal(saltus_integrator_advance(other, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    assert_int_equal(saltus_integrator_snapshot_load(other, kept, bytes), SALTUS_OK);
    assert_true(saltus_integrator_time(other) == saltus_integrator_time(first));
    for (;;) {
      const saltus_event *a, *c;
      assert_int_equal(saltus_integrator_advance(first, 2.0, SALTUS_STOP_ALWAYS, &a), SALTUS_OK);
      assert_int_equal(saltus_integrator_advance(other, 2.0, SALTUS_STOP_ALWAYS, &c), SALTUS_OK);
      assert_true((a == NULL) == (c == NULL));
      assert_memory_equal(saltus_integrator_q(first), saltus_integrator_q(other), sizeof(double));
      assert_memory_equal(saltus_integrator_v(first), saltus_integrator_v(other), sizeof(double));
      if (a == NULL) {
        break;
      }
      assert_true(a->kind == c->kind && a->t == c->t);
    }
    ((unsigned char*)kept)[bytes / 2] ^= 1U;
    assert_int_equal(saltus_integrator_snapshot_load(other, kept, bytes), SALTUS_ERR_INPUT);
    assert_int_equal(saltus_integrator_snapshot_load(other, kept, 7), SALTUS_ERR_INPUT);
    free(kept);
    saltus_integrator_destroy(first);
    saltus_integrator_destroy(other);
  }
}

/* The motion of the present step is there too. */
static void a_snapshot_keeps_the_dense_output_of_its_step(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  const saltus_integrator_def def = usual(&sys);
  saltus_integrator* it = make(&def);
  assert_int_equal(saltus_integrator_advance(it, 0.7, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  size_t bytes = saltus_integrator_snapshot_bytes(it);
  void* kept = malloc(bytes);
  saltus_integrator_snapshot_save(it, kept);
  saltus_integrator* other = make(&def);
  assert_int_equal(saltus_integrator_snapshot_load(other, kept, bytes), SALTUS_OK);
  double from = saltus_integrator_dense_from(other);
  assert_true(from < 0.7 && from >= first_impact - 1e-9);
  for (double t = from; t <= 0.7; t += 0.01) {
    double q[2];
    assert_int_equal(saltus_integrator_dense(it, t, SALTUS_RIGHT, &q[0], NULL), SALTUS_OK);
    assert_int_equal(saltus_integrator_dense(other, t, SALTUS_RIGHT, &q[1], NULL), SALTUS_OK);
    assert_true(q[0] == q[1]);
  }
  free(kept);
  saltus_integrator_destroy(it);
  saltus_integrator_destroy(other);
}

/* Without an end, or with a far one, there is no number of impacts that says that time stands still. */
static void a_motion_without_an_end_has_as_many_impacts_as_it_takes(void** state) {
  (void)state;
  const double durations[] = {0.0, 1e9}; /* 0: none */
  for (int k = 0; k < 2; k++) {
    ball b = ball_usual();
    b.law.e_N = 1.0;
    saltus_system sys = ball_system(&b);
    saltus_integrator_def def = usual(&sys);
    def.duration = durations[k];
    saltus_integrator* it = make(&def);
    const int impacts = 6000;
    const double t = 2.0 * impacts * first_impact + 0.1; /* 0.1 s after the last apex */
    assert_int_equal(saltus_integrator_advance(it, t, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    assert_int_equal(saltus_integrator_costs(it).events[SALTUS_EVENT_IMPACT], impacts);
    /* 6e-14 m are lost to rounding at an impact */
    assert_near(saltus_integrator_q(it)[0], 1.0 - 0.5 * 9.81 * 0.1 * 0.1, 1e-9);
    saltus_integrator_destroy(it);
  }
}

/* x'' = u - x with u constant over each millisecond, against the exact motion: one step of 8 evaluations a change. */
static void a_change_of_an_input_costs_one_short_step(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\ninputs: {u: 0}\ncoordinates: {x: 1}\nkinetic: x'^2/2\n"
                             "potential: x^2/2\nforces: {x: u}\nsimulate: {until: 9}\n";
  const saltus_scene_def scene_def = {.text = text};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&scene_def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_integrator_def def = {.system = view->system,
                                     .q0 = view->q0,
                                     .v0 = view->v0,
                                     .rtol = 1e-9,
                                     .atol = 1e-9,
                                     .changes = view->input_changes};
  saltus_integrator* it = make(&def);
  const int count = 2000;
  const double h = 1e-3;
  double x = 1.0, v = 0.0;
  for (int i = 0; i < count; i++) {
    const double u = i % 20 < 10 ? 1.0 + 0.01 * (i % 7) : -1.0, y = x - u;
    assert_int_equal(saltus_scene_set_input(scene, "u", u), SALTUS_OK);
    assert_int_equal(saltus_integrator_advance(it, h * (i + 1), SALTUS_STOP_NEVER, NULL),
                     SALTUS_OK);
    x = u + y * cos(h) + v * sin(h);
    v = v * cos(h) - y * sin(h);
  }
  assert_near(saltus_integrator_q(it)[0], x, 1e-9);
  assert_near(saltus_integrator_v(it)[0], v, 1e-9);
  const double each = (double)saltus_integrator_costs(it).work.force_evaluations / count;
  print_message("%.1f evaluations a change\n", each);
  assert_true(each <= 9.0);
  /* without changes steps are long again */
  assert_int_equal(saltus_integrator_advance(it, 3.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  const long long before = saltus_integrator_costs(it).work.force_evaluations;
  assert_int_equal(saltus_integrator_advance(it, 8.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_true(saltus_integrator_costs(it).work.force_evaluations - before < 400);
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_output_times_give_the_same_motion_at_the_same_cost),
      cmocka_unit_test(it_stops_at_the_events_that_were_asked_for),
      cmocka_unit_test(both_sides_of_a_jump_and_forces_are_there),
      cmocka_unit_test(an_impact_at_the_start_has_two_sides_too),
      cmocka_unit_test(what_is_forgotten_is_refused_with_the_times_that_are_known),
      cmocka_unit_test(tolerances_can_be_set_for_all_and_for_each),
      cmocka_unit_test(bad_definitions_and_times_are_refused_by_name),
      cmocka_unit_test(a_failing_step_leaves_it_where_the_step_began),
      cmocka_unit_test(memory_is_taken_at_creation_only_and_given_back),
      cmocka_unit_test(a_snapshot_goes_on_with_the_same_bits_from_inside_a_step),
      cmocka_unit_test(a_snapshot_keeps_the_dense_output_of_its_step),
      cmocka_unit_test(a_motion_without_an_end_has_as_many_impacts_as_it_takes),
      cmocka_unit_test(a_change_of_an_input_costs_one_short_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
