/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene_runs.h - scenes written in tests: read, run, refused, and what came out.
 */
#ifndef SCENE_RUNS_H
#define SCENE_RUNS_H

#include "saltus_test.h"

enum { SCENE_STATES = 64, SCENE_EVENTS = 64 };

/* Fails with the reader's message. */
saltus_scene* scene_open_text(const char* text);
/* Fails unless the scene is refused with these words. */
void scene_assert_refused(const char* text, const char* says);

typedef struct scene_heard {
  int count;
  saltus_event event[SCENE_EVENTS];
} scene_heard;

typedef struct scene_outcome {
  double q[SCENE_STATES], v[SCENE_STATES];
  long long impacts, creations;
  saltus_energy ledger;
  scene_heard heard;
  saltus_status status;
  char text[1024]; /* the last message */
} scene_outcome;

/* amount: the tolerance of adaptive, the step of other schemes. Fails where the run does. */
scene_outcome scene_run(const saltus_scene_view* view, const char* scheme, double amount,
                        double until);
/* The same of a text. */
scene_outcome scene_run_text(const char* text, const char* scheme, double amount, double until);
/* The same; a run that fails is in the status. */
scene_outcome scene_try(const saltus_scene_view* view, const char* scheme, double amount,
                        double until);

/* The largest difference of the first n positions. */
double scene_apart(const scene_outcome* a, const scene_outcome* b, int n);

#endif
