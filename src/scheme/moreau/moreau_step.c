/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * moreau_step.c - the theta scheme with Moreau's impact law (Moreau 1988, Jean 1999; Acary 2009,
 * equations (16) and (18); docs/theory/moreau-jean.md, 2.1).
 *
 *   active        g_i(q_k) + gamma h U_i(q_k, v_k) <= 0, up to rounding
 *   v_theta     = (1 - theta) v_k + theta v_{k+1},      q_theta = q_k + theta h v_theta
 *   Newton        R = M(q_theta) (v_{k+1} - v_k) - h F(t_k + theta h, q_theta, v_theta)
 *                 J = M - h theta F_v - h^2 theta^2 F_q
 *   speculative   instead: g_i + h min(U_i, 0) <= displacement by forces in two steps; with e = 0 or not active above
 *                 0 <= U_{k+1} + (max(g_i, 0) / h + (1 - theta) U_k) / theta   perp   P >= 0
 *   impact law    0 <= G^T v_{k+1} + b + e U_k   perp   P >= 0,    W = G^T J^-1 G
 *   stiffness k   springs: U_N + g / h + S P_N and U_T + (7/2) S (P_T - last P_T) in place of U,    S = 1 / (k h^2)
 *   friction      xi = G^T v_{k+1} + b + e U_k with e_N and e_T:  xi + mu |xi_T| n in K* perp P in K
 *   joints        G^T v_theta + b = 0 at (t_k + theta h, q_theta), or G^T v_{k+1} + b = 0
 *                 the first with active contacts: G^T v_theta + b = (1 - theta) (G_k^T v_k + b_k)
 *   q_{k+1}     = q_k + h v_theta
 *
 * dM/dq is left out of J: it changes the speed of convergence, not the solution.
 *
 * Joints on the mean velocity reverse the part of v_k that violates them in each step: in free motion
 * this symmetry keeps positions on the joints. A contact constrains the velocity at the end of the
 * step, so that the violation of a stopped mechanism would alternate between +c and -c. While contacts
 * are active that part of v_k is therefore left out of the mean, and a stopped mechanism is at rest. A
 * drive whose rate jumps has the same effect without contacts: an impulse at the end of the step
 * removes that part.
 */
#include "scheme/moreau/moreau_filter.h"
#include "scheme/moreau/moreau_joints.h"
#include "scheme/moreau/moreau_kkt.h"
#include "scheme/moreau/moreau_speculative.h"

#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

const char* const saltusi_impact_step_names[] = {"midpoint", "start", NULL};
const char* const saltusi_joint_level_names[] = {"mean", "end", NULL};
const char* const saltusi_speculative_names[] = {"no", "yes", NULL};
const char* const saltusi_iterate_names[] = {"settled", "once", NULL};

static inline saltus_status linearize(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                      const saltusi_step* s, bool first) {
  const saltus_system* sys = &s->eval->sys;
  const int nv = sys->dims.nv;
  const double h = s->h, theta_h = o->theta * h;
  double* restrict v_free = w->v_free;
  saltusi_mean(nv, 1.0 - o->theta, s->v0, o->theta, s->v1, w->v_theta);
  saltusi_advance(sys, s->q0, w->v_theta, theta_h, w->q_theta);
  saltus_point at = saltusi_at(s->eval, s->t + theta_h, w->q_theta, w->v_theta);
  saltus_status status =
      w->frozen && !first
          ? saltusi_linear_renew_mass(&w->linear, sys, &at)
          : saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, -theta_h, -theta_h * theta_h);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, &at, w->force);
  if (first) { /* v_{k+1} starts at v_k: the mass term of R is zero */
    for (int i = 0; i < nv; i++) {
      v_free[i] = h * w->force[i];
    }
  } else {
    for (int i = 0; i < nv; i++) {
      w->v_theta[i] = s->v1[i] - s->v0[i];
    }
    saltusi_linear_mass_times(s->eval, &w->linear, &at, w->v_theta, v_free);
    for (int i = 0; i < nv; i++) {
      v_free[i] = h * w->force[i] - v_free[i];
    }
  }
  saltusi_linear_solve(s->eval, &w->linear, v_free);
  for (int i = 0; i < nv; i++) {
    v_free[i] += s->v1[i];
  }
  return SALTUS_OK;
}

saltus_status saltusi_moreau_linearize(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                       const saltusi_step* s, bool first) {
  assert(w != NULL && s != NULL);
  return linearize(w, o, s, first);
}

saltus_status saltusi_moreau_list(saltusi_moreau* w, const saltusi_step* s,
                                  const saltus_point* at) {
  assert(w != NULL && s != NULL);
  saltus_status status = saltusi_contacts(&s->eval->sys, at, &w->list);
  saltusi_warm_open(&w->op, s->memory0, s->h);
  saltusi_operator_begin(&w->op, s->eval->sys.dims.nj);
  return status;
}

double saltusi_moreau_gap_rounding(const saltusi_step* s) {
  assert(s != NULL);
  double size = saltusi_max_abs(s->eval->sys.dims.nq, s->q0);
  return 16.0 * DBL_EPSILON * saltusi_larger(1.0, size);
}

/* Whether restitution applies to an active contact. A surface whose kink stops a fifth of the velocity is an impact. */
static inline bool rebounds(const saltusi_moreau* w, const saltusi_step* s, int key, double u0) {
  return w->plastic == SALTUSI_PLASTIC_NONE || (w->plastic == SALTUSI_PLASTIC_CLOSED &&
                                                (!w->forced[key] || saltusi_moreau_is_kink(s, u0)));
}

static inline void activate(saltusi_moreau* w, const saltusi_step* s, int i, int row, int count,
                            double u0) {
  const int active = w->op.contacts;
  saltus_contact_step* contact = &s->contacts[active];
  saltusi_contact_open(contact, w->list.key[i], w->list.law[i], w->list.gap[i]);
  contact->u_before = u0;
  saltusi_warm_guess(&w->op, active, contact->key, row, count);
  saltusi_operator_take_law(&w->op, count, &s->eval->sys.laws[contact->law]);
  w->u0[row] = u0;
  w->b0[row] = w->op.rows.b[row];
  w->offset[active] = 0.0;
  w->rebounds[active] = rebounds(w, s, contact->key, u0);
  for (int r = row + 1; r < row + count; r++) {
    w->u0[r] = saltusi_row_dot(&w->op.rows, r, s->v0) + w->op.rows.b[r];
    w->b0[r] = w->op.rows.b[r];
  }
  if (w->op.laws.any) {
    saltusi_operator_slips(&w->op, active, w->u0 + row);
  }
}

void saltusi_moreau_activate(saltusi_moreau* w, const saltusi_step* s, int i, int row, int count,
                             double u0) {
  assert(w != NULL && s != NULL);
  activate(w, s, i, row, count, u0);
}

void saltusi_moreau_close(saltusi_moreau* w, const saltusi_step* s, const saltus_point* at) {
  assert(w != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  const int active = w->op.contacts;
  if (w->op.laws.any) {
    saltusi_operator_take_dry(&w->op, sys, at);
  }
  w->rows = w->op.count;
  s->report->active = active;
  if (w->ancestors.head != NULL) {
    saltusi_warm_start_inherit(&w->ancestors, &w->op, sys, at, s->contacts, saltusi_linear_part(w));
  }
  if (active > 0) {
    saltusi_rows_joints(sys, at, &w->op.rows);
  }
  for (int j = 0; j < sys->dims.nj; j++) {
    w->broken[j] = active > 0 ? saltusi_row_dot(&w->op.rows, j, s->v0) + w->op.rows.b[j] : 0.0;
  }
}

/* The contacts that may close within gamma h, equation (18). Their rows at q_k stay in w->op.rows,
 * which suffice when normals are constant. */
static saltus_status find_active(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                 const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  saltus_status status = saltusi_moreau_list(w, s, &at);
  if (status != SALTUS_OK) {
    return status;
  }
  const double rounding = saltusi_moreau_gap_rounding(s);
  for (int i = 0; i < w->list.count; i++) {
    const double gap = w->list.gap[i];
    const bool forced = w->forced[w->list.key[i]];
    if (o->gamma == 0.0 && gap > rounding && !forced) {
      continue;
    }
    const int count = saltusi_operator_rows(&w->op, &sys->laws[w->list.law[i]]);
    const int row = saltusi_operator_look(&w->op, sys, &at, w->list.key[i], count);
    const double u0 = saltusi_row_dot(&w->op.rows, row, s->v0) + w->op.rows.b[row];
    if (gap + o->gamma * s->h * u0 <= rounding || forced) {
      activate(w, s, i, row, count, u0);
    }
  }
  saltusi_moreau_close(w, s, &at);
  return SALTUS_OK;
}

/* Joints constrain the velocity (1 - weight) v_k + weight v_{k+1}. With weight theta = 1/2 a
 * quadratic constraint keeps its value: g(q_{k+1}) - g(q_k) = h G(q_theta)^T v_theta. */
static double joint_weight(const saltus_moreau_jean_options* o) {
  return o->joints == SALTUS_JOINTS_MEAN && o->theta > 0.0 ? o->theta : 1.0;
}

/* Whether a step uses the rows at q_k, the positions of the measured gaps. For convex distance functions g_k + h
 * G(q_k)^T v >= 0 then prevents penetration; with the rows of q_k + h v_k, where shapes may
 * overlap, it does not. */
static bool rows_of_start(const saltus_moreau_jean_options* o) {
  return saltusi_moreau_speculative(o) && o->iterate == 1;
}

/* Velocity of bodies with prescribed motion at contacts at the end of the step, along the rows of
 * q_k. */
static void move_obstacles(saltusi_moreau* w, const saltusi_step* s) {
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q0, s->v0);
  for (int i = 0; i < s->report->active; i++) {
    const int row = w->op.first[i], count = w->op.first[i + 1] - row;
    saltusi_rows_contact(&s->eval->sys, &at, s->contacts[i].key, count, &w->op.rows, row);
  }
}

/* Part of the violation of joints that a step without iterations removes: constraint stabilisation
 * after Baumgarte (Computer Methods in Applied Mechanics and Engineering 1 (1972) 1-16). */
static const double closed_part = 0.2;

/* Joints whose rows are those of q_k: g(q_k) / h is part of their rate, with a weight of 1 at the end
 * of the step. */
static void close_joints(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                         const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  if (sys->dims.nj == 0 || !rows_of_start(o) || joint_weight(o) < 1.0) {
    return;
  }
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, s->v0);
  sys->ops->joints(sys->self, &at, w->broken); /* free with this weight */
  for (int r = 0; r < sys->dims.nj; r++) {
    w->op.rows.b[r] += closed_part * w->broken[r] / s->h;
    w->broken[r] = 0.0;
  }
}

/* Rows at q_theta, or at q_k (rows_of_start), and the end of the step, and U_k according to the
 * option `jump`. */
static void evaluate_rows(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                          const saltusi_step* s, bool first) {
  const saltus_system* sys = &s->eval->sys;
  bool constant = (sys->traits & SALTUS_CONSTANT_NORMALS) != 0;
  const double* q = rows_of_start(o) ? s->q0 : w->q_theta;
  saltus_point at = saltusi_at(s->eval, s->t + joint_weight(o) * s->h, q, s->v0);
  if (first || !constant) {
    saltusi_rows_joints(sys, &at, &w->op.rows);
    close_joints(w, o, s);
  }
  if (!constant && rows_of_start(o)) {
    if ((sys->traits & SALTUS_STILL_OBSTACLES) == 0) {
      move_obstacles(w, s);
    }
    return;
  }
  saltusi_operator_look_dry(&w->op, sys, &at);
  at.t = s->t + s->h;
  for (int i = 0; i < s->report->active && !constant; i++) {
    int row = w->op.first[i];
    int end = w->op.first[i + 1];
    saltusi_rows_contact(sys, &at, s->contacts[i].key, end - row, &w->op.rows, row);
    for (int r = row; first && o->jump == SALTUS_JUMP_MIDPOINT && r < end; r++) {
      w->u0[r] = saltusi_row_dot(&w->op.rows, r, s->v0) + w->b0[r];
    }
  }
}

/* Restitution of row r of an active contact: a velocity at the level of rounding does not
 * rebound. */
static double restitution(const saltusi_moreau* w, int r, double e, double pushed) {
  return fabs(w->u0[r]) <= SALTUSI_RESTING_VELOCITY * pushed ? 0.0 : e;
}

/* Ratio of tangential to normal stiffness (Silbert et al., Physical Review E 64 (2001) 051302). */
static const double tangent_stiffness = 2.0 / 7.0;

/* Compliant contacts: compliance on the diagonal of W. */
static void write_springs(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                          const saltusi_step* s) {
  saltusi_operator* op = &w->op;
  op->softens = o->stiffness > 0.0;
  if (!op->softens) {
    return;
  }
  const double soft = saltusi_moreau_compliant(o, s->h);
  memset(op->soft, 0, (size_t)op->count * sizeof(double));
  for (int i = 0; i < s->report->active; i++) {
    const int first = op->first[i], end = op->first[i + 1];
    const int tangents = s->eval->sys.laws[s->contacts[i].law].tangents;
    op->soft[first] = soft;
    for (int r = first + 1; r < end && r <= first + tangents; r++) {
      op->soft[r] = soft / tangent_stiffness;
    }
  }
}

/* The right-hand side of the impact law, G^T v_free + b + e U_k, and which contacts are impacts. */
static void write_law(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                      const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_operator* op = &w->op;
  for (int k = 0; k < sys->dims.nv && s->report->active > 0; k++) {
    w->v_theta[k] = w->v_free[k] - s->v0[k];
  }
  double most = s->report->active > 0 ? saltusi_max_abs(sys->dims.nv, w->v_theta) : 0.0;
  for (int r = 0; r < sys->dims.nj; r++) {
    /* weight (G^T v_{k+1}) + (1 - weight) (G^T v_k - broken) + b = 0, divided by the weight */
    double weight = joint_weight(o);
    double before = saltusi_row_dot(&op->rows, r, s->v0) - w->broken[r];
    double rest = (1.0 - weight) * before + op->rows.b[r];
    op->rhs[r] = saltusi_row_dot(&op->rows, r, w->v_free) + rest / weight;
  }
  for (int r = op->count - op->laws.dry; op->laws.any && r < op->count; r++) {
    op->rhs[r] = saltusi_row_dot(&op->rows, r, w->v_free) + op->rows.b[r];
  }
  for (int i = 0; i < s->report->active; i++) {
    const saltus_contact_law* contact = &sys->laws[s->contacts[i].law];
    int normal = w->op.first[i];
    for (int r = normal; r < w->op.first[i + 1]; r++) {
      double e = r == normal ? contact->e_N : r <= normal + contact->tangents ? contact->e_T : 0.0;
      const bool asked = r == normal || e != 0.0; /* otherwise the value is not used */
      double pushed = asked ? saltusi_row_size(&op->rows, r, w->v_theta) : 0.0;
      w->e[r] = w->rebounds[i] && asked ? restitution(w, r, e, pushed) : 0.0;
      op->rhs[r] = saltusi_row_dot(&op->rows, r, w->v_free) + op->rows.b[r];
      op->rhs[r] += w->e[r] * w->u0[r];
      if (op->softens && r > normal) {
        op->rhs[r] -= op->soft[r] * w->held[r];
      }
      if (r == normal) {
        op->rhs[r] += w->offset[i];
        s->contacts[i].impact = saltusi_is_impact(w->u0[r], pushed, most);
      }
    }
  }
}

saltus_status saltusi_moreau_solve(saltusi_operator* op, saltusi_eval* eval) {
  assert(op != NULL && eval != NULL);
  static const double enough = 1e-8;
  const saltus_status status = saltusi_operator_solve(op, eval);
  if (status != SALTUS_RETRY_SMALLER || op->tol >= enough) {
    return status;
  }
  op->tol = enough;
  return saltusi_operator_solve(op, eval);
}

/* v_{k+1} = v_free + J^-1 G P with the impact law for P */
static saltus_status impose(saltusi_moreau* w, double tol, const saltusi_step* s) {
  int nv = s->eval->sys.dims.nv;
  memcpy(s->v1, w->v_free, (size_t)nv * sizeof(double));
  if (w->rows == 0) {
    return SALTUS_OK;
  }
  w->op.tol = tol;
  saltus_status status = saltusi_moreau_solve(&w->op, s->eval);
  if (status == SALTUS_OK) {
    saltusi_operator_apply(&w->op, s->eval, s->v1);
  }
  return status;
}

/* The operator and the law of the active contacts. */
static inline void form(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                        const saltusi_step* s, bool first) {
  if (w->rows > 0) {
    if (!w->rows_stay) {
      evaluate_rows(w, o, s, first);
    }
    w->op.tol = o->contact_tol; /* determines the storage of W */
    write_springs(w, o, s);
    saltusi_operator_form(&w->op, s->eval, &w->linear);
    write_law(w, o, s);
  }
}

/* Iteration k of Newton's method from v_{k+1} up to its contact problem; keeps: that one in w->v_theta. */
static inline saltus_status prepare(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s, int k, bool keeps) {
  saltus_status status = k == 0 && w->linearized ? SALTUS_OK : linearize(w, o, s, k == 0);
  if (status != SALTUS_OK) {
    return status;
  }
  s->report->newton_iterations = k + 1;
  form(w, o, s, k == 0);
  if (keeps) {
    memcpy(w->v_theta, s->v1, (size_t)s->eval->sys.dims.nv * sizeof(double));
  }
  return SALTUS_OK;
}

/* Residual of contact problems whose velocities suffice to find the bodies in impact. */
static const double struck_tol = 2e-3;

/* Tolerance of the first problem of a step. Compliant contacts are solved to the final tolerance at
 * once: in two steps of three no further contact closes, and the list of contacts at the end is
 * reused by the next step. */
static double first_tol(const saltusi_moreau* w, const saltus_moreau_jean_options* o,
                        const saltusi_step* s, bool looks) {
  const bool rough = looks && o->stiffness == 0.0 && o->contact_tol < struck_tol;
  return rough && saltusi_moreau_impacted(w, s) ? struck_tol : o->contact_tol;
}

/* Largest number of contact problems of a step after detection of contacts at its end. */
enum { AHEAD_MAX = 4 };

/* Contact problems of a step without Newton iterations: during impacts to a coarse tolerance until
 * no further contact closes, then to the final tolerance. */
static saltus_status impose_all(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                const saltusi_step* s) {
  const bool looks = saltusi_moreau_is_speculative(o, s);
  double tol = first_tol(w, o, s, looks);
  saltus_status status = impose(w, tol, s);
  bool more = looks;
  for (int k = 0; k < AHEAD_MAX && more && status == SALTUS_OK; k++) {
    const int before = w->op.contacts;
    status = saltusi_moreau_find_speculative(w, o, s, &more);
    if (status == SALTUS_OK && more) {
      form(w, o, s, true);
      /* a change by linearisation alone is below the coarse tolerance, and without new contacts the
       * others are solved already */
      tol = w->op.contacts > before ? tol : o->contact_tol;
      status = impose(w, tol, s);
    }
  }
  return status == SALTUS_OK && tol > o->contact_tol ? impose(w, o->contact_tol, s) : status;
}

/* Change of the velocity that ends the iteration, in tolerances of contact problems. */
enum { CONTACT_CHANGE = 10 };

/* Slowest convergence with the factors of an earlier iteration. */
static const double frozen_rate = 0.01;

static saltus_status settle(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                            const saltusi_step* s) {
  /* a relative error of impulses leaves the same relative error of the velocity */
  saltusi_newton_end end = {.tol = o->newton_tol, .change = INFINITY};
  int ahead = 0;
  for (int k = 0; k < o->newton_max; k++) {
    saltus_status status = prepare(w, o, s, k, true);
    status = status == SALTUS_OK ? impose(w, o->contact_tol, s) : status;
    if (status != SALTUS_OK) {
      return status;
    }
    if (w->kept.n > 0 && s->report->active == 0 && saltusi_operator_corrects(&w->op)) {
      return saltusi_moreau_hold(w, o, s, joint_weight(o));
    }
    bool arrived = false;
    end.tol = fmax(end.tol, CONTACT_CHANGE * w->op.tol);
    status = saltusi_newton_judge(&end, s, k, w->v_free, w->v_theta, &arrived);
    w->frozen = w->smooth && (k == 0 || end.change <= frozen_rate * end.before);
    if (status == SALTUS_OK && !arrived) {
      saltusi_newton_relax(&end, s, k, w->v_theta, w->v_last);
    }
    bool more = false;
    if (status == SALTUS_OK && arrived && ahead < AHEAD_MAX &&
        saltusi_moreau_is_speculative(o, s)) {
      status = saltusi_moreau_find_speculative(w, o, s, &more);
      end.change = INFINITY;
      w->frozen = false;
      ahead++;
    }
    if (status != SALTUS_OK || (arrived && !more)) {
      return status;
    }
  }
  /* changes at the accuracy of contact problems of dependent rows fall slowly */
  const double accuracy = 1e-9 * saltusi_max_abs(s->eval->sys.dims.nv, s->v1);
  return end.change <= accuracy ? SALTUS_OK : SALTUS_RETRY_SMALLER;
}

static saltus_status solve_velocity(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                    const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  const bool once = o->iterate == 1;
  if (!once && s->report->active == 0 && saltusi_moreau_kkt_serves(w) && !w->op.laws.any) {
    saltus_status status = saltusi_moreau_linked(w, o, s, joint_weight(o));
    if (!w->linked.factors.refused && !w->linked.factors.redundant) {
      w->linked.solved = true;
      return status;
    }
  }
  memcpy(s->v1, s->v0, (size_t)d->nv * sizeof(double));
  w->op.warm.joints = once && w->past_before != NULL;
  if (w->op.warm.joints) {
    saltusi_moreau_kkt_guess(w, s);
  }
  if (w->exact || once) {
    saltus_status status = prepare(w, o, s, 0, false);
    return status == SALTUS_OK ? impose_all(w, o, s) : status;
  }
  return settle(w, o, s);
}

/* Report of a contact, and its distance from the law in m/s: |min(xi_N, W_NN P_N)|, or the natural
 * map. Also writes the mean diagonal of W, which converts it to an impulse. */
static double report_contact(const saltusi_moreau* w, const saltusi_step* s, int i, double* mean) {
  const saltusi_operator* op = &w->op;
  saltus_contact_step* contact = &s->contacts[i];
  int first = w->op.first[i];
  int count = w->op.first[i + 1] - first;
  const bool laws = op->laws.any;
  const int slips = laws ? 1 + s->eval->sys.laws[contact->law].tangents : count;
  const int seen = count < slips ? count : slips;
  double xi[3];
  *mean = 0.0;
  for (int k = 0; k < seen; k++) {
    int r = first + k;
    double u1 = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
    xi[k] = u1 + w->e[r] * w->u0[r] + (k == 0 ? w->offset[i] : 0.0);
    if (op->softens) {
      xi[k] += op->soft[r] * (op->P[r] - (k == 0 ? 0.0 : w->held[r]));
    }
    *mean += op->diagonal[r] / seen;
    contact->impulse[k] = op->P[r];
    *(k == 0 ? &contact->u_before : &contact->slip_before[k - 1]) = w->u0[r];
    *(k == 0 ? &contact->u_after : &contact->slip_after[k - 1]) = u1;
  }
  contact->impact = contact->impact && contact->impulse[0] > 0.0;
  if (laws) {
    for (int r = first + slips; r < first + count; r++) {
      const double u1 = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
      contact->twist_work += 0.5 * op->P[r] * (w->u0[r] + u1);
    }
    return op->laws.miss;
  }
  if (count == 1) {
    double push = op->P[first] * op->diagonal[first];
    return fabs(xi[0] < push ? xi[0] : push);
  }
  double mu = s->eval->sys.laws[contact->law].mu;
  return sqrt(saltusi_natural_map2(count, mu, 1.0 / *mean, op->P + first, xi));
}

/* Report of each contact, and the residual of the law, from v_{k+1} alone. */
static void report(const saltusi_moreau* w, const saltus_moreau_jean_options* o,
                   const saltusi_step* s) {
  double worst = 0.0;
  double worst_impulse = 0.0;
  for (int r = 0; r < s->eval->sys.dims.nj; r++) {
    double weight = joint_weight(o);
    double before = saltusi_row_dot(&w->op.rows, r, s->v0) - w->broken[r];
    double miss = fabs((1.0 - weight) * before + weight * saltusi_row_dot(&w->op.rows, r, s->v1) +
                       w->op.rows.b[r]);
    s->joint_impulses[r] = w->op.P[r];
    worst = saltusi_larger(worst, miss);
    worst_impulse = saltusi_larger(worst_impulse, miss / w->op.diagonal[r]);
  }
  for (int i = 0; i < s->report->active; i++) {
    double mean = 0.0;
    double miss = report_contact(w, s, i, &mean);
    worst = saltusi_larger(worst, miss);
    worst_impulse = saltusi_larger(worst_impulse, miss / mean);
  }
  for (int r = w->op.count - w->op.laws.dry; w->op.laws.any && r < w->op.count; r++) {
    const double u0 = saltusi_row_dot(&w->op.rows, r, s->v0) + w->op.rows.b[r];
    const double u1 = saltusi_row_dot(&w->op.rows, r, s->v1) + w->op.rows.b[r];
    s->report->dry_work += 0.5 * w->op.P[r] * (u0 + u1);
  }
  s->report->residual_velocity = worst;
  s->report->residual_impulse = worst_impulse;
}

static void keep_impulses(const saltusi_moreau* w, const saltusi_step* s) {
  saltusi_warm_clear(&w->op, s->eval->sys.dims.nc, s->h, s->memory1);
  for (int i = 0; i < s->report->active; i++) {
    int first = w->op.first[i];
    saltusi_warm_keep(&w->op, i, s->contacts[i].key, w->op.P + first, w->op.first[i + 1] - first,
                      s->memory1);
  }
}

/* Whether the rate b of a joint has a kink or jump between two times: its middle value is far from
 * the mean of its ends. */
static bool has_kink(double start, double middle, double end) {
  const double change = fabs(end - start);
  return change > 1e-2 * fmax(fabs(start), fabs(end)) &&
         fabs(middle - 0.5 * (start + end)) > 0.25 * change;
}

/* Rates of the joints at the end of the step, with its rows, to op->rhs. Returns whether v1
 * violates a joint whose drive has a kink in the step by more than a tenth of its terms, more than
 * any discretisation error. */
static bool breaks_drives(saltusi_moreau* w, const saltusi_step* s) {
  saltusi_operator* op = &w->op;
  bool any = false;
  for (int r = 0; r < s->eval->sys.dims.nj; r++) {
    const double terms = saltusi_row_size(&op->rows, r, s->v1) + fabs(op->rows.b[r]);
    op->rhs[r] = saltusi_row_dot(&op->rows, r, s->v1) + op->rows.b[r];
    any =
        any || (fabs(op->rhs[r]) > 0.1 * terms && has_kink(w->b0[r], w->broken[r], op->rows.b[r]));
  }
  return any;
}

/* Makes the joints at the end of the step the rows of the operator. w->b0 and w->broken: rates b at
 * the start and in the mean. */
static bool find_kinks(saltusi_moreau* w, const saltusi_step* s) {
  const saltus_system* sys = &s->eval->sys;
  const size_t bytes = (size_t)sys->dims.nj * sizeof(double);
  const saltus_point start = saltusi_at(s->eval, s->t, s->q0, s->v0);
  const saltus_point end = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltusi_operator_begin(&w->op, sys->dims.nj);
  memcpy(w->broken, w->op.rows.b, bytes);
  saltusi_rows_joints(sys, &start, &w->op.rows);
  memcpy(w->b0, w->op.rows.b, bytes);
  saltusi_rows_joints(sys, &end, &w->op.rows);
  return breaks_drives(w, s);
}

/* A drive whose rate jumps leaves a velocity that violates its joint, and without contacts the mean
 * keeps it. An impulse at the end of the step removes it. */
static saltus_status follow_drives(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                   const saltusi_step* s) {
  const int nj = s->eval->sys.dims.nj;
  if (!w->driven || s->report->active > 0 || joint_weight(o) == 1.0 || !find_kinks(w, s)) {
    return SALTUS_OK;
  }
  const saltus_point at = saltusi_at(s->eval, s->t + s->h, s->q1, s->v1);
  saltus_status status = saltusi_linear_assemble(s->eval, &w->linear, &at, 1.0, 0.0, 0.0);
  if (status == SALTUS_OK) {
    saltusi_operator_form(&w->op, s->eval, &w->linear);
    breaks_drives(w, s);
    status = saltusi_operator_solve(&w->op, s->eval);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  /* P (u- + u+) / 2 is work of the drives: u is G^T v1 before and -b after */
  breaks_drives(w, s);
  double work = saltusi_dot(nj, s->joint_impulses, w->broken);
  for (int r = 0; r < nj; r++) {
    work += w->op.P[r] * (w->op.rows.b[r] - 0.5 * w->op.rhs[r]);
  }
  s->report->joint_work += work;
  saltusi_operator_apply(&w->op, s->eval, s->v1);
  saltusi_add_scaled(nj, 1.0, w->op.P, s->joint_impulses);
  return SALTUS_OK;
}

/* The step without subdivision. */
static saltus_status take(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                          const saltusi_step* s) {
  w->linearized = false;
  const bool speculative = saltusi_moreau_speculative(o);
  saltus_status status = speculative ? saltusi_moreau_find_near(w, o, s) : find_active(w, o, s);
  s->report->newton_iterations = 0;
  w->linked.solved = false;
  if (status == SALTUS_OK) {
    if (o->filter != SALTUS_FILTER_NO && !w->op.laws.any) {
      saltusi_moreau_filter(w, o, s);
    }
    if (speculative && o->stiffness > 0.0) {
      memcpy(w->held, w->op.P, (size_t)w->op.count * sizeof(double));
    }
    status = solve_velocity(w, o, s);
  }
  s->eval->work.newton_iterations += s->report->newton_iterations;
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_mean(s->eval->sys.dims.nv, 1.0 - o->theta, s->v0, o->theta, s->v1, w->v_theta);
  saltusi_advance(&s->eval->sys, s->q0, w->v_theta, s->h, s->q1);
  if (!w->linked.solved) {
    report(w, o, s);
  } else if (o->project_joints && s->closed != NULL) {
    status = saltusi_moreau_linked_project(w, s);
  }
  if (w->past_after != NULL && status == SALTUS_OK) {
    saltusi_moreau_kkt_keep(w, s);
  }
  if (w->op.warm.each > 0) {
    keep_impulses(w, s);
  }
  return status == SALTUS_OK ? follow_drives(w, o, s) : status;
}

static bool may_retry(saltus_status status) {
  return status == SALTUS_RETRY_SMALLER || status == SALTUS_RETRY_NAN;
}

/* `count` steps of h / count; contacts may be active in the last one alone. */
static saltus_status take_parts(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                const saltusi_step* s, int count) {
  saltusi_moreau_kkt* j = &w->linked;
  const saltus_dims* d = &s->eval->sys.dims;
  const double* before = w->past_before;
  const double projection = s->report->projection;
  saltus_status status = SALTUS_OK;
  int iterations = 0;
  memset(j->impulses, 0, (size_t)d->nj * sizeof(double));
  for (int k = 0; k < count && status == SALTUS_OK; k++) {
    saltusi_step part = *s;
    part.h = s->h / count;
    part.t = s->t + k * part.h;
    memcpy(j->q, k == 0 ? s->q0 : s->q1, (size_t)d->nq * sizeof(double));
    memcpy(j->v, k == 0 ? s->v0 : s->v1, (size_t)d->nv * sizeof(double));
    part.q0 = j->q;
    part.v0 = j->v;
    status = take(w, o, &part);
    iterations += s->report->newton_iterations;
    if (s->report->active > 0 && k + 1 < count) {
      status = SALTUS_RETRY_SMALLER;
    }
    saltusi_add_scaled(d->nj, 1.0, s->joint_impulses, j->impulses);
    w->past_before = w->past_after;
  }
  w->past_before = before;
  memcpy(s->joint_impulses, j->impulses, (size_t)d->nj * sizeof(double));
  s->report->newton_iterations = iterations;
  s->report->projection = status == SALTUS_OK ? s->report->projection : projection;
  return status;
}

/* If no part takes more iterations than this, parts of the next step are twice as long. */
enum { EASY = 6 };

/* The step in `count` parts; the next step starts with the same or half of that number. */
static saltus_status take_some(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                               const saltusi_step* s, int count) {
  const saltus_status status = count > 1 ? take_parts(w, o, s, count) : take(w, o, s);
  if (status == SALTUS_OK && count > 1 && w->past_after != NULL) {
    const bool easy = s->report->newton_iterations <= EASY * count;
    saltusi_history_set_parts(w->past_after, easy ? count / 2 : count);
  }
  return status;
}

/* A step without active contacts for which Newton's method fails is taken in parts: links at the
 * end of a whip rotate by radians in a step, and continue to do so. */
static saltus_status take_linked(saltusi_moreau* w, const saltus_moreau_jean_options* o,
                                 const saltusi_step* s) {
  enum { PARTS_MAX = 64 };
  const int before = saltusi_history_parts(w->past_before);
  if (before > 1) {
    const saltus_status status = take_some(w, o, s, before);
    if (!may_retry(status)) {
      return status;
    }
    s->report->rejections++;
  }
  saltus_status status = take(w, o, s);
  const bool linked = s->report->active == 0 && saltusi_moreau_kkt_serves(w);
  for (int count = 2; linked && may_retry(status) && count <= PARTS_MAX; count *= 2) {
    status = take_some(w, o, s, count);
    s->report->rejections++;
  }
  return status;
}

/* Whether a joint has prescribed motion, by the declaration of the system. */
static bool is_driven(const saltus_system* sys) {
  const saltus_enclosure_ops* e = sys->ops->enclosure;
  bool any = sys->dims.nj > 0 && (e == NULL || e->depends == NULL);
  for (int r = 0; r < sys->dims.nj && !any; r++) {
    any = (e->depends(sys->self, SALTUS_QUANTITY_JOINT, r) & SALTUS_ON_T) != 0;
  }
  return any;
}

static bool one_iteration_is_exact(const saltus_system* sys) {
  const unsigned linear = SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE;
  return (sys->traits & SALTUS_CONSTANT_MASS) != 0 && (sys->traits & linear) != 0 &&
         ((sys->traits & SALTUS_CONSTANT_NORMALS) != 0 || sys->dims.nj + sys->dims.nc == 0);
}

void saltusi_moreau_layout(saltusi_moreau* w, int warm_start, const saltusi_eval* eval,
                           saltus_arena* arena) {
  assert(w != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  saltusi_linear_layout(&w->linear, sys, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  saltusi_operator_layout(
      &w->op, eval, &(saltusi_demand){.friction = true, .distributes = true, .laws = true}, arena);
  saltusi_warm_layout(&w->op, warm_start, sys);
  w->body_width = saltusi_body_width(sys);
  w->driven = is_driven(sys);
  saltusi_warm_start_transfer_layout(&w->ancestors, &w->op, sys, arena);
  int rows = d->nj + d->nc * (w->op.laws.any ? SALTUS_CONE_ROWS : w->op.has_friction ? 3 : 1);
  w->q_theta = SALTUS_PUSH(arena, double, d->nq);
  w->v_theta = SALTUS_PUSH(arena, double, d->nv);
  w->v_last = SALTUS_PUSH(arena, double, d->nv);
  w->v_free = SALTUS_PUSH(arena, double, d->nv);
  w->force = SALTUS_PUSH(arena, double, d->nv);
  w->e = SALTUS_PUSH(arena, double, rows);
  w->u0 = SALTUS_PUSH(arena, double, rows);
  w->b0 = SALTUS_PUSH(arena, double, rows);
  w->offset = SALTUS_PUSH(arena, double, d->nc);
  w->held = SALTUS_PUSH(arena, double, rows);
  w->aim = SALTUS_PUSH(arena, double, d->nc);
  w->rebounds = SALTUS_PUSH(arena, bool, d->nc);
  w->broken = SALTUS_PUSH(arena, double, d->nj);
  w->forced = SALTUS_PUSH(arena, bool, d->nc);
  w->taken = SALTUS_PUSH(arena, int, d->nc);
  w->filtered = SALTUS_PUSH(arena, saltusi_filtered_contact, d->nc);
  w->q_end = SALTUS_PUSH(arena, double, d->nq);
  w->v_end = SALTUS_PUSH(arena, double, d->nv);
  w->smooth = w->linear.kind == SALTUSI_LINEAR_DENSE && saltusi_linear_smooth(sys);
  w->exact = one_iteration_is_exact(sys) && sys->dry_count == 0;
  w->rows_stay = (sys->traits & SALTUS_CONSTANT_NORMALS) != 0 && d->nj == 0 && sys->dry_count == 0;
  saltusi_moreau_joints_layout(&w->kept, sys, arena);
  saltusi_moreau_kkt_layout(&w->linked, eval, arena);
  w->take = w->linked.n > 0 ? take_linked : take;
}
