/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Contact problems start from the impulses of the last accepted step: what that saves, and that nothing
 * else depends on it. The pile is that of the benchmarks: spheres in a box that lie still, with more
 * contacts than they need.
 */
#include "saltus_test.h"

#include "../../bench/pile.h"

#include <stdlib.h>

static const double h = 0.005; /* s */

/* 18 spheres on their places; 74 of 86 contacts are closed. */
static void make_pile(double mu, pile* p) {
  pile_def def = pile_def_default(3, 3, 2);
  def.mu = mu;
  def.spread = 0.0;
  assert_true(pile_create(&def, p));
}

static saltus_scheme* make_scheme(const char* name, const char* warm_start,
                                  const saltus_system* sys) {
  const saltus_scheme_info* info = saltus_scheme_find(name);
  assert_non_null(info);
  _Alignas(SALTUS_ALIGNMENT) char options[256];
  assert_true(info->options.size <= sizeof options);
  saltus_options_defaults(&info->options, options);
  const saltus_log none = {0};
  assert_int_equal(
      saltus_options_set(&info->options, options, name, "warm_start", warm_start, none), SALTUS_OK);
  const saltus_scheme_def def = {.scheme = name, .options = options, .system = sys};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

static double largest(int n, const double* x) {
  double size = 0.0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(x[i]));
  }
  return size;
}

/* What the floor gives in a step, and how far the law is missed, from the report of the last one. */
typedef struct stay {
  double support;  /* N s, upwards */
  double residual; /* m/s */
  double moved;    /* m */
  double speed;    /* m/s, at the end */
  int impacts;     /* contacts that were reported as such */
  long long iterations;
} stay;

/* 30 steps of a pile that lies still; iterations without those of the first step, which is cold. */
static stay lie_still(const char* scheme_name, double mu, const char* warm_start) {
  enum { STEPS = 30 };
  pile p;
  make_pile(mu, &p);
  size_t n = (size_t)p.system.dims.nq;
  double* start = malloc(n * sizeof(double));
  memcpy(start, p.q, n * sizeof(double));
  saltus_scheme* scheme = make_scheme(scheme_name, warm_start, &p.system);
  saltus_state x = {0.0, p.q, p.v};
  saltus_step_report report;
  stay result = {0};
  long long first = 0;
  for (int k = 0; k < STEPS; k++) {
    assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
    first = k == 0 ? saltus_scheme_work(scheme).contact_iterations : first;
    result.residual = fmax(result.residual, report.residual_velocity);
    for (int i = 0; i < report.active; i++) {
      result.impacts += report.contacts[i].impact;
    }
  }
  result.speed = largest(p.system.dims.nv, p.v);
  result.iterations = saltus_scheme_work(scheme).contact_iterations - first;
  for (int i = 0; i < report.active; i++) {
    const pile_contact* c = &p.list[report.contacts[i].key];
    result.support += c->first < 0 && c->normal[2] > 0.0 ? report.contacts[i].impulse[0] : 0.0;
  }
  for (size_t i = 0; i < n; i++) {
    result.moved = fmax(result.moved, fabs(p.q[i] - start[i]));
  }
  saltus_scheme_destroy(scheme);
  free(start);
  pile_free(&p);
  return result;
}

/* Factors measured: with friction 40 times fewer for the three Moreau schemes, 14 and 14 for the
 * other two; without friction 6, 6, 5, 5, 28 and 2. The law holds to the solvers' 1e-10 of h g in
 * every step, warm or cold, and the floor carries the part of the weight that walls do not. */
static void a_pile_at_rest_needs_fewer_iterations(void** state) {
  (void)state;
  const struct {
    const char* scheme;
    double mu;
    int factor;
  } cases[] = {
      {"moreau-jean", 0.4, 20},
      {"moreau-jean", 0.0, 4},
      {"moreau-jean-projected", 0.4, 20},
      {"moreau-jean-projected", 0.0, 4},
      {"moreau-midpoint", 0.4, 20},
      {"moreau-midpoint", 0.0, 3},
      {"variational", 0.4, 8},
      {"variational", 0.0, 3},
      {"schatzman-paoli", 0.4, 6},
      {"rattle", 0.0, 10},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    stay cold = lie_still(cases[k].scheme, cases[k].mu, "no");
    stay warm = lie_still(cases[k].scheme, cases[k].mu, "yes");
    if (!(warm.iterations * cases[k].factor <= cold.iterations)) {
      print_error("%s, mu = %g: %lld iterations warm, %lld cold\n", cases[k].scheme, cases[k].mu,
                  warm.iterations, cold.iterations);
      fail();
    }
    assert_true(cold.residual <= 1e-10 * 9.81 * h && warm.residual <= 1e-10 * 9.81 * h);
    assert_near(fmax(warm.speed, cold.speed), 0.0, 1e-11);
    assert_int_equal(warm.impacts + cold.impacts, 0); /* not at the walls either */
    assert_near(warm.moved, 0.0, 1e-11);
    assert_near(cold.moved, 0.0, 1e-11);
    if (cases[k].mu == 0.0) { /* walls carry nothing: the whole weight is on the floor */
      assert_near(warm.support, 18.0 * 9.81 * h, 1e-9);
      assert_near(cold.support, warm.support, 1e-9);
    }
  }
}

/* M (v1 - v0) - h F - G P of the last step, largest entry, from its report alone; N s. */
static double unbalanced(const pile* p, const double* q, const double* dv,
                         const saltus_step_report* report) {
  int n = p->system.dims.nv;
  double* rest = malloc(2 * (size_t)n * sizeof(double));
  double* force = rest + n;
  const saltus_point at = {.q = q, .v = dv};
  p->system.ops->linear->mass_times(p, &at, dv, rest);
  p->system.ops->force(p, &at, force);
  for (int i = 0; i < n; i++) {
    rest[i] -= h * force[i];
  }
  for (int k = 0; k < report->active; k++) {
    const saltus_contact_step* c = &report->contacts[k];
    double G[36] = {0};
    double b[3] = {0};
    int column[12];
    saltus_rows rows = {.count = 3, .width = 12, .stride = 12, .column = column, .G = G, .b = b};
    p->system.ops->contact(p, &at, (uint64_t)c->key, &rows);
    for (int e = 0; e < 3 * rows.width; e++) {
      int r = e / rows.width;
      rest[column[e % rows.width]] -= c->impulse[r] * G[12 * r + e % rows.width];
    }
  }
  double worst = largest(n, rest);
  free(rest);
  return worst;
}

/* 18 spheres of different size fall 2 cm, roll and settle: every one of the some thousand problems
 * with up to 41 contacts is solved, and all comes to rest to rounding. Sweeps alone do not get there:
 * some problems need Newton's method or the interior point. */
static void a_pile_settles(const char* warm_start) {
  pile_def def = pile_def_default(3, 3, 2);
  pile p;
  assert_true(pile_create(&def, &p));
  int n = p.system.dims.nv;
  double* before = malloc(2 * (size_t)n * sizeof(double));
  double* middle = before + n;
  saltus_scheme* scheme = make_scheme("moreau-jean", warm_start, &p.system);
  saltus_state x = {0.0, p.q, p.v};
  saltus_step_report report;
  for (int k = 0; k < 400; k++) {
    memcpy(before, p.v, (size_t)n * sizeof(double));
    memcpy(middle, p.q, (size_t)n * sizeof(double));
    assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
    assert_true(report.residual_velocity <= 1e-10);
    for (int i = 0; i < n; i++) { /* rows are those of the middle of the step */
      middle[i] = 0.5 * (middle[i] + p.q[i]);
      before[i] = p.v[i] - before[i];
    }
    assert_near(unbalanced(&p, middle, before, &report), 0.0, 1e-11);
    for (int i = 0; i < report.active; i++) {
      const double* P = report.contacts[i].impulse;
      assert_true(hypot(P[1], P[2]) <= def.mu * P[0] * (1.0 + 1e-12));
    }
  }
  assert_near(largest(n, p.v), 0.0, 1e-13);
  saltus_scheme_destroy(scheme);
  free(before);
  pile_free(&p);
}

static void a_pile_settles_from_either_start(void** state) {
  (void)state;
  a_pile_settles("yes");
  a_pile_settles("no");
}

/* Many more contacts than a dense W has room for: blocks of contacts that share a body are enough. */
static void a_large_pile_lies_still(void** state) {
  (void)state;
  pile_def def = pile_def_default(7, 7, 6);
  def.spread = 0.0;
  pile p;
  assert_true(pile_create(&def, &p));
  saltus_scheme* scheme = make_scheme("moreau-jean", "yes", &p.system);
  saltus_state x = {0.0, p.q, p.v};
  saltus_step_report report;
  for (int k = 0; k < 3; k++) {
    assert_int_equal(saltus_scheme_step(scheme, h, &x, &report), SALTUS_OK);
    assert_int_equal(report.active, 1518);
    assert_true(report.residual_velocity <= 1e-10 * 9.81 * h);
  }
  assert_near(largest(p.system.dims.nv, p.v), 0.0, 1e-13);
  saltus_scheme_destroy(scheme);
  pile_free(&p);
}

/* W by blocks, and dense because the system does not say that its mass matrix is diagonal: the same
 * impact of spheres with velocities of all kinds. Sums differ in their order: rounding times the
 * condition of the pile. */
static void blocks_and_dense_agree(void** state) {
  (void)state;
  double after[2][6 * 18];
  for (int dense = 0; dense < 2; dense++) {
    pile p;
    make_pile(0.4, &p);
    saltus_linear_ops linear = *p.system.ops->linear;
    saltus_system_ops ops = *p.system.ops;
    linear.diagonal = dense == 0;
    ops.linear = &linear;
    p.system.ops = &ops;
    uint64_t seed = 5;
    for (int i = 0; i < 6 * p.spheres; i++) {
      p.v[i] = saltus_test_random(&seed) - 0.5;
    }
    saltus_scheme* scheme = make_scheme("moreau-jean", "yes", &p.system);
    saltus_state x = {0.0, p.q, p.v};
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    memcpy(after[dense], p.v, sizeof after[dense]);
    saltus_scheme_destroy(scheme);
    pile_free(&p);
  }
  for (int i = 0; i < 6 * 18; i++) {
    assert_near(after[0][i], after[1][i], 1e-11);
  }
}

/* A column is a chain: one elimination with the old set instead of the sweeps that find it. */
static void a_column_at_rest_keeps_its_set(void** state) {
  (void)state;
  long long iterations[2];
  double height[2];
  const char* const choices[2] = {"no", "yes"};
  for (int w = 0; w < 2; w++) {
    saltus_known_motion* problem;
    assert_int_equal(saltus_known_motion_create("stack:200", (saltus_log){0}, NULL, &problem),
                     SALTUS_OK);
    const saltus_system* sys = saltus_known_motion_system(problem);
    size_t bytes = (size_t)sys->dims.nq * sizeof(double);
    double* q = malloc(bytes);
    double* v = malloc(bytes);
    memcpy(q, saltus_known_motion_q0(problem), bytes);
    memcpy(v, saltus_known_motion_v0(problem), bytes);
    saltus_scheme* scheme = make_scheme("moreau-jean", choices[w], sys);
    saltus_state x = {0.0, q, v};
    for (int k = 0; k < 100; k++) { /* the ball above falls for a second: 200 balls lie still */
      assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    }
    iterations[w] = saltus_scheme_work(scheme).contact_iterations;
    assert_near(largest(sys->dims.nq - 1, v), 0.0, 1e-12);
    height[w] = q[sys->dims.nq - 1];
    saltus_scheme_destroy(scheme);
    saltus_known_motion_destroy(problem);
    free(q);
    free(v);
  }
  assert_true(2 * iterations[1] <= iterations[0]);
  assert_near(height[0], height[1], 1e-14);
}

/* The impulses of an impact are h g / v times too large for the step after it: zero is nearer, and the
 * step is the same, bit by bit, as one of a scheme that remembers nothing. */
static void right_after_an_impact_zero_is_the_start(void** state) {
  (void)state;
  const double mu[2] = {0.4, 0.0};
  for (int m = 0; m < 2; m++) {
    pile p;
    make_pile(mu[m], &p);
    int n = p.system.dims.nv;
    for (int i = 0; i < p.spheres; i++) {
      p.v[6 * i + 2] = -2.0;
    }
    saltus_scheme* scheme = make_scheme("moreau-jean", "yes", &p.system);
    saltus_state x = {0.0, p.q, p.v};
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    double* copy = malloc(2 * (size_t)n * sizeof(double));
    memcpy(copy, p.q, (size_t)n * sizeof(double));
    memcpy(copy + n, p.v, (size_t)n * sizeof(double));
    saltus_state y = {x.t, copy, copy + n};
    saltus_scheme* fresh = make_scheme("moreau-jean", "yes", &p.system);
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    assert_int_equal(saltus_scheme_step(fresh, h, &y, NULL), SALTUS_OK);
    assert_memory_equal(copy, p.q, (size_t)n * sizeof(double));
    assert_memory_equal(copy + n, p.v, (size_t)n * sizeof(double));
    /* one step later the pile lies still, and memory is of use again */
    long long before = saltus_scheme_work(scheme).contact_iterations;
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    long long last = saltus_scheme_work(scheme).contact_iterations - before;
    assert_true(last < saltus_scheme_work(fresh).contact_iterations);
    saltus_scheme_destroy(scheme);
    saltus_scheme_destroy(fresh);
    free(copy);
    pile_free(&p);
  }
}

/* A pile whose forces are no numbers while `broken`; every failed step is then undone. */
static bool broken;
static saltus_system_ops faulty_ops;
static const saltus_system_ops* sound_ops;

static void faulty_force(const void* self, const saltus_point* at, double* F) {
  sound_ops->force(self, at, F);
  F[0] = broken ? NAN : F[0];
}

/* Impulses grow with h, so the memory is of use after a change of step too; steps that fail in between
 * leave it as it was, to the bit. */
static void a_failed_step_leaves_the_memory_alone(void** state) {
  (void)state;
  double end[2][6];
  long long iterations[2];
  for (int failing = 0; failing < 2; failing++) {
    pile p;
    make_pile(0.4, &p);
    sound_ops = p.system.ops;
    faulty_ops = *sound_ops;
    faulty_ops.force = faulty_force;
    p.system.ops = &faulty_ops;
    broken = false;
    saltus_scheme* scheme = make_scheme("moreau-jean", "yes", &p.system);
    size_t bytes = saltus_scheme_memory_bytes(scheme);
    assert_int_equal(bytes, (1 + 4 * (size_t)p.contacts) * sizeof(double));
    unsigned char* before = malloc(bytes);
    unsigned char* after = malloc(bytes);
    saltus_state x = {0.0, p.q, p.v};
    for (int k = 0; k < 20; k++) {
      if (failing != 0) {
        saltus_scheme_memory_save(scheme, before);
        broken = true;
        assert_true(saltus_scheme_step(scheme, 2.0 * h, &x, NULL) > 0);
        broken = false;
        saltus_scheme_memory_save(scheme, after);
        assert_memory_equal(before, after, bytes);
      }
      assert_int_equal(saltus_scheme_step(scheme, k % 2 == 0 ? h : 0.5 * h, &x, NULL), SALTUS_OK);
    }
    iterations[failing] = saltus_scheme_work(scheme).contact_iterations;
    memcpy(end[failing], p.v, sizeof end[failing]);
    saltus_scheme_destroy(scheme);
    free(before);
    free(after);
    pile_free(&p);
  }
  assert_memory_equal(end[0], end[1], sizeof end[0]);
  assert_int_equal(iterations[0], iterations[1]);
  assert_true(iterations[0] <= 5 * 20); /* cold it takes 40 a step */
}

/* Balls of different weight on a floor each; the list of contacts turns round from step to step, and
 * the contact of one ball is not in it now and then. */
enum { BALLS = 5 };

static bool listed(double t, int key) {
  int step = (int)(t / h + 0.5);
  return !(key == step % BALLS && step % 3 == 2);
}

static void balls_mass(const void* self, const saltus_point* at, double* M) {
  (void)self, (void)at;
  for (int i = 0; i < 2 * BALLS; i++) {
    M[i * (2 * BALLS + 1)] = 1 + i / 2;
  }
}

static void balls_force(const void* self, const saltus_point* at, double* F) {
  (void)self, (void)at;
  for (int i = 0; i < BALLS; i++) {
    F[2 * i] = -0.1 * (1 + i); /* along the floor: held by friction */
    F[2 * i + 1] = -9.81 * (1 + i);
  }
}

static saltus_status balls_contacts(const void* self, const saltus_point* at,
                                    saltus_contact_list* list) {
  (void)self;
  int step = (int)(at->t / h + 0.5);
  list->count = 0;
  for (int i = 0; i < BALLS; i++) {
    int key = step % 2 == 0 ? i : BALLS - 1 - i;
    if (listed(at->t, key)) {
      list->gap[list->count] = at->q[2 * key + 1];
      list->identity[list->count] = (uint64_t)key;
      list->law[list->count++] = key;
    }
  }
  return SALTUS_OK;
}

static void balls_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows) {
  int key = (int)identity;
  (void)self, (void)at;
  rows->G[2 * key + 1] = 1.0;
  if (rows->count > 1) {
    rows->G[rows->stride + 2 * key] = 1.0;
  }
}

/* What is kept belongs to a contact, not to its place in the list: nothing is left to do but for the
 * ball whose contact was away in the step before, which has an impact to take. */
static void contacts_that_come_and_go_keep_their_own(void** state) {
  (void)state;
  const saltus_system_ops ops = {.mass = balls_mass,
                                 .force = balls_force,
                                 .contacts = balls_contacts,
                                 .contact = balls_contact};
  saltus_contact_law laws[BALLS];
  for (int i = 0; i < BALLS; i++) {
    laws[i] = (saltus_contact_law){.name = "floor", .mu = 0.5, .tangents = 1};
  }
  const saltus_system sys = {.ops = &ops,
                             .dims = {.nq = 2 * BALLS, .nv = 2 * BALLS, .nc = BALLS},
                             .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE |
                                       SALTUS_CONSTANT_NORMALS | SALTUS_CHANGING_CONTACTS,
                             .laws = laws,
                             .law_count = BALLS};
  saltus_scheme* scheme = make_scheme("moreau-jean", "yes", &sys);
  double q[2 * BALLS] = {0};
  double v[2 * BALLS] = {0};
  saltus_state x = {0.0, q, v};
  for (int k = 0; k < 30; k++) {
    bool all = true; /* the same contacts as in the last step */
    for (int key = 0; key < BALLS; key++) {
      all = all && k > 0 && listed(k * h, key) && listed((k - 1) * h, key) &&
            (k < 2 || listed((k - 2) * h, key));
    }
    long long before = saltus_scheme_work(scheme).contact_iterations;
    x.t = k * h;
    assert_int_equal(saltus_scheme_step(scheme, h, &x, NULL), SALTUS_OK);
    if (all) {
      assert_int_equal(saltus_scheme_work(scheme).contact_iterations - before, 0);
    }
  }
  saltus_scheme_destroy(scheme);
}

static saltus_sim* controlled(const saltus_known_motion* problem,
                              const saltus_allocator* allocator) {
  const saltus_sim_def def = {.system = saltus_known_motion_system(problem),
                              .scheme = "moreau-jean",
                              .control = "variable-order",
                              .q0 = saltus_known_motion_q0(problem),
                              .v0 = saltus_known_motion_v0(problem),
                              .allocator = allocator};
  saltus_sim* sim;
  assert_int_equal(saltus_sim_create(&def, &sim), SALTUS_OK);
  return sim;
}

/* Step doubling tries h and keeps two halves or nothing: the same bits from a snapshot, taken after
 * rejected steps, as without, and no call of the allocator. 20 balls lie on each other, one falls on
 * them at t = 1 s. */
static void step_doubling_gives_the_same_bits(void** state) {
  (void)state;
  saltus_known_motion* problem;
  assert_int_equal(saltus_known_motion_create("stack:20", (saltus_log){0}, NULL, &problem),
                   SALTUS_OK);
  size_t bytes = 21 * sizeof(double);
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  saltus_sim* whole = controlled(problem, &allocator);
  saltus_sim* resumed = controlled(problem, NULL);
  int calls = count.calls;
  assert_int_equal(saltus_sim_run_until(whole, 1.1), SALTUS_OK);
  size_t size = saltus_sim_snapshot_bytes(whole);
  void* snapshot = malloc(size);
  saltus_sim_snapshot_save(whole, snapshot);
  assert_int_equal(saltus_sim_snapshot_load(resumed, snapshot, size), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(whole, 2.0), SALTUS_OK);
  assert_int_equal(saltus_sim_run_until(resumed, 2.0), SALTUS_OK);
  assert_int_equal(count.calls, calls);
  /* every attempt is three steps: more of them than accepted steps */
  assert_true(saltus_sim_work(whole).steps > 3 * saltus_sim_steps_done(whole));
  assert_int_equal(saltus_sim_steps_done(whole), saltus_sim_steps_done(resumed));
  assert_memory_equal(saltus_sim_q(whole), saltus_sim_q(resumed), bytes);
  assert_memory_equal(saltus_sim_v(whole), saltus_sim_v(resumed), bytes);
  saltus_sim_destroy(whole);
  saltus_sim_destroy(resumed);
  assert_int_equal(count.live, 0);
  free(snapshot);
  saltus_known_motion_destroy(problem);
}

/* Without memory there is nothing to mislead: switched off, or one or two contacts. */
static void small_systems_keep_nothing(void** state) {
  (void)state;
  pile p;
  make_pile(0.4, &p);
  saltus_scheme* off = make_scheme("moreau-jean", "no", &p.system);
  assert_int_equal(saltus_scheme_memory_bytes(off), 0);
  saltus_scheme_destroy(off);
  pile_free(&p);
  saltus_known_motion* two;
  assert_int_equal(saltus_known_motion_create("stack:1", (saltus_log){0}, NULL, &two), SALTUS_OK);
  saltus_scheme* small = make_scheme("moreau-jean", "yes", saltus_known_motion_system(two));
  assert_int_equal(saltus_scheme_memory_bytes(small), 0);
  saltus_scheme_destroy(small);
  saltus_known_motion_destroy(two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pile_at_rest_needs_fewer_iterations),
      cmocka_unit_test(a_pile_settles_from_either_start),
      cmocka_unit_test(a_large_pile_lies_still),
      cmocka_unit_test(blocks_and_dense_agree),
      cmocka_unit_test(a_column_at_rest_keeps_its_set),
      cmocka_unit_test(right_after_an_impact_zero_is_the_start),
      cmocka_unit_test(a_failed_step_leaves_the_memory_alone),
      cmocka_unit_test(contacts_that_come_and_go_keep_their_own),
      cmocka_unit_test(step_doubling_gives_the_same_bits),
      cmocka_unit_test(small_systems_keep_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
