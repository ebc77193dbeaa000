/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.h - impacts for schemes: memory fixed beforehand, nothing allocated.
 */
#ifndef SALTUSI_LAW_H
#define SALTUSI_LAW_H

#include "law/flow.h"
#include "saltus/law.h"
#include "solve/friction/friction_curve.h"
#include "solve/friction/friction_step.h"
#include "solve/lcp/lcp_lemke.h"

/* Friction problems with a part of the impulse given: cone.c. */
typedef struct saltusi_cone_products {
  saltusi_lcp_work lcp;
  double* M;     /* [4 contacts squared] */
  double* q;     /* [4 contacts] */
  double* z;     /* [4 contacts] */
  double* scale; /* [4 contacts] */
  int* kind;     /* [4 contacts] */
  int* unit;     /* [4 contacts] */
  saltusi_friction_step friction;
  int* row;      /* [rows] of the problem in the impact */
  int* first;    /* [contacts + 1] row of each unit */
  double* mu;    /* [contacts] */
  double* W;     /* [rows squared] */
  double* b;     /* [rows] */
  double* r;     /* [rows] */
  double* given; /* [contacts] N s, normal impulse that comes in any case */
  double*
      bound; /* [contacts] N s, friction bound in addition to mu times the added normal impulse */
} saltusi_cone_products;

/* Springs side by side: lzb.c. */
typedef struct saltusi_springs {
  int* status;   /* [contacts] */
  double* sign;  /* [contacts] of sliding; 0: rests */
  double* bound; /* [contacts] sense in which a contact slides from rest */
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
  saltus_impact_contact* contact; /* [contacts] as they are meant now */
  saltusi_curve* curve;           /* [contacts] coefficients that depend on slip */
  int* first;                     /* [contacts + 1] row of each contact */
  int* set;                       /* [contacts] that take part */
  double* u;                      /* [rows] now */
  double* P;                      /* [rows] of one round */
  double* compression;            /* [rows] */
  double* part_W;                 /* [rows squared] of a matrix law */
  int* pivot;                     /* [rows] */
} saltusi_laws;

void saltusi_laws_layout(saltusi_laws* laws, int contacts, int rows, saltus_arena* arena);

saltus_status saltusi_impact_solve(saltusi_laws* laws, const saltus_impacts* rule,
                                   const saltus_impact* impact, saltus_log log,
                                   saltus_impact_result* result);

/* Contacts as a system has them. */
struct saltus_contact_law;

/* A friction problem alone (cone.c): W r + b with c->first, c->mu, c->W [rows x rows], which need not be symmetric, and
 * c->b written by the caller; the answer in c->r. False when none is found. */
void saltusi_law_cones_layout(saltusi_cone_products* cones, int contacts, int rows,
                              saltus_arena* arena);
bool saltusi_law_cones_solve(saltusi_cone_products* cones, int units);

/* ---- inside the layer ----------------------------------------------------------------------- */

/* One contact: W is that of its own rows. */
typedef struct saltusi_float_kernel {
  const saltus_impact_contact* contact;
  int index;   /* for phases */
  double W[9]; /* [rows x rows] */
  double u[3]; /* in: before, out: after */
  double P[3]; /* out */
} saltusi_float_kernel;

/* path.c, path_spatial.c: along the path in the normal impulse. */
void saltusi_path_planar(saltusi_float_kernel* s, saltus_impact_result* result);
saltus_status saltusi_path_spatial(saltusi_flow* flow, saltusi_float_kernel* s,
                                   saltus_impact_result* result);
void saltusi_path_note(saltus_impact_result* result, saltus_path_phase phase);

/* cone.c. One problem on the contacts of laws->set from the velocities in laws->u: impulses into laws->P. */
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
/* matrix.c: contacts with an impact matrix; *struck: it was applied. */
saltus_status saltusi_matrix_impact(saltusi_laws* laws, const saltus_impacts* rule,
                                    const saltus_impact* impact, saltus_log log, bool* struck);

/* solve.c: velocities after the impulses P [rows] besides. */
void saltusi_impact_add(saltusi_laws* laws, const saltus_impact* impact, const double* P,
                        saltus_impact_result* result);
/* All contacts that do not leave, at once, until none approaches; all_e >= 0: one e of everything. */
saltus_status saltusi_simultaneous(saltusi_laws* laws, const saltus_impact* impact, double all_e,
                                   saltus_impact_result* result);
double saltusi_impact_rounding(const saltus_impact* impact);

/* energy.c */
void saltusi_impact_energy(const saltus_impact* impact, const saltus_impact_contact* contact,
                           saltus_impact_result* result);

#endif
