/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * node.c - see node.h.
 */
#include "scheme/position/node.h"

#include "math/matrix.h"
#include "scheme/moreau/moreau_step.h"

#include <float.h>
#include <string.h>

void saltusi_node_layout(saltusi_node* node, int warm_start, const saltus_system* sys,
                         saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  saltusi_law_layout_friction(&node->law, sys, false, arena);
  saltusi_warm_layout(&node->law, warm_start, sys);
  saltusi_contact_list_layout(&node->list, d, arena);
  int rows = d->nj + d->nc * (node->law.has_friction ? 3 : 1);
  node->first = SALTUS_PUSH(arena, int, d->nc + 1);
  node->steps = SALTUS_PUSH(arena, saltus_contact_step, d->nc);
  node->u0 = SALTUS_PUSH(arena, double, rows);
  node->e = SALTUS_PUSH(arena, double, rows);
  node->P = SALTUS_PUSH(arena, double, rows);
  node->forced = SALTUS_PUSH(arena, bool, d->nc);
  node->matrix = sys->ops->linear == NULL ? SALTUS_PUSH2(arena, double, d->nv, d->nv) : NULL;
  node->product = SALTUS_PUSH(arena, double, d->nv);
  node->q_shifted = SALTUS_PUSH(arena, double, d->nq);
}

saltus_status saltusi_node_look(saltusi_node* node, const saltusi_step* s, const saltus_point* at) {
  const saltus_system* sys = &s->eval->sys;
  saltus_status status = saltusi_contacts(sys, at, &node->list);
  if (status != SALTUS_OK) {
    return status;
  }
  /* a gap that is open by rounding is closed, or a body at rest would fall freely for a step */
  double rounding = 16.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(sys->dims.nq, at->q));
  int row = sys->dims.nj;
  node->active = 0;
  for (int i = 0; i < node->list.count; i++) {
    int key = node->list.key[i];
    int law = node->list.law[i];
    if (!(node->list.gap[i] <= rounding) && !node->forced[key]) {
      continue;
    }
    int count = saltusi_law_rows(&sys->laws[law]);
    saltusi_rows_contact(sys, at, key, count, &node->law.rows, row);
    node->steps[node->active] =
        (saltus_contact_step){.key = key, .law = law, .gap = node->list.gap[i]};
    saltusi_warm_guess(&node->law, node->active, key, row, count);
    node->first[node->active++] = row;
    for (int r = row; r < row + count; r++) {
      node->u0[r] = saltusi_row_dot(&node->law.rows, r, at->v) + node->law.rows.b[r];
    }
    row += count;
  }
  node->first[node->active] = row;
  node->rows = row;
  for (int j = 0; j < sys->dims.nj; j++) {
    saltusi_rows_joint(sys, at, j, &node->law.rows, j);
  }
  return SALTUS_OK;
}

void saltusi_node_law(saltusi_node* node, const saltusi_step* s, const double* u_free,
                      const double* u_before) {
  const saltus_system* sys = &s->eval->sys;
  saltusi_law* law = &node->law;
  for (int k = 0; k < sys->dims.nv; k++) {
    node->product[k] = u_free[k] - u_before[k];
  }
  double most = saltusi_max_abs(sys->dims.nv, node->product);
  if (law->has_friction) {
    law->first[0] = 0;
  }
  for (int i = 0; i < node->active; i++) {
    saltus_contact_step* contact = &node->steps[i];
    const saltus_contact_law* with = &sys->laws[contact->law];
    int normal = node->first[i];
    for (int r = normal; r < node->first[i + 1]; r++) {
      double pushed = saltusi_row_size(&law->rows, r, node->product);
      bool resting = fabs(node->u0[r]) <= SALTUSI_RESTING_VELOCITY * pushed;
      double e = r == normal ? with->e_N : with->e_T;
      node->e[r] = resting ? 0.0 : e;
      law->rhs[r] = saltusi_row_dot(&law->rows, r, u_free) + law->rows.b[r];
      law->rhs[r] += node->e[r] * node->u0[r];
      if (r == normal) {
        contact->impact = saltusi_is_impact(node->u0[r], pushed, most);
      }
    }
    if (law->has_friction) {
      law->first[i + 1] = node->first[i + 1] - sys->dims.nj;
      law->mu[i] = with->mu;
    }
  }
}

saltus_status saltusi_node_impose(saltusi_node* node, const saltusi_step* s,
                                  const saltusi_linear* linear, const double* u_free, double* u) {
  const saltus_dims* d = &s->eval->sys.dims;
  memcpy(u, u_free, (size_t)d->nv * sizeof(double));
  if (node->rows == 0) {
    return SALTUS_OK;
  }
  saltusi_law_operator(&node->law, s->eval, linear, node->rows);
  saltus_status status = node->law.has_friction && node->active > 0
                             ? saltusi_law_solve_friction(&node->law, s->eval, d->nj, node->active)
                             : saltusi_law_solve(&node->law, s->eval, d->nj, node->active);
  if (status == SALTUS_OK) {
    saltusi_law_apply(&node->law, d->nv, node->rows, u);
    memcpy(node->P, node->law.P, (size_t)node->rows * sizeof(double));
  }
  return status;
}

void saltusi_node_keep(const saltusi_node* node, const saltusi_step* s, double* memory) {
  saltusi_warm_clear(&node->law, s->eval->sys.dims.nc, s->h, memory);
  for (int i = 0; i < node->active; i++) {
    int first = node->first[i];
    saltusi_warm_keep(&node->law, i, node->steps[i].key, node->P + first,
                      node->first[i + 1] - first, memory);
  }
}

/* One contact; returns how far it is from its law in m/s. */
static double report_contact(saltusi_node* node, const saltusi_step* s, int i, const double* u,
                             double* mean) {
  const saltusi_law* law = &node->law;
  saltus_contact_step* contact = &node->steps[i];
  int first = node->first[i];
  int count = node->first[i + 1] - first;
  double xi[3];
  *mean = 0.0;
  for (int k = 0; k < count; k++) {
    int r = first + k;
    double u1 = saltusi_row_dot(&law->rows, r, u) + law->rows.b[r];
    xi[k] = u1 + node->e[r] * node->u0[r];
    *mean += law->diagonal[r] / count;
    contact->impulse[k] = node->P[r];
    *(k == 0 ? &contact->u_before : &contact->slip_before[k - 1]) = node->u0[r];
    *(k == 0 ? &contact->u_after : &contact->slip_after[k - 1]) = u1;
  }
  contact->impact = contact->impact && contact->impulse[0] > 0.0;
  double mu = count > 1 ? s->eval->sys.laws[contact->law].mu : 0.0;
  return sqrt(saltusi_natural_map2(count, mu, 1.0 / *mean, node->P + first, xi));
}

void saltusi_node_report(saltusi_node* node, const saltusi_step* s, const double* u) {
  for (int i = 0; i < node->active; i++) {
    double mean = 0.0;
    double miss = report_contact(node, s, i, u, &mean);
    s->report->residual_velocity = fmax(s->report->residual_velocity, miss);
    s->report->residual_impulse = fmax(s->report->residual_impulse, miss / mean);
  }
}

void saltusi_node_mass_times(saltusi_node* node, const saltusi_step* s, const saltus_point* at,
                             const double* x, double* y) {
  const saltus_system* sys = &s->eval->sys;
  if (sys->ops->linear != NULL) {
    sys->ops->linear->mass_times(sys->self, at, x, y);
    return;
  }
  sys->ops->mass(sys->self, at, node->matrix);
  saltusi_matrix_times(sys->dims.nv, node->matrix, x, y);
}

/* Central differences of fourth order of M v along v; the step makes truncation and rounding alike. */
static void convective_by_differences(saltusi_node* node, const saltusi_step* s,
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
      saltusi_node_mass_times(node, s, &shifted, at->v, node->product);
      saltusi_add_scaled(d->nv, factor * weight[k + 2] / step, node->product, y);
    }
  }
}

void saltusi_node_add_convective(saltusi_node* node, const saltusi_step* s, const saltus_point* at,
                                 double factor, double* y) {
  const saltus_system* sys = &s->eval->sys;
  if ((sys->traits & SALTUS_CONSTANT_MASS) != 0) {
    return;
  }
  if (sys->ops->mass_q == NULL || node->matrix == NULL) {
    convective_by_differences(node, s, at, factor, y);
    return;
  }
  sys->ops->mass_q(sys->self, at, node->matrix);
  saltusi_matrix_times(sys->dims.nv, node->matrix, at->v, node->product);
  saltusi_add_scaled(sys->dims.nv, factor, node->product, y);
}
