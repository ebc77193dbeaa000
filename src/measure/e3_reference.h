/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * e3_reference.h - samples of the double pendulum at a wall; tools/embed_reference.py writes the
 * tables from data/reference/double-pendulum-wall-e3.csv.
 */
#ifndef SALTUSI_E3_REFERENCE_H
#define SALTUSI_E3_REFERENCE_H

enum { SALTUSI_E3_COUNT = 61 };

extern const double saltusi_e3_t[SALTUSI_E3_COUNT];     /* s */
extern const double saltusi_e3_q[2 * SALTUSI_E3_COUNT]; /* rad */
extern const double saltusi_e3_v[2 * SALTUSI_E3_COUNT]; /* rad/s */

#endif
