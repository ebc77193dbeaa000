/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * global_tolerance.c - a tolerance of the motion. The run is repeated with fractions p of the tolerance as local tolerance, and the motions
 * are compared at the same instants (trajectory_samples.h). With d(k, l) the largest distance of runs k and l, in tolerances, and
 * e(k, l) = d(k, l) / (1 - p_l / p_k), the error of k where errors are proportional to tolerances:
 *
 *   run k is kept when    2 max(e(k, k+1), e(k, k+2)) <= 1     and the three agree
 *   three runs agree when e(k+1, k+2) <= e(k, k+1) / 2         or <= 1/20, where rounding may dominate
 *
 * and k+2 may be the run before k instead: e(k, k+1) <= e(k-1, k) / 2. The factor 2 is for errors that are not proportional.
 * After several runs d(k, k+1) has to have fallen by p_k^(1/4) since the first, else rounding is compared.
 * Else the next fraction is the one whose error would be a quarter of the request, at most a tenth of the last. If the
 * scheme permits or achieves no smaller fraction, the last run n is kept if its error, by the measured rate, is half of
 * the request:
 *
 *   e = d(n-1, n) (p_n / p_(n-1))^(r - 0.1) + rounding,   r = log(d(n-1, n) / d(n-2, n-1)) / log(p_(n-1) / p_(n-2)) in 1/2 .. 1
 *
 * with the rounding of positions in every step, summed as independent and amplified like errors of steps. Run n-1 is made
 * for this when there is none within some ten times p_n.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/number.h"
#include "run/run_state.h"
#include "run/trajectory_samples.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  INSTANTS = 500,       /* at which motions are compared, beside those that are recorded */
  MOST_INSTANTS = 10000 /* largest total number; more recorded instants are thinned */
};

static const double step_down = 0.1;      /* of the tolerance, from run to run */
static const double steepest_part = 1e-4; /* smallest ratio of consecutive fractions */
static const double safety = 2.0;
static const double least_rate =
    0.5; /* least rate of decrease of distances with fractions, for extrapolation */
static const double uncertain_rate = 0.1; /* uncertainty of the rate */
static const double near_barred =
    1.5; /* ratio of fractions that are expected to fail like a failed one */
static const double far_apart = 30.0;    /* largest ratio of fractions for extrapolation */
static const double aim = 0.25;          /* target error of the next run, relative to the request */
static const double unremarkable = 0.05; /* distances that are not required to decrease */

/* One repetition. */
typedef struct trial {
  double part;
  saltusi_trajectory_samples track;
  double distance; /* to the next one, at the instant `where`, with: */
  int where;
  double* profile; /* [count] distances by instant */
} trial;

typedef struct global_tolerance_search {
  saltus_run* run;
  saltus_run_accuracy* out;
  saltusi_asked asked;
  double* times; /* [count] s */
  int count;
  double* room;    /* [2 nv] */
  double* profile; /* [count] of two runs that are not neighbours */
  double least;    /* smallest fraction that the scheme permits */
  double barred;   /* largest failed fraction; 0: none */
  trial trials[SALTUS_RUN_TRIALS];
  int tried;
  int failed;                  /* number of failed trials */
  saltus_kept_message failure; /* of the last failed trial */
  long long last_steps;        /* of the last trial */
  int kept;                    /* -1: none yet */
  saltusi_pool pool;
} global_tolerance_search;

/* ---- a run with smaller tolerances ------------------------------------------------------------ */

/* Storage of a definition with a fraction of the tolerances. */
typedef struct tight {
  saltus_scene_view scene;
  char texts[3][32];
  saltus_override tolerances[3];
} tight;

static const double* scaled(saltusi_pool* pool, const double* atol, int n, double part) {
  double* copy = atol != NULL ? SALTUSI_TAKE(pool, double, n) : NULL;
  for (int i = 0; copy != NULL && i < n; i++) {
    copy[i] = part * atol[i];
  }
  return copy;
}

/* Definition of the run with a fraction of its local tolerances; false: no memory. */
static bool make_tight(const saltus_run* run, double part, saltusi_pool* pool,
                       saltus_run_def* def) {
  const saltus_run_settings* s = &run->settings;
  tight* t = SALTUSI_TAKE(pool, tight, 1);
  if (t == NULL) {
    return false;
  }
  int nv = run->def.scene->system->dims.nv;
  t->scene = *run->def.scene;
  t->scene.atol_q = scaled(pool, t->scene.atol_q, nv, part);
  t->scene.atol_v = scaled(pool, t->scene.atol_v, nv, part);
  t->scene.global = false;
  const double values[3] = {s->rtol, s->atol, s->atol_velocity};
  static const char* const names[3] = {"rtol", "atol", "atol_velocity"};
  int count = 0;
  for (int i = 0; i < 3; i++) {
    if (saltus_options_find(&s->scheme->options, names[i]) != NULL) {
      saltusi_print(t->texts[count], sizeof t->texts[0], "%.10g", part * values[i]);
      t->tolerances[count] = (saltus_override){.name = names[i], .value = t->texts[count]};
      count++;
    }
  }
  *def = run->def;
  def->scene = &t->scene;
  def->global = false;
  def->tol = def->rtol = def->atol = NAN;
  def->scheme = s->scheme->name;
  def->options_line = s->options_text;
  def->options = t->tolerances;
  def->option_count = count;
  return !pool->failed;
}

static saltus_status refuse_memory(const saltus_run* run) {
  saltusi_log(run->def.log, SALTUS_LEVEL_ERROR, "run: no memory for tolerances of the motion");
  return SALTUS_ERR_MEMORY;
}

/* A run without recorders and warnings; the accepted run reports its own warnings. */
static saltus_status go(global_tolerance_search* s, trial* t) {
  saltus_run_def def;
  if (!saltusi_trajectory_samples_start(&t->track, s->asked.sys, s->times, s->count, &s->pool) ||
      (t->profile = SALTUSI_TAKE(&s->pool, double, s->count)) == NULL ||
      !make_tight(s->run, t->part, &s->pool, &def)) {
    return refuse_memory(s->run);
  }
  saltus_kept_message message;
  const saltus_recorder recorder = saltusi_trajectory_samples_recorder(&t->track);
  def.record_every = 0;
  def.record_dt = NAN;
  def.record_times = s->times;
  def.record_time_count = s->count;
  def.record_jumps = true;
  def.record_middles = false;
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.exact = (saltus_run_exact){.at = NULL};
  def.log = saltus_log_keep(&message);
  saltus_scene_view view = *def.scene;
  view.observables = NULL;
  def.scene = &view;
  saltus_run* run = NULL;
  saltus_status status = saltus_run_create(&def, &run);
  if (status == SALTUS_OK) {
    status = saltus_run_execute(run);
    s->last_steps = saltus_run_outcome(run)->steps;
    s->out->steps += s->last_steps;
    s->out->cpu += saltus_run_outcome(run)->cpu;
  }
  saltus_run_destroy(run);
  s->failure = status == SALTUS_OK ? s->failure : message;
  return status;
}

/* ---- instants ---------------------------------------------------------------------------------- */

static int by_time(const void* a, const void* b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Instants of comparison: equidistant ones, recorded ones, and the end. */
static bool choose_instants(global_tolerance_search* s) {
  const saltus_run_settings* set = &s->run->settings;
  const saltus_run_def* def = &s->run->def;
  double span = set->until - set->start;
  double frames = set->record_dt > 0.0 ? floor(span / set->record_dt) : 0.0;
  bool listed = def->record_times != NULL;
  long long recorded = listed ? def->record_time_count : (long long)fmin(frames, 1e15);
  long long stride = 1 + recorded / (MOST_INSTANTS - INSTANTS);
  long long most = INSTANTS + recorded / stride + 1;
  s->times = SALTUSI_TAKE(&s->pool, double, most);
  if (s->times == NULL) {
    return false;
  }
  int count = 0;
  for (int k = 1; k <= INSTANTS; k++) {
    s->times[count++] = k < INSTANTS ? set->start + span * k / INSTANTS : set->until;
  }
  for (long long k = stride; k <= recorded; k += stride) {
    s->times[count++] = listed ? def->record_times[k - 1] : set->start + (double)k * set->record_dt;
  }
  qsort(s->times, (size_t)count, sizeof *s->times, by_time);
  for (int k = 0; k < count; k++) {
    double t = s->times[k];
    double before = s->count > 0 ? s->times[s->count - 1] : set->start;
    bool another = t - before > 1e3 * DBL_EPSILON * fmax(fabs(set->start), fabs(set->until));
    if (another && t <= set->until) {
      s->times[s->count++] = t;
    }
  }
  s->times[s->count - 1] = set->until;
  return true;
}

/* ---- the search -------------------------------------------------------------------------------- */

/* The largest distance of two trials and its instant. */
static double compare(const global_tolerance_search* s, int a, int b, double* profile, int* where) {
  double largest = 0.0;
  saltusi_trajectory_samples_compare(&s->asked, &s->trials[a].track, &s->trials[b].track, s->room,
                                     profile);
  for (int k = 0; k < s->count; k++) {
    if (profile[k] >= largest) {
      largest = profile[k];
      *where = k;
    }
  }
  return largest;
}

static void keep(global_tolerance_search* s, int k, double error, int where) {
  s->kept = k;
  s->out->error = safety * error;
  s->out->t = s->times[where];
  s->out->amplification = error / s->trials[k].part;
}

/* The error of a trial by its distance from a finer one. */
static double error_of(const trial* coarse, const trial* fine, double distance) {
  return distance / (1.0 - fine->part / coarse->part);
}

/* Whether errors fell with tolerances over all trials up to k. Otherwise rounding is compared, and three runs can
 * agree by chance. */
static bool falls_until(const global_tolerance_search* s, int k) {
  enum { SEVERAL = 3 };
  const trial *a = s->trials, *b = &s->trials[k];
  return k < SEVERAL || b->distance <= a->distance * pow(b->part / a->part, 0.5 * least_rate);
}

/* Whether one of the last three trials is accepted. */
static void judge(global_tolerance_search* s) {
  int n = s->tried;
  const trial *a = &s->trials[n - 3], *b = &s->trials[n - 2], *c = &s->trials[n - 1];
  double first = error_of(a, b, a->distance);
  double second = error_of(b, c, b->distance);
  if (!(second <= fmax(0.5 * first, unremarkable))) {
    return;
  }
  int where = 0;
  double across = error_of(a, c, compare(s, n - 3, n - 1, s->profile, &where));
  where = across > first ? where : a->where;
  if (safety * fmax(across, first) <= 1.0 && falls_until(s, n - 3)) {
    keep(s, n - 3, fmax(across, first), where);
  } else if (safety * second <= 1.0 && falls_until(s, n - 2)) {
    keep(s, n - 2, second, b->where);
  }
}

/* To two digits, so that the tolerances of a recording can be read. */
static double rounded(double part) {
  char text[32];
  saltusi_print(text, sizeof text, "%.2g", part);
  return saltusi_number_read(text, NULL);
}

/* The next fraction; 0: there is no smaller one. */
static double next_part(const global_tolerance_search* s) {
  int n = s->tried;
  if (n == 0) {
    return 1.0;
  }
  double last = s->trials[n - 1].part;
  double part = step_down * last;
  if (n > 1) {
    const trial* before = &s->trials[n - 2];
    double wanted = before->part * aim / fmax(before->distance, DBL_MIN);
    part = wanted < 0.5 * last ? fmax(fmin(part, wanted), steepest_part * last) : part;
  }
  if (part < near_barred * s->barred) {
    return last > near_barred * near_barred * s->barred && n < SALTUS_RUN_TRIALS
               ? rounded(sqrt(last * s->barred))
               : 0.0;
  }
  if (part < s->least) {
    part = last > 3.0 * s->least ? 1.05 * s->least : 0.0; /* above the limit after rounding */
  }
  return n < SALTUS_RUN_TRIALS ? rounded(part) : 0.0;
}

/* Whether the last trial is accepted without a finer one. */
static void extrapolate(global_tolerance_search* s) {
  int n = s->tried;
  if (n < 3) {
    return;
  }
  const trial *a = &s->trials[n - 3], *b = &s->trials[n - 2], *c = &s->trials[n - 1];
  double rate = log(b->distance / a->distance) / log(b->part / a->part);
  if (!(rate >= least_rate) || !isfinite(b->distance)) {
    return;
  }
  double amplification = b->distance / b->part;
  double rounding =
      DBL_EPSILON / s->asked.rtol * amplification * sqrt(fmax(1.0, (double)s->last_steps));
  double falls = pow(c->part / b->part, fmin(rate, 1.0) - uncertain_rate);
  double error = error_of(b, c, b->distance) * falls + rounding;
  if (safety * error <= 1.0 && falls_until(s, n - 2)) {
    keep(s, n - 1, error, b->where);
  }
}

/* Whether a run failed because its tolerance is too small. */
static bool is_too_small(const global_tolerance_search* s, saltus_status status) {
  enum { FAILURES = 3 };
  bool by_step = status > SALTUS_OK || status == SALTUS_ERR_STALLED;
  return by_step && s->tried > 0 && s->failed < FAILURES;
}

static saltus_status refuse_inputs(const global_tolerance_search* s) {
  saltusi_log(s->run->def.log, SALTUS_LEVEL_ERROR,
              "run: inputs that are set during a run with a tolerance of the motion make another "
              "motion of each repetition; set them before it");
  return SALTUS_ERR_UNSUPPORTED;
}

static saltus_status report_failure(const global_tolerance_search* s, double part,
                                    saltus_status status) {
  if (status != SALTUS_ERR_STOPPED && status != SALTUS_ERR_MEMORY) {
    saltusi_log(s->run->def.log, SALTUS_LEVEL_ERROR,
                "run: with %g of the tolerance, to estimate the global error: %s", part,
                s->failure.text[0] != '\0' ? s->failure.text : saltus_status_text(status));
  }
  return status;
}

/* Runs a trial with this fraction and inserts it in order; omitted if the fraction is too small. */
static saltus_status try_part(global_tolerance_search* s, double part) {
  const uint64_t* changes = s->run->def.scene->input_changes;
  uint64_t before = changes != NULL ? *changes : 0;
  int at = s->tried;
  trial t = {.part = part};
  saltus_status status = go(s, &t);
  if (status != SALTUS_OK) {
    saltusi_trajectory_samples_end(&t.track);
    if (!is_too_small(s, status)) {
      return report_failure(s, part, status);
    }
    s->failed++;
    s->barred = part;
    return SALTUS_OK;
  }
  for (; at > 0 && s->trials[at - 1].part < part; at--) {
    s->trials[at] = s->trials[at - 1];
  }
  s->trials[at] = t;
  s->tried++;
  for (int i = at > 0 ? at - 1 : 0; i <= at && i + 1 < s->tried; i++) {
    trial* coarser = &s->trials[i];
    coarser->distance = compare(s, i, i + 1, coarser->profile, &coarser->where);
  }
  return changes != NULL && *changes != before ? refuse_inputs(s) : SALTUS_OK;
}

static saltus_status find(global_tolerance_search* s) {
  double part = next_part(s);
  while (part > 0.0) {
    int before = s->tried;
    saltus_status status = try_part(s, part);
    if (status != SALTUS_OK) {
      return status;
    }
    if (s->tried > before && s->tried > 2) {
      judge(s);
    }
    if (s->kept >= 0) {
      return SALTUS_OK;
    }
    part = next_part(s);
  }
  int n = s->tried;
  double last = s->trials[n - 1].part;
  if (n > 1 && n < SALTUS_RUN_TRIALS && s->trials[n - 2].part > far_apart * last) {
    saltus_status status = try_part(s, rounded(last / step_down));
    if (status != SALTUS_OK) {
      return status;
    }
  }
  extrapolate(s);
  return s->kept < 0 ? SALTUS_ERR_ACCURACY : SALTUS_OK;
}

/* Last instant up to which the two finest trials agree. */
static int known_until(const global_tolerance_search* s) {
  const trial* a = &s->trials[s->tried - 2];
  int first = 0;
  while (first < s->count && safety * a->profile[first] <= 1.0) {
    first++;
  }
  return first;
}

/* Reports the accuracy that double precision permits, by the two finest trials. */
static void explain(global_tolerance_search* s) {
  saltus_run_accuracy* out = s->out;
  const saltus_run_settings* set = &s->run->settings;
  saltus_log log = s->run->def.log;
  out->predictable = set->start;
  char why[1200] = "";
  if (s->failed > 0) {
    snprintf(why, sizeof why, "; with less %s", s->failure.text);
  }
  if (s->tried < 2) {
    saltusi_log(
        log, SALTUS_LEVEL_ERROR,
        "run: a global error of %g requires steps of a smaller tolerance than scheme %s allows%s",
        out->rtol, set->scheme->name, why);
    return;
  }
  const trial *a = &s->trials[s->tried - 2], *b = &s->trials[s->tried - 1];
  int first = known_until(s);
  if (first == s->count) { /* they agree, but not better than those before */
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "run: a global error of %g cannot be shown: runs whose steps have the "
                "tolerances %.2g and %.2g differ by %.2g of it, no less than those with larger "
                "ones%s",
                out->rtol, a->part * out->rtol, b->part * out->rtol, a->distance, why);
    return;
  }
  out->predictable = first > 0 ? s->times[first - 1] : set->start;
  out->amplification = a->distance / a->part;
  char reach[96] = "";
  if (safety * a->distance * out->rtol < 0.1) {
    saltusi_print(reach, sizeof reach, ", or for a tolerance of %.1e",
                  1.1 * safety * a->distance * out->rtol);
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "run: a global error of %g cannot be reached up to t = %g s %s, only up to t = %.6g "
              "s: then runs whose steps have the tolerances %.2g and %.2g differ by more than half "
              "of it; up to the end errors of steps grow at least %.2g "
              "times%s. Give an earlier end%s",
              out->rtol, set->until, s->failed > 0 ? "by this scheme" : "in double precision",
              out->predictable, a->part * out->rtol, b->part * out->rtol, out->amplification, why,
              reach);
}

/* Sets the tolerance of the run to that of the accepted trial. */
static saltus_status apply(global_tolerance_search* s) {
  saltus_run* run = s->run;
  double part = s->trials[s->kept].part;
  if (part == 1.0) {
    return SALTUS_OK;
  }
  saltus_run_def def;
  saltus_run_settings settings;
  if (!make_tight(run, part, &run->pool, &def)) {
    return refuse_memory(run);
  }
  saltus_status status = saltusi_run_resolve(&def, false, &run->pool, &settings);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_sim* before = run->sim;
  const saltus_run_def old_def = run->def;
  const saltus_run_settings old_settings = run->settings;
  run->sim = NULL;
  run->def = def;
  run->settings = settings;
  run->settings.global = true;
  status = saltusi_run_make_sim(run);
  if (status == SALTUS_OK) {
    saltus_sim_destroy(before);
  } else {
    saltus_sim_destroy(run->sim);
    run->sim = before;
    run->def = old_def;
    run->settings = old_settings;
  }
  return status;
}

static void report(global_tolerance_search* s) {
  saltus_run_accuracy* out = s->out;
  out->trials = s->tried;
  for (int i = 0; i < s->tried; i++) {
    out->parts[i] = s->trials[i].part;
    out->distances[i] = s->trials[i].distance;
  }
}

saltus_status saltus_run_tighten(saltus_run* run) {
  assert(run != NULL && run->sim != NULL);
  if (run->tightened) {
    return SALTUS_OK;
  }
  const saltus_run_settings* set = &run->settings;
  const saltus_scene_view* scene = run->def.scene;
  const saltus_system* sys = scene->system;
  saltus_run_accuracy* out = &run->result.accuracy;
  *out = (saltus_run_accuracy){
      .rtol = set->rtol, .atol = set->atol, .error = NAN, .t = NAN, .predictable = NAN};
  global_tolerance_search s = {.run = run,
                               .out = out,
                               .asked = {.sys = sys,
                                         .rtol = set->rtol,
                                         .atol = set->atol,
                                         .atol_velocity = set->atol_velocity,
                                         .atol_q = scene->atol_q,
                                         .atol_v = scene->atol_v},
                               .least = saltus_options_find(&set->scheme->options, "rtol")->lo /
                                        set->rtol,
                               .kept = -1,
                               .pool = saltusi_pool_over(&run->pool.allocator)};
  s.room = SALTUSI_TAKE(&s.pool, double, 2 * (size_t)sys->dims.nv + 1);
  const double* q0 = run->def.q0 != NULL ? run->def.q0 : scene->q0;
  bool room = choose_instants(&s) && saltusi_asked_start(&s.asked, q0, &s.pool);
  s.profile = SALTUSI_TAKE(&s.pool, double, s.count);
  saltus_status status = room && !s.pool.failed ? find(&s) : refuse_memory(run);
  report(&s);
  if (status == SALTUS_ERR_ACCURACY) {
    explain(&s);
  }
  if (status == SALTUS_OK) {
    status = apply(&s);
    out->known = run->tightened = status == SALTUS_OK;
    out->part = s.trials[s.kept].part;
  }
  for (int i = 0; i < s.tried; i++) {
    saltusi_trajectory_samples_end(&s.trials[i].track);
  }
  saltusi_pool_free(&s.pool);
  saltusi_run_read_state(run, status);
  return status;
}
