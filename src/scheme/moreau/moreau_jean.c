/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_jean.c - the theta scheme with Moreau's impact law; the mathematics is in moreau_step.c.
 */
#include "scheme/moreau/moreau_step.h"

static const char* const jump_names[] = {"midpoint", "start", NULL};
static const char* const joint_names[] = {"mean", "end", NULL};

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_moreau_jean_options, theta, 0.5, 0.0, 1.0,
                "weight of the end of the step in forces and positions [1]"),
    SALTUS_REAL(saltus_moreau_jean_options, gamma, 1.0, 0.0, 1.0,
                "how far ahead contacts are looked for, part of a step [1]"),
    SALTUS_CHOICE(saltus_moreau_jean_options, jump, SALTUS_JUMP_MIDPOINT, SALTUS_JUMP_START,
                  jump_names, "where the directions of the approach velocity are taken"),
    SALTUS_CHOICE(saltus_moreau_jean_options, joints, SALTUS_JOINTS_MEAN, SALTUS_JOINTS_END,
                  joint_names, "velocity that joints hold: the mean of the step or its end"),
    SALTUS_REAL(saltus_moreau_jean_options, newton_tol, 1e-13, 1e-15, 1e-2,
                "relative change of the velocity that ends Newton's iteration [1]"),
    SALTUS_INT(saltus_moreau_jean_options, newton_max, 30, 1, 1000, "most Newton iterations"),
    SALTUSI_WARM_START_FIELD(saltus_moreau_jean_options),
    SALTUSI_GAIN_FIELD(saltus_moreau_jean_options),
    SALTUS_REAL(saltus_moreau_jean_options, contact_tol, 0.0, 0.0, 0.01,
                "residual of contact problems over the size of their data; 0: rounding [1]"),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_jean_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_jean_options, saltus_moreau_jean_options_default, fields)

static size_t memory_count(const void* options, const saltus_system* sys) {
  const saltus_moreau_jean_options* o = options;
  return saltusi_warm_count(o->warm_start, sys);
}

static void carry_memory(const void* options, const saltus_system* sys, saltusi_carry* carry) {
  const saltus_moreau_jean_options* o = options;
  saltusi_warm_carry(o->warm_start, sys, carry);
}

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
            .treats = SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_MAPS |
                      SALTUS_TREATS_VARIABLE_STEPS | SALTUS_TREATS_CHANGING_CONTACTS,
            .options = TABLE,
        },
    .work_size = sizeof(saltusi_moreau),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .layout = layout,
    .step = step,
};
