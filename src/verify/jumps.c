/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * jumps.c - impacts: two frames of one time, and the table of events (docs/theory/certificate.md, 4).
 */
#include "checker.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double allowance = 10.0;

/* Whether an event of this kind is noted at a time. */
static bool has_event(const saltusi_checker* c, double t, saltus_event_kind kind) {
  for (long long i = 0; i < c->data->event_count; i++) {
    if (c->data->events[i].kind == kind && c->data->events[i].t == t) {
      return true;
    }
  }
  return false;
}

/* How many impacts of a contact the table has at a time. */
static int impacts_of(const saltusi_checker* c, double t, const saltusi_acting* contact) {
  int count = 0;
  for (long long i = 0; i < c->data->event_count; i++) {
    const saltus_event* e = &c->data->events[i];
    bool same = c->data->changing ? e->identity == contact->identity
                                  : e->contact >= 0 && (uint64_t)e->contact == contact->identity;
    count += e->kind == SALTUS_EVENT_IMPACT && e->t == t && same;
  }
  return count;
}

/* An impact of one contact. */
typedef struct hit {
  const saltusi_frame* frame; /* after it */
  const saltusi_acting* contact;
  double before[3], after[3]; /* m/s */
  double limit;               /* m/s */
  double W[9];                /* [rows x rows] kg^-1, with joints held; infinite: not known */
} hit;

static saltusi_where place_of(const hit* h) {
  return (saltusi_where){.frame = h->frame->number, .place = -1, .contact = h->contact};
}

/* W of the rows of a contact at a place, with joints held, whose rows are at hand. */
static void effective_mass(saltusi_checker* c, const saltus_point* at,
                           const saltusi_acting* contact, int rows, double* W) {
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

/* Friction on U_T+ + e_T U_T-: what the law gives against it, or there is none left. */
static void check_friction_law(saltusi_checker* c, const hit* h, double e_T) {
  const saltus_contact_law* law = &c->system->laws[h->contact->law];
  const double* P = h->contact->impulse;
  double u[2] = {h->after[1] + e_T * h->before[1], h->after[2] + e_T * h->before[2]};
  double speed = hypot(u[0], u[1]);
  double most = law->mu * P[0];
  bool patched = law->friction != NULL && law->friction->patch != SALTUS_PATCH_NONE;
  if (!(speed > 0.0) || !(most > 0.0) || patched) {
    return; /* the cone has to do */
  }
  saltusi_held held = {.rule = law,
                       .tangents = law->tangents,
                       .rows = 1 + law->tangents,
                       .direction = {u[0] / speed, u[1] / speed}};
  double U[3] = {0.0, u[0], u[1]}; /* the coefficient is that of the slip at the end */
  double s[3] = {0.0, 0.0, 0.0};
  saltusi_slide(&held, U, s);
  double off = hypot(P[1] + s[1] * P[0], P[2] + s[2] * P[0]);
  int rows = 1 + law->tangents;
  double W = fmax(h->W[rows + 1], rows > 2 ? h->W[8] : 0.0);
  /* no slip is left, or the impulse is that of slip: what one of them is off by, as a velocity */
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, fmin(speed, W * off), 3.0 * h->limit, place_of(h));
}

/* How many contacts of a frame have an impulse. */
static int struck(const saltusi_checker* c, int count) {
  int found = 0;
  for (int i = 0; i < count; i++) {
    found += c->acting[i].impulse[0] != 0.0;
  }
  return found;
}

/* A law other than Newton's, of a contact that strikes alone: what it makes of the velocities before. */
static void check_other_law(saltusi_checker* c, const hit* h, int count) {
  const saltus_contact_law* law = &c->system->laws[h->contact->law];
  int rows = 1 + law->tangents;
  const double* W = h->W;
  double P[3];
  if (!isfinite(W[0]) || struck(c, count) != 1 || !saltusi_impact(law, W, h->before, P)) {
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

/* The law of a contact that was struck once. */
static void check_law(saltusi_checker* c, const hit* h, int count) {
  const saltus_contact_law* law = &c->system->laws[h->contact->law];
  const saltus_impacts* all = c->system->impacts;
  double t = h->frame->t;
  bool moreau = all != NULL && all->order == SALTUS_ORDER_MOREAU && all->matrix_count == 0;
  bool alone = all == NULL || (all->matrix_count == 0 && all->order != SALTUS_ORDER_OWN &&
                               all->order != SALTUS_ORDER_LZB && struck(c, count) == 1);
  if ((!moreau && !alone) || h->contact->impulse[0] == 0.0 || impacts_of(c, t, h->contact) != 1 ||
      has_event(c, t, SALTUS_EVENT_LAW_REPLACED) || has_event(c, t, SALTUS_EVENT_PAINLEVE)) {
    saltusi_skip(c, SALTUS_VERIFY_IMPACT_LAW);
    return;
  }
  if (!moreau && law->impact != SALTUS_IMPACT_NEWTON) {
    check_other_law(c, h, count);
    return;
  }
  double e_N = moreau ? all->restitution : law->e_N;
  double expected = h->before[0] < 0.0 ? -e_N * h->before[0] : 0.0;
  /* a contact that leaves faster has no impulse but for rounding */
  double over = h->after[0] - expected;
  double off = over > 0.0 ? fmin(over, h->W[0] * fabs(h->contact->impulse[0])) : -over;
  saltusi_note(c, SALTUS_VERIFY_IMPACT_LAW, off, h->limit, place_of(h));
  if (law->tangents > 0 && law->mu > 0.0) {
    check_friction_law(c, h, moreau ? all->restitution : law->e_T);
  }
}

/* Contacts that strike by a matrix, all of them: U+ = -E U-. */
static void check_matrix(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b,
                         int count) {
  const saltus_impacts* all = c->system->impacts;
  int n = all != NULL && !c->data->changing ? all->matrix_count : 0;
  saltus_point at = saltusi_place(c, b->t, b->q, b->v);
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

/* Work of the contacts, P . (U- + U+) / 2, with their laws on the way. */
static double strike(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b, int count,
                     double* momentum) {
  double work = 0.0;
  saltus_point at = saltusi_place(c, b->t, b->q, b->v);
  saltusi_joint_rows(c, &at, false);
  for (int i = 0; i < count; i++) {
    const saltusi_acting* acting = &c->acting[i];
    const double* P = acting->impulse;
    if (P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0) {
      continue;
    }
    int rows = 1 + c->system->laws[acting->law].tangents;
    saltusi_contact_rows(c, &at, acting->identity, rows, c->nj, false);
    hit h = {.frame = b, .contact = acting};
    effective_mass(c, &at, acting, rows, h.W);
    saltusi_contact_rows(c, &at, acting->identity, rows, c->nj, false);
    for (int k = 0; k < c->nv; k++) {
      h.limit = fmax(h.limit, allowance * c->weight_v[k]);
    }
    for (int k = 0; k < rows; k++) {
      h.before[k] = saltusi_row_velocity(c, c->nj + k, a->v);
      h.after[k] = saltusi_row_velocity(c, c->nj + k, b->v);
      work += 0.5 * P[k] * (h.before[k] + h.after[k]);
      const double* G = c->at.G + (ptrdiff_t)(c->nj + k) * c->nv;
      for (int j = 0; j < c->nv; j++) {
        momentum[j] -= G[j] * P[k];
      }
    }
    check_law(c, &h, count);
  }
  return work;
}

void saltusi_check_jump(saltusi_checker* c, const saltusi_frame* a, const saltusi_frame* b) {
  assert(c != NULL && a != NULL && b != NULL);
  int n = c->nv;
  int count = saltusi_frame_contacts(c, b->number, c->acting);
  saltusi_set_weights(c, a, b);
  double *r = c->work_v, *d = r + n;
  saltusi_way(c, a->q, b->q, d);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_POSITIONS, fabs(d[i]), allowance * c->weight_q[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  saltus_point at = saltusi_place(c, b->t, b->q, b->v);
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
  double work = strike(c, a, b, count, r);
  check_matrix(c, a, b, count);
  saltusi_without(c, saltusi_unseen_rows(c, &at, count, 0.0), r);
  saltusi_mass_solve(c, r);
  for (int i = 0; i < n; i++) {
    saltusi_note(c, SALTUS_VERIFY_IMPACT_MOMENTUM, fabs(r[i]), allowance * c->weight_v[i],
                 (saltusi_where){.frame = b->number, .place = i});
  }
  if (!has_event(c, b->t, SALTUS_EVENT_ENERGY_GAIN)) {
    double limit = allowance * (c->def->atol + c->def->rtol * size) + 1e-12 * size;
    saltusi_note(c, SALTUS_VERIFY_IMPACT_ENERGY, fmax(0.0, work), limit,
                 (saltusi_where){.frame = b->number, .place = -1});
  }
}

/* --- the table of events ---------------------------------------------------------------------------- */

/* Painleve's paradox is an impact without collision. */
static bool strikes(const saltus_event* e) {
  return e->kind == SALTUS_EVENT_IMPACT || e->kind == SALTUS_EVENT_PAINLEVE;
}

/* Impulses of the table between two times, by contact, against those of the frames there. */
typedef struct group {
  long long first, last;             /* frames */
  long long event_first, event_last; /* one past the end */
} group;

static bool is_of(const saltusi_checker* c, const saltus_event* e, const saltusi_acting* contact) {
  return c->data->changing ? e->identity == contact->identity
                           : e->contact >= 0 && (uint64_t)e->contact == contact->identity;
}

/* Sum of the normal impulses of a contact in the events of a group. */
static double event_sum(const saltusi_checker* c, const group* g, const saltusi_acting* contact,
                        double* largest) {
  double sum = 0.0;
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->data->events[k];
    if (strikes(e) && is_of(c, e, contact)) {
      sum += e->impulse[0];
      *largest = fmax(*largest, fabs(e->impulse[0]));
    }
  }
  return sum;
}

static void check_group(saltusi_checker* c, const group* g) {
  double events = 0.0;
  double frames = 0.0;
  double scale = 0.0;
  for (long long f = g->first; f <= g->last; f++) {
    int count = saltusi_frame_contacts(c, f, c->acting);
    for (int i = 0; i < count; i++) {
      const saltusi_acting* contact = &c->acting[i];
      frames += contact->impulse[0];
      scale = fmax(scale, fabs(contact->impulse[0]));
      if (g->first == g->last || contact->impulse[0] == 0.0) {
        continue;
      }
      double largest = fabs(contact->impulse[0]);
      double sum = event_sum(c, g, contact, &largest);
      saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum - contact->impulse[0]),
                   allowance * (c->def->atol + c->def->rtol * largest) + 1e-9 * largest,
                   (saltusi_where){.frame = f, .place = -1, .contact = contact});
    }
  }
  double terms = 1.0; /* of the sum, each off by as much */
  for (long long k = g->event_first; k < g->event_last; k++) {
    const saltus_event* e = &c->data->events[k];
    terms += strikes(e) ? 1.0 : 0.0;
    events += strikes(e) ? e->impulse[0] : 0.0;
    scale = fmax(scale, strikes(e) ? fabs(e->impulse[0]) : 0.0);
  }
  if (scale > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(events - frames),
                 terms * (allowance * (c->def->atol + c->def->rtol * scale) + 1e-9 * scale),
                 (saltusi_where){.frame = g->last, .place = g->event_first});
  }
}

/* Schemes that do not locate impacts spread them over steps: their sums agree but for the last ones. */
static void check_sums(saltusi_checker* c) {
  double sum = 0.0;
  double size = 0.0;
  for (long long f = 0; f < c->data->count; f++) {
    int count = saltusi_frame_contacts(c, f, c->acting);
    for (int i = 0; i < count; i++) {
      sum += c->acting[i].impulse[0];
      size += fabs(c->acting[i].impulse[0]);
    }
  }
  for (long long k = 0; k < c->data->event_count; k++) {
    sum -= strikes(&c->data->events[k]) ? c->data->events[k].impulse[0] : 0.0;
  }
  if (size > 0.0) {
    saltusi_note(c, SALTUS_VERIFY_EVENTS, fabs(sum), 1e-9 * size + 2.0 * c->hardest,
                 (saltusi_where){.frame = c->data->count - 1, .place = -1});
  }
}

void saltusi_check_events(saltusi_checker* c) {
  assert(c != NULL);
  const saltus_recording_data* data = c->data;
  if (c->def->by_differences) {
    check_sums(c);
    return;
  }
  group g = {0};
  for (long long f = 0; f < data->count;) {
    g.first = f;
    while (f < data->count && data->t[f] == data->t[g.first]) {
      f++;
    }
    g.last = f - 1;
    if (g.last == 0) {
      continue; /* what happens at the start is in the first step */
    }
    g.event_first = g.event_last;
    while (g.event_last < data->event_count && data->events[g.event_last].t <= data->t[g.first]) {
      g.event_last++;
    }
    check_group(c, &g);
  }
}
