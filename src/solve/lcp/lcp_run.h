/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_run.h - data of one solve of a complementarity problem, shared by all algorithms: problem, workspace, the best
 * solution so far and the stages. An algorithm proposes solutions; the run evaluates all of them by the same residual.
 * Bilateral rows are eliminated (small and dense problems) or kept (large sparse ones): kept rows come first, are
 * always active, and their z has either sign.
 */
#ifndef SALTUSI_LCP_RUN_H
#define SALTUSI_LCP_RUN_H

#include "solve/lcp/lcp_lemke.h"
#include "solve/lcp/lcp_matrix.h"

/* Largest problems for Lemke's method (three dense matrices) and for trying all bases. */
enum { SALTUSI_LCP_LEMKE_MAX = 1500, SALTUSI_LCP_ENUMERATE_MAX = 12 };

typedef struct saltusi_lcp_workspace {
  int n;                 /* largest */
  bool lemke;            /* memory for Lemke's method is reserved */
  unsigned char* active; /* [n] */
  int* list;             /* [n] active rows, ascending */
  double* value;         /* [n] solution of the active block */
  double* trial;         /* [n] an answer */
  double* rest;          /* [n] its w */
  double* best;          /* [n] */
  double* shifted;       /* [n] right-hand side of the proximal problem */
  double* last;          /* [n] last proximal point; step of z */
  double* diagonal;      /* [n] added to M */
  double* step;          /* [n] step of w */
  double* full;          /* [n x n] dense copy of a sparse matrix for Lemke; may be NULL */
  double* chain[6];      /* [n] each: tridiagonal matrix and its elimination */
  saltusi_lcp_block block;
  saltusi_sparse_lu sparse; /* analysed by the caller before the layout */
  saltusi_lcp_work work;    /* of Lemke's method */
} saltusi_lcp_workspace;

typedef struct saltusi_lcp_run {
  const saltusi_lcp_matrix* M;
  const double* q; /* [n] */
  double q_size;   /* largest |q_i| */
  int bilateral;   /* kept rows */
  bool quick;      /* only cheap stages: the caller has an alternative */
  double target;   /* for |min(z, w)| */
  bool
      basis_is_enough; /* the caller refines the result: a complementary basis need not meet the target */
  bool
      rounding_is_enough; /* the same where the residual exceeds the target by the rounding of M z */
  const void* options;    /* of the solver by this name */
  saltusi_lcp_workspace* room;
  double* z;       /* [n] initial guess, then the best solution */
  double residual; /* of z: |min(z, w)|; infinite before the first solution */
  bool solved;     /* enough was reached */
  bool none;       /* proved to have no solution */
  int iterations;
  char* stages; /* [128] */
} saltusi_lcp_run;

void saltusi_lcp_workspace_layout(saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M,
                                  saltus_arena* arena);

/* Whether a problem with this matrix fits into the workspace; the solution is then the same as in a new one. */
bool saltusi_lcp_workspace_fits(const saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M);

/* Whether it can be solved here, possibly without Lemke's method. */
bool saltusi_lcp_workspace_serves(const saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M);

/* Evaluates room->trial (negative entries are set to 0) and keeps it if it is better. `basis`: it is the solution of
 * a complementary basis. Returns run->solved. */
bool saltusi_lcp_run_offer(saltusi_lcp_run* run, bool basis);

/* Records a stage: "name count". */
void saltusi_lcp_run_note(saltusi_lcp_run* run, const char* name, int count);

/* Proposes the guess z, or zero if its residual is smaller: impulses from
 * before an impact mislead (docs/theory/contact-solvers.md, 2.5). */
void saltusi_lcp_run_guess(saltusi_lcp_run* run);

/* Sets the active set to the positive entries of z and the bilateral rows; false if it is empty. */
bool saltusi_lcp_run_activate(saltusi_lcp_run* run, const double* z);

/* Whether the direction y, z with negative entries of complementary rows cut, shows that there is no
 * solution (Farkas): (M^T y)_b = 0, (M^T y)_u <= 0 and q^T y < 0 contradict w_b = 0, w_u >= 0, z_u >= 0
 * whatever the class of M. With a margin for rounding: the entries of any solution would add up to 1e9 |q| / |M|.
 * Overwrites room->rest and room->step. */
bool saltusi_lcp_run_proves_none(saltusi_lcp_run* run, const double* z);

/* Whether the matrix is tridiagonal with a positive diagonal and no positive entry beside it. */
bool saltusi_lcp_run_is_chain(const saltusi_lcp_run* run);

/* The algorithms; each returns run->solved. */
bool saltusi_lcp_run_lemke(saltusi_lcp_run* run, int pivots_per_row);
bool saltusi_lcp_run_chain(saltusi_lcp_run* run, int iterations);
bool saltusi_lcp_run_enumerate(saltusi_lcp_run* run);
bool saltusi_lcp_run_interior(saltusi_lcp_run* run, int iterations);

/* One entry of the registry. */
typedef struct saltusi_lcp_ops {
  saltus_solver_info info;
  bool tiny;  /* a few rows without a guess are tried on the stack first */
  bool keeps; /* can keep bilateral rows */
  void (*solve)(saltusi_lcp_run* run);
} saltusi_lcp_ops;

extern const saltusi_lcp_ops saltusi_lcp_auto;
extern const saltusi_lcp_ops saltusi_lcp_lemke_solver;
extern const saltusi_lcp_ops saltusi_lcp_principal_pivoting;
extern const saltusi_lcp_ops saltusi_lcp_active_set;
extern const saltusi_lcp_ops saltusi_lcp_enumeration;
extern const saltusi_lcp_ops saltusi_lcp_interior_point;

#endif
