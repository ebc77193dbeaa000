/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * displacement.h - displacements (logarithm map) and sizes of positions, in m and rad for any coordinates q: by
 * velocity, docs/notation.md.
 */
#ifndef SALTUSI_DISPLACEMENT_H
#define SALTUSI_DISPLACEMENT_H

#include "saltus/memory.h"
#include "system/evaluate.h"

typedef struct saltusi_displacement_map {
  bool maps;      /* q' = N(q) v; the members below are used with maps only */
  bool own_known; /* own is filled */
  int* own;       /* [nv] the coordinate that is the integral of this velocity; -1: none */
  int* named;     /* [nq] workspace of the search */
  double* beside; /* [nq] perturbed positions */
  double* rate;   /* [nq] */
  double* apart;  /* [nv] */
  double* slope;  /* [nv] */
} saltusi_displacement_map;

void saltusi_displacement_layout(saltusi_displacement_map* w, const saltus_system* sys,
                                 saltus_arena* arena);

/* Finds `own`, once. */
void saltusi_displacement_find_own(saltusi_displacement_map* w, const saltus_system* sys,
                                   const double* q);

/* Whether the position along velocity i is a part of an attitude, which has no size of its own. */
static inline bool saltusi_displacement_turns(const saltusi_displacement_map* w, int i) {
  return w->maps && w->own[i] < 0;
}

/* Size of the position along velocity i: of its coordinate, or 1 rad. */
static inline double saltusi_displacement_size(const saltusi_displacement_map* w, const double* q,
                                               int i) {
  return !w->maps ? fabs(q[i]) : w->own[i] >= 0 ? fabs(q[w->own[i]]) : 1.0;
}

/* Its tolerance: atol + rtol |q|. A rotation by rtol rad moves points by that fraction of their distance: for an
 * attitude it is the larger of atol and rtol rad. */
static inline double saltusi_displacement_tolerance(const saltusi_displacement_map* w, double size,
                                                    int i, double atol, double rtol) {
  return saltusi_displacement_turns(w, i) ? fmax(atol, rtol) : atol + rtol * size;
}

/* Converts a small change x of q [nq] to a displacement [nv], in place. */
void saltusi_displacement_of_change(const saltusi_displacement_map* w, const saltus_system* sys,
                                    const double* q, double* x);

/* y = E p, for momenta p [nv] over a step from q0 to q1 along constant velocity: with the displacement d = log(q0^-1 q1) of a
 * group and ad its bracket
 *
 *   E = 1/2 [T(d)^-1 + T(-d)^-1]^T = (x / 2) coth (x / 2),   x = ad_d^T,   T^-1 the derivative of the displacement by its end
 *
 * the even part of the trivialised derivative of a discrete Lagrangian; its odd part ad_d^T p / 2 is among the forces F
 * of the equations of motion. E is the unit matrix where q' = v. For rotations in space by the angle a it scales components
 * normal to the axis by (a / 2) cot(a / 2). By `turn_momentum`, else by differences of fourth order of displacement and
 * advance, by blocks of the structure, which maps do not mix. y must not be p. */
typedef struct saltusi_displacement {
  const double* q0; /* [nq] */
  const double* q1; /* [nq] */
  const double* d;  /* [nv] */
} saltusi_displacement;
void saltusi_displacement_momentum(saltusi_displacement_map* w, const saltus_system* sys,
                                   const saltusi_displacement* way, const double* p, double* y);
/* The same, always by differences; `own` is given. */
void saltusi_displacement_momentum_by_differences(const saltusi_displacement_map* w,
                                                  const saltus_system* sys,
                                                  const saltusi_displacement* way, const double* p,
                                                  double* y);

#endif
