/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_krylov.c - the method of generalised minimal residuals (Saad and Schultz, SIAM Journal on Scientific and
 * Statistical Computing 7 (1986) 856-869), preconditioned from the right by incomplete factors with the pattern of
 * the matrix in blocks of bodies (Saad, Iterative Methods for Sparse Linear Systems, 10.3):
 *
 *   for each k < i coupled to i, ascending:  L_ik = A_ik D_k^-1,   A_ij -= L_ik U_kj  for j > k coupled to both
 *   D_i = A_ii,   U_ij = A_ij for j > i
 *
 * Matrices A + G K G^T of piles have condition numbers of some hundreds if contacts are compliant as in
 * body_proximal.c, and are far from symmetric where contacts slip. Ten to twenty iterations gain three digits; each
 * costs two passes over the blocks, so that the cost is proportional to the number of pairs of bodies in contact,
 * while factors of a pile of n bodies grow with n^2.
 *
 * Blocks are stored column by column, for products of columns with numbers in vectors. Factors are those of the
 * matrix divided by the roots of the masses on both sides, in single precision: half of the memory traffic, in
 * vectors of eight. The preconditioned basis is stored, and the solution is a combination of it (flexible GMRES:
 * Saad, SIAM Journal on Scientific Computing 14 (1993) 461-469), so that single-precision rounding perturbs the
 * preconditioner and not the solution.
 */
#include "solve/body_space/body_krylov.h"

#include "base/lanes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
  WIDTH = SALTUSI_BODY_WIDTH,
  BLOCK = SALTUSI_BODY_BLOCK,
  ROWS = SALTUSI_BODY_ROWS,
  PLACES = SALTUSI_SINGLE_WIDTH,
  FLOATS = WIDTH * PLACES, /* of a block of factors */
  DEPTH = SALTUSI_KRYLOV_DEPTH
};

typedef saltusi_float_lanes floats;

void saltusi_krylov_layout(saltusi_body_krylov* k, int units, int bodies, int blocks,
                           saltus_arena* arena) {
  assert(k != NULL && arena != NULL);
  k->bodies = bodies;
  k->blocks = blocks;
  k->diagonal = SALTUS_PUSH(arena, int, k->bodies);
  k->place = SALTUS_PUSH2(arena, int, units, 2);
  k->matrix = SALTUS_PUSH2(arena, double, k->blocks, BLOCK);
  k->factor = SALTUS_PUSH2(arena, float, k->blocks, FLOATS);
  k->inverse = SALTUS_PUSH2(arena, float, k->bodies, FLOATS);
  k->scale = SALTUS_PUSH2(arena, double, k->bodies, WIDTH);
  k->basis = SALTUS_PUSH2(arena, double, (DEPTH + 1) * WIDTH, k->bodies);
  k->direction = SALTUS_PUSH2(arena, float, DEPTH* PLACES, k->bodies);
  k->solved = SALTUS_PUSH2(arena, double, k->bodies, WIDTH);
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
  }
}

/* ---- the matrix ---- */

/* Block += G_s K G_o^T, column by column: column c is F times row c of (G_o)^T, F = G_s K [row k: WIDTH numbers]. Two
 * columns of six numbers are three vectors of four. */
SALTUSI_ALWAYS_INLINE void add_product(double F[3][WIDTH], const double* G, double* block) {
  for (int c = 0; c < WIDTH; c += 2) {
    double* to = block + (size_t)c * WIDTH;
    saltusi_lanes first = *(saltusi_lanes*)to, middle = *(saltusi_lanes*)(to + 4),
                  last = *(saltusi_lanes*)(to + 8);
    for (int k = 0; k < 3; k++) {
      const double* f = F[k];
      const double g = G[k * WIDTH + c], next = G[k * WIDTH + c + 1];
      first += (saltusi_lanes){f[0], f[1], f[2], f[3]} * (saltusi_lanes){g, g, g, g};
      middle += (saltusi_lanes){f[4], f[5], f[0], f[1]} * (saltusi_lanes){g, g, next, next};
      last += (saltusi_lanes){f[2], f[3], f[4], f[5]} * (saltusi_lanes){next, next, next, next};
    }
    *(saltusi_lanes*)to = first;
    *(saltusi_lanes*)(to + 4) = middle;
    *(saltusi_lanes*)(to + 8) = last;
  }
}

/* G K G^T of all contacts. */
SALTUSI_FOR_MACHINES static void add_contacts(saltusi_body_krylov* k, const saltusi_bodies* b,
                                              const double* all) {
  for (int i = 0; i < b->units; i++) {
    const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS;
    const double* K = all + SALTUSI_CONTACT_ENTRIES * (size_t)i;
    for (int s = 0; s < 2; s++) {
      const int own = b->body[2 * i + s], other = b->body[2 * i + 1 - s];
      if (own < 0) {
        continue;
      }
      const double* rows = G + (size_t)s * ROWS;
      double F[3][WIDTH];
      for (int c = 0; c < 3; c++) {
        for (int a = 0; a < WIDTH; a++) {
          F[c][a] = rows[a] * K[c] + rows[WIDTH + a] * K[3 + c] + rows[2 * WIDTH + a] * K[6 + c];
        }
      }
      add_product(F, rows, k->matrix + (size_t)k->diagonal[own] * BLOCK);
      if (other >= 0) {
        add_product(F, G + (size_t)(1 - s) * ROWS, k->matrix + (size_t)k->place[2 * i + s] * BLOCK);
      }
    }
  }
}

static void form_matrix(saltusi_body_krylov* k, const saltusi_bodies* b, const double* K) {
  memset(k->matrix, 0, (size_t)k->blocks * BLOCK * sizeof(double));
  for (int i = 0; i < k->bodies; i++) {
    double* to = k->matrix + (size_t)k->diagonal[i] * BLOCK;
    for (int e = 0; e < BLOCK; e++) {
      to[e % WIDTH * WIDTH + e / WIDTH] = b->A[(size_t)i * BLOCK + (size_t)e];
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

/* Elimination of row i by the rows before it. */
SALTUSI_FOR_MACHINES static void eliminate(saltusi_body_krylov* k, int i) {
  const int end = k->start[i + 1];
  for (int e = k->start[i]; e < k->diagonal[i]; e++) {
    const int before = k->neighbour[e];
    float *own = k->factor + (size_t)e * FLOATS, made[FLOATS] = {0.0F};
    add_block_product(1.0F, own, k->inverse + (size_t)before * FLOATS, made);
    memcpy(own, made, sizeof made);
    int at = e + 1; /* both rows are ascending */
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

/* Row i of the matrix, scaled. */
SALTUSI_FOR_MACHINES static void scale_row(saltusi_body_krylov* k, int i) {
  const double* left = k->scale + (size_t)i * WIDTH;
  for (int e = k->start[i]; e < k->start[i + 1]; e++) {
    const double* from = k->matrix + (size_t)e * BLOCK;
    const double* right = k->scale + (size_t)k->neighbour[e] * WIDTH;
    float* to = k->factor + (size_t)e * FLOATS;
    for (int c = 0; c < WIDTH; c++) {
      for (int a = 0; a < WIDTH; a++) {
        to[c * PLACES + a] = (float)(from[c * WIDTH + a] * left[a] * right[c]);
      }
      to[c * PLACES + WIDTH] = to[c * PLACES + WIDTH + 1] = 0.0F;
    }
  }
}

/* The inverse of a block by Gauss-Jordan elimination with column pivoting: blocks of slipping contacts are far from
 * symmetric. False when it is singular. */
SALTUSI_FOR_MACHINES static bool invert(const float* from, float* to) {
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
  for (int i = 0; i < k->bodies; i++) {
    scale_row(k, i);
    eliminate(k, i);
    if (!invert(k->factor + (size_t)k->diagonal[i] * FLOATS, k->inverse + (size_t)i * FLOATS)) {
      return false;
    }
  }
  return true;
}

/* ---- products ---- */

/* A sum of blocks times vectors, accumulated in three parts. */
typedef struct sum {
  saltusi_lanes first, middle, last;
} sum;

SALTUSI_ALWAYS_INLINE void add_times(const double* block, const double* x, sum* s) {
  for (int c = 0; c < WIDTH; c += 2) {
    const double* from = block + (size_t)c * WIDTH;
    const double now = x[c], next = x[c + 1];
    s->first += *(const saltusi_lanes*)from * (saltusi_lanes){now, now, now, now};
    s->middle += *(const saltusi_lanes*)(from + 4) * (saltusi_lanes){now, now, next, next};
    s->last += *(const saltusi_lanes*)(from + 8) * (saltusi_lanes){next, next, next, next};
  }
}

SALTUSI_ALWAYS_INLINE void read_sum(const sum* s, double* y) {
  for (int a = 0; a < 2; a++) {
    y[a] = s->first[a] + s->middle[a + 2];
    y[a + 2] = s->first[a + 2] + s->last[a];
    y[a + 4] = s->middle[a] + s->last[a + 2];
  }
}

/* y = matrix x, scaled */
SALTUSI_FOR_MACHINES static void times(const saltusi_body_krylov* k, const double* x, double* y) {
  for (int i = 0; i < k->bodies; i++) {
    sum s = {{0.0}, {0.0}, {0.0}};
    for (int e = k->start[i]; e < k->start[i + 1]; e++) {
      add_times(k->matrix + (size_t)e * BLOCK, x + (size_t)k->neighbour[e] * WIDTH, &s);
    }
    double* to = y + (size_t)i * WIDTH;
    read_sum(&s, to);
    for (int a = 0; a < WIDTH; a++) {
      to[a] *= k->scale[i * WIDTH + a];
    }
  }
}

/* Two sums, of even and of odd columns, of blocks of factors times vectors. */
SALTUSI_ALWAYS_INLINE void add_single(const float* block, const float* x, floats* part) {
  for (int c = 0; c < WIDTH; c++) {
    part[c % 2] += *(const floats*)(block + (size_t)c * PLACES) * x[c];
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

/* The triangular factor of the least-squares problem: column j holds its entries above the diagonal. */
typedef struct small_system {
  double R[DEPTH][DEPTH + 1], cosine[DEPTH], sine[DEPTH], right[DEPTH + 1];
} small_system;

/* Dot product in four partial sums. */
SALTUSI_FOR_MACHINES static double dot(int n, const double* x, const double* y) {
  saltusi_lanes first = {0.0}, second = {0.0};
  int a = 0;
  for (; a + 2 * SALTUSI_LANES <= n; a += 2 * SALTUSI_LANES) {
    first += *(const saltusi_lanes*)(x + a) * *(const saltusi_lanes*)(y + a);
    second += *(const saltusi_lanes*)(x + a + SALTUSI_LANES) *
              *(const saltusi_lanes*)(y + a + SALTUSI_LANES);
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

/* Orthogonalises the newest vector to the earlier ones, into column j; returns its length. */
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

/* Applies the previous Givens rotations, then the one that eliminates `below`. */
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
    memset(k->solved, 0, (size_t)n * sizeof(double));
    add_direction(k, 1.0, direction_of(k, j), k->solved);
    times(k, k->solved, k->basis + (size_t)(j + 1) * (size_t)n);
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
