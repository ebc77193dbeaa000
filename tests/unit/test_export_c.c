/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_export_c.c - exported C compiled by gcc and clang without and with optimisation: bitwise the steps of moreau-jean
 * wherever at most one contact is active at a time, and to rounding with several.
 */
#include "saltus_test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double step_size = 1e-3;

static saltus_scene* open_scene(const char* name, char path[200]) {
  snprintf(path, 200, "%s/%s.yaml", SALTUS_SCENES, name);
  saltus_kept_message kept;
  const saltus_scene_def def = {.path = path, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return scene;
}

static saltus_status export_scene(saltus_scene* scene, const char* file,
                                  saltus_kept_message* kept) {
  saltus_export_c_def def = saltus_export_c_def_default();
  def.scene = scene;
  def.prefix = "s";
  def.scheme = "moreau-jean";
  def.step = step_size;
  def.log = saltus_log_keep(kept);
  return saltus_export_c(&def, file);
}

static bool has(const char* compiler) {
  char command[100];
  snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", compiler);
  return system(command) == 0;
}

typedef int step_function(void* state, const double* inputs);
typedef void init_function(void* state);

/* The state of exported C begins with t, q and v. */
enum { STATE = 8192 };

/* Largest difference from the library over the steps; 0: every bit is equal. */
static double compare(saltus_scene* scene, const char* library, int steps) {
  void* object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (object == NULL) {
    fail_msg("%s", dlerror());
  }
  init_function* init = (init_function*)(uintptr_t)dlsym(object, "s_init");
  step_function* step = (step_function*)(uintptr_t)dlsym(object, "s_step");
  const saltus_scene_view* view = saltus_scene_get_view(scene);
  saltus_run_def def = saltus_run_def_default();
  def.scene = view;
  def.scheme = "moreau-jean";
  def.step = step_size;
  def.stepping = true;
  saltus_run* run;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  const double h = saltus_run_get_settings(run)->h;
  const int nq = view->system->dims.nq;
  double* state = calloc(STATE, sizeof *state);
  double inputs[16] = {0.0}, most = 0.0;
  saltus_scene_inputs(scene, inputs);
  init(state);
  for (int i = 1; i <= steps; i++) {
    assert_int_equal(saltus_run_advance(run, view->start + i * h, 0U, NULL), SALTUS_OK);
    assert_int_equal(step(state, inputs), 0);
    const saltus_run_instant now = saltus_run_present(run);
    assert_true(state[0] == now.t);
    for (int k = 0; k < 2 * nq; k++) {
      const double want = k < nq ? now.q[k] : now.v[k - nq], have = state[1 + k];
      const bool equal = memcmp(&want, &have, sizeof want) == 0;
      most = fmax(most, equal ? 0.0 : fmax(fabs(want - have), 1e-300));
    }
  }
  free(state);
  saltus_run_destroy(run);
  dlclose(object);
  return most;
}

/* Compiles the exported C in all ways there are; the largest difference. */
static double run_everywhere(const char* name, int steps) {
  static const char* const compilers[] = {"gcc", "clang"};
  /* the source turns contraction off, which gnu99 with FMA would have on */
  static const char* const levels[] = {"-O0", "-O2 -std=gnu99 -march=native"};
  char path[200], folder[] = "/tmp/saltus-c-XXXXXX", command[1024], library[100], file[100];
  saltus_scene* scene = open_scene(name, path);
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/s.c", folder);
  saltus_kept_message kept;
  if (export_scene(scene, file, &kept) != SALTUS_OK) {
    fail_msg("%s: %s", name, kept.text);
  }
  double most = 0.0;
  for (int c = 0; c < 2; c++) {
    for (int l = 0; l < 2 && has(compilers[c]); l++) {
      snprintf(library, sizeof library, "%s/s%d%d.so", folder, c, l);
      snprintf(command, sizeof command,
               "%s -std=c99 %s -ffreestanding -Wall -Wextra -Wpedantic "
               "-Wconversion -Wvla "
               "-Werror -fPIC -shared -o %s %s -lm",
               compilers[c], levels[l], library, file);
      assert_int_equal(system(command), 0);
      snprintf(command, sizeof command,
               "nm -D -u %s | grep -v -E ' (w|U) "
               "(fabs|fmax|fmin|sqrt|sin|cos|tan|exp|log|pow|atan2|hypot|"
               "memcpy|memset|__stack_chk_fail|_ITM_|__gmon|__cxa)' | grep ' U '",
               library);
      assert_int_not_equal(system(command), 0);
      most = fmax(most, compare(scene, library, steps));
    }
  }
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  saltus_scene_destroy(scene);
  return most;
}

static void single_contacts_have_the_same_bits(void** state) {
  (void)state;
  static const char* const names[] = {"ball",
                                      "block-stick-slip",
                                      "coulomb-block",
                                      "disc",
                                      "drop",
                                      "forced-ball",
                                      "oblique-impact",
                                      "oscillator",
                                      "oscillator-preload",
                                      "pendulum-wall",
                                      "spring-pendulum",
                                      "triple-pendulum",
                                      "woodpecker",
                                      "belt",
                                      "polar-wall",
                                      "double-pendulum-rough",
                                      "double-pendulum",
                                      "free-double-pendulum",
                                      "rod",
                                      "body-slider-crank",
                                      "body-pendulum",
                                      "machine-four-bar-ideal",
                                      "shaken-ball"};
  if (!has("gcc") && !has("clang")) {
    print_message("neither gcc nor clang\n");
    skip();
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (saltus_test_long() || i % 4 == 0) {
      const double off = run_everywhere(names[i], 1000);
      print_message("%s: %g\n", names[i], off);
      assert_near(off, 0.0, 0.0);
    }
  }
}

/* Gauss-Seidel to 4 ulp instead of the solvers of the library. */
static void several_contacts_agree_to_rounding(void** state) {
  (void)state;
  static const char* const names[] = {"chain-5", "column-10", "rocking-block", "stack-5"};
  if (!has("gcc") && !has("clang")) {
    skip();
  }
  for (size_t i = 0; i < (saltus_test_long() ? sizeof names / sizeof names[0] : 1); i++) {
    const double off = run_everywhere(names[i], 1000);
    print_message("%s: %g\n", names[i], off);
    assert_near(off, 0.0, 1e-13);
  }
}

/* The most operations and calls of libm of 3000 steps are within the bounds that the source states. */
static void operations_are_within_their_bound(void** state) {
  (void)state;
  static const char* const names[] = {"ball",    "woodpecker",        "triple-pendulum",
                                      "stack-5", "body-slider-crank", "double-pendulum-rough"};
  if (!has("g++")) {
    print_message("no g++\n");
    skip();
  }
  for (int i = 0; i < 6; i++) {
    char path[200], folder[] = "/tmp/saltus-c-XXXXXX", file[100], command[600];
    saltus_scene* scene = open_scene(names[i], path);
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/s.c", folder);
    saltus_kept_message kept;
    assert_int_equal(export_scene(scene, file, &kept), SALTUS_OK);
    snprintf(command, sizeof command,
             "g++ -std=c++17 -w -I%s -o %s/count %s && %s/count; code=$?; rm -rf %s; exit $code",
             folder, folder, SALTUS_COUNT_OPERATIONS, folder, folder);
    assert_int_equal(system(command), 0);
    saltus_scene_destroy(scene);
  }
}

static void other_scenes_are_refused_with_the_reason(void** state) {
  (void)state;
  static const struct {
    const char *name, *says;
  } cases[] = {{"bodies-pendulum", "revolute"},
               {"machine-breaker", "limits"},
               {"bodies-heavy-top", "plane"},
               {"flexible-spin-up", "prescribed"},
               {"puck", "plane"}};
  for (int i = 0; i < 5; i++) {
    char path[200];
    saltus_scene* scene = open_scene(cases[i].name, path);
    saltus_kept_message kept;
    assert_int_equal(export_scene(scene, "/tmp/saltus-never.c", &kept), SALTUS_ERR_UNSUPPORTED);
    assert_says(kept, cases[i].says);
    assert_int_not_equal(access("/tmp/saltus-never.c", F_OK), 0);
    saltus_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_contacts_have_the_same_bits),
      cmocka_unit_test(several_contacts_agree_to_rounding),
      cmocka_unit_test(operations_are_within_their_bound),
      cmocka_unit_test(other_scenes_are_refused_with_the_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
