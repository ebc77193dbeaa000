/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * mode.h - the dynamics while every contact keeps its status: rows, their matrix, rates, and the projection onto
 * the constraints (section 3).
 */
#ifndef SALTUSI_MODE_H
#define SALTUSI_MODE_H

#include "adaptive/mode/active_constraints.h"
#include "adaptive/mode/joint_elimination.h"
#include "system/linear.h"

struct saltusi_mode_dynamics {
  saltusi_eval* eval;
  const saltus_system* sys;
  const saltusi_layout_tables* o;
  saltusi_adaptive_counts* counts;
  const saltusi_contact* contact; /* [nc] the statuses */

  /* rows and gaps at the point of the last call */
  saltusi_linear mass;
  saltusi_row_block row;  /* [rows] joints, then contacts; with convective parts */
  saltusi_row_block look; /* of the contact evaluated last alone */
  saltusi_contact_list list;
  double* gap;       /* [nc] by key; infinite: none */
  int* unlisted;     /* [nc] keys of contacts whose gaps are requested */
  double* joint_gap; /* [nj] */

  saltusi_active_constraints held;
  saltusi_joint_elimination reduced;
  int* pressed;     /* [nc] */
  double* x;        /* [nv] */
  double* q;        /* [nq] */
  double* rate;     /* [ny] */
  double* y;        /* [nq + nv] */
  int* reached;     /* [nv] */
  double* reaction; /* [dry] N, of the joints on which limits of dry friction depend */
  bool without_dry; /* sliding dry friction is omitted */
  bool
      /* rates are those of the nearest state on the constraints, so that the constraint error
       * does not grow near a singular position */
      on_surface;
};

void saltusi_mode_layout(saltusi_mode_dynamics* m, const saltus_system* sys,
                         const saltusi_layout_tables* o, const saltusi_step_capacity* room,
                         saltus_arena* arena);

/* Evaluates rows of the joints and of the closed contacts (every: of all contacts), and all gaps. */
void saltusi_mode_rows(saltusi_mode_dynamics* m, double t, const double* y, bool every);
saltus_status saltusi_mode_gaps(saltusi_mode_dynamics* m, double t, const double* q);
/* The gap of one contact, evaluated alone if the system permits. */
saltus_status saltusi_mode_gap(saltusi_mode_dynamics* m, double t, const double* q, int key,
                               double* gap);
/* contact_set.c: gaps of contacts that are not listed at a point. */
saltus_status saltusi_collect_gaps(saltusi_mode_dynamics* m, const saltus_point* at);
/* The same for pairs of features (features.c): of all that have a key. */
saltus_status saltusi_feature_gaps(saltusi_mode_dynamics* m, const saltus_point* at);
/* The smallest guard of a contact; infinite: none. */
double saltusi_least_guard(saltusi_mode_dynamics* m, double t, const double* q, int key);
/* Whether it is a circle that has become flat. */
bool saltusi_rim_has_settled(saltusi_mode_dynamics* m, double t, const double* q, int key);
/* Sine by which a circle on a plane is tilted beyond the flat tolerance; INFINITY: it is no such contact. */
double saltusi_tilt_of(saltusi_mode_dynamics* m, double t, const double* q, int key);
/* Rows of one contact at y into m->look. */
void saltusi_mode_look(saltusi_mode_dynamics* m, double t, const double* y, int key);
/* U of one row at y, and all rows of its contact into m->look. */
double saltusi_mode_velocity(saltusi_mode_dynamics* m, double t, const double* y, int key, int k);
/* y' at y. */
saltus_status saltusi_mode_rate(saltusi_mode_dynamics* m, double t, const double* y, double* rate);
/* N, load of a contact that is not pressed in the limit of vanishing equal compliance, from the forces [nl] of the
 * others: negative while it bears none; and whether their rows imply its own. At the state of the last
 * saltusi_mode_rate(). */
saltus_status saltusi_mode_idle_load(saltusi_mode_dynamics* m, int key, const double* forces,
                                     double* load, bool* implied);
/* N, limit of dry friction at the last reactions. */
double saltusi_dry_limit(const saltusi_mode_dynamics* m, int key);
/* v' at y without contacts. */
saltus_status saltusi_mode_free(saltusi_mode_dynamics* m, double t, const double* y, double* a);
/* Gap acceleration of an open contact, from y' or in the present status. */
double saltusi_mode_gamma_of(saltusi_mode_dynamics* m, double t, const double* y,
                             const double* rate, int key);
saltus_status saltusi_mode_gamma(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                 double* gamma);
/* x [nv]: the change of v for a change by 1 of U of the gap of a closed contact, while the other active rows keep
 * their velocity; impulses of the contact rows [nl]. */
saltus_status saltusi_mode_bounce(saltusi_mode_dynamics* m, double t, const double* y, int key,
                                  double* x, double* force);
/* Tolerances of the impulses [nl]. */
saltus_status saltusi_mode_impulse_scale(saltusi_mode_dynamics* m, double t, const double* y,
                                         double* scale_l);
/* Projects onto g = 0 and U = 0 of joints and closed contacts, U_T = 0 of sticking ones. */
saltus_status saltusi_mode_project(saltusi_mode_dynamics* m, double t, double* y);
/* Prescribed tangential velocities of contacts. */
typedef struct saltusi_perturbation {
  bool* on;     /* [nc] */
  double* u;    /* [slips x nc] m/s */
  double still; /* m/s, contacts that touch and are slower remain at rest */
} saltusi_perturbation;
/* Velocities alone; perturbation: NULL or prescribed velocities of some tangents. */
saltus_status saltusi_mode_project_velocity(saltusi_mode_dynamics* m, double t, double* y,
                                            const saltusi_perturbation* perturbation);
/* Positions alone, of joints and closed contacts. */
saltus_status saltusi_mode_project_closed(saltusi_mode_dynamics* m, double t, double* y);
/* Velocities alone, along the forces of the mode: sliding contacts have friction while they close. */
saltus_status saltusi_mode_close_velocity(saltusi_mode_dynamics* m, double t, double* y);
/* Positions alone, of joints and the contacts of a set. */
saltus_status saltusi_mode_project_positions(saltusi_mode_dynamics* m, double t, double* y,
                                             const int* set, int count);
#endif
