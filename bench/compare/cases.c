/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * cases.c - cases of tools/bench-compare for two versions of the library: steps of small systems
 * and runs to a tolerance. It uses public headers alone and compiles with either version of them.
 *
 *   cases --list            names and descriptions
 *   cases NAME REPEATS      the smallest processor time of REPEATS runs in seconds, and the final state
 *
 * Instructions are counted by callgrind inside `measured`, which nothing inlines.
 */
#include <saltus/saltus.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 16 };

typedef struct item {
  const char* name;
  const char* what;
  const char* scene; /* text; NULL: the ball by callbacks */
  const char* scheme;
  double h;     /* s; 0: to a tolerance */
  double tol;   /* of schemes that choose their steps */
  double t_end; /* s */
  int rounds;   /* runs from the start that make one measurement */
  unsigned traits;
  bool creation; /* creating and destroying a simulation is measured, not running it */
} item;

/* ---- the ball by callbacks ---- */

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  M[0] = 1.0;
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  F[0] = -2.0;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

/* Contacts had an index in old versions and have a 64-bit identity now. */
static void contact_by_key(const void* self, const saltus_point* at, int key, saltus_rows* rows) {
  (void)self, (void)at, (void)key;
  rows->G[0] = 1.0;
}

static void contact_by_identity(const void* self, const saltus_point* at, uint64_t identity,
                                saltus_rows* rows) {
  (void)self, (void)at, (void)identity;
  rows->G[0] = 1.0;
}

typedef void (*contact_key_callback)(const void*, const saltus_point*, int, saltus_rows*);
#define CONTACT                                                                                    \
  _Generic(((saltus_system_ops*)0)->contact, contact_key_callback                                  \
           : contact_by_key, default                                                               \
           : contact_by_identity)

static const saltus_contact_law law = {.name = "floor", .e_N = 0.5};

/* ---- scenes ---- */

static const char ball[] = "saltus: 1\n"
                           "parameters: {m: 1, g: 2}\n"
                           "coordinates: {y: {start: 1, unit: m}}\n"
                           "kinetic: m/2*y'^2\n"
                           "potential: m*g*y\n"
                           "contacts:\n"
                           "  - {name: floor, gap: y, restitution: 1/2}\n";

static const char pendulum[] =
    "saltus: 1\n"
    "parameters: {g: 9.81, wall: 0.3}\n"
    "coordinates: {q1: {start: 0.9}, q2: {start: 0.7}}\n"
    "kinetic: q1'^2 + cos(q1 - q2)*q1'*q2' + q2'^2/2\n"
    "potential: -g*(2*cos(q1) + cos(q2))\n"
    "contacts:\n"
    "  - {name: wall, gap: sin(q1) + sin(q2) - wall, restitution: 0.5}\n";

static const char woodpecker[] =
    "saltus: 1\n"
    "parameters: {mM: 0.0003, mS: 0.0045, JM: 5e-9, JS: 7e-7, c: 0.0056, g: 9.81, r0: 0.0025,\n"
    "  rM: 0.0031, hM: 0.0058, lM: 0.010, lG: 0.015, hS: 0.02, lS: 0.0201, mu: 0.3}\n"
    "coordinates:\n"
    "  y: {start: 0, velocity: -0.3411}\n"
    "  phiM: {start: -0.1034, velocity: 0}\n"
    "  phiS: {start: -0.2788, velocity: -7.4583}\n"
    "kinetic: mM/2*y'^2 + mS/2*(y' + lM*phiM' + lG*phiS')^2 + JM/2*phiM'^2 + JS/2*phiS'^2\n"
    "potential: (mS + mM)*g*y + mS*g*(lM*phiM + lG*phiS) + c/2*(phiM - phiS)^2\n"
    "contacts:\n"
    "  - {name: beak, gap: lM + lG - lS - r0 - hS*phiS, slip: y' + lM*phiM' + (lG - lS)*phiS',\n"
    "     friction: mu, restitution: 0.5}\n"
    "  - {name: low, gap: rM - r0 + hM*phiM, slip: y' + rM*phiM', friction: mu}\n"
    "  - {name: high, gap: rM - r0 - hM*phiM, slip: y' + rM*phiM', friction: mu}\n";

/* five balls above each other fall and come to rest as a column */
static const char column[] = "saltus: 1\n"
                             "parameters: {g: 10, d: 0.1}\n"
                             "coordinates: {a: {start: 1}, b: {start: 1.2}, c: {start: 1.4},\n"
                             "  e: {start: 1.6}, f: {start: 1.8}}\n"
                             "kinetic: (a'^2 + b'^2 + c'^2 + e'^2 + f'^2)/2\n"
                             "potential: g*(a + b + c + e + f)\n"
                             "contacts:\n"
                             "  - {name: floor, gap: a, restitution: 0.5}\n"
                             "  - {name: ab, gap: b - a - d, restitution: 0.5}\n"
                             "  - {name: bc, gap: c - b - d, restitution: 0.5}\n"
                             "  - {name: ce, gap: e - c - d, restitution: 0.5}\n"
                             "  - {name: ef, gap: f - e - d, restitution: 0.5}\n";

/* two masses on rods between rough walls: joints and friction */
static const char rods[] =
    "saltus: 1\n"
    "parameters: {m: 1, g: 9.8, L: 1, a: pi/3, b: pi/5, wall: -0.25, mu: 0.3}\n"
    "coordinates: {x1: {start: L*sin(a)}, y1: {start: -L*cos(a)},\n"
    "  x2: {start: L*(sin(a) + sin(b))}, y2: {start: -L*(cos(a) + cos(b))}}\n"
    "kinetic: m/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2)\n"
    "potential: m*g*(y1 + y2)\n"
    "forces: {x1: -4 - 3*sin(3*t), x2: -4 - 3*sin(3*t)}\n"
    "joints:\n"
    "  - {name: upper, constraint: x1^2 + y1^2 - L^2}\n"
    "  - {name: lower, constraint: (x1 - x2)^2 + (y1 - y2)^2 - L^2}\n"
    "contacts:\n"
    "  - {name: first, gap: x1 - wall, slip: y1, friction: mu, restitution: 0.5}\n"
    "  - {name: second, gap: x2 - wall, slip: y2, friction: mu, restitution: 0.4}\n";

/* a puck thrown onto a floor, with friction in two directions */
static const char puck[] =
    "saltus: 1\n"
    "coordinates: {x: {velocity: 2}, y: {velocity: 1}, z: {start: 0.2}}\n"
    "kinetic: (x'^2 + y'^2 + z'^2)/2\n"
    "potential: 9.81*z\n"
    "contacts:\n"
    "  - {name: floor, gap: z, slip: x, slip2: y, friction: 0.4, restitution: 0.3}\n";

enum { KNOWN = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS };

#define MOREAU .scheme = "moreau-jean"
static const item items[] = {
    {.name = "ball-callbacks",
     .what = "ball by callbacks with traits, moreau-jean, 10^5 steps",
     MOREAU,
     .h = 5e-5,
     .t_end = 5.0,
     .rounds = 1,
     .traits = KNOWN},
    {.name = "ball-traitless",
     .what = "the same without traits",
     MOREAU,
     .h = 5e-5,
     .t_end = 5.0,
     .rounds = 1},
    {.name = "ball-formula",
     .what = "ball as a formula, moreau-jean, 10^5 steps",
     .scene = ball,
     MOREAU,
     .h = 5e-5,
     .t_end = 5.0,
     .rounds = 1},
    {.name = "radau-smooth",
     .what = "double pendulum before its first impact, radau-iia-5",
     .scene = pendulum,
     .scheme = "radau-iia-5",
     .h = 6e-3,
     .t_end = 0.6,
     .rounds = 20},
    {.name = "radau-impacts",
     .what = "double pendulum through impacts and accumulation, radau-iia-5",
     .scene = pendulum,
     .scheme = "radau-iia-5",
     .h = 1e-2,
     .t_end = 3.0,
     .rounds = 4},
    {.name = "e3",
     .what = "double pendulum at a wall, adaptive, 1e-8",
     .scene = pendulum,
     .scheme = "adaptive",
     .tol = 1e-8,
     .t_end = 3.0,
     .rounds = 5},
    {.name = "woodpecker",
     .what = "woodpecker, adaptive, 1e-6",
     .scene = woodpecker,
     .scheme = "adaptive",
     .tol = 1e-6,
     .t_end = 1.0,
     .rounds = 3},
    {.name = "rods-adaptive",
     .what = "two rods between rough walls, adaptive, 1e-6",
     .scene = rods,
     .scheme = "adaptive",
     .tol = 1e-6,
     .t_end = 4.0,
     .rounds = 3},
    {.name = "puck-adaptive",
     .what = "puck with friction in two directions, adaptive, 1e-6",
     .scene = puck,
     .scheme = "adaptive",
     .tol = 1e-6,
     .t_end = 1.0,
     .rounds = 20},
    {.name = "column-moreau",
     .what = "five balls, moreau-jean, 5000 steps",
     .scene = column,
     MOREAU,
     .h = 4e-4,
     .t_end = 2.0,
     .rounds = 2},
    {.name = "rods-moreau",
     .what = "two rods between rough walls, moreau-jean, 4000 steps",
     .scene = rods,
     MOREAU,
     .h = 1e-3,
     .t_end = 4.0,
     .rounds = 2},
    {.name = "puck-moreau",
     .what = "puck with friction in two directions, moreau-jean, 10^4 steps",
     .scene = puck,
     MOREAU,
     .h = 1e-4,
     .t_end = 1.0,
     .rounds = 2},
    {.name = "woodpecker-dg",
     .what = "woodpecker, dg-minus, 5000 steps",
     .scene = woodpecker,
     .scheme = "dg-minus",
     .h = 1e-4,
     .t_end = 0.5,
     .rounds = 1},
    {.name = "rods-trapezoidal",
     .what = "two rods, trapezoidal-implicit-mean, 1024 steps",
     .scene = rods,
     .scheme = "trapezoidal-implicit-mean",
     .h = 1.0 / 256,
     .t_end = 4.0,
     .rounds = 1},
    {.name = "creation",
     .what = "creating and destroying a simulation of the woodpecker, adaptive",
     .scene = woodpecker,
     .scheme = "adaptive",
     .tol = 1e-6,
     .t_end = 0.0,
     .rounds = 20,
     .creation = true},
};
enum { COUNT = sizeof items / sizeof items[0] };

/* ---- running ---- */

typedef struct subject {
  const item* what;
  saltus_sim_def def;
  saltus_sim* sim[32]; /* [rounds] made before the clock starts */
  saltus_status status;
} subject;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void create(subject* s, int i) {
  if (s->status == SALTUS_OK) {
    s->status = saltus_sim_create(&s->def, &s->sim[i]);
  }
}

/* The counted and timed part. */
__attribute__((noinline)) void measured(subject* s);
__attribute__((noinline)) void measured(subject* s) {
  for (int i = 0; i < s->what->rounds && s->status == SALTUS_OK; i++) {
    if (s->what->creation) {
      create(s, i);
      saltus_sim_destroy(s->sim[i]);
    } else {
      s->status = saltus_sim_run_until(s->sim[i], s->what->t_end);
    }
  }
}

static double run_once(subject* s, int nq, int nv, double* last) {
  int rounds = s->what->rounds;
  for (int i = 0; i < rounds && !s->what->creation; i++) {
    create(s, i);
  }
  double start = seconds();
  measured(s);
  double taken = seconds() - start;
  for (int i = 0; i < rounds && !s->what->creation; i++) {
    if (s->status == SALTUS_OK) {
      memcpy(last, saltus_sim_q(s->sim[i]), (size_t)nq * sizeof(double));
      memcpy(last + nq, saltus_sim_v(s->sim[i]), (size_t)nv * sizeof(double));
    }
    saltus_sim_destroy(s->sim[i]);
    s->sim[i] = NULL;
  }
  return taken;
}

static int run(const item* what, int repeats) {
  const saltus_system_ops ops = {
      .mass = mass, .force = force, .contacts = contacts, .contact = CONTACT};
  const saltus_system by_hand = {.ops = &ops,
                                 .dims = {.nq = 1, .nv = 1, .nc = 1},
                                 .traits = what->traits,
                                 .laws = &law,
                                 .law_count = 1};
  static const double q0 = 1.0;
  static const double v0 = 0.0;
  saltus_kept_message message = {.text = ""};
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = what->tol;
  options.atol = what->tol;
  subject s = {.what = what,
               .def = {.system = &by_hand,
                       .scheme = what->scheme,
                       .h = what->h,
                       .q0 = &q0,
                       .v0 = &v0,
                       .options = what->tol > 0.0 ? &options : NULL,
                       .log = saltus_log_keep(&message)}};
  saltus_scene* scene = NULL;
  if (what->scene != NULL) {
    const saltus_scene_def def = {.text = what->scene, .log = s.def.log};
    s.status = saltus_scene_create(&def, &scene);
    if (s.status == SALTUS_OK) {
      const saltus_scene_view* view = saltus_scene_get_view(scene);
      s.def.system = view->system;
      s.def.q0 = view->q0;
      s.def.v0 = view->v0;
    }
  }
  double last[WIDTH] = {0};
  double best = 1e300;
  int nq = s.status == SALTUS_OK ? s.def.system->dims.nq : 0;
  int nv = s.status == SALTUS_OK ? s.def.system->dims.nv : 0;
  for (int i = 0; i < repeats && s.status == SALTUS_OK; i++) {
    double taken = run_once(&s, nq, nv, last);
    best = taken < best ? taken : best;
  }
  saltus_scene_destroy(scene);
  if (s.status != SALTUS_OK) {
    fprintf(stderr, "cases: %s: %s\n", what->name, message.text);
    return 1;
  }
  printf("%.9e", best);
  for (int i = 0; i < nq + nv; i++) {
    printf(" %a", last[i]);
  }
  printf("\n");
  return 0;
}

int main(int argc, char** argv) {
  for (int i = 0; i < COUNT; i++) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
      printf("%s\t%s\n", items[i].name, items[i].what);
    } else if (argc == 3 && strcmp(argv[1], items[i].name) == 0) {
      return run(&items[i], atoi(argv[2]));
    }
  }
  return argc == 2 ? 0 : 2;
}
