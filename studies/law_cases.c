/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law_cases.c - the table: chains by exact rationals and a modal closed form, springs by true overlaps and another
 * integrator, paths by closed forms and two integrators, friction in springs by small steps.
 */
#include "law_cases.h"

#include <math.h>
#include <stddef.h>

static impact_case chain(const double* p) {
  return impact_chain((int)p[0], p[1] > 0.0 ? p + 1 : NULL);
}

static impact_case stiff_chain(const double* p) {
  (void)p;
  impact_case c = impact_chain(3, (double[3]){1.0, 2.0, 0.5});
  c.contact[1].stiffness = 4.0;
  return c;
}

static impact_case meeting(const double* p) {
  (void)p;
  impact_case c = impact_chain(3, (double[3]){1.0, 3.0, 1.0});
  c.v[2] = -1.0;
  return c;
}

static impact_case column(const double* p) {
  return impact_column((int)p[0]);
}

static impact_case kane(const double* p) {
  (void)p;
  return impact_kane();
}

/* tilt in degrees, slip */
static impact_case rod(const double* p) {
  return impact_rod(p[0] * acos(-1.0) / 180.0, p[1], 0.0, 0.0);
}

static impact_case rod_in_space(const double* p) {
  (void)p;
  return impact_rod_in_space(0.0, 0.0);
}

static impact_case sphere(const double* p) {
  (void)p;
  return impact_given(1, 2, (double[9]){1, 0, 0, 0, 3.5, 0, 0, 0, 3.5},
                      (double[3]){-1.0, 1.0, 3.0});
}

static impact_case superball(const double* p) {
  (void)p;
  return impact_given(1, 1, (double[4]){1, 0, 0, 3.5}, (double[2]){-1.0, 1.0});
}

/* half sides b and h */
static impact_case block(const double* p) {
  double b = p[0];
  double h = p[1];
  return impact_pair(1.0, (b * b + h * h) / 3.0, b, h, (double[3]){h, -b, -1.0});
}

/* e of its ends is their own */
static impact_case flat_rod(const double* p) {
  (void)p;
  impact_case c = impact_pair(1.0, 1.0 / 3.0, 1.0, 0.0, (double[3]){0.0, -1.0, 0.0});
  c.contact[0].e_N = 0.5;
  c.contact[1].e_N = 0.0;
  return c;
}

static impact_case dimer(const double* p) {
  (void)p;
  return impact_pair(2.0, 8.8, 2.0, 1.0, (double[3]){0.0, -2.0, -1.0});
}

#define N SALTUS_IMPACT_NEWTON
#define POI SALTUS_IMPACT_POISSON
#define PRI SALTUS_IMPACT_POISSON_PRINTED
#define ENE SALTUS_IMPACT_ENERGETIC
#define PNE SALTUS_IMPACT_PATH_NEWTON
#define PPO SALTUS_IMPACT_PATH_POISSON
#define ONCE                                                                                       \
  { 0 }
#define TURN                                                                                       \
  { .order = SALTUS_ORDER_SEQUENTIAL }
#define FIRST                                                                                      \
  { .order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_FIRST }
#define LAST                                                                                       \
  { .order = SALTUS_ORDER_SEQUENTIAL, .pick = SALTUS_PICK_LAST }
#define LIN                                                                                        \
  { .order = SALTUS_ORDER_LZB, .exponent = 1.0 }
#define HERTZ                                                                                      \
  { .order = SALTUS_ORDER_LZB, .exponent = 1.5 }

/* clang-format off */
static const law_case cases[] = {
    {"law-chains", "3 balls, e = 1, Newton", chain, {3}, N, 0, 1, 0, ONCE, 'v', 3, {-1.0 / 3, 2.0 / 3, 2.0 / 3}, 1e-12},
    {"law-chains", "3 balls, e = 1, Poisson", chain, {3}, POI, 0, 1, 0, ONCE, 'v', 3, {-1.0 / 3, 2.0 / 3, 2.0 / 3}, 1e-12},
    {"law-chains", "3 balls, e = 1, Poisson as printed", chain, {3}, PRI, 0, 1, 0, ONCE, 'v', 3, {-1.0 / 3, 2.0 / 3, 2.0 / 3}, 1e-12},
    {"law-chains", "3 balls, e = 1, Moreau", chain, {3}, N, 0, 0, 0, {.order = SALTUS_ORDER_MOREAU, .restitution = 1}, 'v', 3, {-1.0 / 3, 2.0 / 3, 2.0 / 3}, 1e-12},
    {"law-chains", "3 balls, e = 1, sequential", chain, {3}, N, 0, 1, 0, TURN, 'v', 3, {0, 0, 1}, 1e-12},
    {"law-chains", "3 balls, e = 1, sequential Poisson", chain, {3}, POI, 0, 1, 0, TURN, 'v', 3, {0, 0, 1}, 1e-12},
    {"law-chains", "3 balls, e = 1, energetic", chain, {3}, ENE, 0, 1, 0, ONCE, 'v', 3, {0, 0, 1}, 1e-12},
    {"law-chains", "3 balls, e = 1, path, Newton", chain, {3}, PNE, 0, 1, 0, ONCE, 'v', 3, {0, 0, 1}, 1e-12},
    {"law-chains", "3 balls, e = 1, path, Poisson", chain, {3}, PPO, 0, 1, 0, ONCE, 'v', 3, {0, 0, 1}, 1e-12},
    {"law-chains", "3 balls, e = 1, springs", chain, {3}, N, 0, 1, 0, LIN, 'v', 3, {-0.130261695065, 0.150229569435, 0.980032125630}, 1.5e-12},
    {"law-chains", "3 balls, e = 1, Hertz", chain, {3}, N, 0, 1, 0, HERTZ, 'v', 3, {-0.0709523537, 0.0764030391, 0.9945493146}, 1e-10},
    {"law-chains", "3 balls, e = 1/2, Newton", chain, {3}, N, 0, 0.5, 0, ONCE, 'v', 3, {0, 0.5, 0.5}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, Poisson", chain, {3}, POI, 0, 0.5, 0, ONCE, 'v', 3, {0, 0.5, 0.5}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, Poisson as printed", chain, {3}, PRI, 0, 0.5, 0, ONCE, 'v', 3, {0, 0.5, 0.5}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, Moreau", chain, {3}, N, 0, 0, 0, {.order = SALTUS_ORDER_MOREAU, .restitution = 0.5}, 'v', 3, {0, 0.5, 0.5}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, sequential", chain, {3}, N, 0, 0.5, 0, TURN, 'v', 3, {0.203125, 0.234375, 0.5625}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, sequential Poisson", chain, {3}, POI, 0, 0.5, 0, TURN, 'v', 3, {0.203125, 0.234375, 0.5625}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, energetic", chain, {3}, ENE, 0, 0.5, 0, ONCE, 'v', 3, {0.203125, 0.234375, 0.5625}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, path, Newton", chain, {3}, PNE, 0, 0.5, 0, ONCE, 'v', 3, {0.203125, 0.234375, 0.5625}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, path, Poisson", chain, {3}, PPO, 0, 0.5, 0, ONCE, 'v', 3, {0.203125, 0.234375, 0.5625}, 1e-12},
    {"law-chains", "3 balls, e = 1/2, springs", chain, {3}, N, 0, 0.5, 0, LIN, 'v', 3, {0.182734856917, 0.233984179646, 0.583280963437}, 1.5e-12},
    {"law-chains", "3 balls, e = 1/2, Hertz", chain, {3}, N, 0, 0.5, 0, HERTZ, 'v', 3, {0.2092354752, 0.2187794422, 0.5719850826}, 1e-10},
    {"law-chains", "5 balls, e = 1, Newton", chain, {5}, N, 0, 1, 0, ONCE, 'v', 5, {-0.6, 0.4, 0.4, 0.4, 0.4}, 1e-12},
    {"law-chains", "5 balls, e = 1, Poisson", chain, {5}, POI, 0, 1, 0, ONCE, 'v', 5, {-0.6, 0.4, 0.4, 0.4, 0.4}, 1e-12},
    {"law-chains", "5 balls, e = 1, Poisson as printed", chain, {5}, PRI, 0, 1, 0, ONCE, 'v', 5, {-0.6, 0.4, 0.4, 0.4, 0.4}, 1e-12},
    {"law-chains", "5 balls, e = 1, Moreau", chain, {5}, N, 0, 0, 0, {.order = SALTUS_ORDER_MOREAU, .restitution = 1}, 'v', 5, {-0.6, 0.4, 0.4, 0.4, 0.4}, 1e-12},
    {"law-chains", "5 balls, e = 1, sequential", chain, {5}, N, 0, 1, 0, TURN, 'v', 5, {0, 0, 0, 0, 1}, 1e-12},
    {"law-chains", "5 balls, e = 1, sequential Poisson", chain, {5}, POI, 0, 1, 0, TURN, 'v', 5, {0, 0, 0, 0, 1}, 1e-12},
    {"law-chains", "5 balls, e = 1, energetic", chain, {5}, ENE, 0, 1, 0, ONCE, 'v', 5, {0, 0, 0, 0, 1}, 1e-12},
    {"law-chains", "5 balls, e = 1, path, Newton", chain, {5}, PNE, 0, 1, 0, ONCE, 'v', 5, {0, 0, 0, 0, 1}, 1e-12},
    {"law-chains", "5 balls, e = 1, path, Poisson", chain, {5}, PPO, 0, 1, 0, ONCE, 'v', 5, {0, 0, 0, 0, 1}, 1e-12},
    {"law-chains", "5 balls, e = 1, springs", chain, {5}, N, 0, 1, 0, LIN, 'v', 5, {-0.132279484710, -0.075329169803, -0.031010829014, 0.296217750141, 0.942401733385}, 1.5e-12},
    {"law-chains", "5 balls, e = 1, Hertz", chain, {5}, N, 0, 1, 0, HERTZ, 'v', 5, {-0.0710850171, -0.0302737641, -0.0144636290, 0.1270449861, 0.9887774241}, 1e-10},
    {"law-chains", "5 balls, e = 1/2, Newton", chain, {5}, N, 0, 0.5, 0, ONCE, 'v', 5, {-0.2, 0.3, 0.3, 0.3, 0.3}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, Poisson", chain, {5}, POI, 0, 0.5, 0, ONCE, 'v', 5, {-0.2, 0.3, 0.3, 0.3, 0.3}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, Poisson as printed", chain, {5}, PRI, 0, 0.5, 0, ONCE, 'v', 5, {-0.2, 0.3, 0.3, 0.3, 0.3}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, Moreau", chain, {5}, N, 0, 0, 0, {.order = SALTUS_ORDER_MOREAU, .restitution = 0.5}, 'v', 5, {-0.2, 0.3, 0.3, 0.3, 0.3}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, sequential", chain, {5}, N, 0, 0.5, 0, TURN, 'v', 5, {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, sequential Poisson", chain, {5}, POI, 0, 0.5, 0, TURN, 'v', 5, {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, energetic", chain, {5}, ENE, 0, 0.5, 0, ONCE, 'v', 5, {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, path, Newton", chain, {5}, PNE, 0, 0.5, 0, ONCE, 'v', 5, {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, path, Poisson", chain, {5}, PPO, 0, 0.5, 0, ONCE, 'v', 5, {0.153869628906, 0.167175292969, 0.177978515625, 0.184570312500, 0.316406250000}, 1e-12},
    {"law-chains", "5 balls, e = 1/2, springs", chain, {5}, N, 0, 0.5, 0, LIN, 'v', 5, {0.1449737625, 0.1530403117, 0.1671246464, 0.1677013421, 0.3671599373}, 1e-10},
    {"law-chains", "5 balls, e = 1/2, Hertz", chain, {5}, N, 0, 0.5, 0, HERTZ, 'v', 5, {0.1539764568, 0.1553522190, 0.1664984066, 0.1883250499, 0.3358478678}, 1e-10},

    {"law-columns", "3 beads, springs", column, {3}, N, 0, 1, 0, LIN, 'v', 3, {0.6882972624, 1.0014464588, 1.2342414143}, 1e-10},
    {"law-columns", "3 beads, Hertz", column, {3}, N, 0, 1, 0, HERTZ, 'v', 3, {0.6436311529, 1.0395249939, 1.2268360633}, 1e-10},
    {"law-columns", "5 beads, springs", column, {5}, N, 0, 1, 0, LIN, 'v', 5, {0.637232443, 0.933301005, 0.977486148, 1.051158617, 1.289368233}, 1e-9},
    {"law-columns", "5 beads, Hertz", column, {5}, N, 0, 1, 0, HERTZ, 'v', 5, {0.4240800657, 0.8442862769, 1.0284576469, 1.1091643163, 1.3488388223}, 1e-10},
    {"law-columns", "10 beads, Hertz", column, {10}, N, 0, 1, 0, HERTZ, 'v', 10, {0.260134520, 0.510587923, 0.621765979, 0.909644914, 1.007917423, 1.031100842, 1.064447836, 1.126760921, 1.255792220, 1.548826412}, 1e-9},
    {"law-columns", "3 beads, Newton", column, {3}, N, 0, 1, 0, ONCE, 'v', 3, {1, 1, 1}, 1e-12},
    {"law-columns", "5 beads, Newton", column, {5}, N, 0, 1, 0, ONCE, 'v', 5, {1, 1, 1, 1, 1}, 1e-12},
    {"law-columns", "10 beads, Newton", column, {10}, N, 0, 1, 0, ONCE, 'v', 10, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1e-12},

    {"law-kane", "Newton: energy", kane, {0}, N, 0.5, 0.7, 0, ONCE, 'T', 1, {0.040743904553}, 1.5e-12},
    {"law-kane", "Newton: impulses", kane, {0}, N, 0.5, 0.7, 0, ONCE, 'P', 2, {0.916584813765, -0.458292406883}, 1.5e-12},
    {"law-kane", "Newton: velocities", kane, {0}, N, 0.5, 0.7, 0, ONCE, 'u', 2, {0.093941410033, 0.008845673577}, 1.5e-12},
    {"law-kane", "Newton, e_T = 0.7: energy", kane, {0}, N, 0.5, 0.7, 0.7, ONCE, 'T', 1, {-0.008427108432}, 1.5e-12},
    {"law-kane", "Newton, e_T = 0.7: impulses", kane, {0}, N, 0.5, 0.7, 0.7, ONCE, 'P', 2, {0.128878962952, 0.064439481476}, 1.5e-12},
    {"law-kane", "Newton, e_T = 0.7: velocities", kane, {0}, N, 0.5, 0.7, 0.7, ONCE, 'u', 2, {0.093941410033, 0.086144457630}, 1.5e-12},
    {"law-kane", "Poisson: energy", kane, {0}, POI, 0.5, 0.7, 0, ONCE, 'T', 1, {-0.009947567369}, 1.5e-12},
    {"law-kane", "Poisson: impulses", kane, {0}, POI, 0.5, 0.7, 0, ONCE, 'P', 2, {0.128878962952, 0.029139266499}, 1.5e-12},
    {"law-kane", "Poisson: velocities", kane, {0}, POI, 0.5, 0.7, 0, ONCE, 'u', 2, {0.040238887358, 0}, 1.5e-12},
    {"law-kane", "Poisson as printed: energy", kane, {0}, PRI, 0.5, 0.7, 0, ONCE, 'T', 1, {-0.009853799569}, 1.5e-12},
    {"law-kane", "Poisson as printed: impulses", kane, {0}, PRI, 0.5, 0.7, 0, ONCE, 'P', 2, {0.128878962952, 0.037905577339}, 1.5e-12},
    {"law-kane", "Poisson as printed: velocities", kane, {0}, PRI, 0.5, 0.7, 0, ONCE, 'u', 2, {0.053575151938, 0.021392761864}, 1.5e-12},
    {"law-kane", "path, Newton: energy", kane, {0}, PNE, 0.5, 0.7, 0, ONCE, 'T', 1, {-0.000163335726}, 1.5e-12},
    {"law-kane", "path, Newton: impulses", kane, {0}, PNE, 0.5, 0.7, 0, ONCE, 'P', 2, {0.320933541427, -0.063010444623}, 1.5e-12},
    {"law-kane", "path, Newton: velocities", kane, {0}, PNE, 0.5, 0.7, 0, ONCE, 'u', 2, {0.093941410033, 0.067297847094}, 1.5e-12},
    {"law-kane", "path, Poisson: energy", kane, {0}, PPO, 0.5, 0.7, 0, ONCE, 'T', 1, {-0.009929221381}, 1.5e-12},
    {"law-kane", "path, Poisson: impulses", kane, {0}, PPO, 0.5, 0.7, 0, ONCE, 'P', 2, {0.128878962952, 0.033016844614}, 1.5e-12},
    {"law-kane", "path, Poisson: velocities", kane, {0}, PPO, 0.5, 0.7, 0, ONCE, 'u', 2, {0.046137880517, 0.009462601400}, 1.5e-12},
    {"law-kane", "energetic: energy", kane, {0}, ENE, 0.5, 0.7, 0, ONCE, 'T', 1, {-0.009270438743}, 1.5e-12},
    {"law-kane", "energetic: impulses", kane, {0}, ENE, 0.5, 0.7, 0, ONCE, 'P', 2, {0.144499326661, 0.025206662760}, 1.5e-12},
    {"law-kane", "energetic: velocities", kane, {0}, ENE, 0.5, 0.7, 0, ONCE, 'u', 2, {0.050025882165, 0.014166512029}, 1.5e-12},
    {"law-kane", "one spring is energetic", kane, {0}, N, 0.5, 0.7, 0, LIN, 'P', 2, {0.144499326661, 0.025206662760}, 1e-10},
    {"law-kane", "one spring of Hertz is energetic", kane, {0}, N, 0.5, 0.7, 0, HERTZ, 'P', 2, {0.144499326661, 0.025206662760}, 1e-10},
    {"law-kane", "capped", kane, {0}, N, 0.5, 0.7, 0, {.energy = SALTUS_GAIN_CAP}, 'T', 1, {0.0}, 1e-12},

    {"law-regions", "slide, Newton", rod, {45, 1.5}, N, 0.5, 0.6, 0, ONCE, 'u', 2, {0.6, 0.146153846154}, 1.5e-12},
    {"law-regions", "slide, Poisson", rod, {45, 1.5}, POI, 0.5, 0.6, 0, ONCE, 'u', 2, {0.6, 0.146153846154}, 1.5e-12},
    {"law-regions", "slide, path Poisson", rod, {45, 1.5}, PPO, 0.5, 0.6, 0, ONCE, 'u', 2, {0.6, 0.146153846154}, 1.5e-12},
    {"law-regions", "slide, energetic", rod, {45, 1.5}, ENE, 0.5, 0.6, 0, ONCE, 'u', 2, {0.6, 0.146153846154}, 1.5e-12},
    {"law-regions", "slide, energetic, impulse", rod, {45, 1.5}, ENE, 0.5, 0.6, 0, ONCE, 'P', 1, {0.492307692308}, 1.5e-12},
    {"law-regions", "C-reverse, Newton", rod, {60, 1.0}, N, 0.3, 0.8, 0, ONCE, 'u', 2, {0.8, 0}, 1.5e-12},
    {"law-regions", "C-reverse, Poisson", rod, {60, 1.0}, POI, 0.3, 0.8, 0, ONCE, 'u', 2, {0.530774232406, -0.126437199297}, 1.5e-12},
    {"law-regions", "C-reverse, path Poisson", rod, {60, 1.0}, PPO, 0.3, 0.8, 0, ONCE, 'u', 2, {0.525801300705, -0.139323732408}, 1.5e-12},
    {"law-regions", "C-reverse, energetic", rod, {60, 1.0}, ENE, 0.3, 0.8, 0, ONCE, 'u', 2, {0.638501041381, -0.166170249632}, 1.5e-12},
    {"law-regions", "C-reverse, energetic, impulse", rod, {60, 1.0}, ENE, 0.3, 0.8, 0, ONCE, 'P', 1, {0.952557198128}, 1.5e-12},
    {"law-regions", "R-reverse, Newton", rod, {60, 1.3}, N, 0.3, 0.8, 0, ONCE, 'u', 2, {0.8, 0}, 1.5e-12},
    {"law-regions", "R-reverse, Poisson", rod, {60, 1.3}, POI, 0.3, 0.8, 0, ONCE, 'u', 2, {0.554981311994, 0}, 1.5e-12},
    {"law-regions", "R-reverse, path Poisson", rod, {60, 1.3}, PPO, 0.3, 0.8, 0, ONCE, 'u', 2, {0.589895147131, -0.087349219164}, 1.5e-12},
    {"law-regions", "R-reverse, energetic", rod, {60, 1.3}, ENE, 0.3, 0.8, 0, ONCE, 'u', 2, {0.651934607676, -0.102127810810}, 1.5e-12},
    {"law-regions", "R-reverse, energetic, impulse", rod, {60, 1.3}, ENE, 0.3, 0.8, 0, ONCE, 'P', 1, {0.886842504919}, 1.5e-12},
    {"law-regions", "R-stick, Newton", rod, {45, 1.0}, N, 0.7, 0.6, 0, ONCE, 'u', 2, {0.6, 0}, 1.5e-12},
    {"law-regions", "R-stick, Poisson", rod, {45, 1.0}, POI, 0.7, 0.6, 0, ONCE, 'u', 2, {0.321126760563, 0}, 1.5e-12},
    {"law-regions", "R-stick, energetic", rod, {45, 1.0}, ENE, 0.7, 0.6, 0, ONCE, 'u', 2, {0.408575465684, 0}, 1.5e-12},
    {"law-regions", "R-stick, energetic, impulse", rod, {45, 1.0}, ENE, 0.7, 0.6, 0, ONCE, 'P', 1, {0.505359666053}, 1.5e-12},
    {"law-regions", "C-stick, Newton", rod, {54, 1.0}, N, 1.6, 0.5, 0, ONCE, 'u', 2, {0.5, 0}, 1.5e-12},
    {"law-regions", "C-stick, Poisson", rod, {54, 1.0}, POI, 1.6, 0.5, 0, ONCE, 'u', 2, {0.259309515220, 0}, 1.5e-12},
    {"law-regions", "C-stick, energetic", rod, {54, 1.0}, ENE, 1.6, 0.5, 0, ONCE, 'u', 2, {0.305901319101, 0}, 1.5e-12},
    {"law-regions", "C-stick, energetic, impulse", rod, {54, 1.0}, ENE, 1.6, 0.5, 0, ONCE, 'P', 1, {0.610871768545}, 1.5e-12},
    {"law-regions", "jam, Newton", rod, {63.43494882292201, -1.0}, N, 2.0, 0.5, 0, ONCE, 'u', 2, {0.5, 0}, 1.5e-12},
    {"law-regions", "jam, Poisson", rod, {63.43494882292201, -1.0}, POI, 2.0, 0.5, 0, ONCE, 'u', 2, {0.676470588235, 0}, 1.5e-12},
    {"law-regions", "jam, energetic", rod, {63.43494882292201, -1.0}, ENE, 2.0, 0.5, 0, ONCE, 'u', 2, {0.662627821822, 0}, 1.5e-12},
    {"law-regions", "jam, energetic, impulse", rod, {63.43494882292201, -1.0}, ENE, 2.0, 0.5, 0, ONCE, 'P', 1, {1.713233648548}, 1.5e-12},

    {"law-space", "rod, mu = 0.2", rod_in_space, {0}, ENE, 0.2, 0.7, 0, ONCE, 'P', 3, {0.643411569161, 0.008549030841, 0.112761836667}, 1.5e-12},
    {"law-space", "rod, mu = 0.5", rod_in_space, {0}, ENE, 0.5, 0.7, 0, ONCE, 'P', 3, {0.736892363944, 0.143846337401, 0.269740541560}, 1.5e-12},
    {"law-space", "rod, mu = 0.9, stops", rod_in_space, {0}, ENE, 0.9, 0.7, 0, ONCE, 'P', 3, {0.868691093784, 0.329617794346, 0.418694235477}, 2e-9},
    {"law-space", "sphere slides, Newton", sphere, {0}, N, 0.1, 0.8, 0, ONCE, 'P', 3, {1.8, -0.056920997883, -0.170762993649}, 1.5e-12},
    {"law-space", "sphere sticks, Newton", sphere, {0}, N, 0.6, 0.8, 0, ONCE, 'P', 3, {1.8, -2.0 / 7, -6.0 / 7}, 1.5e-12},
    {"law-space", "sphere slides, Poisson", sphere, {0}, POI, 0.1, 0.8, 0, ONCE, 'P', 3, {1.8, -0.056920997883, -0.170762993649}, 1.5e-12},
    {"law-space", "sphere sticks, Poisson", sphere, {0}, POI, 0.6, 0.8, 0, ONCE, 'P', 3, {1.8, -2.0 / 7, -6.0 / 7}, 1.5e-12},
    {"law-space", "sphere slides, path, Newton", sphere, {0}, PNE, 0.1, 0.8, 0, ONCE, 'P', 3, {1.8, -0.056920997883, -0.170762993649}, 1.5e-12},
    {"law-space", "sphere sticks, path, Newton", sphere, {0}, PNE, 0.6, 0.8, 0, ONCE, 'P', 3, {1.8, -2.0 / 7, -6.0 / 7}, 1.5e-12},
    {"law-space", "sphere slides, path, Poisson", sphere, {0}, PPO, 0.1, 0.8, 0, ONCE, 'P', 3, {1.8, -0.056920997883, -0.170762993649}, 1.5e-12},
    {"law-space", "sphere sticks, path, Poisson", sphere, {0}, PPO, 0.6, 0.8, 0, ONCE, 'P', 3, {1.8, -2.0 / 7, -6.0 / 7}, 1.5e-12},
    {"law-space", "sphere slides, energetic", sphere, {0}, ENE, 0.1, 0.8, 0, ONCE, 'P', 3, {1.8, -0.056920997883, -0.170762993649}, 1.5e-12},
    {"law-space", "sphere sticks, energetic", sphere, {0}, ENE, 0.6, 0.8, 0, ONCE, 'P', 3, {1.8, -2.0 / 7, -6.0 / 7}, 1.5e-12},

    {"law-superball", "e_T = 1, impulses", superball, {0}, N, 1, 1, 1, ONCE, 'P', 2, {2, -4.0 / 7}, 1e-12},
    {"law-superball", "e_T = 1, energy", superball, {0}, N, 1, 1, 1, ONCE, 'T', 1, {0}, 1e-12},
    {"law-superball", "e_T = 0, impulses", superball, {0}, N, 1, 1, 0, ONCE, 'P', 2, {2, -2.0 / 7}, 1e-12},
    {"law-superball", "e_T = 0, energy", superball, {0}, N, 1, 1, 0, ONCE, 'T', 1, {-1.0 / 7}, 1e-12},
    {"law-superball", "e_T = 1/2, impulses", superball, {0}, N, 1, 1, 0.5, ONCE, 'P', 2, {2, -3.0 / 7}, 1e-12},
    {"law-superball", "e_T = 1/2, energy", superball, {0}, N, 1, 1, 0.5, ONCE, 'T', 1, {-3.0 / 28}, 1e-12},
    {"law-superball", "e_T = -1/2, impulses", superball, {0}, N, 1, 1, -0.5, ONCE, 'P', 2, {2, -1.0 / 7}, 1e-12},
    {"law-superball", "e_T = -1/2, energy", superball, {0}, N, 1, 1, -0.5, ONCE, 'T', 1, {-3.0 / 28}, 1e-12},
    {"law-superball", "e_T = -1, impulses", superball, {0}, N, 1, 1, -1, ONCE, 'P', 2, {2, 0}, 1e-12},
    {"law-superball", "e_T = -1, energy", superball, {0}, N, 1, 1, -1, ONCE, 'T', 1, {0}, 1e-12},

    {"law-dimer", "mu = 0.1, Newton", dimer, {0}, N, 0.1, 0.6, 0, ONCE, 'v', 3, {-0.343414634, 1.434146341, 0.482926829}, 1e-9},
    {"law-dimer", "mu = 0.1, Poisson", dimer, {0}, POI, 0.1, 0.6, 0, ONCE, 'v', 3, {-0.082553191, 1.336170213, 0.497678917}, 1e-9},
    {"law-dimer", "mu = 0.1, energetic", dimer, {0}, ENE, 0.1, 0.6, 0, ONCE, 'v', 3, {0.014450489, 1.320062044, 0.512403313}, 1e-9},
    {"law-dimer", "mu = 0.1, springs", dimer, {0}, N, 0.1, 0.6, 0, LIN, 'v', 3, {0.014450489, 1.320062044, 0.512403313}, 1e-9},
    {"law-dimer", "mu = 0.1, Hertz", dimer, {0}, N, 0.1, 0.6, 0, HERTZ, 'v', 3, {0.014450489, 1.320062044, 0.512403313}, 1e-9},
    {"law-dimer", "mu = 0.5, Newton", dimer, {0}, N, 0.5, 0.6, 0, ONCE, 'v', 3, {-0.468085106, 1.463829787, 0.468085106}, 1e-9},
    {"law-dimer", "mu = 0.5, Poisson", dimer, {0}, POI, 0.5, 0.6, 0, ONCE, 'v', 3, {-0.420803783, 1.336170213, 0.420803783}, 1e-9},
    {"law-dimer", "mu = 0.5, energetic", dimer, {0}, ENE, 0.5, 0.6, 0, ONCE, 'v', 3, {-0.431299095, 1.364507556, 0.431299095}, 1e-9},
    {"law-dimer", "mu = 0.5, springs", dimer, {0}, N, 0.5, 0.6, 0, LIN, 'v', 3, {-0.4238468, 1.3781724, 0.4238468}, 1e-7},
    {"law-dimer", "mu = 0.5, Hertz", dimer, {0}, N, 0.5, 0.6, 0, HERTZ, 'v', 3, {-0.4305463, 1.3659023, 0.4305463}, 1e-7},

    {"law-rocking", "0.4 x 1.2, mu large", block, {0.2, 0.6}, N, 9, 0, 0, ONCE, 'v', 3, {0.51, 0.17, -0.85}, 1e-12},
    {"law-rocking", "1 x 2, mu large", block, {0.5, 1.0}, N, 9, 0, 0, ONCE, 'v', 3, {0.7, 0.35, -0.7}, 1e-12},
    {"law-rocking", "0.4 x 1.2, mu = 0.1", block, {0.2, 0.6}, N, 0.1, 0, 0, ONCE, 'v', 3, {0.566942148760, 0.130578512397, -0.652892561983}, 1.5e-12},
    {"law-rocking", "0.4 x 1.2, mu = 0", block, {0.2, 0.6}, N, 0, 0, 0, ONCE, 'v', 3, {0.6, 0.107692307692, -0.538461538462}, 1.5e-12},
    {"law-rocking", "one after the other", block, {0.2, 0.6}, ENE, 0.1, 0, 0, ONCE, 'v', 3, {0.566942148760, 0.130578512397, -0.652892561983}, 1e-11},
    {"law-rocking", "one after the other, 0.4 x 1.2, mu large", block, {0.2, 0.6}, ENE, 9, 0, 0, ONCE, 'v', 3, {0.51, 0.17, -0.85}, 1e-11},
    {"law-rocking", "one after the other, 1 x 2, mu large", block, {0.5, 1.0}, ENE, 9, 0, 0, ONCE, 'v', 3, {0.7, 0.35, -0.7}, 1e-11},
    {"law-rocking", "one after the other, mu = 0", block, {0.2, 0.6}, ENE, 0, 0, 0, ONCE, 'v', 3, {0.6, 0.107692307692, -0.538461538462}, 1e-11},
    {"law-rocking", "flat block stops, all at once", block, {2.0, 1.0}, N, 9, 0, 0, ONCE, 'v', 3, {0, 0, 0}, 1e-12},
    {"law-rocking", "flat block stops", block, {2.0, 1.0}, ENE, 9, 0, 0, ONCE, 'v', 3, {0, 0, 0}, 1e-11},
    {"law-rocking", "springs, e = 0.7", block, {2.0, 1.0}, N, 0.1, 0.7, 0, LIN, 'u', 4, {1.6099016, 0.5866750, 1.3482275, 0.5866750}, 1e-7},
    {"law-rocking", "Hertz, e = 0.7", block, {2.0, 1.0}, N, 0.1, 0.7, 0, HERTZ, 'u', 4, {1.7719396, 0.4776137, 1.0459777, 0.4776137}, 1e-7},

    {"law-order", "masses 1, 3, 1, first", meeting, {0}, N, 0, 1, 0, FIRST, 'v', 3, {-0.5, -0.25, 1.25}, 1e-12},
    {"law-order", "masses 1, 3, 1, last", meeting, {0}, N, 0, 1, 0, LAST, 'v', 3, {-1.25, 0.25, 0.5}, 1e-12},
    {"law-order", "masses 1, 3, 1, Newton", meeting, {0}, N, 0, 1, 0, ONCE, 'v', 3, {-1, 0, 1}, 1e-12},
    {"law-order", "masses 1, 3, 1, springs", meeting, {0}, N, 0, 1, 0, LIN, 'v', 3, {-1, 0, 1}, 1e-12},
    {"law-order", "masses 1, 3, 1, Hertz", meeting, {0}, N, 0, 1, 0, HERTZ, 'v', 3, {-1, 0, 1}, 1e-10},
    {"law-order", "stiffness 1, 4, springs", stiff_chain, {0}, N, 0, 0.8, 0, LIN, 'v', 3, {-0.285116547455, 0.505214489318, 0.549375137639}, 1.5e-12},
    {"law-order", "stiffness 1, 4, Hertz", stiff_chain, {0}, N, 0, 0.8, 0, HERTZ, 'v', 3, {-0.25683563402, 0.44310562396, 0.74124877220}, 2e-11},
    {"law-order", "flat rod, e = 1/2 and 0, Poisson", flat_rod, {0}, POI, 0, -1, 0, ONCE, 'v', 3, {0, 0.375, -0.375}, 1e-12},
    {"law-order", "flat rod, e = 1/2 and 0, Newton", flat_rod, {0}, N, 0, -1, 0, ONCE, 'v', 3, {0, 0.25, -0.25}, 1e-12},
};
/* clang-format on */

const law_case* law_case_at(int i) {
  return i >= 0 && i < (int)(sizeof cases / sizeof cases[0]) ? &cases[i] : NULL;
}
