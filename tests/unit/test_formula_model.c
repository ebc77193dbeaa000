/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_formula_model.c - mechanics made from formulas, against equations derived by hand.
 */
#include "formula_fixture.h"

#include "system/linear.h"

#include <stdio.h>
#include <stdlib.h>

/* Creates a two-coordinate model with one contact; returns what was said. */
static saltus_kept_message refused(const char* kinetic, saltus_formula_contact contact) {
  const saltus_formula_coordinate coordinates[2] = {{.name = "x"}, {.name = "y"}};
  saltus_kept_message kept;
  contact.name = "floor";
  const saltus_formula_def def = {.coordinates = coordinates,
                                  .coordinate_count = 2,
                                  .kinetic = {kinetic, "s.yaml", 1, 1, "kinetic"},
                                  .contacts = &contact,
                                  .contact_count = 1,
                                  .log = saltus_log_keep(&kept)};
  saltus_formula_model* model;
  assert_int_equal(saltus_formula_model_create(&def, &model), SALTUS_ERR_INPUT);
  return kept;
}

static void mechanics_that_cannot_be_is_refused(void** state) {
  (void)state;
  const char* T = "x'^2 + y'^2";
  const saltus_formula_contact usual = {.gap = TEXT("y")};
  saltus_kept_message kept = refused("x'^2 + y'^3", usual);
  assert_says(kept, "s.yaml:1:8: kinetic: the energy is not quadratic in the velocities: its "
                    "derivative by y' and y' still depends on velocities\nx'^2 + y'^3\n       ^");
  kept = refused("x'^2 + y'*abs(y')", usual);
  assert_says(kept, "the energy is not quadratic in the velocities: one occurs in abs, sign, min");
  kept = refused("x'^2", usual);
  assert_says(kept, "s.yaml:1: kinetic: y' does not occur squared: coordinate \"y\" has no mass");

  saltus_formula_contact c = usual;
  c.slip = (saltus_formula_text)TEXT("y + x'^2");
  kept = refused(T, c);
  assert_says(kept,
              "slip of contact \"floor\": slip is not linear in the velocity x'\ny + x'^2\n    ^");
  c = usual;
  c.friction = (saltus_formula_text)TEXT("-0.1");
  kept = refused(T, c);
  assert_says(kept, "friction of contact \"floor\": the value is -0.1, must be >= 0\n-0.1\n^");
  c = usual;
  c.restitution = (saltus_formula_text)TEXT("1.5");
  kept = refused(T, c);
  assert_says(kept, "restitution of contact \"floor\": the value is 1.5, must be between 0 and 1");
  c = usual;
  c.friction = (saltus_formula_text)TEXT("x");
  kept = refused(T, c);
  assert_says(kept, "coordinate \"x\" is not allowed here: a constant is required");
  c.gap = (saltus_formula_text)TEXT("y'");
  kept = refused(T, c);
  assert_says(kept, "gap of contact \"floor\": velocities are not allowed here");
}

/* N links, absolute angles a_i from the vertical, point masses m_i at the ends, lengths l_i:
 * M_ij = mu_max(i,j) l_i l_j cos(a_i - a_j), mu_k = sum of m from k on,
 * F_i = -sum_j mu_max(i,j) l_i l_j sin(a_i - a_j) v_j^2 - mu_i g l_i sin(a_i). */
static void assert_three_links(const saltus_formula_parameter* parameters, const double* m,
                               const double* l) {
  const saltus_formula_coordinate a[3] = {{.name = "a1"}, {.name = "a2"}, {.name = "a3"}};
  const saltus_formula_def def = {
      .parameters = parameters,
      .parameter_count = 7,
      .coordinates = a,
      .coordinate_count = 3,
      .kinetic =
          TEXT("m1/2*(l1*a1')^2"
               " + m2/2*((l1*cos(a1)*a1' + l2*cos(a2)*a2')^2 + (l1*sin(a1)*a1' + l2*sin(a2)*a2')^2)"
               " + m3/2*((l1*cos(a1)*a1' + l2*cos(a2)*a2' + l3*cos(a3)*a3')^2"
               "       + (l1*sin(a1)*a1' + l2*sin(a2)*a2' + l3*sin(a3)*a3')^2)"),
      .potential = TEXT("-g*(m1*l1*cos(a1) + m2*(l1*cos(a1) + l2*cos(a2))"
                        " + m3*(l1*cos(a1) + l2*cos(a2) + l3*cos(a3)))")};
  fixture f = open_model(&def);
  const double q[3] = {0.4, -1.1, 2.3}, v[3] = {1.5, -0.7, 0.9};
  double M[9], F[3];
  f.at.q = q;
  f.at.v = v;
  f.system->ops->mass(f.system->self, &f.at, M);
  f.system->ops->force(f.system->self, &f.at, F);
  for (int i = 0; i < 3; i++) {
    double hand = 0.0;
    for (int j = 0; j < 3; j++) {
      double mu = 0.0;
      for (int k = i > j ? i : j; k < 3; k++) {
        mu += m[k];
      }
      assert_near(M[3 * i + j], mu * l[i] * l[j] * cos(q[i] - q[j]), 1e-12);
      hand -= mu * l[i] * l[j] * sin(q[i] - q[j]) * v[j] * v[j];
      hand -= j == i ? mu * 9.81 * l[i] * sin(q[i]) : 0.0;
    }
    assert_near(F[i], hand, 1e-12 * (1.0 + fabs(hand)));
  }
  check_derivatives(&f, 0.0, q, v);
  assert_int_equal(f.system->traits & SALTUS_CONSTANT_MASS, 0);
  close_model(&f);
}

static void a_triple_pendulum_agrees_with_the_hand_derived_equations(void** state) {
  (void)state;
  const saltus_formula_parameter unit[7] = {
      {"m1", TEXT("1")}, {"m2", TEXT("1")}, {"m3", TEXT("1")},  {"l1", TEXT("1")},
      {"l2", TEXT("1")}, {"l3", TEXT("1")}, {"g", TEXT("9.81")}};
  const saltus_formula_parameter general[7] = {
      {"m1", TEXT("0.7")}, {"m2", TEXT("2*m1")}, {"m3", TEXT("0.3")}, {"l1", TEXT("1.2")},
      {"l2", TEXT("0.4")}, {"l3", TEXT("0.9")},  {"g", TEXT("9.81")}};
  const double ones[3] = {1, 1, 1}, m[3] = {0.7, 1.4, 0.3}, l[3] = {1.2, 0.4, 0.9};
  assert_three_links(unit, ones, ones);
  assert_three_links(general, m, l);
}

static fixture open_double_pendulum(const saltus_allocator* allocator) {
  const saltus_formula_coordinate q[2] = {{.name = "q1", .unit = "rad", .start = TEXT("pi/2")},
                                          {.name = "q2", .velocity = TEXT("-3")}};
  const saltus_formula_contact wall = {
      .name = "wall", .gap = TEXT("1.5 - sin(q1) - sin(q2)"), .restitution = TEXT("0.5")};
  const saltus_formula_def def = {.coordinates = q,
                                  .coordinate_count = 2,
                                  .kinetic = TEXT("q1'^2 + q2'^2/2 + cos(q1 - q2)*q1'*q2'"),
                                  .potential = TEXT("-2*9.81*cos(q1) - 9.81*cos(q2)"),
                                  .contacts = &wall,
                                  .contact_count = 1,
                                  .allocator = allocator};
  return open_model(&def);
}

static void the_double_pendulum_agrees_with_hand_written_code(void** state) {
  (void)state;
  fixture f = open_double_pendulum(NULL);
  const saltus_system_ops* ops = f.system->ops;
  const double q[2] = {0.6, -0.9}, v[2] = {1.7, -2.2};
  const double s = sin(q[0] - q[1]), c = cos(q[0] - q[1]);
  double M[4], F[2], F_q[4], F_v[4], gap, G[2] = {0}, b = 0, conv = 0;
  int law = 0;
  uint64_t identity = 0;
  saltus_contact_list list = {1, 1, INFINITY, &gap, &identity, &law, 0.0, false};
  saltus_rows rows = {.count = 1, .width = 2, .stride = 2, .G = G, .b = &b, .c = &conv};
  f.at.q = q;
  f.at.v = v;
  ops->mass(f.system->self, &f.at, M);
  ops->force(f.system->self, &f.at, F);
  ops->force_q(f.system->self, &f.at, F_q);
  ops->force_v(f.system->self, &f.at, F_v);
  assert_int_equal(ops->contacts(f.system->self, &f.at, &list), SALTUS_OK);
  ops->contact(f.system->self, &f.at, 0, &rows);
  const double hand_M[4] = {2, c, c, 1};
  const double hand_F_q[4] = {-c * v[1] * v[1] - 19.62 * cos(q[0]), c * v[1] * v[1],
                              c * v[0] * v[0], -c * v[0] * v[0] - 9.81 * cos(q[1])};
  const double hand_F_v[4] = {0, -2 * s * v[1], 2 * s * v[0], 0};
  for (int i = 0; i < 4; i++) {
    assert_near(M[i], hand_M[i], 1e-15);
    assert_near(F_q[i], hand_F_q[i], 1e-13);
    assert_near(F_v[i], hand_F_v[i], 1e-13);
  }
  assert_near(F[0], -s * v[1] * v[1] - 19.62 * sin(q[0]), 1e-13);
  assert_near(F[1], s * v[0] * v[0] - 9.81 * sin(q[1]), 1e-13);
  assert_near(gap, 1.5 - sin(q[0]) - sin(q[1]), 1e-15);
  assert_near(G[0], -cos(q[0]), 1e-15);
  assert_near(G[1], -cos(q[1]), 1e-15);
  assert_true(b == 0.0);
  assert_near(conv, sin(q[0]) * v[0] * v[0] + sin(q[1]) * v[1] * v[1], 1e-14);
  check_derivatives(&f, 0.0, q, v);
  close_model(&f);
}

static void start_labels_and_laws_are_kept(void** state) {
  (void)state;
  fixture f = open_double_pendulum(NULL);
  assert_true(saltus_formula_model_q0(f.model)[0] == PI / 2);
  assert_true(saltus_formula_model_v0(f.model)[1] == -3.0);
  assert_string_equal(f.system->q_labels[0].name, "q1");
  assert_string_equal(f.system->v_labels[0].name, "q1'");
  assert_string_equal(f.system->v_labels[0].unit, "rad/s");
  assert_string_equal(f.system->v_labels[1].unit, "");
  assert_string_equal(f.system->laws[0].name, "wall");
  assert_true(f.system->laws[0].e_N == 0.5 && f.system->laws[0].tangents == 0);
  close_model(&f);
}

/* A disc on a driven, curved floor: position and velocity slips, a joint, moving gaps. */
static void driven_rows_have_time_and_convective_parts(void** state) {
  (void)state;
  const saltus_formula_parameter parameters[2] = {{"A", TEXT("0.3")}, {"w", TEXT("4")}};
  const saltus_formula_coordinate q[3] = {{.name = "x"}, {.name = "y"}, {.name = "phi"}};
  const saltus_formula_contact contacts[2] = {{.name = "floor",
                                               .gap = TEXT("y - A*sin(w*t) - x^2"),
                                               .slip = TEXT("x'*cos(x) + 0.5*phi' - A*t^2"),
                                               .slip2 = TEXT("x*t + sin(phi)"),
                                               .friction = TEXT("0.4")},
                                              {.name = "wall", .gap = TEXT("2 - x*cos(w*t)")}};
  const saltus_formula_joint joint = {.name = "cam", .constraint = TEXT("x*y - A*exp(-t)*phi")};
  const saltus_formula_def def = {.parameters = parameters,
                                  .parameter_count = 2,
                                  .coordinates = q,
                                  .coordinate_count = 3,
                                  .kinetic = TEXT("(x'^2 + y'^2 + phi'^2/4)/2"),
                                  .joints = &joint,
                                  .joint_count = 1,
                                  .contacts = contacts,
                                  .contact_count = 2};
  fixture f = open_model(&def);
  const double x[3] = {0.7, 1.1, -0.4}, v[3] = {1.3, -0.6, 2.1}, t = 0.35;
  check_derivatives(&f, t, x, v);
  double G[9] = {0}, b[3] = {0}, c[3] = {0};
  saltus_rows rows = {.count = 3, .width = 3, .stride = 3, .G = G, .b = b, .c = c};
  f.at = (saltus_point){.t = t, .q = x, .v = v, .scratch = f.at.scratch};
  f.system->ops->contact(f.system->self, &f.at, 0, &rows);
  const double hand_G[9] = {-1.4, 1, 0, cos(0.7), 0, 0.5, t, 0, cos(-0.4)};
  for (int i = 0; i < 9; i++) {
    assert_near(G[i], hand_G[i], 1e-15);
  }
  assert_near(b[0], -0.3 * 4 * cos(4 * t), 1e-15);
  assert_near(b[1], -0.3 * t * t, 1e-15);
  assert_near(b[2], 0.7, 1e-15);
  assert_near(c[0], 0.3 * 16 * sin(4 * t) - 2 * v[0] * v[0], 1e-14);
  assert_near(c[1], -sin(0.7) * v[0] * v[0] - 0.6 * t, 1e-14);
  assert_near(c[2], 2 * v[0] + sin(0.4) * v[2] * v[2], 1e-14);
  assert_string_equal(saltus_formula_model_joint_name(f.model, 0), "cam");
  assert_int_equal(f.system->traits & SALTUS_CONSTANT_NORMALS, 0);
  close_model(&f);
}

/* A bead on a ring that turns with w(t) = w0 t about its vertical diameter, and a cart whose mass
 * grows: T has parts without velocities, linear in them, and an explicit time. */
static void moving_frames_give_their_inertia_forces(void** state) {
  (void)state;
  const saltus_formula_coordinate q[2] = {{.name = "a"}, {.name = "x"}};
  const saltus_formula_def def = {.coordinates = q,
                                  .coordinate_count = 2,
                                  .kinetic =
                                      TEXT("(a'^2 + (2*t*sin(a))^2)/2 + (1 + t)*(x' + 3*t*x)^2/2"),
                                  .potential = TEXT("-9.81*cos(a)")};
  fixture f = open_model(&def);
  const double x[2] = {0.8, 1.4}, v[2] = {-0.5, 0.9}, t = 0.6;
  double M[4], F[2];
  f.at = (saltus_point){.t = t, .q = x, .v = v, .scratch = f.at.scratch};
  f.system->ops->mass(f.system->self, &f.at, M);
  f.system->ops->force(f.system->self, &f.at, F);
  assert_near(M[0], 1.0, 0.0);
  assert_near(M[3], 1.0 + t, 1e-15);
  assert_near(F[0], 4 * t * t * sin(0.8) * cos(0.8) - 9.81 * sin(0.8), 1e-14);
  /* T_x - d/dt T_x' at x'' = 0, with u = x' + 3 t x: 3 t (1+t) u - u - (1+t)(3 x + 3 t x') */
  double u = v[1] + 3 * t * x[1];
  assert_near(F[1], 3 * t * (1 + t) * u - u - (1 + t) * (3 * x[1] + 3 * t * v[1]), 1e-14);
  check_derivatives(&f, t, x, v);
  close_model(&f);
}

static void a_hidden_quadratic_is_accepted(void** state) {
  (void)state;
  const saltus_formula_coordinate x = {.name = "x"};
  const saltus_formula_def def = {.coordinates = &x,
                                  .coordinate_count = 1,
                                  .kinetic = TEXT("((x' + 1)^3 - x'^3 - 3*x' - 1)/6")};
  fixture f = open_model(&def);
  double M, q = 0.2;
  f.at.q = &q;
  f.system->ops->mass(f.system->self, &f.at, &M);
  assert_near(M, 1.0, 1e-15);
  close_model(&f);
}

static void traits_follow_the_structure(void** state) {
  (void)state;
  const struct {
    const char *kinetic, *potential, *gap;
    unsigned traits;
  } cases[] = {
      {"x'^2", "9.81*x", "x - t", 15},
      {"x'^2", "x^2 + sin(t)*x", "x", 11},
      {"x'^2", "x^4", "x^2", 1},
      {"(1 + t)*x'^2", "0", "x - t^2", 2},
      {"exp(x)*x'^2", "0", "x", 8},
      {"x'^2", "step(x)", "x", 15},
      {"x'^2", "x*step(x)", "x + step(t)", 1},
      {"x'^2", "x*step(t)", "x", 15},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const saltus_formula_coordinate x = {.name = "x"};
    const saltus_formula_contact contact = {.gap = {.text = cases[i].gap}};
    const saltus_formula_def def = {.coordinates = &x,
                                    .coordinate_count = 1,
                                    .kinetic = {.text = cases[i].kinetic},
                                    .potential = {.text = cases[i].potential},
                                    .contacts = &contact,
                                    .contact_count = 1};
    fixture f = open_model(&def);
    const double q = 0.4, v = 1.1;
    check_derivatives(&f, 0.2, &q, &v);
    assert_int_equal(f.system->traits, cases[i].traits);
    close_model(&f);
  }
}

/* --- size and memory -------------------------------------------------------------------------- */

enum { BALLS = 1000, NAME_BYTES = 16, GAP_BYTES = 64, TERM_BYTES = 32 };

typedef struct chain {
  char names[BALLS][NAME_BYTES], gaps[BALLS][GAP_BYTES];
  char kinetic[BALLS * TERM_BYTES], potential[BALLS * TERM_BYTES];
  saltus_formula_coordinate coordinates[BALLS];
  saltus_formula_contact contacts[BALLS];
} chain;

static const saltus_formula_parameter ball_parameters[3] = {
    {"m", TEXT("2")}, {"g", TEXT("9.81")}, {"R", TEXT("0.1")}};

/* A column of balls, each over the one before. */
static fixture open_chain(chain* c) {
  size_t T = 0, V = 0;
  for (int i = 0; i < BALLS; i++) {
    const char* plus = i > 0 ? " + " : "";
    snprintf(c->names[i], NAME_BYTES, "x%d", i);
    T += (size_t)snprintf(c->kinetic + T, TERM_BYTES, "%sm/2*x%d'^2", plus, i);
    V += (size_t)snprintf(c->potential + V, TERM_BYTES, "%sm*g*x%d", plus, i);
    snprintf(c->gaps[i], GAP_BYTES, "x%d - x%d - 2*R", i, i - 1);
    c->coordinates[i] = (saltus_formula_coordinate){.name = c->names[i]};
    c->contacts[i] = (saltus_formula_contact){.gap = {.text = i > 0 ? c->gaps[i] : "x0 - R"}};
  }
  const saltus_formula_def def = {.parameters = ball_parameters,
                                  .parameter_count = 3,
                                  .coordinates = c->coordinates,
                                  .coordinate_count = BALLS,
                                  .kinetic = {.text = c->kinetic},
                                  .potential = {.text = c->potential},
                                  .contacts = c->contacts,
                                  .contact_count = BALLS};
  return open_model(&def);
}

typedef struct linear_fixture {
  saltusi_eval eval;
  saltusi_linear linear;
  void* block;
} linear_fixture;

static linear_fixture open_linear(const saltus_system* sys) {
  linear_fixture l = {.eval = {.sys = *sys}};
  saltus_arena arena = saltus_arena_counting();
  saltusi_eval_layout(&l.eval, &arena);
  saltusi_linear_layout(&l.linear, sys, &arena);
  const size_t bytes = arena.used;
  l.block = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  assert_non_null(l.block);
  arena = saltus_arena_over(l.block, bytes);
  saltusi_eval_layout(&l.eval, &arena);
  saltusi_linear_layout(&l.linear, sys, &arena);
  return l;
}

static void a_chain_of_a_thousand_balls_is_sparse(void** state) {
  (void)state;
  chain* c = calloc(1, sizeof *c);
  double* x = calloc(3 * BALLS, sizeof *x);
  assert_non_null(c);
  assert_non_null(x);
  fixture f = open_chain(c);
  const saltus_system* s = f.system;
  assert_int_equal(s->dims.row_width, 2);
  assert_int_equal(s->traits, 15);
  assert_in_range(s->dims.scratch, 8, 64 * BALLS);

  double G[2] = {0}, b = 0, conv = 0;
  int column[2] = {0};
  saltus_rows rows = {
      .count = 1, .width = 2, .stride = 2, .column = column, .G = G, .b = &b, .c = &conv};
  f.at.q = x;
  f.at.v = x + BALLS;
  s->ops->contact(s->self, &f.at, 500, &rows);
  assert_int_equal(rows.width, 2);
  assert_int_equal(column[0], 499);
  assert_int_equal(column[1], 500);
  assert_true(G[0] == -1.0 && G[1] == 1.0);
  s->ops->contact(s->self, &f.at, 0, &rows);
  assert_int_equal(rows.width, 1);
  assert_int_equal(column[0], 0);

  /* by its structure: (3 M)^-1 F */
  assert_int_equal(s->structure->blocks, BALLS);
  assert_int_equal(s->structure->pairs, 0);
  linear_fixture l = open_linear(s);
  assert_int_equal(saltusi_linear_assemble(&l.eval, &l.linear, &f.at, 3.0, 0.0, 0.5), SALTUS_OK);
  assert_true(l.linear.diagonal);
  s->ops->force(s->self, &f.at, x + 2 * BALLS);
  saltusi_linear_solve(&l.eval, &l.linear, x + 2 * BALLS);
  for (int i = 0; i < BALLS; i++) {
    assert_near(x[2 * BALLS + i], -9.81 / 3.0, 1e-15);
  }
  assert_int_equal(saltusi_linear_assemble(&l.eval, &l.linear, &f.at, 0.0, 1.0, 0.0),
                   SALTUS_ERR_SINGULAR);
  free(l.block);
  close_model(&f);
  free(x);
  free(c);
}

enum { LINKS = 12 };

/* Bodies of two coordinates that the kinetic energy couples, springs from each to the next but one; `named`
 * springs are those of which the model knows the Gauss-Newton parts. */
static fixture open_links(bool named, saltus_formula_coordinate* coordinates, char* text) {
  static char names[2 * LINKS][8], elongations[LINKS][48];
  static saltus_formula_spring springs[LINKS];
  char* kinetic = text;
  char* potential = text + 4096;
  kinetic[0] = potential[0] = '\0';
  for (int i = 0; i < LINKS; i++) {
    snprintf(names[2 * i], 8, "x%d", i % 100);
    snprintf(names[2 * i + 1], 8, "y%d", i % 100);
    coordinates[2 * i].name = names[2 * i];
    coordinates[2 * i + 1].name = names[2 * i + 1];
    kinetic += snprintf(kinetic, 200, "%s(x%d'^2 + (2 + cos(x%d))*y%d'^2 + x%d'*y%d'*cos(y%d))/2",
                        i > 0 ? " + " : "", i, i, i, i, i, i);
    if (i >= 2) {
      snprintf(elongations[i - 2], 48, "x%d - x%d + y%d^2", i, i - 2, i);
      springs[i - 2] = (saltus_formula_spring){.elongation = {.text = elongations[i - 2]},
                                               .stiffness = {.text = "20"},
                                               .damping = {.text = "0.3"}};
      potential += snprintf(potential, 200, "%s10*(%s)^2", i > 2 ? " + " : "", elongations[i - 2]);
    }
  }
  const saltus_formula_def def = {.coordinates = coordinates,
                                  .coordinate_count = 2 * LINKS,
                                  .kinetic = {.text = text},
                                  .potential = {.text = named ? NULL : text + 4096},
                                  .springs = springs,
                                  .spring_count = named ? LINKS - 2 : 0};
  return open_model(&def);
}

static void compare_with_dense(fixture* f, const double* q, const double* v) {
  saltus_system dense = *f->system;
  saltus_system_ops ops = *f->system->ops;
  ops.blocks = NULL;
  dense.ops = &ops;
  dense.structure = NULL;
  linear_fixture blocks = open_linear(f->system), full = open_linear(&dense);
  f->at.q = q;
  f->at.v = v;
  double x[2 * LINKS], y[2 * LINKS];
  for (int i = 0; i < 2 * LINKS; i++) {
    x[i] = y[i] = 1.0 + i;
  }
  assert_int_equal(saltusi_linear_assemble(&full.eval, &full.linear, &f->at, 1.0, -0.05, -0.01),
                   SALTUS_OK);
  assert_int_equal(saltusi_linear_assemble(&blocks.eval, &blocks.linear, &f->at, 1.0, -0.05, -0.01),
                   SALTUS_OK);
  assert_true(saltusi_linear_coupled(&blocks.linear));
  saltusi_linear_solve(&full.eval, &full.linear, x);
  saltusi_linear_solve(&blocks.eval, &blocks.linear, y);
  for (int i = 0; i < 2 * LINKS; i++) {
    assert_near(y[i], x[i], 1e-12);
  }
  free(full.block);
  free(blocks.block);
}

/* Structure from formulas: a block for each body, a pair for each spring. 1e-9: differences. */
static void the_structure_of_formulas_is_found(void** state) {
  (void)state;
  static saltus_formula_coordinate coordinates[2 * LINKS];
  static char text[8192];
  double q[2 * LINKS], v[2 * LINKS];
  for (int i = 0; i < 2 * LINKS; i++) {
    q[i] = 0.4 * sin(1.0 + i);
    v[i] = cos(2.0 * i);
  }
  for (int named = 0; named < 2; named++) {
    fixture f = open_links(named == 1, coordinates, text);
    const saltus_structure* s = f.system->structure;
    assert_non_null(s);
    assert_int_equal(s->blocks, LINKS);
    assert_int_equal(s->pairs, LINKS - 2);
    for (int i = 0; i < LINKS; i++) {
      assert_int_equal(s->start[i], 2 * i);
    }
    for (int p = 0; p < LINKS - 2; p++) {
      assert_int_equal(s->pair[2 * p], p);
      assert_int_equal(s->pair[2 * p + 1], p + 2);
    }
    saltus_system_check_result result;
    assert_int_equal(saltus_system_check(f.system, 0.1, q, v, (saltus_log){0}, &result), SALTUS_OK);
    assert_true(result.blocks <= 1e-15);
    assert_true(result.worst <= 1e-9);
    compare_with_dense(&f, q, v);
    close_model(&f);
  }
}

/* Everything a scheme may ask of a model with two velocities and one contact. */
static void evaluate_all(const fixture* f) {
  const saltus_system* s = f->system;
  double matrix[4], vector[2], gap, G[2] = {0}, b = 0, c = 0;
  int law = 0;
  uint64_t identity = 0;
  saltus_contact_list list = {1, 1, INFINITY, &gap, &identity, &law, 0.0, false};
  saltus_rows rows = {.count = 1, .width = 2, .stride = 2, .G = G, .b = &b, .c = &c};
  s->ops->mass(s->self, &f->at, matrix);
  s->ops->force(s->self, &f->at, vector);
  s->ops->force_q(s->self, &f->at, matrix);
  s->ops->force_v(s->self, &f->at, matrix);
  s->ops->mass_q(s->self, &f->at, matrix);
  s->ops->kinetic_gradient(s->self, &f->at, vector);
  assert_true(isfinite(s->ops->kinetic(s->self, &f->at) + s->ops->potential(s->self, &f->at)));
  assert_int_equal(s->ops->contacts(s->self, &f->at, &list), SALTUS_OK);
  s->ops->contact(s->self, &f->at, 0, &rows);
  list.capacity = 0;
  assert_int_equal(s->ops->contacts(s->self, &f->at, &list), SALTUS_RETRY_CAPACITY);
}

static void evaluating_allocates_nothing(void** state) {
  (void)state;
  const double q[2] = {0.1, 0.2}, v[2] = {0.3, 0.4};
  counter count = {0};
  saltus_allocator allocator = counting_allocator(&count);
  fixture f = open_double_pendulum(&allocator);
  int calls = count.calls;
  f.at.q = q;
  f.at.v = v;
  for (int i = 0; i < 100; i++) {
    evaluate_all(&f);
  }
  assert_int_equal(count.calls, calls);
  close_model(&f);
  assert_int_equal(count.live, 0);
}

static void running_out_of_memory_anywhere_leaks_nothing(void** state) {
  (void)state;
  const saltus_formula_coordinate x = {.name = "x", .start = TEXT("a")};
  const saltus_formula_parameter a = {"a", TEXT("2")};
  const saltus_formula_contact wall = {.gap = TEXT("min(x, x^2 - 1)"), .slip = TEXT("x'*cos(x)")};
  for (int k = 1;; k++) {
    counter count = {.fail_at = k};
    saltus_allocator allocator = counting_allocator(&count);
    saltus_formula_model* model;
    const saltus_formula_def def = {.parameters = &a,
                                    .parameter_count = 1,
                                    .coordinates = &x,
                                    .coordinate_count = 1,
                                    .kinetic = TEXT("a*exp(max(x, 0))*x'^2"),
                                    .potential = TEXT("piecewise(x > 0, sin(x)^3, x^2)"),
                                    .contacts = &wall,
                                    .contact_count = 1,
                                    .allocator = &allocator};
    saltus_status status = saltus_formula_model_create(&def, &model);
    if (status == SALTUS_OK) {
      assert_in_range(k, 10, 1000);
      saltus_formula_model_destroy(model);
      assert_int_equal(count.live, 0);
      break;
    }
    assert_int_equal(status, SALTUS_ERR_MEMORY);
    assert_null(model);
    assert_int_equal(count.live, 0);
  }
  saltus_formula_model_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mechanics_that_cannot_be_is_refused),
      cmocka_unit_test(a_triple_pendulum_agrees_with_the_hand_derived_equations),
      cmocka_unit_test(the_double_pendulum_agrees_with_hand_written_code),
      cmocka_unit_test(start_labels_and_laws_are_kept),
      cmocka_unit_test(driven_rows_have_time_and_convective_parts),
      cmocka_unit_test(moving_frames_give_their_inertia_forces),
      cmocka_unit_test(a_hidden_quadratic_is_accepted),
      cmocka_unit_test(traits_follow_the_structure),
      cmocka_unit_test(a_chain_of_a_thousand_balls_is_sparse),
      cmocka_unit_test(the_structure_of_formulas_is_found),
      cmocka_unit_test(evaluating_allocates_nothing),
      cmocka_unit_test(running_out_of_memory_anywhere_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
