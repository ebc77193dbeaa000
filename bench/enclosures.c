/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclosures.c - enclosures of gaps over a range, beside the gap itself, with the width at a point.
 */
#include "bench.h"
#include "saltus/saltus.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 20000, REPEATS = 9, WIDE = SALTUS_JET_ORDER + 1 };

static const char* const gaps[] = {"y - 0.05*sin(20*x)", "y - 0.4*exp(-1e3*(x - 0.6)^2)",
                                   "hypot(x, y) - 1", "y - x^2/2"};

typedef struct subject {
  const saltus_system* system;
  saltus_course course;
  saltus_interval t[WIDE], q[2 * WIDE], out[WIDE];
  saltus_point at;
  double sum; /* so that nothing is optimised away */
} subject;

/* A piece of a motion with relative width w. */
static void set_course(subject* s, int order, double w) {
  static const double x[WIDE] = {0.7, 0.05, -0.01, 1e-3, 1e-3, 1e-3, 1e-3};
  static const double y[WIDE] = {0.9, 0.03, 0.02, 1e-3, 1e-3, 1e-3, 1e-3};
  for (int k = 0; k <= order; k++) {
    const double rx = w * (x[k] < 0.0 ? -x[k] : x[k]), ry = w * y[k];
    s->t[k] = (saltus_interval){0.0, 0.0};
    s->q[k] = (saltus_interval){x[k] - rx, x[k] + rx};
    s->q[order + 1 + k] = (saltus_interval){y[k] - ry, y[k] + ry};
  }
  s->course.order = order;
  s->course.t = s->t;
  s->course.q = s->q;
}

static void enclose(void* user) {
  subject* s = user;
  for (int i = 0; i < CALLS; i++) {
    s->system->ops->enclosure->along(s->system->self, &s->course, SALTUS_QUANTITY_GAP, 0, s->out);
    s->sum += s->out[0].lo;
  }
}

static void evaluate(void* user) {
  subject* s = user;
  for (int i = 0; i < CALLS; i++) {
    double gap;
    int law;
    uint64_t identity;
    saltus_contact_list list = {
        .capacity = 1, .count = 1, .gap = &gap, .identity = &identity, .law = &law};
    s->system->ops->contacts(s->system->self, &s->at, &list);
    s->sum += gap;
  }
}

static int run_gap(const char* text) {
  const saltus_formula_coordinate q[2] = {{.name = "x"}, {.name = "y"}};
  const saltus_formula_contact contact = {.name = "ground", .gap = {.text = text}};
  const saltus_formula_def def = {.coordinates = q,
                                  .coordinate_count = 2,
                                  .kinetic = {.text = "(x'^2 + y'^2)/2"},
                                  .contacts = &contact,
                                  .contact_count = 1};
  saltus_formula_model* model;
  if (saltus_formula_model_create(&def, &model) != SALTUS_OK) {
    return 1;
  }
  const double place[2] = {0.7, 0.9};
  subject s = {.system = saltus_formula_model_system(model)};
  const size_t bytes = s.system->ops->enclosure->bytes(s.system->self) + s.system->dims.scratch;
  s.course.scratch = s.at.scratch = aligned_alloc(64, (bytes / 64 + 1) * 64);
  s.at.q = place;
  if (s.course.scratch == NULL) {
    saltus_formula_model_destroy(model);
    return 1;
  }
  const double each = 1e9 / CALLS;
  printf("  %-30s value %3.0f ns; order", text, each * bench_fastest(evaluate, &s, REPEATS));
  for (int order = 0; order <= SALTUS_JET_ORDER; order++) {
    set_course(&s, order, 1e-2);
    printf(" %d: %.0f", order, each * bench_fastest(enclose, &s, REPEATS));
  }
  set_course(&s, 0, 0.0);
  enclose(&s);
  printf(" ns; width at a point %.1e\n", s.out[0].hi - s.out[0].lo);
  free(s.course.scratch);
  saltus_formula_model_destroy(model);
  return 0;
}

static int run_enclosures(void) {
  int status = 0;
  for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
    status = status != 0 ? status : run_gap(gaps[i]);
  }
  return status;
}

const bench bench_enclosures = {
    .name = "enclosures",
    .summary = "Taylor coefficients of gaps over a range; order 2 to stay under a microsecond",
    .run = run_enclosures,
};
