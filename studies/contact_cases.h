/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_cases.h - scenes of bodies with shapes whose numbers are known from formulas.
 */
#ifndef CONTACT_CASES_H
#define CONTACT_CASES_H

enum { CONTACT_NUMBERS = 8 };

typedef struct contact_number {
  const char* what; /* name of an output of the scene, at the end; or any words for an impact */
  double expected;
  int impact; /* 1: the instant of the first impact, ...; 0: the output */
} contact_number;

typedef struct contact_case {
  const char* study;
  const char* label;
  const char* scene;      /* a file in scenes/, without its ending */
  const char* parameters; /* "mu=0.1 e=0.5"; NULL: as the scene has them */
  double until;           /* s */
  double allowed;         /* tolerances; 0: 10 */
  int count;
  contact_number numbers[CONTACT_NUMBERS];
} contact_case;

const contact_case* contact_case_at(int i); /* NULL past the end */

#endif
