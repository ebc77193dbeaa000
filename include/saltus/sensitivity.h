/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity.h - derivatives of a motion and its events by parameters and initial values: variational equations along
 * a run to a
 * tolerance, with saltation at every impact, slip, stick and opening (docs/theory/sensitivity.md).
 *
 *   saltus_direction d = {.dq0 = dq0, .dv0 = dv0};
 *   saltus_sensitivity_def def = saltus_sensitivity_def_default();
 *   def.system = &system; def.q0 = q0; def.v0 = v0; def.until = 2.0; def.directions = &d; def.direction_count = 1;
 *   saltus_sensitivity* s;
 *   saltus_status status = saltus_sensitivity_create(&def, &s);
 *   ... saltus_sensitivity_get_view(s)->dq, ->dv, ->events
 *   saltus_sensitivity_destroy(s);
 */
#ifndef SALTUS_SENSITIVITY_H
#define SALTUS_SENSITIVITY_H

#include "saltus/event.h"
#include "saltus/scene.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

/* Direction of a derivative: an initial state, a parameter, or both. */
typedef struct saltus_direction {
  const double* dq0; /* [nq] change of the start; NULL: none, or that of the systems below */
  const double* dv0; /* [nv] */
  /* The same system with the parameter at p - 2 step, p - step, p + step, p + 2 step, and where each starts; system[0] NULL: no
   * parameter. Derivatives with respect to p are differences of fourth order of forces, gaps and laws, never of motions. */
  const saltus_system* system[4];
  const double* q0[4];
  const double* v0[4];
  double step;
  const saltus_observables* observables[4]; /* outputs of those systems; NULL: none */
  SALTUS_RESERVED(2);
} saltus_direction;

typedef struct saltus_sensitivity_def {
  const saltus_system* system;
  double t0; /* s */
  const double* q0;
  const double* v0;
  double until; /* s */
  double tol;   /* of the run, rtol = atol; 0: 1e-11 */
  const saltus_direction* directions;
  int direction_count;
  /* Ends the run after the count-th event of this kind and contact: a return to a section. -1: runs to `until`. */
  int section_kind; /* saltus_event_kind; -1: none; SALTUS_EVENT_RISE: a function of the observables */
  int section_contact; /* or the number of the function; -1: any */
  int section_count;   /* 0: 1 */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator;
  /* Outputs are differentiated at the end, and events are located. Switching events change the inputs,
   * also in the systems of the directions; inputs are reset at the end. NULL: none. */
  const saltus_observables* observables;
  const uint64_t* changes; /* as in saltus_sim_def; needed where events switch; NULL: never */
  const double* times; /* [time_count] s, ascending: states and derivatives are recorded there */
  long long time_count;
} saltus_sensitivity_def;

SALTUS_API saltus_sensitivity_def saltus_sensitivity_def_default(void);

/* Existence of a derivative. */
typedef enum saltus_derivative {
  SALTUS_DERIVATIVE_EXISTS,
  SALTUS_DERIVATIVE_GRAZING,      /* an impact without approach: the derivative is unbounded */
  SALTUS_DERIVATIVE_SIMULTANEOUS, /* several impacts at one instant: the derivative depends on
                                     their order */
  SALTUS_DERIVATIVE_LIMIT /* through an accumulation: a limit, accurate to the size of the omitted impacts */
} saltus_derivative;

typedef struct saltus_sensitive_event {
  saltus_event
      event; /* contact: of a time-varying set its index among the contacts of the motion */
  /* [directions] s, derivative of its time; NaN: none for this event */
  const double* dt;
  saltus_derivative derivative;
} saltus_sensitive_event;

typedef struct saltus_sensitivity_view {
  double t;                 /* s, where it ended */
  const double *q, *v;      /* the final state; at a section, right after its event */
  const double *dq, *dv;    /* [directions x nq], [directions x nv] at this fixed time */
  const double *q_rate, *a; /* [nq], [nv] rates there */
  bool at_section;
  const double* section_dt; /* [directions] of the time of the section; NULL: not at one */
  const saltus_sensitive_event* events;
  long long event_count;
  saltus_derivative derivative; /* the worst case along the run */
  double derivative_t;          /* s, its first time; NaN: none */
  double closest;               /* m/s, slowest approach of an impact */
  const double* outputs;        /* [output_count] of the observables at the end; NULL: none */
  const double* doutputs;       /* [directions x output_count] */
  int output_count;
  const double* largest; /* [nq + nv] largest absolute coordinates and velocities, by samples */
  /* [(1 + directions) x output_count] over time, then their derivatives; NULL: none, or at a section */
  const double* integrals;
  /* [(2 + directions) x output_count] extremes: values, times, derivatives of the values; NULL: none, at a section, or more
   * than 64 steps without an event */
  const double *highest, *lowest;
  /* [time_count x (1 + directions) x (nq + nv)] states and derivatives at the times of the definition, before an event at
   * the same time; NaN: inside an accumulation of impacts, or after a section */
  const double* records;
  SALTUS_RESERVED(1);
} saltus_sensitivity_view;

typedef struct saltus_sensitivity saltus_sensitivity;

/* Whether a system has derivatives, before any run: SALTUS_ERR_UNSUPPORTED after a message for dry friction of joints
 * and friction laws beyond Coulomb's. */
SALTUS_API saltus_status saltus_sensitivity_check(const saltus_system* system, saltus_log log);

/* SALTUS_ERR_UNSUPPORTED for systems without derivatives and motions through points without them, SALTUS_ERR_ACCURACY if the
 * motion of the variational equations differs from that of the run; the log has the reason, and *out is NULL. */
SALTUS_API saltus_status saltus_sensitivity_create(const saltus_sensitivity_def* def,
                                                   saltus_sensitivity** out);
SALTUS_API void saltus_sensitivity_destroy(saltus_sensitivity* sensitivity);
SALTUS_API const saltus_sensitivity_view*
saltus_sensitivity_get_view(const saltus_sensitivity* sensitivity);

/* ---- of scenes ---- */

/* Directions of parameters and start values of a scene, by name: a parameter, or the start x or velocity x' of a
 * coordinate. */
typedef struct saltus_scene_directions saltus_scene_directions;

/* scene is that of the run and has to outlive the directions, which have its overrides. SALTUS_ERR_INPUT after a
 * message. */
SALTUS_API saltus_status saltus_scene_directions_create(const saltus_scene* scene,
                                                        const char* const* names, int count,
                                                        saltus_log log,
                                                        saltus_scene_directions** out);
SALTUS_API void saltus_scene_directions_destroy(saltus_scene_directions* directions);
/* [count] */
SALTUS_API const saltus_direction*
saltus_scene_directions_get_view(const saltus_scene_directions* directions);

SALTUS_END_DECLS

#endif
