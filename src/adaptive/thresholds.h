/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thresholds.h - the numbers that several files of the integrator share, and why they are what they are.
 * Numbers of one file are explained there. 25 of those were changed to a tenth and to ten times, one by one, in
 * `study adversarial --count 2 --tol 1e-6`: all claims held, and printed errors changed only with the cap of a
 * step (1.5 in adaptive.c) and, by a hundredth, with the first base of secants (find_events.c). That sample is small
 * and need not reach all of them. Not varied: weights of defects, limits of spatial slip, rounding of rows.
 * "size" is that of positions (layout_tables.h), eps the rounding unit; lengths scale with it or with a tolerance.
 */
#ifndef SALTUSI_THRESHOLDS_H
#define SALTUSI_THRESHOLDS_H

#include <float.h>
#include <math.h>

/* A gap is a sum of some ten products of the size of positions: its rounding, at most. */
static const double saltusi_gap_rounding = 64.0 * DBL_EPSILON;
/* The same after Newton's iteration on a surface that bends, whose last step is rounding times its condition. */
static const double saltusi_surface_rounding = 1e3 * DBL_EPSILON;

/* Part of the tolerance of positions within which a gap counts as closed: what is wrong by it is a
 * thousandth of what a step may do. */
static const double saltusi_near_part = 1e-3;
/* Part of the tolerance that a gap may be off where something is located or searched: ten such errors are one
 * tolerance. */
static const double saltusi_depth_part = 0.1;

/* Part of the size above which a gap is as good as the integral of U: eps / 1e-8 = 2e-8, what quadrature
 * leaves of an integral over a step that bends. */
static const double saltusi_flown_part = 1e-8;
/* Part of the size of a flight that positions cannot show: eps^2 is 5e-32, a hundred million times less. */
static const double saltusi_no_flight = 1e-24;

/* Events whose places differ by less, relative to the way to them, are one instant: dense output is known to
 * some 1e-8 of itself at the coarsest; searches go on a little further, so that none of them is cut off. */
static const double saltusi_together = 1e-8;
static const double saltusi_search_remainder = 1e-7;

/* Force events: the width within which a root of a force is wanted, 0.01 sqrt(rtol) of a step and at most
 * 1e-3: forces change their sign linearly, and what a wrong sign does over that width is O(width^2) of the
 * step, below a ten-thousandth of rtol. */
static const double saltusi_force_width = 1e-3;
static const double saltusi_force_width_rate = 0.01;
/* rtol below this does not narrow it: it is rounding. */
static const double saltusi_rtol_least = 1e-14;

/* Part of its bound that friction of redundant supports may use where forces are chosen in the middle of a step: with
 * more the next step would end at once. Near the end of sticking no shares are that clear of all cones, and those of the
 * steps go beyond by that part for that part of the time: an impulse of its square, a hundredth of rtol. */
static inline double saltusi_friction_clear(double rtol) {
  return 1.0 - fmin(1e-3, 0.1 * sqrt(rtol));
}
/* Part that counts as the bound: sums of forces are as good as that, and recordings have it as friction in the cone. */
static const double saltusi_friction_bound = 1.0 + 1e-12;

/* Rounding of a sum of ten or so products, relative to its largest term. */
static const double saltusi_sum_rounding = 1e-13;

/* Size of times, whose rounding unit is eps times it: steps of a few units are none, and at most 64 of them is
 * what an attempt is shortened to for an event. The second is there for starts at t = 0, where |t| says nothing:
 * no step is below 1e-15 s. That is 1e-9 of a run of a microsecond; shorter ones want another unit of time. It
 * does not scale with the run, because a step knows how far its caller lets it go, not the run, and events
 * would depend on where it stops then. */
static inline double saltusi_time_size(double t) {
  return fmax(1.0, fabs(t));
}

#endif
