/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.c - see explain.h.
 */
#include "explain.h"

#include "cli.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64 };

const char* cli_q_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  if (sys->q_labels != NULL) {
    return sys->q_labels[i].name;
  }
  snprintf(text, bytes, "q%d", i + 1);
  return text;
}

const char* cli_v_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  if (sys->v_labels != NULL) {
    return sys->v_labels[i].name;
  }
  snprintf(text, bytes, "v%d", i + 1);
  return text;
}

const char* cli_contact_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  if (sys->law_count == sys->dims.nc && sys->laws[i].name != NULL) {
    return cli_one_line(sys->laws[i].name, text, bytes);
  }
  snprintf(text, bytes, "%d", i + 1);
  return text;
}

/* The position along velocity i: its coordinate, or where positions are made of something else the velocity. */
static const char* along_name(const saltus_system* sys, int i, char* text, size_t bytes) {
  return sys->dims.nq == sys->dims.nv ? cli_q_name(sys, i, text, bytes)
                                      : cli_v_name(sys, i, text, bytes);
}

/* Absolute tolerances that the scene gives to single coordinates. */
static void print_own(const double* atol, int n, const saltus_system* sys,
                      const char* (*name)(const saltus_system*, int, char*, size_t)) {
  char text[TEXT];
  for (int i = 0; atol != NULL && i < n; i++) {
    if (atol[i] > 0.0) {
      printf(", of %s %g", name(sys, i, text, sizeof text), atol[i]);
    }
  }
}

static void print_accuracy(const saltus_scene_view* scene, const saltus_run_settings* s) {
  const saltus_dims* d = &scene->system->dims;
  printf("Asked: in every step an error below atol + rtol |x|, rtol = %g, atol = %g", s->rtol,
         s->atol);
  if (s->atol_velocity != s->atol) {
    printf(", of velocities %g", s->atol_velocity);
  }
  print_own(scene->atol_q, d->nv, scene->system, along_name);
  print_own(scene->atol_v, d->nv, scene->system, cli_v_name);
  printf(".\n");
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

static void print_methods(const saltus_tally* tally) {
  printf("Steps of %.2g s to %.2g s by ", tally->h_least, tally->h_most);
  for (int i = 0; i < SALTUS_METHODS_MAX && tally->methods[i] != NULL; i++) {
    printf("%s%s", i > 0 ? " and " : "", method_text(tally->methods[i]));
    if (tally->method_steps[i] < tally->steps) {
      printf(" (%lld)", tally->method_steps[i]);
    }
  }
  printf("; %lld attempt%s rejected.\n", tally->rejections, cli_plural(tally->rejections));
}

/* A cause with the number of steps that it limited. */
typedef struct cause {
  char text[2 * TEXT];
  long long steps;
} cause;

static int by_steps(const void* a, const void* b) {
  const cause* x = a;
  const cause* y = b;
  return (y->steps > x->steps) - (y->steps < x->steps);
}

typedef struct causes {
  cause* list; /* with room for all */
  int count;
} causes;

static void add_cause(causes* all, long long steps, const char* what, const char* name) {
  if (steps > 0) {
    cause* c = &all->list[all->count++];
    snprintf(c->text, sizeof c->text, "%s%.60s", what, name);
    c->steps = steps;
  }
}

static void print_limits(const saltus_system* sys, const saltus_tally* tally) {
  enum { SHOWN = 5 };
  const saltus_dims* d = &sys->dims;
  char text[TEXT];
  size_t most = (size_t)d->nq + (size_t)d->nv + (size_t)d->nc + SALTUS_LIMITS;
  causes all = {.list = calloc(most, sizeof *all.list)};
  if (all.list == NULL || tally->steps == 0) {
    free(all.list);
    return;
  }
  const char* position = d->nq == d->nv ? "the error of " : "the error of the position along ";
  for (int i = 0; i < d->nv; i++) {
    add_cause(&all, tally->position_limits[i], position, along_name(sys, i, text, sizeof text));
  }
  for (int i = 0; i < d->nv; i++) {
    add_cause(&all, tally->velocity_limits[i], "the error of ",
              cli_v_name(sys, i, text, sizeof text));
  }
  for (int i = 0; i < d->nc; i++) {
    add_cause(&all, tally->impulse_limits[i], "the error of the impulse of contact ",
              cli_contact_name(sys, i, text, sizeof text));
  }
  const long long* n = tally->limits;
  add_cause(&all, n[SALTUS_LIMIT_EVENT], "events", "");
  add_cause(&all, n[SALTUS_LIMIT_GROWTH], "growth from a shorter one", "");
  add_cause(&all, n[SALTUS_LIMIT_LONGEST], "the longest step allowed", "");
  add_cause(&all, n[SALTUS_LIMIT_END], "the end of the run", "");
  qsort(all.list, (size_t)all.count, sizeof *all.list, by_steps);
  printf("What ended or limited them:");
  for (int i = 0; i < all.count && i < SHOWN; i++) {
    printf("%s %s (%lld)", i > 0 ? "," : "", all.list[i].text, all.list[i].steps);
  }
  printf("%s.\n", all.count > SHOWN ? ", and others" : "");
  free(all.list);
}

/* Where something may come to touch that formulas do not name, or is only looked for at places. */
static void print_searches(const saltus_system* sys, const saltus_tally* tally) {
  const bool changing = (sys->traits & SALTUS_CHANGING_CONTACTS) != 0;
  if (tally->sampled > 0) {
    printf("Searches for events: %lld proven, %lld sampled.\n", tally->proven, tally->sampled);
  } else if (changing && tally->proven > 0) {
    printf("Searches for events: %lld, all proven.\n", tally->proven);
  }
}

/* Dry friction of joints has no events of contacts. */
static void print_dry(const saltus_system* sys, const saltus_tally* tally) {
  if (sys->dry_count > 0) {
    printf("Dry friction of joints began to slip, stuck or turned %lld time%s.\n",
           tally->dry_events, cli_plural(tally->dry_events));
  }
}

void cli_explain(const saltus_scene_view* scene, const saltus_run_settings* settings,
                 const saltus_tally* tally) {
  print_accuracy(scene, settings);
  print_methods(tally);
  print_limits(scene->system, tally);
  print_searches(scene->system, tally);
  print_dry(scene->system, tally);
}

void cli_explain_json(json* out, const saltus_scene_view* scene,
                      const saltus_run_settings* settings, const saltus_tally* tally) {
  const saltus_system* sys = scene->system;
  char text[TEXT];
  json_open(out, "tolerance", '{');
  json_number(out, "rtol", settings->rtol);
  json_number(out, "atol", settings->atol);
  json_number(out, "atol_velocity", settings->atol_velocity);
  for (int i = 0; scene->atol_q != NULL && i < sys->dims.nv; i++) {
    if (scene->atol_q[i] > 0.0) {
      json_number(out, along_name(sys, i, text, sizeof text), scene->atol_q[i]);
    }
  }
  for (int i = 0; scene->atol_v != NULL && i < sys->dims.nv; i++) {
    if (scene->atol_v[i] > 0.0) {
      json_number(out, cli_v_name(sys, i, text, sizeof text), scene->atol_v[i]);
    }
  }
  json_close(out, '}');
  json_open(out, "searches", '{');
  json_integer(out, "proven", tally->proven);
  json_integer(out, "sampled", tally->sampled);
  json_close(out, '}');
  json_integer(out, "dry_events", tally->dry_events);
  json_open(out, "methods", '{');
  for (int i = 0; i < SALTUS_METHODS_MAX && tally->methods[i] != NULL; i++) {
    json_integer(out, tally->methods[i], tally->method_steps[i]);
  }
  json_close(out, '}');
  json_open(out, "limits", '{');
  for (int i = SALTUS_LIMIT_POSITION; i < SALTUS_LIMITS; i++) {
    json_integer(out, saltus_step_limit_name((saltus_step_limit)i), tally->limits[i]);
  }
  json_close(out, '}');
  json_number(out, "h_least", tally->h_least);
  json_number(out, "h_most", tally->h_most);
}
