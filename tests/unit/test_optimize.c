/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_optimize.c - optima and edges in closed form by every method, robust design, failed runs, refusals.
 *
 *   throw   x y at 1 s is largest at 20 sin(a)^2 - 4.905 sin(a) - 10 = 0
 *   ball    falls from h with g = 2: impacts at sqrt(h), (1 + 2 e) sqrt(h), (1 + 2 e + 2 e^2) sqrt(h)
 */
#include "saltus/optimize.h"
#include "saltus/version.h"
#include "saltus_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char throw_scene[] =
    "saltus: 1\nparameters: {a: 0.6}\n"
    "coordinates: {x: {velocity: 10*cos(a)}, y: {velocity: 10*sin(a)}}\n"
    "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\nsimulate: {until: 1, tol: 1e-12}\n"
    "optimize:\n  variables: [a=0.1:1.4]\n  maximize: last(x*y)\n";

/* Start velocities u and w that reach x + y = 3 at 1 s with the least u^2 + w^2: both (3 + 4.905)/2. */
static const char aim[] =
    "saltus: 1\nparameters: {u: 1, w: 2}\ncoordinates: {x: {velocity: u}, y: {velocity: w}}\n"
    "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\nsimulate: {until: 1, tol: 1e-12}\n"
    "optimize:\n  variables: [u=0:10, w=0:10]\n  minimize: last(x'^2 + (y' + 9.81*t)^2)\n"
    "  constraints: [last(x + y) = 3]\n";

static const char ball[] =
    "saltus: 1\nparameters: {e: 0.5, h: 1}\ncoordinates: {q: {start: h}}\nkinetic: q'^2/2\n"
    "potential: 2*q\ncontacts: [{name: floor, gap: q, restitution: e}]\n"
    "simulate: {until: 2.9, tol: 1e-12}\n";

/* x = a + p at all times. */
static const char spread[] =
    "saltus: 1\nparameters: {a: 0, p: 0}\ncoordinates: {x: {start: a + p}}\nkinetic: x'^2/2\n"
    "simulate: {until: 1, tol: 1e-12}\n";

static saltus_optimize_def def_of(const char* text, const char* const* variables, int count,
                                  saltus_kept_message* kept) {
  saltus_optimize_def def = saltus_optimize_def_default();
  def.text = text;
  def.variables = variables;
  def.variable_count = count;
  def.tolerance = 1e-8;
  def.log = saltus_log_keep(kept);
  return def;
}

static saltus_optimize* solved(const saltus_optimize_def* def, const saltus_kept_message* kept) {
  saltus_optimize* o;
  if (saltus_optimize_create(def, &o) != SALTUS_OK || saltus_optimize_execute(o) != SALTUS_OK) {
    fail_msg("%s", kept->text);
  }
  assert_true(saltus_optimize_get_view(o)->converged && saltus_optimize_get_view(o)->feasible);
  return o;
}

static bool without_nlopt(void) {
  if (!saltus_has("nlopt")) {
    print_message("built without NLopt\n");
  }
  return !saltus_has("nlopt");
}

static void every_method_finds_the_optimum(void** state) {
  (void)state;
  static const char* const methods[] = {"gradient", "local", "global"};
  const double a = asin((4.905 + sqrt(4.905 * 4.905 + 800.0)) / 40.0);
  for (int i = 0; i < 3 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(throw_scene, NULL, 0, &kept);
    def.method = methods[i];
    def.evaluations = 200;
    saltus_optimize* o = solved(&def, &kept);
    const saltus_optimize_view* v = saltus_optimize_get_view(o);
    assert_near(v->values[0], a, 1e-6);
    assert_near(v->results[0], 10.0 * cos(a) * (10.0 * sin(a) - 4.905), 1e-10);
    assert_true((v->gradient != NULL) == (i == 0));
    assert_true(i > 0 || fabs(v->gradient[0]) < 1e-5);
    saltus_optimize_destroy(o);
  }
}

static void constraints_hold_at_the_optimum(void** state) {
  (void)state;
  static const char* const methods[] = {"gradient", "local"};
  for (int i = 0; i < 2 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(aim, NULL, 0, &kept);
    def.method = methods[i];
    def.evaluations = 4000;
    saltus_optimize* o = solved(&def, &kept);
    const saltus_optimize_view* v = saltus_optimize_get_view(o);
    assert_near(v->values[0], 3.9525, 1e-6);
    assert_near(v->values[1], 3.9525, 1e-6);
    assert_near(v->results[1], 3.0, 1e-6);
    saltus_optimize_destroy(o);
  }
}

/* The second impact at 1.5 s: h = (1.5/(1 + 2 e))^2, through one impact and by derivatives of its time. */
static void derivatives_pass_through_impacts(void** state) {
  (void)state;
  static const char* const methods[] = {"gradient", "local"};
  const char* variables[] = {"h=0.1:2"};
  for (int i = 0; i < 2 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(ball, variables, 1, &kept);
    def.method = methods[i];
    def.minimize = "(time(impact, 2) - 1.5)^2";
    saltus_optimize* o = solved(&def, &kept);
    assert_near(saltus_optimize_get_view(o)->values[0], 0.5625, 1e-6);
    saltus_optimize_destroy(o);
  }
}

static void edges_are_located(void** state) {
  (void)state;
  static const struct {
    const char *variable, *find;
    double value;
  } cases[] = {
      {"e=0.1:0.9", "time(impact, 2) = 2.3", 0.65},
      {"h=0.1:8 log", "time(impact) >= 2", 4.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(ball, &cases[i].variable, 1, &kept);
    def.find = cases[i].find;
    def.threads = 2;
    saltus_optimize* o = solved(&def, &kept);
    const saltus_optimize_view* v = saltus_optimize_get_view(o);
    assert_near(v->values[0], cases[i].value, 1e-6);
    assert_true(v->bracket[0] <= v->values[0] && v->values[0] <= v->bracket[1]);
    assert_int_equal(v->changes, 1);
    saltus_optimize_destroy(o);
  }
}

static void a_condition_that_does_not_change_is_an_error(void** state) {
  (void)state;
  const char* variables[] = {"h=0.1:2"};
  saltus_kept_message kept;
  saltus_optimize* o;
  saltus_optimize_def def = def_of(ball, variables, 1, &kept);
  def.find = "count(impact) >= 1";
  assert_int_equal(saltus_optimize_create(&def, &o), SALTUS_OK);
  assert_int_equal(saltus_optimize_execute(o), SALTUS_ERR_BOUND);
  assert_true(saltus_optimize_get_view(o)->changes == 0 && !saltus_optimize_get_view(o)->feasible);
  assert_says(kept, "changes 0 times");
  saltus_optimize_destroy(o);
}

static void edges_of_counts_are_located(void** state) {
  (void)state;
  const char* variables[] = {"h=1:3"};
  saltus_kept_message kept;
  saltus_run_def run = saltus_run_def_default();
  run.until = 2.2;
  saltus_optimize_def def = def_of(ball, variables, 1, &kept);
  def.run = &run;
  def.find = "count(impact of floor) = 1";
  saltus_optimize* o = solved(&def, &kept);
  const saltus_optimize_view* v = saltus_optimize_get_view(o);
  assert_near(v->values[0], 1.21, 1e-6); /* the second impact at 2 sqrt(h) = 2.2 */
  assert_true(v->results[0] == 1.0 && v->bracket_results[0] > 1.0);
  assert_true(v->bracket[1] - v->bracket[0] <= 2e-8);
  saltus_optimize_destroy(o);
}

static void robust_optima_are_those_of_the_samples(void** state) {
  (void)state;
  const char *variables[] = {"a=-3:3"}, *random[] = {"p~normal(0.5, 0.2)"};
  const char* constraints[] = {"quantile 0.9 of last(x) <= 1"};
  static const char* const methods[] = {"gradient", "local"};
  double mean[2];
  for (int i = 0; i < 2 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(spread, variables, 1, &kept);
    def.random = random;
    def.random_count = 1;
    def.samples = 41;
    def.sampling = SALTUS_SAMPLING_LATIN;
    def.method = methods[i];
    def.minimize = "mean of last(x)^2"; /* least where the mean of x is 0 */
    saltus_optimize* o = solved(&def, &kept);
    mean[i] = saltus_optimize_get_view(o)->values[0];
    saltus_optimize_destroy(o);
    def.minimize = NULL;
    def.find = "mean of last(x) = 0";
    o = solved(&def, &kept);
    assert_near(mean[i], saltus_optimize_get_view(o)->values[0], 1e-6);
    saltus_optimize_destroy(o);
    def.find = NULL;
    def.maximize = "mean of last(x)";
    def.constraints = constraints;
    def.constraint_count = 1;
    o = solved(&def, &kept);
    const saltus_optimize_view* v = saltus_optimize_get_view(o);
    assert_near(v->results[1], 1.0, 1e-6);
    assert_near(v->values[0], 1.0 - 0.5 - 0.2 * 1.2815515655446004, 0.03); /* of 41 strata */
    saltus_optimize_destroy(o);
  }
}

static void results_do_not_depend_on_threads(void** state) {
  (void)state;
  const char *variables[] = {"a=-3:3"}, *random[] = {"p~normal(0.5, 0.2)"};
  double values[2];
  int evaluations[2];
  for (int i = 0; i < 2 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize_def def = def_of(spread, variables, 1, &kept);
    def.random = random;
    def.random_count = 1;
    def.samples = 40;
    def.threads = 1 + 2 * i;
    def.method = "local";
    def.minimize = "quantile 0.8 of last(x)^2";
    saltus_optimize* o = solved(&def, &kept);
    values[i] = saltus_optimize_get_view(o)->values[0];
    evaluations[i] = saltus_optimize_get_view(o)->evaluations;
    saltus_optimize_destroy(o);
  }
  assert_true(without_nlopt() || (values[0] == values[1] && evaluations[0] == evaluations[1]));
}

/* Counts have no derivative: auto reports it and continues without, gradient refuses. */
static void missing_derivatives_are_reported(void** state) {
  (void)state;
  const char *variables[] = {"h=0.1:2"}, *constraints[] = {"count(impact) >= 1"};
  static const char* const methods[] = {"auto", "gradient"};
  for (int i = 0; i < 2 && !without_nlopt(); i++) {
    saltus_kept_message kept;
    saltus_optimize* o;
    saltus_optimize_def def = def_of(ball, variables, 1, &kept);
    def.method = methods[i];
    def.minimize = "(time(impact) - 1.2)^2";
    def.constraints = constraints;
    def.constraint_count = 1;
    assert_int_equal(saltus_optimize_create(&def, &o), SALTUS_OK);
    const saltus_status status = saltus_optimize_execute(o);
    const saltus_optimize_view* v = saltus_optimize_get_view(o);
    assert_int_equal(status, i == 0 ? SALTUS_OK : SALTUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(v->note, "not counts"));
    if (i == 0) {
      assert_near(v->values[0], 1.44, 1e-5);
    } else {
      assert_says(kept, "not counts");
    }
    saltus_optimize_destroy(o);
  }
}

/* x'' = k x^3 from 1 has no solution up to 1 s for large k: the search ends with the values of that run. */
static void failed_runs_end_the_search(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {k: 1}\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\n"
      "forces: {x: k*x^3}\nsimulate: {until: 1, tol: 1e-8}\n";
  const char* variables[] = {"k=1:100"};
  for (int i = 0; i < 2; i++) {
    saltus_kept_message kept;
    saltus_optimize* o;
    saltus_optimize_def def = def_of(text, variables, 1, &kept);
    if (i == 0) {
      def.find = "max(x) >= 1e4";
    } else if (without_nlopt()) {
      break;
    } else {
      def.maximize = "last(x)";
      def.method = "local";
    }
    assert_int_equal(saltus_optimize_create(&def, &o), SALTUS_OK);
    assert_int_not_equal(saltus_optimize_execute(o), SALTUS_OK);
    assert_says(kept, "optimize: the run at k = ");
    assert_true(!saltus_optimize_get_view(o)->converged);
    saltus_optimize_destroy(o);
  }
}

static void no_feasible_value_is_an_error(void** state) {
  (void)state;
  const char *variables[] = {"h=0.1:2"}, *constraints[] = {"last(q) >= 10"};
  saltus_kept_message kept;
  saltus_optimize* o;
  saltus_optimize_def def = def_of(ball, variables, 1, &kept);
  def.minimize = "max(q)";
  def.method = "local";
  def.constraints = constraints;
  def.constraint_count = 1;
  if (!without_nlopt()) {
    assert_int_equal(saltus_optimize_create(&def, &o), SALTUS_OK);
    assert_int_equal(saltus_optimize_execute(o), SALTUS_ERR_BOUND);
    assert_false(saltus_optimize_get_view(o)->feasible);
    assert_says(kept, "no values were found that satisfy the constraints");
    saltus_optimize_destroy(o);
  }
}

static void bad_input_is_refused_with_its_reason(void** state) {
  (void)state;
  static const struct {
    const char *variable, *minimize, *constraint, *method, *says;
  } cases[] = {
      {"h", "max(q)", NULL, NULL, "a variable is NAME=LOW:HIGH"},
      {"h=2:1", "max(q)", NULL, NULL, "the bounds have to be finite and rise"},
      {"k=1:2", "max(q)", NULL, NULL, "no parameter, coordinate or velocity"},
      {"h=1:2", "max(q) <= 1", NULL, NULL, "the objective is a measure without a relation"},
      {"h=1:2", "max(q)", "max(q)", NULL, "a condition is MEASURE <= NUMBER"},
      {"h=1:2", "max(q)", "max(q) <= w", NULL, "the right side has to be a number"},
      {"h=1:2", "quantile 2 of max(q)", NULL, NULL, "with P from 0 to 1"},
      {"h=1:2", "max(w)", NULL, NULL, "unknown name \"w\""},
      {"h=1:2", NULL, NULL, NULL, "give one of minimize, maximize and find"},
      {"h=1:2", "max(q)", NULL, "newton", "allowed: auto, gradient, local, global"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    saltus_kept_message kept;
    saltus_optimize* o;
    saltus_optimize_def def = def_of(ball, &cases[i].variable, 1, &kept);
    def.minimize = cases[i].minimize;
    def.method = cases[i].method;
    def.constraints = &cases[i].constraint;
    def.constraint_count = cases[i].constraint != NULL;
    assert_true(saltus_optimize_create(&def, &o) != SALTUS_OK);
    assert_null(o);
    assert_says(kept, cases[i].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_method_finds_the_optimum),
      cmocka_unit_test(constraints_hold_at_the_optimum),
      cmocka_unit_test(derivatives_pass_through_impacts),
      cmocka_unit_test(edges_are_located),
      cmocka_unit_test(edges_of_counts_are_located),
      cmocka_unit_test(a_condition_that_does_not_change_is_an_error),
      cmocka_unit_test(robust_optima_are_those_of_the_samples),
      cmocka_unit_test(results_do_not_depend_on_threads),
      cmocka_unit_test(missing_derivatives_are_reported),
      cmocka_unit_test(failed_runs_end_the_search),
      cmocka_unit_test(no_feasible_value_is_an_error),
      cmocka_unit_test(bad_input_is_refused_with_its_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
