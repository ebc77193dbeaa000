/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * global_error.c - see global_error.h.
 */
#include "global_error.h"

#include "system/names.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double part = 0.1; /* of the tolerance, in the second run */

/* --- states of a run ------------------------------------------------------------------------- */

static size_t width(const cli_track* track) {
  return 1 + (size_t)track->nq + (size_t)track->nv;
}

/* Capacity for one more of `items` doubles; the array, or NULL after a message. */
static double* grow(double* array, long long count, long long* room, size_t items) {
  if (count < *room) {
    return array;
  }
  long long more = *room > 0 ? 2 * *room : 1024;
  double* larger = realloc(array, (size_t)more * items * sizeof *larger);
  if (larger == NULL) {
    cli_error("no memory for %lld states of --global-error", more);
    return NULL;
  }
  *room = more;
  return larger;
}

static saltus_status keep_frame(void* user, const saltus_frame* frame) {
  cli_track* track = user;
  double* states = grow(track->states, track->count, &track->room, width(track));
  if (states == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  track->states = states;
  double* at = states + (size_t)track->count++ * width(track);
  at[0] = frame->t;
  memcpy(at + 1, frame->q, (size_t)track->nq * sizeof *at);
  memcpy(at + 1 + track->nq, frame->v, (size_t)track->nv * sizeof *at);
  return SALTUS_OK;
}

static saltus_status keep_impact(void* user, const saltus_event* event) {
  cli_track* track = user;
  if (event->kind != SALTUS_EVENT_IMPACT && event->kind != SALTUS_EVENT_PAINLEVE) {
    return SALTUS_OK;
  }
  double* impacts = grow(track->impacts, track->impact_count, &track->impact_room, 1);
  if (impacts == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  track->impacts = impacts;
  impacts[track->impact_count++] = event->t;
  return SALTUS_OK;
}

static saltus_recorder record(cli_track* track, const saltus_system* sys) {
  track->nq = sys->dims.nq;
  track->nv = sys->dims.nv;
  return (saltus_recorder){.frame = keep_frame, .event = keep_impact, .user = track};
}

saltus_recorder cli_global_error_recorder(cli_global_error* global, const saltus_system* sys) {
  return record(&global->first, sys);
}

/* --- the second run -------------------------------------------------------------------------- */

int cli_global_error_check(const cli_args* args, const saltus_run_settings* settings) {
  const saltus_scheme_info* scheme = settings->scheme;
  bool controlled = settings->control != NULL;
  if (!controlled && !isfinite(settings->rtol)) {
    cli_error(
        "%s: --global-error compares with a run at a tenth of the tolerance; scheme %s is run with "
        "a fixed step. Give --tol X",
        args->command->name, scheme->name);
    return CLI_USAGE;
  }
  const saltus_field* field = controlled ? NULL : saltus_options_find(&scheme->options, "rtol");
  if (field != NULL && !(part * settings->rtol >= field->lo)) {
    cli_error(
        "%s: --global-error needs a tolerance of at least %g, so that a tenth of it is allowed",
        args->command->name, field->lo / part);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

/* Definition of the second run. */
typedef struct again {
  saltus_scene_view scene; /* with a tenth of its tolerances */
  double *atol_q, *atol_v;
  double* times; /* of the first run's states, each once */
  int time_count;
  char texts[3][64]; /* of the tolerances */
  saltus_override tolerances[3];
} again;

static double* tenth(const double* atol, int n) {
  double* copy = atol != NULL ? malloc((size_t)n * sizeof *copy) : NULL;
  for (int i = 0; copy != NULL && i < n; i++) {
    copy[i] = part * atol[i];
  }
  return copy;
}

static bool make_again(const cli_track* first, const saltus_run_def* def, again* a) {
  a->scene = *def->scene;
  a->atol_q = tenth(a->scene.atol_q, first->nv);
  a->atol_v = tenth(a->scene.atol_v, first->nv);
  a->times = malloc((size_t)first->count * sizeof *a->times);
  if (a->times == NULL || (a->scene.atol_q != NULL && a->atol_q == NULL) ||
      (a->scene.atol_v != NULL && a->atol_v == NULL)) {
    return false;
  }
  a->scene.atol_q = a->atol_q;
  a->scene.atol_v = a->atol_v;
  a->scene.observables = NULL;
  for (long long i = 0; i < first->count; i++) {
    double t = first->states[(size_t)i * width(first)];
    if (a->time_count == 0 || t > a->times[a->time_count - 1]) {
      a->times[a->time_count++] = t;
    }
  }
  return true;
}

/* A tenth of the tolerances, by name; returns their number. */
static int tighten(again* a, const saltus_run_settings* s) {
  static const char* const names[] = {"rtol", "atol", "atol_velocity"};
  bool controlled = s->control != NULL;
  double values[] = {s->rtol, s->atol, s->atol_velocity};
  if (controlled) {
    values[0] = s->control_options.rtol;
    values[1] = s->control_options.atol;
  }
  int count = controlled ? 2 : 3;
  for (int i = 0; i < count; i++) {
    snprintf(a->texts[i], sizeof a->texts[i], "%.17g", part * values[i]);
    a->tolerances[i] = (saltus_override){.name = names[i], .value = a->texts[i]};
  }
  return count;
}

/* The first run with a tenth of the tolerance, at its recorded times where the scheme supports
 * output times. */
static saltus_status run_again(cli_global_error* global, const saltus_run_def* first,
                               const saltus_run_settings* settings, again* a) {
  saltus_override all[CLI_MOST];
  saltus_recorder recorder = record(&global->second, first->scene->system);
  saltus_run_def def = *first;
  int count = tighten(a, settings);
  def.scene = &a->scene;
  def.global = a->scene.global = false;
  def.tol = def.rtol = def.atol = NAN;
  def.scheme = settings->scheme->name;
  def.options_line = settings->options_text;
  def.option_count = 0;
  if (settings->control != NULL) {
    /* options of the command line first, then the tolerances */
    int given = first->control_option_count;
    memcpy(all, first->control_options, (size_t)given * sizeof *all);
    memcpy(all + given, a->tolerances, (size_t)count * sizeof *all);
    def.control = settings->control;
    def.control_options = all;
    def.control_option_count = given + count;
  } else {
    def.options = a->tolerances;
    def.option_count = count;
  }
  bool dense = settings->scheme->dense;
  def.record_dt = NAN;
  def.record_every = dense ? 0 : settings->record_every;
  def.record_times = dense ? a->times : NULL;
  def.record_time_count = dense ? a->time_count : 0;
  def.record_jumps = false;
  def.recorders = &recorder;
  def.recorder_count = 1;
  def.exact = (saltus_run_exact){.at = NULL};
  saltus_run* run;
  saltus_status status = saltus_run_create(&def, &run);
  if (status == SALTUS_OK) {
    status = saltus_run_execute(run);
  }
  saltus_run_destroy(run);
  return status;
}

/* --- the comparison -------------------------------------------------------------------------- */

/* The last impact up to t and the first one after it; infinite where there is none. */
static void neighbours(const cli_track* track, double t, long long* cursor, double beside[2]) {
  while (*cursor < track->impact_count && track->impacts[*cursor] <= t) {
    (*cursor)++;
  }
  beside[0] = *cursor > 0 ? track->impacts[*cursor - 1] : -INFINITY;
  beside[1] = *cursor < track->impact_count ? track->impacts[*cursor] : INFINITY;
}

/* Whether both runs have the same impacts before and after t, by their times. */
static bool between_impacts(double t, const double a[2], const double b[2]) {
  for (int k = 0; k < 2; k++) {
    bool none = isinf(a[k]) && isinf(b[k]);
    double near = fmin(fabs(t - a[k]), fabs(t - b[k]));
    if (!none && !(near > fabs(a[k] - b[k]))) {
      return false;
    }
  }
  return true;
}

static void compare_state(cli_global_error* g, const double* x, const double* y, bool smooth) {
  int n = g->first.nq + g->first.nv;
  for (int i = 0; i < n; i++) {
    double error = fabs(x[1 + i] - y[1 + i]);
    bool counts = i < g->first.nq || smooth;
    g->size[i] = fmax(g->size[i], fabs(y[1 + i]));
    if (counts && !(error <= g->largest[i])) { /* a NaN is the largest */
      g->largest[i] = error;
      g->largest[n + i] = x[0];
    }
    g->largest[2 * n + i] = error;
  }
  g->states++;
  g->smooth += smooth;
}

static void compare(cli_global_error* g) {
  const cli_track* a = &g->first;
  const cli_track* b = &g->second;
  long long cursor[2] = {0, 0};
  long long k = 0;
  for (long long i = 0; i < a->count; i++) {
    const double* x = a->states + (size_t)i * width(a);
    const double* next = x + width(a);
    if (i + 1 < a->count && next[0] == x[0]) {
      continue; /* left of a jump: its right side follows */
    }
    double same = 64.0 * DBL_EPSILON * fmax(1.0, fabs(x[0])); /* ends of steps are rounded */
    while (k < b->count && b->states[(size_t)k * width(b)] < x[0] - same) {
      k++;
    }
    const double* y = b->states + (size_t)k * width(b);
    if (k == b->count || !(y[0] <= x[0] + same)) {
      continue; /* without dense output the steps of the two runs end at different times */
    }
    double beside[2][2];
    neighbours(a, x[0], &cursor[0], beside[0]);
    neighbours(b, x[0], &cursor[1], beside[1]);
    compare_state(g, x, y, between_impacts(x[0], beside[0], beside[1]));
  }
}

int cli_global_error_run(cli_global_error* global, const saltus_run_def* first,
                         const saltus_run_settings* settings) {
  again a = {.time_count = 0};
  size_t n = (size_t)global->first.nq + (size_t)global->first.nv;
  global->largest = calloc(4 * n + 1, sizeof *global->largest);
  global->size = global->largest + 3 * n;
  saltus_status status = SALTUS_ERR_MEMORY;
  if (global->largest != NULL && make_again(&global->first, first, &a)) {
    status = run_again(global, first, settings, &a);
  } else {
    cli_error("no memory for --global-error");
  }
  if (status == SALTUS_OK) {
    compare(global);
    global->known = true;
  } else if (status != SALTUS_ERR_STOPPED) {
    cli_error("--global-error: the run at a tenth of the tolerance failed: %s",
              saltus_status_text(status));
  }
  free(a.atol_q);
  free(a.atol_v);
  free(a.times);
  return cli_exit_code(status);
}

/* Requested tolerance of coordinate i in a step: atol + rtol |x|, with the largest |x|. */
static double asked(const cli_global_error* g, const saltus_scene_view* scene,
                    const saltus_run_settings* s, int i) {
  int nq = g->first.nq;
  bool velocity = i >= nq;
  /* tolerances of positions belong to velocities; with nq != nv most coordinates have none */
  const double* own = velocity ? scene->atol_v : nq == g->first.nv ? scene->atol_q : NULL;
  double given = own != NULL ? own[velocity ? i - nq : i] : 0.0;
  bool controlled = s->control != NULL;
  double atol = controlled ? s->control_options.atol : velocity ? s->atol_velocity : s->atol;
  double rtol = controlled ? s->control_options.rtol : s->rtol;
  return (given > 0.0 ? given : atol) + rtol * g->size[i];
}

static const char* name_of(const saltus_system* sys, int i, char* text, size_t bytes) {
  return i < sys->dims.nq ? saltusi_q_name(sys, i, text, bytes)
                          : saltusi_v_name(sys, i - sys->dims.nq, text, bytes);
}

void cli_global_error_print(const cli_global_error* g, const saltus_scene_view* scene,
                            const saltus_run_settings* settings) {
  enum { SHOWN = 32 };
  if (!g->known) {
    return;
  }
  int n = g->first.nq + g->first.nv;
  printf("Global error, from a second run with a tenth of the tolerance, at %lld state%s, of "
         "velocities at the %lld away from impacts:\n",
         g->states, cli_plural(g->states), g->smooth);
  for (int i = 0; i < n && i < SHOWN; i++) {
    char text[64];
    printf("  %s: largest %.2e at t = %.6g s, at the end %.2e; tolerance of a step %.2e\n",
           name_of(scene->system, i, text, sizeof text), g->largest[i], g->largest[n + i],
           g->largest[2 * n + i], asked(g, scene, settings, i));
  }
  if (n > SHOWN) {
    printf("  ... and %d more in --json\n", n - SHOWN);
  }
}

void cli_global_error_json(json* out, const cli_global_error* g, const saltus_scene_view* scene,
                           const saltus_run_settings* settings) {
  if (!g->known) {
    return;
  }
  int nq = g->first.nq;
  int n = nq + g->first.nv;
  json_open(out, "global_error", '{');
  json_number(out, "part", part);
  json_integer(out, "states", g->states);
  json_integer(out, "away_from_impacts", g->smooth);
  for (int velocity = 0; velocity < 2; velocity++) {
    json_open(out, velocity ? "v" : "q", '{');
    for (int i = velocity ? nq : 0; i < (velocity ? n : nq); i++) {
      char text[64];
      json_open(out, name_of(scene->system, i, text, sizeof text), '{');
      json_number(out, "largest", g->largest[i]);
      json_number(out, "t", g->largest[n + i]);
      json_number(out, "end", g->largest[2 * n + i]);
      json_number(out, "tolerance", asked(g, scene, settings, i));
      json_close(out, '}');
    }
    json_close(out, '}');
  }
  json_close(out, '}');
}

void cli_global_error_free(cli_global_error* g) {
  free(g->first.states);
  free(g->first.impacts);
  free(g->second.states);
  free(g->second.impacts);
  free(g->largest);
}
