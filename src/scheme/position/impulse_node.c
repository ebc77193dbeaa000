/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impulse_node.c - see impulse_node.h.
 */
#include "scheme/position/impulse_node.h"

#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"

#include <assert.h>
#include <float.h>
#include <string.h>

void saltusi_impulse_node_layout(saltusi_impulse_node* node, int warm_start,
                                 const saltusi_eval* eval, saltus_arena* arena) {
  assert(node != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  saltusi_operator_layout(&node->op, eval,
                          &(saltusi_demand){.friction = true, .distributes = true, .laws = true},
                          arena);
  saltusi_warm_layout(&node->op, warm_start, sys);
  saltusi_contact_list_layout(&node->list, d, arena);
  const bool laws = node->op.laws.any;
  int rows = d->nj + (laws ? sys->dry_count : 0) +
             d->nc * (laws                    ? SALTUS_CONE_ROWS
                      : node->op.has_friction ? 3
                                              : 1);
  node->steps = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  node->u0 = SALTUS_PUSH(arena, double, rows);
  node->e = SALTUS_PUSH(arena, double, rows);
  node->P = SALTUS_PUSH(arena, double, rows);
  node->forced = SALTUS_PUSH(arena, bool, d->nc);
  const bool derived = sys->ops->mass_q != NULL && sys->ops->linear == NULL &&
                       (sys->traits & SALTUS_CONSTANT_MASS) == 0;
  node->matrix = derived ? SALTUS_PUSH2(arena, double, d->nv, d->nv)
                         : SALTUS_PUSH(arena, double, saltusi_mass_workspace(sys));
  node->product = SALTUS_PUSH(arena, double, d->nv);
  node->q_shifted = SALTUS_PUSH(arena, double, d->nq);
}

saltus_status saltusi_impulse_node_look(saltusi_impulse_node* node, const saltusi_step* s,
                                        const saltus_point* at) {
  assert(node != NULL && s != NULL && at != NULL);
  const saltus_system* sys = &s->eval->sys;
  saltus_status status = saltusi_contacts(sys, at, &node->list);
  if (status != SALTUS_OK) {
    return status;
  }
  /* a gap that is open by rounding counts as closed; otherwise a body at rest would fall freely for
   * a step */
  double rounding = 16.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(sys->dims.nq, at->q));
  saltusi_operator_begin(&node->op, sys->dims.nj);
  node->active = 0;
  for (int i = 0; i < node->list.count; i++) {
    int key = node->list.key[i];
    int law = node->list.law[i];
    if (!(node->list.gap[i] <= rounding) && !node->forced[key]) {
      continue;
    }
    int count = saltusi_operator_rows(&node->op, &sys->laws[law]);
    int row = saltusi_operator_look(&node->op, sys, at, key, count);
    node->steps[node->active] =
        (saltus_contact_step){.key = key, .law = law, .gap = node->list.gap[i]};
    saltusi_warm_guess(&node->op, node->active++, key, row, count);
    saltusi_operator_take_law(&node->op, count, &sys->laws[law]);
    for (int r = row; r < row + count; r++) {
      node->u0[r] = saltusi_row_dot(&node->op.rows, r, at->v) + node->op.rows.b[r];
    }
    saltusi_operator_slips(&node->op, node->active - 1, node->u0 + row);
  }
  const int first = node->op.count;
  saltusi_operator_take_dry(&node->op, sys, at);
  node->rows = node->op.count;
  for (int r = first; r < node->rows; r++) {
    node->u0[r] = saltusi_row_dot(&node->op.rows, r, at->v) + node->op.rows.b[r];
  }
  saltusi_rows_joints(sys, at, &node->op.rows);
  return SALTUS_OK;
}

void saltusi_impulse_node_law(saltusi_impulse_node* node, const saltusi_step* s,
                              const double* u_free, const double* u_before) {
  assert(node != NULL && s != NULL);
  const saltus_system* sys = &s->eval->sys;
  saltusi_operator* op = &node->op;
  for (int k = 0; k < sys->dims.nv; k++) {
    node->product[k] = u_free[k] - u_before[k];
  }
  double most = saltusi_max_abs(sys->dims.nv, node->product);
  for (int r = op->count - op->laws.dry; r < op->count; r++) {
    op->rhs[r] = saltusi_row_dot(&op->rows, r, u_free) + op->rows.b[r];
  }
  for (int i = 0; i < node->active; i++) {
    saltus_contact_step* contact = &node->steps[i];
    const saltus_contact_law* with = &sys->laws[contact->law];
    int normal = node->op.first[i];
    for (int r = normal; r < node->op.first[i + 1]; r++) {
      double pushed = saltusi_row_size(&op->rows, r, node->product);
      bool resting = fabs(node->u0[r]) <= SALTUSI_RESTING_VELOCITY * pushed;
      double e = r == normal ? with->e_N : r <= normal + with->tangents ? with->e_T : 0.0;
      node->e[r] = resting ? 0.0 : e;
      op->rhs[r] = saltusi_row_dot(&op->rows, r, u_free) + op->rows.b[r];
      op->rhs[r] += node->e[r] * node->u0[r];
      if (r == normal) {
        contact->impact = saltusi_is_impact(node->u0[r], pushed, most);
      }
    }
  }
}

saltus_status saltusi_impulse_node_impose(saltusi_impulse_node* node, const saltusi_step* s,
                                          const saltusi_linear* linear, const double* u_free,
                                          double* u) {
  assert(node != NULL && s != NULL && linear != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  memcpy(u, u_free, (size_t)d->nv * sizeof(double));
  if (node->rows == 0) {
    return SALTUS_OK;
  }
  saltusi_operator_form(&node->op, s->eval, linear);
  node->op.tol = 0.0;
  saltus_status status = saltusi_moreau_solve(&node->op, s->eval);
  if (status == SALTUS_OK) {
    saltusi_operator_apply(&node->op, s->eval, u);
    memcpy(node->P, node->op.P, (size_t)node->rows * sizeof(double));
  }
  return status;
}

void saltusi_impulse_node_keep(const saltusi_impulse_node* node, const saltusi_step* s,
                               double* memory) {
  assert(node != NULL && s != NULL);
  saltusi_warm_clear(&node->op, s->eval->sys.dims.nc, s->h, memory);
  for (int i = 0; i < node->active; i++) {
    int first = node->op.first[i];
    saltusi_warm_keep(&node->op, i, node->steps[i].key, node->P + first,
                      node->op.first[i + 1] - first, memory);
  }
}

/* Report of one contact; returns its distance from the law in m/s. */
static double report_contact(saltusi_impulse_node* node, const saltusi_step* s, int i,
                             const double* u, double* mean) {
  const saltusi_operator* op = &node->op;
  saltus_contact_step* contact = &node->steps[i];
  int first = node->op.first[i];
  int count = node->op.first[i + 1] - first;
  double xi[3];
  *mean = 0.0;
  const int slips = 1 + s->eval->sys.laws[contact->law].tangents;
  for (int k = 0; k < count; k++) {
    int r = first + k;
    double u1 = saltusi_row_dot(&op->rows, r, u) + op->rows.b[r];
    *mean += op->diagonal[r] / count;
    if (k >= slips) {
      contact->twist_work += 0.5 * node->P[r] * (node->u0[r] + u1);
      continue;
    }
    xi[k] = u1 + node->e[r] * node->u0[r];
    contact->impulse[k] = node->P[r];
    *(k == 0 ? &contact->u_before : &contact->slip_before[k - 1]) = node->u0[r];
    *(k == 0 ? &contact->u_after : &contact->slip_after[k - 1]) = u1;
  }
  contact->impact = contact->impact && contact->impulse[0] > 0.0;
  if (op->laws.any) {
    return op->laws.miss;
  }
  double mu = count > 1 ? s->eval->sys.laws[contact->law].mu : 0.0;
  return sqrt(saltusi_natural_map2(count, mu, 1.0 / *mean, node->P + first, xi));
}

void saltusi_impulse_node_report(saltusi_impulse_node* node, const saltusi_step* s,
                                 const double* u) {
  assert(node != NULL && s != NULL);
  for (int r = node->op.count - node->op.laws.dry; r < node->op.count; r++) {
    const double u1 = saltusi_row_dot(&node->op.rows, r, u) + node->op.rows.b[r];
    s->report->dry_work += 0.5 * node->P[r] * (node->u0[r] + u1);
  }
  for (int i = 0; i < node->active; i++) {
    double mean = 0.0;
    double miss = report_contact(node, s, i, u, &mean);
    s->report->residual_velocity = fmax(s->report->residual_velocity, miss);
    s->report->residual_impulse = fmax(s->report->residual_impulse, miss / mean);
  }
}

void saltusi_impulse_node_mass_times(saltusi_impulse_node* node, const saltusi_step* s,
                                     const saltus_point* at, const double* x, double* y) {
  assert(node != NULL && s != NULL && at != NULL);
  saltusi_mass_times(&s->eval->sys, at, node->matrix, x, y);
}

/* Fourth-order central differences of M v along v; the step balances truncation and rounding. */
static void convective_by_differences(saltusi_impulse_node* node, const saltusi_step* s,
                                      const saltus_point* at, double factor, double* y) {
  static const double weight[5] = {1.0 / 12.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, -1.0 / 12.0};
  const saltus_dims* d = &s->eval->sys.dims;
  double speed = saltusi_max_abs(d->nv, at->v);
  if (speed == 0.0) {
    return;
  }
  double size = fmax(1.0, saltusi_max_abs(d->nq, at->q));
  double step = 1e-3 * size / speed;
  saltus_point shifted = *at;
  shifted.q = node->q_shifted;
  for (int k = -2; k <= 2; k++) {
    if (k != 0) {
      saltusi_advance(&s->eval->sys, at->q, at->v, k * step, node->q_shifted);
      saltusi_impulse_node_mass_times(node, s, &shifted, at->v, node->product);
      saltusi_add_scaled(d->nv, factor * weight[k + 2] / step, node->product, y);
    }
  }
}

void saltusi_impulse_node_add_convective(saltusi_impulse_node* node, const saltusi_step* s,
                                         const saltus_point* at, double factor, double* y) {
  assert(node != NULL && s != NULL && at != NULL);
  const saltus_system* sys = &s->eval->sys;
  if ((sys->traits & SALTUS_CONSTANT_MASS) != 0) {
    return;
  }
  if (sys->ops->mass_q == NULL || sys->ops->linear != NULL) {
    convective_by_differences(node, s, at, factor, y);
    return;
  }
  sys->ops->mass_q(sys->self, at, node->matrix);
  saltusi_matrix_times(sys->dims.nv, node->matrix, at->v, node->product);
  saltusi_add_scaled(sys->dims.nv, factor, node->product, y);
}
