/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * steps.c - cost of a step: the bouncing ball through C callbacks and as a formula scene, beside
 * a hand-written loop for this problem.
 */
#include "bench.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 1000000, REPEATS = 7 };
static const double h = 5.0 / STEPS;

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -2.0;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

static const saltus_system_ops ops = {
    .mass = mass, .force = force, .contacts = contacts, .contact = contact};
static const saltus_contact_law law = {.name = "floor", .e_N = 0.5};

static saltus_system ball(unsigned traits) {
  return (saltus_system){.ops = &ops,
                         .dims = {.nq = 1, .nv = 1, .nc = 1},
                         .traits = traits,
                         .laws = &law,
                         .law_count = 1};
}

typedef struct subject {
  saltus_system sys;
  double q, v;
  bool failed;
} subject;

/* The same scheme specialised to m = 1, one contact, constant force. */
static void by_hand(void* user) {
  subject* s = user;
  double q = 1.0;
  double v = 0.0;
  for (int i = 0; i < STEPS; i++) {
    double v1 = v - 2.0 * h;
    if (q + h * v <= 0.0 && v1 + 0.5 * v < 0.0) {
      v1 = -0.5 * v;
    }
    q += h * (0.5 * v + 0.5 * v1);
    v = v1;
  }
  s->q = q;
  s->v = v;
}

static void by_scheme(void* user) {
  subject* s = user;
  const saltus_scheme_def def = {.scheme = "moreau-jean", .system = &s->sys};
  saltus_scheme* scheme;
  s->failed = saltus_scheme_create(&def, &scheme) != SALTUS_OK;
  s->q = 1.0;
  s->v = 0.0;
  saltus_state x = {0.0, &s->q, &s->v};
  for (int i = 0; i < STEPS && !s->failed; i++) {
    s->failed = saltus_scheme_step(scheme, h, &x, NULL) != SALTUS_OK;
  }
  saltus_scheme_destroy(scheme);
}

static void by_sim(void* user) {
  subject* s = user;
  const double q0 = 1.0;
  const double v0 = 0.0;
  const saltus_sim_def def = {
      .system = &s->sys, .scheme = "moreau-jean", .h = h, .q0 = &q0, .v0 = &v0};
  saltus_sim* sim;
  s->failed = saltus_sim_create(&def, &sim) != SALTUS_OK;
  if (!s->failed) {
    s->failed = saltus_sim_run(sim, STEPS) != SALTUS_OK;
    s->q = saltus_sim_q(sim)[0];
  }
  saltus_sim_destroy(sim);
}

static void show(const char* what, void (*job)(void*), subject* s, double hand) {
  double taken = bench_fastest(job, s, REPEATS);
  printf("  %-46s %7.1f ns a step, %5.1f times by hand, final height %.3e\n", what,
         1e9 * taken / STEPS, taken / hand, s->q);
}

static int run_ball(void) {
  const unsigned known = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS;
  subject hand = {0};
  subject with = {.sys = ball(known)};
  subject without = {.sys = ball(0)};
  double base = bench_fastest(by_hand, &hand, REPEATS);
  printf("  %-46s %7.1f ns a step, final height %.3e\n", "loop by hand", 1e9 * base / STEPS,
         hand.q);
  show("C callbacks, saltus_scheme_step", by_scheme, &with, base);
  show("C callbacks, saltus_sim_run", by_sim, &with, base);
  show("C callbacks without traits, saltus_sim_run", by_sim, &without, base);
  return with.failed || without.failed;
}

const bench bench_moreau_ball = {
    .name = "moreau-ball",
    .summary = "one Moreau-Jean step of the bouncing ball; to stay under 100 ns",
    .run = run_ball,
};

static const char ball_scene[] = "saltus: 1\n"
                                 "parameters: {m: 1, g: 2}\n"
                                 "coordinates: {y: {start: 1, unit: m}}\n"
                                 "kinetic: m/2*y'^2\n"
                                 "potential: m*g*y\n"
                                 "contacts:\n"
                                 "  - {name: floor, gap: y, restitution: 1/2}\n";

static int run_formula(void) {
  const saltus_scene_def def = {.path = "ball", .text = ball_scene};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    return 1;
  }
  subject hand = {0};
  subject formula = {.sys = *saltus_scene_get_view(scene)->system};
  double base = bench_fastest(by_hand, &hand, REPEATS);
  show("formula scene, saltus_sim_run", by_sim, &formula, base);
  saltus_scene_destroy(scene);
  return formula.failed;
}

const bench bench_formula_ball = {
    .name = "formula-ball",
    .summary = "the same ball as a formula scene; to stay under 400 ns",
    .run = run_formula,
};
