/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_jean.c - the theta scheme with Moreau's impact law (Moreau 1988, Jean 1999; Acary 2009,
 * equations (16) and (18); methods: event capturing, 2.1).
 *
 *   active        g_i(q_k) + gamma h U_i(q_k, v_k) <= 0
 *   v_theta     = (1 - theta) v_k + theta v_{k+1},      q_theta = q_k + theta h v_theta
 *   Newton        R = M(q_theta) (v_{k+1} - v_k) - h F(t_k + theta h, q_theta, v_theta)
 *                 J = M - h theta F_v - h^2 theta^2 F_q
 *   impact law    0 <= G^T v_{k+1} + b + e U_k   perp   P >= 0,    W = G^T J^-1 G
 *   joints        G^T v_{k+1} + b = 0
 *   q_{k+1}     = q_k + h v_theta
 *
 * dM/dq is left out of J: it changes the speed of convergence, not the solution.
 */
#include "scheme/scheme_ops.h"

#include "math/dense.h"
#include "solve/mixed_lcp.h"
#include "system/linear.h"

#include <string.h>

/* Below this part of the velocity that the forces give to the bodies of a contact in one step, U_k
 * is rounding of a contact at rest. Without the flush it would decay like e^k into denormals. The
 * measure is |G|^T |v_free - v_k|, without cancellation: between two balls that lie on each other
 * the forces do nothing to U, but their rounding does. */
static const double resting_velocity = 1e-14;

/* An approach faster than this many times what the forces do in one step is an impact; slower, the
 * impulse is the time integral of a lasting contact force (methods: 2.4). */
static const double impact_velocity = 2.0;

typedef struct work {
  saltusi_linear linear;
  saltus_contact_list list;
  saltusi_row_block rows; /* joints first, then active contacts */
  saltusi_mixed_work solver;
  double* q_theta; /* [nq] */
  double* v_theta; /* [nv] */
  double* v_free;  /* [nv] */
  double* force;   /* [nv] */
  double* JinvG;   /* [rows x nv] row r is J^-1 G_r */
  double* W;       /* [rows x rows] */
  double* rhs;     /* [rows] */
  double* P;       /* [rows] */
  double* e;       /* [nc] restitution in force, by active contact */
  double* u0;      /* [nc] U_k, by active contact */
} work;

static const char* const jump_names[] = {"midpoint", "start", NULL};

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_moreau_jean_options, theta, 0.5, 0.0, 1.0,
                "weight of the end of the step in forces and positions [1]"),
    SALTUS_REAL(saltus_moreau_jean_options, gamma, 1.0, 0.0, 1.0,
                "how far ahead contacts are looked for, part of a step [1]"),
    SALTUS_CHOICE(saltus_moreau_jean_options, jump, SALTUS_JUMP_MIDPOINT, SALTUS_JUMP_START,
                  jump_names, "where the directions of the approach velocity are taken"),
    SALTUS_REAL(saltus_moreau_jean_options, newton_tol, 1e-13, 1e-15, 1e-2,
                "relative change of the velocity that ends Newton's iteration [1]"),
    SALTUS_INT(saltus_moreau_jean_options, newton_max, 30, 1, 1000, "most Newton iterations"),
};

#define TABLE                                                                                      \
  { fields, sizeof fields / sizeof fields[0], sizeof(saltus_moreau_jean_options) }

saltus_moreau_jean_options saltus_moreau_jean_options_default(void) {
  const saltus_field_table table = TABLE;
  saltus_moreau_jean_options options = {0};
  saltus_options_defaults(&table, &options);
  return options;
}

static void layout(void* work_, const void* options, const saltus_system* sys,
                   saltus_arena* arena) {
  (void)options;
  work* w = work_;
  const saltus_dims* d = &sys->dims;
  int rows = d->nj + d->nc;
  saltusi_linear_layout(&w->linear, sys, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  /* one more row: a contact is looked at before it is known to be active */
  saltusi_rows_layout(&w->rows, d, rows + 3, false, arena);
  saltusi_mixed_layout(&w->solver, d->nj, d->nc, arena);
  w->q_theta = SALTUS_PUSH(arena, double, d->nq);
  w->v_theta = SALTUS_PUSH(arena, double, d->nv);
  w->v_free = SALTUS_PUSH(arena, double, d->nv);
  w->force = SALTUS_PUSH(arena, double, d->nv);
  w->JinvG = SALTUS_PUSH2(arena, double, rows, d->nv);
  w->W = SALTUS_PUSH2(arena, double, rows, rows);
  w->rhs = SALTUS_PUSH(arena, double, rows);
  w->P = SALTUS_PUSH(arena, double, rows);
  w->e = SALTUS_PUSH(arena, double, d->nc);
  w->u0 = SALTUS_PUSH(arena, double, d->nc);
}

/* The contacts that may close within gamma h, equation (18). Their normal rows at q_k stay in
 * w->rows, which is all that is needed when normals are constant. */
static saltus_status find_active(work* w, const saltus_moreau_jean_options* o,
                                 const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_contacts(sys, &at, &w->list);
  if (status != SALTUS_OK) {
    return status;
  }
  int active = 0;
  for (int i = 0; i < w->list.count; i++) {
    double gap = w->list.gap[i];
    if (o->gamma == 0.0 && gap > 0.0) {
      continue;
    }
    int row = sys->dims.nj + active;
    saltusi_rows_contact(sys, &at, w->list.key[i], 1, &w->rows, row);
    double u0 = saltusi_row_dot(&w->rows, row, s->v0) + w->rows.b[row];
    if (!(gap + o->gamma * s->h * u0 <= 0.0)) {
      continue;
    }
    saltus_contact_step* contact = &s->contacts[active];
    *contact = (saltus_contact_step){
        .key = w->list.key[i], .law = w->list.law[i], .gap = gap, .u_before = u0};
    w->u0[active] = u0;
    w->rhs[row] = w->rows.b[row]; /* b at t_k, for the midpoint reading of U_k */
    active++;
  }
  s->report->active = active;
  return SALTUS_OK;
}

/* v_free = v_{k+1} - J^-1 R for the current v_{k+1} */
static saltus_status linearize(work* w, const saltus_moreau_jean_options* o, const saltusi_step* s,
                               bool first) {
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  double theta_h = o->theta * s->h;
  for (int i = 0; i < nv; i++) {
    w->v_theta[i] = (1.0 - o->theta) * s->v0[i] + o->theta * s->v1[i];
  }
  saltusi_advance(sys, s->q0, w->v_theta, theta_h, w->q_theta);
  saltus_point at = saltusi_at(s->eval, s->t + theta_h, w->q_theta, w->v_theta);
  saltus_status status =
      saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, -theta_h, -theta_h * theta_h);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, &at, w->force);
  if (first) { /* v_{k+1} starts at v_k: the mass term of R is zero */
    for (int i = 0; i < nv; i++) {
      w->v_free[i] = s->h * w->force[i];
    }
  } else {
    for (int i = 0; i < nv; i++) {
      w->v_theta[i] = s->v1[i] - s->v0[i];
    }
    saltusi_linear_mass_times(s->eval, &w->linear, &at, w->v_theta, w->v_free);
    for (int i = 0; i < nv; i++) {
      w->v_free[i] = s->h * w->force[i] - w->v_free[i];
    }
  }
  saltusi_linear_solve(s->eval, &w->linear, w->v_free);
  for (int i = 0; i < nv; i++) {
    w->v_free[i] += s->v1[i];
  }
  return SALTUS_OK;
}

/* Rows at q_theta and the end of the step, and U_k in the chosen reading. */
static void evaluate_rows(work* w, const saltus_moreau_jean_options* o, const saltusi_step* s,
                          bool first) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  bool constant = (sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  saltus_point at = saltusi_at(s->eval, s->t + s->h, w->q_theta, s->v0);
  for (int j = 0; j < nj && (first || !constant); j++) {
    saltusi_rows_joint(sys, &at, j, &w->rows, j);
  }
  for (int i = 0; i < s->report->active && !constant; i++) {
    double b0 = first ? w->rhs[nj + i] : 0.0;
    saltusi_rows_contact(sys, &at, s->contacts[i].key, 1, &w->rows, nj + i);
    if (first && o->jump == SALTUS_JUMP_MIDPOINT) {
      w->u0[i] = saltusi_row_dot(&w->rows, nj + i, s->v0) + b0;
    }
  }
}

/* W = G^T J^-1 G and the right-hand side of the impact law */
static void assemble(work* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  int nj = sys->dims.nj;
  int rows = nj + s->report->active;
  for (int k = 0; k < nv; k++) {
    w->v_theta[k] = w->v_free[k] - s->v0[k];
  }
  for (int r = 0; r < rows; r++) {
    double* column = w->JinvG + (size_t)r * (size_t)nv;
    memset(column, 0, (size_t)nv * sizeof(double));
    saltusi_row_add(&w->rows, r, 1.0, column);
    saltusi_linear_solve(s->eval, &w->linear, column);
    for (int i = 0; i < rows && i <= r; i++) {
      w->W[i * rows + r] = saltusi_row_dot(&w->rows, i, column);
    }
    for (int i = 0; i < r; i++) {
      w->W[r * rows + i] = saltusi_row_dot(&w->rows, r, w->JinvG + (size_t)i * (size_t)nv);
    }
    double u_free = saltusi_row_dot(&w->rows, r, w->v_free) + w->rows.b[r];
    w->rhs[r] = u_free;
    if (r >= nj) {
      int i = r - nj;
      double pushed = saltusi_row_size(&w->rows, r, w->v_theta);
      bool resting = fabs(w->u0[i]) <= resting_velocity * pushed;
      w->e[i] = resting ? 0.0 : sys->laws[s->contacts[i].law].e_N;
      w->rhs[r] += w->e[i] * w->u0[i];
      s->contacts[i].impact = w->u0[i] < -impact_velocity * pushed;
    }
  }
}

/* Solves the impact law for P; v_{k+1} = v_free + J^-1 G P */
static saltus_status impose(work* w, const saltusi_step* s) {
  int nv = s->eval->sys.dims.nv;
  int nj = s->eval->sys.dims.nj;
  int active = s->report->active;
  int rows = nj + active;
  memcpy(s->v1, w->v_free, (size_t)nv * sizeof(double));
  if (rows == 0) {
    return SALTUS_OK;
  }
  s->eval->work.contact_solves++;
  if (nj == 0 && active == 1 && w->W[0] > 0.0) {
    w->P[0] = w->rhs[0] < 0.0 ? -w->rhs[0] / w->W[0] : 0.0;
  } else {
    switch (saltusi_mixed_solve(&w->solver, nj, active, w->W, w->rhs, w->P)) {
    case SALTUSI_MIXED_SOLVED:
      break;
    case SALTUSI_MIXED_DEPENDENT:
      return SALTUS_ERR_SINGULAR;
    case SALTUSI_MIXED_UNSOLVED:
      return isfinite(saltusi_max_abs(rows, w->rhs)) ? SALTUS_RETRY_SMALLER : SALTUS_RETRY_NAN;
    }
  }
  for (int r = 0; r < rows; r++) {
    if (w->P[r] != 0.0) {
      saltusi_add_scaled(nv, w->P[r], w->JinvG + (size_t)r * (size_t)nv, s->v1);
    }
  }
  return SALTUS_OK;
}

static bool one_iteration_is_exact(const saltus_system* sys) {
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  return (sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
         ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nj + sys->dims.nc == 0);
}

static saltus_status solve_velocity(work* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  int nv = sys->dims.nv;
  memcpy(s->v1, s->v0, (size_t)nv * sizeof(double));
  bool exact = one_iteration_is_exact(sys);
  double change = INFINITY;
  for (int k = 0; k < o->newton_max; k++) {
    saltus_status status = linearize(w, o, s, k == 0);
    if (status != SALTUS_OK) {
      return status;
    }
    evaluate_rows(w, o, s, k == 0);
    assemble(w, s);
    memcpy(w->v_theta, s->v1, (size_t)nv * sizeof(double));
    status = impose(w, s);
    s->report->newton_iterations = k + 1;
    if (status != SALTUS_OK || exact) {
      return status;
    }
    double before = change;
    double size = fmax(saltusi_max_abs(nv, s->v0), saltusi_max_abs(nv, s->v1));
    saltusi_add_scaled(nv, -1.0, s->v1, w->v_theta);
    change = saltusi_max_abs(nv, w->v_theta);
    if (!isfinite(change)) {
      return SALTUS_RETRY_NAN;
    }
    /* the last digits may wander: an iteration that no longer shrinks has arrived as well */
    bool arrived = change <= o->newton_tol * size ||
                   (k > 1 && change >= before && change <= 1e4 * o->newton_tol * size);
    if (arrived) {
      return SALTUS_OK;
    }
  }
  return SALTUS_RETRY_SMALLER;
}

/* What the step did to each contact, and how well the law is satisfied, from v_{k+1} alone. */
static void report(const work* w, const saltusi_step* s) {
  int nj = s->eval->sys.dims.nj;
  int rows = nj + s->report->active;
  double worst = 0.0;
  double worst_impulse = 0.0;
  for (int r = 0; r < rows; r++) {
    double u1 = saltusi_row_dot(&w->rows, r, s->v1) + w->rows.b[r];
    double miss = fabs(u1);
    if (r < nj) {
      s->joint_impulses[r] = w->P[r];
    } else {
      saltus_contact_step* contact = &s->contacts[r - nj];
      contact->u_before = w->u0[r - nj];
      contact->u_after = u1;
      contact->impulse[0] = w->P[r];
      contact->impact = contact->impact && w->P[r] > 0.0;
      miss = fabs(fmin(u1 + w->e[r - nj] * w->u0[r - nj], w->P[r] * w->W[r * rows + r]));
    }
    worst = fmax(worst, miss);
    worst_impulse = fmax(worst_impulse, miss / w->W[r * rows + r]);
  }
  s->report->residual_velocity = worst;
  s->report->residual_impulse = worst_impulse;
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  work* w = work_;
  const saltus_moreau_jean_options* o = options;
  saltus_status status = find_active(w, o, s);
  if (status == SALTUS_OK) {
    status = solve_velocity(w, o, s);
  }
  s->eval->work.newton_iterations += s->report->newton_iterations;
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < s->eval->sys.dims.nv; i++) {
    w->v_theta[i] = (1.0 - o->theta) * s->v0[i] + o->theta * s->v1[i];
  }
  saltusi_advance(&s->eval->sys, s->q0, w->v_theta, s->h, s->q1);
  report(w, s);
  return SALTUS_OK;
}

const saltusi_scheme_ops saltusi_moreau_jean = {
    .info =
        {
            .name = "moreau-jean",
            .summary = "theta scheme with Moreau's impact law at the end of each step",
            .source = "Moreau 1988; Jean 1999; Acary 2009, equations (16)-(18)",
            .order = 1,
            .smooth_order = 2,
            .treats = SALTUS_TREATS_JOINTS,
            .options = TABLE,
        },
    .work_size = sizeof(work),
    .layout = layout,
    .step = step,
};
