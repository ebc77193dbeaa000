/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_model.h - shared declarations of the formula model.
 */
#ifndef SALTUSI_FORMULA_MODEL_H
#define SALTUSI_FORMULA_MODEL_H

#include "formula/parse.h"
#include "formula/program.h"
#include "model/formula_bodies.h"
#include "saltus/formula.h"

typedef struct saltusi_formula_builder saltusi_formula_builder;

/* Program of one quantity, for its enclosures. */
typedef struct saltusi_formula_bound {
  saltusi_program program;
  unsigned depends; /* SALTUS_ON_T and the like */
  const int* reads; /* [read_count] i for q_i, nq + i for v_i, ascending */
  int read_count;
} saltusi_formula_bound;

/* The rows of one joint or contact. Columns are shared by its rows. */
typedef struct saltusi_formula_rows {
  int count;                      /* rows */
  int width;                      /* entries of a row */
  const int* column;              /* [width] ascending */
  const double* fixed;            /* [count x width] G, then [count] b, when constant; else NULL */
  saltusi_program program;        /* writes the same */
  saltusi_program convective;     /* [count] c */
  bool bent;                      /* c is not zero */
  saltusi_formula_bound position; /* gap or joint */
  saltusi_formula_bound velocity; /* [count] U */
} saltusi_formula_rows;

/* The mechanism inside a model. */
typedef struct saltusi_formula_inner {
  const saltus_system* system; /* NULL: none */
  int first;                   /* coordinate and velocity */
  int joints;                  /* in its system; rows are dims.nj */
  bool alone;                  /* no formulas: its system is that of the model */
  bool same_blocks;            /* its values on the structure are those of the model */
  size_t values;               /* of its own structure */
  size_t diagonal,
      diagonal_at; /* number of diagonal values, and their offset in the values of the model */
  size_t* pair_at; /* [pairs] offsets in the values of the model */
  size_t scratch;  /* offset of its workspace, bytes */
  size_t dense;    /* offset of the values from which dense matrices are assembled, doubles */
  saltus_system_ops ops;         /* of the formulas alone */
  saltusi_formula_bound* limits; /* [2 nc] gap and rate of each limit */
  saltusi_formula_bound* rows;   /* [nj] of rows with formulas; others have no program */
} saltusi_formula_inner;

struct saltus_formula_model {
  saltusi_pool pool; /* holds this struct too */
  saltus_system system;
  saltus_system_ops ops;
  saltus_formula_model* set_valued; /* with its signs as dry friction; NULL: has none */
  saltusi_program mass, force, force_q, force_v, mass_q, kinetic_gradient, kinetic, potential;
  saltus_structure structure;                                  /* of large models */
  saltusi_program mass_blocks, force_q_blocks, force_v_blocks; /* [values on it] */
  saltusi_program spring_q, spring_v;                          /* [nv x nv] */
  saltusi_program power, frame_energy;                         /* [2], [1] */
  saltusi_program gaps, constraints;
  saltusi_formula_rows* contacts;  /* [nc] */
  int* contact_of;                 /* [nc] index among the contacts of the definition */
  int written_contacts;            /* of the definition; those of elements follow */
  saltusi_formula_rows* joints;    /* [nj] */
  saltusi_formula_rows* dry_rows;  /* [dry_count] of formulas */
  saltusi_formula_bound* forces;   /* [nv] */
  saltusi_formula_bound* switches; /* [switch_count] */
  int switch_count;
  size_t bound_bytes; /* scratch of the largest bound */
  int registers;      /* maximum over all programs; further scratch is a buffer */
  size_t buffer;      /* doubles */
  saltusi_formula_inner inner;
  double* q0;               /* [nq] */
  double* v0;               /* [nv] */
  const char** joint_names; /* [nj] */
  saltusi_program*
      members; /* [member_count] of starts, then mu, e_N and e_T of the contacts of the definition; those
                             * of length 0 are constant. NULL: no value depends on inputs */
  int member_count;

  /* source text, for messages; NULL: none */
  const char *kinetic_text, *potential_text;
  const char** force_texts; /* [nv] */
  const char** gap_texts;   /* [nc] */
  const char** joint_texts; /* [nj] */
};

/* Formulas whose minimum is a gap. */
enum { SALTUSI_FORMULA_PARTS_MOST = 64 };
typedef struct saltusi_formula_parts {
  int count;
  saltusi_expr items[SALTUSI_FORMULA_PARTS_MOST];
} saltusi_formula_parts;

/* A spring as it was read. */
typedef struct saltusi_formula_spring {
  saltusi_expr elongation;
  double stiffness, damping;
  saltusi_expr force; /* zero: none */
} saltusi_formula_spring;

/* A force -limit sign(rate) as dry friction. */
typedef struct saltusi_formula_sign {
  saltusi_expr rate; /* linear in the velocities, with constant coefficients */
  double limit;
} saltusi_formula_sign;

/* State of the construction of a model. */
struct saltusi_formula_builder {
  const saltus_formula_def* def;
  saltus_formula_model* model;
  int nq, nv; /* positions and velocities of all; those of the definition come first */
  saltusi_graph graph;
  saltusi_pool work; /* given back at the end */
  saltusi_names names;
  saltusi_scope scope;
  saltusi_formula_bodies bodies;
  saltusi_output* outputs; /* of the program being made; grows */
  size_t output_count, output_room;
  saltusi_expr* roots; /* formulas with switching functions; grows */
  size_t root_count, root_room;
  const saltusi_formula_spring* springs; /* [def->spring_count] */
  bool constant_rows;                    /* all G and b so far */
  bool set_valued;                       /* signs are removed from the forces */
  saltusi_formula_sign* signs;           /* [sign_count] */
  int sign_count;
  int member_place; /* of the next number that may depend on inputs; -1: it may not */
};

/* Names and graph, which models, observables and constants share. */
/* results: number of results of the motion that formulas may use, besides inputs. */
saltus_status saltusi_formula_builder_start(saltusi_formula_builder* builder,
                                            const saltus_formula_def* def, int results);
void saltusi_formula_builder_free(saltusi_formula_builder* builder);

/* Coordinates and parameters into builder->names, parameters evaluated. */
saltus_status saltusi_formula_names(saltusi_formula_builder* builder);

/* Joint and contact names: no two equal. */
saltus_status saltusi_formula_labels(saltusi_formula_builder* builder);

/* The formula with `what` filled in: "<kind> "<name>"" when the caller gave none. */
saltus_formula_text saltusi_formula_called(saltusi_formula_builder* builder,
                                           const saltus_formula_text* formula, const char* kind,
                                           const char* name);

/* An entry of M, or of F_q and F_v side by side, that is not zero by structure. */
typedef struct saltusi_formula_entry {
  int row, column;
  saltusi_expr expr;
} saltusi_formula_entry;

typedef struct saltusi_formula_entries {
  int n;
  const saltusi_formula_entry* M; /* lower triangle */
  size_t M_count;
  const saltusi_formula_entry* F_x; /* columns 0..n-1 along velocities, n..2n-1 by them */
  size_t F_x_count;
} saltusi_formula_entries;

/* The structure of a large model and its programs; small and full ones have none. */
saltus_status saltusi_formula_structure(saltusi_formula_builder* builder,
                                        const saltusi_formula_entries* entries);

/* Programs of the equations of motion. */
saltus_status saltusi_formula_lagrange(saltusi_formula_builder* builder);

/* Springs: formulas, their terms of the potential and of the forces Q [nv], and the programs of their
 * Gauss-Newton derivatives. */
saltus_status saltusi_formula_springs_read(saltusi_formula_builder* builder);
saltusi_expr saltusi_formula_springs_potential(saltusi_formula_builder* builder);
void saltusi_formula_springs_force(saltusi_formula_builder* builder, saltusi_expr* Q);
saltus_status saltusi_formula_springs_make(saltusi_formula_builder* builder);
/* Power that moving ends transfer to dampers, d phi' phi_t; the remaining power of dampers is -d phi'^2. */
saltusi_expr saltusi_formula_springs_drive(saltusi_formula_builder* builder);

/* Changes of formulas of time that move the mechanism. */
void saltusi_formula_bodies_roots(saltusi_formula_builder* builder);

/* Programs of the ledger: power of external forces Q [n] and of explicit time in T and V; momenta p [n]. */
typedef struct saltusi_formula_energies {
  saltusi_expr T, V;
  const saltusi_expr* p;
  const saltusi_expr* Q;
} saltusi_formula_energies;
void saltusi_formula_power(saltusi_formula_builder* builder, const saltusi_formula_energies* e);

/* Terms of Q [nv] that are dry friction: -limit sign(U) dU/dv, into builder->signs. With builder->set_valued they are
 * removed from Q. */
saltus_status saltusi_formula_signs(saltusi_formula_builder* builder, saltusi_expr* Q);

/* Forces at markers, added to Q [nv]. */
saltus_status saltusi_formula_forces(saltusi_formula_builder* builder, saltusi_expr* Q);

/* The mechanism around the formulas: labels, start, laws, traits, structure and callbacks of both. */
saltus_status saltusi_formula_compose(saltusi_formula_builder* builder);

/* A constant from 0 to hi, or from -1 to 1; 0 when not given. */
#define SALTUSI_EITHER_SIGN (-1.0) /* instead of hi */
saltus_status saltusi_formula_number(saltusi_formula_builder* builder,
                                     const saltus_formula_text* formula, const char* kind,
                                     const char* name, double hi, double* value);

/* A constant, or with def->members a formula over inputs, whose program becomes that of `place` and whose present value
 * is *value. place -1: a constant. */
saltus_status saltusi_formula_member(saltusi_formula_builder* builder,
                                     const saltus_formula_text* formula, int place, double* value);
/* Place of mu of a contact of the definition; e_N and e_T follow. */
int saltusi_formula_law_place(const saltusi_formula_builder* builder, int contact);
/* Over inputs alone; NULL: constant. Places: starts of coordinates, then of velocities. */
const saltusi_program* saltusi_formula_member_program(const saltus_formula_model* model, int place);
/* which: 0 mu, 1 e_N, 2 e_T of a contact of the system. */
const saltusi_program* saltusi_formula_member_law(const saltus_formula_model* model, int contact,
                                                  int which);

/* Programs and laws of joints and contacts. */
saltus_status saltusi_formula_constraints(saltusi_formula_builder* builder);

/* The parts of a gap, at least one. More than the maximum are an error. */
saltus_status saltusi_formula_split(saltusi_formula_builder* builder,
                                    const saltus_formula_text* formula, saltusi_expr e,
                                    saltusi_formula_parts* parts);

/* Adds an output of the next program; zero is omitted. */
void saltusi_formula_put(saltusi_formula_builder* builder, size_t place, saltusi_expr e);
/* Compiles the collected expressions for an output array of the given length, and clears them. */
void saltusi_formula_make(saltusi_formula_builder* builder, size_t length,
                          saltusi_program* program);

/* True if e does not depend on velocities. A dependence that is only structural is replaced by the value at rest. */
bool saltusi_formula_velocity_free(saltusi_formula_builder* builder, saltusi_expr* e);

/* The name of velocity i, with its prime. */
const char* saltusi_formula_velocity_name(const saltusi_formula_builder* builder, int i);
/* Byte offset of its first occurrence in the text; 0 if there is none. */
size_t saltusi_formula_find_velocity(const saltusi_formula_builder* builder, const char* text,
                                     int i);

/* The program and the dependences of a quantity with `count` values. */
void saltusi_formula_bound_make(saltusi_formula_builder* builder, const saltusi_expr* values,
                                int count, saltusi_formula_bound* bound);
/* Registers a formula whose switching functions are required. */
void saltusi_formula_root(saltusi_formula_builder* builder, saltusi_expr e);
/* Creates the switching functions of all registered formulas, each once. */
saltus_status saltusi_formula_switches(saltusi_formula_builder* builder);
extern const saltus_enclosure_ops saltusi_formula_enclosure;

/* formula_observe.c: the program of outputs; NULL: there are none. */
const saltusi_program* saltusi_formula_observer_outputs(const saltus_formula_observer* observer);

/* The table of callbacks of this model. */
void saltusi_formula_ops(saltus_formula_model* model);

#endif
