/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_verify_laws.c - certificates of runs with friction and impact laws beyond Coulomb's and Newton's: right ones pass,
 * and a coefficient that is a little off is found. The checker's formulas of circular patches are beside those of the library.
 */
#include "friction_cases.h"
#include "recorded.h"
#include "verify/checker.h"

#include <stdio.h>
#include <stdlib.h>

static void friction_laws_pass(void** state) {
  (void)state;
  static const way ways[] = {{.scheme = "adaptive", .tol = 1e-4},
                             {.scheme = "adaptive", .tol = 1e-8},
                             {.scheme = "moreau-jean", .step = 1e-3}};
  const friction_case* one;
  for (int i = 0; (one = friction_case_at(i)) != NULL; i++) {
    for (int k = 0; k < 3; k++) {
      if (!saltus_test_takes(i + k)) {
        continue;
      }
      way w = ways[k];
      w.until = fmin(one->until, 12.0);
      recorded r = record_text(one->scene, w);
      saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
      say_failures(&c, one->label);
      assert_true(c.passed && c.complete);
      assert_true(k == 2 || c.followed > 0.9 * c.span);
      forget(&r);
    }
  }
}

/* The text with one piece replaced. */
static char* edited(const char* text, const char* from, const char* to) {
  const char* at = strstr(text, from);
  if (at == NULL) {
    fail_msg("%s is not in the scene", from);
  }
  size_t bytes = strlen(text) + strlen(to) + 1;
  char* out = malloc(bytes);
  assert_non_null(out);
  snprintf(out, bytes, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  return out;
}

static const friction_case* case_of(const char* label) {
  const friction_case* one;
  for (int i = 0; (one = friction_case_at(i)) != NULL; i++) {
    if (strcmp(one->label, label) == 0) {
      return one;
    }
  }
  fail_msg("no case %s", label);
  return NULL;
}

static void other_coefficients_are_found(void** state) {
  (void)state;
  static const struct {
    const char *label, *from, *to;
    bool with_fixed_steps; /* also there, by slip */
  } cases[] = {
      {"slides, rolls and stops", "arm: 0.002", "arm: 0.0021", true},
      {"a disc that drills", "arm: 2*0.3", "arm: 2.1*0.3", true},
      {"viscous friction beside Coulomb's", "viscous: 0.5", "viscous: 0.55", true},
      {"a pendulum with a dry pin", "force: 1", "force: 1.02", true},
      {"a wheel on a pin, by its reaction", "arm: 0.1", "arm: 0.11", true},
      {"disc, d0 = 1/4", "radius: 0.05", "radius: 0.0501", false},
      {"disc, d0 = 2", "friction: 0.3", "friction: 0.301", false},
      {"1 / (1 + 3 s)", "3*s", "3.05*s", true},
      {"0.5 + 0.5 exp(-s / 0.1)", "speed: 0.1", "speed: 0.11", true},
      {"associated, along", "across: 0.4/", "across: 0.41/", true},
      {"against the slip", "along: 0.4", "along: 0.41", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const friction_case* one = case_of(cases[i].label);
    char* text = edited(one->scene, cases[i].from, cases[i].to);
    for (int k = 0; k < (cases[i].with_fixed_steps ? 2 : 1); k++) {
      if (!saltus_test_takes((int)i + k)) {
        continue;
      }
      way w = {.scheme = k == 0 ? "adaptive" : "moreau-jean", .until = fmin(one->until, 8.0)};
      w.tol = k == 0 ? 1e-6 : 0.0;
      w.step = k == 0 ? 0.0 : 1e-3;
      recorded r = record_text(one->scene, w);
      saltus_scene* other = scene_of(text);
      saltus_certificate c = verify(&r, saltus_scene_get_view(other));
      saltus_verify_item item = k == 0 ? SALTUS_VERIFY_MOMENTUM : SALTUS_VERIFY_SLIP;
      if (c.items[item].passed) {
        say_failures(&c, cases[i].label);
        fail_msg("%s: %s was not found by %s", cases[i].label, cases[i].to, c.items[item].name);
      }
      saltus_scene_destroy(other);
      forget(&r);
    }
    free(text);
  }
}

/* A rod that falls turning and strikes with its ends, one after the other, with friction. */
#define ROD                                                                                        \
  "saltus: 1\n"                                                                                    \
  "parameters: {e: 0.6, mu: 0.25}\n"                                                               \
  "coordinates: {x: {velocity: 0.7}, y: {start: 1}, phi: {start: 0.8, velocity: 2}}\n"             \
  "kinetic: (x'^2 + y'^2 + phi'^2/12)/2\n"                                                         \
  "potential: 9.81*y\n"                                                                            \
  "contacts:\n"                                                                                    \
  "  - {name: a, gap: y - 0.5*sin(phi), slip: x' + 0.5*sin(phi)*phi', friction: mu,\n"             \
  "     restitution: e, impact: %s}\n"                                                             \
  "  - {name: b, gap: y + 0.5*sin(phi), slip: x' - 0.5*sin(phi)*phi', friction: mu,\n"             \
  "     restitution: e, impact: %s}\n"                                                             \
  "simulate: {until: 1.2}\n"

static void impact_laws_pass_and_others_are_found(void** state) {
  (void)state;
  static const char* const laws[] = {"newton",    "poisson",     "poisson-printed",
                                     "energetic", "path-newton", "path-poisson"};
  enum { LAWS = 6, BYTES = 2048 };
  char text[BYTES];
  for (int i = 0; i < LAWS; i++) {
    snprintf(text, sizeof text, ROD, laws[i], laws[i]);
    recorded r = record_text(text, (way){.scheme = "adaptive", .tol = 1e-8});
    saltus_certificate c = verify(&r, saltus_scene_get_view(r.scene));
    say_failures(&c, laws[i]);
    assert_true(c.passed && c.complete);
    const saltus_verify_result* law = &c.items[SALTUS_VERIFY_IMPACT_LAW];
    assert_true(law->checked >= 8 && law->skipped == 0);
    assert_true(law->value < 1e-13); /* both compute from the same velocities: rounding */
    for (int k = 0; k < LAWS; k++) {
      snprintf(text, sizeof text, ROD, laws[k], laws[k]);
      saltus_scene* other = scene_of(text);
      c = verify(&r, saltus_scene_get_view(other));
      assert_int_equal(c.items[SALTUS_VERIFY_IMPACT_LAW].passed, k == i);
      saltus_scene_destroy(other);
    }
    forget(&r);
  }
}

/* Means over the disc, computed in two ways. */
static void patches_are_those_of_the_library(void** state) {
  (void)state;
  static const double ratios[] = {1e-6, 0.01, 0.3, 0.5, 0.85, 0.99, 1.0,   1.01,
                                  1.2,  1.49, 1.5, 2.0, 4.0,  30.0, 1000.0};
  for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
    for (int k = 0; k < 2; k++) {
      saltus_patch patch = k == 0 ? SALTUS_PATCH_UNIFORM : SALTUS_PATCH_HERTZ;
      double f, m, F, M;
      saltusi_patch(patch, ratios[i], &f, &m);
      saltus_patch_load(patch, ratios[i], &F, &M);
      /* near 1 the integrand bends: n^-4 of 4096 points, times its fourth derivative */
      double tol = fabs(ratios[i] - 1.0) < 0.1 ? 1e-11 : 2e-12;
      assert_near(f, F, tol);
      assert_near(m, M, k == 1 && ratios[i] > 4.0 ? 1e-11 : tol); /* that of the library there */
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_laws_pass),
      cmocka_unit_test(other_coefficients_are_found),
      cmocka_unit_test(impact_laws_pass_and_others_are_found),
      cmocka_unit_test(patches_are_those_of_the_library),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
