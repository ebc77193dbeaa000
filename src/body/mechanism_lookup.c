/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mechanism_lookup.c - lookup of parts of a mechanism: names, indices in the state, poses, inputs.
 */
#include "body/terms.h"
#include "shape/world.h"

#include <assert.h>
#include <string.h>

saltus_mechanism_size saltus_mechanism_sizes(const saltus_mechanism* mechanism) {
  assert(mechanism != NULL);
  saltus_mechanism_size size = {.dimension = mechanism->plane ? 2 : 3,
                                .bodies = mechanism->body_count,
                                .markers = mechanism->marker_count,
                                .joints = mechanism->joint_count,
                                .springs = mechanism->spring_count,
                                .inputs = mechanism->input_count,
                                .shapes = mechanism->world != NULL ? mechanism->world->count : 0};
  memcpy(size.gravity, mechanism->gravity, sizeof size.gravity);
  return size;
}

saltus_spring_place saltus_mechanism_spring(const saltus_mechanism* mechanism, int i) {
  assert(mechanism != NULL && i >= 0 && i < mechanism->spring_count);
  return mechanism->springs[i];
}

static int find(const saltusi_index* index, const char* name) {
  return name != NULL ? saltusi_index_find(index, name) : -1;
}

int saltus_mechanism_find_body(const saltus_mechanism* mechanism, const char* name) {
  assert(mechanism != NULL);
  return find(&mechanism->body_names, name);
}

int saltus_mechanism_find_marker(const saltus_mechanism* mechanism, const char* name) {
  assert(mechanism != NULL);
  return find(&mechanism->marker_names, name);
}

int saltus_mechanism_find_joint(const saltus_mechanism* mechanism, const char* name) {
  assert(mechanism != NULL);
  return find(&mechanism->joint_names, name);
}

int saltus_mechanism_find_input(const saltus_mechanism* mechanism, const char* name) {
  assert(mechanism != NULL);
  return find(&mechanism->input_names, name);
}

void saltus_mechanism_set_input(saltus_mechanism* mechanism, int input, double value) {
  assert(mechanism != NULL && input >= 0 && input < mechanism->input_count);
  mechanism->inputs[input] = value;
}

double saltus_mechanism_input(const saltus_mechanism* mechanism, int input) {
  assert(mechanism != NULL && input >= 0 && input < mechanism->input_count);
  return mechanism->inputs[input];
}

saltus_body_place saltus_mechanism_body(const saltus_mechanism* mechanism, int body) {
  assert(mechanism != NULL && body >= 0 && body < mechanism->body_count);
  const saltusi_body* b = &mechanism->bodies[body];
  const double* I = b->I;
  saltus_body_place place = {.name = b->name,
                             .kind = b->kind,
                             .q = b->q,
                             .v = b->v,
                             .mass = b->mass,
                             .inertia = {I[0], I[4], I[8], I[1], I[2], I[5]}};
  if (mechanism->plane) {
    place.inertia[0] = I[8];
    place.inertia[2] = 0.0;
  }
  return place;
}

saltus_marker_place saltus_mechanism_marker(const saltus_mechanism* mechanism, int i) {
  assert(mechanism != NULL && i >= 0 && i < mechanism->marker_count);
  const saltusi_marker* marker = &mechanism->markers[i];
  saltus_marker_place place = {.name = marker->name,
                               .body = marker->body < mechanism->body_count ? marker->body : -1,
                               .point = {marker->r[0], marker->r[1], marker->r[2]},
                               .angle = marker->angle};
  for (int k = 0; k < 9; k++) {
    place.axes[k] = marker->axis[k % 3][k / 3];
  }
  return place;
}

saltus_joint_place saltus_mechanism_joint(const saltus_mechanism* mechanism, int joint) {
  assert(mechanism != NULL && joint >= 0 && joint < mechanism->joint_count);
  const saltusi_joint* j = &mechanism->joints[joint];
  saltus_joint_place place = {.name = j->name,
                              .type = j->type,
                              .between = {j->between[0], j->between[1]},
                              .row = j->row,
                              .rows = j->rows,
                              .angle = j->angle_q,
                              .driven = {j->driven[0], j->driven[1]}};
  memcpy(place.limits, j->limits, sizeof place.limits);
  return place;
}

void saltus_mechanism_pose(const saltus_mechanism* mechanism, int body, double t, const double* q,
                           double position[3], double axes[9]) {
  assert(mechanism != NULL && body >= 0 && body < mechanism->body_count && q != NULL);
  saltusi_pose pose;
  saltusi_pose_at(mechanism, body, t, q, &pose);
  memcpy(position, pose.x, sizeof pose.x);
  memcpy(axes, pose.R, sizeof pose.R);
}

void saltus_mechanism_frame(const saltus_mechanism* mechanism, int marker, double t,
                            const double* q, double position[3], double axes[9]) {
  assert(mechanism != NULL && marker >= 0 && marker < mechanism->marker_count && q != NULL);
  saltusi_end end;
  saltusi_end_at(mechanism, marker, t, q, &end);
  memcpy(position, end.p, sizeof end.p);
  for (int k = 0; k < 9; k++) {
    axes[k] = end.axis[k % 3][k / 3];
  }
}
