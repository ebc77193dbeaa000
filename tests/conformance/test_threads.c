/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * test_threads.c - steps of a pile whose contact problems are shared by threads: every bit of the motion
 * and of the impulses is that of one thread.
 */
#include "saltus_test.h"

#include "../../bench/pile.h"

/* States and impulses of all steps as one fingerprint. */
typedef struct motion {
  uint64_t print;
  int most; /* contacts in a step */
} motion;

static uint64_t add(uint64_t print, const void* data, size_t bytes) {
  const unsigned char* b = data;
  for (size_t k = 0; k < bytes; k++) {
    print = (print ^ b[k]) * UINT64_C(1099511628211); /* FNV-1a */
  }
  return print;
}

/* A few steps of spheres with friction that lie on each other and between walls. */
static motion move(const char* name, int threads) {
  pile_def def = pile_def_default(9, 9, 6);
  def.spread = 0.0;
  pile p;
  assert_true(pile_create(&def, &p));
  const saltus_scheme_def scheme_def = {.scheme = name, .system = &p.system, .threads = threads};
  saltus_scheme* scheme;
  assert_int_equal(saltus_scheme_create(&scheme_def, &scheme), SALTUS_OK);
  size_t n = (size_t)p.system.dims.nq;
  motion m = {.print = UINT64_C(14695981039346656037)};
  saltus_state x = {0.0, p.q, p.v};
  saltus_step_report report;
  for (int k = 0; k < 4; k++) {
    assert_int_equal(saltus_scheme_step(scheme, 0.01, &x, &report), SALTUS_OK);
    m.print = add(m.print, x.q, n * sizeof(double));
    m.print = add(m.print, x.v, n * sizeof(double));
    m.most = report.active > m.most ? report.active : m.most;
    for (int i = 0; i < report.active; i++) {
      m.print = add(m.print, report.contacts[i].impulse, sizeof report.contacts[i].impulse);
    }
  }
  saltus_scheme_destroy(scheme);
  pile_free(&p);
  return m;
}

static void piles_move_alike_with_any_number_of_threads(void** state) {
  (void)state;
  static const int threads[] = {1, 2, 3, 8};
  static const char* const schemes[] = {"moreau-jean", "variational"};
  for (int s = 0; s < 2; s++) {
    motion first = move(schemes[s], 0);
    assert_true(first.most >= 1200); /* there were domains to share */
    for (int k = 0; k < 4; k++) {
      if (!saltus_test_takes(s + k)) {
        continue;
      }
      motion m = move(schemes[s], threads[k]);
      assert_int_equal(m.most, first.most);
      assert_true(m.print == first.print);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(piles_move_alike_with_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
