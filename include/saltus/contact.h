/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contact.h - one-step contact problems as plain data, one residual for all of them, and solvers.
 *
 * Local friction problem. A unit is a contact (1 row frictionless, 2 planar, 3 spatial; normal
 * first) or a set of bilateral rows. Unknown impulses r [N s] and relative velocities u [m/s]:
 *
 *   u = W r + q
 *   contact     K* contains  u + mu |u_T| n,   K contains r,   orthogonal;   K = { |r_T| <= mu r_N }
 *   bilateral   u = 0
 *
 * Global form:  M v = f + H r,  u = H^T v + w.    Linear complementarity:  0 <= w = M z + q perp z >= 0,
 * with bilateral rows first in the mixed problem (w = 0, z free).
 *
 * A problem is a view: it owns nothing, so a model, a file or a foreign array can back it. The
 * residual is computed from r alone, independent of the solver.
 */
#ifndef SALTUS_CONTACT_H
#define SALTUS_CONTACT_H

#include "saltus/api.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/options.h"
#include "saltus/status.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* Compressed rows. */
typedef struct saltus_csr {
  int rows, columns;
  const int* start;     /* [rows + 1] */
  const int* column;    /* [start[rows]] ascending within a row */
  const double* values; /* [start[rows]] */
} saltus_csr;

/* Compressed rows of small dense blocks, square pattern of units. */
typedef struct saltus_block_matrix {
  int units;
  const int* offset;    /* [units + 1] first scalar row of each unit */
  const int* start;     /* [units + 1] first block of each block row */
  const int* unit;      /* [blocks] block column, ascending within a row */
  const int* place;     /* [blocks + 1] first value of each block; blocks are row major */
  const double* values; /* [place[blocks]] kg^-1 */
} saltus_block_matrix;

typedef struct saltus_friction_problem {
  saltus_block_matrix W;
  const double* q;                /* [offset[units]] m/s */
  const double* mu;               /* [units] >= 0; ignored for bilateral units and single rows */
  const unsigned char* bilateral; /* [units] 1: bilateral rows; NULL: none */
} saltus_friction_problem;

typedef struct saltus_global_friction_problem {
  int dimension;    /* rows of each contact: 2 or 3 */
  saltus_csr M;     /* n x n */
  saltus_csr H;     /* n x m */
  const double* f;  /* [n] N s */
  const double* w;  /* [m] m/s */
  const double* mu; /* [m / dimension] */
} saltus_global_friction_problem;

/* Dense when sparse.start is NULL. The first `bilateral` rows are equalities. */
typedef struct saltus_lcp {
  int n;
  int bilateral;
  const double* M;   /* [n x n] row major; NULL when sparse */
  saltus_csr sparse; /* start NULL when dense */
  const double* q;   /* [n] */
} saltus_lcp;

/* Residuals of a computed solution: F_i = r_i - P_K(r_i - rho_i uh_i), uh = u + mu |u_T| n, the
 * natural map; rho_i u_i for bilateral rows. rho_i = d / trace W_ii; if the trace is not positive, the largest of all
 * units is used. Without q (|q| = 0) `normalised` is in m/s. */
typedef struct saltus_residual {
  double normalised; /* sqrt(sum |F_i / rho_i|^2) / |q| */
  double velocity;   /* m/s, largest |F_i| / rho_i */
  double impulse;    /* N s, largest |F_i| */
} saltus_residual;

/* From r alone: u is recomputed into u [offset[units]]. */
SALTUS_API saltus_residual saltus_friction_residual(const saltus_friction_problem* problem,
                                                    const double* r, double* u);

/* normalised: |(equality rows, min(z, w))| / |q|. velocity and impulse: the largest
 * |min(z_i / rho_i, w_i)| and |min(z_i, rho_i w_i)| with rho_i = 1 / M_ii (1 where M_ii is not
 * positive). w [n] is recomputed from z. */
SALTUS_API saltus_residual saltus_lcp_residual(const saltus_lcp* problem, const double* z,
                                               double* w);

typedef enum saltus_solve_outcome {
  SALTUS_SOLVED,      /* the residual is at or below the tolerance */
  SALTUS_NO_SOLUTION, /* shown to have none */
  SALTUS_UNSOLVED     /* the best computed solution is returned with its residual */
} saltus_solve_outcome;

typedef struct saltus_solve_result {
  saltus_solve_outcome outcome;
  saltus_residual residual;
  int iterations;   /* of all stages */
  char stages[128]; /* stages in order: "gauss-seidel 60, interior-point 24, newton 1" */
  SALTUS_RESERVED(2);
} saltus_solve_result;

/* Solvers of friction problems, by name; "auto" is the portfolio. */
typedef struct saltus_solver_info {
  const char* name;
  const char* summary;
  const char* source;
  saltus_field_table options;
} saltus_solver_info;

/* Table of friction solvers: number, entry i (NULL past the end), entry of a name (NULL: none such). */
SALTUS_API int saltus_friction_solver_count(void);
SALTUS_API const saltus_solver_info* saltus_friction_solver_at(int i);
SALTUS_API const saltus_solver_info* saltus_friction_solver_find(const char* name);

/* "auto" */
typedef struct saltus_friction_auto_options {
  /* Largest number of operations in 1e9, counted and not timed; 0: by the size of the problem */
  double work;
  int threads; /* 1 to 64, with bitwise identical results; problems below 1000 units use one */
} saltus_friction_auto_options;

/* "gauss-seidel" */
typedef struct saltus_gauss_seidel_options {
  int iterations;
  int anderson; /* 1: accelerated */
} saltus_gauss_seidel_options;

/* "interior-point", finished by at most `polish` steps of "semismooth-newton" */
typedef struct saltus_interior_point_options {
  int iterations;
  double start; /* initial guess, in units of the typical impulse */
  int polish;
} saltus_interior_point_options;

/* "accelerated-gauss-seidel" */
typedef struct saltus_accelerated_gauss_seidel_options {
  int iterations;
  double preload; /* initial guess, in units of the typical impulse; 0: the given guess */
} saltus_accelerated_gauss_seidel_options;

/* "semismooth-newton", "proximal" */
typedef struct saltus_iteration_options {
  int iterations;
} saltus_iteration_options;

typedef struct saltus_friction_solver saltus_friction_solver;

typedef struct saltus_solver_def {
  const char* solver;  /* name; NULL: "auto" */
  const void* options; /* NULL: defaults */
  saltus_log log;
  const saltus_allocator* allocator;
  SALTUS_RESERVED(4);
} saltus_solver_def;

/* On failure *out is NULL and the log has the reason: SALTUS_ERR_NAME, SALTUS_ERR_RANGE, SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_friction_solver_create(const saltus_solver_def* def,
                                                       saltus_friction_solver** out);
SALTUS_API void saltus_friction_solver_destroy(saltus_friction_solver* solver);

/* Prepares a solver for problems with this pattern of W: memory, order and fill of factors. Later problems of the same
 * pattern allocate nothing. A problem of another pattern repeats the setup, with factors only if a stage needs them.
 * */
SALTUS_API saltus_status saltus_friction_solver_setup(saltus_friction_solver* solver,
                                                      const saltus_friction_problem* problem);

/* r holds the initial guess (zeros: none) and the solution; u is written. tol: normalised residual.
 * SALTUS_OK also without convergence; the result reports it. */
SALTUS_API saltus_status saltus_friction_solve(saltus_friction_solver* solver,
                                               const saltus_friction_problem* problem, double tol,
                                               double* r, double* u, saltus_solve_result* result);

/* The same for linear complementarity, mixed or not. */
SALTUS_API int saltus_lcp_solver_count(void);
SALTUS_API const saltus_solver_info* saltus_lcp_solver_at(int i);
SALTUS_API const saltus_solver_info* saltus_lcp_solver_find(const char* name);

typedef struct saltus_lemke_options {
  int pivots_per_row; /* largest number of pivots, relative to the number of rows */
} saltus_lemke_options;

typedef struct saltus_principal_pivoting_options {
  int stall_limit; /* exchanges of all violated rows without progress before single rows are exchanged */
  int iterations; /* factorisations at most */
} saltus_principal_pivoting_options;

typedef struct saltus_active_set_options {
  int iterations; /* before the variant without cycling is used */
} saltus_active_set_options;

typedef struct saltus_lcp_interior_point_options {
  int iterations; /* factorisations at most */
} saltus_lcp_interior_point_options;

typedef struct saltus_lcp_solver saltus_lcp_solver;

/* As saltus_friction_solver_create, _setup and saltus_friction_solve: z holds the initial guess and the solution, w is
 * written. */
SALTUS_API saltus_status saltus_lcp_solver_create(const saltus_solver_def* def,
                                                  saltus_lcp_solver** out);
SALTUS_API void saltus_lcp_solver_destroy(saltus_lcp_solver* solver);
SALTUS_API saltus_status saltus_lcp_solver_setup(saltus_lcp_solver* solver,
                                                 const saltus_lcp* problem);
SALTUS_API saltus_status saltus_lcp_solve(saltus_lcp_solver* solver, const saltus_lcp* problem,
                                          double tol, double* z, double* w,
                                          saltus_solve_result* result);

SALTUS_END_DECLS

#endif
