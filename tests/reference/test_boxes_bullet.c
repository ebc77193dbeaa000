/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Distances and overlaps of boxes beside those of Bullet, where its build in double precision is installed.
 */
#include "solids.h"

#if SALTUS_BULLET
#include "bullet_boxes.h"

#include <math.h>
#include <string.h>

static bullet_box box_of(const double size[3], const saltusi_body_pose* at) {
  bullet_box box;
  memcpy(box.size, size, sizeof box.size);
  memcpy(box.R, at->R, sizeof box.R);
  memcpy(box.x, at->x, sizeof box.x);
  return box;
}

typedef struct tally {
  int overlapping, apart, lost;
} tally;

/* Bullet's distance is that of the nearest points, ours along the best axis: that is less where corners or edges are nearest. Depths
 * are the same. In some overlaps Bullet's polytope becomes too thin and it finds neither depth nor distance. */
static void compare(const saltusi_shape shape[2], const saltusi_body_pose at[2],
                    const double size[2][3], tally* sum) {
  const bullet_box box[2] = {box_of(size[0], &at[0]), box_of(size[1], &at[1])};
  const double bullet = bullet_boxes(&box[0], &box[1]);
  saltusi_separation apart;
  saltusi_shape_separation(&shape[0], &at[0], &shape[1], &at[1], &apart);
  if (isnan(bullet)) {
    sum->lost++;
  } else if (bullet < 0.0) {
    assert_near(apart.distance, bullet, 1e-9);
    sum->overlapping++;
  } else {
    assert_true(apart.distance >= -1e-9 && apart.distance <= bullet + 1e-9);
    sum->apart++;
  }
}

static void overlaps_are_those_of_bullet(void** state) {
  static const double size[][2][3] = {{{1.0, 0.8, 0.6}, {1.2, 1.0, 0.5}},
                                      {{1.0, 1.0, 0.1}, {0.2, 0.1, 0.15}}};
  (void)state;
  for (int n = 0; n < 2; n++) {
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_shape shape[2];
    for (int k = 0; k < 2; k++) {
      shape[k] = solids_box(&pool, size[n][k][0], size[n][k][1], size[n][k][2], 0.0);
    }
    uint64_t seed = 77 + (uint64_t)n;
    tally sum = {0, 0, 0};
    for (int round = 0; round < 10000; round++) {
      const saltusi_body_pose at[2] = {solids_anywhere(&seed, 0.5), solids_anywhere(&seed, 0.5)};
      compare(shape, at, size[n], &sum);
    }
    assert_true(sum.overlapping > 500 && sum.apart > 4000 && sum.lost < 100);
    saltusi_pool_free(&pool);
  }
}
#else
static void overlaps_are_those_of_bullet(void** state) {
  (void)state;
  print_message("Bullet in double precision is not installed (libbullet-dev): skipped\n");
  skip();
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps_are_those_of_bullet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
