/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_groups.h - contacts without common bodies packed in groups, number by number: a visit of a group is
 * that of a single contact with vectors in place of numbers (base/lanes.h). See body_groups.c and rigid_kernel.h.
 */
#ifndef SALTUSI_BODY_GROUPS_H
#define SALTUSI_BODY_GROUPS_H

#include "base/lanes.h"
#include "solve/friction/friction_case.h"

#include <stdbool.h>

/* Momentum b = a / (a + slow) at age a, at most `most`, and the fraction of its age that a contact keeps when its
 * change reverses. Measured on settling piles of 125 and 1000 spheres and 1000 boxes: with slow 3 instead of 6 some
 * problems cycle at 1e-3, keeping 0, 0.3 or 0.85 takes 3 to 20 % more iterations; one common age for all contacts,
 * whose momentum is cheap, takes twice as many. */
#define SALTUSI_MOMENTUM_SLOW 6.0
#define SALTUSI_MOMENTUM_MOST 0.998
#define SALTUSI_MOMENTUM_KEEP 0.5

/* y and x of contact i after an iteration; false when r does not change. */
static inline bool saltusi_momentum(const saltusi_group_points* p, int i, double* change) {
  double* r = p->r + 3 * (size_t)i;
  double* x = p->x + 3 * (size_t)i;
  double* y = p->before + 3 * (size_t)i;
  const double way[3] = {r[0] - x[0], r[1] - x[1], r[2] - x[2]};
  const double against = (y[0] - r[0]) * way[0] + (y[1] - r[1]) * way[1] + (y[2] - r[2]) * way[2];
  const double age = against > 0.0 ? SALTUSI_MOMENTUM_KEEP * p->age[i] : p->age[i] + 1.0;
  const double part = age / (age + SALTUSI_MOMENTUM_SLOW);
  const double b = part < SALTUSI_MOMENTUM_MOST ? part : SALTUSI_MOMENTUM_MOST;
  p->age[i] = age;
  for (int k = 0; k < 3; k++) {
    change[k] = b * way[k];
    x[k] = r[k];
    y[k] = r[k] += change[k];
  }
  return change[0] != 0.0 || change[1] != 0.0 || change[2] != 0.0;
}

/* Packs contacts into groups of `lanes` lanes, 8 at most, without common bodies: bodies->lane, pair and groups;
 * false if there would be more groups than `most` times the contacts, or a contact has no body. */
bool saltusi_groups_form(saltusi_bodies* bodies, int lanes, double most);

/* Gauss-Seidel over packed contacts of one kind. */
typedef struct saltusi_body_kernel {
  double cost; /* multiply-adds of a visit, see body_gauss_seidel.c */
  bool single; /* in single precision */
  bool (*pack)(const saltusi_friction_case* in); /* false if contacts are not of this kind */
  /* Starts from the impulses r with their velocities in bodies->v, without momentum. */
  void (*start)(const saltusi_friction_case* in, const double* r);
  /* Sets r with relative velocities u as the reference of changes; NULL: there is none. */
  void (*rebase)(const saltusi_friction_case* in, const double* r, const double* u);
  /* One iteration over all contacts; returns the sum of |W_ii (change of r_i)|^2. */
  double (*iterate)(const saltusi_friction_case* in);
  void (*extrapolate)(const saltusi_friction_case* in); /* impulses become y, with velocities */
  void (*forget)(const saltusi_friction_case* in);      /* drops all momentum */
  /* Impulses into r, which holds the reference of changes; slip multipliers into in->slip. */
  void (*fetch)(const saltusi_friction_case* in, double* r);
} saltusi_body_kernel;

extern const saltusi_body_kernel saltusi_body_kernel_float; /* rigid bodies, single precision */
extern const saltusi_body_kernel saltusi_body_kernel_rigid; /* rigid bodies */

/* Whether A^-1 and rows of all contacts are those of rigid bodies. */
bool saltusi_rigid_serves(const saltusi_bodies* bodies);

/* Sets r as the reference of changes, with its velocities in bodies->v and relative velocities u; returns the
 * normalised residual. */
double saltusi_kernel_reset(const saltusi_body_kernel* kernel, const saltusi_friction_case* in,
                            const double* r, double* u);

#endif
