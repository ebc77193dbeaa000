/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island.c - islands by union-find over velocities (Tarjan 1975), in time linear in the entries of rows.
 */
#include "adaptive/mode/island.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Below these numbers of rows and velocities the search for islands costs more than it saves. */
enum { WHOLE_ROWS = 8, WHOLE_VELOCITIES = 64 };

void saltusi_islands_layout(saltusi_islands* is, int nv, int rows_max, saltus_arena* arena) {
  assert(is != NULL && arena != NULL && nv >= 0);
  is->nv = nv;
  is->start = SALTUS_PUSH(arena, int, rows_max + 1);
  is->item = SALTUS_PUSH(arena, int, rows_max);
  is->velocity_start = SALTUS_PUSH(arena, int, rows_max + 1);
  is->of = SALTUS_PUSH(arena, int, rows_max);
  is->inverse = SALTUS_PUSH(arena, double, nv);
  is->x = SALTUS_PUSH(arena, double, nv);
  int** each[] = {&is->velocity, &is->local, &is->parent, &is->mark};
  for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
    *each[i] = SALTUS_PUSH(arena, int, nv);
  }
}

static void reset(saltusi_islands* is) {
  for (int i = 0; i < is->nv; i++) {
    is->parent[i] = i;
    is->mark[i] = -1;
  }
}

static int root_of(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]]; /* path halving */
    i = parent[i];
  }
  return i;
}

void saltusi_islands_unite(saltusi_islands* is, int i, int j) {
  assert(is != NULL);
  int a = root_of(is->parent, i);
  int b = root_of(is->parent, j);
  if (a < b) { /* independent of the order */
    is->parent[b] = a;
  } else {
    is->parent[a] = b;
  }
}

/* Blocks of velocities, and their couplings. */
static void join_structure(saltusi_islands* is, const saltus_structure* s) {
  for (int b = 0; b < s->blocks; b++) {
    for (int i = s->start[b] + 1; i < s->start[b + 1]; i++) {
      saltusi_islands_unite(is, s->start[b], i);
    }
  }
  for (int p = 0; p < s->pairs; p++) {
    saltusi_islands_unite(is, s->start[s->pair[2 * p]], s->start[s->pair[2 * p + 1]]);
  }
}

bool saltusi_islands_open(saltusi_islands* is, const saltusi_eval* eval, const saltusi_linear* mass,
                          int rows) {
  assert(is != NULL && eval != NULL && mass != NULL && rows >= 0);
  if (rows <= WHOLE_ROWS && is->nv <= WHOLE_VELOCITIES) {
    return false;
  }
  is->diagonal = saltusi_linear_diagonal(eval, mass, is->inverse);
  if (!is->diagonal && eval->sys.structure == NULL) {
    return false;
  }
  reset(is);
  if (!is->diagonal) {
    join_structure(is, eval->sys.structure);
  }
  return true;
}

bool saltusi_islands_open_forces(saltusi_islands* is, const saltusi_eval* eval,
                                 const saltusi_linear* mass) {
  assert(is != NULL && eval != NULL && mass != NULL);
  const saltus_system* sys = &eval->sys;
  bool free_force = (sys->traits & SALTUS_FREE_FORCE) != 0;
  reset(is);
  if (sys->structure != NULL) {
    join_structure(is, sys->structure);
    return true;
  }
  return free_force && saltusi_linear_diagonal(eval, mass, is->inverse);
}

/* The first velocity that a row moves; -1: none. */
static int first_of(const saltusi_row_block* rows, int row) {
  size_t at = (size_t)row * (size_t)rows->stride;
  if (rows->column != NULL) {
    return rows->entries[row] > 0 ? rows->column[at] : -1;
  }
  for (int k = 0; k < rows->stride; k++) {
    if (rows->G[at + (size_t)k] != 0.0) {
      return k;
    }
  }
  return -1;
}

void saltusi_islands_join(saltusi_islands* is, const saltusi_row_block* rows, int row) {
  assert(is != NULL && rows != NULL && row >= 0);
  size_t at = (size_t)row * (size_t)rows->stride;
  int first = first_of(rows, row);
  if (rows->column != NULL) {
    for (int k = 1; k < rows->entries[row]; k++) {
      saltusi_islands_unite(is, first, rows->column[at + (size_t)k]);
    }
    return;
  }
  for (int k = first + 1; first >= 0 && k < rows->stride; k++) {
    if (rows->G[at + (size_t)k] != 0.0) {
      saltusi_islands_unite(is, first, k);
    }
  }
}

void saltusi_islands_join_contact(saltusi_islands* is, const saltusi_row_block* rows, int first,
                                  int count) {
  assert(is != NULL && rows != NULL && count >= 0);
  int normal = first_of(rows, first);
  for (int k = 0; k < count; k++) {
    saltusi_islands_join(is, rows, first + k);
    int tangent = first_of(rows, first + k);
    if (normal >= 0 && tangent >= 0) { /* dense rows of one contact may move other velocities */
      saltusi_islands_unite(is, normal, tangent);
    }
  }
}

bool saltusi_islands_touch(saltusi_islands* is, const saltusi_row_block* rows, int a, int b) {
  assert(is != NULL && rows != NULL);
  int first = first_of(rows, b);
  if (first < 0) {
    return false;
  }
  int root = root_of(is->parent, first);
  size_t at = (size_t)a * (size_t)rows->stride;
  int count = rows->column != NULL ? rows->entries[a] : rows->stride;
  for (int k = 0; k < count; k++) {
    bool moves = rows->column != NULL || rows->G[at + (size_t)k] != 0.0;
    int velocity = rows->column != NULL ? rows->column[at + (size_t)k] : k;
    if (moves && root_of(is->parent, velocity) == root) {
      return true;
    }
  }
  return false;
}

/* Counts to offsets: start[i] is the begin of island i; [count + 1]. */
static void places_from_counts(int count, int* start) {
  int sum = 0;
  for (int i = 0; i <= count; i++) {
    int here = i < count ? start[i] : 0;
    start[i] = sum;
    sum += here;
  }
}

void saltusi_islands_close(saltusi_islands* is, int count, const saltusi_row_block* rows,
                           const int* row) {
  assert(is != NULL && rows != NULL && count >= 0);
  is->count = 0;
  for (int i = 0; i < count; i++) {
    int first = first_of(rows, row[i]);
    int root = first >= 0 ? root_of(is->parent, first) : -1;
    int island = root >= 0 ? is->mark[root] : -1;
    if (island < 0) { /* a row without entries is an island */
      island = is->count++;
      is->start[island] = 0;
      is->velocity_start[island] = 0;
      if (root >= 0) {
        is->mark[root] = island;
      }
    }
    is->of[i] = island;
    is->start[island]++;
  }
  for (int v = 0; v < is->nv; v++) {
    int island = is->mark[root_of(is->parent, v)];
    if (island >= 0) {
      is->local[v] = is->velocity_start[island]++;
    }
  }
  places_from_counts(is->count, is->start);
  places_from_counts(is->count, is->velocity_start);
  for (int v = 0; v < is->nv; v++) {
    int island = is->mark[root_of(is->parent, v)];
    if (island >= 0) {
      is->velocity[is->velocity_start[island] + is->local[v]] = v;
    }
  }
  for (int i = 0; i < count; i++) { /* start moves to the end of its island, and back */
    is->item[is->start[is->of[i]]++] = i;
  }
  for (int i = is->count; i > 0; i--) {
    is->start[i] = is->start[i - 1];
  }
  is->start[0] = 0;
}

void saltusi_islands_merge(saltusi_islands* is, int least, int count, const saltusi_row_block* rows,
                           const int* row) {
  assert(is != NULL && least > 1 && rows != NULL && row != NULL);
  int first = -1;
  bool several = false;
  for (int i = 0; i < is->count; i++) {
    if (is->start[i + 1] - is->start[i] < least) {
      continue;
    }
    int velocity = is->velocity[is->velocity_start[i]];
    several = several || first >= 0;
    first = first >= 0 ? first : velocity;
    saltusi_islands_unite(is, first, velocity);
  }
  if (!several) {
    return;
  }
  for (int v = 0; v < is->nv; v++) {
    is->mark[v] = -1;
  }
  saltusi_islands_close(is, count, rows, row);
}

saltusi_island saltusi_island_of(const saltusi_islands* is, int i) {
  assert(i >= 0 && i < is->count);
  return (saltusi_island){.first = is->start[i],
                          .n = is->start[i + 1] - is->start[i],
                          .k = is->velocity_start[i + 1] - is->velocity_start[i],
                          .velocity = is->velocity + is->velocity_start[i],
                          .local = is->local};
}

void saltusi_islands_order(const saltusi_islands* is, int count, int* numbers, int* spare) {
  assert(is != NULL && count >= 0);
  memcpy(spare, numbers, (size_t)count * sizeof(int));
  for (int i = 0; i < count; i++) {
    numbers[i] = spare[is->item[i]];
  }
}

void saltusi_island_divide(saltusi_islands* is, const saltusi_island* in, const saltusi_eval* eval,
                           const saltusi_linear* mass, double* x) {
  assert(is != NULL && in != NULL && eval != NULL && mass != NULL);
  if (in->local == NULL) {
    saltusi_linear_solve(eval, mass, x);
  } else if (is->diagonal) {
    for (int a = 0; a < in->k; a++) {
      x[a] *= is->inverse[in->velocity[a]];
    }
  } else {
    saltusi_island_scatter(in, 1.0, x, is->x);
    saltusi_linear_solve(eval, mass, is->x);
    saltusi_island_gather(in, is->x, x);
    memset(is->x, 0, (size_t)is->nv * sizeof(double));
  }
}

double saltusi_island_dot(const saltusi_island* in, const saltusi_row_block* rows, int row,
                          const double* x) {
  assert(in != NULL && rows != NULL && row >= 0);
  if (in->local == NULL) {
    return saltusi_row_dot(rows, row, x);
  }
  const double* G = rows->G + (size_t)row * (size_t)rows->stride;
  double sum = 0.0;
  if (rows->column == NULL) {
    for (int a = 0; a < in->k; a++) {
      sum += G[in->velocity[a]] * x[a];
    }
    return sum;
  }
  const int* column = rows->column + (size_t)row * (size_t)rows->stride;
  for (int k = 0; k < rows->entries[row]; k++) {
    sum += G[k] * x[in->local[column[k]]];
  }
  return sum;
}

void saltusi_island_add_row(const saltusi_island* in, const saltusi_row_block* rows, int row,
                            double s, double* x) {
  assert(in != NULL && rows != NULL && row >= 0);
  if (in->local == NULL) {
    saltusi_row_add(rows, row, s, x);
    return;
  }
  const double* G = rows->G + (size_t)row * (size_t)rows->stride;
  if (rows->column == NULL) {
    for (int a = 0; a < in->k; a++) {
      x[a] += s * G[in->velocity[a]];
    }
    return;
  }
  const int* column = rows->column + (size_t)row * (size_t)rows->stride;
  for (int k = 0; k < rows->entries[row]; k++) {
    x[in->local[column[k]]] += s * G[k];
  }
}

void saltusi_island_scatter(const saltusi_island* in, double s, const double* x, double* y) {
  assert(in != NULL);
  if (in->local == NULL) {
    saltusi_add_scaled(in->k, s, x, y);
    return;
  }
  for (int a = 0; a < in->k; a++) {
    y[in->velocity[a]] += s * x[a];
  }
}

void saltusi_island_gather(const saltusi_island* in, const double* y, double* x) {
  assert(in != NULL);
  for (int a = 0; a < in->k; a++) {
    x[a] = y[in->local == NULL ? a : in->velocity[a]];
  }
}
