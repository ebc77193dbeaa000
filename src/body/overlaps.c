/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * overlaps.c - overlapping shapes, and separation of bodies.
 *
 * Separation is a Jacobi iteration on depths: each pair distributes its correction by the inverse masses of its bodies, and a
 * body moves by the mean of its corrections. Crowded bodies take many iterations.
 */
#include "body/contacts.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct overlaps_search {
  const saltus_mechanism* m;
  const saltusi_body_pose* carrier;
  double deeper; /* m */
  saltus_overlap* list;
  int capacity, count;
} overlaps_search;

static bool look(void* user, const saltusi_near_pair* meeting) {
  overlaps_search* s = user;
  const saltusi_instance* a = &s->m->world->instance[meeting->a];
  const saltusi_instance* b = &s->m->world->instance[meeting->b];
  saltusi_separation apart;
  if (saltusi_shape_separation(&a->shape, &s->carrier[a->carrier], &b->shape,
                               &s->carrier[b->carrier], &apart) != SALTUS_OK ||
      !(apart.distance < -s->deeper)) {
    return true;
  }
  if (s->count < s->capacity) {
    saltus_overlap* to = &s->list[s->count];
    *to = (saltus_overlap){.shapes = {a->shape.name, b->shape.name},
                           .bodies = {a->carrier, b->carrier},
                           .depth = -apart.distance};
    for (int k = 0; k < 2; k++) {
      to->bodies[k] = to->bodies[k] < s->m->body_count ? to->bodies[k] : -1;
    }
    memcpy(to->direction, apart.normal, sizeof to->direction);
    memcpy(to->point, apart.point, sizeof to->point);
  }
  s->count++;
  return true;
}

/* Memory of a query, from a pool. */
static bool take_room(const saltus_mechanism* m, saltusi_pool* pool, saltusi_shapes_memory* room) {
  char* scratch = saltusi_pool_take(pool, m->system.dims.scratch + SALTUS_ALIGNMENT, 1);
  if (scratch == NULL) {
    return false;
  }
  scratch += (SALTUS_ALIGNMENT - (uintptr_t)scratch % SALTUS_ALIGNMENT) % SALTUS_ALIGNMENT;
  saltusi_shapes_lay_out(m, scratch, room);
  return true;
}

saltus_status saltus_mechanism_overlaps(const saltus_mechanism* mechanism, double t,
                                        const double* q, double deeper, saltus_overlap* list,
                                        int capacity, int* count) {
  assert(mechanism != NULL && q != NULL && count != NULL && (capacity == 0 || list != NULL));
  const saltus_mechanism* m = mechanism;
  *count = 0;
  if (m->world == NULL) {
    return SALTUS_OK;
  }
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  saltusi_shapes_memory room;
  if (!take_room(m, &pool, &room)) {
    return SALTUS_ERR_MEMORY;
  }
  const saltus_point at = {.t = t, .q = q};
  for (int i = 0; i <= m->body_count; i++) {
    saltusi_shapes_transfer(m, i, &at, &room);
  }
  const saltusi_world_query query = {.carrier = room.carrier, .memory = room.world};
  overlaps_search s = {
      .m = m, .carrier = room.carrier, .deeper = deeper, .list = list, .capacity = capacity};
  saltusi_world_meet(m->world, &query, look, &s);
  *count = s.count;
  saltusi_pool_free(&pool);
  return SALTUS_OK;
}

typedef struct overlaps_crossing {
  const saltus_mechanism* m;
  const saltusi_body_pose* carrier;
  saltus_passage* out;
  bool found;
} overlaps_crossing;

static bool look_through(void* user, const saltusi_near_pair* meeting) {
  overlaps_crossing* c = user;
  const saltusi_instance* a = &c->m->world->instance[meeting->a];
  const saltusi_instance* b = &c->m->world->instance[meeting->b];
  const double thickness = a->thickness + b->thickness;
  saltusi_separation apart;
  if (!(meeting->approach > 0.5 * thickness) ||
      (saltusi_shape_separation(&a->shape, &c->carrier[a->carrier], &b->shape,
                                &c->carrier[b->carrier], &apart) == SALTUS_OK &&
       apart.distance > meeting->approach)) {
    return true;
  }
  *c->out = (saltus_passage){.shapes = {a->shape.name, b->shape.name},
                             .bodies = {a->carrier, b->carrier},
                             .approach = meeting->approach,
                             .thickness = thickness};
  for (int k = 0; k < 2; k++) {
    c->out->bodies[k] = c->out->bodies[k] < c->m->body_count ? c->out->bodies[k] : -1;
  }
  c->found = true;
  return false;
}

/* Fast path without search and memory: no approach exceeds half of the smallest thickness. */
static bool is_slow(const saltus_mechanism* m, const saltus_point* at, double h) {
  const double fall = 0.5 * h * h * sqrt(saltusi_dot3(m->gravity, m->gravity));
  double thinnest = INFINITY, least = INFINITY, way = 0.0, next = 0.0;
  for (int i = 0; i < m->world->count; i++) {
    const saltusi_instance* shape = &m->world->instance[i];
    saltusi_body_motion motion;
    saltusi_motion_at(m, shape->carrier, at->t, at->v, &motion);
    const double turning = h * sqrt(saltusi_dot3(motion.w, motion.w));
    const double turn = turning + 0.5 * turning * turning;
    const double slack = m->bodies[shape->carrier].kind == SALTUS_BODY_FREE ? fall : 0.0;
    const double goes = h * sqrt(saltusi_dot3(motion.v, motion.v)) + slack +
                        (isfinite(shape->arm) ? turn * shape->arm : 0.0);
    next = fmax(next, fmin(way, goes));
    way = fmax(way, goes);
    least = fmin(least, fmax(thinnest, shape->thickness));
    thinnest = fmin(thinnest, shape->thickness);
  }
  return way + next <= 0.5 * (thinnest + least);
}

saltus_status saltus_mechanism_passage(const saltus_mechanism* mechanism, double t, const double* q,
                                       const double* v, double h, saltus_passage* passage,
                                       bool* found) {
  assert(mechanism != NULL && q != NULL && v != NULL && passage != NULL && found != NULL);
  const saltus_mechanism* m = mechanism;
  *found = false;
  const saltus_point at = {.t = t, .q = q, .v = v};
  if (m->world == NULL || is_slow(m, &at, h)) {
    return SALTUS_OK;
  }
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  saltusi_shapes_memory room;
  if (!take_room(m, &pool, &room)) {
    return SALTUS_ERR_MEMORY;
  }
  const saltusi_world_query query = saltusi_shapes_ahead(m, &at, h, &room);
  overlaps_crossing c = {.m = m, .carrier = room.carrier, .out = passage};
  saltusi_world_meet(m->world, &query, look_through, &c);
  *found = c.found;
  saltusi_pool_free(&pool);
  return SALTUS_OK;
}

typedef struct counting {
  const saltus_mechanism* m;
  const saltusi_world_query* query;
  double weight;
  saltus_costs* costs;
} counting;

/* The entry of two kinds; NULL: capacity exceeded. */
static saltus_pair_cost* entry_of(saltus_costs* c, saltus_shape_kind first,
                                  saltus_shape_kind second) {
  const char* kinds[2] = {saltus_shape_kind_name(first < second ? first : second),
                          saltus_shape_kind_name(first < second ? second : first)};
  for (int i = 0; i < c->kind_count; i++) {
    if (c->kinds[i].kinds[0] == kinds[0] && c->kinds[i].kinds[1] == kinds[1]) {
      return &c->kinds[i];
    }
  }
  if (c->kind_count == c->kind_room) {
    return NULL;
  }
  c->kinds[c->kind_count] = (saltus_pair_cost){.kinds = {kinds[0], kinds[1]}};
  return &c->kinds[c->kind_count++];
}

/* The entry of two bodies, the smaller index first; NULL: capacity exceeded. The world is the last body. */
static saltus_body_cost* bodies_of(const saltus_mechanism* m, saltus_costs* c, int a, int b) {
  const int first = a < b ? a : b, second = a < b ? b : a, world = m->body_count;
  int from = 0, to = c->body_count;
  while (from < to) {
    const int middle = from + (to - from) / 2;
    const int* has = c->bodies[middle].bodies;
    const int other = has[1] < 0 ? world : has[1];
    if (has[0] == first && other == second) {
      return &c->bodies[middle];
    }
    const bool before = has[0] != first ? has[0] < first : other < second;
    from = before ? middle + 1 : from;
    to = before ? to : middle;
  }
  if (c->body_count == c->body_room) {
    return NULL;
  }
  memmove(c->bodies + from + 1, c->bodies + from,
          (size_t)(c->body_count - from) * sizeof *c->bodies);
  c->body_count++;
  c->bodies[from] = (saltus_body_cost){.bodies = {first, second == world ? -1 : second}};
  return &c->bodies[from];
}

static bool count_pair(void* user, const saltusi_near_pair* meeting) {
  counting* c = user;
  const saltusi_instance* instance = c->m->world->instance;
  const saltusi_instance *a = &instance[meeting->a], *b = &instance[meeting->b];
  saltus_pair_cost* kinds = entry_of(c->costs, a->shape.kind, b->shape.kind);
  saltus_body_cost* bodies = bodies_of(c->m, c->costs, a->carrier, b->carrier);
  const double start = saltusi_clock_monotonic();
  const saltusi_candidates found = saltusi_world_pairs(c->m->world, c->query, meeting);
  const double took = saltusi_clock_monotonic() - start;
  if (kinds != NULL) {
    kinds->seconds += c->weight * took;
    kinds->pairs += c->weight;
    kinds->contacts += c->weight * found.count;
  }
  if (bodies != NULL) {
    bodies->seconds += c->weight * took;
    bodies->pairs += c->weight;
    bodies->contacts += c->weight * found.count;
  }
  return true;
}

saltus_status saltus_mechanism_costs(const saltus_mechanism* mechanism, const saltus_point* at,
                                     double h, double weight, saltus_costs* costs) {
  assert(mechanism != NULL && at != NULL && costs != NULL);
  assert(costs->kind_count <= costs->kind_room && costs->body_count <= costs->body_room);
  const saltus_mechanism* m = mechanism;
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  saltusi_shapes_memory room;
  if (m->world == NULL) {
    return SALTUS_OK;
  }
  if (!take_room(m, &pool, &room)) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_world_query query = saltusi_shapes_ahead(m, at, h, &room);
  query.reach = m->world->reach;
  counting c = {.m = m, .query = &query, .weight = weight, .costs = costs};
  saltusi_world_meet(m->world, &query, count_pair, &c);
  saltusi_pool_free(&pool);
  return SALTUS_OK;
}

bool saltus_mechanism_contact_bodies(const saltus_mechanism* mechanism, uint64_t identity,
                                     int bodies[2]) {
  assert(mechanism != NULL && bodies != NULL);
  const saltus_mechanism* m = mechanism;
  if (m->world == NULL || (identity & SALTUSI_LISTED) != 0 ||
      !saltusi_world_knows(m->world, identity)) {
    return false;
  }
  int instance[2];
  saltusi_feature_candidate numbers;
  saltusi_world_decode(m->world, identity, &instance[0], &instance[1], &numbers);
  const int a = m->world->instance[instance[0]].carrier;
  const int b = m->world->instance[instance[1]].carrier;
  bodies[0] = a < b ? a : b;
  bodies[1] = a < b ? b : a;
  bodies[1] = bodies[1] == m->body_count ? -1 : bodies[1];
  return true;
}

/* Mobility at an overlap: 1/m of a free body, else 0. */
static double share_of(const saltus_mechanism* m, int body) {
  const saltusi_body* at = body >= 0 ? &m->bodies[body] : NULL;
  return at != NULL && at->kind == SALTUS_BODY_FREE ? 1.0 / at->mass : 0.0;
}

/* Separation of two bodies along an overlap for a displacement [nv]. */
static double separated(const saltus_mechanism* m, const saltus_overlap* o, const double* way) {
  double by = 0.0;
  for (int side = 0; side < 2; side++) {
    const double sign = side == 0 ? 1.0 : -1.0;
    const double* x =
        share_of(m, o->bodies[side]) > 0.0 ? way + m->bodies[o->bodies[side]].v : NULL;
    for (int k = 0; x != NULL && k < (m->plane ? 2 : 3); k++) {
      by += sign * o->direction[k] * x[k];
    }
  }
  return by;
}

static void push(const saltus_mechanism* m, const saltus_overlap* o, double impulse, double* way) {
  for (int side = 0; side < 2; side++) {
    const double by = (side == 0 ? impulse : -impulse) * share_of(m, o->bodies[side]);
    for (int k = 0; by != 0.0 && k < (m->plane ? 2 : 3); k++) {
      way[m->bodies[o->bodies[side]].v + k] += by * o->direction[k];
    }
  }
}

/* The least displacement, in the mass metric, that separates all overlaps of a list along their directions, by Gauss-Seidel,
 * 0 <= n.(x_A - x_B) - depth - margin   perp   impulse >= 0. An impulse propagates through a whole column at once. */
static void part_all(const saltus_mechanism* m, const saltus_overlap* list, int count,
                     double margin, double* impulse, double* way) {
  const long most = 200L + 4L * count * count, work = 5000000L / count;
  const long sweeps = most < work ? most : work;
  const double further = 1.8; /* over-relaxation: converges below 2, faster for long columns */
  memset(impulse, 0, (size_t)count * sizeof(double));
  memset(way, 0, (size_t)m->system.dims.nv * sizeof(double));
  double worst = INFINITY;
  for (long k = 0; k < sweeps && worst > 0.1 * margin; k++) {
    worst = 0.0;
    for (int i = 0; i < count; i++) {
      const double weight = share_of(m, list[i].bodies[0]) + share_of(m, list[i].bodies[1]);
      const double lacks = list[i].depth + margin - separated(m, &list[i], way);
      if (weight == 0.0) {
        continue;
      }
      const double now = fmax(0.0, impulse[i] + further * lacks / weight);
      worst = fmax(worst, fabs(now - impulse[i]) * weight);
      push(m, &list[i], now - impulse[i], way);
      impulse[i] = now;
    }
  }
}

/* The mean correction of the overlaps of a body: slower, for cyclic arrangements. */
static void part_by_means(const saltus_mechanism* m, const saltus_overlap* list, int count,
                          double margin, double* times, double* way) {
  memset(way, 0, (size_t)m->system.dims.nv * sizeof(double));
  memset(times, 0, (size_t)(m->body_count + 1) * sizeof(double));
  for (int i = 0; i < count; i++) {
    const double weight = share_of(m, list[i].bodies[0]) + share_of(m, list[i].bodies[1]);
    push(m, &list[i], weight > 0.0 ? (list[i].depth + margin) / weight : 0.0, way);
    for (int side = 0; side < 2; side++) {
      times[list[i].bodies[side] >= 0 ? list[i].bodies[side] : m->body_count] += 1.0;
    }
  }
  for (int i = 0; i < m->body_count; i++) {
    for (int k = 0; m->bodies[i].v >= 0 && times[i] > 1.0 && k < (m->plane ? 2 : 3); k++) {
      way[m->bodies[i].v + k] /= times[i];
    }
  }
}

saltus_status saltus_mechanism_separate(const saltus_mechanism* mechanism, double t, double deeper,
                                        double* q, int* left) {
  assert(mechanism != NULL && q != NULL && left != NULL);
  enum { ROUNDS = 500, AT_ONCE = 100, MOST = 4096 };
  const saltus_mechanism* m = mechanism;
  const int nv = m->system.dims.nv, nq = m->system.dims.nq;
  saltusi_pool pool = saltusi_pool_over(&m->pool.allocator);
  saltus_overlap* list = SALTUSI_TAKE(&pool, saltus_overlap, MOST);
  double* way = SALTUSI_TAKE(&pool, double, nv);
  double* impulse = SALTUSI_TAKE(&pool, double, MOST);
  double* times = SALTUSI_TAKE(&pool, double, m->body_count + 1);
  double* moved = SALTUSI_TAKE(&pool, double, nq);
  saltus_status status = pool.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int round = 0; status == SALTUS_OK && round <= ROUNDS; round++) {
    status = saltus_mechanism_overlaps(m, t, q, deeper, list, MOST, left);
    if (*left == 0 || round == ROUNDS || status != SALTUS_OK) {
      break;
    }
    const int count = *left < MOST ? *left : MOST;
    if (round < AT_ONCE) {
      part_all(m, list, count, deeper, impulse, way);
    } else {
      part_by_means(m, list, count, deeper, times, way);
    }
    if (m->plane) {
      for (int k = 0; k < nq; k++) {
        q[k] += way[k];
      }
    } else {
      saltusi_mechanism_advance(m, q, way, 1.0, moved);
      memcpy(q, moved, (size_t)nq * sizeof(double));
    }
  }
  saltusi_pool_free(&pool);
  return status;
}
