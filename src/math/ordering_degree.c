/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * ordering_degree.c - minimum degree on the quotient graph, for builds without AMD.
 *
 * Rows are variables until they are eliminated and elements afterwards. A variable i has adjacent
 * elements E_i and variables A_i; an element e has the variables L_e that its elimination connected.
 * Eliminating p of least degree (George & Liu, SIAM Review 31 (1989) 1-19; degrees and absorption as in
 * Amestoy, Davis & Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905):
 *
 *   L_p = A_p and all L_e of e in E_p, without p;  the elements of E_p are absorbed
 *   i in L_p:  A_i loses L_p and p,  E_i loses E_p and gains p
 *              degree(i) = |A_i| + |L_p \ i| + sum over the other e in E_i of |L_e \ L_p|, at most
 *              its old one plus |L_p \ i|
 *   e with L_e inside L_p is absorbed too;  i adjacent to p only is eliminated right after p
 *
 * Lists of variables never grow, because p replaces the elements that it absorbs, and |L_p| is at most
 * the freed length; so the lists fit into their initial memory plus one list of n during construction.
 */
#include "math/ordering.h"

#include <assert.h>

enum { ELEMENT = -1, DEAD = -2 };

typedef struct quotient {
  saltusi_ordering_graph* g;
  int* elements;               /* [n] of a variable: |E_i|, at the front of its list */
  int* degree;                 /* [n] of variables */
  int *head, *next, *previous; /* variables of each degree; -1: none */
  int *mark, stamp;            /* [n] variables of L_p; elements whose outside is counted */
  int* outside;                /* [n] |L_e \ L_p| */
  int least;                   /* no variable in the heads has a smaller degree */
  int left;                    /* remaining variables */
  int *order, placed;
} quotient;

static void insert(quotient* s, int i) {
  int d = s->degree[i];
  s->next[i] = s->head[d];
  s->previous[i] = -1;
  if (s->head[d] >= 0) {
    s->previous[s->head[d]] = i;
  }
  s->head[d] = i;
  s->least = d < s->least ? d : s->least;
}

static void take_out(quotient* s, int i) {
  if (s->next[i] >= 0) {
    s->previous[s->next[i]] = s->previous[i];
  }
  if (s->previous[i] >= 0) {
    s->next[s->previous[i]] = s->next[i];
  } else {
    s->head[s->degree[i]] = s->next[i];
  }
}

/* Moves all lists to the front of their memory. The first entry of each is exchanged for a mark of its
 * owner. */
static void compact(quotient* s) {
  saltusi_ordering_graph* g = s->g;
  for (int j = 0; j < g->n; j++) {
    if (s->elements[j] != DEAD && g->length[j] > 0) {
      int at = g->begin[j];
      g->begin[j] = g->lists[at];
      g->lists[at] = -1 - j;
    }
  }
  int to = 0;
  for (int from = 0; from < g->used;) {
    if (g->lists[from] >= 0) {
      from++;
      continue;
    }
    int j = -1 - g->lists[from];
    g->lists[to] = g->begin[j];
    g->begin[j] = to;
    for (int k = 1; k < g->length[j]; k++) {
      g->lists[to + k] = g->lists[from + k];
    }
    to += g->length[j];
    from += g->length[j];
  }
  g->used = to;
}

static void gather(quotient* s, const int* list, int count) {
  saltusi_ordering_graph* g = s->g;
  for (int k = 0; k < count; k++) {
    int v = list[k];
    if (s->mark[v] != s->stamp) {
      s->mark[v] = s->stamp;
      g->lists[g->used++] = v;
    }
  }
}

/* p becomes an element. */
static void eliminate(quotient* s, int p) {
  saltusi_ordering_graph* g = s->g;
  if (g->capacity - g->used < s->left) {
    compact(s);
  }
  assert(g->capacity - g->used >= s->left);
  s->mark[p] = ++s->stamp;
  int start = g->used;
  const int* own = g->lists + g->begin[p];
  for (int k = 0; k < s->elements[p]; k++) {
    int e = own[k];
    gather(s, g->lists + g->begin[e], g->length[e]);
    s->elements[e] = DEAD;
  }
  gather(s, own + s->elements[p], g->length[p] - s->elements[p]);
  g->begin[p] = start;
  g->length[p] = g->used - start;
  s->elements[p] = ELEMENT;
  s->order[s->placed++] = p;
  s->left--;
}

/* |L_e \ L_p| of every element that touches L_p. */
static void count_outside(quotient* s, int p) {
  const saltusi_ordering_graph* g = s->g;
  for (int k = 0; k < g->length[p]; k++) {
    int i = g->lists[g->begin[p] + k];
    for (int j = 0; j < s->elements[i]; j++) {
      int e = g->lists[g->begin[i] + j];
      if (s->elements[e] == DEAD) {
        continue;
      }
      if (s->mark[e] != s->stamp) {
        s->mark[e] = s->stamp;
        s->outside[e] = g->length[e];
      }
      s->outside[e]--;
    }
  }
}

/* Removes from the lists of i the entries covered by p; returns its degree outside L_p. */
static int prune(quotient* s, int p, int i) {
  saltusi_ordering_graph* g = s->g;
  int* list = g->lists + g->begin[i];
  int kept = 0;
  int degree = 0;
  for (int k = 0; k < s->elements[i]; k++) {
    int e = list[k];
    if (s->elements[e] != DEAD && s->outside[e] > 0) {
      degree += s->outside[e];
      list[kept++] = e;
    } else {
      s->elements[e] = DEAD;
    }
  }
  int elements = kept;
  for (int k = s->elements[i]; k < g->length[i]; k++) {
    if (s->mark[list[k]] != s->stamp) {
      list[kept++] = list[k];
      degree++;
    }
  }
  /* p is stored between elements and variables; at least one entry was removed */
  assert(kept < g->length[i]);
  list[kept] = list[elements];
  list[elements] = p;
  s->elements[i] = elements + 1;
  g->length[i] = kept + 1;
  return degree;
}

/* The neighbours of p after its elimination. Variables that come later are not in the lists of degrees. */
static void update(quotient* s, int p, bool last_group) {
  saltusi_ordering_graph* g = s->g;
  int count = g->length[p];
  int* list = g->lists + g->begin[p];
  int kept = 0;
  for (int k = 0; k < count; k++) {
    int i = list[k];
    bool due = last_group || g->later == NULL || !g->later[i];
    if (due) {
      take_out(s, i);
    }
    int degree = prune(s, p, i);
    if (due && degree == 0) { /* adjacent to p only: eliminated next, without fill */
      s->elements[i] = DEAD;
      s->order[s->placed++] = i;
      s->left--;
      continue;
    }
    int most = s->degree[i] + count - 1;
    degree += count - 1;
    s->degree[i] = degree < most ? degree : most;
    list[kept++] = i;
  }
  g->length[p] = kept;
  if (kept == 0) {
    s->elements[p] = DEAD;
  }
  for (int k = 0; k < kept; k++) {
    int i = list[k];
    s->degree[i] = s->degree[i] < s->left - 1 ? s->degree[i] : s->left - 1;
    if (last_group || g->later == NULL || !g->later[i]) {
      insert(s, i);
    }
  }
}

static void run_group(quotient* s, bool last_group) {
  const saltusi_ordering_graph* g = s->g;
  for (int d = 0; d < g->n; d++) {
    s->head[d] = -1;
  }
  s->least = 0;
  int due = 0;
  for (int i = g->n - 1; i >= 0; i--) {
    bool later = g->later != NULL && g->later[i];
    if (s->elements[i] >= 0 && later == last_group) {
      insert(s, i);
      due++;
    }
  }
  int end = s->placed + due;
  while (s->placed < end) {
    while (s->head[s->least] < 0) {
      s->least++;
    }
    int p = s->head[s->least];
    take_out(s, p);
    eliminate(s, p);
    count_outside(s, p);
    update(s, p, last_group);
  }
}

void saltusi_ordering_find(saltusi_ordering_graph* g, int* order) {
  assert(g != NULL);
  int* const* a = g->array;
  quotient s = {.g = g,
                .elements = a[0],
                .degree = a[1],
                .head = a[2],
                .next = a[3],
                .previous = a[4],
                .mark = a[5],
                .outside = a[6],
                .left = g->n,
                .order = order};
  for (int i = 0; i < g->n; i++) {
    s.elements[i] = 0;
    s.degree[i] = g->length[i];
    s.mark[i] = 0;
  }
  run_group(&s, false);
  if (g->later != NULL) {
    run_group(&s, true);
  }
}
