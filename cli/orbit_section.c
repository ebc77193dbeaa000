/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit_section.c - see orbit.h.
 */
#include "orbit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int orbit_scene(const cli_model* model, const orbit_axis* axis, double value,
                orbit_section* section, saltus_scene** out) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  const saltus_override moved = {.name = axis->name, .value = text};
  const saltus_scene_def def = {.like = model->scene,
                                .overrides = &moved,
                                .override_count = axis->count > 0 ? 1 : 0,
                                .log = cli_log()};
  *out = NULL;
  saltus_status status = saltus_scene_create(&def, out);
  if (status == SALTUS_OK && section->formula != NULL) {
    status = saltus_scene_value(*out, section->formula, cli_log(), &section->period);
  }
  if (status == SALTUS_OK && section->formula != NULL &&
      !(section->period > 0.0 && section->period < INFINITY)) {
    char at[128] = "";
    if (axis->count > 0) {
      snprintf(at, sizeof at, " at %s = %.9g", axis->name, value);
    }
    cli_error("--period \"%s\" is %g s%s, must be positive and finite", section->formula,
              section->period, at);
    status = SALTUS_ERR_INPUT;
  }
  if (status != SALTUS_OK) {
    saltus_scene_destroy(*out);
    *out = NULL;
  }
  return cli_exit_code(status);
}

static int find_kind(const char* word) {
  for (int k = 0; k < SALTUS_EVENT_RISE; k++) {
    if (strcmp(saltus_event_kind_name((saltus_event_kind)k), word) == 0) {
      return k;
    }
  }
  return -1;
}

static int read_event(const cli_args* args, const cli_model* model, const char* text,
                      orbit_section* section) {
  const saltus_system* sys = model->view.system;
  const saltus_observables* o = model->view.observables;
  char word[80];
  snprintf(word, sizeof word, "%s", text);
  char* of = strstr(word, " of ");
  const char* name = of != NULL ? text + (of - word) + 4 : NULL;
  if (of != NULL) {
    *of = '\0';
  }
  section->contact = -1;
  section->kind = find_kind(word);
  if (section->kind >= 0 && name == NULL) {
    return CLI_DONE;
  }
  if (section->kind >= 0) {
    for (int i = 0; i < sys->dims.nc && (sys->traits & SALTUS_CHANGING_CONTACTS) == 0; i++) {
      if (sys->laws[i].name != NULL && strcmp(sys->laws[i].name, name) == 0) {
        section->contact = i;
        return CLI_DONE;
      }
    }
    cli_error("%s: --section: the scene has no contact \"%s\"", args->command->name, name);
    return CLI_USAGE;
  }
  for (int i = 0; o != NULL && i < o->event_count; i++) {
    if (strcmp(o->event_names[i], text) == 0) {
      section->kind = SALTUS_EVENT_RISE;
      section->contact = i;
      return CLI_DONE;
    }
  }
  cli_error("%s: --section is \"%s\"; it is a kind of event (impact, close, open, slip, stick, "
            "...), with \" of \" and a contact, or "
            "the name of an event of the scene",
            args->command->name, text);
  return CLI_USAGE;
}

int orbit_section_read(const cli_args* args, const cli_model* model, orbit_section* section) {
  const char* period = cli_value(args, "--period");
  const char* event = cli_value(args, "--section");
  *section = (orbit_section){.kind = -1, .contact = -1};
  if ((period == NULL) == (event == NULL)) {
    cli_error("%s: select the samples of the motion by --period T or --section EVENT",
              args->command->name);
    return CLI_USAGE;
  }
  if (event != NULL) {
    return read_event(args, model, event, section);
  }
  section->formula = period;
  return CLI_DONE;
}

int orbit_axis_read(const cli_args* args, const char* option, orbit_axis* axis) {
  const char* text = cli_value(args, option);
  int end = 0;
  *axis = (orbit_axis){.count = 0};
  if (text == NULL) {
    return CLI_DONE;
  }
  const char* equals = strchr(text, '=');
  if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof axis->name ||
      sscanf(equals + 1, "%lf:%lf:%d%n", &axis->from, &axis->to, &axis->count, &end) != 3 ||
      equals[1 + end] != '\0' || axis->count < 2) {
    cli_error("%s: %s is \"%s\", must be NAME=FROM:TO:COUNT with a count from 2 on",
              args->command->name, option, text);
    return CLI_USAGE;
  }
  memcpy(axis->name, text, (size_t)(equals - text));
  return CLI_DONE;
}

double orbit_axis_at(const orbit_axis* axis, int i) {
  return i == axis->count - 1
             ? axis->to
             : axis->from + (axis->to - axis->from) * ((double)i / (double)(axis->count - 1));
}
