/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_cases.h - impacts with numbers that were computed twice by other means, for the studies law-...
 */
#ifndef SALTUS_LAW_CASES_H
#define SALTUS_LAW_CASES_H

#include "impact_cases.h"

typedef struct law_case {
  const char* study;
  const char* label;
  impact_case (*build)(const double* p);
  double p[4];
  saltus_impact_law law;
  double mu, e_N, e_T; /* e_N < 0: of the contacts' own */
  saltus_impacts rule;
  char
      what; /* 'v', 'u', 'P': velocities of coordinates, of rows, impulses; 'T': change of energy */
  int count;
  double values[10];
  double accuracy; /* to which the numbers are known */
} law_case;

const law_case* law_case_at(int i); /* NULL past the end */

#endif
