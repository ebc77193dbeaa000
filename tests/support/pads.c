/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 */
#include "pads.h"

#include <math.h>
#include <string.h>

static const uint32_t first_ball = 0xfffffe00U;
static const uint32_t first_pad = 0x80000000U;
static const uint32_t ceiling_pads = 0x40000000U;

uint64_t pads_identity(int ball, int pad, bool ceiling) {
  uint32_t low = first_pad + (ceiling ? ceiling_pads : 0U) + (uint32_t)pad;
  return (uint64_t)(first_ball + (uint32_t)ball) << 32 | low;
}

void pads_pair(uint64_t identity, int* ball, int* pad, bool* ceiling) {
  uint32_t low = (uint32_t)identity - first_pad;
  *ceiling = low >= ceiling_pads;
  *pad = (int)(low - (*ceiling ? ceiling_pads : 0U));
  *ball = (int)((uint32_t)(identity >> 32) - first_ball);
}

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)at;
  const pads* p = self;
  int nv = 2 * p->balls;
  memset(M, 0, (size_t)nv * (size_t)nv * sizeof(double));
  for (int i = 0; i < nv; i++) {
    M[i * nv + i] = p->mass;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const pads* p = self;
  for (int b = 0; b < p->balls; b++) {
    F[2 * b] = 0.0;
    F[2 * b + 1] = -p->mass * p->gravity;
  }
}

static double potential(const void* self, const saltus_point* at) {
  const pads* p = self;
  double V = 0.0;
  for (int b = 0; b < p->balls; b++) {
    V += p->mass * p->gravity * at->q[2 * b + 1];
  }
  return V;
}

/* The gap to a row, and the pad below or above; false: too far away. */
static bool look(const pads* p, const double* q, int ball, bool ceiling, int* pad, double* gap) {
  double y = q[2 * ball + 1];
  *gap = ceiling ? 1.0 - y : y;
  *pad = (int)floor(q[2 * ball]);
  return *gap <= p->near && *pad >= 0;
}

int pads_listed(const pads* p, const double* q) {
  int count = 0;
  for (int b = 0; b < p->balls; b++) {
    for (int row = 0; row < 2; row++) {
      int pad;
      double gap;
      count += look(p, q, b, row == 1, &pad, &gap);
    }
  }
  return count;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const pads* p = self;
  int needed = pads_listed(p, at->q);
  list->count = needed;
  if (needed > list->capacity) {
    return SALTUS_RETRY_CAPACITY;
  }
  int i = 0;
  for (int b = 0; b < p->balls; b++) {
    for (int row = 0; row < 2; row++) {
      int pad;
      double gap;
      if (look(p, at->q, b, row == 1, &pad, &gap)) {
        list->gap[i] = gap;
        list->identity[i] = pads_identity(b, pad, row == 1);
        list->law[i++] = row;
      }
    }
  }
  list->reach = p->near;
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  (void)self;
  (void)at;
  int ball;
  int pad;
  bool ceiling;
  pads_pair(identity, &ball, &pad, &ceiling);
  rows->width = 1;
  rows->column[0] = 2 * ball + 1;
  rows->G[0] = ceiling ? -1.0 : 1.0;
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* where) {
  (void)self;
  int ball;
  int pad;
  bool ceiling;
  pads_pair(identity, &ball, &pad, &ceiling);
  *where = (saltus_contact_place){.bodies = {-1, ball},
                                  .point = {at->q[2 * ball], ceiling ? 1.0 : 0.0, 0.0},
                                  .normal = {0.0, ceiling ? -1.0 : 1.0, 0.0}};
  return SALTUS_OK;
}

static const saltus_system_ops ops = {
    .mass = mass,
    .force = force,
    .potential = potential,
    .contacts = contacts,
    .contact = contact,
    .place = place,
};

void pads_make(pads* p, int balls, double e) {
  *p = (pads){.balls = balls, .mass = 2.0, .near = 0.25, .room = 1};
  p->laws[0] = (saltus_contact_law){.name = "floor, low", .e_N = e};
  p->laws[1] = (saltus_contact_law){.name = "ceiling", .e_N = e};
  p->system = (saltus_system){
      .ops = &ops,
      .self = p,
      .dims = {.nq = 2 * balls, .nv = 2 * balls, .nc = p->room, .row_width = 1},
      .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE | SALTUS_CONSTANT_NORMALS |
                SALTUS_CHANGING_CONTACTS,
      .laws = p->laws,
      .law_count = 2,
  };
}
