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

/* Solvers of contacts with friction, and of everything that is stored by blocks. */
static void friction_layout(saltusi_operator* op, const saltus_dims* d, int each,
                            saltus_arena* arena) {
  if (d->row_width > 0) {
    saltusi_friction_step_layout(&op->friction, d->nj + d->nc, each, d->nj + d->nc * each, arena);
  } else if (op->has_friction) {
    int units = d->nc < op->dense_max ? d->nc : op->dense_max;
    saltusi_friction_step_layout(&op->friction, units, each, op->dense_max, arena);
    op->offset = SALTUS_PUSH(arena, int, d->nc + 1);
  }
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
  op->slip = SALTUS_PUSH(arena, double, op->has_friction ? d->nc : 0);
  op->diagonal = SALTUS_PUSH(arena, double, rows);
  saltusi_mixed_layout(&op->solver, op->dense_max, d->nc, op->dense_max, arena);
  op->AinvG = SALTUS_PUSH2(arena, double, op->dense_max, d->nv);
  op->W = SALTUS_PUSH2(arena, double, op->dense_max, op->dense_max);
  if (d->row_width > 0) {
    saltusi_groups_layout(&op->groups, d, demand->held ? rows : d->nj, arena);
    saltusi_blocks_layout(op, d, each, arena);
  }
  friction_layout(op, d, each, arena);
}

/* Whether a matrix A is symmetric whatever the forces are. */
static bool is_symmetric(const saltusi_operator* op, const saltusi_eval* eval) {
  bool forces = op->A->fv != 0.0 || op->A->fq != 0.0;
  return op->scalar || !forces || (eval->sys.traits & SALTUS_FREE_FORCE) != 0;
}

static bool form_blocks(saltusi_operator* op, saltusi_eval* eval) {
  if (op->count < SALTUSI_SPARSE_FROM || op->rows.column == NULL || op->measured.G != NULL ||
      !saltusi_groups_find(op, eval)) {
    return false;
  }
  op->symmetric = is_symmetric(op, eval);
  op->broken = op->groups.any && !saltusi_eliminate_factor(op, eval);
  return op->broken || saltusi_blocks_form(op, eval);
}

static void form(saltusi_operator* op, saltusi_eval* eval, const saltusi_linear* linear) {
  op->A = linear;
  op->bilateral = op->held ? op->count : op->joints;
  op->storage = form_blocks(op, eval) ? SALTUSI_STORED_BLOCKS : SALTUSI_STORED_DENSE;
  op->unsupported = op->storage == SALTUSI_STORED_DENSE && op->count > op->dense_max;
  if (op->storage == SALTUSI_STORED_DENSE && !op->unsupported) {
    saltusi_dense_form(op, eval);
  }
}

void saltusi_operator_form(saltusi_operator* op, saltusi_eval* eval, const saltusi_linear* linear) {
  op->held = false;
  form(op, eval, linear);
}

void saltusi_operator_form_held(saltusi_operator* op, saltusi_eval* eval,
                                const saltusi_linear* linear) {
  op->held = true;
  form(op, eval, linear);
}
