/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * element.h - machine elements between markers of a mechanism: clearances, stops, ropes, cams, gears. Each is
 * one entry that becomes contacts, or joints, with exact gaps, rows and convective parts.
 *
 *   X, Y, theta   of the second marker in the axes of the first;   U = G^T v + b,  U' = G^T v' + c
 *
 * They are part of a saltus_formula_def with a mechanism (formula.h). docs/elements.md has the gaps, the
 * names of the contacts and the directions of slip.
 */
#ifndef SALTUS_ELEMENT_H
#define SALTUS_ELEMENT_H

#include "saltus/api.h"
#include "saltus/friction_law.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

typedef enum saltus_element_type {
  SALTUS_ELEMENT_JOURNAL, /* pin (second) in a bearing (first) about z, with radial clearance */
  SALTUS_ELEMENT_GUIDE, /* block (second) between two walls along x (first): corners; in space four walls */
  SALTUS_ELEMENT_STOP, /* point or disc (second) above y = 0 of the first; in space above z = 0 */
  SALTUS_ELEMENT_ROPE, /* origins at most `length` apart */
  SALTUS_ELEMENT_WHEEL, /* disc (second) on y = 0 of the first, with traction; in space about z of the second, on z = 0 */
  SALTUS_ELEMENT_ROLLING, /* the same as a joint: rolls without slip and does not lift off; in space a ball on z = 0 */
  SALTUS_ELEMENT_GEAR_PAIR, /* two joints whose wheels mesh with backlash */
  SALTUS_ELEMENT_CAM, /* follower (second) on a profile (first); in space a cylinder along z */
  SALTUS_ELEMENT_SPRING_CONTACT, /* a stop closed by a preloaded spring */
  SALTUS_ELEMENT_LATCH,          /* a stop that is active while an input is 1 */
  SALTUS_ELEMENT_RATCHET, /* nose of a pawl (second) on a wheel with saw teeth (first), in space about z */
  SALTUS_ELEMENT_ROLLING_WHEEL /* a wheel as a joint: its rim rolls without slip */
} saltus_element_type;

typedef enum saltus_follower {
  SALTUS_FOLLOWER_KNIFE,  /* the origin of the second marker */
  SALTUS_FOLLOWER_ROLLER, /* a disc about it, in space a ball */
  SALTUS_FOLLOWER_FLAT    /* the line along its x, the cam below; plane */
} saltus_follower;

/* A segment of a closed convex profile: an arc whose outward normals begin at the direction `from`, up to that
 * of the next. Neighbours have to touch smoothly. */
typedef struct saltus_cam_arc {
  double centre[2]; /* m, in the axes of the cam */
  double radius;    /* m */
  double from;      /* rad, ascending */
} saltus_cam_arc;

/* A periodic cubic spline over the polar angle: radius of the cam for a knife, of the path of the centre for a roller,
 * distance of the face for a flat follower. */
typedef struct saltus_cam_point {
  double angle;  /* rad, ascending within one revolution */
  double radius; /* m */
} saltus_cam_point;

/* One of the three profiles. */
typedef struct saltus_cam_profile {
  const saltus_cam_arc* arcs;
  const saltus_cam_point* points;
  int arc_count, point_count;
  const char* formula; /* of `beta`, as the spline */
  const char* slope;   /* its derivative; needed with friction */
} saltus_cam_profile;

typedef struct saltus_element_def {
  const char* name;
  saltus_element_type type;
  saltus_follower follower;
  const char* between[2]; /* markers; for a gear pair, joints with an angle or a position */
  double clearance;       /* m: radial of a journal, on each side of a guide */
  double radius;          /* m: of journal, wheel, roller, nose, or of a disc at a stop */
  double length;          /* m: of a rope; of the block along a guide */
  double width;           /* m: of the block across it */
  double radii
      [2]; /* m: base circles of a gear pair, 1 for a prismatic joint; roots and tips of a ratchet */
  double backlash;           /* m: total, along the line of action */
  double offset;             /* m: of the middle of the backlash */
  double stiffness, preload; /* N/m, N: of the spring of a spring contact, at gap 0 */
  const saltus_cam_profile* profile;
  double friction, restitution, tangential_restitution;
  saltus_impact_law impact;
  double contact_stiffness; /* ratio to other contacts; 0: 1 */
  /* An input: contacts are active while it is 1, absent while it is 0; NULL: always active */
  const char* held;
  double teeth; /* of a ratchet, a whole number; negative: the wheel is free clockwise */
  /* Friction other than the coefficient `friction`; has to outlive the model. In the plane rolling opposes
   * the rate of the angle between the markers; no drilling, no patch. NULL: none */
  const saltus_friction_law* law;
  double height; /* m: of the block of a guide in space, along z */
  SALTUS_RESERVED(3);
} saltus_element_def;

typedef struct saltus_elements {
  const saltus_element_def* items;
  int count;
} saltus_elements;

/* "journal" and so on, as in scenes; NULL past the end. */
SALTUS_API const char* saltus_element_type_name(saltus_element_type type);

SALTUS_END_DECLS

#endif
