/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pendulum_wall.c - a double pendulum whose tip hits a wall: full mass matrix, curved gap function,
 * 27 resolvable impacts, an accumulation, a sliding contact and a detachment within 3 s.
 *
 *   unit lengths and masses, absolute angles, d = q1 - q2, gravity 9.81
 *   M = [2, cos d; cos d, 1]
 *   F = [-sin d v2^2 - 2 gravity sin q1;  sin d v1^2 - gravity sin q2]
 *   g = sin q1 + sin q2 - 0.3,  G = [cos q1; cos q2],  c = -sin q1 v1^2 - sin q2 v2^2
 */
#include "measure/e3_reference.h"
#include "measure/motion_family.h"
#include "measure/system_parts.h"

#include <math.h>
#include <stdio.h>

static const double gravity = 9.81; /* m/s^2 */
static const double wall = 0.3;     /* m */

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  M[0] = 2.0;
  M[1] = M[2] = cos(at->q[0] - at->q[1]);
  M[3] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  const double* q = at->q;
  const double* v = at->v;
  double sine = sin(q[0] - q[1]);
  F[0] = -sine * v[1] * v[1] - 2.0 * gravity * sin(q[0]);
  F[1] = sine * v[0] * v[0] - gravity * sin(q[1]);
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  (void)self;
  const double* q = at->q;
  const double* v = at->v;
  double cosine = cos(q[0] - q[1]);
  F_q[0] = -cosine * v[1] * v[1] - 2.0 * gravity * cos(q[0]);
  F_q[1] = cosine * v[1] * v[1];
  F_q[2] = cosine * v[0] * v[0];
  F_q[3] = -cosine * v[0] * v[0] - gravity * cos(q[1]);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  (void)self;
  double sine = sin(at->q[0] - at->q[1]);
  F_v[0] = 0.0;
  F_v[1] = -2.0 * sine * at->v[1];
  F_v[2] = 2.0 * sine * at->v[0];
  F_v[3] = 0.0;
}

static void mass_q(const void* self, const saltus_point* at, double* Mv_q) {
  (void)self;
  double sine = sin(at->q[0] - at->q[1]);
  Mv_q[0] = -sine * at->v[1];
  Mv_q[1] = sine * at->v[1];
  Mv_q[2] = -sine * at->v[0];
  Mv_q[3] = sine * at->v[0];
}

static void kinetic_gradient(const void* self, const saltus_point* at, double* T_q) {
  (void)self;
  double sine = sin(at->q[0] - at->q[1]);
  T_q[0] = -sine * at->v[0] * at->v[1];
  T_q[1] = sine * at->v[0] * at->v[1];
}

static double kinetic(const void* self, const saltus_point* at) {
  (void)self;
  const double* v = at->v;
  return v[0] * v[0] + cos(at->q[0] - at->q[1]) * v[0] * v[1] + 0.5 * v[1] * v[1];
}

static double potential(const void* self, const saltus_point* at) {
  (void)self;
  return -gravity * (2.0 * cos(at->q[0]) + cos(at->q[1]));
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = sin(at->q[0]) + sin(at->q[1]) - wall;
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self;
  (void)identity;
  const double* q = at->q;
  rows->G[0] = cos(q[0]);
  rows->G[1] = cos(q[1]);
  if (rows->c) {
    const double* v = at->v;
    rows->c[0] = -sin(q[0]) * v[0] * v[0] - sin(q[1]) * v[1] * v[1];
  }
}

static const saltus_system_ops ops = {
    .mass = mass,
    .force = force,
    .contacts = contacts,
    .contact = contact,
    .force_q = force_q,
    .force_v = force_v,
    .mass_q = mass_q,
    .kinetic_gradient = kinetic_gradient,
    .kinetic = kinetic,
    .potential = potential,
    .power = saltusi_no_power,
};

static saltus_dims dims(int size) {
  (void)size;
  return (saltus_dims){.nq = 2, .nv = 2, .nc = 1};
}

static void contact_name(int size, int contact_, char* text, size_t bytes) {
  (void)size;
  (void)contact_;
  snprintf(text, bytes, "wall");
}

static void setup(saltus_known_motion* problem) {
  problem->q0[0] = saltusi_e3_q[0];
  problem->q0[1] = saltusi_e3_q[1];
  problem->v0[0] = saltusi_e3_v[0];
  problem->v0[1] = saltusi_e3_v[1];
  problem->sample_count = SALTUSI_E3_COUNT;
  problem->sample_times = saltusi_e3_t;
  problem->sample_q = saltusi_e3_q;
  problem->sample_v = saltusi_e3_v;
}

const saltusi_motion_family saltusi_motion_pendulum_wall = {
    .info = {.name = "pendulum-wall",
             .summary = "double pendulum, unit masses and lengths, wall 0.3 m aside, e = 1/2, "
                        "q0 = (0.9, 0.7) rad",
             .source = "event-driven integration with DOP853 to 1e-13; data/reference",
             .t_end = 3.0,
             .known = SALTUS_KNOWN_SAMPLES},
    .ops = &ops,
    .restitution = 0.5,
    .q_unit = "rad",
    .v_unit = "rad/s",
    .dims = dims,
    .contact_name = contact_name,
    .setup = setup,
};
