/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sketch.h - line drawings in a plane, to scale, with symbols of fixed size and labels.
 *
 * A path is in m; a symbol is in mm around a point in m. Parts are drawn in the order of their addition, labels last:
 * each as near to its point as possible without overlap of other labels, and away from symbols and lines if possible.
 * Labels that do not fit are left out and counted below the title. Equal sketches give identical bytes.
 */
#ifndef SALTUSI_FIGURE_SKETCH_H
#define SALTUSI_FIGURE_SKETCH_H

#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/status.h"

#include <stdbool.h>

typedef enum saltusi_sketch_style {
  SALTUSI_SKETCH_BODY,   /* a rounded outline around the points, lightly filled */
  SALTUSI_SKETCH_FACE,   /* closed, of a shape, lightly filled in the colour of its body */
  SALTUSI_SKETCH_EDGE,   /* open, of a shape */
  SALTUSI_SKETCH_AREA,   /* closed, white inside */
  SALTUSI_SKETCH_SOLID,  /* closed, black inside */
  SALTUSI_SKETCH_LINE,   /* open */
  SALTUSI_SKETCH_ROD,    /* open, thick */
  SALTUSI_SKETCH_AXIS,   /* open, thin and dashed */
  SALTUSI_SKETCH_ZIGZAG, /* a spring from the first point to the last */
} saltusi_sketch_style;

enum { SALTUSI_SKETCH_GREY = -1 }; /* colour of fixed bodies */

typedef struct saltusi_sketch_path {
  saltusi_sketch_style style;
  int colour;   /* of a body: any number, SALTUSI_SKETCH_GREY */
  bool dashed;  /* outline of a body */
  bool symbol;  /* points are mm around `at`, y up; else m */
  double at[2]; /* m */
  int first, count;
} saltusi_sketch_path;

typedef struct saltusi_sketch_label {
  const char* text; /* valid as long as the sketch */
  int colour;       /* of a body; SALTUSI_SKETCH_GREY: black */
  double at[2];     /* m */
} saltusi_sketch_label;

typedef struct saltusi_sketch_arrow {
  const char* name;
  double way[2]; /* unit vector in the drawing */
} saltusi_sketch_arrow;

typedef struct saltusi_sketch {
  const char* title; /* may be NULL, as the next */
  const char* subtitle;
  int axis_count; /* directions drawn below: x, y and perhaps z */
  saltusi_sketch_arrow axes[3];
  double gravity[2]; /* zero: not drawn */

  saltus_allocator memory;
  bool failed; /* no memory */
  saltusi_sketch_path* paths;
  saltusi_sketch_label* labels;
  double* points; /* x, y, x, y, ... */
  int path_count, label_count, point_count;
  size_t path_room, label_room, point_room;
} saltusi_sketch;

/* allocator NULL: the C library. */
saltusi_sketch saltusi_sketch_begin(const saltus_allocator* allocator);
void saltusi_sketch_free(saltusi_sketch* sketch);

/* Adds a path with [2 count] numbers; its `first` and `count` are set here. */
void saltusi_sketch_draw(saltusi_sketch* sketch, saltusi_sketch_path path, const double* points,
                         int count);
void saltusi_sketch_name(saltusi_sketch* sketch, const char* text, int colour, const double at[2]);

/* Boxes of the placed labels: left, top, right, bottom, points from the top left corner of the paper. Returns their
 * number; the first `room` are written. */
int saltusi_sketch_label_boxes(const saltusi_sketch* sketch, double (*boxes)[4], int room);

/* As saltusi_figure_write; SALTUS_ERR_MEMORY when something could not be added. */
saltus_status saltusi_sketch_write(const saltusi_sketch* sketch, const char* path, saltus_log log);

#endif
