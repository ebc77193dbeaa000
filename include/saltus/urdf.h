/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * urdf.h - robots in URDF or MJCF as scenes: links become bodies, joints become joints, and the result
 * is an editable scene. docs/urdf.md describes the translation of each element. The root element decides which
 * of the two a file is.
 *
 * Nothing is dropped silently: elements without a counterpart are listed with their line, and
 * ambiguous input is rejected with file, line and reason.
 */
#ifndef SALTUS_URDF_H
#define SALTUS_URDF_H

#include "saltus/api.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/status.h"

#include <stdbool.h>
#include <stddef.h>

SALTUS_BEGIN_DECLS

/* Support of the root link. */
typedef enum saltus_urdf_base {
  SALTUS_URDF_BASE_DEFAULT, /* fixed if it is called world or has no inertial, else free */
  SALTUS_URDF_BASE_FIXED,   /* the ground */
  SALTUS_URDF_BASE_FREE     /* no support: it is a free body */
} saltus_urdf_base;

typedef struct saltus_urdf_def {
  const char* path; /* read when text is NULL; names the file in messages */
  const char* text; /* or the text of the robot */
  size_t length;    /* bytes of text; 0: up to its zero byte */
  saltus_urdf_base base;
  bool merge; /* links connected by fixed joints become one body */
  saltus_log log;
  const saltus_allocator* allocator;
  double height;        /* m, of the floor */
  double friction;      /* coefficient of all contacts, >= 0 */
  bool floor;           /* a horizontal half-space in the scene */
  bool by_joints;       /* joint coordinates; MJCF always has them */
  bool shapeless;       /* MJCF: without shapes */
  int parts;            /* most convex parts of a mesh that moves; 0: its hull */
  const char* keyframe; /* MJCF: start; NULL: the reference configuration */
  SALTUS_RESERVED(1);
} saltus_urdf_def;

/* An element that is not in the scene, or a default chosen where the file gives no value. */
typedef struct saltus_urdf_note {
  int line;
  const char* text;
} saltus_urdf_note;

/* Valid as long as the conversion. */
typedef struct saltus_urdf_view {
  const char* scene; /* text of a scene */
  int links, joints; /* of the file; loops among the joints */
  int bodies;        /* of the scene */
  const saltus_urdf_note* notes;
  int note_count;
} saltus_urdf_view;

typedef struct saltus_urdf saltus_urdf;

/* SALTUS_ERR_INPUT for errors in the file, SALTUS_ERR_IO if it cannot be read,
 * SALTUS_ERR_UNSUPPORTED without expat. On failure *out is NULL and the log has the reason, once. */
SALTUS_API saltus_status saltus_urdf_create(const saltus_urdf_def* def, saltus_urdf** out);
SALTUS_API void saltus_urdf_destroy(saltus_urdf* urdf);
SALTUS_API const saltus_urdf_view* saltus_urdf_get_view(const saltus_urdf* urdf);

SALTUS_END_DECLS

#endif
