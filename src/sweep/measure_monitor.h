/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure_monitor.h - the numbers of one run, while it goes.
 *
 * Formulas of the scene are looked at inside every step, between its impacts, where the scheme knows the motion there:
 * extremes are sought between samples, integrals are sums by Gauss. Of other schemes the ends of steps count. Forces are means
 * between steps, so extremes are those of such means, and their means exact; impulses, counts and times are those of events.
 * Formulas with forces of joints are evaluated inside steps by schemes that know forces there, with those means by the others.
 */
#ifndef SALTUSI_SWEEP_MEASURE_MONITOR_H
#define SALTUSI_SWEEP_MEASURE_MONITOR_H

#include "saltus/sim.h"
#include "sweep/measure.h"
#include "system/evaluate.h"

typedef struct saltusi_measure_monitor_sum {
  double value; /* of the item, as it builds up */
  double weight;
  long long count;
} saltusi_measure_monitor_sum;

typedef struct saltusi_measure_monitor {
  const saltusi_measures* measures;
  const saltus_scene_view* view;
  saltus_sim* sim;
  saltusi_measure_monitor_sum* sums; /* [item_count] */
  int* values;        /* [item_count] places among the outputs of the scene and the gaps */
  int value_count;    /* outputs of the scene and, where requested, gaps */
  int function_count; /* items that are functions of time */
  bool gaps, loads;   /* of contacts; forces of joints */
  bool integrates;
  double *q, *v;                          /* state inside a step */
  double *low, *middle, *high, *at, *end; /* [value_count] samples */
  double* forces;                         /* [nj] N of joints */
  saltusi_contact_list list;
  void* scratch; /* of outputs and of the system */
  double* cuts;  /* times of impacts in this step */
  size_t cut_count, cut_room;
  double begin, t; /* s, of the run and of the last step */
  bool begun;
  bool lost; /* no memory for the times of impacts */
  saltus_failure failure;
} saltusi_measure_monitor;

/* What recorders a run needs. */
typedef struct saltusi_measure_monitor_needs {
  bool steps, events, frames;
  bool every; /* frames of every step */
} saltusi_measure_monitor_needs;

saltusi_measure_monitor_needs saltusi_measure_monitor_wants(const saltusi_measures* measures);

/* Room from the pool; SALTUS_ERR_MEMORY. */
saltus_status saltusi_measure_monitor_start(saltusi_measure_monitor* watch,
                                            const saltusi_measures* measures,
                                            const saltus_scene_view* view, saltusi_pool* pool);
saltus_recorder saltusi_measure_monitor_recorder(saltusi_measure_monitor* watch);

/* The measures, [count]. SALTUS_ERR_RANGE after a message where a formula, a gap or a force is not a number. */
saltus_status saltusi_measure_monitor_end(saltusi_measure_monitor* watch, saltusi_pool* pool,
                                          saltus_log log, double* values);
void saltusi_measure_monitor_free(saltusi_measure_monitor* watch);

#endif
