/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * elements.h - machine elements as contacts and joints by formula.
 */
#ifndef SALTUSI_ELEMENTS_H
#define SALTUSI_ELEMENTS_H

#include "base/pool.h"
#include "saltus/formula.h"

/* State of the conversion of elements to formulas. */
typedef struct saltusi_machine_maker {
  saltusi_pool* pool;
  saltus_formula_def* def; /* a copy, with capacity for further contacts and joints */
  saltus_formula_contact* contacts;
  saltus_formula_joint* joints;
  const saltus_element_def* element; /* the present one */
  saltus_status status;
} saltusi_machine_maker;

/* A formula in the pool. */
const char* saltusi_machine_text(saltusi_machine_maker* maker, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports element "NAME": ... */
void saltusi_machine_fail(saltusi_machine_maker* maker, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a contact; part NULL: with the name of the element. slip NULL: without slip. */
void saltusi_machine_contact(saltusi_machine_maker* maker, const char* part, const char* gap,
                             const char* slip);
/* Adds the second slip of the last contact, in space; omitted without friction. */
void saltusi_machine_second_slip(saltusi_machine_maker* maker, const char* slip);
/* Whether the element has friction of some kind. */
bool saltusi_machine_rubs(const saltusi_machine_maker* maker);
/* A number that has to be above zero. */
void saltusi_machine_positive(saltusi_machine_maker* maker, const char* what, double value);

void saltusi_machine_cam(saltusi_machine_maker* maker);
enum { SALTUSI_TEETH_MOST = 60 };
void saltusi_machine_ratchet(saltusi_machine_maker* maker);
void saltusi_machine_gear_pair(saltusi_machine_maker* maker);

/* The definition with its elements as contacts and joints after the others; unchanged if def->elements is NULL. New
 * data are in the pool. */
saltus_status saltusi_elements_expand(const saltus_formula_def* def, saltusi_pool* pool,
                                      saltus_formula_def* out);

#endif
