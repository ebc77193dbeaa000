/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * polyhedral.h - joints and contacts with polyhedral friction cones as one mixed complementarity
 * problem (Stewart & Trinkle, IJNME 39 (1996); Potra, Anitescu, Gavrea and Trinkle 2006, sections 5
 * and 6).
 *
 *   U = W P + rate
 *   joints    U = 0
 *   contacts  P_T = sum of beta_k d_k,   d_k unit directions, opposite ones in pairs
 *             0 <= U_N                perp   P_N    >= 0
 *             0 <= d_k^T U_T + lam    perp   beta_k >= 0
 *             0 <= mu P_N + slack - sum of beta_k   perp   lam >= 0
 *
 * W need not be symmetric. slack is the friction bound of an impulse that is not part of P_N (the restituted impulse of
 * Poisson's law). Rows are joints
 * first, then each contact with its normal and its tangents; a contact without friction has the
 * normal alone.
 */
#ifndef SALTUSI_POLYHEDRAL_H
#define SALTUSI_POLYHEDRAL_H

#include "math/rank_revealing.h"
#include "saltus/status.h"
#include "solve/lcp/lcp_bilateral.h"
#include "solve/lcp/lcp_lemke.h"
#include "solve/load_distribution.h"

/* Largest number of friction directions of a spatial contact, and of unknowns besides joints for Lemke's method. */
enum { SALTUSI_DIRECTION_PAIRS_MAX = 32, SALTUSI_POLYHEDRAL_MAX = 800 };

/* Sizes of the layout. */
typedef struct saltusi_polyhedral_size {
  int joints, contacts;
  int tangents; /* of the largest contact with friction */
  int pairs;    /* of friction directions of a spatial contact */
  int most;     /* unknowns besides joints: the workspace has eight dense matrices of that size */
} saltusi_polyhedral_size;

/* Mode of a contact between events. */
typedef enum saltusi_mode_kind {
  SALTUSI_MODE_UNKNOWN,
  SALTUSI_MODE_OPEN,  /* no normal force */
  SALTUSI_MODE_STICK, /* closed, no slip */
  SALTUSI_MODE_SLIP   /* closed, friction on the border of the cone; a contact without friction */
} saltusi_mode_kind;

/* A mode with its active friction directions: one, or two on an edge; -1: none. */
typedef struct saltusi_mode {
  saltusi_mode_kind kind;
  int direction[2];
} saltusi_mode;

/* One contact of the problem. */
typedef struct saltusi_polyhedral_contact {
  int key, law;   /* the caller's */
  int tangents;   /* 0 without friction */
  int directions; /* 0, 2 or the number of the polygon */
  int row;        /* of the normal */
  int first;      /* unknown P_N; beta and lam follow */
  double mu;
  double slack;    /* N s */
  int sliding;     /* direction of friction that the caller expects; -1: none */
  double coupling; /* W_NN + mu W_NT of it, joints held: negative in Painleve's region */
  double scale;    /* of lam and its row: sqrt(W_TT), so that all pivots are of one size */
} saltusi_polyhedral_contact;

typedef struct saltusi_polyhedral {
  int pairs;    /* of a spatial contact */
  int rows_max; /* joints, normals, tangents */
  int n_max;    /* unknowns */
  int joints;   /* rows of them */
  int count;    /* contacts */
  int rows;     /* in all */
  int n;        /* unknowns, joints first */
  bool keep_joints;
  bool
      share_loads; /* statically indeterminate contacts share their load, see saltusi_polyhedral_solve */
  saltusi_load_distribution load;
  saltusi_polyhedral_contact* contacts; /* [nc] */
  double* W;                            /* [rows x rows] */
  double* rate;                         /* [rows] m/s, U without impulses */
  double* P;                            /* [rows] N s */
  double* A;                            /* [n x n] of the complementarity problem */
  double* b;                            /* [n] */
  double* z;                            /* [n] */
  double* s;                            /* [n] A z + b */
  double* block;                        /* [n x n] of a solve in given modes */
  double* part;                         /* [n] the same */
  int* basic;                           /* [n] */
  int* pivot;                           /* [n] */
  double residual;                      /* m/s, of the last solve */
  int pivots;                           /* the same */
  saltusi_rank_revealing held;          /* the block of the joints */
  saltusi_lcp_bilateral mixed;
  saltusi_lcp_work lemke;
} saltusi_polyhedral;

/* Number of unknowns of the largest contact, and of one with a given number of directions. */
int saltusi_polyhedral_unknowns(const saltusi_polyhedral_size* size);
static inline int saltusi_polyhedral_unknowns_of(int directions) {
  return directions > 0 ? directions + 2 : 1;
}

/* Initial data of a contact with a normal and `tangents` tangents (0 without friction), not yet part of a problem. */
saltusi_polyhedral_contact saltusi_polyhedral_make(int tangents, double mu, int pairs);

void saltusi_polyhedral_layout(saltusi_polyhedral* law, const saltusi_polyhedral_size* size,
                               saltus_arena* arena);

void saltusi_polyhedral_start(saltusi_polyhedral* law, int joints, bool keep_joints);

/* Adds a contact, as saltusi_polyhedral_make; NULL when the capacity for unknowns is exceeded. */
saltusi_polyhedral_contact* saltusi_polyhedral_add(saltusi_polyhedral* law, int tangents,
                                                   double mu);

/* P from W, rate and slack. SALTUS_ERR_SINGULAR when the block of the joints is singular for another reason than
 * redundant joints and the joints are not kept, SALTUS_RETRY_SMALLER when no solution is found, SALTUS_RETRY_NAN when
 * data are not finite.
 * Pivoting returns a vertex of statically indeterminate problems, in which one wheel of four bears no load and spins:
 * with share_loads the solution is that of load_distribution.h. */
saltus_status saltusi_polyhedral_solve(saltusi_polyhedral* law);

/* P with every contact in the given mode [count], whatever the signs; false: no such solution. */
bool saltusi_polyhedral_solve_in(saltusi_polyhedral* law, const saltusi_mode* modes);

/* P of joints and normals alone with U = 0 in all of these rows; false: no such solution. */
bool saltusi_polyhedral_stop(saltusi_polyhedral* law);

/* The mode of contact i in the last solution. */
saltusi_mode saltusi_polyhedral_mode(const saltusi_polyhedral* law, int i);

/* Component of a tangent vector along direction k; how far a tangential impulse reaches into the
 * polygon: its border is at 1. */
double saltusi_polyhedral_along(const saltusi_polyhedral_contact* contact, int k,
                                const double* tangent);
double saltusi_polyhedral_gauge(const saltusi_polyhedral_contact* contact, const double* tangent);

#endif
