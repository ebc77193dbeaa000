/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * args.c - reading arguments against a command's table.
 */
#include "base/suggest.h"
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* cli_plural(long long count) {
  return count == 1 ? "" : "s";
}

const char* cli_near(const char* word, const char* const* names, int count, char* text,
                     size_t bytes) {
  const char* near = saltusi_suggest(word, names, count);
  snprintf(text, bytes, near != NULL ? "; did you mean %s?" : "%.0s", near != NULL ? near : "");
  return text;
}

static void print_message(void* user, saltus_level level, const char* text) {
  const cli_args* args = user;
  static const char* const heads[] = {"", "warning: ", "note: "};
  if (level != SALTUS_LEVEL_NOTE || (args != NULL && cli_has(args, "--verbose"))) {
    cli_error("%s%s", heads[level], text);
  }
}

saltus_log cli_log(void) {
  return (saltus_log){.write = print_message};
}

saltus_log cli_log_of(const cli_args* args) {
  return (saltus_log){.write = print_message, .user = (void*)args};
}

int cli_exit_code(saltus_status status) {
  switch (status) {
  case SALTUS_OK:
    return CLI_DONE;
  case SALTUS_ERR_INPUT:
  case SALTUS_ERR_NAME:
  case SALTUS_ERR_RANGE:
  case SALTUS_ERR_UNDEFINED:
  case SALTUS_ERR_UNSUPPORTED:
    return CLI_USAGE;
  default:
    return CLI_FAILED;
  }
}

static const cli_option* find_option(const cli_command* command, const char* name, size_t length) {
  for (int i = 0; i < command->option_count; i++) {
    const char* known = command->options[i].name;
    if (strlen(known) == length && strncmp(known, name, length) == 0) {
      return &command->options[i];
    }
  }
  return NULL;
}

static int unknown_option(const cli_command* command, const char* name) {
  const char* names[CLI_MOST];
  int count = 0;
  for (; count < command->option_count && count < CLI_MOST; count++) {
    names[count] = command->options[count].name;
  }
  char near[128];
  cli_error("%s: no option \"%s\"%s; see saltus %s --help", command->name, name,
            cli_near(name, names, count, near, sizeof near), command->name);
  return CLI_USAGE;
}

/* Takes one option and, when it has one, its value; returns how many words it used, 0 on error. */
static int take_option(const cli_command* command, int argc, char** argv, cli_args* args) {
  const char* word = argv[0];
  const char* equals = strchr(word, '=');
  size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
  const cli_option* option = find_option(command, word, length);
  if (option == NULL) {
    unknown_option(command, word);
    return 0;
  }
  if (args->given_count == CLI_MOST) {
    cli_error("%s: more than %d options", command->name, (int)CLI_MOST);
    return 0;
  }
  if ((option->traits & CLI_REPEATS) == 0 && cli_has(args, option->name)) {
    cli_error("%s: %s is given twice", command->name, option->name);
    return 0;
  }
  cli_given given = {.option = option};
  int used = 1;
  if (option->value != NULL) {
    given.value = equals != NULL ? equals + 1 : (argc > 1 ? argv[1] : NULL);
    used = equals != NULL ? 1 : 2;
    if (given.value == NULL) {
      cli_error("%s: %s needs a value %s", command->name, option->name, option->value);
      return 0;
    }
  } else if (equals != NULL) {
    cli_error("%s: %s takes no value", command->name, option->name);
    return 0;
  }
  args->given[args->given_count++] = given;
  return used;
}

int cli_parse(const cli_command* command, int argc, char** argv, cli_args* args) {
  *args = (cli_args){.command = command};
  for (int i = 0; i < argc;) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      int used = take_option(command, argc - i, argv + i, args);
      if (used == 0) {
        return CLI_USAGE;
      }
      i += used;
      continue;
    }
    if (args->positional_count >= command->positional_max || args->positional_count == CLI_MOST) {
      cli_error("%s: unexpected argument \"%s\"; see saltus %s --help", command->name, argv[i],
                command->name);
      return CLI_USAGE;
    }
    args->positional[args->positional_count++] = argv[i++];
  }
  if (args->positional_count < command->positional_min) {
    cli_error("%s: usage: saltus %s %s", command->name, command->name, command->arguments);
    return CLI_USAGE;
  }
  return CLI_DONE;
}

const char* cli_value(const cli_args* args, const char* name) {
  const char* value = NULL;
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, name) == 0) {
      value = args->given[i].value;
    }
  }
  return value;
}

bool cli_has(const cli_args* args, const char* name) {
  for (int i = 0; i < args->given_count; i++) {
    if (strcmp(args->given[i].option->name, name) == 0) {
      return true;
    }
  }
  return false;
}

int cli_number(const cli_args* args, const char* name, double lo, double hi, double* value) {
  const char* text = cli_value(args, name);
  if (text == NULL) {
    return CLI_DONE;
  }
  char* end;
  double number = strtod(text, &end);
  if (end == text || *end != '\0' || !(number >= lo && number <= hi)) {
    cli_error("%s: %s is \"%s\", must be a number between %g and %g", args->command->name, name,
              text, lo, hi);
    return CLI_USAGE;
  }
  *value = number;
  return CLI_DONE;
}

int cli_real(const cli_args* args, const char* name, double* value) {
  const char* text = cli_value(args, name);
  char* end = NULL;
  double number = text != NULL ? strtod(text, &end) : 0.0;
  if (text != NULL && (end == text || *end != '\0' || !isfinite(number))) {
    cli_error("%s: %s is \"%s\", must be a finite number", args->command->name, name, text);
    return CLI_USAGE;
  }
  *value = text != NULL ? number : *value;
  return CLI_DONE;
}
