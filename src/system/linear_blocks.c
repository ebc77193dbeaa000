/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * linear_blocks.c - see linear_blocks.h.
 */
#include "system/linear_blocks.h"

#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* As in linear.c: a pivot below this fraction of its column is rounding. */
static const double singular_pivot = 1e-14;

/* Velocities of one half of a body in space: of its centre, and angular ones. */
enum { HALF = 3 };

/* A block of a row: its block column and its offset in the values. */
typedef struct linear_blocks_entry {
  size_t from;
  int unit;
} linear_blocks_entry;

/* Rows of blocks with their neighbours, ascending: the pattern of the symbolic factorisation. */
typedef struct linear_blocks_graph {
  linear_blocks_entry* entries; /* [blocks + 2 pairs] */
  size_t* from;                 /* the same, apart */
  int* unit;
  int* start;     /* [blocks + 1] */
  int* next;      /* [blocks] */
  int* component; /* [blocks] */
} linear_blocks_graph;

static void graph_layout(linear_blocks_graph* g, const saltus_structure* s, saltus_arena* arena) {
  const size_t count = (size_t)s->blocks + 2 * (size_t)s->pairs;
  g->entries = SALTUS_PUSH(arena, linear_blocks_entry, count);
  g->from = SALTUS_PUSH(arena, size_t, count);
  g->unit = SALTUS_PUSH(arena, int, count);
  g->start = SALTUS_PUSH(arena, int, s->blocks + 1);
  g->next = SALTUS_PUSH(arena, int, s->blocks);
  g->component = SALTUS_PUSH(arena, int, s->blocks);
}

static int by_unit(const void* a, const void* b) {
  const linear_blocks_entry* x = a;
  const linear_blocks_entry* y = b;
  return (x->unit > y->unit) - (x->unit < y->unit);
}

static void list_entries(linear_blocks_graph* g, const saltus_structure* s) {
  size_t at = 0;
  for (int i = 0; i < s->blocks; i++) {
    const size_t n = (size_t)saltusi_block_size(s, i);
    g->entries[g->next[i]++] = (linear_blocks_entry){at, i};
    at += n * n;
  }
  for (int p = 0; p < s->pairs; p++) {
    const int i = s->pair[2 * p], j = s->pair[2 * p + 1];
    const size_t size = (size_t)saltusi_block_size(s, i) * (size_t)saltusi_block_size(s, j);
    g->entries[g->next[i]++] = (linear_blocks_entry){at, j};
    g->entries[g->next[j]++] = (linear_blocks_entry){at + size, i};
    at += 2 * size;
  }
}

static void graph_fill(linear_blocks_graph* g, const saltus_structure* s) {
  g->start[0] = 0;
  for (int i = 0; i < s->blocks; i++) {
    g->start[i + 1] = 1;
  }
  for (int p = 0; p < 2 * s->pairs; p++) {
    g->start[s->pair[p] + 1]++;
  }
  for (int i = 0; i < s->blocks; i++) {
    g->next[i] = g->start[i];
    g->start[i + 1] += g->start[i];
  }
  list_entries(g, s);
  for (int i = 0; i < s->blocks; i++) {
    qsort(g->entries + g->start[i], (size_t)(g->start[i + 1] - g->start[i]),
          sizeof(linear_blocks_entry), by_unit);
  }
  for (int e = 0; e < g->start[s->blocks]; e++) {
    g->from[e] = g->entries[e].from;
    g->unit[e] = g->entries[e].unit;
  }
}

/* Velocities of the largest component. */
static int largest_component(linear_blocks_graph* g, const saltus_structure* s) {
  const int count = saltusi_structure_components(s, g->component);
  int most = 0;
  memset(g->next, 0, (size_t)count * sizeof(int));
  for (int i = 0; i < s->blocks; i++) {
    int* rows = &g->next[g->component[i]];
    *rows += saltusi_block_size(s, i);
    most = *rows > most ? *rows : most;
  }
  return most;
}

/* 2 or 3 if all blocks have this number of rows, for which the factorisation has kernels; else 0. */
static int common_size(const saltus_structure* s) {
  const int size = saltusi_block_size(s, 0);
  for (int i = 1; i < s->blocks; i++) {
    if (saltusi_block_size(s, i) != size) {
      return 0;
    }
  }
  return size == 2 || size == 3 ? size : 0;
}

/* Size that no allocator provides: creation fails if the sizes cannot be computed. */
static void push_too_much(saltus_arena* arena) {
  saltus_arena_push(arena, SIZE_MAX / 4, 1, 1);
}

/* The memory of the factors depends on order and fill, so these are computed in the counting pass as well, in
 * temporary memory. */
static void factor_layout(saltusi_linear_blocks* b, saltus_arena* arena) {
  const saltus_structure* s = b->structure;
  const saltus_allocator memory = saltus_allocator_default();
  linear_blocks_graph g;
  saltus_arena count = saltus_arena_counting();
  graph_layout(&g, s, &count);
  void* block = saltus_arena_push(arena, count.used, 1, SALTUS_ALIGNMENT);
  const bool counting = block == NULL;
  if (counting) {
    block = memory.alloc(count.used, memory.user);
  }
  if (block == NULL) {
    push_too_much(arena);
    return;
  }
  saltus_arena over = saltus_arena_over(block, count.used);
  graph_layout(&g, s, &over);
  graph_fill(&g, s);
  b->component_max = largest_component(&g, s);
  const saltusi_block_pattern pattern = {.units = s->blocks,
                                         .rows = s->start[s->blocks],
                                         .blocks = g.start[s->blocks],
                                         .uniform = common_size(s),
                                         .unit_max = b->block_max,
                                         .offset = s->start,
                                         .start = g.start,
                                         .unit = g.unit};
  if (saltusi_block_lu_plan(&b->lu, &pattern, arena) != SALTUS_OK) {
    push_too_much(arena);
  }
  if (counting) {
    memory.free(block, count.used, memory.user);
  } else {
    b->from = g.from;
  }
}

static void find_components(saltusi_linear_blocks* b) {
  const saltus_structure* s = b->structure;
  b->components = saltusi_structure_components(s, b->component);
  memset(b->component_start, 0, (size_t)(b->components + 1) * sizeof(int));
  for (int i = 0; i < s->blocks; i++) {
    b->component_start[b->component[i] + 1]++;
  }
  for (int c = 0; c < b->components; c++) {
    b->component_start[c + 1] += b->component_start[c];
    b->met[c] = b->component_start[c];
  }
  for (int i = 0; i < s->blocks; i++) {
    b->component_block[b->met[b->component[i]]++] = i;
  }
  memcpy(b->met, b->component_start, (size_t)b->components * sizeof(int));
  for (int k = 0; k < s->blocks; k++) {
    b->position[b->met[b->component[b->lu.order[k]]]++] = k;
  }
  memset(b->marked, 0, (size_t)b->components);
}

static void coupled_layout(saltusi_linear_blocks* b, saltus_arena* arena) {
  const int blocks = b->structure->blocks;
  const int nv = b->structure->start[blocks];
  factor_layout(b, arena);
  b->x = SALTUS_PUSH(arena, double, nv);
  b->trial = SALTUS_PUSH2(arena, double, 2, nv);
  b->symmetric = SALTUS_PUSH(arena, double, b->values);
  b->component = SALTUS_PUSH(arena, int, blocks);
  b->component_start = SALTUS_PUSH(arena, int, blocks + 1);
  b->component_block = SALTUS_PUSH(arena, int, blocks);
  b->position = SALTUS_PUSH(arena, int, blocks);
  b->met = SALTUS_PUSH(arena, int, blocks);
  b->marked = SALTUS_PUSH(arena, unsigned char, blocks);
  if (b->marked != NULL) {
    find_components(b);
  }
}

void saltusi_linear_blocks_layout(saltusi_linear_blocks* b, const saltus_system* sys,
                                  saltus_arena* arena) {
  const saltus_structure* s = sys->structure;
  const int nv = sys->dims.nv;
  assert(s != NULL && s->start[s->blocks] == nv);
  b->structure = s;
  b->mass_kept = false;
  b->values = saltusi_structure_values(s);
  b->diagonal_values = saltusi_structure_diagonal_values(s);
  b->block_max = saltusi_structure_block_max(s);
  b->M = SALTUS_PUSH(arena, double, b->values);
  b->A = SALTUS_PUSH(arena, double, b->values);
  b->factor = SALTUS_PUSH(arena, double, b->diagonal_values);
  const bool gathered = sys->ops->blocks == NULL;
  b->part = gathered ? SALTUS_PUSH(arena, double, b->values) : NULL;
  b->dense = gathered ? SALTUS_PUSH2(arena, double, nv, nv) : NULL;
  b->diagonal = SALTUS_PUSH(arena, double, nv);
  b->own = SALTUS_PUSH2(arena, double, b->block_max, b->block_max);
  b->pivot = SALTUS_PUSH(arena, int, nv);
  b->inverse = SALTUS_PUSH2(arena, double, sys->structure->blocks, 2 * HALF * HALF);
  b->halved = SALTUS_PUSH(arena, unsigned char, sys->structure->blocks);
  b->block_of = SALTUS_PUSH(arena, int, nv);
  b->at = SALTUS_PUSH(arena, size_t, s->blocks);
  for (int i = 0; b->at != NULL && i < s->blocks; i++) {
    const size_t before = i > 0 ? (size_t)saltusi_block_size(s, i - 1) : 0;
    b->at[i] = i > 0 ? b->at[i - 1] + before * before : 0;
    for (int a = s->start[i]; a < s->start[i + 1]; a++) {
      b->block_of[a] = i;
    }
  }
  if (s->pairs > 0) {
    coupled_layout(b, arena);
  }
}

static double largest(size_t count, const double* x) {
  double most = 0.0;
  for (size_t k = 0; k < count; k++) {
    most = saltusi_larger(most, fabs(x[k]));
  }
  return most;
}

static void add(size_t count, double s, const double* x, double* y) {
  for (size_t k = 0; k < count; k++) {
    y[k] += s * x[k];
  }
}

/* Values of A and of M. coefficients: of M, F_v and F_q. */
static void evaluate(saltusi_linear_blocks* b, saltusi_eval* eval, const saltus_point* at,
                     const double coefficients[3]) {
  const saltus_system* sys = &eval->sys;
  const bool forces =
      (sys->traits & SALTUS_FREE_FORCE) == 0 && (coefficients[1] != 0.0 || coefficients[2] != 0.0);
  const double fv = forces ? coefficients[1] : 0.0, fq = forces ? coefficients[2] : 0.0;
  if (!b->mass_kept && b->dense == NULL) {
    sys->ops->blocks(sys->self, at, 1.0, 0.0, 0.0, b->M);
  } else if (!b->mass_kept) {
    sys->ops->mass(sys->self, at, b->dense);
    saltusi_structure_gather(b->structure, b->dense, b->M);
  }
  b->mass_kept = (sys->traits & SALTUS_CONSTANT_MASS) != 0 && isfinite(largest(b->values, b->M));
  if (b->dense == NULL && forces) {
    sys->ops->blocks(sys->self, at, coefficients[0], fv, fq, b->A);
    return;
  }
  for (size_t k = 0; k < b->values; k++) {
    b->A[k] = coefficients[0] * b->M[k];
  }
  if (fv != 0.0) {
    saltusi_force_v(eval, at, b->dense);
    saltusi_structure_gather(b->structure, b->dense, b->part);
    add(b->values, fv, b->part, b->A);
  }
  if (fq != 0.0) {
    saltusi_force_q(eval, at, b->dense);
    saltusi_structure_gather(b->structure, b->dense, b->part);
    add(b->values, fq, b->part, b->A);
  }
}

static saltusi_coupling form_of(const saltusi_linear_blocks* b) {
  for (size_t k = b->diagonal_values; k < b->values; k++) {
    if (b->A[k] != 0.0) {
      return SALTUSI_BLOCKS_COUPLED;
    }
  }
  for (int i = 0; i < b->structure->blocks && b->block_max > 1; i++) {
    const int n = saltusi_block_size(b->structure, i);
    const double* block = b->A + b->at[i];
    for (int k = 0; k < n * n; k++) {
      if (k % (n + 1) != 0 && block[k] != 0.0) {
        return SALTUSI_BLOCKS_APART;
      }
    }
  }
  return SALTUSI_UNCOUPLED;
}

static bool factor_diagonal(saltusi_linear_blocks* b) {
  const saltus_structure* s = b->structure;
  for (int i = 0; i < s->blocks; i++) {
    const int n = saltusi_block_size(s, i);
    for (int a = 0; a < n; a++) {
      const double own = b->A[b->at[i] + (size_t)(a * (n + 1))];
      if (own == 0.0) {
        return false;
      }
      b->diagonal[s->start[i] + a] = own;
    }
  }
  return true;
}

/* det A of three rows over the product of their lengths, above which minors lose at most half of their digits. */
static const double regular_half = 1e-8;

static double length3(const double* a) {
  return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* X = A^-1 of three rows by minors, A with this stride; false: singular or nearly singular. */
static bool invert_half(const double* A, int stride, double* X) {
  const double *a = A, *b = A + stride, *c = A + 2 * (size_t)stride;
  const double x = b[1] * c[2] - b[2] * c[1], y = b[2] * c[0] - b[0] * c[2];
  const double z = b[0] * c[1] - b[1] * c[0], det = a[0] * x + a[1] * y + a[2] * z;
  const double to[HALF * HALF] = {x, a[2] * c[1] - a[1] * c[2], a[1] * b[2] - a[2] * b[1],
                                  y, a[0] * c[2] - a[2] * c[0], a[2] * b[0] - a[0] * b[2],
                                  z, a[1] * c[0] - a[0] * c[1], a[0] * b[1] - a[1] * b[0]};
  for (int k = 0; k < HALF * HALF; k++) {
    X[k] = to[k] / det;
  }
  return isnormal(det) && fabs(det) > regular_half * length3(a) * length3(b) * length3(c);
}

/* The inverse of a block whose halves are uncoupled. */
static bool invert_halves(int n, const double* A, double* X) {
  if (n != 2 * HALF) {
    return false;
  }
  bool apart = true;
  for (int i = 0; i < HALF; i++) {
    for (int j = HALF; j < 2 * HALF; j++) {
      apart = apart && A[i * n + j] == 0.0 && A[j * n + i] == 0.0;
    }
  }
  return apart && invert_half(A, n, X) &&
         invert_half(A + HALF * (n + 1), n, X + (size_t)HALF * HALF);
}

/* Factors blocks with coupled halves, and those whose inverse failed. */
static bool factor_apart(saltusi_linear_blocks* b) {
  const saltus_structure* s = b->structure;
  for (int i = 0; i < s->blocks; i++) {
    const int n = saltusi_block_size(s, i);
    const double* block = b->A + b->at[i];
    b->halved[i] = (unsigned char)invert_halves(n, block, b->inverse + (size_t)i * 2 * HALF * HALF);
    if (b->halved[i] == 0) {
      double* factor = b->factor + b->at[i];
      memcpy(factor, block, (size_t)n * (size_t)n * sizeof(double));
      if (!saltusi_lu_factor(n, factor, b->pivot + s->start[i], singular_pivot)) {
        return false;
      }
    }
  }
  return true;
}

static bool factor_coupled(saltusi_linear_blocks* b) {
  saltusi_block_lu* lu = &b->lu;
  const int entries = lu->start[lu->units];
  for (int e = 0; e < entries; e++) {
    memcpy(lu->values + lu->place[e], b->A + b->from[e],
           (lu->place[e + 1] - lu->place[e]) * sizeof(double));
  }
  return saltusi_block_lu_prepare(lu, singular_pivot, b->trial);
}

saltus_status saltusi_linear_blocks_assemble(saltusi_linear_blocks* b, saltusi_eval* eval,
                                             const saltus_point* at, const double coefficients[3]) {
  assert(b != NULL && eval != NULL && at != NULL);
  evaluate(b, eval, at, coefficients);
  if (!isfinite(largest(b->values, b->A))) {
    /* forces that are NaN are not an error of the mass matrix */
    return isfinite(largest(b->values, b->M)) ? SALTUS_RETRY_NAN : SALTUS_ERR_SINGULAR;
  }
  b->form = form_of(b);
  const bool sound = b->form == SALTUSI_UNCOUPLED      ? factor_diagonal(b)
                     : b->form == SALTUSI_BLOCKS_APART ? factor_apart(b)
                                                       : factor_coupled(b);
  return sound ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

/* Whether the symmetric part of a square block is positive definite. */
static bool block_is_definite(saltusi_linear_blocks* b, int n, const double* block) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      b->own[i * n + j] = 0.5 * (block[i * n + j] + block[j * n + i]);
    }
  }
  return saltusi_is_definite(n, b->own);
}

/* Writes the symmetric part of A to the values of the factorisation. */
static void symmetrise(saltusi_linear_blocks* b) {
  saltusi_block_lu* lu = &b->lu;
  const saltus_structure* s = b->structure;
  size_t from = b->diagonal_values;
  memcpy(b->symmetric, b->A, b->values * sizeof(double));
  for (int i = 0; i < s->blocks; i++) {
    const int n = saltusi_block_size(s, i);
    for (int k = 0; k < n * n; k++) {
      const size_t mirrored = b->at[i] + (size_t)(k % n * n + k / n);
      b->symmetric[b->at[i] + (size_t)k] = 0.5 * (b->A[b->at[i] + (size_t)k] + b->A[mirrored]);
    }
  }
  for (int p = 0; p < s->pairs; p++) {
    const size_t rows = (size_t)saltusi_block_size(s, s->pair[2 * p]);
    const size_t columns = (size_t)saltusi_block_size(s, s->pair[2 * p + 1]);
    double* one = b->symmetric + from;
    double* other = one + rows * columns;
    for (size_t k = 0; k < rows * columns; k++) {
      double* mirrored = &other[k % columns * rows + k / columns];
      const double mean = 0.5 * (one[k] + *mirrored);
      one[k] = mean;
      *mirrored = mean;
    }
    from += 2 * rows * columns;
  }
  for (int e = 0; e < lu->start[lu->units]; e++) {
    memcpy(lu->values + lu->place[e], b->symmetric + b->from[e],
           (lu->place[e + 1] - lu->place[e]) * sizeof(double));
  }
}

/* S is positive definite if all diagonal blocks are so at their elimination. Afterwards the factors of A are restored.
 * */
static bool coupled_is_definite(saltusi_linear_blocks* b) {
  saltusi_block_lu* lu = &b->lu;
  const bool kept = lu->no_pivoting;
  const size_t square = (size_t)lu->unit_max * (size_t)lu->unit_max;
  symmetrise(b);
  lu->no_pivoting = true;
  bool definite = saltusi_block_lu_factor(lu);
  for (int k = 0; k < lu->units && definite; k++) {
    definite =
        block_is_definite(b, lu->row_at[k + 1] - lu->row_at[k], lu->inverse + (size_t)k * square);
  }
  lu->no_pivoting = kept;
  factor_coupled(b);
  return definite;
}

bool saltusi_linear_blocks_definite(saltusi_linear_blocks* b) {
  assert(b != NULL);
  const saltus_structure* s = b->structure;
  if (b->form == SALTUSI_BLOCKS_COUPLED) {
    return coupled_is_definite(b);
  }
  for (int i = 0; i < s->blocks; i++) {
    if (!block_is_definite(b, saltusi_block_size(s, i), b->A + b->at[i])) {
      return false;
    }
  }
  return true;
}

static void times_half(const double* X, double* x) {
  const double a = x[0], b = x[1], c = x[2];
  for (int i = 0; i < HALF; i++) {
    x[i] = X[HALF * i] * a + X[HALF * i + 1] * b + X[HALF * i + 2] * c;
  }
}

/* x <- A^-1 x of a diagonal block while no pair couples. */
static void solve_block(const saltusi_linear_blocks* b, int i, double* x) {
  if (b->halved[i] != 0) {
    const double* X = b->inverse + (size_t)i * 2 * HALF * HALF;
    times_half(X, x);
    times_half(X + (size_t)HALF * HALF, x + HALF);
  } else {
    saltusi_lu_solve(saltusi_block_size(b->structure, i), b->factor + b->at[i],
                     b->pivot + b->structure->start[i], x);
  }
}

void saltusi_linear_blocks_solve(const saltusi_linear_blocks* b, double* x) {
  assert(b != NULL);
  const saltus_structure* s = b->structure;
  if (b->form == SALTUSI_BLOCKS_COUPLED) {
    saltusi_block_lu_apply(&b->lu, x);
  } else if (b->form == SALTUSI_UNCOUPLED) {
    for (int i = 0; i < s->start[s->blocks]; i++) {
      x[i] /= b->diagonal[i];
    }
  } else {
    for (int i = 0; i < s->blocks; i++) {
      const int n = saltusi_block_size(s, i);
      if (saltusi_max_abs(n, x + s->start[i]) !=
          0.0) { /* a row has entries for one or two of many bodies */
        solve_block(b, i, x + s->start[i]);
      }
    }
  }
}

/* Solves the blocks of a row one by one. */
static int solve_row_apart(const saltusi_linear_blocks* b, int width, const int* column,
                           const double* entries, int* out_column, double* out) {
  const saltus_structure* s = b->structure;
  int used = 0;
  for (int k = 0; k < width;) {
    const int i = b->block_of[column != NULL ? column[k] : k];
    const int n = saltusi_block_size(s, i);
    for (int a = 0; a < n; a++) {
      out_column[used + a] = s->start[i] + a;
      out[used + a] = 0.0;
    }
    for (; k < width && (column != NULL ? column[k] : k) < s->start[i + 1]; k++) {
      out[used + (column != NULL ? column[k] : k) - s->start[i]] = entries[k];
    }
    solve_block(b, i, out + used);
    used += n;
  }
  return used;
}

/* Components of a row, into b->met; copies the row to their part of b->x. */
static int meet(const saltusi_linear_blocks* b, int width, const int* column,
                const double* entries) {
  const saltus_structure* s = b->structure;
  int count = 0;
  for (int k = 0; k < width; k++) {
    const int c = b->component[b->block_of[column != NULL ? column[k] : k]];
    if (b->marked[c] != 0) {
      continue;
    }
    b->marked[c] = 1;
    b->met[count++] = c;
    for (int e = b->component_start[c]; e < b->component_start[c + 1]; e++) {
      const int i = b->component_block[e];
      memset(b->x + s->start[i], 0, (size_t)saltusi_block_size(s, i) * sizeof(double));
    }
  }
  for (int k = 0; k < width; k++) {
    b->x[column != NULL ? column[k] : k] = entries[k];
  }
  for (int m = 0; m < count; m++) {
    b->marked[b->met[m]] = 0;
  }
  return count;
}

static int copy_block(const saltusi_linear_blocks* b, int i, int used, int* out_column,
                      double* out) {
  const saltus_structure* s = b->structure;
  for (int a = s->start[i]; a < s->start[i + 1]; a++, used++) {
    out_column[used] = a;
    out[used] = b->x[a];
  }
  return used;
}

/* The solution on the components of the row, columns ascending. */
static int collect(const saltusi_linear_blocks* b, int count, int* out_column, double* out) {
  enum { FEW = 8 };
  int head[FEW], used = 0;
  if (count > FEW) { /* rows with many components are rare: all blocks are searched */
    for (int m = 0; m < count; m++) {
      b->marked[b->met[m]] = 1;
    }
    for (int i = 0; i < b->structure->blocks; i++) {
      used = b->marked[b->component[i]] != 0 ? copy_block(b, i, used, out_column, out) : used;
    }
    for (int m = 0; m < count; m++) {
      b->marked[b->met[m]] = 0;
    }
    return used;
  }
  for (int m = 0; m < count; m++) {
    head[m] = b->component_start[b->met[m]];
  }
  for (;;) {
    int first = -1;
    for (int m = 0; m < count; m++) {
      const bool left = head[m] < b->component_start[b->met[m] + 1];
      if (left && (first < 0 || b->component_block[head[m]] < b->component_block[head[first]])) {
        first = m;
      }
    }
    if (first < 0) {
      return used;
    }
    used = copy_block(b, b->component_block[head[first]++], used, out_column, out);
  }
}

static int solve_row_coupled(const saltusi_linear_blocks* b, int width, const int* column,
                             const double* entries, int* out_column, double* out) {
  const int nv = b->structure->start[b->structure->blocks];
  if (!saltusi_block_lu_separable(&b->lu)) {
    memset(b->x, 0, (size_t)nv * sizeof(double));
  }
  const int count = meet(b, width, column, entries);
  if (!saltusi_block_lu_separable(&b->lu)) {
    saltusi_block_lu_apply(&b->lu, b->x);
  } else {
    for (int m = 0; m < count; m++) {
      const int c = b->met[m];
      saltusi_block_lu_apply_some(&b->lu, b->component_start[c + 1] - b->component_start[c],
                                  b->position + b->component_start[c], b->x);
    }
  }
  return collect(b, count, out_column, out);
}

int saltusi_linear_blocks_solve_row(const saltusi_linear_blocks* b, int width, const int* column,
                                    const double* entries, int* out_column, double* out) {
  assert(b != NULL && width >= 0);
  if (b->form == SALTUSI_BLOCKS_COUPLED) {
    return solve_row_coupled(b, width, column, entries, out_column, out);
  }
  if (b->form == SALTUSI_BLOCKS_APART) {
    return solve_row_apart(b, width, column, entries, out_column, out);
  }
  for (int k = 0; k < width; k++) {
    out_column[k] = column != NULL ? column[k] : k;
    out[k] = entries[k] / b->diagonal[out_column[k]];
  }
  return width;
}

int saltusi_linear_blocks_row_workspace(const saltusi_linear_blocks* b, int width) {
  assert(b != NULL && width >= 0);
  const int nv = b->structure->start[b->structure->blocks];
  const int widest = b->structure->pairs > 0 ? b->component_max : b->block_max;
  return (long long)width * widest < nv ? width * widest : nv;
}
