/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance.h - meaning of the single number `tol` for a scheme, common to scenes and runs.
 *
 *   a scheme that chooses its steps     its options rtol = atol = tol
 *   impacts located, embedded method    controller "embedded", rtol = atol = tol
 *   impacts at the end of a step        controller "variable-order", rtol = atol = tol
 *   anything else                       refused
 *
 * Step doubling compares positions. If impacts are located inside of a step, both results have the same error of
 * their time: estimates of Radau, Lobatto and Gauss methods accept errors of 1e-2 on the woodpecker at a tolerance of
 * 1e-6. Embedded methods that put impacts at the end of a step (splitting) estimate the smooth motion alone. Schemes
 * with a constant step have no estimate. The option --control accepts each of these combinations.
 */
#ifndef SALTUSI_TOLERANCE_H
#define SALTUSI_TOLERANCE_H

#include "saltus/control.h"
#include "saltus/scheme.h"

/* Whether the tolerance is among the scheme's own options. */
bool saltusi_tol_is_option(const saltus_scheme_info* scheme);

/* Whether the scheme estimates the error of its steps itself, also across impacts. */
bool saltusi_tol_is_estimated(const saltus_scheme_info* scheme);

/* The controller used with a tolerance; NULL: none for this scheme. */
const char* saltusi_tol_control(const saltus_scheme_info* scheme);

/* Reason why a scheme accepts no tolerance: the end of a sentence that begins with its name. */
const char* saltusi_tol_refusal(const saltus_scheme_info* scheme);

/* Sets rtol and atol. SALTUS_ERR_RANGE, with a message that begins with `name` (the term of the caller), if tol is
 * not allowed; nothing is changed then. */
saltus_status saltusi_tol_set_options(const saltus_scheme_info* scheme, void* options, double tol,
                                      const char* name, saltus_log log);
saltus_status saltusi_tol_set_control(saltus_control_options* options, double tol, const char* name,
                                      saltus_log log);

/* Sets one of rtol and atol by its name, in the options of the scheme. */
saltus_status saltusi_tol_set_one(const saltus_scheme_info* scheme, void* options,
                                  const char* field, double value, const char* name,
                                  saltus_log log);

#endif
