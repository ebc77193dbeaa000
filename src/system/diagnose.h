/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * diagnose.h - finds the value of a system that is not finite, and its arguments.
 */
#ifndef SALTUSI_DIAGNOSE_H
#define SALTUSI_DIAGNOSE_H

#include "saltus/memory.h"
#include "saltus/system.h"

/* saltus_system_diagnose with an allocator; all_rows: includes rows of open contacts. */
saltus_status saltusi_diagnose(const saltus_system* system, const saltus_point* at, bool all_rows,
                               const saltus_allocator* allocator, char* text, size_t size);

/* The same at states ahead of `at`, along its velocity and up to h later, the nearest ones first; q [nq] is workspace.
 * */
saltus_status saltusi_diagnose_ahead(const saltus_system* system, const saltus_point* at, double h,
                                     double* q, const saltus_allocator* allocator, char* text,
                                     size_t size);

/* The same at a start, with a message that begins with `who`: a system that is not defined at its start
 * has no motion. */
saltus_status saltusi_check_start(const saltus_system* system, const saltus_point* at,
                                  const saltus_allocator* allocator, const char* who,
                                  saltus_log log);

/* Keeps the last evaluation with finite arguments that gave a value that is not finite. */
typedef struct saltusi_probe_record {
  const char* what; /* kind of value; NULL: none so far */
  double t;
  double* q; /* [nq] */
  double* v; /* [nv] of an evaluation with velocities, else of the one before */
} saltusi_probe_record;

/* A system that forwards to another and records the evaluations. It costs more than the system itself: it is for
 * the repetition of a failed step. */
typedef struct saltusi_probe {
  saltus_system inner;
  saltusi_probe_record* record;
  saltus_system_ops ops;
  saltus_linear_ops linear;
  saltus_enclosure_ops enclosure;
} saltusi_probe;

/* The system points to the probe. */
saltus_system saltusi_probe_over(saltusi_probe* probe, const saltus_system* inner,
                                 saltusi_probe_record* record);

#endif
