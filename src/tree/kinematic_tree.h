/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kinematic_tree.h - spanning trees of a mechanism, their state at a point, and shared functions of the folder.
 *
 * Twists (w, l) and wrenches (n, f) are in world axes at the origin O of the tree, the centre of its first body, as if O
 * were at rest: l is the velocity of the point of the body that is at O, n the moment about O. Each velocity has a
 * screw S; those of a ball turn with the body, all others have their axes fixed on both sides.
 *
 *   V = sum S_j v_j over the path,   S_j' = V x S_j,   f = I A + V x* I V       (Featherstone 2008, chapters 2, 4 and
 * 5)
 */
#ifndef SALTUSI_KINEMATIC_TREE_H
#define SALTUSI_KINEMATIC_TREE_H

#include "base/pool.h"
#include "body/mechanism.h"
#include "saltus/tree.h"

#include <string.h>

typedef enum saltusi_tree_axis_kind {
  SALTUSI_AXIS_WORLD, /* along an axis of the world: a body without a joint */
  SALTUSI_AXIS_BODY,  /* about an axis of the body through its centre: likewise */
  SALTUSI_AXIS_TURN,  /* about an axis of a marker */
  SALTUSI_AXIS_SLIDE, /* along it */
  SALTUSI_AXIS_SCREW  /* both */
} saltusi_tree_axis_kind;

/* One velocity. */
typedef struct saltusi_tree_axis {
  saltusi_tree_axis_kind kind;
  int link;
  int parent;   /* the velocity before it on the path; -1: none */
  int depth;    /* velocities before it on the path */
  int first;    /* first velocity whose axis rotates with the same body */
  size_t entry; /* of its path in factors */
  int end, i;   /* marker of the joint and its axis */
  double sign;  /* -1: the joint leads from the body to its parent */
  double pitch; /* m/rad, of a screw */
} saltusi_tree_axis;

/* A body of a tree, parents before children. */
typedef struct saltusi_tree_link {
  int body;      /* of the mechanism */
  int q, v;      /* its pose and velocity in the state of the bodies */
  int parent;    /* link; -1: the world or a fixed body */
  int root;      /* first link of its tree */
  int joint;     /* of the mechanism; -1: none */
  int child;     /* which marker of the joint is on this body */
  int axis;      /* its first velocity */
  int axes;      /* their number */
  int last;      /* last velocity of its path, -1: none */
  int marker[2]; /* of the joint */
  saltus_joint_type type;
  double quaternion[2][4]; /* of the markers in their bodies */
  double still[7];         /* pose of a parent that does not move */
  double still_angle;      /* in the plane */
  double turns; /* angle between the markers of a joint in the plane that does not turn */
  int slot;     /* coordinate of the unwrapped angle; -1: none */
} saltusi_tree_link;

/* A spring, a damper and an actuator along the coordinate of a joint in the tree. */
typedef struct saltusi_tree_drive {
  const saltusi_force_along* force;
  const saltus_tree_law* law; /* NULL: by the force */
  int link, axis;
  bool angle;
  double ratio; /* rate of the coordinate over the velocity */
} saltusi_tree_drive;

/* Joint of this system: rows of a joint of the inner one. */
typedef struct saltusi_tree_kept {
  int joint;       /* of the inner system */
  int first, rows; /* among its rows */
} saltusi_tree_kept;

struct saltus_tree {
  saltusi_pool pool; /* holds this struct too */
  saltus_system system;
  saltus_system_ops ops;
  const saltus_system* inner;
  const saltus_mechanism* mechanism;
  bool plane;
  int links, axes, drives, roots, kept_count;
  saltusi_tree_link* link;
  int* link_of; /* [free bodies] by v of the body over its number of velocities */
  saltusi_tree_axis* axis;
  saltusi_tree_drive* drive;
  saltusi_tree_kept* kept;
  int* row_of;    /* [nj] of the inner system */
  size_t entries; /* sum of path lengths */
  int longest;    /* path */
  bool couples;   /* forces may couple bodies: a matrix that is dense where they do */
  bool unwraps;   /* angles beside those of joints in the tree */
  bool balls;     /* joints whose rates turn with the body */
  double *q0, *v0;
};

/* A body at a point. */
typedef struct saltusi_tree_link_state {
  double x[3], R[9], r[3]; /* r = x - O */
  double V[6], A[6];       /* A: at v' = 0 */
} saltusi_tree_link_state;

typedef struct saltusi_tree_axis_state {
  double S[6];
  double before[6], A[6]; /* twist and its rate at v' = 0 ahead of this joint */
  double dS[6];
} saltusi_tree_axis_state;

/* Sums over a subtree. */
typedef struct saltusi_tree_composite {
  double mass, h[3], I[9]; /* about O */
  double f[6];             /* forces of inertia without v', less forces of the system */
  double D[36];            /* 2 B - C2: f by the change of twists */
  double C[36];            /* C1: forces by displacements */
} saltusi_tree_composite;

/* Workspace of an evaluation behind that of the inner system. */
typedef struct saltusi_tree_state {
  double *key_q, *key_v; /* of the state below */
  int* known;            /* 0: no state, 1: without, 2: with velocities */
  saltusi_tree_link_state* link;
  saltusi_tree_axis_state* axis;
  double *v_inner, *a_inner;   /* [nv of the inner system] velocities, accelerations at v' = 0 */
  double* F;                   /* [nv inner] */
  double* wrench;              /* [6 links] */
  saltusi_tree_composite* sum; /* [links] */
  double *fv, *fq;             /* blocks of the inner system */
  double* operators;           /* [links x 108] of articulated bodies */
  double* rows;                /* [SALTUSI_TREE_ROWS x nv inner] */
  double* joints;              /* [nj inner] */
  int* column;                 /* [nv inner] */
  int* merged;                 /* [2 nv] */
  double* path;                /* [nv x 18] columns a, d and S of the velocities */
  double* eliminated;          /* [nv x 31] rows, columns and pivots of articulated bodies */
  double* along;               /* [24 x longest] columns and screws along a path */
} saltusi_tree_state;

/* Rows of a contact or joint; velocities of bodies that callbacks without scratch keep on the stack. */
enum { SALTUSI_TREE_ROWS = 16, SALTUSI_TREE_STACK = 2048 };

/* ---- small vectors ---- */

static inline double saltusi_dot6(const double a[6], const double b[6]) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* V x S of twists; out is neither */
static inline void saltusi_twist_cross(const double V[6], const double S[6], double out[6]) {
  double a[3], b[3];
  saltusi_cross(V, S, out);
  saltusi_cross(V, S + 3, a);
  saltusi_cross(V + 3, S, b);
  for (int k = 0; k < 3; k++) {
    out[3 + k] = a[k] + b[k];
  }
}

/* V x* f of a twist and a wrench; out is neither */
static inline void saltusi_wrench_cross(const double V[6], const double f[6], double out[6]) {
  double a[3], b[3];
  saltusi_cross(V, f + 3, out + 3);
  saltusi_cross(V, f, a);
  saltusi_cross(V + 3, f + 3, b);
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] + b[k];
  }
}

/* Wrench about O of a force and a torque (world axes) at r. */
static inline void saltusi_wrench_at(const double r[3], const double force[3],
                                     const double torque[3], double out[6]) {
  double moment[3];
  saltusi_cross(r, force, moment);
  for (int k = 0; k < 3; k++) {
    out[k] = torque[k] + moment[k];
    out[3 + k] = force[k];
  }
}

/* ---- spanning_tree.c ---- */
saltus_status saltusi_tree_span(saltus_tree* tree, const saltus_tree_def* def);

/* ---- positions.c ---- */
void saltusi_tree_advance(const void* self, const double* q, const double* v, double h, double* q1);
void saltusi_tree_difference(const void* self, const double* q0, const double* q1, double* d);
void saltusi_tree_normalise(const void* self, double* q);
void saltusi_tree_rate(const void* self, const double* q, const double* v, double* dq);
void saltusi_tree_turn_momentum(const void* self, const double* d, const double* p, double* y);
/* Velocities of bodies from those of joints. */
void saltusi_tree_expand(const saltus_tree* tree, const double* q, const double* v, double* bodies);
/* Angle or position of the joint of a link. */
double saltusi_tree_coordinate(const saltus_tree* tree, const saltusi_tree_link* link, bool angle,
                               const double* q);

/* ---- kinematics.c ---- */
size_t saltusi_tree_lay_out(const saltus_tree* tree, void* scratch, saltusi_tree_state* to);
/* State at a point; computed again only after q or v changed. */
void saltusi_tree_at(const saltus_tree* tree, const saltus_point* at, saltusi_tree_state* to);
/* The same, and the point of the inner system. */
saltus_point saltusi_tree_inside(const saltus_tree* tree, const saltus_point* at,
                                 saltusi_tree_state* to);
/* Centre and axes of a body, and of its parent. */
typedef struct saltusi_tree_pose {
  double x[3], R[9];
} saltusi_tree_pose;
void saltusi_tree_pose_of(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                          saltusi_tree_pose* out);
void saltusi_tree_parent_pose(const saltus_tree* tree, const saltusi_tree_link* l, const double* q,
                              saltusi_tree_pose* out);
/* Screws of the velocities of a link about O. */
void saltusi_tree_screws(const saltus_tree* tree, const saltusi_tree_link* l,
                         const saltusi_tree_pose* own, const saltusi_tree_pose* parent,
                         const double O[3], double S[6][6]);
/* Velocity of a body in the inner system from a twist. */
void saltusi_tree_from_twist(const saltus_tree* tree, const saltusi_tree_link_state* x,
                             const double V[6], double* v);
/* Force on a body of the inner system as a wrench. */
void saltusi_tree_wrench(const saltus_tree* tree, const saltusi_tree_link_state* x, const double* F,
                         double out[6]);

/* ---- dynamics.c ---- */
void saltusi_tree_mass(const void* self, const saltus_point* at, double* M);
void saltusi_tree_force(const void* self, const saltus_point* at, double* F);
void saltusi_tree_mass_times(const void* self, const saltus_point* at, const double* x, double* y);
void saltusi_tree_kinetic_gradient(const void* self, const saltus_point* at, double* T_q);
void saltusi_tree_mass_q(const void* self, const saltus_point* at, double* Mv_q);
double saltusi_tree_kinetic(const void* self, const saltus_point* at);
double saltusi_tree_potential(const void* self, const saltus_point* at);
void saltusi_tree_power(const void* self, const saltus_point* at, double power[2]);
/* Inertia of each body about O; sums of inertia and f over subtrees. */
void saltusi_tree_own_inertia(const saltus_tree* tree, const saltusi_tree_state* x);
void saltusi_tree_sum_inertia(const saltus_tree* tree, const saltusi_tree_state* x);
/* Momentum (w, l) -> (n, f) of a composite. */
void saltusi_tree_momentum(const saltusi_tree_composite* c, const double V[6], double out[6]);
/* Inertia of the velocity of a drive by its armature. */
static inline double saltusi_tree_armature(const saltusi_tree_drive* drive) {
  return drive->ratio * drive->ratio * drive->force->armature;
}
/* Spring, damper and actuator of a drive: force, and its slopes by the coordinate and its rate. */
double saltusi_tree_drive_force(const saltus_tree* tree, const saltusi_tree_drive* drive,
                                const saltus_point* at, double slope[2]);

/* ---- jacobians.c ---- */
/* Inertia, f, D and C of each body alone, and the columns of the velocities in x->path. True: forces couple bodies. */
bool saltusi_tree_slopes(const saltus_tree* tree, const saltus_point* at, const double factor[3],
                         saltusi_tree_state* x);
/* Their sums over subtrees, and A = m M + fv F_v + fq F_q [nv x nv]. */
void saltusi_tree_dense(const saltus_tree* tree, const saltus_point* at, const double factor[3],
                        saltusi_tree_state* x, double* A);
/* What the drive i adds to its diagonal entry. */
double saltusi_tree_drive_entry(const saltus_tree* tree, int i, const saltus_point* at,
                                const double factor[3]);
void saltusi_tree_force_q(const void* self, const saltus_point* at, double* F_q);
void saltusi_tree_force_v(const void* self, const saltus_point* at, double* F_v);

/* ---- factors.c ---- */
extern const saltus_linear_ops saltusi_tree_linear;

/* ---- rows.c ---- */
void saltusi_tree_contact(const void* self, const saltus_point* at, uint64_t identity,
                          saltus_rows* rows);
void saltusi_tree_joint(const void* self, const saltus_point* at, int joint, saltus_rows* rows);
void saltusi_tree_joints(const void* self, const saltus_point* at, double* g);
void saltusi_tree_dry(const void* self, const saltus_point* at, int i, saltus_rows* rows);

#endif
