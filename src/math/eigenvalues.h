/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * eigenvalues.h - eigenvalues of a small real matrix.
 */
#ifndef SALTUSI_EIGENVALUES_H
#define SALTUSI_EIGENVALUES_H

#include <stdbool.h>

/* Eigenvalues of A [n x n], row major, which is overwritten: Hessenberg form, then QR steps with Francis' double shift
 * (Golub and Van Loan,
 * Matrix Computations, 7.5). Largest first. False: it did not converge. */
bool saltusi_eigenvalues(double* A, int n, double* re, double* im);

#endif
