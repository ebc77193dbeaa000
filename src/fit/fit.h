/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.h - data of a fit: unknowns, measured values, experiments.
 */
#ifndef SALTUSI_FIT_H
#define SALTUSI_FIT_H

#include "base/pool.h"
#include "saltus/fit.h"
#include "scene/reader.h"
#include "thread_pool/thread_pool.h"

enum {
  SALTUSI_FIT_UNKNOWNS = 32,
  SALTUSI_FIT_MEASURED = 16,
  SALTUSI_FIT_STARTS = 8,
  SALTUSI_FIT_FREE = 24, /* nuisance values of one experiment */
  SALTUSI_FIT_COLUMNS = 64,
  SALTUSI_FIT_STATE = 13 /* columns of the start of a body in space */
};

typedef enum saltusi_fit_kind {
  SALTUSI_FIT_SCALAR, /* one column for each formula */
  SALTUSI_FIT_ANGLE,  /* difference modulo 2 pi */
  SALTUSI_FIT_POSE    /* position and quaternion of a body */
} saltusi_fit_kind;

typedef enum saltusi_fit_loss {
  SALTUSI_LOSS_SQUARES,
  SALTUSI_LOSS_HUBER,
  SALTUSI_LOSS_SOFT_L1,
  SALTUSI_LOSS_CAUCHY
} saltusi_fit_loss;

/* A parameter that is estimated. */
typedef struct saltusi_fit_unknown {
  const char* name;
  double first, low, high; /* first guess and bounds */
  double step;             /* of differences */
  double scale;            /* size of changes */
  double mean, deviation;  /* of a normal prior; deviation 0: none */
} saltusi_fit_unknown;

typedef struct saltusi_fit_measured {
  saltusi_fit_kind kind;
  const char* value; /* body, or formula of an output */
  int q;             /* first coordinate of the body; else the output */
  int columns[7];
  int size;          /* components of the residual */
  double scale;      /* residual of loss 1 */
  double arm, width; /* m, of a pose */
} saltusi_fit_measured;

/* Start of a body or coordinate. */
typedef struct saltusi_fit_start {
  int q, v, positions, velocities; /* in the state */
  int columns[SALTUSI_FIT_STATE];  /* of the index; -1: of the scene */
  bool free;                       /* estimated for every experiment */
} saltusi_fit_start;

typedef struct saltusi_fit_experiment {
  double id;
  long long first;    /* row of its first frame */
  int count;          /* frames */
  int from, to;       /* window: first and last frame */
  long long row;      /* of the index */
  long long residual; /* first of its residuals */
  int weight;         /* of its loss; 0: held out */
} saltusi_fit_experiment;

/* A table of numbers with named columns, row by row. */
typedef struct saltusi_fit_table {
  long long rows;
  int columns;
  const char* names[SALTUSI_FIT_COLUMNS];
  double* values;
} saltusi_fit_table;

struct saltus_fit {
  saltusi_pool pool; /* owns everything but the scene, this struct too */
  saltus_fit_def def;
  saltus_scene* scene; /* template of all runs */
  saltusi_fit_table frames, index;
  double* time; /* [frames.rows] s from the first frame of the experiment */
  saltusi_fit_experiment* experiment;
  int experiments;
  saltusi_fit_unknown unknown[SALTUSI_FIT_UNKNOWNS];
  int unknowns;
  saltusi_fit_measured measured[SALTUSI_FIT_MEASURED];
  int measured_count;
  int per_frame; /* residuals of a frame */
  saltus_scene_output* outputs;
  int output_count, output_first; /* of the measured formulas among the outputs */
  saltusi_fit_start start[SALTUSI_FIT_STARTS];
  int starts;
  int freedoms; /* nuisance values of an experiment */
  saltusi_fit_loss loss;
  int most;         /* iterations */
  double tolerance; /* of changes, in scales */
  int nq, nv;
  double* nuisance; /* [experiments x freedoms] */
  long long residuals;
  double values[SALTUSI_FIT_UNKNOWNS];
  saltusi_thread_pool* team;
  saltus_fit_view view;
  double low[SALTUSI_FIT_UNKNOWNS], high[SALTUSI_FIT_UNKNOWNS];
  double covariance[SALTUSI_FIT_UNKNOWNS * SALTUSI_FIT_UNKNOWNS];
  double curvature[SALTUSI_FIT_UNKNOWNS]; /* half the second derivative of the profile */
  double correlation[SALTUSI_FIT_UNKNOWNS * SALTUSI_FIT_UNKNOWNS];
  double weakest[SALTUSI_FIT_UNKNOWNS];
  const char* names[SALTUSI_FIT_UNKNOWNS];
};

/* section.c: unknowns, measured values, starts and settings from the scene, then experiments from the data. */
saltus_status saltusi_fit_read(saltus_fit* fit);

/* table.c: a dataset of HDF5, PATH and the dataset in it, or CSV files by a pattern. All of them append to the table;
 * first row of each file in starts. */
saltus_status saltusi_fit_table_h5(const char* path, const char* dataset, saltusi_pool* pool,
                                   saltus_log log, saltusi_fit_table* out);
saltus_status saltusi_fit_table_csv(const char* pattern, saltusi_pool* pool, saltus_log log,
                                    saltusi_fit_table* out, long long** starts, int* files);
int saltusi_fit_column(const saltusi_fit_table* table, const char* name); /* -1: none */

/* ---- simulate.c ---- */

/* One set of values: parameters, and a change of one nuisance value of all experiments. */
typedef struct saltusi_fit_variant {
  double values[SALTUSI_FIT_UNKNOWNS];
  int free; /* -1: none */
  double change;
} saltusi_fit_variant;

/* Results of runs, by variant and experiment. NULL: not requested. */
typedef struct saltusi_fit_results {
  double* residuals;        /* [variants x fit.residuals] */
  bool* failed;             /* [variants x experiments] */
  saltus_fit_score* scores; /* [experiments] of whole runs; residuals are not requested then */
} saltusi_fit_results;

/* SALTUS_ERR_STOPPED if it was cancelled. Experiments that are held out are not run. With scores only
 * those are run, or all if none is held out. */
saltus_status saltusi_fit_run(saltus_fit* fit, const saltusi_fit_variant* variants, int count,
                              const saltusi_fit_results* results);

/* rho(z), and its derivative through slope, which may be NULL. */
double saltusi_fit_rho(saltusi_fit_loss loss, double z, double* slope);
/* Sum of losses of an experiment. */
double saltusi_fit_cost(const saltus_fit* fit, const double* residuals, int experiment);

/* ---- minimise.c ---- */

/* From the present values; errors: with the covariance. */
saltus_status saltusi_fit_minimise(saltus_fit* fit, bool errors);

/* ---- fit.c ---- */

/* A copy of all values that a search changes; its arrays are in the pool. */
typedef struct saltusi_fit_kept {
  saltus_fit_view view;
  double values[SALTUSI_FIT_UNKNOWNS];
  double* nuisance;
} saltusi_fit_kept;

saltus_status saltusi_fit_keep(const saltus_fit* fit, saltusi_pool* pool, saltusi_fit_kept* out);
/* The values, as before each of many searches. */
void saltusi_fit_reset(saltus_fit* fit, const saltusi_fit_kept* kept);
/* Values and view; all experiments count once. */
void saltusi_fit_restore(saltus_fit* fit, const saltusi_fit_kept* kept);

/* Next of a sequence of whole numbers below `below` (xorshift, Marsaglia 2003). */
int saltusi_fit_draw(uint64_t* state, int below);

#endif
