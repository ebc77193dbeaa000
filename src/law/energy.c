/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * energy.c - change of kinetic energy by an impact, and laws that can create energy (docs/theory/laws.md, 1).
 */
#include "law/law.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>

/* Absolute contributions of the impulses to a row: they bound the rounding of U+. */
static double moved(const saltus_impact* impact, int r, const double* P) {
  double sum = 0.0;
  for (int s = 0; s < impact->rows; s++) {
    sum += fabs(impact->W[(size_t)r * (size_t)impact->rows + (size_t)s] * P[s]);
  }
  return sum;
}

void saltusi_impact_energy(const saltus_impact* impact, const saltus_impact_contact* contact,
                           saltus_impact_result* result) {
  assert(impact != NULL && contact != NULL && result != NULL);
  double size = 0.0;
  double most = 0.0;
  int r = 0;
  result->normal = result->end_slip = result->first_slip = 0.0;
  result->giver = -1;
  for (int i = 0; i < impact->count; i++) {
    double own = 0.0;
    for (int k = 0; k <= contact[i].tangents; k++, r++) {
      double P = result->P[r];
      double before = impact->u[r];
      double after = result->u[r];
      own += 0.5 * P * (before + after);
      size += fabs(P) * (fabs(before) + moved(impact, r, result->P));
      if (k == 0) {
        result->normal += 0.5 * P * (before + after);
      } else {
        result->end_slip += 0.5 * P * (after + contact[i].e_T * before);
        result->first_slip += 0.5 * (1.0 - contact[i].e_T) * P * before;
      }
    }
    if (own > most) {
      most = own;
      result->giver = i;
    }
  }
  result->gain = result->normal + result->end_slip + result->first_slip;
  if (!(result->gain > 64.0 * DBL_EPSILON * size)) {
    result->giver = -1;
  }
}

static bool has_friction(const saltus_impact_contact* c) {
  return c->tangents > 0 && c->mu > 0.0;
}

/* Newton's law cannot create energy without friction, or with one e_T for all contacts that is at least every e_N. */
static const char* newton_gains(int count, const saltus_impact_contact* contact) {
  double most = 0.0;
  double least_T = INFINITY;
  double most_T = -INFINITY;
  bool friction = false;
  for (int i = 0; i < count; i++) {
    most = fmax(most, contact[i].e_N);
    friction = friction || has_friction(&contact[i]);
    if (has_friction(&contact[i])) {
      least_T = fmin(least_T, contact[i].e_T);
      most_T = fmax(most_T, contact[i].e_T);
    }
  }
  if (!friction || (least_T == most_T && least_T >= most) ||
      (most == 0.0 && least_T == 0.0 && most_T == 0.0)) {
    return NULL;
  }
  return "Newton's law with friction creates energy where slip reverses, unless one tangential "
         "restitution for all contacts is at least every normal one";
}

const char* saltus_impact_can_gain(const saltus_impacts* rule, int count,
                                   const saltus_impact_contact* contact) {
  assert(count >= 0 && (count == 0 || contact != NULL));
  saltus_impact_order order = rule != NULL ? rule->order : SALTUS_ORDER_SIMULTANEOUS;
  bool newton = false;
  bool poisson = false;
  bool different = false;
  bool friction = false;
  if (order == SALTUS_ORDER_OWN) {
    return "the energy of a user-defined law is not known in advance";
  }
  if (order == SALTUS_ORDER_LZB || order == SALTUS_ORDER_MOREAU) {
    return NULL;
  }
  for (int i = 0; i < count; i++) {
    const saltus_impact_contact* c = &contact[i];
    bool frictional = has_friction(c);
    if (c->impact == SALTUS_IMPACT_OWN) {
      return "the energy of a user-defined law is not known in advance";
    }
    if (frictional && c->e_N > 0.0 && c->impact == SALTUS_IMPACT_POISSON_PRINTED) {
      return "Poisson's law whose restituted impulse has no friction can create energy even with "
             "one contact";
    }
    if (frictional && c->e_N > 0.0 && c->impact == SALTUS_IMPACT_PATH_NEWTON) {
      return "a path that ends by Newton's law can create energy with friction";
    }
    newton = newton || (c->impact == SALTUS_IMPACT_NEWTON && c->e_N > 0.0);
    poisson = poisson || c->impact == SALTUS_IMPACT_POISSON;
    different = different || c->e_N != contact[0].e_N;
    friction = friction || frictional;
  }
  const char* why = newton_gains(count, contact);
  if (newton && why != NULL) {
    return why;
  }
  if (poisson && friction && order == SALTUS_ORDER_SIMULTANEOUS && (different || newton)) {
    return "Poisson's law with friction can create energy in simultaneous impacts of different "
           "restitution";
  }
  return NULL;
}
