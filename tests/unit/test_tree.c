/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_tree.c - joint coordinates beside coordinates of bodies: accelerations, forces of joints and contacts, derivatives.
 */
#include "math/matrix.h"
#include "random_tree.h"
#include "saltus/tree.h"
#include "saltus_test.h"
#include "scene_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct both {
  saltus_mechanism *bodies, *joints; /* the second is that of the tree */
  saltus_tree* tree;
  const saltus_system *a, *t;
  double *q, *v, *w, *F, *rate; /* state of the tree; velocities of bodies */
  void *scratch_a, *scratch_t;
} both;

static saltus_mechanism* make(const saltus_mechanism_def* def) {
  saltus_mechanism* m;
  saltus_kept_message kept;
  saltus_mechanism_def heard = *def;
  heard.log = saltus_log_keep(&kept);
  if (saltus_mechanism_create(&heard, &m) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return m;
}

static double pull(uint64_t* seed) {
  return 2.0 * saltus_test_random(seed) - 1.0;
}

/* A random state: the start, moved along random rates. */
static void open_both(const saltus_mechanism_def* def, uint64_t* seed, both* x) {
  *x = (both){.bodies = make(def), .joints = make(def)};
  saltus_kept_message kept;
  const saltus_tree_def tree = {.mechanism = x->joints, .log = saltus_log_keep(&kept)};
  if (saltus_tree_create(&tree, &x->tree) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  x->a = saltus_mechanism_system(x->bodies);
  x->t = saltus_tree_system(x->tree);
  const size_t nq = (size_t)x->a->dims.nq, nv = (size_t)x->a->dims.nv;
  x->q = calloc(nq, sizeof(double));
  x->v = calloc(nv + 1, sizeof(double));
  x->w = calloc(nv, sizeof(double));
  x->F = calloc(nv, sizeof(double));
  x->rate = calloc(nq, sizeof(double));
  x->scratch_a = calloc(x->a->dims.scratch + 64, 1);
  x->scratch_t = calloc(x->t->dims.scratch + 64, 1);
  for (int k = 0; k < x->t->dims.nv; k++) {
    x->v[k] = pull(seed);
  }
  x->t->ops->advance(x->t->self, saltus_tree_q0(x->tree), x->v, 1.0, x->q);
  for (int k = 0; k < x->t->dims.nv; k++) {
    x->v[k] = pull(seed);
  }
  saltus_tree_body_velocities(x->tree, x->q, x->v, x->w);
}

static void close_both(both* x) {
  free(x->q);
  free(x->v);
  free(x->w);
  free(x->F);
  free(x->rate);
  free(x->scratch_a);
  free(x->scratch_t);
  saltus_tree_destroy(x->tree);
  saltus_mechanism_destroy(x->bodies);
  saltus_mechanism_destroy(x->joints);
}

static double largest(int n, const double* x) {
  double most = 0.0;
  for (int k = 0; k < n; k++) {
    most = fmax(most, fabs(x[k]));
  }
  return most;
}

/* v' of the tree under its forces and `more` [nv]. */
static void accelerate(const both* x, const double* more, double* dv) {
  const int n = x->t->dims.nv;
  const saltus_point at = {.q = x->q, .v = x->v, .scratch = x->scratch_t};
  const saltus_linear_ops* own = x->t->ops->linear;
  void* matrix = calloc(own->bytes(x->t->self) + 64, 1);
  x->t->ops->force(x->t->self, &at, dv);
  for (int k = 0; k < n && more != NULL; k++) {
    dv[k] += more[k];
  }
  assert_int_equal(own->assemble(x->t->self, matrix, &at, 1.0, 0.0, 0.0), SALTUS_OK);
  own->solve(x->t->self, matrix, dv);
  free(matrix);
}

/* ---- states on the joints ---- */

static void check_positions(const both* x) {
  const saltus_mechanism_size size = saltus_mechanism_sizes(x->bodies);
  for (int i = 0; i < size.joints; i++) {
    double metres, radians;
    saltus_mechanism_joint_defect(x->bodies, i, 0.0, x->q, &metres, &radians);
    assert_true(metres < 1e-13 && radians < 1e-13);
  }
  /* velocities of bodies are those of the poses */
  double rate[16 * RANDOM_BODIES], moved[16 * RANDOM_BODIES];
  x->t->ops->rate(x->t->self, x->q, x->v, rate);
  if (x->a->ops->rate != NULL) {
    x->a->ops->rate(x->a->self, x->q, x->w, x->rate);
  } else {
    memcpy(x->rate, x->w, (size_t)x->a->dims.nv * sizeof(double));
  }
  for (int k = 0; k < x->a->dims.nq; k++) {
    assert_near(rate[k], x->rate[k], 1e-12);
  }
  saltus_tree_rates(x->tree, x->q, x->w, rate);
  for (int k = 0; k < x->t->dims.nv; k++) {
    assert_near(rate[k], x->v[k], 1e-10);
  }
  x->t->ops->advance(x->t->self, x->q, x->v, 0.3, moved);
  x->t->ops->difference(x->t->self, x->q, moved, rate);
  for (int k = 0; k < x->t->dims.nv; k++) {
    assert_near(rate[k], 0.3 * x->v[k], 1e-12);
  }
}

/* M a = F + G lambda of the bodies, with lambda of both. */
static void check_forces(both* x) {
  const int n = x->a->dims.nv, nj = x->a->dims.nj;
  double* dv = calloc((size_t)n + 1, sizeof(double));
  double* a = calloc((size_t)n, sizeof(double));
  double* Ma = calloc((size_t)n, sizeof(double));
  double* U = calloc((size_t)nj + 1, sizeof(double));
  double* M = calloc((size_t)n * (size_t)n, sizeof(double));
  double* expected = calloc((size_t)nj + 1, sizeof(double));
  double* lambda = calloc((size_t)nj + 1, sizeof(double));
  const saltus_point at = {.q = x->q, .v = x->w, .scratch = x->scratch_a};
  const saltus_point own = {.q = x->q, .v = x->v, .scratch = x->scratch_t};
  accelerate(x, NULL, dv);
  assert_int_equal(saltus_tree_body_accelerations(x->tree, 0.0, x->q, x->v, dv, a), SALTUS_OK);
  assert_int_equal(saltus_tree_joint_forces(x->tree, &own, dv, NULL, NULL, lambda), SALTUS_OK);
  assert_int_equal(saltus_mechanism_joint_forces(x->bodies, 0.0, x->q, x->w, NULL, expected),
                   SALTUS_OK);
  const double size = 1.0 + largest(nj, expected);
  for (int j = 0; j < nj; j++) {
    assert_near(lambda[j], expected[j], 1e-10 * size);
  }
  x->a->ops->mass(x->a->self, &at, M);
  x->a->ops->force(x->a->self, &at, x->F);
  if (nj > 0) {
    x->a->ops->joints_act(x->a->self, &at, expected, x->F, U);
  }
  saltusi_matrix_times(n, M, a, Ma);
  for (int k = 0; k < n; k++) {
    assert_near(Ma[k], x->F[k], 1e-10 * size);
  }
  free(dv);
  free(a);
  free(Ma);
  free(U);
  free(M);
  free(expected);
  free(lambda);
}

/* A x = b by the factors, A of the dense derivatives. */
static void check_factors(const both* x, uint64_t* seed) {
  enum { MOST = 6 * RANDOM_BODIES };
  static double A[MOST * MOST], part[MOST * MOST];
  const int n = x->t->dims.nv;
  const double factor[3] = {1.0, -0.05 * pull(seed), -0.05 * pull(seed)};
  const saltus_point at = {.q = x->q, .v = x->v, .scratch = x->scratch_t};
  const saltus_system_ops* ops = x->t->ops;
  void* matrix = calloc(ops->linear->bytes(x->t->self) + 64, 1);
  double b[MOST], y[MOST], back[MOST], size = 0.0;
  ops->mass(x->t->self, &at, A);
  for (int by = 1; by < 3; by++) {
    (by == 1 ? ops->force_v : ops->force_q)(x->t->self, &at, part);
    for (int k = 0; k < n * n; k++) {
      A[k] += factor[by] * part[k];
    }
  }
  for (int k = 0; k < n; k++) {
    y[k] = b[k] = pull(seed);
  }
  assert_int_equal(ops->linear->assemble(x->t->self, matrix, &at, factor[0], factor[1], factor[2]),
                   SALTUS_OK);
  ops->linear->solve(x->t->self, matrix, y);
  saltusi_matrix_times(n, A, y, back);
  size = largest(n * n, A) * largest(n, y);
  for (int k = 0; k < n; k++) {
    assert_near(back[k], b[k], 1e-12 * (1.0 + size));
  }
  free(matrix);
}

static void check_energies(const both* x) {
  const saltus_point at = {.q = x->q, .v = x->w, .scratch = x->scratch_a};
  const saltus_point own = {.q = x->q, .v = x->v, .scratch = x->scratch_t};
  const int n = x->t->dims.nv;
  double M[36 * RANDOM_BODIES * RANDOM_BODIES], y[6 * RANDOM_BODIES + 1];
  x->t->ops->mass(x->t->self, &own, M);
  saltusi_matrix_times(n, M, x->v, y);
  const double T = x->a->ops->kinetic(x->a->self, &at);
  assert_near(0.5 * saltusi_dot(n, x->v, y), T, 1e-12 * (1.0 + T));
  assert_near(x->t->ops->kinetic(x->t->self, &own), T, 1e-12 * (1.0 + T));
  assert_near(x->t->ops->potential(x->t->self, &own), x->a->ops->potential(x->a->self, &at), 1e-10);
  double z[6 * RANDOM_BODIES + 1];
  x->t->ops->linear->mass_times(x->t->self, &own, x->v, z);
  for (int k = 0; k < n; k++) {
    assert_near(z[k], y[k], 1e-11 * (1.0 + largest(n, y)));
  }
}

static void random_trees_move_as_their_bodies(void** state) {
  (void)state;
  uint64_t seed = 43;
  random_tree t;
  for (int i = 0; i < saltus_test_draws(1000); i++) {
    const random_tree_kind kind = {.dimension = i % 4 == 0 ? 2 : 3,
                                   .bodies = 1 + i % RANDOM_BODIES,
                                   .forces = i % 3 != 0,
                                   .springs = i % 5 == 0};
    both x;
    random_tree_fill(&t, &kind, &seed);
    open_both(&t.def, &seed, &x);
    if (x.t->dims.nv > 0) {
      check_positions(&x);
      check_forces(&x);
      check_factors(&x, &seed);
      check_energies(&x);
    }
    close_both(&x);
  }
}

/* ---- derivatives ---- */

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  uint64_t seed = 7;
  random_tree t;
  for (int i = 0; i < 60; i++) {
    const random_tree_kind kind = {.dimension = i % 4 == 0 ? 2 : 3,
                                   .bodies = 1 + i % 7,
                                   .forces = i % 3 != 0,
                                   .springs = i % 2 == 0,
                                   .shapes = i % 6 == 1};
    both x;
    saltus_system_check_result result;
    random_tree_fill(&t, &kind, &seed);
    for (int j = 0; kind.forces && i % 2 == 1 && j < t.def.joint_count; j++) {
      saltus_joint_def* joint = &t.joints[j];
      joint->angle.armature = joint->angle.stiffness > 0.0 ? 0.3 + 0.1 * j : 0.0;
      joint->position.armature = joint->position.stiffness > 0.0 ? 2.0 : 0.0;
    }
    open_both(&t.def, &seed, &x);
    if (x.t->dims.nv > 0) {
      assert_int_equal(saltus_system_check(x.t, 0.0, x.q, x.v, (saltus_log){0}, &result),
                       SALTUS_OK);
      if (!(result.worst < 1e-8) || !result.traits_hold) { /* of differences */
        fail_msg("tree %d: %s %g", i, result.where, result.worst);
      }
    }
    close_both(&x);
  }
}

/* ---- MuJoCo ---- */

/* An arm of six hinges in turn about -y and z, links of 0.3 m with mass 1 and inertia 0.001, 0.01, 0.01 about their middle,
 * and springs of 200, dampers of 20 and torques of +-60 N m. The numbers are qacc and xipos of mj_forward of
 * MuJoCo 3.14 (npm: @mujoco/mujoco), with integrator implicitfast, at q_i = 0.1 (i + 1) (-1)^i, v_i = 0.3 - 0.1 i. */
static const double mujoco_acceleration[6] = {-90.17203969180393, 198.30567373394874,
                                              264.1455173260806,  -865.9072811516846,
                                              -557.466388570386,  3774.5817010125966};
static const double mujoco_position[18] = {0.14925062479170387,   0.0,
                                           0.014975012497024223,  0.44477679866368014,
                                           -0.029800399619259184, 0.0446265342451368,
                                           0.7263692984593435,    -0.08807020838532148,
                                           0.11743062379955777,   0.9747745678600128,
                                           -0.2000100651338111,   0.22793870194427204,
                                           1.1595241667326164,    -0.3525106033253297,
                                           0.39256672766521666,   1.2451554019154802,
                                           -0.548709278654995,    0.5831276733778079};

static void arm_of_six(char* text, size_t size) {
  size_t used = (size_t)snprintf(
      text, size, "saltus: 1\nworld: {dimension: 3, coordinates: joints}\nbodies:\n");
  for (int i = 0; i < 6; i++) {
    used +=
        (size_t)snprintf(text + used, size - used,
                         "  b%d: {mass: 1, inertia: [0.001, 0.01, 0.01], position: [%g, 0, 0]}\n",
                         i, 0.3 * (i + 0.5));
  }
  used += (size_t)snprintf(text + used, size - used, "markers:\n");
  for (int i = 0; i < 6; i++) {
    const char* turned =
        i % 2 == 0 ? "orientation: {rpy: [pi/2, 0, 0]}" : "orientation: {rpy: [0, 0, 0]}";
    char on[32] = "";
    if (i > 0) {
      snprintf(on, sizeof on, "body: b%d, ", i - 1);
    }
    used += (size_t)snprintf(
        text + used, size - used,
        "  p%d: {%spoint: [%g, 0, 0], %s}\n  c%d: {body: b%d, point: [-0.15, 0, 0], %s}\n", i, on,
        i > 0 ? 0.15 : 0.0, turned, i, i, turned);
  }
  used += (size_t)snprintf(text + used, size - used, "joints:\n");
  for (int i = 0; i < 6; i++) {
    used += (size_t)snprintf(
        text + used, size - used,
        "  - {name: j%d, type: revolute, between: [p%d, c%d], spring: {stiffness: 200}, "
        "damping: 20, actuator: %d}\n",
        i, i, i, i % 2 == 0 ? 60 : -60);
  }
  assert_true(used < size);
}

static void an_arm_has_the_accelerations_of_mujoco(void** state) {
  (void)state;
  char text[4000];
  arm_of_six(text, sizeof text);
  saltus_scene* scene = scene_open_text(text);
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_system* sys = view->system;
  double way[6], v[6], q[6 * 8], F[6], x[3], R[9];
  for (int i = 0; i < 6; i++) {
    way[i] = 0.1 * (i + 1) * (i % 2 == 0 ? 1.0 : -1.0);
    v[i] = 0.3 - 0.1 * i;
  }
  assert_int_equal(sys->dims.nv, 6);
  sys->ops->advance(sys->self, view->q0, way, 1.0, q);
  void* scratch = calloc(sys->dims.scratch + 64, 1);
  void* matrix = calloc(sys->ops->linear->bytes(sys->self) + 64, 1);
  const saltus_point at = {.q = q, .v = v, .scratch = scratch};
  sys->ops->force(sys->self, &at, F);
  assert_int_equal(sys->ops->linear->assemble(sys->self, matrix, &at, 1.0, 0.0, 0.0), SALTUS_OK);
  sys->ops->linear->solve(sys->self, matrix, F);
  for (int i = 0; i < 6; i++) {
    saltus_mechanism_pose(view->mechanism, i, 0.0, q, x, R);
    assert_near(F[i], mujoco_acceleration[i], 1e-13 * 3774.0); /* the largest */
    for (int k = 0; k < 3; k++) {
      assert_near(x[k], mujoco_position[3 * i + k], 1e-14);
    }
  }
  free(scratch);
  free(matrix);
  saltus_scene_destroy(scene);
}

/* ---- motions ---- */

/* State after 1 s, of bodies in coordinates of bodies where tree is NULL. */
static void move(const both* x, bool joints, double tol, double* q, double* v) {
  saltus_kept_message kept;
  const saltus_integrator_def run = {.system = joints ? x->t : x->a,
                                     .q0 = x->q,
                                     .v0 = joints ? x->v : x->w,
                                     .rtol = tol,
                                     .atol = tol,
                                     .log = saltus_log_keep(&kept)};
  saltus_integrator* it;
  if (saltus_integrator_create(&run, &it) != SALTUS_OK ||
      saltus_integrator_advance(it, 1.0, SALTUS_STOP_NEVER, NULL) != SALTUS_OK) {
    fail_msg("by joints %d, tolerance %g: %s", joints, tol, kept.text);
  }
  memcpy(q, saltus_integrator_q(it), (size_t)x->a->dims.nq * sizeof *q);
  memcpy(v, saltus_integrator_v(it), (size_t)run.system->dims.nv * sizeof *v);
  saltus_integrator_destroy(it);
}

static double energy(const both* x, const double* q, const double* v) {
  const saltus_point at = {.q = q, .v = v, .scratch = x->scratch_t};
  return x->t->ops->kinetic(x->t->self, &at) + x->t->ops->potential(x->t->self, &at);
}

static void motions_stay_within_their_tolerance(void** state) {
  (void)state;
  uint64_t seed = 11;
  random_tree t;
  for (int i = 0; i < (saltus_test_long() ? 1000 : 12); i++) {
    const random_tree_kind kind = {.dimension = i % 4 == 0 ? 2 : 3, .bodies = 1 + i % 5};
    double exact[7 * RANDOM_BODIES + RANDOM_BODIES], q[8 * RANDOM_BODIES], v[6 * RANDOM_BODIES];
    double d[6 * RANDOM_BODIES];
    both x;
    random_tree_fill(&t, &kind, &seed);
    open_both(&t.def, &seed, &x);
    if (x.t->dims.nv > 0) {
      const double start = energy(&x, x.q, x.v);
      move(&x, false, 1e-12, exact, v);
      for (double tol = 1e-6; tol > 1e-11; tol *= 1e-2) {
        move(&x, true, tol, q, v);
        x.t->ops->difference(x.t->self, exact, q, d);
        const double error = largest(x.t->dims.nv, d), off = fabs(energy(&x, q, v) - start);
        /* errors of steps grow in 1 s; energy is a force of some 50 N times an error */
        if (!(error < 10.0 * tol) || !(off < 200.0 * tol)) {
          fail_msg("tree %d, tolerance %g: error %g, energy %g", i, tol, error, off);
        }
      }
    }
    close_both(&x);
  }
}

/* Error after 1 s in fixed steps, and the change of the energy. */
static void step(const both* x, const char* scheme, int steps, const double* exact,
                 double error[2]) {
  saltus_kept_message kept;
  const saltus_sim_def def = {.system = x->t,
                              .scheme = scheme,
                              .h = 1.0 / steps,
                              .q0 = x->q,
                              .v0 = x->v,
                              .log = saltus_log_keep(&kept)};
  double d[6 * RANDOM_BODIES];
  saltus_sim* sim;
  if (saltus_sim_create(&def, &sim) != SALTUS_OK || saltus_sim_run(sim, steps) != SALTUS_OK) {
    fail_msg("%s: %s", scheme, kept.text);
  }
  x->t->ops->difference(x->t->self, exact, saltus_sim_q(sim), d);
  error[0] = largest(x->t->dims.nv, d);
  error[1] = fabs(energy(x, saltus_sim_q(sim), saltus_sim_v(sim)) - energy(x, x->q, x->v));
  saltus_sim_destroy(sim);
}

static void fixed_steps_have_their_order(void** state) {
  (void)state;
  static const struct {
    const char* scheme;
    int order, steps;
  } cases_of[] = {{"moreau-jean", 2, 400}, {"rattle", 2, 400}, {"radau-iia-5", 5, 100}};
  uint64_t seed = 12;
  random_tree t;
  for (int i = 0; i < (saltus_test_long() ? 1000 : 8); i++) {
    const random_tree_kind kind = {.dimension = i % 4 == 0 ? 2 : 3, .bodies = 1 + i % 4};
    double exact[8 * RANDOM_BODIES], v[6 * RANDOM_BODIES];
    both x;
    random_tree_fill(&t, &kind, &seed);
    open_both(&t.def, &seed, &x);
    if (x.t->dims.nv > 0) {
      move(&x, false, 1e-12, exact, v);
    }
    for (int k = 0; k < 3 && x.t->dims.nv > 0; k++) {
      double coarse[2], fine[2];
      step(&x, cases_of[k].scheme, cases_of[k].steps, exact, coarse);
      step(&x, cases_of[k].scheme, 2 * cases_of[k].steps, exact, fine);
      /* 0.8 of the power: trees that whip are not asymptotic yet; 1e-9: the reference */
      const double least = 0.8 * pow(2.0, cases_of[k].order);
      for (int e = 0; e < 2; e++) {
        if (!(fine[e] < 1e-9) && !(fine[e] < coarse[e] / least)) {
          fail_msg("tree %d, %s, %s: %g and %g", i, cases_of[k].scheme,
                   e == 0 ? "position" : "energy", coarse[e], fine[e]);
        }
      }
    }
    close_both(&x);
  }
}

/* ---- scenes ---- */

typedef struct scene_case {
  const char* name;
  const char* text; /* %s: the coordinates */
  double until;     /* s */
  double apart;     /* m and rad, of positions with tolerance 1e-9 */
} scene_case;

static const scene_case cases[] = {
    {"a loop with redundant rows",
     "saltus: 1\nworld: {dimension: 3, coordinates: %s}\n"
     "bodies:\n  a: {mass: 1, inertia: [0.001, 0.1, 0.1], position: [0, 0, -0.5], orientation: "
     "{rpy: [0, pi/2, 0]}, velocity: [-1, 0, 0], angular_velocity: [0, 2, 0]}\n"
     "  b: {mass: 1, inertia: [0.001, 0.1, 0.1], position: [0.5, 0, -1], velocity: [-2, 0, 0]}\n"
     "  c: {mass: 1, inertia: [0.001, 0.1, 0.1], position: [1, 0, -0.5], orientation: {rpy: [0, "
     "pi/2, 0]}, velocity: [-1, 0, 0], angular_velocity: [0, 2, 0]}\n"
     "markers:\n  g: {point: [0, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  h: {point: [1, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  a1: {body: a, point: [-0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  a2: {body: a, point: [0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  b1: {body: b, point: [-0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  b2: {body: b, point: [0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  c1: {body: c, point: [-0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  c2: {body: c, point: [0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "joints:\n  - {name: j1, type: revolute, between: [g, a1], damping: 0.1}\n"
     "  - {name: j2, type: revolute, between: [a2, b1]}\n"
     "  - {name: j3, type: revolute, between: [b2, c2]}\n"
     "  - {name: j4, type: revolute, between: [c1, h]}\n",
     1.0, 1e-7},
    {"clamped drives by formula, one of them by two joints",
     "saltus: 1\nworld: {coordinates: %s}\nparameters: {k: 80}\ninputs: {target: 0.6}\n"
     "bodies:\n  a: {mass: 1, inertia: 0.1, position: [0.5, 0]}\n"
     "  b: {mass: 1, inertia: 0.1, position: [1.5, 0]}\n"
     "  c: {mass: 1, inertia: 0.1, position: [2.5, 0]}\n"
     "markers:\n  g: {point: [0, 0]}\n  a1: {body: a, point: [-0.5, 0]}\n"
     "  a2: {body: a, point: [0.5, 0]}\n  b1: {body: b, point: [-0.5, 0]}\n"
     "  b2: {body: b, point: [0.5, 0]}\n  c1: {body: c, point: [-0.5, 0]}\n"
     "joints:\n  - {name: j1, type: revolute, between: [g, a1], actuator: \"min(max(k*(target - "
     "j1.angle) - 2*j1.angle' + t, -30), 30)\"}\n"
     "  - {name: j2, type: revolute, between: [a2, b1], actuator: \"-5*j2.angle*cos(j1.angle) - "
     "j2.angle'\"}\n"
     "  - {name: j3, type: prismatic, between: [b2, c1], actuator: \"-50*j3.position^3 - "
     "3*tanh(j3.position')\"}\n",
     1.0, 1e-6},
    {"constraints by formulas of joints of two and of three trees",
     "saltus: 1\nworld: {dimension: 3, coordinates: %s}\nbodies:\n"
     "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.5]}\n"
     "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 1, 0.5]}\n"
     "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 2, 0.5]}\n"
     "  d: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 3, 0.5]}\n"
     "markers:\n"
     "  a0: {point: [0, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  a1: {body: a, point: [0, 0, -0.5], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  b0: {point: [0, 1, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  b1: {body: b, point: [0, 0, -0.5], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  c0: {point: [0, 2, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  c1: {body: c, point: [0, 0, -0.5], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  d0: {point: [0, 3, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  d1: {body: d, point: [0, 0, -0.5], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "joints:\n"
     "  - {name: j1, type: revolute, between: [a0, a1], spring: {stiffness: 5, rest: 0.3}}\n"
     "  - {name: j2, type: revolute, between: [b0, b1], spring: {stiffness: 6, rest: 0.3}}\n"
     "  - {name: j3, type: revolute, between: [c0, c1], spring: {stiffness: 7, rest: 0.3}}\n"
     "  - {name: j4, type: revolute, between: [d0, d1], spring: {stiffness: 8, rest: 0.3}}\n"
     "  - {name: pair, constraint: j1.angle + 2*j2.angle}\n"
     "  - {name: sum, constraint: j2.angle - j3.angle + j4.angle}\n",
     1.0, 1e-7},
    {"a drive, a gear and an input",
     "saltus: 1\nworld: {coordinates: %s}\ninputs: {u: 0.3}\n"
     "bodies:\n  a: {mass: 1, inertia: 0.1, position: [0.5, 0]}\n"
     "  b: {mass: 1, inertia: 0.1, position: [1.5, 0]}\n"
     "  c: {mass: 1, inertia: 0.1, position: [2.5, 0]}\n"
     "markers:\n  g: {point: [0, 0]}\n  a1: {body: a, point: [-0.5, 0]}\n"
     "  a2: {body: a, point: [0.5, 0]}\n  b1: {body: b, point: [-0.5, 0]}\n"
     "  b2: {body: b, point: [0.5, 0]}\n  c1: {body: c, point: [-0.5, 0]}\n"
     "joints:\n  - {name: j1, type: revolute, between: [g, a1], drive: {angle: 0.4*sin(3*t)}}\n"
     "  - {name: j2, type: revolute, between: [a2, b1], spring: {stiffness: 5}, damping: 0.1}\n"
     "  - {name: j3, type: revolute, between: [b2, c1], actuator: \"5*(u - j3.angle) - "
     "j3.angle'\"}\n"
     "outputs: {k: j2.angle + j3.angle'}\n",
     1.0, 1e-7},
    {"a limit with impacts and dry friction",
     "saltus: 1\nworld: {coordinates: %s}\n"
     "bodies:\n  a: {mass: 1, inertia: 0.1, position: [0.5, 0]}\n"
     "  b: {mass: 1, inertia: 0.1, position: [1.5, 0]}\n"
     "markers:\n  g: {point: [0, 0]}\n  a1: {body: a, point: [-0.5, 0]}\n"
     "  a2: {body: a, point: [0.5, 0]}\n  b1: {body: b, point: [-0.5, 0]}\n"
     "joints:\n  - {name: j1, type: revolute, between: [g, a1], limits: [-1, 1], restitution: "
     "0.5}\n"
     "  - {name: j2, type: revolute, between: [a2, b1], dry_friction: {force: 0.5}}\n",
     1.0, 1e-6},
    {"a leg that falls on the floor",
     "saltus: 1\nworld: {dimension: 3, coordinates: %s, shapes: [{name: floor, half-space: {}}]}\n"
     "materials: {default: {friction: 0.5, restitution: 0.3}}\n"
     "bodies:\n  trunk: {mass: 5, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0.9]}\n"
     "  leg: {mass: 1, inertia: [0.02, 0.02, 0.002], position: [0.2, 0, 0.6], shapes: [{name: "
     "foot, "
     "sphere: {radius: 0.05}, position: [0.1, 0, -0.3]}]}\n"
     "markers:\n  hip: {body: trunk, point: [0.1, 0, -0.1], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "  top: {body: leg, point: [-0.1, 0, 0.2], orientation: {rpy: [pi/2, 0, 0]}}\n"
     "joints:\n  - {name: j, type: revolute, between: [hip, top], spring: {stiffness: 50}, "
     "damping: 1}\n",
     0.8, 1e-5},
};

static void scenes_move_the_same_in_both_coordinates(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2][4000];
    snprintf(text[0], sizeof text[0], cases[i].text, "bodies");
    snprintf(text[1], sizeof text[1], cases[i].text, "joints");
    saltus_scene *a = scene_open_text(text[0]), *b = scene_open_text(text[1]);
    const saltus_scene_view *x = saltus_scene_get_view(a), *y = saltus_scene_get_view(b);
    assert_true(y->tree != NULL && y->system->dims.nv < x->system->dims.nv);
    assert_int_equal(y->observables->output_count, x->observables->output_count);
    const scene_outcome one = scene_run(x, "adaptive", 1e-9, cases[i].until);
    const scene_outcome two = scene_run(y, "adaptive", 1e-9, cases[i].until);
    const double apart = scene_apart(&one, &two, x->system->dims.nq);
    /* the last impacts of an accumulation can be one more */
    if (!(apart < cases[i].apart) || llabs(one.impacts - two.impacts) > 1) {
      fail_msg("%s: %g, impacts %lld and %lld", cases[i].name, apart, one.impacts, two.impacts);
    }
    double values[2][100], v[64];
    assert_true(x->observables->output_count <= 100);
    saltus_tree_body_velocities(y->tree, two.q, two.v, v);
    assert_int_equal(saltus_scene_outputs(a, 0.0, two.q, v, NULL, values[0]), SALTUS_OK);
    assert_int_equal(saltus_scene_outputs(b, 0.0, two.q, two.v, NULL, values[1]), SALTUS_OK);
    for (int k = 0; k < x->observables->output_count; k++) {
      assert_near(values[1][k], values[0][k], 1e-12 * (1.0 + fabs(values[0][k])));
    }
    saltus_scene_destroy(a);
    saltus_scene_destroy(b);
  }
}

/* A flywheel of inertia I on the axis of the first hinge, which turns `ratio` times as fast: armature ratio^2 I. */
static void armature_is_a_flywheel_behind_a_gear(void** state) {
  (void)state;
  static const char arms[] =
      "  a: {mass: 1, inertia: [0.1, 0.1, 0.02], position: [0.5, 0, 0]}\n"
      "  b: {mass: 1, inertia: [0.1, 0.1, 0.02], position: [1.5, 0, 0]}\n%s"
      "markers:\n  o: {orientation: {rpy: [pi/2, 0, 0]}}\n"
      "  a0: {body: a, point: [-0.5, 0, 0], orientation: {rpy: [pi/2, 0, 0]}}\n"
      "  a1: {body: a, point: [0.5, 0, 0], orientation: {rpy: [pi/2, 0.2, 0]}}\n"
      "  b0: {body: b, point: [-0.5, 0, 0], orientation: {rpy: [pi/2, 0.2, 0]}}\n%s"
      "joints:\n  - {name: p, type: revolute, between: [o, a0]%s}\n"
      "  - {name: r, type: revolute, between: [a1, b0]}\n%s";
  char text[2][3000];
  int used = snprintf(text[0], sizeof text[0], "saltus: 1\nworld: {dimension: 3}\nbodies:\n");
  snprintf(text[0] + used, sizeof text[0] - (size_t)used, arms,
           "  w: {mass: 3, inertia: [0.1, 0.05, 0.1], position: [0, 0, 0]}\n",
           "  w0: {body: w, orientation: {rpy: [pi/2, 0, 0]}}\n", "",
           "  - {name: s, type: revolute, between: [o, w0]}\n"
           "  - {name: g, type: gear, joints: [p, s], ratio: 6}\n");
  used = snprintf(text[1], sizeof text[1],
                  "saltus: 1\nworld: {dimension: 3, coordinates: joints}\nbodies:\n");
  snprintf(text[1] + used, sizeof text[1] - (size_t)used, arms, "", "", ", armature: 1.8", "");
  saltus_scene *a = scene_open_text(text[0]), *b = scene_open_text(text[1]);
  const saltus_scene_view *x = saltus_scene_get_view(a), *y = saltus_scene_get_view(b);
  const scene_outcome one = scene_run(x, "adaptive", 1e-10, 2.0);
  const scene_outcome two = scene_run(y, "adaptive", 1e-10, 2.0);
  assert_true(scene_apart(&one, &two, 14) < 1e-8);
  saltus_scene_destroy(a);
  saltus_scene_destroy(b);
  scene_assert_refused(
      "saltus: 1\nworld: {dimension: 3}\n"
      "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\nmarkers: {o: {}, m: {body: a}}\n"
      "joints: [{name: j, type: revolute, between: [o, m], armature: 1}]\n",
      "coordinates: joints");
}

static void scenes_without_joint_coordinates_are_refused(void** state) {
  (void)state;
  scene_assert_refused("saltus: 1\nworld: {coordinates: joints}\n"
                       "bodies: {a: {mass: 1, inertia: 1}}\ncoordinates: {x: 0}\nkinetic: x'^2/2\n",
                       "coordinates by formula");
  scene_assert_refused(
      "saltus: 1\nworld: {coordinates: angles}\nbodies: {a: {mass: 1, inertia: 1}}\n",
      "coordinates");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_trees_move_as_their_bodies),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(an_arm_has_the_accelerations_of_mujoco),
      cmocka_unit_test(motions_stay_within_their_tolerance),
      cmocka_unit_test(fixed_steps_have_their_order),
      cmocka_unit_test(scenes_move_the_same_in_both_coordinates),
      cmocka_unit_test(armature_is_a_flywheel_behind_a_gear),
      cmocka_unit_test(scenes_without_joint_coordinates_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
