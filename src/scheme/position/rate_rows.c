/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rate_rows.c - see rate_rows.h.
 */
#include "scheme/position/rate_rows.h"

#include <assert.h>

void saltusi_rate_rows_layout(saltusi_row_block* end, const saltus_system* sys,
                              saltus_arena* arena) {
  assert(end != NULL && sys != NULL && arena != NULL);
  saltusi_rows_layout(end, &sys->dims, sys->rate_rows != NULL ? sys->dims.nj : 0, false, arena);
}

void saltusi_rate_rows_mean(saltusi_row_block* end, const saltus_system* sys,
                            const saltusi_row_block* start, const saltus_point* at, double length,
                            double* g) {
  assert(end != NULL && sys != NULL && at != NULL && length > 0.0);
  if (sys->rate_rows == NULL) {
    return;
  }
  saltusi_rows_joints(sys, at, end);
  for (int j = 0; j < sys->dims.nj; j++) {
    if (sys->rate_rows[j]) {
      g[j] = 0.5 * length *
             (saltusi_row_dot(start, j, at->v) + start->b[j] + saltusi_row_dot(end, j, at->v) +
              end->b[j]);
    }
  }
}
