/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_case.c - see friction_case.h.
 */
#include "solve/friction/friction_case.h"

#include "base/log.h"
#include "math/matrix.h"
#include "solve/friction/domains.h"

#include <assert.h>
#include <string.h>

static bool is_bilateral(const saltus_friction_problem* problem, int i) {
  return problem->bilateral != NULL && problem->bilateral[i] != 0;
}

/* Prepared data of a unit of d rows: the inverse of a joint; of joints in body space those of a contact. */
static int local_room(int d, bool bilateral) {
  return bilateral && d != 3 ? d * d : saltusi_one_contact_workspace(d);
}

size_t saltusi_friction_local_workspace(const saltus_friction_problem* problem) {
  assert(problem != NULL);
  size_t room = 0;
  for (int i = 0; i < problem->W.units; i++) {
    room += (size_t)local_room(problem->W.offset[i + 1] - problem->W.offset[i],
                               is_bilateral(problem, i));
  }
  return room;
}

int saltusi_friction_unit_max(const saltus_friction_problem* problem) {
  assert(problem != NULL);
  int unit_max = 0;
  for (int i = 0; i < problem->W.units; i++) {
    int d = problem->W.offset[i + 1] - problem->W.offset[i];
    unit_max = d > unit_max ? d : unit_max;
  }
  return unit_max;
}

void saltusi_friction_pattern_layout(saltusi_friction_pattern* pattern,
                                     const saltus_friction_problem* problem, saltus_arena* arena) {
  assert(pattern != NULL && problem != NULL && arena != NULL);
  int units = problem->W.units;
  int blocks = problem->W.start[units];
  pattern->offset = SALTUS_PUSH(arena, int, units + 1);
  pattern->start = SALTUS_PUSH(arena, int, units + 1);
  pattern->unit = SALTUS_PUSH(arena, int, blocks);
  pattern->place = SALTUS_PUSH(arena, int, blocks + 1);
  pattern->bilateral = SALTUS_PUSH(arena, unsigned char, units);
  pattern->diagonal = SALTUS_PUSH(arena, int, units);
  pattern->local_at = SALTUS_PUSH(arena, int, units + 1);
}

void saltusi_friction_case_layout(saltusi_friction_case* in, const saltus_friction_problem* problem,
                                  saltus_arena* arena) {
  assert(in != NULL && problem != NULL && arena != NULL);
  int units = problem->W.units;
  int unit_max = saltusi_friction_unit_max(problem);
  in->rho = SALTUS_PUSH(arena, double, units);
  in->local = SALTUS_PUSH(arena, double, saltusi_friction_local_workspace(problem));
  in->slip = SALTUS_PUSH(arena, double, units);
  in->scratch = SALTUS_PUSH2(arena, double, unit_max, unit_max + 2);
  in->pivot = SALTUS_PUSH(arena, int, unit_max);
}

/* A row of blocks: columns ascending and in range, rows of the unit allowed. */
static saltus_status check_row(const saltus_friction_problem* problem, int i, saltus_log log) {
  const saltus_block_matrix* W = &problem->W;
  int d = W->offset[i + 1] - W->offset[i];
  if (d < 1 || (d > 3 && !is_bilateral(problem, i))) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "friction problem: unit %d has %d rows, a contact has 1-3",
                i, d);
    return SALTUS_ERR_INPUT;
  }
  if (W->start[i + 1] < W->start[i]) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "friction problem: block row %d ends before it starts", i);
    return SALTUS_ERR_INPUT;
  }
  for (int e = W->start[i]; e < W->start[i + 1]; e++) {
    int j = W->unit[e];
    if (j < 0 || j >= W->units || (e > W->start[i] && j <= W->unit[e - 1])) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "friction problem: block row %d: column %d is out of range or not ascending", i,
                  j);
      return SALTUS_ERR_INPUT;
    }
    if (W->place[e + 1] - W->place[e] != d * (W->offset[j + 1] - W->offset[j])) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "friction problem: block (%d, %d) has %d values", i, j,
                  W->place[e + 1] - W->place[e]);
      return SALTUS_ERR_INPUT;
    }
  }
  return SALTUS_OK;
}

void saltusi_pattern_open(saltusi_friction_pattern* pattern, int units, const int* offset,
                          const unsigned char* bilateral) {
  assert(pattern != NULL && units >= 0 && offset != NULL);
  pattern->units = units;
  pattern->blocks = 0;
  pattern->local_at[0] = 0;
  pattern->place[0] = 0;
  for (int i = 0; i <= units; i++) {
    pattern->offset[i] = offset[i] - offset[0];
  }
  pattern->rows = pattern->offset[units];
  for (int i = 0; i < units; i++) {
    const bool equality = bilateral != NULL && bilateral[i] != 0;
    pattern->bilateral[i] = equality ? 1 : 0;
    pattern->diagonal[i] = -1;
    pattern->local_at[i + 1] =
        pattern->local_at[i] + local_room(saltusi_unit_rows(pattern, i), equality);
  }
}

void saltusi_pattern_put(saltusi_friction_pattern* pattern, int i, int j) {
  assert(pattern != NULL && i >= 0 && j >= 0);
  int at = pattern->blocks++;
  int entries = saltusi_unit_rows(pattern, i) * saltusi_unit_rows(pattern, j);
  pattern->unit[at] = j;
  pattern->place[at + 1] = pattern->place[at] + entries;
  if (i == j) {
    pattern->diagonal[i] = at;
  }
}

void saltusi_pattern_close(saltusi_friction_pattern* pattern) {
  assert(pattern != NULL);
  int common = pattern->units > 0 ? pattern->offset[1] : 0;
  pattern->start[pattern->units] = pattern->blocks;
  pattern->unit_max = 0;
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    common = common == d && pattern->bilateral[i] == 0 ? d : 0;
    pattern->unit_max = d > pattern->unit_max ? d : pattern->unit_max;
  }
  pattern->uniform = common > 1 ? common : 0;
  pattern->sweep_cost = (double)pattern->place[pattern->blocks] +
                        (double)SALTUSI_LOCAL_SOLVE_COST * (double)pattern->units;
}

saltus_status saltusi_friction_pattern_fill(saltusi_friction_pattern* pattern,
                                            const saltus_friction_problem* problem,
                                            saltus_log log) {
  assert(pattern != NULL && problem != NULL);
  const saltus_block_matrix* W = &problem->W;
  for (int i = 0; i < W->units; i++) {
    saltus_status status = check_row(problem, i, log);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  saltusi_pattern_open(pattern, W->units, W->offset, problem->bilateral);
  for (int i = 0; i < W->units; i++) {
    pattern->start[i] = pattern->blocks;
    for (int e = W->start[i]; e < W->start[i + 1]; e++) {
      saltusi_pattern_put(pattern, i, W->unit[e]);
    }
  }
  saltusi_pattern_close(pattern);
  return SALTUS_OK;
}

bool saltusi_friction_pattern_same(const saltusi_friction_pattern* pattern,
                                   const saltus_friction_problem* problem) {
  assert(pattern != NULL && problem != NULL);
  const saltus_block_matrix* W = &problem->W;
  int units = W->units;
  if (units != pattern->units || W->start[units] != pattern->blocks) {
    return false;
  }
  size_t ends = (size_t)(units + 1) * sizeof(int);
  if (memcmp(pattern->offset, W->offset, ends) != 0 ||
      memcmp(pattern->start, W->start, ends) != 0 ||
      memcmp(pattern->unit, W->unit, (size_t)pattern->blocks * sizeof(int)) != 0 ||
      memcmp(pattern->place, W->place, (size_t)(pattern->blocks + 1) * sizeof(int)) != 0) {
    return false;
  }
  for (int i = 0; i < units; i++) {
    if ((pattern->bilateral[i] != 0) != is_bilateral(problem, i)) {
      return false;
    }
  }
  return true;
}

/* A pivot of a bilateral block below this fraction of its column is rounding: 500 eps, the error for some ten rows. */
static const double singular_pivot = 1e-13;
/* Compliance added to redundant rows, relative to the mean diagonal: far above that rounding, and 1e-9 of the inverse
 * mass at the joint; Gauss-Seidel corrects the difference. */
static const double redundant_repair = 1e-9;

/* The inverse of a bilateral block; redundant rows get a compliance far below all others. */
static void invert_bilateral(saltusi_friction_case* in, int d, const double* block,
                             double* inverse) {
  double* copy = in->scratch;
  double* column = in->scratch + (size_t)d * (size_t)d;
  double mean = saltusi_mean_diagonal(d, block);
  double repair = 0.0;
  for (int attempt = 0; attempt < 3; attempt++) {
    for (int k = 0; k < d * d; k++) {
      copy[k] = block != NULL ? block[k] : 0.0;
    }
    for (int k = 0; k < d; k++) {
      copy[k * (d + 1)] += repair;
    }
    if (saltusi_lu_factor(d, copy, in->pivot, singular_pivot)) {
      break;
    }
    /* a block without positive diagonal: its own size, or 1 if it is zero */
    double all = fabs(mean) > 0.0 ? fabs(mean) : 1.0;
    repair = attempt == 0 && mean > 0.0 ? redundant_repair * mean : all;
  }
  for (int c = 0; c < d; c++) {
    memset(column, 0, (size_t)d * sizeof(double));
    column[c] = 1.0;
    saltusi_lu_solve(d, copy, in->pivot, column);
    for (int k = 0; k < d; k++) {
      inverse[k * d + c] = column[k];
    }
  }
}

void saltusi_friction_case_prepare(saltusi_friction_case* in) {
  assert(in != NULL);
  const saltusi_friction_pattern* pattern = in->pattern;
  in->velocity_unit = saltusi_velocity_unit(pattern->rows, in->q);
  double largest = 0.0;
  for (int i = 0; i < pattern->units; i++) {
    int d = saltusi_unit_rows(pattern, i);
    int e = pattern->diagonal[i];
    const double* block = e >= 0 ? in->values + pattern->place[e] : NULL;
    double mean = saltusi_mean_diagonal(d, block);
    largest = fmax(largest, mean);
    in->rho[i] = mean;
    in->slip[i] = 0.0;
    double* local = in->local + pattern->local_at[i];
    if (pattern->bilateral[i] != 0 && in->bodies == NULL) {
      invert_bilateral(in, d, block, local);
    } else {
      saltusi_one_contact_prepare(d, block, local);
    }
  }
  for (int i = 0; i < pattern->units; i++) {
    in->rho[i] = saltusi_unit_rho(in->rho[i], largest);
  }
}

void saltusi_friction_row(const saltusi_friction_case* in, int i, const double* r, double* u) {
  assert(in != NULL && i >= 0 && i < in->pattern->units);
  const saltusi_friction_pattern* pattern = in->pattern;
  int d = saltusi_unit_rows(pattern, i);
  for (int k = 0; k < d; k++) {
    u[k] = in->q[pattern->offset[i] + k];
  }
  for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
    int columns = saltusi_unit_rows(pattern, pattern->unit[e]);
    const double* block = in->values + pattern->place[e];
    const double* rj = r + pattern->offset[pattern->unit[e]];
    for (int k = 0; k < d; k++) {
      u[k] += saltusi_dot(columns, block + k * columns, rj);
    }
  }
}

/* A product with W, shared by the thread pool. */
typedef struct product {
  const saltusi_friction_case* in;
  const double* r;
  double* u;
} product;

static void velocity_part(void* context, int part) {
  const product* p = context;
  const saltusi_friction_case* in = p->in;
  int from = saltusi_part_start(in, part);
  int to = saltusi_part_start(in, part + 1);
  if (in->pattern->uniform == 3) {
    for (int i = from; i < to; i++) {
      saltusi_friction_uniform_row(in, i, 3, p->r, p->u + i * 3);
    }
  } else if (in->pattern->uniform == 2) {
    for (int i = from; i < to; i++) {
      saltusi_friction_uniform_row(in, i, 2, p->r, p->u + i * 2);
    }
  } else {
    for (int i = from; i < to; i++) {
      saltusi_friction_row(in, i, p->r, p->u + in->pattern->offset[i]);
    }
  }
}

/* u = (G^T A^-1 G + S) r + q; afterwards the velocities of the bodies are those of r. */
static void velocity_by_bodies(const saltusi_friction_case* in, const double* r, double* u) {
  const saltusi_bodies* b = in->bodies;
  saltusi_bodies_move(b, r, b->v);
  memcpy(u, in->q, (size_t)in->pattern->rows * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    saltusi_bodies_add(b, i, b->v, u + 3 * (size_t)i);
    saltusi_bodies_add_compliance(b, i, r + 3 * (size_t)i, u + 3 * (size_t)i);
  }
}

void saltusi_friction_velocity(const saltusi_friction_case* in, const double* r, double* u) {
  assert(in != NULL);
  if (in->bodies != NULL) {
    velocity_by_bodies(in, r, u);
    return;
  }
  product p = {in, r, u};
  saltusi_run_parts(in, velocity_part, &p);
}

/* |F_i / rho_i|^2 */
static inline double unit_miss2(const saltusi_friction_case* in, int i, const double* r,
                                const double* u) {
  int at = in->pattern->offset[i];
  int d = saltusi_unit_rows(in->pattern, i);
  if (in->pattern->bilateral[i] != 0) {
    return saltusi_dot(d, u + at, u + at);
  }
  if (d == 3) {
    return saltusi_natural_map2(3, in->mu[i], in->rho[i], r + at, u + at);
  }
  if (d == 2) {
    return saltusi_natural_map2(2, in->mu[i], in->rho[i], r + at, u + at);
  }
  return saltusi_natural_map2(1, 0.0, in->rho[i], r + at, u + at);
}

static void miss_part(void* context, int part) {
  const product* p = context;
  velocity_part(context, part);
  for (int i = saltusi_part_start(p->in, part); i < saltusi_part_start(p->in, part + 1); i++) {
    p->in->domains->miss[i] = unit_miss2(p->in, i, p->r, p->u);
  }
}

/* Summed in the order of the problem, with domains and without, so that the sum is bitwise identical. */
saltus_residual saltusi_friction_case_residual(const saltusi_friction_case* in, const double* r,
                                               double* u) {
  assert(in != NULL);
  product p = {in, r, u};
  bool shared = in->bodies == NULL && saltusi_parts(in) > 1;
  if (in->bodies != NULL) {
    velocity_by_bodies(in, r, u);
  } else {
    saltusi_run_parts(in, shared ? miss_part : velocity_part, &p);
  }
  saltusi_residual_sum sum = {0};
  for (int i = 0; i < in->pattern->units; i++) {
    saltusi_residual_add(&sum, shared ? in->domains->miss[i] : unit_miss2(in, i, r, u), in->rho[i]);
  }
  return (saltus_residual){.normalised = sqrt(sum.sum2) / in->velocity_unit,
                           .velocity = sum.velocity,
                           .impulse = sum.impulse};
}

double saltusi_friction_case_idle(const saltusi_friction_case* in) {
  assert(in != NULL);
  static const double none[3] = {0.0};
  double sum = 0.0;
  for (int i = 0; i < in->pattern->units; i++) {
    sum += saltusi_body_map2(in->mu[i], in->rho[i], none, in->q + 3 * (size_t)i);
  }
  return sqrt(sum) / in->velocity_unit;
}

void saltusi_friction_project_units(const saltusi_friction_case* in, int from, int to, double* r) {
  assert(in != NULL && 0 <= from && from <= to && to <= in->pattern->units);
  const saltusi_friction_pattern* pattern = in->pattern;
  for (int i = from; i < to; i++) {
    int d = saltusi_contact_rows(pattern, i);
    if (d > 0) {
      saltusi_cone_project(d, d > 1 ? in->mu[i] : 0.0, r + pattern->offset[i]);
    }
  }
}

void saltusi_friction_project(const saltusi_friction_case* in, double* r) {
  assert(in != NULL);
  saltusi_friction_project_units(in, 0, in->pattern->units, r);
}
