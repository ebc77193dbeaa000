/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity.h - saltus run --sensitivity NAME.
 */
#ifndef CLI_SENSITIVITY_H
#define CLI_SENSITIVITY_H

#include "json.h"
#include "model.h"

/* Prints derivatives of a run up to `until`. Returns an exit code; no effect without --sensitivity. */
int cli_sensitivity(const cli_args* args, const cli_model* model, double until, double tol);

#endif
