/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep_figure.c - measures over the axes of a sweep. One axis with several points is the abscissa of curves, with
 * median and quantiles for random axes; two axes give a map of the first measure; without a grid axis, measures are
 * points over the first random axis. Further axes of the grid count as samples.
 */
#include "figure/figure.h"
#include "figure/heat.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 6, ROWS_MOST = 20000000 };

/* The columns that a figure needs. */
typedef struct columns {
  const saltus_sweep_head* head;
  long long count;
  int width;
  double* values; /* [count x width] */
} columns;

static bool load(saltus_sweep_table* table, columns* c) {
  c->head = saltus_sweep_table_head(table);
  c->width = c->head->axes + c->head->measures;
  c->count = c->head->runs;
  if (c->count > ROWS_MOST) {
    cli_error("a figure of %lld runs is not drawn; at most %d", c->count, ROWS_MOST);
    return false;
  }
  sweep_block block;
  c->values = malloc((size_t)c->count * (size_t)c->width * sizeof(double));
  if (c->values == NULL || !sweep_block_make(&block, 1024, c->width)) {
    cli_error("no memory for a figure of %lld runs", c->count);
    return false;
  }
  bool good = true;
  for (long long first = 0; first < c->count && good; first += block.room) {
    const int count = c->count - first < block.room ? (int)(c->count - first) : block.room;
    good = saltus_sweep_table_read(table, first, count, &block.rows) == SALTUS_OK;
    for (int i = 0; i < count && good; i++) {
      double* to = c->values + (size_t)(first + i) * (size_t)c->width;
      for (int k = 0; k < c->width; k++) {
        to[k] = block.rows.done[i] ? block.rows.values[(size_t)i * (size_t)c->width + (size_t)k]
                                   : (double)NAN;
      }
    }
  }
  sweep_block_free(&block);
  return good;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Number of runs of one step of a grid axis. */
static long long stride(const saltus_sweep_head* head, int axis) {
  long long n = 1;
  for (int i = 0; i < axis; i++) {
    n *= head->counts[i] > 0 ? head->counts[i] : 1;
  }
  return n;
}

static int place_of(const saltus_sweep_head* head, int axis, long long run) {
  return (int)(run % head->grid / stride(head, axis) % head->counts[axis]);
}

/* Quantiles of a column over the points of an axis: out[0] 5 %, out[1] median, out[2] 95 %. False: no memory. */
static bool spread(const columns* c, int axis, int column, double* x, double* out[3],
                   bool* several) {
  const int points = c->head->counts[axis];
  const long long each = c->count / points;
  double* room = malloc((size_t)each * sizeof(double));
  if (room == NULL) {
    return false;
  }
  for (int p = 0; p < points; p++) {
    long long n = 0;
    for (long long run = 0; run < c->count; run++) {
      const double* row = c->values + (size_t)run * (size_t)c->width;
      if (place_of(c->head, axis, run) == p) {
        x[p] = isnan(row[axis]) ? x[p] : row[axis];
        if (isfinite(row[column])) {
          room[n++] = row[column];
        }
      }
    }
    qsort(room, (size_t)n, sizeof(double), ascending);
    for (int k = 0; k < 3; k++) {
      static const double parts[] = {0.05, 0.5, 0.95};
      out[k][p] = n > 0 ? sweep_quantile(room, n, parts[k]) : (double)NAN;
    }
    *several = *several || (n > 1 && room[n - 1] > room[0]);
  }
  free(room);
  return true;
}

static int write_curves(const columns* c, int axis, const char* path) {
  const int points = c->head->counts[axis];
  const int panels = c->head->measures < PANELS ? c->head->measures : PANELS;
  double* room = calloc((size_t)points * (size_t)(4 * panels), sizeof(double));
  saltusi_plot_series series[PANELS][3];
  saltusi_panel panel[PANELS] = {0};
  bool good = room != NULL;
  for (int k = 0; k < panels && good; k++) {
    double* at = room + (size_t)points * (size_t)(4 * k);
    double* out[3] = {at + points, at + 2 * points, at + 3 * points};
    bool several = false;
    good = spread(c, axis, c->head->axes + k, at, out, &several);
    const saltusi_series_kind kind = points <= 40 ? SALTUSI_SERIES_MARKERS : SALTUSI_SERIES_LINE;
    series[k][0] = (saltusi_plot_series){.label = several ? "median" : NULL,
                                         .kind = kind,
                                         .count = points,
                                         .x = at,
                                         .y = out[1],
                                         .colour = SALTUSI_COLOUR_BLUE};
    for (int q = 1; q < 3; q++) {
      series[k][q] = (saltusi_plot_series){.label = q == 1 ? "5 % and 95 %" : NULL,
                                           .count = points,
                                           .x = at,
                                           .y = out[q == 1 ? 0 : 2],
                                           .colour = SALTUSI_COLOUR_SKY,
                                           .dashed = true};
    }
    panel[k] = (saltusi_panel){.y_label = c->head->columns[c->head->axes + k],
                               .series_count = several ? 3 : 1,
                               .series = series[k]};
  }
  saltus_status status = SALTUS_ERR_MEMORY;
  if (good) {
    char text[96];
    snprintf(text, sizeof text, "%lld runs", c->count);
    const saltusi_figure figure = {.subtitle = text,
                                   .x_label = c->head->columns[axis],
                                   .log_x = c->head->logarithmic[axis],
                                   .panel_count = panels,
                                   .panels = panel};
    status = saltusi_figure_write(&figure, path, cli_log());
  }
  free(room);
  return cli_exit_code(status);
}

static int write_points(const columns* c, const char* path) {
  const int panels = c->head->measures < PANELS ? c->head->measures : PANELS;
  double* room = malloc((size_t)c->count * (size_t)(panels + 1) * sizeof(double));
  saltusi_plot_series series[PANELS];
  saltusi_panel panel[PANELS] = {0};
  if (room == NULL) {
    cli_error("no memory for a figure");
    return CLI_FAILED;
  }
  for (long long run = 0; run < c->count; run++) {
    room[run] = c->values[(size_t)run * (size_t)c->width];
    for (int k = 0; k < panels; k++) {
      room[(long long)(k + 1) * c->count + run] =
          c->values[(size_t)run * (size_t)c->width + (size_t)(c->head->axes + k)];
    }
  }
  for (int k = 0; k < panels; k++) {
    series[k] =
        (saltusi_plot_series){.kind = c->count > 500 ? SALTUSI_SERIES_DOTS : SALTUSI_SERIES_POINTS,
                              .count = (int)c->count,
                              .x = room,
                              .y = room + (long long)(k + 1) * c->count};
    panel[k] = (saltusi_panel){
        .y_label = c->head->columns[c->head->axes + k], .series_count = 1, .series = &series[k]};
  }
  char text[96];
  snprintf(text, sizeof text, "%lld runs", c->count);
  const saltusi_figure figure = {
      .subtitle = text, .x_label = c->head->columns[0], .panel_count = panels, .panels = panel};
  const saltus_status status = saltusi_figure_write(&figure, path, cli_log());
  free(room);
  return cli_exit_code(status);
}

/* The mean of the first measure in every cell. */
static int write_map(const columns* c, int across, int up, const char* path) {
  const saltus_sweep_head* h = c->head;
  const int nx = h->counts[across], ny = h->counts[up];
  double* room = calloc((size_t)nx + (size_t)ny + 2 * (size_t)nx * (size_t)ny, sizeof(double));
  if (room == NULL) {
    cli_error("no memory for a figure");
    return CLI_FAILED;
  }
  double *x = room, *y = room + nx, *values = y + ny, *times = values + (size_t)nx * (size_t)ny;
  for (long long run = 0; run < c->count; run++) {
    const double* row = c->values + (size_t)run * (size_t)c->width;
    const int i = place_of(h, across, run), k = place_of(h, up, run);
    const size_t cell = (size_t)k * (size_t)nx + (size_t)i;
    x[i] = isnan(row[across]) ? x[i] : row[across];
    y[k] = isnan(row[up]) ? y[k] : row[up];
    if (isfinite(row[h->axes])) {
      values[cell] += row[h->axes];
      times[cell] += 1.0;
    }
  }
  for (size_t i = 0; i < (size_t)nx * (size_t)ny; i++) {
    values[i] = times[i] > 0.0 ? values[i] / times[i] : (double)NAN;
  }
  char text[96];
  snprintf(text, sizeof text, "%lld runs%s", c->count,
           c->count > (long long)nx * ny ? ", means over samples" : "");
  const saltusi_heat heat = {.title = h->columns[h->axes],
                             .subtitle = text,
                             .x_label = h->columns[across],
                             .y_label = h->columns[up],
                             .label = h->columns[h->axes],
                             .columns = nx,
                             .rows = ny,
                             .x = x,
                             .y = y,
                             .values = values,
                             .log_x = h->logarithmic[across],
                             .log_y = h->logarithmic[up]};
  const saltus_status status = saltusi_heat_write(&heat, path, cli_log());
  free(room);
  return cli_exit_code(status);
}

int sweep_figure(saltus_sweep_table* table, const char* path) {
  columns c = {0};
  int code = CLI_FAILED;
  if (load(table, &c)) {
    int grid[2] = {-1, -1}, count = 0;
    for (int i = 0; i < c.head->axes; i++) {
      if (c.head->counts[i] > 1 && count < 2) {
        grid[count++] = i;
      }
    }
    code = count == 0   ? write_points(&c, path)
           : count == 1 ? write_curves(&c, grid[0], path)
                        : write_map(&c, grid[0], grid[1], path);
  }
  free(c.values);
  return code;
}
