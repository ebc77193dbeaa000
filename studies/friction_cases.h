/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_cases.h - motions under friction laws with numbers that were computed twice by other means
 * (docs/theory/problems.md, 12), for tests and the studies law-...
 */
#ifndef SALTUS_FRICTION_CASES_H
#define SALTUS_FRICTION_CASES_H

#include "saltus/saltus.h"

enum { FRICTION_COORDINATES = 4 };

typedef struct friction_case {
  const char* study;
  const char* label;
  const char* scene; /* without the section simulate */
  double until;      /* s */
  int coordinate;    /* whose position is known then; -1: the period of stick-slip is */
  double value;
  double constant; /* error of capturing over h, at most */
} friction_case;

const friction_case* friction_case_at(int i); /* NULL past the end */

/* Position at the end, or the period over the last motions; NaN after a failure, with text[size] about it. */
double friction_case_run(const friction_case* of, const char* scheme, double h, char* text,
                         size_t size);

#endif
