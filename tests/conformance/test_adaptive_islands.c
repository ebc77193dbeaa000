/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bodies that know nothing of each other, to a tolerance: each moves as if it were alone, at a cost and with
 * memory in proportion to how many there are.
 */
#include "saltus/saltus.h"
#include "saltus_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81;

/* ---- runs ------------------------------------------------------------------------------------- */

/* Bytes at hand and the most of them. */
typedef struct usage {
  size_t now, most;
  saltus_allocator inside;
} usage;

static void* count_alloc(size_t bytes, void* user) {
  usage* u = user;
  u->now += bytes;
  u->most = u->now > u->most ? u->now : u->most;
  return u->inside.alloc(bytes, u->inside.user);
}

static void count_free(void* block, size_t bytes, void* user) {
  usage* u = user;
  u->now -= block != NULL ? bytes : 0;
  u->inside.free(block, bytes, u->inside.user);
}

typedef struct world {
  char* text;
  size_t used, room;
  saltus_scene* scene;
  saltus_integrator* it;
  usage memory;
  saltus_allocator allocator;
} world;

static void say(world* w, const char* format, int a, int b, double x) {
  int more = snprintf(w->text + w->used, w->room - w->used, format, a, b, x);
  assert_true(more > 0 && (size_t)more < w->room - w->used);
  w->used += (size_t)more;
}

static void open_world(world* w, size_t room) {
  *w = (world){.room = room, .text = malloc(room), .memory.inside = saltus_allocator_default()};
  assert_non_null(w->text);
  w->allocator = (saltus_allocator){.alloc = count_alloc, .free = count_free, .user = &w->memory};
}

static void start(world* w, double tol) {
  const saltus_scene_def def = {.text = w->text, .path = "islands"};
  assert_int_equal(saltus_scene_create(&def, &w->scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(w->scene);
  const saltus_integrator_def it = {.system = view->system,
                                    .q0 = view->q0,
                                    .v0 = view->v0,
                                    .rtol = tol,
                                    .atol = tol,
                                    .dense_steps = 1,
                                    .allocator = &w->allocator};
  assert_int_equal(saltus_integrator_create(&it, &w->it), SALTUS_OK);
}

static void go(world* w, double until) {
  assert_int_equal(saltus_integrator_advance(w->it, until, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
}

static void close_world(world* w) {
  saltus_integrator_destroy(w->it);
  saltus_scene_destroy(w->scene);
  free(w->text);
}

/* Balls y0, y1, ... from the given heights, each on its own ground. */
static void write_balls(world* w, int n, double (*height)(int i), double restitution) {
  say(w, "saltus: 1\ncoordinates: {", 0, 0, 0.0);
  for (int i = 0; i < n; i++) {
    say(w, i > 0 ? ", y%d: {start: %.0d%.17g}" : "y%d: {start: %.0d%.17g}", i, 0, height(i));
  }
  say(w, "}\nkinetic: (0", 0, 0, 0.0);
  for (int i = 0; i < n; i++) {
    say(w, " + y%d'^2", i, 0, 0.0);
  }
  say(w, ")/2\npotential: 9.81*(0", 0, 0, 0.0);
  for (int i = 0; i < n; i++) {
    say(w, " + y%d", i, 0, 0.0);
  }
  say(w, ")\ncontacts:\n", 0, 0, 0.0);
  for (int i = 0; i < n; i++) {
    say(w, "  - {name: c%d, gap: y%d, restitution: %.17g}\n", i, i, restitution);
  }
}

/* ---- balls ------------------------------------------------------------------------------------ */

static double in_no_order(int i) {
  double golden = 0.6180339887498949 * (i + 1);
  return 0.5 + 0.5 * (golden - floor(golden));
}

static double all_the_same(int i) {
  (void)i;
  return 0.8;
}

/* Every ball comes to rest at its own time, sqrt(2 h / g) (1 + e) / (1 - e). */
static void every_ball_rests_at_its_own_time(void** state) {
  (void)state;
  enum { N = 100 };
  const double e = 0.5;
  const double tol = 1e-8;
  static double rests[N];
  world w;
  open_world(&w, 1 << 16);
  write_balls(&w, N, in_no_order, e);
  start(&w, tol);
  go(&w, 2.0);
  int found = 0;
  for (long long i = 0; i < saltus_integrator_event_count(w.it); i++) {
    const saltus_event* event = saltus_integrator_event(w.it, i);
    if (event != NULL && event->kind == SALTUS_EVENT_ACCUMULATION) {
      rests[event->contact] = event->t;
      found++;
    }
  }
  assert_int_equal(found, N);
  for (int i = 0; i < N; i++) {
    double t = sqrt(2.0 * in_no_order(i) / gravity) * (1.0 + e) / (1.0 - e);
    assert_true(fabs(rests[i] - t) < 10.0 * tol);
    assert_true(fabs(saltus_integrator_q(w.it)[i]) < tol);
    assert_true(fabs(saltus_integrator_v(w.it)[i]) < tol);
  }
  close_world(&w);
}

/* Impacts of many islands at one instant: one decision for each, nobody is left out. */
static void balls_hit_the_ground_together(void** state) {
  (void)state;
  enum { N = 80 };
  const double e = 0.9;
  world w;
  open_world(&w, 1 << 16);
  write_balls(&w, N, all_the_same, e);
  start(&w, 1e-8);
  double fall = sqrt(2.0 * 0.8 / gravity);
  double later = fall + 0.1;
  go(&w, later);
  assert_int_equal(saltus_integrator_costs(w.it).events[SALTUS_EVENT_IMPACT], N);
  for (int i = 0; i < N; i++) {
    double u = e * gravity * fall - gravity * 0.1;
    assert_true(fabs(saltus_integrator_v(w.it)[i] - u) < 1e-10);
  }
  close_world(&w);
}

/* Time per step may grow as the number of balls does. Counted are decisions and enclosures by what they do:
 * steps in proportion to events, not more of them for more balls. */
static void steps_follow_events(void** state) {
  (void)state;
  double each[2];
  for (int k = 0; k < 2; k++) {
    int n = k == 0 ? 20 : 80;
    world w;
    open_world(&w, 1 << 16);
    write_balls(&w, n, in_no_order, 0.7);
    start(&w, 1e-6);
    go(&w, 1.0);
    saltus_integrator_cost cost = saltus_integrator_costs(w.it);
    each[k] = (double)cost.tally->steps / (double)cost.events[SALTUS_EVENT_IMPACT];
    close_world(&w);
  }
  assert_true(each[1] < 1.3 * each[0]);
}

/* ---- one island does not forbid what another does ----------------------------------------------- */

/* A ball whose restitution of 0.9 makes some eighty impacts until they stay below the tolerance, and beside
 * it a block that sticks on an incline: nothing of the ball is felt there, and the ball's impacts are passed
 * over in one step. */
static void a_block_that_sticks_does_not_hinder_a_ball(void** state) {
  (void)state;
  world w;
  open_world(&w, 4096);
  say(&w,
      "saltus: 1\n"
      "coordinates: {y: {start: 0.5}, s: {start: 0}, h: {start: 0}}\n"
      "kinetic: (y'^2 + s'^2 + h'^2)/2\n"
      "potential: 9.81*(y + 0.9*h + 0.2*s)\n"
      "contacts:\n"
      "  - {name: ground, gap: y, restitution: 0.9}\n"
      "  - {name: incline, gap: h, slip: s, friction: 0.5}\n",
      0, 0, 0.0);
  start(&w, 1e-8);
  go(&w, 10.0);
  saltus_integrator_cost cost = saltus_integrator_costs(w.it);
  assert_int_equal(cost.events[SALTUS_EVENT_ACCUMULATION], 1);
  assert_int_equal(cost.events[SALTUS_EVENT_SLIP], 0);
  assert_true(cost.tally->steps < 60);
  double rest = sqrt(2.0 * 0.5 / gravity) * 1.9 / 0.1;
  for (long long i = 0; i < saltus_integrator_event_count(w.it); i++) {
    const saltus_event* event = saltus_integrator_event(w.it, i);
    if (event->kind == SALTUS_EVENT_ACCUMULATION) {
      assert_true(fabs(event->t - rest) < 1e-7);
    }
  }
  assert_true(fabs(saltus_integrator_q(w.it)[1]) < 1e-12);
  close_world(&w);
}

/* The same with a spring between them: then the block does feel the ball, and the accumulation is still at
 * its time, which the spring moves: the ball alone is not a reference, a run without jumps is. */
static void a_block_that_feels_the_ball_is_not_passed_over(void** state) {
  (void)state;
  double q[2];
  for (int k = 0; k < 2; k++) {
    world w;
    open_world(&w, 4096);
    say(&w,
        "saltus: 1\n"
        "coordinates: {y: {start: 0.1}, s: {start: 0}, h: {start: 0}}\n"
        "kinetic: (y'^2 + s'^2 + h'^2)/2\n"
        "potential: 9.81*(y + h) + 6*(y - s)^2\n"
        "contacts:\n"
        "  - {name: ground, gap: y, restitution: 0.6}\n"
        "  - {name: floor, gap: h, slip: s, friction: 0.05}\n",
        0, 0, 0.0);
    start(&w, k == 0 ? 1e-8 : 1e-10);
    go(&w, 0.9);
    q[k] = saltus_integrator_q(w.it)[1];
    assert_true(fabs(q[k]) > 1e-3); /* the spring takes it along */
    close_world(&w);
  }
  assert_true(fabs(q[1] - q[0]) < 1e-6);
}

/* ---- friction ----------------------------------------------------------------------------------- */

/* n sliders stop after v^2 / (2 mu g), each at its own time v / (mu g). */
static void sliders_stop_one_by_one(void** state) {
  (void)state;
  enum { N = 1000 };
  const double mu = 0.3;
  const double tol = 1e-6;
  world w;
  open_world(&w, 1 << 18);
  say(&w, "saltus: 1\ncoordinates: {", 0, 0, 0.0);
  for (int i = 0; i < N; i++) {
    say(&w, i > 0 ? ", x%d: {velocity: %.0d%.17g}" : "x%d: {velocity: %.0d%.17g}", i, 0,
        in_no_order(i));
    say(&w, ", y%d: {start: 0}", i, 0, 0.0);
  }
  say(&w, "}\nkinetic: (0", 0, 0, 0.0);
  for (int i = 0; i < N; i++) {
    say(&w, " + x%d'^2 + y%d'^2", i, i, 0.0);
  }
  say(&w, ")/2\npotential: 9.81*(0", 0, 0, 0.0);
  for (int i = 0; i < N; i++) {
    say(&w, " + y%d", i, 0, 0.0);
  }
  say(&w, ")\ncontacts:\n", 0, 0, 0.0);
  for (int i = 0; i < N; i++) {
    say(&w, "  - {gap: y%d, slip: x%d, friction: %.17g}\n", i, i, mu);
  }
  start(&w, tol);
  double until = 0.1721; /* some have stopped */
  go(&w, until);
  int stopped = 0;
  for (int i = 0; i < N; i++) {
    double v = in_no_order(i);
    double t = v / (mu * gravity);
    stopped += t < until;
    double end = fmin(t, until);
    double x = end * (v - 0.5 * mu * gravity * end);
    assert_true(fabs(saltus_integrator_q(w.it)[2 * i] - x) < 10.0 * tol);
  }
  assert_true(stopped > 3 && stopped < 50);
  assert_int_equal(saltus_integrator_costs(w.it).events[SALTUS_EVENT_STICK], stopped);
  assert_true(w.memory.most < 50000000);
  close_world(&w);
}

/* ---- callbacks with dense rows ------------------------------------------------------------------ */

enum { BLOCKS = 12 };

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  memset(M, 0, sizeof(double) * 4 * BLOCKS * BLOCKS);
  for (int i = 0; i < 2 * BLOCKS; i++) {
    M[i * (2 * BLOCKS + 1)] = 3.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  (void)at;
  for (int i = 0; i < BLOCKS; i++) {
    F[2 * i] = 0.0;
    F[2 * i + 1] = -3.0 * gravity;
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  for (int i = 0; i < BLOCKS; i++) {
    list->gap[i] = at->q[2 * i + 1];
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self;
  (void)at;
  rows->G[2 * identity + 1] = 1.0;
  rows->G[(size_t)rows->stride + 2 * identity] = 1.0;
}

/* Normal and tangent of a contact move different velocities, and are one island when it slides. */
static void rows_without_columns_make_islands(void** state) {
  (void)state;
  const double mu = 0.25;
  const double tol = 1e-9;
  static const saltus_system_ops ops = {
      .mass = mass, .force = force, .contacts = contacts, .contact = contact};
  saltus_contact_law laws[BLOCKS];
  double q[2 * BLOCKS] = {0.0};
  double v[2 * BLOCKS] = {0.0};
  for (int i = 0; i < BLOCKS; i++) {
    laws[i] = (saltus_contact_law){.tangents = 1, .mu = mu};
    v[2 * i] = in_no_order(i);
  }
  const saltus_system system = {.ops = &ops,
                                .dims = {.nq = 2 * BLOCKS, .nv = 2 * BLOCKS, .nc = BLOCKS},
                                .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                                .laws = laws,
                                .law_count = BLOCKS};
  const saltus_integrator_def def = {
      .system = &system, .q0 = q, .v0 = v, .rtol = tol, .atol = tol, .duration = 1.0};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  assert_int_equal(saltus_integrator_costs(it).events[SALTUS_EVENT_STICK], BLOCKS);
  for (int i = 0; i < BLOCKS; i++) {
    double x = v[2 * i] * v[2 * i] / (2.0 * mu * gravity);
    assert_true(fabs(saltus_integrator_q(it)[2 * i] - x) < 10.0 * tol);
    assert_true(fabs(saltus_integrator_v(it)[2 * i]) < tol);
  }
  saltus_integrator_destroy(it);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_ball_rests_at_its_own_time),
      cmocka_unit_test(balls_hit_the_ground_together),
      cmocka_unit_test(steps_follow_events),
      cmocka_unit_test(a_block_that_sticks_does_not_hinder_a_ball),
      cmocka_unit_test(a_block_that_feels_the_ball_is_not_passed_over),
      cmocka_unit_test(sliders_stop_one_by_one),
      cmocka_unit_test(rows_without_columns_make_islands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
