/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * schatzman_paoli.c - impacts on position level (Schatzman 1978, Paoli 1993; Acary 2009, equations (22)-(24);
 * docs/theory/position-schemes.md, 4).
 *
 *   start   q_1 = q_0 + h v_0 + (h^2/2) M^-1 F(t_0, q_0, v_0), corrected to be admissible
 *   step    M(q_k) (q_{k+1} - 2 q_k + q_{k-1}) - h^2 F(t_k, q_k + theta (q_{k+1} - q_k), v_k) = G P
 *           v_k = (q_{k+1} - q_{k-1}) / 2h
 *           0 <= g(y)  perp  P >= 0,      y = (q_{k+1} + e q_{k-1}) / (1 + e)
 *           friction on the velocity after it, G_T^T (q_{k+1} - q_k) / h + b + e_T U_T-; with other laws than Coulomb's
 *           forces of h^2 F, half of that for q_1
 *   impacts of systems with friction: by their law at the start of a step, which then starts again from v+ with e = 0 (impact_step.c).
 *           The equations above spread an impact over two steps, and friction in each of them has no limit as h falls.
 *
 * Positions enter as displacements from the middle one, X to q_{k+1} and B to q_{k-1} (docs/notation.md): q_{k+1} - 2
 * q_k + q_{k-1} is X + B, v_k = (X - B) / 2h, and y is q_k advanced along (X + e B) / (1 + e). With maps q' = N(q) v
 * these differences have the same order: along any motion through q_k the displacement from it has the derivatives v
 * and v' there.
 *
 * The velocity belongs to t_k, the middle of the difference, so the scheme runs one position ahead of its output: from
 * t_k to t_{k+1} it returns the q_{k+1} computed before, computes q_{k+2} and with it v_{k+1}. P / h is the impulse of
 * the step, P / h^2 the contact force. The step has to stay the same; positions may lie O(h) inside a contact when e >
 * 0: only y is admissible.
 */
#include "base/log.h"
#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"
#include "scheme/position/rate_rows.h"
#include "system/names.h"

#include <float.h>
#include <string.h>

typedef struct schatzman_paoli_work {
  saltusi_linear linear;
  saltusi_operator op;
  saltusi_contact_list list;
  double* y;                  /* [nq] */
  double* q_mid;              /* [nq] */
  double* v_mid;              /* [nv] */
  double* way;                /* [nv] X, the unknown */
  double* back;               /* [nv] B */
  saltusi_row_block end_rows; /* of nonholonomic joints at x */
  double* part;               /* [nv] fraction of a displacement */
  double* change;             /* [nv] */
  double free;                /* largest |change| without impulses, of the last iteration */
  double* force;              /* [nv] */
  double* gap;                /* [nc] at y, by key */
  int* active;                /* [nc] keys */
  double* slip;               /* [2 nc] tangential velocity that rebounds, by key */
  int active_count;
  double* before; /* memory of the step before, completed by the first equation */
  bool* strikes;  /* [nc] closed and approaching at the start, by key */
  bool spread;    /* impacts with friction are not solved by their law at an instant (create.c) */
} schatzman_paoli_work;

/* Memory from step to step: h of the run (0: not started), the position one step ahead, and for
 * each contact P of the previous difference equation, whether it was part of an impact, the slip
 * before that and the velocities before and after the equation, the impact so far, then P of the
 * joints. */
enum { MEMORY_H, MEMORY_Q };
enum { KEPT_P, KEPT_IMPACT = 3, KEPT_SLIP, KEPT_BEFORE = 6, KEPT_AFTER = 9 };
enum { IMPACT_STEPS = 12, IMPACT_WORK, IMPACT_P, IMPACT_BEFORE = 17, KEPT = 20 };

static double* memory_contacts(double* memory, const saltus_dims* d) {
  return memory + MEMORY_Q + d->nq;
}

static double* memory_joints(double* memory, const saltus_dims* d) {
  return memory_contacts(memory, d) + KEPT * (size_t)d->nc;
}

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_schatzman_paoli_options, theta, 0.0, 0.0, 1.0,
                "weight of the end of the step in forces; only 0 has smooth order 2 [1]"),
    SALTUSI_NEWTON_FIELDS(saltus_schatzman_paoli_options, "position", 1e-13, 50),
    SALTUSI_CONTACT_FIELDS(saltus_schatzman_paoli_options),
};

#define TABLE SALTUSI_TABLE(saltus_schatzman_paoli_options, fields)

SALTUSI_DEFAULTS(saltus_schatzman_paoli_options, saltus_schatzman_paoli_options_default, fields)

static size_t memory_laws(const saltus_dims* d) {
  return MEMORY_Q + (size_t)d->nq + KEPT * (size_t)d->nc + (size_t)d->nj;
}

/* State variables of friction laws. */
static size_t laws_count(const saltus_system* sys) {
  return saltusi_frictions_special(sys) ? saltusi_warm_count(SALTUS_WARM_START_NO, sys) : 0;
}

static size_t memory_count(const void* options, const saltus_system* sys) {
  (void)options;
  return memory_laws(&sys->dims) + laws_count(sys);
}

static void carry_memory(const void* options, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  (void)options;
  saltusi_transfer_plain(carry, MEMORY_Q + (size_t)sys->dims.nq);
  saltusi_transfer_each(carry, KEPT);
  saltusi_transfer_plain(carry, (size_t)sys->dims.nj);
  if (laws_count(sys) > 0) {
    saltusi_warm_transfer(SALTUS_WARM_START_NO, sys, carry);
  }
}

static void layout(void* work_, const void* options, const saltusi_eval* eval,
                   saltus_arena* arena) {
  const saltus_system* sys = &eval->sys;
  schatzman_paoli_work* w = work_;
  const saltus_schatzman_paoli_options* o = options;
  const saltus_dims* d = &sys->dims;
  saltusi_linear_layout(&w->linear, sys, arena);
  saltusi_operator_layout(
      &w->op, eval, &(saltusi_demand){.friction = true, .distributes = true, .laws = true}, arena);
  saltusi_warm_layout(&w->op, o->warm_start, sys);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->y = SALTUS_PUSH(arena, double, d->nq);
  w->q_mid = SALTUS_PUSH(arena, double, d->nq);
  w->v_mid = SALTUS_PUSH(arena, double, d->nv);
  w->way = SALTUS_PUSH(arena, double, d->nv);
  w->back = SALTUS_PUSH(arena, double, d->nv);
  saltusi_rate_rows_layout(&w->end_rows, sys, arena);
  w->part = SALTUS_PUSH(arena, double, d->nv);
  w->change = SALTUS_PUSH(arena, double, d->nv);
  w->force = SALTUS_PUSH(arena, double, d->nv);
  w->gap = SALTUS_PUSH(arena, double, d->nc);
  w->active = SALTUS_PUSH(arena, int, d->nc);
  w->slip = SALTUS_PUSH2(arena, double, d->nc, 2);
  w->before = SALTUS_PUSH(arena, double, memory_count(options, sys));
  w->strikes = SALTUS_PUSH(arena, bool, d->nc);
  w->spread = false;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    w->spread = w->spread || saltusi_friction_is_more_than_curve(&sys->laws[i]);
  }
}

/* One difference equation: the middle of its three positions, and the last, which follows from w->way; the first
 * is in w->back. */
typedef struct difference {
  double t; /* of the middle */
  double h;
  const double* middle;
  double* x;
  bool first;            /* the first position: only contacts that approach at the start rebound */
  const double* v_start; /* velocity in the middle when first, else NULL */
} difference;

/* A body at rest at the start must not rebound from the velocity of the fictitious parabola before
 * the start. */
static double rebound(const schatzman_paoli_work* w, const difference* d,
                      const saltus_contact_law* law, int key) {
  return d->first && !w->strikes[key] ? 0.0 : law->e_N;
}

/* y for a restitution e */
static void admissible(schatzman_paoli_work* w, const saltus_system* sys, const difference* d,
                       double e) {
  for (int i = 0; i < sys->dims.nv; i++) {
    w->part[i] = (w->way[i] + e * w->back[i]) / (1.0 + e);
  }
  saltusi_advance(sys, d->middle, w->part, 1.0, w->y);
}

/* Adds a contact with the laws of the system; a contact that is open in the middle has no bond. */
static void take_law(schatzman_paoli_work* w, const saltusi_step* s, const difference* d, int row,
                     int count, int key) {
  const saltus_system* sys = &s->eval->sys;
  const int i = w->active_count;
  const double* start = w->slip + 2 * (size_t)key;
  const double u[3] = {0.0, start[0], start[1]};
  const double gap = w->gap[key] - saltusi_row_dot(&w->op.rows, row, w->part);
  const double near = 1e-12 * fmax(1.0, saltusi_max_abs(sys->dims.nq, d->middle)) +
                      1e-6 * saltusi_row_size(&w->op.rows, row, w->part); /* gaps are nonlinear */
  saltusi_warm_guess(&w->op, i, key, row, count);
  saltusi_operator_take_law(&w->op, count, &sys->laws[s->contacts[i].law]);
  saltusi_operator_slips(&w->op, i, u);
  const int bits = (int)w->op.laws.state[SALTUSI_FRICTION_STATE * (size_t)i + 2];
  w->op.laws.apart[i] = (bits & SALTUSI_LAW_BONDED) == 0 && gap > near;
}

/* Slip of the step: h (U_T + e_T U_T-) with U_T the velocity from the middle to x. U_T- is that from
 * before to the middle, or the one before the impact when that takes several steps. */
static void look_at_slip(schatzman_paoli_work* w, const saltusi_step* s, const difference* d,
                         int row, int tangent, int key) {
  const saltusi_row_block* rows = &w->op.rows;
  const double* kept = memory_contacts(w->before, &s->eval->sys.dims) + KEPT * (size_t)key;
  const saltus_contact_law* law = &s->eval->sys.laws[s->contacts[w->active_count].law];
  if (tangent >= law->tangents) { /* rolling or spin, which do not rebound */
    w->op.rhs[row] = saltusi_row_dot(rows, row, w->way) + d->h * rows->b[row];
    return;
  }
  double* slip = &w->slip[2 * key + tangent];
  int nv = s->eval->sys.dims.nv;
  for (int k = 0; k < nv; k++) {
    w->v_mid[k] = d->v_start != NULL ? d->v_start[k] : -w->back[k] / d->h;
  }
  bool goes_on = kept[KEPT_IMPACT] != 0.0 && !d->first;
  *slip = goes_on ? kept[KEPT_SLIP + tangent] : saltusi_row_dot(rows, row, w->v_mid) + rows->b[row];
  w->op.rhs[row] = saltusi_row_dot(rows, row, w->way) + d->h * (rows->b[row] + law->e_T * *slip);
}

/* Gaps at y of each contact, and the rows of those that are near: g(y) <= reach. Contacts with the
 * same restitution share an evaluation. */
static saltus_status look(schatzman_paoli_work* w, const saltusi_step* s, const difference* d) {
  const saltus_system* sys = &s->eval->sys;
  saltus_point at = saltusi_at(s->eval, d->t + d->h, w->y, s->v0);
  double done = -1.0; /* restitutions up to this value are done */
  w->active_count = 0;
  saltusi_operator_begin(&w->op, sys->dims.nj);
  while (sys->dims.nc > 0) {
    double e = 2.0;
    for (int i = 0; i < sys->law_count; i++) {
      double own = sys->laws[i].e_N;
      e = own > done && own < e ? own : e;
    }
    e = d->first && done < 0.0 ? 0.0 : e;
    if (e > 1.0) {
      return SALTUS_OK;
    }
    done = e;
    admissible(w, sys, d, e);
    saltus_status status = saltusi_contacts(sys, &at, &w->list);
    if (status != SALTUS_OK) {
      return status;
    }
    for (int i = 0; i < w->list.count; i++) {
      int key = w->list.key[i];
      if (rebound(w, d, &sys->laws[w->list.law[i]], key) != e) {
        continue;
      }
      const saltus_contact_law* law = &sys->laws[w->list.law[i]];
      int count = saltusi_operator_rows(&w->op, law);
      int row = saltusi_operator_look(&w->op, sys, &at, key, count);
      w->gap[key] = w->list.gap[i];
      w->op.rhs[row] = (1.0 + e) * w->list.gap[i];
      s->contacts[w->active_count].law = w->list.law[i];
      for (int k = 1; k < count; k++) {
        look_at_slip(w, s, d, row + k, k - 1, key);
      }
      if (w->op.laws.any) {
        take_law(w, s, d, row, count, key);
      } else {
        saltusi_operator_take(&w->op, count, law->mu);
      }
      w->active[w->active_count++] = key;
    }
  }
  return SALTUS_OK;
}

/* Rows of joint Coulomb friction: h U from the middle to x. */
static void look_at_dry(schatzman_paoli_work* w, const saltusi_step* s, const difference* d) {
  const saltus_point at = saltusi_at(s->eval, d->t + d->h, d->middle, s->v0);
  const saltusi_row_block* rows = &w->op.rows;
  saltusi_operator_take_dry(&w->op, &s->eval->sys, &at);
  for (int r = w->op.count - w->op.laws.dry; r < w->op.count; r++) {
    w->op.rhs[r] = saltusi_row_dot(rows, r, w->way) + d->h * rows->b[r];
  }
}

/* Joints hold at x; their forces act along the directions of the middle (SHAKE), which keeps order 2.
 * The same rows serve as the derivative of g: that costs iterations, not accuracy. */
static void look_at_joints(schatzman_paoli_work* w, const saltusi_step* s, const difference* d) {
  const saltus_system* sys = &s->eval->sys;
  if (sys->dims.nj == 0) {
    return;
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    w->v_mid[i] = w->way[i] / d->h;
  }
  saltus_point at = saltusi_at(s->eval, d->t, d->middle, s->v0);
  saltusi_rows_joints(sys, &at, &w->op.rows);
  at = saltusi_at(s->eval, d->t + d->h, d->x, w->v_mid);
  sys->ops->joints(sys->self, &at, w->op.rhs);
  saltusi_rate_rows_mean(&w->end_rows, sys, &w->op.rows, &at, d->h, w->op.rhs);
}

/* change = -J^-1 R without contact forces, J = M - (h/2) F_v - h^2 theta F_q */
static saltus_status free_change(schatzman_paoli_work* w, const saltusi_step* s,
                                 const difference* d, double theta) {
  const saltus_system* sys = &s->eval->sys;
  int n = sys->dims.nv;
  for (int i = 0; i < n; i++) {
    w->v_mid[i] = d->v_start != NULL ? d->v_start[i] : (w->way[i] - w->back[i]) / (2.0 * d->h);
  }
  saltusi_advance(sys, d->middle, w->way, theta, w->q_mid);
  saltus_point at = saltusi_at(s->eval, d->t, d->middle, w->v_mid);
  double fv = d->v_start != NULL ? 0.0 : -0.5 * d->h;
  double fq = d->v_start != NULL ? 0.0 : -d->h * d->h * theta;
  saltus_status status = saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, fv, fq);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < n; i++) {
    w->force[i] = w->way[i] + w->back[i];
  }
  saltusi_linear_mass_times(s->eval, &w->linear, &at, w->force, w->change);
  at.t = d->t + (d->v_start != NULL ? 0.0 : theta * d->h);
  at.q = d->v_start != NULL ? d->middle : w->q_mid;
  saltusi_force(s->eval, &at, w->force);
  for (int i = 0; i < n; i++) {
    w->change[i] = d->h * d->h * w->force[i] - w->change[i];
  }
  saltusi_linear_solve(s->eval, &w->linear, w->change);
  w->free = saltusi_max_abs(n, w->change);
  return SALTUS_OK;
}

/* P of the previous difference equation as initial guess: the memory has it already, and the step
 * size is constant. */
static void guess(schatzman_paoli_work* w, const saltus_dims* d) {
  const double* kept = memory_contacts(w->before, d);
  for (int i = 0; i < w->active_count; i++) {
    int first = w->op.first[i];
    memcpy(w->op.P + first, kept + KEPT * (size_t)w->active[i] + KEPT_P,
           (size_t)(w->op.first[i + 1] - first) * sizeof(double));
    if (w->op.has_friction) {
      w->op.slip[i] = 0.0;
    }
  }
}

/* One Newton step: the change of the displacement, with P from the linearised law. */
static saltus_status newton_step(schatzman_paoli_work* w, const saltusi_step* s,
                                 const difference* d, double theta) {
  const saltus_system* sys = &s->eval->sys;
  int nj = sys->dims.nj;
  saltus_status status = free_change(w, s, d, theta);
  if (status == SALTUS_OK) {
    look_at_joints(w, s, d);
    status = look(w, s, d);
  }
  if (status == SALTUS_OK && w->op.laws.any) {
    look_at_dry(w, s, d);
    w->op.laws.span = (d->first ? 0.5 : 1.0) * d->h * d->h;
    w->op.laws.pace = d->h;
  }
  int rows = w->op.count;
  if (status != SALTUS_OK || rows == 0) {
    return status;
  }
  for (int r = 0; r < rows; r++) {
    /* joints: g + G^T dx = 0; contacts: (1 + e) g(y) + G^T dx >= 0 */
    w->op.rhs[r] += saltusi_row_dot(&w->op.rows, r, w->change);
  }
  bool pressed = nj > 0 || w->op.laws.any;
  for (int i = 0; i < w->active_count; i++) {
    pressed = pressed || w->op.rhs[w->op.first[i]] < 0.0;
  }
  if (!w->op.laws.any) {
    memset(w->op.P, 0, (size_t)rows * sizeof(double));
  }
  if (!pressed) {
    return SALTUS_OK;
  }
  if (w->op.warm.each > 0 && !w->op.laws.any) {
    guess(w, &sys->dims);
  }
  saltusi_operator_form(&w->op, s->eval, &w->linear);
  status = saltusi_operator_solve(&w->op, s->eval);
  if (status == SALTUS_OK) {
    saltusi_operator_apply(&w->op, s->eval, w->change);
  }
  return status;
}

static bool one_step_is_exact(const saltus_system* sys) {
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  return (sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
         ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nj + sys->dims.nc == 0);
}

/* Rounding of a change in equilibrium, as a part of the change by forces without impulses: all coordinates can be zero. */
static const double balanced = 64.0 * DBL_EPSILON;

/* Solves one difference equation for the displacement, starting from its present value. */
static saltus_status solve(schatzman_paoli_work* w, const saltus_schatzman_paoli_options* o,
                           const saltusi_step* s, const difference* d) {
  const saltus_system* sys = &s->eval->sys;
  int n = sys->dims.nv;
  double moved = INFINITY;
  for (int k = 0; k < o->newton_max; k++) {
    saltus_status status = newton_step(w, s, d, o->theta);
    if (status != SALTUS_OK) {
      return status;
    }
    saltusi_add_scaled(n, 1.0, w->change, w->way);
    saltusi_advance(sys, d->middle, w->way, 1.0, d->x);
    s->report->newton_iterations = k + 1;
    double before = moved;
    moved = saltusi_max_abs(n, w->change);
    int nq = sys->dims.nq;
    double size = fmax(saltusi_max_abs(nq, d->x), saltusi_max_abs(nq, d->middle));
    if (!isfinite(moved)) {
      return SALTUS_RETRY_NAN;
    }
    bool arrived = moved <= o->newton_tol * size || one_step_is_exact(sys) ||
                   (k > 1 && moved >= before && moved <= 1e4 * o->newton_tol * size) ||
                   moved <= balanced * w->free;
    if (arrived) {
      return SALTUS_OK;
    }
  }
  return SALTUS_RETRY_SMALLER;
}

/* Adds an equation to its impact, which begins with it or continues. */
static void add_to_impact(const double* was, double* is, double h) {
  bool begins = was[KEPT_IMPACT] == 0.0;
  is[IMPACT_STEPS] = begins ? 1.0 : was[IMPACT_STEPS] + 1.0;
  is[IMPACT_WORK] = begins ? 0.0 : was[IMPACT_WORK];
  for (int k = 0; k < 3; k++) {
    double P = is[KEPT_P + k] / h;
    is[IMPACT_P + k] = (begins ? 0.0 : was[IMPACT_P + k]) + P;
    is[IMPACT_BEFORE + k] = begins ? is[KEPT_BEFORE + k] : was[IMPACT_BEFORE + k];
    is[IMPACT_WORK] += 0.5 * P * (is[KEPT_BEFORE + k] + is[KEPT_AFTER + k]);
  }
}

/* Contacts that are closed at the start and approach faster than the velocity change by forces in a
 * step; w->change is the acceleration. */
static saltus_status find_strikes(schatzman_paoli_work* w, const saltusi_step* s,
                                  const saltus_point* at) {
  const saltus_system* sys = &s->eval->sys;
  double rounding = 16.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(sys->dims.nq, s->q0));
  saltus_status status = sys->dims.nc > 0 ? saltusi_contacts(sys, at, &w->list) : SALTUS_OK;
  for (int i = 0; sys->dims.nc > 0 && status == SALTUS_OK && i < w->list.count; i++) {
    int key = w->list.key[i];
    saltusi_rows_contact(sys, at, key, 1, &w->op.rows, 0);
    double u = saltusi_row_dot(&w->op.rows, 0, s->v0) + w->op.rows.b[0];
    double pushed = s->h * saltusi_row_size(&w->op.rows, 0, w->change);
    double most = s->h * saltusi_max_abs(sys->dims.nv, w->change);
    w->strikes[key] = w->list.gap[i] <= rounding && saltusi_is_impact(u, pushed, most);
  }
  return status;
}

/* Stores the first equation as an impact of the contacts that approach; its impulses are stored
 * doubled already. */
static void remember_strikes(schatzman_paoli_work* w, const saltusi_step* s, double* memory) {
  static const double nothing[KEPT] = {0.0};
  const saltus_dims* d = &s->eval->sys.dims;
  for (int k = 0; k < d->nv; k++) {
    w->change[k] = w->way[k] / s->h;
  }
  for (int i = 0; i < w->active_count; i++) {
    double* own = memory_contacts(memory, d) + KEPT * (size_t)w->active[i];
    if (!w->strikes[w->active[i]] || !(own[KEPT_P] > 0.0)) {
      continue;
    }
    for (int r = w->op.first[i]; r < w->op.first[i + 1]; r++) {
      int k = r - w->op.first[i];
      own[KEPT_BEFORE + k] = saltusi_row_dot(&w->op.rows, r, s->v0) + w->op.rows.b[r];
      own[KEPT_AFTER + k] = saltusi_row_dot(&w->op.rows, r, w->change) + w->op.rows.b[r];
    }
    own[KEPT_IMPACT] = 1.0;
    add_to_impact(nothing, own, 2.0 * s->h);
  }
}

/* q_1 from the start, with the history of a fictitious parabola. */
static saltus_status find_first(schatzman_paoli_work* w, const saltus_schatzman_paoli_options* o,
                                const saltusi_step* s, double* q1) {
  int n = s->eval->sys.dims.nv;
  saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, &at, w->change);
  saltusi_linear_solve(s->eval, &w->linear, w->change);
  status = find_strikes(w, s, &at);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < n; i++) {
    /* q_{-1} of the parabola through the start, so that the difference equation gives q_1 */
    w->back[i] = -s->h * s->v0[i] + 0.5 * s->h * s->h * w->change[i];
    w->way[i] = s->h * s->v0[i] + 0.5 * s->h * s->h * w->change[i];
  }
  saltusi_advance(&s->eval->sys, s->q0, w->way, 1.0, q1);
  const difference d = {
      .t = s->t, .h = s->h, .middle = s->q0, .x = q1, .first = true, .v_start = s->v0};
  saltus_schatzman_paoli_options start = *o;
  start.theta = 0.0;
  return solve(w, &start, s, &d);
}

/* The row after the normal and the slips of contact i. */
static int end_of_slips(const schatzman_paoli_work* w, const saltusi_step* s, int i) {
  const int slips = w->op.first[i] + 1 + s->eval->sys.laws[s->contacts[i].law].tangents;
  return slips < w->op.first[i + 1] ? slips : w->op.first[i + 1];
}

/* Work of row r over the equation. */
static double work_of_row(const schatzman_paoli_work* w, const saltusi_step* s, int r) {
  const saltusi_row_block* rows = &w->op.rows;
  const double before = -saltusi_row_dot(rows, r, w->back) / s->h + rows->b[r];
  const double after = saltusi_row_dot(rows, r, w->way) / s->h + rows->b[r];
  return 0.5 * w->op.P[r] / s->h * (before + after);
}

/* Stores P of each contact and joint for the next step; half: the first equation counts twice,
 * since it also converts the given velocity into that of a parabola. */
static void remember(const schatzman_paoli_work* w, const saltusi_step* s, double weight,
                     double* memory) {
  const saltus_dims* d = &s->eval->sys.dims;
  double* kept = memory_contacts(memory, d);
  memset(kept, 0, KEPT * (size_t)d->nc * sizeof(double));
  for (int i = 0; i < w->active_count; i++) {
    double* own = kept + KEPT * (size_t)w->active[i];
    for (int r = w->op.first[i]; r < end_of_slips(w, s, i); r++) {
      own[KEPT_P + r - w->op.first[i]] = weight * w->op.P[r];
    }
    own[KEPT_SLIP] = w->slip[2 * w->active[i]];
    own[KEPT_SLIP + 1] = w->slip[2 * w->active[i] + 1];
  }
  for (int j = 0; j < d->nj; j++) {
    memory_joints(memory, d)[j] = weight * w->op.P[j];
  }
}

/* Stores the velocities of a contact before and after the middle of its difference equation. True
 * when it belongs to an impact: an approach, or an impulse after one, above the velocity change by
 * forces in a step. The law acts on three positions, so that an impact takes two equations. */
static bool contact_velocities(schatzman_paoli_work* w, const saltusi_step* s, int i, bool impact,
                               double* kept) {
  int n = s->eval->sys.dims.nv;
  for (int k = 0; k < n; k++) {
    w->v_mid[k] = -w->back[k] / s->h;
    w->change[k] = w->way[k] / s->h;
  }
  for (int r = w->op.first[i]; r < end_of_slips(w, s, i); r++) {
    int k = r - w->op.first[i];
    kept[KEPT_BEFORE + k] = saltusi_row_dot(&w->op.rows, r, w->v_mid) + w->op.rows.b[r];
    kept[KEPT_AFTER + k] = saltusi_row_dot(&w->op.rows, r, w->change) + w->op.rows.b[r];
  }
  for (int k = 0; k < n; k++) { /* velocity change by forces in one step */
    w->change[k] = s->h * w->force[k];
  }
  saltusi_linear_solve(s->eval, &w->linear, w->change);
  double pushed = saltusi_row_size(&w->op.rows, w->op.first[i], w->change);
  double most = saltusi_max_abs(n, w->change);
  double stopped = kept[KEPT_BEFORE] - kept[KEPT_AFTER];
  return saltusi_is_impact(kept[KEPT_BEFORE], pushed, most) ||
         (impact && saltusi_is_impact(stopped, pushed, most));
}

/* Part of an impact that the step is, and the whole impact when it ends. */
static void report_impact(saltus_contact_step* contact, const double* was, const double* is,
                          double h) {
  contact->impact = is[KEPT_IMPACT] != 0.0 || was[KEPT_IMPACT] != 0.0;
  if (!contact->impact) {
    return;
  }
  bool over = is[KEPT_IMPACT] == 0.0;
  contact->part = over ? SALTUS_IMPACT_ENDS : SALTUS_IMPACT_GOES_ON;
  const double* lasting = over ? is : was[KEPT_IMPACT] == 0.0 ? was : NULL;
  for (int k = 0; k < 3; k++) {
    contact->lasting[k] = lasting != NULL ? 0.5 * lasting[KEPT_P + k] / h : 0.0;
    contact->whole_impact.before[k] = was[IMPACT_BEFORE + k];
    contact->whole_impact.after[k] = was[KEPT_AFTER + k];
    contact->whole_impact.impulse[k] = was[IMPACT_P + k];
  }
  contact->whole_impact.work = was[IMPACT_WORK];
  contact->whole_impact.steps = was[IMPACT_STEPS] + 1.0;
}

/* The step has half of each of two impulses. Its velocities are means weighted with the impulses,
 * which give the same work. */
static void share(saltus_contact_step* contact, const double* was, const double* is, double h) {
  for (int k = 0; k < 3; k++) {
    double sum = was[KEPT_P + k] + is[KEPT_P + k];
    double weight = sum != 0.0 ? is[KEPT_P + k] / sum : 0.5;
    /* the mean of tangential impulses that nearly cancel is undefined: the newer one is used for both */
    weight = fabs(weight) <= 100.0 ? weight : 1.0;
    double before = weight * is[KEPT_BEFORE + k] + (1.0 - weight) * was[KEPT_BEFORE + k];
    double after = weight * is[KEPT_AFTER + k] + (1.0 - weight) * was[KEPT_AFTER + k];
    *(k == 0 ? &contact->u_before : &contact->slip_before[k - 1]) = before;
    *(k == 0 ? &contact->u_after : &contact->slip_after[k - 1]) = after;
    contact->impulse[k] = 0.5 * sum / h;
  }
}

/* Report of the contacts. v is the mean of two differences, so the impulse between two velocities
 * is the mean of two P / h, which balances momentum. */
static void report(schatzman_paoli_work* w, const saltusi_step* s, double* before) {
  const saltus_dims* d = &s->eval->sys.dims;
  double* old = memory_contacts(before, d);
  double* now = memory_contacts(s->memory1, d);
  int kept = 0;
  for (int j = 0; j < d->nj; j++) {
    s->joint_impulses[j] = 0.5 * (memory_joints(before, d)[j] + w->op.P[j]) / s->h;
  }
  for (int i = 0; i < w->active_count; i++) {
    int key = w->active[i];
    int law = s->contacts[i].law; /* kept <= i: not yet overwritten */
    double* was = old + KEPT * (size_t)key;
    double* is = now + KEPT * (size_t)key;
    if (was[KEPT_P] == 0.0 && is[KEPT_P] == 0.0) {
      continue;
    }
    saltus_contact_step contact = {.key = key, .law = law, .gap = w->gap[key]};
    bool impact = contact_velocities(w, s, i, was[KEPT_IMPACT] != 0.0, is);
    is[KEPT_IMPACT] = impact && is[KEPT_P] > 0.0 ? 1.0 : 0.0;
    if (is[KEPT_IMPACT] != 0.0) {
      add_to_impact(was, is, s->h);
    }
    for (int r = end_of_slips(w, s, i); r < w->op.first[i + 1]; r++) {
      contact.twist_work += work_of_row(w, s, r);
    }
    share(&contact, was, is, s->h);
    report_impact(&contact, was, is, s->h);
    s->contacts[kept++] = contact;
  }
  for (int r = w->op.count - w->op.laws.dry; r < w->op.count; r++) {
    s->report->dry_work += work_of_row(w, s, r);
  }
  s->report->active = kept;
}

/* Friction in each of the two steps of an impact has no limit for h -> 0: an error. */
static saltus_status check_impacts(const schatzman_paoli_work* w, const saltusi_step* s) {
  for (int i = 0; w->spread && i < s->report->active; i++) {
    const saltus_contact_step* c = &s->contacts[i];
    const saltus_contact_law* law = &s->eval->sys.laws[c->law];
    if (c->impact && law->tangents > 0 && law->mu > 0.0) {
      char contact[SALTUSI_CONTACT_TEXT];
      saltusi_log(s->log, SALTUS_LEVEL_ERROR,
                  "scheme schatzman-paoli: impact of contact %s at t = %g s: with rolling or "
                  "drilling friction, patches or bonds impacts with friction have no limit as h "
                  "falls here; moreau-jean treats them",
                  saltusi_key_label(s->eval, c->key, c->law, contact), s->t + s->h);
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

static void keep_laws(const schatzman_paoli_work* w, const saltusi_step* s, double* memory) {
  saltusi_warm_clear(&w->op, s->eval->sys.dims.nc, s->h, memory);
  for (int i = 0; i < w->active_count; i++) {
    const int first = w->op.first[i];
    saltusi_warm_keep(&w->op, i, w->active[i], w->op.P + first, w->op.first[i + 1] - first, memory);
  }
}

static saltus_status step(void* work_, const void* options, const saltusi_step* s) {
  schatzman_paoli_work* w = work_;
  const saltus_schatzman_paoli_options* o = options;
  int n = s->eval->sys.dims.nq;
  const double* memory = s->memory0;
  double* q1 = s->q1;
  double* q2 = s->memory1 + MEMORY_Q;
  const size_t laws = memory_laws(&s->eval->sys.dims);
  if (w->op.laws.any) {
    saltusi_warm_open(&w->op, memory + laws, s->h);
  }
  memcpy(w->before, memory, memory_count(o, &s->eval->sys) * sizeof(double));
  if (memory[MEMORY_H] == 0.0) {
    saltus_status status = find_first(w, o, s, q1);
    if (status != SALTUS_OK) {
      return status;
    }
    remember(w, s, 2.0, w->before);
    remember_strikes(w, s, w->before);
  } else if (memory[MEMORY_H] == s->h) {
    memcpy(q1, memory + MEMORY_Q, (size_t)n * sizeof(double));
  } else {
    saltusi_log(
        s->log, SALTUS_LEVEL_ERROR,
        "scheme schatzman-paoli: the step was %g s and is %g s now; it has to stay the same",
        memory[MEMORY_H], s->h);
    return SALTUS_ERR_UNSUPPORTED;
  }
  saltusi_difference(&s->eval->sys, q1, s->q0, w->back);
  for (int i = 0; i < s->eval->sys.dims.nv; i++) {
    w->way[i] = -w->back[i];
  }
  saltusi_advance(&s->eval->sys, q1, w->way, 1.0, q2);
  const difference d = {.t = s->t + s->h, .h = s->h, .middle = q1, .x = q2};
  saltus_status status = solve(w, o, s, &d);
  if (status != SALTUS_OK) {
    return status;
  }
  for (int i = 0; i < s->eval->sys.dims.nv; i++) {
    s->v1[i] = (w->way[i] - w->back[i]) / (2.0 * s->h);
  }
  s->memory1[MEMORY_H] = s->h;
  s->eval->work.newton_iterations += s->report->newton_iterations;
  remember(w, s, 1.0, s->memory1);
  if (w->op.laws.any) {
    keep_laws(w, s, s->memory1 + laws);
  }
  report(w, s, w->before);
  return check_impacts(w, s);
}

const saltusi_scheme_ops saltusi_schatzman_paoli = {
    .info =
        {
            .name = "schatzman-paoli",
            .summary = "central difference with the impact law on position level, constant step; "
                       "impacts without rolling, drilling, patches and bonds",
            .source = "Schatzman 1978; Paoli 1993; Acary 2009, equations (22)-(24)",
            .order = 1,
            .smooth_order = 2,
            .impacts_at_end = true,
            .treats = SALTUSI_TREATS_STEPWISE | SALTUS_TREATS_MAPS | SALTUS_TREATS_FRICTION_LAWS,
            .options = TABLE,
        },
    SALTUSI_STEPS_BY(schatzman_paoli_work),
    .runs_ahead = 1,
};
