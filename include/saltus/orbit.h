/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * orbit.h - periodic orbits through impacts and friction: Newton's method on the return map with exact derivatives, and its
 * multipliers (docs/theory/sensitivity.md, 7).
 */
#ifndef SALTUS_ORBIT_H
#define SALTUS_ORBIT_H

#include "saltus/sensitivity.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_orbit_def {
  const saltus_system* system; /* without joints, q' = v */
  double t0;                   /* s */
  const double* q0;            /* initial guess of a periodic state */
  const double* v0;
  /* The return: after this time, or right after the count-th event of a kind and contact. */
  double period;       /* s; 0: by section */
  int section_kind;    /* saltus_event_kind; SALTUS_EVENT_RISE: a function of the observables */
  int section_contact; /* or the number of the function; -1: any */
  int section_count;   /* 0: 1 */
  double longest;      /* s, no section after this time is an error; 0: 100 */
  /* [nq] coordinates with a constant increment per period, on which the motion does not depend otherwise;
   * NULL: none */
  const bool* drifts;
  double tol;      /* of runs, rtol = atol; 0: 1e-11 */
  double accuracy; /* of the orbit, relative to the largest position and velocity; 0: 1e-9 */
  int iterations;  /* most; 0: 30 */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator;
  const saltus_observables*
      observables; /* source of section functions, none of which may switch; NULL: none */
  SALTUS_RESERVED(3);
} saltus_orbit_def;

SALTUS_API saltus_orbit_def saltus_orbit_def_default(void);

typedef struct saltus_orbit_view {
  const double *q, *v; /* state of the orbit at the section */
  double period;       /* s */
  const double* drift; /* [nq] increments of drifting coordinates per period; 0 for the others */
  /* [size x size] derivative of the return map, over positions that do not drift, then velocities */
  const double* map;
  const double *re, *im; /* [size] multipliers, largest first */
  int size;
  /* All multipliers are inside the unit circle; for autonomous systems except one that is 0 */
  bool stable;
  double residual; /* of the return, relative */
  int iterations;
  long long impacts; /* in a period */
  double closest;    /* m/s, slowest approach of an impact; small near grazing */
  saltus_derivative derivative;
  SALTUS_RESERVED(2);
} saltus_orbit_view;

typedef struct saltus_orbit saltus_orbit;

/* SALTUS_ERR_BOUND if Newton's method does not converge from the guess, SALTUS_ERR_UNSUPPORTED for systems with joints
 * and other unsupported features; the log has the reason, and *out is NULL. */
SALTUS_API saltus_status saltus_orbit_create(const saltus_orbit_def* def, saltus_orbit** out);
SALTUS_API void saltus_orbit_destroy(saltus_orbit* orbit);
SALTUS_API const saltus_orbit_view* saltus_orbit_get_view(const saltus_orbit* orbit);

SALTUS_END_DECLS

#endif
