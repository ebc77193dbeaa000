/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe_bodies.c - see observe_bodies.h.
 */
#include "scene/observe_bodies.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A coordinate of a joint or its rate, if it is not part of the state. */
typedef struct joint_output {
  int joint;
  bool angle, rate;
} joint_output;

typedef struct both {
  saltus_observables view;
  const saltus_observables* own; /* NULL: none */
  const saltus_mechanism* mechanism;
  bool plane;
  int first_q, first_v; /* of the mechanism in the state */
  joint_output* joints; /* [joint_count] */
  int joint_count;
} both;

static const saltus_label plane_labels[] = {{"momentum.x", "kg m/s"},
                                            {"momentum.y", "kg m/s"},
                                            {"angular_momentum.z", "kg m^2/s"},
                                            {"joints.open", "m"},
                                            {"joints.turned", "rad"}};
static const saltus_label space_labels[] = {{"momentum.x", "kg m/s"},
                                            {"momentum.y", "kg m/s"},
                                            {"momentum.z", "kg m/s"},
                                            {"angular_momentum.x", "kg m^2/s"},
                                            {"angular_momentum.y", "kg m^2/s"},
                                            {"angular_momentum.z", "kg m^2/s"},
                                            {"joints.open", "m"},
                                            {"joints.turned", "rad"}};
enum {
  PLANE = sizeof plane_labels / sizeof plane_labels[0],
  SPACE = sizeof space_labels / sizeof space_labels[0]
};

static void write_bodies(const both* b, const saltus_point* at, double* values) {
  saltus_mechanism_state s;
  saltus_mechanism_measure(b->mechanism, at->t, at->q + b->first_q, at->v + b->first_v, &s);
  int n = 0;
  for (int k = 0; k < (b->plane ? 2 : 3); k++) {
    values[n++] = s.momentum[k];
  }
  for (int k = b->plane ? 2 : 0; k < 3; k++) {
    values[n++] = s.angular_momentum[k];
  }
  values[n++] = s.defect_metres;
  values[n++] = s.defect_radians;
  for (int i = 0; i < b->joint_count; i++) {
    const joint_output* o = &b->joints[i];
    const saltus_joint_motion motion = saltus_mechanism_joint_motion(
        b->mechanism, o->joint, at->t, at->q + b->first_q, at->v + b->first_v);
    values[n++] = o->angle ? (o->rate ? motion.angle_rate : motion.angle)
                           : (o->rate ? motion.position_rate : motion.position);
  }
}

static int own_count(const both* b) {
  return b->own != NULL ? b->own->output_count : 0;
}

static void outputs(const void* self, const saltus_point* at, double* values) {
  const both* b = self;
  if (own_count(b) > 0) {
    b->own->outputs(b->own->self, at, values);
  }
  write_bodies(b, at, values + own_count(b));
}

static void outputs_with(const void* self, const saltus_point* at, const double* joint_forces,
                         double* values) {
  const both* b = self;
  b->own->outputs_with(b->own->self, at, joint_forces, values);
  write_bodies(b, at, values + own_count(b));
}

static void events(const void* self, const saltus_point* at, double* values) {
  const both* b = self;
  if (b->own != NULL && b->own->event_count > 0) {
    b->own->events(b->own->self, at, values);
  }
}

static void event_errors(const void* self, const saltus_point* at, const double* dq,
                         const double* dv, double* errors) {
  const both* b = self;
  b->own->event_errors(b->own->self, at, dq, dv, errors);
}

/* ---- coordinates of joints ---- */

/* Angles and positions of joints with their rates; in space angles are already coordinates of the state. Names of
 * outputs by formula have no dot, joints and bodies have different names: all are unique. */
static void add_joints(saltusi_reader* reader, both* b, saltus_label* labels) {
  static const char* const ends[2][2] = {{".position", ".position'"}, {".angle", ".angle'"}};
  static const char* const units[2][2] = {{"m", "m/s"}, {"rad", "rad/s"}};
  for (int i = 0; i < 4 * saltus_mechanism_sizes(b->mechanism).joints; i++) {
    const joint_output o = {.joint = i / 4, .angle = i % 4 < 2, .rate = i % 2 == 1};
    const saltus_joint_place place = saltus_mechanism_joint(b->mechanism, o.joint);
    const saltus_joint_motion at =
        saltus_mechanism_joint_motion(b->mechanism, o.joint, 0.0, saltus_mechanism_q0(b->mechanism),
                                      saltus_mechanism_v0(b->mechanism));
    const bool there = o.angle ? !isnan(at.angle) && (o.rate || place.angle < 0)
                               : !isnan(at.position) && place.type != SALTUS_JOINT_DISTANCE;
    char name[200];
    snprintf(name, sizeof name, "%.150s%s", place.name, ends[o.angle][o.rate]);
    if (there) {
      labels[b->joint_count] =
          (saltus_label){saltusi_pool_text(reader->pool, name), units[o.angle][o.rate]};
      b->joints[b->joint_count++] = o;
    }
  }
}

const saltus_observables* saltusi_observe_bodies(saltusi_reader* reader,
                                                 const saltus_observables* own,
                                                 const saltus_mechanism* mechanism,
                                                 const saltus_system* system) {
  assert(reader != NULL && mechanism != NULL && system != NULL);
  const saltus_dims* d = &saltus_mechanism_system(mechanism)->dims;
  const bool plane = saltus_mechanism_sizes(mechanism).dimension == 2;
  const int count = own != NULL ? own->output_count : 0;
  const int added = plane ? PLANE : SPACE;
  const size_t most = 4 * (size_t)saltus_mechanism_sizes(mechanism).joints;
  both* b = saltusi_reader_take(reader, 1, sizeof *b);
  joint_output* joints = saltusi_reader_take(reader, most, sizeof *joints);
  saltus_label* labels =
      saltusi_reader_take(reader, (size_t)count + (size_t)added + most, sizeof *labels);
  if (b == NULL || labels == NULL || joints == NULL) {
    return NULL;
  }
  *b = (both){.view = own != NULL ? *own : (saltus_observables){.output_count = 0},
              .own = own,
              .mechanism = mechanism,
              .joints = joints,
              .plane = plane,
              .first_q = system->dims.nq - d->nq,
              .first_v = system->dims.nv - d->nv};
  for (int i = 0; i < count + added; i++) {
    labels[i] =
        i < count ? own->output_labels[i] : (plane ? plane_labels : space_labels)[i - count];
  }
  add_joints(reader, b, labels + count + added);
  b->view.output_count = count + added + b->joint_count;
  b->view.output_labels = labels;
  b->view.outputs = outputs;
  b->view.outputs_with = own != NULL && own->outputs_with != NULL ? outputs_with : NULL;
  b->view.events = events;
  b->view.event_errors = own != NULL && own->event_errors != NULL ? event_errors : NULL;
  b->view.self = b;
  return &b->view;
}

const saltus_observables* saltusi_observe_bodies_own(const saltus_observables* all) {
  assert(all != NULL && own_count(all->self) <= all->output_count);
  return ((const both*)all->self)->own;
}
