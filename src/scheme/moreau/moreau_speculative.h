/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_speculative.h - speculative contacts: those that a step can close take part with their gap, and those that it
 * closes though nobody expected it take part when it is seen.
 */
#ifndef SALTUSI_MOREAU_SPECULATIVE_H
#define SALTUSI_MOREAU_SPECULATIVE_H

#include "scheme/moreau/moreau_step.h"

static inline bool saltusi_moreau_speculative(const saltus_moreau_jean_options* o) {
  return o->speculative != 0 && o->theta > 0.0;
}

/* Whether a step looks at the contacts of its end: only sets that change can have some that were not looked at. */
static inline bool saltusi_moreau_is_speculative(const saltus_moreau_jean_options* o,
                                                 const saltusi_step* s) {
  return saltusi_moreau_speculative(o) && (s->eval->sys.traits & SALTUS_CHANGING_CONTACTS) != 0;
}

/* The contacts that the step can close, with what their gap allows. */
saltus_status saltusi_moreau_find_near(saltusi_moreau* work,
                                       const saltus_moreau_jean_options* options,
                                       const saltusi_step* step);

/* Lists contacts where the velocities that were found lead, as the next step will. Those that are closed
 * there and nobody expected take part: bodies that are struck within the step meet what is behind them, and shapes that
 * turn touch with other features than those that were near. `any`: there are some. */
saltus_status saltusi_moreau_find_speculative(saltusi_moreau* work,
                                              const saltus_moreau_jean_options* options,
                                              const saltusi_step* step, bool* any);

/* Whether an active contact closes so fast that velocities may change by more than was expected. */
bool saltusi_moreau_impacted(const saltusi_moreau* work, const saltusi_step* step);

/* Velocities of a body where all have as many, else 0. */
int saltusi_moreau_body_width(const saltus_system* sys);

#endif
