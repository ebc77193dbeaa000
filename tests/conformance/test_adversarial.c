/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Some scenes of every family of the study `adversarial`; make test-long takes all of them. And the
 * judge: it sees a restitution or a velocity that is not the right one.
 */
#include "saltus_test.h"

#include "adversarial_case.h"

#include <stdio.h>
#include <stdlib.h>

static const double tolerances[CASE_TOLERANCES] = {1e-4, 1e-6, 1e-8, 1e-10};

static bool make(const case_family* family, int number, adversarial_case* c) {
  *c = (adversarial_case){.text = calloc(1, CASE_TEXT), .family = family->name, .number = number};
  assert_non_null(c->text);
  if (family->make(c, number)) {
    return true;
  }
  case_destroy(c);
  return false;
}

static void scenes_that_are_hard_come_out_right(void** state) {
  (void)state;
  int wrong = 0;
  int errors = 0;
  int runs = 0;
  for (int i = 0; case_family_at(i) != NULL; i++) {
    const case_family* family = case_family_at(i);
    bool slow = strcmp(family->name, "bodies") == 0; /* references of a second each */
    int count = saltus_test_long() ? family->count : slow ? 0 : 3;
    for (int number = 0; count > 0; number++) {
      adversarial_case c;
      if (!make(family, number, &c)) {
        continue;
      }
      count--;
      for (int k = 0; k < CASE_TOLERANCES; k++) {
        if (tolerances[k] < c.tol_least) {
          continue;
        }
        case_verdict v = case_judge(&c, "adaptive", tolerances[k], 60.0);
        bool failed = v.status != SALTUS_OK;
        if (failed || v.wrong) {
          print_error("%s:%d, tol %g: %s\n", c.family, number, tolerances[k], v.reason);
        }
        runs++;
        wrong += v.wrong;
        errors += failed && family->never_fails ? 100 : failed; /* none of these may */
      }
      case_destroy(&c);
    }
  }
  assert_int_equal(wrong, 0);
  assert_true(100 * errors <= runs);
}

/* A case of the family whose scene has been changed must be judged wrong. */
static void changed(const char* name, const char* key, const char* value) {
  int i = 0;
  while (case_family_at(i) != NULL && strcmp(case_family_at(i)->name, name) != 0) {
    i++;
  }
  assert_non_null(case_family_at(i));
  adversarial_case c = {0};
  for (int number = 0; c.impact_count < 2; number++) {
    case_destroy(&c);
    if (!make(case_family_at(i), number, &c)) {
      c = (adversarial_case){0};
    }
  }
  assert_false(case_judge(&c, "adaptive", 1e-10, 60.0).wrong);
  char* at = strstr(c.text, key);
  assert_non_null(at);
  at += strlen(key);
  char* rest = at + strcspn(at, ",}\n");
  char* text = calloc(1, CASE_TEXT);
  assert_non_null(text);
  snprintf(text, CASE_TEXT, "%.*s%s%s", (int)(at - c.text), c.text, value, rest);
  free(c.text);
  c.text = text;
  assert_true(case_judge(&c, "adaptive", 1e-10, 60.0).wrong);
  case_destroy(&c);
}

static void the_judge_sees_what_is_wrong(void** state) {
  (void)state;
  char off[64];
  snprintf(off, sizeof off, "%.17g", 0.5);
  changed("tables", "restitution: ", off);
  changed("waves", "velocity: ", "1.0001");
  changed("needles", "restitution: ", off);
  changed("accumulations", "restitution: ", off);
  changed("drives", "restitution: ", "0.9999");
  changed("pendulums", "restitution: ", off);
  changed("springs", "restitution: ", off);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_that_are_hard_come_out_right),
      cmocka_unit_test(the_judge_sees_what_is_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
