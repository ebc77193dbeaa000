/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclosure.h - bounds of a mechanism's functions along a piece of a motion.
 */
#ifndef SALTUSI_BODY_ENCLOSURE_H
#define SALTUSI_BODY_ENCLOSURE_H

#include "body/mechanism.h"

/* The table, or NULL where a signal does not know its Taylor coefficients. */
const saltus_enclosure_ops* saltusi_mechanism_enclosure(const saltus_mechanism* m);

/* What all forces, or the rates of all joint rows, have beyond polynomials: saltus_enclosure_ops.beyond. */
void saltusi_mechanism_beyond(const void* self, const saltus_course* course, saltus_quantity what,
                              double* out);

#endif
