/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_systems.c - see random_systems.h.
 *
 * A scene has one to three bodies, each a disc or a box, over a floor under inclined gravity, some
 * also beside a wall; discs meet each other; the first body may hang on a rod, two may be joined by
 * one. Rates of joints are zero at the start because the bodies concerned move alike or not at all.
 */
#include "random_systems.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 3 };

typedef struct body {
  bool disc;
  double r;    /* m, of a disc */
  double a, b; /* m, half width and height of a box */
  double x, y, phi, vx, vy, w;
} body;

typedef struct maker {
  uint64_t draw, shaken; /* states of two generators */
  double shake;
  random_scene* scene;
  size_t length;
  int bodies;
  bool hangs, joined, poisson;
  body body[BODIES];
} maker;

/* 0 <= u < 1 (splitmix64). */
static double uniform(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double number(maker* m, double lo, double hi) {
  double x = lo + (hi - lo) * uniform(&m->draw);
  return x * (1.0 + m->shake * (2.0 * uniform(&m->shaken) - 1.0));
}

static bool chance(maker* m, double p) {
  return uniform(&m->draw) < p;
}

static void say(maker* m, const char* format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(m->scene->text + m->length, RANDOM_TEXT - m->length, format, args);
  va_end(args);
  m->length += n > 0 ? (size_t)n : 0;
  m->length = m->length < RANDOM_TEXT ? m->length : RANDOM_TEXT - 1;
}

static body random_body(maker* m, int i) {
  body b = {.disc = chance(m, 0.5)};
  b.r = number(m, 0.1, 0.4);
  b.a = number(m, 0.1, 0.4);
  b.b = number(m, 0.1, 0.4);
  b.x = 1.1 * i + number(m, 0.0, 0.2);
  b.phi = chance(m, 0.3) ? 0.0 : number(m, -1.0, 1.0);
  bool lies = chance(m, 0.3);
  double height = lies ? 0.0 : number(m, 0.0, 0.8);
  b.y = height + (b.disc ? b.r : b.a * fabs(sin(b.phi)) + b.b * fabs(cos(b.phi)));
  b.vx = number(m, -2.0, 2.0);
  b.vy = lies ? 0.0 : number(m, -1.0, 1.0);
  b.w = lies && !b.disc ? 0.0 : number(m, -4.0, 4.0);
  return b;
}

static void say_coordinates(maker* m) {
  say(m, "coordinates:\n");
  for (int i = 0; i < m->bodies && i < BODIES; i++) {
    const body* b = &m->body[i];
    say(m, "  x%d: {start: %.17g, velocity: %.17g}\n", i, b->x, b->vx);
    say(m, "  y%d: {start: %.17g, velocity: %.17g}\n", i, b->y, b->vy);
    say(m, "  p%d: {start: %.17g, velocity: %.17g}\n", i, b->phi, b->w);
  }
}

static void say_energies(maker* m) {
  double mass[BODIES] = {0};
  say(m, "kinetic: 0");
  for (int i = 0; i < m->bodies && i < BODIES; i++) {
    const body* b = &m->body[i];
    mass[i] = number(m, 0.5, 2.0);
    double J = mass[i] * (b->disc ? b->r * b->r / 2.0 : (b->a * b->a + b->b * b->b) / 3.0);
    say(m, " + %.17g*(x%d'^2 + y%d'^2) + %.17g*p%d'^2", mass[i] / 2.0, i, i, J / 2.0, i);
  }
  double slope = number(m, -0.3, 0.3);
  say(m, "\npotential: 0");
  for (int i = 0; i < m->bodies && i < BODIES; i++) {
    say(m, " + %.17g*y%d + %.17g*x%d", mass[i] * 9.81 * cos(slope), i, mass[i] * 9.81 * sin(slope),
        i);
  }
  if (m->bodies > 1 && chance(m, 0.4)) {
    say(m, " + %.17g*(x1 - x0 - 1)^2", number(m, 0.5, 30.0));
  }
  say(m, "\nforces:\n");
  for (int i = 0; i < m->bodies && i < BODIES; i++) {
    double push = chance(m, 0.6) ? number(m, 0.5, 8.0) : 0.0;
    say(m, "  x%d: %.17g*sin(%.17g*t + %.17g) - %.17g*x%d'\n", i, push, number(m, 1.0, 8.0),
        number(m, 0.0, 6.0), number(m, 0.0, 0.3), i);
    double lift = chance(m, 0.4) ? number(m, 0.5, 12.0) : 0.0;
    say(m, "  y%d: %.17g*sin(%.17g*t + %.17g)\n", i, lift, number(m, 1.0, 8.0),
        number(m, 0.0, 6.0));
  }
}

static void say_joints(maker* m) {
  if (!m->hangs && !m->joined) {
    return;
  }
  say(m, "joints:\n");
  if (m->hangs) {
    double dx = number(m, 0.2, 0.8);
    double dy = number(m, 0.3, 1.0);
    say(m, "  - {constraint: (x0 - (%.17g))^2 + (y0 - (%.17g))^2 - %.17g}\n", m->body[0].x + dx,
        m->body[0].y + dy, dx * dx + dy * dy);
  }
  if (m->joined) {
    double dx = m->body[1].x - m->body[0].x;
    double dy = m->body[1].y - m->body[0].y;
    say(m, "  - {constraint: (x1 - x0)^2 + (y1 - y0)^2 - %.17g}\n", dx * dx + dy * dy);
  }
}

/* The law of a contact, at the end of its line. */
static void say_law(maker* m) {
  double mu = chance(m, 0.2) ? 0.0 : number(m, 0.0, 1.0);
  double e = chance(m, 0.3) ? 0.0 : fmin(number(m, 0.0, 0.99), 0.99);
  say(m, ", friction: %.17g, restitution: %.17g%s}\n", mu, e,
      m->poisson ? ", impact: poisson" : "");
}

static void say_contacts_of(maker* m, int i) {
  const body* b = &m->body[i];
  if (b->disc) {
    say(m, "  - {gap: y%d - %.17g, slip: x%d' + %.17g*p%d'", i, b->r, i, b->r, i);
    say_law(m);
    if (chance(m, 0.3)) {
      say(m, "  - {gap: x%d + %.17g, slip: y%d' - %.17g*p%d'", i, 0.6 - b->r, i, b->r, i);
      say_law(m);
    }
    return;
  }
  int corners = chance(m, 0.5) ? 2 : 4;
  for (int k = 0; k < corners; k++) {
    double X = k % 2 == 0 ? -b->a : b->a;
    double Y = k < 2 ? -b->b : b->b;
    say(m,
        "  - {gap: y%d + %.17g*sin(p%d) + %.17g*cos(p%d), slip: x%d + %.17g*cos(p%d) - "
        "%.17g*sin(p%d)",
        i, X, i, Y, i, i, X, i, Y, i);
    say_law(m);
  }
}

static void say_contacts(maker* m) {
  say(m, "contacts:\n");
  for (int i = 0; i < m->bodies && i < BODIES; i++) {
    say_contacts_of(m, i);
  }
  for (int i = 1; i < m->bodies; i++) {
    const body* a = &m->body[i - 1];
    const body* b = &m->body[i];
    if (a->disc && b->disc && !(i == 1 && m->joined)) {
      int k = i - 1;
      say(m, "  - {gap: sqrt((x%d - x%d)^2 + (y%d - y%d)^2) - %.17g, ", k, i, k, i, a->r + b->r);
      say(m,
          "slip: ((y%d - y%d)*(x%d' - x%d') + (x%d - x%d)*(y%d' - y%d'))/sqrt((x%d - x%d)^2 + (y%d "
          "- y%d)^2) - %.17g*p%d' - %.17g*p%d'",
          i, k, k, i, k, i, k, i, k, i, k, i, a->r, k, b->r, i);
      say_law(m);
    }
  }
}

void random_scene_make(uint64_t seed, double shake, random_scene* scene) {
  maker m = {
      .draw = seed * 0x2545f4914f6cdd1du, .shaken = seed + 77u, .shake = shake, .scene = scene};
  m.bodies = 1 + (int)(3.0 * uniform(&m.draw));
  m.hangs = chance(&m, 0.3);
  m.joined = m.bodies > 1 && chance(&m, 0.3);
  m.poisson = chance(&m, 0.3);
  scene->tol = pow(10.0, -3.0 - 6.0 * uniform(&m.draw));
  scene->t_end = 0.5 + 1.5 * uniform(&m.draw);
  for (int i = 0; i < m.bodies; i++) {
    m.body[i] = random_body(&m, i);
  }
  if (m.joined) {
    m.body[1].vx = m.body[0].vx;
    m.body[1].vy = m.body[0].vy;
  }
  for (int i = 0; m.hangs && i < (m.joined ? 2 : 1); i++) {
    m.body[i].vx = 0.0;
    m.body[i].vy = 0.0;
  }
  say(&m, "saltus: 1\n");
  say_coordinates(&m);
  say_energies(&m);
  say_joints(&m);
  say_contacts(&m);
}

/* ---- judging ------------------------------------------------------------------------------- */

/* A run that stays open with its model. */
typedef struct opened {
  tolerance_model model;
  tolerance_run run;
  saltus_status status;
} opened;

static void open_run(opened* o, const random_scene* scene, double tol, saltus_log log) {
  const tolerance_case what = {.text = scene->text, .t_end = scene->t_end};
  *o = (opened){0};
  o->status = tolerance_open(&what, log, &o->model);
  if (o->status == SALTUS_OK) {
    o->run = tolerance_of(&what, &o->model, tol, SALTUSI_ADAPTIVE_CHOOSES);
    o->run.log = log;
    o->run.steps_max = 100000;
    o->status = tolerance_go(&o->run);
  }
}

static void close_run(opened* o) {
  tolerance_free(&o->run);
  tolerance_close(&o->model);
}

/* Largest |q error| over time over tol (1 + |q|). */
static double error_between(const tolerance_run* run, const tolerance_run* reference, double tol) {
  enum { INSTANTS = 400 };
  int n = run->system->dims.nq;
  double most = 0.0;
  for (int k = 1; k <= INSTANTS; k++) {
    double t = run->t_end * k / INSTANTS;
    double q[2][TOLERANCE_WIDTH];
    double v[TOLERANCE_WIDTH];
    tolerance_at(run, t, q[0], v);
    tolerance_at(reference, t, q[1], v);
    for (int i = 0; i < n; i++) {
      double size = fabs(q[0][i] - q[1][i]) / (tol * (1.0 + fabs(q[1][i])));
      most = size <= most ? most : size; /* NaN stays */
    }
  }
  return most;
}

/* How far scenes move apart that differ by tol in their numbers. */
static double sensitivity(uint64_t seed, const tolerance_run* reference, double tol) {
  static const double shakes[4] = {1.0, -1.0, 0.3, -0.3};
  double most = 0.0;
  for (int k = 0; k < 4; k++) {
    random_scene* scene = malloc(sizeof *scene);
    if (scene == NULL) {
      return most;
    }
    random_scene_make(seed, shakes[k] * tol, scene);
    opened o;
    open_run(&o, scene, 1e-3 * tol, (saltus_log){0});
    if (o.status == SALTUS_OK) {
      most = fmax(most, error_between(&o.run, reference, tol));
    }
    close_run(&o);
    free(scene);
  }
  return most;
}

random_verdict random_judge(uint64_t seed, double most) {
  random_verdict verdict = {0};
  random_scene* scene = malloc(sizeof *scene);
  if (scene == NULL) {
    verdict.status = SALTUS_ERR_MEMORY;
    return verdict;
  }
  random_scene_make(seed, 0.0, scene);
  saltus_kept_message kept = {0};
  opened coarse;
  opened fine;
  open_run(&coarse, scene, scene->tol, saltus_log_keep(&kept));
  open_run(&fine, scene, 1e-3 * scene->tol, saltus_log_keep(&kept));
  verdict.tol = scene->tol;
  verdict.status = coarse.status;
  verdict.reference_status = fine.status;
  verdict.steps = coarse.run.counts.steps;
  verdict.events = coarse.run.counts.events;
  snprintf(verdict.message, sizeof verdict.message, "%.159s", kept.text);
  if (coarse.status == SALTUS_OK && fine.status == SALTUS_OK) {
    verdict.error = error_between(&coarse.run, &fine.run, scene->tol);
    verdict.finite = isfinite(verdict.error);
    verdict.depth = -coarse.run.deepest / scene->tol;
    if (!(verdict.error <= most)) {
      verdict.sensitivity = sensitivity(seed, &fine.run, scene->tol);
    }
  }
  close_run(&coarse);
  close_run(&fine);
  free(scene);
  return verdict;
}
