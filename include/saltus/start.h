/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * start.h - initial values put onto joints and out of contacts, by the least change in the metric of
 * the mass matrix:
 *
 *   q <- q + dq,  dq = -M^-1 G (G^T M^-1 G)^-1 g        joints, and contacts with g < 0, until g = 0
 *   v <- v - M^-1 G (G^T M^-1 G)^-1 (G^T v + b)         joints: the velocity after they are put on
 *
 * A contact that touches and approaches is not inconsistent: it is an impact at the first instant.
 */
#ifndef SALTUS_START_H
#define SALTUS_START_H

#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/status.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_start_def {
  const saltus_system* system;
  double t;                          /* s */
  double* q;                         /* [nq] in and out */
  double* v;                         /* [nv] in and out */
  double tolerance;                  /* largest violation that is corrected */
  saltus_log log;                    /* gets a warning when something moved */
  const saltus_allocator* allocator; /* NULL: the C library */
  double*
      impulses; /* [nj] N s of joints that change v: M (v+ - v-) = G P; NULL: not requested. Untouched where v is */
  SALTUS_RESERVED(3);
} saltus_start_def;

/* How far the values were off, and how far they moved; zero where nothing had to. */
typedef struct saltus_start_move {
  double joint;       /* largest |g| of a joint before */
  double rate;        /* largest |G^T v + b| of a joint before */
  double penetration; /* m, deepest contact before */
  double q_moved;     /* largest change of a coordinate */
  double v_moved;     /* largest change of a velocity */
  int q_most, v_most; /* which */
} saltus_start_move;

/* Joints that hold to 1e-12 and contacts that overlap by up to 1e-6 are left as they are, to the bit. SALTUS_ERR_INPUT, with q and v
 * untouched and a message, when a violation is larger than the tolerance (of a rate: also than the
 * tolerance times the terms that should cancel), or nothing can move the constraint;
 * SALTUS_ERR_CONTRADICTION, with the names of the joints, when they cannot hold together;
 * SALTUS_ERR_MEMORY without a message. */
SALTUS_API saltus_status saltus_start_project(const saltus_start_def* def, saltus_start_move* move);

SALTUS_END_DECLS

#endif
