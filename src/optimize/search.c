/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * search.c - searches by NLopt in scaled variables (Johnson, The NLopt nonlinear-optimization package), and bisection.
 *
 *   gradient   SLSQP (Kraft, ACM TOMS 20, 1994), derivatives by variational equations
 *   local      BOBYQA (Powell 2009) without constraints, COBYLA (Powell 1994) with constraints or one variable, restarted
 *              with smaller steps until the answer stays
 *   global     DIRECT-L (Gablonsky and Kelley 2001), with constraints ISRES (Runarsson and Yao 2005), then local
 */
#include "base/log.h"
#include "optimize/optimize.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = SALTUSI_OPTIMIZE_MOST, GRID = 17, RESTARTS = 8 };

static saltus_status stopped(const saltus_optimize* o) {
  return o->def.cancel != NULL && *o->def.cancel != 0 ? SALTUS_ERR_STOPPED : SALTUS_OK;
}

#if SALTUS_WITH_NLOPT
#include <nlopt.h>

typedef struct descent {
  saltus_optimize* o;
  nlopt_opt opt;
  bool known, sloped; /* values and derivatives at u */
  double u[MOST], value[MOST], slope[MOST * MOST];
  saltus_status status;
} descent;

typedef struct function {
  descent* s;
  int index;
} function;

/* Values, and derivatives if requested, at u. */
static bool at(descent* s, const double* u, bool sloped) {
  const size_t bytes = (size_t)s->o->variables * sizeof *u;
  double inside[MOST];
  for (int i = 0; i < s->o->variables; i++) {
    inside[i] = fmin(fmax(u[i], 0.0), 1.0);
  }
  if (!s->known || memcmp(s->u, inside, bytes) != 0) {
    memcpy(s->u, inside, bytes);
    s->known = s->sloped = false;
    s->status = stopped(s->o);
    s->status =
        s->status == SALTUS_OK ? saltusi_optimize_evaluate(s->o, s->u, 1, s->value) : s->status;
    s->known = s->status == SALTUS_OK;
  }
  if (s->known && sloped && !s->sloped) {
    s->status = saltusi_optimize_differentiate(s->o, s->u, s->slope);
    s->sloped = s->status == SALTUS_OK;
  }
  if (s->status != SALTUS_OK) {
    nlopt_force_stop(s->opt);
  }
  return s->status == SALTUS_OK;
}

/* The objective to minimise, or a constraint that is at most or equal to 0. */
static double call(unsigned n, const double* u, double* gradient, void* data) {
  const function* f = data;
  const saltus_optimize* o = f->s->o;
  const saltusi_optimize_function* of = &o->function[f->index];
  if (!at(f->s, u, gradient != NULL)) {
    return HUGE_VAL;
  }
  const double sign = of->relation == SALTUSI_OBJECTIVE  ? o->sign
                      : of->relation == SALTUSI_AT_LEAST ? -1.0
                                                         : 1.0;
  for (unsigned i = 0; gradient != NULL && i < n; i++) {
    gradient[i] = sign * f->s->slope[f->index * (int)n + (int)i];
  }
  return sign * (f->s->value[f->index] - of->limit);
}

/* One search from u, which becomes its answer. */
static saltus_status go(descent* s, nlopt_algorithm algorithm, double step, double* u,
                        nlopt_result* result) {
  saltus_optimize* o = s->o;
  function f[MOST];
  double value = 0.0;
  s->opt = nlopt_create(algorithm, (unsigned)o->variables);
  bool good = s->opt != NULL && nlopt_set_lower_bounds1(s->opt, 0.0) > 0 &&
              nlopt_set_upper_bounds1(s->opt, 1.0) > 0 &&
              nlopt_set_xtol_abs1(s->opt, o->def.tolerance) > 0 &&
              nlopt_set_maxeval(s->opt, o->def.evaluations) > 0 &&
              (!(step > 0.0) || nlopt_set_initial_step1(s->opt, step) > 0);
  for (int i = 0; i < o->functions && good; i++) {
    const saltusi_relation relation = o->function[i].relation;
    const double slack = 0.5 * o->function[i].slack;
    f[i] = (function){.s = s, .index = i};
    good = relation == SALTUSI_OBJECTIVE ? nlopt_set_min_objective(s->opt, call, &f[i]) > 0
           : relation == SALTUSI_EQUAL
               ? nlopt_add_equality_constraint(s->opt, call, &f[i], slack) > 0
               : nlopt_add_inequality_constraint(s->opt, call, &f[i], slack) > 0;
  }
  *result = good ? nlopt_optimize(s->opt, u, &value) : NLOPT_INVALID_ARGS;
  nlopt_destroy(s->opt);
  s->opt = NULL;
  o->view.method = nlopt_algorithm_name(algorithm);
  o->view.converged = *result == NLOPT_SUCCESS || *result == NLOPT_XTOL_REACHED ||
                      *result == NLOPT_FTOL_REACHED || *result == NLOPT_ROUNDOFF_LIMITED;
  if (!good || *result == NLOPT_OUT_OF_MEMORY || *result == NLOPT_INVALID_ARGS) {
    saltusi_log(o->def.log, SALTUS_LEVEL_ERROR, "optimize: %s does not accept this problem",
                o->view.method);
    return *result == NLOPT_OUT_OF_MEMORY ? SALTUS_ERR_MEMORY : SALTUS_ERR_UNSUPPORTED;
  }
  return s->status;
}

static void best(const saltus_optimize* o, double* u) {
  for (int i = 0; i < o->variables; i++) {
    u[i] = saltusi_optimize_scaled(&o->variable[i], o->values[i]);
  }
}

static saltus_status search_local(descent* s, double* u) {
  saltus_optimize* o = s->o;
  const bool free = o->functions == 1 && o->variables > 1;
  double step = 0.1, before[MOST];
  nlopt_result result;
  saltus_status status = SALTUS_OK;
  bool stays = false;
  for (int i = 0; i < RESTARTS && status == SALTUS_OK && !stays; i++) {
    memcpy(before, u, (size_t)o->variables * sizeof *u);
    status = go(s, free ? NLOPT_LN_BOBYQA : NLOPT_LN_COBYLA, fmax(step, 10.0 * o->def.tolerance), u,
                &result);
    best(o, u);
    double moved = 0.0;
    for (int k = 0; k < o->variables; k++) {
      moved = fmax(moved, fabs(u[k] - before[k]));
    }
    stays = i > 0 && moved <= 2.0 * o->def.tolerance;
    step = fmin(0.1 * step, 10.0 * fmax(moved, o->def.tolerance));
  }
  o->view.converged = o->view.converged && stays;
  return status;
}

static saltus_status search_gradient(descent* s, double* u) {
  nlopt_result result;
  const saltus_status status = go(s, NLOPT_LD_SLSQP, 0.0, u, &result);
  best(s->o, u);
  if (status == SALTUS_OK && at(s, u, true)) {
    memcpy(s->o->gradient, s->slope, sizeof s->slope);
    for (int i = 0; i < s->o->functions * s->o->variables; i++) { /* of the variables themselves */
      const saltusi_optimize_variable* v = &s->o->variable[i % s->o->variables];
      const double x = s->o->values[i % s->o->variables];
      s->o->gradient[i] /= v->log ? x * log(v->high / v->low) : v->high - v->low;
    }
    s->o->view.gradient = s->o->gradient;
  }
  return status == SALTUS_OK ? s->status : status;
}

static saltus_status by_method(descent* s, double* u) {
  saltus_optimize* o = s->o;
  const char* method = o->def.method;
  nlopt_result result;
  saltus_status status = SALTUS_OK;
  if (strcmp(method, "global") == 0) {
    nlopt_srand((unsigned long)o->def.seed + 1);
    status = go(s, o->functions == 1 ? NLOPT_GN_DIRECT_L : NLOPT_GN_ISRES, 0.0, u, &result);
    best(o, u);
  } else if (strcmp(method, "local") != 0) {
    status = search_gradient(s, u);
    if (status != SALTUS_ERR_UNSUPPORTED || strcmp(method, "gradient") == 0) {
      if (status == SALTUS_ERR_UNSUPPORTED) {
        saltusi_log(o->def.log, SALTUS_LEVEL_ERROR, "optimize: %s", o->note);
      }
      return status;
    }
    s->status = SALTUS_OK;
    status = SALTUS_OK;
    if (o->view.evaluations == 0) {
      best(o, u);
    }
  }
  return status == SALTUS_OK ? search_local(s, u) : status;
}

saltus_status saltusi_optimize_search(saltus_optimize* o) {
  assert(o != NULL && !o->find);
  descent s = {.o = o};
  double u[MOST], first[MOST];
  best(o, u);                                                       /* the first values */
  saltus_status status = saltusi_optimize_evaluate(o, u, 1, first); /* scales of the constraints */
  status = status == SALTUS_OK ? by_method(&s, u) : status;
  o->view.feasible = o->view.evaluations > 0 && o->best_violation <= 1.0;
  if (status == SALTUS_OK && !o->view.feasible) {
    saltusi_log(
        o->def.log, SALTUS_LEVEL_ERROR,
        "optimize: no values were found that satisfy the constraints; the least violation is "
        "reported");
    status = SALTUS_ERR_BOUND;
  }
  return status;
}

#else

saltus_status saltusi_optimize_search(saltus_optimize* o) {
  assert(o != NULL && !o->find);
  saltusi_log(o->def.log, SALTUS_LEVEL_ERROR,
              "optimize: this build has no NLopt (Debian: libnlopt-dev); find works without it");
  return SALTUS_ERR_UNSUPPORTED;
}

#endif

/* ---- find ---- */

static int side(double value, const saltusi_optimize_function* f) {
  const double d = value - f->limit;
  return f->relation == SALTUSI_AT_MOST    ? d <= 0.0
         : f->relation == SALTUSI_AT_LEAST ? d >= 0.0
                                           : (d > 0.0) - (d < 0.0);
}

static saltus_status halve(saltus_optimize* o, double* u, double* value) {
  const saltusi_optimize_function* f = &o->function[0];
  saltus_status status = SALTUS_OK;
  while (status == SALTUS_OK && u[1] - u[0] > o->def.tolerance) {
    double middle = 0.5 * (u[0] + u[1]), result = 0.0;
    if (!(middle > u[0] && middle < u[1])) {
      break;
    }
    status = stopped(o);
    status = status == SALTUS_OK ? saltusi_optimize_evaluate(o, &middle, 1, &result) : status;
    if (status == SALTUS_OK) {
      const int end = side(result, f) == side(value[0], f) ? 0 : 1;
      u[end] = middle;
      value[end] = result;
    }
  }
  return status;
}

/* The end at which the condition holds; of a sign change the end with the smaller difference. */
static int answer(const saltusi_optimize_function* f, const double* value) {
  if (f->relation != SALTUSI_EQUAL) {
    return side(value[1], f);
  }
  return fabs(value[1] - f->limit) < fabs(value[0] - f->limit);
}

saltus_status saltusi_optimize_bisect(saltus_optimize* o) {
  assert(o != NULL && o->find && o->variables == 1);
  const saltusi_optimize_function* f = &o->function[0];
  double grid[GRID], value[GRID];
  int first = -1;
  for (int i = 0; i < GRID; i++) {
    grid[i] = (double)i / (GRID - 1);
  }
  o->view.method = "bisection";
  saltus_status status = saltusi_optimize_evaluate(o, grid, GRID, value);
  for (int i = 0; i + 1 < GRID && status == SALTUS_OK; i++) {
    if (side(value[i], f) != side(value[i + 1], f)) {
      o->view.changes++;
      first = first < 0 ? i : first;
    }
  }
  if (status == SALTUS_OK && o->view.changes != 1) {
    saltusi_log(
        o->def.log, SALTUS_LEVEL_ERROR,
        "optimize: \"%.120s\" changes %d times on 17 values between the bounds, must change "
        "once; give other bounds",
        f->text, o->view.changes);
    return SALTUS_ERR_BOUND;
  }
  if (status == SALTUS_OK) {
    status = halve(o, &grid[first], &value[first]);
    const int at = answer(f, &value[first]);
    for (int k = 0; k < 2; k++) {
      o->view.bracket[k] = saltusi_optimize_value(&o->variable[0], grid[first + k]);
      o->view.bracket_results[k] = value[first + k];
    }
    o->values[0] = o->view.bracket[at];
    o->results[0] = o->view.bracket_results[at];
    o->view.feasible = true;
    o->view.converged = status == SALTUS_OK;
  }
  return status;
}
