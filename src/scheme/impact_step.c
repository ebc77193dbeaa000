/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact_step.c - see impact_step.h.
 */
#include "scheme/impact_step.h"

#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Approaches below this part of the velocity change by forces in a step, and of the largest
 * velocity, belong to non-impulsive contact that is solved to its tolerance. */
static const double small_part = 1e-6;
static const double resting = 1e-12;
/* Initial capacity: contacts of one impact. */
enum { CONTACTS_FIRST = 8 };

static void layout_laws(saltusi_impact_step* j, const saltusi_eval* eval, saltus_arena* arena) {
  const saltus_dims* d = &eval->sys.dims;
  size_t most = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_LAWS, CONTACTS_FIRST);
  j->most = most < (size_t)d->nc ? (int)most : d->nc;
  int rows = 3 * j->most;
  saltusi_laws_layout(&j->solver, j->most, rows, arena);
  j->contact = SALTUS_PUSH(arena, saltus_impact_contact, j->most);
  j->W = SALTUS_PUSH2(arena, double, rows, rows);
  j->u = SALTUS_PUSH(arena, double, rows);
  j->P = SALTUS_PUSH(arena, double, rows);
  j->after = SALTUS_PUSH(arena, double, rows);
  saltusi_island_joints_layout(&j->joints, d->nj, rows, arena);
}

void saltusi_impact_step_layout(saltusi_impact_step* jump, const saltus_contact_law* own,
                                const saltusi_eval* eval, size_t carried, saltus_arena* arena) {
  assert(jump != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  jump->own = own;
  jump->curves = eval->curves;
  jump->rule = sys->impacts;
  jump->laws = SALTUS_PUSH(arena, saltus_contact_law, sys->law_count);
  jump->v = SALTUS_PUSH(arena, double, d->nv);
  jump->fresh = SALTUS_PUSH(arena, double, carried);
  jump->struck = SALTUS_PUSH(arena, saltusi_impact_step_result, d->nc);
  jump->force = SALTUS_PUSH(arena, double, d->nv);
  saltusi_linear_layout(&jump->mass, sys, arena);
  saltusi_operator_layout(&jump->op, eval, &(saltusi_demand){.friction = true, .own_law = true},
                          arena);
  saltusi_contact_list_layout(&jump->list, d, arena);
  layout_laws(jump, eval, arena);
  for (int i = 0; jump->laws != NULL && i < sys->law_count; i++) {
    jump->laws[i] = own[i];
    jump->laws[i].e_N = jump->laws[i].e_T = 0.0;
    jump->laws[i].impact = SALTUS_IMPACT_NEWTON;
  }
}

/* ---- the law of an island ---------------------------------------------------------------------- */

/* Contacts of the island: W and U- with its joints enforced. */
static saltus_impact gather(saltusi_impact_step* j, const saltusi_law_island* in, int n) {
  int rows = in->rows - n;
  double most = saltusi_max_abs(rows, j->u);
  int count = 0;
  for (int i = in->joints; i < in->units; i++) {
    const saltusi_impact_step_result* struck = &j->struck[in->contact[i]];
    const saltus_contact_law* law = &j->own[struck->law];
    j->contact[count++] =
        (saltus_impact_contact){.name = law->name,
                                .tangents = struck->rows - 1,
                                .mu = saltus_contact_impact_mu(law),
                                .e_N = law->e_N,
                                .e_T = law->e_T,
                                .stiffness = law->stiffness,
                                .impact = law->impact,
                                .own = law->own,
                                .struck = struck->gap > 0.0,
                                .law = struck->law,
                                .friction = law->impact_mu != 0.0 ? NULL
                                            : j->curves != NULL   ? j->curves[struck->law].friction
                                                                  : law->friction};
  }
  return (saltus_impact){.count = count,
                         .rows = rows,
                         .contact = j->contact,
                         .W = j->W,
                         .u = j->u,
                         .rounding = 64.0 * DBL_EPSILON * most};
}

static saltus_status strike_island(void* user, const saltusi_law_island* in) {
  saltusi_impact_step* j = user;
  int n = saltusi_island_joint_rows(in);
  if (in->units == in->joints) {
    return SALTUS_OK;
  }
  if (!saltusi_island_joints_hold(&j->joints, in, j->W, j->u)) {
    return SALTUS_RETRY_NAN;
  }
  const saltus_impact impact = gather(j, in, n);
  saltus_impact_result result = {.P = j->P, .u = j->after};
  saltus_status status = saltusi_impact_solve(&j->solver, j->rule, &impact, j->log, &result);
  if (status != SALTUS_OK) {
    return status;
  }
  if (result.replaced || result.unfinished) {
    j->of_law = result.of_law;
    j->replaced = j->struck[in->contact[in->joints + (result.giver >= 0 ? result.giver : 0)]].key;
  }
  saltusi_island_joints_answer(&j->joints, in, j->P);
  return SALTUS_OK;
}

/* ---- the impact -------------------------------------------------------------------------------- */

/* Adds a contact whose rows are evaluated. */
static void take(saltusi_impact_step* j, const saltus_system* sys, int key, int law, double gap) {
  int rows = saltusi_operator_rows(&j->op, &sys->laws[law]);
  j->struck[j->count++] =
      (saltusi_impact_step_result){.key = key, .law = law, .rows = rows, .gap = gap};
  saltusi_operator_take(&j->op, rows, sys->laws[law].mu);
}

/* The impact of the selected contacts, which changes v. Rows of joints and M are evaluated. */
static saltus_status strike(saltusi_impact_step* j, saltusi_eval* eval, double* v) {
  saltusi_operator* op = &j->op;
  int nj = eval->sys.dims.nj;
  if (j->count > j->most) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_LAWS, (size_t)j->count);
  }
  for (int r = 0; r < op->count; r++) {
    op->rhs[r] = saltusi_row_dot(&op->rows, r, v) + op->rows.b[r];
  }
  for (int i = 0; i < j->count; i++) {
    memcpy(j->struck[i].before, op->rhs + op->first[i], (size_t)j->struck[i].rows * sizeof(double));
  }
  for (int r = 0; r < nj; r++) {
    op->rhs[r] = 0.0; /* velocity errors of joints belong to the step */
  }
  saltusi_operator_form(op, eval, &j->mass);
  saltus_status status = saltusi_operator_solve_by(op, eval, strike_island, j);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_apply(op, eval, v);
  for (int i = 0; i < j->count; i++) {
    saltusi_impact_step_result* s = &j->struck[i];
    for (int k = 0; k < s->rows; k++) {
      int r = op->first[i] + k;
      s->P[k] = op->P[r];
      s->after[k] = saltusi_row_dot(&op->rows, r, v) + op->rows.b[r];
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_impact_step_start(saltusi_impact_step* jump, const saltusi_step* step) {
  assert(jump != NULL && step != NULL);
  saltusi_eval* eval = step->eval;
  const saltus_system* sys = &eval->sys;
  saltusi_operator* op = &jump->op;
  saltus_point at = saltusi_at(eval, step->t, step->q0, step->v0);
  jump->count = 0;
  jump->log = step->log;
  saltus_status status = saltusi_contacts(sys, &at, &jump->list);
  if (status != SALTUS_OK || jump->list.count == 0) {
    return status;
  }
  status = saltusi_linear_assemble(eval, &jump->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(eval, &at, jump->force);
  saltusi_linear_solve(eval, &jump->mass, jump->force);
  double size = saltusi_larger(1.0, saltusi_max_abs(sys->dims.nq, step->q0));
  double rounding = 16.0 * DBL_EPSILON * size;
  double h = jump->ahead * step->h;
  double slow = resting * saltusi_max_abs(sys->dims.nv, step->v0);
  double most = step->h * saltusi_max_abs(sys->dims.nv, jump->force);
  bool any = false;
  saltusi_operator_begin(op, sys->dims.nj);
  for (int i = 0; i < jump->list.count; i++) {
    const saltus_contact_law* law = &sys->laws[jump->list.law[i]];
    int row =
        saltusi_operator_look(op, sys, &at, jump->list.key[i], saltusi_operator_rows(op, law));
    double u = saltusi_row_dot(&op->rows, row, step->v0) + op->rows.b[row];
    double pushed = h * saltusi_row_size(&op->rows, row, jump->force);
    double gap = jump->list.gap[i];
    if (gap + h * (fmin(u, 0.0) - pushed) > rounding) {
      continue;
    }
    any = any || (jump->ahead > 1 ? saltusi_is_impact(u, pushed / jump->ahead, most)
                                  : u < -(slow + small_part * pushed));
    take(jump, sys, jump->list.key[i], jump->list.law[i], gap);
  }
  if (!any) {
    jump->count = 0;
    return SALTUS_OK;
  }
  saltusi_rows_joints(sys, &at, &op->rows);
  memcpy(jump->v, step->v0, (size_t)sys->dims.nv * sizeof(double));
  return strike(jump, eval, jump->v);
}

saltus_status saltusi_impact_step_apply(saltusi_impact_step* jump, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* v) {
  assert(jump != NULL && eval != NULL && at != NULL && count >= 0);
  const saltus_system* sys = &eval->sys;
  saltus_status status = saltusi_contacts(sys, at, &jump->list);
  jump->count = 0;
  if (status == SALTUS_OK) {
    status = saltusi_linear_assemble(eval, &jump->mass, at, 1.0, 0.0, 0.0);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_operator_begin(&jump->op, sys->dims.nj);
  saltusi_rows_joints(sys, at, &jump->op.rows);
  for (int i = 0; i < jump->list.count; i++) {
    int k = 0;
    while (k < count && keys[k] != jump->list.key[i]) {
      k++;
    }
    if (k < count) {
      int rows = saltusi_operator_rows(&jump->op, &sys->laws[jump->list.law[i]]);
      saltusi_operator_look(&jump->op, sys, at, jump->list.key[i], rows);
      take(jump, sys, jump->list.key[i], jump->list.law[i], jump->list.gap[i]);
    }
  }
  return strike(jump, eval, v);
}

/* ---- report ------------------------------------------------------------------------------------ */

/* The contact of a report with this key; appended when there is none. */
static saltus_contact_step* find(const saltusi_step* step, const saltusi_impact_step_result* s) {
  saltus_step_report* report = step->report;
  for (int i = 0; i < report->active; i++) {
    if (step->contacts[i].key == s->key) {
      return &step->contacts[i];
    }
  }
  saltus_contact_step* c = &step->contacts[report->active++];
  saltusi_contact_open(c, s->key, s->law, s->gap);
  c->u_after = s->after[0];
  memcpy(c->slip_after, s->after + 1, sizeof c->slip_after);
  return c;
}

void saltusi_impact_step_remark(const saltusi_impact_step* jump, const saltusi_step* step) {
  assert(jump != NULL && step != NULL);
  step->report->of_law = jump->replaced >= 0 ? jump->of_law : 0.0;
  for (int i = 0; jump->replaced >= 0 && i < step->report->active; i++) {
    step->contacts[i].replaced = step->contacts[i].key == jump->replaced;
  }
}

void saltusi_impact_step_report(const saltusi_impact_step* jump, const saltusi_step* step) {
  assert(jump != NULL && step != NULL);
  for (int j = 0; jump->count > 0 && j < step->eval->sys.dims.nj; j++) {
    step->joint_impulses[j] += jump->op.P[j];
  }
  for (int i = 0; i < jump->count; i++) {
    const saltusi_impact_step_result* s = &jump->struck[i];
    if (!(s->P[0] > 0.0)) {
      continue;
    }
    saltus_contact_step* c = find(step, s);
    c->impact = true;
    c->u_before = s->before[0];
    memcpy(c->slip_before, s->before + 1, sizeof c->slip_before);
    for (int k = 0; k < s->rows; k++) {
      c->impulse[k] += s->P[k];
    }
  }
}
