/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * joint_elimination.h - M^-1 with joints eliminated, P = M^-1 - M^-1 G_E (G_E^T M^-1 G_E)^-1 G_E^T M^-1, island by
 * island of joints and some contacts: the effect of a contact on velocities that joints constrain.
 */
#ifndef SALTUSI_JOINT_ELIMINATION_H
#define SALTUSI_JOINT_ELIMINATION_H

#include "adaptive/mode/active_constraints.h"

/* Joints and contacts of an island from which on its problems are solved by blocks: pivoting in a dense matrix of
 * four unknowns each takes some 10 ms then. */
enum { SALTUSI_LARGE = 64 };

typedef struct saltusi_joint_elimination {
  int count; /* joints and contacts, ordered by island, in an island joints first */
  int* row;  /* [nj + nc] row of a joint, first row of a contact */
  int* key;  /* [nj + nc] contact of each; -1: joint */

  /* internal */
  saltusi_islands islands;
  bool whole;
  int* spare;
  int* joints;                    /* [nj + nc] joints of each island */
  size_t* column_at;              /* [nj + nc] offset of an island in column, */
  size_t* factor_at;              /* [nj + nc] and in the factors */
  saltusi_rank_revealing* factor; /* [nj + nc] of G_E^T M^-1 G_E, of islands with joints */
  size_t column_max, factor_max;
  double* column; /* M^-1 G_E */
  double* LU;
  double* gram;
  double* W;     /* of the present island */
  int* pivot;    /* [2 nj] */
  double* scale; /* [nj] */
  double* r;     /* [nj] */

  saltusi_active_set_factor* sparse; /* of the joints of all islands with many joints */
  int* sparse_row;                   /* [nj] these joints */
  int* sparse_unit;                  /* [nj] */
  int* sparse_at;                    /* [nj + nc] offset of those of an island; -1: dense factors */
  double* y;                         /* [nv] zero between calls */
} saltusi_joint_elimination;

void saltusi_elimination_layout(saltusi_joint_elimination* p, const saltusi_layout_tables* o,
                                const saltusi_step_capacity* room, saltus_arena* arena);

/* Rows at y, of all contacts or of the closed ones, and P for the islands of joints and of the contacts of
 * a set. */
saltus_status saltusi_reduce(saltusi_mode_dynamics* m, double t, const double* y, bool every,
                             const int* set, int count);

/* Marks in coupled [nc] the contacts that a contact is coupled to through M, forces, joints and closed contacts;
 * rows of all contacts and M must be evaluated. */
void saltusi_find_coupled(saltusi_mode_dynamics* m, int key, bool* coupled);

/* Keeps those contacts of a set, whose rows and M are evaluated, that share an island with a contact of `marked`
 * [nc], in their order; returns their number. scope [nc] is cleared of the others. */
int saltusi_scope(saltusi_mode_dynamics* m, int* set, int count, const bool* marked, bool* scope);

int saltusi_reduced_islands(const saltusi_mode_dynamics* m);
saltusi_island saltusi_reduced_island(const saltusi_mode_dynamics* m, int i);
/* The island of a contact of the set. */
saltusi_island saltusi_reduced_island_of(const saltusi_mode_dynamics* m, int key, int* i);

/* Whether an island has so many joints and contacts that its problems are solved by blocks. */
bool saltusi_is_large(const saltusi_mode_dynamics* m, const saltusi_island* in);

/* x [k] <- M^-1 x; x <- P x; x = P G of one row: all in the numbers of island i. */
void saltusi_reduced_divide(saltusi_mode_dynamics* m, const saltusi_island* in, double* x);
void saltusi_reduced_inverse(saltusi_mode_dynamics* m, int i, double* x);
void saltusi_reduced_response(saltusi_mode_dynamics* m, int i, int row, double* x);
/* Projects v [nv] onto G_E^T v + b_E = 0; adds the joint impulses to impulse [nj] or NULL. */
void saltusi_reduced_hold(saltusi_mode_dynamics* m, double* v, double* impulse);
/* -(G_E^T M^-1 G_E)^-1 G_E^T x, the reaction of the joints to a change x [nv] of v, into answer [nj]. */
void saltusi_reduced_answer(saltusi_mode_dynamics* m, const double* x, double* answer);

#endif
