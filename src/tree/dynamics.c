/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dynamics.c - mass matrix by composite inertias, forces by recursion (Featherstone 2008, chapters 5 and 6):
 *
 *   M_jk = S_j . I_C S_k               I_C inertia of the subtree of the later of the two
 *   F_j  = S_j . sum (f - m a, t - I w')      f, t forces of the inner system with its gyroscopic torque; a, w' at v' = 0
 *   armature of a coordinate: a constant in M_jj
 *   h    = I_C V:  (M v)_j = S_j . h,   T_qj = h . (V x S_j) with V ahead of the joint
 */
#include "tree/kinematic_tree.h"

#include <assert.h>

/* ---- inertia ---- */

/* Inertia of a body about O, in world axes. */
static void own_inertia(const saltus_tree* tree, int i, const saltusi_tree_link_state* x,
                        saltusi_tree_composite* c) {
  const saltusi_body* body = &tree->mechanism->bodies[tree->link[i].body];
  double half[9], R_T[9], I[9];
  for (int k = 0; k < 9; k++) {
    R_T[k] = x->R[3 * (k % 3) + k / 3];
  }
  saltusi_matrix3_product(x->R, body->I, half);
  saltusi_matrix3_product(half, R_T, I);
  if (tree->plane) { /* I[8] alone is given */
    memset(I, 0, sizeof I);
    I[8] = body->I[8];
  }
  const double square = saltusi_dot3(x->r, x->r);
  c->mass = body->mass;
  for (int k = 0; k < 3; k++) {
    c->h[k] = body->mass * x->r[k];
    for (int j = 0; j < 3; j++) {
      c->I[3 * k + j] = I[3 * k + j] + body->mass * ((k == j ? square : 0.0) - x->r[k] * x->r[j]);
    }
  }
}

void saltusi_tree_own_inertia(const saltus_tree* tree, const saltusi_tree_state* x) {
  assert(tree != NULL && x != NULL);
  for (int i = 0; i < tree->links; i++) {
    own_inertia(tree, i, &x->link[i], &x->sum[i]);
  }
}

void saltusi_tree_sum_inertia(const saltus_tree* tree, const saltusi_tree_state* x) {
  assert(tree != NULL && x != NULL);
  for (int i = tree->links - 1; i >= 0; i--) {
    const int p = tree->link[i].parent;
    const saltusi_tree_composite* c = &x->sum[i];
    if (p >= 0) {
      saltusi_tree_composite* to = &x->sum[p];
      to->mass += c->mass;
      for (int k = 0; k < 3; k++) {
        to->h[k] += c->h[k];
      }
      for (int k = 0; k < 9; k++) {
        to->I[k] += c->I[k];
      }
      for (int k = 0; k < 6; k++) {
        to->f[k] += c->f[k];
      }
    }
  }
}

void saltusi_tree_momentum(const saltusi_tree_composite* c, const double V[6], double out[6]) {
  assert(c != NULL && V != NULL && out != NULL && out != V);
  double moment[3], turned[3];
  saltusi_turn(c->I, V, out);
  saltusi_cross(c->h, V + 3, moment);
  saltusi_cross(V, c->h, turned);
  for (int k = 0; k < 3; k++) {
    out[k] += moment[k];
    out[3 + k] = c->mass * V[3 + k] + turned[k];
  }
}

void saltusi_tree_mass(const void* self, const saltus_point* at, double* M) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && M != NULL);
  saltusi_tree_state x;
  const int n = tree->axes;
  saltusi_tree_at(tree, at, &x);
  saltusi_tree_own_inertia(tree, &x);
  saltusi_tree_sum_inertia(tree, &x);
  memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
  for (int j = 0; j < n; j++) {
    double f[6];
    saltusi_tree_momentum(&x.sum[tree->axis[j].link], x.axis[j].S, f);
    for (int k = j; k >= 0; k = tree->axis[k].parent) {
      M[(size_t)j * (size_t)n + (size_t)k] = M[(size_t)k * (size_t)n + (size_t)j] =
          saltusi_dot6(x.axis[k].S, f);
    }
  }
  for (int i = 0; i < tree->drives; i++) {
    const saltusi_tree_drive* d = &tree->drive[i];
    M[(size_t)d->axis * (size_t)(n + 1)] += saltusi_tree_armature(d);
  }
}

/* ---- sums of wrenches ---- */

/* y_j = S_j . sum of the wrenches on the subtree of j. */
static void project(const saltus_tree* tree, const saltusi_tree_state* x, double* y) {
  for (int i = tree->links - 1; i >= 0; i--) {
    const saltusi_tree_link* l = &tree->link[i];
    const double* f = x->wrench + (ptrdiff_t)6 * i;
    for (int j = l->axis; j < l->axis + l->axes; j++) {
      y[j] = saltusi_dot6(x->axis[j].S, f);
    }
    for (int k = 0; k < 6 && l->parent >= 0; k++) {
      x->wrench[(ptrdiff_t)6 * l->parent + k] += f[k];
    }
  }
}

/* out = F - M a of a body of the inner system, gyroscopic torques in F. */
static void less_inertia(const saltus_tree* tree, int i, const saltusi_tree_state* x,
                         double out[6]) {
  const saltusi_tree_link* l = &tree->link[i];
  const saltusi_body* body = &tree->mechanism->bodies[l->body];
  const double *F = x->F + l->v, *a = x->a_inner + l->v;
  for (int k = 0; k < (tree->plane ? 2 : 3); k++) {
    out[k] = F[k] - body->mass * a[k];
  }
  if (tree->plane) {
    out[2] = F[2] - body->I[8] * a[2];
    return;
  }
  double torque[3];
  saltusi_turn(body->I, a + 3, torque);
  saltusi_minus3(F + 3, torque, out + 3);
}

/* Coordinate of a drive less its rest. */
static double stretch(const saltus_tree* tree, const saltusi_tree_drive* drive,
                      const saltus_point* at) {
  const saltusi_force_along* f = drive->force;
  return saltusi_tree_coordinate(tree, &tree->link[drive->link], drive->angle, at->q) -
         f->row->offset - f->rest;
}

double saltusi_tree_drive_force(const saltus_tree* tree, const saltusi_tree_drive* drive,
                                const saltus_point* at, double slope[2]) {
  assert(tree != NULL && drive != NULL && at != NULL);
  const saltusi_force_along* f = drive->force;
  double out[3] = {0.0, 0.0, 0.0};
  const double rate = drive->ratio * at->v[drive->axis];
  if (drive->law != NULL) {
    drive->law->evaluate(drive->law->self, at->t, stretch(tree, drive, at), rate, out);
    slope[0] = out[1];
    slope[1] = out[2];
    return out[0];
  }
  if (f->actuated) {
    saltusi_signal_at(tree->mechanism, &f->actuator, at->t, out);
  }
  slope[0] = -f->stiffness;
  slope[1] = -f->damping;
  return out[0] - f->stiffness * stretch(tree, drive, at) - f->damping * rate;
}

void saltusi_tree_force(const void* self, const saltus_point* at, double* F) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && F != NULL);
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  tree->inner->ops->force(tree->inner->self, &p, x.F);
  for (int i = 0; i < tree->links; i++) {
    double f[6];
    less_inertia(tree, i, &x, f);
    saltusi_tree_wrench(tree, &x.link[i], f, x.wrench + (ptrdiff_t)6 * i);
  }
  project(tree, &x, F);
  for (int i = 0; i < tree->drives; i++) {
    double slope[2];
    F[tree->drive[i].axis] +=
        tree->drive[i].ratio * saltusi_tree_drive_force(tree, &tree->drive[i], at, slope);
  }
}

void saltusi_tree_mass_times(const void* self, const saltus_point* at, const double* x, double* y) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && x != NULL && y != NULL);
  saltusi_tree_state s;
  saltusi_tree_at(tree, at, &s);
  double* V = (double*)s.sum; /* [6 links], of the workspace of sums */
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    const saltusi_body* body = &tree->mechanism->bodies[l->body];
    double* own = V + (ptrdiff_t)6 * i;
    double v[6], momentum[6];
    memset(own, 0, 6 * sizeof *own);
    if (l->parent >= 0) {
      memcpy(own, V + (ptrdiff_t)6 * l->parent, 6 * sizeof *own);
    }
    for (int j = l->axis; j < l->axis + l->axes; j++) {
      for (int k = 0; k < 6; k++) {
        own[k] += s.axis[j].S[k] * x[j];
      }
    }
    saltusi_tree_from_twist(tree, &s.link[i], own, v);
    for (int k = 0; k < 3; k++) {
      momentum[k] = body->mass * v[k];
    }
    if (tree->plane) {
      momentum[2] = body->I[8] * v[2];
    } else {
      saltusi_turn(body->I, v + 3, momentum + 3);
    }
    saltusi_tree_wrench(tree, &s.link[i], momentum, s.wrench + (ptrdiff_t)6 * i);
  }
  project(tree, &s, y);
  for (int i = 0; i < tree->drives; i++) {
    const saltusi_tree_drive* d = &tree->drive[i];
    y[d->axis] += saltusi_tree_armature(d) * x[d->axis];
  }
}

/* ---- energies ---- */

double saltusi_tree_kinetic(const void* self, const saltus_point* at) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL);
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  double T = tree->inner->ops->kinetic(tree->inner->self, &p);
  for (int i = 0; i < tree->drives; i++) {
    const double rate = at->v[tree->drive[i].axis];
    T += 0.5 * saltusi_tree_armature(&tree->drive[i]) * rate * rate;
  }
  return T;
}

double saltusi_tree_potential(const void* self, const saltus_point* at) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL);
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  double V = tree->inner->ops->potential(tree->inner->self, &p);
  for (int i = 0; i < tree->drives; i++) {
    const saltusi_force_along* f = tree->drive[i].force;
    const double way = stretch(tree, &tree->drive[i], at);
    V += 0.5 * f->stiffness * way * way;
  }
  return V;
}

void saltusi_tree_power(const void* self, const saltus_point* at, double power[2]) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && power != NULL);
  saltusi_tree_state x;
  const saltus_point p = saltusi_tree_inside(tree, at, &x);
  tree->inner->ops->power(tree->inner->self, &p, power);
  for (int i = 0; i < tree->drives; i++) { /* actuators and dampers */
    const saltusi_tree_drive* drive = &tree->drive[i];
    const double rate = drive->ratio * at->v[drive->axis];
    double slope[2];
    const double force = saltusi_tree_drive_force(tree, drive, at, slope);
    power[0] += (force + drive->force->stiffness * stretch(tree, drive, at)) * rate;
  }
}

/* Momenta of subtrees in x->wrench. */
static void sum_momenta(const saltus_tree* tree, const saltusi_tree_state* x) {
  for (int i = 0; i < tree->links; i++) {
    saltusi_tree_composite own;
    own_inertia(tree, i, &x->link[i], &own);
    saltusi_tree_momentum(&own, x->link[i].V, x->wrench + (ptrdiff_t)6 * i);
  }
  for (int i = tree->links - 1; i >= 0; i--) {
    const int p = tree->link[i].parent;
    for (int k = 0; k < 6 && p >= 0; k++) {
      x->wrench[(ptrdiff_t)6 * p + k] += x->wrench[(ptrdiff_t)6 * i + k];
    }
  }
}

void saltusi_tree_kinetic_gradient(const void* self, const saltus_point* at, double* T_q) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && T_q != NULL);
  saltusi_tree_state x;
  saltusi_tree_at(tree, at, &x);
  sum_momenta(tree, &x);
  for (int j = 0; j < tree->axes; j++) {
    double turned[6];
    saltusi_twist_cross(x.axis[j].before, x.axis[j].S, turned);
    T_q[j] = saltusi_dot6(turned, x.wrench + (ptrdiff_t)6 * tree->axis[j].link);
  }
}

/* d(M v)_i/dq_k = S_i . I_C (V x S_k) for i behind k; (V x S_k) as above and S_k x* h are added ahead of it. */
void saltusi_tree_mass_q(const void* self, const saltus_point* at, double* Mv_q) {
  const saltus_tree* tree = self;
  assert(tree != NULL && at != NULL && Mv_q != NULL);
  saltusi_tree_state x;
  const size_t n = (size_t)tree->axes;
  saltusi_tree_at(tree, at, &x);
  saltusi_tree_own_inertia(tree, &x);
  saltusi_tree_sum_inertia(tree, &x);
  sum_momenta(tree, &x);
  memset(Mv_q, 0, n * n * sizeof *Mv_q);
  for (int k = 0; k < tree->axes; k++) {
    const saltusi_tree_axis* axis = &tree->axis[k];
    double turned[6], moved[6], f[6];
    saltusi_twist_cross(x.axis[k].before, x.axis[k].S, turned);
    saltusi_tree_momentum(&x.sum[axis->link], turned, f);
    for (int i = k; i >= axis->first; i--) {
      Mv_q[(size_t)i * n + (size_t)k] = saltusi_dot6(x.axis[i].S, f);
    }
    saltusi_wrench_cross(x.axis[k].S, x.wrench + (ptrdiff_t)6 * axis->link, moved);
    for (int c = 0; c < 6; c++) {
      f[c] += moved[c];
    }
    for (int i = tree->axis[axis->first].parent; i >= 0; i = tree->axis[i].parent) {
      Mv_q[(size_t)i * n + (size_t)k] = saltusi_dot6(x.axis[i].S, f);
    }
  }
  for (int i = 0; i < tree->axes;
       i++) { /* velocities k on the path of i, including later ones of the same body */
    double row[6];
    saltusi_tree_momentum(&x.sum[tree->axis[i].link], x.axis[i].S, row);
    for (int k = i; k >= 0; k = tree->axis[k].parent) {
      double turned[6];
      saltusi_twist_cross(x.axis[k].before, x.axis[k].S, turned);
      Mv_q[(size_t)i * n + (size_t)k] = saltusi_dot6(row, turned);
    }
  }
}
