/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * block_lu_analysis.c - order and fill of the block factorisation.
 *
 * Order: math/ordering.h.
 * Fill: row i of L holds every unit on the paths of the elimination tree from the neighbours of i
 * before it up to i (Davis, ACM TOMS 31 (2005) 587-591). The first traversal counts, the second stores; storing
 * columns in the order of i leaves them and their transpose sorted.
 */
#include "math/block_lu.h"

#include "math/ordering.h"

#include <assert.h>
#include <string.h>

static int rows_of(const saltusi_block_lu* lu, int unit) {
  return lu->offset[unit + 1] - lu->offset[unit];
}

static void graph_layout(saltusi_block_lu* lu, size_t blocks, int unit_max, saltus_arena* arena) {
  int n = lu->units;
  size_t most = 2 * blocks + (size_t)n;
  lu->start = SALTUS_PUSH(arena, int, n + 1);
  lu->unit = SALTUS_PUSH(arena, int, most);
  lu->source = SALTUS_PUSH(arena, int, most);
  lu->place = SALTUS_PUSH(arena, size_t, most + 1);
  lu->diagonal = SALTUS_PUSH(arena, int, n);
  lu->order = SALTUS_PUSH(arena, int, n);
  lu->rank = SALTUS_PUSH(arena, int, n);
  lu->row_at = SALTUS_PUSH(arena, int, n + 1);
  lu->lower_start = SALTUS_PUSH(arena, int, n + 1);
  lu->upper_start = SALTUS_PUSH(arena, int, n + 1);
  lu->parent = SALTUS_PUSH(arena, int, n);
  lu->mark = SALTUS_PUSH(arena, int, n);
  lu->count = SALTUS_PUSH(arena, int, n + 1);
  lu->pivot = SALTUS_PUSH(arena, int, unit_max);
  lu->ordering = SALTUS_PUSH(arena, int, saltusi_ordering_workspace(most, n));
}

/* Transpose of the pattern of W into start/unit; the upper halves of unit are free for it. */
static void transpose(const saltusi_block_pattern* pattern, int* start, int* unit, int* next) {
  int n = pattern->units;
  memset(start, 0, (size_t)(n + 1) * sizeof(int));
  for (int e = 0; e < pattern->blocks; e++) {
    start[pattern->unit[e] + 1]++;
  }
  for (int i = 0; i < n; i++) {
    start[i + 1] += start[i];
    next[i] = start[i];
  }
  for (int i = 0; i < n; i++) {
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      unit[next[pattern->unit[e]]++] = i;
    }
  }
}

/* Merges W, its transpose and the diagonal; the transpose is in the last part of lu->source. */
static void unite(saltusi_block_lu* lu, const saltusi_block_pattern* pattern) {
  int n = pattern->units;
  int* turned_start = lu->count;
  int* turned = lu->source + pattern->blocks + n;
  transpose(pattern, turned_start, turned, lu->mark);
  int used = 0;
  lu->place[0] = 0;
  for (int i = 0; i < n; i++) {
    lu->start[i] = used;
    int a = pattern->start[i];
    int b = turned_start[i];
    bool own = false;
    for (;;) {
      int from_row = a < pattern->start[i + 1] ? pattern->unit[a] : n;
      int from_column = b < turned_start[i + 1] ? turned[b] : n;
      int next = from_row < from_column ? from_row : from_column;
      if (!own && i <= next) {
        next = i;
      }
      if (next == n) {
        break;
      }
      own = own || next == i;
      a += from_row == next ? 1 : 0;
      b += from_column == next ? 1 : 0;
      if (next == i) {
        lu->diagonal[i] = used;
      }
      lu->unit[used] = next;
      lu->source[used] = from_row == next ? a - 1 : -1;
      lu->place[used + 1] = lu->place[used] + (size_t)rows_of(lu, i) * (size_t)rows_of(lu, next);
      used++;
    }
  }
  lu->start[n] = used;
}

/* Calls a function for every entry k < i of row i of L; computes `parent`. */
static int walk_row(saltusi_block_lu* lu, int i, int* found) {
  int length = 0;
  int unit = lu->order[i];
  lu->mark[i] = i;
  for (int e = lu->start[unit]; e < lu->start[unit + 1]; e++) {
    for (int k = lu->rank[lu->unit[e]]; k < i && lu->mark[k] != i; k = lu->parent[k]) {
      if (lu->parent[k] < 0) {
        lu->parent[k] = i;
      }
      lu->mark[k] = i;
      found[length++] = k;
    }
  }
  return length;
}

/* Sizes of the rows of L and U, and the operation counts of factorisation and solve. */
static void count_fill(saltusi_block_lu* lu) {
  int n = lu->units;
  int* found = lu->count;
  int* upper_rows = lu->lower_start; /* scalar rows below each pivot; temporary use of this array */
  memset(lu->upper_start, 0, (size_t)(n + 1) * sizeof(int));
  memset(upper_rows, 0, (size_t)(n + 1) * sizeof(int));
  for (int i = 0; i < n; i++) {
    lu->parent[i] = -1;
    lu->mark[i] = -1;
  }
  for (int i = 0; i < n; i++) {
    int length = walk_row(lu, i, found);
    for (int a = 0; a < length; a++) {
      lu->upper_start[found[a] + 1]++;
      upper_rows[found[a]] += rows_of(lu, lu->order[i]);
    }
  }
  lu->cost = 0.0;
  lu->solve_cost = 0.0;
  for (int k = 0; k < n; k++) {
    double d = rows_of(lu, lu->order[k]);
    double below = upper_rows[k];
    lu->cost += d * below * below + 2.0 * d * d * below + d * d * d;
    lu->solve_cost += 2.0 * d * below + d * d;
    lu->upper_start[k + 1] += lu->upper_start[k];
  }
}

saltus_status saltusi_block_lu_analyse(saltusi_block_lu* lu, const saltusi_block_pattern* pattern,
                                       const saltus_allocator* memory) {
  assert(lu != NULL && pattern != NULL && memory != NULL);
  lu->ready = false;
  lu->units = pattern->units;
  lu->rows = pattern->rows;
  lu->uniform = pattern->uniform;
  lu->unit_max = pattern->unit_max;
  lu->offset = pattern->offset;
  saltus_arena arena = saltus_arena_counting();
  graph_layout(lu, (size_t)pattern->blocks, pattern->unit_max, &arena);
  saltus_status status = saltusi_buffer_reserve(&lu->graph_memory, memory, arena.used);
  if (status != SALTUS_OK) {
    return status;
  }
  arena = saltus_arena_over(lu->graph_memory.block, lu->graph_memory.bytes);
  graph_layout(lu, (size_t)pattern->blocks, pattern->unit_max, &arena);
  unite(lu, pattern);
  saltusi_ordering(lu->units, lu->start, lu->unit, NULL, lu->order, lu->ordering);
  lu->row_at[0] = 0;
  for (int i = 0; i < lu->units; i++) {
    lu->rank[lu->order[i]] = i;
    lu->row_at[i + 1] = lu->row_at[i] + rows_of(lu, lu->order[i]);
  }
  count_fill(lu);
  return SALTUS_OK;
}

/* Capacity for the fill of pivoting: three times that of the block factors, at most a full triangle and a quarter of a
 * gigabyte; a fifth of that if pivoting is rare. */
static size_t pivoted_room(const saltusi_block_lu* lu, size_t scalars) {
  const size_t most = lu->planned ? 2000000 : 10000000;
  size_t full = (size_t)lu->rows * ((size_t)lu->rows + 1) / 2;
  size_t wanted = (lu->planned ? 2 : 3) * (scalars + (size_t)lu->unit_max * (size_t)lu->rows);
  wanted = wanted < full ? wanted : full;
  return wanted < most ? wanted : most;
}

/* values: of the matrix; entries and scalars: of L. */
static void factor_layout(saltusi_block_lu* lu, size_t values, size_t entries, size_t scalars,
                          saltus_arena* arena) {
  size_t n = (size_t)lu->units;
  size_t square = (size_t)lu->unit_max * (size_t)lu->unit_max;
  lu->values = SALTUS_PUSH(arena, double, values);
  lu->lower_unit = SALTUS_PUSH(arena, int, entries);
  lu->upper_unit = SALTUS_PUSH(arena, int, entries);
  lu->lower_place = SALTUS_PUSH(arena, size_t, entries + 1);
  lu->upper_place = SALTUS_PUSH(arena, size_t, entries + 1);
  lu->lower = SALTUS_PUSH(arena, double, scalars);
  lu->upper = SALTUS_PUSH(arena, double, scalars);
  lu->inverse = SALTUS_PUSH(arena, double, n* square);
  lu->row = SALTUS_PUSH(arena, double, n* square);
  lu->solved = SALTUS_PUSH(arena, double, lu->rows);
  lu->rest = SALTUS_PUSH(arena, double, lu->rows);
  lu->correction = SALTUS_PUSH(arena, double, lu->rows);
  lu->right = SALTUS_PUSH(arena, double, lu->rows);
  lu->scratch = SALTUS_PUSH2(arena, double, lu->unit_max, lu->unit_max + 1);
  saltusi_pivoted_lu_layout(&lu->pivoted, lu->rows, pivoted_room(lu, scalars), arena);
}

/* Second traversal: columns of L, that is rows of U, then their transpose. */
static void fill(saltusi_block_lu* lu) {
  int n = lu->units;
  int* found = lu->lower_unit; /* free until the transpose; a row has fewer entries than L */
  int* next = lu->count;
  memcpy(next, lu->upper_start, (size_t)n * sizeof(int));
  memset(lu->lower_start, 0, (size_t)(n + 1) * sizeof(int));
  for (int i = 0; i < n; i++) {
    lu->mark[i] = -1;
  }
  for (int i = 0; i < n; i++) {
    int length = walk_row(lu, i, found);
    lu->lower_start[i + 1] = lu->lower_start[i] + length;
    for (int a = 0; a < length; a++) {
      lu->upper_unit[next[found[a]]++] = i;
    }
  }
  memcpy(next, lu->lower_start, (size_t)n * sizeof(int));
  size_t upper_used = 0;
  for (int k = 0; k < n; k++) {
    size_t d = (size_t)rows_of(lu, lu->order[k]);
    for (int e = lu->upper_start[k]; e < lu->upper_start[k + 1]; e++) {
      int i = lu->upper_unit[e];
      lu->lower_unit[next[i]++] = k;
      lu->upper_place[e] = upper_used;
      upper_used += d * (size_t)rows_of(lu, lu->order[i]);
    }
  }
  size_t lower_used = 0;
  for (int i = 0; i < n; i++) {
    size_t d = (size_t)rows_of(lu, lu->order[i]);
    for (int e = lu->lower_start[i]; e < lu->lower_start[i + 1]; e++) {
      lu->lower_place[e] = lower_used;
      lower_used += d * (size_t)rows_of(lu, lu->order[lu->lower_unit[e]]);
    }
  }
  lu->upper_place[lu->upper_start[n]] = upper_used;
  lu->lower_place[lu->lower_start[n]] = lower_used;
}

/* factor_layout for the analysed pattern */
static void found_layout(saltusi_block_lu* lu, saltus_arena* arena) {
  /* the scalars of L: counted from the solve, which touches L and U once and D once */
  double square = 0.0;
  for (int i = 0; i < lu->units; i++) {
    double d = rows_of(lu, i);
    square += d * d;
  }
  size_t scalars = (size_t)(0.5 * (lu->solve_cost - square) + 0.5);
  factor_layout(lu, lu->place[lu->start[lu->units]], (size_t)lu->upper_start[lu->units], scalars,
                arena);
}

saltus_status saltusi_block_lu_reserve(saltusi_block_lu* lu, const saltus_allocator* memory) {
  assert(lu != NULL && memory != NULL);
  if (lu->ready) {
    return SALTUS_OK;
  }
  saltus_arena arena = saltus_arena_counting();
  found_layout(lu, &arena);
  saltus_status status = saltusi_buffer_reserve(&lu->factor_memory, memory, arena.used);
  if (status != SALTUS_OK) {
    return status;
  }
  arena = saltus_arena_over(lu->factor_memory.block, lu->factor_memory.bytes);
  found_layout(lu, &arena);
  fill(lu);
  lu->ready = true;
  return SALTUS_OK;
}

saltus_status saltusi_block_lu_plan(saltusi_block_lu* lu, const saltusi_block_pattern* pattern,
                                    saltus_arena* arena) {
  assert(lu != NULL && pattern != NULL && arena != NULL);
  const saltus_allocator memory = saltus_allocator_default();
  *lu = (saltusi_block_lu){.units = pattern->units, .planned = true};
  saltus_arena count = saltus_arena_counting();
  graph_layout(lu, (size_t)pattern->blocks, pattern->unit_max, &count);
  saltusi_buffer_layout(&lu->graph_memory, count.used, arena);
  const bool counting = lu->graph_memory.block == NULL;
  saltus_status status = saltusi_block_lu_analyse(lu, pattern, &memory);
  if (status != SALTUS_OK) {
    return status;
  }
  count = saltus_arena_counting();
  found_layout(lu, &count);
  saltusi_buffer_layout(&lu->factor_memory, count.used, arena);
  if (counting) {
    saltusi_buffer_release(&lu->graph_memory, &memory);
    return SALTUS_OK;
  }
  return saltusi_block_lu_reserve(lu, &memory);
}

void saltusi_block_lu_layout(saltusi_block_lu* lu, int units, int rows, int unit_max,
                             saltus_arena* arena) {
  assert(lu != NULL && arena != NULL && units >= 0 && rows >= 0);
  size_t pairs = (size_t)units * (size_t)units;
  size_t square = (size_t)unit_max * (size_t)unit_max;
  saltusi_block_lu full = {.units = units, .rows = rows, .unit_max = unit_max};
  saltus_arena graph = saltus_arena_counting();
  saltus_arena factors = saltus_arena_counting();
  graph_layout(&full, pairs, unit_max, &graph);
  factor_layout(&full, (size_t)rows * (size_t)rows, pairs / 2 + 1, square * (pairs / 2 + 1),
                &factors);
  saltusi_buffer_layout(&lu->graph_memory, graph.used, arena);
  saltusi_buffer_layout(&lu->factor_memory, factors.used, arena);
}

void saltusi_block_lu_release(saltusi_block_lu* lu, const saltus_allocator* memory) {
  assert(lu != NULL && memory != NULL);
  saltusi_buffer_release(&lu->graph_memory, memory);
  saltusi_buffer_release(&lu->factor_memory, memory);
  lu->ready = false;
}
