/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * drawing.h - objects of the section `view` of a scene: positions by formulas, for reports.
 */
#ifndef SALTUS_DRAWING_H
#define SALTUS_DRAWING_H

#include "saltus/observe.h"

SALTUS_BEGIN_DECLS

/* Values of a drawn object, d numbers per point. */
typedef enum saltus_drawn_type {
  SALTUS_DRAWN_POINT,   /* place */
  SALTUS_DRAWN_LINE,    /* two points or more */
  SALTUS_DRAWN_CIRCLE,  /* centre, radius, angle [rad] of its mark; in space a sphere */
  SALTUS_DRAWN_BOX,     /* centre, d lengths, angle [rad] about z */
  SALTUS_DRAWN_SPRING,  /* two places */
  SALTUS_DRAWN_TEXT,    /* place */
  SALTUS_DRAWN_CONTACT, /* point, normal, tangent; zero: not given */
  SALTUS_DRAWN_TYPES
} saltus_drawn_type;

/* "point", "line" and so on, as in scenes. */
SALTUS_API const char* saltus_drawn_type_name(saltus_drawn_type type);

typedef struct saltus_drawn {
  saltus_drawn_type type;
  const char* name;
  const char* text;   /* of a text, else "" */
  const char* colour; /* name of a colour; "": automatic */
  int first, count;   /* values of the object */
  int places;         /* points of a line or spring; else 1 */
  int contact;        /* of a contact, index in the laws of the system; else -1 */
  bool ground;        /* of a line: its right side is fixed ground */
  bool filled;        /* of a circle or box */
  SALTUS_RESERVED(2);
} saltus_drawn;

typedef struct saltus_drawing {
  int dimension; /* d, 2 or 3 */
  int count;
  const saltus_drawn* things;       /* [count] */
  const saltus_observables* values; /* its outputs */
} saltus_drawing;

SALTUS_END_DECLS

#endif
