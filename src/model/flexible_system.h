/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_system.h - flexible bodies over a system with a mechanism in space.
 *
 * The mechanism has a body for the floating frame of each flexible body and, behind all others, a body without mass for each
 * frame of it (saltus_body_def.carried). Their poses stay in q, as functions of the floating frame and of the modal
 * coordinates eta, which come first; v has no velocities of them:
 *
 *   q = eta, q_inner       v = eta', v_inner without carried bodies       v_inner = T(q) v
 */
#ifndef SALTUSI_FLEXIBLE_SYSTEM_H
#define SALTUSI_FLEXIBLE_SYSTEM_H

#include "base/pool.h"
#include "saltus/flexible.h"
#include "saltus/mechanism.h"
#include "saltus/observe.h"

/* Velocities that a system with flexible bodies may have: callbacks without scratch expand them on the stack. */
enum { SALTUSI_FLEXIBLE_MOST = 2048 };

typedef struct saltusi_flexible_part {
  const saltus_flexible* data;
  int body;    /* of the mechanism: the floating frame */
  int carried; /* first of its frames; the others follow */
} saltusi_flexible_part;

typedef struct saltusi_flexible_system saltusi_flexible_system;

/* The inner system is that of the mechanism, without coordinates by formula. Everything is in the pool. */
saltus_status saltusi_flexible_system_create(const saltus_system* inner,
                                             const saltus_mechanism* mechanism,
                                             const saltusi_flexible_part* parts, int count,
                                             saltusi_pool* pool, saltusi_flexible_system** out);
const saltus_system* saltusi_flexible_system_view(const saltusi_flexible_system* system);
/* The same with modes that have 1e10 times the inertia: a projection of positions in its metric does not bend bodies. */
const saltus_system* saltusi_flexible_system_rigid(const saltusi_flexible_system* system);
/* q0 and v0 of the inner system with carried bodies in place and modes at rest. */
void saltusi_flexible_system_start(const saltusi_flexible_system* system, const double* q_inner,
                                   const double* v_inner, double* q, double* v);
/* Observables of the inner system, over this one; angular momenta of modes are added, and NAME.strain_energy. */
const saltus_observables* saltusi_flexible_observables(saltusi_flexible_system* system,
                                                       const saltus_observables* inner);
/* Velocities of the inner system. */
void saltusi_flexible_expand(const saltusi_flexible_system* system, const double* q,
                             const double* v, double* v_inner);

#endif
