/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * uncertainty.c - uncertainty beyond the covariance: fits to experiments that are drawn with replacement (Efron 1979), and
 * profiles of the loss, whose threshold is adjusted for clusters (Pace, Salvan and Sartori 2011).
 *
 *   bootstrap  x_b minimises sum_i n_i F_i(x), n_i the number of times that experiment i was drawn
 *   profile    P_k(a) = min F(x) with x_k = a;   P_k(a) - P_k(x_k) <= f^2 V_kk/(S^-1)_kk is the 95 % interval
 */
#include "base/log.h"
#include "fit/fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool checked(const saltus_fit* fit, int count) {
  if (fit->unknowns == 0 || count < 1 || count > 100000) {
    saltusi_log(fit->def.log, SALTUS_LEVEL_ERROR,
                "fit: %d further fits are requested, must be 1 to 100000, of an unknown", count);
    return false;
  }
  return true;
}

saltus_status saltus_fit_bootstrap(saltus_fit* fit, int samples, unsigned seed, double* values) {
  assert(fit != NULL && values != NULL);
  if (!checked(fit, samples)) {
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_fit_kept kept;
  saltus_status status = saltusi_fit_keep(fit, &pool, &kept);
  uint64_t state = seed + 0x9e3779b97f4a7c15U;
  for (int b = 0; b < samples && status == SALTUS_OK; b++) {
    for (int e = 0; e < fit->experiments; e++) {
      fit->experiment[e].weight = 0;
    }
    for (int e = 0; e < fit->experiments; e++) {
      fit->experiment[saltusi_fit_draw(&state, fit->experiments)].weight++;
    }
    saltusi_fit_reset(fit, &kept);
    status = saltusi_fit_minimise(fit, false);
    memcpy(values + (ptrdiff_t)b * fit->unknowns, fit->values,
           (size_t)fit->unknowns * sizeof *values);
  }
  if (kept.nuisance != NULL) {
    saltusi_fit_restore(fit, &kept);
  }
  saltusi_pool_free(&pool);
  return status;
}

saltus_status saltus_fit_profile(saltus_fit* fit, int parameter, const double* at, int count,
                                 double* losses, double* threshold) {
  assert(fit != NULL && at != NULL && losses != NULL && threshold != NULL);
  if (!checked(fit, count) || parameter < 0 || parameter >= fit->unknowns) {
    return SALTUS_ERR_RANGE;
  }
  saltusi_fit_unknown* u = &fit->unknown[parameter];
  const double low = u->low, high = u->high;
  const double variance = fit->covariance[parameter * fit->unknowns + parameter];
  saltusi_pool pool = saltusi_pool_over(NULL);
  saltusi_fit_kept kept;
  saltus_status status = saltusi_fit_keep(fit, &pool, &kept);
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    saltusi_fit_reset(fit, &kept);
    u->low = u->high = fit->values[parameter] = at[i];
    status = saltusi_fit_minimise(fit, false);
    losses[i] = fit->view.cost - kept.view.cost;
  }
  u->low = low;
  u->high = high;
  if (kept.nuisance != NULL) {
    saltusi_fit_restore(fit, &kept);
  }
  *threshold = fit->view.factor * fit->view.factor * variance * fit->curvature[parameter];
  saltusi_pool_free(&pool);
  return status;
}
