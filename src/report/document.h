/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * document.h - construction of the document for a page: a head in JSON, then arrays of numbers (docs/viewer.md).
 */
#ifndef SALTUSI_REPORT_DOCUMENT_H
#define SALTUSI_REPORT_DOCUMENT_H

#include "base/pool.h"
#include "report/bytes.h"
#include "saltus/mechanism.h"
#include "saltus/report.h"
#include "saltus/tree.h"

typedef enum saltusi_number { SALTUSI_F64, SALTUSI_F32, SALTUSI_I32, SALTUSI_U32 } saltusi_number;

typedef struct saltusi_document {
  const saltus_report_def* def;
  const saltus_recording_data* data;
  const saltus_mechanism* mechanism; /* NULL: none */
  int q_first, v_first;              /* of the mechanism in the state */
  double* bodies;                    /* velocities of bodies in joint coordinates; NULL: none */
  saltusi_pool pool;
  saltusi_bytes head, list, numbers; /* JSON; JSON of the arrays; their numbers */
  saltusi_number type;               /* of the array that is being written */
  saltusi_number real;               /* of numbers other than times */
  long long* frames;                 /* [count] shown frames, ascending */
  long long count;
  bool events_shown;
} saltusi_document;

/* A recording with its scene; SALTUS_ERR_INPUT after a message if they do not match. The caller frees the pool after
 * success. */
saltus_status saltusi_document_open(const saltus_report_def* def, saltusi_document* d);
/* A body; v is -1 for frames of flexible bodies, which have no velocities of their own. */
saltus_body_place saltusi_document_body(const saltusi_document* d, int body);

/* The body and the first modal coordinate of a flexible body, that of the label NAME.mode_1; -1: none. */
int saltusi_document_flexible(const saltusi_document* d, int flexible, int* eta);

/* Velocities of a frame, those of the mechanism at v_first; valid until the next call. */
const double* saltusi_document_velocities(const saltusi_document* d, long long frame);

/* Starts an array of rows x width (x depth when above 0). */
void saltusi_array(saltusi_document* d, const char* name, saltusi_number type, long long rows,
                   long long width, int depth);
void saltusi_put(saltusi_document* d, double value);
void saltusi_put_all(saltusi_document* d, const double* values, long long count);

/* ---- frames.c ---- */

/* Selects the shown frames: all, or those next to events and others evenly in time, if possible at most `most`. */
saltus_status saltusi_choose_frames(saltusi_document* d, double most);
/* First frame that shown frame k represents; the last is frames[k]. */
long long saltusi_first_of(const saltusi_document* d, long long k);

/* ---- scene_objects.c ---- */

/* Bodies, shapes, markers, joints and springs of a mechanism. */
void saltusi_write_scene_objects(saltusi_document* d);
void saltusi_write_poses(saltusi_document* d);
/* Force of each joint on the body of its second marker, in the axes of the first. */
void saltusi_write_joint_loads(saltusi_document* d);

/* ---- contacts.c ---- */

/* Forces and impulses of a fixed set of contacts, by contact. */
void saltusi_write_contacts(saltusi_document* d);
/* Of contact i of a fixed set over the frames represented by shown frame k: mean force, sum of impulses, normal first.
 * */
void saltusi_contact_force(const saltusi_document* d, long long k, int contact, double force[3]);
void saltusi_contact_impulse(const saltusi_document* d, long long k, int contact,
                             double impulse[3]);
/* Contacts of bodies: rows with points and forces in world axes. */
saltus_status saltusi_write_rows(saltusi_document* d);

/* ---- drawing.c ---- */

/* Drawn objects at frame f, advanced by h along its velocities. */
typedef struct saltusi_drawer {
  const saltus_drawing* drawing;
  const saltus_system* system;
  const saltus_recording_data* data;
  double* q;
  double* values[2]; /* workspace for two sets of values */
  void* scratch;
} saltusi_drawer;
saltus_status saltusi_drawer_start(saltusi_document* d, saltusi_drawer* e);
void saltusi_drawer_values(const saltusi_drawer* e, long long f, double h, double* values);
/* A small part of the longer interval beside a frame, for differences. */
double saltusi_difference_step(const saltus_recording_data* data, long long f);

saltus_status saltusi_write_drawing(saltusi_document* d, const saltus_drawing* drawing);

#endif
