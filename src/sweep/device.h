/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * device.h - a kernel on a device of OpenCL, or of CUDA by NVRTC. Their libraries are loaded at run time.
 */
#ifndef SALTUSI_SWEEP_DEVICE_H
#define SALTUSI_SWEEP_DEVICE_H

#include "report/bytes.h"
#include "saltus/status.h"

typedef struct saltusi_device saltusi_device;

typedef enum saltusi_device_kind {
  SALTUSI_DEVICE_NONE,
  SALTUSI_DEVICE_OPENCL,
  SALTUSI_DEVICE_CUDA
} saltusi_device_kind;

/* Columns of a kernel: in [inputs][n], state [rows][n]. */
typedef struct saltusi_device_work {
  const double* in;
  double* state;
  long n;
  int inputs, rows;
  int pending; /* row of members that have not reached `end`; -1: all take `steps` steps */
  double end;  /* s */
  long long steps;
  const volatile int* cancel; /* NULL: none */
} saltusi_device_work;

/* Compiles the source for device `number` of those with double precision; fast: products and sums are contracted, the
 * source says FAST. NULL, or the reason why not. */
const char* saltusi_device_open(saltusi_device_kind kind, int number, const char* source, bool fast,
                                saltusi_device** out);
void saltusi_device_close(saltusi_device* device);

/* Number of devices with double precision; 0: none, or no library. */
int saltusi_device_count(saltusi_device_kind kind);

/* All steps from the first one on; the state is replaced. Calls of several threads are serialised. SALTUS_ERR_STOPPED, SALTUS_ERR_UNSUPPORTED
 * where the device fails. */
saltus_status saltusi_device_run(saltusi_device* device, const saltusi_device_work* work);

/* The source compiled by NVRTC for a compute capability of 10 major + minor. NULL, or the reason why not. */
const char* saltusi_device_cubin(const char* source, int capability, bool fast,
                                 saltusi_bytes* cubin);

#endif
