/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_elements.c - machine elements: gaps against geometry, rows against velocities of the two points that
 * touch, G and c against differences at random states, and what is refused.
 */
#include "scene_runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 24, DRAWS = 40 };

#define PLANE                                                                                      \
  "saltus: 1\n"                                                                                    \
  "world: {dimension: 2, gravity: [0, 0]}\n"                                                       \
  "bodies:\n"                                                                                      \
  "  one: {mass: 1, inertia: 0.2, position: [0.3, -0.2], angle: 0.4}\n"                            \
  "  two: {mass: 2, inertia: 0.3, position: [2.1, 1.7], angle: -0.7}\n"                            \
  "markers:\n"                                                                                     \
  "  a: {body: one, point: [0.11, -0.07], angle: 0.3}\n"                                           \
  "  b: {body: two, point: [-0.13, 0.05], angle: -0.2}\n"                                          \
  "simulate: {until: 1, start_tolerance: 100}\n"                                                   \
  "elements:\n"

#define SPACE                                                                                      \
  "saltus: 1\nworld: {dimension: 3}\nbodies:\n"                                                    \
  "  one: {mass: 1, inertia: [0.2, 0.3, 0.4], position: [0.3, -0.2, 0]}\n"                         \
  "  two: {mass: 2, inertia: [0.3, 0.4, 0.5], position: [1.1, 0.7, 3]}\n"                          \
  "markers: {a: {body: one, point: [0.1, 0.2, 0], orientation: {rpy: [0.4, 0.2, 3]}}, b: {body: "  \
  "two, point: [0.2, 0, 0.1], orientation: {rpy: [1, 0.5, 0]}}}\n"                                 \
  "simulate: {until: 1, start_tolerance: 100}\nelements:\n"

#define ARCS                                                                                       \
  "profile: {arcs: [{centre: [0, 0], radius: 0.4, from: -pi/2}, "                                  \
  "{centre: [0, -0.45], radius: 0.85, from: pi/2}, "                                               \
  "{centre: [k*cos(8*pi/9), k*sin(8*pi/9)], radius: 0.15, from: f}, "                              \
  "{centre: [0, 0], radius: k + 0.15, from: 8*pi/9}, "                                             \
  "{centre: [k*cos(10*pi/9), k*sin(10*pi/9)], radius: 0.15, from: 10*pi/9}, "                      \
  "{centre: [0, 0.45], radius: 0.85, from: 2*pi - f}]}}\n"                                         \
  "parameters: {k: 0.403933207238214142, f: \"atan2(k*sin(8*pi/9) + 0.45, k*cos(8*pi/9))\"}\n"
#define SPLINE                                                                                     \
  "profile: {points: [[-1, 0.5], [0, 0.55], [0.7, 0.6], [2, 0.58], [3, 0.5], [4.2, 0.47]]}}\n"
#define FORMULA "profile: {formula: 0.5 + 0.05*cos(2*beta), slope: -0.1*sin(2*beta)}}\n"

/* How the second touches the first: a point and a radius, corners, or a face. */
typedef enum touch { POINT, CORNERS, FACE } touch;

typedef struct element_case {
  const char* text;
  touch touch;
  double radius; /* of the disc about the second marker; negative: it touches from inside */
} element_case;

static const element_case cases[] = {
    {PLANE
     "  - {name: e, type: journal, between: [a, b], clearance: 5, radius: 0.3, friction: 0.2}\n",
     POINT, -0.3},
    {PLANE "  - {name: e, type: stop, between: [a, b], friction: 0.2}\n", POINT, 0.0},
    {PLANE "  - {name: e, type: stop, between: [a, b], radius: 0.07, friction: 0.2}\n", POINT,
     0.07},
    {PLANE "  - {name: e, type: wheel, between: [a, b], radius: 0.25, friction: 0.2}\n", POINT,
     0.25},
    {PLANE
     "  - {name: e, type: spring-contact, between: [a, b], preload: 3, stiffness: 20, friction: "
     "0.2}\n",
     POINT, 0.0},
    {PLANE "  - {name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, clearance: 5, "
           "friction: 0.1}\n",
     CORNERS, 0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, " ARCS, POINT, 0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
           "0.06, " ARCS,
     POINT, 0.06},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: flat, " ARCS, FACE,
     0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, " SPLINE, POINT, 0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
           "0.06, " SPLINE,
     POINT, 0.06},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: flat, " SPLINE, FACE,
     0.0},
    {PLANE
     "  - {name: e, type: ratchet, between: [a, b], teeth: 7, radii: [0.8, 1.1], radius: 0.05, "
     "friction: 0.2}\n",
     POINT, 0.05},
    {PLANE
     "  - {name: e, type: ratchet, between: [a, b], teeth: -12, radii: [0.9, 1], radius: 0.02, "
     "friction: 0.2}\n",
     POINT, 0.02},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, " FORMULA, POINT, 0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: flat, " FORMULA,
     FACE, 0.0},
    {PLANE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
           "0.06, " FORMULA,
     POINT, 0.06},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* A system at a state, with the rows of one contact. */
typedef struct state {
  const saltus_scene_view* view;
  double q[MOST], v[MOST];
  double gap[MOST];
  double G[3 * MOST], b[3], c[3];
  void* scratch;
} state;

static void look(state* s, int contact) {
  const saltus_system* sys = s->view->system;
  const saltus_point at = {.t = 0.0, .q = s->q, .v = s->v, .scratch = s->scratch};
  saltus_contact_list list = {.count = sys->dims.nc, .capacity = sys->dims.nc, .gap = s->gap};
  saltus_rows rows = {.count = 1 + sys->laws[contact].tangents,
                      .width = sys->dims.nv,
                      .stride = sys->dims.nv,
                      .G = s->G,
                      .b = s->b,
                      .c = s->c};
  memset(s->G, 0, sizeof s->G);
  memset(s->b, 0, sizeof s->b);
  memset(s->c, 0, sizeof s->c);
  assert_int_equal(sys->ops->contacts(sys->self, &at, &list), SALTUS_OK);
  sys->ops->contact(sys->self, &at, (uint64_t)contact, &rows);
}

static double times(const double* row, const double* v, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += row[i] * v[i];
  }
  return sum;
}

/* Random poses of the two bodies about the start, and velocities. */
static void scatter(state* s, uint64_t* seed) {
  const int n = s->view->system->dims.nv;
  for (int i = 0; i < n; i++) {
    s->q[i] = s->view->q0[i] + 2.0 * saltus_test_random(seed) - 1.0;
    s->v[i] = 4.0 * saltus_test_random(seed) - 2.0;
  }
}

/* As they start, with any attitude and velocities. */
static void scatter_in_space(state* s, uint64_t* seed) {
  const saltus_dims* d = &s->view->system->dims;
  memcpy(s->q, s->view->q0, (size_t)d->nq * sizeof s->q[0]);
  for (int i = 0; i < d->nv; i++) {
    s->v[i] = 4.0 * saltus_test_random(seed) - 2.0;
  }
  for (int k = 0; k < d->nq / 7; k++) {
    double* q = s->q + 7 * k + 3;
    double size = 0.0;
    for (int i = 0; i < 4; i++) {
      q[i] = 2.0 * saltus_test_random(seed) - 1.0;
      size += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) {
      q[i] /= sqrt(size);
    }
  }
}

/* Moves the bodies along the normal until the contact is closed. */
static bool close_contact(state* s, int contact) {
  const int n = s->view->system->dims.nv;
  for (int k = 0; k < 60; k++) {
    look(s, contact);
    const double size = times(s->G, s->G, n);
    for (int i = 0; i < n; i++) {
      s->q[i] -= s->gap[contact] * s->G[i] / size;
    }
  }
  look(s, contact);
  bool outside = true; /* of the other teeth of a ratchet */
  for (int i = 0; i < s->view->system->dims.nc; i++) {
    outside = outside && s->gap[i] > -1e-12;
  }
  return outside && fabs(s->gap[contact]) < 1e-13;
}

/* Velocity of the body of a marker at a point of the world. */
static void velocity_at(const state* s, const char* marker, const double p[2], double out[2]) {
  const saltus_mechanism* m = s->view->mechanism;
  const saltus_marker_place place =
      saltus_mechanism_marker(m, saltus_mechanism_find_marker(m, marker));
  const int first = saltus_mechanism_body(m, place.body).v;
  const double* v = s->v + first;
  out[0] = v[0] - v[2] * (p[1] - s->q[first + 1]);
  out[1] = v[1] + v[2] * (p[0] - s->q[first]);
}

static void frame_of(const state* s, const char* marker, double p[3], double axes[9]) {
  const saltus_mechanism* m = s->view->mechanism;
  saltus_mechanism_frame(m, saltus_mechanism_find_marker(m, marker), 0.0, s->q, p, axes);
}

/* Where it touches, by the marker and the normal that the row says: G has -n and n for the two bodies. */
static void touching_point(const state* s, const element_case* of, int contact, const double n[2],
                           double p[2]) {
  double at[3], axes[9];
  frame_of(s, "b", at, axes);
  if (of->touch == CORNERS) {
    const double x = contact % 2 == 0 ? -0.2 : 0.2, y = contact < 2 ? 0.1 : -0.1;
    p[0] = at[0] + axes[0] * x + axes[1] * y;
    p[1] = at[1] + axes[3] * x + axes[4] * y;
    return;
  }
  p[0] = at[0] - fabs(of->radius) * n[0];
  p[1] = at[1] - fabs(of->radius) * n[1];
  if (of->touch == FACE) {         /* on the face, where the lever of the normal about `one` says */
    const double lever = -s->G[2]; /* (p - x_one) x n */
    const double d[2] = {at[0] - s->q[0], at[1] - s->q[1]};
    const double shift = lever - (d[0] * n[1] - d[1] * n[0]);
    p[0] += shift * n[1];
    p[1] -= shift * n[0];
  }
}

static void closed_rows_are_those_of_the_two_points(void** unused) {
  (void)unused;
  uint64_t seed = 3;
  for (int k = 0; k < CASES; k++) {
    saltus_scene* scene = scene_open_text(cases[k].text);
    state s = {.view = saltus_scene_look(scene)};
    s.scratch = malloc(s.view->system->dims.scratch + 1);
    int closed = 0;
    for (int draw = 0; draw < 60; draw++) {
      const int contact = draw % s.view->system->dims.nc;
      scatter(&s, &seed);
      if (!close_contact(&s, contact)) {
        continue; /* on the far side of a curve: Newton's steps do not end there */
      }
      closed++;
      const double n[2] = {s.G[3], s.G[4]};
      /* a unit normal, opposite on both bodies */
      assert_near(hypot(n[0], n[1]), 1.0, 1e-11);
      assert_near(s.G[0] + n[0], 0.0, 1e-11);
      assert_near(s.G[1] + n[1], 0.0, 1e-11);
      double p[2], va[2], vb[2];
      touching_point(&s, &cases[k], contact, n, p);
      velocity_at(&s, "a", p, va);
      velocity_at(&s, "b", p, vb);
      const double u[2] = {vb[0] - va[0], vb[1] - va[1]};
      assert_near(times(s.G, s.v, 6) + s.b[0], u[0] * n[0] + u[1] * n[1], 1e-10);
      assert_near(fabs(times(s.G + 6, s.v, 6) + s.b[1]), fabs(u[0] * n[1] - u[1] * n[0]), 1e-10);
    }
    assert_true(closed > 15);
    free(s.scratch);
    saltus_scene_destroy(scene);
  }
}

static void rows_and_convective_parts_agree_with_differences(void** unused) {
  (void)unused;
  static const char* const others[] = {
      PLANE "  - {name: e, type: rope, between: [a, b], length: 6}\n",
      PLANE "  - {name: e, type: latch, between: [a, b], radius: 0.1, while: held}\n"
            "inputs: {held: 1}\n",
      PLANE "  - {name: e, type: rolling, between: [c, b], radius: 0.5}\n"
            "joints: [{name: j, type: revolute, between: [b, a]}]\n",
      PLANE "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 0.3], backlash: 0.01}\n"
            "joints: [{name: i, type: revolute, between: [c, a]}, {name: j, type: revolute, "
            "between: [c, b]}]\n",
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  fixed: {fixed: true, position: [0.1, 0.2, 0.3]}\n"
      "  two: {mass: 2, inertia: [0.3, 0.4, 0.5], position: [1.1, 0.7, 3]}\n"
      "markers: {a: {body: fixed, orientation: {rpy: [1, 2, 3]}}, b: {body: two, point: [0.2, 0, "
      "0.1]}}\nsimulate: {until: 1, start_tolerance: 100}\nelements:\n"
      "  - {name: e, type: rolling, between: [a, b], radius: 0.5}\n",
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  one: {mass: 1, inertia: [0.2, 0.3, 0.4], position: [0.3, -0.2, 0]}\n"
      "  two: {mass: 2, inertia: [0.3, 0.4, 0.5], position: [1.1, 0.7, 3]}\n"
      "markers: {a: {body: one, point: [0.1, 0.2, 0], orientation: {rpy: [1, 2, 3]}}, b: {body: "
      "two, "
      "point: [0.2, 0, 0.1]}}\nsimulate: {until: 1, start_tolerance: 100}\nelements:\n"
      "  - {name: e, type: rope, between: [a, b], length: 6}\n"
      "  - {name: f, type: stop, between: [a, b], friction: 0.4}\n"
      "  - {name: g, type: journal, between: [a, b], clearance: 5, radius: 0.2, friction: 0.1}\n"
      "  - {name: i, type: latch, between: [a, b], while: held}\n"
      "  - {name: j, type: spring-contact, between: [a, b], preload: 3, stiffness: 20}\n"
      "inputs: {held: 1}\n",
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  one: {mass: 1, inertia: [0.2, 0.3, 0.4], position: [0.3, -0.2, 0]}\n"
      "  two: {mass: 2, inertia: [0.3, 0.4, 0.5], position: [1.1, 0.7, 3]}\n"
      "  turns: {driven: {rpy: [t, 2*t, 0.3], x: 0.2*t}}\n"
      "markers: {a: {body: one, point: [0.1, 0.2, 0], orientation: {rpy: [1, 2, 3]}}, b: {body: "
      "two, point: [0.2, 0, 0.1]}, d: {body: turns}}\n"
      "simulate: {until: 1, start_tolerance: 100}\nelements:\n"
      "  - {name: e, type: rolling-wheel, between: [a, b], radius: 0.5}\n"
      "  - {name: f, type: stop, between: [d, a], radius: 0.1, friction: 0.4}\n"
      "  - {name: g, type: wheel, between: [d, b], radius: 0.2, friction: 0.1}\n",
      SPACE "  - {name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, height: 0.1, "
            "clearance: 5, friction: 0.1}\n",
      SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
            "0.06, " ARCS,
      SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, " SPLINE,
      SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
            "0.06, " FORMULA,
      SPACE "  - {name: e, type: ratchet, between: [a, b], teeth: 7, radii: [0.8, 1.1], radius: "
            "0.05, friction: 0.2}\n"};
  uint64_t seed = 5;
  for (size_t k = 0; k < CASES + sizeof others / sizeof others[0]; k++) {
    char text[4000];
    snprintf(text, sizeof text, "%s", k < CASES ? cases[k].text : others[k - CASES]);
    char* ground = strstr(text, "[c, ");
    saltus_scene* scene;
    if (ground != NULL) { /* a marker on the ground */
      char more[4096];
      char* markers = strstr(text, "markers:\n");
      const int head = (int)(markers - text) + 9;
      snprintf(more, sizeof more, "%.*s  c: {point: [1, 0.2], angle: 0.1}\n%s", head, text,
               text + head);
      scene = scene_open_text(more);
    } else {
      scene = scene_open_text(text);
    }
    state s = {.view = saltus_scene_look(scene)};
    const bool space = s.view->system->dims.nq > s.view->system->dims.nv;
    int agree = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
      scatter(&s, &seed);
      if (space) {
        scatter_in_space(&s, &seed);
        s.q[0] += saltus_test_random(&seed);
        s.q[s.view->system->dims.nq - 5] += saltus_test_random(&seed);
      }
      saltus_system_check_result result;
      assert_int_equal(saltus_system_check(s.view->system, 0.0, s.q, s.v, (saltus_log){0}, &result),
                       SALTUS_OK);
      agree += result.normal_G < 1e-7 && result.normal_b < 1e-7 && result.convective_c < 1e-6;
    }
    /* differences across the border of two pieces of a profile see both: few draws do that */
    const bool pieces = strstr(text, "arcs") != NULL || strstr(text, "ratchet") != NULL ||
                        strstr(text, "points") != NULL;
    if (agree < (pieces ? DRAWS * 8 / 10 : DRAWS)) {
      fail_msg("%d of %d draws agree: %s", agree, (int)DRAWS, text);
    }
    saltus_scene_destroy(scene);
  }
}

/* The gap of a journal is c - d where it matters, and has no hole where d = 0. */
static void a_centred_journal_is_an_ordinary_state(void** unused) {
  (void)unused;
  saltus_scene* scene = scene_open_text(cases[0].text);
  state s = {.view = saltus_scene_look(scene)};
  s.scratch = malloc(s.view->system->dims.scratch + 1);
  memcpy(s.q, s.view->q0, 6 * sizeof s.q[0]);
  for (int k = 0; k <= 8; k++) {
    const double d = 0.625 * k; /* clearance 5 */
    double a[3], b[3], axes[9];
    frame_of(&s, "a", a, axes);
    frame_of(&s, "b", b, axes);
    s.q[3] += a[0] + d * cos(0.3) - b[0];
    s.q[4] += a[1] + d * sin(0.3) - b[1];
    look(&s, 0);
    assert_near(s.gap[0], (5.0 - d) * (5.0 + d) / 10.0, 1e-14);
    for (int i = 0; i < 6; i++) {
      assert_true(isfinite(s.G[i]) && isfinite(s.G[6 + i]));
    }
    assert_near(hypot(s.G[3], s.G[4]), d / 5.0, 1e-13);
  }
  free(s.scratch);
  saltus_scene_destroy(scene);
}

/* ---- ratchets ---- */

static double from_segment(const double p[2], const double a[2], const double b[2]) {
  const double d[2] = {b[0] - a[0], b[1] - a[1]}, r[2] = {p[0] - a[0], p[1] - a[1]};
  const double along = (r[0] * d[0] + r[1] * d[1]) / (d[0] * d[0] + d[1] * d[1]);
  const double t = fmax(0.0, fmin(1.0, along));
  return hypot(r[0] - t * d[0], r[1] - t * d[1]);
}

/* The least gap of all teeth is the distance from the polygon of the wheel, wherever the nose is outside and near. */
static void teeth_of_a_ratchet_are_a_polygon(void** unused) {
  (void)unused;
  uint64_t seed = 17;
  for (int k = 0; k < 2; k++) {
    const int n = k == 0 ? 7 : 12;
    const double root = k == 0 ? 0.8 : 0.9, tip = k == 0 ? 1.1 : 1.0, R = k == 0 ? 0.05 : 0.02;
    const char* first = k == 0 ? "teeth: 7," : "teeth: -12,";
    const element_case* of = cases;
    while (strstr(of->text, first) == NULL) {
      of++;
    }
    saltus_scene* scene = scene_open_text(of->text);
    state s = {.view = saltus_scene_look(scene)};
    s.scratch = malloc(s.view->system->dims.scratch + 1);
    int outside = 0, touching = 0;
    for (int draw = 0; draw < 4000; draw++) {
      double at[3], axes[9], b[3], other[9];
      scatter(&s, &seed);
      frame_of(&s, "a", at, axes);
      frame_of(&s, "b", b, other);
      const double r = root + 0.4 * saltus_test_random(&seed);
      const double beta = 6.283185307179586 * saltus_test_random(&seed);
      const double p[2] = {r * cos(beta), r * sin(beta)};
      s.q[3] += at[0] + axes[0] * p[0] + axes[1] * p[1] - b[0];
      s.q[4] += at[1] + axes[3] * p[0] + axes[4] * p[1] - b[1];
      double distance = 10.0;
      bool inside = false; /* rays from p cross the polygon an odd number of times */
      for (int i = 0; i < 2 * n; i++) {
        double corner[2][2];
        for (int j = 0; j < 2; j++) { /* root and tip of a flank, root of the next, ... */
          const double turn = (k == 0 ? 1 : -1) * 6.283185307179586 * ((i + j) / 2) / n;
          const double size = (i + j) % 2 == 0 ? root : tip;
          corner[j][0] = size * cos(turn);
          corner[j][1] = size * sin(turn);
        }
        distance = fmin(distance, from_segment(p, corner[0], corner[1]));
        if ((corner[0][1] > p[1]) != (corner[1][1] > p[1])) {
          const double x = corner[0][0] + (p[1] - corner[0][1]) / (corner[1][1] - corner[0][1]) *
                                              (corner[1][0] - corner[0][0]);
          inside = p[0] < x ? !inside : inside;
        }
      }
      look(&s, 0);
      double least = 10.0;
      for (int i = 0; i < n; i++) {
        least = fmin(least, s.gap[i]);
      }
      if (inside) {
        assert_true(least < 0.0);
      } else if (distance < 2.0 * R) {
        assert_near(least, distance - R, 1e-13);
        touching++;
      } else {
        assert_true(least > 0.0);
      }
      outside += !inside;
    }
    assert_true(outside > 1000 && touching > 200);
    free(s.scratch);
    saltus_scene_destroy(scene);
  }
}

/* ---- motion ---- */

static scene_outcome simulate(const saltus_scene_view* view, const char* scheme, double amount) {
  return scene_run(view, scheme, amount, 0.4);
}

typedef struct bounds {
  double steps[2]; /* of moreau-jean */
  double near;     /* how far it may be off with the smaller one */
  double spare;    /* two steps at 1 m/s: where an impact falls within a step is chance */
} bounds;

/* What every element has to do: impacts, no energy out of nothing, a closed ledger, and a capturing scheme that converges to
 * what `adaptive` gives. */
static void judge_motion(const char* text, const bounds* of) {
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_look(scene);
  const int n = view->system->dims.nq;
  const scene_outcome fine = simulate(view, "adaptive", 1e-9);
  const scene_outcome coarse = simulate(view, "moreau-jean", of->steps[0]);
  const scene_outcome better = simulate(view, "moreau-jean", of->steps[1]);
  const double far = scene_apart(&coarse, &fine, n), near = scene_apart(&better, &fine, n);
  const saltus_energy* w = &fine.ledger;
  if (fine.impacts == 0 || fine.creations > 0 || w->impact > 0.0 || w->friction > 0.0 ||
      fabs(w->remainder) > 1e-7 || !(near < of->near) || !(near < 0.5 * far + of->spare)) {
    fail_msg("%lld impacts, %lld creations, friction %g, remainder %g, capturing %g then %g: %s",
             fine.impacts, fine.creations, w->friction, w->remainder, far, near, text);
  }
  saltus_scene_destroy(scene);
}

/* A body that is thrown, and a spring that brings it to the contact, for every element. */
static void motions_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const char* const elements[] = {
      "{name: e, type: journal, between: [a, b], clearance: 0.02, radius: 0.1, friction: 0.1, "
      "%s}\n",
      "{name: e, type: stop, between: [a, b], radius: 0.05, friction: 0.1, %s}\n",
      "{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.5, %s}\n",
      "{name: e, type: spring-contact, between: [a, b], preload: 3, stiffness: 10, %s}\n",
      "{name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, clearance: 0.02, %s}\n",
      "{name: e, type: rope, between: [a, b], length: 0.05, %s}\n",
      "{name: e, type: latch, between: [a, b], radius: 0.05, friction: 0.2, while: held, %s}\n"
      "inputs: {held: 1}\nevents: {release: {formula: t - 0.35, direction: rising, set: {held: "
      "0}}}\n",
      "{name: e, type: stop, between: [a, b], friction: {static: 0.3, kinetic: 0.1, speed: 0.2}, "
      "viscous: 0.5, %s}\n",
      "{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.5, rolling: 0.01, %s}\n",
      "{name: e, type: journal, between: [a, b], clearance: 0.02, radius: 0.1, friction: {static: "
      "0.2, kinetic: 0.1}, %s}\n",
      "{name: e, type: ratchet, between: [a, b], teeth: 9, radii: [0.5, 0.6], radius: 0.05, "
      "friction: 0.1, %s}\n",
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " ARCS,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], follower: flat, %s, " FORMULA,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, friction: 0.1, "
      "%s, " ARCS,
      "{name: e, type: cam, between: [a, b], follower: flat, friction: 0.1, %s, " ARCS,
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], follower: flat, friction: 0.1, %s, " SPLINE,
      "{name: e, type: cam, between: [a, b], friction: 0.1, %s, " FORMULA,
      "{name: e, type: cam, between: [a, b], follower: roller, radius: 0.05, friction: 0.1, "
      "%s, " FORMULA,
      "{name: e, type: ratchet, between: [a, b], teeth: -7, radii: [0.5, 0.6], radius: 0.03, "
      "%s}\n"};
  uint64_t seed = 11;
  enum { FIRST = 14 }; /* those whose frame also stands still in short runs of the test */
  for (size_t k = 0; k < 2 * (sizeof elements / sizeof elements[0]); k++) {
    char item[1500], text[3000];
    const bool still = k % 2 == 0;
    if (still && k / 2 >= FIRST && !saltus_test_long()) {
      continue;
    }
    const char* of = elements[k / 2];
    const bool cam = strstr(of, "cam") != NULL || strstr(of, "ratchet") != NULL;
    const bool inside =
        strstr(of, "journal") != NULL || strstr(of, "guide") != NULL || strstr(of, "rope") != NULL;
    const double height = cam ? 1.0 : inside ? 0.0 : 0.2;
    /* one after the other: in which order arguments are computed is the compiler's choice */
    const double turn = saltus_test_random(&seed) - 0.5;
    const double slide = saltus_test_random(&seed) - 0.5;
    snprintf(item, sizeof item, of, "restitution: 0.4");
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
             "  two: {mass: 2, inertia: 0.3, position: [0.01, %g], angle: 0.1,\n"
             "        velocity: [%g, -1], angular_velocity: %g}\n%s"
             "markers: {a: {%sangle: 0.05}, b: {body: two}, o: {}}\n"
             "springs: [{between: [a, b], stiffness: 40, damping: 0.5}%s]\n"
             "simulate: {until: 1}\nelements:\n  - %s",
             height, slide, turn,
             still ? "" : "  one: {mass: 5, inertia: 2, angular_velocity: 0.3}\n",
             still ? "" : "body: one, ", still ? "" : ", {between: [o, a], stiffness: 200}", item);
    const bounds fine = {.steps = {2e-4, 2.5e-5}, .near = 2e-4, .spare = 5e-5};
    const bounds rough = {.steps = {4e-4, 5e-5}, .near = 4e-4, .spare = 1e-4};
    judge_motion(text, still || saltus_test_long() ? &fine : &rough);
  }
}

/* Elements between joints, and those that are joints: the same claims. */
static void gears_and_rolling_wheels_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    bool impacts;
  } machines[] = {
      {"saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, position: [0, 0], angular_velocity: %g}\n"
       "  two: {mass: 1, inertia: 0.05, position: [0.5, 0], angular_velocity: %g}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b], spring: {stiffness: 2, rest: 0.4}},\n"
       "  {name: j, type: revolute, between: [c, d], damping: 0.01}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 0.3], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* a rack: the second joint slides */
      {"saltus: 1\nworld: {dimension: 2, gravity: [0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, position: [0, 0], angular_velocity: %g}\n"
       "  two: {mass: 1, inertia: 0.05, position: [0.5, 0], velocity: [%g, 0]}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b]},\n"
       "  {name: j, type: prismatic, between: [c, d], spring: {stiffness: 60}}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 1], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* wheels in space */
      {"saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: [0.03, 0.03, 0.02], angular_velocity: [0, 0, %g]}\n"
       "  two: {mass: 1, inertia: [0.03, 0.03, 0.05], position: [0.5, 0, 0], angular_velocity: [0, "
       "0, %g]}\n"
       "markers: {a: {}, b: {body: one}, c: {point: [0.5, 0, 0]}, d: {body: two}}\n"
       "joints: [{name: i, type: revolute, between: [a, b], spring: {stiffness: 2, rest: 0.4}},\n"
       "  {name: j, type: revolute, between: [c, d], damping: 0.01}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: gear-pair, between: [i, j], radii: [0.2, 0.3], backlash: 0.01, "
       "restitution: 0.4}\n",
       true},
      /* a wheel that rolls on a cart, both on springs */
      {"saltus: 1\nworld: {dimension: 2, gravity: [1, -9.81]}\nbodies:\n"
       "  one: {mass: 1, inertia: 0.02, velocity: [0, 0], angular_velocity: 0*%g}\n"
       "  two: {mass: 1, inertia: 0.002, position: [0.1, 0.1], velocity: [0.1*%g, 0]}\n"
       "markers: {a: {}, b: {body: one}, c: {body: two}}\n"
       "joints: [{name: i, type: prismatic, between: [a, b], spring: {stiffness: 60}}]\n"
       "springs: [{between: [a, c], stiffness: 40, damping: 0.5}]\n"
       "simulate: {until: 1}\nelements:\n"
       "  - {name: e, type: rolling, between: [b, c], radius: 0.1}\n",
       false},
  };
  uint64_t seed = 23;
  for (size_t k = 0; k < sizeof machines / sizeof machines[0]; k++) {
    char text[3000];
    const double w = 2.0 + saltus_test_random(&seed), v = -1.0 - saltus_test_random(&seed);
    snprintf(text, sizeof text, machines[k].text, w, v);
    if (!machines[k].impacts) { /* it starts rolling: x' = -R w */
      char* end = strstr(text, ", 0]}\nmarkers");
      char rest[2000];
      snprintf(rest, sizeof rest, "%s", end + 5);
      snprintf(end, sizeof text - (size_t)(end - text), ", 0], angular_velocity: %g}%s", -v, rest);
    }
    saltus_scene* scene = scene_open_text(text);
    const saltus_scene_view* view = saltus_scene_look(scene);
    const scene_outcome fine = simulate(view, "adaptive", 1e-9);
    const scene_outcome coarse = simulate(view, "moreau-jean", 2e-4);
    const scene_outcome better = simulate(view, "moreau-jean", 2.5e-5);
    const int n = view->system->dims.nq;
    const double far = scene_apart(&coarse, &fine, n), near = scene_apart(&better, &fine, n);
    const saltus_energy* e = &fine.ledger;
    if ((fine.impacts > 0) != machines[k].impacts || fine.creations > 0 || e->impact > 0.0 ||
        fabs(e->remainder) > 1e-7 || !(near < 1e-3) || !(near < 0.5 * far + 5e-5)) {
      fail_msg("%lld impacts, %lld creations, impact %g, remainder %g, capturing %g then %g: %s",
               fine.impacts, fine.creations, e->impact, e->remainder, far, near, text);
    }
    if (!machines[k].impacts) { /* it has rolled: x in the axes of the cart + R angle stays */
      assert_near(fine.q[3] - fine.q[0] + 0.1 * fine.q[5], 0.1, 1e-10);
      assert_near(fine.q[4] - fine.q[1], 0.1, 1e-10);
      assert_true(fabs(fine.q[3] - 0.1) > 0.01);
    }
    saltus_scene_destroy(scene);
  }
}

/* ---- in space ---- */

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = a[j] * b[k] - a[k] * b[j];
  }
}

/* A ball with three different moments on a plane of any direction: the point that touches does not move, and the schemes
 * agree. */
static void a_ball_rolls_in_space_without_slip(void** unused) {
  (void)unused;
  saltus_scene* scene = scene_open_text(
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  two: {mass: 2, inertia: [0.03, 0.04, 0.05], position: [0.1, 0.2, 0.3]}\n"
      "markers: {a: {point: [0.1, 0.2, 0.3], orientation: {rpy: [0.3, 0.4, 0.5]}}, b: {body: two}, "
      "c: {}}\nsprings: [{between: [c, b], stiffness: 40, damping: 0.5}]\n"
      "simulate: {until: 1, start_tolerance: 1}\nelements:\n"
      "  - {name: e, type: rolling, between: [a, b], radius: 0.5}\n");
  const saltus_scene_view* view = saltus_scene_look(scene);
  const scene_outcome fine = simulate(view, "adaptive", 1e-9);
  const scene_outcome coarse = simulate(view, "moreau-jean", 4e-3);
  const scene_outcome better = simulate(view, "moreau-jean", 1e-3);
  const scene_outcome radau = simulate(view, "radau-iia-5", 1e-3);
  double p[3], axes[9], w[3], u[3], arm[3];
  saltus_mechanism_frame(view->mechanism, saltus_mechanism_find_marker(view->mechanism, "a"), 0.0,
                         fine.q, p, axes);
  /* w of the world: w + 2 qw (r x w) + 2 r x (r x w), q = (qw, r) */
  double once[3], twice[3];
  const double* r = fine.q + 4;
  cross(r, fine.v + 3, once);
  cross(r, once, twice);
  for (int i = 0; i < 3; i++) {
    w[i] = fine.v[3 + i] + 2.0 * fine.q[3] * once[i] + 2.0 * twice[i];
    arm[i] = -0.5 * axes[3 * i + 2];
  }
  cross(w, arm, u);
  for (int i = 0; i < 3; i++) {
    assert_near(fine.v[i] + u[i], 0.0, 1e-9);
  }
  assert_true(hypot(fine.v[0], hypot(fine.v[1], fine.v[2])) > 0.1);
  assert_near(fine.ledger.remainder, 0.0, 1e-7);
  assert_near(scene_apart(&radau, &fine, 7), 0.0, 1e-7);
  assert_true(scene_apart(&better, &fine, 7) < 0.1 * scene_apart(&coarse, &fine, 7)); /* order 2 */
  saltus_scene_destroy(scene);
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A column of axes, row major. */
static void axis_of(const double axes[9], int k, double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = axes[3 * i + k];
  }
}

/* Velocity of the free body i of space at a place: v + (R w) x (p - x), with R w = w + 2 qw (r x w) + 2 r x (r x w). */
static void space_velocity(const state* s, int i, const double p[3], double out[3]) {
  const double *q = s->q + 7 * i, *v = s->v + 6 * i, *r = q + 4;
  double once[3], twice[3], w[3], arm[3], turn[3];
  cross(r, v + 3, once);
  cross(r, once, twice);
  for (int k = 0; k < 3; k++) {
    w[k] = v[3 + k] + 2.0 * q[3] * once[k] + 2.0 * twice[k];
    arm[k] = p[k] - q[k];
  }
  cross(w, arm, turn);
  for (int k = 0; k < 3; k++) {
    out[k] = v[k] + turn[k];
  }
}

/* Where bodies touch and the three directions, by vectors: a ball or a rim on z = 0 of the first, a pin in a bearing. */
typedef enum touch_in_space { BALL, RIM, PIN } touch_in_space;

static void meet(state* s, touch_in_space kind, double R, double c, double p[3],
                 double along[3][3]) {
  double at[3], axes[9], b[3], other[9], n[3], d[3];
  frame_of(s, "a", at, axes);
  frame_of(s, "b", b, other);
  double x[3], y[3], z[3];
  axis_of(axes, 0, x);
  axis_of(axes, 1, y);
  axis_of(axes, 2, z);
  axis_of(other, 2, n);
  const double tilt = dot(z, n);
  for (int i = 0; i < 3; i++) {
    d[i] = kind == RIM ? (z[i] - tilt * n[i]) / sqrt(1.0 - tilt * tilt) : z[i];
  }
  double height = dot(d, z) * R;
  for (int i = 0; i < 3; i++) { /* the second body is put where it touches */
    const double from = kind == PIN ? 0.3 * z[i] + c * (0.6 * x[i] + 0.8 * y[i])
                                    : height * z[i] + 0.2 * x[i] - 0.1 * y[i];
    s->q[7 + i] += at[i] + from - b[i];
    b[i] = at[i] + from;
  }
  for (int i = 0; i < 3; i++) {
    const double out[3] = {0.6 * x[i] + 0.8 * y[i], 0.6 * y[i] - 0.8 * x[i], z[i]};
    p[i] = kind == PIN ? b[i] + R * out[0] : b[i] - R * d[i];
    along[0][i] = kind == PIN ? -out[0] : z[i];
    along[1][i] = kind == PIN ? out[1] : x[i];
    along[2][i] = kind == PIN ? z[i] : y[i];
  }
}

/* Rows of contacts in space, and of joints that roll, are velocities of the two points that touch. */
static void rows_in_space_are_those_of_the_two_points(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    touch_in_space touch;
    double R, c;
  } all[] = {
      {SPACE "  - {name: e, type: stop, between: [a, b], friction: 0.3}\n", BALL, 0.0, 0.0},
      {SPACE "  - {name: e, type: stop, between: [a, b], radius: 0.2, friction: 0.3}\n", BALL, 0.2,
       0.0},
      {SPACE "  - {name: e, type: wheel, between: [a, b], radius: 0.4, friction: 0.3}\n", RIM, 0.4,
       0.0},
      {SPACE
       "  - {name: e, type: journal, between: [a, b], radius: 0.2, clearance: 0.05, friction: "
       "0.3}\n",
       PIN, 0.2, 0.05},
  };
  uint64_t seed = 29;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    saltus_scene* scene = scene_open_text(all[k].text);
    state s = {.view = saltus_scene_look(scene)};
    s.scratch = malloc(s.view->system->dims.scratch + 1);
    for (int draw = 0; draw < 30; draw++) {
      double p[3], along[3][3], u[2][3];
      scatter_in_space(&s, &seed);
      meet(&s, all[k].touch, all[k].R, all[k].c, p, along);
      look(&s, 0);
      assert_near(s.gap[0], 0.0, 1e-13);
      space_velocity(&s, 0, p, u[0]);
      space_velocity(&s, 1, p, u[1]);
      for (int i = 0; i < 3; i++) {
        u[1][i] -= u[0][i];
      }
      for (int i = 0; i < 3; i++) { /* an edge-on wheel has levers of 1/s */
        assert_near(times(s.G + 12 * i, s.v, 12) + s.b[i], dot(u[1], along[i]), 1e-9);
      }
    }
    free(s.scratch);
    saltus_scene_destroy(scene);
  }
}

/* The same for what has a normal of its own: a ball on a cylinder or a tooth, a corner at a wall. The second body is moved along
 * the normal until it touches. */
static void round_and_cornered_rows_in_space_are_those_of_the_two_points(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    double R; /* negative: corners */
  } all[] = {
      {SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, " ARCS, 0.0},
      {SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
             "0.06, " ARCS,
       0.06},
      {SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
             "0.06, " SPLINE,
       0.06},
      {SPACE "  - {name: e, type: cam, between: [a, b], friction: 0.2, follower: roller, radius: "
             "0.06, " FORMULA,
       0.06},
      {SPACE "  - {name: e, type: ratchet, between: [a, b], teeth: 7, radii: [0.8, 1.1], radius: "
             "0.05, friction: 0.2}\n",
       0.05},
      {SPACE "  - {name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, height: 0.1, "
             "clearance: 5, friction: 0.1}\n",
       -1.0},
  };
  uint64_t seed = 37;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    saltus_scene* scene = scene_open_text(all[k].text);
    state s = {.view = saltus_scene_look(scene)};
    s.scratch = malloc(s.view->system->dims.scratch + 1);
    int closed = 0;
    for (int draw = 0; draw < 64; draw++) {
      const int contact = draw % s.view->system->dims.nc;
      scatter_in_space(&s, &seed);
      for (int step = 0; step < 60; step++) {
        look(&s, contact);
        const double size = dot(s.G + 6, s.G + 6);
        for (int i = 0; i < 3; i++) {
          s.q[7 + i] -= s.gap[contact] * s.G[6 + i] / size;
        }
      }
      look(&s, contact);
      bool outside = fabs(s.gap[contact]) < 1e-13;
      for (int i = 0; i < s.view->system->dims.nc; i++) {
        outside = outside && s.gap[i] > -1e-12;
      }
      if (!outside && all[k].R >= 0.0) {
        continue; /* on the far side of a curve, or inside of another tooth */
      }
      closed++;
      double at[3], axes[9], b[3], other[9], p[3], along[3][3], u[2][3];
      frame_of(&s, "a", at, axes);
      frame_of(&s, "b", b, other);
      memcpy(along[0], s.G + 6, sizeof along[0]);
      if (all[k].R < 0.0) { /* walls of y, then of z; corners by end and side */
        const bool y = contact < 8, far_wall = contact / 4 % 2 == 0;
        const double end = contact % 2 == 0 ? -0.2 : 0.2, side = contact % 4 < 2 ? -1.0 : 1.0;
        const double over = far_wall ? 1.0 : -1.0;
        const double c[3] = {end, 0.1 * (y ? over : side), 0.05 * (y ? side : over)};
        for (int i = 0; i < 3; i++) {
          p[i] = b[i] + other[3 * i] * c[0] + other[3 * i + 1] * c[1] + other[3 * i + 2] * c[2];
          assert_near(along[0][i], -over * axes[3 * i + (y ? 1 : 2)], 1e-12);
        }
        axis_of(axes, 0, along[1]);
        axis_of(axes, y ? 2 : 1, along[2]);
      } else {
        axis_of(axes, 2, along[2]);
        cross(along[0], along[2], along[1]);
        assert_near(dot(along[0], along[2]), 0.0, 1e-11);
        for (int i = 0; i < 3; i++) {
          p[i] = b[i] - all[k].R * along[0][i];
        }
      }
      assert_near(dot(along[0], along[0]), 1.0, 1e-10);
      space_velocity(&s, 0, p, u[0]);
      space_velocity(&s, 1, p, u[1]);
      for (int i = 0; i < 3; i++) {
        u[1][i] -= u[0][i];
      }
      for (int i = 0; i < 3; i++) {
        assert_near(times(s.G + 12 * i, s.v, 12) + s.b[i], dot(u[1], along[i]), 1e-9);
      }
    }
    assert_true(closed > 15);
    free(s.scratch);
    saltus_scene_destroy(scene);
  }
}

/* A body thrown in space, and a spring that brings it to the contact. */
static void motions_in_space_close_the_ledger_and_agree_with_capturing(void** unused) {
  (void)unused;
  static const struct {
    const char* item;
    double height;
  } all[] = {
      {"{name: e, type: stop, between: [a, b], friction: 0.2, restitution: 0.4}\n", 0.1},
      {"{name: e, type: stop, between: [a, b], radius: 0.05, friction: 0.1, restitution: 0.4}\n",
       0.2},
      {"{name: e, type: wheel, between: [a, b], radius: 0.05, friction: 0.4, restitution: 0.2}\n",
       0.2},
      {"{name: e, type: journal, between: [a, b], radius: 0.05, clearance: 0.02, friction: 0.1, "
       "restitution: 0.4}\n",
       0.0},
      {"{name: e, type: rope, between: [a, b], length: 0.05, restitution: 0.4}\n", 0.0},
      {"{name: e, type: spring-contact, between: [a, b], preload: 3, stiffness: 10, restitution: "
       "0.4}\n",
       0.1},
      {"{name: e, type: latch, between: [a, b], radius: 0.05, friction: 0.2, restitution: 0.4, "
       "while: "
       "held}\ninputs: {held: 1}\nevents: {release: {formula: t - 0.35, direction: rising, set: "
       "{held: 0}}}\n",
       0.2},
      {"{name: e, type: guide, between: [a, b], length: 0.4, width: 0.2, height: 0.3, clearance: "
       "0.02, friction: 0.1, restitution: 0.4}\n",
       0.0},
      {"{name: e, type: cam, between: [a, b], friction: 0.1, restitution: 0.4, follower: roller, "
       "radius: 0.05, " ARCS,
       0.0},
      {"{name: e, type: cam, between: [a, b], friction: 0.1, restitution: 0.4, " SPLINE, 0.0},
      {"{name: e, type: cam, between: [a, b], restitution: 0.4, follower: roller, radius: "
       "0.05, " FORMULA,
       0.0},
      {"{name: e, type: ratchet, between: [a, b], teeth: 9, radii: [0.5, 0.6], radius: 0.05, "
       "friction: 0.1, restitution: 0.4}\n",
       0.0},
  };
  uint64_t seed = 31;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    char text[3000];
    const bool round = strstr(all[k].item, "cam") != NULL || strstr(all[k].item, "ratchet") != NULL;
    const double across = saltus_test_random(&seed) - 0.5, spin = saltus_test_random(&seed) - 0.5;
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
             "  two: {mass: 2, inertia: [0.3, 0.35, 0.4], position: [0.002, %g, %g],\n"
             "        velocity: [%g, %g, -1], angular_velocity: [%g, 1, 0.5]}\n"
             "markers: {a: {orientation: {rpy: [0.05, 0.1, 0]}}, b: {body: two, orientation: {rpy: "
             "[%g, 0, 0]}}}\n"
             "springs: [{between: [a, b], stiffness: 40, damping: 0.5}]\n"
             "simulate: {until: 1}\nelements:\n  - %s",
             round ? 0.9 : 0.001, all[k].height, across, round ? -1.5 : 0.5, spin,
             strstr(all[k].item, "guide") != NULL ? 0.0 : 1.5, all[k].item);
    judge_motion(text, &(bounds){.steps = {4e-4, 5e-5}, .near = 4e-4, .spare = 1e-4});
  }
}

/* On a turntable its centre runs on a circle with 2/7 of the rate, from the turntable's data an exact place; on a plate
 * that is pushed it has 2/7 of the acceleration of the plate, whose mass is larger by 2/7 of the ball's. */
static void a_ball_rolls_on_what_moves(void** unused) {
  (void)unused;
  static const char turntable[] =
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  table: {driven: {rpy: [0, 0, 2*t]}}\n"
      "  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [1, 0, 0.1], velocity: [0, 0.5, "
      "0], angular_velocity: [15, 0, 0]}\n"
      "markers: {top: {body: table}, centre: {body: ball}}\nelements:\n"
      "  - {name: e, type: rolling, between: [top, centre], radius: 0.1}\n";
  const scene_outcome on_table = scene_run_text(turntable, "adaptive", 1e-10, 5.0);
  assert_near(on_table.q[0], -0.714839176069241, 1e-9);
  assert_near(on_table.q[1], 0.245550724575062, 1e-9);
  assert_near(on_table.q[2], 0.1, 1e-12);
  assert_near(on_table.ledger.remainder, 0.0, 1e-8);
  const scene_outcome by_radau = scene_run_text(turntable, "radau-iia-5", 0.01, 1.0);
  assert_near(by_radau.q[0], 0.860988061738332, 1e-8);
  assert_near(by_radau.q[1], 0.473229936688978, 1e-8);
  const scene_outcome plate = scene_run_text(
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -9.81]}\nbodies:\n"
      "  plate: {mass: 3, inertia: [1, 1, 1]}\n"
      "  ball: {mass: 1, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0.1]}\n"
      "markers: {p: {body: plate}, rail: {orientation: {rpy: [0, pi/2, 0]}}, slide: {body: plate, "
      "orientation: {rpy: [0, pi/2, 0]}}, centre: {body: ball}}\n"
      "joints: [{name: j, type: prismatic, between: [rail, slide], actuator: 2}]\nelements:\n"
      "  - {name: e, type: rolling, between: [p, centre], radius: 0.1}\n",
      "adaptive", 1e-10, 1.0);
  const double push = 2.0 / (3.0 + 2.0 / 7.0);
  assert_near(plate.q[0], 0.5 * push, 1e-10);
  assert_near(plate.q[7], 0.5 * push * 2.0 / 7.0, 1e-10);
}

/* A thin disc: lying nearly flat its centre stays where it is when it circles with Omega^2 = 4 g/(r sin a); upright it is stable
 * from the spin sqrt(g/(3 r)) on. */
static void a_wheel_rolls_in_space(void** unused) {
  (void)unused;
  char text[1200];
  static const char format[] =
      "saltus: 1\nparameters: {r: %g, a: %.17g, m: 0.4}\nworld: {dimension: 3}\nbodies:\n"
      "  disc: {mass: m, inertia: [m*r^2/4, m*r^2/4, m*r^2/2], position: [0, 0, r*sin(a)], "
      "orientation: {rpy: [a, 0, 0]}, velocity: [%s, 0, 0], angular_velocity: [0, %s, %s]}\n"
      "markers: {floor: {}, axle: {body: disc}}\nsimulate: {start_tolerance: 1e-6}\nelements:\n"
      "  - {name: e, type: rolling-wheel, between: [floor, axle], radius: r}\n";
  snprintf(text, sizeof text, format, 0.0375, 0.17453292519943295, "0",
           "sqrt(4*9.81/(r*sin(a)))*sin(a)", "0");
  const scene_outcome euler = scene_run_text(text, "adaptive", 1e-9, 1.0);
  for (int i = 0; i < 3; i++) {
    assert_near(euler.q[i], i < 2 ? 0.0 : 0.0375 * sin(0.17453292519943295), 1e-9);
  }
  assert_near(euler.ledger.remainder, 0.0, 1e-9);
  /* any motion: the schemes agree, with order 2 */
  static const char any[] =
      "saltus: 1\nworld: {dimension: 3}\nbodies:\n"
      "  w: {mass: 0.4, inertia: [0.0003, 0.0003, 0.0006], position: [0, 0, 0.05], orientation: "
      "{rpy: [pi/2 - 0.2, 0, 0.3]}, velocity: [0.2, 0.1, 0], angular_velocity: [0.5, 1, 8]}\n"
      "markers: {f: {}, a: {body: w}, g: {point: [0.1, 0.2, 0.3]}}\n"
      "springs: [{between: [g, a], stiffness: 3, damping: 0.1}]\n"
      "simulate: {start_tolerance: 10}\nelements:\n"
      "  - {name: e, type: rolling-wheel, between: [f, a], radius: 0.05}\n";
  const scene_outcome exact = scene_run_text(any, "adaptive", 1e-9, 0.4);
  const scene_outcome coarse = scene_run_text(any, "moreau-jean", 1e-3, 0.4);
  const scene_outcome better = scene_run_text(any, "moreau-jean", 2.5e-4, 0.4);
  assert_true(scene_apart(&better, &exact, 7) < 2e-4); /* it spins with 8 rad/s: (h w)^2 a radian */
  assert_true(scene_apart(&better, &exact, 7) < 0.1 * scene_apart(&coarse, &exact, 7));
  assert_near(exact.ledger.remainder, 0.0, 1e-9);
  /* it rolls along x with the axle along y, 0.01 degrees off the upright, spin about the axle */
  for (int k = 0; k < 2; k++) {
    const double spin = k == 0 ? 2.3 : 2.8; /* sqrt(g/(3 r)) = 2.557 */
    char speed[32], about[32];
    snprintf(speed, sizeof speed, "-%g*r", spin);
    snprintf(about, sizeof about, "%g", spin);
    snprintf(text, sizeof text, format, 0.5, 1.5707963267948966 - 1.7453292519943296e-4, speed, "0",
             about);
    double lean = 0.0; /* degrees */
    for (double t = 4.5; t <= 6.0; t += 0.5) {
      const scene_outcome upright = scene_run_text(text, "adaptive", 1e-7, t);
      lean = fmax(lean, acos(fmin(1.0, upright.q[2] / 0.5)) * 57.29577951308232);
    }
    if (!(k == 0 ? lean > 10.0 : lean < 0.2)) {
      fail_msg("spin %g: it leans by up to %g degrees until 6 s", spin, lean);
    }
  }
}

/* ---- in C, and refusals ---- */

static void elements_in_c_are_those_of_scenes(void** unused) {
  (void)unused;
  saltus_scene* scene = scene_open_text(cases[5].text);
  const saltus_body_def bodies[] = {{.name = "one",
                                     .mass = 1,
                                     .inertia = {0.2},
                                     .position = {0.3, -0.2},
                                     .orientation = {SALTUS_ORIENTATION_ANGLE, {0.4}}},
                                    {.name = "two",
                                     .mass = 2,
                                     .inertia = {0.3},
                                     .position = {2.1, 1.7},
                                     .orientation = {SALTUS_ORIENTATION_ANGLE, {-0.7}}}};
  const saltus_marker_def markers[] = {{.name = "a",
                                        .body = "one",
                                        .position = {0.11, -0.07},
                                        .orientation = {SALTUS_ORIENTATION_ANGLE, {0.3}}},
                                       {.name = "b",
                                        .body = "two",
                                        .position = {-0.13, 0.05},
                                        .orientation = {SALTUS_ORIENTATION_ANGLE, {-0.2}}}};
  const saltus_mechanism_def mechanism_def = {
      .dimension = 2, .bodies = bodies, .body_count = 2, .markers = markers, .marker_count = 2};
  const saltus_element_def guide = {.name = "e",
                                    .type = SALTUS_ELEMENT_GUIDE,
                                    .between = {"a", "b"},
                                    .length = 0.4,
                                    .width = 0.2,
                                    .clearance = 5,
                                    .friction = 0.1};
  const saltus_elements elements = {&guide, 1};
  saltus_mechanism* mechanism;
  saltus_formula_model* model;
  assert_int_equal(saltus_mechanism_create(&mechanism_def, &mechanism), SALTUS_OK);
  const saltus_formula_def def = {.mechanism = mechanism, .elements = &elements};
  assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_OK);
  saltus_scene_view view = *saltus_scene_look(scene);
  state s = {.view = &view}, c = {.view = &view};
  s.scratch = c.scratch = malloc(view.system->dims.scratch + 1);
  memcpy(s.q, view.q0, 6 * sizeof s.q[0]);
  memcpy(c.q, view.q0, 6 * sizeof s.q[0]);
  look(&s, 2);
  view.system = saltus_formula_model_system(model);
  assert_string_equal(view.system->laws[2].name, "e.lower_left");
  look(&c, 2);
  assert_memory_equal(s.gap, c.gap, 4 * sizeof s.gap[0]);
  assert_memory_equal(s.G, c.G, sizeof s.G);
  free(s.scratch);
  saltus_formula_model_destroy(model);
  saltus_mechanism_destroy(mechanism);
  saltus_scene_destroy(scene);
}

static void what_cannot_be_is_refused_by_name_and_place(void** unused) {
  (void)unused;
  static const struct {
    const char *text, *says;
  } refused[] = {
      {"  - {name: e, type: journal, between: [a, b], radius: 1}\n",
       "s:11:6: element \"e\" is journal and needs clearance"},
      {"  - {name: e, type: journal, between: [a, b], clearance: 0, radius: 1}\n",
       "s:11:58: element \"e\": clearance is 0, must be above 0"},
      {"  - {name: e, type: journal, between: [a, x], clearance: 1, radius: 1}\n",
       "element \"e\": between: there is no marker \"x\""},
      {"  - {name: e, type: stop, between: [a, b], length: 1}\n",
       "element \"e\" is stop and has no length"},
      {"  - {name: e, type: jurnal, between: [a, b]}\n", "did you mean \"journal\"?"},
      {"  - {name: e, type: stop, between: [a, b], friction: -1}\n", "friction is -1"},
      {"  - {name: e, type: stop, between: [a, b], restitution: 2}\n", "restitution is 2"},
      {"  - {name: e, type: rope, between: [a, b], length: 1, friction: 1}\n", "has no friction"},
      {"  - {name: e, type: cam, between: [a, b]}\n", "needs a profile"},
      {"  - {name: e, type: cam, between: [a, b], profile: {formula: 1, points: [[0, 1]]}}\n",
       "one of arcs, points and a formula"},
      {"  - {name: e, type: cam, between: [a, b], friction: 1, profile: {formula: 1 + beta}}\n",
       "friction needs the slope"},
      {"  - {name: e, type: cam, between: [a, b], profile: {arcs: [{radius: 1, from: 0}, {radius: "
       "2, "
       "from: 1}]}}\n",
       "arcs 1 and 2 are 1 m apart"},
      {"  - {name: e, type: cam, between: [a, b], follower: roller, profile: {formula: 1}}\n",
       "radius is that of a roller: it is missing"},
      {"  - {name: e, type: ratchet, between: [a, b], radii: [1, 2], teeth: 2.5, radius: 0.1}\n",
       "there are 2.5 teeth, must be 3 to 60"},
      {"  - {name: e, type: ratchet, between: [a, b], radii: [2, 1], teeth: 5, radius: 0.1}\n",
       "must grow"},
      {"  - {name: e, type: ratchet, between: [a, b], radii: [1, 2], teeth: 5, radius: 1}\n",
       "a nose of radius 1 is larger than the teeth"},
      {"  - {name: e, type: rolling, between: [a, b]}\n", "is rolling and needs radius"},
      {"  - {name: e, type: guide, between: [a, b], length: 1, width: 1, height: 1, clearance: "
       "1}\n",
       "a guide in the plane has no height"},
      {"  - {name: e, type: gear-pair, between: [a, b], radii: [1, 1], backlash: 0}\n",
       "there is no joint \"a\""},
      {"  - {name: e, type: stop, between: [a, b]}\n  - {name: e, type: stop, between: [a, b]}\n",
       "e"},
      {"  - {name: e, type: cam, between: [a, b], profile: {formula: 1 + gamma}}\n",
       "unknown name \"gamma\""},
  };
  for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
    char text[2000];
    snprintf(text, sizeof text, PLANE "%s", refused[k].text);
    scene_assert_refused(text, refused[k].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_rows_are_those_of_the_two_points),
      cmocka_unit_test(rows_and_convective_parts_agree_with_differences),
      cmocka_unit_test(a_centred_journal_is_an_ordinary_state),
      cmocka_unit_test(teeth_of_a_ratchet_are_a_polygon),
      cmocka_unit_test(motions_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(gears_and_rolling_wheels_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(a_ball_rolls_in_space_without_slip),
      cmocka_unit_test(rows_in_space_are_those_of_the_two_points),
      cmocka_unit_test(round_and_cornered_rows_in_space_are_those_of_the_two_points),
      cmocka_unit_test(motions_in_space_close_the_ledger_and_agree_with_capturing),
      cmocka_unit_test(a_ball_rolls_on_what_moves),
      cmocka_unit_test(a_wheel_rolls_in_space),
      cmocka_unit_test(elements_in_c_are_those_of_scenes),
      cmocka_unit_test(what_cannot_be_is_refused_by_name_and_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
