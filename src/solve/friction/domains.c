/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * domains.c - see domains.h.
 *
 * Domains are intervals of a sequence of the units, of equal work. If bodies are numbered layer by layer, domains in
 * the order of the problem are layers of a packing, and two or three colours suffice. Where more colours are needed,
 * units are numbered breadth first, so that a level is coupled to its neighbours only (Cuthill & McKee, Proc. 24th ACM
 * Conf. (1969) 157-172), from an end of each component (George & Liu, ACM TOMS 5 (1979) 284-295).
 */
#include "solve/friction/domains.h"

#include "thread_pool/thread_pool.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

/* Units per domain: one iteration over them takes about 50 microseconds, ten times the cost of passing the domain to
 * another thread. */
enum { DOMAIN_UNITS = 250 };
/* Smallest number of domains for two threads: two of each of two colours. */
enum { DOMAINS_LEAST = 4 };
/* Number of domains per colour, and so of threads, from which on the order of the problem is kept. */
enum { THREADS_SERVED = 8 };

void saltusi_domains_layout(saltusi_domains* domains, int units, int unit_max,
                            saltus_arena* arena) {
  assert(domains != NULL && arena != NULL && units >= 0 && unit_max >= 0);
  *domains = (saltusi_domains){.unit_max = unit_max};
  domains->unit = SALTUS_PUSH(arena, int, units);
  domains->place = SALTUS_PUSH(arena, int, units);
  domains->miss = SALTUS_PUSH(arena, double, units);
  domains->scratch = SALTUS_PUSH2(arena, double, SALTUSI_DOMAINS_MOST, unit_max);
}

/* A partition of a sequence into intervals, and their colours. */
typedef struct cut {
  int count;
  int colours;
  int first[SALTUSI_DOMAINS_MOST + 1]; /* rank in the sequence */
  int colour[SALTUSI_DOMAINS_MOST];
} cut;

/* Partitions `sequence` into intervals of equal work; rank, its inverse on input, becomes the domain of each unit. */
static void cut_evenly(const saltusi_friction_pattern* pattern, const int* sequence, cut* out,
                       int* domain) {
  double done = 0.0;
  int at = 0;
  out->first[0] = 0;
  for (int k = 0; k < pattern->units; k++) {
    int i = sequence[k];
    if (done >= pattern->sweep_cost * (at + 1) / out->count && at + 1 < out->count) {
      out->first[++at] = k;
    }
    domain[i] = at;
    done += saltusi_unit_cost(pattern, i);
  }
  while (at < out->count) {
    out->first[++at] = pattern->units;
  }
}

/* The smallest colour that differs from those of all neighbours with a lower number. */
static void colour_domains(const saltusi_friction_pattern* pattern, const int* domain, cut* out) {
  uint64_t near[SALTUSI_DOMAINS_MOST] = {0};
  for (int i = 0; i < pattern->units; i++) {
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      int j = pattern->unit[e];
      near[domain[i]] |= UINT64_C(1) << domain[j];
      near[domain[j]] |= UINT64_C(1) << domain[i];
    }
  }
  out->colours = 0;
  for (int a = 0; a < out->count; a++) {
    uint64_t taken = 0;
    for (int b = 0; b < a; b++) {
      taken |= (near[a] >> b & 1) != 0 ? UINT64_C(1) << out->colour[b] : 0;
    }
    int colour = 0;
    while ((taken >> colour & 1) != 0) {
      colour++;
    }
    out->colour[a] = colour;
    out->colours = colour + 1 > out->colours ? colour + 1 : out->colours;
  }
}

/* Appends the units reachable from seed, breadth first; rank -1: not visited. */
static int spread(const saltusi_friction_pattern* pattern, int seed, int found, int* sequence,
                  int* rank) {
  int k = found;
  rank[seed] = found;
  sequence[found++] = seed;
  for (; k < found; k++) {
    int i = sequence[k];
    for (int e = pattern->start[i]; e < pattern->start[i + 1]; e++) {
      int j = pattern->unit[e];
      if (rank[j] < 0) {
        rank[j] = found;
        sequence[found++] = j;
      }
    }
  }
  return found;
}

/* Numbers every component breadth first, from the last unit of a first search from an arbitrary one. */
static void breadth_first(const saltusi_friction_pattern* pattern, int* sequence, int* rank) {
  int found = 0;
  for (int i = 0; i < pattern->units; i++) {
    rank[i] = -1;
  }
  for (int seed = 0; seed < pattern->units; seed++) {
    if (rank[seed] >= 0) {
      continue;
    }
    int end = spread(pattern, seed, found, sequence, rank);
    int last = sequence[end - 1];
    for (int k = found; k < end; k++) {
      rank[sequence[k]] = -1;
    }
    found = spread(pattern, last, found, sequence, rank);
  }
}

/* Sorts units by colour, domain and sequence into unit and place; place holds the sequence on input. */
static void put_in_order(saltusi_domains* domains, const cut* c, int* sequence) {
  int at = 0;
  int domain = 0;
  for (int colour = 0; colour < c->colours; colour++) {
    domains->colour[colour] = domain;
    for (int a = 0; a < c->count; a++) {
      if (c->colour[a] == colour) {
        int size = c->first[a + 1] - c->first[a];
        memcpy(domains->unit + at, sequence + c->first[a], (size_t)size * sizeof(int));
        domains->first[domain++] = at;
        at += size;
      }
    }
  }
  domains->colour[c->colours] = domain;
  domains->first[domain] = at;
  domains->count = domain;
  domains->colours = c->colours;
  for (int p = 0; p < at; p++) {
    sequence[domains->unit[p]] = p; /* now place */
  }
}

/* All units in the order of the problem. */
static void leave_whole(saltusi_domains* domains, int units) {
  domains->count = domains->colours = 1;
  domains->colour[0] = domains->first[0] = 0;
  domains->colour[1] = 1;
  domains->first[1] = units;
  for (int i = 0; i < units; i++) {
    domains->unit[i] = domains->place[i] = i;
  }
}

void saltusi_domains_number(saltusi_domains* domains, const saltusi_friction_pattern* pattern,
                            int least) {
  assert(domains != NULL && pattern != NULL);
  int units = pattern->units;
  int each = least > 0 ? least : DOMAIN_UNITS;
  int count = units / each < SALTUSI_DOMAINS_MOST ? units / each : SALTUSI_DOMAINS_MOST;
  domains->units = units;
  leave_whole(domains, units);
  if (count < DOMAINS_LEAST) {
    return;
  }
  int* sequence = domains->place;
  int* domain = domains->unit;
  cut own = {.count = count};
  cut wide = {.count = count, .colours = count};
  cut_evenly(pattern, sequence, &own, domain);
  colour_domains(pattern, domain, &own);
  if (own.colours > 2 && own.colours * THREADS_SERVED > count) {
    breadth_first(pattern, sequence, domain);
    cut_evenly(pattern, sequence, &wide, domain);
    colour_domains(pattern, domain, &wide);
  }
  bool widely = wide.colours < own.colours;
  const cut* best = widely ? &wide : &own;
  for (int i = 0; i < units && !widely; i++) {
    sequence[i] = i;
  }
  if (count < 2 * best->colours) {
    leave_whole(domains, units);
  } else {
    put_in_order(domains, best, sequence);
  }
}

const saltusi_domains* saltusi_domains_of(saltusi_domains* domains,
                                          const saltusi_friction_pattern* pattern) {
  assert(domains != NULL && pattern != NULL);
  if (pattern->units < DOMAINS_LEAST * DOMAIN_UNITS) {
    return NULL;
  }
  saltusi_domains_number(domains, pattern, 0);
  return domains->count > 1 ? domains : NULL;
}

void saltusi_run_parts(const saltusi_friction_case* in, void (*job)(void* context, int part),
                       void* context) {
  assert(in != NULL && context != NULL);
  saltusi_thread_pool_run(in->team, saltusi_parts(in), job, context);
}
