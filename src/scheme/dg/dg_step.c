/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * dg_step.c - one time-discontinuous Galerkin step: see dg.h. Each iteration
 *
 *   V, Q from the accelerations; fresh contacts at Q_M; M, F, G at the stages
 *   accelerations without contact; stage law for r; impact law for p
 *
 * until accelerations and impulses no longer change.
 */
#include "math/matrix.h"
#include "scheme/dg/dg.h"
#include "system/frictions.h"

#include <assert.h>
#include <string.h>

/* Iterations after which the set of closing contacts is fixed, so that a contact that closes or not by rounding does
 * not prolong the iteration. */
enum { FRESH_SWEEPS = 20 };

/* In the automatic iteration, a reduction worse than this switches to Newton. */
static const double slow = 0.3;
static const double stagnant = 1e-10;

/* Nearly linearly dependent contacts are solved to about 1e-9, the residual tolerance of the
 * complementarity solvers. After many iterations no better accuracy is possible. */
static const double tired = 1e-8;
enum { TIRED_SWEEPS = 40 };

/* Position rows are divided by h^2, and stage forces follow from them with factors of up to some
 * hundred. This bounds the rounding error of a position in h times a force. */
static const double position_rounding = 1e-13;

static int at_most(int count, int most) {
  return count < most ? count : most;
}

/* Capacity of dense problems, which grows on demand. */
static void choose_sizes(saltusi_dg* w, const saltusi_eval* eval) {
  const saltus_dims* d = &eval->sys.dims;
  w->row_max = d->nj + d->nc * (1 + saltusi_friction_tangents(&eval->sys));
  w->item_max = d->nj + d->nc;
  size_t all = (size_t)w->nodes * (size_t)w->row_max;
  size_t room = saltusi_capacity_of(&eval->room, SALTUSI_CAPACITY_UNKNOWNS, SALTUSI_DG_LARGE);
  w->law_max = (int)(room < all ? room : all);
  w->dense_rows = at_most(w->row_max, (w->law_max + w->nodes - 1) / w->nodes);
  w->law_max = w->nodes * w->dense_rows;
  w->has_op = d->row_width > 0 && all > SALTUSI_DG_LARGE;
}

/* Arrays for many rows: dg_large.c, dg_coupled.c. */
static void layout_large(saltusi_dg* w, const saltusi_eval* eval, saltus_arena* arena) {
  const saltus_dims* d = &eval->sys.dims;
  if (!w->has_op) {
    return;
  }
  const saltusi_demand demand = {
      .friction = saltusi_friction_tangents(&eval->sys) > 0, .two_sided = true, .own_law = true};
  saltusi_operator_layout(&w->op, eval, &demand, arena);
  w->pushed = SALTUS_PUSH2(arena, double, w->nodes, d->nv);
  w->sums = SALTUS_PUSH2(arena, double, 2, d->nv);
  w->island_items = SALTUS_PUSH2(arena, saltusi_planar_item, w->nodes, w->item_max);
  w->row_island = SALTUS_PUSH(arena, int, w->row_max);
  w->island_at = SALTUS_PUSH(arena, int, w->row_max + 1);
  w->sorted = SALTUS_PUSH(arena, int, w->item_max);
  w->chosen = SALTUS_PUSH(arena, int, d->nj);
  w->joint_u = SALTUS_PUSH2(arena, double, w->nodes, d->nj);
  w->joint_b = SALTUS_PUSH2(arena, double, w->nodes, d->nj);
  w->joint_r = SALTUS_PUSH2(arena, double, w->nodes, d->nj);
  w->reached = SALTUS_PUSH(arena, int, d->nv);
  w->reached_values = SALTUS_PUSH(arena, double, d->nv);
}

static void layout_laws(saltusi_dg* w, const saltus_system* sys, saltus_arena* arena) {
  const saltus_dims* d = &sys->dims;
  int law_max = w->law_max;
  int joints = at_most(w->nodes * d->nj, law_max);
  /* contacts with a force at the end are bilateral in the correction of the end velocity */
  int bilateral = joints > w->dense_rows ? joints : w->dense_rows;
  saltusi_planar_layout(&w->planar, law_max, w->has_op ? law_max : bilateral,
                        saltusi_friction_tangents(sys), arena);
  w->law_items = SALTUS_PUSH2(arena, saltusi_planar_item, w->nodes, w->item_max);
  w->D = SALTUS_PUSH2(arena, double, law_max, law_max);
  w->rhs = SALTUS_PUSH(arena, double, law_max);
  w->z = SALTUS_PUSH(arena, double, law_max);
  w->W = SALTUS_PUSH2(arena, double, w->dense_rows, w->dense_rows);
  w->W_rhs = SALTUS_PUSH(arena, double, w->row_max);
  w->W_z = SALTUS_PUSH(arena, double, w->row_max);
}

void saltusi_dg_layout(saltusi_dg* w, const saltus_dg_options* o, bool plus,
                       const saltusi_eval* eval, saltus_arena* arena) {
  assert(w != NULL && o != NULL && eval != NULL && arena != NULL);
  const saltus_system* sys = &eval->sys;
  const saltus_dims* d = &sys->dims;
  w->nodes = w->nodes_most = o->degree + 1;
  w->closure = o->closure;
  w->plus = plus;
  if (o->degree == 0) {
    saltusi_moreau_layout(&w->moreau, SALTUS_WARM_START_NO, eval, arena);
    return;
  }
  const int first = o->degree_tol > 0.0 ? 1 : o->degree;
  w->tables = SALTUS_PUSH(arena, saltusi_dg_tableau, o->degree + 1 - first);
  for (int degree = first; w->tables != NULL && degree <= o->degree; degree++) {
    saltusi_dg_tableau_make(degree, plus, &w->tables[degree - first]);
  }
  if (w->tables != NULL) {
    saltusi_dg_set_degree(w, o->degree);
  }
  choose_sizes(w, eval);
  int n = w->nodes;
  w->v_start = SALTUS_PUSH(arena, double, d->nv);
  w->start = SALTUS_PUSH(arena, saltusi_dg_start, d->nc);
  w->start_joint = SALTUS_PUSH(arena, double, d->nj);
  w->start_gap = SALTUS_PUSH(arena, double, d->nc);
  saltusi_contact_list_layout(&w->list, d, arena);
  w->closed = SALTUS_PUSH(arena, bool, d->nc);
  w->item_of = SALTUS_PUSH(arena, int, d->nc);
  w->items = SALTUS_PUSH(arena, saltusi_dg_item, w->item_max);
  w->masses = (sys->traits & SALTUS_CONSTANT_MASS) != 0 ? 1 : n;
  w->mass = SALTUS_PUSH(arena, saltusi_linear, w->masses);
  for (int l = 0; l < w->masses; l++) { /* no array exists while sizes are counted */
    saltusi_linear counted = {0};
    saltusi_linear_layout(w->mass != NULL ? &w->mass[l] : &counted, sys, arena);
  }
  saltusi_rows_layout(&w->at, d, n * w->row_max, true, arena);
  w->Q = SALTUS_PUSH2(arena, double, n, d->nq);
  w->V = SALTUS_PUSH2(arena, double, n, d->nv);
  w->rates = saltusi_has_maps(sys) ? SALTUS_PUSH2(arena, double, n, d->nq) : w->V;
  w->rate_next = SALTUS_PUSH(arena, double, saltusi_has_maps(sys) ? d->nq : 0);
  w->a = SALTUS_PUSH2(arena, double, n, d->nv);
  w->a_next = SALTUS_PUSH2(arena, double, n, d->nv);
  w->force = SALTUS_PUSH2(arena, double, n, d->nv);
  w->gap = SALTUS_PUSH2(arena, double, n, w->item_max);
  w->joint_gap = SALTUS_PUSH(arena, double, d->nj);
  w->response = SALTUS_PUSH2(arena, double, n * w->dense_rows, d->nv);
  w->r = SALTUS_PUSH2(arena, double, n, w->row_max);
  w->p = SALTUS_PUSH(arena, double, w->row_max);
  w->jump = SALTUS_PUSH(arena, double, d->nv);
  w->v_end = SALTUS_PUSH(arena, double, d->nv);
  w->change = SALTUS_PUSH(arena, double, d->nv);
  layout_laws(w, sys, arena);
  layout_large(w, eval, arena);
  saltusi_dg_newton_layout(w, sys, arena);
}

size_t saltusi_dg_memory(const saltus_system* sys) {
  assert(sys != NULL);
  return (size_t)sys->dims.nc + SALTUSI_DG_PLAIN;
}

/* The acceleration at the start is the initial guess for all stages. */
static saltus_status guess(saltusi_dg* w, const saltusi_step* s, const double* v) {
  int nv = s->eval->sys.dims.nv;
  const saltus_point at = saltusi_at(s->eval, s->t, s->q0, v);
  saltus_status status =
      saltusi_linear_assemble(s->eval, saltusi_dg_mass(w, 0), &at, 1.0, 0.0, 0.0);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_force(s->eval, &at, w->a);
  saltusi_linear_solve(s->eval, saltusi_dg_mass(w, 0), w->a);
  for (int k = 1; k < w->nodes; k++) {
    memcpy(w->a + (size_t)k * (size_t)nv, w->a, (size_t)nv * sizeof(double));
  }
  for (int k = 0; k < w->nodes && saltusi_has_maps(&s->eval->sys); k++) {
    int nq = s->eval->sys.dims.nq;
    saltusi_rate(&s->eval->sys, s->q0, v, w->rates + (size_t)k * (size_t)nq);
  }
  memset(w->jump, 0, (size_t)nv * sizeof(double));
  memset(w->p, 0, (size_t)w->row_max * sizeof(double));
  return SALTUS_OK;
}

static saltus_status sweep(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s,
                           int number, double* change) {
  int nv = s->eval->sys.dims.nv;
  w->residual = 0.0;
  saltusi_dg_combine(w, s);
  saltus_status status = number < FRESH_SWEEPS ? saltusi_dg_touch(w, o, s) : SALTUS_OK;
  if (status == SALTUS_OK) {
    status = saltusi_dg_evaluate(w, s);
  }
  if (status == SALTUS_OK) {
    status = saltusi_dg_free(w, s);
  }
  if (status == SALTUS_OK) {
    w->size = fmax(w->size, s->h * saltusi_max_abs(w->nodes * nv, w->a_next));
    status = saltusi_dg_stage_law(w, s);
  }
  if (status == SALTUS_OK) {
    status = saltusi_dg_impact(w, s);
  }
  if (status != SALTUS_OK) {
    return status;
  }
  double largest = 0.0;
  for (int i = 0; i < w->nodes * nv; i++) {
    double moved = fabs(w->a_next[i] - w->a[i]);
    largest = !(moved <= largest) ? moved : largest; /* NaN wins */
    w->a[i] = w->a_next[i];
  }
  double jumped = 0.0;
  for (int i = 0; i < nv; i++) {
    double moved = fabs(w->change[i] - w->jump[i]);
    jumped = !(moved <= jumped) ? moved : jumped;
    w->jump[i] = w->change[i];
  }
  *change = s->h * largest + jumped;
  return SALTUS_OK;
}

static bool wants_newton(const saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  bool remembered = s->memory0[s->eval->sys.dims.nc + SALTUSI_DG_STIFF] != 0.0;
  return w->newton.available &&
         (o->iteration == SALTUS_DG_NEWTON || (o->iteration == SALTUS_DG_AUTOMATIC && remembered));
}

static saltus_status iterate(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  int nv = s->eval->sys.dims.nv;
  w->newton.active = false;
  w->fresh_start = true;
  saltus_status status = wants_newton(w, o, s) ? saltusi_dg_newton_prepare(w, s) : SALTUS_OK;
  double before = INFINITY;
  int since = 0; /* iterations of the method in use */
  for (int k = 0; k < o->iterations_max && status == SALTUS_OK; k++) {
    double change = 0.0;
    status = sweep(w, o, s, since, &change);
    s->report->newton_iterations = k + 1;
    if (status != SALTUS_OK) {
      return status;
    }
    double size = fmax(w->size, saltusi_max_abs(w->nodes * nv, w->V));
    bool may_switch =
        o->iteration == SALTUS_DG_AUTOMATIC && w->newton.available && !w->newton.active;
    bool crawls = since > 0 && !(change <= slow * before) && !(change <= stagnant * size);
    if (may_switch && crawls) {
      status = guess(w, s, w->v_start);
      status = status == SALTUS_OK ? saltusi_dg_newton_prepare(w, s) : status;
      w->fresh_start = true;
      since = 0;
      before = INFINITY;
      continue;
    }
    if (!isfinite(change)) {
      return SALTUS_RETRY_NAN;
    }
    /* the last digits may fluctuate: an iteration without further reduction has converged as
     * well */
    double rounding = (since > TIRED_SWEEPS ? tired : stagnant) * size;
    if (w->closure == SALTUS_DG_POSITION) { /* rounding of positions, as a velocity */
      rounding += position_rounding * fmax(1.0, saltusi_max_abs(nv, s->q0)) / s->h;
    }
    if (change <= o->iteration_tol * size ||
        (since > 3 && change >= 0.5 * before && change <= rounding)) {
      return SALTUS_OK;
    }
    before = change;
    since++;
  }
  return status == SALTUS_OK ? SALTUS_RETRY_SMALLER : status;
}

/* Degree 0: velocities are constant inside a step. D1- takes them from its start, D1+ from its end:
 * Moreau and Jean's scheme with theta = 0 and 1, contacts detected at q + h v
 * (docs/theory/moreau-jean.md, 2.1). */
static saltus_status constant_step(saltusi_dg* w, const saltus_dg_options* o,
                                   const saltusi_step* s) {
  saltus_moreau_jean_options moreau = saltus_moreau_jean_options_default();
  moreau.theta = w->plus ? 1.0 : 0.0;
  moreau.gamma = 1.0;
  moreau.newton_tol = o->iteration_tol;
  moreau.newton_max = o->iterations_max;
  return w->moreau.take(&w->moreau, &moreau, s);
}

/* One trial of the step with the present degree. */
static saltus_status try_degree(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  const saltus_dims* d = &s->eval->sys.dims;
  w->newton.active = false;
  for (int k = 0; k < d->nc; k++) {
    w->closed[k] = s->memory0[k] != 0.0;
  }
  saltus_status status = guess(w, s, s->v0);
  if (status != SALTUS_OK) {
    return status;
  }
  w->size = fmax(saltusi_max_abs(d->nv, s->v0), s->h * saltusi_max_abs(d->nv, w->a));
  status = saltusi_dg_begin(w, o, s);
  memset(w->r, 0, (size_t)w->nodes * (size_t)w->row_max * sizeof(double));
  if (status == SALTUS_OK) {
    status = iterate(w, o, s);
  }
  s->eval->work.newton_iterations += s->report->newton_iterations;
  return status;
}

/* The step with the degree of the last one, or with more until the last modes are below the tolerance; of degree 1 if it
 * has an impact at its end. */
static saltus_status choose_degree(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s,
                                   int* next) {
  const double remembered = s->memory0[s->eval->sys.dims.nc + SALTUSI_DG_NEXT];
  int degree = remembered >= 1.0 && remembered <= o->degree ? (int)remembered : o->degree;
  while (true) {
    saltusi_dg_set_degree(w, degree);
    const saltus_status status = try_degree(w, o, s);
    if (status != SALTUS_OK) {
      return status;
    }
    const double tol = o->degree_tol * w->size;
    if (w->impulsive) {
      *next = degree > 1 ? degree : o->degree;
      if (degree == 1) {
        return SALTUS_OK;
      }
      degree = 1;
      saltusi_dg_set_degree(w, degree);
      return try_degree(w, o, s);
    }
    if (degree == o->degree || saltusi_dg_mode(w, s, degree) <= tol) {
      *next = saltusi_dg_enough(w, s, degree, 0.1 * tol);
      return SALTUS_OK;
    }
    degree++;
  }
}

saltus_status saltusi_dg_step(saltusi_dg* w, const saltus_dg_options* o, const saltusi_step* s) {
  assert(w != NULL && o != NULL && s != NULL);
  const saltus_dims* d = &s->eval->sys.dims;
  if (o->degree == 0) {
    memset(s->memory1, 0, saltusi_dg_memory(&s->eval->sys) * sizeof(double));
    saltus_status status = constant_step(w, o, s);
    if (status == SALTUS_OK) {
      saltusi_dg_estimate(w, s);
      saltusi_dg_keep(w, s);
    }
    return status;
  }
  int next = 0;
  saltus_status status = o->degree_tol > 0.0 ? choose_degree(w, o, s, &next) : try_degree(w, o, s);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_dg_combine(w, s);
  memcpy(s->q1, w->Q + (size_t)(w->nodes - 1) * (size_t)d->nq, (size_t)d->nq * sizeof(double));
  memcpy(s->v1, w->v_end, (size_t)d->nv * sizeof(double));
  saltusi_dg_finish(w, o, s);
  s->memory1[d->nc + SALTUSI_DG_NEXT] = next;
  saltusi_dg_estimate(w, s);
  saltusi_dg_keep(w, s);
  return SALTUS_OK;
}
