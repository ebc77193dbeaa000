/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domain_matrix.c - see domain_matrix.h.
 */
#include "solve/friction/domain_matrix.h"

#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Values above this, or diagonals below its inverse, are not stored in single precision. Products with impulses are
 * formed in double precision, so stored values only have to be normal numbers; a tenth of the range is a margin for
 * the sum of a block. */
static const double range = 1e-1 * (double)FLT_MAX;

void saltusi_domain_matrix_layout(saltusi_domain_matrix* matrix,
                                  const saltus_friction_problem* problem, saltus_arena* arena) {
  assert(matrix != NULL && problem != NULL && arena != NULL);
  *matrix = (saltusi_domain_matrix){0};
  int units = problem->W.units;
  if (units < SALTUSI_DOMAIN_MATRIX_LEAST) {
    return;
  }
  int blocks = problem->W.start[units];
  int rows = problem->W.offset[units];
  size_t own = 0;
  for (int i = 0; i < units; i++) {
    size_t d = (size_t)(problem->W.offset[i + 1] - problem->W.offset[i]);
    own += d * d;
  }
  matrix->room = units;
  matrix->row = SALTUS_PUSH(arena, int, units + 1);
  matrix->local_at = SALTUS_PUSH(arena, int, units + 1);
  matrix->own_at = SALTUS_PUSH(arena, int, units + 1);
  matrix->bilateral = SALTUS_PUSH(arena, unsigned char, units);
  matrix->q = SALTUS_PUSH(arena, double, rows);
  matrix->mu = SALTUS_PUSH(arena, double, units);
  matrix->rho = SALTUS_PUSH(arena, double, units);
  matrix->slip = SALTUS_PUSH(arena, double, units);
  matrix->local = SALTUS_PUSH(arena, double, saltusi_friction_local_workspace(problem));
  matrix->own = SALTUS_PUSH(arena, double, own);
  for (int k = 0; k < 2; k++) {
    matrix->side[k].start = SALTUS_PUSH(arena, int, units + 1);
    matrix->side[k].at = SALTUS_PUSH(arena, int, units + 1);
  }
  /* shared by both sides; the boundary is determined later */
  matrix->side[0].column = SALTUS_PUSH(arena, int, blocks);
  matrix->side[0].values = SALTUS_PUSH(arena, float, problem->W.place[blocks]);
}

/* Positions of the data of a unit. */
static void number_units(saltusi_domain_matrix* matrix, const saltusi_domains* domains,
                         const saltusi_friction_pattern* pattern) {
  matrix->row[0] = matrix->local_at[0] = matrix->own_at[0] = 0;
  for (int p = 0; p < pattern->units; p++) {
    int i = domains->unit[p];
    int d = saltusi_unit_rows(pattern, i);
    matrix->row[p + 1] = matrix->row[p] + d;
    matrix->local_at[p + 1] = matrix->local_at[p] + pattern->local_at[i + 1] - pattern->local_at[i];
    matrix->own_at[p + 1] = matrix->own_at[p] + d * d;
    matrix->bilateral[p] = pattern->bilateral[i];
  }
}

void saltusi_domain_matrix_number(saltusi_domain_matrix* matrix, const saltusi_domains* domains,
                                  const saltusi_friction_pattern* pattern) {
  assert(matrix != NULL && domains != NULL && pattern != NULL);
  int units = matrix->room > 0 ? pattern->units : 0;
  matrix->units = units;
  if (units > 0) {
    number_units(matrix, domains, pattern);
  }
  for (int k = 0; k < 2 && units > 0; k++) {
    saltusi_domain_side* side = &matrix->side[k];
    if (k == SALTUSI_ABOVE) {
      side->column = matrix->side[0].column + matrix->side[0].start[units];
      side->values = matrix->side[0].values + matrix->side[0].at[units];
    }
    int block = 0;
    int value = 0;
    for (int p = 0; p < units; p++) {
      int i = domains->unit[p];
      side->start[p] = block;
      side->at[p] = value;
      for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
        int j = domains->place[pattern->unit[e]];
        if (k == SALTUSI_ABOVE ? j > p : j < p) {
          side->column[block++] = j;
          value += pattern->place[e + 1] - pattern->place[e];
        }
      }
    }
    side->start[units] = block;
    side->at[units] = value;
  }
}

typedef struct filling {
  saltusi_domain_matrix* matrix;
  const saltusi_friction_case* in;
  bool fits[SALTUSI_DOMAINS_MOST];
} filling;

/* All but the blocks beside the diagonal. */
static void fill_unit(saltusi_domain_matrix* m, const saltusi_friction_case* in, int p, int i) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int e = pattern->diagonal[i];
  size_t rows = (size_t)saltusi_unit_rows(pattern, i);
  size_t local = (size_t)(pattern->local_at[i + 1] - pattern->local_at[i]);
  double* own = m->own + m->own_at[p];
  memcpy(m->q + m->row[p], in->q + pattern->offset[i], rows * sizeof(double));
  memcpy(m->local + m->local_at[p], in->local + pattern->local_at[i], local * sizeof(double));
  if (e >= 0) {
    memcpy(own, in->values + pattern->place[e], rows * rows * sizeof(double));
  } else {
    memset(own, 0, rows * rows * sizeof(double));
  }
  m->mu[p] = pattern->bilateral[i] == 0 && rows > 1 ? in->mu[i] : 0.0;
  m->rho[p] = in->rho[i];
  m->slip[p] = in->slip[i];
}

static void fill_domain(void* context, int domain) {
  filling* f = context;
  const saltusi_friction_case* in = f->in;
  const saltusi_friction_pattern* pattern = in->pattern;
  const saltusi_domains* domains = in->domains;
  bool fits = true;
  for (int p = domains->first[domain]; p < domains->first[domain + 1]; p++) {
    int i = domains->unit[p];
    float* to[2];
    for (int k = 0; k < 2; k++) {
      to[k] = f->matrix->side[k].values + f->matrix->side[k].at[p];
    }
    fill_unit(f->matrix, in, p, i);
    fits = fits && in->rho[i] <= range && in->rho[i] >= 1.0 / range;
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      int j = domains->place[pattern->unit[e]];
      if (j == p) {
        continue;
      }
      float** at = &to[j > p ? SALTUSI_ABOVE : SALTUSI_BELOW];
      for (int a = pattern->place[e]; a < pattern->place[e + 1]; a++) {
        bool fit = fabs(in->values[a]) <= range;
        *(*at)++ = fit ? (float)in->values[a] : 0.0F;
        fits = fits && fit;
      }
    }
  }
  f->fits[domain] = fits;
}

bool saltusi_domain_matrix_fill(saltusi_domain_matrix* matrix, const saltusi_friction_case* in) {
  assert(matrix != NULL && in != NULL);
  filling f = {.matrix = matrix, .in = in};
  saltusi_thread_pool_run(in->team, in->domains->count, fill_domain, &f);
  bool fits = true;
  for (int k = 0; k < in->domains->count; k++) {
    fits = fits && f.fits[k];
  }
  return fits;
}
