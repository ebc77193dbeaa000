/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_jean.c - the theta scheme with Moreau's impact law; the mathematics is in moreau_step.c.
 */
#include "scheme/moreau/moreau_step.h"
#include "scheme/projection.h"

#include "base/log.h"

static const saltus_field fields[] = {
    SALTUSI_THETA_FIELDS(saltus_moreau_jean_options),
    SALTUSI_NEWTON_FIELDS(saltus_moreau_jean_options, "velocity", 1e-13, 30),
    SALTUSI_CONTACT_FIELDS(saltus_moreau_jean_options),
    SALTUS_REAL(saltus_moreau_jean_options, contact_tol, 0.0, 0.0, 0.01,
                "residual of contact problems over the size of their data; 0: rounding [1]"),
    SALTUSI_PROJECTION_FIELD(saltus_moreau_jean_options),
    SALTUS_CHOICE(
        saltus_moreau_jean_options, iterate, 0, 1, saltusi_iterate_names,
        "until rows and forces match the end velocity, or once: one contact problem per step"),
    SALTUS_CHOICE(saltus_moreau_jean_options, speculative, 0, 1, saltusi_speculative_names,
                  "include contacts that can close within the step, with their gap"),
    SALTUS_CHOICE(saltus_moreau_jean_options, filter, SALTUS_FILTER_NO, SALTUS_FILTER_FLAT,
                  saltusi_filter_names,
                  "redundant contacts that are omitted: none, those without friction, or also "
                  "those inside of flat patches"),
    SALTUS_REAL(saltus_moreau_jean_options, stiffness, 0.0, 0.0, 1e300,
                "of speculative contacts, 2/7 of it along the tangents; 0: rigid [N/m]"),
};

#define TABLE SALTUSI_TABLE(saltus_moreau_jean_options, fields)

SALTUSI_DEFAULTS(saltus_moreau_jean_options, saltus_moreau_jean_options_default, fields)

/* Stored data of contacts, then of joints. */
static size_t past_count(const saltus_moreau_jean_options* o, const saltus_system* sys) {
  return o->warm_start == SALTUS_WARM_START_YES ? saltusi_moreau_history_count(sys) : 0;
}

static size_t memory_count(const void* options, const saltus_system* sys) {
  const saltus_moreau_jean_options* o = options;
  return saltusi_warm_count(o->warm_start, sys) + past_count(o, sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  const saltus_moreau_jean_options* o = options;
  saltusi_warm_transfer(o->warm_start, sys, carry);
  saltusi_transfer_plain(carry, past_count(o, sys));
}

/* Deformations are gaps at the start of a step along the normal, and impulses of the last step along the tangents. */
static saltus_status check(const void* options, const saltus_system* sys, saltus_log log) {
  const saltus_moreau_jean_options* o = options;
  (void)sys;
  if (o->stiffness > 0.0 && (o->speculative == 0 || o->theta != 1.0 || o->iterate != 1 ||
                             o->warm_start != SALTUS_WARM_START_YES)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "stiffness: springs of contacts need speculative=yes, theta=1, iterate=once and "
                "warm_start=yes");
    return SALTUS_ERR_UNSUPPORTED;
  }
  return SALTUS_OK;
}

static bool counts_each(const void* options) {
  return ((const saltus_moreau_jean_options*)options)->stiffness > 0.0;
}

static void layout(void* work, const void* options, const saltusi_eval* eval, saltus_arena* arena) {
  const saltus_moreau_jean_options* o = options;
  saltusi_moreau_layout(work, o->warm_start, eval, arena);
}

static saltus_status step(void* work, const void* options, const saltusi_step* s) {
  const saltus_moreau_jean_options* o = options;
  saltusi_moreau* w = work;
  if (w->linked.n > 0 && o->warm_start == SALTUS_WARM_START_YES) {
    const size_t contacts = saltusi_warm_count(o->warm_start, &s->eval->sys);
    w->past_before = s->memory0 + contacts;
    w->past_after = s->memory1 + contacts;
  }
  return w->take(w, o, s);
}

const saltusi_scheme_ops saltusi_moreau_jean = {
    .info =
        {
            .name = "moreau-jean",
            .summary = "theta scheme with Moreau's impact law at the end of each step",
            .source = "Moreau 1988; Jean 1999; Acary 2009, equations (16)-(18)",
            .order = 1,
            .smooth_order = 2,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_VARIABLE_STEPS |
                      SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(saltusi_moreau),
    .check = check,
    .counts_each = counts_each,
};
