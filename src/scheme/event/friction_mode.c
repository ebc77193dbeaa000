/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * friction_mode.c - see friction_mode.h.
 */
#include "scheme/event/friction_mode.h"

#include "system/frictions.h"

#include <assert.h>
#include <string.h>

bool saltusi_has_friction(const saltus_system* sys) {
  assert(sys != NULL);
  bool any = saltusi_friction_tangents(sys) > 0;
  for (int i = 0; i < sys->law_count && sys->laws != NULL; i++) {
    any = any || sys->laws[i].friction != NULL;
  }
  return any;
}

bool saltusi_slips_in_space(const saltus_system* sys) {
  assert(sys != NULL);
  return saltusi_friction_tangents(sys) > 1;
}

void saltusi_friction_modes_layout(saltusi_friction_modes* grips, const saltus_system* sys,
                                   saltus_arena* arena) {
  assert(grips != NULL && sys != NULL && arena != NULL);
  grips->of =
      saltusi_has_friction(sys) ? SALTUS_PUSH(arena, saltusi_friction_mode, sys->dims.nc) : NULL;
}

void saltusi_friction_mode_begin(saltusi_friction_mode* grip, const saltusi_eval* eval, int law) {
  assert(grip != NULL && eval != NULL && law >= 0);
  const saltus_contact_law* of = &eval->sys.laws[law];
  const saltus_friction_law* own = eval->curves != NULL ? eval->curves[law].friction : NULL;
  bool rough = of->mu > 0.0 && of->tangents > 0;
  *grip = (saltusi_friction_mode){.tangents = rough ? of->tangents : 0, .mu = rough ? of->mu : 0.0};
  grip->curve = own != NULL && own->curve != SALTUS_CURVE_CONSTANT ? own : NULL;
  grip->scale = saltusi_friction_scale(of);
  grip->m = grip->n = 1.0;
  if (rough && own != NULL && own->sliding[0] > 0.0) {
    grip->m = own->across > 0.0 ? own->across / of->mu : 1.0;
    grip->n = own->sliding[1] / own->sliding[0];
  }
  grip->viscous = own != NULL ? own->viscous : 0.0;
  grip->measured = rough || grip->viscous > 0.0 ? of->tangents : 0;
  grip->adhesion = own != NULL ? own->adhesion : 0.0;
  grip->rebinds = own != NULL && own->rebinds;
}

/* Coefficient at a speed of slip, which is negative beyond its end. */
static double coefficient(const saltusi_friction_mode* grip, double speed) {
  if (grip->curve == NULL) {
    return grip->mu;
  }
  double slope = 0.0;
  const double at = saltus_friction_ratio(grip->curve, grip->mu, fmax(speed, 0.0), &slope);
  return grip->mu * (speed >= 0.0 ? at : fmin(fmax(at + slope * speed, 0.0), 10.0));
}

double saltusi_friction_mode_true_speed(const saltusi_friction_mode* grip, const double slip[2]) {
  assert(grip != NULL && slip != NULL);
  return grip->tangents > 1 ? hypot(slip[0], slip[1] / grip->scale) : fabs(slip[0]);
}

bool saltusi_friction_mode_releases(const saltusi_friction_mode* grip) {
  assert(grip != NULL);
  return coefficient(grip, 0.0) < grip->mu * (1.0 - 1e-12);
}

void saltusi_friction_mode_write(const saltusi_friction_mode* grip,
                                 double marks[SALTUSI_GRIP_MARKS]) {
  assert(grip != NULL && marks != NULL);
  marks[0] = (grip->slips ? 1 : 0) + (grip->held[0] ? 2 : 0) + (grip->held[1] ? 4 : 0) +
             (grip->bonded ? 8 : 0);
  for (int k = 0; k < 2; k++) {
    marks[1 + k] = grip->ratio[k];
    marks[3 + k] = grip->direction[k];
  }
  memcpy(marks + 5, grip->reference, sizeof grip->reference);
}

void saltusi_friction_mode_read(saltusi_friction_mode* grip,
                                const double marks[SALTUSI_GRIP_MARKS]) {
  assert(grip != NULL && marks != NULL);
  int what = (int)marks[0];
  grip->slips = (what & 1) != 0;
  grip->held[0] = (what & 2) != 0;
  grip->held[1] = (what & 4) != 0;
  grip->bonded = (what & 8) != 0;
  for (int k = 0; k < 2; k++) {
    grip->ratio[k] = marks[1 + k];
    grip->direction[k] = marks[3 + k];
  }
  memcpy(grip->reference, marks + 5, sizeof grip->reference);
}

/* Friction for a normal force 1 against slip along d. */
static void find_ratio(saltusi_friction_mode* grip, double mu, const double d[2]) {
  const double across = grip->n * grip->n * d[1]; /* N^2 d */
  const double size =
      grip->m == 1.0 && grip->n == 1.0 ? 1.0 : saltusi_friction_mode_size(grip, d[0], across);
  grip->ratio[0] = -mu * d[0] / size;
  grip->ratio[1] = -mu * across / size;
}

void saltusi_friction_mode_slip(saltusi_friction_mode* grip, const double* d, double speed) {
  assert(grip != NULL && d != NULL && grip->tangents > 0);
  double second = grip->tangents > 1 ? d[1] : 0.0;
  double size = hypot(d[0], second);
  grip->slips = true;
  grip->held[0] = grip->held[1] = false;
  grip->direction[0] = d[0] / size;
  grip->direction[1] = second / size;
  find_ratio(grip, coefficient(grip, speed), grip->direction);
}

void saltusi_friction_mode_stick(saltusi_friction_mode* grip) {
  assert(grip != NULL);
  grip->slips = false;
  for (int k = 0; k < 2; k++) {
    grip->held[k] = k < grip->tangents;
    grip->ratio[k] = 0.0;
    grip->direction[k] = 0.0;
  }
}

/* ---- rows --------------------------------------------------------------------------------------- */

static int width_of(const saltusi_row_block* block, int row) {
  return block->column != NULL ? block->entries[row] : block->stride;
}

static void copy_row(const saltusi_row_block* from, int r, saltusi_row_block* to, int s) {
  size_t width = (size_t)width_of(from, r);
  size_t at = (size_t)r * (size_t)from->stride;
  size_t into = (size_t)s * (size_t)to->stride;
  memcpy(to->G + into, from->G + at, width * sizeof(double));
  if (from->column != NULL) {
    memcpy(to->column + into, from->column + at, width * sizeof(int));
    to->entries[s] = from->entries[r];
  }
  to->b[s] = from->b[r];
  if (from->c != NULL && to->c != NULL) {
    to->c[s] = from->c[r];
  }
}

/* Rows of one contact share their columns. */
static void mix_row(saltusi_row_block* block, int into, int from, double factor) {
  double* to = block->G + (size_t)into * (size_t)block->stride;
  const double* G = block->G + (size_t)from * (size_t)block->stride;
  for (int k = 0; k < width_of(block, into); k++) {
    to[k] += factor * G[k];
  }
}

/* Moves the active tangents behind the normal; returns the number of rows. */
static int gather(const saltusi_friction_mode* grip, saltusi_row_block* block, int row) {
  int next = row + 1;
  for (int k = 0; k < grip->tangents; k++) {
    if (grip->held[k] && next != row + 1 + k) {
      copy_row(block, row + 1 + k, block, next);
    }
    next += grip->held[k] ? 1 : 0;
  }
  return next - row;
}

int saltusi_friction_mode_look(const saltusi_friction_mode* grip, const saltus_system* sys,
                               const saltus_point* at, int key, saltusi_row_block* block, int row) {
  assert(grip != NULL && sys != NULL && at != NULL && block != NULL && key >= 0 && row >= 0);
  bool any = grip->held[0] || grip->held[1];
  saltusi_rows_contact(sys, at, key, any ? 1 + grip->tangents : 1, block, row);
  return gather(grip, block, row);
}

/* U_T, and where it slips in space the direction of friction. */
static void measure_slip(saltusi_friction_mode* grip, double slow, const double* given,
                         const saltusi_row_block* block, int row, const double* v) {
  grip->slip[1] = 0.0;
  for (int k = 0; k < grip->measured; k++) {
    grip->slip[k] = saltusi_row_dot(block, row + 1 + k, v) + block->b[row + 1 + k];
  }
  grip->speed = hypot(grip->slip[0], grip->slip[1]);
  if (grip->slips && grip->tangents == 1 && grip->curve != NULL) {
    const double sense = grip->direction[0];
    grip->ratio[0] = -coefficient(grip, sense * grip->slip[0]) * sense;
  }
  bool turns = grip->slips && grip->tangents == 2;
  const double mu =
      turns ? coefficient(grip, saltusi_friction_mode_true_speed(grip, grip->slip)) : 0.0;
  if (turns) {
    double d[2];
    for (int k = 0; k < 2; k++) {
      d[k] = given != NULL        ? given[k]
             : grip->speed > slow ? grip->slip[k] / grip->speed
                                  : grip->direction[k];
    }
    find_ratio(grip, mu, d);
  }
}

void saltusi_friction_modes_hold(saltusi_friction_modes* grips, saltusi_operator* op,
                                 const saltus_system* sys, const saltus_point* at, const int* keys,
                                 int count) {
  assert(grips != NULL && op != NULL && sys != NULL && at != NULL && count >= 0);
  int nj = sys->dims.nj;
  bool apart = false;
  saltusi_operator_begin(op, nj);
  saltusi_rows_joints(sys, at, &op->rows);
  for (int i = 0; i < count; i++) {
    saltusi_friction_mode* grip = &grips->of[keys[i]];
    int row = saltusi_operator_look(op, sys, at, keys[i], 1 + grip->measured);
    copy_row(&op->rows, row, &op->measured, row);
    for (int k = 0; k <= grip->measured; k++) {
      grip->b[k] = op->rows.b[row + k];
    }
    if (grip->measured > 0) {
      const double* given = grips->given != NULL ? grips->given + 2 * keys[i] : NULL;
      measure_slip(grip, grips->slow, given, &op->rows, row, at->v);
    }
    for (int k = 0; k < grip->tangents; k++) {
      if (!grip->held[k] && grip->ratio[k] != 0.0) {
        mix_row(&op->rows, row, row + 1 + k, grip->ratio[k]);
        apart = true;
      }
    }
    int rows = gather(grip, &op->rows, row);
    for (int k = 1; k < rows; k++) {
      copy_row(&op->rows, row + k, &op->measured, row + k);
    }
    saltusi_operator_take(op, rows, 0.0);
  }
  for (int j = 0; apart && j < nj; j++) {
    copy_row(&op->rows, j, &op->measured, j);
  }
  op->apart = apart;
}

void saltusi_friction_modes_drag(const saltusi_friction_modes* grips, saltusi_operator* op,
                                 const saltus_system* sys, const saltus_point* at, const int* keys,
                                 int count, double* F) {
  assert(grips != NULL && op != NULL && sys != NULL && at != NULL && count >= 0 && F != NULL);
  int row = sys->dims.nj;
  for (int i = 0; i < count; i++) {
    const saltusi_friction_mode* grip = &grips->of[keys[i]];
    const int tangents = grip->viscous > 0.0 ? grip->measured : 0;
    if (tangents == 0 && !grip->bonded) {
      continue;
    }
    saltusi_rows_contact(sys, at, keys[i], 1 + tangents, &op->rows, row);
    saltusi_row_add(&op->rows, row, -saltusi_friction_mode_pull(grip), F);
    for (int k = 0; k < tangents; k++) {
      int r = row + 1 + k;
      double u = saltusi_row_dot(&op->rows, r, at->v) + op->rows.b[r];
      saltusi_row_add(&op->rows, r, -saltusi_friction_mode_drag(grip, k) * u, F);
    }
  }
}

/* Adds the forces of the decision on normals and active tangents to P; returns whether there are any. */
static bool add_forces(const saltusi_friction_modes* grips, saltusi_operator* op, const int* keys,
                       int count) {
  bool any = false;
  for (int i = 0; i < count; i++) {
    const saltusi_friction_mode* grip = &grips->of[keys[i]];
    double* P = op->P + op->first[i];
    int next = 1;
    P[0] += grip->reference[0];
    any = any || grip->reference[0] != 0.0;
    for (int k = 0; k < grip->tangents; k++) {
      if (grip->held[k]) {
        P[next++] += grip->reference[1 + k];
      }
    }
  }
  return any;
}

bool saltusi_friction_modes_reference(const saltusi_friction_modes* grips, saltusi_operator* op,
                                      const int* keys, int count) {
  assert(grips != NULL && op != NULL && count <= op->contacts);
  memset(op->P, 0, (size_t)op->count * sizeof(double));
  return add_forces(grips, op, keys, count);
}

void saltusi_friction_modes_add_reference(const saltusi_friction_modes* grips, saltusi_operator* op,
                                          const int* keys, int count) {
  assert(grips != NULL && op != NULL && count <= op->contacts);
  add_forces(grips, op, keys, count);
}

void saltusi_friction_mode_force(const saltusi_friction_mode* grip, const saltusi_operator* op,
                                 int i, double force[3]) {
  assert(grip != NULL && op != NULL && i >= 0 && i < op->contacts);
  const double* P = op->P + op->first[i];
  int next = 1;
  force[0] = P[0];
  for (int k = 0; k < 2; k++) {
    force[1 + k] = grip->held[k] ? P[next++] : grip->ratio[k] * P[0];
  }
}
