/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * control.c - see control.h and include/saltus/control.h.
 */
#include "sim/control.h"

#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_control_layout(saltusi_control* control, const saltus_system* sys,
                            saltus_arena* arena) {
  const saltus_dims* dims = &sys->dims;
  assert(control != NULL && dims->nq >= 0 && dims->nv >= 0);
  control->full.q = SALTUS_PUSH(arena, double, dims->nq);
  control->full.v = SALTUS_PUSH(arena, double, dims->nv);
  control->middle.q = SALTUS_PUSH(arena, double, dims->nq);
  control->middle.v = SALTUS_PUSH(arena, double, dims->nv);
  control->half_joints = SALTUS_PUSH2(arena, double, 2, dims->nj);
  control->atol = SALTUS_PUSH(arena, double, dims->nv);
  control->error = SALTUS_PUSH(arena, double, dims->nq);
  saltusi_displacement_layout(&control->ways, sys, arena);
  saltusi_force_jumps_layout(&control->jumps, sys, arena);
}

bool saltusi_control_grow(saltusi_control* c, const saltus_allocator* memory, int contacts,
                          int events) {
  assert(contacts >= 0 && events >= 0);
  void* steps = c->half_contacts;
  void* list = c->half_events;
  bool good =
      saltusi_grow(memory, &steps, &c->half_contact_room, (size_t)contacts,
                   sizeof *c->half_contacts) &&
      saltusi_grow(memory, &list, &c->half_event_room, (size_t)events, sizeof *c->half_events);
  c->half_contacts = steps;
  c->half_events = list;
  return good;
}

void saltusi_control_release(saltusi_control* c, const saltus_allocator* memory) {
  assert(c != NULL);
  saltusi_release(memory, c->half_contacts, c->half_contact_room, sizeof *c->half_contacts);
  saltusi_release(memory, c->half_events, c->half_event_room, sizeof *c->half_events);
}

/* Result of a trial step. */
typedef struct attempt {
  double err_q, err_viol, err_jump;
  bool impact; /* an impact acted in one of its steps */
} attempt;

static bool has_impact(const saltus_step_report* report) {
  for (int i = 0; i < report->active; i++) {
    if (report->contacts[i].impact) {
      return true;
    }
  }
  return false;
}

/* Gaps by key: at the start, after one step, after two. */
enum { GAP_START, GAP_FULL, GAP_NEXT };

static saltus_status find_gaps(saltus_sim* sim, const saltus_state* x, double t, int which) {
  const saltus_point at = saltusi_sim_at(sim, t, x->q, x->v);
  saltus_status status = saltusi_sim_list(sim, &at);
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    sim->gaps[key].at[which] = INFINITY;
  }
  for (int i = 0; status == SALTUS_OK && i < sim->list.count; i++) {
    sim->gaps[sim->list.key[i]].at[which] = sim->list.gap[i];
  }
  return status == SALTUS_OK ? saltusi_observer_failed(sim, t) : status;
}

/* Largest ratio of position errors (c->error along each velocity) to their tolerances. */
static double largest_error(const saltus_sim* sim) {
  saltusi_control* c = sim->control;
  double largest = 0.0;
  saltusi_displacement_find_own(&c->ways, &sim->sys, sim->now.q);
  for (int i = 0; i < sim->sys.dims.nv; i++) {
    double size = fmax(saltusi_displacement_size(&c->ways, sim->now.q, i),
                       saltusi_displacement_size(&c->ways, sim->next.q, i));
    double tolerance =
        saltusi_displacement_tolerance(&c->ways, size, i, c->atol[i], c->options.rtol);
    largest = fmax(largest, fabs(c->error[i]) / fmax(tolerance, DBL_MIN));
  }
  return largest;
}

/* Copies the report of the first half, which the second would overwrite. */
static saltus_status keep_half(saltus_sim* sim) {
  saltusi_control* c = sim->control;
  if (!saltusi_control_grow(c, &sim->memory, c->half.active, c->half.event_count)) {
    saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
                "step control: no memory for %d contacts and %d events of a step", c->half.active,
                c->half.event_count);
    return SALTUS_ERR_MEMORY;
  }
  if (c->half.active > 0) {
    memcpy(c->half_contacts, c->half.contacts, (size_t)c->half.active * sizeof *c->half_contacts);
  }
  const size_t nj = (size_t)sim->sys.dims.nj;
  memcpy(c->half_joints, c->half.joint_impulses, nj * sizeof(double));
  if (c->half.joint_impacts != NULL) {
    memcpy(c->half_joints + nj, c->half.joint_impacts, nj * sizeof(double));
    c->half.joint_impacts = c->half_joints + nj;
  }
  if (c->half.event_count > 0) {
    memcpy(c->half_events, c->half.events, (size_t)c->half.event_count * sizeof(saltus_event));
  }
  c->half.events = c->half_events;
  c->half.contacts = c->half_contacts;
  c->half.joint_impulses = c->half_joints;
  return SALTUS_OK;
}

/* One step h and two steps h/2; the result of the two is kept. */
static saltus_status try_doubled(saltus_sim* sim, double h, attempt* result) {
  saltusi_control* c = sim->control;
  saltus_step_report report;
  double t = sim->now.t;
  saltus_status status = saltusi_scheme_try(sim->scheme, t, h, &sim->now, &c->full, &report);
  if (status != SALTUS_OK) {
    return status;
  }
  result->impact = has_impact(&report);
  status = saltusi_scheme_try(sim->scheme, t, 0.5 * h, &sim->now, &c->middle, &c->half);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_scheme_commit(sim->scheme);
  result->impact = result->impact || has_impact(&c->half);
  status = keep_half(sim);
  if (status != SALTUS_OK) {
    return status;
  }
  status =
      saltusi_scheme_try(sim->scheme, t + 0.5 * h, 0.5 * h, &c->middle, &sim->next, &sim->report);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_scheme_commit(sim->scheme);
  c->halves = true;
  result->impact = result->impact || has_impact(&sim->report);
  saltusi_difference(&sim->sys, c->full.q, sim->next.q, c->error);
  result->err_q = largest_error(sim);
  return find_gaps(sim, &c->full, t + h, GAP_FULL);
}

/* One step with the embedded estimate; velocities are controlled like positions. */
static saltus_status try_embedded(saltus_sim* sim, double h, attempt* result) {
  saltusi_control* c = sim->control;
  saltus_status status =
      saltusi_scheme_try(sim->scheme, sim->now.t, h, &sim->now, &sim->next, &sim->report);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_scheme_commit(sim->scheme);
  c->halves = false;
  result->impact = has_impact(&sim->report);
  const double* q_error;
  const double* v_error;
  saltusi_scheme_errors(sim->scheme, &q_error, &v_error);
  memcpy(c->error, q_error, (size_t)sim->sys.dims.nq * sizeof(double));
  saltusi_displacement_of_change(&c->ways, &sim->sys, sim->next.q, c->error);
  result->err_q = largest_error(sim);
  for (int i = 0; i < sim->sys.dims.nv; i++) {
    double size = fmax(fabs(sim->now.v[i]), fabs(sim->next.v[i]));
    double tol = fmax(c->options.atol + c->options.rtol * size, DBL_MIN);
    result->err_q = fmax(result->err_q, fabs(v_error[i]) / tol);
  }
  return SALTUS_OK;
}

static double new_violation(const saltus_sim* sim) {
  const saltusi_control* c = sim->control;
  double worst = 0.0;
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    double before = fmax(0.0, -sim->gaps[key].at[GAP_START]);
    double after = fmax(0.0, -sim->gaps[key].at[GAP_NEXT]);
    worst = fmax(worst, after - before);
  }
  return worst / fmax(c->options.atol, DBL_MIN);
}

/* The sign of some gap differs between the start, one step and two steps. */
static bool gaps_disagree(const saltus_sim* sim) {
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    bool start = sim->gaps[key].at[GAP_START] < 0.0;
    if (start != (sim->gaps[key].at[GAP_FULL] < 0.0) ||
        start != (sim->gaps[key].at[GAP_NEXT] < 0.0)) {
      return true;
    }
  }
  return false;
}

static bool gap_closes(const saltus_sim* sim) {
  for (int key = 0; key < sim->sys.dims.nc; key++) {
    if (sim->gaps[key].at[GAP_START] > 0.0 && sim->gaps[key].at[GAP_NEXT] <= 0.0) {
      return true;
    }
  }
  return false;
}

static int choose_order(const saltus_sim* sim, const attempt* a) {
  const saltusi_control* c = sim->control;
  if (a->err_jump > fmax(a->err_q, a->err_viol)) {
    return 0;
  }
  switch ((saltus_control_order)c->options.order) {
  case SALTUS_ORDER_0:
    return 0;
  case SALTUS_ORDER_1:
    return 1;
  case SALTUS_ORDER_PRINTED:
    return gap_closes(sim) ? 0 : 1;
  case SALTUS_ORDER_ROBUST:
    return a->impact || gaps_disagree(sim) || a->err_viol > a->err_q ? 0 : 1;
  case SALTUS_ORDER_EMBEDDED:
    if (a->err_viol > a->err_q || sim->report.error_order == SALTUSI_ERROR_ORDER_ZERO) {
      return 0;
    }
    return sim->report.error_order > 0 ? sim->report.error_order
                                       : saltusi_scheme_info(sim->scheme)->embedded_order;
  }
  return 0;
}

/* Defaults of step limits, from the remaining time. */
static void choose_limits(saltus_sim* sim, double limit) {
  saltusi_control* c = sim->control;
  if (c->h > 0.0) {
    return;
  }
  const saltus_control_options* o = &c->options;
  double least = 64.0 * DBL_EPSILON * (fabs(sim->now.t) + limit);
  c->h_min = fmax(o->h_min > 0.0 ? o->h_min : 1e-12 * limit, least);
  c->h_max = o->h_max > 0.0 ? o->h_max : 0.1 * limit;
  c->h = fmin(c->h_max, fmax(c->h_min, o->h_first > 0.0 ? o->h_first : 1e-3 * limit));
}

/* Restores the memory of the scheme after a failed or rejected trial step. */
static void undo(saltus_sim* sim) {
  saltusi_scheme_undo(sim->scheme);
}

static saltus_status try_once(saltus_sim* sim, double h, attempt* result) {
  saltusi_control* c = sim->control;
  bool embedded = c->options.order == SALTUS_ORDER_EMBEDDED;
  *result = (attempt){.impact = false};
  saltusi_scheme_mark(sim->scheme);
  saltus_status status = embedded ? try_embedded(sim, h, result) : try_doubled(sim, h, result);
  if (status == SALTUS_OK) {
    status = find_gaps(sim, &sim->next, sim->now.t + h, GAP_NEXT);
  }
  if (status == SALTUS_OK && c->options.violation != 0) {
    result->err_viol = new_violation(sim);
  }
  if (status == SALTUS_OK) {
    status = saltusi_force_jumps_error(sim, h, &result->err_jump);
  }
  c->attempts++;
  return status;
}

static saltus_status give_up(saltus_sim* sim, saltus_status status, double h) {
  if (status != SALTUS_OK) {
    return saltusi_scheme_explain(sim->scheme, status, sim->now.t, h);
  }
  saltusi_log(sim->def.log, SALTUS_LEVEL_ERROR,
              "step control: %d trial steps used up at t = %.17g s with h = %g s (steps_max)",
              sim->control->options.steps_max, sim->now.t, h);
  return SALTUS_ERR_STOPPED;
}

/* Trial steps that end close to a switching event: of length `hi` they end after it, of length `lo` before it. */
typedef struct switch_bracket {
  double lo, hi;     /* s; hi 0: no event was passed */
  double w_lo, w_hi; /* weights of the values there (Illinois rule) */
  double next;       /* s, length of the next trial step */
  int trials;
} switch_bracket;

/* Follows an accepted trial step h. True if the step has to be repeated with the length b->next: the first event is
 * inside of it. */
static bool passes_switch(saltus_sim* sim, switch_bracket* b, double h) {
  enum { TRIALS = 200 };
  double* g_lo = sim->observe.samples;
  double* g_hi = g_lo + sim->def.observables->event_count;
  if (b->hi == 0.0) {
    *b = (switch_bracket){.w_lo = 1.0, .w_hi = 1.0};
    saltusi_switch_passed(sim, &sim->now, g_lo);
  }
  double* g = sim->observe.samples + 2 * (size_t)sim->def.observables->event_count;
  const size_t bytes = (size_t)sim->def.observables->event_count * sizeof *g;
  const bool passed = saltusi_switch_passed(sim, &sim->next, g);
  if (passed) {
    memcpy(g_hi, g, bytes);
    b->w_lo *= b->hi > 0.0 ? 0.5 : 1.0;
    b->w_hi = 1.0;
    b->hi = h;
  } else if (b->hi > 0.0) {
    memcpy(g_lo, g, bytes);
    b->w_hi *= 0.5;
    b->w_lo = 1.0;
    b->lo = h;
  } else {
    return false;
  }
  const double width = b->hi - b->lo;
  if (width <= sim->control->h_min || ++b->trials > TRIALS) {
    b->next = b->hi;
    return !passed;
  }
  const double root = saltusi_switch_root(sim, b->w_lo, b->w_hi);
  const bool bisect = b->trials % 4 == 0 || !(root > 0.0 && root < 1.0);
  b->next = b->lo + width * (bisect ? 0.5 : root);
  return true;
}

/* Step towards `limit`, without a last one below the smallest step. */
static double step_before(const saltusi_control* c, double limit) {
  const double h = fmin(c->h, limit);
  return limit - h < c->h_min ? limit : h;
}

saltus_status saltusi_control_step(saltus_sim* sim, double limit) {
  assert(sim->control != NULL && limit > 0.0);
  saltusi_control* c = sim->control;
  const saltus_control_options* o = &c->options;
  choose_limits(sim, limit);
  saltus_status status = find_gaps(sim, &sim->now, sim->now.t, GAP_START);
  int rejections = 0;
  switch_bracket event = {.hi = 0.0};
  while (status == SALTUS_OK) {
    const double h = event.hi > 0.0 ? event.next : step_before(c, limit);
    if (c->attempts >= o->steps_max) {
      return give_up(sim, SALTUS_OK, h);
    }
    attempt a;
    saltus_status tried = try_once(sim, h, &a);
    if (tried < 0 || (tried > 0 && h <= c->h_min)) {
      undo(sim);
      return give_up(sim, tried, h);
    }
    double err = tried == SALTUS_OK ? fmax(fmax(a.err_q, a.err_viol), a.err_jump) : INFINITY;
    int order = tried == SALTUS_OK ? choose_order(sim, &a) : 0;
    double factor = o->alpha * pow(err, -1.0 / (order + 1.0));
    factor = fmin(o->alpha_max, fmax(o->alpha_min, factor)); /* err = 0: factor infinite */
    bool accepted = err <= 1.0 || (tried == SALTUS_OK && h <= c->h_min);
    factor = accepted ? factor : fmin(factor, o->reject_most);
    /* a step shortened by the end of the run is no reason against a longer one */
    bool cut = accepted && h < c->h && (factor >= 1.0 || event.hi > 0.0);
    c->h = fmin(c->h_max, fmax(c->h_min, cut ? fmax(c->h, h * factor) : h * factor));
    if (accepted && sim->switches && passes_switch(sim, &event, h)) {
      undo(sim);
      continue;
    }
    event.hi = accepted ? event.hi : 0.0;
    if (accepted) {
      sim->report.h = h;
      sim->report.error = err;
      sim->report.error_order = order;
      sim->report.rejections = rejections;
      return SALTUS_OK;
    }
    undo(sim);
    rejections++;
  }
  return status;
}
