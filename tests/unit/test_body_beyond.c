/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_beyond.c - what forces of mechanisms and formulas have beyond polynomials: bounds against the best polynomial,
 * ends of a spring that pass each other, and a narrow pulse of an actuator in a run.
 */
#include "formula/jet.h"
#include "formula_fixture.h"

static saltus_mechanism* create(const saltus_mechanism_def* def) {
  saltus_mechanism* m = NULL;
  assert_int_equal(saltus_mechanism_create(def, &m), SALTUS_OK);
  return m;
}

enum { N = 3, STRIDE = SALTUS_JET_ORDER + 1 };

/* q = q0 + d s, v = d, |s| <= 1 */
static void bounds_along(const saltus_system* sys, const double* q0, const double* d, double* out) {
  saltus_interval t[STRIDE] = {{-1.0, 1.0}, {1.0, 1.0}};
  saltus_interval q[N * STRIDE] = {{0.0, 0.0}}, v[N * STRIDE] = {{0.0, 0.0}};
  for (int i = 0; i < N; i++) {
    q[i * STRIDE] = (saltus_interval){q0[i] - fabs(d[i]), q0[i] + fabs(d[i])};
    q[i * STRIDE + 1] = v[i * STRIDE] = (saltus_interval){d[i], d[i]};
  }
  const saltus_course course = {.order = 1, .stride = STRIDE, .t = t, .q = q, .v = v};
  sys->ops->enclosure->beyond(sys->self, &course, SALTUS_QUANTITY_FORCE, out);
}

/* The torque of a constant force on a body that turns. At the extrema of a Chebyshev polynomial the alternating
 * mean of f is 0 for polynomials of degree 6 and at most the distance to the nearest of them; of a sine it is r^7 / (7! 2^6). */
static void what_is_beyond_degree_6_is_bounded(void** state) {
  (void)state;
  const saltus_body_def body = {.name = "a", .mass = 1.0, .inertia = {1.0}};
  const saltus_marker_def marker = {.name = "at a", .body = "a", .position = {0.5, 0.0, 0.0}};
  const saltus_load_def load = {.name = "push", .marker = "at a", .force = {{.value = 8.0}}};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .bodies = &body,
                                    .body_count = 1,
                                    .markers = &marker,
                                    .marker_count = 1,
                                    .loads = &load,
                                    .load_count = 1};
  saltus_mechanism* m = create(&def);
  const saltus_system* sys = saltus_mechanism_system(m);
  for (double r = 0.2; r <= 1.0; r += 0.2) {
    const double q0[N] = {0.1, 0.2, 0.4}, d[N] = {0.0, 0.0, r};
    double out[N], mean = 0.0;
    bounds_along(sys, q0, d, out);
    for (int i = 0; i <= 7; i++) {
      const double q[N] = {0.1, 0.2, 0.4 + r * cos(acos(-1.0) * i / 7.0)};
      double F[N], scratch[4096];
      const saltus_point at = {.q = q, .v = d, .scratch = scratch};
      assert_true(sys->dims.scratch <= sizeof scratch);
      sys->ops->force(sys->self, &at, F);
      mean += (i % 2 == 0 ? 1.0 : -1.0) * (i % 7 == 0 ? 0.5 : 1.0) * F[2] / 7.0;
    }
    assert_true(fabs(mean) <= out[2]);
    assert_true(out[2] <=
                200.0 * fabs(mean) + 1e-13); /* 2^6 over |cos| of the phase, and rounding */
    assert_true(out[2] <= 4.0 * pow(r, 7.0) / 5040.0 * (1.0 + 1e-9));
  }
  saltus_mechanism_destroy(m);
}

/* The bound of the force F(x) for x within r of 0.4; *mean is at most its distance from polynomials of degree 6. */
static double bound_of_formula(const char* text, double r, double* mean) {
  const saltus_formula_coordinate q = {.name = "x", .force = TEXT(text)};
  const saltus_formula_def def = {
      .coordinates = &q, .coordinate_count = 1, .kinetic = TEXT("x'^2/2")};
  fixture f = open_model(&def);
  const saltus_enclosure_ops* ops = f.system->ops->enclosure;
  void* scratch = malloc(ops->bytes(f.system->self));
  const saltus_interval t[2] = {{-1.0, 1.0}, {1.0, 1.0}};
  const saltus_interval along[2] = {{0.4 - r, 0.4 + r}, {r, r}}, v[2] = {{r, r}, {0.0, 0.0}};
  const saltus_course course = {.order = 1, .t = t, .q = along, .v = v, .scratch = scratch};
  double out = NAN;
  ops->beyond(f.system->self, &course, SALTUS_QUANTITY_FORCE, &out);
  *mean = 0.0;
  for (int i = 0; i <= 7; i++) {
    const double x = 0.4 + r * cos(acos(-1.0) * i / 7.0);
    double F;
    f.at.q = &x;
    f.at.v = &r;
    f.system->ops->force(f.system->self, &f.at, &F);
    *mean += (i % 2 == 0 ? 1.0 : -1.0) * (i % 7 == 0 ? 0.5 : 1.0) * F / 7.0;
  }
  free(scratch);
  close_model(&f);
  return out;
}

static void formulas_have_the_bounds_of_mechanisms(void** state) {
  (void)state;
  /* of a sine r^7 / 7!; of powers of s = 2 + x at most 2 e^7 of the largest, e = r / 2.4 */
  static const struct {
    const char* text;
    double most;
  } smooth[] = {{"8*sin(x)", 8.0 / 5040.0}, {"sqrt(2 + x)", 0.015}, {"1/(2 + x)", 0.015}};
  for (size_t k = 0; k < sizeof smooth / sizeof smooth[0]; k++) {
    for (double r = 0.1; r <= 0.8; r *= 2.0) {
      double mean;
      const double bound = bound_of_formula(smooth[k].text, r, &mean);
      assert_true(fabs(mean) <= bound + 1e-15);
      assert_true(bound <= smooth[k].most * pow(r, 7.0) * (1.0 + 1e-9));
    }
  }
  double mean;
  assert_true(bound_of_formula("3*x^4 - x", 1.0, &mean) == 0.0);
  assert_false(bound_of_formula("x^7", 1.0, &mean) < 1e300);
  assert_false(bound_of_formula("abs(x)", 1.0, &mean) < 1e300);
  assert_false(bound_of_formula("1/(x - 0.4)", 0.1, &mean) < 1e300);
}

static void a_spring_that_is_passed_is_not_plain(void** state) {
  (void)state;
  const saltus_body_def body = {
      .name = "a", .mass = 1.0, .inertia = {1.0}, .position = {1.0, 0.0, 0.0}};
  const saltus_marker_def markers[2] = {{.name = "at a", .body = "a"}, {.name = "pin"}};
  const saltus_spring_def spring = {
      .name = "s", .between = {"pin", "at a"}, .stiffness = {100.0}, .damping = {3.0}, .rest = 0.7};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .bodies = &body,
                                    .body_count = 1,
                                    .markers = markers,
                                    .marker_count = 2,
                                    .springs = &spring,
                                    .spring_count = 1};
  saltus_mechanism* m = create(&def);
  const saltus_system* sys = saltus_mechanism_system(m);
  double out[N];
  bounds_along(sys, (double[N]){0.0, 1e-4, 0.0}, (double[N]){0.1, 0.0, 0.0}, out);
  assert_false(out[0] < 1e300);
  /* 1 m away, within e = 2e-2 of its squared distance: k rest e^7 at least, and all in all not ten times that */
  bounds_along(sys, (double[N]){0.0, 1.0, 0.0}, (double[N]){0.0, 0.01, 0.0}, out);
  assert_true(out[0] > 70.0 * pow(2e-2, 7.0) && out[0] < 700.0 * pow(2e-2, 7.0));
  saltus_mechanism_destroy(m);
}

/* A / (1 + x^2), x = (t - T) / w */
static const double height = 100.0, middle = 0.637, width = 1e-5;

static void pulse(const void* self, double t, double out[3]) {
  (void)self;
  const double x = (t - middle) / width, y = 1.0 / (1.0 + x * x);
  out[0] = height * y;
  out[1] = -2.0 * height * x * y * y / width;
  out[2] = height * (8.0 * x * x * y - 2.0) * y * y / (width * width);
}

static void pulse_along(const void* self, int order, const saltus_interval* t,
                        saltus_interval* out) {
  (void)self;
  saltus_interval c[STRIDE];
  saltusi_extent extent;
  const saltusi_jet_place to = {c, &extent, order};
  const double numbers[4] = {middle, 1.0 / width, 1.0, height};
  saltus_interval k[4];
  saltusi_jet by[4];
  for (int i = 0; i < 4; i++) {
    k[i] = (saltus_interval){numbers[i], numbers[i]};
    by[i] = (saltusi_jet){&k[i], {0, (unsigned char)(order + 1)}};
  }
  saltusi_jet_difference(to, saltusi_jet_given(t, order), by[0]);
  saltusi_jet_product(to, (saltusi_jet){c, extent}, by[1]);
  saltusi_jet_power(to, (saltusi_jet){c, extent}, 2);
  saltusi_jet_sum(to, (saltusi_jet){c, extent}, by[2]);
  saltusi_jet_quotient(to, by[3], (saltusi_jet){c, extent});
  saltusi_jet_write((saltusi_jet){c, extent}, order, out);
}

/* 1e-5 s within a step of a tenth of a second or more: its impulse is A w (atan + atan). */
static void a_narrow_pulse_of_an_actuator_is_found(void** state) {
  (void)state;
  const saltus_body_def body = {.name = "a", .mass = 0.5, .inertia = {1.0}};
  const saltus_marker_def markers[2] = {{.name = "at a", .body = "a"}, {.name = "pin"}};
  const saltus_joint_def joint = {.name = "slide",
                                  .type = SALTUS_JOINT_PRISMATIC,
                                  .between = {"pin", "at a"},
                                  .position = {.force = {.evaluate = pulse, .along = pulse_along}}};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .bodies = &body,
                                    .body_count = 1,
                                    .markers = markers,
                                    .marker_count = 2,
                                    .joints = &joint,
                                    .joint_count = 1};
  saltus_mechanism* m = create(&def);
  const saltus_integrator_def run = {.system = saltus_mechanism_system(m),
                                     .q0 = saltus_mechanism_q0(m),
                                     .v0 = saltus_mechanism_v0(m),
                                     .rtol = 1e-6,
                                     .atol = 1e-6};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
  assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
  const double impulse = height * width * (atan((1.0 - middle) / width) + atan(middle / width));
  assert_true(fabs(saltus_integrator_v(it)[0] - impulse / 0.5) < 1e-4); /* of 6e-3, some 50 steps */
  saltus_integrator_destroy(it);
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_beyond_degree_6_is_bounded),
      cmocka_unit_test(formulas_have_the_bounds_of_mechanisms),
      cmocka_unit_test(a_spring_that_is_passed_is_not_plain),
      cmocka_unit_test(a_narrow_pulse_of_an_actuator_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
