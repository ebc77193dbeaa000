/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * trajectory_samples.h - the motion of a run at given instants with the jumps of its velocities, and the distance of
 * two motions.
 *
 * Positions are compared at each instant by their displacement (m, rad), velocities by components. An impact that is
 * slightly earlier in one motion is not an error of the size of the velocity. Moving a jump J by s in time changes
 * positions by s J, so if positions may differ by w, a jump may be moved by s = w / |J|. The distance
 * of two motions at an instant t, in tolerances, is the smallest x with
 *
 *   |q_a - q_b|_i <= x w_q,i      |v_a - v_b|_i <= x w_v,i + sum_j |J_j,i|
 *
 * with the sum over those jumps of one motion with |t_j - t| <= x min_i w_q,i / |J_j,i|, in that motion where it is larger.
 */
#ifndef SALTUSI_RUN_TRAJECTORY_SAMPLES_H
#define SALTUSI_RUN_TRAJECTORY_SAMPLES_H

#include "base/pool.h"
#include "saltus/sim.h"
#include "system/displacement.h"

/* Tolerances atol + rtol |x|, for attitudes as in src/system/displacement.h. */
typedef struct saltusi_asked {
  const saltus_system* sys;
  double rtol, atol, atol_velocity;
  const double* atol_q; /* [nv] replaces atol where not 0; NULL: none */
  const double* atol_v; /* [nv] replaces atol_velocity, likewise */
  saltusi_displacement_map ways;
} saltusi_asked;

typedef struct saltusi_trajectory_samples {
  const saltus_system* sys;
  saltus_allocator allocator;
  const double* times; /* [count] rising */
  int count;
  int next;       /* instant of the next frame */
  double* states; /* [count x (nq + nv)]; NaN: no frame yet */
  double last_t;  /* s, of the frame before */
  double* last_v; /* [nv] of it */
  double* jumps;  /* [jump_count x (1 + nv)] time, then the change of v */
  size_t jump_count, jump_room;
} saltusi_trajectory_samples;

/* False: no memory. All data except the jumps are in the pool. */
bool saltusi_asked_start(saltusi_asked* asked, const double* q0, saltusi_pool* pool);
bool saltusi_trajectory_samples_start(saltusi_trajectory_samples* track, const saltus_system* sys,
                                      const double* times, int count, saltusi_pool* pool);
void saltusi_trajectory_samples_end(saltusi_trajectory_samples* track);

/* Takes frames at the instants and on both sides of impacts. */
saltus_recorder saltusi_trajectory_samples_recorder(saltusi_trajectory_samples* track);

/* Distances of two motions at their instants, into profile [count]; sizes are those of b. The workspace is 2 nv
 * doubles. The distance is infinite for NaN. */
void saltusi_trajectory_samples_compare(const saltusi_asked* asked,
                                        const saltusi_trajectory_samples* a,
                                        const saltusi_trajectory_samples* b, double* room,
                                        double* profile);

#endif
