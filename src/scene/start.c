/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * start.c - see start.h.
 */
#include "scene/start.h"

#include "base/log.h"
#include "system/evaluate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Cholesky's factorization in place; the row where it fails, or -1. */
static int first_bad_row(int n, double* M) {
  for (int j = 0; j < n; j++) {
    double* row = M + (size_t)j * (size_t)n;
    double diagonal = row[j];
    double size = fabs(diagonal);
    for (int k = 0; k < j; k++) {
      diagonal -= row[k] * row[k];
    }
    /* what is left after cancellation has to be more than rounding */
    if (!(diagonal > 1e-13 * size) || !isfinite(diagonal)) {
      return j;
    }
    double root = sqrt(diagonal);
    row[j] = root;
    for (int i = j + 1; i < n; i++) {
      double* other = M + (size_t)i * (size_t)n;
      double sum = other[j];
      for (int k = 0; k < j; k++) {
        sum -= other[k] * row[k];
      }
      other[j] = sum / root;
    }
  }
  return -1;
}

/* With its own linear algebra a system answers by solving: M^-1 1 shows a zero or negative mass of
 * the diagonal matrices that have one so far. */
static int first_bad_mass(const saltus_system* sys, const saltus_point* at,
                          saltusi_reader* reader) {
  int nv = sys->dims.nv;
  if (sys->ops->linear == NULL) {
    double* M = saltusi_reader_take(reader, (size_t)nv * (size_t)nv, sizeof(double));
    if (M == NULL) {
      return -1;
    }
    sys->ops->mass(sys->self, at, M);
    return first_bad_row(nv, M);
  }
  void* matrix = saltusi_reader_take(reader, sys->ops->linear->bytes(sys->self), 1);
  double* x = saltusi_reader_take(reader, (size_t)nv, sizeof(double));
  if (matrix == NULL || x == NULL) {
    return -1;
  }
  for (int i = 0; i < nv; i++) {
    x[i] = 1.0;
  }
  bool sound = sys->ops->linear->assemble(sys->self, matrix, at, 1.0, 0.0, 0.0) == SALTUS_OK;
  if (sound) {
    sys->ops->linear->solve(sys->self, matrix, x);
  }
  for (int i = 0; i < nv; i++) {
    if (!sound || !(x[i] > 0.0) || !isfinite(x[i])) {
      return i;
    }
  }
  return -1;
}

static void complain(saltusi_reader* reader, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(saltusi_reader* reader, const char* format, ...) {
  char text[512];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  saltusi_log(reader->log, SALTUS_LEVEL_ERROR, "%s: %s", reader->file, text);
  reader->status = SALTUS_ERR_INPUT;
}

static void check_contacts(saltusi_reader* reader, const saltus_scene_view* view,
                           const saltus_point* at) {
  const saltus_system* sys = view->system;
  saltus_arena arena = saltus_arena_counting();
  saltus_contact_list list;
  saltusi_contact_list_layout(&list, &sys->dims, &arena);
  void* block = saltusi_reader_take(reader, arena.used + 1, 1);
  if (block == NULL) {
    return;
  }
  arena = saltus_arena_over(block, arena.used);
  saltusi_contact_list_layout(&list, &sys->dims, &arena);
  saltusi_contacts(sys, at, &list);
  for (int i = 0; i < list.count && reader->status == SALTUS_OK; i++) {
    if (!(list.gap[i] >= -view->tolerance)) {
      complain(reader,
               "contact \"%s\" penetrates at the start: its gap is %g, allowed is %g (simulate: "
               "tolerance)",
               sys->laws[i].name, list.gap[i], -view->tolerance);
    }
  }
}

static void check_joints(saltusi_reader* reader, const saltus_scene_view* view,
                         const saltus_point* at) {
  const saltus_system* sys = view->system;
  int nj = sys->dims.nj;
  saltusi_row_block row;
  saltus_arena arena = saltus_arena_counting();
  saltusi_rows_layout(&row, &sys->dims, 1, false, &arena);
  double* g = saltusi_reader_take(reader, (size_t)nj, sizeof(double));
  void* block = saltusi_reader_take(reader, arena.used + 1, 1);
  if (g == NULL || block == NULL) {
    return;
  }
  arena = saltus_arena_over(block, arena.used);
  saltusi_rows_layout(&row, &sys->dims, 1, false, &arena);
  sys->ops->joints(sys->self, at, g);
  for (int j = 0; j < nj && reader->status == SALTUS_OK; j++) {
    if (!(fabs(g[j]) <= view->tolerance)) {
      complain(reader,
               "joint \"%s\" does not hold at the start: its constraint is %g, allowed is %g "
               "(simulate: tolerance)",
               view->joint_names[j], g[j], view->tolerance);
      return;
    }
    saltusi_rows_joint(sys, at, j, &row, 0);
    double rate = saltusi_row_dot(&row, 0, view->v0) + row.b[0];
    if (!(fabs(rate) <= view->tolerance)) {
      complain(reader,
               "the start velocities break joint \"%s\": its constraint changes at %g per second, "
               "allowed is %g (simulate: tolerance)",
               view->joint_names[j], rate, view->tolerance);
    }
  }
}

saltus_status saltusi_start_check(saltusi_reader* reader, const saltus_scene_view* view) {
  const saltus_system* sys = view->system;
  void* scratch = saltusi_reader_take(reader, sys->dims.scratch + SALTUS_ALIGNMENT, 1);
  if (scratch == NULL) {
    return reader->status;
  }
  saltus_point at = {.t = view->start, .q = view->q0, .v = view->v0, .scratch = scratch};
  int bad = first_bad_mass(sys, &at, reader);
  if (bad >= 0) {
    complain(reader,
             "the mass matrix is not positive definite at the start, first at coordinate "
             "\"%s\": check the kinetic energy",
             sys->q_labels[bad].name);
  }
  if (sys->dims.nc > 0 && reader->status == SALTUS_OK) {
    check_contacts(reader, view, &at);
  }
  if (sys->dims.nj > 0 && reader->status == SALTUS_OK) {
    check_joints(reader, view, &at);
  }
  return reader->status;
}
