/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ways.h - how far positions are apart, and how large they are, in m and rad whatever q is made of: by
 * velocity, as docs/notation.md says.
 */
#ifndef SALTUSI_WAYS_H
#define SALTUSI_WAYS_H

#include "saltus/memory.h"
#include "system/evaluate.h"

typedef struct saltusi_ways {
  bool maps;      /* q' = N(q) v; without maps nothing below is there */
  bool own_known; /* own is filled */
  int* own;       /* [nv] the coordinate that is the integral of this velocity; -1: none */
  int* named;     /* [nq] room to find that */
  double* beside; /* [nq] positions close by */
  double* rate;   /* [nq] */
  double* apart;  /* [nv] */
} saltusi_ways;

void saltusi_ways_layout(saltusi_ways* w, const saltus_system* sys, saltus_arena* arena);

/* Finds `own`, once. */
void saltusi_ways_find_own(saltusi_ways* w, const saltus_system* sys, const double* q);

/* Whether the position along velocity i is a part of an attitude, which has no size of its own. */
static inline bool saltusi_ways_turns(const saltusi_ways* w, int i) {
  return w->maps && w->own[i] < 0;
}

/* Size of the position along velocity i: of its coordinate, or 1 rad. */
static inline double saltusi_ways_size(const saltusi_ways* w, const double* q, int i) {
  return !w->maps ? fabs(q[i]) : w->own[i] >= 0 ? fabs(q[w->own[i]]) : 1.0;
}

/* Its tolerance: atol + rtol |q|. A turn by rtol rad moves what turns by that part of its distance: of an
 * attitude it is the larger of atol and rtol rad. */
static inline double saltusi_ways_tolerance(const saltusi_ways* w, double size, int i, double atol,
                                            double rtol) {
  return saltusi_ways_turns(w, i) ? fmax(atol, rtol) : atol + rtol * size;
}

/* A small change x of q [nq] becomes the way [nv] that it is, in its first places. */
void saltusi_ways_of_change(const saltusi_ways* w, const saltus_system* sys, const double* q,
                            double* x);

#endif
