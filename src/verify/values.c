/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * values.c - checks of single frames: joints, gaps, energies, and the ledger (docs/theory/certificate.md, 1 and 5).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static double largest(const double* x, int n) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

/* Error limits of positions and velocities at a frame, the largest over the coordinates. */
double saltusi_position_limit(const saltusi_checker* c, const saltusi_checked_frame* f) {
  assert(c != NULL && f != NULL);
  if (c->to_tolerance) {
    return 10.0 * (c->def->atol + c->def->rtol * fmax(1.0, largest(f->q, c->nq)));
  }
  return 0.0;
}

static void check_joints(saltusi_checker* c, const saltusi_checked_frame* f) {
  if (c->nj == 0) {
    return;
  }
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  double* g = c->at.x;
  memset(g, 0, (size_t)c->nj * sizeof *g);
  c->system->ops->joints(c->system->self, &at, g);
  double h = c->data->h != NULL ? fabs(c->data->h[f->number]) : 0.0;
  double fast = c->fastest;
  double passed = f->t - c->data->t[0];
  for (int i = 0; i < c->nj; i++) {
    double limit =
        c->to_tolerance ? saltusi_position_limit(c, f) : fmax(1e-8, fast * fast * h * passed);
    saltusi_note(c, SALTUS_VERIFY_JOINTS, fabs(g[i]), limit,
                 (saltusi_where){.frame = f->number, .place = i});
  }
  saltusi_joint_rows(c, &at, false);
  for (int i = 0; i < c->nj; i++) {
    double u = saltusi_row_velocity(c, i, f->v);
    /* schemes impose a rate at a point within a step: it changes by about h c until the frame */
    double bent = h * fmax(fast * fast, 2.0 * c->bend[i]);
    double limit = c->to_tolerance ? 10.0 * (c->def->atol + c->def->rtol * fmax(1.0, fast))
                                   : 1e-6 * fast + bent + 1e-12;
    saltusi_note(c, SALTUS_VERIFY_JOINT_RATES, fabs(u), limit,
                 (saltusi_where){.frame = f->number, .place = i});
  }
}

/* Whether the next frame precedes the time at which an approach exceeds the admissible depth. */
static bool is_before_jump(const saltusi_checker* c, const saltusi_checked_frame* f, double u,
                           double depth) {
  if (f->number + 1 == c->data->count) {
    return true; /* the run ends at the impact; a contact that was closed before is checked by `momentum` */
  }
  return f->number + 1 < c->data->count && -u * (c->data->t[f->number + 1] - f->t) <= depth;
}

/* A recorded gap and normal velocity against recomputed values. */
static void check_contact(saltusi_checker* c, const saltusi_checked_frame* f,
                          const saltusi_checked_contacts* acting) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  double gap = NAN;
  saltusi_where where = {.frame = f->number, .place = -1, .contact = acting};
  if (c->system->ops->gaps != NULL) {
    c->system->ops->gaps(c->system->self, &at, 1, &acting->identity, &gap);
  } else {
    gap = c->gap[acting->identity];
  }
  double size = fmax(1.0, largest(f->q, c->nq));
  saltusi_note(c, SALTUS_VERIFY_VALUES, fabs(gap - acting->gap), 1e-12 * size, where);
  saltusi_contact_rows(c, &at, acting->identity, 1, c->nj, false);
  double u = saltusi_row_velocity(c, c->nj, f->v);
  double fast = fmax(1.0, largest(f->v, c->nv));
  saltusi_note(c, SALTUS_VERIFY_VALUES, fabs(u - acting->velocity), 1e-10 * fast, where);
  double h = c->data->h != NULL ? fabs(c->data->h[f->number]) : 0.0;
  double reach = c->to_tolerance ? saltusi_position_limit(c, f) : 3.0 * h * c->fastest;
  saltusi_note(c, SALTUS_VERIFY_PENETRATION, fmax(0.0, -gap), reach + 1e-14 * size, where);
  if (c->data->penetration != NULL) { /* the deepest since the frame before */
    saltusi_note(c, SALTUS_VERIFY_CONTROL, -gap - c->data->penetration[f->number], 1e-12 * size,
                 where);
  }
  if (c->to_tolerance && fabs(gap) <= 1e-12 * size && !is_before_jump(c, f, u, reach) &&
      f->number > 0) {
    saltusi_note(c, SALTUS_VERIFY_APPROACH, fmax(0.0, -u),
                 10.0 * (c->def->atol + c->def->rtol * fast), where);
  }
}

/* A contact of a time-varying set that no longer exists is open. */
static void check_gone(saltusi_checker* c, const saltusi_checked_frame* f,
                       const saltusi_checked_contacts* acting) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  double gap = NAN;
  if (c->system->ops->gaps != NULL &&
      c->system->ops->gaps(c->system->self, &at, 1, &acting->identity, &gap) == SALTUS_OK) {
    double h = c->data->h != NULL ? fabs(c->data->h[f->number]) : 0.0;
    double reach = c->to_tolerance ? saltusi_position_limit(c, f) : 3.0 * h * c->fastest;
    double guard[SALTUS_GUARDS];
    int guards = c->system->ops->guards != NULL
                     ? c->system->ops->guards(c->system->self, &at, acting->identity, guard) %
                           SALTUS_LIES_DOWN
                     : 0;
    for (int i = 0; i < guards; i++) {
      gap = guard[i] > 0.0 ? gap : INFINITY; /* other features are in contact */
    }
    saltusi_note(c, SALTUS_VERIFY_PENETRATION, fmax(0.0, -gap), reach + 1e-12,
                 (saltusi_where){.frame = f->number, .place = -1, .contact = acting});
  }
}

/* Bodies, point and normal of row i of a frame in the contact table. */
static void check_geometry(saltusi_checker* c, const saltusi_checked_frame* f, int i) {
  const saltus_recorded_contacts* table = &c->data->table;
  long long r = table->start[f->number] + i;
  saltus_contact_place place;
  const saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  saltusi_where where = {.frame = f->number, .place = -1, .contact = &c->acting[i]};
  bool known = c->system->ops->place != NULL &&
               c->system->ops->place(c->system->self, &at, table->identity[r], &place) == SALTUS_OK;
  double size = fmax(1.0, largest(f->q, c->nq));
  for (int k = 0; k < 3; k++) {
    double x[2] = {table->point[3 * r + k], table->normal[3 * r + k]};
    double y[2] = {known ? place.point[k] : NAN, known ? place.normal[k] : NAN};
    for (int m = 0; m < 2; m++) {
      bool none = isnan(x[m]) && isnan(y[m]); /* undefined in the scene as well */
      saltusi_note(c, SALTUS_VERIFY_VALUES, none ? 0.0 : fabs(x[m] - y[m]), 1e-12 * size, where);
    }
  }
  for (int k = 0; k < 2; k++) {
    long long body = known ? place.bodies[k] : -1;
    saltusi_note(c, SALTUS_VERIFY_VALUES, table->bodies[2 * r + k] == body ? 0.0 : 1.0, 0.0, where);
  }
}

/* A contact with a normal force in the step to a frame touches at one end of the step. */
static void check_open(saltusi_checker* c, const saltusi_checked_frame* f,
                       const saltusi_checked_contacts* acting, int before) {
  if (f->number == 0 || isnan(acting->gap)) {
    return;
  }
  double moved =
      fabs(acting->impulse[0]) + fabs(acting->force[0]) * (f->t - c->data->t[f->number - 1]);
  if (moved <= SALTUSI_LOST_IN_SUMS * c->hardest) {
    return; /* none, or rounding errors of sums of impulses */
  }
  double nearest = fabs(acting->gap);
  for (int i = 0; i < before; i++) {
    if (c->before[i].identity == acting->identity && !isnan(c->before[i].gap)) {
      nearest = fmin(nearest, fabs(c->before[i].gap));
    }
  }
  double h = c->data->h != NULL ? fabs(c->data->h[f->number]) : 0.0;
  double limit = c->to_tolerance ? saltusi_position_limit(c, f) : 3.0 * h * c->fastest;
  limit += 1e-14 * fmax(1.0, largest(f->q, c->nq)); /* rounding of a gap */
  saltusi_note(c, SALTUS_VERIFY_OPEN, nearest, limit,
               (saltusi_where){.frame = f->number, .place = -1, .contact = acting});
}

void saltusi_list_gaps(saltusi_checker* c, const saltus_point* at) {
  assert(c != NULL && at != NULL);
  for (int i = 0; i < c->gap_room; i++) {
    c->identity[i] = (uint64_t)i;
    c->law[i] = i;
  }
  saltus_contact_list list = {.count = c->gap_room,
                              .capacity = c->gap_room,
                              .reach = INFINITY,
                              .gap = c->gap,
                              .identity = c->identity,
                              .law = c->law};
  c->system->ops->contacts(c->system->self, at, &list);
}

/* Diagnostics of the run are numbers that are not negative. */
static void check_diagnostics(saltusi_checker* c, const saltusi_checked_frame* f) {
  const saltus_recording_data* d = c->data;
  const double* columns[] = {d->residual_velocity, d->residual_impulse, d->error_order,
                             d->rejections};
  for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
    double x = columns[k] != NULL ? columns[k][f->number] : 0.0;
    bool whole = columns[k] != d->rejections || x == floor(x);
    saltusi_note(c, SALTUS_VERIFY_CONTROL, x >= 0.0 && isfinite(x) && whole ? 0.0 : INFINITY, 0.0,
                 (saltusi_where){.frame = f->number, .place = -1, .certain = true});
  }
}

static void check_energies(saltusi_checker* c, const saltusi_checked_frame* f) {
  const saltus_recording_data* data = c->data;
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  const saltus_system_ops* ops = c->system->ops;
  double kinetic = data->kinetic != NULL ? data->kinetic[f->number] : NAN;
  double potential = data->potential != NULL ? data->potential[f->number] : NAN;
  if (data->kinetic != NULL && ops->kinetic != NULL) {
    double T = ops->kinetic(c->system->self, &at);
    saltusi_note(c, SALTUS_VERIFY_VALUES, fabs(T - kinetic), 1e-11 * fmax(1.0, fabs(T)),
                 (saltusi_where){.frame = f->number, .place = -1});
  }
  double V = ops->potential != NULL ? ops->potential(c->system->self, &at) : NAN;
  if (data->potential != NULL && !isnan(V)) {
    saltusi_note(c, SALTUS_VERIFY_VALUES, fabs(V - potential), 1e-11 * fmax(1.0, fabs(V)),
                 (saltusi_where){.frame = f->number, .place = -1});
  }
}

void saltusi_check_values(saltusi_checker* c, const saltusi_checked_frame* f) {
  assert(c != NULL && f != NULL);
  check_joints(c, f);
  check_energies(c, f);
  check_diagnostics(c, f);
  if (!c->data->changing && c->gap_room > 0) {
    const saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
    saltusi_list_gaps(c, &at);
  }
  double h = c->data->h != NULL ? fabs(c->data->h[f->number]) : 0.0;
  saltusi_check_unlisted(c, f,
                         c->to_tolerance ? saltusi_position_limit(c, f) : 3.0 * h * c->fastest);
  int count = saltusi_frame_contacts(c, f->number, c->acting);
  int before = f->number > 0 ? saltusi_frame_contacts(c, f->number - 1, c->before) : 0;
  for (int i = 0; i < count; i++) {
    if (!isnan(c->acting[i].gap) || !c->data->changing) {
      check_contact(c, f, &c->acting[i]);
    } else {
      check_gone(c, f, &c->acting[i]);
    }
    check_open(c, f, &c->acting[i], before);
    if (c->data->changing) {
      check_geometry(c, f, i);
    }
  }
}

void saltusi_check_ledger(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_recording_data* d = c->data;
  if (d->energy_remainder == NULL || d->energy_drive == NULL || d->kinetic == NULL ||
      isnan(d->kinetic[0]) || isnan(d->potential[0])) {
    return;
  }
  double size = c->energy;
  /* a correction of the start changed the energy before the first step */
  double moved = c->slack > 0.0 && d->count > 1 ? fabs(d->energy_remainder[1]) : 0.0;
  for (long long i = 0; i < d->count; i++) {
    double change = d->kinetic[i] + d->potential[i] - d->kinetic[0] - d->potential[0];
    double sum = d->energy_external[i] + d->energy_drive[i] + d->energy_friction[i] +
                 d->energy_impact[i] + d->energy_remainder[i];
    saltusi_where where = {.frame = i, .place = -1};
    saltusi_note(c, SALTUS_VERIFY_LEDGER, fabs(change - sum), 1e-11 * size + 1e-300, where);
    if (c->to_tolerance) { /* docs/ledger.md: below 10 tol of the largest energy */
      double limit = saltusi_energy_limit(c, i) * (saltusi_is_inside(c, i) ? 10.0 : 1.0);
      saltusi_note(c, SALTUS_VERIFY_LEDGER, fabs(d->energy_remainder[i]), limit + moved, where);
    }
  }
}
