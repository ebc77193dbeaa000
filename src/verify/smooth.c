/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * smooth.c - a smooth step of a run to a tolerance: the motion is recomputed from its start with
 * the contacts active that bore a force (docs/theory/certificate.md, 2).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Errors of steps are estimates; the tolerance of a certificate is ten of those of the run. */
static const double allowance = 10.0;

/* Forces below this part of the largest force of a frame are rounding errors of projections. */
static const double no_force = 1e-8;

/* Friction above this part of its limit over the whole step is slip. */
static const double full = 1.0 - 1e-9;

/* Velocities of the rows of a contact at a frame, U [rows]; rows of joints are not touched. */
static void rows_at(saltusi_checker* c, const saltusi_checked_frame* f,
                    const saltusi_checked_constraints* held, double* U) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  saltusi_contact_rows(c, &at, held->identity, held->rows, c->nj, false);
  for (int k = 0; k < held->rows; k++) {
    U[k] = saltusi_row_velocity(c, c->nj + k, f->v);
  }
}

/* The common direction of the rates at both ends; false: none. */
static bool between(const double* a, const double* b, int n, double slow, double d[2]) {
  double sum[2] = {a[0] + b[0], n > 1 ? a[1] + b[1] : 0.0};
  double size = hypot(sum[0], sum[1]);
  d[0] = size > 0.0 ? sum[0] / size : 1.0;
  d[1] = size > 0.0 ? sum[1] / size : 0.0;
  return size > slow;
}

static double speed_of(const double* u, int n) {
  return n > 1 ? hypot(u[0], u[1]) : fabs(u[0]);
}

/* Rolling and spin: constrained where the rates at both ends are zero. */
static void set_turning(saltusi_checked_constraints* held, const double* ua, const double* ub,
                        double slow) {
  const saltus_friction_law* f = held->rule->friction;
  int t = held->tangents;
  int last = held->rows - 1;
  if (f->rolling > 0.0) {
    held->rolls = !between(ua + 1 + t, ub + 1 + t, t, 2.0 * slow, held->roll);
  }
  double spin = ua[last] + ub[last];
  if (f->patch != SALTUS_PATCH_NONE) {
    held->sticks = held->sticks && f->radius * fabs(spin) <= slow;
  } else if (f->drilling > 0.0) {
    held->pivots = fabs(spin) <= 2.0 * slow;
    held->spin = spin > 0.0 ? 1.0 : -1.0;
  }
}

/* Friction mode and direction of slip. A reversal is an event, so the rates at the ends of the
 * step decide; if both are zero, the friction force decides. A slip may begin shortly before the
 * end of a step. */
static void set_status(saltusi_checker* c, const saltusi_checked_frame* a,
                       const saltusi_checked_frame* b, const saltusi_checked_contacts* acting,
                       saltusi_checked_constraints* held) {
  double ua[SALTUSI_CONTACT_ROWS] = {0.0};
  double ub[SALTUSI_CONTACT_ROWS] = {0.0};
  const saltus_contact_law* law = held->rule;
  int t = held->tangents;
  rows_at(c, a, held, ua);
  rows_at(c, b, held, ub);
  double slow = 0.0;
  for (int i = 0; i < c->nv; i++) {
    slow = fmax(slow, c->weight_v[i]);
  }
  double ends[2] = {speed_of(ua + 1, t), speed_of(ub + 1, t)};
  double friction = saltusi_gauge(law, acting->force + 1);
  double most = law->mu * acting->force[0] + saltusi_bond_shear(law, held->bond);
  /* in a short step, rounding of sums appears as a force */
  double rounding = SALTUSI_LOST_IN_SUMS * c->hardest / (b->t - a->t);
  held->sticks = ends[0] + ends[1] <= slow && friction + rounding < full * most;
  if (!between(ua + 1, ub + 1, t, slow, held->direction) && friction > 0.0) {
    double size = hypot(acting->force[1], acting->force[2]);
    held->direction[0] = -acting->force[1] / size;
    held->direction[1] = -acting->force[2] / size;
  }
  double slowest = fmin(ends[0], ends[1]);
  held->turn = t < 2 || held->sticks        ? 0.0
               : slowest > allowance * slow ? allowance * slow / slowest
                                            : 2.0;
  if (law->friction != NULL) {
    set_turning(held, ua, ub, slow);
  }
}

/* Dry friction beside contacts, by its rates at both ends. */
static void set_dry(saltusi_checker* c, const saltusi_checked_frame* a,
                    const saltusi_checked_frame* b) {
  double slow = 0.0;
  for (int i = 0; i < c->nv; i++) {
    slow = fmax(slow, c->weight_v[i]);
  }
  for (int i = 0; i < c->system->dry_count; i++) {
    saltus_point from = saltusi_point_at(c, a->t, a->q, a->v);
    saltusi_dry_row(c, &from, i, c->nj, false);
    double sum = saltusi_row_velocity(c, c->nj, a->v);
    saltus_point to = saltusi_point_at(c, b->t, b->q, b->v);
    saltusi_dry_row(c, &to, i, c->nj, false);
    sum += saltusi_row_velocity(c, c->nj, b->v);
    c->dry[i] = (saltusi_checked_joint_friction){.holds = fabs(sum) <= 2.0 * slow,
                                                 .sign = sum > 0.0 ? 1.0 : -1.0};
  }
}

/* Adhesive force of a contact: bonds of fixed contacts that were closed at the start, until they
 * open. */
static double bond_of(const saltusi_checker* c, const saltusi_checked_contacts* acting) {
  const saltus_friction_law* f = c->system->laws[acting->law].friction;
  bool held = f != NULL && f->adhesion > 0.0 && !c->data->changing && !c->lost[acting->identity];
  return held ? f->adhesion : 0.0;
}

/* Whether the force of a contact changes velocities by more than 1/100 of a tolerance. Smaller
 * forces may be rounding errors of sums and projections. M is factored at the state of a. */
static bool matters(saltusi_checker* c, const saltusi_checked_frame* a,
                    const saltusi_checked_contacts* acting, double h) {
  saltus_point at = saltusi_point_at(c, a->t, a->q, a->v);
  saltusi_contact_rows(c, &at, acting->identity, 1, c->nj, false);
  double* x = c->work_v;
  memcpy(x, c->at.G + (ptrdiff_t)c->nj * c->nv, (size_t)c->nv * sizeof *x);
  saltusi_mass_solve(c, x);
  bool found = false;
  for (int i = 0; i < c->nv; i++) {
    found = found || fabs(x[i] * acting->force[0] * h) > 0.01 * c->weight_v[i];
  }
  return found;
}

/* The contacts that bore a force in the step to frame b into c->held; acting [count] those of
 * the frame, moved to the front in the same order. */
static int hold(saltusi_checker* c, const saltusi_checked_frame* a, const saltusi_checked_frame* b,
                int count) {
  int held = 0;
  saltus_point at = saltusi_point_at(c, a->t, a->q, a->v);
  bool known = saltusi_mass_and_force(c, &at);
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs(c->acting[i].force[0]));
  }
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* acting = &c->acting[i];
    const saltus_contact_law* law = &c->system->laws[acting->law];
    double P = fabs(acting->force[0]) * (b->t - a->t);
    double bond = bond_of(c, acting);
    bool closed = bond > 0.0 && fabs(acting->gap) <= 1e-9; /* it may be active without a force */
    /* rounding of sums, which appears as a force in a short step */
    if (!known || (!closed && (P <= SALTUSI_LOST_IN_SUMS * c->hardest ||
                               P <= no_force * largest * (b->t - a->t) ||
                               !matters(c, a, acting, b->t - a->t)))) {
      continue;
    }
    saltusi_checked_constraints* h = &c->held[held];
    *h = (saltusi_checked_constraints){.identity = acting->identity,
                                       .rule = law,
                                       .tangents = law->tangents,
                                       .rows = saltus_contact_rows(law),
                                       .bond = bond};
    if (law->tangents > 0) {
      set_status(c, a, b, acting, h);
    }
    c->acting[held++] = *acting;
  }
  return held;
}

/* Impulses of contacts: recorded mean forces against those of the recomputed motion. Only where
 * they are determined: one contact, or contacts with linearly independent rows. */
static void compare_forces(saltusi_checker* c, const saltusi_checked_frame* a,
                           const saltusi_checked_frame* b, int count, const double* L,
                           double part) {
  double h = b->t - a->t;
  for (int i = 0; i < count; i++) {
    const saltusi_checked_contacts* acting = &c->acting[i];
    for (int k = 0; k < 1 + c->held[i].tangents; k++) {
      double recorded = acting->force[k] * h;
      /* the direction of friction changes fast where a slip in space comes to rest: five times
       * the others */
      double limit = 5.0 * part * allowance * (c->def->atol + c->def->rtol * fabs(recorded));
      limit += k > 0 ? c->held[i].turn * c->held[i].rule->mu * fabs(acting->force[0]) * h : 0.0;
      saltusi_note(c, SALTUS_VERIFY_FORCES, fabs(recorded - L[3 * i + k]) / h, limit / h,
                   (saltusi_where){.frame = b->number, .place = -1, .contact = acting});
    }
  }
}

/* Whether the active rows at a frame are linearly independent. */
static bool determined(saltusi_checker* c, const saltusi_checked_frame* f, int count) {
  saltus_point at = saltusi_point_at(c, f->t, f->q, f->v);
  if (!saltusi_mass_and_force(c, &at)) {
    return false;
  }
  saltusi_equations* e = &c->at;
  saltusi_joint_rows(c, &at, false);
  int rows = c->nj;
  for (int i = 0; i < count; i++) {
    const saltusi_checked_constraints* h = &c->held[i];
    int kept = h->sticks ? 1 + h->tangents : 1;
    kept = h->rows > 1 + h->tangents && (h->rolls || h->pivots) ? h->rows : kept;
    if (rows + kept > c->nv) {
      return false;
    }
    saltusi_contact_rows(c, &at, h->identity, kept, rows, false);
    rows += kept;
  }
  for (int i = 0; i < c->system->dry_count; i++) {
    if (c->dry[i].holds && rows < c->nv) {
      saltusi_dry_row(c, &at, i, rows++, false);
    }
  }
  memcpy(e->MD, e->G, (size_t)rows * (size_t)c->nv * sizeof *e->MD);
  for (int i = 0; i < rows; i++) {
    saltusi_mass_solve(c, e->MD + (ptrdiff_t)i * c->nv);
  }
  for (int i = 0; i < rows * rows; i++) {
    e->A[i] = 0.0;
    for (int j = 0; j < c->nv; j++) {
      e->A[i] += e->G[i / rows * c->nv + j] * e->MD[i % rows * c->nv + j];
    }
  }
  memset(e->x, 0, (size_t)rows * sizeof *e->x);
  double left = 0.0;
  return saltusi_solve(c, rows, &left) == rows;
}

/* Outputs of joint forces, with the forces at frame b. The difference to those at the end y of
 * the recomputed motion is their error bound. */
static void check_force_outputs(saltusi_checker* c, const saltusi_checked_frame* b, int held,
                                const double* y) {
  if (c->nj == 0 || !c->observed.outputs) {
    return;
  }
  double* forces = c->observed.forces;
  double* spread = forces + c->nj;
  double* lambda = spread + c->nj;
  double* acceleration = c->work_v + (ptrdiff_t)6 * c->nv;
  saltus_point at = saltusi_point_at(c, b->t, y, y + c->nq);
  if (!saltusi_acceleration(c, &at, held, acceleration, lambda)) {
    return;
  }
  memcpy(spread, c->at.x, (size_t)c->nj * sizeof *spread);
  at = saltusi_point_at(c, b->t, b->q, b->v);
  if (!saltusi_acceleration(c, &at, held, acceleration, lambda)) {
    return;
  }
  memcpy(forces, c->at.x, (size_t)c->nj * sizeof *forces);
  for (int j = 0; j < c->nj; j++) {
    spread[j] = fabs(spread[j] - forces[j]);
  }
  saltusi_check_force_outputs(c, b, forces, spread);
}

/* A zero estimate at the end of a step means a motion without error. */
static void check_estimate(saltusi_checker* c, const saltusi_checked_frame* b, double off) {
  const saltus_recording_data* d = c->data;
  bool ends = b->number + 1 >= d->count || d->step[b->number + 1] != d->step[b->number];
  if (d->error != NULL && ends) {
    double e = d->error[b->number];
    long long i = b->number - 1;
    for (; i >= 0 && d->step[i] == d->step[b->number]; i--) {
      e = isnan(d->error[i]) || d->error[i] > e ? d->error[i] : e;
    }
    long long last = 0;
    bool quiet = true; /* impacts between them are excluded from the estimate */
    long long k = saltusi_events_from(c, d->t[i < 0 ? 0 : i], b->t, &last);
    for (; k < last && quiet; k++) {
      quiet = c->events[k].kind != SALTUS_EVENT_ACCUMULATION;
    }
    off = quiet ? off : 0.0;
    saltusi_note(c, SALTUS_VERIFY_CONTROL,
                 e > 0.0    ? 0.0
                 : e == 0.0 ? off
                            : INFINITY,
                 0.01, (saltusi_where){.frame = b->number, .place = -1});
  }
}

void saltusi_check_smooth(saltusi_checker* c, const saltusi_checked_frame* a,
                          const saltusi_checked_frame* b, double part) {
  assert(c != NULL && a != NULL && b != NULL);
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_shape_mass(c, a, b);
  int held = hold(c, a, b, count);
  set_dry(c, a, b);
  c->joint_force = saltusi_joint_forces(c, b);
  double* y = c->table;
  if (!saltusi_follow(c, a, b->t, held, y)) {
    c->out->balanced += b->t - a->t; /* too stiff, or not smooth: as for a step of any scheme */
    saltusi_check_step(c, a, b);
    return;
  }
  c->out->followed += b->t - a->t;
  double* d = c->work_v;
  if (c->system->ops->normalise != NULL) {
    c->system->ops->normalise(c->system->self, y);
  }
  saltusi_displacement(c, y, b->q, d);
  double off = 0.0; /* tolerances */
  for (int i = 0; i < c->nv; i++) {
    off =
        fmax(off, fmax(fabs(d[i]) / c->weight_q[i], fabs(y[c->nq + i] - b->v[i]) / c->weight_v[i]));
    saltusi_where where = {.frame = b->number, .place = i};
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(d[i]), allowance * c->weight_q[i], where);
    /* constraints propagate errors between velocities */
    double carried = held + c->nj > 0 ? 3.0 : 1.0;
    saltusi_note(c, SALTUS_VERIFY_MOMENTUM, fabs(y[c->nq + i] - b->v[i]),
                 carried * allowance * c->weight_v[i], where);
  }
  check_estimate(c, b, off);
  const double* L = y + c->nq + c->nv;
  if (c->quiet) {
    saltusi_book_smooth(c, a, b, held, L + (ptrdiff_t)3 * held);
  }
  if (c->quiet && held + c->nj > 0 && determined(c, b, held)) {
    saltusi_compare_joints(c, a, b, L + (ptrdiff_t)3 * held, part);
    saltusi_add_reactions(c, b, b->t - a->t, L + (ptrdiff_t)3 * held);
    compare_forces(c, a, b, held, L, part);
    check_force_outputs(c, b, held, y);
  }
}
