/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cone_products.c - products of balls by Newton's method on the function of Alart and Curnier (1991), with Gauss-Seidel
 * over the units where that does not converge.
 *
 *   normal   min(u_N, r_N / rho)
 *   ball     u_k                          inside:  y = r_k - rho u_k,  |y| <= R,  R = max(0, mu_k r_N + held_k)
 *            (r_k - R y / |y|) / rho      outside
 *
 * Zero means a solution; all entries are velocities.
 */
#include "solve/friction/cone_products.h"

#include "math/matrix.h"
#include "solve/friction/residual.h"

#include <assert.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

enum { D = SALTUS_CONE_ROWS };

int saltus_cone_rows(const saltus_cone* cone) {
  assert(cone != NULL);
  int rows = cone->dry ? 0 : 1;
  for (int k = 0; k < cone->balls; k++) {
    rows += cone->rows[k];
  }
  return rows;
}

/* 1 / mean diagonal of rows first .. first + count - 1 */
static double weight(int n, const double* W, int first, int count) {
  double sum = 0.0;
  for (int k = first; k < first + count; k++) {
    sum += W[(size_t)k * ((size_t)n + 1)];
  }
  return sum > 0.0 ? count / sum : 1.0;
}

static double norm(int n, const double* x) {
  return sqrt(saltusi_dot(n, x, x));
}

/* Data of phi of a unit: W its diagonal block with rows of length n, factor that of every rho. */
typedef struct unit_data {
  const saltus_cone* cone;
  int n;
  const double* W;
  double factor;
} unit_data;

/* phi of a unit and its derivatives [rows x D] with respect to its r and u; by_r NULL: no derivatives. */
typedef struct unit_out {
  double *phi, *by_r, *by_u;
} unit_out;

/* phi of a ball of radius R that slides in the direction y with |y| = size: (r - R y / size) / rho. slope: dR /
 * dr_N. */
static void slide_ball(int d, int at, double rho, double R, const double* y, double slope,
                       const unit_out* out) {
  double size2 = 0.0;
  for (int i = 0; i < d; i++) {
    size2 += y[i] * y[i];
  }
  const double size = sqrt(size2), part = R / size;
  for (int i = 0; i < d; i++) {
    double* by_r = out->by_r + (size_t)(at + i) * D;
    double* by_u = out->by_u + (size_t)(at + i) * D;
    if (slope > 0.0) {
      by_r[0] = -slope * y[i] / (size * rho);
    }
    for (int j = 0; j < d; j++) {
      const double one = i == j ? 1.0 : 0.0, turn = part * (one - y[i] * y[j] / size2);
      by_r[at + j] = (one - turn) / rho;
      by_u[at + j] = turn;
    }
  }
}

/* Ball k of a unit, whose rows start at `at`. */
static void ball_function(const unit_data* unit, int k, int at, const double* r, const double* u,
                          const unit_out* out) {
  const saltus_cone* cone = unit->cone;
  const int d = cone->rows[k];
  const double rho =
      unit->factor * weight(unit->n, unit->W + (size_t)at * ((size_t)unit->n + 1), 0, d);
  const double push = cone->dry || r[0] < 0.0 ? 0.0 : r[0], mu = cone->dry ? 0.0 : cone->mu[k];
  const double limit = mu * push + cone->held[k], R = limit > 0.0 ? limit : 0.0;
  double y[3];
  for (int i = 0; i < d; i++) {
    y[i] = r[at + i] - rho * u[at + i];
  }
  const double size = norm(d, y);
  const bool sticks = size <= R;
  for (int i = 0; i < d; i++) {
    out->phi[at + i] = sticks ? u[at + i] : (r[at + i] - R / size * y[i]) / rho;
    if (sticks && out->by_u != NULL) {
      out->by_u[(at + i) * D + at + i] = 1.0;
    }
  }
  if (!sticks && out->by_r != NULL) {
    slide_ball(d, at, rho, R, y, limit > 0.0 && push > 0.0 ? mu : 0.0, out);
  }
}

/* phi of one unit; r and u are its own. */
static void unit_function(const unit_data* unit, const double* r, const double* u,
                          const unit_out* out) {
  const saltus_cone* cone = unit->cone;
  const size_t entries = (size_t)saltus_cone_rows(cone) * D;
  if (out->by_r != NULL) {
    memset(out->by_r, 0, entries * sizeof(double));
    memset(out->by_u, 0, entries * sizeof(double));
  }
  if (!cone->dry) {
    const double rho = unit->factor * weight(unit->n, unit->W, 0, 1);
    const bool closed = r[0] - rho * u[0] > 0.0;
    out->phi[0] = closed ? u[0] : r[0] / rho;
    if (out->by_r != NULL) {
      *(closed ? out->by_u : out->by_r) = closed ? 1.0 : 1.0 / rho;
    }
  }
  for (int k = 0, at = cone->dry ? 0 : 1; k < cone->balls; at += cone->rows[k++]) {
    ball_function(unit, k, at, r, u, out);
  }
}

static void velocities(const saltus_cone_problem* p, const double* r, double* u) {
  for (int i = 0; i < p->rows; i++) {
    u[i] = p->q[i] + saltusi_dot(p->rows, p->W + (size_t)i * (size_t)p->rows, r);
  }
}

/* |phi| with u = W r + q */
static double evaluate(const saltusi_balls* w, const saltus_cone_problem* p, const double* r,
                       bool derive) {
  double *const u = w->u, *const phi = w->phi;
  velocities(p, r, u);
  for (int i = 0; i < p->units; i++) {
    const size_t at = (size_t)p->offset[i], n = (size_t)p->rows;
    const unit_data unit = {&p->cone[i], p->rows, p->W + at * (n + 1), w->factor};
    const unit_out out = {phi + at, derive ? w->by_r + at * D : NULL,
                          derive ? w->by_u + at * D : NULL};
    unit_function(&unit, r + at, u + at, &out);
  }
  return norm(p->rows, phi);
}

/* J = by_r + by_u W */
static void jacobian(const saltus_cone_problem* p, const double* by_r, const double* by_u,
                     double* J) {
  const size_t n = (size_t)p->rows;
  for (int i = 0; i < p->units; i++) {
    const int at = p->offset[i], rows = p->offset[i + 1] - at;
    for (int a = at; a < at + rows; a++) {
      double* out = J + (size_t)a * n;
      memset(out, 0, n * sizeof(double));
      for (int b = 0; b < rows; b++) {
        const double s = by_u[a * D + b];
        if (s != 0.0) {
          saltusi_add_scaled(p->rows, s, p->W + (size_t)(at + b) * n, out);
        }
      }
      for (int b = 0; b < rows; b++) {
        out[at + b] += by_r[a * D + b];
      }
    }
  }
}

/* Newton's method with a line search on |phi|; returns |phi| of r, the best point. */
static double newton(saltusi_balls* w, const saltus_cone_problem* p, double tol, int most,
                     double* r) {
  enum { HALVINGS = 12 };
  const double least = 1e-14;
  double size = evaluate(w, p, r, true);
  for (int k = 0; k < most && size > tol; k++) {
    jacobian(p, w->by_r, w->by_u, w->J);
    if (!saltusi_lu_factor(p->rows, w->J, w->pivot, least)) {
      break;
    }
    saltusi_lu_solve(p->rows, w->J, w->pivot, w->phi);
    double step = 1.0, found = INFINITY;
    double* const dr = w->best; /* free here */
    memcpy(dr, w->phi, (size_t)p->rows * sizeof(double));
    for (int h = 0; h < HALVINGS; h++, step *= 0.5) {
      for (int i = 0; i < p->rows; i++) {
        w->next[i] = r[i] - step * dr[i];
      }
      found = evaluate(w, p, w->next, true);
      if (found < (1.0 - 1e-4 * step) * size) {
        break;
      }
    }
    w->iterations++;
    if (!(found < size)) {
      break;
    }
    memcpy(r, w->next, (size_t)p->rows * sizeof(double));
    size = found;
  }
  return size;
}

/* Row factors that give every ball of a unit the mean diagonal of the normal row: rows of rolling have other physical
 * units. */
static void scales(const saltus_cone* cone, int n, const double* W, double* s) {
  const double normal = cone->dry ? 1.0 : 1.0 / weight(n, W, 0, 1);
  int at = cone->dry ? 0 : 1;
  s[0] = 1.0;
  for (int k = 0; k < cone->balls; at += cone->rows[k++]) {
    const double own = 1.0 / weight(n, W, at, cone->rows[k]);
    for (int i = 0; i < cone->rows[k]; i++) {
      s[at + i] = own > 0.0 && normal > 0.0 ? sqrt(normal / own) : 1.0;
    }
  }
}

/* The problem of a single unit, with its own memory. */
typedef struct unit_memory {
  double u[D], phi[D], next[D], best[D], by_r[D * D], by_u[D * D], J[D * D];
  int pivot[D];
} unit_memory;

static saltusi_balls unit_work(unit_memory* m) {
  return (saltusi_balls){.u = m->u,
                         .phi = m->phi,
                         .next = m->next,
                         .best = m->best,
                         .J = m->J,
                         .by_r = m->by_r,
                         .by_u = m->by_u,
                         .pivot = m->pivot,
                         .factor = 1.0};
}

/* The balls of one unit at the normal impulse x, a convex problem: Newton's method, or projected gradients where that
 * fails. Returns the normal velocity. */
static double balls_at(const saltus_cone_problem* p, double x, double* r) {
  const int n = p->rows, d = n - 1, offset[2] = {0, n - 1};
  double W[D * D], q[D], trace = 0.0;
  unit_memory memory;
  saltusi_balls w = unit_work(&memory);
  saltus_cone balls = *p->cone;
  balls.dry = true;
  for (int k = 0; k < balls.balls; k++) {
    balls.held[k] = fmax(0.0, balls.held[k] + balls.mu[k] * x);
  }
  for (int a = 0; a < d; a++) {
    q[a] = p->q[a + 1] + p->W[(a + 1) * n] * x;
    memcpy(W + (size_t)(a * d), p->W + (size_t)((a + 1) * n + 1), (size_t)d * sizeof(double));
    trace += fabs(W[a * (d + 1)]);
  }
  const saltus_cone_problem held = {
      .units = 1, .rows = d, .cone = &balls, .offset = offset, .W = W, .q = q};
  const double tol = 1e-14 * (norm(d, q) + fabs(p->q[0]));
  double least = INFINITY;
  for (int round = 0, idle = 0; round < 30 && idle < 3; round++) {
    const double left = newton(&w, &held, tol, 20, r + 1);
    if (left <= tol) {
      break;
    }
    idle =
        left < 0.5 * least ? 0 : idle + 1; /* rounding of ill-conditioned units ends the search */
    least = fmin(least, left);
    for (int it = 0; it < 30; it++) {
      velocities(&held, r + 1, w.u);
      saltusi_add_scaled(d, -1.0 / trace, w.u, r + 1);
      for (int k = 0, at = 1; k < balls.balls; at += balls.rows[k++]) {
        const double size = norm(balls.rows[k], r + at);
        for (int i = 0; size > balls.held[k] && i < balls.rows[k]; i++) {
          r[at + i] *= balls.held[k] / size;
        }
      }
    }
  }
  r[0] = x;
  return p->q[0] + saltusi_dot(n, p->W, r);
}

/* One unit by bisection, which always converges: the normal velocity is a continuous function of the normal impulse and
 * changes its sign. */
static void nested(const saltus_cone_problem* p, double* r) {
  enum { DOUBLINGS = 60, HALVINGS = 80 };
  double low = 0.0, high = norm(p->rows, p->q) * weight(p->rows, p->W, 0, 1);
  if (p->cone->dry || balls_at(p, 0.0, r) >= 0.0) {
    return;
  }
  for (int k = 0; k < DOUBLINGS && balls_at(p, high, r) < 0.0; k++) {
    low = high;
    high *= 2.0;
  }
  for (int k = 0; k < HALVINGS && high - low > DBL_EPSILON * high; k++) {
    const double middle = 0.5 * (low + high);
    *(balls_at(p, middle, r) < 0.0 ? &low : &high) = middle;
  }
  balls_at(p, high, r);
}

/* A dry row with W_kk = 0, at a dead centre of a linkage: the impulse is at its bound, opposite to the velocity. */
static bool is_prescribed(const saltus_cone_problem* p, int i, double* r) {
  const size_t at = (size_t)p->offset[i], n = (size_t)p->rows;
  if (!p->cone[i].dry || p->W[at * (n + 1)] > 0.0) {
    return false;
  }
  const double u = p->q[at] + saltusi_dot(p->rows, p->W + at * n, r);
  r[at] = u != 0.0 ? -copysign(p->cone[i].held[0], u) : 0.0;
  return true;
}

/* Unit i with the others fixed: its rows scaled, then Newton's method, and bisection where that fails. */
static void solve_unit(saltusi_balls* w, const saltus_cone_problem* p, int i, double* r) {
  const int at = p->offset[i], d = p->offset[i + 1] - at;
  const size_t n = (size_t)p->rows;
  if (is_prescribed(p, i, r)) {
    return;
  }
  double W[D * D], q[D], own[D], s[D] = {1.0};
  const int offset[2] = {0, d};
  saltus_cone cone = p->cone[i];
  scales(&cone, p->rows, p->W + (size_t)at * (n + 1), s);
  for (int k = 0, row = cone.dry ? 0 : 1; k < cone.balls; row += cone.rows[k++]) {
    cone.mu[k] /= s[row];
    cone.held[k] /= s[row];
  }
  for (int a = 0; a < d; a++) {
    const double* row = p->W + (size_t)(at + a) * n;
    double rest = p->q[at + a] + saltusi_dot(p->rows, row, r);
    for (int b = 0; b < d; b++) {
      rest -= row[at + b] * r[at + b];
      W[a * d + b] = s[a] * row[at + b] * s[b];
    }
    q[a] = s[a] * rest;
    own[a] = r[at + a] / s[a];
  }
  const saltus_cone_problem alone = {
      .units = 1, .rows = d, .cone = &cone, .offset = offset, .W = W, .q = q};
  unit_memory memory;
  saltusi_balls local = unit_work(&memory);
  const double tol = 1e-13 * norm(d, q);
  if (!(newton(&local, &alone, tol, 20, own) <= tol)) {
    nested(&alone, own);
  }
  for (int a = 0; a < d; a++) {
    r[at + a] = s[a] * own[a];
  }
  w->iterations++;
}

/* Another initial guess after several failures: pseudorandom impulses, equal on every machine. */
static void start_elsewhere(const saltus_cone_problem* p, double unit, int round, double* r) {
  uint64_t state = (uint64_t)(unsigned)round * 0x9e3779b97f4a7c15ULL + 1ULL;
  memset(r, 0, (size_t)p->rows * sizeof(double));
  for (int i = 0; i < p->units; i++) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    if (!p->cone[i].dry) {
      const double part = (double)(state >> 11) / 9007199254740992.0;
      r[p->offset[i]] = 2.0 * part * unit * weight(p->rows, p->W, p->offset[i], 1);
    }
  }
}

static void sweep(saltusi_balls* w, const saltus_cone_problem* p, double* r) {
  for (int i = 0; i < p->units; i++) {
    solve_unit(w, p, i, r);
  }
}

void saltusi_balls_layout(saltusi_balls* work, int units, int rows, bool dependent,
                          saltus_arena* arena) {
  assert(work != NULL && arena != NULL);
  work->units_max = units;
  work->rows_max = rows;
  work->u = SALTUS_PUSH(arena, double, rows);
  work->phi = SALTUS_PUSH(arena, double, rows);
  work->next = SALTUS_PUSH(arena, double, rows);
  work->best = SALTUS_PUSH(arena, double, rows);
  work->J = SALTUS_PUSH2(arena, double, rows, rows);
  work->by_r = SALTUS_PUSH2(arena, double, rows, D);
  work->by_u = SALTUS_PUSH2(arena, double, rows, D);
  work->pivot = SALTUS_PUSH(arena, int, rows);
  saltusi_circular_layout(&work->circular, dependent ? units : 0, rows, arena);
}

/* Residual at which the portfolio of friction problems ends the search, here as there. */
static const double accepted = 1e-10;

/* Linearly dependent active rows have singular Jacobians: circular cones and dry rows by the portfolio. Whether r is
 * the solution. */
static bool solve_otherwise(saltusi_balls* work, const saltus_cone_problem* p, double unit,
                            double* r) {
  const bool solved = saltusi_circular_solve(&work->circular, p, r);
  work->iterations += solved ? work->circular.step.iterations : 0;
  return solved && evaluate(work, p, r, false) <= accepted * unit;
}

double saltusi_balls_solve(saltusi_balls* work, const saltus_cone_problem* problem, double tol,
                           double* r) {
  assert(work != NULL && problem != NULL && r != NULL && problem->rows <= work->rows_max);
  enum { ROUNDS = 80, NEWTON = 25, POLISH = 2 };
  const bool single = problem->units == 1; /* one visit is its solution, or there is none */
  const double unit = saltusi_velocity_unit(problem->rows, problem->q);
  /* a different rho gives Newton's method a different path */
  static const double factors[] = {1.0, 1.0, 0.1, 10.0, 0.01, 100.0};
  enum { FACTORS = sizeof factors / sizeof factors[0] };
  work->iterations = 0;
  work->factor = 1.0;
  double size = newton(work, problem, tol * unit, NEWTON, r);
  for (int round = 0; round < (single ? (int)FACTORS : ROUNDS) && !(size <= tol * unit); round++) {
    if (size != size || (round > 0 && round % (int)FACTORS == 0)) {
      start_elsewhere(problem, unit, round, r);
    }
    for (int k = 0; k < (single ? 1 : 10 + round % 20); k++) {
      sweep(work, problem, r);
    }
    work->factor = factors[round % (int)FACTORS];
    newton(work, problem, tol * unit, NEWTON, r);
    work->factor = 1.0;
    size = evaluate(work, problem, r, false);
    if (round == 1 && !(size <= tol * unit) && solve_otherwise(work, problem, unit, r)) {
      size = newton(work, problem, tol * unit, NEWTON, r);
      break;
    }
  }
  if (size <= tol * unit) { /* near a solution a further step ends in rounding */
    size = newton(work, problem, 0.0, POLISH, r);
  }
  velocities(problem, r, work->u);
  return size / unit;
}

saltus_residual saltus_cone_residual(const saltus_cone_problem* problem, const double* r,
                                     double* u) {
  assert(problem != NULL && r != NULL && u != NULL);
  saltusi_residual_sum sum = {0};
  velocities(problem, r, u);
  for (int i = 0; i < problem->units; i++) {
    const size_t at = (size_t)problem->offset[i], n = (size_t)problem->rows;
    const int rows = problem->offset[i + 1] - problem->offset[i];
    double phi[D];
    const unit_data unit = {&problem->cone[i], problem->rows, problem->W + at * (n + 1), 1.0};
    unit_function(&unit, r + at, u + at, &(unit_out){.phi = phi});
    saltusi_residual_add(&sum, saltusi_dot(rows, phi, phi),
                         weight(problem->rows, problem->W, problem->offset[i], rows));
  }
  return (saltus_residual){.normalised =
                               sqrt(sum.sum2) / saltusi_velocity_unit(problem->rows, problem->q),
                           .velocity = sum.velocity,
                           .impulse = sum.impulse};
}

struct saltus_cone_solver {
  saltus_allocator memory;
  size_t bytes;
  saltusi_balls work;
};

saltus_status saltus_cone_solver_create(int units, int rows, const saltus_allocator* allocator,
                                        saltus_cone_solver** out) {
  assert(out != NULL);
  *out = NULL;
  if (units < 0 || rows < 0) {
    return SALTUS_ERR_RANGE;
  }
  saltus_allocator memory = allocator != NULL ? *allocator : saltus_allocator_default();
  saltusi_balls counted = {0};
  saltus_arena arena = saltus_arena_counting();
  saltus_arena_push(&arena, sizeof(saltus_cone_solver), 1, SALTUS_ALIGNMENT);
  saltusi_balls_layout(&counted, units, rows, true, &arena);
  void* block = memory.alloc(arena.used, memory.user);
  if (block == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  const size_t bytes = arena.used;
  arena = saltus_arena_over(block, bytes);
  saltus_cone_solver* solver =
      saltus_arena_push(&arena, sizeof(saltus_cone_solver), 1, SALTUS_ALIGNMENT);
  *solver = (saltus_cone_solver){.memory = memory, .bytes = bytes};
  saltusi_balls_layout(&solver->work, units, rows, true, &arena);
  *out = solver;
  return SALTUS_OK;
}

void saltus_cone_solver_destroy(saltus_cone_solver* solver) {
  if (solver != NULL) {
    saltus_allocator memory = solver->memory;
    memory.free(solver, solver->bytes, memory.user);
  }
}

/* Whether offsets and sizes fit together. */
static bool fits(const saltus_cone_solver* solver, const saltus_cone_problem* p) {
  bool good = p->units >= 0 && p->units <= solver->work.units_max && p->rows >= 0 &&
              p->rows <= solver->work.rows_max && p->offset[0] == 0 &&
              p->offset[p->units] == p->rows;
  for (int i = 0; good && i < p->units; i++) {
    const saltus_cone* cone = &p->cone[i];
    good = cone->balls >= 0 && cone->balls <= SALTUS_BALLS;
    for (int k = 0; good && k < cone->balls; k++) {
      good = cone->rows[k] >= 1 && cone->rows[k] <= 3 && cone->mu[k] >= 0.0;
    }
    const int rows = good ? saltus_cone_rows(cone) : 0;
    good = good && rows >= 1 && rows <= D && p->offset[i + 1] - p->offset[i] == rows;
  }
  return good;
}

saltus_status saltus_cone_solve(saltus_cone_solver* solver, const saltus_cone_problem* problem,
                                double tol, double* r, double* u, saltus_solve_result* result) {
  assert(solver != NULL && problem != NULL && r != NULL && u != NULL && result != NULL);
  if (!fits(solver, problem) || !(tol > 0.0)) {
    return SALTUS_ERR_RANGE;
  }
  const double reached = saltusi_balls_solve(&solver->work, problem, tol, r);
  *result = (saltus_solve_result){.outcome = reached <= tol ? SALTUS_SOLVED : SALTUS_UNSOLVED,
                                  .residual = saltus_cone_residual(problem, r, u),
                                  .iterations = solver->work.iterations};
  return SALTUS_OK;
}
