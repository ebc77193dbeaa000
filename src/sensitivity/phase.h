/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * phase.h - the smooth motion between two events, with given contact modes, and its event
 * transitions: equations that are differentiable as long as the modes do not change
 * (docs/theory/sensitivity.md, 2).
 */
#ifndef SALTUSI_SENSITIVITY_PHASE_H
#define SALTUSI_SENSITIVITY_PHASE_H

#include "base/pool.h"
#include "saltus/law.h"
#include "saltus/sensitivity.h"

enum { SALTUSI_PHASE_CONTACTS = 256 };

/* The contacts of a motion: all of a fixed set, those that touch of a time-varying one. */
typedef struct saltusi_phase_contacts {
  int count;
  uint64_t* identity; /* [count] */
  int* law;           /* [count] index in the laws of the system */
} saltusi_phase_contacts;

/* A contact that is closed. */
typedef struct saltusi_phase_contact {
  int contact; /* index in saltusi_phase_contacts */
  bool sticks;
  double sign; /* of slip in the plane */
} saltusi_phase_contact;

typedef struct saltusi_phase {
  saltusi_phase_contact* held; /* [nc] */
  int count;
} saltusi_phase;

static inline bool saltusi_phase_holds(const saltusi_phase* mode, int contact) {
  for (int i = 0; i < mode->count; i++) {
    if (mode->held[i].contact == contact) {
      return true;
    }
  }
  return false;
}

/* Workspace for the equations of a system and of its variations. */
typedef struct saltusi_phase_workspace {
  saltusi_phase_contacts contacts;
  int nq, nv, nj, nc, rows; /* nc: contacts.count; rows: of joints and all contacts */
  void* scratch;
  saltus_failure failure;
  double *M, *L;      /* [nv x nv] and Cholesky's factor */
  double *F, *b, *c;  /* [nv], [rows], [rows] */
  double* B;          /* [nv x nq] of q' = B v */
  double *G, *D, *MD; /* [rows x nv] */
  double *A, *x;      /* [rows x rows], [2 rows] */
  int *row_of, *order, *row_order, *column;
  double *u, *W, *P;             /* [rows], [2 rows x rows], [rows] of an impact */
  saltus_impact_contact* struck; /* [nc] */
  saltus_impact_solver* solver;
  double* after; /* [rows] */
} saltusi_phase_workspace;

bool saltusi_phase_workspace_make(saltusi_phase_workspace* room, const saltus_system* system,
                                  const saltusi_phase_contacts* contacts, saltusi_pool* pool);
void saltusi_phase_workspace_free(saltusi_phase_workspace* room);

/* Law of a contact of a motion. */
static inline const saltus_contact_law*
saltusi_phase_law(const saltusi_phase_workspace* room, const saltus_system* system, int contact) {
  return &system->laws[room->contacts.law[contact]];
}

/* A time and a state. */
typedef struct saltusi_phase_point {
  double t;
  const double *q, *v;
} saltusi_phase_point;

/* Accelerations [nv] and, unless NULL, forces [3 nc] of contacts; false: the equations have no solution. */
bool saltusi_phase_accelerate(saltusi_phase_workspace* room, const saltus_system* system,
                              saltusi_phase_point at, const saltusi_phase* mode, double* a,
                              double* force);

/* Projects velocities [nv] onto the constraints of the mode by impulses of its contacts. */
bool saltusi_phase_settle(saltusi_phase_workspace* room, const saltus_system* system,
                          saltusi_phase_point at, const saltusi_phase* mode, double* v);

/* Displacement y [nv] by impulses of the mode that changes the gaps of its contacts by -gap [mode->count]. */
bool saltusi_phase_close(saltusi_phase_workspace* room, const saltus_system* system,
                         saltusi_phase_point at, const saltusi_phase* mode, const double* gap,
                         double* y);

/* Velocities [nv] after the impact of the contacts of `set` [count], triggered by contact
 * `first`; its U_N- in *approach. U_N- of the others that are closed before it is 0: differences leave their
 * constraint in second order, and laws do not include contacts that separate. */
typedef struct saltusi_phase_impulse {
  const int* set;
  int count;
  int first;
  const saltusi_phase* closed;
  const double* u; /* of the contacts, before the impact; NULL: those of the velocities */
  bool redundant;  /* linearly dependent contacts: impulses of vanishing compliance */
} saltusi_phase_impulse;

bool saltusi_phase_impact(saltusi_phase_workspace* room, const saltus_system* system,
                          saltusi_phase_point at, const saltusi_phase_impulse* impulse, double* v,
                          double* approach);

/* Velocities y [nv] along which positions change by s [nq]; false: none. */
bool saltusi_phase_tangent(saltusi_phase_workspace* room, const saltus_system* system,
                           const double* q, const double* s, double* y);

/* Relative velocity U [1 + tangents] of a contact, and its normal acceleration for a [nv], or NULL. */
void saltusi_phase_velocity(saltusi_phase_workspace* room, const saltus_system* system,
                            saltusi_phase_point at, int contact, const double* a, double U[3],
                            double* normal);
double saltusi_phase_gap(saltusi_phase_workspace* room, const saltus_system* system,
                         saltusi_phase_point at, int contact);

#endif
