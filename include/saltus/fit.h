/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.h - parameters of a scene from measured motions: the section `fit` of a scene, docs/fit.md.
 *
 *   saltus_fit_def def = {.path = "cube.yaml", .threads = 2};
 *   saltus_fit* fit;
 *   saltus_status status = saltus_fit_create(&def, &fit);
 *   status = status == SALTUS_OK ? saltus_fit_execute(fit) : status;
 *   ... saltus_fit_get_view(fit)->values
 *   saltus_fit_destroy(fit);
 */
#ifndef SALTUS_FIT_H
#define SALTUS_FIT_H

#include "saltus/scene.h"

SALTUS_BEGIN_DECLS

enum { SALTUS_FIT_REASON = 160 };

typedef struct saltus_fit_def {
  const char* path; /* of the scene; data files are beside it */
  const char* text; /* its text; NULL: read from path */
  const saltus_override*
      overrides; /* [override_count] also of unknown parameters: their first guess */
  int override_count;
  int threads;                /* 0: 1. Results are bitwise the same for every number */
  double time_limit;          /* s of computing time of one run; 0: 10 */
  const char* window;         /* ? that of the scene. FROM:FRAMES, "contact:10" or "start:all" */
  const char* where;          /* ? that of the scene. Condition for experiments */
  const char* data;           /* ? that of the scene. Path of the data file */
  const volatile int* cancel; /* ? never */
  void (*report)(void* user, int iteration, double cost); /* ? none. After every iteration */
  void* user;
  saltus_log log;
  SALTUS_RESERVED(4);
} saltus_fit_def;

/* Errors of one experiment: of the first entry of `measured`. Positions in percent of the width and rotations in degrees of
 * a pose; of other kinds the root mean square in units of the value, and rotations are 0. */
typedef struct saltus_fit_score {
  double id;
  double window_position, window_rotation; /* in the last frame of the window */
  double position, rotation;               /* mean over all frames */
  double loss;                             /* of the window */
  double cpu, window_cpu;         /* s of the whole run, and of one that ends with the window */
  bool face;                      /* the axis of the body that points up at the end is right */
  char reason[SALTUS_FIT_REASON]; /* why the run failed; "": it did not */
} saltus_fit_score;

typedef struct saltus_fit_summary {
  int experiments, failed;
  double window_position, window_rotation; /* means over experiments */
  double position, position_median, rotation, rotation_median;
  double face; /* part of the experiments */
  double window_cpu;
} saltus_fit_summary;

typedef struct saltus_fit_view {
  int parameters, experiments, nuisance; /* nuisance: start values of all experiments */
  long long frames;                      /* in the windows */
  const char* const* names;              /* [parameters] */
  const double *values, *low, *high;     /* [parameters] values and bounds */
  const double*
      covariance; /* [parameters^2] clustered by experiment; 0 at bounds; NaN: too few experiments */
  const double* correlation; /* [parameters^2] of the scaled normal matrix: identifiability */
  double factor;             /* half of the 95 % interval over the standard error */
  double cost;               /* sum of losses and priors */
  double condition;          /* of the normal matrix scaled to a unit diagonal */
  const double*
      weakest; /* [parameters] direction of its least eigenvalue, scaled by the standard deviations */
  int iterations, fallbacks; /* fallbacks: iterations by pattern search on the true loss */
  long long runs, failed_runs;
  bool converged;
  SALTUS_RESERVED(4);
} saltus_fit_view;

typedef struct saltus_fit saltus_fit;

/* Reads scene and data. SALTUS_ERR_INPUT after a message with its place, SALTUS_ERR_IO. */
SALTUS_API saltus_status saltus_fit_create(const saltus_fit_def* def, saltus_fit** out);
SALTUS_API void saltus_fit_destroy(saltus_fit* fit); /* NULL: nothing */
SALTUS_API const saltus_fit_view* saltus_fit_get_view(const saltus_fit* fit);

/* Estimates the parameters. SALTUS_ERR_STOPPED if `cancel` was set: the view has the best values so far. */
SALTUS_API saltus_status saltus_fit_execute(saltus_fit* fit);
/* Runs every experiment over all frames with the present values; scores [experiments] may be NULL. A run that fails counts
 * with its last state. */
SALTUS_API saltus_status saltus_fit_evaluate(saltus_fit* fit, saltus_fit_score* scores,
                                             saltus_fit_summary* summary);
/* Errors of experiments that were held out: each part of `folds` by values fitted to the others; scores [experiments] may
 * be NULL. Values of the fit are kept. */
SALTUS_API saltus_status saltus_fit_validate(saltus_fit* fit, int folds, unsigned seed,
                                             saltus_fit_score* scores, saltus_fit_summary* summary);
/* Values [samples x parameters] of fits to as many experiments, drawn with replacement in an order that the seed determines;
 * they begin at the present values, which are kept. */
SALTUS_API saltus_status saltus_fit_bootstrap(saltus_fit* fit, int samples, unsigned seed,
                                              double* values);
/* Least loss with a parameter at each of `count` values, above that of the fit: losses [count]. The 95 % interval has losses
 * up to the threshold; NaN: the parameter is not identified. Values of the fit are kept. */
SALTUS_API saltus_status saltus_fit_profile(saltus_fit* fit, int parameter, const double* at,
                                            int count, double* losses, double* threshold);
/* Residuals of all windows with the present values, by experiment, frame and entry of `measured`, and their derivatives by
 * the parameters, [residuals x parameters] by central differences; the pointers may be NULL. Returns their number through
 * count. */
SALTUS_API saltus_status saltus_fit_residuals(saltus_fit* fit, const double* values,
                                              double* residuals, double* derivatives,
                                              long long* count);

SALTUS_END_DECLS

#endif
