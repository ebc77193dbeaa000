/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * define_bodies.c - bodies and markers of a definition.
 */
#include "base/reserved.h"
#include "body/define.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- inertia ---- */

/* Eigenvalues of a symmetric matrix by Jacobi's rotations, ascending. */
static void principal(const double given[9], double moment[3]) {
  double A[9];
  memcpy(A, given, sizeof A);
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int i = 0; i < 2; i++) {
      for (int j = i + 1; j < 3; j++) {
        if (A[3 * i + j] == 0.0) {
          continue;
        }
        const double theta = (A[4 * j] - A[4 * i]) / (2.0 * A[3 * i + j]);
        const double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
        const double c = 1.0 / hypot(t, 1.0), s = t * c;
        for (int k = 0; k < 3; k++) {
          const double x = A[3 * k + i], y = A[3 * k + j];
          A[3 * k + i] = c * x - s * y;
          A[3 * k + j] = s * x + c * y;
        }
        for (int k = 0; k < 3; k++) {
          const double x = A[3 * i + k], y = A[3 * j + k];
          A[3 * i + k] = c * x - s * y;
          A[3 * j + k] = s * x + c * y;
        }
      }
    }
  }
  for (int k = 0; k < 3; k++) {
    moment[k] = A[4 * k];
  }
  for (int k = 0; k < 3; k++) { /* sorted after three exchanges */
    const int i = k % 2;
    if (moment[i] > moment[i + 1]) {
      const double swap = moment[i];
      moment[i] = moment[i + 1];
      moment[i + 1] = swap;
    }
  }
}

static saltus_status spatial_inertia(const saltusi_definition* d, const saltus_body_def* def,
                                     saltusi_body* body) {
  const double* x = def->inertia;
  const double given[9] = {x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]};
  double R[9], back[9], half[9], angle, moment[3];
  saltus_status status =
      saltusi_define_orientation(d, "body", def->name, &def->inertia_orientation, R, &angle);
  if (status != SALTUS_OK) {
    return status;
  }
  principal(given, moment);
  if (moment[0] <= DBL_EPSILON * moment[2] || moment[2] <= 0.0) {
    return saltusi_define_refuse(
        d, "body", def->name,
        "its inertia has the principal moments %g, %g, %g kg m^2, must all be above 0", moment[0],
        moment[1], moment[2]);
  }
  /* a lamina has equality; published moments have six digits or so */
  const double published = 1e-6;
  if (moment[2] > (moment[0] + moment[1]) * (1.0 + published)) {
    return saltusi_define_refuse(d, "body", def->name,
                                 "its inertia has the principal moments %g, %g, %g kg m^2: the "
                                 "largest must be at most the sum of the others, %g",
                                 moment[0], moment[1], moment[2], moment[0] + moment[1]);
  }
  body->round = x[0] == x[1] && x[1] == x[2] && x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0;
  if (body->round || def->inertia_orientation.kind == SALTUS_ORIENTATION_NONE) {
    memcpy(body->I, given, sizeof given);
    return SALTUS_OK;
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      back[3 * i + j] = R[3 * j + i];
    }
  }
  saltusi_matrix3_product(R, given, half);
  saltusi_matrix3_product(half, back, body->I);
  for (int i = 0; i < 3; i++) { /* to the bit */
    for (int j = 0; j < i; j++) {
      body->I[3 * i + j] = body->I[3 * j + i];
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_define_mass(const saltusi_definition* d, const saltus_body_def* def,
                                  saltusi_body* body) {
  assert(d != NULL && def != NULL && body != NULL);
  body->mass = def->mass;
  if (def->carried) {
    body->mass = 0.0;
    body->round = true;
    return SALTUS_OK;
  }
  if (!(def->mass > 0.0) || !isfinite(def->mass)) {
    return saltusi_define_refuse(d, "body", def->name, "its mass is %g kg, must be above 0",
                                 def->mass);
  }
  saltus_status status =
      saltusi_define_finite(d, "body", def->name, "its inertia", 6, def->inertia);
  if (status != SALTUS_OK || !d->m->plane) {
    return status == SALTUS_OK ? spatial_inertia(d, def, body) : status;
  }
  if (!(def->inertia[0] > 0.0)) {
    return saltusi_define_refuse(d, "body", def->name, "its inertia is %g kg m^2, must be above 0",
                                 def->inertia[0]);
  }
  body->I[8] = def->inertia[0];
  body->round = true;
  return SALTUS_OK;
}

/* ---- bodies ---- */

static saltus_status driven_of(const saltusi_definition* d, const saltus_body_def* def,
                               saltusi_body* body) {
  if ((def->driven != NULL) != (def->kind == SALTUS_BODY_DRIVEN)) {
    return saltusi_define_refuse(d, "body", def->name,
                                 def->driven != NULL ? "has signals of its pose, but is not driven"
                                                     : "is driven, but has no signals of its pose");
  }
  if (def->driven == NULL) {
    return SALTUS_OK;
  }
  saltus_status status = SALTUSI_RESERVED_CHECK(def->driven, "saltus_driven_pose", d->def->log);
  for (int k = 0; status == SALTUS_OK && k < 3; k++) {
    status =
        saltusi_define_signal(d, "body", def->name, &def->driven->position[k], &body->position[k]);
    status = status == SALTUS_OK
                 ? saltusi_define_signal(d, "body", def->name, &def->driven->rotation[k],
                                         &body->rotation[k])
                 : status;
  }
  if (d->m->plane) {
    body->axis[2] = 1.0;
    return status;
  }
  const double* axis = def->driven->axis;
  status = status == SALTUS_OK
               ? saltusi_define_finite(d, "body", def->name, "the axis of its drive", 3, axis)
               : status;
  const double length = sqrt(saltusi_dot3(axis, axis));
  for (int k = 0; k < 3; k++) {
    body->axis[k] = length > 0.0 ? axis[k] / length : 0.0;
  }
  return status;
}

/* Whether mass and inertia follow from shapes: no inertia is given, or a density is. */
static bool is_weighed(const saltus_body_def* def) {
  bool without = true;
  for (int k = 0; k < 6; k++) {
    without = without && def->inertia[k] == 0.0;
  }
  return without || def->density != 0.0;
}

static saltus_status body_of(const saltusi_definition* d, const saltus_body_def* def,
                             saltusi_body* body) {
  saltus_mechanism* m = d->m;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_body_def", d->def->log);
  if (status != SALTUS_OK) {
    return status;
  }
  status = saltusi_define_name(d, "body", def->name, &m->body_names, &body->name);
  body->kind = def->kind;
  body->q = body->v = -1;
  if (status == SALTUS_OK) {
    status = saltusi_define_finite(d, "body", def->name, "its position", 3, def->position);
  }
  if (status == SALTUS_OK) {
    status = saltusi_define_finite(d, "body", def->name, "its velocity", 3, def->velocity);
  }
  if (status == SALTUS_OK) {
    status = saltusi_define_finite(d, "body", def->name, "its angular velocity", 3,
                                   def->angular_velocity);
  }
  if (status == SALTUS_OK) {
    status = saltusi_define_orientation(d, "body", def->name, &def->orientation, body->pose.R,
                                        &body->pose.angle);
  }
  if (status == SALTUS_OK) {
    status = driven_of(d, def, body);
  }
  for (int k = 0; k < (m->plane ? 2 : 3); k++) {
    body->pose.x[k] = def->position[k];
  }
  body->by_shapes = def->kind == SALTUS_BODY_FREE && is_weighed(def);
  if (status == SALTUS_OK && def->kind == SALTUS_BODY_FREE && !body->by_shapes) {
    status = saltusi_define_mass(d, def, body);
  }
  return status;
}

/* Position and velocity of a free body at the start. */
static void start_of(const saltusi_definition* d, const saltus_body_def* def,
                     const saltusi_body* body) {
  double* q = d->m->q0 + body->q;
  double* v = d->m->v0 + body->v;
  double velocity[3];
  memcpy(velocity, def->velocity, sizeof velocity);
  if (def->velocity_in_body) {
    saltusi_turn(body->pose.R, def->velocity, velocity);
  }
  if (d->m->plane) {
    memcpy(q, body->pose.x, 2 * sizeof(double));
    q[2] = body->pose.angle;
    memcpy(v, velocity, 2 * sizeof(double));
    v[2] = def->angular_velocity[0];
    return;
  }
  memcpy(q, body->pose.x, 3 * sizeof(double));
  saltusi_matrix_quaternion(body->pose.R, q + 3);
  if (def->orientation.kind == SALTUS_ORIENTATION_QUATERNION) { /* as given, with its sign */
    memcpy(q + 3, def->orientation.value, 4 * sizeof(double));
    saltusi_quaternion_normalise(q + 3);
  }
  memcpy(v, velocity, 3 * sizeof(double));
  memcpy(v + 3, def->angular_velocity, 3 * sizeof(double));
  if (def->angular_in_world) {
    saltusi_turn_back(body->pose.R, def->angular_velocity, v + 3);
  }
}

saltus_status saltusi_define_bodies(const saltusi_definition* d) {
  assert(d != NULL);
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  m->body_count = def->body_count;
  m->bodies = SALTUSI_TAKE(&m->pool, saltusi_body, def->body_count + 1);
  m->free_bodies = SALTUSI_TAKE(&m->pool, int, def->body_count);
  /* angles of joints and springs follow the bodies */
  const int angles = def->joint_count + def->spring_count;
  m->q0 = SALTUSI_TAKE(&m->pool, double, 7 * def->body_count + angles);
  m->v0 = SALTUSI_TAKE(&m->pool, double, 6 * def->body_count);
  if (!saltusi_index_start(&m->body_names, def->body_count, &m->pool) || m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  m->bodies[def->body_count] =
      (saltusi_body){.name = "world",
                     .kind = SALTUS_BODY_FIXED,
                     .q = -1,
                     .v = -1,
                     .pose = {.R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}}};
  for (int i = 0; i < def->body_count; i++) {
    saltusi_body* body = &m->bodies[i];
    saltus_status status = body_of(d, &def->bodies[i], body);
    if (status != SALTUS_OK) {
      return status;
    }
    if (body->kind == SALTUS_BODY_FREE) {
      body->q = (m->plane ? 3 : 7) * m->free_count;
      body->v = (m->plane ? 3 : 6) * m->free_count;
      start_of(d, &def->bodies[i], body);
      m->free_bodies[m->free_count++] = i;
    }
  }
  return SALTUS_OK;
}

/* ---- markers ---- */

/* Position and axes of a marker in its body; parents first. */
static saltus_status place_marker(const saltusi_definition* d, int i, const int* parent) {
  const saltus_marker_def* def = &d->def->markers[i];
  saltus_mechanism* m = d->m;
  saltusi_marker* marker = &m->markers[i];
  double R[9];
  saltus_status status =
      saltusi_define_orientation(d, "marker", def->name, &def->orientation, R, &marker->angle);
  if (status != SALTUS_OK) {
    return status;
  }
  const double* origin = m->bodies[marker->body].origin;
  for (int k = 0; k < (m->plane ? 2 : 3); k++) {
    marker->r[k] = def->position[k] - (parent[i] < 0 ? origin[k] : 0.0);
  }
  for (int k = 0; k < 9; k++) {
    marker->axis[k % 3][k / 3] = R[k];
  }
  if (parent[i] < 0) {
    return SALTUS_OK;
  }
  const saltusi_marker* on = &m->markers[parent[i]];
  const saltusi_marker given = *marker;
  marker->body = on->body;
  marker->angle += on->angle;
  for (int k = 0; k < 3; k++) {
    marker->r[k] = on->r[k];
    for (int j = 0; j < 3; j++) {
      marker->r[k] += given.r[j] * on->axis[j][k];
      marker->axis[j][k] = given.axis[j][0] * on->axis[0][k] + given.axis[j][1] * on->axis[1][k] +
                           given.axis[j][2] * on->axis[2][k];
    }
  }
  return SALTUS_OK;
}

static saltus_status marker_of(const saltusi_definition* d, int i, int* parent) {
  const saltus_marker_def* def = &d->def->markers[i];
  saltus_mechanism* m = d->m;
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_marker_def", d->def->log);
  if (status == SALTUS_OK) {
    status = saltusi_define_finite(d, "marker", def->name, "its position", 3, def->position);
  }
  if (status == SALTUS_OK && def->body != NULL && def->marker != NULL) {
    return saltusi_define_refuse(d, "marker", def->name,
                                 "is on body \"%s\" and relative to marker \"%s\", must be one",
                                 def->body, def->marker);
  }
  m->markers[i].body = m->body_count;
  *parent = -1;
  if (status == SALTUS_OK && def->body != NULL) {
    status = saltusi_define_find(d, "marker", def->name, &m->body_names, "body", def->body,
                                 &m->markers[i].body);
  }
  if (status == SALTUS_OK && def->marker != NULL) {
    status = saltusi_define_find(d, "marker", def->name, &m->marker_names, "marker", def->marker,
                                 parent);
  }
  return status;
}

/* Orders parents before children; markers that remain are part of a cycle. */
static saltus_status place_markers(const saltusi_definition* d, const int* parent, int* chain,
                                   bool* placed) {
  for (int i = 0; i < d->m->marker_count; i++) {
    int length = 0;
    for (int j = i; j >= 0 && !placed[j]; j = parent[j]) {
      if (length == d->m->marker_count) {
        return saltusi_define_refuse(
            d, "marker", d->m->markers[i].name,
            "is relative to itself through marker \"%s\": markers go round in a circle",
            d->m->markers[parent[i]].name);
      }
      chain[length++] = j;
    }
    while (length > 0) {
      saltus_status status = place_marker(d, chain[--length], parent);
      if (status != SALTUS_OK) {
        return status;
      }
      placed[chain[length]] = true;
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_define_markers(const saltusi_definition* d) {
  assert(d != NULL);
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  const int n = def->marker_count;
  m->marker_count = n;
  m->markers = SALTUSI_TAKE(&m->pool, saltusi_marker, n);
  int* parent = SALTUSI_TAKE(&m->pool, int, n);
  int* chain = SALTUSI_TAKE(&m->pool, int, n);
  bool* placed = SALTUSI_TAKE(&m->pool, bool, n);
  if (!saltusi_index_start(&m->marker_names, n, &m->pool) || m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < n; i++) {
    status = saltusi_define_name(d, "marker", def->markers[i].name, &m->marker_names,
                                 &m->markers[i].name);
  }
  for (int i = 0; status == SALTUS_OK && i < n; i++) {
    status = marker_of(d, i, &parent[i]);
  }
  return status == SALTUS_OK ? place_markers(d, parent, chain, placed) : status;
}
