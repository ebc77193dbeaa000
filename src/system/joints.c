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

/* Rows of a group that is looked at, at most: three matrices of 32 megabytes. */
enum { GROUP_MOST = 2048 };

void saltusi_joints_layout(saltusi_joints* joints, const saltus_system* sys, saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  const int most = d->nj < GROUP_MOST ? d->nj : GROUP_MOST;
  joints->most = most;
  saltusi_linear_layout(&joints->mass, sys, arena);
  saltusi_rows_layout(&joints->rows, d, d->nj, false, arena);
  joints->W = SALTUS_PUSH2(arena, double, most, most);
  joints->factor.LU = SALTUS_PUSH2(arena, double, most, most);
  joints->factor.gram = SALTUS_PUSH2(arena, double, most, most);
  joints->factor.pivot = SALTUS_PUSH2(arena, int, most, 2);
  joints->factor.scale = SALTUS_PUSH(arena, double, most);
  joints->miss = SALTUS_PUSH(arena, double, most);
  joints->value = SALTUS_PUSH2(arena, double, 2, d->nj);
  joints->column = SALTUS_PUSH(arena, double, d->nv);
  joints->response = SALTUS_PUSH(arena, double, d->nv);
  joints->response_at = SALTUS_PUSH(arena, int, d->nv);
  joints->joined = SALTUS_PUSH(arena, int, d->nv);
  joints->group_of = SALTUS_PUSH(arena, int, d->nv + d->nj);
  joints->group_start = SALTUS_PUSH(arena, int, d->nj + 1);
  joints->member = SALTUS_PUSH(arena, int, d->nj);
}

/* Columns and entries of M^-1 G of a row. */
static int respond(saltusi_joints* joints, const saltusi_eval* eval, int row) {
  const saltusi_row_block* rows = &joints->rows;
  const size_t at = (size_t)row * (size_t)rows->stride;
  const bool sparse = rows->column != NULL;
  return saltusi_linear_solve_row(eval, &joints->mass, sparse ? rows->entries[row] : rows->stride,
                                  sparse ? rows->column + at : NULL, rows->G + at,
                                  joints->response_at, joints->response);
}

static int first_of(int* joined, int i) {
  while (joined[i] != i) {
    joined[i] = joined[joined[i]];
    i = joined[i];
  }
  return i;
}

/* Rows that meet common velocities, in groups in the order of their first rows; returns how many. A row
 * that meets none is in no group. */
static int find_groups(saltusi_joints* joints, const saltusi_eval* eval) {
  const int nv = eval->sys.dims.nv, nj = eval->sys.dims.nj;
  int* of_velocity = joints->group_of;
  int* of_row = joints->group_of + nv;
  int groups = 0;
  for (int i = 0; i < nv; i++) {
    joints->joined[i] = i;
    of_velocity[i] = -1;
  }
  for (int j = 0; j < nj; j++) {
    const int width = respond(joints, eval, j);
    of_row[j] = width > 0 ? joints->response_at[0] : -1; /* a velocity, for now */
    for (int k = 1; k < width; k++) {
      const int a = first_of(joints->joined, joints->response_at[0]);
      const int b = first_of(joints->joined, joints->response_at[k]);
      joints->joined[a > b ? a : b] = a > b ? b : a;
    }
  }
  memset(joints->group_start, 0, (size_t)(nj + 1) * sizeof(int));
  for (int j = 0; j < nj; j++) {
    if (of_row[j] >= 0) {
      int* group = &of_velocity[first_of(joints->joined, of_row[j])];
      *group = *group < 0 ? groups++ : *group;
      of_row[j] = *group;
      joints->group_start[*group + 1]++;
    }
  }
  for (int g = 0; g < groups; g++) {
    joints->group_start[g + 1] += joints->group_start[g];
    of_velocity[g] = joints->group_start[g]; /* where its next row goes; groups <= nv */
  }
  for (int j = 0; j < nj; j++) {
    if (of_row[j] >= 0) {
      joints->member[of_velocity[of_row[j]]++] = j;
    }
  }
  return groups;
}

/* The rank of a group's W is known afterwards; false: something is not finite. */
static bool factor_group(saltusi_joints* joints, const saltusi_eval* eval, int count,
                         const int* member) {
  for (int j = 0; j < count; j++) {
    const int width = respond(joints, eval, member[j]);
    for (int k = 0; k < width; k++) {
      joints->column[joints->response_at[k]] = joints->response[k];
    }
    for (int i = 0; i < count; i++) {
      joints->W[(size_t)i * (size_t)count + (size_t)j] =
          saltusi_row_dot(&joints->rows, member[i], joints->column);
    }
    for (int k = 0; k < width; k++) {
      joints->column[joints->response_at[k]] = 0.0;
    }
  }
  return saltusi_dependent_factor(&joints->factor, count, joints->W, count);
}

/* Sum of |G| of a row: what it makes of coordinates of size 1. */
static double row_slope(const saltusi_joints* joints, int row) {
  const saltusi_row_block* rows = &joints->rows;
  const double* G = rows->G + (size_t)row * (size_t)rows->stride;
  const int count = rows->column != NULL ? rows->entries[row] : rows->stride;
  double sum = 0.0;
  for (int k = 0; k < count; k++) {
    sum += fabs(G[k]);
  }
  return sum;
}

/* Judges the values of a group, in units of `size` for each unit of a row; keeps the worst of all groups. */
static void judge(saltusi_joints* joints, int count, const int* member, const double* value,
                  double size, saltusi_contradiction* found) {
  saltusi_contradiction here = {.kind = found->kind};
  double worst = 0.0;
  for (int j = 0; j < count; j++) {
    joints->miss[j] = value[member[j]];
  }
  saltusi_dependent_miss(&joints->factor, joints->miss);
  for (int j = 0; j < count; j++) {
    double slope = row_slope(joints, member[j]);
    double part = fabs(joints->miss[j]) / (slope > 0.0 ? slope * size : size);
    worst = fmax(worst, part);
    here.miss = fmax(here.miss, fabs(joints->miss[j]));
  }
  for (int j = 0; j < count && here.count < 4; j++) {
    if (fabs(joints->miss[j]) > 1e-3 * here.miss) {
      here.joint[here.count++] = member[j];
    }
  }
  /* one that moves nothing is no two */
  if (worst > agree && here.count > 1 && here.miss > found->miss) {
    *found = here;
  }
}

/* Constraints and their rates at a point. */
static void evaluate(saltusi_joints* joints, const saltus_system* sys, const saltus_point* at,
                     bool rates) {
  const int nj = sys->dims.nj;
  saltusi_rows_joints(sys, at, &joints->rows);
  sys->ops->joints(sys->self, at, joints->value);
  for (int j = 0; rates && j < nj; j++) {
    joints->value[nj + j] = saltusi_row_dot(&joints->rows, j, at->v) + joints->rows.b[j];
  }
}

saltus_status saltusi_joints_contradict(saltusi_joints* joints, saltusi_eval* eval,
                                        const saltus_point* at, bool rates,
                                        saltusi_contradiction* found) {
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  *found = (saltusi_contradiction){.kind = SALTUSI_AGREE};
  saltus_status status = saltusi_linear_assemble(eval, &joints->mass, at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  evaluate(joints, sys, at, rates);
  memset(joints->column, 0, (size_t)d->nv * sizeof(double));
  saltusi_contradiction moving = {.kind = SALTUSI_RATES_DISAGREE};
  saltusi_contradiction standing = {.kind = SALTUSI_POSITIONS_DISAGREE};
  const int groups = find_groups(joints, eval);
  for (int g = 0; g < groups; g++) {
    const int* member = joints->member + joints->group_start[g];
    const int count = joints->group_start[g + 1] - joints->group_start[g];
    if (count < 2 || count > joints->most) {
      continue;
    }
    if (!factor_group(joints, eval, count, member)) {
      return SALTUS_RETRY_NAN;
    }
    if (joints->factor.rank == count) {
      continue;
    }
    judge(joints, count, member, joints->value, fmax(1.0, saltusi_max_abs(d->nq, at->q)),
          &standing);
    if (rates) {
      judge(joints, count, member, joints->value + d->nj, fmax(1.0, saltusi_max_abs(d->nv, at->v)),
            &moving);
    }
  }
  if (standing.count > 0) {
    *found = standing;
  } else if (moving.count > 0) {
    *found = moving;
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
