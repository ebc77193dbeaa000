/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance.h - what one number `tol` means for a scheme; scenes and runs ask here.
 *
 *   a scheme that chooses its steps     its options rtol = atol = tol
 *   a scheme with an embedded method    controller "embedded", rtol = atol = tol
 *   any other with variable steps       controller "variable-order", rtol = atol = tol
 *   a scheme that needs a constant step nothing: refused
 */
#ifndef SALTUSI_TOLERANCE_H
#define SALTUSI_TOLERANCE_H

#include "saltus/control.h"
#include "saltus/scheme.h"

/* Whether the tolerance is among the scheme's own options. */
bool saltusi_tol_is_option(const saltus_scheme_info* scheme);

/* The controller that a tolerance takes; NULL for a scheme that has none. */
const char* saltusi_tol_control(const saltus_scheme_info* scheme);

/* Sets rtol and atol. SALTUS_ERR_RANGE with a message that begins with `name` (as the caller calls it)
 * when tol is not allowed; nothing has changed then. */
saltus_status saltusi_tol_set_options(const saltus_scheme_info* scheme, void* options, double tol,
                                      const char* name, saltus_log log);
saltus_status saltusi_tol_set_control(saltus_control_options* options, double tol, const char* name,
                                      saltus_log log);

/* One of rtol and atol alone, by its name, of a scheme's own options. */
saltus_status saltusi_tol_set_one(const saltus_scheme_info* scheme, void* options,
                                  const char* field, double value, const char* name,
                                  saltus_log log);

#endif
