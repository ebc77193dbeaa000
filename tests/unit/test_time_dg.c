/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Time-discontinuous Galerkin schemes: the law at the stages, stiff dampers, joints, impacts at the
 * start, forces and impulses apart, dense output.
 */
#include "saltus_test.h"

#include "scheme/clenshaw_curtis.h"
#include "systems.h"

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

static void jumble_row(const void* self, const saltus_point* at, int key, saltus_rows* rows) {
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
  bool rubs = saltus_test_random(seed) < 0.5;
  for (int k = 0; k < j.nc; k++) {
    j.laws[k] = (saltus_contact_law){.name = "contact"};
    if (rubs && saltus_test_random(seed) < 0.7) {
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
  enum { PROBLEMS = 10000 };
  uint64_t seed = 11;
  int solved = 0;
  int refused = 0;
  for (int i = 0; i < PROBLEMS; i++) {
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
  print_message("solved %d, refused %d\n", solved, refused);
  assert_int_equal(solved + refused, PROBLEMS);
  assert_true(refused <= PROBLEMS / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_stage_problems_are_solved_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
