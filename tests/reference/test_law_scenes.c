/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Impact laws in scenes, run to a tolerance: velocities after impacts are those of the laws (docs/theory/laws.md, 2),
 * second impacts and rests included.
 */
#include "saltus_test.h"

#include "../../studies/impact_cases.h"
#include "saltus/adaptive.h"
#include "saltus/run.h"
#include "scene_runs.h"

#include <stdio.h>

enum { TEXT = 4096, COUNT = 16 };

typedef struct outcome {
  saltus_status status;
  double q[COUNT], v[COUNT];
  int impacts, gains, replaced;
  double gain;
  double first, approach; /* s and m/s, of the first impact */
  char message[1024];
} outcome;

static saltus_status keep_event(void* user, const saltus_event* event) {
  outcome* o = user;
  if (event->kind == SALTUS_EVENT_IMPACT && o->impacts == 0) {
    o->first = event->t;
    o->approach = event->u_before;
  }
  o->impacts += event->kind == SALTUS_EVENT_IMPACT;
  o->gains += event->kind == SALTUS_EVENT_ENERGY_GAIN;
  o->replaced += event->kind == SALTUS_EVENT_LAW_REPLACED;
  o->gain += event->kind == SALTUS_EVENT_ENERGY_GAIN ? event->energy_change : 0.0;
  return SALTUS_OK;
}

static outcome run_to(const char* text, double until, double tol) {
  outcome o = {.status = SALTUS_OK};
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = "test", .text = text, .log = saltus_log_keep(&kept)};
  o.status = saltus_scene_create(&made, &scene);
  if (o.status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    saltus_adaptive_options options = saltus_adaptive_options_default();
    options.rtol = options.atol = tol;
    const saltus_recorder recorder = {.event = keep_event, .user = &o};
    const saltus_sim_def def = {.system = view->system,
                                .scheme = "adaptive",
                                .options = &options,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .log = saltus_log_keep(&kept)};
    o.status = saltus_sim_create(&def, &sim);
    if (o.status == SALTUS_OK) {
      o.status = saltus_sim_run_until(sim, until);
      memcpy(o.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
      memcpy(o.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
    }
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  snprintf(o.message, sizeof o.message, "%s", kept.text);
  return o;
}

static outcome run(const char* text, double until) {
  return run_to(text, until, 1e-9);
}

static void assert_runs(const outcome* o) {
  if (o->status != SALTUS_OK) {
    fail_msg("%s", o->message);
  }
}

/* Balls in line, one unit apart but the first, which comes with 1. */
static void write_chain(char* text, int balls, double e, const char* law, const char* impacts) {
  int n = snprintf(text, TEXT, "saltus: 1\ncoordinates:\n");
  for (int i = 1; i <= balls; i++) {
    n += snprintf(text + n, (size_t)(TEXT - n), "  x%d: {start: %s, velocity: %d}\n", i,
                  i == 1 ? "-0.1" : "0", i == 1);
  }
  n += snprintf(text + n, (size_t)(TEXT - n), "kinetic: (x1'^2");
  for (int i = 2; i <= balls; i++) {
    n += snprintf(text + n, (size_t)(TEXT - n), " + x%d'^2", i);
  }
  n += snprintf(text + n, (size_t)(TEXT - n), ")/2\ncontacts:\n");
  for (int i = 1; i < balls; i++) {
    n += snprintf(text + n, (size_t)(TEXT - n),
                  "  - {name: c%d, gap: x%d - x%d, restitution: %g, impact: %s}\n", i, i + 1, i, e,
                  law);
  }
  snprintf(text + n, (size_t)(TEXT - n), "%s", impacts);
}

static void assert_velocities(int n, const outcome* o, const double* expected, double tol) {
  assert_runs(o);
  for (int i = 0; i < n; i++) {
    assert_near(o->v[i], expected[i], tol);
  }
}

static void chains_strike_by_the_law_of_the_scene(void** state) {
  (void)state;
  static const struct {
    int balls;
    double e;
    const char *law, *impacts;
    double v[5];
  } cases[] = {
      {3, 1.0, "newton", "", {-1.0 / 3, 2.0 / 3, 2.0 / 3}},
      {3, 1.0, "newton", "impacts: {order: sequential}\n", {0.0, 0.0, 1.0}},
      {3, 1.0, "energetic", "", {0.0, 0.0, 1.0}},
      {3,
       1.0,
       "newton",
       "impacts: {order: lzb}\n",
       {-0.130261695065, 0.150229569435, 0.980032125630}},
      {3,
       1.0,
       "newton",
       "impacts: {order: lzb, exponent: 1.5}\n",
       {-0.0709523537, 0.0764030391, 0.9945493146}},
      {3,
       0.5,
       "newton",
       "impacts: {order: lzb, exponent: 3/2}\n",
       {0.2092354752, 0.2187794422, 0.5719850826}},
      {3, 0.5, "poisson-printed", "", {0.0, 0.5, 0.5}},
      {3, 0.0, "newton", "impacts: {order: moreau, restitution: 1/2}\n", {0.0, 0.5, 0.5}},
      {3,
       0.5,
       "newton",
       "impacts: {matrix: {contacts: [c1, c2], rows: [[0, 1], [1, 0]]}}\n",
       {0.0, 0.0, 1.0}},
      {5,
       1.0,
       "newton",
       "impacts: {order: lzb, exponent: 1.5}\n",
       {-0.0710850171, -0.0302737641, -0.0144636290, 0.1270449861, 0.9887774241}},
      {5,
       0.5,
       "energetic",
       "",
       {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    write_chain(text, cases[k].balls, cases[k].e, cases[k].law, cases[k].impacts);
    outcome o = run(text, 0.2);
    assert_velocities(cases[k].balls, &o, cases[k].v, 2e-10); /* digits of the springs */
  }
}

/* Chains that never meet may have clocks of their own; the law is that of the scene in each. */
static void chains_apart_strike_by_the_same_law(void** state) {
  (void)state;
  char text[TEXT];
  int n = snprintf(text, TEXT, "saltus: 1\ncoordinates:\n");
  for (int i = 1; i <= 12; i++) {
    n += snprintf(text + n, (size_t)(TEXT - n), "  x%d: {start: %s, velocity: %d}\n", i,
                  i % 3 == 1 ? "-0.1" : "0", i % 3 == 1);
  }
  n += snprintf(text + n, (size_t)(TEXT - n), "kinetic: (x1'^2");
  for (int i = 2; i <= 12; i++) {
    n += snprintf(text + n, (size_t)(TEXT - n), " + x%d'^2", i);
  }
  n += snprintf(text + n, (size_t)(TEXT - n), ")/2\nimpacts: {order: lzb}\ncontacts:\n");
  for (int i = 1; i < 12; i++) {
    if (i % 3 != 0) {
      n += snprintf(text + n, (size_t)(TEXT - n), "  - {gap: x%d - x%d, restitution: 1}\n", i + 1,
                    i);
    }
  }
  static const double v[3] = {-0.130261695065, 0.150229569435, 0.980032125630};
  outcome o = run(text, 0.2);
  assert_runs(&o);
  for (int i = 0; i < 12; i++) {
    assert_near(o.v[i], v[i % 3], 2e-12);
  }
}

static void a_scene_gives_stiffness_by_contact(void** state) {
  (void)state;
  char text[TEXT];
  write_chain(text, 3, 0.8, "newton", "impacts: {order: lzb, stiffness: {c2: 4}}\n");
  char* masses = strstr(text, "(x1'^2 + x2'^2 + x3'^2)/2");
  memcpy(masses, "x1'^2/2 + x2'^2 + x3'^2/4", strlen("x1'^2/2 + x2'^2 + x3'^2/4"));
  outcome o = run(text, 0.2);
  assert_velocities(3, &o, (double[3]){-0.285116547455, 0.505214489318, 0.549375137639}, 1e-11);
}

/* Two beads on a rod, left one at rest on the floor, right one falling: m = 2, J = 8.8. */
static const char dimer[] =
    "saltus: 1\n"
    "coordinates: {x: {velocity: 0}, y: {velocity: -2}, p: {velocity: -1}}\n"
    "kinetic: x'^2 + y'^2 + 4.4*p'^2\n"
    "contacts:\n"
    "  - {name: left, gap: y - 2*p, slip: x' + p', friction: %g, restitution: 0.6, impact: %s}\n"
    "  - {name: right, gap: y + 2*p, slip: x' + p', friction: %g, restitution: 0.6, impact: %s}\n"
    "%s";

static void dimers_strike_by_the_law_of_the_scene(void** state) {
  (void)state;
  static const struct {
    double mu;
    const char *law, *impacts;
    double v[3], tol;
  } cases[] = {
      {0.1, "newton", "", {-0.343414634, 1.434146341, 0.482926829}, 1e-9},
      {0.1, "poisson", "", {-0.082553191, 1.336170213, 0.497678917}, 1e-9},
      {0.1, "energetic", "", {0.014450489, 1.320062044, 0.512403313}, 1e-9},
      {0.1, "newton", "impacts: {order: lzb}\n", {0.014450489, 1.320062044, 0.512403313}, 1e-9},
      {0.5, "energetic", "", {-0.431299095, 1.364507556, 0.431299095}, 1e-9},
      {0.5, "newton", "impacts: {order: lzb}\n", {-0.4238468, 1.3781724, 0.4238468}, 1e-7},
      {0.5,
       "newton",
       "impacts: {order: lzb, exponent: 1.5}\n",
       {-0.4305463, 1.3659023, 0.4305463},
       1e-7},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    snprintf(text, sizeof text, dimer, cases[k].mu, cases[k].law, cases[k].mu, cases[k].law,
             cases[k].impacts);
    outcome o = run(text, 0.1);
    assert_velocities(3, &o, cases[k].v, cases[k].tol);
  }
}

/* One contact whose W is given: M = W^-1 and G = 1. */
static void write_given(char* text, const impact_case* c, const char* law) {
  int n = c->rows;
  double A[9], inverse[9];
  memcpy(A, c->W, sizeof(double) * (size_t)(n * n));
  memset(inverse, 0, sizeof inverse);
  for (int i = 0; i < n; i++) {
    inverse[i * n + i] = 1.0;
  }
  for (int i = 0; i < n; i++) { /* Gauss and Jordan; W is positive definite */
    double pivot = A[i * n + i];
    for (int j = 0; j < n; j++) {
      A[i * n + j] /= pivot;
      inverse[i * n + j] /= pivot;
    }
    for (int k = 0; k < n; k++) {
      double factor = k == i ? 0.0 : A[k * n + i];
      for (int j = 0; j < n; j++) {
        A[k * n + j] -= factor * A[i * n + j];
        inverse[k * n + j] -= factor * inverse[i * n + j];
      }
    }
  }
  static const char names[] = "nab";
  int at =
      snprintf(text, TEXT, "saltus: 1\ncoordinates: {n: {velocity: %.17g}, a: {velocity: %.17g}%s",
               c->u[0], c->u[1], n == 3 ? "" : "}\nkinetic: (");
  if (n == 3) {
    at += snprintf(text + at, (size_t)(TEXT - at), ", b: {velocity: %.17g}}\nkinetic: (", c->u[2]);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      at += snprintf(text + at, (size_t)(TEXT - at), "%s(%.17g)*%c'*%c'", i + j > 0 ? " + " : "",
                     0.5 * (inverse[i * n + j] + inverse[j * n + i]), names[i], names[j]);
    }
  }
  snprintf(text + at, (size_t)(TEXT - at),
           ")/2\ncontacts:\n  - {name: c, gap: n, slip: a', %s friction: %.17g, restitution: "
           "%.17g, impact: %s}\n",
           n == 3 ? "slip2: b'," : "", c->contact[0].mu, c->contact[0].e_N, law);
}

static void every_law_of_one_contact_is_that_of_the_layer(void** state) {
  (void)state;
  uint64_t seed = 2026;
  for (int k = 0; k < 120; k++) {
    int d = 2 + k % 2;
    saltus_impact_law law = (saltus_impact_law)(k % 6);
    char text[TEXT];
    impact_case c = impact_random(&seed, d);
    write_given(text, &c, saltus_impact_law_name(law));
    c.contact[0].impact = law;
    impact_outcome expected = impact_case_solve(&c, NULL);
    assert_int_equal(expected.status, SALTUS_OK);
    if (expected.u[0] < 1e-3) {
      continue; /* closes and slides on */
    }
    outcome o = run(text, 1e-3);
    assert_runs(&o);
    for (int i = 0; i < d; i++) { /* M from W by Gauss: condition of W */
      assert_near(o.v[i], expected.u[i], 1e-7 * (1.0 + fabs(c.u[1])));
    }
    assert_int_equal(o.gains > 0, expected.result.giver >= 0);
  }
}

static void answers_to_a_gain_are_those_of_the_scene(void** state) {
  (void)state;
  static const struct {
    const char* answer;
    double change;
    int replaced;
  } cases[] = {{"report", 0.040743904553, 0},
               {"cap", 0.0, 1},
               {"poisson", -0.009947567369, 1},
               {"energetic", -0.009270438743, 1},
               {"tangential", NAN, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "saltus: 1\nparameters: {a: pi/9, b: pi/6}\n"
             "coordinates: {p: {start: a, velocity: -0.1}, r: {start: b, velocity: -0.2}}\n"
             "kinetic: 2/3*p'^2 + r'^2/6 + cos(p - r)*p'*r'/2\n"
             "contacts:\n  - {name: floor, gap: cos(a) + cos(b) - cos(p) - cos(r), slip: sin(p) + "
             "sin(r), friction: 0.5, restitution: 0.7}\n"
             "impacts: {energy: %s}\n",
             cases[k].answer);
    outcome o = run(text, 1e-6);
    assert_runs(&o);
    double T = 2.0 / 3 * o.v[0] * o.v[0] + o.v[1] * o.v[1] / 6 +
               cos(o.q[0] - o.q[1]) * o.v[0] * o.v[1] / 2;
    double change = T - 0.023181410863;
    assert_int_equal(o.replaced, cases[k].replaced);
    assert_int_equal(o.gains, cases[k].replaced ? 0 : 1);
    if (isnan(cases[k].change)) {
      assert_true(change < 0.0);
    } else {
      assert_near(change, cases[k].change, 1e-11);
    }
  }
  char text[TEXT];
  snprintf(text, sizeof text, "%s",
           "saltus: 1\nparameters: {a: pi/9, b: pi/6}\n"
           "coordinates: {p: {start: a, velocity: -0.1}, r: {start: b, velocity: -0.2}}\n"
           "kinetic: 2/3*p'^2 + r'^2/6 + cos(p - r)*p'*r'/2\n"
           "contacts:\n  - {name: floor, gap: cos(a) + cos(b) - cos(p) - cos(r), slip: sin(p) + "
           "sin(r), friction: 0.5, restitution: 0.7}\n"
           "impacts: {energy: stop}\n");
  outcome o = run(text, 1e-6);
  assert_int_equal(o.status, SALTUS_ERR_LAW);
  assert_non_null(strstr(o.message, "floor"));
  assert_non_null(strstr(o.message, "0.061222")); /* along the first slip */
}

/* A block 0.4 x 1.2 dropped on a corner; every law brings it to rest on the floor without creating energy. */
static void blocks_come_to_rest_by_every_law(void** state) {
  (void)state;
  static const char block[] =
      "saltus: 1\ncoordinates: {x: 0, y: 0.7, p: 0.1}\n"
      "kinetic: (x'^2 + y'^2 + p'^2*0.4/3)/2\npotential: 9.81*y\n"
      "contacts:\n"
      "  - {name: left, gap: y - 0.2*sin(p) - 0.6*cos(p), slip: x - 0.2*cos(p) + 0.6*sin(p), "
      "friction: 0.4, restitution: 0.4, impact: %s}\n"
      "  - {name: right, gap: y + 0.2*sin(p) - 0.6*cos(p), slip: x + 0.2*cos(p) + 0.6*sin(p), "
      "friction: 0.4, restitution: 0.4, impact: %s}\n"
      "%s";
  static const char* const cases[][2] = {
      {"energetic", ""},
      {"poisson", ""},
      {"path-poisson", ""},
      {"newton", "impacts: {order: lzb}\n"},
      {"newton", "impacts: {order: moreau, restitution: 0.4}\n"},
      {"energetic", "impacts: {order: sequential, pick: events}\n"}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    snprintf(text, sizeof text, block, cases[k][0], cases[k][0], cases[k][1]);
    outcome o = run(text, 15.0);
    assert_runs(&o);
    assert_int_equal(o.gains, 0);
    assert_near(o.q[1], 0.6, 1e-7);
    assert_near(o.v[1], 0.0, 1e-7);
    assert_near(o.v[2], 0.0, 1e-7);
  }
}

/* Half sides b and h, from rest at half the angle of the diagonal, no slip: when the other corner strikes, how fast it
 * turns then, and Housner's ratio, by all contacts at once and one after the other. */
static void a_block_strikes_when_and_as_fast_as_it_must(void** state) {
  (void)state;
  static const struct {
    double b, h, t, w, ratio;
  } cases[] = {{0.2, 0.6, 0.387295076315, 0.945266502965, 0.85},
               {0.5, 1.0, 0.516630152218, 1.018534630907, 0.7}};
  static const char* const laws[] = {"newton", "energetic"};
  for (int k = 0; k < 4; k++) {
    char text[TEXT];
    double b = cases[k / 2].b, h = cases[k / 2].h, w = cases[k / 2].w, t = cases[k / 2].t;
    snprintf(text, sizeof text,
             "saltus: 1\n"
             "parameters: {b: %g, h: %g, tilt: atan(b/h)/2}\n"
             "coordinates:\n"
             "  x: {start: 0}\n"
             "  y: {start: b*sin(tilt) + h*cos(tilt)}\n"
             "  phi: {start: tilt}\n"
             "kinetic: (x'^2 + y'^2)/2 + (b^2 + h^2)/3*phi'^2/2\n"
             "potential: 9.81*y\n"
             "contacts:\n"
             "  - {name: left, gap: y - b*sin(phi) - h*cos(phi), slip: x - b*cos(phi) + "
             "h*sin(phi), friction: 9, impact: %s}\n"
             "  - {name: right, gap: y + b*sin(phi) - h*cos(phi), slip: x + b*cos(phi) + "
             "h*sin(phi), friction: 9, impact: %s}\n",
             b, h, laws[k % 2], laws[k % 2]);
    const double tol = 1e-12, later = 1e-9;
    outcome o = run_to(text, t + later, tol);
    assert_runs(&o);
    assert_near(o.first, t, 10.0 * tol);
    assert_near(o.approach, -2.0 * b * w, 10.0 * tol);
    /* it turns on about the other corner, against 3/4 g b / (b^2 + h^2) */
    double back = 0.75 * 9.81 * b / (b * b + h * h) * later;
    assert_near(fabs(o.v[2]), cases[k / 2].ratio * w - back, 20.0 * tol);
  }
}

static void shapes_have_the_law_of_their_materials(void** state) {
  (void)state;
  static const char scene[] =
      "saltus: 1\nworld: {gravity: [0, 0], shapes: [{half-plane: {}}]}\n"
      "bodies:\n  rod: {mass: 1, inertia: 1/3, position: [0, sin(pi/3)], angle: 0, velocity: [1, "
      "-1],\n"
      "        shapes: [{circle: {radius: 1e-9}, position: [-cos(pi/3), -sin(pi/3)]}]}\n"
      "materials: {default: {friction: 0.3, restitution: 0.8, impact: %s}}\n%s";
  static const struct {
    const char *law, *more;
    double v[2];
  } cases[] = {
      {"energetic", "", {0.638501041381, -0.166170249632}},
      {"newton",
       "contact_pairs: [{between: [rod, world], impact: energetic}]\n",
       {0.638501041381, -0.166170249632}},
      {"newton", "", {0.8, 0.0}},
      {"path-poisson", "", {0.525801300705, -0.139323732408}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    snprintf(text, sizeof text, scene, cases[k].law, cases[k].more);
    outcome o = run(text, 1e-6);
    assert_runs(&o);
    double x = -cos(acos(-1.0) / 3);
    double y = -sin(acos(-1.0) / 3);
    assert_near(o.v[1] + o.v[2] * x, cases[k].v[0], 1e-6); /* of the tip; it turns by 1e-6 */
    assert_near(o.v[0] - o.v[2] * y, cases[k].v[1], 1e-5);
  }
}

static void wrong_laws_are_refused(void** state) {
  (void)state;
  static const char* const cases[][3] = {
      {"stronge", "", "impact"},
      {"newton", "impacts: {order: together}\n", "order"},
      {"newton", "impacts: {order: lzb, exponent: 4}\n", "between 1 and 3"},
      {"newton", "impacts: {order: moreau}\n", "moreau"},
      {"newton", "impacts: {restitution: 0.5}\n", "moreau"},
      {"newton", "impacts: {stiffness: {c9: 2}}\n", "no such contact"},
      {"newton", "impacts: {stiffness: {c1: -2}}\n", "positive"},
      {"newton", "impacts: {matrix: {contacts: [c1, c2], rows: [[0, 1]]}}\n", "rows"},
      {"newton", "impacts: {matrix: {contacts: [c1, c7], rows: [[0, 1], [1, 0]]}}\n",
       "no such contact"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    write_chain(text, 3, 0.5, cases[k][0], cases[k][1]);
    outcome o = run(text, 0.2);
    assert_int_not_equal(o.status, SALTUS_OK);
    if (strstr(o.message, cases[k][2]) == NULL) {
      fail_msg("\"%s\" does not say \"%s\"", o.message, cases[k][2]);
    }
  }
  char text[TEXT];
  write_chain(text, 3, 0.0, "newton", "impacts: {order: lzb}\n");
  outcome o = run(text, 0.2);
  assert_int_equal(o.status, SALTUS_ERR_RANGE);
  assert_non_null(strstr(o.message, "c1"));
}

/* ---- friction of impacts ----------------------------------------------------------------------- */

/* A block of unit mass, v = (2, -1) at a height of 0.1 with g = 10: it strikes with sqrt(3). */
static void write_block(char* text, const char* contact) {
  snprintf(text, TEXT,
           "saltus: 1\ncoordinates: {x: {start: 0, velocity: 2}, y: {start: 0.1, velocity: -1}}\n"
           "kinetic: (x'^2 + y'^2)/2\npotential: 10*y\ncontacts:\n"
           "  - {name: floor, gap: y, slip: x', friction: 0.3%s}\n",
           contact);
}

/* Speed after the impact, then sliding with 0.3: x and x' at t. */
static void slide_on(double mu, double t, double* x, double* v) {
  const double hit = sqrt(3.0), at = (hit - 1.0) / 10.0, after = 2.0 - mu * hit;
  *v = after - 3.0 * (t - at);
  *x = 2.0 * at + after * (t - at) - 1.5 * (t - at) * (t - at);
}

static void impact_friction_acts_in_impacts_alone(void** state) {
  (void)state;
  static const struct {
    const char* key;
    double mu;
  } cases[] = {{"", 0.3},
               {", impact_friction: 0.1", 0.1},
               {", impact_friction: 0", 0.0},
               {", impact_friction: 0.5", 0.5},
               {", impact_friction: 0.1, impact: path-poisson", 0.1},
               {", impact_friction: 0.1, impact: energetic", 0.1}};
  static const char* const located[] = {"rk4", "dopri5", "event-driven", "trapezoidal-implicit-end",
                                        "radau-iia-3"};
  static const char* const steps[] = {
      "moreau-jean", "moreau-midpoint",         "rattle",         "variational",
      "dg-minus",    "splitting-rkf45-contact", "schatzman-paoli"};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[TEXT];
    double x, v;
    write_block(text, cases[k].key);
    slide_on(cases[k].mu, 0.3, &x, &v);
    const outcome o = run(text, 0.3);
    assert_runs(&o);
    assert_near(o.q[0], x, 1e-8);
    assert_near(o.v[0], v, 1e-8);
    for (size_t s = 0; s < sizeof located / sizeof located[0]; s++) {
      const scene_outcome l = scene_run_text(text, located[s], 1e-3, 0.3);
      assert_near(l.q[0], x, 1e-9);
      assert_near(l.v[0], v, 1e-9);
    }
    /* stopped at a height of at most 2 h sqrt(3), the block falls on and has impacts in place of sliding */
    const double h = 1e-4, late = fabs(0.3 - cases[k].mu) * sqrt(40.0 * h * sqrt(3.0)) + 30.0 * h;
    for (size_t s = 0; k < 3 && s < sizeof steps / sizeof steps[0]; s++) {
      const scene_outcome l = scene_run_text(text, steps[s], h, 0.3);
      assert_near(l.v[0], v, late);
    }
  }
}

/* The impulse of a located impact, and a rebound in space: P_T = mu_I P_N against the slip. */
static void impact_friction_limits_the_impulse_in_space(void** state) {
  (void)state;
  const char* text =
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, -10], shapes: [{half-space: {}}]}\n"
      "materials: {default: {friction: 0.4, impact_friction: 0.1, restitution: 0.5}}\n"
      "bodies: {ball: {mass: 2, inertia: [1e6, 1e6, 1e6], shapes: [{sphere: {radius: 0.1}}],"
      " position: [0, 0, 0.2], velocity: [3, 4, -1]}}\n";
  const scene_outcome o = scene_run_text(text, "adaptive", 1e-10, 0.1);
  const double hit = sqrt(3.0), P = 2.0 * 1.5 * hit;
  const saltus_event* e = &o.heard.event[0];
  assert_int_equal(e->kind, SALTUS_EVENT_IMPACT);
  assert_near(e->impulse[0], P, 1e-8);
  assert_near(hypot(e->impulse[1], e->impulse[2]), 0.1 * P, 1e-8);
  assert_near(hypot(o.v[0], o.v[1]), 5.0 - 0.1 * P / 2.0, 1e-8);
}

static void impact_friction_is_refused_where_it_has_no_meaning(void** state) {
  (void)state;
  static const char* const cases[][2] = {
      {", impact_friction: -0.1", "must be >= 0"},
      {", impact_friction: 0.1, rolling: {arm: 0.1, rate: x'}", "not available with rolling"},
  };
  char text[TEXT];
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    write_block(text, cases[k][0]);
    const outcome o = run(text, 0.3);
    assert_int_not_equal(o.status, SALTUS_OK);
    assert_non_null(strstr(o.message, cases[k][1]));
  }
  write_block(text, ", impact_friction: 0.1");
  saltus_scene* scene = scene_open_text(text);
  const char* const refused[][2] = {{"splitting-rkf45", "cannot distinguish friction of impacts"},
                                    {"moreau-jean", "step control"}};
  for (int k = 0; k < 2; k++) {
    saltus_run_def def = saltus_run_def_default();
    saltus_kept_message kept = {0};
    saltus_run* made = NULL;
    def.scene = saltus_scene_get_view(scene);
    def.scheme = refused[k][0];
    def.until = 0.3;
    *(k == 0 ? &def.step : &def.tol) = 1e-3;
    def.log = saltus_log_keep(&kept);
    assert_int_equal(saltus_run_create(&def, &made), SALTUS_ERR_UNSUPPORTED);
    assert_non_null(strstr(kept.text, refused[k][1]));
  }
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_strike_by_the_law_of_the_scene),
      cmocka_unit_test(chains_apart_strike_by_the_same_law),
      cmocka_unit_test(a_scene_gives_stiffness_by_contact),
      cmocka_unit_test(dimers_strike_by_the_law_of_the_scene),
      cmocka_unit_test(every_law_of_one_contact_is_that_of_the_layer),
      cmocka_unit_test(answers_to_a_gain_are_those_of_the_scene),
      cmocka_unit_test(blocks_come_to_rest_by_every_law),
      cmocka_unit_test(a_block_strikes_when_and_as_fast_as_it_must),
      cmocka_unit_test(shapes_have_the_law_of_their_materials),
      cmocka_unit_test(wrong_laws_are_refused),
      cmocka_unit_test(impact_friction_acts_in_impacts_alone),
      cmocka_unit_test(impact_friction_limits_the_impulse_in_space),
      cmocka_unit_test(impact_friction_is_refused_where_it_has_no_meaning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
