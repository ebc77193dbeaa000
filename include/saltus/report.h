/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * report.h - a recorded run as one page for browsers: animation, curves, events, certificate, scene.
 *
 *   saltus_report_def def = saltus_report_def_default();
 *   def.data = data;                              of saltus_recording_read
 *   def.scene = saltus_scene_get_view(scene);         of the text in the recording
 *   def.write = ...; def.user = ...;              gets the bytes of the page in order
 *   saltus_status status = saltus_report_page(&def, NULL);
 *
 * The page is self-contained: no network, no other files. Texts of the recording are embedded in base64 as data, never
 * as HTML. docs/viewer.md has the layout of the document in it.
 */
#ifndef SALTUS_REPORT_H
#define SALTUS_REPORT_H

#include "saltus/recording.h"
#include "saltus/scene.h"
#include "saltus/verify.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_report_def {
  const saltus_recording_data* data;     /* with a state at least */
  const saltus_scene_view* scene;        /* scene of the recording; NULL: only curves and events */
  const saltus_certificate* certificate; /* NULL: none */
  const char* explanation;               /* limits of the step size, in words; NULL: as recorded */
  double most; /* bytes of the document; a longer recording is thinned. 0: 12e6 */
  saltus_status (*write)(void* user, const void* bytes, size_t size);
  void* user;
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  const char* answers;               /* design summary as JSON; NULL: none */
  const saltus_table* measured;      /* drawn beside curves of equal names; NULL: none */
  SALTUS_RESERVED(4);
} saltus_report_def;

/* Contents of the report. */
typedef struct saltus_report_about {
  long long recorded, shown; /* states */
  bool events_shown;         /* includes the states next to every event */
  double bytes;              /* of the document */
} saltus_report_about;

SALTUS_API saltus_report_def saltus_report_def_default(void);

/* Whether this library was built with the viewer. */
SALTUS_API bool saltus_report_has_viewer(void);

/* The page. about may be NULL. SALTUS_ERR_INPUT when the recording has no states or is not one of the scene, or
 * `measured` has no column t, SALTUS_ERR_UNSUPPORTED without a viewer, or the status of `write`. */
SALTUS_API saltus_status saltus_report_page(const saltus_report_def* def,
                                            saltus_report_about* about);
/* Only the document, for pages with a viewer. */
SALTUS_API saltus_status saltus_report_document(const saltus_report_def* def,
                                                saltus_report_about* about);

SALTUS_END_DECLS

#endif
