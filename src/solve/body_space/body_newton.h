/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_newton.h - Newton's method with factors in body space; see body_newton.c.
 */
#ifndef SALTUSI_BODY_NEWTON_H
#define SALTUSI_BODY_NEWTON_H

#include "solve/friction/semismooth_newton.h"

/* On in->bodies from r, which gets the best point. Gives up if `trial` steps reduce the residual by less than half;
 * 0: never. */
saltusi_stage saltusi_body_newton(saltusi_newton_work* work, saltusi_gauss_seidel_work* sweep,
                                  saltusi_block_lu* lu, saltusi_friction_case* in,
                                  const saltusi_newton_settings* settings, double* r);

#endif
