/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * taylor.h - Taylor coefficients in long double by the textbook recurrences, as a judge of enclosures.
 */
#ifndef SALTUS_TEST_TAYLOR_H
#define SALTUS_TEST_TAYLOR_H

enum { TAYLOR_ORDER = 6 };

typedef struct taylor {
  long double c[TAYLOR_ORDER + 1];
} taylor;

taylor taylor_number(long double x);
taylor taylor_add(taylor x, taylor y);
taylor taylor_sub(taylor x, taylor y);
taylor taylor_mul(taylor x, taylor y);
taylor taylor_div(taylor x, taylor y);
taylor taylor_sin(taylor x);
taylor taylor_cos(taylor x);
taylor taylor_tan(taylor x);
taylor taylor_asin(taylor x);
taylor taylor_acos(taylor x);
taylor taylor_atan(taylor x);
taylor taylor_atan2(taylor y, taylor x);
taylor taylor_sinh(taylor x);
taylor taylor_cosh(taylor x);
taylor taylor_tanh(taylor x);
taylor taylor_exp(taylor x);
taylor taylor_log(taylor x);
taylor taylor_log10(taylor x);
taylor taylor_sqrt(taylor x);
taylor taylor_abs(taylor x);
taylor taylor_sign(taylor x);
taylor taylor_min(taylor x, taylor y);
taylor taylor_max(taylor x, taylor y);
taylor taylor_hypot(taylor x, taylor y);
taylor taylor_pow(taylor x, taylor y);
taylor taylor_power(taylor x, int n); /* any whole n */

#endif
