/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.c - creation of a fit, errors of whole runs, validation by parts that are held out.
 */
#include "fit/fit.h"

#include "base/log.h"
#include "base/reserved.h"
#include "saltus/observe.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const saltus_fit_view* saltus_fit_get_view(const saltus_fit* fit) {
  assert(fit != NULL);
  return &fit->view;
}

static saltus_status open_team(saltus_fit* fit) {
  saltus_arena arena = saltus_arena_counting();
  (void)saltusi_thread_pool_layout(&arena);
  void* room = saltusi_pool_take(&fit->pool, arena.used + SALTUS_ALIGNMENT, 1);
  if (room == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(room, arena.used);
  fit->team = saltusi_thread_pool_layout(&arena);
  saltusi_thread_pool_open(fit->team, fit->def.threads);
  return SALTUS_OK;
}

static void fill_view(saltus_fit* fit) {
  saltus_fit_view* v = &fit->view;
  *v = (saltus_fit_view){.parameters = fit->unknowns,
                         .experiments = fit->experiments,
                         .nuisance = fit->experiments * fit->freedoms,
                         .names = fit->names,
                         .values = fit->values,
                         .low = fit->low,
                         .high = fit->high,
                         .covariance = fit->covariance,
                         .correlation = fit->correlation,
                         .weakest = fit->weakest,
                         .factor = (double)NAN,
                         .condition = (double)NAN};
  for (int i = 0; i < fit->experiments; i++) {
    v->frames += fit->experiment[i].to - fit->experiment[i].from + 1;
  }
  for (int k = 0; k < fit->unknowns; k++) {
    fit->names[k] = fit->unknown[k].name;
    fit->values[k] = fit->unknown[k].first;
    fit->low[k] = fit->unknown[k].low;
    fit->high[k] = fit->unknown[k].high;
  }
  for (int k = 0; k < fit->unknowns * fit->unknowns; k++) {
    fit->covariance[k] = (double)NAN;
  }
}

/* The scene with the measured formulas: their errors are reported once. */
static saltus_status check_outputs(saltus_fit* fit) {
  const saltus_scene_def def = {.like = fit->scene,
                                .outputs = fit->outputs,
                                .output_count = fit->output_count,
                                .log = fit->def.log};
  saltus_scene* scene = NULL;
  const saltus_status status = saltus_scene_create(&def, &scene);
  if (status == SALTUS_OK && fit->output_count > 0) {
    const saltus_observables* seen = saltus_scene_get_view(scene)->observables;
    for (int i = 0; i < seen->output_count; i++) {
      if (strcmp(seen->output_labels[i].name, fit->outputs[0].name) == 0) {
        fit->output_first = i;
      }
    }
  }
  saltus_scene_destroy(scene);
  return status;
}

static saltus_status create(saltus_fit* fit) {
  const saltus_fit_def* def = &fit->def;
  const saltus_scene_def plain = {.path = def->path,
                                  .text = def->text,
                                  .overrides = def->overrides,
                                  .override_count = def->override_count,
                                  .log = def->log};
  saltus_status status = saltus_scene_create(&plain, &fit->scene);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_scene_view* view = saltus_scene_get_view(fit->scene);
  fit->nq = view->system->dims.nq;
  fit->nv = view->system->dims.nv;
  status = saltusi_fit_read(fit);
  if (status == SALTUS_OK && fit->freedoms > 0 && view->system->ops->advance == NULL &&
      fit->nq != fit->nv) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "fit: this system has no free starts");
    status = SALTUS_ERR_UNSUPPORTED;
  }
  status = status == SALTUS_OK ? check_outputs(fit) : status;
  if (status == SALTUS_OK) {
    fill_view(fit);
    status = open_team(fit);
  }
  return status;
}

saltus_status saltus_fit_create(const saltus_fit_def* def, saltus_fit** out) {
  assert(def != NULL && out != NULL);
  *out = NULL;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_fit_def", def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  if ((def->path == NULL && def->text == NULL) || def->threads < 0 || !(def->time_limit >= 0.0)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "fit: a scene is needed, and threads and time_limit from 0 on");
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_fit* fit = SALTUSI_TAKE(&pool, saltus_fit, 1);
  if (fit == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "fit: no memory");
    return SALTUS_ERR_MEMORY;
  }
  fit->pool = pool;
  fit->def = *def;
  status = create(fit);
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "fit: no memory");
  }
  if (status != SALTUS_OK) {
    saltus_fit_destroy(fit);
    return status;
  }
  *out = fit;
  return SALTUS_OK;
}

void saltus_fit_destroy(saltus_fit* fit) {
  if (fit != NULL) {
    if (fit->team != NULL) {
      saltusi_thread_pool_close(fit->team);
    }
    saltus_scene_destroy(fit->scene);
    saltusi_pool pool = fit->pool;
    saltusi_pool_free(&pool);
  }
}

saltus_status saltus_fit_execute(saltus_fit* fit) {
  assert(fit != NULL);
  if (fit->unknowns + fit->freedoms == 0) {
    saltusi_log(fit->def.log, SALTUS_LEVEL_ERROR, "fit: nothing is unknown");
    return SALTUS_ERR_INPUT;
  }
  return saltusi_fit_minimise(fit, true);
}

/* ---- errors of whole runs ---- */

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* x, int count) {
  qsort(x, (size_t)count, sizeof *x, by_value);
  return count % 2 == 1 ? x[count / 2] : 0.5 * (x[count / 2 - 1] + x[count / 2]);
}

static saltus_status summarise(const saltus_fit_score* scores, int count, saltus_fit_summary* out) {
  double* x = calloc(2 * (size_t)count + 1, sizeof *x);
  if (x == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  *out = (saltus_fit_summary){.experiments = count};
  for (int i = 0; i < count; i++) {
    const saltus_fit_score* s = &scores[i];
    out->failed += s->reason[0] != '\0';
    out->window_position += s->window_position / count;
    out->window_rotation += s->window_rotation / count;
    out->position += s->position / count;
    out->rotation += s->rotation / count;
    out->face += (s->face ? 1.0 : 0.0) / count;
    out->window_cpu += s->window_cpu / count;
    x[i] = s->position;
    x[count + i] = s->rotation;
  }
  out->position_median = median(x, count);
  out->rotation_median = median(x + count, count);
  free(x);
  return SALTUS_OK;
}

/* Scores of experiments that are held out, or of all. */
static saltus_status score(saltus_fit* fit, saltus_fit_score* scores) {
  saltusi_fit_variant variant = {.free = -1};
  memcpy(variant.values, fit->values, sizeof fit->values);
  const saltusi_fit_results results = {.scores = scores};
  return saltusi_fit_run(fit, &variant, 1, &results);
}

saltus_status saltus_fit_evaluate(saltus_fit* fit, saltus_fit_score* scores,
                                  saltus_fit_summary* summary) {
  assert(fit != NULL && summary != NULL);
  saltus_fit_score* own =
      scores != NULL ? scores : calloc((size_t)fit->experiments, sizeof *scores);
  if (own == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = score(fit, own);
  status = status == SALTUS_OK ? summarise(own, fit->experiments, summary) : status;
  if (own != scores) {
    free(own);
  }
  return status;
}

/* ---- searches beside the fit ---- */

saltus_status saltusi_fit_keep(const saltus_fit* fit, saltusi_pool* pool, saltusi_fit_kept* out) {
  assert(fit != NULL && pool != NULL && out != NULL);
  const size_t count = (size_t)fit->experiments * (size_t)fit->freedoms;
  *out = (saltusi_fit_kept){.view = fit->view,
                            .nuisance = SALTUSI_TAKE(pool, double, (long long)count + 1)};
  if (out->nuisance == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(out->values, fit->values, sizeof out->values);
  memcpy(out->nuisance, fit->nuisance, count * sizeof *out->nuisance);
  return SALTUS_OK;
}

void saltusi_fit_reset(saltus_fit* fit, const saltusi_fit_kept* kept) {
  assert(fit != NULL && kept != NULL);
  const size_t count = (size_t)fit->experiments * (size_t)fit->freedoms;
  memcpy(fit->values, kept->values, sizeof fit->values);
  memcpy(fit->nuisance, kept->nuisance, count * sizeof *fit->nuisance);
}

void saltusi_fit_restore(saltus_fit* fit, const saltusi_fit_kept* kept) {
  assert(fit != NULL && kept != NULL);
  const long long runs = fit->view.runs;
  saltusi_fit_reset(fit, kept);
  fit->view = kept->view;
  fit->view.runs = runs;
  for (int i = 0; i < fit->experiments; i++) {
    fit->experiment[i].weight = 1;
  }
}

int saltusi_fit_draw(uint64_t* state, int below) {
  assert(state != NULL && below > 0);
  *state ^= *state << 13U;
  *state ^= *state >> 7U;
  *state ^= *state << 17U;
  return (int)(*state % (uint64_t)below);
}

/* Numbers 0 to folds - 1 in equal parts, in an order that the seed determines. */
static void deal(int count, int folds, unsigned seed, int* fold) {
  uint64_t state = seed + 0x9e3779b97f4a7c15U;
  for (int i = 0; i < count; i++) {
    fold[i] = i % folds;
  }
  for (int i = count - 1; i > 0; i--) {
    const int j = saltusi_fit_draw(&state, i + 1), other = fold[j];
    fold[j] = fold[i];
    fold[i] = other;
  }
}

static saltus_status validate(saltus_fit* fit, int folds, const int* fold,
                              const saltusi_fit_kept* kept, saltus_fit_score* scores) {
  saltus_status status = SALTUS_OK;
  for (int part = 0; part < folds && status == SALTUS_OK; part++) {
    for (int i = 0; i < fit->experiments; i++) {
      fit->experiment[i].weight = fold[i] != part;
    }
    saltusi_fit_reset(fit, kept);
    for (int k = 0; k < fit->unknowns; k++) {
      fit->values[k] = fit->unknown[k].first;
    }
    status = saltusi_fit_minimise(fit, false);
    status = status == SALTUS_OK ? score(fit, scores) : status;
  }
  return status;
}

saltus_status saltus_fit_validate(saltus_fit* fit, int folds, unsigned seed,
                                  saltus_fit_score* scores, saltus_fit_summary* summary) {
  assert(fit != NULL && summary != NULL);
  if (folds < 2 || folds > fit->experiments || fit->unknowns == 0) {
    saltusi_log(fit->def.log, SALTUS_LEVEL_ERROR,
                "fit: folds is %d, must be 2 to the number of experiments, %d, with an unknown",
                folds, fit->experiments);
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltus_fit_score* own =
      scores != NULL ? scores : SALTUSI_TAKE(&pool, saltus_fit_score, fit->experiments);
  int* fold = SALTUSI_TAKE(&pool, int, fit->experiments);
  saltusi_fit_kept kept;
  saltus_status status = saltusi_fit_keep(fit, &pool, &kept);
  if (status == SALTUS_OK && own != NULL && fold != NULL) {
    deal(fit->experiments, folds, seed, fold);
    status = validate(fit, folds, fold, &kept, own);
    saltusi_fit_restore(fit, &kept);
    status = status == SALTUS_OK ? summarise(own, fit->experiments, summary) : status;
  } else {
    status = SALTUS_ERR_MEMORY;
  }
  saltusi_pool_free(&pool);
  return status;
}

saltus_status saltus_fit_residuals(saltus_fit* fit, const double* values, double* residuals,
                                   double* derivatives, long long* count) {
  assert(fit != NULL && values != NULL && count != NULL);
  const int p = fit->unknowns;
  const long long n = fit->residuals;
  *count = n;
  if (residuals == NULL && derivatives == NULL) {
    return SALTUS_OK;
  }
  double* all = calloc((size_t)(n * (2 * p + 1)) + 1, sizeof *all);
  saltusi_fit_variant* variants = calloc(2 * (size_t)p + 1, sizeof *variants);
  saltus_status status = SALTUS_ERR_MEMORY;
  if (all != NULL && variants != NULL) {
    for (int k = 0; k <= 2 * p; k++) {
      variants[k].free = -1;
      memcpy(variants[k].values, values, (size_t)p * sizeof *values);
      if (k > 0) {
        variants[k].values[(k - 1) / 2] +=
            (k % 2 == 1 ? 1.0 : -1.0) * fit->unknown[(k - 1) / 2].step;
      }
    }
    const saltusi_fit_results results = {.residuals = all};
    status = saltusi_fit_run(fit, variants, derivatives != NULL ? 2 * p + 1 : 1, &results);
  }
  if (status == SALTUS_OK && residuals != NULL) {
    memcpy(residuals, all, (size_t)n * sizeof *all);
  }
  for (long long i = 0; i < n * p && status == SALTUS_OK && derivatives != NULL; i++) {
    const long long k = i % p, row = i / p;
    derivatives[i] =
        (all[(2 * k + 1) * n + row] - all[(2 * k + 2) * n + row]) / (2.0 * fit->unknown[k].step);
  }
  free(all);
  free(variants);
  return status;
}
