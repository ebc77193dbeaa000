/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_figure.c - ticks, thinning and the files of the figure layer.
 */
#include "figure/axis.h"
#include "figure/figure.h"
#include "figure/thin.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_BYTES = 256, SAMPLES = 200 };

/* --- ticks ---------------------------------------------------------------------------------- */

/* Whether value is an integer times 1, 2 or 5 times a power of ten. */
static bool nice(double step) {
  double mantissa = step / pow(10.0, floor(log10(step) + 1e-9));
  return fabs(mantissa - 1.0) < 1e-6 || fabs(mantissa - 2.0) < 1e-6 || fabs(mantissa - 5.0) < 1e-6;
}

static void linear_ticks_are_nice_and_cover_the_range(void** state) {
  (void)state;
  static const saltusi_range ranges[] = {
      {0.0, 1.0},   {-4.4, 3.3},  {0.13, 0.19},  {0.0, 7.7},     {1e-12, 3e-9},
      {-1e9, 4e12}, {-3.0, -1.0}, {99.0, 101.5}, {1e-200, 2e-3}, {-1e299, 1e300}};
  for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
    for (int ticks = 3; ticks <= 12; ticks++) {
      saltusi_plot_axis axis = saltusi_axis_fit(ranges[k], (saltusi_axis_request){.ticks = ticks});
      assert_true(axis.low <= ranges[k].low && axis.high >= ranges[k].high);
      assert_in_range(axis.count, 2, ticks + 1);
      double step = axis.at[1] - axis.at[0];
      assert_true(nice(step));
      /* no room for a further tick at either end, and none outside */
      double slack = 1e-6 * step;
      assert_true(axis.at[0] >= axis.low - slack && axis.at[0] - axis.low < step + slack);
      double last = axis.at[axis.count - 1];
      assert_true(last <= axis.high + slack && axis.high - last < step + slack);
    }
  }
}

static void tick_labels_are_short_decimals(void** state) {
  (void)state;
  char text[SALTUSI_TICK_TEXT];
  saltusi_plot_axis axis =
      saltusi_axis_fit((saltusi_range){-0.2, 0.3}, (saltusi_axis_request){.ticks = 5});
  static const char* const expected[] = {"\xe2\x88\x92"
                                         "0.2",
                                         "\xe2\x88\x92"
                                         "0.1",
                                         "0.0",
                                         "0.1",
                                         "0.2",
                                         "0.3"};
  assert_int_equal(axis.count, 6);
  for (int i = 0; i < axis.count; i++) {
    saltusi_axis_tick_text(&axis, i, text);
    assert_string_equal(text, expected[i]);
  }
  saltusi_axis_note_text(&axis, text);
  assert_string_equal(text, "");
}

static void names_take_the_place_of_whole_numbers(void** state) {
  (void)state;
  static const char* const names[] = {"floor", "wall"};
  char text[SALTUSI_TICK_TEXT];
  saltusi_plot_axis axis = {.low = 0.4, .high = 3.6, .count = 3, .at = {1.0, 2.0, 3.0}};
  axis.names = names;
  axis.name_count = 2;
  static const char* const expected[] = {"floor", "wall", "3"};
  for (int i = 0; i < axis.count; i++) {
    saltusi_axis_tick_text(&axis, i, text);
    assert_string_equal(text, expected[i]);
  }
}

static void a_small_range_around_a_large_number_is_shown_with_an_offset(void** state) {
  (void)state;
  char text[SALTUSI_TICK_TEXT];
  saltusi_range data = {1e6 + 0.01, 1e6 + 0.05};
  saltusi_plot_axis axis = saltusi_axis_fit(data, (saltusi_axis_request){.ticks = 5});
  saltusi_axis_note_text(&axis, text);
  assert_string_equal(text, "+ 1000000");
  saltusi_axis_tick_text(&axis, 0, text);
  assert_string_equal(text, "0.01");
}

static void very_large_and_very_small_numbers_share_a_power_of_ten(void** state) {
  (void)state;
  char text[SALTUSI_TICK_TEXT];
  saltusi_plot_axis axis =
      saltusi_axis_fit((saltusi_range){0.0, 4e-9}, (saltusi_axis_request){.ticks = 4});
  saltusi_axis_note_text(&axis, text);
  assert_string_equal(text, "\xc3\x97"
                            "10^{-9}");
  saltusi_axis_tick_text(&axis, axis.count - 1, text);
  assert_string_equal(text, "4");
}

static void log_ticks_are_decades_with_minor_ticks_between(void** state) {
  (void)state;
  char text[SALTUSI_TICK_TEXT];
  saltusi_axis_request request = {.log = true, .ticks = 6};
  saltusi_plot_axis axis = saltusi_axis_fit((saltusi_range){3e-6, 0.02}, request);
  assert_int_equal(axis.count, 4);
  assert_true(axis.minor_count > 20);
  for (int i = 0; i < axis.count; i++) {
    assert_float_equal(log10(axis.at[i]), i - 5, 1e-12);
  }
  saltusi_axis_tick_text(&axis, 0, text);
  assert_string_equal(text, "10^{-5}");
  /* 40 decades are more than fit: every n-th is labelled */
  axis = saltusi_axis_fit((saltusi_range){1e-30, 1e10}, request);
  assert_in_range(axis.count, 3, 7);
}

static void odd_ranges_still_give_an_axis(void** state) {
  (void)state;
  saltusi_range ranges[] = {saltusi_range_empty(), {0.0, 0.0},       {5.0, 5.0},
                            {1.0, 1.0 + 4e-16},    {1e-320, 2e-320}, {-1e300, 1e300},
                            {-7e299, -7e299},      {1e-300, 1e300}};
  for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
    for (int log = 0; log <= 1; log++) {
      if (log == 1 && ranges[k].low <= 0.0) {
        continue;
      }
      saltusi_axis_request request = {.log = log == 1, .pad_low = 0.1, .pad_high = 0.1, .ticks = 5};
      saltusi_plot_axis axis = saltusi_axis_fit(ranges[k], request);
      assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
      assert_in_range(axis.count, 1, SALTUSI_TICKS_MAX);
      for (int i = 0; i < axis.count; i++) {
        char text[SALTUSI_TICK_TEXT];
        saltusi_axis_tick_text(&axis, i, text);
        assert_true(text[0] != '\0' && strlen(text) < 24);
        assert_true(i == 0 || axis.at[i] > axis.at[i - 1]);
      }
    }
  }
}

/* --- thinning ------------------------------------------------------------------------------- */

typedef struct summary {
  int points, starts;
  double low, high;
} summary;

static void count(summary* s, const saltusi_point* out, int n) {
  for (int i = 0; i < n; i++) {
    s->points++;
    s->starts += out[i].start ? 1 : 0;
    s->low = fmin(s->low, out[i].y);
    s->high = fmax(s->high, out[i].y);
  }
}

static void thinning_keeps_extremes_and_drops_the_rest(void** state) {
  (void)state;
  saltusi_thin thin = {.width = 1.0};
  saltusi_point out[SALTUSI_THIN_OUT];
  summary s = {.low = HUGE_VAL, .high = -HUGE_VAL};
  const int n = 1000000;
  for (int i = 0; i < n; i++) {
    /* two single spikes that a stride would miss */
    double y = i == 123457 ? 50.0 : i == 765433 ? -70.0 : sin(0.37 * i);
    saltusi_point p = {400.0 * i / n, y, i == 0};
    count(&s, out, saltusi_thin_push(&thin, p, out));
  }
  count(&s, out, saltusi_thin_flush(&thin, out));
  assert_true(s.points <= 4 * 401);
  assert_true(s.low == -70.0 && s.high == 50.0);
  assert_int_equal(s.starts, 1);
  assert_int_equal(saltusi_thin_flush(&thin, out), 0);
}

static void thinning_leaves_sparse_points_as_they_are(void** state) {
  (void)state;
  saltusi_thin thin = {.width = 0.5};
  saltusi_point out[SALTUSI_THIN_OUT];
  for (int i = 0; i < 50; i++) {
    saltusi_point p = {3.0 * (i % 7), i, i % 5 == 0};
    int n = saltusi_thin_push(&thin, p, out);
    assert_int_equal(n, i == 0 ? 0 : 1);
    if (i > 0) {
      assert_true(out[0].x == 3.0 * ((i - 1) % 7) && out[0].y == i - 1);
      assert_true(out[0].start == ((i - 1) % 5 == 0));
    }
  }
}

/* Impacts accumulate: thousands of gaps in one column must not become thousands of pieces. */
static void thinning_merges_gaps_that_cannot_be_seen(void** state) {
  (void)state;
  saltusi_thin thin = {.width = 1.0};
  saltusi_point out[SALTUSI_THIN_OUT];
  summary s = {.low = HUGE_VAL, .high = -HUGE_VAL};
  for (int i = 0; i < 10000; i++) {
    saltusi_point p = {1e-4 * i, i % 2, true};
    count(&s, out, saltusi_thin_push(&thin, p, out));
  }
  count(&s, out, saltusi_thin_flush(&thin, out));
  assert_true(s.points <= 8 && s.starts <= 2);
  assert_true(s.low == 0.0 && s.high == 1.0);
}

/* --- files ---------------------------------------------------------------------------------- */

typedef struct sample {
  double x[SAMPLES], y[SAMPLES];
  saltusi_plot_series series[7];
  saltusi_slope slopes[2];
  saltusi_plot_mark marks[3];
  saltusi_panel panels[2];
  saltusi_figure figure;
} sample;

/* One figure with every kind of series; log_log for the other axes. */
static void fill(sample* s, bool log_log) {
  *s = (sample){0};
  for (int i = 0; i < SAMPLES; i++) {
    int pair = i / 2; /* equal x twice: a jump */
    s->x[i] = 0.1 + 0.01 * pair;
    s->y[i] = 1.5 + sin(0.1 * i) + (i % 40 == 0 ? 0.4 : 0.0);
  }
  for (int k = 0; k < 7; k++) {
    s->series[k] = (saltusi_plot_series){.label = "kind_1^2",
                                         .kind = (saltusi_series_kind)k,
                                         .count = SAMPLES,
                                         .x = s->x,
                                         .y = s->y};
  }
  s->slopes[0] = (saltusi_slope){.order = 2.0};
  s->slopes[1] = (saltusi_slope){.order = -1.0, .triangle = true};
  s->marks[0] = (saltusi_plot_mark){0.3, "impact"};
  s->marks[1] = (saltusi_plot_mark){0.31, "impact"};
  s->marks[2] = (saltusi_plot_mark){NAN, "never"};
  s->panels[0] = (saltusi_panel){.y_label = "q_{n} [m]",
                                 .log_y = log_log,
                                 .series_count = 7,
                                 .series = s->series,
                                 .slope_count = 2,
                                 .slopes = s->slopes};
  s->panels[1] = s->panels[0];
  s->figure = (saltusi_figure){.title = "Title",
                               .subtitle = "subtitle",
                               .footnote = "footnote",
                               .x_label = "time [s]",
                               .log_x = log_log,
                               .panel_count = log_log ? 1 : 2,
                               .panels = s->panels,
                               .mark_count = 3,
                               .marks = s->marks};
}

static int make_folder(void** state) {
  char* folder = calloc(1, PATH_BYTES);
  if (folder == NULL) {
    return -1;
  }
  snprintf(folder, PATH_BYTES, "/tmp/saltus-figure-XXXXXX");
  *state = folder;
  return mkdtemp(folder) == NULL ? -1 : 0;
}

static const char* in_folder(void** state, const char* name, char path[PATH_BYTES]) {
  snprintf(path, PATH_BYTES, "%.100s/%.100s", (const char*)*state, name);
  return path;
}

/* Counts the files of the folder and removes them on the way. */
static int empty_folder(void** state) {
  int files = 0;
  DIR* folder = opendir(*state);
  assert_non_null(folder);
  for (struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (entry->d_name[0] != '.') {
      char path[PATH_BYTES];
      remove(in_folder(state, entry->d_name, path));
      files++;
    }
  }
  closedir(folder);
  return files;
}

static int drop_folder(void** state) {
  empty_folder(state);
  int status = rmdir(*state);
  free(*state);
  return status;
}

/* The whole file, to be freed. */
static char* slurp(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  assert_true(length > 0);
  rewind(file);
  char* data = malloc((size_t)length);
  assert_non_null(data);
  assert_int_equal(fread(data, 1, (size_t)length, file), length);
  fclose(file);
  *bytes = (size_t)length;
  return data;
}

static void files_start_with_the_signature_of_their_format(void** state) {
  static const char* const names[] = {"a.svg", "a.pdf", "a.PNG"};
  static const char* const signatures[] = {"<?xml", "%PDF-", "\x89PNG\r\n\x1a\n"};
  sample s;
  for (int k = 0; k < 6; k++) {
    char path[PATH_BYTES];
    size_t bytes;
    saltus_kept_message kept;
    fill(&s, k >= 3);
    in_folder(state, names[k % 3], path);
    saltus_status status = saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept));
    assert_string_equal(kept.text, "");
    assert_int_equal(status, SALTUS_OK);
    char* data = slurp(path, &bytes);
    assert_memory_equal(data, signatures[k % 3], strlen(signatures[k % 3]));
    free(data);
  }
  assert_int_equal(empty_folder(state), 3);
}

static void the_same_figure_gives_the_same_bytes(void** state) {
  static const char* const names[][2] = {
      {"a.svg", "b.svg"}, {"a.pdf", "b.pdf"}, {"a.png", "b.png"}};
  sample s;
  fill(&s, false);
  for (int k = 0; k < 3; k++) {
    char* data[2];
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
      char path[PATH_BYTES];
      in_folder(state, names[k][i], path);
      assert_int_equal(saltusi_figure_write(&s.figure, path, (saltus_log){0}), SALTUS_OK);
      data[i] = slurp(path, &bytes[i]);
      if (k == 1 && i == 0) {
        sleep(1); /* a PDF date has seconds */
      }
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(data[0], data[1], bytes[0]);
    free(data[0]);
    free(data[1]);
  }
}

static void nothing_and_not_a_number_can_be_drawn(void** state) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e308, NAN};
  static const double one[] = {NAN, 2.0, NAN, 2.0, INFINITY};
  static const double flat[] = {3.0, 3.0, 3.0, 3.0, 3.0};
  for (int kind = SALTUSI_SERIES_LINE; kind <= SALTUSI_SERIES_AREA; kind++) {
    for (int log = 0; log <= 1; log++) {
      saltusi_plot_series series[] = {{.count = 0},
                                      {.count = 5, .x = bad, .y = bad},
                                      {.count = 5, .x = one, .y = one},
                                      {.count = 5, .x = bad, .y = flat},
                                      {.count = 5, .x = one, .y = flat},
                                      {.count = 1, .x = flat, .y = flat}};
      saltusi_panel panels[6] = {{0}};
      saltusi_slope slope = {.order = 1.0, .triangle = kind % 2 == 0};
      for (int k = 0; k < 6; k++) {
        series[k].kind = (saltusi_series_kind)kind;
        panels[k] = (saltusi_panel){.log_y = log == 1,
                                    .series_count = k,
                                    .series = series,
                                    .slope_count = 1,
                                    .slopes = &slope};
      }
      saltusi_figure figure = {.log_x = log == 1, .panel_count = 6, .panels = panels};
      char path[PATH_BYTES];
      in_folder(state, "odd.svg", path);
      assert_int_equal(saltusi_figure_write(&figure, path, (saltus_log){0}), SALTUS_OK);
    }
  }
}

static void a_million_samples_make_a_small_file(void** state) {
  const int n = 1000000;
  double* x = malloc((size_t)n * sizeof *x);
  double* y = malloc((size_t)n * sizeof *y);
  assert_true(x != NULL && y != NULL);
  for (int i = 0; i < n; i++) {
    x[i] = i;
    y[i] = sin(1.7 * i) + (i % 9973 == 0 ? NAN : 0.0);
  }
  saltusi_plot_series series[2] = {{.count = n, .x = x, .y = y},
                                   {.kind = SALTUSI_SERIES_MARKERS, .count = n, .x = x, .y = y}};
  saltusi_panel panel = {.series_count = 2, .series = series};
  saltusi_figure figure = {.panel_count = 1, .panels = &panel};
  char path[PATH_BYTES];
  size_t bytes;
  in_folder(state, "long.svg", path);
  assert_int_equal(saltusi_figure_write(&figure, path, (saltus_log){0}), SALTUS_OK);
  free(slurp(path, &bytes));
  assert_true(bytes < 1000000);
  free(x);
  free(y);
}

static void texts_may_hold_any_bytes(void** state) {
  sample s;
  fill(&s, false);
  s.figure.title = "bad \xff\xc0\xe2\x88 bytes, ^ alone, x^{open, _{a} 10^";
  s.figure.subtitle = "\t\n";
  s.series[0].label = "\xed\xa0\x80";
  static const char* const names[] = {"t.svg", "t.pdf", "t.png"};
  for (int k = 0; k < 3; k++) {
    char path[PATH_BYTES];
    in_folder(state, names[k], path);
    assert_int_equal(saltusi_figure_write(&s.figure, path, (saltus_log){0}), SALTUS_OK);
  }
}

static void an_unknown_extension_is_refused_by_name(void** state) {
  static const char* const names[] = {"ball.jpg", "ball", ".svg", "ball.svg.txt"};
  sample s;
  fill(&s, false);
  for (int k = 0; k < 4; k++) {
    char path[PATH_BYTES];
    char text[2 * PATH_BYTES];
    saltus_kept_message kept;
    in_folder(state, names[k], path);
    snprintf(text, sizeof text, "figure \"%s\": the file name has to end in .svg, .pdf or .png",
             path);
    assert_int_equal(saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept)),
                     SALTUS_ERR_INPUT);
    assert_string_equal(kept.text, text);
    assert_int_equal(saltusi_figure_path_check(path, (saltus_log){0}), SALTUS_ERR_INPUT);
  }
  assert_int_equal(empty_folder(state), 0);
}

static void an_unwritable_path_is_refused_and_leaves_no_file(void** state) {
  sample s;
  char path[PATH_BYTES];
  char folder[PATH_BYTES];
  saltus_kept_message kept;
  fill(&s, false);
  in_folder(state, "none/a.svg", path);
  assert_int_equal(saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept)), SALTUS_ERR_IO);
  assert_non_null(strstr(kept.text, path));
  assert_non_null(strstr(kept.text, "cannot be written: No such file or directory"));

  /* the name of a folder: found out at the end only */
  assert_int_equal(mkdir(in_folder(state, "b.png", folder), 0700), 0);
  assert_int_equal(saltusi_figure_write(&s.figure, folder, saltus_log_keep(&kept)), SALTUS_ERR_IO);
  assert_non_null(strstr(kept.text, "cannot be written: Is a directory"));
  assert_int_equal(empty_folder(state), 1);
}

static void a_full_disk_leaves_the_old_file_as_it_was(void** state) {
  static const char* const names[] = {"a.svg", "a.pdf", "a.png"};
  sample s;
  fill(&s, false);
  for (int k = 0; k < 3; k++) {
    char path[PATH_BYTES];
    size_t bytes;
    saltus_kept_message kept;
    FILE* old = fopen(in_folder(state, names[k], path), "w");
    assert_non_null(old);
    fputs("old", old);
    fclose(old);

    /* a limit on the size of files stands for the full disk */
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 5000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    saltus_status status = saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept));
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);

    assert_int_equal(status, SALTUS_ERR_IO);
    assert_non_null(strstr(kept.text, "cannot be written: File too large"));
    char* data = slurp(path, &bytes);
    assert_int_equal(bytes, 3);
    assert_memory_equal(data, "old", 3);
    free(data);
    assert_int_equal(empty_folder(state), 1);
  }
}

static void panels_and_sizes_outside_their_range_are_refused(void** state) {
  sample s;
  char path[PATH_BYTES];
  saltus_kept_message kept;
  in_folder(state, "a.svg", path);
  fill(&s, false);
  s.figure.panel_count = 0;
  assert_int_equal(saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept)), SALTUS_ERR_INPUT);
  assert_non_null(strstr(kept.text, "0 panels, allowed are 1 to 16"));
  fill(&s, false);
  s.figure.width_cm = 1e5;
  assert_int_equal(saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept)), SALTUS_ERR_INPUT);
  assert_non_null(strstr(kept.text, "size is 100000 x 0 cm"));
  s.figure.width_cm = NAN;
  assert_int_equal(saltusi_figure_write(&s.figure, path, saltus_log_keep(&kept)), SALTUS_ERR_INPUT);
  assert_int_equal(empty_folder(state), 0);
}

static void samples_missing_on_a_log_axis_are_reported(void** state) {
  static const double x[] = {1.0, 2.0, 3.0};
  static const double y[] = {1.0, 0.0, -3.0};
  saltusi_plot_series series = {.label = "error", .count = 3, .x = x, .y = y};
  saltusi_panel panel = {.log_y = true, .series_count = 1, .series = &series};
  saltusi_figure figure = {.panel_count = 1, .panels = &panel};
  char path[PATH_BYTES];
  saltus_kept_message kept;
  in_folder(state, "a.svg", path);
  assert_int_equal(saltusi_figure_write(&figure, path, saltus_log_keep(&kept)), SALTUS_OK);
  assert_int_equal(kept.level, SALTUS_LEVEL_WARNING);
  assert_non_null(strstr(kept.text, "2 of 3 samples of \"error\" are not positive"));
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_ticks_are_nice_and_cover_the_range),
      cmocka_unit_test(tick_labels_are_short_decimals),
      cmocka_unit_test(names_take_the_place_of_whole_numbers),
      cmocka_unit_test(a_small_range_around_a_large_number_is_shown_with_an_offset),
      cmocka_unit_test(very_large_and_very_small_numbers_share_a_power_of_ten),
      cmocka_unit_test(log_ticks_are_decades_with_minor_ticks_between),
      cmocka_unit_test(odd_ranges_still_give_an_axis),
      cmocka_unit_test(thinning_keeps_extremes_and_drops_the_rest),
      cmocka_unit_test(thinning_leaves_sparse_points_as_they_are),
      cmocka_unit_test(thinning_merges_gaps_that_cannot_be_seen),
      IN_FOLDER(files_start_with_the_signature_of_their_format),
      IN_FOLDER(the_same_figure_gives_the_same_bytes),
      IN_FOLDER(nothing_and_not_a_number_can_be_drawn),
      IN_FOLDER(a_million_samples_make_a_small_file),
      IN_FOLDER(texts_may_hold_any_bytes),
      IN_FOLDER(an_unknown_extension_is_refused_by_name),
      IN_FOLDER(an_unwritable_path_is_refused_and_leaves_no_file),
      IN_FOLDER(a_full_disk_leaves_the_old_file_as_it_was),
      IN_FOLDER(panels_and_sizes_outside_their_range_are_refused),
      IN_FOLDER(samples_missing_on_a_log_axis_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
