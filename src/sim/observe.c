/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * observe.c - see observe.h and include/saltus/observe.h.
 *
 * A step is divided at the times of its contact events, where v may jump, and further into equal parts. Each part has
 * a sample at its middle. Between neighbours of different sign the zero is bracketed and located by false position
 * with the Illinois rule, guarded by bisection (Dowell and Jarratt, BIT 11, 1971). If the parabola through three
 * samples of one sign has an extremum between them, the minimum is searched by golden section until the sign changes.
 * saltusi_crossings_next is the only entry; examine_part alone decides whether a part contains zeros.
 */
#include "sim/observe.h"

#include "scheme/scheme_ops.h"
#include "sim/sim_state.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { PARTS = 8, COMMON_PARTS = 32, QUEUED = 4 /* zeros of one function in one part, at most */ };

static int event_count(const saltus_sim* sim) {
  return sim->def.observables != NULL ? sim->def.observables->event_count : 0;
}

void saltusi_observe_layout(saltus_sim* sim, saltus_arena* arena) {
  assert(sim != NULL);
  const saltus_observables* o = sim->def.observables;
  saltusi_observe_workspace* room = &sim->observe;
  int events = event_count(sim);
  sim->crossings = SALTUS_PUSH(arena, saltusi_crossing, events);
  room->outputs = SALTUS_PUSH(arena, double, o != NULL ? o->output_count : 0);
  room->samples = SALTUS_PUSH(arena, double, 4 * events);
  room->found = SALTUS_PUSH(arena, saltus_event, QUEUED * events);
  room->q = SALTUS_PUSH(arena, double, events > 0 ? sim->sys.dims.nq : 0);
  room->v = SALTUS_PUSH(arena, double, events > 0 ? sim->sys.dims.nv : 0);
  room->scratch = saltus_arena_push(arena, o != NULL ? o->scratch : 0, 1, SALTUS_ALIGNMENT);
  room->noise = SALTUS_PUSH(arena, double, events);
  room->dq = SALTUS_PUSH(arena, double, events > 0 ? sim->sys.dims.nq : 0);
  room->dv = SALTUS_PUSH(arena, double, events > 0 ? sim->sys.dims.nv : 0);
  room->bracket = SALTUS_PUSH(arena, saltusi_bracket, events);
  const bool switches = o != NULL && o->switching != NULL;
  room->pending = SALTUS_PUSH(arena, int, switches ? events : 0);
  room->ahead = SALTUS_PUSH(arena, int, switches ? events : 0);
  room->kept = SALTUS_PUSH(arena, saltusi_crossing, switches ? events : 0);
  room->joints =
      SALTUS_PUSH(arena, double, switches || sim->def.changes != NULL ? 4 * sim->sys.dims.nj : 0);
}

static void values_of(saltus_sim* sim, const saltus_state* x, double* g) {
  const saltus_observables* o = sim->def.observables;
  const saltus_point at = {
      .t = x->t, .q = x->q, .v = x->v, .scratch = sim->observe.scratch, .failure = &sim->failure};
  o->events(o->self, &at, g);
}

/* Side of the value g: 0 within the noise of the function; else the present side or the other one, -1 or 1. x: a
 * state close to it. */
static double side_of(saltus_sim* sim, int i, double g, const saltus_state* x) {
  saltusi_crossing* crossing = &sim->crossings[i];
  saltusi_observe_workspace* room = &sim->observe;
  crossing->largest = fmax(crossing->largest, isfinite(g) ? fabs(g) : 0.0);
  if (!(fabs(g) > crossing->band)) { /* or undefined */
    return 0.0;
  }
  crossing->band = 0.0;
  const double side = g > 0.0 ? 1.0 : -1.0;
  if (g == 0.0 || side == crossing->sign) {
    return g == 0.0 ? 0.0 : side;
  }
  if (!room->noise_known) {
    saltusi_event_noise(sim, x);
    room->noise_known = true;
  }
  return fabs(g) > room->noise[i] ? side : 0.0;
}

void saltusi_observe_start(saltus_sim* sim) {
  assert(sim != NULL);
  double* g = sim->observe.samples;
  if (saltusi_sim_switches(sim)) {
    saltusi_switch_past(sim);
  }
  if (event_count(sim) > 0) {
    values_of(sim, &sim->now, g);
  }
  sim->observe.noise_known = false;
  for (int i = 0; i < event_count(sim); i++) {
    sim->crossings[i].sign = side_of(sim, i, g[i], &sim->now);
  }
}

const double* saltusi_observe_outputs(saltus_sim* sim, const saltus_state* x,
                                      const double* joint_forces) {
  assert(sim != NULL && x != NULL);
  const saltus_observables* o = sim->def.observables;
  if (o == NULL || o->output_count == 0) {
    return NULL;
  }
  const saltus_point at = {
      .t = x->t, .q = x->q, .v = x->v, .scratch = sim->observe.scratch, .failure = &sim->failure};
  if (o->outputs_with != NULL) {
    o->outputs_with(o->self, &at, joint_forces, sim->observe.outputs);
  } else {
    o->outputs(o->self, &at, sim->observe.outputs);
  }
  return sim->observe.outputs;
}

/* Evaluates all event functions at a time inside of the step. */
static void sample(saltusi_crossing_search* s, double t, saltus_side side, double* g) {
  saltus_sim* sim = s->sim;
  const saltusi_dense_query query = {
      .t = t, .side = side, .q = sim->observe.q, .v = sim->observe.v};
  saltus_status status = s->tried ? saltusi_scheme_dense_tried(sim->scheme, &query)
                                  : saltusi_scheme_dense(sim->scheme, 2, &query);
  s->status = s->status == SALTUS_OK ? status : s->status;
  if (status == SALTUS_OK) {
    values_of(sim, &(saltus_state){.t = t, .q = query.q, .v = query.v}, g);
  }
}

/* Evaluates one event function. */
static double value(saltusi_crossing_search* s, int i, double t) {
  double* g = s->sim->observe.samples + (size_t)3 * (size_t)event_count(s->sim);
  sample(s, t, SALTUS_RIGHT, g);
  return s->status == SALTUS_OK ? g[i] : 0.0;
}

/* Inserts a zero into the queue, in order of time. */
static void add_found(saltusi_crossing_search* s, int i, double sign, double t, double accuracy) {
  saltusi_observe_workspace* room = &s->sim->observe;
  saltus_crossing wanted = s->sim->def.observables->directions[i];
  bool rising = sign > 0.0;
  if (wanted == (rising ? SALTUS_CROSSING_FALLING : SALTUS_CROSSING_RISING) ||
      room->found_count == QUEUED * event_count(s->sim)) {
    return;
  }
  int place = room->found_count++;
  for (; place > 0 && room->found[place - 1].t > t; place--) {
    room->found[place] = room->found[place - 1];
  }
  room->found[place] = (saltus_event){.kind = rising ? SALTUS_EVENT_RISE : SALTUS_EVENT_FALL,
                                      .t = t,
                                      .t_accuracy = accuracy,
                                      .contact = i};
}

typedef saltusi_event_sample mark;

/* Locates the zero between a, where sign g <= 0, and b, where sign g > 0, to the rounding of time. */
static void locate(saltusi_crossing_search* s, int i, double sign, mark a, mark b) {
  enum { STEPS = 200 };
  double fa = sign * a.g;
  double fb = sign * b.g;
  for (int k = 0; k < STEPS && s->status == SALTUS_OK; k++) {
    double width = b.t - a.t;
    if (width <= 2.0 * DBL_EPSILON * fmax(fabs(a.t), fabs(b.t))) {
      break;
    }
    bool flat = !(fb > fa) || k % 4 == 3;
    double t = flat ? a.t + 0.5 * width : b.t - width * (fb / (fb - fa));
    if (!(t > a.t && t < b.t)) {
      t = a.t + 0.5 * width;
    }
    if (!(t > a.t && t < b.t)) {
      break;
    }
    double f = sign * value(s, i, t);
    if (f > 0.0) {
      b.t = t;
      fb = f;
      fa *= 0.5; /* the other end is kept: the Illinois rule */
    } else {
      a.t = t;
      fa = f;
      fb *= 0.5;
    }
  }
  add_found(s, i, sign, b.t, b.t - a.t);
}

/* Minimum of sign g between two times, by golden section until g changes its sign or the minimum is located; true
 * and *at if the sign changes. */
static bool find_dip(saltusi_crossing_search* s, int i, double sign, mark a, mark b, mark* at) {
  enum { STEPS = 48 };
  const double golden = 0.6180339887498949;
  double tiny = s->sim->observe.noise[i]; /* evaluated by examine_part */
  double x[2] = {b.t - golden * (b.t - a.t), a.t + golden * (b.t - a.t)};
  double f[2] = {sign * value(s, i, x[0]), sign * value(s, i, x[1])};
  for (int k = 0; k < STEPS && s->status == SALTUS_OK; k++) {
    int low = f[0] < f[1] ? 0 : 1;
    if (f[low] < -tiny) {
      *at = (mark){x[low], sign * f[low]};
      return true;
    }
    if (low == 0) {
      b.t = x[1];
      x[1] = x[0];
      f[1] = f[0];
      x[0] = b.t - golden * (b.t - a.t);
      f[0] = sign * value(s, i, x[0]);
    } else {
      a.t = x[0];
      x[0] = x[1];
      f[0] = f[1];
      x[1] = a.t + golden * (b.t - a.t);
      f[1] = sign * value(s, i, x[1]);
    }
  }
  return false;
}

/* The last sampled state. */
static saltus_state sampled(const saltusi_crossing_search* s) {
  return (saltus_state){.t = s->at, .q = s->sim->observe.q, .v = s->sim->observe.v};
}

/* Processes the value of a function at b, after that at a. True if it has passed through zero; the zero is added
 * to the queue. Within its noise the function may still return to its old side. */
static bool follow(saltusi_crossing_search* s, int i, mark a, mark b, double accuracy) {
  saltus_sim* sim = s->sim;
  saltusi_crossing* crossing = &sim->crossings[i];
  saltusi_bracket* bracket = &sim->observe.bracket[i];
  const double old = crossing->sign;
  const saltus_state x = s->whole ? sim->now : sampled(s);
  const double sign = side_of(sim, i, b.g, &x);
  if (old == 0.0 || sign == old || old * b.g > 0.0) {
    crossing->sign = old == 0.0 ? sign : old;
    bracket->open = bracket->open && old * b.g <= 0.0;
    return false;
  }
  if (!bracket->open) {
    *bracket = (saltusi_bracket){.from = a, .to = b, .open = fabs(b.g) > crossing->band};
  }
  if (sign == 0.0) {
    return false;
  }
  const bool inside = bracket->to.t > bracket->from.t && sign * bracket->from.g <= 0.0;
  if (inside) {
    locate(s, i, sign, bracket->from, bracket->to);
  } else {
    add_found(s, i, sign, bracket->from.t, accuracy);
  }
  bracket->open = false;
  crossing->sign = sign;
  return true;
}

/* Zeros of one function in a part without jumps, from samples at both ends and the middle. */
static void examine_part(saltusi_crossing_search* s, int i, mark a, mark m, mark b) {
  saltus_sim* sim = s->sim;
  const double before = sim->crossings[i].sign;
  const bool middle = follow(s, i, a, m, 0.0);
  const bool changed = follow(s, i, m, b, 0.0) || middle;
  double bend = before * (a.g - 2.0 * m.g + b.g);
  bool turns = bend > 0.0 && fabs(b.g - a.g) < 2.0 * bend;
  double least =
      before * m.g - (b.g - a.g) * (b.g - a.g) / (8.0 * bend); /* minimum of the parabola */
  mark dip;
  if (changed || before == 0.0 || !turns || !(least < 0.25 * before * m.g)) {
    return;
  }
  if (!sim->observe.noise_known) {
    const saltus_state x = sampled(s);
    saltusi_event_noise(sim, &x);
    sim->observe.noise_known = true;
  }
  if (find_dip(s, i, before, a, b, &dip)) {
    locate(s, i, -before, a, dip);
    locate(s, i, before, dip, b);
  }
}

/* Processes the values of all functions after a jump at time t. */
static void examine_jump(saltusi_crossing_search* s, double t, double accuracy, const double* g) {
  for (int i = 0; i < event_count(s->sim); i++) {
    follow(s, i, (mark){t, g[i]}, (mark){t, g[i]}, accuracy);
  }
}

bool saltusi_observe_jumps(saltus_sim* sim, int* next, saltus_event* event) {
  assert(sim != NULL && next != NULL && event != NULL);
  double* g = sim->observe.samples;
  values_of(sim, &sim->now, g);
  sim->observe.noise_known = false;
  while (*next < event_count(sim)) {
    const int i = (*next)++;
    saltusi_crossing* crossing = &sim->crossings[i];
    const double sign = side_of(sim, i, g[i], &sim->now), before = crossing->sign;
    const saltus_crossing wanted = sim->def.observables->directions[i];
    crossing->sign = sign != 0.0 ? sign : before;
    if (sign != 0.0 && before != 0.0 && sign != before &&
        wanted != (sign > 0.0 ? SALTUS_CROSSING_FALLING : SALTUS_CROSSING_RISING)) {
      *event = (saltus_event){.kind = sign > 0.0 ? SALTUS_EVENT_RISE : SALTUS_EVENT_FALL,
                              .t = sim->now.t,
                              .contact = i};
      return true;
    }
  }
  return false;
}

static saltusi_crossing_search crossings_of(saltus_sim* sim, const saltus_step_report* report,
                                            double t0, double t1, bool tried) {
  const saltus_scheme_info* scheme = saltusi_scheme_info(sim->scheme);
  saltusi_crossing_search s = {
      .sim = sim, .report = report, .at = t0, .end = t1, .whole = !scheme->dense, .tried = tried};
  sim->observe.found_count = sim->observe.found_reported = 0;
  sim->observe.noise_known = false;
  for (int i = 0; i < event_count(sim); i++) {
    sim->observe.bracket[i].open = false;
  }
  /* asynchronous islands take several steps in a common one */
  s.spacing = (t1 - t0) / (sim->islands.count > 0 ? COMMON_PARTS : PARTS);
  if (sim->def.record_dt > 0.0) {
    s.spacing = fmin(s.spacing, sim->def.record_dt);
  }
  /* without dense output the first of two halves has no state of its own */
  s.done = event_count(sim) == 0 || (s.whole && t1 != sim->now.t);
  if (!s.done && !s.whole) {
    sample(&s, t0, SALTUS_RIGHT, sim->observe.samples);
    examine_jump(&s, t0, 0.0, sim->observe.samples);
  }
  return s;
}

saltusi_crossing_search saltusi_crossings_of(saltus_sim* sim, const saltus_step_report* report,
                                             double t0, double t1) {
  assert(report != NULL && t0 <= t1);
  return crossings_of(sim, report, t0, t1, false);
}

void saltusi_switch_meet(saltus_sim* sim, int event, double sign) {
  assert(sim != NULL && event >= 0 && event < event_count(sim));
  double* g = sim->observe.samples;
  values_of(sim, &sim->now, g);
  sim->crossings[event].sign = sign;
  sim->crossings[event].band = 2.0 * fabs(g[event]);
}

double saltusi_switch_ahead(saltus_sim* sim, double t0, double t1) {
  assert(sim != NULL && t0 <= t1);
  const size_t bytes = (size_t)event_count(sim) * sizeof *sim->crossings;
  const double slack = 64.0 * DBL_EPSILON * fmax(fabs(t0), fabs(t1)); /* zeros at equal times */
  memcpy(sim->observe.kept, sim->crossings, bytes);
  memset(sim->observe.ahead, 0, (size_t)event_count(sim) * sizeof(int));
  saltusi_crossing_search search = crossings_of(sim, &sim->report, t0, t1, true);
  saltus_event event;
  double first = INFINITY, last = t1;
  while (saltusi_crossings_next(&search, &event) && event.t <= first + slack) {
    if (sim->def.observables->switching->fires[event.contact]) {
      first = fmin(first, event.t);
      last = event.t;
      sim->observe.ahead[event.contact] = event.kind == SALTUS_EVENT_RISE ? 1 : -1;
    }
  }
  memcpy(sim->crossings, sim->observe.kept, bytes);
  return last;
}

/* A step without dense output has values at its ends. Zeros are interpolated linearly; functions that switch do so at the
 * end of the step. */
static void examine_whole(saltusi_crossing_search* s) {
  saltus_sim* sim = s->sim;
  saltusi_observe_workspace* room = &sim->observe;
  const saltus_switching* switching = sim->def.observables->switching;
  double* g = room->samples;
  double* g0 = g + event_count(sim);
  values_of(sim, &sim->now, g);
  examine_jump(s, sim->now.t, sim->now.t - sim->next.t, g);
  s->done = true;
  if (room->found_count == 0) {
    return;
  }
  values_of(sim, &sim->next, g0); /* the state at the start of the step */
  for (int k = 0; k < room->found_count; k++) {
    saltus_event* event = &room->found[k];
    const double from = g0[event->contact], to = g[event->contact];
    if (from * to < 0.0 && (switching == NULL || !switching->fires[event->contact])) {
      event->t -= event->t_accuracy * (to / (to - from));
    }
  }
  for (int k = 1; k < room->found_count; k++) { /* by time */
    const saltus_event event = room->found[k];
    int place = k;
    for (; place > 0 && room->found[place - 1].t > event.t; place--) {
      room->found[place] = room->found[place - 1];
    }
    room->found[place] = event;
  }
}

bool saltusi_switch_passed(saltus_sim* sim, const saltus_state* x, double* g) {
  assert(sim != NULL && x != NULL && g != NULL);
  const saltus_observables* o = sim->def.observables;
  const size_t bytes = (size_t)event_count(sim) * sizeof *sim->crossings;
  memcpy(sim->observe.kept, sim->crossings, bytes);
  values_of(sim, x, g);
  sim->observe.noise_known = false;
  bool passed = false;
  for (int i = 0; i < event_count(sim); i++) {
    const double before = sim->crossings[i].sign, sign = side_of(sim, i, g[i], x);
    passed = passed ||
             (o->switching->fires[i] && sign * before < 0.0 &&
              o->directions[i] != (sign > 0.0 ? SALTUS_CROSSING_FALLING : SALTUS_CROSSING_RISING));
  }
  memcpy(sim->crossings, sim->observe.kept, bytes);
  return passed;
}

double saltusi_switch_root(const saltus_sim* sim, double weight0, double weight1) {
  assert(sim != NULL && weight0 > 0.0 && weight1 > 0.0);
  const int events = event_count(sim);
  double first = 1.0;
  for (int i = 0; i < events; i++) {
    const double g0 = weight0 * sim->observe.samples[i];
    const double g1 = weight1 * sim->observe.samples[events + i];
    if (sim->def.observables->switching->fires[i] && g0 * g1 < 0.0) {
      first = fmin(first, g0 / (g0 - g1));
    }
  }
  return first;
}

/* Searches the next part of the step and adds its zeros to the queue. */
static void search_part(saltusi_crossing_search* s) {
  saltus_sim* sim = s->sim;
  sim->observe.noise_known = false;
  int events = event_count(sim);
  double* g = sim->observe.samples;
  if (s->whole) {
    examine_whole(s);
    return;
  }
  const saltus_step_report* report = s->report;
  double t = s->end - s->at < 1.5 * s->spacing ? s->end : s->at + s->spacing;
  while (s->jump < report->event_count && !(report->events[s->jump].t > s->at)) {
    s->jump++;
  }
  bool jump = s->jump < report->event_count && report->events[s->jump].t <= t;
  t = jump ? report->events[s->jump].t : t;
  double middle = s->at + 0.5 * (t - s->at);
  sample(s, middle, SALTUS_RIGHT, g + events);
  sample(s, t, SALTUS_LEFT, g + 2 * events);
  for (int i = 0; i < events && s->status == SALTUS_OK; i++) {
    examine_part(s, i, (mark){s->at, g[i]}, (mark){middle, g[events + i]},
                 (mark){t, g[2 * events + i]});
  }
  memcpy(g, g + 2 * events, (size_t)events * sizeof *g);
  if (jump && s->status == SALTUS_OK) {
    sample(s, t, SALTUS_RIGHT, g);
    examine_jump(s, t, report->events[s->jump].t_accuracy, g);
  }
  s->done = !(t > s->at) || t >= s->end || s->status != SALTUS_OK;
  s->at = t;
}

bool saltusi_crossings_next(saltusi_crossing_search* s, saltus_event* event) {
  assert(s->sim != NULL && event != NULL);
  saltusi_observe_workspace* room = &s->sim->observe;
  while (room->found_reported == room->found_count) {
    if (s->done) {
      return false;
    }
    room->found_reported = room->found_count = 0;
    if (saltusi_poll(s->sim)) {
      s->status = SALTUS_ERR_STOPPED;
      s->done = true;
      return false;
    }
    search_part(s);
  }
  *event = room->found[room->found_reported++];
  return s->status == SALTUS_OK;
}
