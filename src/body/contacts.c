/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * contacts.c - contacts of a mechanism with shapes.
 *
 *   U = G_A (v_A, w_A) + G_B (v_B, w_B),   b: contribution of driven bodies, c: convective terms and accelerations of
 * driven bodies
 *   within h a body translates by at most h |v| + h^2/2 |gravity| and rotates by at most h |w| + h^2/2 |w|^2
 */
#include "body/contacts.h"

#include "body/constraints.h"
#include "shape/pair/pair.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- lists ---- */

typedef struct contacts_listing {
  const saltus_mechanism* m;
  const saltus_point* at;
  const saltusi_world_query* query;
  const saltus_box* over; /* NULL: at a point */
  saltus_contact_list* list;
  int count;  /* all there are */
  int sorted; /* first of the contacts of the present instance */
  int instance;
  bool crowded; /* a pair of shapes exceeds the capacity */
} contacts_listing;

/* Sorts the contacts of one instance by identity; pairs of earlier instances have smaller identities. */
static void sort_from(saltus_contact_list* list, int first, int end) {
  for (int i = first + 1; i < end; i++) {
    const uint64_t identity = list->identity[i];
    const double gap = list->gap[i];
    const int law = list->law[i];
    int k = i;
    for (; k > first && list->identity[k - 1] > identity; k--) {
      list->identity[k] = list->identity[k - 1];
      list->gap[k] = list->gap[k - 1];
      list->law[k] = list->law[k - 1];
    }
    list->identity[k] = identity;
    list->gap[k] = gap;
    list->law[k] = law;
  }
}

static void finish_instance(contacts_listing* l) {
  if (l->count <= l->list->capacity) {
    sort_from(l->list, l->sorted, l->count);
  }
  l->sorted = l->count;
}

/* Whether two instances have a closed contact. */
static bool touches(const saltusi_world* world, const saltus_box* over, int a, int b) {
  const saltusi_instance *x = &world->instance[a], *y = &world->instance[b];
  for (int i = 0; i < over->closed_count; i++) {
    const uint32_t first = (uint32_t)(over->closed[i] >> 32), second = (uint32_t)over->closed[i];
    if (first - x->first < x->numbers && second - y->first < y->numbers) {
      return true;
    }
  }
  return false;
}

static void add_entry(contacts_listing* l, const saltusi_near_pair* meeting,
                      const saltusi_feature_candidate* pair, int law) {
  if (l->count < l->list->capacity) {
    l->list->identity[l->count] = saltusi_world_identity(l->m->world, meeting->a, meeting->b, pair);
    l->list->gap[l->count] = pair->gap;
    l->list->law[l->count] = law;
  }
  l->count++;
}

/* Separation monitor: one gap function for two shapes. */
static void add_watch(contacts_listing* l, const saltusi_near_pair* meeting) {
  const saltusi_instance* a = &l->m->world->instance[meeting->a];
  const saltusi_instance* b = &l->m->world->instance[meeting->b];
  const saltusi_body_pose* carrier = l->query->carrier;
  saltusi_separation apart;
  if (saltusi_shape_separation(&a->shape, &carrier[a->carrier], &b->shape, &carrier[b->carrier],
                               &apart) == SALTUS_OK &&
      !(apart.distance > meeting->near.reach)) {
    add_entry(l, meeting, &(saltusi_feature_candidate){.gap = apart.distance}, SALTUS_WATCH);
  }
}

static bool list_meeting(void* user, const saltusi_near_pair* meeting) {
  contacts_listing* l = user;
  const saltusi_world* world = l->m->world;
  if (meeting->a != l->instance) {
    finish_instance(l);
    l->instance = meeting->a;
  }
  if (l->over != NULL && !touches(world, l->over, meeting->a, meeting->b)) {
    add_watch(l, meeting);
    return true;
  }
  saltusi_near_pair wanted = *meeting;
  wanted.near.all = l->over != NULL;
  const saltusi_candidates found = saltusi_world_pairs(world, l->query, &wanted);
  l->crowded = l->crowded || found.count > found.capacity;
  for (int i = 0; i < found.count && !l->crowded; i++) {
    if (!l->list->concise ||
        !saltusi_world_redundant_contacts(world, l->query, meeting, &found.item[i])) {
      add_entry(l, meeting, &found.item[i], meeting->law);
    }
  }
  return !l->crowded;
}

/* Appends limits after the feature pairs, whose identities are smaller. */
static saltus_status add_limits(const saltus_mechanism* m, const saltus_point* at, int count,
                                saltus_contact_list* list) {
  list->count = count + m->limit_count;
  if (list->count > list->capacity) {
    return SALTUS_RETRY_CAPACITY;
  }
  saltus_contact_list limits = *list;
  limits.gap += count;
  saltus_status status = SALTUS_OK;
  if (m->limit_count > 0 && at != NULL) {
    status = saltusi_mechanism_contacts(m, at, &limits);
  }
  for (int i = 0; i < m->limit_count; i++) {
    list->identity[count + i] = SALTUSI_LISTED + (uint64_t)i;
    list->law[count + i] = i;
  }
  return status;
}

saltus_status saltusi_shapes_list(const saltus_mechanism* m, const saltus_point* at,
                                  const saltusi_world_query* query, const saltus_box* over,
                                  saltus_contact_list* list) {
  assert(m != NULL && at != NULL && query != NULL && list != NULL);
  contacts_listing l = {
      .m = m, .at = at, .query = query, .over = over, .list = list, .instance = -1};
  saltusi_world_meet(m->world, query, list_meeting, &l);
  finish_instance(&l);
  if (l.crowded && over != NULL) {
    return SALTUS_RETRY_SMALLER; /* fewer pairs can touch within a shorter time */
  }
  if (l.crowded) {
    saltus_fail(at, "two shapes have more than %d contacts at t = %.10g s", m->world->candidates,
                at->t);
    return SALTUS_ERR_SYSTEM;
  }
  list->reach = query->reach;
  return add_limits(m, at, l.count, list);
}

saltusi_world_query saltusi_shapes_ahead(const saltus_mechanism* m, const saltus_point* at,
                                         double horizon, const saltusi_shapes_memory* room) {
  assert(m != NULL && at != NULL && room != NULL);
  const double h = at->v != NULL && horizon > 0.0 ? horizon : 0.0;
  const double fall = 0.5 * h * h * sqrt(saltusi_dot3(m->gravity, m->gravity));
  for (int i = 0; i <= m->body_count; i++) {
    saltusi_body_pose* body = &room->carrier[i];
    saltusi_shapes_transfer(m, i, at, room);
    const double turning = h * sqrt(saltusi_dot3(body->w, body->w));
    room->slack[i] = m->bodies[i].kind == SALTUS_BODY_FREE ? fall : 0.0;
    room->turn[i] = turning + 0.5 * turning * turning;
  }
  return (saltusi_world_query){.carrier = room->carrier,
                               .horizon = h,
                               .slack = room->slack,
                               .turn = room->turn,
                               .memory = room->world};
}

/* Whether the cached list belongs to bitwise the same point, reach and horizon. */
static bool is_listed(const saltus_mechanism* m, const saltus_point* at,
                      const saltus_contact_list* list, double reach,
                      const saltusi_shapes_listed* kept) {
  const saltus_dims* d = &m->system.dims;
  return kept->known && at->v != NULL && kept->horizon == list->horizon &&
         kept->concise == list->concise && kept->reach == reach &&
         memcmp(kept->q, at->q, (size_t)d->nq * sizeof(double)) == 0 &&
         memcmp(kept->v, at->v, (size_t)d->nv * sizeof(double)) == 0;
}

/* Stores the contacts of shapes in the cached list. */
static void keep_list(const saltus_mechanism* m, const saltus_point* at,
                      const saltus_contact_list* list, double reach, saltusi_shapes_listed* kept) {
  const saltus_dims* d = &m->system.dims;
  const int count = list->count - m->limit_count;
  const bool driven = m->world->free_count < m->world->moving_count;
  kept->known = !driven && at->v != NULL && (size_t)count <= saltusi_shapes_listed_most(m);
  if (!kept->known) {
    return;
  }
  kept->horizon = list->horizon;
  kept->concise = list->concise;
  kept->reach = reach;
  kept->count = count;
  memcpy(kept->q, at->q, (size_t)d->nq * sizeof(double));
  memcpy(kept->v, at->v, (size_t)d->nv * sizeof(double));
  if (count > 0) {
    memcpy(kept->identity, list->identity, (size_t)count * sizeof(uint64_t));
    memcpy(kept->gap, list->gap, (size_t)count * sizeof(double));
    memcpy(kept->law, list->law, (size_t)count * sizeof(int));
  }
}

static saltus_status repeat_list(const saltus_mechanism* m, const saltus_point* at,
                                 const saltusi_shapes_listed* kept, saltus_contact_list* list) {
  list->reach = kept->reach;
  if (kept->count > 0 && kept->count <= list->capacity) {
    memcpy(list->identity, kept->identity, (size_t)kept->count * sizeof(uint64_t));
    memcpy(list->gap, kept->gap, (size_t)kept->count * sizeof(double));
    memcpy(list->law, kept->law, (size_t)kept->count * sizeof(int));
  }
  return add_limits(m, at, kept->count, list);
}

saltus_status saltusi_shapes_contacts(const void* self, const saltus_point* at,
                                      saltus_contact_list* list) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && list != NULL && at->scratch != NULL);
  saltusi_shapes_memory room;
  saltusi_shapes_lay_out(m, at->scratch, &room);
  const double reach = isfinite(list->reach) ? list->reach : m->world->reach;
  if (is_listed(m, at, list, reach, room.listed)) {
    return repeat_list(m, at, room.listed, list);
  }
  saltusi_world_query query = saltusi_shapes_ahead(m, at, list->horizon, &room);
  query.reach = reach;
  saltus_status status = saltusi_shapes_list(m, at, &query, NULL, list);
  room.listed->known = false;
  if (status == SALTUS_OK) {
    keep_list(m, at, list, reach, room.listed);
  }
  return status;
}

/* ---- rows ---- */

/* A feature pair by its identity, with the poses of its bodies. */
typedef struct contacts_data {
  int body[2];
  saltusi_body_pose own[2]; /* used without a workspace */
  const saltusi_body_pose* on[2];
  const saltusi_shape* shape[2];
  saltusi_feature_candidate numbers;
} contacts_data;

static void recognise(const saltus_mechanism* m, const saltus_point* at, uint64_t identity,
                      contacts_data* k) {
  int instance[2];
  saltusi_world_decode(m->world, identity, &instance[0], &instance[1], &k->numbers);
  for (int i = 0; i < 2; i++) {
    k->shape[i] = &m->world->instance[instance[i]].shape;
    k->body[i] = m->world->instance[instance[i]].carrier;
    if (at->scratch != NULL && at->v != NULL) {
      k->on[i] = saltusi_shapes_carried_in(m, k->body[i], at);
    } else {
      saltusi_shapes_body_pose(m, k->body[i], at, &k->own[i]);
      k->on[i] = &k->own[i];
    }
  }
}

static void pair_of(const contacts_data* k, saltusi_pair* pair) {
  saltusi_shape_pair(k->shape[0], k->on[0], k->shape[1], k->on[1], &k->numbers, pair);
}

/* Rows of one body; `at` is the index of its first velocity, -1: not free. */
static void put(const saltus_mechanism* m, int count, double (*from)[6], int place,
                const saltus_rows* rows, int first) {
  if (place < 0) {
    return;
  }
  double* to = rows->G + (size_t)first * (size_t)rows->stride + place;
  for (int r = 0; r < count; r++, to += rows->stride) {
    if (m->plane) {
      to[0] = from[r][0];
      to[1] = from[r][1];
      to[2] = from[r][5];
    } else {
      memcpy(to, from[r], sizeof from[r]);
    }
  }
}

static double six(const double G[6], const double v[3], const double w[3]) {
  return saltusi_dot3(G, v) + saltusi_dot3(G + 3, w);
}

/* Appends the columns of a body. */
static int add_columns(const saltus_mechanism* m, int v, saltus_rows* rows) {
  if (v < 0) {
    return -1;
  }
  const int place = rows->width;
  int* column = rows->column + place;
  column[0] = v;
  column[1] = v + 1;
  column[2] = v + 2;
  if (!m->plane) {
    column[3] = v + 3;
    column[4] = v + 4;
    column[5] = v + 5;
  }
  rows->width = place + (m->plane ? 3 : 6);
  return place;
}

/* Positions of the velocities of the two bodies in a row, -1: not free; writes the columns. */
static void set_columns(const saltus_mechanism* m, const contacts_data* k, saltus_rows* rows,
                        int place[2]) {
  const int v[2] = {m->bodies[k->body[0]].v, m->bodies[k->body[1]].v};
  if (rows->column == NULL) {
    place[0] = v[0];
    place[1] = v[1];
    return;
  }
  const int first = v[1] >= 0 && (v[0] < 0 || v[1] < v[0]) ? 1 : 0;
  rows->width = 0;
  place[first] = add_columns(m, v[first], rows);
  place[1 - first] = add_columns(m, v[1 - first], rows);
}

/* Rows of the two bodies of a contact, and their convective parts; NULL: not requested. */
typedef struct contact_rows {
  int first, count;
  double (*G[2])[6];
  const double* c;
} contact_rows;

/* Terms of a driven body in rows. */
static void add_driven(const saltus_mechanism* m, const saltus_point* at, int body,
                       const contact_rows* by, int which, saltus_rows* rows) {
  if (m->bodies[body].kind != SALTUS_BODY_DRIVEN) {
    return;
  }
  saltusi_body_motion motion;
  saltusi_motion_at(m, body, at->t, at->v, &motion);
  for (int r = 0; r < by->count; r++) {
    rows->b[by->first + r] += six(by->G[which][r], motion.v, motion.w);
    if (by->c != NULL) {
      rows->c[by->first + r] += six(by->G[which][r], motion.a, motion.dw);
    }
  }
}

static void put_all(const saltus_mechanism* m, const saltus_point* at, const contacts_data* k,
                    const int place[2], const contact_rows* by, saltus_rows* rows) {
  for (int r = 0; by->c != NULL && r < by->count; r++) {
    rows->c[by->first + r] += by->c[r];
  }
  for (int i = 0; i < 2; i++) {
    put(m, by->count, by->G[i], place[i], rows, by->first);
    add_driven(m, at, k->body[i], by, i, rows);
  }
}

/* Rows after those of slip: relative angular velocity along contact axes. In the plane it is about z. In space two
 * rows are tangential, one row is about the normal, and three rows are both. */
static void put_twists(const saltus_mechanism* m, const saltus_point* at, const contacts_data* k,
                       const int place[2], const saltusi_pair_rows* found, saltus_rows* rows) {
  static const int axes[][3] = {{2, 0, 0}, {0, 0, 0}, {1, 2, 0}, {1, 2, 0}};
  enum { MOST = 3 };
  const int slips = m->plane ? 2 : 3;
  double G[2][MOST][6] = {0}, c[MOST];
  contact_rows by = {.first = slips, .count = rows->count - slips, .G = {G[0], G[1]}};
  by.c = rows->c != NULL ? c : NULL;
  assert(by.count <= MOST);
  for (int r = 0; r < by.count; r++) {
    const int axis = axes[m->plane ? 0 : by.count][r];
    double own[3];
    saltusi_turn_back(k->on[0]->R, found->frame[axis], &G[0][r][3]);
    saltusi_turn_back(k->on[1]->R, found->frame[axis], own);
    for (int i = 0; i < 3; i++) {
      G[1][r][3 + i] = -own[i];
    }
    c[r] = by.c != NULL ? found->spin_c[axis] : 0.0;
  }
  put_all(m, at, k, place, &by, rows);
}

void saltusi_shapes_contact(const void* self, const saltus_point* at, uint64_t identity,
                            saltus_rows* rows) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && rows != NULL);
  if ((identity & SALTUSI_LISTED) != 0) {
    saltusi_mechanism_contact(m, at, identity - SALTUSI_LISTED, rows);
    return;
  }
  contacts_data k;
  saltusi_pair_rows found;
  int place[2];
  recognise(m, at, identity, &k);
  saltusi_pair pair;
  pair_of(&k, &pair);
  set_columns(m, &k, rows, place);
  if (!(rows->c != NULL ? saltusi_pair_rows_at(&pair, m->plane, &found)
                        : saltusi_pair_rows_still(&pair, m->plane, rows->count, &found))) {
    saltus_fail(at, "shapes \"%s\" and \"%s\" touch at t = %.10g s where no normal is defined",
                k.shape[0]->name, k.shape[1]->name, at->t);
    return;
  }
  const int slips = m->plane ? 2 : 3;
  const contact_rows by = {.count = rows->count < slips ? rows->count : slips,
                           .G = {found.GA, found.GB},
                           .c = rows->c != NULL ? found.c : NULL};
  put_all(m, at, &k, place, &by, rows);
  if (rows->count > slips) {
    put_twists(m, at, &k, place, &found, rows);
  }
}

/* Zero, or NaN for a pose that is not finite. */
static double unplaced(const saltusi_body_pose* on) {
  double sum = 0.0;
  for (int c = 0; c < 9; c++) {
    sum += 0.0 * (on->R[c] + on->x[c % 3]);
  }
  return sum;
}

saltus_status saltusi_shapes_gaps(const void* self, const saltus_point* at, int count,
                                  const uint64_t* identity, double* gap) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && (count == 0 || (identity != NULL && gap != NULL)));
  for (int i = 0; i < count; i++) {
    if ((identity[i] & SALTUSI_LISTED) != 0) {
      gap[i] = saltusi_limit_gap(m, at, (int)(identity[i] - SALTUSI_LISTED));
      continue;
    }
    contacts_data k;
    saltus_point still = *at;
    still.v = NULL;
    recognise(m, &still, identity[i], &k);
    if (k.numbers.a == 0 || k.numbers.b == 0) {
      saltusi_separation apart = {.distance = (double)NAN};
      (void)saltusi_shape_separation(k.shape[0], k.on[0], k.shape[1], k.on[1], &apart);
      gap[i] = apart.distance;
      continue;
    }
    saltusi_pair pair;
    pair_of(&k, &pair);
    saltusi_closest closest;
    /* without unique closest points, as for parallel edges, other features touch */
    gap[i] = saltusi_pair_closest(&pair, &closest)
                 ? closest.gap
                 : INFINITY + unplaced(k.on[0]) + unplaced(k.on[1]);
  }
  return SALTUS_OK;
}

saltus_status saltusi_shapes_place(const void* self, const saltus_point* at, uint64_t identity,
                                   saltus_contact_place* place) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && place != NULL);
  if ((identity & SALTUSI_LISTED) != 0) {
    return identity - SALTUSI_LISTED < (uint64_t)m->limit_count ? SALTUS_ERR_UNSUPPORTED
                                                                : SALTUS_ERR_RANGE;
  }
  if (!saltusi_world_knows(m->world, identity)) {
    return SALTUS_ERR_RANGE;
  }
  contacts_data k;
  saltusi_pair_rows found;
  recognise(m, at, identity, &k);
  saltusi_pair pair;
  pair_of(&k, &pair);
  if (!saltusi_pair_rows_still(&pair, m->plane, 1, &found)) {
    return SALTUS_ERR_UNDEFINED;
  }
  for (int i = 0; i < 2; i++) {
    place->bodies[i] = k.body[i] < m->body_count ? k.body[i] : -1;
  }
  for (int i = 0; i < 3; i++) {
    place->point[i] = 0.5 * (found.point[0][i] + found.point[1][i]);
    place->normal[i] = found.frame[0][i];
  }
  return SALTUS_OK;
}

void saltusi_shapes_contact_text(const void* self, uint64_t identity, char* text, size_t size) {
  const saltus_mechanism* m = self;
  assert(m != NULL && text != NULL && size > 0);
  if ((identity & SALTUSI_LISTED) != 0) {
    text[0] = '\0';
    return;
  }
  int instance[2];
  saltusi_feature_candidate numbers;
  char feature[2][32];
  saltusi_world_decode(m->world, identity, &instance[0], &instance[1], &numbers);
  const saltusi_shape* A = &m->world->instance[instance[0]].shape;
  const saltusi_shape* B = &m->world->instance[instance[1]].shape;
  saltusi_feature_text(A, numbers.a, feature[0], sizeof feature[0]);
  saltusi_feature_text(B, numbers.b, feature[1], sizeof feature[1]);
  if (numbers.a == 0 || numbers.b == 0) { /* a watch */
    snprintf(text, size, "%s on %s", A->name, B->name);
    return;
  }
  snprintf(text, size, "%s %s on %s %s%s", A->name, feature[0], B->name, feature[1],
           numbers.branch == 1 ? ", far side" : "");
}

int saltusi_shapes_guards(const void* self, const saltus_point* at, uint64_t identity,
                          double guard[SALTUS_GUARDS]) {
  const saltus_mechanism* m = self;
  assert(m != NULL && at != NULL && guard != NULL);
  if ((identity & SALTUSI_LISTED) != 0) {
    return -1;
  }
  contacts_data k;
  saltus_point still = *at;
  still.v = NULL;
  recognise(m, &still, identity, &k);
  static_assert((int)SALTUS_LIES_DOWN == (int)SALTUSI_LIES_DOWN &&
                    (int)SALTUS_TILTS == (int)SALTUSI_TILTS,
                "flags of guards are the same");
  return saltusi_shape_guards(k.shape[0], k.on[0], k.shape[1], k.on[1], &k.numbers, guard);
}
