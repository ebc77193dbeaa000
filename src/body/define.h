/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * define.h - shared functions for reading the definition of a mechanism.
 */
#ifndef SALTUSI_DEFINE_H
#define SALTUSI_DEFINE_H

#include "body/mechanism.h"

typedef struct saltusi_definition {
  const saltus_mechanism_def* def;
  saltus_mechanism* m;
} saltusi_definition;

/* SALTUS_ERR_INPUT after `part "name": ` and the formatted rest in the log. */
saltus_status saltusi_define_refuse(const saltusi_definition* d, const char* part, const char* name,
                                    const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Copies a name and adds it to the index; missing, empty and duplicate names are errors. */
saltus_status saltusi_define_name(const saltusi_definition* d, const char* part, const char* name,
                                  saltusi_index* index, const char** copy);
/* Index of a referenced name; a message with a suggestion if it does not exist. */
saltus_status saltusi_define_find(const saltusi_definition* d, const char* part, const char* name,
                                  const saltusi_index* index, const char* kind, const char* wanted,
                                  int* place);
saltus_status saltusi_define_signal(const saltusi_definition* d, const char* part, const char* name,
                                    const saltus_signal* given, saltusi_signal* signal);
/* All numbers finite. */
saltus_status saltusi_define_finite(const saltusi_definition* d, const char* part, const char* name,
                                    const char* what, int count, const double* x);
saltus_status saltusi_define_orientation(const saltusi_definition* d, const char* part,
                                         const char* name, const saltus_orientation* given,
                                         double R[9], double* angle);

/* The markers that a joint or spring connects, and the velocities of their bodies. */
saltus_status saltusi_define_link(const saltusi_definition* d, const char* part, const char* name,
                                  const char* const between[2], saltusi_link* link);
/* Adds a coordinate for the angle about z in space, with its initial value; -1: not needed, or not possible relative
 * to a driven body. */
int saltusi_define_angle(const saltusi_definition* d, const char* name, const saltusi_link* link);

/* Mass and inertia of a free body. */
saltus_status saltusi_define_mass(const saltusi_definition* d, const saltus_body_def* def,
                                  saltusi_body* body);

saltus_status saltusi_define_bodies(const saltusi_definition* d);
/* Shapes of each body, and mass properties where these follow from shapes. */
saltus_status saltusi_define_shape_mass(const saltusi_definition* d);
saltus_status saltusi_define_markers(const saltusi_definition* d);
saltus_status saltusi_define_joints(const saltusi_definition* d);
saltus_status saltusi_define_springs(const saltusi_definition* d);
saltus_status saltusi_define_loads(const saltusi_definition* d);
saltus_status saltusi_define_shapes(const saltusi_definition* d);
/* Callbacks, sizes, structure, labels. */
saltus_status saltusi_define_system(const saltusi_definition* d);

#endif
