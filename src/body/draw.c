/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * draw.c - visible shapes of a mechanism.
 */
#include "body/contacts.h"

#include "shape/lines.h"
#include "shape/mesh/mesh.h"
#include "shape/polytope/polytope.h"

#include <assert.h>
#include <string.h>

/* The order of instances differs from that of the definition. */
static const saltusi_instance* shape_at(const saltus_mechanism* m, int shape) {
  assert(m->world != NULL && shape >= 0 && shape < m->world->count);
  int i = 0;
  while (m->world->instance[i].tag != shape) {
    i++;
  }
  return &m->world->instance[i];
}

saltus_shape_place saltus_mechanism_shape(const saltus_mechanism* mechanism, int i) {
  assert(mechanism != NULL);
  const saltusi_instance* at = shape_at(mechanism, i);
  return (saltus_shape_place){.name = at->shape.name,
                              .kind = at->shape.kind,
                              .body = at->carrier < mechanism->body_count ? at->carrier : -1};
}

typedef struct draw_pen {
  const saltus_shape_view* view;
  saltusi_body_pose at;
} draw_pen;

static void to_world(void* user, bool closed, const double (*point)[3], int count) {
  enum { ROOM = 256 };
  const draw_pen* p = user;
  double world[ROOM][3];
  assert(count <= ROOM);
  for (int i = 0; i < count; i++) {
    saltusi_turn(p->at.R, point[i], world[i]);
    saltusi_along(1.0, p->at.x, world[i], world[i]);
  }
  p->view->line(p->view->user, closed, (const double(*)[3])world, count);
}

void saltus_mechanism_draw_shape(const saltus_mechanism* mechanism, int shape, double t,
                                 const double* q, const saltus_shape_view* view) {
  assert(mechanism != NULL && q != NULL && view != NULL && view->line != NULL);
  const saltusi_instance* drawn = shape_at(mechanism, shape);
  draw_pen p = {.view = view};
  saltusi_pose pose;
  saltusi_pose_at(mechanism, drawn->carrier, t, q, &pose);
  memcpy(p.at.x, pose.x, sizeof pose.x);
  memcpy(p.at.R, pose.R, sizeof pose.R);
  saltusi_silhouette_view sight = {.far = view->far, .line = to_world, .user = &p};
  double from[3];
  saltusi_minus3(view->middle, p.at.x, from);
  saltusi_turn_back(p.at.R, from, sight.middle);
  saltusi_turn_back(p.at.R, view->right, sight.right);
  saltusi_turn_back(p.at.R, view->up, sight.up);
  saltusi_shape_lines(&drawn->shape, &sight);
}

saltus_shape_form saltus_mechanism_shape_form(const saltus_mechanism* mechanism, int shape) {
  assert(mechanism != NULL);
  const saltusi_shape* s = &shape_at(mechanism, shape)->shape;
  saltus_shape_form form = {
      .radius = s->form->radius, .length = s->form->length, .hollow = s->form->hollow};
  memcpy(form.position, s->form->x, sizeof form.position);
  memcpy(form.axes, s->form->R, sizeof form.axes);
  memcpy(form.size, s->form->size, sizeof form.size);
  if (s->mesh != NULL) {
    form.points = s->mesh->vertex;
    form.point_count = s->mesh->vertices;
    form.triangles = s->mesh->triangle;
    form.triangle_count = s->mesh->triangles;
  } else if (s->kind == SALTUS_SHAPE_HULL) {
    form.points = s->polytope->vertex;
    form.point_count = s->polytope->vertices;
  }
  return form;
}

int saltus_mechanism_hull_face(const saltus_mechanism* mechanism, int shape, int face,
                               const int** corner) {
  assert(mechanism != NULL && face >= 0 && corner != NULL);
  const saltusi_shape* s = &shape_at(mechanism, shape)->shape;
  assert(s->kind == SALTUS_SHAPE_HULL);
  if (face >= s->polytope->faces) {
    return 0;
  }
  *corner = s->polytope->loop + s->polytope->face[face].first;
  return s->polytope->face[face].count;
}

void saltus_mechanism_outline(const saltus_mechanism* mechanism, int shape,
                              const saltus_shape_view* view) {
  assert(mechanism != NULL && mechanism->plane && view != NULL && view->line != NULL);
  saltusi_silhouette_view sight = {.right = {1.0, 0.0, 0.0},
                                   .up = {0.0, 1.0, 0.0},
                                   .far = view->far,
                                   .line = view->line,
                                   .user = view->user};
  memcpy(sight.middle, view->middle, sizeof sight.middle);
  saltusi_shape_lines(&shape_at(mechanism, shape)->shape, &sight);
}
