/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Scenes on which a run once ended with a wrong answer and exit 0 (tests/scenes/failing): impacts,
 * motion and end at tolerances 1e-4 to 1e-10, to 10 tol max(1, K), K the amplification of a start
 * perturbation of 1e-9. References are exact flights, closed forms and equations in long double; they
 * reproduce numbers that were computed elsewhere with 30 digits.
 */
#include "saltus_test.h"

#include "adversarial_motions.h"
#include "adversarial_slide.h"

#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

static const double tolerances[CASE_TOLERANCES] = {1e-4, 1e-6, 1e-8, 1e-10};

/* The text of a scene of tests/scenes/failing. */
static void read_scene(adversarial_case* c, const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", SALTUS_FAILING, name);
  c->text = calloc(1, CASE_TEXT);
  c->family = name;
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(c->text);
  size_t size = fread(c->text, 1, CASE_TEXT - 1, file);
  assert_true(size > 0 && size < CASE_TEXT - 1);
  fclose(file);
}

/* Every tolerance; says all that is wrong before it fails. */
static void judge(adversarial_case* c, const char* scheme) {
  int wrong = 0;
  for (int k = 0; k < CASE_TOLERANCES; k++) {
    case_verdict v = case_judge(c, scheme, tolerances[k], 30.0);
    if (v.status != SALTUS_OK || v.wrong) {
      print_error("%s, %s, tol %g: %s\n", c->family, scheme, tolerances[k], v.reason);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

static void judge_all(adversarial_case* c) {
  judge(c, "adaptive");
  judge(c, "adaptive-dopri5");
  judge(c, "adaptive-radau5");
  case_destroy(c);
}

/* ---- flights -------------------------------------------------------------------------------------- */

static flight_contact surface(int n, const double* normal, double constant, double e, int seat) {
  flight_contact contact = {.piece_count = 1, .restitution = e, .seat = seat};
  contact.pieces[0].constant = constant;
  for (int i = 0; i < n; i++) {
    contact.pieces[0].normal[i] = normal[i];
  }
  return contact;
}

static const double up[2] = {0.0, 1.0};
static const double one[1] = {1.0};

static void shape(flight_contact* contact, flight_term term) {
  contact->pieces[0].terms[contact->pieces[0].term_count++] = term;
}

static flight_system ball(double x, double y, double vx, double vy) {
  return (flight_system){.n = 2,
                         .mass = {1.0, 1.0},
                         .acceleration = {0.0, -9.81},
                         .q = {x, y},
                         .v = {vx, vy},
                         .contact_count = 1};
}

static flight_system over_table(double y, double vy, double A, double w, double e) {
  flight_system s = {.n = 1, .mass = {1.0}, .acceleration = {-9.81}, .q = {y}, .v = {vy}};
  s.contacts[s.contact_count++] = surface(1, one, 0.0, e, 0);
  shape(&s.contacts[0], (flight_term){.shape = ROOT_SINE, .size = -A, .frequency = w});
  return s;
}

static void expect_flight(adversarial_case* c, const char* name, const flight_system* s,
                          double t_end) {
  *c = (adversarial_case){0};
  read_scene(c, name);
  assert_true(case_expect_flight(c, s, t_end));
}

/* All impacts are as printed: time, and velocity where it is not 0; the printed numbers belong to
 * decimal parameters, ours to their nearest doubles, and K amplifies the difference. */
static void has_impacts(const flight_system* s, double t_end, const double (*printed)[2], int count,
                        double K) {
  flight_motion motion = {.segments = malloc(FLIGHT_SEGMENTS * sizeof(flight_segment))};
  assert_non_null(motion.segments);
  flight_run(s, t_end, &motion);
  int found = 0;
  for (int i = 0; i < motion.count; i++) {
    const flight_segment* g = &motion.segments[i];
    if (g->begins == FLIGHT_IMPACT && found++ < count && printed != NULL) {
      assert_near((double)g->t, printed[found - 1][0], 1e-16 * K + 2e-15);
      if (printed[found - 1][1] != 0.0) {
        double u = printed[found - 1][1];
        assert_near((double)g->before, u, 5e-12 * fabs(u));
      }
    }
  }
  free(motion.segments);
  assert_int_equal(found, count);
}

static void wavy_ground(void** state) {
  (void)state;
  static const double printed[][2] = {
      {0.3167726734231176, -6.07073396418},
      {0.7934228859299353, -2.82983061024},
      {1.340110333801411, -1.47786360688},
      {1.3662857869737, -1.70506290176},
      {1.386187882650482, 0.0},
      {1.827272989844877, 0.0},
  };
  flight_system s = ball(0.0, 0.5, 3.0, 0.0);
  s.contacts[0] = surface(2, up, 0.0, 0.8, -1);
  shape(&s.contacts[0], (flight_term){.shape = ROOT_SINE, .size = -0.05, .rate = {20.0}});
  adversarial_case c;
  expect_flight(&c, "wavy-ground", &s, 10.0);
  has_impacts(&s, 2.0, printed, 6, 1.5e3);
  judge_all(&c);
}

static void fast_table(void** state) {
  (void)state;
  static const double printed[][2] = {
      {0.2436270989771286, -2.11267008778}, {0.5823148823197723, -1.14154330424},
      {0.641187603119579, -0.536894701805}, {0.8358431956451664, -1.59256076185},
      {1.250719021477276, -2.60315348195},  {1.844038697018536, -2.45100570068},
  };
  flight_system s = over_table(0.3, 0.0, 0.01, 60.0, 0.9);
  adversarial_case c;
  expect_flight(&c, "table-fast", &s, 2.0);
  has_impacts(&s, 2.0, printed, 6, 1e3);
  judge_all(&c);
}

static void chaotic_table(void** state) {
  (void)state;
  flight_system s = over_table(0.02, 0.0, 0.004, 2.0 * PI * 10.0, 0.8);
  adversarial_case c;
  expect_flight(&c, "table-chaotic", &s, 10.0);
  assert_true(c.impact_count >= 3);
  judge_all(&c);
}

static void table_of_period_one(void** state) {
  (void)state;
  double w = 2.0 * PI * 10.0;
  flight_system s = over_table(0.0065, -0.4, 1.3 * 9.81 / (w * w), w, 0.5);
  adversarial_case c;
  expect_flight(&c, "table-period-one", &s, 10.0);
  has_impacts(&s, 10.0, NULL, 100, 1.0);
  assert_true(c.t_end > 9.5);
  judge_all(&c);
}

static void moving_box(void** state) {
  (void)state;
  flight_system s = {.n = 1, .mass = {1.0}, .v = {1.0}, .contact_count = 2};
  static const double left[1] = {-1.0};
  s.contacts[0] = surface(1, one, 0.5, 0.9, -1);
  s.contacts[1] = surface(1, left, 0.5, 0.8, -1);
  s.contacts[1].key = 1;
  shape(&s.contacts[0], (flight_term){.shape = ROOT_SINE, .size = -0.1, .frequency = 9.0});
  shape(&s.contacts[1], (flight_term){.shape = ROOT_SINE, .size = 0.1, .frequency = 9.0});
  adversarial_case c;
  expect_flight(&c, "moving-box", &s, 5.0);
  judge_all(&c);
}

static void needle(void** state) {
  (void)state;
  static const double printed[][2] = {{0.1994770804274358, -319.207507668}};
  flight_system s = ball(0.0, 0.3, 3.0, 1.0);
  s.contacts[0] = surface(2, up, 0.0, 0.7, -1);
  shape(&s.contacts[0],
        (flight_term){.shape = ROOT_BELL, .size = -0.4, .rate = {1.0 / 0.003}, .phase = -200.0});
  adversarial_case c;
  expect_flight(&c, "needle", &s, 0.25);
  has_impacts(&s, 0.25, printed, 1, 1.0);
  judge_all(&c);
}

static void pulse_lift(void** state) {
  (void)state;
  flight_system s = {.n = 1,
                     .mass = {1.0},
                     .acceleration = {-9.81},
                     .pulses = {{0, 60.0, 7.3, 0.03}},
                     .pulse_count = 1,
                     .contact_count = 1};
  s.contacts[0] = surface(1, one, 0.0, 0.3, 0);
  s.contacts[0].resting = true;
  adversarial_case c;
  expect_flight(&c, "pulse-lift", &s, 10.0);
  assert_near(c.impacts[0].t, 7.846524577613, 1e-12);
  assert_near(c.impacts[0].before, -2.657997935724, 1e-12);
  judge_all(&c);
}

/* min(y - x, y + x) and y - |x| are two planes. */
static void valleys(void** state) {
  (void)state;
  static const double planes[2][2] = {{-1.0, 1.0}, {1.0, 1.0}};
  static const char* const names[] = {"valley", "valley-abs"};
  for (int k = 0; k < 2; k++) {
    flight_system s = ball(0.1, 1.0, 0.0, 0.0);
    s.contact_count = 2;
    s.contacts[0] = surface(2, planes[0], 0.0, 1.0, -1);
    s.contacts[1] = surface(2, planes[1], 0.0, 1.0, -1);
    adversarial_case c;
    expect_flight(&c, names[k], &s, 3.0);
    has_impacts(&s, 3.0, NULL, 7, 1.0);
    double energy = 0.5 * (c.v_end[0] * c.v_end[0] + c.v_end[1] * c.v_end[1]) + 9.81 * c.q_end[1];
    assert_near(energy, 9.81, 1e-13);
    c.keys = false; /* a min is reported as one contact or as two */
    judge_all(&c);
  }
}

/* ---- friction --------------------------------------------------------------------------------------- */

static void pulse_slide(void** state) {
  (void)state;
  slide_system s = {
      .pulses = {{SLIDE_PUSH, 30.0, 7.3, 0.02}}, .pulse_count = 1, .mu = 0.5, .mass = 1.0};
  adversarial_case c = {0};
  read_scene(&c, "pulse-slide");
  assert_true(case_expect_slide(&c, &s, 10.0));
  assert_near(c.q_end[0], 0.080019855321, 1e-12);
  judge_all(&c);
}

/* A block under 8 cos t: in the frame z = x + 8 cos t - 8 it lies on a belt of velocity -8 sin t. */
static void five_supports(void** state) {
  (void)state;
  slide_system s = {.mu = 0.8, .mass = 1.0, .belt = 8.0, .rate = 1.0, .phase = PI};
  adversarial_case c = {0};
  read_scene(&c, "five-supports");
  assert_true(case_expect_slide(&c, &s, 10.0));
  for (int k = 0; k < CASE_FRAMES; k++) {
    c.frame_q[2 * k] += 8.0 * (1.0 - cos(c.frame_t[k]));
    c.frame_q[2 * k + 1] = 0.1;
  }
  c.q_end[0] += 8.0 * (1.0 - cos(c.t_end));
  c.q_end[1] = 0.1;
  c.v_end[0] += 8.0 * sin(c.t_end);
  c.exact = 1e-13; /* eight times a cosine in double */
  judge_all(&c);
}

/* Down with a = g (sin - mu cos), up again with b = g (sin + mu cos): a rebound u comes back with
 * u sqrt(a/b) after u (1/b + 1/sqrt(a b)). */
typedef struct incline {
  double a, b;
  double t[80], u[80]; /* impacts, velocities after them */
  double settles;
} incline;

static incline incline_motion(void) {
  double alpha = 30.0 * PI / 180.0;
  incline s = {.a = 9.81 * (sin(alpha) - 0.3 * cos(alpha)),
               .b = 9.81 * (sin(alpha) + 0.3 * cos(alpha))};
  double flight = 1.0 / s.b + 1.0 / sqrt(s.a * s.b);
  double ratio = 0.5 * sqrt(s.a / s.b);
  s.t[0] = sqrt(2.0 / s.a);
  s.u[0] = 0.5 * sqrt(2.0 * s.a);
  for (int k = 1; k < 80; k++) {
    s.t[k] = s.t[k - 1] + s.u[k - 1] * flight;
    s.u[k] = s.u[k - 1] * ratio;
  }
  s.settles = s.t[0] + s.u[0] * flight / (1.0 - ratio);
  return s;
}

static double incline_x(const incline* s, double t) {
  int k = 79;
  while (k >= 0 && s->t[k] > t) {
    k--;
  }
  if (k < 0) {
    return s->a * t * t / 2.0;
  }
  double turn = s->u[k] / s->b;
  double after = t - s->t[k];
  double back = after - turn;
  return back <= 0.0 ? 1.0 - s->u[k] * after + s->b * after * after / 2.0
         : k == 79   ? 1.0
                     : 1.0 - s->u[k] * turn / 2.0 + s->a * back * back / 2.0;
}

static void incline_with_stop(void** state) {
  (void)state;
  incline s = incline_motion();
  adversarial_case c = {0};
  read_scene(&c, "incline-stop");
  assert_true(case_create(&c, 2, 80, 1));
  while (c.impact_count < 80 && s.u[c.impact_count] > 1e-7) {
    int k = c.impact_count;
    double before = k == 0 ? -2.0 * s.u[0] : -2.0 * s.u[k];
    c.impacts[c.impact_count++] = (expected_impact){s.t[k], before, 1, 1.0};
  }
  int last = c.impact_count - 1;
  c.rests[c.rest_count++] = (expected_rest){s.t[last], s.settles, c.impacts[last].before, 1, 1.0};
  for (int k = 0; k < CASE_FRAMES; k++) {
    c.frame_t[k] = 3.0 * k / (CASE_FRAMES - 1);
    c.frame_q[2 * k] = incline_x(&s, c.frame_t[k]);
    c.frame_K[k] = 1.0;
  }
  c.t_end = 3.0;
  c.q_end[0] = 1.0;
  c.K_end = 1.0;
  c.exact = 1e-13;
  judge_all(&c);
}

/* ---- equations of few coordinates ---------------------------------------------------------------------- */

static void expect_pendulum(adversarial_case* c, const char* name, const motion_pendulum* p,
                            double t_end) {
  ode_system system = motion_pendulum_system(p);
  *c = (adversarial_case){0};
  read_scene(c, name);
  assert_true(case_expect_motion(c, &system, t_end, motion_pendulum_map, 2));
}

static void driven_pivot(void** state) {
  (void)state;
  double theta = asin(0.4);
  motion_pendulum p = {.l = 1.0,
                       .A = 0.1,
                       .w = 15.0,
                       .wall = 0.3,
                       .e = 0.6,
                       .theta = theta,
                       .omega = -1.5 / cos(theta)};
  adversarial_case c;
  expect_pendulum(&c, "driven-pivot", &p, 2.0);
  judge_all(&c);
}

static void redundant_rod(void** state) {
  (void)state;
  motion_pendulum p = {.l = 1.0, .wall = 0.3, .e = 0.5, .theta = PI / 6.0};
  adversarial_case c;
  expect_pendulum(&c, "redundant-rod", &p, 3.0);
  judge_all(&c);
}

static void long_pendulum(void** state) {
  (void)state;
  motion_pendulum p = {.l = 1.0, .theta = PI / 2.0, .free = true};
  adversarial_case c;
  expect_pendulum(&c, "pendulum-long", &p, 5.0); /* errors add up over longer times */
  judge_all(&c);
}

static void three_masses(void** state) {
  (void)state;
  motion_springs s = {.mass = {1.0, 0.8, 1.5},
                      .ground = {10.0, 0.0, 10.0},
                      .between = {40.0, 25.0},
                      .stop = {0.1, 0.05, 0.2},
                      .e = {0.9, 0.3, 0.6},
                      .q = {0.3, 0.5, -0.1},
                      .force = 2.0,
                      .rate = 3.0,
                      .damping = 0.1};
  ode_system system = motion_springs_system(&s);
  adversarial_case c = {0};
  read_scene(&c, "three-masses");
  assert_true(case_expect_motion(&c, &system, 6.0, motion_springs_map, 3));
  judge_all(&c);
}

/* Slider-crank: everything follows from theta. */
typedef struct crank {
  long double sine, cosine, phi1, phi2, s1, s; /* of phi; derivatives by theta; slider */
  long double I, I1, V1;                       /* inertia and its slope, slope of the potential */
} crank;

static crank crank_at(long double theta) {
  static const long double r = 0.15L;
  static const long double l = 0.4L;
  static const long double mc = 0.2L;
  static const long double mr = 0.3L;
  static const long double ms = 0.5L;
  static const long double g = 9.81L;
  crank c = {.sine = r / l * sinl(theta)};
  c.cosine = sqrtl(1.0L - c.sine * c.sine);
  c.phi1 = r * cosl(theta) / (l * c.cosine);
  c.phi2 = -r * sinl(theta) / (l * c.cosine) + c.phi1 * c.phi1 * c.sine / c.cosine;
  c.s = r * cosl(theta) + l * c.cosine;
  c.s1 = -r * sinl(theta) - l * c.sine * c.phi1;
  long double s2 = -r * cosl(theta) - l * c.cosine * c.phi1 * c.phi1 - l * c.sine * c.phi2;
  long double x1 = -r * sinl(theta) - l / 2.0L * c.sine * c.phi1;
  long double y1 = r * cosl(theta) - l / 2.0L * c.cosine * c.phi1;
  long double x2 = -r * cosl(theta) - l / 2.0L * (c.cosine * c.phi1 * c.phi1 + c.sine * c.phi2);
  long double y2 = -r * sinl(theta) + l / 2.0L * (c.sine * c.phi1 * c.phi1 - c.cosine * c.phi2);
  long double Jr = mr * l * l / 12.0L;
  c.I = mc * r * r / 12.0L + mc * r * r / 4.0L + Jr * c.phi1 * c.phi1 + mr * (x1 * x1 + y1 * y1) +
        ms * c.s1 * c.s1;
  c.I1 = 2.0L * (Jr * c.phi1 * c.phi2 + mr * (x1 * x2 + y1 * y2) + ms * c.s1 * s2);
  c.V1 = mc * g * r / 2.0L * cosl(theta) + mr * g * y1;
  return c;
}

static void crank_rate(const void* who, const bool* above, root_real t, const root_real* y,
                       root_real* dy) {
  (void)who;
  (void)above;
  (void)t;
  crank c = crank_at(y[0]);
  dy[0] = y[1];
  dy[1] = (-0.3L - c.V1 - c.I1 * y[1] * y[1] / 2.0L) / c.I;
}

static root_real crank_gap(const void* who, int contact, root_real t, const root_real* y) {
  (void)who;
  (void)contact;
  (void)t;
  return 0.5L - crank_at(y[0]).s;
}

static root_real crank_gap_rate(const void* who, int contact, root_real t, const root_real* y) {
  (void)who;
  (void)contact;
  (void)t;
  return -crank_at(y[0]).s1 * y[1];
}

static void crank_impact(const void* who, int contact, root_real t, root_real* y) {
  (void)who;
  (void)contact;
  (void)t;
  y[1] *= -0.6L;
}

static void crank_map(const void* who, root_real t, const root_real* y, root_real* q,
                      root_real* v) {
  (void)who;
  (void)t;
  crank c = crank_at(y[0]);
  q[0] = y[0];
  q[1] = asinl(c.sine);
  q[2] = c.s;
  v[0] = y[1];
  v[1] = c.phi1 * y[1];
  v[2] = c.s1 * y[1];
}

static void crank_with_stop(void** state) {
  (void)state;
  ode_system system = {.n = 2,
                       .contact_count = 1,
                       .step = 0.005,
                       .y = {PI / 2.0, -6.0},
                       .rate = crank_rate,
                       .gap = crank_gap,
                       .gap_rate = crank_gap_rate,
                       .impact = crank_impact,
                       .restitution = 0.6,
                       .rests = true};
  adversarial_case c = {0};
  read_scene(&c, "crank-stop");
  assert_true(case_expect_motion(&c, &system, 3.0, crank_map, 3));
  assert_true(c.impact_count >= 20 && c.rest_count == 1);
  judge_all(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wavy_ground),       cmocka_unit_test(fast_table),
      cmocka_unit_test(chaotic_table),     cmocka_unit_test(table_of_period_one),
      cmocka_unit_test(moving_box),        cmocka_unit_test(needle),
      cmocka_unit_test(pulse_lift),        cmocka_unit_test(valleys),
      cmocka_unit_test(pulse_slide),       cmocka_unit_test(five_supports),
      cmocka_unit_test(incline_with_stop), cmocka_unit_test(driven_pivot),
      cmocka_unit_test(redundant_rod),     cmocka_unit_test(long_pendulum),
      cmocka_unit_test(three_masses),      cmocka_unit_test(crank_with_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
