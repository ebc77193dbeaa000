/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * hausdorff.c - Hausdorff distance of two filled-in graphs.
 *
 *   d(a, b) = max(|dt|, |dx|_inf),  H(A, B) = max(sup_A dist(., B), sup_B dist(., A))
 *
 * Branch and bound over the segments of one graph:
 *
 *   below   dist(x, B) at vertices and at split points x
 *   above   the distance to one segment s is convex, so on a segment [x, y] of A
 *             sup dist(., B) <= min_s max(dist(x, s), dist(y, s))
 *
 * The upper bound is exact if one s is the nearest segment of the whole part; the Lipschitz bound (dist(x) + dist(y)
 * + |x - y|) / 2 never is. Equal graphs need no splitting, and a long flat part is not split down to the tolerance. A
 * part is split where a vertex of B projects onto it, and every second time in the middle, so that lengths halve.
 *
 * Both minima over s are searches in a binary tree of bounding boxes over blocks of consecutive segments. They start
 * from the nearest segment of the neighbour and end as soon as the result cannot change the bounds, so most visit no
 * node of the tree. Distant graphs cost no more: blocks are excluded by their whole boxes, not by time alone.
 */
#include "saltus/measure.h"

#include <assert.h>
#include <math.h>

enum {
  BLOCK = 8,         /* segments in a leaf */
  TREE_STACK = 64,   /* a tree over int indices is less than 32 deep */
  SPLIT_STACK = 128, /* lengths halve every second level: 2^-64 is below rounding */
  WIDTH = SALTUS_GRAPH_MAX + 1
};

/* Boxes over the segments of one graph; node k has children 2k and 2k+1, leaves start at `leaves`.
 * A graph of one point counts as one segment of length 0. */
typedef struct hausdorff_tree {
  const double* points; /* [count x width] */
  double* boxes;        /* [2 leaves x 2 width] low corner, then high corner */
  int count;
  int width; /* n + 1 */
  int segments;
  int leaves; /* a power of two */
} hausdorff_tree;

/* End points of a part of the other graph; y NULL: a single point. */
typedef struct hausdorff_segment {
  const double* x;
  const double* y;
} hausdorff_segment;

/* A segment and its bound. */
typedef struct hausdorff_result {
  double distance;
  int segment;
} hausdorff_result;

static const double* point_of(const hausdorff_tree* T, int i) {
  return T->points + (size_t)(i < T->count ? i : T->count - 1) * (size_t)T->width;
}

/* max_i |c_i + e_i u| and the slope of the largest term; among equal terms the one that is largest in direction
 * `side`. */
static double envelope(int width, const double* c, const double* e, double u, int side,
                       double* slope) {
  double most = -1.0;
  *slope = 0.0;
  for (int i = 0; i < width; i++) {
    double value = c[i] + e[i] * u;
    double size = fabs(value);
    double rise = value > 0.0 ? e[i] : value < 0.0 ? -e[i] : side * fabs(e[i]);
    if (size > most || (size == most && side * rise > side * *slope)) {
      most = size;
      *slope = rise;
    }
  }
  return most;
}

/* Smallest d(p, a + u (b - a)) over 0 <= u <= 1 and its u. The distance is convex and piecewise linear in u. The
 * decreasing line at the left and the increasing line at the right are intersected; the intersection replaces one
 * of them. Each iteration eliminates a line, so there are at most 2 width. */
static double point_segment(int width, const double* p, const double* a, const double* b,
                            double* u_out) {
  double c[WIDTH];
  double e[WIDTH];
  for (int i = 0; i < width; i++) {
    c[i] = a[i] - p[i];
    e[i] = b[i] - a[i];
  }
  double slope0;
  double slope1;
  double u0 = 0.0;
  double u1 = 1.0;
  double f0 = envelope(width, c, e, 0.0, 1, &slope0);
  *u_out = 0.0;
  if (slope0 >= 0.0) {
    return f0;
  }
  double f1 = envelope(width, c, e, 1.0, -1, &slope1);
  if (slope1 <= 0.0) {
    *u_out = 1.0;
    return f1;
  }
  double best = fmin(f0, f1);
  *u_out = f0 <= f1 ? 0.0 : 1.0;
  for (int turn = 0; turn < 2 * WIDTH; turn++) {
    double u = (f1 - f0 + slope0 * u0 - slope1 * u1) / (slope0 - slope1);
    if (!(u > u0 && u < u1)) {
      break;
    }
    double slope;
    double floor_value = f0 + slope0 * (u - u0);
    double f = envelope(width, c, e, u, 1, &slope);
    if (f < best) {
      best = f;
      *u_out = u;
    }
    if (f <= floor_value || slope == 0.0) {
      break;
    }
    if (slope < 0.0) {
      u0 = u;
      f0 = f;
      slope0 = slope;
    } else {
      u1 = u;
      f1 = f;
      slope1 = slope;
    }
  }
  return best;
}

/* max(dist(x, s), dist(y, s)) for segment s of T; a value above `enough` is only a lower bound. */
static double piece_segment(const hausdorff_tree* T, hausdorff_segment P, int s, double enough) {
  double u;
  double d = point_segment(T->width, P.x, point_of(T, s), point_of(T, s + 1), &u);
  if (P.y && d < enough) {
    d = fmax(d, point_segment(T->width, P.y, point_of(T, s), point_of(T, s + 1), &u));
  }
  return d;
}

static double point_box(int width, const double* p, const double* box) {
  double most = 0.0;
  for (int i = 0; i < width; i++) {
    double below = box[i] - p[i];
    double above = p[i] - box[width + i];
    double out = below > above ? below : above;
    most = out > most ? out : most;
  }
  return most;
}

static double piece_box(const hausdorff_tree* T, hausdorff_segment P, int node) {
  const double* box = T->boxes + (size_t)node * 2 * (size_t)T->width;
  double d = point_box(T->width, P.x, box);
  return P.y ? fmax(d, point_box(T->width, P.y, box)) : d;
}

static void search_leaf(const hausdorff_tree* T, hausdorff_segment P, int node,
                        hausdorff_result* best) {
  int first = (node - T->leaves) * BLOCK;
  int last = first + BLOCK < T->segments ? first + BLOCK : T->segments;
  for (int s = first; s < last; s++) {
    /* the difference in time is often sufficient */
    double early = point_of(T, s)[0] - P.x[0];
    double late = P.x[0] - point_of(T, s + 1)[0];
    if (early >= best->distance || late >= best->distance) {
      continue;
    }
    double d = piece_segment(T, P, s, best->distance);
    if (d < best->distance) {
      best->distance = d;
      best->segment = s;
    }
  }
}

/* Improves `best` to the smallest bound over all segments, or to the first one not above `enough`. */
static void search(const hausdorff_tree* T, hausdorff_segment P, double enough,
                   hausdorff_result* best) {
  struct {
    double low;
    int node;
  } stack[TREE_STACK];
  int top = 0;
  stack[top].low = piece_box(T, P, 1);
  stack[top++].node = 1;
  while (top > 0 && best->distance > enough) {
    double low = stack[--top].low;
    int node = stack[top].node;
    if (low >= best->distance) {
      continue;
    }
    if (node >= T->leaves) {
      search_leaf(T, P, node, best);
      continue;
    }
    double left = piece_box(T, P, 2 * node);
    double right = piece_box(T, P, 2 * node + 1);
    bool right_first = right < left;
    stack[top].low = right_first ? left : right;
    stack[top++].node = 2 * node + !right_first;
    stack[top].low = right_first ? right : left;
    stack[top++].node = 2 * node + right_first;
  }
}

/* The best of two segments that are likely to be near. */
static hausdorff_result guess(const hausdorff_tree* T, hausdorff_segment P, int s1, int s2) {
  hausdorff_result best = {piece_segment(T, P, s1, INFINITY), s1};
  if (s2 != s1) {
    double d = piece_segment(T, P, s2, best.distance);
    if (d < best.distance) {
      best = (hausdorff_result){d, s2};
    }
  }
  return best;
}

/* ---- building ---------------------------------------------------------------------------- */

static int leaf_count(const saltus_graph* graph) {
  int segments = graph->count > 1 ? graph->count - 1 : 1;
  int blocks = (segments - 1) / BLOCK + 1;
  int leaves = 1;
  while (leaves < blocks) {
    leaves *= 2;
  }
  return leaves;
}

static void leaf_box(const hausdorff_tree* T, int leaf, double* box) {
  int width = T->width;
  for (int i = 0; i < width; i++) {
    /* empty box, at infinite distance */
    box[i] = INFINITY;
    box[width + i] = -INFINITY;
  }
  int first = leaf * BLOCK;
  int last = first + BLOCK < T->segments ? first + BLOCK : T->segments;
  for (int k = first; k <= last && first < T->segments; k++) {
    const double* p = point_of(T, k);
    for (int i = 0; i < width; i++) {
      box[i] = fmin(box[i], p[i]);
      box[width + i] = fmax(box[width + i], p[i]);
    }
  }
}

static hausdorff_tree build(const saltus_graph* graph, double* boxes) {
  hausdorff_tree T = {.points = graph->points,
                      .boxes = boxes,
                      .count = graph->count,
                      .width = graph->n + 1,
                      .segments = graph->count > 1 ? graph->count - 1 : 1,
                      .leaves = leaf_count(graph)};
  size_t stride = 2 * (size_t)T.width;
  for (int leaf = 0; leaf < T.leaves; leaf++) {
    leaf_box(&T, leaf, boxes + (size_t)(T.leaves + leaf) * stride);
  }
  for (int node = T.leaves - 1; node >= 1; node--) {
    double* box = boxes + (size_t)node * stride;
    const double* left = boxes + (size_t)(2 * node) * stride;
    const double* right = left + stride;
    for (int i = 0; i < T.width; i++) {
      box[i] = fmin(left[i], right[i]);
      box[T.width + i] = fmax(left[T.width + i], right[T.width + i]);
    }
  }
  return T;
}

/* ---- one direction ----------------------------------------------------------------------- */

typedef struct task {
  const hausdorff_tree* A;
  const hausdorff_tree* B;
  int* near; /* [A count] segment of B close to each vertex of A */
  double rtol, atol;
  double best; /* lower bound so far, of both directions */
} task;

/* Raises the lower bound by the vertices of A. */
static void visit_vertices(task* w) {
  int aligned = 0;
  int last = 0;
  for (int i = 0; i < w->A->count; i++) {
    const double* p = point_of(w->A, i);
    while (aligned + 1 < w->B->segments && point_of(w->B, aligned + 1)[0] <= p[0]) {
      aligned++;
    }
    hausdorff_segment P = {p, NULL};
    hausdorff_result f = guess(w->B, P, last, aligned);
    search(w->B, P, w->best, &f);
    w->best = fmax(w->best, f.distance);
    w->near[i] = last = f.segment;
  }
}

/* A part of a segment of A, by its parameters. */
typedef struct hausdorff_part {
  double u0, u1;
  int near0, near1;
  int depth;
} hausdorff_part;

static void between(int width, const double* a, const double* b, double u, double* x) {
  for (int i = 0; i < width; i++) {
    x[i] = u == 1.0 ? b[i] : a[i] + u * (b[i] - a[i]);
  }
}

/* Parameter of the split: at the projection of a vertex of B between the two nearest segments, if there is one. */
static double split_at(const task* w, const hausdorff_part* p, const double* x, const double* y) {
  double middle = 0.5 * (p->u0 + p->u1);
  if (p->depth % 2 == 1 || p->near0 == p->near1) {
    return middle;
  }
  int low = p->near0 < p->near1 ? p->near0 : p->near1;
  int high = p->near0 < p->near1 ? p->near1 : p->near0;
  double r;
  point_segment(w->A->width, point_of(w->B, low + (high - low + 1) / 2), x, y, &r);
  double u = p->u0 + r * (p->u1 - p->u0);
  return u > p->u0 && u < p->u1 ? u : middle;
}

/* Raises the lower bound until the segment a-b of A has no point above it by more than the tolerance. */
static void visit_segment(task* w, const double* a, const double* b, hausdorff_part whole) {
  int width = w->A->width;
  double x[WIDTH] = {0};
  double y[WIDTH] = {0};
  double m[WIDTH] = {0};
  hausdorff_part stack[SPLIT_STACK + 1];
  int top = 0;
  stack[top++] = whole;
  while (top > 0) {
    hausdorff_part p = stack[--top];
    between(width, a, b, p.u0, x);
    between(width, a, b, p.u1, y);

    /* upper bound */
    hausdorff_segment P = {x, y};
    double enough = w->best * (1.0 + w->rtol) + w->atol;
    hausdorff_result f = guess(w->B, P, p.near0, p.near1);
    search(w->B, P, enough, &f);
    if (f.distance <= enough || p.depth >= SPLIT_STACK) {
      continue;
    }

    /* lower bound at the split point */
    double u = split_at(w, &p, x, y);
    between(width, a, b, u, m);
    hausdorff_segment M = {m, NULL};
    f = guess(w->B, M, p.near0, p.near1);
    search(w->B, M, w->best, &f);
    w->best = fmax(w->best, f.distance);
    stack[top++] = (hausdorff_part){p.u0, u, p.near0, f.segment, p.depth + 1};
    stack[top++] = (hausdorff_part){u, p.u1, f.segment, p.near1, p.depth + 1};
  }
}

static void visit_segments(task* w) {
  for (int i = 0; i + 1 < w->A->count; i++) {
    hausdorff_part whole = {0.0, 1.0, w->near[i], w->near[i + 1], 0};
    visit_segment(w, point_of(w->A, i), point_of(w->A, i + 1), whole);
  }
}

/* ---- the distance ------------------------------------------------------------------------ */

saltus_graph_tolerance saltus_graph_tolerance_default(void) {
  return (saltus_graph_tolerance){.rtol = 1e-3, .atol = 1e-8};
}

static bool valid(const saltus_graph* graph) {
  if (graph->count < 1 || graph->n < 1 || graph->n > SALTUS_GRAPH_MAX) {
    return false;
  }
  size_t width = (size_t)graph->n + 1;
  for (size_t i = 0; i < (size_t)graph->count * width; i++) {
    bool sorted = i % width != 0 || i == 0 || graph->points[i] >= graph->points[i - width];
    if (!sorted || !isfinite(graph->points[i])) {
      return false;
    }
  }
  return true;
}

/* Workspace of a call, in one block. */
typedef struct hausdorff_layout {
  double* boxes[2];
  int* near[2];
} hausdorff_layout;

static hausdorff_layout lay_out(const saltus_graph* a, const saltus_graph* b, saltus_arena* arena) {
  hausdorff_layout L;
  size_t corners = 2 * ((size_t)a->n + 1);
  L.boxes[0] = SALTUS_PUSH2(arena, double, 2 * (size_t)leaf_count(a), corners);
  L.boxes[1] = SALTUS_PUSH2(arena, double, 2 * (size_t)leaf_count(b), corners);
  L.near[0] = SALTUS_PUSH(arena, int, a->count);
  L.near[1] = SALTUS_PUSH(arena, int, b->count);
  return L;
}

saltus_status saltus_hausdorff(const saltus_graph* a, const saltus_graph* b,
                               saltus_graph_tolerance tolerance, const saltus_allocator* allocator,
                               double* distance) {
  assert(a != NULL && b != NULL && distance != NULL);
  bool usable = tolerance.rtol >= 0.0 && tolerance.atol > 0.0;
  if (!usable || !valid(a) || !valid(b) || a->n != b->n) {
    return SALTUS_ERR_RANGE;
  }
  saltus_allocator memory = allocator ? *allocator : saltus_allocator_default();
  saltus_arena arena = saltus_arena_counting();
  lay_out(a, b, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (!block) {
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  hausdorff_layout L = lay_out(a, b, &arena);
  hausdorff_tree A = build(a, L.boxes[0]);
  hausdorff_tree B = build(b, L.boxes[1]);

  /* vertices of both graphs first: a higher lower bound saves splits */
  task ab = {&A, &B, L.near[0], tolerance.rtol, tolerance.atol, 0.0};
  visit_vertices(&ab);
  task ba = {&B, &A, L.near[1], tolerance.rtol, tolerance.atol, ab.best};
  visit_vertices(&ba);
  ab.best = ba.best;
  visit_segments(&ab);
  ba.best = ab.best;
  visit_segments(&ba);
  *distance = ba.best;
  memory.free(block, bytes, memory.user);
  return SALTUS_OK;
}
