/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * The table of contacts: identities keep their keys, failed tries leave no trace, room changes nothing.
 */
#include "saltus_test.h"

#include "system/contact_table.h"

#include <stdlib.h>

typedef struct fixture {
  saltusi_contact_table table;
  int* freed;
  void* block;
} fixture;

static fixture make(int capacity) {
  fixture f = {.freed = calloc((size_t)capacity + 1, sizeof(int))};
  saltus_arena arena = saltus_arena_counting();
  saltusi_table_layout(&f.table, capacity, &arena);
  f.block = aligned_alloc(SALTUS_ALIGNMENT, (arena.used / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  arena = saltus_arena_over(f.block, arena.used);
  saltusi_table_layout(&f.table, capacity, &arena);
  saltusi_table_clear(&f.table);
  return f;
}

static void drop(fixture* f) {
  free(f->block);
  free(f->freed);
}

/* Uses a contact in the present try, as a list does. */
static int use(saltusi_contact_table* table, uint64_t identity) {
  int key = saltusi_table_find(table, identity);
  key = key < 0 ? saltusi_table_add(table, identity, 0) : key;
  if (key >= 0) {
    saltusi_table_use(table, key);
  }
  return key;
}

static void a_contact_keeps_its_key_and_a_free_key_is_given_again(void** state) {
  (void)state;
  fixture f = make(3);
  saltusi_contact_table* t = &f.table;
  saltusi_table_begin(t);
  assert_int_equal(use(t, UINT64_C(1) << 40), 0);
  assert_int_equal(use(t, 7), 1);
  assert_int_equal(use(t, 9), 2);
  assert_int_equal(use(t, 11), -1); /* full */
  assert_int_equal(saltusi_table_settle(t, f.freed), 0);
  saltusi_table_begin(t);
  assert_int_equal(use(t, 9), 2);
  assert_int_equal(use(t, UINT64_C(1) << 40), 0);
  assert_int_equal(saltusi_table_settle(t, f.freed), 1);
  assert_int_equal(f.freed[0], 1);
  assert_int_equal(saltusi_table_find(t, 7), -1);
  saltusi_table_begin(t);
  assert_int_equal(use(t, 11), 1);
  assert_int_equal(t->identity[1], 11);
  drop(&f);
}

static void a_try_that_is_not_settled_leaves_no_trace(void** state) {
  (void)state;
  fixture f = make(64);
  fixture g = make(64);
  uint64_t seed = 5;
  for (int step = 0; step < 200; step++) {
    uint64_t names[24];
    for (int i = 0; i < 24; i++) {
      names[i] = (uint64_t)(40.0 * saltus_test_random(&seed)) << 32;
    }
    for (int failures = 0; failures < step % 3; failures++) { /* only in f */
      saltusi_table_begin(&f.table);
      for (int i = 0; i < 12; i++) {
        use(&f.table, UINT64_C(1000) + (uint64_t)(100.0 * saltus_test_random(&seed)));
      }
    }
    saltusi_table_begin(&f.table);
    saltusi_table_begin(&g.table);
    for (int i = 0; i < 24; i++) {
      assert_int_equal(use(&f.table, names[i]), use(&g.table, names[i]));
    }
    assert_int_equal(saltusi_table_settle(&f.table, f.freed),
                     saltusi_table_settle(&g.table, g.freed));
    assert_memory_equal(f.table.law, g.table.law, 64 * sizeof(int));
    assert_int_equal(f.table.count, g.table.count);
  }
  drop(&f);
  drop(&g);
}

static void keys_do_not_depend_on_the_room(void** state) {
  (void)state;
  fixture small = make(60); /* all the names there are */
  fixture large = make(1000);
  uint64_t seed = 9;
  for (int step = 0; step < 100; step++) {
    saltusi_table_begin(&small.table);
    saltusi_table_begin(&large.table);
    for (int i = 0; i < 30; i++) {
      uint64_t name = (uint64_t)(60.0 * saltus_test_random(&seed));
      int key = use(&small.table, name);
      assert_true(key >= 0);
      assert_int_equal(use(&large.table, name), key);
    }
    saltusi_table_settle(&small.table, small.freed);
    saltusi_table_settle(&large.table, large.freed);
    if (step == 50) { /* moved while it runs */
      fixture other = make(77);
      saltusi_table_copy(&other.table, &small.table);
      assert_int_equal(saltusi_table_least(&other.table), saltusi_table_least(&small.table));
      drop(&small);
      small = other;
    }
  }
  drop(&small);
  drop(&large);
}

static void a_copy_takes_back_what_the_original_would(void** state) {
  (void)state;
  fixture f = make(4);
  fixture g = make(9);
  saltusi_table_begin(&f.table);
  use(&f.table, 3);
  saltusi_table_settle(&f.table, f.freed);
  saltusi_table_begin(&f.table);
  use(&f.table, 3);
  use(&f.table, 5);
  saltusi_table_copy(&g.table, &f.table);
  assert_int_equal(saltusi_table_find(&g.table, 5), 1);
  saltusi_table_begin(&g.table);
  assert_int_equal(saltusi_table_find(&g.table, 5), -1);
  assert_int_equal(saltusi_table_find(&g.table, 3), 0);
  assert_int_equal(use(&g.table, 8), 1);
  drop(&f);
  drop(&g);
}

/* Keys that a try gives are often lower than those of contacts that were there before it. */
static void a_copy_that_takes_back_keys_still_knows_the_others(void** state) {
  (void)state;
  enum { MANY = 500 };
  uint64_t seed = 7;
  fixture f = make(MANY);
  fixture g = make(2 * MANY);
  saltusi_contact_table* t = &f.table;
  uint64_t identity[MANY];
  saltusi_table_begin(t);
  for (int i = 0; i < MANY; i++) {
    identity[i] = (uint64_t)(saltus_test_random(&seed) * 0x1p60);
    assert_int_equal(use(t, identity[i]), i);
  }
  saltusi_table_settle(t, f.freed);
  saltusi_table_begin(t);
  for (int i = 1; i < MANY; i += 2) {
    use(t, identity[i]);
  }
  assert_int_equal(saltusi_table_settle(t, f.freed), MANY / 2);
  saltusi_table_begin(t);
  for (int i = 0; i < MANY / 2; i++) { /* they get the keys that are free */
    assert_int_equal(use(t, (uint64_t)(saltus_test_random(&seed) * 0x1p60)), 2 * i);
  }
  saltusi_table_copy(&g.table, t);
  saltusi_table_begin(&g.table);
  for (int i = 1; i < MANY; i += 2) {
    assert_int_equal(saltusi_table_find(&g.table, identity[i]), i);
  }
  drop(&f);
  drop(&g);
}

/* Lists in any order, with contacts that come and go and tries that are taken back: what follows is what is found. */
static void what_follows_is_what_is_found(void** state) {
  (void)state;
  enum { MOST = 40, TRIES = 20000 };
  fixture f = make(MOST);
  saltusi_contact_table* t = &f.table;
  uint64_t seed = 3;
  assert_int_equal(saltusi_table_follow(t, -1, 0), -1);
  for (int n = 0; n < TRIES; n++) {
    const double kept = saltus_test_random(&seed) < 0.1 ? 0.3 : 0.95; /* of contacts in a list */
    const bool shuffled = saltus_test_random(&seed) < 0.1;
    int last = -1;
    saltusi_table_begin(t);
    for (int i = 0; i < MOST; i++) {
      const uint64_t identity =
          (uint64_t)(shuffled ? (int)(saltus_test_random(&seed) * 2 * MOST) : 2 * i + n / 100 % 2);
      if (saltus_test_random(&seed) > kept) {
        continue;
      }
      const int found = saltusi_table_find(t, identity);
      assert_int_equal(saltusi_table_follow(t, last, identity), found);
      const int key = use(t, identity);
      last = key >= 0 ? key : last;
    }
    if (saltus_test_random(&seed) < 0.8) {
      saltusi_table_settle(t, f.freed);
    }
  }
  drop(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_contact_keeps_its_key_and_a_free_key_is_given_again),
      cmocka_unit_test(a_try_that_is_not_settled_leaves_no_trace),
      cmocka_unit_test(keys_do_not_depend_on_the_room),
      cmocka_unit_test(a_copy_takes_back_what_the_original_would),
      cmocka_unit_test(what_follows_is_what_is_found),
      cmocka_unit_test(a_copy_that_takes_back_keys_still_knows_the_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
