/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_bodies.c - boxes, pairs of blocks and rods on pins with dry friction and lasting contact.
 * Without a closed form their reference are two other schemes with small steps, one that captures events
 * and one that locates them. A scene is taken where both have converged, each to itself with twice the
 * step and to the other; how far they are apart bounds the tolerances that it can judge.
 *
 * K is measured with the scheme that locates events: with fixed steps a perturbation has to be larger
 * than what a step changes, here 1e-5.
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_WIDTH = 4, BODY_STEPS = 2000 }; /* coordinates; steps between two frames */

typedef struct sampled {
  double q[CASE_FRAMES][BODY_WIDTH], v[BODY_WIDTH];
  int n, count;
} sampled;

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  sampled* s = user;
  if (s->count < CASE_FRAMES) {
    memcpy(s->q[s->count], frame->q, (size_t)s->n * sizeof(double));
    memcpy(s->v, frame->v, (size_t)s->n * sizeof(double));
    s->count++;
  }
  return SALTUS_OK;
}

/* A run with fixed steps, its start moved by `shift`. */
static bool sample(const saltus_scene_view* view, const char* scheme, double t_end, int steps,
                   double shift, sampled* out) {
  const saltus_dims* d = &view->system->dims;
  double q[BODY_WIDTH];
  *out = (sampled){.n = d->nq};
  for (int i = 0; i < d->nq; i++) {
    q[i] = view->q0[i] + shift;
  }
  const saltus_recorder recorder = {.frame = on_frame, .user = out};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = scheme,
                              .h = t_end / ((CASE_FRAMES - 1.0) * steps),
                              .q0 = q,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_every = steps};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK) {
    return false;
  }
  saltus_status status = saltus_sim_run(sim, (long long)(CASE_FRAMES - 1) * steps);
  saltus_sim_destroy(sim);
  return status == SALTUS_OK && out->count == CASE_FRAMES;
}

static double apart(const sampled* a, const sampled* b) {
  double most = 0.0;
  for (int k = 0; k < CASE_FRAMES; k++) {
    for (int i = 0; i < a->n; i++) {
      double size = fabs(a->q[k][i] - b->q[k][i]) / fmax(1.0, fabs(a->q[k][i]));
      most = size <= most ? most : size; /* NaN stays */
    }
  }
  return most;
}

static const char locating[] = "trapezoidal-implicit-mean";
static const char capturing[] = "moreau-jean";

/* Fills in what two schemes agree on. */
static bool agree(adversarial_case* c, const saltus_scene_view* view, double t_end, sampled* s) {
  static const double shift = 1e-5;
  if (!sample(view, locating, t_end, BODY_STEPS, 0.0, &s[0]) ||
      !sample(view, locating, t_end, BODY_STEPS / 2, 0.0, &s[1]) ||
      !sample(view, capturing, t_end, BODY_STEPS, 0.0, &s[2]) ||
      !sample(view, capturing, t_end, BODY_STEPS / 2, 0.0, &s[3])) {
    return false;
  }
  double doubt = fmax(apart(&s[0], &s[2]), fmax(apart(&s[0], &s[1]), apart(&s[2], &s[3])));
  if (!(doubt <= 1e-4)) {
    return false;
  }
  if (!sample(view, locating, t_end, BODY_STEPS / 2, shift, &s[2])) {
    return false;
  }
  c->K_end = NAN; /* velocities at the end are not compared */
  c->t_end = t_end;
  c->tol_least = fmax(1e-6, doubt); /* the reference is better than the error that is allowed */
  c->exact = doubt;
  c->motion_only = true;
  double K = 1.0;
  for (int k = 0; k < CASE_FRAMES; k++) {
    c->frame_t[k] = k == CASE_FRAMES - 1 ? t_end : t_end * k / (CASE_FRAMES - 1);
    for (int i = 0; i < c->n; i++) {
      c->frame_q[k * c->n + i] = s[0].q[k][i];
      K = fmax(K, fabs(s[2].q[k][i] - s[1].q[k][i]) / shift);
    }
    c->frame_K[k] = K <= CASE_K_MOST ? K : NAN;
  }
  return true;
}

static bool expect(adversarial_case* c, double t_end) {
  const saltus_scene_def def = {.path = c->family, .text = c->text};
  saltus_scene* scene = NULL;
  sampled* s = malloc(4 * sizeof *s);
  bool made = s != NULL && saltus_scene_create(&def, &scene) == SALTUS_OK;
  if (made) {
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    made = view->system->dims.nq <= BODY_WIDTH && case_create(c, view->system->dims.nq, 0, 0) &&
           agree(c, view, t_end, s);
  }
  saltus_scene_destroy(scene);
  free(s);
  return made;
}

static const double gravity = 9.81;

/* A box over a rough floor, pushed to and fro. */
static void say_box(adversarial_case* c, case_random* r, double e) {
  double a = case_uniform(r, 0.1, 0.4);
  double b = case_uniform(r, 0.1, 0.3);
  double turned = case_uniform(r, -0.6, 0.6);
  double mu = case_uniform(r, 0.1, 0.8);
  case_say(c, "coordinates:\n  x: {start: 0, velocity: %.17g}\n  y: {start: %.17g}\n",
           case_uniform(r, -2.0, 2.0),
           a * fabs(sin(turned)) + b * cos(turned) + case_uniform(r, 0.0, 0.1));
  case_say(c, "  p: {start: %.17g, velocity: %.17g}\n", turned, case_uniform(r, -1.0, 1.0));
  case_say(c, "kinetic: (x'^2 + y'^2)/2 + %.17g*p'^2\npotential: %.17g*y\n", (a * a + b * b) / 6.0,
           gravity);
  case_say(c, "forces: {x: %.17g*sin(%.17g*t)}\ncontacts:\n", case_uniform(r, 0.0, 8.0),
           case_uniform(r, 1.0, 8.0));
  for (int k = 0; k < 2; k++) {
    double X = k == 0 ? -a : a;
    case_say(c, "  - {name: c%d, gap: y + %.17g*sin(p) - %.17g*cos(p), ", k, X, b);
    case_say(c, "slip: x + %.17g*cos(p) + %.17g*sin(p), friction: %.17g, restitution: %.17g}\n", X,
             b, mu, e);
  }
}

/* Two blocks on a floor with a spring between them: they stick and slip. */
static void say_blocks(adversarial_case* c, case_random* r) {
  case_say(c, "coordinates:\n  x1: {velocity: %.17g}\n  y1:\n  x2: {start: 1}\n  y2:\n",
           case_uniform(r, -1.0, 1.0));
  case_say(c, "kinetic: (x1'^2 + y1'^2)/2 + %.17g*(x2'^2 + y2'^2)\n", case_uniform(r, 0.3, 1.5));
  case_say(c, "potential: %.17g*(y1 + y2) + %.17g*(x2 - x1 - 1)^2\n", gravity,
           case_uniform(r, 5.0, 100.0));
  case_say(c, "forces: {x1: %.17g*cos(%.17g*t)}\ncontacts:\n", case_uniform(r, 2.0, 8.0),
           case_uniform(r, 1.0, 10.0));
  for (int k = 1; k <= 2; k++) {
    case_say(c, "  - {name: c%d, gap: y%d, slip: x%d, friction: %.17g}\n", k, k, k,
             case_uniform(r, 0.05, 0.5));
  }
}

/* A rod on a pin that falls onto a rough block, which it pushes away. */
static void say_rod(adversarial_case* c, case_random* r) {
  double a = case_uniform(r, 0.3, 0.6);
  double turned = case_uniform(r, -1.2, -0.2);
  double wall = 2.0 * a * cos(turned) + case_uniform(r, -0.3, 0.05);
  case_say(c, "coordinates:\n  x: {start: %.17g}\n  y: {start: %.17g}\n  p: {start: %.17g}\n",
           a * cos(turned), a * sin(turned), turned);
  case_say(c, "kinetic: (x'^2 + y'^2)/2 + %.17g*p'^2\npotential: %.17g*y\njoints:\n", a * a / 6.0,
           gravity);
  case_say(c, "  - {constraint: x - %.17g*cos(p)}\n  - {constraint: y - %.17g*sin(p)}\n", a, a);
  case_say(c, "  - {constraint: 2*x - %.17g*cos(p)}\ncontacts:\n", 2.0 * a);
  case_say(c, "  - {name: c0, gap: %.17g - x - %.17g*cos(p), slip: y + %.17g*sin(p), ",
           fmax(wall, 2.0 * a * cos(turned) + 0.01), a, a);
  case_say(c, "friction: %.17g, restitution: 0}\n", case_uniform(r, 0.05, 0.5));
}

static bool bodies(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  double t_end = case_uniform(&r, 0.5, 1.0);
  case_say(c, "saltus: 1\nname: %s %d\n", c->family, c->number);
  switch (number % 4) {
  case 0:
    say_box(c, &r, 0.0);
    break;
  case 1:
    say_box(c, &r, case_uniform(&r, 0.1, 0.5));
    break;
  case 2:
    say_blocks(c, &r);
    break;
  default:
    say_rod(c, &r);
  }
  case_say(c, "simulate: {until: %.17g}\n", t_end);
  return expect(c, t_end);
}

const case_family case_bodies[] = {{"bodies", 24, bodies, false, "forces"}, {0}};
