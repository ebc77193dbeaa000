/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * projection.h - projection of positions at the end of a step onto the joints, for schemes that enforce joints on
 * velocities and therefore drift (option project_joints).
 *
 *   g(q_{k+1}) = 0 with the least (d, M d):    d = M^-1 G lambda,   G^T d = -g,   q_{k+1} <- q_{k+1} advanced by d
 *
 * repeated, with the same matrices as long as g shrinks fast, until g is rounding.
 *
 * And velocities, for schemes that hold joints by the mean velocity of a step: G^T (v_k + v_{k+1}) = 0 makes the part
 * of v that violates the joints alternate in sign, and with rotating joints it grows with the angle for any step size.
 *
 *   G^T v + b = 0 with the least (d, M d):    d = M^-1 G lambda,   v <- v + d
 *
 * d is O(h^2), and M^-1 (G(q_{k+1}) - G(q_m)) lambda is O(h^3), which is the only effect on the motion along the joints: order
 * 2 is kept.
 */
#ifndef SALTUSI_PROJECTION_H
#define SALTUSI_PROJECTION_H

#include "scheme/scheme_ops.h"

#include "operator/operator.h"

#define SALTUSI_PROJECTION_FIELD(S)                                                                \
  SALTUS_CHOICE(S, project_joints, 0, 1, saltusi_projection_names,                                 \
                "positions at the end of a step are projected onto the joints")

extern const char* const saltusi_projection_names[];

/* Joints are closed when g is below this many rounding errors of its terms. */
#define SALTUSI_JOINTS_CLOSED 16.0

typedef struct saltusi_projection {
  saltusi_linear mass;
  saltusi_operator op;
  double* shift; /* [nv] */
  double* q;     /* [nq] */
  double* scale; /* [nj] rounding error of g */
  int failed;    /* row that could not be closed in the last step; -1: none */
  double left;   /* its g */
} saltusi_projection;

/* Whether the options request the projection. */
bool saltusi_projection_asked(const saltus_field_table* table, const void* options);

void saltusi_projection_layout(saltusi_projection* p, const saltusi_eval* eval,
                               saltus_arena* arena);

/* Moves step->q1 and adds the displacement to the report. SALTUS_RETRY_SMALLER when g does not
 * reach rounding; p->failed is the row. */
saltus_status saltusi_project_joints(saltusi_projection* p, const saltusi_step* step);

/* Projects v, which is at->v, onto the joints at a point; impulses [nj] are added to. Both
 * projections share the workspace. */
saltus_status saltusi_project_velocities(saltusi_projection* p, saltusi_eval* eval,
                                         const saltus_point* at, double* v, double* impulses);

/* lambda = -(G^T M^-1 G)^-1 G^T M^-1 p at a point: response of the joints to an impulse p [nv],
 * into answer [nj]; p becomes M^-1 p. */
saltus_status saltusi_projection_answer(saltusi_projection* p, saltusi_eval* eval,
                                        const saltus_point* at, double* impulse, double* answer);

/* The same only where the alternating part has grown beyond the O(h^2) of a regular step. With norms
 * |x|^2 = x^T W x of impulses, lambda of the projection and P of the step:
 *
 *   |lambda| > |P + 2 lambda|^2 / sqrt(v^T M v)   or   |lambda| > |P + 2 lambda| / 4.
 *
 * Runs that are too short for such growth are unchanged. `impulses` [nj] are those of the step. */
saltus_status saltusi_project_grown_velocities(saltusi_projection* p, saltusi_eval* eval,
                                               const saltus_point* at, double* v, double* impulses);

#endif
