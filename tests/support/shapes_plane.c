/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * shapes_plane.c - see shapes_plane.h.
 */
#include "shapes_plane.h"

#include "saltus_test.h"

plane_scene plane_begin(double mu, double e) {
  plane_scene scene;
  memset(&scene, 0, sizeof scene);
  scene.gravity[1] = -9.81;
  scene.law = (saltus_contact_law){.name = "pair", .tangents = 1, .mu = mu, .e_N = e};
  scene.pool = saltusi_pool_over(NULL);
  return scene;
}

void plane_end(plane_scene* scene) {
  saltusi_pool_free(&scene->pool);
}

int plane_add_body(plane_scene* scene, double mass, double inertia) {
  scene->mass[scene->bodies] = mass;
  scene->inertia[scene->bodies] = inertia;
  return scene->bodies++;
}

void plane_add_shape(plane_scene* scene, int body, const saltus_shape_def* def) {
  saltus_kept_message kept = {0};
  scene->body[scene->shapes] = body;
  assert_int_equal(saltusi_shape_make(def, 2, &scene->pool, saltus_log_keep(&kept),
                                      &scene->shape[scene->shapes]),
                   SALTUS_OK);
  scene->shapes++;
}

/* ---- identities ---- */

static int first_number(const plane_scene* scene, int shape) {
  int first = 1;
  for (int i = 0; i < shape; i++) {
    first += scene->shape[i].features;
  }
  return first;
}

static uint64_t name_of(const plane_scene* scene, int i, int j, int a, int b) {
  return (uint64_t)(first_number(scene, i) + a) << 32 | (uint64_t)(first_number(scene, j) + b);
}

static int shape_of(const plane_scene* scene, int number, int* feature) {
  int shape = 0;
  while (number >= first_number(scene, shape + 1)) {
    shape++;
  }
  *feature = number - first_number(scene, shape);
  return shape;
}

void plane_names(const plane_scene* scene, uint64_t identity, int shape[2],
                 saltusi_feature_candidate* pair) {
  *pair = (saltusi_feature_candidate){0};
  shape[0] = shape_of(scene, (int)(identity >> 32), &pair->a);
  shape[1] = shape_of(scene, (int)(identity & 0xffffffffU), &pair->b);
}

static bool may_touch(const plane_scene* scene, int i, int j) {
  return scene->body[i] != scene->body[j] &&
         saltusi_shape_treats(&scene->shape[i], &scene->shape[j]);
}

/* ---- dynamics ---- */

static saltusi_body_pose carrier_of(const plane_scene* scene, int shape, const double* q,
                                    const double* v) {
  saltusi_body_pose c = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const int b = scene->body[shape];
  if (b >= 0) {
    c.x[0] = q[3 * b];
    c.x[1] = q[3 * b + 1];
    c.R[0] = c.R[4] = cos(q[3 * b + 2]);
    c.R[3] = sin(q[3 * b + 2]);
    c.R[1] = -c.R[3];
    if (v != NULL) {
      c.v[0] = v[3 * b];
      c.v[1] = v[3 * b + 1];
      c.w[2] = v[3 * b + 2];
    }
  }
  return c;
}

static void mass(const void* self, const saltus_point* at, double* M) {
  const plane_scene* scene = self;
  (void)at;
  const int n = 3 * scene->bodies;
  memset(M, 0, (size_t)(n * n) * sizeof(double));
  for (int i = 0; i < n; i++) {
    M[i * n + i] = i % 3 == 2 ? scene->inertia[i / 3] : scene->mass[i / 3];
  }
}

static void force(const void* self, const saltus_point* at, double* F) {
  const plane_scene* scene = self;
  (void)at;
  for (int b = 0; b < scene->bodies; b++) {
    F[3 * b] = scene->mass[b] * scene->gravity[0];
    F[3 * b + 1] = scene->mass[b] * scene->gravity[1];
    F[3 * b + 2] = 0.0;
  }
}

/* ---- contacts ---- */

static void add(saltus_contact_list* list, uint64_t identity, int law, double gap) {
  if (list->count < list->capacity) {
    list->identity[list->count] = identity;
    list->law[list->count] = law;
    list->gap[list->count] = gap;
  }
  list->count++;
}

static void add_pairs(const plane_scene* scene, int i, int j, const saltusi_body_pose* c,
                      const saltusi_near* near, saltus_contact_list* list) {
  saltusi_feature_candidate item[256];
  saltusi_candidates found = {.capacity = 256, .item = item};
  saltusi_shape_pairs(&scene->shape[i], &c[i], &scene->shape[j], &c[j], near, &found);
  assert_true(found.count <= found.capacity);
  for (int k = 0; k < found.count; k++) {
    add(list, name_of(scene, i, j, item[k].a, item[k].b), 0, item[k].gap);
  }
}

static double size_of(const plane_scene* scene, int i, int j) {
  const double a = scene->shape[i].size, b = scene->shape[j].size;
  return a == 0.0 ? b : b == 0.0 ? a : fmin(a, b);
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const plane_scene* scene = self;
  const double reach = isinf(list->reach) ? 0.01 : list->reach;
  saltusi_body_pose c[PLANE_SHAPES];
  for (int i = 0; i < scene->shapes; i++) {
    c[i] = carrier_of(scene, i, at->q, NULL);
  }
  list->count = 0;
  list->reach = reach;
  for (int i = 0; i < scene->shapes; i++) {
    for (int j = i + 1; j < scene->shapes; j++) {
      if (may_touch(scene, i, j)) {
        const saltusi_near near = {.reach = reach, .delta = reach / size_of(scene, i, j)};
        add_pairs(scene, i, j, c, &near, list);
      }
    }
  }
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

/* How far a shape can come from the middle of a box, and by how much it can turn. */
static double slack_of(const plane_scene* scene, int shape, const double* low, const double* high,
                       double* turn) {
  const int b = scene->body[shape];
  *turn = 0.0;
  if (b < 0) {
    return 0.0;
  }
  const double* l = low + 3 * b;
  const double* h = high + 3 * b;
  const double* centre = scene->shape[shape].centre;
  const double arm = hypot(centre[0], centre[1]) + scene->shape[shape].radius;
  *turn = 0.5 * (h[2] - l[2]) * (1.0 + 1e-15);
  return 0.5 * hypot(h[0] - l[0], h[1] - l[1]) * (1.0 + 1e-15) + *turn * arm;
}

static bool is_closed(const plane_scene* scene, const saltus_box* over, int i, int j) {
  for (int k = 0; k < over->closed_count; k++) {
    int shape[2];
    saltusi_feature_candidate pair;
    plane_names(scene, over->closed[k], shape, &pair);
    if (shape[0] == i && shape[1] == j) {
      return true;
    }
  }
  return false;
}

static saltus_status sweep(const void* self, const saltus_box* over, saltus_contact_list* list) {
  const plane_scene* scene = self;
  double q[3 * PLANE_SHAPES];
  saltusi_body_pose c[PLANE_SHAPES];
  for (int k = 0; k < 3 * scene->bodies; k++) {
    q[k] = 0.5 * (over->q_low[k] + over->q_high[k]);
  }
  for (int i = 0; i < scene->shapes; i++) {
    c[i] = carrier_of(scene, i, q, NULL);
  }
  list->count = 0;
  for (int i = 0; i < scene->shapes; i++) {
    for (int j = i + 1; j < scene->shapes; j++) {
      if (!may_touch(scene, i, j)) {
        continue;
      }
      double turn[2];
      const double reach = list->reach + slack_of(scene, i, over->q_low, over->q_high, &turn[0]) +
                           slack_of(scene, j, over->q_low, over->q_high, &turn[1]);
      const saltusi_near near = {
          .reach = reach, .delta = turn[0] + turn[1] + reach / size_of(scene, i, j), .all = true};
      if (is_closed(scene, over, i, j)) {
        add_pairs(scene, i, j, c, &near, list);
        continue;
      }
      saltusi_separation apart;
      saltusi_shape_separation(&scene->shape[i], &c[i], &scene->shape[j], &c[j], &apart);
      if (apart.distance <= reach) {
        add(list, name_of(scene, i, j, 0, 0), SALTUS_WATCH, 0.0);
      }
    }
  }
  return list->count > list->capacity ? SALTUS_RETRY_CAPACITY : SALTUS_OK;
}

static double gap_of(const plane_scene* scene, uint64_t identity, const double* q) {
  int s[2];
  saltusi_feature_candidate numbers;
  plane_names(scene, identity, s, &numbers);
  const saltusi_body_pose a = carrier_of(scene, s[0], q, NULL),
                          b = carrier_of(scene, s[1], q, NULL);
  if (numbers.a == 0) {
    saltusi_separation apart;
    saltusi_shape_separation(&scene->shape[s[0]], &a, &scene->shape[s[1]], &b, &apart);
    return apart.distance;
  }
  saltusi_pair pair;
  saltusi_closest closest;
  saltusi_shape_pair(&scene->shape[s[0]], &a, &scene->shape[s[1]], &b, &numbers, &pair);
  return saltusi_pair_closest(&pair, &closest) ? closest.gap : (double)NAN;
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  for (int i = 0; i < count; i++) {
    gap[i] = gap_of(self, identity[i], at->q);
  }
  return SALTUS_OK;
}

static saltusi_pair_rows rows_of(const plane_scene* scene, const saltus_point* at,
                                 uint64_t identity, int s[2]) {
  saltusi_feature_candidate numbers;
  saltusi_pair pair;
  saltusi_pair_rows rows;
  plane_names(scene, identity, s, &numbers);
  const saltusi_body_pose a = carrier_of(scene, s[0], at->q, at->v),
                          b = carrier_of(scene, s[1], at->q, at->v);
  saltusi_shape_pair(&scene->shape[s[0]], &a, &scene->shape[s[1]], &b, &numbers, &pair);
  if (!saltusi_pair_rows_at(&pair, true, &rows)) {
    saltus_fail(at, "no rows");
  }
  return rows;
}

static void contact(const void* self, const saltus_point* at, uint64_t identity, saltus_rows* out) {
  const plane_scene* scene = self;
  int s[2];
  const saltusi_pair_rows rows = rows_of(scene, at, identity, s);
  for (int r = 0; r < out->count; r++) {
    double* G = out->G + (size_t)r * (size_t)out->stride;
    for (int side = 0; side < 2; side++) {
      const int b = scene->body[s[side]];
      const double* from = side == 0 ? rows.GA[r] : rows.GB[r];
      if (b >= 0) {
        G[3 * b] += from[0];
        G[3 * b + 1] += from[1];
        G[3 * b + 2] += from[5];
      }
    }
    if (out->c != NULL) {
      out->c[r] = rows.c[r];
    }
  }
}

static saltus_status place(const void* self, const saltus_point* at, uint64_t identity,
                           saltus_contact_place* out) {
  const plane_scene* scene = self;
  int s[2];
  const saltusi_pair_rows rows = rows_of(scene, at, identity, s);
  for (int k = 0; k < 3; k++) {
    out->point[k] = rows.point[1][k];
    out->normal[k] = rows.frame[0][k];
  }
  out->bodies[0] = scene->body[s[0]];
  out->bodies[1] = scene->body[s[1]];
  return SALTUS_OK;
}

static int guards(const void* self, const saltus_point* at, uint64_t identity,
                  double guard[SALTUS_GUARDS]) {
  const plane_scene* scene = self;
  int s[2];
  saltusi_feature_candidate numbers;
  plane_names(scene, identity, s, &numbers);
  const saltusi_body_pose a = carrier_of(scene, s[0], at->q, NULL),
                          b = carrier_of(scene, s[1], at->q, NULL);
  return saltusi_shape_guards(&scene->shape[s[0]], &a, &scene->shape[s[1]], &b, &numbers, guard);
}

/* ---- enclosures: |df/ds| <= L along a course, from speeds and the farthest points ---- */

static size_t enclosure_bytes(const void* self) {
  (void)self;
  return 8;
}

static unsigned contact_depends(const void* self, saltus_quantity what, uint64_t identity) {
  (void)self;
  (void)identity;
  const unsigned sampled = what == SALTUS_QUANTITY_VELOCITY ? (unsigned)SALTUS_NOT_ENCLOSED : 0U;
  return (unsigned)SALTUS_ON_Q | (unsigned)SALTUS_NOT_AFFINE | sampled;
}

/* Largest size of coefficient k of a coordinate, or half the width of its values. */
static double largest(const saltus_course* course, int i, int k) {
  const int stride = course->stride > 0 ? course->stride : course->order + 1;
  const saltus_interval x = course->q[i * stride + k];
  return k == 0 ? 0.5 * (x.hi - x.lo) : fmax(fabs(x.lo), fabs(x.hi));
}

static void contact_along(const void* self, const saltus_course* course, saltus_quantity what,
                          uint64_t identity, saltus_interval* out) {
  const plane_scene* scene = self;
  (void)what;
  const int stride = course->stride > 0 ? course->stride : course->order + 1;
  double q[3 * PLANE_SHAPES];
  int s[2];
  saltusi_feature_candidate numbers;
  plane_names(scene, identity, s, &numbers);
  for (int i = 0; i < 3 * scene->bodies; i++) {
    q[i] = 0.5 * (course->q[i * stride].lo + course->q[i * stride].hi);
  }
  const double value = gap_of(scene, identity, q);
  for (int k = 0; k <= course->order; k++) {
    double bound = k < 2 ? 0.0 : INFINITY;
    for (int side = 0; side < 2 && k < 2; side++) {
      const int b = scene->body[s[side]];
      if (b < 0) {
        continue;
      }
      /* a line reaches as far as the other shape, whose farthest point is behind the distance of the bodies */
      const saltusi_shape* own = &scene->shape[s[side]];
      const saltusi_shape* other = &scene->shape[s[1 - side]];
      double arm = hypot(own->centre[0], own->centre[1]) + own->radius;
      if (numbers.a != 0 && !isinf(other->radius)) {
        const int o = scene->body[s[1 - side]];
        const double x = q[3 * b] - (o < 0 ? 0.0 : q[3 * o]);
        const double y = q[3 * b + 1] - (o < 0 ? 0.0 : q[3 * o + 1]);
        arm = fmax(arm, hypot(x, y) + hypot(other->centre[0], other->centre[1]) + other->radius);
      }
      bound += hypot(largest(course, 3 * b, k), largest(course, 3 * b + 1, k)) +
               arm * largest(course, 3 * b + 2, k);
    }
    bound *= 1.0 + 1e-12;
    const double middle = k == 0 ? value : 0.0;
    const double rounding = k == 0 ? 1e-15 * (1.0 + fabs(value)) : 0.0;
    out[k] = (saltus_interval){middle - bound - rounding, middle + bound + rounding};
  }
}

static const saltus_enclosure_ops enclosure = {
    .bytes = enclosure_bytes, .contact_depends = contact_depends, .contact_along = contact_along};

saltus_system plane_system(const plane_scene* scene, saltus_system_ops* ops) {
  *ops = (saltus_system_ops){.mass = mass,
                             .force = force,
                             .contacts = contacts,
                             .contact = contact,
                             .gaps = gaps,
                             .sweep = sweep,
                             .place = place,
                             .guards = guards,
                             .enclosure = scene->enclosed ? &enclosure : NULL};
  return (saltus_system){.ops = ops,
                         .self = scene,
                         .dims = {.nq = 3 * scene->bodies, .nv = 3 * scene->bodies, .nc = 8},
                         .traits = (unsigned)SALTUS_CONSTANT_MASS | (unsigned)SALTUS_FREE_FORCE |
                                   (unsigned)SALTUS_CHANGING_CONTACTS,
                         .laws = &scene->law,
                         .law_count = 1};
}
