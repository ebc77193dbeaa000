/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * reactions.c - accelerations of bodies, rates of joints from velocities of bodies, and forces of the joints in the trees:
 *
 *   wrench on the subtree of a joint = sum (m a - f, I w' - t)  less rows of other joints and forces along its coordinate
 *   G^T lambda = this wrench          least squares over the six components: the equations are consistent
 */
#include "math/matrix.h"
#include "tree/kinematic_tree.h"

#include <assert.h>

typedef struct reaction_work {
  void* scratch;
  double *a, *F; /* [nv inner] */
  double* rows;  /* [SALTUSI_TREE_ROWS x width] */
  int* column;   /* [width] */
} reaction_work;

/* ---- velocities ---- */

/* Solves sum S_j x_j = d in least squares. */
static void fit_rates(int n, const double S[6][6], const double d[6], double* x) {
  double A[36], y[6];
  int pivot[6];
  for (int i = 0; i < n; i++) {
    y[i] = saltusi_dot6(S[i], d);
    for (int j = 0; j < n; j++) {
      A[i * n + j] = saltusi_dot6(S[i], S[j]);
    }
  }
  if (saltusi_lu_factor(n, A, pivot, 1e-14)) {
    saltusi_lu_solve(n, A, pivot, y);
  }
  memcpy(x, y, (size_t)n * sizeof *x);
}

/* Velocity of a body as a twist about its centre, world axes. */
static void twist_of(const saltus_tree* tree, const double* R, const double* v, double V[6]) {
  memset(V, 0, 6 * sizeof *V);
  memcpy(V + 3, v, (tree->plane ? 2 : 3) * sizeof *V);
  if (tree->plane) {
    V[2] = v[2];
  } else {
    saltusi_turn(R, v + 3, V);
  }
}

void saltus_tree_rates(const saltus_tree* tree, const double* q, const double* bodies, double* v) {
  assert(tree != NULL && q != NULL && bodies != NULL && v != NULL);
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    saltusi_tree_pose own, parent;
    double S[6][6], V[6], before[6] = {0.0}, arm[3], moved[3];
    if (l->joint < 0) {
      memcpy(v + l->axis, bodies + l->v, (tree->plane ? 3 : 6) * sizeof *v);
      continue;
    }
    saltusi_tree_pose_of(tree, l, q, &own);
    saltusi_tree_parent_pose(tree, l, q, &parent);
    saltusi_tree_screws(tree, l, &own, &parent, own.x, S);
    twist_of(tree, own.R, bodies + l->v, V);
    if (l->parent >= 0) {
      twist_of(tree, parent.R, bodies + tree->link[l->parent].v, before);
      saltusi_minus3(own.x, parent.x, arm);
      saltusi_cross(before, arm, moved);
      saltusi_along(1.0, moved, before + 3, before + 3);
    }
    for (int k = 0; k < 6; k++) {
      V[k] -= before[k];
    }
    fit_rates(l->axes, (const double(*)[6])S, V, v + l->axis);
  }
}

/* ---- accelerations ---- */

static saltus_status open_work(const saltus_tree* tree, reaction_work* w, saltusi_pool* pool) {
  const saltus_dims* in = &tree->inner->dims;
  const size_t width = (size_t)(in->row_width > 0 ? in->row_width : in->nv);
  *pool = saltusi_pool_over(&tree->pool.allocator);
  w->scratch = saltusi_pool_take(pool, tree->system.dims.scratch + SALTUS_ALIGNMENT, 1);
  w->a = SALTUSI_TAKE(pool, double, in->nv);
  w->F = SALTUSI_TAKE(pool, double, in->nv);
  w->rows = SALTUSI_TAKE(pool, double, (size_t)SALTUSI_TREE_ROWS* width);
  w->column = SALTUSI_TAKE(pool, int, width);
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

static void accelerations(const saltus_tree* tree, const saltus_point* at, const double* dv,
                          saltusi_tree_state* x, double* a) {
  saltusi_tree_at(tree, at, x);
  saltusi_tree_expand(tree, at->q, dv, a);
  for (int k = 0; k < tree->inner->dims.nv; k++) {
    a[k] += x->a_inner[k];
  }
}

saltus_status saltus_tree_body_accelerations(const saltus_tree* tree, double t, const double* q,
                                             const double* v, const double* dv, double* bodies) {
  assert(tree != NULL && q != NULL && v != NULL && dv != NULL && bodies != NULL);
  reaction_work w;
  saltusi_pool pool;
  const saltus_status status = open_work(tree, &w, &pool);
  if (status == SALTUS_OK) {
    const saltus_point at = {.t = t, .q = q, .v = v, .scratch = w.scratch};
    saltusi_tree_state x;
    accelerations(tree, &at, dv, &x, bodies);
  }
  saltusi_pool_free(&pool);
  return status;
}

/* ---- forces ---- */

/* All rows of a joint of the inner system. */
static saltus_rows rows_of(const saltus_tree* tree, const saltus_point* p, int joint,
                           const reaction_work* w, double b[SALTUSI_TREE_ROWS]) {
  const saltus_system* in = tree->inner;
  const int width = in->dims.row_width > 0 ? in->dims.row_width : in->dims.nv;
  saltus_rows rows = {
      .count = in->joint_first != NULL ? in->joint_first[joint + 1] - in->joint_first[joint] : 1,
      .width = width,
      .stride = width,
      .column = in->dims.row_width > 0 ? w->column : NULL,
      .G = w->rows,
      .b = b};
  memset(w->rows, 0, (size_t)rows.count * (size_t)width * sizeof *w->rows);
  in->ops->joint(in->self, p, joint, &rows);
  return rows;
}

/* Adds forces of rows of this system to those of the bodies, and to the forces of all rows. */
static void add_kept(const saltus_tree* tree, const saltus_point* p, const double* lambda,
                     const reaction_work* w, double* forces) {
  const saltus_system* in = tree->inner;
  for (int i = 0, row = 0; i < tree->kept_count; i++) {
    const saltusi_tree_kept* k = &tree->kept[i];
    const int first = in->joint_first != NULL ? in->joint_first[k->joint] : k->joint;
    double b[SALTUSI_TREE_ROWS] = {0.0};
    const saltus_rows rows = rows_of(tree, p, k->joint, w, b);
    for (int r = k->first; r < k->first + k->rows; r++, row++) {
      forces[first + r] = lambda[row];
      for (int c = 0; c < rows.width; c++) {
        w->F[rows.column != NULL ? rows.column[c] : c] +=
            lambda[row] * rows.G[(ptrdiff_t)r * rows.stride + c];
      }
    }
  }
}

/* Forces along coordinates of joints, less those that accelerate armatures, as wrenches on the bodies of these joints alone. */
static void coordinate_wrench(const saltus_tree* tree, int link, const saltus_point* at,
                              const double* dv, const saltusi_tree_state* x, double out[6]) {
  memset(out, 0, 6 * sizeof *out);
  for (int i = 0; i < tree->drives; i++) {
    const saltusi_tree_drive* d = &tree->drive[i];
    if (d->link != link) {
      continue;
    }
    double slope[2];
    const double force =
        saltusi_tree_drive_force(tree, d, at, slope) - d->ratio * d->force->armature * dv[d->axis];
    /* wrench that works along this screw only: a torque about its axis, or a force along it */
    const double* S = x->axis[d->axis].S;
    double axis[3], arm[3], moment[3];
    if (d->angle) {
      for (int k = 0; k < 3; k++) {
        out[k] += force * S[k];
      }
      continue;
    }
    const bool screw = tree->axis[d->axis].kind == SALTUSI_AXIS_SCREW;
    memcpy(axis, screw ? S : S + 3, sizeof axis);
    saltusi_tree_pose own, parent;
    const saltusi_tree_link* l = &tree->link[link];
    saltusi_tree_pose_of(tree, l, at->q, &own);
    saltusi_tree_parent_pose(tree, l, at->q, &parent);
    const saltusi_tree_pose* on = l->child == 1 ? &own : &parent;
    saltusi_turn(on->R, tree->mechanism->markers[l->marker[1]].r, arm);
    saltusi_along(1.0, on->x, arm, arm);
    saltusi_minus3(arm, x->link[l->root].x, arm);
    saltusi_cross(arm, axis, moment);
    for (int k = 0; k < 3; k++) {
      out[k] += force * moment[k];
      out[3 + k] += force * axis[k];
    }
  }
}

/* Multipliers of the rows of the joint of a link from the wrench that it transmits to the body. */
static void fit_forces(const saltus_tree* tree, int link, const saltus_point* p,
                       const reaction_work* w, const saltusi_tree_state* x, const double wrench[6],
                       double* forces) {
  const saltusi_tree_link* l = &tree->link[link];
  const saltusi_joint* joint = &tree->mechanism->joints[l->joint];
  const int own = joint->rows - (joint->driven[0] >= 0) - (joint->driven[1] >= 0);
  const int each = tree->plane ? 3 : 6;
  double b[SALTUSI_TREE_ROWS] = {0.0}, G[6][6];
  const saltus_rows rows = rows_of(tree, p, l->joint, w, b);
  for (int r = 0; r < own; r++) {
    double part[6] = {0.0}, f[6];
    for (int c = 0; c < rows.width; c++) {
      const int column = rows.column != NULL ? rows.column[c] : c;
      if (column >= l->v && column < l->v + each) {
        part[column - l->v] = rows.G[(ptrdiff_t)r * rows.stride + c];
      }
    }
    saltusi_tree_link_state about = x->link[link]; /* about the centre: lever arms stay short */
    memset(about.r, 0, sizeof about.r);
    saltusi_tree_wrench(tree, &about, part, f);
    memcpy(G[r], f, sizeof f);
  }
  if (own > 0) {
    fit_rates(own, (const double(*)[6])G, wrench, forces + joint->row);
  }
}

static void transmit(const saltus_tree* tree, const saltus_point* at, const double* dv,
                     const saltus_point* p, const reaction_work* w, const saltusi_tree_state* x,
                     double* forces) {
  for (int i = 0; i < tree->links; i++) {
    const saltusi_tree_link* l = &tree->link[i];
    const saltusi_body* body = &tree->mechanism->bodies[l->body];
    double f[6] = {0.0}, torque[3];
    for (int k = 0; k < (tree->plane ? 2 : 3); k++) {
      f[k] = body->mass * w->a[l->v + k] - w->F[l->v + k];
    }
    if (tree->plane) {
      f[2] = body->I[8] * w->a[l->v + 2] - w->F[l->v + 2];
    } else {
      saltusi_turn(body->I, w->a + l->v + 3, torque);
      saltusi_minus3(torque, w->F + l->v + 3, f + 3);
    }
    saltusi_tree_wrench(tree, &x->link[i], f, x->wrench + (ptrdiff_t)6 * i);
  }
  for (int i = tree->links - 1; i >= 0; i--) {
    const saltusi_tree_link* l = &tree->link[i];
    double along[6], own[6], moment[3];
    for (int k = 0; k < 6 && l->parent >= 0; k++) {
      x->wrench[(ptrdiff_t)6 * l->parent + k] += x->wrench[(ptrdiff_t)6 * i + k];
    }
    if (l->joint < 0) {
      continue;
    }
    coordinate_wrench(tree, i, at, dv, x, along);
    for (int k = 0; k < 6; k++) {
      own[k] = x->wrench[(ptrdiff_t)6 * i + k] - along[k];
    }
    saltusi_cross(x->link[i].r, own + 3, moment);
    saltusi_minus3(own, moment, own);
    fit_forces(tree, i, p, w, x, own, forces);
  }
}

saltus_status saltus_tree_joint_forces(const saltus_tree* tree, const saltus_point* at,
                                       const double* dv, const double* applied,
                                       const double* lambda, double* forces) {
  assert(tree != NULL && at != NULL && dv != NULL && forces != NULL);
  reaction_work w;
  saltusi_pool pool;
  const saltus_status status = open_work(tree, &w, &pool);
  if (status == SALTUS_OK) {
    saltus_point own = *at;
    own.scratch = w.scratch;
    saltusi_tree_state x;
    accelerations(tree, &own, dv, &x, w.a);
    const saltus_point p = saltusi_tree_inside(tree, &own, &x);
    tree->inner->ops->force(tree->inner->self, &p, w.F);
    for (int k = 0; k < tree->inner->dims.nv && applied != NULL; k++) {
      w.F[k] += applied[k];
    }
    memset(forces, 0, (size_t)tree->inner->dims.nj * sizeof *forces);
    if (lambda != NULL) {
      add_kept(tree, &p, lambda, &w, forces);
    }
    transmit(tree, &own, dv, &p, &w, &x, forces);
  }
  saltusi_pool_free(&pool);
  return status;
}
