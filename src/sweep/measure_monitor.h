/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * measure_monitor.h - computes the numbers of one run during the run.
 *
 * Formulas of the scene are evaluated inside of every step, between its impacts, if the scheme has dense output:
 * extremes are searched between samples, integrals use Gauss' rule. With other schemes the ends of steps are used.
 * Forces are means over steps: their extremes are those of the means, and their time averages are exact. Impulses,
 * counts and times are those of events. Formulas with forces of joints are evaluated inside of steps if the scheme
 * has forces there, and with the means otherwise.
 */
#ifndef SALTUSI_SWEEP_MEASURE_MONITOR_H
#define SALTUSI_SWEEP_MEASURE_MONITOR_H

#include "saltus/sim.h"
#include "sweep/measure.h"
#include "system/evaluate.h"

typedef struct saltusi_measure_monitor_sum {
  double value; /* of the item so far */
  double weight;
  long long count;
} saltusi_measure_monitor_sum;

typedef struct saltusi_measure_monitor {
  const saltusi_measures* measures;
  const saltus_scene_view* view;
  saltus_sim* sim;
  saltusi_measure_monitor_sum* sums; /* [item_count] */
  int* values;        /* [item_count] indices among the outputs of the scene and the gaps */
  int value_count;    /* outputs of the scene and, if requested, gaps */
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
  bool lost; /* out of memory for the times of impacts */
  saltus_failure failure;
} saltusi_measure_monitor;

/* Recorders that a run needs. */
typedef struct saltusi_measure_monitor_needs {
  bool steps, events, frames;
  bool every; /* frames of every step */
} saltusi_measure_monitor_needs;

saltusi_measure_monitor_needs saltusi_measure_monitor_wants(const saltusi_measures* measures);

/* Memory is from the pool; SALTUS_ERR_MEMORY. */
saltus_status saltusi_measure_monitor_start(saltusi_measure_monitor* watch,
                                            const saltusi_measures* measures,
                                            const saltus_scene_view* view, saltusi_pool* pool);
saltus_recorder saltusi_measure_monitor_recorder(saltusi_measure_monitor* watch);

/* The measures, [count]. SALTUS_ERR_RANGE with a message if a formula, a gap or a force is not a number. */
saltus_status saltusi_measure_monitor_end(saltusi_measure_monitor* watch, saltusi_pool* pool,
                                          saltus_log log, double* values);
void saltusi_measure_monitor_free(saltusi_measure_monitor* watch);

#endif
