/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * canvas.c - writes a drawing to a file: surfaces, temporary file and renaming.
 */
#include "figure/canvas.h"

#include "base/log.h"
#include "base/replacement.h"
#include "figure/figure.h"
#include "figure/text.h"

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static const double PNG_SCALE = 200.0 / 72.0; /* pixels per point: 200 dpi */

typedef enum format { FORMAT_NONE, FORMAT_SVG, FORMAT_PDF, FORMAT_PNG } format;

/* the extension is in lower case */
static bool same_ending(const char* text, const char* ending) {
  size_t length = strlen(ending);
  for (size_t i = 0; i <= length; i++) {
    if (tolower((unsigned char)text[i]) != ending[i]) {
      return false;
    }
  }
  return true;
}

static format format_of(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash == NULL ? path : slash + 1;
  const char* dot = strrchr(name, '.');
  if (dot == NULL || dot == name) {
    return FORMAT_NONE;
  }
  return same_ending(dot, ".svg")   ? FORMAT_SVG
         : same_ending(dot, ".pdf") ? FORMAT_PDF
         : same_ending(dot, ".png") ? FORMAT_PNG
                                    : FORMAT_NONE;
}

saltus_status saltusi_figure_path_check(const char* path, saltus_log log) {
  assert(path != NULL);
  if (strlen(path) + 32 > PATH_BYTES) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "figure: the file name has %zu bytes, allowed are %d",
                strlen(path), PATH_BYTES - 32);
    return SALTUS_ERR_INPUT;
  }
  if (format_of(path) == FORMAT_NONE) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "figure \"%s\": the file name has to end in .svg, .pdf or .png", path);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

static cairo_status_t write_plain(void* closure, const unsigned char* data, unsigned int length) {
  FILE* file = closure;
  return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* cairo numbers its surfaces through the life of the process and writes the number into SVG files.
 * Without the number, equal figures give equal files. */
typedef struct svg_sink {
  FILE* file;
  int matched; /* bytes of the pattern matched so far; if all, digits are being removed */
} svg_sink;

static cairo_status_t write_svg(void* closure, const unsigned char* data, unsigned int length) {
  static const char pattern[] = "id=\"surface";
  const int whole = (int)sizeof pattern - 1;
  svg_sink* sink = closure;
  for (unsigned int i = 0; i < length; i++) {
    char c = (char)data[i];
    if (sink->matched == whole) {
      if (c >= '0' && c <= '9') {
        continue;
      }
      sink->matched = 0;
    }
    /* only the first byte of the pattern is an i, so a mismatch restarts at the pattern's start */
    sink->matched = c == pattern[sink->matched] ? sink->matched + 1 : c == pattern[0] ? 1 : 0;
    if (fputc(c, sink->file) == EOF) {
      return CAIRO_STATUS_WRITE_ERROR;
    }
  }
  return CAIRO_STATUS_SUCCESS;
}

static cairo_status_t draw_on(cairo_surface_t* surface, const saltusi_canvas* canvas,
                              double scale) {
  cairo_t* cairo = cairo_create(surface);
  saltusi_text_setup(cairo);
  cairo_scale(cairo, scale, scale);
  canvas->draw(cairo, canvas->what);
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  return status;
}

static cairo_status_t finish(cairo_surface_t* surface, cairo_status_t status) {
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_status(surface);
  }
  cairo_surface_destroy(surface);
  return status;
}

static cairo_status_t write_format(const saltusi_canvas* canvas, format as, FILE* file) {
  svg_sink sink = {.file = file};
  cairo_surface_t* surface;
  double scale = 1.0;
  if (as == FORMAT_SVG) {
    surface = cairo_svg_surface_create_for_stream(write_svg, &sink, canvas->width, canvas->height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
  } else if (as == FORMAT_PDF) {
    surface = cairo_pdf_surface_create_for_stream(write_plain, file, canvas->width, canvas->height);
    /* cairo writes the present time otherwise, and equal figures would differ */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    char title[512];
    saltusi_text_plain(canvas->title, title, sizeof title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
  } else {
    scale = PNG_SCALE;
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(scale * canvas->width),
                                         (int)ceil(scale * canvas->height));
  }
  cairo_status_t status = draw_on(surface, canvas, scale);
  if (status == CAIRO_STATUS_SUCCESS && as == FORMAT_PNG) {
    status = cairo_surface_write_to_png_stream(surface, write_plain, file);
  }
  return finish(surface, status);
}

saltus_status saltusi_canvas_refuse(const char* path, const char* why, saltus_log log) {
  assert(path != NULL && why != NULL);
  saltusi_log(log, SALTUS_LEVEL_ERROR, "figure \"%s\": cannot be written: %s", path, why);
  return SALTUS_ERR_IO;
}

saltus_status saltusi_canvas_write(const saltusi_canvas* canvas, const char* path, saltus_log log) {
  assert(canvas != NULL && path != NULL && canvas->width > 0.0 && canvas->height > 0.0);
  saltus_status status = saltusi_figure_path_check(path, log);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_replacement out;
  int error = saltusi_replacement_open(&out, path);
  if (error != 0) {
    return saltusi_canvas_refuse(path, error == EINVAL ? "it is no regular file" : strerror(error),
                                 log);
  }
  errno = 0;
  cairo_status_t drawn = write_format(canvas, format_of(path), out.file);
  const char* why = NULL;
  if (drawn != CAIRO_STATUS_SUCCESS) {
    why = drawn == CAIRO_STATUS_WRITE_ERROR && errno != 0 ? strerror(errno)
                                                          : cairo_status_to_string(drawn);
  }
  error = saltusi_replacement_close(&out, why == NULL);
  if (why == NULL && error != 0) {
    why = strerror(error);
  }
  return why == NULL ? SALTUS_OK : saltusi_canvas_refuse(path, why, log);
}
