/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "random_tree.h"

#include "math/rotation.h"
#include "saltus_test.h"

#include <stdio.h>
#include <string.h>

static double between(uint64_t* seed, double low, double high) {
  return low + (high - low) * saltus_test_random(seed);
}

static int below(uint64_t* seed, int n) {
  const int i = (int)(saltus_test_random(seed) * n);
  return i < n ? i : n - 1;
}

static void random_rotation(int dimension, uint64_t* seed, saltus_orientation* out) {
  if (dimension == 2) {
    *out = (saltus_orientation){SALTUS_ORIENTATION_ANGLE, {between(seed, -2.0, 2.0)}};
    return;
  }
  out->kind = SALTUS_ORIENTATION_QUATERNION;
  for (int k = 0; k < 4; k++) {
    out->value[k] = between(seed, -1.0, 1.0);
  }
}

static void random_body(random_tree* t, int i, const random_tree_kind* kind, uint64_t* seed) {
  saltus_body_def* body = &t->bodies[i];
  snprintf(t->names[i], sizeof t->names[i], "b%d", i);
  body->name = t->names[i];
  body->mass = between(seed, 0.5, 2.0);
  const double a = between(seed, 0.1, 0.2), b = between(seed, 0.1, 0.2);
  body->inertia[0] = kind->dimension == 2 ? a : b + 0.1;
  body->inertia[1] = a + 0.1;
  body->inertia[2] = a + b;
  body->inertia[3] = 0.01;
  for (int k = 0; k < kind->dimension; k++) {
    body->position[k] =
        between(seed, -1.0, 1.0) + (kind->shapes && k == kind->dimension - 1 ? 2.0 : 0.0);
  }
  random_rotation(kind->dimension, seed, &body->orientation);
}

/* A marker on a body that coincides with a frame of the world. */
static void marker_at(const random_tree* t, int body, const double x[3], const double R[9],
                      saltus_marker_def* marker) {
  double B[9], d[3], half[9], local[9];
  if (body < 0) {
    memcpy(marker->position, x, 3 * sizeof *x);
    marker->orientation.kind = SALTUS_ORIENTATION_QUATERNION;
    saltusi_matrix_quaternion(R, marker->orientation.value);
    return;
  }
  marker->body = t->bodies[body].name;
  assert_true(saltusi_orientation_matrix(&t->bodies[body].orientation, B));
  saltusi_minus3(x, t->bodies[body].position, d);
  saltusi_turn_back(B, d, marker->position);
  for (int k = 0; k < 9; k++) {
    half[k] = B[3 * (k % 3) + k / 3];
  }
  saltusi_matrix3_product(half, R, local);
  marker->orientation.kind = SALTUS_ORIENTATION_QUATERNION;
  saltusi_matrix_quaternion(local, marker->orientation.value);
}

static void random_forces(saltus_coordinate_def* c, uint64_t* seed) {
  c->stiffness = between(seed, 0.0, 20.0);
  c->rest = between(seed, -0.3, 0.3);
  c->damping = between(seed, 0.0, 2.0);
  c->force.value = between(seed, -3.0, 3.0);
}

static void random_joint(random_tree* t, int i, const random_tree_kind* kind, uint64_t* seed) {
  static const saltus_joint_type space[] = {
      SALTUS_JOINT_FIXED,     SALTUS_JOINT_REVOLUTE,  SALTUS_JOINT_REVOLUTE,
      SALTUS_JOINT_PRISMATIC, SALTUS_JOINT_SPHERICAL, SALTUS_JOINT_CYLINDRICAL,
      SALTUS_JOINT_UNIVERSAL, SALTUS_JOINT_PLANAR,    SALTUS_JOINT_SCREW};
  static const saltus_joint_type plane[] = {SALTUS_JOINT_FIXED, SALTUS_JOINT_REVOLUTE,
                                            SALTUS_JOINT_REVOLUTE, SALTUS_JOINT_PRISMATIC};
  const bool plain = kind->dimension == 2;
  const int before = i == 0 ? -1 : below(seed, i + 1) - 1;
  saltus_marker_def* markers = &t->markers[2 * i];
  saltus_joint_def* joint = &t->joints[t->def.joint_count++];
  saltus_orientation turned = {0};
  double R[9], x[3] = {0.0};
  random_rotation(kind->dimension, seed, &turned);
  assert_true(saltusi_orientation_matrix(&turned, R));
  for (int k = 0; k < kind->dimension; k++) {
    x[k] = t->bodies[i].position[k] + between(seed, -0.5, 0.5);
  }
  const bool reversed = below(seed, 2) == 1;
  for (int k = 0; k < 2; k++) {
    char* name = t->names[RANDOM_BODIES + 2 * i + k];
    snprintf(name, sizeof t->names[0], "m%d%c", i, k == 0 ? 'a' : 'b');
    markers[k].name = name;
    marker_at(t, k == 1 ? i : before, x, R, &markers[k]);
    joint->between[reversed ? 1 - k : k] = name;
  }
  if (plain) {
    for (int k = 0; k < 2; k++) {
      const double angle = turned.value[0];
      const int body = k == 1 ? i : before;
      markers[k].orientation =
          (saltus_orientation){SALTUS_ORIENTATION_ANGLE,
                               {body < 0 ? angle : angle - t->bodies[body].orientation.value[0]}};
    }
  }
  char* name = t->names[3 * RANDOM_BODIES + i];
  snprintf(name, sizeof t->names[0], "j%d", i);
  joint->name = name;
  joint->type = plain ? plane[below(seed, 4)] : space[below(seed, 9)];
  joint->ratio = joint->type == SALTUS_JOINT_SCREW ? 0.4 : 0.0;
  const bool turns = joint->type == SALTUS_JOINT_REVOLUTE ||
                     joint->type == SALTUS_JOINT_CYLINDRICAL || joint->type == SALTUS_JOINT_SCREW;
  const bool slides = joint->type == SALTUS_JOINT_PRISMATIC ||
                      joint->type == SALTUS_JOINT_CYLINDRICAL || joint->type == SALTUS_JOINT_SCREW;
  if (kind->forces && turns) {
    random_forces(&joint->angle, seed);
  }
  if (kind->forces && slides) {
    random_forces(&joint->position, seed);
  }
}

static void random_spring(random_tree* t, int i, const random_tree_kind* kind, uint64_t* seed) {
  saltus_spring_def* spring = &t->springs[i];
  const int first = below(seed, kind->bodies), other = 1 + below(seed, kind->bodies - 1);
  for (int k = 0; k < 2; k++) {
    saltus_marker_def* marker = &t->markers[t->def.marker_count++];
    char* name = t->names[4 * RANDOM_BODIES + RANDOM_SPRINGS + 2 * i + k];
    snprintf(name, sizeof t->names[0], "s%d%c", i, k == 0 ? 'a' : 'b');
    marker->name = name;
    marker->body = t->bodies[(first + k * other) % kind->bodies].name;
    marker->position[0] = between(seed, -0.5, 0.5);
    spring->between[k] = name;
  }
  snprintf(t->names[4 * RANDOM_BODIES + i], sizeof t->names[0], "s%d", i);
  spring->name = t->names[4 * RANDOM_BODIES + i];
  spring->type = SALTUS_SPRING_LINEAR;
  spring->stiffness[0] = between(seed, 1.0, 20.0);
  spring->damping[0] = between(seed, 0.0, 2.0);
  spring->rest = 0.5;
}

void random_tree_fill(random_tree* t, const random_tree_kind* kind, uint64_t* seed) {
  memset(t, 0, sizeof *t);
  const int n = kind->bodies;
  for (int i = 0; i < n; i++) {
    random_body(t, i, kind, seed);
  }
  const bool floats = below(seed, 2) == 1;
  for (int i = 0; i < n; i++) {
    if (i > 0 || !floats) {
      random_joint(t, i, kind, seed);
    } else { /* markers without a joint */
      for (int k = 0; k < 2; k++) {
        snprintf(t->names[RANDOM_BODIES + k], sizeof t->names[0], "m0%c", k == 0 ? 'a' : 'b');
        t->markers[k].name = t->names[RANDOM_BODIES + k];
      }
    }
  }
  t->def.marker_count = 2 * n;
  for (int i = 0; i < RANDOM_SPRINGS && kind->springs && n > 2; i++) {
    random_spring(t, i, kind, seed);
    t->def.spring_count++;
  }
  for (int i = 0; i < n && kind->shapes; i++) {
    t->shapes[t->def.shape_count++] = (saltus_body_shape_def){
        .shape = {.kind = SALTUS_SHAPE_SPHERE, .radius = 0.2}, .body = t->bodies[i].name};
  }
  if (kind->shapes) {
    t->shapes[t->def.shape_count++] =
        (saltus_body_shape_def){.shape = {.name = "floor", .kind = SALTUS_SHAPE_HALF_SPACE}};
  }
  t->def.dimension = kind->dimension;
  t->def.gravity[kind->dimension - 1] = -9.81;
  t->def.bodies = t->bodies;
  t->def.body_count = n;
  t->def.markers = t->markers;
  t->def.joints = t->joints;
  t->def.springs = t->springs;
  t->def.shapes = t->shapes;
}
