/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domains.h - an order of the units of a friction problem for parallel Gauss-Seidel iterations.
 *
 * Units are partitioned into domains, which are coloured: no block of W couples two domains of one colour. An iteration
 * visits the colours one after the other; domains of one colour are independent and run on any number of threads.
 * Domains depend on the pattern of W alone, never on the threads, so results are bitwise identical.
 *
 * "place" is an index in the new order. Small problems are one domain in their own order.
 */
#ifndef SALTUSI_DOMAINS_H
#define SALTUSI_DOMAINS_H

#include "solve/friction/friction_case.h"

/* Largest number of colours: the colours of the neighbours of a domain are bits of a word. */
enum { SALTUSI_DOMAINS_MOST = 64 };

struct saltusi_domains {
  int units;                            /* 0: not computed for this pattern */
  int count;                            /* of domains */
  int colours;                          /* 1: one domain in the order of the problem */
  int colour[SALTUSI_DOMAINS_MOST + 1]; /* first domain of each colour; count */
  int first[SALTUSI_DOMAINS_MOST + 1];  /* first index of each domain; units */
  int* unit;                            /* [units] by place */
  int* place;                           /* [units] by unit */
  double* miss;                         /* [units] scratch for sums over units */
  double* scratch;                      /* [DOMAINS_MOST x unit_max] */
  int unit_max;
};

void saltusi_domains_layout(saltusi_domains* domains, int units, int unit_max, saltus_arena* arena);

/* Order, domains and colours of a pattern; a domain has `least` units or more, 0: the usual number. */
void saltusi_domains_number(saltusi_domains* domains, const saltusi_friction_pattern* pattern,
                            int least);

/* The same with domains of the usual size; NULL: the problem is one domain. */
const saltusi_domains* saltusi_domains_of(saltusi_domains* domains,
                                          const saltusi_friction_pattern* pattern);

/* Operations on vectors have as many parts as there are domains, each of consecutive units in the order of the
 * problem. */
static inline int saltusi_parts(const saltusi_friction_case* in) {
  return in->domains != NULL ? in->domains->count : 1;
}

/* First unit of part k. */
static inline int saltusi_part_start(const saltusi_friction_case* in, int k) {
  return (int)((long long)in->pattern->units * k / saltusi_parts(in));
}

/* job(context, k) for every part, shared by the team of the case. */
void saltusi_run_parts(const saltusi_friction_case* in, void (*job)(void* context, int part),
                       void* context);

#endif
