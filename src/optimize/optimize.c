/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize.c - creation of an optimisation: its functions are the measures of a sweep whose first axes are the variables.
 */
#include "optimize/optimize.h"

#include "base/log.h"
#include "base/number.h"
#include "base/reserved.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

saltus_optimize_def saltus_optimize_def_default(void) {
  return (saltus_optimize_def){.samples = 0, .threads = 1};
}

const saltus_optimize_view* saltus_optimize_get_view(const saltus_optimize* optimize) {
  assert(optimize != NULL);
  return &optimize->view;
}

static saltus_status open_sweep(saltus_optimize* o) {
  const saltus_optimize_def* def = &o->def;
  const char *axes[2 * SALTUSI_OPTIMIZE_MOST], *measures[SALTUSI_OPTIMIZE_MOST];
  for (int i = 0; i < o->variables; i++) {
    char text[200], number[32];
    saltusi_print(number, sizeof number, "%.17g", o->variable[i].first);
    snprintf(text, sizeof text, "%.150s=%s", o->variable[i].name, number);
    axes[i] = saltusi_pool_text(&o->pool, text);
  }
  memcpy(&axes[o->variables], o->random, (size_t)o->random_count * sizeof *axes);
  for (int i = 0; i < o->functions; i++) {
    measures[i] = o->function[i].measure;
  }
  if (o->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  const saltus_sweep_def sweep = {.path = def->path,
                                  .text = def->text,
                                  .overrides = def->overrides,
                                  .override_count = def->override_count,
                                  .run = def->run,
                                  .axes = axes,
                                  .axis_count = o->variables + o->random_count,
                                  .samples = def->samples,
                                  .sampling = def->sampling,
                                  .seed = def->seed,
                                  .measures = measures,
                                  .measure_count = o->functions,
                                  .time_limit = def->time_limit,
                                  .threads = def->threads,
                                  .cancel = def->cancel,
                                  .log = def->log};
  return saltus_sweep_create(&sweep, &o->sweep);
}

static void fill_view(saltus_optimize* o) {
  o->view = (saltus_optimize_view){.variables = o->variables,
                                   .functions = o->functions,
                                   .names = o->names,
                                   .values = o->values,
                                   .low = o->low,
                                   .high = o->high,
                                   .texts = o->texts,
                                   .results = o->results,
                                   .method = "",
                                   .note = o->note,
                                   .bracket = {(double)NAN, (double)NAN},
                                   .bracket_results = {(double)NAN, (double)NAN}};
  for (int i = 0; i < o->variables; i++) {
    o->names[i] = o->variable[i].name;
    o->values[i] = o->variable[i].first;
    o->low[i] = o->variable[i].low;
    o->high[i] = o->variable[i].high;
  }
  for (int i = 0; i < o->functions; i++) {
    o->texts[i] = o->function[i].text;
    o->results[i] = (double)NAN;
  }
}

static saltus_status create(saltus_optimize* o) {
  static const char* const methods[] = {"auto", "gradient", "local", "global"};
  const saltus_scene_def plain = {.path = o->def.path,
                                  .text = o->def.text,
                                  .overrides = o->def.overrides,
                                  .override_count = o->def.override_count,
                                  .log = o->def.log};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&plain, &scene);
  status = status == SALTUS_OK ? saltusi_optimize_read(o, scene) : status;
  saltus_scene_destroy(scene);
  bool known = false;
  for (int i = 0; i < 4 && status == SALTUS_OK; i++) {
    known = known || strcmp(o->def.method, methods[i]) == 0;
  }
  if (status == SALTUS_OK && !known) {
    saltusi_log(o->def.log, SALTUS_LEVEL_ERROR,
                "optimize: method \"%.40s\"; allowed: auto, gradient, local, global",
                o->def.method);
    return SALTUS_ERR_INPUT;
  }
  status = status == SALTUS_OK ? open_sweep(o) : status;
  fill_view(o);
  return status;
}

saltus_status saltus_optimize_create(const saltus_optimize_def* def, saltus_optimize** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_optimize_def", def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  if ((def->path == NULL && def->text == NULL) || def->variable_count < 0 ||
      def->constraint_count < 0 || def->random_count < 0 || def->samples < 0 || def->threads < 0 ||
      def->evaluations < 0 || !(def->tolerance >= 0.0) || !(def->time_limit >= 0.0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "optimize: a scene is needed, and counts, samples, threads, evaluations, tolerance "
                "and time_limit from 0 on");
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_optimize* o = SALTUSI_TAKE(&pool, saltus_optimize, 1);
  if (o == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "optimize: no memory");
    return SALTUS_ERR_MEMORY;
  }
  o->pool = pool;
  o->def = *def;
  status = create(o);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "optimize: no memory");
  }
  if (status != SALTUS_OK) {
    saltus_optimize_destroy(o);
    return status;
  }
  *out = o;
  return SALTUS_OK;
}

void saltus_optimize_destroy(saltus_optimize* optimize) {
  if (optimize != NULL) {
    saltus_sweep_destroy(optimize->sweep);
    saltusi_release(&optimize->pool.allocator, optimize->history, optimize->history_room,
                    sizeof(double));
    saltusi_pool pool = optimize->pool;
    saltusi_pool_free(&pool);
  }
}

saltus_status saltus_optimize_execute(saltus_optimize* optimize) {
  assert(optimize != NULL && optimize->view.evaluations == 0);
  const saltus_status status =
      optimize->find ? saltusi_optimize_bisect(optimize) : saltusi_optimize_search(optimize);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(optimize->def.log, SALTUS_LEVEL_ERROR, "optimize: no memory");
  }
  return status;
}
