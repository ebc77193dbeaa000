/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * refusal.c - messages of steps that are not possible and of stalls, with the names of the model.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Events at one instant, per contact and in addition; events while time advances by rounding only. */
enum { INSTANT_EACH = 20, INSTANT_MORE = 200, STALL_MAX = 5000, CRAWL_WEIGHT = 2 };
/* Soon after a captured step: events that advance time by less than it. */
enum { STALL_SOON = 100 };

/* Stall: STALL_MAX events advance time by less than this fraction of the time and of the rest of the run: at that
 * rate there were 5e12 events up to now, or 5e6 are to come. The rest counts as at most a second: a run without an
 * end, or with a far one, may have any number of events. */
static const double still_time = 1e-9;
static const double still_part = 1e-3;
/* Steps below this part of the rest of the run (of 1 s at most) count CRAWL_WEIGHT times. A run that needs 1e9 such
 * steps ends after 2500 of them in a row, and 20 more per contact. Legitimate phases are shorter: a pawl that drops past
 * an edge needs about 1000. */
static const double crawl_part = 1e-9;

static void hold(void* who, saltus_level level, const char* text) {
  saltusi_adaptive* w = who;
  if (level != SALTUS_LEVEL_ERROR) {
    saltusi_log(w->passed, level, "%s", text);
  } else if (w->reason[0] == '\0') {
    strncat(w->reason, text, SALTUSI_REASON - 1);
  }
}

saltus_log saltusi_hold_errors(saltusi_adaptive* w) {
  assert(w != NULL);
  w->passed = w->log;
  w->reason[0] = '\0';
  return (saltus_log){.write = hold, .user = w};
}

const char* saltusi_contact_words(const saltusi_adaptive* w, int key,
                                  char room[SALTUSI_CONTACT_WORDS]) {
  assert(w != NULL && key >= 0 && room != NULL);
  room[0] = '\0';
  if (w->eval->keys != NULL && w->sys->ops->contact_text != NULL) {
    w->sys->ops->contact_text(w->sys->self, w->eval->keys->table.identity[key], room,
                              SALTUSI_CONTACT_WORDS);
  }
  return room[0] != '\0' ? room : saltusi_contact_name(&w->o, key);
}

/* The object of a rejection, by its name in the model; "": it has none. */
static const char* refused_name(const saltusi_adaptive* w, const saltusi_refusal* r,
                                char room[SALTUSI_CONTACT_WORDS]) {
  const saltus_label* labels = w->sys->v_labels;
  int velocity = r->index >= w->o.nq ? r->index - w->o.nq : r->index;
  switch (r->why) {
  case SALTUSI_HIDDEN_CONTACT:
  case SALTUSI_OFF_SURFACE:
  case SALTUSI_PENETRATION:
  case SALTUSI_LONG_SEARCH:
  case SALTUSI_EARLY_EVENT:
    return saltusi_contact_words(w, r->index, room);
  case SALTUSI_HIDDEN_FORCE:
    return labels != NULL && r->index < w->o.nv ? labels[r->index].name : "";
  case SALTUSI_FAR_PROJECTION: /* positions along velocities, and extra coordinates */
  case SALTUSI_POOR_MIDDLE:
    return labels != NULL && velocity < w->o.nv ? labels[velocity].name : "";
  case SALTUSI_HIDDEN_JOINT:
    return w->sys->joint_names != NULL && r->index < w->o.nj ? w->sys->joint_names[r->index] : "";
  default:
    return "";
  }
}

static bool has_closed(const saltusi_adaptive* w) {
  bool any = false;
  for (int key = 0; key < w->o.contacts && !any; key++) {
    any = saltusi_is_closed(&w->contact[key]);
  }
  return any;
}

void saltusi_report_refusal(saltusi_adaptive* w, const saltusi_refusal* r) {
  assert(w != NULL && r != NULL);
  static const char* const reasons[] = {
      [SALTUSI_NOT_REFUSED] = "",
      [SALTUSI_HIDDEN_FORCE] = "steps cannot resolve the change of the force on velocity",
      [SALTUSI_HIDDEN_CONTACT] = "steps cannot resolve the change of its surface: contact",
      [SALTUSI_HIDDEN_JOINT] = "steps cannot resolve its change: joint",
      [SALTUSI_OFF_SURFACE] = "an impact cannot be located: contact",
      [SALTUSI_FAR_PROJECTION] =
          "joints and contacts cannot be satisfied within the tolerance: position",
      [SALTUSI_PENETRATION] = "a penetration cannot be resolved: contact",
      [SALTUSI_EARLY_EVENT] = "steps cannot resolve its events: contact",
      [SALTUSI_POOR_MIDDLE] = "dense output inside a step is inaccurate: value",
      [SALTUSI_LONG_SEARCH] = "events cannot be excluded: contact",
      [SALTUSI_SINGULAR_END] = "joints are linearly dependent: joint"};
  bool contact = r->why == SALTUSI_HIDDEN_CONTACT || r->why == SALTUSI_OFF_SURFACE ||
                 r->why == SALTUSI_PENETRATION || r->why == SALTUSI_LONG_SEARCH ||
                 r->why == SALTUSI_EARLY_EVENT;
  bool held = r->why == SALTUSI_FAR_PROJECTION || r->why == SALTUSI_POOR_MIDDLE;
  w->stalls_at_contact = contact || (held && has_closed(w));
  const saltusi_numbers* numbers = w->eval->numbers;
  bool joint = r->why == SALTUSI_HIDDEN_JOINT || r->why == SALTUSI_SINGULAR_END;
  const int* of = numbers == NULL ? NULL
                  : contact       ? numbers->contact
                  : joint         ? numbers->row
                                  : numbers->velocity;
  bool speed = of != NULL && !contact && !joint && r->index >= w->o.nq; /* value of (q, v) */
  int index = speed ? w->o.nq + of[r->index - w->o.nq] : saltusi_number(of, r->index);
  char room[SALTUSI_CONTACT_WORDS];
  const char* name = refused_name(w, r, room);
  saltusi_log(w->log, SALTUS_LEVEL_ERROR, "adaptive: no step is possible at t = %.17g s; %s %d%s%s",
              w->step.t, reasons[r->why], index + 1, name[0] != '\0' ? ", " : "", name);
}

saltus_status saltusi_report_height(saltusi_adaptive* w, int key) {
  assert(w != NULL && key >= 0);
  saltusi_report_refusal(w, &(saltusi_refusal){.why = SALTUSI_LONG_SEARCH, .index = key});
  return SALTUS_ERR_STALLED;
}

int saltusi_instants_most(const saltusi_adaptive* w) {
  assert(w != NULL);
  return INSTANT_EACH * w->o.nc + INSTANT_MORE;
}

saltus_status saltusi_report_stall(saltusi_adaptive* w, int events) {
  assert(w != NULL);
  static const char* const kinds[] = {[SALTUSI_FOUND_HIT] = "an impact",
                                      [SALTUSI_FOUND_OPEN] = "an opening",
                                      [SALTUSI_FOUND_STOP] = "an end of slip",
                                      [SALTUSI_FOUND_SLIDE] = "an end of sticking",
                                      [SALTUSI_FOUND_DECIDE] = "a new status",
                                      [SALTUSI_FOUND_SWITCH] = "a switch of a formula",
                                      [SALTUSI_FOUND_GUARD] = "a change of features"};
  bool contact = w->outcome.last_event.kind != SALTUSI_FOUND_SWITCH;
  w->stalls_at_contact = contact;
  char room[SALTUSI_CONTACT_WORDS];
  saltusi_log(w->log, SALTUS_LEVEL_ERROR,
              "adaptive: time does not advance at t = %.17g s: %d events in a row, the last %s%s%s",
              w->step.t, events, kinds[w->outcome.last_event.kind], contact ? " of contact " : "",
              contact ? saltusi_contact_words(w, w->outcome.last_event.key, room) : "");
  return SALTUS_ERR_STALLED;
}

/* Counts consecutive steps that are so short that a billion of them do not reach the end. */
static saltus_status crawl(saltusi_adaptive* w, double length) {
  const int velocity = w->step.worst - w->o.nq;
  const bool named = w->sys->v_labels != NULL && velocity >= 0 && velocity < w->o.nv;
  const bool contact = w->o.nc > 0 && w->outcome.last_event.kind != SALTUSI_FOUND_SWITCH;
  w->stalls_at_contact = contact;
  char room[SALTUSI_CONTACT_WORDS];
  saltusi_log(w->log, SALTUS_LEVEL_ERROR,
              "adaptive: time does not advance at t = %.17g s: a billion steps of %.2g s do not "
              "reach the end of the run%s%s%s%s",
              w->step.t, length, named ? "; limited by the error of velocity " : "",
              named ? w->sys->v_labels[velocity].name : "",
              contact ? "; the last event is at contact " : "",
              contact ? saltusi_contact_words(w, w->outcome.last_event.key, room) : "");
  return SALTUS_ERR_STALLED;
}

saltus_status saltusi_observe_progress(saltusi_adaptive* w, double length, double limit,
                                       int instants) {
  assert(w != NULL && instants >= 0);
  saltusi_adaptive_memory* m = w->memory;
  double t = w->step.t + length;
  if (!(t - m->stall_since <= fmax(still_time * fabs(t), still_part * fmin(limit, 1.0)))) {
    m->stall_since = t;
    m->stall_steps = 0.0;
    return SALTUS_OK;
  }
  const double patience = saltusi_captured_patience(w);
  if (patience > 0.0 && t - m->stall_since >= patience) {
    m->stall_since = t;
    m->stall_steps = 0.0;
    return SALTUS_OK;
  }
  const bool crawls = length < crawl_part * fmin(limit, 1.0);
  const int most = patience > 0.0 ? STALL_SOON : STALL_MAX + CRAWL_WEIGHT * INSTANT_EACH * w->o.nc;
  m->stall_steps += instants + (crawls                                ? (int)CRAWL_WEIGHT
                                : w->step.limit == SALTUS_LIMIT_EVENT ? 1
                                                                      : 0);
  return m->stall_steps < most ? SALTUS_OK
         : crawls              ? crawl(w, length)
                               : saltusi_report_stall(w, most);
}
