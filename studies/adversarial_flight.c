/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_flight.c - see adversarial_flight.h.
 */
#include "adversarial_flight.h"

#include <math.h>
#include <string.h>

typedef flight_real real;

/* ---- a flight ------------------------------------------------------------------------------ */

/* The state after s of a segment. Coordinates that ride are put onto their surfaces. */
static void state_after(const flight_system* sys, const flight_segment* g, real s, real* q,
                        real* v) {
  for (int i = 0; i < sys->n; i++) {
    q[i] = g->q[i] + g->v[i] * s + g->a[i] * s * s / 2.0L;
    v[i] = g->v[i] + g->a[i] * s;
  }
  for (int k = 0; k < sys->pulse_count; k++) {
    const root_pulse* p = &sys->pulses[k];
    real v0 = root_pulse_velocity(p, g->t);
    q[p->coordinate] +=
        root_pulse_displacement(p, g->t + s) - root_pulse_displacement(p, g->t) - v0 * s;
    v[p->coordinate] += root_pulse_velocity(p, g->t + s) - v0;
  }
  for (int c = 0; c < sys->contact_count; c++) {
    const flight_piece* piece = &sys->contacts[c].pieces[0];
    if (!g->closed[c]) {
      continue;
    }
    real t = g->t + s;
    real y = -(real)piece->constant - piece->drift * t;
    real rate = -(real)piece->drift;
    for (int j = 0; j < piece->term_count; j++) {
      const flight_term* term = &piece->terms[j];
      real u = term->frequency * t + term->phase;
      y -= term->size * root_shape(term->shape, 0, u);
      rate -= term->size * (real)term->frequency * root_shape(term->shape, 1, u);
    }
    q[sys->contacts[c].seat] = y;
    v[sys->contacts[c].seat] = rate;
  }
}

/* Acceleration of a coordinate by pulses at middle, or a bound of it on middle +- reach. */
static real pulses_at(const flight_system* sys, int i, int k, real middle, real reach, bool bound) {
  real sum = 0.0L;
  for (int j = 0; j < sys->pulse_count; j++) {
    const root_pulse* p = &sys->pulses[j];
    sum += p->coordinate == i ? root_pulse_rate(p, k, middle, reach, bound) : 0.0L;
  }
  return sum;
}

static bool rides(const flight_system* sys, const flight_segment* g, int i) {
  for (int c = 0; c < sys->contact_count; c++) {
    if (g->closed[c] && sys->contacts[c].seat == i) {
      return true;
    }
  }
  return false;
}

/* Largest |q_i''| on an interval of time. */
static real acceleration_bound(const flight_system* sys, const flight_segment* g, int i, real t,
                               real reach) {
  if (!rides(sys, g, i)) {
    return fabsl(g->a[i]) + pulses_at(sys, i, 0, t, reach, true);
  }
  real sum = 0.0L;
  for (int c = 0; c < sys->contact_count; c++) {
    for (int j = 0; g->closed[c] && j < sys->contacts[c].pieces[0].term_count; j++) {
      const flight_term* term = &sys->contacts[c].pieces[0].terms[j];
      real w = term->frequency;
      sum += fabsl(term->size * w * w) *
             root_shape_bound(term->shape, 2, w * t + term->phase, fabsl(w) * reach);
    }
  }
  return sum;
}

/* ---- searches ------------------------------------------------------------------------------ */

/* What is searched along a segment: a gap, the force of a contact that is closed, a crossing. */
typedef struct search {
  const flight_system* sys;
  const flight_segment* g;
  enum { GAP, FORCE, CROSSING } what;
  int index;
} search;

typedef root_local local;

static local piece_local(const flight_piece* piece, const search* w, real s, real reach) {
  const flight_system* sys = w->sys;
  real q[FLIGHT_WIDTH];
  real v[FLIGHT_WIDTH];
  real a[FLIGHT_WIDTH];
  state_after(sys, w->g, s, q, v);
  real t = w->g->t + s;
  local out = {piece->constant + piece->drift * t, piece->drift, 0.0L};
  for (int i = 0; i < sys->n; i++) {
    a[i] = acceleration_bound(sys, w->g, i, t, reach);
    out.f += piece->normal[i] * q[i];
    out.slope += piece->normal[i] * v[i];
    out.bend += fabsl((real)piece->normal[i]) * a[i];
  }
  for (int j = 0; j < piece->term_count; j++) {
    const flight_term* term = &piece->terms[j];
    real u = term->frequency * t + term->phase;
    real rate = term->frequency;
    real bend = 0.0L;
    for (int i = 0; i < sys->n; i++) {
      u += term->rate[i] * q[i];
      rate += term->rate[i] * v[i];
      bend += fabsl((real)term->rate[i]) * a[i];
    }
    real fastest = fabsl(rate) + bend * reach;
    out.f += term->size * root_shape(term->shape, 0, u);
    out.slope += term->size * rate * root_shape(term->shape, 1, u);
    out.bend += fabsl((real)term->size) *
                (root_shape_bound(term->shape, 2, u, fastest * reach) * fastest * fastest +
                 root_shape_bound(term->shape, 1, u, fastest * reach) * bend);
  }
  return out;
}

/* The force that keeps a coordinate on its seat, over the mass. */
static local force_local(const search* w, real s, real reach) {
  const flight_contact* contact = &w->sys->contacts[w->index];
  int i = contact->seat;
  real t = w->g->t + s;
  local out = {-w->g->a[i] - pulses_at(w->sys, i, 0, t, 0.0L, false),
               -pulses_at(w->sys, i, 1, t, 0.0L, false), pulses_at(w->sys, i, 2, t, reach, true)};
  for (int j = 0; j < contact->pieces[0].term_count; j++) {
    const flight_term* term = &contact->pieces[0].terms[j];
    real rate = term->frequency;
    real u = rate * t + term->phase;
    out.f -= term->size * rate * rate * root_shape(term->shape, 2, u);
    out.slope -= term->size * rate * rate * rate * root_shape(term->shape, 3, u);
    out.bend += fabsl(term->size * rate * rate * rate * rate) *
                root_shape_bound(term->shape, 4, u, fabsl(rate) * reach);
  }
  return out;
}

static local crossing_local(const search* w, real s, real reach) {
  const flight_field* field = &w->sys->fields[w->index];
  int i = field->coordinate;
  real q[FLIGHT_WIDTH];
  real v[FLIGHT_WIDTH];
  state_after(w->sys, w->g, s, q, v);
  real sign = w->g->above[w->index] ? 1.0L : -1.0L;
  return (local){sign * (q[i] - field->place), sign * v[i],
                 acceleration_bound(w->sys, w->g, i, w->g->t + s, reach)};
}

static local look(const void* who, int piece, real s, real reach) {
  const search* w = who;
  if (w->what == GAP) {
    return piece_local(&w->sys->contacts[w->index].pieces[piece], w, s, reach);
  }
  return w->what == FORCE ? force_local(w, s, reach) : crossing_local(w, s, reach);
}

static root_search search_of(const search* w) {
  int pieces = w->what == GAP ? w->sys->contacts[w->index].piece_count : 1;
  return (root_search){look, w, pieces, w->g->t};
}

static int active_piece(const search* w) {
  root_search s = search_of(w);
  return root_active(&s);
}

/* ---- events -------------------------------------------------------------------------------- */

typedef struct next_event {
  flight_event what;
  int index;
  real s;
} next_event;

static void look_for(const search* w, bool touching, flight_event what, next_event* next) {
  root_search s = search_of(w);
  real begin = touching ? root_begin(&s, next->s) : 0.0L;
  real root;
  if (begin < next->s && root_first(&s, begin, next->s, &root) && root < next->s) {
    *next = (next_event){what, w->index, root};
  }
}

static next_event find_next(const flight_system* sys, const flight_segment* g, const bool* touching,
                            const bool* crossed, real t_end) {
  next_event next = {FLIGHT_END, -1, t_end - g->t};
  for (int k = 0; k < sys->break_count; k++) {
    if (sys->breaks[k].t > g->t && sys->breaks[k].t - g->t < next.s) {
      next = (next_event){FLIGHT_SWITCH, k, sys->breaks[k].t - g->t};
    }
  }
  for (int c = 0; c < sys->contact_count; c++) {
    search w = {sys, g, g->closed[c] ? FORCE : GAP, c};
    look_for(&w, touching[c] && !g->closed[c], g->closed[c] ? FLIGHT_LEAVE : FLIGHT_IMPACT, &next);
  }
  for (int k = 0; k < sys->field_count; k++) {
    search w = {sys, g, CROSSING, k};
    next_event found = next;
    look_for(&w, crossed[k], FLIGHT_SWITCH, &found);
    if (found.s < next.s) {
      next = (next_event){FLIGHT_SWITCH, FLIGHT_BREAKS + k, found.s};
    }
  }
  return next;
}

/* Accelerations of a segment. */
static void take_accelerations(const flight_system* sys, flight_segment* g) {
  for (int i = 0; i < sys->n; i++) {
    g->a[i] = sys->acceleration[i];
    for (int k = 0; k < sys->break_count; k++) {
      g->a[i] += g->t >= sys->breaks[k].t ? sys->breaks[k].acceleration[i] : 0.0;
    }
  }
  for (int k = 0; k < sys->field_count; k++) {
    const flight_field* field = &sys->fields[k];
    g->a[field->coordinate] += g->above[k] ? field->above : field->below;
  }
}

/* Derivatives of a piece by the coordinates. */
static void row_of(const flight_system* sys, const flight_piece* piece, const flight_segment* g,
                   real* row) {
  for (int i = 0; i < sys->n; i++) {
    row[i] = piece->normal[i];
  }
  for (int j = 0; j < piece->term_count; j++) {
    const flight_term* term = &piece->terms[j];
    real u = term->frequency * g->t + term->phase;
    for (int i = 0; i < sys->n; i++) {
      u += term->rate[i] * g->q[i];
    }
    for (int i = 0; i < sys->n; i++) {
      row[i] += term->size * term->rate[i] * root_shape(term->shape, 1, u);
    }
  }
}

static real through_mass(const flight_system* sys, const real* a, const real* b) {
  real sum = 0.0L;
  for (int i = 0; i < sys->n; i++) {
    sum += a[i] * b[i] / sys->mass[i];
  }
  return sum;
}

/* Tangential over normal impulse by Coulomb's law: sticking if the cone allows it, else the slip that
 * keeps its sign. u, s: normal and slip velocity before, the former times 1 + e. */
static real impulse_ratio(real WN, real WNT, real WT, real u, real s, real mu) {
  real det = WN * WT - WNT * WNT;
  real PN = (-u * WT + s * WNT) / det;
  real PT = (-s * WN + u * WNT) / det;
  if (PN > 0.0L && fabsl(PT) <= mu * PN) {
    return PT / PN;
  }
  for (int sign = -1; sign <= 1; sign += 2) {
    real normal = -u / (WN - sign * mu * WNT);
    if (normal > 0.0L && sign * (s + (WNT - sign * mu * WT) * normal) > 0.0L) {
      return -sign * mu;
    }
  }
  return 0.0L;
}

/* Newton's impact of one contact with Coulomb's friction; the rate of the gap before it. */
static real impact(const flight_system* sys, flight_segment* g, int c) {
  const flight_contact* contact = &sys->contacts[c];
  const search w = {sys, g, GAP, c};
  int active = active_piece(&w);
  real rate = look(&w, active, 0.0L, 0.0L).slope;
  real normal[FLIGHT_WIDTH];
  real tangent[FLIGHT_WIDTH] = {0};
  real ratio = 0.0L;
  row_of(sys, &contact->pieces[active], g, normal);
  real WN = through_mass(sys, normal, normal);
  real WNT = 0.0L;
  if (contact->friction > 0.0) {
    row_of(sys, &contact->slip, g, tangent);
    WNT = through_mass(sys, normal, tangent);
    ratio = impulse_ratio(WN, WNT, through_mass(sys, tangent, tangent),
                          (1.0L + contact->restitution) * rate,
                          piece_local(&contact->slip, &w, 0.0L, 0.0L).slope, contact->friction);
  }
  real impulse = -(1.0L + contact->restitution) * rate / (WN + ratio * WNT);
  for (int i = 0; i < sys->n; i++) {
    g->v[i] += (normal[i] + ratio * tangent[i]) * impulse / sys->mass[i];
  }
  return rate;
}

/* After an impact: whether the contact now rests. u = rate of the gap. Rebounds are followed down to
 * an apex of 5e-15 m, where long double still distinguishes the gap from zero. */
static flight_event settle(const flight_system* sys, flight_segment* g, int c, real u) {
  const flight_contact* contact = &sys->contacts[c];
  const search gap = {sys, g, GAP, c};
  real least = 1e-7L * sqrtl(fmaxl(1.0L, look(&gap, active_piece(&gap), 0.0L, 0.0L).bend));
  if (u > least) {
    return FLIGHT_IMPACT;
  }
  if (contact->seat < 0) {
    return FLIGHT_LOST;
  }
  const search w = {sys, g, FORCE, c};
  local force = look(&w, 0, 0.0L, 0.0L);
  real rest = u > 0.0L ? 2.0L * u / (force.f * (1.0L - contact->restitution)) : 0.0L;
  if (u > 0.0L && !(force.f > 0.0L && rest * fabsl(force.slope) < 1e-5L * force.f)) {
    return u < 0.01L * least ? FLIGHT_LOST : FLIGHT_IMPACT;
  }
  g->closed[c] = true;
  g->settles = g->t + rest;
  return FLIGHT_REST;
}

/* Begins the next segment with what ended the last one; false: lost. */
static bool begin(const flight_system* sys, const next_event* next, flight_segment* g,
                  bool* touching, bool* crossed) {
  g->begins = next->what;
  g->contact = next->index;
  g->before = 0.0L;
  g->settles = 0.0L;
  if (next->what == FLIGHT_IMPACT) {
    g->before = impact(sys, g, next->index);
    touching[next->index] = true;
    flight_event now =
        settle(sys, g, next->index, -sys->contacts[next->index].restitution * g->before);
    g->begins = now == FLIGHT_LOST ? FLIGHT_LOST : FLIGHT_IMPACT;
    if (now == FLIGHT_REST) {
      real q[FLIGHT_WIDTH];
      real v[FLIGHT_WIDTH];
      state_after(sys, g, 0.0L, q, v);
      memcpy(g->q, q, sizeof q);
      memcpy(g->v, v, sizeof v);
    }
  } else if (next->what == FLIGHT_LEAVE) {
    g->closed[next->index] = false;
    touching[next->index] = true;
  } else if (next->what == FLIGHT_SWITCH && next->index >= FLIGHT_BREAKS) {
    int k = next->index - FLIGHT_BREAKS;
    g->above[k] = !g->above[k];
    crossed[k] = true;
  }
  take_accelerations(sys, g);
  return g->begins != FLIGHT_LOST;
}

void flight_run(const flight_system* sys, flight_real t_end, flight_motion* motion) {
  bool touching[FLIGHT_CONTACTS] = {false};
  bool crossed[FLIGHT_FIELDS] = {false};
  flight_segment g = {.begins = FLIGHT_END, .contact = -1};
  for (int i = 0; i < sys->n; i++) {
    g.q[i] = sys->q[i];
    g.v[i] = sys->v[i];
  }
  for (int k = 0; k < sys->field_count; k++) {
    g.above[k] = g.q[sys->fields[k].coordinate] > sys->fields[k].place;
  }
  for (int c = 0; c < sys->contact_count; c++) {
    g.closed[c] = sys->contacts[c].resting;
  }
  take_accelerations(sys, &g);
  motion->count = 0;
  motion->lost = false;
  motion->t_end = t_end;
  motion->segments[motion->count++] = g;
  while (motion->count < FLIGHT_SEGMENTS) {
    next_event next = find_next(sys, &g, touching, crossed, t_end);
    if (next.what == FLIGHT_END) {
      return;
    }
    real q[FLIGHT_WIDTH];
    real v[FLIGHT_WIDTH];
    state_after(sys, &g, next.s, q, v);
    memcpy(g.q, q, sizeof q);
    memcpy(g.v, v, sizeof v);
    g.t += next.s;
    memset(crossed, 0, sizeof crossed);
    for (int c = 0; c < sys->contact_count; c++) { /* a flight from zero ends in the air */
      const search w = {sys, &g, GAP, c};
      local at = look(&w, active_piece(&w), 0.0L, 0.0L);
      touching[c] = touching[c] && at.f < 1e-14L && at.slope > -1e-12L;
    }
    if (!begin(sys, &next, &g, touching, crossed)) {
      break;
    }
    motion->segments[motion->count++] = g;
  }
  motion->lost = true;
  motion->t_end = g.t;
}

void flight_at(const flight_system* sys, const flight_motion* motion, flight_real t, flight_real* q,
               flight_real* v) {
  int low = 0;
  int high = motion->count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (motion->segments[middle].t <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const flight_segment* g = &motion->segments[low];
  state_after(sys, g, t - g->t, q, v);
}

flight_real flight_gap(const flight_contact* contact, int n, flight_real t, const flight_real* q) {
  flight_segment g = {.t = t};
  memcpy(g.q, q, (size_t)n * sizeof *q);
  flight_system sys = {.n = n, .contact_count = 1};
  sys.contacts[0] = *contact;
  const search w = {&sys, &g, GAP, 0};
  root_search s = search_of(&w);
  return root_value(&s, 0.0L);
}
