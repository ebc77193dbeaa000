/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * one_contact.h - the exact solution of one contact with the others fixed.
 *
 *   u = W_ii r + b,   K* contains u + mu |u_T| n,   K contains r,   orthogonal
 *
 * Data that depend on W_ii only are computed once per contact. The solver never fails: a block that is
 * zero, of rank one, or not quite positive is treated as the nearest one that is.
 */
#ifndef SALTUSI_ONE_CONTACT_H
#define SALTUSI_ONE_CONTACT_H

/* Doubles of prepared data for a contact of d rows. */
static inline int saltusi_one_contact_workspace(int d) {
  return d == 3 ? 16 : (d == 2 ? 6 : 2);
}

/* Indices in those of a spatial contact: 1 / W_NN, and S [2 x 2] of one_contact.c, positive definite. */
enum { SALTUSI_LOCAL_INVERSE = 0, SALTUSI_LOCAL_S = 5 };

typedef enum saltusi_contact_state {
  SALTUSI_CONTACT_OPEN,
  SALTUSI_CONTACT_STICKS,
  SALTUSI_CONTACT_SLIPS
} saltusi_contact_state;

/* block [d x d] row major, NULL: zero. */
void saltusi_one_contact_prepare(int d, const double* block, double* data);

/* slip holds the multiplier of the last slip of this contact, 0 when there was none. mu below zero: a joint of three
 * rows, u = 0. */
saltusi_contact_state saltusi_one_contact_spatial(const double* data, double mu, const double* b,
                                                  double* r, double* slip);
saltusi_contact_state saltusi_one_contact_planar(const double* data, double mu, const double* b,
                                                 double* r);
saltusi_contact_state saltusi_one_contact_normal(const double* data, const double* b, double* r);

#endif
