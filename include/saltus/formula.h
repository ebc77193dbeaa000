/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula.h - mechanics written as text: kinetic energy, potential, forces, joints and gaps as
 * formulas over coordinates, velocities, time and parameters, compiled into a system.
 *
 *   T(t,q,v), V(t,q), Q(t,q,v)          Lagrange's equations of the second kind:
 *   M = T_vv,   F = Q + T_q - V_q - T_vq v - T_vt
 *
 * All derivatives are exact. Formulas become flat programs that share common subexpressions and
 * allocate nothing when they run.
 *
 * The language: numbers (1e-3, .5), names of letters, digits and underscores, x' for the velocity of
 * coordinate x, names with parts (arm.x, tip.y', hinge.angle) of a mechanism's bodies, markers and joints,
 * t for time, pi, parentheses, calls (saltus_formula_function_at lists them), and from
 * weak to strong
 *
 *   or    and    not    < <= > >=    + -    * /    unary -    ^ (from the right, so -x^2 = -(x^2))
 *
 * Conditions are allowed only in piecewise(condition, value, ..., otherwise). min, max and piecewise have
 * the derivative of the active branch, abs has sign; they are not differentiable where branches
 * meet. Integer powers up to 16 are products: x^2 is bitwise x*x. A formula has at most
 * 2^20 bytes and 200 levels of nesting.
 */
#ifndef SALTUS_FORMULA_H
#define SALTUS_FORMULA_H

#include "saltus/api.h"
#include "saltus/element.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/observe.h"
#include "saltus/system.h"

SALTUS_BEGIN_DECLS

typedef struct saltus_mechanism saltus_mechanism; /* mechanism.h */

/* A formula in its file, so that errors can point at the character. */
typedef struct saltus_formula_text {
  const char* text; /* NULL: not given */
  const char* file; /* for messages; NULL: none */
  int line, column; /* of the first character, from 1; 0: unknown */
  const char* what; /* "kinetic", "gap of contact \"wall\"": for messages */
} saltus_formula_text;

/* A named constant; value is a formula over numbers, pi and other parameters. Evaluated in
 * dependency order, so the order of definition does not matter; cycles are refused. */
typedef struct saltus_formula_parameter {
  const char* name;
  saltus_formula_text value;
} saltus_formula_parameter;

typedef struct saltus_formula_coordinate {
  const char* name;
  const char* unit;             /* of the coordinate; NULL: "" */
  saltus_formula_text start;    /* constant formula; text NULL: 0 */
  saltus_formula_text velocity; /* constant formula; text NULL: 0 */
  saltus_formula_text force;    /* generalized force without a potential; text NULL: 0 */
  SALTUS_RESERVED(2);
} saltus_formula_coordinate;

typedef struct saltus_formula_joint {
  const char* name;
  saltus_formula_text constraint; /* g(t,q) = 0 */
  bool rate; /* the constraint is a velocity, like the slip of a contact: U = 0, nonholonomic */
  SALTUS_RESERVED(1);
} saltus_formula_joint;

/* A spring and damper along an elongation phi(t,q): potential k phi^2/2, force (f - d phi') phi_q. */
typedef struct saltus_formula_spring {
  const char* name;
  saltus_formula_text elongation;
  saltus_formula_text stiffness; /* constant formulas >= 0; text NULL: 0 */
  saltus_formula_text damping;
  const saltus_formula_text* force; /* f, any formula of the motion, for motors; NULL: none */
  SALTUS_RESERVED(1);
} saltus_formula_spring;

/* Relative angular velocities of bodies at a contact, like the slip: formulas linear in velocities, or angles. */
typedef struct saltus_formula_rates {
  saltus_formula_text rolling, rolling2; /* along the surface: one in the plane, two in space */
  saltus_formula_text spin;              /* about the normal */
} saltus_formula_rates;

/* slip is either a velocity formula, linear in the velocities (x' + r*phi'), or a position formula
 * (no velocities), whose time derivative is the slip velocity. */
typedef struct saltus_formula_contact {
  const char* name;
  saltus_formula_text gap;
  saltus_formula_text slip;     /* first tangent; text NULL: frictionless */
  saltus_formula_text slip2;    /* second tangent; text NULL: planar */
  saltus_formula_text friction; /* constant formulas; text NULL: 0 */
  saltus_formula_text restitution;
  saltus_formula_text tangential_restitution;
  saltus_impact_law impact;
  double stiffness; /* ratio to other contacts; 0: 1 */
  /* Friction other than the coefficient; has to outlive the model */
  const saltus_friction_law* law;
  const saltus_formula_rates* rates;          /* rates for rolling and spin; NULL: none */
  const saltus_formula_text* impact_friction; /* coefficient of impacts; NULL: `friction` */
} saltus_formula_contact;

/* Dry friction of a velocity, see saltus_dry_friction. */
typedef struct saltus_formula_dry {
  const char* name;
  saltus_formula_text rate; /* as the slip of a contact */
  double force, arm;
  const char* joint; /* by formula, whose force `arm` multiplies; NULL: none */
  SALTUS_RESERVED(2);
} saltus_formula_dry;

/* A force and a torque on the body of a marker, at the marker; any formulas of the motion. */
typedef struct saltus_formula_force {
  const char* name;
  const char* at;                /* a marker of the mechanism, or a body: its centre of mass */
  saltus_formula_text force[3];  /* N; text NULL: 0; in the plane the first two */
  saltus_formula_text torque[3]; /* N m; text NULL: 0; in the plane only the third */
  bool in_marker;                /* in marker axes instead of world axes */
  SALTUS_RESERVED(2);
} saltus_formula_force;

typedef struct saltus_formula_def {
  const saltus_formula_parameter* parameters;
  int parameter_count;
  const saltus_formula_coordinate* coordinates;
  int coordinate_count;
  saltus_formula_text kinetic;
  saltus_formula_text potential; /* text NULL: 0 */
  const saltus_formula_spring* springs;
  int spring_count;
  const saltus_formula_joint* joints;
  int joint_count;
  const saltus_formula_contact* contacts;
  int contact_count;
  saltus_log log;
  const saltus_allocator* allocator;
  /* Bodies besides the coordinates; NULL: none. They keep their equations of motion, to which formulas add terms. The
   * mechanism and the values of inputs have to outlive the model. */
  const saltus_mechanism* mechanism;
  const saltus_formula_force* forces;
  const char* const* input_names; /* [input_count] */
  const double* input_values;     /* [input_count] read at every evaluation */
  int force_count, input_count;
  const saltus_impacts* impacts;   /* of the system; has to outlive the model; NULL: simultaneous */
  const saltus_elements* elements; /* machine elements of the mechanism; NULL: none */
  const saltus_formula_dry* dry;   /* NULL, or a list terminated by an entry without a rate */
  bool
      members; /* parameters, starts, friction and restitution may depend on inputs, which differ between members of an
                 * ensemble; other constants may not */
  bool
      ramps; /* the first n of 2 n + 1 inputs are input i + input n + i (t - the last input); the others have no names */
  bool unbounded; /* without enclosures of forces, which systems in joint coordinates do not have */
  SALTUS_RESERVED(1);
} saltus_formula_def;

typedef struct saltus_formula_model saltus_formula_model;

/* SALTUS_ERR_INPUT after a message with file, line, column and a caret line under the text. Checks
 * names, syntax, that T is quadratic in the velocities and every coordinate has mass, that constants
 * are finite and in range. The model copies all text. */
SALTUS_API saltus_status saltus_formula_model_create(const saltus_formula_def* def,
                                                     saltus_formula_model** out);
SALTUS_API void saltus_formula_model_destroy(saltus_formula_model* model);

/* The system, with traits, labels (velocity names have a prime) and laws. Coordinates by formula
 * come first, then those of the mechanism; joints and limits of the mechanism come before those by formula. */
SALTUS_API const saltus_system* saltus_formula_model_system(const saltus_formula_model* model);
SALTUS_API const double* saltus_formula_model_q0(const saltus_formula_model* model);
SALTUS_API const double* saltus_formula_model_v0(const saltus_formula_model* model);
SALTUS_API const char* saltus_formula_model_joint_name(const saltus_formula_model* model, int j);

/* The contact of the definition that a contact of the system belongs to, -1 for a limit of the mechanism or an
 * element. A gap that is a minimum, min(a, b) or y - abs(x), is split into several contacts, called NAME[1], NAME[2]
 * and so on. */
SALTUS_API int saltus_formula_model_contact(const saltus_formula_model* model, int key);

/* Outputs and events as formulas over the coordinates, velocities and parameters of a model. */
typedef struct saltus_formula_output {
  const char* name;
  const char* unit; /* NULL: "" */
  saltus_formula_text formula;
} saltus_formula_output;

typedef struct saltus_formula_event {
  const char* name;
  saltus_crossing direction;
  saltus_formula_text formula;
} saltus_formula_event;

typedef struct saltus_formula_observer_def {
  const saltus_formula_def* model; /* names, log and allocator */
  const saltus_formula_output* outputs;
  int output_count;
  const saltus_formula_event* events;
  int event_count;
  SALTUS_RESERVED(4);
} saltus_formula_observer_def;

typedef struct saltus_formula_observer saltus_formula_observer;

/* SALTUS_ERR_INPUT after a message, as for a model. Copies all text. */
SALTUS_API saltus_status saltus_formula_observer_create(const saltus_formula_observer_def* def,
                                                        saltus_formula_observer** out);
SALTUS_API void saltus_formula_observer_destroy(saltus_formula_observer* observer);
SALTUS_API const saltus_observables*
saltus_formula_observer_view(const saltus_formula_observer* observer);

/* Value of a constant formula with the given parameters, for other parts of a scene file. */
SALTUS_API saltus_status saltus_formula_constant(const saltus_formula_parameter* parameters,
                                                 int parameter_count, saltus_formula_text formula,
                                                 saltus_log log, double* value);

/* Names of the functions and constants that a formula may use, for documentation and completion. */
typedef struct saltus_formula_function {
  const char* name;
  int arguments;   /* -1: two or more; 0: a constant or t */
  const char* doc; /* one line */
} saltus_formula_function;

SALTUS_API const saltus_formula_function* saltus_formula_function_at(int i); /* NULL past the end */

SALTUS_END_DECLS

#endif
