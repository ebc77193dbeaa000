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
  static const case_family* const lists[] = {case_flights, case_chains, case_slides};
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

/* ---- what a flight makes expect ----------------------------------------------------------------- */

static const double perturbation = 1e-9;

enum { MOTIONS = 1 + 2 * FLIGHT_WIDTH };

/* The motion and its perturbed neighbours. */
typedef struct family_of_motions {
  const flight_system* system;
  flight_motion motion[MOTIONS];
  int count;
} family_of_motions;

static bool rests_at_start(const flight_system* system, int i) {
  for (int k = 0; k < system->contact_count; k++) {
    if (system->contacts[k].resting && system->contacts[k].seat == i) {
      return true;
    }
  }
  return false;
}

static void run_motions(family_of_motions* f, double t_end) {
  flight_run(f->system, t_end, &f->motion[0]);
  f->count = 1;
  for (int i = 0; i < 2 * f->system->n; i++) {
    if (rests_at_start(f->system, i / 2)) {
      continue;
    }
    flight_system moved = *f->system;
    double* what = i % 2 == 0 ? &moved.q[i / 2] : &moved.v[i / 2];
    *what += perturbation;
    flight_run(&moved, t_end, &f->motion[f->count++]);
  }
}

/* The impact of a contact with this ordinal; NULL: there is none. */
static const flight_segment* nth_impact(const flight_motion* motion, int contact, int ordinal) {
  for (int i = 0; i < motion->count; i++) {
    const flight_segment* g = &motion->segments[i];
    if (g->begins == FLIGHT_IMPACT && g->contact == contact && ordinal-- == 0) {
      return g;
    }
  }
  return NULL;
}

static double impact_K(const family_of_motions* f, const flight_segment* g, int ordinal) {
  double K = 0.0;
  for (int j = 1; j < f->count; j++) {
    const flight_segment* other = nth_impact(&f->motion[j], g->contact, ordinal);
    if (other == NULL) {
      return fabsl(g->before) > 1e-5L ? INFINITY : K; /* rebounds too small to be followed */
    }
    double time = (double)fabsl(other->t - g->t);
    double rate = (double)(fabsl(other->before - g->before) / fmaxl(1.0L, fabsl(g->before)));
    K = fmax(K, fmax(time, rate) / perturbation);
  }
  return K;
}

static double state_K(const family_of_motions* f, double t, bool velocity) {
  flight_real q[2][FLIGHT_WIDTH];
  flight_real v[2][FLIGHT_WIDTH];
  double K = 0.0;
  flight_at(f->system, &f->motion[0], t, q[0], v[0]);
  for (int j = 1; j < f->count; j++) {
    flight_at(f->system, &f->motion[j], t, q[1], v[1]);
    for (int i = 0; i < f->system->n; i++) {
      K = fmax(K, (double)fabsl(q[1][i] - q[0][i]) / perturbation);
      K = velocity ? fmax(K, (double)(fabsl(v[1][i] - v[0][i]) / fmaxl(1.0L, fabsl(v[0][i]))) /
                                 perturbation)
                   : K;
    }
  }
  return K;
}

/* A time before `most` that is far from every event: the last interval between events if it is long
 * enough, else the longest of the last third. */
static double quiet_end(const flight_motion* motion, double most) {
  double best = 0.0;
  double at = 0.0;
  double last = most;
  for (int i = motion->count - 1; i >= 0; i--) {
    const flight_segment* g = &motion->segments[i];
    double t = (double)(g->settles > g->t ? g->settles : g->t);
    if (t >= most) {
      continue;
    }
    double length = last - t;
    if (length > best && (last == most || t > 0.66 * most || best < 1e-3 * most)) {
      best = length;
      at = t + 0.75 * length;
    }
    if (best > 0.02 * most && last == most) {
      return most >= (double)motion->t_end && !motion->lost ? most : at;
    }
    last = (double)g->t;
  }
  return at;
}

/* Impacts with their K, running; the time where K gets too large. */
static double list_impacts(adversarial_case* c, const family_of_motions* f) {
  const flight_motion* motion = &f->motion[0];
  int ordinal[FLIGHT_CONTACTS] = {0};
  double K = 1.0;
  for (int i = 0; i < motion->count; i++) {
    const flight_segment* g = &motion->segments[i];
    if (g->begins != FLIGHT_IMPACT) {
      continue;
    }
    K = fmax(K, impact_K(f, g, ordinal[g->contact]++));
    if (!(K <= CASE_K_MOST)) {
      return (double)g->t;
    }
    int key = f->system->contacts[g->contact].key;
    c->impacts[c->impact_count++] = (expected_impact){(double)g->t, (double)g->before, key, K};
    if (g->settles > 0.0L) {
      c->rests[c->rest_count++] =
          (expected_rest){(double)g->t, (double)g->settles, (double)g->before, key, K};
    }
  }
  return (double)motion->t_end;
}

static void expect_states(adversarial_case* c, const family_of_motions* f) {
  const flight_motion* motion = &f->motion[0];
  flight_real q[FLIGHT_WIDTH];
  flight_real v[FLIGHT_WIDTH];
  double K = 1.0;
  int impact = 0;
  for (int k = 0; k < CASE_FRAMES; k++) {
    double t = c->t_end * k / (CASE_FRAMES - 1);
    for (; impact < c->impact_count && c->impacts[impact].t <= t; impact++) {
      K = fmax(K, c->impacts[impact].K);
    }
    K = fmax(K, state_K(f, t, false));
    c->frame_t[k] = t;
    c->frame_K[k] = K <= CASE_K_MOST ? K : NAN;
    flight_at(f->system, motion, t, q, v);
    for (int i = 0; i < c->n; i++) {
      c->frame_q[k * c->n + i] = (double)q[i];
    }
  }
  K = fmax(K, state_K(f, c->t_end, true));
  c->K_end = K <= CASE_K_MOST ? K : NAN;
  flight_at(f->system, motion, c->t_end, q, v);
  for (int i = 0; i < c->n; i++) {
    c->q_end[i] = (double)q[i];
    c->v_end[i] = (double)v[i];
  }
}

bool case_expect_flight(adversarial_case* c, const flight_system* system, double t_end) {
  family_of_motions f = {.system = system};
  flight_segment* room = calloc((size_t)MOTIONS * FLIGHT_SEGMENTS, sizeof *room);
  bool made = room != NULL && case_create(c, system->n, FLIGHT_SEGMENTS, FLIGHT_SEGMENTS);
  for (int j = 0; j < MOTIONS && made; j++) {
    f.motion[j].segments = room + (size_t)j * FLIGHT_SEGMENTS;
  }
  if (made) {
    run_motions(&f, t_end);
    c->t_end = quiet_end(&f.motion[0], list_impacts(c, &f));
    while (c->impact_count > 0 && c->impacts[c->impact_count - 1].t > c->t_end) {
      c->impact_count--;
    }
    while (c->rest_count > 0 && c->rests[c->rest_count - 1].t > c->t_end) {
      c->rest_count--;
    }
    expect_states(c, &f);
    c->tol_least = 1e-10;
    c->exact = 1e-12;
  }
  free(room);
  return made && c->t_end > 1e-3;
}
