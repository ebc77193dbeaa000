/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * map.c - saltus map: a Poincare section of a motion over a parameter (bifurcation diagram). In the
 * sweeps up and down each value starts at the end state of the one before, so that coexisting
 * branches are both found.
 */
#include "files.h"
#include "orbit.h"

#include "figure/figure.h"
#include "output.h"
#include "progress.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct map_job {
  const cli_args* args;
  cli_model model;
  orbit_section section;
  orbit_axis axis;
  long long skip, points;
  int nq, nv;
  double *q, *v; /* where the next run starts */
  /* rows that were kept */
  double* values; /* [count x (2 + nq + nv)] */
  size_t count, room;
  /* of the present run */
  double parameter;
  long long seen;
  double start;
  bool started;      /* q, v and start have values */
  bool failed;       /* no memory */
  long long missing; /* values without points */
} map_job;

static bool enough(const map_job* j) {
  return j->seen >= j->skip + j->points;
}

static bool keep(void* user, double t, const double* q, const double* v) {
  map_job* j = user;
  if (j->seen++ < j->skip) {
    return true;
  }
  const size_t width = 2U + (size_t)j->nq + (size_t)j->nv;
  if (j->count == j->room) {
    const size_t room = j->room > 0 ? 2 * j->room : 1024;
    double* values = realloc(j->values, room * width * sizeof(double));
    if (values == NULL) {
      cli_error("no memory");
      j->failed = true;
      return false;
    }
    j->values = values;
    j->room = room;
  }
  double* row = j->values + j->count++ * width;
  row[0] = j->parameter;
  row[1] = t;
  memcpy(row + 2, q, (size_t)j->nq * sizeof(double));
  memcpy(row + 2 + j->nq, v, (size_t)j->nv * sizeof(double));
  return !enough(j);
}

/* Consecutive motions: each starts at the end of the one before. */
static int run_one(map_job* j) {
  saltus_scene* scene = NULL;
  int code = orbit_scene(&j->model, &j->axis, j->parameter, &j->section, &scene);
  if (code == CLI_DONE && !j->started) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    memcpy(j->q, view->q0, (size_t)j->nq * sizeof(double));
    memcpy(j->v, view->v0, (size_t)j->nv * sizeof(double));
    j->start = view->start;
    j->started = true;
  }
  orbit_visits visits = {.who = "map",
                         .section = &j->section,
                         .t0 = j->start,
                         .from = j->start,
                         .tol = 1e-9,
                         .q = j->q,
                         .v = j->v,
                         .take = keep,
                         .user = j};
  code = code == CLI_DONE ? cli_number(j->args, "--tol", 1e-13, 1e-1, &visits.tol) : code;
  double reached = j->start;
  j->seen = 0;
  if (code == CLI_DONE) {
    visits.cancel = cli_signals_hold();
    code = orbit_visit(&visits, saltus_scene_get_view(scene), &reached);
    cli_signals_release();
  }
  /* the phase of a forced motion is continued by whole periods */
  j->start = j->section.period > 0.0 ? j->start : reached;
  saltus_scene_destroy(scene);
  return j->failed ? CLI_FAILED : code;
}

static int write_csv(const map_job* j, const char* path) {
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code != CLI_DONE) {
    return code;
  }
  FILE* file = out.file;
  const saltus_system* sys = j->model.view.system;
  fprintf(file, "%s,t", j->axis.count > 0 ? j->axis.name : "number");
  for (int i = 0; i < j->nq; i++) {
    fprintf(file, ",%s", sys->q_labels[i].name);
  }
  for (int i = 0; i < j->nv; i++) {
    fprintf(file, ",%s", sys->v_labels[i].name);
  }
  fprintf(file, "\n");
  const size_t width = 2U + (size_t)j->nq + (size_t)j->nv;
  for (size_t r = 0; r < j->count; r++) {
    const double* row = j->values + r * width;
    fprintf(file, "%.17g", j->axis.count > 0 ? row[0] : (double)r);
    for (size_t k = 1; k < width; k++) {
      fprintf(file, ",%.17g", row[k]);
    }
    fprintf(file, "\n");
  }
  return cli_file_close(&out, true);
}

/* The coordinate or velocity that --show names; the first velocity otherwise. */
static int shown_column(const map_job* j, const char** label) {
  const saltus_system* sys = j->model.view.system;
  const char* name = cli_value(j->args, "--show");
  for (int i = 0; i < j->nq + j->nv; i++) {
    const char* own = i < j->nq ? sys->q_labels[i].name : sys->v_labels[i - j->nq].name;
    if (name == NULL ? i == j->nq : strcmp(own, name) == 0) {
      *label = own;
      return 2 + i;
    }
  }
  cli_error("map: --show: the scene has neither coordinate nor velocity \"%s\"", name);
  return -1;
}

static int write_figure(const map_job* j, const char* path, size_t up) {
  const char* label = NULL;
  const int column = shown_column(j, &label);
  const size_t width = 2U + (size_t)j->nq + (size_t)j->nv;
  if (column < 0) {
    return CLI_USAGE;
  }
  double* room = malloc((2 * j->count + 2) * sizeof(double));
  if (room == NULL) {
    cli_error("no memory");
    return CLI_FAILED;
  }
  for (size_t r = 0; r < j->count; r++) {
    room[r] = j->axis.count > 0 ? j->values[r * width] : (double)r;
    room[j->count + r] = j->values[r * width + (size_t)column];
  }
  const saltusi_plot_series series[2] = {{.label = up < j->count ? "rising" : NULL,
                                          .kind = SALTUSI_SERIES_DOTS,
                                          .count = (int)up,
                                          .x = room,
                                          .y = room + j->count},
                                         {.label = "falling",
                                          .kind = SALTUSI_SERIES_DOTS,
                                          .count = (int)(j->count - up),
                                          .x = room + up,
                                          .y = room + j->count + up}};
  const saltusi_panel panel = {
      .y_label = label, .series_count = up < j->count ? 2 : 1, .series = series};
  char text[160];
  snprintf(text, sizeof text, "%zu points, %lld at each value after %lld", j->count, j->points,
           j->skip);
  const saltusi_figure figure = {.title = j->model.name,
                                 .subtitle = text,
                                 .x_label = j->axis.count > 0 ? j->axis.name : "number",
                                 .panel_count = 1,
                                 .panels = &panel};
  const saltus_status status = saltusi_figure_write(&figure, path, cli_log());
  free(room);
  return cli_exit_code(status);
}

static void print_rows(const map_job* j) {
  const saltus_system* sys = j->model.view.system;
  const size_t width = 2U + (size_t)j->nq + (size_t)j->nv;
  printf("%-14s %-14s", j->axis.count > 0 ? j->axis.name : "", "t");
  for (int i = 0; i < j->nq + j->nv; i++) {
    printf(" %-14s", i < j->nq ? sys->q_labels[i].name : sys->v_labels[i - j->nq].name);
  }
  printf("\n");
  for (size_t r = 0; r < j->count; r++) {
    for (size_t k = 0; k < width; k++) {
      if (k == 0 && j->axis.count == 0) {
        printf("%-14zu ", r);
      } else {
        printf("%-14.9g ", j->values[r * width + k]);
      }
    }
    printf("\n");
  }
}

static int run_all(map_job* j, size_t* up) {
  const int passes = j->axis.count > 0 && cli_has(j->args, "--both") ? 2 : 1;
  int code = CLI_DONE;
  for (int pass = 0; pass < passes && code == CLI_DONE; pass++) {
    const int count = j->axis.count > 0 ? j->axis.count : 1;
    for (int i = 0; i < count && code == CLI_DONE; i++) {
      j->parameter =
          j->axis.count > 0 ? orbit_axis_at(&j->axis, pass == 0 ? i : count - 1 - i) : NAN;
      const size_t before = j->count;
      code = run_one(j);
      if (code == CLI_FAILED && !j->failed && cli_signals_caught() == 0) {
        j->missing++;
        code = CLI_DONE;
      }
      if (j->missing > 0 && j->axis.count > 0 && code == CLI_DONE && !enough(j)) {
        cli_error("map: %zu of %lld points at %s = %.9g; continues with the next value",
                  j->count - before, j->points, j->axis.name, j->parameter);
      }
    }
    *up = pass == 0 ? j->count : *up;
  }
  return code;
}

int cli_map(const cli_args* args) {
  map_job j = {.args = args, .skip = 100, .points = 100};
  int code = cli_model_open(args, args->positional[0], &j.model);
  if (code != CLI_DONE) {
    return code;
  }
  double skip = 100.0, points = 100.0;
  size_t up = 0;
  const char* figure = cli_value(args, "--figure");
  if (j.model.scene == NULL) {
    cli_error("map: \"%s\" is a reference problem; maps are of scene files", args->positional[0]);
    code = CLI_USAGE;
  }
  code = code == CLI_DONE ? orbit_section_read(args, &j.model, &j.section) : code;
  code = code == CLI_DONE ? orbit_axis_read(args, "--over", &j.axis) : code;
  code = code == CLI_DONE ? cli_number(args, "--skip", 0.0, 1e9, &skip) : code;
  code = code == CLI_DONE ? cli_number(args, "--points", 1.0, 1e7, &points) : code;
  if (code == CLI_DONE && figure != NULL) {
    code = cli_exit_code(saltusi_figure_path_check(figure, cli_log()));
  }
  if (code == CLI_DONE && j.axis.count > 0 && j.model.view.observables != NULL &&
      j.model.view.observables->switching != NULL) {
    cli_error("map: --over: events of this scene switch inputs, which are not passed on to the "
              "next value; give one value by --set");
    code = CLI_USAGE;
  }
  if (code == CLI_DONE && j.axis.count > 0 && cli_bonds(j.model.view.system)) {
    cli_error("map: --over: contacts of this scene have bonds (adhesion), and a broken bond is not "
              "passed on to the next value; give one value by --set");
    code = CLI_USAGE;
  }
  if (code == CLI_DONE) {
    const saltus_dims* d = &j.model.view.system->dims;
    j.skip = (long long)skip;
    j.points = (long long)points;
    j.nq = d->nq;
    j.nv = d->nv;
    j.q = malloc(((size_t)d->nq + 1) * sizeof(double));
    j.v = malloc(((size_t)d->nv + 1) * sizeof(double));
    code = j.q != NULL && j.v != NULL ? CLI_DONE : CLI_FAILED;
  }
  if (code == CLI_DONE) {
    code = run_all(&j, &up);
  }
  const char* path = cli_value(args, "-o");
  if (code == CLI_DONE && path != NULL) {
    code = write_csv(&j, path);
  } else if (code == CLI_DONE && figure == NULL) {
    print_rows(&j);
  }
  if (code == CLI_DONE && figure != NULL) {
    code = write_figure(&j, figure, up);
  }
  if (code == CLI_DONE && j.missing > 0) {
    if (j.axis.count > 0) {
      cli_error("map: %lld value%s of %s without all points", j.missing, cli_plural(j.missing),
                j.axis.name);
    }
    code = CLI_FAILED;
  }
  free(j.q);
  free(j.v);
  free(j.values);
  cli_model_close(&j.model);
  return code;
}
