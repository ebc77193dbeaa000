/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * systems.c - see systems.h.
 */
#include "systems.h"

#include <math.h>

ball ball_usual(void) {
  return (ball){.m = 1.0, .g = 9.81, .law = {.name = "floor", .e_N = 0.5}};
}

static void ball_mass(const void* self, const saltus_point* at, double* M) {
  (void)at;
  const ball* b = self;
  M[0] = b->singular ? 0.0 : b->m;
}

static void ball_force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const ball* b = self;
  F[0] = b->broken ? (double)NAN : -b->m * b->g;
}

static saltus_status ball_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  const ball* b = self;
  list->gap[0] = at->q[0] - b->a * sin(b->w * at->t);
  return b->crowded ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static void ball_contact(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_rows* rows) {
  (void)identity;
  const ball* b = self;
  rows->G[0] = 1.0;
  rows->b[0] = -b->a * b->w * cos(b->w * at->t);
  if (rows->c != NULL) {
    rows->c[0] = b->a * b->w * b->w * sin(b->w * at->t);
  }
}

static double ball_potential(const void* self, const saltus_point* at) {
  const ball* b = self;
  return b->m * b->g * at->q[0];
}

saltus_system ball_system(const ball* self) {
  static const saltus_system_ops ops = {.mass = ball_mass,
                                        .force = ball_force,
                                        .contacts = ball_contacts,
                                        .contact = ball_contact,
                                        .potential = ball_potential};
  unsigned traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE;
  return (saltus_system){.ops = &ops,
                         .self = self,
                         .dims = {.nq = 1, .nv = 1, .nc = 1},
                         .traits = self->a == 0.0 ? traits | SALTUS_CONSTANT_NORMALS : traits,
                         .laws = &self->law,
                         .law_count = 1};
}

double ball_height(const ball* self, double q0, double t) {
  double fall = sqrt(2.0 * q0 / self->g);
  if (t < fall) {
    return q0 - 0.5 * self->g * t * t;
  }
  double up = self->g * fall;
  for (t -= fall; up > 1e-13; t -= 2.0 * up / self->g) {
    up *= self->law.e_N;
    if (t < 2.0 * up / self->g) {
      return up * t - 0.5 * self->g * t * t;
    }
  }
  return 0.0;
}

static void unit_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = M[3] = 1.0;
  M[1] = M[2] = 0.0;
}

static void rod_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = 0.0;
  F[1] = -9.81;
}

static void rod_joints(const void* self, const saltus_point* at, double* g) {
  (void)self;
  g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
}

static void rod_joint(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  (void)self, (void)row;
  rows->G[0] = at->q[0];
  rows->G[1] = at->q[1];
  if (rows->c != NULL) {
    rows->c[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
  }
}

static double rod_potential(const void* self, const saltus_point* at) {
  (void)self;
  return 9.81 * at->q[1];
}

saltus_system rod_system(void) {
  static const saltus_system_ops ops = {.mass = unit_mass,
                                        .force = rod_force,
                                        .joints = rod_joints,
                                        .joint = rod_joint,
                                        .potential = rod_potential};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 2, .nv = 2, .nj = 1},
                         .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE};
}

static const double support[3] = {-1.0, 0.25, 1.0};

static void bar_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 2.0;
  M[1] = M[2] = 0.0;
  M[3] = 1.0;
}

static void bar_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -2.0 * 9.81;
  F[1] = 0.0;
}

static saltus_status bar_contacts(const void* self, const saltus_point* at,
                                  saltus_contact_list* list) {
  (void)self;
  for (int i = 0; i < 3; i++) {
    list->gap[i] = at->q[0] + support[i] * at->q[1];
  }
  return SALTUS_OK;
}

static void bar_contact(const void* self, const saltus_point* at, uint64_t identity,
                        saltus_rows* rows) {
  int key = (int)identity;
  (void)self, (void)at;
  rows->G[0] = 1.0;
  rows->G[1] = support[key];
}

saltus_system bar_system(const saltus_contact_law laws[3]) {
  static const saltus_system_ops ops = {
      .mass = bar_mass, .force = bar_force, .contacts = bar_contacts, .contact = bar_contact};
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 2, .nv = 2, .nc = 3},
                         .traits =
                             SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
                         .laws = laws,
                         .law_count = 3};
}

static bool faulty(const void* self, pendulum_fault fault) {
  return *(const pendulum_fault*)self == fault;
}

static void pendulum_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  M[0] = 2.0;
  M[1] = M[2] = cos(at->q[0] - at->q[1]);
  M[3] = 1.0;
}

static void pendulum_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  const double* q = at->q;
  const double* v = at->v;
  double s = sin(q[0] - q[1]);
  F[0] = -s * v[1] * v[1] - 2.0 * 9.81 * sin(q[0]);
  F[1] = s * v[0] * v[0] - 9.81 * sin(q[1]);
}

static void pendulum_force_q(const void* self, const saltus_point* at, double* F_q) {
  const double* q = at->q;
  const double* v = at->v;
  double c = cos(q[0] - q[1]);
  F_q[0] = -c * v[1] * v[1] - 2.0 * 9.81 * cos(q[0]);
  F_q[1] = c * v[1] * v[1];
  F_q[2] = c * v[0] * v[0];
  F_q[3] = -c * v[0] * v[0] - 9.81 * cos(q[1]);
  if (faulty(self, FAULT_FORCE_Q)) {
    F_q[1] *= 1.0 + 1e-6;
  }
}

static void pendulum_force_v(const void* self, const saltus_point* at, double* F_v) {
  double s = sin(at->q[0] - at->q[1]);
  F_v[0] = F_v[3] = 0.0;
  F_v[1] = -2.0 * s * at->v[1];
  F_v[2] = (faulty(self, FAULT_FORCE_V) ? 2.00001 : 2.0) * s * at->v[0];
}

static void pendulum_mass_q(const void* self, const saltus_point* at, double* Mv_q) {
  double s = sin(at->q[0] - at->q[1]);
  Mv_q[0] = -s * at->v[1];
  Mv_q[1] = s * at->v[1];
  Mv_q[2] = -s * at->v[0];
  Mv_q[3] = (faulty(self, FAULT_MASS_Q) ? -1.0 : 1.0) * s * at->v[0];
}

static void pendulum_kinetic_gradient(const void* self, const saltus_point* at, double* T_q) {
  (void)self;
  double s = sin(at->q[0] - at->q[1]) * at->v[0] * at->v[1];
  T_q[0] = -s;
  T_q[1] = s;
}

static saltus_status pendulum_contacts(const void* self, const saltus_point* at,
                                       saltus_contact_list* list) {
  (void)self;
  list->gap[0] = sin(at->q[0]) + sin(at->q[1]) - 0.3;
  return SALTUS_OK;
}

static void pendulum_contact(const void* self, const saltus_point* at, uint64_t identity,
                             saltus_rows* rows) {
  (void)identity;
  const double* q = at->q;
  rows->G[0] = cos(q[0]);
  rows->G[1] = faulty(self, FAULT_NORMAL) ? cos(q[1]) + 1e-7 : cos(q[1]);
  if (rows->c != NULL && !faulty(self, FAULT_CONVECTIVE)) {
    rows->c[0] = -sin(q[0]) * at->v[0] * at->v[0] - sin(q[1]) * at->v[1] * at->v[1];
  }
}

saltus_system pendulum_system(const pendulum_fault* fault) {
  static const saltus_system_ops ops = {.mass = pendulum_mass,
                                        .force = pendulum_force,
                                        .contacts = pendulum_contacts,
                                        .contact = pendulum_contact,
                                        .force_q = pendulum_force_q,
                                        .force_v = pendulum_force_v,
                                        .mass_q = pendulum_mass_q,
                                        .kinetic_gradient = pendulum_kinetic_gradient};
  static const saltus_contact_law wall = {.name = "wall", .e_N = 0.5};
  return (saltus_system){.ops = &ops,
                         .self = fault,
                         .dims = {.nq = 2, .nv = 2, .nc = 1},
                         .laws = &wall,
                         .law_count = 1};
}
