/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.c - saltus sweep and saltus merge: computes a table of runs, and merges tables.
 */
#include "sweep.h"

#include "base/clock.h"
#include "model.h"
#include "output.h"
#include "progress.h"
#include "saltus/version.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows between two readings of the clock: as many as take about this long. */
static const double beat = 0.25; /* s */

enum { LEAST = 16, MOST = 1 << 16, READ = 1024, TEXTS_MOST = CLI_MOST };

bool sweep_block_make(sweep_block* block, int room, int columns) {
  *block = (sweep_block){.room = room};
  block->runs = calloc((size_t)room, sizeof *block->runs);
  block->rows.values = calloc((size_t)room * (size_t)(columns + 1), sizeof(double));
  block->rows.statuses = calloc((size_t)room, sizeof(int));
  block->rows.reasons = calloc((size_t)room, SALTUS_SWEEP_REASON);
  block->rows.done = calloc((size_t)room, sizeof(bool));
  if (block->runs == NULL || block->rows.values == NULL || block->rows.statuses == NULL ||
      block->rows.reasons == NULL || block->rows.done == NULL) {
    sweep_block_free(block);
    cli_error("no memory");
    return false;
  }
  return true;
}

void sweep_block_free(sweep_block* block) {
  free(block->runs);
  free(block->rows.values);
  free(block->rows.statuses);
  free(block->rows.reasons);
  free(block->rows.done);
  *block = (sweep_block){0};
}

/* State of a sweep in progress. */
typedef struct sweep_job {
  const cli_args* args;
  saltus_sweep* sweep;
  const saltus_sweep_view* view;
  saltus_sweep_table* table; /* NULL: kept by another rank */
  long long shard, shards;
  long long next;          /* run to check next */
  long long done, already; /* existing rows; those from before this command */
  long long all;           /* runs of this shard */
  long long failed;
  sweep_block seen; /* block of the table, to find missing runs */
  long long seen_first;
  int seen_count;
  bool shown;
  double start; /* s of the clock */
} sweep_job;

int sweep_collect(const cli_args* args, const char* name, const char** list) {
  int count = 0;
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, name) == 0 && count < TEXTS_MOST) {
      list[count++] = args->given[i].value;
    }
  }
  return count;
}

static int read_whole(const cli_args* args, const char* name, double low, double high,
                      long long* value) {
  double number = (double)*value;
  int code = cli_number(args, name, low, high, &number);
  if (code == CLI_DONE && number != floor(number)) {
    cli_error("%s: %s has to be a whole number", args->command->name, name);
    code = CLI_USAGE;
  }
  *value = (long long)number;
  return code;
}

/* --seed may be any number of 64 bits. */
int sweep_read_seed(const cli_args* args, uint64_t* seed) {
  const char* text = cli_value(args, "--seed");
  char* end = NULL;
  if (text == NULL) {
    return CLI_DONE;
  }
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || text[0] == '-') {
    cli_error("--seed is \"%s\", must be a whole number from 0 to 2^64 - 1", text);
    return CLI_USAGE;
  }
  *seed = value;
  return CLI_DONE;
}

int sweep_read_sampling(const cli_args* args, saltus_sampling* sampling) {
  static const char* const words[] = {"random", "latin", "sobol"};
  const char* text = cli_value(args, "--sampling");
  for (int i = 0; text != NULL && i < 3; i++) {
    if (strcmp(text, words[i]) == 0) {
      *sampling = (saltus_sampling)i;
      return CLI_DONE;
    }
  }
  if (text != NULL) {
    cli_error("--sampling is \"%s\"; allowed: random, latin, sobol", text);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

static int read_shard(const cli_args* args, sweep_job* j) {
  const char* text = cli_value(args, "--shard");
  j->shards = 1;
  if (text == NULL) {
    return CLI_DONE;
  }
  int end = 0;
  if (sscanf(text, "%lld/%lld%n", &j->shard, &j->shards, &end) != 2 || text[end] != '\0' ||
      j->shard < 1 || j->shards < j->shard) {
    cli_error("sweep: --shard is \"%s\", must be I/N with I from 1 to N", text);
    return CLI_USAGE;
  }
  j->shard--;
  return CLI_DONE;
}

int sweep_threads_of_machine(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > 64 ? 64 : (int)count;
}

/* Backend, compiler and folder of compiled kernels, which is created. */
static void read_backend(const cli_args* args, saltus_sweep_def* def) {
  static char folder[512];
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  def->backend = cli_value(args, "--backend");
  def->devices = cli_value(args, "--devices");
  sweep_mpi_place(&def->process, &def->processes);
  def->compiler = getenv("CC");
  if (def->backend == NULL || strcmp(def->backend, "interpreter") == 0 ||
      ((cache == NULL || cache[0] != '/') && home == NULL)) {
    return;
  }
  const bool own = cache == NULL || cache[0] != '/';
  snprintf(folder, sizeof folder, "%.400s%s", own ? home : cache, own ? "/.cache" : "");
  (void)mkdir(folder, 0700);
  snprintf(folder, sizeof folder, "%.400s%s/saltus", own ? home : cache, own ? "/.cache" : "");
  (void)mkdir(folder, 0700);
  struct stat there;
  const bool usable = stat(folder, &there) == 0 && S_ISDIR(there.st_mode) &&
                      there.st_uid == getuid() && (there.st_mode & 022) == 0;
  def->cache = usable ? folder : NULL; /* kernels of others are not run */
}

/* All settings of a sweep from the command line; data that `def` points to are in the other
 * arguments. */
static int read_sweep(const cli_args* args, const cli_model* model, cli_overrides* pairs,
                      saltus_run_def* run, saltus_sweep_def* def) {
  static const char* axes[TEXTS_MOST];
  static const char* measures[TEXTS_MOST];
  static cli_overrides overrides;
  int override_count = 0;
  long long threads = 0;
  *def = saltus_sweep_def_default();
  def->axes = axes;
  def->axis_count = sweep_collect(args, "--axis", axes);
  def->measures = measures;
  def->measure_count = sweep_collect(args, "--measure", measures);
  int code = cli_run_def(args, model, &overrides, run);
  code = code == CLI_DONE ? cli_read_pairs(args, "--set", pairs, pairs->options, &override_count)
                          : code;
  code = code == CLI_DONE ? read_whole(args, "--samples", 1.0, 9e15, &def->samples) : code;
  code = code == CLI_DONE ? cli_number(args, "--time-limit", 1e-6, 1e9, &def->time_limit) : code;
  code = code == CLI_DONE ? read_whole(args, "--threads", 1.0, 64.0, &threads) : code;
  code = code == CLI_DONE ? sweep_read_seed(args, &def->seed) : code;
  code = code == CLI_DONE ? sweep_read_sampling(args, &def->sampling) : code;
  if (code != CLI_DONE) {
    return code;
  }
  if (def->axis_count == 0 || def->measure_count == 0) {
    cli_error(
        "sweep: give at least one --axis and one --measure; saltus sweep --help has examples");
    return CLI_USAGE;
  }
  run->scene = NULL;
  def->path = model->target;
  def->text = model->input;
  def->overrides = pairs->options;
  def->override_count = override_count;
  def->run = run;
  def->threads = threads > 0 ? (int)threads : sweep_threads_of_machine();
  read_backend(args, def);
  def->log = cli_log();
  return CLI_DONE;
}

/* ---- the table ---- */

/* Description of a table: how it was made. */
static char* about_text(const sweep_job* j, const cli_model* model) {
  const cli_args* args = j->args;
  size_t bytes = strlen(model->text) + 4096;
  for (int i = 0; i < args->given_count; i++) {
    bytes += strlen(args->given[i].option->name) +
             (args->given[i].value != NULL ? strlen(args->given[i].value) : 0) + 4;
  }
  char* text = malloc(bytes);
  if (text == NULL) {
    return NULL;
  }
  size_t used =
      (size_t)snprintf(text, bytes, "saltus %s\nscene %s\n", saltus_version(), model->target);
  for (int i = 0; i < args->given_count; i++) {
    static const char* const left_out[] = {"-o",       "--threads", "--shard",
                                           "--figure", "--json",    "--restart",
                                           "--force",  "--backend", "--devices"};
    bool kept = true;
    for (size_t k = 0; k < sizeof left_out / sizeof left_out[0]; k++) {
      kept = kept && strcmp(args->given[i].option->name, left_out[k]) != 0;
    }
    if (kept) {
      used += (size_t)snprintf(text + used, bytes - used, "%s %s\n", args->given[i].option->name,
                               args->given[i].value != NULL ? args->given[i].value : "");
    }
  }
  if (cli_value(args, "--seed") == NULL) { /* the seed is recorded, also by default */
    used += (size_t)snprintf(text + used, bytes - used, "--seed 0\n");
  }
  snprintf(text + used, bytes - used, "---\n%s", model->text);
  return text;
}

static int open_table(sweep_job* j, const cli_model* model, const char* path) {
  struct stat there;
  if (cli_has(j->args, "--restart") && stat(path, &there) == 0) { /* tables alone are removed */
    if (saltus_sweep_table_open(path, true, cli_log(), &j->table) != SALTUS_OK) {
      return CLI_USAGE;
    }
    const bool removed = unlink(path) == 0;
    (void)saltus_sweep_table_close(j->table);
    j->table = NULL;
    if (!removed) {
      cli_error("%s: %s", path, strerror(errno));
      return CLI_FAILED;
    }
  }
  if (stat(path, &there) != 0) {
    char* about = about_text(j, model);
    const saltus_status status =
        about != NULL ? saltus_sweep_table_create(path, j->view, about, cli_log(), &j->table)
                      : SALTUS_ERR_MEMORY;
    free(about);
    return status == SALTUS_OK ? CLI_DONE : CLI_USAGE;
  }
  if (saltus_sweep_table_open(path, true, cli_log(), &j->table) != SALTUS_OK) {
    return CLI_USAGE;
  }
  if (saltus_sweep_table_head(j->table)->fingerprint != j->view->fingerprint) {
    cli_error("%s is the table of another sweep: scene, axes, measures, seed or settings differ; "
              "--restart discards it, another -o keeps it",
              path);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

/* Whether a run is in the table already. Reads blocks of it, in order. */
static bool is_there(sweep_job* j, long long run) {
  if (j->table == NULL) {
    return false;
  }
  if (run < j->seen_first || run >= j->seen_first + j->seen_count) {
    const long long left = j->view->runs - run;
    j->seen_first = run;
    j->seen_count = left < READ ? (int)left : READ;
    if (saltus_sweep_table_read(j->table, run, j->seen_count, &j->seen.rows) != SALTUS_OK) {
      j->seen_count = 0;
      return false;
    }
  }
  return j->seen.rows.done[run - j->seen_first];
}

static int next_runs(void* user, long long* runs, int room) {
  sweep_job* j = user;
  int count = 0;
  for (; j->next < j->view->runs && count < room; j->next++) {
    if (j->next % j->shards == j->shard && !is_there(j, j->next)) {
      runs[count++] = j->next;
    }
  }
  return count;
}

static void show(const sweep_job* j) {
  if (!j->shown) {
    return;
  }
  const double elapsed = saltusi_clock_monotonic() - j->start;
  const double made = (double)(j->done - j->already);
  const double left = made > 0.0 ? elapsed * (double)(j->all - j->done) / made : 0.0;
  fprintf(stderr, "\r%lld of %lld runs, %lld failed, %.0f s left, %.4g runs/s    ", j->done, j->all,
          j->failed, left, elapsed > 0.0 ? made / elapsed : 0.0);
  fflush(stderr);
}

static int take_rows(void* user, const long long* runs, int count, const saltus_sweep_rows* rows) {
  sweep_job* j = user;
  for (int i = 0; i < count; i++) {
    if (!rows->done[i]) {
      continue;
    }
    if (saltus_sweep_table_write(j->table, runs[i], rows, i) != SALTUS_OK) {
      return CLI_FAILED;
    }
    j->done++;
    j->failed += rows->statuses[i] != SALTUS_OK;
  }
  show(j);
  return CLI_DONE;
}

/* Rows that are in the table before this command adds any. */
static void count_already(sweep_job* j) {
  for (long long run = 0; run < j->view->runs; run++) {
    if (run % j->shards != j->shard) {
      continue;
    }
    j->all++;
    if (j->table != NULL && is_there(j, run)) {
      j->already++;
      j->failed += j->seen.rows.statuses[run - j->seen_first] != SALTUS_OK;
    }
  }
  j->done = j->already;
  j->seen_count = 0;
}

/* All that is missing, by the threads of this process. */
static int compute_alone(sweep_job* j, const volatile int* cancel) {
  sweep_block block;
  int size = LEAST, code = CLI_DONE;
  if (!sweep_block_make(&block, MOST, j->view->axes + j->view->measures)) {
    return CLI_FAILED;
  }
  while (code == CLI_DONE && *cancel == 0) {
    const int count = next_runs(j, block.runs, size);
    if (count == 0) {
      break;
    }
    const double from = saltusi_clock_monotonic();
    const saltus_status status = saltus_sweep_compute(j->sweep, block.runs, count, &block.rows);
    const double took = saltusi_clock_monotonic() - from;
    size = took > 2.0 * beat && size > LEAST  ? size / 2
           : took < 0.5 * beat && size < MOST ? 2 * size
                                              : size;
    code = take_rows(j, block.runs, count, &block.rows);
    if (status == SALTUS_ERR_MEMORY) {
      cli_error("no memory");
      code = CLI_FAILED;
    }
  }
  sweep_block_free(&block);
  return code;
}

static int finish(sweep_job* j, int code, const char* path) {
  if (j->shown) {
    fprintf(stderr, "\r%*s\r", 78, "");
  }
  const int caught = cli_signals_caught();
  if (code != CLI_DONE || caught != 0) {
    cli_error("%lld of %lld runs are in %s; the same command continues from there", j->done, j->all,
              path);
    return caught != 0 ? CLI_SIGNAL + caught : code;
  }
  if (j->shards > 1) {
    printf("%s: %lld runs of shard %lld of %lld, %lld failed; saltus merge puts shards together\n",
           path, j->all, j->shard + 1, j->shards, j->failed);
    return CLI_DONE;
  }
  code = sweep_summary(j->args, j->table);
  if (j->view->compiled && !cli_has(j->args, "--json")) {
    printf("compiled; %lld of %lld runs by the interpreter\n", j->view->returned,
           j->done - j->already);
    if (j->view->compared > 0) {
      printf(j->view->in_tolerances
                 ? "%lld runs compared with adaptive; largest difference %.3g tolerances\n"
                 : "%lld runs compared with the interpreter; largest difference %.3g of max(1, "
                   "|value|)\n",
             j->view->compared, j->view->difference);
    }
  }
  code = code == CLI_DONE ? sweep_files_write(j->args, j->table, path) : code;
  if (code == CLI_DONE && j->failed == j->all) {
    cli_error("all runs failed");
    code = CLI_FAILED;
  }
  return code;
}

static int lead(sweep_job* j, const cli_model* model, bool mpi) {
  char* path = sweep_table_path(j->args);
  char own[64];
  if (path == NULL) { /* no table is written */
    snprintf(own, sizeof own, "/tmp/saltus-sweep-%ld.runs", (long)getpid());
    path = strdup(own);
  }
  int code = path != NULL ? open_table(j, model, path) : CLI_FAILED;
  if (code == CLI_DONE && !sweep_block_make(&j->seen, READ, j->view->axes + j->view->measures)) {
    code = CLI_FAILED;
  }
  if (code == CLI_DONE) {
    const volatile int* cancel = cli_signals_hold();
    count_already(j);
    if (j->already > 0) {
      fprintf(stderr, "%s has %lld of %lld runs; the others follow\n", path, j->already, j->all);
    }
    j->start = saltusi_clock_monotonic();
    code =
        mpi ? sweep_mpi_lead(j->sweep, next_runs, take_rows, j, cancel) : compute_alone(j, cancel);
    code = finish(j, code, path);
    cli_signals_release();
  } else if (mpi) { /* the other ranks wait for a message */
    j->next = j->view->runs;
    (void)sweep_mpi_lead(j->sweep, next_runs, take_rows, j, NULL);
  }
  if (saltus_sweep_table_close(j->table) != SALTUS_OK && code == CLI_DONE) {
    code = CLI_FAILED;
  }
  if (path != NULL && strncmp(path, "/tmp/saltus-sweep-", 18) == 0) {
    (void)unlink(path);
  }
  sweep_block_free(&j->seen);
  free(path);
  return code;
}

int cli_sweep(const cli_args* args) {
  cli_model model;
  const bool mpi = sweep_mpi_start();
  int code = cli_model_open(args, args->positional[0], &model);
  if (code != CLI_DONE) {
    sweep_mpi_end();
    return code;
  }
  cli_overrides pairs = {.copied = 0};
  saltus_run_def run;
  saltus_sweep_def def;
  sweep_job j = {.args = args, .shown = isatty(STDERR_FILENO) != 0 && sweep_mpi_rank() == 0};
  if (model.scene == NULL) {
    cli_error("sweep: \"%s\" is a reference problem; sweeps are of scene files",
              args->positional[0]);
    code = CLI_USAGE;
  }
  code = code == CLI_DONE ? read_shard(args, &j) : code;
  code = code == CLI_DONE ? sweep_files_check(args) : code;
  code = code == CLI_DONE ? read_sweep(args, &model, &pairs, &run, &def) : code;
  if (code == CLI_DONE && j.shards > 1 && cli_value(args, "-o") == NULL) {
    cli_error("sweep: a shard is kept in a table; give -o FILE.runs");
    code = CLI_USAGE;
  }
  if (code == CLI_DONE) {
    def.threads = mpi && cli_value(args, "--threads") == NULL ? 1 : def.threads;
    def.cancel = cli_signals_hold();
    cli_signals_release();
    code = cli_exit_code(saltus_sweep_create(&def, &j.sweep));
  }
  if (code == CLI_DONE) {
    j.view = saltus_sweep_get_view(j.sweep);
    code = mpi && sweep_mpi_rank() > 0 ? sweep_mpi_follow(j.sweep) : lead(&j, &model, mpi);
  }
  saltus_sweep_destroy(j.sweep);
  cli_overrides_free(&pairs);
  cli_model_close(&model);
  sweep_mpi_end();
  return code;
}

/* ---- merge ---- */

static int copy_rows(saltus_sweep_table* from, saltus_sweep_table* to, long long* copied) {
  const saltus_sweep_head* head = saltus_sweep_table_head(from);
  sweep_block block;
  int code = CLI_DONE;
  if (!sweep_block_make(&block, READ, head->axes + head->measures)) {
    return CLI_FAILED;
  }
  const long long held = saltus_sweep_table_held(from);
  for (long long first = 0; first < held && code == CLI_DONE; first += READ) {
    const int count = held - first < READ ? (int)(held - first) : READ;
    code = cli_exit_code(saltus_sweep_table_read(from, first, count, &block.rows));
    for (int i = 0; i < count && code == CLI_DONE; i++) {
      if (block.rows.done[i]) {
        code = cli_exit_code(saltus_sweep_table_write(to, first + i, &block.rows, i));
        ++*copied;
      }
    }
  }
  sweep_block_free(&block);
  return code;
}

static long long count_rows(saltus_sweep_table* table) {
  const saltus_sweep_head* head = saltus_sweep_table_head(table);
  sweep_block block;
  long long there = 0;
  if (!sweep_block_make(&block, READ, head->axes + head->measures)) {
    return -1;
  }
  const long long held = saltus_sweep_table_held(table);
  for (long long first = 0; first < held; first += READ) {
    const int count = held - first < READ ? (int)(held - first) : READ;
    if (saltus_sweep_table_read(table, first, count, &block.rows) != SALTUS_OK) {
      there = -1;
      break;
    }
    for (int i = 0; i < count; i++) {
      there += block.rows.done[i];
    }
  }
  sweep_block_free(&block);
  return there;
}

static int merge_into(const cli_args* args, saltus_sweep_table* to, const char* path) {
  const saltus_sweep_head* head = saltus_sweep_table_head(to);
  int code = CLI_DONE;
  for (int i = 0; i < args->positional_count && code == CLI_DONE; i++) {
    saltus_sweep_table* from = NULL;
    long long copied = 0;
    if (saltus_sweep_table_open(args->positional[i], false, cli_log(), &from) != SALTUS_OK) {
      return CLI_USAGE;
    }
    if (saltus_sweep_table_head(from)->fingerprint != head->fingerprint) {
      cli_error("%s and %s are tables of different sweeps", args->positional[0],
                args->positional[i]);
      code = CLI_USAGE;
    } else {
      code = copy_rows(from, to, &copied);
    }
    (void)saltus_sweep_table_close(from);
  }
  const long long there = code == CLI_DONE ? count_rows(to) : 0;
  if (code == CLI_DONE && there < head->runs) {
    cli_error("%lld of %lld runs are missing in these tables; what is there is in %s",
              head->runs - there, head->runs, path);
    code = CLI_FAILED;
  }
  return code;
}

/* A new table, or that of an earlier merge of the same sweep: rows have fixed positions and are
 * rewritten. */
static int open_merged(const char* path, const saltus_sweep_view* view, const char* about,
                       saltus_sweep_table** to) {
  struct stat there;
  if (stat(path, &there) != 0) {
    const saltus_status status = saltus_sweep_table_create(path, view, about, cli_log(), to);
    return status == SALTUS_OK ? CLI_DONE : CLI_USAGE;
  }
  if (saltus_sweep_table_open(path, true, cli_log(), to) != SALTUS_OK) {
    return CLI_USAGE;
  }
  if (saltus_sweep_table_head(*to)->fingerprint != view->fingerprint) {
    cli_error("%s is the table of another sweep and is not overwritten; give another name", path);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

int cli_merge(const cli_args* args) {
  saltus_sweep_table *first = NULL, *to = NULL;
  char* path = sweep_table_path(args);
  int code = sweep_files_check(args);
  if (code == CLI_DONE && path == NULL) {
    cli_error("merge: give -o FILE.h5, FILE.csv or FILE.runs");
    code = CLI_USAGE;
  }
  if (code == CLI_DONE &&
      saltus_sweep_table_open(args->positional[0], false, cli_log(), &first) != SALTUS_OK) {
    code = CLI_USAGE;
  }
  if (code == CLI_DONE) {
    const saltus_sweep_head* h = saltus_sweep_table_head(first);
    const saltus_sweep_view view = {.runs = h->runs,
                                    .grid = h->grid,
                                    .samples = h->runs / h->grid,
                                    .axes = h->axes,
                                    .measures = h->measures,
                                    .columns = h->columns,
                                    .counts = h->counts,
                                    .logarithmic = h->logarithmic,
                                    .fingerprint = h->fingerprint};
    code = open_merged(path, &view, h->about, &to);
    code = code == CLI_DONE ? merge_into(args, to, path) : code;
  }
  code = code == CLI_DONE ? sweep_summary(args, to) : code;
  code = code == CLI_DONE ? sweep_files_write(args, to, path) : code;
  (void)saltus_sweep_table_close(first);
  if (saltus_sweep_table_close(to) != SALTUS_OK && code == CLI_DONE) {
    code = CLI_FAILED;
  }
  free(path);
  return code;
}
