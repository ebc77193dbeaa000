/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * taylor.h - Taylor polynomials with intervals as coefficients: numbers, vectors, poses and markers over a trajectory
 * segment. The arithmetic is in formula/jet.h.
 */
#ifndef SALTUSI_TAYLOR_H
#define SALTUSI_TAYLOR_H

#include "body/mechanism.h"
#include "formula/jet.h"
#include "formula/ops.h"

enum { ORDERS = SALTUS_JET_ORDER + 1 };

typedef struct saltusi_taylor {
  saltus_interval c[ORDERS];
  saltusi_extent extent;
} saltusi_taylor;

typedef struct saltusi_taylor3 {
  saltusi_taylor k[3];
} saltusi_taylor3;

/* A trajectory segment of a mechanism. */
typedef struct saltusi_motion_segment {
  const saltus_mechanism* m;
  const saltus_course* course;
  int order, stride;
} saltusi_motion_segment;

static inline saltusi_motion_segment saltusi_segment_over(const saltus_mechanism* m,
                                                          const saltus_course* course) {
  const int stride = course->stride != 0 ? course->stride : course->order + 1;
  return (saltusi_motion_segment){m, course, course->order, stride};
}

/* ---- numbers ---- */

static inline saltusi_jet saltusi_taylor_read_only(const saltusi_taylor* x) {
  return (saltusi_jet){x->c, x->extent};
}

static inline saltusi_jet_place saltusi_taylor_into(const saltusi_motion_segment* p,
                                                    saltusi_taylor* x) {
  return (saltusi_jet_place){x->c, &x->extent, p->order};
}

static inline void saltusi_taylor_set(const saltusi_motion_segment* p, saltusi_taylor* x,
                                      double value) {
  x->c[0] = saltusi_exactly(value);
  x->extent = (saltusi_extent){.degree = 0, .open = (unsigned char)(p->order + 1)};
}

static inline void saltusi_taylor_set_given(const saltusi_motion_segment* p, saltusi_taylor* x,
                                            const saltus_interval* c) {
  const saltusi_jet jet = saltusi_jet_given(c, p->order);
  saltusi_jet_copy(saltusi_taylor_into(p, x), jet);
}

static inline void saltusi_taylor_add(const saltusi_motion_segment* p, saltusi_taylor* to,
                                      const saltusi_taylor* x) {
  saltusi_jet_sum(saltusi_taylor_into(p, to), saltusi_taylor_read_only(to),
                  saltusi_taylor_read_only(x));
}

static inline void saltusi_taylor_subtract(const saltusi_motion_segment* p, saltusi_taylor* to,
                                           const saltusi_taylor* x) {
  saltusi_jet_difference(saltusi_taylor_into(p, to), saltusi_taylor_read_only(to),
                         saltusi_taylor_read_only(x));
}

static inline void saltusi_taylor_multiply(const saltusi_motion_segment* p, saltusi_taylor* to,
                                           const saltusi_taylor* x) {
  saltusi_jet_product(saltusi_taylor_into(p, to), saltusi_taylor_read_only(to),
                      saltusi_taylor_read_only(x));
}

static inline void saltusi_taylor_scale(const saltusi_motion_segment* p, saltusi_taylor* to,
                                        double s) {
  saltusi_taylor by;
  saltusi_taylor_set(p, &by, s);
  saltusi_taylor_multiply(p, to, &by);
}

/* to += s x y, s 1 or -1 */
static inline void saltusi_taylor_add_product(const saltusi_motion_segment* p, saltusi_taylor* to,
                                              const saltusi_taylor* x, const saltusi_taylor* y,
                                              int s) {
  const saltusi_jet sum = saltusi_taylor_read_only(to);
  saltusi_jet_product_sum(saltusi_taylor_into(p, to), saltusi_taylor_read_only(x),
                          saltusi_taylor_read_only(y), &sum, s, 1);
}

/* to += s x with any s */
static inline void saltusi_taylor_add_scaled(const saltusi_motion_segment* p, saltusi_taylor* to,
                                             const saltusi_taylor* x, double s) {
  saltusi_taylor by;
  if (s != 0.0) {
    saltusi_taylor_set(p, &by, s);
    saltusi_taylor_add_product(p, to, x, &by, 1);
  }
}

static inline void saltusi_taylor_divide(const saltusi_motion_segment* p, saltusi_taylor* to,
                                         const saltusi_taylor* x) {
  saltusi_jet_quotient(saltusi_taylor_into(p, to), saltusi_taylor_read_only(to),
                       saltusi_taylor_read_only(x));
}

static inline void saltusi_taylor_apply(const saltusi_motion_segment* p, saltusi_taylor* to, int op,
                                        const saltusi_taylor* x) {
  saltusi_jet_function(saltusi_taylor_into(p, to), op, saltusi_taylor_read_only(x));
}

/* ---- vectors ---- */

static inline void saltusi_taylor3_set(const saltusi_motion_segment* p, saltusi_taylor3* x,
                                       const double value[3]) {
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_set(p, &x->k[k], value[k]);
  }
}

static inline void saltusi_taylor3_subtract(const saltusi_motion_segment* p, saltusi_taylor3* to,
                                            const saltusi_taylor3* x) {
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_subtract(p, &to->k[k], &x->k[k]);
  }
}

static inline void saltusi_taylor3_add(const saltusi_motion_segment* p, saltusi_taylor3* to,
                                       const saltusi_taylor3* x) {
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_add(p, &to->k[k], &x->k[k]);
  }
}

static inline void saltusi_taylor3_dot(const saltusi_motion_segment* p, const saltusi_taylor3* x,
                                       const saltusi_taylor3* y, saltusi_taylor* to) {
  saltusi_taylor_set(p, to, 0.0);
  for (int k = 0; k < 3; k++) {
    saltusi_taylor_add_product(p, to, &x->k[k], &y->k[k], 1);
  }
}

/* to = x x y; `to` differs from x and y */
static inline void saltusi_taylor3_cross(const saltusi_motion_segment* p, const saltusi_taylor3* x,
                                         const saltusi_taylor3* y, saltusi_taylor3* to) {
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    saltusi_taylor_set(p, &to->k[k], 0.0);
    saltusi_taylor_add_product(p, &to->k[k], &x->k[i], &y->k[j], 1);
    saltusi_taylor_add_product(p, &to->k[k], &x->k[j], &y->k[i], -1);
  }
}

typedef struct saltusi_taylor9 {
  saltusi_taylor k[9];
} saltusi_taylor9;

static inline void saltusi_taylor3_turn(const saltusi_motion_segment* p, const saltusi_taylor9* R,
                                        const saltusi_taylor3* x, saltusi_taylor3* to) {
  for (int i = 0; i < 3; i++) {
    saltusi_taylor_set(p, &to->k[i], 0.0);
    for (int j = 0; j < 3; j++) {
      saltusi_taylor_add_product(p, &to->k[i], &R->k[3 * i + j], &x->k[j], 1);
    }
  }
}

static inline void saltusi_taylor3_turn_back(const saltusi_motion_segment* p,
                                             const saltusi_taylor9* R, const saltusi_taylor3* x,
                                             saltusi_taylor3* to) {
  for (int i = 0; i < 3; i++) {
    saltusi_taylor_set(p, &to->k[i], 0.0);
    for (int j = 0; j < 3; j++) {
      saltusi_taylor_add_product(p, &to->k[i], &R->k[3 * j + i], &x->k[j], 1);
    }
  }
}

/* ---- bodies and markers (taylor.c) ---- */

typedef struct saltusi_body_segment {
  saltusi_taylor3 x;
  saltusi_taylor9 R;
  saltusi_taylor angle; /* of the plane */
  saltusi_taylor3 v, w; /* world axes; body axes; if velocities are requested */
} saltusi_body_segment;

typedef struct saltusi_end_segment {
  const saltusi_marker* marker;
  saltusi_body_segment body;
  saltusi_taylor3 p, axis[3];
  saltusi_taylor3 dp, daxis[3]; /* if velocities are requested */
} saltusi_end_segment;

void saltusi_segment_coordinate(const saltusi_motion_segment* p, int i, saltusi_taylor* to);
void saltusi_segment_velocity(const saltusi_motion_segment* p, int i, saltusi_taylor* to);
void saltusi_segment_signal(const saltusi_motion_segment* p, const saltusi_signal* s,
                            saltusi_taylor* to);
/* Where a body is. */
void saltusi_segment_pose(const saltusi_motion_segment* p, int body, saltusi_body_segment* at);
/* The ends of a link with the data that a row uses, and their velocities if `moves`. */
void saltusi_segment_ends(const saltusi_motion_segment* p, const saltusi_link* link,
                          const saltusi_joint_row* row, bool moves, saltusi_end_segment end[4]);

#endif
