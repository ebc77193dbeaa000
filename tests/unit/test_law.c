/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Impact laws against numbers that were computed twice by other means: exact rationals and closed forms for chains,
 * true overlaps of springs, small steps, two integrators in space. Tolerances are the digits given.
 */
#include "saltus_test.h"

#include "../../studies/impact_cases.h"

static const double digits12 = 1.5e-12;
static const double digits10 = 1e-10;

static void assert_values(int n, const double* got, const double* expected, double tol) {
  for (int i = 0; i < n; i++) {
    if (!(fabs(got[i] - expected[i]) <= tol)) {
      print_error("value %d is %.15g, expected %.15g\n", i, got[i], expected[i]);
    }
    assert_true(fabs(got[i] - expected[i]) <= tol);
  }
}

static impact_outcome solve(impact_case* c, saltus_impact_law law, const saltus_impacts* rule) {
  for (int i = 0; i < c->count; i++) {
    c->contact[i].impact = law;
  }
  impact_outcome out = impact_case_solve(c, rule);
  assert_int_equal(out.status, SALTUS_OK);
  assert_true(fabs(out.change - out.result.gain) <= 1e-13);
  return out;
}

static const saltus_impacts in_turn = {.order = SALTUS_ORDER_SEQUENTIAL};
static const saltus_impacts springs[2] = {{.order = SALTUS_ORDER_LZB, .exponent = 1.0},
                                          {.order = SALTUS_ORDER_LZB, .exponent = 1.5}};

static void chains_of_three_and_five_balls_have_their_velocities(void** state) {
  (void)state;
  static const struct {
    int balls;
    double e;
    double sequential[5], together[5], lzb[2][5];
    int hits;
    double tol[2]; /* of the springs */
  } cases[] = {
      {3,
       1.0,
       {0.0, 0.0, 1.0},
       {-1.0 / 3, 2.0 / 3, 2.0 / 3},
       {{-0.130261695065, 0.150229569435, 0.980032125630},
        {-0.0709523537, 0.0764030391, 0.9945493146}},
       2,
       {1.5e-12, 1e-10}},
      {3,
       0.5,
       {0.203125, 0.234375, 0.5625},
       {0.0, 0.5, 0.5},
       {{0.182734856917, 0.233984179646, 0.583280963437},
        {0.2092354752, 0.2187794422, 0.5719850826}},
       3,
       {1.5e-12, 1e-10}},
      {5,
       1.0,
       {0.0, 0.0, 0.0, 0.0, 1.0},
       {-0.6, 0.4, 0.4, 0.4, 0.4},
       {{-0.132279484710, -0.075329169803, -0.031010829014, 0.296217750141, 0.942401733385},
        {-0.0710850171, -0.0302737641, -0.0144636290, 0.1270449861, 0.9887774241}},
       4,
       {1.5e-12, 1e-10}},
      {5,
       0.5,
       {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000},
       {-0.2, 0.3, 0.3, 0.3, 0.3},
       {{0.1449737625, 0.1530403117, 0.1671246464, 0.1677013421, 0.3671599373},
        {0.1539764568, 0.1553522190, 0.1664984066, 0.1883250499, 0.3358478678}},
       10,
       {1e-10, 1e-10}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_chain(cases[k].balls, NULL);
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, cases[k].e, 0.0);
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &in_turn);
    assert_values(c.nv, out.v, cases[k].sequential, 1e-12);
    assert_int_equal(out.result.hits, cases[k].hits);
    out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    assert_values(c.nv, out.v, cases[k].together, 1e-14);
    out = solve(&c, SALTUS_IMPACT_POISSON, NULL);
    assert_values(c.nv, out.v, cases[k].together, 1e-14);
    out = solve(&c, SALTUS_IMPACT_NEWTON,
                &(saltus_impacts){.order = SALTUS_ORDER_MOREAU, .restitution = cases[k].e});
    assert_values(c.nv, out.v, cases[k].together, 1e-14);
    for (int s = 0; s < 2; s++) {
      out = solve(&c, SALTUS_IMPACT_NEWTON, &springs[s]);
      assert_values(c.nv, out.v, cases[k].lzb[s], cases[k].tol[s]);
      assert_true(out.result.gain <= 1e-12);
    }
  }
}

static void columns_leave_fastest_at_the_top(void** state) {
  (void)state;
  static const struct {
    int beads, s;
    double v[10];
  } cases[] = {
      {3, 0, {0.6882972624, 1.0014464588, 1.2342414143}},
      {3, 1, {0.6436311529, 1.0395249939, 1.2268360633}},
      {5, 0, {0.637232443, 0.933301005, 0.977486148, 1.051158617, 1.289368233}},
      {5, 1, {0.4240800657, 0.8442862769, 1.0284576469, 1.1091643163, 1.3488388223}},
      {10,
       1,
       {0.260134520, 0.510587923, 0.621765979, 0.909644914, 1.007917423, 1.031100842, 1.064447836,
        1.126760921, 1.255792220, 1.548826412}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_column(cases[k].beads);
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, 1.0, 0.0);
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &springs[cases[k].s]);
    assert_values(c.nv, out.v, cases[k].v, cases[k].beads == 3 ? 1e-10 : 1e-9);
    out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    for (int i = 0; i < c.nv; i++) {
      assert_true(fabs(out.v[i] - 1.0) <= 1e-13);
    }
  }
}

static void kane_has_the_numbers_of_every_law(void** state) {
  (void)state;
  static const struct {
    saltus_impact_law law;
    double e_T, P[2], u[2], change;
  } cases[] = {
      {SALTUS_IMPACT_NEWTON,
       0.0,
       {0.916584813765, -0.458292406883},
       {0.093941410033, 0.008845673577},
       0.040743904553},
      {SALTUS_IMPACT_NEWTON,
       0.7,
       {0.128878962952, 0.064439481476},
       {0.093941410033, 0.086144457630},
       -0.008427108432},
      {SALTUS_IMPACT_POISSON,
       0.0,
       {0.128878962952, 0.029139266499},
       {0.040238887358, 0.0},
       -0.009947567369},
      {SALTUS_IMPACT_POISSON_PRINTED,
       0.0,
       {0.128878962952, 0.037905577339},
       {0.053575151938, 0.021392761864},
       -0.009853799569},
      {SALTUS_IMPACT_PATH_NEWTON,
       0.0,
       {0.320933541427, -0.063010444623},
       {0.093941410033, 0.067297847094},
       -0.000163335726},
      {SALTUS_IMPACT_PATH_POISSON,
       0.0,
       {0.128878962952, 0.033016844614},
       {0.046137880517, 0.009462601400},
       -0.009929221381},
      {SALTUS_IMPACT_ENERGETIC,
       0.0,
       {0.144499326661, 0.025206662760},
       {0.050025882165, 0.014166512029},
       -0.009270438743},
  };
  impact_case c = impact_kane();
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    c.contact[0].e_T = cases[k].e_T;
    impact_outcome out = solve(&c, cases[k].law, NULL);
    assert_values(2, out.P, cases[k].P, digits12);
    assert_values(2, out.u, cases[k].u, digits12);
    assert_values(1, &out.change, &cases[k].change, digits12);
    assert_int_equal(out.result.giver, cases[k].change > 0.0 ? 0 : -1);
  }
  c.contact[0].e_T = 0.0;
  impact_outcome stronge = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
  for (int s = 0; s < 2; s++) { /* one spring is Stronge's law, whatever its exponent */
    impact_outcome out = solve(&c, SALTUS_IMPACT_ENERGETIC, &springs[s]);
    assert_values(2, out.P, stronge.P, digits10);
  }
}

static void kane_strikes_in_its_configuration(void** state) {
  (void)state;
  impact_case c = impact_kane();
  assert_values(4, c.W, (double[4]){1.0095602905, 1.5213086580, 1.5213086580, 2.4403380457},
                digits10);
  assert_values(2, c.u, (double[2]){-0.1342020143, -0.2671743428}, digits10);
  assert_true(fabs(impact_reach(&c) - 0.023181410863) <= digits12);
}

static void kanes_gain_is_named_and_answered(void** state) {
  (void)state;
  impact_case c = impact_kane();
  impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
  const double sums[3] = {-0.018451129247, -0.002026952517, 0.061221986318};
  assert_values(3, (double[3]){out.result.normal, out.result.end_slip, out.result.first_slip}, sums,
                digits12);
  saltus_impacts rule = {.energy = SALTUS_GAIN_CAP};
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(0.7 * out.result.part - 0.3968385591) <= 1e-10 && fabs(out.change) <= 1e-14);
  assert_true(out.result.replaced && fabs(out.result.of_law - 0.040743904553) <= digits12);
  rule.energy = SALTUS_GAIN_POISSON;
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.change + 0.009947567369) <= digits12);
  rule.energy = SALTUS_GAIN_ENERGETIC;
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.change + 0.009270438743) <= digits12);
  rule.energy = SALTUS_GAIN_TANGENTIAL;
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(out.change < 0.0 && fabs(out.u[0] - 0.093941410033) <= digits12);
  rule.energy = SALTUS_GAIN_STOP;
  assert_int_equal(impact_case_solve(&c, &rule).status, SALTUS_ERR_LAW);
}

/* Where it slides all laws agree, in impulses too. */
static void assert_slide_is_one(impact_case* c, const char* region, const double* P) {
  if (strcmp(region, "slide") == 0) {
    assert_values(2, solve(c, SALTUS_IMPACT_NEWTON, NULL).P, P, digits12);
    assert_values(2, solve(c, SALTUS_IMPACT_POISSON, NULL).P, P, digits12);
  }
}

static void rods_pass_through_the_regions_of_wang_and_mason(void** state) {
  (void)state;
  const double pi = acos(-1.0);
  static const double none = NAN;
  const struct {
    double tilt, s, mu, e;
    const char* region;
    bool jam;
    double newton[2], poisson[2], path[2], stronge[2], P_N;
  } cases[] = {
      {pi / 4,
       1.5,
       0.5,
       0.6,
       "slide",
       false,
       {0.6, 0.146153846154},
       {0.6, 0.146153846154},
       {0.6, 0.146153846154},
       {0.6, 0.146153846154},
       0.492307692308},
      {pi / 3,
       1.0,
       0.3,
       0.8,
       "C-reverse",
       false,
       {0.8, 0.0},
       {0.530774232406, -0.126437199297},
       {0.525801300705, -0.139323732408},
       {0.638501041381, -0.166170249632},
       0.952557198128},
      {pi / 3,
       1.3,
       0.3,
       0.8,
       "R-reverse",
       false,
       {0.8, 0.0},
       {0.554981311994, 0.0},
       {0.589895147131, -0.087349219164},
       {0.651934607676, -0.102127810810},
       0.886842504919},
      {pi / 4,
       1.0,
       0.7,
       0.6,
       "R-stick",
       false,
       {0.6, 0.0},
       {0.321126760563, 0.0},
       {none, none},
       {0.408575465684, 0.0},
       0.505359666053},
      {54.0 * pi / 180.0,
       1.0,
       1.6,
       0.5,
       "C-stick",
       false,
       {0.5, 0.0},
       {0.259309515220, 0.0},
       {none, none},
       {0.305901319101, 0.0},
       0.610871768545},
      {atan(2.0),
       -1.0,
       2.0,
       0.5,
       "C-stick",
       true,
       {0.5, 0.0},
       {0.676470588235, 0.0},
       {none, none},
       {0.662627821822, 0.0},
       1.713233648548},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    bool jam = false;
    impact_case c = impact_rod(cases[k].tilt, cases[k].s, cases[k].mu, cases[k].e);
    c.v[0] = cases[k].s; /* the tip has the velocity of the centre: w = 0 */
    assert_string_equal(saltus_impact_region(c.W, c.u, cases[k].mu, cases[k].e, &jam),
                        cases[k].region);
    assert_int_equal(jam, cases[k].jam);
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    assert_values(2, out.u, cases[k].newton, digits12);
    out = solve(&c, SALTUS_IMPACT_POISSON, NULL);
    assert_values(2, out.u, cases[k].poisson, digits12);
    if (!isnan(cases[k].path[0])) {
      out = solve(&c, SALTUS_IMPACT_PATH_POISSON, NULL);
      assert_values(2, out.u, cases[k].path, digits12);
    }
    out = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
    assert_values(2, out.u, cases[k].stronge, digits12);
    assert_values(1, out.P, &cases[k].P_N, digits12);
    assert_slide_is_one(&c, cases[k].region, out.P);
    impact_outcome lzb = solve(&c, SALTUS_IMPACT_ENERGETIC, &springs[0]);
    assert_values(2, lzb.P, out.P, 1e-9);
  }
}

static void regions_agree_with_the_phases_of_random_impacts(void** state) {
  (void)state;
  uint64_t seed = 5;
  for (int k = 0; k < 3000; k++) {
    impact_case c = impact_random(&seed, 2);
    c.contact[0].e_N = 0.05 + 0.95 * c.contact[0].e_N;
    bool jam = false;
    const char* region = saltus_impact_region(c.W, c.u, c.contact[0].mu, c.contact[0].e_N, &jam);
    impact_outcome out = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
    const saltus_impact_result* r = &out.result;
    saltus_impact_motion last = r->phase[r->phase_count - 1].motion;
    bool first_is_jam = r->phase[0].motion == SALTUS_MOTION_JAM;
    assert_int_equal(first_is_jam, jam);
    if (strcmp(region, "slide") == 0) {
      assert_int_equal(last, SALTUS_MOTION_SLIP);
      continue;
    }
    assert_int_equal(last,
                     strstr(region, "stick") != NULL ? SALTUS_MOTION_STICK : SALTUS_MOTION_REVERSE);
    /* in compression slip ends where the phase after the first is still compression */
    assert_int_equal(r->phase[1].compression, region[0] == 'C');
  }
}

static void an_impact_in_space_follows_its_path(void** state) {
  (void)state;
  static const struct {
    double mu, P[3], tol;
  } cases[] = {
      {0.2, {0.643411569161, 0.008549030841, 0.112761836667}, 1.5e-12},
      {0.5, {0.736892363944, 0.143846337401, 0.269740541560}, 1.5e-12},
      {0.9, {0.868691093784, 0.329617794346, 0.418694235477}, 2e-9},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_rod_in_space(cases[k].mu, 0.7);
    impact_outcome out = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
    assert_values(3, out.P, cases[k].P, cases[k].tol);
    if (k == 2) {
      double stop = 0.0;
      for (int i = 0;
           i < out.result.phase_count && out.result.phase[i].motion == SALTUS_MOTION_SLIP; i++) {
        stop += out.result.phase[i].impulse;
      }
      assert_true(fabs(stop - 0.231030291199) <= 2e-9);
    }
  }
  const double tilt = acos(-1.0) / 3.0; /* a planar impact in space */
  impact_case flat = impact_rod(tilt, 1.0, 0.3, 0.8);
  impact_outcome planar = solve(&flat, SALTUS_IMPACT_ENERGETIC, NULL);
  const double W[9] = {flat.W[0], flat.W[1], 0, flat.W[2], flat.W[3], 0, 0, 0, 1};
  const double u[3] = {flat.u[0], flat.u[1], 0.0};
  impact_case c = impact_given(1, 2, W, u);
  impact_case_set(&c, SALTUS_IMPACT_ENERGETIC, 0.3, 0.8, 0.0);
  assert_values(2, solve(&c, SALTUS_IMPACT_ENERGETIC, NULL).P, planar.P, 1e-11);
}

/* An approach that is slow beside the slip does not turn it: U_N+ = e |U_N-| by every path, down to rounding. */
static void slow_impacts_rebound_by_their_coefficient(void** state) {
  (void)state;
  static const saltus_impact_law laws[] = {SALTUS_IMPACT_ENERGETIC, SALTUS_IMPACT_PATH_NEWTON,
                                           SALTUS_IMPACT_PATH_POISSON};
  const double W[9] = {4.4, 0.9, -0.4, 0.9, 6.1, 0.3, -0.4, 0.3, 5.2};
  for (double approach = 1e-5; approach > 1e-13; approach *= 0.1) {
    const double u[3] = {-approach, 0.7, 0.1};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
      impact_case c = impact_given(1, 2, W, u);
      impact_case_set(&c, laws[k], 0.17, 0.25, 0.0);
      const double ratio = solve(&c, laws[k], NULL).u[0] / approach;
      assert_true(fabs(ratio - 0.25) <= 10.0 * approach + 1e-12);
    }
  }
}

static void a_spinning_sphere_obeys_all_laws_alike(void** state) {
  (void)state;
  static const saltus_impact_law laws[] = {SALTUS_IMPACT_NEWTON, SALTUS_IMPACT_POISSON,
                                           SALTUS_IMPACT_ENERGETIC, SALTUS_IMPACT_PATH_NEWTON,
                                           SALTUS_IMPACT_PATH_POISSON};
  const double W[9] = {1, 0, 0, 0, 3.5, 0, 0, 0, 3.5};
  const double u[3] = {-1.0, 1.0, 3.0}; /* v = (2, 0, -1), w = (3, 1, 5) */
  for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
    impact_case c = impact_given(1, 2, W, u);
    impact_case_set(&c, laws[k], 0.1, 0.8, 0.0);
    impact_outcome out = solve(&c, laws[k], NULL);
    const double v[4] = {2.0 + out.P[1], out.P[2], 3.0 + 2.5 * out.P[2], 1.0 - 2.5 * out.P[1]};
    assert_values(4, v,
                  (double[4]){1.943079002117, -0.170762993649, 2.573092515877, 1.142302494708},
                  digits12);
    assert_true(fabs(out.u[0] - 0.8) <= digits12);
    /* it sticks up to |U_T| = 3.5 mu (1 + e) |U_N| */
    double least = sqrt(10.0) / (3.5 * 1.8);
    impact_case_set(&c, laws[k], least * (1.0 + 1e-6), 0.8, 0.0);
    out = solve(&c, laws[k], NULL);
    assert_true(hypot(out.u[1], out.u[2]) <= digits12);
    impact_case_set(&c, laws[k], least * (1.0 - 1e-6), 0.8, 0.0);
    out = solve(&c, laws[k], NULL);
    assert_true(fabs(hypot(out.u[1], out.u[2]) - 1e-6 * sqrt(10.0)) <= 1e-11);
    impact_case_set(&c, laws[k], 0.6, 0.8, 0.0);
    out = solve(&c, laws[k], NULL);
    const double stuck[4] = {2.0 + out.P[1], out.P[2], 3.0 + 2.5 * out.P[2], 1.0 - 2.5 * out.P[1]};
    assert_values(4, stuck, (double[4]){12.0 / 7, -6.0 / 7, 6.0 / 7, 12.0 / 7}, digits12);
    assert_true(fabs(out.u[0] - 0.8) <= digits12);
  }
}

static void a_superball_turns_its_slip_round(void** state) {
  (void)state;
  const double W[4] = {1, 0, 0, 3.5};
  const double u[2] = {-1.0, 1.0};
  static const double cases[][4] = {{1.0, 3.0 / 7, 10.0 / 7, 0.0},
                                    {0.0, 5.0 / 7, 5.0 / 7, -1.0 / 7},
                                    {0.5, 4.0 / 7, 15.0 / 14, -3.0 / 28},
                                    {-0.5, 6.0 / 7, 5.0 / 14, -3.0 / 28},
                                    {-1.0, 1.0, 0.0, 0.0}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_given(1, 1, W, u);
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, 1.0, 1.0, cases[k][0]);
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    assert_values(3, (double[3]){1.0 + out.P[1], -2.5 * out.P[1], out.result.gain}, cases[k] + 1,
                  1e-14);
  }
}

static void blocks_rock_by_housners_ratio(void** state) {
  (void)state;
  static const struct {
    double b, h, mu, v[3];
  } cases[] = {
      {0.2, 0.6, 9.0, {0.51, 0.17, -0.85}},
      {0.5, 1.0, 9.0, {0.7, 0.35, -0.7}},
      {0.2, 0.6, 0.1, {0.566942148760, 0.130578512397, -0.652892561983}},
      {0.2, 0.6, 0.0, {0.6, 0.107692307692, -0.538461538462}},
      {2.0, 1.0, 9.0, {0.0, 0.0, 0.0}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    double b = cases[k].b;
    double h = cases[k].h;
    impact_case c = impact_pair(1.0, (b * b + h * h) / 3.0, b, h, (double[3]){h, -b, -1.0});
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, cases[k].mu, 0.0, 0.0);
    assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, NULL).v, cases[k].v, digits12);
    impact_outcome out = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
    assert_values(3, out.v, cases[k].v, 1e-11); /* sequences stop at 1e-14 of the approach */
    assert_false(out.result.unfinished);
  }
}

/* One after the other comes to what all at once do, though by many hits: half sides, friction. */
static void sequences_of_a_block_end_where_all_at_once_do(void** state) {
  (void)state;
  static const double cases[][3] = {{0.2, 0.6, 9.0}, {0.5, 1.0, 9.0}, {0.2, 0.6, 0.1},
                                    {0.2, 0.6, 0.0}, {0.5, 0.5, 0.0}, {2.0, 1.0, 9.0},
                                    {2.0, 1.0, 0.1}, {1.0, 1.0, 0.2}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    double b = cases[k][0];
    double h = cases[k][1];
    impact_case c = impact_pair(1.0, (b * b + h * h) / 3.0, b, h, (double[3]){h, -b, -1.0});
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, cases[k][2], 0.0, 0.0);
    impact_outcome once = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    impact_outcome turns = solve(&c, SALTUS_IMPACT_ENERGETIC, NULL);
    assert_values(3, turns.v, once.v, 1e-11);
    assert_true(turns.result.hits >= 1 && turns.result.hits <= 40 && !turns.result.unfinished);
  }
}

static void dimers_and_blocks_strike_by_springs(void** state) {
  (void)state;
  static const struct {
    double mu, newton[3], poisson[3], sequential[3], lzb[2][3], tol[2];
  } cases[] = {
      {0.1,
       {-0.343414634, 1.434146341, 0.482926829},
       {-0.082553191, 1.336170213, 0.497678917},
       {0.014450489, 1.320062044, 0.512403313},
       {{0.014450489, 1.320062044, 0.512403313}, {0.014450489, 1.320062044, 0.512403313}},
       {1e-9, 1e-9}},
      {0.5,
       {-0.468085106, 1.463829787, 0.468085106},
       {-0.420803783, 1.336170213, 0.420803783},
       {-0.431299095, 1.364507556, 0.431299095},
       {{-0.4238468, 1.3781724, 0.4238468}, {-0.4305463, 1.3659023, 0.4305463}},
       {1e-7, 1e-7}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_pair(2.0, 8.8, 2.0, 1.0, (double[3]){0.0, -2.0, -1.0});
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, cases[k].mu, 0.6, 0.0);
    assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, NULL).v, cases[k].newton, 1e-9);
    assert_values(3, solve(&c, SALTUS_IMPACT_POISSON, NULL).v, cases[k].poisson, 1e-9);
    assert_values(3, solve(&c, SALTUS_IMPACT_ENERGETIC, NULL).v, cases[k].sequential, 1e-9);
    for (int s = 0; s < 2; s++) {
      assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &springs[s]).v, cases[k].lzb[s],
                    cases[k].tol[s]);
    }
  }
  static const double block[2][3] = {{1.6099016, 1.3482275, 0.5866750},
                                     {1.7719396, 1.0459777, 0.4776137}};
  impact_case c = impact_pair(1.0, 5.0 / 3.0, 2.0, 1.0, (double[3]){1.0, -2.0, -1.0});
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.1, 0.7, 0.0);
  for (int s = 0; s < 2; s++) {
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &springs[s]);
    assert_values(3, (double[3]){out.u[0], out.u[2], out.u[1]}, block[s], 1e-7);
  }
}

static void stiffness_and_order_matter(void** state) {
  (void)state;
  const double mass[3] = {1.0, 2.0, 0.5};
  static const double after[2][3] = {{-0.285116547455, 0.505214489318, 0.549375137639},
                                     {-0.25683563402, 0.44310562396, 0.74124877220}};
  impact_case c = impact_chain(3, mass);
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, 0.8, 0.0);
  c.contact[1].stiffness = 4.0;
  for (int s = 0; s < 2; s++) {
    assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &springs[s]).v, after[s],
                  s == 0 ? digits12 : 1e-11);
  }
  const double heavy[3] = {1.0, 3.0, 1.0};
  c = impact_chain(3, heavy);
  c.v[2] = -1.0;
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, 1.0, 0.0);
  saltus_impacts rule = {.order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_FIRST};
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &rule).v, (double[3]){-0.5, -0.25, 1.25}, 1e-14);
  rule.pick = SALTUS_PICK_LAST;
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &rule).v, (double[3]){-1.25, 0.25, 0.5}, 1e-14);
  rule.pick = SALTUS_PICK_EVENTS; /* the gap between the last two has just closed */
  c.contact[1].struck = true;
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &rule).v, (double[3]){-1.25, 0.25, 0.5}, 1e-14);
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, NULL).v, (double[3]){-1.0, 0.0, 1.0}, 1e-14);
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &springs[0]).v, (double[3]){-1.0, 0.0, 1.0},
                1e-12);
}

static void a_contact_that_leaves_takes_no_part(void** state) {
  (void)state;
  const double W[4] = {1, -0.5, -0.5, 1};
  impact_case c = impact_given(2, 0, W, (double[2]){-1.0, 0.2});
  c.contact[0].e_N = 1.0;
  impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &in_turn);
  assert_true(fabs(out.result.gain + 0.32) <= 1e-14);
  out = solve(&c, SALTUS_IMPACT_NEWTON, NULL); /* with it, Newton's law would create 0.1067 J */
  assert_true(fabs(out.result.gain + 0.32) <= 1e-14 && out.result.giver == -1);
}

/* Newton's law with all contacts, also those that leave: W P = -(1 + E) U-. */
static saltus_status newton_with_all(const void* self, const saltus_impact* impact, double* P) {
  (void)self;
  const double* W = impact->W;
  double q[2];
  for (int i = 0; i < 2; i++) {
    q[i] = -(1.0 + impact->contact[i].e_N) * impact->u[i];
  }
  double det = W[0] * W[3] - W[1] * W[2];
  P[0] = (W[3] * q[0] - W[1] * q[1]) / det;
  P[1] = (W[0] * q[1] - W[2] * q[0]) / det;
  return SALTUS_OK;
}

/* What it would create, 43 times T- in the worst of 3000 random ones, is found by the test of energy. */
static void a_contact_that_leaves_would_create_energy(void** state) {
  (void)state;
  const saltus_own_impact own = {.name = "all", .apply = newton_with_all};
  const saltus_impacts rule = {.order = SALTUS_ORDER_OWN, .own = &own};
  impact_case c = impact_given(2, 0, (double[4]){1, -0.5, -0.5, 1}, (double[2]){-1.0, 0.2});
  c.contact[0].e_N = 1.0;
  impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.result.gain - 0.106666666667) <= digits12 && out.result.giver >= 0);
  assert_true(fabs(0.5 * out.P[1] * 0.2 - 0.106666666667) <= digits12);
  c = impact_given(
      2, 0,
      (double[4]){4.7874454504035535, -3.496883789505256, -3.496883789505256, 2.6031679756718678},
      (double[2]){-1.0, 0.7754878838352056});
  c.contact[0].e_N = 1.0;
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.result.gain / impact_reach(&c) - 43.37) <= 0.005);
  assert_true(solve(&c, SALTUS_IMPACT_NEWTON, NULL).result.gain <= 0.0);
}

/* The worst of 750 to 3000 random impacts by the laws that gain, found and solved by enumeration of all cases of contact:
 * (T+ - T-) / T-, and impulses to the condition of W. Rows N1 T1 N2 T2. */
static void laws_that_gain_do_so_by_known_amounts(void** state) {
  (void)state;
  static const struct {
    saltus_impact_law law;
    int count;
    double W[16], u[4], mu[2], e[2], P[4], ratio, digit;
  } cases[] = {
      {SALTUS_IMPACT_NEWTON,
       1,
       {1.6500700287986538, 1.6183415522077633, 1.6183415522077633, 1.6371693884640113},
       {-1.0, -0.6501587796499722},
       {1.0880076577949291},
       {1.0},
       {26.96312891455781, -26.25592282826784},
       6.109,
       0.0005},
      {SALTUS_IMPACT_PATH_NEWTON,
       1,
       {1.6500700287986538, 1.6183415522077633, 1.6183415522077633, 1.6371693884640113},
       {-1.0, -0.6501587796499722},
       {1.0880076577949291},
       {1.0},
       {26.963128914557906, -26.25592282826794},
       6.109,
       0.0005},
      {SALTUS_IMPACT_POISSON_PRINTED,
       1,
       {0.5611664813725669, -0.951879489802045, -0.951879489802045, 1.618815666842118},
       {-1.0, 0.38453182699445976},
       {1.3298063024061668},
       {1.0},
       {1065.9625095560395, 313.16066642354974},
       385.4,
       0.05},
      {SALTUS_IMPACT_NEWTON,
       2,
       {2.8327154724218575, 1.337528802549694, -2.6356032214057543, -1.4442553679610513,
        1.337528802549694, 5.157880343530623, -1.6775777415375588, 1.7847185302217305,
        -2.6356032214057543, -1.6775777415375588, 5.715228041123443, -1.1702743811205087,
        -1.4442553679610513, 1.7847185302217305, -1.1702743811205087, 3.909588332891188},
       {-1.0, 0.3851951394929395, -0.0, 2.3810252617725878},
       {0.6115924029783059, 0.9486146616046867},
       {0.8199448434478207, 0.8199448434478207},
       {3.1663201702278743, -0.9002040547914559, 1.4842279794435755, 1.4079604224640754},
       0.6462,
       5e-05},
      {SALTUS_IMPACT_POISSON,
       2,
       {1.8140424344610497, -2.102415410251088, 0.0927663389061705, -2.773146082437469,
        -2.102415410251088, 3.7789335644058446, 0.1779863041493256, 0.6687974250110321,
        0.0927663389061705, 0.1779863041493256, 0.3330713590994254, -0.1944098200217232,
        -2.773146082437469, 0.6687974250110321, -0.1944098200217232, 15.933247235480373},
       {-1.0, 0.48253657989319215, -0.39951154722316584, 0.9539427200183025},
       {0.5117923326014157, 0.48826363662493055},
       {1.0, 0.0},
       {3.5000503743513476, 1.6876536784121547, 0.40395959806952675, 0.1972387824029724},
       0.42,
       0.0005},
      {SALTUS_IMPACT_POISSON_PRINTED,
       2,
       {3.2414536071166102, 2.026482493468911, -2.45691741861408, -1.5672834048943296,
        2.026482493468911, 4.602002392002891, -2.398599650468768, -2.615443373673968,
        -2.45691741861408, -2.398599650468768, 3.4555602108684873, 3.6819004313359778,
        -1.5672834048943296, -2.615443373673968, 3.6819004313359778, 4.790616204759773},
       {-1.0, -0.9047494536722026, -0.0, 0.3839972559516547},
       {0.761015493513043, 0.8532189258633961},
       {0.6228227155717103, 0.6228227155717103},
       {14.620176586307485, 0.5517583618513591, 25.787880412811017, -10.113001728079816},
       11.52,
       0.005},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_given(cases[k].count, 1, cases[k].W, cases[k].u);
    for (int i = 0; i < c.count; i++) {
      c.contact[i].mu = cases[k].mu[i];
      c.contact[i].e_N = cases[k].e[i];
    }
    impact_outcome out = solve(&c, cases[k].law, NULL);
    assert_values(c.rows, out.P, cases[k].P, 1e-9 * fabs(cases[k].P[0]));
    assert_true(fabs(out.result.gain / impact_reach(&c) - cases[k].ratio) <= cases[k].digit);
    assert_true(out.result.giver >= 0 && saltus_impact_can_gain(NULL, c.count, c.contact) != NULL);
    assert_true(solve(&c, SALTUS_IMPACT_ENERGETIC, NULL).result.gain <= 0.0);
  }
}

/* Contacts that brace each other: what rounding leaves of their approach is no second impact, which restitution along
 * tangents would make a large one, without end. Each has one solution (all cases of contact enumerated). Rows N1 T1 N2
 * T2. */
static void rounding_is_no_second_impact(void** state) {
  (void)state;
  static const struct {
    saltus_impact_law law;
    double e_T, W[16], u[4], mu[2], e[2], P[4];
  } cases[] = {
      {SALTUS_IMPACT_NEWTON,
       1.0,
       {3.0672761001521294, 2.452403701617174, -5.106688633641249, 2.953012894749596,
        2.452403701617174, 7.566022901987156, -4.0570808209535265, 6.159663892199756,
        -5.106688633641249, -4.0570808209535265, 8.632556961465456, -4.537137099750043,
        2.953012894749596, 6.159663892199756, -4.537137099750043, 8.93956115533393},
       {-1.0, 1.06985466043154, 0.0, 1.0639556515094641},
       {0.34253008736866086, 0.30365362098830107},
       {0.20707470686546836, 0.8601357741679978},
       {40.39502619557581, 1.1705119754425253, 23.0263239055459, -2.7016221501766697}},
      {SALTUS_IMPACT_NEWTON,
       1.0,
       {0.9879216883534981, 2.3018086842941665, -2.1137894205270262, 1.5771532667048505,
        2.3018086842941665, 8.571803034001809, -1.9582050967467912, 2.0244233325762555,
        -2.1137894205270262, -1.9582050967467912, 8.338379215745036, -5.356924826167756,
        1.5771532667048505, 2.0244233325762555, -5.356924826167756, 5.481843160201256},
       {-1.0, 1.9222472822150145, 0.0, 0.3723903944820215},
       {0.5937148797059812, 0.08557366323183113},
       {0.15492018550820663, 0.8080506308595656},
       {40.63583515636677, -9.455964276305863, 7.65948421395026, -0.6554501226541063}},
      {SALTUS_IMPACT_NEWTON,
       1.0,
       {1.3723542665134936, 0.891906977391342, -2.441400602481962, 1.6189792543254855,
        0.891906977391342, 3.709227498953437, -1.694973105385369, 2.747259180432371,
        -2.441400602481962, -1.694973105385369, 4.477569749889723, -3.381632014910447,
        1.6189792543254855, 2.747259180432371, -3.381632014910447, 6.63416071119367},
       {-1.0, -0.21015459242382262, 0.0, 1.0497668000020153},
       {0.4780712409656701, 0.43539151029922696},
       {0.927545427819764, 0.27693036445198393},
       {64.23492147236678, -0.7657176378772935, 37.22715599441595, 3.3007383196370004}},
      {SALTUS_IMPACT_POISSON_PRINTED,
       0.0,
       {1.5773710576649174, 1.6000085736678684, -2.074730362833372, 1.6558693431789018,
        1.6000085736678684, 2.9789810294113934, -2.081040331116828, 2.1617056799450287,
        -2.074730362833372, -2.081040331116828, 2.815948770741372, -2.300203147819667,
        1.6558693431789018, 2.1617056799450287, -2.300203147819667, 2.189716208624402},
       {-1.0, 1.1182047742413483, 0.0, -0.9530423780568292},
       {0.11003759742382091, 0.6732412665988464},
       {0.1393843613287271, 0.32552638452207416},
       {53.54685555892767, -5.323641049521899, 47.10742922922497, 13.763057432958359}},
      {SALTUS_IMPACT_POISSON_PRINTED,
       0.0,
       {4.929895521532744, 1.062745227683616, -7.317645280840214, 3.42785326730003,
        1.062745227683616, 4.218819763818635, -2.472558926526554, -0.5675743211252715,
        -7.317645280840214, -2.472558926526554, 11.432561385771711, -4.176308454334139,
        3.42785326730003, -0.5675743211252715, -4.176308454334139, 5.3002120349454955},
       {-1.0, 1.2558886477537536, -0.32126390844895214, 1.03012744392408},
       {0.6355657241500564, 0.8183619500103084},
       {0.584165968731732, 0.6045684766146556},
       {25.658048627618648, 0.6798112693538407, 15.333125615678645, -3.4628035997442668}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    impact_case c = impact_given(2, 1, cases[k].W, cases[k].u);
    for (int i = 0; i < 2; i++) {
      c.contact[i].mu = cases[k].mu[i];
      c.contact[i].e_N = cases[k].e[i];
      c.contact[i].e_T = cases[k].e_T;
    }
    impact_outcome out = solve(&c, cases[k].law, NULL);
    assert_values(4, out.P, cases[k].P, 1e-9 * fabs(cases[k].P[0]));
    assert_int_equal(out.result.hits, 1);
  }
}

static void poisson_gains_with_different_restitution(void** state) {
  (void)state;
  /* rows N1 T1 N2 T2, by rows N1 N2 T1 T2 of docs/theory/laws.md, 2.2 */
  const double W[16] = {2, 0, 0, 2, 0, 4, -1, 1, 0, -1, 1, 0, 2, 1, 0, 4};
  impact_case c = impact_given(2, 1, W, (double[4]){-1.0, -0.5, -0.5, -0.5});
  impact_case_set(&c, SALTUS_IMPACT_POISSON, 0.5, 1.0, 0.0);
  assert_true(solve(&c, SALTUS_IMPACT_POISSON, NULL).result.gain <= 0.0);
  c.contact[1].e_N = 0.0;
  impact_outcome out = solve(&c, SALTUS_IMPACT_POISSON, NULL);
  assert_values(4, out.P, (double[4]){2.0, 0.5, 1.0, -0.5}, 1e-14);
  assert_values(4, out.u, (double[4]){2.0, 0.0, 0.0, 2.0}, 1e-14);
  assert_true(fabs(out.result.gain - 0.25) <= 1e-14 && out.result.giver >= 0);
  assert_true(fabs(impact_reach(&c) - 0.75) <= 1e-14);
  assert_non_null(saltus_impact_can_gain(NULL, 2, c.contact));
}

static void a_flat_rod_has_one_answer_by_law(void** state) {
  (void)state;
  impact_case c = impact_pair(1.0, 1.0 / 3.0, 1.0, 0.0, (double[3]){0.0, -1.0, 0.0});
  impact_case_set(&c, SALTUS_IMPACT_POISSON, 0.0, 0.5, 0.0);
  c.contact[1].e_N = 0.0;
  assert_values(3, solve(&c, SALTUS_IMPACT_POISSON, NULL).v, (double[3]){0.0, 0.375, -0.375},
                1e-14);
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, NULL).v, (double[3]){0.0, 0.25, -0.25}, 1e-14);
  saltus_impacts rule = {.order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_FIRST};
  impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.v[1] - 0.0234375) <= 1e-13);
  rule.pick = SALTUS_PICK_LAST;
  out = solve(&c, SALTUS_IMPACT_NEWTON, &rule);
  assert_true(fabs(out.v[1] - 0.09375) <= 1e-13);
}

static void a_matrix_law_passes_on_or_is_refused(void** state) {
  (void)state;
  impact_case c = impact_chain(3, NULL);
  static const int both[2] = {0, 1};
  static const double cradle[4] = {0, 1, 1, 0};
  saltus_impacts rule = {.matrix_count = 2, .matrix_contact = both, .matrix = cradle};
  assert_values(3, solve(&c, SALTUS_IMPACT_NEWTON, &rule).v, (double[3]){0.0, 0.0, 1.0}, 1e-14);
  static const double pulls[4] = {1, -1, -1, 1};
  rule.matrix = pulls;
  assert_int_equal(impact_case_solve(&c, &rule).status, SALTUS_ERR_RANGE);
  c.u[1] = 0.5; /* one of them leaves: each by its own law, e = 0 */
  rule.matrix = cradle;
  impact_outcome out = impact_case_solve(&c, &rule);
  assert_int_equal(out.status, SALTUS_OK);
  assert_true(fabs(out.u[0]) <= 1e-14);
}

static saltus_status bounce_half(const void* self, const saltus_impact* impact, double* P) {
  P[0] = -(1.0 + *(const double*)self) * impact->u[0] / impact->W[0];
  return SALTUS_OK;
}

static void a_law_of_ones_own_is_one_function(void** state) {
  (void)state;
  const double e = 0.25;
  const saltus_own_impact own = {.name = "mine", .apply = bounce_half, .self = &e};
  impact_case c = impact_chain(3, NULL);
  for (int i = 0; i < 2; i++) {
    c.contact[i].own = &own;
  }
  impact_outcome mine = solve(&c, SALTUS_IMPACT_OWN, NULL);
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, e, 0.0);
  assert_values(3, mine.v, solve(&c, SALTUS_IMPACT_NEWTON, &in_turn).v, 1e-14);
}

static void a_sequence_without_end_is_finished(void** state) {
  (void)state;
  impact_case c = impact_chain(3, NULL);
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, 0.07, 0.0); /* below 7 - 4 sqrt 3 */
  impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, &in_turn);
  for (int i = 0; i < 3; i++) {
    assert_true(fabs(out.v[i] - 1.0 / 3.0) <= 1e-9);
  }
  /* from 7 - 4 sqrt 3 = 0.0717967697 on the balls part after a finite number of hits (exact rationals) */
  impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.0, 0.075, 0.0);
  out = solve(&c, SALTUS_IMPACT_NEWTON, &in_turn);
  assert_int_equal(out.result.hits, 16);
  assert_values(2, out.u, (double[2]){7.676542996506871e-10, 6.48664686119281e-11}, 1e-14);
}

/* Poisson's law in space with Coulomb's reading: the law recomputed from P. */
static void poisson_in_space_obeys_its_law(void** state) {
  (void)state;
  uint64_t seed = 11;
  for (int k = 0; k < 2000; k++) {
    impact_case c = impact_random(&seed, 3);
    double mu = c.contact[0].mu;
    c.contact[0].impact = SALTUS_IMPACT_NEWTON;
    double e = c.contact[0].e_N;
    c.contact[0].e_N = 0.0;
    impact_outcome half = impact_case_solve(&c, NULL);
    c.contact[0].e_N = e;
    impact_outcome out = solve(&c, SALTUS_IMPACT_POISSON, NULL);
    double back[3];
    for (int i = 0; i < 3; i++) {
      back[i] = out.P[i] - half.P[i];
    }
    double x = back[0] - e * half.P[0];
    double size = fabs(half.P[0]);
    assert_true(x >= -1e-10 * size && out.u[0] >= -1e-9 && fabs(x * out.u[0]) <= 1e-8 * size);
    double slip = hypot(out.u[1], out.u[2]);
    assert_true(hypot(back[1], back[2]) <= mu * back[0] + 1e-9 * size);
    if (slip > 1e-8) {
      for (int i = 1; i < 3; i++) {
        assert_true(fabs(back[i] + mu * back[0] * out.u[i] / slip) <= 1e-6 * (mu * back[0] + size));
      }
    }
    assert_true(out.result.gain <= 1e-10);
  }
}

/* The tip of an arm with two joints in space: three rows, W = G^T G of rank 2. If the null vector of G is inside of the
 * cone, Newton's law has a solution with fast slip or none, and Poisson's one with the tip at rest. Impulses were
 * 1e11 N s. */
static void arms_with_two_joints_are_wedged_in_space(void** state) {
  (void)state;
  uint64_t seed = 3;
  int wedged = 0;
  for (int k = 0; k < 500; k++) {
    const double angle = 2.0 * acos(-1.0) * saltus_test_random(&seed);
    const double ratio = 0.7 * saltus_test_random(&seed); /* of the null vector; mu = 0.8 */
    double G[2][3], v[2], W[9] = {0.0}, u[3] = {0.0};
    for (int i = 0; i < 2; i++) {
      G[i][1] = 4.0 * saltus_test_random(&seed) - 2.0;
      G[i][2] = 4.0 * saltus_test_random(&seed) - 2.0;
      G[i][0] = -ratio * (cos(angle) * G[i][1] + sin(angle) * G[i][2]);
      v[i] = 4.0 * saltus_test_random(&seed) - 2.0;
    }
    const double across = G[0][1] * G[1][2] - G[0][2] * G[1][1];
    const double sign = G[0][0] * v[0] + G[1][0] * v[1] < 0.0 ? 1.0 : -1.0;
    for (int a = 0; a < 3; a++) {
      for (int i = 0; i < 2; i++) {
        u[a] += sign * G[i][a] * v[i];
        for (int b = 0; b < 3; b++) {
          W[3 * a + b] += G[i][a] * G[i][b];
        }
      }
    }
    if (fabs(across) < 0.3 || u[0] > -0.05) {
      continue;
    }
    impact_case c = impact_given(1, 2, W, u);
    impact_case_set(&c, SALTUS_IMPACT_NEWTON, 0.8, 0.3, 0.0);
    const impact_outcome out = impact_case_solve(&c, NULL);
    assert_int_equal(out.status, SALTUS_OK);
    const double T = hypot(out.P[1], out.P[2]);
    assert_true(out.P[0] > 0.0 && T <= 0.8 * out.P[0] * (1.0 + 1e-9));
    if (out.result.replaced) {
      assert_true(out.u[0] >= -1e-8 && out.result.gain <= 1e-10);
      wedged += fmax(fabs(out.u[0]), hypot(out.u[1], out.u[2])) <= 1e-8;
    } else { /* Newton's law, with slip against the friction */
      const double along = out.u[1] * out.P[1] + out.u[2] * out.P[2];
      assert_true(fabs(out.u[0] + 0.3 * u[0]) <= 1e-6 && T >= 0.8 * out.P[0] * (1.0 - 1e-6));
      assert_true(fabs(along + T * hypot(out.u[1], out.u[2])) <= 1e-6 * T);
    }
    assert_true(out.P[0] < 1e4);
  }
  assert_true(wedged > 30);
}

static void the_energetic_law_never_gains(void** state) {
  (void)state;
  const int count = saltus_test_long() ? 100000 : 3000;
  for (int d = 2; d <= 3; d++) {
    uint64_t seed = 20260101u + (uint64_t)d;
    int n = d == 2 ? 100000 : count;
    saltus_impact_solver* solver = NULL;
    assert_int_equal(saltus_impact_solver_create(1, d, NULL, &solver), SALTUS_OK);
    for (int k = 0; k < n; k++) {
      impact_case c = impact_random(&seed, d);
      double P[3], u[3];
      saltus_impact_result result = {.P = P, .u = u};
      const saltus_impact impact = {
          .count = 1, .rows = d, .contact = c.contact, .W = c.W, .u = c.u};
      assert_int_equal(saltus_impact_solve(solver, NULL, &impact, (saltus_log){0}, &result),
                       SALTUS_OK);
      assert_true(result.giver == -1 && u[0] >= -1e-12);
    }
    saltus_impact_solver_destroy(solver);
  }
}

static void newton_gains_only_outside_its_safe_set(void** state) {
  (void)state;
  uint64_t seed = 7;
  int gains = 0;
  for (int k = 0; k < 3000; k++) {
    impact_case c = impact_random(&seed, 2);
    impact_outcome out = solve(&c, SALTUS_IMPACT_NEWTON, NULL);
    gains += out.result.giver >= 0;
    if (out.result.giver >= 0) {
      assert_non_null(saltus_impact_can_gain(NULL, 1, c.contact));
    }
    c.contact[0].e_T = c.contact[0].e_N;
    assert_null(saltus_impact_can_gain(NULL, 1, c.contact));
    assert_int_equal(solve(&c, SALTUS_IMPACT_NEWTON, NULL).result.giver, -1);
    c.contact[0].e_T = 0.0;
    assert_int_equal(solve(&c, SALTUS_IMPACT_POISSON, NULL).result.giver, -1);
  }
  assert_true(gains > 100);
}

static void what_springs_cannot_take_is_refused(void** state) {
  (void)state;
  impact_case c = impact_chain(3, NULL);
  assert_int_equal(impact_case_solve(&c, &springs[0]).status, SALTUS_ERR_RANGE); /* e = 0 */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_of_three_and_five_balls_have_their_velocities),
      cmocka_unit_test(columns_leave_fastest_at_the_top),
      cmocka_unit_test(kane_has_the_numbers_of_every_law),
      cmocka_unit_test(kane_strikes_in_its_configuration),
      cmocka_unit_test(kanes_gain_is_named_and_answered),
      cmocka_unit_test(rods_pass_through_the_regions_of_wang_and_mason),
      cmocka_unit_test(regions_agree_with_the_phases_of_random_impacts),
      cmocka_unit_test(an_impact_in_space_follows_its_path),
      cmocka_unit_test(slow_impacts_rebound_by_their_coefficient),
      cmocka_unit_test(a_spinning_sphere_obeys_all_laws_alike),
      cmocka_unit_test(a_superball_turns_its_slip_round),
      cmocka_unit_test(blocks_rock_by_housners_ratio),
      cmocka_unit_test(sequences_of_a_block_end_where_all_at_once_do),
      cmocka_unit_test(dimers_and_blocks_strike_by_springs),
      cmocka_unit_test(stiffness_and_order_matter),
      cmocka_unit_test(a_contact_that_leaves_takes_no_part),
      cmocka_unit_test(a_contact_that_leaves_would_create_energy),
      cmocka_unit_test(laws_that_gain_do_so_by_known_amounts),
      cmocka_unit_test(rounding_is_no_second_impact),
      cmocka_unit_test(poisson_gains_with_different_restitution),
      cmocka_unit_test(a_flat_rod_has_one_answer_by_law),
      cmocka_unit_test(a_matrix_law_passes_on_or_is_refused),
      cmocka_unit_test(a_law_of_ones_own_is_one_function),
      cmocka_unit_test(a_sequence_without_end_is_finished),
      cmocka_unit_test(poisson_in_space_obeys_its_law),
      cmocka_unit_test(arms_with_two_joints_are_wedged_in_space),
      cmocka_unit_test(the_energetic_law_never_gains),
      cmocka_unit_test(newton_gains_only_outside_its_safe_set),
      cmocka_unit_test(what_springs_cannot_take_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
