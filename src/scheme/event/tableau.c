/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * tableau.c - coefficients. tests/unit/test_tableau.c checks the order conditions and the stability functions, which
 * detects a wrong digit.
 */
#include "scheme/event/tableau.h"

#include <stddef.h>

#define ROOT_3 1.7320508075688772935
#define ROOT_5 2.2360679774997896964
#define ROOT_6 2.4494897427831780982
#define ROOT_15 3.8729833462074168852

const saltusi_tableau saltusi_explicit_euler = {
    .name = "explicit-euler", .stages = 1, .order = 1, .b = {1.0}};

const saltusi_tableau saltusi_midpoint = {.name = "midpoint",
                                          .stages = 2,
                                          .order = 2,
                                          .c = {0.0, 1.0 / 2},
                                          .a = {{0.0}, {1.0 / 2}},
                                          .b = {0.0, 1.0}};

/* Heun 1900. */
const saltusi_tableau saltusi_heun_3 = {.name = "heun-3",
                                        .stages = 3,
                                        .order = 3,
                                        .c = {0.0, 1.0 / 3, 2.0 / 3},
                                        .a = {{0.0}, {1.0 / 3}, {0.0, 2.0 / 3}},
                                        .b = {1.0 / 4, 0.0, 3.0 / 4}};

/* Kutta 1901. */
const saltusi_tableau saltusi_rk4 = {.name = "rk4",
                                     .stages = 4,
                                     .order = 4,
                                     .c = {0.0, 1.0 / 2, 1.0 / 2, 1.0},
                                     .a = {{0.0}, {1.0 / 2}, {0.0, 1.0 / 2}, {0.0, 0.0, 1.0}},
                                     .b = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

/* Fehlberg 1969, NASA TR R-315, table III; the step continues with the solution of order 5. */
const saltusi_tableau saltusi_rkf45 = {
    .name = "rkf45",
    .stages = 6,
    .order = 5,
    .embedded_order = 4,
    .c = {0.0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1.0, 1.0 / 2},
    .a = {{0.0},
          {1.0 / 4},
          {3.0 / 32, 9.0 / 32},
          {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
          {439.0 / 216, -8.0, 3680.0 / 513, -845.0 / 4104},
          {-8.0 / 27, 2.0, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}},
    .b = {16.0 / 135, 0.0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55},
    .embedded = {25.0 / 216, 0.0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0.0},
};

/* Dormand and Prince 1980, RK5(4)7M. */
const saltusi_tableau saltusi_dopri5 = {
    .name = "dopri5",
    .stages = 7,
    .order = 5,
    .embedded_order = 4,
    .c = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0},
    .a = {{0.0},
          {1.0 / 5},
          {3.0 / 40, 9.0 / 40},
          {44.0 / 45, -56.0 / 15, 32.0 / 9},
          {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
          {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
          {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
    .b = {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84, 0.0},
    .embedded = {5179.0 / 57600, 0.0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100,
                 1.0 / 40},
};

/* Collocation methods: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.5. */
const saltusi_tableau saltusi_radau_iia_1 = {.name = "radau-iia-1",
                                             .stages = 1,
                                             .order = 1,
                                             .implicit = true,
                                             .c = {1.0},
                                             .a = {{1.0}},
                                             .b = {1.0}};

const saltusi_tableau saltusi_radau_iia_3 = {.name = "radau-iia-3",
                                             .stages = 2,
                                             .order = 3,
                                             .implicit = true,
                                             .c = {1.0 / 3, 1.0},
                                             .a = {{5.0 / 12, -1.0 / 12}, {3.0 / 4, 1.0 / 4}},
                                             .b = {3.0 / 4, 1.0 / 4}};

const saltusi_tableau saltusi_radau_iia_5 = {
    .name = "radau-iia-5",
    .stages = 3,
    .order = 5,
    .implicit = true,
    .c = {(4.0 - ROOT_6) / 10, (4.0 + ROOT_6) / 10, 1.0},
    .a = {{(88.0 - 7.0 * ROOT_6) / 360, (296.0 - 169.0 * ROOT_6) / 1800,
           (-2.0 + 3.0 * ROOT_6) / 225},
          {(296.0 + 169.0 * ROOT_6) / 1800, (88.0 + 7.0 * ROOT_6) / 360,
           (-2.0 - 3.0 * ROOT_6) / 225},
          {(16.0 - ROOT_6) / 36, (16.0 + ROOT_6) / 36, 1.0 / 9}},
    .b = {(16.0 - ROOT_6) / 36, (16.0 + ROOT_6) / 36, 1.0 / 9},
};

const saltusi_tableau saltusi_lobatto_iiia_2 = {.name = "lobatto-iiia-2",
                                                .stages = 2,
                                                .order = 2,
                                                .implicit = true,
                                                .c = {0.0, 1.0},
                                                .a = {{0.0}, {1.0 / 2, 1.0 / 2}},
                                                .b = {1.0 / 2, 1.0 / 2}};

const saltusi_tableau saltusi_lobatto_iiia_4 = {
    .name = "lobatto-iiia-4",
    .stages = 3,
    .order = 4,
    .implicit = true,
    .c = {0.0, 1.0 / 2, 1.0},
    .a = {{0.0}, {5.0 / 24, 1.0 / 3, -1.0 / 24}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
    .b = {1.0 / 6, 2.0 / 3, 1.0 / 6},
};

const saltusi_tableau saltusi_lobatto_iiia_6 = {
    .name = "lobatto-iiia-6",
    .stages = 4,
    .order = 6,
    .implicit = true,
    .c = {0.0, (5.0 - ROOT_5) / 10, (5.0 + ROOT_5) / 10, 1.0},
    .a = {{0.0},
          {(11.0 + ROOT_5) / 120, (25.0 - ROOT_5) / 120, (25.0 - 13.0 * ROOT_5) / 120,
           (-1.0 + ROOT_5) / 120},
          {(11.0 - ROOT_5) / 120, (25.0 + 13.0 * ROOT_5) / 120, (25.0 + ROOT_5) / 120,
           (-1.0 - ROOT_5) / 120},
          {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12}},
    .b = {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12},
};

const saltusi_tableau saltusi_gauss_2 = {.name = "gauss-2",
                                         .stages = 1,
                                         .order = 2,
                                         .implicit = true,
                                         .c = {1.0 / 2},
                                         .a = {{1.0 / 2}},
                                         .b = {1.0}};

const saltusi_tableau saltusi_gauss_4 = {
    .name = "gauss-4",
    .stages = 2,
    .order = 4,
    .implicit = true,
    .c = {(3.0 - ROOT_3) / 6, (3.0 + ROOT_3) / 6},
    .a = {{1.0 / 4, (3.0 - 2.0 * ROOT_3) / 12}, {(3.0 + 2.0 * ROOT_3) / 12, 1.0 / 4}},
    .b = {1.0 / 2, 1.0 / 2},
};

const saltusi_tableau saltusi_gauss_6 = {
    .name = "gauss-6",
    .stages = 3,
    .order = 6,
    .implicit = true,
    .c = {(5.0 - ROOT_15) / 10, 1.0 / 2, (5.0 + ROOT_15) / 10},
    .a = {{5.0 / 36, (10.0 - 3.0 * ROOT_15) / 45, (25.0 - 6.0 * ROOT_15) / 180},
          {(10.0 + 3.0 * ROOT_15) / 72, 2.0 / 9, (10.0 - 3.0 * ROOT_15) / 72},
          {(25.0 + 6.0 * ROOT_15) / 180, (10.0 + 3.0 * ROOT_15) / 45, 5.0 / 36}},
    .b = {5.0 / 18, 4.0 / 9, 5.0 / 18},
};

/* Brasey and Hairer 1993, Half-explicit Runge-Kutta methods for differential-algebraic systems of
 * index 2. */
const saltusi_tableau saltusi_herk_3 = {.name = "herk-3",
                                        .stages = 3,
                                        .order = 3,
                                        .half_explicit = true,
                                        .c = {0.0, 1.0 / 3, 1.0},
                                        .a = {{0.0}, {1.0 / 3}, {-1.0, 2.0}},
                                        .b = {0.0, 3.0 / 4, 1.0 / 4}};

/* Brasey 1992, HEM4. */
const saltusi_tableau saltusi_hem_4 = {
    .name = "hem-4",
    .stages = 5,
    .order = 4,
    .half_explicit = true,
    .c = {0.0, 3.0 / 10, (4.0 - ROOT_6) / 10, (4.0 + ROOT_6) / 10, 1.0},
    .a = {{0.0},
          {3.0 / 10},
          {(1.0 + ROOT_6) / 30, (11.0 - 4.0 * ROOT_6) / 30},
          {(-79.0 - 31.0 * ROOT_6) / 150, (-1.0 - 4.0 * ROOT_6) / 30, (24.0 + 11.0 * ROOT_6) / 25},
          {(14.0 + 5.0 * ROOT_6) / 6, (-8.0 + 7.0 * ROOT_6) / 6, (-9.0 - 7.0 * ROOT_6) / 4,
           (9.0 - ROOT_6) / 4}},
    .b = {0.0, 0.0, (16.0 - ROOT_6) / 36, (16.0 + ROOT_6) / 36, 1.0 / 9},
};

static const saltusi_tableau* const registry[] = {
    &saltusi_explicit_euler, &saltusi_midpoint,
    &saltusi_heun_3,         &saltusi_rk4,
    &saltusi_rkf45,          &saltusi_dopri5,
    &saltusi_radau_iia_1,    &saltusi_radau_iia_3,
    &saltusi_radau_iia_5,    &saltusi_lobatto_iiia_2,
    &saltusi_lobatto_iiia_4, &saltusi_lobatto_iiia_6,
    &saltusi_gauss_2,        &saltusi_gauss_4,
    &saltusi_gauss_6,        &saltusi_herk_3,
    &saltusi_hem_4,
};

const saltusi_tableau* saltusi_tableau_at(int i) {
  return i >= 0 && i < (int)(sizeof registry / sizeof registry[0]) ? registry[i] : NULL;
}
