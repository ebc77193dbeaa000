/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * constraints.h - callbacks of joints and of limits, which are contacts; `self` is the mechanism.
 */
#ifndef SALTUSI_CONSTRAINTS_H
#define SALTUSI_CONSTRAINTS_H

#include "body/terms.h"

void saltusi_mechanism_joints(const void* self, const saltus_point* at, double* g);
void saltusi_mechanism_joint(const void* self, const saltus_point* at, int joint,
                             saltus_rows* rows);
saltus_status saltusi_mechanism_contacts(const void* self, const saltus_point* at,
                                         saltus_contact_list* list);
void saltusi_mechanism_contact(const void* self, const saltus_point* at, uint64_t identity,
                               saltus_rows* rows);

/* Adds six entries of a body to its columns of a row. */
static inline void saltusi_put_six(const saltus_mechanism* m, const double G[6], double weight,
                                   double* to) {
  if (m->plane) {
    to[0] += weight * G[0];
    to[1] += weight * G[1];
    to[2] += weight * G[5];
    return;
  }
  for (int k = 0; k < 6; k++) {
    to[k] += weight * G[k];
  }
}

/* Dry friction of joints. */
void saltusi_mechanism_dry(const void* self, const saltus_point* at, int i, saltus_rows* rows);

double saltusi_limit_gap(const saltus_mechanism* m, const saltus_point* at, int i);

/* The ends of a link: [2 x links]. poses: of all bodies, or NULL. */
void saltusi_link_ends(const saltus_mechanism* m, const saltusi_link* link, double t,
                       const double* q, const saltusi_pose* poses, saltusi_end end[4]);
/* Value of a row minus its target. */
double saltusi_row_value(const saltus_mechanism* m, const saltusi_joint_row* row,
                         const saltusi_end end[4], double t, const double* q);
/* Value and rate of a row without its target. */
void saltusi_row_motion(const saltus_mechanism* m, const saltusi_link* link,
                        const saltusi_joint_row* row, const saltus_point* at, double* value,
                        double* rate);

#endif
