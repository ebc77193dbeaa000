/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * solve.c - an impact from velocities before to velocities after: active contacts, secondary impacts after a
 * rebound, and the energy test with the response to a gain (docs/theory/laws.md, 1 and 2).
 */
#include "law/law.h"

#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Secondary impacts of rebounding contacts: each leaves a smaller approach. */
enum { ROUNDS_MAX = 1000, HALVINGS = 52 };
/* Default rounding of velocities, relative to the largest. */
static const double rounding_part = 1e-14;

static size_t square(int n) {
  return (size_t)n * (size_t)n;
}

void saltusi_law_cones_layout(saltusi_cone_products* c, int contacts, int rows,
                              saltus_arena* arena) {
  assert(c != NULL && arena != NULL && contacts >= 0 && rows >= contacts);
  const saltusi_step_sizes sizes = {.units = contacts,
                                    .rows_each = 3,
                                    .rows = rows,
                                    .blocks = square(contacts),
                                    .values = square(rows),
                                    .factored = contacts < 32 ? contacts : 32};
  saltusi_friction_step_layout_sizes(&c->friction, &sizes, arena);
  saltusi_balls_layout(&c->balls, contacts, rows, false, arena);
  c->cone = SALTUS_PUSH(arena, saltus_cone, contacts);
  c->row = SALTUS_PUSH(arena, int, rows);
  c->first = SALTUS_PUSH(arena, int, contacts + 1);
  c->mu = SALTUS_PUSH(arena, double, contacts);
  c->W = SALTUS_PUSH2(arena, double, rows, rows);
  c->b = SALTUS_PUSH(arena, double, rows);
  c->r = SALTUS_PUSH(arena, double, rows);
  c->given = SALTUS_PUSH(arena, double, contacts);
  c->bound = SALTUS_PUSH(arena, double, contacts);
}

void saltusi_laws_layout(saltusi_laws* laws, int contacts, int rows, saltus_arena* arena) {
  assert(laws != NULL && arena != NULL && contacts >= 0 && rows >= contacts);
  enum { PATH = 8 }; /* variables of one contact in space */
  int flow = 2 * rows + contacts > PATH ? 2 * rows + contacts : PATH;
  int guards = 3 * contacts > 2 ? 3 * contacts : 2;
  laws->contacts_max = contacts;
  laws->rows_max = rows;
  saltusi_law_cones_layout(&laws->cones, contacts, rows, arena);
  saltusi_flow_layout(&laws->flow, flow, guards, arena);
  laws->springs.status = SALTUS_PUSH(arena, int, contacts);
  laws->springs.sign = SALTUS_PUSH(arena, double, contacts);
  laws->springs.bound = SALTUS_PUSH(arena, double, contacts);
  laws->springs.force = SALTUS_PUSH(arena, double, rows);
  laws->springs.probe = SALTUS_PUSH(arena, double, flow);
  laws->springs.group = SALTUS_PUSH(arena, int, flow);
  laws->springs.what = SALTUS_PUSH(arena, int, guards);
  laws->springs.who = SALTUS_PUSH(arena, int, guards);
  laws->contact = SALTUS_PUSH(arena, saltus_impact_contact, contacts);
  laws->curve = SALTUS_PUSH(arena, saltusi_curve, contacts);
  laws->first = SALTUS_PUSH(arena, int, contacts + 1);
  laws->set = SALTUS_PUSH(arena, int, contacts);
  laws->u = SALTUS_PUSH(arena, double, rows);
  laws->P = SALTUS_PUSH(arena, double, rows);
  laws->compression = SALTUS_PUSH(arena, double, rows);
  laws->part_W = SALTUS_PUSH2(arena, double, contacts, contacts);
  laws->pivot = SALTUS_PUSH(arena, int, rows);
}

double saltusi_impact_rounding(const saltus_impact* impact) {
  assert(impact != NULL);
  return impact->rounding > 0.0 ? impact->rounding
                                : rounding_part * saltusi_max_abs(impact->rows, impact->u);
}

void saltusi_impact_add(saltusi_laws* laws, const saltus_impact* impact, const double* P,
                        saltus_impact_result* result) {
  assert(laws != NULL && impact != NULL && P != NULL && result != NULL);
  size_t n = (size_t)impact->rows;
  for (int r = 0; r < impact->rows; r++) {
    laws->u[r] += saltusi_dot(impact->rows, impact->W + (size_t)r * n, P);
    result->P[r] += P[r];
  }
}

/* Rounding of a row after the impulses so far. Sums of W P are large at wedged contacts; their cancellation error
 * would count as a secondary impact with restitution. */
static double rounding_after(const saltus_impact* impact, const double* P, int row) {
  const double* W = impact->W + (size_t)row * (size_t)impact->rows;
  double sum = 0.0;
  for (int r = 0; r < impact->rows; r++) {
    sum += fabs(W[r] * P[r]);
  }
  return rounding_part * sum;
}

/* Selects the contacts that do not separate; returns their number. *approaching: at least one approaches. */
static int find_set(saltusi_laws* laws, const saltus_impact* impact, const double* P,
                    bool* approaching) {
  int count = 0;
  *approaching = false;
  for (int i = 0; i < impact->count; i++) {
    double u = laws->u[laws->first[i]];
    double slow = fmax(saltusi_impact_rounding(impact), rounding_after(impact, P, laws->first[i]));
    *approaching = *approaching || u < -slow;
    if (u <= slow) {
      laws->set[count++] = i;
    }
  }
  return count;
}

saltus_status saltusi_simultaneous(saltusi_laws* laws, const saltus_impact* impact, double all_e,
                                   saltus_impact_result* result) {
  assert(laws != NULL && impact != NULL && result != NULL);
  bool approaching = false;
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int count = find_set(laws, impact, result->P, &approaching);
    if (!approaching) {
      return SALTUS_OK;
    }
    saltus_status status = saltusi_cones_impact(laws, impact, count, all_e, laws->u);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_impact_add(laws, impact, laws->P, result);
    result->hits++;
  }
  return SALTUS_ERR_STALLED;
}

/* ---- one law ----------------------------------------------------------------------------------- */

static bool has_cone(saltus_impact_law law) {
  return law == SALTUS_IMPACT_NEWTON || law == SALTUS_IMPACT_POISSON ||
         law == SALTUS_IMPACT_POISSON_PRINTED;
}

/* Impact matrix, if it applies to the contacts. */
static saltus_status strike_by_matrix(saltusi_laws* laws, const saltus_impacts* rule,
                                      const saltus_impact* impact, saltus_log log,
                                      saltus_impact_result* result) {
  bool struck = rule->matrix_count > 0;
  while (struck) {
    saltus_status status = saltusi_matrix_impact(laws, rule, impact, log, &struck);
    if (status != SALTUS_OK) {
      return status;
    }
    if (struck) {
      saltusi_impact_add(laws, impact, laws->P, result);
      result->hits++;
      struck = result->hits < ROUNDS_MAX;
    }
  }
  return SALTUS_OK;
}

static saltus_status apply_rule(saltusi_laws* laws, const saltus_impacts* rule,
                                const saltus_impact* impact, saltus_log log,
                                saltus_impact_result* result) {
  bool cones = true;
  for (int i = 0; i < impact->count; i++) {
    cones = cones && has_cone(laws->contact[i].impact);
  }
  switch (rule->order) {
  case SALTUS_ORDER_LZB:
    return saltusi_lzb(laws, rule, impact, log, result);
  case SALTUS_ORDER_MOREAU:
    return saltusi_simultaneous(laws, impact, rule->restitution * result->part, result);
  case SALTUS_ORDER_OWN: {
    saltus_impact now = *impact;
    now.contact = laws->contact;
    saltus_status status = rule->own->apply(rule->own->self, &now, laws->P);
    if (status == SALTUS_OK) {
      saltusi_impact_add(laws, impact, laws->P, result);
    }
    return status;
  }
  case SALTUS_ORDER_SIMULTANEOUS:
    if (cones) {
      return saltusi_simultaneous(laws, impact, -1.0, result);
    }
    return saltusi_sequence(laws, rule, impact, log, result);
  default:
    return saltusi_sequence(laws, rule, impact, log, result);
  }
}

/* One solution from the initial velocities with the parameters in laws->contact. */
static saltus_status run_once(saltusi_laws* laws, const saltus_impacts* rule,
                              const saltus_impact* impact, saltus_log log,
                              saltus_impact_result* result) {
  size_t bytes = (size_t)impact->rows * sizeof(double);
  memcpy(laws->u, impact->u, bytes);
  memset(result->P, 0, bytes);
  result->hits = 0;
  result->phase_count = 0;
  result->unfinished = false;
  saltus_status status = strike_by_matrix(laws, rule, impact, log, result);
  if (status == SALTUS_OK) {
    status = apply_rule(laws, rule, impact, log, result);
  }
  if (status == SALTUS_OK && rule->matrix_count > 0) {
    status = strike_by_matrix(laws, rule, impact, log, result);
  }
  memcpy(result->u, laws->u, bytes);
  bool finite = status != SALTUS_OK || isfinite(saltusi_max_abs(impact->rows, result->u));
  if (status == SALTUS_OK && finite) {
    saltusi_impact_energy(impact, laws->contact, result);
  }
  return finite ? status : SALTUS_RETRY_NAN;
}

/* ---- coefficients that depend on slip ------------------------------------------------------------ */

/* Slip of contact i at velocities u: U_T + e_T U_T-, the vector that friction opposes. Second rows of associated
 * ellipses are scaled. */
static double slip_of(const saltusi_laws* laws, const saltus_impact* impact, int i, const double* u,
                      double e_T) {
  const saltus_impact_contact* contact = &impact->contact[i];
  const int row = laws->first[i] + 1;
  double slip[2] = {0.0, 0.0};
  for (int k = 0; k < contact->tangents; k++) {
    slip[k] = u[row + k] + e_T * impact->u[row + k];
  }
  const bool scaled = contact->friction->across > 0.0 && contact->friction->sliding[0] == 0.0;
  return hypot(slip[0], scaled ? slip[1] * contact->mu / contact->friction->across : slip[1]);
}

static void start_curves(saltusi_laws* laws, const saltus_impact* impact) {
  const double rests = 1e-9 * saltusi_max_abs(impact->rows, impact->u); /* the threshold of steps */
  for (int i = 0; i < impact->count; i++) {
    const saltus_impact_contact* c = &impact->contact[i];
    if (saltusi_has_curve(c->friction)) {
      double slip = slip_of(laws, impact, i, impact->u, 0.0);
      saltusi_curve_start(&laws->curve[i], c->friction, c->mu, slip > rests ? slip : 0.0);
      laws->contact[i].mu = c->mu * laws->curve[i].ratio;
    }
  }
}

/* Coefficients at the final slip of a round. Returns the largest change of their ratios. */
static double follow_curves(saltusi_laws* laws, const saltus_impact* impact, int round,
                            const saltus_impact_result* result) {
  const double rests = 1e-11 * saltusi_max_abs(impact->rows, impact->u);
  double change = 0.0;
  for (int i = 0; i < impact->count; i++) {
    const saltus_impact_contact* c = &impact->contact[i];
    const int row = laws->first[i];
    if (!saltusi_has_curve(c->friction) || !(result->P[row] > 0.0)) {
      continue;
    }
    const double e_T = laws->contact[i].e_T;
    const double slip = slip_of(laws, impact, i, result->u, e_T);
    double along = 0.0;
    for (int k = 1; k <= c->tangents; k++) {
      along += (result->u[row + k] + e_T * impact->u[row + k]) * impact->u[row + k];
    }
    change = fmax(change, saltusi_curve_follow(&laws->curve[i], c->friction, c->mu,
                                               slip > rests ? slip : 0.0, along < 0.0,
                                               saltusi_curve_damping(round)));
    laws->contact[i].mu = c->mu * laws->curve[i].ratio;
  }
  return change;
}

/* The solution with coefficients at the final slip (solve/friction/friction_curve.h). */
static saltus_status run(saltusi_laws* laws, const saltus_impacts* rule,
                         const saltus_impact* impact, saltus_log log,
                         saltus_impact_result* result) {
  start_curves(laws, impact);
  for (int round = 0; round < SALTUSI_CURVE_ROUNDS_IMPACT; round++) {
    saltus_status status = run_once(laws, rule, impact, log, result);
    if (status != SALTUS_OK ||
        follow_curves(laws, impact, round, result) <= saltusi_curve_settled) {
      return status;
    }
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "an impact with friction that depends on slip does not converge in %d iterations",
              SALTUSI_CURVE_ROUNDS_IMPACT);
  return SALTUS_ERR_STALLED;
}

/* ---- energy ------------------------------------------------------------------------------------ */

static void reset_contacts(saltusi_laws* laws, const saltus_impact* impact) {
  int row = 0;
  for (int i = 0; i < impact->count; i++) {
    laws->contact[i] = impact->contact[i];
    laws->first[i] = row;
    row += 1 + impact->contact[i].tangents;
  }
  laws->first[impact->count] = row;
  assert(row == impact->rows);
}

static saltus_status run_part(saltusi_laws* laws, const saltus_impacts* rule,
                              const saltus_impact* impact, double part,
                              saltus_impact_result* result) {
  reset_contacts(laws, impact);
  for (int i = 0; i < impact->count; i++) {
    laws->contact[i].e_N *= part;
  }
  result->part = part;
  return run(laws, rule, impact, (saltus_log){0}, result);
}

/* Largest fraction of the restitution without creation of energy, by bisection; without restitution none is
 * created. */
static saltus_status cap(saltusi_laws* laws, const saltus_impacts* rule,
                         const saltus_impact* impact, saltus_impact_result* result) {
  double lo = 0.0;
  double hi = 1.0;
  for (int k = 0; k < HALVINGS; k++) {
    double part = 0.5 * (lo + hi);
    saltus_status status = run_part(laws, rule, impact, part, result);
    *(status != SALTUS_OK || result->giver >= 0 ? &hi : &lo) = part;
  }
  return run_part(laws, rule, impact, lo, result);
}

/* All contacts simultaneously by `law`, with e_T in place of their own unless it is NaN. */
static saltus_status run_changed(saltusi_laws* laws, const saltus_impact* impact,
                                 saltus_impact_law law, double e_T, saltus_log log,
                                 saltus_impact_result* result) {
  const saltus_impacts at_once = {0};
  reset_contacts(laws, impact);
  for (int i = 0; i < impact->count; i++) {
    laws->contact[i].impact = law;
    laws->contact[i].e_T = isnan(e_T) ? impact->contact[i].e_T : e_T;
  }
  result->replaced = true;
  return run(laws, &at_once, impact, log, result);
}

static saltus_status answer_gain(saltusi_laws* laws, const saltus_impacts* rule,
                                 const saltus_impact* impact, saltus_log log,
                                 saltus_impact_result* result) {
  result->of_law = result->gain;
  switch (rule->energy) {
  case SALTUS_GAIN_CAP:
    result->replaced = true;
    return cap(laws, rule, impact, result);
  case SALTUS_GAIN_POISSON:
    return run_changed(laws, impact, SALTUS_IMPACT_POISSON, NAN, log, result);
  case SALTUS_GAIN_ENERGETIC:
    return run_changed(laws, impact, SALTUS_IMPACT_ENERGETIC, 0.0, log, result);
  case SALTUS_GAIN_TANGENTIAL:
    return run_changed(laws, impact, SALTUS_IMPACT_NEWTON, 1.0, log, result);
  case SALTUS_GAIN_STOP: {
    const char* name = impact->contact[result->giver].name;
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "the impact at contact %s would create %g J (normals %g, friction against the last "
                "slip %g, along the first %g), law %s",
                name != NULL ? name : "without a name", result->gain, result->normal,
                result->end_slip, result->first_slip,
                saltus_impact_law_name(impact->contact[result->giver].impact));
    return SALTUS_ERR_LAW;
  }
  default:
    return SALTUS_OK;
  }
}

saltus_status saltusi_impact_solve(saltusi_laws* laws, const saltus_impacts* rule,
                                   const saltus_impact* impact, saltus_log log,
                                   saltus_impact_result* result) {
  assert(laws != NULL && impact != NULL && result != NULL);
  static const saltus_impacts usual = {0};
  rule = rule != NULL ? rule : &usual;
  if (impact->count > laws->contacts_max || impact->rows > laws->rows_max) {
    return SALTUS_RETRY_CAPACITY;
  }
  *result = (saltus_impact_result){.P = result->P, .u = result->u, .giver = -1, .part = 1.0};
  reset_contacts(laws, impact);
  saltus_status status = run(laws, rule, impact, log, result);
  if (status ==
      SALTUS_RETRY_SMALLER) { /* Newton's law has no solution for contacts wedged by joints; Poisson's has */
    status = run_changed(laws, impact, SALTUS_IMPACT_POISSON, NAN, log, result);
  }
  if (status == SALTUS_OK && result->giver >= 0) {
    int giver = result->giver;
    double gain = result->gain;
    status = answer_gain(laws, rule, impact, log, result);
    result->of_law = gain;
    result->giver = giver;
  }
  return status;
}

/* ---- for users --------------------------------------------------------------------------------- */

struct saltus_impact_solver {
  saltusi_laws laws;
  saltus_allocator memory;
  void* arrays;
  size_t bytes;
};

saltus_status saltus_impact_solver_create(int contacts, int rows, const saltus_allocator* allocator,
                                          saltus_impact_solver** out) {
  if (out == NULL || contacts < 1 || rows < contacts || rows > 3 * contacts) {
    return SALTUS_ERR_RANGE;
  }
  saltus_allocator memory = allocator != NULL ? *allocator : saltus_allocator_default();
  saltus_impact_solver* solver = memory.alloc(sizeof *solver, memory.user);
  if (solver == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memset(solver, 0, sizeof *solver);
  saltus_arena arena = saltus_arena_counting();
  saltusi_laws_layout(&solver->laws, contacts, rows, &arena);
  void* block = memory.alloc(arena.used + 1, memory.user);
  if (block == NULL) {
    memory.free(solver, sizeof *solver, memory.user);
    return SALTUS_ERR_MEMORY;
  }
  memset(block, 0, arena.used + 1);
  solver->memory = memory;
  solver->arrays = block;
  solver->bytes = arena.used + 1;
  arena = saltus_arena_over(block, arena.used);
  saltusi_laws_layout(&solver->laws, contacts, rows, &arena);
  *out = solver;
  return SALTUS_OK;
}

void saltus_impact_solver_destroy(saltus_impact_solver* solver) {
  if (solver != NULL) {
    saltus_allocator memory = solver->memory;
    memory.free(solver->arrays, solver->bytes, memory.user);
    memory.free(solver, sizeof *solver, memory.user);
  }
}

saltus_status saltus_impact_solve(saltus_impact_solver* solver, const saltus_impacts* rule,
                                  const saltus_impact* impact, saltus_log log,
                                  saltus_impact_result* result) {
  assert(solver != NULL && impact != NULL && result != NULL);
  return saltusi_impact_solve(&solver->laws, rule, impact, log, result);
}
