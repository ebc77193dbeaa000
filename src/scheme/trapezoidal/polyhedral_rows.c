/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral_rows.c - see polyhedral_rows.h.
 */
#include "scheme/trapezoidal/polyhedral_rows.h"

#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Initial capacity: unknowns of an island, 1 MB. */
enum { UNKNOWNS_FIRST = 96 };

void saltusi_polyhedral_rows_layout(saltusi_polyhedral_rows* law, const saltusi_eval* eval,
                                    int pairs, saltus_arena* arena) {
  assert(law != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  saltusi_polyhedral_size size = {.contacts = d->nc, .pairs = pairs};
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const saltus_contact_law* data = &sys->laws[i];
    int tangents = data->mu > 0.0 ? data->tangents : 0;
    size.tangents = tangents > size.tangents ? tangents : size.tangents;
  }
  size_t each = (size_t)saltusi_polyhedral_unknowns(&size);
  size_t all = (size_t)d->nj + (size_t)d->nc * each;
  size_t room = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_UNKNOWNS, UNKNOWNS_FIRST);
  law->unknowns_max = (int)(room < all ? room : all);
  size.most = law->unknowns_max;
  size.joints = d->nj < law->unknowns_max ? d->nj : law->unknowns_max;
  saltusi_polyhedral_layout(&law->island, &size, arena);
  const saltusi_demand demand = {.friction = size.tangents > 0, .two_sided = true, .own_law = true};
  saltusi_operator_layout(&law->op, eval, &demand, arena);
  law->rate = law->op.rhs;
  law->P = law->op.P;
  law->contacts = SALTUS_PUSH(arena, saltusi_polyhedral_contact, d->nc);
  law->mode = SALTUS_PUSH(arena, saltusi_mode, d->nc);
  law->island_mode = SALTUS_PUSH(arena, saltusi_mode, d->nc);
  law->z = SALTUS_PUSH2(arena, double, d->nc, each);
}

void saltusi_polyhedral_rows_start(saltusi_polyhedral_rows* law, const saltus_system* sys,
                                   bool keep_joints) {
  assert(law != NULL && sys != NULL);
  saltusi_operator_begin(&law->op, sys->dims.nj);
  law->joints = sys->dims.nj;
  law->rows = sys->dims.nj;
  law->count = 0;
  law->keep_joints = keep_joints;
}

void saltusi_polyhedral_rows_add(saltusi_polyhedral_rows* law, const saltus_system* sys, int key,
                                 int which) {
  assert(law != NULL && sys != NULL && key >= 0 && law->count < sys->dims.nc);
  const saltus_contact_law* data = &sys->laws[which];
  saltusi_polyhedral_contact* contact = &law->contacts[law->count];
  const saltusi_polyhedral_contact* last = contact - 1;
  int first = law->count > 0 ? last->first + saltusi_polyhedral_unknowns_of(last->directions) : 0;
  *contact = saltusi_polyhedral_make(data->tangents, data->mu, law->island.pairs);
  contact->key = key;
  contact->law = which;
  contact->row = law->rows;
  contact->first = first;
  law->count++;
  law->rows += 1 + contact->tangents;
  law->op.looked = key;
  saltusi_operator_take(&law->op, 1 + contact->tangents, contact->mu);
}

static void evaluate(const saltusi_polyhedral_rows* law, const saltus_system* sys,
                     const saltus_point* at, saltusi_row_block* block) {
  saltusi_rows_joints(sys, at, block);
  for (int i = 0; i < law->count; i++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    saltusi_rows_contact(sys, at, contact->key, 1 + contact->tangents, block, contact->row);
  }
}

const saltusi_row_block* saltusi_polyhedral_rows_look(saltusi_polyhedral_rows* law,
                                                      const saltus_system* sys,
                                                      const saltus_point* at) {
  assert(law != NULL && sys != NULL && at != NULL);
  evaluate(law, sys, at, &law->op.rows);
  return &law->op.rows;
}

void saltusi_polyhedral_rows_form(saltusi_polyhedral_rows* law, saltusi_eval* eval,
                                  const saltus_point* force_at, const saltus_point* velocity_at,
                                  const saltusi_linear* linear) {
  assert(law != NULL && eval != NULL && force_at != NULL && velocity_at != NULL && linear != NULL);
  evaluate(law, &eval->sys, force_at, &law->op.rows);
  law->op.apart = velocity_at != force_at;
  if (law->op.apart) {
    evaluate(law, &eval->sys, velocity_at, &law->op.measured);
  }
  saltusi_operator_form(&law->op, eval, linear);
}

/* Joints and contacts of an island as a problem; false when it exceeds the capacity. */
static bool take_island(saltusi_polyhedral_rows* law, const saltusi_law_island* from) {
  size_t unknowns = (size_t)from->joints;
  for (int u = from->joints; u < from->units; u++) {
    const saltusi_polyhedral_contact* contact = &law->contacts[from->contact[u]];
    unknowns += (size_t)saltusi_polyhedral_unknowns_of(contact->directions);
  }
  if (unknowns > (size_t)law->unknowns_max) {
    saltusi_capacity_lacks(law->room, SALTUSI_CAPACITY_UNKNOWNS, unknowns);
    return false;
  }
  saltusi_polyhedral* to = &law->island;
  saltusi_polyhedral_start(to, from->joints, law->keep_joints);
  to->share_loads = true;
  for (int u = from->joints; u < from->units; u++) {
    int i = from->contact[u];
    const saltusi_polyhedral_contact* contact = &law->contacts[i];
    saltusi_polyhedral_contact* taken = saltusi_polyhedral_add(to, contact->tangents, contact->mu);
    assert(taken != NULL);
    taken->slack = contact->slack;
    taken->sliding = contact->sliding;
    if (law->imposed != NULL) {
      law->island_mode[u - from->joints] = law->imposed[i];
    }
  }
  memcpy(to->W, from->W, (size_t)from->rows * (size_t)from->rows * sizeof(double));
  memcpy(to->rate, from->rhs, (size_t)from->rows * sizeof(double));
  return true;
}

/* Stores the solution of an island. */
static void keep_island(saltusi_polyhedral_rows* law, const saltusi_law_island* island) {
  const saltusi_polyhedral* from = &law->island;
  memcpy(island->P, from->P, (size_t)island->rows * sizeof(double));
  for (int u = island->joints; u < island->units; u++) {
    int i = island->contact[u];
    const saltusi_polyhedral_contact* solved = &from->contacts[u - island->joints];
    saltusi_polyhedral_contact* contact = &law->contacts[i];
    contact->coupling = solved->coupling;
    law->mode[i] = saltusi_polyhedral_mode(from, u - island->joints);
    memcpy(law->z + contact->first, from->z + solved->first,
           (size_t)saltusi_polyhedral_unknowns_of(contact->directions) * sizeof(double));
  }
}

static saltus_status solve_island(void* user, const saltusi_law_island* island) {
  saltusi_polyhedral_rows* law = user;
  if (!take_island(law, island)) {
    return SALTUS_RETRY_CAPACITY;
  }
  saltusi_polyhedral* problem = &law->island;
  saltus_status status = SALTUS_OK;
  if (law->imposed != NULL) {
    bool solved = saltusi_polyhedral_solve_in(problem, law->island_mode);
    status = solved ? SALTUS_OK : SALTUS_RETRY_SMALLER;
  } else if (law->stop) {
    status = saltusi_polyhedral_stop(problem) ? SALTUS_OK : SALTUS_RETRY_SMALLER;
  } else {
    status = saltusi_polyhedral_solve(problem);
    law->residual = fmax(law->residual, problem->residual);
  }
  if (status == SALTUS_OK) {
    keep_island(law, island);
  }
  return status;
}

static saltus_status solve(saltusi_polyhedral_rows* law, saltusi_eval* eval) {
  law->residual = 0.0;
  law->room = &eval->room;
  saltus_status status = saltusi_operator_solve_by(&law->op, eval, solve_island, law);
  eval->dependent |= law->island.held.rank < law->island.held.n;
  return status;
}

saltus_status saltusi_polyhedral_rows_solve(saltusi_polyhedral_rows* law, saltusi_eval* eval) {
  assert(law != NULL && eval != NULL);
  law->imposed = NULL;
  law->stop = false;
  return law->rows > 0 ? solve(law, eval) : SALTUS_OK;
}

saltus_status saltusi_polyhedral_rows_solve_in(saltusi_polyhedral_rows* law, saltusi_eval* eval,
                                               const saltusi_mode* modes) {
  assert(law != NULL && eval != NULL && modes != NULL);
  law->imposed = modes;
  law->stop = false;
  saltus_status status = solve(law, eval);
  law->imposed = NULL;
  eval->work.contact_solves--; /* a linear system */
  return status;
}

saltus_status saltusi_polyhedral_rows_stop(saltusi_polyhedral_rows* law, saltusi_eval* eval) {
  assert(law != NULL && eval != NULL);
  law->imposed = NULL;
  law->stop = true;
  saltus_status status = solve(law, eval);
  eval->work.contact_solves--;
  return status;
}
