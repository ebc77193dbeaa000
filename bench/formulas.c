/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formulas.c - the double pendulum as formulas against C by hand, and reading a long scene.
 */
#include "bench.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 200000, REPEATS = 9, BALLS = 1000 };

static const char pendulum[] = "saltus: 1\n"
                               "parameters: {g: 9.81}\n"
                               "coordinates: {a: {start: 0.9}, b: {start: 0.7}}\n"
                               "kinetic: a'^2 + b'^2/2 + cos(a - b)*a'*b'\n"
                               "potential: -g*(2*cos(a) + cos(b))\n"
                               "contacts:\n"
                               "  - {name: wall, gap: sin(a) + sin(b) - 0.3, restitution: 0.5}\n";

/* Each function by hand, as a user would write them: none shares work with another. */
static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  M[0] = 2.0;
  M[1] = M[2] = cos(at->q[0] - at->q[1]);
  M[3] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  double s = sin(at->q[0] - at->q[1]);
  F[0] = -s * at->v[1] * at->v[1] - 2.0 * 9.81 * sin(at->q[0]);
  F[1] = s * at->v[0] * at->v[0] - 9.81 * sin(at->q[1]);
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  (void)self;
  double c = cos(at->q[0] - at->q[1]);
  F_q[0] = -c * at->v[1] * at->v[1] - 2.0 * 9.81 * cos(at->q[0]);
  F_q[1] = c * at->v[1] * at->v[1];
  F_q[2] = c * at->v[0] * at->v[0];
  F_q[3] = -c * at->v[0] * at->v[0] - 9.81 * cos(at->q[1]);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  (void)self;
  double s = sin(at->q[0] - at->q[1]);
  F_v[0] = F_v[3] = 0.0;
  F_v[1] = -2.0 * s * at->v[1];
  F_v[2] = 2.0 * s * at->v[0];
}

typedef struct subject {
  const saltus_system_ops* ops;
  const void* self;
  void* scratch;
  double sum; /* so that nothing is optimised away, and for the comparison */
} subject;

static void evaluate(void* user) {
  subject* s = user;
  double q[2] = {0.9, 0.7};
  double v[2] = {0.3, -0.4};
  double out[14];
  s->sum = 0.0;
  saltus_point at = {.t = 0.0, .q = q, .v = v, .scratch = s->scratch};
  for (int i = 0; i < CALLS; i++) {
    q[0] = 0.9 + 1e-6 * i;
    s->ops->mass(s->self, &at, out);
    s->ops->force(s->self, &at, out + 4);
    s->ops->force_q(s->self, &at, out + 6);
    s->ops->force_v(s->self, &at, out + 10);
    for (int k = 0; k < 14; k++) {
      s->sum += out[k];
    }
  }
}

static int run_pendulum(void) {
  static const saltus_system_ops by_hand = {
      .mass = mass, .force = force, .force_q = force_q, .force_v = force_v};
  const saltus_scene_def def = {.path = "pendulum", .text = pendulum};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    return 1;
  }
  const saltus_system* sys = saltus_scene_get_view(scene)->system;
  subject formula = {.ops = sys->ops, .self = sys->self};
  formula.scratch = aligned_alloc(64, (sys->dims.scratch / 64 + 1) * 64);
  subject hand = {.ops = &by_hand};
  if (formula.scratch == NULL) {
    return 1;
  }
  double a = bench_fastest(evaluate, &hand, REPEATS);
  double b = bench_fastest(evaluate, &formula, REPEATS);
  printf("  by hand  %6.1f ns for M, F, F_q, F_v\n", 1e9 * a / CALLS);
  printf("  formulas %6.1f ns, %.2f times by hand; the sums differ by %.1e\n", 1e9 * b / CALLS,
         b / a, fabs(hand.sum - formula.sum) / fabs(hand.sum));
  free(formula.scratch);
  saltus_scene_destroy(scene);
  return 0;
}

const bench bench_formula_pendulum = {
    .name = "formula-pendulum",
    .summary = "M, F, F_q, F_v of the double pendulum; to stay under 3 times C by hand",
    .run = run_pendulum,
};

static size_t add(char* text, size_t used, const char* format, int i, int j) {
  return used + (size_t)sprintf(text + used, format, i, i, j);
}

/* A column of balls with a coordinate each. */
static char* chain_scene(void) {
  char* text = malloc(400 * (size_t)BALLS);
  if (text == NULL) {
    return NULL;
  }
  size_t used = (size_t)sprintf(text, "saltus: 1\nparameters: {m: 1, g: 2}\ncoordinates:\n");
  for (int i = 1; i <= BALLS; i++) {
    used = add(text, used, "  x%d: {start: %d}\n", i, 0);
  }
  used += (size_t)sprintf(text + used, "kinetic: m/2*(");
  for (int i = 1; i <= BALLS; i++) {
    used += (size_t)sprintf(text + used, "%sx%d'^2", i > 1 ? " + " : "", i);
  }
  used += (size_t)sprintf(text + used, ")\npotential: m*g*(");
  for (int i = 1; i <= BALLS; i++) {
    used += (size_t)sprintf(text + used, "%sx%d", i > 1 ? " + " : "", i);
  }
  used += (size_t)sprintf(text + used, ")\ncontacts:\n  - {name: c1, gap: x1, restitution: 0.5}\n");
  for (int i = 2; i <= BALLS; i++) {
    used += (size_t)sprintf(text + used, "  - {name: c%d, gap: x%d - x%d, restitution: 0.5}\n", i,
                            i, i - 1);
  }
  return text;
}

static void read_chain(void* user) {
  const saltus_scene_def def = {.path = "chain", .text = user};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) == SALTUS_OK) {
    saltus_scene_destroy(scene);
  }
}

static int run_chain(void) {
  char* text = chain_scene();
  if (text == NULL) {
    return 1;
  }
  saltus_kept_message kept;
  const saltus_scene_def def = {.path = "chain", .text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    printf("  %s\n", kept.text);
    free(text);
    return 1;
  }
  const saltus_dims* dims = &saltus_scene_get_view(scene)->system->dims;
  printf("  %d coordinates, %d contacts, rows of at most %d entries\n", dims->nq, dims->nc,
         dims->row_width);
  saltus_scene_destroy(scene);
  double taken = bench_fastest(read_chain, text, 5);
  printf("  read and compiled %zu kB of text in %.0f ms\n", strlen(text) / 1024, 1e3 * taken);
  free(text);
  return 0;
}

const bench bench_scene_chain = {
    .name = "scene-chain",
    .summary = "reading a scene with 1000 coordinates and contacts; to stay under a second",
    .run = run_chain,
};
