/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * falling_root.c - end of a flight, by a safeguarded Newton iteration.
 */
#include "measure/falling_root.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

/* Bisection alone needs 53 iterations from a bracket of the size of its root. A Newton step that does not halve
 * the bracket is followed by a bisection, so twice that is enough. */
enum { TURNS = 128 };

double saltusi_falling_root(saltusi_flight flight, const void* data, double lo, double hi,
                            double guess) {
  assert(lo <= hi);
  double s = guess > lo && guess < hi ? guess : 0.5 * (lo + hi);
  double width = hi - lo;
  for (int turn = 0; turn < TURNS; turn++) {
    double x[2];
    flight(data, s, x);
    if (x[0] > 0.0) {
      lo = s;
    } else {
      hi = s;
    }
    double next = s - x[0] / x[1];
    if (fabs(next - s) <= DBL_EPSILON * fabs(s)) {
      return next > lo && next < hi ? next : s;
    }
    bool slow = turn % 2 == 1 && hi - lo > 0.5 * width && turn > 8;
    if (!(next > lo && next < hi) || slow) {
      next = 0.5 * (lo + hi);
    }
    if (turn % 2 == 1) {
      width = hi - lo;
    }
    if (next == s || hi - lo <= DBL_EPSILON * hi) {
      return next;
    }
    s = next;
  }
  return s;
}
