/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * evaluate.c - calls of a system, with fallbacks for missing callbacks.
 */
#include "system/evaluate.h"

#include "math/matrix.h"
#include "system/structure.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void* saltusi_scratch_layout(const saltus_dims* dims, saltus_arena* arena) {
  assert(dims != NULL && arena != NULL);
  void* scratch = saltus_arena_push(arena, dims->scratch, 1, SALTUS_ALIGNMENT);
  if (scratch != NULL) {
    memset(scratch, 0, dims->scratch);
  }
  return scratch;
}

void saltusi_eval_layout(saltusi_eval* eval, saltus_arena* arena) {
  assert(eval != NULL && arena != NULL);
  saltusi_eval_layout_over(eval, saltusi_scratch_layout(&eval->sys.dims, arena), arena);
}

void saltusi_eval_layout_over(saltusi_eval* eval, void* scratch, saltus_arena* arena) {
  assert(eval != NULL && arena != NULL);
  const saltus_dims* dims = &eval->sys.dims;
  eval->scratch = scratch;
  eval->q_shifted = SALTUS_PUSH(arena, double, dims->nq);
  eval->v_shifted = SALTUS_PUSH(arena, double, dims->nv);
  eval->F_minus = SALTUS_PUSH(arena, double, dims->nv);
  eval->F_plus = SALTUS_PUSH(arena, double, dims->nv);
  eval->failure = SALTUS_PUSH(arena, saltus_failure, 1);
  if (eval->failure != NULL) {
    eval->failure->status = SALTUS_OK;
  }
}

/* Step of a central difference: the cube root of the rounding unit balances truncation and rounding.
 * Rounded to a power of two so that x + step - x is exact. */
static double difference_step(double size) {
  int exponent;
  frexp(cbrt(DBL_EPSILON) * fmax(1.0, size), &exponent);
  return ldexp(1.0, exponent);
}

/* Column j of a Jacobian from F at +s and -s. */
static void put_column(const saltusi_eval* eval, int j, double step, double* jacobian) {
  int nv = eval->sys.dims.nv;
  for (int i = 0; i < nv; i++) {
    jacobian[i * nv + j] = (eval->F_plus[i] - eval->F_minus[i]) / (2.0 * step);
  }
}

void saltusi_force_q(saltusi_eval* eval, const saltus_point* at, double* F_q) {
  assert(eval != NULL && at != NULL);
  const saltus_system* sys = &eval->sys;
  if (sys->ops->force_q != NULL) {
    sys->ops->force_q(sys->self, at, F_q);
    return;
  }
  saltus_point shifted = *at;
  shifted.q = eval->q_shifted;
  double step = difference_step(saltusi_max_abs(sys->dims.nq, at->q));
  memset(eval->v_shifted, 0, (size_t)sys->dims.nv * sizeof(double));
  for (int j = 0; j < sys->dims.nv; j++) {
    eval->v_shifted[j] = 1.0;
    saltusi_advance(sys, at->q, eval->v_shifted, step, eval->q_shifted);
    saltusi_force(eval, &shifted, eval->F_plus);
    saltusi_advance(sys, at->q, eval->v_shifted, -step, eval->q_shifted);
    saltusi_force(eval, &shifted, eval->F_minus);
    eval->v_shifted[j] = 0.0;
    put_column(eval, j, step, F_q);
  }
}

void saltusi_force_v(saltusi_eval* eval, const saltus_point* at, double* F_v) {
  assert(eval != NULL && at != NULL);
  const saltus_system* sys = &eval->sys;
  if (sys->ops->force_v != NULL) {
    sys->ops->force_v(sys->self, at, F_v);
    return;
  }
  int nv = sys->dims.nv;
  saltus_point shifted = *at;
  shifted.v = eval->v_shifted;
  double step = difference_step(saltusi_max_abs(nv, at->v));
  memcpy(eval->v_shifted, at->v, (size_t)nv * sizeof(double));
  for (int j = 0; j < nv; j++) {
    eval->v_shifted[j] = at->v[j] + step;
    saltusi_force(eval, &shifted, eval->F_plus);
    eval->v_shifted[j] = at->v[j] - step;
    saltusi_force(eval, &shifted, eval->F_minus);
    eval->v_shifted[j] = at->v[j];
    put_column(eval, j, step, F_v);
  }
}

size_t saltusi_mass_workspace(const saltus_system* sys) {
  assert(sys != NULL);
  if (sys->ops->linear != NULL) {
    return 0;
  }
  const size_t nv = (size_t)sys->dims.nv;
  return sys->ops->blocks != NULL ? saltusi_structure_values(sys->structure) : nv * nv;
}

void saltusi_mass_times(const saltus_system* sys, const saltus_point* at, double* scratch,
                        const double* x, double* y) {
  assert(sys != NULL && at != NULL);
  if (sys->ops->linear != NULL) {
    sys->ops->linear->mass_times(sys->self, at, x, y);
  } else if (sys->ops->blocks != NULL) {
    sys->ops->blocks(sys->self, at, 1.0, 0.0, 0.0, scratch);
    saltusi_structure_times(sys->structure, scratch, x, y);
  } else {
    sys->ops->mass(sys->self, at, scratch);
    saltusi_matrix_times(sys->dims.nv, scratch, x, y);
  }
}

double saltusi_kinetic(const saltus_system* sys, const saltus_point* at, double* scratch_matrix,
                       double* scratch_vector) {
  assert(sys != NULL && at != NULL);
  if (sys->ops->kinetic != NULL) {
    return sys->ops->kinetic(sys->self, at);
  }
  saltusi_mass_times(sys, at, scratch_matrix, at->v, scratch_vector);
  return 0.5 * saltusi_dot(sys->dims.nv, at->v, scratch_vector);
}

double saltusi_potential(const saltus_system* sys, const saltus_point* at) {
  assert(sys != NULL && at != NULL);
  return sys->ops->potential != NULL ? sys->ops->potential(sys->self, at) : (double)NAN;
}

void saltusi_force_overflow(saltusi_eval* eval, const double* F) {
  assert(eval != NULL && F != NULL);
  for (int i = 0; i < eval->sys.dims.nv; i++) {
    eval->overflow = eval->overflow || (isfinite(F[i]) && isnan(0.0 * (1e158 * F[i])));
  }
}

void saltusi_contact_list_layout(saltusi_contact_list* list, const saltus_dims* dims,
                                 saltus_arena* arena) {
  assert(list != NULL && dims != NULL && arena != NULL);
  list->capacity = dims->nc;
  list->requested = INFINITY;
  list->gap = SALTUS_PUSH(arena, double, dims->nc);
  list->identity = SALTUS_PUSH(arena, uint64_t, dims->nc);
  list->key = SALTUS_PUSH(arena, int, dims->nc);
  list->law = SALTUS_PUSH(arena, int, dims->nc);
  for (int i = 0; list->key != NULL && i < dims->nc; i++) {
    list->identity[i] = (uint64_t)i;
    list->key[i] = i;
    list->law[i] = i;
  }
  list->said = (saltus_contact_list){
      .capacity = list->capacity, .gap = list->gap, .identity = list->identity, .law = list->law};
}

saltus_status saltusi_contacts_refuse(const saltus_system* sys, const saltus_point* at) {
  assert(sys != NULL && at != NULL);
  saltus_fail(at,
              "more or other contacts are listed at t = %.10g s than the %d of a fixed set; a "
              "time-varying set is declared by SALTUS_CHANGING_CONTACTS",
              at->t, sys->dims.nc);
  return SALTUS_ERR_SYSTEM;
}

saltus_status saltusi_contacts_listed(const saltus_system* sys, const saltus_point* at,
                                      saltusi_contact_list* list) {
  assert(sys != NULL && at != NULL && list != NULL);
  if (at->keys != NULL) {
    return saltusi_keys_list(at->keys, sys, at, list);
  }
  const bool any = sys->dims.nc > 0;
  saltus_contact_list* said = &list->said;
  said->count = 0;
  said->reach = any ? list->requested : INFINITY;
  saltus_status status = any ? sys->ops->contacts(sys->self, at, said) : SALTUS_OK;
  list->count = said->count;
  list->reach = said->reach;
  return status;
}

void saltusi_rows_layout(saltusi_row_block* block, const saltus_dims* dims, int rows,
                         bool convective, saltus_arena* arena) {
  assert(block != NULL && dims != NULL && arena != NULL && rows >= 0);
  bool sparse = dims->row_width > 0;
  block->stride = sparse ? dims->row_width : dims->nv;
  block->G = SALTUS_PUSH2(arena, double, rows, block->stride);
  block->column = sparse ? SALTUS_PUSH2(arena, int, rows, block->stride) : NULL;
  block->entries = SALTUS_PUSH(arena, int, rows);
  block->b = SALTUS_PUSH(arena, double, rows);
  block->c = convective ? SALTUS_PUSH(arena, double, rows) : NULL;
  for (int r = 0; !sparse && block->entries != NULL && r < rows; r++) {
    block->entries[r] = block->stride;
  }
}

/* A view of `count` rows, all zero. */
static inline saltus_rows open_rows(saltusi_row_block* block, int first, int count) {
  size_t start = (size_t)first * (size_t)block->stride;
  saltus_rows rows = {
      .count = count,
      .width = block->stride,
      .stride = block->stride,
      .column = block->column != NULL ? block->column + start : NULL,
      .G = block->G + start,
      .b = block->b + first,
      .c = block->c != NULL ? block->c + first : NULL,
  };
  const int entries = count * block->stride;
  if (entries == 1) { /* without calls */
    rows.G[0] = rows.b[0] = 0.0;
    if (rows.c != NULL) {
      rows.c[0] = 0.0;
    }
    return rows;
  }
  memset(rows.G, 0, (size_t)entries * sizeof(double));
  memset(rows.b, 0, (size_t)count * sizeof(double));
  if (rows.c != NULL) {
    memset(rows.c, 0, (size_t)count * sizeof(double));
  }
  return rows;
}

/* All rows of one joint or contact share the columns that the system wrote for the first. */
static void close_rows(saltusi_row_block* block, int first, const saltus_rows* rows) {
  if (block->column == NULL) {
    return; /* all entries are used, from the layout on */
  }
  for (int r = 0; r < rows->count; r++) {
    block->entries[first + r] = rows->width;
    if (r > 0) {
      memcpy(rows->column + (size_t)r * (size_t)block->stride, rows->column,
             (size_t)rows->width * sizeof(int));
    }
  }
}

void saltusi_rows_identity(const saltus_system* sys, const saltus_point* at, uint64_t identity,
                           int count, saltusi_row_block* block, int first) {
  assert(sys != NULL && at != NULL && block != NULL && count >= 0);
  saltus_rows rows = open_rows(block, first, count);
  sys->ops->contact(sys->self, at, identity, &rows);
  close_rows(block, first, &rows);
}

void saltusi_rows_scale(const saltus_contact_law* law, saltusi_row_block* block, int first) {
  assert(law != NULL && block != NULL);
  const double scale = saltusi_friction_scale(law);
  const int row = first + 2;
  double* G = block->G + (size_t)row * (size_t)block->stride;
  for (int k = 0; k < block->entries[row]; k++) {
    G[k] *= scale;
  }
  block->b[row] *= scale;
  if (block->c != NULL) {
    block->c[row] *= scale;
  }
}

void saltusi_rows_keyed(const saltus_system* sys, const saltus_point* at, int key, int count,
                        saltusi_row_block* block, int first, bool kept) {
  assert(sys != NULL && at != NULL && at->keys != NULL && block != NULL && key >= 0 && count >= 0);
  if (kept) {
    saltusi_table_use(&at->keys->table, key);
  }
  if (at->keys->table.law[key] >= 0 &&
      at->keys->table.law[key] != saltusi_measure_monitor_law(sys)) {
    saltusi_rows_identity(sys, at, at->keys->table.identity[key], count, block, first);
    if ((sys->traits & SALTUSI_SCALED_ROWS) != 0 && count > 2) {
      saltusi_rows_scale(&sys->laws[at->keys->table.law[key]], block, first);
    }
  } else { /* an unused key, or a separation monitor, which has no rows */
    saltus_rows rows = open_rows(block, first, count);
    rows.width = block->column != NULL ? 0 : rows.width;
    close_rows(block, first, &rows);
  }
}

void saltusi_rows_refuse(const saltus_system* sys, const saltus_point* at, int key,
                         const saltusi_row_block* block, int row) {
  assert(sys != NULL && at != NULL && block != NULL && row >= 0);
  saltus_failure* failure = at->failure;
  const double size = saltusi_row_sum(block, row);
  const char* name =
      at->keys == NULL && sys->law_count == sys->dims.nc ? sys->laws[key].name : NULL;
  if (failure == NULL || failure->status != SALTUS_OK) {
    return;
  }
  if (!isfinite(size)) { /* a shorter step may stay in the domain */
    failure->status = SALTUS_RETRY_NAN;
    return;
  }
  /* rows of formulas and of shapes may be zero: between driven bodies, or if a derivative vanishes */
  const bool own = sys->ops->formula != NULL || sys->ops->obstacle != NULL;
  if (!own && block->b[row] == 0.0) {
    saltus_fail(at,
                "the normal row of contact %d%s%s is zero at t = %.10g s: no velocity changes its "
                "gap, and no force could keep it",
                key, name != NULL ? " " : "", name != NULL ? name : "", at->t);
  }
}

void saltusi_rows_joint(const saltus_system* sys, const saltus_point* at, int joint,
                        saltusi_row_block* block, int first) {
  assert(sys != NULL && at != NULL && block != NULL && joint >= 0);
  saltus_rows rows = open_rows(block, first, saltusi_joint_rows(sys, joint));
  sys->ops->joint(sys->self, at, joint, &rows);
  close_rows(block, first, &rows);
}

void saltusi_rows_some_joints(const saltus_system* sys, const saltus_point* at,
                              saltusi_row_block* block) {
  assert(sys != NULL && at != NULL && block != NULL);
  const int count = saltusi_joint_count(sys);
  for (int joint = 0; joint < count; joint++) {
    saltusi_rows_joint(sys, at, joint, block, saltusi_joint_first(sys, joint));
  }
}

void saltusi_rows_dry(const saltus_system* sys, const saltus_point* at, int i,
                      saltusi_row_block* block, int first) {
  assert(sys != NULL && at != NULL && block != NULL && i >= 0 && i < sys->dry_count);
  saltus_rows rows = open_rows(block, first, 1);
  sys->ops->dry(sys->self, at, i, &rows);
  close_rows(block, first, &rows);
}

int saltusi_rows_joint_with(const saltus_system* sys, const saltus_point* at, int row,
                            saltusi_row_block* block) {
  assert(sys != NULL && at != NULL && block != NULL && row >= 0);
  const int joint = saltusi_joint_of(sys, row);
  saltusi_rows_joint(sys, at, joint, block, 0);
  return row - saltusi_joint_first(sys, joint);
}

int saltusi_joint_of(const saltus_system* sys, int row) {
  assert(row >= 0);
  if (sys->joint_first == NULL) {
    return row;
  }
  int low = 0, high = sys->joint_count; /* first[low] <= row < first[high] */
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    *(sys->joint_first[middle] <= row ? &low : &high) = middle;
  }
  return low;
}

int saltusi_joint_rows_most(const saltus_system* sys) {
  assert(sys != NULL);
  const int count = saltusi_joint_count(sys);
  int most = 0;
  for (int joint = 0; joint < count; joint++) {
    const int rows = saltusi_joint_rows(sys, joint);
    most = rows > most ? rows : most;
  }
  return most;
}
