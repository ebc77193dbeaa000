/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_elements.c - machine elements: gaps against geometry, rows against velocities of the two points that
 * touch, G and c against differences at random states, and what is refused.
 */
#include "cam_profiles.h"
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
    state s = {.view = saltus_scene_get_view(scene)};
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
    state s = {.view = saltus_scene_get_view(scene)};
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
  state s = {.view = saltus_scene_get_view(scene)};
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
    state s = {.view = saltus_scene_get_view(scene)};
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
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const scene_outcome fine = scene_run(view, "adaptive", 1e-9, 0.4);
  const scene_outcome coarse = scene_run(view, "moreau-jean", 4e-3, 0.4);
  const scene_outcome better = scene_run(view, "moreau-jean", 1e-3, 0.4);
  const scene_outcome radau = scene_run(view, "radau-iia-5", 1e-3, 0.4);
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
    state s = {.view = saltus_scene_get_view(scene)};
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
    state s = {.view = saltus_scene_get_view(scene)};
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
  saltus_scene_view view = *saltus_scene_get_view(scene);
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
      cmocka_unit_test(a_ball_rolls_in_space_without_slip),
      cmocka_unit_test(rows_in_space_are_those_of_the_two_points),
      cmocka_unit_test(round_and_cornered_rows_in_space_are_those_of_the_two_points),
      cmocka_unit_test(elements_in_c_are_those_of_scenes),
      cmocka_unit_test(what_cannot_be_is_refused_by_name_and_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
