/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * digits.h - digits of numbers in messages: enough of them that two different numbers are printed differently.
 */
#ifndef SALTUSI_DIGITS_H
#define SALTUSI_DIGITS_H

/* Number of digits, at least `least`, with which %.*g prints a and b differently. */
int saltusi_digits_apart(int least, double a, double b);

#endif
