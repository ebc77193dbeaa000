/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kernel.h - many members of a sweep as C: model, step and measures in one function.
 *
 *   void saltus_members(const double* in, double* state, long n, double first, long steps)
 *
 * in is [inputs][n], state [rows][n], n a multiple of the lanes. The function takes `steps` steps after the first
 * `first` ones and continues the state. State row `bad` is nonzero for members with a step that cannot be completed.
 */
#ifndef SALTUSI_SWEEP_KERNEL_H
#define SALTUSI_SWEEP_KERNEL_H

#include "model/formula_model.h"
#include "report/bytes.h"
#include "saltus/run.h"
#include "sweep/measure.h"

enum {
  SALTUSI_KERNEL_CONTACTS = 8,
  SALTUSI_KERNEL_VELOCITIES = 18,
  SALTUSI_KERNEL_JOINTS = 16,
  SALTUSI_KERNEL_LAWS = 3
};

/* Rows of members with a tolerance: t, step, bound of the step, closed contact, located event with its step, bracket and
 * iterations, trial steps; then accelerations. */
enum {
  SALTUSI_KERNEL_EVENT = 10,
  SALTUSI_KERNEL_CAP = 2,
  SALTUSI_KERNEL_CLOSED,
  SALTUSI_KERNEL_TARGET
};

/* Rows of `in` and `state`. */
typedef struct saltusi_kernel_layout {
  int axes;   /* rows 0 .. axes - 1 of in, then mu, e_N, e_T of each contact */
  int inputs; /* rows of in */
  int q, v, bad, items;
  int event, pending; /* pending: the last row; -1: fixed steps */
  int rows; /* of state: of each item the value, then the previous value or the number of events */
} saltusi_kernel_layout;

typedef struct saltusi_kernel_def {
  const saltus_scene_view* view; /* of a scene whose inputs are the axes */
  const double* inputs;          /* at the start */
  const saltus_run_settings* settings;
  const saltusi_measures* measures; /* bound */
} saltusi_kernel_def;

/* The model of a scene; `alone` holds that of bodies without formulas. */
const saltus_formula_model* saltusi_kernel_model(const saltus_scene_view* view,
                                                 saltus_formula_model* alone);
/* Outputs by formulas; NULL: none. */
const saltus_observables* saltusi_kernel_observables(const saltus_scene_view* view);

/* Whether members are integrated to a tolerance. */
bool saltusi_kernel_has_events(const saltus_run_settings* settings);

/* The source. SALTUS_ERR_UNSUPPORTED with the reason in *why. */
saltus_status saltusi_kernel_write(const saltusi_kernel_def* def, saltusi_bytes* source,
                                   saltusi_kernel_layout* layout, const char** why);

extern const char saltusi_kernel_prelude[];

#endif
