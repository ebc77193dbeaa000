// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Saltus developers
//
// count_operations.cpp - exported C with numbers that count their operations: the most of 3000 steps are within the bounds
// of the source. Compiled by test_export_c.c where there is a C++ compiler; s.c is the source with prefix s.
#include <cmath>
#include <cstddef>
#include <cstdio>

struct counted {
  double x;
  static long operations, calls;
  counted() = default;
  counted(double value) : x(value) {
  }
};
long counted::operations, counted::calls;

#define OPERATION(op)                                                                              \
  inline counted operator op(counted a, counted b) {                                               \
    counted::operations++;                                                                         \
    return a.x op b.x;                                                                             \
  }                                                                                                \
  inline counted& operator op##=(counted& a, counted b) {                                          \
    return a = a op b;                                                                             \
  }
OPERATION(+)
OPERATION(-)
OPERATION(*)
OPERATION(/)
#define COMPARISON(op)                                                                             \
  inline bool operator op(counted a, counted b) {                                                  \
    counted::operations++;                                                                         \
    return a.x op b.x;                                                                             \
  }
COMPARISON(<)
COMPARISON(>)
COMPARISON(<=)
COMPARISON(>=)
COMPARISON(==)
COMPARISON(!=)
inline counted operator-(counted a) {
  counted::operations++;
  return -a.x;
}
inline counted fabs(counted a) {
  counted::operations++;
  return std::fabs(a.x);
}
inline counted fmax(counted a, counted b) {
  counted::operations++;
  return std::fmax(a.x, b.x);
}
inline counted fmin(counted a, counted b) {
  counted::operations++;
  return std::fmin(a.x, b.x);
}
#define CALL(name)                                                                                 \
  inline counted name(counted a) {                                                                 \
    counted::calls++;                                                                              \
    return std::name(a.x);                                                                         \
  }
CALL(sin)
CALL(cos)
CALL(tan)
CALL(sqrt)
CALL(exp)
CALL(log)
CALL(atan)
inline counted pow(counted a, counted b) {
  counted::calls++;
  return std::pow(a.x, b.x);
}

#define double counted
#include "s.c"
#undef double

int main() {
  s_state s;
  counted u[16];
  for (counted& x : u) {
    x = 0.0;
  }
  s_init(&s);
  long operations = 0, calls = 0;
  for (int i = 0; i < 3000; i++) {
    counted::operations = counted::calls = 0;
    s_step(&s, u);
    operations = counted::operations > operations ? counted::operations : operations;
    calls = counted::calls > calls ? counted::calls : calls;
  }
  std::printf("%ld operations of %.0f, %ld calls of %.0f\n", operations, s_operations_max.x, calls,
              s_calls_max.x);
  return operations <= s_operations_max.x && calls <= s_calls_max.x ? 0 : 1;
}
