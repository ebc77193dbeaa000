/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Numbers as text do not depend on the locale of the host program: options, tolerances, scenes, snapshots, recordings,
 * contact problems, sweeps and robots in locales whose separator is a comma or has several bytes.
 */
#include "saltus_test.h"

#include "base/digits.h"
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- against the C library in the locale "C" ---- */

/* Any double but NaN: bits at random, or a decimal number of few digits. */
static double draw(uint64_t* seed) {
  double value;
  uint64_t bits = 0;
  for (int i = 0; i < 4; i++) {
    bits = bits << 16 | (uint64_t)(65536.0 * saltus_test_random(seed));
  }
  memcpy(&value, &bits, sizeof value);
  if (isnan(value) || saltus_test_random(seed) < 0.3) {
    value = floor(1e6 * saltus_test_random(seed)) / 1e3 - 500.0;
  }
  return value;
}

static void numbers_print_and_read_as_in_the_c_library(void** state) {
  (void)state;
  static const char* const formats[] = {"%.17g", "%g", "%a", "%.3f", "%12.4e", "%-20.6g|", "%+.0f"};
  uint64_t seed = 7;
  for (int i = 0; i < 20000; i++) {
    const double value = draw(&seed);
    char ours[700];
    char theirs[700];
    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
      int a = saltusi_print(ours, sizeof ours, formats[k], value);
      int b = snprintf(theirs, sizeof theirs, formats[k], value);
      assert_string_equal(ours, theirs);
      assert_int_equal(a, b);
      char* end;
      char* stop;
      const double x = saltusi_number_read(ours, &end);
      const double y = strtod(ours, &stop);
      assert_memory_equal(&x, &y, sizeof x);
      assert_ptr_equal(end, stop);
    }
  }
}

static void odd_texts_read_as_in_the_c_library(void** state) {
  (void)state;
  static const char* const texts[] = {"",
                                      ".",
                                      "-",
                                      "+.5",
                                      "5.",
                                      "1e",
                                      "1e+",
                                      "0x",
                                      "0x.8p1",
                                      "0x1.8",
                                      "0xg",
                                      " \t12z",
                                      "1,5",
                                      "1.5.2",
                                      "-0.0",
                                      "inf",
                                      "-Inf",
                                      "nan",
                                      "1e999",
                                      "-1e-999",
                                      "00012.50",
                                      "0x1.fffffffffffff8p0",
                                      "1e-400",
                                      "12e03",
                                      "4.9e-324",
                                      "2.5e-324",
                                      "0e99999999999999999999",
                                      "1e99999999999999999999",
                                      ".e1",
                                      "infinite",
                                      "0x1p-1075"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    char* end;
    char* stop;
    const double x = saltusi_number_read(texts[i], &end);
    const double y = strtod(texts[i], &stop);
    assert_memory_equal(&x, &y, sizeof x);
    assert_ptr_equal(end, stop);
  }
  /* halfway between two doubles up to the last of 1200 digits, which decides */
  char longest[1300];
  for (int last = 0; last < 2; last++) {
    size_t used = (size_t)snprintf(longest, sizeof longest, "9007199254740993.");
    memset(longest + used, '0', 1200);
    longest[used + 1200] = '\0';
    longest[used + 1199] = (char)('0' + last);
    assert_true(saltusi_number_read(longest, NULL) == 9007199254740992.0 + 2.0 * last);
  }
}

static void other_conversions_print_as_in_the_c_library(void** state) {
  (void)state;
  char ours[64];
  char theirs[64];
#define SAME(...)                                                                                  \
  assert_int_equal(saltusi_print(ours, sizeof ours, __VA_ARGS__),                                  \
                   snprintf(theirs, sizeof theirs, __VA_ARGS__));                                  \
  assert_string_equal(ours, theirs)
  SAME("%d %5i|%-5d|%05d %u %x %X %#o", -3, 4, 5, 6, 7u, 255u, 255u, 8u);
  SAME("%lld %zu %ld %jd %hd %hhu", -5000000000LL, (size_t)9, 7L, (intmax_t)-1, (short)3,
       (unsigned char)4);
  SAME("%s|%10s|%-6s|%.2s|%.*s|%*s", "a", "b", "c", "def", 1, "gh", 4, "i");
  SAME("%c%% %.*g %*.2f %.*e", 'x', 4, 1.23456, 9, 2.5, -1, 3.0);
  SAME("%p %Lg", (void*)ours, 1.5L);
#undef SAME
  /* what there is no room for is counted */
  assert_int_equal(saltusi_print(ours, 5, "%s%.1f", "abc", 2.25), 6);
  assert_string_equal(ours, "abc2");
  assert_int_equal(saltusi_print(NULL, 0, "%g %s", 2.5, "abc"), 7);
}

/* ---- in other locales ---- */

/* Text that grows. */
typedef struct digest {
  char text[400000];
  size_t used;
} digest;

static void add(digest* d, const char* text) {
  size_t length = strlen(text);
  assert_true(d->used + length < sizeof d->text);
  memcpy(d->text + d->used, text, length + 1);
  d->used += length;
}

static void add_number(digest* d, const char* what, double value) {
  char text[128];
  saltusi_print(text, sizeof text, "%s %a\n", what, value);
  add(d, text);
}

static void keep_message(void* user, saltus_level level, const char* text) {
  (void)level;
  add(user, text);
  add(user, "\n");
}

/* A run with an option of the scheme, kept and read back. */
static void add_run(digest* d) {
  saltus_log log = {.write = keep_message, .user = d};
  saltus_scene* scene = saltus_test_scene("ball", NULL, 0);
  saltus_run_def def = saltus_run_def_default();
  def.scene = saltus_scene_get_view(scene);
  def.log = log;
  def.scheme = "moreau-jean";
  def.options_line = "theta=0.75";
  def.step = 0.00125;
  def.until = 0.3;
  saltus_run* run = NULL;
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_OK);
  assert_int_equal(saltus_run_execute(run), SALTUS_OK);
  add_number(d, "q", saltus_run_outcome(run)->q[0]);
  size_t bytes = saltus_run_snapshot_save(run, "x", def.scene->text, NULL);
  char* kept = malloc(bytes);
  saltus_run_snapshot_save(run, "x", def.scene->text, kept);
  saltus_run_snapshot* snapshot = NULL;
  assert_int_equal(saltus_run_snapshot_create("x", kept, bytes, log, NULL, &snapshot), SALTUS_OK);
  add_number(d, "t", snapshot->t);
  for (int i = 0; i < snapshot->option_count; i++) {
    add(d, snapshot->options[i].value);
    add(d, "\n");
  }
  saltus_run_snapshot_destroy(snapshot);
  free(kept);
  saltus_run_destroy(run);
  def.options_line = "theta=1.5"; /* refused, in words with numbers */
  assert_int_equal(saltus_run_create(&def, &run), SALTUS_ERR_RANGE);
  saltus_scene_destroy(scene);
}

static void add_files(digest* d) {
  saltus_log log = {.write = keep_message, .user = d};
  saltus_recording_data* data = NULL;
  assert_int_equal(saltus_recording_read(SALTUS_RECORDINGS "/ball-1.csv", log, NULL, &data),
                   SALTUS_OK);
  for (long long i = 0; i < data->count; i++) {
    add_number(d, "frame", data->q[i * data->nq]);
  }
  saltus_recording_data_destroy(data);
  saltus_problem_file* problem = NULL;
  assert_int_equal(
      saltus_problem_file_read(SALTUS_PROBLEMS "/fc3d_stack_4_rest.dat", log, NULL, &problem),
      SALTUS_OK);
  for (int i = 0; i < 3; i++) {
    add_number(d, "problem", problem->friction.q[i]);
  }
  saltus_problem_file_destroy(problem);
  add_number(d, "tolerance", saltus_verify_tolerance("rtol=1.5e-06 atol=0.25", "atol"));
}

static void add_sweep(digest* d) {
  const char* const axes[] = {"q=0.05:0.1:3"};
  const char* const measures[] = {"max(q)*1.5"};
  saltus_sweep_def def = saltus_sweep_def_default();
  def.path = SALTUS_SCENES "/ball.yaml";
  def.axes = axes;
  def.axis_count = 1;
  def.measures = measures;
  def.measure_count = 1;
  def.log = (saltus_log){.write = keep_message, .user = d};
  saltus_sweep* sweep = NULL;
  assert_int_equal(saltus_sweep_create(&def, &sweep), SALTUS_OK);
  double x;
  saltus_sweep_point(sweep, 1, &x);
  add_number(d, "sweep", x);
  saltus_sweep_destroy(sweep);
}

static void add_robot(digest* d) {
  if (!saltus_has("expat")) {
    return;
  }
  saltus_urdf_def def = {.path = SALTUS_ROBOTS "/serial-arm.urdf",
                         .log = {.write = keep_message, .user = d}};
  saltus_urdf* robot = NULL;
  assert_int_equal(saltus_urdf_create(&def, &robot), SALTUS_OK);
  add(d, saltus_urdf_get_view(robot)->scene);
  saltus_urdf_destroy(robot);
}

static digest* make_digest(void) {
  digest* d = calloc(1, sizeof *d);
  assert_non_null(d);
  add_run(d);
  add_files(d);
  add_sweep(d);
  add_robot(d);
  return d;
}

/* A locale of this name with numbers as in `source`, made in a folder by localedef; false without it. */
static bool enter(const char* source, char folder[64]) {
  snprintf(folder, 64, "/tmp/saltus-locale-XXXXXX");
  char command[256];
  if (mkdtemp(folder) == NULL) {
    return false;
  }
  snprintf(command, sizeof command, "localedef -c -i %s -f UTF-8 %s/own.UTF-8 > %s/log 2>&1",
           source, folder, folder);
  bool made = system(command) >= 0 && setenv("LOCPATH", folder, 1) == 0;
  return made && setlocale(LC_ALL, "own.UTF-8") != NULL;
}

static void leave(const char* folder) {
  setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

static void a_locale_changes_nothing(const char* source) {
  if (!saltus_has("yaml")) {
    print_message("no scenes: skipped\n");
    skip();
  }
  digest* plain = make_digest();
  char folder[64];
  if (!enter(source, folder)) {
    leave(folder);
    free(plain);
    print_message("no localedef, or no locale %s: skipped\n", source);
    skip();
  }
  char half[16];
  snprintf(half, sizeof half, "%.1f", 0.5);
  assert_string_not_equal(half, "0.5"); /* the locale acts */
  digest* other = make_digest();
  assert_int_equal(saltusi_digits_apart(2, 0.5, 0.25), 2);
  assert_string_equal(plain->text, other->text);
  leave(folder);
  free(plain);
  free(other);
}

static void a_comma_changes_nothing(void** state) {
  (void)state;
  a_locale_changes_nothing("de_DE");
}

static void a_separator_of_two_bytes_changes_nothing(void** state) {
  (void)state;
  a_locale_changes_nothing("ps_AF");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_print_and_read_as_in_the_c_library),
      cmocka_unit_test(odd_texts_read_as_in_the_c_library),
      cmocka_unit_test(other_conversions_print_as_in_the_c_library),
      cmocka_unit_test(a_comma_changes_nothing),
      cmocka_unit_test(a_separator_of_two_bytes_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
