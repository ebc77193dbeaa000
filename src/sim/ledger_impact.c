/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ledger_impact.c - see ledger_impact.h.
 *
 *   v+ - v- = M^-1 (G P + G_E P_E)      P_E = -(G_E^T M^-1 G_E)^-1 G_E^T M^-1 G P
 *   T_2+ - T_2- = P . (G^T v- + G^T v+) / 2 = P . (U- + U+) / 2 - P . b - P_E . b_E
 *
 * Joints are satisfied before and after, so the impulses of contacts determine those of joints.
 */
#include "sim/ledger_impact.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_impact_layout(saltusi_ledger_workspace* room, saltus_arena* arena) {
  assert(room != NULL);
  const saltus_system* sys = &room->eval.sys;
  const saltus_dims* d = &sys->dims;
  bool contacts = d->nc > 0 || (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  room->answers = contacts && (d->nj > 0 || sys->ops->frame_energy != NULL);
  room->push = SALTUS_PUSH(arena, double, d->nv);
  room->joint_P = SALTUS_PUSH(arena, double, d->nj);
  saltusi_rows_layout(&room->joints, d, d->nj, false,
                      arena); /* drives need it without contacts, too */
  if (!room->answers) {
    return;
  }
  saltusi_linear_layout(&room->linear, sys, arena);
  room->joint_X = SALTUS_PUSH2(arena, double, d->nj, d->nv);
  room->joint_W = SALTUS_PUSH2(arena, double, d->nj, d->nj);
  room->joint_pivot = SALTUS_PUSH(arena, int, 2 * d->nj);
}

int saltusi_ledger_rows(const saltus_system* sys, int law) {
  assert(law >= 0 && law < sys->law_count);
  int tangents = sys->laws[law].tangents;
  return 1 + (tangents < 2 ? tangents : 2);
}

int saltusi_ledger_law(const saltusi_ledger_workspace* room, int key) {
  assert(room != NULL && key >= 0);
  const saltus_system* sys = &room->eval.sys;
  if (room->eval.keys != NULL) {
    return room->eval.keys->table.law[key];
  }
  return sys->law_count == sys->dims.nc ? key : 0;
}

saltusi_impact saltusi_impact_open(saltusi_ledger_workspace* room, double t, const double* q) {
  assert(room != NULL && q != NULL);
  memset(room->push, 0, (size_t)room->eval.sys.dims.nv * sizeof(double));
  return (saltusi_impact){.at = saltusi_at(&room->eval, t, q, NULL)};
}

/* Rows of the contact into room->rows. */
static int open_rows(saltusi_ledger_workspace* room, const saltusi_impact* impact, int key) {
  const saltus_system* sys = &room->eval.sys;
  int count = saltusi_ledger_rows(sys, saltusi_ledger_law(room, key));
  saltusi_rows_contact(sys, &impact->at, key, count, &room->rows, 0);
  return count;
}

static void book(saltusi_ledger_workspace* room, saltusi_account account, saltusi_impact* impact,
                 int key, const double P[3], const double U[6]) {
  const saltus_system* sys = &room->eval.sys;
  double normal = 0.5 * P[0] * (U[0] + U[3]);
  double friction = 0.5 * (P[1] * (U[1] + U[4]) + P[2] * (U[2] + U[5]));
  account.energy->impact += normal;
  account.energy->friction += friction;
  account.contacts[key].impact += normal;
  account.contacts[key].friction += friction;
  impact->any = true;
  impact->work += normal + friction;
  for (int k = 0; k < 3; k++) {
    impact->size += 0.5 * fabs(P[k]) * (fabs(U[k]) + fabs(U[k + 3]));
  }
  for (int k = 0; k < saltusi_ledger_rows(sys, saltusi_ledger_law(room, key)); k++) {
    account.energy->drive -= P[k] * room->rows.b[k];
    saltusi_row_add(&room->rows, k, P[k], room->push);
  }
}

void saltusi_impact_contact(saltusi_ledger_workspace* room, saltusi_account account,
                            saltusi_impact* impact, int key, const double P[3], const double U[6]) {
  assert(key >= 0 && P != NULL && U != NULL);
  open_rows(room, impact, key);
  book(room, account, impact, key, P, U);
}

void saltusi_impact_between(saltusi_ledger_workspace* room, saltusi_account account,
                            saltusi_impact* impact, int key, const double P[3],
                            const double* v[2]) {
  assert(key >= 0 && P != NULL && v[0] != NULL && v[1] != NULL);
  double U[6] = {0.0};
  int count = open_rows(room, impact, key);
  for (int side = 0; side < 2; side++) {
    for (int k = 0; k < count; k++) {
      U[3 * side + k] = saltusi_row_dot(&room->rows, k, v[side]) + room->rows.b[k];
    }
  }
  book(room, account, impact, key, P, U);
}

void saltusi_impact_push(saltusi_ledger_workspace* room, saltusi_impact* impact, int key,
                         const double P[3]) {
  assert(key >= 0 && P != NULL);
  int count = open_rows(room, impact, key);
  for (int k = 0; k < count; k++) {
    saltusi_row_add(&room->rows, k, P[k], room->push);
  }
  impact->any = true;
}

/* P_E from the free velocity change in room->u; rows of joints may be linearly dependent. */
static void answer_of_joints(saltusi_ledger_workspace* room) {
  int nj = room->eval.sys.dims.nj;
  int nv = room->eval.sys.dims.nv;
  double largest = 0.0;
  for (int j = 0; j < nj; j++) {
    double* x = room->joint_X + (size_t)j * (size_t)nv;
    memset(x, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&room->joints, j, 1.0, x);
    saltusi_linear_solve(&room->eval, &room->linear, x);
    for (int i = 0; i < nj; i++) {
      room->joint_W[i * nj + j] = saltusi_row_dot(&room->joints, i, x);
    }
    largest = fmax(largest, fabs(room->joint_W[j * nj + j]));
    room->joint_P[j] = -saltusi_row_dot(&room->joints, j, room->u);
  }
  int rank = saltusi_lu_factor_rank(nj, room->joint_W, room->joint_pivot, room->joint_pivot + nj,
                                    1e3 * DBL_EPSILON * largest);
  saltusi_lu_solve_rank(nj, rank, room->joint_W, room->joint_pivot, room->joint_pivot + nj,
                        room->joint_P);
  for (int j = 0; j < nj; j++) {
    const double* x = room->joint_X + (size_t)j * (size_t)nv;
    for (int i = 0; i < nv; i++) {
      room->u[i] += room->joint_P[j] * x[i];
    }
  }
}

void saltusi_impact_close(saltusi_ledger_workspace* room, saltusi_account account,
                          const saltusi_impact* impact) {
  assert(room != NULL && impact != NULL);
  const saltus_system* sys = &room->eval.sys;
  const saltus_dims* d = &sys->dims;
  bool moving = sys->ops->frame_energy != NULL;
  if (room->answers) {
    saltusi_rows_joints(sys, &impact->at, &room->joints);
  }
  for (int j = 0; j < d->nj; j++) {
    room->joint_P[j] = 0.0;
    moving = moving || (room->answers && room->joints.b[j] != 0.0);
  }
  if (!impact->any || !moving || !room->answers) {
    return;
  }
  memset(room->v, 0, (size_t)d->nv * sizeof(double));
  saltus_point at = impact->at;
  at.v = room->v;
  if (saltusi_linear_assemble(&room->eval, &room->linear, &at, 1.0, 0.0, 0.0) != SALTUS_OK) {
    return;
  }
  memcpy(room->u, room->push, (size_t)d->nv * sizeof(double));
  saltusi_linear_solve(&room->eval, &room->linear, room->u);
  if (d->nj > 0) {
    answer_of_joints(room);
  }
  for (int j = 0; j < d->nj; j++) {
    account.energy->drive -= room->joint_P[j] * room->joints.b[j];
  }
  if (sys->ops->frame_energy != NULL) { /* linear in v */
    double rest = sys->ops->frame_energy(sys->self, &at);
    at.v = room->u;
    account.energy->drive += sys->ops->frame_energy(sys->self, &at) - rest;
  }
}
