/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive.c - the loop of attempts and events (section 4), tolerances (section 2), and the choice of the
 * method.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"
#include "math/dense.h"

#include <float.h>
#include <string.h>

/* Events in a row without progress before the run gives up, and attempts within one step. */
enum { IDLE_MAX = 5000, ATTEMPTS_MAX = 1000, RESTEPS = 3, IMPLICIT_MAX = 200 };

/* Slip of a spatial contact, in units of the slip at which it stops, below which its direction makes the
 * motion stiff, and above which an explicit method may take over again. */
static const double slow_slip = 200.0;
static const double slow_slip_end = 1000.0;

/* ---- memory -------------------------------------------------------------------------------- */

static bool may_be_implicit(const saltus_system* sys, bool implicit) {
  return implicit && sys->dims.nv <= IMPLICIT_MAX && sys->ops->rate == NULL;
}

static size_t jacobian_count(const saltus_system* sys, bool implicit) {
  int nv = sys->dims.nv;
  return may_be_implicit(sys, implicit)
             ? (size_t)(nv + saltusi_adaptive_rows(sys)) * (size_t)(2 * nv)
             : 0;
}

size_t saltusi_adaptive_memory_count(const saltus_system* sys, bool implicit) {
  size_t ny = (size_t)sys->dims.nq + (size_t)sys->dims.nv + (size_t)sys->dims.nj +
              (size_t)saltusi_adaptive_rows(sys);
  return SALTUSI_ADAPTIVE_HEAD + (size_t)sys->dims.nc * SALTUSI_ADAPTIVE_CONTACT + ny +
         jacobian_count(sys, implicit);
}

static void open_memory(saltusi_adaptive* w, double* memory) {
  w->memory = (saltusi_adaptive_memory*)(void*)memory;
  memory += SALTUSI_ADAPTIVE_HEAD;
  w->contact = (saltusi_contact_memory*)(void*)memory;
  memory += (size_t)w->nc * SALTUSI_ADAPTIVE_CONTACT;
  w->rate0 = memory;
  w->J = memory + w->ny;
}

static void layout_rows(saltusi_adaptive* w, saltus_arena* arena) {
  const saltus_dims* d = &w->sys_copy.dims;
  saltusi_linear_layout(&w->mass, &w->sys_copy, arena);
  saltusi_rows_layout(&w->row, d, w->rows, true, arena);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->base = SALTUS_PUSH(arena, int, w->nc);
  w->tangents = SALTUS_PUSH(arena, int, w->nc);
  w->law = SALTUS_PUSH(arena, const saltus_contact_law*, w->nc);
  w->mu = SALTUS_PUSH(arena, double, w->nc);
  w->atol_q = SALTUS_PUSH(arena, double, w->nq);
  w->atol_v = SALTUS_PUSH(arena, double, w->nv);
  w->gap = SALTUS_PUSH(arena, double, w->nc);
  w->joint_gap = SALTUS_PUSH(arena, double, w->nj);
  w->held_row = SALTUS_PUSH(arena, int, w->rows);
  w->held_key = SALTUS_PUSH(arena, int, w->rows);
  w->column = SALTUS_PUSH2(arena, double, w->rows, w->nv);
  w->W = SALTUS_PUSH2(arena, double, w->rows, w->rows);
  w->W_spare = SALTUS_PUSH2(arena, double, w->rows, w->rows);
  w->right = SALTUS_PUSH(arena, double, w->rows);
  w->row_scale = SALTUS_PUSH(arena, double, w->rows);
  w->pivot = SALTUS_PUSH(arena, int, 2 * w->rows);
  if (w->law_tangents_max == 2) {
    w->spread = SALTUS_PUSH2(arena, double, w->nv, w->nv);
    w->spread_pivot = SALTUS_PUSH(arena, int, 2 * w->nv);
    w->spread_in = SALTUS_PUSH(arena, double, w->rows);
    w->spread_right = SALTUS_PUSH(arena, double, w->rows);
    w->spread_sum = SALTUS_PUSH(arena, double, w->rows);
    saltusi_friction_step_layout(&w->friction, w->nc, 3, w->nl, arena);
  }
  w->unit_first = SALTUS_PUSH(arena, int, w->nc + 1);
  w->unit_mu = SALTUS_PUSH(arena, double, w->nc);
  w->kicked = SALTUS_PUSH(arena, bool, w->nc);
  w->kick = SALTUS_PUSH(arena, double, 2 * w->nc);
  w->force = SALTUS_PUSH(arena, double, w->rows);
  w->free_acc = SALTUS_PUSH(arena, double, w->nv);
  w->direction = SALTUS_PUSH(arena, double, 2 * w->nc);
  w->joint_X = SALTUS_PUSH2(arena, double, w->nj, w->nv);
  w->joint_W = SALTUS_PUSH2(arena, double, w->nj, w->nj);
  w->joint_pivot = SALTUS_PUSH(arena, int, 2 * w->nj);
  w->joint_r = SALTUS_PUSH(arena, double, w->nj);
}

static void layout_states(saltusi_adaptive* w, bool implicit, saltus_arena* arena) {
  double** states[] = {&w->y0,        &w->y1,     &w->y_mid, &w->y_try,
                       &w->y_end,     &w->y_keep, &w->rate1, &w->rate_mid,
                       &w->rate_keep, &w->scale,  &w->probe, &w->probe_rate};
  for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
    *states[i] = SALTUS_PUSH(arena, double, w->ny);
  }
  w->K = SALTUS_PUSH2(arena, double, SALTUSI_ADAPTIVE_STAGES, w->ny);
  w->Q = SALTUS_PUSH2(arena, double, 8, w->ny);
  w->scale_l = SALTUS_PUSH(arena, double, w->nl);
  w->delta = SALTUS_PUSH(arena, double, w->nv);
  w->v_spare = SALTUS_PUSH(arena, double, w->nv);
  w->q_spare = SALTUS_PUSH(arena, double, w->nq);
  w->x_start = SALTUS_PUSH(arena, double, w->nv);
  w->x_end = SALTUS_PUSH(arena, double, w->nv);
  if (may_be_implicit(&w->sys_copy, implicit)) {
    int n = 3 * w->nv;
    w->newton = SALTUS_PUSH2(arena, double, n, n);
    w->small = SALTUS_PUSH2(arena, double, w->nv, w->nv);
    w->stage_a = SALTUS_PUSH(arena, double, n);
    w->R = SALTUS_PUSH(arena, double, n);
    w->newton_pivot = SALTUS_PUSH(arena, int, 4 * w->nv);
  }
}

static void layout_events(saltusi_adaptive* w, saltus_arena* arena) {
  int nc = w->nc;
  w->gap_start = SALTUS_PUSH(arena, double, nc);
  w->slip_start = SALTUS_PUSH(arena, double, 2 * nc);
  w->slip_limit = SALTUS_PUSH(arena, double, w->nv);
  w->node_gap = SALTUS_PUSH2(arena, double, SALTUSI_NODES, nc);
  w->node_y = SALTUS_PUSH2(arena, double, SALTUSI_NODES, w->nq + w->nv);
  w->node_rate = SALTUS_PUSH2(arena, double, SALTUSI_NODES, w->nl);
  w->flight = SALTUS_PUSH2(arena, double, nc, SALTUSI_CHEBYSHEV + 1);
  w->flown = SALTUS_PUSH(arena, bool, nc);
  w->found = SALTUS_PUSH(arena, saltusi_found, 4 * nc);
  w->mode_kept = SALTUS_PUSH(arena, saltusi_contact_memory, nc);
  w->mode_old = SALTUS_PUSH(arena, saltusi_contact_memory, nc);
  w->mode_check = SALTUS_PUSH(arena, saltusi_contact_memory, nc);
  int n = 0;
  for (int i = 0; i < nc; i++) {
    n += w->law_tangents_max > 0 ? 4 : 1;
  }
  w->lcp_max = n;
  saltusi_lcp_layout(&w->lcp, n, arena);
  w->lcp_M = SALTUS_PUSH2(arena, double, n, n);
  w->lcp_q = SALTUS_PUSH(arena, double, n);
  w->lcp_z = SALTUS_PUSH(arena, double, n);
  w->lcp_scale = SALTUS_PUSH(arena, double, n);
  w->lcp_kind = SALTUS_PUSH(arena, int, n);
  w->lcp_key = SALTUS_PUSH(arena, int, n);
  w->lcp_X = SALTUS_PUSH2(arena, double, n, w->nv);
  double** rows[] = {&w->impulse, &w->compression,   &w->u_before, &w->u_after,    &w->lasting,
                     &w->impacts, &w->impacts_start, &w->bounce,   &w->slide_force};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    *rows[i] = SALTUS_PUSH(arena, double, w->nl);
  }
  w->joint_lasting = SALTUS_PUSH(arena, double, w->nj);
  w->slack = SALTUS_PUSH(arena, double, nc);
  w->bound = SALTUS_PUSH(arena, double, nc);
  w->blocked = SALTUS_PUSH(arena, bool, nc);
  w->set = SALTUS_PUSH(arena, int, nc);
  w->members = SALTUS_PUSH(arena, int, nc);
  w->cand = SALTUS_PUSH(arena, int, nc);
  w->sense = SALTUS_PUSH(arena, double, nc);
  w->basis = SALTUS_PUSH2(arena, double, 2 * w->nv, w->nv);
  w->hit = SALTUS_PUSH(arena, bool, nc);
  w->u_impact = SALTUS_PUSH(arena, double, 2 * nc);
}

void saltusi_adaptive_layout(saltusi_adaptive* w, const saltus_system* sys, bool implicit,
                             saltus_arena* arena) {
  w->sys_copy = *sys;
  w->nq = sys->dims.nq;
  w->nv = sys->dims.nv;
  w->nj = sys->dims.nj;
  w->nc = sys->dims.nc;
  w->nl = saltusi_adaptive_rows(sys);
  w->ny = w->nq + w->nv + w->nl + w->nj;
  w->rows = w->nj + w->nl;
  w->law_tangents_max = 0;
  for (int i = 0; i < sys->law_count; i++) {
    int tangents = sys->laws[i].tangents;
    w->law_tangents_max = tangents > w->law_tangents_max ? tangents : w->law_tangents_max;
  }
  w->implicit = may_be_implicit(sys, implicit);
  layout_rows(w, arena);
  layout_states(w, implicit, arena);
  layout_events(w, arena);
}

/* ---- tolerances (section 2) ---------------------------------------------------------------- */

void saltusi_adaptive_scale(saltusi_adaptive* w, const double* y0, const double* y1) {
  double rtol = w->settings.rtol;
  for (int i = 0; i < w->nq; i++) {
    w->scale[i] = w->atol_q[i] + rtol * fmax(fabs(y0[i]), fabs(y1[i]));
  }
  for (int i = 0; i < w->nv; i++) {
    int k = w->nq + i;
    w->scale[k] = w->atol_v[i] + rtol * fmax(fabs(y0[k]), fabs(y1[k]));
    w->scale[k] = fmin(w->scale[k], w->slip_limit[i]);
  }
  memcpy(w->scale + w->nq + w->nv, w->scale_l, (size_t)w->nl * sizeof(double));
  for (int j = 0; j < w->nj; j++) { /* joint forces do not limit the step */
    w->scale[w->nq + w->nv + w->nl + j] = INFINITY;
  }
}

void saltusi_adaptive_measure(const saltusi_adaptive* w, const double* y, const double* x,
                              double height, double speed, double* in_q, double* in_v) {
  double rtol = w->settings.rtol;
  *in_q = 0.0;
  *in_v = 0.0;
  bool map = w->sys->ops->rate != NULL;
  if (map) { /* the displacement of positions along x */
    w->sys->ops->rate(w->sys->self, y, x, w->q_spare);
  }
  for (int i = 0; i < w->nq; i++) {
    double part = map ? w->q_spare[i] : x[i];
    *in_q = fmax(*in_q, fabs(part) * height / (w->atol_q[i] + rtol * fabs(y[i])));
  }
  for (int i = 0; i < w->nv; i++) {
    *in_v = fmax(*in_v, fabs(x[i]) * speed / (w->atol_v[i] + rtol * fabs(y[w->nq + i])));
  }
}

/* ---- methods ------------------------------------------------------------------------------- */

const saltusi_adaptive_ops* saltusi_adaptive_ops_of(double method) {
  static const saltusi_adaptive_ops* const all[] = {
      [SALTUSI_DOPRI5] = &saltusi_adaptive_dopri5,
      [SALTUSI_DOP853] = &saltusi_adaptive_dop853,
      [SALTUSI_RADAU5] = &saltusi_adaptive_radau5,
  };
  return all[(int)method];
}

/* Order 8 pays from 1e-6 on (section 8.3). */
static double explicit_method(const saltusi_adaptive* w) {
  double tol = fmin(w->settings.rtol, fmin(w->atol_q_min, w->atol_v_min));
  return w->settings.rtol > 1e-6 || tol > 1e-6 ? SALTUSI_DOPRI5 : SALTUSI_DOP853;
}

static void change_method(saltusi_adaptive* w, double method) {
  saltusi_adaptive_memory* m = w->memory;
  m->method = method;
  m->stiff = 0.0;
  m->calm = 0.0;
  m->jacobian_age = -1.0;
  w->counts.switches++;
}

/* After an accepted step: whether another method serves the next one better. An explicit method goes
 * when its steps are at the edge of its stability for some time (Hairer and Wanner 1996, IV.2), or when
 * the direction of a slow slip is stiff; the implicit one when an explicit one would do as well. */
static void review_method(saltusi_adaptive* w) {
  enum { SIGNS = 15, CALM_STEPS = 6, CALM_IMPLICIT = 10 };
  saltusi_adaptive_memory* m = w->memory;
  if (w->settings.method != SALTUSI_ADAPTIVE_CHOOSES || !w->implicit) {
    return;
  }
  bool explicit_ = m->method != SALTUSI_RADAU5;
  bool at_edge = w->ops->stiffness(w) > 1.0;
  if (explicit_) {
    m->stiff = at_edge ? m->stiff + 1.0 : m->stiff;
    m->calm = at_edge ? 0.0 : m->calm + 1.0;
    m->stiff = m->calm >= CALM_STEPS ? 0.0 : m->stiff;
    if (m->stiff >= SIGNS) {
      change_method(w, SALTUSI_RADAU5);
    }
    return;
  }
  bool slow = w->slip_least < slow_slip_end * w->slip_floor;
  m->calm = at_edge || slow ? 0.0 : m->calm + 1.0;
  if (m->calm >= CALM_IMPLICIT) {
    change_method(w, explicit_method(w));
  }
}

/* Before a step: a slow slip in space is stiff from its first instant. */
static void prefer_implicit(saltusi_adaptive* w) {
  if (w->settings.method == SALTUSI_ADAPTIVE_CHOOSES && w->implicit &&
      w->memory->method != SALTUSI_RADAU5 && w->slip_least < slow_slip * w->slip_floor) {
    change_method(w, SALTUSI_RADAU5);
    w->ops = saltusi_adaptive_ops_of(w->memory->method);
    w->memory->method_used = w->memory->method;
  }
}

/* ---- start --------------------------------------------------------------------------------- */

static saltus_status read_laws(saltusi_adaptive* w, double t, const double* q) {
  saltus_status status = w->nc > 0 ? saltusi_mode_gaps(w, t, q) : SALTUS_OK;
  bool fixed = w->sys->law_count == w->nc;
  int stride = w->nc > 0 ? w->nl / w->nc : 1;
  int next = 0;
  w->spatial = false;
  for (int key = 0; key < w->nc; key++) {
    int law = fixed ? key : 0;
    for (int i = 0; !fixed && i < w->list.count; i++) {
      law = w->list.key[i] == key ? w->list.law[i] : law;
    }
    w->law[key] = &w->sys->laws[law];
    w->tangents[key] = w->law[key]->tangents;
    w->mu[key] = w->tangents[key] > 0 ? w->law[key]->mu : 0.0;
    w->base[key] = next;
    next += fixed ? 1 + w->tangents[key] : stride;
    w->spatial = w->spatial || (w->tangents[key] == 2 && w->mu[key] > 0.0);
  }
  return status;
}

static void read_tolerances(saltusi_adaptive* w) {
  const saltusi_adaptive_settings* s = &w->settings;
  w->atol_q_min = INFINITY;
  w->atol_v_min = INFINITY;
  for (int i = 0; i < w->nq; i++) {
    w->atol_q[i] = s->atol_q_each != NULL && s->atol_q_each[i] > 0.0 ? s->atol_q_each[i] : s->atol;
    w->atol_q_min = fmin(w->atol_q_min, w->atol_q[i]);
  }
  for (int i = 0; i < w->nv; i++) {
    w->atol_v[i] =
        s->atol_v_each != NULL && s->atol_v_each[i] > 0.0 ? s->atol_v_each[i] : s->atol_v;
    w->atol_v_min = fmin(w->atol_v_min, w->atol_v[i]);
  }
  w->slip_floor = 0.05 * w->atol_v_min;
}

/* Slip of spatial contacts at the start of a step: its direction, and what it asks of velocities. The
 * direction turns the faster the slower the slip, and an error of the size of the slip would take it into
 * another branch of the motion (section 9). */
static void note_slips(saltusi_adaptive* w) {
  w->slip_least = INFINITY;
  for (int i = 0; i < w->nv; i++) {
    w->slip_limit[i] = INFINITY;
  }
  for (int key = 0; w->spatial && key < w->nc; key++) {
    if (w->tangents[key] != 2 || saltusi_mode_of(w, key) != SALTUSI_SLIP || w->mu[key] == 0.0) {
      continue;
    }
    double u1 = saltusi_mode_velocity(w, w->t, w->y0, key, 1);
    double u2 = saltusi_mode_velocity(w, w->t, w->y0, key, 2);
    double size = fmax(hypot(u1, u2), DBL_MIN);
    int row = w->nj + w->base[key] + 1;
    w->slip_start[2 * key] = u1 / size;
    w->slip_start[2 * key + 1] = u2 / size;
    w->slip_least = fmin(w->slip_least, size);
    double limit = fmax(0.05 * size, 2e-3 * w->slip_floor);
    for (int i = 0; i < w->nv; i++) {
      double part = fmax(fabs(saltusi_row_entry(&w->row, row, i)),
                         fabs(saltusi_row_entry(&w->row, row + 1, i)));
      w->slip_limit[i] = part > 0.0 ? fmin(w->slip_limit[i], limit / part) : w->slip_limit[i];
    }
  }
}

/* First step (Hairer, Norsett and Wanner 1993, II.4). */
static saltus_status first_step(saltusi_adaptive* w, double limit, double* h) {
  double d0 = 0.0;
  double d1 = 0.0;
  double d2 = 0.0;
  saltusi_adaptive_scale(w, w->y0, w->y0);
  for (int i = 0; i < w->ny; i++) {
    d0 = fmax(d0, fabs(w->y0[i]) / w->scale[i]);
    d1 = fmax(d1, fabs(w->rate0[i]) / w->scale[i]);
  }
  double h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
  h0 = fmin(h0, limit);
  for (int i = 0; i < w->ny; i++) {
    w->y_try[i] = w->y0[i] + h0 * w->rate0[i];
  }
  saltus_status status = saltusi_mode_rate(w, w->t + h0, w->y_try, w->rate1);
  for (int i = 0; i < w->ny; i++) {
    d2 = fmax(d2, fabs(w->rate1[i] - w->rate0[i]) / w->scale[i] / h0);
  }
  double d = fmax(d1, d2);
  double h1 = d <= 1e-15 ? fmax(1e-6, 1e-3 * h0) : pow(0.01 / d, 1.0 / w->ops->order);
  *h = fmin(100.0 * h0, fmin(h1, limit));
  return status;
}

static void tell_start(const saltusi_adaptive* w, double moved) {
  if (moved > 10.0 * w->atol_q_min) {
    saltusi_log(w->log, SALTUS_LEVEL_WARNING,
                "start: joints and closed contacts did not fit; positions moved by up to %g",
                moved);
  }
}

/* Joints closed, contacts that touch settled. */
static saltus_status start(saltusi_adaptive* w, double limit) {
  saltusi_adaptive_memory* m = w->memory;
  memset(w->contact, 0, (size_t)w->nc * sizeof *w->contact);
  *m = (saltusi_adaptive_memory){.zeno = -1.0, .cap = INFINITY, .jacobian_age = -1.0};
  m->method =
      w->settings.method == SALTUSI_ADAPTIVE_CHOOSES ? explicit_method(w) : w->settings.method;
  w->ops = saltusi_adaptive_ops_of(m->method);
  memcpy(w->y_keep, w->y0, (size_t)w->ny * sizeof(double));
  saltus_status status = saltusi_mode_project(w, w->t, w->y0);
  if (status == SALTUS_OK && w->nc > 0) {
    status = saltusi_mode_gaps(w, w->t, w->y0);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  double size = fmax(1.0, saltusi_max_abs(w->nq, w->y0));
  double near = fmax(64.0 * DBL_EPSILON * size, 1e-3 * w->atol_q_min);
  int count = 0;
  for (int key = 0; key < w->nc; key++) {
    if (w->gap[key] <= near) {
      w->set[count++] = key;
    }
  }
  status = saltusi_mode_project_positions(w, w->t, w->y0, count);
  m->v_max = saltusi_max_abs(w->nv, saltusi_v_of(w, w->y0));
  if (status == SALTUS_OK && count > 0) {
    status = saltusi_adaptive_settle(w, w->t, w->y0, count, true);
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_rate(w, w->t, w->y0, w->rate0);
  }
  if (status == SALTUS_OK) {
    status = saltusi_mode_impulse_scale(w, w->t, w->y0);
  }
  double moved = 0.0;
  for (int i = 0; i < w->nq; i++) {
    moved = fmax(moved, fabs(w->y0[i] - w->y_keep[i]));
  }
  tell_start(w, moved);
  m->rate_valid = 1.0;
  m->started = 1.0;
  note_slips(w);
  if (status == SALTUS_OK && !(w->settings.h_first > 0.0)) {
    return first_step(w, limit, &m->h);
  }
  m->h = w->settings.h_first;
  return status;
}

/* ---- one step ------------------------------------------------------------------------------ */

/* Gaps of flying contacts that began at zero, after s seconds of the step. */
static saltus_status follow_flights(saltusi_adaptive* w, double t, const double* y, double s,
                                    const saltusi_found* event) {
  bool any = false;
  for (int key = 0; key < w->nc; key++) {
    any = any || (w->contact[key].touching != 0.0 && !saltusi_mode_closed(w, key));
  }
  if (!any) {
    return SALTUS_OK;
  }
  saltus_status status = saltusi_mode_gaps(w, t, y);
  double far = 1e-8 * fmax(1.0, saltusi_max_abs(w->nq, y));
  for (int key = 0; key < w->nc && status == SALTUS_OK; key++) {
    saltusi_contact_memory* c = &w->contact[key];
    bool hits = false;
    for (int i = 0; event != NULL && i < w->found_count; i++) {
      hits = hits || (w->found[i].kind == SALTUSI_FOUND_HIT && w->found[i].key == key &&
                      w->found[i].theta <= event->theta * (1.0 + 1e-8));
    }
    if (c->touching == 0.0 || saltusi_mode_closed(w, key) || hits) {
      continue;
    }
    if (w->gap[key] > far) {
      c->touching = 0.0;
    } else if (w->flown[key]) {
      c->height += saltusi_find_height(w, key, s);
    }
  }
  return status;
}

/* The next step at most, so that a short flight is not stepped over: 1.5 times the time to contact of
 * height + U s + gamma s^2 / 2 (section 4, pitfall 3). */
static saltus_status cap_step(saltusi_adaptive* w, double t, const double* y) {
  saltus_status status = SALTUS_OK;
  w->memory->cap = INFINITY;
  for (int key = 0; key < w->nc && status == SALTUS_OK; key++) {
    const saltusi_contact_memory* c = &w->contact[key];
    if (c->touching == 0.0 || saltusi_mode_closed(w, key)) {
      continue;
    }
    double gamma = 0.0;
    status = saltusi_mode_gamma(w, t, y, key, &gamma);
    double u = saltusi_mode_velocity(w, t, y, key, 0);
    double height = fmax(c->height, 0.0);
    double root = u * u - 2.0 * gamma * height;
    double time = INFINITY;
    if (gamma < 0.0) {
      time = (u + sqrt(fmax(root, 0.0))) / -gamma;
    } else if (u < 0.0 && root >= 0.0 && height > 0.0) {
      time = 2.0 * height / (-u + sqrt(root));
    }
    if (time > 0.0) {
      w->memory->cap = fmin(w->memory->cap, 1.5 * time);
    }
  }
  return status;
}

/* Value and rate of the function whose root is the event. */
static saltus_status event_function(saltusi_adaptive* w, const saltusi_found* f, double t,
                                    double* value, double* slope, bool* good) {
  const double* y = w->y1;
  *good = false;
  if (f->kind == SALTUSI_FOUND_HIT) {
    saltus_status status = saltusi_mode_gaps(w, t, y);
    *value = w->gap[f->key];
    *slope = saltusi_mode_velocity(w, t, y, f->key, 0);
    double rounding = 32.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(w->nq, y));
    *good = fabs(*value) <= rounding || *slope >= 0.0;
    return status;
  }
  *value = saltusi_mode_velocity(w, t, y, f->key, 1);
  int row = w->nj + w->base[f->key] + 1;
  *slope = saltusi_row_dot(&w->row, row, w->rate1 + w->nq) + w->row.c[row];
  double rounding = 4.0 * DBL_EPSILON * saltusi_max_abs(w->nv, saltusi_v_of(w, y));
  *good = *slope == 0.0 || fabs(*value) <= rounding;
  return SALTUS_OK;
}

/* An impact or a stop is located by steps that end there, and then by a shift along the motion that is
 * too short to matter (section 4). The state is left in y_end, its time after the start in *s. */
static saltus_status step_onto(saltusi_adaptive* w, const saltusi_found* f, double* s) {
  double error;
  saltus_status status = w->ops->attempt(w, *s, &error);
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  for (int k = 0; k < RESTEPS && status == SALTUS_OK; k++) {
    double value;
    double slope;
    bool good;
    status = event_function(w, f, w->t + *s, &value, &slope, &good);
    double shift = -value / slope;
    if (status != SALTUS_OK || good || !(fabs(shift) <= 0.2 * *s)) {
      break;
    }
    if (fabs(shift) <= 1e-3 * *s) {
      double* v = w->y_end + w->nq;
      const double* a = w->rate1 + w->nq;
      for (int i = 0; i < w->nq; i++) {
        w->y_end[i] += shift * w->rate1[i];
      }
      bool map = w->sys->ops->rate != NULL;
      for (int i = 0; i < w->nv; i++) {
        w->y_end[i] += map ? 0.0 : 0.5 * shift * shift * a[i];
        v[i] += shift * a[i];
      }
      saltusi_add_scaled(w->nl + w->nj, shift, w->rate1 + w->nq + w->nv, w->y_end + w->nq + w->nv);
      *s += shift;
      break;
    }
    *s += shift;
    status = w->ops->attempt(w, *s, &error);
    memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  }
  return status == SALTUS_OK ? w->ops->prepare(w) : status;
}

/* Impulses of the lasting forces up to the end of the step. */
static void add_impulses(saltusi_adaptive* w) {
  const double* L = w->y_end + w->nq + w->nv;
  saltusi_add_scaled(w->nl, 1.0, L, w->lasting);
  saltusi_add_scaled(w->nj, 1.0, L + w->nl, w->joint_lasting);
}

/* The event that ends the attempt: its state into y_end, its time, and the status after it. */
static saltus_status end_at_event(saltusi_adaptive* w, const saltusi_found* f, double* length) {
  double attempted = w->h;
  double theta = f->theta;
  double s = theta * attempted;
  double origin = f->origin * attempted;
  saltus_status status = SALTUS_OK;
  w->counts.events++;
  bool short_ = s <= 2.0 * DBL_EPSILON * fmax(1.0, fabs(w->t));
  bool located =
      f->kind == SALTUSI_FOUND_HIT || (f->kind == SALTUSI_FOUND_STOP && w->tangents[f->key] == 1);
  if (short_) {
    s = 0.0;
    memcpy(w->y_end, w->y0, (size_t)w->ny * sizeof(double));
  } else if (theta >= 1.0) {
    memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  } else if (w->ops->restep && located) {
    status = step_onto(w, f, &s);
    origin = s;
  } else {
    w->ops->dense(&w->motion, theta, 0, w->ny, w->y_end);
  }
  double t = w->t + s;
  add_impulses(w);
  if (status == SALTUS_OK) {
    status = saltusi_mode_project(w, t, w->y_end);
  }
  if (status == SALTUS_OK) {
    status = follow_flights(w, t, w->y_end, s, f);
  }
  if (status == SALTUS_OK) {
    status = saltusi_adaptive_transition(w, t, w->t + origin, w->y_end, f);
  }
  if (status == SALTUS_OK) {
    status = cap_step(w, t, w->y_end);
  }
  *length = s;
  return status;
}

static void note_speed(saltusi_adaptive* w, const double* y) {
  w->memory->v_max = fmax(w->memory->v_max, saltusi_max_abs(w->nv, saltusi_v_of(w, y)));
}

/* An attempt whose error is accepted, with the proposal for the next step. */
static saltus_status attempt_until_accepted(saltusi_adaptive* w, double limit, double* proposal) {
  saltusi_adaptive_memory* m = w->memory;
  double most = w->settings.h_max > 0.0 ? w->settings.h_max : INFINITY;
  double least = 4.0 * DBL_EPSILON * fmax(1.0, fabs(w->t));
  for (int k = 0; k < ATTEMPTS_MAX; k++) {
    double h = fmax(fmin(fmin(m->h, most), fmin(m->cap, limit)), fmin(least, limit));
    double error = INFINITY;
    w->eval->work.steps++;
    saltus_status status = w->ops->attempt(w, h, &error);
    if (status < SALTUS_OK) {
      return status;
    }
    bool wild = status == SALTUS_OK && isnan(error);
    error = status == SALTUS_OK && !wild ? error : 1e9;
    double exponent = -1.0 / w->ops->order;
    if (error > 1.0) {
      w->counts.rejections++;
      if (h <= least) {
        return status > SALTUS_OK ? status : wild ? SALTUS_RETRY_NAN : SALTUS_RETRY_SMALLER;
      }
      m->h = h * fmax(0.2, 0.9 * pow(error, exponent));
      m->rejected = 1.0;
      continue;
    }
    double factor = fmin(5.0, fmax(0.2, 0.9 * pow(fmax(error, 1e-10), exponent)));
    factor = m->rejected != 0.0 ? fmin(factor, 1.0) : factor;
    m->rejected = 0.0;
    *proposal = h * factor;
    if (h < 0.9 * m->h && factor >= 1.0) { /* cut short by an event or the end */
      *proposal = fmax(*proposal, m->h);
    }
    w->error = error;
    w->limit = saltusi_adaptive_limit_of(w, h, fmin(limit, most), limit <= most, factor);
    return SALTUS_OK;
  }
  return SALTUS_RETRY_SMALLER;
}

/* One accepted attempt and what ends it; *length may be zero at an event. */
static saltus_status advance(saltusi_adaptive* w, double limit, double* length) {
  saltusi_adaptive_memory* m = w->memory;
  double proposal = 0.0;
  saltus_status status = attempt_until_accepted(w, limit, &proposal);
  if (status != SALTUS_OK) {
    return status;
  }
  w->counts.steps++;
  double h = w->h;
  status = w->ops->prepare(w);
  w->found_count = 0;
  if (status == SALTUS_OK && w->nc > 0) {
    status = saltusi_find_events(w);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  m->rate_valid = 0.0;
  review_method(w);
  if (w->found_count > 0) {
    const saltusi_found first = w->found[0];
    w->limit = SALTUS_LIMIT_EVENT;
    m->h = w->error < 1.0 ? fmax(proposal, h) : h;
    return end_at_event(w, &first, length);
  }
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  add_impulses(w);
  bool held = w->nj > 0;
  for (int key = 0; key < w->nc; key++) {
    held = held || saltusi_mode_pressed(w, key);
    w->contact[key].fresh_slip = 0.0;
  }
  if (held) {
    status = saltusi_mode_project(w, w->t + h, w->y_end);
  } else {
    memcpy(w->rate0, w->rate1, (size_t)w->ny * sizeof(double));
    m->rate_valid = 1.0;
  }
  if (status == SALTUS_OK) {
    status = follow_flights(w, w->t + h, w->y_end, h, NULL);
  }
  m->h = proposal;
  m->cap = INFINITY;
  *length = h;
  return status;
}

/* The rate and the tolerances of the impulses at the start of an attempt. */
static saltus_status refresh(saltusi_adaptive* w) {
  saltus_status status = SALTUS_OK;
  if (w->memory->rate_valid == 0.0) {
    status = saltusi_mode_rate(w, w->t, w->y0, w->rate0);
    w->memory->rate_valid = 1.0;
  }
  if (status == SALTUS_OK && !isfinite(saltusi_max_abs(w->ny, w->rate0))) {
    status = SALTUS_RETRY_NAN;
  }
  note_slips(w);
  return status == SALTUS_OK ? saltusi_mode_impulse_scale(w, w->t, w->y0) : status;
}

static void begin_report(saltusi_adaptive* w) {
  memset(w->lasting, 0, (size_t)w->nl * sizeof(double));
  memset(w->impacts, 0, (size_t)w->nl * sizeof(double));
  memset(w->impacts_start, 0, (size_t)w->nl * sizeof(double));
  memset(w->joint_lasting, 0, (size_t)w->nj * sizeof(double));
  memset(w->hit, 0, (size_t)w->nc * sizeof(bool));
  memset(w->u_impact, 0, 2 * (size_t)w->nc * sizeof(double));
  w->counts.residual_velocity = 0.0;
  w->counts.residual_impulse = 0.0;
  w->jump_tau = 0.0;
  w->error = 0.0;
}

/* A jump over an accumulation that has been taken. */
static saltus_status end_of_jump(saltusi_adaptive* w, double tau) {
  memcpy(w->y_end, w->y1, (size_t)w->ny * sizeof(double));
  add_impulses(w);
  w->memory->rate_valid = 0.0;
  w->memory->cap = INFINITY;
  w->limit = SALTUS_LIMIT_EVENT;
  w->counts.steps++;
  return saltusi_mode_project(w, w->t + tau, w->y_end);
}

static void take_state(saltusi_adaptive* w, const double* y) {
  memcpy(w->y0, y, (size_t)(w->nq + w->nv) * sizeof(double));
  memset(w->y0 + w->nq + w->nv, 0, (size_t)(w->nl + w->nj) * sizeof(double));
}

saltus_status saltusi_adaptive_step(saltusi_adaptive* w, double* memory, double limit,
                                    const double* q, const double* v, double* q1, double* v1) {
  open_memory(w, memory);
  memcpy(w->y0, q, (size_t)w->nq * sizeof(double));
  memcpy(w->y0 + w->nq, v, (size_t)w->nv * sizeof(double));
  memset(w->y0 + w->nq + w->nv, 0, (size_t)(w->nl + w->nj) * sizeof(double));
  begin_report(w);
  saltus_status status = read_laws(w, w->t, w->y0);
  read_tolerances(w);
  if (status == SALTUS_OK && w->memory->started == 0.0) {
    status = start(w, limit);
  }
  w->ops = saltusi_adaptive_ops_of(w->memory->method);
  w->memory->method_used = w->memory->method;
  double length = 0.0;
  for (int k = 0; status == SALTUS_OK && length == 0.0; k++) {
    if (k == IDLE_MAX) {
      saltusi_log(w->log, SALTUS_LEVEL_ERROR,
                  "adaptive: %d events in a row at t = %.17g s without progress", IDLE_MAX, w->t);
      return SALTUS_RETRY_SMALLER;
    }
    if (k > 0) {
      take_state(w, w->y_end);
    }
    memcpy(w->impacts_start, w->impacts, (size_t)w->nl * sizeof(double));
    status = refresh(w);
    prefer_implicit(w);
    bool jumped = false;
    if (status == SALTUS_OK && w->memory->zeno >= 0.0) {
      status = saltusi_adaptive_jump(w, limit, &jumped, &length);
    }
    if (status == SALTUS_OK && jumped) {
      status = end_of_jump(w, length);
    } else if (status == SALTUS_OK) {
      status = advance(w, limit, &length);
    }
  }
  if (status == SALTUS_OK) {
    note_speed(w, w->y_end);
    memcpy(q1, w->y_end, (size_t)w->nq * sizeof(double));
    memcpy(v1, w->y_end + w->nq, (size_t)w->nv * sizeof(double));
    w->step_h = w->h;
    w->step_length = length;
  }
  return status;
}
