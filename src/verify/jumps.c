/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jumps.c - impacts: two frames of one time (docs/theory/certificate.md, 4).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 10.0;

/* Whether the table has an event of this kind at a time. */
static const saltus_event* find_event(const saltusi_checker* c, double t, saltus_event_kind kind) {
  long long last = 0;
  for (long long i = saltusi_events_from(c, t, t, &last); i < last; i++) {
    if (c->events[i].kind == kind) {
      return &c->events[i];
    }
  }
  return NULL;
}

static saltusi_where place_of(const saltusi_hit* h) {
  return (saltusi_where){.frame = h->frame->number, .place = -1, .contact = h->contact};
}

void saltusi_effective_mass(saltusi_checker* c, const saltus_point* at,
                            const saltusi_checked_contacts* contact, int rows, double* W) {
  assert(c != NULL && at != NULL && contact != NULL && W != NULL);
  enum { MOST = 64 };
  double* x = c->work_v + (ptrdiff_t)2 * c->nv;
  double G[3][MOST];
  for (int k = 0; k < rows * rows; k++) {
    W[k] = INFINITY;
  }
  if (c->nv > MOST) {
    return;
  }
  saltusi_contact_rows(c, at, contact->identity, rows, c->nj, false);
  for (int k = 0; k < rows; k++) {
    memcpy(G[k], c->at.G + (ptrdiff_t)(c->nj + k) * c->nv, (size_t)c->nv * sizeof(double));
  }
  for (int k = 0; k < rows; k++) {
    memcpy(x, G[k], (size_t)c->nv * sizeof *x);
    saltusi_without(c, c->nj, x);
    saltusi_mass_solve(c, x);
    for (int j = 0; j < rows; j++) {
      W[j * rows + k] = 0.0;
      for (int i = 0; i < c->nv; i++) {
        W[j * rows + k] += G[j][i] * x[i];
      }
    }
  }
}

/* The law of a contact with its friction coefficient of impacts. */
static saltus_contact_law law_of_impact(const saltusi_checker* c, const saltusi_hit* h) {
  saltus_contact_law law = c->system->laws[h->contact->law];
  if (law.impact_mu != 0.0) {
    law.mu = saltus_contact_impact_mu(&law);
    law.friction = NULL;
  }
  return law;
}

/* Friction on U_T+ + e_T U_T-: the impulse of the friction law, or zero velocity. */
static void check_friction_law(saltusi_checker* c, const saltusi_hit* h, double e_T) {
  const saltus_contact_law impact = law_of_impact(c, h), *law = &impact;
  const double* P = h->contact->impulse;
  double u[2] = {h->after[1] + e_T * h->before[1], h->after[2] + e_T * h->before[2]};
  double speed = hypot(u[0], u[1]);
  double most = law->mu * P[0];
  bool patched = law->friction != NULL && law->friction->patch != SALTUS_PATCH_NONE;
  if (!(speed > 0.0) || !(most > 0.0) || patched) {
    return; /* only the cone is checked */
  }
  saltusi_checked_constraints held = {.rule = law,
                                      .tangents = law->tangents,
                                      .rows = 1 + law->tangents,
                                      .direction = {u[0] / speed, u[1] / speed}};
  double U[3] = {0.0, u[0], u[1]}; /* the coefficient is that of the slip at the end */
  double s[3] = {0.0, 0.0, 0.0};
  saltusi_slide(&held, U, s);
  double off = hypot(P[1] + s[1] * P[0], P[2] + s[2] * P[0]);
  int rows = 1 + law->tangents;
  double W = fmax(h->W[rows + 1], rows > 2 ? h->W[8] : 0.0);
  /* sticking, or the impulse of the friction law: the smaller violation of the two, as a
   * velocity */
  double moved = isfinite(W) ? W * off : speed * off / most;
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, fmin(speed, moved), 3.0 * h->limit, place_of(h));
}

/* A law other than Newton's for a single impact: predicted against recorded velocities. */
static void check_other_law(saltusi_checker* c, const saltusi_hit* h) {
  const saltus_contact_law impact = law_of_impact(c, h), *law = &impact;
  int rows = 1 + law->tangents;
  const double* W = h->W;
  double P[3];
  if (!isfinite(W[0]) || h->together != 1 || !saltusi_impact(law, W, h->before, P)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_LAW);
    return;
  }
  for (int k = 0; k < rows; k++) {
    double u = h->before[k];
    for (int j = 0; j < rows; j++) {
      u += W[k * rows + j] * P[j];
    }
    saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, fabs(u - h->after[k]), h->limit, place_of(h));
  }
}

/* Whether Newton's law of a single impact has one solution, which creates no energy. */
static bool law_is_sound(const saltus_contact_law* law, const saltusi_hit* h) {
  if (h->together != 1 || law->impact != SALTUS_IMPACT_NEWTON || !isfinite(h->W[0])) {
    return false;
  }
  if (law->tangents == 0 || !(law->mu > 0.0)) {
    return law->e_N <= 1.0;
  }
  double P[3];
  if (law->tangents != 1 || !saltusi_newton_in_plane(law, h->W, h->before, P)) {
    return false;
  }
  double work = P[0] * h->before[0] + P[1] * h->before[1];
  work += 0.5 * (P[0] * P[0] * h->W[0] + 2.0 * P[0] * P[1] * h->W[1] + P[1] * P[1] * h->W[3]);
  return work <= 0.0;
}

/* Whether friction can increase the load of a contact more than its normal force reduces it, without an approach
 * (Painleve). */
static bool can_wedge(const saltus_contact_law* law, const saltusi_hit* h) {
  if (law->tangents == 0 || !(law->mu > 0.0) || !isfinite(h->W[0])) {
    return law->tangents > 0 && law->mu > 0.0;
  }
  double across = hypot(h->W[1], law->tangents > 1 ? h->W[2] : 0.0);
  return h->before[0] >= -h->limit && h->W[0] <= (1.0 + 1e-6) * law->mu * across;
}

/* Remarks of the run that exempt an impact from its law, if they are plausible. */
static bool is_exempt(saltusi_checker* c, const saltusi_hit* h) {
  const saltus_contact_law impact = law_of_impact(c, h), *law = &impact;
  double t = h->frame->t;
  bool replaced = find_event(c, t, SALTUS_EVENT_LAW_REPLACED) != NULL && !law_is_sound(law, h);
  bool wedged = find_event(c, t, SALTUS_EVENT_PAINLEVE) != NULL && can_wedge(law, h);
  c->out->exempt += replaced || wedged;
  return replaced || wedged;
}

void saltusi_check_law(saltusi_checker* c, const saltusi_hit* h) {
  assert(c != NULL && h != NULL);
  const saltus_contact_law impact = law_of_impact(c, h), *law = &impact;
  const saltus_impacts* all = c->system->impacts;
  bool moreau = all != NULL && all->order == SALTUS_ORDER_MOREAU && all->matrix_count == 0;
  bool alone = all == NULL || (all->matrix_count == 0 && all->order != SALTUS_ORDER_OWN &&
                               all->order != SALTUS_ORDER_LZB && h->together == 1);
  if ((!moreau && !alone) || h->contact->impulse[0] == 0.0 || is_exempt(c, h)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_LAW);
    return;
  }
  if (!moreau && law->impact != SALTUS_IMPACT_NEWTON) {
    check_other_law(c, h);
    return;
  }
  double e_N = moreau ? all->restitution : law->e_N;
  double expected = h->before[0] < 0.0 ? -e_N * h->before[0] : 0.0;
  /* a contact that separates faster has no impulse except rounding */
  double over = h->after[0] - expected;
  double off = over > 0.0 ? fmin(over, h->W[0] * fabs(h->contact->impulse[0])) : -over;
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, off, h->limit, place_of(h));
  if (law->tangents > 0 && law->mu > 0.0) {
    check_friction_law(c, h, moreau ? all->restitution : law->e_T);
  }
}

/* Simultaneous impacts with a restitution matrix: U+ = -E U-. */
static void check_matrix(saltusi_checker* c, const saltusi_checked_frame* a,
                         const saltusi_checked_frame* b, int count) {
  const saltus_impacts* all = c->system->impacts;
  int n = all != NULL && !c->data->changing ? all->matrix_count : 0;
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  double before[64];
  double after[64];
  for (int i = 0; i < n && n <= 64; i++) {
    int contact = all->matrix_contact[i];
    if (contact >= count || c->acting[contact].impulse[0] == 0.0) {
      return;
    }
    saltusi_contact_rows(c, &at, (uint64_t)contact, 1, c->nj, false);
    before[i] = saltusi_row_velocity(c, c->nj, a->v);
    after[i] = saltusi_row_velocity(c, c->nj, b->v);
  }
  for (int i = 0; i < n && n <= 64; i++) {
    double expected = 0.0;
    for (int j = 0; j < n; j++) {
      expected -= all->matrix[i * n + j] * before[j];
    }
    double limit = 0.0;
    for (int k = 0; k < c->nv; k++) {
      limit = fmax(limit, allowance * c->weight_v[k]);
    }
    saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, fabs(after[i] - expected), limit,
                 (saltusi_where){.frame = b->number,
                                 .place = -1,
                                 .contact = &c->acting[all->matrix_contact[i]]});
  }
}

/* Work of the contacts, P . (U- + U+) / 2; momentum -= G P. */
static double work_of(saltusi_checker* c, const saltusi_checked_frame* a,
                      const saltusi_checked_frame* b, int count, double* momentum) {
  double work = 0.0;
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  saltusi_joint_rows(c, &at, false);
  for (int i = 0; i < count; i++) {
    const double* P = c->acting[i].impulse;
    if (P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0) {
      continue;
    }
    int rows = 1 + c->system->laws[c->acting[i].law].tangents;
    saltusi_contact_rows(c, &at, c->acting[i].identity, rows, c->nj, false);
    for (int k = 0; k < rows; k++) {
      work += 0.5 * P[k] * saltusi_row_velocity(c, c->nj + k, a->v);
      work += 0.5 * P[k] * saltusi_row_velocity(c, c->nj + k, b->v);
      const double* G = c->at.G + (ptrdiff_t)(c->nj + k) * c->nv;
      for (int j = 0; j < c->nv; j++) {
        momentum[j] -= G[j] * P[k];
      }
    }
  }
  return work;
}

void saltusi_check_jump(saltusi_checker* c, const saltusi_checked_frame* a,
                        const saltusi_checked_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  int n = c->nv;
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_shape_mass(c, a, b);
  double *r = c->work_v, *d = r + n;
  saltusi_displacement(c, a->q, b->q, d);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(d[i]), allowance * c->weight_q[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  saltus_point at = saltusi_point_at(c, b->t, b->q, b->v);
  if (!saltusi_mass_and_force(c, &at)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_MOMENTUM);
    return;
  }
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    r[i] = 0.0;
    for (int j = 0; j < n; j++) {
      r[i] += c->at.M[i * n + j] * (b->v[j] - a->v[j]);
    }
    size += 0.5 * fabs(r[i] * (b->v[i] + a->v[i]));
  }
  double work = work_of(c, a, b, count, r);
  check_matrix(c, a, b, count);
  saltusi_check_rounds(c, a, b);
  int rows = saltusi_unseen_rows(c, &at, count, 0.0);
  bool unique = saltusi_without(c, rows, r) == rows;
  saltusi_mass_solve(c, r);
  saltusi_check_joint_impulses(c, b, unique);
  saltusi_book_drives(c, a, b, count);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_IMPACT_MOMENTUM, fabs(r[i]), allowance * c->weight_v[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  double limit = allowance * (c->def->atol + c->def->rtol * size) + 1e-12 * size;
  const saltus_event* gain = find_event(c, b->t, SALTUS_EVENT_ENERGY_GAIN);
  if (gain !=
      NULL) { /* reported gain: exact, or larger if a later impact of the instant dissipates */
    saltusi_note(c, SALTUS_VERIFY_IMPACT_ENERGY, fmax(0.0, work - fmax(0.0, gain->energy_change)),
                 limit, (saltusi_where){.frame = b->number, .place = -1});
  } else {
    saltusi_note(c, SALTUS_VERIFY_IMPACT_ENERGY, fmax(0.0, work), limit,
                 (saltusi_where){.frame = b->number, .place = -1});
  }
}
