/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * packing_local.c - apart from packing.c, which needs nothing of the files of problems.
 */
#include "packing.h"

saltus_problem_file* packing_local(const packing_def* def) {
  packing p;
  saltus_problem_file* local = NULL;
  if (packing_create(def, &p)) {
    saltus_global_friction_reduce(&p.problem, (saltus_log){0}, NULL, &local);
  }
  packing_free(&p);
  return local;
}
