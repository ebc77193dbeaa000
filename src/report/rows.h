/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rows.h - contacts of bodies in a shown frame: points, and forces in world axes.
 */
#ifndef SALTUSI_REPORT_ROWS_H
#define SALTUSI_REPORT_ROWS_H

#include "report/document.h"

typedef struct saltusi_drawn_contact_row {
  uint64_t identity;
  long long frame; /* of the recording */
  int law;
  int bodies[2];
  double point[3], normal[3]; /* NaN: unknown */
  double gap;
  double force[3], impulse[3]; /* normal first */
  double push[3], kick[3];     /* N, N s on the first body, axes of the world */
  double time;                 /* s, averaging time of the force */
} saltusi_drawn_contact_row;

typedef struct saltusi_rows {
  saltusi_document* d;
  saltusi_drawn_contact_row* list; /* of one frame */
  size_t count, room;
  int* body_of; /* [nv] that a velocity belongs to; -1: none */
  int* column;
  double *G, *b;
  void* scratch;
} saltusi_rows;

/* Whether the recording has contacts of bodies. */
bool saltusi_rows_known(const saltusi_document* d);
saltus_status saltusi_rows_start(saltusi_document* d, saltusi_rows* r);
/* Replaces the list by that of shown frame k. */
saltus_status saltusi_rows_of(saltusi_rows* r, long long k);
void saltusi_rows_end(saltusi_rows* r);

/* An array of rows grows by one; false: no memory. */
bool saltusi_row_add(const saltus_allocator* memory, saltusi_drawn_contact_row** list,
                     size_t* count, size_t* room, const saltusi_drawn_contact_row* one);

#endif
