/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact_run.h - one run of a scene of bodies with shapes, for studies: outputs at its end and instants of its events.
 */
#ifndef CONTACT_RUN_H
#define CONTACT_RUN_H

#include "saltus/saltus.h"

enum { CONTACT_RUN_OUTPUTS = 64 };

/* The first event of a kind; + 1: the second, up to the fourth. */
#define CONTACT_EVENT(kind) (1 + SALTUS_RUN_FIRST * (int)(kind))

typedef struct contact_run {
  const char* scene;      /* a file in scenes/, without its ending */
  const char* parameters; /* "mu=0.1 e=0.5"; NULL: as the scene has them */
  const char* scheme;
  double tol;   /* of adaptive */
  double h;     /* s, of schemes with fixed steps */
  double until; /* s */

  /* out: */
  char names[CONTACT_RUN_OUTPUTS][32];
  double outputs[CONTACT_RUN_OUTPUTS];
  int output_count;
  saltus_run_events events[SALTUS_EVENT_KINDS];
  saltus_energy ledger;
  double penetration; /* m */
  long long steps;
  saltus_work work;
} contact_run;

saltus_status contact_go(contact_run* run);
double contact_output(const contact_run* run, const char* name); /* NaN: none of that name */
double contact_instant(const contact_run* run, int event);       /* s; NaN: there was none */

#endif
