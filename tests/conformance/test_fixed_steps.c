/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What schemes with fixed steps tell of a run: that it goes on, how many impacts there were and what
 * they took, and that what should rest does.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* What a run told. */
typedef struct tale {
  saltus_status status;
  double q[3], v[3];
  double lowest, highest; /* of the first velocity in the last tenth of the run */
  int impacts, closes, opens, gains;
  double lost;      /* J, by the events */
  double worst;     /* J, of a gain */
  double strongest; /* m/s, of an approach */
  saltus_energy ledger;
  saltus_kept_message kept; /* the last message */
} tale;

typedef struct listener {
  tale* told;
  double late; /* s */
} listener;

static saltus_status on_event(void* user, const saltus_event* event) {
  tale* told = ((listener*)user)->told;
  told->impacts += event->kind == SALTUS_EVENT_IMPACT;
  told->closes += event->kind == SALTUS_EVENT_CLOSE;
  told->opens += event->kind == SALTUS_EVENT_OPEN;
  told->gains += event->kind == SALTUS_EVENT_ENERGY_GAIN;
  if (event->kind == SALTUS_EVENT_IMPACT) {
    told->lost -= event->energy_change;
    told->strongest = fmax(told->strongest, -event->u_before);
    assert_true(event->impulse[0] > 0.0);
    assert_true(event->u_before < 0.0);
  }
  if (event->kind == SALTUS_EVENT_ENERGY_GAIN) {
    told->worst = fmax(told->worst, event->energy_change);
  }
  return SALTUS_OK;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  const listener* l = user;
  if (frame->t >= l->late) {
    l->told->lowest = fmin(l->told->lowest, frame->v[0]);
    l->told->highest = fmax(l->told->highest, frame->v[0]);
  }
  return SALTUS_OK;
}

typedef struct request {
  const char *text, *scheme;
  const char* option; /* "name=value", or NULL */
  double until, h;
} request;

static tale tell(request r) {
  tale told = {.lowest = INFINITY, .highest = -INFINITY};
  listener l = {.told = &told, .late = 0.9 * r.until};
  saltus_kept_message kept = {0};
  const saltus_scene_def scene_def = {.text = r.text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&scene_def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_look(scene);
  const saltus_recorder recorder = {.event = on_event, .frame = on_frame, .user = &l};
  const saltus_scheme_info* info = saltus_scheme_find(r.scheme);
  void* options = calloc(1, info->options.size + 1);
  saltus_options_defaults(&info->options, options);
  if (r.option != NULL) {
    char name[64];
    snprintf(name, sizeof name, "%s", r.option);
    char* value = strchr(name, '=');
    *value++ = '\0';
    assert_int_equal(
        saltus_options_set(&info->options, options, r.scheme, name, value, saltus_log_keep(&kept)),
        SALTUS_OK);
  }
  const saltus_sim_def def = {.system = view->system,
                              .scheme = r.scheme,
                              .options = options,
                              .h = r.h,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  told.status = saltus_sim_run(sim, (long long)(r.until / r.h + 0.5));
  memcpy(told.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  memcpy(told.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
  told.ledger = saltus_sim_energy_total(sim);
  told.kept = kept;
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  free(options);
  return told;
}

/* Where it turns back the pendulum has almost no velocity, and that of a step is the rounding of
 * positions divided by h. Position at 100 s from Jacobi's elliptic functions; errors of order 2,
 * 100^2 h^2 times 0.06. */
static void a_pendulum_that_turns_back_goes_on(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {x: {start: 1}, y: {start: 0}}\n"
                             "kinetic: (x'^2 + y'^2)/2\n"
                             "potential: 9.81*y\n"
                             "joints: [{name: rod, constraint: x^2 + y^2 - 1}]\n";
  static const char* const schemes[] = {"rattle", "variational"};
  for (int i = 0; i < 2; i++) {
    tale told = tell((request){.text = text, .scheme = schemes[i], .until = 100.0, .h = 1e-3});
    assert_int_equal(told.status, SALTUS_OK);
    assert_near(told.q[0], 0.18151335142703138, 7e-4);
    assert_near(told.q[1], -0.9833884803340575, 1.4e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pendulum_that_turns_back_goes_on),
  };
  return cmocka_run_group_tests_name("fixed steps", tests, NULL, NULL);
}
