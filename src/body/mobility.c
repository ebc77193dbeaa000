/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mobility.c - the rank of all joint rows at a configuration, by a spanning tree.
 *
 * Bodies are nodes, fixed ones are the ground, joints are edges. Rows of a joint are invariant under a rigid
 * motion of both bodies, so the joints of a tree have the sum of their own ranks, and the velocities that they leave are
 *
 *   v_child = (v_parent, moved rigidly) + N eta,      N a basis of the null space of the joint's rows in v_child
 *
 * Every other row, of joints that close loops and of couplings, is a row in eta: its entries at a body are a
 * force and a torque, which are propagated down the tree to the ground. Only the rank of these rows
 * remains to be computed; chains and trees have none.
 */
#include "body/constraints.h"

#include <assert.h>
#include <string.h>

/* Pivots below this fraction of the first count as zero. Assembled positions, and so the pivots of dependent rows, are
 * accurate to 1e-12; the limit is four digits larger. */
static const double negligible = 1e-8;

typedef struct mobility_tree {
  const saltus_mechanism* m;
  double t;
  const double* q;
  int size;           /* velocities of a body: 3 or 6 */
  int* head;          /* [nodes] first edge of each node, -1: none */
  int* next;          /* [2 joints] */
  int* order;         /* [nodes] */
  int* parent;        /* [nodes] node, -1: none */
  bool* seen;         /* [nodes] */
  bool* used;         /* [joints] part of the tree */
  int* first;         /* [nodes] first eta of a node */
  int* count;         /* [nodes] how many */
  double* N;          /* [nodes x 6 x 6] columns of the null space */
  saltusi_pose* pose; /* [nodes] */
  int etas, rank, loop_rows;
  double* rows; /* [loop_rows x etas] */
} mobility_tree;

/* Node 0 is the ground. */
static int node_of(const saltus_mechanism* m, int marker) {
  const int v = m->bodies[m->markers[marker].body].v;
  return v < 0 ? 0 : 1 + v / (m->plane ? 3 : 6);
}

/* Gauss with complete pivoting on `rows` rows of n entries; N gets a basis of the null space as columns,
 * 6 apart. Returns the rank. */
static int null_space(int rows, int n, double A[8][6], double N[36]) {
  int column[6] = {0, 1, 2, 3, 4, 5};
  int rank = 0;
  double largest = 0.0;
  for (; rank < rows && rank < n; rank++) {
    int r = rank, c = rank;
    for (int i = rank; i < rows; i++) {
      for (int j = rank; j < n; j++) {
        if (fabs(A[i][column[j]]) > fabs(A[r][column[c]])) {
          r = i;
          c = j;
        }
      }
    }
    const int swap = column[rank];
    column[rank] = column[c];
    column[c] = swap;
    const double pivot = A[r][column[rank]];
    largest = fmax(largest, fabs(pivot));
    if (!(fabs(pivot) > negligible * largest)) {
      break;
    }
    for (int j = 0; j < n; j++) {
      const double x = A[r][j];
      A[r][j] = A[rank][j];
      A[rank][j] = x / pivot;
    }
    for (int i = 0; i < rows; i++) {
      const double by = i == rank ? 0.0 : A[i][column[rank]];
      for (int j = 0; by != 0.0 && j < n; j++) {
        A[i][j] -= by * A[rank][j];
      }
    }
  }
  memset(N, 0, 36 * sizeof(double));
  for (int k = 0; k < n - rank; k++) {
    N[6 * column[rank + k] + k] = 1.0;
    for (int i = 0; i < rank; i++) {
      N[6 * column[i] + k] = -A[i][column[rank + k]];
    }
  }
  return rank;
}

/* Rows of a joint: [rows x 24] as far as its width. */
static void rows_of(const mobility_tree* w, int joint, double G[8][24]) {
  double b[8] = {0.0};
  int column[24];
  memset(G, 0, 8 * sizeof G[0]);
  saltus_rows rows = {.count = w->m->joints[joint].rows,
                      .width = 24,
                      .stride = 24,
                      .column = column,
                      .G = &G[0][0],
                      .b = b};
  const saltus_point at = {.t = w->t, .q = w->q};
  saltusi_mechanism_joint(w->m, &at, joint, &rows);
}

/* The joint of a node to its parent. */
static void add_node(mobility_tree* w, int node, int parent, int joint) {
  w->seen[node] = true;
  w->parent[node] = parent;
  double A[8][6] = {{0.0}};
  int rows = 0;
  if (joint >= 0) {
    const saltusi_joint* j = &w->m->joints[joint];
    const int end = node_of(w->m, j->link.marker[0][1]) == node ? 1 : 0;
    double G[8][24];
    rows_of(w, joint, G);
    rows = j->rows;
    for (int r = 0; r < rows; r++) {
      memcpy(A[r], G[r] + j->link.place[0][end], (size_t)w->size * sizeof(double));
    }
    w->used[joint] = true;
  }
  const int rank = null_space(rows, w->size, A, w->N + 36 * (size_t)node);
  w->rank += rank;
  w->first[node] = w->etas;
  w->count[node] = w->size - rank;
  w->etas += w->size - rank;
  saltusi_pose_at(w->m, w->m->free_bodies[node - 1], w->t, w->q, &w->pose[node]);
}

static void grow(mobility_tree* w) {
  const saltus_mechanism* m = w->m;
  const int nodes = m->free_count + 1;
  int listed = 1;
  w->seen[0] = true;
  w->order[0] = 0;
  w->parent[0] = -1;
  for (int root = 1, done = 0; done < nodes; done++) {
    if (done == listed) { /* bodies without a connection to the ground */
      while (w->seen[root]) {
        root++;
      }
      add_node(w, root, -1, -1);
      w->order[listed++] = root;
    }
    const int node = w->order[done];
    for (int e = w->head[node]; e >= 0; e = w->next[e]) {
      const int other = node_of(m, m->joints[e / 2].link.marker[0][1 - e % 2]);
      if (!w->seen[other]) {
        add_node(w, other, node, e / 2);
        w->order[listed++] = other;
      }
    }
  }
}

/* Propagates a force and a torque in axes of a body down to the ground, into a row over eta. */
static void carry(const mobility_tree* w, int node, const double* G, double* row) {
  double f[3] = {G[0], G[1], 0.0}, about[3] = {0.0, 0.0, 0.0};
  if (w->m->plane) {
    about[2] = G[2];
  } else {
    memcpy(f, G, sizeof f);
    memcpy(about, G + 3, sizeof about);
  }
  for (; node > 0; node = w->parent[node]) {
    const double y[6] = {f[0], f[1], w->m->plane ? about[2] : f[2], about[0], about[1], about[2]};
    const double* N = w->N + 36 * (size_t)node;
    for (int k = 0; k < w->count[node]; k++) {
      for (int i = 0; i < w->size; i++) {
        row[w->first[node] + k] += y[i] * N[6 * i + k];
      }
    }
    const int parent = w->parent[node];
    if (parent > 0) {
      double world[3], arm[3], moment[3];
      saltusi_turn(w->pose[node].R, about, world);
      saltusi_minus3(w->pose[node].x, w->pose[parent].x, arm);
      saltusi_cross(arm, f, moment);
      saltusi_along(1.0, moment, world, world);
      saltusi_turn_back(w->pose[parent].R, world, about);
    }
  }
}

static void close_loops(mobility_tree* w) {
  const saltus_mechanism* m = w->m;
  double* row = w->rows;
  for (int i = 0; i < m->joint_count; i++) {
    const saltusi_joint* j = &m->joints[i];
    if (w->used[i]) {
      continue;
    }
    double G[8][24];
    rows_of(w, i, G);
    for (int r = 0; r < j->rows; r++, row += w->etas) {
      for (int place = 0; place < j->link.width; place += w->size) {
        carry(w, 1 + j->link.column[place] / w->size, G[r] + place, row);
      }
    }
  }
}

/* Rank of the rows by Gram and Schmidt with pivoting, normalised first; orthogonalised twice, since one pass loses
 * orthogonality. */
static int rank_of(int rows, int n, double* A) {
  for (int i = 0; i < rows; i++) {
    double* x = A + (size_t)i * (size_t)n;
    double square = 0.0;
    for (int k = 0; k < n; k++) {
      square += x[k] * x[k];
    }
    for (int k = 0; square > 0.0 && k < n; k++) {
      x[k] /= sqrt(square);
    }
  }
  for (int rank = 0; rank < rows; rank++) {
    int most = rank;
    double largest = -1.0;
    for (int i = rank; i < rows; i++) {
      const double* x = A + (size_t)i * (size_t)n;
      double square = 0.0;
      for (int k = 0; k < n; k++) {
        square += x[k] * x[k];
      }
      if (square > largest) {
        largest = square;
        most = i;
      }
    }
    if (!(sqrt(largest) > negligible)) {
      return rank;
    }
    double* p = A + (size_t)rank * (size_t)n;
    double* other = A + (size_t)most * (size_t)n;
    for (int k = 0; k < n; k++) {
      const double x = other[k] / sqrt(largest);
      other[k] = p[k];
      p[k] = x;
    }
    for (int i = rank + 1; i < rows; i++) {
      double* x = A + (size_t)i * (size_t)n;
      for (int twice = 0; twice < 2; twice++) {
        double along = 0.0;
        for (int k = 0; k < n; k++) {
          along += x[k] * p[k];
        }
        for (int k = 0; k < n; k++) {
          x[k] -= along * p[k];
        }
      }
    }
  }
  return rows;
}

static bool take(mobility_tree* w, saltusi_pool* pool) {
  const saltus_mechanism* m = w->m;
  const int nodes = m->free_count + 1;
  w->head = SALTUSI_TAKE(pool, int, nodes);
  w->next = SALTUSI_TAKE(pool, int, 2 * m->joint_count);
  w->order = SALTUSI_TAKE(pool, int, nodes);
  w->parent = SALTUSI_TAKE(pool, int, nodes);
  w->seen = SALTUSI_TAKE(pool, bool, nodes);
  w->used = SALTUSI_TAKE(pool, bool, m->joint_count);
  w->first = SALTUSI_TAKE(pool, int, nodes);
  w->count = SALTUSI_TAKE(pool, int, nodes);
  w->N = SALTUSI_TAKE(pool, double, 36 * (size_t)nodes);
  w->pose = SALTUSI_TAKE(pool, saltusi_pose, nodes);
  if (pool->failed) {
    return false;
  }
  for (int i = 0; i < nodes; i++) {
    w->head[i] = -1;
  }
  for (int e = 2 * m->joint_count - 1; e >= 0; e--) {
    const saltusi_joint* j = &m->joints[e / 2];
    if (j->link.links == 1) {
      const int node = node_of(m, j->link.marker[0][e % 2]);
      w->next[e] = w->head[node];
      w->head[node] = e;
    }
  }
  return true;
}

saltus_status saltus_mechanism_mobility(const saltus_mechanism* mechanism, double t,
                                        const double* q, saltus_mobility* mobility) {
  assert(mechanism != NULL && q != NULL && mobility != NULL);
  const saltus_dims* dims = &mechanism->system.dims;
  saltusi_pool pool = saltusi_pool_over(&mechanism->pool.allocator);
  mobility_tree w = {.m = mechanism, .t = t, .q = q, .size = mechanism->plane ? 3 : 6};
  saltus_status status = take(&w, &pool) ? SALTUS_OK : SALTUS_ERR_MEMORY;
  int rank = 0;
  if (status == SALTUS_OK) {
    grow(&w);
    for (int i = 0; i < mechanism->joint_count; i++) {
      w.loop_rows += w.used[i] ? 0 : mechanism->joints[i].rows;
    }
    w.rows = SALTUSI_TAKE(&pool, double, (size_t)w.loop_rows*(size_t)w.etas);
    status = w.rows != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_OK) {
    close_loops(&w);
    rank = w.rank + rank_of(w.loop_rows, w.etas, w.rows);
    *mobility = (saltus_mobility){.velocities = dims->nv,
                                  .rows = dims->nj,
                                  .rank = rank,
                                  .mobility = dims->nv - rank,
                                  .redundant = dims->nj - rank};
  }
  saltusi_pool_free(&pool);
  return status;
}
