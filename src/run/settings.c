/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * settings.c - see settings.h. The order of the functions is the order of resolution:
 * scheme, its options and tolerances, controller, times, recorded states.
 */
#include "run/settings.h"

#include "base/log.h"
#include "base/suggest.h"
#include "sim/tolerance.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Default number of recorded states, of schemes with long steps. */
enum { USUAL_STATES = 500, NAME = 32 };

/* Settings resolved so far. */
typedef struct resolution {
  const saltus_run_def* def;
  const saltus_scene_view* scene;
  saltusi_pool* pool;
  saltus_run_settings* out;
  double tol;   /* that of the overrides, or else of the scene; NaN: none */
  bool stepped; /* the caller supplies the steps */
} resolution;

static bool given(double value) {
  return !isnan(value);
}

/* Name of an override for messages: "tol", or "--tol". */
static const char* called(const resolution* r, const char* name, char text[NAME]) {
  snprintf(text, NAME, "%s%s", r->def->mark != NULL ? r->def->mark : "", name);
  return text;
}

static saltus_status refuse_number(const resolution* r, const char* name, double value,
                                   const char* allowed) {
  char text[NAME];
  saltusi_log(r->def->log, SALTUS_LEVEL_ERROR, "run: %s is %g, must be %s", called(r, name, text),
              value, allowed);
  return SALTUS_ERR_RANGE;
}

/* ---- scheme -------------------------------------------------------------------------------- */

/* Whether the scheme has its own error estimate, also across impacts. */
static bool has_estimate(const saltus_scheme_info* scheme) {
  return scheme != NULL && (scheme->chooses_step || saltusi_tol_is_estimated(scheme));
}

/* The scheme: that of the override; else, with a tolerance, one that supports it; else that of the scene. A model with
 * neither scheme nor step is integrated to a tolerance. */
static const char* choose_scheme(const resolution* r) {
  const saltus_run_def* def = r->def;
  if (def->scheme != NULL) {
    return def->scheme;
  }
  const saltus_scheme_info* own = saltus_scheme_find(r->scene->scheme);
  bool controlled = def->control != NULL || r->scene->control != NULL;
  bool apart = given(def->rtol) || given(def->atol);
  if ((given(def->tol) || apart) && !controlled && !given(def->step)) {
    bool keeps = apart ? own != NULL && own->chooses_step : has_estimate(own);
    return keeps ? own->name : "adaptive";
  }
  if (r->scene->scheme != NULL) {
    return r->scene->scheme;
  }
  bool steps = r->stepped || given(def->step) || given(r->scene->step);
  return steps || controlled ? "moreau-jean" : "adaptive";
}

static saltus_status find_scheme(resolution* r) {
  enum { MOST = 256 };
  const char* name = choose_scheme(r);
  saltus_run_settings* out = r->out;
  out->scheme = saltus_scheme_find(name);
  if (out->scheme != NULL) {
    out->own = r->scene->scheme != NULL && strcmp(r->scene->scheme, name) == 0;
    return SALTUS_OK;
  }
  const char* names[MOST];
  int count = 0;
  for (; count < saltus_scheme_count() && count < MOST; count++) {
    names[count] = saltus_scheme_at(count)->name;
  }
  const char* near = saltusi_suggest(name, names, count);
  saltusi_log(
      r->def->log, SALTUS_LEVEL_ERROR, "run: no scheme \"%s\"%s%s%s; see saltus list schemes", name,
      near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
  return SALTUS_ERR_NAME;
}

/* ---- options and tolerances ------------------------------------------------------------------ */

static saltus_status set_all(const resolution* r, const saltus_field_table* table, void* options,
                             const char* owner, const saltus_override* list, int count) {
  saltus_status status = SALTUS_OK;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    status = saltus_options_set(table, options, owner, list[i].name, list[i].value, r->def->log);
  }
  return status;
}

/* tol, rtol and atol into the options of a scheme that chooses its steps; refused by the others. */
static saltus_status set_tolerances(const resolution* r, void* options) {
  const saltus_run_def* def = r->def;
  const saltus_scheme_info* scheme = r->out->scheme;
  char text[NAME];
  char call[NAME + 8];
  if (!saltusi_tol_is_option(scheme)) {
    if (given(def->rtol) || given(def->atol)) {
      saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                  "run: %s is a tolerance of schemes that choose their steps; scheme %s does not. "
                  "Name no scheme or take adaptive",
                  called(r, given(def->rtol) ? "rtol" : "atol", text), scheme->name);
      return SALTUS_ERR_UNSUPPORTED;
    }
    return SALTUS_OK;
  }
  saltus_status status = SALTUS_OK;
  /* the tolerance of the scene is already in the options of its scheme */
  if (given(r->tol) && (given(def->tol) || !r->out->own)) {
    snprintf(call, sizeof call, "run: %s", called(r, "tol", text));
    status = saltusi_tol_set_options(scheme, options, r->tol, call, def->log);
  }
  if (status == SALTUS_OK && given(def->rtol)) {
    snprintf(call, sizeof call, "run: %s", called(r, "rtol", text));
    status = saltusi_tol_set_one(scheme, options, "rtol", def->rtol, call, def->log);
  }
  if (status == SALTUS_OK && given(def->atol)) {
    snprintf(call, sizeof call, "run: %s", called(r, "atol", text));
    status = saltusi_tol_set_one(scheme, options, "atol", def->atol, call, def->log);
  }
  return status;
}

/* "theta=0.5 gamma=1" of all options; NULL: no memory. */
static const char* show_options(saltusi_pool* pool, const saltus_field_table* table,
                                const void* options) {
  enum { FIELD = 128 };
  size_t room = (size_t)table->count * FIELD + 1;
  char* text = SALTUSI_TAKE(pool, char, room);
  size_t used = 0;
  for (int i = 0; i < table->count && text != NULL; i++) {
    char field[FIELD];
    saltus_options_show(&table->fields[i], options, field, sizeof field);
    used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? " " : "", field);
  }
  return text;
}

static double real_option(const saltus_run_settings* out, const char* name) {
  const saltus_field* field = saltus_options_find(&out->scheme->options, name);
  double value = NAN;
  if (field != NULL) {
    memcpy(&value, (const unsigned char*)out->options + field->offset, sizeof value);
  }
  return value;
}

/* Options: defaults or those of the scene, then tolerances, then options by name. */
static saltus_status resolve_options(resolution* r) {
  saltus_run_settings* out = r->out;
  const saltus_scheme_info* scheme = out->scheme;
  const saltus_field_table* table = &scheme->options;
  void* options = saltusi_pool_take(r->pool, table->size + 1, 1);
  if (options == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  out->options = options;
  saltus_options_defaults(table, options);
  if (out->own && r->scene->options != NULL) {
    memcpy(options, r->scene->options, table->size);
  }
  saltus_status status = set_tolerances(r, options);
  if (status == SALTUS_OK) {
    status =
        saltus_options_set_line(table, options, scheme->name, r->def->options_line, r->def->log);
  }
  if (status == SALTUS_OK) {
    status = set_all(r, table, options, scheme->name, r->def->options, r->def->option_count);
  }
  if (status == SALTUS_OK) {
    out->options_text = show_options(r->pool, table, options);
    status = out->options_text != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  out->rtol = out->atol = out->atol_velocity = NAN;
  if (status == SALTUS_OK && saltusi_tol_is_option(scheme)) {
    double velocity = real_option(out, "atol_velocity");
    out->rtol = real_option(out, "rtol");
    out->atol = real_option(out, "atol");
    out->atol_velocity = velocity > 0.0 ? velocity : out->atol;
  }
  return status;
}

/* ---- controller ---------------------------------------------------------------------------- */

/* The name of the controller; NULL: none. */
static saltus_status choose_control(const resolution* r, const char** name) {
  const saltus_run_def* def = r->def;
  const saltus_scheme_info* scheme = r->out->scheme;
  char text[2][NAME];
  *name = def->control;
  if (given(def->step) && !scheme->chooses_step && (def->control != NULL || given(def->tol))) {
    bool named = def->control != NULL;
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: %s and %s exclude each other: steps of scheme %s are fixed or controlled",
                called(r, "step", text[0]), called(r, named ? "control" : "tol", text[1]),
                scheme->name);
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (def->control != NULL || scheme->chooses_step || given(def->step)) {
    return SALTUS_OK; /* a scheme that cannot be controlled is refused by the simulation */
  }
  const char* usual = given(r->tol) ? saltusi_tol_control(scheme) : NULL;
  if (given(r->tol) && usual == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: scheme %s %s; give %s H, or %s without a scheme", scheme->name,
                saltusi_tol_refusal(scheme), called(r, "step", text[0]), called(r, "tol", text[1]));
    return SALTUS_ERR_UNSUPPORTED;
  }
  /* the controller implied by the tolerance of the scene may not suit another scheme */
  bool taken = given(r->scene->tol) && !r->out->own;
  *name = r->scene->control != NULL && !taken ? r->scene->control : usual;
  return SALTUS_OK;
}

static saltus_status resolve_control(resolution* r) {
  const saltus_run_def* def = r->def;
  const char* name;
  saltus_status status = choose_control(r, &name);
  if (status != SALTUS_OK || name == NULL) {
    return status;
  }
  const saltus_control_info* info = saltus_control_find(name);
  if (info == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: no step control \"%s\"; see saltus list controls", name);
    return SALTUS_ERR_NAME;
  }
  saltus_control_options* options = &r->out->control_options;
  r->out->control = info->name;
  saltus_options_defaults(&info->options, options);
  const char* scenes = r->scene->control;
  if (scenes != NULL && strcmp(scenes, info->name) == 0 && r->scene->control_options != NULL) {
    memcpy(options, r->scene->control_options, sizeof *options);
  }
  if (given(r->tol)) {
    char text[NAME];
    char call[NAME + 8];
    snprintf(call, sizeof call, "run: %s", called(r, "tol", text));
    status = saltusi_tol_set_control(options, r->tol, call, def->log);
  }
  return status == SALTUS_OK ? set_all(r, &info->options, options, info->name, def->control_options,
                                       def->control_option_count)
                             : status;
}

/* ---- times --------------------------------------------------------------------------------- */

static saltus_status resolve_times(resolution* r) {
  const saltus_run_def* def = r->def;
  saltus_run_settings* out = r->out;
  char text[2][NAME];
  out->start = given(def->start) ? def->start : r->scene->start;
  out->until = given(def->until) ? def->until : r->scene->until;
  /* the step of another scheme does not limit the steps of this one */
  out->step = out->scheme->chooses_step && !out->own ? NAN : r->scene->step;
  out->step = given(def->step) ? def->step : out->step;
  if (given(def->step) && !(def->step > 0.0 && def->step <= 1e300)) {
    return refuse_number(r, "step", def->step, "positive and finite");
  }
  if (def->stepping && (!given(out->until) || out->until == HUGE_VAL)) {
    out->until = HUGE_VAL; /* the caller decides */
    if (!out->scheme->chooses_step && out->control == NULL && given(out->step)) {
      out->h = out->step;
      return SALTUS_OK;
    }
  }
  if (!given(out->until)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: no end; give %s T or simulate: {until: T} in the scene",
                called(r, "until", text[0]));
    return SALTUS_ERR_INPUT;
  }
  if (!(out->until > out->start) || !(isfinite(out->until) || def->stepping)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: the end %g s is not after the start %g s",
                out->until, out->start);
    return SALTUS_ERR_RANGE;
  }
  bool varies = out->scheme->chooses_step || out->control != NULL;
  if (!r->stepped && !given(out->step) && !varies) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: no step; give %s H, %s X or simulate: {step: H} in the scene",
                called(r, "step", text[0]), called(r, "tol", text[1]));
    return SALTUS_ERR_INPUT;
  }
  if (out->scheme->chooses_step) {
    out->h = given(out->step) ? out->step : 0.0;
  } else if (out->control == NULL && given(out->step)) {
    out->steps = saltus_sim_step_count(out->start, out->until, out->step, &out->h);
    if (def->resume != NULL) {
      out->h = def->resume->h; /* bitwise that of the first part */
    }
  }
  return SALTUS_OK;
}

/* ---- recorded states ------------------------------------------------------------------------ */

static saltus_status resolve_record(resolution* r) {
  const saltus_run_def* def = r->def;
  const saltus_scene_view* scene = r->scene;
  saltus_run_settings* out = r->out;
  char text[2][NAME];
  bool listed = def->record_times != NULL;
  if (def->record_every < 0) {
    return refuse_number(r, "every", (double)def->record_every, "a whole number from 1 on");
  }
  if (given(def->record_dt) && !(def->record_dt > 0.0 && def->record_dt <= 1e300)) {
    return refuse_number(r, "output-dt", def->record_dt, "positive and finite");
  }
  if (given(def->record_dt) && (def->record_every > 0 || listed)) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: %s and %s exclude each other",
                listed ? "record_times" : called(r, "every", text[0]),
                called(r, "output-dt", text[1]));
    return SALTUS_ERR_RANGE;
  }
  bool asked = listed || def->record_every > 0 || given(def->record_dt);
  out->record_every = def->record_every > 0     ? def->record_every
                      : scene->record_every > 0 ? scene->record_every
                                                : 1;
  out->record_dt = given(def->record_dt) ? def->record_dt : asked ? 0.0 : scene->record_dt;
  bool dense = out->scheme->chooses_step && out->scheme->dense;
  if (def->stepping) { /* no frames */
    out->record_every = 1;
    out->record_dt = 0.0;
    return SALTUS_OK;
  }
  out->record_jumps = def->record_jumps && dense;
  out->record_middles = def->record_middles && dense;
  /* with long steps states are recorded at equal times */
  if (!asked && !(scene->record_dt > 0.0) && !(out->own && scene->record_given) && dense) {
    double from = def->resume != NULL ? def->resume->t : out->start;
    out->record_every = 1;
    out->record_dt = (out->until - from) / USUAL_STATES;
  }
  return SALTUS_OK;
}

/* ---- tolerances of the motion ----------------------------------------------------------------- */

/* Runs are compared at the same instants, so the scheme needs dense output. The scene's setting is dropped with its
 * tolerance where steps are fixed or controlled. */
static saltus_status resolve_global(resolution* r) {
  const saltus_run_def* def = r->def;
  const saltus_scheme_info* scheme = r->out->scheme;
  bool possible = saltusi_tol_is_option(scheme) && scheme->dense;
  if (def->global && !possible) {
    char text[2][NAME];
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: %s needs a scheme that chooses its steps by a tolerance; %s does not. Give "
                "%s without a scheme, or take adaptive",
                called(r, "global", text[0]), scheme->name, called(r, "tol", text[1]));
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (def->stepping && (def->global || (r->scene->global && possible))) {
    saltusi_log(
        def->log, def->global ? SALTUS_LEVEL_ERROR : SALTUS_LEVEL_WARNING,
        "run: tolerances of the motion need runs that can be repeated; of a run advanced by "
        "the caller they are those of its steps");
    return def->global ? SALTUS_ERR_UNSUPPORTED : SALTUS_OK;
  }
  r->out->global =
      def->global || (r->scene->global && possible && def->resume == NULL && !r->stepped);
  return SALTUS_OK;
}

/* Settings from a snapshot. */
static saltus_status check_resume(const resolution* r) {
  const saltus_run_def* def = r->def;
  const saltus_run_snapshot* kept = def->resume;
  bool beside = def->scheme != NULL || def->option_count > 0 || def->options_line != NULL ||
                def->control != NULL || def->control_option_count > 0 || given(def->step) ||
                given(def->tol) || given(def->rtol) || given(def->atol) || given(def->start) ||
                def->q0 != NULL || def->v0 != NULL || def->global;
  if (beside) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: a resumed run has the scheme, options, steps and start of its first part; "
                "none can be given");
    return SALTUS_ERR_UNSUPPORTED;
  }
  double until = given(def->until) ? def->until : kept->until;
  if (!(until > kept->t)) {
    char text[NAME];
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "run: it ends at t = %.17g s; give %s with a later time", kept->t,
                called(r, "until", text));
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

/* Overrides that reproduce the settings of a snapshot. */
static saltus_run_def resumed(const saltus_run_def* def) {
  const saltus_run_snapshot* kept = def->resume;
  saltus_run_def all = *def;
  all.scheme = kept->scheme;
  all.options = kept->options;
  all.option_count = kept->option_count;
  all.control = kept->control;
  all.control_options = kept->control_options;
  all.control_option_count = kept->control_option_count;
  all.step = kept->h > 0.0 ? kept->h : NAN;
  all.start = kept->start;
  all.until = given(def->until) ? def->until : kept->until;
  return all;
}

saltus_status saltusi_run_resolve(const saltus_run_def* def, bool stepped, saltusi_pool* pool,
                                  saltus_run_settings* settings) {
  assert(def->scene != NULL && def->scene->system != NULL);
  *settings = (saltus_run_settings){.step = NAN};
  resolution r = {
      .def = def, .scene = def->scene, .pool = pool, .out = settings, .stepped = stepped};
  saltus_run_def all;
  saltus_status status = SALTUS_OK;
  if (def->resume != NULL) {
    status = check_resume(&r);
    all = resumed(def);
    r.def = &all;
  }
  /* a given step replaces the tolerance of the scene */
  r.tol = given(def->tol) || given(r.def->step) ? def->tol : def->scene->tol;
  saltus_status (*const questions[])(resolution*) = {
      find_scheme, resolve_options, resolve_control, resolve_times, resolve_record, resolve_global};
  for (size_t i = 0; i < sizeof questions / sizeof questions[0] && status == SALTUS_OK; i++) {
    status = questions[i](&r);
  }
  if (status == SALTUS_ERR_MEMORY) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "run: no memory");
  }
  return status;
}
