/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * list.c - saltus list: schemes, solvers, laws, options and the like.
 */
#include "cli.h"
#include "json.h"
#include "saltus/contact.h"
#include "saltus/control.h"
#include "saltus/formula.h"
#include "saltus/known_motion.h"
#include "saltus/law.h"
#include "saltus/scheme.h"
#include "study.h"

#include <stdio.h>
#include <string.h>

/* One entry with its description, in the same form for every list. */
typedef struct entry {
  const char *name, *summary, *source;
  const char* kind;                  /* "friction" of a solver; "" where a list has one kind */
  const saltus_field_table* options; /* NULL: none */
} entry;

/* Friction and impact laws that a scheme treats; docs/laws.md has the table. */
static const char* treats(unsigned what, bool located) {
  bool laws = (what & SALTUS_TREATS_LAWS) != 0;
  if ((what & SALTUS_TREATS_FRICTION_LAWS) != 0 && laws) {
    return "all friction, all laws";
  }
  if ((what & SALTUS_TREATS_FRICTION_LAWS) != 0) {
    return laws ? "all friction, all laws" : "all friction, Newton's law";
  }
  if ((what & SALTUS_TREATS_FRICTION_CURVES) != 0) {
    return !laws     ? "curves of slip, Newton's law"
           : located ? "all slip and bonds, all laws"
                     : "curves of slip, all laws";
  }
  if ((what & SALTUS_TREATS_FRICTION) != 0) {
    return laws ? "spatial friction, all laws" : "spatial friction, Newton's law";
  }
  if ((what & SALTUS_TREATS_PLANAR_FRICTION) != 0) {
    return laws ? "planar friction, all laws" : "planar friction, Newton's law";
  }
  return laws ? "no friction, all laws" : "no friction, Newton's law";
}

static bool scheme_entry(int i, entry* e) {
  const saltus_scheme_info* info = saltus_scheme_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source,
                 treats(info->treats, info->locates_events), &info->options};
  }
  return info != NULL;
}

static bool control_entry(int i, entry* e) {
  const saltus_control_info* info = saltus_control_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source, "", &info->options};
  }
  return info != NULL;
}

/* Friction solvers first, then those of linear complementarity; some names are in both. */
static bool solver_entry(int i, entry* e) {
  int friction = saltus_friction_solver_count();
  const saltus_solver_info* info =
      i < friction ? saltus_friction_solver_at(i) : saltus_lcp_solver_at(i - friction);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source,
                 i < friction ? "friction" : "complementarity", &info->options};
  }
  return info != NULL;
}

static bool problem_entry(int i, entry* e) {
  const saltus_known_motion_info* info = saltus_known_motion_at(i);
  if (info != NULL) {
    *e = (entry){info->name, info->summary, info->source, "", NULL};
  }
  return info != NULL;
}

static bool study_entry(int i, entry* e) {
  const study* s = study_at(i);
  if (s != NULL) {
    *e = (entry){s->name, s->summary, s->source, "", NULL};
  }
  return s != NULL;
}

static bool law_entry(int i, entry* e) {
  const bool is_there = i < saltus_impact_law_count();
  if (is_there) {
    const saltus_impact_info* info = saltus_impact_law_at(i);
    *e = (entry){info->name, info->summary, info->source,
                 info->several ? "several contacts" : "one contact", NULL};
    return true;
  }
  const saltus_friction_info* friction = saltus_friction_law_at(i - saltus_impact_law_count());
  if (friction != NULL) {
    *e = (entry){friction->name, friction->summary, friction->source, "friction", NULL};
  }
  return friction != NULL;
}

static bool function_entry(int i, entry* e) {
  const saltus_formula_function* f = saltus_formula_function_at(i);
  if (f != NULL) {
    *e = (entry){f->name, f->doc, "", "", NULL};
  }
  return f != NULL;
}

typedef bool (*lister)(int i, entry* e);

/* Selection of a list: all, or the entries of one name; in short, or with source and options. */
typedef struct listing {
  const char* what;
  lister at;
  const char* name; /* NULL: all */
  bool longer;
} listing;

static bool wanted(const listing* list, const entry* e) {
  return list->name == NULL || strcmp(list->name, e->name) == 0;
}

static void print_options(const saltus_field_table* options) {
  for (int k = 0; options != NULL && k < options->count; k++) {
    const saltus_field* field = &options->fields[k];
    if (field->type == SALTUS_FIELD_CHOICE) {
      printf("    %-16s %-10s", field->name, field->choices[(int)field->fallback]);
    } else {
      printf("    %-16s %-10g", field->name, field->fallback);
    }
    printf(" %s\n", field->doc);
  }
}

static void print_entries(const listing* list) {
  entry e;
  int width = 0;
  int kind = 0;
  for (int i = 0; list->at(i, &e); i++) {
    int length = wanted(list, &e) ? (int)strlen(e.name) : 0;
    width = length > width ? length : width;
    length = wanted(list, &e) ? (int)strlen(e.kind) : 0;
    kind = length > kind ? length : kind;
  }
  bool options = false;
  for (int i = 0; list->at(i, &e); i++) {
    if (!wanted(list, &e)) {
      continue;
    }
    printf("%-*s  %-*s%s%s\n", width, e.name, kind, e.kind, kind > 0 ? "  " : "", e.summary);
    options = options || (e.options != NULL && e.options->count > 0);
    if (!list->longer) {
      continue;
    }
    if (e.source[0] != '\0') {
      printf("  from: %s\n", e.source);
    }
    if (e.options != NULL && e.options->count > 0) {
      printf("  options, their defaults and meanings:\n");
      print_options(e.options);
    }
  }
  if (options && !list->longer) {
    printf("\nsaltus list %s NAME shows source and options of one, --all of all.\n", list->what);
  }
}

static void json_options(json* j, const saltus_field_table* options) {
  json_open(j, "options", '[');
  for (int k = 0; options != NULL && k < options->count; k++) {
    const saltus_field* field = &options->fields[k];
    json_open(j, NULL, '{');
    json_text(j, "option", field->name);
    if (field->type == SALTUS_FIELD_CHOICE) {
      json_text(j, "default", field->choices[(int)field->fallback]);
    } else {
      json_number(j, "default", field->fallback);
      json_number(j, "least", field->lo);
      json_number(j, "most", field->hi);
    }
    json_text(j, "meaning", field->doc);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static void json_entries(const listing* list) {
  json j = {.file = stdout};
  json_open(&j, NULL, '{');
  json_open(&j, list->what, '[');
  entry e;
  for (int i = 0; list->at(i, &e); i++) {
    if (!wanted(list, &e)) {
      continue;
    }
    json_open(&j, NULL, '{');
    json_text(&j, "name", e.name);
    json_text(&j, "summary", e.summary);
    json_text(&j, "source", e.source);
    if (e.kind[0] != '\0') {
      json_text(&j, "kind", e.kind);
    }
    if (list->longer) {
      json_options(&j, e.options);
    }
    json_close(&j, '}');
  }
  json_close(&j, ']');
  json_close(&j, '}');
}

/* Reports a name that is not in the list, with similar names. */
static bool name_exists(const listing* list) {
  const char* names[CLI_MOST];
  int count = 0;
  entry e;
  for (int i = 0; list->at(i, &e); i++) {
    if (list->name == NULL || wanted(list, &e)) {
      return true;
    }
    if (count < CLI_MOST) {
      names[count++] = e.name;
    }
  }
  char near[128];
  cli_error("list: there is no \"%s\" among the %s%s; see saltus list %s", list->name, list->what,
            cli_near(list->name, names, count, near, sizeof near), list->what);
  return false;
}

int cli_list(const cli_args* args) {
  static const struct {
    const char* kind;
    lister at;
  } kinds[] = {{"schemes", scheme_entry}, {"controls", control_entry},
               {"solvers", solver_entry}, {"problems", problem_entry},
               {"studies", study_entry},  {"functions", function_entry},
               {"laws", law_entry}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].kind, args->positional[0]) != 0) {
      continue;
    }
    const char* name = args->positional_count > 1 ? args->positional[1] : NULL;
    const listing list = {.what = kinds[i].kind,
                          .at = kinds[i].at,
                          .name = name,
                          .longer = name != NULL || cli_has(args, "--all")};
    if (!name_exists(&list)) {
      return CLI_USAGE;
    }
    (cli_has(args, "--json") ? json_entries : print_entries)(&list);
    return CLI_DONE;
  }
  cli_error("list: no list of \"%s\"; there are: schemes, controls, solvers, problems, studies, "
            "functions, laws",
            args->positional[0]);
  return CLI_USAGE;
}
