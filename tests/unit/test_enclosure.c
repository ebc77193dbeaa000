/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_enclosure.c - enclosures of formulas contain what they claim to contain.
 *
 * Courses are random intervals of Taylor coefficients, of many sizes and widths, with their centres
 * often at poles, cuts, ends of domains and turning points. Points are drawn from them and carried
 * through the function in long double by other recurrences than the library's.
 */
#include "formula/functions.h"
#include "formula_fixture.h"
#include "taylor.h"

#include <stdio.h>
#include <stdlib.h>

/* Courses for each function; ten points in each. */
static int trials(void) {
  return saltus_test_long() ? 100000 : saltus_test_draws(2000);
}

enum { ARGUMENTS = 3, WIDE = SALTUS_JET_ORDER + 1, POINTS = 10 };

typedef taylor (*judge)(const taylor* x);

#define ONE(name)                                                                                  \
  static taylor judge_##name(const taylor* x) {                                                    \
    return taylor_##name(x[0]);                                                                    \
  }
#define TWO(name)                                                                                  \
  static taylor judge_##name(const taylor* x) {                                                    \
    return taylor_##name(x[0], x[1]);                                                              \
  }
ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(exp)
ONE(log)
ONE(log10)
ONE(sqrt)
ONE(abs)
ONE(sign)
TWO(atan2)
TWO(hypot)
TWO(pow)
TWO(add)
TWO(sub)
TWO(mul)
TWO(div)

static taylor judge_min(const taylor* x) {
  return taylor_min(taylor_min(x[0], x[1]), x[2]);
}

static taylor judge_max(const taylor* x) {
  return taylor_max(taylor_max(x[0], x[1]), x[2]);
}

static taylor judge_smoothstep(const taylor* x) {
  taylor u = taylor_div(taylor_sub(x[2], x[0]), taylor_sub(x[1], x[0]));
  u = taylor_min(taylor_max(u, taylor_number(0.0L)), taylor_number(1.0L));
  taylor r = taylor_add(taylor_mul(taylor_number(6.0L), u), taylor_number(-15.0L));
  r = taylor_add(taylor_mul(u, r), taylor_number(10.0L));
  return taylor_mul(taylor_power(u, 3), r);
}

static taylor judge_step(const taylor* x) {
  return taylor_number(x[0].c[0] >= 0.0L ? 1.0L : 0.0L);
}

static taylor judge_piecewise(const taylor* x) {
  const long double a = x[0].c[0], b = x[1].c[0], c = x[2].c[0];
  return a < b && !(c > 1.0L) ? taylor_mul(x[0], x[2])
         : b <= c || a > 2.0L ? taylor_sub(x[1], x[2])
                              : taylor_sqrt(x[0]);
}

static taylor judge_square(const taylor* x) {
  return taylor_power(x[0], 2);
}

static taylor judge_cube(const taylor* x) {
  return taylor_power(x[0], 3);
}

static taylor judge_power_7(const taylor* x) {
  return taylor_power(x[0], 7);
}

static taylor judge_power_16(const taylor* x) {
  return taylor_power(x[0], 16);
}

static taylor judge_power_19(const taylor* x) {
  return taylor_power(x[0], 19);
}

static taylor judge_power_minus_18(const taylor* x) {
  return taylor_power(x[0], -18);
}

static taylor judge_power_minus_2(const taylor* x) {
  return taylor_power(x[0], -2);
}

static taylor judge_power_real(const taylor* x) {
  return taylor_pow(x[0], taylor_number(2.5L));
}

static taylor judge_power_negative(const taylor* x) {
  return taylor_pow(x[0], taylor_number((long double)-0.7));
}

static taylor judge_exponential(const taylor* x) {
  return taylor_pow(taylor_number((long double)1.7), x[0]);
}

static taylor judge_mul_add(const taylor* x) {
  return taylor_add(taylor_mul(x[0], x[1]), x[2]);
}

static taylor judge_mul_sub(const taylor* x) {
  return taylor_sub(taylor_mul(x[0], x[1]), x[2]);
}

static taylor judge_sub_mul(const taylor* x) {
  return taylor_sub(x[2], taylor_mul(x[0], x[1]));
}

static taylor judge_wave(const taylor* x) {
  const taylor wave = taylor_sin(taylor_mul(taylor_number(20.0L), x[0]));
  return taylor_sub(x[1], taylor_mul(taylor_number((long double)0.05), wave));
}

static taylor judge_needle(const taylor* x) {
  const taylor u = taylor_mul(taylor_number(-3.0L), taylor_mul(x[0], x[0]));
  return taylor_sub(x[1], taylor_mul(taylor_number((long double)0.4), taylor_exp(u)));
}

/* Points (-1, 0.5), (0.25, 2), (1, -1). */
static taylor judge_lookup(const taylor* x) {
  const long double a = x[0].c[0];
  if (a <= -1.0L || a >= 1.0L) {
    return taylor_number(a <= -1.0L ? 0.5L : -1.0L);
  }
  const bool rises = a < 0.25L;
  const taylor past = taylor_sub(x[0], taylor_number(rises ? -1.0L : 0.25L));
  return taylor_add(taylor_number(rises ? 0.5L : 2.0L),
                    taylor_mul(taylor_number(rises ? 1.2L : -4.0L), past));
}

#define ONCE 1000.0L
#define TWICE 10000.0L /* a function of a function */
static const struct {
  const char* name; /* of a function, or of nothing */
  const char* text;
  judge exact;
  long double roundings; /* that may count in a coefficient at a point */
} cases[] = {
    {"sin", "sin(x)", judge_sin, ONCE},
    {"cos", "cos(x)", judge_cos, ONCE},
    {"tan", "tan(x)", judge_tan, ONCE},
    {"asin", "asin(x)", judge_asin, ONCE},
    {"acos", "acos(x)", judge_acos, ONCE},
    {"atan", "atan(x)", judge_atan, ONCE},
    {"atan2", "atan2(x, y)", judge_atan2, ONCE},
    {"sinh", "sinh(x)", judge_sinh, ONCE},
    {"cosh", "cosh(x)", judge_cosh, ONCE},
    {"tanh", "tanh(x)", judge_tanh, ONCE},
    {"exp", "exp(x)", judge_exp, ONCE},
    {"log", "log(x)", judge_log, ONCE},
    {"log10", "log10(x)", judge_log10, ONCE},
    {"sqrt", "sqrt(x)", judge_sqrt, ONCE},
    {"abs", "abs(x)", judge_abs, ONCE},
    {"sign", "sign(x)", judge_sign, ONCE},
    {"min", "min(x, y, z)", judge_min, ONCE},
    {"max", "max(x, y, z)", judge_max, ONCE},
    {"hypot", "hypot(x, y)", judge_hypot, TWICE},
    {"pow", "pow(x, y)", judge_pow, TWICE},
    {"smoothstep", "smoothstep(x, y, z)", judge_smoothstep, TWICE},
    {"step", "step(x)", judge_step, ONCE},
    {"piecewise", "piecewise(x < y and not z > 1, x*z, y <= z or x > 2, y - z, sqrt(x))",
     judge_piecewise, ONCE},
    {"", "x + y", judge_add, ONCE},
    {"", "x - y", judge_sub, ONCE},
    {"", "x*y", judge_mul, ONCE},
    {"", "x/y", judge_div, ONCE},
    {"", "x^2", judge_square, ONCE},
    {"", "x^3", judge_cube, ONCE},
    {"", "x^7", judge_power_7, ONCE},
    {"", "x^16", judge_power_16, ONCE},
    {"", "x^19", judge_power_19, ONCE},
    {"", "x^-18", judge_power_minus_18, ONCE},
    {"", "x^-2", judge_power_minus_2, TWICE},
    {"", "x^2.5", judge_power_real, ONCE},
    {"", "x^-0.7", judge_power_negative, ONCE},
    {"", "1.7^x", judge_exponential, ONCE},
    {"", "x*y + z", judge_mul_add, ONCE},
    {"", "x*y - z", judge_mul_sub, ONCE},
    {"", "z - x*y", judge_sub_mul, ONCE},
    {"", "y - 0.05*sin(20*x)", judge_wave, ONCE},
    {"", "y - 0.4*exp(-3*x^2)", judge_needle, ONCE},
    {"lookup", "lookup(x, -1, 0.5, 0.25, 2, 1, -1)", judge_lookup, TWICE},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The force on x is the formula; everything is asked through the public interface. */
typedef struct subject {
  fixture f;
  const saltus_enclosure_ops* ops;
  void* scratch;
} subject;

static subject open_subject(const char* text) {
  const saltus_formula_coordinate q[ARGUMENTS] = {
      {.name = "x", .force = TEXT(text)}, {.name = "y"}, {.name = "z"}};
  const saltus_formula_def def = {
      .coordinates = q, .coordinate_count = ARGUMENTS, .kinetic = TEXT("(x'^2 + y'^2 + z'^2)/2")};
  subject s = {.f = open_model(&def)};
  s.ops = s.f.system->ops->enclosure;
  assert_non_null(s.ops);
  s.scratch = malloc(s.ops->bytes(s.f.system->self));
  assert_non_null(s.scratch);
  return s;
}

static void close_subject(subject* s) {
  free(s->scratch);
  close_model(&s->f);
}

static void enclose(const subject* s, int order, const saltus_interval* q, saltus_interval* out) {
  const saltus_interval t[WIDE] = {{0.0, 0.0}};
  const saltus_course course = {.order = order, .t = t, .q = q, .scratch = s->scratch};
  s->ops->along(s->f.system->self, &course, SALTUS_QUANTITY_FORCE, 0, out);
  for (int k = 0; k <= order; k++) {
    assert_true(out[k].lo <= out[k].hi); /* no NaN, never empty */
  }
}

/* --- random courses --------------------------------------------------------------------------- */

static uint64_t seed = 1;

static double uniform(double lo, double hi) {
  return lo + (hi - lo) * saltus_test_random(&seed);
}

static double magnitude(double lo, double hi) {
  const double x = pow(10.0, uniform(lo, hi));
  return uniform(0.0, 1.0) < 0.5 ? x : -x;
}

static double centre(void) {
  static const double special[] = {0.0, 1.0,       -1.0,   0.5 * PI, -0.5 * PI, PI,
                                   -PI, 2.0,       -2.0,   0.5,      1.5 * PI,  3.0,
                                   1e3, 40.0 * PI, -700.0, 1e17,     0.25};
  if (uniform(0.0, 1.0) < 0.4) {
    return magnitude(-6.0, 2.5);
  }
  const double c = special[(size_t)uniform(0.0, (double)(sizeof special / sizeof *special))];
  return uniform(0.0, 1.0) < 0.3 ? c : c + magnitude(-17.0, 0.0);
}

static saltus_interval around(double c, double least, double most) {
  const double pick = uniform(0.0, 1.0);
  if (pick < 0.2) {
    return (saltus_interval){c, c};
  }
  const double r = fabs(magnitude(least, most)) * (pick < 0.6 ? 1.0 : fabs(c) + 1e-3);
  return pick < 0.3   ? (saltus_interval){c, c + r} /* the special place is an end */
         : pick < 0.4 ? (saltus_interval){c - r, c}
                      : (saltus_interval){c - r * uniform(0.0, 1.0), c + r * uniform(0.0, 1.0)};
}

static void random_course(int order, saltus_interval* q) {
  for (int i = 0; i < ARGUMENTS; i++) {
    saltus_interval* c = q + i * (order + 1);
    c[0] = around(centre(), -16.0, 1.0);
    for (int k = 1; k <= order; k++) {
      c[k] = uniform(0.0, 1.0) < 0.2 ? (saltus_interval){0.0, 0.0}
                                     : around(magnitude(-3.0, 1.0), -16.0, 0.0);
    }
  }
}

static long double inside(saltus_interval x) {
  const double pick = uniform(0.0, 1.0);
  if (pick < 0.15 || x.lo == x.hi) {
    return x.lo;
  }
  if (pick < 0.3) {
    return x.hi;
  }
  const long double p = x.lo + ((long double)x.hi - x.lo) * (long double)uniform(0.0, 1.0);
  return p < x.lo ? x.lo : p > x.hi ? x.hi : p;
}

static void random_point(int order, const saltus_interval* q, taylor* x) {
  for (int i = 0; i < ARGUMENTS; i++) {
    x[i] = taylor_number(0.0L);
    for (int k = 0; k <= order; k++) {
      x[i].c[k] = inside(q[i * (order + 1) + k]);
    }
  }
}

/* --- claims ----------------------------------------------------------------------------------- */

/* On a kink or a jump there is a value and no Taylor coefficient. */
static bool smooth_there(int which, const taylor* x) {
  const long double a = x[0].c[0], b = x[1].c[0], c = x[2].c[0];
  const char* name = cases[which].name;
  if (strcmp(name, "abs") == 0 || strcmp(name, "sign") == 0 || strcmp(name, "step") == 0) {
    return a != 0.0L;
  }
  if (strcmp(name, "lookup") == 0) {
    return a != -1.0L && a != 0.25L && a != 1.0L;
  }
  if (strcmp(name, "smoothstep") == 0) {
    return c != a && c != b;
  }
  if (strcmp(name, "piecewise") == 0) {
    return a != b && c != 1.0L && b != c && a != 2.0L && !(a == 0.0L);
  }
  return (strcmp(name, "min") != 0 && strcmp(name, "max") != 0) || (a != b && b != c && a != c);
}

/* The judge's own rounding: 2^-64 in each of some tens of operations, and coefficients that cancel
 * are as uncertain as the terms they are made of; `spread` is what one unit in the inputs does. */
static long double judge_error(int which, int order, const taylor* x, int k) {
  long double spread = 0.0L;
  const taylor base = cases[which].exact(x);
  for (int i = 0; i < ARGUMENTS; i++) {
    for (int j = 0; j <= order; j++) {
      taylor moved[ARGUMENTS] = {x[0], x[1], x[2]};
      moved[i].c[j] *= 1.0L + 0x1p-40L;
      const long double change = fabsl(cases[which].exact(moved).c[k] - base.c[k]);
      spread += isfinite(change) ? change : 0.0L;
    }
  }
  return 0x1p-58L * fabsl(base.c[k]) + 0x1p-20L * spread;
}

static void check_point(int which, int order, const taylor* x, const saltus_interval* out) {
  const taylor exact = cases[which].exact(x);
  const bool smooth = smooth_there(which, x);
  for (int k = 0; k <= (smooth ? order : 0); k++) {
    const long double e = exact.c[k];
    if (isnan(e) || (e >= out[k].lo && e <= out[k].hi) || fabsl(e) > 1e300L) {
      if (fabsl(e) > 1e300L && (e > 0.0L ? out[k].hi : -out[k].lo) < 1e300) {
        fail_msg("%s, coefficient %d of order %d: %.20Lg is not in [%.17g, %.17g]; x %.20Lg, y "
                 "%.20Lg, z %.20Lg",
                 cases[which].text, k, order, e, out[k].lo, out[k].hi, x[0].c[0], x[1].c[0],
                 x[2].c[0]);
      }
      continue;
    }
    const long double error = judge_error(which, order, x, k);
    if (e < out[k].lo - error || e > out[k].hi + error) {
      fail_msg("%s, coefficient %d of order %d: %.20Lg is not in [%.17g, %.17g]; x %.20Lg %.20Lg, "
               "y %.20Lg, z %.20Lg, error %Lg",
               cases[which].text, k, order, e, out[k].lo, out[k].hi, x[0].c[0], x[0].c[1],
               x[1].c[0], x[2].c[0], error);
    }
  }
}

/* Where the draws of a case begin; those of `lookup`, the last one, are its own, so that no other case has others. */
static uint64_t begin_case(int which) {
  const uint64_t before = seed;
  seed = which == CASES - 1 ? 77 : seed;
  return before;
}

static void end_case(int which, uint64_t before) {
  seed = which == CASES - 1 ? before : seed;
}

static void points_of_a_course_lie_in_its_enclosure(void** state) {
  (void)state;
  for (int which = 0; which < CASES; which++) {
    const uint64_t before = begin_case(which);
    subject s = open_subject(cases[which].text);
    for (int n = 0; n < trials(); n++) {
      saltus_interval q[ARGUMENTS * WIDE], out[WIDE];
      taylor x[ARGUMENTS];
      const int order = n % WIDE;
      random_course(order, q);
      enclose(&s, order, q, out);
      for (int p = 0; p < POINTS; p++) {
        random_point(order, q, x);
        check_point(which, order, x, out);
      }
    }
    end_case(which, before);
    close_subject(&s);
  }
}

static void every_function_is_among_the_cases(void** state) {
  (void)state;
  for (int i = 0; saltusi_function_at(i) != NULL; i++) {
    bool found = false;
    for (int k = 0; k < CASES; k++) {
      found = found || strcmp(cases[k].name, saltusi_function_at(i)->name) == 0;
    }
    if (!found) {
      fail_msg("no case for %s", saltusi_function_at(i)->name);
    }
  }
}

/* A coefficient of order 6 is made of some hundred roundings, each of which counts like one of the
 * inputs; those of functions that are made of two are not all as well conditioned. */
static void at_a_point_enclosures_are_as_narrow_as_rounding(void** state) {
  (void)state;
  enum { COURSES = 500 }; /* in thousands some are worse conditioned than changes of inputs show */
  for (int which = 0; which < CASES; which++) {
    const uint64_t before = begin_case(which);
    subject s = open_subject(cases[which].text);
    int tried = 0;
    for (int n = 0; n < COURSES; n++) {
      saltus_interval q[ARGUMENTS * WIDE], out[WIDE];
      taylor x[ARGUMENTS];
      const int order = n % WIDE;
      for (int i = 0; i < ARGUMENTS * (order + 1); i++) {
        const double c = i % (order + 1) == 0 ? uniform(-4.0, 4.0) : magnitude(-2.0, 0.5);
        q[i] = (saltus_interval){c, c};
      }
      random_point(order, q, x);
      enclose(&s, order, q, out);
      const taylor exact = cases[which].exact(x);
      for (int k = 0; k <= order && isfinite(exact.c[k]); k++) {
        /* judge_error is 2^-20 of the change by 2^-40; one unit is 2^-52 */
        const long double allowed =
            cases[which].roundings *
                (0x1p8L * judge_error(which, order, x, k) + 0x1p-52L * fabsl(exact.c[k])) +
            1e-280L;
        tried++;
        if ((long double)out[k].hi - out[k].lo > allowed) {
          fail_msg("%s, coefficient %d of order %d is %.17Lg with width %g, allowed %Lg",
                   cases[which].text, k, order, exact.c[k], out[k].hi - out[k].lo, allowed);
        }
      }
    }
    assert_true(tried > COURSES / 5);
    end_case(which, before);
    close_subject(&s);
  }
}

static saltus_interval part_of(saltus_interval x) {
  long double a = inside(x), b = inside(x);
  const double lo = (double)(a < b ? a : b), hi = (double)(a < b ? b : a);
  return (saltus_interval){lo < x.lo ? x.lo : lo, hi > x.hi ? x.hi : hi};
}

static void parts_of_a_course_have_enclosures_inside(void** state) {
  (void)state;
  for (int which = 0; which < CASES; which++) {
    subject s = open_subject(cases[which].text);
    for (int n = 0; n < trials(); n++) {
      saltus_interval q[ARGUMENTS * WIDE], part[ARGUMENTS * WIDE], out[WIDE], small[WIDE];
      const int order = n % WIDE;
      random_course(order, q);
      for (int i = 0; i < ARGUMENTS * (order + 1); i++) {
        part[i] = part_of(q[i]);
      }
      enclose(&s, order, q, out);
      enclose(&s, order, part, small);
      taylor x[ARGUMENTS];
      random_point(order, part, x);
      const taylor exact = cases[which].exact(x);
      const bool branch_undefined = strcmp(cases[which].name, "piecewise") == 0 && part[0].lo < 0.0;
      for (int k = 0; k <= order; k++) {
        /* nothing is claimed of parts outside the domain, or that only touch a kink */
        if (isnan(exact.c[0]) || branch_undefined || (k > 0 && !smooth_there(which, x))) {
          continue;
        }
        /* the C library's functions are not monotone in their last digits */
        const double slack = 0x1p-46 * fmax(fabs(out[k].lo), fabs(out[k].hi)) + 1e-280;
        if (small[k].lo < out[k].lo - slack || small[k].hi > out[k].hi + slack) {
          fail_msg("%s, coefficient %d of order %d: [%.17g, %.17g] is not in [%.17g, %.17g]; x "
                   "[%.17g, %.17g] in [%.17g, %.17g]",
                   cases[which].text, k, order, small[k].lo, small[k].hi, out[k].lo, out[k].hi,
                   part[0].lo, part[0].hi, q[0].lo, q[0].hi);
        }
      }
    }
    close_subject(&s);
  }
}

/* --- single claims ---------------------------------------------------------------------------- */

/* x over an interval, moving with rate 1; y and z rest at 1. */
static void at_rate_one(const char* text, double lo, double hi, int order, saltus_interval* out) {
  subject s = open_subject(text);
  saltus_interval q[ARGUMENTS * WIDE] = {{0.0, 0.0}};
  q[0] = (saltus_interval){lo, hi};
  for (int i = 1; i < ARGUMENTS; i++) {
    q[i * (order + 1)] = (saltus_interval){1.0, 1.0};
  }
  if (order > 0) {
    q[1] = (saltus_interval){1.0, 1.0};
  }
  enclose(&s, order, q, out);
  close_subject(&s);
}

static bool everything(saltus_interval x) {
  return x.lo == -INFINITY && x.hi == INFINITY;
}

static void assert_range(saltus_interval x, double lo, double hi) {
  const double room = 1e-14 * (1.0 + fabs(lo) + fabs(hi));
  assert_true(x.lo <= lo && x.hi >= hi);
  assert_true(x.lo >= lo - room && x.hi <= hi + room);
}

static void even_powers_know_that_they_are_positive(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("x^2", -1.0, 2.0, 3, out);
  assert_range(out[0], 0.0, 4.0);
  assert_range(out[1], -2.0, 4.0);
  assert_range(out[2], 1.0, 1.0);
  assert_true(out[3].lo == 0.0 && out[3].hi == 0.0); /* exactly */
  at_rate_one("x^3", -1.0, 2.0, 3, out);
  assert_range(out[0], -1.0, 8.0);
  assert_range(out[1], 0.0, 12.0);
  at_rate_one("x^4 + 1/(1 + x^2)", -1.0, 2.0, 0, out);
  assert_range(out[0], 0.2, 17.0);
}

static void singular_places_are_unbounded_and_never_nan(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double lo, hi;
  } cases_here[] = {
      {"1/x", -1.0, 1.0},
      {"1/x", 0.0, 1.0},
      {"tan(x)", 1.5, 1.6},
      {"log(x)", -2.0, -1.0},
      {"sqrt(x)", -2.0, -1.0},
      {"asin(x)", 1.5, 2.0},
      {"x^-2.5", -2.0, -1.0},
      {"x^x", -1.0, 1.0},
      {"log(x) - log(2*x)", -2.0, -1.0},
      {"x/(x - x^2)", 0.0, 1},
      {"(x - 1)*log(-x)", 1.0, 1.0},
      {"log(x)*x", -1.0, -0.5},
      {"exp(x) - exp(2*x)", 1e3, 1e4},
  };
  for (size_t i = 0; i < sizeof cases_here / sizeof *cases_here; i++) {
    for (int order = 0; order <= SALTUS_JET_ORDER; order++) {
      saltus_interval out[WIDE];
      at_rate_one(cases_here[i].text, cases_here[i].lo, cases_here[i].hi, order, out);
      for (int k = 0; k <= order; k++) {
        if (!everything(out[k])) {
          fail_msg("%s, coefficient %d: [%g, %g]", cases_here[i].text, k, out[k].lo, out[k].hi);
        }
      }
    }
  }
}

static void ends_of_domains_bound_the_value_only(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("sqrt(x)", -1.0, 4.0, 2, out);
  assert_range(out[0], 0.0, 2.0);
  assert_true(everything(out[1]) && everything(out[2]));
  at_rate_one("log(x)", 0.0, 1.0, 1, out);
  assert_true(out[0].lo == -INFINITY && out[0].hi < 1e-300 && everything(out[1]));
  at_rate_one("acos(x)", 0.5, 3.0, 1, out);
  assert_range(out[0], 0.0, PI / 3.0);
  assert_true(everything(out[1]));
  at_rate_one("hypot(x, 0*y)", 0.0, 0.0, 1, out);
  assert_true(out[0].lo == 0.0 && out[0].hi == 0.0 && everything(out[1]));
  /* 3/2 powers have one derivative at 0, and no second */
  at_rate_one("x^1.5", 0.0, 4.0, 2, out);
  assert_range(out[0], 0.0, 8.0);
  assert_range(out[1], 0.0, 3.0);
  assert_true(everything(out[2]));
}

static void angles_jump_at_the_cut(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("atan2(x, -y)", -0.5, 0.5, 2, out);
  assert_range(out[0], -PI, PI);
  assert_true(everything(out[1]) && everything(out[2]));
  at_rate_one("atan2(x, -y)", 0.0, 1.0, 1, out); /* the cut belongs to the upper side */
  assert_range(out[0], 0.75 * PI, PI);
  assert_range(out[1], -1.0, -0.5);
  at_rate_one("atan2(x, y)", -1.0, 1.0, 1, out);
  assert_range(out[0], -0.25 * PI, 0.25 * PI);
}

static void far_angles_are_known_to_be_between_one_and_minus_one(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("sin(x)", 1e20, 1e20, 1, out);
  assert_true(out[0].lo == -1.0 && out[0].hi == 1.0 && out[1].lo >= -1.1 && out[1].hi <= 1.1);
  at_rate_one("cos(x)", 0.0, 7.0, 0, out);
  assert_true(out[0].lo == -1.0 && out[0].hi == 1.0);
  at_rate_one("cos(x)", -0.1, 0.2, 0, out);
  assert_range(out[0], cos(0.2), 1.0);
  assert_true(out[0].hi == 1.0);
}

static void kinks_have_a_hull_of_slopes(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("abs(x)", -1.0, 2.0, 2, out);
  assert_range(out[0], 0.0, 2.0);
  assert_range(out[1], -1.0, 1.0);
  assert_true(everything(out[2]));
  at_rate_one("max(x, 3*x)", -1.0, 2.0, 2, out);
  assert_range(out[0], -1.0, 6.0);
  assert_range(out[1], 1.0, 3.0);
  assert_true(everything(out[2]));
  at_rate_one("sign(x)", -1.0, 2.0, 1, out);
  assert_true(out[0].lo == -1.0 && out[0].hi == 1.0 && everything(out[1]));
  at_rate_one("piecewise(x < 0, 1, 5)", -1.0, 2.0, 1, out);
  assert_true(out[0].lo == 1.0 && out[0].hi == 5.0 && everything(out[1]));
  at_rate_one("abs(x)", 0.0, 0.0, 1, out); /* on the kink there is no side */
  assert_range(out[1], -1.0, 1.0);
}

static void a_range_that_touches_a_kink_lies_beside_it(void** state) {
  (void)state;
  saltus_interval out[WIDE];
  at_rate_one("abs(x)", 0.0, 1.0, 3, out);
  assert_range(out[1], 1.0, 1.0);
  assert_true(out[2].lo == 0.0 && out[2].hi == 0.0);
  at_rate_one("max(x, 0) + min(x, 0)", -1.0, 0.0, 2, out);
  assert_range(out[1], 1.0, 1.0);
  at_rate_one("smoothstep(0, 1, x)", 0.0, 0.5, 6, out);
  assert_true(out[0].lo <= 0.0 && out[0].hi >= 0.5 && out[0].hi < 1.3); /* x occurs three times */
  assert_true(out[6].hi - out[6].lo < INFINITY);
  at_rate_one("smoothstep(0, 1, x)", 1.0, 2.0, 6, out); /* at rest beyond it, exactly */
  assert_true(out[0].lo <= 1.0 && out[0].hi >= 1.0 && out[1].lo == 0.0 && out[6].hi == 0.0);
  at_rate_one("step(x)", 0.0, 1.0, 1, out);
  assert_true(out[0].lo == 1.0 && out[0].hi == 1.0 && out[1].lo == 0.0 && out[1].hi == 0.0);
}

/* t and v are variables as well. */
static void time_and_velocities_move_along_their_own_coefficients(void** state) {
  (void)state;
  subject s = open_subject("t^2 + 3*x'*y");
  saltus_interval t[2] = {{1.0, 2.0}, {0.5, 0.5}}, q[6] = {{0.0, 0.0}}, v[6] = {{0.0, 0.0}};
  saltus_interval out[2];
  q[2] = (saltus_interval){1.0, 1.0};
  q[3] = (saltus_interval){2.0, 2.0};
  v[0] = (saltus_interval){-1.0, 1.0};
  v[1] = (saltus_interval){4.0, 4.0};
  const saltus_course course = {.order = 1, .t = t, .q = q, .v = v, .scratch = s.scratch};
  s.ops->along(s.f.system->self, &course, SALTUS_QUANTITY_FORCE, 0, out);
  assert_range(out[0], -2.0, 7.0); /* 1..4 + 3 (-1..1) */
  assert_range(out[1], 7.0, 20.0); /* 2 t t' + 3 (x'' y + x' y') = 1..2 + 12 + (-6..6) */
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(even_powers_know_that_they_are_positive),
      cmocka_unit_test(singular_places_are_unbounded_and_never_nan),
      cmocka_unit_test(ends_of_domains_bound_the_value_only),
      cmocka_unit_test(angles_jump_at_the_cut),
      cmocka_unit_test(far_angles_are_known_to_be_between_one_and_minus_one),
      cmocka_unit_test(kinks_have_a_hull_of_slopes),
      cmocka_unit_test(a_range_that_touches_a_kink_lies_beside_it),
      cmocka_unit_test(time_and_velocities_move_along_their_own_coefficients),
      cmocka_unit_test(every_function_is_among_the_cases),
      cmocka_unit_test(points_of_a_course_lie_in_its_enclosure),
      cmocka_unit_test(at_a_point_enclosures_are_as_narrow_as_rounding),
      cmocka_unit_test(parts_of_a_course_have_enclosures_inside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
