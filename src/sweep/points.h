/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * points.h - the axes of a sweep: parsing, and the values of a run.
 */
#ifndef SALTUSI_SWEEP_POINTS_H
#define SALTUSI_SWEEP_POINTS_H

#include "base/pool.h"
#include "saltus/sweep.h"

typedef enum saltusi_sweep_axis_kind {
  SALTUSI_AXIS_RANGE,
  SALTUSI_AXIS_LIST,
  SALTUSI_AXIS_UNIFORM,
  SALTUSI_AXIS_LOGUNIFORM,
  SALTUSI_AXIS_NORMAL,
  SALTUSI_AXIS_LOGNORMAL
} saltusi_sweep_axis_kind;

typedef struct saltusi_sweep_axis {
  const char* name;
  saltusi_sweep_axis_kind kind;
  double a, b;
  const double* values; /* [count] of a list */
  int count;            /* of a range or a list; 0: random */
  bool log;             /* of a range */
} saltusi_sweep_axis;

typedef struct saltusi_sweep_points {
  const saltusi_sweep_axis* axes;
  int count;
  long long grid, samples;
  saltus_sampling sampling;
  uint64_t seed;
  const double* given; /* [grid x given_count] values of the first axes; NULL: their own */
  int given_count;
} saltusi_sweep_points;

/* SALTUS_ERR_INPUT with a message that names the axis. */
saltus_status saltusi_axis_parse(const char* text, saltusi_pool* pool, saltus_log log,
                                 saltusi_sweep_axis* axis);

/* Reads a constant formula; false, without a message, for other text. */
bool saltusi_sweep_number(const char* text, size_t length, double* value);

void saltusi_points_at(const saltusi_sweep_points* points, long long run, double* values);

#endif
