/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * held.h - the rows that a status holds, island by island, and the matrices they make.
 *
 *   saltusi_held_joints(m);  saltusi_held_contacts(m, true);        which rows
 *   int islands = saltusi_held_islands(m);                          they are ordered by island then
 *   for each: saltusi_held_make, m->held.right of its rows, saltusi_held_solve, saltusi_held_apply
 */
#ifndef SALTUSI_HELD_H
#define SALTUSI_HELD_H

#include "adaptive/island.h"
#include "adaptive/outline.h"
#include "math/dependent.h"
#include "operator/operator.h"
#include "operator/row_factors.h"
#include "system/room.h"

typedef struct saltusi_mode_dynamics saltusi_mode_dynamics;

/* The velocities of an island. */
static inline saltusi_span saltusi_island_span(const saltusi_island* in) {
  return (saltusi_span){.k = in->k, .velocity = in->velocity, .local = in->local};
}

typedef struct saltusi_held {
  int count;
  int* row;          /* [rows] row of each */
  int* key;          /* [rows] contact of each; -1: joint */
  double* right;     /* [rows] right-hand sides, then multipliers */
  double* direction; /* [slips x nc] of slip */
  bool dependent;    /* more rows than some island needs, since it was set to false */
  bool known;        /* one of the contacts has forces that are known, saltusi_held_known */
  bool* shared;      /* [nc] the same of the island of a contact, in space or in a large one */
  bool measured;     /* solving also measures: */
  double firmness; /* near 0: rows that count nearly depend on each other, since it was set to 1 */

  /* inside */
  size_t rows_max;    /* rows of the largest island that there is room for, */
  size_t entries_max; /* of its columns, */
  int velocities_max; /* and its velocities, where supports in space may be redundant */
  saltusi_islands islands;
  saltusi_row_factors* sparse; /* of the last large island; NULL: there is none */
  bool whole; /* all rows are one island, with the numbers of velocities as they are */
  int* spare;
  double* column; /* [n x k] M^-1 H of the island at hand */
  double* W;      /* [n x n] of the island at hand */
  saltusi_dependent factor;
  double* W_spare;      /* [n x n] */
  int* pivot;           /* [2 n] */
  double* row_scale;    /* [n] */
  double* spread;       /* [k x k] */
  int* spread_pivot;    /* [2 k] */
  double* spread_in;    /* [n] */
  double* spread_right; /* [n] */
  double* spread_sum;   /* [n] */
  double* x;            /* [nv] */
  double* probe;        /* [n] */
} saltusi_held;

void saltusi_held_layout(saltusi_held* h, const saltusi_outline* o, const saltusi_step_room* room,
                         saltus_arena* arena);
/* Room for sparse factors of up to `rows` rows, where the rows of the system are sparse; NULL: none. */
saltusi_row_factors* saltusi_held_layout_sparse(const saltus_dims* dims, int rows,
                                                const saltusi_step_room* room, saltus_arena* arena);
/* Numbers of joints and contacts that rows belong to, keys as in saltusi_held. */
void saltusi_number_units(const saltus_system* sys, int n, const int* row, const int* key,
                          int* unit);
/* Whether so many rows of an island are factored sparsely; with islands, those of the last search. */
bool saltusi_held_sparse(const saltusi_mode_dynamics* m, const saltusi_row_factors* f, int rows);

/* Joints alone; then normals of closed contacts and the tangents of those that stick; then any row. */
void saltusi_held_joints(saltusi_mode_dynamics* m);
void saltusi_held_contacts(saltusi_mode_dynamics* m, bool tangents);
void saltusi_held_add(saltusi_held* h, int row, int key);
/* Directions of slip of the contacts that slide. */
void saltusi_held_directions(saltusi_mode_dynamics* m, const double* v);

/* How many islands the held rows make, whose rows and M are evaluated. */
int saltusi_held_islands(saltusi_mode_dynamics* m);
saltusi_island saltusi_held_island(const saltusi_mode_dynamics* m, int i);
/* Whether the matrix of an island is sparse. */
bool saltusi_held_is_sparse(const saltusi_mode_dynamics* m, const saltusi_island* in);
/* Whether forces of redundant supports are spread somewhere: held.shared is valid. */
bool saltusi_held_may_share(const saltusi_mode_dynamics* m);
/* Columns and W; friction: of contacts that slide as well. */
saltus_status saltusi_held_make(saltusi_mode_dynamics* m, const saltusi_island* in, bool friction);
/* W l = right; the least solution when W is singular. */
saltus_status saltusi_held_solve(saltusi_mode_dynamics* m, const saltusi_island* in);
/* y [nv] += s M^-1 H l */
void saltusi_held_apply(const saltusi_mode_dynamics* m, const saltusi_island* in, double s,
                        double* y);
/* Solution and a += M^-1 H l; redundant supports share forces evenly. */
saltus_status saltusi_held_share(saltusi_mode_dynamics* m, const saltusi_island* in, double* a);
/* Forces that contacts are known to be near to (`force` of saltusi_contact): a += M^-1 H l with them, before the solution of what
 * they leave; then the solution has them too. Of all solutions where W is singular it is thus the nearest one. */
void saltusi_held_known(saltusi_mode_dynamics* m, const saltusi_island* in, double* a);
void saltusi_held_add_known(saltusi_mode_dynamics* m, const saltusi_island* in);
/* The multipliers as forces of all contact rows [nl], and of joints [nj] or NULL. */
void saltusi_held_forces(const saltusi_mode_dynamics* m, double* contacts, double* joints);

/* Whether a contact has friction at its bound. */
bool saltusi_mode_slides(const saltusi_mode_dynamics* m, int key);

#endif
