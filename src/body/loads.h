/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * loads.h - forces and torques at markers.
 */
#ifndef SALTUSI_LOADS_H
#define SALTUSI_LOADS_H

#include "body/mechanism.h"

void saltusi_loads_add(const saltus_mechanism* m, const saltus_point* at, double* F);
/* factor F_q of a load, added to the block of its body, rows `stride` apart. */
void saltusi_load_slope(const saltus_mechanism* m, int i, const saltus_point* at, double factor,
                        double* A, size_t stride);
double saltusi_loads_power(const saltus_mechanism* m, const saltus_point* at); /* W */

#endif
