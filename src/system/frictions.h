/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * frictions.h - the friction laws of a system.
 *
 * An elliptic cone with the associated rule is a circular one of scaled rows: with s = across / mu the second tangent
 * row is multiplied by s, U_2' = s U_2, P_2 = s P_2', and |P_T'| <= mu P_N against U_T' (docs/theory/laws.md, 3.1).
 * Schemes use scaled rows only, by a bit in the traits of their copy of the system; the driver scales
 * their reports back.
 */
#ifndef SALTUSI_FRICTIONS_H
#define SALTUSI_FRICTIONS_H

#include "saltus/system.h"

/* Largest coefficient of friction. */
#define SALTUSI_FRICTION_MOST 1e300

/* Of saltus_system.traits, inside the library: rows of contacts are scaled. */
enum { SALTUSI_SCALED_ROWS = 1 << 30 };

/* SALTUS_ERR_RANGE after a message for invalid friction laws of contacts or of `dry`. */
saltus_status saltusi_frictions_validate(const saltus_system* system, saltus_log log);

/* Largest number of tangents of a contact with friction. */
static inline int saltusi_friction_tangents(const saltus_system* sys) {
  int most = 0;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const bool more = sys->laws[i].mu > 0.0 && sys->laws[i].tangents > most;
    most = more ? sys->laws[i].tangents : most;
  }
  return most;
}

/* Scale of the second tangent row; 1: none. Velocities along it are scaled with it. */
static inline double saltusi_friction_scale(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  if (f == NULL || f->across == 0.0 || f->sliding[0] != 0.0 || law->tangents != 2) {
    return 1.0;
  }
  return f->across / law->mu;
}

/* Whether the friction law of a contact differs from Coulomb's also with scaled rows. */
bool saltusi_friction_is_special(const saltus_contact_law* law);
/* Whether the law has more than a slip-dependent coefficient, viscous friction and a bond without separate shear
 * strength. */
bool saltusi_friction_is_more_than_curve(const saltus_contact_law* law);
/* Whether a contact of the system has such a law, or joints have dry friction. */
bool saltusi_frictions_special(const saltus_system* system);
/* Whether a contact has a second tangent row that is scaled. */
bool saltusi_frictions_scaled(const saltus_system* system);

#endif
