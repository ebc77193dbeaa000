/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements_gear.c - gear pairs: two contacts along the line of action.
 *
 *   gap B/2 -+ s + d . (u1 - u2),   s = r1 x1 + r2 x2 - offset
 *
 * u_k is the displacement of wheel k in its bearing (zero while the joint is closed), and d the force on the first
 * wheel per 1 N of the mesh, so that bearings bear its load. The pressure angle is cos(alpha) = |r1 + r2| / distance
 * of the axes. With m from the
 * first axis to the mesh, t = z x m,
 *
 *   d = -+ sign(r1) cos(alpha) t - sin(alpha) m   (+ m where the first wheel is the ring)
 *
 * On a rack, whose position is x2, d = +- r2 along its axis.
 */
#include "base/log.h"
#include "body/mechanism.h"
#include "model/elements.h"

#include <assert.h>
#include <math.h>

/* Two wheels, or a wheel and a rack, on one carrier. */
typedef struct mesh {
  const saltusi_joint* joint[2];
  double p[2][3], axes[2][9]; /* of the markers on the carrier, at the start; columns */
} mesh;

static const saltusi_marker* marker_of(const saltusi_machine_maker* m, const saltusi_joint* joint,
                                       int k) {
  return &m->def->mechanism->markers[joint->between[k]];
}

/* Reason why bearing loads are undefined; NULL: they are defined. */
static const char* read_mesh(const saltusi_machine_maker* m, mesh* g, double distance[3],
                             double* length) {
  const saltus_mechanism* mechanism = m->def->mechanism;
  const saltus_element_def* e = m->element;
  for (int k = 0; k < 2; k++) {
    saltus_mechanism_frame(mechanism, g->joint[k]->between[0], mechanism->t0, mechanism->q0,
                           g->p[k], g->axes[k]);
  }
  if (marker_of(m, g->joint[0], 0)->body != marker_of(m, g->joint[1], 0)->body) {
    return "its joints do not begin at one body";
  }
  const double* z[2] = {g->axes[0] + 2, g->axes[1] + 2};
  double parallel = 0.0, along = 0.0;
  for (int i = 0; i < 3; i++) {
    parallel += z[0][3 * i] * z[1][3 * i];
    distance[i] = g->p[1][i] - g->p[0][i];
    along += distance[i] * z[0][3 * i];
  }
  if (g->joint[0]->has_angle && g->joint[1]->has_angle && !(parallel > 1.0 - 1e-9)) {
    return "its axes are not parallel";
  }
  for (int i = 0; i < 3; i++) {
    distance[i] -= along * z[0][3 * i];
  }
  *length = sqrt(distance[0] * distance[0] + distance[1] * distance[1] + distance[2] * distance[2]);
  const bool wheels = g->joint[0]->has_angle && g->joint[1]->has_angle;
  return wheels && !(*length * (1.0 + 1e-9) >= fabs(e->radii[0] + e->radii[1]) && *length > 0.0)
             ? "the distance of its axes is below that of its base circles"
             : NULL;
}

/* d of both flanks between two wheels. */
static void wheel_loads(const saltusi_machine_maker* m, const mesh* g, const double distance[3],
                        double length, double d[2][3]) {
  const double* r = m->element->radii;
  const bool ring = r[0] * r[1] < 0.0 && fabs(r[0]) > fabs(r[1]);
  const double side = r[0] * r[1] > 0.0 || ring ? 1.0 : -1.0; /* of the mesh, seen from the first */
  const double c = fmin(1.0, fabs(r[0] + r[1]) / length), s = sqrt(1.0 - c * c);
  double to[3], across[3];
  const double z[3] = {g->axes[0][2], g->axes[0][5], g->axes[0][8]};
  for (int i = 0; i < 3; i++) {
    to[i] = side * distance[i] / length;
  }
  for (int i = 0; i < 3; i++) {
    across[i] = z[(i + 1) % 3] * to[(i + 2) % 3] - z[(i + 2) % 3] * to[(i + 1) % 3];
    for (int k = 0; k < 2; k++) {
      d[k][i] = (k == 0 ? -1.0 : 1.0) * copysign(c, r[0]) * across[i] + (ring ? s : -s) * to[i];
    }
  }
}

/* + d . u of the wheel at a joint, or nothing at a rack. */
static const char* load_text(saltusi_machine_maker* m, const mesh* g, int wheel, const double d[3],
                             double sign) {
  const saltusi_joint* joint = g->joint[wheel];
  if (!joint->has_angle) {
    return "";
  }
  const char *a = marker_of(m, joint, 0)->name, *b = marker_of(m, joint, 1)->name;
  double part[2] = {0.0, 0.0};
  for (int i = 0; i < 3; i++) {
    part[0] += sign * d[i] * g->axes[wheel][3 * i];
    part[1] += sign * d[i] * g->axes[wheel][3 * i + 1];
  }
  return saltusi_machine_text(m, " + (%.17g)*x_in(%s, %s) + (%.17g)*y_in(%s, %s)", part[0], a, b,
                              part[1], a, b);
}

/* Terms of the gap besides angles, so that bearings bear the force of the mesh. */
static void find_loads(saltusi_machine_maker* m, const char* text[2][2]) {
  const saltus_mechanism* mechanism = m->def->mechanism;
  mesh g;
  double distance[3] = {0.0}, length = 0.0, d[2][3];
  for (int k = 0; k < 2; k++) {
    g.joint[k] = &mechanism->joints[saltus_mechanism_find_joint(mechanism, m->element->between[k])];
  }
  const char* why = read_mesh(m, &g, distance, &length);
  const int rack = !g.joint[0]->has_angle ? 0 : !g.joint[1]->has_angle ? 1 : -1;
  if (why != NULL || (rack >= 0 && !g.joint[1 - rack]->has_angle)) {
    if (why != NULL) {
      saltusi_log(m->def->log, SALTUS_LEVEL_WARNING,
                  "element \"%.80s\": forces of its bearings are without that of the mesh: %s",
                  m->element->name, why);
    }
    return;
  }
  if (rack < 0) {
    wheel_loads(m, &g, distance, length, d);
  }
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 3 && rack >= 0; i++) { /* of the first wheel; the axis of a rack is x */
      const double force = (k == 0 ? 1.0 : -1.0) * m->element->radii[rack];
      const int column = mechanism->plane ? 0 : 2;
      d[k][i] = (rack == 1 ? 1.0 : -1.0) * force * g.axes[rack][3 * i + column];
    }
    text[k][0] = load_text(m, &g, 0, d[k], 1.0);
    text[k][1] = load_text(m, &g, 1, d[k], -1.0);
  }
}

void saltusi_machine_gear_pair(saltusi_machine_maker* m) {
  assert(m != NULL && m->element != NULL);
  const saltus_element_def* e = m->element;
  const char* part[2] = {"angle", "angle"};
  if (!(e->backlash >= 0.0)) {
    saltusi_machine_fail(m, "backlash is %g, must not be negative", e->backlash);
  }
  for (int k = 0; k < 2 && m->status == SALTUS_OK; k++) {
    const int i = saltus_mechanism_find_joint(m->def->mechanism, e->between[k]);
    const saltusi_joint* joint = &m->def->mechanism->joints[i];
    part[k] = joint->has_angle ? "angle" : "position";
    if (!joint->has_angle && !joint->has_position) {
      saltusi_machine_fail(m, "joint \"%.80s\" has no angle and no position", e->between[k]);
    }
    if (e->radii[k] == 0.0 || !isfinite(e->radii[k])) {
      saltusi_machine_fail(m, "a radius is %g, must not be 0", e->radii[k]);
    }
  }
  if (saltusi_machine_rubs(m)) {
    saltusi_machine_fail(m, "a gear pair has no friction");
  }
  const char* loads[2][2] = {{"", ""}, {"", ""}};
  if (m->status == SALTUS_OK) {
    find_loads(m, loads);
  }
  for (int k = 0; k < 2; k++) {
    const char* gap = saltusi_machine_text(
        m, "%.17g %c ((%.17g)*%s.%s + (%.17g)*%s.%s - (%.17g))%s%s", 0.5 * e->backlash,
        k == 0 ? '-' : '+', e->radii[0], e->between[0], part[0], e->radii[1], e->between[1],
        part[1], e->offset, loads[k][0], loads[k][1]);
    saltusi_machine_contact(m, k == 0 ? "forward" : "backward", gap, NULL);
  }
}
