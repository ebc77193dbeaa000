/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * known_motion.h - reference problems: systems with analytic reference solutions.
 */
#ifndef SALTUS_KNOWN_MOTION_H
#define SALTUS_KNOWN_MOTION_H

#include "saltus/api.h"
#include "saltus/memory.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

/* How the reference solution is given. */
typedef enum saltus_known {
  SALTUS_KNOWN_NOT,    /* not at all */
  SALTUS_KNOWN_EXACT,  /* at every instant */
  SALTUS_KNOWN_SAMPLES /* at the sample times only, from an independent code */
} saltus_known;

typedef struct saltus_known_motion_info {
  const char* name;    /* "ball", "oscillator", ... */
  const char* summary; /* one line with the data */
  const char* source;  /* where it is published */
  double t_end;        /* s, usual end */
  saltus_known known;
} saltus_known_motion_info;

typedef struct saltus_known_motion saltus_known_motion;

/* Table of analytic reference solutions. */
SALTUS_API int saltus_known_motion_count(void);
SALTUS_API const saltus_known_motion_info* saltus_known_motion_at(int i); /* NULL past the end */

/* Problems with a size take it after a colon: "column:10". NULL allocator: the C library. On
 * failure *out is NULL and the log has the reason: SALTUS_ERR_NAME, SALTUS_ERR_RANGE for a size,
 * or SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_known_motion_create(const char* name, saltus_log log,
                                                    const saltus_allocator* allocator,
                                                    saltus_known_motion** out);
SALTUS_API void saltus_known_motion_destroy(saltus_known_motion* problem);

/* As in the list, with the size in the name and `known` for this size: "column:1" is exact. */
SALTUS_API const saltus_known_motion_info*
saltus_known_motion_get_info(const saltus_known_motion* problem);
SALTUS_API const saltus_system* saltus_known_motion_system(const saltus_known_motion* problem);
SALTUS_API const double* saltus_known_motion_q0(const saltus_known_motion* problem);
SALTUS_API const double* saltus_known_motion_v0(const saltus_known_motion* problem);

/* The reference solution just after t; false where it is undefined. q [nq], v [nv]. */
SALTUS_API bool saltus_known_motion_exact(const saltus_known_motion* problem, double t, double* q,
                                          double* v);

/* Sample times of SALTUS_KNOWN_SAMPLES; count 0 otherwise. */
SALTUS_API int saltus_known_motion_samples(const saltus_known_motion* problem,
                                           const double** times);

/* Instants up to t_end at which v jumps, at most `capacity`; returns their number. Jumps closer than 1e-12 s to an
 * accumulation are omitted. */
SALTUS_API int saltus_known_motion_jumps(const saltus_known_motion* problem, double t_end,
                                         double* times, int capacity);

/* Filled-in exact graph of one coordinate (which = 0 position, 1 velocity) up to t_end with
 * points at most dt apart on curved segments, the two ends on straight ones, and two points at a
 * jump. Writes at most `capacity` pairs (t, x) and returns the number of points; 0 if the reference
 * is not defined everywhere. */
SALTUS_API int saltus_known_motion_graph(const saltus_known_motion* problem, int coordinate,
                                         int which, double t_end, double dt, double* points,
                                         int capacity);

SALTUS_END_DECLS

#endif
