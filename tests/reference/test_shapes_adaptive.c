/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Bodies with planar shapes in the adaptive scheme: handing over of features, impacts that watches find, against closed
 * forms and against motions of 14 digits and more that were computed by two methods without code of the library
 * (docs/theory/contact-geometry.md names them T1 to T10).
 */
#include "saltus_test.h"
#include "shapes_plane.h"

#include <stdlib.h>

enum { EVENTS = 4096 };

typedef struct motion {
  double q[3 * PLANE_SHAPES], v[3 * PLANE_SHAPES];
  double t;
  int count;
  saltus_event event[EVENTS];
  double after[EVENTS][3]; /* v of the first body at the end of the step of an event */
  int steps;
  saltus_status status;
  saltus_kept_message kept;
} motion;

static motion* run(const plane_scene* scene, const double* q, const double* v, double t_end,
                   double tol) {
  saltus_system_ops ops;
  const saltus_system sys = plane_system(scene, &ops);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  motion* m = calloc(1, sizeof *m);
  const saltus_scheme_def def = {
      .scheme = "adaptive", .options = &options, .system = &sys, .log = saltus_log_keep(&m->kept)};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  const size_t bytes = 3 * (size_t)scene->bodies * sizeof(double);
  memcpy(m->q, q, bytes);
  memcpy(m->v, v, bytes);
  saltus_state x = {0.0, m->q, m->v};
  while (m->status == SALTUS_OK && x.t < t_end && m->steps < 200000) {
    saltus_step_report report;
    m->status = saltus_scheme_step(scheme, t_end - x.t, &x, &report);
    m->steps++;
    for (int i = 0; m->status == SALTUS_OK && i < report.event_count && m->count < EVENTS; i++) {
      memcpy(m->after[m->count], m->v, sizeof m->after[0]);
      m->event[m->count++] = report.events[i];
    }
  }
  m->t = x.t;
  saltus_scheme_destroy(scheme);
  if (m->status != SALTUS_OK) {
    print_error("status %d at t = %.17g: %s\n", m->status, m->t, m->kept.text);
  }
  return m;
}

/* The n-th event of a kind, from 0; -1: there is none. */
static int nth(const motion* m, saltus_event_kind kind, int n) {
  for (int i = 0; i < m->count; i++) {
    if (m->event[i].kind == kind && n-- == 0) {
      return i;
    }
  }
  return -1;
}

/* The first impact within a millisecond of a time; fails when there is none. */
static int impact_near(const motion* m, double t) {
  int at = -1;
  for (int j = 0; j < m->count && at < 0; j++) {
    at = m->event[j].kind == SALTUS_EVENT_IMPACT && fabs(m->event[j].t - t) < 1e-3 ? j : -1;
  }
  assert_true(at >= 0);
  return at;
}

static const double unit_square[] = {-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5};

static void add_ground(plane_scene* scene) {
  const saltus_shape_def ground = {.name = "ground", .kind = SALTUS_SHAPE_HALF_PLANE};
  plane_add_shape(scene, -1, &ground);
}

static void add_polygon(plane_scene* scene, int body, const double* points, int count) {
  const saltus_shape_def def = {
      .name = "polygon", .kind = SALTUS_SHAPE_POLYGON, .points = points, .point_count = count};
  plane_add_shape(scene, body, &def);
}

/* T1: a square falls on its corner, bounces, rocks and comes to rest. The ground is a half-plane, or a long box. */
static void a_square_on_its_corner_comes_to_rest_where_it_should(void** unused) {
  (void)unused;
  const double box[] = {-4, -1, 4, -1, 4, 0, -4, 0};
  for (int k = 0; k < 10; k++) {
    const double tol = pow(10.0, -6 - k / 2);
    plane_scene scene = plane_begin(0.4, 0.3);
    scene.enclosed = k % 4 >= 2;
    add_polygon(&scene, plane_add_body(&scene, 1.0, 1.0 / 6.0), unit_square, 4);
    if (k % 2 == 0) {
      add_ground(&scene);
    } else {
      add_polygon(&scene, -1, box, 4);
    }
    const double phi = 0.52359877559829887;
    const double q[3] = {0.0, 0.5 + sqrt(0.5) * sin(1.3089969389957472), phi}, v[3] = {0, 0, 0};
    motion* m = run(&scene, q, v, 0.9, tol);
    assert_int_equal(m->status, SALTUS_OK);
    const double t[5] = {0.319275428407050, 0.528585897348565, 0.600646535925389, 0.624032246862744,
                         0.631265461694509};
    for (int i = 0; i < 5; i++) {
      const int at = nth(m, SALTUS_EVENT_IMPACT, i);
      assert_true(at >= 0);
      assert_near(m->event[at].t, t[i], 10.0 * tol);
    }
    assert_near(m->q[0], 0.400082322688045, 10.0 * tol);
    assert_near(m->q[1], 0.5, 10.0 * tol);
    assert_near(m->q[2], 0.0, 10.0 * tol);
    assert_near(m->v[0], 0.0, 10.0 * tol);
    free(m);
    plane_end(&scene);
  }
}

static plane_scene pentagon(double mu, double e) {
  plane_scene scene = plane_begin(mu, e);
  double points[10];
  for (int k = 0; k < 5; k++) {
    const double angle = 6.283185307179586 * k / 5 + 1.5707963267948966;
    points[2 * k] = cos(angle);
    points[2 * k + 1] = sin(angle);
  }
  const double s = sin(0.62831853071795865), tilt = 0.26179938779914943;
  add_polygon(&scene, plane_add_body(&scene, 1.0, 0.5 * (1.0 - 2.0 / 3.0 * s * s)), points, 5);
  add_ground(&scene);
  scene.gravity[0] = 9.81 * sin(tilt);
  scene.gravity[1] = -9.81 * cos(tilt);
  return scene;
}

/* T2: rolling from side to side without sliding, and with sliding and bounces. */
static void a_pentagon_rolls_down(void** unused) {
  (void)unused;
  const double h = cos(0.62831853071795865), s = sin(0.62831853071795865);
  const double q[3] = {0.0, h, 0.0};
  for (int k = 0; k < 5; k++) {
    const double tol = pow(10.0, -6 - k);
    plane_scene scene = pentagon(1.5, 0.0);
    const double v[3] = {1.2 * h, 1.2 * s, -1.2};
    motion* m = run(&scene, q, v, 5.8, tol);
    assert_int_equal(m->status, SALTUS_OK);
    const double t[5] = {1.15127896637845, 2.30013788066505, 3.44839229304355, 4.59649514205350,
                         5.74455995490000};
    const double spin[5] = {1.20151355469724, 1.20189321416100, 1.20198850403722, 1.20201242416933,
                            1.20201842894124};
    for (int i = 0; i < 5; i++) {
      const int at = impact_near(m, t[i]);
      assert_near(m->event[at].t, t[i], 10.0 * tol);
      assert_near(-m->after[at][2], spin[i], 10.0 * tol);
    }
    free(m);
    plane_end(&scene);
    scene = pentagon(0.4, 0.2);
    const double fast[3] = {3.0 * h, 3.0 * s, -3.0};
    m = run(&scene, q, fast, 0.62, tol);
    assert_int_equal(m->status, SALTUS_OK);
    assert_near(m->event[nth(m, SALTUS_EVENT_STICK, 0)].t, 0.038192157460, fmax(10.0 * tol, 1e-9));
    /* where a force reaches its bound is known to the width of such events */
    assert_near(m->event[nth(m, SALTUS_EVENT_SLIP, 0)].t, 0.179487297820, fmax(10.0 * tol, 1e-9));
    int at = nth(m, SALTUS_EVENT_IMPACT, 0);
    assert_near(m->event[at].t, 0.426557602844386, 10.0 * tol);
    assert_near(m->after[at][0], 2.1440566198836, 10.0 * tol);
    assert_near(m->after[at][2], -0.9717373412816, 10.0 * tol);
    at = impact_near(m, 0.596304997068299);
    assert_near(m->event[at].t, 0.596304997068299, 10.0 * tol);
    assert_near(m->after[at][1], 0.4985534053465, 10.0 * tol);
    free(m);
    plane_end(&scene);
  }
}

/* T6: a disc falls into a groove; its walls are two half-planes, or one chain. */
static void a_disc_settles_in_a_groove(void** unused) {
  (void)unused;
  for (int k = 0; k < 10; k++) {
    const double tol = pow(10.0, -6 - k / 2);
    plane_scene scene = plane_begin(0.3, 0.3);
    scene.enclosed = k % 4 >= 2;
    const saltus_shape_def disc = {.name = "disc", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.2};
    plane_add_shape(&scene, plane_add_body(&scene, 1.0, 0.02), &disc);
    const double vee[] = {-3, 3, 0, 0, 3, 3};
    if (k % 2 == 0) {
      saltus_shape_def wall = {.name = "wall", .kind = SALTUS_SHAPE_HALF_PLANE};
      wall.orientation = (saltus_orientation){SALTUS_ORIENTATION_ANGLE, {-0.78539816339744831}};
      plane_add_shape(&scene, -1, &wall);
      wall.orientation.value[0] = 0.78539816339744831;
      plane_add_shape(&scene, -1, &wall);
    } else {
      const saltus_shape_def chain = {
          .name = "groove", .kind = SALTUS_SHAPE_CHAIN, .points = vee, .point_count = 3};
      plane_add_shape(&scene, -1, &chain);
    }
    const double q[3] = {0.1, 1.2, 0.0}, v[3] = {0, 0, 0};
    motion* m = run(&scene, q, v, 0.95, tol);
    assert_int_equal(m->status, SALTUS_OK);
    const double t[5] = {0.408162708538225, 0.474901901662367, 0.678210500952143, 0.739203080739075,
                         0.757500854675155};
    for (int i = 0; i < 5; i++) {
      assert_near(m->event[nth(m, SALTUS_EVENT_IMPACT, i)].t, t[i], 10.0 * tol);
    }
    assert_near(m->q[0], 0.0, 10.0 * tol);
    assert_near(m->q[1], 0.282842712474619, 10.0 * tol);
    assert_near(m->q[2], 1.638981020346193, 10.0 * tol);
    free(m);
    plane_end(&scene);
  }
}

/* T7: a disc inside of a regular polygon, as a chain: each corner is an impact of two walls. */
static void a_disc_in_a_polygon_loses_speed_at_each_corner(void** unused) {
  (void)unused;
  enum { N = 32 };
  double points[2 * N];
  const double d = 6.283185307179586 / N;
  for (int k = 0; k < N;
       k++) { /* free on the left: counter-clockwise; corners half-way between walls */
    const double angle = d * (k - 0.5) - 1.5707963267948966;
    points[2 * k] = cos(angle) / cos(0.5 * d);
    points[2 * k + 1] = sin(angle) / cos(0.5 * d);
  }
  const saltus_shape_def ring = {.name = "ring",
                                 .kind = SALTUS_SHAPE_CHAIN,
                                 .points = points,
                                 .point_count = N,
                                 .closed = true};
  const saltus_shape_def disc = {.name = "disc", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.2};
  for (int rolling = 0; rolling < 2; rolling++) {
    const double tol = 1e-9;
    plane_scene scene = plane_begin(rolling ? 2.0 : 0.0, 0.0);
    scene.gravity[1] = 0.0;
    plane_add_shape(&scene, plane_add_body(&scene, 1.0, 0.02), &disc);
    plane_add_shape(&scene, -1, &ring);
    const double q[3] = {0.0, -0.8, 0.0}, v[3] = {1.0, 0.0, rolling ? -5.0 : 0.0};
    motion* m = run(&scene, q, v, rolling ? 6.13 : 6.85, tol);
    assert_int_equal(m->status, SALTUS_OK);
    const double f = rolling ? (0.5 + cos(d)) / 1.5 : cos(d), L = 1.6 * tan(0.5 * d);
    double t = 0.5 * L, speed = 1.0;
    int last = -1;
    for (int i = 0; i < N; i++) {
      const int at = impact_near(m, t);
      assert_near(m->event[at].t, t, 10.0 * tol * (1.0 + t));
      speed *= f;
      assert_near(hypot(m->after[at][0], m->after[at][1]), speed, 10.0 * tol);
      t += L / speed;
      last = at;
    }
    assert_near(m->event[last].t, rolling ? 6.12315415006 : 6.84299491463, 1e-7);
    free(m);
    plane_end(&scene);
  }
  plane_scene scene = plane_begin(0.5, 0.0); /* with gravity */
  plane_add_shape(&scene, plane_add_body(&scene, 1.0, 0.02), &disc);
  plane_add_shape(&scene, -1, &ring);
  const double q[3] = {0.0, -0.8, 0.0}, v[3] = {3.0, 0.0, -15.0};
  const double t[8] = {0.0262643742286,   0.0800990258086,   0.136682571757147, 0.198048936608048,
                       0.267652120402806, 0.353119947458393, 0.502756134567097, 0.631059766063719};
  motion* m = run(&scene, q, v, 0.64, 1e-9);
  assert_int_equal(m->status, SALTUS_OK);
  for (int i = 0; i < 8; i++) {
    assert_near(m->event[impact_near(m, t[i])].t, t[i], 1e-8);
  }
  free(m);
  plane_end(&scene);
}

/* T10: a block slides off a table: its vertex hands over to the corner of the table, the other one opens, it tips and
 * leaves. */
static void a_block_slides_off_a_table(void** unused) {
  (void)unused;
  const double table[] = {-5, -2, 0, -2, 0, 0, -5, 0};
  const double block[] = {-0.5, -0.25, 0.5, -0.25, 0.5, 0.25, -0.5, 0.25};
  for (int k = 0; k < 10; k++) {
    const double tol = pow(10.0, -6 - k / 2);
    plane_scene scene = plane_begin(0.0, 0.0);
    scene.enclosed = k % 2 == 1;
    add_polygon(&scene, plane_add_body(&scene, 1.0, 1.25 / 12.0), block, 4);
    add_polygon(&scene, -1, table, 4);
    const double q[3] = {-0.8, 0.25, 0.0}, v[3] = {1.0, 0.0, 0.0};
    motion* m = run(&scene, q, v, 1.3, tol);
    assert_int_equal(m->status, SALTUS_OK);
    const int left = nth(m, SALTUS_EVENT_OPEN, 0), last = nth(m, SALTUS_EVENT_OPEN, 1);
    assert_true(left >= 0 && last >= 0);
    assert_near(m->event[left].t, 0.8, 0.1 * sqrt(tol)); /* a force that ends is located to that */
    assert_near(m->event[last].t, 1.20622897734177, fmax(10.0 * tol, 1e-3 * sqrt(tol)));
    assert_near(m->after[last][2], -2.63087935041220, 10.0 * tol);
    /* free flight since then */
    const double s = 1.3 - 1.20622897734177;
    assert_near(m->q[2], -0.543805470020855 - 2.63087935041220 * s, 20.0 * tol);
    free(m);
    plane_end(&scene);
  }
}

/* A block on a table pushed along: its edge lies on the table's, then on a second table of the same height that joins it
 * without a gap: nothing is reported, and the motion is that of a plane. Sliding with friction: v = v0 - mu g t. */
static void joints_of_the_ground_are_not_felt(void** unused) {
  (void)unused;
  const double block[] = {-0.5, -0.25, 0.5, -0.25, 0.5, 0.25, -0.5, 0.25};
  const double ground[] = {-3, 0, -0.7, 0, 0, 0, 0.1, 0, 3, 0};
  const double first[] = {-3, -1, 0, -1, 0, 0, -3, 0}, second[] = {0, -1, 3, -1, 3, 0, 0, 0};
  for (int kind = 0; kind < 2; kind++) {
    plane_scene scene = plane_begin(0.2, 0.0);
    add_polygon(&scene, plane_add_body(&scene, 1.0, 1.25 / 12.0), block, 4);
    if (kind == 0) {
      const saltus_shape_def chain = {
          .name = "ground", .kind = SALTUS_SHAPE_CHAIN, .points = ground, .point_count = 5};
      plane_add_shape(&scene, -1, &chain);
    } else {
      add_polygon(&scene, -1, first, 4);
      add_polygon(&scene, -1, second, 4);
    }
    const double q[3] = {-1.0, 0.25, 0.0}, v[3] = {2.0, 0.0, 0.0};
    motion* m = run(&scene, q, v, 0.9, 1e-9);
    assert_int_equal(m->status, SALTUS_OK);
    const double a = 0.2 * 9.81;
    assert_near(m->q[0], -1.0 + 2.0 * 0.9 - 0.5 * a * 0.81, 1e-8);
    assert_near(m->q[1], 0.25, 1e-12);
    assert_near(m->v[0], 2.0 - a * 0.9, 1e-8);
    assert_near(m->q[2], 0.0, 1e-12);
    if (kind == 0) {
      assert_int_equal(nth(m, SALTUS_EVENT_IMPACT, 0), -1);
      assert_int_equal(nth(m, SALTUS_EVENT_OPEN, 0), -1);
    }
    free(m);
    plane_end(&scene);
  }
}

/* A disc rolls over the rounded end of a step and down a slope that joins it: plane, arc, plane. Energy of rolling without
 * slip is kept, 3/4 m v^2 + m g y. */
static void a_disc_rolls_over_arcs(void** unused) {
  (void)unused;
  /* floor, arc of 20 degrees with radius 1 downwards, slope, arc of 20 degrees upwards (hollow), floor */
  const double a = 0.3490658503988659, r = 1.0;
  double points[12] = {-3, 0, 0, 0};
  double x = r * sin(a), y = -r * (1.0 - cos(a));
  points[4] = x;
  points[5] = y;
  points[6] = x + 2.0 * cos(a);
  points[7] = y - 2.0 * sin(a);
  points[8] = points[6] + r * sin(a);
  points[9] = points[7] - r * (1.0 - cos(a));
  points[10] = points[8] + 5.0;
  points[11] = points[9];
  const double bulges[5] = {0.0, -tan(0.25 * a), 0.0, tan(0.25 * a), 0.0};
  const saltus_shape_def chain = {.name = "track",
                                  .kind = SALTUS_SHAPE_CHAIN,
                                  .points = points,
                                  .point_count = 6,
                                  .bulges = bulges};
  const saltus_shape_def disc = {.name = "disc", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.2};
  for (int k = 0; k < 3; k++) {
    const double tol = pow(10.0, -6 - 2 * k);
    plane_scene scene = plane_begin(0.9, 0.0);
    plane_add_shape(&scene, plane_add_body(&scene, 1.0, 0.02), &disc);
    plane_add_shape(&scene, -1, &chain);
    const double q[3] = {-0.5, 0.2, 0.0}, v[3] = {0.5, 0.0, -2.5};
    motion* m = run(&scene, q, v, 3.2, tol);
    assert_int_equal(m->status, SALTUS_OK);
    assert_int_equal(m->count, 0); /* no impact, no slip, nothing opens */
    const double drop = -points[11];
    const double speed = sqrt(0.25 + 4.0 / 3.0 * 9.81 * drop);
    assert_true(m->q[0] > points[8]);
    assert_near(m->q[1], 0.2 - drop, 10.0 * tol);
    assert_near(m->v[0], speed, 10.0 * tol);
    assert_near(m->v[2], -speed / 0.2, 50.0 * tol);
    free(m);
    plane_end(&scene);
  }
}

/* A box falls flat on another one that is twice as wide and both come to rest; then the stack is pushed from a start with
 * a velocity: it slides as one. Two bodies whose polygons touch. */
static void a_stack_of_two_boxes_lands_and_slides(void** unused) {
  (void)unused;
  const double small[] = {-0.25, -0.25, 0.25, -0.25, 0.25, 0.25, -0.25, 0.25};
  plane_scene scene = plane_begin(0.5, 0.2);
  add_polygon(&scene, plane_add_body(&scene, 1.0, 1.0 / 6.0), unit_square, 4);
  add_polygon(&scene, plane_add_body(&scene, 0.25, 0.25 / 24.0), small, 4);
  add_ground(&scene);
  const double q[6] = {0, 0.6, 0, 0.1, 1.5, 0}, v[6] = {0.3, 0, 0, 0.3, 0, 0};
  motion* m = run(&scene, q, v, 1.5, 1e-8);
  assert_int_equal(m->status, SALTUS_OK);
  assert_near(m->q[1], 0.5, 1e-7);
  assert_near(m->q[4], 1.25, 1e-7);
  assert_near(m->q[2], 0.0, 1e-7);
  assert_near(m->q[5], 0.0, 1e-7);
  for (int i = 0; i < 6; i++) {
    assert_near(m->v[i], 0.0, 1e-7);
  }
  free(m);
  plane_end(&scene);
}

/* Equal boxes, one on the other, edges aligned: corners on corners, which are one place. */
static void aligned_boxes_stay_on_each_other(void** unused) {
  (void)unused;
  plane_scene scene = plane_begin(0.5, 0.0);
  add_polygon(&scene, plane_add_body(&scene, 1.0, 1.0 / 6.0), unit_square, 4);
  add_polygon(&scene, plane_add_body(&scene, 1.0, 1.0 / 6.0), unit_square, 4);
  add_ground(&scene);
  const double q[6] = {0, 0.5, 0, 0, 1.5, 0}, v[6] = {1.0, 0, 0, 1.0, 0, 0};
  motion* m = run(&scene, q, v, 1.0, 1e-9);
  assert_int_equal(m->status, SALTUS_OK);
  const double way = 1.0 / (2.0 * 0.5 * 9.81);
  assert_near(m->q[0], way, 1e-8);
  assert_near(m->q[3], way, 1e-8);
  assert_near(m->q[4], 1.5, 1e-8);
  assert_near(m->q[5], 0.0, 1e-8);
  free(m);
  plane_end(&scene);
}

/* A block whose centre is beyond the edge of the table tips over it with friction; energy and the pivot say how: without
 * slip at first, it turns about the corner. */
static void a_block_tips_over_the_edge(void** unused) {
  (void)unused;
  const double table[] = {-5, -4, 0, -4, 0, 0, -5, 0};
  const double block[] = {-0.5, -0.25, 0.5, -0.25, 0.5, 0.25, -0.5, 0.25};
  plane_scene scene = plane_begin(0.9, 0.0);
  add_polygon(&scene, plane_add_body(&scene, 1.0, 1.25 / 12.0), block, 4);
  add_polygon(&scene, -1, table, 4);
  const double q[3] = {0.1, 0.25, 0.0}, v[3] = {0, 0, 0};
  motion* m = run(&scene, q, v, 0.2, 1e-9);
  assert_int_equal(m->status, SALTUS_OK);
  /* about the corner: I = J + m (0.1^2 + 0.25^2), w^2 = 2 m g (drop of the centre) / I */
  const double inertia = 1.25 / 12.0 + 0.01 + 0.0625, phi = m->q[2];
  const double height = 0.1 * sin(phi) + 0.25 * cos(phi);
  assert_near(m->q[1], height, 1e-8);
  assert_near(m->q[0], 0.1 * cos(phi) - 0.25 * sin(phi), 1e-8);
  assert_near(m->v[2] * m->v[2], 2.0 * 9.81 * (0.25 - height) / inertia, 1e-7);
  assert_true(phi < -0.05);
  free(m);
  plane_end(&scene);
}

/* Polygons fall into a box and on each other: none penetrates another by more than the tolerance. */
static void polygons_in_a_box_do_not_penetrate(void** unused) {
  (void)unused;
  uint64_t state = 3;
  const double walls[] = {-1.5, 4, -1.5, 0, 1.5, 0, 1.5, 4};
  for (int draw = 0; draw < 4; draw++) {
    const double tol = 1e-6;
    plane_scene scene = plane_begin(draw % 2 == 0 ? 0.4 : 0.0, 0.3);
    const int n = 4;
    double q[12], v[12];
    for (int b = 0; b < n; b++) {
      double points[14];
      const int corners = 3 + (int)(4.0 * saltus_test_random(&state));
      double area = 0.0, second = 0.0;
      for (int k = 0; k < corners; k++) {
        const double angle = 6.283185307179586 * k / corners;
        points[2 * k] = 0.3 * cos(angle);
        points[2 * k + 1] = 0.3 * sin(angle);
      }
      const double s = sin(3.141592653589793 / corners);
      area = 0.5 * corners * 0.09 * sin(6.283185307179586 / corners);
      second = 0.5 * 0.09 * (1.0 - 2.0 / 3.0 * s * s);
      add_polygon(&scene, plane_add_body(&scene, 10.0 * area, 10.0 * area * second), points,
                  corners);
      q[3 * b] = 0.3 * (saltus_test_random(&state) - 0.5);
      q[3 * b + 1] = 0.5 + 0.8 * b;
      q[3 * b + 2] = 6.28 * saltus_test_random(&state);
      v[3 * b] = v[3 * b + 1] = 0.0;
      v[3 * b + 2] = 2.0 * (saltus_test_random(&state) - 0.5);
    }
    const saltus_shape_def chain = {
        .name = "box", .kind = SALTUS_SHAPE_CHAIN, .points = walls, .point_count = 4};
    plane_add_shape(&scene, -1, &chain);
    motion* m = run(&scene, q, v, 1.5, tol);
    assert_int_equal(m->status, SALTUS_OK);
    for (int i = 0; i < scene.shapes; i++) {
      for (int j = i + 1; j < scene.shapes; j++) {
        saltusi_body_pose c[2];
        const int s[2] = {i, j};
        for (int k = 0; k < 2; k++) {
          const int b = scene.body[s[k]];
          const double* x = b < 0 ? (const double[3]){0, 0, 0} : &m->q[3 * b];
          c[k] = (saltusi_body_pose){
              .x = {x[0], x[1], 0},
              .R = {cos(x[2]), -sin(x[2]), 0, sin(x[2]), cos(x[2]), 0, 0, 0, 1}};
        }
        saltusi_separation apart;
        saltusi_shape_separation(&scene.shape[i], &c[0], &scene.shape[j], &c[1], &apart);
        assert_true(apart.distance > -10.0 * tol);
      }
    }
    free(m);
    plane_end(&scene);
  }
}

/* A rod that spins and flies past a ball, in steps of several turns: distance by a formula, advanced by distance over
 * speed, which passes no contact. */
static double rod_to_ball(const double* q, const double* v, double t) {
  const double x = q[0] + v[0] * t, y = q[1] + v[1] * t, phi = q[2] + v[2] * t;
  const double s = fmax(-1.0, fmin(1.0, -x * cos(phi) - y * sin(phi)));
  return hypot(x + s * cos(phi), y + s * sin(phi)) - 0.06;
}

static void a_spinning_rod_never_passes_through_a_ball(void** unused) {
  (void)unused;
  uint64_t state = 17;
  int hits = 0, misses = 0;
  for (int draw = 0; draw < 60; draw++) {
    plane_scene scene = plane_begin(0.0, 1.0);
    scene.gravity[1] = 0.0;
    scene.enclosed = true;
    const saltus_shape_def rod = {
        .name = "rod", .kind = SALTUS_SHAPE_CAPSULE, .radius = 0.01, .length = 2.0};
    const saltus_shape_def ball = {.name = "ball", .kind = SALTUS_SHAPE_CIRCLE, .radius = 0.05};
    plane_add_shape(&scene, plane_add_body(&scene, 1.0, 0.4), &rod);
    plane_add_shape(&scene, -1, &ball);
    const double spin = 5.0 + 95.0 * saltus_test_random(&state);
    const double q[3] = {-4.0, 2.4 * (saltus_test_random(&state) - 0.5),
                         6.28 * saltus_test_random(&state)};
    const double v[3] = {4.0 + 16.0 * saltus_test_random(&state), 0.0, spin};
    const double t_end = 8.0 / v[0], speed = v[0] + spin;
    double t = 0.0, gap = rod_to_ball(q, v, 0.0);
    while (t < t_end && gap > 1e-10) { /* no contact before t + gap / speed */
      t += gap / speed;
      gap = rod_to_ball(q, v, t);
    }
    motion* m = run(&scene, q, v, t_end, 1e-6);
    assert_int_equal(m->status, SALTUS_OK);
    if (t < t_end) {
      hits++;
      assert_true(m->count > 0);
      assert_near(m->event[0].t, t, 1e-6);
    } else {
      misses++;
      assert_int_equal(m->count, 0);
    }
    free(m);
    plane_end(&scene);
  }
  assert_true(hits > 10 && misses > 3);
}

/* A run whose scheme is thrown away and made anew from its bytes after every step has the same bits. */
static void a_run_from_snapshots_is_the_same(void** unused) {
  (void)unused;
  plane_scene scene = plane_begin(0.4, 0.3);
  const double table[] = {-5, -2, 0.6, -2, 0.6, 0, -5, 0};
  add_polygon(&scene, plane_add_body(&scene, 1.0, 1.0 / 6.0), unit_square, 4);
  add_polygon(&scene, -1, table, 4);
  const double q[3] = {0.0, 1.183, 0.5}, v[3] = {0.9, 0, 0};
  motion* m = run(&scene, q, v, 1.2, 1e-7);
  assert_int_equal(m->status, SALTUS_OK);
  saltus_system_ops ops;
  const saltus_system sys = plane_system(&scene, &ops);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = 1e-7;
  const saltus_scheme_def def = {.scheme = "adaptive", .options = &options, .system = &sys};
  double q1[3], v1[3];
  memcpy(q1, q, sizeof q1);
  memcpy(v1, v, sizeof v1);
  saltus_state x = {0.0, q1, v1};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  int events = 0;
  while (x.t < 1.2) {
    saltus_step_report report;
    assert_int_equal(saltus_scheme_step(scheme, 1.2 - x.t, &x, &report), SALTUS_OK);
    events += report.event_count;
    const size_t size = saltus_scheme_memory_bytes(scheme);
    void* bytes = malloc(size + 1);
    saltus_scheme_memory_save(scheme, bytes);
    saltus_scheme_destroy(scheme);
    assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
    assert_int_equal(saltus_scheme_memory_load(scheme, bytes, size), SALTUS_OK);
    free(bytes);
  }
  saltus_scheme_destroy(scheme);
  assert_int_equal(events, m->count);
  assert_memory_equal(q1, m->q, sizeof q1);
  assert_memory_equal(v1, m->v, sizeof v1);
  free(m);
  plane_end(&scene);
}

/* A box that stands on its edge and rocks between its corners (Housner): e = 0 keeps at each impact the part
 * 1 - 3/2 sin^2 a of the spin, a the angle of its diagonal. */
static void a_rocking_box_loses_what_it_has_to(void** unused) {
  (void)unused;
  const double b = 0.2, h = 1.0; /* half sizes */
  const double points[] = {-b, -h, b, -h, b, h, -b, h};
  plane_scene scene = plane_begin(2.0, 0.0);
  add_polygon(&scene, plane_add_body(&scene, 1.0, (b * b + h * h) / 3.0), points, 4);
  const double ground[] = {-3, 0, 3, 0};
  const saltus_shape_def floor_of = {
      .name = "floor", .kind = SALTUS_SHAPE_SEGMENT, .points = ground, .point_count = 2};
  plane_add_shape(&scene, -1, &floor_of);
  /* leans by 0.1 on its right corner, at rest */
  const double tilt = -0.1, c = cos(tilt), s = sin(tilt);
  const double q[3] = {-(c * b + s * h), c * h - s * b, tilt}, v[3] = {0, 0, 0};
  motion* m = run(&scene, q, v, 2.0, 1e-9);
  assert_int_equal(m->status, SALTUS_OK);
  const double r = hypot(b, h), a = atan2(b, h), part = 1.0 - 1.5 * sin(a) * sin(a);
  /* spin when it lies flat: I w^2 / 2 = m g (height at the start - h), I = 4/3 m r^2 */
  double spin = sqrt(2.0 * 9.81 * (q[1] - h) / (4.0 / 3.0 * r * r));
  const int first = nth(m, SALTUS_EVENT_IMPACT, 0);
  assert_true(first >= 0);
  assert_near(fabs(m->after[first][2]), part * spin, 1e-8);
  int next = first;
  while (next < m->count && m->event[next].t < m->event[first].t + 1e-3) {
    next++;
  }
  while (next < m->count && m->event[next].kind != SALTUS_EVENT_IMPACT) {
    next++;
  }
  assert_true(next < m->count);
  assert_near(fabs(m->after[next][2]), part * part * spin, 1e-8);
  free(m);
  plane_end(&scene);
}

/* Time to fall flat from rest at a tilt: th'^2 = 2 p^2 (cos(a - start) - cos(a - th)), th = start (1 - s^2), Simpson. */
static double quarter_period(double p, double a, double start) {
  enum { PARTS = 200 };
  double sum = 0.0;
  for (int i = 0; i <= PARTS; i++) {
    const double s = (double)i / PARTS, angle = 0.5 * start * s * s;
    const double bend = s > 0.0 ? sin(angle) / (s * s) : 0.5 * start;
    const double weight = i == 0 || i == PARTS ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
    sum += weight * start / (p * sqrt(sin(a - start + angle) * bend));
  }
  return sum / (3.0 * PARTS);
}

/* A block of b x h that starts at half the angle of its diagonal: all quarters of all swings. */
static double rocking_time(double b, double h) {
  enum { SWINGS = 500, SOLVED = 100 };
  const double a = atan2(b, h), part = 1.0 - 1.5 * sin(a) * sin(a);
  const double p = sqrt(0.75 * 9.81 / (0.5 * hypot(b, h)));
  double tilt = 0.5 * a, height = 2.0 * sin(a - 0.5 * tilt) * sin(0.5 * tilt); /* in R */
  double sum = quarter_period(p, a, tilt);
  for (int k = 0; k < SWINGS; k++) {
    height *= part * part;
    for (int i = 0; i < SOLVED; i++) {
      tilt = 2.0 * asin(0.5 * height / sin(a - 0.5 * tilt));
    }
    sum += 2.0 * quarter_period(p, a, tilt);
  }
  return sum;
}

/* e = 0: the spin falls by a constant part from corner to corner, and after infinitely many impacts it lies flat. Slip
 * never begins: friction of 10 would jam a block that is left sliding by rounding or by what closing takes away. */
static void rocking_ends_at_rest(void** unused) {
  (void)unused;
  const double sizes[4][2] = {{0.2, 0.6}, {0.4, 1.2}, {0.5, 1.0}, {1.0, 2.0}};
  const double box[] = {-4, -1, 4, -1, 4, 0, -4, 0};
  for (int k = 0; k < 20; k++) {
    const double b = sizes[k % 4][0], h = sizes[k % 4][1], tol = pow(10.0, -6 - k / 4);
    const double points[] = {-b / 2, -h / 2, b / 2, -h / 2, b / 2, h / 2, -b / 2, h / 2};
    plane_scene scene = plane_begin(10.0, 0.0);
    add_polygon(&scene, plane_add_body(&scene, 1.0, (b * b + h * h) / 12.0), points, 4);
    if (k % 8 < 4) {
      add_ground(&scene);
    } else {
      add_polygon(&scene, -1, box, 4);
    }
    const double th = 0.5 * atan2(b, h), c = cos(th), s = sin(th), rest = rocking_time(b, h);
    const double q[3] = {b / 2 * c - h / 2 * s, b / 2 * s + h / 2 * c, th}, v[3] = {0, 0, 0};
    motion* m = run(&scene, q, v, rest + 1.0, tol);
    assert_int_equal(m->status, SALTUS_OK);
    assert_near(m->event[m->count - 1].t, rest, 10.0 * tol);
    int closed = 1; /* the left corner, at the start */
    for (int i = 0; i < m->count; i++) {
      closed += m->event[i].kind == SALTUS_EVENT_CLOSE;
      closed -= m->event[i].kind == SALTUS_EVENT_OPEN;
      assert_true(m->event[i].kind != SALTUS_EVENT_SLIP);
    }
    assert_int_equal(closed, 2);
    const double flat[3] = {b / 2, h / 2, 0.0};
    for (int i = 0; i < 3; i++) {
      assert_near(m->q[i], flat[i], 10.0 * tol);
      assert_near(m->v[i], 0.0, 1e-20); /* nothing moves any more */
    }
    free(m);
    plane_end(&scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_square_on_its_corner_comes_to_rest_where_it_should),
      cmocka_unit_test(a_pentagon_rolls_down),
      cmocka_unit_test(a_disc_settles_in_a_groove),
      cmocka_unit_test(a_disc_in_a_polygon_loses_speed_at_each_corner),
      cmocka_unit_test(a_block_slides_off_a_table),
      cmocka_unit_test(joints_of_the_ground_are_not_felt),
      cmocka_unit_test(a_disc_rolls_over_arcs),
      cmocka_unit_test(a_stack_of_two_boxes_lands_and_slides),
      cmocka_unit_test(aligned_boxes_stay_on_each_other),
      cmocka_unit_test(a_block_tips_over_the_edge),
      cmocka_unit_test(polygons_in_a_box_do_not_penetrate),
      cmocka_unit_test(a_spinning_rod_never_passes_through_a_ball),
      cmocka_unit_test(a_run_from_snapshots_is_the_same),
      cmocka_unit_test(a_rocking_box_loses_what_it_has_to),
      cmocka_unit_test(rocking_ends_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
