/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * storage.c - memory of the operator, and which storage W gets.
 */
#include "operator/inside.h"

/* Rows for which a dense W is affordable: some tens of megabytes, whatever the size of the system. */
static int largest_dense(const saltus_dims* dims, int rows) {
  enum { ENTRIES = 4000000 };
  int most = ENTRIES / dims->nv > SALTUSI_SPARSE_FROM ? ENTRIES / dims->nv : SALTUSI_SPARSE_FROM;
  most = most < SALTUSI_STEP_DENSE_MAX ? most : SALTUSI_STEP_DENSE_MAX;
  return rows < most ? rows : most;
}

/* Rows of the contact that has most of them. */
static int rows_of_contacts(const saltus_system* sys, bool friction) {
  int each = 1;
  for (int i = 0; friction && i < sys->law_count && sys->laws != NULL; i++) {
    int rows = saltusi_friction_rows(&sys->laws[i]);
    each = rows > each ? rows : each;
  }
  return each;
}

void saltusi_operator_layout(saltusi_operator* op, const saltus_system* sys,
                             const saltusi_demand* demand, saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  int each = rows_of_contacts(sys, demand->friction);
  int rows = d->nj + d->nc * each;
  op->has_friction = each > 1;
  op->dense_max = largest_dense(d, rows);
  saltusi_rows_layout(&op->rows, d, rows + 3, demand->convective, arena);
  if (demand->two_sided) {
    saltusi_rows_layout(&op->measured, d, rows, false, arena);
  }
  op->first = SALTUS_PUSH(arena, int, d->nc + 1);
  op->mu = SALTUS_PUSH(arena, double, d->nc);
  op->rhs = SALTUS_PUSH(arena, double, rows);
  op->P = SALTUS_PUSH(arena, double, rows);
  op->diagonal = SALTUS_PUSH(arena, double, rows);
  saltusi_mixed_layout(&op->solver, op->dense_max, d->nc, op->dense_max, arena);
  op->AinvG = SALTUS_PUSH2(arena, double, op->dense_max, d->nv);
  op->W = SALTUS_PUSH2(arena, double, op->dense_max, op->dense_max);
  if (d->row_width > 0) {
    saltusi_band_layout(op, d, rows, arena);
  }
  if (op->has_friction) {
    bool sparse = d->row_width > 0;
    int units = sparse || d->nc < op->dense_max ? d->nc : op->dense_max;
    int most = sparse ? d->nc * each : op->dense_max;
    saltusi_friction_step_layout(&op->friction, units, each, most, arena);
    op->offset = SALTUS_PUSH(arena, int, d->nc + 1);
    op->slip = SALTUS_PUSH(arena, double, d->nc);
    op->friction.slip = op->slip;
  }
}

static void form(saltusi_operator* op, const saltusi_eval* eval, const saltusi_linear* linear) {
  const saltus_dims* d = &eval->sys.dims;
  op->A = linear;
  op->storage = SALTUSI_STORED_DENSE;
  for (int i = 0; i <= op->contacts && op->has_friction; i++) {
    op->offset[i] = op->first[i] - op->joints;
  }
  bool sparse = op->joints == 0 && !op->held && op->count >= SALTUSI_SPARSE_FROM &&
                op->rows.column != NULL && op->measured.G == NULL &&
                saltusi_linear_diagonal(eval, linear, op->inverse);
  if (sparse && op->has_friction && saltusi_blocks_form(op, d->nv)) {
    op->storage = SALTUSI_STORED_BLOCKS;
  } else if (sparse && !op->has_friction && saltusi_band_form(op, d->nv)) {
    op->storage = SALTUSI_STORED_BAND;
  }
  op->unsupported = op->storage == SALTUSI_STORED_DENSE && op->count > op->dense_max;
  if (op->storage == SALTUSI_STORED_DENSE && !op->unsupported) {
    saltusi_dense_form(op, eval);
  }
}

void saltusi_operator_form(saltusi_operator* op, const saltusi_eval* eval,
                           const saltusi_linear* linear) {
  op->held = false;
  form(op, eval, linear);
}

void saltusi_operator_form_held(saltusi_operator* op, const saltusi_eval* eval,
                                const saltusi_linear* linear) {
  op->held = true;
  form(op, eval, linear);
}
