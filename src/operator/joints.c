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

/* A contradiction is larger than this part of the terms of a constraint: starts are published with six digits.
 * Terms count as 1 at least, as coordinates at zero say nothing about lengths: mechanisms of micrometres want
 * another unit. */
static const double agree = 1e-6;
/* Rows with less than this part of the largest contradiction are not named; chosen. */
static const double named_part = 1e-3;

void saltusi_joints_layout(saltusi_joints* joints, const saltusi_eval* eval, saltus_arena* arena) {
  assert(joints != NULL && eval != NULL && arena != NULL);
  saltusi_eval alone = *eval;
  alone.sys.dims.nc = 0;
  saltusi_linear_layout(&joints->mass, &eval->sys, arena);
  saltusi_operator_layout(&joints->op, &alone, &(saltusi_demand){.held = true}, arena);
  joints->miss = SALTUS_PUSH(arena, double, eval->sys.dims.nj);
}

static saltus_status look(saltusi_joints* joints, saltusi_eval* eval, const saltus_point* at) {
  saltus_status status = saltusi_linear_assemble(eval, &joints->mass, at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_operator_hold(&joints->op, &eval->sys, at, NULL, 0);
    saltusi_operator_form_held(&joints->op, eval, &joints->mass);
  }
  return status;
}

/* Sum of |G| of a row: what it makes of coordinates of size 1. */
static double row_slope(const saltusi_joints* joints, int nv, int j) {
  const saltusi_row_block* rows = &joints->op.rows;
  int count = rows->column != NULL ? rows->entries[j] : nv;
  double sum = 0.0;
  for (int i = 0; i < count; i++) {
    sum += fabs(rows->G[(size_t)j * (size_t)rows->stride + (size_t)i]);
  }
  return sum;
}

/* Judges joints->miss, in units of `size` for each unit of a row. */
static void judge(saltusi_joints* joints, const saltus_system* sys, double size, int kind,
                  saltusi_contradiction* found) {
  const saltus_dims* d = &sys->dims;
  double worst = 0.0;
  saltusi_operator_miss(&joints->op, joints->miss);
  for (int j = 0; j < d->nj; j++) {
    double slope = row_slope(joints, d->nv, j);
    double part = fabs(joints->miss[j]) / (slope > 0.0 ? slope * size : size);
    worst = fmax(worst, part);
    found->miss = fmax(found->miss, fabs(joints->miss[j]));
  }
  if (!(worst > agree)) {
    found->miss = 0.0;
    return;
  }
  int last = -1;
  int rows = 0;
  for (int j = 0; j < d->nj && found->count < 4; j++) {
    int joint = saltusi_joint_of(sys, j);
    if (!(fabs(joints->miss[j]) > named_part * found->miss)) {
      continue;
    }
    rows++;
    if (joint != last) { /* rows of one joint are one */
      found->joint[found->count++] = j;
    }
    last = joint;
  }
  found->kind = SALTUSI_AGREE;
  if (rows > 1) { /* one that moves nothing is no two */
    found->kind = (unsigned)kind;
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
  judge(joints, sys, fmax(1.0, saltusi_max_abs(d->nq, at->q)), SALTUSI_POSITIONS_DISAGREE, found);
  if (rates && found->kind == SALTUSI_AGREE) {
    double size = fmax(1.0, saltusi_max_abs(d->nv, at->v));
    for (int j = 0; j < d->nj; j++) {
      joints->miss[j] = saltusi_row_dot(&joints->op.rows, j, at->v) + joints->op.rows.b[j];
    }
    judge(joints, sys, size, SALTUSI_RATES_DISAGREE, found);
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
