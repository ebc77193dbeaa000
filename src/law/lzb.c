/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * lzb.c - multiple impacts with contacts as springs, in fictitious time (Liu, Zhao and Brogliato 2008, in the form of
 * displacements; docs/theory/laws.md, 2.6):
 *
 *   F_i = k_i d_i^eta,   U' = W F,   P' = F
 *   d_i' = -U_i while pressed (in),   -U_i / e_i^2 in expansion (out),   0 while open (idle)
 *   in -> out, out -> in: U = 0;   out -> idle: d = 0;   idle -> in: U < 0;   the end: all idle
 *
 * k d^(eta+1) / (eta+1) is the energy that can still be released, divided by e^2 in expansion: the distributing law,
 * without its singular start. Only ratios of k matter. Friction: F_T = -mu F_N U_T / |U_T|; at rest |F_T| <= mu F_N
 * against W_TT F_T + W_TN F_N, a problem with box constraints (in space: discs) whose velocities are unique. A
 * resting contact without compression has no friction. After each event the modes of all contacts are updated: two
 * points of a rigid body share one slip.
 *
 * In space slip has a direction while it is faster than `stops`: close to a stop the rate of the direction grows
 * without bound, and steps shrink. Slip from rest follows the solution of the disc problem until it is faster than
 * `leaves`.
 */
#include "law/law.h"

#include "base/log.h"
#include "math/matrix.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { IN, OUT, IDLE };                              /* phase of a contact */
enum { PRESSED, APART, TURNS, REST, SLIDE, LEAVES }; /* kind of a guard */
enum { EVENTS_MAX = 5000, BOX_SWEEPS = 500, STOP_SWEEPS = 50 };

/* Relative to the largest velocity: velocities that count as zero; slip that stops at an event; slip that counts
 * as sliding. */
static const double no_velocity = 1e-14;
static const double no_slip = 1e-11;
static const double moves = 1e-9;
/* Friction above this fraction of its bound slides. */
static const double at_bound = 1.0 - 1e-11;
/* Overlap of the probe that determines which contacts slide from rest, relative to the initial velocity. */
static const double probe_part = 1e-7;
/* Slip in space relative to the initial velocity. Below `stops` it ends; below `stops_too` it ends together with
 * that of another contact (two points of a body have equal slip along their line); above `leaves` it has a
 * direction. */
static const double stops = 1e-11;
static const double stops_too = 3e-10;
static const double leaves = 1e-9;
/* Smallest restitution: 1 / e^2 is badly scaled below. */
static const double least_e = 1e-3;

typedef struct springs {
  saltusi_laws* laws;
  saltusi_springs* s;
  const saltus_impact* impact;
  const saltus_impact_contact* contact;
  int n, m; /* contacts, rows */
  double eta;
  double speed;  /* of the fastest row */
  bool friction; /* of any contact */
} springs;

static double* overlap(const springs* p, double* y) {
  return y + p->m;
}

static double stiffness(const springs* p, int i) {
  return p->contact[i].stiffness > 0.0 ? p->contact[i].stiffness : 1.0;
}

static bool has_friction(const springs* p, int i) {
  return p->contact[i].tangents > 0 && p->contact[i].mu > 0.0;
}

static bool is_spatial(const springs* p, int i) {
  return p->contact[i].tangents == 2;
}

/* Norm of the tangential components at `at`: one in the plane, two in space. */
static double size_of(const springs* p, int i, const double* at) {
  return is_spatial(p, i) ? hypot(at[0], at[1]) : fabs(at[0]);
}

/* In space: 1 while sliding, 0 while sticking, at the bound or not. */
static double slip_sense(const springs* p, int i) {
  return p->s->sign[i] != 0.0 || is_spatial(p, i) ? p->s->sign[i] : p->s->bound[i];
}

static const double* row_of(const springs* p, int r) {
  return p->impact->W + (size_t)r * (size_t)p->m;
}

/* Relaxation of the friction of a resting contact; returns the change. */
static double relax(const springs* p, int i, double* F) {
  int r = p->laws->first[i] + 1;
  int rows = p->contact[i].tangents;
  const double was[2] = {F[r], rows > 1 ? F[r + 1] : 0.0};
  const double cap = p->contact[i].mu * F[r - 1];
  double own = 0.0; /* upper bound of the largest eigenvalue of its block */
  double rate[2];
  for (int k = 0; k < rows; k++) {
    double sum = 0.0;
    for (int j = 0; j < rows; j++) {
      sum += fabs(row_of(p, r + k)[r + j]);
    }
    own = fmax(own, sum);
    rate[k] = saltusi_dot(p->m, row_of(p, r + k), F);
  }
  for (int k = 0; k < rows; k++) {
    F[r + k] = own > 0.0 ? was[k] - rate[k] / own : 0.0;
  }
  double size = size_of(p, i, F + r);
  for (int k = 0; k < rows && size > cap; k++) {
    F[r + k] *= cap / size;
  }
  return fmax(fabs(F[r] - was[0]), rows > 1 ? fabs(F[r + 1] - was[1]) : 0.0);
}

/* Friction of sticking contacts in their boxes and discs, by Gauss-Seidel iterations. */
static void box(const springs* p, double* F) {
  double most = 0.0;
  for (int i = 0; i < p->n; i++) {
    most = fmax(most, p->contact[i].mu * F[p->laws->first[i]]);
  }
  for (int k = 0; k < BOX_SWEEPS; k++) {
    double change = 0.0;
    for (int i = 0; i < p->n; i++) {
      if (has_friction(p, i) && slip_sense(p, i) == 0.0) {
        change = fmax(change, relax(p, i, F));
      }
    }
    if (!(change > DBL_EPSILON * most)) {
      break;
    }
  }
}

/* Friction of a sliding contact, against its slip u. */
static void slide(const springs* p, int i, const double* u, double* F) {
  const double sense = slip_sense(p, i);
  if (!is_spatial(p, i)) {
    F[1] = -p->contact[i].mu * F[0] * sense;
    return;
  }
  double size = hypot(u[0], u[1]);
  for (int k = 0; k < 2 && sense != 0.0 && size > 0.0; k++) {
    F[1 + k] = -p->contact[i].mu * F[0] * u[k] / size;
  }
}

/* Forces [m] of all rows. */
static void find_forces(const springs* p, const double* y, double* F) {
  memset(F, 0, (size_t)p->m * sizeof(double));
  for (int i = 0; i < p->n; i++) {
    double d = y[p->m + i];
    if (p->s->status[i] == IDLE || !(d > 0.0)) {
      continue;
    }
    int r = p->laws->first[i];
    F[r] = stiffness(p, i) * (p->eta == 1.0 ? d : p->eta == 1.5 ? d * sqrt(d) : pow(d, p->eta));
    if (has_friction(p, i)) {
      slide(p, i, y + r + 1, F + r);
    }
  }
  if (p->friction) {
    box(p, F);
  }
}

static void rate(void* self, const double* y, double* f) {
  const springs* p = self;
  double* F = p->s->force;
  find_forces(p, y, F);
  for (int r = 0; r < p->m; r++) {
    f[r] = saltusi_dot(p->m, row_of(p, r), F);
    f[p->m + p->n + r] = F[r];
  }
  for (int i = 0; i < p->n; i++) {
    double U = y[p->laws->first[i]];
    double e = p->contact[i].e_N;
    int status = p->s->status[i];
    f[p->m + i] = status == IDLE ? 0.0 : status == IN ? -U : -U / (e * e);
    bool rests = has_friction(p, i) && p->s->sign[i] == 0.0 && p->s->bound[i] == 0.0;
    for (int k = 0; rests && k < p->contact[i].tangents; k++) {
      f[p->laws->first[i] + 1 + k] = 0.0;
    }
  }
}

/* Value of one guard. */
static double guard_of(const springs* p, const double* y, const double* F, int kind, int i) {
  int r = p->laws->first[i];
  double U = y[r];
  double d = y[p->m + i];
  double tiny = no_velocity * p->speed;
  switch (kind) {
  case PRESSED: /* of an idle contact */
    return U + tiny;
  case TURNS:
    if (p->s->status[i] == OUT) {
      return U;
    }
    return d > 0.0 ? -U : tiny - U;
  case APART:
    return d;
  case REST:
    return is_spatial(p, i)       ? size_of(p, i, y + r + 1) - stops * p->speed
           : p->s->sign[i] != 0.0 ? p->s->sign[i] * y[r + 1]
                                  : p->s->bound[i] * y[r + 1] + 1e-12 * p->speed;
  case LEAVES:
    return leaves * p->speed - size_of(p, i, y + r + 1);
  default:
    return F[r] > 0.0 ? p->contact[i].mu * at_bound - size_of(p, i, F + r + 1) / F[r] : 1.0;
  }
}

static void guards(void* self, const double* y, double* g) {
  const springs* p = self;
  const saltusi_flow* flow = &p->laws->flow;
  if (p->friction) {
    find_forces(p, y, p->s->force);
  }
  for (int k = 0; k < flow->guards; k++) {
    g[k] = guard_of(p, y, p->s->force, p->s->what[k], p->s->who[k]);
  }
}

static void list_guard(const springs* p, int kind, int i) {
  int k = p->laws->flow.guards++;
  p->s->what[k] = kind;
  p->s->who[k] = i;
}

static void list_guards(const springs* p) {
  p->laws->flow.guards = 0;
  for (int i = 0; i < p->n; i++) {
    list_guard(p, p->s->status[i] == IDLE ? PRESSED : TURNS, i);
    if (p->s->status[i] == OUT) {
      list_guard(p, APART, i);
    }
    if (has_friction(p, i)) {
      bool begins = is_spatial(p, i) && p->s->sign[i] == 0.0 && p->s->bound[i] != 0.0;
      list_guard(p, begins ? LEAVES : slip_sense(p, i) != 0.0 ? REST : SLIDE, i);
    }
  }
}

/* Determines which sticking contacts begin to slide: those at their friction bound, and those without normal
 * force. Contacts that approach and have no overlap yet receive the overlap of a probe. */
static void release(const springs* p, const double* y) {
  double* z = p->s->probe;
  double* F = p->s->force;
  memcpy(z, y, (size_t)(p->m + p->n) * sizeof(double));
  for (int i = 0; i < p->n; i++) {
    double U = y[p->laws->first[i]];
    p->s->bound[i] = 0.0;
    if (p->s->status[i] == IN) {
      z[p->m + i] = fmax(z[p->m + i], probe_part * fmax(-U, 0.0) / p->speed);
    }
  }
  find_forces(p, z, F);
  double most = saltusi_max_abs(p->m, F);
  for (int i = 0; i < p->n; i++) {
    if (!has_friction(p, i) || p->s->sign[i] != 0.0) {
      continue;
    }
    int r = p->laws->first[i];
    double dU[2] = {saltusi_dot(p->m, row_of(p, r + 1), F), 0.0};
    dU[1] = is_spatial(p, i) ? saltusi_dot(p->m, row_of(p, r + 2), F) : 0.0;
    double sense = dU[0] > 0.0 || is_spatial(p, i) ? 1.0 : -1.0;
    if (F[r] <= 0.0) {
      p->s->probe[i] = size_of(p, i, dU) > 1e-13 * most ? sense : 0.0;
    } else {
      bool slides = size_of(p, i, F + r + 1) >= p->contact[i].mu * F[r] * at_bound;
      p->s->probe[i] = !slides ? 0.0 : F[r + 1] > 0.0 && !is_spatial(p, i) ? -1.0 : 1.0;
    }
  }
  for (int i = 0; i < p->n; i++) { /* all with the same forces */
    p->s->bound[i] = has_friction(p, i) && p->s->sign[i] == 0.0 ? p->s->probe[i] : 0.0;
  }
}

/* Applies the impulses that stop the slip of a contact in space, U += W P; returns the slip before. */
static double stop_slip(const springs* p, double* y, int i) {
  int r = p->laws->first[i] + 1;
  const double a = row_of(p, r)[r], b = row_of(p, r)[r + 1], c = row_of(p, r + 1)[r + 1];
  const double u[2] = {y[r], y[r + 1]};
  const double det = a * c - b * b;
  if (!(det > DBL_EPSILON * a * c)) {
    return 0.0;
  }
  const double P[2] = {(b * u[1] - c * u[0]) / det, (b * u[0] - a * u[1]) / det};
  for (int k = 0; k < 2; k++) {
    for (int s = 0; s < p->m; s++) {
      y[s] += row_of(p, s)[r + k] * P[k];
    }
    y[p->m + p->n + r + k] += P[k];
  }
  return hypot(u[0], u[1]);
}

/* Removes the residual slip in space of contacts that stop together with another one. */
static void stop_slips(const springs* p, double* y) {
  double most = p->speed;
  for (int k = 0; k < STOP_SWEEPS && most > DBL_EPSILON * p->speed; k++) {
    most = 0.0;
    for (int i = 0; i < p->n; i++) {
      bool rests =
          has_friction(p, i) && is_spatial(p, i) && p->s->sign[i] == 0.0 && p->s->bound[i] == 0.0;
      most = rests ? fmax(most, stop_slip(p, y, i)) : most;
    }
  }
}

/* Transition of a contact by its event. */
static void switch_status(const springs* p, double* y, int kind, int i) {
  int r = p->laws->first[i];
  bool had_overlap = y[p->m + i] > 0.0;
  switch (kind) {
  case PRESSED:
    p->s->status[i] = IN;
    break;
  case TURNS:
    if (p->s->status[i] == OUT) {
      p->s->status[i] = IN;
      y[r] = -DBL_MIN;
    } else if (had_overlap) {
      p->s->status[i] = OUT;
      y[r] = DBL_MIN;
    } else {
      p->s->status[i] = IDLE;
      y[p->m + i] = 0.0;
    }
    break;
  case APART:
    p->s->status[i] = IDLE;
    y[p->m + i] = 0.0;
    break;
  case REST:
    y[r + 1] = is_spatial(p, i) ? y[r + 1] : 0.0;
    p->s->sign[i] = 0.0;
    break;
  case LEAVES:
    p->s->sign[i] = 1.0;
    break;
  default: /* SLIDE: release() finds the sense */
    break;
  }
}

/* Other events at the same instant. */
static void look_again(const springs* p, double* y) {
  double tiny = no_velocity * p->speed;
  for (int i = 0; i < p->n; i++) {
    int r = p->laws->first[i];
    double* d = overlap(p, y) + i;
    int* status = &p->s->status[i];
    if (*status == OUT && *d <= 0.0) {
      *d = 0.0;
      *status = IDLE;
    }
    if (*status == IN && y[r] > 0.0 && *d > 0.0) {
      *status = OUT;
    } else if (*status != IN && y[r] < -tiny) {
      *status = IN;
    }
    if (!has_friction(p, i)) {
      continue;
    }
    double slip = size_of(p, i, y + r + 1);
    double none = is_spatial(p, i) ? stops_too : no_slip;
    if (p->s->sign[i] != 0.0 && slip <= none * p->speed) {
      y[r + 1] = is_spatial(p, i) ? y[r + 1] : 0.0;
      p->s->sign[i] = 0.0;
    } else if (p->s->sign[i] == 0.0 && slip > moves * p->speed) {
      p->s->sign[i] = y[r + 1] > 0.0 || is_spatial(p, i) ? 1.0 : -1.0;
    }
  }
}

/* No contact is compressed, and none approaches. */
static bool has_ended(const springs* p, double* y, bool begun) {
  bool all_idle = true;
  bool at_rest = begun;
  for (int i = 0; i < p->n; i++) {
    bool idle = p->s->status[i] == IDLE;
    bool touches = p->s->status[i] == IN && !(overlap(p, y)[i] > 0.0) &&
                   y[p->laws->first[i]] >= -no_velocity * p->speed;
    all_idle = all_idle && idle;
    at_rest = at_rest && (idle || touches);
  }
  return all_idle || at_rest;
}

static saltus_status check(const springs* p, saltus_log log) {
  for (int i = 0; i < p->n; i++) {
    const saltus_impact_contact* c = &p->contact[i];
    const char* name = c->name != NULL ? c->name : "";
    if (!(c->e_N >= least_e)) {
      saltusi_log(log, SALTUS_LEVEL_ERROR,
                  "impacts by springs (lzb) need restitution of at least %g; contact %s has %g",
                  least_e, name, c->e_N);
      return SALTUS_ERR_RANGE;
    }
  }
  return SALTUS_OK;
}

/* Time in which a spring stops the fastest approach; it scales the first step. */
static double time_scale(const springs* p) {
  double most = DBL_MIN;
  for (int i = 0; i < p->n; i++) {
    int r = p->laws->first[i];
    most = fmax(most, row_of(p, r)[r] * stiffness(p, i));
  }
  return pow(p->speed * p->speed / most, 1.0 / (p->eta + 1.0)) / p->speed;
}

static void start(springs* p) {
  saltusi_flow* flow = &p->laws->flow;
  int n = 2 * p->m + p->n;
  flow->n = n;
  flow->rate = rate;
  flow->guard = guards;
  flow->self = p;
  flow->group = p->s->group;
  flow->floor[0] = p->speed;
  flow->floor[1] = flow->floor[2] = flow->floor[3] = 0.0;
  flow->h = 1e-3 * time_scale(p);
  memset(flow->y, 0, (size_t)n * sizeof(double));
  memcpy(flow->y, p->laws->u, (size_t)p->m * sizeof(double));
  for (int i = 0; i < n; i++) {
    p->s->group[i] = i < p->m ? 0 : i < p->m + p->n ? 1 : 2;
  }
  for (int i = 0; i < p->n; i++) {
    int r = p->laws->first[i];
    double slip = has_friction(p, i) ? size_of(p, i, flow->y + r + 1) : 0.0;
    double least = is_spatial(p, i) ? leaves : no_velocity;
    double sense = is_spatial(p, i) || flow->y[r + 1] > 0.0 ? 1.0 : -1.0;
    p->s->status[i] = flow->y[r] <= 0.0 ? IN : IDLE;
    p->s->sign[i] = slip <= least * p->speed ? 0.0 : sense;
    p->s->bound[i] = 0.0;
    p->friction = p->friction || has_friction(p, i);
  }
}

saltus_status saltusi_lzb(saltusi_laws* laws, const saltus_impacts* rule,
                          const saltus_impact* impact, saltus_log log,
                          saltus_impact_result* result) {
  assert(laws != NULL && rule != NULL && impact != NULL && result != NULL);
  springs p = {.laws = laws,
               .s = &laws->springs,
               .impact = impact,
               .contact = laws->contact,
               .n = impact->count,
               .m = impact->rows,
               .eta = rule->exponent > 0.0 ? rule->exponent : 1.0,
               .speed = saltusi_max_abs(impact->rows, impact->u)};
  saltus_status status = check(&p, log);
  if (status != SALTUS_OK || p.speed == 0.0) {
    return status;
  }
  start(&p);
  double* y = laws->flow.y;
  for (int k = 0; k < EVENTS_MAX; k++) {
    if (p.friction) {
      release(&p, y);
    }
    if (has_ended(&p, y, k > 0)) {
      saltusi_impact_add(laws, impact, y + p.m + p.n, result);
      return SALTUS_OK;
    }
    list_guards(&p);
    int fired = saltusi_flow_run(&laws->flow);
    if (fired < 0) {
      break;
    }
    switch_status(&p, y, p.s->what[fired], p.s->who[fired]);
    look_again(&p, y);
    stop_slips(&p, y);
    result->hits++;
  }
  saltusi_log(log, SALTUS_LEVEL_ERROR,
              "impact by springs (lzb): no end was found in %d events of contacts", result->hits);
  return SALTUS_ERR_STALLED;
}
