/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lab.h - saltus lab impact: one configuration under all impact laws; saltus lab friction: a friction law.
 */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include "cli.h"
#include "model.h"
#include "saltus/law.h"

enum { LAB_CONTACTS = 32, LAB_ROWS = 96, LAB_LAWS = 24 };

/* An impact problem with its memory. */
typedef struct lab_case {
  saltus_impact impact; /* pointers to the members below */
  saltus_impact_contact contact[LAB_CONTACTS];
  char name[LAB_CONTACTS][64];
  double W[LAB_ROWS * LAB_ROWS];
  double u[LAB_ROWS];
  double t;        /* s, of a scene; NaN: given */
  cli_model model; /* has the friction laws of contacts */
  bool open;       /* the model is */
} lab_case;

/* The result of a law. */
typedef struct lab_answer {
  const char* name;
  saltus_status status;
  saltus_kept_message message;
  saltus_impact_result result;
  double P[LAB_ROWS], u[LAB_ROWS];
} lab_answer;

/* saltus lab friction. */
int lab_friction(const cli_args* args);

/* "slip 0.2, stick 0.4 | reverse 0.1": phases of one contact, with a bar where compression ends. */
const char* lab_phases(const lab_answer* answer, char* text, size_t bytes);

/* Impulse plane of one planar contact: cone, line of sticking, end of compression, paths and ends of laws. */
saltus_status lab_draw(const lab_case* c, const lab_answer* answers, int count, const char* path,
                       saltus_log log);

#endif
