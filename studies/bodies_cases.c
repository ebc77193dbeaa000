/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies_cases.c - the mechanisms of scenes/ whose motion is known, with how well it is.
 */
#include "bodies_exact.h"
#include "bodies_run.h"

#include <math.h>
#include <string.h>

static void exact_pendulum(const void* who, double t, double* out) {
  (void)who;
  bodies_pendulum(t, out);
}

static void exact_four_bar(const void* who, double t, double* out) {
  bodies_four_bar(*(const int*)who, t, out);
}

static void exact_hanging(const void* who, double t, double* out) {
  bodies_hanging_four_bar(*(const double*)who, t, out);
}

static void exact_table(const void* who, double t, double* out) {
  const bodies_table* table = bodies_table_find(who);
  if (table != NULL) {
    bodies_table_at(table, t, out);
  } else {
    out[0] = NAN;
  }
}

/* Angular velocities by Jacobi's functions, the attitude from the table. */
static void exact_rotation(const void* who, double t, double* out) {
  exact_table(who, t, out);
  bodies_free_rotation(t, out);
}

static void exact_top(const void* who, double t, double* out) {
  bodies_heavy_top(who, t, out);
}

static const bodies_top top = {.m_g_l = 9.81 * 0.5,
                               .I1 = 0.3,
                               .I3 = 0.05,
                               .l = 0.5,
                               .rim = 0.3,
                               .tilt = 0.52359877559829887,
                               .spin = 60.0};
static const double angle = 1.0471975511965977;

static const bodies_case cases[] = {
    {.scene = "bodies-pendulum",
     .until = 10.0,
     .instants = 100,
     .width = 2,
     .exact = exact_pendulum,
     .accuracy = 1e-14},
    {.scene = "bodies-andrews",
     .until = 0.05,
     .instants = 50,
     .width = 6,
     .exact = exact_table,
     .who = "andrews",
     .accuracy = 1e-12},
    {.scene = "bodies-bricard",
     .until = 10.0,
     .instants = 100,
     .width = 3,
     .exact = exact_table,
     .who = "bricard",
     .accuracy = 2e-11},
    {.scene = "bodies-flyball",
     .until = 1.0,
     .instants = 10,
     .width = 4,
     .exact = exact_table,
     .who = "flyball",
     .accuracy = 2e-11},
    {.scene = "bodies-slider-crank",
     .until = 5.0,
     .instants = 100,
     .width = 2,
     .exact = exact_table,
     .who = "spatial-slider-crank",
     .accuracy = 2e-10},
    {.scene = "bodies-free-rotation",
     .until = 10.0,
     .instants = 40,
     .width = 7,
     .exact = exact_rotation,
     .who = "dzhanibekov",
     .accuracy = 1e-12},
    {.scene = "bodies-heavy-top",
     .until = 2.0,
     .instants = 50,
     .width = 6,
     .exact = exact_top,
     .who = &top,
     .accuracy = 1e-12},
    {.scene = "bodies-redundant-four-bar",
     .until = 10.0,
     .instants = 100,
     .width = 3,
     .exact = exact_hanging,
     .who = &angle,
     .accuracy = 1e-13},
};

const bodies_case* bodies_case_find(const char* scene) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(cases[i].scene, scene) == 0) {
      return &cases[i];
    }
  }
  return NULL;
}

bodies_case bodies_case_windows(const char* text, const int* windows, double until) {
  return (bodies_case){.scene = "windows",
                       .text = text,
                       .until = until,
                       .instants = 50,
                       .width = 2,
                       .exact = exact_four_bar,
                       .who = windows,
                       .accuracy = 1e-13};
}
