/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reduce.c - Craig-Bampton reduction (AIAA J. 6, 1968) with rigid interfaces and contact nodes, then modes with mean axes.
 *
 *   u = T x          x: interior displacements, contact nodes, 6 numbers of each rigid interface
 *   B = T [Psi Phi]  Psi = -K_ii^-1 K_ib,  K_ii Phi = M_ii Phi w^2 by subspace iteration (Bathe)
 *   V                eigenvectors of K, M in B without its rigid part: B - R (R^T M R)^-1 R^T M B
 *
 * If K_ii is singular, K + sigma M replaces it, sigma a hundredth of an estimate of the first
 * eigenvalue. Inertia: sum over nodes m_ab, exact, since M has no entries between directions.
 */
#include "base/log.h"
#include "flexible/flexible.h"
#include "flexible/products.h"
#include "math/rotation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 200, RIGID = 6 };
static const double two_pi = 6.283185307179586;

typedef struct reduction {
  const saltus_reduce_def* def;
  saltusi_pool pool;
  saltusi_fe_dof dof;
  saltusi_fe_mesh mesh;
  cs_di *K, *M; /* n x n */
  int n;        /* rows */
  int* row;     /* [3 nodes] row of each direction of a node; -1: none */
  double mass, centre[3];
  double* R; /* [n x 6], column major as all of these */
  int boundary, interior;
  cs_di* T;              /* n x (interior + boundary) */
  double* effective;     /* [modes x 6] */
  double *B, *V, *omega; /* B: n x (boundary + modes) */
  int all, kept;         /* modes: computed, and of the body */
} reduction;

static saltus_status refuse(const reduction* j, const char* file, const char* text, double a,
                            double b) {
  saltusi_log(j->def->log, SALTUS_LEVEL_ERROR, "%s: %s (%g, %g)", file, text, a, b);
  return SALTUS_ERR_INPUT;
}

/* ---- reading and checks ---- */

static cs_di* compress(const saltusi_entries* e) {
  cs_di triplet = {.nzmax = e->count,
                   .m = e->rows,
                   .n = e->rows,
                   .p = e->column,
                   .i = e->row,
                   .x = e->value,
                   .nz = e->count};
  cs_di* A = cs_di_compress(&triplet);
  if (A != NULL) {
    cs_di_dupl(A);
  }
  return A;
}

static saltus_status read_dof(reduction* j) {
  const saltus_reduce_def* def = j->def;
  j->row = SALTUSI_TAKE(&j->pool, int, 3 * j->mesh.count);
  if (j->row == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < 3 * j->mesh.count; i++) {
    j->row[i] = -1;
  }
  for (int r = 0; r < j->dof.rows; r++) {
    const int node = saltusi_mesh_node(&j->mesh, j->dof.node[r]);
    if (node < 0) {
      return refuse(j, def->dof, "a node of a row is not in the mesh: row, node", r + 1,
                    j->dof.node[r]);
    }
    int* at = &j->row[3 * node + j->dof.direction[r]];
    if (*at >= 0) {
      return refuse(j, def->dof, "a degree of freedom is there twice: rows", *at + 1, r + 1);
    }
    *at = r;
  }
  for (int i = 0; i < j->mesh.count; i++) {
    const int* at = j->row + 3 * (ptrdiff_t)i;
    const int have = (at[0] >= 0) + (at[1] >= 0) + (at[2] >= 0);
    if (have != 0 && have != 3) {
      return refuse(j, def->dof,
                    "a node has fewer than three rows: node, rows; is it held by *BOUNDARY?",
                    j->mesh.number[i], have);
    }
  }
  return SALTUS_OK;
}

static saltus_status read_one(reduction* j, const char* path, cs_di** out) {
  saltusi_entries e;
  const saltus_status status = saltusi_read_matrix(path, &j->pool, j->def->log, &e);
  if (status != SALTUS_OK) {
    return status;
  }
  if (e.rows != j->dof.rows) {
    return refuse(j, path, "rows of the matrix and of the dof file differ", e.rows, j->dof.rows);
  }
  *out = compress(&e);
  return *out != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}

/* No entries between directions; the same mass along x, y and z; the centre. */
static saltus_status check_mass(reduction* j) {
  double most = 0.0, across = 0.0, mass[3] = {0.0}, first[3] = {0.0};
  for (int c = 0; c < j->n; c++) {
    const int node = saltusi_mesh_node(&j->mesh, j->dof.node[c]), k = j->dof.direction[c];
    for (int p = j->M->p[c]; p < j->M->p[c + 1]; p++) {
      const double m = j->M->x[p];
      if (j->dof.direction[j->M->i[p]] != k) {
        across = fmax(across, fabs(m));
        continue;
      }
      most = fmax(most, fabs(m));
      mass[k] += m;
      first[k] += m * j->mesh.x[3 * node + k];
    }
  }
  if (across > 1e-9 * most) {
    return refuse(j, j->def->mass, "the mass matrix has entries between directions: largest, of",
                  across, most);
  }
  j->mass = mass[0];
  if (!(mass[0] > 0.0) || fabs(mass[1] - mass[0]) > 1e-8 * mass[0] ||
      fabs(mass[2] - mass[0]) > 1e-8 * mass[0]) {
    return refuse(j, j->def->mass, "masses along x and y differ or are not positive", mass[0],
                  mass[1]);
  }
  for (int k = 0; k < 3; k++) {
    j->centre[k] = first[k] / mass[k];
  }
  return SALTUS_OK;
}

/* Rigid displacements: three translations, three rotations about the centre of mass. */
static saltus_status check_rigid(reduction* j) {
  const int n = j->n;
  j->R = SALTUSI_TAKE(&j->pool, double, RIGID* n);
  double* KR = SALTUSI_TAKE(&j->pool, double, RIGID* n);
  if (j->R == NULL || KR == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  double most = 0.0, arm = 0.0;
  for (int r = 0; r < n; r++) {
    const int node = saltusi_mesh_node(&j->mesh, j->dof.node[r]), k = j->dof.direction[r];
    double s[3];
    saltusi_minus3(j->mesh.x + 3 * (ptrdiff_t)node, j->centre, s);
    arm = fmax(arm, sqrt(saltusi_dot3(s, s)));
    j->R[r + (ptrdiff_t)k * n] = 1.0;
    const int a = (k + 1) % 3, b = (k + 2) % 3; /* (e_a x s)_k = s_b, (e_b x s)_k = -s_a */
    j->R[r + (ptrdiff_t)(3 + a) * n] = s[b];
    j->R[r + (ptrdiff_t)(3 + b) * n] = -s[a];
  }
  for (int p = 0; p < j->K->p[n]; p++) {
    most = fmax(most, fabs(j->K->x[p]));
  }
  saltusi_fe_times(j->K, RIGID, j->R, KR);
  for (int i = 0; i < RIGID * n; i++) {
    const double scale = most * (i / n < 3 ? 1.0 : arm);
    if (!(fabs(KR[i]) <= 1e-8 * scale)) {
      return refuse(j, j->def->stiffness,
                    "a rigid displacement has elastic forces; is the body held by *BOUNDARY? "
                    "largest force, of",
                    KR[i], scale);
    }
  }
  return SALTUS_OK;
}

/* ---- boundary ---- */

/* Members of a set, or one node by its number. */
static saltus_status find_set(reduction* j, const saltus_reduce_frame* frame,
                              saltusi_mesh_set* out) {
  *out = (saltusi_mesh_set){.count = 0};
  for (int i = 0; i < j->mesh.set_count; i++) {
    if (strcmp(j->mesh.sets[i].name, frame->set) == 0) {
      *out = j->mesh.sets[i];
    }
  }
  if (out->count == 0 && atoi(frame->set) > 0) {
    out->node = SALTUSI_TAKE(&j->pool, int, 1);
    if (out->node == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    out->node[0] = atoi(frame->set);
    out->count = 1;
  }
  for (int i = 0; i < out->count; i++) {
    const int node = saltusi_mesh_node(&j->mesh, out->node[i]);
    if (node < 0 || j->row[3 * node] < 0) {
      saltusi_log(j->def->log, SALTUS_LEVEL_ERROR,
                  "%s: node %d of \"%s\" has no rows of the matrix", j->def->mesh, out->node[i],
                  frame->set);
      return SALTUS_ERR_INPUT;
    }
  }
  if (out->count == 0) {
    saltusi_log(j->def->log, SALTUS_LEVEL_ERROR, "%s: no node set \"%s\"", j->def->mesh,
                frame->set);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

static void node_point(const reduction* j, int number, double s[3]) {
  saltusi_minus3(j->mesh.x + 3 * (ptrdiff_t)saltusi_mesh_node(&j->mesh, number), j->centre, s);
}

/* Mean of the nodes, and the inverse of sum (r^2 - r r^T); false: collinear. */
static bool set_frame(const reduction* j, const saltusi_mesh_set* set, double o[3],
                      double inverse[9]) {
  double J[9] = {0.0}, r[3], cross[3], size = 0.0;
  memset(o, 0, 3 * sizeof *o);
  for (int i = 0; i < set->count; i++) {
    node_point(j, set->node[i], r);
    saltusi_along(1.0 / set->count, r, o, o);
  }
  for (int i = 0; i < set->count; i++) {
    node_point(j, set->node[i], r);
    saltusi_minus3(r, o, r);
    for (int k = 0; k < 9; k++) {
      J[k] += (k % 4 == 0 ? saltusi_dot3(r, r) : 0.0) - r[k / 3] * r[k % 3];
    }
    size += saltusi_dot3(r, r);
  }
  saltusi_cross(J, J + 3, cross);
  const double det = saltusi_dot3(cross, J + 6);
  for (int k = 0; k < 3; k++) {
    saltusi_cross(J + 3 * ((k + 1) % 3), J + 3 * ((k + 2) % 3), cross);
    for (int i = 0; i < 3; i++) {
      inverse[3 * i + k] = cross[i] / det;
    }
  }
  return det > 1e-9 * size * size * size;
}

/* T: interior rows first, then contact nodes and interfaces. */
static saltus_status lay_boundary(reduction* j) {
  const int n = j->n;
  int* owner = SALTUSI_TAKE(&j->pool, int, n); /* 1 + frame; 0: interior */
  int* place = SALTUSI_TAKE(&j->pool, int, n);
  cs_di* T = cs_di_spalloc(n, 1, 1, 1, 1);
  if (owner == NULL || place == NULL || T == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int f = 0; f < j->def->frame_count && status == SALTUS_OK; f++) {
    const saltus_reduce_frame* frame = &j->def->frames[f];
    saltusi_mesh_set set;
    status = find_set(j, frame, &set);
    for (int i = 0; i < 3 * set.count && status == SALTUS_OK; i++) {
      const int r = j->row[3 * saltusi_mesh_node(&j->mesh, set.node[i / 3]) + i % 3];
      if (owner[r] != 0) {
        const int node = i / 3;
        status = refuse(j, j->def->mesh, "a node is in two sets: node, set", set.node[node], f + 1);
      }
      owner[r] = 1 + f;
    }
    double o[3], inverse[9];
    if (status == SALTUS_OK && !frame->contact && !set_frame(j, &set, o, inverse)) {
      status = refuse(j, j->def->mesh,
                      "an interface needs three nodes that are not on a line: interface, nodes",
                      f + 1, set.count);
    }
  }
  for (int r = 0; r < n && status == SALTUS_OK; r++) {
    if (owner[r] == 0) {
      cs_di_entry(T, r, j->interior++, 1.0);
    }
  }
  int column = j->interior;
  for (int f = 0; f < j->def->frame_count && status == SALTUS_OK; f++) {
    const saltus_reduce_frame* frame = &j->def->frames[f];
    saltusi_mesh_set set;
    double o[3], inverse[9], s[3];
    status = find_set(j, frame, &set);
    set_frame(j, &set, o, inverse);
    for (int i = 0; i < 3 * set.count; i++) {
      const int r = j->row[3 * saltusi_mesh_node(&j->mesh, set.node[i / 3]) + i % 3], k = i % 3;
      if (frame->contact) {
        cs_di_entry(T, r, column++, 1.0);
        continue;
      }
      node_point(j, set.node[i / 3], s);
      saltusi_minus3(s, o, s);
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      cs_di_entry(T, r, column + k, 1.0);
      cs_di_entry(T, r, column + 3 + a, s[b]);
      cs_di_entry(T, r, column + 3 + b, -s[a]);
    }
    column += frame->contact ? 0 : RIGID;
  }
  T->n = column > 0 ? column : 1;
  j->boundary = column - j->interior;
  j->T = cs_di_compress(T);
  cs_di_spfree(T);
  return status == SALTUS_OK && j->T == NULL ? SALTUS_ERR_MEMORY : status;
}

/* ---- interior ---- */

/* Rows and columns [0, rows) x [from, to) of A. */
static cs_di* part(const cs_di* A, int rows, int from, int to) {
  cs_di* P = cs_di_spalloc(rows, to - from > 0 ? to - from : 1, 1, 1, 1);
  for (int c = from; P != NULL && c < to; c++) {
    for (int p = A->p[c]; p < A->p[c + 1]; p++) {
      if (A->i[p] < rows) {
        cs_di_entry(P, A->i[p], c - from, A->x[p]);
      }
    }
  }
  cs_di* C = P != NULL ? cs_di_compress(P) : NULL;
  cs_di_spfree(P);
  return C;
}

/* The least Rayleigh quotient of displacements quadratic in one coordinate, without their rigid part. */
static double estimate(reduction* j) {
  const int n = j->n;
  double* u = SALTUSI_TAKE(&j->pool, double, 3 * n);
  double *Mu = u + n, *Ku = u + 2 * (ptrdiff_t)n, least = INFINITY;
  for (int f = 0; f < 9; f++) {
    for (int r = 0; r < n; r++) {
      double s[3];
      node_point(j, j->dof.node[r], s);
      u[r] = j->dof.direction[r] == f / 3 ? s[f % 3] * s[f % 3] : 0.0;
    }
    for (int pass = 0; pass < 3; pass++) { /* Gauss-Seidel: R is not orthogonal in general */
      for (int k = 0; k < RIGID; k++) {
        const double* R = j->R + (ptrdiff_t)k * n;
        saltusi_fe_times(j->M, 1, R, Mu);
        const double part_of = saltusi_fe_dot(n, Mu, u) / saltusi_fe_dot(n, Mu, R);
        for (int r = 0; r < n; r++) {
          u[r] -= part_of * R[r];
        }
      }
    }
    saltusi_fe_times(j->M, 1, u, Mu);
    saltusi_fe_times(j->K, 1, u, Ku);
    const double T = saltusi_fe_dot(n, u, Mu);
    least = T > 0.0 ? fmin(least, saltusi_fe_dot(n, u, Ku) / T) : least;
  }
  return least;
}

/* Fixed-interface modes Phi [ni x modes] by subspace iteration with the factor of K + sigma M: w = lambda + sigma. */
static saltus_status subspace(reduction* j, const saltusi_fe_factor* f, const cs_di* M, int modes,
                              double* Phi) {
  const int n = f->n, most = 2 * modes > modes + 8 ? 2 * modes : modes + 8, p = most < n ? most : n;
  double* X = SALTUSI_TAKE(&j->pool, double, p* n);
  double* Y = SALTUSI_TAKE(&j->pool, double, p* n);
  double* A = SALTUSI_TAKE(&j->pool, double, 2 * p * p + 2 * p + n);
  if (X == NULL || Y == NULL || A == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  double *B = A + p * p, *w = B + p * p, *before = w + p, *work = before + p;
  unsigned seed = 1;
  for (int i = 0; i < p * n; i++) {
    seed = seed * 1664525U + 1013904223U;
    X[i] = (double)(seed >> 8) / (double)(1U << 24) - 0.5;
  }
  double change = INFINITY;
  for (int it = 0; it < ITERATIONS && change > 1e-13; it++) {
    saltusi_fe_times(M, p, X, Y);
    memcpy(X, Y, (size_t)p * (size_t)n * sizeof *X);
    for (int c = 0; c < p; c++) {
      saltusi_fe_factor_solve(f, Y + (ptrdiff_t)c * n, work);
    }
    saltusi_fe_gram(n, p, Y, p, X, A); /* Y^T (K + sigma M) Y without the rounding of K Y */
    saltusi_fe_times(M, p, Y, X);
    saltusi_fe_gram(n, p, Y, p, X, B);
    if (!saltusi_fe_eigen(&j->pool, p, A, B, w)) {
      return refuse(j, j->def->stiffness, "eigenvalues of the subspace do not converge", it, p);
    }
    saltusi_fe_combine(n, p, Y, p, A, X);
    change = 0.0;
    for (int k = 0; k < modes; k++) {
      change = fmax(change, fabs(w[k] - before[k]) / (fabs(w[k]) + 1e-300));
    }
    memcpy(before, w, (size_t)p * sizeof *w);
  }
  if (change > 1e-9) {
    return refuse(j, j->def->stiffness, "fixed-interface modes do not converge: change, modes",
                  change, modes);
  }
  memcpy(Phi, X, (size_t)modes * (size_t)n * sizeof *X);
  return SALTUS_OK;
}

/* B = T [Psi Phi] */
static saltus_status make_basis(reduction* j) {
  const int n = j->n, ni = j->interior, nb = j->boundary;
  int modes = j->def->modes;
  if (modes > ni) {
    return refuse(j, j->def->stiffness, "more modes than interior rows", modes, ni);
  }
  cs_di* Tt = cs_di_transpose(j->T, 1);
  cs_di* KT = cs_di_multiply(j->K, j->T);
  cs_di* MT = cs_di_multiply(j->M, j->T);
  cs_di* K = cs_di_multiply(Tt, KT);
  cs_di* M = cs_di_multiply(Tt, MT);
  cs_di *Kii = part(K, ni, 0, ni), *Mii = part(M, ni, 0, ni);
  cs_di *Kib = part(K, ni, ni, ni + nb), *Mib = part(M, ni, ni, ni + nb);
  saltusi_fe_factor f = {.n = 0};
  double sigma = 0.0;
  bool sound = nb >= RIGID && saltusi_fe_factor_make(Kii, &f);
  if (!sound) {
    saltusi_fe_factor_free(&f);
    sigma = 0.01 * estimate(j);
    cs_di* shifted = cs_di_add(Kii, Mii, 1.0, sigma);
    sound = saltusi_fe_factor_make(shifted, &f);
    cs_di_spfree(shifted);
  }
  saltus_status status = SALTUS_OK;
  if (!sound) {
    status = refuse(j, j->def->stiffness,
                    "K + s M has a zero pivot: stiffness and mass have a common null space, as "
                    "under-integrated elements (C3D20R, C3D8R) have; rows, s",
                    ni, sigma);
  }
  const int all = nb + modes, width = ni + nb;
  double* x = SALTUSI_TAKE(&j->pool, double, (all > 0 ? all : 1) * width);
  double* Phi = SALTUSI_TAKE(&j->pool, double, modes* ni + ni);
  j->B = SALTUSI_TAKE(&j->pool, double, (all > 0 ? all : 1) * n);
  if (status == SALTUS_OK && (x == NULL || Phi == NULL || j->B == NULL)) {
    status = SALTUS_ERR_MEMORY;
  }
  for (int b = 0; status == SALTUS_OK && b < nb; b++) {
    double* column = x + (ptrdiff_t)b * width;
    double* work = Phi + (ptrdiff_t)modes * ni;
    for (int p = Kib->p[b]; p < Kib->p[b + 1]; p++) {
      column[Kib->i[p]] -= Kib->x[p];
    }
    for (int p = Mib->p[b]; sigma > 0.0 && p < Mib->p[b + 1]; p++) {
      column[Mib->i[p]] -= sigma * Mib->x[p];
    }
    saltusi_fe_factor_solve(&f, column, work);
    column[ni + b] = 1.0;
  }
  if (status == SALTUS_OK && modes > 0) {
    status = subspace(j, &f, Mii, modes, Phi);
  }
  for (int k = 0; status == SALTUS_OK && k < modes; k++) {
    memcpy(x + (ptrdiff_t)(nb + k) * width, Phi + (ptrdiff_t)k * ni, (size_t)ni * sizeof *x);
  }
  if (status == SALTUS_OK) {
    saltusi_fe_times(j->T, all, x, j->B);
  }
  saltusi_fe_factor_free(&f);
  cs_di* used[] = {Tt, KT, MT, K, M, Kii, Mii, Kib, Mib};
  for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
    cs_di_spfree(used[i]);
  }
  return status;
}

/* Effective masses (Phi^T M R)^2 of the fixed-interface modes; B without its rigid part; modes V of K in B. */
static saltus_status make_modes(reduction* j) {
  const int n = j->n, all = j->boundary + j->def->modes;
  const int room = all > 0 ? all : 1;
  double* MR = SALTUSI_TAKE(&j->pool, double, RIGID* n);
  double* W = SALTUSI_TAKE(&j->pool, double, room* n);
  double* A = SALTUSI_TAKE(&j->pool, double, 3 * room * room + 2 * room);
  j->effective = SALTUSI_TAKE(&j->pool, double, RIGID*(j->def->modes + 1));
  j->V = SALTUSI_TAKE(&j->pool, double, room* n);
  j->omega = SALTUSI_TAKE(&j->pool, double, room);
  if (MR == NULL || W == NULL || A == NULL || j->V == NULL || j->omega == NULL ||
      j->effective == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_fe_times(j->M, RIGID, j->R, MR);
  for (int k = 0; k < j->def->modes * RIGID; k++) {
    const double L = saltusi_fe_dot(n, j->B + (ptrdiff_t)(j->boundary + k / RIGID) * n,
                                    MR + (ptrdiff_t)(k % RIGID) * n);
    j->effective[k] = L * L;
  }
  double *G = A, *U = A + room * room, *w = A + 3 * room * room, *scale = w + room;
  saltusi_fe_times(j->M, all, j->B, W);
  for (int k = 0; k < all;
       k++) { /* norms include the rigid part, so that remainders of rigid columns stay small */
    scale[k] = 1.0 / sqrt(saltusi_fe_dot(n, j->B + (ptrdiff_t)k * n, W + (ptrdiff_t)k * n));
  }
  for (int pass = 0; pass < 4;
       pass++) { /* translations are orthogonal to rotations; these by Gauss-Seidel */
    for (int c = 0; c < all * RIGID; c++) {
      const int k = c % RIGID;
      double* b = j->B + (ptrdiff_t)(c / RIGID) * n;
      const double *R = j->R + (ptrdiff_t)k * n, *m = MR + (ptrdiff_t)k * n;
      const double over = saltusi_fe_dot(n, m, b) / saltusi_fe_dot(n, m, R);
      for (int r = 0; r < n; r++) {
        b[r] -= over * R[r];
      }
    }
  }
  saltusi_fe_times(j->M, all, j->B, W);
  saltusi_fe_gram(n, all, j->B, all, W, G);
  for (int k = 0; k < all * all; k++) {
    G[k] *= scale[k % all] * scale[k / all];
  }
  if (!saltusi_fe_eigen(&j->pool, all, G, NULL, w)) {
    return refuse(j, j->def->mass, "the basis has no eigenvalues: size", all, 0.0);
  }
  j->kept = 0;
  for (int k = 0; k < all; k++) { /* rigid combinations vanish */
    if (w[k] > 1e-9 * w[all - 1]) {
      for (int i = 0; i < all; i++) {
        U[i + j->kept * all] = scale[i] * G[i + k * all] / sqrt(w[k]);
      }
      j->kept++;
    }
  }
  saltusi_fe_combine(n, all, j->B, j->kept, U, W);
  saltusi_fe_times(j->K, j->kept, W, j->V);
  saltusi_fe_gram(n, j->kept, W, j->kept, j->V, A);
  if (!saltusi_fe_eigen(&j->pool, j->kept, A, NULL, w)) {
    return refuse(j, j->def->stiffness, "the reduced stiffness has no eigenvalues: size", j->kept,
                  0.0);
  }
  saltusi_fe_combine(n, j->kept, W, j->kept, A, j->V);
  for (int k = 0; k < j->kept; k++) {
    if (!(w[k] > 0.0)) {
      return refuse(j, j->def->stiffness, "a mode has no stiffness: number, eigenvalue", k + 1,
                    w[k]);
    }
    j->omega[k] = sqrt(w[k]);
  }
  j->all = j->kept;
  while (j->def->below > 0.0 && j->kept > 0 && j->omega[j->kept - 1] > two_pi * j->def->below) {
    j->kept--;
  }
  return SALTUS_OK;
}

/* ---- the body ---- */

/* sum m a b^T over nodes, Mb = M b */
static void moment(const reduction* j, const double* a, const double* Mb, double C[9]) {
  memset(C, 0, 9 * sizeof *C);
  for (int i = 0; i < j->mesh.count; i++) {
    const int* row = j->row + 3 * (ptrdiff_t)i;
    for (int k = 0; row[0] >= 0 && k < 9; k++) {
      C[k] += a[row[k / 3]] * Mb[row[k % 3]];
    }
  }
}

static void fill_inertia(const reduction* j, saltus_flexible* out, double* s, double* W) {
  const int n = j->n;
  for (int r = 0; r < n; r++) {
    double x[3];
    node_point(j, j->dof.node[r], x);
    s[r] = x[j->dof.direction[r]];
  }
  saltusi_fe_times(j->M, 1, s, W);
  moment(j, s, W, out->C0);
  saltusi_fe_times(j->M, j->kept, j->V, W);
  double *C1 = (double*)(uintptr_t)out->C1, *C2 = (double*)(uintptr_t)out->C2;
  for (int b = 0; b < j->kept; b++) {
    moment(j, s, W + (ptrdiff_t)b * n, C1 + 9 * (ptrdiff_t)b);
    double* C = C1 + 9 * (ptrdiff_t)b; /* symmetric to rounding: mean axes */
    for (int k = 0; k < 3; k++) {
      const int x = (k + 1) % 3, y = (k + 2) % 3;
      C[3 * x + y] = C[3 * y + x] = 0.5 * (C[3 * x + y] + C[3 * y + x]);
    }
    for (int a = 0; a < j->kept; a++) {
      moment(j, j->V + (ptrdiff_t)a * n, W + (ptrdiff_t)b * n,
             C2 + 9 * ((ptrdiff_t)a * j->kept + b));
    }
  }
}

static saltus_status fill_stiffening(reduction* j, saltus_flexible* out, double* W) {
  const saltus_reduce_def* def = j->def;
  const int k = j->kept;
  cs_di *loaded = NULL, *still = NULL;
  double* G = SALTUSI_TAKE(&j->pool, double, k* k + 1);
  saltus_status status = read_one(j, def->stiffening, &loaded);
  if (status == SALTUS_OK && def->still != NULL) {
    status = read_one(j, def->still, &still);
  }
  if (status != SALTUS_OK || G == NULL) {
    cs_di_spfree(loaded);
    return status != SALTUS_OK ? status : SALTUS_ERR_MEMORY;
  }
  const double length = sqrt(saltusi_dot3(def->axis, def->axis));
  cs_di* difference = cs_di_add(loaded, still != NULL ? still : j->K, 1.0, -1.0);
  saltusi_fe_times(difference, k, j->V, W);
  saltusi_fe_gram(j->n, k, j->V, k, W, G);
  double* S = (double*)(uintptr_t)out->stiffen;
  for (int c = 0; c < 3; c++) {
    out->axis[c] = def->axis[c] / length;
  }
  for (int a = 0; a < k; a++) {
    for (int b = 0; b < k; b++) { /* without spin softening, which is part of the inertia */
      const double* C = out->C2 + 9 * ((ptrdiff_t)a * k + b);
      double along[3];
      saltusi_turn(C, out->axis, along);
      S[a * k + b] = 0.5 * (G[a + b * k] + G[b + a * k]) / (def->speed * def->speed) + C[0] + C[4] +
                     C[8] - saltusi_dot3(out->axis, along);
    }
  }
  cs_di_spfree(loaded);
  cs_di_spfree(still);
  cs_di_spfree(difference);
  return SALTUS_OK;
}

static int count_frames(reduction* j) {
  int count = 0;
  for (int f = 0; f < j->def->frame_count; f++) {
    saltusi_mesh_set set;
    const bool found = find_set(j, &j->def->frames[f], &set) == SALTUS_OK;
    count += j->def->frames[f].contact && found ? set.count : 1;
  }
  return count;
}

/* sum phi phi^T/w^2 over the modes left out, at a contact node. */
static void add_residual(const reduction* j, const int* row, double out[9]) {
  for (int m = j->kept; m < j->all; m++) {
    const double *V = j->V + (ptrdiff_t)m * j->n, w = j->omega[m];
    for (int c = 0; c < 9; c++) {
      out[c] += V[row[c / 3]] * V[row[c % 3]] / (w * w);
    }
  }
}

/* Motion of a node, and of a rigid set: its mean and its rotation. */
static void fill_frames(reduction* j, saltus_flexible* out) {
  saltus_flexible_frame* frame = (saltus_flexible_frame*)(uintptr_t)out->frame;
  double *phi = (double*)(uintptr_t)out->phi, *psi = (double*)(uintptr_t)out->psi;
  const int k = j->kept;
  int at = 0;
  for (int f = 0; f < j->def->frame_count; f++) {
    const saltus_reduce_frame* given = &j->def->frames[f];
    saltusi_mesh_set set;
    double o[3], inverse[9];
    find_set(j, given, &set);
    set_frame(j, &set, o, inverse);
    for (int i = 0; i < set.count; i++) {
      saltus_flexible_frame* to = &frame[at];
      double s[3], r[3], turn[3], rotation[3];
      node_point(j, set.node[i], s);
      saltusi_minus3(s, o, r);
      to->turns = !given->contact;
      if (given->contact) {
        snprintf(to->name, sizeof to->name, "%.50s_%d", given->name, i + 1);
      } else {
        snprintf(to->name, sizeof to->name, "%.63s", given->name);
      }
      memcpy(to->s, given->contact ? s : o, sizeof to->s);
      const int* row = j->row + 3 * (ptrdiff_t)saltusi_mesh_node(&j->mesh, set.node[i]);
      for (int m = 0; m < k; m++) {
        const double* V = j->V + (ptrdiff_t)m * j->n;
        const double u[3] = {V[row[0]], V[row[1]], V[row[2]]};
        saltusi_cross(r, u, turn);
        saltusi_turn(inverse, turn, rotation);
        for (int c = 0; c < 3; c++) {
          phi[(3 * at + c) * k + m] += given->contact ? u[c] : u[c] / set.count;
          psi[(3 * at + c) * k + m] += given->contact ? 0.0 : rotation[c];
        }
      }
      if (given->contact) {
        add_residual(j, row, (double*)(uintptr_t)out->residual + 9 * (ptrdiff_t)at++);
      }
    }
    at += given->contact ? 0 : 1;
  }
}

/* Nodes, their displacements by modes, and the surface. */
static void fill_drawing(const reduction* j, saltus_flexible* body, int* place) {
  const int k = j->kept;
  double *node = (double*)(uintptr_t)body->node, *shape = (double*)(uintptr_t)body->shape;
  for (int i = 0, at = 0; i < j->mesh.count; i++) {
    const int* row = j->row + 3 * (ptrdiff_t)i;
    place[i] = row[0] < 0 ? -1 : at;
    if (row[0] < 0) {
      continue;
    }
    saltusi_minus3(j->mesh.x + 3 * (ptrdiff_t)i, j->centre, node + 3 * (ptrdiff_t)at);
    for (int c = 0; c < 3 * k; c++) {
      shape[(ptrdiff_t)at * 3 * k + c] = j->V[row[c / k] + (ptrdiff_t)(c % k) * j->n];
    }
    at++;
  }
  int* to = (int*)(uintptr_t)body->triangle;
  for (int i = 0; i < j->mesh.triangles; i++) {
    int corner[3];
    bool known = true;
    for (int c = 0; c < 3; c++) {
      const int at = saltusi_mesh_node(&j->mesh, j->mesh.triangle[i][c]);
      corner[c] = at >= 0 ? place[at] : -1;
      known = known && corner[c] >= 0;
    }
    if (known) {
      memcpy(to, corner, sizeof corner);
      to += 3;
    }
  }
  body->triangles = (int)((to - body->triangle) / 3);
}

static saltus_status fill(reduction* j, saltus_flexible** out) {
  const int k = j->kept;
  int nodes = 0;
  for (int i = 0; i < j->mesh.count; i++) {
    nodes += j->row[3 * i] >= 0;
  }
  saltus_flexible* body = saltusi_flexible_make(k, count_frames(j), nodes, j->mesh.triangles,
                                                j->def->stiffening != NULL);
  double* W = SALTUSI_TAKE(&j->pool, double, (k + 1) * j->n);
  double* s = SALTUSI_TAKE(&j->pool, double, j->n);
  int* place = SALTUSI_TAKE(&j->pool, int, j->mesh.count);
  if (body == NULL || W == NULL || s == NULL || place == NULL) {
    saltus_flexible_destroy(body);
    return SALTUS_ERR_MEMORY;
  }
  body->mass = j->mass;
  memcpy(body->centre, j->centre, sizeof body->centre);
  fill_inertia(j, body, s, W);
  fill_frames(j, body);
  double *omega = (double*)(uintptr_t)body->omega, *zeta = (double*)(uintptr_t)body->zeta;
  double* effective = (double*)(uintptr_t)body->effective;
  for (int m = 0; m < k; m++) {
    omega[m] = j->omega[m];
    zeta[m] = j->def->damping;
    for (int c = 0; c < RIGID && m < j->def->modes; c++) {
      effective[RIGID * m + c] = j->effective[RIGID * m + c];
    }
  }
  fill_drawing(j, body, place);
  const saltus_status status = j->def->stiffening != NULL ? fill_stiffening(j, body, W) : SALTUS_OK;
  if (status != SALTUS_OK) {
    saltus_flexible_destroy(body);
    return status;
  }
  *out = body;
  return SALTUS_OK;
}

saltus_status saltus_flexible_reduce(const saltus_reduce_def* def, saltus_flexible** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  reduction j = {.def = def, .pool = saltusi_pool_over(NULL)};
  const double scale = def->scale > 0.0 ? def->scale : 1.0;
  saltus_status status = saltusi_read_mesh(def->mesh, scale, &j.pool, def->log, &j.mesh);
  status = status == SALTUS_OK ? saltusi_read_dof(def->dof, &j.pool, def->log, &j.dof) : status;
  j.n = j.dof.rows;
  status = status == SALTUS_OK ? read_dof(&j) : status;
  status = status == SALTUS_OK ? read_one(&j, def->stiffness, &j.K) : status;
  status = status == SALTUS_OK ? read_one(&j, def->mass, &j.M) : status;
  status = status == SALTUS_OK ? check_mass(&j) : status;
  status = status == SALTUS_OK ? check_rigid(&j) : status;
  status = status == SALTUS_OK ? lay_boundary(&j) : status;
  status = status == SALTUS_OK ? make_basis(&j) : status;
  status = status == SALTUS_OK ? make_modes(&j) : status;
  status = status == SALTUS_OK ? fill(&j, out) : status;
  cs_di_spfree(j.K);
  cs_di_spfree(j.M);
  cs_di_spfree(j.T);
  saltusi_pool_free(&j.pool);
  return status;
}
