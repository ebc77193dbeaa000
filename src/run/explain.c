/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.c - the requested tolerance of a run, its steps and their limits, as text.
 */
#include "base/number.h"
#include "run/run_state.h"
#include "system/names.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 64, CAUSES_SHOWN = 5 };

/* A text of fixed capacity; characters beyond it are counted. */
typedef struct page {
  char* text;
  size_t room, used;
} page;

__attribute__((format(printf, 2, 3))) static void add(page* p, const char* format, ...) {
  va_list list;
  va_start(list, format);
  const bool fits = p->used < p->room;
  const int length = saltusi_print_list(fits ? p->text + p->used : NULL,
                                        fits ? p->room - p->used : 0, format, list);
  va_end(list);
  p->used += length > 0 ? (size_t)length : 0;
}

/* Absolute tolerances that the scene gives to single coordinates. */
static void add_own(page* p, const double* atol, const saltus_system* sys,
                    const char* (*name)(const saltus_system*, int, char*, size_t)) {
  char text[NAME];
  for (int i = 0; atol != NULL && i < sys->dims.nv; i++) {
    if (atol[i] > 0.0) {
      add(p, ", of %s %g", name(sys, i, text, sizeof text), atol[i]);
    }
  }
}

static void add_request(page* p, const saltus_run* run) {
  const saltus_run_settings* s = &run->settings;
  const saltus_scene_view* scene = run->def.scene;
  add(p, "Requested: a local error of each step below atol + rtol |x|, rtol = %g, atol = %g",
      s->rtol, s->atol);
  if (s->atol_velocity != s->atol) {
    add(p, ", of velocities %g", s->atol_velocity);
  }
  add_own(p, scene->atol_q, scene->system, saltusi_along_name);
  add_own(p, scene->atol_v, scene->system, saltusi_v_name);
  add(p, ".\n");
}

static const char* method_text(const char* name) {
  static const char* const texts[][2] = {{"dopri5", "Dormand-Prince 5(4)"},
                                         {"dop853", "Dormand-Prince 8(5,3)"},
                                         {"radau5", "Radau IIA 5"}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(texts[i][0], name) == 0) {
      return texts[i][1];
    }
  }
  return name;
}

static void add_methods(page* p, const saltus_tally* tally) {
  add(p, "Steps of %.2g s to %.2g s by ", tally->h_least, tally->h_most);
  for (int i = 0; i < SALTUS_METHODS_MAX && tally->methods[i] != NULL; i++) {
    add(p, "%s%s", i > 0 ? " and " : "", method_text(tally->methods[i]));
    if (tally->method_steps[i] < tally->steps) {
      add(p, " (%lld)", tally->method_steps[i]);
    }
  }
  add(p, "; %lld trial step%s rejected.\n", tally->rejections, tally->rejections == 1 ? "" : "s");
}

static const struct {
  saltus_step_limit limit;
  const char* text;
} others[] = {{SALTUS_LIMIT_EVENT, "events"},
              {SALTUS_LIMIT_GROWTH, "growth from a shorter one"},
              {SALTUS_LIMIT_LONGEST, "the longest step allowed"},
              {SALTUS_LIMIT_END, "the end of the run"}};

enum { OTHERS = sizeof others / sizeof others[0] };

/* Causes are numbered: errors of positions, of velocities, of impulses, others. Number of steps limited by cause k. */
static long long cause_steps(const saltus_dims* d, const saltus_tally* tally, int k) {
  return k < d->nv               ? tally->position_limits[k]
         : k < 2 * d->nv         ? tally->velocity_limits[k - d->nv]
         : k < 2 * d->nv + d->nc ? tally->impulse_limits[k - 2 * d->nv]
                                 : tally->limits[others[k - 2 * d->nv - d->nc].limit];
}

static void add_cause(page* p, const saltus_system* sys, int k) {
  const saltus_dims* d = &sys->dims;
  char text[NAME];
  if (k < d->nv) {
    add(p, " the error of %s%.60s", d->nq == d->nv ? "" : "the position along ",
        saltusi_along_name(sys, k, text, sizeof text));
  } else if (k < 2 * d->nv) {
    add(p, " the error of %.60s", saltusi_v_name(sys, k - d->nv, text, sizeof text));
  } else if (k < 2 * d->nv + d->nc) {
    add(p, " the error of the impulse of contact %.60s",
        saltusi_contact_label(sys, k - 2 * d->nv, text, sizeof text));
  } else {
    add(p, " %s", others[k - 2 * d->nv - d->nc].text);
  }
}

static void add_limits(page* p, const saltus_system* sys, const saltus_tally* tally) {
  const int count = 2 * sys->dims.nv + sys->dims.nc + OTHERS;
  int shown[CAUSES_SHOWN + 1], n = 0; /* one more, to detect further causes */
  for (; n <= CAUSES_SHOWN; n++) {
    int most = -1;
    for (int k = 0; k < count; k++) {
      bool taken = false;
      for (int i = 0; i < n; i++) {
        taken = taken || shown[i] == k;
      }
      const long long steps = taken ? 0 : cause_steps(&sys->dims, tally, k);
      most = steps > 0 && (most < 0 || steps > cause_steps(&sys->dims, tally, most)) ? k : most;
    }
    if (most < 0) {
      break;
    }
    shown[n] = most;
  }
  add(p, "Steps limited by:");
  for (int i = 0; i < n && i < CAUSES_SHOWN; i++) {
    add(p, "%s", i > 0 ? "," : "");
    add_cause(p, sys, shown[i]);
    add(p, " (%lld)", cause_steps(&sys->dims, tally, shown[i]));
  }
  add(p, "%s.\n", n > CAUSES_SHOWN ? ", and others" : "");
}

/* Whether contacts can close that have no formula or are searched only at samples, or joints have dry friction, whose
 * events are not those of contacts. */
static void add_searches(page* p, const saltus_system* sys, const saltus_tally* tally) {
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (tally->sampled > 0) {
    add(p, "Searches for events: %lld proven, %lld sampled.\n", tally->proven, tally->sampled);
  } else if (changing && tally->proven > 0) {
    add(p, "Searches for events: %lld, all proven.\n", tally->proven);
  }
  const saltus_captured* c = &tally->captured;
  if (c->steps > 0) {
    add(p,
        "Captured intervals, in which events could not be resolved: %lld step%s of event capturing "
        "over %.3g s, between t = %.9g s and %.9g s, with errors of %.2g tolerances in all.\n",
        c->steps, c->steps == 1 ? "" : "s", c->time, c->first, c->last, c->error);
  }
  if (sys->dry_count > 0) {
    add(p, "Dry friction of joints began to slip, stuck or turned %lld time%s.\n",
        tally->dry_events, tally->dry_events == 1 ? "" : "s");
  }
}

static void add_control(page* p, const saltus_run* run) {
  const saltus_run_settings* s = &run->settings;
  const saltus_run_result* r = &run->result;
  if (s->control != NULL) {
    add(p,
        "Step control %s (atol=%g rtol=%g): %lld trial step%s rejected, largest accepted error "
        "estimate %.2g tolerances.\n",
        s->control, s->control_options.atol, s->control_options.rtol, r->rejections,
        r->rejections == 1 ? "" : "s", r->estimate);
  }
}

size_t saltus_run_explain(const saltus_run* run, char* text, size_t bytes) {
  assert(run != NULL && (text != NULL || bytes == 0));
  page p = {.text = text, .room = bytes};
  const saltus_tally* tally = run->result.tally;
  const saltus_system* sys = run->def.scene->system;
  if (bytes > 0) {
    text[0] = '\0';
  }
  add_control(&p, run);
  if (isfinite(run->settings.rtol)) {
    add_request(&p, run);
    add_methods(&p, tally);
    if (tally->steps > 0) {
      add_limits(&p, sys, tally);
    }
    add_searches(&p, sys, tally);
  } else if (run->settings.h > 0.0) {
    add(&p, "Requested: steps of %.6g s.\n", run->settings.h);
  }
  return p.used;
}
