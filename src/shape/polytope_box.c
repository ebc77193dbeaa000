/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_box.c - two boxes. With h the halves of their sides, C = R_B^T R_A
 * and t from middle to middle in axes of B: face i of B    |t_i| - h_Bi - sum_j
 * h_Aj |C_ij| face j of A    |(C^T t)_j| - h_Aj - sum_i h_Bi |C_ij| edges i, j
 * n = e_Bi x (C e_Aj):  |t.n| - sum_k h_Bk |n_k| - sum_k h_Ak |(C^T n)_k|, over
 * |n| Each of the nine is a face of the difference of the two, whatever the
 * signs, since a box has edges for all of them. Features near an axis n: a side
 * k of a box is a vertex's sign where |n_k| is large, and both where it is
 * small.
 */
#include "shape/polytope_box.h"

#include "math/rotation.h"
#include "shape/polytope_near.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

void saltusi_boxes_of(const saltusi_two* two, saltusi_boxes* out) {
  assert(two != NULL && out != NULL);
  const saltusi_polytope* A = two->A->polytope;
  const saltusi_polytope* B = two->B->polytope;
  double QA[9], a[3], b[3], from[3];
  out->half_A = A->half;
  out->half_B = B->half;
  if (A->placed) {
    saltusi_matrix3_product(two->a->R, A->placing.R, QA);
    saltusi_turn(two->a->R, A->placing.x, a);
  } else {
    memcpy(QA, two->a->R, sizeof QA);
    a[0] = a[1] = a[2] = 0.0;
  }
  if (B->placed) {
    saltusi_matrix3_product(two->b->R, B->placing.R, out->Q);
    saltusi_turn(two->b->R, B->placing.x, b);
  } else {
    memcpy(out->Q, two->b->R, sizeof out->Q);
    b[0] = b[1] = b[2] = 0.0;
  }
  for (int k = 0; k < 3; k++) {
    out->middle[k] = two->b->x[k] + b[k];
    from[k] = (two->a->x[k] - two->b->x[k]) + (a[k] - b[k]);
  }
  const double* P = out->Q;
  for (int i = 0; i < 3; i++) {
    out->t[i] = P[i] * from[0] + P[3 + i] * from[1] + P[6 + i] * from[2];
    for (int j = 0; j < 3; j++) {
      out->C[3 * i + j] = P[i] * QA[j] + P[3 + i] * QA[3 + j] + P[6 + i] * QA[6 + j];
    }
  }
}

/* The axis +-n, whichever has A on its positive side. */
static void keep(saltusi_box_axis* best, double value, const double n[3], double scale) {
  best->value = value;
  for (int k = 0; k < 3; k++) {
    best->normal[k] = scale * n[k];
  }
}

/* Faces of both; false: one is above the limit. */
static bool box_faces(const saltusi_boxes* two, const double size[9], double limit, double rounding,
                      saltusi_box_axis* best) {
  const double *hA = two->half_A, *hB = two->half_B, *C = two->C, *t = two->t;
  for (int i = 0; i < 3; i++) {
    const double value = fabs(t[i]) - (hB[i] + hA[0] * size[3 * i] + hA[1] * size[3 * i + 1] +
                                       hA[2] * size[3 * i + 2]);
    if (value > limit) {
      return false;
    }
    if (value > best->value) {
      const double n[3] = {i == 0, i == 1, i == 2};
      keep(best, value, n, t[i] < 0.0 ? -1.0 : 1.0);
    }
  }
  for (int j = 0; j < 3; j++) {
    const double n[3] = {C[j], C[3 + j], C[6 + j]};
    const double along = saltusi_dot3(n, t);
    const double value =
        fabs(along) - (hA[j] + hB[0] * size[j] + hB[1] * size[3 + j] + hB[2] * size[6 + j]);
    if (value > limit) {
      return false;
    }
    if (value > best->value + rounding) {
      keep(best, value, n, along < 0.0 ? -1.0 : 1.0);
    }
  }
  return true;
}

bool saltusi_boxes_axis(const saltusi_boxes* boxes, double limit, saltusi_box_axis* best) {
  assert(boxes != NULL && best != NULL);
  const double *hA = boxes->half_A, *hB = boxes->half_B, *C = boxes->C, *t = boxes->t;
  double size[9];
  for (int k = 0; k < 9; k++) {
    size[k] = fabs(C[k]);
  }
  const double rounding = 64.0 * DBL_EPSILON *
                          (2.0 * (hA[0] + hA[1] + hA[2] + hB[0] + hB[1] + hB[2]) + fabs(t[0]) +
                           fabs(t[1]) + fabs(t[2]));
  best->value = -INFINITY;
  if (!box_faces(boxes, size, limit, rounding, best)) {
    return false;
  }
  const double PARALLEL = 1e-9;
  for (int i = 0; i < 3; i++) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      /* n = e_i x C e_j has n_i1 = -C[i2][j], n_i2 = C[i1][j] */
      const double along = t[i2] * C[3 * i1 + j] - t[i1] * C[3 * i2 + j];
      const double value = fabs(along) - (hB[i1] * size[3 * i2 + j] + hB[i2] * size[3 * i1 + j] +
                                          hA[j1] * size[3 * i + j2] + hA[j2] * size[3 * i + j1]);
      /* divided by |n| <= 1 a negative value falls: most are out before the
       * root */
      if (value <= 0.0 && value <= best->value + rounding) {
        continue;
      }
      const double length = sqrt(C[3 * i1 + j] * C[3 * i1 + j] + C[3 * i2 + j] * C[3 * i2 + j]);
      if (!(length > PARALLEL) || !(value / length > best->value + rounding)) {
        continue;
      }
      double n[3];
      n[i] = 0.0;
      n[i1] = -C[3 * i2 + j];
      n[i2] = C[3 * i1 + j];
      keep(best, value / length, n, (along < 0.0 ? -1.0 : 1.0) / length);
      if (best->value > limit) {
        return false;
      }
    }
  }
  return best->value > -INFINITY;
}

/* ------------------------------------------------------------------------------------
 * features --- */

/* What a box shows along an axis: signs of its sides, and along which sides
 * both signs do. Directions are those towards the other box. */
typedef struct shown {
  bool both[3];
  int sign[3];       /* 0: negative, 1: positive; where both: 0 */
  int free;          /* number of `both` */
  bool flat;         /* free = 2, and the normal of the face is near */
  int face;          /* axis of the face when free = 2 */
  int fixed, corner; /* bits of corners that have one sign, and that sign */
} shown;

/* The face is looked at when its normal is near: `cosine` is that of 2 delta, as for other polytopes. */
static void show(const double towards[3], double wide, double cosine, shown* out) {
  out->free = 0;
  out->face = 0;
  out->fixed = 0;
  out->corner = 0;
  for (int k = 0; k < 3; k++) {
    out->both[k] = fabs(towards[k]) <= wide;
    out->sign[k] = !out->both[k] && towards[k] > 0.0;
    out->free += out->both[k];
    out->face = out->both[k] ? out->face : k;
    out->fixed |= out->both[k] ? 0 : 4 >> k;
    out->corner |= out->sign[k] ? 4 >> k : 0;
  }
  out->flat = out->free == 2 && fabs(towards[out->face]) >= cosine;
}

/* Corners in the order of their numbers; how many. */
static int corners_of(const shown* at, int* corner) {
  int count = 0;
  for (int v = 0; v < 8; v++) {
    if ((v & at->fixed) == at->corner) {
      corner[count++] = v;
    }
  }
  return count;
}

/* Edges of a box from the smaller corner along an axis, in the order of their
 * numbers. */
static const struct {
  int from, axis;
} box_edge[12] = {{0, 2}, {0, 1}, {0, 0}, {1, 1}, {1, 0}, {2, 2},
                  {2, 0}, {3, 0}, {4, 2}, {4, 1}, {5, 1}, {6, 2}};

static int edges_of(const shown* at, int* edge) {
  int count = 0;
  for (int e = 0; e < 12; e++) {
    if (at->both[box_edge[e].axis] && (box_edge[e].from & at->fixed) == at->corner) {
      edge[count++] = e;
    }
  }
  return count;
}

static void corner_at(const double half[3], int v, double p[3]) {
  p[0] = v & 4 ? half[0] : -half[0];
  p[1] = v & 2 ? half[1] : -half[1];
  p[2] = v & 1 ? half[2] : -half[2];
}

/* ------------------------------------------------------------------------------------
 * lists --- */

typedef struct query {
  const saltusi_boxes* boxes;
  saltusi_candidates* out;
  double reach, sine, touch;
  double axis[3];
  shown A, B;
  int corner_A[8], corner_B[8], corners_A, corners_B;
  double p[8][3];  /* corners of A in axes of B */
  double q[8][3];  /* corners of B */
  unsigned listed; /* corners of A, by bits of their place */
} query;

/* Takes a normal and a point of B's box to the world. */
static void list(const query* ask, int a, int b, double gap, const double world_normal[3],
                 const double point[3]) {
  if (ask->out->count++ >= ask->out->capacity) {
    return; /* counted alone */
  }
  saltusi_candidate* item = &ask->out->item[ask->out->count - 1];
  item->a = a;
  item->b = b;
  item->branch = 0;
  item->gap = gap;
  memcpy(item->normal, world_normal, sizeof item->normal);
  saltusi_turn(ask->boxes->Q, point, item->point);
  saltusi_along(1.0, ask->boxes->middle, item->point, item->point);
}

/* Edges away from a corner lead up along n of the same axes, or down by less
 * than the sine. */
static bool in_cone(int v, const double n[3], double sine) {
  return (v & 4 ? -n[0] : n[0]) >= -sine && (v & 2 ? -n[1] : n[1]) >= -sine &&
         (v & 1 ? -n[2] : n[2]) >= -sine;
}

/* Corners of A over the face of B. */
static void corners_on_B(query* ask) {
  const saltusi_boxes* two = ask->boxes;
  const int k = ask->B.face, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
  const double s = ask->B.sign[k] ? 1.0 : -1.0;
  const double up[3] = {s * two->C[3 * k], s * two->C[3 * k + 1], s * two->C[3 * k + 2]};
  const double normal[3] = {s * two->Q[k], s * two->Q[3 + k], s * two->Q[6 + k]};
  for (int i = 0; i < ask->corners_A; i++) {
    const double* p = ask->p[ask->corner_A[i]];
    const double gap = s * p[k] - two->half_B[k];
    if (gap <= ask->reach && fabs(p[k1]) <= two->half_B[k1] + ask->touch &&
        fabs(p[k2]) <= two->half_B[k2] + ask->touch && in_cone(ask->corner_A[i], up, ask->sine)) {
      double point[3] = {p[0], p[1], p[2]};
      point[k] = s * two->half_B[k];
      list(ask, 1 + ask->corner_A[i], 21 + 2 * k + ask->B.sign[k], gap, normal, point);
      ask->listed |= 1u << i;
    }
  }
}

/* Corners of B under the face of A. */
static void corners_on_A(const query* ask) {
  const saltusi_boxes* two = ask->boxes;
  const double *C = two->C, *half = two->half_A;
  const int k = ask->A.face, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
  const double s = ask->A.sign[k] ? 1.0 : -1.0;
  const double out_of_A[3] = {s * C[k], s * C[3 + k], s * C[6 + k]};
  const double up[3] = {-out_of_A[0], -out_of_A[1], -out_of_A[2]};
  double normal[3];
  saltusi_turn(two->Q, up, normal);
  for (int i = 0; i < ask->corners_B; i++) {
    const double* q = ask->q[ask->corner_B[i]];
    double d[3], own[3];
    saltusi_minus3(q, two->t, d);
    saltusi_turn_back(C, d, own);
    const double gap = s * own[k] - half[k];
    if (!(gap <= ask->reach && fabs(own[k1]) <= half[k1] + ask->touch &&
          fabs(own[k2]) <= half[k2] + ask->touch &&
          in_cone(ask->corner_B[i], out_of_A, ask->sine))) {
      continue;
    }
    bool taken = false; /* on a corner of A that is listed */
    for (int j = 0; j < ask->corners_A && !taken; j++) {
      double c[3];
      corner_at(half, ask->corner_A[j], c);
      const double x = own[k1] - c[k1], y = own[k2] - c[k2];
      taken = (ask->listed >> j & 1u) && x * x + y * y <= 4.0 * ask->touch * ask->touch;
    }
    if (!taken) {
      list(ask, 21 + 2 * k + ask->A.sign[k], 1 + ask->corner_B[i], gap, normal, q);
    }
  }
}

/* What two directions of edges share: the normal, and how distances change
 * along the edges. */
typedef struct cross {
  bool near;
  double n[3], own[3];            /* in axes of B and of A */
  double of_B[3], of_A[3], slope; /* across edges of B and of A; slope along the other */
  double wide;
} cross;

static void cross_of(const query* ask, int i, int j, cross* out) {
  const saltusi_boxes* two = ask->boxes;
  const double PARALLEL = 3e-6; /* as for other polytopes */
  const double a[3] = {two->C[i], two->C[3 + i], two->C[6 + i]};
  const double b[3] = {j == 0, j == 1, j == 2};
  saltusi_cross(a, b, out->n);
  const double sine = sqrt(saltusi_dot3(out->n, out->n));
  out->near = sine > PARALLEL;
  if (!out->near) {
    return;
  }
  const double over = 1.0 / sine, along = saltusi_dot3(out->n, ask->axis) * over;
  const double most = 4.0 * ask->sine < SALTUSI_WIDEST ? 4.0 * ask->sine : SALTUSI_WIDEST;
  out->wide = ask->sine * over < most ? ask->sine * over : most;
  out->near = saltusi_crossing_near(along, out->wide);
  if (!out->near) {
    return;
  }
  const double scale = copysign(over, along);
  for (int k = 0; k < 3; k++) {
    out->n[k] *= scale;
  }
  saltusi_turn_back(two->C, out->n, out->own);
  saltusi_cross(out->n, b, out->of_B);
  saltusi_cross(out->n, a, out->of_A);
  out->slope = saltusi_dot3(out->of_B, a); /* that of b across a is the opposite */
}

/* n towards the box's inside along the sides that the edge is not along: -sign
 * n_k, each at least -wide. */
static bool edge_cone(int from, int axis, const double n[3], double sense, double wide) {
  for (int k = 0; k < 3; k++) {
    const double into = (from >> (2 - k)) & 1 ? -n[k] : n[k];
    if (k != axis && !(sense * into >= -wide)) {
      return false;
    }
  }
  return true;
}

/* Twice the sum of n over the faces of both edges: which way it points. */
static double outward(const cross* at, int edge_A, int edge_B) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    if (k != box_edge[edge_B].axis) {
      sum += (box_edge[edge_B].from >> (2 - k)) & 1 ? at->n[k] : -at->n[k];
    }
    if (k != box_edge[edge_A].axis) {
      sum -= (box_edge[edge_A].from >> (2 - k)) & 1 ? at->own[k] : -at->own[k];
    }
  }
  return sum;
}

/* -1: apart on both sides, else the end that is on the line; false: on one
 * side. */
static bool straddle(double first, double second, double touch, bool* end) {
  const bool on0 = fabs(first) <= touch, on1 = fabs(second) <= touch;
  *end = on0 || on1;
  return *end ? on0 != on1 : first * second < 0.0;
}

/* False: an edge meets a corner that no face carries. */
static bool edge_pair(query* ask, const cross* at, int ea, int eb) {
  const saltusi_boxes* two = ask->boxes;
  const int i = box_edge[ea].axis, j = box_edge[eb].axis;
  double d[3];
  saltusi_minus3(ask->p[box_edge[ea].from], ask->q[box_edge[eb].from], d);
  bool end_A, end_B; /* most pairs do not cross: that is asked first */
  const double first_A = saltusi_dot3(at->of_B, d);
  if (!straddle(first_A, first_A + at->slope * 2.0 * two->half_A[i], ask->touch, &end_A)) {
    return true;
  }
  const double first_B = -saltusi_dot3(at->of_A, d), gap = saltusi_dot3(at->n, d);
  if (!straddle(first_B, first_B - at->slope * 2.0 * two->half_B[j], ask->touch, &end_B) ||
      !(gap <= ask->reach) || !edge_cone(box_edge[ea].from, i, at->own, 1.0, at->wide) ||
      !edge_cone(box_edge[eb].from, j, at->n, -1.0, at->wide) ||
      !(outward(at, ea, eb) > SALTUSI_OUTWARD)) {
    return true;
  }
  if (end_A || end_B) { /* the corner is over a face, or it is for the general way to say */
    return ask->A.flat && ask->B.flat;
  }
  double normal[3], q[3];
  memcpy(q, ask->q[box_edge[eb].from], sizeof q);
  q[j] += first_B / at->slope;
  saltusi_turn(two->Q, at->n, normal);
  list(ask, 9 + ea, 9 + eb, gap, normal, q);
  return true;
}

static bool edges_across(query* ask) {
  int edge_A[12], edge_B[12];
  const int count_A = edges_of(&ask->A, edge_A), count_B = edges_of(&ask->B, edge_B);
  cross table[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      table[i][j].near = false;
      if (ask->A.both[i] && ask->B.both[j]) {
        cross_of(ask, i, j, &table[i][j]);
      }
    }
  }
  for (int x = 0; x < count_A; x++) {
    for (int y = 0; y < count_B; y++) {
      const cross* at = &table[box_edge[edge_A[x]].axis][box_edge[edge_B[y]].axis];
      if (at->near && !edge_pair(ask, at, edge_A[x], edge_B[y])) {
        return false;
      }
    }
  }
  return true;
}

bool saltusi_boxes_near(const saltusi_two* two, const saltusi_near* near, saltusi_candidates* out) {
  assert(two != NULL && near != NULL && out != NULL);
  saltusi_boxes boxes;
  saltusi_boxes_of(two, &boxes);
  saltusi_box_axis axis;
  if (!saltusi_boxes_axis(&boxes, near->reach, &axis)) {
    return true;
  }
  const double delta = saltusi_bounded_delta(near->delta);
  const double sine = delta, twice = 2.0 * delta; /* angles for their sines, a little wider */
  query ask;                                      /* filled where it is needed */
  ask.boxes = &boxes;
  ask.out = out;
  ask.reach = near->reach;
  ask.sine = sine;
  ask.listed = 0;
  ask.touch =
      SALTUSI_TOUCH * fmin(two->A->size, two->B->size) +
      16.0 * DBL_EPSILON *
          (two->A->size + two->B->size + fabs(boxes.t[0]) + fabs(boxes.t[1]) + fabs(boxes.t[2]));
  memcpy(ask.axis, axis.normal, sizeof ask.axis);
  double own[3];
  saltusi_turn_back(boxes.C, axis.normal, own);
  const double down[3] = {-own[0], -own[1], -own[2]};
  const double cosine = saltusi_near_cosine(delta);
  show(down, sine + twice, cosine, &ask.A);
  show(axis.normal, sine + twice, cosine, &ask.B);
  if (ask.A.free > 2 || ask.B.free > 2) {
    return false;
  }
  ask.corners_A = corners_of(&ask.A, ask.corner_A);
  ask.corners_B = corners_of(&ask.B, ask.corner_B);
  for (int i = 0; i < ask.corners_A; i++) {
    double corner[3];
    corner_at(boxes.half_A, ask.corner_A[i], corner);
    double* p = ask.p[ask.corner_A[i]];
    saltusi_turn(boxes.C, corner, p);
    saltusi_along(1.0, boxes.t, p, p);
  }
  for (int i = 0; i < ask.corners_B; i++) {
    corner_at(boxes.half_B, ask.corner_B[i], ask.q[ask.corner_B[i]]);
  }
  const int first = out->count;
  if (ask.B.flat) {
    corners_on_B(&ask);
  }
  if (ask.A.free > 0 && ask.B.free > 0 && !edges_across(&ask)) {
    out->count = first;
    return false;
  }
  if (ask.A.flat) {
    corners_on_A(&ask);
  }
  return out->count > first; /* nothing: the general way looks closer */
}
