/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_tree.h - mechanisms of random bodies in random trees of joints.
 */
#ifndef SALTUS_RANDOM_TREE_H
#define SALTUS_RANDOM_TREE_H

#include "saltus/mechanism.h"

enum { RANDOM_BODIES = 12, RANDOM_SPRINGS = 4 };

typedef struct random_tree {
  char names[4 * RANDOM_BODIES + 3 * RANDOM_SPRINGS][16];
  saltus_body_def bodies[RANDOM_BODIES];
  saltus_marker_def markers[2 * RANDOM_BODIES + 2 * RANDOM_SPRINGS];
  saltus_joint_def joints[RANDOM_BODIES + 1];
  saltus_spring_def springs[RANDOM_SPRINGS];
  saltus_body_shape_def shapes[RANDOM_BODIES + 1];
  saltus_mechanism_def def;
} random_tree;

/* Contents of a random tree. */
typedef struct random_tree_kind {
  int dimension; /* 2 or 3 */
  int bodies;
  bool springs; /* between bodies of different branches too */
  bool forces;  /* springs, dampers, actuators along coordinates of joints */
  bool shapes;  /* balls above the ground */
} random_tree_kind;

void random_tree_fill(random_tree* t, const random_tree_kind* kind, uint64_t* seed);

#endif
