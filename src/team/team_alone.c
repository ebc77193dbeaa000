/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * team_alone.c - team.h without threads.
 */
#include "team/team.h"

#include <assert.h>

saltusi_team* saltusi_team_layout(saltus_arena* arena) {
  (void)arena;
  return NULL;
}

void saltusi_team_open(saltusi_team* team, int threads) {
  (void)team;
  (void)threads;
}

int saltusi_team_size(const saltusi_team* team) {
  (void)team;
  return 1;
}

void saltusi_team_run(saltusi_team* team, int jobs, saltusi_job job, void* context) {
  assert(context != NULL);
  (void)team;
  for (int k = 0; k < jobs; k++) {
    job(context, k);
  }
}

void saltusi_team_close(saltusi_team* team) {
  (void)team;
}
