/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Distances and overlaps of boxes beside those of Bullet, where its build in double precision is installed.
 */
#include "solids.h"

#include "bullet_boxes.h"

#include <math.h>
#include <string.h>

static bullet_box box_of(const double size[3], const saltusi_carrier* at) {
  bullet_box box;
  memcpy(box.size, size, sizeof box.size);
  memcpy(box.R, at->R, sizeof box.R);
  memcpy(box.x, at->x, sizeof box.x);
  return box;
}

/* Bullet's distance is that of the nearest points, ours along the best axis: that is less where corners or edges are nearest. Depths
 * are the same. In some overlaps Bullet's polytope becomes too thin and it finds neither depth nor distance. */
static void overlaps_are_those_of_bullet(void** state) {
  (void)state;
  static const double size[2][3] = {{1.0, 0.8, 0.6}, {1.2, 1.0, 0.5}};
  saltusi_pool pool = saltusi_pool_over(NULL);
  const saltusi_shape A = solids_box(&pool, size[0][0], size[0][1], size[0][2], 0.0);
  const saltusi_shape B = solids_box(&pool, size[1][0], size[1][1], size[1][2], 0.0);
  uint64_t seed = 77;
  int overlapping = 0, apart_count = 0, lost = 0;
  for (int round = 0; round < 10000; round++) {
    const saltusi_carrier a = solids_anywhere(&seed, 0.5), b = solids_anywhere(&seed, 0.5);
    const bullet_box box[2] = {box_of(size[0], &a), box_of(size[1], &b)};
    const double bullet = bullet_boxes(&box[0], &box[1]);
    saltusi_separation apart;
    saltusi_shape_separation(&A, &a, &B, &b, &apart);
    if (isnan(bullet)) {
      lost++;
    } else if (bullet < 0.0) {
      assert_near(apart.distance, bullet, 1e-9);
      overlapping++;
    } else {
      assert_true(apart.distance >= -1e-9 && apart.distance <= bullet + 1e-9);
      apart_count++;
    }
  }
  assert_true(overlapping > 4000 && apart_count > 4000 && lost < 100);
  saltusi_pool_free(&pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps_are_those_of_bullet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
