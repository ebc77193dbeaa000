/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Runge-Kutta schemes that capture events: what each of them has to survive and to conserve.
 */
#include "saltus_test.h"

#include "saltus/runge_kutta.h"
#include "systems.h"

enum { BALLS_MAX = 4 };

/* Balls above each other over a floor, under gravity, springs between neighbours and shaking forces:
 * rests, lifts off, bounces, in chains. gap_i = q_i - q_(i-1), q_(-1) = 0. */
typedef struct tower {
  int balls;
  double gravity, stiffness, damping;
  double amplitude[BALLS_MAX], frequency[BALLS_MAX], mass[BALLS_MAX];
  saltus_contact_law laws[BALLS_MAX];
} tower;

static void mass(const void* self, const saltus_point* at, double* M) {
  const tower* s = self;
  (void)at;
  for (int i = 0; i < s->balls * s->balls; i++) {
    M[i] = i % (s->balls + 1) == 0 ? s->mass[i / (s->balls + 1)] : 0.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const tower* s = self;
  for (int i = 0; i < s->balls; i++) {
    F[i] = -s->mass[i] * s->gravity + s->amplitude[i] * sin(s->frequency[i] * at->t) -
           s->damping * at->v[i];
  }
  for (int i = 1; i < s->balls; i++) {
    double pull = s->stiffness * (at->q[i] - at->q[i - 1] - 0.2);
    F[i] -= pull;
    F[i - 1] += pull;
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const tower* s = self;
  for (int i = 0; i < s->balls; i++) {
    list->gap[i] = at->q[i] - (i > 0 ? at->q[i - 1] : 0.0);
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  (void)self, (void)at;
  rows->G[key] = 1.0;
  if (key > 0) {
    rows->G[key - 1] = -1.0;
  }
}

static const saltus_system_ops ops = {
    .mass = mass, .force = force, .contacts = contacts, .contact = contact};

static saltus_system tower_system(const tower* s) {
  return (saltus_system){.ops = &ops,
                         .self = s,
                         .dims = {.nq = s->balls, .nv = s->balls, .nc = s->balls},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = s->laws,
                         .law_count = s->balls};
}

static tower random_tower(uint64_t* seed) {
  tower s = {.balls = 1 + (int)(BALLS_MAX * saltus_test_random(seed)),
             .gravity = 1.0 + 9.0 * saltus_test_random(seed),
             .stiffness = 20.0 * saltus_test_random(seed),
             .damping = saltus_test_random(seed)};
  for (int i = 0; i < s.balls; i++) {
    s.mass[i] = 0.5 + saltus_test_random(seed);
    s.amplitude[i] = 12.0 * saltus_test_random(seed);
    s.frequency[i] = 1.0 + 9.0 * saltus_test_random(seed);
    s.laws[i].e_N = saltus_test_random(seed) < 0.15 ? 0.0 : 0.99 * saltus_test_random(seed);
  }
  return s;
}

/* The schemes of this family have these options; event-driven is the same loop. */
static bool captures(const saltus_scheme_info* info) {
  return (info->options.size == sizeof(saltus_event_capturing_options) &&
          strcmp(info->options.fields[0].name, "bracket") == 0) ||
         strcmp(info->name, "event-driven") == 0;
}

/* Calls a test for every scheme of this family. */
static void for_every_scheme(void (*test)(const saltus_scheme_info* info)) {
  int count = 0;
  for (int k = 0; k < saltus_scheme_count(); k++) {
    if (captures(saltus_scheme_at(k))) {
      test(saltus_scheme_at(k));
      count++;
    }
  }
  assert_int_equal(count, 18);
}

/* event-driven goes on through accumulations here. */
static saltus_scheme* make(const saltus_scheme_info* info, const saltus_system* sys,
                           saltus_kept_message* kept) {
  saltus_scheme* scheme;
  saltus_event_driven_options driven = saltus_event_driven_options_default();
  driven.at_accumulation = SALTUS_AT_ACCUMULATION_CAPTURE;
  const saltus_scheme_def def = {.scheme = info->name,
                                 .options = info->stops ? &driven : NULL,
                                 .system = sys,
                                 .log = saltus_log_keep(kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* What events of a run have said so far, per contact. */
typedef struct summary {
  bool closed[BALLS_MAX];
  double t;
} summary;

/* Events come in order of time inside their step; a contact closes when it is open and opens when it
 * is closed; an impact stops an approach, pushes, does not throw faster than it was hit and takes
 * energy. Returns what is wrong, or NULL. */
static const char* fault_of(summary* s, const saltus_event* e, double t0, double t1) {
  bool* closed = &s->closed[e->contact];
  if (!(e->t >= s->t && e->t >= t0 && e->t <= t1 + 1e-14)) {
    return "time";
  }
  s->t = e->t;
  switch (e->kind) {
  case SALTUS_EVENT_IMPACT:
    if (!(e->impulse[0] > 0.0 && e->u_before < 0.0)) {
      return "impulse without an approach";
    }
    if (!(e->energy_change <= 1e-12)) {
      return "energy from nothing";
    }
    return NULL;
  case SALTUS_EVENT_CLOSE:
  case SALTUS_EVENT_OPEN:
    if (*closed == (e->kind == SALTUS_EVENT_CLOSE)) {
      return *closed ? "close of a closed contact" : "open of an open contact";
    }
    *closed = e->kind == SALTUS_EVENT_CLOSE;
    return e->impulse[0] == 0.0 && e->energy_change == 0.0 ? NULL : "impulse";
  case SALTUS_EVENT_TOUCH:
    return e->impulse[0] == 0.0 ? NULL : "impulse";
  default:
    return "kind";
  }
}

/* Smallest gap at the end of a step over a run of 2 s. No impulse may pull, and the list of events
 * has to make sense. */
static double deepest_gap(const saltus_scheme_info* info, const tower* s, double* q, double* v,
                          int steps) {
  saltus_system sys = tower_system(s);
  saltus_kept_message kept = {0};
  saltus_scheme* scheme = make(info, &sys, &kept);
  double deepest = 0.0;
  double h = 2.0 / steps;
  saltus_state x = {0.0, q, v};
  summary reported = {{false}, 0.0};
  for (int i = 0; i < steps; i++) {
    saltus_step_report report;
    x.t = i * h;
    saltus_status status = saltus_scheme_step(scheme, h, &x, &report);
    if (status != SALTUS_OK) {
      fail_msg("%s, h = %g: %s", info->name, h, kept.text);
    }
    for (int k = 0; k < report.event_count; k++) {
      const char* fault = fault_of(&reported, &report.events[k], i * h, (i + 1) * h);
      if (fault != NULL) {
        const saltus_event* e = &report.events[k];
        fail_msg("%s, h = %g, t = %.17g, %s of contact %d, u %g to %g: %s", info->name, h, e->t,
                 saltus_event_kind_name(e->kind), e->contact, e->u_before, e->u_after, fault);
      }
    }
    for (int k = 0; k < report.active; k++) {
      assert_true(report.contacts[k].impulse[0] >= 0.0);
    }
    for (int k = 0; k < s->balls; k++) {
      deepest = fmin(deepest, q[k] - (k > 0 ? q[k - 1] : 0.0));
    }
  }
  saltus_scheme_destroy(scheme);
  return deepest;
}

/* 60 random towers with every scheme, 1080 runs, from 20 to 320 steps: none fails, none goes through the floor
 * by more than its own error. That is the bracket times a velocity, and h^2 for order 1; 1500 towers
 * stayed within the bounds too. */
static void run_towers(const saltus_scheme_info* info, uint64_t seed, int from, int to) {
  for (int i = 0; i < to; i++) {
    tower s = random_tower(&seed);
    int steps = (int)(20.0 * pow(16.0, saltus_test_random(&seed)));
    double q[BALLS_MAX];
    double v[BALLS_MAX];
    for (int k = 0; k < s.balls; k++) {
      q[k] = (k > 0 ? q[k - 1] : 0.0) + 0.5 * saltus_test_random(&seed);
      v[k] = 4.0 * saltus_test_random(&seed) - 2.0;
    }
    if (i < from) {
      continue;
    }
    double h = 2.0 / steps;
    double deepest = deepest_gap(info, &s, q, v, steps);
    if (!(deepest >= -(info->order > 1 ? 1e-4 : 3.0) * h * h)) {
      fail_msg("%s, tower %d, h = %g: gap %g", info->name, i, h, deepest);
    }
  }
}

/* Tower 459 of another seed: a contact bounces while another is about to be hit, and comes back up
 * before the end of the step. Searched at its ends alone, the step misses the bounce. */
static void random_runs_neither_fail_nor_fall_through_the_floor(const saltus_scheme_info* info) {
  run_towers(info, 2009, 0, 60);
  run_towers(info, 777, 459, 460);
}

static void random_runs(void** state) {
  (void)state;
  for_every_scheme(random_runs_neither_fail_nor_fall_through_the_floor);
}

/* Springs are internal: what gravity and the floor gave is what the tower has, through impacts,
 * closings and projections, with every method to rounding. */
static void impulses_balance_momentum(const saltus_scheme_info* info) {
  uint64_t seed = 7;
  for (int i = 0; i < 10; i++) {
    tower s = random_tower(&seed);
    s.damping = 0.0;
    memset(s.amplitude, 0, sizeof s.amplitude);
    double q[BALLS_MAX] = {0.1, 0.3, 0.5, 0.7};
    double v[BALLS_MAX] = {0};
    saltus_system sys = tower_system(&s);
    saltus_kept_message kept = {0};
    saltus_scheme* scheme = make(info, &sys, &kept);
    saltus_state x = {0.0, q, v};
    double given = 0.0;
    double weight = 0.0;
    for (int k = 0; k < s.balls; k++) {
      weight += s.mass[k] * s.gravity;
    }
    for (int n = 0; n < 200; n++) {
      saltus_step_report report;
      assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, &report), SALTUS_OK);
      given -= 0.01 * weight;
      for (int k = 0; k < report.active; k++) {
        given += report.contacts[k].key == 0 ? report.contacts[k].impulse[0] : 0.0;
      }
    }
    for (int k = 0; k < s.balls; k++) {
      given -= s.mass[k] * v[k];
    }
    assert_near(given, 0.0, 1e-11); /* 200 steps of several sums of numbers up to 40 */
    saltus_scheme_destroy(scheme);
  }
}

static void momentum(void** state) {
  (void)state;
  for_every_scheme(impulses_balance_momentum);
}

enum { SWING_SAMPLES = 20 };

/* Positions of the pendulum at 20 instants up to 2 s. */
static void swing(const saltus_scheme_info* info, int steps, double samples[SWING_SAMPLES][2]) {
  saltus_system sys = rod_system();
  saltus_kept_message kept = {0};
  saltus_scheme* scheme = make(info, &sys, &kept);
  double q[2] = {1.0, 0.0};
  double v[2] = {0.0, 0.0};
  saltus_state x = {0.0, q, v};
  int every = steps / SWING_SAMPLES;
  for (int i = 0; i < steps; i++) {
    x.t = i * (2.0 / steps);
    assert_int_equal(saltus_scheme_step(scheme, 2.0 / steps, &x, NULL), SALTUS_OK);
    /* a joint does not drift: length and velocity along the rod */
    assert_near(q[0] * q[0] + q[1] * q[1], 1.0, 1e-13);
    assert_near(q[0] * v[0] + q[1] * v[1], 0.0, 1e-13);
    if ((i + 1) % every == 0) {
      memcpy(samples[i / every], q, sizeof q);
    }
  }
  saltus_scheme_destroy(scheme);
}

/* A pendulum on a rod in Cartesian coordinates: the index-1 form keeps the order of every method,
 * and the projection keeps the rod. */
static void joints_keep_the_order(const saltus_scheme_info* info) {
  double exact[SWING_SAMPLES][2];
  double samples[SWING_SAMPLES][2];
  double error[2] = {0.0, 0.0};
  swing(saltus_scheme_find("gauss-6"), 800, exact);
  int steps = info->order > 1 ? 80 : 3200;
  for (int i = 0; i < 2; i++) {
    swing(info, (i + 1) * steps, samples);
    for (int k = 0; k < SWING_SAMPLES; k++) {
      error[i] = fmax(error[i], hypot(samples[k][0] - exact[k][0], samples[k][1] - exact[k][1]));
    }
  }
  double order = log2(error[0] / error[1]);
  if (!(fabs(order - info->order) <= 0.2)) {
    fail_msg("%s: order %g, errors %g %g", info->name, order, error[0], error[1]);
  }
}

static void joints(void** state) {
  (void)state;
  for_every_scheme(joints_keep_the_order);
}

/* Pulled up with 8 m/s^2 from 0.5 m at -4 m/s: below the floor only from 0.146 to 0.854 s, which a step
 * of 1 s does not see at its ends. Parabolas are exact; the bracket is C h^(p+1) = 1e-3 s. */
static void a_hit_hidden_inside_a_step_is_found(const saltus_scheme_info* info) {
  if (info->order < 2) {
    return;
  }
  const tower s = {.balls = 1, .gravity = -8.0, .mass = {1.0}, .laws = {{.e_N = 0.5}}};
  saltus_system sys = tower_system(&s);
  saltus_kept_message kept = {0};
  saltus_scheme* scheme = make(info, &sys, &kept);
  double q = 0.5;
  double v = -4.0;
  saltus_state x = {0.0, &q, &v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 1.0, &x, &report), SALTUS_OK);
  double u = sqrt(8.0); /* at the floor */
  double after = 1.0 - (4.0 - u) / 8.0;
  assert_near(q, 0.5 * u * after + 4.0 * after * after, 2e-2);
  assert_near(v, 0.5 * u + 8.0 * after, 2e-2);
  assert_int_equal(report.active, 1);
  assert_true(report.contacts[0].impact);
  assert_near(report.contacts[0].u_before, -u, 1e-2);
  assert_near(report.contacts[0].impulse[0], 1.5 * u, 2e-2);
  saltus_scheme_destroy(scheme);
}

static void hidden(void** state) {
  (void)state;
  for_every_scheme(a_hit_hidden_inside_a_step_is_found);
}

/* A bar turns about its left support until it lies flat. There the middle support, with e = 1, throws
 * it up, and the closed left one apart: W = 1/m + x_i x_j / J gives U_0+ = (0.25/0.5625) 2.5 w. */
static void a_impact_opens_a_closed_contact(const saltus_scheme_info* info) {
  if (info->order < 3) {
    return;
  }
  const saltus_contact_law laws[3] = {{.e_N = 0.0}, {.e_N = 1.0}, {.e_N = 0.0}};
  saltus_system sys = bar_system(laws);
  saltus_kept_message kept = {0};
  saltus_scheme* scheme = make(info, &sys, &kept);
  double q[2] = {0.1, 0.1};
  double v[2] = {0.0, 0.0};
  saltus_state x = {0.0, q, v};
  static const saltus_event_kind kinds[] = {SALTUS_EVENT_CLOSE, SALTUS_EVENT_IMPACT,
                                            SALTUS_EVENT_OPEN};
  int reported = 0;
  double w = 0.0;
  while (reported < 3) {
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, &report), SALTUS_OK);
    for (int k = 0; k < report.event_count && reported < 3; k++) {
      const saltus_event* e = &report.events[k];
      assert_int_equal(e->kind, kinds[reported]);
      assert_int_equal(e->contact, reported == 1 ? 1 : 0);
      w = reported == 1 ? -e->u_before / 1.25 : w;
      if (reported == 2) {
        assert_near(e->u_after, 2.5 * w * 0.25 / 0.5625, 1e-5);
      }
      reported++;
    }
  }
  saltus_scheme_destroy(scheme);
}

static void thrown(void** state) {
  (void)state;
  for_every_scheme(a_impact_opens_a_closed_contact);
}

/* What a scheme carries is which contacts are closed: a copy goes on with the same bits. */
static void memory_resumes_with_the_same_bits(const saltus_scheme_info* info) {
  uint64_t seed = 11;
  tower s = random_tower(&seed);
  saltus_system sys = tower_system(&s);
  saltus_kept_message kept = {0};
  saltus_scheme* first = make(info, &sys, &kept);
  saltus_scheme* second = make(info, &sys, &kept);
  double q[2][BALLS_MAX] = {{0.0, 0.1, 0.2, 0.3}};
  double v[2][BALLS_MAX] = {{0}};
  saltus_state x = {0.0, q[0], v[0]};
  for (int i = 0; i < 57; i++) {
    assert_int_equal(saltus_scheme_step(first, 0.01, &x, NULL), SALTUS_OK);
  }
  double memory[5 * BALLS_MAX]; /* event-driven remembers the last impacts too */
  size_t each = (info->stops ? 5 : 1) * sizeof(double);
  assert_int_equal(saltus_scheme_memory_bytes(first), (size_t)s.balls * each);
  saltus_scheme_memory_save(first, memory);
  assert_int_equal(saltus_scheme_memory_load(second, memory, (size_t)s.balls * each), SALTUS_OK);
  memcpy(q[1], q[0], sizeof q[0]);
  memcpy(v[1], v[0], sizeof v[0]);
  saltus_state y = {x.t, q[1], v[1]};
  for (int i = 0; i < 50; i++) {
    assert_int_equal(saltus_scheme_step(first, 0.01, &x, NULL), SALTUS_OK);
    assert_int_equal(saltus_scheme_step(second, 0.01, &y, NULL), SALTUS_OK);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
  assert_memory_equal(v[0], v[1], sizeof v[0]);
  saltus_scheme_destroy(first);
  saltus_scheme_destroy(second);
}

static void resume(void** state) {
  (void)state;
  for_every_scheme(memory_resumes_with_the_same_bits);
}

/* A ball that keeps its speed bounces every 2 v / g = 2 ms: 500 flights are followed one by one, 5000 in
 * one step are given up, with contact and time, and nothing has moved. */
static void follow_or_give_up(const saltus_scheme_info* info) {
  tower s = {.balls = 1, .gravity = 10.0, .mass = {1.0}, .laws = {{.name = "floor", .e_N = 1.0}}};
  saltus_system sys = tower_system(&s);
  saltus_kept_message kept = {0};
  const saltus_event_capturing_options narrow = {.floor = 1e-10, .projection = 1};
  const saltus_scheme_def def = {.scheme = info->name,
                                 .options = info->stops ? NULL : (const void*)&narrow,
                                 .system = &sys,
                                 .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  double q = 0.0;
  double v = 0.01;
  saltus_state x = {0.0, &q, &v};
  assert_int_equal(saltus_scheme_step(scheme, 10.0, &x, NULL), SALTUS_RETRY_SMALLER);
  assert_true(x.t == 0.0 && q == 0.0 && v == 0.01);
  assert_says(kept, "was abandoned at t = ");
  assert_says(kept, "2000 sub-intervals between events, the next at contact 0 \"floor\"");
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 1.0, &x, &report), SALTUS_OK);
  /* brackets of 1e-10 s move 500 impacts by 5e-8 s in all, methods of order 2 and more are exact */
  assert_in_range(report.event_count, 499, 501);
  assert_near(10.0 * q + 0.5 * v * v, 0.5e-4, 1e-8);
  saltus_scheme_destroy(scheme);
}

static void too_many_events_are_not_passed_over(void** state) {
  (void)state;
  for (int k = 0; k < saltus_scheme_count(); k++) {
    /* a method of order 1 leaves higher from every impact */
    if (captures(saltus_scheme_at(k)) && saltus_scheme_at(k)->order > 1) {
      follow_or_give_up(saltus_scheme_at(k));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_runs),
      cmocka_unit_test(momentum),
      cmocka_unit_test(joints),
      cmocka_unit_test(hidden),
      cmocka_unit_test(resume),
      cmocka_unit_test(thrown),
      cmocka_unit_test(too_many_events_are_not_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
