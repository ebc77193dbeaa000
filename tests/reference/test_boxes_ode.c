/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Overlaps of boxes beside those of ODE, where it is installed. ODE takes an axis of edges only when it is 5 % better
 * than that of a face, so its depth is that of the best axis or up to 1.05 times that.
 */
#include "solids.h"

#include "math/rotation.h"

#if SALTUS_ODE
#include <ode/ode.h>

static void pose(dGeomID geom, const saltusi_body_pose* at) {
  dMatrix3 R;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[4 * i + j] = at->R[3 * i + j];
    }
    R[4 * i + 3] = 0.0;
  }
  dGeomSetPosition(geom, at->x[0], at->x[1], at->x[2]);
  dGeomSetRotation(geom, R);
}

typedef struct tally {
  int overlapping, apart;
} tally;

/* No overlap is missed, none is deeper, none is told that is not there. */
static double compare(const saltusi_shape shape[2], const saltusi_body_pose at[2],
                      const dGeomID geom[2], tally* sum) {
  dContactGeom contact[8];
  double depth = 0.0;
  saltusi_separation apart;
  pose(geom[0], &at[0]);
  pose(geom[1], &at[1]);
  const int count = dCollide(geom[0], geom[1], 8, contact, sizeof contact[0]);
  for (int k = 0; k < count; k++) {
    depth = fmax(depth, contact[k].depth);
  }
  saltusi_shape_separation(&shape[0], &at[0], &shape[1], &at[1], &apart);
  if (count > 0) {
    assert_true(apart.distance <= 1e-9);
    assert_true(-apart.distance <= depth * (1.0 + 1e-9) + 1e-9);
    assert_true(-apart.distance >= depth / 1.05 - 1e-9);
    sum->overlapping++;
  } else {
    assert_true(apart.distance >= -1e-9);
    sum->apart++;
  }
  return apart.distance;
}

/* In any pose, and moved out along the best axis until they overlap, then are apart, by a micrometre. */
static void overlaps_are_those_of_ode(void** state) {
  static const double size[][2][3] = {{{1.0, 0.8, 0.6}, {1.2, 1.0, 0.5}},
                                      {{2.0, 2.0, 0.02}, {0.2, 0.1, 0.15}},
                                      {{0.02, 0.03, 2.0}, {0.7, 1.0, 0.9}}};
  (void)state;
  dInitODE();
  for (int n = 0; n < 3; n++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_shape shape[2];
    dGeomID geom[2];
    for (int k = 0; k < 2; k++) {
      const double* L = size[n][k];
      shape[k] = solids_box(&pool, L[0], L[1], L[2], 0.0);
      geom[k] = dCreateBox(0, L[0], L[1], L[2]);
    }
    uint64_t seed = 55 + (uint64_t)n;
    tally any = {0, 0}, touching = {0, 0};
    for (int round = 0; round < 10000; round++) {
      saltusi_body_pose at[2] = {solids_anywhere(&seed, 0.5), solids_anywhere(&seed, 0.5)};
      const bool overlap = compare(shape, at, geom, &any) < -1e-6;
      for (int side = -1; side <= 1 && overlap; side += 2) {
        saltusi_separation apart;
        saltusi_shape_separation(&shape[0], &at[0], &shape[1], &at[1], &apart);
        saltusi_along(side * 1e-6 - apart.distance, apart.normal, at[0].x, at[0].x);
        assert_near(compare(shape, at, geom, &touching), side * 1e-6, 1e-9);
      }
    }
    assert_true(any.overlapping > 500 && any.apart > 500);
    assert_int_equal(touching.overlapping, touching.apart); /* one of each */
    assert_true(touching.apart > 500);
    dGeomDestroy(geom[0]);
    dGeomDestroy(geom[1]);
    saltusi_pool_free(&pool);
  }
  dCloseODE();
}
#else
static void overlaps_are_those_of_ode(void** state) {
  (void)state;
  print_message("ODE is not installed (libode-dev): skipped\n");
  skip();
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps_are_those_of_ode)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
