/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * study_command.c - saltus study: runs a study and prints its report.
 */
#include "figure/figure.h"
#include "files.h"
#include "json.h"
#include "study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a report, in one table: JSON members, table heads, figures. */
static const struct {
  const char* name;
  size_t offset;
} norms[] = {{"inf", offsetof(saltusi_error_norms, inf)},
             {"L1", offsetof(saltusi_error_norms, l1)},
             {"L2", offsetof(saltusi_error_norms, l2)},
             {"hausdorff", offsetof(saltusi_error_norms, hausdorff)}};
enum { NORM_COUNT = sizeof norms / sizeof norms[0] };

static double norm_of(const saltusi_error_norms* e, int k) {
  double value;
  memcpy(&value, (const char*)e + norms[k].offset, sizeof value);
  return value;
}

static void json_norms(json* j, const char* name, const saltusi_error_norms* e) {
  json_open(j, name, '{');
  for (int k = 0; k < NORM_COUNT; k++) {
    json_number(j, norms[k].name, norm_of(e, k));
  }
  json_close(j, '}');
}

static void json_row(json* j, const study_row* row) {
  json_open(j, NULL, '{');
  json_text(j, "problem", row->problem);
  json_text(j, "scheme", row->scheme);
  json_text(j, "options", row->options);
  if (row->control[0] != '\0') {
    json_text(j, "control", row->control);
    json_number(j, "tol", row->tol);
    json_integer(j, "rejections", row->rejections);
  }
  if (row->amplification != 0.0) {
    json_number(j, "amplification", row->amplification);
    json_text(j, "reason", row->reason);
  }
  json_number(j, "t_end", row->t_end);
  json_integer(j, "steps", row->steps);
  json_number(j, "h", row->h);
  json_open(j, "error", '{');
  json_norms(j, "q", &row->error.q);
  json_norms(j, "v", &row->error.v);
  json_close(j, '}');
  json_open(j, "rate", '{');
  json_norms(j, "q", &row->rate.q);
  json_norms(j, "v", &row->rate.v);
  json_close(j, '}');
  json_open(j, "work", '{');
  json_integer(j, "steps", row->work.steps);
  json_integer(j, "force_evaluations", row->work.force_evaluations);
  json_integer(j, "contact_solves", row->work.contact_solves);
  json_number(j, "cpu_s", row->cpu);
  json_close(j, '}');
  json_close(j, '}');
}

static void json_claims(json* j, const study_report* report) {
  json_open(j, "claims", '[');
  for (int i = 0; i < report->claim_count; i++) {
    const study_claim* claim = &report->claims[i];
    if (!claim->only_measured) {
      json_open(j, NULL, '{');
      json_text(j, "id", claim->id);
      json_text(j, "expected", claim->expected);
      json_number(j, "accepted", claim->accepted);
      json_number(j, "least", claim->least);
      json_number(j, "most", claim->most);
      json_number(j, "measured", claim->measured);
      json_bool(j, "holds", claim->holds);
      json_bool(j, "number", claim->number);
      json_close(j, '}');
    }
  }
  json_close(j, ']');
  json_open(j, "measurements", '[');
  for (int i = 0; i < report->claim_count; i++) {
    const study_claim* claim = &report->claims[i];
    if (claim->only_measured) {
      json_open(j, NULL, '{');
      json_text(j, "id", claim->id);
      json_number(j, "measured", claim->measured);
      json_close(j, '}');
    }
  }
  json_close(j, ']');
}

static void write_json(FILE* file, const study_report* report) {
  json j = {.file = file};
  json_open(&j, NULL, '{');
  json_text(&j, "study", report->study);
  json_text(&j, "source", report->source);
  json_open(&j, "rows", '[');
  for (int i = 0; i < report->row_count; i++) {
    json_row(&j, &report->rows[i]);
  }
  json_close(&j, ']');
  json_claims(&j, report);
  json_close(&j, '}');
}

/* The same as a file; CLI_FAILED after a message. */
static int save_json(const char* path, const study_report* report) {
  saltusi_replacement out;
  if (cli_file_open(&out, path) != CLI_DONE) {
    return CLI_FAILED;
  }
  write_json(out.file, report);
  return cli_file_close(&out, true);
}

static void print_orders(const study_report* report, const study_series* series) {
  printf("%8s %11s", "order", "");
  for (int k = 0; k < 2 * NORM_COUNT; k++) {
    double h[256];
    double e[256];
    int count = 0;
    for (; count < series->count && count < 256; count++) {
      const study_row* row = &report->rows[series->first + count];
      h[count] = row->h;
      e[count] = norm_of(k < NORM_COUNT ? &row->error.q : &row->error.v, k % NORM_COUNT);
    }
    double order = saltus_slope(count, h, e);
    if (isfinite(order)) {
      printf(" %9.2f", order);
    } else {
      printf(" %9s", "-");
    }
  }
  printf("\n");
}

static void print_table(const study_report* report) {
  for (int s = 0; s < report->series_count; s++) {
    const study_series* series = &report->series[s];
    printf("\n%s\n", series->label);
    printf("%8s %11s %9s %9s %9s %9s %9s %9s %9s %9s\n", report->over_work ? "work" : "steps",
           "h [s]", "q inf", "q L1", "q L2", "q graph", "v inf", "v L1", "v L2", "v graph");
    for (int i = series->first; i < series->first + series->count; i++) {
      const study_row* row = &report->rows[i];
      printf("%8lld %11.4e", report->over_work ? study_work(report, row) : row->steps, row->h);
      for (int k = 0; k < 2 * NORM_COUNT; k++) {
        double e = norm_of(k < NORM_COUNT ? &row->error.q : &row->error.v, k % NORM_COUNT);
        if (isfinite(e)) {
          printf(" %9.3e", e);
        } else {
          printf(" %9s", "-"); /* undefined: a tabulated motion has no graph */
        }
      }
      printf("\n");
    }
    print_orders(report, series);
  }
}

static int print_claims(const study_report* report, bool quiet) {
  int broken = 0;
  int claims = 0;
  for (int i = 0; i < report->claim_count; i++) {
    const study_claim* claim = &report->claims[i];
    claims += !claim->only_measured;
    broken += !claim->holds;
    if (!quiet && claim->only_measured) {
      printf("        %-58s %12.5g  measured\n", claim->id, claim->measured);
    } else if (!quiet) {
      printf("%s  %-58s %12.5g  expected %s\n", claim->holds ? "holds " : "BROKEN", claim->id,
             claim->measured, claim->expected);
    }
  }
  if (!quiet && claims > 0) {
    printf("\n%d of %d claim%s hold%s.\n", claims - broken, claims, cli_plural(claims),
           claims == 1 ? "s" : "");
  }
  return broken;
}

static const study* find_study(const char* name) {
  const char* names[CLI_MOST];
  int count = 0;
  for (; study_at(count) != NULL && count < CLI_MOST; count++) {
    names[count] = study_at(count)->name;
    if (strcmp(names[count], name) == 0) {
      return study_at(count);
    }
  }
  char near[128];
  cli_error("study: no study \"%s\"%s; see saltus list studies", name,
            cli_near(name, names, count, near, sizeof near));
  return NULL;
}

int cli_study(const cli_args* args) {
  const study* chosen = find_study(args->positional[0]);
  const char* path = cli_value(args, "-o");
  if (chosen == NULL) {
    return CLI_USAGE;
  }
  if (chosen->takes_model != (args->positional_count == 2)) {
    cli_error(chosen->takes_model ? "study: usage: saltus study %s MODEL"
                                  : "study: %s takes no further argument",
              chosen->name);
    return CLI_USAGE;
  }
  if (path != NULL && saltusi_figure_path_check(path, cli_log()) != SALTUS_OK) {
    return CLI_USAGE;
  }
  study_report report = {.study = chosen->name, .source = chosen->source};
  int code = chosen->run(args, &report);
  if (code == CLI_DONE) {
    bool machine = cli_has(args, "--json");
    if (machine) {
      write_json(stdout, &report);
    } else if (!report.brief) {
      print_table(&report);
      printf("\n");
    }
    int broken = print_claims(&report, machine);
    if (path != NULL && report.row_count == 0 && chosen->draw == NULL) {
      cli_error("study: %s has claims but no errors to draw", chosen->name);
      code = CLI_USAGE;
    } else if (path != NULL) {
      code = chosen->draw != NULL ? chosen->draw(path) : study_draw(&report, path);
      if (code == CLI_DONE && !machine) {
        printf("Figure: %s\n", path);
      }
    }
    if (code == CLI_DONE && cli_has(args, "--report")) {
      code = save_json(cli_value(args, "--report"), &report);
    }
    code = broken > 0 ? CLI_FAILED : code;
  }
  free(report.rows);
  free(report.claims);
  free(report.costs);
  free(report.series);
  return code;
}
