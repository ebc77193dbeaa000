/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * coulomb_check.h - checks the non-impulsive contact impulses of a step against Coulomb's law.
 *
 *   P          sum over the step of forces and of the impulses of projections; impacts are not part of it
 *   size       sum of |P| of these parts, and the impulse that stops the motion of the contact by forces alone in the step: h |G M^-1 F| / W
 *   no pull    P_N >= -d size
 *   cone       |P_T| <= mu P_N + d size
 *
 * Cones are convex: a sum of forces inside of them is inside. Projections correct the error of the method in a step. If
 * more than a tenth (d = 1/10) of the impulses at the contact violates the law, the forces of the step are wrong, and
 * the step fails. Bonds and viscous friction are not part of the law: such contacts are not checked. For user-defined
 * curves only the normal impulse is checked.
 */
#ifndef SALTUSI_COULOMB_CHECK_H
#define SALTUSI_COULOMB_CHECK_H

#include "system/evaluate.h"
#include "system/linear.h"

typedef struct saltusi_lasting {
  double impulse[3]; /* N s, normal first */
  double size;       /* N s */
} saltusi_lasting;

static inline void saltusi_lasting_add(saltusi_lasting* of, const double P[3]) {
  for (int k = 0; k < 3; k++) {
    of->impulse[k] += P[k];
  }
  of->size += sqrt(P[0] * P[0] + P[1] * P[1] + P[2] * P[2]);
}

/* A step, given by its end point. */
typedef struct saltusi_coulomb_step {
  const saltus_point* at;
  double h;
  const saltusi_lasting* contacts; /* [nc] by key */
  const int* laws;                 /* [nc] */
} saltusi_coulomb_step;

/* Memory of the check; overwritten. */
typedef struct saltusi_coulomb_work {
  saltusi_linear* mass;
  saltusi_row_block* rows; /* from row on */
  int row;
  double* a;        /* [nv] */
  double* response; /* [nv] */
} saltusi_coulomb_work;

/* SALTUS_RETRY_SMALLER: a contact violates the law; it is reported in eval->bound. */
saltus_status saltusi_coulomb_check(saltusi_eval* eval, const saltusi_coulomb_step* step,
                                    const saltusi_coulomb_work* work);

#endif
