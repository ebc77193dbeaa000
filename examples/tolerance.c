/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * A stone is thrown onto rough ground and integrated to a tolerance, without step size and threshold. Exact
 * values: Zeno point at 1.354570922957 s, end of sliding at 1.529051987768 s and 2.493577981651 m.
 *
 *   cc tolerance.c $(pkg-config --cflags --libs saltus) -o tolerance && ./tolerance
 */
#include <saltus/saltus.h>

#include <stdio.h>

static const char text[] =
    "saltus: 1\n"
    "coordinates: {x: {velocity: 3}, y: {start: 1}}\n"
    "kinetic: x'^2/2 + y'^2/2\n"
    "potential: 9.81*y\n"
    "contacts:\n"
    "  - {name: ground, gap: y, slip: x', friction: 0.2, restitution: 0.5}\n";

static saltus_status integrate(saltus_integrator* it) {
  /* to the end, with stops at the Zeno point and at the end of sliding */
  const unsigned stops = SALTUS_STOP(SALTUS_EVENT_ACCUMULATION) | SALTUS_STOP(SALTUS_EVENT_STICK);
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK && saltus_integrator_time(it) < 2.0) {
    const saltus_event* event;
    status = saltus_integrator_advance(it, 2.0, stops, &event);
    if (event != NULL) {
      printf("%.12f s  %s, x = %.12f m\n", event->t, saltus_event_kind_name(event->kind),
             saltus_integrator_q(it)[0]);
    }
  }

  /* velocities before and after the first impact, by dense output */
  const saltus_event* impact = saltus_integrator_event(it, 0);
  for (int side = SALTUS_LEFT; side <= SALTUS_RIGHT && impact != NULL && status == SALTUS_OK;
       side++) {
    double v[2];
    status = saltus_integrator_dense(it, impact->t, (saltus_side)side, NULL, v);
    printf("%.12f s  %s the impact: x' = %7.4f, y' = %7.4f m/s\n", impact->t,
           side == SALTUS_LEFT ? "before" : "after ", v[0], v[1]);
  }

  saltus_integrator_cost cost = saltus_integrator_costs(it);
  printf("%lld steps, %lld rejected, %lld evaluations, %lld impacts\n", cost.tally->steps,
         cost.tally->rejections, cost.work.force_evaluations, cost.events[SALTUS_EVENT_IMPACT]);
  return status;
}

int main(void) {
  saltus_kept_message message;
  saltus_log log = saltus_log_keep(&message);
  const saltus_scene_def scene_def = {.text = text, .log = log};
  saltus_scene* scene;
  saltus_integrator* it = NULL;
  saltus_status status = saltus_scene_create(&scene_def, &scene);
  if (status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_integrator_def def = {.system = view->system,
                                       .q0 = view->q0,
                                       .v0 = view->v0,
                                       .rtol = 1e-9,
                                       .atol = 1e-9,
                                       .log = log};
    status = saltus_integrator_create(&def, &it);
  }
  if (status == SALTUS_OK) {
    status = integrate(it);
  }
  if (status != SALTUS_OK) {
    fprintf(stderr, "tolerance: %s\n", message.text);
  }
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
  return status == SALTUS_OK ? 0 : 1;
}
