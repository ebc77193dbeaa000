/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_constants.h - constant formulas of the same parameters, which are evaluated once.
 */
#ifndef SALTUSI_FORMULA_CONSTANTS_H
#define SALTUSI_FORMULA_CONSTANTS_H

#include "saltus/formula.h"

struct saltusi_formula_builder;

typedef struct saltusi_formula_constants saltusi_formula_constants;

/* Parameters, inputs and log of a definition, which have to outlive it. SALTUS_ERR_INPUT after a message. */
saltus_status saltusi_formula_constants_open(const saltus_formula_def* def,
                                             saltusi_formula_constants** out);
saltus_status saltusi_formula_constants_value(saltusi_formula_constants* constants,
                                              const saltus_formula_text* formula, double* value);
struct saltusi_formula_builder*
saltusi_formula_constants_builder(saltusi_formula_constants* constants);
void saltusi_formula_constants_close(saltusi_formula_constants* constants); /* NULL: nothing */

#endif
