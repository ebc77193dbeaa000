/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * evaluate.h - a system with its workspace, fallbacks and counters: the interface for schemes.
 */
#ifndef SALTUSI_EVALUATE_H
#define SALTUSI_EVALUATE_H

#include "saltus/memory.h"
#include "saltus/system.h"
#include "saltus/work.h"
#include "system/contact_keys.h"
#include "system/frictions.h"

#include <math.h>

typedef enum saltusi_bound_kind {
  SALTUSI_BOUND_COUNT,
  SALTUSI_BOUND_PAINLEVE,    /* no forces satisfy Coulomb's law */
  SALTUSI_BOUND_LAW,         /* forces of the step violate it */
  SALTUSI_BOUND_PENETRATION, /* no displacement resolves the penetrations of the step */
  SALTUSI_BOUND_IMPACT       /* no impulses satisfy the impact law */
} saltusi_bound_kind;

/* A bound that a step reached, for the message when it fails. */
typedef struct saltusi_bound {
  const char* what; /* is counted; NULL: no bound was reached */
  long long count;
  int key;  /* of the contact; -1: of none */
  double t; /* s, time that was reached */
  saltusi_bound_kind kind;
  double
      value; /* Painleve's paradox: 1/kg, acceleration of the gap per normal force with its friction; law: N; penetration: m */
  double limit; /* N, bound of Coulomb's law */
} saltusi_bound;

/* Indices of velocities, contacts and joint rows for messages. */
typedef struct saltusi_numbers {
  const int* velocity; /* [nv] */
  const int* contact;  /* [nc] */
  const int* row;      /* [nj] */
} saltusi_numbers;

/* Callback for the work of contact problems by contact. */
typedef struct saltusi_effort {
  void (*tell)(void* who, uint64_t identity, long long iterations); /* NULL: none */
  void* who;
} saltusi_effort;

static inline int saltusi_number(const int* numbers, int i) {
  return numbers != NULL && i >= 0 ? numbers[i] : i;
}

typedef struct saltusi_eval {
  saltus_system sys;
  saltus_work work;
  int threads;                /* for one contact problem; 0: 1 */
  const volatile int* cancel; /* NULL, or nonzero after a cancellation by the caller */
  bool (*poll)(void* who);    /* NULL, or a callback that returns true after a cancellation */
  void* who;
  void* scratch;
  double* q_shifted;          /* [nq] for differences */
  double* v_shifted;          /* [nv] */
  double* F_minus;            /* [nv] */
  double* F_plus;             /* [nv] */
  saltusi_contact_keys* keys; /* of a time-varying contact set; NULL: keys are identities */
  saltusi_step_capacity room; /* capacities of a step */
  saltus_failure* failure;    /* messages of the callbacks of a step */
  saltusi_bound bound;        /* of the last step */
  const saltus_contact_law*
      curves; /* [law_count] laws including friction curves, which sys.laws omit; NULL: no curves */
  const saltusi_numbers* numbers; /* NULL: their own */
  saltusi_effort effort;
  bool overflow;  /* a finite force of this step has a square that overflows */
  bool dependent; /* linearly dependent joints occurred; set by their solver */
} saltusi_eval;

/* Counts the iterations of a problem for a contact (if key is one); a linear system counts as one iteration. */
static inline void saltusi_effort_tell(const saltusi_eval* eval, int key, long long iterations) {
  if (eval->effort.tell != NULL && key >= 0) {
    const int* numbers = eval->numbers != NULL ? eval->numbers->contact : NULL;
    const uint64_t identity = eval->keys != NULL ? eval->keys->table.identity[key]
                                                 : (uint64_t)saltusi_number(numbers, key);
    eval->effort.tell(eval->effort.who, identity, iterations > 1 ? iterations : 1);
  }
}

/* Memory of saltus_point.scratch, zero as callbacks expect it. */
void* saltusi_scratch_layout(const saltus_dims* dims, saltus_arena* arena);

/* sys has to be set before. */
void saltusi_eval_layout(saltusi_eval* eval, saltus_arena* arena);
/* The same with the scratch of another evaluation of the system by the same thread. */
void saltusi_eval_layout_over(saltusi_eval* eval, void* scratch, saltus_arena* arena);

static inline saltus_point saltusi_at(const saltusi_eval* eval, double t, const double* q,
                                      const double* v) {
  return (saltus_point){.t = t,
                        .q = q,
                        .v = v,
                        .scratch = eval->scratch,
                        .keys = eval->keys,
                        .failure = eval->failure};
}

/* A callback of the system failed: its results are invalid. */
static inline bool saltusi_failed(const saltusi_eval* eval) {
  return eval->failure != NULL && eval->failure->status != SALTUS_OK;
}

/* The caller cancels the run. */
static inline bool saltusi_stopped(const saltusi_eval* eval) {
  return (eval->cancel != NULL && *eval->cancel != 0) ||
         (eval->poll != NULL && eval->poll(eval->who));
}

/* The same, or a callback failed: iterations end with SALTUS_ERR_STOPPED. */
static inline bool saltusi_cancelled(const saltusi_eval* eval) {
  return saltusi_failed(eval) || saltusi_stopped(eval);
}

/* 0 for numbers up to 1.8e150, NaN for larger ones, whose squares overflow, and for those that are not finite. */
static inline double saltusi_zero_times(int n, const double* x) {
  double zero = 0.0;
  for (int i = 0; i < n; i++) {
    zero += 0.0 * (1e158 * x[i]);
  }
  return zero;
}

void saltusi_force_overflow(saltusi_eval* eval, const double* F);

/* Notes finite forces whose squares overflow: the driver rejects the step. */
static inline void saltusi_force(saltusi_eval* eval, const saltus_point* at, double* F) {
  eval->work.force_evaluations++;
  eval->sys.ops->force(eval->sys.self, at, F);
  if (saltusi_zero_times(eval->sys.dims.nv, F) != 0.0) {
    saltusi_force_overflow(eval, F);
  }
}

/* Exact if provided by the system, otherwise by central differences. [nv x nv] */
void saltusi_force_q(saltusi_eval* eval, const saltus_point* at, double* F_q);
void saltusi_force_v(saltusi_eval* eval, const saltus_point* at, double* F_v);

/* q1 = q advanced along v by h; q1 must not be q. */
static inline void saltusi_advance(const saltus_system* sys, const double* q, const double* v,
                                   double h, double* restrict q1) {
  if (sys->ops->advance != NULL) {
    sys->ops->advance(sys->self, q, v, h, q1);
    return;
  }
  const int n = sys->dims.nq;
  for (int i = 0; i < n; i++) {
    q1[i] = q[i] + h * v[i];
  }
}

/* The same inside of a step, for forces and joints only. */
static inline void saltusi_advance_within(const saltus_system* sys, const double* q,
                                          const double* v, double h, double* q1) {
  if (sys->ops->advance_within != NULL) {
    sys->ops->advance_within(sys->self, q, v, h, q1);
  } else {
    saltusi_advance(sys, q, v, h, q1);
  }
}

/* Positions are not the integrals of velocities: q' = N(q) v with N other than the unit matrix. */
static inline bool saltusi_has_maps(const saltus_system* sys) {
  return sys->ops->advance != NULL;
}

/* dq = N(q) v; dq must not be v. */
static inline void saltusi_rate(const saltus_system* sys, const double* q, const double* v,
                                double* dq) {
  if (sys->ops->rate != NULL) {
    sys->ops->rate(sys->self, q, v, dq);
    return;
  }
  for (int i = 0; i < sys->dims.nq; i++) {
    dq[i] = v[i];
  }
}

/* d = q1 - q0 [nv] in m and rad: advance(q0, d, 1) = q1. d is neither q0 nor q1 with maps. */
static inline void saltusi_difference(const saltus_system* sys, const double* q0, const double* q1,
                                      double* d) {
  if (sys->ops->difference != NULL) {
    sys->ops->difference(sys->self, q0, q1, d);
    return;
  }
  for (int i = 0; i < sys->dims.nv; i++) {
    d[i] = q1[i] - q0[i];
  }
}

/* Normalises quaternions and the like after additions to positions. */
static inline void saltusi_normalise(const saltus_system* sys, double* q) {
  if (sys->ops->normalise != NULL) {
    sys->ops->normalise(sys->self, q);
  }
}

/* y = M x at a point; scratch has saltusi_mass_workspace doubles, at most nv^2. */
size_t saltusi_mass_workspace(const saltus_system* sys);
void saltusi_mass_times(const saltus_system* sys, const saltus_point* at, double* scratch,
                        const double* x, double* y);

/* Energies with the fallbacks of system.h; scratch_vector has nv entries, scratch_matrix nv^2. */
double saltusi_kinetic(const saltus_system* sys, const saltus_point* at, double* scratch_matrix,
                       double* scratch_vector);
double saltusi_potential(const saltus_system* sys, const saltus_point* at);

/* Contacts at a point, for schemes. A key is the index of a contact in arrays of nc. */
typedef struct saltusi_contact_list {
  int count;
  int capacity;
  double requested;   /* m, in: requests contacts with gaps up to this; infinite after the layout */
  double reach;       /* m, out: contacts that are not listed have larger gaps */
  double* gap;        /* [capacity] m */
  int* key;           /* [capacity] ascending */
  int* law;           /* [capacity] */
  uint64_t* identity; /* [capacity] */
  saltus_contact_list said; /* the arrays written by the system */
} saltusi_contact_list;

/* Whether the law index of a contact is its own index. */
static inline bool saltusi_laws_by_key(const saltus_system* sys) {
  return sys->law_count == sys->dims.nc && (sys->traits & SALTUS_CHANGING_CONTACTS) == 0;
}

void saltusi_contact_list_layout(saltusi_contact_list* list, const saltus_dims* dims,
                                 saltus_arena* arena);

/* Contacts of a time-varying set at a point. At points with keys they get keys; without them key[i] = i and rows are
 * evaluated by identity. */
saltus_status saltusi_contacts_listed(const saltus_system* sys, const saltus_point* at,
                                      saltusi_contact_list* list);
/* Error for a fixed set that lists more or other contacts. */
saltus_status saltusi_contacts_refuse(const saltus_system* sys, const saltus_point* at);

/* Contacts at a point, of any set. */
static inline saltus_status saltusi_contacts(const saltus_system* sys, const saltus_point* at,
                                             saltusi_contact_list* list) {
  if ((sys->traits & SALTUS_CHANGING_CONTACTS) != 0) {
    return saltusi_contacts_listed(sys, at, list);
  }
  const int count = sys->dims.nc;
  list->count = count;
  list->reach = INFINITY; /* all are listed */
  if (count == 0) {
    return SALTUS_OK;
  }
  list->said.count = count;
  list->said.reach = list->requested;
  saltus_status status = sys->ops->contacts(sys->self, at, &list->said);
  const bool all = status != SALTUS_RETRY_CAPACITY && list->said.count == count;
  return all ? status : saltusi_contacts_refuse(sys, at);
}

/* Consecutive rows of several joints and contacts. */
typedef struct saltusi_row_block {
  int stride;   /* room of a row */
  double* G;    /* [rows x stride] */
  int* column;  /* [rows x stride]; NULL when rows are dense */
  int* entries; /* [rows] */
  double* b;    /* [rows] */
  double* c;    /* [rows]; NULL: not requested */
} saltusi_row_block;

void saltusi_rows_layout(saltusi_row_block* block, const saltus_dims* dims, int rows,
                         bool convective, saltus_arena* arena);

/* Joints, and the rows of each. */
static inline int saltusi_joint_count(const saltus_system* sys) {
  return sys->joint_first != NULL ? sys->joint_count : sys->dims.nj;
}
static inline int saltusi_joint_first(const saltus_system* sys, int joint) {
  return sys->joint_first != NULL ? sys->joint_first[joint] : joint;
}
static inline int saltusi_joint_rows(const saltus_system* sys, int joint) {
  return saltusi_joint_first(sys, joint + 1) - saltusi_joint_first(sys, joint);
}
int saltusi_joint_of(const saltus_system* sys, int row);
/* Rows of the largest joint; 0: there is none. */
int saltusi_joint_rows_most(const saltus_system* sys);

/* The second tangent row of a contact as scaled for schemes, frictions.h. */
void saltusi_rows_scale(const saltus_contact_law* law, saltusi_row_block* block, int first);

/* Evaluates `count` rows of a contact without a key, or all rows of a joint, into the block from `first` on. */
void saltusi_rows_identity(const saltus_system* sys, const saltus_point* at, uint64_t identity,
                           int count, saltusi_row_block* block, int first);
/* The same for a contact by its key, at a point with keys; kept: whether the contact is used by the step. */
void saltusi_rows_keyed(const saltus_system* sys, const saltus_point* at, int key, int count,
                        saltusi_row_block* block, int first, bool kept);
/* The same for a contact of a fixed set. */
static inline void saltusi_rows_fixed(const saltus_system* sys, const saltus_point* at, int key,
                                      int count, saltusi_row_block* block, int first) {
  saltusi_rows_identity(sys, at, (uint64_t)key, count, block, first);
  if ((sys->traits & SALTUSI_SCALED_ROWS) != 0 && count > 2) {
    saltusi_rows_scale(&sys->laws[key], block, first);
  }
}
/* The same at any point. */
static inline void saltusi_rows_contact(const saltus_system* sys, const saltus_point* at, int key,
                                        int count, saltusi_row_block* block, int first) {
  if (at->keys == NULL) { /* most small systems have a fixed set */
    saltusi_rows_fixed(sys, at, key, count, block, first);
  } else {
    saltusi_rows_keyed(sys, at, key, count, block, first, true);
  }
}
/* Fails the step if a normal row is not finite, or zero in a user-defined system: no force along it could prevent
 * penetration. */
void saltusi_rows_refuse(const saltus_system* sys, const saltus_point* at, int key,
                         const saltusi_row_block* block, int row);
/* The same without marking the contact as used, for contacts that are only examined. */
static inline void saltusi_rows_peek(const saltus_system* sys, const saltus_point* at, int key,
                                     int count, saltusi_row_block* block, int first) {
  if (at->keys == NULL) {
    saltusi_rows_fixed(sys, at, key, count, block, first);
  } else {
    saltusi_rows_keyed(sys, at, key, count, block, first, false);
  }
}
void saltusi_rows_joint(const saltus_system* sys, const saltus_point* at, int joint,
                        saltusi_row_block* block, int first);
/* All rows of all joints, into the rows 0 .. nj - 1 of the block. */
void saltusi_rows_some_joints(const saltus_system* sys, const saltus_point* at,
                              saltusi_row_block* block);
static inline void saltusi_rows_joints(const saltus_system* sys, const saltus_point* at,
                                       saltusi_row_block* block) {
  if (sys->dims.nj > 0) { /* most small systems have none */
    saltusi_rows_some_joints(sys, at, block);
  }
}
/* The row of dry friction i. */
void saltusi_rows_dry(const saltus_system* sys, const saltus_point* at, int i,
                      saltusi_row_block* block, int first);
/* The joint of row `row` of the block; returns the index of the row in its joint. */
int saltusi_rows_joint_with(const saltus_system* sys, const saltus_point* at, int row,
                            saltusi_row_block* block);

/* G_row^T x */
static inline double saltusi_row_dot(const saltusi_row_block* block, int row, const double* x) {
  const double* G = block->G + (size_t)row * (size_t)block->stride;
  double sum = 0.0;
  if (block->column == NULL) {
    for (int k = 0; k < block->stride; k++) {
      sum += G[k] * x[k];
    }
    return sum;
  }
  const int* column = block->column + (size_t)row * (size_t)block->stride;
  for (int k = 0; k < block->entries[row]; k++) {
    sum += G[k] * x[column[k]];
  }
  return sum;
}

/* |G_row|^T |x|: size of G_row^T x without cancellation */
static inline double saltusi_row_size(const saltusi_row_block* block, int row, const double* x) {
  const double* G = block->G + (size_t)row * (size_t)block->stride;
  const int* column =
      block->column != NULL ? block->column + (size_t)row * (size_t)block->stride : NULL;
  int count = column != NULL ? block->entries[row] : block->stride;
  double sum = 0.0;
  for (int k = 0; k < count; k++) {
    sum += fabs(G[k] * x[column != NULL ? column[k] : k]);
  }
  return sum;
}

/* Sum of the sizes of the entries of a row. */
static inline double saltusi_row_sum(const saltusi_row_block* block, int row) {
  const double* G = block->G + (size_t)row * (size_t)block->stride;
  int count = block->column != NULL ? block->entries[row] : block->stride;
  double sum = 0.0;
  for (int k = 0; k < count; k++) {
    sum += fabs(G[k]);
  }
  return sum;
}

/* Rejects the normal row of a used contact if it is zero or not finite. */
static inline void saltusi_rows_check(const saltus_system* sys, const saltus_point* at, int key,
                                      const saltusi_row_block* block, int row) {
  const double size = saltusi_row_sum(block, row);
  if (!(size > 0.0 && size < (double)INFINITY)) {
    saltusi_rows_refuse(sys, at, key, block, row);
  }
}

/* Entry of a row in column i. */
static inline double saltusi_row_entry(const saltusi_row_block* block, int row, int i) {
  const double* G = block->G + (size_t)row * (size_t)block->stride;
  if (block->column == NULL) {
    return G[i];
  }
  const int* column = block->column + (size_t)row * (size_t)block->stride;
  for (int k = 0; k < block->entries[row]; k++) {
    if (column[k] == i) {
      return G[k];
    }
  }
  return 0.0;
}

/* x += s G_row */
static inline void saltusi_row_add(const saltusi_row_block* block, int row, double s, double* x) {
  const double* G = block->G + (size_t)row * (size_t)block->stride;
  if (block->column == NULL) {
    for (int k = 0; k < block->stride; k++) {
      x[k] += s * G[k];
    }
    return;
  }
  const int* column = block->column + (size_t)row * (size_t)block->stride;
  for (int k = 0; k < block->entries[row]; k++) {
    x[column[k]] += s * G[k];
  }
}

#endif
