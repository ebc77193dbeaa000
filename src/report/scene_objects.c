/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene_objects.c - bodies, shapes, markers, joints, springs and machine elements, and poses of bodies in every frame.
 */
#include "report/document.h"

#include "saltus/flexible.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* x, y, z, w of a rotation matrix, w >= 0 (Shepperd 1978: the largest of four is computed first). */
static void quaternion(const double R[9], double out[4]) {
  const double trace = R[0] + R[4] + R[8];
  int largest = 3;
  double value = trace;
  for (int k = 0; k < 3; k++) {
    if (R[4 * k] > value) {
      largest = k;
      value = R[4 * k];
    }
  }
  if (largest == 3) {
    const double w = 0.5 * sqrt(fmax(1.0 + trace, 0.0));
    out[0] = (R[7] - R[5]) / (4.0 * w);
    out[1] = (R[2] - R[6]) / (4.0 * w);
    out[2] = (R[3] - R[1]) / (4.0 * w);
    out[3] = w;
    return;
  }
  const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
  const double x = 0.5 * sqrt(fmax(1.0 + R[4 * i] - R[4 * j] - R[4 * k], 0.0));
  out[i] = x;
  out[j] = (R[3 * i + j] + R[3 * j + i]) / (4.0 * x);
  out[k] = (R[3 * i + k] + R[3 * k + i]) / (4.0 * x);
  out[3] = (R[3 * k + j] - R[3 * j + k]) / (4.0 * x);
}

static void pose_at(const saltusi_document* d, int body, double t, const double* q,
                    double pose[7]) {
  double axes[9];
  saltus_mechanism_pose(d->mechanism, body, t, q + d->q_first, pose, axes);
  quaternion(axes, pose + 3);
}

static void write_bodies(saltusi_document* d, int count) {
  static const char* const kinds[] = {"free", "fixed", "driven"};
  saltusi_json_open(&d->head, "bodies", '[');
  int moving = 0;
  for (int i = 0; i < count; i++) {
    const saltus_body_place body = saltusi_document_body(d, i);
    const bool fixed = body.kind == SALTUS_BODY_FIXED;
    double pose[7];
    pose_at(d, i, d->data->t[0], d->data->q, pose);
    saltusi_json_open(&d->head, NULL, '{');
    saltusi_json_text(&d->head, "name", body.name);
    saltusi_json_text(&d->head, "kind", kinds[body.kind]);
    saltusi_json_number(&d->head, "mass", body.mass);
    saltusi_json_numbers(&d->head, "inertia", body.inertia, 6);
    saltusi_json_number(&d->head, "v", body.v < 0 || d->bodies != NULL ? -1 : body.v + d->v_first);
    saltusi_json_number(&d->head, "pose", fixed ? -1 : moving++);
    saltusi_json_numbers(&d->head, "start", pose, 7);
    saltusi_json_close(&d->head, '}');
  }
  saltusi_json_close(&d->head, ']');
}

static void write_line(void* user, bool closed, const double (*point)[3], int count) {
  saltusi_document* d = user;
  saltusi_json_open(&d->head, NULL, '{');
  saltusi_json_bool(&d->head, "closed", closed);
  saltusi_json_open(&d->head, "points", '[');
  for (int i = 0; i < count; i++) {
    saltusi_json_number(&d->head, NULL, point[i][0]);
    saltusi_json_number(&d->head, NULL, point[i][1]);
  }
  saltusi_json_close(&d->head, ']');
  saltusi_json_close(&d->head, '}');
}

/* A shape with contacts, or behind them one that is drawn only. */
typedef struct drawn_shape {
  const char* name;
  saltus_shape_kind kind;
  int body;
  saltus_shape_form form;
  const saltus_scene_visual* visual; /* NULL: it has contacts */
} drawn_shape;

static drawn_shape shape_of(const saltusi_document* d, int i, int shapes) {
  if (i < shapes) {
    const saltus_shape_place place = saltus_mechanism_shape(d->mechanism, i);
    return (drawn_shape){place.name, place.kind, place.body,
                         saltus_mechanism_shape_form(d->mechanism, i), NULL};
  }
  const saltus_scene_visual* visual = &d->def->scene->visuals[i - shapes];
  const int body =
      visual->body != NULL ? saltus_mechanism_find_body(d->mechanism, visual->body) : -1;
  return (drawn_shape){visual->name, visual->kind, body, visual->form, visual};
}

static void write_shape(saltusi_document* d, int i, const drawn_shape* shape, bool plane,
                        long long* points, long long* triangles) {
  const drawn_shape place = *shape;
  const saltus_shape_form form = shape->form;
  saltusi_bytes* head = &d->head;
  saltusi_json_open(head, NULL, '{');
  saltusi_json_text(head, "name", place.name);
  saltusi_json_text(head, "kind", saltus_shape_kind_name(place.kind));
  saltusi_json_number(head, "body", place.body);
  saltusi_json_numbers(head, "position", form.position, 3);
  saltusi_json_numbers(head, "axes", form.axes, 9);
  saltusi_json_number(head, "radius", form.radius);
  saltusi_json_number(head, "length", form.length);
  saltusi_json_numbers(head, "size", form.size, 3);
  saltusi_json_bool(head, "hollow", form.hollow);
  if (shape->visual != NULL) {
    saltusi_json_numbers(head, "colour", shape->visual->colour, 3);
  }
  if (plane && place.kind != SALTUS_SHAPE_HALF_PLANE) {
    const saltus_shape_view view = {.far = 1.0, .line = write_line, .user = d};
    saltusi_json_open(head, "lines", '[');
    saltus_mechanism_outline(d->mechanism, i, &view);
    saltusi_json_close(head, ']');
  }
  if (form.point_count > 0) {
    const double range[4] = {(double)*points, form.point_count, (double)*triangles,
                             form.triangle_count};
    saltusi_json_numbers(head, "mesh", range, 4);
    *points += form.point_count;
    *triangles += form.triangle_count;
  }
  saltusi_json_close(head, '}');
}

static bool is_missing(const drawn_shape* shape) {
  return shape->form.point_count == 0 &&
         (shape->kind == SALTUS_SHAPE_HULL || shape->kind == SALTUS_SHAPE_MESH);
}

static void write_shapes(saltusi_document* d, int shapes, bool plane) {
  long long points = 0, triangles = 0;
  const int count = shapes + d->def->scene->visual_count;
  saltusi_json_open(&d->head, "shapes", '[');
  for (int i = 0; i < count; i++) {
    const drawn_shape shape = shape_of(d, i, shapes);
    if (!is_missing(&shape)) {
      write_shape(d, i, &shape, plane, &points, &triangles);
    }
  }
  saltusi_json_close(&d->head, ']');
  if (points == 0) {
    return;
  }
  saltusi_array(d, "mesh_points", d->real, points, 3, 0);
  for (int i = 0; i < count; i++) {
    const saltus_shape_form form = shape_of(d, i, shapes).form;
    for (int k = 0; k < form.point_count; k++) {
      saltusi_put_all(d, form.points[k], 3);
    }
  }
  saltusi_array(d, "mesh_triangles", SALTUSI_I32, triangles, 3, 0);
  for (int i = 0; i < count; i++) {
    const saltus_shape_form form = shape_of(d, i, shapes).form;
    for (int k = 0; k < form.triangle_count; k++) {
      for (int corner = 0; corner < 3; corner++) {
        saltusi_put(d, form.triangles[k][corner]);
      }
    }
  }
}

static void write_markers(saltusi_document* d, int count) {
  saltusi_json_open(&d->head, "markers", '[');
  for (int i = 0; i < count; i++) {
    const saltus_marker_place marker = saltus_mechanism_marker(d->mechanism, i);
    saltusi_json_open(&d->head, NULL, '{');
    saltusi_json_text(&d->head, "name", marker.name);
    saltusi_json_number(&d->head, "body", marker.body);
    saltusi_json_numbers(&d->head, "point", marker.point, 3);
    saltusi_json_numbers(&d->head, "axes", marker.axes, 9);
    saltusi_json_close(&d->head, '}');
  }
  saltusi_json_close(&d->head, ']');
}

/* Joints and springs: name, type and the objects at both ends. */
static void write_link(saltusi_document* d, const char* name, const char* type,
                       const int between[2]) {
  const double ends[2] = {between[0], between[1]};
  saltusi_json_open(&d->head, NULL, '{');
  saltusi_json_text(&d->head, "name", name);
  saltusi_json_text(&d->head, "type", type);
  saltusi_json_numbers(&d->head, "between", ends, 2);
  saltusi_json_close(&d->head, '}');
}

static void write_links(saltusi_document* d, const saltus_mechanism_size* size) {
  static const char* const types[] = {"linear", "torsional", "bushing"};
  saltusi_json_open(&d->head, "joints", '[');
  for (int i = 0; i < size->joints; i++) {
    const saltus_joint_place joint = saltus_mechanism_joint(d->mechanism, i);
    write_link(d, joint.name, saltus_joint_type_name(joint.type), joint.between);
  }
  saltusi_json_close(&d->head, ']');
  saltusi_json_open(&d->head, "springs", '[');
  for (int i = 0; i < size->springs; i++) {
    const saltus_spring_place spring = saltus_mechanism_spring(d->mechanism, i);
    write_link(d, spring.name, types[spring.type], spring.between);
  }
  saltusi_json_close(&d->head, ']');
}

/* Numbers of a cam profile, one list for each arc or point. */
static void write_profile(saltusi_bytes* head, const saltus_cam_profile* profile) {
  saltusi_json_open(head, "arcs", '[');
  for (int i = 0; i < profile->arc_count; i++) {
    const saltus_cam_arc* a = &profile->arcs[i];
    const double arc[4] = {a->centre[0], a->centre[1], a->radius, a->from};
    saltusi_json_numbers(head, NULL, arc, 4);
  }
  saltusi_json_close(head, ']');
  saltusi_json_open(head, "points", '[');
  for (int i = 0; i < profile->point_count; i++) {
    const double point[2] = {profile->points[i].angle, profile->points[i].radius};
    saltusi_json_numbers(head, NULL, point, 2);
  }
  saltusi_json_close(head, ']');
}

static void write_elements(saltusi_document* d, const saltus_elements* elements) {
  static const char* const followers[] = {"knife", "roller", "flat"};
  saltusi_bytes* head = &d->head;
  saltusi_json_open(head, "elements", '[');
  for (int i = 0; elements != NULL && i < elements->count; i++) {
    const saltus_element_def* e = &elements->items[i];
    const struct {
      const char* name;
      double value;
    } numbers[] = {{"radius", e->radius}, {"clearance", e->clearance}, {"length", e->length},
                   {"width", e->width},   {"height", e->height},       {"teeth", e->teeth}};
    double ends[2];
    for (int k = 0; k < 2; k++) {
      ends[k] = e->type == SALTUS_ELEMENT_GEAR_PAIR
                    ? saltus_mechanism_find_joint(d->mechanism, e->between[k])
                    : saltus_mechanism_find_marker(d->mechanism, e->between[k]);
    }
    saltusi_json_open(head, NULL, '{');
    saltusi_json_text(head, "name", e->name);
    saltusi_json_text(head, "type", saltus_element_type_name(e->type));
    saltusi_json_text(head, "follower", followers[e->follower]);
    saltusi_json_numbers(head, "between", ends, 2);
    saltusi_json_numbers(head, "radii", e->radii, 2);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
      saltusi_json_number(head, numbers[k].name, numbers[k].value);
    }
    if (e->profile != NULL) {
      write_profile(head, e->profile);
    }
    saltusi_json_close(head, '}');
  }
  saltusi_json_close(head, ']');
}

/* ---- flexible bodies ---- */

int saltusi_document_flexible(const saltusi_document* d, int flexible, int* eta) {
  assert(d != NULL && flexible >= 0 && eta != NULL);
  const saltus_scene_view* scene = d->def->scene;
  int found = -1;
  *eta = 0;
  for (int i = 0; i < flexible; i++) {
    *eta += scene->flexible[i]->modes;
  }
  const char* label = scene->system->q_labels[*eta].name;
  const int bodies = saltus_mechanism_sizes(d->mechanism).bodies;
  for (int b = 0; b < bodies && scene->flexible[flexible]->modes > 0; b++) {
    const char* name = saltus_mechanism_body(d->mechanism, b).name;
    const size_t length = strlen(name);
    found = strncmp(label, name, length) == 0 && label[length] == '.' ? b : found;
  }
  return found;
}

static bool has_surface(const saltus_flexible* data) {
  return data->modes > 0 && data->triangles > 0;
}

/* Bodies with a surface: places of their nodes, modes and triangles in the arrays below. */
static void write_flexible(saltusi_document* d) {
  const saltus_flexible* const* list = d->def->scene->flexible;
  long long nodes = 0, triangles = 0, shapes = 0;
  saltusi_json_open(&d->head, "flexible", '[');
  for (int i = 0; list != NULL && list[i] != NULL; i++) {
    int eta;
    const int body = saltusi_document_flexible(d, i, &eta);
    if (has_surface(list[i])) {
      const double numbers[8] = {body,
                                 eta,
                                 list[i]->modes,
                                 (double)nodes,
                                 list[i]->nodes,
                                 (double)triangles,
                                 list[i]->triangles,
                                 (double)shapes};
      saltusi_json_numbers(&d->head, NULL, numbers, 8);
      nodes += list[i]->nodes;
      triangles += list[i]->triangles;
      shapes += 3LL * list[i]->nodes * list[i]->modes;
    }
  }
  saltusi_json_close(&d->head, ']');
  if (nodes == 0) {
    return;
  }
  saltusi_array(d, "flexible_points", d->real, nodes, 3, 0);
  for (int i = 0; list[i] != NULL; i++) {
    saltusi_put_all(d, list[i]->node, has_surface(list[i]) ? 3LL * list[i]->nodes : 0);
  }
  saltusi_array(d, "flexible_shapes", SALTUSI_F32, shapes, 1, 0);
  for (int i = 0; list[i] != NULL; i++) {
    saltusi_put_all(d, list[i]->shape,
                    has_surface(list[i]) ? 3LL * list[i]->nodes * list[i]->modes : 0);
  }
  saltusi_array(d, "flexible_triangles", SALTUSI_I32, triangles, 3, 0);
  for (int i = 0; list[i] != NULL; i++) {
    for (int k = 0; has_surface(list[i]) && k < 3 * list[i]->triangles; k++) {
      saltusi_put(d, list[i]->triangle[k]);
    }
  }
}

void saltusi_write_scene_objects(saltusi_document* d) {
  assert(d != NULL && d->mechanism != NULL);
  const saltus_mechanism_size size = saltus_mechanism_sizes(d->mechanism);
  saltusi_json_open(&d->head, "mechanism", '{');
  saltusi_json_number(&d->head, "dimension", size.dimension);
  saltusi_json_numbers(&d->head, "gravity", size.gravity, 3);
  write_bodies(d, size.bodies);
  write_shapes(d, size.shapes, size.dimension == 2);
  write_markers(d, size.markers);
  write_links(d, &size);
  write_elements(d, d->def->scene->elements);
  write_flexible(d);
  saltusi_json_close(&d->head, '}');
}

void saltusi_write_poses(saltusi_document* d) {
  assert(d != NULL && d->mechanism != NULL);
  const int bodies = saltus_mechanism_sizes(d->mechanism).bodies;
  int moving = 0;
  for (int i = 0; i < bodies; i++) {
    moving += saltus_mechanism_body(d->mechanism, i).kind != SALTUS_BODY_FIXED;
  }
  saltusi_array(d, "pose", d->real, d->count, moving, 7);
  for (long long k = 0; k < d->count; k++) {
    const long long f = d->frames[k];
    for (int i = 0; i < bodies; i++) {
      double pose[7];
      if (saltus_mechanism_body(d->mechanism, i).kind != SALTUS_BODY_FIXED) {
        pose_at(d, i, d->data->t[f], d->data->q + f * d->data->nq, pose);
        saltusi_put_all(d, pose, 7);
      }
    }
  }
}

void saltusi_write_joint_loads(saltusi_document* d) {
  assert(d != NULL && d->mechanism != NULL);
  const saltus_recording_data* data = d->data;
  const int joints = saltus_mechanism_sizes(d->mechanism).joints;
  const bool rows = d->def->scene->tree == NULL && data->nj == d->def->scene->system->dims.nj;
  if (data->joint_force == NULL || !rows || joints == 0) {
    return; /* joints in joint coordinates have no rows */
  }
  saltusi_array(d, "joint_load", d->real, d->count, joints, 3);
  for (long long k = 0; k < d->count; k++) {
    const long long f = d->frames[k];
    for (int i = 0; i < joints; i++) {
      const int row = saltus_mechanism_joint(d->mechanism, i).row;
      double force[3], torque[3];
      saltus_mechanism_joint_load(d->mechanism, i, data->t[f], data->q + f * data->nq + d->q_first,
                                  data->joint_force + f * data->nj + row, force, torque);
      saltusi_put_all(d, force, 3);
    }
  }
}
