/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure.h - results of a run for a sweep: formulas over numbers of the whole run, such as max(height).
 */
#ifndef SALTUSI_SWEEP_MEASURE_H
#define SALTUSI_SWEEP_MEASURE_H

#include "base/pool.h"
#include "formula/program.h"
#include "saltus/sweep.h"

/* Quantity of an item. */
typedef enum saltusi_subject {
  SALTUSI_OF_OUTPUT,  /* a formula of the scene, at every time */
  SALTUSI_OF_GAP,     /* of a contact, m, at every time */
  SALTUSI_OF_FORCE,   /* of a contact or a joint, N */
  SALTUSI_OF_IMPULSE, /* of the impacts of a contact, N s */
  SALTUSI_OF_EVENTS,
  SALTUSI_OF_WEAR /* J, energy dissipated by friction at a contact */
} saltusi_subject;

typedef enum saltusi_fold {
  SALTUSI_FOLD_MAX,
  SALTUSI_FOLD_MIN,
  SALTUSI_FOLD_FIRST,
  SALTUSI_FOLD_LAST,
  SALTUSI_FOLD_MEAN,
  SALTUSI_FOLD_INTEGRAL,
  SALTUSI_FOLD_RMS,
  SALTUSI_FOLD_SUM,
  SALTUSI_FOLD_COUNT,
  SALTUSI_FOLD_TIME
} saltusi_fold;

/* One number of a run. */
typedef struct saltusi_item {
  saltusi_fold fold;
  saltusi_subject subject;
  const char* text; /* formula of the scene, or the name of contact, joint or event; NULL: all */
  int output;       /* index among the items that are formulas of the scene */
  int kind;         /* saltus_event_kind of events; -1: a user-defined event */
  long long which;  /* number of the event whose time is taken: the first is 1, -1 the last */
  int place;        /* index of the contact, joint or event after binding; -1: all */
  bool joint;       /* a force of a joint */
  bool named;       /* an output of bodies by its name, no formula */
  bool loaded;      /* a formula with forces of joints */
} saltusi_item;

typedef struct saltusi_measures {
  const char** names; /* [count] */
  int count;
  saltusi_item* items;
  int item_count;
  saltusi_program program; /* from items to measures */
} saltusi_measures;

/* SALTUS_ERR_INPUT with a message that names the measure. */
saltus_status saltusi_measures_parse(const char* const* texts, int count, saltusi_pool* pool,
                                     saltus_log log, saltusi_measures* out);

/* True if an item is a function of time. */
static inline bool saltusi_item_is_function(const saltusi_item* item) {
  return item->subject == SALTUSI_OF_OUTPUT || item->subject == SALTUSI_OF_GAP;
}

/* Label of an item among the outputs of the scene. */
void saltusi_item_label(const saltusi_item* item, char* text, size_t size);

/* Finds the contacts, joints and events of items in the scene. */
saltus_status saltusi_measures_bind(saltusi_measures* measures, const saltus_scene_view* view,
                                    saltus_log log);

#endif
