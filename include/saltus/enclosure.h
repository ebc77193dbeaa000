/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclosure.h - bounds of a system's functions that hold at every point of a trajectory segment.
 *
 * A motion over a range of a parameter s is given by intervals that contain its Taylor coefficients
 * at every s of the range; the coefficients of a function along it follow by Taylor arithmetic with
 * outward rounding. Over a range of one point the intervals are as narrow as rounding: the same call
 * gives values, derivatives and bounds. docs/theory/enclosures.md derives the bounds.
 */
#ifndef SALTUS_ENCLOSURE_H
#define SALTUS_ENCLOSURE_H

#include "saltus/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

SALTUS_BEGIN_DECLS

/* All x with lo <= x <= hi; -INFINITY..INFINITY: no bound. Never NaN. */
typedef struct saltus_interval {
  double lo, hi;
} saltus_interval;

enum { SALTUS_JET_ORDER = 6 };

/* A trajectory segment, x = sum_k x_k s^k around any point of a range of s. */
typedef struct saltus_course {
  int order;                /* highest coefficient, 0 .. SALTUS_JET_ORDER */
  int stride;               /* between coordinates, order + 1 or more; 0: order + 1 */
  const saltus_interval* t; /* [order + 1] */
  const saltus_interval* q; /* [nq x stride]; coefficient k of q_i at i stride + k */
  const saltus_interval* v; /* [nv x stride]; NULL: velocities are not used */
  void* scratch;            /* of `bytes` bytes, aligned to SALTUS_ALIGNMENT */
} saltus_course;

typedef enum saltus_quantity {
  SALTUS_QUANTITY_GAP,      /* of contact `index` */
  SALTUS_QUANTITY_VELOCITY, /* U = G^T v + b of that contact, normal first: saltus_contact_rows values
                             * of a fixed set, 1 + tangents by identity */
  SALTUS_QUANTITY_FORCE,    /* component `index` of F(t,q,v) */
  SALTUS_QUANTITY_JOINT,    /* g of joint row `index` */
  SALTUS_QUANTITY_SWITCH    /* switching function `index` */
} saltus_quantity;

/* Dependencies of a quantity. */
enum {
  SALTUS_ON_T = 1,
  SALTUS_ON_Q = 2,
  SALTUS_ON_V = 4,
  SALTUS_NOT_AFFINE = 8, /* clear: affine in (t,q,v) with constant coefficients */
  SALTUS_NOT_POLYNOMIAL =
      16, /* clear: a polynomial of degree at most 4, without unresolved features */
  SALTUS_NOT_ENCLOSED = 32 /* of a contact by identity: without `contact_along`, it is sampled */
};

/* Bounds of a gap around the midpoint m of a trajectory segment. */
typedef struct saltus_clearance {
  double value;    /* m, at m; the other members are undefined where it is not positive */
  double lowest;   /* m; positive: nowhere zero; else nowhere below; -INFINITY: no bound */
  double clear[2]; /* from m - clear[0] to m + clear[1] it is above the margin; at most the span */
  bool exact;      /* for two features: value is their gap */
  double rate;     /* for two features: bound of the rates of their guards, 1/s; INFINITY: none */
} saltus_clearance;

/* Entries with a comment "NULL: ..." may be NULL. For a time-varying contact set, gaps and velocities are enclosed by identity with the
 * last two; `depends` and `along` may then both be NULL, when forces and joints are not enclosed. */
typedef struct saltus_enclosure_ops {
  size_t (*bytes)(const void* self); /* of scratch, for any quantity at SALTUS_JET_ORDER */

  /* SALTUS_ON_T and the like; 0: constant */
  unsigned (*depends)(const void* self, saltus_quantity what, int index);

  /* out [values x (order + 1)]: contains the k-th Taylor coefficient of the quantity at every point of the segment.
   * Unbounded where it is not defined or not differentiable. */
  void (*along)(const void* self, const saltus_course* course, saltus_quantity what, int index,
                saltus_interval* out);

  /* Functions of (t,q,v) at whose zeros a force, gap, joint or slip formula changes its branch. On
   * a range without a zero of any of them the functions are smooth, up to their own singularities. */
  int (*switches)(const void* self); /* NULL: none */

  /* Positions and velocities that a quantity depends on, on any segment: i for q_i, nq + i for v_i, in
   * place[room]. Returns their number; more than room: not listed. Others are not set before `along`. The
   * index of a contact is its identity. NULL: all. */
  int (*reads)(const void* self, saltus_quantity what, uint64_t index, int room, int* place);

  /* `depends` and `along` of its gaps and velocities; both or none. NULL: contacts of a time-varying set
   * are sampled. */
  unsigned (*contact_depends)(const void* self, saltus_quantity what, uint64_t identity);
  void (*contact_along)(const void* self, const saltus_course* course, saltus_quantity what,
                        uint64_t identity, saltus_interval* out);

  /* A cheap bound of the Taylor remainder: over a segment of order 1 or more every force (out [nv]), or
   * the rate in s of every joint row (out [nj]), is within this distance of a polynomial of degree at most
   * SALTUS_JET_ORDER in q and v, or in angles and squared distances that are as smooth as q; INFINITY: no
   * bound. NULL: unknown. */
  void (*beyond)(const void* self, const saltus_course* course, saltus_quantity what, double* out);

  /* Where one is positive: `over` is a segment of order 2 over all s with |s - m| <= span, `middle` the
   * same at m alone. margin: m, rounding error of the gap. Of a contact with guards: where the distance of
   * the two bounded features exceeds that; value NaN: undecided. NULL: separation monitors (system.h) are
   * sampled. */
  void (*contact_clear)(const void* self, const saltus_course* over, const saltus_course* middle,
                        double span, uint64_t identity, double margin, saltus_clearance* out);
  SALTUS_RESERVED(1);
} saltus_enclosure_ops;

SALTUS_END_DECLS

#endif
