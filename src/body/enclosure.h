/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * enclosure.h - bounds of the functions of a mechanism over a trajectory segment.
 */
#ifndef SALTUSI_BODY_ENCLOSURE_H
#define SALTUSI_BODY_ENCLOSURE_H

#include "body/mechanism.h"

struct saltusi_motion_segment;

/* The table, or NULL if a signal has no Taylor coefficients. */
const saltus_enclosure_ops* saltusi_mechanism_enclosure(const saltus_mechanism* m);

/* Taylor remainders of all forces, or of the rates of all joint rows: saltus_enclosure_ops.beyond. */
void saltusi_mechanism_taylor_remainder(const void* self, const saltus_course* course,
                                        saltus_quantity what, double* out);

/* Gaps of pairs of features by their closed forms; gaps without one, and velocities, are not enclosed. */
unsigned saltusi_pair_depends(const saltus_mechanism* m, saltus_quantity what, uint64_t identity);
void saltusi_pair_along(const struct saltusi_motion_segment* p, uint64_t identity,
                        saltus_interval* out);
/* The two bodies of a feature pair or separation monitor. */
void saltusi_pair_bodies(const saltus_mechanism* m, uint64_t identity, int body[2]);

/* Separation monitors: saltus_enclosure_ops.contact_clear. */
void saltusi_shapes_clear(const void* self, const saltus_course* over, const saltus_course* middle,
                          double span, uint64_t identity, double margin, saltus_clearance* out);

#endif
