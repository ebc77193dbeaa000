/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.c - see observe.h.
 */
#include "observe.h"

#include "cli.h"

#include <string.h>

enum { EVENTS_SHOWN = 3, OUTPUTS_SHOWN = 4 };

static void print_more(int count, const char* noun) {
  if (count > 0) {
    printf("... and %d more %s%s (--verbose).\n", count, noun, cli_plural(count));
  }
}

void cli_observed_print(const saltus_observables* o, const saltus_run_result* result, bool all) {
  int left = 0;
  for (int i = 0; o != NULL && i < o->event_count; i++) {
    long long up = result->crossings[2 * i];
    long long down = result->crossings[2 * i + 1];
    if (!all && i >= EVENTS_SHOWN) {
      left++;
      continue;
    }
    printf("Event %s: %lld time%s", o->event_names[i], up + down, cli_plural(up + down));
    if (o->directions[i] == SALTUS_CROSSING_BOTH && up + down > 0) {
      printf(", %lld rising and %lld falling", up, down);
    }
    printf(".\n");
  }
  print_more(left, "event");
  left = 0;
  int shown = 0;
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    const char* name = o->output_labels[i].name;
    const char* unit = o->output_labels[i].unit;
    /* names with a dot are those of mechanisms: momenta, joint coordinates */
    if (!all && (shown >= OUTPUTS_SHOWN || strchr(name, '.') != NULL)) {
      left++;
      continue;
    }
    shown++;
    printf("Output %s = %.10g%s%s at the end.\n", name, result->outputs[i],
           unit[0] != '\0' ? " " : "", unit);
  }
  print_more(left, "output");
}

void cli_observed_json(json* out, const saltus_observables* o, const saltus_run_result* result) {
  json_open(out, "outputs", '{');
  for (int i = 0; o != NULL && i < o->output_count; i++) {
    json_number(out, o->output_labels[i].name, result->outputs[i]);
  }
  json_close(out, '}');
  json_open(out, "own_events", '{');
  for (int i = 0; o != NULL && i < o->event_count; i++) {
    json_open(out, o->event_names[i], '{');
    json_integer(out, "rise", result->crossings[2 * i]);
    json_integer(out, "fall", result->crossings[2 * i + 1]);
    json_close(out, '}');
  }
  json_close(out, '}');
}
