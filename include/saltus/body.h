/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body.h - mechanisms: rigid bodies in the plane or in space, markers on them, joints, springs and inputs,
 * as one saltus_system.
 *
 *   body in the plane   q = x, y, angle                       v = x', y', angle'
 *   body in space       q = x, y, z, qw, qx, qy, qz           v = x', y', z' in world axes,
 *                                                                 wx, wy, wz in body axes
 *
 * x, y, z is the centre of mass, the quaternion rotates body axes into world axes. Joints connect markers: points
 * with axes on a body, or in the world. The axis of a joint is z of its markers; a prismatic joint in the plane
 * moves along x of the first one. In space the angle of a joint is a separate coordinate after those of all bodies,
 * unwrapped over any number of revolutions; it has no velocity. docs/bodies.md has rows, frames and signs.
 *
 * Everything is referred to by name. A definition is read during creation; data of signals must
 * outlive the mechanism.
 */
#ifndef SALTUS_BODY_H
#define SALTUS_BODY_H

#include "saltus/api.h"
#include "saltus/enclosure.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/orientation.h"
#include "saltus/shape.h"
#include "saltus/status.h"
#include "saltus/system.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* A function of time: the constant `value`, an input, or a callback. */
typedef struct saltus_signal {
  double value;
  const char* input; /* NULL, or the name of an input: its value, with derivatives zero */
  /* NULL, or value, first and second derivative */
  void (*evaluate)(const void* self, double t, double out[3]);
  double (*integral)(const void* self, double t0, double t1); /* NULL: by quadrature */
  /* Taylor coefficients over a range, as in enclosure.h: t and out have order + 1. NULL: unbounded. */
  void (*along)(const void* self, int order, const saltus_interval* t, saltus_interval* out);
  const void* self;
  SALTUS_RESERVED(2);
} saltus_signal;

typedef enum saltus_body_kind {
  SALTUS_BODY_FREE,
  SALTUS_BODY_FIXED, /* no coordinates; keeps its initial pose */
  SALTUS_BODY_DRIVEN /* no coordinates; motion prescribed by its signals */
} saltus_body_kind;

/* The pose of a driven body: R(t) times the orientation of its definition. */
typedef struct saltus_driven_pose {
  saltus_signal position[3]; /* m */
  saltus_signal rotation[3]; /* rad; in the plane only the first */
  double axis[3];            /* in space: of rotation[0]; zero: roll, pitch and yaw */
  SALTUS_RESERVED(2);
} saltus_driven_pose;

typedef struct saltus_body_def {
  const char* name;
  saltus_body_kind kind;
  double mass; /* kg */
  double inertia
      [6]; /* kg m^2 about the centre of mass: xx, yy, zz, xy, xz, yz (entries of the matrix); in the plane only the first */
  saltus_orientation inertia_orientation; /* of the axes of `inertia` in the body */
  double position[3];                     /* m, of the centre of mass */
  saltus_orientation orientation;
  double velocity[3];         /* m/s in world axes */
  double angular_velocity[3]; /* rad/s in body axes; in the plane only the first */
  bool velocity_in_body;      /* velocity is in body axes instead */
  bool angular_in_world;      /* angular_velocity is in world axes instead */
  saltus_driven_pose* driven; /* of a driven body */
  /* kg/m^3, in the plane kg/m^2: mass and inertia follow from the shapes. 0: they are given, or only the
   * mass is given and the inertia follows from the shapes. With a density, positions of the body, its
   * markers and its shapes are measured from the origin of the shapes, not from the centre of mass */
  double density;
  /* A free body without mass, whose pose another system determines (flexible bodies); for the library
   * alone */
  bool carried;
  SALTUS_RESERVED(2);
} saltus_body_def;

/* A point with axes: on a body, relative to another marker, or in the world. */
typedef struct saltus_marker_def {
  const char* name;
  const char* body;   /* NULL: not on a body */
  const char* marker; /* NULL: not relative to a marker */
  double position[3]; /* m, from the centre of mass in body axes */
  saltus_orientation orientation;
  SALTUS_RESERVED(2);
} saltus_marker_def;

typedef enum saltus_drive {
  SALTUS_DRIVE_NONE,
  SALTUS_DRIVE_POSITION,
  SALTUS_DRIVE_SPEED
} saltus_drive;

/* Forces along the coordinate of a joint. The force of spring, damper and actuator is positive in the
 * direction of increasing coordinate. */
typedef struct saltus_coordinate_def {
  saltus_drive drive;
  saltus_signal driven; /* the coordinate, rad or m, or its rate */
  bool limited;         /* two contacts, NAME.lower and NAME.upper */
  double lower, upper;  /* rad or m; infinite: none on that side */
  double restitution;   /* of the limits */
  double stiffness;     /* N m/rad or N/m */
  double rest;          /* rad or m */
  double damping;       /* N m s/rad or N s/m */
  saltus_signal force;  /* actuator: N m or N */
  double dry;           /* N m or N, limit of dry friction against the rate of the coordinate */
  /* Dry friction per joint force: coefficient times radius of a pin, m, or the coefficient of a guide */
  double dry_arm;
  /* kg m^2 or kg: rotor behind a gear, reflected to the coordinate. Joint coordinates only (saltus_tree_create) */
  double armature;
  SALTUS_RESERVED(1);
} saltus_coordinate_def;

typedef enum saltus_joint_type {
  SALTUS_JOINT_FIXED,
  SALTUS_JOINT_REVOLUTE,    /* turns about z */
  SALTUS_JOINT_PRISMATIC,   /* moves along z; in the plane along x of the first marker */
  SALTUS_JOINT_CYLINDRICAL, /* both; space */
  SALTUS_JOINT_SPHERICAL,   /* origins coincide; space */
  SALTUS_JOINT_UNIVERSAL, /* origins coincide, x of the first perpendicular to y of the second; space */
  SALTUS_JOINT_PLANAR,         /* second origin in the xy plane of the first, z parallel; space */
  SALTUS_JOINT_POINT_ON_LINE,  /* second origin on z of the first; in the plane on x of the first */
  SALTUS_JOINT_POINT_IN_PLANE, /* second origin in the xy plane of the first; space */
  SALTUS_JOINT_DISTANCE,       /* origins are `length` apart */
  SALTUS_JOINT_SCREW,          /* cylindrical, moves by `ratio` m per revolution; space */
  SALTUS_JOINT_GEAR, /* coordinate of the second joint = ratio x that of the first + offset */
  SALTUS_JOINT_RACK_AND_PINION /* position of the second joint = ratio x angle of the first + offset */
} saltus_joint_type;

typedef struct saltus_joint_def {
  const char* name;
  saltus_joint_type type;
  const char* between[2]; /* markers; for a gear or rack, earlier joints */
  saltus_signal length;   /* m, of a distance, above zero */
  double ratio;  /* of a gear; radius of a pinion in m; pitch of a screw in m per revolution */
  double offset; /* rad or m, of a gear or rack */
  saltus_coordinate_def angle;    /* revolute, cylindrical, screw */
  saltus_coordinate_def position; /* prismatic, cylindrical, screw */
  SALTUS_RESERVED(4);
} saltus_joint_def;

typedef enum saltus_spring_type {
  SALTUS_SPRING_LINEAR,    /* along the line between two origins */
  SALTUS_SPRING_TORSIONAL, /* along the angle about z; adds a coordinate NAME.angle in space */
  SALTUS_SPRING_BUSHING    /* in the axes of the first marker */
} saltus_spring_type;

typedef struct saltus_spring_def {
  const char* name;
  saltus_spring_type type;
  const char* between[2]; /* markers */
  double stiffness[6];    /* only the first; for a bushing along x, y, z, about x, y, z */
  double damping[6];      /* the same */
  double rest;            /* m or rad: length or angle without force; 0 for a bushing */
  SALTUS_RESERVED(4);
} saltus_spring_def;

/* A force at the origin of a marker and a torque on its body, as signals. */
typedef struct saltus_load_def {
  const char* name;
  const char* marker;
  saltus_signal force[3];  /* N; in the plane the first two */
  saltus_signal torque[3]; /* N m; in the plane only the first, about z */
  bool turns;              /* true: in the axes of the marker; false: of the world */
  SALTUS_RESERVED(2);
} saltus_load_def;

typedef struct saltus_input_def {
  const char* name;
  double value; /* at the start */
  SALTUS_RESERVED(1);
} saltus_input_def;

typedef struct saltus_material_def {
  const char* name;
  double friction;               /* coefficient, >= 0 */
  double restitution;            /* 0..1 */
  double tangential_restitution; /* -1..1 */
  /* A contact of two materials has the law that is not Newton's; if neither is, both have to be equal */
  saltus_impact_law impact;
  /* Friction other than the coefficient; combined likewise; has to outlive the mechanism */
  const saltus_friction_law* law;
  double impact_friction; /* as saltus_contact_law.impact_mu; combined like friction */
  SALTUS_RESERVED(1);
} saltus_material_def;

/* A shape of a body or of the world. The law of two materials has the geometric mean of their friction coefficients
 * and the larger restitution. */
typedef struct saltus_body_shape_def {
  saltus_shape_def shape; /* default names: "BODY.1" and so on */
  const char* body;       /* NULL: the world */
  const char* material;   /* NULL: "default"; without such a material no friction, no restitution */
  const char* const* groups; /* shapes with a group in common do not touch */
  int group_count;
  SALTUS_RESERVED(4);
} saltus_body_shape_def;

typedef enum saltus_touch {
  SALTUS_TOUCH_LAW,   /* by the given numbers; NaN: by the materials */
  SALTUS_TOUCH_NEVER, /* contacts of the pair are disabled */
  SALTUS_TOUCH_ALWAYS /* also for bodies connected by a joint or shapes with a common group */
} saltus_touch;

/* An exception for the contacts between two names, each the name of a shape, a body (or "world"), a group or a
 * material. Later exceptions take precedence. Contacts between bodies connected by a joint are disabled by default,
 * except with the world. */
typedef struct saltus_contact_pair_def {
  const char* between[2];
  saltus_touch touch;
  double friction, restitution, tangential_restitution;
  int impact;                     /* 1 + saltus_impact_law; 0: by the materials */
  double stiffness;               /* ratio to other contacts; 0: 1 */
  const saltus_friction_law* law; /* NULL: by the materials; outlives the mechanism */
  /* As saltus_contact_law.impact_mu; 0: by the materials, or `friction` where given */
  double impact_friction;
} saltus_contact_pair_def;

typedef struct saltus_mechanism_def {
  int dimension;     /* 2 or 3 */
  double gravity[3]; /* m/s^2 */
  double t0;         /* s, start time, from which speeds of drives are integrated */
  const saltus_body_def* bodies;
  int body_count;
  const saltus_marker_def* markers;
  int marker_count;
  const saltus_joint_def* joints;
  int joint_count;
  const saltus_spring_def* springs;
  int spring_count;
  const saltus_input_def* inputs;
  int input_count;
  saltus_log log;
  const saltus_allocator* allocator; /* NULL: the C library */
  const saltus_load_def* loads;
  int load_count;
  int shape_count, material_count, contact_pair_count;
  const saltus_body_shape_def* shapes;
  const saltus_material_def* materials;
  const saltus_contact_pair_def* contact_pairs;
  SALTUS_RESERVED(2);
} saltus_mechanism_def;

typedef struct saltus_mechanism saltus_mechanism;

/* SALTUS_ERR_INPUT or SALTUS_ERR_NAME with a message that names the part and the invalid value. */
SALTUS_API saltus_status saltus_mechanism_create(const saltus_mechanism_def* def,
                                                 saltus_mechanism** out);
SALTUS_API void saltus_mechanism_destroy(saltus_mechanism* mechanism);

/* Valid as long as the mechanism. */
SALTUS_API const saltus_system* saltus_mechanism_system(const saltus_mechanism* mechanism);
SALTUS_API const double* saltus_mechanism_q0(const saltus_mechanism* mechanism); /* [nq] */
SALTUS_API const double* saltus_mechanism_v0(const saltus_mechanism* mechanism); /* [nv] */

SALTUS_END_DECLS

#endif
