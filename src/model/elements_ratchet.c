/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements_ratchet.c - a ratchet wheel with saw teeth and the nose of its pawl as formulas, a contact for each tooth.
 *
 * P = (X, Y): the centre of the nose in the axes of the wheel, R its radius. A tooth is the wedge between its radial flank
 * and its ramp, which meet at the tip T, with outward normals n_f, n_r; f and g point from T along them.
 *
 *   gap   D(P - T) - R,  D the distance from the wedge:  |P - T| where f.(P - T), g.(P - T) < 0, else the larger of
 *         n_f.(P - T), n_r.(P - T)
 *   slip  n_y X' - n_x Y' + R theta',  n the gradient of D; in space, where teeth are prisms along z and the nose is a
 *         ball, n_y X' - n_x Y' + R w_z and Z' - R (n_y w_x - n_x w_y)
 *
 * D has a gradient everywhere outside of the wedge, also around the tip. A wedge extends below the wheel. Behind the
 * root of its ramp, where the next tooth begins, the gap is at least the distance from that radius, which a nose in
 * front of the next flank cannot reach.
 */
#include "model/elements.h"

#include "body/mechanism.h"

#include <assert.h>
#include <math.h>

enum { TEETH_LEAST = 3 };

typedef struct tooth {
  double tip[2];
  double f[2], g[2];   /* along flank and ramp, from the tip */
  double nf[2], nr[2]; /* outward */
  double behind[2];    /* normal of the radius behind the ramp */
} tooth;

static tooth tooth_at(const saltus_element_def* e, int k) {
  const double sense = e->teeth > 0.0 ? 1.0 : -1.0;
  const double pitch = 6.283185307179586476925 / e->teeth, at = k * pitch, next = (k + 1) * pitch;
  const double c = cos(at), s = sin(at);
  const double along[2] = {e->radii[0] * cos(next) - e->radii[1] * c,
                           e->radii[0] * sin(next) - e->radii[1] * s};
  const double length = hypot(along[0], along[1]);
  tooth t = {.tip = {e->radii[1] * c, e->radii[1] * s},
             .f = {-c, -s},
             .g = {along[0] / length, along[1] / length},
             .nf = {sense * s, -sense * c},
             .behind = {-sense * sin(next), sense * cos(next)}};
  t.nr[0] = sense * t.g[1];
  t.nr[1] = -sense * t.g[0];
  return t;
}

static const char* times(saltusi_machine_maker* m, const double n[2], const char* x,
                         const char* y) {
  return saltusi_machine_text(m, "((%.17g)*%s + (%.17g)*%s)", n[0], x, n[1], y);
}

/* n_y U - n_x V of two functions of velocities; x, y: position relative to the tip; round: condition that the tip is
 * nearest. */
static const char* slip_of(saltusi_machine_maker* m, const tooth* t, const char* const at[2],
                           const char* where, const char* const rates[2]) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const char* u = saltusi_machine_text(m, "%s(%s, %s)", rates[0], a, b);
  const char* v = saltusi_machine_text(m, "%s(%s, %s)", rates[1], a, b);
  const char *flank = times(m, t->nf, at[0], at[1]), *ramp = times(m, t->nr, at[0], at[1]);
  return saltusi_machine_text(m, "piecewise(%s, (%s*%s - %s*%s)/%.17g, %s >= %s, %s, %s)", where,
                              at[1], u, at[0], v, e->radius, flank, ramp,
                              times(m, (const double[2]){t->nf[1], -t->nf[0]}, u, v),
                              times(m, (const double[2]){t->nr[1], -t->nr[0]}, u, v));
}

static void add_tooth(saltusi_machine_maker* m, int k) {
  const saltus_element_def* e = m->element;
  const char *a = e->between[0], *b = e->between[1];
  const tooth t = tooth_at(e, k);
  const char* X = saltusi_machine_text(m, "x_in(%s, %s)", a, b);
  const char* Y = saltusi_machine_text(m, "y_in(%s, %s)", a, b);
  const char* x = saltusi_machine_text(m, "(%s - (%.17g))", X, t.tip[0]);
  const char* y = saltusi_machine_text(m, "(%s - (%.17g))", Y, t.tip[1]);
  const char* round =
      saltusi_machine_text(m, "%s < 0 and %s < 0", times(m, t.f, x, y), times(m, t.g, x, y));
  const char *flank = times(m, t.nf, x, y), *ramp = times(m, t.nr, x, y);
  const char* gap = saltusi_machine_text(
      m, "max(piecewise(%s, hypot(%s, %s), %s >= %s, %s, %s), %s) - %.17g", round, x, y, flank,
      ramp, flank, ramp, times(m, t.behind, X, Y), e->radius);
  const char* const at[2] = {x, y};
  const bool plane = m->def->mechanism->plane;
  const char* slip =
      saltusi_machine_text(m, "%s + %.17g*%s(%s, %s)",
                           slip_of(m, &t, at, round, (const char* const[2]){"x_in'", "y_in'"}),
                           e->radius, plane ? "angle'" : "wz_in", a, b);
  saltusi_machine_contact(m, saltusi_machine_text(m, "%d", k + 1), gap, slip);
  if (!plane) {
    const char* turns = slip_of(m, &t, at, round, (const char* const[2]){"wx_in", "wy_in"});
    saltusi_machine_second_slip(
        m, saltusi_machine_text(m, "z_in'(%s, %s) - %.17g*%s", a, b, e->radius, turns));
  }
}

void saltusi_machine_ratchet(saltusi_machine_maker* m) {
  assert(m != NULL);
  const saltus_element_def* e = m->element;
  const double teeth = fabs(e->teeth);
  saltusi_machine_positive(m, "radius", e->radius);
  saltusi_machine_positive(m, "radius of the roots", e->radii[0]);
  if (!(teeth >= TEETH_LEAST && teeth <= SALTUSI_TEETH_MOST) || teeth != floor(teeth)) {
    saltusi_machine_fail(m, "there are %g teeth, must be %d to %d", teeth, (int)TEETH_LEAST,
                         (int)SALTUSI_TEETH_MOST);
  } else if (!(e->radii[1] > e->radii[0]) || !isfinite(e->radii[1])) {
    saltusi_machine_fail(m, "radii are %g at the roots and %g at the tips, must grow", e->radii[0],
                         e->radii[1]);
  } else if (!(e->radius < e->radii[0] * sin(3.14159265358979324 / teeth))) {
    saltusi_machine_fail(m, "a nose of radius %g is larger than the teeth", e->radius);
  }
  for (int k = 0; k < (int)teeth && m->status == SALTUS_OK; k++) {
    add_tooth(m, k);
  }
}
