/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact_cases.h - configurations at the instant of an impact, from G, M and v: chains, columns, Kane's pendulum, rods,
 * blocks, dimers; and what a law makes of them.
 */
#ifndef SALTUS_IMPACT_CASES_H
#define SALTUS_IMPACT_CASES_H

#include "saltus/law.h"

#include <stdint.h>

enum { IMPACT_ROWS = 32, IMPACT_BODIES = 16 };

typedef struct impact_case {
  int nv, count, rows;
  double v[IMPACT_BODIES];                       /* before */
  double inverse[IMPACT_BODIES * IMPACT_BODIES]; /* M^-1 */
  double G[IMPACT_BODIES * IMPACT_ROWS];         /* [nv x rows] */
  saltus_impact_contact contact[IMPACT_BODIES];
  double W[IMPACT_ROWS * IMPACT_ROWS]; /* by impact_case_close */
  double u[IMPACT_ROWS];
} impact_case;

typedef struct impact_outcome {
  saltus_status status;
  double P[IMPACT_ROWS], u[IMPACT_ROWS];
  double v[IMPACT_BODIES]; /* after */
  double change;           /* J, of the kinetic energy, from v where M is regular */
  saltus_impact_result result;
} impact_outcome;

/* First ball with 1, the rest touching; mass NULL: ones. */
impact_case impact_chain(int balls, const double* mass);
/* Beads upon each other that fall on the floor with 1; bottom first. */
impact_case impact_column(int beads);
/* Kane's double pendulum: mu = 1/2, e = 0.7. */
impact_case impact_kane(void);
/* A rod, m = 1, J = 1/3, half length 1, on its lower tip, tilt in rad; the tip comes with -1 and slips with s. */
impact_case impact_rod(double tilt, double s, double mu, double e);
/* A planar body with two points below at (-b, -h), (b, -h); v = (x', y', w). */
impact_case impact_pair(double m, double J, double b, double h, const double v[3]);
/* A rod in space with its tip at (-0.6, -0.48, -0.64), U- = (-1, 0.4, -0.3). */
impact_case impact_rod_in_space(double mu, double e);
/* W and U- as they are, rows of one contact after the other. */
impact_case impact_given(int count, int tangents, const double* W, const double* u);

void impact_case_set(impact_case* c, saltus_impact_law law, double mu, double e_N, double e_T);
impact_outcome impact_case_solve(const impact_case* c, const saltus_impacts* rule);

/* The kinetic energy that impulses in the contacts can reach: U- . W^-1 U- / 2 [J]; W regular, 8 rows at most. */
double impact_reach(const impact_case* c);

/* A random one with two contacts in a plane, one of them resting half the time: without friction or with, with one e or
 * two. */
impact_case impact_random_two(uint64_t* seed, int tangents);
/* A random one with one contact, the same for every run: d = 2 or 3 rows. */
impact_case impact_random(uint64_t* seed, int d);

#endif
