/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_flexible.c - flexible bodies: reduction against the eigenvalues of the whole matrices, inertia against sums over nodes,
 * files, what is refused; scenes with them: derivatives, free rotation, impact of a bar.
 */
#include "fe_brick.h"
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void dsygv_(const int* itype, const char* jobz, const char* uplo, const int* n, double* a,
            const int* lda, double* b, const int* ldb, double* w, double* work, const int* lwork,
            int* info);

static char folder[] = "/tmp/saltus-flexible-XXXXXX";
static fe_brick bar;
static char paths[8][256];

static const char* in_folder(int i, const char* name) {
  snprintf(paths[i], sizeof paths[i], "%s/%s", folder, name);
  return paths[i];
}

static saltus_reduce_def bar_def(saltus_log log) {
  return (saltus_reduce_def){.stiffness = in_folder(0, "bar.sti"),
                             .mass = in_folder(1, "bar.mas"),
                             .dof = in_folder(2, "bar.dof"),
                             .mesh = in_folder(3, "bar.inp"),
                             .log = log};
}

static int make(void** state) {
  (void)state;
  if (mkdtemp(folder) == NULL) {
    return -1;
  }
  bar = (fe_brick){.cells = {6, 1, 1},
                   .size = {1, 0.1, 0.15},
                   .E = 2.1e11,
                   .nu = 0.3,
                   .density = 7850,
                   .gauss = 2};
  fe_brick_make(&bar);
  fe_brick_write(&bar, folder, "bar");
  return 0;
}

/* All eigenvalues of the files, by LAPACK. */
static void whole(double* w) {
  static double A[BRICK_ROWS * BRICK_ROWS], B[BRICK_ROWS * BRICK_ROWS], work[40 * BRICK_ROWS];
  const int n = bar.rows, one = 1, room = 40 * BRICK_ROWS;
  int info = 0;
  for (int i = 0; i < n * n; i++) {
    A[i] = bar.K[i / n][i % n];
    B[i] = bar.M[i / n][i % n];
  }
  dsygv_(&one, "N", "U", &n, A, &n, B, &n, w, work, &room, &info);
  assert_int_equal(info, 0);
}

static saltus_flexible* reduce(const saltus_reduce_def* def, saltus_kept_message* kept) {
  saltus_flexible* body;
  if (saltus_flexible_reduce(def, &body) != SALTUS_OK) {
    fail_msg("refused: %s", kept->text);
  }
  return body;
}

/* Without a boundary: modes of the free body, as of the whole matrices; 13 digits of the files. */
static void free_modes_are_those_of_the_matrices(void** state) {
  (void)state;
  double w[BRICK_ROWS];
  whole(w);
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.modes = 20; /* six of them are rigid */
  saltus_flexible* body = reduce(&def, &kept);
  assert_int_equal(body->modes, 14);
  for (int i = 0; i < 12; i++) {
    assert_near(body->omega[i] / sqrt(w[6 + i]), 1.0, 1e-9);
  }
  assert_near(body->mass, 7850 * 0.015, 1e-9 * 117);
  assert_near(body->centre[0], 0.5, 1e-12);
  saltus_flexible_destroy(body);
}

/* With all fixed-interface modes nothing is lost: Craig and Bampton's basis is the whole space of the constrained body; with
 * few the frequencies come from above. */
static void craig_bampton_bounds_from_above(void** state) {
  (void)state;
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}, {"tip", "TIP", true}};
  double w[BRICK_ROWS], before[3] = {INFINITY, INFINITY, INFINITY};
  whole(w);
  saltus_kept_message kept;
  for (int modes = 0; modes <= 16; modes += 8) {
    saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
    def.frames = frames;
    def.frame_count = 2;
    def.modes = modes;
    saltus_flexible* body = reduce(&def, &kept);
    assert_int_equal(body->modes, 6 + 3 + modes - 6);
    for (int i = 0; i < 3;
         i++) { /* Rayleigh: larger spaces, lower frequencies, never below the true ones */
      assert_true(body->omega[i] >= sqrt(w[6 + i]) * (1 - 1e-9));
      assert_true(body->omega[i] <= before[i] * (1 + 1e-9));
      before[i] = body->omega[i];
    }
    saltus_flexible_destroy(body);
  }
  /* the rigid face alone is missing */
  assert_near(before[0] / sqrt(w[6]), 1.0, 5e-3);
}

/* Static flexibility of a contact node in mean axes: modes below a frequency and the residual of those above have all of it. */
static void condensed_modes_keep_the_static_flexibility(void** state) {
  (void)state;
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}, {"tip", "TIP", true}};
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.frames = frames;
  def.frame_count = 2;
  def.modes = 8;
  saltus_flexible* all = reduce(&def, &kept);
  def.below = 0.5 * (all->omega[3] + all->omega[4]) / 6.283185307179586;
  saltus_flexible *made = reduce(&def, &kept), *few;
  assert_int_equal(saltus_flexible_save(made, in_folder(6, "few.h5"), def.log), SALTUS_OK);
  assert_int_equal(saltus_flexible_load(in_folder(6, "few.h5"), def.log, &few), SALTUS_OK);
  assert_int_equal(few->modes, 4);
  double largest = 0.0;
  for (int c = 0; c < 9; c++) {
    double whole = 0.0, low = few->residual[9 + c]; /* of the second frame */
    for (int m = 0; m < all->modes; m++) {
      const double w = all->omega[m], *phi = all->phi + 3 * all->modes;
      const double part = phi[c / 3 * all->modes + m] * phi[c % 3 * all->modes + m] / (w * w);
      whole += part;
      low += m < 4 ? part : 0.0;
    }
    largest = fmax(largest, fabs(few->residual[9 + c]));
    assert_near(low, whole, 1e-9 * fabs(whole) + 1e-18);
    assert_near(few->residual[c], 0.0, 0.0); /* interfaces have none */
    assert_near(all->residual[9 + c], 0.0, 0.0);
  }
  assert_true(largest > 1e-10);
  saltus_flexible_destroy(all);
  saltus_flexible_destroy(made);
  saltus_flexible_destroy(few);
}

/* Faces of one element alone, seen from outside: the volume is the sum of tetrahedra over them, the file keeps them. */
static void the_surface_encloses_the_volume(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.modes = 8;
  saltus_flexible *made = reduce(&def, &kept), *b;
  assert_int_equal(saltus_flexible_save(made, in_folder(6, "skin.h5"), def.log), SALTUS_OK);
  assert_int_equal(saltus_flexible_load(in_folder(6, "skin.h5"), def.log, &b), SALTUS_OK);
  assert_int_equal(b->triangles, 2 * (6 + 6 + 6 + 6 + 1 + 1));
  assert_memory_equal(b->triangle, made->triangle, 3 * (size_t)b->triangles * sizeof(int));
  double volume = 0.0;
  for (int i = 0; i < b->triangles; i++) {
    const double *x = b->node + 3 * b->triangle[3 * i], *y = b->node + 3 * b->triangle[3 * i + 1];
    const double* z = b->node + 3 * b->triangle[3 * i + 2];
    for (int k = 0; k < 3; k++) {
      const int l = (k + 1) % 3, m = (k + 2) % 3;
      volume += x[k] * (y[l] * z[m] - y[m] * z[l]) / 6;
    }
  }
  assert_near(volume, 0.015, 1e-15);
  saltus_flexible_destroy(made);
  saltus_flexible_destroy(b);
}

static void matrix_market_gives_the_same(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.modes = 12;
  saltus_flexible* one = reduce(&def, &kept);
  def.stiffness = in_folder(4, "bar-K.mtx");
  def.mass = in_folder(5, "bar-M.mtx");
  saltus_flexible* two = reduce(&def, &kept);
  for (int i = 0; i < one->modes; i++) {
    assert_near(one->omega[i] / two->omega[i], 1.0, 1e-10);
  }
  saltus_flexible_destroy(one);
  saltus_flexible_destroy(two);
}

/* Mean axes, and T by nodes: sum m_ab v_a . v_b / 2 with v = v0 + w x (s + u) + u'. */
static void inertia_is_that_of_the_nodes(void** state) {
  (void)state;
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}};
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.stiffness = in_folder(4, "bar-K.mtx"); /* with all digits */
  def.mass = in_folder(5, "bar-M.mtx");
  def.frames = frames;
  def.frame_count = 1;
  def.modes = 8;
  saltus_flexible* b = reduce(&def, &kept);
  const int k = b->modes, n = b->nodes;
  uint64_t seed = 5;
  double q[32], rate[32], w[3], *v = calloc(3 * (size_t)n, sizeof *v);
  for (int i = 0; i < k; i++) {
    q[i] = 0.5 * (saltus_test_random(&seed) - 0.5);
    rate[i] = saltus_test_random(&seed) - 0.5;
  }
  for (int i = 0; i < 3; i++) {
    w[i] = saltus_test_random(&seed) - 0.5;
  }
  for (int a = 0; a < n; a++) {
    double y[3];
    for (int c = 0; c < 3; c++) {
      const double* V = b->shape + ((size_t)a * 3 + (size_t)c) * (size_t)k;
      y[c] = b->node[3 * a + c];
      for (int i = 0; i < k; i++) {
        y[c] += V[i] * q[i];
        v[3 * a + c] += V[i] * rate[i];
      }
    }
    for (int c = 0; c < 3; c++) {
      v[3 * a + c] += w[(c + 1) % 3] * y[(c + 2) % 3] - w[(c + 2) % 3] * y[(c + 1) % 3];
    }
  }
  double T = 0.0, Y[9], L[3] = {0.0}, model = 0.0;
  for (int r = 0; r < bar.rows; r++) {
    for (int c = 0; c < bar.rows; c++) {
      T += 0.5 * v[r] * bar.M[r][c] * v[c];
    }
  }
  memcpy(Y, b->C0, sizeof Y);
  for (int i = 0; i < k; i++) {
    const double* C = b->C1 + 9 * (size_t)i;
    double D[9];
    memcpy(D, C, sizeof D);
    for (int c = 0; c < 9; c++) {
      Y[c] += q[i] * (C[c] + C[3 * (c % 3) + c / 3]);
      for (int j = 0; j < k; j++) {
        Y[c] += q[i] * q[j] * b->C2[9 * ((size_t)i * (size_t)k + (size_t)j) + (size_t)c];
        D[c] += q[j] * b->C2[9 * ((size_t)j * (size_t)k + (size_t)i) + (size_t)c];
      }
    }
    model += rate[i] * rate[i] / 2;
    L[0] += rate[i] * (D[5] - D[7]);
    L[1] += rate[i] * (D[6] - D[2]);
    L[2] += rate[i] * (D[1] - D[3]);
  }
  for (int c = 0; c < 9; c++) {
    model += 0.5 * w[c / 3] * w[c % 3] * ((c % 4 == 0 ? Y[0] + Y[4] + Y[8] : 0.0) - Y[c]);
  }
  for (int c = 0; c < 3; c++) {
    model += w[c] * L[c];
  }
  assert_near(model / T, 1.0, 1e-12);
  free(v);
  saltus_flexible_destroy(b);
}

static void files_keep_everything(void** state) {
  (void)state;
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}, {"foot", "RIGHT", true}};
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.frames = frames;
  def.frame_count = 2;
  def.modes = 6;
  def.damping = 0.01;
  saltus_flexible* one = reduce(&def, &kept);
  assert_int_equal(saltus_flexible_save(one, in_folder(6, "bar.h5"), def.log), SALTUS_OK);
  saltus_flexible* two;
  assert_int_equal(saltus_flexible_load(in_folder(6, "bar.h5"), def.log, &two), SALTUS_OK);
  assert_int_equal(two->modes, one->modes);
  assert_int_equal(two->frames, 5);
  assert_string_equal(two->frame[4].name, "foot_4");
  assert_true(two->frame[0].turns && !two->frame[1].turns);
  const size_t k = (size_t)one->modes;
  assert_memory_equal(one->C2, two->C2, 9 * k * k * sizeof(double));
  assert_memory_equal(one->psi, two->psi, 15 * k * sizeof(double));
  assert_memory_equal(one->omega, two->omega, k * sizeof(double));
  saltus_flexible_destroy(two);
  saltus_flexible bare = *one; /* of a caller who has neither of them */
  bare.residual = NULL;
  bare.triangle = NULL;
  bare.triangles = 0;
  assert_int_equal(saltus_flexible_save(&bare, in_folder(6, "bare.h5"), def.log), SALTUS_OK);
  assert_int_equal(saltus_flexible_load(in_folder(6, "bare.h5"), def.log, &two), SALTUS_OK);
  assert_near(two->residual[9], 0.0, 0.0);
  saltus_flexible_destroy(one);
  saltus_flexible_destroy(two);
  FILE* cut = fopen(in_folder(7, "cut.h5"), "w");
  fprintf(cut, "not a body");
  fclose(cut);
  assert_int_equal(saltus_flexible_load(in_folder(7, "cut.h5"), def.log, &two), SALTUS_ERR_IO);
  assert_null(two);
}

static void write_text(const char* name, const char* text) {
  FILE* file = fopen(in_folder(7, name), "w");
  fputs(text, file);
  fclose(file);
}

static void damaged_files_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } matrices[] = {
      {"", "is empty"},
      {"1 1 x\n", ":1: \"1 1 x\" is not row"},
      {"1 1 2\n2 1 3\n", "outside of the upper triangle"},
      {"1 1 2\n1 2 3\n1 2 4\n", "out of order or twice"},
      {"1 1 2\n", "rows of the matrix and of the dof file differ"},
      {"*USER ELEMENT\n", "substructure"},
      {"%%MatrixMarket matrix array real general\n2 2\n", "must be \"matrix coordinate"},
      {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n", "has 1 entries"},
  };
  saltus_kept_message kept;
  saltus_flexible* body;
  for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++) {
    saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
    write_text("bad.sti", matrices[i].text);
    def.stiffness = paths[7];
    assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
    assert_null(body);
    assert_says(kept, matrices[i].says);
  }
  static const struct {
    const char *text, *says;
  } meshes[] = {
      {"*NODE\n1, 0, 0, 0\n*NSET, NSET=A, GENERATE\n1, 2000000000\n", "more than 3000000 nodes"},
      {"*NODE\n1, 0, 0, 0\n*NSET, NSET=A, GENERATE\n1e300, 1e300\n", "not the number of a node"},
      {"*NODE\n1, 0, 0, 0\n*NSET, NSET=A\n1, -1e18\n", "not the number of a node"},
      {"*NODE\n1, 0, 0, 1e308\n", "not a node with three coordinates"},
      {"*NODE\n1, 0, 0, 0\n*ELEMENT, TYPE=C3D4\n1, 1, x, 3, 4\n", "is not an element"},
      {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n1\n1 1 1e300 1 1 1 2\n",
       "not an element"}};
  for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
    saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
    write_text("bad.inp", meshes[i].text);
    def.mesh = paths[7];
    def.scale = 1e3;
    assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
    assert_says(kept, meshes[i].says);
  }
  /* held by a boundary: K of one end stiffened */
  static fe_brick held;
  held = bar;
  held.K[0][0] *= 1.5;
  fe_brick_write(&held, folder, "held");
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.stiffness = in_folder(0, "held.sti");
  assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
  assert_says(kept, "is the body held by *BOUNDARY?");
  held = bar;
  held.M[0][1] = held.M[1][0] = 0.1 * held.M[0][0];
  fe_brick_write(&held, folder, "held");
  def = bar_def(saltus_log_keep(&kept));
  def.mass = in_folder(1, "held.mas");
  assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
  assert_says(kept, "entries between directions");
  /* an interface of two nodes, a set that is not there */
  const saltus_reduce_frame edge = {"edge", "EDGE", false}, none = {"none", "NOWHERE", true};
  def = bar_def(saltus_log_keep(&kept));
  def.frames = &edge;
  def.frame_count = 1;
  assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
  assert_says(kept, "not on a line");
  def = bar_def(saltus_log_keep(&kept));
  def.frames = &none;
  def.frame_count = 1;
  assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
  assert_says(kept, "no node set \"NOWHERE\"");
}

/* One integration point: more zero eigenvalues of K than six, which a free reduction meets as modes without stiffness. */
static void under_integrated_elements_are_refused(void** state) {
  (void)state;
  static fe_brick soft;
  soft = bar;
  soft.gauss = 1;
  fe_brick_make(&soft);
  fe_brick_write(&soft, folder, "soft");
  saltus_kept_message kept;
  saltus_flexible* body;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.stiffness = in_folder(0, "soft.sti");
  def.modes = 20;
  assert_int_equal(saltus_flexible_reduce(&def, &body), SALTUS_ERR_INPUT);
  assert_null(body);
}

/* ---- scenes ---- */

static void make_body(const char* name, int modes, const saltus_reduce_frame* frames, int count) {
  saltus_kept_message kept;
  saltus_reduce_def def = bar_def(saltus_log_keep(&kept));
  def.modes = modes;
  def.frames = frames;
  def.frame_count = count;
  saltus_flexible* body = reduce(&def, &kept);
  assert_int_equal(saltus_flexible_save(body, in_folder(6, name), def.log), SALTUS_OK);
  saltus_flexible_destroy(body);
}

static saltus_scene* open_text(const char* text) {
  saltus_kept_message kept;
  saltus_scene* scene;
  char path[300];
  snprintf(path, sizeof path, "%s/scene.yaml", folder);
  const saltus_scene_def def = {.path = path, .text = text, .log = saltus_log_keep(&kept)};
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("refused: %s", kept.text);
  }
  return scene;
}

/* A body on a joint, with springs, contacts and friction: every row and force against differences, at a moved state. */
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  const saltus_reduce_frame frames[] = {{"root", "LEFT", false}, {"foot", "RIGHT", true}};
  make_body("arm.h5", 4, frames, 2);
  saltus_scene* scene = open_text(
      "saltus: 1\nworld: {dimension: 3, shapes: [{name: floor, half-space: , position: [0, 0, "
      "-0.3]}]}\n"
      "materials: {default: {friction: 0.3}}\n"
      "bodies:\n  arm: {flexible: arm.h5, position: [0.5, 0.05, 0.075], contact_radius: 0.01}\n"
      "markers:\n  wall: {point: [0, 0.05, 0.075]}\n  root: {body: arm_root}\n  foot: {body: "
      "arm_foot_1}\n"
      "  up: {point: [1, 0, 1]}\n"
      "joints:\n  - {name: hinge, type: revolute, between: [wall, root]}\n"
      "springs:\n  - {name: hold, between: [up, foot], stiffness: 1e5, damping: 10, length: 0.5}\n"
      "simulate: {until: 1e-3}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_system* system = view->system;
  const int nq = system->dims.nq, nv = system->dims.nv;
  double *q = calloc((size_t)nq, sizeof *q), *v = calloc((size_t)nv, sizeof *v);
  double* way = calloc((size_t)nv, sizeof *way);
  uint64_t seed = 3;
  for (int i = 0; i < nv; i++) {
    /* modes little: elastic forces of 1e9 N would hide the others in the rounding of differences */
    way[i] = (i < view->flexible[0]->modes ? 1e-3 : 0.5) * (saltus_test_random(&seed) - 0.5);
    v[i] = 10.0 * (saltus_test_random(&seed) - 0.5);
  }
  system->ops->advance(system->self, view->q0, way, 1.0, q);
  saltus_kept_message kept;
  saltus_system_check_result result;
  assert_int_equal(saltus_system_check(system, 0.0, q, v, saltus_log_keep(&kept), &result),
                   SALTUS_OK);
  if (!(result.worst < 1e-7)) {
    fail_msg("%s differs by %g", result.where, result.worst);
  }
  free(q);
  free(v);
  free(way);
  saltus_scene_destroy(scene);
}

/* Without modes and frames it is the rigid body with this mass and inertia, bitwise. */
static void without_modes_it_is_a_rigid_body(void** state) {
  (void)state;
  make_body("rigid.h5", 0, NULL, 0);
  saltus_flexible* data;
  char rigid[200];
  double q[2][7];
  assert_int_equal(saltus_flexible_load(in_folder(6, "rigid.h5"), (saltus_log){0}, &data),
                   SALTUS_OK);
  assert_int_equal(data->modes, 0);
  const double *C = data->C0, trace = C[0] + C[4] + C[8];
  snprintf(rigid, sizeof rigid, "mass: %.17g, inertia: [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g]",
           data->mass, trace - C[0], trace - C[4], trace - C[8], -0.5 * (C[1] + C[3]),
           -0.5 * (C[2] + C[6]), -0.5 * (C[5] + C[7]));
  saltus_flexible_destroy(data);
  for (int k = 0; k < 2; k++) {
    char text[500];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3}\nbodies:\n  bar: {%s, angular_velocity: [3, 5, "
             "7]}\nsimulate: {until: 0.5, tol: 1e-9}\n",
             k == 0 ? "flexible: rigid.h5" : rigid);
    saltus_scene* scene = open_text(text);
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    saltus_run* run;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    assert_int_equal(def.scene->system->dims.nq, 7);
    memcpy(q[k], saltus_run_outcome(run)->q, sizeof q[k]);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
  assert_memory_equal(q[0], q[1], sizeof q[0]);
}

/* Above 0.1 of the first frequency, without geometric stiffness. */
static void fast_rotation_is_warned_of(void** state) {
  (void)state;
  make_body("free.h5", 14, NULL, 0);
  for (int fast = 0; fast < 2; fast++) {
    char text[300];
    snprintf(text, sizeof text,
             "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\nbodies:\n  bar: {flexible: "
             "free.h5, angular_velocity: [0, 0, %d]}\nsimulate: {scheme: variational, step: 1e-6, "
             "until: 1e-5}\n",
             fast ? 1000 : 100);
    saltus_scene* scene = open_text(text);
    saltus_kept_message kept = {.text = ""};
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    def.log = saltus_log_keep(&kept);
    const double first = def.scene->flexible[0]->omega[0];
    assert_true(first > 1000.0 && first < 10000.0);
    saltus_run* run;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    assert_int_equal(strstr(kept.text, "above 0.1 of its first frequency") != NULL, fast);
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
}

/* A contact node below the floor at the start lifts the body and does not bend it. In a step, the factors of the first
 * iteration serve the others. */
static void a_start_below_the_floor_is_placed_without_bending(void** state) {
  (void)state;
  const saltus_reduce_frame tip = {"tip", "LEFT", true};
  make_body("drop.h5", 20, &tip, 1);
  saltus_scene* scene = open_text(
      "saltus: 1\nworld: {dimension: 3, shapes: [{name: floor, half-space: }]}\nbodies:\n"
      "  bar: {flexible: drop.h5, position: [0, 0, 0.1059], orientation: {rpy: [0, -0.05, 0]}, "
      "velocity: [0, 0, -1], angular_velocity: [0, 3, 0], contact_radius: 0.01}\n"
      "simulate: {scheme: moreau-jean, step: 1e-4, until: 0.05}\n");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  const saltus_flexible* bar_data = view->flexible[0];
  double strain = 0.0;
  for (int j = 0; j < bar_data->modes; j++) {
    strain += 0.5 * pow(bar_data->omega[j] * view->q0[j], 2);
  }
  assert_true(view->q0[bar_data->modes + 2] > 0.1065);
  assert_true(strain < 1e-9); /* of hundreds of J in the metric of the mass */
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_work* work = &saltus_run_outcome(run)->work;
  assert_true(work->newton_iterations >= 2 * work->steps);
  assert_int_equal(work->factorizations, work->steps);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* A free body with a rotation and vibrating modes keeps energy and angular momentum. */
static void free_rotation_keeps_its_invariants(void** state) {
  (void)state;
  make_body("free.h5", 14, NULL, 0);
  saltus_scene* scene = open_text(
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\nbodies:\n  bar: {flexible: free.h5, "
      "angular_velocity: [30, 80, 50]}\nsimulate: {until: 0.02}\n");
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.tol = 1e-11;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  double first[32], last[32];
  const saltus_observables* seen = def.scene->observables;
  saltus_point at = {.q = def.scene->q0,
                     .v = def.scene->v0,
                     .scratch = calloc(seen->scratch + def.scene->system->dims.scratch + 1, 1)};
  seen->outputs(seen->self, &at, first);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* out = saltus_run_outcome(run);
  at.q = out->q;
  at.v = out->v;
  seen->outputs(seen->self, &at, last);
  double size = 0.0, strain = last[seen->output_count - 1];
  int place = -1;
  for (int i = 0; i < seen->output_count; i++) {
    place = strcmp(seen->output_labels[i].name, "angular_momentum.x") == 0 ? i : place;
  }
  assert_true(place >= 0);
  for (int k = 0; k < 3; k++) {
    size += first[place + k] * first[place + k];
  }
  for (int k = 0; k < 3; k++) {
    assert_near(last[place + k], first[place + k], 1e-10 * sqrt(size));
  }
  assert_true(strain > 1e-6); /* modes move */
  const double T0 =
      def.scene->system->ops->kinetic(def.scene->system->self, &at); /* of some 1e4 J */
  assert_true(T0 > 1e3);
  assert_near(out->ledger.remainder / T0, 0.0, 1e-10);
  free(at.scratch);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* A bar end on against a stop, e = 0: after the contact the centre has the part of the velocity that the fixed-interface
 * modes have of the mass along x, where they are odd multiples of the first (a uniform bar; here to the dispersion of 12
 * elements). The loss at the impact is the rest of the energy: rigid face and left out modes. */
static void a_bar_rebounds_by_its_effective_mass(void** state) {
  (void)state;
  static fe_brick rod;
  rod = (fe_brick){.cells = {12, 1, 1},
                   .size = {1, 0.1, 0.12},
                   .E = 2.1e11,
                   .nu = 0,
                   .density = 7850,
                   .gauss = 2};
  fe_brick_make(&rod);
  fe_brick_write(&rod, folder, "rod");
  const saltus_reduce_frame root = {"root", "LEFT", false};
  saltus_kept_message kept;
  saltus_reduce_def def = {.stiffness = in_folder(0, "rod.sti"),
                           .mass = in_folder(1, "rod.mas"),
                           .dof = in_folder(2, "rod.dof"),
                           .mesh = in_folder(3, "rod.inp"),
                           .modes = 12,
                           .frames = &root,
                           .frame_count = 1,
                           .log = saltus_log_keep(&kept)};
  saltus_flexible* body = reduce(&def, &kept);
  double part = 0.0;
  for (int i = 0; i < 12; i++) {
    part += body->effective[6 * i] / body->mass;
  }
  const double mass = body->mass;
  assert_true(part > 0.8 && part < 1.0);
  assert_int_equal(saltus_flexible_save(body, in_folder(6, "rod.h5"), def.log), SALTUS_OK);
  saltus_flexible_destroy(body);
  saltus_scene* scene = open_text(
      "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\n"
      "bodies:\n  rod: {flexible: rod.h5, position: [0.5001, 0.05, 0.06], velocity: [-1, 0, 0]}\n"
      "markers:\n  wall: {point: [0, 0.05, 0.06], orientation: {axis: [0, 1, 0], angle: pi/2}}\n"
      "  root: {body: rod_root}\nelements:\n  - {name: stop, type: stop, between: [wall, root]}\n"
      "simulate: {until: 8e-4}\n");
  saltus_run_def run_def = saltus_run_def_default();
  run_def.scene = saltus_scene_get_view(scene);
  run_def.tol = 1e-8;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&run_def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  const saltus_run_result* out = saltus_run_outcome(run);
  const saltus_observables* seen = run_def.scene->observables;
  double momentum = NAN;
  for (int i = 0; i < seen->output_count; i++) {
    momentum = strcmp(seen->output_labels[i].name, "momentum.x") == 0 ? out->outputs[i] : momentum;
  }
  assert_near(-out->ledger.impact / (mass / 2), 1.0 - part, 1e-6);
  assert_near(momentum / mass, part, 1e-2);
  saltus_run_destroy(run);
  saltus_scene_destroy(scene);
}

/* A variational scheme keeps angular momentum to rounding, and the energy in a band that does not grow. */
static void variational_steps_keep_angular_momentum(void** state) {
  (void)state;
  make_body("free.h5", 14, NULL, 0);
  const int steps = saltus_test_sanitized() ? 4000 : 100000;
  double change[2], L[2][3] = {{0.0}};
  for (int part = 0; part < 2; part++) {
    char text[400];
    snprintf(
        text, sizeof text,
        "saltus: 1\nworld: {dimension: 3, gravity: [0, 0, 0]}\nbodies:\n  bar: {flexible: free.h5, "
        "angular_velocity: [30, 80, 50]}\nsimulate: {scheme: variational, step: 1e-6, until: "
        "%.9g}\n",
        1e-6 * (part == 0 ? 0.5 : 1.0) * steps);
    saltus_scene* scene = open_text(text);
    saltus_run_def def = saltus_run_def_default();
    def.scene = saltus_scene_get_view(scene);
    saltus_run* run;
    assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
    assert_int_equal(saltus_run_execute(run), SALTUS_OK);
    const saltus_run_result* out = saltus_run_outcome(run);
    change[part] = out->ledger.remainder;
    for (int i = 0; i < def.scene->observables->output_count; i++) {
      const char* name = def.scene->observables->output_labels[i].name;
      if (strncmp(name, "angular_momentum.", 17) == 0) {
        L[part][name[17] - 'x'] = out->outputs[i];
      }
    }
    saltus_run_destroy(run);
    saltus_scene_destroy(scene);
  }
  static const double start[3] = {9.5671875, 802.6625, 495.53125}; /* J0 w of the box, 117.75 kg */
  for (int k = 0; k < 3; k++) {
    assert_near(L[0][k], start[k], 1e-10 * 943);
    assert_near(L[1][k], start[k], 1e-10 * 943);
  }
  /* of 44000 J; a drift would double from half the way to the end */
  assert_true(fabs(change[0]) < 1e-3 && fabs(change[1]) < 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_modes_are_those_of_the_matrices),
      cmocka_unit_test(craig_bampton_bounds_from_above),
      cmocka_unit_test(condensed_modes_keep_the_static_flexibility),
      cmocka_unit_test(without_modes_it_is_a_rigid_body),
      cmocka_unit_test(a_start_below_the_floor_is_placed_without_bending),
      cmocka_unit_test(the_surface_encloses_the_volume),
      cmocka_unit_test(matrix_market_gives_the_same),
      cmocka_unit_test(inertia_is_that_of_the_nodes),
      cmocka_unit_test(files_keep_everything),
      cmocka_unit_test(damaged_files_are_refused),
      cmocka_unit_test(under_integrated_elements_are_refused),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(fast_rotation_is_warned_of),
      cmocka_unit_test(free_rotation_keeps_its_invariants),
      cmocka_unit_test(variational_steps_keep_angular_momentum),
      cmocka_unit_test(a_bar_rebounds_by_its_effective_mass),
  };
  return cmocka_run_group_tests(tests, make, NULL);
}
