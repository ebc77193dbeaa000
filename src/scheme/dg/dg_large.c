/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_large.c - the laws of dg_law.c and dg_impact.c for many joints and contacts, on the operator: joints are
 * eliminated by sparse factors and islands of contacts are solved one by one.
 *
 *   stage k       b_k = M_k^-1 G_k r_k,     a_k = a_k without contact + b_k
 *   pair i        u_i = constant + H_i^T sum_m weight_i[m] a_m,      H_i = G at the place of the pair
 *                 solved for r_i with constant b of the other stages
 *
 * D, which couples all stages, is not formed. Pairs that cannot be solved one after the other (blocks_suffice in
 * dg_law.c) are one problem for each island (dg_coupled.c).
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void saltusi_dg_push(saltusi_dg* w, const saltusi_eval* eval, int node, int rows,
                     const double* force, double* x) {
  assert(w != NULL && eval != NULL && force != NULL && x != NULL);
  memset(x, 0, (size_t)eval->sys.dims.nv * sizeof(double));
  bool any = false;
  for (int r = 0; r < rows; r++) {
    if (force[r] != 0.0) {
      saltusi_row_add(&w->at, node * w->row_max + r, force[r], x);
      any = true;
    }
  }
  if (any) {
    saltusi_linear_solve(eval, saltusi_dg_mass(w, node), x);
  }
}

/* Writes a multiple of row r of a stage to row `into` of a block of the operator. */
static void copy_row(const saltusi_dg* w, int node, int r, double scale, saltusi_row_block* to,
                     int into) {
  size_t from_at = (size_t)(node * w->row_max + r) * (size_t)w->at.stride;
  size_t to_at = (size_t)into * (size_t)to->stride;
  int count = w->at.entries[node * w->row_max + r];
  to->entries[into] = count;
  memcpy(to->column + to_at, w->at.column + from_at, (size_t)count * sizeof(int));
  for (int k = 0; k < count; k++) {
    to->G[to_at + (size_t)k] = scale * w->at.G[from_at + (size_t)k];
  }
}

/* Makes the rows of the first items at a stage those of the operator. */
static void take_items(saltusi_dg* w, int node, int items, int joints) {
  saltusi_operator_begin(&w->op, joints);
  for (int i = 0; i < items; i++) {
    const saltusi_dg_item* item = &w->items[i];
    int rows = saltusi_dg_item_rows(item);
    for (int r = item->row; r < item->row + rows; r++) {
      copy_row(w, node, r, 1.0, &w->op.rows, r);
    }
    if (!item->joint) {
      w->op.looked = item->key;
      saltusi_operator_take(&w->op, rows, item->mu);
    }
  }
}

/* An island as a planar problem; w->law_items holds the law of each contact. */
static saltus_status solve_island(void* user, const saltusi_law_island* island) {
  saltusi_dg* w = user;
  if (island->rows > w->law_max) {
    return saltusi_capacity_lacks(&w->solving->room, SALTUSI_CAPACITY_UNKNOWNS,
                                  (size_t)island->rows);
  }
  for (int u = 0; u < island->units; u++) {
    int contact = island->contact[u];
    saltusi_planar_item* item = &w->island_items[u];
    *item = contact < 0 ? (saltusi_planar_item){.bilateral = true}
                        : w->law_items[w->solving->sys.dims.nj + contact];
    item->row = island->offset[u] - island->offset[0];
  }
  saltusi_planar_problem problem = {.items = island->units,
                                    .item = w->island_items,
                                    .rows = island->rows,
                                    .W = island->W,
                                    .rhs = island->rhs};
  saltus_status status = saltusi_dg_solve_planar(w, &problem, w->softens, island->P);
  if (status == SALTUS_OK) {
    w->solving->dependent |= saltusi_planar_dependent(&w->planar);
    w->island_residual = fmax(w->island_residual, saltusi_planar_residual(&problem, island->P));
  }
  return status;
}

/* P of the rows in the operator. */
static saltus_status solve(saltusi_dg* w, saltusi_eval* eval, bool softens) {
  w->solving = eval;
  w->softens = softens;
  w->island_residual = 0.0;
  saltus_status status = saltusi_operator_solve_by(&w->op, eval, solve_island, w);
  eval->work.contact_solves--; /* counted as one solve of the step */
  return status;
}

saltus_status saltusi_dg_form_stage(saltusi_dg* w, const saltusi_step* s, int node) {
  assert(w != NULL && s != NULL);
  take_items(w, node, w->held, s->eval->sys.dims.nj);
  saltusi_operator_form(&w->op, s->eval, saltusi_dg_mass(w, node));
  return w->op.status;
}

saltus_status saltusi_dg_form_chosen(saltusi_dg* w, const saltusi_step* s, int node) {
  assert(w != NULL && s != NULL);
  saltusi_operator_begin(&w->op, w->chosen_count);
  for (int j = 0; j < w->chosen_count; j++) {
    copy_row(w, node, w->chosen[j], 1.0, &w->op.rows, j);
  }
  saltusi_operator_form(&w->op, s->eval, saltusi_dg_mass(w, node));
  return w->op.status;
}

saltus_status saltusi_dg_hold_chosen(saltusi_dg* w, saltusi_eval* eval) {
  assert(w != NULL && eval != NULL);
  return solve(w, eval, false);
}

saltus_status saltusi_dg_large_impact(saltusi_dg* w, const saltusi_step* s, int node, int items,
                                      bool softens, double* P) {
  assert(w != NULL && s != NULL && P != NULL);
  saltusi_eval* eval = s->eval;
  take_items(w, node, items, eval->sys.dims.nj);
  saltusi_operator_form(&w->op, eval, saltusi_dg_mass(w, node));
  memcpy(w->op.rhs, w->W_rhs, (size_t)w->op.count * sizeof(double));
  saltus_status status = solve(w, eval, softens);
  if (status == SALTUS_OK) {
    memcpy(P, w->op.P, (size_t)w->op.count * sizeof(double));
    w->residual = fmax(w->residual, w->island_residual);
    w->lightest = saltusi_max_abs(w->op.count, w->op.diagonal);
  }
  return status;
}

/* Factor between the matrix of a pair and W of its stage: 0 when stage or level differ. */
static double common_factor(const saltusi_dg* w, int i, bool friction) {
  const saltusi_dg_pair* pair = &w->pair[i];
  bool same = pair->place == i && pair->normal[i] > 0.0 &&
              (!friction || (pair->tangent_place == i && pair->tangent[i] == pair->normal[i]));
  return same ? pair->normal[i] : 0.0;
}

/* sum_m weight[m] a_m without b_i */
static void combine(saltusi_dg* w, int nv, const double* weight, int i, double* x) {
  memset(x, 0, (size_t)nv * sizeof(double));
  for (int m = 0; m < w->nodes; m++) {
    if (weight[m] != 0.0) {
      saltusi_add_scaled(nv, weight[m], w->a_next + (size_t)m * (size_t)nv, x);
      if (m != i) {
        saltusi_add_scaled(nv, weight[m], w->pushed + (size_t)m * (size_t)nv, x);
      }
    }
  }
}

/* Rows and right-hand sides of pair i. */
static void write_pair(saltusi_dg* w, const saltusi_step* s, int i, bool friction) {
  const saltusi_dg_pair* pair = &w->pair[i];
  int nv = s->eval->sys.dims.nv;
  double* along = w->sums;
  double* across = w->sums + nv;
  double factor = common_factor(w, i, friction);
  take_items(w, i, w->held, s->eval->sys.dims.nj);
  w->op.apart = factor == 0.0;
  combine(w, nv, pair->normal, i, along);
  if (friction) {
    combine(w, nv, pair->tangent, i, across);
  }
  for (int k = 0; k < w->held; k++) {
    const saltusi_dg_item* item = &w->items[k];
    for (int part = 0; part < saltusi_dg_item_rows(item); part++) {
      bool normal = part == 0;
      int r = item->row + part;
      int place = normal ? pair->place : pair->tangent_place;
      double u = saltusi_dg_constant(w, s, pair, k, part) +
                 saltusi_dg_dot(w, place, r, normal ? along : across);
      w->op.rhs[r] = factor > 0.0 ? u / factor : u;
      if (w->op.apart) {
        copy_row(w, place, r, normal ? pair->normal[i] : pair->tangent[i], &w->op.measured, r);
      }
    }
  }
}

/* One pair with the forces of the others fixed. */
static saltus_status solve_pair(saltusi_dg* w, const saltusi_step* s, int i, bool friction,
                                double* change) {
  size_t nv = (size_t)s->eval->sys.dims.nv;
  double* r = w->r + (size_t)i * (size_t)w->row_max;
  write_pair(w, s, i, friction);
  saltusi_operator_form(&w->op, s->eval, saltusi_dg_mass(w, i));
  saltus_status status = solve(w, s->eval, false);
  if (status != SALTUS_OK) {
    return status;
  }
  double factor = common_factor(w, i, friction);
  double unit = factor > 0.0 ? factor : 1.0;
  w->stage_residual = fmax(w->stage_residual, unit * w->island_residual);
  for (int k = 0; k < w->held_rows; k++) {
    *change = saltusi_larger(*change, fabs(w->op.P[k] - r[k]));
    r[k] = w->op.P[k];
  }
  saltusi_dg_push(w, s->eval, i, w->held_rows, r, w->pushed + (size_t)i * nv);
  return SALTUS_OK;
}

/* Whether no pair depends on a force that comes later in the order: one pass is exact. */
static bool triangular(const saltusi_dg* w, int pairs) {
  for (int i = 0; i < pairs; i++) {
    const saltusi_dg_pair* pair = &w->pair[w->order[i]];
    for (int k = i + 1; k < pairs; k++) {
      if (pair->normal[w->order[k]] != 0.0 || pair->tangent[w->order[k]] != 0.0) {
        return false;
      }
    }
  }
  return true;
}

static saltus_status solve_blockwise(saltusi_dg* w, const saltusi_step* s, int pairs) {
  bool friction = saltusi_dg_rubs(w);
  bool once = triangular(w, pairs);
  double before = INFINITY;
  for (int pass = 0; pass < SALTUSI_DG_PASSES; pass++) {
    double change = 0.0;
    w->stage_residual = 0.0;
    for (int i = 0; i < pairs; i++) {
      saltus_status status = solve_pair(w, s, w->order[i], friction, &change);
      if (status != SALTUS_OK) {
        return status;
      }
    }
    double size = 0.0;
    for (int i = 0; i < pairs; i++) {
      const double* r = w->r + (size_t)i * (size_t)w->row_max;
      size = fmax(size, saltusi_max_abs(w->held_rows, r));
    }
    if (once || saltusi_dg_settled(change, before, size)) {
      return SALTUS_OK;
    }
    before = change;
  }
  return SALTUS_RETRY_SMALLER;
}

saltus_status saltusi_dg_large_law(saltusi_dg* w, const saltusi_step* s, int pairs, bool blocks) {
  assert(w != NULL && s != NULL && w->has_op);
  size_t nv = (size_t)s->eval->sys.dims.nv;
  for (int k = 0; k < w->nodes; k++) {
    double* r = w->r + (size_t)k * (size_t)w->row_max;
    if (k >= pairs) {
      memset(r, 0, (size_t)w->row_max * sizeof(double));
    }
    saltusi_dg_push(w, s->eval, k, w->held_rows, r, w->pushed + (size_t)k * nv);
  }
  saltusi_dg_law_items(w, w->held);
  s->eval->work.contact_solves++;
  saltus_status status = blocks ? solve_blockwise(w, s, pairs) : SALTUS_RETRY_SMALLER;
  if (status == SALTUS_RETRY_SMALLER) {
    status = saltusi_dg_coupled_law(w, s, pairs);
  }
  if (status != SALTUS_OK) {
    bool numbers = isfinite(saltusi_max_abs(w->nodes * (int)nv, w->a_next));
    return numbers || status < 0 ? status : SALTUS_RETRY_NAN;
  }
  w->residual = s->h * w->stage_residual;
  saltusi_add_scaled(w->nodes * (int)nv, 1.0, w->pushed, w->a_next);
  return SALTUS_OK;
}
