/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sequence.c - an impact as a sequence of impacts of single contacts until none approaches (docs/theory/laws.md,
 * 2.5). The sequence creates no energy if its single impacts create none. Three balls in line collapse for e < 7 - 4
 * sqrt 3: an infinite sequence is completed by one simultaneous impact of all contacts with e = 0.
 */
#include "law/law.h"

#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Bodies on faces with e = 0 converge geometrically, in tens of impacts; chains of ten beads take some hundred. */
enum { HITS_MAX = 5000 };

static bool goes_first(const saltusi_laws* laws, const saltus_impacts* rule, int i, int best,
                       const int* turn) {
  double u = laws->u[laws->first[i]];
  double least = laws->u[laws->first[best]];
  switch (rule->pick) {
  case SALTUS_PICK_FIRST:
    return false;
  case SALTUS_PICK_LAST:
    return true;
  case SALTUS_PICK_CYCLIC:
    return turn[i] < turn[best];
  case SALTUS_PICK_EVENTS:
    if (laws->contact[i].struck != laws->contact[best].struck) {
      return laws->contact[i].struck;
    }
    return u < least;
  default:
    return u < least;
  }
}

/* Contact of the next impact; -1: none approaches. */
static int next_contact(saltusi_laws* laws, const saltus_impacts* rule, const saltus_impact* impact,
                        int last) {
  double slow = saltusi_impact_rounding(impact);
  int best = -1;
  for (int i = 0; i < impact->count; i++) {
    laws->set[i] =
        (i - last - 1 + 2 * impact->count) % impact->count; /* cyclic order from the last contact */
  }
  for (int i = 0; i < impact->count; i++) {
    bool approaches = laws->u[laws->first[i]] < -slow;
    if (approaches && (best < 0 || goes_first(laws, rule, i, best, laws->set))) {
      best = i;
    }
  }
  return best;
}

/* The impact of contact i alone by its own law; impulses into s. */
static saltus_status strike(saltusi_laws* laws, const saltus_impact* impact, int i,
                            saltusi_single_impact* s, saltus_impact_result* result) {
  const saltus_impact_contact* c = &laws->contact[i];
  int first = laws->first[i];
  int rows = 1 + c->tangents;
  *s = (saltusi_single_impact){.contact = c, .index = i};
  for (int k = 0; k < rows; k++) {
    s->u[k] = laws->u[first + k];
    for (int j = 0; j < rows; j++) {
      s->W[k * rows + j] =
          impact->W[(size_t)(first + k) * (size_t)impact->rows + (size_t)(first + j)];
    }
  }
  switch (c->impact) {
  case SALTUS_IMPACT_OWN: {
    saltus_impact one = {.count = 1, .rows = rows, .contact = c, .W = s->W, .u = s->u};
    return c->own->apply(c->own->self, &one, s->P);
  }
  case SALTUS_IMPACT_NEWTON:
  case SALTUS_IMPACT_POISSON:
  case SALTUS_IMPACT_POISSON_PRINTED: {
    laws->set[0] = i;
    saltus_status status = saltusi_cones_impact(laws, impact, 1, -1.0, laws->u);
    memcpy(s->P, laws->P + first, (size_t)rows * sizeof(double));
    return status;
  }
  default:
    break;
  }
  if (c->tangents == 2 && c->mu > 0.0) {
    return saltusi_path_spatial(&laws->flow, s, result);
  }
  saltusi_path_planar(s, result);
  return SALTUS_OK;
}

static bool is_path(saltus_impact_law law) {
  return law == SALTUS_IMPACT_ENERGETIC || law == SALTUS_IMPACT_PATH_NEWTON ||
         law == SALTUS_IMPACT_PATH_POISSON;
}

saltus_status saltusi_sequence(saltusi_laws* laws, const saltus_impacts* rule,
                               const saltus_impact* impact, saltus_log log,
                               saltus_impact_result* result) {
  assert(laws != NULL && rule != NULL && impact != NULL && result != NULL);
  int last = -1;
  for (int hits = 0; hits < HITS_MAX; hits++) {
    int i = next_contact(laws, rule, impact, last);
    if (i < 0) {
      return SALTUS_OK;
    }
    saltusi_single_impact s;
    saltus_status status = strike(laws, impact, i, &s, result);
    if (status != SALTUS_OK) {
      return status;
    }
    int first = laws->first[i];
    memset(laws->P, 0, (size_t)impact->rows * sizeof(double));
    memcpy(laws->P + first, s.P, (size_t)(1 + s.contact->tangents) * sizeof(double));
    saltusi_impact_add(laws, impact, laws->P, result);
    if (is_path(s.contact->impact)) { /* sticking has exactly zero slip */
      memcpy(laws->u + first, s.u, (size_t)(1 + s.contact->tangents) * sizeof(double));
    }
    result->hits++;
    last = i;
  }
  result->unfinished = true;
  saltusi_log(log, SALTUS_LEVEL_WARNING,
              "impact: a sequence of %d impacts of single contacts does not end; the remainder was "
              "solved as one impact without restitution",
              HITS_MAX);
  for (int i = 0; i < impact->count; i++) {
    laws->contact[i].e_N = 0.0;
    laws->contact[i].e_T = 0.0;
    laws->contact[i].impact = SALTUS_IMPACT_NEWTON;
  }
  return saltusi_simultaneous(laws, impact, -1.0, result);
}
