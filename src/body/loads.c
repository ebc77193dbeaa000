/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * loads.c - forces and torques at markers. With f and m in world axes on a marker at r of a body with rotation R:
 *
 *   F = (f; r x R^T f + R^T m)
 *   given in the world:    D_j R^T f = -e_j x R^T f, along the j-th axis of the body
 *   given in the marker:   f = R S f_0, so R^T f is constant and D_j f = R (e_j x S f_0)
 */
#include "body/loads.h"

#include "body/terms.h"

#include <assert.h>
#include <string.h>

/* f and m of a load in the axes of its definition. */
static void given_at(const saltus_mechanism* m, const saltusi_load* load, double t, double f[3],
                     double about[3]) {
  for (int k = 0; k < 3; k++) {
    double out[3];
    saltusi_signal_at(m, &load->force[k], t, out);
    f[k] = out[0];
    saltusi_signal_at(m, &load->torque[k], t, out);
    about[k] = out[0];
  }
}

/* A vector of the marker in body axes. */
static void from_marker(const saltusi_marker* marker, const double x[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = x[0] * marker->axis[0][k] + x[1] * marker->axis[1][k] + x[2] * marker->axis[2][k];
  }
}

typedef struct pushed {
  const saltusi_marker* marker;
  saltusi_pose pose;
  double f[3], inside[3]; /* force in world axes, in body axes */
  double about[3];        /* torque in body axes */
} pushed;

static void pushed_at(const saltus_mechanism* m, const saltusi_load* load, const saltus_point* at,
                      pushed* p) {
  double f[3], about[3];
  p->marker = &m->markers[load->marker];
  saltusi_pose_at(m, p->marker->body, at->t, at->q, &p->pose);
  given_at(m, load, at->t, f, about);
  if (load->turns) {
    from_marker(p->marker, f, p->inside);
    from_marker(p->marker, about, p->about);
    saltusi_turn(p->pose.R, p->inside, p->f);
  } else {
    memcpy(p->f, f, sizeof f);
    saltusi_turn_back(p->pose.R, f, p->inside);
    saltusi_turn_back(p->pose.R, about, p->about);
  }
}

void saltusi_loads_add(const saltus_mechanism* m, const saltus_point* at, double* F) {
  assert(m != NULL && at != NULL && F != NULL);
  for (int i = 0; i < m->load_count; i++) {
    pushed p;
    double moment[3];
    pushed_at(m, &m->loads[i], at, &p);
    saltusi_cross(p.marker->r, p.inside, moment);
    double* to = F + m->bodies[p.marker->body].v;
    if (m->plane) {
      to[0] += p.f[0];
      to[1] += p.f[1];
      to[2] += moment[2] + p.about[2];
      continue;
    }
    for (int k = 0; k < 3; k++) {
      to[k] += p.f[k];
      to[3 + k] += moment[k] + p.about[k];
    }
  }
}

/* Column of F_q along the rotation about the j-th axis: force, then torque. */
static void bend(const saltusi_load* load, const pushed* p, int j, double H[6]) {
  const double axis[3] = {j == 0, j == 1, j == 2};
  double turned[3], moment[3], other[3];
  saltusi_cross(axis, p->inside, turned);
  if (load->turns) {
    saltusi_turn(p->pose.R, turned, H);
    H[3] = H[4] = H[5] = 0.0;
    return;
  }
  saltusi_cross(p->marker->r, turned, moment);
  saltusi_cross(axis, p->about, other);
  for (int k = 0; k < 3; k++) {
    H[k] = 0.0;
    H[3 + k] = -moment[k] - other[k];
  }
}

void saltusi_load_slope(const saltus_mechanism* m, int i, const saltus_point* at, double factor,
                        double* A, size_t stride) {
  assert(m != NULL && at != NULL && A != NULL);
  const saltusi_load* load = &m->loads[i];
  pushed p;
  pushed_at(m, load, at, &p);
  for (size_t j = m->plane ? 2 : 0; j < 3; j++) {
    double H[6];
    bend(load, &p, (int)j, H);
    for (size_t k = 0; k < 6; k++) {
      if (!m->plane) {
        A[k * stride + 3 + j] += factor * H[k];
      } else if (k < 2 || k == 5) {
        A[(k == 5 ? 2 : k) * stride + 2] += factor * H[k];
      }
    }
  }
}

double saltusi_loads_power(const saltus_mechanism* m, const saltus_point* at) {
  assert(m != NULL && at != NULL);
  double power = 0.0;
  for (int i = 0; i < m->load_count; i++) {
    pushed p;
    saltusi_body_motion motion;
    double moment[3];
    pushed_at(m, &m->loads[i], at, &p);
    saltusi_motion_at(m, p.marker->body, at->t, at->v, &motion);
    saltusi_cross(p.marker->r, p.inside, moment);
    saltusi_along(1.0, moment, p.about, moment);
    power += saltusi_dot3(p.f, motion.v) + saltusi_dot3(moment, motion.w);
  }
  return power;
}
