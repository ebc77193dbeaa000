/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * instance.h - one instance of an exported scene, independent of the version of FMI.
 */
#ifndef SALTUSI_FMU_INSTANCE_H
#define SALTUSI_FMU_INSTANCE_H

#include "export/variables.h"
#include "saltus/run.h"

typedef struct saltusi_fmu_instance {
  saltusi_pool pool;
  char token[SALTUSI_TOKEN];
  saltusi_export_settings settings;
  saltus_log log;
  saltus_scene* base;  /* as exported */
  saltus_scene* scene; /* with all values that were set; may be base */
  saltus_run* run;     /* NULL before the end of initialisation */
  saltusi_variable* variables;
  int count;
  bool* given;     /* [count] set by the importer */
  double* values;  /* [count] these values */
  double* outputs; /* [output_count] */
  double* inputs;  /* [input_count] */
  double* slopes;  /* [input_count] */
  bool ramps;      /* inputs may have slopes */
  bool dirty;      /* something was set since the scene was created */
  bool outputs_known;
  bool left;  /* values are left limits */
  bool dense; /* the scheme chooses its steps, communication points are free */
  double t0, stop, tol, t;
  /* at the ends of own steps inside of a communication step: where that ends; NULL: none */
  double (*update)(void* user, double t, double target);
  void* user;
} saltusi_fmu_instance;

/* folder: that of the resources, ending with a separator. NULL after a message. */
saltusi_fmu_instance* saltusi_fmu_instance_open(const char* folder, saltus_log log);
void saltusi_fmu_instance_close(saltusi_fmu_instance* in); /* NULL: nothing */

/* Start, end and tolerance of the importer; NaN: not given. */
saltus_status saltusi_fmu_instance_experiment(saltusi_fmu_instance* in, double t0, double stop,
                                              double tol);
/* Ends the initialisation. */
saltus_status saltusi_fmu_instance_begin(saltusi_fmu_instance* in);
/* Back to the state after opening. */
saltus_status saltusi_fmu_instance_reset(saltusi_fmu_instance* in);

saltus_status saltusi_fmu_instance_get(saltusi_fmu_instance* in, unsigned reference, double* value);
saltus_status saltusi_fmu_instance_set(saltusi_fmu_instance* in, unsigned reference, double value);
/* An input is its present value + slope (t - the present time) from now on. */
saltus_status saltusi_fmu_instance_set_slope(saltusi_fmu_instance* in, unsigned reference,
                                             double slope);

/* Advances to a time. early: returns at the first impact before it. sides: values are then left limits until
 * saltusi_fmu_instance_update. *happened: an impact at the present time. */
saltus_status saltusi_fmu_instance_step(saltusi_fmu_instance* in, double target, bool early,
                                        bool sides, bool* happened);
saltus_status saltusi_fmu_instance_update(saltusi_fmu_instance* in);

/* State as bytes. */
size_t saltusi_fmu_instance_bytes(const saltusi_fmu_instance* in);
void saltusi_fmu_instance_save(const saltusi_fmu_instance* in, void* bytes);
saltus_status saltusi_fmu_instance_load(saltusi_fmu_instance* in, const void* bytes, size_t size);

#endif
