/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * flexible_parts.h - flexible bodies at a state: frames, inertia and memory, for the files of flexible_system.h.
 */
#ifndef SALTUSI_FLEXIBLE_PARTS_H
#define SALTUSI_FLEXIBLE_PARTS_H

#include "math/rotation.h"
#include "model/flexible_system.h"

typedef struct saltusi_flexible_member {
  const saltus_flexible* data;
  int q, v;             /* of the floating frame, in the system: behind all modes */
  int eta;              /* first modal coordinate */
  const double* first;  /* [PLANES x modes] J_j and h_j of the undeformed body */
  const double* second; /* [PLANES x modes x modes] their derivatives by q_i, at [i x modes + j] */
} saltusi_flexible_member;

/* Components of symmetric J (xx, yy, zz, xy, xz, yz), then of h. */
enum { SALTUSI_FLEXIBLE_J = 6, SALTUSI_FLEXIBLE_PLANES = 9 };

typedef struct saltusi_carried {
  int part, frame;
  int q, v; /* q in the system, v in the inner system */
} saltusi_carried;

struct saltusi_flexible_system {
  saltus_system system, rigid;
  saltus_system_ops ops, rigid_ops;
  saltus_structure structure; /* one block */
  int start[2];
  const saltus_system* inner;
  saltusi_pool* pool;
  int parts, frames, modes;
  int nv_free; /* velocities of the inner system without those of carried bodies, which are behind */
  saltusi_flexible_member* part;
  saltusi_carried* carried;
  saltus_observables view;
  const saltus_observables* observed;
  int momentum; /* place of angular_momentum.x in the outputs; -1: none */
};

/* A frame at a state. */
typedef struct saltusi_frame_state {
  const saltusi_flexible_member* part;
  const saltus_flexible_frame* frame;
  const double *phi, *psi;
  double A[9], y[3];
  double theta[3], R[9]; /* R from the frame to the body; unit where it does not turn */
  double over;           /* 1/(1 + theta^2/4) */
} saltusi_frame_state;

typedef struct saltusi_flexible_space {
  double* v;         /* [nv_inner] */
  double* F;         /* [nv_inner] */
  double* M;         /* [nv_inner^2], also rows */
  double *J, *rates; /* [PLANES x modes] of the part with the most modes */
  double* X;         /* [nv_inner x nv], also [nv_inner^2] */
  double* x;         /* [nv] */
  int* column;
} saltusi_flexible_space;

/* Modal coordinates and their rates. */
const double* saltusi_flexible_eta_of(const saltusi_flexible_system* s,
                                      const saltusi_flexible_member* p, const double* q);
const double* saltusi_flexible_rate_of(const saltusi_flexible_system* s,
                                       const saltusi_flexible_member* p, const double* v);
/* out = rows [3 x modes] x */
void saltusi_flexible_rows_times(int modes, const double* rows, const double* x, double out[3]);
void saltusi_flexible_frame_at(const saltusi_flexible_system* s, const saltusi_carried* c,
                               const double* q, saltusi_frame_state* f);
/* Velocities of the frame, and with `a` the convective part of its accelerations, both [6]. */
void saltusi_flexible_frame_velocity(const saltusi_flexible_system* s, const saltusi_frame_state* f,
                                     const double* v, double out[6], double* a);
/* x [nv] += T^T g, g [6] forces on the frame. */
void saltusi_flexible_frame_force(const saltusi_flexible_system* s, const saltusi_frame_state* f,
                                  const double g[6], double* x);
/* Poses of carried bodies from the floating frames. */
void saltusi_flexible_place_frames(const saltusi_flexible_system* s, double* q);
/* out [PLANES x modes] = J_j and h_j at eta; h_j follows after J, SALTUSI_FLEXIBLE_J * modes. */
void saltusi_flexible_inertia_at(const saltusi_flexible_member* p, const double* eta, double* out);
/* Planes [from, to) of out += sum x_i second_ij. */
void saltusi_flexible_contract(const saltusi_flexible_member* p, int from, int to, const double* x,
                               double* out);
/* y [n] += sum over m rows of x_i A_i, rows `stride` apart. */
void saltusi_flexible_add_rows(int m, int n, ptrdiff_t stride, const double* x, const double* A,
                               double* y);
/* J - J0 as six components and with `h` sum h_j rate_j, from J_j and h_j at eta. */
void saltusi_flexible_totals(const saltusi_flexible_member* p, const double* eta,
                             const double* rate, const double* J, double dJ[SALTUSI_FLEXIBLE_J],
                             double* h);
/* The same without memory for J_j and h_j. */
void saltusi_flexible_sums(const saltusi_flexible_member* p, const double* eta, const double* rate,
                           double dJ[SALTUSI_FLEXIBLE_J], double h[3]);
/* out = J w, the components of J `stride` apart. */
void saltusi_flexible_turned(const double* J, int stride, const double w[3], double out[3]);
/* The tables of a part, in the pool. */
bool saltusi_flexible_tables(saltusi_pool* pool, saltusi_flexible_member* p);
/* Modal coordinates far beyond the size of the body. */
bool saltusi_flexible_beyond(const saltus_flexible* d, const double* eta);
/* Bytes of scratch; with `to` its parts. */
size_t saltusi_flexible_lay_out(const saltusi_flexible_system* s, void* scratch,
                                saltusi_flexible_space* to);
/* The point of the inner system. */
saltus_point saltusi_flexible_inside(const saltusi_flexible_system* s, const saltus_point* at,
                                     saltusi_flexible_space* to);

/* flexible_jacobians.c: F_q and F_v. */
/* A = m M + fv F_v + fq F_q, [nv x nv] */
void saltusi_flexible_blocks(const void* self, const saltus_point* at, double m, double fv,
                             double fq, double* A);
void saltusi_flexible_force_q(const void* self, const saltus_point* at, double* A);
void saltusi_flexible_force_v(const void* self, const saltus_point* at, double* A);

#endif
