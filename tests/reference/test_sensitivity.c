/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Sensitivities and orbits against closed forms, and against differences of runs.
 */
#include "math/eigenvalues.h"
#include "saltus/saltus.h"
#include "saltus_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- eigenvalues ---- */

/* Reflections of block diagonal matrices, whose eigenvalues move by no more than the rounding of the matrix. */
static void eigenvalues_of_normal_matrices_are_those_of_their_blocks(void** state) {
  (void)state;
  srand(3);
  for (int trial = 0; trial < 400; trial++) {
    const int n = 1 + trial % 12;
    double A[144] = {0}, B[144], re[12], im[12], want[12][2];
    for (int i = 0; i < n; i++) {
      const double a = 4.0 * rand() / RAND_MAX - 2.0,
                   b = rand() % 2 == 0 && i + 1 < n ? 2.0 * rand() / RAND_MAX : 0.0;
      A[i * n + i] = a;
      want[i][0] = a;
      want[i][1] = b;
      if (b > 0.0) {
        A[i * n + i + 1] = b;
        A[(i + 1) * n + i] = -b;
        A[(i + 1) * n + i + 1] = a;
        want[i + 1][0] = a;
        want[i + 1][1] = -b;
        i++;
      }
    }
    double w[12], square = 0.0;
    for (int i = 0; i < n; i++) {
      w[i] = 2.0 * rand() / RAND_MAX - 1.0;
      square += w[i] * w[i];
    }
    for (int pass = 0; pass < 2; pass++) { /* H A, then A H, with H = 1 - 2 w w^T / w^T w */
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          double sum = 0.0;
          for (int k = 0; k < n; k++) {
            sum += pass == 0 ? w[k] * A[k * n + j] : A[i * n + k] * w[k];
          }
          B[i * n + j] = A[i * n + j] - 2.0 * sum * (pass == 0 ? w[i] : w[j]) / square;
        }
      }
      memcpy(A, B, sizeof A);
    }
    assert_true(saltusi_eigenvalues(A, n, re, im));
    for (int i = 0; i < n; i++) {
      double nearest = INFINITY;
      int who = 0;
      for (int k = 0; k < n; k++) {
        const double off = hypot(re[i] - want[k][0], im[i] - want[k][1]);
        who = off < nearest ? k : who;
        nearest = fmin(nearest, off);
      }
      assert_true(nearest < 1e-13);
      want[who][0] = 1e300; /* each once */
      assert_true(i == 0 || hypot(re[i], im[i]) <= hypot(re[i - 1], im[i - 1]) * (1.0 + 1e-11));
    }
  }
}

/* ---- scenes ---- */

static const char ball[] = "saltus: 1\n"
                           "parameters: {e: 1/2, h0: 1}\n"
                           "coordinates: {q: {start: h0}}\n"
                           "kinetic: q'^2/2\n"
                           "potential: 2*q\n"
                           "contacts: [{name: floor, gap: q, restitution: e}]\n";

typedef struct varied {
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* of;
  const saltus_sensitivity_view* view;
  saltus_kept_message kept;
} varied;

static saltus_status vary(const char* text, const char* const* names, int count, double until,
                          double tol, varied* v) {
  const saltus_scene_def def = {.text = text};
  assert_int_equal(saltus_scene_create(&def, &v->scene), SALTUS_OK);
  const saltus_log silent = {0};
  assert_int_equal(saltus_scene_directions_create(v->scene, names, count, silent, &v->directions),
                   SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(v->scene);
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.t0 = view->start;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = until;
  d.tol = tol;
  d.directions = saltus_scene_directions_get_view(v->directions);
  d.direction_count = count;
  d.log = saltus_log_keep(&v->kept);
  const saltus_status status = saltus_sensitivity_create(&d, &v->of);
  v->view = status == SALTUS_OK ? saltus_sensitivity_get_view(v->of) : NULL;
  return status;
}

static void vary_free(varied* v) {
  saltus_sensitivity_destroy(v->of);
  saltus_scene_directions_destroy(v->directions);
  saltus_scene_destroy(v->scene);
}

/* Falls from h: impacts at t_k = s (1 + 2 sum_{i<k} e^i), s = sqrt(h), leaves with 2 s e^k. */
static void a_ball_has_its_derivatives_after_many_impacts(void** state) {
  (void)state;
  const char* names[] = {"h0", "e", "q'"};
  const double s = 1.0, e = 0.5;
  for (int n = 1; n <= 6; n++) {
    double sum = 0.0, slope = 0.0; /* sum_{i=1}^{n-1} e^i and its derivative */
    for (int i = 1; i < n; i++) {
      sum += pow(e, i);
      slope += i * pow(e, i - 1);
    }
    const double t_n = s * (1.0 + 2.0 * sum), v_n = 2.0 * s * pow(e, n);
    const double t = t_n + 0.5 * v_n; /* the top: v = 0 there, height e^(2n) h */
    varied v;
    assert_int_equal(vary(ball, names, 3, t, 1e-12, &v), SALTUS_OK);
    /* q = v_n (t - t_n) - (t - t_n)^2 at the fixed t */
    const double dt_h = t_n / (2.0 * s * s), dv_h = v_n / (2.0 * s * s);
    const double dt_e = 2.0 * s * slope, dv_e = 2.0 * s * n * pow(e, n - 1);
    const double tau = t - t_n;
    assert_true(fabs(v.view->dq[0] - (dv_h * tau - v_n * dt_h + 2.0 * tau * dt_h)) < 1e-10);
    assert_true(fabs(v.view->dv[0] - (dv_h + 2.0 * dt_h)) < 1e-10);
    assert_true(fabs(v.view->dq[1] - (dv_e * tau - v_n * dt_e + 2.0 * tau * dt_e)) < 1e-10);
    assert_true(fabs(v.view->dv[1] - (dv_e + 2.0 * dt_e)) < 1e-10);
    assert_int_equal(v.view->event_count, n);
    for (int k = 0; k < n; k++) {
      double part = 0.0, part_slope = 0.0;
      for (int i = 1; i <= k; i++) {
        part += pow(e, i);
        part_slope += i * pow(e, i - 1);
      }
      assert_true(fabs(v.view->events[k].dt[0] - (1.0 + 2.0 * part) / 2.0) < 1e-10);
      assert_true(fabs(v.view->events[k].dt[1] - 2.0 * part_slope) < 1e-10);
      assert_true(fabs(v.view->events[k].dt[2] - 0.5) <
                  1e-10); /* thrown up by v: v/2 later, to first order */
    }
    assert_int_equal(v.view->derivative, SALTUS_DERIVATIVE_EXISTS);
    vary_free(&v);
  }
}

/* t_inf = s (1 + e)/(1 - e): 3/2 and 8 at h = 1, e = 1/2; at rest behind it. */
static void the_end_of_an_accumulation_has_its_derivative(void** state) {
  (void)state;
  const char* names[] = {"h0", "e"};
  varied v;
  assert_int_equal(vary(ball, names, 2, 4.0, 1e-12, &v), SALTUS_OK);
  bool found = false;
  for (long long i = 0; i < v.view->event_count; i++) {
    const saltus_sensitive_event* e = &v.view->events[i];
    if (e->event.kind == SALTUS_EVENT_ACCUMULATION) {
      found = true;
      assert_true(fabs(e->dt[0] - 1.5) < 1e-10);
      assert_true(fabs(e->dt[1] - 8.0) < 1e-10);
      assert_int_equal(e->derivative, SALTUS_DERIVATIVE_LIMIT);
    }
  }
  assert_true(found);
  for (int i = 0; i < 2; i++) {
    assert_true(fabs(v.view->dq[i]) < 1e-12 && fabs(v.view->dv[i]) < 1e-12);
  }
  vary_free(&v);
}

/* A slider that bounces from h to rest and slides on: friction has taken mu times the normal impulse, whenever it acted, so that it
 * stops at x = v0^2 / (2 mu g) + mu h for every e. */
static void derivatives_behind_an_accumulation_do_not_depend_on_its_impacts(void** state) {
  (void)state;
  static const char slider[] = "saltus: 1\n"
                               "parameters: {h: 0.867, v0: 1.817, e: 0.163, mu: 0.147, g: 9.81}\n"
                               "coordinates: {x: {start: 0, velocity: v0}, y: {start: h}}\n"
                               "kinetic: (x'^2+y'^2)/2\npotential: g*y\n"
                               "contacts: [{name: f, gap: y, slip: x', friction: mu, "
                               "restitution: e}]\nsimulate: {until: 60}\n";
  const char* names[] = {"h", "e", "v0"};
  for (int k = 6; k <= 12; k++) {
    varied v;
    assert_int_equal(vary(slider, names, 3, 60.0, pow(10.0, -k), &v), SALTUS_OK);
    assert_near(v.view->dq[0], 0.147, 1e-8);
    assert_near(v.view->dq[2], 0.0, 1e-8);
    assert_near(v.view->dq[4], 1.817 / (0.147 * 9.81), 1e-6);
    vary_free(&v);
  }
}

/* Differences of fourth order of runs to 1e-13 with their own step. */
static void differences(const char* path, const char* name, double value, double step, double until,
                        double* out) {
  static const double at[4] = {-2.0, -1.0, 1.0, 2.0};
  static const double weight[4] = {1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0};
  for (int k = 0; k < 4; k++) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value + at[k] * step);
    const saltus_override override = {.name = name, .value = text};
    const saltus_scene_def def = {.path = path, .overrides = &override, .override_count = 1};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_integrator_def run = {.system = view->system,
                                       .t0 = view->start,
                                       .q0 = view->q0,
                                       .v0 = view->v0,
                                       .rtol = 1e-13,
                                       .atol = 1e-13};
    saltus_integrator* it;
    assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
    assert_int_equal(saltus_integrator_advance(it, until, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    const int nq = view->system->dims.nq, nv = view->system->dims.nv;
    for (int i = 0; i < nq; i++) {
      out[i] = (k == 0 ? 0.0 : out[i]) + weight[k] / step * saltus_integrator_q(it)[i];
    }
    for (int i = 0; i < nv; i++) {
      out[nq + i] = (k == 0 ? 0.0 : out[nq + i]) + weight[k] / step * saltus_integrator_v(it)[i];
    }
    saltus_integrator_destroy(it);
    saltus_scene_destroy(scene);
  }
}

static void compare(const char* file, const char* name, double value, double step, double until,
                    double limit) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", SALTUS_SCENES, file);
  varied v;
  double by_runs[64];
  const saltus_scene_def def = {.path = path};
  assert_int_equal(saltus_scene_create(&def, &v.scene), SALTUS_OK);
  const saltus_log silent = {0};
  assert_int_equal(saltus_scene_directions_create(v.scene, &name, 1, silent, &v.directions),
                   SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(v.scene);
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.t0 = view->start;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = until;
  d.tol = 1e-12;
  d.directions = saltus_scene_directions_get_view(v.directions);
  d.direction_count = 1;
  assert_int_equal(saltus_sensitivity_create(&d, &v.of), SALTUS_OK);
  v.view = saltus_sensitivity_get_view(v.of);
  assert_true(v.view->event_count > 2);
  differences(path, name, value, step, until, by_runs);
  const int nq = view->system->dims.nq, nv = view->system->dims.nv;
  double most_q = 0.0, most_v = 0.0;
  for (int i = 0; i < nq; i++) {
    most_q = fmax(most_q, fabs(v.view->dq[i]));
  }
  for (int i = 0; i < nv; i++) {
    most_v = fmax(most_v, fabs(v.view->dv[i]));
  }
  for (int i = 0; i < nq; i++) {
    assert_true(fabs(v.view->dq[i] - by_runs[i]) <= limit * most_q);
  }
  for (int i = 0; i < nv; i++) {
    assert_true(fabs(v.view->dv[i] - by_runs[nq + i]) <= limit * most_v);
  }
  vary_free(&v);
}

/* A box in space comes to slide on one corner by an accumulation at 0.1556 s; before, shortly and long after it. An end inside the
 * accumulation is refused. */
static void a_box_that_bounces_on_a_corner_with_friction_has_its_derivatives(void** state) {
  (void)state;
  static const char file[] = "../tests/scenes/failing/corner-bounces.yaml";
  compare(file, "e", 0.25, 1e-5, 0.1554, 1e-6);
  compare(file, "e", 0.25, 1e-5, 0.1557, 1e-6);
  compare(file, "mu", 0.17, 1e-5, 0.2, 1e-6);
  const saltus_scene_def def = {.path =
                                    SALTUS_SCENES "/../tests/scenes/failing/corner-bounces.yaml"};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const char* name = "e";
  saltus_scene_directions* directions;
  const saltus_log silent = {0};
  assert_int_equal(saltus_scene_directions_create(scene, &name, 1, silent, &directions), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_kept_message kept;
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = 0.15563166; /* after the first bounces that are not followed */
  d.tol = 1e-10;
  d.directions = saltus_scene_directions_get_view(directions);
  d.direction_count = 1;
  d.log = saltus_log_keep(&kept);
  saltus_sensitivity* of;
  assert_int_equal(saltus_sensitivity_create(&d, &of), SALTUS_ERR_UNSUPPORTED);
  assert_says(kept, "inside an accumulation of impacts");
  saltus_scene_directions_destroy(directions);
  saltus_scene_destroy(scene);
}

/* A point on a plane slides until it sticks, at x = v sqrt(v^2 + w^2)/(2 mu g): a change of v turns its slip too. At recorded
 * times before, the same on the way, and nothing moves afterwards. */
static void slip_that_ends_in_space_has_its_derivatives(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\nparameters: {v: 0.8, w: 0.6, mu: 0.25, g: 9.81}\n"
                             "coordinates: {x: {velocity: v}, y: {velocity: w}, z: {}}\n"
                             "kinetic: (x'^2 + y'^2 + z'^2)/2\npotential: g*z\n"
                             "contacts: [{name: f, gap: z, slip: x', slip2: y', friction: mu}]\n";
  const char* names[] = {"v", "mu"};
  const saltus_scene_def def = {.text = text};
  const saltus_log silent = {0};
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* s;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_int_equal(saltus_scene_directions_create(scene, names, 2, silent, &directions), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const double a = 0.25 * 9.81, stop = 1.0 / a, times[3] = {0.25 * stop, 0.5 * stop, 1.1 * stop};
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = 1.2 * stop;
  d.directions = saltus_scene_directions_get_view(directions);
  d.direction_count = 2;
  d.times = times;
  d.time_count = 3;
  assert_int_equal(saltus_sensitivity_create(&d, &s), SALTUS_OK);
  const saltus_sensitivity_view* v = saltus_sensitivity_get_view(s);
  const double x_v = (1.0 + 0.64) / (2.0 * a), y_v = 0.6 * 0.8 / (2.0 * a);
  const double x_mu = -0.8 / (2.0 * a * 0.25), y_mu = -0.6 / (2.0 * a * 0.25);
  const double want[6] = {x_v, y_v, 0.0, x_mu, y_mu, 0.0};
  for (int k = 0; k < 6; k++) {
    assert_near(v->dq[k], want[k], 1e-7);
    assert_near(v->dv[k], 0.0, 1e-9);
  }
  bool sticks = false;
  for (long long i = 0; i < v->event_count; i++) { /* |v|/(mu g) */
    const saltus_sensitive_event* e = &v->events[i];
    if (e->event.kind == SALTUS_EVENT_STICK) {
      sticks = true;
      assert_near(e->dt[0], 0.8 / a, 1e-6);
      assert_near(e->dt[1], -stop / 0.25, 1e-6);
    }
  }
  assert_true(sticks);
  for (int k = 0; k < 3; k++) {
    const double t = fmin(times[k], stop), *at = v->records + (ptrdiff_t)k * 18;
    assert_near(at[0], 0.8 * (t - 0.5 * a * t * t), 1e-9);
    /* x = v t - a t^2 v/(2 |v|), before the end */
    const double slope = k < 2 ? t - 0.5 * a * t * t * 0.36 : x_v;
    assert_near(at[6], slope, 1e-7);
    assert_near(at[9], k < 2 ? 1.0 - a * t * 0.36 : 0.0, 1e-7);
  }
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  saltus_scene_destroy(scene);
}

/* ---- tosses ---- */

/* Seeds from here on: tosses of rounded boxes, with contacts of shapes. */
static const uint64_t of_shapes = 5000;

/* A cube tossed at random onto a plane with friction: with eight corners as contacts, or a rounded box whose path of impact has
 * friction; p replaces mu and e. */
static void write_toss(char* text, size_t size, uint64_t seed, const double p[2]) {
  const bool shapes = seed >= of_shapes;
  double x[13];
  for (int i = 0; i < 13; i++) {
    x[i] = 2.0 * saltus_test_random(&seed) - 1.0;
  }
  int used = snprintf(
      text, size,
      "saltus: 1\nparameters: {mu: %.17g, e: %.17g, a: 0.05}\n"
      "world: {dimension: 3, gravity: [0, 0, -9.81]%s}\n"
      "bodies: {b: {mass: 0.37, inertia: [0.0008, 0.0008, 0.0008], position: [0, 0, 0.12], "
      "velocity: "
      "[%.9g, %.9g, %.9g], angular_velocity: [%.9g, %.9g, %.9g], orientation: {rpy: [%.9g, %.9g, "
      "%.9g]}%s}}\n",
      p[0], p[1], shapes ? ", shapes: [{half-space: {}}]" : "", x[0], x[1], 0.3 * x[2], 5.0 * x[3],
      5.0 * x[4], 5.0 * x[5], x[6], x[7], x[8],
      shapes ? ", shapes: [{box: {size: [1.7*a, 1.7*a, 1.7*a], radius: 0.15*a}}]" : "");
  if (shapes) {
    snprintf(text + used, size - (size_t)used,
             "materials: {default: {friction: mu, restitution: e, impact: path-poisson}}\n");
    return;
  }
  used += snprintf(text + used, size - (size_t)used, "markers: {");
  for (int k = 0; k < 8; k++) {
    used += snprintf(text + used, size - (size_t)used, "%sc%d: {body: b, point: [%sa, %sa, %sa]}",
                     k > 0 ? ", " : "", k, k & 1 ? "-" : "", k & 2 ? "-" : "", k & 4 ? "-" : "");
  }
  used += snprintf(text + used, size - (size_t)used, "}\ncontacts:\n");
  for (int k = 0; k < 8; k++) {
    used += snprintf(text + used, size - (size_t)used,
                     "  - {name: k%d, gap: c%d.z, slip: c%d.x, slip2: c%d.y, friction: mu, "
                     "restitution: e}\n",
                     k, k, k, k);
  }
}

static saltus_status toss(uint64_t seed, double mu, double e, int directions, varied* v) {
  static const char* const names[] = {"mu", "e"};
  const double p[2] = {mu, e};
  char text[4000];
  *v = (varied){0};
  write_toss(text, sizeof text, seed, p);
  return vary(text, names, directions, 0.24, 1e-12, v);
}

/* Same kinds and contacts of events. */
static bool same_events(const saltus_sensitivity_view* a, const saltus_sensitivity_view* b) {
  bool same = a->event_count == b->event_count;
  for (long long i = 0; i < a->event_count && same; i++) {
    const saltus_event *x = &a->events[i].event, *y = &b->events[i].event;
    same = x->kind == y->kind && x->contact == y->contact;
  }
  return same;
}

/* Central differences of q and v [13] over step h of parameter k; false: other events. */
static bool toss_differences(uint64_t seed, const saltus_sensitivity_view* at, int k, double h,
                             double out[13]) {
  varied side[2];
  bool same = true;
  for (int i = 0; i < 2; i++) {
    const double d = i == 0 ? h : -h;
    same = toss(seed, 0.17 + (k == 0 ? d : 0.0), 0.25 + (k == 1 ? d : 0.0), 0, &side[i]) ==
               SALTUS_OK &&
           same;
    same = same && same_events(side[i].view, at);
  }
  for (int i = 0; i < 13 && same; i++) {
    const double a = i < 7 ? side[0].view->q[i] : side[0].view->v[i - 7];
    const double b = i < 7 ? side[1].view->q[i] : side[1].view->v[i - 7];
    out[i] = (a - b) / (2.0 * h);
  }
  vary_free(&side[0]);
  vary_free(&side[1]);
  return same;
}

/* Through impacts of closed contacts, slip and accumulations: to the larger of 1e-6 and ten times the difference between two
 * steps of the differences; runs without a derivative are refused. Some differences meet another sequence of events; at
 * least a quarter of `least` derivatives a toss is compared. */
static void compare_tosses(uint64_t first, int count, int least) {
  int compared = 0, wrong = 0, tosses = 0;
  for (int i = 0; i < count; i++) {
    const uint64_t seed = first + (uint64_t)i;
    varied v;
    const saltus_status status = toss(seed, 0.17, 0.25, 2, &v);
    assert_true(status == SALTUS_OK || status == SALTUS_ERR_UNSUPPORTED ||
                status == SALTUS_ERR_ACCURACY);
    assert_true(status == SALTUS_OK || v.kept.text[0] != '\0');
    if (status != SALTUS_OK) {
      print_message("toss %d: %s\n", i, v.kept.text);
    }
    const bool exists = status == SALTUS_OK && v.view->derivative != SALTUS_DERIVATIVE_GRAZING &&
                        v.view->derivative != SALTUS_DERIVATIVE_SIMULTANEOUS;
    tosses += exists;
    for (int k = 0; k < 2 && exists; k++) {
      double coarse[13], fine[13], scale = 0.0;
      if (!toss_differences(seed, v.view, k, 2e-5, coarse) ||
          !toss_differences(seed, v.view, k, 1e-5, fine)) {
        continue; /* another sequence of events */
      }
      for (int j = 0; j < 13; j++) {
        scale = fmax(scale, fabs(fine[j]));
      }
      compared++;
      for (int j = 0; j < 13; j++) {
        const double of = j < 7 ? v.view->dq[k * 7 + j] : v.view->dv[k * 6 + j - 7];
        const double most = fmax(1e-6 * scale, 10.0 * fabs(coarse[j] - fine[j]));
        if (!(fabs(of - fine[j]) <= most)) {
          wrong++;
          print_message("toss %d, parameter %d, component %d: %.12g, differences %.12g, scale %g\n",
                        i, k, j, of, fine[j], scale);
        }
      }
    }
    vary_free(&v);
  }
  print_message("%d derivatives of %d tosses compared, %d refused\n", compared, tosses,
                count - tosses);
  assert_int_equal(wrong, 0);
  assert_true(4 * compared >= least * count);
}

static void tosses_have_the_derivatives_of_differences_of_runs(void** state) {
  (void)state;
  const int count = saltus_test_long() ? 100 : 6;
  compare_tosses(4000U, count, 5);
  compare_tosses(of_shapes, saltus_test_long() ? 32 : 6, 2); /* some later runs advance slowly */
}

/* The walker: contacts that are switched, feet that strike and stick; at every tolerance. Differences of runs to 1e-12. */
static void a_walker_has_the_derivatives_of_differences_of_runs(void** state) {
  (void)state;
  const char* names[] = {"gamma"};
  for (int k = 0; k < 4; k++) {
    const saltus_scene_def def = {.path = SALTUS_SCENES "/machine-walker.yaml"};
    const saltus_log silent = {0};
    saltus_scene* scene;
    saltus_scene_directions* directions;
    saltus_sensitivity* s;
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
    assert_int_equal(saltus_scene_directions_create(scene, names, 1, silent, &directions),
                     SALTUS_OK);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_sensitivity_def d = saltus_sensitivity_def_default();
    d.system = view->system;
    d.q0 = view->q0;
    d.v0 = view->v0;
    d.until = 4.0;
    d.tol = (const double[]){1e-9, 1e-10, 3e-11, 1e-12}[k];
    d.observables = view->observables;
    d.changes = view->input_changes;
    d.directions = saltus_scene_directions_get_view(directions);
    d.direction_count = 1;
    assert_int_equal(saltus_sensitivity_create(&d, &s), SALTUS_OK);
    const saltus_sensitivity_view* v = saltus_sensitivity_get_view(s);
    /* (q(0.00900001) - q(0.00899999)) / 2e-8, with saltus run --tol 1e-12 */
    const double want[4] = {21.16, 1.270, -18.79, -7.10};
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(v->dq[i] - want[i]) < 6e-3);
    }
    saltus_sensitivity_destroy(s);
    saltus_scene_directions_destroy(directions);
    saltus_scene_destroy(scene);
  }
}

/* Through stick, slip, opening, impacts with friction and closing. */
static void machines_have_the_derivatives_of_differences_of_runs(void** state) {
  (void)state;
  compare("woodpecker.yaml", "mu", 0.3, 3e-8, 0.3, 1e-6);
  compare("woodpecker.yaml", "phiS'", -7.4583, 1e-5, 0.3, 1e-6);
  compare("double-pendulum-rough.yaml", "m", 1.0, 1e-6, 1.5, 1e-6);
  compare("machine-slider-crank.yaml", "w3", -0.01, 1e-4, 0.0026925, 1e-6);
}

/* Outputs of the scene: dF = F_q dq + F_v dv + F_p. */
static void outputs_have_their_derivatives(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {e: 1/2, h0: 1}\ncoordinates: {q: {start: h0}}\n"
      "kinetic: q'^2/2\npotential: 2*q\n"
      "contacts: [{name: floor, gap: q, restitution: e}]\n"
      "outputs: {a: 3*q + e^2, energy: q'^2/2 + 2*q}\n";
  const saltus_scene_def def = {.text = text};
  const char* names[] = {"e", "h0"};
  const saltus_log silent = {0};
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* s;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_int_equal(saltus_scene_directions_create(scene, names, 2, silent, &directions), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = 2.2;
  d.observables = view->observables;
  d.directions = saltus_scene_directions_get_view(directions);
  d.direction_count = 2;
  assert_int_equal(saltus_sensitivity_create(&d, &s), SALTUS_OK);
  const saltus_sensitivity_view* v = saltus_sensitivity_get_view(s);
  assert_int_equal(v->output_count, 2);
  assert_true(fabs(v->doutputs[0] - (3.0 * v->dq[0] + 2.0 * 0.5)) < 1e-9);
  assert_true(fabs(v->doutputs[2] - 3.0 * v->dq[1]) < 1e-9);
  /* the integral of q over the first flight, the bounce and what is left of the second one; y' = 3 q' jumps with q' */
  double area[4] = {0.0}, slope[2] = {0.0};
  for (int k = 0; k < 8; k++) {
    static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    const double e = 0.5 + (k < 4 ? 1e-3 * at[k % 4] : 0.0),
                 h = 1.0 + (k < 4 ? 0.0 : 1e-3 * at[k % 4]);
    const double s1 = sqrt(h), v1 = 2.0 * s1 * e, v2 = v1 * e, tau = 2.2 - s1 - v1;
    area[k % 4] =
        h * s1 * 2.0 / 3.0 + v1 * v1 * v1 / 6.0 + v2 * tau * tau / 2.0 - tau * tau * tau / 3.0;
    slope[k / 4] += weight[k % 4] / 12e-3 * (3.0 * area[k % 4] + e * e * 2.2);
  }
  assert_non_null(v->integrals);
  assert_true(fabs(v->integrals[2] - slope[0]) < 1e-9);
  assert_true(fabs(v->integrals[4] - slope[1]) < 1e-9);
  /* of the energy: 2 h until the first impact, then e^2 and e^4 of it */
  assert_true(fabs(v->integrals[1] - (2.0 + 0.5 * 1.0 + 0.125 * 0.2)) < 1e-9);
  assert_true(fabs(v->integrals[5] - (3.0 + 0.5 * 1.5 + 0.125 * 0.2 - 0.125)) < 1e-9);
  /* energy after two impacts is 2 h e^4 */
  assert_true(fabs(v->doutputs[1] - 8.0 * 0.125) < 1e-9);
  assert_true(fabs(v->doutputs[3] - 2.0 * 0.0625) < 1e-9);
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  saltus_scene_destroy(scene);
}

/* A force that is on below x = 1 and again below 0, F/k + (x0 - F/k) cos(w t) and then R cos(w (t - t1) - acos(1/R)): the time
 * when it passes 0, in closed form. */
static double off_and_on(double k, double* off) {
  const double F = 3.0, x0 = 0.2, w = sqrt(k);
  const double angle = acos((1.0 - F / k) / (x0 - F / k)), v = -w * (x0 - F / k) * sin(angle);
  const double R = sqrt(1.0 + v * v / k);
  *off = angle / w;
  return *off + (2.0 * atan(1.0) + acos(1.0 / R)) / w;
}

static void events_that_switch_have_their_derivatives(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {k: 4, F: 3}\ninputs: {on: 1}\ncoordinates: {x: {start: 0.2}}\n"
      "kinetic: x'^2/2\npotential: k*x^2/2\nforces: {x: F*on}\n"
      "events:\n  off: {formula: x - 1, direction: rising, set: {on: 0}}\n"
      "  again: {formula: x, direction: falling, set: {on: 1}}\n  seen: {formula: x - 1/2}\n";
  const saltus_scene_def def = {.text = text};
  const char* names[] = {"k"};
  const saltus_log silent = {0};
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* s;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_int_equal(saltus_scene_directions_create(scene, names, 1, silent, &directions), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = 3.0;
  d.tol = 1e-12;
  d.observables = view->observables;
  d.changes = view->input_changes;
  d.directions = saltus_scene_directions_get_view(directions);
  d.direction_count = 1;
  assert_int_equal(saltus_sensitivity_create(&d, &s), SALTUS_OK);
  const saltus_sensitivity_view* v = saltus_sensitivity_get_view(s);
  double off = 0.0, again = 0.0, slope_off = 0.0, slope_again = 0.0;
  for (int i = 0; i < 4; i++) {
    static const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    again = off_and_on(4.0 + 1e-3 * at[i], &off);
    slope_off += weight[i] / 12e-3 * off;
    slope_again += weight[i] / 12e-3 * again;
  }
  again = off_and_on(4.0, &off);
  /* it passes 1/2 on the way up, down, and up again */
  assert_int_equal(v->event_count, 4);
  assert_int_equal(v->events[0].event.contact, 2);
  assert_true(fabs(v->events[1].event.t - off) < 1e-10);
  assert_true(fabs(v->events[1].dt[0] - slope_off) < 1e-9);
  assert_true(fabs(v->events[3].event.t - again) < 1e-10);
  assert_true(fabs(v->events[3].dt[0] - slope_again) < 1e-9);
  assert_int_equal(v->derivative, SALTUS_DERIVATIVE_EXISTS);
  /* from there on about F/k, with the speed w R that it has at 0 */
  const double w = 2.0, R = sqrt(1.0 + 0.96 / 4.0), tau = 3.0 - again;
  assert_true(fabs(v->q[0] - (0.75 - 0.75 * cos(w * tau) - R * sin(w * tau))) < 1e-9);
  double value = 0.0;
  assert_int_equal(saltus_scene_input(scene, "on", &value), SALTUS_OK);
  assert_true(value == 1.0); /* as it was */
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  saltus_scene_destroy(scene);
}

/* Thrown up with u from h under 2 m/s^2: top h + u^2/4; fastest down before the first impact, -2 sqrt(top), fastest up right after
 * it, 2 e sqrt(top). */
static void extremes_of_outputs_have_their_derivatives(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {e: 0.6, h: 1, u: 0.3}\n"
      "coordinates: {q: {start: h, velocity: u}}\nkinetic: q'^2/2\npotential: 2*q\n"
      "contacts: [{name: floor, gap: q, restitution: e}]\noutputs: {height: e*q, speed: q'}\n";
  const saltus_scene_def def = {.text = text};
  const char* names[] = {"h", "u", "e"};
  const saltus_log silent = {0};
  saltus_scene* scene;
  saltus_scene_directions* directions;
  saltus_sensitivity* s;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  assert_int_equal(saltus_scene_directions_create(scene, names, 3, silent, &directions), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_sensitivity_def d = saltus_sensitivity_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.until = 2.0;
  d.tol = 1e-12;
  d.observables = view->observables;
  d.directions = saltus_scene_directions_get_view(directions);
  d.direction_count = 3;
  assert_int_equal(saltus_sensitivity_create(&d, &s), SALTUS_OK);
  const saltus_sensitivity_view* v = saltus_sensitivity_get_view(s);
  const double h = 1.0, u = 0.3, e = 0.6, top = h + u * u / 4.0, root = sqrt(top);
  assert_non_null(v->highest);
  const double highest[10] = {
      e * top, 2.0 * e * root, 0.5 * u,     0.5 * u + root, /* values, times */
      e,       e / root,       e * u / 2.0, e * u / 2.0 / root, top, 2.0 * root};
  for (int i = 0; i < 10; i++) {
    assert_true(fabs(v->highest[i] - highest[i]) < (i == 2 ? 1e-7 : 1e-9));
  }
  /* lowest height: at the impact, and nothing changes that; lowest speed before it */
  const double lowest[4] = {-2.0 * root, -1.0 / root, -u / 2.0 / root, 0.0};
  assert_true(fabs(v->lowest[0]) < 1e-10 && fabs(v->lowest[4]) < 1e-9 && fabs(v->lowest[6]) < 1e-9);
  assert_true(fabs(v->lowest[1] - lowest[0]) < 1e-9);
  for (int j = 0; j < 3; j++) {
    assert_true(fabs(v->lowest[(2 + j) * 2 + 1] - lowest[1 + j]) < 1e-9);
  }
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  saltus_scene_destroy(scene);
}

static void what_has_no_derivative_is_said(void** state) {
  (void)state;
  /* a second floor beside the first: both strike at once */
  static const char both[] =
      "saltus: 1\nparameters: {h0: 1}\ncoordinates: {q: {start: h0}, x: 1}\n"
      "kinetic: (q'^2 + x'^2)/2\npotential: 2*q + 2*x\n"
      "contacts: [{name: a, gap: q, restitution: 0.5}, {name: b, gap: x, restitution: 0.5}]\n";
  const char* names[] = {"h0"};
  varied v;
  assert_int_equal(vary(both, names, 1, 1.5, 1e-11, &v), SALTUS_OK);
  assert_int_equal(v.view->derivative, SALTUS_DERIVATIVE_SIMULTANEOUS);
  assert_true(fabs(v.view->derivative_t - 1.0) < 1e-9);
  vary_free(&v);
}

/* ---- orbits ---- */

/* Multipliers of the ball that bounces once a period on A sin(w t): product e^2, sum 1 + e^2 - (1 + e)^2 sin(phase) A w^2/g. */
static void the_shaken_ball_has_its_multipliers(void** state) {
  (void)state;
  const double pi = 3.14159265358979323846, g = 9.81, e = 0.8, w = 50.0;
  for (int k = 0; k < 4; k++) {
    const double G = 0.6 + 0.2 * k;
    char value[40];
    snprintf(value, sizeof value, "%.17g", G);
    const double cosine = pi * (1.0 - e) / (1.0 + e) / G, sine = sqrt(1.0 - cosine * cosine);
    const double A = G * g / (w * w), T = 2.0 * pi / w, U = g * T / 2.0,
                 left = T - acos(cosine) / w;
    const double q0 = A * sine + U * left - g * left * left / 2.0, v0 = U - g * left;
    const double off_q = q0 + 1e-4, off_v = v0 - 1e-3; /* a guess */
    const saltus_override override = {.name = "G", .value = value};
    const saltus_scene_def def = {
        .path = SALTUS_SCENES "/shaken-ball.yaml", .overrides = &override, .override_count = 1};
    saltus_scene* scene;
    assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
    saltus_orbit_def d = saltus_orbit_def_default();
    d.system = saltus_scene_get_view(scene)->system;
    d.q0 = &off_q;
    d.v0 = &off_v;
    d.period = T;
    saltus_orbit* orbit;
    assert_int_equal(saltus_orbit_create(&d, &orbit), SALTUS_OK);
    const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
    assert_true(fabs(o->q[0] - q0) < 1e-9 && fabs(o->v[0] - v0) < 1e-9);
    assert_int_equal(o->impacts, 1);
    const double sum = 1.0 + e * e - (1.0 + e) * (1.0 + e) * sine * G;
    assert_true(fabs(o->re[0] + o->re[1] - sum) < 1e-8);
    assert_true(fabs(o->re[0] * o->re[1] - o->im[0] * o->im[1] - e * e) < 1e-8);
    assert_int_equal(o->stable, G < sqrt(pow(pi * (1.0 - e) / (1.0 + e), 2) +
                                         pow(2.0 * (1.0 + e * e) / pow(1.0 + e, 2), 2)));
    saltus_orbit_destroy(orbit);
    saltus_scene_destroy(scene);
  }
}

/* One period of the slider on a shaken table, from x and x' on it, to 1e-12. */
static void return_slider(const saltus_system* sys, double x, double u, double* out) {
  const double q[2] = {x, 0.0}, v[2] = {u, 0.010657518394537553 * 40.0};
  const saltus_integrator_def run = {.system = sys, .q0 = q, .v0 = v, .rtol = 1e-12, .atol = 1e-12};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
  assert_int_equal(
      saltus_integrator_advance(it, 3.14159265358979323846 / 20.0, SALTUS_STOP_NEVER, NULL),
      SALTUS_OK);
  out[0] = saltus_integrator_q(it)[0];
  out[1] = saltus_integrator_v(it)[0];
  saltus_integrator_destroy(it);
}

/* The table throws the slider up and has it back by an accumulation each period: y and y' are forgotten, and the multipliers are
 * those of x and x', by differences of the map. */
static void an_orbit_with_an_accumulation_has_its_multipliers(void** state) {
  (void)state;
  const saltus_scene_def def = {.path =
                                    SALTUS_SCENES "/../tests/scenes/failing/shaken-slider.yaml"};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_system* sys = saltus_scene_get_view(scene)->system;
  const double q[2] = {0.0169172, 0.0}, v[2] = {-0.06784, 0.010657518394537553 * 40.0};
  for (int k = 0; k < 3; k++) {
    saltus_orbit_def d = saltus_orbit_def_default();
    d.system = sys;
    d.q0 = q;
    d.v0 = v;
    d.period = 3.14159265358979323846 / 20.0;
    d.tol = pow(10.0, -8.0 - 2.0 * k);
    saltus_orbit* orbit;
    assert_int_equal(saltus_orbit_create(&d, &orbit), SALTUS_OK);
    const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
    assert_true(o->stable);
    double map[2][2], at[2];
    for (int i = 0; i < 2; i++) {
      for (int side = -1; side <= 1; side += 2) {
        const double step = 1e-5;
        return_slider(sys, o->q[0] + (i == 0 ? side * step : 0.0),
                      o->v[0] + (i == 1 ? side * step : 0.0), at);
        for (int r = 0; r < 2; r++) {
          map[r][i] = (side < 0 ? 0.0 : map[r][i]) + side * at[r] / (2.0 * step);
        }
      }
    }
    const double trace = map[0][0] + map[1][1];
    const double det = map[0][0] * map[1][1] - map[0][1] * map[1][0];
    assert_near(o->re[0], 0.5 * trace + sqrt(0.25 * trace * trace - det), 2e-6);
    assert_near(hypot(o->re[1], o->im[1]), 0.0, 1e-5);
    saltus_orbit_destroy(orbit);
  }
  saltus_scene_destroy(scene);
}

/* Van der Pol's oscillator at m = 1, returning to x = 0 from below: its period is known to 6.6632868593231302, the multiplier is
 * the exponential of the integral of m (1 - x^2). */
static void a_section_by_a_function_finds_a_limit_cycle(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\nparameters: {m: 1}\ncoordinates: {x: {start: 2}}\n"
                             "kinetic: x'^2/2\npotential: x^2/2\nforces: {x: m*(1 - x^2)*x'}\n"
                             "events: {up: {formula: x, direction: rising}}\n";
  const saltus_scene_def def = {.text = text};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const double q = 0.0, v = 2.0;
  saltus_orbit_def d = saltus_orbit_def_default();
  d.system = view->system;
  d.observables = view->observables;
  d.q0 = &q;
  d.v0 = &v;
  d.section_kind = SALTUS_EVENT_RISE;
  d.section_contact = 0;
  saltus_orbit* orbit;
  assert_int_equal(saltus_orbit_create(&d, &orbit), SALTUS_OK);
  const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
  assert_true(fabs(o->period - 6.6632868593231302) < 1e-9);
  assert_true(o->stable && fabs(o->re[1]) < 1e-9);
  const saltus_integrator_def run = {
      .system = view->system, .q0 = o->q, .v0 = o->v, .rtol = 1e-12, .atol = 1e-12};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
  double sum = 0.0;
  enum { N = 4000 }; /* the trapezoidal rule of a periodic function */
  for (int i = 1; i <= N; i++) {
    assert_int_equal(saltus_integrator_advance(it, o->period * i / N, SALTUS_STOP_NEVER, NULL),
                     SALTUS_OK);
    sum += (1.0 - pow(saltus_integrator_q(it)[0], 2)) * o->period / N;
  }
  assert_true(fabs(o->re[0] - exp(sum)) < 1e-8 * exp(sum));
  saltus_integrator_destroy(it);
  saltus_orbit_destroy(orbit);
  saltus_scene_destroy(scene);
}

/* By a section the time is not known: what is driven is refused. */
static void a_driven_motion_has_no_orbit_by_section(void** state) {
  (void)state;
  const saltus_scene_def def = {.path = SALTUS_SCENES "/shaken-ball.yaml"};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_orbit_def d = saltus_orbit_def_default();
  d.system = view->system;
  d.q0 = view->q0;
  d.v0 = view->v0;
  d.section_contact = 0;
  saltus_orbit* orbit;
  const saltus_status status = saltus_orbit_create(&d, &orbit);
  assert_true(status == SALTUS_ERR_UNSUPPORTED || status == SALTUS_ERR_BOUND);
  assert_null(orbit);
  saltus_scene_destroy(scene);
}

/* The state right after the beak strikes next. */
static void come_back(const saltus_system* sys, const double* z, double* out) {
  const saltus_integrator_def run = {
      .system = sys, .q0 = z, .v0 = z + 3, .rtol = 1e-13, .atol = 1e-13};
  saltus_integrator* it;
  const saltus_event* event = NULL;
  assert_int_equal(saltus_integrator_create(&run, &it), SALTUS_OK);
  do {
    assert_int_equal(saltus_integrator_advance(it, 1.0, SALTUS_STOP(SALTUS_EVENT_IMPACT), &event),
                     SALTUS_OK);
    assert_non_null(event);
  } while (event->contact != 0);
  memcpy(out, saltus_integrator_q(it), 3 * sizeof(double));
  memcpy(out + 3, saltus_integrator_v(it), 3 * sizeof(double));
  saltus_integrator_destroy(it);
}

/* The derivative of the return by differences of returns, along what the section allows: phiS is given by it. */
static void compare_map(const saltus_system* sys, const saltus_orbit_view* o) {
  static const int place[5] = {1, 2, 3, 4, 5};
  for (int j = 0; j < 5; j++) {
    if (place[j] == 2) {
      continue;
    }
    const double scale = j < 2 ? 1e-6 : 1e-5;
    double slope[6] = {0.0}, most = 0.0;
    for (int k = 0; k < 2; k++) {
      double z[6] = {o->q[0], o->q[1], o->q[2], o->v[0], o->v[1], o->v[2]}, back[6];
      z[place[j]] += k == 0 ? -scale : scale;
      come_back(sys, z, back);
      for (int i = 0; i < 6; i++) {
        slope[i] += (k == 0 ? -0.5 : 0.5) * back[i] / scale;
      }
    }
    for (int i = 0; i < 5; i++) {
      most = fmax(most, fabs(slope[place[i]]));
    }
    for (int i = 0; i < 5; i++) {
      assert_true(fabs(o->map[i * 5 + j] - slope[place[i]]) <= 1e-6 * most);
    }
  }
  double sum = 0.0, by_values = 0.0;
  for (int i = 0; i < 5; i++) {
    sum += o->map[i * 5 + i];
    by_values += o->re[i];
  }
  assert_true(fabs(sum - by_values) < 1e-9);
}

/* The cycle of the woodpecker from ten starts; its multipliers are those of differences of returns. */
static void the_woodpecker_is_found_from_ten_starts(void** state) {
  (void)state;
  const saltus_scene_def def = {.path = SALTUS_SCENES "/woodpecker.yaml"};
  saltus_scene* scene;
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  /* after the beak has struck: sleeve and bird as on the cycle, to three digits */
  const double q[3] = {0.0, 0.0894, 0.12}, v[3] = {-0.0938, 22.88, -8.456};
  const bool drifts[3] = {true, false, false};
  double first[6] = {0};
  for (int k = 0; k < 10; k++) {
    const double part = 0.01 * (k % 2 == 0 ? 1.0 : -1.0) * k;
    const double q0[3] = {0.0, q[1] * (1.0 + part), q[2]},
                 v0[3] = {v[0] * (1.0 - part), v[1] * (1.0 + part), v[2] * (1.0 - part)};
    saltus_orbit_def d = saltus_orbit_def_default();
    d.system = view->system;
    d.q0 = q0;
    d.v0 = v0;
    d.drifts = drifts;
    d.section_contact = 0;
    saltus_orbit* orbit;
    assert_int_equal(saltus_orbit_create(&d, &orbit), SALTUS_OK);
    const saltus_orbit_view* o = saltus_orbit_get_view(orbit);
    assert_int_equal(o->impacts, 5);
    assert_true(o->stable);
    const double now[6] = {o->q[1], o->v[0], o->v[1], o->v[2], o->period, o->drift[0]};
    for (int i = 0; i < 6; i++) {
      first[i] = k == 0 ? now[i] : first[i];
      assert_true(fabs(now[i] - first[i]) <= 1e-7 * fabs(first[i]));
    }
    assert_true(fabs(o->drift[0] + 0.01945) < 1e-5); /* Leine, Glocker, van Campen: 19.45 mm */
    if (k == 0) {
      compare_map(view->system, o);
    }
    saltus_orbit_destroy(orbit);
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigenvalues_of_normal_matrices_are_those_of_their_blocks),
      cmocka_unit_test(a_ball_has_its_derivatives_after_many_impacts),
      cmocka_unit_test(the_end_of_an_accumulation_has_its_derivative),
      cmocka_unit_test(derivatives_behind_an_accumulation_do_not_depend_on_its_impacts),
      cmocka_unit_test(a_box_that_bounces_on_a_corner_with_friction_has_its_derivatives),
      cmocka_unit_test(an_orbit_with_an_accumulation_has_its_multipliers),
      cmocka_unit_test(machines_have_the_derivatives_of_differences_of_runs),
      cmocka_unit_test(slip_that_ends_in_space_has_its_derivatives),
      cmocka_unit_test(tosses_have_the_derivatives_of_differences_of_runs),
      cmocka_unit_test(a_walker_has_the_derivatives_of_differences_of_runs),
      cmocka_unit_test(outputs_have_their_derivatives),
      cmocka_unit_test(events_that_switch_have_their_derivatives),
      cmocka_unit_test(extremes_of_outputs_have_their_derivatives),
      cmocka_unit_test(what_has_no_derivative_is_said),
      cmocka_unit_test(a_section_by_a_function_finds_a_limit_cycle),
      cmocka_unit_test(a_driven_motion_has_no_orbit_by_section),
      cmocka_unit_test(the_shaken_ball_has_its_multipliers),
      cmocka_unit_test(the_woodpecker_is_found_from_ten_starts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
