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

static void pose(dGeomID geom, const saltusi_carrier* at) {
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

static void overlaps_are_those_of_ode(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, 1.0, 0.8, 0.6, 0.0);
  const saltusi_shape B = solids_box(&pool, 1.2, 1.0, 0.5, 0.0);
  dInitODE();
  dGeomID geom[2] = {dCreateBox(0, 1.0, 0.8, 0.6), dCreateBox(0, 1.2, 1.0, 0.5)};
  uint64_t seed = 55;
  int overlapping = 0, apart_count = 0;
  for (int round = 0; round < 10000; round++) {
    const saltusi_carrier a = solids_anywhere(&seed, 0.5), b = solids_anywhere(&seed, 0.5);
    pose(geom[0], &a);
    pose(geom[1], &b);
    dContactGeom contact[8];
    const int count = dCollide(geom[0], geom[1], 8, contact, sizeof contact[0]);
    double depth = 0.0;
    for (int k = 0; k < count; k++) {
      depth = fmax(depth, contact[k].depth);
    }
    saltusi_separation apart;
    saltusi_shape_separation(&A, &a, &B, &b, &apart);
    if (count > 0) { /* no overlap is missed, none is deeper */
      assert_true(apart.distance <= 1e-9);
      assert_true(-apart.distance <= depth * (1.0 + 1e-9) + 1e-9);
      assert_true(-apart.distance >= depth / 1.05 - 1e-9);
      overlapping++;
    } else {
      assert_true(apart.distance >= -1e-9);
      apart_count++;
    }
  }
  assert_true(overlapping > 2000 && apart_count > 2000);
  dGeomDestroy(geom[0]);
  dGeomDestroy(geom[1]);
  dCloseODE();
  saltusi_pool_free(&pool);
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
