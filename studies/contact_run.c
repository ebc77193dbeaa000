/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "contact_run.h"

#include "cli.h"
#include "potra_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAMETERS = 8 };

static int read_parameters(const char* text, char* room, size_t size, saltus_override* out) {
  int count = 0;
  snprintf(room, size, "%s", text != NULL ? text : "");
  for (char* at = room; *at != '\0' && count < PARAMETERS;) {
    char* value = strchr(at, '=');
    *value++ = '\0';
    out[count++] = (saltus_override){.name = at, .value = value};
    at = value + strcspn(value, " ");
    if (*at != '\0') {
      *at++ = '\0';
    }
  }
  return count;
}

static void keep(contact_run* run, const saltus_scene_view* view, const saltus_run_result* out) {
  for (int i = 0; i < view->observables->output_count && i < CONTACT_RUN_OUTPUTS; i++) {
    snprintf(run->names[i], sizeof run->names[i], "%s", view->observables->output_labels[i].name);
    run->outputs[i] = out->outputs[i];
    run->output_count = i + 1;
  }
  memcpy(run->events, out->events, sizeof run->events);
  run->ledger = out->ledger;
  run->penetration = out->penetration;
  run->steps = out->steps;
  run->work = out->work;
}

saltus_status contact_go(contact_run* run) {
  char room[256];
  saltus_override overrides[PARAMETERS];
  const saltus_scene_def scene_def = {
      .path = run->scene,
      .text = potra_scene_text(run->scene),
      .overrides = overrides,
      .override_count = read_parameters(run->parameters, room, sizeof room, overrides),
      .log = cli_log()};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&scene_def, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.scheme = run->scheme;
  if (run->h > 0.0) {
    def.step = run->h;
  } else {
    def.tol = run->tol;
  }
  def.until = run->until;
  def.log = cli_log();
  saltus_run* going = NULL;
  status = saltus_run_create(&def, &going);
  status = status == SALTUS_OK ? saltus_run_execute(going) : status;
  if (status == SALTUS_OK) {
    keep(run, def.scene, saltus_run_outcome(going));
  }
  saltus_run_destroy(going);
  saltus_scene_destroy(scene);
  return status;
}

double contact_output(const contact_run* run, const char* name) {
  for (int i = 0; i < run->output_count; i++) {
    if (strcmp(run->names[i], name) == 0) {
      return run->outputs[i];
    }
  }
  return (double)NAN;
}

double contact_instant(const contact_run* run, int event) {
  const saltus_run_events* of = &run->events[(event - 1) / SALTUS_RUN_FIRST];
  int which = (event - 1) % SALTUS_RUN_FIRST;
  return of->count > which ? of->first[which].t : (double)NAN;
}
