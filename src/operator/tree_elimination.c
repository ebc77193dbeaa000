/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tree_elimination.c - large components of joints, eliminated by sparse factors of bodies and joints
 * (math/kkt_factor.h).
 *
 * A body is a block of A, or, for a diagonal A, a set of velocities with equal rows. A joint is a sequence of
 * consecutive rows with equal columns, at most as many as its smallest body has velocities.
 */
#include "operator/operator_internal.h"

#include "system/structure.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of a component from which sparse factors cost less than dense ones. */
enum { TREES_FROM = 24 };

/* Each contact on a component requires a solution with its factors and is coupled to all others: for few contacts this
 * costs less than the iterations that it saves. */
enum { TREES_CONTACTS = 64 };

/* Limit for rows of loops in one component in a time step: they form a dense matrix. */
enum { TREES_LOOPS = 200 };

/* Largest number of velocities of a body that is formed of velocities with equal rows. */
enum { BODY_MOST = 12 };

void saltusi_tree_elimination_layout(saltusi_operator* op, const saltusi_eval* eval, int bilateral,
                                     bool all_loops, saltus_arena* arena) {
  assert(op != NULL && eval != NULL && bilateral >= 0 && arena != NULL);
  const saltus_dims* d = &eval->sys.dims;
  saltusi_tree_elimination* t = &op->trees;
  *t = (saltusi_tree_elimination){0};
  if (bilateral <= TREES_FROM) {
    return;
  }
  int columns = d->nj * d->row_width;
  size_t first = saltusi_kkt_factor_bytes(d->nv / 2 + 1, d->nj, d->nj, columns);
  saltusi_buffer_layout(&t->saddle.memory,
                        saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_JOINTS, first), arena);
  t->most = bilateral;
  t->loops_most = all_loops ? INT_MAX : TREES_LOOPS;
  t->component_of = SALTUS_PUSH(arena, int, d->nv);
  t->seen = SALTUS_PUSH2(arena, int, bilateral, 1 + d->row_width);
  t->body_of = SALTUS_PUSH(arena, int, d->nv);
  t->local = SALTUS_PUSH(arena, int, d->nv);
  t->body_start = SALTUS_PUSH(arena, int, d->nv + 1);
  t->velocity = SALTUS_PUSH(arena, int, d->nv);
  t->signature = SALTUS_PUSH(arena, uint64_t, d->nv);
  t->sorted = SALTUS_PUSH(arena, saltusi_signed, d->nv);
  t->joint_row = SALTUS_PUSH(arena, int, bilateral);
  t->joint_rows = SALTUS_PUSH(arena, int, bilateral);
  t->joint_at = SALTUS_PUSH(arena, int, bilateral + 1);
  t->column = SALTUS_PUSH2(arena, int, bilateral, d->row_width);
  int pairs = eval->sys.structure != NULL ? eval->sys.structure->pairs : 0;
  t->pair = SALTUS_PUSH2(arena, int, pairs, 2);
  t->pair_from = SALTUS_PUSH(arena, size_t, pairs);
  t->x = SALTUS_PUSH(arena, double, d->nv);
  t->rows = SALTUS_PUSH(arena, double, bilateral);
}

/* Whether the entries of A are known. */
static bool is_open(const saltusi_operator* op) {
  return op->scalar || op->A->kind == SALTUSI_LINEAR_BLOCKS;
}

bool saltusi_tree_elimination_serve(const saltusi_operator* op, int c) {
  assert(op != NULL && c >= 0);
  const saltusi_groups* g = &op->groups;
  return op->trees.most > 0 && !op->trees.refused && g->start[c + 1] - g->start[c] > TREES_FROM &&
         is_open(op) && g->contacts[c] <= TREES_CONTACTS && !g->heavy[c];
}

static int by_signature(const void* a, const void* b) {
  const saltusi_signed* x = a;
  const saltusi_signed* y = b;
  if (x->signature != y->signature) {
    return x->signature < y->signature ? -1 : 1;
  }
  return (x->velocity > y->velocity) - (x->velocity < y->velocity);
}

/* Hash of a row number: the sums of two sets of rows are equal only by chance, and merging two bodies then is harmless.
 * */
static uint64_t spread(uint64_t x) {
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static bool in_tree(const saltusi_operator* op, int velocity) {
  int c = op->trees.component_of[velocity];
  return c >= 0 && op->groups.tree[c] >= 0;
}

static void close_body(saltusi_tree_elimination* t, int velocity) {
  t->body_of[velocity] = t->bodies;
  t->local[velocity] = t->velocities - t->body_start[t->bodies];
  t->velocity[t->velocities++] = velocity;
}

/* Bodies of a diagonal A. */
static void gather_bodies(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  const saltusi_groups* g = &op->groups;
  int count = 0;
  for (int c = 0; c < g->components; c++) {
    for (int e = g->column_start[c]; g->tree[c] >= 0 && e < g->column_start[c + 1]; e++) {
      t->signature[g->column[e]] = 0;
    }
    for (int b = g->start[c]; g->tree[c] >= 0 && b < g->start[c + 1]; b++) {
      const saltusi_block_entries row = saltusi_row_entries(op, g->row[b]);
      for (int k = 0; k < row.count; k++) {
        t->signature[row.column[k]] += spread((uint64_t)g->row[b]);
      }
    }
    for (int e = g->column_start[c]; g->tree[c] >= 0 && e < g->column_start[c + 1]; e++) {
      t->sorted[count++] = (saltusi_signed){t->signature[g->column[e]], g->column[e]};
    }
  }
  qsort(t->sorted, (size_t)count, sizeof(saltusi_signed), by_signature);
  for (int k = 0; k < count; k++) {
    bool more = k > 0 && t->sorted[k].signature == t->sorted[k - 1].signature &&
                t->velocities - t->body_start[t->bodies] < BODY_MOST;
    if (k > 0 && !more) {
      t->body_start[++t->bodies] = t->velocities;
    }
    close_body(t, t->sorted[k].velocity);
  }
  if (count > 0) {
    t->body_start[++t->bodies] = t->velocities;
  }
}

/* Bodies are blocks of A, and pairs those that it couples. */
static void copy_bodies(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  const saltusi_linear_blocks* A = &op->A->blocks;
  const saltus_structure* s = A->structure;
  for (int k = 0; k < s->blocks; k++) {
    if (!in_tree(op, s->start[k])) {
      continue;
    }
    for (int i = s->start[k]; i < s->start[k + 1]; i++) {
      close_body(t, i);
    }
    t->body_start[++t->bodies] = t->velocities;
  }
  size_t from = A->diagonal_values;
  for (int k = 0; k < s->pairs && A->form == SALTUSI_BLOCKS_COUPLED; k++) {
    int i = s->pair[2 * k];
    int j = s->pair[2 * k + 1];
    if (in_tree(op, s->start[i])) {
      t->pair[2 * t->pairs] = t->body_of[s->start[i]];
      t->pair[2 * t->pairs + 1] = t->body_of[s->start[j]];
      t->pair_from[t->pairs++] = from;
    }
    from += 2 * (size_t)saltusi_block_size(s, i) * (size_t)saltusi_block_size(s, j);
  }
}

/* Velocities of the smallest body that a row touches. */
static int smallest_body(const saltusi_operator* op, const saltusi_block_entries* row) {
  const saltusi_tree_elimination* t = &op->trees;
  int least = BODY_MOST;
  for (int k = 0; k < row->count; k++) {
    int b = t->body_of[row->column[k]];
    int size = t->body_start[b + 1] - t->body_start[b];
    least = size < least ? size : least;
  }
  return least;
}

static void gather_joints(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  const saltusi_groups* g = &op->groups;
  for (int r = 0; r < op->bilateral; r++) {
    if (g->tree[g->of_row[r]] < 0) {
      continue;
    }
    const saltusi_block_entries row = saltusi_row_entries(op, r);
    int last = t->joints - 1;
    int at = t->joint_at[t->joints];
    bool follows =
        last >= 0 && t->joint_row[last] + t->joint_rows[last] == r &&
        at - t->joint_at[last] == row.count &&
        memcmp(t->column + t->joint_at[last], row.column, (size_t)row.count * sizeof(int)) == 0 &&
        t->joint_rows[last] < smallest_body(op, &row);
    if (follows) {
      t->joint_rows[last]++;
      continue;
    }
    t->joint_row[t->joints] = r;
    t->joint_rows[t->joints] = 1;
    memcpy(t->column + at, row.column, (size_t)row.count * sizeof(int));
    t->joint_at[++t->joints] = at + row.count;
  }
}

static bool make_plan(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  const saltusi_kkt_factor_shape shape = {.bodies = t->bodies,
                                          .joints = t->joints,
                                          .body_start = t->body_start,
                                          .velocity = t->velocity,
                                          .body_of = t->body_of,
                                          .local = t->local,
                                          .pairs = t->pairs,
                                          .pair = t->pair,
                                          .row = t->joint_row,
                                          .rows = t->joint_rows,
                                          .at = t->joint_at,
                                          .column = t->column};
  return saltusi_kkt_factor_plan(&t->saddle, &shape, t->loops_most);
}

/* Maps components of the factors to components of joints. */
static void name_components(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  saltusi_groups* g = &op->groups;
  for (int k = 0; k < t->saddle.components; k++) {
    int first = t->saddle.component_at[k];
    int velocity = t->saddle.index[t->saddle.first[first]];
    g->tree[t->component_of[velocity]] = k;
  }
}

int saltusi_tree_elimination_heavy(const saltusi_operator* op) {
  assert(op != NULL && op->trees.saddle.heavy >= 0);
  const saltusi_tree_elimination* t = &op->trees;
  int node = t->saddle.node[t->saddle.component_at[t->saddle.heavy]];
  return t->component_of[t->velocity[t->body_start[node]]];
}

bool saltusi_tree_elimination_known(saltusi_operator* op) {
  assert(op != NULL);
  saltusi_tree_elimination* t = &op->trees;
  int stride = op->rows.stride;
  bool coupled = saltusi_linear_coupled(op->A);
  bool same = t->seen_rows == op->bilateral && op->bilateral == op->count &&
              t->seen_scalar == op->scalar && t->seen_coupled == coupled;
  for (int r = 0; r < op->bilateral; r++) {
    const saltusi_block_entries row = saltusi_row_entries(op, r);
    int* seen = t->seen + (size_t)r * (size_t)(1 + stride);
    size_t bytes = (size_t)row.count * sizeof(int);
    same = same && seen[0] == row.count && memcmp(seen + 1, row.column, bytes) == 0;
    if (!same) {
      seen[0] = row.count;
      memcpy(seen + 1, row.column, bytes);
    }
  }
  t->seen_rows = op->bilateral == op->count ? op->bilateral : 0;
  t->seen_scalar = op->scalar;
  t->seen_coupled = coupled;
  return same && (t->joints == 0 || (t->saddle.planned && make_plan(op)));
}

bool saltusi_tree_elimination_find(saltusi_operator* op) {
  assert(op != NULL && op->trees.most > 0);
  saltusi_tree_elimination* t = &op->trees;
  t->bodies = 0;
  t->velocities = 0;
  t->joints = 0;
  t->pairs = 0;
  t->body_start[0] = 0;
  t->joint_at[0] = 0;
  if (op->scalar) {
    gather_bodies(op);
  } else {
    copy_bodies(op);
  }
  gather_joints(op);
  if (!make_plan(op)) {
    return false;
  }
  name_components(op);
  return true;
}

/* Writes A of a body into the matrix. */
static void write_bodies(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  saltusi_kkt_factor* s = &t->saddle;
  for (int b = 0; b < t->bodies; b++) {
    int n = t->body_start[b + 1] - t->body_start[b];
    int first = t->velocity[t->body_start[b]];
    double* to = s->values + s->diagonal[s->position[b]];
    if (op->scalar) {
      for (int i = 0; i < n; i++) {
        to[i * (n + 1)] = 1.0 / op->inverse[t->velocity[t->body_start[b] + i]];
        t->x[t->velocity[t->body_start[b] + i]] = to[i * (n + 1)];
      }
      continue;
    }
    const saltusi_linear_blocks* A = &op->A->blocks;
    memcpy(to, A->A + A->at[A->block_of[first]], (size_t)(n * n) * sizeof(double));
    for (int i = 0; i < n; i++) {
      t->x[first + i] = to[i * (n + 1)];
    }
  }
  for (int p = 0; p < t->pairs; p++) {
    int i = t->pair[2 * p];
    int j = t->pair[2 * p + 1];
    size_t size = (size_t)(t->body_start[i + 1] - t->body_start[i]) *
                  (size_t)(t->body_start[j + 1] - t->body_start[j]);
    const double* from = op->A->blocks.A + t->pair_from[p];
    memcpy(s->values + s->pair_place[2 * p], from, size * sizeof(double));
    memcpy(s->values + s->pair_place[2 * p + 1], from + size, size * sizeof(double));
  }
}

/* Writes the rows into the matrix; t->x becomes the diagonal of W for a diagonal A. */
static void write_rows(saltusi_operator* op) {
  saltusi_tree_elimination* t = &op->trees;
  saltusi_kkt_factor* s = &t->saddle;
  for (int j = 0; j < t->joints; j++) {
    int first = s->first[s->position[t->bodies + j]];
    int at = t->joint_at[j];
    int width = t->joint_at[j + 1] - at;
    for (int k = 0; k < t->joint_rows[j]; k++) {
      int r = t->joint_row[j] + k;
      const saltusi_row_block* measured = op->apart ? &op->measured : &op->rows;
      const double* G = op->rows.G + (size_t)r * (size_t)op->rows.stride;
      const double* H = measured->G + (size_t)r * (size_t)measured->stride;
      double sum = 0.0;
      for (int e = 0; e < width; e++) {
        s->values[s->G_place[at + e] + k] = G[e];
        s->values[s->H_place[at + e] + k * s->H_step[at + e]] = H[e];
        sum += G[e] * G[e] / fabs(t->x[t->column[at + e]]);
      }
      s->weight[first + k] = sum;
      op->diagonal[r] = sum;
    }
  }
}

saltus_status saltusi_tree_elimination_factor(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  saltusi_kkt_factor* s = &op->trees.saddle;
  for (;;) {
    saltusi_kkt_factor_clear(s);
    write_bodies(op);
    write_rows(op);
    saltusi_kkt_factor_outcome outcome = saltusi_kkt_factor_compute(s);
    if (outcome == SALTUSI_SADDLE_AGAIN && make_plan(op)) {
      name_components(op);
      continue;
    }
    if (outcome == SALTUSI_SADDLE_FACTORED) {
      break;
    }
    if (s->wanted > 0) {
      return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_JOINTS, s->wanted);
    }
    op->trees.refused = outcome == SALTUSI_SADDLE_AGAIN;
    return SALTUS_RETRY_NAN;
  }
  eval->dependent |= saltusi_tree_elimination_dependent(op);
  return SALTUS_OK;
}

bool saltusi_tree_elimination_dependent(const saltusi_operator* op) {
  assert(op != NULL);
  for (int k = 0; k < op->trees.saddle.components; k++) {
    if (op->trees.saddle.null_count[k] > 0) {
      return true;
    }
  }
  return false;
}

void saltusi_tree_elimination_from(saltusi_operator* op, int c, int k) {
  assert(op != NULL && c >= 0 && op->groups.tree[c] >= 0 && k >= 0 && k < op->table_stride);
  saltusi_tree_elimination* t = &op->trees;
  const saltusi_groups* g = &op->groups;
  int stride = op->table_stride;
  for (int b = g->start[c]; b < g->start[c + 1]; b++) {
    const saltusi_block_entries row = saltusi_measured_entries(op, g->row[b]);
    double sum = 0.0;
    for (int e = 0; e < row.count; e++) {
      sum += row.values[e] * op->table[row.column[e] * stride + k];
    }
    t->rows[g->row[b]] = sum;
  }
  saltusi_kkt_factor_solve(&t->saddle, g->tree[c], NULL, t->rows, t->x, NULL);
  for (int e = g->column_start[c]; e < g->column_start[c + 1]; e++) {
    op->table[g->column[e] * stride + k] -= t->x[g->column[e]];
  }
}

bool saltusi_tree_elimination_all(const saltusi_operator* op) {
  assert(op != NULL);
  const saltusi_groups* g = &op->groups;
  for (int c = 0; c < g->components; c++) {
    if (g->tree[c] < 0) {
      return false;
    }
  }
  return g->components > 0;
}

bool saltusi_operator_corrects(const saltusi_operator* op) {
  assert(op != NULL);
  return op->storage == SALTUSI_STORED_BLOCKS && op->status == SALTUS_OK && !op->broken &&
         op->units == 0 && op->bilateral == op->count && saltusi_tree_elimination_all(op);
}

void saltusi_operator_correct(saltusi_operator* op, const saltusi_eval* eval, double* f,
                              const double* g, double* y) {
  assert(op != NULL && eval != NULL && f != NULL && g != NULL && y != NULL);
  int nv = eval->sys.dims.nv;
  if (op->trees.velocities < nv) { /* bodies without joints */
    memcpy(op->moved, f, (size_t)nv * sizeof(double));
    saltusi_linear_solve(eval, op->A, op->moved);
    for (int i = 0; i < nv; i++) {
      f[i] = in_tree(op, i) ? f[i] : op->moved[i];
    }
  }
  for (int k = 0; k < op->trees.saddle.components; k++) {
    saltusi_kkt_factor_solve(&op->trees.saddle, k, f, g, f, y);
  }
  for (int r = 0; r < op->count; r++) {
    y[r] = -y[r];
  }
}
