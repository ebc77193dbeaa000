/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * falling_root.h - where a flight ends.
 */
#ifndef SALTUSI_FALLING_ROOT_H
#define SALTUSI_FALLING_ROOT_H

/* Height and its derivative at time s after the start of a flight. */
typedef void (*saltusi_flight)(const void* data, double s, double x[2]);

/* The zero in [lo, hi], positive height at lo, not positive at hi, to the last bits of s: Newton's
 * method, with bisection wherever it leaves the bracket or slows down. */
double saltusi_falling_root(saltusi_flight flight, const void* data, double lo, double hi,
                            double guess);

#endif
