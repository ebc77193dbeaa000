/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mechanism.h - queries of a mechanism of body.h: indices of bodies, markers and joints in the state, poses,
 * loads and defects of joints, momentum, mobility, assembly. docs/bodies.md has frames and signs.
 */
#ifndef SALTUS_MECHANISM_H
#define SALTUS_MECHANISM_H

#include "saltus/body.h"

SALTUS_BEGIN_DECLS

/* Numbers of parts. */
typedef struct saltus_mechanism_size {
  int dimension; /* 2 or 3 */
  int bodies, markers, joints, springs, inputs;
  double gravity[3]; /* m/s^2 */
  int shapes;        /* of bodies and the world */
} saltus_mechanism_size;
SALTUS_API saltus_mechanism_size saltus_mechanism_sizes(const saltus_mechanism* mechanism);

/* Indices of names; -1: not found. */
SALTUS_API int saltus_mechanism_find_body(const saltus_mechanism* mechanism, const char* name);
SALTUS_API int saltus_mechanism_find_marker(const saltus_mechanism* mechanism, const char* name);
SALTUS_API int saltus_mechanism_find_joint(const saltus_mechanism* mechanism, const char* name);
SALTUS_API int saltus_mechanism_find_input(const saltus_mechanism* mechanism, const char* name);

/* To be called between steps; later evaluations use the new value. */
SALTUS_API void saltus_mechanism_set_input(saltus_mechanism* mechanism, int input, double value);
SALTUS_API double saltus_mechanism_input(const saltus_mechanism* mechanism, int input);

typedef struct saltus_body_place {
  const char* name;
  saltus_body_kind kind;
  int q, v; /* first coordinate and velocity; -1: none */
  double mass;
  double inertia[6]; /* in body axes; in the plane only the first */
} saltus_body_place;

typedef struct saltus_marker_place {
  const char* name;
  int body;        /* -1: the world */
  double point[3]; /* m, in body axes */
  double angle;    /* rad, of the plane */
  double axes[9];  /* columns are x, y, z in body axes, row major */
} saltus_marker_place;

typedef struct saltus_joint_place {
  const char* name;
  saltus_joint_type type;
  int between[2]; /* markers, or joints of a gear or rack */
  int row, rows;  /* joint rows, those of drives last */
  int angle; /* coordinate of the unwrapped angle; -1: none, or in the plane a difference of two */
  int limits[4]; /* contacts: angle lower and upper, position lower and upper; -1: none */
  int driven[2]; /* rows of the drives of angle and position; -1: none */
} saltus_joint_place;

typedef struct saltus_spring_place {
  const char* name;
  int type;       /* as in saltus_spring_def */
  int between[2]; /* markers */
} saltus_spring_place;

typedef struct saltus_shape_place {
  const char* name;
  saltus_shape_kind kind;
  int body; /* -1: the world */
} saltus_shape_place;

/* "revolute" and so on, as in scenes. */
SALTUS_API const char* saltus_joint_type_name(saltus_joint_type type);

/* Names and connections of bodies, markers, joints, springs and shapes, by index. */
SALTUS_API saltus_body_place saltus_mechanism_body(const saltus_mechanism* mechanism, int body);
SALTUS_API saltus_marker_place saltus_mechanism_marker(const saltus_mechanism* mechanism, int i);
SALTUS_API saltus_joint_place saltus_mechanism_joint(const saltus_mechanism* mechanism, int joint);
SALTUS_API saltus_spring_place saltus_mechanism_spring(const saltus_mechanism* mechanism, int i);
SALTUS_API saltus_shape_place saltus_mechanism_shape(const saltus_mechanism* mechanism, int i);

/* Pose of a body at (t, q): its centre of mass, and its axes as columns, row major. */
SALTUS_API void saltus_mechanism_pose(const saltus_mechanism* mechanism, int body, double t,
                                      const double* q, double position[3], double axes[9]);
/* Pose of a marker at (t, q): its origin in the world, and its axes as columns, row major. */
SALTUS_API void saltus_mechanism_frame(const saltus_mechanism* mechanism, int marker, double t,
                                       const double* q, double position[3], double axes[9]);

/* View of shapes, from infinity along right x up. Lines are silhouettes and visible edges. */
typedef struct saltus_shape_view {
  double right[3], up[3]; /* of length 1, normal to each other */
  double middle[3];       /* m, centre of the drawn part of half-spaces and half-planes */
  double far;             /* m, half of its width */
  /* [count][3] m, world; closed: an area, else a line */
  void (*line)(void* user, bool closed, const double (*point)[3], int count);
  void* user;
} saltus_shape_view;
/* Draws a shape in its pose at (t, q). */
SALTUS_API void saltus_mechanism_draw_shape(const saltus_mechanism* mechanism, int shape, double t,
                                            const double* q, const saltus_shape_view* view);

/* Definition of a shape, in the axes of its body. Valid as long as the mechanism. */
typedef struct saltus_shape_form {
  double position[3], axes[9];    /* of its own axes, which are columns, row major */
  double radius, length, size[3]; /* m, as in saltus_shape_def */
  bool hollow;
  const double (*points)[3]; /* m: corners of a hull, vertices of a mesh or heightfield */
  int point_count;
  const int (*triangles)[3]; /* of a mesh or heightfield */
  int triangle_count;
} saltus_shape_form;
SALTUS_API saltus_shape_form saltus_mechanism_shape_form(const saltus_mechanism* mechanism,
                                                         int shape);
/* Corners of a face of a hull, counter-clockwise from outside: indices of the points of its form. Returns their number; 0 past the
 * last face. */
SALTUS_API int saltus_mechanism_hull_face(const saltus_mechanism* mechanism, int shape, int face,
                                          const int** corner);
/* Draws a planar shape in body axes, independent of the state; right and up are not used. */
SALTUS_API void saltus_mechanism_outline(const saltus_mechanism* mechanism, int shape,
                                         const saltus_shape_view* view);

/* Coordinate of a joint and its rate. */
typedef struct saltus_joint_motion {
  double angle, angle_rate; /* rad, rad/s; NaN if the joint has none */
  double position,
      position_rate; /* m, m/s; NaN if the joint has none; length of a distance joint */
} saltus_joint_motion;
SALTUS_API saltus_joint_motion saltus_mechanism_joint_motion(const saltus_mechanism* mechanism,
                                                             int joint, double t, const double* q,
                                                             const double* v);

/* Multipliers of all joint rows at a state, [nj] N and N m: joint loads under the forces of the mechanism and
 * `applied` [nv], such as contact forces; NULL: none. Redundant rows have the minimum-norm load distribution. */
SALTUS_API saltus_status saltus_mechanism_joint_forces(const saltus_mechanism* mechanism, double t,
                                                       const double* q, const double* v,
                                                       const double* applied, double* lambda);

/* Force and torque of the body of the first marker on that of the second through a joint, drives included, in the axes
 * of the first marker; the torque about the origin of the second. lambda: [rows] of the joint, forces or
 * impulses. Of a gear or rack: force[0] along the coordinate of the first joint, force[1] along that of the
 * second. */
SALTUS_API void saltus_mechanism_joint_load(const saltus_mechanism* mechanism, int joint, double t,
                                            const double* q, const double* lambda, double force[3],
                                            double torque[3]);

/* Violation of a joint including its drives: in m, and in rad. */
SALTUS_API void saltus_mechanism_joint_defect(const saltus_mechanism* mechanism, int joint,
                                              double t, const double* q, double* metres,
                                              double* radians);

typedef struct saltus_mechanism_state {
  double mass;        /* kg, of free bodies, like all below */
  double centre[3];   /* m, centre of mass; zero without free bodies */
  double momentum[3]; /* kg m/s */
  /* kg m^2/s about the origin of the world; in the plane only the third */
  double angular_momentum[3];
  double kinetic, potential;                     /* J; potential of gravity and springs */
  double defect_metres, defect_radians;          /* of the worst joints */
  int defect_metres_joint, defect_radians_joint; /* which; -1: none */
} saltus_mechanism_state;
/* Evaluates *state at (t, q, v). */
SALTUS_API void saltus_mechanism_measure(const saltus_mechanism* mechanism, double t,
                                         const double* q, const double* v,
                                         saltus_mechanism_state* state);

typedef struct saltus_mobility {
  int velocities; /* nv */
  int rows;       /* of joints and drives */
  int rank;       /* of these rows */
  int mobility;   /* velocities - rank: remaining degrees of freedom */
  int redundant;  /* rows - rank */
} saltus_mobility;
/* Counts degrees of freedom at (t, q) by the rank of the constraint Jacobian. SALTUS_ERR_MEMORY. */
SALTUS_API saltus_status saltus_mechanism_mobility(const saltus_mechanism* mechanism, double t,
                                                   const double* q, saltus_mobility* mobility);

typedef struct saltus_assembly {
  double defect_before; /* largest joint row before, m or rad */
  double moved;         /* m or rad, largest displacement of a body */
  int moved_body;       /* which; -1: none moved */
  int joint;            /* joint that stays open; -1: all are closed */
  double gap;           /* m or rad, its remaining defect */
} saltus_assembly;

/* Projects q0 and v0 onto the joints at t0 by the least displacement in the mass metric. SALTUS_ERR_INPUT or
 * SALTUS_ERR_CONTRADICTION with a message, q0 and v0 unchanged, if no displacement closes a joint, or if it is open by
 * more than the tolerance (m and rad). */
SALTUS_API saltus_status saltus_mechanism_assemble(saltus_mechanism* mechanism, double tolerance,
                                                   saltus_log log, saltus_assembly* assembly);

/* Two shapes that overlap. */
typedef struct saltus_overlap {
  const char* shapes[2];
  int bodies[2]; /* -1: the world */
  double depth;  /* m, least translation that separates them */
  double direction
      [3]; /* unit vector: translation of the first shape along it, or of the second in the opposite direction */
  double point[3]; /* m, near where */
} saltus_overlap;

/* Two shapes that may pass through each other within a step: they approach by `approach`, more than half of their
 * combined thickness, beyond which the shortest separation is through the far side. */
typedef struct saltus_passage {
  const char* shapes[2];
  int bodies[2];    /* -1: the world */
  double approach;  /* m, at most */
  double thickness; /* m, of both together */
} saltus_passage;

/* The first pair of this kind in a step of length h from a state, in the order of shapes; false: none. */
SALTUS_API saltus_status saltus_mechanism_passage(const saltus_mechanism* mechanism, double t,
                                                  const double* q, const double* v, double h,
                                                  saltus_passage* passage, bool* found);

/* Cost of contact detection between shapes of two kinds. */
typedef struct saltus_pair_cost {
  const char* kinds[2]; /* in the order of saltus_shape_kind */
  double pairs;         /* of shapes near each other, examined for contacts */
  double contacts;      /* that were found */
  double seconds;       /* wall-clock time */
} saltus_pair_cost;

/* The same between two bodies. */
typedef struct saltus_body_cost {
  int bodies[2];   /* ascending; -1, the world, comes second */
  double pairs;    /* of their shapes near each other */
  double contacts; /* that were found */
  double seconds;  /* that it took */
} saltus_body_cost;

/* Both, in arrays of the caller. Entries beyond the capacity are omitted. */
typedef struct saltus_costs {
  /* [kind_room] the first kind_count of them, in the order in which they were met */
  saltus_pair_cost* kinds;
  saltus_body_cost* bodies; /* [body_room] the first body_count of them, ordered by body */
  int kind_room, kind_count, body_room, body_count;
} saltus_costs;

/* Adds the cost of listing the contacts of a step of length h from a state, times a weight. */
SALTUS_API saltus_status saltus_mechanism_costs(const saltus_mechanism* mechanism,
                                                const saltus_point* at, double h, double weight,
                                                saltus_costs* costs);

/* The bodies of a contact of shapes, ascending; -1, the world, comes second. False: another contact, such as a joint
 * limit. */
SALTUS_API bool saltus_mechanism_contact_bodies(const saltus_mechanism* mechanism,
                                                uint64_t identity, int bodies[2]);

/* Pairs of shapes with a penetration above `deeper` m, in the order of shapes; *count may exceed the capacity. */
SALTUS_API saltus_status saltus_mechanism_overlaps(const saltus_mechanism* mechanism, double t,
                                                   const double* q, double deeper,
                                                   saltus_overlap* list, int capacity, int* count);

/* Separates free bodies by translations until no penetration exceeds the bound; *left: number of violating pairs after 500
 * iterations. Joints are ignored. */
SALTUS_API saltus_status saltus_mechanism_separate(const saltus_mechanism* mechanism, double t,
                                                   double deeper, double* q, int* left);

SALTUS_END_DECLS

#endif
