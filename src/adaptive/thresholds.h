/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * thresholds.h - constants that several files of the integrator share, with their derivation. Constants of one
 * file are explained there. 25 of those were changed to a tenth and to ten times, one by one, in `study
 * adversarial --count 2 --tol 1e-6`: all claims held, and printed errors changed only with the cap of a step (1.5
 * in adaptive.c) and, by a hundredth, with the first base of secants (find_events.c). That sample is small and
 * need not reach all of them. Not varied: weights of defects, limits of spatial slip, rounding of rows. "size" is
 * that of positions (layout_tables.h), eps the rounding unit; lengths scale with it or with a tolerance.
 */
#ifndef SALTUSI_THRESHOLDS_H
#define SALTUSI_THRESHOLDS_H

#include <float.h>
#include <math.h>

/* Bound of the rounding of a gap, a sum of some ten products of the size of positions. */
static const double saltusi_gap_rounding = 64.0 * DBL_EPSILON;
/* The same after Newton's iteration on a curved surface, whose last step is rounding times its condition number. */
static const double saltusi_surface_rounding = 1e3 * DBL_EPSILON;

/* Fraction of the tolerance of positions within which a gap counts as closed: its error is a thousandth of the
 * tolerance of a step. */
static const double saltusi_near_part = 1e-3;
/* Fraction of the tolerance that a gap may be off where an event is located or searched: ten such errors are one
 * tolerance. */
static const double saltusi_depth_part = 0.1;

/* Fraction of the size above which a gap is as accurate as the integral of U: eps / 1e-8 = 2e-8, the error of
 * quadrature over a curved step. */
static const double saltusi_flown_part = 1e-8;
/* Relative size of a flight that positions cannot resolve: eps^2 is 5e-32, a hundred million times less. */
static const double saltusi_no_flight = 1e-24;

/* Events closer than this, relative to their distance from the start, are one instant: dense output is accurate to
 * some 1e-8 at the coarsest tolerances; searches extend a little further, so that none of them is cut off. */
static const double saltusi_together = 1e-8;
static const double saltusi_search_remainder = 1e-7;

/* Force events: width of the bracket of a root, 0.01 sqrt(rtol) of a step and at most 1e-3: forces change sign
 * linearly, and the effect of a wrong sign over that width is O(width^2) of the step, below a ten-thousandth of
 * rtol. */
static const double saltusi_force_width = 1e-3;
static const double saltusi_force_width_rate = 0.01;
/* Smaller values of rtol do not narrow it: they are rounding. */
static const double saltusi_rtol_least = 1e-14;

/* Fraction of its bound that friction of redundant contacts may use where forces are selected in the middle of a
 * step: with more the next step would end at once. Near the end of sticking no load distribution has that margin
 * in all cones, and those of the steps exceed the bound by that fraction for that fraction of the time: an impulse
 * of its square, a hundredth of rtol. */
static inline double saltusi_friction_clear(double rtol) {
  return 1.0 - fmin(1e-3, 0.1 * sqrt(rtol));
}
/* Fraction that counts as the bound: the accuracy of sums of forces; recordings verify friction in the cone to it. */
static const double saltusi_friction_bound = 1.0 + 1e-12;

/* Rounding of a sum of ten or so products, relative to its largest term. */
static const double saltusi_sum_rounding = 1e-13;

/* Size of times, whose rounding unit is eps times it: steps of a few units are rejected, and a trial step is
 * shortened to at least 64 of them for an event. The second term is for starts at t = 0, where |t| gives no scale:
 * no step is below 1e-15 s. That is 1e-9 of a run of a microsecond; shorter runs need another unit of time. It
 * does not scale with the run, because a step has the limit of its caller but not the length of the run, and
 * events would depend on that limit. */
static inline double saltusi_time_size(double t) {
  return fmax(1.0, fabs(t));
}

#endif
