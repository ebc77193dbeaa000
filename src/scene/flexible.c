/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible.c - bodies with the key flexible: their files, the bodies of their frames, and the system over them.
 */
#include "math/rotation.h"
#include "model/flexible_system.h"
#include "scene/builder.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The path beside the scene. */
static const char* beside(saltusi_scene_builder* b, const char* path) {
  const char* slash = b->reader.file != NULL ? strrchr(b->reader.file, '/') : NULL;
  if (slash == NULL || path[0] == '/') {
    return path;
  }
  const size_t folder = (size_t)(slash - b->reader.file) + 1;
  char* joined = saltusi_reader_take(&b->reader, folder + strlen(path) + 1, 1);
  if (joined != NULL) {
    memcpy(joined, b->reader.file, folder);
    memcpy(joined + folder, path, strlen(path) + 1);
  }
  return joined;
}

static void take_inertia(const saltus_flexible* data, saltus_body_def* body) {
  const double* C = data->C0;
  body->mass = data->mass;
  for (int k = 0; k < 3; k++) {
    body->inertia[k] = C[0] + C[4] + C[8] - C[4 * k];
  }
  body->inertia[3] = -0.5 * (C[1] + C[3]);
  body->inertia[4] = -0.5 * (C[2] + C[6]);
  body->inertia[5] = -0.5 * (C[5] + C[7]);
}

bool saltusi_scene_flexible_body(saltusi_scene_builder* b, const saltusi_yaml_node* item,
                                 saltus_body_def* body, int place) {
  assert(b != NULL && item != NULL && body != NULL);
  const saltusi_yaml_node* node = saltusi_yaml_find(item, "flexible");
  const saltusi_yaml_node* contact = saltusi_yaml_find(item, "contact_radius");
  if (node == NULL) {
    if (contact != NULL) {
      saltusi_reader_fail(&b->reader, contact, "contact_radius is of flexible bodies");
    }
    return false;
  }
  static const char* const wrong[] = {"mass",    "inertia", "inertia_frame",
                                      "density", "fixed",   "driven"};
  for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    if (saltusi_yaml_find(item, wrong[k]) != NULL) {
      saltusi_reader_fail(&b->reader, saltusi_yaml_find(item, wrong[k]),
                          "body " SALTUSI_QUOTE " is flexible and has no %s", body->name, wrong[k]);
    }
  }
  if (b->mechanism.dimension != 3) {
    saltusi_reader_fail(&b->reader, node, "flexible bodies are in space: give world.dimension 3");
  }
  const char* path = saltusi_reader_text(&b->reader, node, "flexible");
  if (path == NULL || b->reader.status != SALTUS_OK) {
    return true;
  }
  if (b->scene->flexible_count == SALTUSI_SCENE_FLEXIBLE_MOST) {
    saltusi_reader_fail(&b->reader, node, "a scene has at most %d flexible bodies",
                        SALTUSI_SCENE_FLEXIBLE_MOST);
    return true;
  }
  saltusi_placed_log placed;
  saltus_flexible* data = NULL;
  const char* file = beside(b, path);
  const saltus_status status =
      file != NULL
          ? saltus_flexible_load(file, saltusi_reader_log_at(&b->reader, node, &placed), &data)
          : SALTUS_ERR_MEMORY;
  if (status != SALTUS_OK) {
    b->reader.status = status == SALTUS_ERR_MEMORY ? status : SALTUS_ERR_INPUT;
    return true;
  }
  saltusi_scene_flexible* at = &b->scene->flexible[b->scene->flexible_count++];
  *at = (saltusi_scene_flexible){
      .data = data,
      .body = place,
      .radius = saltusi_scene_number(b, contact, "contact_radius", 0.0),
      .surface = saltusi_reader_text(&b->reader, saltusi_yaml_find(item, "contact_material"),
                                     "contact_material")};
  take_inertia(data, body);
  return true;
}

/* A body without mass for each frame, behind all others; contact nodes have a ball. */
void saltusi_scene_flexible_frames(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_mechanism_def* m = &b->mechanism;
  int frames = 0;
  for (int i = 0; i < b->scene->flexible_count; i++) {
    frames += b->scene->flexible[i].data->frames;
  }
  if (frames == 0 || b->reader.status != SALTUS_OK) {
    return;
  }
  saltus_body_def* bodies =
      saltusi_reader_take(&b->reader, (size_t)m->body_count + (size_t)frames, sizeof *bodies);
  saltus_body_shape_def* shapes =
      saltusi_reader_take(&b->reader, (size_t)m->shape_count + (size_t)frames, sizeof *shapes);
  const saltusi_yaml_node** nodes =
      saltusi_reader_take(&b->reader, (size_t)m->shape_count + (size_t)frames, sizeof(void*));
  if (bodies == NULL || shapes == NULL || nodes == NULL) {
    return;
  }
  memcpy(bodies, m->bodies, (size_t)m->body_count * sizeof *bodies);
  if (m->shape_count > 0) {
    memcpy(shapes, m->shapes, (size_t)m->shape_count * sizeof *shapes);
    memcpy(nodes, b->shape_nodes, (size_t)m->shape_count * sizeof(void*));
  }
  for (int i = 0; i < b->scene->flexible_count; i++) {
    saltusi_scene_flexible* f = &b->scene->flexible[i];
    const saltus_body_def* body = &bodies[f->body];
    double R[9];
    if (!saltusi_orientation_matrix(&body->orientation, R)) {
      return; /* reported by the mechanism */
    }
    const char** group = saltusi_reader_take(&b->reader, 1, sizeof *group);
    f->carried = m->body_count;
    for (int k = 0; k < f->data->frames && group != NULL; k++) {
      const saltus_flexible_frame* frame = &f->data->frame[k];
      char name[140];
      snprintf(name, sizeof name, "%.63s_%.63s", body->name, frame->name);
      saltus_body_def* own = &bodies[m->body_count++];
      own->name = saltusi_pool_text(b->reader.pool, name);
      own->carried = true;
      own->orientation = body->orientation;
      saltusi_turn(R, frame->s, own->position);
      saltusi_along(1.0, body->position, own->position, own->position);
      group[0] = body->name;
      if (!frame->turns && f->radius > 0.0) {
        shapes[m->shape_count] = (saltus_body_shape_def){
            .shape = {.name = own->name, .kind = SALTUS_SHAPE_SPHERE, .radius = f->radius},
            .body = own->name,
            .material = f->surface,
            .groups = group,
            .group_count = 1};
        nodes[m->shape_count++] = b->root;
      }
    }
  }
  m->bodies = bodies;
  m->shapes = shapes;
  b->shape_nodes = nodes;
  if (b->model.coordinate_count > 0 || saltusi_reader_section(b->root, "view") != NULL) {
    saltusi_reader_fail(&b->reader, b->root,
                        "scenes with flexible bodies have no coordinates by formula and no view");
  }
}

saltus_status saltusi_scene_flexible_system(saltusi_scene_builder* b) {
  assert(b != NULL);
  saltus_scene* scene = b->scene;
  saltus_scene_view* view = &scene->view;
  if (scene->flexible_count == 0) {
    return SALTUS_OK;
  }
  saltusi_flexible_part parts[SALTUSI_SCENE_FLEXIBLE_MOST];
  int moving = 0; /* modes and frames */
  for (int i = 0; i < scene->flexible_count; i++) {
    const saltusi_scene_flexible* f = &scene->flexible[i];
    parts[i] = (saltusi_flexible_part){f->data, f->body, f->carried};
    moving += f->data->modes + f->data->frames;
  }
  if (moving == 0) {
    return SALTUS_OK; /* rigid bodies */
  }
  saltus_status status = saltusi_flexible_system_create(
      view->system, scene->mechanism, parts, scene->flexible_count, b->reader.pool, &scene->over);
  if (status == SALTUS_ERR_RANGE) {
    saltusi_reader_fail(&b->reader, b->root,
                        "scenes with flexible bodies have at most %d velocities",
                        SALTUSI_FLEXIBLE_MOST);
    return b->reader.status;
  }
  if (status != SALTUS_OK) {
    return status;
  }
  const saltus_system* system = saltusi_flexible_system_view(scene->over);
  double* q = saltusi_reader_take(&b->reader, (size_t)system->dims.nq, sizeof *q);
  double* v = saltusi_reader_take(&b->reader, (size_t)system->dims.nv, sizeof *v);
  if (q == NULL || v == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_flexible_system_start(scene->over, view->q0, view->v0, q, v);
  view->system = system;
  view->q0 = q;
  view->v0 = v;
  const saltus_flexible** list =
      saltusi_reader_take(&b->reader, (size_t)scene->flexible_count + 1, sizeof(void*));
  for (int i = 0; list != NULL && i < scene->flexible_count; i++) {
    list[i] = scene->flexible[i].data;
  }
  view->flexible = list;
  return list != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
}
