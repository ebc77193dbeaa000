/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * islands.c - user-defined laws of schemes: the operator eliminates joints and passes the reduced problem to the law,
 * island by island, as dense matrices.
 */
#include "operator/operator_internal.h"

#include <assert.h>
#include <string.h>

/* The law of an island, and the contacts for which its workspace was prepared. */
static saltus_status ask(const saltusi_operator* op, const saltusi_eval* eval,
                         saltusi_island_law law, void* user, const saltusi_law_island* island) {
  const long long before = eval->work.contact_iterations;
  const saltus_status status = law(user, island);
  for (int u = 0; u < island->units && eval->effort.tell != NULL; u++) {
    saltusi_effort_tell(eval, island->contact[u] < 0 ? -1 : op->key[island->contact[u]],
                        eval->work.contact_iterations - before);
  }
  return status;
}

/* Treats all contacts as one island: W is dense. */
static saltus_status solve_whole(saltusi_operator* op, const saltusi_eval* eval,
                                 saltusi_island_law law, void* user) {
  saltusi_law_island island = {.units = op->joints + op->contacts,
                               .joints = op->joints,
                               .contact = op->whole_contact,
                               .offset = op->whole_offset,
                               .rows = op->count,
                               .W = op->W,
                               .rhs = op->rhs,
                               .P = op->P};
  for (int u = 0; u < island.units; u++) {
    int contact = u - op->joints;
    op->whole_contact[u] = contact < 0 ? -1 : contact;
    op->whole_offset[u] = contact < 0 ? u : op->first[contact];
  }
  op->whole_offset[island.units] = op->count;
  return island.rows > 0 ? ask(op, eval, law, user, &island) : SALTUS_OK;
}

static saltus_status solve_island(saltusi_operator* op, saltusi_eval* eval, int first, int last,
                                  saltusi_island_law law, void* user) {
  int at = op->offset[first];
  saltusi_law_island island = {.units = last - first,
                               .contact = op->unit_contact + first,
                               .offset = op->offset + first,
                               .rows = op->offset[last] - at,
                               .W = op->W,
                               .rhs = op->unit_rhs + at,
                               .P = op->unit_P + at};
  if (island.rows > op->dense_max) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_ROWS, (size_t)island.rows);
  }
  while (island.joints < island.units && island.contact[island.joints] < 0) {
    island.joints++;
  }
  saltusi_blocks_spread(op, first, last);
  return ask(op, eval, law, user, &island);
}

saltus_status saltusi_operator_solve_by(saltusi_operator* op, saltusi_eval* eval,
                                        saltusi_island_law law, void* user) {
  assert(op != NULL && eval != NULL && law != NULL && op->whole_offset != NULL);
  eval->work.contact_solves++;
  if (op->status != SALTUS_OK) {
    return op->status;
  }
  memset(op->P, 0, (size_t)op->count * sizeof(double));
  if (op->storage == SALTUSI_STORED_DENSE) {
    return solve_whole(op, eval, law, user);
  }
  if (op->broken) {
    return SALTUS_RETRY_NAN;
  }
  if (op->has_friction) {
    memset(op->slip, 0, (size_t)op->contacts * sizeof(double));
  }
  saltusi_sparse_gather(op, eval);
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < op->islands && status == SALTUS_OK; i++) {
    status = solve_island(op, eval, op->island_start[i], op->island_start[i + 1], law, user);
  }
  if (status == SALTUS_OK) {
    saltusi_sparse_scatter(op, eval);
  }
  return status;
}

int saltusi_operator_islands(saltusi_operator* op, int* island) {
  assert(op != NULL && (island != NULL || op->count == 0) && op->status == SALTUS_OK);
  saltusi_groups* g = &op->groups;
  if (op->storage == SALTUSI_STORED_DENSE) {
    memset(island, 0, (size_t)op->count * sizeof(int));
    return op->count > 0 ? 1 : 0;
  }
  int count = 0;
  for (int pass = 0; pass < 2; pass++) { /* marks are cleared, then set */
    for (int r = 0; r < op->count; r++) {
      const saltusi_block_entries row = saltusi_row_entries(op, r);
      if (row.count == 0) {
        island[r] = pass == 0 ? -1 : count++;
        continue;
      }
      int root = saltusi_root(g->parent, g->group[row.column[0]]);
      if (pass == 0) {
        g->mark[root] = -1;
      } else if (g->mark[root] < 0) {
        g->mark[root] = count++;
      }
      island[r] = pass == 0 ? -1 : g->mark[root];
    }
  }
  return count;
}
