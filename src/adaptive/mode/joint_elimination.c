/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joint_elimination.c - M^-1 with joints eliminated, island by island.
 */
#include "adaptive/mode/joint_elimination.h"
#include "adaptive/mode/mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Initial capacity: joints of an island, in an island of so many velocities. */
enum { JOINTS_FIRST = 64, WIDTH_FIRST = 192 };

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

void saltusi_elimination_layout(saltusi_joint_elimination* p, const saltusi_layout_tables* o,
                                const saltusi_step_capacity* room, saltus_arena* arena) {
  assert(p != NULL && o != NULL && room != NULL && arena != NULL);
  int items = o->nj + o->nc;
  size_t nj = (size_t)o->nj;
  size_t nv = (size_t)o->nv;
  size_t first = JOINTS_FIRST * smaller(nv, WIDTH_FIRST) + nj * smaller(nv, JOINTS_FIRST);
  p->column_max = smaller(nj * nv, saltusi_capacity_of(room, SALTUSI_CAPACITY_FILL, first));
  size_t square = JOINTS_FIRST * (JOINTS_FIRST + nj);
  p->factor_max = smaller(nj * nj, saltusi_capacity_of(room, SALTUSI_CAPACITY_FILL, square));
  p->row = SALTUS_PUSH(arena, int, items);
  p->key = SALTUS_PUSH(arena, int, items);
  p->spare = SALTUS_PUSH(arena, int, items);
  saltusi_islands_layout(&p->islands, o->nv, items, arena);
  int islands = items > 0 ? items : 1;
  p->joints = SALTUS_PUSH(arena, int, islands);
  p->column_at = SALTUS_PUSH(arena, size_t, islands);
  p->factor_at = SALTUS_PUSH(arena, size_t, islands);
  p->factor = SALTUS_PUSH(arena, saltusi_rank_revealing, islands);
  p->column = SALTUS_PUSH(arena, double, p->column_max);
  p->LU = SALTUS_PUSH(arena, double, p->factor_max);
  p->gram = SALTUS_PUSH(arena, double, p->factor_max);
  p->W = SALTUS_PUSH(arena, double, p->factor_max);
  p->pivot = SALTUS_PUSH(arena, int, 2 * o->nj);
  p->scale = SALTUS_PUSH(arena, double, o->nj);
  p->r = SALTUS_PUSH(arena, double, o->nj);
  p->sparse_row = SALTUS_PUSH(arena, int, o->nj);
  p->sparse_unit = SALTUS_PUSH(arena, int, o->nj);
  p->sparse_at = SALTUS_PUSH(arena, int, islands);
  p->y = SALTUS_PUSH(arena, double, o->nv);
}

int saltusi_reduced_islands(const saltusi_mode_dynamics* m) {
  assert(m != NULL);
  return m->reduced.whole ? 1 : m->reduced.islands.count;
}

saltusi_island saltusi_reduced_island(const saltusi_mode_dynamics* m, int i) {
  assert(m != NULL);
  return m->reduced.whole ? saltusi_island_whole(m->reduced.count, m->o->nv)
                          : saltusi_island_of(&m->reduced.islands, i);
}

saltusi_island saltusi_reduced_island_of(const saltusi_mode_dynamics* m, int key, int* i) {
  assert(m != NULL && key >= 0);
  const saltusi_joint_elimination* p = &m->reduced;
  *i = 0;
  for (int c = 0; !p->whole && c < p->islands.count; c++) {
    for (int k = p->islands.start[c]; k < p->islands.start[c + 1]; k++) {
      *i = p->key[k] == key ? c : *i;
    }
  }
  return saltusi_reduced_island(m, *i);
}

bool saltusi_is_large(const saltusi_mode_dynamics* m, const saltusi_island* in) {
  assert(m != NULL && in != NULL);
  return !m->reduced.whole && in->n >= SALTUSI_LARGE && m->row.column != NULL &&
         saltusi_active_set_factor_suit(m->eval, &m->mass);
}

void saltusi_reduced_divide(saltusi_mode_dynamics* m, const saltusi_island* in, double* x) {
  assert(m != NULL && in != NULL);
  saltusi_island_divide(&m->reduced.islands, in, m->eval, &m->mass, x);
}

/* Islands of the listed rows. */
static void find_islands(saltusi_mode_dynamics* m) {
  saltusi_joint_elimination* p = &m->reduced;
  p->whole = !saltusi_islands_open(&p->islands, m->eval, &m->mass, p->count);
  if (p->whole) {
    return;
  }
  for (int i = 0; i < p->count; i++) {
    int rows = p->key[i] < 0 ? 1 : 1 + m->o->tangents[p->key[i]];
    saltusi_islands_join_contact(&p->islands, &m->row, p->row[i], rows);
  }
  saltusi_islands_close(&p->islands, p->count, &m->row, p->row);
  saltusi_islands_order(&p->islands, p->count, p->row, p->spare);
  saltusi_islands_order(&p->islands, p->count, p->key, p->spare);
}

/* M^-1 G_E of an island and the factors of G_E^T M^-1 G_E. */
static saltus_status eliminate(saltusi_mode_dynamics* m, int c, size_t* column_at,
                               size_t* factor_at, int* joint_at, int* sparse) {
  saltusi_joint_elimination* p = &m->reduced;
  saltusi_island in = saltusi_reduced_island(m, c);
  size_t k = (size_t)in.k;
  int n = 0;
  while (n < in.n && p->key[in.first + n] < 0) {
    n++;
  }
  size_t entries = (size_t)n * k;
  size_t square = (size_t)n * (size_t)n;
  p->joints[c] = n;
  p->column_at[c] = *column_at;
  p->factor_at[c] = *factor_at;
  p->sparse_at[c] = -1;
  if (!p->whole && saltusi_active_sparse(m, p->sparse, n)) {
    p->sparse_at[c] = *sparse;
    memcpy(p->sparse_row + *sparse, p->row + in.first, (size_t)n * sizeof(int));
    *sparse += n;
    return SALTUS_OK;
  }
  if (*column_at + entries > p->column_max || *factor_at + square > p->factor_max) {
    size_t wanted =
        *column_at + entries > *factor_at + square ? *column_at + entries : *factor_at + square;
    return saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_FILL, 2 * wanted);
  }
  for (int j = 0; j < n; j++) {
    double* x = p->column + *column_at + (size_t)j * k;
    memset(x, 0, k * sizeof(double));
    saltusi_island_add_row(&in, &m->row, p->row[in.first + j], 1.0, x);
    saltusi_reduced_divide(m, &in, x);
  }
  const saltusi_row_span span = saltusi_island_span(&in);
  saltusi_operator_gram(&m->row, n, p->row + in.first, &span, p->column + *column_at, p->W);
  saltusi_rank_revealing* f = &p->factor[c];
  *f = (saltusi_rank_revealing){.LU = p->LU + *factor_at,
                                .gram = p->gram + *factor_at,
                                .pivot = p->pivot + 2 * (size_t)*joint_at,
                                .scale = p->scale + *joint_at};
  *column_at += entries;
  *factor_at += square;
  *joint_at += n;
  if (n > 0 && !saltusi_rank_revealing_factor(f, n, p->W, n)) {
    return SALTUS_RETRY_NAN;
  }
  m->eval->dependent = m->eval->dependent || (n > 0 && f->rank < n);
  return SALTUS_OK;
}

/* The joints of all islands with many joints, at once: the factors of different islands are independent. */
static saltus_status eliminate_many(saltusi_mode_dynamics* m, int n) {
  saltusi_joint_elimination* p = &m->reduced;
  for (int i = 0; i < n; i++) {
    p->sparse_unit[i] = saltusi_joint_of(m->sys, p->sparse_row[i]);
  }
  saltusi_active_set_factor_begin(p->sparse, &m->row, n, p->sparse_row, p->sparse_unit);
  saltus_status status = saltusi_active_set_factor_form(p->sparse, m->eval, &m->mass);
  if (status == SALTUS_RETRY_CAPACITY) {
    return saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_SPARSE, p->sparse->wanted);
  }
  if (status != SALTUS_OK || !saltusi_active_set_factor_compute(p->sparse)) {
    return status != SALTUS_OK ? status : SALTUS_RETRY_NAN;
  }
  m->eval->dependent = m->eval->dependent || p->sparse->dependent;
  memset(p->y, 0, (size_t)m->o->nv * sizeof(double));
  return SALTUS_OK;
}

/* Joints and the contacts of a set. */
static void list(saltusi_mode_dynamics* m, const int* set, int count) {
  saltusi_joint_elimination* p = &m->reduced;
  p->count = 0;
  for (int j = 0; j < m->o->nj; j++, p->count++) {
    p->row[p->count] = j;
    p->key[p->count] = -1;
  }
  for (int i = 0; i < count; i++, p->count++) {
    p->row[p->count] = m->o->nj + m->o->base[set[i]];
    p->key[p->count] = set[i];
  }
}

void saltusi_find_coupled(saltusi_mode_dynamics* m, int key, bool* coupled) {
  assert(m != NULL && key >= 0);
  saltusi_joint_elimination* p = &m->reduced;
  saltusi_islands* is = &p->islands;
  bool known = saltusi_islands_open_forces(is, m->eval, &m->mass);
  for (int j = 0; known && j < m->o->nj; j++) {
    saltusi_islands_join(is, &m->row, j);
  }
  for (int b = 0; known && b < m->o->nc; b++) {
    int first = m->o->nj + m->o->base[b];
    bool acts = b == key || saltusi_is_closed(&m->contact[b]);
    if (acts) {
      saltusi_islands_join_contact(is, &m->row, first, 1 + m->o->tangents[b]);
    }
  }
  int row = m->o->nj + m->o->base[key];
  for (int b = 0; b < m->o->nc; b++) {
    coupled[b] = !known || saltusi_islands_touch(is, &m->row, m->o->nj + m->o->base[b], row);
  }
}

int saltusi_scope(saltusi_mode_dynamics* m, int* set, int count, const bool* marked, bool* scope) {
  assert(m != NULL && count >= 0);
  saltusi_joint_elimination* p = &m->reduced;
  list(m, set, count);
  find_islands(m);
  int islands = saltusi_reduced_islands(m);
  for (int c = 0; !p->whole && c < islands; c++) {
    bool here = false;
    for (int i = p->islands.start[c]; i < p->islands.start[c + 1]; i++) {
      here = here || (p->key[i] >= 0 && marked[p->key[i]]);
    }
    for (int i = p->islands.start[c]; !here && i < p->islands.start[c + 1]; i++) {
      if (p->key[i] >= 0) {
        scope[p->key[i]] = false;
      }
    }
  }
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (scope[set[i]]) {
      set[kept++] = set[i];
    }
  }
  return kept;
}

saltus_status saltusi_reduce(saltusi_mode_dynamics* m, double t, const double* y, bool every,
                             const int* set, int count) {
  assert(m != NULL && count >= 0);
  saltus_point at = saltusi_at(m->eval, t, y, saltusi_v_of(m->o, y));
  saltus_status status = saltusi_linear_assemble(m->eval, &m->mass, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mode_rows(m, t, y, every);
  list(m, set, count);
  find_islands(m);
  size_t column_at = 0;
  size_t factor_at = 0;
  int joint_at = 0;
  int sparse = 0;
  int islands = saltusi_reduced_islands(m);
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    status = eliminate(m, c, &column_at, &factor_at, &joint_at, &sparse);
  }
  return status == SALTUS_OK && sparse > 0 ? eliminate_many(m, sparse) : status;
}

/* x [k] -= M^-1 G_E r */
static void take_joints(const saltusi_mode_dynamics* m, int c, int k, const double* r, double* x) {
  const double* column = m->reduced.column + m->reduced.column_at[c];
  for (int j = 0; j < m->reduced.joints[c]; j++) {
    saltusi_add_scaled(k, -r[j], column + (size_t)j * (size_t)k, x);
  }
}

/* For an island with many joints: x -= M^-1 G_E (G_E^T M^-1 G_E)^-1 G_E^T x. */
static void inverse_sparse(saltusi_mode_dynamics* m, int i, const saltusi_island* in, double* x) {
  saltusi_joint_elimination* p = &m->reduced;
  memset(p->r, 0, (size_t)p->sparse->n * sizeof(double));
  for (int j = 0; j < p->joints[i]; j++) {
    p->r[p->sparse_at[i] + j] = saltusi_island_dot(in, &m->row, p->row[in->first + j], x);
  }
  saltusi_active_set_factor_solve(p->sparse, p->r);
  saltusi_active_set_factor_apply(p->sparse, -1.0, p->r, p->y);
  for (int a = 0; a < in->k; a++) {
    x[a] += p->y[in->velocity[a]];
  }
  for (int a = 0; a < in->k; a++) {
    p->y[in->velocity[a]] = 0.0;
  }
}

void saltusi_reduced_inverse(saltusi_mode_dynamics* m, int i, double* x) {
  assert(m != NULL);
  saltusi_joint_elimination* p = &m->reduced;
  saltusi_island in = saltusi_reduced_island(m, i);
  saltusi_reduced_divide(m, &in, x);
  int n = p->joints[i];
  if (n == 0) {
    return;
  }
  if (p->sparse_at[i] >= 0) {
    inverse_sparse(m, i, &in, x);
    return;
  }
  for (int j = 0; j < n; j++) {
    p->r[j] = saltusi_island_dot(&in, &m->row, p->row[in.first + j], x);
  }
  saltusi_rank_revealing_solve(&p->factor[i], p->r);
  take_joints(m, i, in.k, p->r, x);
}

void saltusi_reduced_response(saltusi_mode_dynamics* m, int i, int row, double* x) {
  assert(m != NULL && row >= 0);
  saltusi_island in = saltusi_reduced_island(m, i);
  memset(x, 0, (size_t)in.k * sizeof(double));
  saltusi_island_add_row(&in, &m->row, row, 1.0, x);
  saltusi_reduced_inverse(m, i, x);
}

void saltusi_reduced_hold(saltusi_mode_dynamics* m, double* v, double* impulse) {
  assert(m != NULL);
  saltusi_joint_elimination* p = &m->reduced;
  bool many = false;
  for (int c = 0; c < saltusi_reduced_islands(m); c++) {
    saltusi_island in = saltusi_reduced_island(m, c);
    const double* column = p->column + p->column_at[c];
    int n = p->joints[c];
    if (n == 0 || p->sparse_at[c] >= 0) {
      many = many || n > 0;
      continue;
    }
    for (int j = 0; j < n; j++) {
      int row = p->row[in.first + j];
      p->r[j] = saltusi_row_dot(&m->row, row, v) + m->row.b[row];
    }
    saltusi_rank_revealing_solve(&p->factor[c], p->r);
    for (int j = 0; j < n; j++) {
      saltusi_island_scatter(&in, -p->r[j], column + (size_t)j * (size_t)in.k, v);
      if (impulse != NULL) {
        impulse[p->row[in.first + j]] += -1.0 * p->r[j];
      }
    }
  }
  if (!many) {
    return;
  }
  for (int j = 0; j < p->sparse->n; j++) {
    int row = p->sparse_row[j];
    p->r[j] = saltusi_row_dot(&m->row, row, v) + m->row.b[row];
  }
  saltusi_active_set_factor_solve(p->sparse, p->r);
  saltusi_active_set_factor_apply(p->sparse, -1.0, p->r, v);
  for (int j = 0; impulse != NULL && j < p->sparse->n; j++) {
    impulse[p->sparse_row[j]] -= p->r[j];
  }
}

void saltusi_reduced_answer(saltusi_mode_dynamics* m, const double* x, double* answer) {
  assert(m != NULL);
  saltusi_joint_elimination* p = &m->reduced;
  bool many = false;
  for (int c = 0; c < saltusi_reduced_islands(m); c++) {
    saltusi_island in = saltusi_reduced_island(m, c);
    int n = p->joints[c];
    if (n == 0 || p->sparse_at[c] >= 0) {
      many = many || n > 0;
      continue;
    }
    for (int j = 0; j < n; j++) {
      p->r[j] = saltusi_row_dot(&m->row, p->row[in.first + j], x);
    }
    saltusi_rank_revealing_solve(&p->factor[c], p->r);
    for (int j = 0; j < n; j++) {
      answer[p->row[in.first + j]] = -p->r[j];
    }
  }
  for (int j = 0; many && j < p->sparse->n; j++) {
    p->r[j] = saltusi_row_dot(&m->row, p->sparse_row[j], x);
  }
  if (many) {
    saltusi_active_set_factor_solve(p->sparse, p->r);
  }
  for (int j = 0; many && j < p->sparse->n; j++) {
    answer[p->sparse_row[j]] = -p->r[j];
  }
}
