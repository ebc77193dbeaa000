/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Optional parts: the library says which it has, and refuses what needs one that is missing, with the
 * CMake option in the message. Which parts there are comes from the build.
 */
#include "saltus_test.h"

static void the_library_says_what_it_was_built_with(void** state) {
  (void)state;
  assert_int_equal(saltus_has("yaml"), SALTUS_WITH_YAML);
  assert_int_equal(saltus_has("hdf5"), SALTUS_WITH_HDF5);
  assert_int_equal(saltus_has("expat"), SALTUS_WITH_EXPAT);
  assert_int_equal(saltus_has("qhull"), SALTUS_WITH_QHULL);
  assert_int_equal(saltus_has("cxsparse"), SALTUS_WITH_CXSPARSE);
  assert_int_equal(saltus_has("amd"), SALTUS_WITH_AMD);
  assert_int_equal(saltus_has("threads"), SALTUS_WITH_THREADS);
  assert_int_equal(saltus_has("zlib"), SALTUS_WITH_ZLIB);
  assert_int_equal(saltus_has("nlopt"), SALTUS_WITH_NLOPT);
  assert_false(saltus_has("fortran"));
}

static void scenes_are_read_or_refused_with_the_option(void** state) {
  (void)state;
  saltus_kept_message message = {.text = ""};
  const saltus_scene_def def = {.text =
                                    "saltus: 1\ncoordinates: {x: {start: 1}}\nkinetic: x'^2/2\n",
                                .log = saltus_log_keep(&message)};
  saltus_scene* scene = (saltus_scene*)&message;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (SALTUS_WITH_YAML) {
    assert_int_equal(status, SALTUS_OK);
    saltus_scene_destroy(scene);
  } else {
    assert_int_equal(status, SALTUS_ERR_UNSUPPORTED);
    assert_null(scene);
    assert_says(message, "SALTUS_WITH_YAML");
  }
}

static void robots_are_read_or_refused_with_the_option(void** state) {
  (void)state;
  saltus_kept_message message = {.text = ""};
  const saltus_urdf_def def = {.text =
                                   "<robot><link name='a'><inertial><mass value='1'/>"
                                   "<inertia ixx='1' iyy='1' izz='1'/></inertial></link></robot>",
                               .log = saltus_log_keep(&message)};
  saltus_urdf* urdf = (saltus_urdf*)&message;
  saltus_status status = saltus_urdf_create(&def, &urdf);
  if (SALTUS_WITH_EXPAT) {
    assert_int_equal(status, SALTUS_OK);
    saltus_urdf_destroy(urdf);
  } else {
    assert_int_equal(status, SALTUS_ERR_UNSUPPORTED);
    assert_null(urdf);
    assert_says(message, "SALTUS_WITH_EXPAT");
  }
}

/* One contact in the plane on a unit mass. */
static saltus_global_friction_problem global_problem(void) {
  static const int start[] = {0, 1, 2};
  static const int column[] = {0, 1};
  static const double one[] = {1.0, 1.0};
  static const double zero[] = {0.0, 0.0};
  static const double mu[] = {0.5};
  return (saltus_global_friction_problem){.dimension = 2,
                                          .M = {2, 2, start, column, one},
                                          .H = {2, 2, start, column, one},
                                          .f = zero,
                                          .w = zero,
                                          .mu = mu};
}

static void global_problems_are_reduced_or_refused_with_the_option(void** state) {
  (void)state;
  const saltus_global_friction_problem g = global_problem();
  saltus_kept_message message = {.text = ""};
  saltus_problem_file* local = NULL;
  saltus_status status = saltus_global_friction_reduce(&g, saltus_log_keep(&message), NULL, &local);
  if (saltus_has("cxsparse")) {
    assert_int_equal(status, SALTUS_OK);
    saltus_problem_file_destroy(local);
  } else {
    assert_int_equal(status, SALTUS_ERR_UNSUPPORTED);
    assert_null(local);
    assert_says(message, "SALTUS_WITH_CXSPARSE");
  }
}

static void hdf5_is_refused_with_the_option(void** state) {
  (void)state;
  if (SALTUS_WITH_HDF5) {
    skip();
  }
  const saltus_global_friction_problem g = global_problem();
  saltus_kept_message message = {.text = ""};
  assert_int_equal(
      saltus_problem_file_write_global("gfc2d_none.hdf5", &g, saltus_log_keep(&message)),
      SALTUS_ERR_UNSUPPORTED);
  assert_says(message, "SALTUS_WITH_HDF5");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_says_what_it_was_built_with),
      cmocka_unit_test(scenes_are_read_or_refused_with_the_option),
      cmocka_unit_test(robots_are_read_or_refused_with_the_option),
      cmocka_unit_test(global_problems_are_reduced_or_refused_with_the_option),
      cmocka_unit_test(hdf5_is_refused_with_the_option),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
