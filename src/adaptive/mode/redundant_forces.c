/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * redundant_forces.c - reference forces of steps where rows are linearly dependent and the load distribution is
 * not unique (docs/theory/adaptive.md, 4.3), and contacts that slide together.
 */
#include "adaptive/adaptive.h"
#include "adaptive/mode/friction_mode.h"
#include "adaptive/thresholds.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void saltusi_keep_forces(saltusi_contact* c, int tangents, const double* l) {
  assert(c != NULL);
  for (int k = 0; k < 3; k++) {
    c->force[k] = l != NULL && k <= tangents ? l[k] : 0.0;
  }
}

/* The largest fraction of its bound that friction of a contact at rest has, with the fraction `part` of `held` in
 * the forces. */
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
    double size = saltusi_friction_mode_size(d->o, key, l + 1);
    most = fmax(most, size > 0.0 ? (l[0] > 0.0 ? size / (d->o->mu[key] * l[0]) : INFINITY) : 0.0);
  }
  return most;
}

/* The fraction of `held` in the mean with the forces of the last status problem that uses the least friction, and
 * the fraction of its bound. */
static double find_mean(const saltusi_decision* d, const double* held, double* part) {
  enum { PARTS = 20 };
  double best = INFINITY;
  *part = 0.0;
  for (int i = 0; i <= PARTS; i++) {
    double used = used_friction(d, held, (double)i / PARTS);
    *part = used < best ? (double)i / PARTS : *part;
    best = fmin(best, used);
  }
  return best;
}

double saltusi_decide_least(const saltusi_decision* d, const double* held) {
  assert(d != NULL && held != NULL);
  double part;
  return find_mean(d, held, &part);
}

bool saltusi_decide_redundant_forces(saltusi_decision* d, const double* held, double most) {
  assert(d != NULL && held != NULL);
  double part;
  if (!(find_mean(d, held, &part) <= most)) {
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

/* The status problem with a fraction of the friction of contacts at rest; whether all of them stay at rest.
 * Statuses are restored. */
static saltus_status solve_part(saltusi_decision* d, double t, const double* y, int count,
                                double part, bool* sticks) {
  memcpy(d->kept, d->contact, (size_t)d->o->nc * sizeof *d->contact);
  saltusi_find_senses(d, t, y);
  d->grip_part = part;
  saltus_status status = saltusi_decide_status(d, t, y, count);
  d->grip_part = 1.0;
  *sticks = status == SALTUS_OK;
  for (int key = 0; key < d->o->nc; key++) {
    bool stuck = d->kept[key].mode == SALTUSI_STICK; /* a contact without a force may open */
    *sticks = *sticks && !(stuck && d->contact[key].mode == SALTUSI_SLIP);
  }
  memcpy(d->contact, d->kept, (size_t)d->o->nc * sizeof *d->contact);
  return status == SALTUS_RETRY_SMALLER ? SALTUS_OK : status;
}

saltus_status saltusi_decide_load_distribution(saltusi_decision* d, double t, const double* y,
                                               const double* held, bool* inside) {
  assert(d != NULL && y != NULL && held != NULL && inside != NULL);
  enum { HALVINGS = 24 };   /* friction to 1e-7 of it */
  const double fine = 0.25; /* of the distance to the bound; chosen */
  /* fraction of the bound: above it the next step would end soon; chosen */
  const double far = 0.9;
  const double clear = saltusi_friction_clear(d->o->settings.rtol);
  const double most = clear * clear; /* a margin for the event that follows */
  int count = 0;
  for (int key = 0; key < d->o->nc; key++) {
    if (saltusi_is_closed(&d->contact[key]) && !saltusi_is_friction_mode(d->o, key)) {
      d->set[count++] = key;
    }
  }
  double low = 0.0;
  double high = 1.0;
  bool sticks = false;
  saltus_status status = solve_part(d, t, y, count, 1.0, &sticks);
  double used = sticks ? saltusi_decide_least(d, held) : INFINITY;
  *inside = used <= most;
  if (!sticks || used <= far || count > SALTUSI_LARGE) {
    return status;
  }
  for (int k = 0; k < HALVINGS && status == SALTUS_OK && high - low > fine * (1.0 - high); k++) {
    double part = 0.5 * (low + high);
    status = solve_part(d, t, y, count, part, &sticks);
    high = sticks ? part : high;
    low = sticks ? low : part;
  }
  status = status == SALTUS_OK ? solve_part(d, t, y, count, high, &sticks) : status;
  *inside = status == SALTUS_OK && sticks && saltusi_decide_least(d, held) <= most;
  return status;
}

/* Whether two contacts are between the same bodies, by their rows. */
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
  /* a choice: far above rounding, 1e-10 in no_slip, and far below relevant differences; a tenth and ten times of
   * it give the same table in `study adversarial --count 2 --tol 1e-6` */
  const double at_bound = 1e-6;
  for (int i = 0; i < count; i++) {
    int key = d->part[i];
    const double* l = d->impulse + d->o->base[key];
    bool ready =
        d->o->tangents[key] >= 2 && d->contact[key].mode == SALTUSI_STICK &&
        saltusi_friction_mode_size(d->o, key, l + 1) >= d->mu[key] * l[0] * (1.0 - at_bound);
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
