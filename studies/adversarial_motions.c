/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_motions.c - families of scenes without closed flights, written with joints, redundant
 * joints, drives, springs and kinks; their references are equations of few coordinates, solved in long
 * double.
 */
#include "adversarial_motions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef root_real real;

static const double gravity = 9.81;

/* ---- a reference as paths -------------------------------------------------------------------------- */

typedef struct followed {
  ode_system system;
  ode_motion motion;
  motion_map map;
} followed;

static void followed_at(const void* who, real t, real* q, real* v) {
  const followed* f = who;
  real y[ODE_WIDTH];
  ode_at(&f->system, &f->motion, t, y);
  f->map(f->system.who, t, y, q, v);
}

static bool follow(const ode_system* system, double t_end, motion_map map, followed* f,
                   case_path* path) {
  f->system = *system;
  f->map = map;
  path->events = malloc(ODE_IMPACTS * sizeof(path_event));
  if (!ode_motion_create(&f->motion) || path->events == NULL) {
    return false;
  }
  ode_follow(&f->system, t_end, &f->motion);
  path->event_count = f->motion.impact_count;
  for (int i = 0; i < path->event_count; i++) {
    const ode_impact* impact = &f->motion.impacts[i];
    bool last = i == path->event_count - 1;
    path->events[i] =
        (path_event){impact->t, impact->before, last ? f->motion.settle : 0.0L, impact->contact};
  }
  path->t_end = (double)f->motion.t_end;
  path->lost = f->motion.lost;
  path->at = followed_at;
  path->who = f;
  return true;
}

bool case_expect_motion(adversarial_case* c, const ode_system* system, double t_end, motion_map map,
                        int n) {
  followed* f = calloc(1 + ODE_WIDTH, sizeof *f);
  case_path path[1 + ODE_WIDTH] = {{0}};
  bool made = f != NULL && follow(system, t_end, map, &f[0], &path[0]);
  for (int i = 0; i < system->n && made; i++) {
    ode_system moved = *system;
    moved.y[i] += CASE_PERTURBATION;
    made = follow(&moved, t_end, map, &f[1 + i], &path[1 + i]);
  }
  made = made && case_expect(c, path, 1 + system->n, n);
  for (int j = 0; f != NULL && j <= ODE_WIDTH; j++) {
    ode_motion_destroy(&f[j].motion);
    free(path[j].events);
  }
  free(f);
  return made;
}

/* ---- pendulum with a driven pivot and a wall ---------------------------------------------------------- */

/* y = (theta, theta'); pivot at A sin(w t), mass at (A sin(w t) + l sin theta, -l cos theta). */
static real pivot(const motion_pendulum* p, int k, real t) {
  return p->A * powl(p->w, k) * root_shape(ROOT_SINE, k, p->w * t);
}

static void pendulum_rate(const void* who, const bool* above, real t, const real* y, real* dy) {
  (void)above;
  const motion_pendulum* p = who;
  dy[0] = y[1];
  dy[1] = (-(real)gravity * sinl(y[0]) - pivot(p, 2, t) * cosl(y[0])) / p->l;
}

static real pendulum_gap(const void* who, int contact, real t, const real* y) {
  (void)contact;
  const motion_pendulum* p = who;
  return pivot(p, 0, t) + p->l * sinl(y[0]) + p->wall;
}

static real pendulum_gap_rate(const void* who, int contact, real t, const real* y) {
  (void)contact;
  const motion_pendulum* p = who;
  return pivot(p, 1, t) + p->l * cosl(y[0]) * y[1];
}

static void pendulum_impact(const void* who, int contact, real t, real* y) {
  const motion_pendulum* p = who;
  y[1] -= (1.0L + p->e) * pendulum_gap_rate(who, contact, t, y) / (p->l * cosl(y[0]));
}

void motion_pendulum_map(const void* who, real t, const real* y, real* q, real* v) {
  const motion_pendulum* p = who;
  q[0] = pivot(p, 0, t) + p->l * sinl(y[0]);
  q[1] = -p->l * cosl(y[0]);
  v[0] = pivot(p, 1, t) + p->l * cosl(y[0]) * y[1];
  v[1] = p->l * sinl(y[0]) * y[1];
}

ode_system motion_pendulum_system(const motion_pendulum* p) {
  return (ode_system){.n = 2,
                      .contact_count = p->free ? 0 : 1,
                      .step = fmin(0.01, 0.1 / fmax(1.0, p->w)),
                      .y = {p->theta, p->omega},
                      .who = p,
                      .rate = pendulum_rate,
                      .gap = pendulum_gap,
                      .gap_rate = pendulum_gap_rate,
                      .impact = pendulum_impact,
                      .restitution = p->e};
}

/* Pendulums in Cartesian coordinates; the rod once to three times, as lengths and as squares. */
static bool pendulums(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  motion_pendulum p = {.l = case_uniform(&r, 0.5, 1.5), .e = case_uniform(&r, 0.3, 0.95)};
  if (number % 3 != 0) {
    p.w = case_decade(&r, 0.0, 1.7);
    p.A = fmin(0.2, 2.0 / (p.w * p.w)) * case_uniform(&r, 0.3, 1.0);
  }
  p.theta = case_uniform(&r, 0.0, 1.2);
  p.omega = case_uniform(&r, -2.0, 2.0);
  p.wall = p.l * case_uniform(&r, 0.1, 0.6) + p.A;
  ode_system system = motion_pendulum_system(&p);
  real q[2];
  real v[2];
  real y[2] = {p.theta, p.omega};
  motion_pendulum_map(&p, 0.0L, y, q, v);
  case_say(
      c,
      "saltus: 1\nname: %s %d\ncoordinates:\n  x: {start: %.17g, velocity: %.17g}\n  y: "
      "{start: %.17g, velocity: %.17g}\nkinetic: (x'^2 + y'^2)/2\npotential: %.17g*y\njoints:\n",
      c->family, c->number, (double)q[0], (double)v[0], (double)q[1], (double)v[1], gravity);
  int rods = 1 + case_choice(&r, 3);
  static const char* const forms[] = {
      "(x - %.17g*sin(%.17g*t))^2 + y^2 - %.17g^2",
      "sqrt((x - %.17g*sin(%.17g*t))^2 + y^2) - %.17g",
      "3*((x - %.17g*sin(%.17g*t))^2 + y^2)/%.17g - %.17g",
  };
  for (int k = 0; k < rods; k++) {
    char text[256];
    snprintf(text, sizeof text,
             k == 0   ? forms[0]
             : k == 1 ? forms[1]
                      : forms[2],
             p.A, p.w, p.l, 3.0 * p.l);
    case_say(c, "  - {constraint: \"%s\"}\n", text);
  }
  case_say(c, "contacts:\n  - {name: c0, gap: x + %.17g, restitution: %.17g}\n", p.wall, p.e);
  if (!case_expect_motion(c, &system, case_uniform(&r, 1.0, 3.0), motion_pendulum_map, 2)) {
    return false;
  }
  case_say(c, "simulate: {until: %.17g}\n", c->t_end);
  return true;
}

/* ---- masses and springs, with one-sided springs ---------------------------------------------------------- */

static void springs_rate(const void* who, const bool* above, real t, const real* y, real* dy) {
  const motion_springs* s = who;
  for (int i = 0; i < 3; i++) {
    dy[i] = y[3 + i];
    real f = -s->ground[i] * y[i];
    f += i > 0 ? -s->between[i - 1] * (y[i] - y[i - 1]) : 0.0L;
    f += i < 2 ? s->between[i] * (y[i + 1] - y[i]) : 0.0L;
    dy[3 + i] = f;
  }
  dy[3] += s->force * cosl(s->rate * t);
  dy[4] -= s->damping * y[4];
  if (s->bumper > 0.0) { /* k max(0, x - place) on the first mass */
    dy[3] -= above[0] ? s->bumper * (y[0] - s->place) : 0.0L;
  }
  for (int i = 0; i < 3; i++) {
    dy[3 + i] /= s->mass[i];
  }
}

static real springs_gap(const void* who, int contact, real t, const real* y) {
  (void)t;
  return y[contact] + ((const motion_springs*)who)->stop[contact];
}

static real springs_gap_rate(const void* who, int contact, real t, const real* y) {
  (void)who;
  (void)t;
  return y[3 + contact];
}

static void springs_impact(const void* who, int contact, real t, real* y) {
  (void)t;
  y[3 + contact] *= -((const motion_springs*)who)->e[contact];
}

static real springs_side(const void* who, int k, const real* y) {
  (void)k;
  return y[0] - ((const motion_springs*)who)->place;
}

void motion_springs_map(const void* who, real t, const real* y, real* q, real* v) {
  (void)who;
  (void)t;
  memcpy(q, y, 3 * sizeof *q);
  memcpy(v, y + 3, 3 * sizeof *v);
}

ode_system motion_springs_system(const motion_springs* s) {
  ode_system system = {.n = 6,
                       .contact_count = 3,
                       .switch_count = s->bumper > 0.0 ? 1 : 0,
                       .step = 0.01,
                       .who = s,
                       .rate = springs_rate,
                       .gap = springs_gap,
                       .gap_rate = springs_gap_rate,
                       .impact = springs_impact,
                       .side = springs_side,
                       .restitution = s->e[0]};
  memcpy(system.y, s->q, sizeof s->q);
  return system;
}

/* Three masses with springs, stops and, in half of them, a bumper whose force has a kink. */
static bool springs(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  motion_springs s = {.force = case_uniform(&r, 0.0, 5.0),
                      .rate = case_uniform(&r, 1.0, 8.0),
                      .damping = case_uniform(&r, 0.0, 0.3)};
  for (int i = 0; i < 3; i++) {
    s.mass[i] = case_uniform(&r, 0.5, 2.0);
    s.ground[i] = case_uniform(&r, 5.0, 20.0);
    s.stop[i] = case_uniform(&r, 0.05, 0.3);
    s.e[i] = case_uniform(&r, 0.3, 0.95);
    s.q[i] = case_uniform(&r, 0.0, 0.6);
  }
  s.between[0] = case_uniform(&r, 10.0, 50.0);
  s.between[1] = case_uniform(&r, 10.0, 50.0);
  if (number % 2 == 1) {
    s.bumper = case_uniform(&r, 20.0, 500.0);
    s.place = case_uniform(&r, -0.02, 0.2);
  }
  case_say(c, "saltus: 1\nname: %s %d\ncoordinates:\n", c->family, c->number);
  for (int i = 0; i < 3; i++) {
    case_say(c, "  x%d: {start: %.17g}\n", i, s.q[i]);
  }
  case_say(c, "kinetic: %.17g*x0'^2 + %.17g*x1'^2 + %.17g*x2'^2\n", s.mass[0] / 2.0,
           s.mass[1] / 2.0, s.mass[2] / 2.0);
  case_say(c, "potential: %.17g*x0^2 + %.17g*x1^2 + %.17g*x2^2", s.ground[0] / 2.0,
           s.ground[1] / 2.0, s.ground[2] / 2.0);
  case_say(c, " + %.17g*(x1 - x0)^2 + %.17g*(x2 - x1)^2\n", s.between[0] / 2.0, s.between[1] / 2.0);
  case_say(c, "forces:\n  x0: \"%.17g*cos(%.17g*t)", s.force, s.rate);
  if (s.bumper > 0.0) {
    static const char* const forms[] = {" - %.17g*max(0, x0 - %.17g)",
                                        " - %.17g*(x0 - %.17g + abs(x0 - %.17g))/2"};
    char text[256];
    snprintf(text, sizeof text, number % 4 == 1 ? forms[0] : forms[1], s.bumper, s.place, s.place);
    case_say(c, "%s", text);
  }
  case_say(c, "\"\n  x1: -%.17g*x1'\ncontacts:\n", s.damping);
  for (int i = 0; i < 3; i++) {
    case_say(c, "  - {name: c%d, gap: x%d + %.17g, restitution: %.17g}\n", i, i, s.stop[i], s.e[i]);
  }
  ode_system system = motion_springs_system(&s);
  if (!case_expect_motion(c, &system, case_uniform(&r, 1.0, 4.0), motion_springs_map, 3)) {
    return false;
  }
  case_say(c, "simulate: {until: %.17g}\n", c->t_end);
  return true;
}

const case_family case_motions[] = {
    {"pendulums", 30, pendulums, false, "forces"}, {"springs", 30, springs, false, "forces"}, {0}};
