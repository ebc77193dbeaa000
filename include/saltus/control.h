/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * control.h - step-size control through impacts.
 *
 * A trial step compares one step h with two steps h/2, or a Runge-Kutta method with its embedded one:
 *
 *   err_q     = max_i |q_{1/2} - q_1|_i / (atol_i + rtol max(|q_k|, |q_{1/2}|)_i)
 *   err_viol  = max_a (max(0, -g_a(q_{1/2})) - max(0, -g_a(q_k))) / atol          new violation only
 *   h_new     = h min(alpha_max, max(alpha_min, alpha err^(-1/(p+1)))),  err = max(err_q, err_viol)
 *
 * p is the order of the local error in this step: 0 with an impact, 1 otherwise. A rejected trial step changes only
 * the work counters. (Acary 2009, sections 4 and 5; Acary 2008, slides 33-37;
 * docs/theory/step-control.md.)
 */
#ifndef SALTUS_CONTROL_H
#define SALTUS_CONTROL_H

#include "saltus/options.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_control_order {
  SALTUS_ORDER_0,       /* p = 0 always */
  SALTUS_ORDER_1,       /* p = 1 always */
  SALTUS_ORDER_PRINTED, /* p = 0 if a gap changes from positive to not positive, (68)-(69) */
  SALTUS_ORDER_ROBUST,  /* p = 0 if an impact acts or signs of gaps differ */
  SALTUS_ORDER_EMBEDDED /* p of the embedded method */
} saltus_control_order;

typedef struct saltus_control_options {
  double atol, rtol;
  double h_first;      /* s; 0: a thousandth of the remaining time */
  double h_min, h_max; /* s; 0: 1e-12 and 0.1 of the remaining time */
  double alpha, alpha_min, alpha_max;
  double reject_most; /* largest factor after a rejection */
  int order;          /* saltus_control_order */
  int violation;      /* 1: new violation counts as an error */
  int steps_max;      /* trial steps before the run ends with an error */
} saltus_control_options;

typedef struct saltus_control_info {
  const char* name;
  const char* summary;
  const char* source;
  saltus_field_table options; /* of saltus_control_options, with this controller's defaults */
} saltus_control_info;

/* Table of step-size controllers. */
SALTUS_API int saltus_control_count(void);
SALTUS_API const saltus_control_info* saltus_control_at(int i);              /* NULL past the end */
SALTUS_API const saltus_control_info* saltus_control_find(const char* name); /* NULL: none such */

SALTUS_END_DECLS

#endif
