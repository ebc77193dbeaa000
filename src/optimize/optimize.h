/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize.h - data of an optimisation: variables, functions, evaluations.
 *
 * Variables are scaled to u in [0, 1]: x = low + u (high - low), or low (high/low)^u.
 */
#ifndef SALTUSI_OPTIMIZE_H
#define SALTUSI_OPTIMIZE_H

#include "base/pool.h"
#include "saltus/optimize.h"

enum { SALTUSI_OPTIMIZE_MOST = 32 }; /* variables, functions and random axes, each */

typedef enum saltusi_relation {
  SALTUSI_OBJECTIVE,
  SALTUSI_AT_MOST,
  SALTUSI_AT_LEAST,
  SALTUSI_EQUAL
} saltusi_relation;

typedef struct saltusi_optimize_function {
  const char* text;
  const char* measure; /* with a name of its own, for the sweep */
  saltusi_relation relation;
  double limit; /* of a condition */
  double part;  /* of a quantile over the samples; NaN: their mean */
  double slack; /* violation that counts as none */
} saltusi_optimize_function;

typedef struct saltusi_optimize_variable {
  const char* name;
  double first, low, high;
  bool log;
} saltusi_optimize_variable;

struct saltus_optimize {
  saltusi_pool pool; /* owns everything but sweep and history, this struct too */
  saltus_optimize_def def;
  saltusi_optimize_variable variable[SALTUSI_OPTIMIZE_MOST];
  int variables;
  saltusi_optimize_function function[SALTUSI_OPTIMIZE_MOST];
  int functions;
  const char* random[SALTUSI_OPTIMIZE_MOST];
  int random_count;
  bool find;
  double sign; /* of the objective that is minimised */
  saltus_sweep* sweep;
  saltus_status failure; /* of a run */
  double best_violation;
  double* history;
  size_t history_room;
  saltus_optimize_view view;
  const char *names[SALTUSI_OPTIMIZE_MOST], *texts[SALTUSI_OPTIMIZE_MOST];
  double values[SALTUSI_OPTIMIZE_MOST], low[SALTUSI_OPTIMIZE_MOST], high[SALTUSI_OPTIMIZE_MOST];
  double results[SALTUSI_OPTIMIZE_MOST];
  double gradient[SALTUSI_OPTIMIZE_MOST * SALTUSI_OPTIMIZE_MOST];
  char note[320];
};

/* section.c: variables, functions, random axes and limits of the definition and of the scene. */
saltus_status saltusi_optimize_read(saltus_optimize* optimize, const saltus_scene* scene);

/* ---- evaluate.c ---- */

/* Measures at `count` points u [count x variables]: out [count x functions]. A failed run or a measure that is not a number
 * is reported with its values; its status is returned. */
saltus_status saltusi_optimize_evaluate(saltus_optimize* optimize, const double* u, int count,
                                        double* out);
/* Derivatives of all functions with respect to u, [functions x variables]. SALTUS_ERR_UNSUPPORTED where they do not exist or
 * are not available, with the reason in the note. */
saltus_status saltusi_optimize_differentiate(saltus_optimize* optimize, const double* u,
                                             double* out);
/* Largest violation of the conditions over their slack; at most 1: they hold. */
double saltusi_optimize_violation(const saltus_optimize* optimize, const double* results);
double saltusi_optimize_scaled(const saltusi_optimize_variable* variable, double x);
double saltusi_optimize_value(const saltusi_optimize_variable* variable, double u);

/* search.c: the methods. */
saltus_status saltusi_optimize_search(saltus_optimize* optimize);
saltus_status saltusi_optimize_bisect(saltus_optimize* optimize);

#endif
