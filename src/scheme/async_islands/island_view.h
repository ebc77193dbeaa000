/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * island_view.h - an island of a system as a separate system: its velocities, contacts and joints with its own numbering. The
 * others are at rest in their positions at the start of the motion; they do not influence the island.
 *
 * Sums over the whole system (energies, powers) are for an island its difference to the sum at rest; the first island
 * includes the sum at rest, so that the islands add up to the system.
 */
#ifndef SALTUSI_CLOCK_ISLAND_VIEW_H
#define SALTUSI_CLOCK_ISLAND_VIEW_H

#include "base/pool.h"
#include "scheme/async_islands/island_partition.h"

typedef struct saltusi_views saltusi_views;

typedef struct saltusi_island_view {
  saltusi_views* all;
  saltus_system system;
  int number;
  int* velocity;    /* [nv] numbers in the whole, ascending */
  int* contact;     /* [nc] */
  int* joint;       /* [joints] */
  int* row;         /* [nj] of joints */
  int* joint_first; /* [joints + 1] */
  int* switches;    /* [switch_count] */
  int switch_count;
  uint64_t* identity;       /* [nc] contacts in the whole */
  saltus_contact_law* laws; /* [nc] */
  saltus_label* q_labels;   /* [nv] */
  saltus_label* v_labels;   /* [nv] */
  const char** joint_names; /* [nj] */
  saltus_structure structure;
  int* start;       /* [blocks + 1] */
  int* pair;        /* [2 pairs] */
  size_t* value_at; /* [blocks + pairs] offsets in the values of the whole */
  saltusi_numbers numbers;
} saltusi_island_view;

struct saltusi_views {
  saltus_system sys; /* the whole */
  saltus_system_ops ops;
  saltus_enclosure_ops enclosure;
  int count;
  saltusi_island_view* view; /* [count] */
  int* of_velocity;          /* [nv] view */
  int* of_contact;           /* [nc] */
  int* of_row;               /* [nj] */
  int* local_velocity;
  int* local_contact;
  int* local_row;
  double* mass;   /* values of a constant M */
  double* values; /* the same, if M is not constant */
  double* rest;   /* [nq] positions of the other islands */
  double* q;      /* [nq] the same, with those of the current island */
  double* v;      /* [nv] zero, with those of the current island */
  double* F;      /* [nv] */
  double* g;      /* [nj] */
  saltusi_row_block rows;
  saltusi_contact_list list;
  saltus_interval* course; /* [(nq + nv) x orders] */
  int* place;              /* [nq + nv] */
  void* scratch;
  size_t value_count;
};

enum { SALTUSI_VIEW_ORDERS = SALTUS_JET_ORDER + 1 };

/* Views of all islands, in a pool; false: there is no memory. */
bool saltusi_views_make(saltusi_views* views, const saltus_system* sys, const saltusi_apart* apart,
                        saltusi_pool* pool);
/* Rest positions of the others, and the values of a constant M; SALTUS_ERR_MEMORY. */
saltus_status saltusi_views_rest(saltusi_views* views, const saltus_allocator* memory, double t,
                                 const double* q);

/* island_view.c: callbacks. */
void saltusi_view_ops(saltusi_views* views);

#endif
