/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The table of schemes and impact laws: every scheme of the registry takes every law. Chains without forces have the
 * velocities of the law to rounding, whatever the step; pendulums with friction to the order of the scheme; and a ball
 * that bounces by a law keeps the order that it has by Newton's.
 */
#include "saltus_test.h"

#include <stdio.h>

enum { TEXT = 2048 };

typedef struct outcome {
  saltus_status status;
  double q[4], v[4];
  int impacts, gains, replaced;
  char message[1024];
} outcome;

static saltus_status keep_event(void* user, const saltus_event* event) {
  outcome* o = user;
  o->impacts += event->kind == SALTUS_EVENT_IMPACT;
  o->gains += event->kind == SALTUS_EVENT_ENERGY_GAIN;
  o->replaced += event->kind == SALTUS_EVENT_LAW_REPLACED;
  return SALTUS_OK;
}

static outcome run(const char* text, const char* scheme, double h, double until) {
  outcome o = {.status = SALTUS_OK};
  saltus_kept_message kept = {0};
  saltus_scene* scene = NULL;
  saltus_sim* sim = NULL;
  const saltus_scene_def made = {.path = "test", .text = text, .log = saltus_log_keep(&kept)};
  o.status = saltus_scene_create(&made, &scene);
  if (o.status == SALTUS_OK) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    const saltus_recorder recorder = {.event = keep_event, .user = &o};
    const bool chooses = strncmp(scheme, "adaptive", 8) == 0;
    const saltus_sim_def def = {.system = view->system,
                                .scheme = scheme,
                                .h = chooses ? 0.0 : h,
                                .q0 = view->q0,
                                .v0 = view->v0,
                                .recorders = &recorder,
                                .recorder_count = 1,
                                .log = saltus_log_keep(&kept)};
    o.status = saltus_sim_create(&def, &sim);
    if (o.status == SALTUS_OK) {
      o.status = chooses ? saltus_sim_run_until(sim, until)
                         : saltus_sim_run(sim, (long long)(until / h + 0.5));
      memcpy(o.q, saltus_sim_q(sim), (size_t)view->system->dims.nq * sizeof(double));
      memcpy(o.v, saltus_sim_v(sim), (size_t)view->system->dims.nv * sizeof(double));
    }
  }
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  snprintf(o.message, sizeof o.message, "%s", kept.text);
  return o;
}

/* Three balls, the first of which comes; 0.1003 is no multiple of the step. */
static void write_chain(char* text, double e, const char* law, const char* impacts) {
  snprintf(text, TEXT,
           "saltus: 1\ncoordinates: {x1: {start: -0.1003, velocity: 1}, x2: 0, x3: 0}\n"
           "kinetic: (x1'^2 + x2'^2 + x3'^2)/2\n"
           "contacts:\n  - {name: c1, gap: x2 - x1, restitution: %g, impact: %s}\n"
           "  - {name: c2, gap: x3 - x2, restitution: %g, impact: %s}\n%s",
           e, law, e, law, impacts);
}

static void every_scheme_takes_every_law_of_a_chain(void** state) {
  (void)state;
  static const struct {
    double e;
    const char *law, *impacts;
    double v[3];
  } cases[] = {
      {0.5, "poisson", "", {0.0, 0.5, 0.5}},
      {0.5, "poisson-printed", "", {0.0, 0.5, 0.5}},
      {0.5, "energetic", "", {0.203125, 0.234375, 0.5625}},
      {0.5, "path-newton", "", {0.203125, 0.234375, 0.5625}},
      {0.5, "path-poisson", "", {0.203125, 0.234375, 0.5625}},
      {0.5, "newton", "impacts: {order: sequential}\n", {0.203125, 0.234375, 0.5625}},
      {1.0, "newton", "impacts: {order: lzb}\n", {-0.130261695065, 0.150229569435, 0.980032125630}},
      {0.0, "newton", "impacts: {order: moreau, restitution: 0.5}\n", {0.0, 0.5, 0.5}},
      {0.0,
       "newton",
       "impacts: {matrix: {contacts: [c1, c2], rows: [[0, 1], [1, 0]]}}\n",
       {0.0, 0.0, 1.0}},
  };
  for (int k = 0; k < saltus_scheme_count(); k++) {
    const saltus_scheme_info* info = saltus_scheme_at(k);
    assert_true((info->treats & SALTUS_TREATS_LAWS) != 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
      char text[TEXT];
      write_chain(text, cases[c].e, cases[c].law, cases[c].impacts);
      outcome o = run(text, info->name, 1e-3, 0.2);
      if (o.status != SALTUS_OK) {
        fail_msg("%s, %s %s: %s", info->name, cases[c].law, cases[c].impacts, o.message);
      }
      for (int i = 0; i < 3; i++) {
        if (!(fabs(o.v[i] - cases[c].v[i]) <= 1e-10)) {
          fail_msg("%s, %s %s: v[%d] is %.12g, expected %.12g", info->name, cases[c].law,
                   cases[c].impacts, i, o.v[i], cases[c].v[i]);
        }
      }
      assert_true(o.impacts >= 2);
      assert_int_equal(o.gains, 0);
    }
  }
}

/* Kane's pendulum above the floor by 2e-4 rad; energies of the study law-kane to what a step and that angle change. */
static void every_scheme_with_friction_takes_every_law_of_kane(void** state) {
  (void)state;
  static const struct {
    const char *law, *impacts;
    double change;
    int gains;
  } cases[] = {{"newton", "", 0.040743904553, 1},
               {"newton", "impacts: {energy: cap}\n", 0.0, 0},
               {"newton", "impacts: {energy: energetic}\n", -0.009270438743, 0},
               {"poisson", "", -0.009947567369, 0},
               {"poisson-printed", "", -0.009853799569, 0},
               {"energetic", "", -0.009270438743, 0},
               {"path-poisson", "", -0.009929221381, 0},
               {"newton", "impacts: {order: lzb, exponent: 1.5}\n", -0.009270438743, 0}};
  for (int k = 0; k < saltus_scheme_count(); k++) {
    const saltus_scheme_info* info = saltus_scheme_at(k);
    if ((info->treats & (SALTUS_TREATS_FRICTION | SALTUS_TREATS_PLANAR_FRICTION)) == 0) {
      continue;
    }
    /* schatzman-paoli has its own form of Newton's law, on positions */
    size_t first = strcmp(info->name, "schatzman-paoli") == 0 ? 1 : 0;
    for (size_t c = first; c < sizeof cases / sizeof cases[0]; c++) {
      char text[TEXT];
      snprintf(
          text, sizeof text,
          "saltus: 1\nparameters: {a: pi/9, b: pi/6}\n"
          "coordinates: {p: {start: a + 2e-4, velocity: -0.1}, r: {start: b, velocity: -0.2}}\n"
          "kinetic: 2/3*p'^2 + r'^2/6 + cos(p - r)*p'*r'/2\n"
          "contacts:\n  - {name: floor, gap: cos(a) + cos(b) - cos(p) - cos(r), slip: sin(p) + "
          "sin(r),\n"
          "     friction: 0.5, restitution: 0.7, impact: %s}\n%s",
          cases[c].law, cases[c].impacts);
      outcome o = run(text, info->name, 1e-5, 4e-3);
      if (o.status != SALTUS_OK) {
        fail_msg("%s, %s %s: %s", info->name, cases[c].law, cases[c].impacts, o.message);
      }
      double T = 2.0 / 3 * o.v[0] * o.v[0] + o.v[1] * o.v[1] / 6 +
                 cos(o.q[0] - o.q[1]) * o.v[0] * o.v[1] / 2;
      if (!(fabs(T - 0.023181410863 - cases[c].change) <= 2e-4)) {
        fail_msg("%s, %s %s: the energy changes by %.9g, expected %.9g", info->name, cases[c].law,
                 cases[c].impacts, T - 0.023181410863, cases[c].change);
      }
      if ((o.gains > 0) != (cases[c].gains > 0)) {
        fail_msg("%s, %s %s: %d gains", info->name, cases[c].law, cases[c].impacts, o.gains);
      }
      /* whoever answers a gain by another law says so */
      if ((o.replaced > 0) != (strstr(cases[c].impacts, "energy") != NULL)) {
        fail_msg("%s, %s %s: %d laws replaced", info->name, cases[c].law, cases[c].impacts,
                 o.replaced);
      }
    }
  }
}

/* A ball that falls 1 m with g = 2 and e = 1/2 strikes at 1 and 2 s; at 1.7 s it is at y = 0.7 - 0.49 = 0.21. */
static void bounces_keep_their_order(void** state) {
  (void)state;
  static const char ball[] = "saltus: 1\ncoordinates: {y: 1}\nkinetic: y'^2/2\npotential: 2*y\n"
                             "contacts:\n  - {name: floor, gap: y, restitution: 0.5, impact: %s}\n";
  for (int k = 0; k < saltus_scheme_count(); k++) {
    const saltus_scheme_info* info = saltus_scheme_at(k);
    double miss[2][2];
    for (int law = 0; law < 2; law++) {
      char text[TEXT];
      snprintf(text, sizeof text, ball, law == 0 ? "newton" : "energetic");
      for (int step = 0; step < 2; step++) {
        outcome o = run(text, info->name, step == 0 ? 0.02 : 0.005, 1.7);
        if (o.status != SALTUS_OK) {
          fail_msg("%s: %s", info->name, o.message);
        }
        miss[law][step] = fabs(o.q[0] - 0.21);
      }
    }
    /* first order over the impact for captures; located impacts as exact as Newton's */
    bool located = info->locates_events;
    if (!(located ? miss[1][1] <= 2.0 * miss[0][1] + 1e-9 : miss[1][1] <= 0.03)) {
      fail_msg("%s: misses %g and %g by Newton's law, %g and %g by the energetic one", info->name,
               miss[0][0], miss[0][1], miss[1][0], miss[1][1]);
    }
  }
}

/* A ball at rest on the floor stays there by every law, and books no impacts. */
static void what_rests_does_not_strike(void** state) {
  (void)state;
  static const char ball[] =
      "saltus: 1\ncoordinates: {y: 0}\nkinetic: y'^2/2\npotential: 2*y\n"
      "contacts:\n  - {name: floor, gap: y, restitution: 0.9, impact: energetic}\n";
  for (int k = 0; k < saltus_scheme_count(); k++) {
    const saltus_scheme_info* info = saltus_scheme_at(k);
    outcome o = run(ball, info->name, 0.01, 1.0);
    if (o.status != SALTUS_OK) {
      fail_msg("%s: %s", info->name, o.message);
    }
    if (!(fabs(o.q[0]) <= 0.02 && /* splitting-rkf45 lets resting bodies penetrate */
          fabs(o.v[0]) <= 0.05 && o.impacts <= 3)) {
      fail_msg("%s: y = %g, y' = %g, %d impacts", info->name, o.q[0], o.v[0], o.impacts);
    }
  }
}

/* A column falls 1 cm and rests after 0.2 s: bounces of what is left would be rounding, three for every step. */
static void a_column_at_rest_does_not_strike(void** state) {
  (void)state;
  static const char column[] =
      "saltus: 1\ncoordinates: {a: 0.01, b: 0.01, c: 0.01}\nkinetic: (a'^2 + b'^2 + c'^2)/2\n"
      "potential: 9.81*(a + b + c)\n"
      "contacts:\n  - {gap: a, restitution: 0.5}\n  - {gap: b - a, restitution: 0.5}\n"
      "  - {gap: c - b, restitution: 0.5}\nimpacts: {order: lzb}\n";
  outcome o = run(column, "moreau-jean", 1e-3, 1.0);
  assert_int_equal(o.status, SALTUS_OK);
  assert_true(o.impacts > 3 && o.impacts < 600);
  assert_true(fabs(o.v[0]) + fabs(o.v[1]) + fabs(o.v[2]) <= 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scheme_takes_every_law_of_a_chain),
      cmocka_unit_test(every_scheme_with_friction_takes_every_law_of_kane),
      cmocka_unit_test(bounces_keep_their_order),
      cmocka_unit_test(what_rests_does_not_strike),
      cmocka_unit_test(a_column_at_rest_does_not_strike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
