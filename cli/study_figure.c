/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * study_figure.c - a study's errors as a figure, over the step or over the work. Few series: a panel
 * for positions and one for velocities. Many series: a panel of positions for each problem, in which
 * a method keeps its colour.
 */
#include "figure/figure.h"
#include "study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 8, COLOURS = 8, LABEL = 128 };

typedef struct drawing {
  const study_report* report;
  double* x;                   /* [rows] step or work */
  double* e_q;                 /* [rows] */
  double* e_v;                 /* [rows] */
  saltusi_plot_series* series; /* [2 x series_count] */
  char panel_names[SALTUSI_FIGURE_PANELS_MAX][LABEL];
  char y_labels[SALTUSI_FIGURE_PANELS_MAX][2 * LABEL];
  int panel_count;
} drawing;

static saltusi_plot_series line_of(const drawing* d, int s, const double* y, const char* label,
                                   int colour) {
  const study_series* from = &d->report->series[s];
  return (saltusi_plot_series){.label = label,
                               .kind = SALTUSI_SERIES_MARKERS,
                               .count = from->count,
                               .x = d->x + from->first,
                               .y = y + from->first,
                               .colour = (saltusi_colour)(1 + colour % COLOURS)};
}

/* The distinct problems or schemes of the rows: their number, and the first few in `text`. */
static int list_different(const study_report* report, bool schemes, char* text, size_t bytes) {
  enum { NAMED = 4 };
  int count = 0;
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < report->row_count; i++) {
    const char* name = schemes ? report->rows[i].scheme : report->rows[i].problem;
    bool seen = false;
    for (int k = 0; k < i && !seen; k++) {
      seen = strcmp(name, schemes ? report->rows[k].scheme : report->rows[k].problem) == 0;
    }
    if (!seen && count++ < NAMED && used < bytes) {
      int added = snprintf(text + used, bytes - used, "%s%s", count > 1 ? ", " : "", name);
      used += added > 0 ? (size_t)added : 0;
    }
  }
  if (count > NAMED && used < bytes) {
    snprintf(text + used, bytes - used, " and %d more", count - NAMED);
  }
  return count;
}

/* Scheme and scene, if one line suffices; else the name of the study. */
static void title_of(const study_report* report, char* text, size_t bytes) {
  char problems[256];
  char schemes[256];
  int problem_count = list_different(report, false, problems, sizeof problems);
  int scheme_count = list_different(report, true, schemes, sizeof schemes);
  bool reported =
      schemes[0] != '\0' && problem_count <= 8 && (problem_count == 1 || scheme_count == 1);
  if (report->series_count == 1) {
    snprintf(text, bytes, "%s", report->series[0].label);
  } else if (reported) {
    snprintf(text, bytes, "%s: %s", problems, schemes);
  } else {
    snprintf(text, bytes, "%s", report->study);
  }
}

static int write_figure(const drawing* d, saltusi_panel* panels, int count, double height,
                        const char* path) {
  bool work = d->report->over_work;
  char title[600];
  char subtitle[400];
  title_of(d->report, title, sizeof title);
  snprintf(subtitle, sizeof subtitle, "study %s; %.300s", d->report->study, d->report->source);
  const saltusi_figure figure = {.title = title,
                                 .subtitle = subtitle,
                                 .x_label = d->report->x_label != NULL ? d->report->x_label
                                            : !work                    ? "step h [s]"
                                            : d->report->over_forces   ? "work: force evaluations"
                                                                       : "work: steps attempted",
                                 .log_x = true,
                                 .panel_count = count,
                                 .panels = panels,
                                 .height_cm = height};
  return cli_exit_code(saltusi_figure_write(&figure, path, cli_log()));
}

static int draw_few(drawing* d, const char* path) {
  int n = d->report->series_count;
  for (int s = 0; s < n; s++) {
    d->series[s] = line_of(d, s, d->e_q, d->report->series[s].label, s);
    d->series[n + s] = line_of(d, s, d->e_v, NULL, s);
  }
  const saltusi_slope one = {.order = d->report->over_work ? -1.0 : 1.0};
  const char* first = d->report->first_label;
  const char* second = d->report->second_label;
  saltusi_panel panels[2] = {{.y_label = first != NULL ? first : "position error, L_{1}",
                              .log_y = true,
                              .series_count = n,
                              .series = d->series,
                              .slope_count = 1,
                              .slopes = &one},
                             {.y_label = second != NULL ? second : "velocity error, L_{1}",
                              .log_y = true,
                              .series_count = n,
                              .series = d->series + n}};
  int count = d->report->one_number ? 1 : 2;
  return write_figure(d, panels, count, (count == 1 ? 8.0 : 14.0) + 0.5 * n, path);
}

/* Labels read "PROBLEM to T s, METHOD": the part before the comma, and the part behind it. */
static const char* method_of(const study_series* series) {
  const char* comma = strstr(series->label, ", ");
  return comma != NULL ? comma + 2 : series->label;
}

static void problem_of(const study_series* series, char* text) {
  const char* comma = strstr(series->label, ", ");
  snprintf(text, LABEL, "%.*s", comma != NULL ? (int)(comma - series->label) : 0, series->label);
}

/* The panel of a problem, new when there is none; -1 when there are too many. */
static int panel_of(drawing* d, const study_series* series) {
  char name[LABEL];
  problem_of(series, name);
  for (int k = 0; k < d->panel_count; k++) {
    if (strcmp(d->panel_names[k], name) == 0) {
      return k;
    }
  }
  if (d->panel_count == SALTUSI_FIGURE_PANELS_MAX) {
    return -1;
  }
  int k = d->panel_count++;
  memcpy(d->panel_names[k], name, sizeof name);
  const char* what = d->report->first_label != NULL ? d->report->first_label : "q L_{1}";
  bool named = d->report->named;
  snprintf(d->y_labels[k], sizeof d->y_labels[k], "%s%s%s", named ? "" : what, named ? "" : ", ",
           name);
  return k;
}

/* Index of a method among all; *first is true at its first appearance. */
static int colour_of(const study_report* report, int s, bool* first) {
  int colour = 0;
  for (int k = 0; k < s; k++) {
    bool seen = false;
    for (int j = 0; j < k; j++) {
      seen = seen || strcmp(method_of(&report->series[j]), method_of(&report->series[k])) == 0;
    }
    if (strcmp(method_of(&report->series[k]), method_of(&report->series[s])) == 0) {
      *first = false;
      return colour;
    }
    colour += !seen;
  }
  *first = true;
  return colour;
}

static int draw_many(drawing* d, const char* path) {
  const study_report* report = d->report;
  saltusi_panel panels[SALTUSI_FIGURE_PANELS_MAX] = {{.y_label = NULL}};
  int at = 0;
  /* panel by panel, so that the series of each are contiguous */
  for (int s = 0; s < report->series_count; s++) {
    panel_of(d, &report->series[s]);
  }
  for (int k = 0; k < d->panel_count; k++) {
    panels[k] = (saltusi_panel){.y_label = d->y_labels[k], .log_y = true, .series = d->series + at};
    for (int s = 0; s < report->series_count; s++) {
      if (panel_of(d, &report->series[s]) == k) {
        bool first;
        int colour = colour_of(report, s, &first);
        const char* label = first ? method_of(&report->series[s]) : NULL;
        d->series[at++] = line_of(d, s, d->e_q, label, colour);
        panels[k].series_count++;
      }
    }
  }
  return write_figure(d, panels, d->panel_count, 4.0 + 5.5 * d->panel_count, path);
}

int study_draw(const study_report* report, const char* path) {
  size_t rows = (size_t)report->row_count + 1;
  drawing* d = calloc(1, sizeof *d);
  int code = CLI_FAILED;
  if (d == NULL) {
    cli_error("no memory");
    return code;
  }
  d->report = report;
  d->x = calloc(rows, sizeof(double));
  d->e_q = calloc(rows, sizeof(double));
  d->e_v = calloc(rows, sizeof(double));
  d->series = calloc(2 * (size_t)report->series_count + 1, sizeof *d->series);
  if (d->x != NULL && d->e_q != NULL && d->e_v != NULL && d->series != NULL) {
    for (int i = 0; i < report->row_count; i++) {
      d->x[i] =
          report->over_work ? (double)study_work(report, &report->rows[i]) : report->rows[i].h;
      d->e_q[i] = report->rows[i].error.q.l1;
      d->e_v[i] = report->rows[i].error.v.l1;
    }
    bool few = report->series_count <= FEW && !report->named;
    code = few ? draw_few(d, path) : draw_many(d, path);
  } else {
    cli_error("no memory");
  }
  free(d->x);
  free(d->e_q);
  free(d->e_v);
  free(d->series);
  free(d);
  return code;
}
