/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kinematics.c - screws, twists and their rates at v' = 0 from the root on, and velocities and accelerations of the bodies:
 *
 *   V_i = V_p + sum S_j v_j,   A_i = A_p + sum (V x S_j) v_j
 *   v of the centre = l + w x r,   its acceleration = A_l + A_w x r + w x v
 */
#include "tree/kinematic_tree.h"

#include <assert.h>

/* ---- poses and screws ---- */

void saltusi_tree_pose_of(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                          saltusi_tree_pose* out) {
  assert(tree != NULL && l != NULL && q != NULL && out != NULL);
  const double* x = q + l->q;
  if (!tree->plane) {
    memcpy(out->x, x, sizeof out->x);
    saltusi_quaternion_matrix(x + 3, out->R);
    return;
  }
  const double c = cos(x[2]), s = sin(x[2]);
  *out = (saltusi_tree_pose){{x[0], x[1], 0.0}, {c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0}};
}

void saltusi_tree_parent_pose(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                              saltusi_tree_pose* out) {
  assert(tree != NULL && l != NULL && out != NULL);
  if (l->parent >= 0) {
    saltusi_tree_pose_of(tree, &tree->link[l->parent], q, out);
  } else if (l->joint >= 0) {
    const int marker = l->marker[1 - l->child];
    const saltusi_pose* pose = &tree->mechanism->bodies[tree->mechanism->markers[marker].body].pose;
    memcpy(out->x, pose->x, sizeof out->x);
    memcpy(out->R, pose->R, sizeof out->R);
  } else {
    memset(out, 0, sizeof *out);
  }
}

/* About an axis through a point, or along it. */
static void screw(const saltusi_tree_axis* axis, const double direction[3], const double point[3],
                  const double O[3], double S[6]) {
  double arm[3];
  memset(S, 0, 6 * sizeof *S);
  if (axis->kind == SALTUSI_AXIS_WORLD || axis->kind == SALTUSI_AXIS_SLIDE) {
    memcpy(S + 3, direction, 3 * sizeof *S);
    return;
  }
  memcpy(S, direction, 3 * sizeof *S);
  saltusi_minus3(point, O, arm);
  saltusi_cross(arm, direction, S + 3);
  saltusi_along(axis->pitch, direction, S + 3, S + 3);
}

void saltusi_tree_screws(const saltus_tree* tree, const saltusi_tree_link* l,
                         const saltusi_tree_pose* own, const saltusi_tree_pose* parent,
                         const double O[3], double S[6][6]) {
  assert(tree != NULL && l != NULL && own != NULL && parent != NULL && S != NULL);
  const saltusi_marker* markers = tree->mechanism->markers;
  double point[3];
  memcpy(point, own->x, sizeof point);
  if (l->joint >= 0) { /* origin of the second marker */
    const saltusi_tree_pose* on = l->child == 1 ? own : parent;
    saltusi_turn(on->R, markers[l->marker[1]].r, point);
    saltusi_along(1.0, on->x, point, point);
  }
  for (int j = 0; j < l->axes; j++) {
    const saltusi_tree_axis* axis = &tree->axis[l->axis + j];
    double direction[3] = {axis->i == 0, axis->i == 1, axis->i == 2};
    if (axis->kind == SALTUSI_AXIS_BODY) {
      for (int k = 0; k < 3; k++) {
        direction[k] = own->R[3 * k + axis->i];
      }
    } else if (axis->kind != SALTUSI_AXIS_WORLD) {
      const saltusi_tree_pose* on = l->child == axis->end ? own : parent;
      saltusi_turn(on->R, markers[l->marker[axis->end]].axis[axis->i], direction);
      for (int k = 0; k < 3; k++) {
        direction[k] *= axis->sign;
      }
    }
    screw(axis, direction, point, O, S[j]);
  }
}

/* ---- workspace ---- */

size_t saltusi_tree_lay_out(const saltus_tree* tree, void* scratch, saltusi_tree_state* to) {
  assert(tree != NULL);
  const size_t align = 2 * sizeof(double), n = (size_t)tree->axes, links = (size_t)tree->links;
  const size_t inner = (size_t)tree->inner->dims.nv, nq = (size_t)tree->inner->dims.nq;
  const size_t head = (tree->inner->dims.scratch + align - 1) / align * align;
  const saltus_structure* s = tree->inner->structure;
  const size_t each = tree->plane ? 9 : 36, blocks = (links + 2 * (size_t)s->pairs) * each;
  const size_t most = inner > n ? inner : n;
  saltusi_tree_state local, *x = to != NULL ? to : &local;
  double* at = to != NULL ? (double*)(void*)((char*)scratch + head) : NULL;
  size_t used = 0;
#define PART(count)                                                                                \
  (at == NULL ? NULL : at + used);                                                                 \
  used += (count)
  x->key_q = PART(nq);
  x->key_v = PART(n);
  x->v_inner = PART(inner);
  x->a_inner = PART(inner);
  x->F = PART(most);
  x->wrench = PART(6 * links);
  x->fv = PART(blocks);
  x->fq = PART(blocks);
  x->rows = PART((size_t)SALTUSI_TREE_ROWS * inner);
  x->path = PART(18 * n);
  x->operators = PART(108 * links);
  x->eliminated = PART(31 * n);
  x->along = PART(24 * (size_t)tree->longest);
  x->joints = PART((size_t)tree->inner->dims.nj);
  x->link = (void*)PART(links * sizeof *x->link / sizeof(double));
  x->axis = (void*)PART(n * sizeof *x->axis / sizeof(double));
  x->sum = (void*)PART(links * sizeof *x->sum / sizeof(double));
  x->column = (void*)PART((inner + 1) / 2 + 1);
  x->merged = (void*)PART(n + 1);
  x->known = (void*)PART(2);
#undef PART
  return head + used * sizeof(double);
}

/* ---- state ---- */

void saltusi_tree_from_twist(const saltus_tree* tree, const saltusi_tree_link_state* x,
                             const double V[6], double* v) {
  assert(tree != NULL && x != NULL && V != NULL && v != NULL);
  double turned[3];
  saltusi_cross(V, x->r, turned);
  v[0] = V[3] + turned[0];
  v[1] = V[4] + turned[1];
  if (tree->plane) {
    v[2] = V[2];
    return;
  }
  v[2] = V[5] + turned[2];
  saltusi_turn_back(x->R, V, v + 3);
}

void saltusi_tree_wrench(const saltus_tree* tree, const saltusi_tree_link_state* x, const double* F,
                         double out[6]) {
  assert(tree != NULL && x != NULL && F != NULL && out != NULL);
  double torque[3] = {0.0, 0.0, F[2]};
  const double force[3] = {F[0], F[1], tree->plane ? 0.0 : F[2]};
  if (!tree->plane) {
    saltusi_turn(x->R, F + 3, torque);
  }
  saltusi_wrench_at(x->r, force, torque, out);
}

/* Screws of a link, its twist, and its rate. */
static void move_link(const saltus_tree* tree, int i, const saltus_point* at,
                      saltusi_tree_state* s) {
  const saltusi_tree_link* l = &tree->link[i];
  saltusi_tree_link_state *x = &s->link[i], *parent = &s->link[l->parent >= 0 ? l->parent : i];
  saltusi_tree_pose own, before;
  double S[6][6];
  saltusi_tree_pose_of(tree, l, at->q, &own);
  if (l->parent >= 0) {
    memcpy(before.x, parent->x, sizeof before.x);
    memcpy(before.R, parent->R, sizeof before.R);
  } else {
    saltusi_tree_parent_pose(tree, l, at->q, &before);
  }
  const double* O = l->root == i ? own.x : s->link[l->root].x;
  memcpy(x->x, own.x, sizeof own.x);
  memcpy(x->R, own.R, sizeof own.R);
  saltusi_minus3(own.x, O, x->r);
  saltusi_tree_screws(tree, l, &own, &before, O, S);
  memset(x->V, 0, sizeof x->V);
  memset(x->A, 0, sizeof x->A);
  if (l->parent >= 0) {
    memcpy(x->V, parent->V, sizeof x->V);
    memcpy(x->A, parent->A, sizeof x->A);
  }
  for (int j = l->axis; j < l->axis + l->axes;) {
    int end = j;
    saltusi_tree_axis_state* a = &s->axis[j];
    memcpy(a->before, x->V, sizeof x->V);
    memcpy(a->A, x->A, sizeof x->A);
    for (; end < l->axis + l->axes && tree->axis[end].first == j; end++) {
      const double rate = at->v != NULL ? at->v[end] : 0.0;
      memcpy(s->axis[end].S, S[end - l->axis], sizeof a->S);
      for (int k = 0; k < 6; k++) {
        x->V[k] += S[end - l->axis][k] * rate;
      }
    }
    for (; j < end; j++) {
      saltusi_tree_axis_state* b = &s->axis[j];
      memcpy(b->before, a->before, sizeof a->before);
      memcpy(b->A, a->A, sizeof a->A);
      saltusi_twist_cross(x->V, b->S, b->dS);
      for (int k = 0; k < 6 && at->v != NULL; k++) {
        x->A[k] += b->dS[k] * at->v[j];
      }
    }
  }
}

/* Bias acceleration of a body in the inner system. */
static void bias_of(const saltus_tree* tree, const saltusi_tree_link_state* x, const double* v,
                    double* a) {
  double turn[3];
  saltusi_tree_from_twist(tree, x, x->A, a);
  const double velocity[3] = {v[0], v[1], tree->plane ? 0.0 : v[2]};
  saltusi_cross(x->V, velocity, turn);
  for (int k = 0; k < (tree->plane ? 2 : 3); k++) {
    a[k] += turn[k];
  }
}

static bool is_known(const saltus_tree* tree, const saltus_point* at, const saltusi_tree_state* s) {
  const size_t nq = (size_t)tree->system.dims.nq, nv = (size_t)tree->axes;
  return *s->known >= (at->v != NULL ? 2 : 1) && memcmp(s->key_q, at->q, nq * sizeof *at->q) == 0 &&
         (at->v == NULL || memcmp(s->key_v, at->v, nv * sizeof *at->v) == 0);
}

void saltusi_tree_at(const saltus_tree* tree, const saltus_point* at, saltusi_tree_state* to) {
  assert(tree != NULL && at != NULL && at->scratch != NULL && to != NULL);
  saltusi_tree_lay_out(tree, at->scratch, to);
  if (is_known(tree, at, to)) {
    return;
  }
  for (int i = 0; i < tree->links; i++) {
    move_link(tree, i, at, to);
  }
  for (int i = 0; i < tree->links && at->v != NULL; i++) {
    const int v = tree->link[i].v;
    saltusi_tree_from_twist(tree, &to->link[i], to->link[i].V, to->v_inner + v);
    bias_of(tree, &to->link[i], to->v_inner + v, to->a_inner + v);
  }
  *to->known = at->v != NULL ? 2 : 1;
  memcpy(to->key_q, at->q, (size_t)tree->system.dims.nq * sizeof *at->q);
  if (at->v != NULL) {
    memcpy(to->key_v, at->v, (size_t)tree->axes * sizeof *at->v);
  }
}

saltus_point saltusi_tree_inside(const saltus_tree* tree, const saltus_point* at,
                                 saltusi_tree_state* to) {
  assert(tree != NULL && at != NULL && to != NULL);
  saltus_point p = *at;
  saltusi_tree_at(tree, at, to);
  p.v = at->v != NULL ? to->v_inner : NULL;
  return p;
}
