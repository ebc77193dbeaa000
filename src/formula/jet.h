/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jet.h - Taylor polynomials whose coefficients are intervals.
 *
 * c[k] contains the k-th coefficient at every point of a range; order + 1 of them. Zero and unbounded coefficients
 * are not computed: coefficients above `degree` are zero, and those from
 * `open` on are unbounded; neither is stored. Degree 0 is a constant over the range. Coefficients
 * from 1 to open - 1 are finite; when c[0] has an infinite end, open is 1.
 */
#ifndef SALTUSI_JET_H
#define SALTUSI_JET_H

#include "formula/interval.h"

typedef struct saltusi_extent {
  unsigned char degree; /* 0 .. order; order when open <= order */
  unsigned char open;   /* 1 .. order + 1 */
} saltusi_extent;

typedef struct saltusi_jet {
  const saltus_interval* c;
  saltusi_extent extent;
} saltusi_jet;

/* A result; c may be that of an operand. */
typedef struct saltusi_jet_place {
  saltus_interval* c;
  saltusi_extent* extent;
  int order;
} saltusi_jet_place;

/* A jet from coefficients; detects zeros and infinities. */
saltusi_jet saltusi_jet_given(const saltus_interval* c, int order);
/* Writes all coefficients, including zeros and infinities. */
void saltusi_jet_write(saltusi_jet x, int order, saltus_interval* out);

void saltusi_jet_copy(saltusi_jet_place to, saltusi_jet x);
void saltusi_jet_sum(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);
void saltusi_jet_difference(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);
void saltusi_jet_negative(saltusi_jet_place to, saltusi_jet x);
void saltusi_jet_product(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);
/* s x y + r z with signs s and r, or without z when it is NULL */
void saltusi_jet_product_sum(saltusi_jet_place to, saltusi_jet x, saltusi_jet y,
                             const saltusi_jet* z, int s, int r);
void saltusi_jet_quotient(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);
void saltusi_jet_power(saltusi_jet_place to, saltusi_jet x, int n); /* n >= 2 */
void saltusi_jet_pow(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);
void saltusi_jet_atan2(saltusi_jet_place to, saltusi_jet y, saltusi_jet x);
void saltusi_jet_hypot(saltusi_jet_place to, saltusi_jet x, saltusi_jet y);

/* One of SALTUSI_SIN .. SALTUSI_SQRT */
void saltusi_jet_function(saltusi_jet_place to, int op, saltusi_jet x);

/* Union of x and y: the value is one of them. If they join continuously (joined), so is the first coefficient. */
void saltusi_jet_either(saltusi_jet_place to, saltusi_jet x, saltusi_jet y, saltus_interval value,
                        bool joined);

#endif
