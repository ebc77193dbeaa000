/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * plot_choice.h - which part of a recording is drawn: series by name or group, a window of time.
 */
#ifndef CLI_PLOT_CHOICE_H
#define CLI_PLOT_CHOICE_H

#include "cli.h"
#include "saltus/recording.h"

enum { PLOT_NAME = 80 };

typedef struct plot_choice {
  char names[CLI_MOST][PLOT_NAME]; /* of --series; none: everything */
  int count;
} plot_choice;

/* The names of every --series NAME,NAME,...; CLI_USAGE with a message for one that the recording does
 * not have. */
int plot_choice_read(const cli_args* args, const saltus_recording_data* data, plot_choice* choice);

/* Whether a series is drawn, by its own name or that of its group. */
bool plot_chosen(const plot_choice* choice, const char* name, const char* group);

/* A contact's part of a group: by group, or as "floor.force". */
bool plot_contact_chosen(const plot_choice* choice, const char* contact, const char* part,
                         const char* group);

/* The frames and events from one time to another, as a view of data; CLI_USAGE and a message when there
 * are none. */
int plot_window(const cli_args* args, const saltus_recording_data* data,
                saltus_recording_data* view);

/* A coordinate, velocity or output by name; x NULL: not found. */
typedef struct plot_column {
  const double* x; /* first value; the next ones lie `stride` apart */
  int stride;
  const saltus_label* label;
} plot_column;

/* The two columns of --phase X or X,Y; X alone goes with its velocity. CLI_USAGE after a message. */
int plot_phase_read(const cli_args* args, const saltus_recording_data* data, plot_column pair[2]);

#endif
