/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system_parts.h - callbacks that several reference problems share. self is the saltus_known_motion.
 */
#ifndef SALTUSI_SYSTEM_PARTS_H
#define SALTUSI_SYSTEM_PARTS_H

#include "saltus/system.h"

/* Unit masses: M = 1, T = v^T v / 2. */
void saltusi_unit_mass(const void* self, const saltus_point* at, double* M);
double saltusi_unit_kinetic(const void* self, const saltus_point* at);
/* No external forces and no prescribed motion. */
void saltusi_no_power(const void* self, const saltus_point* at, double power[2]);

/* Zero derivative: an nv x nv matrix or an nv vector of zeros. */
void saltusi_zero_matrix(const void* self, const saltus_point* at, double* A);
void saltusi_zero_vector(const void* self, const saltus_point* at, double* x);

/* One coordinate above a floor at 0. */
saltus_status saltusi_floor_contacts(const void* self, const saltus_point* at,
                                     saltus_contact_list* list);
void saltusi_floor_contact(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_rows* rows);

/* dims.nq = nv = nc = 1, dense */
saltus_dims saltusi_floor_dims(int size);
void saltusi_floor_name(int size, int contact, char* text, size_t bytes);

/* Entries of a table of callbacks: unit masses, forces that depend on t alone, the floor. */
#define SALTUSI_UNIT_MASSES                                                                        \
  .mass = saltusi_unit_mass, .mass_q = saltusi_zero_matrix,                                        \
  .kinetic_gradient = saltusi_zero_vector, .kinetic = saltusi_unit_kinetic
#define SALTUSI_FREE_FORCES .force_q = saltusi_zero_matrix, .force_v = saltusi_zero_matrix
#define SALTUSI_ON_FLOOR .contacts = saltusi_floor_contacts, .contact = saltusi_floor_contact

/* Balls under forces that do not depend on the state, e = 1/2. */
#define SALTUSI_BOUNCING_BALLS                                                                     \
  .traits =                                                                                        \
      SALTUS_CONSTANT_MASS | SALTUS_LINEAR_FORCE | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS,    \
  .restitution = 0.5, .q_unit = "m", .v_unit = "m/s"

#endif
