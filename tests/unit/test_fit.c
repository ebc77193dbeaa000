/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_fit.c - parameters from measurements: of data in closed form, free starts, robust losses, threads, intervals, bad data;
 * tosses of a real cube.
 */
#include "saltus/fit.h"
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/saltus-fit-XXXXXX";

static int make(void** state) {
  (void)state;
  return mkdtemp(folder) != NULL ? 0 : -1;
}

static FILE* in_folder(const char* name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  return file;
}

/* Height of a ball that falls from rest at y0 onto the ground and bounces once, at e. */
static double height(double y0, double g, double e, double t) {
  const double first = sqrt(2.0 * y0 / g);
  const double s = t - first;
  return s < 0.0 ? y0 - 0.5 * g * t * t : e * g * first * s - 0.5 * g * s * s;
}

static double normal(uint64_t* seed) {
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    sum += saltus_test_random(seed);
  }
  return sum;
}

/* Files ball-00.csv and so on, up to before the second impact. */
static void write_balls(int count, double noise, uint64_t seed, bool shifted) {
  for (int i = 0; i < 100; i++) {
    char path[300];
    snprintf(path, sizeof path, "%s/ball-%02d.csv", folder, i);
    remove(path);
  }
  for (int i = 0; i < count; i++) {
    char name[40];
    const double y0 = shifted ? 0.8 + 0.05 * i : 1.0;
    snprintf(name, sizeof name, "ball-%02d.csv", i);
    FILE* file = in_folder(name);
    fprintf(file, "t,y\n");
    for (int k = 0; k < 30; k++) {
      fprintf(file, "%.17g,%.17g\n", 0.025 * k,
              height(y0, 9.81, 0.6, 0.025 * k) + noise * normal(&seed));
    }
    fclose(file);
  }
}

static const char ball[] =
    "saltus: 1\nparameters: {g: 9, e: 0.4}\ncoordinates: {y: {start: 1}}\nkinetic: y'^2/2\n"
    "potential: g*y\ncontacts: [{name: ground, gap: y, restitution: e}]\nsimulate: {until: 1, tol: "
    "1e-10}\n"
    "fit:\n  data: {file: ball-*.csv}\n  measured: [{value: y, columns: [y], noise: 0.001}]\n"
    "  unknown:\n    g: {bounds: [5, 15]}\n    e: {bounds: [0.1, 0.95]}\n";

static saltus_status open_fit(const char* text, int threads, saltus_kept_message* kept,
                              saltus_fit** fit) {
  static char path[300];
  snprintf(path, sizeof path, "%s/scene.yaml", folder);
  const saltus_fit_def def = {
      .path = path, .text = text, .threads = threads, .log = saltus_log_keep(kept)};
  return saltus_fit_create(&def, fit);
}

static saltus_fit* fitted(const char* text, int threads) {
  saltus_kept_message kept;
  saltus_fit* fit;
  if (open_fit(text, threads, &kept, &fit) != SALTUS_OK || saltus_fit_execute(fit) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  return fit;
}

static void exact_data_give_their_parameters(void** state) {
  (void)state;
  write_balls(3, 0.0, 1, false);
  saltus_fit* fit = fitted(ball, 1);
  const saltus_fit_view* v = saltus_fit_get_view(fit);
  assert_true(v->converged);
  assert_near(v->values[0], 9.81, 1e-6);
  assert_near(v->values[1], 0.6, 1e-6);
  saltus_fit_destroy(fit);
}

/* Starts of every experiment are found with the parameters. */
static void unknown_starts_are_estimated(void** state) {
  (void)state;
  char text[1000];
  write_balls(3, 0.0, 1, true);
  snprintf(text, sizeof text, "%s  start: {y: {free: true}}\n", ball);
  saltus_fit* fit = fitted(text, 1);
  const saltus_fit_view* v = saltus_fit_get_view(fit);
  assert_int_equal(v->nuisance, 6);
  assert_near(v->values[0], 9.81, 1e-6);
  assert_near(v->values[1], 0.6, 1e-6);
  saltus_fit_destroy(fit);
}

static void results_are_bitwise_the_same_for_every_number_of_threads(void** state) {
  (void)state;
  write_balls(12, 1e-3, 5, true);
  char text[1000];
  snprintf(text, sizeof text, "%s  start: {y: {free: true}}\n  loss: {kind: soft-l1}\n", ball);
  saltus_fit *one = fitted(text, 1), *two = fitted(text, 3);
  const saltus_fit_view *a = saltus_fit_get_view(one), *b = saltus_fit_get_view(two);
  assert_memory_equal(a->values, b->values, 2 * sizeof(double));
  assert_memory_equal(a->covariance, b->covariance, 4 * sizeof(double));
  assert_int_equal(a->iterations, b->iterations);
  saltus_fit_destroy(one);
  saltus_fit_destroy(two);
}

/* One file of ten is 0.3 m too high: squares follow it, a bounded influence hardly. */
static void robust_losses_resist_outliers(void** state) {
  (void)state;
  double error[2];
  for (int robust = 0; robust < 2; robust++) {
    char text[1000];
    write_balls(10, 1e-3, 9, false);
    FILE* file = in_folder("ball-03.csv");
    fprintf(file, "t,y\n");
    for (int k = 0; k < 30; k++) {
      fprintf(file, "%.17g,%.17g\n", 0.025 * k, height(1.0, 9.81, 0.6, 0.025 * k) + 0.3 * (k > 20));
    }
    fclose(file);
    snprintf(text, sizeof text, "%s  loss: {kind: %s}\n", ball, robust ? "cauchy" : "squares");
    saltus_fit* fit = fitted(text, 2);
    error[robust] = fabs(saltus_fit_get_view(fit)->values[1] - 0.6);
    saltus_fit_destroy(fit);
  }
  assert_true(error[1] < 1e-3 && error[0] > 5e-3);
}

/* 95 % intervals hold the value in 90 to 99 of 100 sets of data; 40 of them in the short test, 34 or more. */
static void intervals_cover_the_parameters(void** state) {
  (void)state;
  const int sets = saltus_test_long() ? 100 : 40;
  int inside[2] = {0};
  for (int seed = 0; seed < sets; seed++) {
    write_balls(12, 1e-3, 100U + (unsigned)seed, false);
    saltus_fit* fit = fitted(ball, 2);
    const saltus_fit_view* v = saltus_fit_get_view(fit);
    for (int k = 0; k < 2; k++) {
      const double half = v->factor * sqrt(v->covariance[3 * k]);
      inside[k] += fabs(v->values[k] - (k == 0 ? 9.81 : 0.6)) <= half;
    }
    saltus_fit_destroy(fit);
  }
  for (int k = 0; k < 2; k++) {
    if (inside[k] < (sets == 100 ? 90 : 34) || inside[k] > (sets == 100 ? 99 : 40)) {
      fail_msg("%d of %d intervals of parameter %d hold it", inside[k], sets, k);
    }
  }
}

static void a_prior_pulls_and_bounds_hold(void** state) {
  (void)state;
  write_balls(3, 0.0, 1, false);
  char text[1000];
  snprintf(text, sizeof text, "%.*sg: {bounds: [5, 9.5]}\n",
           (int)(strstr(ball, "    g:") - ball + 4), ball);
  saltus_fit* fit = fitted(text, 1);
  const saltus_fit_view* v = saltus_fit_get_view(fit);
  assert_true(v->values[0] == 9.5);
  assert_true(v->covariance[0] == 0.0);
  saltus_fit_destroy(fit);
  snprintf(text, sizeof text, "%.*sg: {bounds: [5, 15], prior: {normal: [9, 1e-9]}}\n",
           (int)(strstr(ball, "    g:") - ball + 4), ball);
  fit = fitted(text, 1);
  assert_near(saltus_fit_get_view(fit)->values[0], 9.0, 1e-6);
  saltus_fit_destroy(fit);
}

/* Fits to drawn balls scatter as the covariance says; two seeds differ, equal seeds do not. The fit is as before. */
static void bootstrap_scatters_as_the_covariance(void** state) {
  (void)state;
  enum { SAMPLES = 60 };
  double x[2][SAMPLES][2], mean[2] = {0.0}, square[2] = {0.0};
  write_balls(30, 1e-3, 7, false);
  saltus_fit* fit = fitted(ball, 2);
  const saltus_fit_view before = *saltus_fit_get_view(fit);
  const double values[2] = {before.values[0], before.values[1]};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(saltus_fit_bootstrap(fit, k == 0 ? SAMPLES : 2, 3, &x[k][0][0]), SALTUS_OK);
  }
  assert_memory_equal(x[0], x[1], 2 * sizeof x[0][0]);
  assert_int_equal(saltus_fit_bootstrap(fit, 2, 4, &x[1][0][0]), SALTUS_OK);
  assert_true(x[0][0][0] != x[1][0][0]);
  assert_memory_equal(values, saltus_fit_get_view(fit)->values, sizeof values);
  assert_true(before.cost == saltus_fit_get_view(fit)->cost);
  for (int i = 0; i < SAMPLES; i++) {
    for (int k = 0; k < 2; k++) {
      mean[k] += x[0][i][k] / SAMPLES;
      square[k] += x[0][i][k] * x[0][i][k] / SAMPLES;
    }
  }
  for (int k = 0; k < 2; k++) {
    const double ratio =
        sqrt((square[k] - mean[k] * mean[k]) / saltus_fit_get_view(fit)->covariance[3 * k]);
    assert_true(ratio > 0.7 && ratio < 1.3); /* 60 samples: standard error 9 % */
  }
  saltus_fit_destroy(fit);
}

/* Free fall is linear in g and y = 1 - g t^2/2: its profile is the parabola (a - g)^2 sum t^4/4. With e free the
 * profile of a fall without impact does not depend on e. */
static void profiles_are_those_of_a_linear_fit(void** state) {
  (void)state;
  char text[1000];
  write_balls(8, 1e-3, 5, false);
  snprintf(text, sizeof text, "%s  window: {from: start, frames: 15}\n", ball);
  saltus_fit* fit = fitted(text, 1);
  const double g = saltus_fit_get_view(fit)->values[0];
  const double at[3] = {g - 0.01, g, g + 0.02}, e[2] = {0.2, 0.9};
  double losses[3], threshold, sum = 0.0;
  for (int k = 0; k <= 15; k++) {
    sum += 8.0 * pow(0.025 * k, 4) / 4.0 / 1e-6;
  }
  assert_int_equal(saltus_fit_profile(fit, 0, at, 3, losses, &threshold), SALTUS_OK);
  assert_near(losses[0], 1e-4 * sum, 1e-6 * sum);
  assert_near(losses[1], 0.0, 1e-6);
  assert_near(losses[2], 4e-4 * sum, 4e-6 * sum);
  const double half =
      saltus_fit_get_view(fit)->factor * sqrt(saltus_fit_get_view(fit)->covariance[0]);
  assert_near(threshold, half * half * sum, 1e-2 * threshold);
  assert_int_equal(saltus_fit_profile(fit, 1, e, 2, losses, &threshold), SALTUS_OK);
  assert_true(fabs(losses[0]) < 1e-6 && fabs(losses[1]) < 1e-6);
  assert_true(isnan(threshold));
  assert_true(saltus_fit_get_view(fit)->values[0] == g);
  saltus_fit_destroy(fit);
}

/* A parameter that does nothing has no interval. */
static void parameters_without_influence_are_not_identified(void** state) {
  (void)state;
  write_balls(8, 1e-3, 1, false);
  char text[1000];
  snprintf(text, sizeof text, "%s    idle: {bounds: [0, 1]}\n", ball);
  char* at = strstr(text, "e: 0.4");
  memmove(at + 10, at, strlen(at) + 1);
  memcpy(at, "idle: .5, ", 10);
  saltus_fit* fit = fitted(text, 1);
  const saltus_fit_view* v = saltus_fit_get_view(fit);
  assert_near(v->values[0], 9.81, 1e-2);
  assert_true(v->covariance[0] > 0.0 && v->covariance[0] < 1e-3);
  assert_true(!isfinite(v->condition) || v->condition > 1e10);
  assert_true(!(v->covariance[8] < 1e3));
  saltus_fit_destroy(fit);
}

static void bad_input_is_refused_with_its_reason(void** state) {
  (void)state;
  static const struct {
    const char *old, *now, *says;
  } cases[] = {
      {"columns: [y]", "columns: [z]", "no column \"z\""},
      {"g: {bounds", "k: {bounds", "no parameter of the scene"},
      {"[5, 15]", "[15, 5]", "must rise"},
      {"ball-*.csv", "none-*.csv", "no such file"},
      {"value: y,", "value: y + w,", "unknown name \"w\""},
      {"noise: 0.001", "noise: 0", "must be above 0"},
      {"noise: 0.001", "nois: 0.001", "unknown key \"nois\""},
      {"columns: [y]", "columns: [y], kind: pose", "a pose is of a moving body in space"},
  };
  write_balls(2, 0.0, 1, false);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[1000];
    const char* at = strstr(ball, cases[i].old);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - ball), ball, cases[i].now,
             at + strlen(cases[i].old));
    saltus_kept_message kept;
    saltus_fit* fit;
    assert_true(open_fit(text, 1, &kept, &fit) != SALTUS_OK);
    assert_null(fit);
    assert_says(kept, cases[i].says);
  }
}

static void bad_data_are_refused_with_their_reason(void** state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } files[] = {{"t,y\n0,1\n0.1,nan\n", "frame 1 has no number in column y"},
               {"t,y\n0,1\n0.1,1\n0.1,1\n", "time of frame 2 is 0.1 s, must rise"},
               {"t,x\n0,1\n0.1,1\n", "has other columns than the first file"}};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    write_balls(2, 0.0, 1, false);
    FILE* file = in_folder("ball-01.csv");
    fputs(files[i].text, file);
    fclose(file);
    saltus_kept_message kept;
    saltus_fit* fit;
    assert_true(open_fit(ball, 1, &kept, &fit) != SALTUS_OK);
    assert_says(kept, files[i].says);
  }
}

/* A cube that turns about z at w: exact poses give w, also where a quaternion has the other sign, with a warning. */
static void quaternions_that_change_their_sign_are_warned_of(void** state) {
  (void)state;
  static const char text[] =
      "saltus: 1\nparameters: {w: 1}\nworld: {dimension: 3, gravity: [0, 0, 0]}\n"
      "bodies: {cube: {mass: 1, inertia: [1, 1, 1], angular_velocity: [0, 0, w]}}\n"
      "simulate: {until: 1, tol: 1e-10}\n"
      "fit:\n  data: {file: spin.csv}\n"
      "  measured: [{value: cube, kind: pose, columns: [x, y, z, qw, qx, qy, qz], arm: 0.1}]\n"
      "  unknown: {w: {bounds: [0.5, 4]}}\n";
  for (int flipped = 0; flipped < 2; flipped++) {
    saltus_kept_message kept;
    saltus_fit* fit;
    FILE* file = in_folder("spin.csv");
    fprintf(file, "t,x,y,z,qw,qx,qy,qz\n");
    for (int k = 0; k < 10; k++) {
      const double sign = flipped && k > 5 ? -1.0 : 1.0, half = 0.5 * 3.0 * 0.05 * k;
      fprintf(file, "%.17g,0,0,0,%.17g,0,0,%.17g\n", 0.05 * k, sign * cos(half), sign * sin(half));
    }
    fclose(file);
    assert_int_equal(open_fit(text, 1, &kept, &fit), SALTUS_OK);
    assert_int_equal(saltus_fit_execute(fit), SALTUS_OK);
    assert_near(saltus_fit_get_view(fit)->values[0], 3.0, 1e-6);
    if (flipped) {
      assert_says(kept, "change their sign at 1 frame(s), first at frame 6 of experiment 0");
    } else {
      assert_true(kept.text[0] == '\0');
    }
    saltus_fit_destroy(fit);
  }
}

/* Runs that fail count with their last state, and their reason is reported: y'' = 100 y^3 has no solution after 0.2 s. */
static void failed_runs_are_reported(void** state) {
  (void)state;
  write_balls(2, 0.0, 1, false);
  char text[1000];
  const char* at = strstr(ball, "contacts:");
  snprintf(text, sizeof text, "%.*sforces: {y: 100*y^3}\n%s", (int)(at - ball), ball, at);
  saltus_kept_message kept;
  saltus_fit* fit;
  assert_int_equal(open_fit(text, 1, &kept, &fit), SALTUS_OK);
  saltus_fit_score scores[2];
  saltus_fit_summary summary;
  assert_int_equal(saltus_fit_evaluate(fit, scores, &summary), SALTUS_OK);
  assert_int_equal(summary.failed, 2);
  assert_true(scores[0].reason[0] != '\0');
  assert_true(isfinite(scores[0].position));
  saltus_fit_destroy(fit);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_data_give_their_parameters),
      cmocka_unit_test(unknown_starts_are_estimated),
      cmocka_unit_test(results_are_bitwise_the_same_for_every_number_of_threads),
      cmocka_unit_test(robust_losses_resist_outliers),
      cmocka_unit_test(a_prior_pulls_and_bounds_hold),
      cmocka_unit_test(parameters_without_influence_are_not_identified),
      cmocka_unit_test(intervals_cover_the_parameters),
      cmocka_unit_test(bootstrap_scatters_as_the_covariance),
      cmocka_unit_test(profiles_are_those_of_a_linear_fit),
      cmocka_unit_test(bad_input_is_refused_with_its_reason),
      cmocka_unit_test(bad_data_are_refused_with_their_reason),
      cmocka_unit_test(quaternions_that_change_their_sign_are_warned_of),
      cmocka_unit_test(failed_runs_are_reported),
  };
  return cmocka_run_group_tests(tests, make, NULL);
}
