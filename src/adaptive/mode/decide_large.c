/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide_large.c - decisions in an island of many joints and contacts: one friction problem by blocks, in time and
 * memory proportional to the number of contacts.
 *
 *   joints               u = 0                          one block per row
 *   contacts at rest     u + mu |u_T| n in K*  perp  l in K
 *   moving contacts      0 <= u_N  perp  l_N >= 0,      column G_N - mu d . G_T
 *   u = R^T M^-1 H l + free
 *
 * First by an active set, which begins with all contacts closed and sticking: one sparse factorisation if that is
 * the solution, some more if a few contacts open or slide. If it does not converge its last forces are the initial
 * guess of the iterative contact solvers.
 *
 *   open     l = 0                     until u_N < 0
 *   sticks   u = 0                     until l_N < 0 or |l_T| > mu l_N
 *   slides   u_N = 0, l_T = -mu s l_N  until l_N < 0 or s u_T < 0
 *
 * An iteration that does not converge does not show whether a solution exists: unlike the failure of pivoting it
 * does not indicate an impact without collision.
 */
#include "adaptive/mode/decide.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Friction above this fraction of its bound may slide: iterations leave the 1e-10 that
 * solve/friction/friction_step.c accepts; a hundred times that. */
static const double at_bound = 1.0 - 1e-8;
/* Largest number of fully coupled contacts that is factored: 288 rows, 8 million multiply-adds; chosen. */
enum { FACTORED = 96 };

void saltusi_decide_large_layout(saltusi_decision* d, const saltus_dims* dims,
                                 const saltusi_layout_tables* o, const saltusi_step_capacity* room,
                                 saltus_arena* arena) {
  assert(d != NULL && dims != NULL && o != NULL && room != NULL && arena != NULL);
  size_t units = (size_t)o->nj + (size_t)o->nc;
  d->large = NULL;
  if (dims->row_width == 0 || units < SALTUSI_LARGE || o->nc == 0) {
    return;
  }
  saltusi_large large = {.rows = saltusi_active_layout_sparse(dims, o->rows, room, arena)};
  size_t full = units * units;
  size_t some = saltusi_capacity_of(room, SALTUSI_CAPACITY_BLOCKS, SALTUSI_STEP_NEIGHBOURS * units);
  const saltusi_step_sizes sizes = {.units = (int)units,
                                    .rows_each = 1 + o->tangents_max,
                                    .rows = o->rows,
                                    .blocks = some < full ? some : full,
                                    .factored = FACTORED};
  saltusi_friction_step_layout_sizes(&large.blocks, &sizes, arena);
  large.row = SALTUS_PUSH(arena, int, o->rows);
  large.unit = SALTUS_PUSH(arena, int, o->rows);
  large.free = SALTUS_PUSH(arena, double, o->rows);
  large.l = SALTUS_PUSH(arena, double, o->rows);
  large.u = SALTUS_PUSH(arena, double, o->rows);
  large.mu = SALTUS_PUSH(arena, double, units);
  large.bilateral = SALTUS_PUSH(arena, unsigned char, units);
  large.state = SALTUS_PUSH(arena, int, o->nc);
  d->large = SALTUS_PUSH(arena, saltusi_large, 1);
  if (d->large != NULL) {
    *d->large = large;
  }
}

static bool is_free(const saltusi_decision* d, int key) {
  return d->mu[key] > 0.0 && !saltusi_is_prescribed(d, key);
}

/* Joints, then contacts: rows, indices, free values. Returns the number of rows. */
static int list_rows(saltusi_decision* d, const saltusi_problem* p, int* units) {
  const saltusi_joint_elimination* e = &d->mode->reduced;
  int joints = e->joints[p->island];
  int n = 0;
  for (int i = 0; i < joints; i++, n++) {
    d->large->row[n] = e->row[p->in.first + i];
    d->large->unit[n] = n;
    d->large->free[n] = 0.0; /* free values are those with active joints */
    d->large->bilateral[n] = 1;
    d->large->mu[n] = 0.0;
  }
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    int rows = is_free(d, key) ? 1 + d->o->tangents[key] : 1;
    d->large->bilateral[joints + i] = 0;
    d->large->mu[joints + i] = is_free(d, key) ? d->mu[key] : 0.0;
    for (int k = 0; k < rows; k++, n++) {
      d->large->row[n] = d->o->nj + d->o->base[key] + k;
      d->large->unit[n] = joints + i;
      d->large->free[n] = p->u_free[d->o->base[key] + k];
    }
  }
  *units = joints + p->count;
  return n;
}

/* W of the rows, with the columns of moving contacts. */
static saltus_status make_problem(saltusi_decision* d, const saltusi_problem* p, int n) {
  const saltusi_row_block* R = &d->mode->row;
  size_t stride = (size_t)R->stride;
  int joints = d->mode->reduced.joints[p->island];
  double* H = saltusi_active_set_factor_begin(d->large->rows, R, n, d->large->row, d->large->unit);
  for (int i = joints; i < n; i++) {
    int key = p->set[d->large->unit[i] - joints];
    for (int k = 0; saltusi_is_prescribed(d, key) && k < d->o->tangents[key]; k++) {
      const double* G = R->G + (size_t)(d->large->row[i] + 1 + k) * stride;
      saltusi_add_scaled(R->entries[d->large->row[i]], -d->mu[key] * saltusi_prescribed(d, key, k),
                         G, H + (size_t)i * stride);
    }
  }
  saltus_status status =
      saltusi_active_set_factor_form(d->large->rows, d->mode->eval, &d->mode->mass);
  if (status == SALTUS_RETRY_CAPACITY) {
    return saltusi_capacity_lacks(&d->mode->eval->room, SALTUSI_CAPACITY_SPARSE,
                                  d->large->rows->wanted);
  }
  return status;
}

/* ---- active set -------------------------------------------------------------------------------- */

enum { OPEN = 2, STICKS = 0 }; /* +1 and -1: slides in that sense */
enum { EXCHANGES = 30 };
/* Errors of forces and velocities below this fraction of the largest are rounding: times the condition number of a
 * stack of a thousand. */
static const double wrong_part = 1e-11;

/* Rows of the contacts by their states. */
static void write_states(saltusi_decision* d, const saltusi_problem* p) {
  static const double own[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  int joints = d->mode->reduced.joints[p->island];
  saltusi_active_set_factor_reset(d->large->rows);
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    int rows = is_free(d, key) ? 1 + d->o->tangents[key] : 1;
    int state = d->large->state[i];
    for (int k = 0; state == OPEN && k < rows; k++) {
      saltusi_active_set_factor_replace(d->large->rows, joints + i, k, own[k]);
    }
    if (state != OPEN && state != STICKS) {
      const double slides[2] = {d->mu[key] * state, 1.0};
      saltusi_active_set_factor_replace(d->large->rows, joints + i, 1, slides);
    }
  }
}

/* The state of a contact after forces l and velocities u. */
static int next_state(const saltusi_decision* d, int key, int state, const double* l,
                      const double* u, const double* wrong) {
  if (state == OPEN) {
    return u[0] < -wrong[1] ? STICKS : OPEN;
  }
  if (l[0] < -wrong[0]) {
    return OPEN;
  }
  if (!is_free(d, key)) {
    return STICKS;
  }
  if (state != STICKS) {
    return state * u[1] < -wrong[1] ? STICKS : state;
  }
  double size = d->o->tangents[key] == 2 ? hypot(l[1], l[2]) : fabs(l[1]);
  return size <= d->mu[key] * l[0] + wrong[0] ? STICKS : l[1] > 0.0 ? -1 : 1;
}

/* u = free + W l */
static void find_velocities(saltusi_decision* d, int n) {
  saltusi_block_lu_times(&d->large->rows->lu, d->large->rows->values, d->large->l, d->large->u);
  saltusi_add_scaled(n, 1.0, d->large->free, d->large->u);
}

/* Whether row i of the problem is the first one of its joint or contact. */
static bool opens_unit(const saltusi_decision* d, int i) {
  return i == 0 || d->large->unit[i] != d->large->unit[i - 1];
}

/* Forces by the states, into l; false if there are none. */
static bool find_forces(saltusi_decision* d, const saltusi_problem* p, int n) {
  int joints = d->mode->reduced.joints[p->island];
  write_states(d, p);
  for (int i = 0; i < n; i++) {
    int state = i < joints ? STICKS : d->large->state[d->large->unit[i] - joints];
    bool none = state == OPEN || (state != STICKS && !opens_unit(d, i));
    d->large->l[i] = none ? 0.0 : -d->large->free[i];
  }
  if (!saltusi_active_set_factor_compute(d->large->rows)) {
    return false;
  }
  saltusi_active_set_factor_solve(d->large->rows, d->large->l);
  find_velocities(d, n);
  return isfinite(saltusi_max_abs(n, d->large->l));
}

/* Whether the forces in l are the solution; else they are an initial guess. */
static bool exchange(saltusi_decision* d, const saltusi_problem* p, int n) {
  int joints = d->mode->reduced.joints[p->island];
  bool lost = false;
  memset(d->large->state, 0, (size_t)p->count * sizeof *d->large->state); /* all stick */
  for (int turn = 0; turn < EXCHANGES && !lost && find_forces(d, p, n); turn++) {
    const double wrong[2] = {wrong_part * saltusi_max_abs(n, d->large->l),
                             wrong_part * saltusi_max_abs(n, d->large->free)};
    bool changed = false;
    for (int i = joints; i < n; i++) {
      if (!opens_unit(d, i)) {
        continue;
      }
      int c = d->large->unit[i] - joints;
      int key = p->set[c];
      int state = next_state(d, key, d->large->state[c], d->large->l + i, d->large->u + i, wrong);
      changed = changed || state != d->large->state[c];
      /* a contact in space slides in a direction that is not determined here */
      lost = lost || (d->o->tangents[key] == 2 && state != OPEN && state != STICKS);
      d->large->state[c] = state;
    }
    if (!changed) {
      return true;
    }
  }
  return false;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* Forces of one contact, its slip, and the residual of its normal law. */
static void write_contact(saltusi_decision* d, int key, const double* l, const double* u) {
  double* into = d->impulse + d->o->base[key];
  int tangents = d->o->tangents[key];
  into[0] = l[0];
  d->residual = fmax(d->residual, l[0] > 0.0 ? fabs(u[0]) : fmax(0.0, -u[0]));
  if (!is_free(d, key)) {
    for (int k = 0; saltusi_is_prescribed(d, key) && k < tangents; k++) {
      into[1 + k] = -d->mu[key] * saltusi_prescribed(d, key, k) * l[0];
    }
    return;
  }
  double size = tangents == 2 ? hypot(l[1], l[2]) : fabs(l[1]);
  double slip = tangents == 2 ? hypot(u[1], u[2]) : fabs(u[1]);
  for (int k = 0; k < tangents; k++) {
    into[1 + k] = l[1 + k];
  }
  d->slack[key] = size >= at_bound * d->mu[key] * l[0] ? slip : 0.0;
}

static saltus_status give_up(saltusi_decision* d, const saltusi_problem* p) {
  saltusi_log(d->log, SALTUS_LEVEL_ERROR,
              "adaptive: the problem of %d contacts and %d linearly dependent rows of joints, "
              "contact %s and others, was not solved",
              p->count, d->mode->reduced.joints[p->island], saltusi_contact_name(d->o, p->set[0]));
  return SALTUS_ERR_STALLED;
}

/* By the iterative contact solvers, from the initial guess in l. */
static saltus_status iterate(saltusi_decision* d, const saltusi_problem* p, int n, int units) {
  saltusi_eval* eval = d->mode->eval;
  const saltusi_step_blocks blocks =
      saltusi_active_set_factor_blocks(d->large->rows, d->large->bilateral);
  size_t count = (size_t)blocks.start[units];
  if (count > d->large->blocks.blocks_max) {
    return saltusi_capacity_lacks(&eval->room, SALTUSI_CAPACITY_BLOCKS, count);
  }
  if (!isfinite(saltusi_max_abs(n, d->large->free))) {
    return SALTUS_RETRY_NAN;
  }
  if (!isfinite(saltusi_max_abs(n, d->large->l))) {
    memset(d->large->l, 0, (size_t)n * sizeof(double));
  }
  saltusi_friction_step_load(&d->large->blocks, &blocks, 0, units);
  bool solved = saltusi_friction_step_solve_blocks(&d->large->blocks, d->large->mu, d->large->free,
                                                   d->large->l);
  eval->work.contact_iterations += d->large->blocks.iterations;
  return solved ? SALTUS_OK : give_up(d, p);
}

saltus_status saltusi_decide_large(saltusi_decision* d, const saltusi_problem* p) {
  assert(d != NULL && p != NULL && d->large != NULL);
  saltusi_eval* eval = d->mode->eval;
  int units = 0;
  int n = list_rows(d, p, &units);
  saltus_status status = make_problem(d, p, n);
  if (status != SALTUS_OK) {
    return status;
  }
  d->mode->counts->decisions++;
  eval->work.contact_solves++;
  const long long before = eval->work.contact_iterations;
  if (!exchange(d, p, n)) {
    status = iterate(d, p, n, units);
  }
  saltusi_decision_tell(d, p, eval->work.contact_iterations - before);
  if (status != SALTUS_OK) {
    return status;
  }
  find_velocities(d, n);
  saltusi_active_set_factor_apply(d->large->rows, 1.0, d->large->l, d->change);
  int joints = d->mode->reduced.joints[p->island];
  for (int i = joints; i < n; i++) {
    if (opens_unit(d, i)) {
      write_contact(d, p->set[d->large->unit[i] - joints], d->large->l + i, d->large->u + i);
    }
  }
  return SALTUS_OK;
}
