/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction laws beyond Coulomb's in integration to a tolerance (docs/theory/laws.md, 3; docs/theory/problems.md, 12).
 * The numbers are closed forms, or were computed by two integrators to the digits given.
 */
#include "saltus_test.h"

enum { X, Y, Z, TURN, COORDINATES };

/* A puck on a plane that may run: mass 1, pressed by `weight`, held by a spring, pulled up by lift t. */
typedef struct puck {
  saltus_contact_law law;
  saltus_friction_law friction;
  double weight, spring, belt, lift, inertia;
} puck;

static void puck_mass(const void* self, const saltus_point* at, double* M) {
  const puck* p = self;
  (void)at;
  memset(M, 0, COORDINATES * COORDINATES * sizeof(double));
  for (int i = 0; i < COORDINATES; i++) {
    M[i * (COORDINATES + 1)] = i == TURN ? p->inertia : 1.0;
  }
}

static void puck_force(const void* self, const saltus_point* at, double* F) {
  const puck* p = self;
  F[X] = -p->spring * at->q[X];
  F[Y] = 0.0;
  F[Z] = -p->weight + p->lift * at->t;
  F[TURN] = 0.0;
}

static double puck_potential(const void* self, const saltus_point* at) {
  const puck* p = self;
  return 0.5 * p->spring * at->q[X] * at->q[X] + (p->weight - p->lift * at->t) * at->q[Z];
}

static saltus_status puck_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  (void)self;
  list->gap[0] = at->q[Z];
  return SALTUS_OK;
}

/* Normal, slip along x, across for two tangents, spin. */
static void puck_contact(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_rows* rows) {
  const puck* p = self;
  (void)at;
  (void)identity;
  for (int k = 0; k < rows->count; k++) {
    int along = k == 0 ? Z : k == 1 ? X : k == 2 && p->law.tangents == 2 ? Y : TURN;
    rows->G[(size_t)k * (size_t)rows->stride + (size_t)along] = 1.0;
  }
  if (rows->count > 1) {
    rows->b[1] = -p->belt;
  }
}

static const saltus_system_ops puck_ops = {.mass = puck_mass,
                                           .force = puck_force,
                                           .potential = puck_potential,
                                           .contacts = puck_contacts,
                                           .contact = puck_contact};

enum { KEPT = 64 };

/* Where and when a pendulum turned, or came to rest: its steps end there. */
typedef struct swings {
  int count;
  double w, t[16], angle[16];
} swings;

typedef struct outcome {
  int count;
  saltus_event event[KEPT];
  double q[6], v[6];
  saltus_energy energy;
  swings swings; /* of the first coordinate */
} outcome;

static saltus_status keep_event(void* user, const saltus_event* event) {
  outcome* out = user;
  if (out->count < KEPT) {
    out->event[out->count++] = *event;
  }
  return SALTUS_OK;
}

static saltus_status keep_turn(void* user, double t, const double* q, const double* v) {
  swings* s = &((outcome*)user)->swings;
  if (s->w * v[0] < 0.0 || (v[0] == 0.0 && s->w != 0.0)) {
    s->t[s->count % 16] = t;
    s->angle[s->count++ % 16] = q[0];
  }
  s->w = v[0];
  return SALTUS_OK;
}

static outcome run_system(const saltus_system* system, double tol, const double* q0,
                          const double* v0, double until) {
  saltus_kept_message kept;
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  outcome out = {.count = 0};
  const saltus_recorder recorder = {.event = keep_event, .step = keep_turn, .user = &out};
  const saltus_sim_def def = {.system = system,
                              .scheme = "adaptive",
                              .options = &options,
                              .q0 = q0,
                              .v0 = v0,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .log = saltus_log_keep(&kept)};
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  if (saltus_sim_run_until(sim, until) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  memcpy(out.q, saltus_sim_q(sim), (size_t)system->dims.nq * sizeof(double));
  memcpy(out.v, saltus_sim_v(sim), (size_t)system->dims.nv * sizeof(double));
  out.energy = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  return out;
}

static outcome run(puck* p, double tol, const double* v0, double until) {
  p->law.friction = &p->friction;
  p->inertia = p->inertia > 0.0 ? p->inertia : 1.0;
  const saltus_system system = {.ops = &puck_ops,
                                .self = p,
                                .dims = {.nq = COORDINATES, .nv = COORDINATES, .nc = 1},
                                .traits = SALTUS_CONSTANT_MASS,
                                .laws = &p->law,
                                .law_count = 1};
  const double q0[COORDINATES] = {0.0};
  return run_system(&system, tol, q0, v0, until);
}

static double kept_time(const outcome* out, saltus_event_kind kind, int n) {
  for (int i = 0; i < out->count; i++) {
    if (out->event[i].kind == kind && n-- == 0) {
      return out->event[i].t;
    }
  }
  fail_msg("event %s is missing", saltus_event_kind_name(kind));
  return NAN;
}

static double hyperbola(const void* self, double speed, double* slope) {
  (void)self;
  double f = 1.0 / (1.0 + 3.0 * speed);
  if (slope != NULL) {
    *slope = -3.0 * f * f;
  }
  return f;
}

/* Mass and spring 1, belt 0.2, friction 1 at rest: periods of stick and slip. Begun in space it needs a direction and has
 * two tangents for the same motion. */
static void a_block_on_a_belt_has_its_period(void** state) {
  (void)state;
  static const saltus_own_curve own = {.name = "hyperbola", .coefficient = hyperbola};
  const struct {
    saltus_friction_law law;
    double period, slip, x; /* where it sticks again */
  } cases[] = {
      {{.curve = SALTUS_CURVE_KINETIC, .kinetic = 0.6},
       8.06888787159,
       8.06888787159 - 4.0, /* 2 (pi - atan 2) + 2 D / v, the second part at rest */
       0.2},
      {{.curve = SALTUS_CURVE_OWN, .own = &own}, 12.0010312948, 4.29599952548, -0.54100635387},
      {{.curve = SALTUS_CURVE_STRIBECK, .kinetic = 0.5, .speed = 0.1},
       9.65102047789,
       4.20599727114,
       -0.0890046413513}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (int tangents = 1; tangents <= 2; tangents++) {
      for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-1) {
        puck p = {.law = {.tangents = tangents, .mu = 1.0},
                  .friction = cases[k].law,
                  .weight = 1.0,
                  .spring = 1.0,
                  .belt = 0.2};
        const double v0[COORDINATES] = {0.2};
        outcome out = run(&p, tol, v0, 40.0);
        double first = kept_time(&out, SALTUS_EVENT_SLIP, 0);
        assert_near(first, 5.0, tol);
        double period = kept_time(&out, SALTUS_EVENT_SLIP, 1) - first;
        double slip = kept_time(&out, SALTUS_EVENT_STICK, 0) - first;
        assert_near(period, cases[k].period, 10.0 * tol + 1e-11);
        assert_near(slip, cases[k].slip, 10.0 * tol + 1e-11);
        assert_near(kept_time(&out, SALTUS_EVENT_SLIP, 2) - first, 2.0 * cases[k].period,
                    20.0 * tol + 2e-11);
        assert_near(out.energy.remainder, 0.0, 10.0 * tol);
        assert_true(out.energy.friction < -0.1 && out.energy.drive > 0.1);
        outcome stuck = run(&p, tol, v0, 5.0 + cases[k].slip);
        assert_near(stuck.q[X], cases[k].x, 10.0 * tol + 1e-11);
      }
    }
  }
}

/* (m/c) ln(1 + c v / (mu m g)); the power of viscous friction is friction's in the ledger. */
static void viscous_friction_is_beside_the_dry_part(void** state) {
  (void)state;
  for (int tangents = 1; tangents <= 2; tangents++) {
    for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
      puck p = {
          .law = {.tangents = tangents, .mu = 0.2}, .friction = {.viscous = 0.5}, .weight = 9.81};
      const double v0[COORDINATES] = {2.0};
      outcome out = run(&p, tol, v0, 1.0);
      assert_int_equal(out.count, 1);
      assert_near(kept_time(&out, SALTUS_EVENT_STICK, 0), 0.823800709405, 10.0 * tol + 1e-12);
      assert_near(out.q[X], 0.767406016295, 10.0 * tol + 1e-12);
      assert_near(out.energy.friction, -2.0, 10.0 * tol);
      assert_near(out.energy.remainder, 0.0, 10.0 * tol);
    }
  }
}

/* Sticks by one ellipse, slides by another: against the slip it goes straight on. The associated one is a circle after
 * its rows are scaled; both begin with (1, 1) m/s. */
static void an_elliptic_cone_bends_the_path(void** state) {
  (void)state;
  const double across = 0.4 / sqrt(2.0);
  const struct {
    double sliding[2];
    double time, x, y;
  } cases[] = {
      {{0.0, 0.0}, 0.458168396733, 0.176816272922, 0.252049595055},
      {{0.4, across}, 0.458168396733, 0.176816272922, 0.252049595055},
      {{1.0, 1.0}, 0.441399288371, 0.312116430018 / sqrt(2.0), 0.312116430018 / sqrt(2.0)}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
      puck p = {.law = {.tangents = 2, .mu = 0.4}, .friction = {.across = across}, .weight = 9.81};
      memcpy(p.friction.sliding, cases[k].sliding, sizeof p.friction.sliding);
      const double v0[COORDINATES] = {1.0, 1.0};
      outcome out = run(&p, tol, v0, 1.0);
      assert_int_equal(out.count, 1);
      assert_near(kept_time(&out, SALTUS_EVENT_STICK, 0), cases[k].time, 10.0 * tol + 1e-11);
      assert_near(out.q[X], cases[k].x, 10.0 * tol + 1e-11);
      assert_near(out.q[Y], cases[k].y, 10.0 * tol + 1e-11);
      assert_near(out.energy.friction, -1.0, 10.0 * tol);
      assert_near(out.energy.remainder, 0.0, 10.0 * tol);
    }
  }
}

/* Pulled up by 5 t: a bond of 4 N lets go at (g + 4) / 5, and what hit the floor is bonded only where touching restores
 * the bond. */
static void a_bond_holds_what_it_can(void** state) {
  (void)state;
  for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
    puck p = {.law = {.tangents = 1, .mu = 0.5},
              .friction = {.adhesion = 4.0},
              .weight = 9.81,
              .lift = 5.0,
              .spring = 0.0};
    const double v0[COORDINATES] = {0.0};
    outcome out = run(&p, tol, v0, 3.0);
    assert_int_equal(out.count, 1);
    double t = kept_time(&out, SALTUS_EVENT_OPEN, 0);
    assert_near(t, 2.762, 10.0 * tol);
    double s = 3.0 - 2.762; /* it leaves with the force of the bond at once */
    assert_near(out.q[Z], 2.0 * s * s + 5.0 / 6.0 * s * s * s, 10.0 * tol);
    assert_near(out.energy.remainder, 0.0, 10.0 * tol);
  }
}

/* Friction holds mu (l_N + C): a bonded block slides from 0.5 (1 + 4) N on a spring that is stretched by a belt. */
static void a_bond_adds_to_the_bound_of_friction(void** state) {
  (void)state;
  puck p = {.law = {.tangents = 1, .mu = 0.5},
            .friction = {.adhesion = 4.0},
            .weight = 1.0,
            .spring = 1.0,
            .belt = 0.5};
  const double v0[COORDINATES] = {0.5};
  outcome out = run(&p, 1e-8, v0, 6.0);
  assert_near(kept_time(&out, SALTUS_EVENT_SLIP, 0), 5.0, 1e-7);
}

/* J = m a^2 / 2, uniform pressure: slip and spin end together, times in v / (mu g), distances in v^2 / (mu g). */
static void a_disc_stops_sliding_and_spinning_together(void** state) {
  (void)state;
  static const struct {
    double ratio, time, distance;
  } cases[] = {{0.25, 3.24220349944, 1.78343505232},
               {0.5, 1.90322012681, 0.983497900679},
               {1.0, 1.34029828212, 0.637397224133},
               {2.0, 1.12168528545, 0.532356267511},
               {8.0, 1.0127715843, 0.501960657871}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
      puck p = {.law = {.tangents = 2, .mu = 0.5},
                .friction = {.patch = SALTUS_PATCH_UNIFORM, .radius = 1.0},
                .weight = 2.0,
                .inertia = 0.5};
      const double v0[COORDINATES] = {1.0, 0.0, 0.0, 1.0 / cases[k].ratio};
      outcome out = run(&p, tol, v0, 4.0);
      assert_int_equal(out.count, 1); /* one status of both */
      assert_near(kept_time(&out, SALTUS_EVENT_STICK, 0), cases[k].time, 10.0 * tol + 1e-10);
      assert_near(out.q[X], cases[k].distance, 10.0 * tol + 1e-10);
      assert_true(out.v[X] == 0.0 && out.v[TURN] == 0.0);
      assert_near(out.energy.friction, -0.5 * (1.0 + 0.5 * v0[TURN] * v0[TURN]), 10.0 * tol);
      assert_near(out.energy.remainder, 0.0, 10.0 * tol);
    }
  }
}

/* A sphere that is thrown along a plane with 1 m/s: in the plane (x, z, w), and in space (x, y, z, w_x, w_y, w_z). */
typedef struct ball {
  saltus_contact_law law;
  saltus_friction_law friction;
  double heading;
} ball;

static const double radius = 0.05;
static const double gravity = 9.81;

static void ball_mass(const void* self, const saltus_point* at, double* M) {
  const ball* b = self;
  (void)at;
  int n = b->law.tangents == 1 ? 3 : 6;
  memset(M, 0, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < n; i++) {
    bool turns = i >= (n == 3 ? 2 : 3);
    M[i * (n + 1)] = turns ? 0.4 * radius * radius : 1.0;
  }
}

static void ball_force(const void* self, const saltus_point* at, double* F) {
  const ball* b = self;
  (void)at;
  int n = b->law.tangents == 1 ? 3 : 6;
  memset(F, 0, (size_t)n * sizeof(double));
  F[n == 3 ? 1 : 2] = -gravity;
}

static saltus_status ball_contacts(const void* self, const saltus_point* at,
                                   saltus_contact_list* list) {
  const ball* b = self;
  list->gap[0] = at->q[b->law.tangents == 1 ? 1 : 2];
  return SALTUS_OK;
}

/* Normal, slip, rolling, spin. */
static void ball_contact(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_rows* rows) {
  const ball* b = self;
  (void)at;
  (void)identity;
  static const double plane[3][3] = {{0, 1, 0}, {1, 0, 0.05}, {0, 0, 1}};
  static const double space[6][6] = {{0, 0, 1, 0, 0, 0},    {1, 0, 0, 0, -0.05, 0},
                                     {0, 1, 0, 0.05, 0, 0}, {0, 0, 0, 1, 0, 0},
                                     {0, 0, 0, 0, 1, 0},    {0, 0, 0, 0, 0, 1}};
  int n = b->law.tangents == 1 ? 3 : 6;
  for (int k = 0; k < rows->count; k++) {
    memcpy(rows->G + (size_t)k * (size_t)rows->stride, n == 3 ? plane[k] : space[k],
           (size_t)n * sizeof(double));
  }
}

static const saltus_system_ops ball_ops = {
    .mass = ball_mass, .force = ball_force, .contacts = ball_contacts, .contact = ball_contact};

/* It rolls at 0.1073 s with 13/19 m/s and stops at 2.548 s (closed form); in space in any direction, and drilling
 * friction stops its spin beside it, at 0.4 R^2 w / (sigma g). */
static void a_sphere_slides_rolls_and_stops(void** state) {
  (void)state;
  for (int tangents = 1; tangents <= 2; tangents++) {
    for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
      ball b = {.law = {.tangents = tangents, .mu = 0.3}, .friction = {.rolling = 0.002}};
      b.friction.drilling = tangents == 2 ? 1e-4 : 0.0;
      b.law.friction = &b.friction;
      int n = tangents == 1 ? 3 : 6;
      const saltus_system system = {.ops = &ball_ops,
                                    .self = &b,
                                    .dims = {.nq = n, .nv = n, .nc = 1},
                                    .traits = SALTUS_CONSTANT_MASS,
                                    .laws = &b.law,
                                    .law_count = 1};
      const double q0[6] = {0.0};
      const double v0[6] = {tangents == 1 ? 1.0 : 0.6, tangents == 1 ? 0.0 : 0.8, 0.0, 0.0, 0.0,
                            tangents == 1 ? 0.0 : 1.0};
      outcome out = run_system(&system, tol, q0, v0, 3.0);
      double far = tangents == 1 ? out.q[0] : hypot(out.q[0], out.q[1]);
      bool drills = tangents == 2;
      assert_int_equal(out.count, drills ? 3 : 2);
      assert_near(kept_time(&out, SALTUS_EVENT_STICK, 0), 0.107301893878, 10.0 * tol + 1e-11);
      assert_near(kept_time(&out, SALTUS_EVENT_STICK, drills ? 2 : 1), 2.54841997961,
                  10.0 * tol + 1e-11);
      if (drills) {
        assert_near(kept_time(&out, SALTUS_EVENT_STICK, 1),
                    0.4 * radius * radius / (b.friction.drilling * gravity), 10.0 * tol);
        assert_near(out.q[0] * 0.8, out.q[1] * 0.6, tol);
      }
      assert_near(far, 0.925478834701, 10.0 * tol + 1e-11);
      outcome rolls = run_system(&system, tol, q0, v0, 0.107301893878);
      double speed = tangents == 1 ? rolls.v[0] : hypot(rolls.v[0], rolls.v[1]);
      assert_near(speed, 13.0 / 19.0, 10.0 * tol + 1e-11);
      /* it rolls with 5 rho g / (7 R) against it */
      rolls = run_system(&system, tol, q0, v0, 1.107301893878);
      speed = tangents == 1 ? rolls.v[0] : hypot(rolls.v[0], rolls.v[1]);
      assert_near(speed, 13.0 / 19.0 - 5.0 * 0.002 * gravity / (7.0 * radius), 10.0 * tol + 1e-11);
      assert_near(out.energy.friction, drills ? -0.5 - 0.2 * radius * radius : -0.5, 10.0 * tol);
      assert_near(out.energy.remainder, 0.0, 10.0 * tol);
    }
  }
}

/* It falls from 0.3 m, turning backwards, bounces, slides, rolls and rests: all energy is in impacts and friction, and what
 * rolling friction takes in impacts is among it. */
static void a_sphere_that_bounces_accounts_for_its_energy(void** state) {
  (void)state;
  double before = NAN;
  for (double tol = 1e-4; tol > 0.9e-8; tol *= 1e-2) {
    ball b = {.law = {.tangents = 1, .mu = 0.3, .e_N = 0.4},
              .friction = {.rolling = 0.004, .curve = SALTUS_CURVE_KINETIC, .kinetic = 0.2}};
    b.law.friction = &b.friction;
    const saltus_system system = {.ops = &ball_ops,
                                  .self = &b,
                                  .dims = {.nq = 3, .nv = 3, .nc = 1},
                                  .traits = SALTUS_CONSTANT_MASS,
                                  .laws = &b.law,
                                  .law_count = 1};
    const double q0[3] = {0.0, 0.3, 0.0};
    const double v0[3] = {1.0, 0.0, 10.0};
    outcome out = run_system(&system, tol, q0, v0, 2.0);
    assert_near(out.v[0], 0.0, 1e-15);
    assert_near(out.energy.impact, -0.3 * gravity, 10.0 * tol);
    assert_near(out.energy.friction, -0.5 - 0.2 * radius * radius * 100.0, 10.0 * tol);
    assert_true(isnan(before) || fabs(out.q[0] - before) <= 1e3 * tol); /* of the one before */
    before = out.q[0];
  }
}

/* m = l = 1, 1 N m in the pin, from rest at 2 rad. */
static void pendulum_mass(const void* self, const saltus_point* at, double* M) {
  (void)self;
  (void)at;
  M[0] = 1.0;
}

static void pendulum_force(const void* self, const saltus_point* at, double* F) {
  (void)self;
  F[0] = -gravity * sin(at->q[0]);
}

static void pendulum_dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  (void)self;
  (void)at;
  (void)i;
  rows->G[0] = 1.0;
}

static double pendulum_potential(const void* self, const saltus_point* at) {
  (void)self;
  return -gravity * cos(at->q[0]);
}

/* Half-way turns and where it rests: roots of the energy. */
static const double turns[] = {-1.61813930684, 1.31625880878, -1.05470295493};

static void a_pendulum_with_a_dry_pin_comes_to_rest(void** state) {
  (void)state;
  static const saltus_system_ops ops = {.mass = pendulum_mass,
                                        .force = pendulum_force,
                                        .dry = pendulum_dry,
                                        .potential = pendulum_potential};
  const saltus_dry_friction dry = {.name = "pin", .force = 1.0};
  for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-2) {
    const saltus_system system = {.ops = &ops,
                                  .dims = {.nq = 1, .nv = 1},
                                  .traits = SALTUS_CONSTANT_MASS,
                                  .dry = &dry,
                                  .dry_count = 1};
    const double q0 = 2.0;
    const double v0 = 0.0;
    outcome turn = run_system(&system, tol, &q0, &v0, 1.27472206369);
    outcome out = run_system(&system, tol, &q0, &v0, 20.0);
    assert_near(turn.q[0], -1.61813930684, 10.0 * tol);
    assert_near(out.q[0], -0.0290843317121, 10.0 * tol);
    assert_true(out.v[0] == 0.0);
    assert_int_equal(out.swings.count, 8);
    assert_near(out.swings.t[0], 1.27472206369, 10.0 * tol);
    for (int k = 0; k < 3; k++) {
      assert_near(out.swings.angle[k], turns[k], 10.0 * tol);
    }
    assert_near(out.energy.remainder, 0.0, 100.0 * tol); /* of 14 J */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_on_a_belt_has_its_period),
      cmocka_unit_test(viscous_friction_is_beside_the_dry_part),
      cmocka_unit_test(an_elliptic_cone_bends_the_path),
      cmocka_unit_test(a_bond_holds_what_it_can),
      cmocka_unit_test(a_bond_adds_to_the_bound_of_friction),
      cmocka_unit_test(a_disc_stops_sliding_and_spinning_together),
      cmocka_unit_test(a_sphere_slides_rolls_and_stops),
      cmocka_unit_test(a_sphere_that_bounces_accounts_for_its_energy),
      cmocka_unit_test(a_pendulum_with_a_dry_pin_comes_to_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
