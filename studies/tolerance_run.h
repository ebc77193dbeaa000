/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tolerance_run.h - the problems of tolerance-driven integration (docs/theory/problems.md), runs
 * that keep the whole motion, and the distance between two motions; for studies, benchmarks and
 * tests.
 */
#ifndef TOLERANCE_RUN_H
#define TOLERANCE_RUN_H

#include "adaptive/adaptive.h"
#include "saltus/saltus.h"

enum { TOLERANCE_ROWS = 10, TOLERANCE_OVERRIDES = 4, TOLERANCE_WIDTH = 16 };

/* What the methods print for one tolerance; errors over the tolerance. */
typedef struct tolerance_row {
  int steps, rejections, rates, decisions, events;
  double q_end, q_max, v_graph;
} tolerance_row;

/* A problem of the appendix: a built-in reference problem or a scene. */
typedef struct tolerance_case {
  const char* name;    /* as in the appendix */
  const char* problem; /* of saltus_known_motion_create; NULL: a scene */
  const char* scene;   /* name in scenes/ */
  const char* text;    /* or a scene written out; NULL: none */
  saltus_override overrides[TOLERANCE_OVERRIDES];
  int override_count;
  const double* q0;                  /* another start; NULL: that of the problem */
  const double* unit_q;              /* [nq] tolerance of each coordinate over tol; NULL: all 1 */
  const double* unit_v;              /* [nv] */
  double t_end;                      /* s */
  bool events_exact;                 /* the number of events does not depend on the tolerance */
  tolerance_row row[TOLERANCE_ROWS]; /* tol 1e-3 ... 1e-12; zero: none printed */
} tolerance_case;

const tolerance_case* tolerance_case_at(int i); /* NULL past the end */
const tolerance_case* tolerance_case_find(const char* name);

/* A model that is open. */
typedef struct tolerance_model {
  saltus_scene* scene;
  saltus_known_motion* problem;
  const saltus_system* system;
  const double* q0;
  const double* v0;
} tolerance_model;

saltus_status tolerance_open(const tolerance_case* what, saltus_log log, tolerance_model* model);
void tolerance_close(tolerance_model* model);

/* One run that keeps its motion. Zero but for `in` before it starts; tolerance_free after it. */
typedef struct tolerance_run {
  /* in: */
  const saltus_system* system;
  const double* q0;
  const double* v0;
  double t_end;                       /* s */
  saltusi_adaptive_settings settings; /* tolerances and switches */
  bool in_units;                      /* with these for each coordinate: */
  double atol_q[TOLERANCE_WIDTH], atol_v[TOLERANCE_WIDTH];
  long long steps_max; /* gives up with SALTUS_RETRY_SMALLER; 0: never */
  saltus_log log;

  /* out: */
  saltusi_adaptive_counts counts;
  saltus_event* events;
  int event_count, event_capacity;
  double* q;      /* [nq] at the end */
  double* v;      /* [nv] */
  double t;       /* s, where it ended */
  double deepest; /* m, most negative gap after a step; 0: none */
  double* begins; /* [segment_count] s */
  double* dense;  /* [segment_count x stride] */
  int segment_count, segment_capacity;
  size_t stride;
} tolerance_run;

saltus_status tolerance_go(tolerance_run* run);
void tolerance_free(tolerance_run* run);

/* A case with atol = rtol = tol in its units. The model stays open as long as the run. */
tolerance_run tolerance_of(const tolerance_case* what, const tolerance_model* model, double tol,
                           saltusi_adaptive_method method);
/* The motion at t; at a jump just after it. */
void tolerance_at(const tolerance_run* run, double t, double* q, double* v);

/* Largest |q error| over time, and the distance of v from the graph of the reference, whose jumps are
 * filled in: the larger of the distances in t and in v, at 600 instants and on both sides of every
 * impact. */
void tolerance_compare(const tolerance_run* run, const tolerance_run* reference, double* q_max,
                       double* v_graph);

/* Events of one kind; the i-th of them, NULL past the end. */
int tolerance_count(const tolerance_run* run, saltus_event_kind kind);
const saltus_event* tolerance_event(const tolerance_run* run, saltus_event_kind kind, int i);

#endif
