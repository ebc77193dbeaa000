/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene_directions.c - parameters and start values of a scene as directions: four scenes like it for each, with the value at
 * p - 2 step, p - step, p + step and p + 2 step.
 */
#include "sensitivity/scene_directions.h"
#include "base/log.h"
#include "base/number.h"
#include "base/pool.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct saltus_scene_directions {
  saltusi_pool pool;
  saltus_direction* list;
  saltus_scene** scenes; /* [4 count] */
  int count;
};

/* Difference step for a parameter of size 1; the truncation error is its fourth power. */
static const double part = 1e-3;

void saltus_scene_directions_destroy(saltus_scene_directions* directions) {
  if (directions != NULL) {
    for (int i = 0; i < 4 * directions->count; i++) {
      saltus_scene_destroy(directions->scenes[i]);
    }
    saltusi_pool pool = directions->pool;
    saltusi_pool_free(&pool);
  }
}

const saltus_direction*
saltus_scene_directions_get_view(const saltus_scene_directions* directions) {
  assert(directions != NULL);
  return directions->list;
}

static saltus_status make(saltus_scene_directions* d, int i, const saltus_scene_def* plain,
                          const char* name) {
  const saltus_scene* like = plain->like;
  const saltus_log log = plain->log;
  static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
  double value = 0.0;
  saltus_status status = saltus_scene_value(like, name, (saltus_log){0}, &value);
  if (status != SALTUS_OK) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "sensitivity: the scene has no parameter, coordinate or velocity \"%.80s\"", name);
    return status;
  }
  /* a power of two, so that p + k step has no rounding error */
  const double size = fabs(value) > 0.0 ? fabs(value) : 1.0;
  const double step = exp2(floor(log2(part * size)));
  saltus_direction* direction = &d->list[i];
  direction->step = step;
  for (int k = 0; k < 4 && status == SALTUS_OK; k++) {
    char text[40];
    saltusi_print(text, sizeof text, "%.17g", value + at[k] * step);
    const saltus_override moved = {.name = name, .value = text};
    saltus_scene_def def = *plain;
    def.overrides = &moved;
    def.override_count = 1;
    saltus_scene** scene = &d->scenes[4 * i + k];
    status = saltus_scene_create(&def, scene);
    if (status == SALTUS_OK) {
      const saltus_scene_view* view = saltus_scene_get_view(*scene);
      direction->system[k] = view->system;
      direction->q0[k] = view->q0;
      direction->v0[k] = view->v0;
      direction->observables[k] = view->observables;
    }
  }
  return status;
}

saltus_status saltus_scene_directions_create(const saltus_scene* scene, const char* const* names,
                                             int count, saltus_log log,
                                             saltus_scene_directions** out) {
  assert(scene != NULL && out != NULL && count >= 0 && (count == 0 || names != NULL));
  return saltusi_scene_directions_create(scene, NULL, 0, names, count, log, out);
}

saltus_status saltusi_scene_directions_create(const saltus_scene* scene,
                                              const saltus_scene_output* outputs, int output_count,
                                              const char* const* names, int count, saltus_log log,
                                              saltus_scene_directions** out) {
  assert(scene != NULL && out != NULL && count >= 0 && (count == 0 || names != NULL));
  *out = NULL;
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_scene_directions* d = SALTUSI_TAKE(&pool, saltus_scene_directions, 1);
  const saltus_scene_def plain = {
      .like = scene, .outputs = outputs, .output_count = output_count, .log = log};
  saltus_status status = SALTUS_ERR_MEMORY;
  if (d != NULL) {
    d->pool = pool;
    d->list = SALTUSI_TAKE(&d->pool, saltus_direction, count + 1);
    d->scenes = SALTUSI_TAKE(&d->pool, saltus_scene*, 4 * count + 1);
    d->count = d->scenes != NULL ? count : 0;
    status = d->list != NULL && d->scenes != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
    for (int i = 0; i < count && status == SALTUS_OK; i++) {
      status = make(d, i, &plain, names[i]);
    }
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "sensitivity: no memory");
  }
  if (status != SALTUS_OK) {
    saltus_scene_directions_destroy(d);
    return status;
  }
  *out = d;
  return SALTUS_OK;
}
