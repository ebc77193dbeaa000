/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_case.h - a friction problem prepared for solving: a copy of the pattern of W, for comparison with that of
 * the next problem, and data of each unit computed from the diagonal blocks.
 */
#ifndef SALTUSI_FRICTION_CASE_H
#define SALTUSI_FRICTION_CASE_H

#include "math/block_lu.h"
#include "saltus/contact.h"
#include "solve/body_space/bodies.h"
#include "solve/friction/one_contact.h"
#include "solve/friction/residual.h"

#include <stddef.h>

typedef struct saltusi_friction_pattern {
  int units, rows, blocks;
  int uniform;  /* 2 or 3: contacts with this number of rows only, in consecutive blocks; else 0 */
  int unit_max; /* rows of the largest unit */
  int* offset;  /* [units + 1] as in saltus_block_matrix */
  int* start;   /* [units + 1] */
  int* unit;    /* [blocks] */
  int* place;   /* [blocks + 1] */
  unsigned char* bilateral; /* [units] */
  int* diagonal;            /* [units] block, -1: none */
  int* local_at;            /* [units + 1] start in the prepared data */
  double sweep_cost; /* multiply-adds of a Gauss-Seidel iteration, with the one-contact solves */
} saltusi_friction_pattern;

/* Array sizes for a pattern, or for the largest of several. */
typedef struct saltusi_friction_sizes {
  int units, rows, unit_max;
  size_t values; /* of W */
  size_t local;  /* prepared data of all units */
  size_t soft;   /* bytes for compliant contacts, in place of the rest */
} saltusi_friction_sizes;

typedef struct saltusi_domains saltusi_domains;

/* values, q and mu belong to the caller or to a subproblem. */
typedef struct saltusi_friction_case {
  const saltusi_friction_pattern* pattern;
  const saltusi_domains* domains; /* the order of iterations; NULL: that of the problem */
  saltusi_bodies* bodies; /* used in place of W, for spatial contacts only; NULL: values do */
  struct saltusi_thread_pool*
      team;             /* thread pool for the domains of one colour; NULL: the caller */
  const double* values; /* [place[blocks]] */
  const double* q;      /* [rows] */
  const double* mu;     /* [units] */
  double* rho;          /* [units] */
  double* local;   /* [local_at[units]] of one_contact.h, or the inverse of a bilateral block */
  double* slip;    /* [units] last slip multiplier */
  double* scratch; /* [unit_max * (unit_max + 2)] */
  int* pivot;      /* [unit_max] */
  double velocity_unit; /* |q| */
} saltusi_friction_case;

/* |F / rho|^2 of a unit in body space; mu below zero: a joint. */
static inline double saltusi_body_map2(double mu, double rho, const double* r, const double* u) {
  return mu < 0.0 ? u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
                  : saltusi_natural_map2(3, mu, rho, r, u);
}

static inline int saltusi_unit_rows(const saltusi_friction_pattern* pattern, int i) {
  return pattern->offset[i + 1] - pattern->offset[i];
}

/* Cost of a one-contact solve in multiply-adds: about 50 ns, at 1 ns each. */
enum { SALTUSI_LOCAL_SOLVE_COST = 50 };

/* Multiply-adds of one visit in an iteration. */
static inline int saltusi_unit_cost(const saltusi_friction_pattern* pattern, int i) {
  return pattern->place[pattern->start[i + 1]] - pattern->place[pattern->start[i]] +
         SALTUSI_LOCAL_SOLVE_COST;
}

/* The pattern for a factorisation. */
static inline saltusi_block_pattern
saltusi_friction_blocks(const saltusi_friction_pattern* pattern) {
  return (saltusi_block_pattern){.units = pattern->units,
                                 .rows = pattern->rows,
                                 .blocks = pattern->blocks,
                                 .uniform = pattern->uniform,
                                 .unit_max = pattern->unit_max,
                                 .offset = pattern->offset,
                                 .start = pattern->start,
                                 .unit = pattern->unit};
}

/* Rows of a contact unit, 0 for a bilateral one. */
static inline int saltusi_contact_rows(const saltusi_friction_pattern* pattern, int i) {
  return pattern->bilateral[i] != 0 ? 0 : saltusi_unit_rows(pattern, i);
}

/* Rows of the largest unit. */
int saltusi_friction_unit_max(const saltus_friction_problem* problem);

/* Size of local_at[units] for a pattern that is not filled yet. */
size_t saltusi_friction_local_workspace(const saltus_friction_problem* problem);

void saltusi_friction_pattern_layout(saltusi_friction_pattern* pattern,
                                     const saltus_friction_problem* problem, saltus_arena* arena);
void saltusi_friction_case_layout(saltusi_friction_case* in, const saltus_friction_problem* problem,
                                  saltus_arena* arena);

/* A pattern block by block: the rows of its units, then blocks (i, j) row by row, with pattern->start[i] set by the caller
 * before those of unit i. */
void saltusi_pattern_open(saltusi_friction_pattern* pattern, int units, const int* offset,
                          const unsigned char* bilateral);
void saltusi_pattern_put(saltusi_friction_pattern* pattern, int i, int j);
void saltusi_pattern_close(saltusi_friction_pattern* pattern);

/* Copies the pattern; SALTUS_ERR_INPUT with a message when it is not one. */
saltus_status saltusi_friction_pattern_fill(saltusi_friction_pattern* pattern,
                                            const saltus_friction_problem* problem, saltus_log log);
bool saltusi_friction_pattern_same(const saltusi_friction_pattern* pattern,
                                   const saltus_friction_problem* problem);

/* Computes rho, local and velocity_unit from pattern, values, q and mu; resets slip. */
void saltusi_friction_case_prepare(saltusi_friction_case* in);

/* u_i = (W r + q)_i where the pattern is uniform; d is a constant where this is inlined. */
static inline void saltusi_friction_uniform_row(const saltusi_friction_case* in, int i, const int d,
                                                const double* r, double* u) {
  const saltusi_friction_pattern* pattern = in->pattern;
  const double* block = in->values + pattern->place[pattern->start[i]];
  double sum[3];
  for (int k = 0; k < d; k++) {
    sum[k] = in->q[i * d + k];
  }
  for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++, block += d * d) {
    const double* rj = r + pattern->unit[e] * d;
    for (int k = 0; k < d; k++) {
      double part = block[k * d] * rj[0];
      for (int c = 1; c < d; c++) {
        part += block[k * d + c] * rj[c];
      }
      sum[k] += part;
    }
  }
  for (int k = 0; k < d; k++) {
    u[k] = sum[k];
  }
}

/* u_i = (W r + q)_i of any unit */
void saltusi_friction_row(const saltusi_friction_case* in, int i, const double* r, double* u);

/* u = W r + q */
void saltusi_friction_velocity(const saltusi_friction_case* in, const double* r, double* u);

/* The residual of r; u [rows] is written. */
saltus_residual saltusi_friction_case_residual(const saltusi_friction_case* in, const double* r,
                                               double* u);

/* Normalised residual of r = 0; spatial contacts only. */
double saltusi_friction_case_idle(const saltusi_friction_case* in);

/* Projects r onto the cones in place; bilateral units are unchanged. */
void saltusi_friction_project(const saltusi_friction_case* in, double* r);
/* The same for units from .. to - 1. */
void saltusi_friction_project_units(const saltusi_friction_case* in, int from, int to, double* r);

#endif
