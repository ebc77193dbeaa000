/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * clock.h - the clocks of the machine. Nothing that they say reaches the motion.
 */
#ifndef SALTUSI_CLOCK_H
#define SALTUSI_CLOCK_H

/* s since some instant; never runs backwards. */
double saltusi_clock_monotonic(void);

/* s of computing time of this process. */
double saltusi_clock_cpu(void);

/* s of computing time of this thread. */
double saltusi_clock_thread(void);

#endif
