/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mjcf.h - a robot in MJCF, the format of MuJoCo, as links and joints of robot.h and the parts without a counterpart in
 * URDF: actuators, tendons, equalities, contact filters, keyframes.
 */
#ifndef SALTUSI_MJCF_H
#define SALTUSI_MJCF_H

#include "base/index.h"
#include "urdf/elements.h"
#include "urdf/robot.h"
#include "urdf/scene_text.h"

/* One <default> element; entries of one class are linked, the last first. */
typedef struct saltusi_mjcf_class {
  const char* name;
  int parent; /* entry; -1: none */
  int again;  /* earlier entry of the same class; -1: none */
  const saltusi_xml_node* node;
} saltusi_mjcf_class;

typedef struct saltusi_mjcf_site {
  int link;
  double p[3];
} saltusi_mjcf_site;

typedef struct saltusi_mjcf_term {
  int joint; /* of the robot */
  double factor;
} saltusi_mjcf_term;

typedef struct saltusi_mjcf_geom {
  int link, shape; /* shape -1: not in the scene */
} saltusi_mjcf_geom;

/* Length sum factor_i q_i; of an actuator at a joint one term with factor 1. */
typedef struct saltusi_mjcf_tendon {
  const char* name;
  int line;
  saltusi_mjcf_term* terms;
  int count;
  double stiffness, rest, damping, friction;
  bool limited;
  double range[2];
  const char* label;
} saltusi_mjcf_tendon;

/* Force gear * clamp(gain u + bias . (1, length, rate)), length and rate times gear. */
typedef struct saltusi_mjcf_actuator {
  const char* name;
  int line;
  saltusi_mjcf_tendon along;
  double gear, gain, bias[3];
  bool limited[2]; /* control, force */
  double range[2][2];
  double ratio; /* damping ratio that replaces bias[2] */
  double start; /* value of the control */
  int key;      /* its place in <actuator> */
  const char* label;
} saltusi_mjcf_actuator;

/* Value of the first = polynomial of the value of the second (-1: constant); joints or tendons. */
typedef struct saltusi_mjcf_relation {
  const char* name;
  int line;
  saltusi_mjcf_tendon along[2];
  bool alone;
  double coefficient[5];
  const char* label;
} saltusi_mjcf_relation;

typedef struct saltusi_mjcf_pair {
  int line;
  int link[2], shape[2]; /* shapes of links; -1: all of the body */
  double friction;       /* -1: that of the materials */
  bool collide;
} saltusi_mjcf_pair;

typedef struct saltusi_mjcf_material {
  double friction;
  int condim, priority;
} saltusi_mjcf_material;

enum { SALTUSI_MJCF_MATERIALS = 64, SALTUSI_MJCF_SHAPES = 1000 };

struct saltusi_mjcf {
  saltusi_robot* robot;
  const saltusi_xml_node* root;
  bool bare; /* without shapes */
  bool degrees, autolimits, from_geoms, stripped;
  char sequence[4]; /* of Euler angles */
  double least_mass;
  const char* folder; /* of meshes, with a slash, or empty */
  double gravity[3];
  saltusi_mjcf_class* classes;
  int class_count;
  saltusi_index links, joints, geoms, meshes, sites, tendon_names, paired;
  const saltusi_xml_node** mesh_nodes;
  saltusi_mjcf_geom* geom_places; /* of each named geom */
  saltusi_mjcf_site* site_places;
  saltusi_mjcf_tendon* tendons;
  int tendon_count;
  saltusi_mjcf_actuator* actuators;
  int actuator_count;
  saltusi_mjcf_relation* relations;
  int relation_count;
  saltusi_mjcf_pair* pairs;
  int pair_count;
  saltusi_mjcf_material materials[SALTUSI_MJCF_MATERIALS];
  int material_count;
};

/* An element with the class whose defaults it takes, entry or -1. */
typedef struct saltusi_mjcf_element {
  const saltusi_xml_node* node;
  const char* tag; /* in <default> */
  int class;
} saltusi_mjcf_element;

/* ---- mjcf_values.c ---- */
saltus_status saltusi_mjcf_read_classes(saltusi_mjcf* m);
saltusi_mjcf_element saltusi_mjcf_element_of(saltusi_mjcf* m, const saltusi_xml_node* node,
                                             const char* tag, int childclass);
int saltusi_mjcf_find_class(saltusi_mjcf* m, const saltusi_xml_node* node, const char* name);
/* Value of an attribute by the element or its class; NULL: none. */
const char* saltusi_mjcf_text(const saltusi_mjcf* m, const saltusi_mjcf_element* e,
                              const char* attribute);
/* Reads `least` to `most` numbers; returns their count, 0 if the attribute is missing. */
int saltusi_mjcf_numbers(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                         int least, int most, double* out);
double saltusi_mjcf_number(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                           double otherwise);
/* Index of a word of the attribute in a list that ends with NULL; unknown words are refused. */
int saltusi_mjcf_word(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* attribute,
                      const char* const* words, int otherwise);
/* Whether limits with this attribute apply: limited, or, by default, when they are given. */
bool saltusi_mjcf_limits(saltusi_mjcf* m, const saltusi_mjcf_element* e, const char* limited,
                         const char* range, double out[2]);
/* Rotation by quat, axisangle, euler, xyaxes or zaxis. */
void saltusi_mjcf_rotation(saltusi_mjcf* m, const saltusi_mjcf_element* e, double* R);
void saltusi_mjcf_quaternion(const double q[4], double* R);
/* Lists attributes that are not used: those of `used`, space-separated, are. */
void saltusi_mjcf_list(saltusi_mjcf* m, const saltusi_xml_node* node, const char* used);

/* ---- mjcf_bodies.c ---- */
saltus_status saltusi_mjcf_read_bodies(saltusi_mjcf* m);

/* ---- mjcf_geoms.c ---- */
/* Geoms of a body or frame that lies at `at` in its link: shapes and, in `mass`, mass properties in the frame of the
 * link if it has no <inertial>. */
void saltusi_mjcf_read_geom(saltusi_mjcf* m, const saltusi_xml_node* node, int childclass,
                            const saltusi_urdf_frame* at, int link, saltusi_robot_mass* mass);

/* ---- mjcf_actuators.c ---- */
saltus_status saltusi_mjcf_read_actuators(saltusi_mjcf* m);
saltus_status saltusi_mjcf_read_equalities(saltusi_mjcf* m);
/* Damping of drives with a dampratio, with the masses of the reference configuration. */
void saltusi_mjcf_damp(saltusi_mjcf* m);
/* Initial values by <key name>; NULL: the reference configuration. */
saltus_status saltusi_mjcf_read_key(saltusi_mjcf* m, const char* name);

/* ---- mjcf_write.c ---- */
void saltusi_mjcf_write_inputs(saltusi_robot_text* t);
/* Materials and contact pairs; floor: friction of a floor that is not in the file. */
void saltusi_mjcf_write_contacts(saltusi_robot_text* t, double floor);
/* Keys of a joint: spring, damping, armature, dry friction, actuator. */
void saltusi_mjcf_write_drive(saltusi_robot_text* t, int joint);
void saltusi_mjcf_write_relations(saltusi_robot_text* t);
void saltusi_mjcf_write_forces(saltusi_robot_text* t);

#endif
