/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance.h - what one number `tol` means for a scheme; scenes and runs ask here.
 *
 *   a scheme that chooses its steps     its options rtol = atol = tol
 *   impacts located, embedded method    controller "embedded", rtol = atol = tol
 *   impacts at the end of a step        controller "variable-order", rtol = atol = tol
 *   anything else                       refused
 *
 * Step doubling compares positions, and where impacts are located inside a step both results have the same error of their time: estimates
 * of Radau, Lobatto and Gauss methods accept errors of 1e-2 on the woodpecker at 1e-6. Embedded methods that put impacts at the end of a step
 * (splitting) estimate the smooth motion alone. Schemes with a constant step have no estimate at all. --control takes any of them.
 */
#ifndef SALTUSI_TOLERANCE_H
#define SALTUSI_TOLERANCE_H

#include "saltus/control.h"
#include "saltus/scheme.h"

/* Whether the tolerance is among the scheme's own options. */
bool saltusi_tol_is_option(const saltus_scheme_info* scheme);

/* The controller that a tolerance takes; NULL for a scheme that has none. */
const char* saltusi_tol_control(const saltus_scheme_info* scheme);

/* Why a scheme has none: the rest of a sentence that begins with its name. */
const char* saltusi_tol_refusal(const saltus_scheme_info* scheme);

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
