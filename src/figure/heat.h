/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * heat.h - values over two axes as colours, with a colour bar. Lightness of the colours increases, so their order is
 * visible in print and to colour-blind readers. Values that are not finite are left white.
 */
#ifndef SALTUSI_FIGURE_HEAT_H
#define SALTUSI_FIGURE_HEAT_H

#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>

typedef struct saltusi_heat {
  const char* title; /* any of the texts may be NULL */
  const char* subtitle;
  const char *x_label, *y_label;
  const char* label; /* of the values */
  int columns, rows;
  const double* x;      /* [columns] rising or falling, centres of cells; positive when log_x */
  const double* y;      /* [rows] */
  const double* values; /* [rows x columns], row i at y[i] */
  bool log_x, log_y;
} saltusi_heat;

/* As saltusi_figure_write. */
saltus_status saltusi_heat_write(const saltusi_heat* heat, const char* path, saltus_log log);

#endif
