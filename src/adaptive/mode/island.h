/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island.h - rows that move common velocities, directly, through each other or through M: what one of them
 * does, rows of other islands do not feel. Dense algebra stays inside an island.
 *
 *   if (saltusi_islands_open(is, eval, mass, count)) {   velocities that M couples
 *     saltusi_islands_join(is, rows, row);              for every row
 *     saltusi_islands_close(is, count, rows, row);      islands in the order of their first rows
 *   }
 */
#ifndef SALTUSI_ISLAND_H
#define SALTUSI_ISLAND_H

#include "system/linear.h"

typedef struct saltusi_islands {
  int nv;
  int count;
  int* start; /* [rows_max + 1] places of an island in item */
  int* item;  /* [rows_max] rows by island: numbers 0 .. count - 1 of the rows that were given */
  int* velocity_start; /* [rows_max + 1] places of an island in velocity */
  int* velocity;       /* [nv] velocities by island */
  int* local;          /* [nv] place of a velocity in its island */
  int* parent;         /* [nv] */
  int* mark;           /* [nv] island of a root; -1: none yet */
  int* of;             /* [rows_max] island of each row */
  bool diagonal;       /* M is, */
  double* inverse;     /* [nv] and this is its inverse */
  double* x;           /* [nv] zero between calls */
} saltusi_islands;

void saltusi_islands_layout(saltusi_islands* is, int nv, int rows_max, saltus_arena* arena);

/* Velocities that M couples, as it was assembled last: by its diagonal, or by what the system says of its
 * structure. False when all of them count as one island: nothing is known, or the system is so small that
 * islands would cost more than they save. */
bool saltusi_islands_open(saltusi_islands* is, const saltusi_eval* eval, const saltusi_linear* mass,
                          int rows);
/* The same with all that forces couple; false: everything may be. */
bool saltusi_islands_open_forces(saltusi_islands* is, const saltusi_eval* eval,
                                 const saltusi_linear* mass);
/* Velocities i and j move together. */
void saltusi_islands_unite(saltusi_islands* is, int i, int j);
void saltusi_islands_join(saltusi_islands* is, const saltusi_row_block* rows, int row);
/* All rows of a contact, and what they move as one. */
void saltusi_islands_join_contact(saltusi_islands* is, const saltusi_row_block* rows, int first,
                                  int count);
/* Whether two rows move velocities of one island, among the rows joined so far. */
bool saltusi_islands_touch(saltusi_islands* is, const saltusi_row_block* rows, int a, int b);
void saltusi_islands_close(saltusi_islands* is, int count, const saltusi_row_block* rows,
                           const int* row);

/* Closed islands of at least `least` rows become one: for algebra that costs no more for that. */
void saltusi_islands_merge(saltusi_islands* is, int least, int count, const saltusi_row_block* rows,
                           const int* row);

/* One island as the algebra in it sees it: k velocities with numbers of their own. Without `local` the
 * island is the whole system and they have their own numbers. */
typedef struct saltusi_island {
  int first;           /* place of its rows when they are ordered by island */
  int n;               /* rows */
  int k;               /* velocities */
  const int* velocity; /* [k] */
  const int* local;    /* [nv] */
} saltusi_island;

saltusi_island saltusi_island_of(const saltusi_islands* is, int i);
/* All there is as one island. */
static inline saltusi_island saltusi_island_whole(int n, int nv) {
  return (saltusi_island){.n = n, .k = nv};
}

/* Numbers by row into the order of islands; spare [count]. */
void saltusi_islands_order(const saltusi_islands* is, int count, int* numbers, int* spare);

/* x [k] <- M^-1 x */
void saltusi_island_divide(saltusi_islands* is, const saltusi_island* in, const saltusi_eval* eval,
                           const saltusi_linear* mass, double* x);

/* G_row^T x and x += s G_row with x [k]. */
double saltusi_island_dot(const saltusi_island* in, const saltusi_row_block* rows, int row,
                          const double* x);
void saltusi_island_add_row(const saltusi_island* in, const saltusi_row_block* rows, int row,
                            double s, double* x);
/* y [nv] += s x, and x [k] from y. */
void saltusi_island_scatter(const saltusi_island* in, double s, const double* x, double* y);
void saltusi_island_gather(const saltusi_island* in, const double* y, double* x);

#endif
