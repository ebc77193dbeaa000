/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.h - impact laws for schemes, in memory that is laid out beforehand; nothing is allocated.
 */
#ifndef SALTUSI_LAW_H
#define SALTUSI_LAW_H

#include "law/flow.h"
#include "saltus/law.h"
#include "solve/friction/cone_products.h"
#include "solve/friction/friction_curve.h"
#include "solve/friction/friction_step.h"

/* Workspace of friction problems with a given part of the impulse: cone.c. */
typedef struct saltusi_cone_products {
  saltusi_friction_step friction;
  saltusi_balls balls;
  saltus_cone* cone; /* [contacts] */
  int* row;          /* [rows] of the problem in the impact */
  int* first;        /* [contacts + 1] first row of each contact */
  double* mu;        /* [contacts] */
  double* W;         /* [rows squared] */
  double* b;         /* [rows] */
  double* r;         /* [rows] */
  double* given;     /* [contacts] N s, given normal impulse */
  double* bound; /* [contacts] N s, friction bound besides mu times the unknown normal impulse */
} saltusi_cone_products;

/* Workspace of compliant contacts (Liu, Zhao and Brogliato): lzb.c. */
typedef struct saltusi_springs {
  int* status;   /* [contacts] */
  double* sign;  /* [contacts] direction of slip; 0: stick */
  double* bound; /* [contacts] direction in which slip begins */
  double* force; /* [rows] */
  double* probe; /* [flow] */
  int* group;    /* [flow] */
  int* what;     /* [guards] kind of each guard */
  int* who;      /* [guards] its contact */
} saltusi_springs;

typedef struct saltusi_laws {
  int contacts_max, rows_max;
  saltusi_cone_products cones;
  saltusi_flow flow;
  saltusi_springs springs;
  saltus_impact_contact* contact; /* [contacts] with the parameters of the present law */
  saltusi_curve* curve;           /* [contacts] friction coefficients that depend on slip */
  int* first;                     /* [contacts + 1] first row of each contact */
  int* set;                       /* [contacts] that are active */
  double* u;                      /* [rows] present velocities */
  double* P;                      /* [rows] impulses of one round */
  double* compression;            /* [rows] */
  double* part_W;                 /* [rows squared] block of the contacts of an impact matrix */
  int* pivot;                     /* [rows] */
} saltusi_laws;

void saltusi_laws_layout(saltusi_laws* laws, int contacts, int rows, saltus_arena* arena);

saltus_status saltusi_impact_solve(saltusi_laws* laws, const saltus_impacts* rule,
                                   const saltus_impact* impact, saltus_log log,
                                   saltus_impact_result* result);

/* Contacts of a system. */
struct saltus_contact_law;

/* A friction problem without an impact (cone.c): W r + b with c->first, c->mu, c->W [rows x rows], which need not
 * be symmetric, and c->b from the caller; the solution is in c->r. False when none is found. */
void saltusi_law_cones_layout(saltusi_cone_products* cones, int contacts, int rows,
                              saltus_arena* arena);
bool saltusi_law_cones_solve(saltusi_cone_products* cones, int units);

/* ---- inside the layer ----------------------------------------------------------------------- */

/* Impact of a single contact with the block W of its rows. */
typedef struct saltusi_single_impact {
  const saltus_impact_contact* contact;
  int index;   /* for the list of phases */
  double W[9]; /* [rows x rows] */
  double u[3]; /* velocities before, replaced by those after */
  double P[3]; /* out */
} saltusi_single_impact;

/* path.c, path_spatial.c: integration over the normal impulse. */
void saltusi_path_planar(saltusi_single_impact* s, saltus_impact_result* result);
saltus_status saltusi_path_spatial(saltusi_flow* flow, saltusi_single_impact* s,
                                   saltus_impact_result* result);
void saltusi_path_note(saltus_impact_result* result, saltus_path_phase phase);

/* cone.c: one problem on the contacts of laws->set with the velocities in laws->u; impulses into laws->P. */
saltus_status saltusi_cones_impact(saltusi_laws* laws, const saltus_impact* impact, int count,
                                   double all_e, const double* before);

/* sequence.c */
saltus_status saltusi_sequence(saltusi_laws* laws, const saltus_impacts* rule,
                               const saltus_impact* impact, saltus_log log,
                               saltus_impact_result* result);
/* lzb.c */
saltus_status saltusi_lzb(saltusi_laws* laws, const saltus_impacts* rule,
                          const saltus_impact* impact, saltus_log log,
                          saltus_impact_result* result);
/* matrix.c: contacts with an impact matrix. The last argument is set to whether the matrix was applied. */
saltus_status saltusi_matrix_impact(saltusi_laws* laws, const saltus_impacts* rule,
                                    const saltus_impact* impact, saltus_log log, bool* struck);

/* solve.c: velocities after the additional impulses P [rows]. */
void saltusi_impact_add(saltusi_laws* laws, const saltus_impact* impact, const double* P,
                        saltus_impact_result* result);
/* Simultaneous impact of all contacts that do not separate, repeated until none approaches; all_e >= 0: one
 * restitution for all. */
saltus_status saltusi_simultaneous(saltusi_laws* laws, const saltus_impact* impact, double all_e,
                                   saltus_impact_result* result);
double saltusi_impact_rounding(const saltus_impact* impact);

/* energy.c */
void saltusi_impact_energy(const saltus_impact* impact, const saltus_impact_contact* contact,
                           saltus_impact_result* result);

#endif
