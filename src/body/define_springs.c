/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * define_springs.c - springs and dampers between markers, as forces along rows; loads at markers.
 *
 *   linear along the distance; with rest length zero along x, y and z of the world, since the distance has no
 * direction at zero
 *   torsional   along the angle about z
 *   bushing     d . a_k, and rotations (a_z . b_y - a_y . b_z) / 2 and so on: sin(angle) times the axis of
 *               the rotation, in the axes of the first marker
 */
#include "base/reserved.h"
#include "body/define.h"

#include <assert.h>

/* A force along its own row. */
static saltusi_joint_row* add(const saltusi_definition* d, const saltusi_link* link,
                              double stiffness, double damping, double rest) {
  saltus_mechanism* m = d->m;
  saltusi_joint_row* row = SALTUSI_TAKE(&m->pool, saltusi_joint_row, 1);
  if (row != NULL) {
    m->forces[m->force_count++] =
        (saltusi_force_along){.name = m->springs[m->spring_count - 1].name,
                              .link = link,
                              .row = row,
                              .stiffness = stiffness,
                              .rest = rest,
                              .damping = damping,
                              .actuator = {.input = -1}};
  }
  return row;
}

static saltus_status linear(const saltusi_definition* d, const saltus_spring_def* def,
                            const saltusi_link* link) {
  const bool any = def->rest > 0.0;
  const int rows = any ? 1 : d->m->plane ? 2 : 3;
  for (int k = 0; k < rows; k++) {
    saltusi_joint_row* row = add(d, link, def->stiffness[0], def->damping[0], def->rest);
    if (row == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    *row = (saltusi_joint_row){
        .terms = 1,
        .term = {
            {.kind = any ? SALTUSI_TERM_DISTANCE : SALTUSI_TERM_WORLD, .i = k, .weight = 1.0}}};
  }
  return SALTUS_OK;
}

static saltus_status torsional(const saltusi_definition* d, const saltus_spring_def* def,
                               const char* name, const saltusi_link* link) {
  saltusi_joint_row* row = add(d, link, def->stiffness[0], def->damping[0], def->rest);
  if (row == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const int q = saltusi_define_angle(d, name, link);
  if (!d->m->plane && q < 0) {
    return saltusi_define_refuse(
        d, "spring", def->name,
        "its angle is against a driven body, whose turns are not counted in space");
  }
  *row = (saltusi_joint_row){
      .terms = 1,
      .term = {
          {.kind = d->m->plane ? SALTUSI_TERM_PLANE : SALTUSI_TERM_ANGLE, .q = q, .weight = 1.0}}};
  return SALTUS_OK;
}

static saltus_status bushing(const saltusi_definition* d, const saltus_spring_def* def,
                             const saltusi_link* link) {
  if (def->rest != 0.0) {
    return saltusi_define_refuse(d, "spring", def->name, "rest of a bushing is %g, must be 0",
                                 def->rest);
  }
  for (int k = 0; k < 6; k++) {
    if (def->stiffness[k] == 0.0 && def->damping[k] == 0.0) {
      continue;
    }
    if (d->m->plane && k != 0 && k != 1 && k != 5) {
      return saltusi_define_refuse(d, "spring", def->name,
                                   "a bushing in the plane acts along x and y and about z alone");
    }
    saltusi_joint_row* row = add(d, link, def->stiffness[k], def->damping[k], 0.0);
    if (row == NULL) {
      return SALTUS_ERR_MEMORY;
    }
    const int x = k % 3, y = (k + 1) % 3, z = (k + 2) % 3;
    if (k < 3) {
      *row = (saltusi_joint_row){.terms = 1,
                                 .term = {{.kind = SALTUSI_TERM_ALONG, .i = x, .weight = 1.0}}};
    } else if (d->m->plane) {
      *row = (saltusi_joint_row){.terms = 1, .term = {{.kind = SALTUSI_TERM_PLANE, .weight = 1.0}}};
    } else {
      *row =
          (saltusi_joint_row){.terms = 2,
                              .term = {{.kind = SALTUSI_TERM_DOT, .i = z, .j = y, .weight = 0.5},
                                       {.kind = SALTUSI_TERM_DOT, .i = y, .j = z, .weight = -0.5}}};
    }
  }
  return SALTUS_OK;
}

static saltus_status define_spring(const saltusi_definition* d, const saltus_spring_def* def,
                                   const char* name) {
  saltusi_link* link = SALTUSI_TAKE(&d->m->pool, saltusi_link, 1);
  if (link == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = saltusi_define_link(d, "spring", def->name, def->between, link);
  const double rest[1] = {def->rest};
  if (status == SALTUS_OK) {
    status = saltusi_define_finite(d, "spring", def->name, "rest", 1, rest);
  }
  for (int k = 0; status == SALTUS_OK && k < 6; k++) {
    const bool used = k == 0 || def->type == SALTUS_SPRING_BUSHING;
    const double x = def->stiffness[k], y = def->damping[k];
    if (!(x >= 0.0) || !(y >= 0.0) || !isfinite(x + y)) {
      return saltusi_define_refuse(d, "spring", def->name,
                                   "stiffness is %g and damping %g, must be at least 0", x, y);
    }
    if (!used && (x != 0.0 || y != 0.0)) {
      return saltusi_define_refuse(d, "spring", def->name,
                                   "has %d stiffnesses or dampings; only a bushing has six", k + 1);
    }
  }
  if (status == SALTUS_OK && def->type == SALTUS_SPRING_LINEAR && def->rest < 0.0) {
    return saltusi_define_refuse(d, "spring", def->name,
                                 "its length at rest is %g m, must be at least 0", def->rest);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  d->m->springs[d->m->spring_count++] = (saltus_spring_place){
      .name = name, .type = (int)def->type, .between = {link->marker[0][0], link->marker[0][1]}};
  switch (def->type) {
  case SALTUS_SPRING_LINEAR:
    return linear(d, def, link);
  case SALTUS_SPRING_TORSIONAL:
    return torsional(d, def, name, link);
  case SALTUS_SPRING_BUSHING:
    return bushing(d, def, link);
  }
  return saltusi_define_refuse(d, "spring", def->name, "its type is %d, must be 0 to 2",
                               (int)def->type);
}

saltus_status saltusi_define_springs(const saltusi_definition* d) {
  assert(d != NULL);
  const saltus_mechanism_def* def = d->def;
  saltusi_index names;
  d->m->springs = SALTUSI_TAKE(&d->m->pool, saltus_spring_place, def->spring_count);
  if (d->m->springs == NULL || !saltusi_index_start(&names, def->spring_count, &d->m->pool)) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < def->spring_count; i++) {
    const char* name;
    status = SALTUSI_RESERVED_CHECK(&def->springs[i], "saltus_spring_def", def->log);
    if (status == SALTUS_OK) {
      status = saltusi_define_name(d, "spring", def->springs[i].name, &names, &name);
    }
    if (status == SALTUS_OK) {
      status = define_spring(d, &def->springs[i], name);
    }
  }
  return status;
}

/* ---- loads ---- */

static saltus_status define_load(const saltusi_definition* d, const saltus_load_def* def,
                                 saltusi_load* load) {
  saltus_mechanism* m = d->m;
  saltus_status status = saltusi_define_find(d, "load", def->name, &m->marker_names, "marker",
                                             def->marker, &load->marker);
  load->turns = def->turns;
  for (int k = 0; status == SALTUS_OK && k < 3; k++) {
    /* in the plane a torque is about z */
    const int about = m->plane ? (k + 2) % 3 : k;
    status = saltusi_define_signal(d, "load", def->name, &def->force[k], &load->force[k]);
    if (status == SALTUS_OK) {
      status = saltusi_define_signal(d, "load", def->name, &def->torque[k], &load->torque[about]);
    }
  }
  if (status == SALTUS_OK && m->bodies[m->markers[load->marker].body].kind != SALTUS_BODY_FREE) {
    return saltusi_define_refuse(d, "load", def->name,
                                 "its marker is on \"%s\", which is not free to move",
                                 m->bodies[m->markers[load->marker].body].name);
  }
  return status;
}

saltus_status saltusi_define_loads(const saltusi_definition* d) {
  assert(d != NULL);
  const saltus_mechanism_def* def = d->def;
  saltus_mechanism* m = d->m;
  saltusi_index names;
  m->load_count = def->load_count;
  m->loads = SALTUSI_TAKE(&m->pool, saltusi_load, def->load_count);
  if (!saltusi_index_start(&names, def->load_count, &m->pool) || m->loads == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  saltus_status status = SALTUS_OK;
  for (int i = 0; status == SALTUS_OK && i < def->load_count; i++) {
    const char* name;
    status = SALTUSI_RESERVED_CHECK(&def->loads[i], "saltus_load_def", def->log);
    if (status == SALTUS_OK) {
      status = saltusi_define_name(d, "load", def->loads[i].name, &names, &name);
    }
    if (status == SALTUS_OK) {
      status = define_load(d, &def->loads[i], &m->loads[i]);
    }
  }
  return status;
}
