/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * export.h - a scene as a model for other programs: an FMU for co-simulation, or C source.
 *
 *   saltus_export_fmu_def def = saltus_export_fmu_def_default();
 *   def.scene = scene;
 *   def.binary = "saltus_fmu.so";
 *   saltus_status status = saltus_export_fmu(&def, "ball.fmu");
 *
 * docs/export.md describes both.
 */
#ifndef SALTUS_EXPORT_H
#define SALTUS_EXPORT_H

#include "saltus/scene.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_export_fmu_def {
  const saltus_scene* scene;
  const char* path;   /* file of the scene, beside which its meshes are; NULL: the present folder */
  const char* binary; /* shared object of all FMUs, saltus_fmu.so of the installation */
  const char* identifier; /* modelIdentifier; NULL: made of path */
  int version;            /* of FMI: 3 or 2 */
  double tol;             /* tolerance; NaN: that of the scene */
  double step;            /* s; NaN: that of the scene */
  const char* scheme;     /* NULL: that of the scene */
  saltus_log log;
  const saltus_allocator* allocator;
  SALTUS_RESERVED(4);
} saltus_export_fmu_def;

/* FMI 3.0, settings of the scene. */
SALTUS_API saltus_export_fmu_def saltus_export_fmu_def_default(void);

/* Writes the FMU; the same definition gives the same bytes. SALTUS_ERR_INPUT or SALTUS_ERR_RANGE for an invalid
 * member, SALTUS_ERR_IO when a file cannot be read or written, SALTUS_ERR_UNSUPPORTED for a scene that the
 * shared object cannot run; the log has the reason. */
SALTUS_API saltus_status saltus_export_fmu(const saltus_export_fmu_def* def, const char* file);

typedef struct saltus_export_c_def {
  const saltus_scene* scene;
  const char* prefix; /* of all names, a C identifier */
  double step;        /* s; NaN: that of the scene */
  const char* scheme; /* NULL: that of the scene; has to be moreau-jean */
  saltus_log log;
  const saltus_allocator* allocator;
  SALTUS_RESERVED(4);
} saltus_export_c_def;

/* Prefix "model", settings of the scene. */
SALTUS_API saltus_export_c_def saltus_export_c_def_default(void);

/* Writes C99 without library, allocation and static state: scenes by formulas without joints, moreau-jean with fixed
 * steps, up to 20 contacts with Newton's impact law and Coulomb friction in the plane. SALTUS_ERR_UNSUPPORTED for
 * other scenes; the log has the reason. */
SALTUS_API saltus_status saltus_export_c(const saltus_export_c_def* def, const char* file);

SALTUS_END_DECLS

#endif
