/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_step.h - the friction problem of one time step: contacts of one to three rows, W dense or
 * by blocks, in memory of fixed size, without allocation.
 *
 *   u = W r + q,   K* contains u + mu |u_T| n,   K contains r,   orthogonal
 *
 * One contact is solved exactly, one or two planar ones by enumeration if necessary, more by iterations and then the
 * portfolio. Blocks of W that are zero, of contacts without a common body, are left out.
 * Stages with factorizations run if the factors take no more memory than those of SALTUSI_STEP_FACTORED
 * fully coupled contacts.
 */
#ifndef SALTUSI_FRICTION_STEP_H
#define SALTUSI_FRICTION_STEP_H

#include "solve/friction/friction_load.h"
#include "solve/lcp/lcp_step.h"

/* Some 400 bytes for each pair of contacts: 64 MB, half of what W and its copies take. */
enum { SALTUSI_STEP_FACTORED = 400 };

/* A W of up to SALTUSI_STEP_DENSE_MAX rows may be full. Larger ones have on average at most this number of blocks per
 * contact: in a close packing of spheres each contact shares a body with 22 others. */
enum { SALTUSI_STEP_NEIGHBOURS = 24 };

typedef struct saltusi_friction_step {
  saltusi_friction_work work;
  size_t blocks_max, values_max; /* of W */
  double* values;      /* [values_max] W block by block, of a dense one or of the caller */
  const double* given; /* values of the problem at hand */
  double* slip; /* [units] of the caller: slip parameters of the one-contact problems, first guess
                   * and last values; NULL: from zero */
  saltusi_bodies* bodies; /* of the caller: the problem at hand in body space; NULL: by W alone */
  bool thin;              /* of the caller: W has its diagonal blocks alone, for body space */
  bool
      distributes; /* of the caller: statically indeterminate problems have the limit of load_distribution.h */
  bool redistributes; /* of the caller: the same for problems whose initial guess is a solution */
  saltusi_friction_load load;
  int threads; /* of the caller: number of threads for many units, with bitwise identical results; 0: 1 */
  double tol;     /* of the caller: tolerance of the residual relative to |q|; 0: rounding */
  int factored;   /* largest number of fully coupled contacts that can be factored */
  int most;       /* capacity for contacts of any kind */
  bool lacks;     /* the last solve required more than that */
  int equalities; /* units of the problem at hand that are bilateral */
  int iterations; /* of the last solve: iterations */
} saltusi_friction_step;

/* Sizes of the layout. */
typedef struct saltusi_step_sizes {
  int units, rows_each, rows; /* units, rows of the largest and of all */
  size_t blocks, values;      /* of W */
  int factored;               /* largest number of fully coupled contacts that can be factored */
  int bodies;                 /* bodies for problems of all units in body space; 0: W only */
} saltusi_step_sizes;

void saltusi_friction_step_layout_sizes(saltusi_friction_step* step,
                                        const saltusi_step_sizes* sizes, saltus_arena* arena);

/* The same for units_max contacts of at most rows_each rows, rows_max together, as far as W may be full. */
void saltusi_friction_step_layout(saltusi_friction_step* step, int units_max, int rows_each,
                                  int rows_max, saltus_arena* arena);

/* W of many units by blocks, each row major; of unit i those from start[i] to start[i + 1] - 1, ascending
 * and with the diagonal one. */
typedef struct saltusi_step_blocks {
  const int* offset;              /* [units + 1] first row of a unit */
  const unsigned char* bilateral; /* [units] equalities; NULL: there are none */
  const int* start;               /* [units + 1] */
  const int* unit;                /* [start[units]] */
  const int* place;               /* [start[units] + 1] in values */
  const double* values;
} saltusi_step_blocks;

/* Selects the units first .. last - 1, which are coupled to no others, for the following solves. values must remain
 * valid. */
void saltusi_friction_step_load(saltusi_friction_step* step, const saltusi_step_blocks* from,
                                int first, int last);

/* r holds the initial guess, which is used unless the residual of zero is smaller. Returns
 * whether r is a solution to rounding; r is written either way. */
bool saltusi_friction_step_solve_blocks(saltusi_friction_step* step, const double* mu,
                                        const double* q, double* r);

/* Solves one contact of d rows exactly; false if the residual is above rounding. */
bool saltusi_friction_step_single(int d, double mu, const double* W, const double* q, double* r);

/* Solves units that are all equalities, W r + q = 0, by sparse factors. For linearly dependent rows r is close to the
 * minimum-norm solution. */
bool saltusi_friction_step_hold(saltusi_friction_step* step, const double* q, double* r);

/* The same for a dense W [n x n], n = first[units] up to SALTUSI_STEP_DENSE_MAX. */
bool saltusi_friction_step_solve(saltusi_friction_step* step, int units, const int* first,
                                 const double* mu, const double* W, const double* q, double* r);

#endif
