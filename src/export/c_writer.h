/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * c_writer.h - text of exported C: the writer, functions of straight-line code, and the equations of a step.
 */
#ifndef SALTUSI_C_WRITER_H
#define SALTUSI_C_WRITER_H

#include "base/number.h"
#include "emit/model_lines.h"
#include "report/bytes.h"

enum { SALTUSI_C_CONTACTS = 20, SALTUSI_C_VELOCITIES = 32, SALTUSI_C_JOINTS = 12 };

typedef struct saltusi_c_writer {
  saltusi_bytes out;
  const char* prefix;
  double h, factors[2];  /* of F_v and F_q in the matrix of Newton's method */
  bool rates;            /* of contacts, needed to find the active ones */
  bool constant, tables; /* matrix; and rows of contacts */
  double factors_of_A
      [SALTUSI_C_VELOCITIES *
       SALTUSI_C_VELOCITIES]; /* of the constant matrix, as saltusi_lu_factor has them */
  int pivot[SALTUSI_C_VELOCITIES];
  long long operations, calls; /* of the functions written so far */
} saltusi_c_writer;

/* A function of straight-line code over t, q, v and u. */
typedef struct saltusi_c_function {
  saltusi_c_writer* w;
  const saltus_system* sys;
  saltusi_line_graph lines;
  saltusi_line_state state;
  saltusi_pool pool;
} saltusi_c_function;

/* Arguments of the functions. */
#define SALTUSI_C_ARGUMENTS "double t, const double* q, const double* v, const double* u"

/* Text in which @ becomes the prefix. */
void saltusi_c_text(saltusi_c_writer* w, const char* text);
void saltusi_c_put(saltusi_c_writer* w, const char* format, ...) SALTUSI_PRINTF(2, 3);
void saltusi_c_number(saltusi_c_writer* w, double value);

/* Begins a function with SALTUSI_C_ARGUMENTS and `results`, which are text. */
void saltusi_c_open(saltusi_c_function* f, saltusi_c_writer* w, const saltus_system* sys,
                    int inputs, const char* type, const char* name, const char* results);
void saltusi_c_close(saltusi_c_function* f);
int* saltusi_c_take(saltusi_c_function* f, int count);
/* Entries of an array argument. */
const int* saltusi_c_leaves(saltusi_c_function* f, const char* name, int count);
/* The nodes of a program. */
int* saltusi_c_nodes(saltusi_c_function* f, const saltusi_program* p);
/* Writes all that the results need, then `to[i] = ` each of them. */
void saltusi_c_results(saltusi_c_function* f, const char* to, const int* nodes, int count);

/* The equations of a model in this function. */
saltusi_model_lines saltusi_c_model(saltusi_c_function* f, const saltus_formula_model* m);
/* Matrix and residual of Newton's method, and the solution with them. */
void saltusi_c_equations(saltusi_c_writer* w, const saltus_system* sys,
                         const saltus_formula_model* m, int inputs);

#endif
