/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * equations.c - the equations of motion at one place, dense and straightforward:
 *
 *   M a = F + sum of D x,     G a + c = 0 for joints, normals that are held and tangents that stick,
 *   D = G, and G_N - mu (d . G_T) of a contact that slips along d (docs/theory/certificate.md, 2).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

saltus_point saltusi_place(saltusi_checker* c, double t, const double* q, const double* v) {
  assert(c != NULL && q != NULL);
  return (saltus_point){.t = t, .q = q, .v = v, .scratch = c->scratch, .failure = &c->failure};
}

static double dot(const double* x, const double* y, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

/* M from the blocks of a structure: the diagonal ones in order, then two for each pair. */
static void mass_by_blocks(saltusi_checker* c, const saltus_point* at) {
  const saltus_structure* s = c->system->structure;
  int n = c->nv;
  double* values = c->at.factor; /* M has no more entries than its blocks */
  c->system->ops->blocks(c->system->self, at, 1.0, 0.0, 0.0, values);
  memset(c->at.M, 0, (size_t)n * (size_t)n * sizeof *c->at.M);
  for (int k = 0; k < s->blocks + 2 * s->pairs; k++) {
    int pair = (k - s->blocks) / 2;
    int turned = k < s->blocks ? 0 : (k - s->blocks) % 2;
    int row = k < s->blocks ? k : s->pair[2 * pair + turned];
    int column = k < s->blocks ? k : s->pair[2 * pair + 1 - turned];
    for (int i = s->start[row]; i < s->start[row + 1]; i++) {
      for (int j = s->start[column]; j < s->start[column + 1]; j++) {
        c->at.M[i * n + j] = *values++;
      }
    }
  }
}

/* Cholesky's factor of M, row by row below the diagonal. */
static bool factor(saltusi_checker* c) {
  int n = c->nv;
  double* L = c->at.factor;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      double rest = c->at.M[i * n + j] - dot(L + (ptrdiff_t)i * n, L + (ptrdiff_t)j * n, j);
      if (i == j && !(rest > 0.0)) {
        return false;
      }
      L[i * n + j] = i == j ? sqrt(rest) : rest / L[j * n + j];
    }
  }
  return true;
}

void saltusi_mass_solve(const saltusi_checker* c, double* x) {
  assert(c != NULL && x != NULL);
  int n = c->nv;
  const double* L = c->at.factor;
  for (int i = 0; i < n; i++) {
    x[i] = (x[i] - dot(L + (ptrdiff_t)i * n, x, i)) / L[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] /= L[i * n + i];
    for (int j = 0; j < i; j++) {
      x[j] -= L[i * n + j] * x[i];
    }
  }
}

bool saltusi_mass_and_force(saltusi_checker* c, const saltus_point* at) {
  assert(c != NULL && at != NULL);
  const saltus_system_ops* ops = c->system->ops;
  if (ops->mass != NULL) {
    memset(c->at.M, 0, (size_t)c->nv * (size_t)c->nv * sizeof *c->at.M);
    ops->mass(c->system->self, at, c->at.M);
  } else {
    mass_by_blocks(c, at);
  }
  memset(c->at.F, 0, (size_t)c->nv * sizeof *c->at.F);
  ops->force(c->system->self, at, c->at.F);
  if (!factor(c)) {
    return false;
  }
  memcpy(c->at.free, c->at.F, (size_t)c->nv * sizeof *c->at.F);
  saltusi_mass_solve(c, c->at.free);
  return true;
}

/* Rows as the system writes them, spread over all velocities: they come at the front of the room for them. */
static void spread(saltusi_checker* c, const saltus_rows* rows) {
  for (int r = rows->count - 1; rows->column != NULL && r >= 0; r--) {
    double* row = rows->G + (ptrdiff_t)r * rows->stride;
    for (int k = rows->width - 1; k >= 0; k--) { /* ascending: entries only move to the right */
      double value = row[k];
      row[k] = 0.0;
      row[c->column[k]] = value;
    }
  }
}

static saltus_rows rows_from(saltusi_checker* c, int first, int count, bool with_c) {
  int n = c->nv;
  saltus_rows rows = {.count = count, .stride = n, .G = c->at.G + (ptrdiff_t)first * n};
  int width = c->system->dims.row_width;
  rows.width = width > 0 ? width : n;
  rows.column = width > 0 ? c->column : NULL;
  rows.b = c->at.b + first;
  rows.c = with_c ? c->at.c + first : NULL;
  memset(rows.G, 0, (size_t)count * (size_t)n * sizeof *rows.G);
  memset(rows.b, 0, (size_t)count * sizeof *rows.b);
  memset(c->at.c + first, 0, (size_t)count * sizeof *c->at.c);
  memset(c->column, 0, (size_t)n * sizeof *c->column);
  return rows;
}

void saltusi_joint_rows(saltusi_checker* c, const saltus_point* at, bool with_c) {
  assert(c != NULL && at != NULL);
  const saltus_system* s = c->system;
  int joints = s->joint_first != NULL ? s->joint_count : c->nj;
  for (int j = 0; j < joints; j++) {
    int first = s->joint_first != NULL ? s->joint_first[j] : j;
    int count = s->joint_first != NULL ? s->joint_first[j + 1] - first : 1;
    saltus_rows rows = rows_from(c, first, count, with_c);
    s->ops->joint(s->self, at, j, &rows);
    spread(c, &rows);
  }
}

void saltusi_contact_rows(saltusi_checker* c, const saltus_point* at, uint64_t identity,
                          int tangents, int first, bool with_c) {
  assert(c != NULL && at != NULL && first + tangents < c->at.rows);
  saltus_rows rows = rows_from(c, first, 1 + tangents, with_c);
  c->system->ops->contact(c->system->self, at, identity, &rows);
  spread(c, &rows);
}

double saltusi_row_velocity(const saltusi_checker* c, int r, const double* v) {
  assert(c != NULL && v != NULL);
  return dot(c->at.G + (ptrdiff_t)r * c->nv, v, c->nv) + c->at.b[r];
}

/* The largest entry of what is left of A comes to place k. */
static double pivot(saltusi_checker* c, int n, int k) {
  double* A = c->at.A;
  int row = k;
  int column = k;
  for (int i = k; i < n; i++) {
    for (int j = k; j < n; j++) {
      if (fabs(A[i * n + j]) > fabs(A[row * n + column])) {
        row = i;
        column = j;
      }
    }
  }
  for (int j = 0; j < n; j++) {
    double keep = A[k * n + j];
    A[k * n + j] = A[row * n + j];
    A[row * n + j] = keep;
  }
  double keep = c->at.x[k];
  c->at.x[k] = c->at.x[row];
  c->at.x[row] = keep;
  for (int i = 0; i < n; i++) {
    keep = A[i * n + k];
    A[i * n + k] = A[i * n + column];
    A[i * n + column] = keep;
  }
  int name = c->at.column[k];
  c->at.column[k] = c->at.column[column];
  c->at.column[column] = name;
  return A[k * n + k];
}

int saltusi_solve(saltusi_checker* c, int n, double* left) {
  assert(c != NULL && left != NULL);
  double* A = c->at.A;
  double* x = c->at.x;
  for (int i = 0; i < n; i++) {
    c->at.column[i] = i;
  }
  int rank = 0;
  double first = 0.0;
  for (; rank < n; rank++) {
    double size = fabs(pivot(c, n, rank));
    first = rank == 0 ? size : first;
    if (!(size > 1e-12 * first)) {
      break; /* sixteen digits, four of them for what elimination loses */
    }
    for (int i = rank + 1; i < n; i++) {
      double factor_of = A[i * n + rank] / A[rank * n + rank];
      for (int j = rank; j < n; j++) {
        A[i * n + j] -= factor_of * A[rank * n + j];
      }
      x[i] -= factor_of * x[rank];
    }
  }
  *left = 0.0;
  for (int i = rank; i < n; i++) {
    *left = fmax(*left, fabs(x[i]));
    x[i] = 0.0;
  }
  for (int i = rank - 1; i >= 0; i--) {
    x[i] = (x[i] - dot(A + (ptrdiff_t)i * n + i + 1, x + i + 1, rank - i - 1)) / A[i * n + i];
  }
  double* sorted = A; /* no longer needed */
  for (int i = 0; i < n; i++) {
    sorted[c->at.column[i]] = x[i];
  }
  memcpy(x, sorted, (size_t)n * sizeof *x);
  return rank;
}

/* Direction of the slip of a contact whose tangents are rows first + 1 ...; as it was told where it is too slow. */
static void slip_direction(const saltusi_checker* c, const saltusi_held* held, int first,
                           const double* v, double d[2]) {
  d[0] = held->direction[0];
  d[1] = held->direction[1];
  if (held->tangents == 2) {
    double u[2] = {saltusi_row_velocity(c, first + 1, v), saltusi_row_velocity(c, first + 2, v)};
    double speed = hypot(u[0], u[1]);
    double along = u[0] * d[0] + u[1] * d[1];
    if (speed > 1e-9 && along > 0.0) {
      d[0] = u[0] / speed;
      d[1] = u[1] / speed;
    }
  }
}

/* The unknowns of the held contacts: their forces D, and the rows that they hold. How many. */
static int unknowns(saltusi_checker* c, const saltus_point* at, int count, double (*slip)[2]) {
  saltusi_equations* e = &c->at;
  int nv = c->nv;
  int n = 0;
  for (; n < c->nj; n++) {
    e->row_of[n] = n;
    memcpy(e->D + (ptrdiff_t)n * nv, e->G + (ptrdiff_t)n * nv, (size_t)nv * sizeof *e->D);
  }
  int first = c->nj;
  for (int i = 0; i < count; i++) {
    const saltusi_held* held = &c->held[i];
    saltusi_contact_rows(c, at, held->identity, held->tangents, first, true);
    bool slips = held->tangents > 0 && !held->sticks;
    double* D = e->D + (ptrdiff_t)n * nv;
    memcpy(D, e->G + (ptrdiff_t)first * nv, (size_t)nv * sizeof *D);
    e->row_of[n++] = first;
    if (slips) {
      slip_direction(c, held, first, at->v, slip[i]);
    }
    for (int k = 0; k < held->tangents; k++) {
      const double* G = e->G + (ptrdiff_t)(first + 1 + k) * nv;
      if (slips) {
        for (int j = 0; j < nv; j++) {
          D[j] -= held->mu * slip[i][k] * G[j];
        }
      } else {
        memcpy(e->D + (ptrdiff_t)n * nv, G, (size_t)nv * sizeof *D);
        e->row_of[n++] = first + 1 + k;
      }
    }
    first += 1 + held->tangents;
  }
  return n;
}

enum { MOST_HELD = 64 };

bool saltusi_acceleration(saltusi_checker* c, const saltus_point* at, int count, double* a,
                          double* lambda) {
  assert(c != NULL && at != NULL && a != NULL && (lambda != NULL || count == 0));
  saltusi_equations* e = &c->at;
  int nv = c->nv;
  double slip[MOST_HELD][2];
  if (count > MOST_HELD || !saltusi_mass_and_force(c, at)) {
    return false;
  }
  saltusi_joint_rows(c, at, true);
  int n = unknowns(c, at, count, slip);
  memcpy(e->MD, e->D, (size_t)n * (size_t)nv * sizeof *e->MD);
  for (int i = 0; i < n; i++) {
    saltusi_mass_solve(c, e->MD + (ptrdiff_t)i * nv);
  }
  double scale = 0.0;
  for (int i = 0; i < n; i++) {
    const double* G = e->G + (ptrdiff_t)e->row_of[i] * nv;
    for (int j = 0; j < n; j++) {
      e->A[i * n + j] = dot(G, e->MD + (ptrdiff_t)j * nv, nv);
    }
    double moved = dot(G, e->free, nv);
    e->x[i] = -e->c[e->row_of[i]] - moved;
    scale = fmax(scale, fabs(moved) + fabs(e->c[e->row_of[i]]));
  }
  double left = 0.0;
  saltusi_solve(c, n, &left);
  if (left > 1e-6 * scale) {
    return false; /* contacts that cannot be held together: another status than it seems */
  }
  memcpy(a, e->free, (size_t)nv * sizeof *a);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < nv; j++) {
      a[j] += e->MD[i * nv + j] * e->x[i];
    }
  }
  int next = c->nj;
  for (int i = 0; i < count; i++) {
    const saltusi_held* held = &c->held[i];
    double* l = lambda + (ptrdiff_t)3 * i;
    l[0] = e->x[next++];
    l[1] = l[2] = 0.0;
    for (int k = 0; k < held->tangents; k++) {
      l[1 + k] = held->sticks ? e->x[next++] : -held->mu * slip[i][k] * l[0];
    }
  }
  return true;
}

void saltusi_without_joints(saltusi_checker* c, double* r) {
  assert(c != NULL && r != NULL);
  saltusi_equations* e = &c->at;
  int nv = c->nv;
  int n = c->nj;
  if (n == 0) {
    return;
  }
  memcpy(e->MD, e->G, (size_t)n * (size_t)nv * sizeof *e->MD);
  for (int i = 0; i < n; i++) {
    saltusi_mass_solve(c, e->MD + (ptrdiff_t)i * nv);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      e->A[i * n + j] = dot(e->G + (ptrdiff_t)i * nv, e->MD + (ptrdiff_t)j * nv, nv);
    }
    e->x[i] = dot(e->MD + (ptrdiff_t)i * nv, r, nv);
  }
  double left = 0.0;
  saltusi_solve(c, n, &left);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < nv; j++) {
      r[j] -= e->G[i * nv + j] * e->x[i];
    }
  }
}

void saltusi_way(const saltusi_checker* c, const double* q0, const double* q1, double* d) {
  assert(c != NULL && q0 != NULL && q1 != NULL && d != NULL);
  if (c->system->ops->difference != NULL) {
    c->system->ops->difference(c->system->self, q0, q1, d);
    return;
  }
  for (int i = 0; i < c->nv; i++) {
    d[i] = q1[i] - q0[i];
  }
}
