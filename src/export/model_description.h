/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model_description.h - modelDescription.xml of an FMU.
 */
#ifndef SALTUSI_EXPORT_MODEL_DESCRIPTION_H
#define SALTUSI_EXPORT_MODEL_DESCRIPTION_H

#include "export/variables.h"
#include "report/bytes.h"
#include "saltus/run.h"

typedef struct saltusi_model_description {
  int version; /* of FMI: 2 or 3 */
  const char* identifier;
  const char* token;
  const saltus_scene_view* view;
  const saltus_run_settings* settings;
  const saltusi_variable* variables;
  int count;
} saltusi_model_description;

void saltusi_model_description_write(const saltusi_model_description* m, saltusi_bytes* out);

#endif
