/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Friction laws beyond Coulomb's in integration to a tolerance (methods: impact and friction laws, sections 3 and 7). The
 * numbers are closed forms, or were computed by two integrators to the digits given.
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

typedef struct outcome {
  int count;
  saltus_event event[KEPT];
  double q[COORDINATES], v[COORDINATES];
  saltus_energy energy;
} outcome;

static saltus_status keep_event(void* user, const saltus_event* event) {
  outcome* out = user;
  if (out->count < KEPT) {
    out->event[out->count++] = *event;
  }
  return SALTUS_OK;
}

static outcome run(puck* p, const char* scheme, double tol, const double* v0, double until) {
  p->law.friction = &p->friction;
  p->inertia = p->inertia > 0.0 ? p->inertia : 1.0;
  const saltus_system system = {.ops = &puck_ops,
                                .self = p,
                                .dims = {.nq = COORDINATES, .nv = COORDINATES, .nc = 1},
                                .traits = SALTUS_CONSTANT_MASS,
                                .laws = &p->law,
                                .law_count = 1};
  saltus_kept_message kept;
  saltus_adaptive_options options = saltus_adaptive_options_default();
  options.rtol = options.atol = tol;
  outcome out = {.count = 0};
  const saltus_recorder recorder = {.event = keep_event, .user = &out};
  const double q0[COORDINATES] = {0.0};
  const saltus_sim_def def = {.system = &system,
                              .scheme = scheme,
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
  memcpy(out.q, saltus_sim_q(sim), sizeof out.q);
  memcpy(out.v, saltus_sim_v(sim), sizeof out.v);
  out.energy = saltus_sim_energy_total(sim);
  saltus_sim_destroy(sim);
  return out;
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
    double period, slip;
  } cases[] = {{{.curve = SALTUS_CURVE_KINETIC, .kinetic = 0.6},
                8.06888787159,
                8.06888787159 - 4.0}, /* 2 (pi - atan 2) + 2 D / v, the second part at rest */
               {{.curve = SALTUS_CURVE_OWN, .own = &own}, 12.0010312948, 4.29599952548},
               {{.curve = SALTUS_CURVE_STRIBECK, .kinetic = 0.5, .speed = 0.1},
                9.65102047789,
                4.20599727114}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    for (int tangents = 1; tangents <= 2; tangents++) {
      for (double tol = 1e-4; tol > 0.9e-10; tol *= 1e-1) {
        puck p = {.law = {.tangents = tangents, .mu = 1.0},
                  .friction = cases[k].law,
                  .weight = 1.0,
                  .spring = 1.0,
                  .belt = 0.2};
        const double v0[COORDINATES] = {0.2};
        outcome out = run(&p, "adaptive", tol, v0, 40.0);
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
      outcome out = run(&p, "adaptive", tol, v0, 1.0);
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
      outcome out = run(&p, "adaptive", tol, v0, 1.0);
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
    outcome out = run(&p, "adaptive", tol, v0, 3.0);
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
  outcome out = run(&p, "adaptive", 1e-8, v0, 6.0);
  assert_near(kept_time(&out, SALTUS_EVENT_SLIP, 0), 5.0, 1e-7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_on_a_belt_has_its_period),
      cmocka_unit_test(viscous_friction_is_beside_the_dry_part),
      cmocka_unit_test(an_elliptic_cone_bends_the_path),
      cmocka_unit_test(a_bond_holds_what_it_can),
      cmocka_unit_test(a_bond_adds_to_the_bound_of_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
