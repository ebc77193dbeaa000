/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * suggest.h - "did you mean": the nearest of a list of names.
 */
#ifndef SALTUSI_SUGGEST_H
#define SALTUSI_SUGGEST_H

/* The candidate with the fewest typing errors (a letter wrong, missing, added, or two swapped), the first of
 * equals. NULL when the nearest has more than one error per three letters, at least one. NULL candidates are
 * skipped. */
const char* saltusi_suggest(const char* word, const char* const* candidates, int count);

#endif
