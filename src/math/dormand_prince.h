/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dormand_prince.h - the embedded methods of Dormand and Prince as data: order 5(4) with the dense
 * output of Shampine, and order 8(5,3) with three more stages and the interpolant of order 7. Tests
 * recompute the order conditions.
 */
#ifndef SALTUSI_DORMAND_PRINCE_H
#define SALTUSI_DORMAND_PRINCE_H

enum { SALTUSI_DOPRI5_STRIDE = 6, SALTUSI_DOP853_STRIDE = 15 };

/* Rows of a belong to stages; the last row of the method is that of the solution. */
extern const double saltusi_dopri5_c[7];
extern const double saltusi_dopri5_a[7][SALTUSI_DOPRI5_STRIDE];
extern const double saltusi_dopri5_error[7];
extern const double saltusi_dopri5_dense[7][4]; /* of theta, theta^2, theta^3, theta^4 */

extern const double saltusi_dop853_c[16];
extern const double saltusi_dop853_a[16][SALTUSI_DOP853_STRIDE]; /* row 12 is the solution */
extern const double saltusi_dop853_third[3];  /* third-order weights of stages 0, 8, 11 */
extern const double saltusi_dop853_fifth[12]; /* difference to the fifth-order method */
extern const double saltusi_dop853_dense[4][16];

#endif
