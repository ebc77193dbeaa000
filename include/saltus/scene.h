/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene.h - a scene file: a system by formulas and bodies, its initial state, and simulation settings.
 *
 *   saltus: 1
 *   name: spring pendulum against a wall
 *   parameters: {m: 1, k: 100, l0: 1, g: 9.81}
 *   coordinates: {l: {start: 1.1, unit: m}, phi: {start: pi/4, velocity: 0, unit: rad}}
 *   kinetic: m/2*(l'^2 + l^2*phi'^2)
 *   potential: k/2*(l - l0)^2 - m*g*l*cos(phi)
 *   forces: {phi: -0.01*phi'}
 *   joints: []
 *   contacts:
 *     - {name: wall, gap: phi, restitution: 1}
 *   simulate: {until: 250, scheme: moreau-jean, step: 0.002, options: {theta: 0.5, gamma: 1}}
 *   record: {every: 10}
 *
 * docs/scene.md is the reference. Every error is reported with file, line, column, the text and the
 * allowed values.
 */
#ifndef SALTUS_SCENE_H
#define SALTUS_SCENE_H

#include "saltus/control.h"
#include "saltus/drawing.h"
#include "saltus/element.h"
#include "saltus/formula.h"
#include "saltus/mechanism.h"
#include "saltus/memory.h"
#include "saltus/scheme.h"

SALTUS_BEGIN_DECLS

/* Replaces the value of a parameter, or the start x or velocity x' of a coordinate: --set k=200. */
typedef struct saltus_override {
  const char* name;
  const char* value; /* a constant formula */
} saltus_override;

/* An additional output. Its formula may contain outputs of the scene. */
typedef struct saltus_scene_output {
  const char* name;
  const char* formula;
  const char* label; /* in messages; NULL: the name */
} saltus_scene_output;

typedef struct saltus_scene saltus_scene;

typedef struct saltus_scene_def {
  const char* path; /* read when text is NULL; names the file in messages */
  const char* text; /* or the text of the scene */
  const saltus_override* overrides;
  int override_count;
  saltus_log log;
  const saltus_allocator* allocator;
  bool separate; /* bodies with interpenetrating shapes at the start are separated */
  bool recorded; /* text of a recording: its lines "# --set name=value" apply before `overrides` */
  bool ramps;    /* inputs may have slopes, saltus_scene_set_ramps */
  bool visuals;  /* mesh files of visuals are read; one that cannot be read is a warning */
  int output_count;
  const saltus_scene_output* outputs; /* [output_count] behind those of the scene; copied */
  /* A scene with the same text, which is not parsed again; path and text are NULL. Its overrides apply
   * before those of this definition. It is not changed and has to outlive the new scene, which has no
   * drawing. NULL: none. */
  const saltus_scene* like;
  const char* mark; /* precedes names of overrides in messages, as "--set "; NULL: "override " */
  SALTUS_RESERVED(4);
} saltus_scene_def;

/* A number of a scene that a caller may set. */
typedef struct saltus_scene_quantity {
  const char* name; /* as in formulas and overrides: m, x, x' */
  const char* unit; /* "" when not given */
  const char* text; /* formula; "" when not given */
  double value;     /* after all overrides */
  bool number;      /* the text is a plain number and depends on nothing else */
} saltus_scene_quantity;

typedef struct saltus_scene_interface {
  /* [parameter_count], overridden by name before creation */
  const saltus_scene_quantity* parameters;
  int parameter_count;
  const saltus_scene_quantity* inputs; /* [input_count], at the start; set during a run */
  int input_count;
  bool ramps; /* inputs may have slopes */
  /* [2 coordinate_count] x, then x', of coordinates by formula */
  const saltus_scene_quantity* starts;
  int coordinate_count;
} saltus_scene_interface;

/* A shape that is drawn and has no contacts. */
typedef struct saltus_scene_visual {
  const char* body; /* NULL: the world */
  const char* name;
  saltus_shape_kind kind;
  saltus_shape_form form; /* in body axes; without points if its file was not read */
  double colour[3];       /* red, green, blue, 0 to 1; negative: that of the body */
} saltus_scene_visual;

/* Contents of a scene. Valid as long as the scene. */
typedef struct saltus_scene_view {
  const char* name;        /* "" when not given */
  const char* description; /* "" when not given */
  const char* text;        /* the whole file */
  const saltus_system* system;
  const double* q0; /* on the joints, out of the contacts */
  const double* v0;
  const char* const* joint_names; /* [nj] */
  double start;                   /* s */
  double until;                   /* s; NaN when not given */
  double step;                    /* s; NaN when not given */
  double tol;                     /* from the file; NaN when not given. Already applied to the
                                     members below */
  const char* scheme;             /* NULL when not given */
  const void* options;            /* of that scheme; NULL without one */
  const char* control;            /* step-size controller; NULL: fixed steps */
  const void* control_options;    /* saltus_control_options; NULL without one */
  const double* atol_q;           /* [nv] absolute tolerances of positions along each velocity, 0
                                   * where not given; NULL: none is */
  const double* atol_v;           /* [nv] the same for velocities */
  double start_tolerance;         /* largest correction of the initial state */
  long long record_every;         /* steps */
  bool record_given;              /* the scene selects the states to record */
  double record_dt;               /* s between recorded states; 0: by steps */
  const saltus_observables* observables; /* outputs and events; NULL: none */
  const char* reference;                 /* problem or CSV file with the exact motion; NULL: none */
  const saltus_mechanism* mechanism;     /* the bodies; NULL: none */
  const char* const* input_names;        /* [input_count] */
  int input_count;
  const uint64_t* input_changes;           /* counter of changes; for `changes` of simulations */
  bool global;                             /* the tolerance is of the motion, not of a step */
  const saltus_drawing* drawing;           /* for reports; NULL: no section `view` */
  const saltus_scene_interface* interface; /* NULL: not of a scene */
  const struct saltus_flexible* const* flexible; /* flexible bodies, the last NULL; NULL: none */
  const struct saltus_tree*
      tree; /* of joint coordinates, world.coordinates; NULL: v are those of bodies */
  const saltus_system* bodies;        /* with the velocities of bodies: `system` without a tree */
  const saltus_elements* elements;    /* for drawings, cams by formula with points; NULL: none */
  const saltus_scene_visual* visuals; /* [visual_count] */
  int visual_count;
} saltus_scene_view;

/* SALTUS_ERR_INPUT for errors in the scene, SALTUS_ERR_IO if it cannot be read. On
 * failure *out is NULL and the log has the reason, once. */
SALTUS_API saltus_status saltus_scene_create(const saltus_scene_def* def, saltus_scene** out);
SALTUS_API void saltus_scene_destroy(saltus_scene* scene);
SALTUS_API const saltus_scene_view* saltus_scene_get_view(const saltus_scene* scene);

/* The value of a formula at the start of a scene, after all overrides: parameters, coordinates, velocities. SALTUS_ERR_INPUT
 * after a message. */
SALTUS_API saltus_status saltus_scene_value(const saltus_scene* scene, const char* formula,
                                            saltus_log log, double* value);

/* Sets or returns an input of the section `inputs`, between steps; later evaluations use the new value. Runs restart
 * their scheme; for saltus_sim_def and saltus_integrator_def pass input_changes of the view. SALTUS_ERR_NAME when
 * there is no such input, SALTUS_ERR_RANGE when the
 * value is not finite. */
SALTUS_API saltus_status saltus_scene_set_input(saltus_scene* scene, const char* name,
                                                double value);
SALTUS_API saltus_status saltus_scene_input(const saltus_scene* scene, const char* name,
                                            double* value);

/* The same by index in input_names. A value that does not change is no change: nothing is restarted. SALTUS_ERR_RANGE,
 * with nothing set, if one of the values is not finite. */
SALTUS_API saltus_status saltus_scene_set_inputs(saltus_scene* scene, const double* values);
SALTUS_API void saltus_scene_inputs(const saltus_scene* scene, double* values);

/* Values and slopes [input_count] at a time: later inputs are value + slope (t - since). SALTUS_ERR_UNSUPPORTED without
 * saltus_scene_def.ramps, and in scenes whose events set inputs or whose inputs switch joints; SALTUS_ERR_RANGE as above. */
SALTUS_API saltus_status saltus_scene_set_ramps(saltus_scene* scene, double since,
                                                const double* values, const double* slopes);
/* Returns `since`. */
SALTUS_API double saltus_scene_ramps(const saltus_scene* scene, double* values, double* slopes);

/* Outputs [output_count] at a state; joint_forces [nj] N may be NULL: outputs that need them are NaN. SALTUS_ERR_SYSTEM
 * when a callback fails. Not for two threads at a time. */
SALTUS_API saltus_status saltus_scene_outputs(saltus_scene* scene, double t, const double* q,
                                              const double* v, const double* joint_forces,
                                              double* outputs);

/* The scene with its overrides as text that saltus_scene_create reads without libfyaml, with the lines of the original
 * in messages. Mesh files are named mesh-1.stl and so on, beside it. Returns the number of bytes; writes them unless bytes
 * is NULL; there is no terminating zero. */
SALTUS_API size_t saltus_scene_save(const saltus_scene* scene, char* bytes);

/* Mesh file i of a scene: its path as written and its name in a saved scene, of at most 47 characters; false past the
 * end. */
SALTUS_API bool saltus_scene_file(const saltus_scene* scene, int i, const char** path,
                                  char name[48]);

/* The keys of a scene with section and meaning, for documentation and its tests; NULL past the
 * end. */
typedef struct saltus_scene_key {
  const char* section; /* "", "coordinates.NAME", "contacts[]", ... */
  const char* key;
  const char* type; /* "formula", "text", "number", ... */
  const char* doc;
} saltus_scene_key;

/* Entry i of the table of scene keys; NULL past the end. */
SALTUS_API const saltus_scene_key* saltus_scene_key_at(int i);

SALTUS_END_DECLS

#endif
