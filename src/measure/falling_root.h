/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * falling_root.h - end time of a flight.
 */
#ifndef SALTUSI_FALLING_ROOT_H
#define SALTUSI_FALLING_ROOT_H

/* Height and its derivative at time s after the start of a flight. */
typedef void (*saltusi_flight)(const void* data, double s, double x[2]);

/* The root in [lo, hi] to rounding of s, by Newton's method with bisection if it leaves the bracket or converges
 * slowly. The height is positive at lo and not positive at hi. */
double saltusi_falling_root(saltusi_flight flight, const void* data, double lo, double hi,
                            double guess);

#endif
