/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * text.h - one line of text with raised and lowered parts, measured and drawn.
 */
#ifndef SALTUSI_FIGURE_TEXT_H
#define SALTUSI_FIGURE_TEXT_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct saltusi_text_style {
  double size;  /* points */
  double grey;  /* 0 black .. 1 white */
  double align; /* fraction of the width left of x: 0 left, 0.5 centred, 1 right */
  double angle; /* rad, positive upwards */
  double room;  /* text wider than this is drawn smaller; 0: no limit */
  bool bold;
} saltusi_text_style;

/* Fonts as every output format draws them alike: sans serif, no hinting. */
void saltusi_text_setup(cairo_t* cairo);

/* NULL is as wide as "". */
double saltusi_text_width(cairo_t* cairo, const char* text, double size, bool bold);

/* The baseline starts at x, y. */
void saltusi_text_draw(cairo_t* cairo, double x, double y, const char* text,
                       saltusi_text_style style);

/* Breaks at spaces into lines of width style.room, the first with its baseline at y; returns the number of lines. With
 * draw = false it only counts. */
int saltusi_text_lines(cairo_t* cairo, double x, double y, const char* text,
                       saltusi_text_style style, bool draw);

/* The text without marks of levels and without bad bytes, cut to fit, for use outside a drawing. */
void saltusi_text_plain(const char* text, char* plain, size_t bytes);

/* From one baseline to the next. */
double saltusi_text_leading(double size);

/* Height of capitals and digits, to centre them on a line. */
double saltusi_text_capital(double size);

#endif
