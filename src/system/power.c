/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * power.c - see power.h.
 *
 * With M v' = F + sum of G lambda, and J the energy of moving frames, T + V - J changes by
 *
 *   F . v + (T - J)_q v + (T - J)_t + V_q v  +  V_t  +  sum of lambda G^T v
 *
 * The rates are central differences of sixth order. Their steps move positions by a thousandth of their
 * size and time by 1e-4 s: truncation is (k d)^6 / 140 for waves of number k, rounding about 1e-12.
 */
#include "system/power.h"

#include "math/matrix.h"

#include <assert.h>

static const double shift = 1e-3;      /* of positions, over their size */
static const double time_shift = 1e-4; /* s */

void saltusi_power_layout(saltusi_power_workspace* room, const saltus_system* sys,
                          saltus_arena* arena) {
  assert(room != NULL && sys != NULL && arena != NULL);
  room->q = SALTUS_PUSH(arena, double, sys->dims.nq);
  room->F = SALTUS_PUSH(arena, double, sys->dims.nv);
  room->matrix =
      SALTUS_PUSH(arena, double, sys->ops->kinetic == NULL ? saltusi_mass_workspace(sys) : 0);
}

/* Arguments that vary. */
typedef struct course {
  bool time, place;
  bool kinetic; /* the kinetic energy, else the potential one */
} course;

static double rate(const saltus_system* sys, const saltus_point* at, saltusi_power_workspace* room,
                   course c, double s) {
  static const double weight[3] = {45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    for (int side = -1; side <= 1; side += 2) {
      double moved = side * (k + 1) * s;
      saltus_point beside = *at;
      beside.t += c.time ? moved : 0.0;
      if (c.place) {
        saltusi_advance(sys, at->q, at->v, moved, room->q);
        beside.q = room->q;
      }
      double value = c.kinetic ? saltusi_kinetic(sys, &beside, room->matrix, room->F)
                               : saltusi_potential(sys, &beside);
      if (c.kinetic && sys->ops->frame_energy != NULL) {
        value -= sys->ops->frame_energy(sys->self, &beside);
      }
      sum += side * weight[k] * value;
    }
  }
  return sum / s;
}

void saltusi_power_by_differences(const saltus_system* sys, const saltus_point* at, double scale,
                                  saltusi_power_workspace* room, double power[2]) {
  assert(sys != NULL && at != NULL && room != NULL);
  int nv = sys->dims.nv;
  double speed = saltusi_max_abs(nv, at->v);
  double size = fmax(1.0, saltusi_max_abs(sys->dims.nq, at->q));
  double s = scale * shift * size / fmax(speed, 1e-300);
  sys->ops->force(sys->self, at, room->F);
  power[0] = saltusi_dot(nv, room->F, at->v);
  power[1] = 0.0;
  if ((sys->traits & SALTUS_CONSTANT_MASS) == 0 || sys->ops->frame_energy != NULL) {
    const course motion = {.time = true, .place = true, .kinetic = true};
    power[0] += rate(sys, at, room, motion, fmin(s, scale * time_shift));
  }
  if (sys->ops->potential != NULL) {
    power[0] += rate(sys, at, room, (course){.place = true}, fmin(s, 1.0));
    power[1] = rate(sys, at, room, (course){.time = true}, scale * time_shift);
  }
}

void saltusi_system_power(const saltus_system* sys, const saltus_point* at,
                          saltusi_power_workspace* room, double power[2]) {
  assert(sys != NULL && at != NULL && room != NULL);
  if (sys->ops->power != NULL) {
    sys->ops->power(sys->self, at, power);
    return;
  }
  saltusi_power_by_differences(sys, at, 1.0, room, power);
}
