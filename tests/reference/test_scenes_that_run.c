/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Scenes on which a run to a tolerance once ended with an error (tests/scenes/failing): final states at tolerances 1e-4
 * to 1e-10 against those of a scheme with fixed steps, whose event location and integration are others.
 */
#include "scene_runs.h"

#include <stdio.h>
#include <string.h>

static void read_scene(const char* name, char text[8192]) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_FAILING, name);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  const size_t size = fread(text, 1, 8191, file);
  assert_true(size > 0 && size < 8191);
  text[size] = '\0';
  fclose(file);
}

typedef struct scene_case {
  const char* name;
  double until;
  const char* scheme; /* of the reference */
  double step;
  double bound; /* error of the reference, or of 10 tolerances and the amplification of impacts */
  double amplification;
} scene_case;

/* All tolerances; prints every error before it fails. */
static void compare(const scene_case* c) {
  static const double tolerances[] = {1e-4, 1e-6, 1e-8, 1e-10};
  char text[8192];
  read_scene(c->name, text);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const int nq = view->system->dims.nq;
  const scene_outcome reference = scene_run(view, c->scheme, c->step, c->until);
  int wrong = 0;
  for (int k = 0; k < 4; k++) {
    const scene_outcome out = scene_try(view, "adaptive", tolerances[k], c->until);
    const double apart = scene_apart(&out, &reference, nq);
    const double bound = fmax(c->bound, 10.0 * c->amplification * tolerances[k]);
    if (out.status != SALTUS_OK || !(apart <= bound)) {
      print_error("%s, tol %g: %s, error %g of %g\n", c->name, tolerances[k], out.text, apart,
                  bound);
      wrong++;
    }
  }
  saltus_scene_destroy(scene);
  assert_int_equal(wrong, 0);
}

/* Polygons a millimetre apart, points of one behind edges of the other. */
static void thin_polygons_in_free_flight(void** unused) {
  (void)unused;
  static const scene_case all[] = {{"two-polygons", 2.0, "rk4", 1e-3, 1e-7, 100.0},
                                   {"two-convex-polygons", 2.0, "rk4", 1e-3, 1e-7, 10.0},
                                   {"three-polygons", 0.97, "rk4", 1e-3, 1e-7, 100.0}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    compare(&all[k]);
  }
}

/* More pairs of features than a list holds can come to touch within a long step. */
static void rounded_box_and_hull(void** unused) {
  (void)unused;
  compare(&(scene_case){"rounded-box-and-hull", 2.2, "rk4", 1e-3, 1e-7, 100.0});
}

/* A ball that slides without friction over the border of a heightfield leaves it at cos a = (v^2/(g r) + 2)/3 with the
 * velocity sqrt(g r cos a), and falls freely beside it. */
static void ball_off_a_heightfield(void** unused) {
  (void)unused;
  const double g = 9.81, r = 0.2, v = 1.0;
  const double c = (v * v / (g * r) + 2.0) / 3.0, s = sqrt(1.0 - c * c);
  const double u = sqrt(g * r * c);
  char text[8192];
  read_scene("ball-off-heightfield", text);
  for (int k = 4; k <= 10; k += 2) {
    const double tol = pow(10.0, -k);
    const scene_outcome out = scene_run_text(text, "adaptive", tol, 1.0);
    assert_near(out.v[0], u * c, 1000.0 * tol);
    /* energy, and horizontal motion since the border was left */
    assert_near(0.5 * (out.v[0] * out.v[0] + out.v[2] * out.v[2]) + g * out.q[2],
                0.5 * v * v + g * r, 1000.0 * tol);
    const double fall = (-u * s - out.v[2]) / g;
    assert_near(out.q[2], r * c - u * s * fall - 0.5 * g * fall * fall, 1000.0 * tol);
    assert_near(out.q[0], 2.0 + r * s + u * c * fall, 1000.0 * tol);
  }
  compare(&(scene_case){"ball-off-heightfield", 1.0, "rk4", 1e-3, 1e-7, 10.0});
}

/* Its edges touch the border after its corner has touched the face. */
static void rounded_box_off_an_open_mesh(void** unused) {
  (void)unused;
  compare(&(scene_case){"rounded-box-off-mesh", 0.9, "rk4", 1e-3, 1e-6, 10.0});
}

/* The end of a capsule hands over to its side while it slides. */
static void capsules_on_curved_bodies(void** unused) {
  (void)unused;
  compare(&(scene_case){"capsule-on-ellipsoid", 0.5, "rk4", 5e-4, 1e-6, 10.0});
  compare(&(scene_case){"capsule-on-capsule", 0.7, "rk4", 2e-4, 1e-5, 100.0});
}

/* Pairs of edges that meet without being contacts ended the search of a step, which then passed the impact of the ball:
 * exit 0 at 1e-6, the ball on the floor. */
static void ball_behind_a_parting_box(void** unused) {
  (void)unused;
  compare(&(scene_case){"ball-behind-parting-box", 0.36, "rk4", 5e-4, 1e-6, 10.0});
}

/* A particle on a polyline without friction and restitution, from event to event in closed form: flights to the first
 * line below it, slides along lines, impacts at inward corners, flights off outward ones. */
enum { CORNERS = 7 };
typedef struct polyline {
  double x[CORNERS], y[CORNERS];
} polyline;

typedef struct particle {
  double x, y, u, v;
  int line; /* on which it slides, from corner line to line + 1; -1: it flies */
} particle;

static double slope_of(const polyline* p, int line) {
  return (p->y[line + 1] - p->y[line]) / (p->x[line + 1] - p->x[line]);
}

/* Keeps the velocity along a line. */
static void land(const polyline* p, particle* m, int line) {
  const double k = slope_of(p, line);
  const double along = (m->u + k * m->v) / (1.0 + k * k);
  *m = (particle){m->x, m->y, along, k * along, line};
}

/* The first time at which a quadratic a + b t + c t^2 falls to zero after `after`. */
static double falls(double a, double b, double c, double after) {
  const double d = b * b - 4.0 * a * c;
  double first = INFINITY;
  for (int sign = -1; sign <= 1 && d >= 0.0; sign += 2) {
    const double t = c != 0.0 ? (-b + sign * sqrt(d)) / (2.0 * c) : b != 0.0 ? -a / b : INFINITY;
    first = t > after && b + 2.0 * c * t < 0.0 ? fmin(first, t) : first;
  }
  return first;
}

static void move_particle(particle* m, double ax, double ay, double t) {
  m->x += m->u * t + 0.5 * ax * t * t;
  m->y += m->v * t + 0.5 * ay * t * t;
  m->u += ax * t;
  m->v += ay * t;
}

/* False: it comes to rest in a corner, where one line alone is not what it follows. */
static bool slide_or_fly(const polyline* p, particle* m, double until) {
  enum { EVENTS = 12 };
  const double g = 9.81;
  double left = until;
  for (int event = 0; left > 0.0; event++) {
    double t = left, ax = 0.0, ay = -g;
    int next = -1;
    if (m->line < 0) {
      for (int k = 0; k + 1 < CORNERS; k++) {
        const double s = slope_of(p, k);
        const double hit =
            falls(m->y - p->y[k] - s * (m->x - p->x[k]), m->v - s * m->u, -0.5 * g, 1e-9);
        const double x = m->x + m->u * hit;
        if (hit < t && x > p->x[k] - 1e-12 && x < p->x[k + 1] + 1e-12) {
          t = hit;
          next = k;
        }
      }
      move_particle(m, ax, ay, t);
      if (next >= 0) {
        land(p, m, next);
      }
    } else {
      const double k = slope_of(p, m->line);
      ax = -g * k / (1.0 + k * k);
      ay = k * ax;
      for (int end = 0; end < 2; end++) {
        const double side = end == 0 ? 1.0 : -1.0;
        const double gone =
            falls(side * (m->x - p->x[m->line + end]), side * m->u, 0.5 * side * ax, 1e-12);
        if (gone < t) {
          t = gone;
          next = m->line + (end == 0 ? -1 : 1);
        }
      }
      move_particle(m, ax, ay, t);
      assert_true(next >= -1 && next + 1 < CORNERS);
      if (t < left) {
        const bool rises = m->u * (slope_of(p, next) - k) > 0.0;
        const double u = m->u;
        m->line = -1;
        if (rises) {
          land(p, m, next);
        }
        if (m->u * u <= 0.0 || fabs(m->u) < 1e-2 || event > EVENTS) {
          return false;
        }
      }
    }
    left -= t;
  }
  return true;
}

static void a_particle_on_lookups(void** unused) {
  (void)unused;
  uint64_t state = 3;
  int compared = 0;
  for (int draw = 0; draw < 60; draw++) {
    polyline p;
    char table[400];
    int n = 0;
    for (int k = 0; k < CORNERS; k++) { /* a bowl with bumps, so that it stays inside */
      p.x[k] = k - 3.0 + 0.3 * saltus_test_random(&state);
      p.y[k] = 0.35 * p.x[k] * p.x[k] + 0.8 * saltus_test_random(&state);
      n += snprintf(table + n, sizeof table - (size_t)n, ", %.17g, %.17g", p.x[k], p.y[k]);
    }
    particle m = {2.0 * saltus_test_random(&state) - 1.0, 3.0, 0.6 * saltus_test_random(&state),
                  0.0, -1};
    char text[1200];
    snprintf(text, sizeof text,
             "saltus: 1\ncoordinates: {x: {start: %.17g, velocity: %.17g}, y: {start: 3}}\n"
             "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\n"
             "contacts: [{name: c, gap: \"%s\", restitution: 0}]\nsimulate: {until: 2}\n",
             m.x, m.u, draw % 2 == 0 ? "y - lookup(x%s)" : "-(lookup(x%s) - y)");
    char whole[1700];
    snprintf(whole, sizeof whole, text, table);
    if (!slide_or_fly(&p, &m, 1.2)) {
      continue;
    }
    compared++;
    const double tol = pow(10.0, -4.0 - draw % 4 * 2.0);
    const scene_outcome out = scene_run_text(whole, "adaptive", tol, 1.2);
    assert_near(out.q[0], m.x, 100.0 * tol);
    assert_near(out.q[1], m.y, 100.0 * tol);
    assert_near(out.v[0], m.u, 1000.0 * tol);
  }
  assert_true(compared > 40);
  compare(&(scene_case){"lookup-ground", 1.2, "rk4", 1e-3, 1e-7, 10.0});
}

/* A position drive with a limit of its torque: Newton's method goes around between both limits at long steps, and its
 * changes are rounding where the link comes to rest. */
static void a_saturated_drive_comes_to_rest(void** unused) {
  (void)unused;
  static const double steps[] = {1e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2};
  char text[8192];
  read_scene("saturated-knee", text);
  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
    const scene_outcome out = scene_run_text(text, "moreau-jean", steps[k], 1.0);
    assert_near(out.q[2], -1.2, 1e-9);
    assert_near(out.v[2], 0.0, 1e-9);
  }
}

/* A box that comes to rest on the floor, beside a pendulum that has nothing to do with it. */
static void a_box_rests_beside_a_pendulum(void** unused) {
  (void)unused;
  char text[8192];
  read_scene("box-beside-pendulum", text);
  for (int k = 0; k < 3; k++) {
    const scene_outcome out = scene_run_text(text, "moreau-jean", 1.0 / (120 << k), 2.0);
    assert_near(out.q[2], 0.05, 1e-6);
    assert_near(hypot(out.q[7] - 0.0, out.q[9] - 8.0), 0.5, 0.05); /* of order 1 in the step */
  }
}

/* Friction by sign(x') on a spring: half swings about +-0.15 lose 0.3 each, from 1 to -0.1 at 3 pi/sqrt(20), where the mass
 * sticks. The force is dry friction there, and the mass stays in place. */
static void friction_by_sign_sticks(void** unused) {
  (void)unused;
  const double w = sqrt(20.0), pi = 3.14159265358979323846;
  char text[8192];
  read_scene("sign-friction", text);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  for (int k = 4; k <= 10; k += 2) {
    const double tol = pow(10.0, -k);
    const scene_outcome out = scene_try(view, "adaptive", tol, 2.0);
    assert_int_equal(out.status, SALTUS_OK);
    assert_near(out.q[0], 0.15 + 0.25 * cos(w * 2.0 - 2.0 * pi), 100.0 * tol);
    const scene_outcome stuck = scene_try(view, "adaptive", tol, 5.0);
    assert_int_equal(stuck.status, SALTUS_OK);
    assert_near(stuck.q[0], -0.1, 10.0 * tol);
    assert_true(stuck.v[0] == 0.0);
  }
  saltus_scene_destroy(scene);
}

/* The same by x'/abs(x') from rest, friction on a belt, and between two masses: 2 N brakes the relative velocity of 1 kg and
 * 0.5 kg by 6 m/s^2, from 3 m/s to 0 in 0.5 s at 1 m/s, where the momentum stays. Forces that are no friction, with a sign
 * that drives or unequal forces on the two, remain formulas. */
static void signs_of_relative_velocities_are_friction(void** unused) {
  (void)unused;
  static const char head[] = "saltus: 1\ncoordinates: {x: {start: 1}, y: {start: 0, velocity: 1}, "
                             "a: 0, b: {start: 0, velocity: 3}}\n"
                             "kinetic: x'^2/2 + y'^2/2 + a'^2/2 + b'^2/4\npotential: 10*x^2\n";
  static const char friction[] =
      "forces: {x: \"-3*x'/abs(x')\", y: \"-sign(2*y' - 0.5)/2\", a: \"-2*sign(a' - b')\", "
      "b: \"2*sign(a' - b')\"}\n";
  char text[2000];
  snprintf(text, sizeof text, "%s%ssimulate: {until: 5}\n", head, friction);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_non_null(view->system->set_valued);
  assert_int_equal(view->system->set_valued->dry_count, 3);
  assert_int_equal(view->system->dry_count, 0);
  const scene_outcome out = scene_try(view, "adaptive", 1e-8, 5.0);
  assert_int_equal(out.status, SALTUS_OK);
  assert_near(out.q[0], -0.1, 1e-7);
  assert_near(out.q[1], 0.9375 + 0.25 * 3.5, 1e-7); /* 1 m/s to 0.25 m/s in 1.5 s */
  assert_near(out.q[2], 0.25 + 4.5, 1e-7);
  assert_near(out.q[3], 1.0 + 4.5, 1e-7);
  assert_near(out.v[2], 1.0, 1e-8);
  assert_near(out.v[3], 1.0, 1e-8);
  const scene_outcome fixed = scene_try(view, "rk4", 1e-4, 2.0); /* the plain formulas */
  assert_int_equal(fixed.status, SALTUS_OK);
  assert_near(fixed.q[3], 1.0 + 1.5, 1e-3);
  saltus_scene_destroy(scene);

  static const char* const others[] = {
      "forces: {x: \"3*sign(x')\"}\n", "forces: {a: \"-2*sign(a' - b')\"}\n",
      "forces: {x: \"-x^2*sign(x')\"}\n", "forces: {x: \"-sign(x'^3)\"}\n"};
  for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
    snprintf(text, sizeof text, "%s%ssimulate: {until: 5}\n", head, others[k]);
    saltus_scene* other = scene_open_text(text);
    assert_null(saltus_scene_get_view(other)->system->set_valued);
    saltus_scene_destroy(other);
  }
}

/* A force that passes friction by sign(x') sticks for 8 ms, at every reversal for less: steps go through that. */
static void short_phases_of_sticking_by_sign_are_passed(void** unused) {
  (void)unused;
  static const char text[] = "saltus: 1\ncoordinates: {x: 0}\nkinetic: x'^2/2\n"
                             "forces: {x: \"40*sin(9*t) - 3*sign(x') - x'*abs(x')\"}\n"
                             "simulate: {until: 1}\n";
  const scene_outcome coarse = scene_run_text(text, "adaptive", 1e-4, 1.0);
  const scene_outcome fine = scene_run_text(text, "rk4", 1e-5, 1.0);
  assert_near(coarse.q[0], fine.q[0], 1e-3);
}

/* A stack of boxes 0.2 m high, each 10 mm beside the one below: the loads of its face contacts are not unique, and their errors
 * between stages of a step are none of the motion. It stays where it is. */
static void stacks_of_boxes_stay_at_rest(void** unused) {
  (void)unused;
  static const double densities[] = {300.0, 600.0, 900.0, 300.0, 450.0};
  for (int draw = 0; draw < 8; draw++) {
    const int boxes = draw == 0 ? 4 : 2 + draw % 4;
    const double beside = draw == 0 ? 0.01 : 0.002 * draw;
    char text[2000];
    int n = snprintf(text, sizeof text,
                     "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
                     "materials: {default: {friction: 0.5}}\nbodies:\n");
    for (int k = 0; k < boxes; k++) {
      n += snprintf(text + n, sizeof text - (size_t)n,
                    "  b%d: {density: %g, position: [%.17g, %.17g, %.17g], shapes: [{box: {size: "
                    "[0.4, 0.4, 0.2]}}]}\n",
                    k, densities[(k + draw) % 5], k * beside,
                    draw % 3 == 2 ? 0.5 * k * beside : 0.0, 0.1 + 0.2 * k);
    }
    const double tol = pow(10.0, -4.0 - draw % 4 * 2.0);
    const scene_outcome out = scene_run_text(text, "adaptive", tol, 1.0);
    for (int k = 0; k < boxes; k++) {
      const double* q = out.q + 7 * (ptrdiff_t)k;
      assert_near(q[0], k * beside, tol);
      assert_near(q[2], 0.1 + 0.2 * k, tol);
      assert_near(q[3], 1.0, tol);
    }
  }
}

/* A box at rest on four corners is pushed at 7.3 s for 20 ms; the way that it slides is that of pulse-slide, one contact. The
 * loads of the corners are not unique, their sum shows the pulse to a run of long steps. */
static void a_pulse_on_redundant_supports_is_found(void** unused) {
  (void)unused;
  static const char text[] =
      "saltus: 1\nworld: {dimension: 3, shapes: [{half-space: {}}]}\n"
      "materials: {default: {friction: 0.5}}\nbodies:\n"
      "  b: {mass: 1, position: [0, 0, 0.1], shapes: [{box: {size: [0.4, 0.4, 0.2]}}]}\n"
      "markers: {foot: {body: b, point: [0, 0, -0.1]}}\n"
      "forces: [{at: foot, force: [\"30*exp(-((t-7.3)/0.02)^2)\", 0, 0]}]\n";
  for (int k = 4; k <= 10; k += 2) {
    const double tol = pow(10.0, -k);
    const scene_outcome out = scene_run_text(text, "adaptive", tol, 10.0);
    assert_near(out.q[0], 0.080019855321, fmax(10.0 * tol, 1e-12));
  }
}

/* Fingers that an equality couples, at their limits and with dry friction: five rows for two velocities that are zero up
 * to rounding. The arm moves as if the gripper were one body with it. */
static void a_closed_gripper_stays_closed(void** unused) {
  (void)unused;
  static const struct {
    const char* scheme;
    double step;
  } cases[] = {{"moreau-jean", 1e-3}, {"moreau-jean", 2e-3}, {"rattle", 1e-3}};
  char text[8192], fixed[8192];
  read_scene("closed-gripper", text);
  const char* fingers = strstr(text, "  - {name: jl");
  assert_non_null(fingers);
  snprintf(fixed, sizeof fixed,
           "%.*s  - {name: jl, type: fixed, between: [l, l1]}\n"
           "  - {name: jr, type: fixed, between: [r, r1]}\n",
           (int)(fingers - text), text);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    const scene_outcome one = scene_run_text(text, cases[k].scheme, cases[k].step, 0.2);
    const scene_outcome two = scene_run_text(fixed, cases[k].scheme, cases[k].step, 0.2);
    for (int i = 0; i < 7; i++) {
      assert_near(one.q[i], two.q[i], 2e-8);
    }
    assert_true(two.q[2] < -1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pulse_on_redundant_supports_is_found),
      cmocka_unit_test(stacks_of_boxes_stay_at_rest),
      cmocka_unit_test(thin_polygons_in_free_flight),
      cmocka_unit_test(rounded_box_and_hull),
      cmocka_unit_test(ball_off_a_heightfield),
      cmocka_unit_test(rounded_box_off_an_open_mesh),
      cmocka_unit_test(ball_behind_a_parting_box),
      cmocka_unit_test(capsules_on_curved_bodies),
      cmocka_unit_test(a_particle_on_lookups),
      cmocka_unit_test(a_saturated_drive_comes_to_rest),
      cmocka_unit_test(friction_by_sign_sticks),
      cmocka_unit_test(signs_of_relative_velocities_are_friction),
      cmocka_unit_test(short_phases_of_sticking_by_sign_are_passed),
      cmocka_unit_test(a_box_rests_beside_a_pendulum),
      cmocka_unit_test(a_closed_gripper_stays_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
