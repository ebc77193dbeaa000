/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cli.h - the command line: declarations shared by the commands. Commands are tables, from which
 * help, shell completion and the manual page are made.
 */
#ifndef CLI_H
#define CLI_H

#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit codes; a run stopped by a signal ends with CLI_SIGNAL plus its number, as in shells. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_SIGNAL = 128 };

/* Traits of options. CLI_WRITES: names a file that is written, and not replaced without --force. */
enum { CLI_ONCE = 0, CLI_REPEATS = 1, CLI_WRITES = 2 };

typedef struct cli_option {
  const char* name;  /* "--step" */
  const char* value; /* "H"; NULL: a switch */
  const char* doc;
  int traits;
} cli_option;

/* An option as given. */
typedef struct cli_given {
  const cli_option* option;
  const char* value;
} cli_given;

enum { CLI_MOST = 128 };

typedef struct cli_args {
  const struct cli_command* command;
  int positional_count;
  const char* positional[CLI_MOST];
  int given_count;
  cli_given given[CLI_MOST];
} cli_args;

typedef struct cli_command {
  const char* name;
  const char* arguments; /* "SCENE" */
  const char* summary;   /* one line */
  const char* text;      /* --help beyond the tables */
  const cli_option* options;
  int option_count;
  int positional_min, positional_max;
  int (*run)(const cli_args* args);
} cli_command;

/* All commands; count in *count. */
const cli_command* cli_commands(int* count);

/* Reads arguments; CLI_USAGE after a message. argv starts after the command's name. */
int cli_parse(const cli_command* command, int argc, char** argv, cli_args* args);

/* Value of an option; NULL when it was not given. The last one counts. */
const char* cli_value(const cli_args* args, const char* name);
bool cli_has(const cli_args* args, const char* name);

/* A number in [lo, hi] from an option; *value stays when it is not given. CLI_USAGE with a message. */
int cli_number(const cli_args* args, const char* name, double lo, double hi, double* value);

/* The same for any finite number: the caller checks its range. */
int cli_real(const cli_args* args, const char* name, double* value);

void cli_help(const cli_command* command);
void cli_help_all(void);
void cli_manual(void);                 /* troff */
int cli_completion(const char* shell); /* "bash", "zsh" or "fish"; an exit code */

/* Prints "saltus: ..." on the standard error. */
void cli_error(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* A log that prints errors and warnings on the standard error. */
saltus_log cli_log(void);
/* With --verbose among the arguments also notes. */
saltus_log cli_log_of(const cli_args* args);

/* Plural suffix of a noun behind a number: "" for 1, "s" for all others. */
const char* cli_plural(long long count);

/* "; did you mean NAME?" into text, or "" without a similar name; returns text. */
const char* cli_near(const char* word, const char* const* names, int count, char* text,
                     size_t bytes);

/* Exit code for a failed library call: 2 for errors of the input, 1 for failures of the run. */
int cli_exit_code(saltus_status status);

int cli_run(const cli_args* args);
int cli_resume(const cli_args* args);
int cli_check(const cli_args* args);
int cli_info(const cli_args* args);
int cli_list(const cli_args* args);
int cli_study(const cli_args* args);
int cli_plot(const cli_args* args);
int cli_solve(const cli_args* args);
int cli_convert(const cli_args* args);
int cli_export(const cli_args* args);
int cli_bench(const cli_args* args);
int cli_lab(const cli_args* args);
int cli_verify(const cli_args* args);
int cli_compare(const cli_args* args);
int cli_report_command(const cli_args* args);
int cli_view(const cli_args* args);
int cli_vtk(const cli_args* args);
int cli_sweep(const cli_args* args);
int cli_fit(const cli_args* args);
int cli_optimize(const cli_args* args);
int cli_merge(const cli_args* args);
int cli_orbit(const cli_args* args);
int cli_map(const cli_args* args);
int cli_reduce(const cli_args* args);

#endif
