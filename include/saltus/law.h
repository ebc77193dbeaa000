/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * law.h - impact laws: velocities after an impact from those before it.
 *
 *   U+ = U- + W P,   W = G^T M^-1 G with joints active; gaps are positive for separated bodies, P_N is positive in
 * compression
 *
 * A law is a function from W and U- to P; those of the library are entries of one table, and a user-defined law is one
 * more function of the same type. Some laws apply to one contact (Newton, Poisson, Stronge), others to all
 * contacts of an impact: simultaneous, sequential, by stiffness. docs/laws.md has the formulas, which of
 * them can create energy, and where.
 */
#ifndef SALTUS_LAW_H
#define SALTUS_LAW_H

#include "saltus/api.h"
#include "saltus/friction_law.h"
#include "saltus/log.h"
#include "saltus/memory.h"
#include "saltus/status.h"

#include <stdbool.h>

SALTUS_BEGIN_DECLS

/* The law of one contact: meaning of e_N. */
typedef enum saltus_impact_law {
  SALTUS_IMPACT_NEWTON,  /* U_N+ = -e U_N- */
  SALTUS_IMPACT_POISSON, /* e times the impulse of compression is restituted, with friction */
  SALTUS_IMPACT_POISSON_PRINTED, /* the same, without friction in the expansion phase */
  SALTUS_IMPACT_ENERGETIC,       /* e^2 times the work of compression is restituted (Stronge) */
  SALTUS_IMPACT_PATH_NEWTON, /* friction along the path of the impact, terminated by Newton's law */
  SALTUS_IMPACT_PATH_POISSON, /* the same with Poisson's law */
  SALTUS_IMPACT_OWN           /* saltus_contact_law.own */
} saltus_impact_law;

/* Several contacts in one impact. */
typedef enum saltus_impact_order {
  SALTUS_ORDER_SIMULTANEOUS, /* simultaneous; sequential if a law has no simultaneous form */
  SALTUS_ORDER_SEQUENTIAL,   /* sequential, each contact by its own law */
  SALTUS_ORDER_LZB,          /* parallel springs (Liu, Zhao, Brogliato), e_N as in Stronge's law */
  SALTUS_ORDER_MOREAU, /* one e for normals and tangents of all contacts: v+ = (1 + e) prox v- - e v- */
  SALTUS_ORDER_OWN     /* saltus_impacts.own */
} saltus_impact_order;

/* Next contact in a sequence. */
typedef enum saltus_impact_pick {
  SALTUS_PICK_FASTEST, /* the one that approaches fastest */
  SALTUS_PICK_FIRST,   /* in the order of contacts */
  SALTUS_PICK_LAST,
  SALTUS_PICK_CYCLIC, /* the next one after the last */
  SALTUS_PICK_EVENTS  /* those whose gaps have just closed, then the fastest */
} saltus_impact_pick;

/* Response to an impact whose law creates energy, as Newton's can with friction. It is reported
 * in any case. */
typedef enum saltus_energy_gain {
  SALTUS_GAIN_REPORT,    /* the law is applied */
  SALTUS_GAIN_CAP,       /* restitution is reduced until no energy is created */
  SALTUS_GAIN_POISSON,   /* Poisson's law decides */
  SALTUS_GAIN_ENERGETIC, /* Stronge's law replaces it, contact by contact */
  SALTUS_GAIN_STOP,      /* the run ends with an error */
  SALTUS_GAIN_TANGENTIAL /* the law is applied with e_T = 1 */
} saltus_energy_gain;

typedef struct saltus_own_impact saltus_own_impact;

/* Parameters of the law of a contact. */
typedef struct saltus_contact_law {
  const char* name;                    /* for messages and recordings; NULL is allowed */
  int tangents;                        /* 0 frictionless, 1 planar, 2 spatial */
  double mu;                           /* friction coefficient, >= 0 */
  double e_N;                          /* normal restitution, 0..1 */
  double e_T;                          /* tangential restitution, -1..1 */
  saltus_impact_law impact;            /* how e_N is meant */
  double stiffness;                    /* ratio to other contacts, for SALTUS_ORDER_LZB; 0: 1 */
  const saltus_own_impact* own;        /* of SALTUS_IMPACT_OWN */
  const saltus_friction_law* friction; /* friction other than Coulomb's law; NULL: none */
  /* Friction coefficient of impacts; 0: mu, or the curve of `friction`; negative: frictionless */
  double impact_mu;
} saltus_contact_law;

/* Friction coefficient of a contact in impacts. */
static inline double saltus_contact_impact_mu(const saltus_contact_law* law) {
  return law->impact_mu > 0.0 ? law->impact_mu : law->impact_mu < 0.0 ? 0.0 : law->mu;
}

/* Number of rows of a contact with friction: normal, tangents, rolling, spin. */
static inline int saltus_contact_rows(const saltus_contact_law* law) {
  const saltus_friction_law* f = law->friction;
  const int slips = 1 + law->tangents;
  return f == NULL ? slips
                   : slips + (f->rolling > 0.0 ? law->tangents : 0) +
                         (f->drilling > 0.0 || f->patch != SALTUS_PATCH_NONE ? 1 : 0);
}

/* A contact of an impact. */
typedef struct saltus_impact_contact {
  const char* name; /* NULL is allowed */
  int tangents;     /* 0, 1 or 2; it has 1 + tangents rows */
  double mu;        /* friction coefficient; with a curve that of sticking, for user-defined laws */
  double e_N, e_T;  /* restitution: 0..1 and -1..1 */
  double stiffness; /* ratio to the other contacts; 0: 1 */
  saltus_impact_law impact; /* its own law */
  const saltus_own_impact* own;
  bool struck; /* its gap has just closed */
  int law;     /* for saltus_impacts.matrix: index of the contact in the system */
  const saltus_friction_law* friction; /* its curve: mu at the final slip; NULL: none */
  SALTUS_RESERVED(1);
} saltus_impact_contact;

/* An impact at one configuration: rows of contact after contact, normal first. */
typedef struct saltus_impact {
  int count, rows;
  const saltus_impact_contact* contact; /* [count] */
  const double* W;                      /* [rows x rows] kg^-1, symmetric */
  const double* u;                      /* [rows] m/s, U- */
  /* m/s, smaller approach velocities count as zero; 0: 1e-14 of the largest velocity */
  double rounding;
} saltus_impact;

typedef enum saltus_impact_motion {
  SALTUS_MOTION_STICK,
  SALTUS_MOTION_SLIP,    /* in the direction before the impact */
  SALTUS_MOTION_REVERSE, /* in the opposite direction, or from rest */
  SALTUS_MOTION_JAM, /* slips, and friction increases the approach more than the normal impulse reduces it */
  SALTUS_MOTION_WITHOUT /* no friction */
} saltus_impact_motion;

/* A part of the path of one contact in its normal impulse. */
typedef struct saltus_path_phase {
  int contact;
  saltus_impact_motion motion;
  bool compression;
  double impulse; /* N s, normal, of this phase */
} saltus_path_phase;

enum { SALTUS_PHASES = 24 };

/* P and u are arrays of the caller; all other members are written. Energies in J:
 *
 *   gain = P . (U- + U+) / 2 = normal + end_slip + first_slip
 *   normal = sum P_N (U_N- + U_N+) / 2,   end_slip = sum P_T . (U_T+ + e_T U_T-) / 2,
 *   first_slip = sum (1 - e_T) P_T . U_T- / 2
 *
 * By Newton's law the first two are never positive. */
typedef struct saltus_impact_result {
  double* P; /* [rows] N s */
  double* u; /* [rows] m/s, U+ */
  double gain, normal, end_slip, first_slip;
  double of_law;   /* J, energy that the law would have created where another was applied */
  int giver;       /* contact with the largest contribution; -1: no energy was created */
  int hits;        /* single impacts of a sequence, events of springs, problems otherwise */
  bool replaced;   /* solved by another law than that of the contacts */
  bool unfinished; /* a sequence without end was finished with e = 0 */
  double part;     /* fraction of the restitution that was applied; below 1 if it was reduced */
  int phase_count; /* at most SALTUS_PHASES are stored */
  saltus_path_phase phase[SALTUS_PHASES];
} saltus_impact_result;

/* Writes P [rows] for an impact; U+ follows from it. Laws of one contact are not called for separating contacts (U_N-
 * > 0). A status other than SALTUS_OK: no P. */
typedef saltus_status saltus_impact_fn(const void* self, const saltus_impact* impact, double* P);

/* A user-defined law. Owned by the caller; has to outlive all objects that use it. */
struct saltus_own_impact {
  const char* name;
  saltus_impact_fn* apply;
  const void* self;
  SALTUS_RESERVED(4);
};

/* Treatment of multiple impacts. All zero: simultaneous, each contact by its own law. */
typedef struct saltus_impacts {
  saltus_impact_order order;
  saltus_impact_pick pick;
  double exponent;    /* of springs, force = stiffness overlap^exponent: 1 to 3; 0: 1 */
  double restitution; /* of SALTUS_ORDER_MOREAU */
  saltus_energy_gain energy;
  int matrix_count; /* contacts with an impact matrix, applied if all of them are closed: U+ = -E U- */
  const int* matrix_contact;    /* [matrix_count] of the system */
  const double* matrix;         /* [matrix_count x matrix_count] E */
  const saltus_own_impact* own; /* of SALTUS_ORDER_OWN */
  SALTUS_RESERVED(6);
} saltus_impacts;

/* Description of a law; order names have `several`. */
typedef struct saltus_impact_info {
  const char* name; /* "newton", "lzb" */
  const char* summary;
  const char* source;
  const char* gains; /* conditions under which it can create energy; NULL: never */
  bool several;
} saltus_impact_info;

/* Laws of one contact in the order of saltus_impact_law, then those of several in that of saltus_impact_order. */
SALTUS_API int saltus_impact_law_count(void);
SALTUS_API const saltus_impact_info* saltus_impact_law_at(int i);
SALTUS_API const char* saltus_impact_law_name(saltus_impact_law law);
/* -1: none of this name */
SALTUS_API int saltus_impact_law_find(const char* name);
SALTUS_API int saltus_impact_order_find(const char* name);

/* Solves impacts with up to this number of contacts and rows. */
typedef struct saltus_impact_solver saltus_impact_solver;
SALTUS_API saltus_status saltus_impact_solver_create(int contacts, int rows,
                                                     const saltus_allocator* allocator,
                                                     saltus_impact_solver** out);
SALTUS_API void saltus_impact_solver_destroy(saltus_impact_solver* solver);

/* rule NULL: simultaneous. SALTUS_ERR_UNSUPPORTED, _RANGE: the law does not support these contacts;
 * SALTUS_RETRY_SMALLER:
 * it has no solution; SALTUS_ERR_LAW: it creates energy and the rule is stop. Messages go to log. */
SALTUS_API saltus_status saltus_impact_solve(saltus_impact_solver* solver,
                                             const saltus_impacts* rule,
                                             const saltus_impact* impact, saltus_log log,
                                             saltus_impact_result* result);

/* Whether a law can create energy with these contacts for some W and U- (docs/laws.md): NULL: no; else the reason. */
SALTUS_API const char* saltus_impact_can_gain(const saltus_impacts* rule, int count,
                                              const saltus_impact_contact* contact);

/* Slip mode of the impact of one planar contact, W = [a b; b c] (Wang and Mason 1992): "slide", "C-stick",
 * "C-reverse", "R-stick", "R-reverse", "stick"; *jam: the normal velocity first increases. */
SALTUS_API const char* saltus_impact_region(const double W[4], const double u[2], double mu,
                                            double e_N, bool* jam);

SALTUS_END_DECLS

#endif
