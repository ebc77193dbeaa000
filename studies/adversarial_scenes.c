/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adversarial_scenes.c - families of scenes with closed flights: the random system, and the scene that
 * a user would write for it.
 */
#include "adversarial_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const names[FLIGHT_WIDTH] = {"x", "y", "z", "a", "b", "c"};

/* What the scene says beyond the system, and instead of what is written from it. */
typedef struct wording {
  char coordinates[512], kinetic[256], potential[256], joints[512], contacts[1024];
  char forces[FLIGHT_WIDTH][256];
  char gaps[FLIGHT_CONTACTS][256];  /* by key */
  char slips[FLIGHT_CONTACTS][256]; /* the same */
} wording;

/* ---- a system as a scene ------------------------------------------------------------------------- */

static void say_sum(char* text, size_t size, const double* factor, int n, double drift,
                    double constant) {
  size_t k = (size_t)snprintf(text, size, "%.17g", constant);
  if (drift != 0.0 && k < size) {
    k += (size_t)snprintf(text + k, size - k, " + %.17g*t", drift);
  }
  for (int i = 0; i < n && k < size; i++) {
    if (factor[i] != 0.0) {
      k += (size_t)snprintf(text + k, size - k, " + %.17g*%s", factor[i], names[i]);
    }
  }
}

static void say_piece(const flight_piece* piece, int n, char* text, size_t size) {
  say_sum(text, size, piece->normal, n, piece->drift, piece->constant);
  for (int j = 0; j < piece->term_count; j++) {
    const flight_term* term = &piece->terms[j];
    char phase[256];
    say_sum(phase, sizeof phase, term->rate, n, term->frequency, term->phase);
    size_t k = strlen(text);
    snprintf(text + k, size - k,
             term->shape == ROOT_SINE ? " + %.17g*sin(%s)" : " + %.17g*exp(-(%s)^2)", term->size,
             phase);
  }
}

static void say_gap(adversarial_case* c, const flight_contact* contact, int n) {
  char text[512];
  case_say(c, contact->piece_count > 1 ? "max(" : "");
  for (int p = 0; p < contact->piece_count; p++) {
    say_piece(&contact->pieces[p], n, text, sizeof text);
    case_say(c, "%s%s", p > 0 ? ", " : "", text);
  }
  case_say(c, contact->piece_count > 1 ? ")" : "");
}

/* Contacts of the same key are one contact of the scene: the least of their gaps. */
static void say_contacts(adversarial_case* c, const flight_system* s, const wording* w) {
  case_say(c, "contacts:\n");
  for (int k = 0; k < s->contact_count; k++) {
    int key = s->contacts[k].key;
    if (k > 0 && s->contacts[k - 1].key == key) {
      continue;
    }
    int same = 1;
    while (k + same < s->contact_count && s->contacts[k + same].key == key) {
      same++;
    }
    case_say(c, "  - {name: c%d, gap: \"", key);
    if (w->gaps[key][0] != '\0') {
      case_say(c, "%s", w->gaps[key]);
    } else {
      case_say(c, same > 1 ? "min(" : "");
      for (int j = 0; j < same; j++) {
        case_say(c, j > 0 ? ", " : "");
        say_gap(c, &s->contacts[k + j], s->n);
      }
      case_say(c, same > 1 ? ")" : "");
    }
    case_say(c, "\", restitution: %.17g", s->contacts[k].restitution);
    if (w->slips[key][0] != '\0') {
      case_say(c, ", slip: \"%s\", friction: %.17g", w->slips[key], s->contacts[k].friction);
    }
    case_say(c, "}\n");
  }
  case_say(c, "%s", w->contacts);
}

static bool has_force(const flight_system* s, const wording* w, int i) {
  bool any = w->forces[i][0] != '\0';
  for (int k = 0; k < s->pulse_count; k++) {
    any = any || s->pulses[k].coordinate == i;
  }
  for (int k = 0; k < s->break_count; k++) {
    any = any || s->breaks[k].acceleration[i] != 0.0;
  }
  for (int k = 0; k < s->field_count; k++) {
    any = any || s->fields[k].coordinate == i;
  }
  return any;
}

static void say_forces(adversarial_case* c, const flight_system* s, const wording* w) {
  bool any = false;
  for (int i = 0; i < s->n; i++) {
    if (!has_force(s, w, i)) {
      continue;
    }
    case_say(c, "%s  %s: \"0", any ? "" : "forces:\n", names[i]);
    any = true;
    for (int k = 0; k < s->pulse_count; k++) {
      const root_pulse* p = &s->pulses[k];
      if (p->coordinate == i) {
        case_say(c, " + %.17g*exp(-((t - %.17g)/%.17g)^2)", s->mass[i] * p->size, p->centre,
                 p->width);
      }
    }
    for (int k = 0; k < s->break_count && w->forces[i][0] == '\0'; k++) {
      case_say(c, " + %.17g*step(t - %.17g)", s->mass[i] * s->breaks[k].acceleration[i],
               s->breaks[k].t);
    }
    for (int k = 0; k < s->field_count && w->forces[i][0] == '\0'; k++) {
      const flight_field* f = &s->fields[k];
      if (f->coordinate == i) {
        case_say(c, " + piecewise(%s < %.17g, %.17g, %.17g)", names[i], f->place,
                 s->mass[i] * f->below, s->mass[i] * f->above);
      }
    }
    case_say(c, "%s\"\n", w->forces[i]);
  }
}

static void say_system(adversarial_case* c, const flight_system* s, const wording* w) {
  case_say(c, "saltus: 1\nname: %s %d\ncoordinates:\n", c->family, c->number);
  for (int i = 0; i < s->n; i++) {
    case_say(c, "  %s: {start: %.17g, velocity: %.17g}\n", names[i], s->q[i], s->v[i]);
  }
  case_say(c, "%skinetic: \"0", w->coordinates);
  for (int i = 0; i < s->n && w->kinetic[0] == '\0'; i++) {
    case_say(c, " + %.17g*%s'^2", s->mass[i] / 2.0, names[i]);
  }
  case_say(c, "%s\"\npotential: \"0", w->kinetic);
  for (int i = 0; i < s->n && w->potential[0] == '\0'; i++) {
    if (s->acceleration[i] != 0.0) {
      case_say(c, " + %.17g*%s", -s->mass[i] * s->acceleration[i], names[i]);
    }
  }
  case_say(c, "%s\"\n", w->potential);
  say_forces(c, s, w);
  if (w->joints[0] != '\0') {
    case_say(c, "joints:\n%s", w->joints);
  }
  say_contacts(c, s, w);
}

/* The scene with its end, after what is expected is known. */
static bool finish(adversarial_case* c, const flight_system* s, const wording* w, double t_end) {
  say_system(c, s, w);
  if (!case_expect_flight(c, s, t_end)) {
    return false;
  }
  case_say(c, "simulate: {until: %.17g}\n", c->t_end);
  for (int k = 1; k < s->contact_count;
       k++) { /* a gap that is a min may be reported as several contacts */
    c->keys = c->keys && s->contacts[k].key != s->contacts[k - 1].key;
  }
  return true;
}

/* ---- surfaces ---------------------------------------------------------------------------------------- */

static const double gravity = 9.81;

static flight_contact floor_of(int coordinate, double e, int key) {
  flight_contact contact = {.piece_count = 1, .restitution = e, .seat = coordinate, .key = key};
  contact.pieces[0].normal[coordinate] = 1.0;
  return contact;
}

static void add_term(flight_contact* contact, flight_term term) {
  flight_piece* piece = &contact->pieces[0];
  piece->terms[piece->term_count++] = term;
}

static double gap_at_start(const flight_system* s, int k) {
  flight_real q[FLIGHT_WIDTH] = {0};
  for (int i = 0; i < s->n; i++) {
    q[i] = s->q[i];
  }
  return (double)flight_gap(&s->contacts[k], s->n, 0.0L, q);
}

/* A ball over a table that shakes. */
static bool tables(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  double w = case_decade(&r, 0.0, 3.0);
  double A = fmin(case_decade(&r, -3.0, -1.0), 10.0 / w);
  flight_system s = {.n = 1, .mass = {case_uniform(&r, 0.5, 2.0)}, .acceleration = {-gravity}};
  s.q[0] = A + case_uniform(&r, 0.01, 1.0);
  s.v[0] = case_uniform(&r, -1.0, 3.0);
  double e = case_uniform(&r, 0.0, 1.0) < 0.1 ? 0.0 : case_uniform(&r, 0.3, 0.95);
  s.contacts[s.contact_count++] = floor_of(0, e, 0);
  add_term(&s.contacts[0], (flight_term){.shape = ROOT_SINE,
                                         .size = -A,
                                         .frequency = w,
                                         .phase = case_uniform(&r, 0.0, 6.28)});
  return finish(c, &s, &(wording){0}, case_uniform(&r, 0.5, 3.0));
}

/* A ball over a wave, one that stands or one that travels. */
static bool over_wave(adversarial_case* c, int number, bool travels) {
  case_random r = case_random_of(c->family, number);
  double k = case_decade(&r, 0.0, travels ? 1.3 : 2.0);
  double A = fmin(case_decade(&r, -3.0, -1.0), 5.0 / k);
  double w = travels ? case_decade(&r, 0.0, 1.7) : 0.0;
  flight_system s = {.n = 2, .mass = {1.0, 1.0}, .acceleration = {0.0, -gravity}};
  s.q[0] = case_uniform(&r, -2.0, 2.0);
  s.q[1] = A + case_uniform(&r, 0.05, 1.0);
  s.v[0] = case_uniform(&r, -3.0, 3.0);
  s.v[1] = case_uniform(&r, -1.0, 3.0);
  s.contacts[s.contact_count++] = floor_of(1, case_uniform(&r, 0.3, 0.95), 0);
  s.contacts[0].seat = -1;
  add_term(&s.contacts[0],
           (flight_term){.shape = ROOT_SINE, .size = -A, .rate = {k}, .frequency = -w});
  return finish(c, &s, &(wording){0}, case_uniform(&r, 0.5, 3.0));
}

static bool waves(adversarial_case* c, int number) {
  return over_wave(c, number, false);
}

static bool travelling(adversarial_case* c, int number) {
  return over_wave(c, number, true);
}

/* Ground with needles, down to a tenth of a millimetre, that stand in the way. */
static bool needles(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {.n = 2, .mass = {1.0, 1.0}, .acceleration = {0.0, -gravity}};
  s.q[1] = case_uniform(&r, 0.15, 1.0);
  s.v[0] = case_uniform(&r, 0.5, 3.0);
  s.v[1] = case_uniform(&r, -1.0, 3.0);
  s.contacts[s.contact_count++] = floor_of(1, case_uniform(&r, 0.3, 0.95), 0);
  s.contacts[0].seat = -1;
  int count = 1 + case_choice(&r, FLIGHT_TERMS);
  for (int j = 0; j < count; j++) {
    double t = case_uniform(&r, 0.05, 0.6); /* where it is hit if it is high enough */
    double height = s.q[1] + s.v[1] * t - gravity * t * t / 2.0;
    double wide = case_decade(&r, -4.0, -1.0);
    double H = fmax(0.02, height + case_uniform(&r, -0.1, 0.4));
    add_term(&s.contacts[0], (flight_term){.shape = ROOT_BELL,
                                           .size = -H,
                                           .rate = {1.0 / wide},
                                           .phase = -s.v[0] * t / wide});
  }
  return gap_at_start(&s, 0) > 1e-3 && finish(c, &s, &(wording){0}, case_uniform(&r, 0.5, 2.0));
}

/* ---- drives -------------------------------------------------------------------------------------------- */

/* Between two walls that shake, without gravity. */
static void moving_walls(flight_system* s, case_random* r) {
  s->n = 1;
  s->mass[0] = 1.0;
  s->v[0] = case_uniform(r, 0.5, 3.0);
  for (int k = 0; k < 2; k++) {
    double side = k == 0 ? 1.0 : -1.0;
    flight_contact wall = floor_of(0, case_uniform(r, 0.5, 1.0), k);
    wall.pieces[0].normal[0] = side;
    wall.pieces[0].constant = 0.5;
    wall.seat = -1;
    double w = case_decade(r, 0.0, 2.0);
    add_term(&wall, (flight_term){.shape = ROOT_SINE,
                                  .size = -fmin(0.3, case_decade(r, -3.0, -0.5)),
                                  .frequency = w,
                                  .phase = case_uniform(r, 0.0, 6.28)});
    s->contacts[s->contact_count++] = wall;
  }
}

/* A ball on a slope that a driven joint moves to and fro: y - b x, x = A sin(w t + p). */
static void driven_slope(flight_system* s, wording* w, case_random* r) {
  double rate = case_decade(r, 0.0, 2.5);
  double A = fmin(case_decade(r, -2.0, 0.0), 10.0 / rate);
  double b = case_uniform(r, 0.1, 2.0);
  double phase = case_uniform(r, 0.0, 6.28);
  s->n = 1;
  s->mass[0] = case_uniform(r, 0.5, 2.0);
  s->acceleration[0] = -gravity;
  s->q[0] = b * A + case_uniform(r, 0.05, 1.0);
  s->contacts[s->contact_count++] = floor_of(0, case_uniform(r, 0.3, 0.95), 0);
  add_term(&s->contacts[0],
           (flight_term){.shape = ROOT_SINE, .size = -b * A, .frequency = rate, .phase = phase});
  double driven = case_uniform(r, 0.2, 3.0);
  snprintf(w->coordinates, sizeof w->coordinates, "  s: {start: %.17g, velocity: %.17g}\n",
           A * sin(phase), A * rate * cos(phase));
  snprintf(w->kinetic, sizeof w->kinetic, " + %.17g*x'^2 + %.17g*s'^2", s->mass[0] / 2.0,
           driven / 2.0);
  snprintf(w->joints, sizeof w->joints, "  - {constraint: s - %.17g*sin(%.17g*t + %.17g)}\n", A,
           rate, phase);
  snprintf(w->gaps[0], sizeof w->gaps[0], "x - %.17g*s", b);
}

static bool drives(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {0};
  wording w = {0};
  if (number % 2 == 0) {
    moving_walls(&s, &r);
  } else {
    driven_slope(&s, &w, &r);
  }
  return finish(c, &s, &w, case_uniform(&r, 0.5, 3.0));
}

/* ---- kinks --------------------------------------------------------------------------------------------- */

static flight_contact plane(double nx, double ny, double constant, double e, int key) {
  flight_contact contact = {.piece_count = 1, .restitution = e, .seat = -1, .key = key};
  contact.pieces[0] = (flight_piece){.constant = constant, .normal = {nx, ny}};
  return contact;
}

/* A valley: the least of two planes, written with min or abs; or a roof, the largest. */
static void valley(flight_system* s, wording* w, case_random* r, int kind) {
  double b = case_uniform(r, 0.3, 2.0);
  double place = case_uniform(r, -0.5, 0.5);
  double e = case_uniform(r, 0.5, 1.0);
  s->n = 2;
  s->mass[0] = s->mass[1] = 1.0;
  s->acceleration[1] = -gravity;
  s->q[0] = case_uniform(r, -0.4, 0.4);
  s->q[1] = b + case_uniform(r, 0.2, 1.0);
  s->v[0] = case_uniform(r, -1.0, 1.0);
  if (kind == 2) { /* roof: y + b |x - place| */
    flight_contact roof = plane(b, 1.0, -b * place, e, 0);
    roof.piece_count = 2;
    roof.pieces[1] = (flight_piece){.constant = b * place, .normal = {-b, 1.0}};
    s->contacts[s->contact_count++] = roof;
    if (case_choice(r, 2) == 0) {
      snprintf(w->gaps[0], sizeof w->gaps[0], "y + %.17g*abs(x - %.17g)", b, place);
    }
    s->contacts[s->contact_count++] = plane(0.0, 1.0, 2.0 * b, e, 1);
    return;
  }
  double other = kind == 0 ? case_uniform(r, 0.3, 2.0) : b;
  s->contacts[s->contact_count++] = plane(-b, 1.0, b * place, e, 0);
  s->contacts[s->contact_count++] = plane(other, 1.0, -other * place, e, 0);
  if (kind == 1) {
    snprintf(w->gaps[0], sizeof w->gaps[0], "y - %.17g*abs(x - %.17g)", b, place);
  }
}

/* A table that moves as A |sin(w t + p)|, or as -A |sin(w t + p)|. */
static void kinked_table(flight_system* s, wording* w, case_random* r, bool up) {
  double rate = case_decade(r, 0.0, 2.0);
  double A = fmin(case_decade(r, -2.5, -1.0), 10.0 / rate);
  double phase = case_uniform(r, 0.0, 3.14);
  double e = case_uniform(r, 0.5, 0.95);
  s->n = 1;
  s->mass[0] = 1.0;
  s->acceleration[0] = -gravity;
  s->q[0] = A + case_uniform(r, 0.05, 1.0);
  flight_contact table = floor_of(0, e, 0);
  table.seat = -1;
  add_term(&table,
           (flight_term){.shape = ROOT_SINE, .size = -A, .frequency = rate, .phase = phase});
  flight_contact mirrored = table;
  mirrored.pieces[0].terms[0].size = A;
  if (up) { /* y - A |sin| is the least of y - A sin and y + A sin */
    s->contacts[s->contact_count++] = table;
    s->contacts[s->contact_count++] = mirrored;
  } else {
    table.piece_count = 2;
    table.pieces[1] = mirrored.pieces[0];
    s->contacts[s->contact_count++] = table;
  }
  snprintf(w->gaps[0], sizeof w->gaps[0], "x %c %.17g*abs(sin(%.17g*t + %.17g))", up ? '-' : '+', A,
           rate, phase);
}

/* A force that jumps: in time, or where the ball is. */
static void kinked_force(flight_system* s, wording* w, case_random* r, bool in_time) {
  s->n = 1;
  s->mass[0] = case_uniform(r, 0.5, 2.0);
  s->q[0] = case_uniform(r, 0.2, 1.0);
  s->v[0] = case_uniform(r, -1.0, 1.0);
  s->contacts[s->contact_count++] = floor_of(0, case_uniform(r, 0.3, 0.9), 0);
  if (in_time) {
    s->acceleration[0] = -gravity;
    double t = 0.0;
    for (int k = 0; k < FLIGHT_BREAKS; k++) {
      t += case_uniform(r, 0.1, 0.8);
      s->breaks[k].t = t;
      s->breaks[k].acceleration[0] = (k % 2 == 0 ? 1.0 : -1.0) * case_uniform(r, 2.0, 8.0);
    }
    s->break_count = FLIGHT_BREAKS;
    return;
  }
  double a = case_uniform(r, 3.0, 9.0);
  double down = case_uniform(r, 10.0, 12.0);
  double place = case_uniform(r, 0.05, 0.5);
  s->fields[s->field_count++] = (flight_field){0, place, -down + a, -down - a};
  if (case_choice(r, 2) == 0) {
    snprintf(w->forces[0], sizeof w->forces[0], " - %.17g - %.17g*sign(x - %.17g)",
             s->mass[0] * down, s->mass[0] * a, place);
  }
}

static bool kinks(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {0};
  wording w = {0};
  int kind = number % 7;
  if (kind < 3) {
    valley(&s, &w, &r, kind);
  } else if (kind < 5) {
    kinked_table(&s, &w, &r, kind == 3);
  } else {
    kinked_force(&s, &w, &r, kind == 5);
  }
  for (int k = 0; k < s.contact_count; k++) {
    if (gap_at_start(&s, k) < 1e-2) {
      return false;
    }
  }
  return finish(c, &s, &w, case_uniform(&r, 0.5, 3.0));
}

/* ---- several accumulations, redundancy ------------------------------------------------------------------ */

/* Balls on the same floor; some fall alike and accumulate at the same instant. */
static bool accumulations(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {.n = 2 + case_choice(&r, 4)};
  for (int i = 0; i < s.n; i++) {
    bool alike = i > 0 && case_uniform(&r, 0.0, 1.0) < 0.5;
    s.mass[i] = case_uniform(&r, 0.2, 3.0);
    s.acceleration[i] = alike ? s.acceleration[i - 1] : -case_uniform(&r, 2.0, 12.0);
    s.q[i] = alike ? s.q[i - 1] : case_uniform(&r, 0.1, 1.0);
    s.v[i] = alike ? s.v[i - 1] : case_uniform(&r, -1.0, 1.0);
    double e = alike ? s.contacts[i - 1].restitution : case_uniform(&r, 0.1, 0.9);
    s.contacts[s.contact_count++] = floor_of(i, e, i);
  }
  return finish(c, &s, &(wording){0}, case_uniform(&r, 2.0, 5.0));
}

/* A ball on a guide that is named twice or three times, over a table that shakes and that may be named
 * twice as well. Guide: s = b x, so that the mass is m + b^2 M and the weight (m + b M) g. */
static bool redundant(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {.n = 1};
  wording w = {0};
  double m = case_uniform(&r, 0.5, 2.0);
  double M = case_uniform(&r, 0.5, 2.0);
  double b = case_uniform(&r, 0.2, 2.0);
  double rate = case_decade(&r, 0.0, 2.0);
  double A = fmin(case_decade(&r, -3.0, -1.0), 5.0 / rate);
  s.mass[0] = m + b * b * M;
  s.acceleration[0] = -gravity * (m + b * M) / s.mass[0];
  s.q[0] = A + case_uniform(&r, 0.05, 1.0);
  s.v[0] = case_uniform(&r, -1.0, 2.0);
  s.contacts[s.contact_count++] = floor_of(0, case_uniform(&r, 0.3, 0.9), 0);
  add_term(&s.contacts[0], (flight_term){.shape = ROOT_SINE, .size = -A, .frequency = rate});
  snprintf(w.coordinates, sizeof w.coordinates, "  s: {start: %.17g, velocity: %.17g}\n",
           b * s.q[0], b * s.v[0]);
  snprintf(w.kinetic, sizeof w.kinetic, " + %.17g*x'^2 + %.17g*s'^2", m / 2.0, M / 2.0);
  snprintf(w.potential, sizeof w.potential, " + %.17g*x + %.17g*s", m * gravity, M * gravity);
  int joints = 1 + case_choice(&r, 3);
  size_t k = 0;
  for (int j = 0; j < joints; j++) {
    double factor = j == 0 ? 1.0 : case_uniform(&r, -3.0, 3.0);
    k += (size_t)snprintf(w.joints + k, sizeof w.joints - k,
                          "  - {constraint: %.17g*(s - %.17g*x)}\n", factor, b);
  }
  bool twice = joints == 1 || case_choice(&r, 2) == 0;
  if (twice) {
    snprintf(w.contacts, sizeof w.contacts,
             "  - {name: again, gap: \"%.17g*(x - %.17g*sin(%.17g*t))\", restitution: %.17g}\n",
             2.0, A, rate, s.contacts[0].restitution);
  }
  bool made = finish(c, &s, &w, case_uniform(&r, 0.5, 3.0));
  c->keys = !twice;
  return made;
}

/* ---- bodies that tumble ------------------------------------------------------------------------------------ */

/* A corner (X, Y) of a body at (x, y) turned by z: gap y + X sin z + Y cos z, slip x + X cos z - Y sin z. */
static flight_contact corner(double X, double Y, double mu, double e, int key, wording* w) {
  double R = hypot(X, Y);
  double at = atan2(Y, X);
  flight_contact contact = floor_of(1, e, key);
  contact.seat = -1;
  contact.friction = mu;
  contact.slip.normal[0] = 1.0;
  const flight_term height = {.shape = ROOT_SINE, .size = R, .rate = {0.0, 0.0, 1.0}, .phase = at};
  add_term(&contact, height);
  contact.slip.terms[contact.slip.term_count] = height;
  contact.slip.terms[contact.slip.term_count++].phase = at + 1.5707963267948966;
  snprintf(w->gaps[key], sizeof w->gaps[key], "y + %.17g*sin(z) + %.17g*cos(z)", X, Y);
  snprintf(w->slips[key], sizeof w->slips[key], "x + %.17g*cos(z) - %.17g*sin(z)", X, Y);
  return contact;
}

/* A box or a bar thrown onto a rough floor, spinning at up to 100 rad/s. */
static bool tumbling(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  wording w = {0};
  double a = case_uniform(&r, 0.1, 0.4);
  double b = number % 2 == 0 ? case_uniform(&r, 0.1, 0.3) : 0.0;
  double m = case_uniform(&r, 0.5, 2.0);
  flight_system s = {.n = 3,
                     .mass = {m, m, m * (a * a + fmax(b * b, 0.01)) / 3.0},
                     .acceleration = {0.0, -gravity, 0.0}};
  s.q[1] = hypot(a, b) + case_uniform(&r, 0.05, 1.0);
  s.q[2] = case_uniform(&r, -3.0, 3.0);
  s.v[0] = case_uniform(&r, -3.0, 3.0);
  s.v[1] = case_uniform(&r, -2.0, 2.0);
  s.v[2] = case_decade(&r, -1.0, 2.0) * (case_choice(&r, 2) == 0 ? 1.0 : -1.0);
  double mu = case_uniform(&r, 0.05, 1.0);
  double e = case_uniform(&r, 0.3, 0.9);
  int corners = b > 0.0 ? 4 : 2;
  for (int k = 0; k < corners; k++) {
    s.contacts[s.contact_count++] = corner(k % 2 == 0 ? -a : a, k < 2 ? -b : b, mu, e, k, &w);
  }
  return finish(c, &s, &w, case_uniform(&r, 0.5, 1.5));
}

/* ---- grazing --------------------------------------------------------------------------------------------- */

/* The least gap of contact 0 on the flight to t_end that no contact stops. */
static double least_gap(const flight_system* s, double t_end) {
  flight_segment first = {.begins = FLIGHT_END};
  for (int i = 0; i < s->n; i++) {
    first.q[i] = s->q[i];
    first.v[i] = s->v[i];
    first.a[i] = s->acceleration[i];
  }
  const flight_motion motion = {.segments = &first, .count = 1, .t_end = t_end};
  double least = INFINITY;
  double at = 0.0;
  double from = 0.0;
  double to = t_end;
  double width = t_end / 20000.0;
  for (int round = 0; round < 5; round++) {
    int count = (int)((to - from) / width) + 1;
    for (int k = 0; k <= count; k++) {
      flight_real q[FLIGHT_WIDTH];
      flight_real v[FLIGHT_WIDTH];
      double t = fmin(to, from + k * width);
      flight_at(s, &motion, t, q, v);
      double gap = (double)flight_gap(&s->contacts[0], s->n, t, q);
      at = gap < least ? t : at;
      least = fmin(least, gap);
    }
    from = fmax(0.0, at - width);
    to = fmin(t_end, at + width);
    width /= 100.0;
  }
  return least;
}

/* A ball thrown so that it passes a flat, wavy or shaking ceiling by as little as 1e-12 m, or cuts it
 * by that; then it falls onto a floor. */
static bool grazing(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {.n = 2, .mass = {1.0, 1.0}, .acceleration = {0.0, -gravity}};
  s.q[0] = case_uniform(&r, -1.0, 1.0);
  s.q[1] = case_uniform(&r, 0.1, 0.5);
  s.v[0] = case_uniform(&r, -2.0, 2.0);
  s.v[1] = case_uniform(&r, 1.0, 4.0);
  flight_contact ceiling = plane(0.0, -1.0, 2.0, case_uniform(&r, 0.3, 0.95), 0);
  int kind = number % 3;
  if (kind > 0) {
    double k = kind == 1 ? case_decade(&r, 0.0, 2.0) : 0.0;
    add_term(&ceiling, (flight_term){.shape = ROOT_SINE,
                                     .size = fmin(0.05, 5.0 / (k + 1.0)),
                                     .rate = {k},
                                     .frequency = kind == 2 ? case_decade(&r, 0.0, 2.5) : 0.0,
                                     .phase = case_uniform(&r, 0.0, 6.28)});
  }
  s.contacts[s.contact_count++] = ceiling;
  s.contacts[s.contact_count++] = floor_of(1, case_uniform(&r, 0.3, 0.9), 1);
  double miss = case_decade(&r, -12.0, -2.0) * (case_choice(&r, 2) == 0 ? 1.0 : -1.0);
  double t = 2.0 * s.v[1] / gravity;
  s.contacts[0].pieces[0].constant += miss - least_gap(&s, t);
  return gap_at_start(&s, 0) > 1e-3 && finish(c, &s, &(wording){0}, case_uniform(&r, 1.0, 2.0));
}

/* ---- pulses ----------------------------------------------------------------------------------------------- */

/* A ball that rests, or flies, over a floor or a table, and gets pulses of 1e-1 to 1e-6 s. */
static bool pulses(adversarial_case* c, int number) {
  case_random r = case_random_of(c->family, number);
  flight_system s = {.n = 1, .mass = {case_uniform(&r, 0.5, 2.0)}, .acceleration = {-gravity}};
  bool flies = number % 3 == 2;
  s.contacts[s.contact_count++] = floor_of(0, case_uniform(&r, 0.1, 0.9), 0);
  s.contacts[0].resting = !flies;
  s.q[0] = flies ? case_uniform(&r, 0.2, 1.0) : 0.0;
  int count = 1 + case_choice(&r, FLIGHT_PULSES);
  double t = 0.0;
  for (int k = 0; k < count; k++) {
    double width = case_decade(&r, -6.0, -1.0);
    t += 5.0 * width + case_uniform(&r, 0.1, 3.0);
    double speed = case_uniform(&r, 0.1, 2.0) * (k > 0 && case_choice(&r, 3) == 0 ? -1.0 : 1.0);
    s.pulses[s.pulse_count++] =
        (root_pulse){0, speed / (width * sqrt(3.141592653589793)), t, width};
  }
  return finish(c, &s, &(wording){0}, t + case_uniform(&r, 0.3, 2.0));
}

const case_family case_flights[] = {
    {"tables", 120, tables, true, "surfaces"},
    {"waves", 80, waves, true, "surfaces"},
    {"travelling", 40, travelling, true, "surfaces"},
    {"needles", 60, needles, false, "surfaces"},
    {"pulses", 50, pulses, true, "forces"},
    {"kinks", 70, kinks, false, "surfaces"},
    {"grazing", 40, grazing, false, "surfaces"},
    {"accumulations", 30, accumulations, false, "impacts"},
    {"tumbling", 40, tumbling, false, "impacts"},
    {"redundant", 30, redundant, false, "impacts"},
    {"drives", 40, drives, false, "impacts"},
    {0},
};
