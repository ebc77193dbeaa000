/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * equations.c - the equations of motion at one state, in dense matrices:
 *
 *   M a = F + sum of D x,     G a + c = 0 for joints, active normals and sticking tangents,
 *   D = G, and G_N - s . G_T of a contact that slides, s by its law (docs/theory/certificate.md, 2 and 6).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

saltus_point saltusi_point_at(saltusi_checker* c, double t, const double* q, const double* v) {
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
  double* values = c->at.factor; /* workspace: M has at least as many entries as its blocks */
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

/* Sparse rows of the system, as dense rows over all velocities from the first row of at.G. */
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

void saltusi_contact_rows(saltusi_checker* c, const saltus_point* at, uint64_t identity, int count,
                          int first, bool with_c) {
  assert(c != NULL && at != NULL && first + count <= c->at.rows);
  saltus_rows rows = rows_from(c, first, count, with_c);
  c->system->ops->contact(c->system->self, at, identity, &rows);
  spread(c, &rows);
}

void saltusi_dry_row(saltusi_checker* c, const saltus_point* at, int i, int first, bool with_c) {
  assert(c != NULL && at != NULL && first < c->at.rows);
  saltus_rows rows = rows_from(c, first, 1, with_c);
  c->system->ops->dry(c->system->self, at, i, &rows);
  spread(c, &rows);
}

double saltusi_row_velocity(const saltusi_checker* c, int r, const double* v) {
  assert(c != NULL && v != NULL);
  return dot(c->at.G + (ptrdiff_t)r * c->nv, v, c->nv) + c->at.b[r];
}

/* Complete pivoting: moves the largest entry of the remaining submatrix of A to (k, k). */
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
      break; /* sixteen digits, less four for the rounding errors of elimination */
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

enum { MOST_HELD = 64 };

/* One evaluation of the accelerations. */
typedef struct evaluation {
  const saltus_point* at;
  int count;    /* contacts */
  int unknowns; /* joints, then those of contacts, then dry friction that holds */
  int rows;
  double slide[MOST_HELD][SALTUSI_CONTACT_ROWS];
  double viscous[MOST_HELD][2]; /* N, along the tangents */
} evaluation;

static double* row(double* matrix, int i, int n) {
  return matrix + (ptrdiff_t)i * n;
}

static void add_unknown(saltusi_checker* c, evaluation* e, int r) {
  int nv = c->nv;
  c->at.row_of[e->unknowns] = r;
  memcpy(row(c->at.D, e->unknowns, nv), row(c->at.G, r, nv), (size_t)nv * sizeof(double));
  e->unknowns++;
}

/* F += force times row r. */
static void push(saltusi_checker* c, int r, double force) {
  const double* G = row(c->at.G, r, c->nv);
  for (int j = 0; force != 0.0 && j < c->nv; j++) {
    c->at.F[j] += force * G[j];
  }
}

/* Whether row k of a contact has a constraint force. */
static bool holds(const saltusi_checked_constraints* h, int k) {
  const saltus_friction_law* f = h->rule->friction;
  if (f == NULL || k <= h->tangents) {
    return h->sticks;
  }
  bool rolling = f->rolling > 0.0 && k <= 2 * h->tangents;
  return rolling ? h->rolls : f->patch != SALTUS_PATCH_NONE ? h->sticks : h->pivots;
}

/* The unknowns of an active contact: forces D and their constraint rows; bonds and viscous
 * friction are applied forces. */
static void add_contact(saltusi_checker* c, evaluation* e, int i) {
  const saltusi_checked_constraints* h = &c->held[i];
  const saltus_friction_law* f = h->rule->friction;
  int first = e->rows;
  int normal = e->unknowns;
  saltusi_contact_rows(c, e->at, h->identity, h->rows, first, true);
  e->rows += h->rows;
  double U[SALTUSI_CONTACT_ROWS];
  for (int k = 0; k < h->rows; k++) {
    U[k] = saltusi_row_velocity(c, first + k, e->at->v);
  }
  saltusi_slide(h, U, e->slide[i]);
  add_unknown(c, e, first);
  push(c, first, -h->bond);
  for (int k = 1; k < h->rows; k++) {
    if (f != NULL && k <= h->tangents) {
      e->viscous[i][k - 1] = -f->viscous * U[k];
      push(c, first + k, e->viscous[i][k - 1]);
    }
    if (holds(h, k)) {
      add_unknown(c, e, first + k);
      continue;
    }
    double* D = row(c->at.D, normal, c->nv);
    const double* G = row(c->at.G, first + k, c->nv);
    for (int j = 0; j < c->nv; j++) {
      D[j] -= e->slide[i][k] * G[j];
    }
  }
}

/* |R| of the joint of dry friction i, from forces of joints. */
static double reaction(const saltusi_checker* c, int i, const double* forces) {
  const saltus_dry_friction* d = &c->system->dry[i];
  if (!(d->arm > 0.0)) {
    return 0.0;
  }
  int from = c->system->joint_first != NULL ? c->system->joint_first[d->joint] : d->joint;
  int to = c->system->joint_first != NULL ? c->system->joint_first[d->joint + 1] : d->joint + 1;
  to = d->reaction_rows > 0 && from + d->reaction_rows < to ? from + d->reaction_rows : to;
  double sum = 0.0;
  for (int k = from; k < to; k++) {
    sum += forces[k] * forces[k];
  }
  return sqrt(sum);
}

/* Recorded forces of the first `count` active contacts of c->acting: they determine the load
 * distribution of linearly dependent rows. */
static void recorded_forces(saltusi_checker* c, const evaluation* e) {
  double* x = c->at.recorded;
  int next = c->nj;
  memset(x, 0, (size_t)e->unknowns * sizeof *x);
  if (c->joint_force != NULL) {
    memcpy(x, c->joint_force, (size_t)c->nj * sizeof *x);
  }
  for (int i = 0; i < e->count; i++) {
    const saltusi_checked_constraints* h = &c->held[i];
    x[next++] = c->acting[i].force[0] + h->bond;
    for (int k = 1; k < h->rows; k++) {
      if (holds(h, k)) {
        x[next++] = k <= h->tangents ? c->acting[i].force[k] : 0.0;
      }
    }
  }
}

/* A x = b of the unknowns; sliding dry friction uses the reactions of the previous solution. */
static bool solve_forces(saltusi_checker* c, const evaluation* e) {
  saltusi_equations* s = &c->at;
  int nv = c->nv;
  int n = e->unknowns;
  memcpy(s->free, s->F, (size_t)nv * sizeof *s->F);
  saltusi_mass_solve(c, s->free);
  double scale = 0.0;
  for (int i = 0; i < n; i++) {
    const double* G = row(s->G, s->row_of[i], nv);
    for (int j = 0; j < n; j++) {
      s->A[i * n + j] = dot(G, row(s->MD, j, nv), nv);
    }
    double moved = dot(G, s->free, nv);
    s->x[i] = -s->c[s->row_of[i]] - moved;
    scale = fmax(scale, fabs(moved) + fabs(s->c[s->row_of[i]]));
  }
  for (int i = 0; i < n; i++) {
    s->x[i] -= dot(row(s->A, i, n), s->recorded, n);
  }
  double left = 0.0;
  saltusi_solve(c, n, &left);
  for (int i = 0; i < n; i++) {
    s->x[i] += s->recorded[i];
  }
  return left <= 1e-6 * scale; /* otherwise the assumed friction mode is wrong */
}

/* Sliding dry friction depends on the reactions that it causes: fixed-point iteration. */
static bool solve_with_dry(saltusi_checker* c, const evaluation* e, int dry_rows) {
  enum { MOST = 100 };
  double* limit = c->dry_limit;
  int count = c->system->dry_count;
  memset(limit, 0, (size_t)(count + 1) * sizeof *limit);
  for (int turn = 0; turn < MOST; turn++) {
    if (!solve_forces(c, e)) {
      return false;
    }
    double change = 0.0;
    double size = 0.0;
    for (int i = 0; i < count; i++) {
      const saltus_dry_friction* d = &c->system->dry[i];
      double next = c->dry[i].holds ? 0.0 : d->force + d->arm * reaction(c, i, c->at.x);
      push(c, dry_rows + i, -c->dry[i].sign * (next - limit[i]));
      change = fmax(change, fabs(next - limit[i]));
      size = fmax(size, next);
      limit[i] = next;
    }
    if (change <= 1e-14 * size) {
      return true;
    }
  }
  return false;
}

static void write_forces(const saltusi_checker* c, const evaluation* e, double* lambda) {
  int next = c->nj;
  for (int i = 0; i < e->count; i++) {
    const saltusi_checked_constraints* h = &c->held[i];
    double* l = lambda + (ptrdiff_t)3 * i;
    double p = c->at.x[next++];
    l[0] = p - h->bond;
    l[1] = l[2] = 0.0;
    for (int k = 1; k < h->rows; k++) {
      double force = holds(h, k) ? c->at.x[next++] : -e->slide[i][k] * p;
      if (k <= h->tangents) {
        l[k] = force + e->viscous[i][k - 1];
      }
    }
  }
}

bool saltusi_acceleration(saltusi_checker* c, const saltus_point* at, int count, double* a,
                          double* lambda) {
  assert(c != NULL && at != NULL && a != NULL && (lambda != NULL || count == 0));
  int nv = c->nv;
  if (count > MOST_HELD || !saltusi_mass_and_force(c, at)) {
    return false;
  }
  evaluation e = {.at = at, .count = count, .rows = c->nj};
  saltusi_joint_rows(c, at, true);
  for (int i = 0; i < c->nj; i++) {
    add_unknown(c, &e, i);
  }
  for (int i = 0; i < count; i++) {
    add_contact(c, &e, i);
  }
  int dry_rows = e.rows;
  for (int i = 0; i < c->system->dry_count; i++) {
    saltusi_dry_row(c, at, i, e.rows, true);
    if (c->dry[i].holds) {
      add_unknown(c, &e, e.rows);
    }
    e.rows++;
  }
  memcpy(c->at.MD, c->at.D, (size_t)e.unknowns * (size_t)nv * sizeof *c->at.MD);
  for (int i = 0; i < e.unknowns; i++) {
    saltusi_mass_solve(c, row(c->at.MD, i, nv));
  }
  recorded_forces(c, &e);
  if (!solve_with_dry(c, &e, dry_rows)) {
    return false;
  }
  memcpy(a, c->at.free, (size_t)nv * sizeof *a);
  for (int i = 0; i < e.unknowns; i++) {
    for (int j = 0; j < nv; j++) {
      a[j] += c->at.MD[i * nv + j] * c->at.x[i];
    }
  }
  write_forces(c, &e, lambda);
  return true;
}

/* Appends the rows of rolling and spin of a contact. */
static int unseen_of(saltusi_checker* c, const saltus_point* at,
                     const saltusi_checked_contacts* acting, double h, int rows) {
  const saltus_contact_law* law = &c->system->laws[acting->law];
  const saltus_friction_law* f = law->friction;
  int all = saltus_contact_rows(law);
  int seen = 1 + law->tangents;
  int nv = c->nv;
  saltusi_contact_rows(c, at, acting->identity, all, rows, false);
  for (int k = seen; k < all; k++) {
    memmove(row(c->at.G, rows + k - seen, nv), row(c->at.G, rows + k, nv),
            (size_t)nv * sizeof(double));
    c->at.b[rows + k - seen] = c->at.b[rows + k];
    bool rolling = f->rolling > 0.0 && k <= 2 * law->tangents;
    double P = fmax(0.0, acting->impulse[0] + h * acting->force[0]) + h * f->adhesion;
    double arm = rolling ? f->rolling : f->drilling + law->mu * f->radius;
    c->unseen[rows + k - seen] =
        (saltusi_unseen){.contact = acting,
                         .most = arm * P,
                         .alone = (!rolling || law->tangents == 1) &&
                                  f->patch == SALTUS_PATCH_NONE && !(f->adhesion > 0.0)};
  }
  return rows + all - seen;
}

/* Largest impulse of joint friction i in a step, by the recorded force of its joint. */
static double dry_most(const saltusi_checker* c, int i, double h) {
  const saltus_dry_friction* d = &c->system->dry[i];
  if (d->arm > 0.0 && c->joint_force == NULL) {
    return INFINITY;
  }
  return h * (d->force + d->arm * reaction(c, i, c->joint_force));
}

int saltusi_unseen_rows(saltusi_checker* c, const saltus_point* at, int count, double h) {
  assert(c != NULL && at != NULL);
  int rows = c->nj;
  saltusi_joint_rows(c, at, false);
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* acting = &c->acting[i];
    const saltus_contact_law* law = &c->system->laws[acting->law];
    int all = saltus_contact_rows(law);
    bool pushed = acting->force[0] != 0.0 || acting->impulse[0] != 0.0;
    if (all > 1 + law->tangents && pushed && rows + all <= c->at.rows) {
      rows = unseen_of(c, at, acting, h, rows);
    }
  }
  for (int i = 0; h > 0.0 && i < c->system->dry_count && rows < c->at.rows; i++) {
    saltusi_dry_row(c, at, i, rows, false);
    c->unseen[rows++] = (saltusi_unseen){.most = dry_most(c, i, h), .alone = true};
  }
  return rows;
}

int saltusi_without(saltusi_checker* c, int n, double* r) {
  assert(c != NULL && r != NULL);
  saltusi_equations* e = &c->at;
  int nv = c->nv;
  if (n == 0) {
    return 0;
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
  int rank = saltusi_solve(c, n, &left);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < nv; j++) {
      r[j] -= e->G[i * nv + j] * e->x[i];
    }
  }
  return rank;
}

void saltusi_displacement(const saltusi_checker* c, const double* q0, const double* q1, double* d) {
  assert(c != NULL && q0 != NULL && q1 != NULL && d != NULL);
  if (c->system->ops->difference != NULL) {
    c->system->ops->difference(c->system->self, q0, q1, d);
    return;
  }
  for (int i = 0; i < c->nv; i++) {
    d[i] = q1[i] - q0[i];
  }
}
