/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe_bodies.c - see observe_bodies.h.
 */
#include "scene/observe_bodies.h"

#include <assert.h>
#include <string.h>

typedef struct both {
  saltus_observables view;
  const saltus_observables* own; /* NULL: none */
  const saltus_mechanism* mechanism;
  bool plane;
  int first_q, first_v; /* of the mechanism in the state */
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
  values[n] = s.defect_radians;
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

const saltus_observables* saltusi_observe_bodies(saltusi_reader* reader,
                                                 const saltus_observables* own,
                                                 const saltus_mechanism* mechanism,
                                                 const saltus_system* system) {
  assert(reader != NULL && mechanism != NULL && system != NULL);
  const saltus_dims* d = &saltus_mechanism_system(mechanism)->dims;
  const bool plane = saltus_mechanism_sizes(mechanism).dimension == 2;
  const int count = own != NULL ? own->output_count : 0;
  const int added = plane ? PLANE : SPACE;
  both* b = saltusi_reader_take(reader, 1, sizeof *b);
  saltus_label* labels = saltusi_reader_take(reader, (size_t)count + (size_t)added, sizeof *labels);
  if (b == NULL || labels == NULL) {
    return NULL;
  }
  *b = (both){.view = own != NULL ? *own : (saltus_observables){.output_count = 0},
              .own = own,
              .mechanism = mechanism,
              .plane = plane,
              .first_q = system->dims.nq - d->nq,
              .first_v = system->dims.nv - d->nv};
  for (int i = 0; i < count + added; i++) {
    labels[i] =
        i < count ? own->output_labels[i] : (plane ? plane_labels : space_labels)[i - count];
  }
  b->view.output_count = count + added;
  b->view.output_labels = labels;
  b->view.outputs = outputs;
  b->view.outputs_with = own != NULL && own->outputs_with != NULL ? outputs_with : NULL;
  b->view.events = events;
  b->view.self = b;
  return &b->view;
}
