/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What every registered scheme has to satisfy. A new scheme is covered by being registered.
 */
#include "saltus_test.h"

#include "systems.h"

typedef struct drop_result {
  double q, v;
  double error; /* mean over time of |q - exact| */
} drop_result;

#define FOR_EVERY_SCHEME(info)                                                                     \
  for (const saltus_scheme_info *info = saltus_scheme_at(0), *last = NULL; info != last;           \
       info = next_scheme(info))

static const saltus_scheme_info* next_scheme(const saltus_scheme_info* info) {
  for (int i = 0; i < saltus_scheme_count(); i++) {
    if (saltus_scheme_at(i) == info) {
      return saltus_scheme_at(i + 1);
    }
  }
  return NULL;
}

static saltus_scheme* make(const saltus_scheme_info* info, const saltus_system* sys,
                           const saltus_allocator* allocator) {
  saltus_scheme* scheme;
  const saltus_scheme_def def = {.scheme = info->name, .system = sys, .allocator = allocator};
  assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
  return scheme;
}

static drop_result drop(const saltus_scheme_info* info, double height, double t_end, int steps,
                        const saltus_allocator* allocator) {
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  saltus_scheme* scheme = make(info, &sys, allocator);
  drop_result r = {.q = height};
  saltus_state x = {0.0, &r.q, &r.v};
  for (int i = 0; i < steps; i++) {
    x.t = i * (t_end / steps);
    assert_int_equal(saltus_scheme_step(scheme, t_end / steps, &x, NULL), SALTUS_OK);
    r.error += fabs(r.q - ball_height(&b, height, (i + 1) * (t_end / steps))) / steps;
  }
  saltus_scheme_destroy(scheme);
  return r;
}

static void schemes_are_found_by_name_and_described(void** state) {
  (void)state;
  assert_true(saltus_scheme_count() >= 1);
  assert_null(saltus_scheme_at(-1));
  assert_null(saltus_scheme_at(saltus_scheme_count()));
  assert_null(saltus_scheme_find("no-such-scheme"));
  FOR_EVERY_SCHEME(info) {
    assert_ptr_equal(saltus_scheme_find(info->name), info);
    assert_true(strlen(info->summary) > 10 && strlen(info->source) > 3 && info->order >= 1);
    for (int i = 0; i < info->options.count; i++) {
      const saltus_field* field = &info->options.fields[i];
      assert_true(field->lo <= field->fallback && field->fallback <= field->hi);
      assert_true(strlen(field->doc) > 5);
    }
  }
}

/* Constant force, no contact: any consistent scheme is within one step of free fall. */
static void free_flight_is_consistent(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    drop_result r = drop(info, 100.0, 1.0, 1000, NULL);
    assert_near(r.q, 100.0 - 0.5 * 9.81, 9.81 * 1e-3);
  }
}

/* Mean error over time and over some neighbouring grids: where an impact falls in its step decides
 * about a factor of ten in a single run. */
static double mean_error(const saltus_scheme_info* info, int steps) {
  enum { GRIDS = 12 };
  double sum = 0.0;
  for (int k = 0; k < GRIDS; k++) {
    sum += drop(info, 1.0, 1.2, steps + k * steps / 23, NULL).error / GRIDS;
  }
  return sum;
}

/* Over all grids from `steps` to 2 steps - 1. */
static double mean_error_of_octave(const saltus_scheme_info* info, int steps) {
  double sum = 0.0;
  for (int k = 0; k < steps; k++) {
    sum += drop(info, 1.0, 1.2, steps + k, NULL).error / steps;
  }
  return sum;
}

/* What errors of exactly h^power give there: a little more than 2^power, since octaves are sums. */
static double mean_power_of_octave(double power, int steps) {
  double sum = 0.0;
  for (int k = 0; k < steps; k++) {
    sum += pow(1.2 / (steps + k), power) / steps;
  }
  return sum;
}

/* A method of order 2 or more follows the parabolas of a ball exactly. What is left is the bracket
 * C h^(p+1) of its impacts: one order more than stated, on grids so coarse that it stays above
 * rounding. A method that interpolates parabolas by parabolas has nothing left but rounding. */
static void impacts_converge_with_the_stated_order(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    if (info->stops || info->chooses_step) {
      continue; /* their tolerances have tests of their own */
    }
    if (info->order > 1) {
      double fine = mean_error_of_octave(info, 24);
      if (fine > 1e-14) {
        double power = info->order + 1;
        double order = log2(mean_error_of_octave(info, 12) / fine);
        double expected = log2(mean_power_of_octave(power, 12) / mean_power_of_octave(power, 24));
        assert_near(order, expected, 0.2);
      }
    } else {
      double order = log2(mean_error(info, 499) / mean_error(info, 7984)) / 4.0;
      assert_near(order, info->order, 0.05);
    }
  }
}

/* On the floor from the start: nothing moves beyond rounding, and nothing decays into denormals. */
static void a_ball_at_rest_stays_at_rest(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    if (info->penetrates) {
      continue;
    }
    ball b = ball_usual();
    saltus_system sys = ball_system(&b);
    saltus_scheme* scheme = make(info, &sys, NULL);
    double q = 0.0;
    double v = 0.0;
    saltus_state x = {0.0, &q, &v};
    for (int i = 0; i < 10000; i++) {
      assert_int_equal(saltus_scheme_step(scheme, 1e-3, &x, NULL), SALTUS_OK);
      assert_true(fabs(q) <= 1e-15);
      assert_true(v == 0.0 || fabs(v) > 1e-300);
    }
    saltus_scheme_destroy(scheme);
  }
}

/* A bouncing ball comes to rest and then its velocity does not run through the denormals. */
static void a_bouncing_ball_comes_to_rest(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    if (info->penetrates || info->stops) {
      continue;
    }
    drop_result r = drop(info, 1.0, 3.0, 3001, NULL);
    assert_near(r.q, 0.0, 1e-3);
    assert_true(r.v == 0.0 || (fabs(r.v) > 1e-300 && fabs(r.v) < 1e-12));
  }
}

static void steps_do_not_allocate(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    counter few = {0};
    counter many = {0};
    saltus_allocator a = counting_allocator(&few);
    saltus_allocator b = counting_allocator(&many);
    drop(info, 1.0, 1.2, 2, &a);
    drop(info, 1.0, 1.2, 3000, &b);
    assert_int_equal(few.calls, many.calls);
    assert_true(few.live == 0 && many.live == 0);
  }
}

/* Every allocation may fail: creation then says so, gives nothing and keeps nothing. */
static void a_failed_allocation_leaks_nothing(void** state) {
  (void)state;
  ball b = ball_usual();
  saltus_system sys = ball_system(&b);
  FOR_EVERY_SCHEME(info) {
    for (int fail_at = 1; fail_at <= 2; fail_at++) {
      counter count = {.fail_at = fail_at};
      saltus_allocator allocator = counting_allocator(&count);
      saltus_scheme* scheme;
      const saltus_scheme_def def = {.scheme = info->name, .system = &sys, .allocator = &allocator};
      assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_ERR_MEMORY);
      assert_null(scheme);
      assert_int_equal(count.live, 0);
    }
  }
}

static void the_same_input_gives_the_same_bits(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    drop_result a = drop(info, 1.0, 1.2, 777, NULL);
    drop_result b = drop(info, 1.0, 1.2, 777, NULL);
    assert_memory_equal(&a, &b, sizeof a);
  }
}

/* Bad arguments, a failing system, a NaN inside: a status, a message, and the state as it was. */
static void a_failed_step_changes_nothing(void** state) {
  (void)state;
  static const struct {
    double h, q;
    bool singular, broken, crowded;
    saltus_status status;
    const char* says;
  } cases[] = {
      {0.0, 1.0, 0, 0, 0, SALTUS_ERR_RANGE, "step: h is 0 s, must be positive"},
      {-0.1, 1.0, 0, 0, 0, SALTUS_ERR_RANGE, "step: h is -0.1 s"},
      {NAN, 1.0, 0, 0, 0, SALTUS_ERR_RANGE, "step: h is nan s"},
      {0.1, NAN, 0, 0, 0, SALTUS_ERR_RANGE, "state: q[0] is nan, must be finite"},
      {0.1, 1.0, 1, 0, 0, SALTUS_ERR_SINGULAR, "the mass matrix is singular"},
      {0.1, 1.0, 0, 1, 0, SALTUS_RETRY_NAN, "not finite"},
      {0.1, 1.0, 0, 0, 1, SALTUS_ERR_SYSTEM, "s than the 1 of a fixed set"},
  };
  FOR_EVERY_SCHEME(info) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      ball b = ball_usual();
      b.singular = cases[i].singular;
      b.broken = cases[i].broken;
      b.crowded = cases[i].crowded;
      saltus_system sys = ball_system(&b);
      saltus_kept_message kept;
      saltus_scheme* scheme;
      const saltus_scheme_def def = {
          .scheme = info->name, .system = &sys, .log = saltus_log_keep(&kept)};
      assert_int_equal(saltus_scheme_create(&def, &scheme), SALTUS_OK);
      double q = cases[i].q;
      double v = -2.0;
      saltus_state x = {3.0, &q, &v};
      assert_int_equal(saltus_scheme_step(scheme, cases[i].h, &x, NULL), cases[i].status);
      assert_says(kept, cases[i].says);
      assert_true(x.t == 3.0 && v == -2.0 && memcmp(&q, &cases[i].q, sizeof q) == 0);
      saltus_scheme_destroy(scheme);
    }
  }
}

static void what_a_scheme_cannot_treat_is_refused(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    ball b = ball_usual();
    b.law.tangents = 1;
    b.law.mu = 0.3;
    saltus_system sys = ball_system(&b);
    saltus_kept_message kept;
    saltus_scheme* scheme;
    const saltus_scheme_def def = {
        .scheme = info->name, .system = &sys, .log = saltus_log_keep(&kept)};
    saltus_status status = saltus_scheme_create(&def, &scheme);
    if ((info->treats & (SALTUS_TREATS_FRICTION | SALTUS_TREATS_PLANAR_FRICTION)) == 0) {
      assert_int_equal(status, SALTUS_ERR_UNSUPPORTED);
      assert_null(scheme);
      assert_says(kept, "does not treat friction; contact 0 \"floor\" has mu = 0.3");
    }
    saltus_scheme_destroy(scheme);
  }
}

/* Momentum: what the contacts and gravity gave is what the ball has, to rounding. */
static void impulses_balance_momentum(void** state) {
  (void)state;
  FOR_EVERY_SCHEME(info) {
    int steps = info->stops ? 1200 : 2000; /* impacts accumulate at 1.35 s */
    ball b = ball_usual();
    saltus_system sys = ball_system(&b);
    saltus_scheme* scheme = make(info, &sys, NULL);
    double q = 1.0;
    double v = 0.0;
    saltus_state x = {0.0, &q, &v};
    double given = 0.0;
    for (int i = 0; i < steps; i++) {
      saltus_step_report report;
      assert_int_equal(saltus_scheme_step(scheme, 1e-3, &x, &report), SALTUS_OK);
      given -= 9.81 * report.h;
      for (int k = 0; k < report.active; k++) {
        given += report.contacts[k].impulse[0];
        assert_true(report.contacts[k].impulse[0] >= 0.0);
      }
      assert_near(report.residual_velocity, 0.0, 1e-14);
    }
    assert_near(v, given, 1e-12); /* 2000 roundings of numbers up to 20 */
    saltus_scheme_destroy(scheme);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schemes_are_found_by_name_and_described),
      cmocka_unit_test(free_flight_is_consistent),
      cmocka_unit_test(impacts_converge_with_the_stated_order),
      cmocka_unit_test(a_ball_at_rest_stays_at_rest),
      cmocka_unit_test(a_bouncing_ball_comes_to_rest),
      cmocka_unit_test(steps_do_not_allocate),
      cmocka_unit_test(a_failed_allocation_leaks_nothing),
      cmocka_unit_test(the_same_input_gives_the_same_bits),
      cmocka_unit_test(a_failed_step_changes_nothing),
      cmocka_unit_test(what_a_scheme_cannot_treat_is_refused),
      cmocka_unit_test(impulses_balance_momentum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
