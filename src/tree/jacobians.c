/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jacobians.c - exact derivatives of inverse dynamics (Singh, Russo & Wensing, IEEE Robotics and Automation Letters 7 (2022)
 * 1776-1783) with those of the forces on the bodies. A displacement along velocity k moves its subtree rigidly; in axes
 * that move with it
 *
 *   dV = Y_k = V x S_k,  dA = Z_k - V_b x Y_k,  Z_k = A x S_k + V x Y_k        V, A ahead of the joint
 *   df = I Z_k + (2 B - C2) Y_k - C1 S_k
 *   d(-F_i)/dq_k = S_i . df over the subtree of the later one, and S_i . (S_k x* f) where i is ahead of k
 *   d(-F_i)/dv_k = S_i . (I (Y_k + S_k') + (2 B - C2) S_k)
 *
 * 2 B of a body about its centre: torque [w]I - I[w] - [I w], force -2 m [v], both by the angular part. C1 and C2 are the
 * derivatives of forces on the body by its pose and velocity; f = sum of m a and I w' + w x I w less all forces.
 */
#include "math/matrix.h"
#include "tree/kinematic_tree.h"

#include <assert.h>

/* ---- 3 x 3 and 6 x 6 ---- */

static void skew(const double x[3], double S[9]) {
  const double out[9] = {0.0, -x[2], x[1], x[2], 0.0, -x[0], -x[1], x[0], 0.0};
  memcpy(S, out, sizeof out);
}

static bool is_zero(const double* block, int count) {
  for (int k = 0; k < count; k++) {
    if (block[k] != 0.0) {
      return false;
    }
  }
  return true;
}

static void add_product(const double A[9], const double B[9], double sign, double* out) {
  double C[9];
  saltusi_matrix3_product(A, B, C);
  for (int k = 0; k < 9; k++) {
    out[k] += sign * C[k];
  }
}

/* R A R^T of one part of a block, rows and columns turned where they are in body axes. */
static void turn_part(const double* left, const double* right, double A[9]) {
  double half[9], back[9];
  if (left != NULL) {
    saltusi_matrix3_product(left, A, half);
    memcpy(A, half, sizeof half);
  }
  if (right != NULL) {
    for (int k = 0; k < 9; k++) {
      back[k] = right[3 * (k % 3) + k / 3];
    }
    saltusi_matrix3_product(A, back, half);
    memcpy(A, half, sizeof half);
  }
}

/* Derivatives of a force and a torque by displacements or velocities of a centre and of axes, all in world axes. */
typedef struct body_slopes {
  double fx[9], fw[9], tx[9], tw[9];
} body_slopes;

/* A block of the inner system: its rows belong to body a, its columns to b. */
static void parts_of(const saltus_tree* tree, const double* block, const saltusi_tree_link_state* a,
                     const saltusi_tree_link_state* b, body_slopes* out) {
  memset(out, 0, sizeof *out);
  if (tree->plane) {
    for (int r = 0; r < 2; r++) {
      out->fx[3 * r] = block[3 * r];
      out->fx[3 * r + 1] = block[3 * r + 1];
      out->fw[3 * r + 2] = block[3 * r + 2];
      out->tx[6 + r] = block[6 + r];
    }
    out->tw[8] = block[8];
    return;
  }
  for (int r = 0; r < 3; r++) {
    memcpy(out->fx + 3 * r, block + 6 * r, 3 * sizeof *block);
    memcpy(out->fw + 3 * r, block + 6 * r + 3, 3 * sizeof *block);
    memcpy(out->tx + 3 * r, block + 6 * (3 + r), 3 * sizeof *block);
    memcpy(out->tw + 3 * r, block + 6 * (3 + r) + 3, 3 * sizeof *block);
  }
  if (!is_zero(block, 36)) {
    turn_part(NULL, b->R, out->fw);
    turn_part(a->R, NULL, out->tx);
    turn_part(a->R, b->R, out->tw);
  }
}

/* out = t + r x g; g with g = fx l + (fw - fx [s]) w, t likewise: from derivatives at centres at r and s to twists and
 * wrenches about O. */
static void about(const body_slopes* p, const double r[3], const double s[3], double out[36]) {
  const bool turns_only = is_zero(p->fx, 9) && is_zero(p->tx, 9);
  double by[9], arm[9], g[9], t[9], moment[9] = {0.0};
  skew(r, arm);
  memcpy(g, p->fw, sizeof g);
  memcpy(t, p->tw, sizeof t);
  if (!turns_only) {
    skew(s, by);
    add_product(p->fx, by, -1.0, g);
    add_product(p->tx, by, -1.0, t);
    add_product(arm, p->fx, 1.0, moment);
  }
  add_product(arm, g, 1.0, t);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int k = 3 * i + j;
      out[6 * i + j] = t[k];
      out[6 * i + 3 + j] = p->tx[k] + moment[k];
      out[6 * (3 + i) + j] = g[k];
      out[6 * (3 + i) + 3 + j] = p->fx[k];
    }
  }
}

static void times6(const double A[36], const double x[6], double y[6]) {
  for (int i = 0; i < 6; i++) {
    y[i] = saltusi_dot6(A + 6 * i, x);
  }
}

static void transposed6(const double A[36], const double x[6], double y[6]) {
  for (int j = 0; j < 6; j++) {
    y[j] = 0.0;
    for (int i = 0; i < 6; i++) {
      y[j] += A[6 * i + j] * x[i];
    }
  }
}

/* ---- bodies ---- */

/* 2 B of a body less derivatives of its forces by its velocity, which contain those of w x I w. */
static void less_coriolis(const saltus_tree* tree, const saltusi_body* body,
                          const saltusi_tree_link_state* x, const double v[3], body_slopes* p) {
  double by[9];
  for (int k = 0; k < 9; k++) {
    p->fx[k] = -p->fx[k];
    p->fw[k] = -p->fw[k];
    p->tx[k] = -p->tx[k];
    p->tw[k] = -p->tw[k];
  }
  skew(v, by);
  for (int k = 0; k < 9; k++) {
    p->fw[k] -= 2.0 * body->mass * by[k];
  }
  if (!tree->plane) { /* ([w] I - I [w] - [I w]) - ([w] I - [I w]) */
    double I[9];
    memcpy(I, body->I, sizeof I);
    turn_part(x->R, x->R, I);
    skew(x->V, by);
    add_product(I, by, -1.0, p->tw);
  }
}

/* Forces of the inner system without its gyroscopic torque, world axes. */
static void outer_force(const saltus_tree* tree, int i, const saltusi_tree_state* x, double f[3],
                        double torque[3]) {
  const saltusi_tree_link* l = &tree->link[i];
  const double* F = x->F + l->v;
  double own[3] = {0.0, 0.0, F[2]}, spin[3], gyro[3];
  f[0] = F[0];
  f[1] = F[1];
  f[2] = tree->plane ? 0.0 : F[2];
  memcpy(torque, own, sizeof own);
  if (!tree->plane) {
    const double* I = tree->mechanism->bodies[l->body].I;
    const double* w = x->v_inner + l->v + 3;
    saltusi_turn(I, w, spin);
    saltusi_cross(w, spin, gyro);
    saltusi_along(1.0, F + 3, gyro, own);
    saltusi_turn(x->link[i].R, own, torque);
  }
}

/* f, D = 2 B - C2 and C1 of a body alone. */
static void own_slopes(const saltus_tree* tree, int i, const saltusi_tree_state* x,
                       const double* fv, const double* fq) {
  const saltusi_tree_link* l = &tree->link[i];
  const saltusi_tree_link_state* at = &x->link[i];
  const saltusi_body* body = &tree->mechanism->bodies[l->body];
  const double *v = x->v_inner + l->v, *a = x->a_inner + l->v;
  saltusi_tree_composite* c = &x->sum[i];
  double force[3], torque[3], by[9], inertia[3] = {0.0};
  const double velocity[3] = {v[0], v[1], tree->plane ? 0.0 : v[2]};
  outer_force(tree, i, x, force, torque);
  body_slopes by_v, by_q;
  parts_of(tree, fv, at, at, &by_v);
  parts_of(tree, fq, at, at, &by_q);
  skew(force, by);
  for (int k = 0; k < 9; k++) {
    by_q.fw[k] += by[k];
  }
  if (!is_zero(by_v.fx, 9) || !is_zero(by_v.tx, 9)) {
    skew(velocity, by);
    add_product(by_v.fx, by, -1.0, by_q.fw);
    add_product(by_v.tx, by, -1.0, by_q.tw);
  }
  about(&by_q, at->r, at->r, c->C);
  less_coriolis(tree, body, at, velocity, &by_v);
  about(&by_v, at->r, at->r, c->D);
  for (int k = 0; k < 3; k++) {
    force[k] = (tree->plane && k == 2 ? 0.0 : body->mass * a[k]) - force[k];
  }
  if (tree->plane) {
    inertia[2] = body->I[8] * a[2];
  } else {
    double own[3], spin[3], gyro[3];
    saltusi_turn(body->I, a + 3, own);
    saltusi_turn(body->I, v + 3, spin);
    saltusi_cross(v + 3, spin, gyro);
    saltusi_along(1.0, own, gyro, own);
    saltusi_turn(at->R, own, inertia);
  }
  saltusi_minus3(inertia, torque, inertia);
  saltusi_wrench_at(at->r, force, inertia, c->f);
}

static void sum_slopes(const saltus_tree* tree, const saltusi_tree_state* x) {
  for (int i = tree->links - 1; i >= 0; i--) {
    const int p = tree->link[i].parent;
    if (p < 0) {
      continue;
    }
    const saltusi_tree_composite* c = &x->sum[i];
    saltusi_tree_composite* to = &x->sum[p];
    for (int k = 0; k < 36; k++) {
      to->D[k] += c->D[k];
      to->C[k] += c->C[k];
    }
  }
}

/* ---- entries ---- */

/* The dense matrix. */
typedef struct entry_target {
  const saltus_tree* tree;
  double* A;
} entry_target;

static void add_entry(const entry_target* to, int row, int column, double value) {
  to->A[(size_t)row * (size_t)to->tree->axes + (size_t)column] += value;
}

/* a = m S - fv (Y + S') - fq Z and d = fv S + fq Y of a velocity. */
static void columns_of(const saltusi_tree_axis_state* s, const double factor[3], double a[6],
                       double d[6]) {
  double Y[6], Z[6], more[6];
  saltusi_twist_cross(s->before, s->S, Y);
  saltusi_twist_cross(s->A, s->S, Z);
  saltusi_twist_cross(s->before, Y, more);
  for (int k = 0; k < 6; k++) {
    a[k] = factor[0] * s->S[k] - factor[1] * (Y[k] + s->dS[k]) - factor[2] * (Z[k] + more[k]);
    d[k] = factor[1] * s->S[k] + factor[2] * Y[k];
  }
}

/* Entries (i, k) and (k, i) for the velocities k on the path of i; path: a, d and S of these, [18 x depth]. */
static void add_path(const entry_target* to, int i, const saltusi_tree_state* x,
                     const double factor[3]) {
  const saltus_tree* tree = to->tree;
  const saltusi_tree_axis* axis = &tree->axis[i];
  const saltusi_tree_composite* c = &x->sum[axis->link];
  const double *S = x->axis[i].S, *own = x->path + (ptrdiff_t)18 * i;
  double row[18], column[6], part[6];
  saltusi_tree_momentum(c, S, row); /* I is symmetric */
  transposed6(c->D, S, row + 6);
  transposed6(c->C, S, row + 12);
  saltusi_tree_momentum(c, own, column);
  times6(c->D, own + 6, part);
  for (int k = 0; k < 6; k++) {
    column[k] -= part[k];
    row[6 + k] = -row[6 + k];
    row[12 + k] *= factor[2];
  }
  times6(c->C, S, part);
  for (int k = 0; k < 6; k++) {
    column[k] += factor[2] * part[k];
  }
  saltusi_wrench_cross(S, c->f, part);
  for (int k = 0; k < 6; k++) {
    part[k] = column[k] - factor[2] * part[k];
  }
  for (int k = i; k >= 0; k = tree->axis[k].parent) {
    const double* other = x->path + (ptrdiff_t)18 * k;
    add_entry(to, i, k,
              saltusi_dot6(row, other) + saltusi_dot6(row + 6, other + 6) +
                  saltusi_dot6(row + 12, other + 12));
    if (k !=
        i) { /* k is before i on the path; rows differ if both axes rotate with the same body */
      add_entry(to, k, i, saltusi_dot6(x->axis[k].S, k >= axis->first ? column : part));
    }
  }
}

/* ---- forces between two bodies ---- */

/* Forces on link a by pose and velocity of link b. */
static void add_pair(const entry_target* to, const int link[2], const double* fv, const double* fq,
                     const saltusi_tree_state* x, const double factor[3]) {
  const saltus_tree* tree = to->tree;
  const saltusi_tree_link_state *a = &x->link[link[0]], *b = &x->link[link[1]];
  const double* v = x->v_inner + tree->link[link[1]].v;
  const double velocity[3] = {v[0], v[1], tree->plane ? 0.0 : v[2]};
  double by[9], X[36], Y[36];
  body_slopes by_v, by_q;
  parts_of(tree, fv, a, b, &by_v);
  parts_of(tree, fq, a, b, &by_q);
  skew(velocity, by);
  add_product(by_v.fx, by, -1.0, by_q.fw);
  add_product(by_v.tx, by, -1.0, by_q.tw);
  about(&by_q, a->r, b->r, X);
  about(&by_v, a->r, b->r, Y);
  for (int k = tree->link[link[1]].last; k >= 0; k = tree->axis[k].parent) {
    double d[6], first[6], second[6], turned[6];
    const double* S = x->axis[k].S;
    saltusi_twist_cross(x->axis[k].before, S, turned);
    for (int c = 0; c < 6; c++) {
      d[c] = factor[1] * S[c] + factor[2] * turned[c];
    }
    times6(X, S, first);
    times6(Y, d, second);
    for (int c = 0; c < 6; c++) {
      first[c] = factor[2] * first[c] + second[c];
    }
    for (int i = tree->link[link[0]].last; i >= 0; i = tree->axis[i].parent) {
      add_entry(to, i, k, saltusi_dot6(x->axis[i].S, first));
    }
  }
}

static bool has_pairs(const saltus_tree* tree, const saltusi_tree_state* x) {
  const int each = tree->plane ? 9 : 36, count = 2 * each * tree->inner->structure->pairs;
  const ptrdiff_t first = (ptrdiff_t)each * tree->links;
  return !is_zero(x->fv + first, count) || !is_zero(x->fq + first, count);
}

static void add_pairs(const entry_target* to, const saltusi_tree_state* x, const double factor[3]) {
  const saltus_tree* tree = to->tree;
  const saltus_structure* s = tree->inner->structure;
  const int each = tree->plane ? 9 : 36;
  for (int p = 0; p < s->pairs; p++) {
    const int i = tree->link_of[s->pair[2 * p]], j = tree->link_of[s->pair[2 * p + 1]];
    const ptrdiff_t first = (ptrdiff_t)each * (tree->links + 2 * p);
    const double *fv = x->fv + first, *fq = x->fq + first;
    if (!is_zero(fv, 2 * each) || !is_zero(fq, 2 * each)) {
      add_pair(to, (const int[2]){i, j}, fv, fq, x, factor);
      add_pair(to, (const int[2]){j, i}, fv + each, fq + each, x, factor);
    }
  }
}

/* ---- the matrix ---- */

bool saltusi_tree_slopes(const saltus_tree* tree, const saltus_point* at, const double factor[3],
                         saltusi_tree_state* x) {
  assert(tree != NULL && at != NULL && factor != NULL && x != NULL);
  const bool mass = factor[1] == 0.0 && factor[2] == 0.0;
  const saltus_point p = saltusi_tree_inside(tree, at, x);
  const saltus_system* in = tree->inner;
  saltusi_tree_own_inertia(tree, x);
  if (!mass) {
    in->ops->blocks(in->self, &p, 0.0, 1.0, 0.0, x->fv);
    in->ops->blocks(in->self, &p, 0.0, 0.0, 1.0, x->fq);
    in->ops->force(in->self, &p, x->F);
  }
  const int each = tree->plane ? 9 : 36;
  for (int i = 0; i < tree->links; i++) {
    const ptrdiff_t block = (ptrdiff_t)each * (tree->link[i].v / (tree->plane ? 3 : 6));
    if (mass) {
      memset(x->sum[i].f, 0, sizeof x->sum[i].f);
      memset(x->sum[i].D, 0, sizeof x->sum[i].D);
      memset(x->sum[i].C, 0, sizeof x->sum[i].C);
    } else {
      own_slopes(tree, i, x, x->fv + block, x->fq + block);
    }
  }
  for (int k = 0; k < tree->axes; k++) {
    double* own = x->path + (ptrdiff_t)18 * k;
    columns_of(&x->axis[k], factor, own, own + 6);
    memcpy(own + 12, x->axis[k].S, 6 * sizeof *own);
  }
  return !mass && has_pairs(tree, x);
}

double saltusi_tree_drive_entry(const saltus_tree* tree, int i, const saltus_point* at,
                                const double factor[3]) {
  assert(tree != NULL && i >= 0 && i < tree->drives && at != NULL && factor != NULL);
  const saltusi_tree_drive* drive = &tree->drive[i];
  double slope[2] = {0.0, 0.0};
  if (factor[1] != 0.0 || factor[2] != 0.0) {
    saltusi_tree_drive_force(tree, drive, at, slope);
  }
  return factor[0] * saltusi_tree_armature(drive) +
         drive->ratio * drive->ratio * (factor[1] * slope[1] + factor[2] * slope[0]);
}

void saltusi_tree_dense(const saltus_tree* tree, const saltus_point* at, const double factor[3],
                        saltusi_tree_state* x, double* A) {
  assert(tree != NULL && at != NULL && factor != NULL && x != NULL && A != NULL);
  const entry_target to = {tree, A};
  const size_t n = (size_t)tree->axes;
  memset(A, 0, n * n * sizeof *A);
  saltusi_tree_sum_inertia(tree, x);
  sum_slopes(tree, x);
  for (int i = 0; i < tree->axes; i++) {
    add_path(&to, i, x, factor);
  }
  if (factor[1] != 0.0 || factor[2] != 0.0) {
    add_pairs(&to, x, factor);
  }
  for (int i = 0; i < tree->drives; i++) {
    const int axis = tree->drive[i].axis;
    add_entry(&to, axis, axis, saltusi_tree_drive_entry(tree, i, at, factor));
  }
}

static void derivative(const saltus_tree* tree, const saltus_point* at, const double factor[3],
                       double* A) {
  saltusi_tree_state x;
  (void)saltusi_tree_slopes(tree, at, factor, &x);
  saltusi_tree_dense(tree, at, factor, &x, A);
}

void saltusi_tree_force_q(const void* self, const saltus_point* at, double* F_q) {
  assert(self != NULL && at != NULL && F_q != NULL);
  derivative(self, at, (const double[3]){0.0, 0.0, 1.0}, F_q);
}

void saltusi_tree_force_v(const void* self, const saltus_point* at, double* F_v) {
  assert(self != NULL && at != NULL && F_v != NULL);
  derivative(self, at, (const double[3]){0.0, 1.0, 0.0}, F_v);
}
