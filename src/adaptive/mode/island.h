/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island.h - islands: rows coupled through common velocities, through M or through each other. Rows of different islands
 * are independent, and dense algebra is done per island.
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
  int* start;          /* [rows_max + 1] offsets of an island in item */
  int* item;           /* [rows_max] rows by island: numbers 0 .. count - 1 of the given rows */
  int* velocity_start; /* [rows_max + 1] offsets of an island in velocity */
  int* velocity;       /* [nv] velocities by island */
  int* local;          /* [nv] index of a velocity in its island */
  int* parent;         /* [nv] */
  int* mark;           /* [nv] island of a root; -1: none yet */
  int* of;             /* [rows_max] island of each row */
  bool diagonal;       /* M is diagonal, */
  double* inverse;     /* [nv] and this is its inverse */
  double* x;           /* [nv] zero between calls */
} saltusi_islands;

void saltusi_islands_layout(saltusi_islands* is, int nv, int rows_max, saltus_arena* arena);

/* Velocities that the last assembled M couples: by its diagonal, or by the structure that the system specifies.
 * False if all of them count as one island: no structure is specified, or the system is so small that islands
 * would cost more than they save. */
bool saltusi_islands_open(saltusi_islands* is, const saltusi_eval* eval, const saltusi_linear* mass,
                          int rows);
/* The same with all couplings by forces; false: everything may be coupled. */
bool saltusi_islands_open_forces(saltusi_islands* is, const saltusi_eval* eval,
                                 const saltusi_linear* mass);
/* Unites the islands of velocities i and j. */
void saltusi_islands_unite(saltusi_islands* is, int i, int j);
void saltusi_islands_join(saltusi_islands* is, const saltusi_row_block* rows, int row);
/* All rows of a contact as one. */
void saltusi_islands_join_contact(saltusi_islands* is, const saltusi_row_block* rows, int first,
                                  int count);
/* Whether two rows move velocities of one island, among the rows joined so far. */
bool saltusi_islands_touch(saltusi_islands* is, const saltusi_row_block* rows, int a, int b);
void saltusi_islands_close(saltusi_islands* is, int count, const saltusi_row_block* rows,
                           const int* row);

/* Merges closed islands of at least `least` rows, for algebra at no additional cost. */
void saltusi_islands_merge(saltusi_islands* is, int least, int count, const saltusi_row_block* rows,
                           const int* row);

/* One island with its own numbering of k velocities. Without `local` the island is the whole system with the
 * system's numbers. */
typedef struct saltusi_island {
  int first;           /* offset of its rows when they are ordered by island */
  int n;               /* rows */
  int k;               /* velocities */
  const int* velocity; /* [k] */
  const int* local;    /* [nv] */
} saltusi_island;

saltusi_island saltusi_island_of(const saltusi_islands* is, int i);
/* The whole system as one island. */
static inline saltusi_island saltusi_island_whole(int n, int nv) {
  return (saltusi_island){.n = n, .k = nv};
}

/* Reorders numbers by row into the order of islands; spare [count]. */
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
