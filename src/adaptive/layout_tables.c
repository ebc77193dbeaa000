/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout_tables.c - rows and keys of contacts, of rolling and drilling friction, and of dry friction of joints:
 *
 *   keys   contacts | rolling, drilling | dry friction
 *   rows   normal, slips, rolling, drilling of each contact | two of each dry friction, the first of them empty
 *
 * If laws have the numbers of contacts, each contact has the rows of its law. Otherwise each has the capacity of the
 * largest law and keys of both rolling and drilling friction, for contacts that close later.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"

#include <assert.h>

/* A key of rolling, drilling or dry friction, its rows after row `base`. */
static void add_grip(saltusi_layout_tables* o, int key, int parent, int tangents, double mu,
                     int base, const char* name) {
  saltus_contact_law* law = &o->grip_law[key - o->contacts];
  *law = (saltus_contact_law){.name = name, .tangents = tangents, .mu = mu};
  o->law[key] = law;
  o->parent[key] = parent;
  o->tangents[key] = tangents;
  o->mu[key] = mu;
  o->base[key] = base;
  o->spatial = o->spatial || tangents >= 2;
}

/* A contact with its law, its rows after row `base`. */
static void place_contact(saltusi_layout_tables* o, int key, const saltus_contact_law* law,
                          int base, bool exists) {
  o->law[key] = law;
  o->tangents[key] = saltusi_slips_of(law);
  o->mu[key] = o->tangents[key] > 0 ? law->mu : 0.0;
  o->base[key] = base;
  o->parent[key] = -1;
  o->spatial = o->spatial || (exists && o->tangents[key] >= 2 && o->mu[key] > 0.0);
  o->special = o->special || law->friction != NULL;
  o->pulled = o->pulled || (exists && saltusi_friction_mode_pulls(o, key));
}

/* Keys of its rolling and drilling friction from this one on; returns the next key. */
static int place_grips(saltusi_layout_tables* o, int c, int key, bool exists) {
  const saltus_contact_law* law = o->law[c];
  const saltus_friction_law* f = exists ? law->friction : NULL;
  int* grip = o->grip + SALTUSI_GRIPS * (size_t)c;
  int last = o->base[c] + o->tangents[c];
  grip[SALTUSI_ROLLS] = grip[SALTUSI_DRILLS] = -1;
  if (f != NULL && f->rolling > 0.0) {
    grip[SALTUSI_ROLLS] = key;
    add_grip(o, key++, c, law->tangents, f->rolling, last, law->name);
    last += law->tangents;
  }
  if (f != NULL && f->drilling > 0.0) {
    grip[SALTUSI_DRILLS] = key;
    add_grip(o, key++, c, 1, f->drilling, last, law->name);
  }
  return key;
}

/* Dry friction from this row on: the last keys. */
static void place_dry(saltusi_layout_tables* o, const saltus_system* sys, int next) {
  for (int i = 0; i < sys->dry_count; i++) {
    add_grip(o, o->nc - sys->dry_count + i, -1, 1, 1.0, next + 2 * i, sys->dry[i].name);
    o->pulled = true;
  }
}

static void begin(saltusi_layout_tables* o) {
  o->spatial = false;
  o->pulled = false;
  o->special = o->nc > o->contacts;
}

/* Rolling, drilling and dry friction where each contact has the capacity of the largest law; keys: NULL if all
 * contacts exist. */
static void place_slots(saltusi_layout_tables* o, const saltus_system* sys,
                        const saltusi_contact_keys* keys) {
  int grips = saltusi_adaptive_friction_modes(sys);
  for (int c = 0; grips > 0 && c < o->contacts; c++) {
    int first = o->contacts + grips * c;
    for (int k = 0; k < grips; k++) { /* unused keys */
      add_grip(o, first + k, c, 0, 0.0, o->base[c], "");
    }
    bool exists = keys == NULL || (keys->table.law[c] >= 0 && !o->watch[c]);
    place_grips(o, c, first, exists);
  }
  for (int c = 0; grips == 0 && o->nc > o->contacts && c < o->contacts; c++) {
    o->grip[SALTUSI_GRIPS * c + SALTUSI_ROLLS] = o->grip[SALTUSI_GRIPS * c + SALTUSI_DRILLS] = -1;
  }
  place_dry(o, sys, o->contacts * saltusi_adaptive_rows_each(sys));
}

void saltusi_layout_laws(saltusi_layout_tables* o, const saltus_system* sys,
                         const saltusi_contact_keys* keys) {
  assert(o != NULL && sys != NULL && keys != NULL);
  int each = saltusi_adaptive_rows_each(sys);
  begin(o);
  for (int key = 0; key < o->contacts; key++) {
    int law = keys->table.law[key];
    o->watch[key] = law == saltusi_measure_monitor_law(sys);
    bool exists = law >= 0 && !o->watch[key];
    place_contact(o, key, &sys->laws[exists ? law : 0], key * each, exists);
  }
  for (int key = o->contacts; key < o->nc; key++) {
    o->watch[key] = false;
  }
  place_slots(o, sys, keys);
}

void saltusi_layout_fixed(saltusi_layout_tables* o, const saltus_system* sys, const int* law) {
  assert(o != NULL && sys != NULL);
  bool by_key = saltusi_laws_by_key(sys);
  int each = saltusi_adaptive_rows_each(sys);
  int next = 0;
  begin(o);
  for (int key = 0; key < o->contacts; key++) {
    place_contact(o, key, &sys->laws[by_key ? key : law[key]], next, true);
    next += by_key ? saltus_contact_rows(o->law[key]) : each;
  }
  if (!by_key) {
    place_slots(o, sys, NULL);
    return;
  }
  int key = o->contacts;
  for (int c = 0; o->nc > o->contacts && c < o->contacts; c++) {
    key = place_grips(o, c, key, true);
  }
  place_dry(o, sys, next);
}
