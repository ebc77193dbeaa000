/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * known_motion.c - the list of reference problems, and queries of their motions.
 */
#include "saltus/known_motion.h"

#include "base/log.h"
#include "measure/motion_family.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const saltusi_motion_family* const families[] = {
    &saltusi_motion_ball,
    &saltusi_motion_oscillator,
    &saltusi_motion_oscillator_damped,
    &saltusi_motion_oscillator_preload,
    &saltusi_motion_pendulum_wall,
    &saltusi_motion_forced_ball,
    &saltusi_motion_column,
    &saltusi_motion_stack,
    &saltusi_motion_chain,
};

enum {
  FAMILY_COUNT = sizeof families / sizeof families[0],
  TEXT = 32 /* bytes of a label */
};

/* Within this time of an accumulation, jumps are neither listed nor drawn. */
static const double finest = 1e-12; /* s */
/* Times within this distance of a sample are equal to it. */
static const double same_time = 1e-9; /* s */

int saltus_known_motion_count(void) {
  return FAMILY_COUNT;
}

const saltus_known_motion_info* saltus_known_motion_at(int i) {
  return i >= 0 && i < FAMILY_COUNT ? &families[i]->info : NULL;
}

/* ---- creation ---------------------------------------------------------------------------- */

static const saltusi_motion_family* find(const char* name, size_t length) {
  for (int i = 0; i < FAMILY_COUNT; i++) {
    const char* known = families[i]->info.name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) {
      return families[i];
    }
  }
  return NULL;
}

/* Decimal digits only; -1 for other texts and for numbers beyond the range of int. */
static int read_size(const char* text) {
  int value = 0;
  for (const char* s = text; *s; s++) {
    if (*s < '0' || *s > '9' || value > (INT_MAX - 9) / 10) {
      return -1;
    }
    value = 10 * value + (*s - '0');
  }
  return *text ? value : -1;
}

static saltus_status read_name(const char* name, saltus_log log,
                               const saltusi_motion_family** family, int* size) {
  const char* colon = strchr(name, ':');
  size_t length = colon ? (size_t)(colon - name) : strlen(name);
  const saltusi_motion_family* f = find(name, length);
  if (!f) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "problem \"%s\": no such problem", name);
    return SALTUS_ERR_NAME;
  }
  if (colon && f->size_max == 0) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "problem \"%s\": \"%s\" takes no size", name,
                f->info.name);
    return SALTUS_ERR_RANGE;
  }
  *family = f;
  *size = colon ? read_size(colon + 1) : f->size;
  if (f->size_max > 0 && (*size < f->size_min || *size > f->size_max)) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "problem \"%s\": the size is \"%s\", must be %d to %d",
                name, colon + 1, f->size_min, f->size_max);
    return SALTUS_ERR_RANGE;
  }
  return SALTUS_OK;
}

/* Additional data of a problem. */
typedef struct known_motion_parts {
  saltus_known_motion* problem;
  double* q0;
  double* v0;
  saltusi_flight_segment* pieces;
  saltus_label* labels;     /* [nq + nv] */
  saltus_contact_law* laws; /* [nc] */
  char* texts;              /* [(nq + nv + nc) x TEXT] */
} known_motion_parts;

static known_motion_parts lay_out(const saltusi_motion_family* family, const saltus_dims* dims,
                                  saltus_arena* arena) {
  known_motion_parts p;
  p.problem = SALTUS_PUSH(arena, saltus_known_motion, 1);
  p.q0 = SALTUS_PUSH(arena, double, dims->nq);
  p.v0 = SALTUS_PUSH(arena, double, dims->nv);
  p.pieces = SALTUS_PUSH(arena, saltusi_flight_segment, family->piece_capacity);
  p.labels = SALTUS_PUSH(arena, saltus_label, dims->nq + dims->nv);
  p.laws = SALTUS_PUSH(arena, saltus_contact_law, dims->nc);
  p.texts = SALTUS_PUSH2(arena, char, dims->nq + dims->nv + dims->nc, TEXT);
  return p;
}

/* "q" alone, "q1", "q2", ... together */
static void write_labels(const saltusi_motion_family* family, const saltus_dims* dims,
                         const known_motion_parts* p) {
  char* text = p->texts;
  for (int i = 0; i < dims->nq + dims->nv; i++) {
    bool position = i < dims->nq;
    int count = position ? dims->nq : dims->nv;
    int number = position ? i + 1 : i + 1 - dims->nq;
    if (count > 1) {
      snprintf(text, TEXT, "%c%d", position ? 'q' : 'v', number);
    } else {
      snprintf(text, TEXT, "%c", position ? 'q' : 'v');
    }
    p->labels[i] = (saltus_label){text, position ? family->q_unit : family->v_unit};
    text += TEXT;
  }
}

static void write_laws(const saltusi_motion_family* family, int size, const saltus_dims* dims,
                       const known_motion_parts* p) {
  char* text = p->texts + (size_t)(dims->nq + dims->nv) * TEXT;
  for (int i = 0; i < dims->nc; i++) {
    family->contact_name(size, i, text, TEXT);
    p->laws[i] = (saltus_contact_law){
        .name = text, .e_N = family->restitution, .impact = SALTUS_IMPACT_NEWTON};
    text += TEXT;
  }
}

static void fill(const saltusi_motion_family* family, int size, const saltus_dims* dims,
                 const known_motion_parts* p) {
  saltus_known_motion* problem = p->problem;
  *problem = (saltus_known_motion){.family = family,
                                   .info = family->info,
                                   .size = size,
                                   .q0 = p->q0,
                                   .v0 = p->v0,
                                   .pieces = p->pieces,
                                   .rest = INFINITY,
                                   .known_until = INFINITY};
  if (family->size_max > 0) {
    snprintf(problem->name, sizeof problem->name, "%s:%d", family->info.name, size);
    problem->info.name = problem->name;
  }
  write_labels(family, dims, p);
  write_laws(family, size, dims, p);
  problem->system = (saltus_system){.ops = family->ops,
                                    .self = problem,
                                    .dims = *dims,
                                    .traits = family->traits,
                                    .laws = p->laws,
                                    .law_count = dims->nc,
                                    .q_labels = p->labels,
                                    .v_labels = p->labels + dims->nq};
  family->setup(problem);
}

saltus_status saltus_known_motion_create(const char* name, saltus_log log,
                                         const saltus_allocator* allocator,
                                         saltus_known_motion** out) {
  assert(name != NULL && out != NULL);
  *out = NULL;
  const saltusi_motion_family* family;
  int size;
  saltus_status status = read_name(name, log, &family, &size);
  if (status != SALTUS_OK) {
    return status;
  }
  saltus_dims dims = family->dims(size);
  saltus_allocator memory = allocator ? *allocator : saltus_allocator_default();
  saltus_arena arena = saltus_arena_counting();
  lay_out(family, &dims, &arena);
  size_t bytes = arena.used;
  void* block = memory.alloc(bytes, memory.user);
  if (!block) {
    saltusi_log(log, SALTUS_LEVEL_ERROR, "problem \"%s\": no memory for %zu bytes", name, bytes);
    return SALTUS_ERR_MEMORY;
  }
  arena = saltus_arena_over(block, bytes);
  known_motion_parts p = lay_out(family, &dims, &arena);
  fill(family, size, &dims, &p);
  p.problem->allocator = memory;
  p.problem->bytes = bytes;
  *out = p.problem;
  return SALTUS_OK;
}

void saltus_known_motion_destroy(saltus_known_motion* problem) {
  if (problem) {
    saltus_allocator memory = problem->allocator;
    memory.free(problem, problem->bytes, memory.user);
  }
}

void saltusi_motion_push(saltus_known_motion* problem, saltusi_flight_segment piece) {
  assert(problem != NULL);
  if (problem->piece_count < problem->family->piece_capacity) {
    problem->pieces[problem->piece_count++] = piece;
  } else {
    problem->known_until = fmin(problem->known_until, piece.t);
  }
}

/* ---- access ------------------------------------------------------------------------------ */

const saltus_known_motion_info* saltus_known_motion_get_info(const saltus_known_motion* problem) {
  assert(problem != NULL);
  return &problem->info;
}

const saltus_system* saltus_known_motion_system(const saltus_known_motion* problem) {
  assert(problem != NULL);
  return &problem->system;
}

const double* saltus_known_motion_q0(const saltus_known_motion* problem) {
  assert(problem != NULL);
  return problem->q0;
}

const double* saltus_known_motion_v0(const saltus_known_motion* problem) {
  assert(problem != NULL);
  return problem->v0;
}

int saltus_known_motion_samples(const saltus_known_motion* problem, const double** times) {
  assert(problem != NULL);
  if (times) {
    *times = problem->sample_times;
  }
  return problem->sample_count;
}

/* ---- motion ------------------------------------------------------------------------------ */

/* The last segment that starts at t or before. */
static const saltusi_flight_segment* piece_at(const saltus_known_motion* problem, double t) {
  int low = 0;
  int high = problem->piece_count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (problem->pieces[middle].t <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &problem->pieces[low];
}

static bool sample_at(const saltus_known_motion* problem, double t, double* q, double* v) {
  size_t nq = (size_t)problem->system.dims.nq;
  size_t nv = (size_t)problem->system.dims.nv;
  for (int i = 0; i < problem->sample_count; i++) {
    if (fabs(problem->sample_times[i] - t) <= same_time) {
      memcpy(q, problem->sample_q + (size_t)i * nq, nq * sizeof *q);
      memcpy(v, problem->sample_v + (size_t)i * nv, nv * sizeof *v);
      return true;
    }
  }
  return false;
}

bool saltus_known_motion_exact(const saltus_known_motion* problem, double t, double* q, double* v) {
  assert(problem != NULL && q != NULL && v != NULL);
  if (problem->info.known == SALTUS_KNOWN_SAMPLES) {
    return sample_at(problem, t, q, v);
  }
  bool known = problem->info.known == SALTUS_KNOWN_EXACT;
  if (!known || !(t >= 0.0 && t < problem->known_until)) {
    return false;
  }
  const saltusi_flight_segment* piece = piece_at(problem, t);
  for (int i = 0; i < problem->system.dims.nq; i++) {
    double x[2];
    problem->family->at(problem, piece, t, i, x);
    q[i] = x[0];
    v[i] = x[1];
  }
  return true;
}

/* Far enough from an accumulation, or past it. */
static bool resolved(const saltus_known_motion* problem, const saltusi_flight_segment* piece) {
  return piece->t >= problem->rest || problem->rest - piece->t >= finest;
}

int saltus_known_motion_jumps(const saltus_known_motion* problem, double t_end, double* times,
                              int capacity) {
  assert(problem != NULL && (times != NULL || capacity == 0));
  int count = 0;
  for (int i = 0; i < problem->piece_count && problem->pieces[i].t <= t_end; i++) {
    const saltusi_flight_segment* piece = &problem->pieces[i];
    if (piece->jump && resolved(problem, piece)) {
      if (count < capacity) {
        times[count] = piece->t;
      }
      count++;
    }
  }
  return count;
}

/* A graph during writing; points beyond the capacity are counted only. */
typedef struct known_motion_pen {
  const saltus_known_motion* problem;
  int coordinate;
  int which;
  double dt;
  double* points;
  int capacity;
  int count;
} known_motion_pen;

static void draw(known_motion_pen* p, const saltusi_flight_segment* piece, double t_stop) {
  bool straight = piece->t >= p->problem->rest ||
                  !p->problem->family->curved(p->problem, p->coordinate, p->which);
  double length = t_stop - piece->t;
  /* a margin, so that rounding drops no point; an additional point is harmless */
  int spans = straight ? 1 : (int)ceil(length / p->dt * (1.0 - 1e-12));
  spans = spans > 1 ? spans : 1;
  for (int k = 0; k <= spans; k++, p->count++) {
    if (p->count < p->capacity) {
      double t = k == spans ? t_stop : piece->t + length * k / spans;
      double x[2];
      p->problem->family->at(p->problem, piece, t, p->coordinate, x);
      p->points[2 * (size_t)p->count] = t;
      p->points[2 * (size_t)p->count + 1] = x[p->which];
    }
  }
}

int saltus_known_motion_graph(const saltus_known_motion* problem, int coordinate, int which,
                              double t_end, double dt, double* points, int capacity) {
  assert(coordinate >= 0 && coordinate < problem->system.dims.nq);
  assert((which == 0 || which == 1) && dt > 0.0);
  bool known = problem->info.known == SALTUS_KNOWN_EXACT;
  if (!known || !(t_end > 0.0 && t_end <= problem->known_until)) {
    return 0;
  }
  known_motion_pen p = {problem, coordinate, which, dt, points, capacity, 0};
  int next;
  for (int i = 0; i < problem->piece_count && problem->pieces[i].t < t_end; i = next) {
    next = i + 1;
    while (next < problem->piece_count && !resolved(problem, &problem->pieces[next])) {
      next++;
    }
    bool last = next == problem->piece_count || problem->pieces[next].t > t_end;
    draw(&p, &problem->pieces[i], last ? t_end : problem->pieces[next].t);
  }
  return p.count;
}
