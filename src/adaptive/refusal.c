/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * refusal.c - why no step is possible, in words and by the names of the model.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"

#include <assert.h>

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

/* What a refusal is about, by its name in the model; "": it has none. */
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
  case SALTUSI_FAR_PROJECTION: /* positions along velocities, and these */
  case SALTUSI_POOR_MIDDLE:
    return labels != NULL && velocity < w->o.nv ? labels[velocity].name : "";
  case SALTUSI_HIDDEN_JOINT:
    return w->sys->joint_names != NULL && r->index < w->o.nj ? w->sys->joint_names[r->index] : "";
  default:
    return "";
  }
}

void saltusi_report_refusal(const saltusi_adaptive* w, const saltusi_refusal* r) {
  assert(w != NULL && r != NULL);
  static const char* const reasons[] = {
      [SALTUSI_NOT_REFUSED] = "",
      [SALTUSI_HIDDEN_FORCE] = "the force changes faster than steps can follow, on velocity",
      [SALTUSI_HIDDEN_CONTACT] = "its surface changes faster than steps can follow: contact",
      [SALTUSI_HIDDEN_JOINT] = "it changes faster than steps can follow: joint",
      [SALTUSI_OFF_SURFACE] = "an impact cannot be located: contact",
      [SALTUSI_FAR_PROJECTION] =
          "joints and contacts cannot be held within the tolerance: position",
      [SALTUSI_PENETRATION] = "a penetration cannot be resolved: contact",
      [SALTUSI_EARLY_EVENT] = "events follow each other faster than steps can: contact",
      [SALTUSI_POOR_MIDDLE] = "the motion inside a step is not what its ends say: value",
      [SALTUSI_LONG_SEARCH] = "events cannot be excluded: contact",
      [SALTUSI_SINGULAR_END] = "joints depend on each other: joint"};
  bool contact = r->why == SALTUSI_HIDDEN_CONTACT || r->why == SALTUSI_OFF_SURFACE ||
                 r->why == SALTUSI_PENETRATION || r->why == SALTUSI_LONG_SEARCH ||
                 r->why == SALTUSI_EARLY_EVENT;
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
