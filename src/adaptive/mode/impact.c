/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact.c - see impact.h.
 */
#include "adaptive/mode/impact.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Limit of consecutive impacts at one time. A ball of mass m that bounces between a wall and one of mass M, all
 * touching and elastic, has pi sqrt(M / m) of them: 314 for a ratio of 10^4. */
enum { IMPACTS_MAX = 1000 };

double saltusi_normal_rounding(saltusi_adaptive* w, const double* y) {
  assert(w != NULL && y != NULL);
  double v = saltusi_max_abs(w->o.nv, saltusi_v_of(&w->o, y));
  w->memory->v_max = fmax(w->memory->v_max, fmax(v, DBL_MIN));
  double largest = 1.0;
  for (int key = 0; key < w->o.nc; key++) {
    const double* G =
        w->mode.row.G + (size_t)(w->o.nj + w->o.base[key]) * (size_t)w->mode.row.stride;
    largest = fmax(largest, saltusi_max_abs(w->mode.row.stride, G));
  }
  return 64.0 * DBL_EPSILON * w->memory->v_max * largest;
}

/* Adds contacts that the impact would close at once: those that touch and rebound before they have separated
 * (docs/theory/events.md, 9). Returns their number. */
static int join_thrown(saltusi_adaptive* w, double t, const double* y, int count, double rounding) {
  double near = saltusi_near_gap(w);
  int joined = 0;
  for (int key = 0; key < w->o.nc; key++) {
    double u = saltusi_contact_velocity(&w->mode, y, key, 0);
    const saltusi_contact* c = &w->contact[key];
    double flown = 4.0 * DBL_EPSILON * saltusi_time_size(t) * -u;
    bool touches =
        c->touching ? c->height <= flown : w->mode.gap[key] <= near && saltusi_is_there(w, key);
    if (u < -rounding && touches && !saltusi_is_member(w->transition.members, count, key)) {
      w->transition.members[count + joined++] = key;
    }
  }
  return joined;
}

/* The impact on approaching members, or with `all` on every one, solved again from the velocities before it until
 * no further contact joins. */
static saltus_status strike(saltusi_adaptive* w, double t, double* y, int* count, double rounding,
                            bool all, saltusi_verdict* verdict) {
  saltus_status status = saltusi_mode_gaps(&w->mode, t, y);
  memcpy(w->transition.v_struck, saltusi_v_of(&w->o, y), (size_t)w->o.nv * sizeof(double));
  for (int joined = 1; status == SALTUS_OK && joined > 0;) {
    memcpy(y + w->o.nq, w->transition.v_struck, (size_t)w->o.nv * sizeof(double));
    saltusi_mode_rows(&w->mode, t, y, true);
    int struck = 0;
    for (int i = 0; i < *count; i++) {
      int key = w->transition.members[i];
      bool stays = saltusi_is_closed(&w->contact[key]);
      if (all || stays || saltusi_contact_velocity(&w->mode, y, key, 0) <= rounding) {
        w->decision.set[struck++] = key;
      }
    }
    status = saltusi_decide_impact(&w->decision, t, y, struck, verdict);
    if (status == SALTUS_OK) {
      saltusi_mode_rows(&w->mode, t, y, true);
      joined = join_thrown(w, t, y, *count, rounding);
      *count += joined;
    }
  }
  return status;
}

static bool is_approaching(const saltusi_adaptive* w, const double* y, int count, double rounding) {
  bool any = false;
  for (int i = 0; i < count; i++) {
    any = any || saltusi_contact_velocity(&w->mode, y, w->transition.members[i], 0) < -rounding;
  }
  return any;
}

/* Stops all members at once, without restitution. */
static saltus_status stop_members(saltusi_adaptive* w, double t, double* y, int* count,
                                  double rounding, saltusi_verdict* verdict) {
  if (w->decision.special) {
    return SALTUS_ERR_STALLED; /* the laws of the system have no such impact */
  }
  const double part = w->decision.e_part;
  w->decision.e_part = 0.0;
  saltus_status status = strike(w, t, y, count, rounding, true, verdict);
  w->decision.e_part = part;
  verdict->replaced = true;
  return status;
}

/* Impacts on the members until none of them approaches. A separating contact may be closed again by the impact of
 * another one, which is an impact of its own, and so on; an approach below the tolerance is closed without one.
 * Such a series may be infinite, and friction can make it gain energy from impact to impact: then it is cut off,
 * and all members stop at once. */
saltus_status saltusi_impact_members(saltusi_adaptive* w, double t, double* y, int* count,
                                     double rounding) {
  assert(w != NULL && y != NULL && count != NULL);
  const double slow = fmax(rounding, 0.01 * w->o.atol_v_min);
  bool approaching = is_approaching(w, y, *count, rounding);
  for (int round = 0; approaching; round++) {
    saltusi_verdict verdict = {.contact = -1};
    bool stops = round == IMPACTS_MAX;
    saltus_status status = SALTUS_OK;
    if (!stops) {
      status = strike(w, t, y, count, rounding, false, &verdict);
      stops = status == SALTUS_OK && round > 0 && verdict.gain > 0.0 && !w->decision.special;
      if (stops) {
        memcpy(y + w->o.nq, w->transition.v_struck, (size_t)w->o.nv * sizeof(double));
      }
    }
    if (stops) {
      status = stop_members(w, t, y, count, rounding, &verdict);
    }
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_add_scaled(w->o.nj, 1.0, w->decision.joint_impulse, w->outcome.joint_impacts);
    saltusi_report_impact(w, t, *count, SALTUS_EVENT_IMPACT);
    saltusi_report_verdict(w, t, &verdict);
    approaching = !stops && is_approaching(w, y, *count, slow);
  }
  return SALTUS_OK;
}

saltus_status saltusi_impact_all(saltusi_adaptive* w, double t, double* y, int count) {
  assert(w != NULL && y != NULL && count >= 0);
  memcpy(w->transition.members, w->decision.set, (size_t)count * sizeof(int));
  saltusi_mode_rows(&w->mode, t, y, true);
  return saltusi_impact_members(w, t, y, &count, saltusi_normal_rounding(w, y));
}
