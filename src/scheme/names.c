/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * names.c - names of the values in reports of steps and events.
 */
#include "scheme/energy_gain.h"
#include "scheme/scheme_ops.h"

#include <assert.h>

const char* saltus_step_limit_name(saltus_step_limit limit) {
  static const char* const names[SALTUS_LIMITS] = {
      [SALTUS_LIMIT_NONE] = "none",         [SALTUS_LIMIT_POSITION] = "position",
      [SALTUS_LIMIT_VELOCITY] = "velocity", [SALTUS_LIMIT_IMPULSE] = "impulse",
      [SALTUS_LIMIT_EVENT] = "event",       [SALTUS_LIMIT_GROWTH] = "growth",
      [SALTUS_LIMIT_LONGEST] = "longest",   [SALTUS_LIMIT_END] = "end",
  };
  bool known = (int)limit >= 0 && (int)limit < SALTUS_LIMITS;
  return known ? names[limit] : "unknown";
}

const char* saltus_event_kind_name(saltus_event_kind kind) {
  static const char* const names[] = {
      "impact",   "close",    "open",        "accumulation", "touch", "slip", "stick",
      "reversal", "painleve", "energy-gain", "law-replaced", "rise",  "fall"};
  _Static_assert(sizeof names / sizeof *names == SALTUS_EVENT_KINDS, "in their order");
  bool known = (int)kind >= 0 && (int)kind < SALTUS_EVENT_KINDS;
  return known ? names[kind] : "unknown";
}

bool saltus_event_is_remark(saltus_event_kind kind) {
  return kind == SALTUS_EVENT_ENERGY_GAIN || kind == SALTUS_EVENT_LAW_REPLACED;
}

bool saltus_event_is_user_defined(saltus_event_kind kind) {
  return kind == SALTUS_EVENT_RISE || kind == SALTUS_EVENT_FALL;
}

double saltus_event_work(const saltus_event* event) {
  assert(event != NULL);
  return saltusi_impact_work(event->impulse, event->u_before, event->u_after, event->slip_before,
                             event->slip_after);
}
