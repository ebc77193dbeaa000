/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * one_island.c - see one_island.h.
 */
#include "one_island.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;

static double inertia(const links* l) {
  return l->supports > 0 ? 1.0 / 6.0 : 1.0 / 12.0;
}

static void mass(const void* self, const saltus_point* at, double* M) {
  const links* l = self;
  int n = 3 * l->count;
  (void)at;
  memset(M, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int i = 0; i < n; i++) {
    M[(size_t)i * (size_t)(n + 1)] = i % 3 < 2 ? 1.0 : inertia(l);
  }
}

static void blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                   double* values) {
  const links* l = self;
  (void)at;
  (void)fv;
  (void)fq;
  memset(values, 0, 9 * (size_t)l->count * sizeof(double));
  for (int i = 0; i < 3 * l->count; i++) {
    values[9 * (i / 3) + 4 * (i % 3)] = m * (i % 3 < 2 ? 1.0 : inertia(l));
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const links* l = self;
  (void)at;
  for (int i = 0; i < l->count; i++) {
    F[3 * i] = i + 1 == l->count ? l->push : 0.0;
    F[3 * i + 1] = -g;
    F[3 * i + 2] = 0.0;
  }
}

/* An entry of a row; places are those of the columns in sparse rows. */
static void put(saltus_rows* rows, int row, int place, int column, double value) {
  if (rows->column != NULL) {
    rows->column[place] = column;
  }
  rows->G[row * rows->stride + (rows->column != NULL ? place : column)] = value;
}

/* ---- chains ----------------------------------------------------------------------------------- */

/* Whether a rod hangs from a point that does not move. */
static bool is_first(const links* l, int rod) {
  return rod == 0 || (l->cut > 0 && rod % l->cut == 0);
}

static void joints(const void* self, const saltus_point* at, double* gap) {
  const links* l = self;
  for (int p = 0; p < l->system.joint_count; p++) {
    const double* b = at->q + 3 * l->pin[p];
    bool hangs = is_first(l, l->pin[p]);
    gap[2 * p] = b[0] - 0.5 * cos(b[2]) - (hangs ? l->pin[p] : 0);
    gap[2 * p + 1] = b[1] - 0.5 * sin(b[2]);
    if (!hangs) {
      gap[2 * p] -= b[-3] + 0.5 * cos(b[-1]);
      gap[2 * p + 1] -= b[-2] + 0.5 * sin(b[-1]);
    }
  }
}

static void joint(const void* self, const saltus_point* at, int p, saltus_rows* rows) {
  const links* l = self;
  int b = 3 * l->pin[p];
  bool hangs = is_first(l, l->pin[p]);
  int place = hangs ? 0 : 3;
  if (rows->column != NULL) {
    rows->width = place + 3;
  }
  double s = 0.5 * sin(at->q[b + 2]);
  double c = 0.5 * cos(at->q[b + 2]);
  for (int r = 0; r < 2; r++) {
    put(rows, r, place, b, r == 0 ? 1.0 : 0.0);
    put(rows, r, place + 1, b + 1, r == 0 ? 0.0 : 1.0);
    put(rows, r, place + 2, b + 2, r == 0 ? s : -c);
    if (rows->c != NULL) {
      rows->c[r] = at->v[b + 2] * at->v[b + 2] * (r == 0 ? c : s);
    }
  }
  for (int r = 0; r < 2 && !hangs; r++) {
    int a = b - 3;
    double sa = 0.5 * sin(at->q[a + 2]);
    double ca = 0.5 * cos(at->q[a + 2]);
    put(rows, r, 0, a, r == 0 ? -1.0 : 0.0);
    put(rows, r, 1, a + 1, r == 0 ? 0.0 : -1.0);
    put(rows, r, 2, a + 2, r == 0 ? sa : -ca);
    if (rows->c != NULL) {
      rows->c[r] += at->v[a + 2] * at->v[a + 2] * (r == 0 ? ca : sa);
    }
  }
}

static saltus_status floor_contacts(const void* self, const saltus_point* at,
                                    saltus_contact_list* list) {
  const links* l = self;
  for (int c = 0; c < l->count; c++) {
    list->gap[c] = at->q[3 * c + 1];
  }
  return SALTUS_OK;
}

static void floor_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows) {
  int b = 3 * (int)identity;
  (void)self;
  (void)at;
  if (rows->column != NULL) {
    rows->width = 2;
  }
  for (int r = 0; r < rows->count; r++) {
    put(rows, r, 0, b, r == 0 ? 0.0 : 1.0);
    put(rows, r, 1, b + 1, r == 0 ? 1.0 : 0.0);
  }
}

double island_energy(const links* l, const double* q, const double* v) {
  double sum = 0.0;
  for (int i = 0; i < l->count; i++) {
    sum += 0.5 * (v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1]);
    sum += 0.5 * inertia(l) * v[3 * i + 2] * v[3 * i + 2] + g * q[3 * i + 1];
  }
  return sum;
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static double side_of(const links* l, int contact) {
  return l->supports == 1 ? 0.0 : contact % 2 == 0 ? -l->half : l->half;
}

static double gap_of(const links* l, const double* q, int c) {
  const double* b = q + 3 * (c / l->supports);
  double gap = b[1] + side_of(l, c) * b[2] - 1.0;
  return c < l->supports ? gap : gap - b[-2] - side_of(l, c) * b[-1];
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const links* l = self;
  for (int c = 0; c < l->supports * l->count; c++) {
    list->gap[c] = gap_of(l, at->q, c);
  }
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const links* l = self;
  int c = (int)identity;
  int b = 3 * (c / l->supports);
  bool floor = b == 0;
  (void)at;
  if (rows->column != NULL) {
    rows->width = floor ? 3 : 6;
  }
  for (int r = 0; r < rows->count; r++) {
    double side = r == 0 ? side_of(l, c) : 0.5;
    for (int k = 0; k < 2; k++) {
      put(rows, r, (floor ? 0 : 3) + k, b + k, k != r ? 1.0 : 0.0);
    }
    put(rows, r, floor ? 2 : 5, b + 2, side);
    for (int k = 0; k < 2 && !floor; k++) {
      put(rows, r, k, b - 3 + k, k != r ? -1.0 : 0.0);
    }
    if (!floor) {
      put(rows, r, 2, b - 1, r == 0 ? -side : side);
    }
  }
}

/* ---- both ------------------------------------------------------------------------------------- */

static bool open_links(links* l, int pins, int nc) {
  size_t n = (size_t)l->count;
  l->q = calloc(3 * n, sizeof(double));
  l->v = calloc(3 * n, sizeof(double));
  l->start = calloc(n + 1, sizeof(int));
  l->pin = calloc((size_t)pins + 1, sizeof(int));
  l->first = calloc((size_t)pins + 1, sizeof(int));
  l->laws = calloc((size_t)nc + 1, sizeof *l->laws);
  if (l->q == NULL || l->v == NULL || l->start == NULL || l->pin == NULL || l->first == NULL ||
      l->laws == NULL) {
    return false;
  }
  for (int i = 0; i <= l->count; i++) {
    l->start[i] = 3 * i;
  }
  for (int p = 0; p <= pins; p++) {
    l->first[p] = 2 * p;
  }
  for (int c = 0; c < nc; c++) {
    l->laws[c] = (saltus_contact_law){.tangents = l->mu > 0.0 ? 1 : 0, .mu = l->mu, .e_N = l->e};
  }
  l->structure = (saltus_structure){.blocks = l->count, .start = l->start};
  l->ops = (saltus_system_ops){.mass = mass, .force = force, .blocks = blocks};
  l->system = (saltus_system){.ops = &l->ops,
                              .self = l,
                              .dims = {.nq = 3 * l->count,
                                       .nv = 3 * l->count,
                                       .nj = 2 * pins,
                                       .nc = nc,
                                       .row_width = l->dense ? 0 : 6},
                              .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                              .structure = &l->structure,
                              .joint_count = pins,
                              .joint_first = pins > 0 ? l->first : NULL,
                              .laws = l->laws,
                              .law_count = nc};
  return true;
}

bool links_open_chain(links* l) {
  int pins = (l->twice ? l->count + (l->count + 2) / 3 : l->count) - (l->loose ? 1 : 0);
  l->supports = 0;
  if (!open_links(l, pins, l->floor ? l->count : 0)) {
    return false;
  }
  if (l->floor) {
    l->ops.contacts = floor_contacts;
    l->ops.contact = floor_contact;
    l->system.traits |= SALTUS_CONSTANT_NORMALS;
  }
  l->ops.joints = joints;
  l->ops.joint = joint;
  for (int i = 0, p = 0; i < l->count; i++) {
    if (i > 0 || !l->loose) {
      l->pin[p++] = i;
    }
    if (l->twice && i % 3 == 0) {
      l->pin[p++] = i;
    }
    l->q[3 * i] = i + 0.5;
  }
  return true;
}

bool links_open_stack(links* l) {
  if (!open_links(l, 0, l->supports * l->count)) {
    return false;
  }
  l->ops.contacts = contacts;
  l->ops.contact = contact;
  l->system.traits |= SALTUS_CONSTANT_NORMALS;
  for (int i = 0; i < l->count; i++) {
    l->q[3 * i + 1] = i + 1.0;
  }
  return true;
}

void links_close(links* l) {
  free(l->q);
  free(l->v);
  free(l->start);
  free(l->pin);
  free(l->first);
  free(l->laws);
}
