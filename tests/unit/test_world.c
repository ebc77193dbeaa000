/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_world.c - who is near whom: the tree finds what trying all pairs finds, whatever happened before, identities come
 * back, exceptions hold, shapes that are alike share what they are made of.
 */
#include "saltus_test.h"

#include "base/pool.h"
#include "body/mechanism.h"
#include "math/rotation.h"
#include "shape/world.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096 };

typedef struct fixture {
  saltusi_pool pool;
  saltusi_world world;
  saltusi_body_pose* carrier; /* one for each shape, the last is the world's */
  void* memory;
} fixture;

static double random_in(unsigned* seed, double low, double high) {
  *seed = *seed * 1664525U + 1013904223U;
  return low + (high - low) * (*seed >> 8) / 16777216.0;
}

static void* make_memory(const saltusi_world* world) {
  const size_t bytes = saltusi_world_bytes(world);
  void* memory = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  memset(memory, 0, bytes);
  return memory;
}

/* n balls, every tenth of them fixed, over a floor. */
static void make(fixture* f, int n, double spread) {
  *f = (fixture){.pool = saltusi_pool_over(NULL)};
  unsigned seed = 7;
  int* law = SALTUSI_TAKE(&f->pool, int, 1);
  f->world = (saltusi_world){.count = n + 1, .carriers = n + 1, .materials = 1, .law = law};
  f->world.instance = SALTUSI_TAKE(&f->pool, saltusi_instance, n + 1);
  f->carrier = SALTUSI_TAKE(&f->pool, saltusi_body_pose, n + 1);
  for (int i = 0; i <= n; i++) {
    saltusi_instance* at = &f->world.instance[i];
    const saltus_shape_def ball = {.name = "ball", .kind = SALTUS_SHAPE_SPHERE, .radius = 0.1};
    const saltus_shape_def floor = {.name = "floor", .kind = SALTUS_SHAPE_HALF_SPACE};
    assert_int_equal(
        saltusi_shape_make(i < n ? &ball : &floor, 3, &f->pool, (saltus_log){0}, &at->shape),
        SALTUS_OK);
    at->carrier = at->tag = i;
    at->mobility = i == n || i % 10 == 9 ? SALTUSI_MOBILITY_FIXED
                   : i % 10 == 4         ? SALTUSI_MOBILITY_DRIVEN
                                         : SALTUSI_MOBILITY_FREE;
    saltusi_body_pose* c = &f->carrier[i];
    for (int k = 0; k < 3 && i < n; k++) {
      c->x[k] = random_in(&seed, k == 2 ? 0.0 : -spread, spread);
      c->v[k] = random_in(&seed, -1.0, 1.0);
    }
    c->R[0] = c->R[4] = c->R[8] = 1.0;
  }
  assert_int_equal(saltusi_world_make(&f->world, f->carrier, &f->pool), SALTUS_OK);
  f->memory = make_memory(&f->world);
}

static void drop(fixture* f) {
  free(f->memory);
  saltusi_pool_free(&f->pool);
}

typedef struct met {
  int count;
  int pair[MOST][2];
} met;

static bool note(void* user, const saltusi_near_pair* meeting) {
  met* m = user;
  assert_true(m->count < MOST);
  m->pair[m->count][0] = meeting->a;
  m->pair[m->count++][1] = meeting->b;
  return true;
}

static met ask(const fixture* f, void* memory) {
  static met m;
  m.count = 0;
  const saltusi_world_query query = {
      .carrier = f->carrier, .reach = 0.02, .horizon = 0.01, .memory = memory};
  saltusi_world_meet(&f->world, &query, note, &m);
  return m;
}

/* Pairs that are within reach, by distances alone. */
static int near_pairs(const fixture* f, const met* m) {
  int missed = 0;
  for (int i = 0; i < f->world.count; i++) {
    for (int j = i + 1; j < f->world.count; j++) {
      const saltusi_instance *a = &f->world.instance[i], *b = &f->world.instance[j];
      if (saltusi_world_law(&f->world, i, j) < 0) {
        continue;
      }
      double d[3];
      saltusi_minus3(f->carrier[a->carrier].x, f->carrier[b->carrier].x, d);
      const double gap = b->shape.kind == SALTUS_SHAPE_SPHERE ? sqrt(saltusi_dot3(d, d)) - 0.2
                                                              : f->carrier[a->carrier].x[2] - 0.1;
      bool found = false;
      for (int k = 0; k < m->count && gap <= 0.02; k++) {
        found = found || (m->pair[k][0] == i && m->pair[k][1] == j);
      }
      missed += gap <= 0.02 && !found ? 1 : 0;
    }
  }
  return missed;
}

static void lists_do_not_depend_on_what_was_asked_before(void** state) {
  (void)state;
  fixture f;
  make(&f, 150, 0.8);
  unsigned seed = 3;
  for (int step = 0; step < 30; step++) {
    const met used = ask(&f, f.memory);
    void* fresh = make_memory(&f.world);
    const met anew = ask(&f, fresh);
    free(fresh);
    assert_int_equal(used.count, anew.count);
    assert_memory_equal(used.pair, anew.pair, (size_t)used.count * sizeof used.pair[0]);
    assert_int_equal(near_pairs(&f, &used), 0);
    for (int k = 1; k < used.count; k++) { /* ascending */
      assert_true(
          used.pair[k - 1][0] < used.pair[k][0] ||
          (used.pair[k - 1][0] == used.pair[k][0] && used.pair[k - 1][1] < used.pair[k][1]));
    }
    for (int i = 0; i < f.world.moving_count; i++) {
      for (int k = 0; k < 3; k++) {
        f.carrier[f.world.instance[i].carrier].x[k] += random_in(&seed, -0.05, 0.05);
      }
    }
  }
  drop(&f);
}

/* Balls, and what holds shapes, meet exactly where gap <= reach + horizon |v_A - v_B|; boxes about them meet at corners too. */
static void balls_meet_within_what_they_come_closer(void** state) {
  (void)state;
  fixture f;
  make(&f, 150, 0.8);
  const met m = ask(&f, f.memory);
  int wanted = 0, boxed = 0;
  for (int i = 0; i < f.world.count; i++) {
    for (int j = i + 1; j < f.world.count; j++) {
      const saltusi_instance *a = &f.world.instance[i], *b = &f.world.instance[j];
      const saltusi_body_pose *x = &f.carrier[a->carrier], *y = &f.carrier[b->carrier];
      if (saltusi_world_law(&f.world, i, j) < 0) {
        continue;
      }
      double d[3], v[3];
      saltusi_minus3(x->x, y->x, d);
      saltusi_minus3(x->v, y->v, v);
      const bool ball = b->shape.kind == SALTUS_SHAPE_SPHERE;
      const double reach = 0.02 + 0.01 * sqrt(saltusi_dot3(v, v));
      wanted += (ball ? sqrt(saltusi_dot3(d, d)) - 0.2 : x->x[2] - 0.1) <= reach ? 1 : 0;
      const double far = fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2]));
      boxed += !ball || far - 0.2 <= reach ? 1 : 0;
    }
  }
  assert_int_equal(m.count, wanted);
  assert_true(wanted > 100 && boxed > 2 * wanted);
  drop(&f);
}

/* 40 instances are tried one by one, 300 with the tree: the pairs of the first 40 are the same in both. */
static void the_tree_finds_what_trying_all_finds(void** state) {
  (void)state;
  fixture few, many;
  make(&few, 40, 0.5);
  make(&many, 300, 0.5);
  for (int i = 0; i < 300; i++) { /* the others are far away */
    memcpy(&many.carrier[i], &few.carrier[i % 40], sizeof many.carrier[i]);
    many.carrier[i].x[2] += i < 40 ? 0.0 : 10.0 + 3.0 * i;
  }
  const met a = ask(&few, few.memory);
  int found = 0;
  const met b = ask(&many, many.memory);
  for (int k = 0; k < b.count; k++) {
    const saltusi_instance* x = &many.world.instance[b.pair[k][0]];
    const saltusi_instance* y = &many.world.instance[b.pair[k][1]];
    found += x->tag < 40 && y->tag < 40 && y->mobility != SALTUSI_MOBILITY_FIXED ? 1 : 0;
  }
  int wanted = 0;
  for (int k = 0; k < a.count; k++) {
    wanted += few.world.instance[a.pair[k][1]].mobility != SALTUSI_MOBILITY_FIXED ? 1 : 0;
  }
  assert_int_equal(found, wanted);
  assert_true(wanted > 10);
  drop(&few);
  drop(&many);
}

static void an_identity_is_found_back(void** state) {
  (void)state;
  fixture f;
  make(&f, 100, 1.0);
  for (int i = 0; i < 90; i += 7) {
    for (int j = i + 1; j < f.world.count; j += 5) {
      for (int branch = 0; branch < 8; branch += 3) {
        const saltusi_feature_candidate pair = {.a = 1, .b = 1, .branch = branch};
        const uint64_t identity = saltusi_world_identity(&f.world, i, j, &pair);
        int a, b;
        saltusi_feature_candidate back;
        saltusi_world_decode(&f.world, identity, &a, &b, &back);
        assert_int_equal(a, i);
        assert_int_equal(b, j);
        assert_int_equal(back.a, 1);
        assert_int_equal(back.b, 1);
        assert_int_equal(back.branch, branch);
        assert_true(identity >> 63 == 0);
      }
    }
  }
  drop(&f);
}

static bool knows(const saltusi_world* world, int a, int b, saltusi_feature_candidate pair) {
  return saltusi_world_knows(world, saltusi_world_identity(world, a, b, &pair));
}

/* A file may say any 64 bits. Known is what two shapes of different bodies can be given: a pair has up to 8 branches,
 * and feature 0 is the shape itself, which is watched and never touched as such. */
static void an_identity_of_no_contact_is_refused(void** state) {
  (void)state;
  fixture f;
  make(&f, 20, 1.0);
  const saltusi_feature_candidate touch = {.a = 1, .b = 1};
  assert_true(knows(&f.world, 2, 7, touch));
  assert_true(knows(&f.world, 2, 20, touch)); /* on the floor */
  assert_true(knows(&f.world, 2, 7, (saltusi_feature_candidate){.a = 1, .b = 1, .branch = 7}));
  assert_false(knows(&f.world, 2, 7, (saltusi_feature_candidate){.a = 0, .b = 1}));
  assert_false(knows(&f.world, 2, 7, (saltusi_feature_candidate){.a = 1, .b = 0}));
  const uint64_t good = saltusi_world_identity(&f.world, 2, 7, &touch);
  assert_false(saltusi_world_knows(&f.world, good << 32 | good >> 32)); /* 7 before 2 */
  assert_false(saltusi_world_knows(&f.world, (good & 0xffffffffU) << 32 | (good & 0xffffffffU)));
  assert_false(saltusi_world_knows(&f.world, 0));
  assert_false(saltusi_world_knows(&f.world, UINT64_MAX));
  assert_false(saltusi_world_knows(&f.world, good | 0xffffffffU));
  assert_false(saltusi_world_knows(&f.world, good | (uint64_t)0x7fffffffU << 32));
  f.world.instance[7].carrier = f.world.instance[2].carrier; /* one body has both */
  assert_false(saltusi_world_knows(&f.world, good));
  f.world.count = 1; /* nobody to touch */
  assert_false(saltusi_world_knows(&f.world, good));
  drop(&f);
}

/* Of all identities around those that exist, the ones that are known come back from their parts. */
static void an_identity_that_is_known_has_parts_that_exist(void** state) {
  (void)state;
  fixture f;
  make(&f, 20, 1.0);
  uint64_t random = 11;
  int found = 0;
  for (int i = 0; i < 200000; i++) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const uint64_t identity = (random >> 33 & 0xffU) << 32 | (random >> 45 & 0xffU);
    if (!saltusi_world_knows(&f.world, identity)) {
      continue;
    }
    int a, b;
    saltusi_feature_candidate pair;
    saltusi_world_decode(&f.world, identity, &a, &b, &pair);
    assert_true(0 <= a && a < b && b < f.world.count);
    assert_true(1 <= pair.a && pair.a <= f.world.instance[a].shape.stored);
    assert_true(1 <= pair.b && pair.b <= f.world.instance[b].shape.stored);
    assert_true(saltusi_world_identity(&f.world, a, b, &pair) == identity);
    found++;
  }
  assert_true(found > 1000 && found < 199000);
  drop(&f);
}

static void a_body_that_is_nowhere_has_no_contacts_and_others_keep_theirs(void** state) {
  (void)state;
  fixture f;
  make(&f, 300, 0.8);
  const met before = ask(&f, f.memory);
  const int lost = f.world.instance[5].carrier;
  f.carrier[lost].x[1] = (double)NAN;
  const met after = ask(&f, f.memory);
  int kept = 0;
  for (int k = 0; k < before.count; k++) {
    kept += before.pair[k][0] != 5 && before.pair[k][1] != 5 ? 1 : 0;
  }
  assert_int_equal(after.count, kept);
  for (int k = 0; k < after.count; k++) {
    assert_true(after.pair[k][0] != 5 && after.pair[k][1] != 5);
  }
  drop(&f);
}

/* Of two exceptions for a pair the later one holds; groups give way to an exception. */
static void exceptions_hold_in_their_order(void** state) {
  (void)state;
  saltusi_pool pool = saltusi_pool_over(NULL);
  static const int law[1] = {4};
  saltusi_exception list[] = {{.a = 2, .b = 0, .law = 7, .order = 0},
                              {.a = 0, .b = 2, .law = SALTUSI_LAW_NONE, .order = 1},
                              {.a = 1, .b = 0, .law = SALTUSI_LAW_OF_MATERIALS, .order = 2}};
  saltusi_world world = {.count = 3,
                         .carriers = 3,
                         .materials = 1,
                         .law = law,
                         .exceptions = list,
                         .exception_count = 3};
  world.instance = SALTUSI_TAKE(&pool, saltusi_instance, 3);
  saltusi_body_pose carrier[3] = {{.x = {0}}};
  for (int i = 0; i < 3; i++) {
    const saltus_shape_def ball = {.name = "ball", .kind = SALTUS_SHAPE_SPHERE, .radius = 0.1};
    assert_int_equal(saltusi_shape_make(&ball, 3, &pool, (saltus_log){0}, &world.instance[i].shape),
                     SALTUS_OK);
    world.instance[i].carrier = world.instance[i].tag = i;
    world.instance[i].groups = 1U;
    carrier[i].R[0] = carrier[i].R[4] = carrier[i].R[8] = 1.0;
  }
  assert_int_equal(saltusi_world_make(&world, carrier, &pool), SALTUS_OK);
  assert_int_equal(saltusi_world_law(&world, 0, 2), SALTUSI_LAW_NONE);
  assert_int_equal(saltusi_world_law(&world, 0, 1), 4);
  assert_int_equal(saltusi_world_law(&world, 1, 2), SALTUSI_LAW_NONE); /* one group */
  saltusi_pool_free(&pool);
}

/* Every number of a definition counts, its name does not. */
static void definitions_are_alike_bit_by_bit(void** state) {
  (void)state;
  const double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  double others[12];
  memcpy(others, points, sizeof points);
  const saltus_shape_def one = {.name = "one",
                                .kind = SALTUS_SHAPE_HULL,
                                .orientation = {.value = {0.3, 0.2, 0.1, 0.0}},
                                .points = points,
                                .point_count = 4};
  saltus_shape_def two = one;
  two.name = "two";
  two.points = others;
  assert_true(saltusi_shape_is_alike(&one, &two));
  double* number[] = {&two.position[0], &two.position[2], &two.orientation.value[3],
                      &two.radius,      &two.length,      &two.size[0],
                      &two.size[2],     &others[11]};
  for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
    const double kept = *number[i];
    *number[i] = kept == 0.0 ? -0.0 : nextafter(kept, 2.0); /* other bits of the same place */
    assert_false(saltusi_shape_is_alike(&one, &two));
    *number[i] = kept;
  }
  two.hollow = true;
  assert_false(saltusi_shape_is_alike(&one, &two));
  two.hollow = false;
  two.point_count = 3;
  assert_false(saltusi_shape_is_alike(&one, &two));
  two.point_count = 4;
  two.kind = SALTUS_SHAPE_BOX;
  assert_false(saltusi_shape_is_alike(&one, &two));
  saltus_shape_def mesh = {.kind = SALTUS_SHAPE_MESH};
  assert_false(saltusi_shape_is_alike(&mesh, &mesh));
}

/* Boxes of three sizes: those that are alike have one set of features, with names of their
 * own, and are what they would be alone. */
static void shapes_that_are_alike_share_their_features(void** state) {
  (void)state;
  enum { N = 30 };
  saltus_body_def body[N];
  saltus_body_shape_def shape[N];
  char name[N][8];
  for (int i = 0; i < N; i++) {
    snprintf(name[i], sizeof name[i], "b%d", i);
    body[i] = (saltus_body_def){.name = name[i], .kind = SALTUS_BODY_FREE, .density = 1000.0};
    body[i].position[0] = 3.0 * i;
    shape[i] = (saltus_body_shape_def){.body = name[i]};
    shape[i].shape = (saltus_shape_def){.kind = SALTUS_SHAPE_BOX, .size = {1.0, 0.5, 0.25}};
    shape[i].shape.size[i % 3] += 0.125;
  }
  const saltus_mechanism_def def = {
      .dimension = 3, .bodies = body, .body_count = N, .shapes = shape, .shape_count = N};
  saltus_mechanism* m;
  assert_int_equal(saltus_mechanism_create(&def, &m), SALTUS_OK);
  for (int i = 0; i < N; i++) {
    const saltusi_instance* x = &m->world->instance[i];
    char text[16];
    snprintf(text, sizeof text, "b%d.1", x->carrier);
    assert_string_equal(x->shape.name, text);
    assert_near(x->shape.form->size[x->carrier % 3], shape[x->carrier].shape.size[x->carrier % 3],
                0.0);
    for (int j = 0; j < i; j++) {
      const saltusi_instance* y = &m->world->instance[j];
      assert_int_equal(x->shape.feature == y->shape.feature, x->carrier % 3 == y->carrier % 3);
    }
    saltusi_pool pool = saltusi_pool_over(NULL);
    saltusi_shape alone;
    assert_int_equal(
        saltusi_shape_make(&shape[x->carrier].shape, 3, &pool, (saltus_log){0}, &alone), SALTUS_OK);
    assert_int_equal(x->shape.stored, alone.stored);
    assert_memory_equal(x->shape.feature, alone.feature,
                        (size_t)alone.stored * sizeof *alone.feature);
    saltusi_pool_free(&pool);
  }
  saltus_mechanism_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_do_not_depend_on_what_was_asked_before),
      cmocka_unit_test(balls_meet_within_what_they_come_closer),
      cmocka_unit_test(the_tree_finds_what_trying_all_finds),
      cmocka_unit_test(an_identity_is_found_back),
      cmocka_unit_test(an_identity_of_no_contact_is_refused),
      cmocka_unit_test(an_identity_that_is_known_has_parts_that_exist),
      cmocka_unit_test(a_body_that_is_nowhere_has_no_contacts_and_others_keep_theirs),
      cmocka_unit_test(exceptions_hold_in_their_order),
      cmocka_unit_test(definitions_are_alike_bit_by_bit),
      cmocka_unit_test(shapes_that_are_alike_share_their_features),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
