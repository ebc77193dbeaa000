/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes.c - contacts of two boxes: points, normals, gaps and numbers of features; beside the time of ODE's boxes where
 * that is installed. Its points have depths and no identity, and are cut down to eight.
 */
#include "bench.h"

#include "base/pool.h"
#include "math/rotation.h"
#include "shape/shape.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if BENCH_ODE
#include <ode/ode.h>
#endif

/* Repeats take some 40 ms: longer than others have the machine at a time. */
enum { POSES = 1000, ROOM = 64, REPEATS = 200 };

typedef struct poses {
  saltusi_shape A, B;
  saltusi_body_pose a[POSES], b[POSES];
  int contacts;
  double deepest; /* m */
#if BENCH_ODE
  dGeomID geom[2][POSES];
#endif
} poses;

static double random_of(uint64_t* state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) * 0x1p-53;
}

static void turn_anyhow(uint64_t* seed, double R[9]) {
  double p[4];
  do {
    for (int k = 0; k < 4; k++) {
      p[k] = 2.0 * random_of(seed) - 1.0;
    }
  } while (!(saltusi_quaternion_length(p) > 0.1));
  saltusi_quaternion_matrix(p, R);
}

/* Boxes flat on each other in any orientation of the world, or anyhow within a distance. */
static void place(poses* all, bool flat, double far) {
  uint64_t seed = 12345;
  for (int i = 0; i < POSES; i++) {
    double x[3], R[9];
    turn_anyhow(&seed, all->b[i].R);
    for (int k = 0; k < 3; k++) {
      all->b[i].x[k] = random_of(&seed);
      x[k] = far * (2.0 * random_of(&seed) - 1.0);
    }
    turn_anyhow(&seed, R);
    if (flat) {
      const double d[3] = {0.0, 0.0, 6.28 * random_of(&seed)};
      double p[4];
      saltusi_quaternion_exp(d, p);
      saltusi_quaternion_matrix(p, R);
      x[2] = 0.55 - 1e-6;
    }
    saltusi_matrix3_product(all->b[i].R, R, all->a[i].R);
    saltusi_turn(all->b[i].R, x, all->a[i].x);
    saltusi_along(1.0, all->b[i].x, all->a[i].x, all->a[i].x);
  }
}

static void lists(void* user) {
  poses* all = user;
  saltusi_feature_candidate item[ROOM];
  const saltusi_near near = {.reach = 1e-4, .delta = 1e-3};
  all->contacts = 0;
  all->deepest = 0.0;
  for (int i = 0; i < POSES; i++) {
    saltusi_candidates out = {.capacity = ROOM, .item = item};
    saltusi_shape_pairs(&all->A, &all->a[i], &all->B, &all->b[i], &near, &out);
    all->contacts += out.count;
    for (int k = 0; k < out.count; k++) {
      all->deepest = fmin(all->deepest, item[k].gap);
    }
  }
}

#if BENCH_ODE
static void ode_pose(dGeomID geom, const saltusi_body_pose* at) {
  dMatrix3 R;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[4 * i + j] = at->R[3 * i + j];
    }
    R[4 * i + 3] = 0.0;
  }
  dReal box[6];
  dGeomSetPosition(geom, at->x[0], at->x[1], at->x[2]);
  dGeomSetRotation(geom, R);
  dGeomGetAABB(geom, box);
}

static void ode_lists(void* user) {
  poses* all = user;
  dContactGeom contact[8];
  all->contacts = 0;
  for (int i = 0; i < POSES; i++) {
    all->contacts += dCollide(all->geom[0][i], all->geom[1][i], 8, contact, sizeof contact[0]);
  }
}

static void beside_ode(poses* all, double ours) {
  for (int i = 0; i < POSES; i++) {
    all->geom[0][i] = dCreateBox(0, 1.0, 0.8, 0.6);
    all->geom[1][i] = dCreateBox(0, 1.2, 1.0, 0.5);
    ode_pose(all->geom[0][i], &all->a[i]);
    ode_pose(all->geom[1][i], &all->b[i]);
  }
  const double theirs = bench_fastest(ode_lists, all, REPEATS) / POSES;
  printf("; ODE %.0f ns, %.2f contacts: %.2f times its time", 1e9 * theirs,
         (double)all->contacts / POSES, ours / theirs);
  for (int i = 0; i < POSES; i++) {
    dGeomDestroy(all->geom[0][i]);
    dGeomDestroy(all->geom[1][i]);
  }
}
#else
static void beside_ode(poses* all, double ours) {
  (void)all;
  (void)ours;
  printf("; ODE is not installed (libode-dev)");
}
#endif

static int run(void) {
  static const struct {
    const char* name;
    bool flat;
    double far;
  } cases[] = {{"flat on each other", true, 0.5},
               {"one through the other", false, 0.4},
               {"near each other", false, 1.0},
               {"far apart", false, 4.0}};
  saltusi_pool pool = saltusi_pool_over(NULL);
  static poses all; /* larger than a stack should hold */
  const saltus_shape_def def[2] = {
      {.name = "a", .kind = SALTUS_SHAPE_BOX, .size = {1.0, 0.8, 0.6}},
      {.name = "b", .kind = SALTUS_SHAPE_BOX, .size = {1.2, 1.0, 0.5}}};
  const saltus_log silent = {0};
  if (saltusi_shape_make(&def[0], 3, &pool, silent, &all.A) != SALTUS_OK ||
      saltusi_shape_make(&def[1], 3, &pool, silent, &all.B) != SALTUS_OK) {
    return 1;
  }
#if BENCH_ODE
  dInitODE();
#endif
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    place(&all, cases[k].flat, cases[k].far);
    const double ours = bench_fastest(lists, &all, REPEATS) / POSES;
    printf("  boxes %-22s %.0f ns, %.2f contacts, deepest %.3g m", cases[k].name, 1e9 * ours,
           (double)all.contacts / POSES, -all.deepest);
    beside_ode(&all, ours);
    printf("\n");
  }
#if BENCH_ODE
  dCloseODE();
#endif
  saltusi_pool_free(&pool);
  return 0;
}

const bench bench_boxes = {
    .name = "boxes",
    .summary = "contacts of two boxes beside ODE's; to stay within 2 times its time",
    .run = run,
};
