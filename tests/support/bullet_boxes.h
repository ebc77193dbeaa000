/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bullet_boxes.h - two boxes as Bullet sees them.
 */
#ifndef BULLET_BOXES_H
#define BULLET_BOXES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bullet_box {
  double size[3], R[9], x[3]; /* R row major */
} bullet_box;

/* How far they are apart; negative: the depth by the expanding polytope. NaN: it found neither. */
double bullet_boxes(const bullet_box* a, const bullet_box* b);

#ifdef __cplusplus
}
#endif
#endif
