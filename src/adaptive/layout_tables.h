/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * layout_tables.h - what all rooms of the integrator know: statuses of contacts, sizes, laws and tolerances.
 */
#ifndef SALTUSI_LAYOUT_TABLES_H
#define SALTUSI_LAYOUT_TABLES_H

#include "saltus/scheme.h"
#include "saltus/system.h"

#include <math.h>

/* Tangents of a contact at most: two of slip, and the spin of a patch (friction_mode.h). */
enum { SALTUSI_SLIPS = 3 };
/* Rolling and drilling friction of a contact: grips. They have keys after those of the contacts, and so has dry friction
 * that is no contact's; all of them have a status of friction and no gap. */
enum { SALTUSI_ROLLS, SALTUSI_DRILLS, SALTUSI_GRIPS };

/* Length of a vector of up to so many. */
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
  SALTUSI_STICK = 2,      /* rows of its tangents are held */
  SALTUSI_STICK_IDLE = 3, /* other constraints prevent slip; its friction force is zero */
  SALTUSI_STICK_BOUND = 4, /* the same, with friction at its bound against `sense` */
  SALTUSI_IDLE = 6         /* other constraints keep it closed; its force is zero */
} saltusi_contact_mode;

/* What a contact carries from step to step. */
typedef struct saltusi_contact {
  saltusi_contact_mode mode;
  bool touching;     /* open, but its gap began at zero; `height` then is more accurate than g */
  bool fresh_slip;   /* slip began with this step, from U_T = 0 */
  bool bonded;       /* adhesion acts while it is closed */
  double sense;      /* +1 or -1: sign of U_T, or of the friction at its bound with minus */
  double force[3];   /* N, among rows that depend on each other: near these; else 0 */
  double height;     /* m, gap of a touching contact as the integral of U */
  double zeno_speed; /* m/s, rebound after which a jump over the accumulation failed last */
  double zeno_limit; /* m/s, and below which it is worth trying again */
  double tilt;  /* of a circle that nearly lies flat, at the last step: negative while it falls */
  bool wobbles; /* the tilt has turned round within what counts as none */
} saltusi_contact;

static inline bool saltusi_is_closed(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN;
}
/* It may carry a force. */
static inline bool saltusi_is_pressed(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN && c->mode != SALTUSI_IDLE;
}

/* It is closed, or open and has not left the surface by more than the rounding of its gap. */
static inline bool saltusi_touches(const saltusi_contact* c) {
  return c->mode != SALTUSI_OPEN || c->touching;
}

typedef enum saltusi_adaptive_method {
  SALTUSI_DOPRI5,
  SALTUSI_DOP853,
  SALTUSI_RADAU5,
  SALTUSI_ADAPTIVE_CHOOSES /* the explicit ones by tolerance, Radau where forces are stiff */
} saltusi_adaptive_method;

/* What the integrator carries from step to step. */
typedef struct saltusi_adaptive_memory {
  double started;
  double h;            /* s, proposed next step */
  double cap;          /* s, the next step at most: a touching contact comes back */
  double v_max;        /* largest |v| so far */
  double q_max;        /* largest |q| so far */
  double rejected;     /* 1: the last attempt was */
  double zeno;         /* key of a contact that has just bounced; -1: none */
  double method;       /* saltusi_adaptive_method in use */
  double method_used;  /* in the last step */
  double stiff;        /* signs of stiffness in a row */
  double nonstiff;     /* steps of the implicit method that an explicit one would take as well */
  double jacobian_age; /* steps since the Jacobian was made; -1: there is none */
  double
      jacobian_slip; /* m/s, slowest slip of a spatial contact when it was made; infinite: none */
  double overheld;   /* 1: the dynamics at the present state have more rows than they need */
  double
      firmness; /* of the rows held at the end of the last step (active_constraints.h); 0: not known */
  double firmness_most; /* the largest so far */
  double near_singular; /* 1: the mechanism approaches a singular position */
  double stall_since;   /* s, time has hardly advanced since then */
  double stall_steps;   /* steps since then */
  double switch_clear;  /* s, no formula changes its branch by time before that, or before: */
  double switch_before; /* s, last time before the next such change; infinite: none known */
  double switch_after;  /* s, first time after it */
  double slides;        /* crossings of one discontinuity from both sides, saltusi_slides() */
  double rate_valid;    /* 1: rate0 belongs to the present state */
  double changed;       /* s, last change of the inputs */
  double brief;         /* s, time between the last two of them; 0: not known */
} saltusi_adaptive_memory;

/* Tolerances and switches; the switches exist to show in tests what each ingredient is for. */
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
  bool without_checks;    /* accepted attempts are never refused (docs/theory/events.md, 5 and 8) */
} saltusi_adaptive_settings;

/* Numbers of one integration, for those who want to know what it cost. */
typedef struct saltusi_adaptive_counts {
  long long steps, rejections, rates, decisions, events, jumps, switches;
  long long enclosures;
  long long proven, sampled; /* searches for events */
  long long dry_events;      /* dry friction beside contacts began to slip, stuck or turned */
  double residual_velocity, residual_impulse; /* of the worst decision in this step */
  double projection; /* largest movement of a position back onto the constraints in this step */
} saltusi_adaptive_counts;

/* What no step changes: sizes, laws, tolerances. */
typedef struct saltusi_layout_tables {
  int nq, nv, nj;
  int nc;       /* keys: contacts, their grips, dry friction */
  int contacts; /* of them */
  int nl;       /* contact rows: one and the tangents of each contact */
  int ny; /* nq + nv + nl + nj + works: positions, velocities, impulses of contacts and of joints, */
  int works; /* work of rows that are no slip of a contact, as friction and of what moves by itself: 2 or 0 */
  int rows;  /* nj + nl */
  int* base; /* [nc] first contact row */
  int* tangents;
  int* parent;                  /* [nc] contact whose normal force a grip takes; -1: it is none */
  int* grip;                    /* [grips x contacts] keys; -1: none */
  saltus_contact_law* grip_law; /* [nc - contacts] */
  bool balls; /* problems may have more balls than those of slip: decide_rolling.c */
  const saltus_contact_law** law; /* [nc] */
  double* mu;                     /* [nc] 0 where there are no tangents */
  bool featured;                  /* contacts are pairs of features that hold within guards */
  bool* watch;                    /* [nc] no contact but a watch */
  bool* listed;                   /* [nc] in the last list that was asked for at an event */
  bool spatial;                   /* some contact has two tangents and friction */
  bool special;                   /* some key has friction beyond Coulomb's */
  bool pulled; /* some contact has forces that do not depend on what closes it (friction_mode.h) */
  int tangents_max; /* of all laws */
  bool implicit;    /* there is room for the implicit method */
  saltusi_adaptive_settings settings;
  double* atol_q; /* [nv] of positions along each velocity */
  double* atol_v; /* [nv] */
  double atol_q_min, atol_v_min;
  bool smooth;       /* nothing can touch, stick or slip */
  double step_part;  /* of the tolerance that a step of order 8 may take */
  double slip_floor; /* m/s, a spatial contact that slides slower stops */
  double
      size; /* m, of positions, for their rounding: the largest so far, and no less than a million
                      * tolerances, since nothing smaller is known to more than six digits */
} saltusi_layout_tables;

/* Rolling or drilling friction. */
static inline bool saltusi_is_friction_mode(const saltusi_layout_tables* o, int key) {
  return key >= o->contacts && o->parent[key] >= 0;
}
/* Dry friction that is no contact's. */
static inline bool saltusi_is_dry(const saltusi_layout_tables* o, int key) {
  return key >= o->contacts && o->parent[key] < 0;
}
static inline int saltusi_friction_mode_of(const saltusi_layout_tables* o, int key, int which) {
  return o->nc > o->contacts && key < o->contacts ? o->grip[SALTUSI_GRIPS * key + which] : -1;
}
/* The contact that a key belongs to: itself, or that of a grip. */
static inline int saltusi_owner(const saltusi_layout_tables* o, int key) {
  return saltusi_is_friction_mode(o, key) ? o->parent[key] : key;
}

/* Leaves a contact, and with it its grips. */
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
/* What one contact did is what another one does from now on. */
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
