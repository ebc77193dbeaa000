/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.c - joints and contacts of an island in body space (solve/body_space/bodies.h), where A is block-diagonal by
 * bodies. Implicit springs between bodies, and rows of two configurations, require W. Each unit has three rows: a joint
 * with more rows is two units, and missing rows are padded.
 */
#include "operator/operator_internal.h"

#include "base/lanes.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

enum { WIDTH = SALTUSI_BODY_WIDTH };

/* Whether A has a small block for each body. */
static bool has_bodies(const saltusi_operator* op, const saltus_structure* s) {
  const bool own = op->A->kind == SALTUSI_LINEAR_BLOCKS && !saltusi_linear_coupled(op->A);
  bool small = op->scalar || own;
  for (int k = 0; k < s->blocks && small; k++) {
    small = s->start[k + 1] - s->start[k] <= WIDTH;
  }
  return small;
}

void saltusi_operator_bodies_layout(saltusi_operator* op, const saltusi_eval* eval, int each,
                                    saltus_arena* arena) {
  assert(op != NULL && eval != NULL && arena != NULL);
  const saltus_structure* s = eval->sys.structure;
  const saltus_dims* d = &eval->sys.dims;
  bool serves = s != NULL && each == 3 && d->nc >= SALTUSI_BODIES_FROM;
  int blocks = serves ? s->blocks : 0;
  saltusi_bodies_layout(&op->bodies, serves ? d->nj + d->nc : 0, blocks, arena);
  op->bodies_most = blocks;
  op->body_of = SALTUS_PUSH(arena, int, serves ? d->nv : 0);
  op->body_number = SALTUS_PUSH(arena, int, blocks);
  op->body_parent = SALTUS_PUSH(arena, int, blocks);
  op->body_count = SALTUS_PUSH(arena, int, blocks);
}

/* End of the consecutive entries of a row, from e on, that belong to one body. */
static int end_of_body(const saltusi_operator* op, const saltusi_block_entries* row, int e) {
  const int block = op->body_of[row->column[e]];
  int end = e + 1;
  while (end < row->count && op->body_of[row->column[end]] == block) {
    end++;
  }
  return end;
}

/* Unites the bodies of a row; returns their number. */
static int unite_bodies(saltusi_operator* op, int r) {
  const saltusi_block_entries row = saltusi_row_entries(op, r);
  int count = 0;
  for (int e = 0; e < row.count; e = end_of_body(op, &row, e)) {
    saltusi_unite(op->body_parent, op->body_of[row.column[0]], op->body_of[row.column[e]]);
    count++;
  }
  return count;
}

static int root_of(const saltusi_operator* op, int velocity) {
  return saltusi_root(op->body_parent, op->body_of[velocity]);
}

/* Counts units of each tree of bodies with contacts. Trees with rows on more than two bodies, such as those of gears,
 * are not solved in body space. */
static void count_units(saltusi_operator* op, int blocks) {
  enum { NEVER = -(1 << 30) };
  for (int k = 0; k < blocks; k++) {
    op->body_parent[k] = k;
    op->body_count[k] = 0;
  }
  for (int r = 0; r < op->joints; r++) {
    (void)unite_bodies(op, r);
  }
  for (int i = 0; i < op->contacts; i++) {
    (void)unite_bodies(op, op->first[i]);
  }
  for (int i = 0; i < op->contacts; i++) {
    const saltusi_block_entries row = saltusi_row_entries(op, op->first[i]);
    if (row.count > 0) {
      op->body_count[root_of(op, row.column[0])]++;
    }
  }
  for (int r = 0; r < op->joints; r++) {
    const saltusi_block_entries row = saltusi_row_entries(op, r);
    int* count = row.count > 0 ? op->body_count + root_of(op, row.column[0]) : NULL;
    if (count != NULL && *count != 0) {
      *count = unite_bodies(op, r) > 2 ? NEVER : *count + (r % 3 == 0 ? 1 : 0);
    }
  }
}

void saltusi_operator_bodies_find(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  const saltus_structure* s = eval->sys.structure;
  op->thin = op->bodies_most > 0 && !op->full && !op->held && !op->apart &&
             op->contacts + op->joints / 3 >= SALTUSI_BODIES_FROM && op->contacts > 0 &&
             op->tol >= SALTUSI_BODIES_TOL && has_bodies(op, s);
  for (int k = 0; op->thin && k < s->blocks; k++) {
    op->body_number[k] = -1;
    for (int i = s->start[k]; i < s->start[k + 1]; i++) {
      op->body_of[i] = k;
    }
  }
  if (op->thin && op->joints > 0) {
    count_units(op, s->blocks);
  }
}

bool saltusi_operator_bodies_hold(const saltusi_operator* op, int velocity) {
  assert(op != NULL && op->joints > 0);
  return op->thin && op->body_count[root_of(op, velocity)] >= SALTUSI_BODIES_FROM;
}

/* A^-1 of a body in closed form: diagonal A, and bodies without coupling of translation and rotation. */
static bool copy_inverse(const saltusi_operator* op, const saltus_structure* s, int block,
                         double* inverse) {
  enum { HALF = WIDTH / 2 };
  const saltusi_linear_blocks* A = &op->A->blocks;
  if (s->start[block + 1] - s->start[block] != WIDTH) {
    return false;
  }
  if (op->scalar) {
    for (int k = 0; k < WIDTH; k++) {
      inverse[k * (WIDTH + 1)] = op->inverse[s->start[block] + k];
    }
    return true;
  }
  if (op->A->kind != SALTUSI_LINEAR_BLOCKS || A->form != SALTUSI_BLOCKS_APART ||
      A->halved[block] == 0) {
    return false;
  }
  const double* known = A->inverse + (size_t)block * 2 * HALF * HALF;
  for (int k = 0; k < 2 * HALF * HALF; k++) {
    const int row = k / HALF, column = k % HALF + (row < HALF ? 0 : HALF);
    inverse[row * WIDTH + column] = known[k];
  }
  return true;
}

/* A^-1 of a body. */
static void write_inverse(saltusi_operator* op, const saltusi_eval* eval, int block,
                          double* inverse) {
  const saltus_structure* s = eval->sys.structure;
  int first = s->start[block];
  int width = s->start[block + 1] - first;
  memset(inverse, 0, SALTUSI_BODY_BLOCK * sizeof(double));
  if (copy_inverse(op, s, block, inverse)) {
    return;
  }
  for (int k = 0; k < WIDTH; k++) {
    const double one = 1.0;
    int velocity = first + k;
    const saltusi_block_entries row = {1, &velocity, &one};
    inverse[k * (WIDTH + 1)] = 1.0;
    if (k < width) {
      int count = saltusi_response_sparse(op, eval, &row, op->reached, op->reached_values);
      for (int e = 0; e < count; e++) {
        inverse[(op->reached[e] - first) * WIDTH + k] = op->reached_values[e];
      }
    }
  }
}

/* The number of a body in the island, or a new one. */
static int number_of(saltusi_operator* op, const saltusi_eval* eval, int block) {
  saltusi_bodies* b = &op->bodies;
  if (op->body_number[block] < 0) {
    op->body_number[block] = b->bodies;
    write_inverse(op, eval, block, b->inverse + (size_t)b->bodies * SALTUSI_BODY_BLOCK);
    b->mark[b->bodies++] = block;
  }
  return op->body_number[block];
}

/* Whether six entries of a row are all velocities of a body. */
static bool is_whole(const saltusi_operator* op, const saltus_structure* s, const int* column) {
  const int start = s->start[op->body_of[column[0]]];
  return column[0] == start && column[WIDTH - 1] == start + WIDTH - 1;
}

/* Stores a unit of three rows over all velocities of its one or two bodies; false: its rows have other columns. */
static bool copy_contact(saltusi_operator* op, const saltusi_eval* eval, int i, int row, int rows) {
  const saltus_structure* s = eval->sys.structure;
  const saltusi_block_entries first = saltusi_row_entries(op, row);
  const int sides = first.count / WIDTH;
  if (rows != 3 || first.count % WIDTH != 0 || sides < 1 || sides > 2 ||
      !is_whole(op, s, first.column) || (sides == 2 && !is_whole(op, s, first.column + WIDTH))) {
    return false;
  }
  double* G = op->bodies.G + (size_t)i * SALTUSI_CONTACT_ROWS;
  int* body = op->bodies.body + 2 * (size_t)i;
  body[1] = -1;
  for (int side = 0; side < sides; side++) {
    body[side] = number_of(op, eval, op->body_of[first.column[side * WIDTH]]);
    for (int k = 0; k < 3; k++) {
      memcpy(G + side * SALTUSI_BODY_ROWS + k * WIDTH,
             first.values + (size_t)k * (size_t)op->rows.stride + side * WIDTH,
             WIDTH * sizeof(double));
    }
  }
  if (sides == 1) {
    memset(G + SALTUSI_BODY_ROWS, 0, SALTUSI_BODY_ROWS * sizeof(double));
  }
  return true;
}

/* Up to three rows of a contact or a joint; false when it touches more than two bodies. */
static bool write_unit(saltusi_operator* op, const saltusi_eval* eval, int i, int row, int rows) {
  if (copy_contact(op, eval, i, row, rows)) {
    return true;
  }
  saltusi_bodies* b = &op->bodies;
  const saltus_structure* s = eval->sys.structure;
  int* body = b->body + 2 * (size_t)i;
  double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
  const saltusi_block_entries first = saltusi_row_entries(op, row);
  body[0] = body[1] = -1;
  memset(G, 0, SALTUSI_CONTACT_ROWS * sizeof(double));
  for (int e = 0, end; e < first.count; e = end) {
    end = end_of_body(op, &first, e);
    int block = op->body_of[first.column[e]];
    int number = number_of(op, eval, block);
    int side = body[0] < 0 || body[0] == number ? 0 : 1;
    if (side == 1 && body[1] >= 0 && body[1] != number) {
      return false;
    }
    body[side] = number;
    const int at = first.column[e] - s->start[block];
    const bool whole = end - e == WIDTH && first.column[end - 1] - first.column[e] == WIDTH - 1;
    for (int k = 0; k < rows; k++) {
      double* to = G + side * SALTUSI_BODY_ROWS + k * WIDTH + at;
      const double* from = op->rows.G + (size_t)(row + k) * (size_t)op->rows.stride + e;
      if (whole) {
        memcpy(to, from, WIDTH * sizeof(double));
        continue;
      }
      for (int x = 0; x < end - e; x++) {
        to[first.column[e + x] - first.column[e]] = from[x];
      }
    }
  }
  return true;
}

/* G_i^T A^-1 G_i of contact i of the island, its nine sums side by side. */
SALTUSI_ALWAYS_INLINE void add_diagonal(const saltusi_bodies* b, int i, double* own) {
  for (int s = 0; s < 2 && b->body[2 * i + s] >= 0; s++) {
    const size_t at = (size_t)i * SALTUSI_CONTACT_ROWS + (size_t)s * SALTUSI_BODY_ROWS;
    const double *g = b->G + at, *m = b->moved + at;
    double sum[SALTUSI_CONTACT_ENTRIES] = {0.0};
    for (int a = 0; a < WIDTH; a++) {
      for (int k = 0; k < SALTUSI_CONTACT_ENTRIES; k++) {
        sum[k] += g[k / 3 * WIDTH + a] * m[k % 3 * WIDTH + a];
      }
    }
    for (int k = 0; k < SALTUSI_CONTACT_ENTRIES; k++) {
      own[k] += sum[k];
    }
  }
}

/* The diagonal blocks of W of units first .. last - 1, with compliance. Padding rows have no velocities and the mean
 * compliance of the others. */
SALTUSI_FOR_MACHINES static void write_diagonals(saltusi_operator* op, int first, int last) {
  const saltusi_bodies* b = &op->bodies;
  for (int u = first; u < last; u++) {
    double own[SALTUSI_CONTACT_ENTRIES] = {0.0}, sum = 0.0;
    double* soft = b->soft + 3 * (size_t)(u - first);
    const int rows = op->unit_rows[u];
    add_diagonal(b, u - first, own);
    for (int k = 0; k < rows; k++) {
      own[4 * k] += soft[k];
      sum += own[4 * k];
      op->diagonal[op->unit_row[u] + k] = own[4 * k];
    }
    for (int k = rows; k < 3; k++) {
      own[4 * k] = soft[k] = sum > 0.0 ? sum / rows : 1.0;
    }
    memcpy(op->friction.values + op->block_place[op->block_diagonal[u]], own, sizeof own);
  }
}

static bool is_seen(const saltusi_bodies_seen* a, const saltusi_bodies_seen* b) {
  return a->formed == b->formed && a->first == b->first && a->last == b->last;
}

saltusi_bodies* saltusi_operator_bodies(saltusi_operator* op, const saltusi_eval* eval, int first,
                                        int last) {
  assert(op != NULL && eval != NULL && first <= last);
  saltusi_bodies* b = &op->bodies;
  const saltusi_bodies_seen seen = {.formed = op->formed, .first = first, .last = last};
  if (is_seen(&op->bodies_seen, &seen)) { /* continue from the last iterate */
    return b;
  }
  op->bodies_seen = (saltusi_bodies_seen){0};
  bool served = true;
  b->units = last - first;
  b->bodies = 0;
  b->softens = op->softens;
  for (int u = first; u < last && served; u++) {
    double* soft = b->soft + 3 * (size_t)(u - first);
    for (int k = 0; k < 3; k++) {
      const bool given = op->softens && k < op->unit_rows[u];
      soft[k] = given ? op->soft[op->unit_row[u] + k] : 0.0;
    }
    served = write_unit(op, eval, u - first, op->unit_row[u], op->unit_rows[u]);
  }
  for (int k = 0; k < b->bodies; k++) {
    op->body_number[b->mark[k]] = -1;
  }
  if (!served || !saltusi_bodies_prepare(b)) {
    return NULL;
  }
  write_diagonals(op, first, last);
  op->bodies_seen = seen;
  return b;
}
