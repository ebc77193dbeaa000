/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * integrator_state.h - data of an integrator, for integrator.c and integrator_snapshot.c.
 */
#ifndef SALTUSI_INTEGRATOR_STATE_H
#define SALTUSI_INTEGRATOR_STATE_H

#include "saltus/integrator.h"

/* Contact that had a key during a step. */
typedef struct saltusi_owner {
  uint64_t identity;
  int64_t law; /* -1: none; as wide as identity, so that snapshots have no padding */
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
  const uint64_t* changes; /* counter of changes of the system; NULL: none */
  uint64_t known;          /* its value at the last restart of the scheme */
  saltus_system system;
  saltus_dims dims;
  saltus_scheme* scheme;
  saltus_adaptive_options options;
  double t_last; /* s, end of the last step at most */

  saltus_state start; /* initial state */
  saltus_state now;   /* state of the caller */
  saltus_state front; /* state of the scheme */
  saltus_state next;

  int dense_steps;
  saltusi_kept_step* kept; /* [dense_steps] ring buffer */
  double* data; /* of these steps; a separate block that grows with the capacity of the scheme */
  size_t data_bytes;
  int contacts;    /* capacity of it */
  bool changing;   /* the contact set varies in time */
  long long steps; /* since the start; the last one is kept[(steps - 1) % dense_steps] */
  double* spare;   /* [nq + nv] */

  saltus_step_report report; /* of the last step */
  int reported;              /* number of its events that the caller has passed */
  int event_room;
  saltus_event* events;  /* ring buffer of event_room; a separate block that grows up to that */
  size_t event_capacity; /* present capacity */
  long long event_count;
  long long kinds[SALTUS_EVENT_KINDS];

  saltus_event* waiting; /* queued events of a snapshot's last step; a separate block */
  size_t waiting_capacity;
};

/* Adapts the memory of the stored steps to the present layout of the scheme; contents are kept. */
saltus_status saltusi_integrator_fit(saltus_integrator* it);

/* Stored step number i since the start. */
static inline saltusi_kept_step* saltusi_kept_at(const saltus_integrator* it, long long number) {
  return &it->kept[number % it->dense_steps];
}

#endif
