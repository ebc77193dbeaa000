/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * functions.h - a system of functions and its creation.
 */
#ifndef SALTUS_PYTHON_FUNCTIONS_H
#define SALTUS_PYTHON_FUNCTIONS_H

#include "core.h"

enum {
  CORE_MASS,
  CORE_FORCE,
  CORE_GAP,
  CORE_ROWS,
  CORE_DRIFT,
  CORE_CONVECTIVE,
  CORE_JOINT,
  CORE_JOINT_ROWS,
  CORE_JOINT_DRIFT,
  CORE_JOINT_CONVECTIVE,
  CORE_POTENTIAL,
  CORE_KINETIC,
  CORE_FORCE_Q,
  CORE_FORCE_V,
  CORE_FUNCTIONS
};

/* out = f(t, q, v); v is NULL for functions of t and q only. */
typedef void (*core_address)(double t, const double* q, const double* v, double* out);

/* One of the three, or none: count is 0 then. */
typedef struct core_function {
  size_t count; /* of its result */
  PyObject* object;
  core_address address;
  double* constant;
} core_function;

typedef struct core_functions {
  const core_state* state;
  saltus_system system;
  saltus_system_ops ops;
  core_function function[CORE_FUNCTIONS];
  size_t rows;          /* of a contact */
  size_t joint_scratch; /* first double of the scratch of joints */
  double *q0, *v0;
  saltus_contact_law* laws;
  saltus_label *q_labels, *v_labels;
  char** texts; /* names, which laws and labels point to */
  int text_count;
  PyObject* raised; /* exceptions by thread */
  PyObject* keeps;  /* objects that must outlive the called addresses */
} core_functions;

size_t core_functions_scratch(core_functions* functions);
void core_functions_ops(core_functions* functions);
const char* core_function_name(int kind);

#endif
