/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_jean.c - the theta scheme with Moreau's impact law; the mathematics is in moreau_step.c.
 */
#include "scheme/moreau/moreau_step.h"
#include "scheme/projection.h"

static const saltus_field fields[] = {
    SALTUSI_THETA_FIELDS(saltus_moreau_jean_options),
    SALTUSI_NEWTON_FIELDS(saltus_moreau_jean_options, "velocity", 1e-13, 30),
    SALTUSI_CONTACT_FIELDS(saltus_moreau_jean_options),
    SALTUS_REAL(saltus_moreau_jean_options, contact_tol, 0.0, 0.0, 0.01,
                "residual of contact problems over the size of their data; 0: rounding [1]"),
    SALTUSI_PROJECTION_FIELD(saltus_moreau_jean_options),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_jean_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_jean_options, saltus_moreau_jean_options_default, fields)

SALTUSI_WARM_MEMORY(saltus_moreau_jean_options)

static void layout(void* work, const void* options, const saltusi_eval* eval, saltus_arena* arena) {
  const saltus_moreau_jean_options* o = options;
  saltusi_moreau_layout(work, o->warm_start, eval, arena);
}

static saltus_status step(void* work, const void* options, const saltusi_step* s) {
  return saltusi_moreau_take(work, options, s);
}

const saltusi_scheme_ops saltusi_moreau_jean = {
    .info =
        {
            .name = "moreau-jean",
            .summary = "theta scheme with Moreau's impact law at the end of each step",
            .source = "Moreau 1988; Jean 1999; Acary 2009, equations (16)-(18)",
            .order = 1,
            .smooth_order = 2,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(saltusi_moreau),
};
