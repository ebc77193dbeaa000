/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_series.c - see dg_series.h.
 */
#include "dg_series.h"

#include <math.h>
#include <stdio.h>

const char* const dg_families[2] = {"dg-minus", "dg-plus"};

saltus_dg_options dg_options(int family, int degree) {
  saltus_dg_options o =
      family == 0 ? saltus_dg_minus_options_default() : saltus_dg_plus_options_default();
  o.degree = degree;
  return o;
}

void dg_add(study_report* report, const char* quantity, const char* method, int count,
            const double* h, const double* errors) {
  char label[128];
  double nothing[DG_GRIDS_MAX];
  for (int i = 0; i < DG_GRIDS_MAX; i++) {
    nothing[i] = NAN;
  }
  snprintf(label, sizeof label, "%s, %s", quantity, method);
  report->named = true;
  study_add_series(report, label, count, h, errors, nothing);
}

void dg_claim_independent(study_report* report, const char* id, double measured,
                          double independent) {
  double half_unit = 0.51 * pow(10.0, floor(log10(independent)) - 1.0);
  study_claim_near(report, id, measured, independent, fmax(0.03, half_unit / independent));
}

double dg_slope(int count, const double* h, const double* errors) {
  return log(errors[0] / errors[count - 1]) / log(h[0] / h[count - 1]);
}
