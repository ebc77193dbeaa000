/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * warm_start.h - the impulses of the last accepted step as initial guess of the next one
 * (docs/theory/contact-solvers.md, 2.5).
 *
 *   memory    size | for every key: P, and with friction the slip parameter a
 *   guess     P times size now / size then;     size = h for impulses, h^2 where P moves positions
 *
 * The solvers start from the guess or from zero, whichever has the smaller residual; immediately after an impact that
 * is zero. The impulses are part of the scheme's memory: a step that is undone, repeated or resumed finds those of the
 * last accepted one. Contacts are distinguished by their keys; one that opens loses its impulses. Tangents rotate with
 * their contact, so P is stored in contact axes.
 *
 * Systems of one or two contacts are solved directly, without a warm start.
 */
#ifndef SALTUSI_WARM_START_H
#define SALTUSI_WARM_START_H

#include "operator/operator.h"
#include "scheme/scheme_ops.h"

#define SALTUSI_WARM_START_FIELD(S)                                                                \
  SALTUS_CHOICE(S, warm_start, SALTUS_WARM_START_YES, SALTUS_WARM_START_NO,                        \
                saltusi_warm_start_names,                                                          \
                "whether contact problems start from the impulses of the last step")

/* The two options of every law that solves contacts of a step with friction. */
#define SALTUSI_CONTACT_FIELDS(S) SALTUSI_WARM_START_FIELD(S), SALTUSI_GAIN_FIELD(S)

/* Memory functions of a scheme with the options S whose memory is that of the warm start alone. */
#define SALTUSI_WARM_MEMORY(S)                                                                     \
  static size_t memory_count(const void* options, const saltus_system* sys) {                      \
    return saltusi_warm_count(((const S*)options)->warm_start, sys);                               \
  }                                                                                                \
  static void carry_memory(const void* options, const saltus_system* sys,                          \
                           saltusi_state_transfer* carry) {                                        \
    saltusi_warm_transfer(((const S*)options)->warm_start, sys, carry);                            \
  }

extern const char* const saltusi_warm_start_names[];

/* Doubles that a law keeps in the memory of its scheme. */
size_t saltusi_warm_count(int warm_start, const saltus_system* sys);
void saltusi_warm_transfer(int warm_start, const saltus_system* sys, saltusi_state_transfer* carry);

/* Whether the law keeps impulses; after its layout. */
void saltusi_warm_layout(saltusi_operator* op, int warm_start, const saltus_system* sys);

/* Before the active contacts of a step are determined: the stored impulses, and the scale of
 * impulses in this step. */
void saltusi_warm_open(saltusi_operator* op, const double* memory, double size);

/* The guess for the i-th active contact, which has `count` rows from `row` on. */
void saltusi_warm_guess(saltusi_operator* op, int i, int key, int row, int count);

/* After the step: clears the memory; saltusi_warm_keep adds the active contacts. */
void saltusi_warm_clear(const saltusi_operator* op, int nc, double size, double* memory);

/* The i-th active contact with its impulses P. */
void saltusi_warm_keep(const saltusi_operator* op, int i, int key, const double* P, int count,
                       double* memory);

#endif
