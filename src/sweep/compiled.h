/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * compiled.h - members of a sweep by a kernel of the scene, made by the system's C compiler or for devices.
 */
#ifndef SALTUSI_SWEEP_COMPILED_H
#define SALTUSI_SWEEP_COMPILED_H

#include "sweep/device.h"
#include "sweep/kernel.h"

typedef struct saltusi_compiled saltusi_compiled;

typedef struct saltusi_compiled_def {
  const saltus_scene* scene;          /* template of the members; outlives the result */
  const saltus_scene_output* outputs; /* [output_count] formulas of the measures */
  int output_count;
  const saltus_run_def* run;
  const saltusi_measures* measures; /* bound */
  const char* const* axes;          /* [axis_count] */
  const double* first;              /* [axis_count] values of the first member */
  int axis_count;
  int lanes;                  /* 1, 4 or 8; 0: as wide as the processor's vectors */
  saltusi_device_kind device; /* none: the C compiler */
  bool fast;                  /* products and sums are contracted: bits depend on the backend */
  const char* devices;        /* their numbers, "0,2"; NULL: all */
  int process;                /* one of several that share the devices, from 0 on; -1: alone */
  const char* compiler;       /* name or path of a C compiler */
  const char* cache;          /* folder of compiled kernels; NULL: nothing is kept */
  bool proven; /* refuses schemes with a tolerance, whose events are found by samples */
  const volatile int* cancel;
  saltus_log log;
} saltusi_compiled_def;

/* SALTUS_ERR_UNSUPPORTED after a message with the reason if the scene or the machine does not allow it. */
saltus_status saltusi_compiled_create(const saltusi_compiled_def* def, saltusi_compiled** out);
void saltusi_compiled_destroy(saltusi_compiled* compiled);

const saltus_run_settings* saltusi_compiled_settings(const saltusi_compiled* compiled);

/* Members of one call that fill a processor or a device. */
int saltusi_compiled_group(const saltusi_compiled* compiled);

/* Items of `count` members from their axes [count][axes]: items [count][item_count]. good: false for members that have
 * to be computed by the interpreter. Calls of different `job` are distributed over the devices. SALTUS_ERR_STOPPED,
 * SALTUS_ERR_MEMORY, SALTUS_ERR_UNSUPPORTED where a device fails. Several threads may call it. */
saltus_status saltusi_compiled_run(const saltusi_compiled* compiled, int job, const double* axes,
                                   int count, double* items, bool* good);

#endif
