/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_units.c - numbers with units: random scenes written with units move bitwise as those in SI units; units of a
 * wrong dimension are rejected with line, key and both units.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- random scenes ---- */

/* Units of a dimension, with the power of ten, or a formula of the number %s. */
typedef struct test_unit {
  const char* si;
  struct {
    const char* name;
    int power;
    const char* formula;
    double about; /* units in one of SI, of a formula */
  } with[6];
} test_unit;

static const test_unit units[] = {
    {"m",
     {{"mm", -3, NULL, 0},
      {"cm", -2, NULL, 0},
      {"um", -6, NULL, 0},
      {"km", 3, NULL, 0},
      {"m", 0, NULL, 0},
      {"\xC2\xB5m", -6, NULL, 0}}},
    {"kg", {{"g", -3, NULL, 0}, {"kg", 0, NULL, 0}, {"t", 3, NULL, 0}, {"mg", -6, NULL, 0}}},
    {"s", {{"ms", -3, NULL, 0}, {"us", -6, NULL, 0}, {"s", 0, NULL, 0}}},
    {"rad",
     {{"mrad", -3, NULL, 0},
      {"rad", 0, NULL, 0},
      {"deg", 0, "%s*pi/180", 57},
      {"\xC2\xB0", 0, "%s*pi/180", 57}}},
    {"m/s",
     {{"mm/s", -3, NULL, 0},
      {"m s^-1", 0, NULL, 0},
      {"km/h", 3, "%s/3600", 3.6},
      {"cm/ms", 1, NULL, 0}}},
    {"rad/s",
     {{"rad/s", 0, NULL, 0},
      {"rpm", 0, "%s*pi/30", 9.5},
      {"deg/s", 0, "%s*pi/180", 57},
      {"mrad/s", -3, NULL, 0}}},
    {"m/s^2", {{"mm/s^2", -3, NULL, 0}, {"m/s2", 0, NULL, 0}, {"km/s/s", 3, NULL, 0}}},
    {"kg m^2",
     {{"g mm^2", -9, NULL, 0},
      {"kg cm2", -4, NULL, 0},
      {"t m^2", 3, NULL, 0},
      {"kg*m^2", 0, NULL, 0}}},
    {"N", {{"kN", 3, NULL, 0}, {"mN", -3, NULL, 0}, {"N", 0, NULL, 0}, {"daN", 1, NULL, 0}}},
    {"N m",
     {{"Nm", 0, NULL, 0}, {"N mm", -3, NULL, 0}, {"kN m", 3, NULL, 0}, {"mNm", -3, NULL, 0}}},
    {"N/m",
     {{"kN/m", 3, NULL, 0}, {"N/mm", 3, NULL, 0}, {"N/cm", 2, NULL, 0}, {"kPa m", 3, NULL, 0}}},
    {"N s/m", {{"N s/mm", 3, NULL, 0}, {"kN\xC2\xB7s/m", 3, NULL, 0}, {"N*ms/mm", 0, NULL, 0}}},
    {"N m/rad",
     {{"N m/rad", 0, NULL, 0}, {"mNm/mrad", 0, NULL, 0}, {"N m/deg", 0, "%s*180/pi", 0.02}}},
    {"N m s/rad", {{"N m s/rad", 0, NULL, 0}, {"N mm s/rad", -3, NULL, 0}}},
    {"Pa", {{"GPa", 9, NULL, 0}, {"MPa", 6, NULL, 0}, {"N/mm^2", 6, NULL, 0}, {"bar", 5, NULL, 0}}},
    {"kg/m^2", {{"g/cm^2", 1, NULL, 0}, {"kg/m^2", 0, NULL, 0}, {"t/m^2", 3, NULL, 0}}},
    {"kg/m^3", {{"g/cm^3", 3, NULL, 0}, {"kg/m^3", 0, NULL, 0}, {"t/m3", 3, NULL, 0}}},
};

/* Scenes with quantities {VALUE UNIT}; random factors scale the values. */
static const char* const templates[] = {
    "saltus: 1\n"
    "parameters: {m: {2 kg}, k: {200 N/m}, l0: {0.1 m}, c: {1.5 N s/m}, w: {60 rad/s}}\n"
    "coordinates:\n"
    "  x: {start: {0.3 m}, velocity: {-1 m/s}, unit: m}\n"
    "  phi: {start: {0.3 rad}, velocity: {2 rad/s}}\n"
    "kinetic: m/2*x'^2 + m/8*phi'^2\n"
    "potential: k/2*(x - l0)^2 + m*9.81*x + phi^2\n"
    "forces: {x: -c*x' + sin(w*t)}\n"
    "contacts: [{name: floor, gap: x, slip: x + phi, friction: 0.3, restitution: 0.4}]\n"
    "simulate: {until: {0.1 s}, step: {0.002 s}, scheme: moreau-jean}\n",
    "saltus: 1\n"
    "world:\n"
    "  gravity: [0, {-9.81 m/s^2}]\n"
    "  shapes: [{segment: {points: [[{2 m}, 0], [{-2 m}, 0]]}}]\n"
    "materials: {default: {friction: 0.4, restitution: 0.3, rolling: {0.001 m}}}\n"
    "bodies:\n"
    "  disc: {mass: {2 kg}, inertia: {0.01 kg m^2}, position: [{0.1 m}, {0.25 m}], angle: {0.4 "
    "rad},\n"
    "    velocity: [{1 m/s}, {-0.5 m/s}], angular_velocity: {5 rad/s}, shapes: [{circle: {radius: "
    "{0.1 m}}}]}\n"
    "  slab: {density: {400 kg/m^2}, position: [{1 m}, {0.3 m}], shapes: [{capsule: {radius: {0.1 "
    "m}, length: {0.2 m}}}]}\n"
    "forces: [{at: disc, force: [{3 N}, 0], torque: {0.1 N m}}]\n"
    "simulate: {until: {0.1 s}, step: {0.002 s}, scheme: moreau-jean}\n",
    "saltus: 1\n"
    "parameters: {a: {0.2 m}, b: {1 m}, tilt: {0.001 rad}}\n"
    "bodies:\n"
    "  arm: {mass: {1 kg}, inertia: {0.02 kg m^2}, position: [a, 0]}\n"
    "  slider: {mass: {3 kg}, inertia: {0.5 kg m^2}, position: [b, 0], velocity: [{1 m/s}, 0]}\n"
    "markers:\n"
    "  ground: {point: [0, 0]}\n"
    "  base: {point: [b, 0], angle: tilt}\n"
    "  foot: {body: arm, point: [-a, 0]}\n"
    "  tip: {body: arm, point: [{0.2 m}, {0.01 m}]}\n"
    "  pad: {body: slider, angle: tilt}\n"
    "joints:\n"
    "  - {name: hinge, type: revolute, between: [ground, foot], limits: [{-0.5 rad}, {0.5 rad}],\n"
    "     spring: {stiffness: {3 N m/rad}, rest: {0.1 rad}}, damping: {0.1 N m s/rad},\n"
    "     actuator: {0.2 N m}, dry_friction: {force: {0.05 N m}}, restitution: 0.3}\n"
    "  - {name: rail, type: prismatic, between: [base, pad], limits: [{-1 m}, {1 m}],\n"
    "     spring: {stiffness: {300 N/m}, rest: {0.1 m}}, damping: {2 N s/m}, actuator: {5 N}}\n"
    "springs: [{between: [tip, pad], stiffness: {50 N/m}, damping: {1 N s/m}, length: {0.4 m}}]\n"
    "simulate: {until: {0.1 s}, step: {0.002 s}, scheme: moreau-jean}\n",
    "saltus: 1\n"
    "world: {dimension: 3, gravity: [0, 0, {-9.81 m/s^2}], shapes: [{half-space: {}}]}\n"
    "bodies:\n"
    "  ball: {mass: {1 kg}, inertia: [{0.02 kg m^2}, {0.03 kg m^2}, {0.025 kg m^2}],\n"
    "    position: [0, 0, {0.25 m}], angular_velocity: [{3 rad/s}, 0, {1 rad/s}],\n"
    "    orientation: {axis: [1, 0, 0], angle: {0.3 rad}}, shapes: [{sphere: {radius: {0.2 m}}}]}\n"
    "  post: {density: {800 kg/m^3}, position: [{2 m}, 0, {0.6 m}],\n"
    "    shapes: [{cylinder: {radius: {0.2 m}, length: {0.4 m}}}]}\n"
    "  plate: {driven: {z: {5 m}, rpy: [0, {0.1 rad}, 0]}, shapes: [{box: {size: [{1 m}, {1 m}, "
    "{0.1 m}]}}]}\n"
    "simulate: {until: {0.1 s}, step: {0.002 s}, scheme: moreau-jean}\n",
    "saltus: 1\n"
    "bodies: {cam: {driven: {angle: 3*t}}, rod: {mass: {1 kg}, inertia: {1 kg m^2}, position: [0, "
    "{0.4 m}]}}\n"
    "markers: {axle: {body: cam}, line: {angle: pi/2}, knife: {body: rod, angle: pi/2}, pin: "
    "{point: [{1 m}, 0]}}\n"
    "joints: [{name: slide, type: prismatic, between: [line, knife], spring: {stiffness: {500 "
    "N/m}}}]\n"
    "elements:\n"
    "  - {name: cam, type: cam, between: [axle, knife], restitution: 0.2, follower: roller, "
    "radius: {0.02 m},\n"
    "     profile: {arcs: [{radius: {0.3 m}, from: 0}]}}\n"
    "  - {name: rope, type: rope, between: [pin, knife], length: {4 m}}\n"
    "  - {name: buffer, type: spring-contact, between: [pin, knife], stiffness: {1000 N/m}, "
    "preload: {1 N}}\n"
    "beams:\n"
    "  reed: {points: [[{2 m}, 0], [{3 m}, 0]], elements: 4, damping: {0.001 s}, section: "
    "{rectangle: [{0.02 m}, {0.01 m}]},\n"
    "    material: {E: {2e9 Pa}, density: {7800 kg/m^3}}}\n"
    "simulate: {until: {0.02 s}, step: {0.0004 s}, scheme: moreau-jean}\n",
};
enum { TEMPLATES = sizeof templates / sizeof *templates, TEXT = 8192 };

/* digits * 10^exponent as a literal, in one of two forms. */
static void write_literal(long digits, int exponent, bool scientific, char to[48]) {
  const char* sign = digits < 0 ? "-" : "";
  digits = labs(digits);
  char text[32];
  const int count = snprintf(text, sizeof text, "%ld", digits);
  if (!scientific && exponent < 0 && -exponent < count) {
    snprintf(to, 48, "%s%.*s.%s", sign, count + exponent, text, text + count + exponent);
  } else if (exponent == 0) {
    snprintf(to, 48, "%s%s", sign, text);
  } else {
    snprintf(to, 48, "%s%se%d", sign, text, exponent);
  }
}

/* The quantity {VALUE UNIT} at `token` with random digits, as SI literal or formula and with a unit. */
static void render(const char* token, uint64_t* seed, char si[80], char with[80]) {
  char unit[32];
  double value;
  assert_int_equal(sscanf(token, "{%lf %31[^}]", &value, unit), 2);
  const test_unit* u = units;
  while (strcmp(u->si, unit) != 0) {
    u++;
    assert_true(u < units + sizeof units / sizeof *units);
  }
  int known = 0;
  while (known < 6 && u->with[known].name != NULL) {
    known++;
  }
  const int pick = (int)(saltus_test_random(seed) * known);
  value *= 0.9 + 0.2 * saltus_test_random(seed);
  const int power = u->with[pick].power;
  char literal[48];
  if (u->with[pick].formula != NULL) { /* the number is that of the unit */
    value *= u->with[pick].about;
    write_literal(lround(value * 1e4), power - 4, false, literal);
    snprintf(si, 80, u->with[pick].formula, literal);
    write_literal(lround(value * 1e4), -4, false, literal);
  } else {
    const int scale = (int)floor(log10(fabs(value))) - 5;
    const long digits = lround(value / pow(10, scale));
    write_literal(digits, scale, saltus_test_random(seed) < 0.5, literal);
    memcpy(si, literal, sizeof literal);
    write_literal(digits, scale - power, saltus_test_random(seed) < 0.5, literal);
  }
  snprintf(with, 80, "%s %s", literal, u->with[pick].name);
}

static void fill(const char* template, uint64_t seed, bool with_units, char to[TEXT]) {
  size_t used = 0;
  for (const char* at = template; *at != '\0';) {
    const char* end =
        at[0] == '{' && (at[1] == '-' || (at[1] >= '0' && at[1] <= '9')) ? strchr(at, '}') : NULL;
    char si[80], with[80];
    if (end != NULL) {
      render(at, &seed, si, with);
    }
    const char* text = end == NULL ? at : with_units ? with : si;
    const size_t length = end == NULL ? 1 : strlen(text);
    assert_true(used + length < TEXT);
    memcpy(to + used, text, length);
    used += length;
    at = end != NULL ? end + 1 : at + 1;
  }
  to[used] = '\0';
}

enum { STATE = 256 };

/* The last state of a run of a text. */
static int run_text(const char* text, double state[STATE]) {
  saltus_kept_message kept;
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s\n%s", kept.text, text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_sim_def run = {.system = view->system,
                              .scheme = view->scheme,
                              .options = view->options,
                              .h = view->step,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&run, &sim), SALTUS_OK);
  if (saltus_sim_run(sim, 40) != SALTUS_OK) {
    fail_msg("%s\n%s", kept.text, text);
  }
  const saltus_dims* d = &view->system->dims;
  assert_true(d->nq + d->nv + 1 < STATE);
  memcpy(state, saltus_sim_q(sim), (size_t)d->nq * sizeof *state);
  memcpy(state + d->nq, saltus_sim_v(sim), (size_t)d->nv * sizeof *state);
  state[d->nq + d->nv] = view->until;
  const int count = d->nq + d->nv + 1;
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  return count;
}

static void two_hundred_random_scenes_have_the_bits_of_those_in_si_units(void** state) {
  (void)state;
  const int draws = saltus_test_draws(200);
  for (int i = 0; i < draws; i++) {
    static char text[2][TEXT];
    double ends[2][STATE];
    int count[2];
    for (int k = 0; k < 2; k++) {
      fill(templates[i % TEMPLATES], 1000 + (uint64_t)i, k == 1, text[k]);
      count[k] = run_text(text[k], ends[k]);
    }
    assert_int_equal(count[0], count[1]);
    if (memcmp(ends[0], ends[1], (size_t)count[0] * sizeof(double)) != 0) {
      fail_msg("scene %d differs:\n%s\n%s", i, text[0], text[1]);
    }
  }
}

/* ---- rejected and converted texts ---- */

static const char frame[] = "saltus: 1\n"
                            "parameters: {m: 2 kg, d: 50 mm}\n"
                            "coordinates: {x: {start: 5 cm, velocity: 3.6 km/h}}\n"
                            "kinetic: m*x'^2/2\n"
                            "bodies: {b: {mass: 1, inertia: 1, %s}}\n"
                            "markers: {o: {}, p: {body: b}}\n"
                            "joints: [{name: j, type: revolute, between: [o, p], %s}]\n"
                            "outputs: {o: {formula: %s}}\n"
                            "simulate: {until: 1 s}\n";

static saltus_scene* read_frame(const char* body, const char* joint, const char* output,
                                saltus_kept_message* kept) {
  char text[1024];
  snprintf(text, sizeof text, frame, body, joint, output);
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(kept)};
  saltus_scene* scene;
  (void)saltus_scene_create(&def, &scene);
  return scene;
}

static void wrong_dimensions_are_named_with_line_key_and_both_units(void** state) {
  (void)state;
  static const struct {
    const char *body, *joint, *output, *says;
  } cases[] = {
      {"angle: 5 mm", "damping: 0", "x", "scene:5:42: angle: \"5 mm\" is in mm, must be in rad"},
      {"position: [1 m, 2 kg]", "damping: 0", "x",
       "scene:5:51: position: \"2 kg\" is in kg, must be in m"},
      {"angular_velocity: 10 Hz", "damping: 0", "x", "\"10 Hz\" is in Hz, must be in rad/s"},
      {"density: 5 kg/m^3", "damping: 0", "x", "is in kg/m^3, must be in kg/m^2"},
      {"angle: 0", "limits: [5 mm, 1]", "x",
       "scene:7:62: limits: \"5 mm\" is in mm, must be in rad"},
      {"angle: 0", "damping: 3 N s/m", "x", "must be in N m s/rad"},
      {"angle: 0", "restitution: 3 m", "x", "restitution: \"3 m\" is in m, must be a plain number"},
      {"angle: 0", "damping: 0", "x - 2 N/m",
       "\"2 N\" and the next characters are a unit or a division"},
      {"angle: 0", "damping: 0", "\"x - 2 [quux]\"", "\"quux\" is not a unit"},
      {"angle: 0", "damping: 0", "\"x\", in: furlong", "in: \"furlong\" is not a unit"},
      {"angle: 0", "damping: 0", "\"x\", in: mm, unit: m", "in: the output has a unit"},
      {"angle: 3 quux", "damping: 0", "x", "scene:5:44: angle: an operator is missing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    saltus_kept_message kept;
    saltus_scene* scene = read_frame(cases[i].body, cases[i].joint, cases[i].output, &kept);
    assert_null(scene);
    assert_says(kept, cases[i].says);
  }
}

static double output_of(const char* formula) {
  saltus_kept_message kept;
  saltus_scene* scene = read_frame("angle: 0", "damping: 0", formula, &kept);
  if (scene == NULL) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  double values[64];
  assert_int_equal(saltus_scene_outputs(scene, 0.0, view->q0, view->v0, NULL, values), SALTUS_OK);
  saltus_scene_destroy(scene);
  return values[0];
}

static void quantities_in_formulas_and_outputs_are_converted(void** state) {
  (void)state;
  assert_true(output_of("x - 10 mm") == 0.05 - 10e-3);
  assert_true(output_of("\"x + 2 [kN/m]*d\"") == 0.05 + 2e3 * 50e-3);
  assert_true(output_of("sin(30 deg)") == sin(30 * 3.14159265358979323846 / 180));
  assert_true(output_of("x, in: mm") == 0.05 / 1e-3);
  assert_true(output_of("2 min") == 120.0 && output_of("3 1/s") == 3.0);
  assert_true(output_of("x'") == 3.6e3 / 3600);
  assert_true(output_of("\"piecewise(x < 3 or x > 5 m, 1, 2)\"") == 1.0);
}

static void labels_have_the_unit_of_the_number(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_scene* scene = read_frame("angle: 0", "damping: 0", "x, in: mm", &kept);
  assert_non_null(scene);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_string_equal(view->system->q_labels[0].unit, "m");
  assert_string_equal(view->interface->parameters[0].unit, "kg");
  assert_string_equal(view->interface->parameters[1].unit, "m");
  assert_true(view->interface->parameters[1].number);
  assert_string_equal(view->observables->output_labels[0].unit, "mm");
  saltus_scene_destroy(scene);
}

static void overrides_have_units(void** state) {
  (void)state;
  static const struct {
    const char *name, *value, *says; /* says NULL: accepted */
  } cases[] = {{"d", "7 cm", NULL},
               {"x'", "2 mm/s", NULL},
               {"d", "7 kg", "d: \"7 kg\" is in kg, must be in m"},
               {"x'", "2 mm", "x': \"2 mm\" is in mm, must be in m/s"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    snprintf(text, sizeof text, frame, "angle: 0", "damping: 0", "d + x'");
    saltus_kept_message kept;
    const saltus_override override = {.name = cases[i].name, .value = cases[i].value};
    const saltus_scene_def def = {
        .text = text, .log = saltus_log_keep(&kept), .overrides = &override, .override_count = 1};
    saltus_scene* scene;
    const saltus_status status = saltus_scene_create(&def, &scene);
    assert_int_equal(status, cases[i].says != NULL ? SALTUS_ERR_INPUT : SALTUS_OK);
    if (cases[i].says != NULL) {
      assert_says(kept, cases[i].says);
      continue;
    }
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    double values[64];
    assert_int_equal(saltus_scene_outputs(scene, 0.0, view->q0, view->v0, NULL, values), SALTUS_OK);
    assert_true(values[0] == (i == 0 ? 7e-2 + 3.6e3 / 3600 : 50e-3 + 2e-3));
    saltus_scene_destroy(scene);
  }
}

static void a_missing_allocation_is_reported(void** state) {
  (void)state;
  char text[1024];
  snprintf(text, sizeof text, frame, "angle: 30 deg", "damping: 0", "x, in: mm");
  saltus_status status = SALTUS_ERR_MEMORY;
  for (int at = 1; status != SALTUS_OK; at++) {
    counter count = {.fail_at = at};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_scene* scene;
    status =
        saltus_scene_create(&(saltus_scene_def){.text = text, .allocator = &allocator}, &scene);
    assert_true(status == SALTUS_OK || status == SALTUS_ERR_MEMORY);
    saltus_scene_destroy(scene);
    assert_int_equal(count.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_hundred_random_scenes_have_the_bits_of_those_in_si_units),
      cmocka_unit_test(wrong_dimensions_are_named_with_line_key_and_both_units),
      cmocka_unit_test(quantities_in_formulas_and_outputs_are_converted),
      cmocka_unit_test(labels_have_the_unit_of_the_number),
      cmocka_unit_test(overrides_have_units),
      cmocka_unit_test(a_missing_allocation_is_reported),
  };
  return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
