/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_limits.c - flexible bodies without geometric stiffness are valid below 0.1 of their first frequency (docs/flexible.md).
 */
#include "base/log.h"
#include "run/run_state.h"
#include "saltus/flexible.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* First angular velocity of the body of the label NAME.mode_1; -1: none. */
static int rotation_of(const saltus_system* system, const char* label) {
  const char* dot = strrchr(label, '.');
  const size_t length = dot != NULL ? (size_t)(dot - label) : 0;
  for (int i = 0; i + 2 < system->dims.nv; i++) {
    const char* name = system->v_labels[i].name;
    if (strncmp(name, label, length) == 0 && strcmp(name + length, ".wx") == 0) {
      return i;
    }
  }
  return -1;
}

void saltusi_run_flexible_warn(const saltus_run* run, const double* v) {
  assert(run != NULL && v != NULL);
  const saltus_scene_view* scene = run->def.scene;
  int eta = 0;
  for (int i = 0; scene->flexible != NULL && scene->flexible[i] != NULL; i++) {
    const saltus_flexible* body = scene->flexible[i];
    const char* label = scene->system->q_labels[eta].name;
    const int w = body->modes > 0 && body->stiffen == NULL ? rotation_of(scene->system, label) : -1;
    eta += body->modes;
    if (w < 0) {
      continue;
    }
    const double before = hypot(hypot(scene->v0[w], scene->v0[w + 1]), scene->v0[w + 2]);
    const double speed = fmax(before, hypot(hypot(v[w], v[w + 1]), v[w + 2]));
    if (speed > 0.1 * body->omega[0]) {
      saltusi_log(run->def.log, SALTUS_LEVEL_WARNING,
                  "%.*s rotates with %.4g rad/s, above 0.1 of its first frequency of %.4g rad/s, "
                  "without geometric stiffness: give saltus reduce --stiffening",
                  (int)(strrchr(label, '.') - label), label, speed, body->omega[0]);
    }
  }
}
