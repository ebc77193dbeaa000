/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * check.c - compares every analytic derivative of a system with differences.
 *
 *   f'(0) ~ (-f(-3s) + 9 f(-2s) - 45 f(-s) + 45 f(s) - 9 f(2s) + f(3s)) / 60 s        O(s^6)
 *
 * at three step lengths; the smallest of the three differences counts, since the best step depends
 * on the length scale of the system while a wrong derivative is wrong at every step.
 */
#include "saltus/system.h"

#include "base/log.h"
#include "math/matrix.h"
#include "system/check_enclosure.h"
#include "system/check_hessian.h"
#include "system/contact_keys.h"
#include "system/displacement.h"
#include "system/evaluate.h"
#include "system/power.h"
#include "system/structure.h"

#include <assert.h>
#include <string.h>

enum { NODES = 6, STEPS = 3 };
static const double node[NODES] = {-3, -2, -1, 1, 2, 3};
static const double weight[NODES] = {-1, 9, -45, 45, -9, 1};
static const double lengths[STEPS] = {0x1p-7, 0x1p-10, 0x1p-14}; /* exact in sums with positions */

typedef struct check_state {
  const saltus_system* sys;
  saltus_point at;
  double* q;          /* [nq] shifted position */
  double* q_other;    /* [nq] */
  double* v;          /* [nv] shifted velocity or direction */
  double* value;      /* [size] of a function */
  double* slope;      /* [size] by differences */
  double* exact;      /* [nv x nv] analytic */
  double* matrix;     /* [nv x nv] */
  double* vector;     /* [nv] */
  int size;           /* largest length of a function */
  double* slopes;     /* [STEPS x constraints] of all gaps or joints */
  int* keys;          /* [nc] keys of the contacts at the point */
  int contacts;       /* number of contacts at the point */
  int* row_count;     /* [nc] by key */
  int direction;      /* column under test; -1: along v */
  bool joints;        /* joints are under test, not contacts */
  int subject;        /* contact or joint under test */
  double* convective; /* [rows of a joint or contact] */
  saltusi_contact_list list;
  saltusi_contact_keys contact_keys; /* of a changing set */
  saltusi_step_capacity room;
  saltusi_row_block rows;
  saltusi_power_workspace power;
  double* values; /* [2 x values of the structure] */
  saltusi_displacement_map ways;
} check_state;

/* A function of the distance s from the point under test. */
typedef void (*check_path)(check_state* c, double s, double* value);

/* Difference between the slope of f at 0 and the exact values, relative to 1 + their size. */
static double compare(check_state* c, check_path f, int count, const double* exact) {
  double best = INFINITY;
  for (int k = 0; k < STEPS; k++) {
    memset(c->slope, 0, (size_t)count * sizeof(double));
    for (int i = 0; i < NODES; i++) {
      f(c, node[i] * lengths[k], c->value);
      saltusi_add_scaled(count, weight[i] / (60.0 * lengths[k]), c->value, c->slope);
    }
    saltusi_add_scaled(count, -1.0, exact, c->slope);
    best = fmin(best, saltusi_max_abs(count, c->slope));
  }
  return best / (1.0 + saltusi_max_abs(count, exact));
}

/* The point moved by s along the direction under test. */
static saltus_point moved(check_state* c, double s) {
  int nv = c->sys->dims.nv;
  saltus_point at = c->at;
  if (c->direction < 0) {
    saltusi_advance(c->sys, c->at.q, c->at.v, s, c->q);
  } else {
    memset(c->v, 0, (size_t)nv * sizeof(double));
    c->v[c->direction] = 1.0;
    saltusi_advance(c->sys, c->at.q, c->v, s, c->q);
  }
  at.q = c->q;
  return at;
}

static void force_along_q(check_state* c, double s, double* value) {
  saltus_point at = moved(c, s);
  c->sys->ops->force(c->sys->self, &at, value);
}

static void force_along_v(check_state* c, double s, double* value) {
  saltus_point at = c->at;
  memcpy(c->v, c->at.v, (size_t)c->sys->dims.nv * sizeof(double));
  c->v[c->direction] += s;
  at.v = c->v;
  c->sys->ops->force(c->sys->self, &at, value);
}

static void momentum_along_q(check_state* c, double s, double* value) {
  saltus_point at = moved(c, s);
  saltusi_mass_times(c->sys, &at, c->matrix, c->at.v, value);
}

static void kinetic_along_q(check_state* c, double s, double* value) {
  saltus_point at = moved(c, s);
  value[0] = saltusi_kinetic(c->sys, &at, c->matrix, c->vector);
}

static void position_along_v(check_state* c, double s, double* value) {
  saltusi_advance(c->sys, c->at.q, c->at.v, s, value);
}

/* All gaps by key, or all joints; NaN where a contact is not listed. */
static void constraints_at(check_state* c, const saltus_point* at, double* value) {
  const saltus_system* sys = c->sys;
  if (c->joints) {
    sys->ops->joints(sys->self, at, value);
    return;
  }
  for (int i = 0; i < sys->dims.nc; i++) {
    value[i] = NAN;
  }
  if (at->keys != NULL && sys->ops->gaps != NULL) { /* also for contacts that are not listed */
    (void)saltusi_keys_gaps(at->keys, sys, at, c->keys, c->contacts, value);
    return;
  }
  if (saltusi_contacts(sys, at, &c->list) == SALTUS_OK) {
    for (int i = 0; i < c->list.count; i++) {
      value[c->list.key[i]] = c->list.gap[i];
    }
  }
}

static void constraints_along_q(check_state* c, double s, double* value) {
  saltus_point at = moved(c, s);
  constraints_at(c, &at, value);
}

static void constraints_along_t(check_state* c, double s, double* value) {
  saltus_point at = c->at;
  at.t += s;
  constraints_at(c, &at, value);
}

static void rows_at(check_state* c, const saltus_point* at) {
  if (c->joints) {
    saltusi_rows_joint(c->sys, at, c->subject, &c->rows, 0);
  } else {
    saltusi_rows_contact(c->sys, at, c->subject, c->row_count[c->subject], &c->rows, 0);
  }
}

/* Number of rows of the subject, and how many of them are derivatives of gaps or joints. */
static int rows_of(const check_state* c) {
  return c->joints ? saltusi_joint_rows(c->sys, c->subject) : c->row_count[c->subject];
}
static int normals_of(const check_state* c) {
  if (!c->joints) {
    return 1;
  }
  const bool* rate = c->sys->rate_rows; /* a joint has rows of one kind */
  return rate != NULL && rate[saltusi_joint_first(c->sys, c->subject)]
             ? 0
             : saltusi_joint_rows(c->sys, c->subject);
}

/* U = G^T v + b on the motion q' = N v with fixed v */
static void velocity_along_motion(check_state* c, double s, double* value) {
  saltus_point at = moved(c, s);
  at.t += s;
  const int count = rows_of(c);
  rows_at(c, &at);
  for (int r = 0; r < count; r++) {
    value[r] = saltusi_row_dot(&c->rows, r, c->at.v) + c->rows.b[r];
  }
}

/* Columns of an analytic Jacobian against the slopes of f in each direction. */
static double check_columns(check_state* c, check_path f, const double* jacobian) {
  int nv = c->sys->dims.nv;
  double worst = 0.0;
  for (int j = 0; j < nv; j++) {
    for (int i = 0; i < nv; i++) {
      c->vector[i] = jacobian[i * nv + j];
    }
    memcpy(c->slope + nv, c->vector, (size_t)nv * sizeof(double));
    c->direction = j;
    worst = fmax(worst, compare(c, f, nv, c->slope + nv));
  }
  return worst;
}

static void check_dynamics(check_state* c, saltus_system_check_result* result) {
  const saltus_system_ops* ops = c->sys->ops;
  int nv = c->sys->dims.nv;
  if (ops->force_q != NULL) {
    ops->force_q(c->sys->self, &c->at, c->exact);
    result->force_q = check_columns(c, force_along_q, c->exact);
  }
  if (ops->force_v != NULL) {
    ops->force_v(c->sys->self, &c->at, c->exact);
    result->force_v = check_columns(c, force_along_v, c->exact);
  }
  if (ops->mass_q != NULL) {
    ops->mass_q(c->sys->self, &c->at, c->exact);
    result->mass_q = check_columns(c, momentum_along_q, c->exact);
  }
  if (ops->kinetic_gradient != NULL) {
    ops->kinetic_gradient(c->sys->self, &c->at, c->exact);
    result->kinetic_gradient = 0.0;
    for (int j = 0; j < nv; j++) {
      c->direction = j;
      result->kinetic_gradient =
          fmax(result->kinetic_gradient, compare(c, kinetic_along_q, 1, c->exact + j));
    }
  }
  if (ops->rate != NULL) {
    ops->rate(c->sys->self, c->at.q, c->at.v, c->slope + c->size);
    result->rate = compare(c, position_along_v, c->sys->dims.nq, c->slope + c->size);
  }
  if (ops->mass != NULL) {
    ops->mass(c->sys->self, &c->at, c->matrix);
    result->mass_symmetry = 0.0;
    for (int i = 0; i < nv; i++) {
      for (int j = 0; j < i; j++) {
        result->mass_symmetry =
            fmax(result->mass_symmetry, fabs(c->matrix[i * nv + j] - c->matrix[j * nv + i]));
      }
    }
    result->mass_symmetry /= 1.0 + saltusi_max_abs(nv * nv, c->matrix);
  }
}

static double larger(double a, double b) {
  return isnan(a) ? b : fmax(a, b);
}

/* Change of q by normalise, relative to 1 + its size. */
static double normalise_error(check_state* c, const double* q) {
  const int nq = c->sys->dims.nq;
  memcpy(c->q_other, q, (size_t)nq * sizeof(double));
  saltusi_normalise(c->sys, c->q_other);
  saltusi_add_scaled(nq, -1.0, q, c->q_other);
  return saltusi_max_abs(nq, c->q_other) / (1.0 + saltusi_max_abs(nq, q));
}

/* Momenta over the displacement from start to c->q, which is `way` times v; any momentum serves. */
static double turn_error(check_state* c, const double* start, double way) {
  const int nv = c->sys->dims.nv;
  double* said = c->exact;
  for (int i = 0; i < nv; i++) {
    c->v[i] = way * c->at.v[i];
    c->vector[i] = 1.0 + 0.3 * (i % 5);
  }
  const saltusi_displacement between = {.q0 = start, .q1 = c->q, .d = c->v};
  saltusi_displacement_find_own(&c->ways, c->sys, start);
  c->sys->ops->turn_momentum(c->sys->self, c->v, c->vector, said);
  saltusi_displacement_momentum_by_differences(&c->ways, c->sys, &between, c->vector, c->matrix);
  saltusi_add_scaled(nv, -1.0, said, c->matrix);
  return saltusi_max_abs(nv, c->matrix);
}

/* Difference of two positions with a given displacement, forward and backward; normalise on positions that are
 * normalised: by itself, by advance, and after a perturbation. */
static void check_maps(check_state* c, saltus_system_check_result* result) {
  const saltus_system_ops* ops = c->sys->ops;
  const int nq = c->sys->dims.nq;
  const int nv = c->sys->dims.nv;
  const double way = 0.1 / (1.0 + saltusi_max_abs(nv, c->at.v)); /* angles far below pi */
  double* start = c->slope;
  memcpy(start, c->at.q, (size_t)nq * sizeof(double));
  saltusi_normalise(c->sys, start);
  saltusi_advance(c->sys, start, c->at.v, way, c->q);
  for (int side = 0; side < 2 && ops->difference != NULL; side++) {
    ops->difference(c->sys->self, side == 0 ? start : c->q, side == 0 ? c->q : start, c->vector);
    saltusi_add_scaled(nv, side == 0 ? -way : way, c->at.v, c->vector);
    result->difference = larger(result->difference, saltusi_max_abs(nv, c->vector) / way);
  }
  if (ops->turn_momentum != NULL && result->difference < 1e-6) { /* verified by its differences */
    result->turn_momentum = turn_error(c, start, way);
  }
  if (ops->normalise != NULL) {
    result->normalise = fmax(normalise_error(c, start), normalise_error(c, c->q));
    for (int i = 0; i < nq; i++) {
      c->q[i] += 1e-3 * (i % 2 == 0 ? 1.0 : -0.7);
    }
    saltusi_normalise(c->sys, c->q);
    result->normalise = fmax(result->normalise, normalise_error(c, c->q));
  }
}

/* The slopes of all constraints at once, by step length. */
static void find_slopes(check_state* c, check_path f, int count) {
  for (int k = 0; k < STEPS; k++) {
    double* slope = c->slopes + (size_t)k * (size_t)count;
    memset(slope, 0, (size_t)count * sizeof(double));
    for (int i = 0; i < NODES; i++) {
      f(c, node[i] * lengths[k], c->value);
      saltusi_add_scaled(count, weight[i] / (60.0 * lengths[k]), c->value, slope);
    }
  }
}

/* Difference between the slope of row r of the subject and the exact one, as in `compare`. */
static double slope_error(const check_state* c, int count, int r, double exact) {
  const int place = c->joints ? saltusi_joint_first(c->sys, c->subject) + r : c->subject;
  double best = INFINITY;
  for (int k = 0; k < STEPS; k++) {
    best = fmin(best, fabs(c->slopes[(size_t)k * (size_t)count + (size_t)place] - exact));
  }
  return best / (1.0 + fabs(exact));
}

/* Rows of the contacts that are listed, or of all joints. All constraints are evaluated together, so a direction costs
 * one evaluation instead of one per constraint. */
static void check_rows(check_state* c, int count, const int* keys,
                       saltus_system_check_result* result) {
  const int all = c->joints ? c->sys->dims.nj : c->sys->dims.nc;
  for (int j = -1; j < c->sys->dims.nv; j++) {
    c->direction = j;
    find_slopes(c, j < 0 ? constraints_along_t : constraints_along_q, all);
    for (int i = 0; i < count; i++) {
      c->subject = keys != NULL ? keys[i] : i;
      rows_at(c, &c->at);
      for (int r = 0; r < normals_of(c); r++) {
        if (j < 0) {
          result->normal_b = larger(result->normal_b, slope_error(c, all, r, c->rows.b[r]));
        } else {
          const double entry = saltusi_row_entry(&c->rows, r, j);
          result->normal_G = larger(result->normal_G, slope_error(c, all, r, entry));
        }
      }
    }
  }
  c->direction = -1;
  for (int i = 0; i < count; i++) {
    c->subject = keys != NULL ? keys[i] : i;
    rows_at(c, &c->at);
    const int rows = rows_of(c);
    memcpy(c->convective, c->rows.c, (size_t)rows * sizeof(double));
    result->convective_c =
        larger(result->convective_c, compare(c, velocity_along_motion, rows, c->convective));
  }
}

static saltus_status check_constraints(check_state* c, saltus_system_check_result* result) {
  const saltus_system* sys = c->sys;
  saltus_status status = saltusi_contacts(sys, &c->at, &c->list);
  if (status != SALTUS_OK) {
    return status;
  }
  const int count = c->list.count;
  c->contacts = count;
  for (int i = 0; i < count; i++) {
    c->keys[i] = c->list.key[i];
    c->row_count[c->list.key[i]] = 1 + sys->laws[c->list.law[i]].tangents;
  }
  if (count > 0) {
    check_rows(c, count, c->keys, result);
  }
  c->joints = true;
  if (sys->dims.nj > 0) {
    check_rows(c, saltusi_joint_count(sys), NULL, result);
  }
  return SALTUS_OK;
}

/* Blocks against dense matrices: M alone, F_v alone and so on; the dense ones must be zero elsewhere. */
static double compare_blocks(check_state* c,
                             void (*dense)(const void*, const saltus_point*, double*),
                             const double coefficients[3]) {
  const saltus_structure* s = c->sys->structure;
  const size_t count = saltusi_structure_values(s), nv = (size_t)c->sys->dims.nv;
  double* said = c->values + count;
  dense(c->sys->self, &c->at, c->exact);
  double size = 1.0 + saltusi_max_abs((int)(nv * nv), c->exact);
  saltusi_structure_gather(s, c->exact, c->values);
  double worst = 0.0;
  if (c->sys->ops->blocks != NULL) {
    c->sys->ops->blocks(c->sys->self, &c->at, coefficients[0], coefficients[1], coefficients[2],
                        said);
    for (size_t k = 0; k < count; k++) {
      worst = saltusi_larger(worst, fabs(said[k] - c->values[k]));
    }
  }
  saltusi_structure_spread(s, c->values, c->matrix);
  saltusi_add_scaled((int)(nv * nv), -1.0, c->matrix, c->exact);
  return saltusi_larger(worst, saltusi_max_abs((int)(nv * nv), c->exact)) / size;
}

/* Forces of single velocities against those of all. */
static double compare_some(check_state* c) {
  const saltus_system* sys = c->sys;
  double worst = 0.0;
  sys->ops->force(sys->self, &c->at, c->vector);
  for (int i = 0; i < sys->dims.nv; i++) {
    double F = NAN;
    sys->ops->force_some(sys->self, &c->at, 1, &i, &F);
    worst = saltusi_larger(worst, fabs(F - c->vector[i]));
  }
  return worst / (1.0 + saltusi_max_abs(sys->dims.nv, c->vector));
}

static void check_blocks(check_state* c, saltus_system_check_result* result) {
  const saltus_system_ops* ops = c->sys->ops;
  if (ops->force_some != NULL) {
    result->blocks = larger(result->blocks, compare_some(c));
  }
  if (c->sys->structure == NULL) {
    return;
  }
  if (ops->mass != NULL) {
    result->blocks = larger(result->blocks, compare_blocks(c, ops->mass, (double[]){1, 0, 0}));
  }
  if (ops->force_v != NULL) {
    result->blocks = larger(result->blocks, compare_blocks(c, ops->force_v, (double[]){0, 1, 0}));
  }
  if (ops->force_q != NULL) {
    result->blocks = larger(result->blocks, compare_blocks(c, ops->force_q, (double[]){0, 0, 1}));
  }
}

/* Total power of external forces and drives, compared with the power of all forces and the rates of the energies;
 * relative to the power of all forces. */
static void check_power(check_state* c, saltus_system_check_result* result) {
  const saltus_system_ops* ops = c->sys->ops;
  if (ops->power == NULL || ops->potential == NULL) {
    return;
  }
  double said[2];
  ops->power(c->sys->self, &c->at, said);
  ops->force(c->sys->self, &c->at, c->vector);
  double size = 1.0 + fabs(saltusi_dot(c->sys->dims.nv, c->vector, c->at.v));
  result->power = INFINITY;
  static const double scales[STEPS] = {10.0, 1.0, 0.1};
  for (int k = 0; k < STEPS; k++) { /* the smallest of three, as for all slopes */
    double found[2];
    saltusi_power_by_differences(c->sys, &c->at, scales[k], &c->power, found);
    result->power = fmin(result->power, fabs(said[0] + said[1] - found[0] - found[1]) / size);
  }
}

/* Whether b of all contacts at the point is zero. */
static bool obstacles_are_still(check_state* c) {
  bool still = true;
  for (int i = 0; i < c->contacts && still; i++) {
    const int key = c->keys[i], count = c->row_count[key];
    saltusi_rows_contact(c->sys, &c->at, key, count, &c->rows, 0);
    still = saltusi_max_abs(count, c->rows.b) == 0.0;
  }
  return still;
}

/* Verifies traits: moves the point and tests whether M, F_q and F_v are constant. */
static bool traits_hold(check_state* c) {
  const saltus_system_ops* ops = c->sys->ops;
  int nv = c->sys->dims.nv;
  saltus_point at = c->at;
  at.t += 0.37;
  saltusi_advance(c->sys, c->at.q, c->at.v, 0.21, c->q);
  at.q = c->q;
  bool hold = true;
  if ((c->sys->traits & SALTUS_CONSTANT_MASS) != 0 && ops->mass != NULL) {
    ops->mass(c->sys->self, &c->at, c->exact);
    ops->mass(c->sys->self, &at, c->matrix);
    hold = memcmp(c->exact, c->matrix, (size_t)nv * (size_t)nv * sizeof(double)) == 0;
  }
  if ((c->sys->traits & SALTUS_FREE_FORCE) != 0) {
    at.t = c->at.t;
    ops->force(c->sys->self, &c->at, c->exact);
    ops->force(c->sys->self, &at, c->matrix);
    hold = hold && memcmp(c->exact, c->matrix, (size_t)nv * sizeof(double)) == 0;
  }
  if ((c->sys->traits & SALTUS_LINEAR_FORCE) != 0 && ops->force_q != NULL) {
    ops->force_q(c->sys->self, &c->at, c->exact);
    ops->force_q(c->sys->self, &at, c->matrix);
    saltusi_add_scaled(nv * nv, -1.0, c->exact, c->matrix);
    hold =
        hold && saltusi_max_abs(nv * nv, c->matrix) <= 1e-12 * saltusi_max_abs(nv * nv, c->exact);
  }
  if ((c->sys->traits & SALTUS_STILL_OBSTACLES) != 0) {
    hold = hold && obstacles_are_still(c);
  }
  return hold;
}

static void find_worst(saltus_system_check_result* result) {
  const struct {
    const char* name;
    double value;
  } entries[] = {
      {"force_q", result->force_q},
      {"force_v", result->force_v},
      {"mass_q", result->mass_q},
      {"kinetic_gradient", result->kinetic_gradient},
      {"rate", result->rate},
      {"difference", result->difference},
      {"normalise", result->normalise},
      {"turn_momentum", result->turn_momentum},
      {"rows G", result->normal_G},
      {"rows b", result->normal_b},
      {"rows c", result->convective_c},
      {"joint_hessian", result->joint_hessian},
      {"blocks", result->blocks},
      {"symmetry of the mass matrix", result->mass_symmetry},
      {"enclosures", result->enclosure},
      {"power", result->power},
  };
  result->worst = 0.0;
  result->where = "no entry";
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    if (entries[i].value > result->worst) {
      result->worst = entries[i].value;
      result->where = entries[i].name;
    }
  }
}

static bool changes(const check_state* c) {
  return (c->sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
}

static void layout(check_state* c, saltus_arena* arena) {
  const saltus_dims* dims = &c->sys->dims;
  int nv = dims->nv;
  const int constraints = dims->nc > dims->nj ? dims->nc : dims->nj;
  c->size = (dims->nq > nv ? dims->nq : nv) + 3;
  c->size = constraints > c->size ? constraints : c->size;
  c->q = SALTUS_PUSH(arena, double, dims->nq);
  c->q_other = SALTUS_PUSH(arena, double, dims->nq);
  c->v = SALTUS_PUSH(arena, double, nv);
  c->value = SALTUS_PUSH(arena, double, c->size);
  c->slope = SALTUS_PUSH(arena, double, 2 * c->size); /* the second half holds exact columns */
  c->exact = SALTUS_PUSH2(arena, double, nv, nv);
  c->matrix = SALTUS_PUSH2(arena, double, nv, nv);
  c->vector = SALTUS_PUSH(arena, double, nv);
  c->slopes = SALTUS_PUSH2(arena, double, STEPS, constraints);
  c->keys = SALTUS_PUSH(arena, int, dims->nc);
  c->row_count = SALTUS_PUSH(arena, int, dims->nc);
  c->at.scratch = saltusi_scratch_layout(dims, arena);
  saltusi_contact_list_layout(&c->list, dims, arena);
  saltusi_keys_layout(&c->contact_keys, changes(c) ? dims->nc : 0, arena);
  const int joint = saltusi_joint_rows_most(c->sys);
  saltusi_rows_layout(&c->rows, dims, joint > 3 ? joint : 3, true, arena);
  c->convective = SALTUS_PUSH(arena, double, joint > 3 ? joint : 3);
  c->values = c->sys->structure != NULL
                  ? SALTUS_PUSH2(arena, double, 2, saltusi_structure_values(c->sys->structure))
                  : NULL;
  saltusi_power_layout(&c->power, c->sys, arena);
  saltusi_displacement_layout(&c->ways, c->sys, arena);
}

saltus_status saltus_system_check(const saltus_system* system, double t, const double* q,
                                  const double* v, saltus_log log,
                                  saltus_system_check_result* result) {
  assert(system != NULL && result != NULL);
  saltus_status status = saltus_system_validate(system, log);
  if (status != SALTUS_OK) {
    return status;
  }
  *result = (saltus_system_check_result){NAN, NAN, NAN,  NAN, NAN,  NAN, NAN, NAN, NAN, NAN,
                                         NAN, NAN, true, 0.0, NULL, NAN, NAN, NAN, NAN};
  saltus_allocator memory = saltus_allocator_default();
  saltus_failure failure = {.status = SALTUS_OK};
  saltus_system fit;
  check_state c = {.sys = &fit, .at = {.t = t, .q = q, .v = v, .failure = &failure}};
  status = saltusi_keys_fit(system, &c.at, &memory, &fit);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_arena arena = saltus_arena_counting();
  layout(&c, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  layout(&c, &arena);
  if (changes(&c)) {
    saltusi_keys_clear(&c.contact_keys);
    c.contact_keys.room = &c.room;
    c.at.keys = &c.contact_keys;
  }

  check_dynamics(&c, result);
  check_maps(&c, result);
  check_blocks(&c, result);
  check_power(&c, result);
  status = check_constraints(&c, result);
  result->traits_hold = traits_hold(&c);
  if (status == SALTUS_OK) {
    status = saltusi_check_hessian(&fit, &c.at, &result->joint_hessian);
  }
  if (status == SALTUS_OK) {
    status = saltusi_check_enclosures(&fit, &c.at, &result->enclosure);
  }
  find_worst(result);
  memory.free(block, bytes, memory.user);
  if (failure.status != SALTUS_OK) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "check: a callback of the system failed: %s",
                failure.text);
    return SALTUS_ERR_SYSTEM;
  }
  return status;
}
