/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Schemes with laws of their own, time-DG and trapezoidal ones, on many joints and contacts: sparse rows give what
 * dense ones give, thousands of rows are treated in memory that grows with them, and joints may be there twice.
 */
#include "saltus_test.h"

#include "bodies.h"

#include "../../bench/links.h"

#include "saltus/time_dg.h"
#include "saltus/trapezoidal.h"

#include <stdlib.h>

typedef struct variant {
  const char* name;
  const char* scheme;
  int degree, closure; /* of dg */
} variant;

static const variant variants[] = {
    {"mean", "trapezoidal-implicit-mean", 0, 0},
    {"end", "trapezoidal-implicit-end", 0, 0},
    {"minus 1 velocity", "dg-minus", 1, SALTUS_DG_VELOCITY},
    {"minus 2 velocity", "dg-minus", 2, SALTUS_DG_VELOCITY},
    {"minus 3 velocity", "dg-minus", 3, SALTUS_DG_VELOCITY},
    {"minus 1 acceleration", "dg-minus", 1, SALTUS_DG_ACCELERATION},
    {"minus 2 position", "dg-minus", 2, SALTUS_DG_POSITION},
    {"plus 1 acceleration", "dg-plus", 1, SALTUS_DG_ACCELERATION},
    {"plus 2 acceleration", "dg-plus", 2, SALTUS_DG_ACCELERATION},
    {"plus 1 velocity", "dg-plus", 1, SALTUS_DG_VELOCITY},
    {"plus 2 velocity", "dg-plus", 2, SALTUS_DG_VELOCITY},
};
enum { MINUS = 2, PLUS_ACCELERATION = 7, PLUS_VELOCITY = 9, VARIANTS = 11 };

static saltus_dg_options options_of(const variant* v) {
  saltus_dg_options o = strcmp(v->scheme, "dg-plus") == 0 ? saltus_dg_plus_options_default()
                                                          : saltus_dg_minus_options_default();
  o.degree = v->degree;
  o.closure = v->closure;
  o.iteration =
      SALTUS_DG_FIXED_POINT; /* Newton's dense matrix would be taken in one form and not in the other */
  return o;
}

/* A start, which becomes the end; impulses of joints in the last step, and who gives memory, or NULL. */
typedef struct motion {
  double *q, *v, *impulse;
  const saltus_allocator* memory;
} motion;

static saltus_status step(const variant* v, const saltus_system* sys, double h, int steps,
                          motion m) {
  saltus_kept_message kept = {0};
  saltus_dg_options o = options_of(v);
  saltus_scheme_def def = {.scheme = v->scheme,
                           .system = sys,
                           .options = v->degree > 0 ? &o : NULL,
                           .allocator = m.memory,
                           .log = saltus_log_keep(&kept)};
  saltus_scheme* scheme;
  if (saltus_scheme_create(&def, &scheme) != SALTUS_OK) {
    fail_msg("%s: %s", v->name, kept.text);
  }
  saltus_state state = {.q = m.q, .v = m.v};
  saltus_step_report report = {0};
  saltus_status status = SALTUS_OK;
  for (int k = 0; k < steps && status == SALTUS_OK; k++) {
    status = saltus_scheme_step(scheme, h, &state, &report);
  }
  for (int j = 0; j < sys->dims.nj && status == SALTUS_OK && m.impulse != NULL; j++) {
    m.impulse[j] = report.joint_impulses[j];
  }
  if (status != SALTUS_OK) {
    print_message("%s: %s %s\n", v->name, saltus_status_text(status), kept.text);
  }
  saltus_scheme_destroy(scheme);
  return status;
}

enum { BODIES = 62, NV = 3 * BODIES };

/* Chains of pins, the other bodies alone or with springs; the first ones have contacts and hit the floor at different
 * times, slide and rest. Bodies apart make islands, pins components. */
typedef struct scene {
  int count, chain, chains; /* bodies, and how many in each chain */
  int contacts;
  double mu, e;
} scene;

static void fill(bodies* b, const scene* s, double* q, double* v) {
  *b = (bodies){.count = s->count,
                .contacts = s->contacts,
                .k = 20.0,
                .k3 = 1.0,
                .c = 0.5,
                .g = 9.81,
                .mu = s->mu,
                .e = s->e};
  int jointed = s->chain * s->chains;
  for (int i = 0; i < jointed; i++) {
    if (i % s->chain != s->chain - 1) {
      b->pin[2 * b->pins] = i;
      b->pin[2 * b->pins++ + 1] = i + 1;
    }
  }
  for (int i = jointed; i + 1 < s->count; i += 3) {
    b->spring[2 * b->springs] = i;
    b->spring[2 * b->springs++ + 1] = i + 1;
  }
  for (int i = 0; i < s->count; i++) {
    bool alone = i >= jointed;
    q[3 * i] = 0.7 * i;
    q[3 * i + 1] = i % 5 == 0 ? 0.008 : 0.02 + 0.003 * (i % 7);
    q[3 * i + 2] = 0.1 * (i % 7);
    v[3 * i] = 1.0 + (alone ? 0.1 * (i % 3) : 0.0);
    v[3 * i + 1] = -1.0;
    v[3 * i + 2] = alone ? 0.2 * (i % 4) : 0.0;
  }
}

static void compare(const variant* of, const scene* s, int steps) {
  static bodies b;
  double q[2][NV], v[2][NV], p[2][2 * BODIES];
  for (int form = 0; form < 2; form++) {
    fill(&b, s, q[form], v[form]);
    const saltus_system sys =
        bodies_system(&b, form == 0 ? BODIES_BLOCKS : BODIES_BLOCKS | BODIES_SPARSE, q[form]);
    assert_int_equal(step(of, &sys, 0.004, steps, (motion){q[form], v[form], p[form], NULL}),
                     SALTUS_OK);
  }
  double most = 0.0, force = 0.0;
  for (int i = 0; i < 3 * s->count; i++) {
    most = fmax(most, fabs(v[0][i] - v[1][i]));
  }
  for (int j = 0; j < 2 * b.pins; j++) {
    force = fmax(force, fabs(p[0][j] - p[1][j]));
  }
  if (!(most < 1e-9 && force < 1e-9)) {
    fail_msg("%s, %d contacts, mu %g: velocities %.1e, impulses of joints %.1e", of->name,
             s->contacts, s->mu, most, force);
  }
}

/* Velocities are some m/s; W of twelve links has a condition of 10^3, and stage laws are solved to some 1e-14 of their
 * forces in up to 60 sweeps. */
static void sparse_rows_move_as_dense_ones(void** state) {
  (void)state;
  static const scene scenes[] = {
      {36, 12, 3, 0, 0.0, 0.0}, {26, 9, 2, 22, 0.0, 0.3}, {26, 9, 2, 22, 0.3, 0.0}};
  for (int k = 0; k < VARIANTS; k++) {
    if (!saltus_test_takes(k)) {
      continue;
    }
    compare(&variants[k], &scenes[0], 1);
    compare(&variants[k], &scenes[1], 4);
    compare(&variants[k], &scenes[2], 4);
  }
}

/* One chain of 59 pins, whose joints are too many for one dense problem of all stages. */
static void long_chains_move_as_dense_ones(void** state) {
  (void)state;
  compare(&variants[PLUS_VELOCITY], &(scene){62, 60, 1, 0, 0.0, 0.0}, 1);
  compare(&variants[PLUS_ACCELERATION], &(scene){62, 60, 1, 2, 0.3, 0.0}, 4);
}

/* 79 pins beside 80 contacts stay in the problem of the contacts: with both rows of a pin as one unit, row by row, and
 * with dense rows. Impulses of joints alone among wedged contacts need not be unique; velocities are. */
static void rows_of_pins_are_one_unit_or_two(void** state) {
  (void)state;
  enum { MANY = 80 };
  static bodies b;
  static double q[3][3 * MANY], v[3][3 * MANY];
  static const unsigned forms[] = {BODIES_BLOCKS, BODIES_BLOCKS | BODIES_SPARSE,
                                   BODIES_BLOCKS | BODIES_SPARSE | BODIES_ROW_JOINTS};
  const variant moreau = {"moreau-jean", "moreau-jean", 0, 0};
  for (int k = 0; k < 3; k++) {
    fill(&b, &(scene){MANY, MANY, 1, MANY, 0.3, 0.0}, q[k], v[k]);
    const saltus_system sys = bodies_system(&b, forms[k], q[k]);
    assert_int_equal(step(&moreau, &sys, 0.004, 5, (motion){q[k], v[k], NULL, NULL}), SALTUS_OK);
    for (int i = 0; i < 3 * MANY;
         i++) { /* solved to 1e-13 of velocities of 1 m/s, conditions of 10^4 */
      assert_near(v[k][i], v[0][i], 1e-8);
    }
  }
}

/* Hinges that are there twice, at both configurations. */
static void doubled_hinges_move_as_dense_ones(void** state) {
  (void)state;
  static const links_def shapes[] = {{.dimension = 2, .count = 26, .doubled = 2},
                                     {.dimension = 3, .count = 10, .doubled = 2, .twisted = true}};
  for (int k = 0; k < VARIANTS; k++) {
    if (!saltus_test_takes(k + 1)) {
      continue;
    }
    for (int shape = 0; shape < 2; shape++) {
      saltus_mechanism* made = links_create(&shapes[shape]);
      saltus_system sys = *saltus_mechanism_system(made);
      double q[2][200], v[2][200], p[2][200];
      for (int form = 0; form < 2; form++) {
        memcpy(q[form], saltus_mechanism_q0(made), (size_t)sys.dims.nq * sizeof(double));
        memcpy(v[form], saltus_mechanism_v0(made), (size_t)sys.dims.nv * sizeof(double));
        assert_int_equal(
            step(&variants[k], &sys, 0.002, 2, (motion){q[form], v[form], p[form], NULL}),
            SALTUS_OK);
        sys.dims.row_width = 0;
      }
      for (int i = 0; i < sys.dims.nv; i++) {
        assert_near(v[0][i], v[1][i], 1e-9);
      }
      for (int j = 0; j < sys.dims.nj; j++) {
        assert_near(p[0][j], p[1][j], 1e-9);
      }
      saltus_mechanism_destroy(made);
    }
  }
}

/* Bytes at hand, and the most there were. */
typedef struct tally {
  size_t now, most;
} tally;

static void* tally_alloc(size_t bytes, void* user) {
  tally* t = user;
  t->now += bytes;
  t->most = t->now > t->most ? t->now : t->most;
  return malloc(bytes);
}

static void tally_free(void* block, size_t bytes, void* user) {
  ((tally*)user)->now -= bytes;
  free(block);
}

/* Dense laws of 2000 rows would be 32 MB for each matrix of one stage, and there are some ten of them; twice the
 * links, at most 2.3 times the memory: room grows by halves. */
static void a_thousand_links_take_memory_in_proportion(void** state) {
  (void)state;
  static const int some[] = {0, 1, MINUS, PLUS_ACCELERATION, PLUS_VELOCITY};
  for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
    tally memory[2] = {{0, 0}, {0, 0}};
    for (int twice = 0; twice < 2; twice++) {
      const links_def def = {.dimension = 2, .count = twice == 0 ? 500 : 1000};
      saltus_mechanism* made = links_create(&def);
      const saltus_system* sys = saltus_mechanism_system(made);
      double* q = malloc((size_t)sys->dims.nq * sizeof(double));
      double* v = malloc((size_t)sys->dims.nv * sizeof(double));
      memcpy(q, saltus_mechanism_q0(made), (size_t)sys->dims.nq * sizeof(double));
      memcpy(v, saltus_mechanism_v0(made), (size_t)sys->dims.nv * sizeof(double));
      const saltus_allocator counted = {
          .alloc = tally_alloc, .free = tally_free, .user = &memory[twice]};
      assert_int_equal(step(&variants[some[k]], sys, 0.001, 2, (motion){q, v, NULL, &counted}),
                       SALTUS_OK);
      /* drift of a step is at most h^2 times the square of a speed of 0.02 m/s over a link */
      assert_true(links_defect(sys, 0.0, q) < 1e-7);
      free(q);
      free(v);
      saltus_mechanism_destroy(made);
    }
    if (!((double)memory[1].most < 2.3 * (double)memory[0].most &&
          (double)memory[1].most < 160e6)) {
      fail_msg("%s: %.1f and %.1f MB", variants[some[k]].name, 1e-6 * (double)memory[0].most,
               1e-6 * (double)memory[1].most);
    }
  }
}

/* Acceleration of body i of bodies.h, alone on the floor, where it slides forward: M a = F + N (-mu, 1, 0), a_y = 0. */
static void slide(int i, double mu, double g, double a[3]) {
  static const double M[3][3] = {{2.0, 0.3, 0.1}, {0.3, 2.5, -0.2}, {0.1, -0.2, 0.8}};
  /* rows x and a of M with a_y = 0, and N from row y: M_xx a_x + M_xa a_a + mu N = F_x ... */
  double xx = M[0][0] + mu * M[1][0], xa = M[0][2] + mu * M[1][2];
  double right = 0.1 * i - mu * M[1][1] * g;
  double det = xx * M[2][2] - xa * M[2][0];
  a[0] = right * M[2][2] / det;
  a[1] = 0.0;
  a[2] = -right * M[2][0] / det;
}

/* A thousand bodies that slide, each as if it were alone; dense laws refused 400 rows. */
static void bodies_apart_slide_as_if_alone(void** state) {
  (void)state;
  enum { MANY = 1000 };
  static bodies b;
  static double q[3 * MANY], v[3 * MANY];
  for (int k = 0; k < VARIANTS; k++) {
    if (!saltus_test_takes(k + 2)) {
      continue;
    }
    tally memory = {0, 0};
    const saltus_allocator counted = {.alloc = tally_alloc, .free = tally_free, .user = &memory};
    b = (bodies){.count = MANY, .contacts = MANY, .g = 9.81, .mu = 0.3};
    for (int i = 0; i < MANY; i++) {
      q[3 * i] = q[3 * i + 1] = q[3 * i + 2] = 0.0;
      v[3 * i] = 1.0;
      v[3 * i + 1] = v[3 * i + 2] = 0.0;
    }
    const saltus_system sys = bodies_system(&b, BODIES_BLOCKS | BODIES_SPARSE, q);
    assert_int_equal(step(&variants[k], &sys, 0.01, 2, (motion){q, v, NULL, &counted}), SALTUS_OK);
    for (int i = 0; i < MANY; i++) {
      double a[3];
      slide(i, b.mu, b.g, a);
      for (int c = 0; c < 3; c++) { /* a constant acceleration of up to 60 m/s^2 */
        assert_near(v[3 * i + c], (c == 0 ? 1.0 : 0.0) + 0.02 * a[c], 1e-12);
      }
    }
    if (!((double)memory.most < 60e6)) {
      fail_msg("%s: %.1f MB", variants[k].name, 1e-6 * (double)memory.most);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sparse_rows_move_as_dense_ones),
      cmocka_unit_test(long_chains_move_as_dense_ones),
      cmocka_unit_test(rows_of_pins_are_one_unit_or_two),
      cmocka_unit_test(doubled_hinges_move_as_dense_ones),
      cmocka_unit_test(a_thousand_links_take_memory_in_proportion),
      cmocka_unit_test(bodies_apart_slide_as_if_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
