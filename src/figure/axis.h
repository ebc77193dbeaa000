/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * axis.h - the range of an axis, its ticks and their labels; computes numbers and text, draws nothing.
 */
#ifndef SALTUSI_FIGURE_AXIS_H
#define SALTUSI_FIGURE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum { SALTUSI_TICKS_MAX = 40, SALTUSI_MINOR_MAX = 160, SALTUSI_TICK_TEXT = 64 };

/* low > high: nothing was added yet. */
typedef struct saltusi_range {
  double low, high;
} saltusi_range;

typedef struct saltusi_axis_request {
  bool log;
  double pad_low, pad_high; /* margin beyond the data, relative to its extent */
  int ticks;                /* approximate number; at least 3 */
} saltusi_axis_request;

typedef struct saltusi_plot_axis {
  bool log;
  double low, high; /* the ends, low < high; both positive on a log axis */
  int count;
  double at[SALTUSI_TICKS_MAX];
  int minor_count;
  double minor[SALTUSI_MINOR_MAX];
  bool powers;       /* labels are powers of ten */
  int step_exponent; /* else the step is 1, 2 or 5 times ten to this */
  double offset;     /* and labels show (value - offset) / 10^exponent */
  int offset_digits; /* decimals of the offset, may be negative */
  int exponent;
  const char* const* names; /* [name_count] in place of the labels 1, 2, ...; NULL: numbers */
  int name_count;
} saltusi_plot_axis;

saltusi_range saltusi_range_empty(void);

/* Extends the range; values that the axis cannot show are ignored. */
void saltusi_range_add(saltusi_range* range, double value);

/* Whether an axis can show the value: finite, up to 1e300; on a log axis from 1e-300. */
bool saltusi_axis_shows(bool log, double value);

saltusi_plot_axis saltusi_axis_fit(saltusi_range data, saltusi_axis_request request);

/* Position on the axis: 0 at the low end, 1 at the high end. */
double saltusi_axis_place(const saltusi_plot_axis* axis, double value);

/* The label of tick i and the note that belongs to all of them ("×10^{6}", "+ 1000", or empty). */
void saltusi_axis_tick_text(const saltusi_plot_axis* axis, int i, char text[SALTUSI_TICK_TEXT]);
void saltusi_axis_note_text(const saltusi_plot_axis* axis, char text[SALTUSI_TICK_TEXT]);

#endif
