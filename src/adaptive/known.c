/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * known.c - forces that steps keep near to where rows depend on each other and many forces hold them
 * (docs/theory/adaptive.md, 4.3), and what slides together.
 */
#include "adaptive/decide.h"
#include "adaptive/grip.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_keep_forces(saltusi_contact* c, int tangents, const double* l) {
  assert(c != NULL);
  for (int k = 0; k < 3; k++) {
    c->force[k] = l != NULL && k <= tangents ? l[k] : 0.0;
  }
}

/* The largest part of its bound that friction of a contact at rest has, with forces of which `part` are those of `held`. */
static double used_friction(const saltusi_decision* d, const double* held, double part) {
  double most = 0.0;
  for (int key = 0; key < d->o->contacts; key++) {
    int tangents = d->o->tangents[key];
    if (d->contact[key].mode != SALTUSI_STICK || tangents > 2) {
      continue;
    }
    double l[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k <= tangents; k++) {
      int row = d->o->base[key] + k;
      l[k] = d->impulse[row] + part * (held[row] - d->impulse[row]);
    }
    double size = saltusi_grip_size(d->o, key, l + 1);
    most = fmax(most, size > 0.0 ? (l[0] > 0.0 ? size / (d->mu[key] * l[0]) : INFINITY) : 0.0);
  }
  return most;
}

bool saltusi_decide_known(saltusi_decision* d, const double* held) {
  assert(d != NULL && held != NULL);
  const double clear = 0.999; /* of the bound: else the next step would end at once; chosen */
  enum { PARTS = 20 };
  double best = INFINITY;
  double part = 0.0;
  for (int i = 0; i <= PARTS; i++) {
    double used = used_friction(d, held, (double)i / PARTS);
    part = used < best ? (double)i / PARTS : part;
    best = fmin(best, used);
  }
  if (!(best <= clear)) {
    return false;
  }
  for (int key = 0; key < d->o->contacts; key++) {
    double l[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k <= d->o->tangents[key] && k < 3; k++) {
      int row = d->o->base[key] + k;
      l[k] = d->impulse[row] + part * (held[row] - d->impulse[row]);
    }
    bool pressed = saltusi_is_pressed(&d->contact[key]);
    saltusi_keep_forces(&d->contact[key], d->o->tangents[key], pressed ? l : NULL);
  }
  return true;
}

/* Whether two contacts are between the same bodies, as far as their rows say. */
static bool are_mates(const saltusi_decision* d, int a, int b) {
  const saltusi_row_block* R = &d->mode->row;
  int first = d->o->nj + d->o->base[a];
  int second = d->o->nj + d->o->base[b];
  size_t stride = (size_t)R->stride;
  return R->column == NULL ||
         (R->entries[first] == R->entries[second] &&
          memcmp(R->column + (size_t)first * stride, R->column + (size_t)second * stride,
                 (size_t)R->entries[first] * sizeof *R->column) == 0);
}

void saltusi_slide_together(saltusi_decision* d, int count) {
  assert(d != NULL && count >= 0);
  /* a choice: far above rounding, 1e-10 in no_slip, and far below differences that matter; a tenth and ten
   * times of it give the same table in `study adversarial --count 2 --tol 1e-6` */
  const double at_bound = 1e-6;
  for (int i = 0; i < count; i++) {
    int key = d->part[i];
    const double* l = d->impulse + d->o->base[key];
    bool ready = d->o->tangents[key] >= 2 && d->contact[key].mode == SALTUSI_STICK &&
                 saltusi_grip_size(d->o, key, l + 1) >= d->mu[key] * l[0] * (1.0 - at_bound);
    for (int j = 0; ready && j < count; j++) {
      int other = d->part[j];
      if (d->o->tangents[other] >= 2 && d->contact[other].mode == SALTUSI_SLIP &&
          are_mates(d, key, other)) {
        d->contact[key].mode = SALTUSI_SLIP;
        d->contact[key].sense = 1.0;
        ready = false;
      }
    }
  }
}
