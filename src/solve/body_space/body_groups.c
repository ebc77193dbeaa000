/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_groups.c - packing by lanes. Consecutive contacts between the same two bodies form a run: boxes in face
 * contact have eight. Each lane processes a run, one contact per group, then the first waiting run whose bodies are
 * in no other lane. So contacts of two bodies are visited consecutively, and all nearly in the given order.
 *
 * Lanes without a run are idle: no row, and the fixed body twice. A contact on one body has the fixed body as its
 * second.
 */
#include "solve/body_space/body_groups.h"

#include <assert.h>
#include <string.h>

/* Number of waiting runs that are examined for a lane; largest number of lanes. */
enum { AHEAD = 64, MOST = SALTUSI_FLOAT_LANES };

/* State of the lanes. Waiting runs are linked by their first contacts, in order: b->run is the next one. */
typedef struct schedule {
  int lanes;
  int first;         /* waiting run; units: none */
  int at[MOST];      /* next contact of each lane */
  int end[MOST];     /* one after the last of its run */
  int pair[MOST][2]; /* its bodies, the fixed one if there is no second */
} schedule;

static bool same_pair(const saltusi_bodies* b, int i, int j) {
  return b->body[2 * i] == b->body[2 * j] && b->body[2 * i + 1] == b->body[2 * j + 1];
}

static void find_runs(const saltusi_bodies* b) {
  for (int i = 0, next; i < b->units; i = next) {
    next = i + 1;
    while (next < b->units && same_pair(b, i, next)) {
      next++;
    }
    b->run[i] = b->run_end[i] = next;
  }
}

/* Marks the bodies of a lane as in use, except the fixed one. */
static void mark(const saltusi_bodies* b, const schedule* s, int lane, int in_use) {
  b->mark[s->pair[lane][0]] = in_use;
  b->mark[s->pair[lane][1]] = in_use;
  b->mark[b->bodies] = 0;
}

/* The next run for an idle lane. */
static bool take_run(const saltusi_bodies* b, schedule* s, int lane) {
  int* link = &s->first;
  for (int k = 0; k < AHEAD && *link < b->units; k++, link = b->run + *link) {
    const int i = *link, first = b->body[2 * i], other = b->body[2 * i + 1];
    const int second = other >= 0 ? other : b->bodies;
    if (b->mark[first] == 0 && b->mark[second] == 0) {
      s->at[lane] = i;
      s->end[lane] = b->run_end[i];
      s->pair[lane][0] = first;
      s->pair[lane][1] = second;
      mark(b, s, lane, 1);
      *link = b->run[i];
      return true;
    }
  }
  return false;
}

/* Assigns waiting runs to idle lanes, if a run has ended since the last group; false: all lanes are idle. */
static bool take_runs(const saltusi_bodies* b, schedule* s) {
  bool wanted = b->groups == 0, any = false;
  for (int l = 0; l < s->lanes; l++) {
    if (s->at[l] == s->end[l] && s->pair[l][0] < b->bodies) {
      mark(b, s, l, 0);
      s->pair[l][0] = s->pair[l][1] = b->bodies;
      wanted = true;
    }
  }
  for (int l = 0; l < s->lanes; l++) {
    if (s->pair[l][0] == b->bodies && wanted) {
      wanted = take_run(b, s, l); /* without a run for one lane there is none for the next */
    }
    any = any || s->pair[l][0] < b->bodies;
  }
  return any;
}

/* The next group, of the present contacts of the lanes. */
static void add_group(saltusi_bodies* b, schedule* s) {
  int* lane = b->lane + (size_t)b->groups * (size_t)s->lanes;
  int* pair = b->pair + (size_t)b->groups * (size_t)s->lanes * 2;
  for (int l = 0; l < s->lanes; l++) {
    lane[l] = s->at[l] < s->end[l] ? s->at[l]++ : -1;
    pair[2 * l] = s->pair[l][0];
    pair[2 * l + 1] = s->pair[l][1];
  }
  b->groups++;
}

bool saltusi_groups_form(saltusi_bodies* b, int lanes, double most) {
  assert(b != NULL && lanes <= MOST && lanes * most <= SALTUSI_LANE_CAPACITY);
  schedule s = {.lanes = lanes};
  for (int l = 0; l < lanes; l++) {
    s.pair[l][0] = s.pair[l][1] = b->bodies;
  }
  b->groups = 0;
  memset(b->mark, 0, ((size_t)b->bodies + 1) * sizeof(int));
  for (int i = 0; i < b->units; i++) {
    if (b->body[2 * i] < 0) {
      return false;
    }
  }
  find_runs(b);
  while (take_runs(b, &s)) {
    if (b->groups + 1 > most * b->units) {
      return false;
    }
    add_group(b, &s);
  }
  return true;
}
