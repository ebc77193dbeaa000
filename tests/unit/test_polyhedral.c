/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The mixed complementarity problem of polyhedral friction: duplicated contacts, hundreds of unknowns,
 * redundant joints, systems that need more room. Residuals are computed here, from the definition.
 */
#include "saltus_test.h"

#include "scheme/trapezoidal/polyhedral_rows.h"

#include <stdlib.h>

/* Points on rigid or free bodies: contacts with random rows, some of them twice. */
typedef struct crowd {
  int nv;
  const double* rows; /* [3 nc x nv] */
  const double* hold; /* [nj x nv] */
} crowd;

static void crowd_mass(const void* self, const saltus_point* at, double* M) {
  (void)at;
  int nv = ((const crowd*)self)->nv;
  memset(M, 0, (size_t)nv * (size_t)nv * sizeof(double));
  for (int i = 0; i < nv; i++) {
    M[i * nv + i] = 1.0 + 0.1 * i;
  }
}

static void crowd_force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  memset(F, 0, (size_t)((const crowd*)self)->nv * sizeof(double));
}

static saltus_status crowd_contacts(const void* self, const saltus_point* at,
                                    saltus_contact_list* list) {
  (void)self, (void)at;
  for (int i = 0; i < list->count; i++) {
    list->gap[i] = 0.0;
  }
  return SALTUS_OK;
}

static void crowd_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows) {
  int key = (int)identity;
  (void)at;
  const crowd* c = self;
  for (int r = 0; r < rows->count; r++) {
    memcpy(rows->G + (size_t)r * (size_t)rows->stride,
           c->rows + (size_t)(3 * key + r) * (size_t)c->nv, (size_t)c->nv * sizeof(double));
  }
}

static void crowd_joint(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  (void)at;
  const crowd* c = self;
  memcpy(rows->G, c->hold + (size_t)row * (size_t)c->nv, (size_t)c->nv * sizeof(double));
}

static void crowd_joints(const void* self, const saltus_point* at, double* g) {
  (void)self, (void)at, (void)g;
}

static const saltus_system_ops crowd_ops = {.mass = crowd_mass,
                                            .force = crowd_force,
                                            .contacts = crowd_contacts,
                                            .contact = crowd_contact,
                                            .joints = crowd_joints,
                                            .joint = crowd_joint};

/* Numbers between -1 and 1 that are the same on every machine. */
static double next_number(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

typedef struct problem {
  crowd c;
  double* numbers;
  saltus_contact_law* laws;
  saltus_system sys;
  saltusi_eval eval;
  saltusi_linear mass;
  saltusi_polyhedral_rows law;
  void* block;
  double* v;
} problem;

/* nc spatial contacts of which every second repeats the one before, nj joints of which the last
 * repeats the first when asked. */
static problem make(int nv, int nj, int nc, bool twice, unsigned seed, double size) {
  problem p = {.c = {.nv = nv}};
  p.numbers = calloc((size_t)nv * (size_t)(3 * nc + nj + 1), sizeof(double));
  p.laws = calloc((size_t)nc, sizeof *p.laws);
  double* rows = p.numbers;
  double* hold = rows + (size_t)(3 * nc) * (size_t)nv;
  p.v = hold + (size_t)nj * (size_t)nv;
  for (int k = 0; k < nv * (3 * nc + nj + 1); k++) {
    p.numbers[k] = next_number(&seed);
  }
  for (int k = 0; k < nv; k++) {
    p.v[k] *= size;
  }
  for (int i = 1; i < nc; i += 2) {
    memcpy(rows + (size_t)(3 * i) * (size_t)nv, rows + (size_t)(3 * (i - 1)) * (size_t)nv,
           3 * (size_t)nv * sizeof(double));
  }
  if (twice) {
    memcpy(hold + (size_t)(nj - 1) * (size_t)nv, hold, (size_t)nv * sizeof(double));
  }
  for (int i = 0; i < nc; i++) {
    p.laws[i] = (saltus_contact_law){.tangents = 2, .mu = 0.1 + 0.9 * (i / 2 % 3) / 2.0};
  }
  p.c.rows = rows;
  p.c.hold = hold;
  return p;
}

static void lay_out(problem* p, saltus_arena* arena, int pairs) {
  saltusi_eval_layout(&p->eval, arena);
  saltusi_linear_layout(&p->mass, &p->sys, arena);
  saltusi_polyhedral_rows_layout(&p->law, &p->eval, pairs, arena);
}

/* All contacts active, velocities v: the problem of an impact. What lacks room gets it. */
static saltus_status solve(problem* p, int nj, int nc, int pairs, bool keep) {
  p->sys = (saltus_system){.ops = &crowd_ops,
                           .self = &p->c,
                           .dims = {.nq = p->c.nv, .nv = p->c.nv, .nj = nj, .nc = nc},
                           .laws = p->laws,
                           .law_count = nc};
  saltusi_step_capacity room = p->eval.room;
  p->eval = (saltusi_eval){.sys = p->sys, .room = room};
  saltus_arena arena = saltus_arena_counting();
  lay_out(p, &arena, pairs);
  p->block = calloc(1, arena.used);
  arena = saltus_arena_over(p->block, arena.used);
  lay_out(p, &arena, pairs);
  saltus_point at = saltusi_at(&p->eval, 0.0, p->v, p->v);
  assert_int_equal(saltusi_linear_assemble(&p->eval, &p->mass, &at, 1.0, 0.0, 0.0), SALTUS_OK);
  saltusi_polyhedral_rows_start(&p->law, &p->sys, keep);
  for (int i = 0; i < nc; i++) {
    saltusi_polyhedral_rows_add(&p->law, &p->sys, i, i);
  }
  saltusi_polyhedral_rows_form(&p->law, &p->eval, &at, &at, &p->mass);
  for (int r = 0; r < p->law.rows; r++) {
    p->law.rate[r] = saltusi_row_dot(saltusi_polyhedral_rows_measured(&p->law), r, p->v);
  }
  saltus_status status = saltusi_polyhedral_rows_solve(&p->law, &p->eval);
  if (status == SALTUS_RETRY_CAPACITY) {
    assert_true(p->eval.room.lacks);
    saltusi_capacity_grow(&p->eval.room);
    free(p->block);
    return solve(p, nj, nc, pairs, keep);
  }
  return status;
}

static void drop(problem* p) {
  free(p->numbers);
  free(p->laws);
  free(p->block);
}

/* The largest violation of Coulomb's law with these directions, from v+ and the impulses alone, in
 * units of the largest velocity. */
static double violation(problem* p, int pairs) {
  int nv = p->c.nv;
  const saltusi_polyhedral_rows* law = &p->law;
  double* v = calloc((size_t)nv, sizeof(double));
  memcpy(v, p->v, (size_t)nv * sizeof(double));
  saltusi_operator_apply(&law->op, &p->eval, v);
  double worst = 0.0;
  double size = 0.0;
  for (int r = 0; r < law->rows; r++) {
    size = fmax(size, fabs(law->rate[r]));
  }
  for (int j = 0; j < law->joints; j++) {
    worst = fmax(worst, fabs(saltusi_row_dot(&law->op.rows, j, v)));
  }
  for (int i = 0; i < law->count; i++) {
    int row = law->contacts[i].row;
    const double* impulse = law->P + row;
    double u[3];
    for (int r = 0; r < 3; r++) {
      u[r] = saltusi_row_dot(&law->op.rows, row + r, v);
    }
    double W = law->op.diagonal[row];
    worst = fmax(worst, fabs(fmin(u[0], W * impulse[0])));
    /* dissipation: -p_T . U_T is mu p_N times the largest component of U_T along a direction */
    double reach = 0.0;
    for (int k = 0; k < 2 * pairs; k++) {
      double angle = 3.14159265358979323846 * k / pairs;
      reach = fmax(reach, -(cos(angle) * u[1] + sin(angle) * u[2]));
    }
    double power = impulse[1] * u[1] + impulse[2] * u[2] + law->contacts[i].mu * impulse[0] * reach;
    double gauge = saltusi_polyhedral_gauge(&law->contacts[i], impulse + 1);
    worst = fmax(worst, fabs(power) * W / size);
    worst = fmax(worst, W * (gauge - law->contacts[i].mu * impulse[0]));
  }
  free(v);
  return worst / size;
}

/* n up to 200: 20 spatial contacts of 10 unknowns, each twice, with and without joints, for data of
 * size 1 and 1e-6. */
static void duplicated_contacts_are_solved(void** state) {
  (void)state;
  static const struct {
    int nv, nj, nc, pairs;
  } sizes[] = {{6, 0, 2, 4},   {6, 1, 4, 4},   {12, 2, 8, 4},
               {24, 3, 12, 4}, {30, 4, 20, 4}, {30, 0, 10, 9}};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    for (unsigned seed = 1; seed <= 20; seed++) {
      problem p = make(sizes[k].nv, sizes[k].nj, sizes[k].nc, false, seed, seed % 2 ? 1.0 : 1e-6);
      assert_int_equal(solve(&p, sizes[k].nj, sizes[k].nc, sizes[k].pairs, false), SALTUS_OK);
      assert_true(violation(&p, sizes[k].pairs) <= 1e-10);
      drop(&p);
    }
  }
}

/* Joints that are given twice have no unique forces: both ways share them evenly. */
static void redundant_joints_share_their_force(void** state) {
  (void)state;
  for (unsigned seed = 1; seed <= 10; seed++) {
    problem p = make(12, 3, 4, true, seed, 1.0);
    for (int keep = 0; keep < 2; keep++) {
      assert_int_equal(solve(&p, 3, 4, 4, keep == 1), SALTUS_OK);
      assert_true(violation(&p, 4) <= 1e-10);
      assert_near(p.law.P[0], p.law.P[2], 1e-10);
      if (keep == 0) {
        free(p.block);
      }
    }
    drop(&p);
  }
}

/* Both ways agree where both are possible. */
static void kept_and_eliminated_joints_give_the_same_velocities(void** state) {
  (void)state;
  for (unsigned seed = 1; seed <= 10; seed++) {
    problem a = make(12, 3, 3, false, seed, 1.0);
    problem b = make(12, 3, 3, false, seed, 1.0);
    assert_int_equal(solve(&a, 3, 3, 4, false), SALTUS_OK);
    assert_int_equal(solve(&b, 3, 3, 4, true), SALTUS_OK);
    saltusi_operator_apply(&a.law.op, &a.eval, a.v);
    saltusi_operator_apply(&b.law.op, &b.eval, b.v);
    for (int i = 0; i < 12; i++) {
      assert_near(a.v[i], b.v[i], 1e-9);
    }
    drop(&a);
    drop(&b);
  }
}

/* 900 unknowns, a few more than there used to be room for. */
static void no_number_of_unknowns_is_refused(void** state) {
  (void)state;
  const int contacts = saltus_test_sanitized() ? 30 : 90; /* 40 s of sanitizers for 90 */
  problem p = make(6, 0, contacts, false, 1, 1.0);
  assert_int_equal(solve(&p, 0, contacts, 4, false), SALTUS_OK);
  assert_true(violation(&p, 4) <= 1e-10);
  drop(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(duplicated_contacts_are_solved),
      cmocka_unit_test(redundant_joints_share_their_force),
      cmocka_unit_test(kept_and_eliminated_joints_give_the_same_velocities),
      cmocka_unit_test(no_number_of_unknowns_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
