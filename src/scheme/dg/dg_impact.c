/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_impact.c - which contacts take part in a time-discontinuous Galerkin step, and the impulses at
 * its end (docs/theory/time-dg.md, 2.3).
 *
 *   held      closed_j, or g_j(q) <= tol (acceleration closure: and U_j(v) <= tol)
 *   fresh     g_j(q_1) <= tol and not held; restitution only where g_j(q) > tol (P2)
 *   impact    0 <= p  perp  G_1 v_1 + b + e U_j^- >= 0,   U^- = G_1 V_M + b of D1-, G_1 v + b of D1+
 *   closed_j  a held or fresh contact with |G_1 v_1 + b| <= tol
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <string.h>

static double row_velocity(const saltusi_dg* w, int node, int row, const double* v) {
  return saltusi_dg_dot(w, node, row, v) + w->at.b[node * w->row_max + row];
}

static void add(saltusi_dg* w, const saltusi_step* s, saltusi_dg_item item) {
  const saltus_system* sys = &s->eval->sys;
  if (!item.joint) {
    const saltus_contact_law* law = &sys->laws[item.law];
    item.tangents = law->mu > 0.0 ? law->tangents : 0;
    item.mu = law->mu;
    item.e_N = item.bounces ? law->e_N : 0.0;
    item.e_T = item.bounces ? law->e_T : 0.0;
    w->item_of[item.key] = w->touching;
  }
  item.row = w->rows;
  int rows = saltusi_dg_item_rows(&item);
  assert(w->rows + rows <= w->row_max && w->touching < w->item_max);
  w->items[w->touching++] = item;
  w->rows += rows;
}

/* Joints and active contacts of a step that starts with the velocity v. */
static saltus_status hold(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s,
                          const double* v) {
  const saltus_system* sys = &s->eval->sys;
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, v);
  w->touching = 0;
  w->rows = 0;
  for (int j = 0; j < sys->dims.nj; j++) {
    add(w, s, (saltusi_dg_item){.key = j, .joint = true});
  }
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  for (int k = 0; k < sys->dims.nc; k++) {
    w->start_gap[k] = INFINITY;
    w->item_of[k] = -1;
  }
  for (int i = 0; i < w->list.count && status == SALTUS_OK; i++) {
    int key = w->list.key[i];
    double gap = w->list.gap[i];
    w->start_gap[key] = gap;
    bool touches = gap <= o->gap_tol;
    if (!w->closed[key] && !touches) {
      continue;
    }
    add(w, s, (saltusi_dg_item){.key = key, .law = w->list.law[i], .gap = gap});
    const saltusi_dg_item* item = &w->items[w->touching - 1];
    saltusi_dg_rows(w, sys, &at, 0, item);
    double u = row_velocity(w, 0, item->row, v);
    bool leaves = u > o->velocity_tol * w->size;
    if (w->closure == SALTUS_DG_ACCELERATION && !w->closed[key] && leaves) {
      w->touching--;
      w->rows = item->row;
      w->item_of[key] = -1;
    }
  }
  w->held = w->touching;
  w->held_rows = w->rows;
  return status;
}

/* Assembles W and the right-hand side of a velocity law at a node, for the first rows. */
static void write_impact(saltusi_dg* w, int nv, int node, const double* v, double h) {
  bool large = saltusi_dg_is_large(w);
  for (int r = 0; r < w->rows; r++) {
    w->W_rhs[r] = row_velocity(w, node, r, v);
    for (int c = 0; c < w->rows && !large; c++) {
      double* entry = &w->W[r * w->rows + c];
      *entry = saltusi_dg_dot(w, node, r, saltusi_dg_response(w, nv, node, c));
      if (node == 0 || !w->newton.active || !w->table.plus) {
        continue;
      }
      const double* x = w->newton.feedback + (size_t)c * (size_t)(w->nodes * nv);
      for (int m = 0; m < w->nodes; m++) {
        *entry += h * w->table.beta[m] * saltusi_dg_dot(w, node, r, x + (size_t)m * (size_t)nv);
      }
    }
  }
}

/* With more supports than degrees of freedom W is singular, and rows that are consistent in exact arithmetic differ by
 * rounding. A shift of the diagonal selects the smallest p; its relative error does not matter in a correction of the
 * size of the local error of the step. */
static const double shift = 1e-10;

saltus_status saltusi_dg_solve_planar(saltusi_dg* w, saltusi_planar_problem* problem, bool softens,
                                      double* P) {
  assert(w != NULL && problem != NULL && P != NULL);
  if (saltusi_planar_solve(&w->planar, problem, P) == SALTUSI_MIXED_SOLVED) {
    return SALTUS_OK;
  }
  size_t n = (size_t)problem->rows;
  if (!isfinite(saltusi_max_abs(problem->rows, problem->rhs))) {
    return SALTUS_RETRY_NAN;
  }
  if (!softens) {
    return SALTUS_RETRY_SMALLER;
  }
  memmove(w->D, problem->W, n * n * sizeof(double));
  for (size_t r = 0; r < n; r++) {
    w->D[r * (n + 1)] *= 1.0 + shift;
  }
  problem->W = w->D;
  memset(P, 0, n * sizeof(double));
  bool solved = saltusi_planar_solve(&w->planar, problem, P) == SALTUSI_MIXED_SOLVED;
  return solved ? SALTUS_OK : SALTUS_RETRY_SMALLER;
}

/* softens: supports are linearly dependent. */
static saltus_status solve_impact(saltusi_dg* w, const saltusi_step* s, int node, int items,
                                  bool softens) {
  saltusi_planar_problem problem = {
      .items = items, .item = w->law_items, .rows = w->rows, .W = w->W, .rhs = w->W_rhs};
  saltusi_dg_count(w, s->eval, items);
  s->eval->work.contact_solves++;
  memset(w->W_z, 0, (size_t)w->rows * sizeof(double));
  if (saltusi_dg_is_large(w)) {
    return saltusi_dg_large_impact(w, s, node, items, softens, w->W_z);
  }
  saltus_status status = saltusi_dg_solve_planar(w, &problem, softens, w->W_z);
  s->eval->dependent |= saltusi_planar_dependent(&w->planar);
  if (status == SALTUS_OK) {
    w->residual = fmax(w->residual, saltusi_planar_residual(&problem, w->W_z));
  }
  return status;
}

/* x += M^-1 G W_z at a stage */
static void add_impulses(saltusi_dg* w, const saltusi_eval* eval, int node, double* x) {
  int nv = eval->sys.dims.nv;
  if (saltusi_dg_is_large(w)) {
    saltusi_dg_push(w, eval, node, w->rows, w->W_z, w->sums);
    saltusi_add_scaled(nv, 1.0, w->sums, x);
    return;
  }
  for (int r = 0; r < w->rows; r++) {
    saltusi_add_scaled(nv, w->W_z[r], saltusi_dg_response(w, nv, node, r), x);
  }
}

void saltusi_dg_law_items(saltusi_dg* w, int items) {
  assert(w != NULL && items >= 0 && items <= w->touching);
  for (int i = 0; i < items; i++) {
    const saltusi_dg_item* item = &w->items[i];
    w->law_items[i] = (saltusi_planar_item){
        .row = item->row, .bilateral = item->joint, .tangents = item->tangents, .mu = item->mu};
  }
}

/* Impulses and velocities of the impact at the start, by key. */
static void keep_start(saltusi_dg* w, const saltusi_step* s) {
  add_impulses(w, s->eval, 0, w->v_start);
  for (int i = 0; i < w->held; i++) {
    const saltusi_dg_item* item = &w->items[i];
    if (item->joint) {
      w->start_joint[item->key] = w->W_z[item->row];
      continue;
    }
    saltusi_dg_start* start = &w->start[item->key];
    *start = (saltusi_dg_start){.law = item->law, .gap = item->gap};
    for (int part = 0; part < saltusi_dg_item_rows(item); part++) {
      start->impulse[part] = w->W_z[item->row + part];
      start->u_before[part] = row_velocity(w, 0, item->row + part, s->v0);
      start->u_after[part] = row_velocity(w, 0, item->row + part, w->v_start);
    }
  }
}

saltus_status saltusi_dg_begin(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  memcpy(w->v_start, s->v0, (size_t)nv * sizeof(double));
  memset(w->start, 0, (size_t)sys->dims.nc * sizeof *w->start);
  memset(w->start_joint, 0, (size_t)sys->dims.nj * sizeof(double));
  saltus_status status = hold(w, o, s, s->v0);
  bool hits = false;
  for (int i = sys->dims.nj; i < w->held && status == SALTUS_OK; i++) {
    double u = row_velocity(w, 0, w->items[i].row, s->v0);
    hits = hits || u < -o->velocity_tol * w->size;
  }
  if (!hits) {
    return status;
  }
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  for (int j = 0; j < sys->dims.nj; j++) {
    saltusi_dg_rows(w, sys, &at, 0, &w->items[j]);
  }
  status = saltusi_dg_is_large(w) ? SALTUS_OK : saltusi_dg_respond(w, s->eval, 0, w->rows);
  if (status != SALTUS_OK) {
    return status;
  }
  write_impact(w, nv, 0, s->v0, s->h);
  for (int i = sys->dims.nj; i < w->held; i++) {
    const saltusi_dg_item* item = &w->items[i];
    const saltus_contact_law* law = &sys->laws[item->law];
    bool approaches = w->W_rhs[item->row] < -o->velocity_tol * w->size;
    w->W_rhs[item->row] *= approaches ? 1.0 + law->e_N : 1.0;
    for (int k = 1; approaches && k <= item->tangents; k++) {
      w->W_rhs[item->row + k] *= 1.0 + law->e_T;
    }
  }
  saltusi_dg_law_items(w, w->held);
  status = solve_impact(w, s, 0, w->held, false);
  if (status == SALTUS_OK) {
    keep_start(w, s);
    status = hold(w, o, s, w->v_start); /* some open now */
  }
  return status;
}

static bool is_held(const saltusi_dg* w, int key) {
  return w->item_of[key] >= 0 && w->item_of[key] < w->held;
}

saltus_status saltusi_dg_touch(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  size_t last = (size_t)w->nodes - 1;
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, w->Q + last * (size_t)sys->dims.nq,
                                     w->V + last * (size_t)sys->dims.nv);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  for (int i = w->held; i < w->touching; i++) {
    w->item_of[w->items[i].key] = -1;
  }
  w->touching = w->held;
  w->rows = w->held_rows;
  const bool at_end = o->impulses == SALTUS_DG_IMPULSES_END;
  for (int i = 0; i < w->list.count && at_end && status == SALTUS_OK; i++) {
    int key = w->list.key[i];
    if (!(w->list.gap[i] <= o->gap_tol) || is_held(w, key)) {
      continue;
    }
    add(w, s,
        (saltusi_dg_item){.key = key,
                          .law = w->list.law[i],
                          .gap = w->start_gap[key],
                          .fresh = true,
                          .bounces = w->start_gap[key] > o->gap_tol});
  }
  w->impulsive = w->touching > w->held;
  return status;
}

/* Restitution refers to the last velocity before the impact: the stage V_M for D1-, v for D1+, which has no later
 * stage. */
static void restitute(saltusi_dg* w, int nv) {
  int last = w->nodes - 1;
  const double* before = w->table.plus ? w->v_start : w->V + (size_t)last * (size_t)nv;
  for (int i = w->held; i < w->touching; i++) {
    saltusi_dg_item* item = &w->items[i];
    item->u_before[0] = row_velocity(w, last, item->row, before);
    w->W_rhs[item->row] += item->e_N * fmin(item->u_before[0], 0.0);
    for (int k = 1; k <= item->tangents; k++) {
      item->u_before[k] = row_velocity(w, last, item->row + k, before);
      w->W_rhs[item->row + k] += item->e_T * item->u_before[k];
    }
  }
}

/* Acceleration closure without impact: contacts with a force at the end keep U = 0 for either sign
 * of the correction; otherwise they would open and close every other step (P1). */
static void keep_pressing(saltusi_dg* w) {
  for (int i = 0; i < w->held; i++) {
    const saltusi_dg_item* item = &w->items[i];
    bool presses = w->r[(w->nodes - 1) * w->row_max + item->row] > 0.0;
    w->law_items[i].bilateral = item->joint || presses;
    w->law_items[i].tangents = 0;
  }
}

/* Removes the response to the old impulse, which the stage accelerations include already. */
static void take_old_impulse(saltusi_dg* w, int nv) {
  int last = w->nodes - 1;
  for (int r = 0; r < w->rows; r++) {
    for (int c = 0; c < w->rows; c++) {
      const double* z = saltusi_dg_response(w, nv, last, c);
      w->W_rhs[r] -= (w->W[r * w->rows + c] - saltusi_dg_dot(w, last, r, z)) * w->p[c];
    }
  }
}

saltus_status saltusi_dg_impact(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  int nv = s->eval->sys.dims.nv;
  int last = w->nodes - 1;
  bool corrects = w->closure == SALTUS_DG_ACCELERATION && w->held > 0;
  bool feeds = w->newton.active && w->table.plus;
  memcpy(w->v_end, w->v_start, (size_t)nv * sizeof(double));
  for (int k = 0; k < w->nodes; k++) {
    saltusi_add_scaled(nv, s->h * w->table.beta[k], w->a_next + (size_t)k * (size_t)nv, w->v_end);
  }
  memset(w->change, 0, (size_t)nv * sizeof(double)); /* becomes the new jump */
  if (w->impulsive || corrects) {
    write_impact(w, nv, last, w->v_end, s->h);
    if (feeds) {
      take_old_impulse(w, nv);
    }
    saltusi_dg_law_items(w, w->touching);
    restitute(w, nv);
    if (!w->impulsive) {
      keep_pressing(w);
    }
    saltus_status status = solve_impact(w, s, last, w->touching, !w->impulsive);
    if (status != SALTUS_OK) {
      return status;
    }
    add_impulses(w, s->eval, last, w->change);
    for (int r = 0; r < w->rows; r++) {
      for (int m = 0; m < w->nodes && feeds; m++) {
        const double* x =
            w->newton.feedback + (size_t)r * (size_t)(w->nodes * nv) + (size_t)m * (size_t)nv;
        double more = w->W_z[r] - w->p[r];
        saltusi_add_scaled(nv, more, x, w->a_next + (size_t)m * (size_t)nv);
        saltusi_add_scaled(nv, s->h * w->table.beta[m] * more, x, w->v_end);
      }
    }
    saltusi_add_scaled(nv, 1.0, w->change, w->v_end);
    memcpy(w->p, w->W_z, (size_t)w->rows * sizeof(double));
  } else {
    memset(w->p, 0, (size_t)w->row_max * sizeof(double));
  }
  return SALTUS_OK;
}

static void report(const saltusi_dg* w, const saltusi_step* s, const saltusi_dg_item* item,
                   saltus_contact_step* contact) {
  int last = w->nodes - 1;
  *contact = (saltus_contact_step){.key = item->key, .law = item->law, .gap = item->gap};
  bool held = !item->fresh;
  double at_start = held ? row_velocity(w, 0, item->row, w->v_start) : item->u_before[0];
  contact->u_before = at_start;
  contact->u_after = row_velocity(w, last, item->row, s->v1);
  for (int k = 1; k <= item->tangents; k++) {
    contact->slip_before[k - 1] =
        held ? row_velocity(w, 0, item->row + k, w->v_start) : item->u_before[k];
    contact->slip_after[k - 1] = row_velocity(w, last, item->row + k, s->v1);
  }
  for (int part = 0; part < saltusi_dg_item_rows(item); part++) {
    int row = item->row + part;
    double lasting = 0.0;
    for (int k = 0; k < w->nodes && held; k++) {
      lasting += s->h * w->table.beta[k] * w->r[k * w->row_max + row];
    }
    double sudden = w->impulsive ? w->p[row] : 0.0;
    lasting += w->impulsive ? 0.0 : w->p[row];
    const saltusi_dg_start* start = &w->start[item->key];
    if (start->impulse[0] > 0.0) {
      sudden += start->impulse[part];
      contact->u_before = start->u_before[0];
      memcpy(contact->slip_before, start->u_before + 1, sizeof contact->slip_before);
    }
    contact->impulse[part] = lasting + sudden;
    contact->lasting[part] = lasting;
    /* a contact that opens at the start of the step and is stopped before its end has no impact */
    contact->impact = contact->impact || (part == 0 && sudden > 0.0 && contact->u_before < 0.0);
  }
}

/* Contacts with an impact at the start that are not active in the rest of the step. */
static void report_gone(const saltusi_dg* w, const saltusi_step* s) {
  for (int key = 0; key < s->eval->sys.dims.nc; key++) {
    const saltusi_dg_start* start = &w->start[key];
    if (start->impulse[0] > 0.0 && w->item_of[key] < 0) {
      s->contacts[s->report->active++] = (saltus_contact_step){
          .key = key,
          .law = start->law,
          .gap = start->gap,
          .u_before = start->u_before[0],
          .u_after = start->u_after[0],
          .slip_before = {start->u_before[1], start->u_before[2]},
          .slip_after = {start->u_after[1], start->u_after[2]},
          .impulse = {start->impulse[0], start->impulse[1], start->impulse[2]},
          .impact = true};
    }
  }
}

void saltusi_dg_finish(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  int last = w->nodes - 1;
  double size = fmax(w->size, saltusi_max_abs(d->nv, s->v1));
  bool large = saltusi_dg_is_large(w);
  double lightest = large ? w->lightest : 0.0; /* largest response to an impulse */
  s->report->active = 0;
  memset(s->memory1, 0, saltusi_dg_memory(&s->eval->sys) * sizeof(double));
  for (int i = 0; i < w->touching; i++) {
    const saltusi_dg_item* item = &w->items[i];
    if (!large) {
      lightest = fmax(lightest, saltusi_dg_dot(w, last, item->row,
                                               saltusi_dg_response(w, d->nv, last, item->row)));
    }
    if (item->joint) {
      double sum = w->p[item->row] + w->start_joint[item->key];
      for (int k = 0; k < w->nodes; k++) {
        sum += s->h * w->table.beta[k] * w->r[k * w->row_max + item->row];
      }
      s->joint_impulses[item->key] = sum;
      continue;
    }
    saltus_contact_step* contact = &s->contacts[s->report->active++];
    report(w, s, item, contact);
    s->memory1[item->key] = fabs(contact->u_after) <= o->velocity_tol * size ? 1.0 : 0.0;
  }
  report_gone(w, s);
  s->memory1[d->nc + SALTUSI_DG_STIFF] = w->newton.active && w->newton.stiff ? 1.0 : 0.0;
  s->report->residual_velocity = w->residual;
  s->report->residual_impulse = lightest > 0.0 ? w->residual / lightest : 0.0;
}
