/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * help.c - help and manual page, both made from the table of commands.
 */
#include "cli.h"
#include "saltus/version.h"

#include <stdio.h>
#include <string.h>

static const char intro[] = "nonsmooth multibody dynamics: contact, impact, friction, joints";
static const char exits[] = "Exit codes: 0 done, 1 the run failed, 2 bad usage or input.";

void cli_help_all(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf("saltus %s - %s\n\nusage: saltus COMMAND ...\n\n", saltus_version(), intro);
  for (int i = 0; i < count; i++) {
    printf("  %-7s %s\n", commands[i].name, commands[i].summary);
  }
  printf("\nsaltus COMMAND --help explains a command; saltus --version prints the version.\n%s\n",
         exits);
}

void cli_help(const cli_command* command) {
  printf("usage: saltus %s %s [options]\n\n%s.\n", command->name, command->arguments,
         command->summary);
  if (command->text[0] != '\0') {
    printf("%s\n", command->text);
  }
  printf("\noptions:\n");
  for (int i = 0; i < command->option_count; i++) {
    const cli_option* option = &command->options[i];
    char head[64];
    snprintf(head, sizeof head, "%s%s%s", option->name, option->value != NULL ? " " : "",
             option->value != NULL ? option->value : "");
    printf("  %-20s %s%s\n", head, option->doc,
           (option->traits & CLI_REPEATS) != 0 ? "; may be repeated" : "");
  }
  printf("\n%s\n", exits);
}

/* troff: a dash in an option is written \- so that it can be copied from the page */
static void print_dashed(const char* text) {
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '-') {
      fputs("\\-", stdout);
    } else if (*c == '\\') {
      fputs("\\\\", stdout);
    } else {
      putchar(*c);
    }
  }
}

void cli_manual(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf(".TH SALTUS 1 \"\" \"saltus %s\" \"User Commands\"\n", saltus_version());
  printf(".SH NAME\nsaltus \\- %s\n.SH SYNOPSIS\n", intro);
  for (int i = 0; i < count; i++) {
    printf(".B saltus %s\n.I %s\n[options]\n.br\n", commands[i].name, commands[i].arguments);
  }
  printf(".SH COMMANDS\n");
  for (int i = 0; i < count; i++) {
    printf(".SS saltus %s %s\n%s.\n", commands[i].name, commands[i].arguments, commands[i].summary);
    print_dashed(commands[i].text);
    printf("\n");
    for (int k = 0; k < commands[i].option_count; k++) {
      const cli_option* option = &commands[i].options[k];
      printf(".TP\n.B ");
      print_dashed(option->name);
      if (option->value != NULL) {
        printf(" \\fI%s\\fR", option->value);
      }
      printf("\n");
      print_dashed(option->doc);
      printf("%s.\n", (option->traits & CLI_REPEATS) != 0 ? "; may be repeated" : "");
    }
  }
  printf(".SH EXIT STATUS\n0 done, 1 the run failed, 2 bad usage or input.\n");
}
