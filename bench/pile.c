/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * pile.c - see pile.h. Angles of spheres are integrated but have no effect.
 *
 *   pair   gap = |c2 - c1| - r1 - r2,      u = v2 - r2 w2 x n - v1 - r1 w1 x n
 *   wall   gap = normal . c - offset - r,  u = v - r w x n
 */
#include "pile.h"

#include "packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81; /* m/s^2 */

pile_def pile_def_default(int nx, int ny, int nz) {
  return (pile_def){.nx = nx, .ny = ny, .nz = nz, .mu = 0.4, .spread = 0.02, .seed = 1};
}

static double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void force(const void* self, const saltus_point* at, double* F) {
  (void)at;
  const pile* p = self;
  memset(F, 0, 6 * (size_t)p->spheres * sizeof(double));
  for (int i = 0; i < p->spheres; i++) {
    F[6 * i + 2] = -gravity * p->mass[i];
  }
}

static double inertia(const pile* p, int row) {
  int i = row / 6;
  return row % 6 < 3 ? p->mass[i] : 0.4 * p->mass[i] * p->radius[i] * p->radius[i];
}

/* Gap and normal, from the first to the second sphere or out of the wall. */
static double look(const pile* p, const double* q, int key, double* normal) {
  const pile_contact* c = &p->list[key];
  const double* second = q + 6 * c->second;
  if (c->first < 0) {
    memcpy(normal, c->normal, sizeof c->normal);
    return dot(normal, second) - c->offset - p->radius[c->second];
  }
  const double* first = q + 6 * c->first;
  for (int k = 0; k < 3; k++) {
    normal[k] = second[k] - first[k];
  }
  double distance = sqrt(dot(normal, normal));
  for (int k = 0; k < 3; k++) {
    normal[k] /= distance;
  }
  return distance - p->radius[c->first] - p->radius[c->second];
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const pile* p = self;
  double normal[3];
  for (int key = 0; key < p->contacts; key++) {
    list->gap[key] = look(p, at->q, key, normal);
  }
  return SALTUS_OK;
}

/* Six entries of a row: `sign` e, and -r n x e, which is the same for both spheres. */
static void lever(const double* n, double r, double sign, const double* e, double* G) {
  for (int k = 0; k < 3; k++) {
    G[k] = sign * e[k];
    int a = (k + 1) % 3;
    int b = (k + 2) % 3;
    G[3 + k] = -r * (n[a] * e[b] - n[b] * e[a]);
  }
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  const pile* p = self;
  const pile_contact* c = &p->list[key];
  double axes[3][3];
  look(p, at->q, key, axes[0]);
  packing_tangents(axes[0], axes + 1);
  int used = 0;
  for (int side = 0; side < 2; side++) {
    int sphere = side == 0 ? c->first : c->second;
    if (sphere < 0) {
      continue;
    }
    for (int k = 0; k < 6; k++) {
      rows->column[used + k] = 6 * sphere + k;
    }
    for (int r = 0; r < rows->count; r++) {
      lever(axes[0], p->radius[sphere], side == 0 ? -1.0 : 1.0, axes[r],
            rows->G + r * rows->stride + used);
    }
    used += 6;
  }
  rows->width = used;
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
  const pile* p = self;
  double m = *(const double*)matrix;
  for (int k = 0; k < 6 * p->spheres; k++) {
    x[k] /= m * inertia(p, k);
  }
}

static void mass_times(const void* self, const saltus_point* at, const double* x, double* y) {
  (void)at;
  const pile* p = self;
  for (int k = 0; k < 6 * p->spheres; k++) {
    y[k] = inertia(p, k) * x[k];
  }
}

static const saltus_linear_ops linear = {.bytes = bytes,
                                         .assemble = assemble,
                                         .solve = solve,
                                         .mass_times = mass_times,
                                         .diagonal = true};

static const saltus_system_ops ops = {
    .force = force, .contacts = contacts, .contact = contact, .linear = &linear};

/* The lattice of packing.c, spheres a little smaller than their places. */
static void place(const pile_def* def, uint64_t* seed, pile* p) {
  int i = 0;
  for (int z = 0; z < def->nz; z++) {
    for (int y = 0; y < def->ny; y++) {
      for (int x = 0; x < def->nx; x++, i++) {
        double* at = p->q + 6 * i;
        at[0] = 0.5 + x + 0.5 * ((y + z) % 2);
        at[1] = 0.5 + sqrt(3.0) / 2.0 * (y + (z % 2) / 3.0);
        at[2] = 0.5 + sqrt(6.0) / 3.0 * z;
        p->radius[i] = 0.5 - def->spread * packing_random(seed);
        p->mass[i] = 8.0 * p->radius[i] * p->radius[i] * p->radius[i];
      }
    }
  }
}

/* Pairs nearer than this may touch after settling. */
static const double reach = 1.2; /* m */

static void add_contacts(const pile_def* def, pile* p) {
  const double width[2] = {def->nx + 0.5, 1.0 + sqrt(3.0) / 2.0 * (def->ny - 1.0 + 1.0 / 3.0)};
  for (int i = 0; i < p->spheres; i++) {
    const double* at = p->q + 6 * i;
    for (int j = 0; j < i; j++) {
      double apart[3];
      for (int k = 0; k < 3; k++) {
        apart[k] = at[k] - p->q[6 * j + k];
      }
      if (dot(apart, apart) < reach * reach) {
        p->list[p->contacts++] = (pile_contact){.first = j, .second = i};
      }
    }
    for (int wall = 0; wall < 5; wall++) {
      int axis = wall == 4 ? 2 : wall / 2;
      bool far = wall < 4 && wall % 2 == 1;
      pile_contact c = {.first = -1, .second = i, .offset = far ? -width[axis] : 0.0};
      c.normal[axis] = far ? -1.0 : 1.0;
      if (dot(c.normal, at) - c.offset < reach) {
        p->list[p->contacts++] = c;
      }
    }
  }
  for (int key = 0; key < p->contacts; key++) {
    p->laws[key] = (saltus_contact_law){.name = "sphere", .mu = def->mu, .tangents = 2};
  }
}

bool pile_create(const pile_def* def, pile* out) {
  int n = def->nx * def->ny * def->nz;
  size_t room =
      (size_t)n * 25 + 1; /* neighbours before it, with those of the next layer, and walls */
  *out = (pile){.spheres = n};
  out->radius = calloc((size_t)n + 1, sizeof(double));
  out->mass = calloc((size_t)n + 1, sizeof(double));
  out->q = calloc(6 * (size_t)n + 1, sizeof(double));
  out->v = calloc(6 * (size_t)n + 1, sizeof(double));
  out->list = calloc(room, sizeof *out->list);
  out->laws = calloc(room, sizeof *out->laws);
  if (out->radius == NULL || out->mass == NULL || out->q == NULL || out->v == NULL ||
      out->list == NULL || out->laws == NULL) {
    return false;
  }
  uint64_t seed = def->seed;
  place(def, &seed, out);
  add_contacts(def, out);
  out->system =
      (saltus_system){.ops = &ops,
                      .self = out,
                      .dims = {.nq = 6 * n, .nv = 6 * n, .nc = out->contacts, .row_width = 12},
                      .traits = SALTUS_CONSTANT_MASS | SALTUS_FREE_FORCE,
                      .laws = out->laws,
                      .law_count = out->contacts};
  return true;
}

void pile_free(pile* p) {
  free(p->radius);
  free(p->mass);
  free(p->q);
  free(p->v);
  free(p->list);
  free(p->laws);
  *p = (pile){0};
}
