/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_body_joints.c - every row, force and derivative of every joint and spring against differences, at random
 * states off the joints, between free bodies, with the world and with driven bodies; refusals of definitions.
 */
#include "saltus_test.h"

#include "formula/jet.h"
#include "formula/ops.h"

#include <stdlib.h>

enum { MOST = 8 };

static uint64_t seed = 12345;

static double any(double size) {
  return size * (2.0 * saltus_test_random(&seed) - 1.0);
}

static void wave(const void* self, double t, double out[3]) {
  const double* x = self; /* amplitude, rate, phase */
  out[0] = x[0] * sin(x[1] * t + x[2]);
  out[1] = x[0] * x[1] * cos(x[1] * t + x[2]);
  out[2] = -x[0] * x[1] * x[1] * sin(x[1] * t + x[2]);
}

/* Its Taylor coefficients over a range. */
static void wave_along(const void* self, int order, const saltus_interval* t,
                       saltus_interval* out) {
  const double* x = self;
  saltus_interval c[SALTUS_JET_ORDER + 1];
  saltusi_extent extent;
  const saltusi_jet_place place = {c, &extent, order};
  const double constants[3] = {x[1], x[2], x[0]};
  saltusi_jet by[3];
  saltus_interval k[3];
  for (int i = 0; i < 3; i++) {
    k[i] = (saltus_interval){constants[i], constants[i]};
    by[i] = (saltusi_jet){&k[i], {0, (unsigned char)(order + 1)}};
  }
  saltusi_jet_product(place, saltusi_jet_given(t, order), by[0]);
  saltusi_jet_sum(place, (saltusi_jet){c, extent}, by[1]);
  saltusi_jet_function(place, SALTUSI_SIN, (saltusi_jet){c, extent});
  saltusi_jet_product(place, (saltusi_jet){c, extent}, by[2]);
  saltusi_jet_write((saltusi_jet){c, extent}, order, out);
}

static const double waves[6][3] = {{0.3, 1.1, 0.2}, {0.5, -0.7, 1.0}, {0.2, 1.9, 0.4},
                                   {0.4, 0.8, 2.0}, {0.6, 1.3, -1.0}, {0.3, 0.5, 0.7}};

static saltus_signal signal_of(int i) {
  return (saltus_signal){.evaluate = wave, .along = wave_along, .self = waves[i]};
}

typedef struct rig {
  saltus_driven_pose driven;
  saltus_body_def bodies[4];
  saltus_marker_def markers[4];
  saltus_joint_def joints[3];
  saltus_spring_def springs[4];
  saltus_mechanism_def def;
} rig;

static saltus_orientation turned(int dimension) {
  saltus_orientation o = {SALTUS_ORIENTATION_ANGLE, {any(1.0)}};
  if (dimension == 3) {
    o = (saltus_orientation){SALTUS_ORIENTATION_RPY, {any(0.3), any(0.3), any(0.3)}};
  }
  return o;
}

/* Bodies "a" and "b", a of the kind given, each with a marker, anywhere; two more for couplings. */
static void start_rig(rig* r, int dimension, saltus_body_kind kind) {
  static const char* const names[4] = {"a", "b", "c", "d"};
  static const char* const at[4] = {"at a", "at b", "at c", "at d"};
  memset(r, 0, sizeof *r);
  for (int k = 0; k < 3; k++) {
    r->driven.position[k] = signal_of(k);
    r->driven.rotation[k] = signal_of(3 + k);
  }
  for (int i = 0; i < 4; i++) {
    r->bodies[i] =
        (saltus_body_def){.name = names[i],
                          .mass = 1.0 + i,
                          .inertia = {1.0, 1.5, 1.2, 0.1, -0.2, 0.05},
                          .position = {any(1.0), any(1.0), dimension == 3 ? any(1.0) : 0.0},
                          .orientation = turned(dimension)};
    r->markers[i] = (saltus_marker_def){.name = at[i],
                                        .body = names[i],
                                        .position = {any(1.0), any(1.0), any(1.0)},
                                        .orientation = turned(dimension)};
  }
  r->bodies[0].kind = kind;
  r->bodies[0].driven = kind == SALTUS_BODY_DRIVEN ? &r->driven : NULL;
  r->def = (saltus_mechanism_def){.dimension = dimension,
                                  .gravity = {0.3, -9.81, 0.5},
                                  .bodies = r->bodies,
                                  .body_count = 4,
                                  .markers = r->markers,
                                  .marker_count = 4,
                                  .joints = r->joints,
                                  .springs = r->springs};
}

/* Rows are the same whether c is asked for or not, and sparse or dense. */
static void compare_rows(const saltus_system* sys, const saltus_point* at) {
  enum { WIDE = 32, ROWS = 8 };
  for (int j = 0; j < sys->joint_count; j++) {
    double G[3][ROWS * WIDE] = {{0.0}}, b[3][ROWS] = {{0.0}}, c[ROWS] = {0.0};
    int column[WIDE];
    const int count = sys->joint_first[j + 1] - sys->joint_first[j];
    int width = 0;
    for (int k = 0; k < 3; k++) { /* sparse, with c, dense */
      saltus_rows rows = {.count = count,
                          .width = k < 2 ? sys->dims.row_width : sys->dims.nv,
                          .stride = WIDE,
                          .column = k < 2 ? column : NULL,
                          .G = G[k],
                          .b = b[k],
                          .c = k == 1 ? c : NULL};
      sys->ops->joint(sys->self, at, j, &rows);
      width = k < 2 ? rows.width : width;
    }
    for (int r = 0; r < count; r++) {
      for (int k = 0; k < width; k++) {
        const double x = G[0][WIDE * r + k];
        assert_near(x, G[1][WIDE * r + k], 1e-14); /* of entries below 10 */
        assert_near(x, G[2][WIDE * r + column[k]], 1e-14);
      }
      assert_near(b[0][r], b[1][r], 1e-14);
    }
  }
}

/* g with room for poses, where rows that are common are written out, and without. */
static void compare_values(const saltus_system* sys, const saltus_point* at) {
  double g[2][64];
  saltus_point with = *at;
  with.scratch = malloc(sys->dims.scratch);
  for (int k = 0; k < 2 && sys->dims.nj > 0; k++) {
    sys->ops->joints(sys->self, k == 0 ? at : &with, g[k]);
  }
  for (int i = 0; i < sys->dims.nj; i++) {
    assert_near(g[1][i], g[0][i], 1e-14); /* of positions below 10 */
  }
  free(with.scratch);
}

/* Inside a step angles that nobody reads are left out: forces and joints have the bits that they have with them. */
static void compare_places(const saltus_system* sys, double t, const double* q, const double* v) {
  double q1[2][64], F[2][64], g[2][64] = {{0.0}};
  if (sys->ops->advance_within == NULL) {
    return;
  }
  for (int i = 0; i < 64; i++) {
    q1[0][i] = q1[1][i] = NAN;
  }
  sys->ops->advance(sys->self, q, v, 0.3, q1[0]);
  sys->ops->advance_within(sys->self, q, v, 0.3, q1[1]);
  for (int k = 0; k < 2; k++) {
    const saltus_point at = {.t = t, .q = q1[k], .v = v};
    sys->ops->force(sys->self, &at, F[k]);
    if (sys->dims.nj > 0) {
      sys->ops->joints(sys->self, &at, g[k]);
    }
  }
  assert_memory_equal(F[0], F[1], (size_t)sys->dims.nv * sizeof(double));
  assert_memory_equal(g[0], g[1], (size_t)sys->dims.nj * sizeof(double));
}

/* Second derivatives of joints that are closed, at rest and in any motion. */
static void check_closed(saltus_mechanism* m, const char* what) {
  const saltus_system* sys = saltus_mechanism_system(m);
  double g[64], v[64] = {0.0};
  saltus_assembly assembly;
  saltus_kept_message kept;
  if (sys->dims.nj == 0) {
    return;
  }
  saltus_status status = saltus_mechanism_assemble(m, 1e3, saltus_log_keep(&kept), &assembly);
  if (status != SALTUS_OK && strcmp(what, "screw") == 0) {
    return; /* driven in both of its coordinates */
  }
  sys->ops->joints(sys->self, &(saltus_point){.q = saltus_mechanism_q0(m)}, g);
  for (int i = 0; i < sys->dims.nj; i++) {
    if (status != SALTUS_OK || !(fabs(g[i]) < 1e-11)) {
      fail_msg("%s: row %d is open by %g: %s", what, i, g[i], kept.text);
    }
  }
  for (int k = 0; k < 3; k++) {
    saltus_system_check_result result;
    assert_true(saltus_system_check(sys, 0.0, saltus_mechanism_q0(m), v, (saltus_log){0},
                                    &result) == SALTUS_OK);
    if (!(result.joint_hessian < 1e-9)) { /* differences as below */
      fail_msg("%s, closed: joint_hessian is off by %g", what, result.joint_hessian);
    }
    for (int i = 0; i < sys->dims.nv; i++) {
      v[i] = any(1.0);
    }
  }
}

/* Worst derivative over some states anywhere; reports the first that is not exact. */
static void check(const rig* r, const char* what) {
  saltus_kept_message kept;
  saltus_mechanism_def def = r->def;
  def.log = saltus_log_keep(&kept);
  saltus_mechanism* m;
  if (saltus_mechanism_create(&def, &m) != SALTUS_OK) {
    fail_msg("%s: %s", what, kept.text);
  }
  const saltus_system* sys = saltus_mechanism_system(m);
  assert_true(saltus_system_validate(sys, def.log) == SALTUS_OK);
  assert_non_null(sys->ops->enclosure);
  check_closed(m, what);
  for (int k = 0; k < 4; k++) {
    double q[64], v[64], q1[64];
    for (int i = 0; i < sys->dims.nv; i++) {
      v[i] = any(1.0);
    }
    memcpy(q, saltus_mechanism_q0(m), (size_t)sys->dims.nq * sizeof(double));
    if (sys->ops->advance != NULL) {
      sys->ops->advance(sys->self, q, v, 1.0, q1);
      memcpy(q, q1, (size_t)sys->dims.nq * sizeof(double));
    } else {
      for (int i = 0; i < sys->dims.nv; i++) {
        q[i] += v[i];
      }
    }
    for (int i = 0; i < sys->dims.nv; i++) {
      v[i] = any(1.0);
    }
    compare_rows(sys, &(saltus_point){.t = 0.3 + k, .q = q, .v = v});
    compare_values(sys, &(saltus_point){.t = 0.3 + k, .q = q, .v = v});
    compare_places(sys, 0.3 + k, q, v);
    saltus_system_check_result result;
    assert_true(saltus_system_check(sys, 0.3 + k, q, v, def.log, &result) == SALTUS_OK);
    /* sixth-order differences of numbers near 10 reach 1e-10 */
    if (!(result.worst < 1e-9) || result.enclosure != 0.0 || !result.traits_hold) {
      fail_msg("%s, state %d: %s is off by %g, traits %d", what, k, result.where, result.worst,
               result.traits_hold);
    }
  }
  saltus_mechanism_destroy(m);
}

static const struct {
  saltus_joint_type type;
  const char* name;
  bool plane, angle, position;
} types[] = {{SALTUS_JOINT_FIXED, "fixed", true, false, false},
             {SALTUS_JOINT_REVOLUTE, "revolute", true, true, false},
             {SALTUS_JOINT_PRISMATIC, "prismatic", true, false, true},
             {SALTUS_JOINT_CYLINDRICAL, "cylindrical", false, true, true},
             {SALTUS_JOINT_SPHERICAL, "spherical", false, false, false},
             {SALTUS_JOINT_UNIVERSAL, "universal", false, false, false},
             {SALTUS_JOINT_PLANAR, "planar", false, false, false},
             {SALTUS_JOINT_POINT_ON_LINE, "point on line", true, false, false},
             {SALTUS_JOINT_POINT_IN_PLANE, "point in plane", false, false, false},
             {SALTUS_JOINT_DISTANCE, "distance", true, false, false},
             {SALTUS_JOINT_SCREW, "screw", false, true, true}};

/* With everything that a coordinate can have. */
static void load(saltus_joint_def* j, bool angle, bool position) {
  const saltus_coordinate_def c = {.drive = SALTUS_DRIVE_POSITION,
                                   .driven = signal_of(1),
                                   .limited = true,
                                   .lower = -3.0,
                                   .upper = 3.1,
                                   .restitution = 0.5,
                                   .stiffness = 3.0,
                                   .rest = 0.2,
                                   .damping = 0.7,
                                   .force = signal_of(2)};
  j->angle = angle ? c : (saltus_coordinate_def){0};
  j->position = position ? c : (saltus_coordinate_def){0};
}

static void rows_of_every_joint_are_exact(void** state) {
  (void)state;
  static const saltus_body_kind kinds[] = {SALTUS_BODY_FREE, SALTUS_BODY_FIXED, SALTUS_BODY_DRIVEN};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    for (int dimension = types[i].plane ? 2 : 3; dimension <= 3; dimension++) {
      for (int k = 0; k < 6; k++) {
        rig r;
        start_rig(&r, dimension, kinds[k % 3]);
        r.joints[0] = (saltus_joint_def){.name = "joint",
                                         .type = types[i].type,
                                         .between = {"at a", "at b"},
                                         .length = {.value = 1.3},
                                         .ratio = 0.4};
        if (k >= 3) { /* the other way round, and loaded */
          r.joints[0].between[0] = "at b";
          r.joints[0].between[1] = "at a";
          load(&r.joints[0], types[i].angle, types[i].position);
        }
        r.def.joint_count = 1;
        check(&r, types[i].name);
      }
    }
  }
}

static void couplings_are_exact(void** state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    for (int k = 0; k < 4; k++) {
      rig r;
      start_rig(&r, dimension, k % 2 == 0 ? SALTUS_BODY_FREE : SALTUS_BODY_FIXED);
      const saltus_joint_type second = k < 2 ? SALTUS_JOINT_REVOLUTE : SALTUS_JOINT_PRISMATIC;
      r.joints[0] = (saltus_joint_def){
          .name = "first", .type = SALTUS_JOINT_REVOLUTE, .between = {"at a", "at b"}};
      r.joints[1] =
          (saltus_joint_def){.name = "second", .type = second, .between = {"at c", "at b"}};
      r.joints[2] =
          (saltus_joint_def){.name = "gear",
                             .type = k < 2 ? SALTUS_JOINT_GEAR : SALTUS_JOINT_RACK_AND_PINION,
                             .between = {"first", "second"},
                             .ratio = -0.7,
                             .offset = 0.1};
      r.def.joint_count = 3;
      check(&r, "gear or rack");
    }
  }
}

static void springs_are_exact(void** state) {
  (void)state;
  static const saltus_body_kind kinds[] = {SALTUS_BODY_FREE, SALTUS_BODY_FIXED, SALTUS_BODY_DRIVEN};
  for (int dimension = 2; dimension <= 3; dimension++) {
    for (int k = 0; k < 6; k++) {
      rig r;
      start_rig(&r, dimension, kinds[k % 3]);
      r.springs[0] = (saltus_spring_def){.name = "linear",
                                         .between = {"at a", "at b"},
                                         .stiffness = {3.0},
                                         .damping = {0.4},
                                         .rest = 0.7};
      r.springs[1] = (saltus_spring_def){
          .name = "loose", .between = {"at c", "at a"}, .stiffness = {2.0}, .damping = {0.3}};
      r.springs[2] = (saltus_spring_def){.name = "bushing",
                                         .type = SALTUS_SPRING_BUSHING,
                                         .between = {"at a", "at c"},
                                         .stiffness = {1.0, 2.0, 3.0, 0.5, 0.6, 0.7},
                                         .damping = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}};
      if (dimension == 2) {
        for (int i = 2; i < 5; i++) {
          r.springs[2].stiffness[i] = r.springs[2].damping[i] = 0.0;
        }
      }
      r.springs[3] = (saltus_spring_def){.name = "torsional",
                                         .type = SALTUS_SPRING_TORSIONAL,
                                         .between = {"at d", "at b"},
                                         .stiffness = {1.4},
                                         .damping = {0.2},
                                         .rest = 0.3};
      r.def.spring_count = 4;
      check(&r, "springs");
    }
  }
}

static void loads_are_exact(void** state) {
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    rig r;
    start_rig(&r, dimension, SALTUS_BODY_FREE);
    saltus_load_def loads[2] = {{.name = "world", .marker = "at a"},
                                {.name = "turning", .marker = "at b", .turns = true}};
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 2; i++) {
        loads[i].force[k] = signal_of((k + 2 * i) % 6);
        loads[i].torque[k] = signal_of((k + 3 - i) % 6);
      }
    }
    r.def.loads = loads;
    r.def.load_count = 2;
    check(&r, "loads");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_every_joint_are_exact),
      cmocka_unit_test(couplings_are_exact),
      cmocka_unit_test(springs_are_exact),
      cmocka_unit_test(loads_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
