/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * adaptive_many.c - runs to a tolerance of many bodies: time per event of n independent
 * balls, against their closed form, or over hills; and memory of a thousand planar contacts
 * with friction, independent and in one column.
 */
#include "bench.h"
#include "saltus/saltus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Bytes at hand and the most of them. */
typedef struct usage {
  size_t now, most;
  saltus_allocator inside;
} usage;

static void* count_alloc(size_t bytes, void* user) {
  usage* u = user;
  void* block = u->inside.alloc(bytes, u->inside.user);
  u->now += block != NULL ? bytes : 0;
  u->most = u->now > u->most ? u->now : u->most;
  return block;
}

static void count_free(void* block, size_t bytes, void* user) {
  usage* u = user;
  u->now -= block != NULL ? bytes : 0;
  u->inside.free(block, bytes, u->inside.user);
}

/* ---- systems --------------------------------------------------------------------------------- */

static const double gravity = 9.81;
static const double restitution = 0.7;

/* Bodies of 1 kg with one velocity (balls: up) or two (along, up); sparse rows, diagonal M. */
typedef struct many {
  saltus_system system;
  saltus_system_ops ops;
  saltus_contact_law* laws;
  double* q;
  double* v;
  int bodies;
  int each;    /* velocities of a body */
  bool column; /* body i stands on body i - 1 */
  bool hills;  /* the floor is bent, y = 0.05 sin 20 x */
} many;

static const double hill = 0.05;
static const double wave = 20.0;

static void no_mass(const void* self, const saltus_point* at, double* M) {
  const many* m = self;
  int nv = m->system.dims.nv;
  (void)at;
  memset(M, 0, (size_t)nv * (size_t)nv * sizeof(double));
  for (int i = 0; i < nv; i++) {
    M[(size_t)i * (size_t)(nv + 1)] = 1.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const many* m = self;
  (void)at;
  for (int i = 0; i < m->bodies; i++) {
    F[m->each * i] = 0.0;
    F[m->each * i + m->each - 1] = -gravity;
  }
}

static double height(const many* m, const double* q, int i) {
  return i < 0 ? 0.0 : q[m->each * i + m->each - 1];
}

static double hill_gap(const double* q, int i) {
  return q[2 * i + 1] - hill * sin(wave * q[2 * i]);
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const many* m = self;
  for (int i = 0; i < m->bodies; i++) {
    list->gap[i] = m->hills ? hill_gap(at->q, i)
                            : height(m, at->q, i) - (m->column ? height(m, at->q, i - 1) : 0.0);
  }
  return SALTUS_OK;
}

/* Of one ball alone. */
static void one_force(const void* self, const saltus_point* at, int count, const int* velocity,
                      double* F) {
  (void)self;
  (void)at;
  (void)velocity;
  for (int i = 0; i < count; i++) {
    F[i] = -gravity;
  }
}

static saltus_status one_gap(const void* self, const saltus_point* at, int count,
                             const uint64_t* identity, double* gap) {
  (void)self;
  for (int i = 0; i < count; i++) {
    gap[i] = at->q[identity[i]];
  }
  return SALTUS_OK;
}

static saltus_status some_gaps(const void* self, const saltus_point* at, int count,
                               const uint64_t* identity, double* gap) {
  (void)self;
  for (int i = 0; i < count; i++) {
    gap[i] = hill_gap(at->q, (int)identity[i]);
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  const many* m = self;
  bool below = m->column && key > 0;
  rows->width = below ? 2 * m->each : m->each;
  for (int k = 0; k < rows->width; k++) {
    rows->column[k] = m->each * (below ? key - 1 : key) + k;
  }
  for (int r = 0; r < rows->count; r++) { /* up, then along */
    double* G = rows->G + r * rows->stride;
    G[rows->width - 1 - r] = 1.0;
    if (below) {
      G[m->each - 1 - r] = -1.0;
    }
  }
  if (m->hills) {
    double x = at->q[2 * key];
    rows->G[0] = -hill * wave * cos(wave * x);
    if (rows->c != NULL) {
      rows->c[0] = hill * wave * wave * sin(wave * x) * at->v[2 * key] * at->v[2 * key];
    }
  }
}

static size_t no_bytes(const void* self) {
  (void)self;
  return 0;
}

static saltus_status assemble(const void* self, void* matrix, const saltus_point* at, double m,
                              double fv, double fq) {
  (void)self;
  (void)matrix;
  (void)at;
  (void)fv;
  (void)fq;
  return m == 1.0 ? SALTUS_OK : SALTUS_ERR_SINGULAR;
}

static void solve(const void* self, const void* matrix, double* x) {
  (void)self;
  (void)matrix;
  (void)x;
}

static void mass_times(const void* self, const saltus_point* at, const double* x, double* y) {
  const many* m = self;
  (void)at;
  memcpy(y, x, (size_t)m->system.dims.nv * sizeof(double));
}

static const saltus_linear_ops unit_mass = {.bytes = no_bytes,
                                            .assemble = assemble,
                                            .solve = solve,
                                            .mass_times = mass_times,
                                            .diagonal = true};

static bool open_many(many* m, int bodies, int each, bool column, double mu) {
  size_t n = (size_t)bodies;
  *m = (many){.bodies = bodies, .each = each, .column = column};
  m->ops = (saltus_system_ops){.mass = no_mass,
                               .force = force,
                               .contacts = contacts,
                               .contact = contact,
                               .linear = &unit_mass};
  m->laws = calloc(n, sizeof *m->laws);
  m->q = calloc(n * (size_t)each, sizeof(double));
  m->v = calloc(n * (size_t)each, sizeof(double));
  if (m->laws == NULL || m->q == NULL || m->v == NULL) {
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    m->laws[i] = (saltus_contact_law){.tangents = each - 1, .mu = mu, .e_N = restitution};
  }
  int nv = bodies * each;
  m->system = (saltus_system){
      .ops = &m->ops,
      .self = m,
      .dims = {.nq = nv, .nv = nv, .nc = bodies, .row_width = column ? 2 * each : each},
      .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,
      .laws = m->laws,
      .law_count = bodies};
  return true;
}

static void close_many(many* m) {
  free(m->laws);
  free(m->q);
  free(m->v);
}

/* ---- balls ----------------------------------------------------------------------------------- */

static const double t_end = 2.0;

/* Different heights in no order. */
static double drop_of(int i) {
  double golden = 0.6180339887498949 * (i + 1);
  return 0.5 + 0.5 * (golden - floor(golden));
}

/* Height at t_end of a ball dropped from there, and how many impacts it has had that throw it back higher
 * than `least`. */
static double ball_at_end(double drop, double least, int* impacts) {
  double t = sqrt(2.0 * drop / gravity);
  double u = gravity * t;
  *impacts = 0;
  double y = drop - 0.5 * gravity * t_end * t_end;
  while (t <= t_end && u * u > 2.0 * gravity * least) {
    u *= restitution;
    *impacts += 1;
    double past = t_end - t;
    y = past * (u - 0.5 * gravity * past);
    t += 2.0 * u / gravity;
  }
  return fmax(y, 0.0);
}

typedef struct outcome {
  double seconds;
  long long events, steps, jumps;
  double error; /* m */
  size_t bytes;
  bool failed;
} outcome;

static outcome run(const saltus_system* system, const double* q, const double* v, double until,
                   double tol) {
  outcome o = {0};
  usage u = {.inside = saltus_allocator_default()};
  const saltus_allocator allocator = {.alloc = count_alloc, .free = count_free, .user = &u};
  const saltus_integrator_def def = {.system = system,
                                     .q0 = q,
                                     .v0 = v,
                                     .rtol = tol,
                                     .atol = tol,
                                     .dense_steps = 1,
                                     .duration = until,
                                     .allocator = &allocator};
  saltus_integrator* it;
  o.failed = saltus_integrator_create(&def, &it) != SALTUS_OK;
  if (o.failed) {
    return o;
  }
  double start = bench_seconds();
  o.failed = saltus_integrator_advance(it, until, SALTUS_STOP_NEVER, NULL) != SALTUS_OK;
  o.seconds = bench_seconds() - start;
  saltus_integrator_cost cost = saltus_integrator_costs(it);
  o.steps = cost.tally->steps;
  o.jumps = cost.events[SALTUS_EVENT_ACCUMULATION];
  o.events = cost.events[SALTUS_EVENT_IMPACT];
  for (int i = 0; i < system->dims.nq; i++) {
    int impacts;
    double y = ball_at_end(drop_of(i), 0.0, &impacts);
    o.error = fmax(o.error, fabs(saltus_integrator_q(it)[i] - y));
  }
  saltus_integrator_destroy(it);
  o.bytes = u.most;
  return o;
}

static void print_balls(const char* kind, int n, const outcome* o, double* last) {
  double each = o->seconds / (double)o->steps;
  double exponent = *last > 0.0 ? log(each / *last) / log(2.0) : NAN;
  printf(
      "  %-10s %5d balls: %9.2f ms, %6lld impacts, %6lld steps, %8.2f us a step, exponent %5.2f, "
      "%6.2f MB, error %.1e%s\n",
      kind, n, 1e3 * o->seconds, o->events, o->steps, 1e6 * each, exponent, 1e-6 * (double)o->bytes,
      o->error, o->failed ? ", FAILED" : "");
  fflush(stdout);
  *last = each;
}

/* The same balls as formulas. */
static char* ball_scene(int n) {
  size_t room = 200 + 160 * (size_t)n;
  char* text = malloc(room);
  size_t used = 0;
  if (text == NULL) {
    return NULL;
  }
  used += (size_t)snprintf(text + used, room - used, "saltus: 1\ncoordinates: {");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sy%d: {start: %.17g}", i > 0 ? ", " : "",
                             i, drop_of(i));
  }
  used += (size_t)snprintf(text + used, room - used, "}\nkinetic: (");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sy%d'^2", i > 0 ? " + " : "", i);
  }
  used += (size_t)snprintf(text + used, room - used, ")/2\npotential: 9.81*(");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sy%d", i > 0 ? " + " : "", i);
  }
  used += (size_t)snprintf(text + used, room - used, ")\ncontacts:\n");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used,
                             "  - {name: c%d, gap: y%d, restitution: %g}\n", i, i, restitution);
  }
  return text;
}

static int run_balls(void) {
  const double tol = 1e-6;
  int failed = 0;
  double last = 0.0;
  for (int kind = 0; kind < 2; kind++) {
    last = 0.0;
    for (int n = 10; n <= 1280 && !failed; n *= 2) {
      many m;
      failed = !open_many(&m, n, 1, false, 0.0);
      m.ops.force_some = kind > 0 ? one_force : NULL;
      m.ops.gaps = kind > 0 ? one_gap : NULL;
      for (int i = 0; !failed && i < n; i++) {
        m.q[i] = drop_of(i);
      }
      if (!failed) {
        outcome o = run(&m.system, m.q, m.v, t_end, tol);
        print_balls(kind > 0 ? "one by one" : "callbacks", n, &o, &last);
        failed = o.failed;
      }
      close_many(&m);
    }
  }
  last = 0.0;
  for (int n = 10; n <= 320 && !failed; n *= 2) {
    char* text = ball_scene(n);
    saltus_scene* scene = NULL;
    const saltus_scene_def def = {.text = text, .path = "balls"};
    failed = text == NULL || saltus_scene_create(&def, &scene) != SALTUS_OK;
    if (!failed) {
      const saltus_scene_view* look = saltus_scene_get_view(scene);
      outcome o = run(look->system, look->q0, look->v0, t_end, tol);
      print_balls("formulas", n, &o, &last);
      failed = o.failed;
      saltus_scene_destroy(scene);
    }
    free(text);
  }
  return failed;
}

const bench bench_adaptive_balls = {
    .name = "adaptive-balls",
    .summary = "10 to 1280 balls apart from each other, to a tolerance of 1e-6: time per step",
    .run = run_balls,
};

/* ---- hills ------------------------------------------------------------------------------------- */

/* Balls that hop over hills: no gap is affine, and every impact is followed until 0.6 s. */
static outcome run_over_hills(int n, bool tells) {
  outcome o = {.failed = true};
  many m;
  if (open_many(&m, n, 2, false, 0.0)) {
    m.hills = true;
    m.ops.gaps = tells ? some_gaps : NULL;
    m.system.traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE;
    for (int i = 0; i < n; i++) {
      m.laws[i].tangents = 0;
      m.q[2 * i + 1] = drop_of(i);
      m.v[2 * i] = 0.3 * drop_of(i + n);
    }
    o = run(&m.system, m.q, m.v, 0.6, 1e-6);
  }
  close_many(&m);
  return o;
}

static char* hill_scene(int n) {
  size_t room = 200 + 300 * (size_t)n;
  char* text = malloc(room);
  size_t used = 0;
  if (text == NULL) {
    return NULL;
  }
  used += (size_t)snprintf(text + used, room - used, "saltus: 1\ncoordinates:\n");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used,
                             "  x%d: {start: 0, velocity: %.17g}\n  y%d: {start: %.17g}\n", i,
                             0.3 * drop_of(i + n), i, drop_of(i));
  }
  used += (size_t)snprintf(text + used, room - used, "kinetic: (");
  for (int i = 0; i < n; i++) {
    used +=
        (size_t)snprintf(text + used, room - used, "%sx%d'^2 + y%d'^2", i > 0 ? " + " : "", i, i);
  }
  used += (size_t)snprintf(text + used, room - used, ")/2\npotential: 9.81*(");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sy%d", i > 0 ? " + " : "", i);
  }
  used += (size_t)snprintf(text + used, room - used, ")\ncontacts:\n");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used,
                             "  - {name: c%d, gap: \"y%d - 0.05*sin(20*x%d)\", restitution: %g}\n",
                             i, i, i, restitution);
  }
  return text;
}

static void print_hills(const char* kind, int n, const outcome* o, double* last) {
  double each = o->seconds / (double)o->steps;
  printf("  %-24s %4d bodies: %9.2f ms, %5lld impacts, %5lld steps, %8.2f us a step, exponent "
         "%5.2f%s\n",
         kind, n, 1e3 * o->seconds, o->events, o->steps, 1e6 * each,
         *last > 0.0 ? log(each / *last) / log(2.0) : NAN, o->failed ? ", FAILED" : "");
  fflush(stdout);
  *last = each;
}

/* Pendulums: no contact, and forces that are no polynomials, so that each is checked for unresolved features between stages. */
static char* pendulum_scene(int n) {
  size_t room = 200 + 100 * (size_t)n;
  char* text = malloc(room);
  size_t used = 0;
  if (text == NULL) {
    return NULL;
  }
  used += (size_t)snprintf(text + used, room - used, "saltus: 1\ncoordinates: {");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sx%d: {start: %.17g}", i > 0 ? ", " : "",
                             i, drop_of(i));
  }
  used += (size_t)snprintf(text + used, room - used, "}\nkinetic: (");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%sx%d'^2", i > 0 ? " + " : "", i);
  }
  used += (size_t)snprintf(text + used, room - used, ")/2\npotential: -(");
  for (int i = 0; i < n; i++) {
    used += (size_t)snprintf(text + used, room - used, "%scos(x%d)", i > 0 ? " + " : "", i);
  }
  used += (size_t)snprintf(text + used, room - used, ")\n");
  return text;
}

static outcome run_text(char* text, double until, double tol) {
  outcome o = {.failed = true};
  saltus_scene* scene = NULL;
  const saltus_scene_def def = {.text = text, .path = "hills"};
  if (text != NULL && saltus_scene_create(&def, &scene) == SALTUS_OK) {
    const saltus_scene_view* look = saltus_scene_get_view(scene);
    o = run(look->system, look->q0, look->v0, until, tol);
    saltus_scene_destroy(scene);
  }
  free(text);
  return o;
}

static int run_hills(void) {
  static const char* const kinds[] = {"callbacks", "callbacks with gaps", "formulas",
                                      "pendulums by formulas"};
  int failed = 0;
  for (int kind = 0; kind < 4; kind++) {
    double last = 0.0;
    for (int n = 10; n <= 320 && !failed; n *= 2) {
      outcome o = kind < 2    ? run_over_hills(n, kind == 1)
                  : kind == 2 ? run_text(hill_scene(n), 0.6, 1e-6)
                              : run_text(pendulum_scene(n), 5.0, 1e-8);
      print_hills(kinds[kind], n, &o, &last);
      failed = o.failed;
    }
  }
  return failed;
}

const bench bench_adaptive_hills = {
    .name = "adaptive-hills",
    .summary = "10 to 320 balls over hills of their own, and pendulums: time per step",
    .run = run_hills,
};

/* ---- contacts with friction ------------------------------------------------------------------ */

static int run_contacts(bool column, int n) {
  many m;
  if (!open_many(&m, n, 2, column, 0.3)) {
    close_many(&m);
    return 1;
  }
  for (int i = 0; i < n; i++) { /* a column that is shorter at the top, sliders that stop */
    m.v[2 * i] = column ? 0.0 : 0.1 + 0.9 * (drop_of(i) - 0.5);
  }
  outcome o = run(&m.system, m.q, m.v, 0.01, 1e-6);
  printf("  %-8s %5d planar contacts with friction: %8.2f MB, %8.2f ms for 0.01 s, %lld steps%s\n",
         column ? "column" : "sliders", n, 1e-6 * (double)o.bytes, 1e3 * o.seconds, o.steps,
         o.failed ? ", FAILED" : "");
  fflush(stdout);
  close_many(&m);
  return o.failed;
}

static int run_memory(void) {
  int failed = 0;
  for (int n = 10; n <= 1000; n *= 10) {
    failed |= run_contacts(false, n);
    failed |= run_contacts(true, n);
  }
  return failed;
}

const bench bench_adaptive_memory = {
    .name = "adaptive-memory",
    .summary = "memory of up to 1000 planar contacts with friction, apart and in one column",
    .run = run_memory,
};
