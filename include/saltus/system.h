/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system.h - the mechanical system, the interface of all schemes.
 *
 *   q' = N(q) v
 *   M(t,q) v' = F(t,q,v) + sum of G lambda
 *   joints     g(t,q)  = 0
 *   contacts   g(t,q) >= 0       normal row first, then 0, 1 or 2 tangent rows
 *   rows       U = G^T v + b,    dU/dt = G^T v' + c
 *
 * b is the explicit time part of the relative velocity (driven constraints, moving surfaces), c the convective part
 * of the relative acceleration, c = (d/dt G^T) v + db/dt along q' = N v.
 *
 * Positions enter a scheme only through `advance`, `difference`, `rate` and derivatives along N(q): F_q is dF(q advanced
 * along the j-th velocity)/ds, so every matrix is nv x nv and every row nv wide, with or without quaternions. A scheme
 * does not access M: it requests assembly, factorisation and solution of A = m M + v F_v + q F_q, by the declared
 * structure of the system or by its own `linear` table. Rows may be sparse. docs/architecture.md gives the reasons.
 */
#ifndef SALTUS_SYSTEM_H
#define SALTUS_SYSTEM_H

#include "saltus/api.h"
#include "saltus/enclosure.h"
#include "saltus/law.h"
#include "saltus/log.h"
#include "saltus/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

SALTUS_BEGIN_DECLS

/* Message of a failed callback. */
typedef struct saltus_failure {
  saltus_status status; /* SALTUS_OK: nothing failed */
  char text[256];
} saltus_failure;

/* Arguments of an evaluation. scratch has dims.scratch bytes of this evaluation thread, zero before the first call: a
 * system may store intermediate values there, since `self` is constant. */
typedef struct saltus_point {
  double t;
  const double* q; /* [nq] */
  const double* v; /* [nv]; NULL: velocities are not used */
  void* scratch;
  struct saltusi_contact_keys* keys; /* of the library, NULL outside of it */
  saltus_failure* failure;           /* for saltus_fail; NULL: not requested */
} saltus_point;

/* Called by a callback that cannot evaluate: the step is undone and ends with SALTUS_ERR_SYSTEM and this text,
 * independent of the written values. The first failure of a step is kept. */
SALTUS_API void saltus_fail(const saltus_point* at, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Components of a system, for messages; all except energies have the index of a coordinate, contact or joint. */
typedef enum saltus_part {
  SALTUS_PART_KINETIC,
  SALTUS_PART_POTENTIAL,
  SALTUS_PART_MASS, /* row of the mass matrix */
  SALTUS_PART_FORCE,
  SALTUS_PART_GAP,
  SALTUS_PART_JOINT
} saltus_part;

/* The contacts at one configuration. An identity is permanent, for instance the feature pair. A fixed set of contacts
 * writes only `gap`: count = dims.nc, identity[i] = i and law[i] = i are set before the call; one that shares laws
 * writes `law` too. docs/contacts.md. */
typedef struct saltus_contact_list {
  int count;
  int capacity;
  double reach;       /* m; in: requested gaps; out: all contacts with gaps up to this are listed */
  double* gap;        /* [capacity] m, positive for separated bodies */
  uint64_t* identity; /* [capacity] all different */
  int* law;           /* [capacity] index in saltus_system.laws; constant for an identity */
  /* s; in: contacts that velocities can bring within reach in this time are included; 0: none */
  double horizon;
  /* in: contacts that are implied by others of the system, listed or not, may be omitted */
  bool concise;
} saltus_contact_list;

/* SALTUS_WATCH: law of an entry of `sweep` that is a separation monitor, a function of `gaps` that is positive while
 * shapes are separated; at its root the contacts are listed (docs/contacts.md). Results of `guards`: at most
 * SALTUS_GUARDS values, plus LIES_DOWN for a circle flat on a plane, TILTS if the last value is the tilt of a circle. */
enum { SALTUS_WATCH = -1, SALTUS_GUARDS = 16, SALTUS_LIES_DOWN = 64, SALTUS_TILTS = 128 };

/* Box of configurations of a system within a step. */
typedef struct saltus_box {
  double t0, t1;          /* s */
  const double* q_low;    /* [nq] */
  const double* q_high;   /* [nq] */
  const uint64_t* closed; /* [closed_count] contacts that are closed at the start of the step */
  int closed_count;
  void* scratch; /* of saltus_point */
} saltus_box;

/* Position of a contact, for recordings and viewers. */
typedef struct saltus_contact_place {
  int bodies[2];    /* -1: none, the ground */
  double point[3];  /* m */
  double normal[3]; /* of length 1, towards the first body */
  SALTUS_RESERVED(2);
} saltus_contact_place;

/* Rows of one joint or contact. All arrays are zero before the call. */
typedef struct saltus_rows {
  int count; /* requested rows: all of a joint; for a contact 1 + tangents, only the normal, or those of saltus_contact_rows */
  int width; /* entries of a row; a sparse system may lower it */
  int stride;  /* between rows of G */
  int* column; /* [width] ascending, to be written; NULL when rows are dense, width = nv */
  double* G;   /* [count x stride] */
  double* b;   /* [count] m/s */
  double* c;   /* [count] m/s^2; NULL: not requested; needs v */
} saltus_rows;

/* Properties of a system that permit shortcuts. saltus_system_check tests them. */
enum {
  SALTUS_CONSTANT_MASS = 1, /* M depends neither on t nor on q */
  SALTUS_LINEAR_FORCE =
      2, /* F_q and F_v are constant: F is affine in q and v, with any dependence on t */
  SALTUS_FREE_FORCE = 4,         /* F_q = F_v = 0 */
  SALTUS_CONSTANT_NORMALS = 8,   /* G and b are constant: gaps are affine in q and t */
  SALTUS_CHANGING_CONTACTS = 16, /* time-varying contact set; dims.nc is an initial capacity */
  SALTUS_STILL_OBSTACLES = 32    /* b of contacts is 0: no obstacle has a prescribed motion */
};

typedef struct saltus_dims {
  int nq;         /* coordinates */
  int nv;         /* velocities */
  int nj;         /* bilateral constraint rows */
  int nc;         /* contacts; for a time-varying set an initial capacity */
  int row_width;  /* most entries of a sparse row; 0: rows are dense */
  size_t scratch; /* bytes of saltus_point.scratch */
  SALTUS_RESERVED(2);
} saltus_dims;

/* Couplings of M, F_v and F_q (and spring_q, spring_v): blocks of consecutive velocities, as of bodies, and the pairs
 * of blocks that springs, dampers and the like couple. docs/structure.md. */
typedef struct saltus_structure {
  int blocks;
  const int* start; /* [blocks + 1] first velocity of each block, ascending from 0 to nv */
  int pairs;
  const int* pair; /* [2 pairs] blocks i < j, each pair once */
} saltus_structure;

/* User-defined linear algebra of a system; replaces that of the library. */
typedef struct saltus_linear_ops {
  size_t (*bytes)(const void* self); /* of one factored matrix */
  /* A = m M(t,q) + fv F_v(t,q,v) + fq F_q(t,q,v), factored; SALTUS_ERR_SINGULAR if A is singular. */
  saltus_status (*assemble)(const void* self, void* matrix, const saltus_point* at, double m,
                            double fv, double fq);
  void (*solve)(const void* self, const void* matrix, double* x); /* x <- A^-1 x */
  void (*mass_times)(const void* self, const saltus_point* at, const double* x, double* y);
  bool diagonal; /* A is diagonal: solve divides entry by entry */
  /* A^-1 times a row with `width` entries in ascending columns: writes ascending columns and values of the structural
   * nonzeros, returns their number. NULL: `solve`, with a dense column. */
  int (*solve_row)(const void* self, const void* matrix, int width, const int* column,
                   const double* entries, int* out_column, double* out);
  SALTUS_RESERVED(6);
} saltus_linear_ops;

/* Entries with a comment "NULL: ..." may be NULL; the comment states the fallback. Matrices are dense, row major. A
 * callback that cannot evaluate calls saltus_fail, or writes NaN: no NaN passes the end of a step. */
typedef struct saltus_system_ops {
  void (*mass)(const void* self, const saltus_point* at, double* M);  /* [nv x nv]; ? from blocks */
  void (*force)(const void* self, const saltus_point* at, double* F); /* [nv] */

  /* For a time-varying set SALTUS_RETRY_CAPACITY if the capacity is too small, with count = required number, or 0.
   * NULL: no contacts. */
  saltus_status (*contacts)(const void* self, const saltus_point* at, saltus_contact_list* list);
  void (*contact)(const void* self, const saltus_point* at, uint64_t identity, saltus_rows* rows);
  /* Gaps of some contacts, also beyond any reach. NULL: those of `contacts`. */
  saltus_status (*gaps)(const void* self, const saltus_point* at, int count,
                        const uint64_t* identity, double* gap);
  /* Every contact whose gap can be up to list->reach somewhere in the box; gaps are not written. Otherwise as
   * `contacts`; SALTUS_RETRY_SMALLER: the box is too large for a list. Needs `gaps`. NULL: contacts are listed at
   * sample points only. */
  saltus_status (*sweep)(const void* self, const saltus_box* over, saltus_contact_list* list);
  /* Point, normal and bodies of a contact; SALTUS_ERR_RANGE: there is no such contact. Any identity may be requested.
   * NULL: not available. */
  saltus_status (*place)(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_contact_place* place);
  void (*joints)(const void* self, const saltus_point* at, double* g); /* [nj]; NULL: no joints */
  /* All rows of a joint, which share their columns. NULL: none. */
  void (*joint)(const void* self, const saltus_point* at, int joint, saltus_rows* rows);

  void (*force_q)(const void* self, const saltus_point* at, double* F_q); /* NULL: differences */
  void (*force_v)(const void* self, const saltus_point* at, double* F_v); /* NULL: differences */
  /* A = m M + fv F_v + fq F_q on the structure: the diagonal blocks in order, then for each pair (i, j) the block of
   * row i and that of row j, each row major. NULL: from mass, force_q and force_v. */
  void (*blocks)(const void* self, const saltus_point* at, double m, double fv, double fq,
                 double* values);
  /* Parts of F_q and F_v that springs and dampers have without the curvature of their elongation (Gauss-Newton):
   * symmetric and negative semidefinite for every motion. Both or neither. NULL: not available. */
  void (*spring_q)(const void* self, const saltus_point* at, double* K); /* [nv x nv] */
  void (*spring_v)(const void* self, const saltus_point* at, double* D); /* [nv x nv] */
  /* d(M v)/dq at fixed v [nv x nv], dT/dq [nv]. NULL: differences. */
  void (*mass_q)(const void* self, const saltus_point* at, double* Mv_q);
  void (*kinetic_gradient)(const void* self, const saltus_point* at, double* T_q);
  double (*kinetic)(const void* self, const saltus_point* at);   /* J; NULL: v^T M v / 2 */
  double (*potential)(const void* self, const saltus_point* at); /* J; NULL: not available */
  /* power[0]: W, of forces without a potential, Q . v; power[1]: W, of explicit time in the energies, V_t - T_t. Only
   * for the ledger; docs/ledger.md. NULL: differences of energies. */
  void (*power)(const void* self, const saltus_point* at, double power[2]);
  /* J, 2 T - v . T_v: twice the part of T without v and once the part that is linear in v, where `kinetic` contains a
   * prescribed motion of the coordinates. NULL: zero. */
  double (*frame_energy)(const void* self, const saltus_point* at);

  void (*rate)(const void* self, const double* q, const double* v, double* dq); /* NULL: q' = v */
  /* Exact along constant v, so q advanced by a and by b is q advanced by a + b. NULL: q1 = q + h v. */
  void (*advance)(const void* self, const double* q, const double* v, double h, double* q1);

  const saltus_linear_ops* linear;       /* NULL: by structure */
  const saltus_enclosure_ops* enclosure; /* NULL: none: events between samples can be missed */

  /* Source text of a part, or NULL. NULL: no texts. */
  const char* (*formula)(const void* self, saltus_part part, int i);

  /* The shortest d [nv] with advance(q0, d, 1) = q1, in m and rad for any parametrisation q. NULL: d = q1 - q0. */
  void (*difference)(const void* self, const double* q0, const double* q1, double* d);
  /* Normalises q: quaternions to length 1, angles of joints to those of the poses. Changes q by no more than its
   * defect. NULL: q stays as it is. */
  void (*normalise)(const void* self, double* q);
  /* y = E p for momenta p over a step with displacement d, both [nv], for schemes of a discrete action: for a rotation
   * d of a body y = p + (1 - (a/2) cot(a/2)) / a^2 d x (d x p), a = |d|; p where q' = v. NULL: differences. */
  void (*turn_momentum)(const void* self, const double* d, const double* p, double* y);
  /* Constraint Hessian of a joint, over the columns of its rows; K and U_q are zero before. K [width x width] = d(G
   * P)/dq at multipliers P [rows], of a closed joint on its null space: y^T K x where G^T x = G^T y = 0. U_q [rows x
   * width] = d(G^T v + b)/dq at fixed v. Returns whether K couples blocks of the structure, the same for all states;
   * with K and U_q NULL it only returns this. docs/structure.md. NULL: unknown. */
  bool (*joint_hessian)(const void* self, const saltus_point* at, int joint, const double* P,
                        double* K, double* U_q);
  /* Guards: values that are positive while the features of a contact are in contact; returns their number, -1: always
   * valid. Requires `gaps`, `sweep` and `place`. NULL: contacts are valid wherever their gap is zero. */
  int (*guards)(const void* self, const saltus_point* at, uint64_t identity,
                double guard[SALTUS_GUARDS]);
  /* F of some velocities, ascending, F [count]: independent bodies are evaluated one by one. NULL: `force`. */
  void (*force_some)(const void* self, const saltus_point* at, int count, const int* velocity,
                     double* F);
  /* F [nv] += G P over all joints, U [nj] = G^T v + b. NULL: by `joint`. */
  void (*joints_act)(const void* self, const saltus_point* at, const double* P, double* F,
                     double* U);
  /* text[size] describes the obstacle of a failed step from `at` over h (0: at the state); false: none found. */
  bool (*obstacle)(const void* self, const saltus_point* at, double h, char* text, size_t size);
  /* `advance` inside a step: angles of joints are undefined where neither forces nor joints read them. NULL: `advance`. */
  void (*advance_within)(const void* self, const double* q, const double* v, double h, double* q1);
  /* The row of dry friction i of saltus_system.dry. NULL: there is none. */
  void (*dry)(const void* self, const saltus_point* at, int i, saltus_rows* rows);
  /* Name of a contact of a time-varying set, such as its features; "": name of its law. NULL: the name of its law. */
  void (*contact_text)(const void* self, uint64_t identity, char* text, size_t size);
  SALTUS_RESERVED(5);
} saltus_system_ops;

typedef struct saltus_label {
  const char *name, *unit;
} saltus_label;

/* A view: ops, self, laws and labels are owned by the caller and have to outlive all objects that use it. */
typedef struct saltus_system {
  const saltus_system_ops* ops;
  const void* self;
  saltus_dims dims;
  unsigned traits;                /* SALTUS_CONSTANT_MASS and the like */
  const saltus_contact_law* laws; /* [law_count]; for a fixed set of contacts law_count = nc */
  int law_count;
  const saltus_label* q_labels;      /* [nq] or NULL */
  const saltus_label* v_labels;      /* [nv] or NULL */
  const char* const* joint_names;    /* [nj] by row, or NULL */
  const saltus_structure* structure; /* NULL: one block */
  int joint_count;
  const int* joint_first; /* [joint_count + 1] first row of each; NULL: every row is a joint */
  const saltus_impacts* impacts;  /* multiple impacts; NULL: simultaneous */
  const saltus_dry_friction* dry; /* [dry_count] dry friction other than that of contacts */
  int dry_count;
  const bool* rate_rows; /* [nj] nonholonomic rows of joints, whose g is 0; NULL: none */
  /* The model with forces -F sign(U) as dry friction, for schemes that choose their steps; NULL: none. */
  const struct saltus_system* set_valued;
  SALTUS_RESERVED(3);
} saltus_system;

/* SALTUS_ERR_RANGE with a message that names the fault: missing callbacks, negative sizes, laws out of range. Called by
 * all functions that take a system. */
SALTUS_API saltus_status saltus_system_validate(const saltus_system* system, saltus_log log);

/* SALTUS_ERR_UNDEFINED when an energy, a mass, a force, a gap or a joint of the system, or a derivative of a joint or a
 * closed contact, is not finite at a state: text[size] then names it, its formula where there is one, and the values.
 * SALTUS_ERR_SYSTEM with the text of a callback that fails. SALTUS_OK leaves text empty. */
SALTUS_API saltus_status saltus_system_diagnose(const saltus_system* system, double t,
                                                const double* q, const double* v, char* text,
                                                size_t size);

SALTUS_END_DECLS

#include "saltus/system_check.h"

#endif
