/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * control_table.c - the controllers: one algorithm with a table of defaults for each.
 */
#include "saltus/control.h"

#include <string.h>

static const char* const orders[] = {"zero", "one", "printed", "robust", "embedded", NULL};
static const char* const switches[] = {"off", "on", NULL};

#define FIELDS(order_, violation_, alpha_, lo_, hi_, reject_)                                      \
  {                                                                                                \
    SALTUS_REAL(saltus_control_options, atol, 1e-6, 0.0, 1e6, "absolute tolerance [unit of q]"),   \
        SALTUS_REAL(saltus_control_options, rtol, 1e-6, 0.0, 1.0, "relative tolerance [1]"),       \
        SALTUS_REAL(saltus_control_options, h_first, 0.0, 0.0, 1e300,                              \
                    "first step, 0: chosen [s]"),                                                  \
        SALTUS_REAL(saltus_control_options, h_min, 0.0, 0.0, 1e300,                                \
                    "smallest step, 0: 1e-12 of the run [s]"),                                     \
        SALTUS_REAL(saltus_control_options, h_max, 0.0, 0.0, 1e300,                                \
                    "largest step, 0: a tenth of the run [s]"),                                    \
        SALTUS_REAL(saltus_control_options, alpha, alpha_, 0.1, 1.0, "safety factor [1]"),         \
        SALTUS_REAL(saltus_control_options, alpha_min, lo_, 0.01, 1.0,                             \
                    "smallest factor of a step change [1]"),                                       \
        SALTUS_REAL(saltus_control_options, alpha_max, hi_, 1.0, 100.0,                            \
                    "largest factor of a step change [1]"),                                        \
        SALTUS_REAL(saltus_control_options, reject_most, reject_, 0.1, 1.0,                        \
                    "largest factor after a rejection [1]"),                                       \
        SALTUS_CHOICE(saltus_control_options, order, order_, SALTUS_ORDER_EMBEDDED, orders,        \
                      "order of the local error for the selection of steps"),                      \
        SALTUS_CHOICE(saltus_control_options, violation, violation_, 1, switches,                  \
                      "whether new penetration counts as an error"),                               \
        SALTUS_INT(saltus_control_options, steps_max, 100000000, 1, 2147483647,                    \
                   "limit of trial steps of a run"),                                               \
  }

static const saltus_field order_0[] = FIELDS(SALTUS_ORDER_0, 0, 1.0, 0.5, 5.0, 1.0);
static const saltus_field violation[] = FIELDS(SALTUS_ORDER_0, 1, 1.0, 0.5, 5.0, 1.0);
static const saltus_field order_1[] = FIELDS(SALTUS_ORDER_1, 1, 1.0, 0.5, 5.0, 1.0);
static const saltus_field richardson[] = FIELDS(SALTUS_ORDER_1, 0, 1.0, 0.5, 5.0, 1.0);
static const saltus_field printed[] = FIELDS(SALTUS_ORDER_PRINTED, 0, 1.0, 0.5, 5.0, 1.0);
static const saltus_field variable[] = FIELDS(SALTUS_ORDER_ROBUST, 1, 0.9, 0.5, 2.0, 0.9);
static const saltus_field embedded[] = FIELDS(SALTUS_ORDER_EMBEDDED, 1, 0.9, 0.2, 5.0, 0.9);

#define TABLE(fields)                                                                              \
  { fields, sizeof fields / sizeof fields[0], sizeof(saltus_control_options) }

static const saltus_control_info registry[] = {
    {"variable-order", "order by the events in the step, new violation counted; recommended",
     "Acary 2009, (67)-(70), with a robust choice of the order", TABLE(variable)},
    {"order-0", "step doubling with local error of order 0", "Acary 2009, (67)", TABLE(order_0)},
    {"violation", "order 0, and new violation counts as an error",
     "Acary 2008, slides 36-37, with the new violation only", TABLE(violation)},
    {"order-1", "order 1, and new violation counts as an error", "Acary 2009, (63); slides 36-37",
     TABLE(order_1)},
    {"richardson", "Richardson's estimate of order 1", "Acary 2009, (63)", TABLE(richardson)},
    {"variable-order-printed", "order by the sign of the gaps, as printed; for comparison",
     "Acary 2009, (68)-(70)", TABLE(printed)},
    {"embedded", "the embedded method of a Runge-Kutta scheme, new violation counted",
     "Acary 2008, slides 42-45", TABLE(embedded)},
};

int saltus_control_count(void) {
  return (int)(sizeof registry / sizeof registry[0]);
}

const saltus_control_info* saltus_control_at(int i) {
  return i >= 0 && i < saltus_control_count() ? &registry[i] : NULL;
}

const saltus_control_info* saltus_control_find(const char* name) {
  for (int i = 0; name != NULL && i < saltus_control_count(); i++) {
    if (strcmp(registry[i].name, name) == 0) {
      return &registry[i];
    }
  }
  return NULL;
}
