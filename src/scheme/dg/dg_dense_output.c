/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_dense_output.c - the motion and the interaction inside a time-discontinuous Galerkin step.
 *
 *   v(tau) = sum_k l_k(tau) V_k,   q(tau) = q + h sum_k (integral of l_k to tau) V_k
 *   i(tau) = h sum_k (integral of l_k to tau) r_k, and a jump p at the end
 *
 * Degree 0 has the constant velocity of its start (D1-) or of its end (D1+).
 *
 * With maps q(tau) = q + h sum_k (integral of l_k to tau) N(Q_k) V_k, its quaternions of length 1.
 *
 * Data of a step: t, h, its degree, q0, v before and after the step, V_k, rates of positions with maps, then by key and
 * row r_k, the impulse at the end and an impulse at the start.
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"

#include <assert.h>
#include <string.h>

enum { ROWS = 3 }; /* of a contact: normal and tangents */

/* Offsets of the parts of the data. */
typedef struct dg_dense_output_parts {
  double *t, *h, *degree, *q0, *v0, *v1, *V;
  double* rates; /* [nodes x nq] of positions, with maps and a degree above 0; else V */
  double* r;     /* [nc x ROWS x nodes] */
  double* end;   /* [nc x ROWS] */
  double* start; /* [nc x ROWS] */
} dg_dense_output_parts;

/* Doubles for rates of positions. */
static size_t rate_count(const saltus_system* sys, int nodes) {
  return saltusi_has_maps(sys) && nodes > 1 ? (size_t)nodes * (size_t)sys->dims.nq : 0;
}

static dg_dense_output_parts find_parts(double* data, const saltus_system* sys, int nodes) {
  const saltus_dims* d = &sys->dims;
  dg_dense_output_parts p = {.t = data, .h = data + 1, .degree = data + 2, .q0 = data + 3};
  p.v0 = p.q0 + d->nq;
  p.v1 = p.v0 + d->nv;
  p.V = p.v1 + d->nv;
  size_t rates = rate_count(sys, nodes);
  p.r = p.V + (size_t)nodes * (size_t)d->nv + rates;
  p.rates = rates > 0 ? p.r - rates : p.V;
  p.end = p.r + (size_t)d->nc * ROWS * (size_t)nodes;
  p.start = p.end + (size_t)d->nc * ROWS;
  return p;
}

size_t saltusi_dg_dense_count(const saltus_dg_options* o, const saltus_system* sys) {
  assert(o != NULL && sys != NULL);
  const saltus_dims* d = &sys->dims;
  size_t nodes = (size_t)o->degree + 1;
  return 3 + (size_t)d->nq + 2 * (size_t)d->nv + nodes * (size_t)d->nv +
         rate_count(sys, o->degree + 1) + (size_t)d->nc * ROWS * (nodes + 2);
}

void saltusi_dg_transfer(const saltus_dg_options* o, const saltus_system* sys,
                         saltusi_state_transfer* carry) {
  assert(o != NULL && sys != NULL && carry != NULL);
  const saltus_dims* d = &sys->dims;
  size_t nodes = (size_t)o->degree + 1;
  saltusi_transfer_plain(carry, 3 + (size_t)d->nq + (2 + nodes) * (size_t)d->nv +
                                    rate_count(sys, o->degree + 1));
  saltusi_transfer_each(carry, ROWS * nodes);
  saltusi_transfer_each(carry, ROWS);
  saltusi_transfer_each(carry, ROWS);
}

void saltusi_dg_keep(const saltusi_dg* w, const saltusi_step* s) {
  assert(w != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  dg_dense_output_parts p = find_parts(s->dense, &s->eval->sys, w->nodes_most);
  size_t contact = ROWS * (size_t)w->nodes_most;
  *p.t = s->t;
  *p.h = s->h;
  *p.degree = w->nodes - 1;
  memcpy(p.q0, s->q0, (size_t)d->nq * sizeof(double));
  memcpy(p.v0, s->v0, (size_t)d->nv * sizeof(double));
  memcpy(p.v1, s->v1, (size_t)d->nv * sizeof(double));
  memset(p.r, 0, (size_t)d->nc * (contact + 2 * ROWS) * sizeof(double));
  if (w->nodes_most == 1) {
    memcpy(p.V, w->plus ? s->v1 : s->v0, (size_t)d->nv * sizeof(double));
    for (int i = 0; i < s->report->active; i++) {
      const saltus_contact_step* step = &s->contacts[i];
      double* into = (w->plus ? p.start : p.end) + (size_t)step->key * ROWS;
      into[0] = step->impulse[0];
      into[1] = step->impulse[1];
    }
    return;
  }
  memcpy(p.V, w->V, (size_t)w->nodes * (size_t)d->nv * sizeof(double));
  if (p.rates != p.V) {
    memcpy(p.rates, w->rates, (size_t)w->nodes * (size_t)d->nq * sizeof(double));
  }
  for (int key = 0; key < d->nc; key++) {
    memcpy(p.start + (size_t)key * ROWS, w->start[key].impulse, sizeof w->start[key].impulse);
  }
  for (int i = 0; i < w->touching; i++) {
    const saltusi_dg_item* item = &w->items[i];
    for (int part = 0; part < saltusi_dg_item_rows(item) && !item->joint; part++) {
      int row = item->row + part;
      size_t at = (size_t)item->key * ROWS + (size_t)part;
      p.end[at] = w->p[row];
      for (int k = 0; k < w->nodes && !item->fresh; k++) {
        p.r[at * (size_t)w->nodes_most + (size_t)k] = w->r[k * w->row_max + row];
      }
    }
  }
}

/* Values of the polynomials and their integrals at a time of the step; of degree 0: 1 and tau. */
static double basis(const saltusi_dg* w, const dg_dense_output_parts* p, double t, double* value,
                    double* integral) {
  double tau = fmin(fmax((t - *p->t) / *p->h, 0.0), 1.0);
  if (w->nodes_most == 1) {
    value[0] = 1.0;
    integral[0] = tau;
  } else {
    saltusi_dg_basis(saltusi_dg_table_of(w, (int)*p->degree), tau, value, integral);
  }
  return tau;
}

saltus_status saltusi_dg_dense(saltusi_dg* w, const saltusi_dense_query* query) {
  assert(w != NULL && query != NULL);
  const saltus_dims* d = &query->eval->sys.dims;
  const saltus_system* sys = &query->eval->sys;
  dg_dense_output_parts p = find_parts(query->data, sys, w->nodes_most);
  double value[SALTUSI_DG_NODES_MAX];
  double integral[SALTUSI_DG_NODES_MAX];
  double tau = basis(w, &p, query->t, value, integral);
  memcpy(query->q, p.q0, (size_t)d->nq * sizeof(double));
  memset(query->v, 0, (size_t)d->nv * sizeof(double));
  for (int k = 0; k <= (int)*p.degree; k++) {
    const double* V = p.V + (size_t)k * (size_t)d->nv;
    saltusi_add_scaled(d->nv, value[k], V, query->v);
    if (w->nodes_most > 1) {
      saltusi_add_scaled(d->nq, *p.h * integral[k], p.rates + (size_t)k * (size_t)d->nq, query->q);
    }
  }
  if (w->nodes_most == 1) {
    saltusi_advance(sys, p.q0, p.V, *p.h * integral[0], query->q);
  } else {
    saltusi_normalise(sys, query->q);
  }
  if (tau == 0.0 && query->side == SALTUS_LEFT) {
    memcpy(query->v, p.v0, (size_t)d->nv * sizeof(double));
  } else if (tau == 1.0 && query->side == SALTUS_RIGHT) {
    memcpy(query->v, p.v1, (size_t)d->nv * sizeof(double));
  }
  return SALTUS_OK;
}

void saltusi_dg_dense_contact(saltusi_dg* w, const saltusi_dense_query* query, int key,
                              saltus_contact_inside* contact) {
  assert(w != NULL && query != NULL && contact != NULL && key >= 0);
  dg_dense_output_parts p = find_parts(query->data, &query->eval->sys, w->nodes_most);
  double value[SALTUSI_DG_NODES_MAX];
  double integral[SALTUSI_DG_NODES_MAX];
  double tau = basis(w, &p, query->t, value, integral);
  bool started = tau > 0.0 || query->side == SALTUS_RIGHT;
  bool ended = tau == 1.0 && query->side == SALTUS_RIGHT;
  *contact = (saltus_contact_inside){0};
  for (int part = 0; part < ROWS; part++) {
    size_t at = (size_t)key * ROWS + (size_t)part;
    for (int k = 0; k <= (int)*p.degree; k++) {
      double r = p.r[at * (size_t)w->nodes_most + (size_t)k];
      contact->force[part] += value[k] * r;
      contact->lasting[part] += *p.h * integral[k] * r;
    }
    contact->impulse[part] = (started ? p.start[at] : 0.0) + (ended ? p.end[at] : 0.0);
  }
}
