/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_scene_refused.c - scenes that are wrong: each is refused with one message that says where,
 * what and, where it can, what is allowed. Nothing leaks, also when memory runs out.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

#define SIMULATE "simulate: {until: 1, scheme: moreau-jean, step: 0.01, options: {theta: 0.5}}"

/* A good scene; the cases are small changes of it. */
static const char good[] = "saltus: 1\n"
                           "name: ball\n"
                           "parameters: {m: 2, g: 9.81}\n"
                           "coordinates: {x: {start: 1, unit: m}, y: 2}\n"
                           "kinetic: m/2*(x'^2 + y'^2)\n"
                           "potential: m*g*x\n"
                           "forces: {x: -x'}\n"
                           "joints: [{name: rod, constraint: y - 2}]\n"
                           "contacts:\n"
                           "  - {name: floor, gap: x, restitution: 0.5}\n" SIMULATE "\n"
                           "record: {every: 2}\n";

typedef struct logged {
  int messages;
  char text[1024]; /* the first */
} logged;

static void log_message(void* user, saltus_level level, const char* text) {
  logged* h = user;
  assert_int_equal(level, SALTUS_LEVEL_ERROR);
  if (h->messages++ == 0) {
    snprintf(h->text, sizeof h->text, "%s", text);
  }
}

/* Tries a scene with a counting allocator; what has to hold for every refusal is asserted here. */
static logged refused(saltus_scene_def def, saltus_status expected) {
  logged h = {.messages = 0};
  counter count = {.calls = 0};
  saltus_allocator allocator = counting_allocator(&count);
  def.log = (saltus_log){log_message, &h};
  def.allocator = &allocator;
  saltus_scene* scene;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status != expected) {
    fail_msg("status %d, expected %d; said \"%s\" of\n%s", status, expected, h.text,
             def.text != NULL ? def.text : def.path);
  }
  assert_null(scene);
  if (h.messages != 1) {
    fail_msg("%d messages, the first \"%s\"", h.messages, h.text);
  }
  assert_true(strlen(h.text) > 10);
  assert_int_equal(count.live, 0);
  return h;
}

static logged refused_text(const char* text) {
  return refused((saltus_scene_def){.path = "s.yaml", .text = text}, SALTUS_ERR_INPUT);
}

typedef struct wrong {
  const char* find; /* in the good scene; NULL: the whole text is given */
  const char* with; /* instead of it */
  const char* says; /* start of the message */
} wrong;

static void assert_starts(const logged* h, const char* words) {
  if (strncmp(h->text, words, strlen(words)) != 0) {
    fail_msg("message \"%s\" does not start with \"%s\"", h->text, words);
  }
}

static void assert_all_refused(const wrong* cases, int count) {
  for (int i = 0; i < count; i++) {
    char text[4096];
    const char* found = cases[i].find != NULL ? strstr(good, cases[i].find) : good;
    assert_non_null(found);
    if (cases[i].find == NULL) {
      snprintf(text, sizeof text, "%s", cases[i].with);
    } else {
      snprintf(text, sizeof text, "%.*s%s%s", (int)(found - good), good, cases[i].with,
               found + strlen(cases[i].find));
    }
    logged h = refused_text(text);
    assert_starts(&h, cases[i].says);
  }
}

#define ASSERT_ALL_REFUSED(cases) assert_all_refused(cases, (int)(sizeof cases / sizeof cases[0]))

static void the_good_scene_is_good(void** state) {
  (void)state;
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = good, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_string_equal(kept.text, "");
  saltus_scene_destroy(scene);
}

static const wrong bad_yaml[] = {
    {NULL, "", "s.yaml:1:1: the scene is empty"},
    {NULL, "   \n\n", "s.yaml:1:1: the scene is empty"},
    {NULL, "# only a comment\n", "s.yaml:1:1: the scene is empty"},
    {NULL, "hello", "s.yaml:1:1: the scene has to be a mapping, not a single value"},
    {NULL, "- 1\n- 2\n", "s.yaml:1:1: the scene has to be a mapping, not a list"},
    {NULL, "42\n", "s.yaml:1:1: the scene has to be a mapping, not a single value"},
    {NULL, "saltus: 1\n\tname: x\n",
     "s.yaml:2:1: not valid YAML: a tab indents this line; only spaces may"},
    {NULL, "saltus: 1\nparameters: {m: 2\nkinetic: 1\n",
     "s.yaml:3:8: not valid YAML: missing comma in flow mapping"},
    {NULL, "saltus: 1\nname: \"open\n",
     "s.yaml:2:8: not valid YAML: double-quoted scalar without closing quote"},
    {NULL, "saltus: 1\nsaltus: 1\n", "s.yaml:2:1: not valid YAML: duplicate key"},
    {NULL, "saltus: 1\n---\nsaltus: 1\n",
     "s.yaml:3:1: a second document (after --- or ...); a file is one scene"},
    {NULL, "%YAML 9.9\n---\nsaltus: 1\n", "s.yaml:1:1: not valid YAML"},
    {NULL, "[a, b]: 1\n", "s.yaml:1:1: a key has to be a plain word"},
    {NULL, "? {a: b}\n: 1\n", "s.yaml:1:1: a key has to be a plain word"},
    {NULL, "saltus: 1\nname: [unclosed\n",
     "s.yaml:3:1: not valid YAML: flow sequence without a closing bracket"},
    {NULL, "{saltus: 1", "s.yaml:2:1: not valid YAML: missing comma in flow mapping"},
    {NULL, "saltus: 1\n name: x\n", "s.yaml:1:9: not valid YAML: invalid multiline plain key"},
    {NULL, "saltus: 1\nname: a: b\n",
     "s.yaml:2:8: not valid YAML: invalid nested block mapping on the same line"},
    {NULL, "saltus: 1\nname: @x\n",
     "s.yaml:2:7: not valid YAML: plain scalar cannot start with '@'"},
    {NULL, "saltus: 1\nname: |\nx\n", "s.yaml:3:1: not valid YAML: invalid value after mapping"},
    {NULL, "saltus: !!float 1\nname: x\n",
     "s.yaml:1:17: tags (!name) are not used in scenes; leave it out"},
    {NULL, "saltus: 1\nname: &a x\ndescription: *a\n",
     "s.yaml:2:10: anchors (&name) are not used in scenes; leave it out"},
    {NULL, "saltus: 1\nname: *a\n",
     "s.yaml:2:8: aliases (*name) are not used in scenes; write the value"},
    {NULL, "saltus: 1\nparameters: {<<: {a: 1}}\n",
     "s.yaml:2:19: unknown key \"a\" in parameter \"<<\"; allowed: value, unit"},
};

static void text_that_is_not_one_yaml_mapping_is_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_yaml);
}

static const wrong bad_heads[] = {
    {"gap: x, restitution: 0.5", "gap: x, slip: y, friction: {kinetic: 0.3}",
     "s.yaml:10:47: friction has no coefficient of sticking; give static, along or curve"},
    {"gap: x, restitution: 0.5", "gap: x, slip: y, friction: {static: 0.3, kinetic: 0.4}",
     "s.yaml:10:69: kinetic is 0.4, must be at least 0, at most the coefficient of sticking"},
    {"gap: x, restitution: 0.5", "gap: x, slip: y, friction: {static: 0.3, speed: 1}",
     "s.yaml:10:47: friction has a speed and no kinetic coefficient"},
    {"gap: x, restitution: 0.5", "gap: x, slip: y, friction: {curve: 1/(1 + t)}",
     "s.yaml:10:54: curve is a formula of s, the speed of slip [m/s]; it cannot depend on time"},
    {"gap: x, restitution: 0.5", "gap: x, slip: y, rolling: {arm: 1}",
     "s.yaml:10:46: rolling of contact \"floor\" has no rate; give the angular velocity"},
    {"gap: x, restitution: 0.5", "gap: x, slip: y, rolling: {arm: -1, rate: y'}",
     "s.yaml:10:46: rolling: arm must be positive and finite"},
    {"gap: x, restitution: 0.5",
     "gap: x, slip: y, friction: 0.1, patch: {radius: 1, rate: y', form: x}",
     "s.yaml:10:86: form is \"x\"; allowed: exact, ellipsoid"},
    {"gap: x, restitution: 0.5", "gap: x, viscous: 4",
     "s.yaml:10:6: contact \"floor\" has friction but no slip; give the slip velocity"},
    {"name: ball", "dry_friction: [{name: pin, force: 1}]",
     "s.yaml:2:17: dry friction \"pin\" has no rate; give the velocity it acts against"},
    {"name: ball", "dry_friction: [{name: pin, rate: y', arm: 1}]",
     "s.yaml:2:17: dry friction \"pin\" has an arm and no joint; the arm multiplies the reaction "
     "of a "
     "joint"},
    {"name: ball", "dry_friction: [{name: pin, rate: y', arm: 1, joint: bolt}]",
     "s.yaml:2: rate of dry friction \"pin\": there is no joint by formula of the name \"bolt\""},
    {"saltus: 1", "saltus: 2", "s.yaml:1:9: scene version is \"2\"; this program reads 1"},
    {"saltus: 1\n", "", "s.yaml:1:1: \"saltus\" is missing; a scene has a version, \"saltus: 1\""},
    {"saltus: 1", "saltus: [1]", "s.yaml:1:1: saltus has to be a single value, not a list"},
    {"saltus: 1", "saltus: ", "s.yaml:1:1: saltus has no value; give a single value"},
    {"saltus: 1", "saltus: 1.0", "s.yaml:1:9: scene version is \"1.0\"; this program reads 1"},
    {"name: ball", "nmae: ball",
     "s.yaml:2:1: unknown key \"nmae\" in the scene; did you mean \"name\"?"},
    {"name: ball", "frobnicate: 1",
     "s.yaml:2:1: unknown key \"frobnicate\" in the scene; allowed: saltus, name, description, "
     "include, "
     "parameters, coordinates"},
    {"name: ball", "name: [a]", "s.yaml:2:1: name has to be a single value, not a list"},
    {"name: ball", "name: {a: b}", "s.yaml:2:8: name has to be a single value, not a mapping"},
    {"name: ball", "name:", "s.yaml:2:1: name has no value; give a single value"},
};

static void wrong_versions_and_unknown_keys_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_heads);
}

static const wrong bad_parameters[] = {
    {"m: 2", "m: -2",
     "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
     "\"x\": check the kinetic"},
    {"m: 2", "m: 0", "s.yaml:5: kinetic: x' does not occur squared: coordinate \"x\" has no mass"},
    {"m: 2", "m: 0/0", "s.yaml:3:17: parameter \"m\": the value is undefined, not a finite number"},
    {"m: 2", "m: 1e999", "s.yaml:3:17: parameter \"m\": number is too large"},
    {"m: 2", "m: 1/0", "s.yaml:3:17: parameter \"m\": the value is infinite, not a finite number"},
    {"m: 2", "m: nan", "s.yaml:3:17: parameter \"m\": unknown name \"nan\"; did you mean \"tan\"?"},
    {"m: 2", "m: .inf", "s.yaml:3:17: parameter \"m\": unexpected character \".\""},
    {"m: 2", "m:", "s.yaml:3:14: parameter \"m\" has no value; give a single value"},
    {"m: 2", "m: ~", "s.yaml:3:17: parameter \"m\": unexpected character \"~\""},
    {"m: 2", "m: [1]", "s.yaml:3:14: parameter \"m\" has to be a single value, not a list"},
    {"m: 2", "m: k", "s.yaml:3:17: parameter \"m\": unknown name \"k\""},
    {"m: 2", "m: g, g: m", "s.yaml:3:26: not valid YAML: duplicate key"},
    {"m: 2, g: 9.81", "m: g, g: m",
     "s.yaml:3:23: parameter \"g\": circular definition of parameters: m -> g -> m"},
    {"m: 2, g: 9.81", "m: g, g: k, k: m",
     "s.yaml:3:29: parameter \"k\": circular definition of parameters: m -> g -> k -> m"},
    {"m: 2, g: 9.81", "m: m, g: 1",
     "s.yaml:3:17: parameter \"m\": circular definition of parameters: m -> m"},
    {"m: 2", "m: x", "s.yaml:3:17: parameter \"m\": unknown name \"x\""},
    {"m: 2", "m: t",
     "s.yaml:3:17: parameter \"m\": time t is not allowed here: a constant is required"},
    {"m: 2, g", "m: 2, m: 3, g", "s.yaml:3:20: not valid YAML: duplicate key"},
    {"m: 2", "\"a b\": 1, m: 2",
     "s.yaml:3: parameter \"a b\": a name is made of letters, digits and underscores, does not "
     "start with a digit and "},
    {"m: 2", "2m: 1, m: 2",
     "s.yaml:3: parameter \"2m\": a name is made of letters, digits and underscores, does not "
     "start with a digit and h"},
    {"m: 2", "sin: 1, m: 2", "s.yaml:3: parameter \"sin\": this is the name of a function"},
    {"m: 2", "x: 1, m: 2", "s.yaml:3: parameter \"x\": a coordinate has this name"},
    {"m: 2", "m: 2 3", "s.yaml:3:19: parameter \"m\": an operator is missing before this"},
    {"m: 2", "m: \"2;\"", "s.yaml:3:19: parameter \"m\": unexpected character \";\""},
    {"m: 2", "m: \"0x10\"", "s.yaml:3:19: parameter \"m\": an operator is missing before this"},
    {"parameters: {m: 2, g: 9.81}", "parameters: [m, g]",
     "s.yaml:3:1: parameters has to be a mapping, not a list"},
    {"parameters: {m: 2, g: 9.81}", "parameters: 3",
     "s.yaml:3:13: parameters has to be a mapping, not a single value"},
    {"parameters: {m: 2, g: 9.81}", "parameters:", "s.yaml:5:10: kinetic: unknown name \"m\""},
};

static void wrong_parameters_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_parameters);
}

static const wrong bad_coordinates[] = {
    {"coordinates: {x: {start: 1, unit: m}, y: 2}\n", "",
     "s.yaml:1:1: \"coordinates\" is missing; a scene needs at least one"},
    {"coordinates: {x: {start: 1, unit: m}, y: 2}", "coordinates: {}",
     "s.yaml:4:1: coordinates is empty; a scene needs at least one"},
    {"coordinates: {x: {start: 1, unit: m}, y: 2}",
     "coordinates:", "s.yaml:4:1: coordinates is empty; a scene needs at least one"},
    {"coordinates: {x: {start: 1, unit: m}, y: 2}", "coordinates: [x, y]",
     "s.yaml:4:1: coordinates has to be a mapping, not a list"},
    {"coordinates: {x: {start: 1, unit: m}, y: 2}", "coordinates: x",
     "s.yaml:4:14: coordinates has to be a mapping, not a single value"},
    {"y: 2}", "y: [2]}", "s.yaml:4:39: coordinate \"y\" has to be a mapping, not a list"},
    {"y: 2}", "x: 2, y: 2}", "s.yaml:4:39: not valid YAML: duplicate key"},
    {"y: 2}", "y: {strat: 2}}",
     "s.yaml:4:43: unknown key \"strat\" in coordinate \"y\"; did you mean \"start\"?"},
    {"y: 2}", "y: {zzzzzz: 2}}",
     "s.yaml:4:43: unknown key \"zzzzzz\" in coordinate \"y\"; allowed: start, velocity, unit"},
    {"y: 2}", "y: 2, t: 1}", "s.yaml:4: coordinate \"t\": this is the name of time"},
    {"y: 2}", "y: 2, pi: 1}", "s.yaml:4: coordinate \"pi\": this is the name of the number pi"},
    {"y: 2}", "y: 2, cos: 1}", "s.yaml:4: coordinate \"cos\": this is the name of a function"},
    {"y: 2}", "y: 2, and: 1}", "s.yaml:4: coordinate \"and\": this word joins conditions"},
    {"y: 2}", "y: 2, y': 1}",
     "s.yaml:4: coordinate \"y'\": a name is made of letters, digits and underscores, does not "
     "start with a digit and "},
    {"y: 2}", "y: 2, yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy: 1}",
     "s.yaml:4: coordinate \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\": a "
     "name is made of lett"},
    {"y: 2}", "y: 2, g: 1}", "s.yaml:3: parameter \"g\": a coordinate has this name"},
    {"y: 2}", "y: {start: x}}",
     "s.yaml:4:50: start of coordinate \"y\": coordinate \"x\" is not allowed here: a constant is "
     "required"},
    {"y: 2}", "y: {start: t}}",
     "s.yaml:4:50: start of coordinate \"y\": time t is not allowed here: a constant is required"},
    {"y: 2}", "y: {start: 0/0}}",
     "s.yaml:4:50: start of coordinate \"y\": the value is undefined, not a finite number"},
    {"y: 2}", "y: {start: 2, velocity: 1e400}}",
     "s.yaml:4:63: velocity of coordinate \"y\": number is too large"},
    {"y: 2}", "y: {start: 2, unit: [m]}}",
     "s.yaml:4:53: unit has to be a single value, not a list"},
    {"y: 2}", "y: {start: }}",
     "s.yaml:4:43: start of coordinate \"y\" has no value; give a single value"},
    {"y: 2}", "y: {start: 2, velocity: sqrt(-1)}}",
     "s.yaml:4:63: velocity of coordinate \"y\": the value is undefined, not a finite number"},
};

static void wrong_coordinates_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_coordinates);
}

static const wrong bad_energies[] = {
    {"kinetic: m", "kinetc: m",
     "s.yaml:5:1: unknown key \"kinetc\" in the scene; did you mean \"kinetic\"?"},
    {"kinetic: m/2*(x'^2 + y'^2)\n", "",
     "s.yaml:1:1: \"kinetic\" is missing; give the kinetic energy"},
    {"kinetic: m/2*(x'^2 + y'^2)",
     "kinetic:", "s.yaml:5:1: kinetic has no value; give a single value"},
    {"kinetic: m/2*(x'^2 + y'^2)", "kinetic: \"\"", "s.yaml:5:11: kinetic: empty formula"},
    {"kinetic: m/2*(x'^2 + y'^2)", "kinetic: \"  \"", "s.yaml:5:13: kinetic: empty formula"},
    {"kinetic: m/2*(x'^2 + y'^2)", "kinetic: [1]",
     "s.yaml:5:1: kinetic has to be a single value, not a list"},
    {"m/2*(x'^2 + y'^2)", "m/2*(x'^2 + y'^2",
     "s.yaml:5:14: kinetic: parenthesis \"(\" is never closed"},
    {"m/2*(x'^2 + y'^2)", "m/2*x'^2 + y'^2)",
     "s.yaml:5:25: kinetic: parenthesis \")\" was never opened"},
    {"m/2*(x'^2 + y'^2)", "m/2*(x'^3 + y'^2)",
     "s.yaml:5:15: kinetic: the energy is not quadratic in the velocities: its derivative by x' "
     "and x' still depends on velocities"},
    {"m/2*(x'^2 + y'^2)", "m/2*x'^2",
     "s.yaml:5: kinetic: y' does not occur squared: coordinate \"y\" has no mass"},
    {"m/2*(x'^2 + y'^2)", "m/2*(x'^2 + z'^2)", "s.yaml:5:22: kinetic: unknown name \"z\""},
    {"m/2*(x'^2 + y'^2)", "m/2*(x' + y')^2",
     "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
     "\"y\": check the kinetic"},
    {"m/2*(x'^2 + y'^2)", "m/2*(x^2 + y^2)",
     "s.yaml:5: kinetic: x' does not occur squared: coordinate \"x\" has no mass"},
    {"m/2*(x'^2 + y'^2)", "-m/2*(x'^2 + y'^2)",
     "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
     "\"x\": check the kinetic"},
    {"m/2*(x'^2 + y'^2)", "m/2*((x-1)*x'^2 + y'^2)",
     "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
     "\"x\": check the kinetic"},
    {"m/2*(x'^2 + y'^2)", "m/2*(x'^2/(x-1) + y'^2)",
     "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
     "\"x\": check the kinetic"},
    {"m*g*x", "m*g*x'", "s.yaml:6:16: potential: velocities are not allowed here"},
    {"m*g*x", "m*g*sni(x)",
     "s.yaml:6:16: potential: unknown function \"sni\"; did you mean \"sin\"?"},
    {"m*g*x", "m*g*z", "s.yaml:6:16: potential: unknown name \"z\""},
    {"m*g*x", "m*G*x", "s.yaml:6:14: potential: unknown name \"G\"; did you mean \"g\"?"},
    {"m*g*x", "m*g*(x", "s.yaml:6:16: potential: parenthesis \"(\" is never closed"},
    {"m*g*x", "m**g", "s.yaml:6:14: potential: unexpected \"*\"; powers are written with ^"},
    {"m*g*x", "sin(x, y)", "s.yaml:6:12: potential: sin takes 1 argument, not 2"},
    {"m*g*x", "sin()", "s.yaml:6:12: potential: sin takes 1 argument, not 0"},
    {"m*g*x", "sin x",
     "s.yaml:6:12: potential: \"sin\" is a function and needs arguments in parentheses"},
    {"m*g*x", "x < 2",
     "s.yaml:6:12: potential: a condition is no value; use piecewise(condition, value, otherwise)"},
    {"m*g*x", "m g x", "s.yaml:6:14: potential: an operator is missing before this"},
    {"m*g*x", "piecewise(x, 1)",
     "s.yaml:6:22: potential: a number stands where a condition is needed, such as x > 0"},
    {"m*g*x", "m*g*x;", "s.yaml:6:17: potential: unexpected character \";\""},
    {"m*g*x", "2x", "s.yaml:6:13: potential: an operator is missing before this"},
    {"m*g*x", "1e", "s.yaml:6:13: potential: an operator is missing before this"},
    {"m*g*x", "\"m*g*§\"", "s.yaml:6:17: potential: unexpected character \"§\""},
    {"m*g*x", "1..2", "s.yaml:6:14: potential: an operator is missing before this"},
    {"m*g*x", "1/0*x",
     "s.yaml:4:15: the force on coordinate \"x\" is infinite at the start: check potential, forces "
     "and kinetic energy"},
    {"m*g*x", "1/(x-1)",
     "s.yaml:4:15: the force on coordinate \"x\" is infinite at the start: check potential, forces "
     "and kinetic energy"},
    {"m*g*x", "|\n  m*g*x +\n  sni(y)",
     "s.yaml:8: potential: unknown function \"sni\"; did you mean \"sin\"?"},
};

static void wrong_energies_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_energies);
}

static const wrong bad_forces_and_joints[] = {
    {"{x: -x'}", "{z: 1}", "s.yaml:7:10: forces: \"z\" is not a coordinate"},
    {"{x: -x'}", "{X: 1}", "s.yaml:7:10: forces: \"X\" is not a coordinate; did you mean \"x\"?"},
    {"{x: -x'}", "{velocity: 1}", "s.yaml:7:10: forces: \"velocity\" is not a coordinate"},
    {"{x: -x'}", "[1]", "s.yaml:7:1: forces has to be a mapping, not a list"},
    {"{x: -x'}", "[{at: tip, force: [1, 0]}]",
     "s.yaml:7:1: forces has to be a mapping, not a list"},
    {"{x: -x'}", "[{coordinate: z, force: 1}]", "s.yaml:7:23: forces: \"z\" is not a coordinate"},
    {"{x: -x'}", "[{coordinate: x}]", "s.yaml:7:11: force \"force 1\" has no force"},
    {"{x: -x'}", "[{coordinate: x, force: 1, at: tip}]",
     "s.yaml:7:40: force \"force 1\" acts on a coordinate; at belongs to forces at markers"},
    {"{x: -x'}", "[{coordinate: x, force: 1}, {coordinate: x, force: 2}]",
     "s.yaml:7:50: forces: coordinate \"x\" has a force already; write their sum"},
    {"{x: -x'}", "{x: }",
     "s.yaml:7:10: force of coordinate \"x\" has no value; give a single value"},
    {"{x: -x'}", "{x: [1]}",
     "s.yaml:7:10: force of coordinate \"x\" has to be a single value, not a list"},
    {"{x: -x'}", "{x: 1/0}",
     "s.yaml:4:15: the force on coordinate \"x\" is infinite at the start: check potential, forces "
     "and kinetic energy"},
    {"{x: -x'}", "{x: 1, x: 2}", "s.yaml:7:16: not valid YAML: duplicate key"},
    {"{x: -x'}", "{x: sqrt(-x)}",
     "s.yaml:4:15: the force on coordinate \"x\" is undefined at the start: check potential, "
     "forces and kinetic energy"},
    {"[{name: rod, constraint: y - 2}]", "[{name: rod}]",
     "s.yaml:8:11: joint \"rod\" has no constraint"},
    {"[{name: rod, constraint: y - 2}]", "[{constraint: y - 3}]",
     "s.yaml:8:23: joint \"joint 1\" does not hold at the start: its constraint is -1, allowed is "
     "0.01 (simulate: start_tolerance)"},
    {"constraint: y - 2", "constraint: y - 3",
     "s.yaml:8:34: joint \"rod\" does not hold at the start: its constraint is -1, allowed is "
     "0.01 (simulate: start_tolerance)"},
    {"constraint: y - 2", "constrain: y - 2",
     "s.yaml:8:22: unknown key \"constrain\" in a joint; did you mean \"constraint\"?"},
    {"constraint: y - 2", "constraint: y' - 2",
     "s.yaml:8:34: constraint of joint \"rod\": velocities are not allowed here"},
    {"constraint: y - 2", "constraint: y - 2 - t",
     "s.yaml:8:34: the start velocities break joint \"rod\": its constraint changes at -1 per "
     "second, allowed is 0.01"},
    {"constraint: y - 2", "constraint: \"\"",
     "s.yaml:8:35: constraint of joint \"rod\": empty formula"},
    {"[{name: rod, constraint: y - 2}]", "{name: rod, constraint: y - 2}",
     "s.yaml:8:10: joints has to be a list, not a mapping"},
    {"[{name: rod, constraint: y - 2}]", "[y - 2]",
     "s.yaml:8:10: a joint has to be a mapping, not a single value"},
    {"[{name: rod, constraint: y - 2}]",
     "[{name: rod, constraint: y - 2}, {name: rod, constraint: x - 1}]",
     "s.yaml:8: joint \"rod\": defined twice"},
    {"name: rod", "name: [rod]", "s.yaml:8:11: name has to be a single value, not a list"},
    {"constraint: y - 2", "constraint: log(y-3)",
     "s.yaml:8:34: the constraint of joint \"rod\" or its rate is undefined at the start"},
    {"[{name: rod, constraint: y - 2}]", "[{name: rod, constraint: y - 2}, {}]",
     "s.yaml:8:1: joint \"joint 2\" has no constraint"},
    {"[{name: rod, constraint: y - 2}]",
     "[{name: \"joint 2\", constraint: y - 2}, {constraint: x - 1}]",
     "s.yaml:8: joint \"joint 2\": defined twice"},
    {"[{name: rod, constraint: y - 2}]", "[,]",
     "s.yaml:8:10: not valid YAML: flow sequence with invalid comma in the beginning"},
    {"[{name: rod, constraint: y - 2}]", "[[]]",
     "s.yaml:8:1: a joint has to be a mapping, not a list"},
    {"name: rod", "name: \"\"", "s.yaml:8:18: name is empty; leave it out or give one"},
    {"constraint: y - 2", "constraint: 0", "s.yaml:8:34: joint \"rod\" holds nothing at the start"},
};

static void wrong_forces_and_joints_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_forces_and_joints);
}

static const wrong bad_contacts[] = {
    {"gap: x", "gap: x - 2",
     "s.yaml:10:24: contact \"floor\" penetrates at the start: its gap is -1, allowed is -0.01 "
     "(simulate: start_tolerance)"},
    {"gap: x", "gap: -1e-5",
     "s.yaml:4:15: start: joints that are off by 0 and contacts that overlap by 1e-05 m cannot be "
     "corrected: nothing moves them"},
    {"gap: x", "gap: x'",
     "s.yaml:10:24: gap of contact \"floor\": velocities are not allowed here"},
    {"gap: x, ", "", "s.yaml:10:6: contact \"floor\" has no gap"},
    {"gap: x,", "gpa: x,", "s.yaml:10:19: unknown key \"gpa\" in a contact; did you mean \"gap\"?"},
    {"gap: x,", "gap: ,",
     "s.yaml:10:19: gap of contact \"floor\" has no value; give a single value"},
    {"gap: x,", "gap: sqrt(-x),",
     "s.yaml:10:24: the gap of contact \"floor\" is undefined at the start"},
    {"gap: x,", "gap: x, friction: 0.1,",
     "s.yaml:10:6: contact \"floor\" has friction but no slip; give the slip velocity"},
    {"gap: x,", "gap: x, slip2: y',", "s.yaml:10:6: contact \"floor\" has slip2 but no slip"},
    {"gap: x,", "gap: x, slip: y'^2,",
     "s.yaml:10:33: slip of contact \"floor\": slip is not linear in the velocity y'"},
    {"gap: x,", "gap: x, slip: y', friction: -0.1,",
     "s.yaml:10:47: friction of contact \"floor\": the value is -0.1, must be >= 0"},
    {"restitution: 0.5", "restitution: 1.5",
     "s.yaml:10:40: restitution of contact \"floor\": the value is 1.5, must be between 0 and 1"},
    {"restitution: 0.5", "restitution: -0.1",
     "s.yaml:10:40: restitution of contact \"floor\": the value is -0.1, must be between 0 and 1"},
    {"restitution: 0.5", "restitution: x",
     "s.yaml:10:40: restitution of contact \"floor\": coordinate \"x\" is not allowed here: a "
     "constant is required"},
    {"restitution: 0.5", "restitution: abc",
     "s.yaml:10:40: restitution of contact \"floor\": unknown name \"abc\"; did you mean \"abs\"?"},
    {"restitution: 0.5", "restitutoin: 0.5",
     "s.yaml:10:27: unknown key \"restitutoin\" in a contact; did you mean \"restitution\"?"},
    {"restitution: 0.5", "impact: moreau",
     "s.yaml:10:35: impact is \"moreau\"; allowed: newton, poisson, poisson-printed, "
     "energetic, path-newton, path-poisson"},
    {"restitution: 0.5", "impact: [newton]",
     "s.yaml:10:27: impact has to be a single value, not a list"},
    {"restitution: 0.5", "impact: ", "s.yaml:10:27: impact has no value; give a single value"},
    {"restitution: 0.5", "impact: Newton",
     "s.yaml:10:35: impact is \"Newton\"; did you mean \"newton\"?"},
    {"restitution: 0.5", "tangential_restitution: 2",
     "s.yaml:10:51: tangential_restitution of contact \"floor\": the value is 2, must be between "
     "-1 "
     "and 1"},
    {"restitution: 0.5}\n", "restitution: 0.5}\n  - {name: floor, gap: y}\n",
     "s.yaml:11: contact \"floor\": defined twice"},
    {"  - {name: floor, gap: x, restitution: 0.5}\n", "  name: floor\n  gap: x\n",
     "s.yaml:10:3: contacts has to be a list, not a mapping"},
    {"  - {name: floor, gap: x, restitution: 0.5}\n", "  - x\n",
     "s.yaml:10:5: a contact has to be a mapping, not a single value"},
    {"contacts:\n  - {name: floor, gap: x, restitution: 0.5}\n", "contacts: floor\n",
     "s.yaml:9:11: contacts has to be a list, not a single value"},
    {"- {name: floor, gap: x", "- {name: {a: b}, gap: x",
     "s.yaml:10:13: name has to be a single value, not a mapping"},
};

static void wrong_contacts_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_contacts);
}

static const wrong bad_observables[] = {
    {"simulate:", "outputs: {x: 1}\nsimulate:",
     "s.yaml:11: output \"x\": a coordinate has this name"},
    {"simulate:", "outputs: {t: 1}\nsimulate:",
     "s.yaml:11: output \"t\": this is the name of time"},
    {"simulate:", "outputs: {2a: 1}\nsimulate:",
     "s.yaml:11: output \"2a\": a name is made of letters"},
    {"simulate:", "outputs: {a: x +}\nsimulate:", "s.yaml:11:17: output \"a\": "},
    {"simulate:", "outputs: {a: zzz}\nsimulate:",
     "s.yaml:11:14: output \"a\": unknown name \"zzz\""},
    {"simulate:", "outputs: {a: {unit: m}}\nsimulate:",
     "s.yaml:11:15: output \"a\" has no formula"},
    {"simulate:", "outputs: {a: {formula: x, units: m}}\nsimulate:",
     "s.yaml:11:27: unknown key \"units\" in output \"a\"; did you mean \"unit\"?"},
    {"simulate:", "outputs: [x]\nsimulate:",
     "s.yaml:11:1: outputs has to be a mapping, not a list"},
    {"simulate:", "events: {a: {formula: x, direction: up}}\nsimulate:",
     "s.yaml:11:37: direction is \"up\"; allowed: rising, falling, both"},
    {"simulate:", "events: {a: x > 1}\nsimulate:",
     "s.yaml:11:13: event \"a\": a condition is no value"},
    {"simulate:", "events: {a: }\nsimulate:",
     "s.yaml:11:10: event \"a\" has no value; give a single value"},
};

static void wrong_outputs_and_events_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_observables);
}

static const wrong bad_views[] = {
    {"simulate:", "view: {type: point}\nsimulate:",
     "s.yaml:11:8: view has to be a list, not a mapping"},
    {"simulate:", "view: [{at: [x, y]}]\nsimulate:",
     "s.yaml:11:9: view item 1 has no type; allowed: point, line"},
    {"simulate:", "view: [{type: cirkle, at: [x, y]}]\nsimulate:",
     "s.yaml:11:15: type is \"cirkle\"; did you mean \"circle\"?"},
    {"simulate:", "view: [{type: point, wo: [x, y]}]\nsimulate:",
     "s.yaml:11:22: unknown key \"wo\" in view item 1"},
    {"simulate:", "view: [{type: point}]\nsimulate:",
     "s.yaml:11:9: view item \"item 1\" has no \"at\""},
    {"simulate:", "view: [{type: point, at: [x, zz]}]\nsimulate:",
     "s.yaml:11:30: at of view item \"item 1\": unknown name \"zz\""},
    {"simulate:", "view: [{type: circle, name: c, at: [x, y]}]\nsimulate:",
     "s.yaml:11:9: view item \"c\" has no \"radius\""},
    {"simulate:", "view: [{type: point, at: [x, y]}, {type: point, at: [x, y, 0]}]\nsimulate:",
     "s.yaml:11:49: at of view item \"item 2\" has 3 formulas, must have 2: the plane, [x, y]"},
    {"simulate:", "view: [{type: spring, points: [[x, y], [0, 0], [1, 1]]}]\nsimulate:",
     "s.yaml:11:23: points of view item \"item 1\" are 3, must be two"},
    {"simulate:", "view: [{type: line, points: [[x, y]]}]\nsimulate:",
     "s.yaml:11:21: points of view item \"item 1\" are 1, must be two or more"},
    {"simulate:", "view: [{type: text, at: [x, y]}]\nsimulate:",
     "s.yaml:11:9: view item \"item 1\" has no \"text\""},
    {"simulate:", "view: [{type: contact, contact: flor, at: [x, y], normal: [0, 1]}]\nsimulate:",
     "s.yaml:11:33: there is no contact \"flor\"; did you mean \"floor\"?"},
    {"simulate:", "view: [{type: point, at: [x, y], colour: beige}]\nsimulate:",
     "s.yaml:11:42: colour is \"beige\"; "},
};

static void wrong_views_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_views);
}

static const wrong bad_runs[] = {
    {"scheme: moreau-jean", "scheme: moreau-jaen",
     "s.yaml:11:30: no scheme \"moreau-jaen\"; did you mean \"moreau-jean\"?"},
    {"scheme: moreau-jean", "scheme: bdf",
     "s.yaml:11:30: no scheme \"bdf\"; see saltus list schemes"},
    {"scheme: moreau-jean", "scheme: [moreau-jean]",
     "s.yaml:11:22: scheme has to be a single value, not a list"},
    {"scheme: moreau-jean", "scheme: ", "s.yaml:11:22: scheme has no value; give a single value"},
    {"scheme: moreau-jean, ", "", "s.yaml:11:44: options belong to a scheme; give simulate.scheme"},
    {"theta: 0.5", "theta: 2",
     "s.yaml:11:72: moreau-jean: option \"theta\" is \"2\", allowed: 0 .. 1"},
    {"theta: 0.5", "theta: abc",
     "s.yaml:11:72: moreau-jean: option \"theta\" is \"abc\", allowed: 0 .. 1"},
    {"theta: 0.5", "thta: 0.5",
     "s.yaml:11:65: moreau-jean: no option \"thta\"; there are: theta, gamma"},
    {"theta: 0.5", "theta: [1]",
     "s.yaml:11:65: option \"theta\" has to be a single value, not a list"},
    {"theta: 0.5", "theta: ", "s.yaml:11:65: option \"theta\" has no value; give a single value"},
    {"theta: 0.5", "newton_max: 1.5",
     "s.yaml:11:77: moreau-jean: option \"newton_max\" is \"1.5\", allowed: a whole number in 1 .. "
     "1000"},
    {"theta: 0.5", "jump: end",
     "s.yaml:11:71: moreau-jean: option \"jump\" is \"end\", allowed: midpoint, start"},
    {"options: {theta: 0.5}", "options: [theta]",
     "s.yaml:11:55: options has to be a mapping, not a list"},
    {"options: {theta: 0.5}", "options: 0.5",
     "s.yaml:11:64: options has to be a mapping, not a single value"},
    {"step: 0.01", "step: 0", "s.yaml:11:49: step is 0 s, must be positive"},
    {"step: 0.01", "step: -1", "s.yaml:11:49: step is -1 s, must be positive"},
    {"step: 0.01", "step: 0/0", "s.yaml:11:49: step: the value is undefined, not a finite number"},
    {"step: 0.01", "step: abc", "s.yaml:11:49: step: unknown name \"abc\"; did you mean \"abs\"?"},
    {"step: 0.01", "step: [1]", "s.yaml:11:43: step has to be a single value, not a list"},
    {"step: 0.01", "step: ", "s.yaml:11:43: step has no value; give a single value"},
    {"step: 0.01", "stpe: 0.01",
     "s.yaml:11:43: unknown key \"stpe\" in simulate; did you mean \"step\"?"},
    {"step: 0.01", "step: 1e-400", "s.yaml:11:49: step is 0 s, must be positive"},
    {"until: 1", "until: -1", "s.yaml:11:19: until is -1 s, must be later than the start at 0 s"},
    {"until: 1", "until: 0", "s.yaml:11:19: until is 0 s, must be later than the start at 0 s"},
    {"until: 1", "start: 2, until: 1",
     "s.yaml:11:29: until is 1 s, must be later than the start at 2 s"},
    {"until: 1", "until: 1e999", "s.yaml:11:19: until: number is too large"},
    {"until: 1", "start: log(0), until: 1",
     "s.yaml:11:19: start: the value is infinite, not a finite number"},
    {"until: 1", "tol: 0, until: 1",
     "s.yaml:11:17: tol is 0, must be a number between 1e-15 and 1"},
    {"until: 1", "control: fast, until: 1",
     "s.yaml:11:21: no step control \"fast\"; see saltus list controls"},
    {"until: 1", "control_options: {alpha: 1}, until: 1",
     "s.yaml:11:30: control_options belong to a controller; give simulate.control"},
    {"until: 1", "tol: 1e-3, control_options: {alpha: 7}, until: 1",
     "s.yaml:11:48: variable-order: option \"alpha\" is \"7\", allowed: 0.1 .. 1"},
    {"until: 1", "start_tolerance: -1, until: 1",
     "s.yaml:11:29: start_tolerance is -1, must not be negative"},
    {"until: 1", "start_tolerance: x, until: 1",
     "s.yaml:11:29: start_tolerance: unknown name \"x\""},
    {"simulate: {", "simulation: {",
     "s.yaml:11:1: unknown key \"simulation\" in the scene; did you mean \"simulate\"?"},
    {SIMULATE, "simulate: 1", "s.yaml:11:11: simulate has to be a mapping, not a single value"},
    {SIMULATE, "simulate: [1]", "s.yaml:11:1: simulate has to be a mapping, not a list"},
    {"every: 2", "every: 0", "s.yaml:12:17: every is \"0\", must be a whole number from 1 on"},
    {"every: 2", "every: -3", "s.yaml:12:17: every is \"-3\", must be a whole number from 1 on"},
    {"every: 2", "every: 1.5", "s.yaml:12:17: every is \"1.5\", must be a whole number from 1 on"},
    {"every: 2", "every: often",
     "s.yaml:12:17: every is \"often\", must be a whole number from 1 on"},
    {"every: 2", "every: ", "s.yaml:12:10: every has no value; give a single value"},
    {"every: 2", "every: [1]", "s.yaml:12:10: every has to be a single value, not a list"},
    {"every: 2", "evry: 2",
     "s.yaml:12:10: unknown key \"evry\" in record; did you mean \"every\"?"},
    {"every: 2", "every: 99999999999999999999",
     "s.yaml:12:17: every is \"99999999999999999999\", must be a whole number from 1 on"},
    {"{every: 2}", "2", "s.yaml:12:9: record has to be a mapping, not a single value"},
    {"{every: 2}", "[every]", "s.yaml:12:1: record has to be a mapping, not a list"},
    {"every: 2", "every: \"2 \"",
     "s.yaml:12:18: every is \"2 \", must be a whole number from 1 on"},
    {"record: {every: 2}", "reference: [ball]",
     "s.yaml:12:1: reference has to be a single value, not a list"},
    {"record: {every: 2}",
     "reference:", "s.yaml:12:1: reference has no value; give a single value"},
    {"record: {every: 2}\n", "---\nsaltus: 1\n",
     "s.yaml:13:1: a second document (after --- or ...); a file is one scene"},
    {"record: {every: 2}\n", "...\nsaltus: 1\n",
     "s.yaml:13:1: a second document (after --- or ...); a file is one scene"},
};

static void wrong_ways_to_run_are_refused(void** state) {
  (void)state;
  ASSERT_ALL_REFUSED(bad_runs);
}

/* ---- overrides --------------------------------------------------------------------------- */

static void overrides_that_cannot_be_are_refused(void** state) {
  (void)state;
  static const wrong cases[] = {
      {"k", "1", "override k: s.yaml has no parameter \"k\""},
      {"mm", "1", "override mm: s.yaml has no parameter \"mm\"; did you mean \"m\"?"},
      {"m", "", "override m: parameter \"m\": empty formula"},
      {"m", "(", "override m: parameter \"m\": the formula ends too early"},
      {"m", "0/0", "override m: parameter \"m\": the value is undefined, not a finite number"},
      {"m", "x", "override m: parameter \"m\": unknown name \"x\""},
      {"m", "-1",
       "s.yaml:5:10: the mass matrix is not positive definite at the start, first at coordinate "
       "\"x\": check the kinetic"},
      {"M", "3", "override M: s.yaml has no parameter \"M\"; did you mean \"m\"?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const saltus_override override = {cases[i].find, cases[i].with};
    logged h = refused(
        (saltus_scene_def){
            .path = "s.yaml", .text = good, .overrides = &override, .override_count = 1},
        SALTUS_ERR_INPUT);
    assert_starts(&h, cases[i].says);
  }
}

/* ---- bytes and sizes --------------------------------------------------------------------- */

static void bytes_that_are_not_text_are_refused_with_their_place(void** state) {
  (void)state;
  static const wrong cases[] = {
      {NULL, "\x01\x02", "s.yaml:1:1: byte 0x01 is not text; a scene is UTF-8 text"},
      {NULL, "saltus: 1\nname: \xff\xfe\n", "s.yaml:2:7: byte 0xff is not text"},
      {NULL, "saltus: 1\nname: a\x7f\xc3(\n", "s.yaml:2:9: byte 0xc3 is not text"},
      {NULL, "name: \xc0\xaf\n", "s.yaml:1:7: byte 0xc0 is not text"},         /* overlong */
      {NULL, "name: \xed\xa0\x80\n", "s.yaml:1:7: byte 0xed is not text"},     /* surrogate */
      {NULL, "name: \xf4\x90\x80\x80\n", "s.yaml:1:7: byte 0xf4 is not text"}, /* beyond Unicode */
      {NULL, "name: \xe2\x82", "s.yaml:1:7: byte 0xe2 is not text"},           /* cut off */
      {NULL, "# \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n\x1b", "s.yaml:2:1: byte 0x1b is not text"},
      {"name: ball", "name: \"a\\0b\"", "s.yaml:2:8: the text contains a zero byte"},
      {"m*g*x", "\"m*g*\xc2\xa7\"", "s.yaml:6:17: potential: unexpected character \"\xc2\xa7\""},
  };
  ASSERT_ALL_REFUSED(cases);
}

static void files_that_cannot_be_read_are_refused(void** state) {
  (void)state;
  logged h = refused((saltus_scene_def){.path = "/nowhere/s.yaml"}, SALTUS_ERR_IO);
  assert_starts(&h, "/nowhere/s.yaml: No such file");
  h = refused((saltus_scene_def){.path = SALTUS_SCENES}, SALTUS_ERR_IO);
  assert_starts(&h, SALTUS_SCENES);

  char path[] = "/tmp/saltus-scene-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  static const char bytes[] = "saltus: 1\nname: a\0b\n";
  FILE* stream = fdopen(file, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, sizeof bytes - 1, stream), sizeof bytes - 1);
  fclose(stream);
  h = refused((saltus_scene_def){.path = path}, SALTUS_ERR_INPUT);
  remove(path);
  assert_non_null(strstr(h.text, ":2:8: byte 0x00 is not text"));
}

/* `before`, `count` times `piece`, `after`; to be freed. */
static char* repeated(const char* before, const char* piece, int count, const char* after) {
  size_t bytes = strlen(before) + (size_t)count * strlen(piece) + strlen(after) + 1;
  char* text = malloc(bytes);
  assert_non_null(text);
  char* at = text + sprintf(text, "%s", before);
  for (int i = 0; i < count; i++) {
    at += sprintf(at, "%s", piece);
  }
  sprintf(at, "%s", after);
  return text;
}

static void assert_repeated_refused(const char* before, const char* piece, int count,
                                    const char* after, const char* says) {
  char* text = repeated(before, piece, count, after);
  logged h = refused_text(text);
  assert_starts(&h, says);
  free(text);
}

static void deep_nesting_and_long_words_are_refused_in_a_short_message(void** state) {
  (void)state;
  assert_repeated_refused("", "[", 100000, "", "s.yaml:1:64: not valid YAML: Max depth (64)");
  assert_repeated_refused("a: ", "{a: ", 3000, "", "s.yaml:1:252: not valid YAML: Max depth (64)");
  assert_repeated_refused("saltus: 1\ncoordinates: {x: 1}\nkinetic: ", "(", 10000, "x\n",
                          "s.yaml:3:210: kinetic: nested too deeply, more than 200 levels");
  assert_repeated_refused("saltus: 1\n", "long", 5000, ": 1\n",
                          "s.yaml:2:1: unknown key \"longlonglonglong");
  assert_repeated_refused("saltus: ", "9", 9000, "\n", "s.yaml:1:9: scene version is \"99999");
  assert_repeated_refused("saltus: 1\nkinetic: x\ncoordinates: {", "x", 64, ": 1}\n",
                          "s.yaml:3: coordinate \"xxxx");
  assert_repeated_refused("saltus: 1\ncoordinates: {x: 1}\nkinetic: x'^2\ncontacts: [{name: ", "n",
                          9000, ", gap: x - 3}]\n", "s.yaml:4:9026: contact \"nnnn");
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Fails each allocation in turn; libfyaml's own are outside. */
static void running_out_of_memory_leaves_nothing_behind(void** state) {
  (void)state;
  int enough = 0;
  for (int fail_at = 1; fail_at <= 60; fail_at++) {
    logged h = {.messages = 0};
    counter count = {.fail_at = fail_at};
    saltus_allocator allocator = counting_allocator(&count);
    const saltus_scene_def def = {.path = SALTUS_SCENES "/double-pendulum.yaml",
                                  .log = {log_message, &h},
                                  .allocator = &allocator};
    saltus_scene* scene;
    saltus_status status = saltus_scene_create(&def, &scene);
    if (status == SALTUS_OK) { /* it needs fewer */
      enough++;
      saltus_scene_destroy(scene);
    } else {
      assert_int_equal(enough, 0);
      assert_int_equal(status, SALTUS_ERR_MEMORY);
      assert_null(scene);
      assert_int_equal(h.messages, 1);
      assert_non_null(strstr(h.text, "double-pendulum.yaml: no memory"));
    }
    assert_int_equal(count.live, 0);
  }
  assert_true(enough < 55); /* so at least five failures were tried */
}

/* Fails one allocation only: nothing may go on with what it did not get. */
typedef struct single {
  counter count;
  int fail_only; /* from 1 */
} single;

static void* single_alloc(size_t bytes, void* user) {
  single* s = user;
  saltus_allocator usual = counting_allocator(&s->count);
  s->count.fail_at = s->count.calls + 1 == s->fail_only ? s->fail_only : 0;
  return usual.alloc(bytes, &s->count);
}

static void single_free(void* block, size_t bytes, void* user) {
  single* s = user;
  saltus_allocator usual = counting_allocator(&s->count);
  usual.free(block, bytes, &s->count);
}

/* 300 contacts: at this size a text for messages starts a block of its own. With sanitizers every fourth allocation. */
static void one_missing_allocation_is_noticed_wherever_it_is(void** state) {
  (void)state;
  char* text = repeated("saltus: 1\ncoordinates: {x: 1}\nkinetic: x'^2\ncontacts:\n",
                        "  - {gap: x, restitution: 1/2, slip: x'}\n", 300, "");
  saltus_status status = SALTUS_ERR_MEMORY;
  int tried = 0;
  while (status != SALTUS_OK) {
    logged h = {.messages = 0};
    tried += saltus_test_sanitized() ? 4 : 1;
    single s = {.fail_only = tried};
    const saltus_allocator allocator = {single_alloc, single_free, &s};
    const saltus_scene_def def = {.text = text, .log = {log_message, &h}, .allocator = &allocator};
    saltus_scene* scene;
    status = saltus_scene_create(&def, &scene);
    assert_true(status == SALTUS_ERR_MEMORY || s.count.calls < tried);
    assert_int_equal(h.messages, status == SALTUS_OK ? 0 : 1);
    saltus_scene_destroy(scene);
    assert_int_equal(s.count.live, 0);
  }
  assert_true(tried > 20);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_good_scene_is_good),
      cmocka_unit_test(text_that_is_not_one_yaml_mapping_is_refused),
      cmocka_unit_test(wrong_versions_and_unknown_keys_are_refused),
      cmocka_unit_test(wrong_parameters_are_refused),
      cmocka_unit_test(wrong_coordinates_are_refused),
      cmocka_unit_test(wrong_energies_are_refused),
      cmocka_unit_test(wrong_forces_and_joints_are_refused),
      cmocka_unit_test(wrong_contacts_are_refused),
      cmocka_unit_test(wrong_outputs_and_events_are_refused),
      cmocka_unit_test(wrong_views_are_refused),
      cmocka_unit_test(wrong_ways_to_run_are_refused),
      cmocka_unit_test(overrides_that_cannot_be_are_refused),
      cmocka_unit_test(bytes_that_are_not_text_are_refused_with_their_place),
      cmocka_unit_test(files_that_cannot_be_read_are_refused),
      cmocka_unit_test(deep_nesting_and_long_words_are_refused_in_a_short_message),
      cmocka_unit_test(running_out_of_memory_leaves_nothing_behind),
      cmocka_unit_test(one_missing_allocation_is_noticed_wherever_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
