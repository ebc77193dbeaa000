/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * clock.h - clocks of the machine, for timings in reports. The motion does not depend on them.
 */
#ifndef SALTUSI_CLOCK_H
#define SALTUSI_CLOCK_H

/* s since a fixed instant; monotonic. */
double saltusi_clock_monotonic(void);

/* s of processor time of this process. */
double saltusi_clock_cpu(void);

/* s of processor time of this thread. */
double saltusi_clock_thread(void);

#endif
