/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_signal.h - formulas of time and inputs as signals of a mechanism, with exact derivatives.
 */
#ifndef SALTUSI_FORMULA_SIGNAL_H
#define SALTUSI_FORMULA_SIGNAL_H

#include "base/pool.h"
#include "model/formula_constants.h"
#include "saltus/mechanism.h"

/* Inputs are rejected in signals of prescribed motions, since they would cause jumps. A constant formula becomes a
 * constant. Data are in the pool; the text has to outlive it.
 * SALTUS_ERR_INPUT after a message. */
saltus_status saltusi_formula_signal_make(saltusi_formula_constants* constants,
                                          const saltus_formula_text* formula, bool moves,
                                          saltusi_pool* pool, saltus_signal* out);

/* Whether a formula depends on time and inputs only; without a message. */
bool saltusi_formula_signal_known(saltusi_formula_constants* constants,
                                  const saltus_formula_text* formula);

/* The callback of every such signal, which identifies it, and its source text. */
void saltusi_formula_signal_evaluate(const void* self, double t, double out[3]);
saltus_formula_text saltusi_formula_signal_text(const void* self);
/* Its program: value, first and second derivative by time and inputs. */
const struct saltusi_program* saltusi_formula_signal_values(const void* self);

/* Force along the coordinate NAME.PART of a joint by a formula of it, its rate, time and inputs, as in saltus_tree_law.
 * False, without a message, for other formulas. */
bool saltusi_formula_law_make(const saltus_formula_def* def, const saltus_formula_text* formula,
                              const char* coordinate, saltusi_pool* pool, const void** self);
void saltusi_formula_law_evaluate(const void* self, double t, double x, double rate, double out[3]);

#endif
