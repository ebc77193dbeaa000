/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_bodies.c - portfolio for large problems of spatial contacts in body space: Gauss-Seidel iterations with
 * momentum; Newton's method or the interior point once the iterations have cost as much as these would. With about as
 * many contacts as velocities, as in settling piles, Newton's method seldom converges by itself. The interior point
 * started at the last iterate, moved into the cones by a fraction of typical impulses and velocities, takes ten
 * iterations instead of the 25 to 60 of a cold start, and converges more often. Work is counted, never timed.
 */
#include "solve/body_space/body_gauss_seidel.h"
#include "solve/body_space/body_newton.h"
#include "solve/body_space/body_proximal.h"
#include "solve/friction/friction_run.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Gauss-Seidel iterations before other stages, and their limit before the others, in costs of Newton steps; most
 * iterations. */
enum { FIRST = 40, MOST = 4000 };
/* Contacts with soft springs: FEW_SOFT iterations or until soft_near, then Newton's method alternating with
 * iterations. Balls, whose iterations are cheap (a compliance of a hundredth of W takes a hundred, of a thousandth
 * three hundred), have FIRST_SOFT before. */
enum { FIRST_SOFT = 400, FEW_SOFT = 30, STEPS_SOFT = 30 };
static const double soft_near = 1e-3;
/* Iterations before Newton's method if complete factors are cheap, and the limit of their cost per block of coupled
 * bodies. */
enum { FEW_CHAINS = 10 };
static const double block_cost = 2000.0;
/* S / W of soft springs; others count as rigid. */
static const double soft_least = 1e-3;
/* Smallest tolerance that iterations in single precision reach by themselves (float_kernel.c). */
static const double single_tol = 5e-7;
static const double before_newton = 10.0;
static const double sweeps_again = 8.0;
/* Newton steps: their limit, and the number after which the residual must have decreased. */
enum { STEPS = 20, TRIAL = 4 };
/* Newton steps after the interior point, whose result has to be nearly converged. */
enum { FEW_STEPS = 8 };
/* Iterations of the interior point. */
enum { INTERIOR = 25 };
/* Restarts: initial guess of the iterations as a multiple of the best impulses so far, and distance inside the cones at
 * which the interior point then starts. Of 60 hard problems of 125 spheres three quarters are solved by the first
 * start, in 9 to 20 iterations, the others by a later one. */
typedef struct again {
  double part, inside;
} again;
static const again starts[] = {{1.0, 0.3}, {0.0, 1.0}, {2.0, 0.3},
                               {0.5, 1.0}, {4.0, 0.3}, {0.0, 3.0}};
enum { AGAIN = sizeof starts / sizeof starts[0] };
/* Augmented Lagrangian: largest number of factorisations, and the number after which the residual must have decreased. */
enum { PROXIMAL = 150, PROXIMAL_TRIAL = 60 };
/* Factorisations after the tolerance is reached: resting bodies then stay at rest for many steps without iterations. A
 * wall of 205 bricks takes 6 iterations a step with them, 21 without. */
enum { PROXIMAL_DEEPER = 12 };
/* Factorisations of its last use, and the number of restarts before it. */
enum { PROXIMAL_LONG = 150, PROXIMAL_AFTER = 1 };
/* Perturbed restarts: their number, the number after which the augmented Lagrangian is used again, and the perturbations
 * relative to |q|. */
enum { DETOURS = 200, PROXIMAL_EACH = 8 };
static const double perturbed[] = {1e-3, 1e-4, 1e-2, 1e-5};
enum { PERTURBED = sizeof perturbed / sizeof perturbed[0] };
static const double shaken[] = {0.0, 0.3, 1.0};
enum { SHAKEN = sizeof shaken / sizeof shaken[0] };
/* Contacts per body from which on it is used: balls in piles have less than three, boxes four and more. */
static const double hyperstatic = 3.0;
static const double interior_tol = 1e-8;

static bool has_joints(const saltusi_friction_work* work) {
  bool any = false;
  for (int i = 0; i < work->pattern.units && !any; i++) {
    any = work->given.mu[i] < 0.0;
  }
  return any;
}

/* Whether springs of contacts are soft relative to W: Newton's method then needs no other regularisation. */
static bool is_soft(const saltusi_friction_work* work) {
  const saltusi_bodies* b = work->given.bodies;
  double least = b->softens ? INFINITY : 0.0;
  for (int i = 0; i < b->units && least > soft_least; i++) {
    least = work->given.mu[i] < 0.0 ? least : fmin(least, b->soft[3 * i] * work->given.rho[i]);
  }
  return least > soft_least;
}

/* Packs contacts in single precision if applicable; repeats the packing if this changes. */
static void choose_precision(const saltusi_friction_run* run) {
  saltusi_bodies* b = run->work->given.bodies;
  const bool wanted = run->tol >= single_tol && is_soft(run->work);
  if (b->single.wanted != wanted) {
    b->single.wanted = wanted;
    b->kind = NULL;
  }
}

double saltusi_run_residual(saltusi_friction_run* run) {
  assert(run != NULL);
  saltusi_friction_work* work = run->work;
  saltusi_friction_case* in = &work->given;
  run->standing = in->bodies != NULL && is_soft(work);
  if (!run->standing) {
    return saltusi_friction_case_residual(in, work->point, work->sweep.u).normalised;
  }
  choose_precision(run);
  saltusi_gauss_seidel_pack(in);
  return saltusi_gauss_seidel_residual(&work->sweep, in, work->point);
}

static bool sweep(saltusi_friction_run* run, double sweeps) {
  saltusi_friction_work* work = run->work;
  const saltusi_body_gauss_seidel settings = {.sweeps = sweeps < MOST ? (int)sweeps : MOST,
                                              .tol = run->tol,
                                              .known = isfinite(run->best) ? run->best : 0.0,
                                              .standing = run->standing};
  saltusi_run_from_best(run);
  run->standing = false;
  saltusi_stage stage =
      saltusi_gauss_seidel_bodies(&work->sweep, &work->given, &settings, work->point);
  run->cost += saltusi_visit_cost(&work->given) * stage.iterations * work->pattern.units;
  return saltusi_run_note(run, "body-sweeps", stage);
}

/* Newton's method from work->point. */
static bool newton(saltusi_friction_run* run, int steps) {
  saltusi_friction_work* work = run->work;
  const saltusi_newton_settings settings = {.iterations = steps, .tol = run->tol, .trial = TRIAL};
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  saltusi_stage stage = saltusi_body_newton(&work->newton, &work->sweep, &work->lu, &work->given,
                                            &settings, work->point);
  run->cost += stage.iterations * work->lu.cost;
  return saltusi_run_note(run, "body-newton", stage);
}

/* The augmented Lagrangian from the best point; trial: steps that must reduce the residual, 0: none. With springs
 * the next step differs anyway: nothing is gained beyond the tolerance. */
static bool proximal(saltusi_friction_run* run, int steps, int trial) {
  saltusi_friction_work* work = run->work;
  const saltusi_newton_settings settings = {.iterations = steps,
                                            .tol = run->tol,
                                            .trial = trial,
                                            .deeper =
                                                work->given.bodies->softens ? 0 : PROXIMAL_DEEPER};
  saltusi_run_from_best(run);
  saltusi_stage stage = saltusi_body_proximal(&work->newton, &work->sweep, &work->lu, &work->given,
                                              &settings, work->point);
  run->cost += stage.iterations * work->lu.cost;
  return saltusi_run_note(run, "body-proximal", stage);
}

/* The interior point from work->point, moved into the cones by a given distance, and then Newton's method. */
static bool interior(saltusi_friction_run* run, double inside) {
  if (run->joints) { /* only cones */
    return newton(run, FEW_STEPS);
  }
  const saltusi_interior_settings settings = {.iterations = INTERIOR,
                                              .tol = fmax(run->tol, interior_tol),
                                              .start_z = inside,
                                              .start_y = inside,
                                              .from = run->work->point,
                                              .no_pivoting = true};
  return saltusi_run_interior(run, &settings) || newton(run, FEW_STEPS);
}

/* Gauss-Seidel, Newton's method and the interior point from a fraction of the best impulses. */
static bool once_more(saltusi_friction_run* run, const again* start, double sweeps) {
  saltusi_friction_work* work = run->work;
  const saltusi_body_gauss_seidel settings = {.sweeps = sweeps < MOST ? (int)sweeps : MOST,
                                              .tol = run->tol};
  saltusi_run_from_best(run);
  for (int a = 0; a < work->pattern.rows; a++) {
    work->point[a] *= start->part;
  }
  if (start->part != 1.0) {
    saltusi_stage stage =
        saltusi_gauss_seidel_bodies(&work->sweep, &work->given, &settings, work->point);
    run->cost += saltusi_visit_cost(&work->given) * stage.iterations * work->pattern.units;
    if (saltusi_run_note(run, "body-sweeps", stage) || newton(run, FEW_STEPS)) {
      return true;
    }
  }
  return interior(run, start->inside);
}

/* Stages with factors after the iterations: the shortest first. */
static bool factor_stages(saltusi_friction_run* run, double each) {
  saltusi_run_from_best(run);
  if (newton(run, STEPS)) {
    return true;
  }
  for (int k = 0; k < AGAIN; k++) {
    if (once_more(run, starts + k, sweeps_again * each) ||
        (k == PROXIMAL_AFTER && proximal(run, PROXIMAL_LONG, 0))) {
      return true;
    }
  }
  return false;
}

/* Pseudorandom numbers between -1 and 1, the same in every run (Knuth's MMIX generator). */
static double draw(uint64_t* state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return 2.0 * ldexp((double)(*state >> 11), -53) - 1.0;
}

/* Gauss-Seidel, Newton's method and the interior point from the best point. */
static bool attempt(saltusi_friction_run* run, double each, double inside) {
  if (sweep(run, sweeps_again * each)) {
    return true;
  }
  saltusi_run_from_best(run);
  if (newton(run, FEW_STEPS)) {
    return true;
  }
  saltusi_run_from_best(run);
  return interior(run, inside);
}

/* Perturbed restart: solves a nearby problem, from impulses changed at random, and the given one from its solution.
 * With large friction the iterations and the augmented Lagrangian can leave solutions again, and the path of the
 * interior point can turn back. Each perturbation is then an independent trial: one of a few is solved, and its
 * solution leads to one of the given problem in most cases. */
static bool detour(saltusi_friction_run* run, double each, int round) {
  saltusi_friction_work* work = run->work;
  const int rows = work->pattern.rows;
  const double* q = work->given.q;
  double* nearby = work->candidate[0].r;
  const double size = perturbed[round % PERTURBED] * work->given.velocity_unit / sqrt((double)rows);
  uint64_t state = (uint64_t)round + 1;
  for (int a = 0; a < rows; a++) {
    nearby[a] = q[a] + size * draw(&state);
  }
  for (int i = 0; i < work->pattern.units; i++) {
    const double part = 1.0 + shaken[round % SHAKEN] * draw(&state);
    for (int k = 0; k < 3; k++) {
      work->best[3 * i + k] *= part;
    }
  }
  work->given.q = nearby;
  run->best = saltusi_friction_case_residual(&work->given, work->best, work->sweep.u).normalised;
  (void)attempt(run, each, starts[round % AGAIN].inside);
  work->given.q = q;
  run->best = saltusi_friction_case_residual(&work->given, work->best, work->sweep.u).normalised;
  return attempt(run, each, starts[0].inside) ||
         (round % PROXIMAL_EACH == PROXIMAL_EACH - 1 && proximal(run, PROXIMAL_LONG, 0));
}

/* Gauss-Seidel until Newton's method is efficient; true: to the tolerance. */
static bool come_near(saltusi_friction_run* run, double sweeps) {
  const double tol = run->tol;
  run->tol = fmax(tol, soft_near);
  if (run->best > run->tol && sweeps >= 1.0) {
    (void)sweep(run, sweeps);
  }
  run->tol = tol;
  return run->best <= tol;
}

/* Cost of a factorisation in iterations. */
static double factor_cost(const saltusi_friction_run* run) {
  const saltusi_friction_work* work = run->work;
  return work->lu.cost / (saltusi_visit_cost(&work->given) * work->pattern.units);
}

static bool is_redundant(const saltusi_bodies* b) {
  return b->units > hyperstatic * b->bodies;
}

/* Whether complete factors cost no more than the iterations with incomplete ones: chains and trees, bridges. */
static bool has_cheap_factors(saltusi_friction_work* work) {
  const saltusi_bodies* b = work->given.bodies;
  return saltusi_friction_analyse(work) && work->lu.cost <= block_cost * b->start[b->bodies];
}

/* Contacts with soft springs. */
static bool solve_soft(saltusi_friction_run* run) {
  saltusi_friction_work* work = run->work;
  saltusi_bodies* bodies = work->given.bodies;
  choose_precision(run);
  const bool chains = run->joints && has_cheap_factors(work);
  const int few = chains ? FEW_CHAINS : FEW_SOFT;
  if (is_redundant(bodies) || run->joints ? come_near(run, few) : sweep(run, FIRST_SOFT)) {
    return true;
  }
  if (chains && !saltusi_friction_reserve(work)) {
    return false;
  }
  run->standing = false;   /* contacts continue from there */
  work->lu.ready = chains; /* the layout of factors must be repeated */
  if (saltusi_compliant_reserve(&work->soft, bodies, &work->second_memory, &work->memory) !=
      SALTUS_OK) {
    return false;
  }
  const saltusi_compliant_settings settings = {.steps = STEPS_SOFT,
                                               .tol = run->tol,
                                               .lu = chains ? &work->lu : NULL,
                                               .known = isfinite(run->best) ? run->best : 0.0};
  saltusi_run_from_best(run);
  const saltusi_stage stage = saltusi_body_newton_compliant(&work->soft, &work->sweep, &work->given,
                                                            &settings, work->point);
  work->lu.ready = false;
  return saltusi_run_note(run, "body-soft", stage);
}

bool saltusi_run_bodies(saltusi_friction_run* run) {
  assert(run != NULL && run->work->given.bodies != NULL);
  saltusi_friction_work* work = run->work;
  saltusi_bodies* bodies = work->given.bodies;
  run->joints = has_joints(work);
  if (run->best <= run->tol || (is_soft(work) ? solve_soft(run) : sweep(run, FIRST))) {
    return true;
  }
  if (bodies->single.wanted) { /* the rest is solved in double precision */
    bodies->single.wanted = false;
    bodies->kind = NULL;
  }
  if (!saltusi_friction_reserve(work)) {
    return false;
  }
  const double each = factor_cost(run);
  if (sweep(run, before_newton * each)) {
    return true;
  }
  if ((is_redundant(bodies) && proximal(run, PROXIMAL, PROXIMAL_TRIAL)) ||
      factor_stages(run, each)) {
    return true;
  }
  for (int k = 0; k < DETOURS; k++) {
    if (detour(run, each, k)) {
      return true;
    }
  }
  return false;
}
