/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_coupled.c - simultaneous solution of all pairs, for many joints and contacts whose pairs cannot be solved one
 * after the other. In each island of them
 *
 *   u_i = rhs_i + sum_k D_ik r_k,     D_ik = weight_i[k] H_i^T M_k^-1 G_k
 *
 * is one dense problem for the law of planar.h. Many joints of an island are eliminated: their forces r_j follow from
 * those of the contacts, D_jj r_j + D_jc r_c + rhs_j = 0, which is solved by
 *
 *   r_j <- r_j - (weight^-1 x W^-1) (residual),       W = G^T M^-1 G of the joints at the last stage
 *
 * an iteration that contracts with the change of the rows within a step.
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Number of rows of all pairs of an island above which its joints are eliminated: dense factors of that size cost some
 * milliseconds. */
enum { DENSE_MOST = 200 };

/* Largest number of iterations; with a contraction factor above 1/2 the step size is reduced. */
enum { ITERATIONS = 60 };
static const double contracts = 0.5;

/* The current island. */
typedef struct whole {
  saltusi_dg* w;
  const saltusi_step* s;
  int pairs;
  int items;       /* in the dense problem */
  const int* item; /* [items] */
  int rows;        /* of one pair in it */
} whole;

static const double* weights_of(const saltusi_dg_pair* pair, bool normal) {
  return normal ? pair->normal : pair->tangent;
}

static int place_of(const saltusi_dg_pair* pair, bool normal) {
  return normal ? pair->place : pair->tangent_place;
}

static int rows_of(const saltusi_dg_item* item) {
  return saltusi_dg_item_rows(item);
}

/* sum_m weight[m] x_m over consecutive stages */
static void weigh(int nv, int stages, const double* weight, const double* x, double* sum) {
  memset(sum, 0, (size_t)nv * sizeof(double));
  for (int m = 0; m < stages; m++) {
    if (weight[m] != 0.0) {
      saltusi_add_scaled(nv, weight[m], x + (size_t)m * (size_t)nv, sum);
    }
  }
}

/* x = M_k^-1 G_row of a stage, with entries in w->reached only; returns their number. */
static int respond(saltusi_dg* w, const saltusi_eval* eval, int k, int row, double* x) {
  const saltusi_row_block* G = &w->at;
  int r = k * w->row_max + row;
  size_t at = (size_t)r * (size_t)G->stride;
  int count = saltusi_linear_solve_row(eval, saltusi_dg_mass(w, k), G->entries[r], G->column + at,
                                       G->G + at, w->reached, w->reached_values);
  for (int e = 0; e < count; e++) {
    x[w->reached[e]] = w->reached_values[e];
  }
  return count;
}

static void clear(const saltusi_dg* w, int count, double* x) {
  for (int e = 0; e < count; e++) {
    x[w->reached[e]] = 0.0;
  }
}

/* ---- joints that are eliminated ------------------------------------------------------------------ */

/* u += D r over the chosen joints; b_k of all stages are left in w->pushed. Both [pairs x chosen]. */
static void add_joints(const whole* h, const double* r, double* u) {
  saltusi_dg* w = h->w;
  int nv = h->s->eval->sys.dims.nv;
  for (int k = 0; k < h->pairs; k++) {
    double* x = w->pushed + (size_t)k * (size_t)nv;
    memset(x, 0, (size_t)nv * sizeof(double));
    for (int j = 0; j < w->chosen_count; j++) {
      saltusi_row_add(&w->at, k * w->row_max + w->chosen[j], r[k * w->chosen_count + j], x);
    }
    saltusi_linear_solve(h->s->eval, saltusi_dg_mass(w, k), x);
  }
  for (int i = 0; i < h->pairs; i++) {
    weigh(nv, h->pairs, w->pair[i].normal, w->pushed, w->sums);
    for (int j = 0; j < w->chosen_count; j++) {
      u[i * w->chosen_count + j] += saltusi_dg_dot(w, w->pair[i].place, w->chosen[j], w->sums);
    }
  }
}

/* r [pairs x chosen] with D r + b = 0, from zero; its accelerations are in w->pushed. */
static saltus_status solve_joints(const whole* h, const double* b, double* r) {
  saltusi_dg* w = h->w;
  int n = h->pairs * w->chosen_count;
  double* u = w->joint_u;
  double before = INFINITY;
  memset(r, 0, (size_t)n * sizeof(double));
  memcpy(u, b, (size_t)n * sizeof(double));
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    double change = 0.0;
    for (int k = 0; k < h->pairs; k++) {
      for (int j = 0; j < w->chosen_count; j++) {
        double sum = 0.0;
        for (int i = 0; i < h->pairs; i++) {
          sum += w->inverse[k * h->pairs + i] * u[i * w->chosen_count + j];
        }
        w->op.rhs[j] = sum;
      }
      saltus_status status = saltusi_dg_hold_chosen(w, h->s->eval);
      if (status != SALTUS_OK) {
        return status;
      }
      for (int j = 0; j < w->chosen_count; j++) {
        change = saltusi_larger(change, fabs(w->op.P[j]));
        r[k * w->chosen_count + j] += w->op.P[j];
      }
    }
    memcpy(u, b, (size_t)n * sizeof(double));
    add_joints(h, r, u);
    double size = saltusi_max_abs(n, r);
    if (!(change > DBL_EPSILON * size) || (change > contracts * before && iteration > 0)) {
      bool arrived = change <= 1e3 * DBL_EPSILON * size;
      return isfinite(size) ? (arrived ? SALTUS_OK : SALTUS_RETRY_SMALLER) : SALTUS_RETRY_NAN;
    }
    before = change;
  }
  return SALTUS_RETRY_SMALLER;
}

/* The inverse of the weights of the pairs, [pairs x pairs]. */
static bool invert_weights(saltusi_dg* w, int pairs) {
  double matrix[SALTUSI_DG_NODES_MAX * SALTUSI_DG_NODES_MAX];
  double column[SALTUSI_DG_NODES_MAX];
  int pivot[SALTUSI_DG_NODES_MAX];
  for (int i = 0; i < pairs; i++) {
    memcpy(matrix + (size_t)(i * pairs), w->pair[i].normal, (size_t)pairs * sizeof(double));
  }
  if (!saltusi_lu_factor(pairs, matrix, pivot, DBL_EPSILON)) {
    return false;
  }
  for (int c = 0; c < pairs; c++) {
    memset(column, 0, sizeof column);
    column[c] = 1.0;
    saltusi_lu_solve(pairs, matrix, pivot, column);
    for (int r = 0; r < pairs; r++) {
      w->inverse[r * pairs + c] = column[r];
    }
  }
  return true;
}

/* ---- one island as a dense problem --------------------------------------------------------------- */

/* The column of D of a force at (stage k, row c) into `column`, plus the response in w->pushed when
 * `answered`. */
static void write_column(const whole* h, int k, const double* x, bool answered, int at, int n) {
  saltusi_dg* w = h->w;
  int nv = h->s->eval->sys.dims.nv;
  for (int i = 0; i < h->pairs; i++) {
    const saltusi_dg_pair* pair = &w->pair[i];
    int row = i * h->rows;
    for (int side = 0; side < 2 && answered; side++) {
      weigh(nv, h->pairs, weights_of(pair, side == 0), w->pushed, w->sums + side * nv);
    }
    for (int e = 0; e < h->items; e++) {
      const saltusi_dg_item* item = &w->items[h->item[e]];
      for (int part = 0; part < rows_of(item); part++, row++) {
        bool normal = part == 0;
        int place = place_of(pair, normal);
        double weight = weights_of(pair, normal)[k];
        double sum = weight != 0.0 ? weight * saltusi_dg_dot(w, place, item->row + part, x) : 0.0;
        if (answered) {
          sum += saltusi_dg_dot(w, place, item->row + part, w->sums + (normal ? 0 : nv));
        }
        w->D[(size_t)row * (size_t)n + (size_t)at] = sum;
      }
    }
  }
}

/* Response of the joints to x at stage k, into w->pushed. */
static saltus_status answer(const whole* h, int k, const double* x) {
  saltusi_dg* w = h->w;
  for (int i = 0; i < h->pairs; i++) {
    double weight = w->pair[i].normal[k];
    for (int j = 0; j < w->chosen_count; j++) {
      w->joint_b[i * w->chosen_count + j] =
          weight * saltusi_dg_dot(w, w->pair[i].place, w->chosen[j], x);
    }
  }
  return solve_joints(h, w->joint_b, w->joint_r);
}

static saltus_status write_matrix(const whole* h, bool answered) {
  saltusi_dg* w = h->w;
  int n = h->pairs * h->rows;
  double* x = w->change; /* free until the impact */
  memset(x, 0, (size_t)h->s->eval->sys.dims.nv * sizeof(double));
  for (int k = 0; k < h->pairs; k++) {
    int at = k * h->rows;
    for (int e = 0; e < h->items; e++) {
      const saltusi_dg_item* item = &w->items[h->item[e]];
      for (int part = 0; part < rows_of(item); part++, at++) {
        int count = respond(w, h->s->eval, k, item->row + part, x);
        saltus_status status = answered ? answer(h, k, x) : SALTUS_OK;
        if (status != SALTUS_OK) {
          return status;
        }
        write_column(h, k, x, answered, at, n);
        clear(w, count, x);
      }
    }
  }
  return SALTUS_OK;
}

/* u without forces; with the response of the joints in w->pushed where there is one. */
static void write_right(const whole* h, bool answered) {
  saltusi_dg* w = h->w;
  int nv = h->s->eval->sys.dims.nv;
  for (int i = 0; i < h->pairs; i++) {
    const saltusi_dg_pair* pair = &w->pair[i];
    int row = i * h->rows;
    for (int side = 0; side < 2; side++) {
      const double* weight = weights_of(pair, side == 0);
      double* sum = w->sums + side * nv;
      weigh(nv, w->nodes, weight, w->a_next, sum);
      for (int m = 0; m < h->pairs && answered; m++) {
        saltusi_add_scaled(nv, weight[m], w->pushed + (size_t)m * (size_t)nv, sum);
      }
    }
    for (int e = 0; e < h->items; e++) {
      const saltusi_dg_item* item = &w->items[h->item[e]];
      for (int part = 0; part < rows_of(item); part++, row++) {
        bool normal = part == 0;
        w->rhs[row] = saltusi_dg_constant(w, h->s, pair, h->item[e], part) +
                      saltusi_dg_dot(w, place_of(pair, normal), item->row + part,
                                     w->sums + (normal ? 0 : nv));
      }
    }
  }
}

static saltus_status solve_dense(const whole* h, bool answered) {
  saltusi_dg* w = h->w;
  int n = h->pairs * h->rows;
  if (n > w->law_max) {
    return saltusi_capacity_lacks(&h->s->eval->room, SALTUSI_CAPACITY_UNKNOWNS, (size_t)n);
  }
  write_right(h, answered);
  saltus_status status = write_matrix(h, answered);
  if (status != SALTUS_OK) {
    return status;
  }
  int row = 0;
  for (int i = 0; i < h->pairs; i++) {
    for (int e = 0; e < h->items; e++) {
      saltusi_planar_item* item = &w->island_items[i * h->items + e];
      *item = w->law_items[h->item[e]];
      item->row = row;
      row += rows_of(&w->items[h->item[e]]);
    }
  }
  saltusi_planar_problem problem = {
      .items = h->pairs * h->items, .item = w->island_items, .rows = n, .W = w->D, .rhs = w->rhs};
  memset(w->z, 0, (size_t)n * sizeof(double));
  status = saltusi_dg_solve_planar(w, &problem, false, w->z);
  if (status != SALTUS_OK) {
    return status;
  }
  h->s->eval->dependent |= saltusi_planar_dependent(&w->planar);
  w->stage_residual = fmax(w->stage_residual, saltusi_planar_residual(&problem, w->z));
  for (int i = 0, at = 0; i < h->pairs; i++) {
    for (int e = 0; e < h->items; e++) {
      const saltusi_dg_item* item = &w->items[h->item[e]];
      for (int part = 0; part < rows_of(item); part++) {
        w->r[i * w->row_max + item->row + part] = w->z[at++];
      }
    }
  }
  return SALTUS_OK;
}

/* ---- islands ------------------------------------------------------------------------------------- */

/* Active items by islands, joints before contacts in each: w->sorted and w->island_at. */
static saltus_status find_islands(saltusi_dg* w, const saltusi_step* s, int* islands) {
  saltus_status status = saltusi_dg_form_stage(w, s, w->nodes - 1);
  if (status != SALTUS_OK) {
    return status;
  }
  *islands = saltusi_operator_islands(&w->op, w->row_island);
  memset(w->island_at, 0, ((size_t)*islands + 1) * sizeof(int));
  for (int i = 0; i < w->held; i++) {
    w->island_at[w->row_island[w->items[i].row] + 1]++;
  }
  for (int k = 0; k < *islands; k++) {
    w->island_at[k + 1] += w->island_at[k];
  }
  for (int i = 0; i < w->held; i++) {
    w->sorted[w->island_at[w->row_island[w->items[i].row]]++] = i;
  }
  for (int k = *islands; k > 0; k--) { /* restores the starts, which were moved to the ends */
    w->island_at[k] = w->island_at[k - 1];
  }
  w->island_at[0] = 0;
  return SALTUS_OK;
}

/* Number of rows of joints of an island, which come first, and of all its rows. */
static int count_rows(const saltusi_dg* w, int k, int* rows) {
  int joints = 0;
  *rows = 0;
  for (int e = w->island_at[k]; e < w->island_at[k + 1]; e++) {
    const saltusi_dg_item* item = &w->items[w->sorted[e]];
    joints += item->joint ? 1 : 0;
    *rows += rows_of(item);
  }
  return joints;
}

/* Forces of the chosen joints with all other forces fixed. */
static saltus_status close_joints(const whole* h) {
  saltusi_dg* w = h->w;
  const saltusi_eval* eval = h->s->eval;
  int nv = eval->sys.dims.nv;
  for (int k = 0; k < h->pairs; k++) {
    double* r = w->r + (size_t)k * (size_t)w->row_max;
    for (int j = 0; j < w->chosen_count; j++) {
      r[w->chosen[j]] = 0.0;
    }
    saltusi_dg_push(w, eval, k, w->held_rows, r, w->pushed + (size_t)k * (size_t)nv);
  }
  for (int i = 0; i < h->pairs; i++) {
    const saltusi_dg_pair* pair = &w->pair[i];
    weigh(nv, w->nodes, pair->normal, w->a_next, w->sums);
    for (int m = 0; m < h->pairs; m++) {
      saltusi_add_scaled(nv, pair->normal[m], w->pushed + (size_t)m * (size_t)nv, w->sums);
    }
    for (int j = 0; j < w->chosen_count; j++) { /* items of joints are rows of joints */
      w->joint_b[i * w->chosen_count + j] = saltusi_dg_constant(w, h->s, pair, w->chosen[j], 0) +
                                            saltusi_dg_dot(w, pair->place, w->chosen[j], w->sums);
    }
  }
  saltus_status status = solve_joints(h, w->joint_b, w->joint_r);
  for (int k = 0; k < h->pairs && status == SALTUS_OK; k++) {
    for (int j = 0; j < w->chosen_count; j++) {
      w->r[k * w->row_max + w->chosen[j]] = w->joint_r[k * w->chosen_count + j];
    }
  }
  return status;
}

/* Islands with many joints: these are eliminated, contacts are solved with their response. */
static saltus_status solve_jointed(whole* h, int islands) {
  saltusi_dg* w = h->w;
  if (!invert_weights(w, h->pairs)) {
    return SALTUS_RETRY_SMALLER;
  }
  saltus_status status = saltusi_dg_form_chosen(w, h->s, w->nodes - 1);
  status = status == SALTUS_OK ? close_joints(h) : status;
  for (int k = 0; k < islands && status == SALTUS_OK; k++) {
    int rows;
    int joints = count_rows(w, k, &rows);
    if (h->pairs * joints <= DENSE_MOST || rows == joints) {
      continue;
    }
    h->item = w->sorted + w->island_at[k] + joints;
    h->items = w->island_at[k + 1] - w->island_at[k] - joints;
    h->rows = rows - joints;
    status = close_joints(h); /* w->pushed for the right-hand side */
    status = status == SALTUS_OK ? solve_dense(h, true) : status;
    status = status == SALTUS_OK ? close_joints(h) : status;
  }
  return status;
}

saltus_status saltusi_dg_coupled_law(saltusi_dg* w, const saltusi_step* s, int pairs) {
  assert(w != NULL && s != NULL && w->has_op);
  whole h = {.w = w, .s = s, .pairs = pairs};
  int islands = 0;
  saltus_status status = find_islands(w, s, &islands);
  w->stage_residual = 0.0;
  w->chosen_count = 0;
  memset(w->r, 0, (size_t)w->nodes * (size_t)w->row_max * sizeof(double));
  for (int k = 0; k < islands && status == SALTUS_OK; k++) {
    int joints = count_rows(w, k, &h.rows);
    if (pairs * joints > DENSE_MOST) {
      for (int e = w->island_at[k]; e < w->island_at[k] + joints; e++) {
        w->chosen[w->chosen_count++] = w->items[w->sorted[e]].row;
      }
      continue;
    }
    h.item = w->sorted + w->island_at[k];
    h.items = w->island_at[k + 1] - w->island_at[k];
    status = solve_dense(&h, false);
  }
  if (status == SALTUS_OK && w->chosen_count > 0) {
    status = solve_jointed(&h, islands);
  }
  for (int k = 0; k < w->nodes && status == SALTUS_OK; k++) {
    size_t nv = (size_t)s->eval->sys.dims.nv;
    saltusi_dg_push(w, s->eval, k, w->held_rows, w->r + (size_t)k * (size_t)w->row_max,
                    w->pushed + (size_t)k * nv);
  }
  return status;
}
