/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * table.c - impact laws by name.
 */
#include "law/law.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

enum { SINGLE = SALTUS_IMPACT_OWN + 1, ALL = SINGLE + SALTUS_ORDER_OWN + 1 };

static const saltus_impact_info table[ALL] = {
    [SALTUS_IMPACT_NEWTON] = {.name = "newton",
                              .summary = "U_N+ = -e U_N-, friction against the slip at the end",
                              .source = "Newton; Moreau 1988",
                              .gains = "with friction where slip reverses, unless e_T >= e_N"},
    [SALTUS_IMPACT_POISSON] = {.name = "poisson",
                               .summary =
                                   "restitutes e times the impulse of compression, with friction",
                               .source = "Poisson; Glocker and Pfeiffer 1995, Coulomb's reading",
                               .gains = "with friction and different e in one impact"},
    [SALTUS_IMPACT_POISSON_PRINTED] =
        {.name = "poisson-printed",
         .summary = "restitutes e times the impulse of compression, without friction",
         .source = "as printed in several papers",
         .gains = "with friction, even one contact"},
    [SALTUS_IMPACT_ENERGETIC] = {.name = "energetic",
                                 .summary =
                                     "restitutes e^2 times the work of compression, along the path",
                                 .source = "Routh 1905; Stronge 1990"},
    [SALTUS_IMPACT_PATH_NEWTON] = {.name = "path-newton",
                                   .summary = "along the path until U_N+ = -e U_N-",
                                   .source = "Routh 1905; Kane",
                                   .gains = "with friction"},
    [SALTUS_IMPACT_PATH_POISSON] = {.name = "path-poisson",
                                    .summary = "along the path until (1 + e) times the impulse of "
                                               "compression",
                                    .source = "Routh 1905; Wang and Mason 1992"},
    [SALTUS_IMPACT_OWN] = {.name = "own",
                           .summary = "a user-defined function",
                           .source = "saltus_contact_law.own",
                           .gains = "not known"},
    [SINGLE + SALTUS_ORDER_SIMULTANEOUS] = {.name = "simultaneous",
                                            .summary = "all contacts at once, each by its law",
                                            .source = "Moreau 1988",
                                            .gains = "where the laws of the contacts do",
                                            .several = true},
    [SINGLE + SALTUS_ORDER_SEQUENTIAL] = {.name = "sequential",
                                          .summary = "one contact after the other, each by its law",
                                          .source = "Han and Gilmore 1993",
                                          .gains = "where a single impact does",
                                          .several = true},
    [SINGLE + SALTUS_ORDER_LZB] = {.name = "lzb",
                                   .summary = "springs side by side with stiffness ratios",
                                   .source = "Liu, Zhao and Brogliato 2008, by displacements",
                                   .several = true},
    [SINGLE + SALTUS_ORDER_MOREAU] = {.name = "moreau",
                                      .summary = "one e for normals and tangents of all contacts",
                                      .source = "Moreau 1988",
                                      .several = true},
    [SINGLE + SALTUS_ORDER_OWN] = {.name = "own",
                                   .summary = "a user-defined function for all contacts",
                                   .source = "saltus_impacts.own",
                                   .gains = "not known",
                                   .several = true},
};

int saltus_impact_law_count(void) {
  return ALL;
}

const saltus_impact_info* saltus_impact_law_at(int i) {
  assert(i >= 0 && i < ALL);
  return &table[i];
}

const char* saltus_impact_law_name(saltus_impact_law law) {
  assert((int)law >= 0 && (int)law < SINGLE);
  return table[law].name;
}

static int find(const char* name, int from, int to) {
  for (int i = from; i < to; i++) {
    if (strcmp(table[i].name, name) == 0) {
      return i - from;
    }
  }
  return -1;
}

int saltus_impact_law_find(const char* name) {
  assert(name != NULL);
  return find(name, 0, SINGLE);
}

int saltus_impact_order_find(const char* name) {
  assert(name != NULL);
  return find(name, SINGLE, ALL);
}
