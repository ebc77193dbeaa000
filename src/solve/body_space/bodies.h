/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.h - a friction problem in body space: W = G^T A^-1 G with the rows of every contact on one or two bodies,
 * so that W is not formed.
 *
 *   v = A^-1 G r,   u = G^T v + q
 *
 * Compliant contacts add S r, S by rows, to u: W = G^T A^-1 G + S.
 *
 * A Gauss-Seidel iteration over the contacts updates v and costs the same for every contact, independent of the
 * number of other contacts of its bodies. Linear systems of Newton's method and of the interior point,
 *
 *   (C + E W) x = b,   C and E by contacts,     x = C^-1 (b - E G^T y),   (A + G C^-1 E G^T) y = G C^-1 b,
 *
 * are factored in body space. Joints are blocks of three rows like contacts, with u = 0 in place of the cone. Many
 * contacts between the same two bodies, which make W large and singular, do not increase the cost of factors in body
 * space.
 */
#ifndef SALTUSI_BODIES_H
#define SALTUSI_BODIES_H

#include "math/block_lu.h"

enum {
  SALTUSI_BODY_WIDTH = 6,                                       /* most velocities of a body */
  SALTUSI_BODY_BLOCK = SALTUSI_BODY_WIDTH * SALTUSI_BODY_WIDTH, /* entries of its mass matrix */
  SALTUSI_BODY_ROWS = 3 * SALTUSI_BODY_WIDTH,                   /* of a contact on one body */
  SALTUSI_CONTACT_ROWS = 2 * SALTUSI_BODY_ROWS,                 /* on both bodies */
  SALTUSI_CONTACT_ENTRIES = 9,                                  /* of a matrix of its three rows */
  SALTUSI_SINGLE_WIDTH = 8,      /* numbers of a body in single precision, two of them unused */
  SALTUSI_PACKED_CAPACITY = 166, /* most numbers of a packed contact, including idle lanes */
  SALTUSI_LANE_CAPACITY = 2      /* most lanes of a contact, likewise */
};

/* mu of joints: blocks without a cone. */
#define SALTUSI_BILATERAL (-1.0)
/* Smallest number of contacts for which factors in body space pay off. */
enum { SALTUSI_BODIES_FROM = 24 };
/* Smallest tolerance: iterations converge slowly below it. */
#define SALTUSI_BODIES_TOL 1e-9

/* Units of packed contacts, rigid_kernel.h. */
typedef struct saltusi_packed_units {
  bool wanted;        /* single precision: compliance and tolerance permit its use */
  bool round;         /* all contacts are those of balls: slip in closed form */
  double mass, speed; /* of the packed data */
} saltusi_packed_units;

/* The points of iterations: r holds x+ and becomes y = x+ + b (x+ - x), x becomes x+, `before` is the previous y. y may
 * lie outside of the cones, because a visit does not depend on the impulses that it replaces. */
typedef struct saltusi_group_points {
  double *r, *x, *before, *age;
} saltusi_group_points;

typedef struct saltusi_bodies {
  int units, bodies;
  int* body; /* [2 units] of each contact; -1: none */
  double* G; /* [units x SALTUSI_CONTACT_ROWS] body by body, row by row, zeros if there is none */
  double* moved; /* [units x SALTUSI_CONTACT_ROWS] A^-1 G */
  double* soft;  /* [3 units] S; zeros: rigid */
  bool softens;  /* S is not zero */
  double* A;     /* [bodies x SALTUSI_BODY_BLOCK] */
  double*
      /* [bodies x SALTUSI_BODY_BLOCK] A^-1; ones on the diagonal if a body has fewer velocities */
      inverse;
  double* v;      /* [(bodies + 1) x SALTUSI_BODY_WIDTH], the last body is the ground */
  double* right;  /* likewise */
  double* next;   /* likewise */
  double* step;   /* likewise */
  int* offset;    /* [bodies + 1] */
  int* start;     /* [bodies + 1] neighbours of each body, including itself */
  int* neighbour; /* [bodies + 2 units] */
  int*
      /* [2 units] positions of the blocks (first, second) and (second, first) in the factors */
      crossing;
  int* mark;      /* [bodies + 1] */
  double* packed; /* [units x SALTUSI_PACKED_CAPACITY] groups of contacts, body_groups.c */
  int groups;     /* how many */
  int* pair;      /* [2 SALTUSI_LANE_CAPACITY units] the bodies of each lane */
  int* lane;      /* [SALTUSI_LANE_CAPACITY units] its contact; -1: none */
  int* run;       /* [units] waiting runs of contacts while groups are formed */
  int* run_end;   /* [units] and their ends */
  double*
      changes; /* [(bodies + 1) x SALTUSI_SINGLE_WIDTH] velocities since the reference, in either precision */
  saltusi_packed_units single;
  const struct saltusi_body_kernel* kind; /* of the packed ones; NULL: none yet */
  saltusi_group_points points; /* workspace of iterations over contacts that are not packed */
  const double* q;             /* with these free velocities */
} saltusi_bodies;

/* Workspace for so many contacts and bodies. */
void saltusi_bodies_layout(saltusi_bodies* b, int units, int bodies, saltus_arena* arena);

/* After units, bodies, body, G and inverse are written: computes A, A^-1 G and the pairs of bodies with common
 * contacts. False if a mass matrix is singular. */
bool saltusi_bodies_prepare(saltusi_bodies* b);

/* Sparsity pattern of the body-space matrix: pairs of bodies with a common contact. */
saltusi_block_pattern saltusi_bodies_pattern(const saltusi_bodies* b);

/* v = A^-1 G r */
void saltusi_bodies_move(const saltusi_bodies* b, const double* r, double* v);

/* A + G K G^T with K [units x 9]; false when it is singular. */
bool saltusi_bodies_factor(saltusi_bodies* b, saltusi_block_lu* lu, const double* K);

/* y of (A + G K G^T) y = G f */
void saltusi_bodies_solve(saltusi_bodies* b, saltusi_block_lu* lu, const double* f, double* y);

/* b = a^-1, both [3 x 3] */
static inline void saltusi_invert3(const double* a, double* b) {
  b[0] = a[4] * a[8] - a[5] * a[7];
  b[3] = a[5] * a[6] - a[3] * a[8];
  b[6] = a[3] * a[7] - a[4] * a[6];
  double scale = 1.0 / (a[0] * b[0] + a[1] * b[3] + a[2] * b[6]);
  b[1] = a[2] * a[7] - a[1] * a[8];
  b[2] = a[1] * a[5] - a[2] * a[4];
  b[4] = a[0] * a[8] - a[2] * a[6];
  b[5] = a[2] * a[3] - a[0] * a[5];
  b[7] = a[1] * a[6] - a[0] * a[7];
  b[8] = a[0] * a[4] - a[1] * a[3];
  for (int k = 0; k < SALTUSI_CONTACT_ENTRIES; k++) {
    b[k] *= scale;
  }
}

/* u += G^T v of contact i */
static inline void saltusi_bodies_add(const saltusi_bodies* b, int i, const double* v, double* u) {
  for (int s = 0; s < 2; s++) {
    int body = b->body[2 * i + s];
    if (body < 0) {
      continue;
    }
    const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS + (size_t)s * SALTUSI_BODY_ROWS;
    const double* w = v + (size_t)body * SALTUSI_BODY_WIDTH;
    for (int k = 0; k < 3; k++) {
      double sum = 0.0;
      for (int a = 0; a < SALTUSI_BODY_WIDTH; a++) {
        sum += G[k * SALTUSI_BODY_WIDTH + a] * w[a];
      }
      u[k] += sum;
    }
  }
}

/* u += S r of contact i with impulses r */
static inline void saltusi_bodies_add_compliance(const saltusi_bodies* b, int i, const double* r,
                                                 double* u) {
  for (int k = 0; k < 3; k++) {
    u[k] += b->soft[3 * (size_t)i + (size_t)k] * r[k];
  }
}

/* v += A^-1 G_i d */
static inline void saltusi_bodies_push(const saltusi_bodies* b, int i, const double* d, double* v) {
  for (int s = 0; s < 2; s++) {
    int body = b->body[2 * i + s];
    if (body < 0) {
      continue;
    }
    const double* Y = b->moved + (size_t)i * SALTUSI_CONTACT_ROWS + (size_t)s * SALTUSI_BODY_ROWS;
    double* w = v + (size_t)body * SALTUSI_BODY_WIDTH;
    for (int a = 0; a < SALTUSI_BODY_WIDTH; a++) {
      w[a] += Y[a] * d[0] + Y[SALTUSI_BODY_WIDTH + a] * d[1] + Y[2 * SALTUSI_BODY_WIDTH + a] * d[2];
    }
  }
}

/* f += G_i r, forces of bodies. */
static inline void saltusi_bodies_add_force(const saltusi_bodies* b, int i, const double* r,
                                            double* f) {
  for (int side = 0; side < 2; side++) {
    const int body = b->body[2 * i + side];
    const double* G = b->G + (size_t)i * SALTUSI_CONTACT_ROWS + (size_t)side * SALTUSI_BODY_ROWS;
    for (int a = 0; a < SALTUSI_BODY_WIDTH && body >= 0; a++) {
      f[body * SALTUSI_BODY_WIDTH + a] +=
          G[a] * r[0] + G[SALTUSI_BODY_WIDTH + a] * r[1] + G[2 * SALTUSI_BODY_WIDTH + a] * r[2];
    }
  }
}

#endif
