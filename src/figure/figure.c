/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * figure.c - writes a figure to a file.
 */
#include "figure/figure.h"

#include "base/log.h"
#include "figure/canvas.h"
#include "figure/draw.h"
#include "figure/layout.h"
#include "figure/text.h"

#include <assert.h>

static const double LARGEST_CM = 200.0; /* size of a poster, still feasible as PNG */

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

/* A log axis cannot show zero or less; the figure notes that points are missing. */
static void report_left_out(const saltusi_figure* figure, const char* path, saltus_log log) {
  for (int k = 0; k < figure->panel_count; k++) {
    const saltusi_panel* panel = &figure->panels[k];
    for (int i = 0; i < panel->series_count; i++) {
      const saltusi_plot_series* s = &panel->series[i];
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

typedef struct laid_out {
  const saltusi_figure* figure;
  const saltusi_layout* layout;
} laid_out;

static void draw(cairo_t* cairo, const void* what) {
  const laid_out* f = what;
  saltusi_figure_draw(cairo, f->figure, f->layout);
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
    return saltusi_canvas_refuse(path, cairo_status_to_string(measured), log);
  }
  const laid_out drawing = {figure, &layout};
  const saltusi_canvas canvas = {.title = figure->title,
                                 .width = layout.width,
                                 .height = layout.height,
                                 .what = &drawing,
                                 .draw = draw};
  status = saltusi_canvas_write(&canvas, path, log);
  if (status == SALTUS_OK) {
    report_left_out(figure, path, log);
  }
  return status;
}
