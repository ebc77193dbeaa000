/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * robot.h - a robot in URDF: links, joints between them, and unused elements of the file. Frames
 * are those of URDF: that of a link is at its joint, its inertial frame is given in it.
 */
#ifndef SALTUSI_ROBOT_H
#define SALTUSI_ROBOT_H

#include "base/log.h"
#include "saltus/urdf.h"
#include "urdf/frame.h"
#include "urdf/xml.h"

typedef enum saltusi_robot_kind {
  SALTUSI_ROBOT_REVOLUTE, /* continuous too: it has no limits then */
  SALTUSI_ROBOT_PRISMATIC,
  SALTUSI_ROBOT_FIXED,
  SALTUSI_ROBOT_FLOATING,
  SALTUSI_ROBOT_PLANAR,
  SALTUSI_ROBOT_CYLINDRICAL, /* these three close loops only */
  SALTUSI_ROBOT_SPHERICAL,
  SALTUSI_ROBOT_UNIVERSAL
} saltusi_robot_kind;

/* Mass, centre of mass and inertia about it, both in the axes of one frame. */
typedef struct saltusi_robot_mass {
  double mass;       /* kg */
  double centre[3];  /* m */
  double inertia[9]; /* kg m^2 */
} saltusi_robot_mass;

typedef enum saltusi_robot_shape_kind {
  SALTUSI_ROBOT_BOX,
  SALTUSI_ROBOT_SPHERE,
  SALTUSI_ROBOT_CYLINDER,
  SALTUSI_ROBOT_CAPSULE,
  SALTUSI_ROBOT_MESH,
  SALTUSI_ROBOT_ELLIPSOID, /* these two of MJCF only */
  SALTUSI_ROBOT_HALF_SPACE
} saltusi_robot_shape_kind;

/* A <collision> of a link. */
typedef struct saltusi_robot_shape {
  saltusi_robot_shape_kind kind;
  int line;
  double size[3];           /* m: lengths of a box; radius, length; scales of a mesh */
  const char* file;         /* of a mesh */
  saltusi_urdf_frame place; /* in the frame of the link */
  const char* label;
  unsigned touches[2]; /* contype and conaffinity of MJCF */
  int material;        /* of MJCF */
  double colour[3];    /* of a visual; the first negative: none */
} saltusi_robot_shape;

typedef struct saltusi_robot_shapes {
  saltusi_robot_shape* list;
  int count;
} saltusi_robot_shapes;

typedef struct saltusi_robot_link {
  const char* name;
  int line;
  bool inertial;            /* it has mass properties */
  saltusi_robot_mass mass;  /* in its frame */
  int joint;                /* whose child it is; -1: the root */
  saltusi_urdf_frame place; /* in the world, at the start */
  int body;                 /* body of the link; -1: the ground */
  const char* marker;       /* its frame in the scene */
  saltusi_robot_shapes shapes, visuals;
  int unknown_mass;   /* line of a part whose mass is not computed; 0: none */
  double lift;        /* share of its weight that is compensated */
  const char* lifted; /* marker of its centre of mass there */
  int carries;        /* a link between two joints of one body: the link of that body; 0: none */
} saltusi_robot_link;

typedef struct saltusi_robot_joint {
  const char* name;
  int line;
  saltusi_robot_kind kind;
  bool loop; /* a <constraint>: it closes a loop */
  int parent, child;
  double xyz[3], rpy[3];           /* origin in the parent's frame: m, rad */
  double axis[3];                  /* unit, in the joint's frame */
  saltusi_urdf_frame origin;       /* the same as a frame */
  saltusi_urdf_frame child_origin; /* in the child's frame; of a tree in URDF that frame */
  double child_axis[3];            /* of a loop */
  bool anchored; /* a loop whose frame in the child follows from the reference configuration */
  bool limited;
  double lower, upper; /* m or rad */
  double damping;      /* N s/m or N m s/rad */
  double friction;     /* N or N m */
  double stiffness, rest, armature;
  bool effort_limited;
  double effort[2];  /* N or N m, of all actuators */
  double reduction;  /* of a transmission of URDF; 0: none */
  const char* motor; /* input of a motor of URDF; NULL: none */
  double reference;  /* coordinate of the file where that of the scene is 0 */
  double initial;    /* requested start: m or rad */
  bool has_pose;     /* requested start of a floating or spherical joint: */
  saltusi_urdf_frame posed;
  int mimic; /* the joint that it follows, or -1 */
  const char* mimic_name;
  int mimic_line;
  double multiplier, offset;
  double start;        /* its value at the start: m or rad */
  bool merged;         /* its links are one body */
  const char* label;   /* its name in the scene */
  const char* mark[2]; /* its frames there */
  const char* mimic_label;
} saltusi_robot_joint;

typedef struct saltusi_robot_body {
  int top;                 /* the link nearest to the root: its axes are those of the body */
  saltusi_robot_mass mass; /* in the frame of that link */
  const char* label;
} saltusi_robot_body;

/* A file of the robot; its lines follow those of the file before. */
typedef struct saltusi_robot_source {
  const char* file;
  int first, lines;
} saltusi_robot_source;

typedef struct saltusi_mjcf saltusi_mjcf;

typedef struct saltusi_robot {
  const char* file;
  const saltusi_xml_node* root;
  saltusi_pool* pool;
  saltus_log log;
  saltus_status status; /* of the first failure */
  const char* name;
  const char* prefix; /* of all names in the scene, before a line below; NULL: none */
  double position[3]; /* m, of the root link */
  int link_count, joint_count, body_count;
  saltusi_robot_link* links;
  saltusi_robot_joint* joints; /* loops among them */
  saltusi_robot_body* bodies;
  int* order; /* [link_count] parents before children */
  bool grounded;
  bool shaped; /* a link has a collision shape */
  saltus_urdf_note* notes;
  int* note_times; /* how often */
  int note_count;
  size_t note_room, times_room;
  saltusi_robot_source* sources; /* of MJCF */
  int source_count;
  int shape_count;    /* of MJCF */
  saltusi_mjcf* mjcf; /* NULL: a URDF */
} saltusi_robot;

/* "file:line: ..." once; later failures are consequences and stay silent. */
void saltusi_robot_refuse(saltusi_robot* robot, int line, const char* format, ...)
    SALTUSI_PRINTF(3, 4);

/* Lists a part of the file that the scene omits, or a default that was chosen. */
void saltusi_robot_note(saltusi_robot* robot, int line, const char* format, ...)
    SALTUSI_PRINTF(3, 4);

/* Whether the file of a mesh is STL, OBJ or DAE in the folder of the robot or below it; listed if not. */
bool saltusi_robot_mesh_path(saltusi_robot* robot, int line, const char* owner, const char* path);

/* Colour of four numbers within 0 to 1; false: text is NULL or refused. */
bool saltusi_robot_colour(saltusi_robot* robot, const saltusi_xml_node* node, const char* text,
                          double colour[3]);

/* The <collision> and <visual> parts of a link. */
void saltusi_robot_read_collisions(saltusi_robot* robot, const saltusi_xml_node* node,
                                   const char* owner, saltusi_robot_link* link);

/* File and line there of a line that counts on over all files. */
const char* saltusi_robot_place(const saltusi_robot* robot, int line, int* local);

/* Replaces <include> by the elements of files in the folder of `path`, NULL: none are read. */
saltus_status saltusi_mjcf_include(saltusi_robot* robot, saltusi_xml_node* root, const char* text,
                                   size_t length, const char* path);

/* Whether a path stays in its folder. */
bool saltusi_path_inside(const char* path);

/* Adds b, given in `frame`, to a. */
void saltusi_robot_join_masses(saltusi_robot_mass* a, const saltusi_robot_mass* b,
                               const saltusi_urdf_frame* frame);

/* Value of a joint at the start of the scene. */
double saltusi_robot_scene_start(const saltusi_robot_joint* joint);

/* Longest quotation of the file in a message. */
#define SALTUSI_ROBOT_QUOTE "\"%.60s\""

/* The steps, each of which returns robot->status: tree of XML to links and joints; start values and
 * frames; links to bodies; names for the scene; its text, which the pool owns. */
saltus_status saltusi_robot_read(saltusi_robot* robot, const saltusi_xml_node* root);
saltus_status saltusi_mjcf_read(saltusi_robot* robot, const saltusi_xml_node* root,
                                const saltus_urdf_def* def);
saltus_status saltusi_robot_assemble(saltusi_robot* robot);
saltus_status saltusi_robot_make_bodies(saltusi_robot* robot, const saltus_urdf_def* def);
saltus_status saltusi_robot_name(saltusi_robot* robot);
saltus_status saltusi_robot_write(saltusi_robot* robot, const saltus_urdf_def* def,
                                  const char** text);

#endif
