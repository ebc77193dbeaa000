/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * substitute.c - see substitute.h.
 */
#include "scheme/substitute.h"

#include "base/log.h"
#include "math/matrix.h"
#include "scheme/event/friction_mode.h"
#include "scheme/scheme_internal.h"
#include "solve/friction/friction_curve.h"
#include "system/frictions.h"

#include <assert.h>
#include <float.h>
#include <string.h>

enum { HEAD = 2 }; /* h, t */

/* ---- whether it is needed ---------------------------------------------------------------------- */

/* Whether the friction of a contact goes beyond a slip law. Slip modes support any direction that follows from the slip;
 * impacts with a curve and a user-defined impact rule have no law. */
static bool is_more_than_slip(const saltus_contact_law* law) {
  if (law->friction == NULL) {
    return false;
  }
  saltus_friction_law plain = *law->friction;
  plain.sliding[0] = plain.sliding[1] = 0.0;
  saltus_contact_law slip = *law;
  slip.friction = &plain;
  return saltusi_friction_is_more_than_curve(&slip) ||
         (law->friction->sliding[0] > 0.0 && saltusi_has_curve(law->friction));
}

bool saltusi_friction_is_beyond(const saltusi_scheme_ops* ops, const saltus_contact_law* law) {
  assert(ops != NULL && law != NULL);
  const unsigned treats = ops->info.treats;
  if ((treats & SALTUS_TREATS_FRICTION_LAWS) != 0) {
    return false;
  }
  if ((treats & SALTUS_TREATS_FRICTION_CURVES) == 0) {
    return saltusi_friction_is_special(law);
  }
  const bool bond = law->friction != NULL && law->friction->adhesion > 0.0;
  return ops->info.locates_events ? is_more_than_slip(law)
                                  : bond || saltusi_friction_is_more_than_curve(law);
}

void saltusi_substitute_choose(saltusi_substitute* sub, const saltusi_scheme_ops* ops,
                               const saltus_system* sys, saltus_log log) {
  assert(sub != NULL && ops != NULL && sys != NULL);
  *sub = (saltusi_substitute){.laws = sys->laws};
  const bool captures = (ops->info.treats & SALTUS_TREATS_FRICTION_CURVES) != 0;
  const char* name = NULL;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    const bool beyond = saltusi_friction_is_beyond(ops, &sys->laws[i]);
    name = beyond && !sub->beyond ? sys->laws[i].name : name;
    sub->beyond = sub->beyond || beyond;
  }
  if (sys->dry_count > 0 && (ops->info.treats & SALTUS_TREATS_FRICTION_LAWS) == 0) {
    sub->always = true;
    name = sys->dry[0].name;
  }
  if (!sub->beyond && !sub->always && !(captures && saltusi_has_friction(sys))) {
    return;
  }
  sub->ops = saltusi_registry_find("moreau-extrapolated");
  saltus_options_defaults(&sub->ops->info.options, &sub->options);
  if (sub->beyond || sub->always) {
    saltusi_log(log, SALTUS_LEVEL_WARNING,
                "scheme %s: friction of %s \"%s\" is not in its steps; %s steps of %s",
                ops->info.name, sub->always ? "joint" : "contact", name != NULL ? name : "",
                sub->always ? "all are" : "those in which it is closed are", sub->ops->info.name);
  }
}

/* ---- memory and dense output ------------------------------------------------------------------- */

static saltus_system system_of(const saltus_scheme* scheme, const saltus_system* sys) {
  saltus_system whole = *sys;
  whole.laws = scheme->sub.laws;
  return whole;
}

static size_t own_memory(const saltus_scheme* scheme, const saltus_system* sys) {
  return scheme->ops->memory_count != NULL ? scheme->ops->memory_count(scheme->options, sys) : 0;
}

size_t saltusi_scheme_memory_doubles(const saltus_scheme* scheme, const saltus_system* sys) {
  assert(scheme != NULL && sys != NULL);
  const saltusi_substitute* sub = &scheme->sub;
  const saltus_system whole = system_of(scheme, sys);
  return own_memory(scheme, sys) +
         (sub->ops != NULL ? sub->ops->memory_count(&sub->options, &whole) : 0);
}

void saltusi_scheme_transfer_memory(const saltus_scheme* scheme, saltusi_state_transfer* carry) {
  assert(scheme != NULL && carry != NULL);
  const saltusi_substitute* sub = &scheme->sub;
  const saltus_system* sys = &scheme->eval.sys;
  if (scheme->ops->carry_memory != NULL) {
    scheme->ops->carry_memory(scheme->options, sys, carry);
  } else {
    saltusi_transfer_plain(carry, own_memory(scheme, sys));
  }
  if (sub->ops != NULL) {
    const saltus_system whole = system_of(scheme, sys);
    sub->ops->carry_memory(&sub->options, &whole, carry);
  }
}

static size_t own_dense(const saltus_scheme* scheme, const saltus_system* sys) {
  return scheme->ops->dense_count != NULL ? scheme->ops->dense_count(scheme->options, sys) : 0;
}

static size_t states(const saltus_dims* d) {
  return HEAD + 2 * ((size_t)d->nq + (size_t)d->nv);
}

size_t saltusi_scheme_dense_doubles(const saltus_scheme* scheme, const saltus_system* sys) {
  assert(scheme != NULL && sys != NULL);
  const size_t own = own_dense(scheme, sys);
  return own +
         (scheme->sub.ops != NULL && own > 0 ? states(&sys->dims) + 3 * (size_t)sys->dims.nc : 0);
}

void saltusi_scheme_transfer_dense(const saltus_scheme* scheme, saltusi_state_transfer* carry) {
  assert(scheme != NULL && carry != NULL);
  const saltus_system* sys = &scheme->eval.sys;
  if (scheme->ops->carry_dense != NULL) {
    scheme->ops->carry_dense(scheme->options, sys, carry);
  } else {
    saltusi_transfer_plain(carry, own_dense(scheme, sys));
  }
  if (scheme->sub.ops != NULL) {
    saltusi_transfer_plain(carry, states(&sys->dims));
    saltusi_transfer_each(carry, 3);
  }
}

/* Parts of the dense output of a step. */
typedef struct dense_parts {
  double *h, *t, *q0, *v0, *q1, *v1;
  double* impulse; /* [3 nc] by key */
} dense_parts;

static dense_parts parts_of(const saltus_scheme* scheme, double* data) {
  const saltus_dims* d = &scheme->eval.sys.dims;
  dense_parts p = {.h = data + own_dense(scheme, &scheme->eval.sys)};
  p.t = p.h + 1;
  p.q0 = p.h + HEAD;
  p.v0 = p.q0 + d->nq;
  p.q1 = p.v0 + d->nv;
  p.v1 = p.q1 + d->nq;
  p.impulse = p.v1 + d->nv;
  return p;
}

static bool is_own(const saltus_scheme* scheme, const saltusi_dense_query* query) {
  return scheme->sub.ops == NULL || *parts_of(scheme, query->data).h == 0.0;
}

static double part_of_step(const dense_parts* p, double t) {
  return fmin(fmax((t - *p->t) / *p->h, 0.0), 1.0);
}

bool saltusi_substitute_dense(const saltus_scheme* scheme, const saltusi_dense_query* query) {
  assert(scheme != NULL && query != NULL);
  if (is_own(scheme, query)) {
    return false;
  }
  const dense_parts p = parts_of(scheme, query->data);
  const saltus_system* sys = &scheme->eval.sys;
  const double s = part_of_step(&p, query->t);
  saltusi_difference(sys, p.q0, p.q1, query->v);
  saltusi_advance(sys, p.q0, query->v, s, query->q);
  if (s == 1.0) {
    memcpy(query->q, p.q1, (size_t)sys->dims.nq * sizeof(double));
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    query->v[i] = s < 1.0 ? p.v0[i] + s * (p.v1[i] - p.v0[i]) : p.v1[i];
  }
  return true;
}

bool saltusi_substitute_contact(const saltus_scheme* scheme, const saltusi_dense_query* query,
                                int key, saltus_contact_inside* contact) {
  assert(scheme != NULL && query != NULL && contact != NULL && key >= 0);
  if (is_own(scheme, query)) {
    return false;
  }
  const dense_parts p = parts_of(scheme, query->data);
  const double s = part_of_step(&p, query->t);
  *contact = (saltus_contact_inside){0};
  for (int k = 0; k < 3; k++) {
    contact->force[k] = p.impulse[3 * key + k] / *p.h;
    contact->lasting[k] = s * p.impulse[3 * key + k];
  }
  return true;
}

/* ---- one step ---------------------------------------------------------------------------------- */

void saltusi_substitute_layout(saltus_scheme* scheme, saltus_arena* arena) {
  assert(scheme != NULL && arena != NULL);
  saltusi_substitute* sub = &scheme->sub;
  sub->jump = NULL;
  if (sub->ops == NULL) {
    return;
  }
  saltus_system* sys = &scheme->eval.sys;
  const saltus_contact_law* laws = sys->laws;
  const saltus_contact_law* curves = scheme->eval.curves;
  scheme->eval.curves = NULL;
  sys->laws = sub->laws;
  saltusi_contact_list_layout(&sub->list, &sys->dims, arena);
  if (sub->jumps) {
    saltusi_impact_step counted = {0};
    sub->jump = SALTUS_PUSH(arena, saltusi_impact_step, 1);
    saltusi_impact_step* jump = sub->jump != NULL ? sub->jump : &counted;
    jump->ahead = 1;
    saltusi_impact_step_layout(jump, sub->laws, &scheme->eval, scheme->carried, arena);
    sys->laws = jump->laws != NULL ? jump->laws : sub->laws;
  }
  sub->ops->layout(sub->work, &sub->options, &scheme->eval, arena);
  scheme->eval.curves = curves;
  sys->laws = laws;
}

void saltusi_substitute_laws(saltus_scheme* scheme, bool active) {
  assert(scheme != NULL);
  saltusi_substitute* sub = &scheme->sub;
  saltus_system* sys = &scheme->eval.sys;
  sub->active = active;
  scheme->eval.curves = active ? NULL : scheme->curves;
  if (active) {
    sys->laws = sub->jump != NULL ? sub->jump->laws : sub->laws;
  } else {
    sys->laws = scheme->jump != NULL ? scheme->jump->laws : scheme->own;
  }
}

saltus_status saltusi_substitute_starts(saltus_scheme* scheme, bool* needed) {
  assert(scheme != NULL && needed != NULL);
  saltusi_substitute* sub = &scheme->sub;
  const saltus_system* sys = &scheme->eval.sys;
  const saltusi_step* step = &scheme->step;
  *needed = sub->always;
  if (sub->always || !sub->beyond) {
    return SALTUS_OK;
  }
  const saltus_point at = saltusi_at(&scheme->eval, step->t, step->q0, step->v0);
  const saltus_status status = saltusi_contacts(sys, &at, &sub->list);
  const double closed = 16.0 * DBL_EPSILON * fmax(1.0, saltusi_max_abs(sys->dims.nq, step->q0));
  for (int i = 0; status == SALTUS_OK && i < sub->list.count; i++) {
    *needed = *needed || (sub->list.gap[i] <= closed &&
                          saltusi_friction_is_beyond(scheme->ops, &sub->laws[sub->list.law[i]]));
  }
  return status;
}

static bool touches_beyond(const saltus_scheme* scheme) {
  for (int i = 0; i < scheme->step.report->active; i++) {
    if (saltusi_friction_is_beyond(scheme->ops, &scheme->sub.laws[scheme->contacts[i].law])) {
      return true;
    }
  }
  return false;
}

bool saltusi_substitute_replaces(saltus_scheme* scheme, saltus_status status) {
  assert(scheme != NULL);
  const saltusi_bound* bound = &scheme->eval.bound;
  if (scheme->eval.room.lacks || saltusi_failed(&scheme->eval)) {
    return false;
  }
  if (status == SALTUS_RETRY_SMALLER && bound->what != NULL &&
      bound->kind == SALTUSI_BOUND_PAINLEVE) {
    return true;
  }
  if (scheme->sub.beyond &&
      (status == SALTUS_OK ? touches_beyond(scheme)
                           : status == SALTUS_RETRY_SMALLER || status == SALTUS_RETRY_NAN)) {
    return true;
  }
  const size_t own = own_memory(scheme, &scheme->eval.sys);
  memset(scheme->memory1 + own, 0, (scheme->carried - own) * sizeof(double));
  if (scheme->dense_count > 0) {
    *parts_of(scheme, scheme->dense[0].data).h = 0.0;
  }
  return false;
}

static void write_dense(const saltus_scheme* scheme, const double* v0) {
  const saltusi_step* step = &scheme->step;
  const saltus_dims* d = &scheme->eval.sys.dims;
  if (scheme->dense_count == 0) {
    return;
  }
  memset(step->dense, 0, scheme->dense_count * sizeof(double));
  const dense_parts p = parts_of(scheme, step->dense);
  *p.h = step->h;
  *p.t = step->t;
  memcpy(p.q0, step->q0, (size_t)d->nq * sizeof(double));
  memcpy(p.v0, v0, (size_t)d->nv * sizeof(double));
  memcpy(p.q1, step->q1, (size_t)d->nq * sizeof(double));
  memcpy(p.v1, step->v1, (size_t)d->nv * sizeof(double));
  for (int i = 0; i < step->report->active; i++) {
    const saltus_contact_step* c = &scheme->contacts[i];
    memcpy(p.impulse + 3 * (size_t)c->key, c->impulse, sizeof c->impulse);
  }
}

saltus_status saltusi_substitute_step(saltus_scheme* scheme) {
  assert(scheme != NULL && scheme->sub.ops != NULL);
  saltusi_substitute* sub = &scheme->sub;
  const size_t own = own_memory(scheme, &scheme->eval.sys);
  saltusi_substitute_laws(scheme, true);
  memset(scheme->memory1, 0, own * sizeof(double));
  saltusi_step step = scheme->step;
  step.memory0 += own;
  step.memory1 += own;
  step.events = NULL;
  step.jump = NULL;
  saltus_status status = SALTUS_OK;
  if (sub->jump != NULL) {
    sub->jump->replaced = -1;
    status = saltusi_impact_step_start(sub->jump, &step);
    if (status == SALTUS_OK && sub->jump->count > 0) {
      step.v0 = sub->jump->v;
      step.memory0 = sub->jump->fresh;
    }
  }
  if (status == SALTUS_OK) {
    status = sub->ops->step(sub->work, &sub->options, &step);
  }
  if (status == SALTUS_OK && sub->jump != NULL) {
    saltusi_impact_step_report(sub->jump, &step);
    saltusi_impact_step_remark(sub->jump, &step);
  }
  if (status == SALTUS_OK) {
    step.report->method = sub->ops->info.name;
    write_dense(scheme, step.v0);
  }
  return status;
}
