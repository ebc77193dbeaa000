/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fuzz_scene.c - any text as a scene: no crash, no undefined behaviour, no leak; a refusal says why
 * exactly once. What is accepted is evaluated with all derivatives and simulated for three steps,
 * which may fail but not leave a state that is not finite.
 */
#include "saltus/saltus.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void log_message(void* user, saltus_level level, const char* text) {
  int* errors = user;
  *errors += level == SALTUS_LEVEL_ERROR && text[0] != '\0';
}

static void demand(int holds, const char* claim) {
  if (!holds) {
    fprintf(stderr, "fuzz_scene: not so: %s\n", claim);
    abort();
  }
}

static void simulate(const saltus_scene_view* view) {
  saltus_sim_def def = {.system = view->system,
                        .scheme = "moreau-jean",
                        .t0 = view->start,
                        .h = isnan(view->step) ? 0.01 : view->step,
                        .q0 = view->q0,
                        .v0 = view->v0};
  if (view->scheme != NULL) {
    def.scheme = view->scheme;
    def.options = view->options;
  }
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) == SALTUS_OK) {
    (void)saltus_sim_run(sim, STEPS);
    for (int i = 0; i < view->system->dims.nv; i++) {
      demand(isfinite(saltus_sim_q(sim)[i]) && isfinite(saltus_sim_v(sim)[i]), "a state is finite");
    }
  }
  saltus_sim_destroy(sim);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = malloc(size + 1);
  if (text == NULL) {
    return 0;
  }
  memcpy(text, data, size);
  text[size] = '\0';

  int errors = 0;
  const saltus_scene_def def = {.text = text, .log = {log_message, &errors}};
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status == SALTUS_OK) {
    demand(errors == 0, "an accepted scene has no errors");
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_system_check_result result;
    (void)saltus_system_check(view->system, view->start, view->q0, view->v0, (saltus_log){0},
                              &result);
    simulate(view);
  } else {
    demand(status == SALTUS_ERR_INPUT, "a text is refused as input");
    demand(errors == 1, "a refusal has one message");
    demand(scene == NULL, "a refusal leaves nothing");
  }
  saltus_scene_destroy(scene);
  free(text);
  return 0;
}
