/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * bodies.c - see bodies.h.
 */
#include "bodies.h"

#include <math.h>
#include <string.h>

static const double body_mass[9] = {2.0, 0.3, 0.1, 0.3, 2.5, -0.2, 0.1, -0.2, 0.8};

static int nv_of(const bodies* b) {
  return 3 * b->count;
}

static void mass(const void* self, const saltus_point* at, double* M) {
  const bodies* b = self;
  const int n = nv_of(b);
  (void)at;
  memset(M, 0, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < b->count; i++) {
    for (int k = 0; k < 9; k++) {
      M[(3 * i + k / 3) * n + 3 * i + k % 3] = body_mass[k];
    }
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const bodies* b = self;
  if (b->fails_after > 0.0 && at->t > b->fails_after) {
    saltus_fail(at, "the motor of body %d stalls at t = %g", 1, b->fails_after);
  }
  for (int i = 0; i < b->count; i++) {
    F[3 * i] = 0.1 * i;
    F[3 * i + 1] = -body_mass[4] * b->g;
    F[3 * i + 2] = 0.0;
  }
  for (int s = 0; s < b->springs; s++) {
    const int i = 3 * b->spring[2 * s], j = 3 * b->spring[2 * s + 1];
    for (int k = 0; k < 3; k++) {
      const double d = at->q[i + k] - at->q[j + k];
      const double push = b->k * d + b->k3 * d * d * d + b->c * (at->v[i + k] - at->v[j + k]);
      F[i + k] -= push;
      F[j + k] += push;
    }
  }
}

/* Minus the slope of a spring by its k-th difference of positions or velocities. */
static double slope(const bodies* b, const saltus_point* at, int s, int k, bool velocity) {
  const double d = at->q[3 * b->spring[2 * s] + k] - at->q[3 * b->spring[2 * s + 1] + k];
  return velocity ? b->c : b->k + 3.0 * b->k3 * d * d;
}

static void add_springs(const bodies* b, const saltus_point* at, bool velocity, double* J) {
  const int n = nv_of(b);
  memset(J, 0, (size_t)(n * n) * sizeof(double));
  for (int s = 0; s < b->springs; s++) {
    for (int k = 0; k < 3; k++) {
      const double by = slope(b, at, s, k, velocity);
      const int i = 3 * b->spring[2 * s] + k, j = 3 * b->spring[2 * s + 1] + k;
      J[i * n + i] -= by;
      J[j * n + j] -= by;
      J[i * n + j] += by;
      J[j * n + i] += by;
    }
  }
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  add_springs(self, at, false, F_q);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  add_springs(self, at, true, F_v);
}

static void blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                   double* values) {
  const bodies* b = self;
  for (int i = 0; i < b->count; i++) {
    for (int k = 0; k < 9; k++) {
      values[9 * i + k] = m * body_mass[k];
    }
  }
  double* pair = values + 9 * b->count;
  memset(pair, 0, (size_t)b->springs * 18 * sizeof(double));
  for (int s = 0; s < b->springs; s++, pair += 18) {
    for (int k = 0; k < 3; k++) {
      double by = fq != 0.0 ? fq * slope(b, at, s, k, false) : 0.0;
      by += fv != 0.0 ? fv * slope(b, at, s, k, true) : 0.0;
      values[9 * b->spring[2 * s] + 4 * k] -= by;
      values[9 * b->spring[2 * s + 1] + 4 * k] -= by;
      pair[4 * k] = by;
      pair[9 + 4 * k] = by;
    }
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const bodies* b = self;
  for (int i = 0; i < b->contacts; i++) {
    list->gap[i] = at->q[3 * i + 1];
  }
  return SALTUS_OK;
}

/* An entry of a row; places are those of the columns in sparse rows. */
static void put(saltus_rows* rows, int row, int place, int column, double value) {
  if (rows->column != NULL) {
    rows->column[place] = column;
  }
  rows->G[row * rows->stride + (rows->column != NULL ? place : column)] = value;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const int i = (int)identity;
  (void)self;
  (void)at;
  if (rows->column != NULL) {
    rows->width = 2;
    put(rows, 0, 0, 3 * i, 0.0);
  }
  put(rows, 0, 1, 3 * i + 1, 1.0);
  if (rows->count > 1) {
    put(rows, 1, 0, 3 * i, 1.0);
  }
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const bodies* b = self;
  const double* q = at->q;
  for (int p = 0; p < b->pins; p++) {
    const int i = 3 * b->pin[2 * p], j = 3 * b->pin[2 * p + 1];
    g[2 * p] = q[i] + cos(q[i + 2]) - q[j] - b->pin_at[2 * p];
    g[2 * p + 1] = q[i + 1] + sin(q[i + 2]) - q[j + 1] - b->pin_at[2 * p + 1];
  }
}

/* Rows first .. first + count - 1 of a pin; columns x_i, y_i, a_i, x_j, y_j, ascending since i < j. */
static void pin_rows(const bodies* b, const saltus_point* at, int p, int first, saltus_rows* rows) {
  const int i = 3 * b->pin[2 * p], j = 3 * b->pin[2 * p + 1];
  if (rows->column != NULL) {
    rows->width = 5;
    for (int k = 0; k < 5; k++) {
      rows->column[k] = k < 3 ? i + k : j + k - 3;
    }
  }
  const double turn[2] = {-sin(at->q[i + 2]), cos(at->q[i + 2])};
  for (int r = 0; r < rows->count; r++) {
    const int axis = first + r;
    put(rows, r, axis, i + axis, 1.0);
    put(rows, r, 2, i + 2, turn[axis]);
    put(rows, r, 3 + axis, j + axis, -1.0);
    if (rows->c != NULL) {
      const double w = at->v[i + 2];
      rows->c[r] = -w * w * (axis == 0 ? cos(at->q[i + 2]) : sin(at->q[i + 2]));
    }
  }
}

static void joint(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  pin_rows(self, at, i, 0, rows);
}

static void joint_row(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  pin_rows(self, at, row / 2, row % 2, rows);
}

static double potential(const void* self, const saltus_point* at) {
  const bodies* b = self;
  double V = 0.0;
  if (b->potential_fails > 0.0 && at->t > b->potential_fails) {
    saltus_fail(at, "no potential after t = %g", b->potential_fails);
  }
  for (int i = 0; i < b->count; i++) {
    V += body_mass[4] * b->g * at->q[3 * i + 1] - 0.1 * i * at->q[3 * i];
  }
  for (int s = 0; s < b->springs; s++) {
    for (int k = 0; k < 3; k++) {
      const double d = at->q[3 * b->spring[2 * s] + k] - at->q[3 * b->spring[2 * s + 1] + k];
      V += b->k * d * d / 2.0 + b->k3 * d * d * d * d / 4.0;
    }
  }
  return V;
}

saltus_system bodies_system(bodies* b, unsigned form, const double* q) {
  memset(b->pin_at, 0, sizeof b->pin_at);
  double g[2 * BODIES_MOST];
  const saltus_point at = {.q = q};
  joints(b, &at, g);
  memcpy(b->pin_at, g, (size_t)(2 * b->pins) * sizeof(double));
  for (int i = 0; i <= b->count; i++) {
    b->start[i] = 3 * i;
    b->first[i] = 2 * i;
  }
  for (int i = 0; i < b->contacts; i++) {
    b->laws[i] = (saltus_contact_law){.tangents = b->mu > 0.0 ? 1 : 0, .mu = b->mu, .e_N = b->e};
  }
  b->structure = (saltus_structure){b->count, b->start, b->springs, b->spring};
  b->ops = (saltus_system_ops){
      .mass = mass, .force = force, .force_q = force_q, .force_v = force_v, .potential = potential};
  b->ops.blocks = (form & BODIES_BLOCKS) != 0 ? blocks : NULL;
  b->ops.contacts = b->contacts > 0 ? contacts : NULL;
  b->ops.contact = b->contacts > 0 ? contact : NULL;
  b->ops.joints = b->pins > 0 ? joints : NULL;
  b->ops.joint = b->pins == 0 ? NULL : (form & BODIES_ROW_JOINTS) != 0 ? joint_row : joint;
  saltus_system system = {.ops = &b->ops,
                          .self = b,
                          .dims = {.nq = nv_of(b), .nv = nv_of(b), .nj = 2 * b->pins},
                          .traits = SALTUS_CONSTANT_MASS,
                          .laws = b->laws,
                          .law_count = b->contacts};
  system.dims.nc = b->contacts;
  system.dims.row_width = (form & BODIES_SPARSE) != 0 ? 5 : 0;
  system.traits |= b->k3 == 0.0 ? SALTUS_LINEAR_FORCE : 0U;
  system.traits |= b->springs == 0 ? SALTUS_FREE_FORCE : 0U;
  system.traits |= b->pins == 0 ? SALTUS_CONSTANT_NORMALS : 0U;
  if ((form & (BODIES_STRUCTURE | BODIES_BLOCKS)) != 0) {
    system.structure = &b->structure;
  }
  if ((form & BODIES_ROW_JOINTS) == 0) {
    system.joint_count = b->pins;
    system.joint_first = b->first;
  }
  return system;
}
