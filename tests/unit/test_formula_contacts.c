/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_formula_contacts.c - gaps that are several contacts, and what enclosures of a model say about
 * its formulas: dependences, switching functions, values.
 */
#include "formula_fixture.h"

#include <stdio.h>

static const saltus_formula_coordinate plane[] = {{.name = "x"}, {.name = "y"}};

static saltus_formula_def in_the_plane(const saltus_formula_contact* contacts, int count) {
  return (saltus_formula_def){.coordinates = plane,
                              .coordinate_count = 2,
                              .kinetic = TEXT("(x'^2 + y'^2)/2"),
                              .contacts = contacts,
                              .contact_count = count};
}

static fixture open_gap(const char* gap) {
  const saltus_formula_contact valley = {.name = "valley",
                                         .gap = TEXT(gap),
                                         .slip = TEXT("x'"),
                                         .friction = TEXT("0.3"),
                                         .restitution = TEXT("0.8")};
  const saltus_formula_def def = in_the_plane(&valley, 1);
  return open_model(&def);
}

static int gaps_at(fixture* f, double t, double x, double y, double* gap) {
  const double q[2] = {x, y}, v[2] = {0.0, 0.0};
  int law[64];
  uint64_t identity[64];
  saltus_contact_list list = {
      .capacity = 64, .count = f->system->dims.nc, .gap = gap, .identity = identity, .law = law};
  f->at.t = t;
  f->at.q = q;
  f->at.v = v;
  assert_int_equal(f->system->ops->contacts(f->system->self, &f->at, &list), SALTUS_OK);
  return f->system->dims.nc;
}

/* --- several contacts ------------------------------------------------------------------------- */

static void the_smallest_of_two_gaps_is_two_contacts(void** state) {
  (void)state;
  static const char* const same[] = {"min(y - x, y + x)", "y - abs(x)", "-max(x - y, -x - y)",
                                     "(3*y - abs(-3*x))/3"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    fixture f = open_gap(same[i]);
    double gap[64];
    assert_int_equal(gaps_at(&f, 0.0, 0.25, 1.0, gap), 2);
    assert_near(fmin(gap[0], gap[1]), 0.75, 1e-15);
    assert_near(fmax(gap[0], gap[1]), 1.25, 1e-15);
    assert_string_equal(f.system->laws[0].name, "valley[1]");
    assert_string_equal(f.system->laws[1].name, "valley[2]");
    assert_int_equal(saltus_formula_model_contact(f.model, 1), 0);
    for (int k = 0; k < 2; k++) {
      assert_true(f.system->laws[k].mu == 0.3 && f.system->laws[k].e_N == 0.8);
      assert_int_equal(f.system->laws[k].tangents, 1);
    }
    /* planes, not a roof: their normals do not change */
    assert_true((f.system->traits & SALTUS_CONSTANT_NORMALS) != 0);
    assert_int_equal(f.system->ops->enclosure->switches(f.system->self), 0);
    close_model(&f);
  }
}

static void the_largest_of_two_gaps_stays_one_contact_that_switches(void** state) {
  (void)state;
  static const char* const roofs[] = {"max(y - x, y + x)", "y + abs(x)", "-min(x - y, -x - y)"};
  for (size_t i = 0; i < sizeof roofs / sizeof *roofs; i++) {
    fixture f = open_gap(roofs[i]);
    assert_int_equal(f.system->dims.nc, 1);
    assert_string_equal(f.system->laws[0].name, "valley");
    assert_int_equal(f.system->ops->enclosure->switches(f.system->self), 1);
    close_model(&f);
  }
}

/* The force on x is the formula itself: the smallest gap has to be it, everywhere. */
static void the_smallest_part_is_the_gap(void** state) {
  (void)state;
  static const struct {
    const char* gap;
    int contacts;
  } cases[] = {
      {"min(x, y, x + y - 1)", 3},           {"2*min(x, y) - 3*max(x*y, abs(x - 1))", 6},
      {"min(x, -y) + min(x^2, y^2) + t", 4}, {"min(max(x, y), abs(x) - 1, -abs(y))", 4},
      {"-(abs(abs(x) - 1) - y)", 3},         {"y - max(abs(x), abs(x - 2)) - min(x, 1)", 4},
      {"min(x, y)/4 - max(x, y)/2", 4},      {"sin(min(x, y)) - abs(t)", 2},
      {"min(x, 3) - max(y, y)", 2},          {"piecewise(x < 0, min(x, y), y) - abs(x)", 2},
  };
  uint64_t seed = 7;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const saltus_formula_contact contact = {.name = "c", .gap = TEXT(cases[i].gap)};
    saltus_formula_coordinate q[2] = {plane[0], plane[1]};
    q[0].force = (saltus_formula_text)TEXT(cases[i].gap);
    saltus_formula_def def = in_the_plane(&contact, 1);
    def.coordinates = q;
    fixture f = open_model(&def);
    assert_int_equal(f.system->dims.nc, cases[i].contacts);
    for (int k = 0; k < 200; k++) {
      double gap[64], F[2], least = INFINITY;
      const double x = 6.0 * saltus_test_random(&seed) - 3.0;
      const double y = 6.0 * saltus_test_random(&seed) - 3.0;
      const double at[2] = {x, y}, v[2] = {0.0, 0.0};
      const int count = gaps_at(&f, x * y, x, y, gap);
      for (int c = 0; c < count; c++) {
        least = fmin(least, gap[c]);
      }
      f.at.q = at;
      f.at.v = v;
      f.system->ops->force(f.system->self, &f.at, F);
      assert_near(least, F[0], 1e-13); /* rounding of sums in another order, values to 50 */
    }
    close_model(&f);
  }
}

static void a_part_that_never_touches_is_no_contact(void** state) {
  (void)state;
  fixture f = open_gap("min(y, 0.5)");
  assert_int_equal(f.system->dims.nc, 1);
  assert_string_equal(f.system->laws[0].name, "valley");
  close_model(&f);
}

static void refuses(const saltus_formula_contact* contacts, int count, const char* words) {
  saltus_kept_message kept;
  saltus_formula_model* model = NULL;
  saltus_formula_def def = in_the_plane(contacts, count);
  def.log = saltus_log_keep(&kept);
  assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_ERR_INPUT);
  assert_null(model);
  assert_says(kept, words);
}

static void at_most_64_parts(void** state) {
  (void)state;
  char text[256] = "y";
  for (int k = 1; k <= 6; k++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), " - abs(x - %d)", k);
  }
  fixture f = open_gap(text);
  assert_int_equal(f.system->dims.nc, 64);
  close_model(&f);
  snprintf(text + strlen(text), sizeof text - strlen(text), " - abs(x - 7)");
  const saltus_formula_contact comb = {.name = "comb", .gap = TEXT(text)};
  refuses(&comb, 1, "the gap is the smallest of more than 64 formulas");
}

static void names_of_parts_stay_unique(void** state) {
  (void)state;
  const saltus_formula_contact two[] = {{.name = "valley", .gap = TEXT("y - abs(x)")},
                                        {.name = "valley[2]", .gap = TEXT("x + 1")}};
  refuses(two, 2, "part 2 of this gap is a contact called \"valley[2]\"");
}

static void later_contacts_know_where_they_were_written(void** state) {
  (void)state;
  const saltus_formula_contact three[] = {{.name = "left", .gap = TEXT("x + 2")},
                                          {.name = "valley", .gap = TEXT("y - abs(x)")},
                                          {.name = "right", .gap = TEXT("2 - x")}};
  const saltus_formula_def def = in_the_plane(three, 3);
  fixture f = open_model(&def);
  const int expected[] = {0, 1, 1, 2};
  assert_int_equal(f.system->dims.nc, 4);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(saltus_formula_model_contact(f.model, k), expected[k]);
  }
  assert_string_equal(f.system->laws[3].name, "right");
  close_model(&f);
}

/* Without splitting the impact on the far side of the kink is one with the near side's normal. */
static void a_ball_in_a_valley_keeps_its_energy(void** state) {
  (void)state;
  static const char* const gaps[] = {"min(y - x, y + x)", "y - abs(x)"};
  for (int i = 0; i < 2; i++) {
    const saltus_formula_contact valley = {
        .name = "valley", .gap = TEXT(gaps[i]), .restitution = TEXT("1")};
    saltus_formula_def def = in_the_plane(&valley, 1);
    def.potential = (saltus_formula_text)TEXT("9.81*y");
    fixture f = open_model(&def);
    const double q[2] = {0.1, 1.0}, v[2] = {0.0, 0.0};
    saltus_kept_message kept;
    saltus_sim_def sim_def = {.system = f.system,
                              .scheme = "moreau-jean",
                              .h = 1e-3,
                              .q0 = q,
                              .v0 = v,
                              .log = saltus_log_keep(&kept)};
    saltus_sim* sim;
    assert_int_equal(saltus_sim_create(&sim_def, &sim), SALTUS_OK);
    assert_int_equal(saltus_sim_run(sim, 3000), SALTUS_OK);
    const double* u = saltus_sim_v(sim);
    const double energy = 0.5 * (u[0] * u[0] + u[1] * u[1]) + 9.81 * saltus_sim_q(sim)[1];
    assert_near(energy, 9.81, 1e-12); /* the scheme keeps it to rounding on planes */
    saltus_sim_destroy(sim);
    close_model(&f);
  }
}

/* --- enclosures of a model -------------------------------------------------------------------- */

static void dependences_are_those_of_the_formula(void** state) {
  (void)state;
  const unsigned T = SALTUS_ON_T, Q = SALTUS_ON_Q, V = SALTUS_ON_V, bent = SALTUS_NOT_AFFINE;
  const unsigned wild = SALTUS_NOT_AFFINE | SALTUS_NOT_POLYNOMIAL;
  const struct {
    const char* force;
    unsigned depends;
  } cases[] = {
      {"3", 0},
      {"2*x - y/3 + t", T | Q},
      {"-(x' + 4*y')", V},
      {"sin(t)", T | wild},
      {"x*y", Q | bent},
      {"abs(x)", Q | wild}, /* its derivative is constant but for the kink */
      {"sign(y')", V | wild},
      {"piecewise(t < 1, 0, 1)", T | wild},
      {"x^2*(y - t)^2/3", T | Q | bent},
      {"x^2*(y - t)^3", T | Q | wild},
      {"1/(x - 2)", Q | wild},
      {"x*y' + t", T | Q | V | bent},
      {"(x + y)*3 - 3*y", Q},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const saltus_formula_coordinate q[2] = {{.name = "x", .force = TEXT(cases[i].force)},
                                            {.name = "y"}};
    saltus_formula_def def = in_the_plane(NULL, 0);
    def.coordinates = q;
    fixture f = open_model(&def);
    const saltus_enclosure_ops* ops = f.system->ops->enclosure;
    assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_FORCE, 0), cases[i].depends);
    assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_FORCE, 1), 0);
    close_model(&f);
  }
}

static void velocities_have_dependences_of_their_own(void** state) {
  (void)state;
  fixture f = open_gap("y - 0.05*sin(20*x) - t");
  const saltus_enclosure_ops* ops = f.system->ops->enclosure;
  assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_GAP, 0),
                   SALTUS_ON_T | SALTUS_ON_Q | SALTUS_NOT_AFFINE | SALTUS_NOT_POLYNOMIAL);
  assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_VELOCITY, 0),
                   SALTUS_ON_Q | SALTUS_ON_V | SALTUS_NOT_AFFINE | SALTUS_NOT_POLYNOMIAL);
  close_model(&f);
  f = open_gap("y - 2*t");
  assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_GAP, 0), SALTUS_ON_T | SALTUS_ON_Q);
  assert_int_equal(ops->depends(f.system->self, SALTUS_QUANTITY_VELOCITY, 0), SALTUS_ON_V);
  close_model(&f);
}

/* Values of all switching functions at a point, sorted. */
static int switches_at(const fixture* f, double t, const double* q, const double* v, double* out) {
  const saltus_system* s = f->system;
  const saltus_enclosure_ops* ops = s->ops->enclosure;
  void* scratch = malloc(ops->bytes(s->self));
  const saltus_interval at = {t, t}, q2[2] = {{q[0], q[0]}, {q[1], q[1]}},
                        v2[2] = {{v[0], v[0]}, {v[1], v[1]}};
  const saltus_course course = {.order = 0, .t = &at, .q = q2, .v = v2, .scratch = scratch};
  const int count = ops->switches(s->self);
  for (int i = 0; i < count; i++) {
    saltus_interval value;
    ops->along(s->self, &course, SALTUS_QUANTITY_SWITCH, i, &value);
    out[i] = fabs(0.5 * (value.lo + value.hi));
    for (int k = i; k > 0 && out[k] < out[k - 1]; k--) {
      const double swap = out[k];
      out[k] = out[k - 1];
      out[k - 1] = swap;
    }
  }
  free(scratch);
  return count;
}

static void every_branch_has_one_switching_function(void** state) {
  (void)state;
  const double q[2] = {0.3, 0.7}, v[2] = {1.1, -0.4};
  const double t = 0.25;
  const struct {
    const char* force;
    int count;
    double sizes[4]; /* |values| at the point, ascending */
  } cases[] = {
      {"x*y", 0, {0}},
      {"abs(x) + 2*abs(-x) + sign(x)", 1, {0.3}},
      {"-sign(x' - 2)", 1, {0.9}},
      {"min(x, y) + max(y, x)", 1, {0.4}},
      {"piecewise(x < y, 1, y <= 2, 0, 3)", 2, {0.4, 1.3}},
      {"step(t - 1)*y", 1, {0.75}},
      {"smoothstep(0, 2, t)", 2, {0.125, 0.875}},
      {"abs(sin(x - y))*piecewise(x*y > t and not t > 3, 1, 0)",
       3,
       {0.04, 0.38941834230865049, 2.75}},
      {"abs(2) + min(3, 4)", 0, {0}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const saltus_formula_coordinate c[2] = {{.name = "x", .force = TEXT(cases[i].force)},
                                            {.name = "y"}};
    saltus_formula_def def = in_the_plane(NULL, 0);
    def.coordinates = c;
    fixture f = open_model(&def);
    double found[16];
    assert_int_equal(switches_at(&f, t, q, v, found), cases[i].count);
    for (int k = 0; k < cases[i].count; k++) {
      assert_near(found[k], cases[i].sizes[k], 1e-15);
    }
    close_model(&f);
  }
}

static void switches_come_from_energies_gaps_slips_and_joints(void** state) {
  (void)state;
  const saltus_formula_contact contact = {
      .name = "c", .gap = TEXT("y + abs(x - 1)"), .slip = TEXT("x' - max(t, 2)")};
  const saltus_formula_joint joint = {.name = "j", .constraint = TEXT("abs(x - 4) - y")};
  saltus_formula_def def = in_the_plane(&contact, 1);
  def.kinetic = (saltus_formula_text)TEXT("x'^2/2*(2 + sign(y - 5)) + y'^2/2");
  def.potential = (saltus_formula_text)TEXT("3*abs(x - 2) + max(0, y - 3)^2");
  def.joints = &joint;
  def.joint_count = 1;
  fixture f = open_model(&def);
  const double q[2] = {0.0, 0.0}, v[2] = {0.0, 0.0};
  double found[16];
  /* x - 1, t - 2, x - 2, y - 3, x - 4, y - 5 */
  const double sizes[] = {1.0, 2.0, 2.0, 3.0, 4.0, 5.0};
  assert_int_equal(switches_at(&f, 0.0, q, v, found), 6);
  int only_time = 0;
  for (int k = 0; k < 6; k++) {
    assert_near(found[k], sizes[k], 1e-15);
    only_time +=
        f.system->ops->enclosure->depends(f.system->self, SALTUS_QUANTITY_SWITCH, k) == SALTUS_ON_T;
  }
  assert_int_equal(only_time, 1);
  close_model(&f);
}

/* U of a rolling and slipping wheel on a wave, against rows computed by derivatives. */
static void relative_velocities_are_those_of_the_rows(void** state) {
  (void)state;
  const saltus_formula_contact contact = {.name = "c",
                                          .gap = TEXT("y - 0.1*sin(3*x - t)"),
                                          .slip = TEXT("x' - 0.2*y'*cos(x)"),
                                          .slip2 = TEXT("x*y + t^2")};
  const saltus_formula_def def = in_the_plane(&contact, 1);
  fixture f = open_model(&def);
  const double q[2] = {0.4, 0.9}, v[2] = {-1.5, 0.6};
  check_derivatives(&f, 0.7, q, v);
  saltus_system_check_result result;
  saltus_kept_message kept;
  assert_int_equal(saltus_system_check(f.system, 0.7, q, v, saltus_log_keep(&kept), &result),
                   SALTUS_OK);
  assert_true(result.enclosure == 0.0);
  close_model(&f);
}

/* An enclosure of another gap is found out. */
static const saltus_enclosure_ops* honest;

static void shifted_along(const void* self, const saltus_course* course, saltus_quantity what,
                          int index, saltus_interval* out) {
  honest->along(self, course, what, index, out);
  if (what == SALTUS_QUANTITY_GAP) {
    out[0].lo += 1.0;
    out[0].hi += 1.0;
  }
}

static void a_wrong_enclosure_is_found_by_the_check(void** state) {
  (void)state;
  fixture f = open_gap("y - x^2");
  honest = f.system->ops->enclosure;
  saltus_enclosure_ops wrong = *honest;
  wrong.along = shifted_along;
  saltus_system_ops ops = *f.system->ops;
  ops.enclosure = &wrong;
  saltus_system system = *f.system;
  system.ops = &ops;
  const double q[2] = {0.4, 0.9}, v[2] = {-1.5, 0.6};
  saltus_system_check_result result;
  saltus_kept_message kept;
  assert_int_equal(saltus_system_check(&system, 0.0, q, v, saltus_log_keep(&kept), &result),
                   SALTUS_OK);
  assert_true(result.enclosure > 0.1);
  assert_string_equal(result.where, "enclosures");
  close_model(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_smallest_of_two_gaps_is_two_contacts),
      cmocka_unit_test(the_largest_of_two_gaps_stays_one_contact_that_switches),
      cmocka_unit_test(the_smallest_part_is_the_gap),
      cmocka_unit_test(a_part_that_never_touches_is_no_contact),
      cmocka_unit_test(at_most_64_parts),
      cmocka_unit_test(names_of_parts_stay_unique),
      cmocka_unit_test(later_contacts_know_where_they_were_written),
      cmocka_unit_test(a_ball_in_a_valley_keeps_its_energy),
      cmocka_unit_test(dependences_are_those_of_the_formula),
      cmocka_unit_test(velocities_have_dependences_of_their_own),
      cmocka_unit_test(every_branch_has_one_switching_function),
      cmocka_unit_test(switches_come_from_energies_gaps_slips_and_joints),
      cmocka_unit_test(relative_velocities_are_those_of_the_rows),
      cmocka_unit_test(a_wrong_enclosure_is_found_by_the_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
