/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_joints_in_piles.c - steps of moreau-jean with one problem per step where joints and many contacts occur in one scene: joints beside a
 * pile leave its motion as it is, and joints inside of one are blocks of its problem.
 */
#include "saltus_test.h"

#include "saltus/mechanism.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 16, COORDINATES = 7 };

typedef struct scene_text {
  char text[TEXT];
  size_t used;
} scene_text;

#define ADD(s, ...)                                                                                \
  ((s)->used += (size_t)snprintf((s)->text + (s)->used, TEXT - (s)->used, __VA_ARGS__))

static void begin(scene_text* s) {
  s->used = 0;
  ADD(s, "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
         "materials: {default: {friction: 0.5}}\nbodies:\n");
}

typedef struct outcome {
  double q[2048];
  saltus_work work;
  double penetration;
} outcome;

static saltus_status watch(void* user, const saltus_frame* frame) {
  outcome* out = user;
  out->penetration = fmax(out->penetration, frame->penetration);
  return SALTUS_OK;
}

static void run(const scene_text* s, double until, double stiffness, outcome* out) {
  saltus_kept_message kept = {.text = ""};
  saltus_scene* scene;
  const saltus_scene_def open = {.path = "s", .text = s->text, .log = saltus_log_keep(&kept)};
  assert_true(s->used < TEXT);
  if (saltus_scene_create(&open, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  saltus_moreau_jean_options options = saltus_moreau_jean_options_default();
  options.theta = 1.0;
  options.iterate = 1;
  options.speculative = 1;
  options.contact_tol = 1e-6;
  options.stiffness = stiffness;
  options.project_joints = 1;
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_recorder recorder = {.frame = watch, .user = out};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "moreau-jean",
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .h = 1.0 / 240.0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  memset(out, 0, sizeof *out);
  assert_true(view->system->dims.nq <= (int)(sizeof out->q / sizeof out->q[0]));
  if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run_until(sim, until) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  memcpy(out->q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
  out->work = saltus_sim_work(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* Layers of 3 x 3 boxes, each turned against the one below. */
static void add_pile(scene_text* s, int count) {
  for (int i = 0; i < count; i++) {
    ADD(s,
        "  b%d: {density: 1000, shapes: [{box: {size: [0.1, 0.1, 0.1]}}], position: [%g, %g, %g], "
        "orientation: {axis: [0.2, 0.3, 1], angle: %g}}\n",
        i, 0.15 * (i % 3), 0.15 * (i / 3 % 3), 0.09 + 0.15 * (i / 9), 0.15 * (i / 9 + 1));
  }
}

#define HINGE                                                                                      \
  "  p: {mass: 1, inertia: [2.7e-4, 0.0835, 0.0835], position: [3.5, 0, 0.5]}\n"                   \
  "markers:\n  W0: {point: [3, 0, 0.5], orientation: {axis: [1, 0, 0], angle: -pi/2}}\n"           \
  "  P0: {body: p, point: [-0.5, 0, 0], orientation: {axis: [1, 0, 0], angle: -pi/2}}\n"           \
  "joints:\n  - {name: pin, type: revolute, between: [W0, P0]}\n"

/* A pendulum elsewhere adds no iteration, and the pile moves as without it: it changes rounding alone, and problems of 10 m/s in all
 * contacts together that are solved to 1e-6 leave 1e-5 m/s, or 3e-6 m after 0.3 s. */
static void a_joint_elsewhere_leaves_a_pile_as_it_is(void** state) {
  (void)state;
  enum { BOXES = 27 };
  static scene_text s;
  static outcome alone, beside;
  for (int k = 0; k < 2; k++) {
    const double stiffness = k == 0 ? 5e5 : 0.0;
    begin(&s);
    add_pile(&s, BOXES);
    run(&s, 0.3, stiffness, &alone);
    ADD(&s, HINGE);
    run(&s, 0.3, stiffness, &beside);
    assert_true(alone.work.contact_iterations > 500);
    assert_true((double)beside.work.contact_iterations <=
                1.05 * (double)alone.work.contact_iterations);
    for (int i = 0; i < BOXES * COORDINATES && k == 0; i++) { /* rigid impulses are not unique */
      assert_near(beside.q[i], alone.q[i], 1e-5);
    }
  }
}

/* A point of a body, given its position and quaternion. */
static void place(const double* q, const double* point, double* to) {
  const double w = q[3], x = q[4], y = q[5], z = q[6];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int k = 0; k < 3; k++) {
    to[k] = q[k] + R[3 * k] * point[0] + R[3 * k + 1] * point[1] + R[3 * k + 2] * point[2];
  }
}

/* Distance of the points of two neighbours in a chain along x that a joint holds together. */
static double gap_between(const double* first, const double* second, double half) {
  const double end[3] = {half, 0.0, 0.0}, start[3] = {-half, 0.0, 0.0};
  double a[3], b[3];
  place(first, end, a);
  place(second, start, b);
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/* Chains of boxes with spherical joints fall across each other. */
static void chains_in_a_heap_stay_closed(void** state) {
  (void)state;
  enum { CHAINS = 6, LINKS = 5 };
  static scene_text s;
  static outcome out;
  begin(&s);
  for (int i = 0; i < CHAINS * LINKS; i++) {
    const int c = i / LINKS;
    ADD(&s,
        "  b%d: {density: 1000, shapes: [{box: {size: [0.1, 0.1, 0.1]}}], position: [%.12g, %g, "
        "%g]}\n",
        i, 0.12 * (i % LINKS) + 0.05 * c, 0.04 * c, 0.1 + 0.14 * c);
  }
  ADD(&s, "markers:\n");
  for (int i = 0; i < CHAINS * LINKS; i++) {
    ADD(&s, "  A%d: {body: b%d, point: [0.06, 0, 0]}\n  B%d: {body: b%d, point: [-0.06, 0, 0]}\n",
        i, i, i, i);
  }
  ADD(&s, "joints:\n");
  for (int i = 0; i + 1 < CHAINS * LINKS; i++) {
    if (i % LINKS + 1 < LINKS) {
      ADD(&s, "  - {name: j%d, type: spherical, between: [A%d, B%d]}\n", i, i, i + 1);
    }
  }
  run(&s, 1.0, 5e5, &out);
  assert_true(out.penetration < 5e-3);
  for (int i = 0; i + 1 < CHAINS * LINKS; i++) {
    const double* q = out.q + (size_t)i * COORDINATES;
    if (i % LINKS + 1 < LINKS) {
      assert_true(gap_between(q, q + COORDINATES, 0.06) < 1e-9);
    }
    assert_true(q[2] > 0.04 && q[2] < 1.0);
  }
}

/* Planks with hinges between two fixed ends, which are redundant by three rows, with boxes that fall on them; rigid and compliant. */
static void a_bridge_carries_boxes(void** state) {
  (void)state;
  enum { PLANKS = 12, BOXES = 6 };
  const double turn = 0.1, half = 0.1;
  static scene_text s;
  static outcome out;
  const double radius = half / sin(0.5 * turn), low = radius * cos(0.5 * turn * PLANKS);
  begin(&s);
  for (int i = 0; i < PLANKS; i++) { /* chords of a circle */
    const double a = turn * (i - 0.5 * (PLANKS - 1)), mid = radius * cos(0.5 * turn);
    ADD(&s,
        "  p%d: {density: 600, shapes: [{box: {size: [0.19, 0.5, 0.04]}}], position: [%.15g, 0, "
        "%.15g], orientation: {axis: [0, 1, 0], angle: %.15g}}\n",
        i, mid * sin(a), 3.0 + low - mid * cos(a), -a);
  }
  for (int i = 0; i < BOXES; i++) {
    ADD(&s,
        "  b%d: {density: 500, shapes: [{box: {size: [0.15, 0.15, 0.15]}}], position: [%g, %g, "
        "3.3]}\n",
        i, 0.3 * (i - 0.5 * (BOXES - 1)), 0.02 * i);
  }
  ADD(&s, "markers:\n");
  for (int i = 0; i < PLANKS; i++) {
    ADD(&s,
        "  L%d: {body: p%d, point: [-0.1, 0, 0], orientation: {axis: [1, 0, 0], angle: -pi/2}}\n"
        "  R%d: {body: p%d, point: [0.1, 0, 0], orientation: {axis: [1, 0, 0], angle: -pi/2}}\n",
        i, i, i, i);
  }
  const double end = radius * sin(0.5 * turn * PLANKS);
  ADD(&s,
      "  W0: {point: [%.15g, 0, 3], orientation: {axis: [1, 0, 0], angle: -pi/2}}\n"
      "  W1: {point: [%.15g, 0, 3], orientation: {axis: [1, 0, 0], angle: -pi/2}}\njoints:\n"
      "  - {name: j0, type: revolute, between: [W0, L0]}\n"
      "  - {name: jn, type: revolute, between: [R%d, W1]}\n",
      -end, end, PLANKS - 1);
  for (int i = 1; i < PLANKS; i++) {
    ADD(&s, "  - {name: j%d, type: revolute, between: [R%d, L%d]}\n", i, i - 1, i);
  }
  for (int k = 0; k < 2; k++) {
    run(&s, 1.0, k == 0 ? 5e5 : 0.0, &out);
    for (int i = 0; i + 1 < PLANKS; i++) {
      const double* q = out.q + (size_t)i * COORDINATES;
      assert_true(gap_between(q, q + COORDINATES, half) < 1e-9);
    }
    for (int i = PLANKS; i < PLANKS + BOXES; i++) {
      assert_true(out.q[i * COORDINATES + 2] > 2.0); /* on the bridge */
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_joint_elsewhere_leaves_a_pile_as_it_is),
      cmocka_unit_test(chains_in_a_heap_stay_closed),
      cmocka_unit_test(a_bridge_carries_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
