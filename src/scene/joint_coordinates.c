/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joint_coordinates.c - world.coordinates: joints: the system of a scene in joint coordinates. The start is that of the bodies, on its
 * joints; outputs and events are evaluated with the velocities of bodies.
 */
#include "model/formula_signal.h"
#include "saltus/tree.h"
#include "scene/builder.h"

#include <assert.h>
#include <string.h>

typedef struct tree_observer {
  saltus_observables view;
  const saltus_observables* inner;
  const saltus_tree* tree;
  size_t first; /* byte of the velocities of bodies in the scratch */
} tree_observer;

static saltus_point inside(const tree_observer* o, const saltus_point* at) {
  saltus_point p = *at;
  double* bodies = (double*)(void*)((char*)at->scratch + o->first);
  saltus_tree_body_velocities(o->tree, at->q, at->v, bodies);
  p.v = bodies;
  return p;
}

static void outputs(const void* self, const saltus_point* at, double* values) {
  const tree_observer* o = self;
  const saltus_point p = inside(o, at);
  o->inner->outputs(o->inner->self, &p, values);
}

static void events(const void* self, const saltus_point* at, double* values) {
  const tree_observer* o = self;
  const saltus_point p = inside(o, at);
  o->inner->events(o->inner->self, &p, values);
}

static const saltus_observables* observe(saltusi_scene_builder* b,
                                         const saltus_observables* inner) {
  tree_observer* o = saltusi_reader_take(&b->reader, 1, sizeof *o);
  if (o == NULL) {
    return NULL;
  }
  const size_t align = SALTUS_ALIGNMENT;
  *o = (tree_observer){.view = *inner,
                       .inner = inner,
                       .tree = b->scene->tree,
                       .first = (inner->scratch + align - 1) / align * align};
  o->view.scratch = o->first + (size_t)b->scene->view.bodies->dims.nv * sizeof(double);
  o->view.outputs = outputs;
  o->view.events = inner->events != NULL ? events : NULL;
  o->view.event_errors = NULL; /* of the velocities of bodies */
  o->view.self = o;
  return &o->view;
}

bool saltusi_scene_by_joints(saltusi_scene_builder* b, const saltusi_yaml_node** where) {
  assert(b != NULL && where != NULL);
  static const char* const words[] = {"bodies", "joints", NULL};
  const saltusi_yaml_node* world = saltusi_reader_section(b->root, "world");
  *where = world != NULL ? saltusi_yaml_find(world, "coordinates") : NULL;
  return *where != NULL && saltusi_scene_word(b, *where, "coordinates", words) == 1;
}

/* Rejects features that joint coordinates do not support. */
static bool has_joints(saltusi_scene_builder* b, const saltusi_yaml_node** where) {
  if (!saltusi_scene_by_joints(b, where)) {
    return false;
  }
  const saltus_scene_view* view = &b->scene->view;
  if (b->model.coordinate_count > 0 || b->scene->over != NULL) {
    saltusi_reader_fail(&b->reader, *where,
                        "joint coordinates: scenes with coordinates by formula, with flexible "
                        "bodies or without free ones have coordinates: bodies");
  } else if (view->observables != NULL && view->observables->outputs_with != NULL) {
    saltusi_reader_fail(&b->reader, *where,
                        "outputs by forces of joints need coordinates: bodies, whose joints have "
                        "rows");
  }
  return b->reader.status == SALTUS_OK;
}

/* The mass matrix of the bodies has no place for inertia of a joint. */
static void refuse_armature(saltusi_scene_builder* b) {
  for (int i = 0; i < b->mechanism.joint_count && b->reader.status == SALTUS_OK; i++) {
    const saltus_joint_def* joint = &b->mechanism.joints[i];
    if (joint->angle.armature != 0.0 || joint->position.armature != 0.0) {
      saltusi_reader_fail(&b->reader, saltusi_reader_section(b->root, "joints"),
                          "joint " SALTUSI_QUOTE
                          " has an armature, which needs world: {coordinates: joints}",
                          joint->name);
    }
  }
}

/* Actuators by the coordinate of their own joint are forces of the tree, not of the bodies. */
void saltusi_scene_laws(saltusi_scene_builder* b) {
  assert(b != NULL && b->scene->mechanism != NULL);
  const saltus_mechanism* m = b->scene->mechanism;
  const int count = b->model.spring_count;
  b->laws = saltusi_reader_take(&b->reader, (size_t)count + 1, sizeof *b->laws);
  b->model.spring_count = 0;
  for (int i = 0; i < count && b->laws != NULL; i++) {
    const saltus_formula_spring* s = &b->springs[i];
    const int joint = s->force != NULL ? saltus_mechanism_find_joint(m, s->name) : -1;
    saltus_tree_law* law = &b->laws[b->law_count];
    if (joint >= 0 && saltus_tree_takes(m, joint) &&
        saltusi_formula_law_make(&b->model, s->force, s->elongation.text, b->reader.pool,
                                 &law->self)) {
      law->joint = joint;
      law->evaluate = saltusi_formula_law_evaluate;
      b->law_count++;
    } else {
      b->springs[b->model.spring_count++] = *s;
    }
  }
}

saltus_status saltusi_scene_trees(saltusi_scene_builder* b) {
  assert(b != NULL && b->scene->view.system != NULL);
  saltus_scene* scene = b->scene;
  saltus_scene_view* view = &scene->view;
  const saltusi_yaml_node* where;
  view->bodies = view->system;
  if (scene->mechanism == NULL || !has_joints(b, &where)) {
    refuse_armature(b);
    return b->reader.status;
  }
  saltusi_placed_log placed;
  const saltus_tree_def def = {.mechanism = scene->mechanism,
                               .system = view->system,
                               .q0 = view->q0,
                               .v0 = view->v0,
                               .laws = b->laws,
                               .law_count = b->law_count,
                               .log = saltusi_reader_log_at(&b->reader, where, &placed),
                               .allocator = &b->reader.pool->allocator};
  saltus_status status = saltus_tree_create(&def, &scene->tree);
  if (status != SALTUS_OK) {
    b->reader.status = status == SALTUS_ERR_MEMORY ? status : SALTUS_ERR_INPUT;
    return b->reader.status;
  }
  const saltus_system* system = saltus_tree_system(scene->tree);
  const char** names = saltusi_reader_take(&b->reader, (size_t)system->dims.nj + 1, sizeof *names);
  for (int j = 0; names != NULL && j < system->dims.nj; j++) {
    names[j] = view->joint_names[saltus_tree_joint_row(scene->tree, j)];
  }
  view->system = system;
  view->tree = scene->tree;
  view->q0 = saltus_tree_q0(scene->tree);
  view->v0 = saltus_tree_v0(scene->tree);
  view->joint_names = names;
  view->observables = view->observables != NULL ? observe(b, view->observables) : NULL;
  const size_t scratch = view->observables != NULL ? view->observables->scratch : 0;
  scene->scratch = saltusi_reader_take(&b->reader, scratch + 1, 1);
  return b->reader.status;
}
