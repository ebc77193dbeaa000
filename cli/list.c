/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * list.c - saltus list: what there is.
 */
#include "cli.h"
#include "json.h"
#include "saltus/contact.h"
#include "saltus/control.h"
#include "saltus/formula.h"
#include "saltus/problem.h"
#include "saltus/scheme.h"
#include "study.h"

#include <stdio.h>
#include <string.h>

/* One thing with its description, in the same shape for every kind. */
typedef struct entry {
  const char *name, *summary, *source;
} entry;

static bool scheme_entry(int i, entry* e) {
  const saltus_scheme_info* info = saltus_scheme_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source};
  }
  return info != NULL;
}

static bool control_entry(int i, entry* e) {
  const saltus_control_info* info = saltus_control_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source};
  }
  return info != NULL;
}

/* Friction solvers first, then those of linear complementarity. */
static bool solver_entry(int i, entry* e) {
  int friction = saltus_friction_solver_count();
  const saltus_solver_info* info =
      i < friction ? saltus_friction_solver_at(i) : saltus_lcp_solver_at(i - friction);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source};
  }
  return info != NULL;
}

static bool problem_entry(int i, entry* e) {
  const saltus_problem_info* info = saltus_problem_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source};
  }
  return info != NULL;
}

static bool study_entry(int i, entry* e) {
  const study* s = study_at(i);
  if (s != NULL) {
    *e = (entry){s->name, s->summary, s->source};
  }
  return s != NULL;
}

static bool function_entry(int i, entry* e) {
  const saltus_formula_function* f = saltus_formula_function_at(i);
  if (f != NULL) {
    *e = (entry){f->name, f->doc, ""};
  }
  return f != NULL;
}

typedef bool (*lister)(int i, entry* e);

static void print_entries(lister at) {
  entry e;
  int width = 0;
  for (int i = 0; at(i, &e); i++) {
    int length = (int)strlen(e.name);
    width = length > width ? length : width;
  }
  for (int i = 0; at(i, &e); i++) {
    printf("%-*s  %s\n", width, e.name, e.summary);
    if (e.source[0] != '\0') {
      printf("%-*s  (%s)\n", width, "", e.source);
    }
  }
}

static void print_options(void) {
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    printf("\noptions of %s (--option NAME=VALUE):\n", info->name);
    for (int k = 0; k < info->options.count; k++) {
      const saltus_field* field = &info->options.fields[k];
      if (field->type == SALTUS_FIELD_CHOICE) {
        printf("  %-12s %-10s", field->name, field->choices[(int)field->fallback]);
      } else {
        printf("  %-12s %-10g", field->name, field->fallback);
      }
      printf(" %s\n", field->doc);
    }
  }
}

static void json_entries(lister at, const char* kind) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_open(&j, kind, '[');
  entry e;
  for (int i = 0; at(i, &e); i++) {
    json_open(&j, NULL, '{');
    json_text(&j, "name", e.name);
    json_text(&j, "summary", e.summary);
    json_text(&j, "source", e.source);
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

int cli_list(const cli_args* args) {
  static const struct {
    const char* kind;
    lister at;
  } kinds[] = {{"schemes", scheme_entry}, {"controls", control_entry},
               {"solvers", solver_entry}, {"problems", problem_entry},
               {"studies", study_entry},  {"functions", function_entry}};
  const char* wanted = args->positional[0];
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].kind, wanted) != 0) {
      continue;
    }
    if (cli_has(args, "--json")) {
      json_entries(kinds[i].at, wanted);
      return CLI_DONE;
    }
    print_entries(kinds[i].at);
    if (i == 0) {
      print_options();
    }
    return CLI_DONE;
  }
  cli_error("list: no list of \"%s\"; there are: schemes, controls, solvers, problems, studies, "
            "functions",
            wanted);
  return CLI_USAGE;
}
