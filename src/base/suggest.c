/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * suggest.c - optimal string alignment distance over three rows of a table, letters compared
 * without case. Names longer than LONGEST are not compared.
 */
#include "base/suggest.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 63 };

static int lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int least(int a, int b) {
  return a < b ? a : b;
}

static int distance(const char* a, int na, const char* b, int nb) {
  int rows[3][LONGEST + 1];
  for (int j = 0; j <= nb; j++) {
    rows[0][j] = j;
  }
  for (int i = 1; i <= na; i++) {
    int* row = rows[i % 3];
    const int* above = rows[(i + 2) % 3];
    const int* above2 = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int wrong = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = least(above[j - 1] + wrong, 1 + least(above[j], row[j - 1]));
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = least(row[j], above2[j - 2] + 1);
      }
    }
  }
  return rows[na % 3][nb];
}

const char* saltusi_suggest(const char* word, const char* const* candidates, int count) {
  assert(count >= 0);
  size_t length = strlen(word);
  if (length == 0 || length > LONGEST) {
    return NULL;
  }

  /* a one-letter name matches only the same letter in the other case: every word is near to it */
  int best = length == 1 ? 1 : 1 + (length < 3 ? 1 : (int)(length / 3));
  const char* nearest = NULL;
  for (int i = 0; i < count; i++) {
    if (candidates[i] == NULL) {
      continue;
    }
    size_t other = strlen(candidates[i]);
    if (other == 0 || other > LONGEST) {
      continue;
    }
    int d = distance(word, (int)length, candidates[i], (int)other);
    if (d < best) {
      best = d;
      nearest = candidates[i];
    }
  }
  return nearest;
}
