/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Scenes on which a run to a tolerance once ended with an error (tests/scenes/failing): final states at tolerances 1e-4
 * to 1e-10 against those of a scheme with fixed steps, whose event location and integration are others.
 */
#include "scene_runs.h"

#include <stdio.h>

static void read_scene(const char* name, char text[8192]) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_FAILING, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  const size_t size = fread(text, 1, 8191, file);
  assert_true(size > 0 && size < 8191);
  text[size] = '\0';
  fclose(file);
}

typedef struct scene_case {
  const char* name;
  double until;
  const char* scheme; /* of the reference */
  double step;
  double bound; /* error of the reference, or of 10 tolerances and the amplification of impacts */
  double amplification;
} scene_case;

/* All tolerances; prints every error before it fails. */
static void compare(const scene_case* c) {
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  char text[8192];
  read_scene(c->name, text);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_look(scene);
  const int nq = view->system->dims.nq;
  const scene_outcome reference = scene_run(view, c->scheme, c->step, c->until);
  int wrong = 0;
  for (int k = 0; k < 4; k++) {
    const scene_outcome out = scene_try(view, "adaptive", tolerances[k], c->until);
    const double apart = scene_apart(&out, &reference, nq);
    const double bound = fmax(c->bound, 10.0 * c->amplification * tolerances[k]);
    if (out.status != SALTUS_OK || !(apart <= bound)) {
      print_error("%s, tol %g: %s, error %g of %g\n", c->name, tolerances[k], out.text, apart,
                  bound);
      wrong++;
    }
  }
  saltus_scene_destroy(scene);
  assert_int_equal(wrong, 0);
}

/* Polygons a millimetre apart, points of one behind edges of the other. */
static void thin_polygons_in_free_flight(void** unused) {
  (void)unused;
  static const scene_case all[] = {{"two-polygons", 2.0, "rk4", 1e-3, 1e-7, 100.0},
                                   {"two-convex-polygons", 2.0, "rk4", 1e-3, 1e-7, 10.0},
                                   {"three-polygons", 0.97, "rk4", 1e-3, 1e-7, 100.0}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    compare(&all[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_polygons_in_free_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
