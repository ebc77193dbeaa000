/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.h - a friction problem seen from its bodies: W = G^T A^-1 G with the rows of every contact on one or
 * two bodies, so that W need not be touched.
 *
 *   v = A^-1 G r,   u = G^T v + q
 *
 * Contacts that give way add S r, S by rows, to u: W = G^T A^-1 G + S.
 *
 * A sweep over the contacts keeps v up to date and costs the same for every contact, however many others
 * touch its bodies. Linear systems of Newton's method and of the interior point,
 *
 *   (C + E W) x = b,   C and E by contacts,     x = C^-1 (b - E G^T y),   (A + G C^-1 E G^T) y = G C^-1 b,
 *
 * are factored by bodies. Joints are units of three rows as contacts are, with u = 0 in place of the cone. Many contacts between the same two bodies, which make W large and singular, make
 * neither of the two more expensive.
 */
#ifndef SALTUSI_BODIES_H
#define SALTUSI_BODIES_H

#include "math/block_lu.h"

enum {
  SALTUSI_BODY_WIDTH = 6,                                       /* velocities of a body at most */
  SALTUSI_BODY_BLOCK = SALTUSI_BODY_WIDTH * SALTUSI_BODY_WIDTH, /* entries of its mass */
  SALTUSI_BODY_ROWS = 3 * SALTUSI_BODY_WIDTH,                   /* of a contact on one body */
  SALTUSI_CONTACT_ROWS = 2 * SALTUSI_BODY_ROWS,                 /* and on both */
  SALTUSI_CONTACT_ENTRIES = 9,                                  /* of a matrix of its three rows */
  SALTUSI_SINGLE_WIDTH = 8,      /* numbers of a body in single precision, two of them idle */
  SALTUSI_PACKED_CAPACITY = 162, /* numbers of a packed contact at most, with those of idle lanes */
  SALTUSI_LANE_CAPACITY = 2      /* lanes a contact at most, likewise */
};

/* mu of joints: units without a cone. */
#define SALTUSI_BILATERAL (-1.0)
/* Contacts from which on bodies are worth their factors. */
enum { SALTUSI_BODIES_FROM = 24 };
/* Least tolerance: sweeps are slow below it. */
#define SALTUSI_BODIES_TOL 1e-9

/* Contacts packed in single precision, float_kernel.c. */
typedef struct saltusi_float_precision {
  bool wanted;        /* springs and tolerance are such that it serves */
  float* v;           /* [(bodies + 1) x SALTUSI_SINGLE_WIDTH] changes of velocities */
  double mass, speed; /* units of numbers in groups */
  double miss2;       /* |F / rho|^2 where it was looked at last */
} saltusi_float_precision;

typedef struct saltusi_bodies {
  int units, bodies;
  int* body; /* [2 units] of each contact; -1: none */
  double*
      G; /* [units x SALTUSI_CONTACT_ROWS] body by body, row by row, zeros where there is nothing */
  double* moved; /* [units x SALTUSI_CONTACT_ROWS] A^-1 G */
  double* soft;  /* [3 units] S; zeros: rigid */
  bool softens;  /* S is not zero */
  double* A;     /* [bodies x SALTUSI_BODY_BLOCK] */
  double*
      inverse; /* [bodies x SALTUSI_BODY_BLOCK] A^-1; ones on the diagonal where a body has fewer velocities */
  double* v;      /* [(bodies + 1) x SALTUSI_BODY_WIDTH], the last body is the ground */
  double* right;  /* likewise */
  double* next;   /* likewise */
  double* step;   /* likewise */
  int* offset;    /* [bodies + 1] */
  int* start;     /* [bodies + 1] neighbours of each body, itself too */
  int* neighbour; /* [bodies + 2 units] */
  int*
      crossing; /* [2 units] places of the blocks (first, second) and (second, first) in the factors */
  int* mark;    /* [bodies + 1] */
  double* packed; /* [units x SALTUSI_PACKED_CAPACITY] groups of contacts, body_groups.c */
  int fields;     /* numbers of a contact in them */
  int groups;     /* how many */
  int* pair;      /* [2 SALTUSI_LANE_CAPACITY units] the bodies of each lane */
  int* lane;      /* [SALTUSI_LANE_CAPACITY units] its contact; -1: none */
  int* run;       /* [units] runs of contacts that wait while groups are put together */
  int* run_end;   /* [units] and where they end */
  saltusi_float_precision single;
  const void* kind; /* of the packed ones; NULL: nobody yet */
  const double* q;  /* with these free velocities */
} saltusi_bodies;

/* Rooms for so many contacts and bodies. */
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

/* u += S r of contact i, whose impulses are r */
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

#endif
