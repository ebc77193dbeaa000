/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit_report.c - profiles and samples of a fit, and its page: the text, errors of the experiments, profiles.
 */
#include "figure/figure.h"
#include "files.h"
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

void cli_fit_percentiles(const cli_fit_results* r, int parameter, double* low, double* high) {
  const int p = saltus_fit_get_view(r->fit)->parameters;
  double* x = calloc((size_t)r->sample_count + 1, sizeof *x);
  *low = *high = (double)NAN;
  for (int i = 0; x != NULL && i < r->sample_count; i++) {
    x[i] = r->samples[i * p + parameter];
  }
  if (x != NULL && r->sample_count > 0) {
    qsort(x, (size_t)r->sample_count, sizeof *x, by_value);
    *low = x[(int)(0.025 * (r->sample_count - 1) + 0.5)];
    *high = x[(int)(0.975 * (r->sample_count - 1) + 0.5)];
  }
  free(x);
}

/* ---- profiles ---- */

/* Where the profile crosses its threshold, from the value of the fit in steps of `step` points. */
static double crossing(const cli_profile* f, double value, int step) {
  double before = value, root = 0.0;
  for (int i = step > 0 ? 0 : f->count - 1; i >= 0 && i < f->count; i += step) {
    const double next = sqrt(fmax(f->loss[i], 0.0));
    if ((f->at[i] - value) * step <= 0.0) {
      continue;
    }
    if (next >= sqrt(f->threshold)) {
      return before + (f->at[i] - before) * (sqrt(f->threshold) - root) / (next - root);
    }
    before = f->at[i];
    root = next;
  }
  return step > 0 ? INFINITY : -INFINITY;
}

/* Twice the width of the 95 % interval, or the bounds where there is none. */
static void place_points(const saltus_fit_view* v, cli_profile* f) {
  const int k = f->parameter, last = CLI_PROFILE_POINTS - 1;
  const double half = v->factor * sqrt(v->covariance[k * v->parameters + k]);
  const bool known = isfinite(half) && half > 0.0;
  for (int i = 0; i <= last; i++) {
    const double part = (double)i / last;
    const double x = known ? v->values[k] + (4.0 * part - 2.0) * half
                           : v->low[k] + part * (v->high[k] - v->low[k]);
    if (isfinite(x) && x >= v->low[k] && x <= v->high[k]) {
      f->at[f->count++] = x;
    }
  }
}

int cli_fit_profiles(cli_fit_results* r, const char* list) {
  const saltus_fit_view* v = saltus_fit_get_view(r->fit);
  for (const char* at = list; *at != '\0';) {
    const size_t length = strcspn(at, ",");
    int k = 0;
    while (k < v->parameters &&
           (strlen(v->names[k]) != length || strncmp(v->names[k], at, length) != 0)) {
      k++;
    }
    if (k == v->parameters || r->profile_count == CLI_PROFILES) {
      cli_error("--profile: \"%.*s\" is no unknown of the fit, or there are more than %d",
                (int)length, at, CLI_PROFILES);
      return CLI_USAGE;
    }
    cli_profile* f = &r->profiles[r->profile_count++];
    f->parameter = k;
    place_points(v, f);
    if (f->count == 0) {
      cli_error("--profile: %s has neither an interval nor bounds", v->names[k]);
      return CLI_FAILED;
    }
    const saltus_status status =
        saltus_fit_profile(r->fit, k, f->at, f->count, f->loss, &f->threshold);
    if (status != SALTUS_OK) {
      return cli_exit_code(status);
    }
    f->low = crossing(f, v->values[k], -1);
    f->high = crossing(f, v->values[k], 1);
    at += length + (at[length] == ',');
  }
  return CLI_DONE;
}

void cli_fit_profiles_print(const cli_fit_results* r, FILE* out) {
  const saltus_fit_view* v = saltus_fit_get_view(r->fit);
  for (int i = 0; i < r->profile_count; i++) {
    const cli_profile* f = &r->profiles[i];
    fprintf(out, "profile of %s: ", v->names[f->parameter]);
    if (!(f->threshold > 0.0)) {
      double most = 0.0;
      for (int k = 0; k < f->count; k++) {
        most = fmax(most, f->loss[k]);
      }
      fprintf(out, "not identified; the loss rises by at most %.3g between %g and %g\n", most,
              f->at[0], f->at[f->count - 1]);
    } else {
      fprintf(out, "[%.6g, %.6g], where the loss rises by %.3g\n", f->low, f->high, f->threshold);
    }
  }
}

/* ---- the page ---- */

/* The bytes of a file into the page. */
static int append_file(FILE* page, const char* path) {
  char bytes[4096];
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return CLI_FAILED;
  }
  for (size_t n = fread(bytes, 1, sizeof bytes, file); n > 0;
       n = fread(bytes, 1, sizeof bytes, file)) {
    fwrite(bytes, 1, n, page);
  }
  fclose(file);
  return CLI_DONE;
}

static int append_figure(FILE* page, const saltusi_figure* figure) {
  char folder[] = "/tmp/saltus-fit-XXXXXX", path[sizeof folder + 8];
  if (mkdtemp(folder) == NULL) {
    cli_error("/tmp: no folder can be made");
    return CLI_FAILED;
  }
  snprintf(path, sizeof path, "%s/f.svg", folder);
  int code = cli_exit_code(saltusi_figure_write(figure, path, cli_log()));
  code = code == CLI_DONE ? append_file(page, path) : code;
  (void)unlink(path);
  (void)rmdir(folder);
  fputs("\n", page);
  return code;
}

/* Errors in ascending order: at the ends of windows, of whole runs, and of runs that were held out. */
static int errors_figure(FILE* page, const cli_fit_results* r) {
  const int n = saltus_fit_get_view(r->fit)->experiments;
  double* x = calloc(4 * (size_t)n + 1, sizeof *x);
  int code = CLI_FAILED;
  if (x != NULL) {
    for (int i = 0; i < n; i++) {
      x[i] = 100.0 * (i + 0.5) / n;
      x[n + i] = r->scores[i].window_position;
      x[2 * n + i] = r->scores[i].position;
      x[3 * n + i] = r->held != NULL ? r->held[i].position : 0.0;
    }
    for (int k = 1; k < 4; k++) {
      qsort(x + (ptrdiff_t)k * n, (size_t)n, sizeof *x, by_value);
    }
    const saltusi_plot_series series[] = {
        {.label = "end of the window", .count = n, .x = x, .y = x + n},
        {.label = "all frames", .count = n, .x = x, .y = x + 2 * (ptrdiff_t)n},
        {.label = "all frames, held out", .count = n, .x = x, .y = x + 3 * (ptrdiff_t)n}};
    const saltusi_panel panel = {
        .y_label = "error", .series_count = r->held != NULL ? 3 : 2, .series = series};
    const saltusi_figure figure = {.title = "Errors of the experiments",
                                   .x_label = "part of the experiments [%]",
                                   .panel_count = 1,
                                   .panels = &panel};
    code = append_figure(page, &figure);
  }
  free(x);
  return code;
}

static int profile_figure(FILE* page, const cli_fit_results* r, const cli_profile* f) {
  const double ends[2] = {f->at[0], f->at[f->count - 1]}, level[2] = {f->threshold, f->threshold};
  const saltusi_plot_series series[] = {
      {.label = "profile",
       .kind = SALTUSI_SERIES_MARKERS,
       .count = f->count,
       .x = f->at,
       .y = f->loss},
      {.label = "95 %", .count = 2, .x = ends, .y = level, .dashed = true}};
  const saltusi_panel panel = {
      .y_label = "loss above the least", .series_count = 2, .series = series};
  const saltusi_figure figure = {.title = "Profile of the loss",
                                 .x_label = saltus_fit_get_view(r->fit)->names[f->parameter],
                                 .panel_count = 1,
                                 .panels = &panel};
  return append_figure(page, &figure);
}

int cli_fit_page(const cli_fit_results* r, const char* text, const char* path) {
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code != CLI_DONE) {
    return code;
  }
  fputs(
      "<!doctype html><!-- saltus report --><html lang=\"en\"><meta charset=\"utf-8\">"
      "<title>saltus fit</title><style>body{max-width:60em;margin:2em auto;font-family:sans-serif}"
      "pre{overflow-x:auto}</style><h1>Fit</h1>\n<pre>",
      out.file);
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '<' || *c == '&') {
      fputs(*c == '<' ? "&lt;" : "&amp;", out.file);
    } else {
      fputc(*c, out.file);
    }
  }
  fputs("</pre>\n", out.file);
  code = errors_figure(out.file, r);
  for (int i = 0; i < r->profile_count && code == CLI_DONE; i++) {
    code = profile_figure(out.file, r, &r->profiles[i]);
  }
  fputs("</html>\n", out.file);
  const int closed = cli_file_close(&out, code == CLI_DONE);
  return code == CLI_DONE ? closed : code;
}
