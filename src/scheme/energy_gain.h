/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy_gain.h - impacts whose law created energy. The contacts of one instant, or of one step where events are
 * not located, are one impact; with P the impulses and U- and U+ the relative velocities it changes the
 * kinetic energy by the sum of P . (U- + U+) / 2, without the work of surfaces with prescribed motion.
 */
#ifndef SALTUSI_ENERGY_GAIN_H
#define SALTUSI_ENERGY_GAIN_H

#include "saltus/ledger.h"
#include "saltus/scheme.h"

/* The option of schemes with friction: without friction Newton's law creates no energy. */
#define SALTUSI_GAIN_FIELD(S)                                                                      \
  SALTUS_CHOICE(                                                                                   \
      S, on_energy_gain, 0, 1, saltusi_energy_gain_names,                                          \
      "response to an impact whose law creates energy: a warning, or the end of the run")

extern const char* const saltusi_energy_gain_names[];

/* P . (U- + U+) / 2 of one contact. */
static inline double saltusi_impact_work(const double impulse[3], double u_before, double u_after,
                                         const double slip_before[2], const double slip_after[2]) {
  double work = impulse[0] * (u_before + u_after);
  for (int k = 0; k < 2; k++) {
    work += impulse[k + 1] * (slip_before[k] + slip_after[k]);
  }
  return 0.5 * work;
}

/* Report of a contact of a scheme that does not locate events. */
void saltusi_contact_event(const saltus_contact_step* contact, double t, double h,
                           saltus_event* event);

/* The next impact of a report that created energy, as a remark; false: none after number *next, which starts at 0. t is
 * the end of the step, h its length. */
bool saltusi_energy_gain_next(const saltus_step_report* report, bool located, double t, double h,
                              int* next, saltus_event* remark);

/* Whether on_energy_gain of an options table ends the run at a gain. */
bool saltusi_energy_gain_stops(const saltus_field_table* table, const void* options);

#endif
