/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity.c - see sensitivity.h.
 */
#include "sensitivity.h"

#include "output.h"
#include "progress.h"
#include "saltus/sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS_SHOWN = 12 };

static void print_events(const saltus_sensitivity_view* v, const cli_model* model, int count) {
  const saltus_system* sys = model->view.system;
  const saltus_observables* o = model->view.observables;
  char line[96];
  long long shown = 0;
  for (long long i = 0; i < v->event_count; i++) {
    const saltus_sensitive_event* e = &v->events[i];
    if (v->event_count > 2 * EVENTS_SHOWN && i >= EVENTS_SHOWN &&
        i < v->event_count - EVENTS_SHOWN) {
      if (shown++ == 0) {
        printf("  ... %lld more\n", v->event_count - 2 * EVENTS_SHOWN);
      }
      continue;
    }
    const bool own = saltus_event_is_user_defined(e->event.kind);
    const char* name = own ? o->event_names[e->event.contact] : sys->laws[e->event.law].name;
    char features[96] = "";
    if (!own && sys->ops->contact_text != NULL) {
      sys->ops->contact_text(sys->self, e->event.identity, features, sizeof features);
    }
    name = features[0] != '\0' ? features : name;
    printf("  %-13s %-16s t = %-18.12g dt:", saltus_event_kind_name(e->event.kind),
           name != NULL ? cli_one_line(name, line, sizeof line) : "", e->event.t);
    for (int j = 0; j < count; j++) {
      printf(" %.10g", e->dt[j]);
    }
    printf("%s\n", e->derivative == SALTUS_DERIVATIVE_GRAZING ? "  (grazing: not bounded)"
                   : e->derivative == SALTUS_DERIVATIVE_SIMULTANEOUS
                       ? "  (simultaneous: depends on the order)"
                       : "");
  }
}

/* [(2 + directions) x outputs] values, times, derivatives */
static void print_extremes(const saltus_sensitivity_view* v, const char* word,
                           const double* extremes, const saltus_label* labels, int count) {
  char line[96];
  const int m = v->output_count;
  for (int i = 0; i < m && extremes != NULL; i++) {
    printf("  d %s(%s):", word, cli_one_line(labels[i].name, line, sizeof line));
    for (int j = 0; j < count; j++) {
      printf(" %.12g", extremes[(2 + j) * m + i]);
    }
    printf("   (%.12g at t = %.9g s)\n", extremes[i], extremes[m + i]);
  }
}

static void print_all(const saltus_sensitivity_view* v, const cli_model* model,
                      const char* const* names, int count) {
  char line[96];
  const saltus_system* sys = model->view.system;
  const saltus_observables* o = model->view.observables;
  const saltus_label* labels = o != NULL ? o->output_labels : NULL;
  const int nq = sys->dims.nq, nv = sys->dims.nv;
  printf("Sensitivities at t = %.12g s, with respect to:", v->t);
  for (int j = 0; j < count; j++) {
    printf(" %s", names[j]);
  }
  printf("\n");
  for (int i = 0; i < nq + nv; i++) {
    const char* name = i < nq ? sys->q_labels[i].name : sys->v_labels[i - nq].name;
    printf("  d %s:", cli_one_line(name, line, sizeof line));
    for (int j = 0; j < count; j++) {
      printf(" %.12g", i < nq ? v->dq[j * nq + i] : v->dv[j * nv + i - nq]);
    }
    printf("\n");
  }
  for (int i = 0; i < v->output_count; i++) {
    printf("  d %s:", cli_one_line(labels[i].name, line, sizeof line));
    for (int j = 0; j < count; j++) {
      printf(" %.12g", v->doutputs[j * v->output_count + i]);
    }
    printf("\n");
  }
  for (int i = 0; i < v->output_count && v->integrals != NULL; i++) {
    printf("  d integral(%s):", cli_one_line(labels[i].name, line, sizeof line));
    for (int j = 0; j < count; j++) {
      printf(" %.12g", v->integrals[(j + 1) * v->output_count + i]);
    }
    printf("\n");
  }
  print_extremes(v, "max", v->highest, labels, count);
  print_extremes(v, "min", v->lowest, labels, count);
  if (v->event_count > 0) {
    printf("Events and derivatives of their times:\n");
    print_events(v, model, count);
  }
  if (v->derivative == SALTUS_DERIVATIVE_GRAZING) {
    printf("An impact at t = %.12g s has no approach: derivatives after it are not bounded.\n",
           v->derivative_t);
  } else if (v->derivative == SALTUS_DERIVATIVE_SIMULTANEOUS) {
    printf("Several events are simultaneous at t = %.12g s: derivatives after it depend on their "
           "order.\n",
           v->derivative_t);
  } else if (v->derivative == SALTUS_DERIVATIVE_LIMIT) {
    printf("Derivatives are limits through an accumulation of impacts.\n");
  }
}

int cli_sensitivity(const cli_args* args, const cli_model* model, double until, double tol) {
  const char* names[CLI_MOST];
  int count = 0;
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, "--sensitivity") == 0) {
      names[count++] = args->given[i].value;
    }
  }
  if (count == 0) {
    return CLI_DONE;
  }
  if (model->scene == NULL) {
    cli_error("run: --sensitivity is for scene files");
    return CLI_USAGE;
  }
  saltus_scene_directions* directions = NULL;
  saltus_sensitivity* s = NULL;
  int code = cli_exit_code(
      saltus_scene_directions_create(model->scene, names, count, cli_log(), &directions));
  if (code == CLI_DONE) {
    saltus_sensitivity_def def = saltus_sensitivity_def_default();
    def.system = model->view.system;
    def.t0 = model->view.start;
    def.q0 = model->view.q0;
    def.v0 = model->view.v0;
    def.until = until;
    def.tol = fmin(tol > 0.0 ? tol : 1e-11, 1e-9);
    def.directions = saltus_scene_directions_get_view(directions);
    def.direction_count = count;
    def.observables = model->view.observables;
    def.changes = model->view.input_changes;
    def.cancel = cli_signals_hold();
    def.log = cli_log();
    code = cli_exit_code(saltus_sensitivity_create(&def, &s));
    cli_signals_release();
  }
  if (code == CLI_DONE) {
    print_all(saltus_sensitivity_get_view(s), model, names, count);
  }
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  return code;
}
