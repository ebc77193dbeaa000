/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * evaluate.c - measures at values of the variables, by members of a sweep, and their derivatives by variational equations.
 *
 *   measure   m(I_1, ..., I_n), items I_k of one run
 *   dm/du     sum_k dm/dI_k dI_k/dx dx/du, with dI_k/dx of the outputs, integrals, extremes and event times of a sensitivity
 *   samples   F = mean of m_s, or the quantile F = (1 - w) m_(k) + w m_(k+1), k + w = part (S - 1); dF likewise
 */
#include "base/log.h"
#include "base/number.h"
#include "optimize/optimize.h"
#include "run/settings.h"
#include "saltus/sensitivity.h"
#include "sensitivity/scene_directions.h"
#include "sweep/members.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = SALTUSI_OPTIMIZE_MOST };

double saltusi_optimize_value(const saltusi_optimize_variable* v, double u) {
  assert(v != NULL && u >= 0.0 && u <= 1.0);
  if (u == 0.0 || u == 1.0) {
    return u == 0.0 ? v->low : v->high;
  }
  return v->log ? v->low * pow(v->high / v->low, u) : v->low + u * (v->high - v->low);
}

double saltusi_optimize_scaled(const saltusi_optimize_variable* v, double x) {
  assert(v != NULL && v->low < v->high);
  const double u =
      v->log ? log(x / v->low) / log(v->high / v->low) : (x - v->low) / (v->high - v->low);
  return fmin(fmax(u, 0.0), 1.0);
}

double saltusi_optimize_violation(const saltus_optimize* o, const double* results) {
  assert(o != NULL && results != NULL);
  double most = 0.0;
  for (int i = 0; i < o->functions; i++) {
    const saltusi_optimize_function* f = &o->function[i];
    const double d = results[i] - f->limit;
    const double over = f->relation == SALTUSI_AT_MOST    ? d
                        : f->relation == SALTUSI_AT_LEAST ? -d
                        : f->relation == SALTUSI_EQUAL    ? fabs(d)
                                                          : 0.0;
    most = fmax(most, over / fmax(f->slack, 1e-300));
  }
  return most;
}

/* ---- statistics of samples ---- */

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Statistic of x [count]; the pairs (value, place) in `sorted` [2 count] are scratch. weight [count]: its derivatives. */
static double statistic(const double* x, int count, double part, double* sorted, double* weight) {
  double sum = 0.0;
  if (isnan(part)) {
    for (int i = 0; i < count; i++) {
      sum += x[i] / count;
      weight[i] = 1.0 / count;
    }
    return sum;
  }
  for (int i = 0; i < count; i++) {
    sorted[2 * i] = x[i];
    sorted[2 * i + 1] = i;
    weight[i] = 0.0;
  }
  qsort(sorted, (size_t)count, 2 * sizeof *sorted, by_value);
  const double place = part * (count - 1);
  const int k = (int)fmin(floor(place), fmax(count - 2.0, 0.0));
  const int next = k + 1 < count ? k + 1 : k;
  const double w = next > k ? place - k : 0.0;
  weight[(int)sorted[2 * k + 1]] += 1.0 - w;
  weight[(int)sorted[2 * next + 1]] += w;
  return (1.0 - w) * sorted[2 * k] + w * sorted[2 * next];
}

/* ---- values ---- */

/* "k = 3, e = 0.5" of a row of axes. */
static void point_text(const saltus_optimize* o, const double* values, char* text, size_t size) {
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < view->axes && used + 40 < size; i++) {
    char number[32];
    saltusi_print(number, sizeof number, "%.9g", values[i]);
    used += (size_t)snprintf(text + used, size - used, "%s%.60s = %s", i > 0 ? ", " : "",
                             view->columns[i], number);
  }
}

/* The first failed row, or the first measure that is not a number. */
static saltus_status check_rows(saltus_optimize* o, const saltus_sweep_rows* rows, int count) {
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  char at[400];
  for (int i = 0; i < count; i++) {
    const double* row = rows->values + (ptrdiff_t)i * (view->axes + view->measures);
    if (rows->statuses[i] != SALTUS_OK) {
      point_text(o, row, at, sizeof at);
      saltusi_log(o->def.log, SALTUS_LEVEL_ERROR, "optimize: the run at %s failed: %s", at,
                  rows->reasons[i]);
      return (saltus_status)rows->statuses[i];
    }
    for (int k = 0; k < view->measures; k++) {
      if (!isfinite(row[view->axes + k])) {
        point_text(o, row, at, sizeof at);
        saltusi_log(o->def.log, SALTUS_LEVEL_ERROR,
                    "optimize: \"%.120s\" is not a number in the run at %s", o->function[k].text,
                    at);
        return SALTUS_ERR_RANGE;
      }
    }
  }
  return SALTUS_OK;
}

/* The evaluation in the history, and as the best if it is. */
static saltus_status keep(saltus_optimize* o, const double* x, const double* results) {
  const int n = o->variables, m = o->functions, width = n + m;
  void* history = o->history;
  const size_t used = (size_t)o->view.evaluations * (size_t)width;
  if (!saltusi_grow(&o->pool.allocator, &history, &o->history_room, used + (size_t)width,
                    sizeof(double))) {
    return SALTUS_ERR_MEMORY;
  }
  o->history = history;
  o->view.history = history;
  memcpy(o->history + used, x, (size_t)n * sizeof *x);
  memcpy(o->history + used + n, results, (size_t)m * sizeof *x);
  for (int i = 0; i < m && o->view.evaluations == 0; i++) {
    saltusi_optimize_function* f = &o->function[i];
    f->slack = fmax(o->def.tolerance * fmax(fabs(f->limit), fabs(results[i])), 1e-12);
  }
  const double violation = fmax(saltusi_optimize_violation(o, results), 1.0);
  const bool better =
      o->view.evaluations == 0 || violation < o->best_violation ||
      (violation <= o->best_violation && o->sign * results[0] < o->sign * o->results[0]);
  if (better && !o->find) {
    o->best_violation = violation;
    memcpy(o->values, x, (size_t)n * sizeof *x);
    memcpy(o->results, results, (size_t)m * sizeof *x);
  }
  o->view.evaluations++;
  if (o->def.report != NULL) {
    o->def.report(o->def.user, o->view.evaluations, o->results[0]);
  }
  return SALTUS_OK;
}

static saltus_status reduce(saltus_optimize* o, const saltus_sweep_rows* rows, int count,
                            saltusi_pool* pool, double* out) {
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  const int samples = (int)view->samples, width = view->axes + view->measures;
  double* x = SALTUSI_TAKE(pool, double, 4 * (size_t)samples);
  saltus_status status = x != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    for (int k = 0; k < o->functions; k++) {
      for (int s = 0; s < samples; s++) {
        x[s] = rows->values[((ptrdiff_t)s * count + i) * width + view->axes + k];
      }
      out[i * o->functions + k] =
          statistic(x, samples, o->function[k].part, x + samples, x + 3 * (ptrdiff_t)samples);
    }
    status = keep(o, rows->values + (ptrdiff_t)i * width, out + (ptrdiff_t)i * o->functions);
  }
  return status;
}

saltus_status saltusi_optimize_evaluate(saltus_optimize* o, const double* u, int count,
                                        double* out) {
  assert(o != NULL && u != NULL && out != NULL && count > 0);
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  const int n = o->variables, width = view->axes + view->measures;
  const size_t all = (size_t)count * (size_t)view->samples;
  saltusi_pool pool = saltusi_pool_over(NULL);
  double* x = SALTUSI_TAKE(&pool, double, (size_t)(count * n));
  const saltus_sweep_rows rows = {.values = SALTUSI_TAKE(&pool, double, all*(size_t)width),
                                  .statuses = SALTUSI_TAKE(&pool, int, all),
                                  .reasons = saltusi_pool_take(&pool, all, SALTUS_SWEEP_REASON),
                                  .done = SALTUSI_TAKE(&pool, bool, all)};
  saltus_status status = pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int i = 0; i < count * n && status == SALTUS_OK; i++) {
    x[i] = saltusi_optimize_value(&o->variable[i % n], u[i]);
  }
  if (status == SALTUS_OK) {
    status = saltusi_sweep_compute_at(o->sweep, x, n, count, &rows);
    o->view.runs += (long long)all;
  }
  status = status == SALTUS_OK ? check_rows(o, &rows, (int)all) : status;
  status = status == SALTUS_OK ? reduce(o, &rows, count, &pool, out) : status;
  saltusi_pool_free(&pool);
  return status;
}

/* ---- derivatives ---- */

static saltus_status none(saltus_optimize* o, const char* why, const char* what) {
  if (o->note[0] == '\0') {
    snprintf(o->note, sizeof o->note, "%.200s%.100s", why, what);
  }
  return SALTUS_ERR_UNSUPPORTED;
}

static void hear(void* user, saltus_level level, const char* text) {
  saltus_optimize* o = user;
  if (level == SALTUS_LEVEL_ERROR) {
    (void)none(o, text, "");
  }
}

/* Items of a run and their derivatives with respect to n directions, [items x n]. */
typedef struct items {
  double *value, *slope;
  int n;
  double span; /* s */
} items;

static bool is_of(const saltusi_item* item, const saltus_event* e) {
  const bool own = saltus_event_is_user_defined(e->kind);
  return (item->kind < 0 ? own : (int)e->kind == item->kind) &&
         (item->place < 0 || item->place == e->contact);
}

static saltus_status take_time(saltus_optimize* o, const saltusi_item* item, int place,
                               const saltus_sensitivity_view* v, const items* out) {
  long long number = 0;
  const saltus_sensitive_event* at = NULL;
  for (long long i = 0; i < v->event_count && number != item->which; i++) {
    if (is_of(item, &v->events[i].event)) {
      number++;
      at = item->which < 0 || number == item->which ? &v->events[i] : at;
    }
  }
  if (at == NULL || at->derivative == SALTUS_DERIVATIVE_GRAZING ||
      at->derivative == SALTUS_DERIVATIVE_SIMULTANEOUS) {
    return none(o, "the time of an event has no derivative", "");
  }
  out->value[place] = at->event.t;
  memcpy(out->slope + (ptrdiff_t)place * out->n, at->dt, (size_t)out->n * sizeof(double));
  return SALTUS_OK;
}

static int output_of(const saltusi_item* item, const saltus_observables* seen) {
  char label[200];
  saltusi_item_label(item, label, sizeof label);
  for (int i = 0; i < seen->output_count; i++) {
    if (strcmp(seen->output_labels[i].name, label) == 0) {
      return i;
    }
  }
  return -1;
}

static saltus_status take_item(saltus_optimize* o, const saltusi_item* item, int place,
                               const saltus_sensitivity_view* v, const saltus_observables* seen,
                               const items* out) {
  if (item->subject == SALTUSI_OF_EVENTS && item->fold == SALTUSI_FOLD_TIME) {
    return take_time(o, item, place, v, out);
  }
  const bool extreme = item->fold == SALTUSI_FOLD_MAX || item->fold == SALTUSI_FOLD_MIN;
  const bool sum = item->fold == SALTUSI_FOLD_INTEGRAL || item->fold == SALTUSI_FOLD_MEAN;
  if (item->subject != SALTUSI_OF_OUTPUT || item->loaded ||
      (!extreme && !sum && item->fold != SALTUSI_FOLD_LAST)) {
    static const char* const subjects[] = {"formulas of forces", "gaps",   "forces",
                                           "impulses",           "counts", "wear"};
    const bool other = item->subject == SALTUSI_OF_OUTPUT && !item->loaded;
    return none(o,
                "last, integral, mean, max and min of formulas and times of events have "
                "derivatives, not ",
                other ? "first and rms" : subjects[item->subject]);
  }
  const double* from = extreme ? item->fold == SALTUSI_FOLD_MAX ? v->highest : v->lowest
                       : sum   ? v->integrals
                               : v->outputs;
  const int m = v->output_count, at = output_of(item, seen);
  if (from == NULL || at < 0) {
    return none(o, "no derivative is available of ", item->text);
  }
  const double scale = item->fold == SALTUSI_FOLD_MEAN ? 1.0 / out->span : 1.0;
  const double* slopes = extreme ? from + 2 * (ptrdiff_t)m : sum ? from + m : v->doutputs;
  out->value[place] = scale * from[at];
  for (int j = 0; j < out->n; j++) {
    out->slope[place * out->n + j] = scale * slopes[j * m + at];
  }
  return SALTUS_OK;
}

/* Measures from items, and their derivatives by the chain rule; those of the formula by differences. */
static saltus_status chain(saltus_optimize* o, const saltusi_measures* m, const items* at,
                           const double* measured, saltusi_pool* pool, double* out) {
  const int k = m->item_count, f = o->functions;
  double* scratch = SALTUSI_TAKE(pool, double, m->program.registers + 1);
  double* moved = SALTUSI_TAKE(pool, double, k + 1);
  double* value = SALTUSI_TAKE(pool, double, 2 * (size_t)f + 1);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(moved, at->value, (size_t)k * sizeof *moved);
  memset(out, 0, (size_t)(f * at->n) * sizeof *out);
  saltusi_run(&m->program, 0.0, moved, NULL, scratch, value);
  for (int i = 0; i < f; i++) {
    if (!(fabs(value[i] - measured[i]) <= 1e-5 * (fabs(measured[i]) + 1e-6))) {
      return none(o, "the differentiated run has another value of ", o->function[i].text);
    }
  }
  for (int a = 0; a < k; a++) {
    const double h = 6e-6 * (at->value[a] != 0.0 ? fabs(at->value[a]) : 1.0);
    double* low = value + f;
    moved[a] = at->value[a] + h;
    saltusi_run(&m->program, 0.0, moved, NULL, scratch, value);
    moved[a] = at->value[a] - h;
    saltusi_run(&m->program, 0.0, moved, NULL, scratch, low);
    moved[a] = at->value[a];
    for (int i = 0; i < f * at->n; i++) {
      out[i] += (value[i / at->n] - low[i / at->n]) / (2.0 * h) * at->slope[a * at->n + i % at->n];
    }
  }
  for (int i = 0; i < f * at->n; i++) {
    if (!isfinite(out[i])) {
      return none(o, "no derivative exists of ", o->function[i / at->n].text);
    }
  }
  return SALTUS_OK;
}

/* One sample: derivatives of its measures with respect to the variables, [functions x variables]. */
typedef struct member {
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* of;
  saltusi_pool pool;
} member;

static saltus_status derive(saltus_optimize* o, member* s, const saltus_run_settings* settings) {
  const saltus_scene_view* view = saltus_scene_get_view(s->scene);
  if (!isfinite(settings->rtol) || settings->steps > 0) {
    return none(o, "derivatives are those of runs to a tolerance, by adaptive", "");
  }
  saltus_sensitivity_def def = saltus_sensitivity_def_default();
  def.system = view->system;
  def.t0 = view->start;
  def.q0 = view->q0;
  def.v0 = view->v0;
  def.until = settings->until;
  def.directions = saltus_scene_directions_get_view(s->directions);
  def.direction_count = o->variables;
  def.observables = view->observables;
  def.changes = view->input_count > 0 ? view->input_changes : NULL;
  def.cancel = o->def.cancel;
  def.log = (saltus_log){.write = hear, .user = o};
  const saltus_status status = saltus_sensitivity_create(&def, &s->of);
  if (status == SALTUS_ERR_STOPPED || status == SALTUS_ERR_MEMORY) {
    return status;
  }
  if (status != SALTUS_OK) {
    return none(o, "no derivatives: ", saltus_status_text(status));
  }
  const saltus_derivative worst = saltus_sensitivity_get_view(s->of)->derivative;
  if (worst == SALTUS_DERIVATIVE_GRAZING || worst == SALTUS_DERIVATIVE_SIMULTANEOUS) {
    return none(o, "an impact grazes, or several are simultaneous: there is no derivative", "");
  }
  return SALTUS_OK;
}

static saltus_status take_sample(saltus_optimize* o, member* s, double* row, double* out) {
  const saltusi_sweep_parts parts = saltusi_sweep_get_parts(o->sweep);
  const saltus_log log = {.write = hear, .user = o};
  saltus_status status = saltusi_sweep_scene(o->sweep, row, log, &s->scene);
  status = status == SALTUS_OK
               ? saltusi_scene_directions_create(s->scene, parts.outputs, parts.output_count,
                                                 o->names, o->variables, log, &s->directions)
               : status;
  if (status != SALTUS_OK) {
    return status == SALTUS_ERR_MEMORY ? status : none(o, "no neighbouring scene", "");
  }
  saltus_run_def run = *parts.run;
  saltus_run_settings settings;
  run.scene = saltus_scene_get_view(s->scene);
  run.log = log;
  status = saltusi_run_resolve(&run, false, &s->pool, &settings);
  status = status == SALTUS_OK ? derive(o, s, &settings) : status;
  const saltusi_measures* m = parts.measures;
  const items at = {.value = SALTUSI_TAKE(&s->pool, double, m->item_count + 1),
                    .slope = SALTUSI_TAKE(&s->pool, double, (m->item_count + 1) * o->variables),
                    .n = o->variables,
                    .span = settings.until - run.scene->start};
  status = status == SALTUS_OK && s->pool.failed ? SALTUS_ERR_MEMORY : status;
  for (int i = 0; i < m->item_count && status == SALTUS_OK; i++) {
    status = take_item(o, &m->items[i], i, saltus_sensitivity_get_view(s->of),
                       run.scene->observables, &at);
  }
  return status == SALTUS_OK
             ? chain(o, m, &at, row + saltus_sweep_get_view(o->sweep)->axes, &s->pool, out)
             : status;
}

/* Derivatives of all samples, [samples x functions x variables], into those of the statistics. */
static saltus_status differentiate_rows(saltus_optimize* o, double* rows, saltusi_pool* pool,
                                        double* out) {
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  const int samples = (int)view->samples, size = o->functions * o->variables;
  const int width = view->axes + view->measures;
  double* all = SALTUSI_TAKE(pool, double, (size_t)samples*(size_t)size);
  double* x = SALTUSI_TAKE(pool, double, 4 * (size_t)samples);
  saltus_status status = pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int s = 0; s < samples && status == SALTUS_OK; s++) {
    member one = {.pool = saltusi_pool_over(NULL)};
    status = take_sample(o, &one, rows + (ptrdiff_t)s * width, all + (ptrdiff_t)s * size);
    saltus_sensitivity_destroy(one.of);
    saltus_scene_directions_destroy(one.directions);
    saltus_scene_destroy(one.scene);
    saltusi_pool_free(&one.pool);
  }
  for (int k = 0; k < o->functions && status == SALTUS_OK; k++) {
    double* weight = x + 3 * (ptrdiff_t)samples;
    for (int s = 0; s < samples; s++) {
      x[s] = rows[(ptrdiff_t)s * width + view->axes + k];
    }
    (void)statistic(x, samples, o->function[k].part, x + samples, weight);
    for (int j = 0; j < o->variables; j++) {
      double sum = 0.0;
      for (int s = 0; s < samples; s++) {
        sum += weight[s] * all[(ptrdiff_t)s * size + k * o->variables + j];
      }
      out[k * o->variables + j] = sum;
    }
  }
  return status;
}

saltus_status saltusi_optimize_differentiate(saltus_optimize* o, const double* u, double* out) {
  assert(o != NULL && u != NULL && out != NULL);
  const saltus_sweep_view* view = saltus_sweep_get_view(o->sweep);
  const int n = o->variables, width = view->axes + view->measures;
  const size_t all = (size_t)view->samples;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltus_sweep_rows rows = {.values = SALTUSI_TAKE(&pool, double, all*(size_t)width),
                                  .statuses = SALTUSI_TAKE(&pool, int, all),
                                  .reasons = saltusi_pool_take(&pool, all, SALTUS_SWEEP_REASON),
                                  .done = SALTUSI_TAKE(&pool, bool, all)};
  double x[MOST] = {0.0};
  saltus_status status = pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int i = 0; i < n; i++) {
    x[i] = saltusi_optimize_value(&o->variable[i], u[i]);
  }
  status = status == SALTUS_OK ? saltusi_sweep_compute_at(o->sweep, x, n, 1, &rows) : status;
  status = status == SALTUS_OK ? check_rows(o, &rows, (int)all) : status;
  status = status == SALTUS_OK ? differentiate_rows(o, rows.values, &pool, out) : status;
  for (int i = 0; i < o->functions * n && status == SALTUS_OK; i++) {
    const saltusi_optimize_variable* v = &o->variable[i % n];
    out[i] *= v->log ? x[i % n] * log(v->high / v->low) : v->high - v->low;
  }
  saltusi_pool_free(&pool);
  return status;
}
