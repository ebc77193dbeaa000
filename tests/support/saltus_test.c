/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * saltus_test.c - see saltus_test.h.
 */
#include "saltus_test.h"

#include <stdio.h>
#include <stdlib.h>

void saltus_test_near(double actual, double expected, double tolerance, const char* text,
                      const char* file, int line) {
  double difference = fabs(actual - expected);
  const char* scale = getenv("SALTUS_TOL_SCALE");
  if (scale != NULL && strtod(scale, NULL) == 0.0) {
    printf("%s:%d: %s differs by %.3g, allowed %.3g\n", file, line, text, difference, tolerance);
  }
  if (!(difference <= tolerance)) {
    printf("%s is %.17g, expected %.17g within %.3g\n", text, actual, expected, tolerance);
    _fail(file, line);
  }
}

void saltus_test_says(const saltus_kept_message* kept, const char* words, const char* file,
                      int line) {
  if (strstr(kept->text, words) == NULL) {
    printf("message \"%s\" does not say \"%s\"\n", kept->text, words);
    _fail(file, line);
  }
}

static void* count_alloc(size_t bytes, void* user) {
  counter* count = user;
  count->calls++;
  if (count->fail_at > 0 && count->calls >= count->fail_at) {
    return NULL;
  }
  count->live++;
  return saltus_allocator_default().alloc(bytes, NULL);
}

static void count_free(void* block, size_t bytes, void* user) {
  ((counter*)user)->live--;
  saltus_allocator_default().free(block, bytes, NULL);
}

saltus_allocator counting_allocator(counter* count) {
  return (saltus_allocator){count_alloc, count_free, count};
}

saltus_scene* saltus_test_scene(const char* name, const saltus_override* overrides, int count) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%.200s.yaml", SALTUS_SCENES, name);
  saltus_kept_message kept;
  const saltus_scene_def def = {
      .path = path, .overrides = overrides, .override_count = count, .log = saltus_log_keep(&kept)};
  saltus_scene* scene;
  if (saltus_scene_create(&def, &scene) != SALTUS_OK) {
    fail_msg("%s", kept.text);
  }
  assert_string_equal(kept.text, "");
  return scene;
}

double saltus_test_random(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) * 0x1p-53;
}

bool saltus_test_sanitized(void) {
#ifdef SALTUS_SANITIZED
  return true;
#else
  return false;
#endif
}

int saltus_test_draws(int n) {
  return saltus_test_sanitized() && !saltus_test_long() ? (n + 3) / 4 : n;
}

bool saltus_test_takes(int i) {
  return !saltus_test_sanitized() || saltus_test_long() || i % 3 == 0;
}

bool saltus_test_long(void) {
  return getenv("SALTUS_LONG") != NULL;
}
