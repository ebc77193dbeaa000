/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * separation_monitor.c - see separation_monitor.h.
 */
#include "adaptive/event/separation_monitor.h"
#include "adaptive/event/root_isolation.h"

#include <assert.h>
#include <math.h>

/* Accuracy of a root, fraction of the step, and the shortest subinterval: as in root_isolation.c. */
static const double fine = 1e-15;
static const double smallest_piece = 1e-13;

/* Limit of subintervals of a search. Shapes that pass each other at 1e-9 of their size take some thirty; with
 * bounds from speeds alone each subinterval covers the part of the step that is the distance over the speed. */
enum { PIECES_MAX = 5000, STACK = 256 };

typedef struct separation_monitor_segment {
  double a, b;
} separation_monitor_segment;

typedef struct separation_monitor_stack {
  separation_monitor_segment at[STACK];
  int count;
} separation_monitor_stack;

static void push(separation_monitor_stack* left, double a, double b) {
  if (a < b && left->count < STACK) {
    left->at[left->count++] = (separation_monitor_segment){a, b};
  }
}

static double value_at(void* context, double theta) {
  saltusi_separation_monitor* s = context;
  saltusi_search* search = s->search;
  const double* q = search->step->y0;
  double gap = NAN;
  if (theta == 1.0) {
    q = search->step->y1;
  } else if (theta != 0.0) {
    search->step->ops->dense(&search->step->motion, theta, 0, search->o->nq, search->probe);
    q = search->probe;
  }
  saltus_status status =
      saltusi_mode_gap(search->mode, search->step->t + theta * search->step->h, q, s->key, &gap);
  status = status == SALTUS_OK && isnan(gap) ? SALTUS_RETRY_NAN : status;
  s->status = s->status == SALTUS_OK ? status : s->status;
  return gap;
}

/* First sign change of the monitor in a subinterval, positive at its begin. */
static double change_of_sign(saltusi_separation_monitor* s, separation_monitor_segment p,
                             double f_end) {
  const double f_start = value_at(s, p.a);
  if (!(f_start > 0.0)) {
    return p.a;
  }
  return saltusi_close_in(value_at, s, (const double[2]){p.a, p.b},
                          (const double[2]){f_start, f_end}, fine);
}

/* A subinterval resolved to depth, or too short: whether it ends below zero. */
static bool ends_below(saltusi_separation_monitor* s, separation_monitor_segment p, double* root) {
  if (p.b == *root) {
    return true;
  }
  const double f_end = value_at(s, p.b);
  if (f_end > 0.0 || s->status != SALTUS_OK) {
    return false;
  }
  *root = change_of_sign(s, p, f_end);
  return true;
}

bool saltusi_separation_monitor_root(saltusi_separation_monitor* s, double* root) {
  assert(s != NULL && root != NULL && s->begin <= s->end);
  separation_monitor_stack left = {.count = 0};
  *root = NAN; /* or a sign change, with an unsearched part before it */
  push(&left, s->begin, s->end);
  for (int k = 0; left.count > 0 && s->status == SALTUS_OK; k++) {
    if (k >= PIECES_MAX || left.count > STACK - 2) {
      return false;
    }
    const separation_monitor_segment p = left.at[--left.count];
    const double m = 0.5 * (p.a + p.b);
    saltus_clearance c;
    saltusi_trajectory_clear(s->search, p.a, p.b, s->key, s->noise, &c);
    if (isnan(c.value)) {
      s->status = SALTUS_RETRY_NAN;
      continue;
    }
    if (m - c.clear[0] <= p.a && m + c.clear[1] >= p.b) {
      continue;
    }
    if (c.lowest > -s->depth || p.b - p.a < smallest_piece) {
      if (ends_below(s, p, root)) {
        return true;
      }
    } else if (c.value <= 0.0) { /* later parts are irrelevant */
      *root = change_of_sign(s, (separation_monitor_segment){p.a, m}, c.value);
      left.count = 0;
      push(&left, p.a, *root);
    } else {
      push(&left, m + c.clear[1], p.b);
      push(&left, p.a, m - c.clear[0]);
    }
  }
  return true;
}
