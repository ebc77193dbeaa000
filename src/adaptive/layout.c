/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout.c - memory of the integrator: what it carries from step to step, and room to work in.
 */
#include "adaptive/adaptive.h"

/* Largest system that the implicit method treats with dense matrices. */
enum { IMPLICIT_MAX = 200 };

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

void saltusi_adaptive_open(saltusi_adaptive* w, double* memory) {
  w->memory = (saltusi_adaptive_memory*)(void*)memory;
  memory += SALTUSI_ADAPTIVE_HEAD;
  w->contact = (saltusi_contact_memory*)(void*)memory;
  memory += (size_t)w->nc * SALTUSI_ADAPTIVE_CONTACT;
  w->rate0 = memory;
  w->J = memory + w->ny;
}

static void layout_factor(saltusi_dependent* d, int n, saltus_arena* arena) {
  d->LU = SALTUS_PUSH2(arena, double, n, n);
  d->pivot = SALTUS_PUSH(arena, int, 2 * n);
  d->scale = SALTUS_PUSH(arena, double, n);
  d->gram = SALTUS_PUSH2(arena, double, n, n);
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
  w->perturbed = SALTUS_PUSH(arena, bool, w->nc);
  w->perturbation = SALTUS_PUSH(arena, double, 2 * w->nc);
  w->force = SALTUS_PUSH(arena, double, w->rows);
  w->free_acc = SALTUS_PUSH(arena, double, w->nv);
  w->direction = SALTUS_PUSH(arena, double, 2 * w->nc);
  w->joint_X = SALTUS_PUSH2(arena, double, w->nj, w->nv);
  w->joint_W = SALTUS_PUSH2(arena, double, w->nj, w->nj);
  layout_factor(&w->joint_factor, w->nj, arena);
  layout_factor(&w->held_factor, w->rows, arena);
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
  w->v_struck = SALTUS_PUSH(arena, double, w->nv);
  w->v_impact = SALTUS_PUSH(arena, double, w->nv);
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
  w->node_rate = SALTUS_PUSH2(arena, double, SALTUSI_NODES, w->nl);
  const saltus_enclosure_ops* ops = w->sys_copy.ops->enclosure;
  int switches = ops != NULL && ops->switches != NULL ? ops->switches(w->sys_copy.self) : 0;
  w->found = SALTUS_PUSH(arena, saltusi_found, 10 * nc + switches);
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
  w->stay_gap = SALTUS_PUSH(arena, double, nc);
  w->stay_slip = SALTUS_PUSH(arena, double, nc);
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

static void layout_course(saltusi_adaptive* w, saltus_arena* arena) {
  const saltus_system* sys = &w->sys_copy;
  const saltus_enclosure_ops* ops = sys->ops->enclosure;
  saltusi_courses* c = &w->course;
  c->power = SALTUS_PUSH2(arena, double, SALTUSI_POWERS, w->nq + w->nv);
  int jet = SALTUS_JET_ORDER + 1;
  for (int i = 0; ops != NULL && i < SALTUSI_PIECES; i++) {
    c->piece[i].t = SALTUS_PUSH(arena, saltus_interval, jet);
    c->piece[i].q = SALTUS_PUSH2(arena, saltus_interval, w->nq, jet);
    c->piece[i].v = SALTUS_PUSH2(arena, saltus_interval, w->nv, jet);
  }
  c->scratch = SALTUS_PUSH(arena, char, ops != NULL ? (int)ops->bytes(sys->self) : 0);
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
  w->e_part = 1.0;
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
  layout_course(w, arena);
}
