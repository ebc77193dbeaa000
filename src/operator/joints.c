/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joints.c - see joints.h.
 */
#include "operator/joints.h"

#include "math/matrix.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Joints are inconsistent above this fraction of the terms of a constraint: published lengths have six digits. */
static const double agree = 1e-6;
/* Coordinates at zero give no length scale. The smallest scale of a constraint is this part of its row times the
 * largest coordinate: with coordinates of one metre or radian, the tolerance is a nanometre. */
static const double terms_least = 1e-3;
/* Relative perturbation of coordinates in difference quotients, sqrt(eps). */
static const double probe_part = 1.5e-8;
/* Rows below this fraction of the largest inconsistency are not named; chosen. */
static const double named_part = 1e-3;

void saltusi_joints_layout(saltusi_joints* joints, const saltusi_eval* eval, saltus_arena* arena) {
  assert(joints != NULL && eval != NULL && arena != NULL);
  saltusi_eval alone = *eval;
  alone.sys.dims.nc = 0;
  saltusi_linear_layout(&joints->mass, &eval->sys, arena);
  const saltusi_demand demand = {.held = true, .all_loops = true};
  saltusi_operator_layout(&joints->op, &alone, &demand, arena);
  joints->miss = SALTUS_PUSH(arena, double, eval->sys.dims.nj);
  joints->q = SALTUS_PUSH(arena, double, eval->sys.dims.nq);
  joints->x = SALTUS_PUSH(arena, double, eval->sys.dims.nv);
}

static saltus_status look(saltusi_joints* joints, saltusi_eval* eval, const saltus_point* at) {
  saltus_status status = saltusi_linear_assemble(eval, &joints->mass, at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_operator_hold(&joints->op, &eval->sys, at, NULL, 0);
    saltusi_operator_form_active(&joints->op, eval, &joints->mass);
  }
  return status;
}

/* Positions as velocities that lead there from zero in 1 s: zero for quaternions, q for others. */
static void find_positions(saltusi_joints* joints, const saltus_system* sys, const double* q) {
  for (int i = 0; i < sys->dims.nq; i++) {
    joints->q[i] = (1.0 + probe_part) * q[i];
  }
  saltusi_normalise(sys, joints->q);
  saltusi_difference(sys, q, joints->q, joints->x);
  for (int i = 0; i < sys->dims.nv; i++) {
    joints->x[i] /= probe_part;
  }
}

/* Lower bound of the largest velocity that satisfies G_j v + b_j = 0, from each row alone. */
static double least_velocity(const saltusi_row_block* rows, int nj) {
  double least = 0.0;
  for (int j = 0; j < nj; j++) {
    double sum = saltusi_row_sum(rows, j);
    least = sum > 0.0 ? fmax(least, fabs(rows->b[j]) / sum) : least;
  }
  return least;
}

/* Compares joints->miss with the terms of constraints: rows times x, where `largest` is the size of coordinates, and
 * the prescribed rates b. */
static void judge(saltusi_joints* joints, const saltus_system* sys, const double* x, double largest,
                  bool given, saltusi_contradiction* found) {
  const saltus_dims* d = &sys->dims;
  const saltusi_row_block* rows = &joints->op.rows;
  double worst = 0.0;
  saltusi_operator_miss(&joints->op, joints->miss);
  for (int j = 0; j < d->nj; j++) {
    double terms = saltusi_row_size(rows, j, x) + (given ? fabs(rows->b[j]) : 0.0);
    double miss = fabs(joints->miss[j]);
    double size = fmax(terms, terms_least * largest * saltusi_row_sum(rows, j));
    if (miss > SALTUSI_CONSISTENT) {
      worst = fmax(worst, size > 0.0 ? miss / size : INFINITY);
    }
    found->miss = fmax(found->miss, fabs(joints->miss[j]));
  }
  if (!(worst > agree)) {
    found->miss = 0.0;
    return;
  }
  int last = -1;
  int named = 0;
  for (int j = 0; j < d->nj && found->count < 4; j++) {
    int joint = saltusi_joint_of(sys, j);
    if (!(fabs(joints->miss[j]) > named_part * found->miss)) {
      continue;
    }
    named++;
    if (joint != last) { /* each joint once */
      found->joint[found->count++] = j;
    }
    last = joint;
  }
  found->kind = SALTUSI_AGREE;
  if (named > 1) { /* a single joint is consistent with itself */
    found->kind = given ? SALTUSI_RATES_DISAGREE : SALTUSI_POSITIONS_DISAGREE;
  }
}

saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found) {
  assert(joints != NULL && eval != NULL && at != NULL && found != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  *found = (saltusi_contradiction){.kind = SALTUSI_AGREE};
  saltus_status status = look(joints, eval, at);
  if (status == SALTUS_OK) {
    status = joints->op.status;
  }
  int superfluous = status == SALTUS_OK ? saltusi_operator_superfluous(&joints->op) : 0;
  if (superfluous <= 0) {
    return superfluous < 0 ? SALTUS_RETRY_NAN : status;
  }
  sys->ops->joints(sys->self, at, joints->miss);
  find_positions(joints, sys, at->q);
  judge(joints, sys, joints->x, saltusi_max_abs(d->nq, at->q), false, found);
  if (rates && found->kind == SALTUSI_AGREE) {
    for (int j = 0; j < d->nj; j++) {
      joints->miss[j] = saltusi_row_dot(&joints->op.rows, j, at->v) + joints->op.rows.b[j];
    }
    /* velocities of zero are accepted: drives set them */
    double largest = fmax(saltusi_max_abs(d->nv, at->v), least_velocity(&joints->op.rows, d->nj));
    judge(joints, sys, at->v, largest, true, found);
  }
  return SALTUS_OK;
}

const char* saltusi_joints_names(const saltus_system* sys, const saltusi_contradiction* found,
                                 char* text, size_t size) {
  assert(sys != NULL && found != NULL && text != NULL);
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < found->count && used < size; i++) {
    const char* name = sys->joint_names != NULL ? sys->joint_names[found->joint[i]] : "";
    const char* between = i == 0 ? "" : i + 1 == found->count ? " and " : ", ";
    int added = name[0] != '\0'
                    ? snprintf(text + used, size - used, "%s\"%.40s\"", between, name)
                    : snprintf(text + used, size - used, "%s%d", between, found->joint[i] + 1);
    used += added > 0 ? (size_t)added : 0;
  }
  return text;
}
