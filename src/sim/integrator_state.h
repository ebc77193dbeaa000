/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * integrator_state.h - what integrator.c and integrator_snapshot.c share.
 */
#ifndef SALTUSI_INTEGRATOR_STATE_H
#define SALTUSI_INTEGRATOR_STATE_H

#include "saltus/integrator.h"

/* Who had a key during a step. */
typedef struct saltusi_owner {
  uint64_t identity;
  int law; /* -1: nobody */
} saltusi_owner;

/* The motion of one step. */
typedef struct saltusi_kept_step {
  double t, end; /* s */
  double* data;
  saltusi_owner* owners; /* by key */
} saltusi_kept_step;

struct saltus_integrator {
  saltus_allocator memory;
  size_t bytes;
  saltus_log log;
  const uint64_t* changes; /* of the system; NULL: none */
  uint64_t known;          /* that the scheme knows */
  saltus_dims dims;
  saltus_scheme* scheme;
  saltus_adaptive_options options;
  double t_last; /* s, no step goes beyond */

  saltus_state start; /* as given */
  saltus_state now;   /* where the caller is */
  saltus_state front; /* where the scheme is */
  saltus_state next;

  int dense_steps;
  saltusi_kept_step* kept; /* [dense_steps] a ring */
  double* data; /* of these steps; a block of its own, which follows the room of the scheme */
  size_t data_bytes;
  int contacts;    /* that it is laid out for */
  bool changing;   /* the set of contacts does */
  long long steps; /* since the start; the last one is kept[(steps - 1) % dense_steps] */
  double* spare;   /* [nq + nv] */

  saltus_step_report report; /* of the last step */
  int reported;              /* how many of its events the caller has passed */
  int event_room;
  saltus_event* events;  /* a ring of event_room; a block of its own, which grows up to that */
  size_t event_capacity; /* of it now */
  long long event_count;
  long long kinds[SALTUS_EVENT_KINDS];

  saltus_event* waiting; /* events of the last step of a snapshot; a block of its own */
  size_t waiting_capacity;
};

/* Room for the motion of the kept steps as the scheme lays it out now; what is there goes along. */
saltus_status saltusi_integrator_fit(saltus_integrator* it);

/* Step number i since the start, of those that are kept. */
static inline saltusi_kept_step* saltusi_kept_at(const saltus_integrator* it, long long number) {
  return &it->kept[number % it->dense_steps];
}

#endif
