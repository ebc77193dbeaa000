/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lcp_run.c - room, judgement and notes of one solve; Lemke's method as a stage.
 */
#include "solve/lcp/lcp_run.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Lemke's method needs dense matrices, which are too expensive for long chains. */
static bool wants_lemke(const saltusi_lcp_matrix* M) {
  return M->n <= SALTUSI_LCP_LEMKE_MAX && !(M->banded && M->n > 200) &&
         !(M->scattered && M->n > 600) && !M->lean;
}

static bool is_chain(const saltusi_lcp_matrix* M) {
  return M->dense == NULL && M->lower <= 1 && M->upper <= 1;
}

static bool has_lemke(const saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M) {
  return wants_lemke(M) && room->lemke && (M->dense != NULL || room->full != NULL);
}

bool saltusi_lcp_workspace_fits(const saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M) {
  assert(room != NULL && M != NULL);
  return saltusi_lcp_workspace_serves(room, M) && (!wants_lemke(M) || has_lemke(room, M));
}

bool saltusi_lcp_workspace_serves(const saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M) {
  assert(room != NULL && M != NULL);
  return M->n <= room->n &&
         (!M->scattered || saltusi_sparse_lu_matches(&room->sparse, &M->sparse)) &&
         saltusi_lcp_block_size(M) <= room->block.capacity &&
         (!is_chain(M) || room->chain[0] != NULL || M->n == 0);
}

void saltusi_lcp_workspace_layout(saltusi_lcp_workspace* room, const saltusi_lcp_matrix* M,
                                  saltus_arena* arena) {
  assert(room != NULL && M != NULL && arena != NULL);
  int n = M->n;
  room->n = n;
  room->lemke = wants_lemke(M);
  room->active = SALTUS_PUSH(arena, unsigned char, n);
  room->list = SALTUS_PUSH(arena, int, n);
  double** const vectors[] = {&room->value,   &room->trial, &room->rest,     &room->best,
                              &room->shifted, &room->last,  &room->diagonal, &room->step};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    *vectors[k] = SALTUS_PUSH(arena, double, n);
  }
  for (int k = 0; k < 6; k++) {
    room->chain[k] = is_chain(M) ? SALTUS_PUSH(arena, double, n) : NULL;
  }
  room->block.capacity = saltusi_lcp_block_size(M);
  room->block.sparse = M->scattered ? &room->sparse : NULL;
  room->block.pivot = SALTUS_PUSH(arena, int, n);
  room->block.place = SALTUS_PUSH(arena, int, n);
  room->block.values = SALTUS_PUSH(arena, double, room->block.capacity);
  if (room->lemke) {
    saltusi_lcp_layout(&room->work, n, arena);
    room->full = M->dense == NULL ? SALTUS_PUSH2(arena, double, n, n) : NULL;
  }
}

static double miss_of(saltusi_lcp_run* run) {
  saltusi_lcp_workspace* room = run->room;
  int n = run->M->n;
  double sum = 0.0;
  for (int i = run->bilateral; i < n; i++) {
    room->trial[i] = room->trial[i] > 0.0 ? room->trial[i] : 0.0;
  }
  for (int i = 0; i < n; i++) {
    double w = saltusi_lcp_matrix_row(run->M, i, room->trial) + run->q[i];
    double miss = i >= run->bilateral && room->trial[i] < w ? room->trial[i] : w;
    sum += miss * miss;
  }
  return sqrt(sum);
}

/* Rounding error of |M z + q|: in a long column z is large and the terms of neighbours cancel. */
static double rounding_of(const saltusi_lcp_run* run) {
  double size = 0.0;
  for (int i = 0; i < run->M->n; i++) {
    size = run->room->trial[i] > size ? run->room->trial[i] : size;
  }
  return 8.0 * DBL_EPSILON * run->M->largest * size * sqrt((double)run->M->n);
}

bool saltusi_lcp_run_offer(saltusi_lcp_run* run, bool basis) {
  assert(run != NULL);
  double miss = miss_of(run);
  if (miss < run->residual) {
    run->residual = miss;
    memcpy(run->room->best, run->room->trial, (size_t)run->M->n * sizeof(double));
  }
  bool enough = miss <= run->target || (basis && run->basis_is_enough && isfinite(miss)) ||
                (basis && run->rounding_is_enough && miss <= rounding_of(run));
  if (enough) {
    run->solved = true;
    run->residual = miss;
    memcpy(run->room->best, run->room->trial, (size_t)run->M->n * sizeof(double));
  }
  return run->solved;
}

/* Decimal digits without snprintf, which costs as much as a problem of six rows. */
void saltusi_lcp_run_note(saltusi_lcp_run* run, const char* name, int count) {
  assert(run != NULL && name != NULL && count >= 0);
  enum { ROOM = 128 };
  run->iterations += count;
  char digits[12];
  int length = 0;
  for (int rest = count; length == 0 || rest > 0; rest /= 10) {
    digits[length++] = (char)('0' + rest % 10);
  }
  size_t at = strlen(run->stages);
  size_t need = strlen(name) + (size_t)length + 4;
  if (at + need > ROOM) {
    return;
  }
  if (at > 0) {
    run->stages[at++] = ',';
    run->stages[at++] = ' ';
  }
  for (; *name != '\0'; name++) {
    run->stages[at++] = *name;
  }
  run->stages[at++] = ' ';
  while (length > 0) {
    run->stages[at++] = digits[--length];
  }
  run->stages[at] = '\0';
}

void saltusi_lcp_run_guess(saltusi_lcp_run* run) {
  assert(run != NULL);
  int n = run->M->n;
  bool guessed = false;
  double zero = 0.0; /* residual of z = 0, squared */
  for (int i = 0; i < n; i++) {
    run->room->trial[i] = run->z[i];
    bool kept = i < run->bilateral;
    guessed = guessed || (kept ? run->z[i] != 0.0 : run->z[i] > 0.0);
    double miss = kept || run->q[i] < 0.0 ? run->q[i] : 0.0;
    zero += miss * miss;
  }
  if (!guessed) {
    return;
  }
  /* a solution must not be worse than the guess; but a guess within the tolerance is not accepted at once: a basis is
   * exact, and a simulation would accumulate the difference */
  saltusi_lcp_run_offer(run, false);
  run->solved = false;
  if (!(run->residual < sqrt(zero))) {
    memset(run->z, 0, (size_t)n * sizeof(double));
  }
}

bool saltusi_lcp_run_activate(saltusi_lcp_run* run, const double* z) {
  assert(run != NULL);
  bool any = false;
  for (int i = 0; i < run->M->n; i++) {
    bool kept = i < run->bilateral;
    run->room->active[i] = kept || z[i] > 0.0;
    any = any || (kept ? z[i] != 0.0 : z[i] > 0.0);
  }
  return any;
}

bool saltusi_lcp_run_proves_none(saltusi_lcp_run* run, const double* z) {
  assert(run != NULL);
  static const double part = 1e-9; /* see lcp_run.h: four digits above the rounding of the sums */
  const saltusi_lcp_matrix* M = run->M;
  double* y = run->room->step;
  double* column = run->room->rest;
  double size = 0.0;
  double along = 0.0;
  for (int i = 0; i < M->n; i++) {
    y[i] = i < run->bilateral || z[i] > 0.0 ? z[i] : 0.0;
    column[i] = 0.0;
    double entry = fabs(y[i]);
    size = entry > size ? entry : size;
    along += run->q[i] * y[i];
  }
  if (!(along < -part * run->q_size * size)) {
    return false;
  }
  for (int i = 0; i < M->n; i++) {
    saltusi_lcp_matrix_add_row(M, i, y[i], column);
  }
  double most = -part * along * M->largest / run->q_size;
  for (int j = 0; j < M->n; j++) {
    if (!(column[j] <= most) || (j < run->bilateral && !(column[j] >= -most))) {
      return false;
    }
  }
  return true;
}

bool saltusi_lcp_run_is_chain(const saltusi_lcp_run* run) {
  assert(run != NULL);
  return is_chain(run->M) && run->M->z_matrix && run->bilateral == 0;
}

static const double* dense_copy(saltusi_lcp_run* run) {
  const saltusi_lcp_matrix* M = run->M;
  if (M->dense != NULL) {
    return M->dense;
  }
  size_t n = (size_t)M->n;
  memset(run->room->full, 0, n * n * sizeof(double));
  for (int i = 0; i < M->n; i++) {
    for (int k = M->sparse.start[i]; k < M->sparse.start[i + 1]; k++) {
      run->room->full[(size_t)i * n + (size_t)M->sparse.column[k]] += M->sparse.values[k];
    }
  }
  return run->room->full;
}

bool saltusi_lcp_run_lemke(saltusi_lcp_run* run, int pivots_per_row) {
  assert(run != NULL);
  saltusi_lcp_work* work = &run->room->work;
  int n = run->M->n;
  if (!has_lemke(run->room, run->M) || run->bilateral > 0) {
    return false;
  }
  double size = saltusi_lemke_start(work, n, dense_copy(run), run->q);
  /* each attempt costs at least n^3 operations: large problems have two */
  int attempts = n <= 300 ? SALTUSI_LEMKE_ATTEMPTS : 2;
  int most = (int)fmin(50.0 + (double)pivots_per_row * n, 1e9);
  int pivots = 0;
  for (int attempt = 0; attempt < attempts && !run->solved && !run->none; attempt++) {
    saltusi_lcp_outcome outcome = saltusi_lemke_attempt(work, n, attempt, most, &pivots);
    if (outcome == SALTUSI_LCP_SOLVED) {
      for (int i = 0; i < n; i++) {
        run->room->trial[i] = work->z[i] * work->scale[i] * size;
      }
      saltusi_lcp_run_offer(run, true);
    } else if (outcome == SALTUSI_LCP_RAY) {
      run->none = saltusi_lemke_ray_proves(work, n);
    }
  }
  saltusi_lcp_run_note(run, "lemke", pivots);
  return run->solved;
}

static const saltus_field fields[] = {
    SALTUS_INT(saltus_lemke_options, pivots_per_row, 10, 1, 1e6,
               "limit of pivots, times the number of rows"),
};

static void solve_lemke(saltusi_lcp_run* run) {
  const saltus_lemke_options* o = run->options;
  saltusi_lcp_run_lemke(run, o->pivots_per_row);
}

const saltusi_lcp_ops saltusi_lcp_lemke_solver = {
    .info = {.name = "lemke",
             .summary =
                 "Lemke's method with lexicographic ties; detects problems without a solution",
             .source = "Cottle, Pang & Stone 1992, algorithms 4.4.1 and 4.9.1",
             .options = {fields, sizeof fields / sizeof *fields, sizeof(saltus_lemke_options)}},
    .solve = solve_lemke,
};
