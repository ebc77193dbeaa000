/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A ball falls on a floor and comes to rest after infinitely many impacts in 1.354570922957 s. The
 * system is defined by callbacks of the C interface.
 *
 *   cc bouncing_ball.c $(pkg-config --cflags --libs saltus) -o bouncing_ball && ./bouncing_ball
 */
#include <saltus/saltus.h>

#include <stdio.h>

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0; /* kg */
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -9.81; /* N */
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0]; /* m above the floor */
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t name, saltus_rows* rows) {
  (void)self, (void)at, (void)name;
  rows->G[0] = 1.0;
}

static saltus_status show_event(void* user, const saltus_event* event) {
  int* shown = user;
  if (*shown < 5 || event->kind != SALTUS_EVENT_IMPACT) {
    printf("%8.4f s  %-6s  %8.4f -> %7.4f m/s\n", event->t, saltus_event_kind_name(event->kind),
           event->u_before, event->u_after);
  }
  (*shown)++;
  return SALTUS_OK;
}

int main(void) {
  const saltus_system_ops ops = {
      .mass = mass, .force = force, .contacts = contacts, .contact = contact};
  const saltus_contact_law floor = {.name = "floor", .e_N = 0.5};
  const saltus_system ball = {
      .ops = &ops,
      .dims = {.nq = 1, .nv = 1, .nc = 1},
      .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
      .laws = &floor,
      .law_count = 1,
  };
  const double q0 = 1.0;
  const double v0 = 0.0;
  int shown = 0;
  const saltus_recorder events = {.event = show_event, .user = &shown};
  saltus_kept_message message;
  const saltus_sim_def def = {.system = &ball,
                              .scheme = "moreau-jean",
                              .h = 1e-3,
                              .q0 = &q0,
                              .v0 = &v0,
                              .recorders = &events,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&message)};
  saltus_sim* sim;
  saltus_status status = saltus_sim_create(&def, &sim);
  if (status == SALTUS_OK) {
    status = saltus_sim_run(sim, 2000);
    printf("at t = %g s the ball is at %.2e m, after %d events\n", saltus_sim_time(sim),
           saltus_sim_q(sim)[0], shown);
  }
  if (status != SALTUS_OK) {
    fprintf(stderr, "bouncing_ball: %s\n", message.text);
  }
  saltus_sim_destroy(sim);
  return status == SALTUS_OK ? 0 : 1;
}
