/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_formula.c - formulas: what they evaluate to, their derivatives and their errors.
 */
#include "base/suggest.h"
#include "formula/parse.h"
#include "formula_fixture.h"

#include <stdio.h>

/* One coordinate x of mass 1 under a force. */
static fixture open_force(const char* force) {
  const saltus_formula_coordinate x = {.name = "x", .force = TEXT(force)};
  const saltus_formula_def def = {
      .coordinates = &x, .coordinate_count = 1, .kinetic = TEXT("x'^2/2")};
  return open_model(&def);
}

static double force_at(const char* force, double t, double x, double v) {
  fixture f = open_force(force);
  double F;
  f.at.t = t;
  f.at.q = &x;
  f.at.v = &v;
  f.system->ops->force(f.system->self, &f.at, &F);
  close_model(&f);
  return F;
}

static double constant(const char* text) {
  double value = NAN;
  saltus_kept_message kept;
  saltus_formula_text formula = TEXT(text);
  if (saltus_formula_constant(NULL, 0, formula, saltus_log_keep(&kept), &value) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return value;
}

/* --- text to value ---------------------------------------------------------------------------- */

static void operators_bind_as_in_mathematics(void** state) {
  (void)state;
  assert_true(constant("1 + 2*3") == 7.0);
  assert_true(constant("(1 + 2)*3") == 9.0);
  assert_true(constant("8 - 3 - 2") == 3.0);
  assert_true(constant("8/4/2") == 1.0);
  assert_true(constant("2^3^2") == 512.0);
  assert_true(constant("-2^2") == -4.0);
  assert_true(constant("(-2)^2") == 4.0);
  assert_true(constant("2^-1") == 0.5);
  assert_true(constant("2*-3") == -6.0);
  assert_true(constant("- -3") == 3.0);
  assert_true(constant("-2*3 + +4") == -2.0);
  assert_true(constant("6/2*3") == 9.0);
}

static void numbers_are_read_to_the_last_bit(void** state) {
  (void)state;
  assert_true(constant("1e-3") == 1e-3);
  assert_true(constant(".5") == 0.5);
  assert_true(constant("5.") == 5.0);
  assert_true(constant("12.5E+2") == 1250.0);
  assert_true(constant("0.1") == 0.1);
  assert_true(constant("3.14159265358979323846264338327950288") == PI);
  assert_true(constant("4.9406564584124654e-324") > 0.0);
  assert_true(constant("1e-99999999999") == 0.0);
  assert_true(constant("pi") == PI);
}

static void functions_agree_with_the_c_library(void** state) {
  (void)state;
  const double x = 0.37, v = -1.3, t = 2.5;
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"sin(x)", sin(x)},
      {"cos(x)", cos(x)},
      {"tan(x)", tan(x)},
      {"asin(x)", asin(x)},
      {"acos(x)", acos(x)},
      {"atan(x)", atan(x)},
      {"atan2(x, x')", atan2(x, v)},
      {"sinh(x)", sinh(x)},
      {"cosh(x)", cosh(x)},
      {"tanh(x)", tanh(x)},
      {"exp(x)", exp(x)},
      {"log(x)", log(x)},
      {"log10(x)", log10(x)},
      {"sqrt(x)", sqrt(x)},
      {"abs(x')", 1.3},
      {"sign(x') + sign(0*x) + sign(x)", 0.0},
      {"min(x, x', t)", v},
      {"max(x, x', t)", t},
      {"hypot(x, x')", hypot(x, v)},
      {"pow(x, t)", pow(x, t)},
      {"x^2", x * x},
      {"x^3", x * x * x},
      {"x^-2", 1.0 / (x * x)},
      {"x'^5", v * (v * v) * (v * v)},
      {"x^40", pow(x, 40.0)},
      {"step(x')", 0.0},
      {"step(x - x)", 1.0},
      {"smoothstep(1, 2, x)", 0.0},
      {"smoothstep(-1, 0.1, x)", 1.0},
      {"smoothstep(0, 0.74, x)", 0.5},
      {"piecewise(x < 0, 1, x < 0.37, 2, x <= 0.37, 3, 4)", 3.0},
      {"piecewise(x > 0 and x' > 0, 1, x > 0 or x' > 0, 2, 3)", 2.0},
      {"piecewise(not x > 0, 1, not (x' >= 0), 2, 3)", 2.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    /* round-off of a few operations */
    assert_near(force_at(cases[i].text, t, x, v), cases[i].value,
                4e-16 * (1 + fabs(cases[i].value)));
  }
}

static void squares_have_the_bits_of_products(void** state) {
  (void)state;
  for (int i = 1; i < 100; i++) {
    double x = 0.1 * i + 1e-7;
    assert_true(force_at("x^2", 0, x, 0) == x * x);
    assert_true(force_at("x*x", 0, x, 0) == x * x);
    assert_true(force_at("2*x - x^2*x'", 0, x, 0.7) == 2 * x - x * x * 0.7);
  }
}

static void undefined_values_are_not_hidden(void** state) {
  (void)state;
  assert_true(isnan(force_at("min(sqrt(x), 1)", 0, -1, 0)));
  assert_true(isnan(force_at("max(1, sqrt(x))", 0, -1, 0)));
  assert_true(isnan(force_at("sign(sqrt(x))", 0, -1, 0)));
  assert_true(force_at("piecewise(x > 0, sqrt(x), 7)", 0, -1, 0) == 7.0);
}

/* --- derivatives ------------------------------------------------------------------------------ */

static const char* const smooth[] = {
    "sin(x)*x'",
    "cos(3*x - t)",
    "tan(x/2)",
    "asin(x/3)",
    "acos(x/3)",
    "atan(x*x')",
    "atan2(x, 2 + x')",
    "sinh(x)",
    "cosh(x*x')",
    "tanh(x - x')",
    "exp(-x^2)*x'^2",
    "log(2 + x)",
    "log10(3 + x*x')",
    "sqrt(1 + x^2)",
    "abs(x)*x",
    "sign(x)*x'",
    "min(x, x'^2)*x",
    "max(x^2, x', 0.1)",
    "hypot(x, x')",
    "pow(2 + x, x')",
    "x^7 - x^-3 + x^2.5",
    "(x + x')^3/(1 + x^2)",
    "smoothstep(0, 2, x)*x'",
    "step(x)*x^2",
    "piecewise(x > 5, sqrt(x - 5), x > 0, x^3*x', log(-x))",
    "-(x - x')/(x*x' + 4)",
    "1/(1 + exp(-x))",
    "(sin(x)^2 + cos(x)^2)^4",
};

static void every_function_has_the_derivative_that_differences_show(void** state) {
  (void)state;
  const double q = 0.83, v = 1.21;
  for (size_t i = 0; i < sizeof smooth / sizeof smooth[0]; i++) {
    fixture f = open_force(smooth[i]);
    check_derivatives(&f, 0.4, &q, &v);
    close_model(&f);
  }
}

/* As potentials their second derivatives are F_q, and F itself is tested against V. */
static void potentials_have_exact_first_and_second_derivatives(void** state) {
  (void)state;
  const char* const texts[] = {"exp(-x^2)*x",
                               "sqrt(1 + x^2)/x",
                               "smoothstep(0, 2, x)",
                               "x^5/(2 + x)",
                               "piecewise(x > 0, x^3, sqrt(-1 - x))",
                               "log(1 + cosh(x))"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const saltus_formula_coordinate x = {.name = "x"};
    const saltus_formula_def def = {.coordinates = &x,
                                    .coordinate_count = 1,
                                    .kinetic = TEXT("x'^2"),
                                    .potential = {.text = texts[i]}};
    fixture f = open_model(&def);
    const double q = 0.83, v = 0.0, h = 1e-3;
    check_derivatives(&f, 0.0, &q, &v);
    double V[2], F;
    for (int k = 0; k < 2; k++) {
      double shifted = q + (k == 0 ? -h : h);
      f.at.q = &shifted;
      V[k] = f.system->ops->potential(f.system->self, &f.at);
    }
    f.at.q = &q;
    f.at.v = &v;
    f.system->ops->force(f.system->self, &f.at, &F);
    assert_near(F, -(V[1] - V[0]) / (2 * h), 2e-5); /* h^2 V''' / 6 */
    close_model(&f);
  }
}

static void the_quintic_step_is_twice_differentiable(void** state) {
  (void)state;
  const saltus_formula_coordinate x = {.name = "x"};
  const saltus_formula_def def = {.coordinates = &x,
                                  .coordinate_count = 1,
                                  .kinetic = TEXT("x'^2/2"),
                                  .potential = TEXT("smoothstep(-1, 2, x)")};
  fixture f = open_model(&def);
  const double ends[2] = {-1.0, 2.0};
  for (int k = 0; k < 2; k++) {
    for (int side = -1; side <= 1; side++) {
      double q = ends[k] + 1e-9 * side, F, F_q;
      f.at.q = &q;
      f.system->ops->force(f.system->self, &f.at, &F);
      f.system->ops->force_q(f.system->self, &f.at, &F_q);
      assert_near(F, 0.0, 1e-16);
      assert_near(F_q, 0.0, 1e-8); /* 60 u / 9 */
    }
  }
  close_model(&f);
}

/* --- simplification --------------------------------------------------------------------------- */

static saltusi_expr read(saltusi_scope* scope, const char* text) {
  saltus_formula_text formula = {.text = text};
  saltusi_expr e;
  assert_int_equal(saltusi_parse(scope, &formula, SALTUSI_ON_ANY, &e), SALTUS_OK);
  return e;
}

static void equal_formulas_become_one_node(void** state) {
  (void)state;
  const char* const pairs[][2] = {
      {"x + 0", "x"},
      {"1*x", "x"},
      {"0*exp(x)", "0"},
      {"x - x", "0"},
      {"x/1", "x"},
      {"0/x", "0"},
      {"x^1", "x"},
      {"x^0", "1"},
      {"x*x", "x^2"},
      {"x + x", "2*x"},
      {"3*x - 3*x", "0"},
      {"2*x + 3*x", "5*x"},
      {"-(-x)", "x"},
      {"-(x - y)", "y - x"},
      {"x + (-y)", "x - y"},
      {"x - (-y)", "x + y"},
      {"(-x)*(-y)", "x*y"},
      {"(-x)/y", "-(x/y)"},
      {"2*(3*x)", "6*x"},
      {"(2*x)*(3*y)", "6*(x*y)"},
      {"x/2", "0.5*x"},
      {"(2*x)^2", "4*x^2"},
      {"(x^2)^3", "x^6"},
      {"y + x", "x + y"},
      {"y*x", "x*y"},
      {"cos(x - y)", "cos(y - x)"},
      {"sin(x - y)", "-sin(y - x)"},
      {"abs(x)^2", "x^2"},
      {"hypot(x, y)^2", "x^2 + y^2"},
      {"x^0.5", "sqrt(x)"},
      {"piecewise(1 < 2, x, y)", "x"},
      {"piecewise(x < y, x, x)", "x"},
      {"sin(0) + 2*pi/pi", "2"},
  };
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_graph graph;
  saltusi_names names;
  assert_int_equal(
      saltusi_graph_start(&graph, &(saltusi_graph_sizes){.positions = 2, .velocities = 2}, NULL),
      SALTUS_OK);
  assert_int_equal(saltusi_names_start(&names, 2, &pool), SALTUS_OK);
  saltusi_names_add(&names, (saltusi_name){.text = "x", .kind = SALTUSI_COORDINATE, .index = 0});
  saltusi_names_add(&names, (saltusi_name){.text = "y", .kind = SALTUSI_COORDINATE, .index = 1});
  saltusi_scope scope = {.graph = &graph, .names = &names};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (read(&scope, pairs[i][0]) != read(&scope, pairs[i][1])) {
      fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
    }
  }
  saltusi_graph_free(&graph);
  saltusi_pool_free(&pool);
}

/* A hundred nested squares double their size each time when written out. */
static void nested_squares_stay_small(void** state) {
  (void)state;
  char text[1000] = "";
  for (int i = 0; i < 90; i++) {
    strcat(text, "sin(1+");
  }
  strcat(text, "x");
  for (int i = 0; i < 90; i++) {
    strcat(text, ")^2");
  }
  const double q = 0.3, v = 0.0;
  fixture f = open_force(text);
  assert_in_range(f.system->dims.scratch, 8, 8000);
  double F_q;
  f.at.q = &q;
  f.at.v = &v;
  f.system->ops->force_q(f.system->self, &f.at, &F_q);
  assert_true(isfinite(F_q));
  close_model(&f);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* The message for a potential over coordinates x and length, written in scene.yaml:7:12. */
static void assert_message(const char* potential, const char* message) {
  const saltus_formula_coordinate coordinates[2] = {{.name = "x"}, {.name = "length"}};
  const saltus_formula_parameter mass = {.name = "mass", .value = TEXT("2")};
  saltus_kept_message kept;
  const saltus_formula_def def = {.parameters = &mass,
                                  .parameter_count = 1,
                                  .coordinates = coordinates,
                                  .coordinate_count = 2,
                                  .kinetic = TEXT("x'^2 + length'^2"),
                                  .potential = {potential, "scene.yaml", 7, 12, "potential"},
                                  .log = saltus_log_keep(&kept)};
  saltus_formula_model* model = NULL;
  assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_ERR_INPUT);
  assert_null(model);
  assert_string_equal(kept.text, message);
}

static void errors_point_at_the_character(void** state) {
  (void)state;
  assert_message("x + lenght^2",
                 "scene.yaml:7:16: potential: unknown name \"lenght\"; did you mean "
                 "\"length\"?\nx + lenght^2\n    ^");
  assert_message("sinn(x)", "scene.yaml:7:12: potential: unknown function \"sinn\"; did you mean "
                            "\"sin\"?\nsinn(x)\n^");
  assert_message("2*qqqq", "scene.yaml:7:14: potential: unknown name \"qqqq\"\n2*qqqq\n  ^");
  assert_message("atan2(x)",
                 "scene.yaml:7:12: potential: atan2 takes 2 arguments, not 1\natan2(x)\n^");
  assert_message("sin()", "scene.yaml:7:12: potential: sin takes 1 argument, not 0\nsin()\n^");
  assert_message("2*(x + 1", "scene.yaml:7:14: potential: parenthesis \"(\" is never closed\n"
                             "2*(x + 1\n  ^");
  assert_message("x + 1)", "scene.yaml:7:17: potential: parenthesis \")\" was never opened\n"
                           "x + 1)\n     ^");
  assert_message("x $ 2", "scene.yaml:7:14: potential: unexpected character \"$\"\nx $ 2\n  ^");
  assert_message("x*\xC3\xA4", "scene.yaml:7:14: potential: unexpected character \"\xC3\xA4\"\n"
                               "x*\xC3\xA4\n  ^");
  assert_message("x +", "scene.yaml:7:15: potential: the formula ends too early\nx +\n   ^");
  assert_message("  ", "scene.yaml:7:14: potential: empty formula");
  assert_message("x*x'", "scene.yaml:7:14: potential: velocities are not allowed here\nx*x'\n  ^");
  assert_message("x*mass'",
                 "scene.yaml:7:14: potential: \"mass'\" is the velocity of something that "
                 "is not a coordinate\nx*mass'\n  ^");
  assert_message("2 x", "scene.yaml:7:14: potential: an operator is missing before this\n2 x\n  ^");
  assert_message("x**2", "scene.yaml:7:14: potential: unexpected \"*\"; powers are written with ^\n"
                         "x**2\n  ^");
  assert_message("x\n + \n\ty*2", "scene.yaml:9:2: potential: unknown name \"y\"\n\ty*2\n\t^");
  assert_message("1e999*x", "scene.yaml:7:12: potential: number is too large\n1e999*x\n^");
  assert_message("sin*x",
                 "scene.yaml:7:12: potential: \"sin\" is a function and needs arguments in "
                 "parentheses\nsin*x\n^");
  assert_message("x(2)",
                 "scene.yaml:7:12: potential: \"x\" is not a function; a product is written "
                 "with *\nx(2)\n^");
  assert_message("x < 2", "scene.yaml:7:12: potential: a condition is no value; use "
                          "piecewise(condition, value, otherwise)\nx < 2\n^");
  assert_message("piecewise(x, 1, 2)", "scene.yaml:7:22: potential: a number stands where a "
                                       "condition is needed, such as x > 0\npiecewise(x, 1, 2)\n"
                                       "          ^");
}

static void a_long_line_is_shown_round_the_caret(void** state) {
  (void)state;
  char text[600] = "";
  for (int i = 0; i < 100; i++) {
    strcat(text, "x + ");
  }
  strcat(text, "y");
  for (int i = 0; i < 30; i++) {
    strcat(text, " + x");
  }
  saltus_kept_message kept;
  const saltus_formula_coordinate x = {.name = "x", .force = {.text = text, .what = "force"}};
  const saltus_formula_def def = {.coordinates = &x,
                                  .coordinate_count = 1,
                                  .kinetic = TEXT("x'^2"),
                                  .log = saltus_log_keep(&kept)};
  saltus_formula_model* model;
  assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_ERR_INPUT);
  const char* line = strchr(kept.text, '\n');
  assert_non_null(line);
  const char* caret = strchr(line + 1, '\n');
  assert_non_null(caret);
  assert_int_equal(line[strchr(caret, '^') - caret], 'y');
  assert_in_range(caret - line, 50, 120);
}

static void hostile_nesting_is_refused(void** state) {
  (void)state;
  enum { DEEP = 20000 };
  const char* const pieces[] = {"(", "-", "2^", "sin(", "x^-", "not "};
  char* text = malloc(8 * DEEP);
  assert_non_null(text);
  for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
    size_t length = strlen(pieces[k]);
    for (size_t i = 0; i < DEEP; i++) {
      memcpy(text + i * length, pieces[k], length + 1);
    }
    double value;
    saltus_kept_message kept;
    saltus_formula_text formula = {.text = text};
    assert_int_equal(saltus_formula_constant(NULL, 0, formula, saltus_log_keep(&kept), &value),
                     SALTUS_ERR_INPUT);
    assert_true(strstr(kept.text, "nested too deeply") != NULL || pieces[k][0] == 'x');
  }
  free(text);
}

static void long_sums_need_no_stack(void** state) {
  (void)state;
  enum { TERMS = 40000, TERM_BYTES = 16 };
  char* text = malloc(TERM_BYTES * TERMS);
  assert_non_null(text);
  size_t used = (size_t)snprintf(text, TERM_BYTES, "x");
  for (int i = 1; i < TERMS; i++) {
    used += (size_t)snprintf(text + used, TERM_BYTES, "+sin(%d*x)", i);
  }
  fixture f = open_force(text);
  double F_q, x = 0.0;
  f.at.q = &x;
  f.system->ops->force_q(f.system->self, &f.at, &F_q);
  assert_true(F_q == 1.0 + (TERMS - 1) * (TERMS / 2.0));
  close_model(&f);
  free(text);
}

static void names_must_be_new_and_free(void** state) {
  (void)state;
  const struct {
    const char* parameter;
    const char* says;
  } cases[] = {
      {"x", "scene.yaml:3: parameter \"x\": a coordinate has this name"},
      {"sin", "scene.yaml:3: parameter \"sin\": this is the name of a function"},
      {"t", "scene.yaml:3: parameter \"t\": this is the name of time"},
      {"pi", "scene.yaml:3: parameter \"pi\": this is the name of the number pi"},
      {"m", "scene.yaml:3: parameter \"m\": defined twice"},
      {"2m", "scene.yaml:3: parameter \"2m\": a name is made of letters"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const saltus_formula_coordinate x = {.name = "x"};
    const saltus_formula_parameter parameters[2] = {
        {.name = "m", .value = TEXT("1")},
        {.name = cases[i].parameter, .value = {"1", "scene.yaml", 3, 9, NULL}}};
    saltus_kept_message kept;
    const saltus_formula_def def = {.parameters = parameters,
                                    .parameter_count = 2,
                                    .coordinates = &x,
                                    .coordinate_count = 1,
                                    .kinetic = TEXT("x'^2"),
                                    .log = saltus_log_keep(&kept)};
    saltus_formula_model* model;
    assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_ERR_INPUT);
    assert_says(kept, cases[i].says);
  }
}

static void parameters_are_evaluated_in_any_order(void** state) {
  (void)state;
  const saltus_formula_parameter parameters[] = {
      {"a", TEXT("b + c")}, {"b", TEXT("2*c")}, {"c", TEXT("sqrt(9) + d")}, {"d", TEXT("pi - pi")}};
  double value;
  saltus_kept_message kept;
  saltus_formula_text formula = TEXT("a*10");
  assert_int_equal(saltus_formula_constant(parameters, 4, formula, saltus_log_keep(&kept), &value),
                   SALTUS_OK);
  assert_true(value == 90.0);
}

static void bad_parameters_are_named(void** state) {
  (void)state;
  const saltus_formula_parameter cyclic[] = {{"a", TEXT("2*b")},
                                             {"b", {"1 + c", "s.yaml", 4, 6, NULL}},
                                             {"c", {"sin(b)", "s.yaml", 5, 6, NULL}}};
  const saltus_formula_parameter infinite[] = {{"a", {"1/0", "s.yaml", 2, 6, NULL}}};
  const saltus_formula_parameter timed[] = {{"a", {"2*t", "s.yaml", 2, 6, NULL}}};
  double value = 5.0;
  saltus_kept_message kept;
  saltus_formula_text one = TEXT("1");
  assert_int_equal(saltus_formula_constant(cyclic, 3, one, saltus_log_keep(&kept), &value),
                   SALTUS_ERR_INPUT);
  assert_string_equal(kept.text,
                      "s.yaml:5:10: parameter \"c\": circular definition of parameters: b -> "
                      "c -> b\nsin(b)\n    ^");
  assert_int_equal(saltus_formula_constant(infinite, 1, one, saltus_log_keep(&kept), &value),
                   SALTUS_ERR_INPUT);
  assert_string_equal(kept.text, "s.yaml:2:6: parameter \"a\": the value is infinite, not a finite "
                                 "number\n1/0\n^");
  assert_int_equal(saltus_formula_constant(timed, 1, one, saltus_log_keep(&kept), &value),
                   SALTUS_ERR_INPUT);
  assert_string_equal(
      kept.text,
      "s.yaml:2:8: parameter \"a\": time t is not allowed here: a constant is required\n2*t\n  ^");
  assert_true(value == 5.0);
}

static void the_nearest_name_is_suggested(void** state) {
  (void)state;
  const char* const names[] = {"length", "width", "height", "m1", "m2"};
  assert_string_equal(saltusi_suggest("lenght", names, 5), "length");
  assert_string_equal(saltusi_suggest("Width", names, 5), "width");
  assert_string_equal(saltusi_suggest("heigt", names, 5), "height");
  assert_string_equal(saltusi_suggest("m3", names, 5), "m1");
  assert_null(saltusi_suggest("velocity", names, 5));
  assert_null(saltusi_suggest("", names, 5));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_bind_as_in_mathematics),
      cmocka_unit_test(numbers_are_read_to_the_last_bit),
      cmocka_unit_test(functions_agree_with_the_c_library),
      cmocka_unit_test(squares_have_the_bits_of_products),
      cmocka_unit_test(undefined_values_are_not_hidden),
      cmocka_unit_test(every_function_has_the_derivative_that_differences_show),
      cmocka_unit_test(potentials_have_exact_first_and_second_derivatives),
      cmocka_unit_test(the_quintic_step_is_twice_differentiable),
      cmocka_unit_test(equal_formulas_become_one_node),
      cmocka_unit_test(nested_squares_stay_small),
      cmocka_unit_test(errors_point_at_the_character),
      cmocka_unit_test(a_long_line_is_shown_round_the_caret),
      cmocka_unit_test(hostile_nesting_is_refused),
      cmocka_unit_test(long_sums_need_no_stack),
      cmocka_unit_test(names_must_be_new_and_free),
      cmocka_unit_test(parameters_are_evaluated_in_any_order),
      cmocka_unit_test(bad_parameters_are_named),
      cmocka_unit_test(the_nearest_name_is_suggested),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
