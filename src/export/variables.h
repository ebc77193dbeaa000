/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * variables.h - variables of an exported scene, numbered in the order: time, positions, velocities, outputs, inputs,
 * parameters. The numbers are the value references of an FMU.
 */
#ifndef SALTUSI_EXPORT_VARIABLES_H
#define SALTUSI_EXPORT_VARIABLES_H

#include "base/pool.h"
#include "saltus/scene.h"

typedef enum saltusi_variable_kind {
  SALTUSI_VARIABLE_TIME,
  SALTUSI_VARIABLE_Q,
  SALTUSI_VARIABLE_V,
  SALTUSI_VARIABLE_OUTPUT,
  SALTUSI_VARIABLE_INPUT,
  SALTUSI_VARIABLE_PARAMETER
} saltusi_variable_kind;

typedef struct saltusi_variable {
  const char* name; /* structured name of FMI: der(x), 'sleeve low'.gap */
  const char* own;  /* name in the scene: x', crank.x */
  const char* unit; /* "" when not given */
  saltusi_variable_kind kind;
  int index;      /* among those of its kind */
  bool settable;  /* input, or start or parameter that is a plain number */
  int derivative; /* number of the variable of which it is the derivative; -1: none */
  double start;
} saltusi_variable;

/* SALTUS_ERR_MEMORY without a message. */
saltus_status saltusi_variables_list(const saltus_scene_view* view, saltusi_pool* pool,
                                     saltusi_variable** out, int* count);

/* "{8-4-4-4-12}" from the SHA-256 digests of files. */
enum { SALTUSI_TOKEN = 39 };
typedef struct saltusi_export_file {
  const char* name; /* beside each other in the folder resources */
  const void* bytes;
  size_t size;
} saltusi_export_file;
void saltusi_export_token(const saltusi_export_file* files, int count, char token[SALTUSI_TOKEN]);

/* Settings of an export as lines `key=value`: tol, scheme, step. NaN and NULL: not given. */
typedef struct saltusi_export_settings {
  double tol, step;
  const char* scheme;
} saltusi_export_settings;

enum { SALTUSI_EXPORT_LINES = 256 };
/* Length of the lines. */
size_t saltusi_export_settings_write(const saltusi_export_settings* settings,
                                     char lines[SALTUSI_EXPORT_LINES]);
/* False: not such lines. The lines are changed, `scheme` points into them. */
bool saltusi_export_settings_read(char* lines, saltusi_export_settings* settings);

#endif
