/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * discs.c - see discs.h.
 */
#include "discs.h"

#include <math.h>
#include <string.h>

/* No disc has this number, and it is the largest. */
static const unsigned floor_number = 0xffffffffU;
enum { PAIRED = 1 };

discs discs_usual(int n) {
  discs d = {.count = n,
             .r = 0.1,
             .g = 9.81,
             .laws = {{.name = "floor", .e_N = 0.5}, {.name = "pair", .e_N = 0.7}},
             .near = INFINITY,
             .flicker = 0.0,
             .first = 1};
  for (int i = 0; i < n; i++) {
    d.number[i] = (unsigned)i;
  }
  return d;
}

/* Contacts of a fixed set: floors, then pairs (i, j), j > i. A changing one: the two numbers. */
static uint64_t name_of(const discs* d, int i, int j) {
  if (!d->changing) {
    int before = i * d->count - i * (i + 1) / 2; /* pairs of earlier discs */
    return (uint64_t)(j < 0 ? i : d->count + before + j - i - 1);
  }
  uint64_t a = d->number[i];
  uint64_t b = j < 0 ? floor_number : d->number[j];
  return a < b ? a << 32 | b : b << 32 | a;
}

static int find_disc(const discs* d, unsigned number) {
  int i = 0;
  while (i < d->count && d->number[i] != number) {
    i++;
  }
  return i < d->count ? i : -1;
}

/* The discs of a contact, ascending; the second is -1 for the floor. */
static void discs_of(const discs* d, uint64_t identity, int* i, int* j) {
  if (d->changing) {
    int a = find_disc(d, (unsigned)(identity >> 32));
    int b = find_disc(d, (unsigned)identity);
    *i = b < 0 || a < b ? a : b;
    *j = b < 0 || a < b ? b : a;
    return;
  }
  int rest = (int)identity - d->count;
  *i = rest < 0 ? (int)identity : 0;
  *j = -1;
  while (rest >= 0 && rest >= d->count - 1 - *i) {
    rest -= d->count - 1 - *i;
    *i += 1;
  }
  *j = (int)identity < d->count ? -1 : *i + 1 + rest;
}

static double gap_of(const discs* d, const double* q, int i, int j) {
  if (j < 0) {
    return q[2 * i + 1] - d->r;
  }
  return hypot(q[2 * i] - q[2 * j], q[2 * i + 1] - q[2 * j + 1]) - 2.0 * d->r;
}

static void mass(const void* self, const saltus_point* at, double* M) {
  (void)at;
  const discs* d = self;
  int n = 2 * d->count;
  for (int i = 0; i < n * n; i++) {
    M[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const discs* d = self;
  for (int i = 0; i < d->count; i++) {
    F[2 * i] = 0.0;
    F[2 * i + 1] = -d->g;
  }
}

/* Some bits of a state and a contact, different at the next state. */
static unsigned toss(const discs* d, const saltus_point* at, uint64_t identity) {
  uint64_t bits = 0;
  memcpy(&bits, &at->t, sizeof bits);
  uint64_t x = (bits ^ identity * UINT64_C(0x9e3779b97f4a7c15)) + d->seed;
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (unsigned)(x >> 40);
}

static bool is_gone(const discs* d, double t, int j) {
  return d->fault == DISCS_LEAVES && t > 0.3 && j < 0;
}

static bool is_listed(const discs* d, const saltus_point* at, uint64_t identity, double gap) {
  return !d->changing || !(gap > d->near) || (gap <= d->flicker && toss(d, at, identity) % 2U == 0);
}

static void plant(const discs* d, const saltus_point* at, saltus_contact_list* list) {
  int last = list->count - 1;
  switch (d->fault) {
  case DISCS_SOUND:
  case DISCS_LEAVES:
    break;
  case DISCS_TWICE:
    list->identity[last] = list->identity[0];
    list->law[last] = list->law[0];
    break;
  case DISCS_NO_LAW:
    list->law[last] = 2;
    break;
  case DISCS_OTHER_LAW:
    list->law[last] = at->t > 0.1 ? 1 - list->law[last] : list->law[last];
    break;
  case DISCS_NO_NUMBER:
    list->gap[last] = NAN;
    break;
  case DISCS_TOO_MANY:
    list->count = list->capacity + 1;
    break;
  case DISCS_BAD_REACH:
    list->reach = -1.0;
    break;
  }
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const discs* d = self;
  int count = 0;
  for (int i = 0; i < d->count; i++) {
    for (int j = -1; j < d->count; j = j < 0 ? i + 1 : j + 1) {
      uint64_t identity = name_of(d, i, j);
      double gap = gap_of(d, at->q, i, j);
      int place = d->changing ? count : (int)identity;
      if (!is_listed(d, at, identity, gap) || is_gone(d, at->t, j)) {
        continue;
      }
      if (place < list->capacity) {
        list->gap[place] = gap;
        list->identity[place] = identity;
        list->law[place] = j < 0 ? 0 : PAIRED;
      }
      count++;
    }
  }
  list->count = count;
  if (count > list->capacity) {
    return SALTUS_RETRY_CAPACITY;
  }
  list->reach = d->changing ? fmin(list->reach, d->near) : list->reach;
  plant(d, at, list);
  return SALTUS_OK;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  const discs* d = self;
  int i;
  int j;
  discs_of(d, identity, &i, &j);
  if (j < 0) {
    rows->G[2 * i + 1] = 1.0;
    if (rows->count > 1) {
      rows->G[rows->stride + 2 * i] = 1.0;
    }
    return;
  }
  const double* q = at->q;
  double x = q[2 * i] - q[2 * j];
  double y = q[2 * i + 1] - q[2 * j + 1];
  double length = hypot(x, y);
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? 1.0 : -1.0;
    int k = side == 0 ? i : j;
    rows->G[2 * k] = sign * x / length;
    rows->G[2 * k + 1] = sign * y / length;
    if (rows->count > 1) {
      rows->G[rows->stride + 2 * k] = -sign * y / length;
      rows->G[rows->stride + 2 * k + 1] = sign * x / length;
    }
  }
  if (rows->c != NULL) {
    double vx = at->v[2 * i] - at->v[2 * j];
    double vy = at->v[2 * i + 1] - at->v[2 * j + 1];
    double across = (x * vy - y * vx) / length;
    double along = (x * vx + y * vy) / length;
    rows->c[0] = across * across / length;
    if (rows->count > 1) {
      rows->c[1] = -across * along / length;
    }
  }
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const discs* d = self;
  for (int k = 0; k < count; k++) {
    int i;
    int j;
    discs_of(d, identity[k], &i, &j);
    gap[k] = is_gone(d, at->t, j) ? 1.0 : gap_of(d, at->q, i, j);
  }
  return SALTUS_OK;
}

/* Least distance between two intervals of one coordinate. */
static double apart(const saltus_box* over, int a, int b) {
  return fmax(0.0, fmax(over->q_low[a] - over->q_high[b], over->q_low[b] - over->q_high[a]));
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  const discs* d = self;
  list->count = 0;
  for (int i = 0; i < d->count; i++) {
    for (int j = -1; j < d->count; j = j < 0 ? i + 1 : j + 1) {
      double least =
          j < 0 ? over->q_low[2 * i + 1] - d->r
                : hypot(apart(over, 2 * i, 2 * j), apart(over, 2 * i + 1, 2 * j + 1)) - 2.0 * d->r;
      if (least > list->reach) {
        continue;
      }
      if (list->count < list->capacity) {
        list->identity[list->count] = name_of(d, i, j);
        list->law[list->count] = j < 0 ? 0 : PAIRED;
      }
      list->count++;
    }
  }
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static double potential(const void* self, const saltus_point* at) {
  const discs* d = self;
  double V = 0.0;
  for (int i = 0; i < d->count; i++) {
    V += d->g * at->q[2 * i + 1];
  }
  return V;
}

saltus_system discs_system(const discs* self, saltus_system_ops* ops) {
  *ops = (saltus_system_ops){.mass = mass,
                             .force = force,
                             .contacts = contacts,
                             .contact = contact,
                             .gaps = self->knows_gaps ? gaps : NULL,
                             .sweep = self->knows_sweep ? sweep : NULL,
                             .potential = potential};
  int n = self->count;
  unsigned traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE;
  return (saltus_system){
      .ops = ops,
      .self = self,
      .dims = {.nq = 2 * n, .nv = 2 * n, .nc = self->changing ? self->first : n + n * (n - 1) / 2},
      .traits = self->changing ? traits | SALTUS_CHANGING_CONTACTS : traits,
      .laws = self->laws,
      .law_count = 2};
}
