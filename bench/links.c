/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * links.c - see links.h.
 */
#include "links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 16 };

static const double side = 0.1; /* m */
static const double mass = 0.1; /* kg */
static const double pi_2 = 1.57079632679489661923;

typedef struct parts {
  char (*name)[NAME];
  int names;
  saltus_body_def* bodies;
  saltus_marker_def* markers;
  saltus_joint_def* joints;
  int marker_count, joint_count;
} parts;

static const char* text(parts* p, const char* kind, int i) {
  char* to = p->name[p->names++];
  (void)snprintf(to, NAME, "%s%d", kind, i);
  return to;
}

/* z of a marker along y of the world, or along z of a body that is twisted. */
static saltus_orientation axis_of(const links_def* def, bool across) {
  saltus_orientation o = {.kind = SALTUS_ORIENTATION_NONE};
  if (def->dimension == 3 && !across) {
    o = (saltus_orientation){.kind = SALTUS_ORIENTATION_AXIS, .value = {1.0, 0.0, 0.0, -pi_2}};
  }
  return o;
}

static const char* mark(parts* p, const char* body, double x, double y, saltus_orientation o) {
  saltus_marker_def* m = &p->markers[p->marker_count];
  *m = (saltus_marker_def){.body = body, .position = {x, y, 0.0}, .orientation = o};
  m->name = text(p, "m", p->marker_count++);
  return m->name;
}

static void join(parts* p, const links_def* def, int i, double apart) {
  int before = def->star ? (i > 0 ? 0 : -1) : i - 1;
  const saltus_orientation o = axis_of(def, def->twisted && i % 2 == 1);
  double low = before < 0 ? 0.0 : -side / 2.0;
  const char* a = mark(p, before < 0 ? NULL : p->bodies[before].name, low, apart, o);
  const char* b = mark(p, p->bodies[i].name, side / 2.0, 0.0, o);
  saltus_joint_def* joint = &p->joints[p->joint_count];
  *joint = (saltus_joint_def){.type = SALTUS_JOINT_REVOLUTE, .between = {a, b}};
  joint->angle.damping = def->damping;
  joint->name = text(p, "j", p->joint_count++);
}

static void fill(parts* p, const links_def* def) {
  const double around = mass * side * side / 12.0 + 5e-6;
  for (int i = 0; i < def->count; i++) {
    double at = def->star && i > 0 ? 1.5 : i + 0.5;
    saltus_body_def* b = &p->bodies[i];
    *b = (saltus_body_def){.mass = mass, .position = {-at * side, 0.0, 0.0}};
    b->inertia[0] = def->dimension == 2 ? around : 1e-5;
    b->inertia[1] = b->inertia[2] = def->dimension == 2 ? 0.0 : around;
    b->name = text(p, "b", i);
  }
  for (int i = 0; i < def->count; i++) {
    join(p, def, i, 0.0);
  }
  for (int k = 0; k < def->doubled; k++) {
    join(p, def, def->count - 1 - k, k == 0 ? def->apart : 0.0);
  }
}

saltus_mechanism* links_create(const links_def* def) {
  size_t n = (size_t)(def->count + def->doubled);
  parts p = {.name = calloc(5 * n, sizeof *p.name),
             .bodies = calloc(n, sizeof *p.bodies),
             .markers = calloc(2 * n, sizeof *p.markers),
             .joints = calloc(n, sizeof *p.joints)};
  saltus_mechanism* made = NULL;
  if (p.name != NULL && p.bodies != NULL && p.markers != NULL && p.joints != NULL) {
    fill(&p, def);
    saltus_mechanism_def mechanism = {.dimension = def->dimension,
                                      .bodies = p.bodies,
                                      .body_count = def->count,
                                      .markers = p.markers,
                                      .marker_count = p.marker_count,
                                      .joints = p.joints,
                                      .joint_count = p.joint_count};
    mechanism.gravity[def->dimension - 1] = -9.81;
    if (saltus_mechanism_create(&mechanism, &made) != SALTUS_OK) {
      made = NULL;
    }
  }
  free(p.name);
  free(p.bodies);
  free(p.markers);
  free(p.joints);
  return made;
}

double links_defect(const saltus_system* sys, double t, const double* q) {
  double* g = calloc((size_t)sys->dims.nj + 1, sizeof(double));
  void* scratch = malloc(sys->dims.scratch + 1);
  const saltus_point at = {.t = t, .q = q, .scratch = scratch};
  double most = g != NULL && scratch != NULL ? 0.0 : NAN;
  if (g != NULL && scratch != NULL) {
    sys->ops->joints(sys->self, &at, g);
    for (int j = 0; j < sys->dims.nj; j++) {
      most = fmax(most, fabs(g[j]));
    }
  }
  free(g);
  free(scratch);
  return most;
}

double links_energy(const saltus_system* sys, double t, const double* q, const double* v) {
  void* scratch = malloc(sys->dims.scratch + 1);
  const saltus_point at = {.t = t, .q = q, .v = v, .scratch = scratch};
  double sum = NAN;
  if (scratch != NULL) {
    sum = sys->ops->kinetic(sys->self, &at) + sys->ops->potential(sys->self, &at);
  }
  free(scratch);
  return sum;
}
