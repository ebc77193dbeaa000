/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * main.c - saltus, the program: finds the command and runs it.
 */
#include "cli.h"
#include "files.h"
#include "output.h"
#include "progress.h"
#include "saltus/version.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int unknown_command(const char* word, const cli_command* commands, int count) {
  const char* names[CLI_MOST];
  for (int i = 0; i < count; i++) {
    names[i] = commands[i].name;
  }
  char near[128];
  cli_error("no command \"%s\"%s; see saltus --help", word,
            cli_near(word, names, count, near, sizeof near));
  return CLI_USAGE;
}

/* saltus help run */
static int help_for(const char* word, const cli_command* commands, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(word, commands[i].name) == 0) {
      cli_help(&commands[i]);
      return CLI_DONE;
    }
  }
  return unknown_command(word, commands, count);
}

static bool asks_for_help(int argc, char** argv) {
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      return true;
    }
  }
  return false;
}

static int run_command(const cli_command* command, int argc, char** argv) {
  if (asks_for_help(argc, argv)) {
    cli_help(command);
    return CLI_DONE;
  }
  cli_args args;
  int code = cli_parse(command, argc, argv, &args);
  code = code == CLI_DONE ? cli_outputs_check(&args) : code;
  code = code == CLI_DONE ? command->run(&args) : code;
  const int caught = cli_signals_caught(); /* independent of the result of the command */
  return caught != 0 ? CLI_SIGNAL + caught : code;
}

/* Output that could not be written is a failure. */
static int finish(int code) {
  errno = 0;
  bool lost = fflush(stdout) != 0 || ferror(stdout);
  int reason = errno;
  fclose(stdout); /* with its file descriptor */
  if (lost) {
    cli_error("the standard output could not be written%s%s", reason != 0 ? ": " : "",
              reason != 0 ? strerror(reason) : "");
  }
  return lost && code == CLI_DONE ? CLI_FAILED : code;
}

int main(int argc, char** argv) {
  static const struct {
    const char *word, *other;
    void (*print)(void);
  } words[] = {{"--help", "help", cli_help_all}, {"--manual", NULL, cli_manual}};
  int count;
  cli_signals_start();
  cli_output_start();
  const cli_command* commands = cli_commands(&count);
  if (argc < 2) {
    cli_help_all();
    return finish(CLI_USAGE);
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("saltus %s\n", saltus_version());
    return finish(CLI_DONE);
  }
  if (argc > 2 && strcmp(argv[1], "help") == 0) {
    return finish(help_for(argv[2], commands, count));
  }
  if (strcmp(argv[1], "--completion") == 0) {
    return finish(cli_completion(argc > 2 ? argv[2] : "bash"));
  }
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(argv[1], words[i].word) == 0 ||
        (words[i].other != NULL && strcmp(argv[1], words[i].other) == 0)) {
      words[i].print();
      return finish(CLI_DONE);
    }
  }
  for (int i = 0; i < count; i++) {
    if (strcmp(argv[1], commands[i].name) == 0) {
      return finish(run_command(&commands[i], argc - 2, argv + 2));
    }
  }
  return finish(unknown_command(argv[1], commands, count));
}
