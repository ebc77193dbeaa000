/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.c - see law.h.
 */
#include "scheme/law.h"

#include "math/matrix.h"

#include <math.h>
#include <string.h>

/* From this many contacts on a band is looked for; below, dense is as fast. */
enum { BAND_FROM = 16 };

/* Rows for which a dense W is affordable: some tens of megabytes, whatever the size of the system. */
static int largest_dense(const saltus_dims* dims, int rows) {
  enum { ENTRIES = 4000000 };
  int most = ENTRIES / dims->nv > BAND_FROM ? ENTRIES / dims->nv : BAND_FROM;
  most = most < SALTUSI_STEP_DENSE_MAX ? most : SALTUSI_STEP_DENSE_MAX;
  return rows < most ? rows : most;
}

static void layout_rows(saltusi_law* law, const saltus_dims* dims, int rows, bool convective,
                        saltus_arena* arena) {
  law->dense_max = largest_dense(dims, rows);
  saltusi_rows_layout(&law->rows, dims, rows + 3, convective, arena);
  saltusi_mixed_layout(&law->solver, law->dense_max, dims->nc, law->dense_max, arena);
  law->AinvG = SALTUS_PUSH2(arena, double, law->dense_max, dims->nv);
  law->W = SALTUS_PUSH2(arena, double, law->dense_max, law->dense_max);
  law->rhs = SALTUS_PUSH(arena, double, rows);
  law->P = SALTUS_PUSH(arena, double, rows);
  law->diagonal = SALTUS_PUSH(arena, double, rows);
  if (dims->row_width > 0) {
    size_t entries = (size_t)rows * SALTUSI_STEP_ENTRIES;
    law->inverse = SALTUS_PUSH(arena, double, dims->nv);
    law->band_start = SALTUS_PUSH(arena, int, rows + 1);
    law->band_column = SALTUS_PUSH(arena, int, entries);
    law->band_values = SALTUS_PUSH(arena, double, entries);
    law->row_start = SALTUS_PUSH(arena, int, dims->nv + 1);
    law->row_list = SALTUS_PUSH2(arena, int, rows, dims->row_width);
  }
}

void saltusi_law_layout(saltusi_law* law, const saltus_dims* dims, bool convective,
                        saltus_arena* arena) {
  layout_rows(law, dims, dims->nj + dims->nc, convective, arena);
}

void saltusi_law_layout_friction(saltusi_law* law, const saltus_system* sys, bool convective,
                                 saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  int each = 1;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    int rows = saltusi_law_rows(&sys->laws[i]);
    each = rows > each ? rows : each;
  }
  layout_rows(law, d, d->nj + d->nc * each, convective, arena);
  law->has_friction = each > 1;
  if (law->has_friction) {
    bool sparse = d->row_width > 0;
    int units = sparse || d->nc < law->dense_max ? d->nc : law->dense_max;
    int rows = sparse ? d->nc * each : law->dense_max;
    saltusi_friction_step_layout(&law->friction, units, each, rows, arena);
    law->first = SALTUS_PUSH(arena, int, d->nc + 1);
    law->mu = SALTUS_PUSH(arena, double, d->nc);
    law->slip = SALTUS_PUSH(arena, double, d->nc);
    law->friction.slip = law->slip;
  }
}

/* Which items have a column: counting sort of the entries of G by column, items ascending. Item i is row
 * first[i], which stands for all rows of a contact; NULL: row i. */
static void sort_by_column(saltusi_law* law, int nv, const int* first, int items) {
  const saltusi_row_block* G = &law->rows;
  memset(law->row_start, 0, ((size_t)nv + 1) * sizeof(int));
  for (int i = 0; i < items; i++) {
    int r = first != NULL ? first[i] : i;
    for (int k = 0; k < G->entries[r]; k++) {
      law->row_start[G->column[r * G->stride + k] + 1]++;
    }
  }
  for (int j = 0; j < nv; j++) {
    law->row_start[j + 1] += law->row_start[j];
  }
  for (int i = 0; i < items; i++) {
    int r = first != NULL ? first[i] : i;
    for (int k = 0; k < G->entries[r]; k++) {
      law->row_list[law->row_start[G->column[r * G->stride + k]]++] = i;
    }
  }
  for (int j = nv; j > 0; j--) { /* the starts moved to the ends: back */
    law->row_start[j] = law->row_start[j - 1];
  }
  law->row_start[0] = 0;
}

/* Entry of G in a row and a column that it has. */
static double entry(const saltusi_row_block* G, int r, int column) {
  for (int k = 0; k < G->entries[r]; k++) {
    if (G->column[r * G->stride + k] == column) {
      return G->G[r * G->stride + k];
    }
  }
  return 0.0;
}

/* Adds a number to entry (r, i) of the row of W that is being made, places start .. *end, ascending.
 * False when the band is too wide. */
static bool add_entry(saltusi_law* law, int start, int* end, int i, double value) {
  int at = *end;
  while (at > start && law->band_column[at - 1] > i) {
    at--;
  }
  if (at > start && law->band_column[at - 1] == i) {
    law->band_values[at - 1] += value;
    return true;
  }
  if (*end - start == SALTUSI_STEP_ENTRIES) {
    return false;
  }
  for (int k = *end; k > at; k--) {
    law->band_column[k] = law->band_column[k - 1];
    law->band_values[k] = law->band_values[k - 1];
  }
  law->band_column[at] = i;
  law->band_values[at] = value;
  (*end)++;
  return true;
}

/* W = G^T A^-1 G as a band; false when it is none. */
static bool make_band(saltusi_law* law, int nv, int rows) {
  const saltusi_row_block* G = &law->rows;
  sort_by_column(law, nv, NULL, rows);
  int end = 0;
  for (int r = 0; r < rows; r++) {
    int start = end;
    law->band_start[r] = start;
    for (int k = 0; k < G->entries[r]; k++) {
      int column = G->column[r * G->stride + k];
      double scaled = G->G[r * G->stride + k] * law->inverse[column];
      for (int p = law->row_start[column]; p < law->row_start[column + 1]; p++) {
        int i = law->row_list[p];
        bool near = i - r <= SALTUSI_STEP_BAND && r - i <= SALTUSI_STEP_BAND;
        if (!near || !add_entry(law, start, &end, i, scaled * entry(G, i, column))) {
          return false;
        }
      }
    }
    for (int k = start; k < end; k++) {
      if (law->band_column[k] == r) {
        law->diagonal[r] = law->band_values[k];
      }
    }
  }
  law->band_start[rows] = end;
  law->band = (saltus_csr){rows, rows, law->band_start, law->band_column, law->band_values};
  return true;
}

/* Contacts that share a velocity with contact i, ascending; returns how many. mark[j] = i: found. */
static int find_neighbours(const saltusi_law* law, int i, int* mark, int* found) {
  const saltusi_row_block* G = &law->rows;
  int row = law->first[i];
  int count = 0;
  for (int k = 0; k < G->entries[row]; k++) {
    int column = G->column[row * G->stride + k];
    for (int p = law->row_start[column]; p < law->row_start[column + 1]; p++) {
      int j = law->row_list[p];
      if (mark[j] == i) {
        continue;
      }
      mark[j] = i;
      int at = count++;
      while (at > 0 && found[at - 1] > j) {
        found[at] = found[at - 1];
        at--;
      }
      found[at] = j;
    }
  }
  return count;
}

/* A^-1 G_i of one contact into a table with three places for each velocity, or zeros back into it. */
static void spread_contact(const saltusi_law* law, int i, bool clear, double* table) {
  const saltusi_row_block* G = &law->rows;
  int row = law->first[i];
  int rows = law->first[i + 1] - row;
  for (int a = 0; a < G->entries[row]; a++) {
    int column = G->column[row * G->stride + a];
    for (int k = 0; k < rows; k++) {
      double entry = G->G[(row + k) * G->stride + a] * law->inverse[column];
      table[3 * column + k] = clear ? 0.0 : entry;
    }
  }
}

/* G_i^T A^-1 G_j of two contacts, i in the table. Sizes are constants where this is inlined. */
static inline void write_block(const saltusi_law* law, const double* table, int j, const int rows,
                               const int columns, double* block) {
  const saltusi_row_block* G = &law->rows;
  int first = law->first[j];
  const int* column = G->column + (size_t)first * (size_t)G->stride;
  const double* entry = G->G + (size_t)first * (size_t)G->stride;
  double sum[9] = {0.0};
  for (int b = 0; b < G->entries[first]; b++) {
    const double* own = table + 3 * (size_t)column[b];
    for (int k = 0; k < rows; k++) {
      for (int c = 0; c < columns; c++) {
        sum[k * columns + c] += own[k] * entry[c * G->stride + b];
      }
    }
  }
  memcpy(block, sum, (size_t)(rows * columns) * sizeof(double));
}

/* W as blocks of contacts that share a body; false when there are too many of them. */
static bool make_blocks(saltusi_law* law, int nv, int rows) {
  int units = 0;
  while (law->first[units] < rows) {
    units++;
  }
  int* mark = law->band_start;
  int* found = law->band_column;
  double* table = law->AinvG; /* not needed otherwise */
  memset(table, 0, 3 * (size_t)nv * sizeof(double));
  sort_by_column(law, nv, law->first, units);
  saltusi_friction_step_open(&law->friction, units, law->first);
  for (int i = 0; i < units; i++) {
    mark[i] = -1;
  }
  for (int i = 0; i < units; i++) {
    int count = find_neighbours(law, i, mark, found);
    int d = law->first[i + 1] - law->first[i];
    saltusi_friction_step_row(&law->friction, i);
    spread_contact(law, i, false, table);
    for (int k = 0; k < count; k++) {
      int j = found[k];
      int columns = law->first[j + 1] - law->first[j];
      double* block = saltusi_friction_step_block(&law->friction, i, j);
      if (block == NULL) {
        return false;
      }
      if (d == 3 && columns == 3) {
        write_block(law, table, j, 3, 3, block);
      } else {
        write_block(law, table, j, d, columns, block);
      }
      for (int c = 0; j == i && c < d; c++) {
        law->diagonal[law->first[i] + c] = block[c * (d + 1)];
      }
    }
    spread_contact(law, i, true, table);
  }
  saltusi_friction_step_close(&law->friction);
  return true;
}

static void make_dense(saltusi_law* law, const saltusi_eval* eval, const saltusi_linear* linear,
                       int rows) {
  int nv = eval->sys.dims.nv;
  for (int r = 0; r < rows; r++) {
    double* column = law->AinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&law->rows, r, 1.0, column);
    saltusi_linear_solve(eval, linear, column);
    for (int i = 0; i <= r; i++) {
      law->W[i * rows + r] = saltusi_row_dot(&law->rows, i, column);
    }
    for (int i = 0; i < r; i++) {
      law->W[r * rows + i] = saltusi_row_dot(&law->rows, r, law->AinvG + (size_t)i * (size_t)nv);
    }
    law->diagonal[r] = law->W[r * rows + r];
  }
}

void saltusi_law_operator(saltusi_law* law, const saltusi_eval* eval, const saltusi_linear* linear,
                          int rows) {
  const saltus_dims* d = &eval->sys.dims;
  law->banded = d->nj == 0 && rows >= BAND_FROM && law->rows.column != NULL && !law->has_friction &&
                saltusi_linear_diagonal(eval, linear, law->inverse) && make_band(law, d->nv, rows);
  law->blocks = d->nj == 0 && rows >= BAND_FROM && law->rows.column != NULL && law->has_friction &&
                saltusi_linear_diagonal(eval, linear, law->inverse) &&
                make_blocks(law, d->nv, rows);
  bool sparse = law->banded || law->blocks;
  law->unsupported = !sparse && rows > law->dense_max;
  if (!sparse && !law->unsupported) {
    make_dense(law, eval, linear, rows);
  }
}

/* Entries of W as one dense matrix, for the rare band that the banded solvers do not master. */
static bool spread_band(saltusi_law* law, const saltusi_eval* eval, int rows) {
  if (rows > law->dense_max) {
    return false;
  }
  int nv = eval->sys.dims.nv;
  memset(law->W, 0, (size_t)rows * (size_t)rows * sizeof(double));
  for (int r = 0; r < rows; r++) {
    for (int k = law->band_start[r]; k < law->band_start[r + 1]; k++) {
      law->W[r * rows + law->band_column[k]] = law->band_values[k];
    }
    double* column = law->AinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&law->rows, r, 1.0, column);
    for (int k = 0; k < nv; k++) {
      column[k] *= law->inverse[k];
    }
  }
  law->banded = false;
  return true;
}

saltus_status saltusi_law_solve(saltusi_law* law, saltusi_eval* eval, int joints, int contacts) {
  eval->work.contact_solves++;
  int rows = joints + contacts;
  if (law->unsupported) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  if (joints == 0 && contacts == 1 && law->diagonal[0] > 0.0) {
    law->P[0] = law->rhs[0] < 0.0 ? -law->rhs[0] / law->diagonal[0] : 0.0;
    return SALTUS_OK;
  }
  if (law->warm.each == 0) {
    memset(law->P, 0, (size_t)rows * sizeof(double));
  }
  if (law->banded) {
    bool solved = saltusi_lcp_step_banded(&law->solver.lcp, &law->band, law->rhs, law->P);
    eval->work.contact_iterations += law->solver.lcp.iterations;
    if (solved) {
      return SALTUS_OK;
    }
    memset(law->P, 0, (size_t)rows * sizeof(double));
  }
  if (!law->banded || spread_band(law, eval, rows)) {
    saltusi_mixed_outcome outcome =
        saltusi_mixed_solve(&law->solver, joints, contacts, law->W, law->rhs, law->P);
    eval->work.contact_iterations += law->solver.lcp.iterations;
    eval->dependent |= joints > 0 && law->solver.block.rank < joints;
    switch (outcome) {
    case SALTUSI_MIXED_SOLVED:
      return SALTUS_OK;
    case SALTUSI_MIXED_NO_NUMBER:
      return SALTUS_RETRY_NAN;
    case SALTUSI_MIXED_UNSOLVED:
      break;
    }
  }
  bool numbers = isfinite(saltusi_max_abs(rows, law->rhs));
  return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
}

saltus_status saltusi_law_solve_friction(saltusi_law* law, saltusi_eval* eval, int joints,
                                         int contacts) {
  eval->work.contact_solves++;
  int rows = law->first[contacts];
  if (law->unsupported) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  const double* W = law->W;
  const double* rhs = law->rhs;
  if (joints > 0) {
    if (!saltusi_mixed_reduce(&law->solver, joints, rows, law->W, law->rhs)) {
      return SALTUS_RETRY_NAN;
    }
    eval->dependent |= law->solver.block.rank < joints;
    W = law->solver.schur;
    rhs = law->solver.rest;
  }
  if (law->warm.each == 0) {
    memset(law->P + joints, 0, (size_t)rows * sizeof(double));
    memset(law->slip, 0, (size_t)contacts * sizeof(double));
  }
  bool solved = law->blocks
                    ? saltusi_friction_step_solve_blocks(&law->friction, law->mu, rhs, law->P)
                    : saltusi_friction_step_solve(&law->friction, contacts, law->first, law->mu, W,
                                                  rhs, law->P + joints);
  eval->work.contact_iterations += law->friction.iterations;
  if (!solved) {
    bool numbers = isfinite(saltusi_max_abs(joints + rows, law->rhs));
    return numbers ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
  }
  saltusi_mixed_expand(&law->solver, joints, rows, law->P);
  return SALTUS_OK;
}

saltus_status saltusi_law_solve_equalities(saltusi_law* law, saltusi_eval* eval, int rows) {
  eval->work.contact_solves++;
  if (law->banded && !spread_band(law, eval, rows)) {
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltusi_mixed_outcome outcome =
      saltusi_mixed_solve(&law->solver, rows, 0, law->W, law->rhs, law->P);
  eval->dependent |= rows > 0 && law->solver.block.rank < rows;
  return outcome == SALTUSI_MIXED_SOLVED ? SALTUS_OK : SALTUS_RETRY_NAN;
}

void saltusi_law_apply(const saltusi_law* law, int nv, int rows, double* x) {
  for (int r = 0; r < rows; r++) {
    if (law->P[r] == 0.0) {
      continue;
    }
    if (!law->banded && !law->blocks) {
      saltusi_add_scaled(nv, law->P[r], law->AinvG + (size_t)r * (size_t)nv, x);
      continue;
    }
    const saltusi_row_block* G = &law->rows;
    for (int k = 0; k < G->entries[r]; k++) {
      int column = G->column[r * G->stride + k];
      x[column] += law->P[r] * law->inverse[column] * G->G[r * G->stride + k];
    }
  }
}
