/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact_step.h - impact laws other than Newton's, in schemes that solve Newton's law alone (docs/laws.md).
 *
 * An approaching contact that can close in the step has its impact at the start of the step, by its law: v- to v+ at
 * q_k. The scheme then restarts from (q_k, v+) with contacts without restitution.
 *
 *   impact      g + h (min(U, 0) - h |G|^T |M^-1 F|) <= 0  and  U < 0      together with closed contacts beside it
 *
 * h is two steps for a scheme that computes positions one step ahead of its output.
 */
#ifndef SALTUSI_IMPACT_STEP_H
#define SALTUSI_IMPACT_STEP_H

#include "law/law.h"
#include "operator/operator.h"
#include "scheme/island_joints.h"
#include "scheme/scheme_ops.h"

/* Result of an impact at one contact. */
typedef struct saltusi_impact_step_result {
  int key, law, rows;
  double gap;
  double P[3], before[3], after[3];
} saltusi_impact_step_result;

typedef struct saltusi_impact_step {
  const saltus_contact_law* own; /* [law_count] those of the system, */
  const saltus_contact_law*
      curves;               /* and those with curves where the scheme gets laws without; or NULL */
  saltus_contact_law* laws; /* [law_count] without restitution, for the scheme */
  double* v;                /* [nv] after the impact */
  double* fresh;            /* carried data of a scheme at the start: zeros */
  saltusi_impact_step_result* struck; /* [nc] */
  int count;                          /* contacts of the last impact */
  int ahead;                          /* steps within which a closing contact has its impact now */

  /* inside */
  saltusi_linear mass;
  saltusi_operator op;
  saltusi_contact_list list;
  double* force; /* [nv] */
  int most;      /* capacity: contacts of one impact */
  saltusi_laws solver;
  saltus_impact_contact* contact; /* [most] */
  double* W;                      /* [rows squared] of contacts with joints enforced */
  double* u;                      /* [rows] */
  double* P;                      /* [rows] */
  double* after;                  /* [rows] */
  saltusi_island_joints joints;   /* bilateral constraints */
  const saltus_impacts* rule;
  saltus_log log;
  double of_law; /* J, energy change by the replaced law */
  int replaced;  /* key of a contact of the last impacts whose law was replaced; -1: none */
} saltusi_impact_step;

/* carried: doubles that the scheme carries. */
void saltusi_impact_step_layout(saltusi_impact_step* jump, const saltus_contact_law* own,
                                const saltusi_eval* eval, size_t carried, saltus_arena* arena);

/* The impact at the start of a step. jump->count is 0 when there is none; else the velocities after it are in jump->v. */
saltus_status saltusi_impact_step_start(saltusi_impact_step* jump, const saltusi_step* step);

/* Adds the impact to the report of the step that followed it. */
void saltusi_impact_step_report(const saltusi_impact_step* jump, const saltusi_step* step);

/* Marks the contact whose law was replaced in the report of the step. */
void saltusi_impact_step_remark(const saltusi_impact_step* jump, const saltusi_step* step);

/* The impact of the contacts with these keys at a state; v [nv] jumps. For schemes that locate impacts. */
saltus_status saltusi_impact_step_apply(saltusi_impact_step* jump, saltusi_eval* eval,
                                        const saltus_point* at, const int* keys, int count,
                                        double* v);

#endif
