/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Islands of `adaptive` on clocks of their own: each moves as it does alone, whatever the others do; frames, events,
 * ledger and snapshots are those of one simulation.
 */
#include "saltus/saltus.h"
#include "saltus_test.h"
#include "scheme/scheme_ops.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 60000, EVENTS = 4000, FRAMES = 400, WIDTH = 128 };
static const double tol = 1e-8;
static const char* scheme = "adaptive";
static int on_gain = SALTUS_GAIN_REPORT;

/* ---- scenes ------------------------------------------------------------------------------------ */

/* Bodies of many kinds: a ball that bounces, an oscillator at a wall, a pendulum with damping, a block that slides
 * with friction and is pushed, a mass on a rod, a bead whose mass matrix is not constant. */
enum { BALL, OSCILLATOR, PENDULUM, BLOCK, ROD, BEAD, KINDS };
static int kinds = BEAD; /* that are there */

static int kind_of(int i) {
  return i % kinds;
}

static bool is_plane(int i) {
  return kind_of(i) == BLOCK || kind_of(i) == ROD;
}

typedef struct text {
  char chars[TEXT];
  int used;
} text;

static void say(text* t, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int more = vsnprintf(t->chars + t->used, (size_t)(TEXT - t->used), format, list);
  va_end(list);
  assert_true(more >= 0 && more < TEXT - t->used);
  t->used += more;
}

static double some(int i) {
  double golden = 0.6180339887498949 * (i + 1);
  return 0.5 + 0.5 * (golden - floor(golden));
}

/* Bodies first .. first + count - 1, each with the number it has among all; `more` is added. */
static void write_energies(text* t, int first, int count) {
  say(t, "kinetic: 0");
  for (int i = first; i < first + count; i++) {
    double mass = 1.0 + 0.25 * (i % 3);
    say(t, kind_of(i) == BEAD ? " + (%.17g + y%d^2)" : " + %.17g", mass, i);
    say(t, "*y%d'^2/2", i);
    if (is_plane(i)) {
      say(t, " + %.17g*x%d'^2/2", mass, i);
    }
  }
  say(t, "\npotential: 0");
  for (int i = first; i < first + count; i++) {
    if (kind_of(i) == OSCILLATOR || kind_of(i) == BEAD) {
      say(t, " + %.17g*y%d^2/2", 20.0 * some(i + 1), i);
    } else if (kind_of(i) == PENDULUM) {
      say(t, " - 9.81*cos(y%d)", i);
    } else {
      say(t, " + 9.81*y%d", i);
    }
  }
  say(t, "\nforces: {");
  bool any = false;
  for (int i = first; i < first + count; i++) {
    if (kind_of(i) == PENDULUM) {
      say(t, "%sy%d: \"-0.1*y%d'\"", any ? ", " : "", i, i);
    } else if (kind_of(i) == BLOCK) {
      say(t, "%sx%d: \"3*sin(5*t)\"", any ? ", " : "", i);
    }
    any = any || kind_of(i) == PENDULUM || kind_of(i) == BLOCK;
  }
  say(t, "}\n");
}

static void write_bodies(text* t, int first, int count, const char* more) {
  t->used = 0;
  say(t, "saltus: 1\ncoordinates:\n");
  for (int i = first; i < first + count; i++) {
    if (is_plane(i)) {
      say(t, "  x%d: {start: %d, velocity: %.17g}\n", i, kind_of(i) == ROD,
          some(i) * (kind_of(i) == BLOCK));
    }
    say(t, "  y%d: {start: %.17g}\n", i, is_plane(i) ? 0.0 : some(i));
  }
  write_energies(t, first, count);
  bool any = false;
  for (int i = first; i < first + count; i++) {
    if (kind_of(i) == ROD) {
      say(t, "%s  - {name: rod%d, constraint: x%d^2 + y%d^2 - 1}\n", any ? "" : "joints:\n", i, i,
          i);
      any = true;
    }
  }
  say(t, "contacts:\n");
  for (int i = first; i < first + count; i++) {
    if (kind_of(i) == BALL) {
      say(t, "  - {name: c%d, gap: y%d, restitution: 0.7}\n", i, i);
    } else if (kind_of(i) == OSCILLATOR) {
      say(t, "  - {name: c%d, gap: y%d + 0.1, restitution: 0.9}\n", i, i);
    } else if (kind_of(i) == BLOCK) {
      say(t, "  - {name: c%d, gap: y%d, slip: x%d, friction: 0.2}\n", i, i, i);
    } else if (kind_of(i) == ROD) {
      say(t, "  - {name: c%d, gap: x%d + 0.3, restitution: 0.5}\n", i, i);
    }
  }
  say(t, "%s", more);
}

/* The first `what` of a text becomes `by`. */
static void replace(text* t, const char* what, const char* by) {
  char* at = strstr(t->chars, what);
  assert_non_null(at);
  char* rest = strdup(at + strlen(what));
  assert_non_null(rest);
  t->used = (int)(at - t->chars);
  say(t, "%s%s", by, rest);
  free(rest);
}

static saltus_scene* scene_of(const text* t) {
  saltus_scene* scene;
  const saltus_scene_def def = {.text = t->chars, .path = "clocks"};
  assert_int_equal(saltus_scene_create(&def, &scene), SALTUS_OK);
  return scene;
}

/* The same system without a word of its parts: they share a clock. */
typedef struct silent {
  saltus_system system;
  saltus_system_ops ops;
} silent;

static const saltus_system* silence(silent* s, const saltus_system* of) {
  s->ops = *of->ops;
  s->ops.blocks = NULL;
  s->system = *of;
  s->system.ops = &s->ops;
  s->system.structure = NULL;
  return &s->system;
}

static int islands_of(const saltus_system* system) {
  const saltus_scheme_def def = {.scheme = scheme, .system = system};
  saltus_scheme* made;
  assert_int_equal(saltus_scheme_create(&def, &made), SALTUS_OK);
  int count = saltusi_scheme_islands(made);
  saltus_scheme_destroy(made);
  return count;
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* What recorders saw. */
typedef struct record {
  saltus_event events[EVENTS];
  int event_count;
  double t[FRAMES], q[FRAMES][WIDTH], v[FRAMES][WIDTH];
  double force[FRAMES][WIDTH]; /* normal, by contact */
  double works[FRAMES][WIDTH];
  double joint[FRAMES][WIDTH];
  saltus_energy energy[FRAMES];
  int frame_count;
  int nq, nc, nj;
  double out_of_order; /* s, the most by which an event is before the one reported before it */
  char message[1000];
} record;

static saltus_status take_frame(void* user, const saltus_frame* frame) {
  record* r = user;
  assert_true(r->frame_count < FRAMES && r->nq <= WIDTH);
  int k = r->frame_count++;
  r->t[k] = frame->t;
  memcpy(r->q[k], frame->q, (size_t)r->nq * sizeof(double));
  memcpy(r->v[k], frame->v, (size_t)r->nq * sizeof(double));
  for (int i = 0; i < frame->contact_count; i++) {
    r->force[k][i] = frame->contacts[i].force[0];
    r->works[k][i] = frame->contacts[i].friction + frame->contacts[i].impact;
  }
  r->nc = frame->contact_count;
  memcpy(r->joint[k], frame->joint_forces, (size_t)r->nj * sizeof(double));
  r->energy[k] = frame->energy;
  return SALTUS_OK;
}

static saltus_status take_event(void* user, const saltus_event* event) {
  record* r = user;
  assert_true(r->event_count < EVENTS);
  if (r->event_count > 0) {
    r->out_of_order = fmax(r->out_of_order, r->events[r->event_count - 1].t - event->t);
  }
  r->events[r->event_count++] = *event;
  return SALTUS_OK;
}

static void keep_message(void* user, saltus_level level, const char* message) {
  record* r = user;
  (void)level;
  size_t used = strlen(r->message);
  snprintf(r->message + used, sizeof r->message - used, "%s\n", message);
}

static saltus_sim* sim_of(record* r, const saltus_system* system, const saltus_scene_view* view,
                          double record_dt) {
  static saltus_adaptive_options options;
  options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  options.on_energy_gain = on_gain;
  memset(r, 0, sizeof *r);
  r->nq = system->dims.nq;
  r->nj = system->dims.nj;
  const saltus_recorder recorder = {.frame = take_frame, .event = take_event, .user = r};
  const saltus_sim_def def = {.system = system,
                              .scheme = scheme,
                              .options = &options,
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_dt = record_dt,
                              .log = {.write = keep_message, .user = r}};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

static record* run(const saltus_system* system, const saltus_scene_view* view, double record_dt,
                   double until, saltus_tally* tally) {
  record* r = malloc(sizeof *r);
  assert_non_null(r);
  saltus_sim* sim = sim_of(r, system, view, record_dt);
  assert_int_equal(saltus_sim_run_until(sim, until), SALTUS_OK);
  assert_true(saltus_sim_time(sim) == until);
  if (tally != NULL) {
    *tally = *saltus_sim_tally(sim);
  }
  saltus_sim_destroy(sim);
  return r;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void compare_with_each_alone(void) {
  enum { BODIES = 20 };
  static text t;
  write_bodies(&t, 0, BODIES, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_int_equal(islands_of(view->system), BODIES);
  saltus_tally together;
  record* all = run(view->system, view, 0.05, 2.0, &together);
  assert_int_equal(all->frame_count, 41);
  assert_true(all->out_of_order <= 0.0);
  int coordinate = 0;
  int joints = 0;
  int events = 0;
  long long steps = 0;
  for (int i = 0; i < BODIES; i++) {
    static text own;
    write_bodies(&own, i, 1, "");
    saltus_scene* alone = scene_of(&own);
    const saltus_scene_view* look = saltus_scene_get_view(alone);
    saltus_tally tally;
    record* one = run(look->system, look, 0.05, 2.0, &tally);
    steps += tally.steps;
    for (int k = 0; k < one->frame_count; k++) {
      assert_true(all->t[k] == one->t[k]);
      for (int j = 0; j < one->nq; j++) { /* to the bit */
        assert_true(all->q[k][coordinate + j] == one->q[k][j]);
        assert_true(all->v[k][coordinate + j] == one->v[k][j]);
      }
      for (int j = 0; j < one->nj; j++) { /* sums begin at other times */
        assert_true(fabs(all->joint[k][joints + j] - one->joint[k][j]) < 1e-9);
      }
    }
    for (int e = 0, k = 0; e < one->event_count; e++, k++) {
      char name[16];
      snprintf(name, sizeof name, "c%d", i);
      while (k < all->event_count &&
             strcmp(view->system->laws[all->events[k].contact].name, name) != 0) {
        k++;
      }
      assert_true(k < all->event_count);
      assert_int_equal(all->events[k].kind, one->events[e].kind);
      assert_true(all->events[k].t == one->events[e].t);
      assert_true(all->events[k].impulse[0] == one->events[e].impulse[0]);
      events++;
    }
    coordinate += one->nq;
    joints += one->nj;
    free(one);
    saltus_scene_destroy(alone);
  }
  assert_int_equal(events, all->event_count);
  assert_true(together.steps == steps);
  free(all);
  saltus_scene_destroy(scene);
}

static void each_moves_as_it_does_alone(void** state) {
  (void)state;
  compare_with_each_alone();
}

static void so_it_does_with_other_methods_and_masses(void** state) {
  (void)state;
  kinds = KINDS;
  compare_with_each_alone();
  kinds = BEAD;
  scheme = "adaptive-radau5";
  compare_with_each_alone();
  scheme = "adaptive-dopri5";
  compare_with_each_alone();
  scheme = "adaptive";
}

/* Frames, forces and ledger against those of one clock for all. */
static void one_clock_says_the_same(void** state) {
  (void)state;
  enum { BODIES = 20 };
  static text t;
  write_bodies(&t, 0, BODIES, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  silent s;
  const saltus_system* mute = silence(&s, view->system);
  assert_int_equal(islands_of(mute), 0);
  record* own = run(view->system, view, 0.05, 2.0, NULL);
  record* one = run(mute, view, 0.05, 2.0, NULL);
  assert_int_equal(own->frame_count, one->frame_count);
  assert_int_equal(own->event_count, one->event_count);
  const saltus_energy* end = &one->energy[one->frame_count - 1];
  double scale = fabs(end->impact) + fabs(end->friction) + fabs(end->external);
  assert_true(scale > 1.0);
  for (int k = 0; k < own->frame_count; k++) {
    for (int i = 0; i < own->nq; i++) {
      assert_true(fabs(own->q[k][i] - one->q[k][i]) < 100.0 * tol);
    }
    const saltus_energy* a = &own->energy[k];
    const saltus_energy* b = &one->energy[k];
    assert_true(fabs(a->remainder) < 1e-6 * scale);
    assert_true(fabs(a->change - b->change) < 1e-6 * scale);
    assert_true(fabs(a->external - b->external) < 1e-6 * scale);
    assert_true(fabs(a->drive - b->drive) < 1e-6 * scale);
    assert_true(fabs(a->friction - b->friction) < 1e-6 * scale);
    assert_true(fabs(a->impact - b->impact) < 1e-6 * scale);
    for (int i = 0; i < own->nc; i++) {
      assert_true(fabs(own->works[k][i] - one->works[k][i]) < 1e-6 * scale);
      assert_true(fabs(own->force[k][i] - one->force[k][i]) < 1e-4 * 9.81);
    }
    for (int j = 0; j < own->nj;
         j++) { /* 15 N; tolerances of 1e-8 of positions, of forces that change at 30 N/s */
      assert_true(fabs(own->joint[k][j] - one->joint[k][j]) < 1e-4 * 9.81);
    }
  }
  free(own);
  free(one);
  saltus_scene_destroy(scene);
}

/* Whatever the times of frames: they are looked at, and decide nothing. */
static void frames_do_not_change_the_motion(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  record* few = run(view->system, view, 1.0, 2.0, NULL);
  record* many = run(view->system, view, 0.01, 2.0, NULL);
  assert_int_equal(many->frame_count, 201);
  for (int i = 0; i < few->nq; i++) {
    assert_true(few->q[2][i] == many->q[200][i] && few->v[2][i] == many->v[200][i]);
    assert_true(few->q[1][i] == many->q[100][i] && few->v[1][i] == many->v[100][i]);
  }
  assert_true(many->t[200] == 2.0);
  assert_int_equal(few->event_count, many->event_count);
  free(few);
  free(many);
  saltus_scene_destroy(scene);
}

/* Steps without an end, so that a run in pieces has the same. */
static void step_past(saltus_sim* sim, double until) {
  while (saltus_sim_time(sim) < until) {
    assert_int_equal(saltus_sim_step(sim), SALTUS_OK);
  }
}

/* Snapshots between common steps, each resumed: the same bits in states, events and ledger. */
static void a_resumed_run_has_the_same_bits(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const double until = 1.5;
  record* straight = malloc(sizeof *straight);
  record* r = malloc(sizeof *r);
  record* rest = malloc(sizeof *rest);
  assert_true(straight != NULL && r != NULL && rest != NULL);
  saltus_sim* sim = sim_of(straight, view->system, view, 0.01);
  step_past(sim, until);
  saltus_sim_destroy(sim);
  for (double stop = 0.2; stop < until; stop += 0.25) {
    sim = sim_of(r, view->system, view, 0.01);
    step_past(sim, stop);
    size_t bytes = saltus_sim_snapshot_bytes(sim);
    void* snapshot = malloc(bytes);
    assert_non_null(snapshot);
    saltus_sim_snapshot_save(sim, snapshot);
    int frames = r->frame_count;
    int events = r->event_count;
    saltus_sim* other = sim_of(rest, view->system, view, 0.01);
    assert_int_equal(saltus_sim_snapshot_load(other, snapshot, bytes), SALTUS_OK);
    step_past(other, until);
    assert_int_equal(frames + rest->frame_count, straight->frame_count);
    assert_int_equal(events + rest->event_count, straight->event_count);
    for (int k = 0; k < rest->frame_count; k++) {
      assert_memory_equal(rest->q[k], straight->q[frames + k], (size_t)rest->nq * sizeof(double));
      assert_memory_equal(rest->v[k], straight->v[frames + k], (size_t)rest->nq * sizeof(double));
      assert_memory_equal(&rest->energy[k], &straight->energy[frames + k], sizeof(saltus_energy));
      assert_memory_equal(rest->works[k], straight->works[frames + k],
                          (size_t)rest->nc * sizeof(double));
      assert_memory_equal(rest->force[k], straight->force[frames + k],
                          (size_t)rest->nc * sizeof(double));
    }
    for (int k = 0; k < rest->event_count; k++) {
      assert_true(rest->events[k].t == straight->events[events + k].t);
      assert_int_equal(rest->events[k].contact, straight->events[events + k].contact);
    }
    saltus_sim_destroy(other);
    saltus_sim_destroy(sim);
    free(snapshot);
  }
  free(straight);
  free(r);
  free(rest);
  saltus_scene_destroy(scene);
}

/* A body that cannot go on: all stand where it stops, and the message has its time and its number among all. */
static void who_cannot_go_on_stops_all_at_its_time(void** state) {
  (void)state;
  enum { BODIES = 20 };
  static text t;
  write_bodies(&t, 0, BODIES, "");
  replace(&t, "-0.1*y7'", "sqrt(0.7 - t)");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_int_equal(islands_of(view->system), BODIES);
  record* r = malloc(sizeof *r);
  assert_non_null(r);
  saltus_sim* sim = sim_of(r, view->system, view, 0.05);
  assert_true(saltus_sim_run_until(sim, 2.0) != SALTUS_OK);
  double t_end = saltus_sim_time(sim);
  assert_true(t_end > 0.6 && t_end <= 0.7);
  assert_true(r->t[r->frame_count - 1] <= t_end);
  for (int i = 0; i < r->event_count; i++) {
    assert_true(r->events[i].t <= t_end * (1.0 + 1e-15));
  }
  assert_non_null(strstr(r->message, "t = 0.6999"));
  assert_non_null(strstr(r->message, "the force on coordinate y7, sqrt(0.7 - t)"));
  /* the first ball is where it is alone at that time */
  double y = some(0);
  double hit = sqrt(2.0 * y / (9.81));
  double past = t_end - hit;
  double u = 0.7 * 9.81 * hit;
  assert_true(past > 0.0 && past < 2.0 * u / 9.81);
  assert_true(fabs(saltus_sim_q(sim)[0] - past * (u - 0.5 * 9.81 * past)) < 10.0 * tol);
  saltus_sim_destroy(sim);
  free(r);
  saltus_scene_destroy(scene);
}

/* An impact that must not be, at one island of many: the message has its contact and time. */
static void an_impact_that_creates_energy_is_named(void** state) {
  (void)state;
  static text t;
  kinds =
      1; /* balls, and Kane's pendulum among them: scenes/kane.yaml, from 0.05 s before its impact */
  write_bodies(&t, 0, 18,
               "  - {name: floor, gap: \"cos(pi/9) + cos(pi/6) - cos(th1) - cos(th2)\", "
               "slip: sin(th1) + sin(th2), friction: 0.5, restitution: 0.7}\n");
  replace(&t, "kinetic: 0",
          "  th1: {start: 0.3540658503988659, velocity: -0.1}\n"
          "  th2: {start: 0.5335987755982988, velocity: -0.2}\n"
          "kinetic: 2/3*th1'^2 + th2'^2/6 + cos(th1 - th2)*th1'*th2'/2");
  replace(&t, "forces: {}\n", "");
  kinds = BEAD;
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  assert_int_equal(islands_of(view->system), 19);
  record* r = malloc(sizeof *r);
  assert_non_null(r);
  on_gain = SALTUS_GAIN_STOP;
  saltus_sim* sim = sim_of(r, view->system, view, 0.01);
  on_gain = SALTUS_GAIN_REPORT;
  assert_int_equal(saltus_sim_run_until(sim, 1.0), SALTUS_ERR_LAW);
  assert_non_null(strstr(r->message, "contact floor, t = 0.0499"));
  double t_end = saltus_sim_time(sim);
  assert_true(t_end < 0.1);
  assert_true(fabs(saltus_sim_q(sim)[0] - (some(0) - 0.5 * 9.81 * t_end * t_end)) < 10.0 * tol);
  saltus_sim_destroy(sim);
  free(r);
  saltus_scene_destroy(scene);
}

/* A contact, a spring, a force or a branch that reads another body unites two islands, and no more. */
static void what_connects_unites(void** state) {
  (void)state;
  enum { BODIES = 20 };
  static text t;
  static const char* const more[] = {
      "  - {name: both, gap: \"y0 - y5 + 0.05\", restitution: 0.5}\n",
      "springs:\n  - {elongation: y0 - y5, stiffness: 10}\n",
  };
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
    write_bodies(&t, 0, BODIES, more[i]);
    saltus_scene* scene = scene_of(&t);
    const saltus_scene_view* view = saltus_scene_get_view(scene);
    assert_int_equal(islands_of(view->system), BODIES - 1);
    silent s;
    record* own = run(view->system, view, 0.1, 1.0, NULL);
    record* one = run(silence(&s, view->system), view, 0.1, 1.0, NULL);
    assert_int_equal(own->event_count, one->event_count);
    int met = 0;
    for (int e = 0; e < own->event_count; e++) {
      const char* name = view->system->laws[own->events[e].contact].name;
      met += own->events[e].kind == SALTUS_EVENT_IMPACT && strcmp(name, "both") == 0;
    }
    assert_true(i > 0 || met > 0);
    for (int k = 0; k < own->frame_count; k++) {
      for (int j = 0; j < own->nq; j++) {
        assert_true(fabs(own->q[k][j] - one->q[k][j]) < 10.0 * tol * (1.0 + fabs(one->q[k][j])));
      }
    }
    free(own);
    free(one);
    saltus_scene_destroy(scene);
  }
  /* a branch has no derivative, but it is read */
  write_bodies(&t, 0, BODIES, "");
  replace(&t, "3*sin(5*t)", "3*sign(y0 - 0.3)");
  saltus_scene* scene = scene_of(&t);
  assert_int_equal(islands_of(saltus_scene_get_view(scene)->system), BODIES - 1);
  saltus_scene_destroy(scene);
}

/* A ball that comes to rest in infinitely many impacts, and one that flies high: the steps of the second are as long
 * as they are alone. */
static void an_accumulation_ends_no_step_of_others(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_tally tally;
  saltus_tally shared;
  silent s;
  record* own = run(view->system, view, 1.0, 4.0, &tally);
  record* one = run(silence(&s, view->system), view, 1.0, 4.0, &shared);
  int rests = 0;
  int rests_in_one = 0;
  for (int i = 0; i < own->event_count; i++) {
    rests += own->events[i].kind == SALTUS_EVENT_ACCUMULATION;
  }
  for (int i = 0; i < one->event_count; i++) {
    rests_in_one += one->events[i].kind == SALTUS_EVENT_ACCUMULATION;
  }
  assert_int_equal(rests, 4); /* the balls */
  assert_true(rests_in_one <= rests);
  assert_true(tally.h_least > 2.0 * shared.h_least);
  free(own);
  free(one);
  saltus_scene_destroy(scene);
}

/* An integrator at any time: states, forces and events. */
static void an_integrator_goes_anywhere(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  int nc = view->system->dims.nc;
  const saltus_integrator_def def = {
      .system = view->system, .q0 = view->q0, .v0 = view->v0, .rtol = tol, .atol = tol};
  saltus_integrator* it;
  assert_int_equal(saltus_integrator_create(&def, &it), SALTUS_OK);
  double* force = malloc(3 * (size_t)nc * sizeof *force);
  assert_non_null(force);
  double hit = sqrt(2.0 * some(0) / 9.81);
  for (double to = 0.03; to < 0.8; to += 0.03) {
    assert_int_equal(saltus_integrator_advance(it, to, SALTUS_STOP_NEVER, NULL), SALTUS_OK);
    assert_true(saltus_integrator_time(it) == to);
    double u = 0.7 * 9.81 * hit;
    double y =
        to < hit ? some(0) - 0.5 * 9.81 * to * to : (to - hit) * (u - 0.5 * 9.81 * (to - hit));
    assert_true(fabs(saltus_integrator_q(it)[0] - y) < 10.0 * tol);
    assert_int_equal(saltus_integrator_forces(it, to, force), SALTUS_OK);
    for (int key = 0; key < nc; key++) {
      int body = atoi(view->system->laws[key].name + 1);
      double weight = kind_of(body) == BLOCK ? 9.81 : 0.0;
      if (kind_of(body) == BALL || kind_of(body) == BLOCK) { /* these fly, those rest */
        assert_true(fabs(force[3 * key] - weight) < 1e-6);
      }
    }
  }
  free(force);
  saltus_integrator_destroy(it);
  saltus_scene_destroy(scene);
}

static void no_force(const void* self, const saltus_point* at, int count, const int* velocity,
                     double* F) {
  (void)self;
  (void)at;
  (void)velocity;
  memset(F, 0, (size_t)count * sizeof *F);
}

/* Without an event nobody disturbs anybody: one step of all. */
static void without_events_there_is_one_clock(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  saltus_system calm = *saltus_scene_get_view(scene)->system;
  saltus_system_ops ops = *calm.ops;
  ops.contacts = NULL;
  calm.ops = &ops;
  calm.dims.nc = 0;
  calm.law_count = 0;
  assert_int_equal(islands_of(&calm), 0);
  saltus_scene_destroy(scene);
}

/* Forces of a part that are not those of the whole are found by the checker. */
static void wrong_forces_of_a_part_are_found(void** state) {
  (void)state;
  static text t;
  write_bodies(&t, 0, 20, "");
  saltus_scene* scene = scene_of(&t);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_system_check_result result;
  saltus_system wrong = *view->system;
  saltus_system_ops ops = *view->system->ops;
  assert_int_equal(
      saltus_system_check(view->system, 0.1, view->q0, view->v0, (saltus_log){0}, &result),
      SALTUS_OK);
  assert_true(result.blocks < 1e-12);
  ops.force_some = no_force;
  wrong.ops = &ops;
  saltus_system_check(&wrong, 0.1, view->q0, view->v0, (saltus_log){0}, &result);
  assert_true(result.blocks > 0.5);
  saltus_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_moves_as_it_does_alone),
      cmocka_unit_test(so_it_does_with_other_methods_and_masses),
      cmocka_unit_test(one_clock_says_the_same),
      cmocka_unit_test(frames_do_not_change_the_motion),
      cmocka_unit_test(a_resumed_run_has_the_same_bits),
      cmocka_unit_test(who_cannot_go_on_stops_all_at_its_time),
      cmocka_unit_test(an_impact_that_creates_energy_is_named),
      cmocka_unit_test(what_connects_unites),
      cmocka_unit_test(an_accumulation_ends_no_step_of_others),
      cmocka_unit_test(an_integrator_goes_anywhere),
      cmocka_unit_test(without_events_there_is_one_clock),
      cmocka_unit_test(wrong_forces_of_a_part_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
