/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * digits.h - numbers in messages: "is 0.01, allowed is 0.01" helps nobody.
 */
#ifndef SALTUSI_DIGITS_H
#define SALTUSI_DIGITS_H

/* The number of digits, at least `least`, with which %.*g prints two different numbers differently. */
int saltusi_digits_apart(int least, double a, double b);

#endif
