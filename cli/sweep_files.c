/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep_files.c - a finished table as CSV, HDF5, figure and summary. Rows are read block by block, so that memory does not grow
 * with them; only quantiles of a summary and figures store columns, up to the number of runs defined here.
 */
#include "figure/figure.h"
#include "files.h"
#include "io/wide_table.h"
#include "json.h"
#include "output.h"
#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ = 1024, QUANTILES_MOST = 1000000, FAILURES_SHOWN = 5 };

static bool ends(const char* path, const char* ending) {
  const size_t length = strlen(path), own = strlen(ending);
  return length > own && strcmp(path + length - own, ending) == 0;
}

int sweep_files_check(const cli_args* args) {
  for (int i = 0; i < args->given_count; i++) {
    const char* name = args->given[i].option->name;
    const char* value = args->given[i].value;
    if (strcmp(name, "--figure") == 0 && saltusi_figure_path_check(value, cli_log()) != SALTUS_OK) {
      return CLI_USAGE;
    }
    if (strcmp(name, "-o") == 0 && !ends(value, ".h5") && !ends(value, ".csv") &&
        !ends(value, ".runs")) {
      cli_error("%s: -o is \"%s\", must end in .h5, .csv or .runs", args->command->name, value);
      return CLI_USAGE;
    }
    if (strcmp(name, "-o") == 0 && !ends(value, ".runs") && /* a table of runs is completed */
        cli_output_check(args, value) != CLI_DONE) {
      return CLI_USAGE;
    }
  }
  return CLI_DONE;
}

char* sweep_table_path(const cli_args* args) {
  const char* first = NULL;
  for (int i = 0; i < args->given_count; i++) {
    const char* value = args->given[i].value;
    if (strcmp(args->given[i].option->name, "-o") == 0) {
      if (ends(value, ".runs")) {
        return strdup(value);
      }
      first = first != NULL ? first : value;
    }
  }
  if (first == NULL) {
    return NULL;
  }
  char* path = malloc(strlen(first) + 6);
  if (path != NULL) {
    snprintf(path, strlen(first) + 6, "%s.runs", first);
  }
  return path;
}

/* ---- CSV and HDF5 ---- */

/* Rows of a table one block after the other. */
typedef struct reader {
  saltus_sweep_table* table;
  const saltus_sweep_head* head;
  sweep_block block;
  long long next;
} reader;

static bool reader_open(reader* r, saltus_sweep_table* table) {
  *r = (reader){.table = table, .head = saltus_sweep_table_head(table)};
  return sweep_block_make(&r->block, READ, r->head->axes + r->head->measures);
}

/* Number of rows; 0 at the end, -1 after a failure. Missing rows are included. */
static int reader_next(reader* r) {
  const long long left = saltus_sweep_table_held(r->table) - r->next;
  const int count = left < READ ? (int)left : READ;
  for (int i = 0; i < count; i++) {
    r->block.runs[i] = r->next + i;
  }
  if (count > 0 && saltus_sweep_table_read(r->table, r->next, count, &r->block.rows) != SALTUS_OK) {
    return -1;
  }
  r->next += count;
  return count;
}

/* A text as one field of CSV. */
static void put_field(FILE* file, const char* text) {
  fputc('"', file);
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '"') {
      fputc('"', file);
    }
    fputc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
  }
  fputc('"', file);
}

static void put_row(FILE* file, const reader* r, int i) {
  const int columns = r->head->axes + r->head->measures;
  fprintf(file, "%lld", r->block.runs[i]);
  for (int k = 0; k < columns; k++) {
    const double value = r->block.rows.values[(size_t)i * (size_t)columns + (size_t)k];
    if (isnan(value)) {
      fprintf(file, ",nan"); /* whatever its sign */
    } else {
      fprintf(file, ",%.17g", value);
    }
  }
  fprintf(file, ",%d,", r->block.rows.statuses[i]);
  put_field(file, r->block.rows.reasons[i]);
  fputc('\n', file);
}

static int write_csv(saltus_sweep_table* table, const char* path) {
  reader r;
  saltusi_replacement out;
  if (!reader_open(&r, table)) {
    return CLI_FAILED;
  }
  int code = cli_file_open(&out, path);
  if (code == CLI_DONE) {
    FILE* file = out.file;
    fprintf(file, "run");
    for (int k = 0; k < r.head->axes + r.head->measures; k++) {
      fputc(',', file);
      put_field(file, r.head->columns[k]);
    }
    fprintf(file, ",status,reason\n");
    int count;
    while ((count = reader_next(&r)) > 0) {
      for (int i = 0; i < count; i++) {
        if (r.block.rows.done[i]) {
          put_row(file, &r, i);
        }
      }
    }
    code = cli_file_close(&out, count == 0);
  }
  sweep_block_free(&r.block);
  return code;
}

static int next_block(void* user, const saltusi_wide_block* block) {
  reader* r = user;
  const size_t columns = (size_t)r->head->axes + (size_t)r->head->measures;
  int filled = 0;
  while (filled == 0 || filled + READ <= SALTUSI_WIDE_BLOCK) {
    const int count = reader_next(r);
    if (count <= 0) {
      return count < 0 ? -1 : filled;
    }
    for (int i = 0; i < count; i++) {
      if (!r->block.rows.done[i]) {
        continue;
      }
      block->numbers[filled] = r->block.runs[i];
      block->statuses[filled] = r->block.rows.statuses[i];
      memcpy(block->values + (size_t)filled * columns, r->block.rows.values + (size_t)i * columns,
             columns * sizeof(double));
      memcpy(block->reasons + (size_t)filled * SALTUS_SWEEP_REASON, r->block.rows.reasons[i],
             SALTUS_SWEEP_REASON);
      filled++;
    }
  }
  return filled;
}

static int write_h5(saltus_sweep_table* table, const char* path) {
  reader r;
  if (!reader_open(&r, table)) {
    return CLI_FAILED;
  }
  const saltusi_wide_table wide = {.path = path,
                                   .columns = r.head->columns,
                                   .column_count = r.head->axes + r.head->measures,
                                   .reason_bytes = SALTUS_SWEEP_REASON,
                                   .about = r.head->about,
                                   .next = next_block,
                                   .user = &r,
                                   .log = cli_log()};
  const saltus_status status = saltusi_wide_table_write(&wide);
  sweep_block_free(&r.block);
  return cli_exit_code(status);
}

/* HDF5 writes to a name: that of the temporary file, which exists and is empty. */
static int write_h5_beside(saltus_sweep_table* table, const char* path) {
  saltusi_replacement out;
  int code = cli_file_open(&out, path);
  if (code == CLI_DONE) {
    code = write_h5(table, out.aside);
    const int closed = cli_file_close(&out, code == CLI_DONE);
    code = code == CLI_DONE ? closed : code;
  }
  return code;
}

static int write_file(saltus_sweep_table* table, const char* path) {
  return ends(path, ".csv") ? write_csv(table, path) : write_h5_beside(table, path);
}

int sweep_files_write(const cli_args* args, saltus_sweep_table* table, const char* path) {
  int code = CLI_DONE;
  bool kept = false, some = false;
  char line[512];
  for (int i = 0; i < args->given_count && code == CLI_DONE; i++) {
    const char* name = args->given[i].option->name;
    const char* value = args->given[i].value;
    if (strcmp(name, "--figure") == 0) {
      code = sweep_figure(table, value);
    } else if (strcmp(name, "-o") == 0 && ends(value, ".runs")) {
      kept = true;
    } else if (strcmp(name, "-o") == 0) {
      some = true;
      code = write_file(table, value);
    } else {
      continue;
    }
    if (code == CLI_DONE && !cli_has(args, "--json")) {
      printf("%s\n", cli_one_line(value, line, sizeof line));
    }
  }
  if (code == CLI_DONE && some && !kept) {
    (void)unlink(path);
  }
  return code;
}

/* ---- summary ---- */

typedef struct column {
  double* values; /* finite values, up to the capacity */
  long long count, kept;
  double least, most, mean, spread; /* spread: sum of squares about the mean */
} column;

static void add(column* c, double value) {
  if (!isfinite(value)) {
    return;
  }
  c->least = c->count == 0 ? value : fmin(c->least, value);
  c->most = c->count == 0 ? value : fmax(c->most, value);
  c->count++;
  const double off = value - c->mean; /* Welford's recurrence */
  c->mean += off / (double)c->count;
  c->spread += off * (value - c->mean);
  if (c->values != NULL && c->kept < QUANTILES_MOST) {
    c->values[c->kept++] = value;
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double sweep_quantile(const double* sorted, long long count, double part) {
  const double place = part * (double)(count - 1);
  const long long low = (long long)floor(place);
  const long long high = low + 1 < count ? low + 1 : low;
  return sorted[low] + (place - (double)low) * (sorted[high] - sorted[low]);
}

/* Contents of a summary. */
typedef struct outcome {
  column* columns;
  long long rows, failed;
  char reasons[FAILURES_SHOWN][SALTUS_SWEEP_REASON];
  long long first[FAILURES_SHOWN], times[FAILURES_SHOWN];
  int kinds;
} outcome;

static void see_failure(outcome* o, const reader* r, int i) {
  o->failed++;
  for (int k = 0; k < o->kinds; k++) {
    if (strcmp(o->reasons[k], r->block.rows.reasons[i]) == 0) {
      o->times[k]++;
      return;
    }
  }
  if (o->kinds < FAILURES_SHOWN) {
    memcpy(o->reasons[o->kinds], r->block.rows.reasons[i], SALTUS_SWEEP_REASON);
    o->first[o->kinds] = r->block.runs[i];
    o->times[o->kinds++] = 1;
  }
}

static int gather(reader* r, outcome* o) {
  const int axes = r->head->axes, measures = r->head->measures;
  int count;
  while ((count = reader_next(r)) > 0) {
    for (int i = 0; i < count; i++) {
      if (!r->block.rows.done[i]) {
        continue;
      }
      o->rows++;
      if (r->block.rows.statuses[i] != SALTUS_OK) {
        see_failure(o, r, i);
      }
      for (int k = 0; k < measures; k++) {
        add(&o->columns[k],
            r->block.rows.values[(size_t)i * (size_t)(axes + measures) + (size_t)(axes + k)]);
      }
    }
  }
  for (int k = 0; k < measures; k++) {
    if (o->columns[k].values != NULL) {
      qsort(o->columns[k].values, (size_t)o->columns[k].kept, sizeof(double), ascending);
    }
  }
  return count == 0 ? CLI_DONE : CLI_FAILED;
}

static double deviation(const column* c) {
  return c->count > 1 ? sqrt(c->spread / (double)(c->count - 1)) : 0.0;
}

static void print_outcome(const reader* r, const outcome* o) {
  char line[256];
  printf("%lld runs, %lld failed\n", o->rows, o->failed);
  printf("%-28s %12s %12s %12s %12s %12s %12s %12s\n", "", "least", "5 %", "median", "95 %", "most",
         "mean", "deviation");
  for (int k = 0; k < r->head->measures; k++) {
    const column* c = &o->columns[k];
    printf("%-28s", cli_one_line(r->head->columns[r->head->axes + k], line, sizeof line));
    if (c->count == 0) {
      printf(" no run has a value\n");
      continue;
    }
    printf(" %12.6g", c->least);
    for (int i = 0; i < 3; i++) {
      static const double parts[] = {0.05, 0.5, 0.95};
      if (c->kept == c->count) {
        printf(" %12.6g", sweep_quantile(c->values, c->kept, parts[i]));
      } else {
        printf(" %12s", "-");
      }
    }
    printf(" %12.6g %12.6g %12.6g", c->most, c->mean, deviation(c));
    if (c->count < o->rows) {
      printf("  (of %lld runs)", c->count);
    }
    printf("\n");
  }
  for (int k = 0; k < o->kinds; k++) {
    printf("failed %lld time%s, first in run %lld: %s\n", o->times[k], cli_plural(o->times[k]),
           o->first[k], cli_one_line(o->reasons[k], line, sizeof line));
  }
}

static void print_json(const reader* r, const outcome* o) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_integer(&j, "runs", o->rows);
  json_integer(&j, "failed", o->failed);
  json_open(&j, "measures", '[');
  for (int k = 0; k < r->head->measures; k++) {
    const column* c = &o->columns[k];
    const bool known = c->count > 0, all = known && c->kept == c->count;
    json_open(&j, NULL, '{');
    json_text(&j, "name", r->head->columns[r->head->axes + k]);
    json_integer(&j, "count", c->count);
    json_number(&j, "least", known ? c->least : NAN);
    json_number(&j, "quantile_5", all ? sweep_quantile(c->values, c->kept, 0.05) : NAN);
    json_number(&j, "median", all ? sweep_quantile(c->values, c->kept, 0.5) : NAN);
    json_number(&j, "quantile_95", all ? sweep_quantile(c->values, c->kept, 0.95) : NAN);
    json_number(&j, "most", known ? c->most : NAN);
    json_number(&j, "mean", known ? c->mean : NAN);
    json_number(&j, "deviation", known ? deviation(c) : NAN);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_open(&j, "failures", '[');
  for (int k = 0; k < o->kinds; k++) {
    json_open(&j, NULL, '{');
    json_text(&j, "reason", o->reasons[k]);
    json_integer(&j, "times", o->times[k]);
    json_integer(&j, "first_run", o->first[k]);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
  printf("\n");
}

int sweep_summary(const cli_args* args, saltus_sweep_table* table) {
  reader r;
  if (!reader_open(&r, table)) {
    return CLI_FAILED;
  }
  const int measures = r.head->measures;
  outcome o = {.columns = calloc((size_t)measures + 1, sizeof(column))};
  const long long kept = r.head->runs < QUANTILES_MOST ? r.head->runs : 0;
  for (int k = 0; k < measures && o.columns != NULL && kept > 0; k++) {
    o.columns[k].values = malloc((size_t)kept * sizeof(double));
  }
  int code = o.columns != NULL ? gather(&r, &o) : CLI_FAILED;
  if (code == CLI_DONE && cli_has(args, "--json")) {
    print_json(&r, &o);
  } else if (code == CLI_DONE) {
    print_outcome(&r, &o);
  }
  for (int k = 0; k < measures && o.columns != NULL; k++) {
    free(o.columns[k].values);
  }
  free(o.columns);
  sweep_block_free(&r.block);
  return code;
}
