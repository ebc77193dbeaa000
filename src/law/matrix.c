/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * matrix.c - multiple impacts by an impact matrix (docs/theory/laws.md, 2.7):
 *
 *   U+ = -E U-,   P = -W^-1 (1 + E) U-,   all U- <= 0, no friction
 *
 * The result must be admissible: U+ >= 0 and P >= 0.
 */
#include "law/law.h"

#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Negative velocities and impulses below this fraction of the largest count as rounding. */
static const double rounding_part = 1e-12;

/* Index of contact number `law` of the system among the contacts of the impact; -1: it is open. */
static int place_of(const saltus_impact* impact, int law) {
  int i = 0;
  while (i < impact->count && impact->contact[i].law != law) {
    i++;
  }
  return i < impact->count ? i : -1;
}

static bool is_negative(int n, const double* x) {
  double most = saltusi_max_abs(n, x);
  bool any = false;
  for (int i = 0; i < n; i++) {
    any = any || x[i] < -rounding_part * most;
  }
  return any;
}

static saltus_status refuse(saltus_log log, const char* what) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "impacts by a matrix: %s", what);
  return SALTUS_ERR_RANGE;
}

saltus_status saltusi_matrix_impact(saltusi_laws* laws, const saltus_impacts* rule,
                                    const saltus_impact* impact, saltus_log log, bool* struck) {
  assert(laws != NULL && rule != NULL && impact != NULL && struck != NULL);
  int n = rule->matrix_count;
  double slow = saltusi_impact_rounding(impact);
  bool approaching = false;
  *struck = false;
  if (n == 0 || n > impact->count) {
    return SALTUS_OK;
  }
  for (int i = 0; i < n; i++) {
    int at = place_of(impact, rule->matrix_contact[i]);
    if (at < 0 || laws->u[laws->first[at]] > slow) {
      return SALTUS_OK; /* some of them are open: each contact has its own law */
    }
    if (laws->contact[at].tangents > 0 && laws->contact[at].mu > 0.0) {
      return refuse(log, "contacts with friction have no such law");
    }
    laws->set[i] = laws->first[at];
    approaching = approaching || laws->u[laws->first[at]] < -slow;
  }
  if (!approaching) {
    return SALTUS_OK;
  }
  double* after = laws->compression;
  double* x = laws->P;
  for (int i = 0; i < n; i++) {
    after[i] = 0.0;
    for (int j = 0; j < n; j++) {
      double u = laws->u[laws->set[j]];
      laws->part_W[i * n + j] =
          impact->W[(size_t)laws->set[i] * (size_t)impact->rows + (size_t)laws->set[j]];
      after[i] -= rule->matrix[i * n + j] * u;
    }
    x[i] = after[i] - laws->u[laws->set[i]];
  }
  if (!saltusi_lu_factor(n, laws->part_W, laws->pivot, 1e-12)) {
    return refuse(log, "linearly dependent contacts (W is singular) have no such law");
  }
  saltusi_lu_solve(n, laws->part_W, laws->pivot, x);
  if (is_negative(n, after) || is_negative(n, x)) {
    return refuse(log, is_negative(n, x)
                           ? "a contact would have to pull (W^-1 (1 + E) U- has a "
                             "positive entry)"
                           : "contacts would continue to approach (E U- has a positive entry)");
  }
  memcpy(after, x, (size_t)n * sizeof(double));
  memset(laws->P, 0, (size_t)impact->rows * sizeof(double));
  for (int i = 0; i < n; i++) {
    laws->P[laws->set[i]] = after[i];
  }
  *struck = true;
  return SALTUS_OK;
}
