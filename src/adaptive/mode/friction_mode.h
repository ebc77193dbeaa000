/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode.h - friction laws beyond Coulomb's in the dynamics of a status (include/saltus/friction_law.h):
 *
 *   sliding    l_T = -mu p d(U_T) - c U_T,  p = l_N + C
 *   sticking   gauge(l_T) <= mu p
 *
 * mu is the coefficient of sticking, d the direction of friction times the ratio of the coefficient at this speed to
 * mu, c viscous friction, C the force of a bond. The spin of a patch, times its radius and m(0), is an additional
 * slip component, in which its ellipsoid is a ball; force and moment of the exact law are then a direction d whose
 * length is not one. The unknown of all problems is p, the force that closes the contact. Forces independent of p,
 * -C G_N - c G_T U_T, belong to the forces of the system.
 */
#ifndef SALTUSI_FRICTION_MODE_H
#define SALTUSI_FRICTION_MODE_H

#include "adaptive/layout_tables.h"

/* Ratio of the coefficient of sliding to that of sticking. It is extrapolated to speeds below 0,
 * which trial steps reach beyond the end of slip. */
double saltusi_friction_mode_ratio(const saltusi_layout_tables* o, int key, double speed);
/* Slip speed, the argument of friction curves, from the rates u; rows of associated elliptic cones are scaled, and so
 * is u. */
double saltusi_friction_mode_speed(const saltusi_layout_tables* o, int key, const double* u);
/* Direction of friction times the ratio, against slip u [slips]; sense: of a planar contact. d [SALTUSI_SLIPS]. */
void saltusi_friction_mode_direction(const saltusi_layout_tables* o, int key, double sense,
                                     const double* u, double* d);
/* The same of a spatial contact that begins to slide along u, of any length. */
void saltusi_friction_mode_from_rest(const saltusi_layout_tables* o, int key, const double* u,
                                     double* d);
/* Coefficients along the second tangent in units of those along the first: of sticking m, and of sliding n. False: both
 * are 1, as rows of associated cones are scaled to be. */
bool saltusi_friction_mode_axes(const saltusi_layout_tables* o, int key, double* m, double* n);
/* |l_T| in the norm of the bound of sticking. */
double saltusi_friction_mode_size(const saltusi_layout_tables* o, int key, const double* l_T);
/* Whether friction falls at once when slip begins, so that accelerations jump. */
bool saltusi_friction_mode_falls(const saltusi_layout_tables* o, int key);

/* Slips of a contact: its tangents, and the spin of a patch. */
static inline int saltusi_slips_of(const saltus_contact_law* law) {
  bool patch = law->friction != NULL && law->friction->patch != SALTUS_PATCH_NONE;
  return law->tangents + (patch ? 1 : 0);
}
/* m: scales the spin of a patch to a slip, such that its ellipsoid is a ball: radius times m(0); 0: no patch. */
static inline double saltusi_friction_mode_spin(const saltusi_layout_tables* o, int key) {
  const saltus_friction_law* law = o->law[key]->friction;
  return law != NULL && law->patch != SALTUS_PATCH_NONE
             ? law->radius * saltus_patch_spin(law->patch)
             : 0.0;
}
/* Whether the slips of a contact are more than its tangents. */
static inline bool saltusi_friction_mode_is_beside(const saltusi_layout_tables* o, int key) {
  return o->tangents[key] != o->law[key]->tangents;
}

/* N, force of a bond while the contact is closed. */
static inline double saltusi_friction_mode_pull(const saltusi_layout_tables* o,
                                                const saltusi_contact* c, int key) {
  const saltus_friction_law* law = o->law[key]->friction;
  return law != NULL && c->bonded ? law->adhesion : 0.0;
}
/* Whether it may have forces other than the reaction of its constraint. */
static inline bool saltusi_friction_mode_pulls(const saltusi_layout_tables* o, int key) {
  const saltus_friction_law* law = o->law[key]->friction;
  return law != NULL && (law->adhesion > 0.0 || law->viscous > 0.0);
}
static inline double saltusi_friction_mode_viscous(const saltusi_layout_tables* o, int key) {
  const saltus_friction_law* law = o->law[key]->friction;
  return law != NULL && o->tangents[key] > 0 ? law->viscous : 0.0;
}

#endif
