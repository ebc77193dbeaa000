/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * blocks.c - W of contacts and of joints that are not eliminated (the units): one block for every two units
 * that act on a common group of velocities. The response of a unit is stored in a table by velocity while its
 * blocks with the other units are computed.
 */
#include "operator/operator_internal.h"

#include "math/matrix.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void saltusi_blocks_layout(saltusi_operator* op, const saltus_dims* dims, int each,
                           saltus_arena* arena) {
  assert(op != NULL && dims != NULL && arena != NULL);
  int units = dims->nj + dims->nc;
  int rows = (dims->nj + dims->nc) * each;
  size_t nv = (size_t)dims->nv;
  op->inverse = SALTUS_PUSH(arena, double, nv);
  op->table_stride = each;
  op->table = SALTUS_PUSH2(arena, double, nv, each);
  op->push = SALTUS_PUSH(arena, double, nv);
  op->pushed = SALTUS_PUSH(arena, double, nv);
  op->moved = SALTUS_PUSH(arena, double, nv);
  op->reached = SALTUS_PUSH(arena, int, nv);
  op->reached_values = SALTUS_PUSH(arena, double, nv);
  op->cleared = SALTUS_PUSH(arena, int, nv);
  op->touched = SALTUS_PUSH(arena, int, dims->row_width);
  op->unit_row = SALTUS_PUSH(arena, int, units + 1);
  op->offset = SALTUS_PUSH(arena, int, units + 1);
  op->unit_contact = SALTUS_PUSH(arena, int, units);
  op->unit_rows = SALTUS_PUSH(arena, int, units);
  op->block_diagonal = SALTUS_PUSH(arena, int, units);
  op->unit_joint = SALTUS_PUSH(arena, unsigned char, units);
  op->island_start = SALTUS_PUSH(arena, int, units + 2);
  op->island_thin = SALTUS_PUSH(arena, bool, units + 2);
  op->unit_mark = SALTUS_PUSH(arena, int, units);
  op->neighbour = SALTUS_PUSH(arena, int, units);
  op->list_start = SALTUS_PUSH(arena, int, nv + 1);
  op->list = SALTUS_PUSH2(arena, int, units, dims->row_width);
  op->unit_mu = SALTUS_PUSH(arena, double, units);
  op->unit_slip = SALTUS_PUSH(arena, double, units);
  op->unit_rhs = SALTUS_PUSH(arena, double, rows);
  op->unit_P = SALTUS_PUSH(arena, double, rows);
}

/* Number of rows of a joint from row r on that form one unit: as many as fit the block size of contacts. A user-defined
 * law (whole_offset) treats each joint row as a unit of its own. */
static int joint_rows(const saltusi_operator* op, const saltus_system* sys, int r) {
  int joint = saltusi_joint_of(sys, r);
  int last = saltusi_joint_first(sys, joint) + saltusi_joint_rows(sys, joint);
  int left = last - r;
  int most = op->whole_offset == NULL && r < op->joints ? op->table_stride : 1;
  return left < most ? left : most;
}

/* Adds unit `at`: rows of a joint (contact -1), or all rows of a contact. */
static void put_unit(saltusi_operator* op, int at, int row, int rows, int contact) {
  op->unit_row[at] = row;
  op->unit_contact[at] = contact;
  op->unit_rows[at] = rows;
  op->unit_joint[at] = (unsigned char)(contact < 0);
  op->unit_mu[at] = contact < 0 ? SALTUSI_BILATERAL : op->mu[contact];
}

/* Number of rows of a unit in W: three in body space. */
static void count_rows(saltusi_operator* op) {
  op->offset[0] = 0;
  for (int i = 0; i < op->islands; i++) {
    for (int u = op->island_start[i]; u < op->island_start[i + 1]; u++) {
      op->offset[u + 1] = op->offset[u] + (op->island_thin[i] ? 3 : op->unit_rows[u]);
    }
  }
}

/* Joints, then contacts. */
static void list_units(saltusi_operator* op, const saltus_system* sys) {
  const saltusi_groups* g = &op->groups;
  op->units = 0;
  for (int r = 0; r < op->bilateral;) { /* rows of a joint are of one component */
    int rows = g->eliminated[g->of_row[r]] || r >= op->joints ? 1 : joint_rows(op, sys, r);
    if (!g->eliminated[g->of_row[r]]) {
      put_unit(op, op->units++, r, rows, -1);
    }
    r += rows;
  }
  op->staying = op->units;
  for (int i = 0; i < op->contacts && !op->held; i++) {
    put_unit(op, op->units++, op->first[i], op->first[i + 1] - op->first[i], i);
  }
  op->islands = op->units > 0 ? 1 : 0;
  op->island_start[0] = 0;
  op->island_start[1] = op->units;
  op->island_thin[0] = false;
  count_rows(op);
}

/* Whether a unit reaches a group for the first time in a pass; each pass has its own stamp. */
static inline bool first_time(saltusi_groups* g, int group, int stamp) {
  bool fresh = g->mark[group] != stamp;
  g->mark[group] = stamp;
  return fresh;
}

/* Whether an island is solved in body space. */
static bool is_thin(const saltusi_operator* op, int island) {
  const int first = op->island_start[island];
  if (!op->thin || op->joints == 0) {
    return op->thin && op->island_start[island + 1] - first >= SALTUSI_BODIES_FROM;
  }
  const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[first]);
  return row.count > 0 && saltusi_operator_bodies_hold(op, row.column[0]);
}

/* Units of each group, by counting sort, in ascending order. Units of islands solved in body space are listed once:
 * their couplings to other units are not needed. */
static void sort_units(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  int* next = op->reached; /* place of a group's next unit */
  memset(op->list_start, 0, ((size_t)nv + 1) * sizeof(int));
  for (int i = 0; i < nv; i++) {
    g->mark[i] = -1;
  }
  for (int u = 0; u < op->units; u++) {
    const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[u]);
    for (int k = 0; k < row.count; k++) {
      int group = g->group[row.column[k]];
      if (k == 0 || group != g->group[row.column[k - 1]]) { /* of a body all at once */
        op->list_start[group + 1] += first_time(g, group, u) ? 1 : 0;
      }
    }
  }
  for (int j = 0; j < nv; j++) {
    op->list_start[j + 1] += op->list_start[j];
  }
  memcpy(next, op->list_start, (size_t)nv * sizeof(int));
  for (int i = 0; i < op->islands; i++) {
    for (int u = op->island_start[i]; u < op->island_start[i + 1] && !op->island_thin[i]; u++) {
      const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[u]);
      for (int k = 0; k < row.count; k++) {
        int group = g->group[row.column[k]];
        if (first_time(g, group, op->units + u)) {
          op->list[next[group]++] = u;
        }
      }
    }
  }
}

static int ascending(const void* a, const void* b) {
  int x = *(const int*)a;
  int y = *(const int*)b;
  return (x > y) - (x < y);
}

/* Units that act on a group of unit u, ascending; returns their number. */
static int find_neighbours(saltusi_operator* op, int u) {
  enum { FEW = 32 };
  saltusi_groups* g = &op->groups;
  const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[u]);
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

/* The island of a unit, from one of its groups; -1: it acts on no velocity. */
static int island_of(saltusi_operator* op, int row) {
  const saltusi_block_entries entries = saltusi_row_entries(op, row);
  int* parent = op->groups.parent;
  return entries.count > 0 ? saltusi_root(parent, op->groups.group[entries.column[0]]) : -1;
}

/* Merges the groups of each unit into one tree (an island); units are counted by root in list_start. */
static void find_islands(saltusi_operator* op, int nv) {
  saltusi_groups* g = &op->groups;
  for (int i = 0; i < nv; i++) {
    g->parent[i] = i;
    op->list_start[i] = 0;
  }
  for (int u = 0; u < op->units; u++) {
    const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[u]);
    for (int k = 1; k < row.count; k++) {
      if (g->group[row.column[k]] != g->group[row.column[k - 1]]) {
        saltusi_unite(g->parent, g->group[row.column[0]], g->group[row.column[k]]);
      }
    }
  }
  for (int u = 0; u < op->units; u++) {
    int root = island_of(op, op->unit_row[u]);
    op->list_start[root >= 0 ? root : 0] += root >= 0 ? 1 : 0;
  }
}

/* Sorts the units by island; op->unit_mark becomes the new index of each unit. */
static void place_units(saltusi_operator* op, int nv) {
  const int* size = op->list_start;
  int* place = op->groups.mark; /* of the next unit of an island */
  for (int i = 0; i < nv; i++) {
    place[i] = -1;
  }
  int next = 0;
  op->islands = 0;
  for (int u = 0; u < op->units; u++) {
    int root = island_of(op, op->unit_row[u]);
    if (root < 0 || place[root] < 0) {
      op->island_start[op->islands++] = next;
      op->unit_mark[u] = next;
      next += root < 0 ? 1 : size[root];
      if (root >= 0) {
        place[root] = op->unit_mark[u] + 1;
      }
      continue;
    }
    op->unit_mark[u] = place[root]++;
  }
  op->island_start[op->islands] = next;
}

/* Sorts the units by island. */
static void sort_by_islands(saltusi_operator* op) {
  int* row = op->neighbour;
  int* rows = op->block_diagonal; /* not needed yet */
  memcpy(row, op->unit_row, (size_t)op->units * sizeof(int));
  memcpy(rows, op->unit_rows, (size_t)op->units * sizeof(int));
  for (int u = 0; u < op->units; u++) { /* joints were listed first, contacts in their order */
    put_unit(op, op->unit_mark[u], row[u], rows[u], u < op->staying ? -1 : u - op->staying);
  }
}

/* Units by islands. */
static void order_units(saltusi_operator* op, int nv) {
  find_islands(op, nv);
  place_units(op, nv);
  if (op->islands > 1) {
    sort_by_islands(op);
  }
  for (int i = 0; i < op->islands; i++) {
    op->island_thin[i] = is_thin(op, i);
  }
  count_rows(op);
}

/* Sparsity pattern of W, up to the capacity for blocks; returns the number of blocks. Of islands that are solved in
 * body space, a thin W has the diagonal blocks only. */
static size_t find_pattern(saltusi_operator* op) {
  size_t room = op->friction.blocks_max;
  size_t blocks = 0;
  int place = 0;
  int island = 0;
  for (int u = 0; u < op->units; u++) {
    op->unit_mark[u] = -1;
  }
  for (int u = 0; u < op->units; u++) {
    for (; op->thin && u >= op->island_start[island + 1]; island++) {
    }
    bool alone = op->island_thin[island];
    op->neighbour[0] = u;
    int count = alone ? 1 : find_neighbours(op, u);
    int rows = op->offset[u + 1] - op->offset[u];
    op->block_start[u] = (int)blocks;
    for (int k = 0; k < count && blocks + (size_t)count <= room; k++) {
      int v = op->neighbour[k];
      size_t at = blocks + (size_t)k;
      op->block_diagonal[u] = u == v ? (int)at : op->block_diagonal[u];
      op->block_place[at] = place;
      op->block_unit[at] = v;
      place += rows * (op->offset[v + 1] - op->offset[v]);
    }
    blocks += (size_t)count;
  }
  if (blocks <= room) {
    op->block_start[op->units] = (int)blocks;
    op->block_place[blocks] = place;
  }
  return blocks;
}

/* Lists the eliminated components that a unit touches in op->touched; returns their number. */
static int find_components(saltusi_operator* op, const saltusi_block_entries* row) {
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

/* Writes A^-1 G of a row to column k of the table. op->reached: its number of velocities, equal for all rows of a unit.
 * */
static int spread_row(saltusi_operator* op, const saltusi_eval* eval, int r, int k) {
  const saltusi_block_entries row = saltusi_row_entries(op, r);
  int stride = op->table_stride;
  if (op->scalar) {
    for (int e = 0; e < row.count; e++) {
      int i = row.column[e];
      op->table[i * stride + k] = row.values[e] * op->inverse[i];
    }
    return row.count;
  }
  int count = saltusi_response_sparse(op, eval, &row, op->reached, op->reached_values);
  for (int e = 0; e < count; e++) {
    op->table[op->reached[e] * stride + k] = op->reached_values[e];
  }
  return count;
}

/* Writes the response of a unit, with eliminated joints enforced, to the table; returns its number of velocities
 * without joints, listed in op->cleared unless A is diagonal. */
static int spread_unit(saltusi_operator* op, const saltusi_eval* eval, int u, int components) {
  int first = op->unit_row[u];
  int rows = op->offset[u + 1] - op->offset[u];
  int count = 0;
  for (int k = 0; k < rows; k++) {
    count = spread_row(op, eval, first + k, k);
  }
  if (!op->scalar) {
    memcpy(op->cleared, op->reached, (size_t)count * sizeof(int));
  }
  for (int k = 0; k < rows && components > 0; k++) {
    const saltusi_block_entries row = saltusi_measured_entries(op, first + k);
    double sum = 0.0;
    for (int e = 0; e < row.count; e++) {
      sum += row.values[e] * op->table[row.column[e] * op->table_stride + k];
    }
    op->diagonal[first + k] = sum;
    for (int i = 0; i < components; i++) {
      saltusi_eliminate_from(op, eval, op->touched[i], k);
    }
  }
  return count;
}

/* Resets the table to zero. */
static void clear_unit(saltusi_operator* op, int u, int count, int components) {
  const saltusi_groups* g = &op->groups;
  int rows = op->offset[u + 1] - op->offset[u];
  const int* column = op->scalar ? saltusi_row_entries(op, op->unit_row[u]).column : op->cleared;
  for (int e = 0; e < count; e++) {
    for (int k = 0; k < rows; k++) {
      op->table[column[e] * op->table_stride + k] = 0.0;
    }
  }
  for (int i = 0; i < components; i++) {
    int c = op->touched[i];
    for (int e = g->column_start[c]; e < g->column_start[c + 1]; e++) {
      memset(op->table + (size_t)g->column[e] * (size_t)op->table_stride, 0,
             (size_t)rows * sizeof(double));
    }
  }
}

/* R_u^T H_v, u in the table. Sizes are constants where this is inlined. */
static inline void write_block(const saltusi_operator* op, int v, const int stride, const int rows,
                               const int columns, double* block) {
  const saltusi_row_block* H = saltusi_operator_measured(op);
  const saltusi_block_entries row = saltusi_measured_entries(op, op->unit_row[v]);
  double sum[9] = {0.0};
  for (int e = 0; e < row.count; e++) {
    const double* own = op->table + (size_t)stride * (size_t)row.column[e];
    for (int k = 0; k < rows; k++) {
      for (int c = 0; c < columns; c++) {
        sum[k * columns + c] += own[k] * row.values[c * H->stride + e];
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

/* The blocks of unit u with all others. W_vu = H_v^T R_u, which is W_uv^T where A is symmetric; otherwise it is stored
 * in row v, at the next position, because units come in ascending order. */
static void write_blocks(saltusi_operator* op, int u, int* next) {
  int rows = op->offset[u + 1] - op->offset[u];
  for (int e = op->block_start[u]; e < op->block_start[u + 1]; e++) {
    int v = op->block_unit[e];
    int columns = op->offset[v + 1] - op->offset[v];
    double made[9];
    double* to = op->friction.values + op->block_place[op->symmetric ? e : next[v]++];
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

static bool is_band(const saltusi_operator* op) {
  for (int u = 0; u < op->units; u++) {
    int first = op->block_unit[op->block_start[u]];
    int last = op->block_unit[op->block_start[u + 1] - 1];
    if (u - first > SALTUSI_STEP_BAND || last - u > SALTUSI_STEP_BAND) {
      return false;
    }
  }
  return true;
}

/* Number of blocks of the group with the most units, which are coupled pairwise. */
static size_t most_blocks(const saltusi_operator* op, int nv) {
  size_t most = 0;
  for (int g = 0; g < nv; g++) {
    size_t count = (size_t)(op->list_start[g + 1] - op->list_start[g]);
    most = count > most ? count : most;
  }
  return most * most;
}

/* Whether a number of blocks is too large to store. */
static bool leave(saltusi_operator* op, size_t blocks) {
  size_t each = (size_t)op->table_stride * (size_t)op->table_stride;
  if (!saltusi_matrix_free_serves(op, blocks * each, (size_t)op->units * each)) {
    return false;
  }
  op->storage = SALTUSI_STORED_PRODUCT;
  return true;
}

/* Order of the units and pattern of W; returns the number of blocks. Normal rows keep an order in which W is banded,
 * unless a user-defined law requires islands. */
static size_t arrange(saltusi_operator* op, const saltusi_eval* eval) {
  const saltus_system* sys = &eval->sys;
  int nv = sys->dims.nv;
  bool normal = !op->has_friction && op->bilateral == 0 && op->whole_offset == NULL;
  size_t blocks = 0;
  op->band = false;
  list_units(op, sys);
  if (normal) {
    sort_units(op, nv);
    if (leave(op, most_blocks(op, nv))) {
      return 0;
    }
    blocks = find_pattern(op);
    op->band = blocks <= op->friction.blocks_max && is_band(op);
    if (op->band) {
      return blocks;
    }
  }
  order_units(op, nv);
  if (normal && op->islands <= 1) {
    return blocks;
  }
  sort_units(op, nv);
  return leave(op, most_blocks(op, nv)) ? 0 : find_pattern(op);
}

/* W of a unit with all others. */
static void form_unit(saltusi_operator* op, const saltusi_eval* eval, int u, int* next) {
  const saltusi_block_entries row = saltusi_row_entries(op, op->unit_row[u]);
  const int components = op->groups.any ? find_components(op, &row) : 0;
  const int count = spread_unit(op, eval, u, components);
  write_blocks(op, u, next);
  clear_unit(op, u, count, components);
  double* own = op->friction.values + op->block_place[op->block_diagonal[u]];
  const int rows = op->offset[u + 1] - op->offset[u];
  for (int k = 0; k < rows && op->softens; k++) {
    own[k * (rows + 1)] += op->soft[op->unit_row[u] + k];
  }
  for (int k = 0; k < rows && components == 0; k++) {
    op->diagonal[op->unit_row[u] + k] = own[k * (rows + 1)];
  }
}

/* Diagonal blocks of an island in body space come with its bodies (operator/bodies.c). */
size_t saltusi_blocks_form(saltusi_operator* op, const saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  size_t blocks = arrange(op, eval);
  if (op->storage == SALTUSI_STORED_PRODUCT || leave(op, blocks)) {
    return 0;
  }
  if (blocks > op->friction.blocks_max) {
    return blocks;
  }
  int* next = op->neighbour;
  memcpy(next, op->block_start, (size_t)op->units * sizeof(int));
  int island = 0;
  for (int u = 0; u < op->units; u++) {
    for (; op->thin && u >= op->island_start[island + 1]; island++) {
    }
    if (!op->island_thin[island]) {
      form_unit(op, eval, u, next);
    }
  }
  return blocks;
}

void saltusi_blocks_spread(saltusi_operator* op, int first, int last) {
  assert(op != NULL && first >= 0 && first <= last && last <= op->units);
  int base = op->offset[first];
  size_t n = (size_t)(op->offset[last] - base);
  memset(op->W, 0, n * n * sizeof(double));
  for (int u = first; u < last; u++) {
    for (int e = op->block_start[u]; e < op->block_start[u + 1]; e++) {
      int v = op->block_unit[e];
      const double* block = op->friction.values + op->block_place[e];
      for (int k = op->offset[u] - base; k < op->offset[u + 1] - base; k++) {
        for (int c = op->offset[v] - base; c < op->offset[v + 1] - base; c++) {
          op->W[(size_t)k * n + (size_t)c] = *block++;
        }
      }
    }
  }
}
