/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_krylov.c - the method of generalised minimal residuals (Saad and Schultz, SIAM Journal on Scientific and Statistical Computing 7 (1986)
 * 856-869), preconditioned from the right by incomplete factors with the pattern of the matrix, blocks of bodies for numbers
 * (Saad, Iterative Methods for Sparse Linear Systems, 10.3):
 *
 *   for each k < i that meets i, ascending:  L_ik = A_ik D_k^-1,   A_ij -= L_ik U_kj  for j > k that meet both
 *   D_i = A_ii,   U_ij = A_ij for j > i
 *
 * Matrices A + G K G^T of piles have condition numbers of some hundreds when contacts give way as in body_proximal.c, and are far from
 * symmetric where contacts slip. Ten to twenty iterations gain three digits; each costs two passes over the blocks, and so everything
 * here is proportional to the pairs of bodies that meet, while factors of a pile of n bodies grow with n^2.
 *
 * Matrix and factors are those divided by the roots of the masses on both sides, in single precision: half of the memory that each iteration reads,
 * in vectors of eight. Blocks are stored column by column: a column times a number is what vectors do. What the factors make of the basis is kept, and
 * the solution is a sum of it (flexible GMRES: Saad, SIAM Journal on Scientific Computing 14 (1993) 461-469), so that their rounding is that of
 * another preconditioner. That of the matrix leaves about 1e-7 times its condition of the right-hand side, where steps of Newton's method ask for 1e-3.
 */
#include "solve/body_krylov.h"

#include "base/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  WIDTH = SALTUSI_BODY_WIDTH,
  BLOCK = SALTUSI_BODY_BLOCK,
  PLACES = SALTUSI_SINGLE_WIDTH,
  FLOATS = WIDTH * PLACES, /* of a block */
  SIDE = 3 * PLACES,       /* of the rows of a contact on a body */
  DEPTH = SALTUSI_KRYLOV_DEPTH
};

typedef saltusi_lanes lanes;
typedef saltusi_float_lanes floats;

void saltusi_krylov_layout(saltusi_body_krylov* k, int units, int bodies, int blocks,
                           saltus_arena* arena) {
  assert(k != NULL && arena != NULL);
  k->bodies = bodies;
  k->blocks = blocks;
  k->diagonal = SALTUS_PUSH(arena, int, k->bodies);
  k->place = SALTUS_PUSH2(arena, int, units, 2);
  k->rows = SALTUS_PUSH2(arena, float, units, 2 * SIDE);
  k->matrix = SALTUS_PUSH2(arena, float, k->blocks, FLOATS);
  k->factor = SALTUS_PUSH2(arena, float, k->blocks, FLOATS);
  k->inverse = SALTUS_PUSH2(arena, float, k->bodies, FLOATS);
  k->scale = SALTUS_PUSH2(arena, double, k->bodies, WIDTH);
  k->basis = SALTUS_PUSH2(arena, double, (DEPTH + 1) * WIDTH, k->bodies);
  k->direction = SALTUS_PUSH2(arena, float, DEPTH* PLACES, k->bodies);
}

static int find_block(const saltusi_body_krylov* k, int row, int column) {
  int low = k->start[row], high = k->start[row + 1] - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (k->neighbour[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Rows of a contact on one of its bodies, divided by the roots of the masses. */
SALTUSI_FOR_MACHINES static void scale_side(const double* G, const double* scale, float* to) {
  for (int c = 0; c < 3; c++) {
    for (int a = 0; a < WIDTH; a++) {
      to[c * PLACES + a] = (float)(G[c * WIDTH + a] * scale[a]);
    }
    to[c * PLACES + WIDTH] = to[c * PLACES + WIDTH + 1] = 0.0F;
  }
}

void saltusi_krylov_prepare(saltusi_body_krylov* k, const saltusi_bodies* b) {
  assert(k != NULL && b != NULL && k->bodies == b->bodies && k->blocks == b->start[b->bodies]);
  k->start = b->start;
  k->neighbour = b->neighbour;
  for (int i = 0; i < k->bodies; i++) {
    k->diagonal[i] = find_block(k, i, i);
    for (int a = 0; a < WIDTH; a++) {
      const double root = sqrt(b->A[(size_t)i * BLOCK + (size_t)a * (WIDTH + 1)]);
      k->scale[i * WIDTH + a] = 1.0 / root;
    }
  }
  for (int i = 0; i < b->units; i++) {
    const int* body = b->body + 2 * (size_t)i;
    if (body[0] >= 0 && body[1] >= 0) {
      k->place[2 * i] = find_block(k, body[0], body[1]);
      k->place[2 * i + 1] = find_block(k, body[1], body[0]);
    }
    for (int side = 0; side < 2; side++) {
      if (body[side] >= 0) {
        scale_side(b->G + (size_t)i * SALTUSI_CONTACT_ROWS + (size_t)side * SALTUSI_BODY_ROWS,
                   k->scale + (size_t)body[side] * WIDTH, k->rows + (size_t)(2 * i + side) * SIDE);
      }
    }
  }
}

/* ---- the matrix ---- */

/* Block += F G_o^T, column by column. */
SALTUSI_ALWAYS_INLINE void add_product(const floats* F, const float* G, float* block) {
  for (int c = 0; c < WIDTH; c++) {
    *(floats*)(block + (size_t)c * PLACES) +=
        F[0] * G[c] + F[1] * G[PLACES + c] + F[2] * G[2 * PLACES + c];
  }
}

/* Contacts that are open have none. */
SALTUSI_ALWAYS_INLINE bool has_part(const double* K) {
  bool any = false;
  for (int e = 0; e < SALTUSI_CONTACT_ENTRIES; e++) {
    any = any || K[e] != 0.0;
  }
  return any;
}

/* G K G^T of all contacts. */
SALTUSI_FOR_MACHINES static void add_contacts(saltusi_body_krylov* k, const saltusi_bodies* b,
                                              const double* all) {
  for (int i = 0; i < b->units; i++) {
    const double* K = all + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    for (int s = 0; s < 2 && has_part(K); s++) {
      const int own = b->body[2 * i + s], other = b->body[2 * i + 1 - s];
      if (own < 0) {
        continue;
      }
      const float* rows = k->rows + (size_t)(2 * i + s) * SIDE;
      floats F[3];
      for (int c = 0; c < 3; c++) {
        F[c] = *(const floats*)rows * (float)K[c] +
               *(const floats*)(rows + PLACES) * (float)K[3 + c] +
               *(const floats*)(rows + (size_t)2 * PLACES) * (float)K[6 + c];
      }
      add_product(F, rows, k->matrix + (size_t)k->diagonal[own] * FLOATS);
      if (other >= 0) {
        add_product(F, k->rows + (size_t)(2 * i + 1 - s) * SIDE,
                    k->matrix + (size_t)k->place[2 * i + s] * FLOATS);
      }
    }
  }
}

static void form_matrix(saltusi_body_krylov* k, const saltusi_bodies* b, const double* K) {
  memset(k->matrix, 0, (size_t)k->blocks * FLOATS * sizeof(float));
  for (int i = 0; i < k->bodies; i++) {
    const double *A = b->A + (size_t)i * BLOCK, *scale = k->scale + (size_t)i * WIDTH;
    float* to = k->matrix + (size_t)k->diagonal[i] * FLOATS;
    for (int e = 0; e < BLOCK; e++) {
      const int row = e / WIDTH, column = e % WIDTH;
      to[column * PLACES + row] = (float)(A[e] * scale[row] * scale[column]);
    }
  }
  add_contacts(k, b, K);
}

/* ---- incomplete factors ---- */

/* C += sign A B of blocks of factors: column c of C gets A times column c of B. */
SALTUSI_ALWAYS_INLINE void add_block_product(float sign, const float* A, const float* B, float* C) {
  for (int c = 0; c < WIDTH; c++) {
    floats* to = (floats*)(C + (size_t)c * PLACES);
    floats made = {0.0F};
    for (int l = 0; l < WIDTH; l++) {
      made += *(const floats*)(A + (size_t)l * PLACES) * B[c * PLACES + l];
    }
    *to += sign * made;
  }
}

/* Row i: what rows before it take away. */
SALTUSI_FOR_MACHINES static void eliminate(saltusi_body_krylov* k, int i) {
  const int end = k->start[i + 1];
  for (int e = k->start[i]; e < k->diagonal[i]; e++) {
    const int before = k->neighbour[e];
    float *own = k->factor + (size_t)e * FLOATS, made[FLOATS] = {0.0F};
    add_block_product(1.0F, own, k->inverse + (size_t)before * FLOATS, made);
    memcpy(own, made, sizeof made);
    int at = e + 1; /* both rows ascend */
    for (int g = k->diagonal[before] + 1; g < k->start[before + 1] && at < end; g++) {
      while (at < end && k->neighbour[at] < k->neighbour[g]) {
        at++;
      }
      if (at < end && k->neighbour[at] == k->neighbour[g]) {
        add_block_product(-1.0F, own, k->factor + (size_t)g * FLOATS,
                          k->factor + (size_t)at * FLOATS);
      }
    }
  }
}

/* Pivots below this part of those of the masses, which are 1 where bodies are alone, ask for an order of their own. */
static const float least_pivot = 1e-3F;

/* The inverse of a block in its place after Gauss and Jordan, with pivots from the diagonal, where masses are; false: one of them is small. */
SALTUSI_FOR_MACHINES static bool invert_straight(const float* from, float* to) {
  floats a[WIDTH];
  bool fits = true;
  for (int i = 0; i < WIDTH; i++) {
    a[i] = *(const floats*)(from + (size_t)i * PLACES);
  }
  for (int k = 0; k < WIDTH; k++) {
    const float pivot = a[k][k], over = 1.0F / pivot;
    fits = fits && pivot > least_pivot;
    a[k][k] = 1.0F;
    a[k] *= over;
    for (int i = 0; i < WIDTH; i++) {
      if (i != k) {
        const float part = a[i][k];
        a[i][k] = 0.0F;
        a[i] -= part * a[k];
      }
    }
  }
  for (int i = 0; i < WIDTH; i++) {
    *(floats*)(to + (size_t)i * PLACES) = a[i];
  }
  return fits;
}

/* The same with pivots by columns: where contacts slip blocks are far from symmetric. False when it is singular. */
static bool invert_pivoted(const float* from, float* to) {
  double a[WIDTH][2 * WIDTH];
  for (int i = 0; i < WIDTH; i++) {
    for (int c = 0; c < WIDTH; c++) {
      a[i][c] = from[i * PLACES + c];
      a[i][WIDTH + c] = i == c ? 1.0 : 0.0;
    }
  }
  for (int k = 0; k < WIDTH; k++) {
    int pivot = k;
    for (int i = k + 1; i < WIDTH; i++) {
      pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
    }
    const double over = 1.0 / a[pivot][k];
    if (!isfinite(over)) {
      return false;
    }
    double row[2 * WIDTH];
    for (int c = 0; c < 2 * WIDTH; c++) {
      row[c] = a[pivot][c] * over;
      a[pivot][c] = a[k][c];
      a[k][c] = row[c];
    }
    for (int i = 0; i < WIDTH; i++) {
      const double part = i == k ? 0.0 : a[i][k];
      for (int c = 0; c < 2 * WIDTH; c++) {
        a[i][c] -= part * row[c];
      }
    }
  }
  for (int i = 0; i < WIDTH; i++) {
    for (int c = 0; c < WIDTH; c++) {
      to[i * PLACES + c] = (float)a[i][WIDTH + c];
    }
    to[i * PLACES + WIDTH] = to[i * PLACES + WIDTH + 1] = 0.0F;
  }
  return true;
}

bool saltusi_krylov_form(saltusi_body_krylov* k, const saltusi_bodies* b, const double* K) {
  assert(k != NULL && b != NULL && K != NULL && k->bodies == b->bodies);
  form_matrix(k, b, K);
  memcpy(k->factor, k->matrix, (size_t)k->blocks * FLOATS * sizeof(float));
  for (int i = 0; i < k->bodies; i++) {
    eliminate(k, i);
    const float* own = k->factor + (size_t)k->diagonal[i] * FLOATS;
    float* inverse = k->inverse + (size_t)i * FLOATS;
    if (!invert_straight(own, inverse) && !invert_pivoted(own, inverse)) {
      return false;
    }
  }
  return true;
}

/* ---- products ---- */

/* Two sums, of even and of odd columns, of blocks times vectors. */
SALTUSI_ALWAYS_INLINE void add_single(const float* block, const float* x, floats* part) {
  for (int c = 0; c < WIDTH; c++) {
    part[c % 2] += *(const floats*)(block + (size_t)c * PLACES) * x[c];
  }
}

/* y = matrix z */
SALTUSI_FOR_MACHINES static void times(const saltusi_body_krylov* k, const float* z, double* y) {
  for (int i = 0; i < k->bodies; i++) {
    floats part[2] = {{0.0F}, {0.0F}};
    for (int e = k->start[i]; e < k->start[i + 1]; e++) {
      add_single(k->matrix + (size_t)e * FLOATS, z + (size_t)k->neighbour[e] * PLACES, part);
    }
    const floats all = part[0] + part[1];
    for (int a = 0; a < WIDTH; a++) {
      y[i * WIDTH + a] = all[a];
    }
  }
}

/* z of the incomplete factors, both scaled. */
SALTUSI_FOR_MACHINES static void substitute(const saltusi_body_krylov* k, const double* b,
                                            float* z) {
  for (int i = 0; i < k->bodies; i++) {
    floats part[2] = {{0.0F}, {0.0F}};
    for (int e = k->start[i]; e < k->diagonal[i]; e++) {
      add_single(k->factor + (size_t)e * FLOATS, z + (size_t)k->neighbour[e] * PLACES, part);
    }
    const double* own = b + (size_t)i * WIDTH;
    const floats given = {(float)own[0], (float)own[1], (float)own[2],
                          (float)own[3], (float)own[4], (float)own[5]};
    *(floats*)(z + (size_t)i * PLACES) = given - (part[0] + part[1]);
  }
  for (int i = k->bodies - 1; i >= 0; i--) {
    floats part[2] = {{0.0F}, {0.0F}}, *own = (floats*)(z + (size_t)i * PLACES);
    for (int e = k->diagonal[i] + 1; e < k->start[i + 1]; e++) {
      add_single(k->factor + (size_t)e * FLOATS, z + (size_t)k->neighbour[e] * PLACES, part);
    }
    float rest[PLACES];
    *(floats*)rest = *own - (part[0] + part[1]);
    part[0] = part[1] = (floats){0.0F};
    add_single(k->inverse + (size_t)i * FLOATS, rest, part);
    *own = part[0] + part[1];
  }
}

/* x += s D^-1 z, D the roots of the masses */
SALTUSI_FOR_MACHINES static void add_direction(const saltusi_body_krylov* k, double s,
                                               const float* z, double* x) {
  for (int i = 0; i < k->bodies; i++) {
    for (int a = 0; a < WIDTH; a++) {
      x[i * WIDTH + a] += s * (k->scale[i * WIDTH + a] * z[i * PLACES + a]);
    }
  }
}

/* ---- minimal residuals ---- */

/* The triangle of the rotated small system: column j holds its numbers above the diagonal. */
typedef struct small_system {
  double R[DEPTH][DEPTH + 1], cosine[DEPTH], sine[DEPTH], right[DEPTH + 1];
} small_system;

/* By four sums at a time. */
SALTUSI_FOR_MACHINES static double dot(int n, const double* x, const double* y) {
  lanes first = {0.0}, second = {0.0};
  int a = 0;
  for (; a + 2 * SALTUSI_LANES <= n; a += 2 * SALTUSI_LANES) {
    first += *(const lanes*)(x + a) * *(const lanes*)(y + a);
    second += *(const lanes*)(x + a + SALTUSI_LANES) * *(const lanes*)(y + a + SALTUSI_LANES);
  }
  first += second;
  double all = (first[0] + first[1]) + (first[2] + first[3]);
  for (; a < n; a++) {
    all += x[a] * y[a];
  }
  return all;
}

/* y += s x */
SALTUSI_FOR_MACHINES static void add_scaled(int n, double s, const double* restrict x,
                                            double* restrict y) {
  for (int a = 0; a < n; a++) {
    y[a] += s * x[a];
  }
}

/* Takes the part along earlier vectors out of the newest, into column j; returns its length. */
static double orthogonalise(const saltusi_body_krylov* k, int j, double* column) {
  const int n = k->bodies * WIDTH;
  double* w = k->basis + (size_t)(j + 1) * (size_t)n;
  for (int i = 0; i <= j; i++) {
    const double* v = k->basis + (size_t)i * (size_t)n;
    column[i] = dot(n, v, w);
    add_scaled(n, -column[i], v, w);
  }
  const double length = sqrt(dot(n, w, w)), over = 1.0 / length;
  for (int a = 0; a < n && length > 0.0; a++) {
    w[a] *= over;
  }
  return length;
}

/* Givens: the rotations so far, then the one that removes `below`. */
static void rotate(small_system* s, int j, double below) {
  double* column = s->R[j];
  for (int i = 0; i < j; i++) {
    const double up = column[i], low = column[i + 1];
    column[i] = s->cosine[i] * up + s->sine[i] * low;
    column[i + 1] = -s->sine[i] * up + s->cosine[i] * low;
  }
  const double size = sqrt(column[j] * column[j] + below * below);
  s->cosine[j] = size > 0.0 ? column[j] / size : 1.0;
  s->sine[j] = size > 0.0 ? below / size : 0.0;
  column[j] = size;
  s->right[j + 1] = -s->sine[j] * s->right[j];
  s->right[j] *= s->cosine[j];
}

static float* direction_of(const saltusi_body_krylov* k, int j) {
  return k->direction + (size_t)j * (size_t)(k->bodies * PLACES);
}

/* x = directions y, y of the triangle of `count` columns */
static void combine(const saltusi_body_krylov* k, const small_system* s, int count, double* x) {
  double y[DEPTH];
  for (int i = count - 1; i >= 0; i--) {
    y[i] = s->right[i];
    for (int j = i + 1; j < count; j++) {
      y[i] -= s->R[j][i] * y[j];
    }
    y[i] = s->R[i][i] != 0.0 ? y[i] / s->R[i][i] : 0.0;
  }
  memset(x, 0, (size_t)(k->bodies * WIDTH) * sizeof(double));
  for (int i = 0; i < count; i++) {
    add_direction(k, y[i], direction_of(k, i), x);
  }
}

int saltusi_krylov_solve(saltusi_body_krylov* k, const double* right, double part, double* x) {
  assert(k != NULL && right != NULL && x != NULL);
  const int n = k->bodies * WIDTH;
  small_system s;
  for (int a = 0; a < n; a++) {
    k->basis[a] = k->scale[a] * right[a];
  }
  const double first = sqrt(dot(n, k->basis, k->basis));
  if (!(first > 0.0)) {
    memset(x, 0, (size_t)n * sizeof(double));
    return 0;
  }
  for (int a = 0; a < n; a++) {
    k->basis[a] /= first;
  }
  s.right[0] = first;
  int j = 0;
  while (j < DEPTH && fabs(s.right[j]) > part * first) {
    substitute(k, k->basis + (size_t)j * (size_t)n, direction_of(k, j));
    times(k, direction_of(k, j), k->basis + (size_t)(j + 1) * (size_t)n);
    const double length = orthogonalise(k, j, s.R[j]);
    rotate(&s, j, length);
    j++;
    if (!(length > 0.0)) {
      break;
    }
  }
  combine(k, &s, j, x);
  return j;
}
