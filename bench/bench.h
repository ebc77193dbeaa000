/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bench.h - named benchmarks. Each prints its time next to something measured in the same run and,
 * with it, an error or residual, so that speed is never shown without accuracy.
 */
#ifndef BENCH_H
#define BENCH_H

typedef struct bench {
  const char* name;
  const char* summary;
  int (*run)(void); /* 0: done */
} bench;

/* CPU seconds of this thread. */
double bench_seconds(void);

/* Smallest seconds of `repeats` calls of job(user). */
double bench_fastest(void (*job)(void* user), void* user, int repeats);

extern const bench bench_moreau_ball;
extern const bench bench_formula_ball;
extern const bench bench_formula_pendulum;
extern const bench bench_scene_chain;
extern const bench bench_enclosures;
extern const bench bench_graph_distance;
extern const bench bench_precision;
extern const bench bench_smooth_step;
extern const bench bench_one_contact;
extern const bench bench_beads;
extern const bench bench_rods;
extern const bench bench_small_problems;
extern const bench bench_random_packings;
extern const bench bench_large_packings;
extern const bench bench_warm_start;
extern const bench bench_scaling;
extern const bench bench_joints;
extern const bench bench_chains;
extern const bench bench_adaptive_speed;
extern const bench bench_adaptive_ratios;
extern const bench bench_adaptive_balls;
extern const bench bench_adaptive_hills;
extern const bench bench_adaptive_memory;
extern const bench bench_adaptive_chains;
extern const bench bench_boxes;
extern const bench bench_members;

#endif
