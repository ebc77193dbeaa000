/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * start.h - projection of initial values onto joints and out of penetration, by the least change in the metric of the
 * mass matrix:
 *
 *   q <- q + dq,  dq = -M^-1 G (G^T M^-1 G)^-1 g        joints, and contacts with g < 0, until g = 0
 *   v <- v - M^-1 G (G^T M^-1 G)^-1 (G^T v + b)         joints: the velocity after they are closed
 *
 * A closed contact that approaches is not inconsistent: it is an impact at the first instant.
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
  saltus_log log;                    /* receives a warning if values changed */
  const saltus_allocator* allocator; /* NULL: the C library */
  /* [nj] N s of joints that change v: M (v+ - v-) = G P; NULL: not requested. Unchanged if v is */
  double* impulses;
  SALTUS_RESERVED(3);
} saltus_start_def;

/* Violations before the projection, and changes of the values; zero without a correction. */
typedef struct saltus_start_move {
  double joint;       /* largest |g| of a joint before */
  double rate;        /* largest |G^T v + b| of a joint before */
  double penetration; /* m, deepest contact before */
  double q_moved;     /* largest change of a coordinate */
  double v_moved;     /* largest change of a velocity */
  int q_most, v_most; /* which */
} saltus_start_move;

/* Joint violations up to 1e-12 and penetrations up to 1e-6 are left unchanged. SALTUS_ERR_INPUT with a message, q and
 * v unchanged, if a violation exceeds the tolerance (for rates also the tolerance times the size of their terms), or
 * if no coordinate can change the constraint; SALTUS_ERR_CONTRADICTION, with the names of the joints, if they are
 * inconsistent;
 * SALTUS_ERR_MEMORY without a message. */
SALTUS_API saltus_status saltus_start_project(const saltus_start_def* def, saltus_start_move* move);

SALTUS_END_DECLS

#endif
