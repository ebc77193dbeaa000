/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * world.c - see world.h.
 *
 *   a pair comes within   reach + horizon |v_A - v_B| + slack_A + slack_B + turn_A arm_A + turn_B arm_B
 *   boxes grow by         reach / 2 + horizon |v| + slack + turn arm         (each side, |v_A - v_B| <= |v_A| + |v_B|)
 *   bounding balls        their distance is a lower bound of that of their shapes
 *   delta               = turn_A + turn_B + that distance / size
 *   within a horizon    = max(turn_A + turn_B, 8 (slack_A + slack_B) / size) + (reach + slack_A + slack_B) / size,
 *                         or the tilt of interpenetrating shapes if that is larger
 */
#include "shape/world.h"

#include "math/rotation.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Number of minima of a pair of curved features (circle and circle: a polynomial of degree 8). */
enum { BRANCHES = 8 };

/* With fewer instances all pairs are tested. */
enum { ALL_PAIRS = 64 };

/* Margin of the leaf of a shape, relative to its radius. With a smaller one leaves are updated more often; with a
 * larger one queries find more distant instances. */
static const double leaf_margin = 0.1;

/* ---- making ---- */

/* Capacity for the pairs of features of two instances. */
static int candidates_of(const saltusi_world* world) {
  int most = 0, next = 0; /* features of the two largest */
  for (int i = 0; i < world->count; i++) {
    const int n = world->instance[i].shape.features;
    if (n > most) {
      next = most;
      most = n;
    } else if (n > next) {
      next = n;
    }
  }
  const long wanted = 64L + 8L * (most < 4096 ? most : 4096) + 8L * (next < 4096 ? next : 4096);
  return (int)wanted;
}

static saltus_status sort_instances(saltusi_world* world, saltusi_pool* pool) {
  saltusi_instance* sorted = SALTUSI_TAKE(pool, saltusi_instance, world->count);
  if (sorted == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  int place = 0;
  for (int kind = SALTUSI_MOBILITY_FREE; kind <= (int)SALTUSI_MOBILITY_FIXED; kind++) {
    for (int i = 0; i < world->count; i++) {
      if ((int)world->instance[i].mobility == kind) {
        sorted[place++] = world->instance[i];
      }
    }
    world->free_count = kind == (int)SALTUSI_MOBILITY_FREE ? place : world->free_count;
    world->moving_count = kind == (int)SALTUSI_MOBILITY_DRIVEN ? place : world->moving_count;
  }
  world->instance = sorted;
  return SALTUS_OK;
}

static int compare(const saltusi_exception* x, const saltusi_exception* y) {
  const int first = (x->a > y->a) - (x->a < y->a);
  return first != 0 ? first : (x->b > y->b) - (x->b < y->b);
}

/* Sorts exceptions by instance instead of by tag, each pair once. */
static saltus_status sort_exceptions(saltusi_world* world, saltusi_pool* pool) {
  int tags = 0;
  for (int i = 0; i < world->count; i++) {
    tags = world->instance[i].tag >= tags ? world->instance[i].tag + 1 : tags;
  }
  int* place = SALTUSI_TAKE(pool, int, tags);
  if (place == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < world->count; i++) {
    place[world->instance[i].tag] = i;
  }
  saltusi_exception* list = world->exceptions;
  for (int i = 0; i < world->exception_count; i++) {
    const int x = place[list[i].a], y = place[list[i].b];
    list[i].a = x < y ? x : y;
    list[i].b = x < y ? y : x;
  }
  for (int gap = world->exception_count / 2; gap > 0; gap /= 2) { /* Shell's sort: no recursion */
    for (int i = gap; i < world->exception_count; i++) {
      const saltusi_exception item = list[i];
      int k = i;
      for (; k >= gap; k -= gap) {
        const int order = compare(&list[k - gap], &item);
        if (order < 0 || (order == 0 && list[k - gap].order < item.order)) {
          break;
        }
        list[k] = list[k - gap];
      }
      list[k] = item;
    }
  }
  int kept = 0;
  for (int i = 0; i < world->exception_count; i++) {
    const bool last = i + 1 == world->exception_count || compare(&list[i], &list[i + 1]) != 0;
    if (last) {
      list[kept++] = list[i];
    }
  }
  world->exception_count = kept;
  return SALTUS_OK;
}

static saltus_status number(saltusi_world* world, saltusi_pool* pool) {
  uint64_t next = 1; /* no identity is 0 */
  for (int i = 0; i < world->count; i++) {
    saltusi_instance* at = &world->instance[i];
    const double* c = at->shape.centre;
    at->arm = sqrt(saltusi_dot3(c, c)) + at->shape.radius;
    at->ball = at->shape.convex ? at->shape.radius : INFINITY;
    at->numbers = (uint32_t)at->shape.features * BRANCHES;
    at->first = (uint32_t)next;
    next += (uint64_t)at->shape.features * BRANCHES;
    if (next >= (uint64_t)1 << 31) {
      return SALTUS_ERR_RANGE;
    }
  }
  world->owner_count = (int)(next / SALTUSI_OWNER_STEP) + 1;
  world->owner = SALTUSI_TAKE(pool, int, world->owner_count);
  if (world->owner == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  int i = 0;
  for (int k = 0; k < world->owner_count; k++) {
    while (i + 1 < world->count &&
           world->instance[i + 1].first <= (uint32_t)k * SALTUSI_OWNER_STEP) {
      i++;
    }
    world->owner[k] = i;
  }
  return SALTUS_OK;
}

/* Side of a half-space or half-plane. */
static saltusi_pair_side side_of(const saltusi_instance* at, const saltusi_body_pose* on) {
  const saltusi_feature* plane = &at->shape.feature[0];
  saltusi_pair_side side;
  double p[3];
  saltusi_turn(on->R, plane->a, side.normal);
  saltusi_turn(on->R, plane->p, p);
  saltusi_along(1.0, on->x, p, p);
  side.end = saltusi_dot3(side.normal, p) + plane->rho;
  return side;
}

/* Builds the tree of fixed instances, and the list of unbounded ones. */
static saltus_status plant(saltusi_world* world, const saltusi_body_pose* pose,
                           saltusi_pool* pool) {
  const int still = world->count - world->moving_count, nodes = saltusi_tree_nodes(still);
  world->endless = SALTUSI_TAKE(pool, int, world->count);
  world->still = SALTUSI_TAKE(pool, saltusi_bounds, still);
  world->side = SALTUSI_TAKE(pool, saltusi_pair_side, still);
  world->fixed.node = SALTUSI_TAKE(pool, saltusi_tree_node, nodes);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  saltusi_tree_clear(&world->fixed, still);
  for (int i = 0; i < world->count; i++) {
    const saltusi_instance* at = &world->instance[i];
    if (!isfinite(at->arm)) {
      world->endless[world->endless_count++] = i;
      if (i >= world->moving_count) {
        world->side[i - world->moving_count] = side_of(at, &pose[at->carrier]);
      }
    } else if (i >= world->moving_count) {
      saltusi_bounds* box = &world->still[i - world->moving_count];
      saltusi_shape_box(&at->shape, &pose[at->carrier], box->low, box->high);
      saltusi_tree_insert(&world->fixed, i - world->moving_count, box);
    }
  }
  return SALTUS_OK;
}

saltus_status saltusi_world_make(saltusi_world* world, const saltusi_body_pose* pose,
                                 saltusi_pool* pool) {
  assert(world != NULL && pose != NULL && pool != NULL);
  const double part =
      0.01; /* relative to the smallest shape: larger than rounding, smaller than relevant lengths */
  saltus_status status = sort_instances(world, pool);
  status = status == SALTUS_OK ? sort_exceptions(world, pool) : status;
  status = status == SALTUS_OK ? number(world, pool) : status;
  status = status == SALTUS_OK ? plant(world, pose, pool) : status;
  double least = INFINITY;
  for (int i = 0; i < world->count; i++) {
    least = isfinite(world->instance[i].arm) ? fmin(least, world->instance[i].shape.size) : least;
  }
  world->reach = isfinite(least) ? part * least : part;
  world->candidates = candidates_of(world);
  return status;
}

/* ---- memory of a query ---- */

/* The struct at the start of the memory. */
typedef struct memory {
  uint64_t seal; /* another number: the memory is not initialised */
  saltusi_broad_phase moving;
  saltusi_bounds* box; /* [moving_count] enlarged */
  double* grows;     /* [moving_count] margin of the box; NAN: the pose of the body is undefined */
  double (*ball)[4]; /* [moving_count] centre, in world axes, and radius */
  int *found, *stack;
  saltusi_feature_candidate* item;
} memory;

static const uint64_t seal = 0x73616c7475733138U;

static size_t rounded(size_t bytes) {
  return (bytes + SALTUS_ALIGNMENT - 1) / SALTUS_ALIGNMENT * SALTUS_ALIGNMENT;
}

/* Lays out arrays after the struct; returns the number of bytes. */
static size_t lay_out(const saltusi_world* world, char* base, memory* m) {
  enum { PLACES = 9 };
  const size_t moving = (size_t)world->moving_count, all = (size_t)world->count + 1;
  const size_t nodes = (size_t)saltusi_tree_nodes(world->moving_count);
  const size_t more = (size_t)saltusi_tree_nodes(world->count);
  size_t at = rounded(sizeof(memory));
  const size_t places[PLACES] = {nodes * sizeof(saltusi_tree_node),
                                 moving * sizeof(saltusi_bounds),
                                 moving * sizeof(double),
                                 all * sizeof(int),
                                 more * sizeof(int),
                                 (size_t)world->candidates * sizeof(saltusi_feature_candidate),
                                 moving * sizeof(int),
                                 moving * SALTUSI_NEIGHBOURS * sizeof(int),
                                 moving * 4 * sizeof(double)};
  size_t start[PLACES];
  for (int k = 0; k < PLACES; k++) {
    start[k] = at;
    at += rounded(places[k]);
  }
  if (base != NULL) {
    m->moving.tree.node = (saltusi_tree_node*)(void*)(base + start[0]);
    m->box = (saltusi_bounds*)(void*)(base + start[1]);
    m->grows = (double*)(void*)(base + start[2]);
    m->found = (int*)(void*)(base + start[3]);
    m->stack = (int*)(void*)(base + start[4]);
    m->item = (saltusi_feature_candidate*)(void*)(base + start[5]);
    m->moving.count = (int*)(void*)(base + start[6]);
    m->moving.other = (int*)(void*)(base + start[7]);
    m->ball = (double(*)[4])(void*)(base + start[8]);
    m->moving.found = m->found;
    m->moving.tree.stack = m->stack;
  }
  return at;
}

size_t saltusi_world_bytes(const saltusi_world* world) {
  assert(world != NULL);
  return lay_out(world, NULL, NULL);
}

/* Pointers are set at every call, since the memory may have been moved. */
static memory* open_memory(const saltusi_world* world, void* base) {
  memory* m = base;
  const bool known = m->seal == seal && m->moving.tree.leaves == world->moving_count;
  lay_out(world, base, m);
  if (!known) {
    saltusi_broad_phase_clear(&m->moving, world->moving_count);
    m->seal = seal;
  }
  return m;
}

/* ---- queries ---- */

/* The exception for two instances, a < b; NULL: none. */
static const saltusi_exception* exception_of(const saltusi_world* world, int a, int b) {
  const saltusi_exception wanted = {.a = a, .b = b};
  int from = 0, to = world->exception_count;
  while (from < to) {
    const int middle = from + (to - from) / 2;
    const int order = compare(&world->exceptions[middle], &wanted);
    if (order == 0) {
      return &world->exceptions[middle];
    }
    from = order < 0 ? middle + 1 : from;
    to = order < 0 ? to : middle;
  }
  return NULL;
}

int saltusi_world_law(const saltusi_world* world, int a, int b) {
  assert(world != NULL && a >= 0 && a < b && b < world->count);
  const saltusi_instance *x = &world->instance[a], *y = &world->instance[b];
  if (a >= world->free_count || x->carrier == y->carrier) {
    return SALTUSI_LAW_NONE;
  }
  const saltusi_exception* e = exception_of(world, a, b);
  if (e != NULL && e->law != SALTUSI_LAW_OF_MATERIALS) {
    return e->law;
  }
  if (e == NULL && (x->groups & y->groups) != 0) {
    return SALTUSI_LAW_NONE;
  }
  return world->law[x->material * world->materials + y->material];
}

static double turn_of(const saltusi_world_query* query, int carrier) {
  return query->turn != NULL ? query->turn[carrier] : 0.0;
}

static double slack_of(const saltusi_world_query* query, int carrier) {
  return query->slack != NULL ? query->slack[carrier] : 0.0;
}

static bool is_somewhere(const saltusi_body_pose* at) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    sum += at->x[k] * 0.0;
  }
  for (int k = 0; k < 9; k++) {
    sum += at->R[k] * 0.0;
  }
  return sum == 0.0; /* NaN and infinity give NaN */
}

/* Boxes of moving instances. */
static void grow_boxes(const saltusi_world* world, const saltusi_world_query* query, memory* m) {
  for (int i = 0; i < world->moving_count; i++) {
    const saltusi_instance* at = &world->instance[i];
    const saltusi_body_pose* on = &query->carrier[at->carrier];
    m->grows[i] = (double)NAN;
    if (!isfinite(at->arm) || !is_somewhere(on)) {
      continue;
    }
    const double speed = query->horizon > 0.0 ? sqrt(saltusi_dot3(on->v, on->v)) : 0.0;
    const double by = 0.5 * query->reach + query->horizon * speed + slack_of(query, at->carrier) +
                      turn_of(query, at->carrier) * at->arm;
    saltusi_bounds* box = &m->box[i];
    saltusi_shape_box(&at->shape, on, box->low, box->high);
    saltusi_turn(on->R, at->shape.centre, m->ball[i]);
    saltusi_along(1.0, on->x, m->ball[i], m->ball[i]);
    m->ball[i][3] = at->ball;
    m->grows[i] = by;
    for (int k = 0; k < 3; k++) {
      box->low[k] -= by;
      box->high[k] += by;
    }
  }
}

/* Lower bound of the rotation by forces within a horizon, in units of the fall (slack) over the size. A box that
 * loses one of its supports rotates by three of them, one that is pushed by others by more. A contact that is
 * listed in the rotated pose but not in the resting one would appear and vanish in every step. Of four piles of
 * 1000 boxes with contact stiffness 1e6 N/m one comes to rest with a factor of 1, all with 4; with 3e5 N/m two,
 * and all with 8. */
static const double forced_turn = 8.0;

/* Bounds of the relative motion of two instances. */
static saltusi_near_pair meeting_of(const saltusi_world* world, const saltusi_world_query* query,
                                    int i, int j) {
  const saltusi_instance *a = &world->instance[i], *b = &world->instance[j];
  const saltusi_body_pose *on_a = &query->carrier[a->carrier], *on_b = &query->carrier[b->carrier];
  double d[3], arm = b->arm;
  saltusi_minus3(on_a->v, on_b->v, d);
  const double speed = query->horizon > 0.0 ? sqrt(saltusi_dot3(d, d)) : 0.0;
  if (!isfinite(arm)) { /* unbounded instance: its points close to the other one rotate with it */
    saltusi_minus3(on_a->x, on_b->x, d);
    arm = sqrt(saltusi_dot3(d, d)) + a->arm;
  }
  const double turn_a = turn_of(query, a->carrier), turn_b = turn_of(query, b->carrier);
  saltusi_near_pair meeting = {.a = i, .b = j};
  meeting.approach = query->horizon * speed + slack_of(query, a->carrier) +
                     slack_of(query, b->carrier) + turn_a * a->arm + turn_b * arm;
  meeting.near.reach = query->reach + meeting.approach;
  const double size = isfinite(b->arm) ? fmin(a->shape.size, b->shape.size) : a->shape.size;
  /* Within a horizon contacts act along the present normals; pairs that only a displacement brings into the cones
   * of normals are excluded. Forces alone may rotate bodies at rest by as much; without this margin features at
   * the limit would enter and leave the list in every step. */
  const bool ahead = query->horizon > 0.0;
  const double fall = slack_of(query, a->carrier) + slack_of(query, b->carrier);
  const double shift = ahead ? query->reach + fall : meeting.near.reach;
  const double forced = ahead && size > 0.0 ? forced_turn * fall / size : 0.0;
  meeting.near.delta = fmax(turn_a + turn_b, forced) + (size > 0.0 ? shift / size : 0.0);
  meeting.near.here = query->horizon == 0.0 && turn_a + turn_b == 0.0;
  return meeting;
}

/* Relative margin for the rounding of sums of lengths, with bounding balls. */
static const double ball_rounding = 64.0 * DBL_EPSILON;

static double far_from_origin(const double p[3]) {
  return fabs(p[0]) + fabs(p[1]) + fabs(p[2]);
}

/* True if the distance of two balls exceeds a reach. */
static bool balls_apart(const double a[4], const double b[4], double reach) {
  double d[3];
  saltusi_minus3(a, b, d);
  const double balls = a[3] + b[3], within = reach + balls;
  const double more = within + ball_rounding * (far_from_origin(a) + within);
  return saltusi_dot3(d, d) > more * more;
}

/* True if the ball of moving instance i is farther than a reach from instance j: from its ball, or from the side
 * of a fixed half-space. */
static bool are_apart(const saltusi_world* world, const saltusi_world_query* query, const memory* m,
                      int i, int j, double reach) {
  const double* p = m->ball[i];
  const int still = j - world->moving_count;
  const saltusi_instance* b = &world->instance[j];
  if (still < 0) {
    return isfinite(b->arm) && balls_apart(p, m->ball[j], reach);
  }
  if (!isfinite(b->arm)) {
    const saltusi_pair_side* side = &world->side[still];
    const double far = far_from_origin(p) + p[3] + fabs(side->end);
    return saltusi_dot3(side->normal, p) - side->end - p[3] > reach + ball_rounding * far;
  }
  const saltusi_body_pose* on = &query->carrier[b->carrier];
  double ball[4] = {[3] = b->ball};
  saltusi_turn(on->R, b->shape.centre, ball);
  saltusi_along(1.0, on->x, ball, ball);
  return balls_apart(p, ball, reach);
}

static bool is_near(const saltusi_world* world, const saltusi_world_query* query, const memory* m,
                    int i, int j) {
  if (j < world->moving_count) {
    return m->grows[j] == m->grows[j] && saltusi_bounds_meet(&m->box[i], &m->box[j]) &&
           !balls_apart(m->ball[i], m->ball[j], m->grows[i] + m->grows[j]);
  }
  saltusi_bounds box = world->still[j - world->moving_count];
  for (int k = 0; k < 3; k++) {
    box.low[k] -= 0.5 * query->reach;
    box.high[k] += 0.5 * query->reach;
  }
  return saltusi_bounds_meet(&m->box[i], &box);
}

/* Ascending; the lists are short. */
static void sort(int count, int* x) {
  for (int i = 1; i < count; i++) {
    const int item = x[i];
    int k = i;
    for (; k > 0 && x[k - 1] > item; k--) {
      x[k] = x[k - 1];
    }
    x[k] = item;
  }
}

/* Appends fixed instances whose boxes overlap the box; returns the number of all found. */
static int find_fixed(const saltusi_world* world, const saltusi_world_query* query, const memory* m,
                      int i, int* found) {
  if (world->fixed.root < 0) {
    return 0;
  }
  saltusi_tree fixed = world->fixed;
  saltusi_bounds box = m->box[i];
  for (int k = 0; k < 3; k++) { /* by more than half the reach of is_near, because of rounding */
    box.low[k] -= query->reach;
    box.high[k] += query->reach;
  }
  fixed.stack = m->stack;
  const int count = saltusi_tree_find(&fixed, &box, -1, found);
  for (int k = 0; k < count; k++) {
    found[k] += world->moving_count;
  }
  return count;
}

/* Instances above i whose boxes are near to it, ascending in m->found. */
static int partners_of(const saltusi_world* world, const saltusi_world_query* query, memory* m,
                       int i) {
  int count = 0, kept = 0;
  const bool all = world->count < ALL_PAIRS;
  for (int j = i + 1; all && j < world->count; j++) {
    m->found[count++] = j;
  }
  if (!all) {
    count = saltusi_broad_phase_of(&m->moving, i, &m->box[i], m->found);
    count += find_fixed(world, query, m, i, m->found + count);
  }
  for (int k = 0; k < count; k++) {
    const int j = m->found[k];
    const bool endless =
        all && !isfinite(world->instance[j].arm); /* no unbounded instance is in a tree */
    if (endless || is_near(world, query, m, i, j)) {
      m->found[kept++] = j;
    }
  }
  for (int k = 0; k < world->endless_count && !all; k++) {
    const int j = world->endless[k];
    if (!are_apart(world, query, m, i, j,
                   m->grows[i] + query->reach)) { /* more than half of the reach */
      m->found[kept++] = j;
    }
  }
  sort(all ? 0 : kept, m->found);
  return kept;
}

/* Updates the leaves of moving instances, enlarged along fast motions by a few steps. */
static void move_leaves(const saltusi_world* world, const saltusi_world_query* query, memory* m) {
  const double steps = 3.0;
  for (int i = 0; i < world->moving_count; i++) {
    const saltusi_instance* at = &world->instance[i];
    const double* v = query->carrier[at->carrier].v;
    const double ahead = steps * query->horizon;
    const double way[3] = {ahead * v[0], ahead * v[1], ahead * v[2]};
    if (m->grows[i] == m->grows[i]) {
      saltusi_broad_phase_move(&m->moving, i, &m->box[i], leaf_margin * at->shape.radius, way);
    }
  }
}

void saltusi_world_meet(const saltusi_world* world, const saltusi_world_query* query,
                        saltusi_meet meet, void* user) {
  assert(world != NULL && query != NULL && query->memory != NULL && meet != NULL);
  memory* m = open_memory(world, query->memory);
  grow_boxes(world, query, m);
  if (world->count >= ALL_PAIRS) {
    move_leaves(world, query, m);
  }
  for (int i = 0; i < world->free_count; i++) {
    const int count = m->grows[i] == m->grows[i] ? partners_of(world, query, m, i) : 0;
    for (int k = 0; k < count; k++) {
      saltusi_near_pair meeting = meeting_of(world, query, i, m->found[k]);
      if (are_apart(world, query, m, i, m->found[k], meeting.near.reach)) {
        continue;
      }
      meeting.law = saltusi_world_law(world, i, m->found[k]);
      if (meeting.law >= 0 && !meet(user, &meeting)) {
        return;
      }
    }
  }
}

saltusi_candidates saltusi_world_pairs(const saltusi_world* world, const saltusi_world_query* query,
                                       const saltusi_near_pair* meeting) {
  assert(world != NULL && query != NULL && meeting != NULL);
  const memory* m = query->memory;
  const saltusi_instance* a = &world->instance[meeting->a];
  const saltusi_instance* b = &world->instance[meeting->b];
  saltusi_candidates list = {.capacity = world->candidates, .item = m->item};
  (void)saltusi_shape_pairs(&a->shape, &query->carrier[a->carrier], &b->shape,
                            &query->carrier[b->carrier], &meeting->near, &list);
  /* Face contact with different loads: the side with the smaller load may be outside of the cones of normals. It
   * would be listed after a step without it, and not listed after a step with it. */
  saltusi_near wider = meeting->near;
  wider.delta = query->horizon > 0.0 ? saltusi_shape_tilt(&a->shape, &b->shape, &list) : 0.0;
  if (wider.delta > meeting->near.delta) {
    list.count = 0;
    (void)saltusi_shape_pairs(&a->shape, &query->carrier[a->carrier], &b->shape,
                              &query->carrier[b->carrier], &wider, &list);
  }
  return list;
}

/* ---- identities ---- */

uint64_t saltusi_world_identity(const saltusi_world* world, int a, int b,
                                const saltusi_feature_candidate* pair) {
  assert(world != NULL && pair != NULL && a < b && pair->branch >= 0 && pair->branch < BRANCHES);
  const saltusi_instance *x = &world->instance[a], *y = &world->instance[b];
  const uint64_t first =
      (uint64_t)x->first + (uint64_t)pair->branch * (uint64_t)x->shape.features + (uint64_t)pair->a;
  return first << 32 | ((uint64_t)y->first + (uint64_t)pair->b);
}

/* Instance of a feature number. */
static int instance_of(const saltusi_world* world, uint32_t wanted) {
  const uint32_t place = wanted / SALTUSI_OWNER_STEP;
  int i = world->owner[place < (uint32_t)world->owner_count ? place : 0];
  while (i + 1 < world->count && world->instance[i + 1].first <= wanted) {
    i++;
  }
  return i;
}

void saltusi_world_decode(const saltusi_world* world, uint64_t identity, int* a, int* b,
                          saltusi_feature_candidate* pair) {
  assert(world != NULL && a != NULL && b != NULL && pair != NULL);
  const uint32_t first = (uint32_t)(identity >> 32), second = (uint32_t)identity;
  *a = instance_of(world, first);
  *b = instance_of(world, second);
  const saltusi_instance *x = &world->instance[*a], *y = &world->instance[*b];
  const uint32_t of_x = (uint32_t)x->shape.features, of_y = (uint32_t)y->shape.features;
  const uint32_t from_x = first - x->first, from_y = second - y->first;
  const uint32_t branch = from_x < of_x ? 0 : from_x / of_x; /* avoids a slow division */
  pair->a = (int)(from_x - branch * of_x);
  pair->b = (int)(from_y < of_y ? from_y : from_y % of_y);
  pair->branch = (int)branch;
}

/* True for numbers of stored features; features of meshes are constructed on demand. */
static bool has_feature(const saltusi_shape* shape, int number) {
  return number >= 1 && (shape->mesh != NULL ? number < shape->features : number <= shape->stored);
}

bool saltusi_world_knows(const saltusi_world* world, uint64_t identity) {
  assert(world != NULL);
  int a, b;
  saltusi_feature_candidate pair;
  if (world->count < 2) {
    return false;
  }
  saltusi_world_decode(world, identity, &a, &b, &pair);
  const saltusi_instance *x = &world->instance[a], *y = &world->instance[b];
  return a < b && x->carrier != y->carrier && pair.branch < BRANCHES &&
         has_feature(&x->shape, pair.a) && has_feature(&y->shape, pair.b) &&
         saltusi_world_identity(world, a, b, &pair) == identity;
}
