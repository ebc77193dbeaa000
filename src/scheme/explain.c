/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * explain.c - why a step failed.
 */
#include "base/log.h"
#include "base/number.h"
#include "scheme/scheme_internal.h"

#include "math/matrix.h"
#include "system/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names the quantity that is not finite in a failed step. The step is repeated with a probe that
 * checks every value of the system; then the motion beyond it is sampled, since a pole stops steps
 * before it. False: nothing found. */
static bool find_undefined(saltus_scheme* scheme, char* text, size_t size) {
  const tried_from tried = scheme->tried_from;
  const saltus_system sys = scheme->eval.sys;
  saltusi_probe_record* record = &scheme->undefined;
  text[0] = '\0';
  if (tried.from == NULL) {
    return false;
  }
  record->what = NULL;
  memcpy(record->v, tried.from->v, (size_t)sys.dims.nv * sizeof(double));
  saltusi_probe probe;
  saltus_step_report report;
  const saltus_log log = scheme->log;
  scheme->eval.sys = saltusi_probe_over(&probe, &sys, record);
  scheme->log = (saltus_log){0}; /* the first trial has logged its messages */
  saltusi_scheme_try(scheme, tried.t, tried.h, tried.from, tried.to, &report);
  scheme->eval.sys = sys;
  scheme->log = log;
  if (record->what == NULL) {
    const saltus_point from = {.t = tried.t, .q = tried.from->q, .v = tried.from->v};
    return saltusi_diagnose_ahead(&sys, &from, tried.h, record->q, &scheme->memory, text, size) ==
           SALTUS_ERR_UNDEFINED;
  }
  const saltus_point at = {.t = record->t, .q = record->q, .v = record->v};
  if (saltusi_diagnose(&sys, &at, true, &scheme->memory, text, size) != SALTUS_ERR_UNDEFINED) {
    saltusi_print(text, size, "%s is not finite at t = %.9g s", record->what, record->t);
  }
  return true;
}

/* Reason of the failure by the system's own report. */
static bool find_obstacle(const saltus_scheme* scheme, double t, double h, char* text,
                          size_t size) {
  const saltus_system* sys = &scheme->eval.sys;
  if (sys->ops->obstacle == NULL || scheme->tried_from.from == NULL) {
    return false;
  }
  const saltus_point at = {
      .t = t, .q = scheme->tried_from.from->q, .v = scheme->tried_from.from->v};
  return sys->ops->obstacle(sys->self, &at, h, text, size);
}

/* Positions that could not be projected onto a joint. */
static void explain_projection(const saltus_scheme* scheme, double t, double h) {
  char names[256];
  const saltusi_contradiction left = {.count = 1, .joint = {scheme->projection->failed}};
  saltusi_log(
      scheme->log, SALTUS_LEVEL_ERROR,
      "scheme %s: the step from t = %.17g with h = %g failed: positions cannot be moved back "
      "onto joint %s, which is open by %.3g; a smaller step leaves less to move",
      scheme->ops->info.name, t, h,
      saltusi_joints_names(&scheme->eval.sys, &left, names, sizeof names),
      scheme->projection->left);
}

/* The joint that opens most along the velocities at the start of a step that was not solved, by more than 1e-6 of the
 * displacement; joints of bodies at rest are no cause. */
static bool find_open_joint(const saltus_scheme* scheme, double t, double h, char* text,
                            size_t size) {
  const saltus_system* sys = &scheme->eval.sys;
  const saltus_allocator* memory = &scheme->memory;
  const size_t nq = (size_t)sys->dims.nq, nj = (size_t)sys->dims.nj;
  if (nj == 0 || scheme->tried_from.from == NULL) {
    return false;
  }
  const double* v = scheme->tried_from.from->v;
  const double least = fmax(1e-6 * h * saltusi_max_abs(sys->dims.nv, v), SALTUSI_CONSISTENT);
  const size_t bytes = (nq + 2 * nj) * sizeof(double) + sys->dims.scratch;
  double* q = memory->alloc(bytes, memory->user);
  if (q == NULL) {
    return false;
  }
  double *g = q + nq, *before = g + nj;
  memset(q, 0, bytes);
  saltus_point at = {.t = t, .q = scheme->tried_from.from->q, .v = v, .scratch = before + nj};
  sys->ops->joints(sys->self, &at, before);
  saltusi_advance(sys, scheme->tried_from.from->q, v, h, q);
  at.t = t + h;
  at.q = q;
  sys->ops->joints(sys->self, &at, g);
  int worst = 0;
  for (int j = 0; j < sys->dims.nj; j++) {
    g[j] -= before[j];
    worst = fabs(g[j]) > fabs(g[worst]) ? j : worst;
  }
  const bool opens = fabs(g[worst]) > least && isfinite(g[worst]);
  if (opens) {
    char names[256];
    const saltusi_contradiction open = {.count = 1, .joint = {worst}};
    saltusi_print(text, size, "joint %s opens most along its velocities, by %.3g",
                  saltusi_joints_names(sys, &open, names, sizeof names), g[worst]);
  }
  memory->free(q, bytes, memory->user);
  return opens;
}

/* The contact with the smallest gap at the start of a step that was not solved, and for a scheme with fixed steps at the
 * positions that its velocities reach in the step. */
static bool find_nearest_contact(const saltus_scheme* scheme, double t, double h, char* text,
                                 size_t size) {
  const saltus_system* sys = &scheme->eval.sys;
  const saltus_allocator* memory = &scheme->memory;
  const saltus_state* from = scheme->tried_from.from;
  if (sys->ops->contacts == NULL || from == NULL) {
    return false;
  }
  const double ahead = scheme->ops->info.locates_events ? 0.0 : h;
  const size_t nq = (size_t)sys->dims.nq;
  saltus_status status = SALTUS_RETRY_CAPACITY;
  for (int room = sys->dims.nc + 1; status == SALTUS_RETRY_CAPACITY && room < 1 << 20; room *= 4) {
    const size_t doubles = nq + 3 * (size_t)room;
    const size_t bytes = doubles * sizeof(double) + sys->dims.scratch;
    double* q = memory->alloc(bytes, memory->user);
    if (q == NULL) {
      return false;
    }
    memset(q, 0, bytes);
    saltusi_advance(sys, from->q, from->v, ahead, q);
    saltus_contact_list list = {.count = sys->dims.nc,
                                .capacity = room,
                                .reach = 1e-6 * fmax(1.0, saltusi_max_abs(sys->dims.nq, q)),
                                .gap = q + nq,
                                .identity = (uint64_t*)(q + nq) + room,
                                .law = (int*)(q + nq + 2 * (size_t)room)};
    const saltus_point at = {.t = t + ahead, .q = q, .v = from->v, .scratch = q + doubles};
    status = sys->ops->contacts(sys->self, &at, &list);
    int least = 0;
    for (int i = 1; status == SALTUS_OK && i < list.count; i++) {
      least = list.gap[i] < list.gap[least] ? i : least;
    }
    if (status == SALTUS_OK && list.count > 0) {
      char name[SALTUSI_CONTACT_TEXT];
      const bool fixed = (sys->traits & SALTUS_CHANGING_CONTACTS) == 0;
      const uint64_t identity = fixed ? (uint64_t)least : list.identity[least];
      saltusi_print(text, size, "contact %s has the smallest gap, %.3g m at t = %.10g s%s",
                    saltusi_identity_label(sys, identity, list.law[least], name, sizeof name),
                    list.gap[least], at.t, ahead > 0.0 ? " by its velocities" : "");
    }
    memory->free(q, bytes, memory->user);
    if (status == SALTUS_OK) {
      return list.count > 0;
    }
  }
  return false;
}

/* A limit of the scheme that was reached. */
static void explain_bound(saltus_scheme* scheme, const saltusi_bound* bound, double t, double h) {
  int law = saltusi_scheme_law(scheme, bound->key);
  char contact[SALTUSI_CONTACT_TEXT];
  saltusi_key_label(&scheme->eval, bound->key, law, contact);
  if (bound->kind == SALTUSI_BOUND_LAW) {
    saltusi_log(
        scheme->log, SALTUS_LEVEL_ERROR,
        "scheme %s: the step from t = %.17g with h = %g failed: up to t = %.10g s contact %s "
        "has a mean %s force of %.4g N, Coulomb's law allows %.4g N; a smaller step may satisfy it",
        scheme->ops->info.name, t, h, bound->t, contact, bound->what, bound->value, bound->limit);
    return;
  }
  if (bound->kind == SALTUSI_BOUND_IMPACT) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: the step from t = %.17g with h = %g failed: at t = %.10g s no impulse "
                "of contact %s satisfies its impact law with this friction: joints wedge it",
                scheme->ops->info.name, t, h, bound->t, contact);
    return;
  }
  if (bound->kind == SALTUSI_BOUND_PENETRATION) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: the step from t = %.17g with h = %g failed: at t = %.10g s contact %s "
                "penetrates by %.3g m, and no displacement resolves this together with the other "
                "penetrations: the step is too large for these surfaces",
                scheme->ops->info.name, t, h, bound->t, contact, bound->value);
    return;
  }
  saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
              "scheme %s: the step from t = %.17g with h = %g was abandoned at t = %.10g s after "
              "%lld %s, the next at contact %s; a smaller step has fewer",
              scheme->ops->info.name, t, h, bound->t, bound->count, bound->what, contact);
}

/* Any other failure: undefined values if any, else the obstacle or the joint that opens, and the nearest contact. */
static void explain_unsolved(const saltus_scheme* scheme, saltus_status status, double t, double h,
                             const char* undefined) {
  char cause[640] = "", contact[SALTUSI_CONTACT_TEXT + 96] = "";
  const bool found = undefined != NULL || find_obstacle(scheme, t, h, cause, sizeof cause) ||
                     find_open_joint(scheme, t, h, cause, sizeof cause);
  const bool near = status == SALTUS_RETRY_SMALLER && undefined == NULL &&
                    find_nearest_contact(scheme, t, h, contact, sizeof contact);
  const bool unsolved = status == SALTUS_RETRY_SMALLER && scheme->ops->info.chooses_step;
  saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
              "scheme %s: the step from t = %.17g with h = %g failed: %s%s%s%s%s",
              scheme->ops->info.name, t, h,
              unsolved ? "equations of a step or an event were not solved"
                       : saltus_status_text(status),
              found ? "; " : "", undefined != NULL ? undefined : cause, near ? "; " : "", contact);
}

saltus_status saltusi_scheme_explain(saltus_scheme* scheme, saltus_status status, double t,
                                     double h) {
  assert(scheme != NULL && h > 0.0);
  if (status == SALTUS_OK || status == SALTUS_ERR_STOPPED || status == SALTUS_ERR_ACCUMULATION) {
    return status; /* a Zeno point is reported by the scheme */
  }
  if (scheme->clocks != NULL && scheme->clocks->failed >= 0) {
    return saltusi_async_islands_explain(scheme->clocks, status, scheme->log);
  }
  const saltusi_bound bound =
      scheme->eval.bound; /* the search for undefined values repeats the step */
  char undefined[640] = "";
  bool reported =
      status == SALTUS_ERR_CONTRADICTION || status == SALTUS_ERR_LAW || status == SALTUS_ERR_SYSTEM;
  bool found =
      !reported && bound.what == NULL && find_undefined(scheme, undefined, sizeof undefined);
  const char* name = scheme->ops->info.name;
  if (status == SALTUS_ERR_SYSTEM) {
    const char* text = "its demand for capacity grows without bound";
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: in the step from t = %.17g s the system failed: %s", name, t,
                saltusi_failed(&scheme->eval) ? scheme->eval.failure->text : text);
    scheme->eval.failure->status = SALTUS_OK; /* it has been reported */
  } else if (status == SALTUS_ERR_SINGULAR && !found) {
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: at t = %.17g the mass matrix is singular or not finite", name, t);
  } else if (status == SALTUS_ERR_LAW && scheme->stops_at_gain) {
    char contact[SALTUSI_CONTACT_TEXT];
    const int key = scheme->gain.contact;
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: the impact at contact %s, t = %.10g s, creates %g J: Newton's law "
                "with friction can; on_energy_gain=report continues with a warning",
                name,
                saltusi_key_label(&scheme->eval, key, saltusi_scheme_law(scheme, key), contact),
                scheme->gain.t, scheme->gain.energy_change);
  } else if (status == SALTUS_ERR_CONTRADICTION) {
    char names[256];
    saltusi_log(scheme->log, SALTUS_LEVEL_ERROR,
                "scheme %s: after t = %.17g joints %s contradict each other: their constraints "
                "cannot all be zero, at best %.3g",
                name, t,
                saltusi_joints_names(&scheme->eval.sys, &scheme->disagreement, names, sizeof names),
                scheme->disagreement.miss);
  } else if (bound.what != NULL) {
    explain_bound(scheme, &bound, t, h);
  } else if (scheme->projects && scheme->projection->failed >= 0) {
    explain_projection(scheme, t, h);
  } else {
    explain_unsolved(scheme, status, t, h, found ? undefined : NULL);
  }
  return status;
}
