/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dense_segments.h - the motion inside one step as a list of segments.
 *
 * A smooth segment runs from (q0, v0) to (q1, v1) with the accelerations a0, a1 at its ends. With
 * s = (t - t0)/h and d = q1 - q0 its position is the polynomial of degree 5 that takes all six
 * (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.6), its velocity the
 * derivative:
 *
 *   q = q0 + h v0 s + h^2 a0 s^2/2 + (10 s^3 - 15 s^4 + 6 s^5) A + (-4 s^3 + 7 s^4 - 3 s^5) B
 *          + (s^3 - 2 s^4 + s^5) C / 2
 *   A = d - h v0 - h^2 a0/2,    B = h (v1 - v0) - h^2 a0,    C = h^2 (a1 - a0)
 *
 * The error is O(h^6) in q and O(h^5) in v. With maps q' = N(q) v the polynomial is that of the displacement from q0
 * (dense_segments_maps.c). In a jump q is linear and v keeps its value until the
 * end. Accelerations are evaluated at the first query of a segment: a step without queries
 * costs only copies.
 *
 * The capacity is bounded: beyond it the shortest segment is dropped, and q, v are linear across it.
 */
#ifndef SALTUSI_DENSE_SEGMENTS_H
#define SALTUSI_DENSE_SEGMENTS_H

#include "saltus/scheme.h"
#include "system/evaluate.h"
#include "system/state_transfer.h"

/* One segment; a view into the list. */
typedef struct saltusi_dense_segment {
  double t, h; /* s, start and length */
  bool jump;
  const double* q0;    /* [nq] */
  const double* v0;    /* [nv] */
  const double* q1;    /* [nq] */
  const double* v1;    /* [nv] */
  const bool* held;    /* [nc] contacts that are closed in it; NULL: none */
  const double* marks; /* [nc x marks] further data of the contacts; NULL: none */
  const double* a0;    /* [nv] accelerations, valid after a query of the segment */
  const double* a1;
} saltusi_dense_segment;

/* The list is stored in the doubles that the driver keeps for a step. */
typedef struct saltusi_dense_segments {
  double* data; /* NULL: no dense output */
  int nq, nv, nc;
  int marks;     /* further doubles per contact */
  size_t stride; /* doubles of a segment */
  int capacity;
} saltusi_dense_segments;

/* Doubles for a system of this size. */
size_t saltusi_dense_segments_doubles(const saltus_dims* dims, int marks);
saltusi_dense_segments saltusi_dense_segments_over(double* data, const saltus_dims* dims,
                                                   int marks);

/* The same for another contact capacity. */
void saltusi_dense_segments_transfer(const saltus_dims* dims, int marks,
                                     saltusi_state_transfer* carry);

void saltusi_dense_segments_clear(const saltusi_dense_segments* pieces);
void saltusi_dense_segments_add(const saltusi_dense_segments* pieces,
                                const saltusi_dense_segment* piece);
/* The state after all events at the end of the step. */
void saltusi_dense_segments_end(const saltusi_dense_segments* pieces, const double* q,
                                const double* v);

/* Point at which an acceleration is requested: contacts keys[count] are active, marks [nc x marks]
 * as they were added. */
typedef struct saltusi_dense_segment_point {
  double t;
  const double* q;
  const double* v;
  const int* keys;
  int count;
  const double* marks;
} saltusi_dense_segment_point;

typedef struct saltusi_dense_system {
  saltus_status (*acceleration)(void* user, const saltusi_dense_segment_point* at, double* a);
  void* user;
  int* keys; /* [nc] workspace */
  const saltus_system* sys;
  double* room; /* [saltusi_dense_segments_workspace] workspace */
} saltusi_dense_system;

/* Doubles of workspace that queries into segments of a system take. */
size_t saltusi_dense_segments_workspace(const saltus_system* sys);

/* State at the fraction s of a smooth segment of a system with maps (dense_segments_maps.c). */
void saltusi_dense_segment_turned(const saltus_system* sys, const saltusi_dense_segment* piece,
                                  double s, double* room, double* q, double* v);

saltus_status saltusi_dense_segments_at(const saltusi_dense_segments* pieces,
                                        const saltusi_dense_system* system, double t,
                                        saltus_side side, double* q, double* v);

#endif
