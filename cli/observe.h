/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.h - what a run reports about the outputs and events that its scene defines.
 */
#ifndef CLI_OBSERVE_H
#define CLI_OBSERVE_H

#include "json.h"
#include "saltus/sim.h"

typedef struct cli_observed {
  const saltus_observables* what; /* NULL: the scene defines nothing */
  long long* counts;              /* [2 x events] passages upwards and downwards */
  double* outputs;                /* [outputs] at the last frame */
} cli_observed;

/* An exit code. */
int cli_observed_open(const saltus_observables* what, cli_observed* observed);
void cli_observed_close(cli_observed* observed);

void cli_observed_frame(cli_observed* observed, const saltus_frame* frame);
void cli_observed_event(cli_observed* observed, const saltus_event* event);

void cli_observed_print(const cli_observed* observed);
void cli_observed_json(json* out, const cli_observed* observed);

#endif
