/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * figure.c - from a figure to a file: checks, surfaces, writing aside and renaming.
 */
#include "figure/figure.h"

#include "base/log.h"
#include "figure/draw.h"
#include "figure/layout.h"
#include "figure/text.h"

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static const double PNG_SCALE = 200.0 / 72.0; /* pixels per point: 200 dpi */
static const double LARGEST_CM = 200.0;       /* a poster; a PNG of it is still in reach */

typedef enum format { FORMAT_NONE, FORMAT_SVG, FORMAT_PDF, FORMAT_PNG } format;

/* --- checks --------------------------------------------------------------------------------- */

/* ending is in lower case */
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

static bool size_allowed(double cm) {
  return cm >= 0.0 && cm <= LARGEST_CM;
}

static saltus_status check_figure(const saltusi_figure* figure, const char* path, saltus_log log) {
  if (figure->panel_count < 1 || figure->panel_count > SALTUSI_FIGURE_PANELS_MAX) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "figure \"%s\": %d panels, allowed are 1 to %d", path,
                figure->panel_count, SALTUSI_FIGURE_PANELS_MAX);
    return SALTUS_ERR_INPUT;
  }
  if (!size_allowed(figure->width_cm) || !size_allowed(figure->height_cm)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR,
                "figure \"%s\": size is %g x %g cm, allowed are 0 (automatic) to %g", path,
                figure->width_cm, figure->height_cm, LARGEST_CM);
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

/* A log axis cannot show zero or less; the reader of the figure has to know that some is missing. */
static void report_left_out(const saltusi_figure* figure, const char* path, saltus_log log) {
  for (int k = 0; k < figure->panel_count; k++) {
    const saltusi_panel* panel = &figure->panels[k];
    for (int i = 0; i < panel->series_count; i++) {
      const saltusi_series* s = &panel->series[i];
      int lost = 0;
      for (int j = 0; j < s->count; j++) {
        lost += (figure->log_x && s->x[j] <= 0.0) || (panel->log_y && s->y[j] <= 0.0) ? 1 : 0;
      }
      if (lost > 0) {
        saltusi_log(log, SALTUS_LEVEL_WARNING,
                    "figure \"%s\": %d of %d samples of \"%s\" are not positive and are left out "
                    "of the log axis",
                    path, lost, s->count, s->label == NULL ? "a series" : s->label);
      }
    }
  }
}

/* --- writing -------------------------------------------------------------------------------- */

static cairo_status_t write_plain(void* closure, const unsigned char* data, unsigned int length) {
  FILE* file = closure;
  return fwrite(data, 1, length, file) == length ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* cairo numbers its surfaces through the life of the process and writes the number into SVG files.
 * Dropping it makes equal figures equal files. */
typedef struct svg_sink {
  FILE* file;
  int matched; /* bytes of the pattern seen so far; all of them: digits are being dropped */
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
    /* no byte of the pattern but its first is an i, so a mismatch restarts simply */
    sink->matched = c == pattern[sink->matched] ? sink->matched + 1 : c == pattern[0] ? 1 : 0;
    if (fputc(c, sink->file) == EOF) {
      return CAIRO_STATUS_WRITE_ERROR;
    }
  }
  return CAIRO_STATUS_SUCCESS;
}

static cairo_status_t draw_on(cairo_surface_t* surface, const saltusi_figure* figure,
                              const saltusi_layout* layout, double scale) {
  cairo_t* cairo = cairo_create(surface);
  saltusi_text_setup(cairo);
  cairo_scale(cairo, scale, scale);
  saltusi_figure_draw(cairo, figure, layout);
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  return status;
}

static cairo_status_t measure(const saltusi_figure* figure, saltusi_layout* layout) {
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t* cairo = cairo_create(surface);
  saltusi_text_setup(cairo);
  saltusi_layout_make(cairo, figure, layout);
  cairo_status_t status = cairo_status(cairo);
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
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

static cairo_status_t write_format(const saltusi_figure* figure, const saltusi_layout* layout,
                                   format as, FILE* file) {
  svg_sink sink = {.file = file};
  cairo_surface_t* surface;
  double scale = 1.0;
  if (as == FORMAT_SVG) {
    surface = cairo_svg_surface_create_for_stream(write_svg, &sink, layout->width, layout->height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
  } else if (as == FORMAT_PDF) {
    surface = cairo_pdf_surface_create_for_stream(write_plain, file, layout->width, layout->height);
    /* cairo writes the present time otherwise, and equal figures would differ */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    char title[512];
    saltusi_text_plain(figure->title, title, sizeof title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
  } else {
    scale = PNG_SCALE;
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(scale * layout->width),
                                         (int)ceil(scale * layout->height));
  }
  cairo_status_t status = draw_on(surface, figure, layout, scale);
  if (status == CAIRO_STATUS_SUCCESS && as == FORMAT_PNG) {
    status = cairo_surface_write_to_png_stream(surface, write_plain, file);
  }
  return finish(surface, status);
}

static saltus_status cannot_write(const char* path, const char* why, saltus_log log) {
  saltusi_log(log, SALTUS_LEVEL_ERROR, "figure \"%s\": cannot be written: %s", path, why);
  return SALTUS_ERR_IO;
}

static saltus_status write_aside(const saltusi_figure* figure, const saltusi_layout* layout,
                                 const char* path, saltus_log log) {
  char aside[PATH_BYTES];
  snprintf(aside, sizeof aside, "%s.%ld.part", path, (long)getpid());
  FILE* file = fopen(aside, "wb");
  if (file == NULL) {
    return cannot_write(path, strerror(errno), log);
  }
  errno = 0;
  cairo_status_t status = write_format(figure, layout, format_of(path), file);
  const char* why = NULL;
  if (status != CAIRO_STATUS_SUCCESS) {
    why = status == CAIRO_STATUS_WRITE_ERROR && errno != 0 ? strerror(errno)
                                                           : cairo_status_to_string(status);
  }
  if (fclose(file) != 0 && why == NULL) {
    why = strerror(errno);
  }
  if (why == NULL && rename(aside, path) != 0) {
    why = strerror(errno);
  }
  if (why == NULL) {
    return SALTUS_OK;
  }
  saltus_status failed = cannot_write(path, why, log);
  remove(aside);
  return failed;
}

saltus_status saltusi_figure_write(const saltusi_figure* figure, const char* path, saltus_log log) {
  assert(figure != NULL && path != NULL);
  saltus_status status = saltusi_figure_path_check(path, log);
  if (status != SALTUS_OK) {
    return status;
  }
  status = check_figure(figure, path, log);
  if (status != SALTUS_OK) {
    return status;
  }
  saltusi_layout layout;
  cairo_status_t measured = measure(figure, &layout);
  if (measured != CAIRO_STATUS_SUCCESS) {
    return cannot_write(path, cairo_status_to_string(measured), log);
  }
  status = write_aside(figure, &layout, path, log);
  if (status == SALTUS_OK) {
    report_left_out(figure, path, log);
  }
  return status;
}
