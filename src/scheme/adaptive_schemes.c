/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive_schemes.c - integration to a tolerance as schemes that choose their steps: src/adaptive.
 */
#include "adaptive/adaptive.h"
#include "base/log.h"
#include "math/matrix.h"
#include "saltus/adaptive.h"
#include "scheme/scheme_ops.h"
#include "system/impacts.h"

#include <string.h>

static const char* const gain_answers[] = {"report", "cap",        "poisson", "energetic",
                                           "stop",   "tangential", NULL};

static const char* const no_yes[] = {"no", "yes", NULL};

static const saltus_field fields[] = {
    SALTUS_REAL(saltus_adaptive_options, rtol, 1e-6, 1e-14, 0.1, "relative tolerance"),
    SALTUS_REAL(saltus_adaptive_options, atol, 1e-6, 1e-300, 1e300,
                "absolute tolerance of positions, in their units"),
    SALTUS_REAL(saltus_adaptive_options, atol_velocity, 0.0, 0.0, 1e300,
                "absolute tolerance of velocities; 0: the same number as atol"),
    SALTUS_REAL(saltus_adaptive_options, h_max, 0.0, 0.0, 1e300, "longest step; 0: none [s]"),
    SALTUS_REAL(saltus_adaptive_options, h_first, 0.0, 0.0, 1e300, "first step; 0: automatic [s]"),
    SALTUS_CHOICE(saltus_adaptive_options, on_energy_gain, SALTUS_GAIN_REPORT,
                  SALTUS_GAIN_TANGENTIAL, gain_answers,
                  "response to an impact whose law creates energy"),
    SALTUS_CHOICE(saltus_adaptive_options, accept_degraded, 0, 1, no_yes,
                  "whether a run may end although captured intervals exceed the tolerance"),
};

#define TABLE SALTUSI_TABLE(saltus_adaptive_options, fields)

SALTUSI_DEFAULTS(saltus_adaptive_options, saltus_adaptive_options_default, fields)

/* Appends an event to the report of the current step. */
static void report(void* who, const saltus_event* event) {
  saltusi_step_event(who, event);
}

static void withdraw(void* who) {
  const saltusi_step* s = who;
  if (s->events != NULL) {
    s->events->count = 0;
  }
}

/* Total impulse of each contact: non-impulsive forces plus impacts. Events list the impacts
 * separately. */
static void report_contacts(const saltusi_adaptive* w, const saltusi_step* s) {
  for (int key = 0; key < w->o.contacts; key++) {
    bool acted = w->outcome.hit[key] || saltusi_is_closed(&w->contact[key]);
    for (int k = 0; k <= w->o.tangents[key]; k++) {
      acted = acted || w->outcome.lasting[w->o.base[key] + k] != 0.0;
    }
    if (!acted) {
      continue;
    }
    saltus_contact_step* contact = &s->contacts[s->report->active++];
    *contact = (saltus_contact_step){.key = key,
                                     .law = (int)(w->o.law[key] - w->sys->laws),
                                     .u_before = w->outcome.u_impact[2 * key],
                                     .u_after = w->outcome.u_impact[2 * key + 1],
                                     .impact = w->outcome.hit[key]};
    for (int k = 0; k <= w->o.law[key]->tangents; k++) {
      int r = w->o.base[key] + k;
      contact->impulse[k] = w->outcome.lasting[r] + w->outcome.impacts[r];
    }
  }
}

/* Workspace of a step of a scheme; memory1 is the only memory that is written. */
static saltusi_adaptive* open_step(void* work, const void* options, const saltusi_step* s,
                                   int method) {
  saltusi_adaptive* w = work;
  const saltus_adaptive_options* o = options;
  bool implicit = method >= SALTUSI_RADAU5;
  size_t count = saltusi_adaptive_memory_count(&s->eval->sys, implicit);
  memcpy(s->memory1, s->memory0, count * sizeof(double));
  w->eval = s->eval;
  w->sys = &s->eval->sys;
  w->o.settings = (saltusi_adaptive_settings){
      .rtol = o->rtol,
      .atol = o->atol,
      .atol_v = o->atol_velocity > 0.0 ? o->atol_velocity : o->atol,
      .atol_q_each = s->atol_q,
      .atol_v_each = s->atol_v,
      .h_max = o->h_max,
      .h_first = o->h_first,
      .method = method,
      .on_energy_gain = (saltus_energy_gain)o->on_energy_gain,
  };
  w->step.t = s->t;
  w->report = report;
  w->withdraw = withdraw;
  w->who = (void*)(uintptr_t)s;
  w->log = s->log;
  return w;
}

static saltus_status step(void* work, const void* options, const saltusi_step* s, int method) {
  saltusi_adaptive* w = open_step(work, options, s, method);
  const saltus_dims* d = &s->eval->sys.dims;
  long long rejections = w->counts.rejections, proven = w->counts.proven;
  long long sampled = w->counts.sampled, dry_events = w->counts.dry_events;
  saltus_status status = saltusi_adaptive_step(w, s->memory1, s->h, s->q0, s->v0, s->q1, s->v1);
  if (status != SALTUS_OK) {
    return status;
  }
  report_contacts(w, s);
  for (int j = 0; j < d->nj; j++) {
    s->joint_impacts[j] = w->outcome.joint_impacts[j];
    s->joint_impulses[j] = w->outcome.joint_lasting[j] + w->outcome.joint_impacts[j];
  }
  s->report->h = w->outcome.length;
  s->report->error = w->step.error;
  s->report->method = saltusi_adaptive_ops_of(w->memory->method_used)->name;
  s->report->limit = w->step.limit;
  s->report->limit_index = w->step.limit == SALTUS_LIMIT_POSITION   ? w->step.worst
                           : w->step.limit == SALTUS_LIMIT_VELOCITY ? w->step.worst - w->o.nq
                           : w->step.limit == SALTUS_LIMIT_IMPULSE
                               ? saltusi_adaptive_contact_of(w, w->step.worst)
                               : 0;
  s->report->error_order = w->step.ops->order;
  s->report->rejections = (int)(w->counts.rejections - rejections);
  s->report->proven = (int)(w->counts.proven - proven);
  s->report->sampled = (int)(w->counts.sampled - sampled);
  s->report->dry_events = (int)(w->counts.dry_events - dry_events);
  s->report->captured = w->outcome.captured;
  s->report->residual_velocity = w->counts.residual_velocity;
  s->report->residual_impulse = w->counts.residual_impulse;
  s->report->projection = w->counts.projection;
  saltusi_adaptive_dense_write(w, s->dense);
  return SALTUS_OK;
}

static size_t dense_count(const void* options, const saltus_system* sys) {
  (void)options;
  return saltusi_adaptive_dense_count(sys);
}

static void carry_dense(const void* options, const saltus_system* sys,
                        saltusi_state_transfer* carry) {
  (void)options;
  saltusi_adaptive_transfer_dense(sys, carry);
}

static saltusi_moment moment_of(const saltusi_dense_query* query) {
  return (saltusi_moment){
      .t = query->t, .right = query->side == SALTUS_RIGHT, .smooth = query->smooth};
}

static saltus_status dense(void* work, const void* options, const saltusi_dense_query* query) {
  (void)work;
  (void)options;
  saltusi_adaptive_dense_read(&query->eval->sys, query->data, moment_of(query), query->q, query->v);
  return SALTUS_OK;
}

static void dense_contact(void* work, const void* options, const saltusi_dense_query* query,
                          int key, saltus_contact_inside* contact) {
  const saltusi_adaptive* w = work;
  (void)options;
  *contact = (saltus_contact_inside){.force = {0.0}};
  const saltusi_contact_dense_output into = {contact->force, contact->lasting, contact->impulse};
  saltusi_adaptive_dense_contact(&w->o, query->data, moment_of(query), key, into);
  double scale = saltusi_friction_scale(w->o.law[key]); /* rows were scaled */
  contact->force[2] *= scale;
  contact->lasting[2] *= scale;
  contact->impulse[2] *= scale;
}

static void dense_joints(void* work, const void* options, const saltusi_dense_query* query,
                         double* force, double* lasting) {
  const saltusi_adaptive* w = work;
  (void)options;
  const saltusi_moment at = {
      .t = query->t, .right = query->side == SALTUS_RIGHT, .smooth = query->smooth};
  saltusi_adaptive_dense_joints(&w->o, query->data, at, force, lasting);
}

static void dense_power(void* work, const void* options, const saltusi_dense_query* query,
                        double power[2]) {
  const saltusi_adaptive* w = work;
  (void)options;
  saltusi_adaptive_dense_power(&w->o, query->data, query->t, power);
}

static void dense_work(void* work, const void* options, const saltusi_dense_query* query,
                       double into[2]) {
  (void)work;
  (void)options;
  saltusi_adaptive_dense_work(query->data, into);
}

/* Contact rows into three slots for each contact. */
static void spread(const saltusi_layout_tables* o, const double* rows, double* out) {
  for (int key = 0; key < o->contacts; key++) {
    int count = 1 + o->law[key]->tangents;
    int first = o->base[key];
    for (int k = 0; k < 3; k++) {
      out[3 * key + k] = k < count ? rows[first + k] : 0.0;
    }
    out[3 * key + 2] *= saltusi_friction_scale(o->law[key]);
  }
}

static bool dense_bounce(void* work, const void* options, const saltusi_dense_query* query,
                         saltusi_bounce_inside* bounce) {
  const saltusi_adaptive* w = work;
  (void)options;
  saltusi_bounce b;
  if (!saltusi_adaptive_dense_bounce(&w->o, query->data, moment_of(query), &b)) {
    return false;
  }
  spread(&w->o, b.mass, bounce->mass);
  bounce->key = b.key;
  bounce->start = b.start;
  bounce->speed = b.speed;
  bounce->since = b.since;
  bounce->launch = b.launch;
  return true;
}

static saltus_status forces(void* work, const void* options, const saltusi_step* s, double* out,
                            int method) {
  saltusi_adaptive* w = open_step(work, options, s, method);
  const saltus_dims* d = &s->eval->sys.dims;
  w->report = NULL; /* events at t0 are reported by the first step */
  w->log = (saltus_log){0};
  saltus_status status = saltusi_adaptive_forces(w, s->memory1, s->h, s->q0, s->v0);
  if (status == SALTUS_OK) {
    const double* rate = w->search.probe_rate + w->o.nq + w->o.nv;
    spread(&w->o, rate, out);
    memcpy(out + 3 * (size_t)d->nc, rate + w->o.nl, (size_t)d->nj * sizeof(double));
  }
  return status;
}

/* Name of a friction law that no contact status represents; NULL: all are represented. */
static const char* untreated(const saltus_contact_law* contact, bool special) {
  const saltus_friction_law* law = contact->friction;
  if (law == NULL) {
    return NULL;
  }
  if (law->sliding[0] > 0.0 && (special || contact->impact != SALTUS_IMPACT_NEWTON)) {
    return "sliding coefficients of their own with another impact law than Newton's";
  }
  return law->adhesion > 0.0 && law->shear != 0.0 ? "a bond with a shear of its own" : NULL;
}

static saltus_status check(const void* options, const saltus_system* sys, saltus_log log) {
  (void)options;
  for (int i = 0; i < sys->law_count; i++) {
    const char* what = untreated(&sys->laws[i], saltusi_impacts_special(sys));
    if (what != NULL) {
      saltusi_log(log, SALTUS_LEVEL_ERROR, "adaptive: contact %d \"%s\": %s is not treated", i,
                  sys->laws[i].name != NULL ? sys->laws[i].name : "", what);
      return SALTUS_ERR_UNSUPPORTED;
    }
  }
  return SALTUS_OK;
}

#define TREATS                                                                                     \
  (SALTUS_TREATS_JOINTS | SALTUS_TREATS_FRICTION | SALTUS_TREATS_POISSON |                         \
   SALTUS_TREATS_CHANGING_CONTACTS | SALTUS_TREATS_MAPS | SALTUS_TREATS_LAWS |                     \
   SALTUS_TREATS_FRICTION_LAWS)

#define SCHEME(id, label, which, p, text, origin)                                                  \
  static size_t memory_##id(const void* options, const saltus_system* sys) {                       \
    (void)options;                                                                                 \
    return saltusi_adaptive_memory_count(sys, (which) >= SALTUSI_RADAU5);                          \
  }                                                                                                \
  static void carry_##id(const void* options, const saltus_system* sys,                            \
                         saltusi_state_transfer* carry) {                                          \
    (void)options;                                                                                 \
    saltusi_adaptive_transfer_memory(sys, (which) >= SALTUSI_RADAU5, carry);                       \
  }                                                                                                \
  static void layout_##id(void* work, const void* options, const saltusi_eval* eval,               \
                          saltus_arena* arena) {                                                   \
    (void)options;                                                                                 \
    saltusi_adaptive_layout(work, eval, (which) >= SALTUSI_RADAU5, arena);                         \
  }                                                                                                \
  static saltus_status step_##id(void* work, const void* options, const saltusi_step* s) {         \
    return step(work, options, s, which);                                                          \
  }                                                                                                \
  static saltus_status forces_##id(void* work, const void* options, const saltusi_step* s,         \
                                   double* out) {                                                  \
    return forces(work, options, s, out, which);                                                   \
  }                                                                                                \
  const saltusi_scheme_ops saltusi_scheme_##id = {                                                 \
      .info =                                                                                      \
          {                                                                                        \
              SALTUSI_LOCATES_EVENTS(                                                              \
                  label, text, origin "; tolerances through events: docs/schemes/adaptive.md", p), \
              .chooses_step = true,                                                                \
              .treats = TREATS,                                                                    \
              .options = TABLE,                                                                    \
          },                                                                                       \
      .work_size = sizeof(saltusi_adaptive),                                                       \
      .memory_count = memory_##id,                                                                 \
      .carry_memory = carry_##id,                                                                  \
      .memory_valid = saltusi_adaptive_memory_valid,                                               \
      .resume = saltusi_adaptive_resume,                                                           \
      .layout = layout_##id,                                                                       \
      .step = step_##id,                                                                           \
      .dense_count = dense_count,                                                                  \
      .carry_dense = carry_dense,                                                                  \
      .dense = dense,                                                                              \
      .dense_contact = dense_contact,                                                              \
      .dense_joints = dense_joints,                                                                \
      .dense_bounce = dense_bounce,                                                                \
      .dense_power = dense_power,                                                                  \
      .dense_work = dense_work,                                                                    \
      .forces = forces_##id,                                                                       \
      .check = check,                                                                              \
      .own_clocks = true,                                                                          \
  };

SCHEME(adaptive, "adaptive", SALTUSI_ADAPTIVE_CHOOSES, 5,
       "to a tolerance through impacts and friction; chooses its method", "Dormand and Prince 1980")
SCHEME(adaptive_dopri5, "adaptive-dopri5", SALTUSI_DOPRI5, 5,
       "to a tolerance through impacts and friction, Dormand-Prince 5(4)",
       "Dormand and Prince 1980")
SCHEME(adaptive_dop853, "adaptive-dop853", SALTUSI_DOP853, 8,
       "to a tolerance through impacts and friction, Dormand-Prince 8(5,3)",
       "Hairer, Norsett and Wanner 1993")
SCHEME(adaptive_radau5, "adaptive-radau5", SALTUSI_RADAU5, 5,
       "to a tolerance through impacts and friction, Radau IIA 5 for stiff forces",
       "Hairer and Wanner 1996")
