/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * blocks.c - W of the units that stay, joints of components that are not eliminated and contacts: a block
 * for every two that touch a common group of velocities. The response of a unit lies spread out in a
 * table by velocity while its blocks with the others are made.
 */
#include "operator/inside.h"

#include "math/matrix.h"

#include <stdlib.h>
#include <string.h>

void saltusi_blocks_layout(saltusi_operator* op, const saltus_dims* dims, int each,
                           saltus_arena* arena) {
  int units = dims->nj + dims->nc;
  int rows = dims->nj + dims->nc * each;
  size_t nv = (size_t)dims->nv;
  op->inverse = SALTUS_PUSH(arena, double, nv);
  op->table_stride = each;
  op->table = SALTUS_PUSH2(arena, double, nv, each);
  op->push = SALTUS_PUSH(arena, double, nv);
  op->pushed = SALTUS_PUSH(arena, double, nv);
  op->moved = SALTUS_PUSH(arena, double, nv);
  op->reached = SALTUS_PUSH(arena, int, nv);
  op->reached_values = SALTUS_PUSH(arena, double, nv);
  op->touched = SALTUS_PUSH(arena, int, dims->row_width);
  op->unit_row = SALTUS_PUSH(arena, int, units + 1);
  op->offset = SALTUS_PUSH(arena, int, units + 1);
  op->unit_mark = SALTUS_PUSH(arena, int, units);
  op->neighbour = SALTUS_PUSH(arena, int, units);
  op->list_start = SALTUS_PUSH(arena, int, nv + 1);
  op->list = SALTUS_PUSH2(arena, int, units, dims->row_width);
  op->unit_mu = SALTUS_PUSH(arena, double, units);
  op->unit_slip = SALTUS_PUSH(arena, double, units);
  op->unit_rhs = SALTUS_PUSH(arena, double, rows);
  op->unit_P = SALTUS_PUSH(arena, double, rows);
}

static void add_unit(saltusi_operator* op, int row, int rows, double mu) {
  op->unit_row[op->units] = row;
  op->unit_mu[op->units] = mu;
  op->offset[op->units + 1] = op->offset[op->units] + rows;
  op->units++;
}

static void list_units(saltusi_operator* op) {
  const saltusi_groups* g = &op->groups;
  op->units = 0;
  op->offset[0] = 0;
  for (int r = 0; r < op->bilateral; r++) {
    if (!g->eliminated[g->of_row[r]]) {
      add_unit(op, r, 1, 0.0);
    }
  }
  op->staying = op->units;
  for (int i = 0; i < op->contacts && !op->held; i++) {
    add_unit(op, op->first[i], op->first[i + 1] - op->first[i], op->mu[i]);
  }
}

/* Whether a unit is seen by a group for the first time, with a stamp for each pass over the units. */
static inline bool first_time(saltusi_groups* g, int group, int stamp) {
  bool fresh = g->mark[group] != stamp;
  g->mark[group] = stamp;
  return fresh;
}

/* Which units touch a group: counting sort by group, units ascending. */
static void sort_units(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  memset(op->list_start, 0, ((size_t)nv + 1) * sizeof(int));
  for (int u = 0; u < op->units; u++) {
    const saltusi_entries row = saltusi_row_entries(op, op->unit_row[u]);
    for (int k = 0; k < row.count; k++) {
      int group = g->group[row.column[k]];
      op->list_start[group + 1] += first_time(g, group, u) ? 1 : 0;
    }
  }
  for (int j = 0; j < nv; j++) {
    op->list_start[j + 1] += op->list_start[j];
  }
  for (int u = 0; u < op->units; u++) {
    const saltusi_entries row = saltusi_row_entries(op, op->unit_row[u]);
    for (int k = 0; k < row.count; k++) {
      int group = g->group[row.column[k]];
      if (first_time(g, group, op->units + u)) {
        op->list[op->list_start[group]++] = u;
      }
    }
  }
  for (int j = nv; j > 0; j--) { /* the starts moved to the ends: back */
    op->list_start[j] = op->list_start[j - 1];
  }
  op->list_start[0] = 0;
}

static int ascending(const void* a, const void* b) {
  int x = *(const int*)a;
  int y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Units that touch a group of unit u, ascending; returns how many. */
static int find_neighbours(saltusi_operator* op, int u) {
  enum { FEW = 32 };
  saltusi_groups* g = &op->groups;
  const saltusi_entries row = saltusi_row_entries(op, op->unit_row[u]);
  int* found = op->neighbour;
  int count = 0;
  for (int k = 0; k < row.count; k++) {
    int group = g->group[row.column[k]];
    if (!first_time(g, group, 2 * op->units + u)) {
      continue;
    }
    for (int p = op->list_start[group]; p < op->list_start[group + 1]; p++) {
      int v = op->list[p];
      if (op->unit_mark[v] != u) {
        op->unit_mark[v] = u;
        found[count++] = v;
      }
    }
  }
  if (op->unit_mark[u] != u) { /* it touches nothing */
    found[count++] = u;
  }
  if (count > FEW) {
    qsort(found, (size_t)count, sizeof(int), ascending);
    return count;
  }
  for (int k = 1; k < count; k++) {
    int v = found[k];
    int at = k;
    for (; at > 0 && found[at - 1] > v; at--) {
      found[at] = found[at - 1];
    }
    found[at] = v;
  }
  return count;
}

/* All blocks there are, without values. */
static bool find_pattern(saltusi_operator* op) {
  saltusi_friction_step_open(&op->friction, op->units, op->offset, op->staying);
  for (int u = 0; u < op->units; u++) {
    op->unit_mark[u] = -1;
  }
  for (int u = 0; u < op->units; u++) {
    int count = find_neighbours(op, u);
    saltusi_friction_step_row(&op->friction, u);
    for (int k = 0; k < count; k++) {
      if (saltusi_friction_step_block(&op->friction, u, op->neighbour[k]) == NULL) {
        return false;
      }
    }
  }
  saltusi_friction_step_close(&op->friction);
  return true;
}

/* Eliminated components that a unit touches into op->touched; returns how many. */
static int find_components(saltusi_operator* op, const saltusi_entries* row) {
  int count = 0;
  for (int k = 0; k < row->count; k++) {
    int c = saltusi_groups_eliminated(&op->groups, row->column[k]);
    bool known = c < 0;
    for (int i = 0; i < count && !known; i++) {
      known = op->touched[i] == c;
    }
    if (!known) {
      op->touched[count++] = c;
    }
  }
  return count;
}

/* A^-1 G of a row into column k of the table, or zeros back into it. */
static void spread_row(saltusi_operator* op, const saltusi_eval* eval, int r, int k, bool clear) {
  const saltusi_entries row = saltusi_row_entries(op, r);
  int stride = op->table_stride;
  if (op->scalar) {
    for (int e = 0; e < row.count; e++) {
      int i = row.column[e];
      op->table[i * stride + k] = clear ? 0.0 : row.values[e] * op->inverse[i];
    }
    return;
  }
  int count = saltusi_response_sparse(op, eval, &row, op->reached, op->reached_values);
  for (int e = 0; e < count; e++) {
    op->table[op->reached[e] * stride + k] = clear ? 0.0 : op->reached_values[e];
  }
}

/* The response of a unit in the company of the eliminated joints into the table. */
static void spread_unit(saltusi_operator* op, const saltusi_eval* eval, int u, int components) {
  int first = op->unit_row[u];
  int rows = op->offset[u + 1] - op->offset[u];
  for (int k = 0; k < rows; k++) {
    spread_row(op, eval, first + k, k, false);
  }
  for (int k = 0; k < rows && components > 0; k++) {
    const saltusi_entries row = saltusi_row_entries(op, first + k);
    double sum = 0.0;
    for (int e = 0; e < row.count; e++) {
      sum += row.values[e] * op->table[row.column[e] * op->table_stride + k];
    }
    op->diagonal[first + k] = sum;
    for (int i = 0; i < components; i++) {
      saltusi_eliminate_from(op, eval, op->touched[i], k);
    }
  }
}

static void clear_unit(saltusi_operator* op, const saltusi_eval* eval, int u, int components) {
  const saltusi_groups* g = &op->groups;
  int rows = op->offset[u + 1] - op->offset[u];
  for (int k = 0; k < rows; k++) {
    spread_row(op, eval, op->unit_row[u] + k, k, true);
  }
  for (int i = 0; i < components; i++) {
    int c = op->touched[i];
    for (int e = g->column_start[c]; e < g->column_start[c + 1]; e++) {
      memset(op->table + (size_t)g->column[e] * (size_t)op->table_stride, 0,
             (size_t)rows * sizeof(double));
    }
  }
}

/* R_u^T G_v, u in the table. Sizes are constants where this is inlined. */
static inline void write_block(const saltusi_operator* op, int v, const int stride, const int rows,
                               const int columns, double* block) {
  const saltusi_row_block* G = &op->rows;
  const saltusi_entries row = saltusi_row_entries(op, op->unit_row[v]);
  double sum[9] = {0.0};
  for (int e = 0; e < row.count; e++) {
    const double* own = op->table + (size_t)stride * (size_t)row.column[e];
    for (int k = 0; k < rows; k++) {
      for (int c = 0; c < columns; c++) {
        sum[k * columns + c] += own[k] * row.values[c * G->stride + e];
      }
    }
  }
  memcpy(block, sum, (size_t)(rows * columns) * sizeof(double));
}

static void transpose(int rows, int columns, const double* from, double* to) {
  for (int k = 0; k < rows; k++) {
    for (int c = 0; c < columns; c++) {
      to[c * rows + k] = from[k * columns + c];
    }
  }
}

/* The blocks of unit u with all others. W_vu = G_v^T R_u, which is W_uv^T where A is symmetric; elsewhere
 * it goes to its place in row v: the next one there, because units come in ascending order. */
static void write_blocks(saltusi_operator* op, int u, int* next) {
  saltusi_friction_pattern* pattern = &op->friction.work.pattern;
  int rows = op->offset[u + 1] - op->offset[u];
  for (int e = pattern->start[u]; e < pattern->start[u + 1]; e++) {
    int v = pattern->unit[e];
    int columns = op->offset[v + 1] - op->offset[v];
    double made[9];
    double* to = op->friction.values + pattern->place[op->symmetric ? e : next[v]++];
    double* block = op->symmetric ? to : made;
    if (rows == 3 && columns == 3) {
      write_block(op, v, 3, 3, 3, block);
    } else if (rows == 2 && columns == 2 && op->table_stride == 2) {
      write_block(op, v, 2, 2, 2, block);
    } else {
      write_block(op, v, op->table_stride, rows, columns, block);
    }
    if (!op->symmetric) {
      transpose(rows, columns, made, to);
    }
  }
}

bool saltusi_blocks_form(saltusi_operator* op, const saltusi_eval* eval) {
  int nv = eval->sys.dims.nv;
  saltusi_friction_pattern* pattern = &op->friction.work.pattern;
  list_units(op);
  sort_units(op, nv);
  if (!find_pattern(op)) {
    return false;
  }
  int* next = op->neighbour;
  memcpy(next, pattern->start, (size_t)op->units * sizeof(int));
  for (int u = 0; u < op->units; u++) {
    const saltusi_entries row = saltusi_row_entries(op, op->unit_row[u]);
    int components = op->groups.any ? find_components(op, &row) : 0;
    spread_unit(op, eval, u, components);
    write_blocks(op, u, next);
    clear_unit(op, eval, u, components);
    const double* own = op->friction.values + pattern->place[pattern->diagonal[u]];
    int rows = op->offset[u + 1] - op->offset[u];
    for (int k = 0; k < rows && components == 0; k++) {
      op->diagonal[op->unit_row[u] + k] = own[k * (rows + 1)];
    }
  }
  return true;
}

bool saltusi_blocks_are_band(const saltusi_operator* op) {
  const saltusi_friction_pattern* pattern = &op->friction.work.pattern;
  for (int u = 0; u < pattern->units; u++) {
    int first = pattern->start[u];
    int last = pattern->start[u + 1] - 1;
    if (u - pattern->unit[first] > SALTUSI_STEP_BAND ||
        pattern->unit[last] - u > SALTUSI_STEP_BAND) {
      return false;
    }
  }
  return true;
}

void saltusi_blocks_spread(saltusi_operator* op) {
  const saltusi_friction_pattern* pattern = &op->friction.work.pattern;
  size_t n = (size_t)pattern->rows;
  memset(op->W, 0, n * n * sizeof(double));
  for (int u = 0; u < pattern->units; u++) {
    for (int e = pattern->start[u]; e < pattern->start[u + 1]; e++) {
      int v = pattern->unit[e];
      const double* block = op->friction.values + pattern->place[e];
      for (int k = pattern->offset[u]; k < pattern->offset[u + 1]; k++) {
        for (int c = pattern->offset[v]; c < pattern->offset[v + 1]; c++) {
          op->W[(size_t)k * n + (size_t)c] = *block++;
        }
      }
    }
  }
}
