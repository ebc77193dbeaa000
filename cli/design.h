/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * design.h - design quantities of a run for machine designers, --design: forces of joints, impacts,
 * rebounds and wear of contacts, times of events, revolutions.
 */
#ifndef CLI_DESIGN_H
#define CLI_DESIGN_H

#include "json.h"
#include "saltus/mechanism.h"
#include "saltus/recording.h"
#include "saltus/run.h"

#include <stdio.h>

typedef struct cli_contact_answer {
  long long impacts;
  double first, last;      /* s, of its impacts */
  double largest;          /* N s, of one impact */
  double impulse;          /* N s, of all */
  double rebound;          /* largest gap between two of its impacts, */
  double away;             /* and since the last one */
  double peak, carried;    /* N largest, N s in all, of its non-impulsive normal force */
  double closed;           /* s, with a normal force */
  double friction, impact; /* J, of its friction and of its impacts; negative for a loss */
} cli_contact_answer;

typedef struct cli_joint_answer {
  double peak, peak_at;  /* N, s; negative: no interval was without an impact */
  double struck;         /* N s, largest impulse between two recorded states */
  double sum;            /* N s */
  double torque, turned; /* N m, largest; N m s, its integral */
  double start, angle;   /* rad, of a revolute joint */
} cli_joint_answer;

typedef struct cli_event_answer {
  long long count;
  double first, last; /* s */
} cli_event_answer;

typedef struct cli_design {
  bool wanted;
  const saltus_scene_view* view;
  cli_contact_answer* contacts; /* [nc] malloc'd, as the others */
  cli_joint_answer* joints;     /* of the mechanism */
  cli_event_answer* events;     /* of the scene */
  int contact_count, joint_count, event_count;
  double begin, t; /* s, first frame and the last one so far */
  bool begun;
} cli_design;

/* false: no memory. */
bool cli_design_start(cli_design* design, const saltus_scene_view* view);
saltus_recorder cli_design_recorder(cli_design* design);
void cli_design_free(cli_design* design);

/* The frames and events of a recording of the same scene, as a run has them. */
void cli_design_replay(cli_design* design, const saltus_recording_data* data);

/* A line for each joint, contact and event: "Joint crank: ...". */
void cli_design_print(const cli_design* design, FILE* out);
void cli_design_json(json* out, const cli_design* design);

#endif
