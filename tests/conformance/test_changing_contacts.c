/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contacts that come and go: in every scheme that accepts them the motion is the one of a set that is
 * listed all the time, memory grows when more appear, and a list that cannot be is refused.
 */
#include "saltus_test.h"

#include "discs.h"

#include <stdlib.h>

/* Time at which a disc whose edge is 1 m above the floor touches it: sqrt(2/9.81). */
static const double t_fall = 0.4515236409857309;

static bool accepts(const saltus_scheme_info* info) {
  return (info->treats & SALTUS_TREATS_CHANGING_CONTACTS) != 0;
}

#define FOR_EVERY_ACCEPTING_SCHEME(info)                                                           \
  for (int at_ = 0; at_ < saltus_scheme_count(); at_++)                                            \
    for (const saltus_scheme_info* info = saltus_scheme_at(at_); info != NULL && accepts(info);    \
         info = NULL)

/* What a run leaves. */
typedef struct outcome {
  double q[2 * DISCS_MAX], v[2 * DISCS_MAX];
  double first; /* s, first impact: as located, or the middle of its step; NaN: none */
  saltus_status status;
} outcome;

typedef struct course {
  const char* scheme;
  double tol; /* of a scheme that has one; 0: 1e-6 */
  double h, t_end;
  int resume_at; /* step after which another scheme goes on from the bytes; 0: never */
  saltus_log log;
  const saltus_allocator* allocator;
} course;

static double first_impact(const saltus_scheme_info* info, const saltus_step_report* report,
                           double t) {
  for (int i = 0; i < report->event_count; i++) {
    if (report->events[i].kind == SALTUS_EVENT_IMPACT) {
      return report->events[i].t;
    }
  }
  for (int i = 0; i < report->active && !info->locates_events; i++) {
    if (report->contacts[i].impact) {
      return t - 0.5 * report->h;
    }
  }
  return NAN;
}

/* The same scheme from what another one carries. */
static saltus_scheme* resume(saltus_scheme* old, const saltus_scheme_def* def) {
  size_t size = saltus_scheme_memory_bytes(old);
  void* bytes = malloc(size + 1);
  saltus_scheme* scheme;
  saltus_scheme_memory_save(old, bytes);
  saltus_scheme_destroy(old);
  assert_int_equal(saltus_scheme_create(def, &scheme), SALTUS_OK);
  assert_int_equal(saltus_scheme_memory_load(scheme, bytes, size), SALTUS_OK);
  assert_int_equal(saltus_scheme_memory_bytes(scheme), size);
  free(bytes);
  return scheme;
}

static outcome run(const discs* d, const course* c, const double* q, const double* v) {
  saltus_system_ops ops;
  saltus_system sys = discs_system(d, &ops);
  const saltus_scheme_info* info = saltus_scheme_find(c->scheme);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = c->tol > 0.0 ? c->tol : 1e-6;
  const saltus_scheme_def def = {.scheme = c->scheme,
                                 .options = info->chooses_step ? &options : NULL,
                                 .system = &sys,
                                 .log = c->log,
                                 .allocator = c->allocator};
  saltus_scheme* scheme;
  outcome out = {.first = NAN};
  out.status = saltus_scheme_create(&def, &scheme);
  if (out.status != SALTUS_OK) {
    return out;
  }
  memcpy(out.q, q, 2 * (size_t)d->count * sizeof(double));
  memcpy(out.v, v, 2 * (size_t)d->count * sizeof(double));
  saltus_state x = {0.0, out.q, out.v};
  for (int step = 1; out.status == SALTUS_OK && x.t < c->t_end - 0.5 * c->h; step++) {
    saltus_step_report report;
    double h = info->chooses_step ? c->t_end - x.t : c->h;
    out.status = saltus_scheme_step(scheme, h, &x, &report);
    out.first = isnan(out.first) ? first_impact(info, &report, x.t) : out.first;
    if (step == c->resume_at) {
      scheme = resume(scheme, &def);
    }
  }
  saltus_scheme_destroy(scheme);
  if (out.status != SALTUS_OK && c->log.write == NULL) {
    print_error("%s: status %d at t = %.17g\n", c->scheme, out.status, x.t);
  }
  return out;
}

/* ---- the listed ball ------------------------------------------------------------------------- */

static void the_listed_ball_impacts_when_it_does(void** state) {
  (void)state;
  const double q[2] = {0.0, 1.1}, v[2] = {0.0, 0.0};
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    discs d = discs_usual(1);
    d.changing = true;
    d.near = 0.1;
    const course c = {.scheme = info->name, .h = 1e-3, .t_end = 0.6};
    outcome out = run(&d, &c, q, v);
    assert_int_equal(out.status, SALTUS_OK);
    /* a located impact is as good as the smooth motion, which is exact to rounding or to the step; the
     * others have it in the step in which it falls or beside it */
    double tolerance = info->chooses_step ? 1e-6 : 1.5e-3;
    tolerance = info->locates_events && info->smooth_order >= 2 ? 1e-6 : tolerance;
    if (!(fabs(out.first - t_fall) <= tolerance)) {
      print_error("%s: first impact at %.15g\n", info->name, out.first);
    }
    assert_near(out.first, t_fall, tolerance);
  }
}

/* A step that begins above the reach of the list and ends below the floor. */
static void an_impact_inside_the_step_of_a_located_scheme_is_found(void** state) {
  (void)state;
  const double q[2] = {0.0, 1.1}, v[2] = {0.0, 0.0};
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    if (!info->locates_events || info->smooth_order < 2) {
      continue;
    }
    for (int knows = 0; knows < 3; knows++) {
      discs d = discs_usual(1);
      d.changing = true;
      d.near = 0.01;
      d.knows_gaps = knows > 0;
      d.knows_sweep = knows > 1;
      const course c = {.scheme = info->name, .h = 0.06, .t_end = 0.6};
      outcome out = run(&d, &c, q, v);
      assert_int_equal(out.status, SALTUS_OK);
      if (!(fabs(out.first - t_fall) <= 1e-6)) {
        print_error("%s: first impact at %.15g\n", info->name, out.first);
      }
      assert_near(out.first, t_fall, 1e-6);
    }
  }
}

/* ---- several discs --------------------------------------------------------------------------- */

enum { N = 4 };
/* Two discs fall beside each other, one of them onto a third, a fourth comes in from the side. */
static const double scene_q[2 * N] = {0.0, 0.9, 0.5, 0.6, 0.53, 0.101, -0.8, 0.35};
static const double scene_v[2 * N] = {0.1, 0.0, 0.0, -0.4, 0.0, 0.0, 1.5, 0.4};
static const double scene_end = 0.54;

/* Discs in another order, with other numbers. */
static discs renumbered(const int order[N], const unsigned number[N]) {
  discs d = discs_usual(N);
  for (int i = 0; i < N; i++) {
    d.number[i] = number[order[i]];
  }
  return d;
}

static outcome run_scene(discs* d, const char* scheme, const int order[N], int resume_at) {
  /* a scheme that ends at accumulations of impacts gets none */
  d->laws[0].e_N = saltus_scheme_find(scheme)->stops ? 0.0 : d->laws[0].e_N;
  double q[2 * N], v[2 * N];
  for (int i = 0; i < N; i++) {
    memcpy(q + 2 * i, scene_q + 2 * order[i], 2 * sizeof(double));
    memcpy(v + 2 * i, scene_v + 2 * order[i], 2 * sizeof(double));
  }
  const course c = {.scheme = scheme, .h = 2e-3, .t_end = scene_end, .resume_at = resume_at};
  outcome moved = run(d, &c, q, v);
  assert_int_equal(moved.status, SALTUS_OK);
  outcome out = moved;
  for (int i = 0; i < N; i++) {
    memcpy(out.q + 2 * order[i], moved.q + 2 * i, 2 * sizeof(double));
    memcpy(out.v + 2 * order[i], moved.v + 2 * i, 2 * sizeof(double));
  }
  return out;
}

static void assert_same_motion(const char* scheme, const outcome* a, const outcome* b,
                               double tolerance) {
  for (int i = 0; i < 2 * N; i++) {
    if (!(fabs(a->q[i] - b->q[i]) <= tolerance)) {
      print_error("%s: q[%d] %.17g against %.17g\n", scheme, i, a->q[i], b->q[i]);
    }
    assert_near(a->q[i], b->q[i], tolerance);
    assert_near(a->v[i], b->v[i], 100.0 * tolerance);
  }
}

static const int as_given[N] = {0, 1, 2, 3};

/* Rounding of fixed steps, which impacts make larger; 10 times the tolerance of adaptive ones. */
static double agreement(const saltus_scheme_info* info) {
  return info->chooses_step ? 1e-5 : 1e-11;
}

static void late_listing_does_not_change_the_motion(void** state) {
  (void)state;
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    discs fixed = discs_usual(N);
    outcome expected = run_scene(&fixed, info->name, as_given, 0);
    assert_true(isfinite(expected.first));
    uint64_t seed = 3;
    for (int draw = 0; draw < 4; draw++) {
      discs d = discs_usual(N);
      d.changing = true;
      d.near = 0.05 + 0.2 * saltus_test_random(&seed);
      d.flicker = d.near + 0.5 * saltus_test_random(&seed);
      d.seed = (unsigned)draw;
      d.knows_gaps = draw % 4 > 0;
      d.knows_sweep = draw % 4 > 1;
      outcome out = run_scene(&d, info->name, as_given, 0);
      assert_same_motion(info->name, &out, &expected, agreement(info));
    }
  }
}

static void other_numbers_do_not_change_the_motion(void** state) {
  (void)state;
  const int order[N] = {2, 0, 3, 1};
  const unsigned number[N] = {900, 17, 4000000000U, 5};
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    discs fixed = discs_usual(N);
    outcome expected = run_scene(&fixed, info->name, as_given, 0);
    discs d = renumbered(order, number);
    d.changing = true;
    d.near = 0.1;
    outcome out = run_scene(&d, info->name, order, 0);
    assert_same_motion(info->name, &out, &expected, agreement(info));
  }
}

static void a_resumed_run_has_the_same_bits(void** state) {
  (void)state;
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    discs d = discs_usual(N);
    d.changing = true;
    d.near = 0.1;
    d.flicker = 0.3;
    outcome expected = run_scene(&d, info->name, as_given, 0);
    for (int at = 1; at < 300; at = 14 * at) {
      outcome out = run_scene(&d, info->name, as_given, at);
      assert_memory_equal(out.q, expected.q, 2 * N * sizeof(double));
      assert_memory_equal(out.v, expected.v, 2 * N * sizeof(double));
    }
  }
}

/* Random scenes with friction and late lists that flicker, discs renumbered: 10 tolerances. Far less is
 * measured, some 1e-4 of one: steps are the same, and rounding is in another order. */
static void random_scenes_end_within_ten_tolerances(void** state) {
  (void)state;
  uint64_t seed = 77;
  const course c = {.scheme = "adaptive", .tol = 1e-9, .t_end = 0.5};
  for (int draw = 0; draw < 12; draw++) {
    int n = 3 + draw % 4;
    double q[2 * DISCS_MAX], v[2 * DISCS_MAX];
    discs fixed = discs_usual(n);
    for (int law = 0; law < 2; law++) {
      fixed.laws[law].tangents = draw % 2;
      fixed.laws[law].mu = 0.3;
    }
    for (int i = 0; i < n; i++) {
      bool rests = saltus_test_random(&seed) < 0.3;
      q[2 * i] = 0.25 * i + 0.02 * saltus_test_random(&seed);
      q[2 * i + 1] = rests ? 0.1 : 0.1 + 0.8 * saltus_test_random(&seed);
      v[2 * i] = 2.0 * saltus_test_random(&seed) - 1.0;
      v[2 * i + 1] = rests ? 0.0 : 2.0 * saltus_test_random(&seed) - 1.0;
    }
    outcome expected = run(&fixed, &c, q, v);
    assert_int_equal(expected.status, SALTUS_OK);
    for (int knows = 0; knows < 3; knows++) {
      discs d = fixed;
      d.changing = true;
      d.first = draw % 3;
      d.near = 0.02 + 0.2 * saltus_test_random(&seed);
      d.flicker = d.near + 0.5 * saltus_test_random(&seed);
      d.seed = (unsigned)draw;
      d.knows_gaps = knows > 0;
      d.knows_sweep = knows > 1;
      for (int i = 0; i < n; i++) {
        d.number[i] = 1000000U + 7919U * (unsigned)((7 * i + 3) % n);
      }
      outcome out = run(&d, &c, q, v);
      assert_int_equal(out.status, SALTUS_OK);
      for (int i = 0; i < 2 * n; i++) {
        assert_near(out.q[i], expected.q[i], 10.0 * c.tol);
      }
    }
  }
}

/* ---- outside of schemes ---------------------------------------------------------------------- */

static void check_and_start_know_contacts_by_identity(void** state) {
  (void)state;
  discs d = discs_usual(3);
  saltus_system_ops ops;
  d.changing = true;
  d.near = 0.5;
  d.first = 0;
  for (int i = 0; i < 3; i++) {
    d.number[i] = 4000000000U - (unsigned)i;
  }
  saltus_system sys = discs_system(&d, &ops);
  /* the first overlaps the second by 0.02 m, the third the floor by 0.01 m */
  double q[6] = {0.0, 0.5, 0.18, 0.5, 2.0, 0.09}, v[6] = {0.1, 0.2, -0.3, 0.1, 0.0, 0.2};
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(&sys, 0.0, q, v, (saltus_log){0}, &result), SALTUS_OK);
  assert_true(result.worst < 1e-8);
  assert_true(result.normal_G < 1e-8 && result.convective_c < 1e-8); /* there were contacts */
  char text[256];
  assert_int_equal(saltus_system_diagnose(&sys, 0.0, q, v, text, sizeof text), SALTUS_OK);
  saltus_start_move move;
  const saltus_start_def start = {.system = &sys, .q = q, .v = v, .tolerance = 0.05};
  assert_int_equal(saltus_start_project(&start, &move), SALTUS_OK);
  assert_near(move.penetration, 0.02, 1e-15);
  assert_near(q[2] - q[0], 0.2, 1e-9);
  assert_near(q[5], 0.1, 1e-9);
}

/* ---- steps without end ----------------------------------------------------------------------- */

/* A disc flies 10 m in one step, past places where nothing is listed, onto one that rests: 9.8 m at 20 m/s.
 * It is in the list for 0.4 m of its way. Equal masses, e = 0.7. */
static void a_sweep_misses_no_contact(void** state) {
  (void)state;
  const double q[4] = {-10.0, 5.0, 0.0, 5.0}, v[4] = {20.0, 0.0, 0.0, 0.0};
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    if (info->chooses_step) {
      discs d = discs_usual(2);
      d.g = 0.0;
      d.changing = true;
      d.near = 0.005;
      d.knows_sweep = d.knows_gaps = true;
      const course c = {.scheme = info->name, .t_end = 1.0};
      outcome out = run(&d, &c, q, v);
      assert_int_equal(out.status, SALTUS_OK);
      assert_near(out.first, 0.49, 1e-7); /* 2 um at 20 m/s, the tolerance being 1 um */
      assert_near(out.v[0], 3.0, 1e-5);
      assert_near(out.v[2], 17.0, 1e-5);
    }
  }
}

static void a_closed_contact_that_leaves_the_list_is_an_error_or_opens(void** state) {
  (void)state;
  const double q[2] = {0.0, 0.1}, v[2] = {0.0, 0.0};
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    for (int knows = 0; knows < 2 && info->chooses_step; knows++) {
      discs d = discs_usual(1);
      saltus_kept_message kept;
      d.changing = true;
      d.near = 0.1;
      d.fault = DISCS_LEAVES;
      d.knows_gaps = knows == 1;
      const course c = {.scheme = info->name, .t_end = 0.7, .log = saltus_log_keep(&kept)};
      outcome out = run(&d, &c, q, v);
      assert_int_equal(out.status, knows == 1 ? SALTUS_OK : SALTUS_ERR_SYSTEM);
      if (knows == 0) {
        assert_says(kept, "contact 4294967295 is closed and leaves the list at t = 0.");
      }
    }
  }
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A row of discs that land one after the other. */
static void land(int n, double* q, double* v) {
  for (int i = 0; i < n; i++) {
    q[2 * i] = 0.3 * i;
    q[2 * i + 1] = 0.15 + 0.006 * i;
    v[2 * i] = 0.0;
    v[2 * i + 1] = 0.0;
  }
}

static void memory_grows_with_the_contacts(void** state) {
  (void)state;
  double q[2 * DISCS_MAX], v[2 * DISCS_MAX];
  enum { MANY = 12 };
  land(MANY, q, v);
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    discs fixed = discs_usual(MANY);
    discs d = discs_usual(MANY);
    counter count = {0};
    saltus_allocator allocator = counting_allocator(&count);
    d.changing = true;
    d.near = 0.02;
    d.first = 0;
    d.laws[0].e_N = fixed.laws[0].e_N = info->stops ? 0.0 : 0.5;
    course c = {.scheme = info->name, .h = 3e-3, .t_end = 0.3, .allocator = &allocator};
    outcome out = run(&d, &c, q, v);
    assert_int_equal(out.status, SALTUS_OK);
    assert_int_equal(count.live, 0);
    assert_in_range(count.calls, 6, 40); /* several times, but not at every step */
    c.allocator = NULL;
    outcome expected = run(&fixed, &c, q, v);
    for (int i = 0; i < 2 * MANY; i++) {
      assert_near(out.q[i], expected.q[i], agreement(info));
    }
  }
}

static void no_memory_to_grow_leaves_the_step_undone(void** state) {
  (void)state;
  double q[2 * DISCS_MAX], v[2 * DISCS_MAX];
  land(8, q, v);
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    for (int fail_at = 4; fail_at < 7; fail_at++) {
      discs d = discs_usual(8);
      counter count = {.fail_at = fail_at};
      saltus_allocator allocator = counting_allocator(&count);
      saltus_kept_message kept;
      d.changing = true;
      d.near = 0.02;
      d.first = 0;
      const course c = {.scheme = info->name,
                        .h = 2e-3,
                        .t_end = 0.3,
                        .allocator = &allocator,
                        .log = saltus_log_keep(&kept)};
      outcome out = run(&d, &c, q, v);
      assert_int_equal(out.status, SALTUS_ERR_MEMORY);
      assert_says(kept, "no memory for");
      assert_int_equal(count.live, 0);
    }
  }
}

/* Steps that were kept before memory grew are asked afterwards: free fall, then floor after floor. */
static void kept_motion_outlives_growth(void** state) {
  (void)state;
  enum { MANY = 12 };
  double q[2 * MANY], v[2 * MANY];
  land(MANY, q, v);
  discs d = discs_usual(MANY);
  saltus_system_ops ops;
  d.changing = true;
  d.near = 0.01;
  d.first = 0;
  saltus_system sys = discs_system(&d, &ops);
  const saltus_integrator_def def = {.system = &sys,
                                     .q0 = q,
                                     .v0 = v,
                                     .h_max = 0.01,
                                     .dense_steps = 200,
                                     .rtol = 1e-8,
                                     .atol = 1e-8};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 0.3, 0, NULL), SALTUS_OK);
  double at_q[2 * MANY], at_v[2 * MANY];
  for (int k = 1; k < 10; k++) { /* the first lands after 0.1 s */
    double t = 0.01 * k;
    assert_int_equal(saltus_integrator_dense(it, t, SALTUS_RIGHT, at_q, at_v), SALTUS_OK);
    for (int i = 0; i < MANY; i++) {
      assert_near(at_q[2 * i + 1], q[2 * i + 1] - 0.5 * 9.81 * t * t, 1e-7);
      assert_near(at_v[2 * i + 1], -9.81 * t, 1e-7);
    }
  }
  double force[3 * MANY]; /* by number, which such contacts do not have */
  assert_int_equal(saltus_integrator_forces(it, 0.2, force), SALTUS_ERR_UNSUPPORTED);
  saltus_integrator_destroy(it);
}

/* Discs that stay where they land, one after the other: at any time, also before memory grew and keys
 * changed hands, those that have landed weigh m g on the floor, each under its own identity. */
static void forces_of_a_changing_set_go_by_identity(void** state) {
  (void)state;
  enum { MANY = 12 };
  double q[2 * MANY], v[2 * MANY];
  land(MANY, q, v);
  for (int changing = 0; changing < 2; changing++) {
    discs d = discs_usual(MANY);
    saltus_system_ops ops;
    d.laws[0].e_N = 0.0;
    d.changing = changing != 0;
    d.near = 0.01;
    d.first = changing;
    saltus_system sys = discs_system(&d, &ops);
    const saltus_integrator_def def = {
        .system = &sys, .q0 = q, .v0 = v, .dense_steps = 200, .rtol = 1e-8, .atol = 1e-8};
    saltus_integrator* it;
    assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
    saltus_contact_force forces[MANY];
    int count;
    assert_int_equal(saltus_integrator_contact_forces(it, 0.0, forces, MANY, &count),
                     SALTUS_ERR_RANGE);
    assert_int_equal(saltus_integrator_advance(it, 0.3, 0, NULL), SALTUS_OK);
    for (int landed = MANY; landed > 0; landed--) {
      double between = 0.05 + 0.006 * (landed - 0.5); /* m, fallen */
      double t = landed == MANY ? 0.3 : sqrt(2.0 * between / 9.81);
      assert_int_equal(saltus_integrator_contact_forces(it, t, forces, MANY, &count), SALTUS_OK);
      assert_int_equal(count, landed);
      bool seen[MANY] = {false};
      for (int i = 0; i < count; i++) {
        int disc = changing ? (int)(forces[i].identity >> 32) : (int)forces[i].identity;
        assert_in_range(disc, 0, landed - 1);
        assert_false(seen[disc]);
        seen[disc] = true;
        assert_int_equal(forces[i].law, 0);
        assert_near(forces[i].force[0], 9.81, 1e-9); /* at rest: rounding of one division */
        assert_true(forces[i].force[1] == 0.0 && forces[i].force[2] == 0.0);
      }
      assert_int_equal(saltus_integrator_contact_forces(it, t, NULL, 0, &count), SALTUS_OK);
      assert_int_equal(count, landed);
    }
    saltus_integrator_destroy(it);
  }
}

/* Bytes in which two keys are of one contact are refused before anything changes. */
static void two_keys_of_one_contact_change_nothing(void** state) {
  (void)state;
  double q[2 * N], v[2 * N];
  land(N, q, v);
  for (int i = 0; i < N; i++) {
    q[2 * i + 1] = 0.1; /* all of them lie on the floor */
  }
  discs d = discs_usual(N);
  saltus_system_ops ops;
  d.changing = true;
  d.near = 0.01;
  saltus_system sys = discs_system(&d, &ops);
  const saltus_scheme_def def = {.scheme = "moreau-jean", .system = &sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  saltus_state x = {0.0, q, v};
  assert_int_equal(saltus_scheme_step(scheme, 1e-3, &x, NULL), SALTUS_OK);
  size_t size = saltus_scheme_memory_bytes(scheme);
  unsigned char* good = malloc(2 * size);
  assert_non_null(good);
  unsigned char* bytes = good + size;
  saltus_scheme_memory_save(scheme, good);
  /* an 8-byte count of keys, then identity and law by key: the second contact becomes the first */
  memcpy(bytes, good, size);
  memcpy(bytes + 8 + 16, bytes + 8, 8);
  assert_int_equal(saltus_scheme_memory_load(scheme, bytes, size), SALTUS_ERR_INPUT);
  assert_int_equal(saltus_scheme_memory_bytes(scheme), size);
  saltus_scheme_memory_save(scheme, bytes);
  assert_memory_equal(bytes, good, size);
  free(good);
  saltus_scheme_destroy(scheme);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_list_that_cannot_be_is_refused(void** state) {
  (void)state;
  static const struct {
    discs_fault fault;
    const char* says;
  } cases[] = {
      {DISCS_TWICE, "is listed twice at t = 0"},
      {DISCS_NO_LAW, "s, must be between 0 and 1"},
      {DISCS_OTHER_LAW, "and had law"},
      {DISCS_NO_NUMBER, "s is not a number"},
      {DISCS_TOO_MANY, "s; the capacity is 12"},
      {DISCS_BAD_REACH, "s has a reach of -1 m, must be at least 0"},
  };
  FOR_EVERY_ACCEPTING_SCHEME(info) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      discs d = discs_usual(N);
      saltus_kept_message kept;
      d.changing = true;
      d.fault = cases[i].fault;
      d.first = 12;
      d.laws[0].e_N = info->stops ? 0.0 : 0.5;
      const course c = {
          .scheme = info->name, .h = 1e-3, .t_end = 0.2, .log = saltus_log_keep(&kept)};
      outcome out = run(&d, &c, scene_q, scene_v);
      if (out.status != SALTUS_ERR_SYSTEM) {
        print_error("%s: %s\n", info->name, cases[i].says);
      }
      assert_int_equal(out.status, SALTUS_ERR_SYSTEM);
      assert_says(kept, cases[i].says);
    }
  }
}

static void a_scheme_that_cannot_refuses_by_name(void** state) {
  (void)state;
  discs d = discs_usual(N);
  d.changing = true;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    if (accepts(info)) {
      continue;
    }
    saltus_kept_message kept;
    const course c = {.scheme = info->name, .h = 1e-3, .t_end = 0.2, .log = saltus_log_keep(&kept)};
    assert_int_equal(run(&d, &c, scene_q, scene_v).status, SALTUS_ERR_UNSUPPORTED);
    assert_says(kept, info->name);
    assert_says(kept, "does not treat time-varying contact sets");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_listed_ball_impacts_when_it_does),
      cmocka_unit_test(an_impact_inside_the_step_of_a_located_scheme_is_found),
      cmocka_unit_test(late_listing_does_not_change_the_motion),
      cmocka_unit_test(other_numbers_do_not_change_the_motion),
      cmocka_unit_test(a_resumed_run_has_the_same_bits),
      cmocka_unit_test(random_scenes_end_within_ten_tolerances),
      cmocka_unit_test(check_and_start_know_contacts_by_identity),
      cmocka_unit_test(a_sweep_misses_no_contact),
      cmocka_unit_test(a_closed_contact_that_leaves_the_list_is_an_error_or_opens),
      cmocka_unit_test(memory_grows_with_the_contacts),
      cmocka_unit_test(no_memory_to_grow_leaves_the_step_undone),
      cmocka_unit_test(kept_motion_outlives_growth),
      cmocka_unit_test(forces_of_a_changing_set_go_by_identity),
      cmocka_unit_test(two_keys_of_one_contact_change_nothing),
      cmocka_unit_test(a_list_that_cannot_be_is_refused),
      cmocka_unit_test(a_scheme_that_cannot_refuses_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
