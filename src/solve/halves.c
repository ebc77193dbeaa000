/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * halves.c - see halves.h.
 *
 * The interface are the contacts of the second half that share a block with the first. In the order
 * of the problem this is a layer of a packing when bodies are numbered layer by layer. Where it is
 * not thin, contacts are numbered breadth first, whose levels are thin (Cuthill & McKee, Proc. 24th
 * ACM Conf. (1969) 157-172).
 */
#include "solve/halves.h"

#include <math.h>
#include <string.h>

/* An interface of more than this part of the contacts asks for another order. */
enum { INTERFACE_PART = 16 };

/* Largest difference between a block and its mate, relative to the diagonals: that of rounding to
 * single precision. */
static const double unsymmetric = 1e-7;
/* Values beyond it, or diagonals below its inverse, are not for single precision. */
static const double range = 1e30;

void saltusi_halves_layout(saltusi_halves* halves, const saltus_friction_problem* problem,
                           saltus_arena* arena) {
  *halves = (saltusi_halves){0};
  int d = problem->W.units < SALTUSI_HALVES_LEAST ? 0 : saltusi_friction_common_rows(problem);
  if (d == 0) {
    return;
  }
  size_t n = (size_t)problem->W.units;
  size_t square = (size_t)d * (size_t)d;
  size_t above = (size_t)problem->W.start[n] / 2; /* when the pattern is symmetric */
  halves->d = d;
  halves->unit = SALTUS_PUSH(arena, int, n);
  halves->place = SALTUS_PUSH(arena, int, n);
  halves->start = SALTUS_PUSH(arena, int, n + 1);
  halves->next = SALTUS_PUSH(arena, int, n);
  halves->column = SALTUS_PUSH(arena, int, above);
  halves->values = SALTUS_PUSH(arena, float, above* square);
  halves->diagonal = SALTUS_PUSH(arena, double, n* square);
  halves->q = SALTUS_PUSH(arena, double, n*(size_t)d);
  halves->mu = SALTUS_PUSH(arena, double, n);
  halves->rho = SALTUS_PUSH(arena, double, n);
  halves->local = SALTUS_PUSH(arena, double, n*(size_t)saltusi_one_contact_room(d));
  halves->slip = SALTUS_PUSH(arena, double, n);
}

/* Largest difference of blocks e and mate, one the transpose of the other. */
static double difference(const saltusi_friction_case* in, int d, int e, int mate) {
  const double* a = in->values + in->pattern->place[e];
  const double* b = in->values + in->pattern->place[mate];
  double largest = 0.0;
  for (int k = 0; k < d; k++) {
    for (int c = 0; c < d; c++) {
      largest = fmax(largest, fabs(a[k * d + c] - b[c * d + k]));
    }
  }
  return largest;
}

/* Every block (i, j) has its mate (j, i). Columns ascend, so the mates of row j are met in their
 * own order: next [units] follows them. With `in` also the values are compared. */
static bool symmetric(const saltusi_friction_pattern* pattern, const saltusi_friction_case* in,
                      int* next) {
  memcpy(next, pattern->start, (size_t)pattern->units * sizeof(int));
  for (int i = 0; i < pattern->units; i++) {
    if (pattern->diagonal[i] < 0 || pattern->diagonal[i] != next[i]) {
      return false;
    }
    for (int e = pattern->diagonal[i] + 1; e < pattern->start[i + 1]; e++) {
      int j = pattern->unit[e];
      int mate = next[j]++;
      if (mate >= pattern->start[j + 1] || pattern->unit[mate] != i) {
        return false;
      }
      if (in != NULL && !(difference(in, pattern->uniform, e, mate) <=
                          unsymmetric / sqrt(in->rho[i] * in->rho[j]))) {
        return false;
      }
    }
  }
  return true;
}

/* Does a block couple the unit with one of the first half? */
static bool touches(const saltusi_friction_pattern* pattern, const int* rank, int unit, int half) {
  for (int e = pattern->start[unit]; e < pattern->start[unit + 1]; e++) {
    if (rank[pattern->unit[e]] < half) {
      return true;
    }
  }
  return false;
}

/* sequence [units] and its inverse, breadth first from the lowest unit of each component. */
static void breadth_first(const saltusi_friction_pattern* pattern, int* sequence, int* rank) {
  int units = pattern->units;
  int found = 0;
  for (int i = 0; i < units; i++) {
    rank[i] = -1;
  }
  for (int seed = 0; seed < units; seed++) {
    if (rank[seed] >= 0) {
      continue;
    }
    rank[seed] = found;
    sequence[found++] = seed;
    for (int k = rank[seed]; k < found; k++) {
      int i = sequence[k];
      for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
        int j = pattern->unit[e];
        if (rank[j] < 0) {
          rank[j] = found;
          sequence[found++] = j;
        }
      }
    }
  }
}

/* Where to cut so that the halves beside the interface are equal. */
static int middle(const saltusi_friction_pattern* pattern, const int* sequence, const int* rank,
                  int* interface) {
  int units = pattern->units;
  *interface = 0;
  for (int k = units / 2; k < units; k++) {
    *interface += touches(pattern, rank, sequence[k], units / 2) ? 1 : 0;
  }
  return (units - *interface) / 2;
}

/* Appends the units behind the cut that are, or are not, of the interface. */
static int append(saltusi_halves* halves, const saltusi_friction_pattern* pattern,
                  const int* sequence, int at, bool interface) {
  int half = halves->first[1];
  for (int k = half; k < pattern->units; k++) {
    if (touches(pattern, halves->place, sequence[k], half) == interface) {
      halves->unit[at++] = sequence[k];
    }
  }
  return at;
}

/* unit, place and first from a sequence; place holds its inverse before. */
static void cut(saltusi_halves* halves, const saltusi_friction_pattern* pattern,
                const int* sequence, int half) {
  memcpy(halves->unit, sequence, (size_t)half * sizeof(int));
  halves->first[0] = 0;
  halves->first[1] = half;
  halves->first[2] = append(halves, pattern, sequence, half, false);
  halves->first[3] = append(halves, pattern, sequence, halves->first[2], true);
  for (int p = 0; p < pattern->units; p++) {
    halves->place[halves->unit[p]] = p;
  }
}

void saltusi_halves_number(saltusi_halves* halves, const saltusi_friction_pattern* pattern) {
  halves->units = 0;
  halves->numbered = true;
  if (halves->d == 0 || !symmetric(pattern, NULL, halves->next)) {
    return;
  }
  int units = pattern->units;
  int* sequence = halves->start; /* not yet in use */
  int interface = 0;
  for (int i = 0; i < units; i++) {
    sequence[i] = i;
    halves->place[i] = i;
  }
  int half = middle(pattern, sequence, halves->place, &interface);
  if (interface > units / INTERFACE_PART) {
    breadth_first(pattern, sequence, halves->place);
    half = middle(pattern, sequence, halves->place, &interface);
  }
  cut(halves, pattern, sequence, half);
  int block = 0;
  for (int p = 0; p < units; p++) {
    int i = halves->unit[p];
    halves->start[p] = block;
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      if (halves->place[pattern->unit[e]] > p) {
        halves->column[block++] = halves->place[pattern->unit[e]];
      }
    }
  }
  halves->start[units] = block;
  halves->units = units;
}

/* The blocks above the diagonal; false when one is out of range. */
static bool fill_blocks(saltusi_halves* halves, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int square = halves->d * halves->d;
  float* to = halves->values;
  bool fits = true;
  for (int p = 0; p < halves->units; p++) {
    int i = halves->unit[p];
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      if (halves->place[pattern->unit[e]] <= p) {
        continue;
      }
      const double* from = in->values + pattern->place[e];
      for (int k = 0; k < square; k++) {
        bool fit = fabs(from[k]) <= range;
        *to++ = fit ? (float)from[k] : 0.0F;
        fits = fits && fit;
      }
    }
  }
  return fits;
}

bool saltusi_halves_fill(saltusi_halves* halves, const saltusi_friction_case* in) {
  const saltusi_friction_pattern* pattern = in->pattern;
  int d = halves->d;
  size_t square = (size_t)d * (size_t)d;
  size_t room = (size_t)saltusi_one_contact_room(d);
  bool fits = true;
  for (size_t p = 0; p < (size_t)halves->units; p++) {
    int i = halves->unit[p];
    const double* block = in->values + pattern->place[pattern->diagonal[i]];
    memcpy(halves->diagonal + p * square, block, square * sizeof(double));
    memcpy(halves->local + p * room, in->local + pattern->local_at[i], room * sizeof(double));
    memcpy(halves->q + p * (size_t)d, in->q + pattern->offset[i], (size_t)d * sizeof(double));
    halves->mu[p] = in->mu[i];
    halves->rho[p] = in->rho[i];
    halves->slip[p] = 0.0;
    fits = fits && in->rho[i] <= range && in->rho[i] >= 1.0 / range;
  }
  return fits && fill_blocks(halves, in) && symmetric(pattern, in, halves->next);
}
