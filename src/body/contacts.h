/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.h - callbacks of the contacts of a mechanism with shapes, and shared functions; `self` is the mechanism.
 */
#ifndef SALTUSI_BODY_CONTACTS_H
#define SALTUSI_BODY_CONTACTS_H

#include "body/mechanism.h"
#include "shape/world.h"

saltus_status saltusi_shapes_contacts(const void* self, const saltus_point* at,
                                      saltus_contact_list* list);
void saltusi_shapes_contact(const void* self, const saltus_point* at, uint64_t identity,
                            saltus_rows* rows);
saltus_status saltusi_shapes_gaps(const void* self, const saltus_point* at, int count,
                                  const uint64_t* identity, double* gap);
void saltusi_shapes_contact_text(const void* self, uint64_t identity, char* text, size_t size);
saltus_status saltusi_shapes_place(const void* self, const saltus_point* at, uint64_t identity,
                                   saltus_contact_place* place);
saltus_status saltusi_shapes_swept_query(const void* self, const saltus_box* over,
                                         saltus_contact_list* list);

int saltusi_shapes_guards(const void* self, const saltus_point* at, uint64_t identity,
                          double guard[SALTUS_GUARDS]);

/* Cached last list of a mechanism without driven bodies; schemes with a predictor request it twice. */
typedef struct saltusi_shapes_listed {
  bool known;
  double horizon, reach;
  bool concise;
  int count;
  double *q, *v; /* [nq], [nv] state at which it was computed */
  uint64_t* identity;
  double* gap;
  int* law; /* all three with the capacity of the longest cached list */
} saltusi_shapes_listed;

typedef struct saltusi_shapes_carried saltusi_shapes_carried;

/* Workspace of an evaluation, in saltus_point.scratch after the poses of joints. */
typedef struct saltusi_shapes_memory {
  saltusi_body_pose* carrier; /* [body_count + 1], as are the next three */
  saltusi_shapes_carried* made;
  double *slack, *turn;
  double* q; /* [nq] */
  saltusi_shapes_listed* listed;
  void* world; /* of a query */
} saltusi_shapes_memory;

/* Largest number of contacts of a cached list. */
size_t saltusi_shapes_listed_most(const saltus_mechanism* m);

/* Bytes of scratch. */
size_t saltusi_shapes_lay_out(const saltus_mechanism* m, void* scratch, saltusi_shapes_memory* to);

/* Pose and motion of a body for its shapes; v NULL: free bodies at rest. */
void saltusi_shapes_body_pose(const saltus_mechanism* m, int body, const saltus_point* at,
                              saltusi_body_pose* out);

/* The same, cached in the workspace until the body moves. */
void saltusi_shapes_transfer(const saltus_mechanism* m, int body, const saltus_point* at,
                             const saltusi_shapes_memory* room);

const saltusi_body_pose* saltusi_shapes_carried_in(const saltus_mechanism* m, int body,
                                                   const saltus_point* at);

/* A query for contacts that can close within a time, by positions and velocities at a point; reach 0. */
saltusi_world_query saltusi_shapes_ahead(const saltus_mechanism* m, const saltus_point* at,
                                         double horizon, const saltusi_shapes_memory* room);

/* Writes the feature pairs of a query, and limits. With a box, two shapes without a closed contact have only their
 * separation monitor; others have all feature pairs. */
saltus_status saltusi_shapes_list(const saltus_mechanism* m, const saltus_point* at,
                                  const saltusi_world_query* query, const saltus_box* over,
                                  saltus_contact_list* list);

#endif
