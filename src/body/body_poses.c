/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * body_poses.c - poses of the bodies with shapes, and the workspace for evaluating their contacts.
 */
#include "body/contacts.h"

#include <assert.h>
#include <string.h>

void saltusi_shapes_body_pose(const saltus_mechanism* m, int body, const saltus_point* at,
                              saltusi_body_pose* out) {
  assert(m != NULL && at != NULL && out != NULL);
  saltusi_pose pose;
  saltusi_pose_at(m, body, at->t, at->q, &pose);
  memcpy(out->x, pose.x, sizeof pose.x);
  memcpy(out->R, pose.R, sizeof pose.R);
  memset(out->v, 0, sizeof out->v);
  memset(out->w, 0, sizeof out->w);
  if (m->bodies[body].kind == SALTUS_BODY_FIXED ||
      (m->bodies[body].kind == SALTUS_BODY_FREE && at->v == NULL)) {
    return;
  }
  saltusi_body_motion motion;
  saltusi_motion_at(m, body, at->t, at->v, &motion);
  memcpy(out->v, motion.v, sizeof motion.v);
  saltusi_turn(pose.R, motion.w, out->w);
}

static size_t rounded(size_t bytes) {
  return (bytes + SALTUS_ALIGNMENT - 1) / SALTUS_ALIGNMENT * SALTUS_ALIGNMENT;
}

/* Coordinates of a free body at which its cached pose was computed; compared bitwise. */
struct saltusi_shapes_carried {
  double q[7], v[6];
  uint64_t seal; /* any other value: the cache is empty */
};

static const uint64_t seal = 0x73616c7475733139U;

/* Cached poses of a workspace, and the coordinates at which they were computed. */
static saltusi_body_pose* carriers_in(const saltus_mechanism* m, void* scratch,
                                      saltusi_shapes_carried** made) {
  const size_t n = (size_t)m->body_count + 1;
  char* base = (char*)scratch + rounded(n * sizeof(saltusi_pose));
  *made = (saltusi_shapes_carried*)(void*)(base + rounded(n * sizeof(saltusi_body_pose)));
  return (saltusi_body_pose*)(void*)base;
}

/* Bitwise comparison of a few numbers; inline, since a call of memcmp costs more. */
static inline bool are_same(int count, const double* x, const double* y) {
  uint64_t off = 0;
  for (int k = 0; k < count; k++) {
    uint64_t a, b;
    memcpy(&a, x + k, sizeof a);
    memcpy(&b, y + k, sizeof b);
    off |= a ^ b;
  }
  return off == 0;
}

/* Computes the pose of a body unless the cached one is valid. */
static void carry(const saltus_mechanism* m, int body, const saltus_point* at,
                  saltusi_body_pose* carrier, saltusi_shapes_carried* made) {
  const saltusi_body* b = &m->bodies[body];
  if (b->kind != SALTUS_BODY_FREE || at->v == NULL) {
    made->seal = 0;
    saltusi_shapes_body_pose(m, body, at, carrier);
    return;
  }
  const double *q = at->q + b->q, *v = at->v + b->v;
  if (made->seal == seal && (m->plane ? are_same(3, made->q, q) && are_same(3, made->v, v)
                                      : are_same(7, made->q, q) && are_same(6, made->v, v))) {
    return;
  }
  const size_t nq = (m->plane ? 3 : 7) * sizeof(double), nv = (m->plane ? 3 : 6) * sizeof(double);
  memcpy(made->q, q, nq);
  memcpy(made->v, v, nv);
  made->seal = seal;
  saltusi_shapes_body_pose(m, body, at, carrier);
}

size_t saltusi_shapes_listed_most(const saltus_mechanism* m) {
  assert(m != NULL);
  enum { EACH = 24, FEW = 64 };
  return FEW + EACH * (size_t)m->world->count;
}

size_t saltusi_shapes_lay_out(const saltus_mechanism* m, void* scratch, saltusi_shapes_memory* to) {
  assert(m != NULL);
  enum { PLACES = 12 };
  const size_t n = (size_t)m->body_count + 1, most = saltusi_shapes_listed_most(m);
  const size_t nq = 7 * (size_t)m->body_count + (size_t)m->angle_count;
  const size_t bytes[PLACES] = {n * sizeof(saltusi_pose),
                                n * sizeof(saltusi_body_pose),
                                n * sizeof(saltusi_shapes_carried),
                                n * sizeof(double),
                                n * sizeof(double),
                                nq * sizeof(double),
                                sizeof(saltusi_shapes_listed),
                                nq * sizeof(double),
                                nq * sizeof(double),
                                most * sizeof(uint64_t),
                                most * sizeof(double),
                                most * sizeof(int)};
  char* base = scratch;
  size_t start[PLACES + 1] = {0};
  for (int k = 0; k < PLACES; k++) {
    start[k + 1] = start[k] + rounded(bytes[k]);
  }
  if (to != NULL) {
    to->carrier = carriers_in(m, scratch, &to->made);
    to->slack = (double*)(void*)(base + start[3]);
    to->turn = (double*)(void*)(base + start[4]);
    to->q = (double*)(void*)(base + start[5]);
    to->listed = (saltusi_shapes_listed*)(void*)(base + start[6]);
    to->listed->q = (double*)(void*)(base + start[7]);
    to->listed->v = (double*)(void*)(base + start[8]);
    to->listed->identity = (uint64_t*)(void*)(base + start[9]);
    to->listed->gap = (double*)(void*)(base + start[10]);
    to->listed->law = (int*)(void*)(base + start[11]);
    to->world = base + start[PLACES];
  }
  return start[PLACES] + saltusi_world_bytes(m->world);
}

const saltusi_body_pose* saltusi_shapes_carried_in(const saltus_mechanism* m, int body,
                                                   const saltus_point* at) {
  assert(m != NULL && at != NULL && at->scratch != NULL);
  saltusi_shapes_carried* made;
  saltusi_body_pose* carrier = carriers_in(m, at->scratch, &made);
  carry(m, body, at, &carrier[body], &made[body]);
  return &carrier[body];
}

void saltusi_shapes_transfer(const saltus_mechanism* m, int body, const saltus_point* at,
                             const saltusi_shapes_memory* room) {
  assert(m != NULL && at != NULL && room != NULL);
  carry(m, body, at, &room->carrier[body], &room->made[body]);
}
