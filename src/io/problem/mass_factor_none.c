/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Replacement of mass_factor.c in builds without CXSparse: returns an error.
 */
#include "io/problem/mass_factor.h"

#include <assert.h>

saltus_status saltusi_mass_factor_open(saltusi_mass_factor* f, const saltus_csr* M) {
  assert(f != NULL && M != NULL);
  *f = (saltusi_mass_factor){.M = M};
  return SALTUS_ERR_UNSUPPORTED;
}

void saltusi_mass_factor_close(saltusi_mass_factor* f) {
  assert(f != NULL);
  *f = (saltusi_mass_factor){0};
}

void saltusi_mass_factor_solve(saltusi_mass_factor* f, int count, const int* row,
                               const double* value) {
  assert(f != NULL);
  (void)count, (void)row, (void)value;
  f->solved_rows = 0;
}
