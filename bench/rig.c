/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * rig.c - see rig.h. With p a point of a body at angle a, e_x and e_y its axes,
 *
 *   p = (x, y) + p_x e_x + p_y e_y,      p' = (x', y') + a' J (p - (x, y)),  J a quarter turn
 */
#include "rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81; /* m/s^2 */

/* Where a point is, and how far from the centre of its body. */
static void locate(const rig_point* p, const double* q, double* at, double* arm) {
  if (p->body < 0) {
    at[0] = p->x;
    at[1] = p->y;
    arm[0] = arm[1] = 0.0;
    return;
  }
  const double* own = q + 3 * p->body;
  double c = cos(own[2]);
  double s = sin(own[2]);
  arm[0] = c * p->x - s * p->y;
  arm[1] = s * p->x + c * p->y;
  at[0] = own[0] + arm[0];
  at[1] = own[1] + arm[1];
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const rig* r = self;
  memset(F, 0, 3 * (size_t)r->bodies * sizeof(double));
  for (int i = 0; i < r->bodies; i++) {
    F[3 * i + 1] = -gravity * r->mass[i];
  }
}

/* Gap and normal of a contact, from low to high, and arms from the centres to the point of contact. */
static double look(const rig* r, const double* q, int key, double* n, double arms[2][2]) {
  const rig_contact* c = &r->contact[key];
  double low[2];
  double high[2];
  locate(&c->low, q, low, arms[0]);
  locate(&c->high, q, high, arms[1]);
  double distance = high[1];
  n[0] = 0.0;
  n[1] = 1.0;
  if (c->low.body >= 0) {
    double d[2] = {high[0] - low[0], high[1] - low[1]};
    distance = sqrt(d[0] * d[0] + d[1] * d[1]);
    n[0] = d[0] / distance;
    n[1] = d[1] / distance;
  }
  for (int k = 0; k < 2; k++) {
    arms[0][k] += c->r_low * n[k];
    arms[1][k] -= c->r_high * n[k];
  }
  return distance - c->r_low - c->r_high;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const rig* r = self;
  double n[2];
  double arms[2][2];
  for (int key = 0; key < r->contacts; key++) {
    list->gap[key] = look(r, at->q, key, n, arms);
  }
  return SALTUS_OK;
}

/* Entries of `sign` times the velocity of a point along e. */
static void lever(const double* arm, double sign, const double* e, double* G) {
  G[0] = sign * e[0];
  G[1] = sign * e[1];
  G[2] = sign * (arm[0] * e[1] - arm[1] * e[0]);
}

/* Rows along the axes e for two points, of which those of the ground have none. */
static void write_rows(const int body[2], double arms[2][2], double e[2][2], saltus_rows* rows) {
  int used = 0;
  for (int k = 0; k < 2; k++) {
    int side = body[0] >= 0 && body[1] >= 0 && body[1] < body[0] ? 1 - k : k; /* ascending */
    if (body[side] < 0) {
      continue;
    }
    for (int i = 0; i < 3; i++) {
      rows->column[used + i] = 3 * body[side] + i;
    }
    for (int row = 0; row < rows->count; row++) {
      lever(arms[side], side == 0 ? -1.0 : 1.0, e[row], rows->G + row * rows->stride + used);
    }
    used += 3;
  }
  rows->width = used;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  const rig* r = self;
  const rig_contact* c = &r->contact[key];
  double e[2][2];
  double arms[2][2];
  look(r, at->q, key, e[0], arms);
  e[1][0] = -e[0][1];
  e[1][1] = e[0][0];
  write_rows((const int[2]){c->low.body, c->high.body}, arms, e, rows);
}

static void joints(const void* self, const saltus_point* at, double* g) {
  const rig* r = self;
  for (int i = 0; i < r->pins; i++) {
    double a[2];
    double b[2];
    double arm[2];
    locate(&r->pin[i].a, at->q, a, arm);
    locate(&r->pin[i].b, at->q, b, arm);
    g[2 * i] = b[0] - a[0];
    g[2 * i + 1] = b[1] - a[1];
  }
}

static void joint(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  const rig* r = self;
  const rig_pin* pin = &r->pin[row / 2];
  double arms[2][2];
  double where[2];
  double e[2][2] = {{row % 2 == 0 ? 1.0 : 0.0, row % 2 == 0 ? 0.0 : 1.0}};
  locate(&pin->a, at->q, where, arms[0]);
  locate(&pin->b, at->q, where, arms[1]);
  write_rows((const int[2]){pin->a.body, pin->b.body}, arms, e, rows);
}

static double inertia(const rig* r, int k) {
  return k % 3 == 2 ? r->inertia[k / 3] : r->mass[k / 3];
}

static size_t bytes(const void* self) {
  (void)self;
  return sizeof(double);
}

/* A = m M: nothing else depends on the motion. */
static saltus_status assemble(const void* self, void* matrix, const saltus_point* at, double m,
                              double fv, double fq) {
  (void)self, (void)at, (void)fv, (void)fq;
  *(double*)matrix = m;
  return SALTUS_OK;
}

static void solve(const void* self, const void* matrix, double* x) {
  const rig* r = self;
  double m = *(const double*)matrix;
  for (int k = 0; k < 3 * r->bodies; k++) {
    x[k] /= m * inertia(r, k);
  }
}

static void mass_times(const void* self, const saltus_point* at, const double* x, double* y) {
  (void)at;
  const rig* r = self;
  for (int k = 0; k < 3 * r->bodies; k++) {
    y[k] = inertia(r, k) * x[k];
  }
}

static const saltus_linear_ops linear = {.bytes = bytes,
                                         .assemble = assemble,
                                         .solve = solve,
                                         .mass_times = mass_times,
                                         .diagonal = true};

static const saltus_system_ops ops = {.force = force,
                                      .contacts = contacts,
                                      .contact = contact,
                                      .joints = joints,
                                      .joint = joint,
                                      .linear = &linear};

bool rig_create(rig* r, int bodies, int contact_room, int pins) {
  *r = (rig){.room_bodies = bodies, .room_contacts = contact_room, .room_pins = pins};
  r->mass = calloc((size_t)bodies + 1, sizeof(double));
  r->inertia = calloc((size_t)bodies + 1, sizeof(double));
  r->q = calloc(3 * (size_t)bodies + 1, sizeof(double));
  r->v = calloc(3 * (size_t)bodies + 1, sizeof(double));
  r->contact = calloc((size_t)contact_room + 1, sizeof *r->contact);
  r->laws = calloc((size_t)contact_room + 1, sizeof *r->laws);
  r->pin = calloc((size_t)pins + 1, sizeof *r->pin);
  return r->mass != NULL && r->inertia != NULL && r->q != NULL && r->v != NULL &&
         r->contact != NULL && r->laws != NULL && r->pin != NULL;
}

void rig_free(rig* r) {
  free(r->mass);
  free(r->inertia);
  free(r->q);
  free(r->v);
  free(r->contact);
  free(r->laws);
  free(r->pin);
  *r = (rig){0};
}

int rig_body(rig* r, double x, double y, double mass, double turning) {
  int i = r->bodies++;
  r->mass[i] = mass;
  r->inertia[i] = turning;
  r->q[3 * i] = x;
  r->q[3 * i + 1] = y;
  return i;
}

int rig_touch(rig* r, rig_contact c, double mu) {
  int i = r->contacts++;
  r->contact[i] = c;
  r->laws[i] = (saltus_contact_law){.mu = mu, .tangents = 1};
  return i;
}

int rig_join(rig* r, rig_pin pin) {
  int i = r->pins++;
  r->pin[i] = pin;
  return i;
}

const saltus_system* rig_system(rig* r) {
  r->system = (saltus_system){.ops = &ops,
                              .self = r,
                              .dims = {.nq = 3 * r->bodies,
                                       .nv = 3 * r->bodies,
                                       .nj = 2 * r->pins,
                                       .nc = r->contacts,
                                       .row_width = 6},
                              .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                              .laws = r->laws,
                              .law_count = r->contacts};
  return &r->system;
}

/* A disc of 1 kg and 0.5 m. */
static int add_disc(rig* r, double x, double y) {
  return rig_body(r, x, y, 1.0, 0.125);
}

static rig_contact between(int low, int high) {
  return (rig_contact){
      .low = {.body = low}, .high = {.body = high}, .r_low = low < 0 ? 0.0 : 0.5, .r_high = 0.5};
}

bool rig_floor(rig* r, int discs, double mu, bool pendulum) {
  if (!rig_create(r, discs + 1, discs, 1)) {
    return false;
  }
  for (int i = 0; i < discs; i++) {
    rig_touch(r, between(-1, add_disc(r, 1.5 * i, 0.5)), mu);
  }
  if (pendulum) {
    int bob = rig_body(r, -10.0, 1.0, 1.0, 0.125);
    rig_join(r, (rig_pin){.a = {-1, -10.0, 2.0}, .b = {bob, 0.0, 1.0}});
  }
  return true;
}

/* Every disc lies on two of the layer below, which has one more. */
bool rig_pile(rig* r, int contact_count, double mu) {
  enum { LAYERS = 20 };
  int width = contact_count / (2 * LAYERS) + LAYERS / 2;
  if (!rig_create(r, LAYERS * width, 2 * LAYERS * width, 0)) {
    return false;
  }
  for (int z = 0; z < LAYERS; z++) {
    for (int i = 0; i < width - z; i++) {
      int disc = add_disc(r, i + 0.5 * z, 0.5 + sqrt(0.75) * z);
      int below = disc - (width - z + 1);
      if (z == 0) {
        rig_touch(r, between(-1, disc), mu);
        continue;
      }
      rig_touch(r, between(below, disc), mu);
      rig_touch(r, between(below + 1, disc), mu);
    }
  }
  return true;
}

bool rig_columns(rig* r, int contact_count, int height, double mu) {
  int columns = contact_count / height;
  if (!rig_create(r, columns * height, columns * height, 0)) {
    return false;
  }
  for (int i = 0; i < columns; i++) {
    for (int z = 0; z < height; z++) {
      int disc = add_disc(r, 1.5 * i, 0.5 + z);
      rig_touch(r, between(z == 0 ? -1 : disc - 1, disc), mu);
    }
  }
  return true;
}

/* Rods of 1 m and 1 kg with feet of 0.1 m, a quarter of the length from their ends. */
bool rig_chains(rig* r, int contact_count, int rods, int layers, double mu) {
  const double foot = 0.1;
  int stacks = contact_count / (2 * rods * layers);
  stacks = stacks > 0 ? stacks : 1;
  if (!rig_create(r, stacks * layers * rods, 2 * stacks * layers * rods, stacks * layers * rods)) {
    return false;
  }
  for (int s = 0; s < stacks; s++) {
    for (int z = 0; z < layers; z++) {
      for (int i = 0; i < rods; i++) {
        int rod = rig_body(r, (rods + 2.0) * s + i, foot * (1.0 + 2.0 * z), 1.0, 1.0 / 12.0);
        int below = z > 0 ? rod - rods : -1;
        for (int side = -1; side <= 1; side += 2) {
          rig_touch(r,
                    (rig_contact){.low = {below, 0.25 * side, 0.0},
                                  .high = {rod, 0.25 * side, 0.0},
                                  .r_low = z > 0 ? foot : 0.0,
                                  .r_high = foot},
                    mu);
        }
        if (i > 0) {
          rig_join(r, (rig_pin){.a = {rod - 1, 0.5, 0.0}, .b = {rod, -0.5, 0.0}});
        }
      }
    }
  }
  return true;
}
