/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Orders of elimination, with AMD or without: trees have no fill, cycles the least there is, grids less
 * than by bands; rows that have to wait do.
 */
#include "math/ordering.h"
#include "saltus_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

typedef struct graph {
  int n;
  bool* edge; /* [n x n] */
} graph;

static graph empty(int n) {
  return (graph){n, calloc((size_t)n * (size_t)n, sizeof(bool))};
}

static void connect(graph* g, int i, int j) {
  g->edge[(size_t)i * (size_t)g->n + (size_t)j] = i != j;
  g->edge[(size_t)j * (size_t)g->n + (size_t)i] = i != j;
}

static int draw(uint64_t* seed, int below) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((*seed >> 33) % (uint64_t)below);
}

/* Entries of the factor that the matrix has not: vertices are eliminated one by one in a full matrix. */
static long fill_of(const graph* g, const int* order) {
  size_t n = (size_t)g->n;
  bool* e = malloc(n * n * sizeof(bool));
  memcpy(e, g->edge, n * n * sizeof(bool));
  long fill = 0;
  for (size_t k = 0; k < n; k++) {
    size_t p = (size_t)order[k];
    for (size_t a = k + 1; a < n; a++) {
      size_t i = (size_t)order[a];
      for (size_t b = a + 1; b < n && e[i * n + p]; b++) {
        size_t j = (size_t)order[b];
        if (e[j * n + p] && !e[i * n + j]) {
          e[i * n + j] = e[j * n + i] = true;
          fill++;
        }
      }
    }
  }
  free(e);
  return fill;
}

/* The order of a graph whose rows also hold the diagonal and some neighbours twice. */
static void find(const graph* g, const bool* later, int* order) {
  size_t n = (size_t)g->n;
  int* start = calloc(n + 1, sizeof(int));
  int* column = malloc(2 * n * n * sizeof(int) + sizeof(int));
  int used = 0;
  for (int i = 0; i < g->n; i++) {
    start[i] = used;
    column[used++] = i;
    for (int j = 0; j < g->n; j++) {
      for (int twice = 0; twice < 1 + (i + j) % 2 && g->edge[(size_t)i * n + (size_t)j]; twice++) {
        column[used++] = j;
      }
    }
  }
  start[g->n] = used;
  size_t room = saltusi_ordering_workspace((size_t)used, g->n);
  int* scratch = malloc(room * sizeof(int));
  memset(scratch, 0x5a, room * sizeof(int));
  saltusi_ordering(g->n, start, column, later, order, scratch);
  bool seen[MOST] = {false};
  for (int k = 0; k < g->n; k++) {
    assert_true(order[k] >= 0 && order[k] < g->n && !seen[order[k]]);
    seen[order[k]] = true;
  }
  free(scratch);
  free(column);
  free(start);
}

static long least_fill(graph* g) {
  int order[MOST];
  find(g, NULL, order);
  long fill = fill_of(g, order);
  free(g->edge);
  return fill;
}

static void trees_and_stars_have_no_fill(void** state) {
  (void)state;
  uint64_t seed = 3;
  for (int trial = 0; trial < 40; trial++) {
    graph g = empty(1 + draw(&seed, 200));
    int name[MOST]; /* numbers in the order of growth would make it easy */
    for (int i = 0; i < g.n; i++) {
      int j = draw(&seed, i + 1);
      name[i] = name[j];
      name[j] = i;
    }
    for (int i = 1; i < g.n; i++) {
      connect(&g, name[i], name[trial % 4 == 0 ? 0 : draw(&seed, i)]);
    }
    assert_int_equal(least_fill(&g), 0);
  }
}

static void a_cycle_has_the_least_fill_there_is(void** state) {
  (void)state;
  for (int n = 4; n < 60; n += 5) {
    graph g = empty(n);
    for (int i = 0; i < n; i++) {
      connect(&g, i, (i + 1) % n);
    }
    assert_int_equal(least_fill(&g), n - 3); /* a triangulation of a polygon */
  }
}

/* Rows in their order fill a band: m^3 entries. Nested dissection has 31/4 n log2 n for large n (George,
 * SIAM J. Numer. Anal. 10 (1973) 345-363); minimum degree is known to be as good at this size. */
static void grids_have_less_fill_than_bands(void** state) {
  (void)state;
  const int m = 24;
  graph g = empty(m * m);
  int row_by_row[MOST];
  for (int i = 0; i < m * m; i++) {
    row_by_row[i] = i;
    if (i % m > 0) {
      connect(&g, i, i - 1);
    }
    if (i >= m) {
      connect(&g, i, i - m);
    }
  }
  long band = fill_of(&g, row_by_row);
  long fill = least_fill(&g);
  assert_true(2 * fill < band);
}

static void rows_that_wait_come_last(void** state) {
  (void)state;
  uint64_t seed = 8;
  for (int trial = 0; trial < 60; trial++) {
    graph g = empty(2 + draw(&seed, 120));
    bool later[MOST] = {false};
    int waiting = 0;
    int edges = draw(&seed, 4 * g.n);
    for (int k = 0; k < edges; k++) {
      connect(&g, draw(&seed, g.n), draw(&seed, g.n));
    }
    for (int i = 0; i < g.n; i++) {
      later[i] = trial % 5 != 0 && draw(&seed, 3) == 0;
      waiting += later[i] ? 1 : 0;
    }
    int order[MOST];
    find(&g, later, order);
    for (int k = 0; k < g.n; k++) {
      assert_int_equal(later[order[k]], k >= g.n - waiting);
    }
    free(g.edge);
  }
}

static void dense_patterns_are_ordered(void** state) {
  (void)state;
  for (int n = 0; n < 40; n += 13) {
    graph g = empty(n);
    for (int i = 0; i < n * n; i++) {
      connect(&g, i / n, i % n);
    }
    assert_int_equal(least_fill(&g), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_and_stars_have_no_fill),
      cmocka_unit_test(a_cycle_has_the_least_fill_there_is),
      cmocka_unit_test(grids_have_less_fill_than_bands),
      cmocka_unit_test(rows_that_wait_come_last),
      cmocka_unit_test(dense_patterns_are_ordered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
