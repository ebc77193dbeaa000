/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * random_machines.h - random machines of 2 to 8 bodies with shapes, joints, friction and drives, as scenes that can be
 * mirrored, rotated, renumbered and written in other units, and their closed forms. For the study `random-machines`.
 */
#ifndef RANDOM_MACHINES_H
#define RANDOM_MACHINES_H

#include "adversarial_case.h"

enum { MACHINE_BODIES = 8, MACHINE_SHAPES = 5, MACHINE_JOINTS = 10, MACHINE_POINTS = 8 };
enum { MACHINE_MATERIALS = 3, MACHINE_WALLS = 3, MACHINE_FAMILIES = 10 };

typedef enum machine_kind {
  MACHINE_ROUND, /* circle, sphere */
  MACHINE_CAPSULE,
  MACHINE_BOX,     /* polygon of four points, box */
  MACHINE_POINTED, /* polygon, hull */
  MACHINE_BAR,     /* segment with a radius; cylinder */
  MACHINE_CONE,    /* in space from here on */
  MACHINE_ELLIPSOID,
  MACHINE_TORUS,
} machine_kind;

/* A shape of a body, in its axes. The plane is z = 0. */
typedef struct machine_shape {
  machine_kind kind;
  double size
      [3]; /* m: semi-axes of boxes and ellipsoids; radius and length, or the two radii of a torus, of others */
  double x[3], q[4];
  double point[MACHINE_POINTS][3];
  int points, material;
} machine_shape;

typedef struct machine_body {
  double mass, inertia[3];       /* about its axes; [2] in the plane */
  double x[3], q[4], v[3], w[3]; /* velocities in world axes */
  machine_shape shape[MACHINE_SHAPES];
  int shapes;
} machine_body;

/* A joint about or along the z axis of its frame, in the plane along x. */
typedef struct machine_joint {
  const char* type;
  int body[2]; /* -1: the world */
  double at[2][3],
      q[4]; /* world points and axes of its markers at the start; the points of a distance differ */
  double push[3]; /* actuator: [0] sin([1] t + [2]), N m or N */
  double stiffness, damping, dry,
      limit;  /* limit: the coordinate is within +- limit; 0: none of it */
  bool drive; /* the angle is prescribed: [0] (1 - cos([1] t)) */
} machine_joint;

/* Displacement s of all bodies along a direction: rest, or constant acceleration and, with friction, a stop. */
typedef struct machine_exact {
  bool known;
  double along[3], v, a, after; /* m/s, m/s^2: acceleration until v is zero, and after that */
} machine_exact;

typedef struct machine {
  int dimension, bodies, joints, walls;
  machine_body body[MACHINE_BODIES];
  machine_joint joint[MACHINE_JOINTS];
  double gravity[3];
  double wall[MACHINE_WALLS][2][3]; /* point and outer normal */
  double mu[MACHINE_MATERIALS], e[MACHINE_MATERIALS];
  double t_end; /* s */
  machine_exact exact;
} machine;

/* How a machine is written: x -> length Q S x, and the same of all others. */
typedef struct machine_view {
  bool mirrored, reversed;   /* S: y -> -y; the order of bodies and joints */
  double q[4];               /* Q */
  double length, mass, time; /* units */
} machine_view;

const char* machine_family(int number);
/* shake: relative change of masses, gravity, friction, motors and velocities. */
void machine_make(int number, double shake, machine* m);
machine_view machine_plain(void);
machine_view machine_turned(int number, const machine* m);
void machine_write(const machine* m, const machine_view* view, adversarial_case* text);

/* Body i from the coordinates of the scene that was written so: position and rotation matrix. */
void machine_read(const machine* m, const machine_view* view, const double* q, int i, double* x,
                  double* R);

/* Displacement of a closed form at t. */
double machine_displacement(const machine_exact* exact, double t);

/* ---- vectors and quaternions (w, x, y, z) ------------------------------------------------------------------ */

void machine_rotate(const double* q, const double* x, double* y);
void machine_product(const double* p, const double* q, double* r);
void machine_inverse(const double* q, double* r);
void machine_about(const double* axis, double angle, double* q);

#endif
