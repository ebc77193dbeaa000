/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * transition.c - from an event to the next status (sections 4.2, 5.1 and 7).
 *
 *   hit     impact law on all closed contacts and those that hit; rebounds below the
 *           tolerance close; the status problem decides the closed ones
 *   open    the status problem, repeated without the contact if it does not open
 *   stop    U_T = 0, the status problem decides: stick, slide back, or open
 *   slide   the status problem with every contact at rest undecided
 *   guard   contacts whose features end are replaced by those that touch there; all are decided again
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/mode/impact.h"
#include "adaptive/thresholds.h"
#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Fraction of the tolerance that closing a contact may cost (section 2). */
static const double closing_part = 0.1;
enum { PAINLEVE_MAX = 3 };

static double slip_of(const saltusi_mode_dynamics* m, const double* y, int key) {
  int tangents = m->o->tangents[key];
  double u[SALTUSI_SLIPS];
  for (int k = 0; k < tangents; k++) {
    u[k] = saltusi_contact_velocity(m, y, key, 1 + k);
  }
  return tangents == 1 ? u[0] : saltusi_length(tangents, u);
}

/* Slip below which a contact does not move; a spatial one starts from twice the floor (perturbed_restart.c), and
 * half of it more separates the two. */
static double slow_for(const saltusi_layout_tables* o, int key, double slow) {
  return o->tangents[key] >= 2 ? fmax(slow, 2.5 * o->slip_floor) : slow;
}

/* The direction in which a spatial contact moves. */
static void note_direction(saltusi_decision* d, const double* y, int key) {
  double slip = slip_of(d->mode, y, key);
  int tangents = d->o->tangents[key];
  for (int k = 0; tangents >= 2 && slip > 0.0 && k < tangents; k++) {
    d->direction[SALTUSI_SLIPS * key + k] = saltusi_contact_velocity(d->mode, y, key, 1 + k) / slip;
  }
}

/* Whether a planar contact moves along its tangent; its sense. */
static double moving_sense(const saltusi_adaptive* w, const double* y, int key) {
  if (w->o.mu[key] == 0.0 || w->o.tangents[key] != 1) {
    return 0.0;
  }
  double slip = saltusi_contact_velocity(&w->mode, y, key, 1);
  return fabs(slip) <= saltusi_slip_rounding(&w->decision) ? 0.0 : slip > 0.0 ? 1.0 : -1.0;
}

/* Whether a rebound is so small that closing the contact is below the tolerance (section 5.1). Its acceleration is
 * that with the candidates so far in their old status; P of it is given. */
static bool is_small_rebound(saltusi_adaptive* w, double t, const double* y, int key,
                             double gamma) {
  if (!(gamma < 0.0)) {
    return false;
  }
  double u = saltusi_contact_velocity(&w->mode, y, key, 0);
  double apex = u * u / (-2.0 * gamma);
  int row = w->o.nj + w->o.base[key];
  int island;
  saltusi_island in = saltusi_reduced_island_of(&w->mode, key, &island);
  double* x = w->transition.part;
  memset(x, 0, (size_t)in.k * sizeof(double));
  saltusi_island_add_row(&in, &w->mode.row, row, 1.0, x);
  double sense = moving_sense(w, y, key);
  if (sense != 0.0) { /* the remaining bounces have friction, too */
    double slip = fabs(saltusi_contact_velocity(&w->mode, y, key, 1));
    double mu = w->o.mu[key] * saltusi_friction_mode_ratio(&w->o, key, slip);
    saltusi_island_add_row(&in, &w->mode.row, row + 1, -mu * sense, x);
  }
  saltusi_reduced_inverse(&w->mode, island, x);
  double compliance = saltusi_island_dot(&in, &w->mode.row, row, x);
  for (int i = 0; i < in.k; i++) {
    x[i] /= compliance;
  }
  memset(w->transition.x, 0, (size_t)w->o.nv * sizeof(double));
  saltusi_island_scatter(&in, 1.0, x, w->transition.x);
  double in_q;
  double in_v;
  saltusi_adaptive_measure(w, y, w->transition.x, apex, u, &in_q, &in_v);
  bool small =
      (in_q <= closing_part && in_v <= closing_part) || apex <= saltusi_no_flight * w->o.size;
  double e_N = w->o.law[key]->e_N;
  if (small && e_N > 0.0 && e_N < 1.0) {
    double rest = 2.0 * u / (-gamma * (1.0 - e_N));
    saltusi_report(w, (saltus_event){.kind = SALTUS_EVENT_ACCUMULATION,
                                     .contact = key,
                                     .t = t + rest,
                                     .t_accuracy = rest,
                                     .u_before = u});
  }
  return small;
}

/* y' with the candidates so far in their old status and nothing else closed. */
static saltus_status rate_of_rebounds(saltusi_adaptive* w, double t, const double* y,
                                      int candidates) {
  memcpy(w->transition.kept, w->contact, (size_t)w->o.nc * sizeof *w->contact);
  for (int a = 0; a < w->o.nc; a++) {
    w->contact[a].mode = SALTUSI_OPEN;
  }
  for (int i = 0; i < candidates; i++) {
    w->contact[w->transition.cand[i]].mode = w->transition.old[w->transition.cand[i]].mode;
  }
  saltus_status status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
  memcpy(w->contact, w->transition.kept, (size_t)w->o.nc * sizeof *w->contact);
  return status;
}

/* Whether the last impact made a contact rebound that is at rest up to rounding: the end of its bounces, even if
 * they exceed the tolerance. */
static bool has_bounced(const saltusi_adaptive* w, int key, double u, double rounding) {
  double e_N = w->o.law[key]->e_N;
  double before = w->decision.u_before[w->o.base[key]];
  return e_N > 0.0 && e_N < 1.0 && before < -rounding && u > 0.5 * e_N * -before;
}

/* Candidates for closing among the contacts of the set, into w->transition.cand. hit: after an impact. */
static saltus_status find_candidates(saltusi_adaptive* w, double t, const double* y, int count,
                                     bool hit, int* candidates) {
  double rounding = saltusi_normal_rounding(w, y);
  int* rebound = w->transition.rebound;
  int n = 0;
  int rebounds = 0;
  for (int i = 0; i < count; i++) {
    int key = w->transition.members[i];
    double u = saltusi_contact_velocity(&w->mode, y, key, 0);
    if (u <= rounding && !(hit && has_bounced(w, key, u, rounding))) {
      w->transition.cand[n++] = key;
    } else {
      rebound[rebounds++] = key;
    }
  }
  saltus_status status = SALTUS_OK;
  if (rebounds > 0) {
    status = rate_of_rebounds(w, t, y, n);
  }
  if (rebounds > 0 && status == SALTUS_OK) {
    status = saltusi_reduce(&w->mode, t, y, true, rebound, rebounds);
  }
  for (int i = 0; i < rebounds && status == SALTUS_OK; i++) {
    double gamma = saltusi_mode_gamma_of(&w->mode, t, y, w->transition.rate, rebound[i]);
    bool rests = saltusi_contact_velocity(&w->mode, y, rebound[i], 0) <= rounding;
    if (is_small_rebound(w, t, y, rebound[i], gamma) || rests) {
      w->transition.cand[n++] = rebound[i];
    }
  }
  *candidates = n;
  return status;
}

/* Whether a contact with friction does not move along its tangents. */
static bool holds_on(const saltusi_adaptive* w, const double* y, int key) {
  double slow = slow_for(&w->o, key, saltusi_slip_rounding(&w->decision));
  return w->o.mu[key] > 0.0 && fabs(slip_of(&w->mode, y, key)) <= slow;
}

/* U := 0 of the candidates, along M^-1 (G_N - mu s G_T) where they slide: their remaining bounces have normal and
 * friction impulses like those before (section 5.1). Slip that would reverse stops instead. hold: sticking
 * contacts remain at rest. */
static saltus_status close_candidates(saltusi_adaptive* w, double t, double* y, int candidates,
                                      bool hold) {
  enum { TURNS = 3 };
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < candidates; i++) {
    w->contact[w->transition.cand[i]].mode = SALTUSI_STICK_IDLE;
  }
  status = saltusi_mode_project_closed(&w->mode, t, y);
  saltusi_mode_rows(&w->mode, t, y, true);
  memcpy(w->transition.v_struck, saltusi_v_of(&w->o, y), (size_t)w->o.nv * sizeof(double));
  for (int i = 0; i < candidates; i++) {
    saltusi_contact* c = &w->contact[w->transition.cand[i]];
    double sense = moving_sense(w, y, w->transition.cand[i]);
    bool holds = hold && sense == 0.0 && holds_on(w, y, w->transition.cand[i]);
    c->mode = sense != 0.0 ? SALTUSI_SLIP : holds ? SALTUSI_STICK : SALTUSI_STICK_IDLE;
    c->sense = sense != 0.0 ? sense : c->sense;
  }
  bool turned = true;
  for (int k = 0; k < TURNS && turned && status == SALTUS_OK; k++) {
    turned = false;
    memcpy(y + w->o.nq, w->transition.v_struck, (size_t)w->o.nv * sizeof(double));
    status = saltusi_mode_close_velocity(&w->mode, t, y);
    saltusi_mode_rows(&w->mode, t, y, true);
    for (int i = 0; i < candidates; i++) {
      int key = w->transition.cand[i];
      bool slides = w->contact[key].mode == SALTUSI_SLIP;
      if (slides && w->contact[key].sense * saltusi_contact_velocity(&w->mode, y, key, 1) < 0.0) {
        w->contact[key].mode = SALTUSI_STICK;
        turned = true;
      }
    }
  }
  return status;
}

/* Contacts of the event and touching ones that the closing also brought to rest: others imply them, or two are the
 * same surface. They become candidates and members; returns the number of candidates. */
static int join_resting(saltusi_adaptive* w, const double* y, int* count, int candidates,
                        double rounding) {
  const bool loads = saltusi_loads_matter(&w->o, w->transition.old);
  double still = saltusi_gap_rounding * w->o.size;
  for (int key = 0; key < w->o.nc; key++) {
    const saltusi_contact* c = &w->contact[key];
    bool member = saltusi_is_member(w->transition.members, *count, key);
    bool flies = member ? loads && !saltusi_is_member(w->transition.cand, candidates, key)
                        : c->mode == SALTUSI_OPEN && c->touching && c->height <= still;
    if (flies && fabs(saltusi_contact_velocity(&w->mode, y, key, 0)) <= rounding) {
      w->transition.cand[candidates++] = key;
      if (!member) {
        w->transition.members[(*count)++] = key;
      }
    }
  }
  return candidates;
}

/* Rolling and drilling of a candidate that hardly moves gets a rate of 0 as well; whether there is any. */
static bool stop_grips(saltusi_adaptive* w, const double* y, int key, double slow) {
  bool any = false;
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(&w->o, key, k);
    if (grip >= 0 && fabs(slip_of(&w->mode, y, grip)) <= slow_for(&w->o, grip, slow)) {
      w->contact[grip].mode = SALTUSI_STICK;
      any = true;
    }
  }
  return any;
}

/* Signs of slip of the candidates after their normal velocities are zero; slow ones get U_T = 0 (section 4.2: in
 * this order). */
static saltus_status stop_slow(saltusi_adaptive* w, double t, double* y, int candidates,
                               double rounding) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < candidates; i++) {
    w->contact[w->transition.cand[i]].mode = SALTUSI_SLIP;
  }
  saltusi_mode_rows(&w->mode, t, y, true);
  bool any = false;
  /* as saltusi_slip_rounding(), after a projection: sixteen times the accuracy of a row */
  double slow = fmax(16.0 * rounding, 0.01 * w->o.atol_v_min);
  for (int i = 0; i < candidates; i++) {
    int key = w->transition.cand[i];
    if (w->o.mu[key] > 0.0 && fabs(slip_of(&w->mode, y, key)) <= slow_for(&w->o, key, slow)) {
      w->contact[key].mode = SALTUSI_STICK;
      any = true;
    }
    any = stop_grips(w, y, key, slow) || any;
  }
  if (any) {
    status = saltusi_mode_project(&w->mode, t, y);
    saltusi_mode_rows(&w->mode, t, y, true);
  }
  for (int key = 0; key < w->o.nc; key++) {
    w->decision.sense[key] = 0.0;
  }
  for (int i = 0; i < candidates; i++) {
    int key = w->transition.cand[i];
    if (w->o.mu[key] > 0.0 && w->contact[key].mode == SALTUSI_SLIP) {
      w->decision.sense[key] =
          w->o.tangents[key] >= 2 || slip_of(&w->mode, y, key) > 0.0 ? 1.0 : -1.0;
      note_direction(&w->decision, y, key);
    }
  }
  return status;
}

/* Closes the candidates and decides them; both lists may grow. Without hold, normals that close a block which
 * rocks from corner to corner leave it sliding, and large friction has no status for that. */
static saltus_status close_and_decide(saltusi_adaptive* w, double t, double* y, int* count,
                                      int* candidates, bool hold) {
  double rounding = saltusi_normal_rounding(w, y);
  saltus_status status = close_candidates(w, t, y, *candidates, hold);
  if (status == SALTUS_OK) {
    *candidates = join_resting(w, y, count, *candidates, rounding);
    status = stop_slow(w, t, y, *candidates, rounding);
  }
  memcpy(w->decision.set, w->transition.cand, (size_t)*candidates * sizeof(int));
  return status == SALTUS_OK ? saltusi_decide_status(&w->decision, t, y, *candidates) : status;
}

static saltus_status settle(saltusi_adaptive* w, double t, double* y, int count, bool impact,
                            int depth) {
  memcpy(w->transition.members, w->decision.set, (size_t)count * sizeof(int));
  saltusi_mode_rows(&w->mode, t, y, true);
  double rounding = saltusi_normal_rounding(w, y);
  memset(w->decision.u_before, 0, (size_t)w->o.nl * sizeof(double)); /* no impact yet */
  saltus_status status = impact ? saltusi_impact_members(w, t, y, &count, rounding) : SALTUS_OK;
  if (status != SALTUS_OK) {
    return status;
  }
  int candidates = 0;
  status = find_candidates(w, t, y, count, impact, &candidates);
  for (int i = 0; i < count; i++) { /* an impact may have released sticking contacts */
    w->contact[w->transition.members[i]].mode = SALTUSI_OPEN;
    saltusi_release_friction_modes(w, w->transition.members[i]);
  }
  if (status == SALTUS_OK && candidates > 0) {
    memcpy(w->transition.x, saltusi_v_of(&w->o, y), (size_t)w->o.nv * sizeof(double));
    status = close_and_decide(w, t, y, &count, &candidates, false);
    if (status == SALTUS_RETRY_SMALLER) {
      memcpy(y + w->o.nq, w->transition.x, (size_t)w->o.nv * sizeof(double));
      status = close_and_decide(w, t, y, &count, &candidates, true);
    }
    if (status == SALTUS_RETRY_SMALLER && depth < PAINLEVE_MAX) {
      status = saltusi_decide_painleve(&w->decision, t, y, candidates);
      if (status != SALTUS_OK) {
        return status;
      }
      saltusi_report_impact(w, t, candidates, SALTUS_EVENT_PAINLEVE);
      memcpy(w->decision.set, w->transition.members, (size_t)count * sizeof(int));
      return settle(w, t, y, count, false, depth + 1);
    }
  }
  for (int i = 0; i < count; i++) {
    int key = w->transition.members[i];
    saltusi_contact* c = &w->contact[key];
    c->touching = c->mode == SALTUSI_OPEN;
    c->height = 0.0;
    c->fresh_slip = c->mode == SALTUSI_SLIP && w->decision.sense[key] == 0.0;
    saltusi_settle_friction_modes(w, key);
  }
  return status;
}

saltus_status saltusi_settle(saltusi_adaptive* w, double t, double* y, int count, bool impact) {
  assert(w != NULL && y != NULL && count >= 0);
  return settle(w, t, y, count, impact, 0);
}

saltus_status saltusi_adaptive_settle(saltusi_adaptive* w, double t, double* y, int count,
                                      bool impact) {
  assert(w != NULL && count >= 0);
  for (int key = 0; key < w->o.nc; key++) {
    w->transition.scope[key] = true;
  }
  memcpy(w->transition.old, w->contact, (size_t)w->o.nc * sizeof *w->contact);
  saltus_status status = settle(w, t, y, count, impact, 0);
  saltusi_loosen(w);
  return status == SALTUS_OK && w->o.spatial ? saltusi_perturb_slips(w, t, y) : status;
}

/* ---- transitions --------------------------------------------------------------------------- */

/* The closed contacts of the event. */
static int list_closed(saltusi_adaptive* w) {
  int count = 0;
  for (int key = 0; key < w->o.nc; key++) {
    if (saltusi_is_closed(&w->contact[key]) && w->transition.scope[key] &&
        !saltusi_is_friction_mode(&w->o, key)) {
      w->decision.set[count++] = key;
    }
  }
  return count;
}

void saltusi_find_senses(saltusi_decision* d, double t, const double* y) {
  assert(d != NULL);
  double slow = saltusi_slip_rounding(d);
  saltusi_mode_rows(d->mode, t, y, true);
  for (int key = 0; key < d->o->nc; key++) {
    const saltusi_contact* c = &d->contact[key];
    bool closed = saltusi_is_closed(c) && d->o->mu[key] > 0.0; /* idle ones move as well */
    double slip = slip_of(d->mode, y, key);
    bool moves = closed && fabs(slip) > slow_for(d->o, key, slow);
    double sense = c->mode == SALTUSI_SLIP ? c->sense : slip > 0.0 ? 1.0 : -1.0;
    note_direction(d, y, key);
    d->sense[key] = moves ? (d->o->tangents[key] >= 2 ? 1.0 : sense) : 0.0;
  }
}

/* Flags of the closed contacts after the decision; they are in w->decision.set. */
static void mark_new(saltusi_adaptive* w) {
  for (int key = 0; key < w->o.nc; key++) {
    saltusi_contact* c = &w->contact[key];
    const saltusi_contact* old = &w->transition.old[key];
    if (old->mode == SALTUSI_OPEN || !w->transition.scope[key]) {
      continue;
    }
    if (c->mode == SALTUSI_OPEN) {
      c->touching = true;
      c->height = 0.0;
    } else if (c->mode == SALTUSI_SLIP && w->decision.sense[key] == 0.0) {
      c->fresh_slip = true;
    }
  }
}

/* Rolling and drilling friction is in the scope of its contact. */
static void spread_scope(saltusi_adaptive* w) {
  for (int key = w->o.contacts; key < w->o.nc; key++) {
    w->transition.scope[key] = w->transition.scope[saltusi_owner(&w->o, key)];
  }
}

static bool same_status(const saltusi_adaptive* w) {
  for (int key = 0; key < w->o.nc; key++) {
    const saltusi_contact* c = &w->contact[key];
    const saltusi_contact* old = &w->transition.old[key];
    if (c->mode != old->mode || (c->mode == SALTUSI_SLIP && c->sense != old->sense)) {
      return false;
    }
  }
  return true;
}

/* No solution in the present status: an impact without collision, then all contacts are decided again. */
static saltus_status jam(saltusi_adaptive* w, double t, double* y) {
  memcpy(w->contact, w->transition.old, (size_t)w->o.nc * sizeof *w->contact);
  int count = list_closed(w);
  saltus_status status = saltusi_decide_painleve(&w->decision, t, y, count);
  if (status != SALTUS_OK) {
    return status;
  }
  memcpy(w->transition.members, w->decision.set, (size_t)count * sizeof(int));
  saltusi_report_impact(w, t, count, SALTUS_EVENT_PAINLEVE);
  return settle(w, t, y, count, false, 1);
}

static saltus_status decide_again(saltusi_adaptive* w, double t, double* y) {
  saltus_status status = saltusi_decide_status(&w->decision, t, y, list_closed(w));
  if (status == SALTUS_RETRY_SMALLER) {
    return jam(w, t, y);
  }
  mark_new(w);
  return status;
}

/* Gaps at the event; features near it get keys. */
static saltus_status list_near(saltusi_adaptive* w, double t, const double* y) {
  saltus_status status = w->o.featured ? saltusi_feature_list(&w->search, t, y) : SALTUS_OK;
  return status == SALTUS_OK ? saltusi_mode_gaps(&w->mode, t, y) : status;
}

static saltus_status lie_down(saltusi_adaptive* w, double t, double* y, int low) {
  return saltusi_lie_down(w, t, y, low, w->outcome.room - (t - w->step.t), &w->outcome.passed);
}

/* A contact that opened and closes again at the same instant, at rest and without acceleration or force: its force
 * grows from zero, which the acceleration problem does not determine. It stays closed, as do those that were closed so
 * before; a force that does not grow opens them again. */
static void press_down(saltusi_adaptive* w, const double* y, int count, int key) {
  for (int i = 0; i < count; i++) {
    int one = w->transition.members[i];
    saltusi_contact* c = &w->contact[one];
    bool returns = one == key || saltusi_is_closed(&w->transition.old[one]);
    if (!returns || c->mode != SALTUSI_OPEN || !saltusi_is_balanced(&w->decision, one)) {
      continue;
    }
    const double* after = w->decision.u_after + w->o.base[one];
    bool planar = w->o.mu[one] > 0.0 && w->o.tangents[one] == 1;
    double sense = moving_sense(w, y, one);
    bool begins = sense == 0.0 && planar && after[1] != 0.0; /* without a force it is inactive */
    bool holds = w->o.mu[one] > 0.0 && !begins && holds_on(w, y, one);
    c->mode = holds ? SALTUSI_STICK : SALTUSI_SLIP;
    c->sense = sense != 0.0 ? sense : begins && after[1] < 0.0 ? -1.0 : 1.0;
    c->fresh_slip = begins;
    c->touching = false;
  }
}

static saltus_status on_hit(saltusi_adaptive* w, double t, double* y, const saltusi_found* found) {
  double near = saltusi_near_gap(w);
  double still = saltusi_gap_rounding * w->o.size;
  if (w->o.featured && saltusi_rim_has_settled(&w->mode, t, y, found->key)) {
    return saltusi_hit_by_rim(w, t, y, found->key);
  }
  int low = w->o.featured ? saltusi_closed_rim(w, t, y) : -1;
  if (low >=
      /* its guard becomes negative in the same instant; other impacts are found in the next step */
      0) {
    return lie_down(w, t, y, low);
  }
  saltus_status status = list_near(w, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  if (w->o.featured) {
    saltusi_leave_rims(w, t, y);
  }
  saltusi_mode_rows(&w->mode, t, y, true);
  saltusi_mark_hits(&w->search, found);
  w->search.hits[found->key] = true;
  double rounding = saltusi_normal_rounding(w, y);
  int count = 0;
  for (int key = 0; key < w->o.nc; key++) {
    const saltusi_contact* c = &w->contact[key];
    double u = saltusi_contact_velocity(&w->mode, y, key, 0);
    bool open = w->contact[key].mode == SALTUSI_OPEN;
    bool touches = c->touching ? fabs(u) <= rounding && c->height <= still
                               : w->mode.gap[key] <= near && u <= 0.0 && saltusi_is_there(w, key);
    w->search.hits[key] = w->search.hits[key] && (c->touching || saltusi_is_there(w, key));
    bool joins = !open || key == found->key || touches || w->search.hits[key];
    joins = joins && !saltusi_is_friction_mode(&w->o, key);
    if (joins) {
      w->decision.set[count++] = key;
    }
  }
  count = saltusi_scope(&w->mode, w->decision.set, count, w->search.hits, w->transition.scope);
  spread_scope(w);
  status = saltusi_mode_project_positions(&w->mode, t, y, w->decision.set, count);
  bool returns = t == w->step.t && w->contact[found->key].touching &&
                 w->contact[found->key].height <= still &&
                 fabs(saltusi_contact_velocity(&w->mode, y, found->key, 0)) <= rounding;
  if (status == SALTUS_OK) {
    status = settle(w, t, y, count, true, 0);
  }
  if (status == SALTUS_OK && returns) {
    press_down(w, y, count, found->key);
  }
  w->memory->zeno = w->contact[found->key].mode == SALTUSI_OPEN ? found->key : -1.0;
  return status;
}

/* A contact that was opened although its acceleration does not separate it: within the rounding of its gap it does
 * not return (docs/theory/events.md, 3). */
static saltus_status lift_off(saltusi_adaptive* w, double t, const double* y, int key) {
  double gamma = 0.0;
  saltus_status status = saltusi_mode_gamma(&w->mode, t, y, key, &gamma);
  if (!(gamma > 0.0)) {
    w->contact[key].height = saltusi_gap_rounding * w->o.size;
  }
  return status;
}

/* Whether the status problem left a contact whose force has ended closed. It may be idle beside sliding contacts, whose
 * forces are those of the limit of vanishing compliance. */
static bool stays_closed(const saltusi_adaptive* w, int key) {
  return w->o.spatial ? saltusi_is_closed(&w->contact[key]) : saltusi_is_pressed(&w->contact[key]);
}

static saltus_status on_open(saltusi_adaptive* w, double t, double* y, int key) {
  saltusi_find_senses(&w->decision, t, y);
  int count = list_closed(w);
  saltus_status status = saltusi_decide_status(&w->decision, t, y, count);
  if (status == SALTUS_RETRY_SMALLER || (status == SALTUS_OK && stays_closed(w, key))) {
    memcpy(w->contact, w->transition.old, (size_t)w->o.nc * sizeof *w->contact);
    w->contact[key].mode = SALTUSI_OPEN;
    status = saltusi_decide_status(&w->decision, t, y, list_closed(w));
    if (status == SALTUS_RETRY_SMALLER) {
      return jam(w, t, y);
    }
    mark_new(w);
    status = status == SALTUS_OK ? saltusi_make_idle(w, t, y, key) : status;
    bool open = !saltusi_is_closed(&w->contact[key]);
    return status == SALTUS_OK && open ? lift_off(w, t, y, key) : status;
  }
  mark_new(w);
  return status;
}

/* Whether the active tangents changed v by more than its tolerance. */
static bool is_pulled(const saltusi_adaptive* w, const double* before, const double* y) {
  for (int i = w->o.nq; i < w->o.nq + w->o.nv; i++) {
    double scale = w->o.atol_v[i - w->o.nq] + w->o.settings.rtol * fabs(before[i]);
    if (fabs(y[i] - before[i]) > scale) {
      return true;
    }
  }
  return false;
}

/* Joints and normals leave one degree of freedom, and slip is zero for an instant because the contact point
 * reverses its motion: it continues to slide, in the other direction. */
static saltus_status turn_round(saltusi_adaptive* w, double t, double* y, int key) {
  memcpy(y, w->step.y_keep, (size_t)w->o.ny * sizeof(double));
  memcpy(w->contact, w->transition.old, (size_t)w->o.nc * sizeof *w->contact);
  saltusi_find_senses(&w->decision, t, y);
  w->decision.sense[key] = -w->contact[key].sense;
  saltus_status status = decide_again(w, t, y);
  w->contact[key].fresh_slip = w->contact[key].mode == SALTUSI_SLIP;
  return status;
}

/* Slip ends: of `key`, and of all contacts slower than saltusi_slip_rounding() of v here. */
static saltus_status on_stop(saltusi_adaptive* w, double t, double* y, int key) {
  double slow = fmax(0.01 * w->o.atol_v_min,
                     256.0 * DBL_EPSILON * saltusi_max_abs(w->o.nv, saltusi_v_of(&w->o, y)));
  saltusi_mode_rows(&w->mode, t, y, true);
  for (int a = 0; a < w->o.nc; a++) {
    bool slips = w->contact[a].mode == SALTUSI_SLIP && w->o.mu[a] > 0.0 && w->transition.scope[a];
    if (a == key || (slips && fabs(slip_of(&w->mode, y, a)) <= slow_for(&w->o, a, slow))) {
      w->contact[a].mode = SALTUSI_STICK;
    }
  }
  memcpy(w->step.y_keep, y, (size_t)w->o.ny * sizeof(double));
  saltus_status status = saltusi_mode_project(&w->mode, t, y);
  if (status == SALTUS_OK && w->o.tangents[key] == 1 && is_pulled(w, w->step.y_keep, y)) {
    return turn_round(w, t, y, key);
  }
  if (status == SALTUS_OK) {
    saltusi_find_senses(&w->decision, t, y);
    status = decide_again(w, t, y);
  }
  return status;
}

static saltus_status on_slide(saltusi_adaptive* w, double t, double* y, int key) {
  saltus_status status = saltusi_mode_rate(&w->mode, t, y, w->transition.rate);
  if (status != SALTUS_OK) {
    return status;
  }
  const double* force = w->transition.rate + w->o.nq + w->o.nv;
  double sense = force[w->o.base[key] + 1] > 0.0 ? -1.0 : 1.0;
  bool shared = saltusi_active_may_distribute_load(&w->mode) && w->mode.held.shared[key];
  saltusi_find_senses(&w->decision, t, y);
  status = decide_again(w, t, y);
  if (status != SALTUS_OK || !same_status(w)) {
    return status;
  }
  bool inside = false;
  if (shared && w->o.tangents[key] >= 2) {
    status = saltusi_decide_load_distribution(&w->decision, t, y, force, &inside);
  }
  if (status != SALTUS_OK ||
      (inside && saltusi_decide_redundant_forces(&w->decision, force,
                                                 saltusi_friction_clear(w->o.settings.rtol)))) {
    return status;
  }
  /* at its bound to rounding: it slides along its previous friction */
  if (w->o.tangents[key] >= 2) {
    w->contact[key].mode = SALTUSI_SLIP;
    memcpy(w->decision.impulse, force, (size_t)w->o.nl * sizeof(double));
    memset(w->decision.u_after, 0, (size_t)w->o.nl * sizeof(double));
    return SALTUS_OK;
  }
  /* friction is exhausted: contacts at their bound slide */
  saltusi_find_senses(&w->decision, t, y);
  w->decision.sense[key] = sense;
  for (int a = 0; a < w->o.nc; a++) {
    if (w->contact[a].mode == SALTUSI_STICK_BOUND) {
      w->decision.sense[a] = w->contact[a].sense;
    }
  }
  status = saltusi_decide_status(&w->decision, t, y, list_closed(w));
  if (status == SALTUS_RETRY_SMALLER) {
    return jam(w, t, y);
  }
  for (int a = 0; a < w->o.nc; a++) { /* forced signs start from U_T = 0 as well */
    saltusi_contact_mode old = w->transition.old[a].mode;
    w->decision.sense[a] = old == SALTUSI_SLIP ? w->decision.sense[a] : 0.0;
  }
  mark_new(w);
  return status;
}

static saltus_status on_guard(saltusi_adaptive* w, double t, double* y, int key) {
  if (saltusi_rim_has_settled(&w->mode, t, y, key)) {
    return lie_down(w, t, y, key);
  }
  if (w->contact[key].wobbles) {
    return saltusi_end_wobble(w, t, y, key);
  }
  saltus_status status = list_near(w, t, y);
  if (status != SALTUS_OK) {
    return status;
  }
  int heirs = saltusi_hand_over(&w->search, t, y, saltusi_near_gap(w), w->transition.old,
                                w->transition.members);
  int count = list_closed(w);
  memcpy(w->decision.set + count, w->transition.members, (size_t)heirs * sizeof(int));
  count += heirs;
  status = saltusi_mode_project_positions(&w->mode, t, y, w->decision.set, count);
  saltusi_mode_rows(&w->mode, t, y, true);
  /* lists may contain a feature up to 1e-9 of an angle beyond its end */
  double small = fmax(1e-9 * w->memory->v_max, w->o.atol_v_min);
  status = status == SALTUS_OK ? saltusi_take_over(&w->search, t, y, small) : status;
  return status == SALTUS_OK && count > 0 ? settle(w, t, y, count, true, 0) : status;
}

/* Driven joints with a jump of their rate change v alone: contacts then have an impact. */
static saltus_status follow_joints(saltusi_adaptive* w, double t, double* y) {
  if (w->o.nj == 0) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_reduce(&w->mode, t, y, false, NULL, 0);
  if (status != SALTUS_OK) {
    return status;
  }
  double *v = y + w->o.nq, *P = w->outcome.joint_impacts, *before = w->transition.rate;
  memcpy(before, P, (size_t)w->o.nj * sizeof(double));
  memcpy(w->step.y_keep, v, (size_t)w->o.nv * sizeof(double));
  saltusi_reduced_hold(&w->mode, v, P);
  for (int j = 0; j < w->o.nj; j++) { /* P (u- + u+) / 2 of the drives */
    const double u0 = saltusi_row_dot(&w->mode.row, j, w->step.y_keep);
    w->outcome.work[1] += 0.5 * (P[j] - before[j]) * (u0 + saltusi_row_dot(&w->mode.row, j, v));
  }
  return SALTUS_OK;
}

/* The contacts that the event may change: those of its island; a switch affects all, and an impact determines its
 * own. */
static void find_scope(saltusi_adaptive* w, double t, const double* y, const saltusi_found* found) {
  bool all = found->kind == SALTUSI_FOUND_SWITCH || found->kind == SALTUSI_FOUND_HIT ||
             found->kind == SALTUSI_FOUND_GUARD;
  for (int key = 0; key < w->o.nc; key++) {
    w->transition.scope[key] = true;
    w->search.hits[key] = found->key >= 0 && key == saltusi_owner(&w->o, found->key);
  }
  if (!all) {
    saltusi_mode_rows(&w->mode, t, y, false);
    int count = list_closed(w);
    saltusi_scope(&w->mode, w->decision.set, count, w->search.hits, w->transition.scope);
    spread_scope(w);
  }
}

saltus_status saltusi_adaptive_transition(saltusi_adaptive* w, double t, double t_event, double* y,
                                          const saltusi_found* found) {
  assert(w != NULL && found != NULL);
  memcpy(w->transition.old, w->contact, (size_t)w->o.nc * sizeof *w->contact);
  w->memory->zeno = -1.0;
  w->memory->jacobian_age = -1.0; /* it belonged to the old status */
  saltus_status status = SALTUS_OK;
  find_scope(w, t, y, found);
  switch (found->kind) {
  case SALTUSI_FOUND_HIT:
    status = on_hit(w, t, y, found);
    break;
  case SALTUSI_FOUND_OPEN:
    status = on_open(w, t, y, found->key);
    break;
  case SALTUSI_FOUND_STOP:
    status = on_stop(w, t, y, found->key);
    break;
  case SALTUSI_FOUND_SLIDE:
    status = on_slide(w, t, y, found->key);
    break;
  case SALTUSI_FOUND_DECIDE:
    saltusi_find_senses(&w->decision, t, y);
    status = decide_again(w, t, y);
    break;
  case SALTUSI_FOUND_GUARD:
    status = on_guard(w, t, y, found->key);
    break;
  case SALTUSI_FOUND_SWITCH: /* rows and forces may jump: all closed contacts are decided again */
    status = follow_joints(w, t, y);
    if (status == SALTUS_OK) {
      status = settle(w, t, y, list_closed(w), true, 0);
    }
    break;
  }
  const bool same = found->kind == SALTUSI_FOUND_DECIDE && same_status(w);
  for (int key = 0; key < w->o.nc; key++) {
    const bool now = key == found->key && found->kind == SALTUSI_FOUND_OPEN;
    w->contact[key].spared =
        w->contact[key].mode == SALTUSI_IDLE &&
        ((same && key == found->key) || ((same || now) && w->contact[key].spared));
  }
  saltusi_loosen(w);
  if (status == SALTUS_OK && w->o.spatial) {
    status = saltusi_perturb_slips(w, t, y);
  }
  if (status == SALTUS_OK) {
    saltusi_report_changes(w, t_event, y);
  }
  return status;
}
