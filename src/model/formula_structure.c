/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_structure.c - sparsity structure of the formulas, and A = m M + fv F_v + fq F_q on it.
 *
 * Structurally zero derivatives are not formed, so the entries of M, F_q and F_v are the graph. Consecutive
 * coordinates coupled by M form a block, as those of a body; every other entry is in the block of a pair. Springs
 * couple all coordinates of their elongation, since their Gauss-Newton derivatives are full even if the exact ones
 * cancel.
 */
#include "formula/derive.h"
#include "model/formula_model.h"
#include "saltus/mechanism.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Up to this number of coordinates a dense matrix is as fast. Measured for chains with springs, assembled, factored
 * and solved: 16 coordinates 2.3 us dense, 2.8 us by blocks of one; 24 coordinates 4.9 and 4.2 us. */
enum { SMALL = 16 };
/* Velocities of a body in space. */
enum { BLOCK_MOST = 6 };

typedef struct formula_structure_maker {
  saltusi_formula_builder* b;
  const saltusi_formula_entries* e;
  int* block_of; /* [n] */
  int* start;    /* [blocks + 1] */
  size_t* at;    /* [blocks] index of each diagonal block */
  int blocks;
  int (*pairs)[2]; /* grows; then ascending */
  size_t pair_count, pair_room;
  size_t* pair_at; /* [pair_count] index of the block in the row of the first */
  size_t values;
} formula_structure_maker;

static const saltus_structure* inner_structure(const formula_structure_maker* k) {
  const saltus_mechanism* mechanism = k->b->def->mechanism;
  return mechanism != NULL ? saltus_mechanism_system(mechanism)->structure : NULL;
}

static int first_of(int* set, int i) {
  while (set[i] != i) {
    set[i] = set[set[i]];
    i = set[i];
  }
  return i;
}

/* Runs of coordinates coupled by M, then the blocks of the mechanism. */
static bool find_blocks(formula_structure_maker* k) {
  const int n = k->e->n, own = k->b->def->coordinate_count;
  int* set = SALTUSI_TAKE(&k->b->work, int, n);
  k->block_of = SALTUSI_TAKE(&k->b->work, int, n);
  k->start = SALTUSI_TAKE(&k->b->model->pool, int, n + 1);
  k->at = SALTUSI_TAKE(&k->b->work, size_t, n);
  if (k->b->work.failed || k->b->model->pool.failed) {
    return false;
  }
  for (int i = 0; i < n; i++) {
    set[i] = i;
  }
  for (size_t m = 0; m < k->e->M_count; m++) {
    const int a = first_of(set, k->e->M[m].row), b = first_of(set, k->e->M[m].column);
    set[a > b ? a : b] = a > b ? b : a;
  }
  for (int i = 0; i < own; i++) {
    const bool joins = i > 0 && first_of(set, i) == first_of(set, i - 1) &&
                       i - k->start[k->blocks - 1] < BLOCK_MOST;
    if (!joins) {
      k->start[k->blocks++] = i;
    }
    k->block_of[i] = k->blocks - 1;
  }
  const saltus_structure* inner = inner_structure(k);
  for (int j = 0; inner != NULL && j < inner->blocks; j++) {
    k->start[k->blocks] = own + inner->start[j];
    for (int i = inner->start[j]; i < inner->start[j + 1]; i++) {
      k->block_of[own + i] = k->blocks;
    }
    k->blocks++;
  }
  k->start[k->blocks] = n;
  return true;
}

static void add_pair(formula_structure_maker* k, int row, int column) {
  const int i = k->block_of[row], j = k->block_of[column];
  if (i == j) {
    return;
  }
  if (!saltusi_grow(&k->b->graph.allocator, (void**)&k->pairs, &k->pair_room, k->pair_count + 1,
                    sizeof *k->pairs)) {
    k->b->graph.status = SALTUS_ERR_MEMORY;
    return;
  }
  k->pairs[k->pair_count][0] = i < j ? i : j;
  k->pairs[k->pair_count++][1] = i < j ? j : i;
}

static void add_spring(formula_structure_maker* k, saltusi_expr elongation) {
  saltusi_graph* g = &k->b->graph;
  const int first = saltusi_velocity(g, 0);
  const saltusi_graph_span span = saltusi_slopes(g, elongation);
  for (int i = 0; i < span.count; i++) {
    for (int j = 0; j < i; j++) {
      add_pair(k, g->entries[span.first + i].variable - first,
               g->entries[span.first + j].variable - first);
    }
  }
}

static int by_blocks(const void* a, const void* b) {
  const int* x = a;
  const int* y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static void find_pairs(formula_structure_maker* k) {
  for (size_t m = 0; m < k->e->M_count; m++) {
    add_pair(k, k->e->M[m].row, k->e->M[m].column);
  }
  for (size_t m = 0; m < k->e->F_x_count; m++) {
    add_pair(k, k->e->F_x[m].row, k->e->F_x[m].column % k->e->n);
  }
  for (int i = 0; i < k->b->def->spring_count; i++) {
    add_spring(k, k->b->springs[i].elongation);
  }
  const saltus_structure* inner = inner_structure(k);
  for (int p = 0; inner != NULL && p < inner->pairs; p++) {
    const int own = k->b->def->coordinate_count;
    add_pair(k, own + inner->start[inner->pair[2 * p]], own + inner->start[inner->pair[2 * p + 1]]);
  }
  if (k->pair_count == 0) {
    return;
  }
  qsort(k->pairs, k->pair_count, sizeof *k->pairs, by_blocks);
  size_t used = 1;
  for (size_t p = 1; p < k->pair_count; p++) {
    if (by_blocks(k->pairs[p], k->pairs[used - 1]) != 0) {
      memcpy(k->pairs[used++], k->pairs[p], sizeof *k->pairs);
    }
  }
  k->pair_count = used;
}

static size_t size_of(const formula_structure_maker* k, int block) {
  return (size_t)(k->start[block + 1] - k->start[block]);
}

static bool find_places(formula_structure_maker* k) {
  k->pair_at = SALTUSI_TAKE(&k->b->work, size_t, k->pair_count);
  if (k->b->work.failed) {
    return false;
  }
  for (int i = 0; i < k->blocks; i++) {
    k->at[i] = k->values;
    k->values += size_of(k, i) * size_of(k, i);
  }
  for (size_t p = 0; p < k->pair_count; p++) {
    k->pair_at[p] = k->values;
    k->values += 2 * size_of(k, k->pairs[p][0]) * size_of(k, k->pairs[p][1]);
  }
  return true;
}

static void put(formula_structure_maker* k, int row, int column, saltusi_expr expr) {
  const int i = k->block_of[row], j = k->block_of[column];
  size_t first = k->at[i];
  if (i != j) {
    const int wanted[2] = {i < j ? i : j, i < j ? j : i};
    const int(*pair)[2] = bsearch(wanted, k->pairs, k->pair_count, sizeof *k->pairs, by_blocks);
    first = k->pair_at[pair - (const int(*)[2])k->pairs];
    first += i < j ? 0 : size_of(k, i) * size_of(k, j);
  }
  saltusi_formula_put(
      k->b, first + (size_t)(row - k->start[i]) * size_of(k, j) + (size_t)(column - k->start[j]),
      expr);
}

static void make_programs(formula_structure_maker* k) {
  saltus_formula_model* model = k->b->model;
  for (size_t m = 0; m < k->e->M_count; m++) {
    const saltusi_formula_entry e = k->e->M[m];
    put(k, e.row, e.column, e.expr);
    if (e.row != e.column) {
      put(k, e.column, e.row, e.expr);
    }
  }
  saltusi_formula_make(k->b, k->values, &model->mass_blocks);
  for (int velocity = 0; velocity < 2; velocity++) {
    for (size_t m = 0; m < k->e->F_x_count; m++) {
      const saltusi_formula_entry e = k->e->F_x[m];
      if ((e.column >= k->e->n) == (velocity == 1)) {
        put(k, e.row, e.column % k->e->n, e.expr);
      }
    }
    saltusi_formula_make(k->b, k->values,
                         velocity ? &model->force_v_blocks : &model->force_q_blocks);
  }
  model->buffer = k->values > model->buffer ? k->values : model->buffer;
}

/* Offsets of the values of the structure of the mechanism. */
static saltus_status find_inner_places(formula_structure_maker* k) {
  const saltus_structure* s = inner_structure(k);
  saltusi_formula_inner* inner = &k->b->model->inner;
  const int before = k->blocks - s->blocks;
  inner->pair_at = SALTUSI_TAKE(&k->b->model->pool, size_t, s->pairs);
  if (inner->pair_at == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  inner->diagonal_at = before < k->blocks ? k->at[before] : 0;
  for (int i = before; i < k->blocks; i++) {
    inner->diagonal += size_of(k, i) * size_of(k, i);
  }
  inner->values = inner->diagonal;
  for (int p = 0; p < s->pairs && k->pairs != NULL; p++) {
    const int wanted[2] = {before + s->pair[2 * p], before + s->pair[2 * p + 1]};
    const int(*pair)[2] = bsearch(wanted, k->pairs, k->pair_count, sizeof *k->pairs, by_blocks);
    inner->pair_at[p] = k->pair_at[pair - (const int(*)[2])k->pairs];
    inner->values += 2 * size_of(k, wanted[0]) * size_of(k, wanted[1]);
  }
  inner->same_blocks = before == 0 && (size_t)s->pairs == k->pair_count;
  for (int p = 0; p < s->pairs && inner->same_blocks; p++) {
    /* in the same order, too */
    inner->same_blocks = k->pairs[p][0] == s->pair[2 * p] && k->pairs[p][1] == s->pair[2 * p + 1];
  }
  k->b->model->buffer = inner->values > k->b->model->buffer ? inner->values : k->b->model->buffer;
  return k->b->graph.status;
}

/* A structure that omits less than half of the matrix is not used. */
static saltus_status make(formula_structure_maker* k) {
  saltus_formula_model* model = k->b->model;
  const size_t square = (size_t)k->e->n * (size_t)k->e->n;
  if (!find_blocks(k)) {
    return SALTUS_ERR_MEMORY;
  }
  find_pairs(k);
  if (k->b->graph.status != SALTUS_OK || !find_places(k)) {
    return k->b->graph.status != SALTUS_OK ? k->b->graph.status : SALTUS_ERR_MEMORY;
  }
  if (inner_structure(k) == NULL && 2 * k->values > square) {
    return SALTUS_OK;
  }
  int* pair = SALTUSI_TAKE(&model->pool, int, 2 * k->pair_count);
  if (model->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  if (k->pair_count > 0) {
    memcpy(pair, k->pairs, k->pair_count * sizeof *k->pairs);
  }
  model->structure = (saltus_structure){k->blocks, k->start, (int)k->pair_count, pair};
  model->system.structure = &model->structure;
  make_programs(k);
  return inner_structure(k) != NULL ? find_inner_places(k) : k->b->graph.status;
}

saltus_status saltusi_formula_structure(saltusi_formula_builder* b,
                                        const saltusi_formula_entries* entries) {
  assert(b != NULL && entries != NULL);
  if (entries->n <= SMALL && b->def->mechanism == NULL) {
    return SALTUS_OK;
  }
  formula_structure_maker k = {.b = b, .e = entries};
  saltus_status status = make(&k);
  saltusi_release(&b->graph.allocator, k.pairs, k.pair_room, sizeof *k.pairs);
  return status;
}
