/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * canvas.h - writes a drawing of given size to a file; the extension of the name selects the format.
 */
#ifndef SALTUSI_FIGURE_CANVAS_H
#define SALTUSI_FIGURE_CANVAS_H

#include "saltus/log.h"
#include "saltus/status.h"

#include <cairo.h>

typedef struct saltusi_canvas {
  const char* title;    /* for formats that keep one; NULL: none */
  double width, height; /* points */
  const void* what;
  void (*draw)(cairo_t* cairo, const void* what);
} saltusi_canvas;

/* Writes a temporary file and renames it: after a failure (SALTUS_ERR_INPUT, SALTUS_ERR_IO, with a message) there is
 * no partial file, and an older file is unchanged. */
saltus_status saltusi_canvas_write(const saltusi_canvas* canvas, const char* path, saltus_log log);

/* Reports that a file cannot be written; SALTUS_ERR_IO. */
saltus_status saltusi_canvas_refuse(const char* path, const char* why, saltus_log log);

#endif
