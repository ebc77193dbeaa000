/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Event capturing against numbers of an independent program (docs/theory/event-capturing.md, 5).
 */
#include "saltus_test.h"

#include "acary2009_fig6_tables.h"
#include "measure/experiment.h"
#include "saltus/runge_kutta.h"
#include "scheme/event/event_capturing.h"

#include <stdlib.h>

static double error_with(const saltus_known_motion* problem, const char* scheme,
                         const void* options, double t_end, long long steps) {
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = scheme,
                                      .options = options,
                                      .t_end = t_end,
                                      .steps = steps};
  saltusi_experiment run;
  assert_int_equal(saltusi_experiment_run(&def, &run), SALTUS_OK);
  saltusi_errors errors;
  assert_int_equal(
      saltusi_errors_of(problem, &run.motion, saltus_graph_tolerance_default(), NULL, &errors),
      SALTUS_OK);
  saltusi_experiment_free(&run);
  return errors.q.inf;
}

static double largest_error(const saltus_known_motion* problem, const char* scheme, double t_end,
                            long long steps) {
  return error_with(problem, scheme, NULL, t_end, steps);
}

static saltus_known_motion* make(const char* name) {
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create(name, (saltus_log){0}, NULL, &problem), SALTUS_OK);
  return problem;
}

/* Pure Runge-Kutta errors are the same in every correct program: 5 %. Where the width of the brackets
 * is seen (ball, forced ball), or rounding, only the magnitude is: a factor 5. */
static void check_cell(const event_table* table, const event_table_row* row, int i,
                       double measured) {
  double expected = row->error[i];
  bool widths = strcmp(table->problem, "ball") == 0 || strcmp(table->problem, "forced-ball") == 0;
  double factor = widths || expected < 1e-11 ? 5.0 : 1.05;
  if (!(measured <= factor * expected && measured >= expected / factor)) {
    fail_msg("%s to %g s, %s, N = %lld: %g, expected %g", table->problem, table->t_end, row->scheme,
             table->steps[i], measured, expected);
  }
}

static void errors_are_those_of_the_tables(void** state) {
  (void)state;
  int count = 0;
  for (; event_table_at(count) != NULL; count++) {
    const event_table* table = event_table_at(count);
    saltus_known_motion* problem = make(table->problem);
    for (int r = 0; r < EVENT_TABLE_ROWS; r++) {
      for (int i = 0; i < EVENT_TABLE_GRIDS; i++) {
        const event_table_row* row = &table->rows[r];
        check_cell(table, row, i,
                   largest_error(problem, row->scheme, table->t_end, table->steps[i]));
      }
    }
    saltus_known_motion_destroy(problem);
  }
  assert_int_equal(count, 7);
}

/* The reference of E3 to 1e-12 by two methods that share no coefficient. */
static void two_methods_reach_the_double_pendulum(void** state) {
  (void)state;
  saltus_known_motion* problem = make("pendulum-wall");
  assert_true(largest_error(problem, "lobatto-iiia-6", 3.0, 480) < 1e-12);
  assert_true(largest_error(problem, "gauss-6", 3.0, 480) < 1e-12);
  assert_true(largest_error(problem, "dopri5", 3.0, 1920) < 1e-12);
  saltus_known_motion_destroy(problem);
}

/* A floor stops the convergence at 2 to 4 times itself; a wide bracket changes little; without the
 * projection the order is kept (docs/theory/event-capturing.md, 3 and 5). */
static void options_do_what_they_say(void** state) {
  (void)state;
  saltus_known_motion* preload = make("oscillator-preload");
  saltus_known_motion* pendulum = make("pendulum-wall");
  saltus_event_capturing_options o = saltus_event_capturing_options_default();
  o.floor = 1e-8;
  assert_near(error_with(preload, "radau-iia-5", &o, 5.0, 801), 2.5e-8, 1.5e-8);
  o.floor = 1e-10;
  assert_near(error_with(preload, "radau-iia-5", &o, 5.0, 801), 3.6e-10, 2e-10);
  o.floor = 0.0;
  o.bracket = 1.0;
  assert_near(error_with(preload, "radau-iia-5", &o, 5.0, 401), 9.07e-10, 0.3 * 9.07e-10);
  o.bracket = 1e-3;
  o.projection = 0;
  assert_near(error_with(pendulum, "radau-iia-5", &o, 3.0, 240), 1.238e-9, 0.05 * 1.238e-9);
  saltus_known_motion_destroy(preload);
  saltus_known_motion_destroy(pendulum);
}

/* An impact passes through balls that touch, in one impact law. */
static void a_chain_of_touching_balls_is_struck_at_once(void** state) {
  (void)state;
  saltus_known_motion* problem = make("chain:5");
  assert_true(largest_error(problem, "rk4", 2.0, 48) < 1e-10);
  assert_true(largest_error(problem, "radau-iia-5", 2.0, 48) < 1e-11);
  saltus_known_motion_destroy(problem);
}

static saltusi_experiment fall(const saltus_known_motion* problem, const char* scheme,
                               double bracket, double t_end, long long steps) {
  saltus_event_capturing_options options = saltus_event_capturing_options_default();
  options.bracket = bracket;
  const saltusi_experiment_def def = {.system = saltus_known_motion_system(problem),
                                      .q0 = saltus_known_motion_q0(problem),
                                      .v0 = saltus_known_motion_v0(problem),
                                      .scheme = scheme,
                                      .options = &options,
                                      .t_end = t_end,
                                      .steps = steps};
  saltusi_experiment run;
  assert_int_equal(saltusi_experiment_run(&def, &run), SALTUS_OK);
  return run;
}

/* Balls that fall on each other, against a fine run of another method; with C = 1 only brackets are
 * seen, whose order is 4. The notes give the magnitudes. */
static void check_column(const char* name, int balls, double t_end, const double expected[4]) {
  enum { FINE = 2560 };
  saltus_known_motion* problem = make(name);
  saltusi_experiment exact = fall(problem, "gauss-6", 1e-3, t_end, FINE);
  double error[4] = {0};
  for (int i = 0; i < 4; i++) {
    int steps = 40 << i;
    saltusi_experiment run = fall(problem, "radau-iia-3", 1.0, t_end, steps);
    for (int k = 0; k <= steps; k++) {
      for (int b = 0; b < balls; b++) {
        double miss = run.motion.q[k * balls + b] - exact.motion.q[k * (FINE / steps) * balls + b];
        error[i] = fmax(error[i], fabs(miss));
      }
    }
    saltusi_experiment_free(&run);
    if (!(error[i] <= 5.0 * expected[i])) {
      fail_msg("%s, N = %d: %g, expected at most %g", name, steps, error[i], 5.0 * expected[i]);
    }
  }
  /* with 40 steps several impacts share a step */
  assert_near(log2(error[1] / error[3]) / 2.0, 4.0, 0.25);
  saltusi_experiment_free(&exact);
  saltus_known_motion_destroy(problem);
}

static void columns_fall_with_order_four(void** state) {
  (void)state;
  const double two[] = {1.4e-3, 3.7e-5, 2.6e-6, 9.9e-8};
  const double three[] = {1.8e-3, 1.1e-4, 6.9e-6, 3.7e-7};
  check_column("column:2", 2, 6.0, two);
  check_column("column:3", 3, 8.0, three);
}

/* The double pendulum of Potra et al. 2006, 10.1, in Cartesian coordinates: two bobs, two rods, a wall
 * at x = 0 for each bob, e = 0.1, g = 9.8. */
static void bobs_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  for (int i = 0; i < 16; i++) {
    M[i] = i % 5 == 0 ? 1.0 : 0.0;
  }
}

static void bobs_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = F[2] = 0.0;
  F[1] = F[3] = -9.8;
}

static saltus_status bobs_walls(const void* self, const saltus_point* at,
                                saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  list->gap[1] = at->q[2];
  return SALTUS_OK;
}

static void bobs_wall(const void* self, const saltus_point* at, uint64_t identity,
                      saltus_rows* rows) {
  int key = (int)identity;
  (void)self, (void)at;
  rows->G[2 * key] = 1.0;
}

static void bobs_rods(const void* self, const saltus_point* at, double* g) {
  (void)self;
  const double* q = at->q;
  g[0] = q[0] * q[0] + q[1] * q[1] - 1.0;
  g[1] = (q[2] - q[0]) * (q[2] - q[0]) + (q[3] - q[1]) * (q[3] - q[1]) - 1.0;
}

static void bobs_rod(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  (void)self;
  for (int i = 0; i < 2; i++) {
    double d = at->q[2 * row + i] - (row > 0 ? at->q[i] : 0.0);
    rows->G[2 * row + i] = 2.0 * d;
    if (row > 0) {
      rows->G[i] = -2.0 * d;
    }
    if (rows->c != NULL) {
      double u = at->v[2 * row + i] - (row > 0 ? at->v[i] : 0.0);
      rows->c[0] += 2.0 * u * u;
    }
  }
}

static const saltus_system_ops bobs_ops = {.mass = bobs_mass,
                                           .force = bobs_force,
                                           .contacts = bobs_walls,
                                           .contact = bobs_wall,
                                           .joints = bobs_rods,
                                           .joint = bobs_rod};

static void check_bobs(const char* name, int steps) {
  static const double exact[4] = {0.02196211769492, -0.99975880360533, 0.02376948677391,
                                  -1.99975717031250};
  const saltus_contact_law laws[2] = {{.e_N = 0.1}, {.e_N = 0.1}};
  const saltus_system sys = {.ops = &bobs_ops,
                             .dims = {.nq = 4, .nv = 4, .nj = 2, .nc = 2},
                             .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                             .laws = laws,
                             .law_count = 2};
  const double pi = 3.14159265358979323846;
  double q[4] = {sin(pi / 3), -cos(pi / 3), sin(pi / 3) + sin(pi / 5), -cos(pi / 3) - cos(pi / 5)};
  double v[4] = {0};
  saltus_scheme* scheme;
  const saltus_scheme_def def = {.scheme = name, .system = &sys};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  saltus_state x = {0.0, q, v};
  for (int i = 0; i < steps; i++) {
    x.t = i * (2.5 / steps);
    assert_int_equal(saltus_scheme_step(scheme, 2.5 / steps, &x, NULL), SALTUS_OK);
    double g[2];
    saltus_point at = {.q = q};
    bobs_rods(NULL, &at, g);
    assert_near(g[0], 0.0, 1e-13);
    assert_near(g[1], 0.0, 1e-13);
  }
  for (int i = 0; i < 4; i++) {
    assert_near(q[i], exact[i], 1e-10);
  }
  saltus_scheme_destroy(scheme);
}

static void rods_and_walls_together_agree_with_fourteen_digits(void** state) {
  (void)state;
  check_bobs("radau-iia-5", 1000);
  check_bobs("gauss-6", 500);
  check_bobs("dopri5", 1000);
  check_bobs("hem-4", 4000);
  check_bobs("herk-3", 8000);
  check_bobs("event-driven", 1000);
}

enum { NOTES_MAX = 200 };

typedef struct notes {
  int count;
  saltusi_capture_note note[NOTES_MAX];
} notes;

static void write_down(void* user, const saltusi_capture_note* note) {
  notes* n = user;
  assert_true(n->count < NOTES_MAX);
  n->note[n->count++] = *note;
}

/* A run of the scheme's own step, observed. */
static void observe(const saltus_known_motion* problem, const saltusi_tableau* method, double t_end,
                    int steps, notes* n) {
  enum { BYTES = 1 << 16 };
  saltusi_eval eval = {.sys = *saltus_known_motion_system(problem)};
  saltusi_capture w = {.observe = write_down, .observer = n};
  saltus_event_capturing_options options = saltus_event_capturing_options_default();
  const saltus_dims* d = &eval.sys.dims;
  void* block = calloc(1, BYTES);
  saltus_arena arena = saltus_arena_over(block, BYTES);
  saltusi_eval_layout(&eval, &arena);
  saltusi_capture_layout(&w, method, &eval, &arena);
  saltus_step_report report;
  saltusi_step s = {.eval = &eval, .h = t_end / steps, .report = &report};
  double* state[4];
  for (int i = 0; i < 4; i++) {
    state[i] = SALTUS_PUSH(&arena, double, d->nv);
  }
  memcpy(state[0], saltus_known_motion_q0(problem), (size_t)d->nq * sizeof(double));
  memcpy(state[1], saltus_known_motion_v0(problem), (size_t)d->nv * sizeof(double));
  s.q_error = SALTUS_PUSH(&arena, double, d->nq);
  s.v_error = SALTUS_PUSH(&arena, double, d->nv);
  s.contacts = SALTUS_PUSH(&arena, saltus_contact_step, d->nc);
  s.joint_impulses = SALTUS_PUSH(&arena, double, d->nj);
  double* memory = SALTUS_PUSH(&arena, double, d->nc);
  s.memory0 = memory;
  s.memory1 = memory; /* read at the start, written at the end of a step */
  assert_true(arena.used <= BYTES);
  for (int i = 0; i < steps; i++) {
    report = (saltus_step_report){0};
    s.t = i * s.h;
    s.q0 = state[i % 2 * 2];
    s.v0 = state[i % 2 * 2 + 1];
    s.q1 = state[(i + 1) % 2 * 2];
    s.v1 = state[(i + 1) % 2 * 2 + 1];
    assert_int_equal(saltusi_capture_step(&w, &options, &s), SALTUS_OK);
  }
  free(block);
}

/* The double pendulum: 25 impacts, one closing, one opening. Where the accumulation ends is below the
 * resolution of a double: 3e-7 s (docs/theory/event-capturing.md, 2.3). */
static void the_events_of_the_double_pendulum_are_found(void** state) {
  (void)state;
  static const double first[5][2] = {{0.61123708232362, -3.98535629730},
                                     {1.57185404296873, -1.10847217298},
                                     {1.91001552395632, -0.633844335224},
                                     {2.17123121158905, -0.354664954484},
                                     {2.2645502977583, -0.200798216956}};
  saltus_known_motion* problem = make("pendulum-wall");
  notes n = {0};
  observe(problem, &saltusi_radau_iia_5, 3.0, 480, &n);
  assert_int_equal(n.count, 27);
  for (int i = 0; i < 25; i++) {
    const saltusi_capture_note* impact = &n.note[i];
    assert_int_equal(impact->kind, SALTUSI_NOTE_IMPACT);
    assert_true(impact->impulse[0] > 0.0);
    assert_near(impact->u_after, -0.5 * impact->u_before, 1e-12);
    if (i < 5) {
      assert_near(impact->t, first[i][0], 1e-10);
      assert_near(impact->u_before, first[i][1], 1e-9);
    }
  }
  assert_int_equal(n.note[25].kind, SALTUSI_NOTE_CLOSE);
  assert_near(n.note[25].t, 2.36007964, 3e-7);
  assert_int_equal(n.note[26].kind, SALTUSI_NOTE_OPEN);
  assert_near(n.note[26].t, 2.44986840245, 1e-8);
  saltus_known_motion_destroy(problem);
}

enum { REPORTED_MAX = 200 };

typedef struct reported {
  int count;
  saltus_event event[REPORTED_MAX];
} reported;

static saltus_status keep_event(void* user, const saltus_event* event) {
  reported* t = user;
  assert_true(t->count < REPORTED_MAX);
  t->event[t->count++] = *event;
  return SALTUS_OK;
}

/* Events of a column; the closing times in the order of the contacts, within what closing resolves. */
static reported column_events(const char* name, int balls, double t_end, const double* closings,
                              int impacts) {
  saltus_known_motion* problem = make(name);
  reported t = {.count = 0};
  const saltus_recorder recorder = {.event = keep_event, .user = &t};
  const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                              .scheme = "radau-iia-5",
                              .h = 0.02,
                              .q0 = saltus_known_motion_q0(problem),
                              .v0 = saltus_known_motion_v0(problem),
                              .recorders = &recorder,
                              .recorder_count = 1};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, t_end), SALTUS_OK);
  int counted[SALTUS_EVENT_KINDS] = {0};
  for (int i = 0; i < t.count; i++) {
    const saltus_event* e = &t.event[i];
    counted[e->kind]++;
    if (e->kind == SALTUS_EVENT_CLOSE || e->kind == SALTUS_EVENT_ACCUMULATION) {
      assert_near(e->t, closings[e->contact], 5e-7);
    }
  }
  assert_int_equal(counted[SALTUS_EVENT_IMPACT], impacts);
  assert_int_equal(counted[SALTUS_EVENT_CLOSE], balls);
  assert_int_equal(counted[SALTUS_EVENT_ACCUMULATION], balls);
  assert_int_equal(counted[SALTUS_EVENT_OPEN], 0);
  saltus_sim_destroy(sim);
  saltus_known_motion_destroy(problem);
  return t;
}

/* Methods, 3.8: two balls fall on each other with 55 impacts, three with 78; one accumulation ends in
 * each contact, one after the other. */
static void the_events_of_columns_are_found(void** state) {
  (void)state;
  static const double first[5][2] = {{1.0, -2.0},
                                     {4.0 / 3.0, -3.0},
                                     {1.4430004682, -2.13600094},
                                     {1.5395383594, -1.7040014},
                                     {1.7046070333, -0.73321372}};
  static const int contact[5] = {0, 1, 0, 1, 0};
  static const double two[] = {2.3433973, 2.406672};
  static const double three[] = {1.98509126, 2.14836468, 2.24731268};
  reported t = column_events("column:2", 2, 6.0, two, 55);
  for (int i = 0; i < 5; i++) {
    assert_int_equal(t.event[i].kind, SALTUS_EVENT_IMPACT);
    assert_int_equal(t.event[i].contact, contact[i]);
    assert_near(t.event[i].t, first[i][0], 1e-10);
    assert_near(t.event[i].u_before, first[i][1], 1e-8);
  }
  column_events("column:3", 3, 8.0, three, 78);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_the_tables),
      cmocka_unit_test(two_methods_reach_the_double_pendulum),
      cmocka_unit_test(options_do_what_they_say),
      cmocka_unit_test(a_chain_of_touching_balls_is_struck_at_once),
      cmocka_unit_test(columns_fall_with_order_four),
      cmocka_unit_test(rods_and_walls_together_agree_with_fourteen_digits),
      cmocka_unit_test(the_events_of_the_double_pendulum_are_found),
      cmocka_unit_test(the_events_of_columns_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
