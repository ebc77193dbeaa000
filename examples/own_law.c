/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A user-defined impact law: the restitution of a bouncing ball decreases with the impact speed. A snapshot is saved in the
 * middle of the run; a second simulation continues from it and ends bitwise identically.
 *
 *   cc own_law.c $(pkg-config --cflags --libs saltus) -lm -o own_law && ./own_law
 */
#include <saltus/saltus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at, M[0] = 1.0;
}
static void force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at, F[0] = -9.81;
}
static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self, list->gap[0] = at->q[0];
  return SALTUS_OK;
}
static void contact(const void* self, const saltus_point* at, uint64_t name, saltus_rows* rows) {
  (void)self, (void)at, (void)name, rows->G[0] = 1.0;
}

/* U+ = U- + W P; restitution decreases with the impact speed */
static saltus_status soft(const void* self, const saltus_impact* impact, double* P) {
  const double* half = self; /* m/s at which the restitution is 1/2 */
  const double e = 1.0 / (1.0 + fabs(impact->u[0]) / *half);
  P[0] = -(1.0 + e) * impact->u[0] / impact->W[0];
  return SALTUS_OK;
}

static saltus_status show(void* user, const saltus_event* event) {
  int* impacts = user;
  if (event->kind == SALTUS_EVENT_IMPACT && (*impacts)++ < 3) {
    printf("%.4f s: %.4f to %.4f m/s\n", event->t, event->u_before, event->u_after);
  }
  return SALTUS_OK;
}

int main(void) {
  const saltus_system_ops ops = {
      .mass = mass, .force = force, .contacts = contacts, .contact = contact};
  const double half = 2.0, start = 1.0, rest = 0.0;
  const saltus_own_impact own = {.name = "soft", .apply = soft, .self = &half};
  const saltus_contact_law floor = {.name = "floor", .impact = SALTUS_IMPACT_OWN, .own = &own};
  const saltus_system ball = {.ops = &ops,
                              .dims = {.nq = 1, .nv = 1, .nc = 1},
                              .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                              .laws = &floor,
                              .law_count = 1};
  int impacts = 0;
  const saltus_recorder events = {.event = show, .user = &impacts};
  saltus_sim_def def = {.system = &ball, .scheme = "moreau-jean", .h = 1e-3};
  def.q0 = &start, def.v0 = &rest, def.recorders = &events, def.recorder_count = 1;
  saltus_sim *first = NULL, *second = NULL;
  void* saved = NULL;
  bool same = saltus_sim_create(&def, &first) == SALTUS_OK;
  same = same && saltus_sim_run(first, 1000) == SALTUS_OK;
  if (same && (saved = malloc(saltus_sim_snapshot_bytes(first))) != NULL) {
    def.recorder_count = 0;
    saltus_sim_snapshot_save(first, saved);
    same = saltus_sim_create(&def, &second) == SALTUS_OK &&
           saltus_sim_snapshot_load(second, saved, saltus_sim_snapshot_bytes(first)) == SALTUS_OK &&
           saltus_sim_run(first, 2000) == SALTUS_OK && saltus_sim_run(second, 2000) == SALTUS_OK &&
           memcmp(saltus_sim_q(first), saltus_sim_q(second), sizeof(double)) == 0;
  }
  printf("%d impacts; %s\n", impacts, same ? "both ends are the same" : "failed");
  free(saved);
  saltus_sim_destroy(first);
  saltus_sim_destroy(second);
  return same ? 0 : 1;
}
