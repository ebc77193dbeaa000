/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_slide.c - a block with dry friction on a floor or on a belt that shakes, pushed and lifted
 * by pulses. Every phase has a closed form:
 *
 *   sliding, sign s     x'' = P_T(t) - s mu (g - P_N(t))      until s (x' - b(t)) = 0
 *   sticking            x' = b(t)                             until |b' - P_T| = mu (g - P_N)
 *
 * b = B sin(w t + p), P the sums of pulses, whose integrals are error functions.
 */
#include "adversarial_slide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef root_real real;

enum { PULSES = SLIDE_PULSES, PHASES = 20000, PUSH = SLIDE_PUSH, LIFT = SLIDE_LIFT };

static const double gravity = 9.81;

typedef slide_system slide;

/* A phase of the motion; sign 0: it sticks. */
typedef struct phase {
  real t, x, v;
  int sign;
} phase;

typedef struct summary {
  phase* phases; /* [PHASES] */
  int count;
} summary;

static real belt(const slide* s, int k, real t) {
  return s->belt * powl(s->rate, k) * root_shape(ROOT_SINE, k, s->rate * t + s->phase);
}

/* Derivative k of the sum of pulses, or its bound on t +- reach. */
static real pulses_at(const slide* s, int which, int k, real t, real reach, bool bound) {
  real sum = 0.0L;
  for (int j = 0; j < s->pulse_count; j++) {
    const root_pulse* p = &s->pulses[j];
    sum += p->coordinate == which ? root_pulse_rate(p, k, t, reach, bound) : 0.0L;
  }
  return sum;
}

static void state_after(const slide* s, const phase* p, real time, real* x, real* v) {
  real t = p->t + time;
  if (p->sign == 0) {
    *v = belt(s, 0, t);
    *x = p->x;
    if (s->belt != 0.0) {
      *x += s->belt / (real)s->rate *
            (cosl(s->rate * p->t + s->phase) - cosl(s->rate * t + s->phase));
    }
    return;
  }
  real a = -p->sign * s->mu * (real)gravity;
  *v = p->v + a * time;
  *x = p->x + p->v * time + a * time * time / 2.0L;
  for (int j = 0; j < s->pulse_count; j++) {
    const root_pulse* pulse = &s->pulses[j];
    real factor = pulse->coordinate == PUSH ? 1.0L : p->sign * (real)s->mu;
    real v0 = root_pulse_velocity(pulse, p->t);
    *v += factor * (root_pulse_velocity(pulse, t) - v0);
    *x += factor *
          (root_pulse_displacement(pulse, t) - root_pulse_displacement(pulse, p->t) - v0 * time);
  }
}

typedef struct search {
  const slide* s;
  const phase* p;
  int side; /* of a phase that sticks: the sign of the slip that begins */
} search;

/* What stays positive in a phase. */
static root_local look(const void* who, int piece, real time, real reach) {
  (void)piece;
  const search* w = who;
  const slide* s = w->s;
  real t = w->p->t + time;
  real b2 = fabsl(s->belt * powl(s->rate, 2));
  if (w->p->sign != 0) {
    real x;
    real v;
    state_after(s, w->p, time, &x, &v);
    real sign = w->p->sign;
    real a = pulses_at(s, PUSH, 0, t, 0.0L, false) -
             sign * s->mu * (gravity - pulses_at(s, LIFT, 0, t, 0.0L, false));
    return (root_local){sign * (v - belt(s, 0, t)), sign * (a - belt(s, 1, t)),
                        pulses_at(s, PUSH, 1, t, reach, true) +
                            s->mu * pulses_at(s, LIFT, 1, t, reach, true) + b2};
  }
  real needed = belt(s, 1, t) - pulses_at(s, PUSH, 0, t, 0.0L, false);
  real slope = belt(s, 2, t) - pulses_at(s, PUSH, 1, t, 0.0L, false);
  return (root_local){s->mu * (gravity - pulses_at(s, LIFT, 0, t, 0.0L, false)) + w->side * needed,
                      -s->mu * pulses_at(s, LIFT, 1, t, 0.0L, false) + w->side * slope,
                      s->mu * pulses_at(s, LIFT, 2, t, reach, true) +
                          pulses_at(s, PUSH, 2, t, reach, true) + b2 * fabsl((real)s->rate)};
}

/* The sign of the slip that begins where sticking is asked for; 0: it sticks. */
static int slip_sign(const slide* s, real t) {
  const phase p = {.t = t};
  for (int side = -1; side <= 1; side += 2) {
    const search w = {s, &p, side};
    root_local at = look(&w, 0, 0.0L, 0.0L);
    if (at.f < -1e-13L || (at.f < 1e-13L && at.slope < 0.0L)) {
      return side;
    }
  }
  return 0;
}

static void follow(const slide* s, real t_end, summary* out) {
  real start = s->v - belt(s, 0, 0.0L);
  phase p = {.v = s->v, .sign = start > 1e-12L ? 1 : start < -1e-12L ? -1 : 0};
  bool from_zero = false; /* slipping begins now */
  if (p.sign == 0) {
    p.sign = slip_sign(s, 0.0L);
    from_zero = p.sign != 0;
  }
  out->count = 0;
  out->phases[out->count++] = p;
  while (out->count < PHASES) {
    real end = t_end - p.t;
    int next = p.sign;
    for (int side = -1; side <= 1; side += 2) {
      const search w = {s, &p, side};
      const root_search r = {look, &w, 1, p.t};
      real begin = from_zero ? root_begin(&r, end) : 0.0L;
      real root;
      if (begin < end && root_first(&r, begin, end, &root) && root < end) {
        end = root;
        next = side;
      }
    }
    if (end >= t_end - p.t) {
      return;
    }
    phase after = {.t = p.t + end};
    state_after(s, &p, end, &after.x, &after.v);
    after.sign = p.sign == 0 ? next : slip_sign(s, after.t);
    if (p.sign == 0 || after.sign == 0) {
      after.v = belt(s, 0, after.t);
    }
    from_zero = after.sign != 0;
    p = after;
    out->phases[out->count++] = p;
  }
}

static void at_time(const slide* s, const summary* motion, real t, real* x, real* v) {
  int k = motion->count - 1;
  while (k > 0 && motion->phases[k].t > t) {
    k--;
  }
  state_after(s, &motion->phases[k], t - motion->phases[k].t, x, v);
}

static void say_slide(adversarial_case* c, const slide* s, double t_end) {
  case_say(c,
           "saltus: 1\nname: %s %d\ncoordinates:\n  x: {start: 0, velocity: %.17g}\n  y: {start: "
           "0}\nkinetic: %.17g*(x'^2 + y'^2)\npotential: %.17g*y\nforces:\n",
           c->family, c->number, s->v, s->mass / 2.0, s->mass * gravity);
  for (int which = PUSH; which <= LIFT; which++) {
    case_say(c, "  %s: 0", which == PUSH ? "x" : "y");
    for (int j = 0; j < s->pulse_count; j++) {
      const root_pulse* p = &s->pulses[j];
      if (p->coordinate == which) {
        case_say(c, " + %.17g*exp(-((t - %.17g)/%.17g)^2)", s->mass * p->size, p->centre, p->width);
      }
    }
    case_say(c, "\n");
  }
  case_say(c, "contacts:\n  - {name: c0, gap: y, friction: %.17g, restitution: 0, slip: \"x'",
           s->mu);
  if (s->belt != 0.0) {
    case_say(c, " - %.17g*sin(%.17g*t + %.17g)", s->belt, s->rate, s->phase);
  }
  case_say(c, "\"}\nsimulate: {until: %.17g}\n", t_end);
}

bool case_expect_slide(adversarial_case* c, const slide_system* s, double t_end) {
  static const double perturbation = CASE_PERTURBATION;
  summary motion[2] = {{malloc(PHASES * sizeof(phase)), 0}, {malloc(PHASES * sizeof(phase)), 0}};
  bool made = motion[0].phases != NULL && motion[1].phases != NULL && case_create(c, 2, 0, 0);
  double K = 1.0;
  if (made) {
    slide moved = *s;
    follow(s, t_end, &motion[0]);
    moved.v += motion[0].phases[0].sign * perturbation;
    follow(&moved, t_end, &motion[1]);
    made = motion[0].count < PHASES;
    for (int k = 0; k < CASE_FRAMES; k++) {
      real t = (real)t_end * k / (CASE_FRAMES - 1);
      real x[2];
      real v[2];
      at_time(s, &motion[0], t, &x[0], &v[0]);
      at_time(&moved, &motion[1], t, &x[1], &v[1]);
      K = fmax(K, (double)fabsl(x[1] - x[0]) / perturbation);
      c->frame_t[k] = (double)t;
      c->frame_K[k] = K;
      c->frame_q[2 * k] = (double)x[0];
      c->q_end[0] = (double)x[0];
      c->v_end[0] = (double)v[0];
    }
    c->t_end = t_end;
    c->K_end = K;
    c->keys = false;
    c->tol_least = 1e-10;
    c->exact = 1e-12;
  }
  free(motion[0].phases);
  free(motion[1].phases);
  return made;
}

/* Pulses of 1e-1 to 1e-6 s on a block that rests; half of them also lift it, by less than its weight. */
static bool slides(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  slide s = {.mu = case_uniform(&r, 0.1, 0.8), .mass = case_uniform(&r, 0.5, 2.0)};
  int count = 1 + case_choice(&r, PULSES);
  double t = 0.0;
  for (int k = 0; k < count; k++) {
    double width = case_decade(&r, -6.0, -1.0);
    t += 5.0 * width + case_uniform(&r, 0.1, 3.0);
    double speed = case_uniform(&r, 0.2, 2.0) * (case_choice(&r, 2) == 0 ? 1.0 : -1.0);
    s.pulses[s.pulse_count++] =
        (root_pulse){PUSH, speed / (width * sqrt(3.141592653589793)), t, width};
    if (number % 2 == 1) {
      double wide = case_decade(&r, -3.0, -1.0);
      s.pulses[s.pulse_count++] = (root_pulse){LIFT, case_uniform(&r, -2.0, 0.3) * gravity,
                                               t + case_uniform(&r, 0.0, 0.2), wide};
    }
  }
  double t_end = t + case_uniform(&r, 0.3, 2.0);
  say_slide(c, &s, t_end);
  return case_expect_slide(c, &s, t_end);
}

/* A block on a belt that shakes at 1 to 300 rad/s: it coasts, reverses, sticks and slips. */
static bool belts(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  slide s = {.mu = case_uniform(&r, 0.05, 0.5),
             .mass = 1.0,
             .belt = case_decade(&r, -1.5, 0.0),
             .rate = case_decade(&r, 0.0, 2.5),
             .phase = case_uniform(&r, 0.0, 6.28),
             .v = case_uniform(&r, -1.5, 1.5)};
  double t_end = case_uniform(&r, 0.5, 2.0);
  say_slide(c, &s, t_end);
  return case_expect_slide(c, &s, t_end);
}

const case_family case_slides[] = {
    {"slides", 40, slides, true, "forces"}, {"belts", 30, belts, false, "forces"}, {0}};
