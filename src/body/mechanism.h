/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mechanism.h - a mechanism after its definition was read: flat arrays of bodies, markers, rows and forces.
 *
 * Every joint row, limit, drive and spring is a row: a sum of at most two terms, each a scalar function of two marker
 * frames (terms.c). The coordinate of a joint is a row as well.
 */
#ifndef SALTUSI_MECHANISM_H
#define SALTUSI_MECHANISM_H

#include "base/index.h"
#include "base/pool.h"
#include "math/rotation.h"
#include "saltus/mechanism.h"

/* Bit of the identities of fixed contacts, which feature pairs do not have: limit i of a joint is SALTUSI_LISTED + i,
 * formulas follow (src/model). For feature pairs see shape/world.h. */
#define SALTUSI_LISTED ((uint64_t)1 << 63)

/* A signal with the index of its input. */
typedef struct saltusi_signal {
  saltus_signal given;
  int input; /* -1: none */
} saltusi_signal;

typedef struct saltusi_pose {
  double x[3];  /* m, centre of mass */
  double R[9];  /* body to world */
  double angle; /* rad, of the plane */
} saltusi_pose;

/* Velocities of a body, and accelerations of a driven one; zero otherwise. */
typedef struct saltusi_body_motion {
  double v[3], w[3];  /* world axes; body axes */
  double a[3], dw[3]; /* the same */
} saltusi_body_motion;

typedef struct saltusi_body {
  const char* name;
  saltus_body_kind kind;
  int q, v; /* first coordinate and velocity; -1: none */
  double mass;
  double I[9];       /* in body axes; in the plane I[8] alone */
  bool round;        /* I is a multiple of the unit matrix: no gyroscopic torque */
  saltusi_pose pose; /* initial pose; for a driven body R is the constant factor after R(t) */
  saltusi_signal position[3], rotation[3]; /* of a driven body */
  double axis[3];                          /* of length 1, or zero: roll, pitch, yaw */
  bool by_shapes;                          /* mass and inertia are those of its shapes */
  double origin[3]; /* m, centre of mass in the axes in which shapes and markers are given */
} saltusi_body;

typedef struct saltusi_marker {
  const char* name;
  int body;          /* the last body is the world */
  double r[3];       /* in body axes */
  double axis[3][3]; /* x, y, z in body axes */
  double angle;      /* rad, of the plane */
} saltusi_marker;

typedef enum saltusi_term_kind {
  SALTUSI_TERM_ALONG,    /* (p_b - p_a) . a_i */
  SALTUSI_TERM_WORLD,    /* (p_b - p_a) . e_i */
  SALTUSI_TERM_DOT,      /* a_i . b_j */
  SALTUSI_TERM_DISTANCE, /* |p_b - p_a| */
  SALTUSI_TERM_ANGLE,    /* of b_x in the xy plane of a, unwrapped: coordinate q */
  SALTUSI_TERM_PLANE     /* angle_b - angle_a, of the plane */
} saltusi_term_kind;

typedef struct saltusi_term {
  saltusi_term_kind kind;
  int link; /* 0 or 1: which pair of markers */
  int i, j;
  int q;
  int turned; /* for an angle relative to a driven body: coordinate that counts revolutions; 0: none */
  double weight;
} saltusi_term;

/* sum of weight x term - offset - target(t) */
typedef struct saltusi_joint_row {
  int terms;
  saltusi_term term[2];
  double offset;
  bool has_target, by_speed; /* by_speed: target is the integral of the signal from t0 */
  saltusi_signal target;
} saltusi_joint_row;

/* Pairs of markers whose bodies a row connects, and their velocities. */
typedef struct saltusi_link {
  int links;
  int marker[2][2];
  int width;
  int column[24];  /* ascending */
  int place[2][2]; /* index of the first velocity of each body in `column`; -1: none */
} saltusi_link;

typedef struct saltusi_joint {
  const char* name;
  saltus_joint_type type;
  int between[2];
  saltusi_link link;
  int row, rows; /* first row of the system; rows of `m->rows` have the same indices */
  bool has_angle, has_position;
  saltusi_joint_row angle, position; /* coordinates */
  int angle_q;                       /* -1: none */
  int limits[4];                     /* contacts, -1: none */
  int driven[2];                     /* rows, -1: none */
} saltusi_joint;

/* Data of a joint that fixes a point of b in a, contiguous for the step. */
typedef struct saltusi_hold {
  int body[2];
  int v[2]; /* first velocity of each body; -1: none */
  int row, rows;
  int i[3];           /* rows after those of the point, in the plane at most one: axis of a, */
  bool plain;         /* false: another joint type, or a prescribed motion */
  double r[3];        /* the point in body axes of b */
  double axis[3][3];  /* of a */
  double other[3][3]; /* axes of b */
  double weight[3];
} saltusi_hold;

typedef struct saltusi_limit {
  int joint;
  const saltusi_joint_row* row;
  double sign; /* gap = sign (row - at) */
  double at;
} saltusi_limit;

/* Dry friction along a coordinate of a joint. */
typedef struct saltusi_joint_friction {
  int joint;
  const saltusi_joint_row* row;
} saltusi_joint_friction;

/* -k (row - rest) - d row' + actuator, along the row. */
typedef struct saltusi_force_along {
  const char* name; /* of a spring between markers; NULL: of a joint */
  const saltusi_link* link;
  const saltusi_joint_row* row;
  double stiffness, rest, damping;
  double armature; /* inertia of the coordinate, in a system in joint coordinates */
  bool actuated;
  saltusi_signal actuator;
  bool taken;   /* acts in a system in joint coordinates; here it has energy and power only */
  int block[2]; /* of the structure; -1: the body is not free */
  int pair;     /* of the structure; -1: none */
} saltusi_force_along;

/* A force and a torque at a marker. */
typedef struct saltusi_load {
  int marker;
  saltusi_signal force[3], torque[3];
  bool turns; /* with the marker */
} saltusi_load;

/* An angle in space: coordinate q. Relative to a driven body it is the part of the free body, since q' = N(q) v does
 * not depend on t. */
typedef struct saltusi_unwrapped {
  const char* name; /* of the joint or spring */
  int marker[2];
  int q;
  bool parallel; /* a joint keeps the z axes so */
  bool driven;   /* one of the bodies is */
} saltusi_unwrapped;

struct saltus_mechanism {
  saltusi_pool pool; /* holds this struct too */
  saltus_system system;
  saltus_system_ops ops;
  saltus_structure structure;
  bool plane;
  double gravity[3];
  double t0;
  int body_count; /* without the world, which is bodies[body_count] */
  int marker_count, joint_count, limit_count, dry_count, force_count, load_count, angle_count,
      input_count;
  int free_count; /* bodies with coordinates */
  saltusi_body* bodies;
  int* free_bodies; /* [free_count] */
  saltusi_marker* markers;
  saltusi_joint* joints;
  saltusi_hold* holds;     /* [joint_count] */
  saltusi_joint_row* rows; /* [nj] */
  int* joint_of;           /* [nj] */
  saltusi_limit* limits;
  saltusi_joint_friction* dries; /* [dry_count] */
  saltus_dry_friction* dry;      /* in the form of saltus_system */
  saltus_contact_law* laws;      /* [law_count] those of limits first */
  int law_count;
  struct saltusi_world* world; /* NULL: no shapes */
  int* shape_body;             /* [shapes of the definition] */
  int* material_law;           /* of the world */
  saltusi_force_along* forces;
  saltusi_load* loads;
  int* pull_start; /* [free_count + 1] first entry in `pulls` of the forces on each free body */
  int* pulls;      /* [2 force_count] */
  int* load_first; /* [free_count] first load on each free body; -1: none */
  int* load_next;  /* [load_count] the next on the same body */
  saltusi_unwrapped* angles;
  saltus_spring_place* springs; /* [spring_count] for reports */
  int spring_count;
  double* inputs;
  double *q0, *v0;
  saltusi_index body_names, marker_names, joint_names, input_names;
};

/* ---- signals and poses (pose.c) ---- */

/* Value, first and second derivative. */
void saltusi_signal_at(const saltus_mechanism* m, const saltusi_signal* signal, double t,
                       double out[3]);
/* The same for the target of a row; for a speed, its integral. */
void saltusi_target_at(const saltus_mechanism* m, const saltusi_joint_row* row, double t,
                       double out[3]);
/* Rotation of a driven body about z of one of its markers since the start, rad. */
double saltusi_driven_turn(const saltus_mechanism* m, int marker, double t);
/* Signal of the rotation about the world axis `axis` if it is the only rotation; -1: none or several. */
int saltusi_driven_axis(const saltus_mechanism* m, int body, double axis[3]);
void saltusi_pose_at(const saltus_mechanism* m, int body, double t, const double* q,
                     saltusi_pose* pose);
void saltusi_motion_at(const saltus_mechanism* m, int body, double t, const double* v,
                       saltusi_body_motion* motion);

/* ---- coordinates of the state (coordinates.c) ---- */

void saltusi_mechanism_rate(const void* self, const double* q, const double* v, double* dq);
void saltusi_mechanism_advance(const void* self, const double* q, const double* v, double h,
                               double* q1);
/* The same without angles, for mechanisms whose joints and forces use none. */
void saltusi_mechanism_advance_bodies(const void* self, const double* q, const double* v, double h,
                                      double* q1);
void saltusi_mechanism_difference(const void* self, const double* q0, const double* q1, double* d);
void saltusi_mechanism_normalise(const void* self, double* q);
void saltusi_mechanism_turn_momentum(const void* self, const double* d, const double* p, double* y);

#endif
