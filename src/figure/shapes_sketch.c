/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes_sketch.c - shapes of a mechanism in a sketch: those of the world first, then those of bodies, the far ones first.
 */
#include "figure/shapes_sketch.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct shapes_sketch_pen {
  saltusi_sketch* sketch; /* NULL: extents are measured */
  saltus_shape_view view;
  saltusi_sketch_path path;
  double low[2], high[2];
} shapes_sketch_pen;

static void paper_of(const shapes_sketch_pen* p, const double x[3], double out[2]) {
  const double* axis[2] = {p->view.right, p->view.up};
  for (int k = 0; k < 2; k++) {
    out[k] = x[0] * axis[k][0] + x[1] * axis[k][1] + x[2] * axis[k][2];
  }
}

static void measure(void* user, bool closed, const double (*point)[3], int count) {
  (void)closed;
  shapes_sketch_pen* p = user;
  for (int i = 0; i < count; i++) {
    double at[2];
    paper_of(p, point[i], at);
    for (int k = 0; k < 2; k++) {
      p->low[k] = fmin(p->low[k], at[k]);
      p->high[k] = fmax(p->high[k], at[k]);
    }
  }
}

static void draw(void* user, bool closed, const double (*point)[3], int count) {
  enum { ROOM = 256 };
  shapes_sketch_pen* p = user;
  double paper[2 * ROOM];
  assert(count <= ROOM);
  for (int i = 0; i < count; i++) {
    paper_of(p, point[i], paper + 2 * (size_t)i);
  }
  p->path.style = closed ? SALTUSI_SKETCH_FACE : SALTUSI_SKETCH_EDGE;
  saltusi_sketch_draw(p->sketch, p->path, paper, count);
}

static bool is_endless(saltus_shape_kind kind) {
  return kind == SALTUS_SHAPE_HALF_PLANE || kind == SALTUS_SHAPE_HALF_SPACE;
}

/* Centre and size of the visible bounded shapes. */
static void frame(shapes_sketch_pen* p, const saltus_mechanism* m, double t, const double* q,
                  int shapes) {
  const saltus_mechanism_size size = saltus_mechanism_sizes(m);
  p->view.line = measure;
  p->view.user = p;
  for (int k = 0; k < 2; k++) {
    p->low[k] = INFINITY;
    p->high[k] = -INFINITY;
  }
  for (int i = 0; i < size.bodies; i++) {
    double x[1][3], axes[9];
    saltus_mechanism_pose(m, i, t, q, x[0], axes);
    measure(p, false, (const double(*)[3])x, 1);
  }
  for (int i = 0; i < shapes; i++) {
    if (!is_endless(saltus_mechanism_shape(m, i).kind)) {
      saltus_mechanism_draw_shape(m, i, t, q, &p->view);
    }
  }
  for (int k = 0; k < 3; k++) {
    p->view.middle[k] = 0.5 * (p->low[0] + p->high[0]) * p->view.right[k] +
                        0.5 * (p->low[1] + p->high[1]) * p->view.up[k];
  }
  p->view.far = 0.6 * fmax(p->high[0] - p->low[0], p->high[1] - p->low[1]);
  p->view.far = p->view.far > 0.0 ? p->view.far : 1.0;
}

/* Depth of a body towards the viewer, m; fixed bodies are behind all others. */
static double nearness(const shapes_sketch_pen* p, const saltus_mechanism* m, int body, double t,
                       const double* q) {
  if (body < 0 || saltus_mechanism_body(m, body).kind == SALTUS_BODY_FIXED) {
    return -INFINITY;
  }
  const double *r = p->view.right, *u = p->view.up;
  const double to[3] = {r[1] * u[2] - r[2] * u[1], r[2] * u[0] - r[0] * u[2],
                        r[0] * u[1] - r[1] * u[0]};
  double x[3], axes[9];
  saltus_mechanism_pose(m, body, t, q, x, axes);
  return x[0] * to[0] + x[1] * to[1] + x[2] * to[2];
}

/* Indices of shapes from far to near, by insertion. */
static void order_of(const shapes_sketch_pen* p, const saltus_mechanism* m, double t,
                     const double* q, int shapes, double* depth, int* order) {
  for (int i = 0; i < shapes; i++) {
    const double here = nearness(p, m, saltus_mechanism_shape(m, i).body, t, q);
    int at = i;
    for (; at > 0 && depth[at - 1] > here; at--) {
      depth[at] = depth[at - 1];
      order[at] = order[at - 1];
    }
    depth[at] = here;
    order[at] = i;
  }
}

void saltusi_sketch_shapes(saltusi_sketch* sketch, const saltus_mechanism* m, double t,
                           const double* q, const double axes[2][3], bool moving) {
  assert(sketch != NULL && m != NULL && q != NULL && axes != NULL);
  const int shapes = saltus_mechanism_sizes(m).shapes;
  const size_t bytes = (size_t)shapes * (sizeof(double) + sizeof(int));
  double* depth = shapes > 0 ? sketch->memory.alloc(bytes, sketch->memory.user) : NULL;
  if (depth == NULL) {
    sketch->failed = sketch->failed || shapes > 0;
    return;
  }
  int* order = (int*)(depth + shapes);
  shapes_sketch_pen p = {.sketch = sketch};
  memcpy(p.view.right, axes[0], sizeof p.view.right);
  memcpy(p.view.up, axes[1], sizeof p.view.up);
  frame(&p, m, t, q, shapes);
  order_of(&p, m, t, q, shapes, depth, order);
  p.view.line = draw;
  for (int i = 0; i < shapes; i++) {
    const int body = saltus_mechanism_shape(m, order[i]).body;
    const saltus_body_kind kind =
        body >= 0 ? saltus_mechanism_body(m, body).kind : SALTUS_BODY_FIXED;
    if (moving == (kind == SALTUS_BODY_FIXED)) {
      continue;
    }
    p.path = (saltusi_sketch_path){.colour = kind == SALTUS_BODY_FIXED ? SALTUSI_SKETCH_GREY : body,
                                   .dashed = kind == SALTUS_BODY_DRIVEN};
    saltus_mechanism_draw_shape(m, order[i], t, q, &p.view);
  }
  sketch->memory.free(depth, bytes, sketch->memory.user);
}
