/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclose.h - a program over Taylor polynomials of intervals instead of numbers.
 */
#ifndef SALTUSI_ENCLOSE_H
#define SALTUSI_ENCLOSE_H

#include "formula/program.h"
#include "saltus/enclosure.h"

/* Bytes of scratch at SALTUS_JET_ORDER. */
size_t saltusi_enclose_bytes(const saltusi_program* program);

/* out [outputs x (order + 1)]. */
void saltusi_enclose(const saltusi_program* program, const saltus_course* course,
                     saltus_interval* out);

#endif
