/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Joints that depend on each other, in every scheme that treats joints: the motion is the one without
 * the superfluous ones, forces are the least ones, and a contradiction is reported by name.
 */
#include "saltus_test.h"

#include <stdio.h>

/* A parallelogram of three cranks; the rods between the masses are 2 too many, or none. */
static const char parallelogram[] =
    "saltus: 1\n"
    "parameters: {s: sqrt(3)/2}\n"
    "coordinates: {x1: {start: 0.5}, y1: {start: -s}, x2: {start: 1.5}, y2: {start: -s},\n"
    "  x3: {start: 2.5}, y3: {start: -s}}\n"
    "kinetic: (x1'^2+y1'^2+x2'^2+y2'^2+x3'^2+y3'^2)/2\n"
    "potential: 9.81*(y1+y2+y3)\n"
    "contacts: [{name: w, gap: x1+0.3, restitution: 0.5}]\n"
    "joints:\n"
    "  - {name: crank1, constraint: x1^2+y1^2-1}\n"
    "  - {name: crank2, constraint: (x2-1)^2+y2^2-1}\n"
    "  - {name: crank3, constraint: (x3-2)^2+y3^2-1}\n"
    "  - {name: rod12, constraint: (x2-x1)^2+(y2-y1)^2-1}\n"
    "  - {name: rod23, constraint: (x3-x2)^2+(y3-y2)^2-1}\n";

typedef struct end_state {
  double q[6], v[6];
  double impulse[2]; /* N s, of the first two joints in the last step */
} end_state;

static saltus_scene* read(const char* text, saltus_kept_message* kept, saltus_status expected) {
  const saltus_scene_def def = {.text = text, .log = saltus_log_keep(kept)};
  saltus_scene* scene = NULL;
  saltus_status status = saltus_scene_create(&def, &scene);
  if (status != expected) {
    fail_msg("%s: %s", saltus_status_text(status), kept->text);
  }
  return scene;
}

static saltus_status run(const char* text, const char* scheme, double h, int steps,
                         saltus_kept_message* kept, end_state* end) {
  saltus_scene* scene = read(text, kept, SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_scheme_def def = {
      .scheme = scheme, .system = view->system, .log = saltus_log_keep(kept)};
  saltus_scheme* made;
  saltus_status status = saltus_scheme_create(&def, &made);
  assert_int_equal(status, SALTUS_OK);
  saltus_state state = {.q = end->q, .v = end->v};
  memcpy(end->q, view->q0, (size_t)view->system->dims.nq * sizeof(double));
  memcpy(end->v, view->v0, (size_t)view->system->dims.nv * sizeof(double));
  saltus_step_report report = {0};
  for (int i = 0; i < steps && status == SALTUS_OK; i++) {
    status = saltus_scheme_step(made, h, &state, &report);
  }
  for (int j = 0; status == SALTUS_OK && j < 2 && j < view->system->dims.nj; j++) {
    end->impulse[j] = report.joint_impulses[j];
  }
  saltus_scheme_destroy(made);
  saltus_scene_destroy(scene);
  return status;
}

/* Schemes with fixed steps that treat joints, one after the other; NULL after the last. */
static const saltus_scheme_info* next_scheme(int* i) {
  for (; *i < saltus_scheme_count(); (*i)++) {
    const saltus_scheme_info* info = saltus_scheme_at(*i);
    if ((info->treats & SALTUS_TREATS_JOINTS) != 0 && !info->chooses_step) {
      (*i)++;
      return info;
    }
  }
  return NULL;
}

/* Through an impact at 0.711 s. Rounding differs, and 800 steps and an impact amplify it. */
static void a_redundant_rod_does_not_change_the_motion(void** state) {
  (void)state;
  char redundant[2048];
  snprintf(redundant, sizeof redundant, "%s  - {name: rod13, constraint: (x3-x1)^2+(y3-y1)^2-4}\n",
           parallelogram);
  int i = 0;
  for (const saltus_scheme_info* info; (info = next_scheme(&i)) != NULL;) {
    saltus_kept_message kept;
    end_state once, twice;
    assert_int_equal(run(parallelogram, info->name, 1e-3, 800, &kept, &once), SALTUS_OK);
    saltus_status status = run(redundant, info->name, 1e-3, 800, &kept, &twice);
    if (status != SALTUS_OK) {
      fail_msg("%s: %s", info->name, kept.text);
    }
    assert_true(once.v[0] > 0.1); /* it has struck */
    for (int k = 0; k < 6; k++) {
      assert_near(twice.q[k], once.q[k], 1e-9);
      assert_near(twice.v[k], once.v[k], 1e-8);
    }
  }
}

/* A rod and the same rod in other units: each carries half of the force, whatever its units are. */
static void equal_joints_carry_equal_forces(void** state) {
  (void)state;
  static const char once[] = "saltus: 1\n"
                             "coordinates: {x: {start: 0.6}, y: {start: -0.8}}\n"
                             "kinetic: (x'^2 + y'^2)/2\n"
                             "potential: 9.81*y\n"
                             "joints:\n"
                             "  - {name: rod, constraint: x^2 + y^2 - 1}\n";
  char twice[1024];
  snprintf(twice, sizeof twice, "%s  - {name: scaled, constraint: 5*(x^2 + y^2 - 1)}\n", once);
  int i = 0;
  for (const saltus_scheme_info* info; (info = next_scheme(&i)) != NULL;) {
    saltus_kept_message kept;
    end_state one, two;
    assert_int_equal(run(once, info->name, 1e-3, 50, &kept, &one), SALTUS_OK);
    assert_int_equal(run(twice, info->name, 1e-3, 50, &kept, &two), SALTUS_OK);
    assert_near(two.impulse[0], 0.5 * one.impulse[0], 1e-9 * fabs(one.impulse[0]));
    assert_near(5.0 * two.impulse[1], 0.5 * one.impulse[0], 1e-9 * fabs(one.impulse[0]));
  }
}

/* Joints that agree in position and velocity at the start, and not after it. */
static void a_contradiction_that_comes_later_is_reported_by_name(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\n"
                             "coordinates: {x: {}, y: {}}\n"
                             "kinetic: (x'^2 + y'^2)/2\n"
                             "joints:\n"
                             "  - {name: slow, constraint: x - t^2}\n"
                             "  - {name: other, constraint: y}\n"
                             "  - {name: fast, constraint: x - 1.01*t^2}\n";
  int i = 0;
  for (const saltus_scheme_info* info; (info = next_scheme(&i)) != NULL;) {
    saltus_kept_message kept = {0};
    end_state end;
    saltus_status status = run(text, info->name, 1e-2, 100, &kept, &end);
    if (status != SALTUS_ERR_CONTRADICTION) {
      fail_msg("%s: %s", info->name, saltus_status_text(status));
    }
    assert_says(kept, "joints \"slow\" and \"fast\" contradict each other");
  }
}

static void a_contradiction_at_the_start_is_refused_by_name(void** state) {
  (void)state;
  static const struct {
    const char *joints, *says;
  } cases[] = {
      {"  - {name: a, constraint: x - y}\n  - {name: b, constraint: x}\n"
       "  - {name: c, constraint: y - 1}\n",
       "joints \"a\", \"b\" and \"c\" contradict each other: their constraints cannot all be zero"},
      {"  - {name: a, constraint: x - sin(t)}\n  - {name: b, constraint: x - sin(2*t)}\n",
       "joints \"a\" and \"b\" contradict each other: the rates of their constraints"},
  };
  for (int i = 0; i < 2; i++) {
    char text[512];
    saltus_kept_message kept = {0};
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {x: {}, y: {}}\nkinetic: (x'^2 + y'^2)/2\njoints:\n%s",
             cases[i].joints);
    read(text, &kept, SALTUS_ERR_INPUT);
    assert_says(kept, cases[i].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_redundant_rod_does_not_change_the_motion),
      cmocka_unit_test(equal_joints_carry_equal_forces),
      cmocka_unit_test(a_contradiction_that_comes_later_is_reported_by_name),
      cmocka_unit_test(a_contradiction_at_the_start_is_refused_by_name),
  };
  return cmocka_run_group_tests_name("redundant joints", tests, NULL, NULL);
}
