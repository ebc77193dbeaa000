/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout_tables.h - data shared by all parts of the integrator: statuses of contacts, sizes, laws and tolerances.
 */
#ifndef SALTUSI_LAYOUT_TABLES_H
#define SALTUSI_LAYOUT_TABLES_H

#include "saltus/scheme.h"
#include "saltus/system.h"

#include <math.h>

/* Most tangents of a contact: two of slip, and the spin of a patch (friction_mode.h). */
enum { SALTUSI_SLIPS = 3 };
/* Rolling and drilling friction of a contact. Their keys follow those of the contacts, and the keys of dry
 * friction of joints are last; all of these have a friction status and no gap. */
enum { SALTUSI_ROLLS, SALTUSI_DRILLS, SALTUSI_GRIPS };

/* Length of a vector with n components, n up to 3. */
static inline double saltusi_length(int n, const double* x) {
  return n == 1   ? fabs(x[0])
         : n == 2 ? hypot(x[0], x[1])
         : n == 3 ? hypot(hypot(x[0], x[1]), x[2])
                  : 0.0;
}

/* Status of a contact (section 3). */
typedef enum saltusi_contact_mode {
  SALTUSI_OPEN = 0,
  SALTUSI_SLIP = 1,       /* in direction `sense` of a planar contact, along U_T of a spatial one */
  SALTUSI_STICK = 2,      /* rows of its tangents are active */
  SALTUSI_STICK_IDLE = 3, /* other constraints prevent slip; its friction force is zero */
  SALTUSI_STICK_BOUND = 4, /* the same, with friction at its bound against `sense` */
  SALTUSI_IDLE = 6         /* other constraints keep it closed; its force is zero */
} saltusi_contact_mode;

/* State of a contact from step to step. */
typedef struct saltusi_contact {
  saltusi_contact_mode mode;
  bool touching;     /* open, but its gap began at zero; `height` then is more accurate than g */
  bool fresh_slip;   /* slip began with this step, from U_T = 0 */
  bool bonded;       /* adhesion acts while it is closed */
  bool spared;       /* idle, and the status problem gives it no load */
  double sense;      /* 1 or -1: sign of U_T, or of the friction at its bound with minus */
  double force[3];   /* N, reference forces among linearly dependent rows; else 0 */
  double height;     /* m, gap of a touching contact as the integral of U */
  double zeno_speed; /* m/s, rebound after which the last Zeno extrapolation failed */
  double zeno_limit; /* m/s, largest rebound at which it is tried again */
  double tilt;       /* of a nearly flat circle, at the last step: negative while it decreases */
  bool wobbles;      /* the tilt has reversed within its tolerance */
} saltusi_contact;

static inline bool saltusi_is_closed(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN;
}
/* May have a force. */
static inline bool saltusi_is_pressed(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN && c->mode != SALTUSI_IDLE;
}

/* Closed, or open and separated by at most the rounding of its gap. */
static inline bool saltusi_touches(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN || c->touching;
}

typedef enum saltusi_adaptive_method {
  SALTUSI_DOPRI5,
  SALTUSI_DOP853,
  SALTUSI_RADAU5,
  SALTUSI_ADAPTIVE_CHOOSES /* the explicit ones by tolerance, Radau where forces are stiff */
} saltusi_adaptive_method;

/* State of the integrator from step to step. */
typedef struct saltusi_adaptive_memory {
  double started;
  double h;            /* s, proposed next step */
  double cap;          /* s, limit of the next step: a touching contact returns */
  double v_max;        /* largest |v| so far */
  double q_max;        /* largest |q| so far */
  double rejected;     /* 1: the last trial step was rejected */
  double zeno;         /* key of a contact that has just bounced; -1: none */
  double method;       /* saltusi_adaptive_method in use */
  double method_used;  /* in the last step */
  double stiff;        /* consecutive indications of stiffness */
  double nonstiff;     /* steps of the implicit method that an explicit one would take as well */
  double jacobian_age; /* steps since the Jacobian was evaluated; -1: there is none */
  double
      jacobian_slip; /* m/s, slowest slip of a spatial contact at that evaluation; infinite: none */
  double overheld;   /* 1: the dynamics at the present state are over-constrained */
  double
      /* conditioning of the active rows at the end of the last step (active_constraints.h); 0:
       * none */
      firmness;
  double firmness_most;    /* the largest so far */
  double near_singular;    /* 1: the mechanism approaches a singular position */
  double stall_since;      /* s, time has hardly advanced since then */
  double stall_steps;      /* steps since then */
  double switch_clear;     /* s, no formula of time changes its branch before that, or before: */
  double switch_before;    /* s, last time before the next such change; infinite: none */
  double switch_after;     /* s, first time after it */
  double slides;           /* crossings of one discontinuity from both sides, saltusi_slides() */
  double rate_valid;       /* 1: rate0 belongs to the present state */
  double changed;          /* s, last change of the inputs */
  double brief;            /* s, time between the last two of them; 0: none */
  double captured_h;       /* s, last step of event capturing (captured.c); 0: none */
  double captured_end;     /* s, its end */
  double captured_repeats; /* such steps in a row, */
  double captured_left;    /* and those that are left */
} saltusi_adaptive_memory;

/* Tolerances and switches; the switches show in tests the effect of each ingredient. */
typedef struct saltusi_adaptive_settings {
  double rtol;
  double atol, atol_v;
  const double* atol_q_each; /* [nv] or NULL: atol */
  const double* atol_v_each; /* [nv] or NULL: atol_v */
  double h_max;              /* s; 0: none */
  double h_first;            /* s; 0: chosen */
  int method;                /* saltusi_adaptive_method, or SALTUSI_ADAPTIVE_CHOOSES */
  saltus_energy_gain on_energy_gain;
  bool without_impulses;  /* impulses are not part of the error norm */
  bool without_defect;    /* no defect check */
  bool without_curvature; /* c of the rows is dropped */
  bool without_jump;      /* accumulations are resolved impact by impact */
  /* accepted trial steps are never rejected (docs/theory/events.md, 5 and 8) */
  bool without_checks;
} saltusi_adaptive_settings;

/* Counts of one integration, as measures of its cost. */
typedef struct saltusi_adaptive_counts {
  long long steps, rejections, rates, decisions, events, jumps, switches;
  long long enclosures;
  long long proven, sampled; /* searches for events */
  long long dry_events;      /* transitions of dry friction to slip or stick, and reversals */
  double residual_velocity, residual_impulse; /* of the worst decision in this step */
  double projection; /* largest displacement of a position by projections in this step */
} saltusi_adaptive_counts;

/* Constants of a run: sizes, laws, tolerances. */
typedef struct saltusi_layout_tables {
  int nq, nv, nj;
  int nc;       /* keys: contacts, their rolling and drilling friction, dry friction of joints */
  int contacts; /* of them */
  int nl;       /* contact rows: one and the tangents of each contact */
  int ny; /* nq + nv + nl + nj + works: positions, velocities, impulses of contacts and of joints, */
  int works; /* work of friction and of prescribed motion in rows other than slip: 2 or 0 */
  int rows;  /* nj + nl */
  int* base; /* [nc] first contact row */
  int* tangents;
  /* [nc] contact whose normal force a rolling or drilling friction uses; -1: none */
  int* parent;
  int* grip;                    /* [2 x contacts] keys of rolling and drilling friction; -1: none */
  saltus_contact_law* grip_law; /* [nc - contacts] */
  bool balls; /* problems may have more friction balls than those of slip: decide_rolling.c */
  const saltus_contact_law** law; /* [nc] */
  double* mu;                     /* [nc] 0 if there are no tangents */
  bool featured;                  /* contacts are pairs of features that are valid within guards */
  bool* watch;                    /* [nc] a separation monitor, not a contact */
  bool* listed;                   /* [nc] in the last list that was made at an event */
  bool spatial;                   /* some contact has two tangents and friction */
  bool special;                   /* some key has friction beyond Coulomb's */
  /* some contact has forces other than the reaction of its constraint (friction_mode.h) */
  bool pulled;
  int tangents_max; /* of all laws */
  bool implicit;    /* workspace of the implicit method is allocated */
  saltusi_adaptive_settings settings;
  double* atol_q; /* [nv] of positions along each velocity */
  double* atol_v; /* [nv] */
  double atol_q_min, atol_v_min;
  bool smooth;       /* nothing can touch, stick or slip */
  double step_part;  /* fraction of the tolerance that a step of order 8 may use */
  double slip_floor; /* m/s, a spatial contact that slides slower stops */
  double
      /* m, largest position so far, for rounding, and at least a million tolerances, which
       * limits the relative accuracy to six digits */
      size;
} saltusi_layout_tables;

/* Rolling or drilling friction. */
static inline bool saltusi_is_friction_mode(const saltusi_layout_tables* o, int key) {
  return key >= o->contacts && o->parent[key] >= 0;
}
/* Dry friction of joints. */
static inline bool saltusi_is_dry(const saltusi_layout_tables* o, int key) {
  return key >= o->contacts && o->parent[key] < 0;
}
static inline int saltusi_friction_mode_of(const saltusi_layout_tables* o, int key, int which) {
  return o->nc > o->contacts && key < o->contacts ? o->grip[SALTUSI_GRIPS * key + which] : -1;
}
/* The contact of a key: itself, or that of its rolling or drilling friction. */
static inline int saltusi_owner(const saltusi_layout_tables* o, int key) {
  return saltusi_is_friction_mode(o, key) ? o->parent[key] : key;
}

/* Removes a contact, and its rolling and drilling friction. */
static inline void saltusi_forget_contact(const saltusi_layout_tables* o, saltusi_contact* contact,
                                          int key) {
  contact[key] = (saltusi_contact){.mode = SALTUSI_OPEN};
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(o, key, k);
    if (grip >= 0) {
      contact[grip] = (saltusi_contact){.mode = SALTUSI_OPEN};
    }
  }
}
/* Transfers the state of one contact to another. */
static inline void saltusi_pass_contact(const saltusi_layout_tables* o, const saltusi_contact* from,
                                        int of, saltusi_contact* to, int key) {
  to[key] = from[of];
  for (int k = 0; k < SALTUSI_GRIPS; k++) {
    int grip = saltusi_friction_mode_of(o, key, k);
    int before = saltusi_friction_mode_of(o, of, k);
    if (grip >= 0) {
      to[grip] = before >= 0 ? from[before] : (saltusi_contact){.mode = SALTUSI_OPEN};
    }
  }
}

static inline const double* saltusi_v_of(const saltusi_layout_tables* o, const double* y) {
  return y + o->nq;
}

#endif
