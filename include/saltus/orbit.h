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
  const double* q0;            /* guess: a state that comes back near itself */
  const double* v0;
  /* The return: after this time, or right after the count-th event of a kind and contact. */
  double period;       /* s; 0: by section */
  int section_kind;    /* saltus_event_kind; SALTUS_EVENT_RISE: a function of the observables */
  int section_contact; /* or the number of the function; -1: any */
  int section_count;   /* 0: 1 */
  double longest;      /* s, no section after this time is an error; 0: 100 */
  const bool*
      drifts; /* [nq] coordinates that move on by the same in every period and matter in no other way; NULL: none */
  double tol; /* of runs, rtol = atol; 0: 1e-11 */
  double accuracy; /* of the orbit, relative to the largest position and velocity; 0: 1e-9 */
  int iterations;  /* most; 0: 30 */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator;
  const saltus_observables* observables; /* ? none. Whose functions sections are; none may switch */
  SALTUS_RESERVED(3);
} saltus_orbit_def;

SALTUS_API saltus_orbit_def saltus_orbit_def_default(void);

typedef struct saltus_orbit_view {
  const double *q, *v; /* where it starts and comes back to */
  double period;       /* s */
  const double* drift; /* [nq] increments of drifting coordinates per period; 0 for the others */
  const double*
      map; /* [size x size] derivative of the return map, over positions that do not drift, then velocities */
  const double *re, *im; /* [size] multipliers, largest first */
  int size;
  bool
      stable; /* all of them lie inside the unit circle; of an orbit that is not forced but for one that is 0 */
  double residual; /* of the return, relative */
  int iterations;
  long long impacts; /* in a period */
  double closest;    /* m/s, slowest approach of an impact: grazing is near where it is small */
  saltus_derivative derivative;
  SALTUS_RESERVED(2);
} saltus_orbit_view;

typedef struct saltus_orbit saltus_orbit;

/* SALTUS_ERR_BOUND when Newton's method finds no orbit near the guess, SALTUS_ERR_UNSUPPORTED for joints and the like; the
 * log has the reason, and *out is NULL. */
SALTUS_API saltus_status saltus_orbit_create(const saltus_orbit_def* def, saltus_orbit** out);
SALTUS_API void saltus_orbit_destroy(saltus_orbit* orbit);
SALTUS_API const saltus_orbit_view* saltus_orbit_look(const saltus_orbit* orbit);

SALTUS_END_DECLS

#endif
