/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal.c - the step through collisions and transitions (Potra et al. 2006, section 8, corrected;
 * docs/theory/trapezoidal.md, 3), and the two schemes made of it.
 *
 *   until the end of the step:
 *     active       closed in the last substep; or gap <= contact_gap or just hit, and does not separate
 *     entry        an active contact that approaches: an impact of all active contacts
 *     solve        to the end of the step by complementarity
 *     collision    contacts that are not active and end with a gap below zero: state at the first
 *                  root of the cubic through gaps and rates, an impact of the active contacts and of all
 *                  that hit at that time
 *     transition   to the first change of mode; the next substep looks for none
 *     accept       otherwise
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include "base/log.h"
#include "base/number.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Smallest limit of substeps; a step with more substeps fails. */
enum { SUBSTEPS_LEAST = 2000 };

/* A remainder below this part of the step counts as zero. */
static const double nothing = 1e-13;

saltus_status saltusi_trapezoid_gaps(saltusi_trapezoid* w, double t, const double* q, double* gap) {
  assert(w != NULL);
  const saltus_system* sys = &w->eval->sys;
  saltus_point at = saltusi_at(w->eval, t, q, w->v);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < sys->dims.nc; key++) {
    gap[key] = INFINITY;
  }
  for (int i = 0; i < w->list.count; i++) {
    gap[w->list.key[i]] = w->list.gap[i];
    w->law_of[w->list.key[i]] = w->list.law[i];
  }
  return SALTUS_OK;
}

double saltusi_trapezoid_velocity(saltusi_trapezoid* w, int key, double slip[2]) {
  assert(w != NULL && key >= 0);
  const saltus_system* sys = &w->eval->sys;
  saltus_point at = saltusi_at(w->eval, w->t, w->q, w->v);
  int tangents = sys->laws[w->law_of[key]].tangents;
  saltusi_rows_contact(sys, &at, key, 1 + tangents, &w->row, 0);
  saltusi_rows_check(sys, &at, key, &w->row, 0);
  for (int r = 0; r < 2; r++) {
    slip[r] = r < tangents ? saltusi_row_dot(&w->row, 1 + r, w->v) + w->row.b[1 + r] : 0.0;
  }
  return saltusi_row_dot(&w->row, 0, w->v) + w->row.b[0];
}

void saltusi_trapezoid_report(saltusi_trapezoid* w, const saltus_event* event) {
  assert(w != NULL && event != NULL);
  saltusi_step_event(w->s, event);
}

void saltusi_trapezoid_add_impulses(saltusi_trapezoid* w, const double* p, bool impact) {
  assert(w != NULL);
  for (int j = 0; j < w->law.joints; j++) {
    w->s->joint_impulses[j] += p[j];
    w->s->joint_impacts[j] += impact ? p[j] : 0.0;
  }
  for (int i = 0; i < w->law.count; i++) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    saltus_contact_step* summary = &w->summary[contact->key];
    w->reported[contact->key] = true;
    for (int r = 0; r <= contact->tangents; r++) {
      summary->impulse[r] += p[contact->row + r];
    }
    summary->impact = summary->impact || (impact && p[contact->row] > 0.0);
  }
}

static bool is_closed(const saltusi_mode* mode) {
  return mode->kind == SALTUSI_MODE_STICK || mode->kind == SALTUSI_MODE_SLIP;
}

/* Removes redundant contacts from the law (10.4): they stay active, and collide with no bound of their own. */
static void filter(saltusi_trapezoid* w) {
  const saltus_system* sys = &w->eval->sys;
  const int count = w->law.count;
  const saltus_point at = saltusi_at(w->eval, w->t, w->q, w->v);
  const saltusi_row_block* rows = saltusi_polyhedral_rows_look(&w->law, sys, &at);
  for (int i = 0; i < count; i++) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    w->filtered[i] = (saltusi_filtered_contact){.row = contact->row,
                                                .kind = contact->law,
                                                .term = rows->b[contact->row],
                                                .friction = contact->mu > 0.0};
    w->struck_keys[i] = contact->key;
  }
  const double size = fmax(1.0, saltusi_max_abs(sys->dims.nq, w->q));
  if (!saltusi_find_redundant(rows, count, w->filtered, saltusi_body_width(sys),
                              w->o->filter == SALTUS_FILTER_FLAT,
                              64.0 * DBL_EPSILON * size / w->s->h)) {
    return;
  }
  saltusi_polyhedral_rows_start(&w->law, sys, w->o->joints != 0);
  for (int i = 0; i < count; i++) {
    const int key = w->struck_keys[i];
    if (!w->filtered[i].redundant) {
      saltusi_polyhedral_rows_add(&w->law, sys, key, w->law_of[key]);
    }
  }
}

/* The contacts of the law: w->active, without redundant ones if these are filtered. */
static void collect(saltusi_trapezoid* w) {
  const saltus_system* sys = &w->eval->sys;
  saltusi_polyhedral_rows_start(&w->law, sys, w->o->joints != 0);
  for (int key = 0; key < sys->dims.nc; key++) {
    if (w->active[key]) {
      saltusi_polyhedral_rows_add(&w->law, sys, key, w->law_of[key]);
    }
  }
  if (w->o->filter != SALTUS_FILTER_NO && w->law.count > 2) {
    filter(w);
  }
}

saltus_status saltusi_trapezoid_measure(saltusi_trapezoid* w) {
  assert(w != NULL);
  if (w->measured) {
    return SALTUS_OK;
  }
  saltus_point at = saltusi_at(w->eval, w->t, w->q, w->v);
  saltus_status status = saltusi_linear_assemble(w->eval, &w->mass, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_force(w->eval, &at, w->push);
    saltusi_linear_solve(w->eval, &w->mass, w->push);
    for (int i = 0; i < w->eval->sys.dims.nv; i++) {
      w->push[i] *= w->s->h;
    }
    w->push_size = saltusi_max_abs(w->eval->sys.dims.nv, w->push);
    w->measured = true;
  }
  return status;
}

double saltusi_trapezoid_rounding(const saltusi_trapezoid* w) {
  assert(w != NULL);
  /* forces that joints transmit to the contact are not in its row */
  double slope = saltusi_row_sum(&w->row, 0);
  return 1e-12 * (saltusi_row_size(&w->row, 0, w->s->v0) + slope * w->push_size);
}

/* A contact that opens is released; otherwise the law on the end velocity would keep it active. */
static bool leaves(saltusi_trapezoid* w, int key) {
  double slip[2];
  double u = saltusi_trapezoid_velocity(w, key, slip);
  return u > saltusi_trapezoid_rounding(w);
}

void saltusi_trapezoid_release(saltusi_trapezoid* w) {
  assert(w != NULL);
  for (int i = 0; i < w->law.count; i++) {
    int key = w->law.contacts[i].key;
    if (is_closed(&w->reported_mode[key]) && leaves(w, key)) {
      saltusi_trapezoid_report(
          w, &(saltus_event){.kind = SALTUS_EVENT_OPEN, .contact = key, .t = w->t});
      w->reported_mode[key].kind = SALTUSI_MODE_OPEN;
    }
  }
}

static saltus_status choose_active(saltusi_trapezoid* w) {
  saltus_status status = saltusi_trapezoid_gaps(w, w->t, w->q, w->gap);
  for (int key = 0; key < w->eval->sys.dims.nc && status == SALTUS_OK; key++) {
    bool there = w->gap[key] < (double)INFINITY;
    bool touches = there && (w->gap[key] <= saltusi_trapezoid_near(w) || w->hit[key]);
    bool free = !is_closed(&w->reported_mode[key]) && !touches;
    if (there && !free) {
      status = saltusi_trapezoid_measure(w);
      free = status == SALTUS_OK && !is_closed(&w->reported_mode[key]) && leaves(w, key);
    }
    w->active[key] = there && !free;
  }
  if (status == SALTUS_OK) {
    collect(w);
  }
  return status;
}

/* Direction of friction of each sliding contact, and whether a contact is in Painleve's region:
 * more normal force there makes the contact approach faster (docs/theory/adaptive.md, 7). */
static void choose_sliding(saltusi_trapezoid* w) {
  for (int i = 0; i < w->law.count; i++) {
    saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    contact->sliding = -1;
    double most = 0.0;
    double slip[2];
    if (contact->directions == 0) {
      continue;
    }
    saltusi_trapezoid_velocity(w, contact->key, slip);
    for (int k = 0; k < contact->directions; k++) {
      double against = -saltusi_polyhedral_along(contact, k, slip);
      if (against > most) {
        most = against;
        contact->sliding = k;
      }
    }
  }
}

/* Reports contacts that have entered Painleve's region; whether any is in it. */
static bool find_paradox(saltusi_trapezoid* w) {
  bool any = false;
  for (int i = 0; i < w->law.count; i++) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    double slip[2];
    bool inside = contact->sliding >= 0 && contact->coupling < 0.0;
    if (inside && !w->paradox[contact->key]) {
      saltusi_trapezoid_report(
          w, &(saltus_event){.kind = SALTUS_EVENT_PAINLEVE,
                             .t = w->t,
                             .contact = contact->key,
                             .u_before = saltusi_trapezoid_velocity(w, contact->key, slip)});
    }
    w->paradox[contact->key] = inside;
    any = any || inside;
  }
  return any;
}

/* The rest of the step by complementarity, into w->whole. Mean velocities would reverse a jamming
 * tip: in Painleve's region both schemes constrain the end velocity. */
static saltus_status solve_whole(saltusi_trapezoid* w) {
  choose_sliding(w);
  saltus_status status = saltusi_trapezoid_prepare(w, w->left, w->mean);
  if (status == SALTUS_OK) {
    status = saltusi_polyhedral_rows_solve(&w->law, w->eval);
  }
  if (status == SALTUS_OK && find_paradox(w) && w->mean) {
    status = saltusi_trapezoid_prepare(w, w->left, false);
    if (status == SALTUS_OK) {
      status = saltusi_polyhedral_rows_solve(&w->law, w->eval);
    }
  }
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < w->law.count; i++) {
    w->whole_mode[i] = w->law.mode[i];
  }
  w->whole_residual = w->law.residual;
  saltusi_trapezoid_finish(w, w->left, &w->whole);
  return saltusi_trapezoid_gaps(w, w->t + w->left, w->whole.q, w->gap_end);
}

/* Advances the present time; a remainder at the level of rounding is dropped. */
static void pass(saltusi_trapezoid* w, double x) {
  w->left -= x;
  w->t = w->s->t + (w->s->h - w->left);
  if (w->left <= nothing * w->s->h) {
    w->left = 0.0;
    w->t = w->s->t + w->s->h;
  }
}

static void take_state(saltusi_trapezoid* w, const double* q, const double* v) {
  memcpy(w->q, q, (size_t)w->eval->sys.dims.nq * sizeof(double));
  memcpy(w->v, v, (size_t)w->eval->sys.dims.nv * sizeof(double));
}

/* A body that rocks from corner to corner has no end of its impacts by restitution. When a contact
 * has had too many impacts, the contacts with repeated impacts and a gap below the displacement by
 * forces in a step stop together. */
static saltus_status come_to_rest(saltusi_trapezoid* w) {
  int nc = w->eval->sys.dims.nc;
  saltus_status status = saltusi_trapezoid_gaps(w, w->t, w->q, w->gap);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int key = 0; key < nc; key++) {
    double slip[2];
    if (w->hit_count[key] > 1 && w->gap[key] < (double)INFINITY) {
      saltusi_trapezoid_velocity(w, key, slip);
      w->hit[key] = w->gap[key] <= w->s->h * saltusi_row_size(&w->row, 0, w->push);
      w->active[key] = w->active[key] || w->hit[key];
    }
  }
  collect(w);
  return saltusi_trapezoid_stop(w);
}

/* To the collision at x, whose state is in w->trial, and the impact. */
static saltus_status collide(saltusi_trapezoid* w, double x) {
  saltusi_trapezoid_add_impulses(w, w->trial.P, false);
  saltusi_trapezoid_dense_add(w, x, w->trial.v);
  take_state(w, w->trial.q, w->trial.v);
  pass(w, x);
  for (int key = 0; key < w->eval->sys.dims.nc; key++) {
    w->active[key] = w->active[key] || w->hit[key];
    w->hit_count[key] += w->hit[key] ? 1 : 0;
  }
  w->struck = true;
  bool approach;
  collect(w);
  saltus_status status = saltusi_trapezoid_restitution(w, false, &approach);
  bool often = false;
  for (int i = 0; i < w->law.count; i++) {
    const int key = w->law.contacts[i].key;
    often =
        often || (w->hit[key] && w->hit_count[key] >= SALTUSI_TRAPEZOID_HITS && !w->rebounds[i]);
  }
  if (status == SALTUS_OK) {
    status = saltusi_trapezoid_impact(w);
  }
  return status == SALTUS_OK && often ? come_to_rest(w) : status;
}

/* Active contacts that approach: an impact before any motion. Contacts that open after it are
 * released. */
static saltus_status enter(saltusi_trapezoid* w) {
  bool approach;
  saltus_status status = saltusi_trapezoid_restitution(w, true, &approach);
  if (status == SALTUS_OK && approach) {
    status = saltusi_trapezoid_impact(w);
    return status == SALTUS_OK ? choose_active(w) : status;
  }
  return status;
}

/* Whether two modes of sliding are opposite. */
static bool reverses(const saltusi_polyhedral_contact* contact, const saltusi_mode* a,
                     const saltusi_mode* b) {
  if (contact->directions == 0 || a->direction[0] < 0 || b->direction[0] < 0) {
    return false;
  }
  int turn = abs(a->direction[0] - b->direction[0]);
  int quarter = contact->directions / 4;
  return turn > quarter && turn < contact->directions - quarter;
}

/* Reports the new modes of a substep of length x from `start` on as events. After a located
 * transition the change is at its start. */
static void follow_modes(saltusi_trapezoid* w, double start, double x) {
  for (int i = 0; i < w->law.count; i++) {
    const saltusi_polyhedral_contact* contact = &w->law.contacts[i];
    saltusi_mode* reported = &w->reported_mode[contact->key];
    const saltusi_mode* now = &w->whole_mode[i];
    bool was = is_closed(reported);
    bool is = is_closed(now);
    saltus_event event = {.contact = contact->key,
                          .t = w->located ? start : start + x,
                          .t_accuracy = w->located ? 1e-9 * w->s->h : x};
    bool has_friction = contact->directions > 0 && was && is;
    bool change = true;
    if (was != is) {
      event.kind = is ? SALTUS_EVENT_CLOSE : SALTUS_EVENT_OPEN;
    } else if (has_friction && reported->kind != now->kind) {
      event.kind = now->kind == SALTUSI_MODE_STICK ? SALTUS_EVENT_STICK : SALTUS_EVENT_SLIP;
    } else if (has_friction && reverses(contact, reported, now)) {
      event.kind = SALTUS_EVENT_REVERSAL;
    } else {
      change = false;
    }
    if (change) {
      saltusi_trapezoid_report(w, &event);
    }
    *reported = *now;
  }
}

/* Contacts that are no longer active have opened. */
static void follow_released(saltusi_trapezoid* w) {
  for (int key = 0; key < w->eval->sys.dims.nc; key++) {
    if (!w->active[key]) {
      if (is_closed(&w->reported_mode[key])) {
        saltusi_trapezoid_report(
            w, &(saltus_event){.kind = SALTUS_EVENT_OPEN, .contact = key, .t = w->t});
      }
      w->reported_mode[key].kind = SALTUSI_MODE_OPEN;
      w->mode[key].kind = SALTUSI_MODE_OPEN;
      w->paradox[key] = false;
    }
  }
}

static void accept_whole(saltusi_trapezoid* w) {
  double start = w->t;
  double x = w->left;
  saltus_step_report* report = w->s->report;
  report->residual_velocity = fmax(report->residual_velocity, w->whole_residual);
  saltusi_trapezoid_add_impulses(w, w->whole.P, false);
  saltusi_trapezoid_dense_add(w, x, w->whole.v);
  take_state(w, w->whole.q, w->whole.v);
  pass(w, x);
  follow_modes(w, start, x);
  for (int i = 0; i < w->law.count; i++) {
    w->mode[w->law.contacts[i].key] = w->whole_mode[i];
  }
  w->located = false;
}

/* Substeps that become shorter than the option end the location of events in this step (section 9). */
static bool locates(saltusi_trapezoid* w) {
  enum { SUCCESSION = 2 };
  if (w->short_substeps < SUCCESSION) {
    return true;
  }
  if (!w->unlocated) {
    w->unlocated = true;
    saltusi_log(w->s->log, SALTUS_LEVEL_WARNING,
                "from t = %.17g on, events of the step are not located (substep_min = %g): order 1",
                w->t, w->o->substep_min);
  }
  return false;
}

static void count_short(saltusi_trapezoid* w, double length) {
  w->short_substeps = length < w->o->substep_min * w->s->h ? w->short_substeps + 1 : 0;
}

/* One substep: to a collision, to a transition, or to the end. */
static saltus_status substep(saltusi_trapezoid* w, int* transitions) {
  saltus_status status = choose_active(w);
  if (status == SALTUS_OK) {
    follow_released(w);
    status = enter(w);
  }
  if (status == SALTUS_OK) {
    status = solve_whole(w);
  }
  double length = 0.0;
  const bool located = locates(w);
  if (status == SALTUS_OK && located) {
    status = saltusi_trapezoid_collision(w, &length);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (length > 0.0) {
    w->located = false;
    count_short(w, length);
    return collide(w, length);
  }
  if (w->o->detection != 0 && located && !w->located && *transitions < w->o->events_max &&
      w->law.count > 0) {
    status = saltusi_trapezoid_transition(w, &length);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  if (length > 0.0) {
    count_short(w, length);
    saltusi_trapezoid_add_impulses(w, w->trial.P, false);
    saltusi_trapezoid_dense_add(w, length, w->trial.v);
    take_state(w, w->trial.q, w->trial.v);
    pass(w, length);
    for (int i = 0; i < w->law.count; i++) {
      w->mode[w->law.contacts[i].key].kind = SALTUSI_MODE_UNKNOWN;
    }
    (*transitions)++;
    w->located = true;
    return SALTUS_OK;
  }
  accept_whole(w);
  return SALTUS_OK;
}

/* Modes as numbers for the memory of a scheme: kind + 4 (first + 1) + 512 (second + 1). */
static double encode(const saltusi_mode* mode) {
  return (double)mode->kind + 4.0 * (mode->direction[0] + 1) + 512.0 * (mode->direction[1] + 1);
}

static saltusi_mode decode(double code) {
  int whole = (int)code;
  return (saltusi_mode){.kind = (saltusi_mode_kind)(whole % 4),
                        .direction = {whole / 4 % 128 - 1, whole / 512 - 1}};
}

bool saltusi_trapezoid_memory_valid(const saltus_system* sys, int directions,
                                    const double* memory) {
  assert(sys != NULL && memory != NULL);
  enum { CODES = 512 * 129 };
  bool good = true;
  for (int i = 0; good && i < 2 * sys->dims.nc; i++) {
    const double code = memory[SALTUSI_TRAPEZOID_CARRIED * (i / 2) + i % 2];
    good = saltusi_is_whole(code, 0.0, CODES - 1);
    const saltusi_mode mode = decode(good ? code : 0.0);
    good = good && mode.direction[0] < directions && mode.direction[1] < directions;
  }
  return good;
}

static saltus_status start_step(saltusi_trapezoid* w) {
  const saltusi_step* s = w->s;
  const saltus_dims* d = &s->eval->sys.dims;
  w->t = s->t;
  w->left = s->h;
  w->located = false;
  w->measured = false;
  w->struck = false;
  w->short_substeps = 0;
  take_state(w, s->q0, s->v0);
  saltusi_trapezoid_dense_clear(s->dense);
  memset(s->joint_impulses, 0, (size_t)d->nj * sizeof(double));
  saltus_status status = saltusi_trapezoid_gaps(w, w->t, w->q, w->gap_start);
  for (int key = 0; key < d->nc && status == SALTUS_OK; key++) {
    const double* carried = s->memory0 + (size_t)SALTUSI_TRAPEZOID_CARRIED * (size_t)key;
    double slip[2];
    w->hit_count[key] = 0;
    w->hit[key] = false;
    w->active[key] = false;
    w->reported[key] = false;
    w->mode[key] = decode(carried[0]);
    w->reported_mode[key] = decode(carried[1]);
    w->paradox[key] = carried[2] != 0.0;
    w->summary[key] = (saltus_contact_step){.key = key, .law = w->law_of[key]};
    if (w->gap_start[key] < (double)INFINITY) {
      w->u_start[key] = saltusi_trapezoid_velocity(w, key, slip);
      memcpy(w->summary[key].slip_before, slip, sizeof slip);
    }
  }
  return status;
}

static saltus_status finish_step(saltusi_trapezoid* w) {
  const saltusi_step* s = w->s;
  const saltus_dims* d = &s->eval->sys.dims;
  if (w->mean &&
      d->nj >
          0) { /* the violation of joints by the end velocity, which the mean velocity leaves, would alternate and grow */
    saltus_point end = saltusi_at(s->eval, w->t, w->q, w->v);
    saltus_status status =
        saltusi_project_grown_velocities(&w->end, s->eval, &end, w->v, s->joint_impulses);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  saltusi_trapezoid_dense_add(w, 0.0, w->v);
  memcpy(s->q1, w->q, (size_t)d->nq * sizeof(double));
  memcpy(s->v1, w->v, (size_t)d->nv * sizeof(double));
  for (int key = 0; key < d->nc; key++) {
    double* carried = s->memory1 + (size_t)SALTUSI_TRAPEZOID_CARRIED * (size_t)key;
    carried[0] = encode(&w->mode[key]);
    carried[1] = encode(&w->reported_mode[key]);
    carried[2] = w->paradox[key] ? 1.0 : 0.0;
    if (!w->reported[key]) {
      continue;
    }
    saltus_contact_step* contact = &s->contacts[s->report->active++];
    *contact = w->summary[key];
    contact->gap = w->gap_start[key];
    contact->u_before = contact->impact ? contact->u_before : w->u_start[key];
    contact->u_after = saltusi_trapezoid_velocity(w, key, contact->slip_after);
    contact->impulse[0] = fmax(contact->impulse[0], 0.0);
  }
  return SALTUS_OK;
}

/* Exact derivatives where the effective mass is positive definite with them, section 11. */
static void choose_jacobians(saltusi_trapezoid* w) {
  const saltus_system* sys = &w->s->eval->sys;
  w->approximate_ops.force_q = sys->ops->force_q;
  w->approximate_ops.force_v = sys->ops->force_v;
  saltusi_advance(sys, w->q, w->v, 0.5 * w->s->h, w->q_mid);
  w->effective.fv = 0.0; /* of the last step */
  if (!saltusi_trapezoid_is_definite(w, w->s->h)) {
    w->approximate_ops.force_q = sys->ops->spring_q;
    w->approximate_ops.force_v = sys->ops->spring_v;
  }
}

saltus_status saltusi_trapezoid_step(saltusi_trapezoid* w, const saltus_trapezoidal_options* o,
                                     const saltusi_step* s, bool mean) {
  assert(w != NULL && o != NULL && s != NULL);
  w->o = o;
  w->s = s;
  w->mean = mean;
  const bool exact = o->jacobians == SALTUS_JACOBIANS_EXACT;
  w->eval = exact ? s->eval : &w->approximate;
  w->approximate.work = (saltus_work){0};
  w->approximate.room = s->eval->room;
  saltus_status status = start_step(w);
  if (status == SALTUS_OK && o->jacobians == SALTUS_JACOBIANS_AUTOMATIC) {
    choose_jacobians(w);
  }
  int transitions = 0;
  /* collisions and transitions are counted, so the loop ends; this is a last resort */
  int most = 2 * (SALTUSI_TRAPEZOID_HITS * s->eval->sys.dims.nc + o->events_max);
  most = most > SUBSTEPS_LEAST ? most : SUBSTEPS_LEAST;
  for (int k = 0; status == SALTUS_OK && w->left > 0.0; k++) {
    status = k < most ? substep(w, &transitions) : SALTUS_RETRY_SMALLER;
    if (k == 0 && status == SALTUS_OK) {
      saltusi_trapezoid_check_definite(w, s->h);
    }
  }
  if (status == SALTUS_OK) {
    status = finish_step(w);
  }
  if (!exact) {
    s->eval->room = w->approximate.room;
    s->eval->dependent |= w->approximate.dependent;
  }
  s->eval->work.force_evaluations += w->approximate.work.force_evaluations;
  s->eval->work.contact_solves += w->approximate.work.contact_solves;
  s->eval->work.factorizations += w->approximate.work.factorizations;
  return status;
}
