/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * substitute.h - steps of moreau-extrapolated in a scheme whose own steps do not include the friction of a contact or a
 * joint (docs/laws.md). As in Acary 2009, algorithm 1, a scheme of higher order and Moreau's scheme share one run:
 *
 *   dry friction of joints                               every step
 *   a contact with such friction, closed or closing      steps in which it is closed; a step of the scheme that closes
 *                                                        it is replaced
 *   no forces obey Coulomb's law (Painleve)              the step of event capturing that meets it
 *
 * Memory and dense output of the scheme are followed by those of the substitute:
 *
 *   memory    own | memory of moreau-extrapolated
 *   dense     own | h (0: the step is own), t, q0, v0, q1, v1 | impulses by key
 */
#ifndef SALTUSI_SUBSTITUTE_H
#define SALTUSI_SUBSTITUTE_H

#include "saltus/extrapolation.h"
#include "scheme/impact_step.h"
#include "scheme/scheme_ops.h"

typedef struct saltusi_substitute {
  const saltusi_scheme_ops* ops; /* NULL: not needed */
  saltus_moreau_extrapolated_options options;
  void* work;
  const saltus_contact_law* laws; /* [law_count] of the system */
  bool always;                    /* joints have dry friction */
  bool beyond;                    /* a contact has friction that own steps do not include */
  bool jumps;                     /* impacts follow laws that its steps do not include */
  bool active;                    /* in the present step */
  saltusi_contact_list list;
  saltusi_impact_step* jump; /* NULL: without */
} saltusi_substitute;

/* Whether own steps of a scheme do not include the friction of a contact. */
bool saltusi_friction_is_beyond(const saltusi_scheme_ops* ops, const saltus_contact_law* law);

/* Decides whether a scheme needs a substitute for a system, with a warning for friction beyond its own steps. */
void saltusi_substitute_choose(saltusi_substitute* sub, const saltusi_scheme_ops* ops,
                               const saltus_system* sys, saltus_log log);

/* Doubles of memory and of dense output of a scheme with its substitute, and their layout. */
size_t saltusi_scheme_memory_doubles(const saltus_scheme* scheme, const saltus_system* sys);
void saltusi_scheme_transfer_memory(const saltus_scheme* scheme, saltusi_state_transfer* carry);
size_t saltusi_scheme_dense_doubles(const saltus_scheme* scheme, const saltus_system* sys);
void saltusi_scheme_transfer_dense(const saltus_scheme* scheme, saltusi_state_transfer* carry);

void saltusi_substitute_layout(saltus_scheme* scheme, saltus_arena* arena);

/* The laws of own steps, or those of the substitute. */
void saltusi_substitute_laws(saltus_scheme* scheme, bool active);

/* Whether the current step starts with a closed contact beyond its scheme, into *needed. */
saltus_status saltusi_substitute_starts(saltus_scheme* scheme, bool* needed);
/* Whether an own step is to be replaced, from its status and report. Otherwise completes its memory and dense output. */
bool saltusi_substitute_replaces(saltus_scheme* scheme, saltus_status status);
saltus_status saltusi_substitute_step(saltus_scheme* scheme);

/* The motion inside such a step: velocities linear in time, positions along their mean. False: the step is own. */
bool saltusi_substitute_dense(const saltus_scheme* scheme, const saltusi_dense_query* query);
/* Impulses of a contact, distributed evenly over the step. False: the step is own. */
bool saltusi_substitute_contact(const saltus_scheme* scheme, const saltusi_dense_query* query,
                                int key, saltus_contact_inside* contact);

#endif
