/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize.h - parameters of a scene that minimise a measure of its motion under constraints on measures, and values at
 * which a condition begins to hold: the section `optimize` of a scene, docs/optimize.md.
 *
 *   const char* variables[] = {"k=100:1e4"};
 *   saltus_optimize_def def = saltus_optimize_def_default();
 *   def.path = "valve.yaml"; def.variables = variables; def.variable_count = 1; def.find = "count(open of follower) = 0";
 *   saltus_optimize* optimize;
 *   saltus_status status = saltus_optimize_create(&def, &optimize);
 *   status = status == SALTUS_OK ? saltus_optimize_execute(optimize) : status;
 *   ... saltus_optimize_get_view(optimize)->values
 *   saltus_optimize_destroy(optimize);
 */
#ifndef SALTUS_OPTIMIZE_H
#define SALTUS_OPTIMIZE_H

#include "saltus/sweep.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_optimize_def {
  const char* path; /* of the scene; read when text is NULL, names it in messages */
  const char* text;
  const saltus_override* overrides; /* of the scene, in all runs; of a variable: its first value */
  int override_count;
  const saltus_run_def* run;    /* as in saltus_sweep_def; NULL: from the scene */
  const char* const* variables; /* NAME=LOW:HIGH or NAME=LOW:HIGH log; count 0: of the scene */
  int variable_count;
  /* One of three: a measure, its mean over the samples "mean of MEASURE" or a quantile "quantile 0.95 of MEASURE"; find
   * is a condition "MEASURE <= NUMBER", also with >= and =. All NULL: of the scene. */
  const char* minimize;
  const char* maximize;
  const char* find;
  const char* const* constraints; /* [constraint_count] conditions */
  int constraint_count;
  const char* const* random; /* [random_count] axes NAME~..., as in saltus_sweep_def */
  int random_count;
  long long samples; /* of the random axes; 0: 1 */
  saltus_sampling sampling;
  uint64_t seed;      /* of samples and of global searches */
  const char* method; /* "auto" or NULL, "gradient", "local", "global" */
  double tolerance;   /* least change of the variables, in parts of their bounds; 0: 1e-6 */
  int evaluations;    /* most, of one search; 0: 1000 */
  double time_limit;  /* s of computing time, of one run; 0: none */
  int threads;        /* 0: 1. Results are bitwise the same for every number */
  const volatile int* cancel;
  void (*report)(void* user, int evaluation, double best); /* NULL: none. After every evaluation */
  void* user;
  saltus_log log;
  SALTUS_RESERVED(4);
} saltus_optimize_def;

SALTUS_API saltus_optimize_def saltus_optimize_def_default(void);

typedef struct saltus_optimize_view {
  int variables,
      functions; /* functions: the objective and the constraints, or the condition of find */
  const char* const* names;          /* [variables] */
  const double *values, *low, *high; /* [variables] the best values, and their bounds */
  const char* const* texts;          /* [functions] */
  const double* results;             /* [functions] measures at these values */
  const double* gradient;            /* [functions x variables] there; NULL: without derivatives */
  bool feasible;                     /* the constraints hold, or find has a bracket */
  bool converged;                    /* the search ended by its tolerance */
  const char* method;                /* algorithm; "" before the search */
  const char* note;                  /* why there are no derivatives; "": there are */
  /* of find: the last bracket and the measure at its ends; changes of the condition on a grid of 17 values */
  double bracket[2], bracket_results[2];
  int changes;
  int evaluations;
  long long runs;
  const double* history; /* [evaluations x (variables + functions)] */
  SALTUS_RESERVED(4);
} saltus_optimize_view;

typedef struct saltus_optimize saltus_optimize;

/* SALTUS_ERR_INPUT for an invalid scene, variable, measure or condition; the log has the reason, and *out is NULL. */
SALTUS_API saltus_status saltus_optimize_create(const saltus_optimize_def* def,
                                                saltus_optimize** out);
SALTUS_API void saltus_optimize_destroy(saltus_optimize* optimize); /* NULL: nothing */
SALTUS_API const saltus_optimize_view* saltus_optimize_get_view(const saltus_optimize* optimize);

/* Searches. A run that fails ends the search with its status, after a message with its values. SALTUS_ERR_STOPPED if
 * `cancel` was set, SALTUS_ERR_BOUND if no values satisfy the constraints or the condition does not change once between the
 * bounds, SALTUS_ERR_UNSUPPORTED in builds without NLopt, where find alone works. The view has the best values so far. */
SALTUS_API saltus_status saltus_optimize_execute(saltus_optimize* optimize);

SALTUS_END_DECLS

#endif
