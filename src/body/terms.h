/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * terms.h - scalar functions of two marker frames, with exact derivatives along the velocities of both bodies.
 *
 * Gradients have twelve entries, six for the body of each marker: along its velocity in world axes, then about
 * its body axes. In the plane the first, second and last of each six count.
 */
#ifndef SALTUSI_TERMS_H
#define SALTUSI_TERMS_H

#include "body/mechanism.h"

/* A marker with the pose of its body. */
typedef struct saltusi_end {
  const saltusi_marker* marker;
  saltusi_pose pose; /* of the body */
  double p[3];       /* m, the origin */
  double axis[3][3]; /* x, y, z in world axes */
  double angle;      /* rad, of the plane */
} saltusi_end;

/* Motion of an end: velocities of its body, of its origin and axes. */
typedef struct saltusi_end_motion {
  saltusi_body_motion body;
  double p[3];       /* m/s */
  double axis[3][3]; /* 1/s */
} saltusi_end_motion;

/* The end for a given pose, or at (t, q). */
void saltusi_end_of(const saltus_mechanism* m, int marker, const saltusi_pose* pose,
                    saltusi_end* end);
void saltusi_end_at(const saltus_mechanism* m, int marker, double t, const double* q,
                    saltusi_end* end);
/* Origin and axes from motion->body. */
void saltusi_end_move(const saltusi_end* end, saltusi_end_motion* motion);

/* Body b relative to body a: C = R_b^T R_a, from a to b, and y, the origin of a marker on b in the axes of a, m. */
static inline void saltusi_seen_from(const saltusi_pose* a, const saltusi_pose* b,
                                     const double on_b[3], double C[9], double y[3]) {
  double d[3];
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      C[3 * i + k] = b->R[i] * a->R[k] + b->R[3 + i] * a->R[3 + k] + b->R[6 + i] * a->R[6 + k];
    }
    d[i] = b->R[3 * i] * on_b[0] + b->R[3 * i + 1] * on_b[1] + b->R[3 * i + 2] * on_b[2] + b->x[i] -
           a->x[i];
  }
  saltusi_turn_back(a->R, d, y);
}

/* Angle of the x axis of the second marker in the xy plane of the first, -pi to pi. */
double saltusi_angle_between(const saltusi_end* a, const saltusi_end* b);

/* The term without its weight; q selects the branch of angles in space. */
double saltusi_term_value(const saltusi_term* term, const saltusi_end end[2], const double* q);
void saltusi_term_gradient(const saltusi_term* term, const saltusi_end end[2], double G[12]);
/* d/dt of the gradient along a motion of both ends. */
void saltusi_term_gradient_rate(const saltusi_term* term, const saltusi_end end[2],
                                const saltusi_end_motion motion[2], double dG[12]);

#endif
