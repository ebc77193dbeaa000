/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * completion.c - completion for bash, zsh and fish, all made from the table of commands.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* Options and commands whose values are names that the program lists. */
static const char names_of[] =
    "saltus list %s --json 2>/dev/null | sed -n 's/.*\"name\": \"\\(.*\\)\",/\\1/p'";
static const char lists[] = "schemes controls solvers problems studies functions";

/* The list of values of an option, by its name in the program, or NULL. */
static const char* list_for(const char* option) {
  return strcmp(option, "--scheme") == 0    ? "schemes"
         : strcmp(option, "--control") == 0 ? "controls"
         : strcmp(option, "--solver") == 0  ? "solvers"
                                            : NULL;
}

static void bash(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf("# bash completion for saltus, made by: saltus --completion bash\n"
         "_saltus() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then words=\"");
  for (int i = 0; i < count; i++) {
    printf("%s ", commands[i].name);
  }
  printf("help --help --version\"\n  elif [ \"$prev\" = --scheme ]; then words=$(");
  printf(names_of, "schemes");
  printf(")\n  elif [ \"$prev\" = list ]; then words=\"%s\"\n", lists);
  printf("  elif [ \"$prev\" = study ]; then words=$(");
  printf(names_of, "studies");
  printf(")\n  elif [[ $cur == -* ]]; then\n    case ${COMP_WORDS[1]} in\n");
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

/* A text inside single quotes; in zsh [ ] : are special characters as well. */
static void print_quoted(const char* text, bool zsh) {
  for (const char* c = text; *c != '\0'; c++) {
    if (*c == '\'') {
      fputs(zsh ? "'\\''" : "\\'", stdout);
    } else if (*c == '\\') {
      fputs("\\\\", stdout);
    } else {
      if (zsh && strchr("[]:", *c) != NULL) {
        putchar('\\');
      }
      putchar(*c);
    }
  }
}

static void zsh_option(const cli_option* option) {
  printf(" \\\n      '%s%s[", (option->traits & CLI_REPEATS) != 0 ? "*" : "", option->name);
  print_quoted(option->doc, true);
  putchar(']');
  if (option->value != NULL) {
    const char* list = list_for(option->name);
    putchar(':');
    print_quoted(option->value, true);
    if (list != NULL) {
      printf(":{_saltus_names %s}", list);
    } else {
      printf(":%s", strstr(option->value, "FILE") != NULL ? "_files" : " ");
    }
  }
  putchar('\'');
}

static void zsh(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf("#compdef saltus\n"
         "# zsh completion for saltus, made by: saltus --completion zsh\n"
         "_saltus_names() {\n  local -a names\n  names=(${(f)\"$(");
  printf(names_of, "$1");
  printf(")\"})\n  compadd -a names\n}\n"
         "_saltus() {\n"
         "  local -a commands\n"
         "  commands=(\n");
  for (int i = 0; i < count; i++) {
    printf("    '%s:", commands[i].name);
    print_quoted(commands[i].summary, true);
    printf("'\n");
  }
  printf("  )\n"
         "  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local command=${words[2]}\n"
         "  shift words; (( CURRENT-- ))\n"
         "  case $command in\n");
  for (int i = 0; i < count; i++) {
    printf("    %s) _arguments", commands[i].name);
    for (int k = 0; k < commands[i].option_count; k++) {
      zsh_option(&commands[i].options[k]);
    }
    if (strcmp(commands[i].name, "list") == 0) {
      printf(" \\\n      '1:list:(%s)' '2:name:{_saltus_names ${words[2]}}' ;;\n", lists);
    } else if (strcmp(commands[i].name, "study") == 0) {
      printf(" \\\n      '1:study:{_saltus_names studies}' '2:model:_files' ;;\n");
    } else {
      printf(" \\\n      '*:file:_files' ;;\n");
    }
  }
  printf("  esac\n}\n_saltus \"$@\"\n");
}

static void fish_option(const char* command, const cli_option* option) {
  printf("complete -c saltus -n '__fish_seen_subcommand_from %s' ", command);
  bool longer = option->name[1] == '-';
  printf("%s %s", longer ? "-l" : "-s", option->name + (longer ? 2 : 1));
  const char* list = list_for(option->name);
  if (list != NULL) {
    printf(" -x -a '(__saltus_names %s)'", list);
  } else if (option->value != NULL) {
    printf(strstr(option->value, "FILE") != NULL ? " -r -F" : " -x");
  }
  printf(" -d '");
  print_quoted(option->doc, false);
  printf("'\n");
}

static void fish(void) {
  int count;
  const cli_command* commands = cli_commands(&count);
  printf("# fish completion for saltus, made by: saltus --completion fish\n"
         "function __saltus_names\n    ");
  printf(names_of, "$argv[1]");
  printf("\nend\n");
  for (int i = 0; i < count; i++) {
    printf("complete -c saltus -f -n __fish_use_subcommand -a %s -d '", commands[i].name);
    print_quoted(commands[i].summary, false);
    printf("'\n");
  }
  printf("complete -c saltus -f -n '__fish_seen_subcommand_from list' -a '%s'\n", lists);
  printf(
      "complete -c saltus -n '__fish_seen_subcommand_from study' -a '(__saltus_names studies)'\n");
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < commands[i].option_count; k++) {
      fish_option(commands[i].name, &commands[i].options[k]);
    }
  }
}

int cli_completion(const char* shell) {
  static const struct {
    const char* name;
    void (*print)(void);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
    if (strcmp(shell, shells[i].name) == 0) {
      shells[i].print();
      return CLI_DONE;
    }
  }
  cli_error("no completion for \"%s\"; there are: bash, zsh, fish", shell);
  return CLI_USAGE;
}
