/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shape_mass.c - shapes of each body, and their mass properties.
 *
 * A body whose mass follows from its shapes has its origin at their common centre of mass: positions relative to
 * another origin are shifted. Overlapping volumes count twice.
 */
#include "body/define.h"

#include <assert.h>
#include <string.h>

/* Sums over the shapes of a body, about the origin of their definition. */
typedef struct weight {
  int shapes;
  double volume;
  double moment[3];  /* volume x centre */
  double inertia[6]; /* xx, yy, zz, xy, xz, yz; in the plane the first alone */
} weight;

/* Inertia of a point of mass 1 at r. */
static void point_inertia(bool plane, const double r[3], double out[6]) {
  const double square = saltusi_dot3(r, r);
  memset(out, 0, 6 * sizeof(double));
  if (plane) {
    out[0] = square;
    return;
  }
  for (int k = 0; k < 3; k++) {
    out[k] = square - r[k] * r[k];
  }
  out[3] = -r[0] * r[1];
  out[4] = -r[0] * r[2];
  out[5] = -r[1] * r[2];
}

static void add(bool plane, const saltus_shape_mass* mass, weight* to) {
  double by[6];
  point_inertia(plane, mass->centre, by);
  to->shapes++;
  to->volume += mass->volume;
  for (int k = 0; k < 3; k++) {
    to->moment[k] += mass->volume * mass->centre[k];
  }
  for (int k = 0; k < 6; k++) {
    to->inertia[k] += mass->inertia[k] + mass->volume * by[k];
  }
}

/* Mass, inertia and origin of a body. */
static saltus_status weigh_body(const saltusi_definition* d, int i, const weight* w) {
  saltus_mechanism* m = d->m;
  saltusi_body* body = &m->bodies[i];
  saltus_body_def def = d->def->bodies[i];
  if (w->shapes == 0) {
    return def.density != 0.0
               ? saltusi_define_refuse(d, "body", def.name,
                                       "its density is %g kg/m^%d, but it has no shapes; give mass "
                                       "and inertia",
                                       def.density, m->plane ? 2 : 3)
               : saltusi_define_mass(d, &def, body);
  }
  if (def.density != 0.0 && def.mass != 0.0) {
    return saltusi_define_refuse(d, "body", def.name,
                                 "has a density of %g kg/m^%d and a mass of %g kg, must have one",
                                 def.density, m->plane ? 2 : 3, def.mass);
  }
  if (def.density != 0.0 && !(def.density > 0.0 && isfinite(def.density))) {
    return saltusi_define_refuse(d, "body", def.name, "its density is %g kg/m^%d, must be above 0",
                                 def.density, m->plane ? 2 : 3);
  }
  const double density = def.density != 0.0 ? def.density : def.mass / w->volume;
  double by[6], turned[3];
  for (int k = 0; k < 3; k++) {
    body->origin[k] = w->moment[k] / w->volume;
  }
  point_inertia(m->plane, body->origin, by);
  def.mass = density * w->volume;
  def.inertia_orientation.kind = SALTUS_ORIENTATION_NONE;
  for (int k = 0; k < 6; k++) {
    def.inertia[k] = density * (w->inertia[k] - w->volume * by[k]);
  }
  saltusi_turn(body->pose.R, body->origin, turned);
  for (int k = 0; k < (m->plane ? 2 : 3); k++) {
    body->pose.x[k] += turned[k];
    m->q0[body->q + k] = body->pose.x[k];
  }
  return saltusi_define_mass(d, &def, body);
}

saltus_status saltusi_define_shape_mass(const saltusi_definition* d) {
  assert(d != NULL);
  saltus_mechanism* m = d->m;
  const saltus_mechanism_def* def = d->def;
  m->shape_body = SALTUSI_TAKE(&m->pool, int, def->shape_count);
  weight* sums = SALTUSI_TAKE(&m->pool, weight, m->body_count + 1);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < def->shape_count; i++) {
    const saltus_body_shape_def* shape = &def->shapes[i];
    m->shape_body[i] = m->body_count;
    if (shape->body != NULL) {
      status = saltusi_define_find(d, "shape", shape->shape.name, &m->body_names, "body",
                                   shape->body, &m->shape_body[i]);
    }
    saltus_shape_mass mass = {0};
    if (status == SALTUS_OK && m->bodies[m->shape_body[i]].by_shapes) {
      status = saltus_shape_mass_properties(&shape->shape, def->dimension, def->log, &mass);
      add(m->plane, &mass, &sums[m->shape_body[i]]);
    }
  }
  for (int i = 0; status == SALTUS_OK && i < m->body_count; i++) {
    status = m->bodies[i].by_shapes ? weigh_body(d, i, &sums[i]) : status;
  }
  return status;
}
