/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scheme_internal.h - internal state of the driver of a scheme, shared by its sources.
 */
#ifndef SALTUSI_SCHEME_INTERNAL_H
#define SALTUSI_SCHEME_INTERNAL_H

#include "operator/joints.h"
#include "scheme/async_islands/async_islands.h"
#include "scheme/impact_step.h"
#include "scheme/projection.h"
#include "scheme/scheme_ops.h"
#include "scheme/substitute.h"
#include "system/diagnose.h"

/* Dense output of one step; h is 0 when there is none. */
typedef struct dense_step {
  double t, h;  /* s */
  double* data; /* [dense_count] */
} dense_step;

enum { DENSE_STEPS = 3 };

/* Counters of a step, added when it is committed. A copy of the whole report would stall on the stores that have just
 * filled it. */
typedef struct tried_step {
  double h; /* s */
  const char* method;
  int rejections, limit_index;
  saltus_step_limit limit;
  int proven, sampled; /* searches for events */
  int dry_events;
  double t; /* s, start */
  saltus_captured_step captured;
} tried_step;

/* Start of a trial step, to repeat it after a failure. */
typedef struct tried_from {
  double t, h;
  const saltus_state* from; /* NULL: there was none */
  saltus_state* to;
} tried_from;

/* One block holds this struct, options and the workspace of the scheme, another one all arrays. */
struct saltus_scheme {
  const saltusi_scheme_ops* ops;
  saltus_allocator memory;
  size_t bytes;
  saltus_log log;
  saltusi_eval eval;
  void* options;
  void* work;
  void* spare;  /* the scheme's struct in the next layout */
  void* arrays; /* block */
  size_t array_bytes;
  saltusi_contact_keys keys; /* of a time-varying set */
  int* freed;                /* [nc] keys */
  bool* forgotten;           /* [nc] by key */
  double* marked;            /* memory at the last mark */
  saltusi_contact_table marked_table;
  size_t carried;                /* doubles of memory */
  double* memory0;               /* carried so far */
  double* memory1;               /* carried by the last trial step */
  saltus_state next;             /* trial state of a committed step */
  saltus_contact_step* contacts; /* [nc] */
  double* joint_impulses;        /* [nj] */
  double* joint_impacts;         /* [nj] */
  bool has_atol_q, has_atol_v;   /* tolerances per coordinate were given */
  double* atol_q;                /* [nv] */
  double* atol_v;                /* [nv] */
  saltus_tally tally;            /* points to the counts below */
  long long* limited;            /* [nq + nv + nc] */
  tried_step tried;              /* of the last trial step */
  tried_from tried_from;
  saltusi_step step; /* argument of the scheme; constant members are written by the layout */
  bool closed;       /* out of the step */
  saltusi_probe_record undefined; /* found by a repeated trial step */
  double* q_error;                /* [nq] */
  double* v_error;                /* [nv] */
  bool projects;                  /* positions are projected onto joints */
  saltusi_projection* projection; /* NULL: no projection */
  saltusi_projection*
      response; /* of joints to impacts, of schemes that do not locate events; NULL: not needed */
  saltusi_row_block contact_row; /* [3 rows] of one contact, for the response */
  saltusi_joints*
      joints; /* NULL: fewer than two rows. Distinguishes inconsistent from redundant joints */
  saltusi_contradiction disagreement;
  bool stops_at_gain;               /* an impact that creates energy ends the run */
  saltus_event gain;                /* event of the last trial step that was ended so */
  saltusi_event_list events;        /* of the last trial step; a separate block, which grows */
  saltusi_async_islands* clocks;    /* NULL: all islands step together */
  const saltus_contact_law* own;    /* laws of own steps */
  const saltus_contact_law* curves; /* those with curves where own steps have others; or NULL */
  saltusi_substitute sub;           /* steps with friction that own steps do not include */
  bool jumps;                       /* impacts are solved outside of the scheme */
  saltusi_impact_step* jump;        /* NULL: impacts are solved by the scheme */
  size_t dense_count;               /* doubles of dense output of a step */
  dense_step dense[DENSE_STEPS];    /* the last trial step, then committed steps, latest first */
};

/* registry.c */
const saltusi_scheme_ops* saltusi_registry_find(const char* name);
saltus_status saltusi_registry_refuse(const char* name, saltus_log log);

/* scheme.c: counts a step that a method took; NULL: the only one. */
void saltusi_tally_method(saltus_tally* tally, const char* method);
/* A step of event capturing from t; h = 0: none. */
void saltusi_tally_captured(saltus_tally* tally, double t, const saltus_captured_step* step);

/* create.c: new layout with the capacity that the last trial step lacked; carried data and dense
 * output are copied. */
saltus_status saltusi_scheme_grow(saltus_scheme* scheme);
/* Capacity for exactly so many contacts of a time-varying set, all keys free. */
saltus_status saltusi_scheme_fit(saltus_scheme* scheme, int contacts);
/* Capacity for so many events of a step; existing events are kept. SALTUS_ERR_MEMORY with a
 * message. */
saltus_status saltusi_scheme_grow_events(saltus_scheme* scheme, int wanted);

/* carried_state.c: releases keys that the committed step did not use, and clears their data. */
void saltusi_scheme_settle(saltus_scheme* scheme);

#endif
