/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rank.c - which rows of contacts at rest are active, where they are linearly dependent (docs/theory/adaptive.md,
 * 4.3).
 */
#include "adaptive/mode/decide.h"
#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Friction closer than this to its bound is at it, and below this fraction of it zero: the error of two large
 * terms that cancel. */
static const double no_slip = 1e-10;
static const double no_friction = 1e-12;
/* A row whose component outside the others is smaller is dependent: its square has the accuracy eps, the component
 * sqrt(eps). */
static const double dependent_row = 1e-8;

/* Whether a row is independent of those accepted so far, in the metric of M^-1; then it joins. */
static bool is_independent(saltusi_decision* d, const saltusi_island* in, int row, int* rank) {
  size_t k = (size_t)in->k;
  double* g = d->x;
  double* x = d->v_spare;
  memset(g, 0, k * sizeof(double));
  saltusi_island_add_row(in, &d->mode->row, row, 1.0, g);
  memcpy(x, g, k * sizeof(double));
  saltusi_reduced_divide(d->mode, in, x);
  double size = sqrt(fmax(0.0, saltusi_dot(in->k, g, x)));
  if (*rank >= in->k) {
    return false;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < *rank; i++) {
      const double* b = d->basis + (size_t)(2 * i) * k;
      double part = saltusi_dot(in->k, g, b + k);
      saltusi_add_scaled(in->k, -part, b, g);
    }
  }
  memcpy(x, g, k * sizeof(double));
  saltusi_reduced_divide(d->mode, in, x);
  double rest = sqrt(fmax(0.0, saltusi_dot(in->k, g, x)));
  if (!(rest > dependent_row * size)) {
    return false;
  }
  double* b = d->basis + (size_t)(2 * *rank) * k;
  for (int i = 0; i < in->k; i++) {
    b[i] = g[i] / rest;
    b[in->k + i] = x[i] / rest;
  }
  (*rank)++;
  return true;
}

/* 0: friction inside its bounds, 1: at a bound, 2: none. */
static int friction_class(const saltusi_decision* d, int key) {
  const double* l = d->impulse + d->o->base[key];
  double bound = d->mu[key] * l[0];
  double size = fabs(l[1]);
  return size <= no_friction * bound ? 2 : size >= bound * (1.0 - no_slip) ? 1 : 0;
}

/* Friction of sticking contacts, by class: linearly dependent rows become passive. False: one of them has a force inside
 * of its bounds, which a passive row has not. */
static bool rank_friction(saltusi_decision* d, const saltusi_island* in, int count, int* rank) {
  bool kept = true;
  for (int order = 0; order <= 2; order++) {
    for (int i = 0; i < count; i++) {
      int key = d->part[i];
      if (d->contact[key].mode != SALTUSI_STICK || friction_class(d, key) != order ||
          is_independent(d, in, d->o->nj + d->o->base[key] + 1, rank)) {
        continue;
      }
      d->contact[key].mode = order == 1 ? SALTUSI_STICK_BOUND : SALTUSI_STICK_IDLE;
      d->contact[key].sense = d->impulse[d->o->base[key] + 1] > 0.0 ? -1.0 : 1.0;
      kept = kept && order != 0;
    }
  }
  return kept;
}

/* All contacts that stick have active rows; the forces of the decision are references of the steps. */
static void keep_all(saltusi_decision* d, int count) {
  for (int i = 0; i < count; i++) {
    int key = d->part[i];
    saltusi_contact* c = &d->contact[key];
    bool passive = c->mode == SALTUSI_STICK_BOUND || c->mode == SALTUSI_STICK_IDLE;
    c->mode = passive && !d->blocked[key] ? SALTUSI_STICK : c->mode;
    saltusi_keep_forces(c, d->o->tangents[key],
                        saltusi_is_pressed(c) ? d->impulse + d->o->base[key] : NULL);
  }
}

saltus_status saltusi_rank_pass(saltusi_decision* d, const saltusi_island* in, int count) {
  assert(d != NULL && in != NULL && count >= 0);
  int rank = 0;
  int rows = in->n + count; /* of joints, normals and tangents */
  size_t entries = 2 * (size_t)(rows < in->k ? rows : in->k) * (size_t)in->k;
  if (entries > d->basis_max) {
    return saltusi_capacity_lacks(&d->mode->eval->room, SALTUSI_CAPACITY_FILL, entries);
  }
  for (int i = in->first; i < in->first + in->n; i++) {
    if (d->mode->reduced.key[i] < 0) {
      is_independent(d, in, d->mode->reduced.row[i], &rank);
    }
  }
  for (int i = 0; i < count; i++) {
    if (saltusi_is_pressed(&d->contact[d->part[i]])) {
      is_independent(d, in, d->o->nj + d->o->base[d->part[i]], &rank);
    }
  }
  for (int i = 0; i < count; i++) {
    int key = d->part[i];
    if (d->contact[key].mode == SALTUSI_IDLE &&
        is_independent(d, in, d->o->nj + d->o->base[key], &rank)) {
      bool slip = d->sense[key] != 0.0 || d->mu[key] == 0.0;
      d->contact[key].mode = slip ? SALTUSI_SLIP : SALTUSI_STICK;
      d->contact[key].sense = d->sense[key] != 0.0 ? d->sense[key] : 1.0;
    }
  }
  if (!rank_friction(d, in, count, &rank)) {
    keep_all(d, count);
  }
  return SALTUS_OK;
}
