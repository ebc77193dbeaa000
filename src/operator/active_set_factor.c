/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * active_set_factor.c - see active_set_factor.h.
 */
#include "operator/active_set_factor.h"

#include "math/matrix.h"
#include "math/rank_revealing.h"

#include <assert.h>
#include <string.h>

/* e: a tenth of the tolerance of dependence. One iteration then reduces every component outside the null space by nine
 * tenths, and that of a chain of a thousand links, 1e-6 of the largest, to four digits. */
static const double shift = 0.1 * SALTUSI_DEPENDENT;
/* The iteration continues while it halves the residual. */
static const double halves = 0.5;
enum { ITERATIONS = 40, CLEANINGS = 5 };

void saltusi_active_set_factor_layout(saltusi_active_set_factor* f, const saltus_dims* dims,
                                      int rows_max, size_t bytes, saltus_arena* arena) {
  assert(f != NULL && dims != NULL && rows_max >= 0 && arena != NULL);
  size_t n = (size_t)rows_max;
  size_t nv = (size_t)dims->nv;
  size_t width = (size_t)dims->row_width;
  *f = (saltusi_active_set_factor){.rows_max = rows_max, .bytes = bytes};
  f->H = SALTUS_PUSH2(arena, double, n, width);
  f->row = SALTUS_PUSH(arena, int, n);
  f->offset = SALTUS_PUSH(arena, int, n + 1);
  f->columns = SALTUS_PUSH2(arena, int, n, width);
  f->entries = SALTUS_PUSH(arena, int, n);
  f->inverse = SALTUS_PUSH(arena, double, nv);
  f->start = SALTUS_PUSH(arena, int, n + 1);
  f->next = SALTUS_PUSH(arena, int, n);
  f->list_start = SALTUS_PUSH(arena, int, nv + 1);
  f->list = SALTUS_PUSH2(arena, int, n, width);
  f->reach_at = SALTUS_PUSH(arena, size_t, n + 1);
  f->response_at = SALTUS_PUSH(arena, size_t, n + 1);
  f->mark = SALTUS_PUSH(arena, int, n);
  f->table = SALTUS_PUSH2(arena, double, nv, SALTUSI_UNIT_ROWS);
  f->column = SALTUS_PUSH(arena, int, nv);
  f->x = SALTUS_PUSH(arena, double, nv);
  f->diagonal = SALTUS_PUSH(arena, double, n);
  f->trial = SALTUS_PUSH(arena, double, 2 * n);
  f->rest = SALTUS_PUSH(arena, double, n);
  f->part = SALTUS_PUSH(arena, double, n);
  f->memory = saltus_arena_push(arena, bytes, 1, SALTUS_ALIGNMENT);
  if (f->table != NULL) {
    memset(f->table, 0, nv * SALTUSI_UNIT_ROWS * sizeof(double));
  }
}

bool saltusi_active_set_factor_suit(const saltusi_eval* eval, const saltusi_linear* A) {
  assert(eval != NULL && A != NULL);
  bool own = A->kind == SALTUSI_LINEAR_OWN && eval->sys.ops->linear->solve_row != NULL;
  return A->diagonal || A->kind == SALTUSI_LINEAR_BLOCKS || own;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static int rows_of(const saltusi_active_set_factor* f, int u) {
  return f->offset[u + 1] - f->offset[u];
}

/* Columns of the first row of a unit; returns their number. */
static const int* columns_of(const saltusi_active_set_factor* f, int u, int* count) {
  *count = f->entries[f->offset[u]];
  return f->columns + (size_t)f->offset[u] * (size_t)f->R->stride;
}

/* Whether two rows have the same columns. */
static bool has_columns(const saltusi_row_block* R, int a, int b) {
  size_t stride = (size_t)R->stride;
  return R->entries[a] == R->entries[b] &&
         memcmp(R->column + (size_t)a * stride, R->column + (size_t)b * stride,
                (size_t)R->entries[a] * sizeof(int)) == 0;
}

double* saltusi_active_set_factor_begin(saltusi_active_set_factor* f, const saltusi_row_block* R,
                                        int n, const int* row, const int* unit) {
  assert(n <= f->rows_max && R->column != NULL);
  size_t stride = (size_t)R->stride;
  bool same = f->known && f->n == n;
  int units = 0;
  f->R = R;
  f->n = n;
  for (int i = 0; i < n; i++) {
    size_t from = (size_t)row[i] * stride;
    size_t to = (size_t)i * stride;
    int count = R->entries[row[i]];
    bool opens = i == 0 || unit[i] != unit[i - 1] ||
                 i - f->offset[units - 1] == SALTUSI_UNIT_ROWS ||
                 !has_columns(R, row[i], row[i - 1]);
    same = same && f->entries[i] == count &&
           memcmp(f->columns + to, R->column + from, (size_t)count * sizeof(int)) == 0;
    if (opens) {
      same = same && units < f->units && f->offset[units] == i;
      f->offset[units++] = i;
    }
    if (!same) {
      f->entries[i] = count;
      memcpy(f->columns + to, R->column + from, (size_t)count * sizeof(int));
    }
    f->row[i] = row[i];
    memcpy(f->H + to, R->G + from, (size_t)count * sizeof(double));
  }
  f->known = same && f->units == units;
  f->units = units;
  f->offset[units] = n;
  return f->H;
}

/* ---- pattern ------------------------------------------------------------------------------------ */

/* Memory from the remainder of the layout; NULL when that is too small. */
static void* take(size_t bytes, void* user) {
  saltusi_active_set_factor* f = user;
  size_t at = (f->used + SALTUS_ALIGNMENT - 1) & ~((size_t)SALTUS_ALIGNMENT - 1);
  if (at + bytes > f->bytes) {
    f->wanted = 3 * (at + bytes); /* later arrays are about as large */
    return NULL;
  }
  f->used = at + bytes;
  return f->memory + at;
}

static void keep(void* block, size_t bytes, void* user) {
  (void)block;
  (void)bytes;
  (void)user;
}

/* A^-1 times a sparse vector: columns and values; returns their number. */
static int respond(const saltusi_active_set_factor* f, const saltusi_eval* eval,
                   const saltusi_linear* A, int i, int* column, double* x) {
  size_t at = (size_t)i * (size_t)f->R->stride;
  if (!f->scalar) {
    return saltusi_linear_solve_row(eval, A, f->entries[i], f->columns + at, f->H + at, column, x);
  }
  for (int k = 0; k < f->entries[i]; k++) {
    column[k] = f->columns[at + (size_t)k];
    x[k] = f->H[at + (size_t)k] * f->inverse[column[k]];
  }
  return f->entries[i];
}

/* Velocities that each unit changes. */
static bool find_reach(saltusi_active_set_factor* f, const saltusi_eval* eval,
                       const saltusi_linear* A) {
  size_t places = 0;
  size_t values = 0;
  for (int u = 0; u < f->units; u++) {
    f->reach_at[u] = places;
    f->response_at[u] = values;
    size_t count = (size_t)respond(f, eval, A, f->offset[u], f->column, f->x);
    places += count;
    values += count * (size_t)rows_of(f, u);
  }
  f->reach_at[f->units] = places;
  f->response_at[f->units] = values;
  f->reach = take(places * sizeof(int), f);
  f->response = f->reach != NULL ? take(values * sizeof(double), f) : NULL;
  for (int u = 0; f->response != NULL && u < f->units; u++) {
    respond(f, eval, A, f->offset[u], f->reach + f->reach_at[u], f->x);
  }
  return f->response != NULL;
}

/* Lists the units of each velocity by counting sort. */
static void sort_units(saltusi_active_set_factor* f, int nv) {
  memset(f->list_start, 0, ((size_t)nv + 1) * sizeof(int));
  for (int pass = 0; pass < 2; pass++) {
    for (int u = 0; u < f->units; u++) {
      int count;
      const int* column = columns_of(f, u, &count);
      for (int k = 0; k < count; k++) {
        if (pass == 0) {
          f->list_start[column[k] + 1]++;
        } else {
          f->list[f->list_start[column[k]]++] = u;
        }
      }
    }
    for (int i = 0; pass == 0 && i < nv; i++) {
      f->list_start[i + 1] += f->list_start[i];
    }
  }
  for (int i = nv; i > 0; i--) { /* restores the starts, which were moved to the ends */
    f->list_start[i] = f->list_start[i - 1];
  }
  f->list_start[0] = 0;
}

/* Units coupled to unit u, ascending, into found, or only counted; returns their number. */
static int find_neighbours(saltusi_active_set_factor* f, int u, int stamp, int* found) {
  int count = 0;
  for (size_t e = f->reach_at[u]; e < f->reach_at[u + 1]; e++) {
    for (int p = f->list_start[f->reach[e]]; p < f->list_start[f->reach[e] + 1]; p++) {
      int v = f->list[p];
      if (f->mark[v] == stamp) {
        continue;
      }
      f->mark[v] = stamp;
      int at = count++;
      for (; found != NULL && at > 0 && found[at - 1] > v; at--) {
        found[at] = found[at - 1];
      }
      if (found != NULL) {
        found[at] = v;
      }
    }
  }
  if (count == 0) { /* it moves nothing */
    count = 1;
    if (found != NULL) {
      found[0] = u;
    }
  }
  return count;
}

/* Pattern of W: pairs of coupled units. The pattern of A^-1 is symmetric, and so is that of W. */
static bool find_blocks(saltusi_active_set_factor* f) {
  int blocks = 0;
  memset(f->mark, 0, (size_t)f->units * sizeof(int));
  for (int u = 0; u < f->units; u++) {
    f->start[u] = blocks;
    blocks += find_neighbours(f, u, u + 1, NULL);
  }
  f->start[f->units] = blocks;
  f->unit = take((size_t)blocks * sizeof(int), f);
  memset(f->mark, 0, (size_t)f->units * sizeof(int));
  for (int u = 0; f->unit != NULL && u < f->units; u++) {
    find_neighbours(f, u, u + 1, f->unit + f->start[u]);
  }
  return f->unit != NULL;
}

static saltus_status analyse(saltusi_active_set_factor* f, const saltusi_eval* eval,
                             const saltusi_linear* A) {
  const saltus_allocator memory = {.alloc = take, .free = keep, .user = f};
  f->used = 0;
  f->wanted = 0;
  if (!find_reach(f, eval, A)) {
    return SALTUS_RETRY_CAPACITY;
  }
  sort_units(f, eval->sys.dims.nv);
  if (!find_blocks(f)) {
    return SALTUS_RETRY_CAPACITY;
  }
  saltusi_block_pattern pattern = {.units = f->units,
                                   .rows = f->n,
                                   .blocks = f->start[f->units],
                                   .uniform = rows_of(f, 0),
                                   .offset = f->offset,
                                   .start = f->start,
                                   .unit = f->unit};
  for (int u = 0; u < f->units; u++) {
    int rows = rows_of(f, u);
    pattern.uniform = pattern.uniform == rows ? rows : 0;
    pattern.unit_max = rows > pattern.unit_max ? rows : pattern.unit_max;
  }
  pattern.uniform = pattern.uniform == 2 || pattern.uniform == 3 ? pattern.uniform : 0;
  f->lu = (saltusi_block_lu){.planned = true};
  saltus_status status = saltusi_block_lu_analyse(&f->lu, &pattern, &memory);
  status = status == SALTUS_OK ? saltusi_block_lu_reserve(&f->lu, &memory) : status;
  if (status == SALTUS_OK) {
    size_t bytes = f->lu.place[f->lu.start[f->units]] * sizeof(double);
    f->values = take(bytes, f);
    f->system = f->values != NULL ? take(bytes, f) : NULL;
    f->place =
        f->system != NULL ? take(((size_t)f->lu.start[f->units] + 1) * sizeof(int), f) : NULL;
  }
  f->known = status == SALTUS_OK && f->place != NULL;
  for (int e = 0; f->known && e <= f->lu.start[f->units]; e++) {
    f->place[e] = (int)f->lu.place[e];
  }
  return f->known ? SALTUS_OK : SALTUS_RETRY_CAPACITY;
}

/* ---- values ------------------------------------------------------------------------------------- */

/* Block (v, u) = R_v^T x_u with x_u in the table. */
static void write_block(const saltusi_active_set_factor* f, int v, int columns, double* block) {
  size_t stride = (size_t)f->R->stride;
  for (int k = f->offset[v]; k < f->offset[v + 1]; k++) {
    const double* G = f->R->G + (size_t)f->row[k] * stride;
    const int* column = f->columns + (size_t)k * stride;
    double sum[SALTUSI_UNIT_ROWS] = {0.0};
    for (int e = 0; e < f->entries[k]; e++) {
      const double* x = f->table + (size_t)column[e] * SALTUSI_UNIT_ROWS;
      for (int c = 0; c < columns; c++) {
        sum[c] += G[e] * x[c];
      }
    }
    memcpy(block, sum, (size_t)columns * sizeof(double));
    block += columns;
  }
}

/* Computes A^-1 H of unit u into its memory and into the table. */
static void write_response(saltusi_active_set_factor* f, const saltusi_eval* eval,
                           const saltusi_linear* A, int u) {
  size_t count = f->reach_at[u + 1] - f->reach_at[u];
  const int* reach = f->reach + f->reach_at[u];
  for (int k = 0; k < rows_of(f, u); k++) {
    double* x = f->response + f->response_at[u] + (size_t)k * count;
    respond(f, eval, A, f->offset[u] + k, f->column, x);
    for (size_t e = 0; e < count; e++) {
      f->table[(size_t)reach[e] * SALTUSI_UNIT_ROWS + (size_t)k] = x[e];
    }
  }
}

saltus_status saltusi_active_set_factor_form(saltusi_active_set_factor* f, const saltusi_eval* eval,
                                             const saltusi_linear* A) {
  assert(f != NULL && eval != NULL && A != NULL);
  bool scalar = saltusi_linear_diagonal(eval, A, f->inverse);
  f->known = f->known && scalar == f->scalar;
  f->scalar = scalar;
  saltus_status status = f->known ? SALTUS_OK : analyse(f, eval, A);
  if (status != SALTUS_OK) {
    return status;
  }
  const saltusi_block_lu* lu = &f->lu;
  memcpy(f->next, lu->start, (size_t)f->units * sizeof(int));
  for (int u = 0; u < f->units; u++) {
    int columns = rows_of(f, u);
    write_response(f, eval, A, u);
    for (int e = lu->start[u]; e < lu->start[u + 1]; e++) {
      int v = lu->unit[e];
      write_block(f, v, columns, f->values + lu->place[f->next[v]++]);
    }
    const double* own = f->values + lu->place[lu->diagonal[u]];
    for (int k = 0; k < columns; k++) {
      f->diagonal[f->offset[u] + k] = fabs(own[k * (columns + 1)]);
    }
    for (size_t e = f->reach_at[u]; e < f->reach_at[u + 1]; e++) {
      memset(f->table + (size_t)f->reach[e] * SALTUSI_UNIT_ROWS, 0,
             SALTUSI_UNIT_ROWS * sizeof(double));
    }
  }
  saltusi_active_set_factor_reset(f);
  return SALTUS_OK;
}

void saltusi_active_set_factor_reset(saltusi_active_set_factor* f) {
  assert(f != NULL && f->known);
  memcpy(f->system, f->values, f->lu.place[f->lu.start[f->units]] * sizeof(double));
}

void saltusi_active_set_factor_replace(saltusi_active_set_factor* f, int u, int k,
                                       const double* entries) {
  assert(f != NULL && u >= 0 && u < f->units && k >= 0 && k < rows_of(f, u) && entries != NULL);
  const saltusi_block_lu* lu = &f->lu;
  double size = f->diagonal[f->offset[u] + k];
  for (int e = lu->start[u]; e < lu->start[u + 1]; e++) {
    int v = lu->unit[e];
    int columns = rows_of(f, v);
    double* row = f->system + lu->place[e] + (size_t)k * (size_t)columns;
    for (int c = 0; c < columns; c++) {
      row[c] = v == u ? entries[c] * (size > 0.0 ? size : 1.0) : 0.0;
    }
  }
}

saltusi_step_blocks saltusi_active_set_factor_blocks(const saltusi_active_set_factor* f,
                                                     const unsigned char* bilateral) {
  assert(f->known);
  return (saltusi_step_blocks){.offset = f->offset,
                               .bilateral = bilateral,
                               .start = f->lu.start,
                               .unit = f->lu.unit,
                               .place = f->place,
                               .values = f->values};
}

/* ---- solution ----------------------------------------------------------------------------------- */

/* Factors W + e D. Rows without entries get a diagonal of 1. */
static bool factor_shifted(saltusi_active_set_factor* f) {
  saltusi_block_lu* lu = &f->lu;
  for (int u = 0; u < f->units; u++) {
    int d = rows_of(f, u);
    double* own = lu->values + lu->place[lu->diagonal[u]];
    for (int k = 0; k < d; k++) {
      double size = f->diagonal[f->offset[u] + k];
      own[k * (d + 1)] += size > 0.0 ? shift * size : 1.0;
    }
  }
  f->dependent = true;
  return saltusi_block_lu_prepare(lu, 0.0, f->trial);
}

bool saltusi_active_set_factor_compute(saltusi_active_set_factor* f) {
  assert(f != NULL && f->known);
  size_t values = f->lu.place[f->lu.start[f->units]];
  f->dependent = false;
  if (!isfinite(saltusi_max_abs((int)values, f->system))) {
    return false;
  }
  memcpy(f->lu.values, f->system, values * sizeof(double));
  return saltusi_block_lu_prepare(&f->lu, SALTUSI_DEPENDENT, f->trial) || factor_shifted(f);
}

/* Writes b - W l to f->rest; returns its norm over rows scaled to unit diagonal. */
static double find_rest(saltusi_active_set_factor* f, const double* b, const double* l) {
  double size = 0.0;
  saltusi_block_lu_times(&f->lu, f->system, l, f->rest);
  for (int i = 0; i < f->n; i++) {
    f->rest[i] = b[i] - f->rest[i];
    size += f->diagonal[i] > 0.0 ? f->rest[i] * f->rest[i] / f->diagonal[i] : 0.0;
  }
  return sqrt(size);
}

void saltusi_active_set_factor_solve(saltusi_active_set_factor* f, double* b) {
  assert(f != NULL && f->known && b != NULL);
  if (!f->dependent) {
    saltusi_block_lu_apply(&f->lu, b);
    return;
  }
  double* l = f->part;
  memset(l, 0, (size_t)f->n * sizeof(double));
  double left = find_rest(f, b, l);
  for (int k = 0; k < ITERATIONS && left > 0.0; k++) {
    double before = left;
    saltusi_block_lu_apply(&f->lu, f->rest);
    saltusi_add_scaled(f->n, 1.0, f->rest, l);
    left = find_rest(f, b, l);
    if (!(left < halves * before)) {
      break;
    }
  }
  memcpy(b, l, (size_t)f->n * sizeof(double));
  for (int k = 0; k < CLEANINGS; k++) {
    for (int i = 0; i < f->n; i++) {
      l[i] *= shift * f->diagonal[i];
    }
    saltusi_block_lu_apply(&f->lu, l);
  }
  for (int i = 0; i < f->n; i++) {
    b[i] = f->diagonal[i] > 0.0 ? b[i] - l[i] : 0.0;
  }
}

void saltusi_active_set_factor_apply(const saltusi_active_set_factor* f, double s, const double* l,
                                     double* y) {
  assert(f != NULL && f->known && l != NULL && y != NULL);
  for (int u = 0; u < f->units; u++) {
    size_t count = f->reach_at[u + 1] - f->reach_at[u];
    const int* reach = f->reach + f->reach_at[u];
    for (int k = 0; k < rows_of(f, u); k++) {
      const double* x = f->response + f->response_at[u] + (size_t)k * count;
      double times = s * l[f->offset[u] + k];
      for (size_t e = 0; e < count; e++) {
        y[reach[e]] += times * x[e];
      }
    }
  }
}

double saltusi_active_set_factor_conditioning(saltusi_active_set_factor* f) {
  assert(f != NULL && f->known);
  double* x = f->trial;
  double size = 0.0;
  for (int i = 0; i < f->n; i++) {
    x[i] = saltusi_trial_entry(i) * sqrt(f->diagonal[i]);
  }
  saltusi_active_set_factor_solve(f, x);
  for (int i = 0; i < f->n; i++) {
    size += x[i] * x[i] * f->diagonal[i];
  }
  return sqrt(f->n / size);
}
