/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The reference pages name everything that the tables of the library hold: every key of a scene,
 * every function of a formula, every option of a scheme, each in backticks.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* The whole page, to be freed; NULL when it cannot be read. */
static char* read_page(const char* name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", SALTUS_DOCS, name);
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    printf("%s cannot be read\n", path);
    return NULL;
  }
  char* text = NULL;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (size > 0 && fseek(file, 0, SEEK_SET) == 0) {
    text = calloc((size_t)size + 1, 1);
  }
  bool whole = text != NULL && fread(text, 1, (size_t)size, file) == (size_t)size;
  fclose(file);
  if (!whole) {
    free(text);
    return NULL;
  }
  return text;
}

/* The part of the page from a heading to the next one, cut off in place; NULL when there is no such
 * heading. */
static char* cut_section(char* page, const char* heading) {
  char* start = strstr(page, heading);
  if (start == NULL) {
    return NULL;
  }
  char* end = strstr(start + 1, "\n#");
  if (end != NULL) {
    *end = '\0';
  }
  return start;
}

/* Missing names are printed, so that one run shows all. */
static int missing(const char* text, const char* page, const char* word) {
  char quoted[160];
  snprintf(quoted, sizeof quoted, "`%s`", word);
  bool there = text != NULL && strstr(text, quoted) != NULL;
  if (!there) {
    printf("%s does not name %s\n", page, quoted);
  }
  return there ? 0 : 1;
}

/* "contacts[]" stands under the heading of `contacts`, "" under that of the scene. */
static void heading_of(const char* section, char* heading, size_t bytes) {
  if (section[0] == '\0') {
    snprintf(heading, bytes, "\n## The scene\n");
  } else {
    snprintf(heading, bytes, "\n### `%.*s`\n", (int)strcspn(section, ".["), section);
  }
}

static void every_key_stands_in_its_section(void** state) {
  (void)state;
  int faults = 0;
  int count = 0;
  for (; saltus_scene_key_at(count) != NULL; count++) {
    const saltus_scene_key* key = saltus_scene_key_at(count);
    char* page = read_page("scene.md");
    assert_non_null(page);
    char heading[96];
    heading_of(key->section, heading, sizeof heading);
    faults += missing(cut_section(page, heading), "scene.md", key->key);
    free(page);
  }
  assert_true(count > 0);
  assert_int_equal(faults, 0);
}

static void every_function_is_named(void** state) {
  (void)state;
  char* page = read_page("scene.md");
  assert_non_null(page);
  const char* section = cut_section(page, "\n## Formulas\n");
  int faults = 0;
  int count = 0;
  for (; saltus_formula_function_at(count) != NULL; count++) {
    faults += missing(section, "scene.md", saltus_formula_function_at(count)->name);
  }
  free(page);
  assert_true(count > 0);
  assert_int_equal(faults, 0);
}

/* Pages of families; each has a table with a row for each of its members. */
static const char* const families[] = {"moreau-jean",     "schatzman-paoli", "splitting",
                                       "event-capturing", "time-dg",         "trapezoidal",
                                       "variational",     "adaptive"};
enum { FAMILIES = sizeof families / sizeof families[0] };

static void every_option_is_named_on_the_page_of_its_family(void** state) {
  (void)state;
  int faults = 0;
  for (int i = 0; i < saltus_scheme_count(); i++) {
    const saltus_scheme_info* info = saltus_scheme_at(i);
    char row[160];
    snprintf(row, sizeof row, "\n| `%s` |", info->name);
    int pages = 0;
    for (int f = 0; f < FAMILIES; f++) {
      char name[160];
      snprintf(name, sizeof name, "schemes/%s.md", families[f]);
      char* page = read_page(name);
      assert_non_null(page);
      bool member = strstr(page, row) != NULL;
      for (int k = 0; member && k < info->options.count; k++) {
        faults += missing(page, name, info->options.fields[k].name);
      }
      pages += member ? 1 : 0;
      free(page);
    }
    if (pages != 1) {
      printf("%d pages have a row of %s\n", pages, info->name);
    }
    faults += pages != 1;
  }
  assert_true(saltus_scheme_count() > 0);
  assert_int_equal(faults, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_key_stands_in_its_section),
      cmocka_unit_test(every_function_is_named),
      cmocka_unit_test(every_option_is_named_on_the_page_of_its_family),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
