/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_sketch.c - sketches of mechanisms: what is in them and what the files are.
 */
#include "figure/figure.h"
#include "figure/mechanism_sketch.h"
#include "saltus_test.h"

#include <stdio.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

/* A slider-crank: crank on the ground, driven; rod; a block on a guide of the ground, on a spring. */
static saltus_mechanism* slider_crank(void) {
  const saltus_body_def bodies[] = {
      {.name = "crank", .mass = 1.0, .inertia = {0.1}, .position = {0.5, 0.0}},
      {.name = "rod", .mass = 1.0, .inertia = {0.1}, .position = {2.0, 0.0}},
      {.name = "block", .mass = 1.0, .inertia = {0.1}, .position = {3.0, 0.0}}};
  const saltus_marker_def markers[] = {{.name = "ground"},
                                       {.name = "crank-foot", .body = "crank", .position = {-0.5}},
                                       {.name = "crank-end", .body = "crank", .position = {0.5}},
                                       {.name = "rod-start", .body = "rod", .position = {-1.0}},
                                       {.name = "rod-end", .body = "rod", .position = {1.0}},
                                       {.name = "pin", .body = "block"},
                                       {.name = "wall", .position = {4.0, 0.0}}};
  const saltus_joint_def joints[] = {
      {.name = "motor",
       .type = SALTUS_JOINT_REVOLUTE,
       .between = {"ground", "crank-foot"},
       .angle = {.drive = SALTUS_DRIVE_SPEED, .driven = {.value = 1.0}}},
      {.name = "knee", .type = SALTUS_JOINT_REVOLUTE, .between = {"crank-end", "rod-start"}},
      {.name = "wrist", .type = SALTUS_JOINT_REVOLUTE, .between = {"rod-end", "pin"}},
      {.name = "guide", .type = SALTUS_JOINT_PRISMATIC, .between = {"ground", "pin"}}};
  const saltus_spring_def springs[] = {
      {.name = "buffer", .between = {"pin", "wall"}, .stiffness = {10.0}, .rest = 1.0}};
  const saltus_mechanism_def def = {.dimension = 2,
                                    .gravity = {0.0, -9.81},
                                    .bodies = bodies,
                                    .body_count = 3,
                                    .markers = markers,
                                    .marker_count = 7,
                                    .joints = joints,
                                    .joint_count = 4,
                                    .springs = springs,
                                    .spring_count = 1};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  return m;
}

/* One joint of every kind of space, in a row along x, each between the ground and a body of its own. */
static saltus_mechanism* every_joint(void) {
  static const char* const names[] = {"fixed",          "revolute",  "prismatic", "cylindrical",
                                      "spherical",      "universal", "planar",    "point-on-line",
                                      "point-in-plane", "distance",  "screw"};
  enum { N = 11 };
  saltus_body_def bodies[N] = {{0}};
  saltus_marker_def markers[2 * N] = {{0}};
  saltus_joint_def joints[N] = {{0}};
  char texts[3 * N][32];
  for (int i = 0; i < N; i++) {
    snprintf(texts[3 * i], 32, "body-%d", i);
    snprintf(texts[3 * i + 1], 32, "foot-%d", i);
    snprintf(texts[3 * i + 2], 32, "end-%d", i);
    const double away = i == SALTUS_JOINT_DISTANCE ? 0.4 : 0.0;
    bodies[i] = (saltus_body_def){.name = texts[3 * i],
                                  .mass = 1.0,
                                  .inertia = {0.1, 0.1, 0.1},
                                  .position = {(double)(i % 4), 1.5 * (i / 4), 0.5 + away}};
    markers[2 * i] = (saltus_marker_def){.name = texts[3 * i + 1],
                                         .position = {(double)(i % 4), 1.5 * (i / 4), 0.0}};
    markers[2 * i + 1] = (saltus_marker_def){
        .name = texts[3 * i + 2], .body = texts[3 * i], .position = {0.0, 0.0, -0.5}};
    joints[i] = (saltus_joint_def){.name = names[i],
                                   .type = (saltus_joint_type)i,
                                   .between = {texts[3 * i + 1], texts[3 * i + 2]},
                                   .length = {.value = 0.4},
                                   .ratio = 0.1};
  }
  const saltus_mechanism_def def = {.dimension = 3,
                                    .gravity = {0.0, 0.0, -9.81},
                                    .bodies = bodies,
                                    .body_count = N,
                                    .markers = markers,
                                    .marker_count = 2 * N,
                                    .joints = joints,
                                    .joint_count = N};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  return m;
}

static saltusi_sketch sketch_of(const saltus_mechanism* m) {
  saltusi_sketch s = saltusi_sketch_begin(NULL);
  s.title = "a mechanism";
  s.subtitle = "at its start";
  saltusi_sketch_mechanism(&s, m, 0.0, saltus_mechanism_q0(m));
  assert_false(s.failed);
  return s;
}

static int count_of(const saltusi_sketch* s, saltusi_sketch_style style) {
  int count = 0;
  for (int i = 0; i < s->path_count; i++) {
    count += s->paths[i].style == style ? 1 : 0;
  }
  return count;
}

/* Free and driven bodies, joints, springs and the ground are in it; every one has its name. */
static void every_part_has_its_symbol_and_name(void** state) {
  (void)state;
  saltus_mechanism* m = slider_crank();
  saltusi_sketch s = sketch_of(m);
  assert_int_equal(count_of(&s, SALTUSI_SKETCH_BODY), 3);
  assert_int_equal(count_of(&s, SALTUSI_SKETCH_ZIGZAG), 1);
  assert_int_equal(s.label_count, 3 + 4 + 1);
  assert_int_equal(s.axis_count, 2);
  assert_true(s.gravity[0] == 0.0 && s.gravity[1] == -9.81);
  /* the outline of the rod is the line between its two markers, its centre of mass is on it */
  for (int i = 0; i < s.path_count; i++) {
    const double* x = s.points + s.paths[i].first;
    if (s.paths[i].style == SALTUSI_SKETCH_BODY && s.paths[i].colour == 1) {
      assert_int_equal(s.paths[i].count, 2);
      assert_true(x[0] == 1.0 && x[1] == 0.0 && x[2] == 3.0 && x[3] == 0.0);
    }
  }
  saltusi_sketch_free(&s);
  saltus_mechanism_destroy(m);
}

/* A box on the ground in the plane: what is fixed first, then outlines to scale where the body is; no outline of markers. */
static void shapes_are_drawn_where_they_are(void** state) {
  (void)state;
  const double corner[8] = {-1.0, -0.5, 1.0, -0.5, 1.0, 0.5, -1.0, 0.5};
  const saltus_body_def body = {
      .name = "box", .mass = 1.0, .inertia = {1.0}, .position = {3.0, 2.0}};
  const saltus_body_shape_def shapes[2] = {
      {.shape = {.kind = SALTUS_SHAPE_POLYGON, .points = corner, .point_count = 4}, .body = "box"},
      {.shape = {.kind = SALTUS_SHAPE_CIRCLE, .radius = 0.25}}};
  const saltus_mechanism_def def = {
      .dimension = 2, .body_count = 1, .bodies = &body, .shape_count = 2, .shapes = shapes};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  assert_int_equal(saltus_mechanism_shape(m, 0).body, 0);
  assert_int_equal(saltus_mechanism_shape(m, 1).body, -1);
  saltusi_sketch s = sketch_of(m);
  assert_int_equal(count_of(&s, SALTUSI_SKETCH_BODY), 0);
  assert_int_equal(count_of(&s, SALTUSI_SKETCH_FACE), 2);
  assert_int_equal(s.paths[0].colour, SALTUSI_SKETCH_GREY);
  assert_int_equal(s.paths[1].colour, 0);
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < s.paths[1].count; i++) {
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], s.points[s.paths[1].first + 2 * i + k]);
      high[k] = fmax(high[k], s.points[s.paths[1].first + 2 * i + k]);
    }
  }
  assert_near(low[0], 2.0, 1e-15);
  assert_near(high[0], 4.0, 1e-15);
  assert_near(low[1], 1.5, 1e-15);
  assert_near(high[1], 2.5, 1e-15);
  saltusi_sketch_free(&s);
  saltus_mechanism_destroy(m);
}

/* A parallel projection of a right-handed frame from the side: no axis is lost, z is up, and lengths along
 * the axes are those of unit vectors seen under azimuth -55 and elevation 25 degrees. */
static void space_is_seen_from_the_side(void** state) {
  (void)state;
  saltus_mechanism* m = every_joint();
  saltusi_sketch s = sketch_of(m);
  const double a = -55.0 * acos(-1.0) / 180.0, e = 25.0 * acos(-1.0) / 180.0;
  const double sees[3] = {cos(e) * cos(a), cos(e) * sin(a), sin(e)}; /* towards the eye */
  assert_int_equal(s.axis_count, 3);
  for (int k = 0; k < 3; k++) {
    const double* way = s.axes[k].way;
    assert_near(way[0] * way[0] + way[1] * way[1], 1.0 - sees[k] * sees[k], 1e-15);
  }
  assert_true(s.axes[2].way[0] == 0.0 && s.axes[2].way[1] > 0.9);
  saltusi_sketch_free(&s);
  saltus_mechanism_destroy(m);
}

static void labels_do_not_overlap(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    saltus_mechanism* m = k == 0 ? slider_crank() : every_joint();
    saltusi_sketch s = sketch_of(m);
    double boxes[64][4];
    int count = saltusi_sketch_label_boxes(&s, boxes, 64);
    assert_int_equal(count, s.label_count); /* all find room */
    for (int i = 0; i < count; i++) {
      assert_true(boxes[i][0] > 0.0 && boxes[i][2] < 160.0 / 25.4 * 72.0);
      for (int j = 0; j < i; j++) {
        assert_true(boxes[i][0] >= boxes[j][2] || boxes[j][0] >= boxes[i][2] ||
                    boxes[i][1] >= boxes[j][3] || boxes[j][1] >= boxes[i][3]);
      }
    }
    saltusi_sketch_free(&s);
    saltus_mechanism_destroy(m);
  }
}

/* More labels than paper: those that are shown do not overlap, the others are left out. */
static void labels_without_room_are_left_out(void** state) {
  (void)state;
  saltusi_sketch s = saltusi_sketch_begin(NULL);
  const double here[2] = {0.0, 0.0};
  for (int i = 0; i < 400; i++) {
    saltusi_sketch_name(&s, "the same place", SALTUSI_SKETCH_GREY, here);
  }
  saltusi_sketch_draw(&s, (saltusi_sketch_path){.style = SALTUSI_SKETCH_BODY}, here, 1);
  static double boxes[400][4];
  int count = saltusi_sketch_label_boxes(&s, boxes, 400);
  assert_in_range(count, 8, 64); /* eight directions at eight distances at most */
  saltusi_sketch_free(&s);
}

static size_t file_of(saltus_mechanism* m, const char* path, char* bytes) {
  saltusi_sketch s = sketch_of(m);
  assert_int_equal(saltusi_sketch_write(&s, path, (saltus_log){0}), SALTUS_OK);
  saltusi_sketch_free(&s);
  saltus_mechanism_destroy(m);
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, BYTES, file);
  fclose(file);
  remove(path);
  return size;
}

static void equal_mechanisms_give_equal_files(void** state) {
  (void)state;
  static char one[BYTES], two[BYTES];
  char path[64];
  snprintf(path, sizeof path, "/tmp/saltus-sketch-%ld.svg", (long)getpid());
  size_t size = file_of(every_joint(), path, one);
  assert_in_range(size, 1000, BYTES - 1);
  assert_int_equal(file_of(every_joint(), path, two), size);
  assert_memory_equal(one, two, size);
  assert_memory_equal(one, "<?xml", 5);
}

static void* nothing(size_t bytes, void* user) {
  (void)bytes, (void)user;
  return NULL;
}

static void a_sketch_without_memory_is_refused(void** state) {
  (void)state;
  saltus_allocator none = saltus_allocator_default();
  none.alloc = nothing;
  saltus_mechanism* m = slider_crank();
  saltusi_sketch s = saltusi_sketch_begin(&none);
  saltusi_sketch_mechanism(&s, m, 0.0, saltus_mechanism_q0(m));
  saltus_kept_message kept = {0};
  assert_int_equal(saltusi_sketch_write(&s, "never.svg", saltus_log_keep(&kept)),
                   SALTUS_ERR_MEMORY);
  assert_says(kept, "no memory");
  assert_int_equal(access("never.svg", F_OK), -1);
  saltusi_sketch_free(&s);
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_part_has_its_symbol_and_name),
      cmocka_unit_test(shapes_are_drawn_where_they_are),
      cmocka_unit_test(space_is_seen_from_the_side),
      cmocka_unit_test(labels_do_not_overlap),
      cmocka_unit_test(labels_without_room_are_left_out),
      cmocka_unit_test(equal_mechanisms_give_equal_files),
      cmocka_unit_test(a_sketch_without_memory_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
