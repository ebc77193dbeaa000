/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polytope_box_near.c - features of two boxes near their best axis n: along axis k the sign of n_k selects one end
 * where |n_k| is large; both ends are near where it is small.
 */
#include "math/rotation.h"
#include "shape/polytope/polytope_box.h"
#include "shape/polytope/polytope_near.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------ features --- */

/* Corners are numbers of three bits: 4, 2, 1 for the positive ends of the axes 0, 1, 2. */

/* Near feature of a box if both ends of some axes are near (bits of the index in the table): four corners from the
 * smallest in ascending order; those of an edge or corner are repeated. */
typedef struct sides {
  int free;    /* how many axes */
  int axis[2]; /* the free axes, the later one first */
  int face;    /* the other axis when free = 2 */
  int more[4]; /* bits added to those of the least corner */
  int row[3];  /* of the signs along the axes */
} sides;

static const sides sides_of[8] = {
    {.free = 0},
    {.free = 1, .axis = {2}, .more = {0, 1, 0, 1}, .row = {0, 0, 1}},
    {.free = 1, .axis = {1}, .more = {0, 2, 0, 2}, .row = {0, 1, 0}},
    {.free = 2, .axis = {2, 1}, .face = 0, .more = {0, 1, 2, 3}, .row = {0, 2, 1}},
    {.free = 1, .axis = {0}, .more = {0, 4, 0, 4}, .row = {1, 0, 0}},
    {.free = 2, .axis = {2, 0}, .face = 1, .more = {0, 1, 4, 5}, .row = {2, 0, 1}},
    {.free = 2, .axis = {1, 0}, .face = 2, .more = {0, 2, 4, 6}, .row = {2, 1, 0}},
    {.free = 3}};

/* Signs of the four corners; those of the last are 1. */
static const double signs[3][4] = {{1, 1, 1, 1}, {-1, 1, -1, 1}, {-1, -1, 1, 1}};

/* The edges of a face in the order of their numbers: the axis of each, and the indices of its ends among the corners
 * of the face, the smaller first. For a single edge only the first entry is used. */
enum { EDGES = 4 };
static const int edge_way[EDGES] = {0, 1, 1, 0};
static const int edge_from[EDGES] = {0, 0, 1, 2}, edge_to[EDGES] = {1, 2, 3, 3};

/* Numbers of features, from the axis and the smaller corner. */
static const int edge_number[3][8] = {
    {11, 13, 15, 16}, {10, 12, [4] = 18, 19}, {9, [2] = 14, [4] = 17, [6] = 20}};

static int corner_number(int corner) {
  return 1 + corner;
}

static int face_number(int axis, bool positive) {
  return 21 + 2 * axis + positive;
}

/* Near feature of a box along an axis. */
typedef struct shown {
  const sides* sides;
  int corners, corner[4];
  double cosine; /* between the axis and the normal of the face */
  bool flat;     /* a face, with its normal near */
  bool positive; /* which of the two faces */
} shown;

/* `towards`: direction to the other box. The face is included if its normal is near: `cosine` is that of 2 delta, as
 * for other polytopes. False: undecided. */
static bool show(const double towards[3], double wide, double cosine, shown* out) {
  int both = 0, positive = 0;
  for (int k = 0; k < 3; k++) {
    both |= (fabs(towards[k]) <= wide) << (2 - k);
    positive |= (towards[k] > 0.0) << (2 - k);
  }
  const sides* found = &sides_of[both];
  if (found->free > 2) {
    return false;
  }
  out->sides = found;
  out->corners = 1 << found->free;
  for (int i = 0; i < 4; i++) {
    out->corner[i] = (positive & ~both) | found->more[i];
  }
  out->cosine = fabs(towards[found->face]);
  out->flat = found->free == 2 && out->cosine >= cosine;
  out->positive = towards[found->face] > 0.0;
  return true;
}

static const double ends[8][3] = {{-1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {-1, 1, 1},
                                  {1, -1, -1},  {1, -1, 1},  {1, 1, -1},  {1, 1, 1}};

/* Four values at once, by axes, which compilers vectorise. */
typedef double four[4];

static void corners_of(const shown* at, const double half[3], four c[3]) {
  for (int k = 0; k < 3; k++) {
    const double last = ends[at->corner[3]][k] * half[k];
    const double* sign = signs[at->sides->row[k]];
    for (int i = 0; i < 4; i++) {
      c[k][i] = sign[i] * last;
    }
  }
}

/* Corners, as bits, whose edges ascend along n, or descend by less than the sine. */
static unsigned in_cone(const double n[3], double sine) {
  static const unsigned negative[3] = {0x0f, 0x33, 0x55};
  unsigned in = 0xff;
  for (int k = 0; k < 3; k++) {
    in &= (n[k] >= -sine ? negative[k] : 0u) | (-n[k] >= -sine ? ~negative[k] : 0u);
  }
  return in;
}

/* ------------------------------------------------------------------------------------ lists --- */

static const int next[3] = {1, 2, 0}; /* axis after axis */

/* Common data of edges of A along a and of B along b = e_j. The common normal n has no component along j; components
 * along the next axes, cyclically, have the indices 1 and 2. The direction across the edge of B is n x b = (0, n2,
 * -n1), across that of A n x a = (-slope, a0 n2, -a0 n1). */
typedef struct cross {
  int i, j, j1, j2;
  bool near;
  double a0, n1, n2;
  double slope; /* (n x b).a: rate of the distances along the edges */
  double wide;
} cross;

/* Corners and the face of the other box. */
typedef struct over {
  four gap; /* m */
  /* bits: 1 << e: certainly above the line of edge e; 16 << e: certainly below; 256: over the face */
  int side[4];
} over;

typedef struct polytope_box_near_query {
  const saltusi_boxes* boxes;
  saltusi_candidates* out;
  double reach, sine, touch;
  double most; /* largest deviation of normals of edges from their cones */
  double axis[3];
  shown A, B;
  four p[3];       /* corners of A in axes of B */
  four q[3];       /* corners of B */
  four own[3];     /* those in axes of A */
  over A_on_B;     /* where B shows a face */
  over B_on_A;     /* where A does */
  unsigned listed; /* corners of A, as bits of their indices */
  cross across[2][2];
} polytope_box_near_query;

/* Transforms a point from axes of the box of B to world axes. */
static inline void list(const polytope_box_near_query* ask, int a, int b, double gap,
                        const double world_normal[3], const double point[3]) {
  if (ask->out->count++ >= ask->out->capacity) {
    return; /* counted alone */
  }
  saltusi_feature_candidate* item = &ask->out->item[ask->out->count - 1];
  item->a = a;
  item->b = b;
  item->branch = 0;
  item->gap = gap;
  memcpy(item->normal, world_normal, sizeof item->normal);
  saltusi_turn(ask->boxes->Q, point, item->point);
  saltusi_along(1.0, ask->boxes->middle, item->point, item->point);
}

/* Corners x of the other box, in axes of the one with a near face. Within `slack` of a line the side of a corner is
 * undecided (see may_cross). Sums of powers of two replace bits, since compilers do not vectorise mixed doubles and
 * integers. */
static void look_over(const shown* face, const double half[3], double reach, double touch,
                      four x[3], over* restrict out) {
  const int k = face->sides->face, k0 = face->sides->axis[0], k1 = face->sides->axis[1];
  const double s = face->positive ? 1.0 : -1.0, hu = half[k0], hv = half[k1];
  const double *u = x[k0], *v = x[k1], *w = x[k];
  four bits;
  for (int i = 0; i < 4; i++) {
    const double gap = s * w[i] - half[k], slack = 4.0 * touch + 2.0 * fabs(gap);
    const double above = (v[i] > slack - hv ? 1.0 : 0.0) + (u[i] > slack - hu ? 2.0 : 0.0) +
                         ((u[i] > slack + hu ? 4.0 : 0.0) + (v[i] > slack + hv ? 8.0 : 0.0));
    const double below = (v[i] < -hv - slack ? 16.0 : 0.0) + (u[i] < -hu - slack ? 32.0 : 0.0) +
                         ((u[i] < hu - slack ? 64.0 : 0.0) + (v[i] < hv - slack ? 128.0 : 0.0));
    const double in_u = fabs(u[i]) <= hu + touch ? 256.0 : 0.0;
    const double in_both = fabs(v[i]) <= hv + touch ? in_u : 0.0;
    out->gap[i] = gap;
    bits[i] = above + below + (gap <= reach ? in_both : 0.0);
  }
  for (int i = 0; i < 4; i++) {
    out->side[i] = (int)bits[i];
  }
}

/* Corners of both in axes of B, and in axes of A if it has a near face. */
static void place_corners(polytope_box_near_query* ask) {
  const saltusi_boxes* two = ask->boxes;
  const double *C = two->C, *t = two->t;
  four c[3];
  corners_of(&ask->A, two->half_A, c);
  corners_of(&ask->B, two->half_B, ask->q);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 4; i++) {
      ask->p[k][i] = t[k] + (C[3 * k] * c[0][i] + C[3 * k + 1] * c[1][i] + C[3 * k + 2] * c[2][i]);
    }
  }
  if (ask->B.sides->free == 2) {
    look_over(&ask->B, two->half_B, ask->reach, ask->touch, ask->p, &ask->A_on_B);
  }
  if (ask->A.sides->free == 2) {
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 4; i++) {
        ask->own[k][i] = C[k] * (ask->q[0][i] - t[0]) + C[3 + k] * (ask->q[1][i] - t[1]) +
                         C[6 + k] * (ask->q[2][i] - t[2]);
      }
    }
    look_over(&ask->A, two->half_A, ask->reach, ask->touch, ask->own, &ask->B_on_A);
  }
}

/* Corners of A over the face of B. */
static void corners_on_B(polytope_box_near_query* ask) {
  const saltusi_boxes* two = ask->boxes;
  const int k = ask->B.sides->face;
  const double s = ask->B.positive ? 1.0 : -1.0;
  const double up[3] = {s * two->C[3 * k], s * two->C[3 * k + 1], s * two->C[3 * k + 2]};
  const double normal[3] = {s * two->Q[k], s * two->Q[3 + k], s * two->Q[6 + k]};
  const unsigned cone = in_cone(up, ask->sine);
  for (int i = 0; i < ask->A.corners; i++) {
    if ((unsigned)ask->A_on_B.side[i] >> 8 & cone >> ask->A.corner[i]) {
      double point[3] = {ask->p[0][i], ask->p[1][i], ask->p[2][i]};
      point[k] = s * two->half_B[k];
      list(ask, corner_number(ask->A.corner[i]), face_number(k, ask->B.positive),
           ask->A_on_B.gap[i], normal, point);
      ask->listed |= 1u << i;
    }
  }
}

/* Whether corner b of B, over the face of A, coincides with a listed corner. */
static bool on_listed_corner(const polytope_box_near_query* ask, int b) {
  const double* half = ask->boxes->half_A;
  const int k0 = ask->A.sides->axis[0], k1 = ask->A.sides->axis[1];
  for (int i = 0; i < 4; i++) {
    if (ask->listed >> i & 1u) {
      const double x = ask->own[k0][b] - ends[ask->A.corner[i]][k0] * half[k0];
      const double y = ask->own[k1][b] - ends[ask->A.corner[i]][k1] * half[k1];
      if (x * x + y * y <= 4.0 * ask->touch * ask->touch) {
        return true;
      }
    }
  }
  return false;
}

/* Corners of B under the face of A. */
static void corners_on_A(const polytope_box_near_query* ask) {
  const saltusi_boxes* two = ask->boxes;
  const double* C = two->C;
  const int k = ask->A.sides->face;
  const double s = ask->A.positive ? 1.0 : -1.0;
  const double out_of_A[3] = {s * C[k], s * C[3 + k], s * C[6 + k]};
  const double up[3] = {-out_of_A[0], -out_of_A[1], -out_of_A[2]};
  const unsigned cone = in_cone(out_of_A, ask->sine);
  double normal[3];
  saltusi_turn(two->Q, up, normal);
  for (int i = 0; i < ask->B.corners; i++) {
    if (((unsigned)ask->B_on_A.side[i] >> 8 & cone >> ask->B.corner[i]) &&
        !on_listed_corner(ask, i)) {
      const double point[3] = {ask->q[0][i], ask->q[1][i], ask->q[2][i]};
      list(ask, face_number(k, ask->A.positive), corner_number(ask->B.corner[i]),
           ask->B_on_A.gap[i], normal, point);
    }
  }
}

/* ------------------------------------------------------------------------------------ edges --- */

/* Index of the lowest of sixteen bits, by a de Bruijn sequence. */
static int lowest(unsigned bits) {
  static const int place[16] = {0, 1, 2, 5, 3, 9, 6, 11, 15, 4, 8, 10, 14, 7, 13, 12};
  return place[((bits & (0u - bits)) * 0x09afu & 0xffffu) >> 12];
}

/* Pairs of edges of two faces that may cross, as bits 4 x index in A + index in B: neither has both ends on one side
 * of the other. Edges cross in the projection along their common normal, which is within 30 degrees of the axis, and
 * the axis is within 30 degrees of the normals of the faces. So distances from lines differ from those within the face
 * by less than tan 60 times the height above it, and are at least cos 60 as long. This gives the slack. */
static unsigned may_cross(const polytope_box_near_query* ask) {
  static const unsigned down[16] = {0x0000, 0x0001, 0x0010, 0x0011, 0x0100, 0x0101, 0x0110, 0x0111,
                                    0x1000, 0x1001, 0x1010, 0x1011, 0x1100, 0x1101, 0x1110, 0x1111};
  const int *of_A = ask->A_on_B.side, *of_B = ask->B_on_A.side;
  unsigned not_across = 0;
  for (int e = 0; e < EDGES; e++) {
    const unsigned a = (unsigned)(of_A[edge_from[e]] & of_A[edge_to[e]]);
    const unsigned b = (unsigned)(of_B[edge_from[e]] & of_B[edge_to[e]]);
    not_across |= ((a | a >> 4) & 15u) << (EDGES * e) | down[(b | b >> 4) & 15u] << e;
  }
  return ~not_across & 0xffffu;
}

/* Whether n is outward of both edges: relative to each of their faces by at least -wide, and to their sum. */
static bool is_outward(const polytope_box_near_query* ask, const cross* at, int from_A,
                       int from_B) {
  const int i1 = next[at->i], i2 = next[i1];
  const double *C1 = &ask->boxes->C[3 * at->j1], *C2 = &ask->boxes->C[3 * at->j2];
  const double of_B1 = ends[from_B][at->j1] * at->n1, of_B2 = ends[from_B][at->j2] * at->n2;
  const double of_A1 = -ends[from_A][i1] * (C1[i1] * at->n1 + C2[i1] * at->n2);
  const double of_A2 = -ends[from_A][i2] * (C1[i2] * at->n1 + C2[i2] * at->n2);
  const double least = -at->wide;
  return ((of_B1 >= least) & (of_B2 >= least) & (of_A1 >= least) & (of_A2 >= least)) &&
         of_B1 + of_B2 + of_A1 + of_A2 > SALTUSI_OUTWARD;
}

/* Whether two distances have opposite signs; `end`: one of them is zero. */
static bool straddle(double first, double second, double touch, bool* end) {
  const bool on0 = fabs(first) <= touch, on1 = fabs(second) <= touch;
  *end = on0 || on1;
  return *end ? on0 != on1 : first * second < 0.0;
}

static void cross_of(const polytope_box_near_query* ask, int i, int j, cross* out) {
  const double PARALLEL = 3e-6; /* as for other polytopes */
  const int j1 = next[j], j2 = next[j1];
  const double* a = &ask->boxes->C[i];
  const double a0 = a[3 * j], a1 = a[3 * j1], a2 = a[3 * j2];
  const double sine = sqrt(a1 * a1 + a2 * a2);
  out->near = sine > PARALLEL;
  if (!out->near) {
    return;
  }
  const double inverse = 1.0 / sine;
  const double along = (a2 * ask->axis[j1] - a1 * ask->axis[j2]) * inverse;
  const double wide = ask->sine * inverse < ask->most ? ask->sine * inverse : ask->most;
  const double scale = copysign(inverse, along), n1 = scale * a2, n2 = scale * -a1;
  const bool near = saltusi_crossing_near(along, wide);
  *out = (cross){i, j, j1, j2, near, a0, n1, n2, n2 * a1 - n1 * a2, wide};
}

/* False: an edge meets a corner that belongs to no near face. */
static bool edge_pair(const polytope_box_near_query* ask, int ea, int eb) {
  const saltusi_boxes* two = ask->boxes;
  const cross* at = &ask->across[edge_way[ea]][edge_way[eb]];
  if (!at->near) {
    return true;
  }
  const int j = at->j, j1 = at->j1, j2 = at->j2;
  const double n1 = at->n1, n2 = at->n2, slope = at->slope;
  const int a = edge_from[ea], b = edge_from[eb];
  const double d1 = ask->p[j1][a] - ask->q[j1][b], d2 = ask->p[j2][a] - ask->q[j2][b];
  const double gap = n1 * d1 + n2 * d2;
  const double first_A = n2 * d1 - n1 * d2;
  double part[3]; /* summed in the order of the axes */
  part[j] = -slope * (ask->p[j][a] - ask->q[j][b]);
  part[j1] = at->a0 * n2 * d1;
  part[j2] = -at->a0 * n1 * d2;
  const double first_B = -(part[0] + part[1] + part[2]);
  const int from_A = ask->A.corner[a], from_B = ask->B.corner[b];
  bool end_A, end_B;
  if (!straddle(first_A, first_A + slope * 2.0 * two->half_A[at->i], ask->touch, &end_A) ||
      !straddle(first_B, first_B - slope * 2.0 * two->half_B[j], ask->touch, &end_B) ||
      !(gap <= ask->reach) || !is_outward(ask, at, from_A, from_B)) {
    return true;
  }
  if (end_A || end_B) { /* the corner is over a face, or the general function decides */
    return ask->A.flat && ask->B.flat;
  }
  double normal[3], point[3] = {ask->q[0][b], ask->q[1][b], ask->q[2][b]};
  point[j] += first_B / slope;
  for (int k = 0; k < 3; k++) {
    normal[k] = two->Q[3 * k + j1] * n1 + two->Q[3 * k + j2] * n2;
  }
  list(ask, edge_number[at->i][from_A], edge_number[j][from_B], gap, normal, point);
  return true;
}

static bool edges_across(polytope_box_near_query* ask) {
  static const unsigned rows[3] = {0, 0x000f, 0xffff}, columns[3] = {0, 0x1111, 0xffff};
  const double STEEP = 0.87; /* 30 degrees */
  const sides *A = ask->A.sides, *B = ask->B.sides;
  for (int x = 0; x < A->free;
       x++) { /* square roots are slow: computed early, before their use is decided */
    for (int y = 0; y < B->free; y++) {
      cross_of(ask, A->axis[x], B->axis[y], &ask->across[x][y]);
    }
  }
  unsigned found = rows[A->free] & columns[B->free];
  if (found == 0xffff && ask->A.cosine > STEEP && ask->B.cosine > STEEP) {
    found = may_cross(ask);
  }
  for (; found != 0; found &= found - 1) {
    const int k = lowest(found);
    if (!edge_pair(ask, k / EDGES, k % EDGES)) {
      return false;
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
  const double delta =
      saltusi_bounded_delta(near->delta); /* in place of its sine, slightly larger */
  const double cosine = saltusi_near_cosine(delta), wide = delta + 2.0 * delta;
  double own[3];
  saltusi_turn_back(boxes.C, axis.normal, own);
  const double down[3] = {-own[0], -own[1], -own[2]};
  polytope_box_near_query ask; /* initialised on demand */
  if (!show(down, wide, cosine, &ask.A) || !show(axis.normal, wide, cosine, &ask.B)) {
    return false;
  }
  const double size_A = two->A->size, size_B = two->B->size;
  ask.boxes = &boxes;
  ask.out = out;
  ask.reach = near->reach;
  ask.sine = delta;
  ask.most = 4.0 * delta < SALTUSI_WIDEST ? 4.0 * delta : SALTUSI_WIDEST;
  ask.listed = 0;
  ask.touch = SALTUSI_TOUCH * (size_A < size_B ? size_A : size_B) +
              16.0 * DBL_EPSILON *
                  (size_A + size_B + fabs(boxes.t[0]) + fabs(boxes.t[1]) + fabs(boxes.t[2]));
  memcpy(ask.axis, axis.normal, sizeof ask.axis);
  place_corners(&ask);
  const int first = out->count;
  if (ask.B.flat) {
    corners_on_B(&ask);
  }
  if (!edges_across(&ask)) {
    out->count = first;
    return false;
  }
  if (ask.A.flat) {
    corners_on_A(&ask);
  }
  return out->count > first; /* no pair: the general function decides */
}
