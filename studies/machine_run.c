/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "machine_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 8 };

static int read_parameters(const char* text, char* room, size_t size, saltus_override* out) {
  int count = 0;
  snprintf(room, size, "%s", text != NULL ? text : "");
  for (char* word = strtok(room, " "); word != NULL && count < PARAMETERS;
       word = strtok(NULL, " ")) {
    char* value = strchr(word, '=');
    if (value != NULL) {
      *value = '\0';
      out[count++] = (saltus_override){.name = word, .value = value + 1};
    }
  }
  return count;
}

static saltus_status keep_event(void* user, const saltus_event* event) {
  machine_run* run = user;
  if (run->event_count == run->event_room) {
    const int room = run->event_room > 0 ? 2 * run->event_room : 256;
    saltus_event* more = realloc(run->events, (size_t)room * sizeof *more);
    if (more == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    run->events = more;
    run->event_room = room;
  }
  run->events[run->event_count++] = *event;
  return SALTUS_OK;
}

static saltus_status keep_sample(void* user, const saltus_frame* frame) {
  machine_run* run = user;
  if (run->sample > 0.0 && frame->output_count > 0 && frame->t >= run->after) {
    const double x = frame->outputs[0];
    if (x < run->low) {
      run->low = x;
      run->low_t = frame->t;
    }
    if (x > run->high) {
      run->high = x;
      run->high_t = frame->t;
    }
  }
  return SALTUS_OK;
}

static void keep_value(machine_run* run, const char* name, double value) {
  if (run->states < MACHINE_STATES) {
    snprintf(run->names[run->states], MACHINE_WORD, "%s", name);
    run->values[run->states++] = value;
  }
}

static void keep(machine_run* run, const saltus_scene_view* view, const saltus_run_result* out) {
  const saltus_system* sys = view->system;
  for (int i = 0; view->observables != NULL && i < view->observables->output_count; i++) {
    keep_value(run, view->observables->output_labels[i].name, out->outputs[i]);
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    keep_value(run, sys->v_labels[i].name, out->v[i]);
  }
  for (int i = 0; i < sys->dims.nq; i++) {
    keep_value(run, sys->q_labels[i].name, out->q[i]);
  }
  for (int i = 0; i < sys->law_count && i < MACHINE_CONTACTS; i++) {
    const char* name = sys->laws[i].name;
    snprintf(run->contact_names[run->contacts++], MACHINE_WORD, "%s", name != NULL ? name : "");
  }
  run->ledger = out->ledger;
  run->penetration = out->penetration;
  run->steps = out->steps;
  run->creations = out->creations;
  run->work = out->work;
}

saltus_status machine_go(machine_run* run) {
  char room[256];
  saltus_override overrides[PARAMETERS];
  const saltus_scene_def scene_def = {
      .path = run->scene,
      .text = run->text,
      .overrides = overrides,
      .override_count = read_parameters(run->parameters, room, sizeof room, overrides),
      .log = run->log};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&scene_def, &scene);
  if (status != SALTUS_OK) {
    return status;
  }
  run->low = INFINITY;
  run->high = -INFINITY;
  const saltus_recorder recorder = {.frame = run->sample > 0.0 ? keep_sample : NULL,
                                    .event = keep_event,
                                    .user = run,
                                    .contacts_unseen = 1};
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.scheme = run->scheme;
  def.options_line = run->options;
  if (run->h > 0.0) {
    def.step = run->h;
  } else {
    def.tol = run->tol;
  }
  def.until = run->until > 0.0 ? run->until : def.until;
  def.record_dt = run->mean ? run->until : run->sample > 0.0 ? run->sample : def.record_dt;
  def.log = run->log;
  def.recorders = &recorder;
  def.recorder_count = 1;
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

void machine_free(machine_run* run) {
  free(run->events);
  run->events = NULL;
  run->event_count = run->event_room = 0;
}

double machine_value(const machine_run* run, const char* name) {
  for (int i = 0; i < run->states; i++) {
    if (strcmp(run->names[i], name) == 0) {
      return run->values[i];
    }
  }
  return (double)NAN;
}

const saltus_event* machine_event(const machine_run* run, saltus_event_kind kind,
                                  const char* contact, int i) {
  for (int k = 0; k < run->event_count; k++) {
    const saltus_event* event = &run->events[k];
    const bool named = contact == NULL || (event->law >= 0 && event->law < run->contacts &&
                                           strcmp(run->contact_names[event->law], contact) == 0);
    const bool counts =
        (event->kind != SALTUS_EVENT_IMPACT || fabs(event->u_before) >= run->least) &&
        event->t >= run->after;
    if (event->kind == kind && named && counts && --i == 0) {
      return event;
    }
  }
  return NULL;
}

double machine_find(const machine_run* run, const machine_number* number) {
  if (number->what == MACHINE_VALUE) {
    return machine_value(run, number->name);
  }
  const saltus_event* event = machine_event(run, number->kind, number->name, number->i);
  if (event == NULL) {
    return (double)NAN;
  }
  return number->what == MACHINE_TIME       ? event->t
         : number->what == MACHINE_APPROACH ? event->u_before
                                            : event->impulse[0];
}

void machine_describe(const machine_number* number, char* text, size_t size) {
  static const char* const words[] = {"time", "velocity before", "impulse"};
  if (number->what == MACHINE_VALUE) {
    snprintf(text, size, "%s at the end", number->name);
    return;
  }
  snprintf(text, size, "%s %d%s%s, %s", saltus_event_kind_name(number->kind), number->i,
           number->name != NULL ? " of " : "", number->name != NULL ? number->name : "",
           words[number->what]);
}
