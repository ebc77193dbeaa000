/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * decide_rolling.c - decisions with friction beyond a cone of slip: rolling and drilling friction beside it, the
 * spin of a patch, dry friction with a given limit. Each is a ball of the problems of saltus/cone.h:
 *
 *   contacts         0 <= u_N  perp  l_N >= 0,   |l_k| <= mu_k l_N against u_k for each ball at rest
 *   balls that move  l_k = -mu_k l_N d_k, a part of the column of the normal
 *   dry friction     |l| <= c against u, or l = -c d where it moves
 *
 * The ball of a patch is its ellipsoid, which contains its friction set: whether it sticks is tested afterwards
 * (decide.c).
 */
#include "adaptive/mode/decide.h"
#include "adaptive/mode/friction_mode.h"
#include "math/matrix.h"

#include <assert.h>
#include <string.h>

/* Target of the normalised residual, and the accepted one. */
static const double sharp = 1e-13;
static const double enough = 1e-9;

void saltusi_decide_balls_layout(saltusi_decision* d, const saltusi_layout_tables* o,
                                 saltus_arena* arena) {
  assert(d != NULL && o != NULL && arena != NULL);
  d->balls = NULL;
  if (!o->balls) {
    return;
  }
  int most = d->lcp_max;
  saltusi_ball_workspace counted = {0};
  saltusi_ball_workspace* b = SALTUS_PUSH(arena, saltusi_ball_workspace, 1);
  d->balls = b;
  b = b != NULL ? b : &counted;
  saltusi_balls_layout(&b->solver, most, most, true, arena);
  b->cone = SALTUS_PUSH(arena, saltus_cone, most);
  b->offset = SALTUS_PUSH(arena, int, most + 1);
  b->unit = SALTUS_PUSH(arena, int, most);
  b->slip = SALTUS_PUSH(arena, double, most);
  b->force = SALTUS_PUSH(arena, double, most);
}

bool saltusi_has_balls(const saltusi_decision* d, const int* set, int count) {
  assert(d != NULL && count >= 0);
  for (int i = 0; d->balls != NULL && i < count; i++) {
    if (saltusi_is_dry(d->o, set[i])) {
      return true;
    }
  }
  return saltusi_has_balls_of_contacts(d, set, count);
}

bool saltusi_has_balls_of_contacts(const saltusi_decision* d, const int* set, int count) {
  assert(d != NULL && count >= 0);
  for (int i = 0; d->balls != NULL && i < count; i++) {
    if (saltusi_friction_mode_is_beside(d->o, set[i])) {
      return true;
    }
    for (int k = 0; k < SALTUSI_GRIPS; k++) {
      if (saltusi_friction_mode_of(d->o, set[i], k) >= 0) {
        return true;
      }
    }
  }
  return false;
}

static bool rests(const saltusi_decision* d, int key) {
  return d->mu[key] > 0.0 && d->sense[key] == 0.0;
}

/* A row of the problem. */
static void put_row(saltusi_decision* d, const saltusi_problem* p, int row, double force,
                    double slip, int n) {
  double* x = d->lcp_X + (size_t)n * (size_t)p->in.k;
  d->lcp_kind[n] = row;
  d->balls->force[n] = force;
  d->balls->slip[n] = slip;
  d->lcp_q[n] = slip * p->u_free[row - d->o->nj];
  memset(x, 0, (size_t)p->in.k * sizeof(double));
  saltusi_island_add_row(&p->in, &d->mode->row, row, force, x);
}

/* Rows of a ball at rest; a moving one is a part of the column x of the normal. */
static int put_ball(saltusi_decision* d, const saltusi_problem* p, int key, double* x,
                    saltus_cone* cone, int n) {
  int first = d->o->nj + d->o->base[key] + 1;
  if (!(d->mu[key] > 0.0)) {
    return n;
  }
  if (!rests(d, key)) {
    for (int k = 0; k < d->o->tangents[key]; k++) {
      saltusi_island_add_row(&p->in, &d->mode->row, first + k,
                             -d->mu[key] * saltusi_prescribed(d, key, k), x);
    }
    return n;
  }
  double m;
  double s;
  bool axes = saltusi_friction_mode_axes(d->o, key, &m, &s);
  cone->rows[cone->balls] = d->o->tangents[key];
  cone->mu[cone->balls++] = d->mu[key];
  for (int k = 0; k < d->o->tangents[key]; k++, n++) {
    bool across = axes && k == 1;
    put_row(d, p, first + k, across ? m : 1.0, across ? s * s / m : 1.0, n);
  }
  return n;
}

/* Moving dry friction is given: it changes the free values of the others. */
static void put_known(saltusi_decision* d, const saltusi_problem* p, int key, double limit) {
  int row = d->o->nj + d->o->base[key] + 1;
  double force = -limit * saltusi_prescribed(d, key, 0);
  saltusi_reduced_response(d->mode, p->island, row, d->x);
  saltusi_island_scatter(&p->in, force, d->x, d->change);
  for (int i = 0; i < d->balls->offset[d->balls->units]; i++) {
    d->lcp_q[i] +=
        d->balls->slip[i] * force * saltusi_island_dot(&p->in, &d->mode->row, d->lcp_kind[i], d->x);
  }
  d->impulse[d->o->base[key]] = limit;
  d->impulse[d->o->base[key] + 1] = force;
}

/* Blocks, rows, columns P H and free values. Returns the number of rows. */
static int make_units(saltusi_decision* d, const saltusi_problem* p) {
  saltusi_ball_workspace* b = d->balls;
  int n = 0;
  b->units = 0;
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    saltus_cone* cone = &b->cone[b->units];
    *cone = (saltus_cone){.dry = saltusi_is_dry(d->o, key)};
    if (cone->dry && !rests(d, key)) {
      continue;
    }
    int first = n;
    b->offset[b->units] = n;
    b->unit[b->units++] = key;
    double* x = d->lcp_X + (size_t)n * (size_t)p->in.k;
    if (!cone->dry) {
      put_row(d, p, d->o->nj + d->o->base[key], 1.0, 1.0, n++);
    }
    n = put_ball(d, p, key, x, cone, n);
    cone->held[0] = cone->dry ? p->limit * saltusi_dry_limit(d->mode, key) : 0.0;
    for (int k = 0; k < SALTUSI_GRIPS && !cone->dry; k++) {
      int grip = saltusi_friction_mode_of(d->o, key, k);
      n = grip >= 0 ? put_ball(d, p, grip, x, cone, n) : n;
    }
    for (int k = first; k < n; k++) {
      saltusi_reduced_inverse(d->mode, p->island, d->lcp_X + (size_t)k * (size_t)p->in.k);
    }
  }
  b->offset[b->units] = n;
  return n;
}

/* Forces of one ball and its slip; l_N: of its contact. */
static int write_ball(saltusi_decision* d, const saltusi_problem* p, int key, double l_N, int at) {
  double* l = d->impulse + d->o->base[key] + 1;
  double slip[SALTUSI_SLIPS] = {0.0};
  int tangents = d->o->tangents[key];
  if (!(d->mu[key] > 0.0)) {
    return at;
  }
  if (!rests(d, key)) {
    for (int k = 0; k < tangents; k++) {
      l[k] = -d->mu[key] * saltusi_prescribed(d, key, k) * l_N;
    }
    return at;
  }
  for (int k = 0; k < tangents; k++, at++) {
    l[k] = d->balls->force[at] * d->lcp_z[at];
    slip[k] = d->lcp_q[at] / d->balls->slip[at] +
              saltusi_island_dot(&p->in, &d->mode->row, d->lcp_kind[at], d->x);
  }
  d->slack[key] = saltusi_length(tangents, slip);
  return at;
}

static void write_answer(saltusi_decision* d, const saltusi_problem* p, int n) {
  const saltusi_ball_workspace* b = d->balls;
  memset(d->x, 0, (size_t)p->in.k * sizeof(double));
  for (int i = 0; i < n; i++) {
    saltusi_add_scaled(p->in.k, d->lcp_z[i], d->lcp_X + (size_t)i * (size_t)p->in.k, d->x);
  }
  saltusi_island_scatter(&p->in, 1.0, d->x, d->change);
  for (int i = 0; i < b->units; i++) {
    int key = b->unit[i];
    int at = b->offset[i];
    double* l = d->impulse + d->o->base[key];
    bool dry = b->cone[i].dry;
    l[0] = dry ? b->cone[i].held[0] : d->lcp_z[at];
    at = write_ball(d, p, key, l[0], dry ? at : at + 1);
    for (int k = 0; k < SALTUSI_GRIPS && !dry; k++) {
      int grip = saltusi_friction_mode_of(d->o, key, k);
      at = grip >= 0 ? write_ball(d, p, grip, l[0], at) : at;
    }
  }
}

saltus_status saltusi_decide_balls(saltusi_decision* d, const saltusi_problem* p) {
  assert(d != NULL && p != NULL && d->balls != NULL);
  saltusi_ball_workspace* b = d->balls;
  int rows = 0;
  for (int i = 0; i < p->count; i++) {
    rows += 1 + d->o->tangents[p->set[i]];
    for (int k = 0; k < SALTUSI_GRIPS; k++) {
      int grip = saltusi_friction_mode_of(d->o, p->set[i], k);
      rows += grip >= 0 ? d->o->tangents[grip] : 0;
    }
  }
  saltus_status status = saltusi_decision_workspace(d, &p->in, rows);
  if (status != SALTUS_OK) {
    return status;
  }
  int n = make_units(d, p);
  const saltusi_row_span span = saltusi_island_span(&p->in);
  saltusi_operator_gram(&d->mode->row, n, d->lcp_kind, &span, d->lcp_X, d->lcp_M);
  for (int i = 0; i < n; i++) {
    for (int j = 0; b->slip[i] != 1.0 && j < n; j++) {
      d->lcp_M[(size_t)i * (size_t)n + (size_t)j] *= b->slip[i];
    }
  }
  for (int i = 0; i < p->count; i++) {
    int key = p->set[i];
    if (saltusi_is_dry(d->o, key) && !rests(d, key)) {
      put_known(d, p, key, p->limit * saltusi_dry_limit(d->mode, key));
    }
  }
  d->mode->counts->decisions++;
  d->mode->eval->work.contact_solves++;
  memset(d->lcp_z, 0, (size_t)n * sizeof(double)); /* decisions have no warm start */
  const saltus_cone_problem problem = {.units = b->units,
                                       .rows = n,
                                       .cone = b->cone,
                                       .offset = b->offset,
                                       .W = d->lcp_M,
                                       .q = d->lcp_q};
  double residual = b->units > 0 ? saltusi_balls_solve(&b->solver, &problem, sharp, d->lcp_z) : 0.0;
  d->mode->eval->work.contact_iterations += b->solver.iterations;
  saltusi_decision_tell(d, p, b->solver.iterations);
  if (!(residual <= enough)) {
    return SALTUS_RETRY_SMALLER;
  }
  write_answer(d, p, n);
  return SALTUS_OK;
}
