/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compare.h - comparison of two recordings of one scene: distance of their motions, and matching of their events.
 *
 *   saltus_compare_def def = saltus_compare_def_default();
 *   def.a = a, def.b = b;                               of saltus_recording_read
 *   saltus_comparison* c;
 *   saltus_status status = saltus_compare(&def, &c);
 *   ... c->positions.value, c->velocity_graph.value, c->pairs[0].dt
 *   saltus_comparison_destroy(c);
 *
 * Positions are compared at the instants of both recordings, or only at common instants if there are many. Between
 * frames they are cubics through positions and their rates, with kinks at impacts. Velocities jump, at slightly
 * different times: they
 * are compared by the Hausdorff distance of their graphs in the metric max(|dt|, |dv|), for each coordinate
 * separately. docs/compare.md.
 */
#ifndef SALTUS_COMPARE_H
#define SALTUS_COMPARE_H

#include "saltus/memory.h"
#include "saltus/recording.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

/* A largest difference and its location. */
typedef struct saltus_difference {
  double value; /* NaN: nothing was compared */
  double t;     /* s; NaN if it has no instant, as for graphs */
  int column;   /* coordinate or velocity */
} saltus_difference;

/* Matched events of both recordings, or an event of one recording. */
typedef struct saltus_event_pair {
  long long a, b;  /* indices in their tables; -1: no such event */
  double dt;       /* s, b minus a; NaN without a match, like all that follows */
  double u_before; /* m/s, likewise */
  double u_after;  /* m/s */
  double impulse;  /* N s, length of the difference */
  double energy;   /* J */
} saltus_event_pair;

typedef struct saltus_comparison {
  double start, end;                /* s, time that both cover */
  long long instants;               /* at which positions were compared */
  bool interpolated;                /* one of them had no frame there, at least once */
  saltus_difference positions;      /* in units of the coordinate */
  saltus_difference position_graph; /* Hausdorff */
  saltus_difference velocity_graph;
  int nq, nv;
  const double* position;        /* [nq] largest difference of each */
  const double* position_at;     /* [nq] s, where */
  const double* position_mean;   /* [nq] over time */
  const double* position_graphs; /* [nq] Hausdorff */
  const double* velocity_graphs; /* [nv] */
  const double* instant;    /* [instants] s, and the largest difference of all positions there: */
  const double* difference; /* [instants] */
  long long pair_count;
  const saltus_event_pair* pairs; /* by time */
  long long matched, only_a, only_b;
  /* The largest of each number over the matched ones; a and b of that in time */
  saltus_event_pair worst;
} saltus_comparison;

typedef struct saltus_compare_def {
  const saltus_recording_data* a;
  const saltus_recording_data* b;
  /* Relation of positions and velocities; NULL: q' = v if nq = nv, else straight lines */
  const saltus_system* system;
  /* s, largest distance of matched events of one contact; 0: a hundredth of the time */
  double match;
  bool any; /* also recordings of different scenes whose coordinates have the same names */
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  SALTUS_RESERVED(6);
} saltus_compare_def;

SALTUS_API saltus_compare_def saltus_compare_def_default(void);

/* SALTUS_ERR_INPUT with a message for recordings of different scenes (values of --set may differ), of other sizes or
 * names, without states, or that have no time in common; SALTUS_ERR_RANGE, SALTUS_ERR_MEMORY. *out is NULL then. */
SALTUS_API saltus_status saltus_compare(const saltus_compare_def* def, saltus_comparison** out);
SALTUS_API void saltus_comparison_destroy(saltus_comparison* comparison);

SALTUS_END_DECLS

#endif
