/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * vtk_job.h - state of the export of a recording for VTK.
 */
#ifndef SALTUSI_REPORT_VTK_JOB_H
#define SALTUSI_REPORT_VTK_JOB_H

#include "report/rows.h"
#include "report/vtk_file.h"
#include "saltus/flexible.h"
#include "saltus/vtk.h"

/* Pose and motion of a body. */
typedef struct saltusi_placed {
  double x[3], R[9];
  double v[3], w[3]; /* m/s, rad/s in the axes of the world; of free bodies */
  /* a small time before and after; of driven ones */
  double before_x[3], before_R[9], after_x[3], after_R[9];
  double step; /* s; 0: not driven */
} saltusi_placed;

/* Nodes of a flexible body among the points of moving bodies. */
typedef struct saltusi_vtk_flexible {
  const saltus_flexible* data;
  int body, eta;  /* its place; first modal coordinate */
  int first;      /* point */
  double* change; /* [6 x nodes] displacement and its rate in body axes */
} saltusi_vtk_flexible;

typedef struct saltusi_vtk_job {
  const saltus_vtk_def* def;
  saltus_report_def report; /* inputs of the document */
  saltusi_document d;
  saltusi_vtk_file file;
  saltusi_bytes list[2];         /* the .pvd of surfaces and of contacts */
  saltusi_surface moving, still; /* in the axes of bodies */
  saltusi_surface drawn[3];      /* now, a small time before, after; in the axes of the world */
  saltusi_drawer drawer;
  saltusi_rows rows;
  bool has_drawing, has_rows;
  const char** things; /* names by thing */
  int thing_count, bodies;
  saltusi_placed* body;           /* [bodies] */
  const char** names;             /* [bodies] */
  saltusi_vtk_flexible* flexible; /* [flexible_count] */
  int flexible_count;
  double middle[3], far;
  size_t of_bodies; /* points of the surface of bodies; those of drawn objects follow */
  double step;      /* s, step of differences of drawn objects */
  saltusi_drawn_contact_row* contact; /* of one state */
  size_t contacts, contact_room;
  saltusi_surface points; /* of contacts */
  saltus_vtk_about about;
} saltusi_vtk_job;

/* ---- vtk_scene_objects.c ---- */

/* Surfaces of bodies, names of objects, data of contacts and drawn objects. */
saltus_status saltusi_vtk_prepare(saltusi_vtk_job* job);

/* ---- vtk_surface.c ---- */

void saltusi_vtk_place_bodies(saltusi_vtk_job* job, long long f);
/* Objects of the section `view` at frame f, after the bodies. */
void saltusi_vtk_draw(saltusi_vtk_job* job, long long f);
void saltusi_vtk_write_surface(saltusi_vtk_job* job, const saltusi_surface* s, double t);

/* ---- vtk_contacts.c ---- */

/* Contacts of shown frame k, into job->contact. */
saltus_status saltusi_vtk_find_contacts(saltusi_vtk_job* job, long long k);
void saltusi_vtk_write_contacts(saltusi_vtk_job* job, double t);

#endif
