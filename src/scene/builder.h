/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * builder.h - state of the reader of a scene, and shared functions of its sections.
 */
#ifndef SALTUSI_SCENE_BUILDER_H
#define SALTUSI_SCENE_BUILDER_H

#include "model/formula_constants.h"
#include "saltus/flexible.h"
#include "saltus/mechanism.h"
#include "saltus/scene.h"
#include "saltus/tree.h"
#include "scene/members.h"
#include "scene/reader.h"

/* Assignment of an event to an input. */
typedef struct saltusi_scene_set {
  int event, input;
  double value, start; /* start: initial value of the input */
} saltusi_scene_set;

typedef struct saltusi_scene_switches {
  saltus_switching table;
  saltus_observables view; /* of the scene, with the table */
  saltusi_scene_set* sets;
  int count;
} saltusi_scene_switches;

typedef struct saltusi_scene_drawing {
  saltus_drawing view;
  saltus_formula_observer* observer; /* NULL: no drawn objects */
} saltusi_scene_drawing;

/* A flexible body: its data, its body of the mechanism, and the first of those of its frames. */
enum { SALTUSI_SCENE_FLEXIBLE_MOST = 16 };
typedef struct saltusi_scene_flexible {
  saltus_flexible* data;
  int body, carried;
  double radius; /* m, of balls at contact nodes; 0: none */
  const char* surface;
} saltusi_scene_flexible;

/* Points of a hull, for saved scenes. */
typedef struct saltusi_scene_hull {
  const saltusi_yaml_node* of;
  const double* points; /* [count][3] m */
  int count;
  const struct saltusi_scene_hull* next;
} saltusi_scene_hull;

struct saltus_scene {
  saltusi_pool pool; /* owns everything, this struct too */
  saltus_formula_model* model;
  saltus_formula_observer* observer; /* NULL: no outputs and events */
  saltus_mechanism* mechanism;       /* NULL: no bodies */
  double*
      inputs; /* [view.input_count], then with ramps as many slopes and the time of the values */
  bool ramps;
  uint64_t changes;                /* of inputs */
  saltusi_scene_switches switches; /* events that set inputs */
  const char* file;                /* for messages */
  const saltusi_yaml_node* root;   /* the text as a tree */
  const saltusi_scene_hull* hulls; /* NULL: none */
  saltus_override* overrides;      /* [override_count] a later one replaces an earlier one */
  int override_count;
  saltusi_scene_drawing drawing;
  saltus_scene_interface interface;
  void* scratch; /* of saltus_scene_outputs */
  saltusi_scene_flexible flexible[SALTUSI_SCENE_FLEXIBLE_MOST];
  int flexible_count;
  struct saltusi_flexible_system* over; /* NULL: no flexible bodies */
  struct saltus_tree* tree;             /* NULL: no joint coordinates */
  saltus_scene_view view;
};

typedef struct saltusi_scene_builder {
  saltusi_reader reader;
  const saltus_scene_def* def;
  const saltusi_yaml_node* root;
  saltus_formula_def model;
  saltus_mechanism_def mechanism;        /* dimension 0: no bodies */
  const saltusi_yaml_node** shape_nodes; /* [mechanism.shape_count] */
  saltusi_formula_constants* constants;  /* parameters with their values, created at first use */
  saltus_scene* scene;
  saltus_formula_contact* contacts;         /* of the model */
  saltus_formula_spring* springs;           /* of the model, with capacity for motors of joints */
  const saltusi_yaml_node* matrix_contacts; /* names of impacts.matrix; NULL: none */
  int* matrix_places;                       /* indices of these contacts */
  saltus_tree_law* laws;                    /* of a system in joint coordinates */
  int law_count;
  const saltusi_scene_members* members; /* NULL: none */
} saltusi_scene_builder;

/* ---- values (values.c) ---- */

/* A section of the scene; NULL: missing. */
const saltusi_yaml_node* saltusi_scene_get(const saltusi_scene_builder* builder, const char* key);
/* Text such as "gap of contact "wall"", in the pool */
const char* saltusi_scene_describe(saltusi_scene_builder* builder, const char* what, const char* of,
                                   const char* name);
/* Optional text; "" if missing. */
const char* saltusi_scene_text(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                               const char* what);
/* Parameters with their values; NULL after a failure. */
saltusi_formula_constants* saltusi_scene_constants(saltusi_scene_builder* builder);
/* A constant formula, or the fallback when the node is NULL. */
double saltusi_scene_number(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                            const char* what, double fallback);
/* The same of a key. */
double saltusi_scene_constant(saltusi_scene_builder* builder, const saltusi_yaml_node* section,
                              const char* key, double fallback);
/* A list of constants; returns its length, which has to be `least` or `most`. Empty if node is NULL. */
int saltusi_scene_numbers(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                          const char* what, const int lengths[2], double* out);
/* A formula of time; 0 if the node is NULL. Inputs are allowed in forces, but not in prescribed motions. */
saltus_signal saltusi_scene_signal(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                                   const char* what);
/* False: the formula depends on the motion and is stored in *motion. */
bool saltusi_scene_actuator(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                            const char* what, saltus_signal* signal, saltus_formula_text* motion);
/* true or false; false when the node is NULL. */
bool saltusi_scene_flag(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                        const char* what);
/* Index of a word in a NULL-terminated list, or -1 after a message. */
int saltusi_scene_word(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                       const char* what, const char* const* words);
/* An empty list if the section is missing. */
const saltusi_yaml_node* saltusi_scene_list(saltusi_scene_builder* builder, const char* key);
/* An empty mapping if the section is missing. */
const saltusi_yaml_node* saltusi_scene_mapping(saltusi_scene_builder* builder, const char* key);
/* A name, or "contact 3" when there is none. */
const char* saltusi_scene_item_name(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                                    int i, const char* kind);

/* ---- replaced values (overrides.c) ---- */

/* Overrides in the order in which they apply: those of `like` or of a recorded text, then those of the definition. */
void saltusi_overrides_collect(saltusi_scene_builder* builder);
/* name=value: the value replaces that of the parameter. Rejects a name that is neither a
 * parameter nor a start. */
void saltusi_overrides_parameters(saltusi_scene_builder* builder);
/* x=1, x'=2 of a coordinate x */
void saltusi_overrides_starts(saltusi_scene_builder* builder,
                              saltus_formula_coordinate* coordinates,
                              const saltusi_yaml_node* node);

/* ---- units (quantities.c) ---- */

/* Numbers with a unit become formulas in the units of their keys, in the tree. */
void saltusi_scene_quantities(saltusi_scene_builder* builder, saltusi_yaml_node* root);
/* The same of the value that overrides an entry, or its velocity. */
void saltusi_scene_override(saltusi_scene_builder* builder, saltus_override* override,
                            const saltusi_yaml_node* entry, bool velocity);

/* ---- sections ---- */

/* The friction law of a contact, a pair or a material; *law is unchanged for a plain coefficient. True: the
 * coefficient is in *mu, and `friction` is not a number. */
bool saltusi_scene_friction(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                            const saltus_friction_law** law, double* mu);
/* The complete friction law of a contact by formula, after its slip was read. */
void saltusi_scene_contact_friction(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                                    saltus_formula_contact* contact);
/* Whether a law needs slip: adhesion does not. */
bool saltusi_scene_rubs(const saltus_friction_law* law);
void saltusi_scene_dry(saltusi_scene_builder* builder);

void saltusi_scene_inputs(saltusi_scene_builder* builder);
/* The formula of an entry that is a formula or a mapping with it and a unit. */
const saltusi_yaml_node* saltusi_scene_quantity(saltusi_scene_builder* builder,
                                                const saltusi_yaml_node* node, const char* section,
                                                const char* key, const char* what);
/* Parameters, inputs and starts for the view, after the model is complete. */
void saltusi_scene_interface(saltusi_scene_builder* builder);
void saltusi_scene_forces(saltusi_scene_builder* builder);
void saltusi_scene_springs(saltusi_scene_builder* builder);
void saltusi_scene_joints(saltusi_scene_builder* builder);
void saltusi_scene_contacts(saltusi_scene_builder* builder);
void saltusi_scene_elements(saltusi_scene_builder* builder);
/* The elements of the view; the points of a cam by formula are its values. */
void saltusi_scene_drawn_elements(saltusi_scene_builder* builder);
/* after contacts */
void saltusi_scene_impacts(saltusi_scene_builder* builder);
void saltusi_scene_matrix(saltusi_scene_builder* builder, const saltus_system* system);
/* The impact law of a contact, a material or a pair; false: none is given. */
bool saltusi_scene_impact_law(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                              saltus_impact_law* law);
/* world, bodies and markers */
void saltusi_scene_bodies(saltusi_scene_builder* builder);
/* A name that is valid in formulas, or a message. */
void saltusi_scene_check_name(saltusi_scene_builder* builder, const saltusi_yaml_node* key,
                              const char* kind);
/* Links of beams behind bodies, markers, joints, springs and shapes, which have been read, as has `simulate`. */
void saltusi_scene_beams(saltusi_scene_builder* builder);
/* A body with the key flexible, number `place` of the mechanism: mass and inertia of its file. False: it is not. */
bool saltusi_scene_flexible_body(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                                 saltus_body_def* body, int place);
/* Bodies of their frames, behind all others. */
void saltusi_scene_flexible_frames(saltusi_scene_builder* builder);
/* The system over that of the model, with its start. */
saltus_status saltusi_scene_flexible_system(saltusi_scene_builder* builder);
/* The system in joint coordinates in place of that of the model, after the start was corrected. */
saltus_status saltusi_scene_trees(saltusi_scene_builder* builder);
/* Takes actuators out of the springs of the model. */
void saltusi_scene_laws(saltusi_scene_builder* builder);
/* Whether the scene has joint coordinates, and the key that selects them. */
bool saltusi_scene_by_joints(saltusi_scene_builder* builder, const saltusi_yaml_node** where);
/* shapes of both, materials and contact_pairs */
void saltusi_scene_shapes(saltusi_scene_builder* builder);

/* Shapes that interpenetrate at the start by more than the correction limit are rejected by
 * name, or separated on request. */
saltus_status saltusi_scene_overlaps(saltusi_scene_builder* builder);

/* A point in the plane or in space, and angle or orientation of an item. */
void saltusi_scene_point(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                         const char* key, const char* what, double out[3]);
saltus_orientation saltusi_scene_orientation(saltusi_scene_builder* builder,
                                             const saltusi_yaml_node* item);

/* The section `view`, after the model is complete. */
void saltusi_scene_view_section(saltusi_scene_builder* builder);

/* Events that set inputs; called after observables and inputs were read. */
void saltusi_scene_switching(saltusi_scene_builder* builder);

/* An item of `joints` that has a type, and one of `springs` with markers. */
void saltusi_scene_body_joint(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                              const char* name, saltus_joint_def* joint);
void saltusi_scene_body_spring(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                               const char* name, saltus_spring_def* spring);
/* An item of `joints` with a type and `while`: its rows by formula, written to out [SALTUSI_SCENE_ROWS_MOST]; returns
 * their number. */
enum { SALTUSI_SCENE_ROWS_MOST = 6 };
int saltusi_scene_open_joint(saltusi_scene_builder* builder, const saltusi_yaml_node* item,
                             const char* name, saltus_formula_joint* out);
/* Two names. */
void saltusi_scene_pair(saltusi_scene_builder* builder, const saltusi_yaml_node* node,
                        const char* what, const char* into[2]);

/* A log that adds file and line to messages about a body, a marker and the like. */
saltus_log saltusi_scene_finder(saltusi_scene_builder* builder);

/* Creates the mechanism; messages have the line of the object that they name. */
saltus_status saltusi_scene_mechanism(saltusi_scene_builder* builder);

#endif
