/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.c - see bodies.h.
 */
#include "solve/body_space/bodies.h"

#include "base/lanes.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { WIDTH = SALTUSI_BODY_WIDTH, BLOCK = SALTUSI_BODY_BLOCK, ROWS = SALTUSI_BODY_ROWS };

void saltusi_bodies_layout(saltusi_bodies* b, int units, int bodies, saltus_arena* arena) {
  assert(b != NULL && arena != NULL && units >= 0 && bodies >= 0);
  b->body = SALTUS_PUSH2(arena, int, units, 2);
  b->G = SALTUS_PUSH2(arena, double, units, SALTUSI_CONTACT_ROWS);
  b->moved = SALTUS_PUSH2(arena, double, units, SALTUSI_CONTACT_ROWS);
  b->soft = SALTUS_PUSH2(arena, double, units, 3);
  b->A = SALTUS_PUSH2(arena, double, bodies, BLOCK);
  b->inverse = SALTUS_PUSH2(arena, double, bodies, BLOCK);
  b->v = SALTUS_PUSH2(arena, double, bodies + 1, WIDTH);
  b->right = SALTUS_PUSH2(arena, double, bodies, WIDTH);
  b->next = SALTUS_PUSH2(arena, double, bodies, WIDTH);
  b->step = SALTUS_PUSH2(arena, double, bodies, WIDTH);
  b->offset = SALTUS_PUSH(arena, int, bodies + 1);
  b->start = SALTUS_PUSH(arena, int, bodies + 1);
  b->neighbour = SALTUS_PUSH(arena, int, bodies + 2 * units);
  b->crossing = SALTUS_PUSH2(arena, int, units, 2);
  b->mark = SALTUS_PUSH(arena, int, bodies + 1);
  b->packed = saltus_arena_push(arena, (size_t)units * SALTUSI_PACKED_CAPACITY, sizeof(double),
                                SALTUS_ALIGNMENT);
  b->pair = SALTUS_PUSH2(arena, int, units, 2 * SALTUSI_LANE_CAPACITY);
  b->lane = SALTUS_PUSH2(arena, int, units, SALTUSI_LANE_CAPACITY);
  b->changes = SALTUS_PUSH2(arena, double, bodies + 1, SALTUSI_SINGLE_WIDTH);
  b->run = SALTUS_PUSH(arena, int, units);
  b->run_end = SALTUS_PUSH(arena, int, units);
}

/* Free bodies, for which A does not couple velocities of the centre of mass and of rotation: two blocks of 3 x 3. */
static bool invert_apart(const double* from, double* to) {
  enum { HALF = WIDTH / 2 };
  double block[HALF * HALF], inverse[HALF * HALF], coupled = 0.0, size = 0.0;
  for (int a = 0; a < HALF; a++) {
    for (int c = 0; c < HALF; c++) {
      coupled += fabs(from[a * WIDTH + HALF + c]) + fabs(from[(HALF + a) * WIDTH + c]);
    }
  }
  if (coupled != 0.0) {
    return false;
  }
  memset(to, 0, BLOCK * sizeof(double));
  for (int part = 0; part < 2; part++) {
    const size_t at = (size_t)part * HALF * (WIDTH + 1);
    for (int k = 0; k < HALF * HALF; k++) {
      block[k] = from[at + (size_t)(k / HALF * WIDTH + k % HALF)];
    }
    saltusi_invert3(block, inverse);
    for (int k = 0; k < HALF * HALF; k++) {
      to[at + (size_t)(k / HALF * WIDTH + k % HALF)] = inverse[k];
      size += fabs(inverse[k]);
    }
  }
  return isfinite(size);
}

static bool invert(const double* from, double* to) {
  if (invert_apart(from, to)) {
    return true;
  }
  double lu[BLOCK];
  int pivot[WIDTH];
  memcpy(lu, from, sizeof lu);
  if (!saltusi_lu_factor(WIDTH, lu, pivot, DBL_MIN)) {
    return false;
  }
  for (int c = 0; c < WIDTH; c++) {
    double x[WIDTH] = {0.0};
    x[c] = 1.0;
    saltusi_lu_solve(WIDTH, lu, pivot, x);
    for (int k = 0; k < WIDTH; k++) {
      to[k * WIDTH + c] = x[k];
    }
  }
  return true;
}

/* Coupling in A^-1 of a body: full; translation and rotation decoupled; diagonal. */
enum { FULL, APART, DIAGONAL };

static int form_of(const double* matrix) {
  double off = 0.0, across = 0.0;
  for (int a = 0; a < WIDTH; a++) {
    for (int c = 0; c < WIDTH; c++) {
      const double entry = fabs(matrix[a * WIDTH + c]);
      off += a == c ? 0.0 : entry;
      across += (a < WIDTH / 2) == (c < WIDTH / 2) ? 0.0 : entry;
    }
  }
  return off == 0.0 ? DIAGONAL : across == 0.0 ? APART : FULL;
}

/* y = M g of three rows, M the block of A^-1 from row and column `from` on. */
SALTUSI_ALWAYS_INLINE void spread_half(const double* inverse, int from, const double* G,
                                       double* Y) {
  const double* m = inverse + (size_t)(from * (WIDTH + 1));
  for (int k = 0; k < 3; k++) {
    const double* g = G + (size_t)(k * WIDTH + from);
    double* y = Y + (size_t)(k * WIDTH + from);
    for (int a = 0; a < WIDTH / 2; a++) {
      y[a] = m[a * WIDTH] * g[0] + m[a * WIDTH + 1] * g[1] + m[a * WIDTH + 2] * g[2];
    }
  }
}

/* A^-1 G of the rows of a contact on a body, without products with zeros. */
SALTUSI_ALWAYS_INLINE void spread_rows(const double* inverse, int form, const double* G,
                                       double* Y) {
  if (form == APART) {
    spread_half(inverse, 0, G, Y);
    spread_half(inverse, WIDTH / 2, G, Y);
    return;
  }
  for (int e = 0; e < ROWS; e++) {
    const int a = e % WIDTH;
    Y[e] = form == DIAGONAL ? inverse[a * (WIDTH + 1)] * G[e]
                            : saltusi_dot(WIDTH, inverse + (size_t)a * WIDTH, G + (e - a));
  }
}

SALTUSI_FOR_MACHINES static void spread(const saltusi_bodies* b) {
  for (int k = 0; k < 2 * b->units; k++) {
    const int body = b->body[k];
    const size_t at = (size_t)k * ROWS;
    if (body >= 0) {
      spread_rows(b->inverse + (size_t)body * BLOCK, b->mark[body], b->G + at, b->moved + at);
    }
  }
}

/* Neighbours of each body through its contacts, sorted, once each. */
static void find_neighbours(saltusi_bodies* b) {
  int* start = b->start;
  memset(start, 0, ((size_t)b->bodies + 1) * sizeof(int));
  for (int i = 0; i < b->units; i++) {
    if (b->body[2 * i] >= 0 && b->body[2 * i + 1] >= 0) {
      start[b->body[2 * i] + 1]++;
      start[b->body[2 * i + 1] + 1]++;
    }
  }
  for (int k = 0; k < b->bodies; k++) { /* the body itself */
    start[k + 1] += start[k] + 1;
    b->mark[k] = start[k];
    b->neighbour[b->mark[k]++] = k;
  }
  for (int i = 0; i < b->units; i++) {
    int first = b->body[2 * i];
    int second = b->body[2 * i + 1];
    if (first >= 0 && second >= 0) {
      b->neighbour[b->mark[first]++] = second;
      b->neighbour[b->mark[second]++] = first;
    }
  }
}

static void sort_neighbours(saltusi_bodies* b) {
  int kept = 0;
  int from = 0;
  for (int k = 0; k < b->bodies; k++) {
    int to = b->start[k + 1];
    int first = kept;
    for (int e = from; e < to; e++) {
      int body = b->neighbour[e];
      int at = kept;
      while (at > first && b->neighbour[at - 1] > body) {
        at--;
      }
      if (at > first && b->neighbour[at - 1] == body) {
        continue;
      }
      memmove(b->neighbour + at + 1, b->neighbour + at, (size_t)(kept - at) * sizeof(int));
      b->neighbour[at] = body;
      kept++;
    }
    from = to;
    b->start[k + 1] = kept;
  }
}

bool saltusi_bodies_prepare(saltusi_bodies* b) {
  assert(b != NULL);
  b->kind = NULL;
  b->single.wanted = false;
  for (int k = 0; k < b->bodies; k++) {
    if (!invert(b->inverse + (size_t)k * BLOCK, b->A + (size_t)k * BLOCK)) {
      return false;
    }
  }
  for (int k = 0; k <= b->bodies; k++) {
    b->offset[k] = k * WIDTH;
  }
  for (int k = 0; k < b->bodies; k++) {
    b->mark[k] = form_of(b->inverse + (size_t)k * BLOCK);
  }
  spread(b);
  find_neighbours(b);
  sort_neighbours(b);
  return true;
}

saltusi_block_pattern saltusi_bodies_pattern(const saltusi_bodies* b) {
  assert(b != NULL);
  return (saltusi_block_pattern){.units = b->bodies,
                                 .rows = b->bodies * WIDTH,
                                 .blocks = b->start[b->bodies],
                                 .uniform = WIDTH,
                                 .unit_max = WIDTH,
                                 .offset = b->offset,
                                 .start = b->start,
                                 .unit = b->neighbour};
}

/* v += A^-1 G_i d of one body, Y = A^-1 G_i: four velocities at once, then two. */
SALTUSI_ALWAYS_INLINE void push_body(const double* Y, const double* d, double* v) {
  enum { FOUR = SALTUSI_LANES };
  saltusi_lanes* front = (saltusi_lanes*)v;
  saltusi_halves* back = (saltusi_halves*)(v + FOUR);
  *front += *(const saltusi_lanes*)Y * d[0] + *(const saltusi_lanes*)(Y + WIDTH) * d[1] +
            *(const saltusi_lanes*)(Y + (size_t)2 * WIDTH) * d[2];
  Y += FOUR;
  *back += *(const saltusi_halves*)Y * d[0] + *(const saltusi_halves*)(Y + WIDTH) * d[1] +
           *(const saltusi_halves*)(Y + (size_t)2 * WIDTH) * d[2];
}

SALTUSI_FOR_MACHINES static void move(const saltusi_bodies* b, const double* r, double* v) {
  memset(v, 0, (size_t)b->bodies * WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    const double* d = r + 3 * (size_t)i;
    if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) {
      continue;
    }
    const double* Y = b->moved + (size_t)i * SALTUSI_CONTACT_ROWS;
    for (int s = 0; s < 2; s++) {
      const int body = b->body[2 * i + s];
      if (body >= 0) {
        push_body(Y + (size_t)s * ROWS, d, v + (size_t)body * WIDTH);
      }
    }
  }
}

void saltusi_bodies_move(const saltusi_bodies* b, const double* r, double* v) {
  assert(b != NULL && r != NULL && v != NULL);
  move(b, r, v);
}

static int find_block(const saltusi_block_lu* lu, int row, int column) {
  int low = lu->start[row];
  int high = lu->start[row + 1] - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (lu->unit[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Block += F G^T with F [WIDTH x 3] and G row by row. */
SALTUSI_ALWAYS_INLINE void add_product(double F[WIDTH][3], const double* restrict G,
                                       double* restrict block) {
  for (int a = 0; a < WIDTH; a++) {
    for (int c = 0; c < WIDTH; c++) {
      block[a * WIDTH + c] += F[a][0] * G[c] + F[a][1] * G[WIDTH + c] + F[a][2] * G[2 * WIDTH + c];
    }
  }
}

/* G K G^T of all contacts. */
SALTUSI_FOR_MACHINES static void add_contacts(const saltusi_bodies* b, const saltusi_block_lu* lu,
                                              const double* all) {
  for (int i = 0; i < b->units; i++) {
    const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
    const double* K = all + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    for (int s = 0; s < 2; s++) {
      int own = b->body[2 * i + s];
      if (own < 0) {
        continue;
      }
      double F[WIDTH][3];
      for (int a = 0; a < WIDTH; a++) {
        for (int k = 0; k < 3; k++) {
          const double* row = G + s * ROWS + a;
          F[a][k] = row[0] * K[k] + row[WIDTH] * K[3 + k] + row[2 * WIDTH] * K[6 + k];
        }
      }
      add_product(F, G + s * ROWS, lu->values + lu->place[lu->diagonal[own]]);
      if (b->body[2 * i + 1 - s] >= 0) {
        add_product(F, G + (1 - s) * ROWS, lu->values + lu->place[b->crossing[2 * i + s]]);
      }
    }
  }
}

bool saltusi_bodies_factor(saltusi_bodies* b, saltusi_block_lu* lu, const double* K) {
  assert(b != NULL && lu != NULL && lu->ready && lu->units == b->bodies);
  memset(lu->values, 0, lu->place[lu->start[lu->units]] * sizeof(double));
  for (int k = 0; k < b->bodies; k++) {
    memcpy(lu->values + lu->place[lu->diagonal[k]], b->A + (size_t)k * BLOCK,
           BLOCK * sizeof(double));
  }
  for (int i = 0; i < b->units; i++) {
    const int* body = b->body + 2 * (size_t)i;
    if (body[0] >= 0 && body[1] >= 0) {
      b->crossing[2 * i] = find_block(lu, body[0], body[1]);
      b->crossing[2 * i + 1] = find_block(lu, body[1], body[0]);
    }
  }
  add_contacts(b, lu, K);
  lu->failures = 0;
  lu->no_pivoting = true;
  return saltusi_block_lu_factor(lu);
}

void saltusi_bodies_solve(saltusi_bodies* b, saltusi_block_lu* lu, const double* f, double* y) {
  assert(b != NULL && lu != NULL);
  memset(b->right, 0, (size_t)b->bodies * WIDTH * sizeof(double));
  for (int i = 0; i < b->units; i++) {
    saltusi_bodies_add_force(b, i, f + 3 * (size_t)i, b->right);
  }
  saltusi_block_lu_solve(lu, b->right, y);
}
