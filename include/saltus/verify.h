/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * verify.h - certificate of a recorded run, by an independent recomputation.
 *
 *   saltus_verify_def def = saltus_verify_def_of(saltus_scene_get_view(scene), data);   data of saltus_recording_read
 *   saltus_certificate certificate;
 *   saltus_status status = saltus_verify(&def, &certificate);
 *   ... certificate.passed, certificate.items[SALTUS_VERIFY_MOMENTUM].value
 *
 * All items are recomputed from the positions, velocities, forces and impulses of the recording and from the
 * equations of the system, independently: no code of schemes, solvers or step control is used.
 * docs/theory/certificate.md defines the comparison and the limit of every item.
 */
#ifndef SALTUS_VERIFY_H
#define SALTUS_VERIFY_H

#include "saltus/memory.h"
#include "saltus/recording.h"
#include "saltus/scene.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_verify_item {
  SALTUS_VERIFY_TIME,        /* time runs forwards, and no step is missing */
  SALTUS_VERIFY_START,       /* the run starts at the start of the scene */
  SALTUS_VERIFY_VALUES,      /* gaps, normal velocities and energies belong to q and v */
  SALTUS_VERIFY_JOINTS,      /* joints are closed */
  SALTUS_VERIFY_JOINT_RATES, /* and do not open */
  SALTUS_VERIFY_PENETRATION, /* no gap is negative */
  SALTUS_VERIFY_APPROACH,    /* no closed contact approaches */
  SALTUS_VERIFY_OPEN,        /* contacts that are open do not push */
  SALTUS_VERIFY_PULL,        /* contacts do not pull */
  SALTUS_VERIFY_CONE,        /* friction is within its bound */
  SALTUS_VERIFY_SLIP, /* friction of a slipping contact is at its bound, opposite to the slip */
  SALTUS_VERIFY_POSITIONS,       /* positions follow from velocities */
  SALTUS_VERIFY_MOMENTUM,        /* velocities follow from forces */
  SALTUS_VERIFY_FORCES,          /* recorded contact forces are those of the motion */
  SALTUS_VERIFY_IMPACT_MOMENTUM, /* jumps of velocities follow from impulses */
  SALTUS_VERIFY_IMPACT_LAW,      /* impacts satisfy their law */
  SALTUS_VERIFY_IMPACT_ENERGY,   /* and create no energy that was not reported */
  SALTUS_VERIFY_EVENTS,     /* the impacts of the table of events are the jumps of the motion */
  SALTUS_VERIFY_LEDGER,     /* the energies of the ledger add up */
  SALTUS_VERIFY_PROVENANCE, /* the scene in the recording is the one that it was made with */
  SALTUS_VERIFY_CONTACTS, /* no gap is negative between frames, whether its contact is recorded or not */
  SALTUS_VERIFY_OUTPUTS, /* outputs are those of t, q and v */
  SALTUS_VERIFY_WORKS,   /* works of contacts and columns of the ledger are those of the motion */
  SALTUS_VERIFY_JOINT_FORCES, /* recorded joint forces are those of the motion */
  SALTUS_VERIFY_EVENT_VALUES, /* velocities and energies of impacts in the table of events */
  SALTUS_VERIFY_EVENT_KINDS,  /* events agree with the motion, and none is missing */
  SALTUS_VERIFY_CONTROL       /* error estimates and residuals are not below those of the frames */
} saltus_verify_item;

enum { SALTUS_VERIFY_ITEMS = SALTUS_VERIFY_CONTROL + 1 };

/* The largest tolerance of a recording that is accepted without a setting of the caller. */
#define SALTUS_VERIFY_LARGEST_TOLERANCE 1e-3

/* One item: number of checks, and the worst of them relative to its limit. */
typedef struct saltus_verify_result {
  const char* name; /* "impact momentum" */
  const char* unit; /* of value and limit */
  const char* doc;
  long long checked;
  long long skipped;  /* instances that cannot be evaluated */
  long long failures; /* checks beyond their limit */
  bool passed;        /* none is */
  double value, limit;
  double t;        /* s; NaN: no checks */
  long long frame; /* where that is */
  long long place; /* coordinate, joint row or event by item; -1: a contact, or none */
  bool has_contact;
  uint64_t identity; /* of the contact */
  int law;           /* of the contact */
  long long certain; /* failures that are independent of the motion between frames */
  SALTUS_RESERVED(1);
} saltus_verify_result;

typedef struct saltus_certificate {
  saltus_verify_result items[SALTUS_VERIFY_ITEMS];
  bool passed;            /* all items */
  bool complete;          /* momentum and positions were checked over the whole time */
  double span;            /* s, from the first to the last frame */
  double followed;        /* s of it over which the motion was recomputed */
  double balanced;        /* s of it over which only sums of forces and impulses were compared */
  const char* unfollowed; /* reason why the rest was not recomputed; "" if there is none */
  double clear;           /* s of it over which no missed contact of separated shapes is possible */
  double claimed[2];      /* rtol and atol claimed by the recording; 0: fixed steps */
  double granted[2];      /* rtol and atol used for the limits */
  long long exempt;       /* impacts whose law was not compared, with a reason that was verified */
  SALTUS_RESERVED(4);
} saltus_certificate;

typedef struct saltus_verify_def {
  const saltus_system* system;
  const saltus_recording_data* data;
  const double* q0;       /* [nq] start of the scene; NULL: not compared */
  const double* v0;       /* [nv] */
  double start;           /* s, of the scene */
  double start_tolerance; /* largest correction of the initial state */
  double rtol,
      atol; /* accepted tolerances of the run; 0: fixed steps, and limits follow from their length */
  const double* atol_q; /* [nv] as in saltus_scene_view; NULL: none */
  const double* atol_v; /* [nv] */
  /* Velocities are differences of positions: momentum is not compared step by step */
  bool by_differences;
  double cone_angle; /* rad, largest angle between friction of a pyramid and slip; 0: a cone */
  const saltus_switching* switching; /* of the scene: its events are fired again; NULL: none */
  saltus_log log;
  const saltus_allocator* allocator;     /* NULL: the C library */
  const saltus_observables* observables; /* of the scene: outputs and events; NULL: not compared */
  double claimed[2]; /* rtol and atol of the recording, only for the certificate */
  SALTUS_RESERVED(3);
} saltus_verify_def;

SALTUS_API saltus_verify_def saltus_verify_def_default(void);

/* Settings of a scene and the options of a recording; log and allocator are left to the caller.
 * Tolerances of the recording are accepted up to SALTUS_VERIFY_LARGEST_TOLERANCE; a caller that accepts larger ones
 * sets rtol and atol. */
SALTUS_API saltus_verify_def saltus_verify_def_of(const saltus_scene_view* scene,
                                                  const saltus_recording_data* data);

/* SALTUS_OK for every result of the certificate. SALTUS_ERR_INPUT when the recording is not one
 * of this system (sizes, names), has no states or lacks compared quantities; SALTUS_ERR_SYSTEM
 * when the system cannot be evaluated. */
SALTUS_API saltus_status saltus_verify(const saltus_verify_def* def, saltus_certificate* out);

/* Whether a recording has the ends of its steps, and their midpoints, as `saltus run --certify`
 * records them: without them the time between frames cannot be verified. A few lost frames are
 * tolerated. middles: of schemes that choose their steps and have dense output. */
SALTUS_API bool saltus_verify_has_steps(const saltus_recording_data* data, bool middles);
/* Withdraws the results for the time between frames of a recording without all steps: the motion
 * there is not determined by the frames. impacts: both sides of impacts are recorded in any
 * case, as schemes with dense output do. */
SALTUS_API void saltus_certificate_without_steps(saltus_certificate* certificate, bool impacts);

/* "rtol" or "atol" in the options of a recording, "rtol=1e-08 atol=1e-08 ..."; 0 if missing. */
SALTUS_API double saltus_verify_tolerance(const char* options, const char* name);

SALTUS_END_DECLS

#endif
