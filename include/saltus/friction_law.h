/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_law.h - friction laws of a contact other than Coulomb's |P_T| <= mu P_N, and dry friction of joints.
 *
 *   elliptic     |M^-1 P_T| <= P_N, M = diag(mu, across); sliding P_T = -P_N N^2 U / |M^-1 N^2 U|, N = diag(sliding)
 *   curve        sticks up to mu, slides with mu(|U_T|) <= mu
 *   viscous      -viscous U_T while the contact is closed, in addition to the dry part
 *   rolling      |M_R| <= rolling P_N against the angular velocity along the surface
 *   drilling     |M_S| <= drilling P_N against the angular velocity about the normal
 *   patch        slip and spin share the friction of a disc (Coulomb and Contensou)
 *   adhesion     P_N >= -adhesion, |P_T| <= mu (P_N + adhesion) while bonded
 *
 * All zero is Coulomb's law. Parts can be combined: an elliptic cone may have a curve (then mu(s) / mu scales both
 * axes),
 * rolling resistance and adhesion. docs/laws.md has sources and the support by each scheme.
 *
 * Rows of a contact: normal, `tangents` of slip, then as many of rolling [rad/s] where `rolling` is not 0, then one of
 * spin [rad/s] where `drilling` or `patch` is not. saltus_contact_rows counts them.
 */
#ifndef SALTUS_FRICTION_LAW_H
#define SALTUS_FRICTION_LAW_H

#include "saltus/api.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* How the coefficient depends on the speed s of slip. The coefficient of sticking is saltus_contact_law.mu. */
typedef enum saltus_friction_curve {
  SALTUS_CURVE_CONSTANT, /* mu */
  SALTUS_CURVE_KINETIC,  /* `kinetic` as soon as it slides */
  SALTUS_CURVE_STRIBECK, /* kinetic + (mu - kinetic) exp(-(s / speed)^exponent) */
  SALTUS_CURVE_OWN       /* saltus_friction_law.own */
} saltus_friction_curve;

typedef enum saltus_patch {
  SALTUS_PATCH_NONE,
  SALTUS_PATCH_UNIFORM,
  SALTUS_PATCH_HERTZ
} saltus_patch;

/* A user-defined curve: mu(s) for s > 0, at most the mu of sticking for s -> 0; slope [s/m] is its derivative. Owned
 * by the caller; has to outlive all objects that use it. */
typedef struct saltus_own_curve {
  const char* name;
  double (*coefficient)(const void* self, double speed, double* slope);
  const void* self;
  SALTUS_RESERVED(4);
} saltus_own_curve;

typedef struct saltus_friction_law {
  double across;     /* coefficient along the second tangent; 0: mu */
  double sliding[2]; /* nu; 0: those of sticking (associated rule); equal: opposite to the slip */
  saltus_friction_curve curve;
  double kinetic;
  double speed;    /* m/s, of Stribeck's curve */
  double exponent; /* 0: 1 */
  const saltus_own_curve* own;
  double viscous;  /* N s/m */
  double rolling;  /* m */
  double drilling; /* m */
  saltus_patch patch;
  double radius;   /* m, of the patch */
  bool ellipsoid;  /* |F|^2 + (M / M_0)^2 <= (mu N)^2 instead of the coupled law of the patch */
  bool rebinds;    /* touching restores the bond */
  double adhesion; /* N, largest tensile force of the bond */
  double shear;    /* N, shear strength in addition to mu P_N; 0: mu adhesion; negative: none */
  SALTUS_RESERVED(6);
} saltus_friction_law;

/* Dry friction of a velocity U = G^T v + b other than contact slip, as in a joint:
 * |P| <= h (force + arm |R|) against U, R the first `reaction_rows` forces of a joint. */
typedef struct saltus_dry_friction {
  const char* name;  /* for messages and recordings; NULL is allowed */
  double force;      /* N or N m, >= 0 */
  double arm;        /* coefficient times radius [m], or coefficient; >= 0 */
  int joint;         /* whose reaction `arm` multiplies; not used if arm is 0 */
  int reaction_rows; /* 0: all of the joint */
  SALTUS_RESERVED(4);
} saltus_dry_friction;

/* Description of a component of friction laws. */
typedef struct saltus_friction_info {
  const char* name; /* "elliptic", "stribeck" */
  const char* summary;
  const char* source;
} saltus_friction_info;

/* NULL past the end. */
SALTUS_API const saltus_friction_info* saltus_friction_law_at(int i);

/* How a contact slides. */
typedef struct saltus_sliding {
  double normal;  /* N */
  int tangents;   /* 1 or 2 */
  double slip[2]; /* m/s */
  double spin;    /* rad/s, about the normal */
} saltus_sliding;

/* Force of a contact that slides: dry and viscous parts, F [N] along the tangents, M [N m] about the normal. At rest both
 * are 0. */
SALTUS_API void saltus_friction_slide(const saltus_friction_law* law, double mu,
                                      const saltus_sliding* at, double F[2], double* M);

/* Coefficient over that of sticking at speed s > 0, 1 for NULL; slope [s/m] may be NULL. mu: of sticking. */
SALTUS_API double saltus_friction_ratio(const saltus_friction_law* law, double mu, double s,
                                        double* slope);

/* Force mu N f(d) and moment mu N a m(d) of a circular patch of radius a that slips with v and spins with w, d = v / (a w)
 * (Contensou, Zhuravlev). Accurate to 2e-12. d may be infinite. */
SALTUS_API void saltus_patch_load(saltus_patch patch, double d, double* f, double* m);
/* m(0): the moment of pure spin over mu N a: 2/3, or 3 pi / 16. */
SALTUS_API double saltus_patch_spin(saltus_patch patch);
/* Gauge of a force F and a moment M about the normal over mu N and mu N a: at most 1 if the patch can sustain them. */
SALTUS_API double saltus_patch_gauge(saltus_patch patch, double F, double M);

SALTUS_END_DECLS

#endif
