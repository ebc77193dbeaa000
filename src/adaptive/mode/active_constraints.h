/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * active_constraints.h - the active rows of a status, island by island, and their matrices.
 *
 *   saltusi_active_joints(m);  saltusi_active_contacts(m, true);      selects the rows
 *   int islands = saltusi_active_islands(m);                          orders them by island
 *   for each: saltusi_active_make, m->held.right of its rows, saltusi_active_solve, saltusi_active_apply
 */
#ifndef SALTUSI_ACTIVE_CONSTRAINTS_H
#define SALTUSI_ACTIVE_CONSTRAINTS_H

#include "adaptive/layout_tables.h"
#include "adaptive/mode/island.h"
#include "math/rank_revealing.h"
#include "operator/active_set_factor.h"
#include "operator/operator.h"
#include "system/capacity.h"

typedef struct saltusi_mode_dynamics saltusi_mode_dynamics;

/* The velocities of an island. */
static inline saltusi_row_span saltusi_island_span(const saltusi_island* in) {
  return (saltusi_row_span){.k = in->k, .velocity = in->velocity, .local = in->local};
}

typedef struct saltusi_active_constraints {
  int count;
  int* row;          /* [rows] row of each */
  int* key;          /* [rows] contact of each; -1: joint */
  double* right;     /* [rows] right-hand sides, then multipliers */
  double* direction; /* [slips x nc] of slip */
  bool dependent;    /* some island is over-constrained, since it was set to false */
  bool known;        /* some contact has reference forces, saltusi_active_redundant_forces */
  bool* shared;      /* [nc] the same for the island of a contact, in space or in a large one */
  bool measured;     /* solving also measures: */
  /* near 0: independent rows are nearly linearly dependent; smallest since it was set to 1 */
  double firmness;

  /* internal */
  size_t rows_max;    /* capacity: rows of the largest island, */
  size_t entries_max; /* of its columns, */
  int velocities_max; /* and its velocities, where contacts in space may be redundant */
  saltusi_islands islands;
  saltusi_active_set_factor* sparse; /* of the last large island; NULL: none */
  bool whole; /* all rows are one island, with the numbers of velocities of the system */
  int* spare;
  double* column; /* [n x k] M^-1 H of the present island */
  double* W;      /* [n x n] of the present island */
  saltusi_rank_revealing factor;
  double* W_spare;      /* [n x n] */
  int* pivot;           /* [2 n] */
  double* row_scale;    /* [n] */
  double* spread;       /* [k x k] */
  int* spread_pivot;    /* [2 k] */
  double* spread_in;    /* [n] */
  double* spread_right; /* [n] */
  double* spread_sum;   /* [n] */
  double* x;            /* [nv] */
  double* balance;      /* [nj + nv] reference forces of joints; workspace */
  double* probe;        /* [3 n] */
  double* weight;       /* [n] compliances of the rows */
} saltusi_active_constraints;

void saltusi_active_layout(saltusi_active_constraints* h, const saltusi_layout_tables* o,
                           const saltusi_step_capacity* room, saltus_arena* arena);
/* Capacity of sparse factors of up to `rows` rows, if the rows of the system are sparse; NULL: none. */
saltusi_active_set_factor* saltusi_active_layout_sparse(const saltus_dims* dims, int rows,
                                                        const saltusi_step_capacity* room,
                                                        saltus_arena* arena);
/* Indices of the joints and contacts of rows, keys as in saltusi_active_constraints. */
void saltusi_number_units(const saltus_system* sys, int n, const int* row, const int* key,
                          int* unit);
/* Whether an island with so many rows is factored sparsely; with islands, those of the last search. */
bool saltusi_active_sparse(const saltusi_mode_dynamics* m, const saltusi_active_set_factor* f,
                           int rows);

/* Selects rows: joints alone; then normals of closed contacts and the tangents of sticking ones; then any row. */
void saltusi_active_joints(saltusi_mode_dynamics* m);
void saltusi_active_contacts(saltusi_mode_dynamics* m, bool tangents);
void saltusi_active_add(saltusi_active_constraints* h, int row, int key);
/* Directions of slip of the sliding contacts. */
void saltusi_active_directions(saltusi_mode_dynamics* m, const double* v);

/* Number of islands of the active rows; these and M must be evaluated. */
int saltusi_active_islands(saltusi_mode_dynamics* m);
saltusi_island saltusi_active_island(const saltusi_mode_dynamics* m, int i);
/* Whether the matrix of an island is sparse. */
bool saltusi_active_is_sparse(const saltusi_mode_dynamics* m, const saltusi_island* in);
/* Whether redundant contacts share loads somewhere: held.shared is valid. */
bool saltusi_active_may_distribute_load(const saltusi_mode_dynamics* m);
/* Columns and W; friction: of contacts that slide as well. */
saltus_status saltusi_active_make(saltusi_mode_dynamics* m, const saltusi_island* in,
                                  bool friction);
/* W l = right; the least solution when W is singular. */
saltus_status saltusi_active_solve(saltusi_mode_dynamics* m, const saltusi_island* in);
/* y [nv] += s M^-1 H l */
void saltusi_active_apply(const saltusi_mode_dynamics* m, const saltusi_island* in, double s,
                          double* y);
/* Solution and a += M^-1 H l; redundant contacts share the load evenly. */
saltus_status saltusi_active_distribute_load(saltusi_mode_dynamics* m, const saltusi_island* in,
                                             double* a);
/* Forces of redundant contacts of which some slide, in place of those of least norm: the limit of vanishing equal
 * compliance (docs/solvers/indeterminate.md). After the solution, before saltusi_active_add_redundant_forces. */
void saltusi_active_limit(saltusi_mode_dynamics* m, const saltusi_island* in);
/* Reference forces of contacts (`force` of saltusi_contact): adds a += M^-1 H l of them before the solution for
 * the remainder; then the solution includes them. If W is singular this selects the nearest solution. */
/* Reference forces of joints: those that balance the reference forces of contacts at accelerations a [nv] without any
 * of them. Least increments of all forces then keep the load distribution of the contacts. Selects the rows of joints
 * and contacts again. */
saltus_status saltusi_active_balance_joints(saltusi_mode_dynamics* m, const double* a);
void saltusi_active_redundant_forces(saltusi_mode_dynamics* m, const saltusi_island* in, double* a);
void saltusi_active_add_redundant_forces(saltusi_mode_dynamics* m, const saltusi_island* in);
/* The multipliers as forces of all contact rows [nl], and of joints [nj] or NULL. */
void saltusi_active_forces(const saltusi_mode_dynamics* m, double* contacts, double* joints);

#endif
