/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_ledger_drives.c - the work of moving surfaces, driven joints and moving frames against numbers
 * that were made without the library: exact flights with roots bracketed in long double, and
 * Runge-Kutta's method on equations reduced by hand. Forces and works at every frame; remainders of
 * random scenes with everything in them.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- runs ---------------------------------------------------------------------------------- */

typedef struct summary {
  double worst;    /* J, largest remainder of a frame */
  double largest;  /* J, largest energy of a frame */
  double external; /* J, largest |given| of a frame */
  double books;    /* J, largest |change - (T + V) + (T + V) at the start| */
  double start;    /* J */
  long long frames;
  void (*look)(void* user, const saltus_frame* frame);
  void* user;
} summary;

static saltus_status observe(void* user, const saltus_frame* f) {
  summary* s = user;
  double E = f->kinetic + f->potential;
  s->start = s->frames == 0 ? E : s->start;
  s->frames++;
  s->largest = fmax(s->largest, fmax(fabs(f->kinetic), fabs(f->potential)));
  s->worst = fmax(s->worst, fabs(f->energy.remainder));
  s->external = fmax(s->external, fabs(f->energy.external));
  double sum = f->energy.external + f->energy.drive + f->energy.friction + f->energy.impact +
               f->energy.remainder;
  s->books = fmax(s->books, fabs(f->energy.change - sum) + fabs(E - s->start - sum));
  if (s->look != NULL) {
    s->look(s->user, f);
  }
  return SALTUS_OK;
}

typedef struct request {
  const char* scheme;
  double tol, until, dt; /* dt 0: frames at the ends of steps; both sides of impacts in any case */
  double h;              /* of a scheme with fixed steps */
} request;

static saltus_energy run(const char* text, request w, summary* s) {
  saltus_kept_message kept = {0};
  const saltus_scene_def def = {.path = "s", .text = text, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = w.tol;
  const saltus_recorder recorder = {.frame = observe, .user = s};
  bool fixed = w.h > 0.0;
  const saltus_sim_def sim_def = {.system = view->system,
                                  .scheme = w.scheme,
                                  .options = fixed ? NULL : &options,
                                  .q0 = view->q0,
                                  .v0 = view->v0,
                                  .h = w.h,
                                  .recorders = &recorder,
                                  .recorder_count = 1,
                                  .record_dt = w.dt,
                                  .record_jumps = !fixed,
                                  .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&sim_def, &sim) != SALTUS_OK ||
      saltus_sim_run_until(sim, w.until) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  saltus_energy total = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
  assert_true(s->books <= 1e-12 * (1.0 + s->largest));
  return total;
}

/* ---- ball on a shaking table --------------------------------------------------------------- */

static const char table[] =
    "saltus: 1\nparameters: {g: 9.81, f: 10, w: 2*pi*f, A: 1.3*g/w^2, e: 0.5}\n"
    "coordinates: {y: {start: 0.0065, velocity: -0.4, unit: m}}\n"
    "kinetic: y'^2/2\npotential: g*y\n"
    "contacts: [{name: table, gap: y - A*sin(w*t), restitution: e}]\n";

/* The same with y measured from the table: the frame does the work, the contact rests in it. */
static const char table_frame[] =
    "saltus: 1\nparameters: {g: 9.81, f: 10, w: 2*pi*f, A: 1.3*g/w^2, e: 0.5}\n"
    "coordinates: {z: {start: 0.0065, velocity: -0.4 - A*w, unit: m}}\n"
    "kinetic: (z' + A*w*cos(w*t))^2/2\npotential: g*(z + A*sin(w*t))\n"
    "contacts: [{name: table, gap: z, restitution: e}]\n";

/* Exact parabolas; impacts are looked for in parts of 1e-4 s and bracketed. */
static void exact_table(double until, double* drive, double* impact, int* impacts) {
  const long double g = 9.81L, w = 20.0L * 3.14159265358979323846264338327950288L;
  const long double A = 1.3L * g / (w * w), e = 0.5L;
  long double t = 0.0L, y = 0.0065L, v = -0.4L, work = 0.0L, loss = 0.0L;
  *impacts = 0;
  for (;;) {
    long double a = 1e-9L;
    while (t + a < (long double)until && y + v * a - g * a * a / 2 - A * sinl(w * (t + a)) > 0) {
      a += 1e-4L;
    }
    if (t + a >= (long double)until) {
      break;
    }
    long double low = a - 1e-4L;
    for (int i = 0; i < 100; i++) {
      long double s = (low + a) / 2;
      if (y + v * s - g * s * s / 2 - A * sinl(w * (t + s)) > 0) {
        low = s;
      } else {
        a = s;
      }
    }
    t += a;
    y = A * sinl(w * t);
    v -= g * a;
    long double moves = A * w * cosl(w * t);
    long double U = v - moves, P = -(1 + e) * U;
    work += P * moves;
    loss += P * (U - e * U) / 2;
    v = moves - e * U;
    ++*impacts;
  }
  *drive = (double)work;
  *impact = (double)loss;
}

static void the_work_of_a_table_is_that_of_its_drive(void** state) {
  (void)state;
  double drive, impact;
  int impacts;
  exact_table(10.0, &drive, &impact, &impacts);
  assert_int_equal(impacts, 100);
  assert_near(drive, 16.037, 1e-3); /* the number of the issue */
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
    for (int frame = 0; frame < 2; frame++) {
      summary s = {0};
      saltus_energy e = run(frame == 0 ? table : table_frame,
                            (request){.scheme = "adaptive", .tol = tol, .until = 10.0}, &s);
      assert_near(e.drive, drive, 1e-9 + (frame == 0 ? 0.0 : 100.0 * tol));
      assert_near(e.impact, impact, 1e-9 + (frame == 0 ? 0.0 : 100.0 * tol));
      assert_true(s.external == 0.0 && e.friction == 0.0);
      /* in the frame forces have to be integrated: one tolerance of the work that passes */
      assert_near(s.worst, 0.0, frame == 0 ? 1e-12 * s.largest : tol * drive);
    }
  }
}

/* Schemes that know their impulses alone: the sum that belongs to the scheme leaves rounding. */
static void schemes_with_impulses_keep_their_own_books(void** state) {
  (void)state;
  static const char* const schemes[] = {"moreau-jean",     "variational",  "dg-minus",
                                        "splitting-rkf45", "event-driven", "radau-iia-5"};
  for (int i = 0; i < 6; i++) {
    summary s = {0};
    saltus_energy e = run(table, (request){.scheme = schemes[i], .h = 1e-3, .until = 10.0}, &s);
    assert_near(e.drive, 16.037, 0.2); /* first order in h */
    assert_near(s.worst, 0.0, 1e-10);
  }
}

/* A ball on waves: nothing is given and nothing moves. */
static void waves_do_no_work(void** state) {
  (void)state;
  static const char waves[] =
      "saltus: 1\ncoordinates: {x: {start: 0, velocity: 0.3}, y: {start: 0.4}}\n"
      "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\n"
      "contacts: [{name: ground, gap: y - 0.05*sin(12*x), restitution: 0.4}]\n";
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
    summary s = {0};
    saltus_energy e =
        run(waves, (request){.scheme = "adaptive", .tol = tol, .until = 3.0, .dt = 0.01}, &s);
    assert_true(s.external == 0.0 && e.drive == 0.0 && e.friction == 0.0 && e.impact < -1.0);
    assert_near(s.worst, 0.0, 10.0 * tol * s.largest);
  }
}

/* Between impacts nothing acts but gravity, and a parabola is exact. */
static void free_flight_leaves_rounding(void** state) {
  (void)state;
  static const char flight[] =
      "saltus: 1\ncoordinates: {x: {start: 0, velocity: 3}, y: {start: 2, velocity: 8}}\n"
      "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\n"
      "contacts: [{name: floor, gap: y, restitution: 1}]\n";
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
    summary s = {0};
    run(flight, (request){.scheme = "adaptive", .tol = tol, .until = 10.0, .dt = 0.01}, &s);
    assert_near(s.worst, 0.0, 1e-13 * s.largest);
  }
}

/* ---- ball in a moving box ------------------------------------------------------------------ */

static void the_work_of_a_box_is_that_of_its_drive(void** state) {
  (void)state;
  static const char box[] =
      "saltus: 1\ncoordinates: {x: {start: 0, velocity: 1}}\nkinetic: x'^2/2\n"
      "contacts:\n  - {name: a, gap: x + 0.5 - 0.1*sin(9*t), restitution: 0.9}\n"
      "  - {name: b, gap: 0.5 - x + 0.1*sin(9*t), restitution: 0.8}\n";
  long double t = 0.0L, x = 0.0L, v = 1.0L, work = 0.0L;
  int hit = -1, impacts = 0;
  for (;;) {
    long double a = 1e-9L, low = 0.0L;
    for (hit = -1; hit < 0 && t + a < 5.0L; a += 1e-5L) {
      long double gap = x + v * a - 0.1L * sinl(9 * (t + a));
      hit = gap <= -0.5L ? 0 : gap >= 0.5L ? 1 : -1;
      low = a - 1e-5L;
    }
    if (hit < 0) {
      break;
    }
    a -= 1e-5L;
    for (int i = 0; i < 100; i++) {
      long double s = (low + a) / 2;
      long double gap = x + v * s - 0.1L * sinl(9 * (t + s));
      if (hit == 0 ? gap > -0.5L : gap < 0.5L) {
        low = s;
      } else {
        a = s;
      }
    }
    t += a;
    x += v * a;
    long double moves = 0.9L * cosl(9 * t), e = hit == 0 ? 0.9L : 0.8L;
    long double after = moves - e * (v - moves);
    work += (after - v) * moves;
    v = after;
    impacts++;
  }
  assert_int_equal(impacts, 8);
  summary s = {0};
  saltus_energy e = run(box, (request){.scheme = "adaptive", .tol = 1e-8, .until = 5.0}, &s);
  assert_near(e.drive, (double)work, 1e-6);
  assert_near(s.worst, 0.0, 1e-7 * s.largest); /* ten tolerances of the largest energy */
}

/* ---- driven pivot -------------------------------------------------------------------------- */

typedef struct pivot {
  long double t, angle, rate, work;
} pivot;

static long double pivot_at(long double t) {
  return 0.1L * sinl(15 * t);
}

/* Angle about the pivot: a'' = -g sin a - X'' cos a. The rod pulls with m x'' in x while the mass is
 * free, and the drive moves its end with X'. */
static void pivot_rate(const pivot* p, long double d[3]) {
  long double speed = 1.5L * cosl(15 * p->t), pushed = -22.5L * sinl(15 * p->t);
  d[0] = p->rate;
  d[1] = -9.81L * sinl(p->angle) - pushed * cosl(p->angle);
  long double x2 = pushed + d[1] * cosl(p->angle) - p->rate * p->rate * sinl(p->angle);
  d[2] = x2 * speed;
}

static pivot pivot_step(pivot p, long double h) {
  long double k[4][3];
  const long double part[4] = {0.0L, 0.5L, 0.5L, 1.0L};
  for (int i = 0; i < 4; i++) {
    pivot q = p;
    q.t += part[i] * h;
    q.angle += i > 0 ? part[i] * h * k[i - 1][0] : 0.0L;
    q.rate += i > 0 ? part[i] * h * k[i - 1][1] : 0.0L;
    pivot_rate(&q, k[i]);
  }
  p.t += h;
  p.angle += h / 6 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0]);
  p.rate += h / 6 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1]);
  p.work += h / 6 * (k[0][2] + 2 * k[1][2] + 2 * k[2][2] + k[3][2]);
  return p;
}

static long double wall_gap(pivot p) {
  return pivot_at(p.t) + sinl(p.angle) + 0.3L;
}

/* Work of the drive and loss in impacts until t = 2 s. */
static void exact_pivot(double* drive, double* impact) {
  const long double h = 1e-4L;
  pivot p = {.t = 0.0L, .angle = asinl(0.4L)};
  p.rate = -1.5L / cosl(p.angle); /* x' = 0 */
  long double loss = 0.0L;
  while (p.t < 2.0L - h / 2) {
    pivot next = pivot_step(p, fminl(h, 2.0L - p.t));
    if (wall_gap(next) > 0) {
      p = next;
      continue;
    }
    long double low = 0.0L, high = next.t - p.t;
    for (int i = 0; i < 80; i++) {
      long double s = (low + high) / 2;
      *(wall_gap(pivot_step(p, s)) > 0 ? &low : &high) = s;
    }
    p = pivot_step(p, low);
    long double speed = 1.5L * cosl(15 * p.t), c = cosl(p.angle);
    long double U = speed + p.rate * c, after = (-0.6L * U - speed) / c;
    long double P = (after - p.rate) / c; /* the rod takes no part in the angle */
    p.work += ((after - p.rate) * c - P) * speed;
    loss += P * (U - 0.6L * U) / 2;
    p.rate = after;
  }
  *drive = (double)p.work;
  *impact = (double)loss;
}

static void the_work_of_a_driven_joint_is_that_of_its_drive(void** state) {
  (void)state;
  static const char text[] = "saltus: 1\ncoordinates:\n  x: {start: 0.4, velocity: 0.0}\n"
                             "  y: {start: -0.916515138991168, velocity: -0.6546536707079772}\n"
                             "kinetic: (x'^2+y'^2)/2\npotential: 9.81*y\n"
                             "joints: [{constraint: (x-0.1*sin(15*t))^2+y^2-1}]\n"
                             "contacts: [{name: wall, gap: x+0.3, restitution: 0.6}]\n";
  double drive, impact;
  exact_pivot(&drive, &impact);
  for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
    for (int dense = 0; dense < 2; dense++) {
      summary s = {0};
      saltus_energy e = run(
          text,
          (request){.scheme = "adaptive", .tol = tol, .until = 2.0, .dt = dense == 0 ? 0.0 : 0.01},
          &s);
      assert_near(s.worst, 0.0, 10.0 * tol * s.largest);
      assert_near(e.drive, drive, 100.0 * tol);
      assert_near(e.impact, impact, 100.0 * tol);
      assert_true(s.external == 0.0);
    }
  }
}

/* ---- frames -------------------------------------------------------------------------------- */

typedef struct incline_summary {
  int counts[4];
  double last; /* s, frame before */
} incline_summary;

/* A block slides from rest with a = g (sin - mu cos); its plane presses with m g cos at every frame. */
static void look_at_incline(void* user, const saltus_frame* f) {
  const double pi = 3.14159265358979323846;
  double N = 2.0 * 9.81 * cos(pi / 6.0), a = 9.81 * (0.5 - 0.3 * cos(pi / 6.0));
  double hit = sqrt(2.0 / a);
  int* counts = ((incline_summary*)user)->counts;
  double* last = &((incline_summary*)user)->last;
  if (f->t <= 1.4) { /* the sliding part of bounces; at rest the stop carries, too */
    assert_near(f->contacts[0].force[0], N, 1e-6);
    counts[0]++;
  }
  if (f->t < hit - 1e-6) {
    assert_near(f->energy.friction, -0.3 * N * 0.5 * a * f->t * f->t, 1e-6);
    assert_near(f->contacts[0].friction, f->energy.friction, 1e-12);
    assert_near(f->contacts[0].force[1], -0.3 * N, 1e-6);
    counts[1]++;
  }
  bool slides_up = f->v[0] < -1e-3;
  if (slides_up && f->t == *last) { /* just after an impact: friction has turned round */
    assert_near(f->contacts[0].force[1], 0.3 * N, 1e-6);
    assert_true(f->contacts[1].impulse[0] > 0.0 && f->contacts[1].force[0] == 0.0);
    counts[3]++;
  }
  *last = f->t;
  if (f->t > 2.0) { /* held by the stop: m g sin is left to friction and stop */
    assert_near(f->contacts[1].force[0] - f->contacts[0].force[1], 2.0 * 9.81 * 0.5, 1e-6);
    counts[2]++;
  }
}

static void frames_have_forces_and_works_of_their_time(void** state) {
  (void)state;
  static const char incline[] =
      "saltus: 1\nparameters: {m: 2, g: 9.81, alpha: 30*pi/180, mu: 0.3, e: 0.5, L: 1}\n"
      "coordinates: {x: {start: 0}, y: {start: 0}}\nkinetic: m/2*(x'^2 + y'^2)\n"
      "potential: m*g*(y*cos(alpha) - x*sin(alpha))\n"
      "contacts:\n  - {name: plane, gap: y, slip: x, friction: mu, restitution: 0}\n"
      "  - {name: stop, gap: L - x, restitution: e}\n";
  const double steps[] = {0.0, 0.003, 0.1};
  for (int k = 0; k < 3; k++) {
    incline_summary i = {.last = -1.0};
    const int* counts = i.counts;
    summary s = {.look = look_at_incline, .user = &i};
    run(incline, (request){.scheme = "adaptive", .tol = 1e-8, .until = 3.0, .dt = steps[k]}, &s);
    assert_near(s.worst, 0.0, 1e-7 * s.largest);
    assert_true(counts[0] > 10 && counts[1] >= (k == 0 ? 2 : 8) && counts[2] >= 1 &&
                counts[3] >= 5);
  }
}

/* A sliding ball that bounces to rest in a step over the accumulation: between two bounces nothing
 * acts, so that the columns are constant there and the remainder is none. */
typedef struct bounces {
  double impact, force;
  long long inside;
} bounces;

static void look_at_bounces(void* user, const saltus_frame* f) {
  bounces* b = user;
  b->inside += f->contacts[0].gap > 1e-9 && f->t > 0.5;
  b->impact = f->contacts[0].impact;
}

static void frames_inside_an_accumulation_have_no_remainder(void** state) {
  (void)state;
  static const char ball[] =
      "saltus: 1\ncoordinates: {x: {start: 0, velocity: 20}, y: {start: 1}}\n"
      "kinetic: (x'^2 + y'^2)/2\npotential: 9.81*y\n"
      "contacts: [{name: floor, gap: y, slip: x', friction: 0.1, restitution: 0.7}]\n";
  bounces b = {0};
  summary s = {.look = look_at_bounces, .user = &b};
  saltus_energy e =
      run(ball, (request){.scheme = "adaptive", .tol = 1e-6, .until = 4.0, .dt = 0.002}, &s);
  assert_true(b.inside > 500);
  assert_near(s.worst, 0.0, 1e-5 * s.largest);
  assert_near(e.impact, -9.81, 1e-4); /* all of m g h */
  /* friction: 20 - 0.1 g t is the speed, as impulses of the floor are those of gravity and of the fall */
  double v = 20.0 - 0.1 * 9.81 * 4.0;
  assert_near(e.friction, 0.5 * (v * v - 400.0), 1e-3);
  /* the same on a floor that rises faster and faster and runs: it drives through every bounce */
  static const char lift[] =
      "saltus: 1\ncoordinates: {x: {start: 0, velocity: 20}, y: {start: 1}, z: {start: 0}}\n"
      "kinetic: (x'^2 + y'^2 + z'^2)/2\npotential: 9.81*y\nforces: {z: -0.5*z' + sin(3*t)}\n"
      "contacts: [{name: floor, gap: y - t^2, slip: x' - 1, friction: 0.1, restitution: 0.7}]\n";
  s = (summary){0};
  e = run(lift, (request){.scheme = "adaptive", .tol = 1e-8, .until = 4.0, .dt = 0.002}, &s);
  assert_near(s.worst, 0.0, 1e-7 * s.largest);
  /* beside the floor it falls 1 m under 9.81 + 2 m/s^2, and loses all of that */
  assert_near(e.impact, -11.81, 1e-6);
}

/* A rod that jams while it slides (Painleve): the jump without a collision is an impact, and what it
 * takes is not left to the remainder. */
static void a_jump_without_collision_is_an_impact(void** state) {
  (void)state;
  saltus_scene* scene = saltus_test_scene("painleve-rod", NULL, 0);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  summary s = {0};
  const saltus_recorder recorder = {.frame = observe, .user = &s};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = "adaptive",
                              .q0 = view->q0,
                              .v0 = view->v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_jumps = true};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(sim, view->until), SALTUS_OK);
  saltus_energy e = saltus_sim_energy_total(sim);
  assert_true(e.impact + e.friction < -1e-2);
  assert_near(s.worst, 0.0, 1e-5 * s.largest); /* ten tolerances */
  assert_near(s.books, 0.0, 1e-12);
  saltus_sim_destroy(sim);
  saltus_scene_destroy(scene);
}

/* ---- everything ---------------------------------------------------------------------------- */

static uint64_t seed = 20261116;

static double between(double a, double b) {
  return a + (b - a) * saltus_test_random(&seed);
}

/* A block in a moving frame on a shaking conveyor, with a spring and a damper to a moving end, a given
 * force and air drag; a pendulum hangs at a driven pivot beside it and hits a wall. */
static void random_scene(char* text, size_t size) {
  double shake = between(1.0, 6.0);
  double height = between(0.2, 0.8) * 9.81 / (shake * shake);
  double drive = between(2.0, 12.0), reach = between(0.02, 0.1);
  snprintf(text, size,
           "saltus: 1\n"
           "parameters: {m: %.6g, k: %.6g, d: %.6g, f: %.6g, c: %.6g, a: %.6g, w0: %.6g, h: %.6g, "
           "s: %.6g, mu: %.6g, r: %.6g, o: %.6g, l: %.6g, e: %.6g}\n"
           "coordinates:\n  x: {start: %.6g, velocity: %.6g}\n"
           "  y: {start: 0, velocity: h*s}\n"
           "  u: {start: 0.6*l, velocity: r*o}\n  w: {start: -0.8*l}\n"
           "kinetic: m/2*((x' + a*w0*cos(w0*t))^2 + y'^2) + (u'^2 + w'^2)/2\n"
           "potential: 9.81*m*y + 9.81*w\n"
           "springs:\n  - {name: s, elongation: x - 0.3*sin(2*t), stiffness: k, damping: d}\n"
           "forces: {x: f*cos(3*t) - c*x'^3, u: 0.2*sin(t)}\n"
           "joints: [{name: rod, constraint: ((u - r*sin(o*t))^2 + w^2 - l^2)/2}]\n"
           "contacts:\n"
           "  - {name: belt, gap: y - h*sin(s*t), slip: x' - 0.5*cos(t), friction: mu}\n"
           "  - {name: wall, gap: u + 0.3*l, restitution: e}\n",
           between(0.5, 3.0), between(5.0, 50.0), between(0.0, 1.0), between(0.0, 5.0),
           between(0.0, 0.5), between(0.0, 0.1), between(1.0, 5.0), height, shake,
           between(0.05, 0.6), reach, drive, between(0.5, 1.5), between(0.0, 0.9),
           between(-0.5, 0.5), between(-2.0, 2.0));
}

static void everything_together_leaves_a_remainder_below_ten_tolerances(void** state) {
  (void)state;
  static const char* const schemes[] = {"adaptive", "adaptive-dopri5", "adaptive-radau5"};
  char text[4096];
  for (int i = 0; i < 24; i++) {
    random_scene(text, sizeof text);
    double flow = 0.0;
    for (double tol = 1e-4; tol > 1e-11; tol *= 1e-2) {
      summary s = {0};
      const request w = {.scheme = schemes[i % 3], .tol = tol, .until = 3.0, .dt = 0.05};
      if (i % 3 == 2 && tol < 1e-9) {
        continue; /* the stiff method needs thousands of steps */
      }
      saltus_energy e = run(text, w, &s);
      if (!(s.worst <= 10.0 * tol * s.largest)) {
        fail_msg("scene %d, %s, tol %g: %g J of %g J\n%s", i, w.scheme, tol, s.worst, s.largest,
                 text);
      }
      flow = fabs(e.drive);
      assert_true(fabs(e.external) > 1e-3 && e.friction < -1e-3);
    }
    assert_true(flow > 1e-2);
  }
}

/* ---- a crank that stops with a jerk ---------------------------------------------------------- */

/* The second derivative of the angle of a link (m = 1, I = 0.1, centre 0.5 m from its pin) on a crank of 1 m at 2 rad/s. */
static double link_acceleration(double t, double angle) {
  const double x = -4.0 * cos(2.0 * t), y = -4.0 * sin(2.0 * t); /* of the pin */
  return 0.5 / 0.35 * (x * sin(angle) - y * cos(angle));
}

/* Rate of the link after the crank has stopped at `end`: Runge-Kutta's method, then its angular momentum about the pin. */
static double link_rate_after(double end) {
  enum { STEPS = 2000 };
  const double h = end / STEPS;
  double a = 0.0, w = 0.0;
  for (int k = 0; k < STEPS; k++) {
    const double t = k * h;
    const double k1 = link_acceleration(t, a), k2 = link_acceleration(t + h / 2, a + h / 2 * w);
    const double k3 = link_acceleration(t + h / 2, a + h / 2 * w + h * h / 4 * k1);
    const double k4 = link_acceleration(t + h, a + h * w + h * h / 2 * k2);
    a += h * w + h * h / 6 * (k1 + k2 + k3);
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  const double x = -2.0 * sin(2.0 * end), y = 2.0 * cos(2.0 * end); /* velocity of the pin */
  return w + 0.5 / 0.35 * (y * cos(a) - x * sin(a));
}

static void keep_rates(void* user, const saltus_frame* f) {
  double* rates = user;
  rates[0] = f->v[2];
  rates[1] = f->v[5];
}

/* The crank starts with 2.7 J and ends with those of the link: all of the difference is work of its drive. Two cranks, which step by
 * themselves in adaptive, have both. */
static void a_drive_that_stops_with_a_jerk_has_its_work(void** state) {
  (void)state;
  static const char crank[] =
      "saltus: 1\nworld: {dimension: 2, gravity: [0, 0]}\nbodies:\n"
      "  a: {mass: 1, inertia: 0.1, position: [0.5, 0], velocity: [0, 1], angular_velocity: 2}\n"
      "  b: {mass: 1, inertia: 0.1, position: [1.5, 0], velocity: [0, 2]}\n%s"
      "markers: {g: {}, a0: {body: a, point: [-0.5, 0]}, a1: {body: a, point: [0.5, 0]}, "
      "b0: {body: b, point: [-0.5, 0]}%s}\n"
      "joints:\n  - {name: j, type: revolute, between: [g, a0], drive: {angle: \"min(2*t, "
      "0.6)\"}}\n"
      "  - {name: k, type: revolute, between: [a1, b0]}\n%s";
  static const char* const more[3] = {
      "  c: {mass: 1, inertia: 0.1, position: [10.5, 0], velocity: [0, 1], angular_velocity: 2}\n"
      "  d: {mass: 1, inertia: 0.1, position: [11.5, 0], velocity: [0, 2]}\n",
      ", g2: {point: [10, 0]}, c0: {body: c, point: [-0.5, 0]}, c1: {body: c, point: [0.5, 0]}, "
      "d0: {body: d, point: [-0.5, 0]}",
      "  - {name: j2, type: revolute, between: [g2, c0], drive: {angle: \"min(2*t, 0.4)\"}}\n"
      "  - {name: k2, type: revolute, between: [c1, d0]}\n"};
  static const struct {
    const char* scheme;
    double tol, h, off; /* off: J, of the straight line over the step of the jerk */
  } all[] = {{"adaptive", 1e-9, 0.0, 1e-7},
             {"moreau-jean", 0.0, 1e-4, 3e-4},
             {"moreau-jean", 0.0, 7.3e-5, 3e-4},
             {"moreau-jean-projected", 0.0, 1e-4, 3e-4}};
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    for (int two = 0; two < 2; two++) {
      char text[3000];
      snprintf(text, sizeof text, crank, two ? more[0] : "", two ? more[1] : "",
               two ? more[2] : "");
      const double w = link_rate_after(0.3), w2 = link_rate_after(0.2);
      const double work = 0.175 * w * w - 2.7 + (two ? 0.175 * w2 * w2 - 2.7 : 0.0);
      double rates[2];
      summary s = {.look = keep_rates, .user = rates};
      const request wanted = {
          .scheme = all[k].scheme, .tol = all[k].tol, .h = all[k].h, .until = 0.5};
      const saltus_energy e = run(text, wanted, &s);
      assert_near(w, 2.914736, 1e-6);
      assert_near(rates[0], 0.0, 1e-9);
      assert_near(rates[1], w, fmax(1e3 * all[k].tol, all[k].off));
      assert_near(e.drive, work, 2 * all[k].off);
      assert_near(e.remainder, 0.0, 2 * all[k].off);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_work_of_a_table_is_that_of_its_drive),
      cmocka_unit_test(schemes_with_impulses_keep_their_own_books),
      cmocka_unit_test(waves_do_no_work),
      cmocka_unit_test(free_flight_leaves_rounding),
      cmocka_unit_test(the_work_of_a_box_is_that_of_its_drive),
      cmocka_unit_test(the_work_of_a_driven_joint_is_that_of_its_drive),
      cmocka_unit_test(a_drive_that_stops_with_a_jerk_has_its_work),
      cmocka_unit_test(frames_have_forces_and_works_of_their_time),
      cmocka_unit_test(frames_inside_an_accumulation_have_no_remainder),
      cmocka_unit_test(a_jump_without_collision_is_an_impact),
      cmocka_unit_test(everything_together_leaves_a_remainder_below_ten_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
