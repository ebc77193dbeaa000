/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_law.c - the contact law at the stages of a time-discontinuous Galerkin step: see dg.h.
 *
 *   u_i = rhs_i + sum_k D_ik r_k,    one block for each pair i and stage k
 *   D_ik = weight_i[k] G_place(i)^T M_k^-1 G_k
 *
 * D1-: the pairs are solved one after the other from the last stage to the first, the end last. For M = 1 and 2 D is
 * block triangular in this order and one pass is exact; for M = 3 and 4 a pass reduces the error by 0.10 and 0.24
 * (docs/theory/time-dg.md, 2.4). For the velocity law of D1+ this iteration diverges (same section): all pairs are one
 * problem for Lemke's method.
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <float.h>
#include <string.h>

static void copy_weights(const double* from, int n, double* to) {
  memcpy(to, from, (size_t)n * sizeof(double));
}

static saltusi_dg_pair make_pair(const saltusi_dg* w, int k) {
  const saltusi_dg_tableau* table = &w->table;
  int M = table->degree;
  bool end = k == M;
  int next = end ? M : k + 1;
  saltusi_dg_pair pair = {.level = w->closure};
  if (table->plus) {
    pair.tangent_place = k;
    copy_weights(table->velocities[k], w->nodes, pair.tangent);
  } else {
    pair.tangent_place = next;
    copy_weights(end ? table->beta : table->velocities[next], w->nodes, pair.tangent);
  }
  if (w->closure == SALTUS_DG_ACCELERATION) {
    pair.place = k;
    pair.normal[k] = 1.0;
    return pair;
  }
  pair.place = pair.tangent_place;
  copy_weights(pair.tangent, w->nodes, pair.normal);
  pair.level = SALTUS_DG_VELOCITY;
  if (w->closure == SALTUS_DG_POSITION && !end) {
    pair.level = SALTUS_DG_POSITION;
    copy_weights(table->squares[next], w->nodes, pair.normal);
  }
  return pair;
}

void saltusi_dg_pairs(saltusi_dg* w) {
  assert(w != NULL);
  int M = w->table.degree;
  for (int k = 0; k <= M; k++) {
    w->pair[k] = make_pair(w, k);
    w->order[k] = k < M ? M - 1 - k : M;
  }
}

double saltusi_dg_constant(const saltusi_dg* w, const saltusi_step* s, const saltusi_dg_pair* pair,
                           int item, int part) {
  assert(w != NULL && s != NULL && pair != NULL && item >= 0 && item < w->held && part >= 0);
  const saltusi_dg_item* it = &w->items[item];
  bool normal = part == 0;
  int row = it->row + part;
  int place = normal ? pair->place : pair->tangent_place;
  int level = normal ? pair->level : SALTUS_DG_VELOCITY;
  int at = place * w->row_max + row;
  int nv = s->eval->sys.dims.nv;
  if (level == SALTUS_DG_ACCELERATION) {
    return w->at.c[at];
  }
  if (level == SALTUS_DG_VELOCITY) {
    return (saltusi_row_dot(&w->at, at, w->v_start) + w->at.b[at]) / s->h;
  }
  /* Newton's linearization of the gap; an initial penetration stays */
  double gap = w->gap[place * w->item_max + item] - (it->joint ? 0.0 : fmin(it->gap, 0.0));
  double rest = gap / (s->h * s->h);
  for (int m = 0; m < w->nodes; m++) {
    if (pair->normal[m] != 0.0) {
      rest -= pair->normal[m] * saltusi_row_dot(&w->at, at, w->a + (size_t)m * (size_t)nv);
    }
  }
  return rest;
}

/* G_row . the acceleration of stage m due to the force of (stage k, row r), weighted. */
static double entry(const saltusi_dg* w, int nv, int at, const double* weights, int k, int r) {
  if (!w->newton.active) {
    if (weights[k] == 0.0) {
      return 0.0;
    }
    return weights[k] * saltusi_row_dot(&w->at, at, saltusi_dg_response(w, nv, k, r));
  }
  const double* x = w->newton.response + (size_t)(k * w->dense_rows + r) * (size_t)(w->nodes * nv);
  double sum = 0.0;
  for (int m = 0; m < w->nodes; m++) {
    if (weights[m] != 0.0) {
      sum += weights[m] * saltusi_row_dot(&w->at, at, x + (size_t)m * (size_t)nv);
    }
  }
  return sum;
}

static void write_row(saltusi_dg* w, const saltusi_step* s, int pairs, int i, int item) {
  const saltusi_dg_pair* pair = &w->pair[i];
  int nv = s->eval->sys.dims.nv;
  int n = pairs * w->held_rows;
  for (int part = 0; part < saltusi_dg_item_rows(&w->items[item]); part++) {
    bool normal = part == 0;
    const double* weights = normal ? pair->normal : pair->tangent;
    int row = w->items[item].row + part;
    int at = (normal ? pair->place : pair->tangent_place) * w->row_max + row;
    int into = i * w->held_rows + row;
    double sum = saltusi_dg_constant(w, s, pair, item, part);
    for (int m = 0; m < w->nodes; m++) {
      if (weights[m] != 0.0) {
        sum += weights[m] * saltusi_row_dot(&w->at, at, w->a_next + (size_t)m * (size_t)nv);
      }
    }
    w->rhs[into] = sum;
    for (int k = 0; k < pairs; k++) {
      for (int r = 0; r < w->held_rows; r++) {
        w->D[(size_t)into * (size_t)n + (size_t)(k * w->held_rows + r)] =
            entry(w, nv, at, weights, k, r);
      }
    }
  }
}

static void write_items(saltusi_dg* w, int pairs) {
  for (int i = 0; i < pairs; i++) {
    for (int k = 0; k < w->held; k++) {
      const saltusi_dg_item* item = &w->items[k];
      w->law_items[i * w->held + k] = (saltusi_planar_item){.row = i * w->held_rows + item->row,
                                                            .bilateral = item->joint,
                                                            .tangents = item->tangents,
                                                            .mu = item->mu};
    }
  }
}

/* One pair with the forces of the others fixed; false when it has no solution. */
static bool solve_pair(saltusi_dg* w, int pairs, int i, double* change) {
  int rows = w->held_rows;
  int n = pairs * rows;
  for (int r = 0; r < rows; r++) {
    size_t row = (size_t)i * (size_t)rows + (size_t)r;
    double sum = w->rhs[row];
    for (int j = 0; j < n; j++) {
      if (j / rows != i) {
        sum += w->D[row * (size_t)n + (size_t)j] * w->z[j];
      }
    }
    w->W_rhs[r] = sum;
    memcpy(w->W + (size_t)r * (size_t)rows, w->D + row * (size_t)n + (size_t)(i * rows),
           (size_t)rows * sizeof(double));
  }
  const saltusi_planar_problem problem = {
      .items = w->held, .item = w->law_items, .rows = rows, .W = w->W, .rhs = w->W_rhs};
  if (saltusi_planar_solve(&w->planar, &problem, w->W_z) != SALTUSI_MIXED_SOLVED) {
    return false;
  }
  for (int r = 0; r < rows; r++) {
    *change = fmax(*change, fabs(w->W_z[r] - w->z[i * rows + r]));
    w->z[i * rows + r] = w->W_z[r];
  }
  return true;
}

/* Whether no pair depends on a force that comes later in the order: one pass is exact. */
static bool triangular(const saltusi_dg* w, int pairs) {
  int rows = w->held_rows;
  int n = pairs * rows;
  for (int i = 0; i < pairs; i++) {
    for (int k = i + 1; k < pairs; k++) {
      const double* block =
          w->D + (size_t)(w->order[i] * rows) * (size_t)n + (size_t)(w->order[k] * rows);
      for (int r = 0; r < rows; r++) {
        if (saltusi_max_abs(rows, block + (size_t)r * (size_t)n) != 0.0) {
          return false;
        }
      }
    }
  }
  return true;
}

bool saltusi_dg_settled(double change, double before, double size) {
  assert(size >= 0.0);
  return change <= DBL_EPSILON * size ||
         (change >= 0.5 * before && change <= 64.0 * DBL_EPSILON * size);
}

static bool solve_blockwise(saltusi_dg* w, int pairs) {
  bool once = triangular(w, pairs);
  double before = INFINITY;
  for (int pass = 0; pass < SALTUSI_DG_PASSES; pass++) {
    double change = 0.0;
    for (int i = 0; i < pairs; i++) {
      if (!solve_pair(w, pairs, w->order[i], &change)) {
        return false;
      }
    }
    double size = saltusi_max_abs(pairs * w->held_rows, w->z);
    if (once || saltusi_dg_settled(change, before, size)) {
      return true;
    }
    before = change;
  }
  return false;
}

bool saltusi_dg_rubs(const saltusi_dg* w) {
  assert(w != NULL);
  for (int i = 0; i < w->held; i++) {
    if (w->items[i].tangents > 0) {
      return true;
    }
  }
  return false;
}

/* Blockwise iteration over the stages does not converge for the velocity law of D1+. */
static bool blocks_suffice(const saltusi_dg* w) {
  return !w->table.plus ||
         (!saltusi_dg_rubs(w) && w->closure == SALTUS_DG_ACCELERATION && !w->newton.active);
}

static void add_forces(saltusi_dg* w, int nv, int pairs) {
  for (int k = 0; k < pairs; k++) {
    for (int r = 0; r < w->held_rows; r++) {
      double force = w->r[k * w->row_max + r];
      if (force == 0.0) {
        continue;
      }
      if (w->newton.active) {
        int n = w->nodes * nv;
        size_t row = (size_t)k * (size_t)w->dense_rows + (size_t)r;
        saltusi_add_scaled(n, force, w->newton.response + row * (size_t)n, w->a_next);
      } else {
        saltusi_add_scaled(nv, force, saltusi_dg_response(w, nv, k, r),
                           w->a_next + (size_t)k * (size_t)nv);
      }
    }
  }
}

saltus_status saltusi_dg_stage_law(saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  if (w->held == 0) {
    memset(w->r, 0, (size_t)w->nodes * (size_t)w->row_max * sizeof(double));
    return SALTUS_OK;
  }
  /* r_M and p act on the same velocity: one of them (docs/theory/time-dg.md, 2.3) */
  bool drops_end = w->impulsive && w->closure != SALTUS_DG_ACCELERATION;
  int pairs = drops_end ? w->nodes - 1 : w->nodes;
  int n = pairs * w->held_rows;
  if (saltusi_dg_is_large(w)) {
    return saltusi_dg_large_law(w, s, pairs, blocks_suffice(w));
  }
  for (int i = 0; i < pairs; i++) {
    for (int item = 0; item < w->held; item++) {
      write_row(w, s, pairs, i, item);
    }
    memcpy(w->z + (size_t)(i * w->held_rows), w->r + (size_t)(i * w->row_max),
           (size_t)w->held_rows * sizeof(double));
  }
  write_items(w, pairs);
  saltusi_dg_count(w, s->eval, w->held);
  s->eval->work.contact_solves++;
  const saltusi_planar_problem whole = {
      .items = pairs * w->held, .item = w->law_items, .rows = n, .W = w->D, .rhs = w->rhs};
  bool solved = blocks_suffice(w) && solve_blockwise(w, pairs);
  if (!solved) {
    if (saltusi_planar_solve(&w->planar, &whole, w->z) != SALTUSI_MIXED_SOLVED) {
      bool numbers = isfinite(saltusi_max_abs(n, w->rhs));
      return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
    }
  }
  s->eval->dependent |= saltusi_planar_dependent(&w->planar);
  w->residual = s->h * saltusi_planar_residual(&whole, w->z);
  memset(w->r, 0, (size_t)w->nodes * (size_t)w->row_max * sizeof(double));
  for (int i = 0; i < pairs; i++) {
    memcpy(w->r + (size_t)(i * w->row_max), w->z + (size_t)(i * w->held_rows),
           (size_t)w->held_rows * sizeof(double));
  }
  add_forces(w, s->eval->sys.dims.nv, pairs);
  return SALTUS_OK;
}
