/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Many contacts and joints in one problem, beyond what dense matrices hold: the laws of a step are
 * evaluated here once more, from the system's own rows and the impulses and velocities of the report.
 */
#include "saltus_test.h"

#include "../../bench/rig.h"
#include "bodies.h"

#include <stdlib.h>

static const double h = 0.001; /* s */

/* How far a step is from its laws: all that it has to satisfy, from q0, v0, v1 and the report. */
typedef struct laws {
  double momentum;        /* N s, M (v1 - v0) - h F - G P */
  double joints;          /* m/s, G^T v1 of the joints */
  double cone;            /* N s, P outside of its cone */
  double penetration;     /* m/s, approach after the step */
  double complementarity; /* m/s N s, of normal and tangential parts */
  double most;            /* N s, largest impulse */
} laws;

static double dot(const saltus_rows* rows, int k, const double* x) {
  double sum = 0.0;
  for (int e = 0; e < rows->width; e++) {
    sum += rows->G[k * rows->stride + e] * x[rows->column[e]];
  }
  return sum;
}

static void subtract(const saltus_rows* rows, int k, double P, double* x) {
  for (int e = 0; e < rows->width; e++) {
    x[rows->column[e]] -= rows->G[k * rows->stride + e] * P;
  }
}

static void judge_contact(const saltus_contact_step* contact, double mu, const double* u, laws* l) {
  const double* P = contact->impulse;
  l->most = fmax(l->most, fabs(P[0]));
  l->cone = fmax(l->cone, fmax(-P[0], fabs(P[1]) - mu * P[0]));
  l->penetration = fmax(l->penetration, -u[0]);
  l->complementarity = fmax(l->complementarity, fabs(u[0] * P[0]));
  /* what slides is opposed by all the friction there is, what does not slide is free in the cone */
  l->complementarity = fmax(l->complementarity, fabs(u[1]) * (mu * P[0] - fabs(P[1])));
  l->complementarity = fmax(l->complementarity, u[1] * P[1]);
}

/* v1 and the report belong to a step of length h with theta = 1/2 and joints held at its end. */
static laws judge(const rig* r, const double* q0, const double* v0, const double* v1,
                  const saltus_step_report* report) {
  const saltus_system* sys = &r->system;
  int nv = sys->dims.nv;
  double* q = malloc(2 * (size_t)nv * sizeof(double));
  double* left = q + nv;
  for (int i = 0; i < nv; i++) {
    q[i] = q0[i] + 0.25 * h * (v0[i] + v1[i]);
    double mass = i % 3 == 2 ? r->inertia[i / 3] : r->mass[i / 3];
    left[i] = mass * (v1[i] - v0[i]) + (i % 3 == 1 ? h * 9.81 * r->mass[i / 3] : 0.0);
  }
  laws l = {0};
  const saltus_point at = {.t = h, .q = q, .v = v0};
  for (int j = 0; j < sys->dims.nj + report->active; j++) {
    int column[6];
    double G[12] = {0.0};
    double b[2] = {0.0};
    bool joint = j < sys->dims.nj;
    saltus_rows rows = {
        .count = joint ? 1 : 2, .width = 6, .stride = 6, .column = column, .G = G, .b = b};
    if (joint) {
      sys->ops->joint(sys->self, &at, j, &rows);
      l.joints = fmax(l.joints, fabs(dot(&rows, 0, v1)));
      subtract(&rows, 0, report->joint_impulses[j], left);
      continue;
    }
    const saltus_contact_step* contact = &report->contacts[j - sys->dims.nj];
    sys->ops->contact(sys->self, &at, (uint64_t)contact->key, &rows);
    double u[2] = {dot(&rows, 0, v1), dot(&rows, 1, v1)};
    judge_contact(contact, sys->laws[contact->law].mu, u, &l);
    subtract(&rows, 0, contact->impulse[0], left);
    subtract(&rows, 1, contact->impulse[1], left);
  }
  for (int i = 0; i < nv; i++) {
    l.momentum = fmax(l.momentum, fabs(left[i]));
  }
  free(q);
  return l;
}

static saltus_scheme* make_scheme(const saltus_system* sys) {
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.joints = SALTUS_JOINTS_END;
  options.newton_tol = 1e-10; /* rows follow q, which moves by h times that */
  const saltus_scheme_def def = {.scheme = "moreau-jean", .options = &options, .system = sys};
  saltus_scheme* scheme = NULL;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

/* Velocities that differ from body to body. */
static void shake(rig* r, double speed) {
  unsigned state = 1;
  for (int i = 0; i < 3 * r->bodies; i++) {
    state = state * 1664525u + 1013904223u;
    r->v[i] = speed * ((double)(state >> 8) / 8388608.0 - 1.0);
  }
}

/* A few steps of a rig; every one satisfies its laws to `small`. */
static void step_and_judge(rig* r, int steps, double small) {
  const saltus_system* sys = rig_system(r);
  size_t bytes = (size_t)sys->dims.nv * sizeof(double);
  double* q0 = malloc(2 * bytes);
  double* v0 = q0 + sys->dims.nv;
  saltus_scheme* scheme = make_scheme(sys);
  for (int k = 0; k < steps; k++) {
    memcpy(q0, r->q, bytes);
    memcpy(v0, r->v, bytes);
    saltus_state x = {h * k, r->q, r->v};
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
    laws l = judge(r, q0, v0, r->v, &report);
    assert_true(l.most > 0.0);
    assert_true(l.momentum <= small);
    assert_true(l.joints <= small);
    assert_true(l.cone <= small);
    assert_true(l.penetration <= small);
    assert_true(l.complementarity <= small);
  }
  saltus_scheme_destroy(scheme);
  free(q0);
}

/* Impulses are of 1 N s, and the solver accepts residuals of 1e-10 in the mean of all rows. */
static const double small = 1e-8;

static void two_thousand_contacts_and_a_thousand_pins_hold_their_laws(void** state) {
  (void)state;
  for (int layers = 1; layers <= 3; layers += 2) {
    rig r;
    assert_true(rig_chains(&r, 2000, 4, layers, 0.4));
    assert_true(r.contacts >= 1900 && r.pins >= 700);
    shake(&r,
          layers == 1 ? 0.1 : 0.0); /* chains that strike each other have more than one answer */
    step_and_judge(&r, 3, small);
    rig_free(&r);
  }
}

static void pins_without_friction_hold_their_laws(void** state) {
  (void)state;
  rig r;
  assert_true(rig_chains(&r, 1000, 5, 2, 0.0));
  shake(&r, 0.1);
  step_and_judge(&r, 3, small);
  rig_free(&r);
}

/* One component of 398 rows: its joints stay units of the problem. */
static void a_long_chain_on_the_floor_holds_its_laws(void** state) {
  (void)state;
  rig r;
  assert_true(rig_chains(&r, 400, 200, 1, 0.4));
  assert_int_equal(r.pins, 199);
  step_and_judge(&r, 5, small);
  rig_free(&r);
}

/* The same pins twice: impulses are shared in halves, and the motion is that of single ones. */
static void pins_that_say_the_same_twice_share_their_impulse(void** state) {
  (void)state;
  rig single;
  rig twice;
  assert_true(rig_chains(&single, 60, 3, 2, 0.4));
  assert_true(rig_create(&twice, single.bodies, single.contacts, 2 * single.pins));
  for (int i = 0; i < single.bodies; i++) {
    rig_body(&twice, single.q[3 * i], single.q[3 * i + 1], single.mass[i], single.inertia[i]);
  }
  for (int i = 0; i < single.contacts; i++) {
    rig_touch(&twice, single.contact[i], 0.4);
  }
  for (int i = 0; i < 2 * single.pins; i++) {
    rig_join(&twice, single.pin[i / 2]);
  }
  shake(&single, 1.0);
  shake(&twice, 1.0);
  saltus_scheme* schemes[2] = {make_scheme(rig_system(&single)), make_scheme(rig_system(&twice))};
  saltus_step_report reports[2];
  rig* rigs[2] = {&single, &twice};
  for (int k = 0; k < 2; k++) {
    saltus_state x = {0.0, rigs[k]->q, rigs[k]->v};
    assert_int_equal(saltus_scheme_step(schemes[k], h, &x, &reports[k]), SALTUS_OK);
  }
  for (int i = 0; i < 3 * single.bodies; i++) {
    assert_true(fabs(single.v[i] - twice.v[i]) <= small);
  }
  for (int i = 0; i < single.pins; i++) {
    for (int k = 0; k < 2; k++) {
      double whole = reports[0].joint_impulses[2 * i + k];
      for (int copy = 0; copy < 2; copy++) {
        double half = reports[1].joint_impulses[4 * i + 2 * copy + k];
        assert_true(fabs(half - 0.5 * whole) <= small);
      }
    }
  }
  for (int k = 0; k < 2; k++) {
    saltus_scheme_destroy(schemes[k]);
    rig_free(rigs[k]);
  }
}

/* Iterations, solves and results of 1000 resting discs do not change with a pendulum far away. */
static void a_joint_elsewhere_changes_nothing_for_contacts(void** state) {
  (void)state;
  const double friction[2] = {0.0, 0.4};
  for (int m = 0; m < 2; m++) {
    saltus_work work[2];
    double impulse[2];
    for (int k = 0; k < 2; k++) {
      rig r;
      assert_true(rig_floor(&r, 1000, friction[m], k == 1));
      saltus_scheme* scheme = make_scheme(rig_system(&r));
      saltus_step_report report;
      for (int i = 0; i < 5; i++) {
        saltus_state x = {h * i, r.q, r.v};
        assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
      }
      work[k] = saltus_scheme_work(scheme);
      impulse[k] = 0.0;
      for (int i = 0; i < report.active; i++) {
        impulse[k] += report.contacts[i].impulse[0];
      }
      saltus_scheme_destroy(scheme);
      rig_free(&r);
    }
    assert_true(impulse[0] > 0.0);
    assert_true(fabs(impulse[0] - impulse[1]) <= 1e-12 * impulse[0]);
    assert_true(work[1].contact_iterations <= work[0].contact_iterations);
    assert_int_equal(work[0].contact_solves, work[1].contact_solves);
  }
}

enum { BODIES = 36, NV = 3 * BODIES };

/* Pairs of bodies with springs, every third pair pinned, full mass matrices of each body: A is not diagonal,
 * and not symmetric with damping. State after steps into contact and in it. */
static void run_bodies(const char* scheme, unsigned form, double mu, double* q, double* v) {
  static bodies b;
  b = (bodies){.count = BODIES,
               .springs = BODIES / 2,
               .pins = BODIES / 6,
               .contacts = BODIES,
               .k = 20.0,
               .c = 0.5,
               .g = 9.81,
               .mu = mu};
  for (int i = 0; i < BODIES; i++) {
    if (i % 2 == 0) {
      b.spring[i] = i;
      b.spring[i + 1] = i + 1;
    }
    if (i % 6 == 0) {
      b.pin[i / 3] = i;
      b.pin[i / 3 + 1] = i + 1;
    }
    q[3 * i] = 0.1 * i;
    q[3 * i + 1] = 0.002 + 0.0003 * (i % 5);
    q[3 * i + 2] = 0.2 * i;
    v[3 * i] = 0.1 * (i % 3);
    v[3 * i + 1] = v[3 * i + 2] = 0.0;
  }
  const saltus_system sys = bodies_system(&b, form, q);
  const saltus_sim_def def = {.system = &sys, .scheme = scheme, .h = 0.002, .q0 = q, .v0 = v};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run(sim, 30), SALTUS_OK);
  memcpy(q, saltus_sim_q(sim), NV * sizeof(double));
  memcpy(v, saltus_sim_v(sim), NV * sizeof(double));
  saltus_sim_destroy(sim);
}

/* 1e-9: residuals of 1e-10 that the solvers accept, in the mean of all rows. */
static void sparse_matrices_by_structure_give_the_motion_of_dense_ones(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean", "schatzman-paoli", "variational", "heun-3"};
  for (int k = 0; k < 4; k++) {
    if (!saltus_test_takes(k)) {
      continue;
    }
    double q[2][NV];
    double v[2][NV];
    double mu = k == 3 ? 0.0 : 0.3;
    run_bodies(schemes[k], 0, mu, q[0], v[0]);
    run_bodies(schemes[k], BODIES_STRUCTURE | BODIES_BLOCKS | BODIES_SPARSE, mu, q[1], v[1]);
    double moved = 0.0;
    for (int i = 0; i < NV; i++) {
      if (!(fabs(q[0][i] - q[1][i]) <= 1e-9 && fabs(v[0][i] - v[1][i]) <= 1e-7)) {
        fail_msg("%s: q[%d] is %.17g, dense %.17g; v %.17g, dense %.17g", schemes[k], i, q[1][i],
                 q[0][i], v[1][i], v[0][i]);
      }
      moved = fmax(moved, fabs(v[0][i]));
    }
    assert_true(moved > 0.01);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_thousand_contacts_and_a_thousand_pins_hold_their_laws),
      cmocka_unit_test(pins_without_friction_hold_their_laws),
      cmocka_unit_test(a_long_chain_on_the_floor_holds_its_laws),
      cmocka_unit_test(pins_that_say_the_same_twice_share_their_impulse),
      cmocka_unit_test(a_joint_elsewhere_changes_nothing_for_contacts),
      cmocka_unit_test(sparse_matrices_by_structure_give_the_motion_of_dense_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
