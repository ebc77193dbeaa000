/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_run.h - data of one solve, shared by all algorithms: memory, the best point so far, counted operations, and
 * the stages of solvers.
 *
 * Work is counted in multiply-adds and not measured in time, so that results are bitwise identical on every machine.
 */
#ifndef SALTUSI_FRICTION_RUN_H
#define SALTUSI_FRICTION_RUN_H

#include "solve/body_space/body_newton_compliant.h"
#include "solve/friction/accelerated_gauss_seidel.h"
#include "solve/friction/domains.h"
#include "solve/friction/proximal.h"

enum { SALTUSI_CANDIDATES = 2 };

typedef struct saltusi_friction_work {
  saltus_allocator memory;
  saltusi_friction_pattern pattern;
  saltusi_friction_case given; /* the problem being solved */
  saltusi_gauss_seidel_work sweep;
  saltusi_domains domains;          /* of many units */
  struct saltusi_thread_pool* team; /* threads of the domains; NULL: the caller alone */
  double* best;                     /* [rows] */
  double* point;                    /* [rows] where stages work */
  bool filled;                      /* the pattern is that of a problem */

  /* second-order methods: allocated at first use, or by setup */
  bool analysed;
  bool refused; /* the factors would be too large, or there was no memory */
  saltusi_block_lu lu;
  saltusi_newton_work newton;
  saltusi_interior_work interior;
  saltusi_proximal_work proximal;
  saltusi_iterate_candidate candidate[SALTUSI_CANDIDATES];
  saltusi_compliant_work soft; /* of compliant contacts, in second_memory */
  saltusi_buffer first_memory, second_memory;
} saltusi_friction_work;

/* Ordering and fill of the factors, for their cost; false if they are not available. */
bool saltusi_friction_analyse(saltusi_friction_work* work);
/* Memory of all factorizations for patterns up to these sizes with every block present; no allocation afterwards. */
void saltusi_friction_second_layout(saltusi_friction_work* work,
                                    const saltusi_friction_sizes* sizes, saltus_arena* arena);
/* Memory of all factorizations; false when it is not available. */
bool saltusi_friction_reserve(saltusi_friction_work* work);

typedef struct saltusi_friction_run {
  saltusi_friction_work* work;
  const void* options;
  double tol;
  double cost; /* multiply-adds spent */
  double cost_limit;
  double best;   /* residual of work->best */
  bool joints;   /* the problem has contacts in body space */
  bool standing; /* contacts are packed, with the impulses of work->best */
  bool known;    /* `residual` is complete, and velocities are in work->sweep.u */
  saltus_residual residual;
  saltus_solve_result* result;
  const char* stage; /* index of the last stage in result->stages */
  int stage_iterations;
  size_t stage_at; /* where its name starts */
} saltusi_friction_run;

/* Starts the thread pool of `work` for the following stages, if there are domains to share. */
void saltusi_run_open_thread_pool(saltusi_friction_run* run, int threads);
void saltusi_run_close_thread_pool(saltusi_friction_run* run);

/* Each stage runs on work->point, updates the best point, the cost and the list of stages; true if solved. */
bool saltusi_run_gauss_seidel(saltusi_friction_run* run,
                              const saltusi_gauss_seidel_settings* settings);
bool saltusi_run_interior(saltusi_friction_run* run, const saltusi_interior_settings* settings);
bool saltusi_run_newton(saltusi_friction_run* run, const saltusi_newton_settings* settings);
bool saltusi_run_proximal(saltusi_friction_run* run, int iterations, double start);

/* All solvers in body space, for cases with work->given.bodies, from work->best. */
bool saltusi_run_bodies(saltusi_friction_run* run);

/* The normalised residual of work->point, from packed contacts if iterations over them follow. */
double saltusi_run_residual(saltusi_friction_run* run);

/* The initial point, in work->point and work->best: the guess or zero, whichever has the smaller
 * residual; impulses from before an impact are a poor guess (docs/theory/contact-solvers.md, 2.5). False when
 * W is not finite. */
bool saltusi_run_start(saltusi_friction_run* run, const double* guess);
/* Continues from `candidate`; work->point becomes its point of smallest residual. */
bool saltusi_run_momentum(saltusi_friction_run* run, int sweeps,
                          saltusi_iterate_candidate* candidate);

/* A self-stress, W r = 0; false when there is none above rounding. */
bool saltusi_run_balanced(saltusi_friction_run* run, double* r);

/* Copies the best point to work->point. */
void saltusi_run_from_best(saltusi_friction_run* run);

/* Records a stage that ran on work->point. */
bool saltusi_run_note(saltusi_friction_run* run, const char* name, saltusi_stage stage);

/* The same for a stage that did not evaluate the residual of work->point; if the problem is solved, the residual is not
 * recomputed. */
bool saltusi_run_judge(saltusi_friction_run* run, const char* name, int iterations);

/* Predicted multiply-adds of one iteration. */
double saltusi_interior_cost(const saltusi_friction_work* work);
double saltusi_newton_cost(const saltusi_friction_work* work);

/* All states of one or two planar contacts; true when solved. */
bool saltusi_run_enumeration(saltusi_friction_run* run);

typedef struct saltusi_friction_ops {
  saltus_solver_info info;
  bool domains; /* iterations use domains; number of threads: */
  int (*threads)(const void* options);
  bool factorises; /* setup allocates the memory of second-order methods */
  void (*solve)(saltusi_friction_run* run);
} saltusi_friction_ops;

extern const saltusi_friction_ops saltusi_friction_auto;

#endif
