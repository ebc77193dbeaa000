/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * event_space.c - slip in space, whose friction follows the direction of the velocity.
 *
 * With r = |U_T| and a force f across the slip, its direction rotates at the rate f / r. This rate is unbounded where
 * slip ends, and the motion is not smooth there. A mass on a plane under f < mu g comes to rest with its direction at
 * an angle
 *
 *   phi ~ r^k,   k = f / (mu g - f)       to f,
 *
 * so no step across the end of slip has an order. Steps that end before it by a part of the remaining time,
 *
 *   s <= theta r / |r'|,       theta = h^((p - 2) / p)  between a twentieth and a quarter,
 *
 * leave an error of theta^p h^(2 + k) in the positions, which is O(h^p); slip ends when the remaining time is shorter
 * than the bracket width of events. Near the ends of slip, and where it begins from rest, the direction is stiff with
 *
 *   z = s mu lambda_N W_TT / r
 *
 * and an explicit method of order p has an additional error of about h^2 z^(p - 1), independent of smoothness. Steps
 * with z > 1/20 (up to order 3: 1/5) use a Radau method of at least the same order, with the directions of its stages
 * as unknowns (implicit_slip.c); the additional error of the other steps is below 1e-12 in the study law-stick-slip.
 */
#include "math/matrix.h"
#include "scheme/event/event_capturing.h"

#include <assert.h>

static const double theta_least = 0.05;
static const double theta_most = 0.25;
static const double stiff_from[2] = {0.2, 0.05}; /* of methods up to order 3, and above */

/* How a slip changes. */
typedef struct slip_rate {
  double speed;  /* m/s, r */
  double change; /* m/s^2, r' */
  double grip;   /* m/s^2, mu lambda_N W_TT: deceleration by friction alone */
} slip_rate;

/* Of active contact i, with the forces of the acceleration in w->a and the current slip direction. */
static slip_rate measure(saltusi_capture* w, saltusi_eval* eval, const saltus_point* at,
                         const saltusi_active_rows* held, int i) {
  saltusi_rk* rk = &w->rk;
  int key = held->keys[i];
  saltusi_friction_mode* grip = &w->grips.of[key];
  double force[3];
  saltusi_rk_force(rk, held, i, force);
  int row = rk->held.count; /* spare ones */
  saltusi_rows_contact(&eval->sys, at, key, 3, &rk->held.rows, row);
  slip_rate out = {.speed = grip->speed};
  double inverse_mass = 0.0;
  for (int k = 0; k < 2; k++) {
    int r = row + 1 + k;
    if (grip->speed > w->grips.slow) {
      grip->direction[k] = grip->slip[k] / grip->speed;
    }
    out.change +=
        grip->direction[k] * (saltusi_row_dot(&rk->held.rows, r, w->a) + rk->held.rows.c[r]);
    saltusi_operator_response(&rk->held.rows, r, eval, &rk->mass, w->response);
    inverse_mass = fmax(inverse_mass, saltusi_row_dot(&rk->held.rows, r, w->response));
  }
  out.grip = grip->mu * fmax(1.0, grip->m) * fabs(force[0]) * inverse_mass;
  return out;
}

saltus_status saltusi_capture_pace(saltusi_capture* w, saltusi_eval* eval, double* span,
                                   bool* any) {
  assert(w != NULL && eval != NULL && span != NULL && any != NULL && w->grips.of != NULL);
  double p = w->rk.method->order;
  double part = p > 2.0 ? pow(w->target->h, (p - 2.0) / p) : theta_most;
  part = fmin(fmax(part, theta_least), theta_most);
  bool slips = false;
  w->flow = &w->rk;
  *any = false;
  for (int i = 0; i < w->count; i++) {
    const saltusi_friction_mode* grip = &w->grips.of[w->keys[i]];
    w->ends[w->keys[i]] = false;
    slips = slips || (grip->slips && grip->tangents == 2);
  }
  if (!slips) {
    return SALTUS_OK;
  }
  saltus_point at = saltusi_at(eval, w->t, w->q, w->v);
  const saltusi_active_rows held = saltusi_capture_active(w, w->keys, w->count);
  saltus_status status = saltusi_rk_acceleration(&w->rk, eval, &at, &held, w->a);
  double stiff = 0.0; /* 1/s */
  for (int i = 0; status == SALTUS_OK && i < w->count; i++) {
    int key = w->keys[i];
    if (!w->grips.of[key].slips || w->grips.of[key].tangents != 2) {
      continue;
    }
    slip_rate rate = measure(w, eval, &at, &held, i);
    double rest = rate.change < 0.0 ? rate.speed / -rate.change : INFINITY;
    w->ends[key] = rest <= w->width || (rate.change < 0.0 && rate.speed <= w->grips.slow);
    *any = *any || w->ends[key];
    *span = fmin(*span, fmax(part * rest, w->width));
    stiff = fmax(stiff, rate.grip / fmax(rate.speed, w->grips.slow));
  }
  if (stiff * *span > stiff_from[p > 3.0] && !w->rk.method->implicit) {
    w->flow = &w->soft;
  }
  if (*any) {
    w->event_count = 0;
    for (int i = 0; i < w->count && w->event_count == 0; i++) {
      if (w->ends[w->keys[i]]) {
        w->events[w->event_count++] =
            (saltusi_event){.kind = SALTUSI_EVENT_STOP, .key = w->keys[i]};
      }
    }
  }
  return status;
}
