/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * forces.h - callbacks of masses, forces and energies; `self` is the mechanism.
 */
#ifndef SALTUSI_FORCES_H
#define SALTUSI_FORCES_H

#include "body/mechanism.h"

void saltusi_mechanism_mass(const void* self, const saltus_point* at, double* M);
void saltusi_mechanism_force(const void* self, const saltus_point* at, double* F);
void saltusi_mechanism_force_q(const void* self, const saltus_point* at, double* F_q);
void saltusi_mechanism_force_v(const void* self, const saltus_point* at, double* F_v);
void saltusi_mechanism_spring_q(const void* self, const saltus_point* at, double* K);
void saltusi_mechanism_spring_v(const void* self, const saltus_point* at, double* D);
void saltusi_mechanism_blocks(const void* self, const saltus_point* at, double mass, double fv,
                              double fq, double* values);
double saltusi_mechanism_kinetic(const void* self, const saltus_point* at);
double saltusi_mechanism_potential(const void* self, const saltus_point* at);
/* all: with forces that act in a system in joint coordinates. */
double saltusi_mechanism_potential_of(const saltus_mechanism* m, const saltus_point* at, bool all);
void saltusi_mechanism_power(const void* self, const saltus_point* at, double power[2]);

/* Callback `obstacle` (step_failure.c). */
bool saltusi_mechanism_step_failure(const void* self, const saltus_point* at, double h, char* text,
                                    size_t size);

#endif
