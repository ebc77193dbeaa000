/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * operator_internal.h - what the sources of the operator share.
 */
#ifndef SALTUSI_OPERATOR_OPERATOR_INTERNAL_H
#define SALTUSI_OPERATOR_OPERATOR_INTERNAL_H

#include "operator/operator.h"

/* Smallest number of rows with sparse storage; below, dense storage is as fast. */
enum { SALTUSI_SPARSE_FROM = 16 };

/* Largest number of fully coupled contacts that are factored: 400 MB. */
enum { SALTUSI_FACTORED_MOST = 1000 };

/* Entries of a sparse vector, columns ascending. */
typedef struct saltusi_block_entries {
  int count;
  const int* column;
  const double* values;
} saltusi_block_entries;

static inline saltusi_block_entries saltusi_row_entries(const saltusi_operator* op, int r) {
  size_t at = (size_t)r * (size_t)op->rows.stride;
  return (saltusi_block_entries){op->rows.entries[r], op->rows.column + at, op->rows.G + at};
}

/* The same of H, whose rows have the columns of G if W is stored by blocks. */
static inline saltusi_block_entries saltusi_measured_entries(const saltusi_operator* op, int r) {
  const saltusi_row_block* H = saltusi_operator_measured(op);
  size_t at = (size_t)r * (size_t)H->stride;
  return (saltusi_block_entries){H->entries[r], H->column + at, H->G + at};
}

/* A forest of numbers: each points to a smaller one, or as a root to itself. */
static inline int saltusi_root(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]]; /* path halving */
    i = parent[i];
  }
  return i;
}

/* The smaller number becomes the root, so that the result is independent of the order. */
static inline void saltusi_unite(int* parent, int i, int j) {
  int a = saltusi_root(parent, i);
  int b = saltusi_root(parent, j);
  if (a < b) {
    parent[b] = a;
  } else {
    parent[a] = b;
  }
}

/* response.c: velocities that A^-1 couples, as a forest parent [nv] in which each points to itself or to a
 * smaller one; false when that is not known. */
bool saltusi_response_groups(saltusi_operator* op, const saltusi_eval* eval, int* parent);
/* A^-1 of a sparse vector into column and x [nv]; returns its number of entries. */
int saltusi_response_sparse(const saltusi_operator* op, const saltusi_eval* eval,
                            const saltusi_block_entries* of, int* column, double* x);
/* x += A^-1 G P over the rows first .. last - 1; P [rows] */
void saltusi_response_add(const saltusi_operator* op, const saltusi_eval* eval, int first, int last,
                          double* x);

/* groups.c: groups of velocities and components of joints; false when groups are not known. */
void saltusi_groups_layout(saltusi_groups* g, const saltus_dims* dims, int bilateral,
                           saltus_arena* arena);
bool saltusi_groups_find(saltusi_operator* op, saltusi_eval* eval);

/* The eliminated component of a velocity, -1: none. */
static inline int saltusi_groups_eliminated(const saltusi_groups* g, int velocity) {
  int c = g->any ? g->component[g->group[velocity]] : -1;
  return c >= 0 && g->eliminated[c] ? c : -1;
}

/* tree_elimination.c: whether component c gets sparse factors. */
void saltusi_tree_elimination_layout(saltusi_operator* op, const saltusi_eval* eval, int bilateral,
                                     bool all_loops, saltus_arena* arena);
bool saltusi_tree_elimination_serve(const saltusi_operator* op, int c);
/* Plans the bodies and joints of all components with tree[c] >= 0, which becomes their index in the factors. False if
 * memory is short (saddle.wanted is the demand), or if a component has too many loops. */
bool saltusi_tree_elimination_find(saltusi_operator* op);
/* Whether all rows are equalities with the columns and the coupling of A of the last analysis, whose result is then
 * still valid. */
bool saltusi_tree_elimination_known(saltusi_operator* op);
/* Afterwards: index of that component. */
int saltusi_tree_elimination_heavy(const saltusi_operator* op);
/* SALTUS_RETRY_CAPACITY, or SALTUS_RETRY_NAN when there are no factors. */
saltus_status saltusi_tree_elimination_factor(saltusi_operator* op, saltusi_eval* eval);
/* Whether sparse factors include all components. */
bool saltusi_tree_elimination_all(const saltusi_operator* op);
/* Whether some of their rows are linearly dependent. */
bool saltusi_tree_elimination_dependent(const saltusi_operator* op);
/* As saltusi_eliminate_from. */
void saltusi_tree_elimination_from(saltusi_operator* op, int c, int k);

/* eliminate.c: factors of the eliminated components; SALTUS_RETRY_NAN when something is not finite. */
saltus_status saltusi_eliminate_factor(saltusi_operator* op, saltusi_eval* eval);
/* Whether some of their rows are linearly dependent. */
bool saltusi_eliminate_dependent(const saltusi_operator* op);
/* Projects column k of op->table, A^-1 x, onto the velocities that component c permits. */
void saltusi_eliminate_from(saltusi_operator* op, const saltusi_eval* eval, int c, int k);
/* op->moved = A^-1 G_b B^-1 rhs_b over all eliminated rows b. */
void saltusi_eliminate_reduce(saltusi_operator* op, const saltusi_eval* eval);
/* P of the eliminated rows from P of the others. */
void saltusi_eliminate_expand(saltusi_operator* op, const saltusi_eval* eval);

/* blocks.c: W of the units that stay. Returns its number of blocks, also if it exceeds the capacity. */
void saltusi_blocks_layout(saltusi_operator* op, const saltus_dims* dims, int each,
                           saltus_arena* arena);
size_t saltusi_blocks_form(saltusi_operator* op, const saltusi_eval* eval);
/* All blocks there are. */
static inline saltusi_step_blocks saltusi_blocks_of(const saltusi_operator* op) {
  return (saltusi_step_blocks){.offset = op->offset,
                               .bilateral = op->staying > 0 ? op->unit_joint : NULL,
                               .start = op->block_start,
                               .unit = op->block_unit,
                               .place = op->block_place,
                               .values = op->friction.values};
}
/* The blocks of the units first .. last - 1, which are coupled to no others, as one dense matrix op->W. */
void saltusi_blocks_spread(saltusi_operator* op, int first, int last);

/* operator/bodies.c: memory. */
void saltusi_operator_bodies_layout(saltusi_operator* op, const saltusi_eval* eval, int each,
                                    saltus_arena* arena);
/* Which islands are solved in body space, before joints are eliminated: op->thin, body_parent, body_count. */
void saltusi_operator_bodies_find(saltusi_operator* op, const saltusi_eval* eval);
/* Whether the island that contains a velocity is one of them, for systems with joints. */
bool saltusi_operator_bodies_hold(const saltusi_operator* op, int velocity);
/* The units first .. last - 1 of an island in body space; NULL: its masses are singular. */
saltusi_bodies* saltusi_operator_bodies(saltusi_operator* op, const saltusi_eval* eval, int first,
                                        int last);

/* matrix_free.c: whether a W of a number of values, rows or units is too large to store. */
bool saltusi_matrix_free_serves(const saltusi_operator* op, size_t values, size_t each);
void saltusi_matrix_free_layout(saltusi_operator* op, const saltusi_eval* eval, int rows,
                                saltus_arena* arena);
saltus_status saltusi_matrix_free_form(saltusi_operator* op, saltusi_eval* eval);
saltus_status saltusi_matrix_free_solve(saltusi_operator* op, saltusi_eval* eval);
/* x += A^-1 G P */
void saltusi_matrix_free_add(const saltusi_operator* op, const saltusi_eval* eval, const double* P,
                             double* x);

/* dense.c */
void saltusi_dense_form(saltusi_operator* op, const saltusi_eval* eval);

/* storage.c: W with every block and with small components of joints eliminated, if no solution was found in body space;
 * SALTUS_RETRY_CAPACITY: there is no memory for it. */
saltus_status saltusi_operator_complete(saltusi_operator* op, saltusi_eval* eval);

/* solve.c: reports that the last solve needed more memory for factors. */
void saltusi_operator_wants(const saltusi_operator* op, saltusi_eval* eval);

/* solve_sparse.c */
saltus_status saltusi_sparse_solve(saltusi_operator* op, saltusi_eval* eval);
/* Copies right-hand sides and initial guesses of the units to unit_rhs and unit_P; copies impulses back, with those of
 * eliminated joints. */
void saltusi_sparse_gather(saltusi_operator* op, const saltusi_eval* eval);
void saltusi_sparse_scatter(saltusi_operator* op, const saltusi_eval* eval);

/* friction_laws.c: memory for contacts with up to `each` rows; and impulses by friction laws, from a dense W. */
void saltusi_friction_laws_layout(saltusi_operator* op, const saltus_system* sys, int rows,
                                  saltus_arena* arena);
saltus_status saltusi_friction_laws_solve(saltusi_operator* op, saltusi_eval* eval);

#endif
