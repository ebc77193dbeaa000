/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * phase.c - implements phase.h with dense equations: systems with sensitivities are small, or their
 * variational equations dominate the cost.
 */
#include "sensitivity/phase.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

bool saltusi_phase_workspace_make(saltusi_phase_workspace* room, const saltus_system* system,
                                  const saltusi_phase_contacts* contacts, saltusi_pool* pool) {
  assert(room != NULL && system != NULL && contacts != NULL && pool != NULL);
  const saltus_dims* d = &system->dims;
  const int nc = contacts->count, rows = d->nj + 3 * nc, n = d->nv;
  *room = (saltusi_phase_workspace){
      .contacts = *contacts, .nq = d->nq, .nv = n, .nj = d->nj, .nc = nc, .rows = rows};
  room->scratch = saltusi_pool_take(pool, d->scratch + 1, 1);
  room->M = SALTUSI_TAKE(pool, double, (size_t)n*(size_t)n);
  room->L = SALTUSI_TAKE(pool, double, (size_t)n*(size_t)n);
  room->F = SALTUSI_TAKE(pool, double, n);
  room->B = SALTUSI_TAKE(pool, double, (size_t)n*(size_t)d->nq);
  room->b = SALTUSI_TAKE(pool, double, rows + 1);
  room->c = SALTUSI_TAKE(pool, double, rows + 1);
  room->G = SALTUSI_TAKE(pool, double, (size_t)(rows + 1) * (size_t)n);
  room->D = SALTUSI_TAKE(pool, double, (size_t)(rows + 1) * (size_t)n);
  room->MD = SALTUSI_TAKE(pool, double, (size_t)(rows + 1) * (size_t)n);
  room->A = SALTUSI_TAKE(pool, double, (size_t)(rows + 1) * (size_t)(rows + 1));
  room->x = SALTUSI_TAKE(pool, double, 2 * rows + 1);
  room->row_of = SALTUSI_TAKE(pool, int, rows + 1);
  room->order = SALTUSI_TAKE(pool, int, rows + 1);
  room->row_order = SALTUSI_TAKE(pool, int, rows + 1);
  room->column = SALTUSI_TAKE(pool, int, n + 1);
  room->u = SALTUSI_TAKE(pool, double, rows + 1);
  room->W = SALTUSI_TAKE(pool, double, 2 * (size_t)(rows + 1) * (size_t)(rows + 1));
  room->P = SALTUSI_TAKE(pool, double, rows + 1);
  room->after = SALTUSI_TAKE(pool, double, rows + 1);
  room->struck = SALTUSI_TAKE(pool, saltus_impact_contact, nc + 1);
  if (pool->failed) {
    return false;
  }
  return nc == 0 || saltus_impact_solver_create(nc, 3 * nc, NULL, &room->solver) == SALTUS_OK;
}

void saltusi_phase_workspace_free(saltusi_phase_workspace* room) {
  assert(room != NULL);
  saltus_impact_solver_destroy(room->solver);
  room->solver = NULL;
}

static saltus_point point(saltusi_phase_workspace* r, saltusi_phase_point at) {
  return (saltus_point){
      .t = at.t, .q = at.q, .v = at.v, .scratch = r->scratch, .failure = &r->failure};
}

static double dot(const double* x, const double* y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

/* Dense M from the blocks of a structure: the diagonal blocks, then two for each pair. */
static void mass_by_blocks(saltusi_phase_workspace* r, const saltus_system* sys,
                           const saltus_point* at) {
  const saltus_structure* s = sys->structure;
  const int n = r->nv;
  double* values = r->L;
  sys->ops->blocks(sys->self, at, 1.0, 0.0, 0.0, values);
  memset(r->M, 0, (size_t)n * (size_t)n * sizeof *r->M);
  for (int k = 0; k < s->blocks + 2 * s->pairs; k++) {
    const int pair = (k - s->blocks) / 2, turned = k < s->blocks ? 0 : (k - s->blocks) % 2;
    const int row = k < s->blocks ? k : s->pair[2 * pair + turned];
    const int column = k < s->blocks ? k : s->pair[2 * pair + 1 - turned];
    for (int i = s->start[row]; i < s->start[row + 1]; i++) {
      for (int j = s->start[column]; j < s->start[column + 1]; j++) {
        r->M[i * n + j] = *values++;
      }
    }
  }
}

/* L of M; false: it is not positive definite. */
static bool factor(saltusi_phase_workspace* r) {
  const int n = r->nv;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      const double rest =
          r->M[i * n + j] - dot(r->L + (ptrdiff_t)i * n, r->L + (ptrdiff_t)j * n, j);
      if (i == j && !(rest > 0.0)) {
        return false;
      }
      r->L[i * n + j] = i == j ? sqrt(rest) : rest / r->L[j * n + j];
    }
  }
  return true;
}

/* M and its factor. */
static bool factor_mass(saltusi_phase_workspace* r, const saltus_system* sys,
                        const saltus_point* at) {
  if (sys->ops->mass != NULL) {
    memset(r->M, 0, (size_t)r->nv * (size_t)r->nv * sizeof *r->M);
    sys->ops->mass(sys->self, at, r->M);
  } else {
    mass_by_blocks(r, sys, at);
  }
  return factor(r);
}

static void mass_solve(const saltusi_phase_workspace* r, double* x) {
  const int n = r->nv;
  for (int i = 0; i < n; i++) {
    x[i] = (x[i] - dot(r->L + (ptrdiff_t)i * n, x, i)) / r->L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= r->L[i * n + i];
    for (int j = 0; j < i; j++) {
      x[j] -= r->L[i * n + j] * x[i];
    }
  }
}

/* Memory for `count` rows from row `first`, filled by the system. */
static saltus_rows rows_at(saltusi_phase_workspace* r, const saltus_system* sys, int first,
                           int count) {
  const int n = r->nv, width = sys->dims.row_width;
  saltus_rows rows = {.count = count,
                      .stride = n,
                      .width = width > 0 ? width : n,
                      .column = width > 0 ? r->column : NULL,
                      .G = r->G + (ptrdiff_t)first * n,
                      .b = r->b + first,
                      .c = r->c + first};
  memset(rows.G, 0, (size_t)count * (size_t)n * sizeof *rows.G);
  memset(rows.b, 0, (size_t)count * sizeof *rows.b);
  memset(rows.c, 0, (size_t)count * sizeof *rows.c);
  memset(r->column, 0, (size_t)n * sizeof *r->column);
  return rows;
}

/* Sparse rows to dense rows, in the same array: entries only move to the right. */
static void spread(const saltusi_phase_workspace* r, const saltus_rows* rows) {
  for (int i = rows->count - 1; rows->column != NULL && i >= 0; i--) {
    double* row = rows->G + (ptrdiff_t)i * rows->stride;
    for (int k = rows->width - 1; k >= 0; k--) {
      const double value = row[k];
      row[k] = 0.0;
      row[r->column[k]] = value;
    }
  }
}

static void joint_rows(saltusi_phase_workspace* r, const saltus_system* sys,
                       const saltus_point* at) {
  const int joints = sys->joint_first != NULL ? sys->joint_count : r->nj;
  for (int j = 0; j < joints; j++) {
    const int first = sys->joint_first != NULL ? sys->joint_first[j] : j;
    const int count = sys->joint_first != NULL ? sys->joint_first[j + 1] - first : 1;
    saltus_rows rows = rows_at(r, sys, first, count);
    sys->ops->joint(sys->self, at, j, &rows);
    spread(r, &rows);
  }
}

static int contact_rows(saltusi_phase_workspace* r, const saltus_system* sys,
                        const saltus_point* at, int contact, int first) {
  const int count = 1 + saltusi_phase_law(r, sys, contact)->tangents;
  saltus_rows rows = rows_at(r, sys, first, count);
  sys->ops->contact(sys->self, at, r->contacts.identity[contact], &rows);
  spread(r, &rows);
  return count;
}

/* y from the triangle of `rank` rows of A, whose other unknowns are given; right sides x, NULL: 0. */
static void substitute(const saltusi_phase_workspace* r, int rank, int n, const double* x,
                       double* y) {
  const int wide = r->rows + 1;
  for (int i = rank - 1; i >= 0; i--) {
    double rest = x != NULL ? x[i] : 0.0;
    for (int j = i + 1; j < n; j++) {
      rest -= r->A[i * wide + j] * y[r->order[j]];
    }
    y[r->order[i]] = rest / r->A[i * wide + i];
  }
}

/* Eliminates column `k` below its pivot, and the same of the right side. */
static void eliminate(saltusi_phase_workspace* r, int k, int n) {
  const int wide = r->rows + 1;
  for (int i = k + 1; i < n; i++) {
    const double f = r->A[i * wide + k] / r->A[k * wide + k];
    for (int j = k + 1; j < n; j++) {
      r->A[i * wide + j] -= f * r->A[k * wide + j];
    }
    r->A[i * wide + k] = f; /* L */
    r->x[i] -= f * r->x[k];
  }
}

/* Largest entry of the remaining rows and columns to the diagonal; returns its size. */
static double pivot_at(saltusi_phase_workspace* r, int k, int n) {
  double* A = r->A;
  const int wide = r->rows + 1;
  int row = k, column = k;
  for (int i = k; i < n; i++) {
    for (int j = k; j < n; j++) {
      if (fabs(A[i * wide + j]) > fabs(A[row * wide + column])) {
        row = i;
        column = j;
      }
    }
  }
  for (int j = 0; j < n; j++) {
    const double kept = A[row * wide + j];
    A[row * wide + j] = A[k * wide + j];
    A[k * wide + j] = kept;
  }
  for (int i = 0; i < n; i++) {
    const double kept = A[i * wide + column];
    A[i * wide + column] = A[i * wide + k];
    A[i * wide + k] = kept;
  }
  const double right = r->x[row];
  r->x[row] = r->x[k];
  r->x[k] = right;
  const int row_was = r->row_order[row], column_was = r->order[column];
  r->row_order[row] = r->row_order[k];
  r->row_order[k] = row_was;
  r->order[column] = r->order[k];
  r->order[k] = column_was;
  return fabs(A[k * wide + k]);
}

/* Triangle of A with complete pivoting, and its rank: pivots above a part of the largest. */
static int triangle(saltusi_phase_workspace* r, int n, double part) {
  double largest = 0.0;
  int rank = 0;
  for (int i = 0; i < n; i++) {
    r->order[i] = r->row_order[i] = i;
  }
  for (; rank < n; rank++) {
    const double pivot = pivot_at(r, rank, n);
    largest = fmax(largest, pivot);
    if (!(pivot > part * largest)) {
      break;
    }
    eliminate(r, rank, n);
  }
  return rank;
}

/* z^T A = 0, z = 1 at row `rank + k` of the triangle. */
static void left_null(const saltusi_phase_workspace* r, int rank, int n, int k, double* z) {
  const int wide = r->rows + 1;
  memset(z, 0, (size_t)n * sizeof *z);
  z[r->row_order[rank + k]] = 1.0;
  for (int i = rank - 1; i >= 0; i--) {
    double rest = -r->A[(rank + k) * wide + i];
    for (int j = i + 1; j < rank; j++) {
      rest -= r->A[j * wide + i] * z[r->row_order[j]];
    }
    z[r->row_order[i]] = rest;
  }
}

/* The limit of vanishing equal compliance of the contacts, A y + c y = x with c -> 0: y is orthogonal to the left null
 * vectors of A, which differ from its null vectors where redundant contacts slide in several directions. Unknowns below
 * `rigid` are rows of joints, without compliance. */
static void distribute(saltusi_phase_workspace* r, int rank, int n, int rigid, double* y) {
  const int d = n - rank;
  double *null = r->W, *left = r->W + (ptrdiff_t)d * n; /* free outside impacts */
  for (int k = 0; k < d; k++) {
    memset(null + (ptrdiff_t)k * n, 0, (size_t)n * sizeof *null);
    null[(ptrdiff_t)k * n + r->order[rank + k]] = 1.0;
    substitute(r, rank, n, NULL, null + (ptrdiff_t)k * n);
    left_null(r, rank, n, k, left + (ptrdiff_t)k * n);
  }
  const int wide = r->rows + 1;
  for (int i = 0; i < d; i++) { /* left^T (y - null c) = 0 */
    const double* z = left + (ptrdiff_t)i * n + rigid;
    r->x[i] = dot(z, y + rigid, n - rigid);
    for (int j = 0; j < d; j++) {
      r->A[i * wide + j] = dot(z, null + (ptrdiff_t)j * n + rigid, n - rigid);
    }
  }
  const int most = triangle(r, d, 1e-9); /* redundant joints: any of their forces */
  double* c = r->x + d;
  memset(c, 0, (size_t)d * sizeof *c);
  substitute(r, most, d, r->x, c);
  for (int k = 0; k < d; k++) {
    for (int i = 0; i < n; i++) {
      y[i] -= c[k] * null[(ptrdiff_t)k * n + i];
    }
  }
}

/* A x = x with complete pivoting; linearly dependent rows share their forces by `distribute`. */
static void solve(saltusi_phase_workspace* r, int n, int rigid) {
  const int rank = triangle(r, n, 1e-12);
  double* y = r->P; /* free outside impacts */
  memset(y, 0, (size_t)n * sizeof *y);
  substitute(r, rank, n, r->x, y);
  if (rank < n) {
    distribute(r, rank, n, rigid, y);
  }
  memcpy(r->x, y, (size_t)n * sizeof *y);
}

/* Friction per normal force of a sliding contact, opposite to its slip. */
static void slide(const saltusi_phase_workspace* r, const saltusi_phase_contact* m, int tangents,
                  double mu, int first, const double* v, double s[2]) {
  s[0] = s[1] = 0.0;
  if (tangents == 1) {
    s[0] = mu * m->sign;
  } else if (tangents == 2) {
    double u[2];
    for (int k = 0; k < 2; k++) {
      u[k] = dot(r->G + (ptrdiff_t)(first + 1 + k) * r->nv, v, r->nv) + r->b[first + 1 + k];
    }
    const double speed = hypot(u[0], u[1]);
    for (int k = 0; k < 2; k++) {
      s[k] = speed > 0.0 ? mu * u[k] / speed : 0.0;
    }
  }
}

/* Adds an unknown: its generalized force direction and its constraint row. */
static void add_unknown(saltusi_phase_workspace* r, int* count, int row, const double* direction) {
  memcpy(r->D + (ptrdiff_t)*count * r->nv, direction, (size_t)r->nv * sizeof(double));
  memcpy(r->MD + (ptrdiff_t)*count * r->nv, direction, (size_t)r->nv * sizeof(double));
  mass_solve(r, r->MD + (ptrdiff_t)*count * r->nv);
  r->row_of[(*count)++] = row;
}

/* M, rows and directions of a mode, and A = G M^-1 D; returns the number of unknowns, -1: M is not positive definite.
 * */
static int assemble(saltusi_phase_workspace* r, const saltus_system* system, saltusi_phase_point at,
                    const saltusi_phase* mode) {
  const saltus_point p = point(r, at);
  const int n = r->nv, wide = r->rows + 1;
  if (!factor_mass(r, system, &p)) {
    return -1;
  }
  int unknowns = 0, first = r->nj;
  if (r->nj > 0) {
    joint_rows(r, system, &p);
  }
  for (int j = 0; j < r->nj; j++) {
    add_unknown(r, &unknowns, j, r->G + (ptrdiff_t)j * n);
  }
  for (int i = 0; i < mode->count; i++) {
    const saltusi_phase_contact* m = &mode->held[i];
    const saltus_contact_law* law = saltusi_phase_law(r, system, m->contact);
    const int count = contact_rows(r, system, &p, m->contact, first);
    double s[2];
    slide(r, m, m->sticks ? 0 : law->tangents, law->mu, first, at.v, s);
    for (int k = 0; k < n; k++) {
      r->F[k] = r->G[(ptrdiff_t)first * n + k];
      for (int t = 0; t < law->tangents && !m->sticks; t++) {
        r->F[k] -= s[t] * r->G[(ptrdiff_t)(first + 1 + t) * n + k];
      }
    }
    add_unknown(r, &unknowns, first, r->F);
    for (int t = 0; t < law->tangents && m->sticks; t++) {
      add_unknown(r, &unknowns, first + 1 + t, r->G + (ptrdiff_t)(first + 1 + t) * n);
    }
    first += count;
  }
  for (int i = 0; i < unknowns; i++) {
    const double* row = r->G + (ptrdiff_t)r->row_of[i] * n;
    for (int j = 0; j < unknowns; j++) {
      r->A[i * wide + j] = dot(row, r->MD + (ptrdiff_t)j * n, n);
    }
  }
  return unknowns;
}

/* Corrects y [nv] by the constraint forces of the unknowns, so that G y + rest = 0. */
static void hold(saltusi_phase_workspace* r, int unknowns, const double* rest, double* y) {
  const int n = r->nv;
  for (int i = 0; i < unknowns; i++) {
    r->x[i] = -dot(r->G + (ptrdiff_t)r->row_of[i] * n, y, n) - rest[r->row_of[i]];
  }
  solve(r, unknowns, r->nj);
  for (int i = 0; i < unknowns; i++) {
    for (int k = 0; k < n; k++) {
      y[k] += r->MD[(ptrdiff_t)i * n + k] * r->x[i];
    }
  }
}

/* Forces [3 nc] of the contacts of a mode from its unknowns. */
static void read_forces(saltusi_phase_workspace* r, const saltus_system* system, const double* v,
                        const saltusi_phase* mode, double* force) {
  memset(force, 0, (size_t)(3 * r->nc) * sizeof *force);
  int unknown = r->nj, row = r->nj;
  for (int i = 0; i < mode->count; i++) {
    const saltusi_phase_contact* m = &mode->held[i];
    const saltus_contact_law* law = saltusi_phase_law(r, system, m->contact);
    double s[2];
    double* f = force + (ptrdiff_t)3 * m->contact;
    f[0] = r->x[unknown++];
    slide(r, m, m->sticks ? 0 : law->tangents, law->mu, row, v, s);
    for (int t = 0; t < law->tangents; t++) {
      f[1 + t] = m->sticks ? r->x[unknown++] : -s[t] * f[0];
    }
    row += 1 + law->tangents;
  }
}

bool saltusi_phase_accelerate(saltusi_phase_workspace* room, const saltus_system* system,
                              saltusi_phase_point at, const saltusi_phase* mode, double* a,
                              double* force) {
  assert(room != NULL && system != NULL && mode != NULL && a != NULL);
  const saltus_point p = point(room, at);
  const int unknowns = assemble(room, system, at, mode);
  if (unknowns < 0) {
    return false;
  }
  memset(a, 0, (size_t)room->nv * sizeof *a);
  system->ops->force(system->self, &p, a);
  mass_solve(room, a);
  hold(room, unknowns, room->c, a);
  if (force != NULL) {
    read_forces(room, system, at.v, mode, force);
  }
  return room->failure.status == SALTUS_OK && isfinite(dot(a, a, room->nv));
}

bool saltusi_phase_settle(saltusi_phase_workspace* room, const saltus_system* system,
                          saltusi_phase_point at, const saltusi_phase* mode, double* v) {
  assert(room != NULL && system != NULL && mode != NULL && v != NULL);
  const int unknowns = assemble(room, system, at, mode);
  if (unknowns < 0) {
    return false;
  }
  memcpy(v, at.v, (size_t)room->nv * sizeof *v);
  hold(room, unknowns, room->b, v);
  return room->failure.status == SALTUS_OK;
}

bool saltusi_phase_close(saltusi_phase_workspace* room, const saltus_system* system,
                         saltusi_phase_point at, const saltusi_phase* mode, const double* gap,
                         double* y) {
  assert(room != NULL && system != NULL && mode != NULL && gap != NULL && y != NULL);
  const int unknowns = assemble(room, system, at, mode);
  if (unknowns < 0) {
    return false;
  }
  memset(room->b, 0, (size_t)(room->rows + 1) * sizeof *room->b);
  for (int i = 0, row = room->nj; i < mode->count; i++) {
    room->b[row] = gap[i];
    row += 1 + saltusi_phase_law(room, system, mode->held[i].contact)->tangents;
  }
  memset(y, 0, (size_t)room->nv * sizeof *y);
  hold(room, unknowns, room->b, y);
  return room->failure.status == SALTUS_OK;
}

bool saltusi_phase_tangent(saltusi_phase_workspace* room, const saltus_system* system,
                           const double* q, const double* s, double* y) {
  assert(room != NULL && system != NULL && q != NULL && s != NULL && y != NULL);
  const int nq = room->nq, nv = room->nv;
  if (system->ops->rate == NULL) {
    memcpy(y, s, (size_t)nv * sizeof *y);
    return nq == nv;
  }
  for (int k = 0; k < nv; k++) { /* least squares of the columns of q' = B(q) v */
    memset(y, 0, (size_t)nv * sizeof *y);
    y[k] = 1.0;
    system->ops->rate(system->self, q, y, room->B + (ptrdiff_t)k * nq);
  }
  for (int k = 0; k < nv; k++) {
    for (int l = 0; l < nv; l++) {
      room->M[k * nv + l] = dot(room->B + (ptrdiff_t)k * nq, room->B + (ptrdiff_t)l * nq, nq);
    }
  }
  for (int k = 0; k < nv; k++) {
    y[k] = dot(room->B + (ptrdiff_t)k * nq, s, nq);
  }
  if (!factor(room)) {
    return false;
  }
  mass_solve(room, y);
  return true;
}

void saltusi_phase_velocity(saltusi_phase_workspace* room, const saltus_system* system,
                            saltusi_phase_point at, int contact, const double* a, double U[3],
                            double* normal) {
  assert(room != NULL && system != NULL && U != NULL);
  const saltus_point p = point(room, at);
  const int n = room->nv, count = contact_rows(room, system, &p, contact, room->nj);
  for (int k = 0; k < count; k++) {
    U[k] = dot(room->G + (ptrdiff_t)(room->nj + k) * n, at.v, n) + room->b[room->nj + k];
  }
  if (a != NULL) {
    *normal = dot(room->G + (ptrdiff_t)room->nj * n, a, n) + room->c[room->nj];
  }
}

double saltusi_phase_gap(saltusi_phase_workspace* room, const saltus_system* system,
                         saltusi_phase_point at, int contact) {
  assert(room != NULL && system != NULL && contact < room->nc &&
         room->nc <= SALTUSI_PHASE_CONTACTS);
  const saltus_point p = point(room, at);
  if ((system->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    double one = (double)NAN;
    return system->ops->gaps(system->self, &p, 1, &room->contacts.identity[contact], &one) ==
                   SALTUS_OK
               ? one
               : (double)NAN;
  }
  double gap[SALTUSI_PHASE_CONTACTS];
  uint64_t identity[SALTUSI_PHASE_CONTACTS];
  int law[SALTUSI_PHASE_CONTACTS];
  for (int i = 0; i < room->nc; i++) {
    identity[i] = (uint64_t)i;
    law[i] = i;
  }
  saltus_contact_list list = {.count = room->nc,
                              .capacity = room->nc,
                              .reach = INFINITY,
                              .gap = gap,
                              .identity = identity,
                              .law = law};
  return system->ops->contacts(system->self, &p, &list) == SALTUS_OK ? gap[contact] : (double)NAN;
}

static saltus_impact_contact impact_contact(const saltus_contact_law* law, int index,
                                            bool collides) {
  return (saltus_impact_contact){.name = law->name,
                                 .tangents = law->tangents,
                                 .mu = saltus_contact_impact_mu(law),
                                 .e_N = law->e_N,
                                 .e_T = law->e_T,
                                 .stiffness = law->stiffness,
                                 .impact = law->impact,
                                 .own = law->own,
                                 .struck = collides,
                                 .law = index,
                                 .friction = law->impact_mu != 0.0 ? NULL : law->friction};
}

/* Sets x = 0 for U_N- of closed contacts, whose differences are of second order. */
static void stop_closed(const saltusi_phase_workspace* r, const saltusi_phase_impulse* impulse,
                        double* x) {
  for (int i = 0, row = 0; i < impulse->count; i++) {
    if (impulse->set[i] != impulse->first &&
        saltusi_phase_holds(impulse->closed, impulse->set[i])) {
      x[row] = 0.0;
    }
    row += 1 + r->struck[i].tangents;
  }
}

/* Removes what rounding adds to velocities u outside of the range of W, which compliance would magnify. */
static void project(saltusi_phase_workspace* r, const saltusi_phase_impulse* impulse, int rows) {
  const int wide = r->rows + 1;
  double* null = r->W + (ptrdiff_t)rows * rows;
  for (int i = 0; i < rows; i++) {
    memcpy(r->A + (ptrdiff_t)i * wide, r->W + (ptrdiff_t)i * rows, (size_t)rows * sizeof *r->A);
    r->x[i] = 0.0;
  }
  const int rank = triangle(r, rows, 1e-9);
  for (int k = 0; k < rows - rank; k++) {
    double* z = null + (ptrdiff_t)k * rows;
    left_null(r, rank, rows, k, z);
    stop_closed(r, impulse, z);    /* U_N- of closed contacts stays 0 */
    for (int j = 0; j <= k; j++) { /* orthogonal to those before, then u to it */
      const double* from = j < k ? null + (ptrdiff_t)j * rows : z;
      double* to = j < k ? z : r->u;
      const double square = dot(from, from, rows);
      const double part = square > 1e-20 ? dot(from, to, rows) / square : 0.0;
      for (int i = 0; i < rows; i++) {
        to[i] -= part * from[i];
      }
    }
  }
}

/* Impulses P of the law; of redundant contacts the limit of vanishing equal compliance, extrapolated from four. */
static bool solve_impact(saltusi_phase_workspace* r, const saltus_impacts* rule,
                         const saltusi_phase_impulse* impulse, int rows) {
  static const double weight[4] = {-1.0 / 21.0, 2.0 / 3.0, -8.0 / 3.0, 64.0 / 21.0};
  const int solutions = impulse->redundant ? 4 : 1;
  const saltus_impact impact = {
      .count = impulse->count, .rows = rows, .contact = r->struck, .W = r->W, .u = r->u};
  const saltus_log silent = {0};
  double largest = 0.0, compliance = 0.0;
  for (int i = 0; i < rows; i++) {
    largest = fmax(largest, r->W[i * rows + i]);
  }
  if (impulse->redundant) {
    project(r, impulse, rows);
  }
  memset(r->P, 0, (size_t)rows * sizeof *r->P);
  for (int k = 0; k < solutions; k++) {
    saltus_impact_result result = {.P = r->x, .u = r->after};
    for (int i = 0; i < rows && solutions > 1; i++) {
      r->W[i * rows + i] += ldexp(1e-3, -k) * largest - compliance;
    }
    compliance = ldexp(1e-3, -k) * largest;
    if (saltus_impact_solve(r->solver, rule, &impact, silent, &result) != SALTUS_OK) {
      return false;
    }
    for (int i = 0; i < rows; i++) {
      r->P[i] += (solutions > 1 ? weight[k] : 1.0) * r->x[i];
    }
  }
  return true;
}

/* M^-1 G^T of joints and of `rows` contact rows, which are projected onto the joint constraints: W under them. */
static void project_rows(saltusi_phase_workspace* r, int rows) {
  const int n = r->nv, wide = r->rows + 1;
  for (int i = 0; i < r->nj + rows; i++) {
    memcpy(r->MD + (ptrdiff_t)i * n, r->G + (ptrdiff_t)i * n, (size_t)n * sizeof(double));
    mass_solve(r, r->MD + (ptrdiff_t)i * n);
  }
  for (int i = r->nj; i < r->nj + rows && r->nj > 0; i++) {
    double* d = r->MD + (ptrdiff_t)i * n;
    for (int j = 0; j < r->nj; j++) {
      for (int k = 0; k < r->nj; k++) {
        r->A[j * wide + k] = dot(r->G + (ptrdiff_t)j * n, r->MD + (ptrdiff_t)k * n, n);
      }
      r->x[j] = -dot(r->G + (ptrdiff_t)j * n, d, n);
    }
    solve(r, r->nj, 0);
    for (int j = 0; j < r->nj; j++) {
      for (int k = 0; k < n; k++) {
        d[k] += r->x[j] * r->MD[(ptrdiff_t)j * n + k];
      }
    }
  }
}

bool saltusi_phase_impact(saltusi_phase_workspace* room, const saltus_system* system,
                          saltusi_phase_point at, const saltusi_phase_impulse* impulse, double* v,
                          double* approach) {
  assert(room != NULL && system != NULL && impulse != NULL && v != NULL);
  saltusi_phase_workspace* r = room;
  const saltus_point p = point(r, at);
  const int n = r->nv;
  if (!factor_mass(r, system, &p)) {
    return false;
  }
  if (r->nj > 0) {
    joint_rows(r, system, &p);
  }
  int rows = 0;
  for (int i = 0; i < impulse->count; i++) {
    const int contact = impulse->set[i];
    const saltus_contact_law* law = saltusi_phase_law(r, system, contact);
    const int count = contact_rows(r, system, &p, contact, r->nj + rows);
    r->struck[i] =
        impact_contact(law, r->contacts.law[contact],
                       contact == impulse->first || !saltusi_phase_holds(impulse->closed, contact));
    if (contact == impulse->first && approach != NULL) {
      *approach = dot(r->G + (ptrdiff_t)(r->nj + rows) * n, at.v, n) + r->b[r->nj + rows];
    }
    rows += count;
  }
  project_rows(r, rows);
  for (int i = 0; i < rows; i++) {
    const double* row = r->G + (ptrdiff_t)(r->nj + i) * n;
    r->u[i] = impulse->u != NULL ? impulse->u[i] : dot(row, at.v, n) + r->b[r->nj + i];
    for (int j = 0; j < rows; j++) {
      r->W[i * rows + j] = dot(row, r->MD + (ptrdiff_t)(r->nj + j) * n, n);
    }
  }
  stop_closed(r, impulse, r->u);
  for (int i = 0; i < rows; i++) { /* symmetric to the last bit */
    for (int j = 0; j < i; j++) {
      r->W[i * rows + j] = r->W[j * rows + i];
    }
  }
  if (!solve_impact(r, system->impacts, impulse, rows)) {
    return false;
  }
  memcpy(v, at.v, (size_t)n * sizeof *v);
  for (int i = 0; i < rows; i++) {
    for (int k = 0; k < n; k++) {
      v[k] += r->MD[(ptrdiff_t)(r->nj + i) * n + k] * r->P[i];
    }
  }
  return r->failure.status == SALTUS_OK;
}
