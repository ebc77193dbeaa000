/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * packing.c - bodies with six velocities (linear, then angular), contacts with three rows (normal
 * from the first body to the second, two tangents):
 *
 *   M v = f + H r,   u = H^T v,   f = M v_free,   v_free = random velocities + h g
 */
#include "packing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct contact {
  int first, second; /* bodies; -1: the box or the floor */
  double normal[3], point[3];
} contact;

typedef struct world {
  int bodies, contacts, room;
  double* centre; /* [3 bodies] */
  double* mass;   /* [6 bodies] masses and moments of inertia */
  double* free;   /* [6 bodies] velocities without contacts */
  contact* list;
} world;

static const double fall = 0.00981; /* m/s gained in 1 ms */

double packing_random(uint64_t* state) {
  /* splitmix64 (Steele, Lea & Flood 2014) */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

packing_def packing_def_default(void) {
  return (packing_def){.nx = 3, .ny = 3, .nz = 3, .keep = 0.8, .mu = 0.5, .seed = 1};
}

static bool open_world(world* w, int bodies, int room) {
  *w = (world){.bodies = bodies, .room = room};
  w->centre = calloc((size_t)bodies * 3 + 1, sizeof(double));
  w->mass = calloc((size_t)bodies * 6 + 1, sizeof(double));
  w->free = calloc((size_t)bodies * 6 + 1, sizeof(double));
  w->list = calloc((size_t)room + 1, sizeof(contact));
  return w->centre != NULL && w->mass != NULL && w->free != NULL && w->list != NULL;
}

static void close_world(world* w) {
  free(w->centre);
  free(w->mass);
  free(w->free);
  free(w->list);
}

static void add_contact(world* w, int first, int second, const double* normal,
                        const double* point) {
  contact* c = &w->list[w->contacts++];
  c->first = first;
  c->second = second;
  memcpy(c->normal, normal, sizeof c->normal);
  memcpy(c->point, point, sizeof c->point);
}

void packing_tangents(const double* n, double t[2][3]) {
  double* a = t[0];
  if (fabs(n[0]) < 0.6) {
    a[0] = 0.0;
    a[1] = n[2];
    a[2] = -n[1];
  } else {
    a[0] = -n[2];
    a[1] = 0.0;
    a[2] = n[0];
  }
  double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  for (int k = 0; k < 3; k++) {
    a[k] /= length;
  }
  t[1][0] = n[1] * a[2] - n[2] * a[1];
  t[1][1] = n[2] * a[0] - n[0] * a[2];
  t[1][2] = n[0] * a[1] - n[1] * a[0];
}

/* The six numbers by which direction e at the contact point moves with a body. */
static void lever(const world* w, const contact* c, int side, const double* e, double out[6]) {
  int body = side == 0 ? c->first : c->second;
  double sign = side == 0 ? -1.0 : 1.0;
  double r[3];
  for (int k = 0; k < 3; k++) {
    r[k] = c->point[k] - w->centre[3 * body + k];
    out[k] = sign * e[k];
  }
  out[3] = sign * (r[1] * e[2] - r[2] * e[1]);
  out[4] = sign * (r[2] * e[0] - r[0] * e[2]);
  out[5] = sign * (r[0] * e[1] - r[1] * e[0]);
}

/* H by rows: counts the entries of row i in start[i + 1], or fills them from start[i] on. */
static void fill_levers(const world* w, int* start, int* column, double* values, bool count) {
  for (int c = 0; c < w->contacts; c++) {
    const contact* k = &w->list[c];
    double t[2][3];
    packing_tangents(k->normal, t);
    const double* axes[3] = {k->normal, t[0], t[1]};
    for (int side = 0; side < 2; side++) {
      int body = side == 0 ? k->first : k->second;
      for (int a = 0; body >= 0 && a < 3; a++) {
        double arm[6];
        lever(w, k, side, axes[a], arm);
        for (int d = 0; d < 6; d++) {
          int row = 6 * body + d;
          if (count) {
            start[row + 1]++;
          } else {
            column[start[row]] = 3 * c + a;
            values[start[row]++] = arm[d];
          }
        }
      }
    }
  }
}

static bool take_arrays(packing* p) {
  size_t n = 6 * (size_t)p->bodies;
  size_t m = 3 * (size_t)p->contacts;
  const size_t entries[2] = {n, 12 * m};
  const size_t lengths[3] = {n, m, (size_t)p->contacts};
  bool good = true;
  for (int k = 0; k < 2; k++) {
    p->starts[k] = calloc(n + 2, sizeof(int));
    p->columns[k] = calloc(entries[k] + 1, sizeof(int));
    p->values[k] = calloc(entries[k] + 1, sizeof(double));
    good = good && p->starts[k] != NULL && p->columns[k] != NULL && p->values[k] != NULL;
  }
  for (int k = 0; k < 3; k++) {
    p->vectors[k] = calloc(lengths[k] + 1, sizeof(double));
    good = good && p->vectors[k] != NULL;
  }
  return good;
}

/* H by rows, with the columns of each row ascending because contacts are met in order. */
static void assemble_levers(const world* w, packing* p) {
  int n = 6 * w->bodies;
  /* start[i] is where row i - 1 is filled next: it ends as the start of row i */
  int* start = p->starts[1];
  fill_levers(w, start + 1, NULL, NULL, true);
  for (int i = 0; i < n; i++) {
    start[i + 2] += start[i + 1];
  }
  fill_levers(w, start + 1, p->columns[1], p->values[1], false);
}

static bool assemble(const world* w, double mu, packing* p) {
  p->bodies = w->bodies;
  p->contacts = w->contacts;
  if (!take_arrays(p)) {
    return false;
  }
  int n = 6 * w->bodies;
  int m = 3 * w->contacts;
  for (int i = 0; i < n; i++) {
    p->starts[0][i + 1] = i + 1;
    p->columns[0][i] = i;
    p->values[0][i] = w->mass[i];
    p->vectors[0][i] = w->mass[i] * w->free[i];
  }
  for (int c = 0; c < w->contacts; c++) {
    p->vectors[2][c] = mu;
  }
  assemble_levers(w, p);
  p->problem = (saltus_global_friction_problem){
      .dimension = 3,
      .M = {n, n, p->starts[0], p->columns[0], p->values[0]},
      .H = {n, m, p->starts[1], p->columns[1], p->values[1]},
      .f = p->vectors[0],
      .w = p->vectors[1],
      .mu = p->vectors[2],
  };
  return true;
}

static void place_spheres(const packing_def* def, uint64_t* seed, world* w) {
  const double jitter = 0.06; /* m */
  int body = 0;
  for (int k = 0; k < def->nz; k++) {
    for (int j = 0; j < def->ny; j++) {
      for (int i = 0; i < def->nx; i++, body++) {
        double* x = w->centre + 3 * body;
        x[0] = i + 0.5 * ((j + k) % 2) + jitter * (packing_random(seed) - 0.5);
        x[1] = sqrt(3.0) / 2.0 * (j + (k % 2) / 3.0) + jitter * (packing_random(seed) - 0.5);
        x[2] = sqrt(6.0) / 3.0 * k + jitter * (packing_random(seed) - 0.5);
        double mass = 0.8 + 0.4 * packing_random(seed);
        for (int d = 0; d < 6; d++) {
          w->mass[6 * body + d] = d < 3 ? mass : 0.4 * mass * 0.25;
          w->free[6 * body + d] = def->velocity * (packing_random(seed) - 0.5);
        }
        w->free[6 * body + 2] -= fall;
      }
    }
  }
}

/* A contact with the box at the side of direction n. */
static void add_wall(world* w, int body, double nx, double ny, double nz) {
  const double normal[3] = {nx, ny, nz};
  double point[3];
  for (int d = 0; d < 3; d++) {
    point[d] = w->centre[3 * body + d] - 0.5 * normal[d];
  }
  add_contact(w, -1, body, normal, point);
}

static void add_pair(const packing_def* def, uint64_t* seed, world* w, int a, int b) {
  const double touching = 1.09; /* m: jittered neighbours count, second ones do not */
  double normal[3];
  double point[3];
  double square = 0.0;
  for (int d = 0; d < 3; d++) {
    normal[d] = w->centre[3 * b + d] - w->centre[3 * a + d];
    point[d] = 0.5 * (w->centre[3 * b + d] + w->centre[3 * a + d]);
    square += normal[d] * normal[d];
  }
  double distance = sqrt(square);
  if (distance > touching || packing_random(seed) > def->keep) {
    return;
  }
  for (int d = 0; d < 3; d++) {
    normal[d] /= distance;
  }
  add_contact(w, a, b, normal, point);
}

/* Neighbours that come later in the lattice, so that each pair is met once. */
static void add_neighbours(const packing_def* def, uint64_t* seed, world* w, const int at[3]) {
  const int size[3] = {def->nx, def->ny, def->nz};
  int body = (at[2] * def->ny + at[1]) * def->nx + at[0];
  for (int code = 14; code < 27; code++) {
    const int to[3] = {at[0] + code % 3 - 1, at[1] + code / 3 % 3 - 1, at[2] + code / 9 - 1};
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      inside = inside && to[d] >= 0 && to[d] < size[d];
    }
    if (inside) {
      add_pair(def, seed, w, body, (to[2] * def->ny + to[1]) * def->nx + to[0]);
    }
  }
  if (at[2] == 0) {
    add_wall(w, body, 0.0, 0.0, 1.0);
  }
  for (int d = 0; d < 2; d++) {
    if (at[d] == 0) {
      add_wall(w, body, d == 0, d == 1, 0.0);
    }
    if (at[d] == size[d] - 1) {
      add_wall(w, body, -(d == 0), -(d == 1), 0.0);
    }
  }
}

bool packing_create(const packing_def* def, packing* out) {
  *out = (packing){0};
  world w;
  uint64_t seed = def->seed;
  int bodies = def->nx * def->ny * def->nz;
  bool good = open_world(&w, bodies, 18 * bodies); /* 13 neighbours and 5 walls at most */
  if (good) {
    place_spheres(def, &seed, &w);
    for (int b = 0; b < bodies; b++) {
      const int at[3] = {b % def->nx, b / def->nx % def->ny, b / (def->nx * def->ny)};
      add_neighbours(def, &seed, &w, at);
    }
    good = assemble(&w, def->mu, out);
  }
  close_world(&w);
  return good;
}

bool packing_stack(int boxes, double mu, double push, packing* out) {
  *out = (packing){0};
  world w;
  bool good = open_world(&w, boxes, 4 * boxes);
  if (good) {
    const double up[3] = {0.0, 0.0, 1.0};
    for (int b = 0; b < boxes; b++) {
      w.centre[3 * b + 2] = 0.5 + b;
      for (int d = 0; d < 6; d++) {
        w.mass[6 * b + d] = d < 3 ? 1.0 : 1.0 / 6.0;
      }
      w.free[6 * b + 2] = -fall;
      for (int corner = 0; corner < 4; corner++) {
        const double point[3] = {corner % 2 - 0.5, corner / 2 - 0.5, b};
        add_contact(&w, b - 1, b, up, point);
      }
    }
    w.free[6 * (boxes - 1)] = push;
    good = assemble(&w, mu, out);
  }
  close_world(&w);
  return good;
}

void packing_free(packing* p) {
  for (int k = 0; k < 2; k++) {
    free(p->starts[k]);
    free(p->columns[k]);
    free(p->values[k]);
  }
  for (int k = 0; k < 3; k++) {
    free(p->vectors[k]);
  }
  *p = (packing){0};
}
