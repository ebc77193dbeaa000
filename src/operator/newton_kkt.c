/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * newton_kkt.c - see newton_kkt.h.
 */
#include "operator/newton_kkt.h"

#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest number of joint rows for which the symbolic factorization pays off. */
enum { LINKAGE_FROM = 24 };

/* Limit of rows of loops in one component, which form a dense matrix. */
enum { LINKAGE_LOOPS = 200 };

/* Most bodies of one joint. */
enum { JOINT_BODIES = 4 };

static int pairs_most(const saltus_system* sys) {
  const int own = sys->structure->pairs;
  int coupled = 0;
  for (int j = 0; j < saltusi_joint_count(sys); j++) {
    coupled += sys->ops->joint_hessian(sys->self, NULL, j, NULL, NULL, NULL) ? 1 : 0;
  }
  return own + coupled * JOINT_BODIES * (JOINT_BODIES - 1) / 2;
}

bool saltusi_newton_kkt_serves(const saltus_system* sys) {
  assert(sys != NULL);
  const saltus_system_ops* ops = sys->ops;
  return sys->dims.nj > LINKAGE_FROM && sys->dims.row_width > 0 && sys->structure != NULL &&
         ops->joint_hessian != NULL && ops->blocks != NULL && ops->linear == NULL;
}

void saltusi_newton_kkt_layout(saltusi_newton_kkt* l, const saltusi_eval* eval,
                               saltus_arena* arena) {
  assert(l != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  *l = (saltusi_newton_kkt){0};
  if (!saltusi_newton_kkt_serves(sys)) {
    return;
  }
  l->serves = true;
  const int columns = d->nj * d->row_width, pairs = pairs_most(sys);
  size_t first = saltusi_kkt_factor_bytes(sys->structure->blocks, d->nj, d->nj, columns);
  saltusi_buffer_layout(&l->saddle.memory,
                        saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_NEWTON_KKT, first),
                        arena);
  l->body_of = SALTUS_PUSH(arena, int, d->nv);
  l->local = SALTUS_PUSH(arena, int, d->nv);
  l->velocity = SALTUS_PUSH(arena, int, d->nv);
  l->joint_row = SALTUS_PUSH(arena, int, d->nj);
  l->joint_rows = SALTUS_PUSH(arena, int, d->nj);
  l->joint_at = SALTUS_PUSH(arena, int, d->nj + 1);
  l->column = SALTUS_PUSH(arena, int, columns);
  l->run = SALTUS_PUSH(arena, int, columns);
  l->couples = SALTUS_PUSH(arena, bool, saltusi_joint_count(sys));
  l->pair = SALTUS_PUSH2(arena, int, pairs, 2);
  l->found = SALTUS_PUSH(arena, saltusi_coupled, pairs);
  l->values = SALTUS_PUSH(arena, double, saltusi_structure_values(sys->structure));
  l->over = SALTUS_PUSH(arena, double, d->nv);
  l->K = SALTUS_PUSH2(arena, double, d->row_width, d->row_width);
  l->U_q = SALTUS_PUSH2(arena, double, saltusi_joint_rows_most(sys), d->row_width);
}

/* ---- the plan ---- */

static void list_bodies(saltusi_newton_kkt* l, const saltus_structure* s) {
  for (int b = 0; b < s->blocks; b++) {
    for (int i = s->start[b]; i < s->start[b + 1]; i++) {
      l->body_of[i] = b;
      l->local[i] = i - s->start[b];
      l->velocity[i] = i;
    }
  }
}

/* Number of velocities of the smallest body among columns. */
static int carries(const saltusi_newton_kkt* l, const saltus_structure* s, int count,
                   const int* column) {
  int least = count;
  for (int k = 0; k < count; k++) {
    const int size = saltusi_block_size(s, l->body_of[column[k]]);
    least = size < least ? size : least;
  }
  return least;
}

/* Number of adjacent columns from i on that belong to one body. */
static int run_from(const saltusi_newton_kkt* l, int width, const int* column, int i) {
  int end = i + 1;
  while (end < width && column[end] == column[end - 1] + 1 &&
         l->body_of[column[end]] == l->body_of[column[i]]) {
    end++;
  }
  return end - i;
}

/* The bodies of a joint without duplicates; returns their number, the maximum plus one if there are more. */
static int bodies_of(const saltusi_newton_kkt* l, const saltusi_row_block* rows, int r,
                     int body[JOINT_BODIES + 1]) {
  const int* column = rows->column + (size_t)r * (size_t)rows->stride;
  int count = 0;
  for (int k = 0; k < rows->entries[r]; k++) {
    const int own = l->body_of[column[k]];
    if (count <= JOINT_BODIES && (count == 0 || body[count - 1] != own)) {
      body[count++] = own;
    }
  }
  return count;
}

static void list_joints(saltusi_newton_kkt* l, const saltus_system* sys,
                        const saltusi_row_block* rows) {
  l->joints = 0;
  l->joint_at[0] = 0;
  l->known = saltusi_joint_count(sys);
  for (int j = 0; j < l->known; j++) {
    const int end = saltusi_joint_first(sys, j + 1);
    l->couples[j] = sys->ops->joint_hessian(sys->self, NULL, j, NULL, NULL, NULL);
    for (int r = saltusi_joint_first(sys, j); r < end;) {
      const int* column = rows->column + (size_t)r * (size_t)rows->stride;
      const int width = rows->entries[r], at = l->joint_at[l->joints];
      const int most = carries(l, sys->structure, width, column);
      int body[JOINT_BODIES + 1];
      l->refused = l->refused || bodies_of(l, rows, r, body) > JOINT_BODIES;
      l->joint_row[l->joints] = r;
      l->joint_rows[l->joints] = end - r < most ? end - r : most;
      memcpy(l->column + at, column, (size_t)width * sizeof(int));
      for (int k = 0; k < width; k++) {
        l->run[at + k] = run_from(l, width, column, k);
      }
      r += l->joint_rows[l->joints];
      l->joint_at[++l->joints] = at + width;
    }
  }
}

static int by_bodies(const void* a, const void* b) {
  const saltusi_coupled *x = a, *y = b;
  if (x->low != y->low || x->high != y->high) {
    return x->low != y->low ? (x->low > y->low) - (x->low < y->low)
                            : (x->high > y->high) - (x->high < y->high);
  }
  return (x->place < y->place) - (x->place > y->place); /* first the pairs with a fixed index */
}

/* Pairs of the structure keep their indices; those of joints follow. */
static void list_pairs(saltusi_newton_kkt* l, const saltus_system* sys,
                       const saltusi_row_block* rows) {
  const saltus_structure* s = sys->structure;
  int count = 0;
  for (int p = 0; p < s->pairs; p++) {
    l->found[count++] = (saltusi_coupled){s->pair[2 * p], s->pair[2 * p + 1], p};
  }
  for (int j = 0; j < l->known; j++) {
    int body[JOINT_BODIES + 1];
    const int bodies = l->couples[j] ? bodies_of(l, rows, saltusi_joint_first(sys, j), body) : 0;
    for (int i = 0; i < bodies; i++) {
      for (int k = i + 1; k < bodies; k++) {
        l->found[count++] = (saltusi_coupled){body[i], body[k], -1};
      }
    }
  }
  qsort(l->found, (size_t)count, sizeof *l->found, by_bodies);
  memcpy(l->pair, s->pair, 2 * (size_t)s->pairs * sizeof(int));
  l->pairs = s->pairs;
  l->sorted = 0;
  for (int i = 0; i < count; i++) {
    saltusi_coupled own = l->found[i];
    const saltusi_coupled* last = l->sorted > 0 ? &l->found[l->sorted - 1] : NULL;
    if (last != NULL && last->low == own.low && last->high == own.high) {
      continue;
    }
    if (own.place < 0) {
      own.place = l->pairs++;
      l->pair[2 * own.place] = own.low;
      l->pair[2 * own.place + 1] = own.high;
    }
    l->found[l->sorted++] = own;
  }
}

static int pair_of(const saltusi_newton_kkt* l, int low, int high) {
  int first = 0, last = l->sorted - 1;
  while (first < last) {
    const int middle = first + (last - first) / 2;
    const saltusi_coupled* at = &l->found[middle];
    if (at->low < low || (at->low == low && at->high < high)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  assert(l->found[first].low == low && l->found[first].high == high);
  return l->found[first].place;
}

static bool make_plan(saltusi_newton_kkt* l, const saltus_structure* s) {
  const saltusi_kkt_factor_shape shape = {.bodies = s->blocks,
                                          .joints = l->joints,
                                          .body_start = s->start,
                                          .velocity = l->velocity,
                                          .body_of = l->body_of,
                                          .local = l->local,
                                          .pairs = l->pairs,
                                          .pair = l->pair,
                                          .row = l->joint_row,
                                          .rows = l->joint_rows,
                                          .at = l->joint_at,
                                          .column = l->column};
  return saltusi_kkt_factor_plan(&l->saddle, &shape, LINKAGE_LOOPS);
}

/* Whether the rows of a joint segment still have the planned columns. */
static bool is_known(const saltusi_newton_kkt* l, const saltusi_row_block* rows, int piece) {
  const int r = l->joint_row[piece], at = l->joint_at[piece];
  const int* column = rows->column + (size_t)r * (size_t)rows->stride;
  return rows->entries[r] == l->joint_at[piece + 1] - at &&
         memcmp(column, l->column + at, (size_t)rows->entries[r] * sizeof(int)) == 0;
}

static saltus_status lack(saltusi_newton_kkt* l, saltusi_eval* eval) {
  l->known = 0;
  if (l->saddle.wanted > 0) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_NEWTON_KKT, l->saddle.wanted);
  }
  l->refused = true;
  return SALTUS_RETRY_NAN;
}

/* ---- the matrix ---- */

/* Whether the block of two nodes has to be rewritten. */
static bool both_open(const saltusi_newton_kkt* l, int i, int j) {
  const saltusi_kkt_factor* s = &l->saddle;
  return s->open[s->position[i]] && s->open[s->position[j]];
}

/* Writes A into the matrix; l->over becomes the inverse of its diagonal. */
static void write_bodies(saltusi_newton_kkt* l, const saltus_structure* s) {
  saltusi_kkt_factor* saddle = &l->saddle;
  const double* from = l->values;
  for (int b = 0; b < s->blocks; b++) {
    const int n = saltusi_block_size(s, b), own = saddle->position[b];
    if (saddle->open[own]) {
      memcpy(saddle->values + saddle->diagonal[own], from, (size_t)(n * n) * sizeof(double));
      for (int i = 0; i < n; i++) {
        l->over[s->start[b] + i] = 1.0 / fabs(from[i * (n + 1)]);
      }
    }
    from += n * n;
  }
  for (int p = 0; p < 2 * s->pairs; p++) {
    const int i = s->pair[p - p % 2], j = s->pair[p - p % 2 + 1];
    const size_t size = (size_t)saltusi_block_size(s, i) * (size_t)saltusi_block_size(s, j);
    if (both_open(l, i, j)) {
      memcpy(saddle->values + saddle->pair_place[p], from, size * sizeof(double));
    }
    from += size;
  }
}

/* Position and stride of the entry of two velocities. */
static int entry_of(const saltusi_newton_kkt* l, const saltus_structure* s, int i, int j,
                    int* stride) {
  const saltusi_kkt_factor* saddle = &l->saddle;
  const int row = l->body_of[i], other = l->body_of[j];
  int place = saddle->diagonal[saddle->position[row]];
  if (row != other) {
    place =
        saddle
            ->pair_place[row < other ? 2 * pair_of(l, row, other) : 2 * pair_of(l, other, row) + 1];
  }
  *stride = saltusi_block_size(s, other);
  return place + l->local[i] * *stride + l->local[j];
}

/* to -= reach K, [m x n] with strides; n is constant where inlined. */
static inline void subtract_block(int m, const int n, double reach, const double* restrict K,
                                  int width, double* restrict to, int stride) {
  for (int a = 0; a < m; a++) {
    for (int c = 0; c < n; c++) {
      to[a * stride + c] -= reach * K[a * width + c];
    }
  }
}

/* Calls it with the constant sizes of bodies in the plane and in space. */
#define BY_BODY(n, call)                                                                           \
  if ((n) == 6) {                                                                                  \
    enum { size = 6 };                                                                             \
    call;                                                                                          \
  } else if ((n) == 3) {                                                                           \
    enum { size = 3 };                                                                             \
    call;                                                                                          \
  } else {                                                                                         \
    const int size = (n);                                                                          \
    call;                                                                                          \
  }

/* A -= reach K of the joint whose first segment this is, body by body. */
static void write_bending(saltusi_newton_kkt* l, const saltus_structure* s, double reach, int piece,
                          bool couples) {
  const int at = l->joint_at[piece], width = l->joint_at[piece + 1] - at;
  const int *column = l->column + at, *run = l->run + at;
  for (int i = 0, rows = 0; i < width; i += rows) {
    rows = run[i];
    for (int k = 0, columns = 0; k < width; k += columns) {
      columns = run[k];
      const int body = l->body_of[column[i]], other = l->body_of[column[k]];
      if ((body != other && !couples) || !both_open(l, body, other)) {
        continue;
      }
      int stride;
      double* to = l->saddle.values + entry_of(l, s, column[i], column[k], &stride);
      const double* K = l->K + i * width + k;
      BY_BODY(columns, subtract_block(rows, size, reach, K, width, to, stride))
    }
  }
}

/* Contribution of a joint segment to one body. */
typedef struct piece_run {
  const double *G, *U_q, *over; /* first entry of the first row; 1 / size */
  int count, stride, width;     /* number of rows, and their strides in G and U_q */
  double *to, *other, *weight;  /* G, H */
  int step;                     /* of H */
} piece_run;

static inline void weigh_run(const piece_run* p, const int n) {
  for (int k = 0; k < p->count; k++) {
    const double* restrict G = p->G + k * p->stride;
    double sum = 0.0;
    for (int e = 0; e < n; e++) {
      sum += G[e] * G[e] * p->over[e];
    }
    p->weight[k] += sum;
  }
}

static inline void write_run(const piece_run* p, const int n, double measured) {
  for (int k = 0; k < p->count; k++) {
    const double* restrict G = p->G + k * p->stride;
    const double* restrict U_q = p->U_q + k * p->width;
    double* restrict other = p->other + k * p->step;
    for (int e = 0; e < n; e++) {
      other[e] = G[e] + measured * U_q[e];
    }
    for (int e = 0; e < n; e++) {
      p->to[e * p->count + k] = G[e];
    }
  }
}

/* Writes G and H of one segment of a joint; U_q starts at row `first`. */
static void write_rows(saltusi_newton_kkt* l, const saltusi_row_block* rows, int piece, int first,
                       double measured, double* diagonal) {
  saltusi_kkt_factor* s = &l->saddle;
  double* weight = s->weight + s->first[s->position[s->bodies + piece]];
  const int at = l->joint_at[piece], width = l->joint_at[piece + 1] - at;
  const int row = l->joint_row[piece], count = l->joint_rows[piece];
  memset(weight, 0, (size_t)count * sizeof(double));
  for (int e = 0, columns = 0; e < width; e += columns) {
    columns = l->run[at + e];
    const piece_run run = {.G = rows->G + (size_t)row * (size_t)rows->stride + e,
                           .U_q = l->U_q + (row - first) * width + e,
                           .over = l->over + l->column[at + e],
                           .count = count,
                           .stride = rows->stride,
                           .width = width,
                           .to = s->values + s->G_place[at + e],
                           .other = s->values + s->H_place[at + e],
                           .weight = weight,
                           .step = s->H_step[at + e]};
    BY_BODY(columns, weigh_run(&run, size))
    if (both_open(l, l->body_of[l->column[at + e]], s->bodies + piece)) {
      BY_BODY(columns, write_run(&run, size, measured))
    }
  }
  memcpy(diagonal + row, weight, (size_t)count * sizeof(double));
}

/* Whether any of the segments [piece, end) of a joint has to be rewritten. */
static bool any_open(const saltusi_newton_kkt* l, int piece, int end) {
  const saltusi_kkt_factor* s = &l->saddle;
  bool open = false;
  for (int e = l->joint_at[piece]; e < l->joint_at[piece + 1]; e += l->run[e]) {
    open = open || s->open[s->position[l->body_of[l->column[e]]]];
  }
  for (; piece < end; piece++) {
    open = open || s->open[s->position[s->bodies + piece]];
  }
  return open;
}

/* Writes the open part of the matrix and its joint rows; false when these have other columns than planned. */
static bool write_matrix(saltusi_newton_kkt* l, const saltus_system* sys,
                         const saltusi_newton_kkt_at* at, saltusi_row_block* rows,
                         double* diagonal) {
  saltusi_kkt_factor_clear(&l->saddle);
  write_bodies(l, sys->structure);
  for (int j = 0, piece = 0, end; j < l->known; j++, piece = end) {
    const int first = saltusi_joint_first(sys, j), count = saltusi_joint_rows(sys, j);
    for (end = piece; end < l->joints && l->joint_row[end] < first + count; end++) {
    }
    if (!any_open(l, piece, end)) {
      continue;
    }
    saltusi_rows_joint(sys, at->joints, j, rows, first);
    if (!is_known(l, rows, piece)) {
      return false;
    }
    const int width = rows->entries[first];
    memset(l->K, 0, (size_t)(width * width) * sizeof(double));
    memset(l->U_q, 0, (size_t)(count * width) * sizeof(double));
    sys->ops->joint_hessian(sys->self, at->joints, j, at->P + first, l->K, l->U_q);
    write_bending(l, sys->structure, at->reach, piece, l->couples[j]);
    for (; piece < end; piece++) {
      if (l->saddle.open[l->saddle.position[l->saddle.bodies + piece]]) {
        write_rows(l, rows, piece, first, at->measured, diagonal);
      }
    }
  }
  return true;
}

static saltus_status plan(saltusi_newton_kkt* l, saltusi_eval* eval,
                          const saltusi_newton_kkt_at* at, saltusi_row_block* rows) {
  const saltus_system* sys = &eval->sys;
  saltusi_rows_joints(sys, at->joints, rows);
  l->again = false;
  list_bodies(l, sys->structure);
  list_joints(l, sys, rows);
  if (l->refused) {
    return SALTUS_RETRY_NAN;
  }
  list_pairs(l, sys, rows);
  return make_plan(l, sys->structure) ? SALTUS_OK : lack(l, eval);
}

/* Detects linearly dependent joints from the factors. */
static saltus_status conclude(saltusi_newton_kkt* l, saltusi_eval* eval) {
  for (int p = 0; p < l->joints;
       p++) { /* the next plan is that of the start, so that results do not depend on history */
    l->again = l->again || l->saddle.demoted[p];
  }
  l->redundant = false;
  for (int c = 0; c < l->saddle.components; c++) {
    l->redundant = l->redundant || l->saddle.null_count[c] > 0;
  }
  eval->dependent |= l->redundant;
  return l->redundant ? SALTUS_RETRY_NAN : SALTUS_OK;
}

saltus_status saltusi_newton_kkt_factor(saltusi_newton_kkt* l, saltusi_eval* eval,
                                        const saltusi_newton_kkt_at* at, saltusi_row_block* rows,
                                        double* diagonal) {
  assert(l != NULL && l->serves && !l->refused && eval != NULL && at != NULL && rows != NULL);
  const saltus_system* sys = &eval->sys;
  bool planned = l->known > 0 && !l->again;
  saltus_status status = planned ? SALTUS_OK : plan(l, eval, at, rows);
  if (status == SALTUS_OK) {
    sys->ops->blocks(sys->self, at->forces, 1.0, at->fv, at->fq, l->values);
  }
  while (status == SALTUS_OK) {
    saltusi_kkt_factor_open(&l->saddle, true);
    if (!write_matrix(l, sys, at, rows, diagonal)) {
      assert(planned);
      planned = false;
      status = plan(l, eval, at, rows);
      continue;
    }
    const saltusi_kkt_factor_outcome outcome = saltusi_kkt_factor_compute(&l->saddle);
    if (outcome == SALTUSI_SADDLE_FACTORED) {
      return conclude(l, eval);
    }
    if (outcome != SALTUSI_SADDLE_AGAIN || !make_plan(l, sys->structure)) {
      l->known = 0;
      return l->saddle.wanted > 0 ? lack(l, eval) : SALTUS_RETRY_NAN;
    }
  }
  return status;
}

double saltusi_newton_kkt_moved(saltusi_newton_kkt* l, const saltus_structure* structure,
                                const double* dv, double least) {
  assert(l != NULL && l->known > 0 && structure != NULL && dv != NULL);
  saltusi_kkt_factor* s = &l->saddle;
  saltusi_kkt_factor_open(s, false);
  for (int i = 0; i < structure->start[structure->blocks]; i++) {
    if (fabs(dv[i]) >= least) {
      s->open[s->position[l->body_of[i]]] = true;
    }
  }
  for (int p = 0; p < l->joints; p++) { /* joints of these bodies, */
    s->open[s->position[s->bodies + p]] = any_open(l, p, p);
  }
  for (int p = 0; p < l->joints; p++) { /* bodies that change, then all bodies of their joints */
    const int end = s->open[s->position[s->bodies + p]] ? l->joint_at[p + 1] : 0;
    for (int e = l->joint_at[p]; e < end; e += l->run[e]) {
      s->open[s->position[l->body_of[l->column[e]]]] = true;
    }
  }
  return saltusi_kkt_factor_open_later(s);
}

saltus_status saltusi_newton_kkt_refresh(saltusi_newton_kkt* l, saltusi_eval* eval,
                                         const saltusi_newton_kkt_at* at, saltusi_row_block* rows,
                                         double* diagonal) {
  assert(l != NULL && l->known > 0 && eval != NULL && at != NULL && rows != NULL);
  if (write_matrix(l, &eval->sys, at, rows, diagonal) &&
      saltusi_kkt_factor_compute(&l->saddle) == SALTUSI_SADDLE_FACTORED) {
    return conclude(l, eval);
  }
  return saltusi_newton_kkt_factor(l, eval, at, rows, diagonal);
}

void saltusi_newton_kkt_solve(saltusi_newton_kkt* l, const saltus_dims* dims, double* z) {
  assert(l != NULL && dims != NULL && z != NULL);
  saltusi_kkt_factor_solve_all(&l->saddle, dims->nv, z);
  for (int r = dims->nv; r < dims->nv + dims->nj; r++) { /* the sign of G */
    z[r] = -z[r];
  }
}
