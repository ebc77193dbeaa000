/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.c - see observe.h.
 */
#include "observe.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_observed_open(const saltus_observables* what, cli_observed* observed) {
  *observed = (cli_observed){.what = what};
  if (what == NULL) {
    return CLI_DONE;
  }
  observed->counts = calloc(2 * (size_t)what->event_count + 1, sizeof *observed->counts);
  observed->outputs = calloc((size_t)what->output_count + 1, sizeof *observed->outputs);
  if (observed->counts == NULL || observed->outputs == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  return CLI_DONE;
}

void cli_observed_close(cli_observed* observed) {
  free(observed->counts);
  free(observed->outputs);
}

void cli_observed_frame(cli_observed* observed, const saltus_frame* frame) {
  if (frame->output_count > 0) {
    memcpy(observed->outputs, frame->outputs, (size_t)frame->output_count * sizeof(double));
  }
}

void cli_observed_event(cli_observed* observed, const saltus_event* event) {
  if (event->kind == SALTUS_EVENT_RISE || event->kind == SALTUS_EVENT_FALL) {
    observed->counts[2 * event->contact + (event->kind == SALTUS_EVENT_FALL)]++;
  }
}

void cli_observed_print(const cli_observed* observed) {
  const saltus_observables* o = observed->what;
  for (int i = 0; o != NULL && i < o->event_count; i++) {
    long long up = observed->counts[2 * i];
    long long down = observed->counts[2 * i + 1];
    printf("Event %s: %lld time%s", o->event_names[i], up + down, cli_plural(up + down));
    if (o->directions[i] == SALTUS_CROSSING_BOTH && up + down > 0) {
      printf(", %lld rising and %lld falling", up, down);
    }
    printf(".\n");
  }
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    const char* unit = o->output_labels[i].unit;
    printf("Output %s = %.10g%s%s at the end.\n", o->output_labels[i].name, observed->outputs[i],
           unit[0] != '\0' ? " " : "", unit);
  }
}

void cli_observed_json(json* out, const cli_observed* observed) {
  const saltus_observables* o = observed->what;
  json_open(out, "outputs", '{');
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    json_number(out, o->output_labels[i].name, observed->outputs[i]);
  }
  json_close(out, '}');
  json_open(out, "own_events", '{');
  for (int i = 0; o != NULL && i < o->event_count; i++) {
    json_open(out, o->event_names[i], '{');
    json_integer(out, "rise", observed->counts[2 * i]);
    json_integer(out, "fall", observed->counts[2 * i + 1]);
    json_close(out, '}');
  }
  json_close(out, '}');
}
