/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * smooth.c - a smooth step of a run to a tolerance: the motion is computed anew from its start, with the contacts
 * held that carried a force (docs/theory/certificate.md, 2).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Errors of steps are estimates; the tolerance of a certificate is ten of those of the run. */
static const double allowance = 10.0;

/* A force below this part of the largest one of a frame is what projections leave of none. */
static const double no_force = 1e-8;

/* Friction above this part of its limit all the way slips. */
static const double full = 1.0 - 1e-9;

/* Slip velocity of a contact at a frame; rows of joints are not touched. */
static void slip_at(saltusi_checker* c, const saltusi_frame* f, const saltusi_held* held,
                    double u[2]) {
  saltus_point at = saltusi_place(c, f->t, f->q, f->v);
  saltusi_contact_rows(c, &at, held->identity, held->tangents, c->nj, false);
  for (int k = 0; k < held->tangents; k++) {
    u[k] = saltusi_row_velocity(c, c->nj + 1 + k, f->v);
  }
}

/* Sticks or slips, and where to: a reversal is an event, so that the ends of the step tell; from rest to rest it is
 * friction that tells. A slip may begin a little before the end of a step. */
static void set_status(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b,
                       const saltusi_acting* acting, saltusi_held* held) {
  double ua[2] = {0.0, 0.0};
  double ub[2] = {0.0, 0.0};
  slip_at(c, a, held, ua);
  slip_at(c, b, held, ub);
  double slow = 0.0;
  for (int i = 0; i < c->nv; i++) {
    slow = fmax(slow, c->weight_v[i]);
  }
  double sum[2] = {ua[0] + ub[0], ua[1] + ub[1]};
  double speed = hypot(ua[0], ua[1]) + hypot(ub[0], ub[1]);
  double friction = hypot(acting->force[1], acting->force[2]);
  bool slips = friction >= full * held->mu * acting->force[0];
  held->sticks = speed <= slow && !slips;
  if (hypot(sum[0], sum[1]) <= slow && friction > 0.0) {
    sum[0] = -acting->force[1];
    sum[1] = -acting->force[2];
  }
  double slowest = fmin(hypot(ua[0], ua[1]), hypot(ub[0], ub[1]));
  held->turn = held->tangents < 2 || held->sticks ? 0.0
               : slowest > allowance * slow       ? allowance * slow / slowest
                                                  : 2.0;
  double size = hypot(sum[0], sum[1]);
  held->direction[0] = size > 0.0 ? sum[0] / size : 1.0;
  held->direction[1] = size > 0.0 ? sum[1] / size : 0.0;
}

/* Whether the force of a contact moves anything by a hundredth of a tolerance; what does not may be what sums and
 * projections leave of none. M is factored at the place of a. */
static bool matters(saltusi_checker* c, const saltusi_frame* a, const saltusi_acting* acting,
                    double h) {
  saltus_point at = saltusi_place(c, a->t, a->q, a->v);
  saltusi_contact_rows(c, &at, acting->identity, 0, c->nj, false);
  double* x = c->work_v;
  memcpy(x, c->at.G + (ptrdiff_t)c->nj * c->nv, (size_t)c->nv * sizeof *x);
  saltusi_mass_solve(c, x);
  bool found = false;
  for (int i = 0; i < c->nv; i++) {
    found = found || fabs(x[i] * acting->force[0] * h) > 0.01 * c->weight_v[i];
  }
  return found;
}

/* The contacts that carried a force on the way to frame b into c->held; acting [count] those of the frame, moved to
 * the front in the same order. */
static int hold(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b, int count) {
  int held = 0;
  saltus_point at = saltusi_place(c, a->t, a->q, a->v);
  bool known = saltusi_mass_and_force(c, &at);
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    largest = fmax(largest, fabs(c->acting[i].force[0]));
  }
  for (int i = 0; i < count; i++) {
    const saltusi_acting* acting = &c->acting[i];
    const saltus_contact_law* law = &c->system->laws[acting->law];
    double P = fabs(acting->force[0]) * (b->t - a->t);
    /* rounding of sums, of which a short step makes a force */
    if (!known || P <= 1e-13 * c->hardest || P <= no_force * largest * (b->t - a->t) ||
        !matters(c, a, acting, b->t - a->t)) {
      continue;
    }
    saltusi_held* h = &c->held[held];
    *h = (saltusi_held){
        .identity = acting->identity, .law = acting->law, .tangents = law->tangents, .mu = law->mu};
    if (law->tangents > 0) {
      set_status(c, a, b, acting, h);
    }
    c->acting[held++] = *acting;
  }
  return held;
}

/* Impulses of contacts: recorded mean forces against those of the motion. Only where they are determined: one
 * contact, or contacts whose rows are independent. */
static void compare_forces(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b,
                           int count, const double* L, double part) {
  double h = b->t - a->t;
  for (int i = 0; i < count; i++) {
    const saltusi_acting* acting = &c->acting[i];
    for (int k = 0; k < 1 + c->held[i].tangents; k++) {
      double recorded = acting->force[k] * h;
      /* friction turns fast where a slip in space comes to rest: five times the others */
      double limit = 5.0 * part * allowance * (c->def->atol + c->def->rtol * fabs(recorded));
      limit += k > 0 ? c->held[i].turn * c->held[i].mu * fabs(acting->force[0]) * h : 0.0;
      saltusi_note(c, SALTUS_VERIFY_FORCES, fabs(recorded - L[3 * i + k]) / h, limit / h,
                   (saltusi_where){.frame = b->number, .place = -1, .contact = acting});
    }
  }
}

/* Whether the rows that are held at a frame are independent. */
static bool determined(saltusi_checker* c, const saltusi_frame* f, int count) {
  int rows = c->nj;
  for (int i = 0; i < count; i++) {
    rows += 1 + (c->held[i].sticks ? c->held[i].tangents : 0);
  }
  if (rows > c->nv) {
    return false;
  }
  saltus_point at = saltusi_place(c, f->t, f->q, f->v);
  if (!saltusi_mass_and_force(c, &at)) {
    return false;
  }
  saltusi_equations* e = &c->at;
  saltusi_joint_rows(c, &at, false);
  int next = c->nj;
  for (int i = 0; i < count; i++) {
    int tangents = c->held[i].sticks ? c->held[i].tangents : 0;
    saltusi_contact_rows(c, &at, c->held[i].identity, tangents, next, false);
    next += 1 + tangents;
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

void saltusi_check_smooth(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b,
                          double part) {
  assert(c != NULL && a != NULL && b != NULL);
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_weights(c, a, b);
  int held = hold(c, a, b, count);
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
  saltusi_way(c, y, b->q, d);
  for (int i = 0; i < c->nv; i++) {
    saltusi_where where = {.frame = b->number, .place = i};
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(d[i]), allowance * c->weight_q[i], where);
    saltusi_note(c, SALTUS_VERIFY_MOMENTUM, fabs(y[c->nq + i] - b->v[i]),
                 allowance * c->weight_v[i], where);
  }
  if (held > 0 && determined(c, b, held)) {
    compare_forces(c, a, b, held, y + c->nq + c->nv, part);
  }
}
