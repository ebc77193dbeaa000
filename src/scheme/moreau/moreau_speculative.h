/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_speculative.h - speculative contacts: contacts that a step can close are active with their gap; other
 * contacts found closed at the end of the step are added, and the step is solved again.
 */
#ifndef SALTUSI_MOREAU_SPECULATIVE_H
#define SALTUSI_MOREAU_SPECULATIVE_H

#include "scheme/moreau/moreau_step.h"

static inline bool saltusi_moreau_speculative(const saltus_moreau_jean_options* o) {
  return o->speculative != 0 && o->theta > 0.0;
}

/* Whether a step detects contacts at its end: only time-varying contact sets can have unlisted
 * ones. */
static inline bool saltusi_moreau_is_speculative(const saltus_moreau_jean_options* o,
                                                 const saltusi_step* s) {
  return saltusi_moreau_speculative(o) && (s->eval->sys.traits & SALTUS_CHANGING_CONTACTS) != 0;
}

/* Activates the contacts that can close in the step, with the approach that their gap allows. */
saltus_status saltusi_moreau_find_near(saltusi_moreau* work,
                                       const saltus_moreau_jean_options* options,
                                       const saltusi_step* step);

/* Detects contacts at the positions reached by the present velocities, as the next step will.
 * Contacts that close there and are not active are added: bodies in impact reach others within the
 * step, and rotating shapes touch with other features than the listed ones. `any`: contacts were
 * added or changed. */
saltus_status saltusi_moreau_find_speculative(saltusi_moreau* work,
                                              const saltus_moreau_jean_options* options,
                                              const saltusi_step* step, bool* any);

/* Whether the approach of an active contact can change velocities by more than was expected. */
bool saltusi_moreau_impacted(const saltusi_moreau* work, const saltusi_step* step);

#endif
