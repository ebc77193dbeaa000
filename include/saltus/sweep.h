/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.h - parameter sweeps of a scene: ranges, lists and random values of parameters and initial values, with
 * measures of every run in place of its recording. docs/sweep.md is the reference.
 *
 *   const char* axes[] = {"e=0.1:0.9:81", "h0~normal(1, 0.01)"};
 *   const char* measures[] = {"t=time(accumulation of floor)", "max(q)"};
 *   saltus_sweep_def def = saltus_sweep_def_default();
 *   def.path = "ball.yaml"; def.axes = axes; def.axis_count = 2; def.samples = 100; ...
 *   saltus_sweep* sweep;
 *   saltus_status status = saltus_sweep_create(&def, &sweep);
 *   ... saltus_sweep_compute(sweep, runs, count, &rows);
 *   saltus_sweep_destroy(sweep);
 *
 * Run i does not depend on the number of threads, the order or the machine (with equal arithmetic): its values are a
 * function of the definition, the seed and i.
 */
#ifndef SALTUS_SWEEP_H
#define SALTUS_SWEEP_H

#include "saltus/run.h"

SALTUS_BEGIN_DECLS

/* Sampling of random axes. */
typedef enum saltus_sampling {
  SALTUS_SAMPLING_RANDOM, /* independent */
  SALTUS_SAMPLING_LATIN, /* one sample in each of as many strata of every axis as there are samples */
  SALTUS_SAMPLING_SOBOL /* Sobol's sequence, shifted by the seed */
} saltus_sampling;

enum { SALTUS_SWEEP_SOBOL_AXES = 21, SALTUS_SWEEP_REASON = 160 };

typedef struct saltus_sweep_def {
  const char* path; /* of the scene; read when text is NULL, names it in messages */
  const char* text;
  const saltus_override* overrides; /* of the scene, in all runs */
  int override_count;
  /* scheme, options, control, step, tolerances, until; the rest is ignored. NULL: from the scene */
  const saltus_run_def* run;
  /* NAME=A:B:N, NAME=A:B:N log, NAME=A,B,C form a grid, whose first axis changes fastest; NAME~uniform(A, B),
   * NAME~loguniform(A, B), NAME~normal(MEAN, DEVIATION), NAME~lognormal(MEDIAN, DEVIATION of the logarithm) are drawn
   * `samples` times, the same for every point of the grid. NAME is a parameter, or the start x or velocity x' of a
   * coordinate. */
  const char* const* axes;
  int axis_count;
  long long samples; /* 0: 1 */
  saltus_sampling sampling;
  uint64_t seed;
  const char* const* measures; /* [NAME=]FORMULA, see docs/sweep.md */
  int measure_count;
  double time_limit; /* s of computing time, of one run; 0: none */
  int threads;       /* 0: 1 */
  const volatile int* cancel;
  saltus_log log;
  const saltus_allocator* allocator;
  /* "interpreter" or NULL; "c", "opencl", "cuda": members are compiled, SALTUS_ERR_UNSUPPORTED where that is not possible;
   * "auto": compiled where possible, with a note where not. "c:1", "c:4", "c:8": lanes. All lanes and devices give the
   * same bits, which differ from those of the interpreter by rounding. "c-fast", "opencl-fast", "cuda-fast" contract
   * products and sums: bits depend on the processor, and a sample is compared. */
  const char* backend;
  const char* compiler; /* of C, for "c" and "auto"; NULL: cc */
  const char* cache;    /* folder that keeps compiled kernels; NULL: none */
  const char* devices;  /* numbers of devices of "opencl" and "cuda", "0,2"; NULL: all */
  int process,
      processes; /* several processes: number of this one, which takes one device; 0 of 0: alone */
  SALTUS_RESERVED(1);
} saltus_sweep_def;

SALTUS_API saltus_sweep_def saltus_sweep_def_default(void);

typedef struct saltus_sweep_view {
  long long runs;
  long long grid, samples; /* runs = grid x samples; run = sample x grid + point of the grid */
  int axes, measures;
  const char* const* columns; /* [axes + measures] names */
  const int* counts;          /* [axes] points of a range or a list; 0: drawn */
  const bool* logarithmic;    /* [axes] steps of a range are factors */
  uint64_t fingerprint;       /* of all data that results depend on, except the program */
  long long returned; /* members of a compiled sweep that the interpreter computed, so far */
  bool compiled;
  long long
      compared; /* compiled members compared so far: with a tolerance with adaptive, of "-fast" with the interpreter */
  double difference;  /* largest difference of their measures */
  bool in_tolerances; /* of the difference; false: relative to max(1, |value|) */
} saltus_sweep_view;

typedef struct saltus_sweep saltus_sweep;

/* SALTUS_ERR_INPUT for an invalid scene, axis or measure, SALTUS_ERR_RANGE, SALTUS_ERR_UNSUPPORTED,
 * SALTUS_ERR_MEMORY; the log has the reason, and *out is NULL. */
SALTUS_API saltus_status saltus_sweep_create(const saltus_sweep_def* def, saltus_sweep** out);
SALTUS_API void saltus_sweep_destroy(saltus_sweep* sweep);
SALTUS_API const saltus_sweep_view* saltus_sweep_get_view(const saltus_sweep* sweep);

/* The values of the axes in a run, [axes]. */
SALTUS_API void saltus_sweep_point(const saltus_sweep* sweep, long long run, double* values);

/* Results, one row for each run; arrays belong to the caller. */
typedef struct saltus_sweep_rows {
  double* values; /* [count x (axes + measures)]; measures of a run that failed are NaN */
  int* statuses;  /* [count] saltus_status */
  char (*reasons)[SALTUS_SWEEP_REASON]; /* [count] why it failed; "": it did not */
  bool* done;                           /* [count] false: it was stopped before its end */
} saltus_sweep_rows;

/* Computes the given runs, in any order. A failed run is marked in its row and does not end the sweep.
 * SALTUS_ERR_STOPPED if the flag `cancel` was set: rows that are not done have to be computed again.
 * SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_sweep_compute(saltus_sweep* sweep, const long long* runs, int count,
                                              const saltus_sweep_rows* rows);

/* ---- tables: rows in a file that stays valid after an interruption ----
 *
 * Every row has a fixed position and a check sum. So rows can be written in any order, a killed program leaves
 * complete rows and invalid ones, and tables of parts of a sweep are merged by copying. */

typedef struct saltus_sweep_table saltus_sweep_table;

typedef struct saltus_sweep_head {
  long long runs, grid;
  int axes, measures;
  const char* const* columns;
  const int* counts;       /* [axes] */
  const bool* logarithmic; /* [axes] */
  uint64_t fingerprint;
  const char* about; /* description of the sweep, lines of text */
} saltus_sweep_head;

/* Creates a table; `about` is stored with it. The file must not exist. SALTUS_ERR_IO. */
SALTUS_API saltus_status saltus_sweep_table_create(const char* path, const saltus_sweep_view* view,
                                                   const char* about, saltus_log log,
                                                   saltus_sweep_table** out);
/* SALTUS_ERR_INPUT for other and damaged files. */
SALTUS_API saltus_status saltus_sweep_table_open(const char* path, bool writing, saltus_log log,
                                                 saltus_sweep_table** out);
SALTUS_API const saltus_sweep_head* saltus_sweep_table_head(const saltus_sweep_table* table);
/* First run that is not in the file, independent of the number of runs in the head. */
SALTUS_API long long saltus_sweep_table_held(const saltus_sweep_table* table);
/* SALTUS_ERR_IO if buffered data could not be written to disk. NULL: nothing to do. */
SALTUS_API saltus_status saltus_sweep_table_close(saltus_sweep_table* table);
/* Writes one row from index i of `rows`. SALTUS_ERR_IO, for instance for a full disk: earlier rows are kept. */
SALTUS_API saltus_status saltus_sweep_table_write(saltus_sweep_table* table, long long run,
                                                  const saltus_sweep_rows* rows, int i);
/* count rows from `first` on; rows.done marks the computed ones. */
SALTUS_API saltus_status saltus_sweep_table_read(saltus_sweep_table* table, long long first,
                                                 int count, const saltus_sweep_rows* rows);

SALTUS_END_DECLS

#endif
