/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joints.c - see joints.h.
 */
#include "system/joints.h"

#include "math/matrix.h"

#include <stdio.h>
#include <string.h>

/* A contradiction is larger than this part of the terms of a constraint. */
static const double agree = 1e-6;

void saltusi_joints_layout(saltusi_joints* joints, const saltus_system* sys, saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  saltusi_linear_layout(&joints->mass, sys, arena);
  saltusi_rows_layout(&joints->rows, d, d->nj, false, arena);
  joints->W = SALTUS_PUSH2(arena, double, d->nj, d->nj);
  joints->factor.LU = SALTUS_PUSH2(arena, double, d->nj, d->nj);
  joints->factor.gram = SALTUS_PUSH2(arena, double, d->nj, d->nj);
  joints->factor.pivot = SALTUS_PUSH2(arena, int, d->nj, 2);
  joints->factor.scale = SALTUS_PUSH(arena, double, d->nj);
  joints->column = SALTUS_PUSH(arena, double, d->nv);
  joints->miss = SALTUS_PUSH(arena, double, d->nj);
}

static saltus_status look(saltusi_joints* joints, saltusi_eval* eval, const saltus_point* at) {
  const saltus_system* sys = &eval->sys;
  int nj = sys->dims.nj;
  saltus_status status = saltusi_linear_assemble(eval, &joints->mass, at, 1.0, 0.0, 0.0);
  saltusi_rows_joints(sys, at, &joints->rows);
  for (int j = 0; status == SALTUS_OK && j < nj; j++) {
    memset(joints->column, 0, (size_t)sys->dims.nv * sizeof(double));
    saltusi_row_add(&joints->rows, j, 1.0, joints->column);
    saltusi_linear_solve(eval, &joints->mass, joints->column);
    for (int i = 0; i < nj; i++) {
      joints->W[(size_t)i * (size_t)nj + (size_t)j] =
          saltusi_row_dot(&joints->rows, i, joints->column);
    }
  }
  if (status == SALTUS_OK && !saltusi_dependent_factor(&joints->factor, nj, joints->W, nj)) {
    status = SALTUS_RETRY_NAN;
  }
  return status;
}

/* Sum of |G| of a row: what it makes of coordinates of size 1. */
static double row_slope(const saltusi_joints* joints, int nv, int j) {
  double sum = 0.0;
  for (int i = 0; i < nv; i++) {
    sum += fabs(saltusi_row_entry(&joints->rows, j, i));
  }
  return sum;
}

/* Judges joints->miss, in units of `size` for each unit of a row. */
static void judge(saltusi_joints* joints, const saltus_dims* d, double size, int kind,
                  saltusi_contradiction* found) {
  double worst = 0.0;
  saltusi_dependent_miss(&joints->factor, joints->miss);
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
  for (int j = 0; j < d->nj && found->count < 4; j++) {
    if (fabs(joints->miss[j]) > 1e-3 * found->miss) {
      found->joint[found->count++] = j;
    }
  }
  found->kind = SALTUSI_AGREE;
  if (found->count > 1) { /* one that moves nothing is no two */
    found->kind = (unsigned)kind;
  }
}

saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found) {
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  *found = (saltusi_contradiction){.kind = SALTUSI_AGREE};
  saltus_status status = look(joints, eval, at);
  if (status != SALTUS_OK || joints->factor.rank == d->nj) {
    return status;
  }
  sys->ops->joints(sys->self, at, joints->miss);
  judge(joints, d, fmax(1.0, saltusi_max_abs(d->nq, at->q)), SALTUSI_POSITIONS_DISAGREE, found);
  if (rates && found->kind == SALTUSI_AGREE) {
    double size = fmax(1.0, saltusi_max_abs(d->nv, at->v));
    for (int j = 0; j < d->nj; j++) {
      joints->miss[j] = saltusi_row_dot(&joints->rows, j, at->v) + joints->rows.b[j];
    }
    judge(joints, d, size, SALTUSI_RATES_DISAGREE, found);
  }
  return SALTUS_OK;
}

const char* saltusi_joints_names(const saltus_system* sys, const saltusi_contradiction* found,
                                 char* text, size_t size) {
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
