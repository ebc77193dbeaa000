/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Time-discontinuous Galerkin schemes: the law at the stages, stiff dampers, joints, impacts at the
 * start, forces and impulses apart, dense output.
 */
#include "saltus_test.h"

#include "dg_problems.h"
#include "scheme/dg/clenshaw_curtis.h"
#include "systems.h"

#include <stdlib.h>

enum { NV = 5, NC = 4 };

/* ---- random systems ---------------------------------------------------------------------------- */

/* M v' = F0 + t F1 - C v with contacts whose rows are constant. */
typedef struct jumble {
  int nv, nc;
  double M[NV * NV], C[NV * NV], F0[NV], F1[NV];
  double G[NC][2][NV];
  saltus_contact_law laws[NC];
} jumble;

static void jumble_mass(const void* self, const saltus_point* at, double* M) {
  const jumble* j = self;
  (void)at;
  memcpy(M, j->M, (size_t)(j->nv * j->nv) * sizeof(double));
}

static void jumble_force(const void* self, const saltus_point* at, double* F) {
  const jumble* j = self;
  for (int r = 0; r < j->nv; r++) {
    F[r] = j->F0[r] + at->t * j->F1[r];
    for (int c = 0; c < j->nv; c++) {
      F[r] -= j->C[r * j->nv + c] * at->v[c];
    }
  }
}

static saltus_status jumble_gaps(const void* self, const saltus_point* at,
                                 saltus_contact_list* list) {
  const jumble* j = self;
  for (int k = 0; k < j->nc; k++) {
    list->gap[k] = 0.0;
    for (int i = 0; i < j->nv; i++) {
      list->gap[k] += j->G[k][0][i] * at->q[i];
    }
  }
  return SALTUS_OK;
}

static void jumble_row(const void* self, const saltus_point* at, uint64_t identity,
                       saltus_rows* rows) {
  int key = (int)identity;
  const jumble* j = self;
  (void)at;
  for (int r = 0; r < rows->count; r++) {
    memcpy(rows->G + (size_t)r * (size_t)rows->stride, j->G[key][r],
           (size_t)j->nv * sizeof(double));
  }
}

static saltus_system jumble_system(const jumble* j) {
  static const saltus_system_ops ops = {
      .mass = jumble_mass, .force = jumble_force, .contacts = jumble_gaps, .contact = jumble_row};
  return (saltus_system){.ops = &ops,
                         .self = j,
                         .dims = {.nq = j->nv, .nv = j->nv, .nc = j->nc},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = j->laws,
                         .law_count = j->nc};
}

static double centred(uint64_t* seed) {
  return 2.0 * saltus_test_random(seed) - 1.0;
}

/* R R^T + small I: positive definite, condition up to some thousand. */
static void random_definite(uint64_t* seed, int n, double least, double* M) {
  double R[NV * NV];
  for (int i = 0; i < n * n; i++) {
    R[i] = centred(seed);
  }
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++) {
      M[r * n + c] = r == c ? least : 0.0;
      for (int k = 0; k < n; k++) {
        M[r * n + c] += R[r * n + k] * R[c * n + k];
      }
    }
  }
}

/* Up to four contacts on one to five velocities: often more contacts than the motion can use. */
static jumble random_jumble(uint64_t* seed) {
  jumble j = {.nv = 1 + (int)(NV * saltus_test_random(seed)),
              .nc = 1 + (int)(NC * saltus_test_random(seed))};
  random_definite(seed, j.nv, 0.05, j.M);
  random_definite(seed, j.nv, 0.0, j.C);
  for (int i = 0; i < j.nv; i++) {
    j.F0[i] = 10.0 * centred(seed);
    j.F1[i] = 100.0 * centred(seed);
  }
  bool has_friction = saltus_test_random(seed) < 0.5;
  for (int k = 0; k < j.nc; k++) {
    j.laws[k] = (saltus_contact_law){.name = "contact"};
    if (has_friction && saltus_test_random(seed) < 0.7) {
      j.laws[k].tangents = 1;
      j.laws[k].mu = saltus_test_random(seed);
    }
    for (int i = 0; i < j.nv; i++) {
      j.G[k][0][i] = centred(seed);
      j.G[k][1][i] = centred(seed);
    }
  }
  return j;
}

/* ---- the law, recomputed from the dense output ------------------------------------------------- */

static double row_dot(const jumble* j, int key, int row, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < j->nv; i++) {
    sum += j->G[key][row][i] * v[i];
  }
  return sum;
}

/* Violation of the velocity law by the force at stage k and the velocity at stage k + 1, relative. */
static double violation(saltus_scheme* scheme, const jumble* j, double h, int degree, int k) {
  saltusi_dg_tableau table;
  saltusi_dg_tableau_make(degree, false, &table);
  double v[NV];
  double worst = 0.0;
  assert_int_equal(saltus_scheme_dense(scheme, h * table.tau[k + 1], SALTUS_LEFT, NULL, v),
                   SALTUS_OK);
  for (int key = 0; key < j->nc; key++) {
    saltus_contact_inside contact;
    assert_int_equal(
        saltus_scheme_dense_contact(scheme, h * table.tau[k], SALTUS_LEFT, key, &contact),
        SALTUS_OK);
    double N = contact.force[0];
    double T = contact.force[1];
    double u = row_dot(j, key, 0, v);
    worst = fmax(worst, fmax(-u, fabs(fmin(u, h * N))));
    worst = fmax(worst, -h * N);
    if (j->laws[key].tangents == 1) {
      double slip = row_dot(j, key, 1, v);
      double bound = j->laws[key].mu * N;
      worst = fmax(worst, h * (fabs(T) - bound));
      worst = fmax(worst, fabs(fmin(fabs(slip), h * (bound - fabs(T)))));
      worst = fmax(worst, fmin(slip * T > 0.0 ? fabs(slip) : 0.0, h * fabs(T)));
    }
  }
  return worst;
}

/* 10 000 random problems at the stages: each is solved, and then the law holds at every stage, or
 * refused with a status that asks for a smaller step. It never hangs: sweeps and passes have limits.
 * 1e-7: residual 1e-9 of the solvers in their scaling, times inverses of masses down to 0.05. */
static void random_stage_problems_are_solved_or_refused(void** state) {
  (void)state;
  const int problems = saltus_test_draws(10000);
  uint64_t seed = 11;
  int solved = 0;
  int refused = 0;
  for (int i = 0; i < problems; i++) {
    jumble j = random_jumble(&seed);
    saltus_system sys = jumble_system(&j);
    saltus_dg_options o = saltus_dg_minus_options_default();
    o.degree = 1 + i % 4;
    saltus_kept_message kept;
    const saltus_scheme_def def = {
        .scheme = "dg-minus", .options = &o, .system = &sys, .log = saltus_log_keep(&kept)};
    saltus_scheme* scheme;
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    double q[NV] = {0.0};
    double v[NV] = {0.0};
    saltus_state x = {.q = q, .v = v};
    double h = 0.02;
    saltus_status status = saltus_scheme_step(scheme, h, &x, NULL);
    if (status == SALTUS_OK) {
      solved++;
      for (int k = 0; k < o.degree; k++) {
        double worst = violation(scheme, &j, h, o.degree, k);
        if (!(worst <= 1e-7)) {
          fail_msg("problem %d, degree %d, stage %d: the law is violated by %g m/s", i, o.degree, k,
                   worst);
        }
      }
    } else {
      refused++;
      assert_int_equal(status, SALTUS_RETRY_SMALLER);
      assert_says(kept, "failed");
    }
    saltus_scheme_destroy(scheme);
  }
  assert_int_equal(solved + refused, problems);
  assert_true(refused <= problems / 100);
}

/* ---- helpers ----------------------------------------------------------------------------------- */

static const char* const families[2] = {"dg-minus", "dg-plus"};

static saltus_dg_options options_of(bool plus, int degree) {
  saltus_dg_options o = plus ? saltus_dg_plus_options_default() : saltus_dg_minus_options_default();
  o.degree = degree;
  return o;
}

static saltus_scheme* make(const char* name, const void* options, const saltus_system* sys) {
  const saltus_scheme_def def = {.scheme = name, .options = options, .system = sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* ---- joints ------------------------------------------------------------------------------------ */

/* A mass on a rod, released level, to 0.8 s; returns the largest |g| on the way. */
static double swing(const char* name, const void* options, int steps, double q[2], double v[2]) {
  saltus_system sys = rod_system();
  saltus_scheme* scheme = make(name, options, &sys);
  double worst = 0.0;
  q[0] = 1.0;
  q[1] = v[0] = v[1] = 0.0;
  for (int i = 0; i < steps; i++) {
    saltus_state x = {i * (0.8 / steps), q, v};
    assert_int_equal(saltus_scheme_step(scheme, 0.8 / steps, &x, NULL), SALTUS_OK);
    worst = fmax(worst, fabs(0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)));
  }
  saltus_scheme_destroy(scheme);
  return worst;
}

static void joints_keep_the_order_with_every_closure(void** state) {
  (void)state;
  static const double order[5] = {0.0, 2.0, 4.0, 4.0, 6.0};
  double exact_q[2], exact_v[2];
  swing("gauss-6", NULL, 800, exact_q, exact_v);
  for (int plus = 0; plus < 2; plus++) {
    for (int closure = 0; closure < (plus ? 2 : 3); closure++) {
      for (int M = 1; M <= 4; M++) {
        saltus_dg_options o = options_of(plus != 0, M);
        o.closure = closure;
        /* D1+ on acceleration level gets to its order later */
        int steps = (M < 4 ? 40 : 16) << (plus && closure == SALTUS_DG_ACCELERATION ? 2 : 0);
        double error[2];
        for (int k = 0; k < 2; k++) {
          double q[2], v[2];
          double drift = swing(families[plus], &o, steps << k, q, v);
          error[k] = fmax(fabs(q[0] - exact_q[0]), fabs(q[1] - exact_q[1]));
          if (closure == SALTUS_DG_POSITION) {
            assert_true(drift <= 1e-14);
          }
        }
        assert_near(log2(error[0] / error[1]), order[M], 0.25);
      }
    }
  }
}

/* Degree 1 on position level is RATTLE: the same motion to the tolerances of both iterations. */
static void degree_one_on_position_level_is_rattle(void** state) {
  (void)state;
  saltus_dg_options o = options_of(false, 1);
  o.closure = SALTUS_DG_POSITION;
  double q[2], v[2], other_q[2], other_v[2];
  swing("dg-minus", &o, 160, q, v);
  swing("rattle", NULL, 160, other_q, other_v);
  for (int k = 0; k < 2; k++) {
    assert_near(q[k], other_q[k], 1e-11);
    assert_near(v[k], other_v[k], 1e-11);
  }
}

/* ---- stiff dampers ----------------------------------------------------------------------------- */

/* A mass of 1 kg sinks through a damper onto a floor. */
static void sinking_force(const void* self, const saltus_point* at, double* F) {
  F[0] = -10.0 - *(const double*)self * at->v[0];
}

static void one_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static saltus_status height(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void upward(const void* self, const saltus_point* at, uint64_t identity, saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static saltus_system sinking(const double* damping) {
  static const saltus_contact_law law = {.name = "floor", .e_N = 0.5};
  static const saltus_system_ops ops = {
      .mass = one_mass, .force = sinking_force, .contacts = height, .contact = upward};
  return (saltus_system){.ops = &ops,
                         .self = damping,
                         .dims = {.nq = 1, .nv = 1, .nc = 1},
                         .laws = &law,
                         .law_count = 1};
}

/* h c/m = 100: the fixed point cannot converge and says so; the automatic iteration changes to Newton,
 * keeps the speed 10/c of sinking, hits, and rests with the weight as force. */
static void stiff_dampers_need_newton_and_get_it(void** state) {
  (void)state;
  double damping = 1e4;
  saltus_system sys = sinking(&damping);
  for (int M = 1; M <= 4; M++) {
    saltus_dg_options o = options_of(true, M);
    saltus_scheme* scheme = make("dg-plus", &o, &sys);
    double q = 1e-3;
    double v = -10.0 / damping;
    saltus_state x = {.q = &q, .v = &v};
    for (int i = 0; i < 50; i++) {
      assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, NULL), SALTUS_OK);
      assert_near(v, -1e-3, 1e-15);
    }
    for (int i = 0; i < 100; i++) {
      assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, NULL), SALTUS_OK);
    }
    saltus_contact_inside contact;
    assert_int_equal(saltus_scheme_dense_contact(scheme, x.t - 0.005, SALTUS_RIGHT, 0, &contact),
                     SALTUS_OK);
    assert_near(q, 0.0, 1.1e-5); /* one step at the speed of sinking */
    assert_near(v, 0.0, 1e-15);
    assert_near(contact.force[0], 10.0, 1e-9);
    saltus_scheme_destroy(scheme);

    o.iteration = SALTUS_DG_FIXED_POINT;
    saltus_kept_message kept;
    const saltus_scheme_def def = {
        .scheme = "dg-plus", .options = &o, .system = &sys, .log = saltus_log_keep(&kept)};
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    v = 1.0;
    assert_true(saltus_scheme_step(scheme, 0.01, &x, NULL) > 0);
    assert_says(kept, "the step from t = ");
    assert_true(v == 1.0);
    saltus_scheme_destroy(scheme);
  }
}

/* ---- impacts ----------------------------------------------------------------------------------- */

/* The initial velocity is the one before a possible impact at the start. */
static void an_approach_at_the_start_is_an_impact(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  for (int plus = 0; plus < 2; plus++) {
    saltus_dg_options o = options_of(plus != 0, 2);
    saltus_scheme* scheme = make(families[plus], &o, &sys);
    double q = 0.0;
    double v = -1.0;
    saltus_state x = {.q = &q, .v = &v};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, &report), SALTUS_OK);
    assert_near(v, 0.5 - 9.81 * 0.01, 1e-15);
    assert_near(q, 0.5 * 0.01 - 0.5 * 9.81 * 1e-4, 1e-16);
    assert_int_equal(report.active, 1);
    assert_true(report.contacts[0].impact);
    assert_near(report.contacts[0].impulse[0], 1.5, 1e-15);
    assert_near(report.contacts[0].lasting[0], 0.0, 1e-15);
    assert_near(report.contacts[0].u_before, -1.0, 0.0);
    saltus_scheme_destroy(scheme);
  }
}

/* The end of an impulsive step has two velocities, and the interaction jumps with them. */
static void an_impact_has_two_sides(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_dg_options o = options_of(false, 3);
  saltus_scheme* scheme = make("dg-minus", &o, &sys);
  double q = 0.001;
  double v = -2.0;
  saltus_state x = {.q = &q, .v = &v};
  saltus_step_report report;
  assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, &report), SALTUS_OK);
  double left, right;
  assert_int_equal(saltus_scheme_dense(scheme, 0.01, SALTUS_LEFT, NULL, &left), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense(scheme, 0.01, SALTUS_RIGHT, NULL, &right), SALTUS_OK);
  assert_near(left, -2.0 - 0.0981, 1e-15);
  assert_near(right, -0.5 * left, 1e-15);
  saltus_contact_inside before, after;
  assert_int_equal(saltus_scheme_dense_contact(scheme, 0.01, SALTUS_LEFT, 0, &before), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense_contact(scheme, 0.01, SALTUS_RIGHT, 0, &after), SALTUS_OK);
  assert_true(before.impulse[0] == 0.0 && before.lasting[0] == 0.0);
  assert_near(after.impulse[0], right - left, 1e-15);
  assert_near(after.impulse[0], report.contacts[0].impulse[0], 0.0);
  saltus_scheme_destroy(scheme);
}

/* ---- forces and impulses apart ----------------------------------------------------------------- */

typedef struct logged {
  double lasting[2], impulse[2]; /* N s by contact */
  double last;
  int impacts;
} logged;

static saltus_status log_frame(void* user, const saltus_frame* frame) {
  logged* h = user;
  for (int k = 0; k < frame->contact_count; k++) {
    h->lasting[k] += frame->contacts[k].force[0] * (frame->t - h->last);
    h->impulse[k] += frame->contacts[k].impulse[0];
  }
  h->last = frame->t;
  return SALTUS_OK;
}

static saltus_status log_event(void* user, const saltus_event* event) {
  logged* h = user;
  h->impacts += event->kind == SALTUS_EVENT_IMPACT ? 1 : 0;
  return SALTUS_OK;
}

/* The bar of docs/theory/problems.md, 6.5: the closed end carries a lasting force until the other end
 * hits; then both are free. Momentum m y' = lasting + impulse - m g t, whatever is recorded where;
 * the lasting force before the impact is m g J/(J + m x^2) = 10 (1/12) / (1/12 + 0.04). */
static void recordings_keep_forces_and_impulses_apart(void** state) {
  (void)state;
  for (int plus = 0; plus < 2; plus++) {
    saltus_dg_options o = options_of(plus != 0, 2);
    saltus_system sys = dg_bar.system();
    logged h = {.last = 0.0};
    const saltus_recorder recorder = {.frame = log_frame, .event = log_event, .user = &h};
    const saltus_sim_def def = {.system = &sys,
                                .scheme = families[plus],
                                .options = &o,
                                .h = 0.19 / 343,
                                .q0 = dg_bar.q0,
                                .v0 = dg_bar.v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .record_every = 7};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run(sim, 343), SALTUS_OK);
    double lasting = 10.0 * (1.0 / 12.0) / (1.0 / 12.0 + 0.04);
    assert_int_equal(h.impacts, 1);
    assert_near(h.lasting[0], lasting * 0.15705625, 2.0 * lasting * 0.19 / 343);
    assert_true(h.impulse[0] == 0.0);
    assert_near(h.impulse[1], 0.91833828, 3e-3);
    assert_near(h.lasting[1], 0.0, 1e-12);
    double given = h.lasting[0] + h.lasting[1] + h.impulse[1];
    assert_near(saltus_sim_v(sim)[0], given - 10.0 * 0.19, 1e-12);
    saltus_sim_destroy(sim);
  }
}

/* ---- the rest ---------------------------------------------------------------------------------- */

/* A ball on a floor that shakes with less than g stays on it without an impulse; its force is
 * m (g + floor''). */
static void a_moving_floor_is_followed(void** state) {
  (void)state;
  static const double order[5] = {0.0, 2.0, 4.0, 4.0, 6.0};
  ball b = ball_usual();
  b.a = 0.05;
  b.w = 10.0;
  saltus_system sys = ball_system(&b);
  for (int plus = 0; plus < 2; plus++) {
    for (int M = 1; M <= 4; M++) {
      saltus_dg_options o = options_of(plus != 0, M);
      double worst[2] = {0.0, 0.0};
      for (int k = 0; k < 2; k++) {
        saltus_scheme* scheme = make(families[plus], &o, &sys);
        int steps = 40 << k;
        double q = 0.0;
        double v = b.a * b.w;
        for (int i = 0; i < steps; i++) {
          saltus_state x = {(double)i / steps, &q, &v};
          saltus_step_report report;
          assert_int_equal(saltus_scheme_step(scheme, 1.0 / steps, &x, &report), SALTUS_OK);
          assert_int_equal(report.active, 1);
          assert_false(report.contacts[0].impact);
          worst[k] = fmax(worst[k], fabs(q - b.a * sin(b.w * (i + 1) / steps)));
        }
        saltus_scheme_destroy(scheme);
      }
      if (worst[1] > 1e-13) {
        assert_near(log2(worst[0] / worst[1]), order[M], 0.4);
      }
    }
  }
}

/* Flags of closed contacts are part of a snapshot: a resumed run has the same bits. */
static void a_resumed_run_has_the_same_bits(void** state) {
  (void)state;
  saltus_dg_options o = options_of(false, 3);
  saltus_system sys = dg_bowl.system();
  const saltus_sim_def def = {.system = &sys,
                              .scheme = "dg-minus",
                              .options = &o,
                              .h = 0.01,
                              .q0 = dg_bowl.q0,
                              .v0 = dg_bowl.v0};
  saltus_sim *whole, *rest;
  assert_int_equal(saltus_sim_create(&def, &whole), SALTUS_OK);
  assert_int_equal(saltus_sim_create(&def, &rest), SALTUS_OK);
  assert_int_equal(saltus_sim_run(whole, 60), SALTUS_OK);
  size_t bytes = saltus_sim_snapshot_bytes(whole);
  void* snapshot = malloc(bytes);
  saltus_sim_snapshot_save(whole, snapshot);
  assert_int_equal(saltus_sim_run(whole, 100), SALTUS_OK);
  assert_int_equal(saltus_sim_snapshot_load(rest, snapshot, bytes), SALTUS_OK);
  assert_int_equal(saltus_sim_run(rest, 100), SALTUS_OK);
  assert_memory_equal(saltus_sim_q(whole), saltus_sim_q(rest), 2 * sizeof(double));
  assert_memory_equal(saltus_sim_v(whole), saltus_sim_v(rest), 2 * sizeof(double));
  free(snapshot);
  saltus_sim_destroy(whole);
  saltus_sim_destroy(rest);
}

static void what_is_not_treated_or_known_is_refused(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_kept_message kept;
  saltus_scheme* scheme;
  saltus_dg_options o = options_of(true, 1);
  o.closure = SALTUS_DG_POSITION;
  saltus_scheme_def def = {
      .scheme = "dg-plus", .options = &o, .system = &sys, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_ERR_RANGE);
  assert_says(kept, "closure");

  b = ball_usual();
  def = (saltus_scheme_def){.scheme = "dg-plus", .system = &sys, .log = saltus_log_keep(&kept)};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  saltus_contact_inside contact;
  assert_int_equal(saltus_scheme_dense_contact(scheme, 0.0, SALTUS_LEFT, 1, &contact),
                   SALTUS_ERR_RANGE);
  assert_says(kept, "no contact 1; there are 1");
  kept = (saltus_kept_message){.level = SALTUS_LEVEL_NOTE}; /* it keeps the first error */
  assert_int_equal(saltus_scheme_dense_contact(scheme, 0.0, SALTUS_LEFT, 0, &contact),
                   SALTUS_ERR_RANGE);
  assert_says(kept, "not within the last step");
  saltus_scheme_destroy(scheme);
  def.scheme = "moreau-jean";
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  assert_int_equal(saltus_scheme_dense_contact(scheme, 0.0, SALTUS_LEFT, 0, &contact),
                   SALTUS_ERR_UNSUPPORTED);
  saltus_scheme_destroy(scheme);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_stage_problems_are_solved_or_refused),
      cmocka_unit_test(joints_keep_the_order_with_every_closure),
      cmocka_unit_test(degree_one_on_position_level_is_rattle),
      cmocka_unit_test(stiff_dampers_need_newton_and_get_it),
      cmocka_unit_test(an_approach_at_the_start_is_an_impact),
      cmocka_unit_test(an_impact_has_two_sides),
      cmocka_unit_test(recordings_keep_forces_and_impulses_apart),
      cmocka_unit_test(a_moving_floor_is_followed),
      cmocka_unit_test(a_resumed_run_has_the_same_bits),
      cmocka_unit_test(what_is_not_treated_or_known_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
