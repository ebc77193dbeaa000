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
 * never accesses M: it requests assembly, factorisation and solution of  A = m M + v F_v + q F_q,  by the structure that a
 * system declares or by a `linear` table of its own. Rows may be sparse. docs/architecture.md gives the reasons.
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

/* Where a system is evaluated. scratch holds dims.scratch bytes that belong to this evaluation
 * thread, zero before the first call: a system may keep intermediate values there, since `self` is constant. */
typedef struct saltus_point {
  double t;
  const double* q; /* [nq] */
  const double* v; /* [nv]; NULL where velocities play no part */
  void* scratch;
  struct saltusi_contact_keys* keys; /* of the library, NULL outside of it */
  saltus_failure* failure;           /* for saltus_fail; NULL: not requested */
} saltus_point;

/* Called by a callback that cannot evaluate: the step is undone and ends with SALTUS_ERR_SYSTEM and this text, whatever
 * was made of the values written. The first failure of a step is kept. */
SALTUS_API void saltus_fail(const saltus_point* at, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Components of a system, for messages; all but energies with the index of a coordinate, contact or joint. */
typedef enum saltus_part {
  SALTUS_PART_KINETIC,
  SALTUS_PART_POTENTIAL,
  SALTUS_PART_MASS, /* row of the mass matrix */
  SALTUS_PART_FORCE,
  SALTUS_PART_GAP,
  SALTUS_PART_JOINT
} saltus_part;

/* The contacts at one configuration. An identity is permanent, for instance the feature pair. A fixed
 * set of contacts writes only `gap`: count = dims.nc, identity[i] = i and law[i] = i are set before the call; one that
 * shares laws writes `law` too. docs/contacts.md. */
typedef struct saltus_contact_list {
  int count;
  int capacity;
  double reach; /* m; in: gaps up to this are requested; out: every contact with a gap up to this is
                       * in the list; infinite: all there are */
  double* gap;  /* [capacity] m, positive when apart */
  uint64_t* identity; /* [capacity] all different */
  int* law;           /* [capacity] place in saltus_system.laws; one law for one identity, always */
  double
      horizon; /* s; in: contacts that velocities can bring within reach in this time are included; 0: none */
  bool
      concise; /* in: contacts may be left out that hold whenever others of the system do, listed or not */
} saltus_contact_list;

/* Law of an entry of `sweep` that is a separation monitor: a function of `gaps` that is positive while its shapes are
 * separated, such as their distance. At its root the contacts are listed. docs/contacts.md. */
enum { SALTUS_WATCH = -1, SALTUS_GUARDS = 16, SALTUS_LIES_DOWN = 64, SALTUS_TILTS = 128 };

/* Where a system may be within a step. */
typedef struct saltus_box {
  double t0, t1;          /* s */
  const double* q_low;    /* [nq] */
  const double* q_high;   /* [nq] */
  const uint64_t* closed; /* [closed_count] contacts that touch when the step begins */
  int closed_count;
  void* scratch; /* of saltus_point */
} saltus_box;

/* Where a contact is, for recordings and viewers. */
typedef struct saltus_contact_place {
  int bodies[2];    /* -1: none, the ground */
  double point[3];  /* m */
  double normal[3]; /* of length 1, towards the first body */
  SALTUS_RESERVED(2);
} saltus_contact_place;

/* Rows of one joint or contact. All arrays are zero before the call. */
typedef struct saltus_rows {
  int count;   /* requested rows: all of a joint; of a contact 1 + tangents, the normal alone, or
                  * those of saltus_contact_rows */
  int width;   /* entries of a row; a sparse system may lower it */
  int stride;  /* between rows of G */
  int* column; /* [width] ascending, to be written; NULL when rows are dense, width = nv */
  double* G;   /* [count x stride] */
  double* b;   /* [count] m/s */
  double* c;   /* [count] m/s^2; NULL: not requested; needs v */
} saltus_rows;

/* Properties of a system that permit shortcuts. saltus_system_check tests them. */
enum {
  SALTUS_CONSTANT_MASS = 1,    /* M depends neither on t nor on q */
  SALTUS_LINEAR_FORCE = 2,     /* F_q and F_v are constant: F is affine in q and v, anything in t */
  SALTUS_FREE_FORCE = 4,       /* F_q = F_v = 0 */
  SALTUS_CONSTANT_NORMALS = 8, /* G and b are constant: gaps are affine in q and t */
  SALTUS_CHANGING_CONTACTS = 16, /* time-varying contact set; dims.nc is an initial capacity */
  SALTUS_STILL_OBSTACLES = 32    /* b of contacts is 0: no obstacle has a prescribed motion */
};

typedef struct saltus_dims {
  int nq;         /* coordinates */
  int nv;         /* velocities */
  int nj;         /* bilateral constraint rows */
  int nc;         /* contacts; of a changing set a first guess */
  int row_width;  /* most entries of a sparse row; 0: rows are dense */
  size_t scratch; /* bytes of saltus_point.scratch */
  SALTUS_RESERVED(2);
} saltus_dims;

/* Which velocities M, F_v and F_q couple (spring_q and spring_v too): blocks of neighbouring velocities, as of bodies,
 * and the pairs of blocks that springs, dampers and the like connect. docs/structure.md. */
typedef struct saltus_structure {
  int blocks;
  const int* start; /* [blocks + 1] first velocity of each block, ascending from 0 to nv */
  int pairs;
  const int* pair; /* [2 pairs] blocks i < j, each pair once */
} saltus_structure;

/* A system's own linear algebra; replaces that of the library. */
typedef struct saltus_linear_ops {
  size_t (*bytes)(const void* self); /* of one factored matrix */
  /* A = m M(t,q) + fv F_v(t,q,v) + fq F_q(t,q,v), factored; SALTUS_ERR_SINGULAR when it cannot. */
  saltus_status (*assemble)(const void* self, void* matrix, const saltus_point* at, double m,
                            double fv, double fq);
  void (*solve)(const void* self, const void* matrix, double* x); /* x <- A^-1 x */
  void (*mass_times)(const void* self, const saltus_point* at, const double* x, double* y);
  bool diagonal; /* A is diagonal: solve divides entry by entry */
  /* ? solve. A^-1 times a row with `width` entries in ascending columns: writes ascending columns and
   * values of the structural nonzeros, returns their number. */
  int (*solve_row)(const void* self, const void* matrix, int width, const int* column,
                   const double* entries, int* out_column, double* out);
  SALTUS_RESERVED(6);
} saltus_linear_ops;

/* Entries marked ? may be NULL and have the fallback given. Matrices are dense, row major. A callback that
 * cannot evaluate calls saltus_fail, or writes NaN: no NaN passes the end of a step. */
typedef struct saltus_system_ops {
  void (*mass)(const void* self, const saltus_point* at, double* M);  /* [nv x nv]; ? from blocks */
  void (*force)(const void* self, const saltus_point* at, double* F); /* [nv] */

  /* ? no contacts. Of a changing set SALTUS_RETRY_CAPACITY when the capacity is too small, count = how many, or 0. */
  saltus_status (*contacts)(const void* self, const saltus_point* at, saltus_contact_list* list);
  void (*contact)(const void* self, const saltus_point* at, uint64_t identity, saltus_rows* rows);
  /* ? those of `contacts`. Gaps of some contacts, also beyond any reach. */
  saltus_status (*gaps)(const void* self, const saltus_point* at, int count,
                        const uint64_t* identity, double* gap);
  /* ? lists at points alone. Every contact whose gap can be up to list->reach somewhere in the box; gaps
   * are not written. Otherwise as `contacts`; SALTUS_RETRY_SMALLER: the box is too large for a list. Needs `gaps`. */
  saltus_status (*sweep)(const void* self, const saltus_box* over, saltus_contact_list* list);
  /* ? unknown. SALTUS_ERR_RANGE: there is no such contact; any identity may be requested. */
  saltus_status (*place)(const void* self, const saltus_point* at, uint64_t identity,
                         saltus_contact_place* place);
  void (*joints)(const void* self, const saltus_point* at, double* g); /* ? [nj] */
  /* ? none. All rows of a joint, which share their columns. */
  void (*joint)(const void* self, const saltus_point* at, int joint, saltus_rows* rows);

  void (*force_q)(const void* self, const saltus_point* at, double* F_q); /* ? differences */
  void (*force_v)(const void* self, const saltus_point* at, double* F_v); /* ? differences */
  /* ? from mass, force_q and force_v. A = m M + fv F_v + fq F_q on the structure: the diagonal blocks in order, then for
   * each pair (i, j) the block of row i and that of row j, each row major. */
  void (*blocks)(const void* self, const saltus_point* at, double m, double fv, double fq,
                 double* values);
  /* ? unknown. Parts of F_q and F_v that springs and dampers have without the curvature of their elongation
   * (Gauss-Newton): symmetric, negative semidefinite at every motion. Both or none. */
  void (*spring_q)(const void* self, const saltus_point* at, double* K);  /* [nv x nv] */
  void (*spring_v)(const void* self, const saltus_point* at, double* D);  /* [nv x nv] */
  void (*mass_q)(const void* self, const saltus_point* at, double* Mv_q); /* ? d(M v)/dq, v fixed */
  void (*kinetic_gradient)(const void* self, const saltus_point* at, double* T_q); /* ? [nv] */
  double (*kinetic)(const void* self, const saltus_point* at);   /* ? v^T M v / 2 */
  double (*potential)(const void* self, const saltus_point* at); /* ? unknown, NaN */
  /* ? differences. power[0]: W, of forces without a potential, Q . v; power[1]: W, of explicit time in the
   * energies, V_t - T_t. For the ledger alone; docs/ledger.md. */
  void (*power)(const void* self, const saltus_point* at, double power[2]);
  /* ? zero. J, 2 T - v . T_v: twice the part of T without v and once the part that is linear in v, where
   * `kinetic` contains a prescribed motion of the coordinates. */
  double (*frame_energy)(const void* self, const saltus_point* at);

  void (*rate)(const void* self, const double* q, const double* v, double* dq); /* ? q' = v */
  /* ? q1 = q + h v. Exact along constant v, so q advanced by a and by b is q advanced by a + b. */
  void (*advance)(const void* self, const double* q, const double* v, double h, double* q1);

  const saltus_linear_ops* linear;       /* ? by structure */
  const saltus_enclosure_ops* enclosure; /* ? none: events between samples can be missed */

  /* ? none. The text that a part was made from; NULL: there is none. */
  const char* (*formula)(const void* self, saltus_part part, int i);

  /* ? q1 - q0. The d [nv] with advance(q0, d, 1) = q1, in m and rad whatever q is made of; the shortest. */
  void (*difference)(const void* self, const double* q0, const double* q1, double* d);
  /* ? nothing. Normalises q: quaternions to length 1, angles of joints to those of the poses.
   * Changes q by no more than its defect. */
  void (*normalise)(const void* self, double* q);
  /* ? differences. y = E p for momenta p over a step along the way d, both [nv], as schemes of a discrete action
   * need it: for a turn d of a body y = p + (1 - (a/2) cot(a/2)) / a^2 d x (d x p), a = |d|; p where q' = v. */
  void (*turn_momentum)(const void* self, const double* d, const double* p, double* y);
  /* ? unknown. Constraint Hessian of a joint, over the columns of its rows; K and U_q are zero before. K [width x width] =
   * d(G P)/dq at multipliers P [rows], of a closed joint on its null space: y^T K x where G^T x = G^T y = 0.
   * U_q [rows x width] = d(G^T v + b)/dq at fixed v. Returns whether K couples blocks of the structure, the same
   * for all states; with K and U_q NULL only that. docs/structure.md. */
  bool (*joint_bend)(const void* self, const saltus_point* at, int joint, const double* P,
                     double* K, double* U_q);
  /* ? contacts hold wherever their gap is zero. Values that are positive while the features of a contact are those
   * that touch; how many. -1: this one holds everywhere. The system then has `gaps`, `sweep` and `place`. */
  int (*guards)(const void* self, const saltus_point* at, uint64_t identity,
                double guard[SALTUS_GUARDS]);
  /* ? force. F of some velocities, ascending, F [count]: independent bodies are evaluated
   * one by one. */
  void (*force_some)(const void* self, const saltus_point* at, int count, const int* velocity,
                     double* F);
  /* ? by `joint`. F [nv] += G P over all joints, U [nj] = G^T v + b. */
  void (*joints_act)(const void* self, const saltus_point* at, const double* P, double* F,
                     double* U);
  /* ? unknown. After a failure: text[size] describes the obstacle of a step from `at` over h (0: at
   * the state itself); false: none is found. */
  bool (*obstacle)(const void* self, const saltus_point* at, double h, char* text, size_t size);
  /* ? advance. The same inside a step: angles of joints may have any value where neither forces nor joints read them. */
  void (*advance_within)(const void* self, const double* q, const double* v, double h, double* q1);
  /* ? none. The one row of dry friction i of saltus_system.dry. */
  void (*dry)(const void* self, const saltus_point* at, int i, saltus_rows* rows);
  /* ? the name of its law. A contact of a set that changes in words, as the features that touch; "": as its law. */
  void (*contact_text)(const void* self, uint64_t identity, char* text, size_t size);
  SALTUS_RESERVED(5);
} saltus_system_ops;

typedef struct saltus_label {
  const char *name, *unit;
} saltus_label;

/* A view: ops, self, laws and labels belong to the caller and outlive everything made from it. */
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
  const int*
      joint_first; /* [joint_count + 1] first row of each joint; NULL: every row is a joint */
  const saltus_impacts* impacts;  /* multiple impacts; NULL: simultaneous */
  const saltus_dry_friction* dry; /* [dry_count] dry friction beside that of contacts */
  int dry_count;
  const bool*
      rate_rows; /* [nj] rows of joints that hold a velocity alone, whose g is 0; NULL: none */
  SALTUS_RESERVED(4);
} saltus_system;

/* SALTUS_ERR_RANGE with a message that names the fault: missing callbacks, negative sizes, laws out of range. Called
 * by everything that takes a system. */
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
