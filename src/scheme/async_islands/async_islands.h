/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * async_islands.h - asynchronous islands: each takes its own steps.
 *
 * Every island has a scheme over its view of the system, and keeps its next steps ahead of the common time. A common
 * step ends at the earliest end of the kept steps; the other islands are evaluated there by dense output. So an event
 * of one island ends no step of another, and the motion of each is bitwise identical to that of the island alone.
 *
 * The carried (and saved) memory holds the state of every island before its kept steps, with their number and the
 * requested end of each: steps that are not in storage are recomputed from it.
 *
 *   started, end, t | q, v | rest | for each island: steps before, events passed, steps, t, their ends | q, v | memory
 */
#ifndef SALTUSI_ASYNC_ISLANDS_H
#define SALTUSI_ASYNC_ISLANDS_H

#include "scheme/async_islands/island_view.h"
#include "scheme/scheme_ops.h"

/* Largest number of steps that an island keeps: fewer steps mean more common times, more steps more memory. */
enum { SALTUSI_CLOCK_KEPT = 4 };

/* A step of an island. */
typedef struct saltusi_async_island_step {
  double t0, t1; /* s */
  double end;    /* s, requested end of the step */
  double* q;     /* [nv] at its start, like the next two */
  double* v;     /* [nv] */
  double* memory;
  double* joints;  /* [nj] N s, non-impulsive impulses of joints */
  double* impacts; /* [nj] N s, impulses of joints at impacts */
  double* dense;
  saltus_contact_step* contacts; /* [nc] */
  saltus_event* events;
  size_t event_room;
  saltus_step_report report; /* its pointers refer to the arrays above */
} saltusi_async_island_step;

typedef struct saltusi_async_island {
  saltus_scheme* scheme;
  const saltusi_island_view* view;
  saltus_state front; /* after the steps that are kept */
  saltus_state next;
  double* shown;       /* [2 nv] */
  bool valid;          /* the kept steps follow from the memory */
  long long number;    /* steps before those that are kept */
  int first, count;    /* of the kept steps, in a ring buffer */
  size_t memory_at;    /* its offset in the common memory */
  size_t memory_count; /* doubles of its scheme */
  size_t dense_count;
  saltus_status failed; /* reason why there is no next step, */
  double failed_end;    /* s, up to here */
  saltusi_async_island_step step[SALTUSI_CLOCK_KEPT];
} saltusi_async_island;

typedef struct saltusi_async_islands {
  saltusi_pool pool; /* holds this struct too */
  saltus_allocator memory;
  saltusi_views views;
  int count;
  saltusi_async_island* clock; /* [count] */
  size_t memory_count, dense_count;
  bool rests;                   /* the views hold the rest positions of the others */
  int failed;                   /* the island that failed last; -1: none */
  saltus_contact_step* contact; /* [nc] of the current step */
  bool* acts;                   /* [nc] */
  double* lasting;              /* [2 nj] */
  double* by_island;            /* [3 nc + nj] */
  saltusi_event_list events;    /* capacity for the events of one step of an island */
  saltus_event* sorted;
  size_t sorted_room;
} saltusi_async_islands;

/* *out is NULL with SALTUS_OK if all islands step together. */
saltus_status saltusi_async_islands_create(const saltus_scheme_def* def,
                                           saltusi_async_islands** out);
void saltusi_async_islands_destroy(saltusi_async_islands* clocks);

saltus_status saltusi_async_islands_step(saltusi_async_islands* clocks, const saltusi_step* step);
/* Repeats the failed step of an island with messages and reports the cause. */
saltus_status saltusi_async_islands_explain(saltusi_async_islands* clocks, saltus_status status,
                                            saltus_log log);
/* Counts the steps of islands that ended in the step that left memory1; limited as in saltus_scheme. */
void saltusi_async_islands_count(const saltusi_async_islands* clocks, const double* memory1,
                                 saltus_tally* tally, long long* limited);
/* Checks that counters in memory from outside are in range, and that the scheme of each island
 * accepts its part. */
bool saltusi_async_islands_memory_valid(const saltusi_async_islands* clocks, const double* memory);
/* Discards the kept steps after an external change of memory or system. */
void saltusi_async_islands_forget(saltusi_async_islands* clocks);
void saltusi_async_islands_effort(saltusi_async_islands* clocks, saltusi_effort effort);
void saltusi_async_islands_poll(saltusi_async_islands* clocks, bool (*poll)(void* who), void* who);
saltus_status saltusi_async_islands_retune(saltusi_async_islands* clocks, const void* options,
                                           const double* atol_q, const double* atol_v);

/* Counterparts of the functions of a scheme. */
saltus_status saltusi_async_islands_dense(saltusi_async_islands* clocks,
                                          const saltusi_dense_query* query);
void saltusi_async_islands_dense_contact(saltusi_async_islands* clocks,
                                         const saltusi_dense_query* query, int key,
                                         saltus_contact_inside* contact);
void saltusi_async_islands_dense_joints(saltusi_async_islands* clocks,
                                        const saltusi_dense_query* query, double* force,
                                        double* lasting);
saltus_status saltusi_async_islands_forces(saltusi_async_islands* clocks, const saltusi_step* step,
                                           double* out);

/* Shared by the sources of this module. */
static inline saltusi_async_island_step* saltusi_async_island_at(saltusi_async_island* clock,
                                                                 int i) {
  return &clock->step[(clock->first + i) % SALTUSI_CLOCK_KEPT];
}
/* Tolerance in time: times that differ by rounding are equal. */
double saltusi_async_island_slack(double t);
/* The motion of the common step from t0 to t1 as doubles, and their number. */
size_t saltusi_async_islands_dense_workspace(const saltusi_async_islands* clocks, double t1);
void saltusi_async_islands_dense_write(saltusi_async_islands* clocks, double t0, double t1,
                                       double* data);
/* Impulses of non-impulsive forces from the start of a kept step to t; contact [3], rows of joints
 * [nj]. */
void saltusi_async_island_non_impulsive(saltusi_async_island* clock,
                                        saltusi_async_island_step* step, double t, int key,
                                        double* lasting);
void saltusi_async_island_joints(saltusi_async_island* clock, saltusi_async_island_step* step,
                                 double t, double* lasting);
/* Doubles of one step of an island in those of a common step: t0, t1, impulses of joints, its motion. */
static inline size_t saltusi_async_island_doubles(const saltusi_async_island* clock) {
  return 2 + (size_t)clock->view->system.dims.nj + clock->dense_count;
}
/* Forces [3 nc + nj] at a time of a kept step. */
void saltusi_async_island_forces(saltusi_async_island* clock, saltusi_async_island_step* step,
                                 double t, double* forces);

#endif
