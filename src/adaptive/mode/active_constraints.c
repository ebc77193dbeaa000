/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * active_constraints.c - the active rows of a status, island by island:
 *
 *   rows R      joints, normals of closed contacts, tangents of sticking ones
 *   columns H   the same, with G_N - mu G_T d for contacts that slide in direction d
 *   W = R^T M^-1 H,    W l = right
 */
#include "adaptive/mode/active_constraints.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/mode/mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* A pivot below this fraction of the largest one is a dependent row: linearly dependent rows leave rounding times
 * the condition number of a body, some 1e-13, independent ones of bodies that are a thousand times longer than
 * wide 1e-6. */
static const double dependent_rank = 1e-10;
/* Redundant contacts: the rest of weights, 5e4 eps, is rounding of rows with some cancelled digits; below
 * dependent_rank, so that rows accepted there have a pivot here. */
static const double spread_pivot_least = 1e-11;
/* Least weight of a contact with a small force: its friction may be used by the square of it. */
static const double weight_least = 1e-3;
/* Parts of the bound of friction up to which the distribution of least norm is used alone, and from which on not at all;
 * chosen. */
static const double least_to = 0.5, weighted_from = 0.9;

/* Rows of an island from which on its matrix is factored sparsely: measured with chains (bench adaptive-chains):
 * 20 rows take 9 us sparsely and 15 densely, 60 rows 19 and 274. The break-even is below 20; at 32 both are cheap,
 * and small islands keep their dense factors. */
enum { SPARSE_ROWS = 32 };
/* Initial bytes of sparse factors per row, and the number of rows. */
enum { SPARSE_EACH = 2048, SPARSE_FIRST = 4096 };

/* Initial capacity: rows of an island and entries of its columns. */
enum { ROWS_FIRST = 64, WIDTH_FIRST = 192, ROWS_WHOLE = 8 };

static void layout_factor(saltusi_rank_revealing* d, int n, saltus_arena* arena) {
  d->LU = SALTUS_PUSH2(arena, double, n, n);
  d->pivot = SALTUS_PUSH(arena, int, 2 * n);
  d->scale = SALTUS_PUSH(arena, double, n);
  d->gram = SALTUS_PUSH2(arena, double, n, n);
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

void saltusi_active_layout(saltusi_active_constraints* h, const saltusi_layout_tables* o,
                           const saltusi_step_capacity* room, saltus_arena* arena) {
  assert(h != NULL && o != NULL && room != NULL && arena != NULL);
  int rows = o->rows;
  size_t nv = (size_t)o->nv;
  h->rows_max = smaller((size_t)rows, saltusi_capacity_of(room, SALTUSI_CAPACITY_ROWS, ROWS_FIRST));
  size_t first = larger((size_t)h->rows_max * smaller(nv, WIDTH_FIRST), ROWS_WHOLE * nv);
  h->entries_max =
      smaller((size_t)rows * nv, saltusi_capacity_of(room, SALTUSI_CAPACITY_FILL, first));
  int n = (int)h->rows_max;
  saltusi_islands_layout(&h->islands, o->nv, rows, arena);
  h->row = SALTUS_PUSH(arena, int, rows);
  h->key = SALTUS_PUSH(arena, int, rows);
  h->spare = SALTUS_PUSH(arena, int, rows);
  h->right = SALTUS_PUSH(arena, double, rows);
  h->direction = SALTUS_PUSH(arena, double, SALTUSI_SLIPS * o->nc);
  h->shared = SALTUS_PUSH(arena, bool, o->nc);
  h->column = SALTUS_PUSH(arena, double, h->entries_max);
  h->W = SALTUS_PUSH2(arena, double, n, n);
  layout_factor(&h->factor, n, arena);
  h->x = SALTUS_PUSH(arena, double, o->nv);
  h->balance = SALTUS_PUSH(arena, double, o->nj + o->nv);
  h->probe = SALTUS_PUSH(arena, double, 3 * n);
  h->weight = SALTUS_PUSH(arena, double, n);
  h->pivot = SALTUS_PUSH(arena, int, 2 * n);
  h->velocities_max = 0;
  if (o->tangents_max >= 2) {
    h->velocities_max =
        (int)smaller(nv, saltusi_capacity_of(room, SALTUSI_CAPACITY_BLOCKS, WIDTH_FIRST));
    h->spread = SALTUS_PUSH2(arena, double, h->velocities_max, h->velocities_max);
    h->spread_pivot = SALTUS_PUSH(arena, int, 2 * h->velocities_max);
    h->W_spare = SALTUS_PUSH2(arena, double, n, n);
    h->row_scale = SALTUS_PUSH(arena, double, n);
    h->spread_in = SALTUS_PUSH(arena, double, n);
    h->spread_right = SALTUS_PUSH(arena, double, n);
    h->spread_sum = SALTUS_PUSH(arena, double, n);
  }
}

saltusi_active_set_factor* saltusi_active_layout_sparse(const saltus_dims* dims, int rows,
                                                        const saltusi_step_capacity* room,
                                                        saltus_arena* arena) {
  assert(dims != NULL && room != NULL && arena != NULL);
  if (dims->row_width == 0 || rows < SPARSE_ROWS) {
    return NULL;
  }
  saltusi_active_set_factor f;
  size_t first = smaller((size_t)rows, SPARSE_FIRST) * SPARSE_EACH;
  saltusi_active_set_factor_layout(
      &f, dims, rows, saltusi_capacity_of(room, SALTUSI_CAPACITY_SPARSE, first), arena);
  saltusi_active_set_factor* into = SALTUS_PUSH(arena, saltusi_active_set_factor, 1);
  if (into != NULL) {
    *into = f;
  }
  return into;
}

bool saltusi_active_sparse(const saltusi_mode_dynamics* m, const saltusi_active_set_factor* f,
                           int rows) {
  assert(m != NULL);
  return f != NULL && rows >= SPARSE_ROWS && saltusi_active_set_factor_suit(m->eval, &m->mass);
}

static bool slides(const saltusi_mode_dynamics* m, int key) {
  saltusi_contact_mode mode = m->contact[key].mode;
  return m->o->mu[key] > 0.0 && (mode == SALTUSI_SLIP || mode == SALTUSI_STICK_BOUND);
}

static bool is_normal(const saltusi_mode_dynamics* m, int i) {
  int key = m->held.key[i];
  return key >= 0 && key < m->o->contacts && m->held.row[i] == m->o->nj + m->o->base[key];
}

/* Rolling and drilling friction of a contact beside its slip: number of keys. */
static int parts_of(const saltusi_layout_tables* o) {
  return o->nc > o->contacts ? SALTUSI_GRIPS : 0;
}

/* Tangents of a key whose friction is at its bound; 0 for none of them, key -1. */
static int sliding_tangents(const saltusi_mode_dynamics* m, int key) {
  return key >= 0 && slides(m, key) ? m->o->tangents[key] : 0;
}

/* Direction of slip; a planar contact keeps its sign even where U_T passes through zero. */
static void find_direction(saltusi_mode_dynamics* m, const double* v, int key) {
  double* d = m->held.direction + SALTUSI_SLIPS * (size_t)key;
  if (m->o->tangents[key] == 1 || m->contact[key].mode == SALTUSI_STICK_BOUND) {
    d[0] = m->contact[key].sense;
    d[1] = d[2] = 0.0;
    if (m->o->law[key]->friction != NULL && m->contact[key].mode == SALTUSI_SLIP) {
      int row = m->o->nj + m->o->base[key] + 1;
      double u = saltusi_row_dot(&m->row, row, v) + m->row.b[row];
      saltusi_friction_mode_direction(m->o, key, m->contact[key].sense, &u, d);
    }
    return;
  }
  int first = m->o->nj + m->o->base[key] + 1;
  double u[SALTUSI_SLIPS];
  for (int k = 0; k < m->o->tangents[key]; k++) {
    u[k] = saltusi_row_dot(&m->row, first + k, v) + m->row.b[first + k];
  }
  if (m->o->law[key]->friction != NULL) {
    saltusi_friction_mode_direction(m->o, key, 1.0, u, d);
    return;
  }
  double size = hypot(u[0], u[1]);
  d[0] = size > 0.0 ? u[0] / size : 0.0;
  d[1] = size > 0.0 ? u[1] / size : 0.0;
}

void saltusi_active_directions(saltusi_mode_dynamics* m, const double* v) {
  assert(m != NULL);
  for (int key = 0; key < m->o->nc; key++) {
    if (saltusi_is_pressed(&m->contact[key]) && slides(m, key)) {
      find_direction(m, v, key);
    }
  }
}

void saltusi_active_add(saltusi_active_constraints* h, int row, int key) {
  assert(h != NULL && row >= 0);
  h->row[h->count] = row;
  h->key[h->count] = key;
  h->count++;
}

void saltusi_active_joints(saltusi_mode_dynamics* m) {
  assert(m != NULL);
  m->held.count = 0;
  m->held.known = false;
  for (int j = 0; j < m->o->nj; j++) {
    saltusi_active_add(&m->held, j, -1);
  }
}

void saltusi_active_contacts(saltusi_mode_dynamics* m, bool tangents) {
  assert(m != NULL);
  const saltusi_layout_tables* o = m->o;
  for (int key = 0; key < o->nc; key++) {
    const saltusi_contact* c = &m->contact[key];
    if (!saltusi_is_pressed(c)) {
      continue;
    }
    int first = o->nj + o->base[key];
    if (key < o->contacts) {
      /* tangents with a reference force belong to contacts that have one */
      m->held.known = m->held.known || c->force[0] != 0.0;
      saltusi_active_add(&m->held, first, key);
    } else if (!saltusi_is_pressed(&m->contact[saltusi_owner(o, key)])) {
      continue;
    }
    if (!tangents || c->mode != SALTUSI_STICK || !(o->mu[key] > 0.0)) {
      continue;
    }
    for (int k = 1; k <= o->tangents[key]; k++) {
      saltusi_active_add(&m->held, first + k, key);
    }
  }
}

/* ---- islands --------------------------------------------------------------------------------- */

int saltusi_active_islands(saltusi_mode_dynamics* m) {
  assert(m != NULL);
  saltusi_active_constraints* h = &m->held;
  h->whole = true;
  if (h->count == 0 || !saltusi_islands_open(&h->islands, m->eval, &m->mass, h->count)) {
    return h->count > 0 ? 1 : 0;
  }
  for (int i = 0; i < h->count; i++) {
    int rows = 1 + (is_normal(m, i) ? sliding_tangents(m, h->key[i]) : 0);
    saltusi_islands_join_contact(&h->islands, &m->row, h->row[i], rows);
  }
  saltusi_islands_close(&h->islands, h->count, &m->row, h->row);
  if (saltusi_active_sparse(m, h->sparse, h->count)) { /* one order for all that are sparse */
    saltusi_islands_merge(&h->islands, SPARSE_ROWS, h->count, &m->row, h->row);
  }
  saltusi_islands_order(&h->islands, h->count, h->row, h->spare);
  saltusi_islands_order(&h->islands, h->count, h->key, h->spare);
  h->whole = false;
  return h->islands.count;
}

saltusi_island saltusi_active_island(const saltusi_mode_dynamics* m, int i) {
  assert(m != NULL);
  return m->held.whole ? saltusi_island_whole(m->held.count, m->o->nv)
                       : saltusi_island_of(&m->held.islands, i);
}

void saltusi_number_units(const saltus_system* sys, int n, const int* row, const int* key,
                          int* unit) {
  assert(n > 0 && row != NULL && key != NULL && unit != NULL);
  int joint = key[0] < 0 ? saltusi_joint_of(sys, row[0]) : 0;
  for (int i = 0; i < n; i++) {
    while (key[i] < 0 && saltusi_joint_first(sys, joint + 1) <= row[i]) {
      joint++; /* rows of joints come first, ascending */
    }
    unit[i] = key[i] >= 0 ? key[i] : -1 - joint;
  }
}

bool saltusi_active_may_distribute_load(const saltusi_mode_dynamics* m) {
  assert(m != NULL);
  return m->o->spatial || m->held.sparse != NULL;
}

bool saltusi_active_is_sparse(const saltusi_mode_dynamics* m, const saltusi_island* in) {
  assert(m != NULL && in != NULL);
  return !m->held.whole && saltusi_active_sparse(m, m->held.sparse, in->n);
}

/* The same for a large island. */
static saltus_status make_sparse(saltusi_mode_dynamics* m, const saltusi_island* in,
                                 bool friction) {
  saltusi_active_constraints* h = &m->held;
  saltusi_active_set_factor* f = h->sparse;
  int* unit = h->spare;
  saltusi_number_units(m->sys, in->n, h->row + in->first, h->key + in->first, unit);
  double* H = saltusi_active_set_factor_begin(f, &m->row, in->n, h->row + in->first, unit);
  size_t stride = (size_t)m->row.stride;
  for (int i = 0; i < in->n && friction; i++) {
    int row = h->row[in->first + i];
    int key = h->key[in->first + i];
    for (int part = -1; is_normal(m, in->first + i) && part < SALTUSI_GRIPS; part++) {
      int who = part < 0 ? key : saltusi_friction_mode_of(m->o, key, part);
      const int tangents = sliding_tangents(m, who);
      int first = tangents > 0 ? m->o->nj + m->o->base[who] + 1 : 0;
      for (int c = 0; c < tangents; c++) {
        const double* G = m->row.G + (size_t)(first + c) * stride; /* of the same columns */
        saltusi_add_scaled(m->row.entries[row],
                           -m->o->mu[who] * h->direction[SALTUSI_SLIPS * who + c], G,
                           H + (size_t)i * stride);
      }
    }
  }
  saltus_status status = saltusi_active_set_factor_form(f, m->eval, &m->mass);
  return status == SALTUS_RETRY_CAPACITY
             ? saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_SPARSE, f->wanted)
             : status;
}

static saltus_status solve_sparse(saltusi_mode_dynamics* m, const saltusi_island* in) {
  saltusi_active_constraints* h = &m->held;
  double* right = h->right + in->first;
  if (!saltusi_active_set_factor_compute(h->sparse)) {
    return SALTUS_RETRY_NAN;
  }
  h->dependent = h->dependent || h->sparse->dependent;
  if (h->measured) {
    h->firmness = fmin(h->firmness, saltusi_active_set_factor_conditioning(h->sparse));
  }
  saltusi_active_set_factor_solve(h->sparse, right);
  return isfinite(saltusi_max_abs(in->n, right)) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

/* Forces of sliding, rolling and drilling friction of a contact for a normal force of 1. */
static void add_friction(const saltusi_mode_dynamics* m, const saltusi_island* in, int key,
                         double* x) {
  const int parts = parts_of(m->o);
  for (int part = -1; part < parts; part++) {
    int who = part < 0 ? key : saltusi_friction_mode_of(m->o, key, part);
    const int tangents = sliding_tangents(m, who);
    int first = tangents > 0 ? m->o->nj + m->o->base[who] + 1 : 0;
    for (int c = 0; c < tangents; c++) {
      saltusi_island_add_row(in, &m->row, first + c,
                             -m->o->mu[who] * m->held.direction[SALTUSI_SLIPS * who + c], x);
    }
  }
}

saltus_status saltusi_active_make(saltusi_mode_dynamics* m, const saltusi_island* in,
                                  bool friction) {
  assert(m != NULL && in != NULL);
  saltusi_active_constraints* h = &m->held;
  size_t k = (size_t)in->k;
  int n = in->n;
  if (saltusi_active_is_sparse(m, in)) {
    return make_sparse(m, in, friction);
  }
  if ((size_t)n > h->rows_max) {
    return saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_ROWS, (size_t)n);
  }
  if ((size_t)n * k > h->entries_max) {
    return saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_FILL, (size_t)n * k);
  }
  for (int i = 0; i < n; i++) {
    double* x = h->column + (size_t)i * k;
    int row = h->row[in->first + i];
    int key = h->key[in->first + i];
    memset(x, 0, k * sizeof(double));
    saltusi_island_add_row(in, &m->row, row, 1.0, x);
    if (friction && is_normal(m, in->first + i)) {
      add_friction(m, in, key, x);
    }
    saltusi_island_divide(&h->islands, in, m->eval, &m->mass, x);
  }
  const saltusi_row_span span = saltusi_island_span(in);
  saltusi_operator_gram(&m->row, n, h->row + in->first, &span, h->column, h->W);
  return SALTUS_OK;
}

/* |b| / |S^-1 b| for a generic vector b, S = W scaled to unit diagonal: an estimate from above of the smallest
 * eigenvalue of S. */
static void measure_firmness(saltusi_active_constraints* h, int n) {
  double* x = h->probe;
  for (int i = 0; i < n; i++) {
    x[i] = saltusi_trial_entry(i) * sqrt(fabs(h->W[i * (n + 1)]));
  }
  saltusi_rank_revealing_solve(&h->factor, x);
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    size += x[i] * x[i] * fabs(h->W[i * (n + 1)]);
  }
  h->firmness = fmin(h->firmness, sqrt(n / size));
}

saltus_status saltusi_active_solve(saltusi_mode_dynamics* m, const saltusi_island* in) {
  assert(m != NULL && in != NULL);
  saltusi_active_constraints* h = &m->held;
  for (int i = in->first; i < in->first + in->n && m->eval->effort.tell != NULL; i++) {
    const int key = h->key[i]; /* contacts, not their tangents */
    saltusi_effort_tell(m->eval, key >= 0 && h->row[i] == m->o->nj + m->o->base[key] ? key : -1, 1);
  }
  if (saltusi_active_is_sparse(m, in)) {
    return solve_sparse(m, in);
  }
  double* right = h->right + in->first;
  if (in->n == 1 && h->W[0] != 0.0) {
    right[0] /= h->W[0];
    return isfinite(right[0]) ? SALTUS_OK : SALTUS_RETRY_NAN;
  }
  if (!saltusi_rank_revealing_factor(&h->factor, in->n, h->W, in->n)) {
    return SALTUS_RETRY_NAN;
  }
  h->dependent = h->dependent || (in->n > 1 && h->factor.rank < in->n);
  if (h->measured) {
    measure_firmness(h, in->n);
  }
  saltusi_rank_revealing_solve(&h->factor, right);
  return isfinite(saltusi_max_abs(in->n, right)) ? SALTUS_OK : SALTUS_RETRY_NAN;
}

void saltusi_active_apply(const saltusi_mode_dynamics* m, const saltusi_island* in, double s,
                          double* y) {
  assert(m != NULL && in != NULL);
  if (saltusi_active_is_sparse(m, in)) {
    saltusi_active_set_factor_apply(m->held.sparse, s, m->held.right + in->first, y);
    return;
  }
  for (int i = 0; i < in->n; i++) {
    saltusi_island_scatter(in, s * m->held.right[in->first + i],
                           m->held.column + (size_t)i * (size_t)in->k, y);
  }
}

/* The reference force of a row of a contact; 0 for joints. */
static double contact_reference(const saltusi_mode_dynamics* m, int i) {
  int key = m->held.key[i];
  int k = key < 0 ? 0 : m->held.row[i] - m->o->nj - m->o->base[key];
  return key < 0 || k > 2 ? 0.0 : m->contact[key].force[k];
}

static bool has_reference(const saltusi_mode_dynamics* m, const saltusi_island* in) {
  bool any = false;
  for (int i = in->first; i < in->first + in->n && !any; i++) {
    any = contact_reference(m, i) != 0.0;
  }
  return any;
}

/* The reference force of a row of an island that has some. */
static double known_force(const saltusi_mode_dynamics* m, int i) {
  return m->held.key[i] < 0 ? m->held.balance[m->held.row[i]] : contact_reference(m, i);
}

/* x [nv] += H l of the reference forces of contacts. */
static void add_references(const saltusi_mode_dynamics* m, double* x) {
  const saltusi_active_constraints* h = &m->held;
  for (int i = 0; i < h->count; i++) {
    const double force = contact_reference(m, i);
    if (force == 0.0) {
      continue;
    }
    saltusi_row_add(&m->row, h->row[i], force, x);
    for (int part = -1; is_normal(m, i) && part < parts_of(m->o); part++) {
      const int who = part < 0 ? h->key[i] : saltusi_friction_mode_of(m->o, h->key[i], part);
      const int tangents = sliding_tangents(m, who);
      for (int k = 0; k < tangents; k++) {
        const double friction = -m->o->mu[who] * h->direction[SALTUSI_SLIPS * who + k] * force;
        saltusi_row_add(&m->row, m->o->nj + m->o->base[who] + 1 + k, friction, x);
      }
    }
  }
}

saltus_status saltusi_active_balance_joints(saltusi_mode_dynamics* m, const double* a) {
  assert(m != NULL && a != NULL);
  saltusi_active_constraints* h = &m->held;
  double* x = h->balance + m->o->nj;
  const bool measured = h->measured;
  memset(x, 0, (size_t)m->o->nv * sizeof(double));
  add_references(m, x);
  saltusi_linear_solve(m->eval, &m->mass, x);
  saltusi_add_scaled(m->o->nv, 1.0, a, x);
  saltusi_active_joints(m);
  h->measured = false;
  saltus_status status = SALTUS_OK;
  const int islands = saltusi_active_islands(m);
  for (int c = 0; c < islands && status == SALTUS_OK; c++) {
    const saltusi_island in = saltusi_active_island(m, c);
    status = saltusi_active_make(m, &in, false);
    for (int i = in.first; i < in.first + in.n; i++) {
      h->right[i] = -(saltusi_row_dot(&m->row, h->row[i], x) + m->row.c[h->row[i]]);
    }
    status = status == SALTUS_OK ? saltusi_active_solve(m, &in) : status;
    for (int i = in.first; i < in.first + in.n; i++) {
      h->balance[h->row[i]] = h->right[i];
    }
  }
  h->measured = measured;
  h->dependent = false;
  saltusi_active_joints(m);
  saltusi_active_contacts(m, true);
  return status;
}

void saltusi_active_redundant_forces(saltusi_mode_dynamics* m, const saltusi_island* in,
                                     double* a) {
  assert(m != NULL && in != NULL && a != NULL);
  if (!has_reference(m, in)) {
    return;
  }
  for (int i = in->first; i < in->first + in->n; i++) {
    m->held.right[i] = known_force(m, i);
  }
  saltusi_active_apply(m, in, 1.0, a);
}

void saltusi_active_add_redundant_forces(saltusi_mode_dynamics* m, const saltusi_island* in) {
  assert(m != NULL && in != NULL);
  for (int i = in->first; has_reference(m, in) && i < in->first + in->n; i++) {
    m->held.right[i] += known_force(m, i);
  }
}

void saltusi_active_forces(const saltusi_mode_dynamics* m, double* contacts, double* joints) {
  assert(m != NULL);
  const saltusi_active_constraints* h = &m->held;
  const saltusi_layout_tables* o = m->o;
  const int parts = parts_of(o);
  memset(contacts, 0, (size_t)o->nl * sizeof(double));
  for (int i = 0; i < h->count; i++) {
    int row = h->row[i];
    int key = h->key[i];
    double force = h->right[i];
    if (key < 0) {
      if (joints != NULL) {
        joints[row] = force;
      }
      continue;
    }
    contacts[row - o->nj] = force;
    if (key >= o->contacts || row != o->nj + o->base[key]) {
      continue;
    }
    for (int part = -1; part < parts; part++) {
      int who = part < 0 ? key : saltusi_friction_mode_of(o, key, part);
      const int tangents = sliding_tangents(m, who);
      double* friction = contacts + (tangents > 0 ? o->base[who] + 1 : 0);
      for (int k = 0; k < tangents; k++) {
        friction[k] = -o->mu[who] * h->direction[SALTUSI_SLIPS * who + k] * force;
      }
    }
  }
}

/* Whether friction of some contact of an island depends on its load. */
static bool some_slide(const saltusi_mode_dynamics* m, const saltusi_island* in) {
  bool any = false;
  for (int i = in->first; i < in->first + in->n && !any; i++) {
    any = is_normal(m, i) && sliding_tangents(m, m->held.key[i]) > 0;
  }
  return any;
}

void saltusi_active_limit(saltusi_mode_dynamics* m, const saltusi_island* in) {
  assert(m != NULL && in != NULL);
  saltusi_active_constraints* h = &m->held;
  double* right = h->right + in->first;
  if (in->n < 2 || h->factor.n != in->n || h->factor.regular || h->factor.rank == in->n ||
      !some_slide(m, in)) {
    return;
  }
  const bool known = h->known && has_reference(m, in);
  for (int i = 0; i < in->n; i++) {
    h->weight[i] = h->key[in->first + i] < 0 ? 0.0 : 1.0;
    right[i] += known ? known_force(m, in->first + i) : 0.0;
  }
  saltusi_rank_revealing_weight(&h->factor, h->weight, right, h->probe, h->pivot);
  for (int i = 0; known && i < in->n; i++) {
    right[i] -= known_force(m, in->first + i);
  }
}

/* ---- redundant contacts in space --------------------------------------------------------------- */

/* Redundant contacts: of all forces that satisfy the rows those of least weighted norm, l = S^2 R z, with the
 * weights S of tangents in proportion to the normal force, so that friction is used evenly:
 *
 *   R^T S^2 R M^-1 H^T S^2 R z = R^T S^2 b
 */
static saltus_status spread_once(saltusi_mode_dynamics* m, const saltusi_island* in) {
  saltusi_active_constraints* h = &m->held;
  const int* row = h->row + in->first;
  int n = in->n;
  size_t k = (size_t)in->k;
  if (in->k > h->velocities_max) {
    return saltusi_capacity_lacks(&m->eval->room, SALTUSI_CAPACITY_BLOCKS, k);
  }
  for (size_t i = 0; i < k; i++) { /* column j of the matrix: R^T S^2 W S^2 R e_j */
    int velocity = in->local != NULL ? in->velocity[i] : (int)i;
    for (int a = 0; a < n; a++) {
      h->spread_in[a] = h->row_scale[a] * saltusi_row_entry(&m->row, row[a], velocity);
    }
    memset(h->x, 0, k * sizeof(double));
    for (int a = 0; a < n; a++) {
      double value = saltusi_dot(n, h->W + (size_t)a * (size_t)n, h->spread_in);
      saltusi_island_add_row(in, &m->row, row[a], h->row_scale[a] * value, h->x);
    }
    for (size_t j = 0; j < k; j++) {
      h->spread[j * k + i] = h->x[j];
    }
  }
  memset(h->x, 0, k * sizeof(double));
  for (int a = 0; a < n; a++) {
    saltusi_island_add_row(in, &m->row, row[a], h->row_scale[a] * h->spread_right[a], h->x);
  }
  int rank = saltusi_lu_factor_rank(in->k, h->spread, h->spread_pivot, h->spread_pivot + k,
                                    dependent_rank);
  if (rank < 0) {
    return SALTUS_RETRY_NAN;
  }
  saltusi_lu_solve_rank(in->k, rank, h->spread, h->spread_pivot, h->spread_pivot + k, h->x);
  for (int a = 0; a < n; a++) {
    h->right[in->first + a] = h->row_scale[a] * saltusi_island_dot(in, &m->row, row[a], h->x);
  }
  return SALTUS_OK;
}

static void mark_shared(saltusi_mode_dynamics* m, const saltusi_island* in) {
  for (int i = in->first; i < in->first + in->n; i++) {
    if (m->held.key[i] >= 0) {
      m->held.shared[m->held.key[i]] = true;
    }
  }
  m->held.dependent = true;
}

/* Repeats the solution for the rounding that is left of the active accelerations, so that sticking contacts do not
 * creep. Without weights: those of a contact with a small force are below the pivot threshold, and the residual
 * that only its tangents can remove would remain. */
static saltus_status refine(saltusi_mode_dynamics* m, const saltusi_island* in, double* a) {
  saltusi_active_constraints* h = &m->held;
  double* right = h->right + in->first;
  memcpy(h->spread_sum, right, (size_t)in->n * sizeof(double));
  for (int i = 0; i < in->n; i++) {
    int row = h->row[in->first + i];
    h->row_scale[i] = 1.0;
    h->spread_right[i] = -(saltusi_row_dot(&m->row, row, a) + m->row.c[row]);
  }
  saltus_status status = spread_once(m, in);
  if (status == SALTUS_OK) {
    saltusi_active_apply(m, in, 1.0, a);
  }
  for (int i = 0; i < in->n && status == SALTUS_OK; i++) {
    right[i] += h->spread_sum[i];
  }
  return status;
}

/* Force of row i: the solution in `right`, plus the reference force where `right` is an increment. */
static double whole_force(const saltusi_mode_dynamics* m, int i) {
  return m->held.right[i] + (m->held.known ? known_force(m, i) : 0.0);
}

/* Largest fraction of its bound that friction of a sticking contact uses. */
static double used_friction(const saltusi_mode_dynamics* m, const saltusi_island* in) {
  const saltusi_layout_tables* o = m->o;
  const int end = in->first + in->n;
  double most = 0.0;
  for (int i = in->first; i + 2 < end; i++) {
    const int key = m->held.key[i];
    if (!is_normal(m, i) || m->held.key[i + 2] != key || m->held.row[i + 2] != m->held.row[i] + 2) {
      continue;
    }
    const double tangent[2] = {whole_force(m, i + 1), whole_force(m, i + 2)};
    const double size = saltusi_friction_mode_size(o, key, tangent);
    const double bound = o->mu[key] * fmax(whole_force(m, i), 0.0);
    most = fmax(most, size > 0.0 ? size / bound : 0.0);
  }
  return most;
}

/* Weight of the distribution of least norm, from 1 to 0 without a kink as friction approaches its bound. */
static double least_part(double used) {
  const double x = fmin(fmax((used - least_to) / (weighted_from - least_to), 0.0), 1.0);
  return 1.0 - x * x * (3.0 - 2.0 * x);
}

/* The distribution of least norm, which is the limit of vanishing equal compliance (docs/solvers/indeterminate.md). Near
 * the bounds of friction the weights of tangents follow from it. */
static saltus_status spread(saltusi_mode_dynamics* m, const saltusi_island* in) {
  saltusi_active_constraints* h = &m->held;
  int n = in->n;
  memcpy(h->spread_right, h->right + in->first, (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    h->row_scale[i] = 1.0;
  }
  saltus_status status = spread_once(m, in);
  double largest = 0.0;
  for (int i = in->first; i < in->first + n; i++) {
    largest = is_normal(m, i) ? fmax(largest, whole_force(m, i)) : largest;
  }
  const double least = least_part(used_friction(m, in));
  if (status != SALTUS_OK || !(largest > 0.0) || least >= 1.0) {
    return status;
  }
  memcpy(h->spread_sum, h->right + in->first, (size_t)n * sizeof(double));
  double weight = 1.0;
  for (int i = 0; i < n; i++) {
    bool normal = is_normal(m, in->first + i);
    if (normal) {
      weight = fmax(weight_least, whole_force(m, in->first + i) / largest);
    }
    h->row_scale[i] = h->key[in->first + i] < 0 || normal ? 1.0 : weight * weight;
  }
  status = spread_once(m, in);
  for (int i = 0; i < n; i++) {
    h->right[in->first + i] += least * (h->spread_sum[i] - h->right[in->first + i]);
  }
  return status;
}

saltus_status saltusi_active_distribute_load(saltusi_mode_dynamics* m, const saltusi_island* in,
                                             double* a) {
  assert(m != NULL && in != NULL);
  saltusi_active_constraints* h = &m->held;
  int n = in->n;
  if (saltusi_active_is_sparse(m,
                               in)) { /* evenly, but friction not in proportion to normal forces */
    saltus_status status = solve_sparse(m, in);
    if (status == SALTUS_OK && h->sparse->dependent) {
      mark_shared(m, in);
    }
    if (status == SALTUS_OK) {
      saltusi_active_apply(m, in, 1.0, a);
    }
    return status;
  }
  memcpy(h->W_spare, h->W, (size_t)n * (size_t)n * sizeof(double));
  if (saltusi_lu_factor(n, h->W_spare, h->pivot, spread_pivot_least)) {
    saltusi_lu_solve(n, h->W_spare, h->pivot, h->right + in->first);
    saltusi_active_apply(m, in, 1.0, a);
    return SALTUS_OK;
  }
  mark_shared(m, in);
  saltus_status status = spread(m, in);
  if (status == SALTUS_OK) {
    saltusi_active_apply(m, in, 1.0, a);
    status = refine(m, in, a);
  }
  return status;
}
