/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * status.h - status codes of functions.
 *
 *   < 0  nothing was done; the caller has to change something before trying again
 *   = 0  done
 *   > 0  undone, the state is as before; a smaller step or a larger capacity may succeed
 */
#ifndef SALTUS_STATUS_H
#define SALTUS_STATUS_H

#include "saltus/api.h"

SALTUS_BEGIN_DECLS

/* The list of status codes, from which the enum and the texts are made. */
#define SALTUS_STATUS_LIST(X)                                                                      \
  X(SALTUS_ERR_ACCURACY, -16, "the requested accuracy cannot be reached")                          \
  X(SALTUS_ERR_BOUND, -15, "a bound of the scheme was reached")                                    \
  X(SALTUS_ERR_UNDEFINED, -14, "the system has a value that is not finite")                        \
  X(SALTUS_ERR_CONTRADICTION, -13, "joints are inconsistent")                                      \
  X(SALTUS_ERR_STALLED, -12, "time does not advance")                                              \
  X(SALTUS_ERR_LAW, -11, "the law of an impact creates energy, which the options forbid")          \
  X(SALTUS_ERR_ACCUMULATION, -10, "an accumulation of impacts stops an event-driven scheme")       \
  X(SALTUS_ERR_IO, -9, "a file could not be read or written")                                      \
  X(SALTUS_ERR_STOPPED, -8, "a callback requested a stop")                                         \
  X(SALTUS_ERR_INPUT, -7, "the input is not valid")                                                \
  X(SALTUS_ERR_UNSUPPORTED, -6, "the scheme does not treat a feature of this system")              \
  X(SALTUS_ERR_SINGULAR, -5, "the mass matrix is singular or not finite")                          \
  X(SALTUS_ERR_RANGE, -4, "an option or argument is outside its range")                            \
  X(SALTUS_ERR_NAME, -3, "no such name")                                                           \
  X(SALTUS_ERR_MEMORY, -2, "memory could not be allocated")                                        \
  X(SALTUS_ERR_SYSTEM, -1, "a callback of the system failed")                                      \
  X(SALTUS_OK, 0, "done")                                                                          \
  X(SALTUS_RETRY_SMALLER, 1, "the step did not converge; a smaller one may")                       \
  X(SALTUS_RETRY_CAPACITY, 2, "more contacts than the workspace holds")                            \
  X(SALTUS_RETRY_NAN, 3, "the step produced a value that is not finite")

typedef enum saltus_status {
#define SALTUS_STATUS_ENUM(name, value, text) name = value,
  SALTUS_STATUS_LIST(SALTUS_STATUS_ENUM)
#undef SALTUS_STATUS_ENUM
} saltus_status;

/* A constant text; never NULL. */
SALTUS_API const char* saltus_status_text(saltus_status status);

SALTUS_END_DECLS

#endif
