/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Overlaps of boxes by the expanding polytope of Bullet, in double precision.
 */
#include "bullet_boxes.h"

#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <btBulletCollisionCommon.h>
#include <cmath>

static btTransform at(const double R[9], const double x[3]) {
  return btTransform(btMatrix3x3(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]),
                     btVector3(x[0], x[1], x[2]));
}

/* Without a margin, which would round it. */
static btBoxShape box_of(const double size[3]) {
  btBoxShape box(btVector3(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]));
  box.setMargin(0.0);
  return box;
}

extern "C" double bullet_boxes(const bullet_box* a, const bullet_box* b) {
  const btBoxShape box_a = box_of(a->size), box_b = box_of(b->size);
  const btTransform of_a = at(a->R, a->x), of_b = at(b->R, b->x);
  const btVector3 guess = of_a.getOrigin() - of_b.getOrigin();
  btGjkEpaSolver2::sResults results;
  if (btGjkEpaSolver2::Penetration(&box_a, of_a, &box_b, of_b, guess, results)) {
    return results.distance;
  }
  const bool apart = btGjkEpaSolver2::Distance(&box_a, of_a, &box_b, of_b, guess, results);
  return apart ? results.distance : NAN;
}
