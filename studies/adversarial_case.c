/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_case.c - see adversarial_case.h: random numbers, texts, and what a flight makes expect.
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers -------------------------------------------------------------------------- */

case_random case_random_of(const char* family, int number) {
  uint64_t state = 0xcbf29ce484222325u; /* FNV-1a of the name */
  for (; *family != '\0'; family++) {
    state = (state ^ (uint64_t)(unsigned char)*family) * 0x100000001b3u;
  }
  return (case_random){state + (uint64_t)number * 0xd1342543de82ef95u};
}

/* splitmix64 */
double case_uniform(case_random* r, double lo, double hi) {
  uint64_t z = r->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return lo + (hi - lo) * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

double case_decade(case_random* r, double lo, double hi) {
  return pow(10.0, case_uniform(r, lo, hi));
}

int case_choice(case_random* r, int count) {
  return (int)case_uniform(r, 0.0, (double)count);
}

/* ---- families --------------------------------------------------------------------------------- */

const case_family* case_family_at(int i) {
  static const case_family* const lists[] = {case_flights, case_chains, case_slides, case_motions,
                                             case_bodies};
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    for (const case_family* f = lists[k]; f->name != NULL; f++) {
      if (i-- == 0) {
        return f;
      }
    }
  }
  return NULL;
}

/* ---- cases ------------------------------------------------------------------------------------ */

void case_say(adversarial_case* c, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(c->text + c->length, CASE_TEXT - c->length, format, args);
  va_end(args);
  c->length += n > 0 ? (size_t)n : 0;
  c->length = c->length < CASE_TEXT ? c->length : CASE_TEXT - 1;
}

bool case_create(adversarial_case* c, int n, int impacts, int rests) {
  char* text = c->text;
  size_t length = c->length;
  const char* family = c->family;
  int number = c->number;
  size_t width = (size_t)n;
  *c = (adversarial_case){.text = text != NULL ? text : calloc(1, CASE_TEXT),
                          .length = length,
                          .family = family,
                          .number = number,
                          .n = n,
                          .impacts = calloc((size_t)impacts + 1, sizeof(expected_impact)),
                          .rests = calloc((size_t)rests + 1, sizeof(expected_rest)),
                          .frame_q = calloc(CASE_FRAMES * width, sizeof(double)),
                          .q_end = calloc(width, sizeof(double)),
                          .v_end = calloc(width, sizeof(double)),
                          .keys = true};
  return c->text != NULL && c->impacts != NULL && c->rests != NULL && c->frame_q != NULL &&
         c->q_end != NULL && c->v_end != NULL;
}

void case_destroy(adversarial_case* c) {
  free(c->text);
  free(c->impacts);
  free(c->rests);
  free(c->frame_q);
  free(c->q_end);
  free(c->v_end);
  *c = (adversarial_case){0};
}

/* ---- what is expected --------------------------------------------------------------------------- */

typedef root_real real;

/* The impact of a contact with this ordinal; NULL: there is none. */
static const path_event* nth_impact(const case_path* path, int contact, int ordinal) {
  for (int i = 0; i < path->event_count; i++) {
    if (path->events[i].contact == contact && ordinal-- == 0) {
      return &path->events[i];
    }
  }
  return NULL;
}

/* An impact among the last rebounds of an accumulation, of which a neighbour may have fewer. */
static bool accumulates(const case_path* path, const path_event* e) {
  for (const path_event* next = e; next < path->events + path->event_count; next++) {
    if (next->contact == e->contact && next->settles > 0.0L) {
      return fabsl(e->before) < 1e-5L && next->settles - e->t < 1e-3L;
    }
  }
  return false;
}

static double impact_K(const case_path* path, int count, const path_event* e, int ordinal) {
  double K = 0.0;
  for (int j = 1; j < count; j++) {
    const path_event* other = nth_impact(&path[j], e->contact, ordinal);
    if (other == NULL) {
      return accumulates(path, e) ? K : INFINITY;
    }
    double time = (double)fabsl(other->t - e->t);
    double rate = (double)(fabsl(other->before - e->before) / fmaxl(1.0L, fabsl(e->before)));
    K = fmax(K, fmax(time, rate) / CASE_PERTURBATION);
  }
  return K;
}

static double state_K(const case_path* path, int count, int n, double t, bool velocity) {
  real q[2][CASE_WIDTH];
  real v[2][CASE_WIDTH];
  double K = 0.0;
  path[0].at(path[0].who, t, q[0], v[0]);
  for (int j = 1; j < count; j++) {
    path[j].at(path[j].who, t, q[1], v[1]);
    for (int i = 0; i < n; i++) {
      K = fmax(K, (double)fabsl(q[1][i] - q[0][i]) / CASE_PERTURBATION);
      K = velocity ? fmax(K, (double)(fabsl(v[1][i] - v[0][i]) / fmaxl(1.0L, fabsl(v[0][i]))) /
                                 CASE_PERTURBATION)
                   : K;
    }
  }
  return K;
}

/* A time up to `most` that is far from every event: in the last interval between events if that is long
 * enough, else in the longest of the last third. */
static double quiet_end(const case_path* path, double most) {
  double best = 0.0;
  double at = 0.0;
  double last = most;
  for (int i = path->event_count; i >= 0; i--) { /* the first interval begins at 0 */
    const path_event* e = i > 0 ? &path->events[i - 1] : NULL;
    double t = e == NULL ? 0.0 : (double)(e->settles > e->t ? e->settles : e->t);
    if (t >= most) {
      continue;
    }
    double length = last - t;
    if (length > best && (last == most || t > 0.66 * most || best < 1e-3 * most)) {
      best = length;
      at = t + 0.75 * length;
    }
    if (best > 0.02 * most && last == most) {
      return most >= path->t_end && !path->lost ? most : at;
    }
    last = e == NULL ? 0.0 : (double)e->t;
  }
  return at;
}

/* Impacts with their K, running; the time where K gets too large. */
static double list_impacts(adversarial_case* c, const case_path* path, int count) {
  enum { KEYS = 128 };
  int ordinal[KEYS] = {0};
  double K = 1.0;
  for (int i = 0; i < path->event_count; i++) {
    const path_event* e = &path->events[i];
    if (e->contact < 0 || e->contact >= KEYS) {
      continue;
    }
    K = fmax(K, impact_K(path, count, e, ordinal[e->contact]++));
    if (!(K <= CASE_K_MOST)) {
      return (double)e->t;
    }
    c->impacts[c->impact_count++] =
        (expected_impact){(double)e->t, (double)e->before, e->contact, K};
    if (e->settles > 0.0L) {
      c->rests[c->rest_count++] =
          (expected_rest){(double)e->t, (double)e->settles, (double)e->before, e->contact, K};
    }
  }
  return path->t_end;
}

static void expect_states(adversarial_case* c, const case_path* path, int count) {
  real q[CASE_WIDTH];
  real v[CASE_WIDTH];
  double K = 1.0;
  int impact = 0;
  for (int k = 0; k < CASE_FRAMES; k++) {
    double t = k == CASE_FRAMES - 1 ? c->t_end : c->t_end * k / (CASE_FRAMES - 1);
    for (; impact < c->impact_count && c->impacts[impact].t <= t; impact++) {
      K = fmax(K, c->impacts[impact].K);
    }
    K = fmax(K, state_K(path, count, c->n, t, false));
    c->frame_t[k] = t;
    c->frame_K[k] = K <= CASE_K_MOST ? K : NAN;
    path->at(path->who, t, q, v);
    for (int i = 0; i < c->n; i++) {
      c->frame_q[k * c->n + i] = (double)q[i];
      c->q_end[i] = (double)q[i];
      c->v_end[i] = (double)v[i];
    }
  }
  K = fmax(K, state_K(path, count, c->n, c->t_end, true));
  c->K_end = K <= CASE_K_MOST ? K : NAN;
}

bool case_expect(adversarial_case* c, const case_path* path, int count, int n) {
  if (!case_create(c, n, path->event_count, path->event_count)) {
    return false;
  }
  c->t_end = quiet_end(path, list_impacts(c, path, count));
  while (c->impact_count > 0 && c->impacts[c->impact_count - 1].t > c->t_end) {
    c->impact_count--;
  }
  while (c->rest_count > 0 && c->rests[c->rest_count - 1].t > c->t_end) {
    c->rest_count--;
  }
  expect_states(c, path, count);
  c->tol_least = 1e-10;
  c->exact = 1e-12;
  return c->t_end > 1e-3;
}

/* ---- what a flight makes expect ----------------------------------------------------------------- */

typedef struct flown {
  flight_system system;
  flight_motion motion;
} flown;

static void flown_at(const void* who, real t, real* q, real* v) {
  const flown* f = who;
  flight_at(&f->system, &f->motion, t, q, v);
}

static bool rests_at_start(const flight_system* system, int i) {
  for (int k = 0; k < system->contact_count; k++) {
    if (system->contacts[k].resting && system->contacts[k].seat == i) {
      return true;
    }
  }
  return false;
}

static bool fly(const flight_system* system, double t_end, flown* f, case_path* path) {
  f->system = *system;
  f->motion.segments = malloc(FLIGHT_SEGMENTS * sizeof(flight_segment));
  path->events = malloc(FLIGHT_SEGMENTS * sizeof(path_event));
  if (f->motion.segments == NULL || path->events == NULL) {
    return false;
  }
  flight_run(&f->system, t_end, &f->motion);
  path->event_count = 0;
  for (int i = 1; i < f->motion.count; i++) {
    const flight_segment* g = &f->motion.segments[i];
    bool hits = g->begins == FLIGHT_IMPACT;
    path->events[path->event_count++] =
        (path_event){g->t, g->before, g->settles, hits ? system->contacts[g->contact].key : -1};
  }
  path->t_end = (double)f->motion.t_end;
  path->lost = f->motion.lost;
  path->at = flown_at;
  path->who = f;
  return true;
}

bool case_expect_flight(adversarial_case* c, const flight_system* system, double t_end) {
  enum { MOST = 1 + 2 * FLIGHT_WIDTH + FLIGHT_PULSES };
  flown* f = calloc(MOST, sizeof *f);
  case_path path[MOST] = {{0}};
  int count = 1;
  bool made = f != NULL && fly(system, t_end, &f[0], &path[0]);
  for (int i = 0; i < 2 * system->n && made; i++) {
    if (rests_at_start(system, i / 2)) {
      continue;
    }
    flight_system moved = *system;
    *(i % 2 == 0 ? &moved.q[i / 2] : &moved.v[i / 2]) += CASE_PERTURBATION;
    made = fly(&moved, t_end, &f[count], &path[count]);
    count++;
  }
  for (int k = 0; k < system->pulse_count && made;
       k++) { /* what rests begins to move with a pulse */
    flight_system moved = *system;
    moved.pulses[k].size += CASE_PERTURBATION / (1.7724538509055159 * moved.pulses[k].width);
    made = fly(&moved, t_end, &f[count], &path[count]);
    count++;
  }
  made = made && case_expect(c, path, count, system->n);
  for (int j = 0; f != NULL && j < MOST; j++) {
    free(f[j].motion.segments);
    free(path[j].events);
  }
  free(f);
  return made;
}
