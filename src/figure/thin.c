/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "figure/thin.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum { FIRST, LOWEST, HIGHEST, LAST };

static void keep(saltusi_thin* thin, int slot, saltusi_point p) {
  thin->point[slot] = p;
  thin->index[slot] = thin->count;
}

static void begin(saltusi_thin* thin, saltusi_point p) {
  thin->count = 0;
  for (int slot = FIRST; slot <= LAST; slot++) {
    keep(thin, slot, p);
  }
  thin->count = 1;
}

int saltusi_thin_flush(saltusi_thin* thin, saltusi_point out[SALTUSI_THIN_OUT]) {
  assert(thin != NULL);
  if (thin->count == 0) {
    return 0;
  }
  bool low_first = thin->index[LOWEST] < thin->index[HIGHEST];
  const int order[SALTUSI_THIN_OUT] = {FIRST, low_first ? LOWEST : HIGHEST,
                                       low_first ? HIGHEST : LOWEST, LAST};
  int n = 0;
  long before = -1;
  for (int i = 0; i < SALTUSI_THIN_OUT; i++) {
    int slot = order[i];
    if (thin->index[slot] > before) {
      before = thin->index[slot];
      out[n] = thin->point[slot];
      /* a gap that was classified as invisible stays so */
      out[n].start = out[n].start && slot == FIRST;
      n++;
    }
  }
  thin->count = 0;
  return n;
}

int saltusi_thin_push(saltusi_thin* thin, saltusi_point p, saltusi_point out[SALTUSI_THIN_OUT]) {
  assert(thin != NULL);
  double column = floor(p.x / thin->width);
  bool same = thin->count > 0 && column == thin->column;
  if (!same || (p.start && !thin->split)) {
    int n = saltusi_thin_flush(thin, out);
    thin->split = same;
    thin->column = column;
    begin(thin, p);
    return n;
  }

  if (p.y < thin->point[LOWEST].y) {
    keep(thin, LOWEST, p);
  }
  if (p.y > thin->point[HIGHEST].y) {
    keep(thin, HIGHEST, p);
  }
  keep(thin, LAST, p);
  thin->count += 1;
  return 0;
}
