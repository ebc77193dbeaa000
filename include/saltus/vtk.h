/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk.h - a recorded run as files for ParaView and other programs that read VTK's XML formats.
 *
 *   saltus_vtk_def def = saltus_vtk_def_default();
 *   def.data = data;                              of saltus_recording_read
 *   def.scene = saltus_scene_get_view(scene);         of the text in the recording
 *   def.write = ...; def.user = ...;              receives every complete file
 *   saltus_status status = saltus_vtk_export(&def, NULL);
 *
 * docs/vtk.md describes the files.
 */
#ifndef SALTUS_VTK_H
#define SALTUS_VTK_H

#include "saltus/recording.h"
#include "saltus/scene.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_vtk_def {
  const saltus_recording_data* data; /* with a state at least */
  const saltus_scene_view* scene;    /* scene of the recording, with bodies or a section `view` */
  long long most;                    /* states; a longer recording is thinned. 0: 500 */
  int around;                        /* corners of a circle, 8 to 256. 0: 24 */
  /* A file by its name, without a folder. */
  saltus_status (*write)(void* user, const char* name, const void* bytes, size_t size);
  void* user;
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  SALTUS_RESERVED(6);
} saltus_vtk_def;

typedef struct saltus_vtk_about {
  long long recorded, shown; /* states */
  bool events_shown;         /* includes the states next to every event */
  long long files;
  double bytes;       /* of all files */
  long long unplaced; /* omitted forces of contacts without a point of application */
} saltus_vtk_about;

SALTUS_API saltus_vtk_def saltus_vtk_def_default(void);

/* about may be NULL. SALTUS_ERR_INPUT when the recording has no states, is not one of the scene, or when nothing of the
 * scene can be drawn; SALTUS_ERR_RANGE for a member of the definition; or the status of `write`. */
SALTUS_API saltus_status saltus_vtk_export(const saltus_vtk_def* def, saltus_vtk_about* about);

SALTUS_END_DECLS

#endif
