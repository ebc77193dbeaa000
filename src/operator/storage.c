/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * storage.c - memory of the operator, and which storage W gets.
 */
#include "operator/operator_internal.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Initial capacities, which grow on demand: rows of a dense W, which takes some megabytes for any system, and the
 * largest number of fully coupled contacts that can be factored. */
enum { DENSE_FIRST = 300, DENSE_ENTRIES = 4000000, FACTORED_FIRST = 128 };

/* Largest sizes whose array indices fit an int (17 GB each). */
enum { DENSE_MOST = 46340, BLOCKS_MOST = 238609294 };

static int first_dense(const saltus_dims* dims, int rows) {
  int most = DENSE_ENTRIES / dims->nv;
  most = most > SALTUSI_SPARSE_FROM ? most : SALTUSI_SPARSE_FROM;
  most = most < DENSE_FIRST ? most : DENSE_FIRST;
  return rows < most ? rows : most;
}

static int smaller(size_t a, int b) {
  return a < (size_t)b ? (int)a : b;
}

/* Largest number of rows of a contact. */
static int rows_of_contacts(const saltus_system* sys, bool friction, bool laws) {
  int each = 1;
  for (int i = 0; friction && i < sys->law_count && sys->laws != NULL; i++) {
    int rows = laws ? saltusi_law_rows(&sys->laws[i]) : saltusi_friction_rows(&sys->laws[i]);
    each = rows > each ? rows : each;
  }
  return each;
}

/* Workspace of solvers of contacts with friction and of problems stored by blocks. */
static void friction_layout(saltusi_operator* op, const saltusi_eval* eval, int each, bool own_law,
                            saltus_arena* arena) {
  const saltus_dims* d = &eval->sys.dims;
  bool sparse = d->row_width > 0;
  if (!sparse && !op->has_friction) {
    return;
  }
  int units = sparse ? d->nj + d->nc : smaller((size_t)op->dense_max, d->nc);
  size_t full = (size_t)units * (size_t)units;
  size_t some = (size_t)SALTUSI_STEP_NEIGHBOURS * (size_t)units;
  size_t blocks = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_BLOCKS, some);
  blocks = blocks < full ? blocks : full;
  const saltusi_step_sizes sizes = {
      .units = units,
      .rows_each = each,
      .rows = sparse ? (d->nj + d->nc) * each : op->dense_max,
      .blocks = blocks,
      .values = blocks * (size_t)each * (size_t)each,
      .factored = smaller(saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_FILL, FACTORED_FIRST),
                          SALTUSI_FACTORED_MOST),
      .bodies = op->bodies_most};
  if (own_law) { /* W alone */
    op->friction.blocks_max = sizes.blocks;
    op->friction.values = SALTUS_PUSH(arena, double, sizes.values);
  } else {
    saltusi_friction_step_layout_sizes(&op->friction, &sizes, arena);
  }
  if (sparse) {
    op->block_start = SALTUS_PUSH(arena, int, units + 1);
    op->block_unit = SALTUS_PUSH(arena, int, blocks);
    op->block_place = SALTUS_PUSH(arena, int, blocks + 1);
  } else {
    op->offset = SALTUS_PUSH(arena, int, d->nc + 1);
  }
}

void saltusi_operator_layout(saltusi_operator* op, const saltusi_eval* eval,
                             const saltusi_demand* demand, saltus_arena* arena) {
  assert(op != NULL && eval != NULL && demand != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  const bool laws = demand->laws && saltusi_frictions_special(sys);
  int each = rows_of_contacts(sys, demand->friction, laws);
  int rows = d->nj + d->nc * each + (laws ? sys->dry_count : 0);
  *op = (saltusi_operator){.has_friction = each > 1, .laws = {.any = laws}};
  size_t dense =
      saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_ROWS, (size_t)first_dense(d, rows));
  op->dense_max = smaller(dense, rows);
  saltusi_rows_layout(&op->rows, d, rows + (each > 3 ? each : 3), demand->convective, arena);
  if (demand->two_sided) {
    saltusi_rows_layout(&op->measured, d, rows, false, arena);
  }
  op->first = SALTUS_PUSH(arena, int, d->nc + 1);
  op->key = SALTUS_PUSH(arena, int, d->nc);
  op->mu = SALTUS_PUSH(arena, double, d->nc);
  op->rhs = SALTUS_PUSH(arena, double, rows);
  op->soft = SALTUS_PUSH(arena, double, rows);
  op->P = SALTUS_PUSH(arena, double, rows);
  op->slip = SALTUS_PUSH(arena, double, op->has_friction ? d->nc : 0);
  op->diagonal = SALTUS_PUSH(arena, double, rows);
  if (!demand->own_law) {
    saltusi_mixed_layout(&op->solver, op->dense_max, d->nc, op->dense_max, arena);
  }
  op->solver.lcp.distributes = op->friction.distributes = demand->distributes;
  op->AinvG = SALTUS_PUSH2(arena, double, op->dense_max, d->nv);
  op->W = SALTUS_PUSH2(arena, double, op->dense_max, op->dense_max);
  op->product.from = SIZE_MAX;
  if (laws) {
    saltusi_friction_laws_layout(op, sys, op->dense_max, arena);
    return;
  }
  if (d->row_width > 0) {
    saltusi_groups_layout(&op->groups, d, demand->held ? rows : d->nj, arena);
    saltusi_tree_elimination_layout(op, eval, demand->held ? rows : d->nj, demand->all_loops,
                                    arena);
    saltusi_blocks_layout(op, d, each, arena);
    saltusi_operator_bodies_layout(op, eval, demand->own_law ? 0 : each, arena);
  }
  friction_layout(op, eval, each, demand->own_law, arena);
  if (demand->own_law) {
    op->whole_contact = SALTUS_PUSH(arena, int, d->nj + d->nc);
    op->whole_offset = SALTUS_PUSH(arena, int, d->nj + d->nc + 1);
  } else {
    saltusi_matrix_free_layout(op, eval, rows, arena);
  }
}

/* Whether W is symmetric whatever the forces. */
static bool is_symmetric(const saltusi_operator* op, const saltusi_eval* eval) {
  bool forces = op->A->fv != 0.0 || op->A->fq != 0.0;
  return !op->apart && (op->scalar || !forces || (eval->sys.traits & SALTUS_FREE_FORCE) != 0);
}

/* Whether rows of both configurations have equal columns. */
static bool touch_the_same(const saltusi_operator* op) {
  for (int r = 0; r < op->count; r++) {
    const saltusi_block_entries G = saltusi_row_entries(op, r);
    const saltusi_block_entries H = saltusi_measured_entries(op, r);
    if (G.count != H.count || memcmp(G.column, H.column, (size_t)G.count * sizeof(int)) != 0) {
      return false;
    }
  }
  return true;
}

/* Whether W is stored by blocks: where rows are sparse, and A is known to be so as well. */
static bool form_blocks(saltusi_operator* op, saltusi_eval* eval) {
  op->trees.refused = false;
  if (op->count < SALTUSI_SPARSE_FROM || op->rows.column == NULL ||
      (op->apart && !touch_the_same(op)) || !saltusi_groups_find(op, eval)) {
    return false;
  }
  if (op->apart && op->held && op->status == SALTUS_OK && !saltusi_tree_elimination_all(op)) {
    return false;
  }
  op->symmetric = is_symmetric(op, eval);
  op->broken = false;
  if (op->status == SALTUS_OK && op->groups.any) {
    saltus_status status = saltusi_eliminate_factor(op, eval);
    if (op->trees.refused && op->apart) {
      return false;
    }
    if (op->trees.refused) { /* repeat without sparse factors */
      op->trees.seen_rows = 0;
      status = saltusi_groups_find(op, eval) && op->groups.any ? saltusi_eliminate_factor(op, eval)
                                                               : SALTUS_OK;
      op->trees.seen_rows = 0;
    }
    op->broken = status == SALTUS_RETRY_NAN;
    op->status = op->broken ? SALTUS_OK : status;
    if (op->apart && op->held && status == SALTUS_OK && saltusi_eliminate_dependent(op)) {
      return false; /* the null spaces of R and H may differ */
    }
  }
  if (!op->broken && op->status == SALTUS_OK) {
    size_t blocks = saltusi_blocks_form(op, eval);
    if (op->storage == SALTUSI_STORED_PRODUCT) {
      return true;
    }
    if (blocks > BLOCKS_MOST) {
      op->status = SALTUS_ERR_MEMORY;
    } else if (blocks > op->friction.blocks_max) {
      op->status = saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_BLOCKS, blocks);
    }
  }
  return true;
}

static void form_dense(saltusi_operator* op, saltusi_eval* eval) {
  size_t blocks = (size_t)op->contacts * (size_t)op->contacts;
  size_t values = (size_t)op->count * (size_t)op->count;
  if (saltusi_matrix_free_serves(op, values, 8 * (size_t)eval->sys.dims.nv)) {
    op->storage = SALTUSI_STORED_PRODUCT;
    op->status = saltusi_matrix_free_form(op, eval);
  } else if (op->count > DENSE_MOST) {
    op->status = SALTUS_ERR_MEMORY;
  } else if (op->count > op->dense_max) {
    op->status = saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_ROWS, (size_t)op->count);
  } else if (op->has_friction && !op->held && blocks > op->friction.blocks_max) {
    op->status = saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_BLOCKS, blocks);
  } else {
    saltusi_dense_form(op, eval);
  }
}

static void form(saltusi_operator* op, saltusi_eval* eval, const saltusi_linear* linear) {
  op->A = linear;
  op->formed++;
  op->status = SALTUS_OK;
  op->full = false;
  op->bilateral = op->held ? op->count : op->joints;
  if (op->laws.any) {
    op->storage = SALTUSI_STORED_DENSE;
    if (op->count > DENSE_MOST) {
      op->status = SALTUS_ERR_MEMORY;
    } else if (op->count > op->dense_max) {
      op->status = saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_ROWS, (size_t)op->count);
    } else {
      saltusi_dense_form(op, eval);
    }
    return;
  }
  if (op->count < SALTUSI_SPARSE_FROM && op->count <= op->dense_max) {
    op->storage = SALTUSI_STORED_DENSE;
    op->trees.refused = false;
    saltusi_dense_form(op, eval); /* a minimum capacity for blocks */
    return;
  }
  op->storage = SALTUSI_STORED_BLOCKS;
  if (!form_blocks(op, eval)) {
    op->storage = SALTUSI_STORED_DENSE;
    form_dense(op, eval);
  } else if (op->storage == SALTUSI_STORED_PRODUCT) {
    op->status = saltusi_matrix_free_form(op, eval);
  }
}

saltus_status saltusi_operator_complete(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL && op->thin);
  op->full = true;
  op->trees.seen_rows = 0;
  const bool blocks = form_blocks(op, eval) && op->storage == SALTUSI_STORED_BLOCKS;
  return !blocks || op->broken ? SALTUS_RETRY_SMALLER : op->status;
}

void saltusi_operator_form(saltusi_operator* op, saltusi_eval* eval, const saltusi_linear* linear) {
  assert(op != NULL && eval != NULL && linear != NULL);
  op->held = false;
  form(op, eval, linear);
}

void saltusi_operator_form_active(saltusi_operator* op, saltusi_eval* eval,
                                  const saltusi_linear* linear) {
  assert(op != NULL && eval != NULL && linear != NULL);
  op->held = true;
  form(op, eval, linear);
}
