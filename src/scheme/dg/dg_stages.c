/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_stages.c - the stages of a time-discontinuous Galerkin step: see dg.h.
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Q_l from the rates of all stages. */
static void place(saltusi_dg* w, const saltusi_step* s, int l) {
  int nq = s->eval->sys.dims.nq;
  double* Q = w->Q + (size_t)l * (size_t)nq;
  memcpy(Q, s->q0, (size_t)nq * sizeof(double));
  for (int k = 0; k < w->nodes; k++) {
    double part = w->table.positions[l][k];
    if (part != 0.0) {
      saltusi_add_scaled(nq, s->h * part, w->rates + (size_t)k * (size_t)nq, Q);
    }
  }
}

/* Rates and positions of the stages with maps: fixed-point iteration on the rates. It contracts
 * with the rotation in a step; where it does not, the outer iteration does not either. */
static void turn(saltusi_dg* w, const saltusi_step* s) {
  enum { SWEEPS_MAX = 50 };
  const saltus_system* sys = &s->eval->sys;
  size_t nq = (size_t)sys->dims.nq;
  double last = INFINITY;
  for (int k = 0; k < SWEEPS_MAX; k++) {
    double change = 0.0;
    double size = 0.0;
    for (int l = 0; l < w->nodes; l++) {
      double* rate = w->rates + (size_t)l * nq;
      double* Q = w->Q + (size_t)l * nq;
      place(w, s, l);
      saltusi_rate(sys, Q, w->V + (size_t)l * (size_t)sys->dims.nv, w->rate_next);
      for (size_t i = 0; i < nq; i++) {
        change = saltusi_larger(change, fabs(w->rate_next[i] - rate[i]));
        size = fmax(size, fabs(w->rate_next[i]));
        rate[i] = w->rate_next[i];
      }
    }
    if (change <= DBL_EPSILON * size || !(change < last)) {
      break;
    }
    last = change;
  }
  for (int l = 0; l < w->nodes; l++) {
    place(w, s, l);
    saltusi_normalise(sys, w->Q + (size_t)l * nq);
  }
}

void saltusi_dg_combine(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  int nv = s->eval->sys.dims.nv;
  const saltusi_dg_tableau* table = &w->table;
  for (int l = 0; l < w->nodes; l++) {
    double* V = w->V + (size_t)l * (size_t)nv;
    memcpy(V, w->v_start, (size_t)nv * sizeof(double));
    for (int k = 0; k < w->nodes; k++) {
      if (table->velocities[l][k] != 0.0) {
        saltusi_add_scaled(nv, s->h * table->velocities[l][k], w->a + (size_t)k * (size_t)nv, V);
      }
    }
    if (table->impulse[l] != 0.0) {
      saltusi_add_scaled(nv, table->impulse[l], w->jump, V);
    }
  }
  if (saltusi_has_maps(&s->eval->sys)) {
    turn(w, s);
    return;
  }
  for (int l = 0; l < w->nodes; l++) {
    place(w, s, l);
  }
}

void saltusi_dg_rows(saltusi_dg* w, const saltus_system* sys, const saltus_point* at, int node,
                     const saltusi_dg_item* item) {
  assert(w != NULL && sys != NULL && at != NULL && item != NULL);
  int row = node * w->row_max + item->row;
  if (item->joint) { /* rows of joints are in order: the first one evaluates all rows of its joint */
    const int joint = saltusi_joint_of(sys, item->key);
    if (saltusi_joint_first(sys, joint) == item->key) {
      saltusi_rows_joint(sys, at, joint, &w->at, row);
    }
  } else {
    saltusi_rows_contact(sys, at, item->key, saltusi_dg_item_rows(item), &w->at, row);
    saltusi_rows_check(sys, at, item->key, &w->at, row);
  }
}

saltus_status saltusi_dg_respond(saltusi_dg* w, saltusi_eval* eval, int node, int rows) {
  assert(w != NULL && eval != NULL);
  if (rows > w->dense_rows) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_UNKNOWNS,
                                  (size_t)rows * (size_t)w->nodes);
  }
  for (int r = 0; r < rows; r++) {
    saltusi_operator_response(&w->at, node * w->row_max + r, eval, saltusi_dg_mass(w, node),
                              saltusi_dg_response(w, eval->sys.dims.nv, node, r));
  }
  return SALTUS_OK;
}

double saltusi_dg_dot(const saltusi_dg* w, int node, int row, const double* x) {
  assert(w != NULL && row >= 0);
  return saltusi_row_dot(&w->at, node * w->row_max + row, x);
}

/* Gaps of the held items at a stage, for the position closure. */
static saltus_status stage_gaps(saltusi_dg* w, const saltus_system* sys, const saltus_point* at,
                                int node) {
  double* gap = w->gap + (size_t)node * (size_t)w->item_max;
  if (sys->dims.nj > 0) {
    sys->ops->joints(sys->self, at, w->joint_gap);
  }
  saltus_status status = saltusi_contacts(sys, at, &w->list);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < w->held; i++) {
    const saltusi_dg_item* item = &w->items[i];
    gap[i] = item->joint ? w->joint_gap[item->key] : item->gap;
  }
  for (int k = 0; k < w->list.count; k++) {
    int i = w->item_of[w->list.key[k]];
    if (i >= 0 && i < w->held) {
      gap[i] = w->list.gap[k];
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_dg_evaluate(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  int last = w->nodes - 1;
  /* Q_0 and V_0 of D1- are q and v, independent of the accelerations */
  int first = w->table.plus || w->fresh_start ? 0 : 1;
  w->fresh_start = false;
  for (int l = first; l < w->nodes; l++) {
    const saltus_point at =
        saltusi_at(s->eval, s->t + w->table.tau[l] * s->h, w->Q + (size_t)l * (size_t)sys->dims.nq,
                   w->V + (size_t)l * (size_t)nv);
    saltus_status status =
        saltusi_linear_assemble(s->eval, saltusi_dg_mass(w, l), &at, 1.0, 0.0, 0.0);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_force(s->eval, &at, w->force + (size_t)l * (size_t)nv);
    int items = l == last ? w->touching : w->held;
    for (int i = 0; i < items; i++) {
      saltusi_dg_rows(w, sys, &at, l, &w->items[i]);
    }
    if (!saltusi_dg_is_large(w)) {
      status = saltusi_dg_respond(w, s->eval, l, l == last ? w->rows : w->held_rows);
    }
    if (status == SALTUS_OK && w->closure == SALTUS_DG_POSITION && w->held > 0) {
      status = stage_gaps(w, sys, &at, l);
    }
    if (status != SALTUS_OK) {
      return status;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_dg_free(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  int nv = s->eval->sys.dims.nv;
  if (w->newton.active) {
    saltusi_dg_newton_free(w, s);
    return SALTUS_OK;
  }
  memcpy(w->a_next, w->force, (size_t)w->nodes * (size_t)nv * sizeof(double));
  for (int l = 0; l < w->nodes; l++) {
    saltusi_linear_solve(s->eval, saltusi_dg_mass(w, l), w->a_next + (size_t)l * (size_t)nv);
  }
  return SALTUS_OK;
}
