/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * What everything stands on: statuses, memory, options, messages.
 */
#include "saltus_test.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/sha256.h"

#include <stdlib.h>

static void every_status_has_a_text_and_a_sign(void** state) {
  (void)state;
#define CHECK_STATUS(name, value, text)                                                            \
  assert_string_equal(saltus_status_text(name), text);                                             \
  assert_int_equal(name, value);
  SALTUS_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
  assert_true(SALTUS_ERR_RANGE < 0 && SALTUS_OK == 0 && SALTUS_RETRY_SMALLER > 0);
  assert_string_equal(saltus_status_text((saltus_status)77), "unknown status");
}

static void an_arena_hands_out_what_it_counted(void** state) {
  (void)state;
  saltus_arena counting = saltus_arena_counting();
  assert_null(SALTUS_PUSH(&counting, char, 3));
  assert_null(SALTUS_PUSH2(&counting, double, 2, 5));
  assert_int_equal(counting.used, 8 + 80);

  _Alignas(64) unsigned char block[88];
  saltus_arena arena = saltus_arena_over(block, sizeof block);
  char* a = SALTUS_PUSH(&arena, char, 3);
  double* b = SALTUS_PUSH2(&arena, double, 2, 5);
  assert_ptr_equal(a, block);
  assert_ptr_equal(b, block + 8);
  assert_int_equal(arena.used, sizeof block);
}

typedef struct sample {
  double real;
  int whole;
  int choice;
} sample;

static const char* const names[] = {"red", "green", NULL};
static const saltus_field sample_fields[] = {
    SALTUS_REAL(sample, real, 0.5, 0.0, 1.0, "a part [1]"),
    SALTUS_INT(sample, whole, 3, 1, 10, "a count"),
    SALTUS_CHOICE(sample, choice, 1, 1, names, "a colour"),
};
static const saltus_field_table table = {sample_fields, 3, sizeof(sample)};

/* Memory that is full of something else, and aligned as is asked of it. */
static void* dirty_alloc(size_t bytes, void* user) {
  (void)user;
  void* block = aligned_alloc(SALTUS_ALIGNMENT, (bytes / SALTUS_ALIGNMENT + 1) * SALTUS_ALIGNMENT);
  memset(block, 0x5a, bytes);
  return block;
}

static void dirty_free(void* block, size_t bytes, void* user) {
  (void)user;
  memset(block, 0x5a, bytes); /* all of them are its own */
  free(block);
}

/* Whatever memory was used for before, and whoever gives it. */
static void zeros_are_zeros_and_aligned(void** state) {
  (void)state;
  const saltus_allocator from[] = {saltus_allocator_default(),
                                   {.alloc = dirty_alloc, .free = dirty_free}};
  for (int k = 0; k < 200; k++) {
    const saltus_allocator* memory = &from[k % 2];
    const size_t bytes = 1 + 977 * (size_t)k;
    const saltusi_zeros zeros = saltusi_alloc_zeros(memory, bytes, bytes);
    assert_non_null(zeros.block);
    assert_true((uintptr_t)zeros.start % SALTUS_ALIGNMENT == 0);
    const unsigned char* block = zeros.block;
    assert_true(zeros.start >= block && zeros.start + bytes <= block + zeros.bytes);
    for (size_t i = 0; i < bytes; i++) {
      assert_int_equal(zeros.start[i], 0);
    }
    memset(zeros.block, 0xff, zeros.bytes);
    memory->free(zeros.block, zeros.bytes, memory->user);
  }
}

static void options_start_with_their_defaults(void** state) {
  (void)state;
  sample s;
  saltus_options_defaults(&table, &s);
  assert_true(s.real == 0.5 && s.whole == 3 && s.choice == 1);
}

static void options_are_set_from_text(void** state) {
  (void)state;
  sample s;
  saltus_kept_message kept;
  saltus_log log = saltus_log_keep(&kept);
  saltus_options_defaults(&table, &s);
  assert_int_equal(saltus_options_set(&table, &s, "it", "real", "0.25", log), SALTUS_OK);
  assert_int_equal(saltus_options_set(&table, &s, "it", "whole", "7", log), SALTUS_OK);
  assert_int_equal(saltus_options_set(&table, &s, "it", "choice", "red", log), SALTUS_OK);
  assert_true(s.real == 0.25 && s.whole == 7 && s.choice == 0);
  char text[64];
  assert_string_equal(saltus_options_show(&sample_fields[0], &s, text, sizeof text), "real=0.25");
  assert_string_equal(saltus_options_show(&sample_fields[2], &s, text, sizeof text), "choice=red");
}

/* Each refusal names the option, the value and what is allowed, and changes nothing. */
static void bad_options_are_named(void** state) {
  (void)state;
  static const struct {
    const char *name, *text, *says;
    saltus_status status;
  } bad[] = {
      {"real", "1.5", "it: option \"real\" is \"1.5\", allowed: 0 .. 1", SALTUS_ERR_RANGE},
      {"real", "nan", "option \"real\" is \"nan\"", SALTUS_ERR_RANGE},
      {"real", "half", "option \"real\" is \"half\"", SALTUS_ERR_RANGE},
      {"real", "", "option \"real\" is \"\"", SALTUS_ERR_RANGE},
      {"whole", "2.5", "allowed: a whole number in 1 .. 10", SALTUS_ERR_RANGE},
      {"whole", "1e300", "allowed: a whole number in 1 .. 10", SALTUS_ERR_RANGE},
      {"choice", "blue", "option \"choice\" is \"blue\", allowed: red, green", SALTUS_ERR_RANGE},
      {"size", "1", "no option \"size\"; there are: real, whole, choice", SALTUS_ERR_NAME},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    sample s;
    saltus_options_defaults(&table, &s);
    saltus_kept_message kept;
    saltus_log log = saltus_log_keep(&kept);
    assert_int_equal(saltus_options_set(&table, &s, "it", bad[i].name, bad[i].text, log),
                     bad[i].status);
    assert_says(kept, bad[i].says);
    assert_true(s.real == 0.5 && s.whole == 3 && s.choice == 1);
  }
}

static void a_struct_out_of_range_is_refused_by_name(void** state) {
  (void)state;
  sample s;
  saltus_options_defaults(&table, &s);
  s.real = NAN;
  saltus_kept_message kept;
  assert_int_equal(saltus_options_check(&table, &s, "it", saltus_log_keep(&kept)),
                   SALTUS_ERR_RANGE);
  assert_says(kept, "it: option \"real\" is nan, allowed: 0 .. 1");
}

static void the_first_error_is_kept(void** state) {
  (void)state;
  saltus_kept_message kept;
  saltus_log log = saltus_log_keep(&kept);
  saltusi_log(log, SALTUS_LEVEL_NOTE, "note %d", 1);
  assert_string_equal(kept.text, "note 1");
  saltusi_log(log, SALTUS_LEVEL_ERROR, "error %d", 1);
  saltusi_log(log, SALTUS_LEVEL_ERROR, "error %d", 2);
  assert_string_equal(kept.text, "error 1");
  saltusi_log((saltus_log){0}, SALTUS_LEVEL_ERROR, "nobody listens");
}

/* FIPS 180-4, examples: one block, two blocks, and lengths around the end of a block. */
static void the_fingerprint_is_the_published_one(void** state) {
  (void)state;
  static const struct {
    const char *text, *digits;
  } cases[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char digits[SALTUSI_SHA256_TEXT];
    saltusi_sha256(cases[i].text, strlen(cases[i].text), digits);
    assert_string_equal(digits, cases[i].digits);
  }
}

static void the_hash_is_the_published_one(void** state) {
  (void)state;
  /* FNV-1a 64 of "foobar", from the reference vectors of Fowler, Noll and Vo */
  assert_true(saltusi_hash(SALTUSI_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_a_text_and_a_sign),
      cmocka_unit_test(an_arena_hands_out_what_it_counted),
      cmocka_unit_test(zeros_are_zeros_and_aligned),
      cmocka_unit_test(options_start_with_their_defaults),
      cmocka_unit_test(options_are_set_from_text),
      cmocka_unit_test(bad_options_are_named),
      cmocka_unit_test(a_struct_out_of_range_is_refused_by_name),
      cmocka_unit_test(the_first_error_is_kept),
      cmocka_unit_test(the_hash_is_the_published_one),
      cmocka_unit_test(the_fingerprint_is_the_published_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
