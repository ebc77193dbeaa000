/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * help.c - help, manual page and completion, all made from the table of commands.
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
    printf("  %-6s %s\n", commands[i].name, commands[i].summary);
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
    printf("  %-20s %s%s\n", head, option->doc, option->repeats ? "; may be repeated" : "");
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
      printf("%s.\n", option->repeats ? "; may be repeated" : "");
    }
  }
  printf(".SH EXIT STATUS\n0 done, 1 the run failed, 2 bad usage or input.\n");
}

void cli_completion(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf("# bash completion for saltus, made by: saltus --completion\n"
         "_saltus() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"");
  for (int i = 0; i < count; i++) {
    printf("%s ", commands[i].name);
  }
  printf(
      "--help --version\"\n"
      "  elif [ \"$prev\" = --scheme ]; then words=$(saltus list schemes --json 2>/dev/null | sed "
      "-n 's/.*\"name\": \"\\(.*\\)\",/\\1/p')\n"
      "  elif [ \"$prev\" = list ]; then words=\"schemes controls solvers problems studies "
      "functions\"\n"
      "  elif [ \"$prev\" = study ]; then words=$(saltus list studies --json 2>/dev/null | sed -n "
      "'s/.*\"name\": \"\\(.*\\)\",/\\1/p')\n"
      "  elif [[ $cur == -* ]]; then\n    case ${COMP_WORDS[1]} in\n");
  for (int i = 0; i < count; i++) {
    printf("    %s) words=\"", commands[i].name);
    for (int k = 0; k < commands[i].option_count; k++) {
      printf("%s ", commands[i].options[k].name);
    }
    printf("\" ;;\n");
  }
  printf("    esac\n"
         "  else COMPREPLY=($(compgen -f -- \"$cur\")); return\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o filenames -F _saltus saltus\n");
}
