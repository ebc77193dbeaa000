/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * events.h - the events of a run as a table, as CSV and as JSON.
 */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include "saltus/event.h"
#include "saltus/system.h"

#include <stdio.h>

typedef enum cli_events_format {
  CLI_EVENTS_TABLE,
  CLI_EVENTS_CSV,
  CLI_EVENTS_JSON
} cli_events_format;

typedef struct cli_events {
  const saltus_event* events;
  long long count;
  const char* const* contact_names; /* [nc], of a changing set those of its laws */
  int nc;
  const char* const* own_names; /* [own_count] of the scene's own events */
  int own_count;
  bool changing; /* time-varying contact set: names are those of laws, and identities are shown */
  const saltus_system* system; /* with the names of its contacts; NULL: not available */
} cli_events;

void cli_events_write(FILE* file, cli_events_format format, const cli_events* list);

/* By extension, .csv or .json; "-": the table on the standard output. An exit code. */
int cli_events_save(const char* path, const cli_events* list);

/* Whether such a name can be written; CLI_USAGE and a message when not. */
int cli_events_path_check(const char* path);

#endif
