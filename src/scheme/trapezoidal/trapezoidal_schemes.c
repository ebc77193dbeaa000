/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trapezoidal_schemes.c - the linearly implicit trapezoidal method as two schemes: contacts and
 * joints hold the mean velocity of the step, (6.10), or the velocity at its end, (6.12).
 */
#include "scheme/trapezoidal/trapezoidal.h"

#include "base/log.h"
#include "base/number.h"

#include <stddef.h>

typedef saltus_trapezoidal_options options_struct;

static const char* const jacobian_names[] = {"exact", "gauss-newton", "automatic", NULL};
static const char* const joint_names[] = {"eliminated", "kept", NULL};
static const char* const stabilisation_names[] = {"off", "on", "contacts", "all", NULL};
static const char* const switch_names[] = {"off", "on", NULL};
static const char* const gradient_names[] = {"end", "middle", NULL};
static const char* const term_names[] = {"derived", "printed", NULL};
static const char* const decompression_names[] = {"coulomb", "printed", NULL};

/* `gradients` comes first, so that the table of the mean scheme is the rest. */
static const saltus_field fields[] = {
    SALTUS_CHOICE(options_struct, gradients, 0, 1, gradient_names,
                  "configuration of the rows that measure velocities; middle, as printed, has "
                  "order 1 on curved rows"),
    SALTUS_CHOICE(
        options_struct, jacobians, SALTUS_JACOBIANS_EXACT, SALTUS_JACOBIANS_AUTOMATIC,
        jacobian_names,
        "derivatives of the forces; those of springs without curvature; or the first ones in steps "
        "in which the effective mass is positive definite"),
    SALTUS_CHOICE(options_struct, joints, 0, 1, joint_names,
                  "joints are eliminated, or kept in the mixed problem"),
    SALTUS_CHOICE(options_struct, stabilisation, SALTUS_STABILISATION_OFF, SALTUS_STABILISATION_ALL,
                  stabilisation_names,
                  "drift of joints (on), of active contacts or of both is removed"),
    SALTUS_CHOICE(options_struct, force_term, 0, 1, term_names,
                  "h F_q v, or (h/2) F_q v as printed: order 1 and unstable, for comparison"),
    SALTUS_INT(options_struct, direction_pairs, 4, 2, SALTUSI_DIRECTION_PAIRS_MAX,
               "pairs of opposite friction directions of a spatial contact"),
    SALTUS_CHOICE(options_struct, decompression, SALTUS_DECOMPRESSION_COULOMB,
                  SALTUS_DECOMPRESSION_PRINTED, decompression_names,
                  "friction of the restituted impulse: Coulomb's, or none as printed"),
    SALTUS_CHOICE(options_struct, detection, 1, 1, switch_names,
                  "transitions to stick, slip and take-off are located inside the step"),
    SALTUS_INT(options_struct, events_max, 30, 0, 1000,
               "largest number of located transitions in a step"),
    SALTUS_REAL(options_struct, contact_gap, 1e-8, 0.0, 1e3,
                "contacts with smaller gaps are active [m]"),
    SALTUS_REAL(options_struct, contact_gap_h3, 0.0, 0.0, 1e12,
                "times h^3: contacts with gaps smaller than that are active too [m/s^3]"),
    SALTUS_REAL(options_struct, substep_min, 0.0, 0.0, 1.0,
                "part of the step; after two shorter substeps in succession none of its events is "
                "located: order 1; 0: all are [1]"),
    SALTUS_CHOICE(options_struct, filter, SALTUS_FILTER_NO, SALTUS_FILTER_FLAT,
                  saltusi_filter_names,
                  "redundant contacts removed from contact problems: none, those without friction, "
                  "also those inside flat patches"),
    SALTUS_REAL(options_struct, rest, 2.0, 0.0, 1e6,
                "active contacts slower than this multiple of the velocity change by forces in a "
                "step stop [1]"),
    SALTUSI_GAIN_FIELD(options_struct),
};

enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

saltus_trapezoidal_options saltus_trapezoidal_options_default(void) {
  const saltus_field_table table = {fields, FIELD_COUNT, sizeof(options_struct)};
  saltus_trapezoidal_options options = {0};
  saltus_options_defaults(&table, &options);
  return options;
}

static saltus_status step_mean(void* work, const void* options, const saltusi_step* s) {
  return saltusi_trapezoid_step(work, options, s, true);
}

static saltus_status step_end(void* work, const void* options, const saltusi_step* s) {
  return saltusi_trapezoid_step(work, options, s, false);
}

/* Largest part of the friction bound that a polygon with 2 pairs of corners on the circle lacks. */
static double missing(int pairs) {
  return 1.0 - cos(1.5707963267948966 / pairs);
}

static saltus_status check(const void* options, const saltus_system* sys, saltus_log log) {
  const options_struct* o = options;
  bool known = sys->ops->spring_q != NULL && sys->ops->spring_v != NULL;
  if (o->jacobians != SALTUS_JACOBIANS_EXACT && !known) {
    saltusi_log(
        log, SALTUS_LEVEL_ERROR,
        "jacobians=gauss-newton: the system names no springs; give `springs` in the scene, or "
        "jacobians=exact");
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (o->jacobians != SALTUS_JACOBIANS_EXACT && sys->ops->mass == NULL) {
    saltusi_log(
        log, SALTUS_LEVEL_ERROR,
        "jacobians=gauss-newton: the system has no dense mass matrix; take jacobians=exact");
    return SALTUS_ERR_UNSUPPORTED;
  }
  for (int i = 0; i < sys->law_count; i++) {
    if (sys->laws[i].tangents == 2 && sys->laws[i].mu > 0.0) {
      char more[48] = "";
      if (o->direction_pairs < SALTUSI_DIRECTION_PAIRS_MAX) {
        saltusi_print(more, sizeof more, "; direction_pairs=%d: %.2g %%",
                      SALTUSI_DIRECTION_PAIRS_MAX, 100.0 * missing(SALTUSI_DIRECTION_PAIRS_MAX));
      }
      saltusi_log(log, SALTUS_LEVEL_WARNING,
                  "friction in space has %d directions: at every step size it is up to %.2g %% "
                  "below Coulomb's, and its direction differs%s",
                  2 * o->direction_pairs, 100.0 * missing(o->direction_pairs), more);
      break;
    }
  }
  return SALTUS_OK;
}

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return (size_t)SALTUSI_TRAPEZOID_CARRIED * (size_t)sys->dims.nc;
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options, (void)sys;
  saltusi_transfer_each(carry, SALTUSI_TRAPEZOID_CARRIED);
}

static bool memory_valid(const void* options, const saltus_system* sys, const double* memory) {
  const options_struct* o = options;
  return saltusi_trapezoid_memory_valid(sys, 2 * o->direction_pairs, memory);
}

static size_t dense_count(const void* options, const saltus_system* sys) {
  (void)options;
  return saltusi_trapezoid_dense_count(&sys->dims);
}

static saltus_status dense(void* work, const void* options, const saltusi_dense_query* query) {
  (void)options;
  saltusi_trapezoid* w = work;
  return saltusi_trapezoid_dense(query, w->F1);
}

static void layout(void* work, const void* options, const saltusi_eval* eval, saltus_arena* arena) {
  saltusi_trapezoid_layout(work, options, eval, arena);
}

static void layout_mean(void* work, const void* options, const saltusi_eval* eval,
                        saltus_arena* arena) {
  saltusi_trapezoid* w = work;
  layout(work, options, eval, arena);
  if (eval->sys.dims.nj > 0) {
    saltusi_projection_layout(&w->end, eval, arena);
  }
}

#define TREATS                                                                                     \
  (SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_POISSON | SALTUS_TREATS_MAPS |    \
   SALTUS_TREATS_VARIABLE_STEPS | SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_LAWS)

const saltusi_scheme_ops saltusi_trapezoidal_mean = {
    .info =
        {
            .name = "trapezoidal-implicit-mean",
            .summary = "linearly implicit trapezoidal rule, contacts on the mean velocity, events",
            .source = "Potra, Anitescu, Gavrea and Trinkle 2006, (6.10), corrected",
            .order = 2,
            .smooth_order = 2,
            .locates_events = true,
            .dense = true,
            .pyramids = true,
            .treats = TREATS,
            .options = {fields + 1, FIELD_COUNT - 1, sizeof(options_struct)},
        },
    .work_size = sizeof(saltusi_trapezoid),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .memory_valid = memory_valid,
    .check = check,
    .layout = layout_mean,
    .step = step_mean,
    .dense_count = dense_count,
    .dense = dense,
};

const saltusi_scheme_ops saltusi_trapezoidal_end = {
    .info =
        {
            .name = "trapezoidal-implicit-end",
            .summary = "linearly implicit trapezoidal rule, contacts on the end velocity, events",
            .source = "Potra, Anitescu, Gavrea and Trinkle 2006, (6.12), corrected",
            .order = 2,
            .smooth_order = 2,
            .locates_events = true,
            .dense = true,
            .pyramids = true,
            .treats = TREATS,
            .options = {fields, FIELD_COUNT, sizeof(options_struct)},
        },
    .work_size = sizeof(saltusi_trapezoid),
    .memory_count = memory_count,
    .carry_memory = carry_memory,
    .memory_valid = memory_valid,
    .check = check,
    .layout = layout,
    .step = step_end,
    .dense_count = dense_count,
    .dense = dense,
};
