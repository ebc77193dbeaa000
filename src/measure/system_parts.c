/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system_parts.c - callbacks that several reference problems share.
 */
#include "measure/system_parts.h"

#include "measure/motion_family.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static size_t velocities(const void* self) {
  return (size_t)((const saltus_known_motion*)self)->system.dims.nv;
}

void saltusi_zero_matrix(const void* self, const saltus_point* at, double* A) {
  assert(self != NULL);
  (void)at;
  memset(A, 0, velocities(self) * velocities(self) * sizeof *A);
}

void saltusi_zero_vector(const void* self, const saltus_point* at, double* x) {
  assert(self != NULL);
  (void)at;
  memset(x, 0, velocities(self) * sizeof *x);
}

void saltusi_unit_mass(const void* self, const saltus_point* at, double* M) {
  assert(self != NULL && at != NULL);
  saltusi_zero_matrix(self, at, M);
  for (size_t i = 0; i < velocities(self); i++) {
    M[i * velocities(self) + i] = 1.0;
  }
}

double saltusi_unit_kinetic(const void* self, const saltus_point* at) {
  assert(self != NULL && at != NULL);
  double sum = 0.0;
  for (size_t i = 0; i < velocities(self); i++) {
    sum += at->v[i] * at->v[i];
  }
  return 0.5 * sum;
}

void saltusi_no_power(const void* self, const saltus_point* at, double power[2]) {
  assert(power != NULL);
  (void)self;
  (void)at;
  power[0] = power[1] = 0.0;
}

saltus_status saltusi_floor_contacts(const void* self, const saltus_point* at,
                                     saltus_contact_list* list) {
  assert(at != NULL && list != NULL);
  (void)self;
  list->gap[0] = at->q[0];
  return SALTUS_OK;
}

void saltusi_floor_contact(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_rows* rows) {
  assert(rows != NULL);
  (void)self;
  (void)at;
  (void)identity;
  rows->G[0] = 1.0;
}

saltus_dims saltusi_floor_dims(int size) {
  (void)size;
  return (saltus_dims){.nq = 1, .nv = 1, .nc = 1};
}

void saltusi_floor_name(int size, int contact, char* text, size_t bytes) {
  assert(text != NULL);
  (void)size;
  (void)contact;
  snprintf(text, bytes, "floor");
}
