/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * impact.c - derivatives across an impact (docs/theory/sensitivity.md, 5): over positions at fixed velocities u of the contacts,
 * and over u at fixed positions,
 *
 *   v+ = v + M^-1 G P(W(q), u),   dv+ = dv + (M^-1 G P)_q dq + (M^-1 G P)_u du
 *
 * so that slow impacts are no small differences of large velocities.
 */
#include "sensitivity/sensitivity_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Approach velocities below this fraction of the fastest velocity are grazing. */
static const double grazing = 1e-7;
/* The same beside closed contacts: impacts in turns become slow without grazing. */
static const double grazing_beside = 3e-9;

/* Differences of the law of an impact change approach velocities by at most this part. */
static const double approach_kept = 0.1;
/* Largest difference of differences with two steps, a part of the derivatives of velocities. */
static const double vague = 3e-6;
/* Ratio by which derivatives of velocities grow at a grazing impact. */
static const double unbounded = 1e3;
/* Velocities of the contacts of an impulse. */
static bool contact_velocities(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                               const void* user, double* out) {
  const saltusi_phase_impulse* impulse = user;
  int row = 0;
  for (int i = 0; i < impulse->count; i++) {
    double U[3];
    const int tangents = saltusi_phase_law(&v->room, sys, impulse->set[i])->tangents;
    saltusi_phase_velocity(&v->room, sys, at, impulse->set[i], NULL, U, NULL);
    memcpy(out + row, U, (size_t)(1 + tangents) * sizeof *out);
    row += 1 + tangents;
  }
  return true;
}

/* An impulse with velocities u + scale e du of its contacts, at a fixed state for e alone. */
typedef struct struck {
  saltusi_phase_impulse impulse;
  saltusi_phase_point at;
  const double *still, *du; /* [nv] zeros, [rows] */
  double* u;                /* [rows] at e = 0, then at e */
  int rows;
  double scale; /* so that differences over e have their usual step */
} struck;

/* Change of velocities with given ones of the contacts: slow impacts are small differences of large velocities otherwise. */
static bool strike_frozen(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                          const void* user, double* out) {
  const struck* l = user;
  const saltusi_phase_point still = {.t = at.t, .q = at.q, .v = l->still};
  return saltusi_phase_impact(&v->room, sys, still, &l->impulse, out, NULL);
}

static bool strike_along(saltusi_vary* v, const saltus_system* sys, saltusi_phase_point at,
                         const void* user, double* out) {
  const struck* l = user;
  saltusi_phase_impulse impulse = l->impulse;
  for (int i = 0; i < l->rows; i++) {
    l->u[l->rows + i] = l->u[i] + at.t * l->scale * l->du[i];
  }
  impulse.u = l->u + l->rows;
  const saltusi_phase_point still = {.t = l->at.t, .q = l->at.q, .v = l->still};
  return saltusi_phase_impact(&v->room, sys, still, &impulse, out, NULL);
}

/* The scale of e, the largest step that keeps the approach of colliding contacts, and the size of the impact. */
static void scale_law(const saltus_sensitivity* s, struck* l, saltusi_along* along) {
  const saltusi_vary* v = &s->vary;
  double rate = DBL_MIN, limit = INFINITY;
  for (int i = 0, row = 0; i < l->impulse.count; i++) {
    const int contact = l->impulse.set[i];
    const int tangents = saltusi_phase_law(&v->room, s->def.system, contact)->tangents;
    if (contact == l->impulse.first || !saltusi_phase_holds(&v->mode, contact)) {
      limit = fmin(limit, approach_kept * fabs(l->u[row]) / fmax(fabs(l->du[row]), DBL_MIN));
    }
    for (int k = 0; k <= tangents; k++, row++) {
      along->size = fmax(along->size, fabs(l->u[row]));
      rate = fmax(rate, fabs(l->du[row]));
    }
  }
  l->scale = 20.0 / v->span * v->speed / rate;
  along->limit = limit / l->scale;
}

static double largest_of(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

static saltus_status strike_all(saltus_sensitivity* s, double t,
                                const saltusi_phase_impulse* impulse) {
  saltusi_vary* v = &s->vary;
  const int n = v->n, nv = v->nv;
  double *along_z = s->hdot, *change = v->minus, *positions = s->moved, *still = s->moved + n;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  struck l = {.impulse = *impulse, .at = at, .still = still, .u = s->law_u, .du = s->law_du};
  for (int i = 0; i < impulse->count; i++) {
    l.rows += 1 + saltusi_phase_law(&v->room, s->def.system, impulse->set[i])->tangents;
  }
  l.impulse.u = l.u;
  memset(still, 0, (size_t)nv * sizeof *still);
  bool good = contact_velocities(v, s->def.system, at, impulse, l.u);
  for (int j = 0; j < v->count && good; j++) {
    double* total = s->total + (ptrdiff_t)j * n;
    for (int i = 0; i < n; i++) {
      along_z[i] = s->y[(ptrdiff_t)(j + 1) * n + i] + s->rates[i] * s->dt[j];
      positions[i] = i < v->nq ? along_z[i] : 0.0;
    }
    saltusi_along along = {.at = at, .s = along_z, .tau = s->dt[j], .direction = j};
    good = saltusi_vary_slope(v, contact_velocities, impulse, &along, l.rows, s->law_du);
    along.s = positions;
    good = good && saltusi_vary_slope_of_law(v, strike_frozen, &l, &along, nv, change);
    double noise = v->disagreement;
    memcpy(total, along_z, (size_t)n * sizeof *total); /* positions do not jump */
    for (int i = 0; i < nv; i++) {
      total[v->nq + i] += change[i];
    }
    saltusi_along only = {.at = {.q = at.q, .v = at.v}, .tau = 1.0, .direction = -1};
    scale_law(s, &l, &only);
    good = good && saltusi_vary_slope_of_law(v, strike_along, &l, &only, nv, change);
    for (int i = 0; i < nv; i++) {
      total[v->nq + i] += change[i] / l.scale;
    }
    noise += v->disagreement / l.scale;
    good = good && noise <= vague * largest_of(along_z + v->nq, nv) + 1e-9;
  }
  return good ? SALTUS_OK
              : saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                         "the law of an impact has no derivative here, or a "
                                         "parameter is near a value at which the impact changes "
                                         "between slip and stick");
}

/* Largest difference of the velocities after an impact by the law of these contacts from those of the run, which may have
 * solved the impact by another one. */
static double distance_to_run(saltus_sensitivity* s, double t,
                              const saltusi_phase_impulse* impulse) {
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  double most = 0.0;
  if (!saltusi_phase_impact(&v->room, s->def.system, at, impulse, v->minus, NULL)) {
    return INFINITY;
  }
  for (int i = 0; i < v->nv; i++) {
    most = fmax(most, fabs(v->minus[i] - s->after[v->nq + i]));
  }
  return most;
}

/* Whether the impact of the run is that of the law: to the accuracy of the run, and where several contacts collide, whose
 * impulses the solver of the run may have shared in another way, to a part of the impact. */
static bool is_impact_of_run(const saltus_sensitivity* s, double distance, bool several) {
  const saltusi_vary* v = &s->vary;
  double jump = 0.0;
  for (int i = v->nq; i < v->n; i++) {
    jump = fmax(jump, fabs(s->after[i] - s->y[i]));
  }
  return distance <= (1e5 * s->def.tol + 1e-8) * v->speed &&
         (!several || distance <= 1e-5 * jump + 1e-13 * v->speed);
}

static void keep_last(saltus_sensitivity* s, int contact, double t) {
  const saltusi_vary* v = &s->vary;
  saltusi_last_impact* l = &s->last[contact];
  l->known = true;
  l->t = t;
  memcpy(l->z, s->after, (size_t)v->n * sizeof *l->z);
  memcpy(l->total, s->total, (size_t)v->n * (size_t)v->count * sizeof *l->total);
  memcpy(l->dt, s->dt, (size_t)v->count * sizeof *l->dt);
}

/* Whether derivatives at a slow impact grow without bound: those of velocities by far more than they were before it. */
static bool is_grazing(saltus_sensitivity* s, double t, int contact) {
  saltusi_vary* v = &s->vary;
  const saltusi_phase_point at = {.t = t, .q = s->y, .v = s->y + v->nq};
  double U[3], normal = 0.0;
  bool grazes = false;
  saltusi_phase_velocity(&v->room, s->def.system, at, contact, s->rates + v->nq, U, &normal);
  for (int j = 0; j < v->count; j++) {
    double most = 0.0;
    for (int i = v->nq; i < v->n; i++) {
      most = fmax(most, fabs(s->y[(ptrdiff_t)(j + 1) * v->n + i]));
    }
    grazes = grazes || fabs(s->dt[j] * normal) > unbounded * most;
  }
  return grazes;
}

/* Whether the other contacts of an impact collide at the same time with every parameter, such as the corners of an edge that
 * lands; s->beside marks them. */
static bool collides_together(saltus_sensitivity* s, double t, int first) {
  bool together = true;
  for (int i = 0; i < s->group_count && together; i++) {
    const saltus_event* e = &s->group[i];
    if (e->kind != SALTUS_EVENT_IMPACT || e->contact == first ||
        saltusi_phase_holds(&s->vary.mode, e->contact)) {
      continue;
    }
    const saltusi_guard g = {.contact = e->contact, .kind = SALTUSI_GUARD_GAP};
    s->beside[e->contact] = true;
    together = saltusi_sensitivity_times(s, t, &g, s->hdot);
    for (int j = 0; j < s->vary.count && together; j++) {
      double most = 0.0;
      for (int k = 0; k < s->vary.nq; k++) {
        most = fmax(most, fabs(s->y[(ptrdiff_t)(j + 1) * s->vary.n + k]));
      }
      /* derivatives of their gaps are equal up to errors of the chatter that closed the other contacts */
      together =
          fabs(s->hdot[j] - s->dt[j]) <= 1e-6 * fabs(s->dt[j]) + 1e-8 * most / fabs(e->u_before);
    }
  }
  return together;
}

/* Contacts of an impact into s->set; returns the first that collides, and the number of others that were open. */
static int choose_contacts(saltus_sensitivity* s, int* others, int* count) {
  const saltusi_vary* v = &s->vary;
  int first = -1;
  *others = *count = 0;
  for (int i = 0; i < s->group_count; i++) {
    const saltus_event* e = &s->group[i];
    if (e->kind == SALTUS_EVENT_IMPACT && !saltusi_phase_holds(&v->mode, e->contact)) {
      *others += first >= 0 && e->contact != first;
      first = first < 0 ? e->contact : first;
    }
  }
  for (int i = 0; i < s->group_count && first < 0; i++) {
    first = s->group[i].kind == SALTUS_EVENT_IMPACT ? s->group[i].contact : first;
  }
  for (int i = 0; i < v->contacts.count; i++) {
    bool strikes = i == first || saltusi_phase_holds(&v->mode, i);
    for (int k = 0; k < s->group_count && !strikes; k++) {
      strikes = s->group[k].kind == SALTUS_EVENT_IMPACT && s->group[k].contact == i;
    }
    if (strikes) {
      s->set[(*count)++] = i;
    }
  }
  return first;
}

saltus_status saltusi_sensitivity_impact(saltus_sensitivity* s, double t, saltus_derivative* what) {
  assert(s != NULL && what != NULL);
  saltusi_vary* v = &s->vary;
  const saltus_system* sys = s->def.system;
  int others, count;
  const int first = choose_contacts(s, &others, &count);
  const saltusi_guard g = {.contact = first, .kind = SALTUSI_GUARD_GAP};
  double U[3];
  saltusi_phase_velocity(&v->room, sys, (saltusi_phase_point){.t = t, .q = s->y, .v = s->y + v->nq},
                         first, NULL, U, NULL);
  s->view.closest = fmin(s->view.closest, fabs(U[0]));
  const double barely = v->mode.count > 0 ? grazing_beside : grazing;
  const bool slow = fabs(U[0]) <= barely * v->speed && !s->last[first].known;
  if (slow && v->mode.count > 0 && saltusi_sensitivity_chatter_begin(s, t)) {
    return SALTUS_OK;
  }
  if (!saltusi_sensitivity_times(s, t, &g, s->dt)) {
    return saltusi_sensitivity_fail(s, SALTUS_ERR_ACCURACY, t,
                                    "an impact without an approach: its time has no derivative");
  }
  if (slow && is_grazing(s, t, first)) {
    *what = SALTUS_DERIVATIVE_GRAZING;
  }
  memset(s->beside, 0, (size_t)v->contacts.count * sizeof *s->beside);
  const bool together = others == 0 || collides_together(s, t, first);
  if (!together) {
    *what = SALTUS_DERIVATIVE_SIMULTANEOUS;
  }
  saltusi_phase_impulse impulse = {
      .set = s->set, .count = count, .first = first, .closed = &v->mode};
  const double least = together ? distance_to_run(s, t, &impulse) : 0.0;
  if (least > 0.0 && others > 0) {
    impulse.redundant = true;
    impulse.redundant = distance_to_run(s, t, &impulse) < 0.1 * least;
  }
  s->redundant = impulse.redundant;
  if (least > 0.0 && !is_impact_of_run(s, distance_to_run(s, t, &impulse), others > 0)) {
    return saltusi_sensitivity_fail(
        s, SALTUS_ERR_ACCURACY, t,
        "the run has other velocities after an impact than the law of its contacts");
  }
  const bool series = s->last[first].known && together;
  saltus_status status = strike_all(s, t, &impulse);
  if (status == SALTUS_OK) {
    keep_last(s, first, t);
  }
  if (status == SALTUS_OK && series) {
    saltusi_sensitivity_series_begin(s, first, U[0]);
  }
  return status;
}
