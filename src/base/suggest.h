/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * suggest.h - "did you mean": the nearest of a list of names.
 */
#ifndef SALTUSI_SUGGEST_H
#define SALTUSI_SUGGEST_H

/* The candidate with the fewest typing slips (a letter wrong, missing, added, or two swapped), the
 * first of equals; NULL when nothing is near: more than one slip per three letters, at least one.
 * NULL candidates are passed over. */
const char* saltusi_suggest(const char* word, const char* const* candidates, int count);

#endif
