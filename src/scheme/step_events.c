/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * step_events.c - one step of a scheme with as many events as it meets.
 */
#include "base/log.h"
#include "base/pool.h"
#include "scheme/scheme_inside.h"

#include <limits.h>

saltus_status saltusi_scheme_grow_events(saltus_scheme* scheme, int wanted) {
  saltusi_event_list* list = &scheme->events;
  void* items = list->items;
  size_t room = (size_t)list->room;
  if (!saltusi_grow(&scheme->memory, &items, &room, (size_t)wanted, sizeof(saltus_event)) ||
      room > INT_MAX) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR, "scheme %s: no memory for the %d events of a step",
                scheme->ops->info.name, wanted);
    return SALTUS_ERR_MEMORY;
  }
  list->items = items;
  list->room = (int)room;
  return SALTUS_OK;
}

uint64_t saltusi_scheme_identity(const saltus_scheme* scheme, int key) {
  (void)scheme;
  return (uint64_t)key;
}

saltus_status saltusi_scheme_do_step(saltus_scheme* scheme, const saltusi_step* step) {
  const saltus_step_report untouched = *step->report;
  const saltus_work work = scheme->eval.work;
  saltusi_event_list* list = &scheme->events;
  saltus_status status = SALTUS_OK;
  for (bool again = true; again;) {
    list->count = 0;
    status = scheme->ops->step(scheme->work, scheme->options, step);
    again = status == SALTUS_OK && list->count > list->room;
    if (again) {
      status = saltusi_scheme_grow_events(scheme, list->count);
      again = status == SALTUS_OK;
      *step->report = untouched;
      scheme->eval.work = work;
    }
  }
  saltus_step_report* report = step->report;
  report->events = list->items;
  report->event_count = list->count < list->room ? list->count : list->room;
  for (int i = 0; i < report->event_count; i++) {
    list->items[i].identity = saltusi_scheme_identity(scheme, list->items[i].contact);
  }
  for (int i = 0; i < report->active; i++) {
    scheme->contacts[i].identity = saltusi_scheme_identity(scheme, scheme->contacts[i].key);
  }
  return status;
}
