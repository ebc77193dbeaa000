/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.h - contacts of a recording with a time-varying set: single contacts, a table, and columns.
 */
#ifndef CLI_CONTACTS_H
#define CLI_CONTACTS_H

#include "events.h"
#include "saltus/recording.h"

/* A contact over all frames in which it has a row. */
typedef struct cli_contact {
  uint64_t identity;
  const char* law;
  long long bodies[2];
  long long rows;
  double first, last; /* s, of its frames */
  double gap;         /* m, smallest; infinite: it never had one */
  double impulse;     /* N s, normal, in all */
  double force;       /* N, largest mean normal force */
  double momentum;    /* N s, impulses and forces over their time */
} cli_contact;

/* By rising identity, to be freed; NULL without memory. */
cli_contact* cli_contacts_find(const saltus_recording_data* data, long long* count);

/* The rows as a table, as CSV or as JSON, on the standard output. */
void cli_contacts_write(cli_events_format format, const saltus_recording_data* data);

/* The contacts with the largest forces as columns of a view, at most `most` of them, requested ones first. The view
 * has nc, contact_names, force and impulse as for a fixed set.
 * Returns the number of contacts that acted; -1 without memory. */
typedef struct cli_spread {
  const char* names[16];
  char digits[16][24];
  double *force, *impulse; /* to be freed */
} cli_spread;

typedef bool cli_wants(const void* who, const char* identity);

long long cli_contacts_spread(saltus_recording_data* view, int most, cli_wants* wants,
                              const void* who, cli_spread* room);

#endif
