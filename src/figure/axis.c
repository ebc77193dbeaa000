/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * axis.c - nice ticks.
 *
 * Linear: multiples of the smallest step in {1, 2, 5} 10^k that gives no more ticks than requested.
 * Log: powers of ten, every n-th when there are many; 1-2-5 below two decades, and linear ticks at logarithmic
 * positions when even those are too few.
 */
#include "figure/axis.h"

#include "base/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MINUS "\xe2\x88\x92" /* U+2212, as wide as a digit */
#define TIMES "\xc3\x97"

/* Differences and tenfolds of values below this limit are finite, so no overflow has to be handled. */
static const double LARGEST = 1e300;
/* Steps of ranges above this limit are normal numbers. */
static const double SMALLEST = 1e-280;
/* Ticks closer than this to an end count as on it; far above rounding, far below a pixel. */
static const double SLACK = 1e-9;

saltusi_range saltusi_range_empty(void) {
  return (saltusi_range){HUGE_VAL, -HUGE_VAL};
}

bool saltusi_axis_shows(bool log, double value) {
  return fabs(value) <= LARGEST && (!log || value >= 1.0 / LARGEST);
}

void saltusi_range_add(saltusi_range* range, double value) {
  assert(range != NULL);
  if (saltusi_axis_shows(false, value)) {
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
  }
}

/* m 10^k; a division for negative k keeps 3 / 10 the double nearest to 0.3. */
static double scaled(double m, int k) {
  return k < 0 ? m / pow(10.0, -k) : m * pow(10.0, k);
}

static int decade_of(double value) {
  return (int)floor(log10(value));
}

/* The mantissa of the smallest nice step that is at least `raw`. */
static int nice_step(double raw, int* exponent) {
  static const int nice[] = {1, 2, 5};
  *exponent = decade_of(raw);
  for (int i = 0; i < 3; i++) {
    if (scaled(nice[i], *exponent) >= raw * (1.0 - SLACK)) {
      return nice[i];
    }
  }
  *exponent += 1;
  return 1;
}

static int place_multiples(saltusi_plot_axis* axis, int mantissa, int exponent) {
  double step = scaled(mantissa, exponent);
  double first = ceil(axis->low / step - SLACK);
  double last = floor(axis->high / step + SLACK);
  axis->count = 0;
  while (axis->count < SALTUSI_TICKS_MAX && first + axis->count <= last) {
    double n = first + axis->count;
    axis->at[axis->count] = scaled(n * mantissa, exponent) + 0.0; /* no -0 */
    axis->count += 1;
  }
  axis->step_exponent = exponent;
  return axis->count;
}

/* The roundest number near all ticks: units from coarse to fine, until one of their multiples is so
 * near that labels stay short. */
static void choose_offset(saltusi_plot_axis* axis, double first, double last) {
  const double extent = last - first;
  const double middle = 0.5 * first + 0.5 * last;
  int k = decade_of(fmax(fabs(first), fabs(last)));
  do {
    axis->offset = scaled(round(middle / scaled(1.0, k)), k);
    axis->offset_digits = -k;
    k--;
  } while (fmax(fabs(first - axis->offset), fabs(last - axis->offset)) > 5.0 * extent);
}

/* Offset and power of ten that keep labels short. */
static void shorten_labels(saltusi_plot_axis* axis) {
  const int long_label = 5;
  const double first = axis->at[0];
  const double last = axis->at[axis->count - 1];
  double size = fmax(fabs(first), fabs(last));
  if (axis->count < 2 || size == 0.0) {
    return;
  }
  if (decade_of(size) - axis->step_exponent + 1 > long_label) {
    choose_offset(axis, first, last);
    size = fmax(fabs(first - axis->offset), fabs(last - axis->offset));
  }
  if (size >= 1e5 || size < 1e-3 || (size < 1e-2 && axis->step_exponent < -3)) {
    /* ticks near a power of ten differ from it by rounding only */
    axis->exponent = decade_of(size * (1.0 + SLACK));
  }
}

static void linear_ticks(saltusi_plot_axis* axis, int requested) {
  int exponent;
  int mantissa = nice_step((axis->high - axis->low) / requested, &exponent);
  if (place_multiples(axis, mantissa, exponent) < 2) {
    /* the next smaller step of 1, 2, 5 */
    int finer = mantissa == 1 ? 5 : mantissa / 2;
    place_multiples(axis, finer, mantissa == 1 ? exponent - 1 : exponent);
  }
  shorten_labels(axis);
}

static void fit_linear(saltusi_plot_axis* axis, saltusi_range data, saltusi_axis_request request) {
  double low = data.low;
  double high = data.high;
  double size = fmax(fabs(low), fabs(high));
  /* below this, steps of a range are lost in the rounding of its values */
  double least = 256.0 * DBL_EPSILON * size;
  if (size < SMALLEST) {
    low = -1.0;
    high = 1.0;
  } else if (low == high) {
    low -= 0.05 * size;
    high += 0.05 * size;
  } else if (high - low < least) {
    double middle = 0.5 * low + 0.5 * high;
    low = middle - 0.5 * least;
    high = middle + 0.5 * least;
  } else {
    axis->low = low - request.pad_low * (high - low);
    axis->high = high + request.pad_high * (high - low);
    return;
  }
  axis->low = low;
  axis->high = high;
}

static void push_minor(saltusi_plot_axis* axis, double value) {
  if (axis->minor_count < SALTUSI_MINOR_MAX && value >= axis->low && value <= axis->high) {
    axis->minor[axis->minor_count] = value;
    axis->minor_count += 1;
  }
}

static void push_major(saltusi_plot_axis* axis, double value) {
  double slack = 1.0 + SLACK;
  if (axis->count < SALTUSI_TICKS_MAX && value * slack >= axis->low &&
      value <= axis->high * slack) {
    axis->at[axis->count] = value;
    axis->count += 1;
  }
}

static void decade_ticks(saltusi_plot_axis* axis, int first, int last, int requested) {
  int stride = (last - first + requested) / requested;
  for (int k = first - 1; k <= last; k++) {
    if (k % stride == 0) {
      push_major(axis, scaled(1.0, k));
    } else {
      push_minor(axis, scaled(1.0, k));
    }
    for (int m = 2; stride == 1 && m <= 9; m++) {
      push_minor(axis, scaled(m, k));
    }
  }
}

static void log_ticks(saltusi_plot_axis* axis, int requested) {
  int first = (int)ceil(log10(axis->low) - SLACK);
  int last = (int)floor(log10(axis->high) + SLACK);
  axis->powers = true;
  if (last - first >= 1) {
    decade_ticks(axis, first, last, requested);
    return;
  }
  for (int k = first - 1; k <= last; k++) {
    for (int m = 1; m <= 9; m++) {
      if (m == 1 || m == 2 || m == 5) {
        push_major(axis, scaled(m, k));
      } else {
        push_minor(axis, scaled(m, k));
      }
    }
  }
  if (axis->count < 3) {
    axis->powers = false;
    axis->minor_count = 0;
    linear_ticks(axis, requested);
  }
}

static void fit_log(saltusi_plot_axis* axis, saltusi_range data, saltusi_axis_request request) {
  double low = log10(fmax(data.low, 1.0 / LARGEST));
  double high = log10(fmax(data.high, 1.0 / LARGEST));
  if (high - low < 1e-6) {
    low -= 0.5;
    high += 0.5;
  }
  axis->low = pow(10.0, low - fmin(request.pad_low * (high - low), 3.0));
  axis->high = pow(10.0, high + fmin(request.pad_high * (high - low), 3.0));
}

saltusi_plot_axis saltusi_axis_fit(saltusi_range data, saltusi_axis_request request) {
  saltusi_plot_axis axis = {.log = request.log};
  int requested = request.ticks < 3 ? 3 : request.ticks;
  if (request.log) {
    fit_log(&axis, data.low > data.high ? (saltusi_range){1.0, 10.0} : data, request);
    log_ticks(&axis, requested);
  } else {
    fit_linear(&axis, data.low > data.high ? (saltusi_range){0.0, 1.0} : data, request);
    linear_ticks(&axis, requested);
  }
  return axis;
}

double saltusi_axis_place(const saltusi_plot_axis* axis, double value) {
  assert(axis != NULL);
  if (axis->log) {
    return log(value / axis->low) / log(axis->high / axis->low);
  }
  return (value - axis->low) / (axis->high - axis->low);
}

/* Copies a printed number with a true minus sign. */
static void with_minus(const char* number, char text[SALTUSI_TICK_TEXT]) {
  const char* digits = number[0] == '-' ? number + 1 : number;
  snprintf(text, SALTUSI_TICK_TEXT, "%s%.48s", digits == number ? "" : MINUS, digits);
}

static void power_text(const saltusi_plot_axis* axis, double value, char text[SALTUSI_TICK_TEXT]) {
  double slack = 1.0 + SLACK;
  if (axis->at[0] * slack >= 1e-2 && axis->at[axis->count - 1] <= 1e3 * slack) {
    saltusi_print(text, SALTUSI_TICK_TEXT, "%.10g", value);
    return;
  }
  int k = decade_of(value * slack);
  int m = (int)lround(value / scaled(1.0, k));
  if (m == 1) {
    snprintf(text, SALTUSI_TICK_TEXT, "10^{%d}", k);
  } else {
    snprintf(text, SALTUSI_TICK_TEXT, "%d" TIMES "10^{%d}", m, k);
  }
}

static int at_least_zero(int n) {
  return n > 0 ? n : 0;
}

void saltusi_axis_tick_text(const saltusi_plot_axis* axis, int i, char text[SALTUSI_TICK_TEXT]) {
  assert(axis != NULL);
  double place = axis->at[i];
  if (axis->names != NULL && place >= 1.0 && place <= (double)axis->name_count) {
    snprintf(text, SALTUSI_TICK_TEXT, "%.24s", axis->names[(int)place - 1]);
    return;
  }
  if (axis->powers) {
    power_text(axis, axis->at[i], text);
    return;
  }
  double value = scaled(axis->at[i] - axis->offset, -axis->exponent);
  int step = axis->step_exponent - axis->exponent;
  if (fabs(value) < 0.5 * scaled(1.0, step)) {
    value = 0.0;
  }
  char number[48];
  saltusi_print(number, sizeof number, "%.*f", at_least_zero(-step), value);
  with_minus(number, text);
}

void saltusi_axis_note_text(const saltusi_plot_axis* axis, char text[SALTUSI_TICK_TEXT]) {
  assert(axis != NULL);
  char factor[24] = "";
  char offset[48] = "";
  const char* sign = axis->offset < 0.0 ? MINUS : "+";
  double size = fabs(axis->offset);
  if (axis->exponent != 0) {
    snprintf(factor, sizeof factor, TIMES "10^{%d} ", axis->exponent);
  }
  if (size >= 1e7 || (size > 0.0 && size < 1e-3)) {
    int k = decade_of(size * (1.0 + SLACK));
    saltusi_print(offset, sizeof offset, "%s %.*f" TIMES "10^{%d}", sign,
                  at_least_zero(k + axis->offset_digits), scaled(size, -k), k);
  } else if (size > 0.0) {
    saltusi_print(offset, sizeof offset, "%s %.*f", sign, at_least_zero(axis->offset_digits), size);
  }
  snprintf(text, SALTUSI_TICK_TEXT, "%.20s%.42s", factor, offset);
  size_t length = strlen(text);
  if (length > 0 && text[length - 1] == ' ') {
    text[length - 1] = '\0';
  }
}
