/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * kkt_factor_plan.c - order, fill and indices of kkt_factor.h.
 *
 * A traversal of the bodies from the ground assigns to every joint the body that it leads to; a joint without one
 * closes a loop. Bodies, each with its joint, and loops are ordered
 * by minimum degree, loops last. Fill: later nodes of k are those whose paths in the elimination tree contain k
 * (Davis, ACM TOMS 31 (2005) 587-591), as in block_lu_analysis.c; loops end all paths.
 */
#include "math/kkt_factor.h"

#include "math/ordering.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

typedef struct sketch {
  const saltusi_kkt_factor_shape* shape;
  int* size;        /* [nodes] */
  int* meet_start;  /* [nodes + 1] bodies of a joint, joints and partners of a body */
  int* meet;        /* [2 meetings] */
  int* owner;       /* [joints] body, or -1: a loop */
  int* owned;       /* [bodies] joint, or -1 */
  int* component;   /* [nodes] */
  int* next;        /* [nodes + 1] */
  int* mark;        /* [nodes] */
  int* queue;       /* [nodes] */
  int* graph_start; /* [nodes + 1] of the graph that is ordered */
  int* graph;       /* [2 meetings] */
  int* order;       /* [nodes] */
  bool* late;       /* [nodes] */
  int* parent;      /* [nodes] */
  int* room;        /* of the ordering */
} sketch;

static size_t most_meetings(const saltusi_kkt_factor_shape* shape) {
  return 2 * ((size_t)shape->at[shape->joints] + (size_t)shape->pairs);
}

static void sketch_layout(sketch* k, const saltusi_kkt_factor_shape* shape, saltus_arena* arena) {
  int nodes = shape->bodies + shape->joints;
  size_t meetings = most_meetings(shape);
  k->shape = shape;
  k->size = SALTUS_PUSH(arena, int, nodes);
  k->meet_start = SALTUS_PUSH(arena, int, nodes + 2);
  k->meet = SALTUS_PUSH(arena, int, meetings);
  k->owner = SALTUS_PUSH(arena, int, shape->joints);
  k->owned = SALTUS_PUSH(arena, int, shape->bodies);
  k->component = SALTUS_PUSH(arena, int, nodes);
  k->next = SALTUS_PUSH(arena, int, nodes + 1);
  k->mark = SALTUS_PUSH(arena, int, nodes);
  k->queue = SALTUS_PUSH(arena, int, nodes);
  k->graph_start = SALTUS_PUSH(arena, int, nodes + 1);
  k->graph = SALTUS_PUSH(arena, int, meetings);
  k->order = SALTUS_PUSH(arena, int, nodes);
  k->late = SALTUS_PUSH(arena, bool, nodes);
  k->parent = SALTUS_PUSH(arena, int, nodes);
  k->room = SALTUS_PUSH(arena, int, saltusi_ordering_workspace(meetings, nodes));
}

/* Part of the plan that does not depend on the fill-in. */
static void plan_layout(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape,
                        saltus_arena* arena) {
  int nodes = shape->bodies + shape->joints;
  int columns = shape->at[shape->joints];
  s->demoted = SALTUS_PUSH(arena, bool, shape->joints);
  s->columns = SALTUS_PUSH(arena, int, columns);
  s->joint_at = SALTUS_PUSH(arena, int, shape->joints + 1);
  s->joint_row = SALTUS_PUSH(arena, int, shape->joints);
  s->joint_rows = SALTUS_PUSH(arena, int, shape->joints);
  s->body_at = SALTUS_PUSH(arena, int, shape->bodies + 1);
  s->velocities = SALTUS_PUSH(arena, int, shape->body_start[shape->bodies]);
  s->coupled = SALTUS_PUSH2(arena, int, shape->pairs, 2);
  s->open = SALTUS_PUSH(arena, bool, nodes);
  s->node = SALTUS_PUSH(arena, int, nodes);
  s->position = SALTUS_PUSH(arena, int, nodes);
  s->size = SALTUS_PUSH(arena, int, nodes);
  s->first = SALTUS_PUSH(arena, int, nodes + 1);
  s->component_at = SALTUS_PUSH(arena, int, nodes + 1);
  s->loop_at = SALTUS_PUSH(arena, int, nodes + 1);
  s->dense = SALTUS_PUSH(arena, int, nodes + 1);
  s->diagonal = SALTUS_PUSH(arena, int, nodes);
  s->later_start = SALTUS_PUSH(arena, int, nodes + 1);
  s->target_at = SALTUS_PUSH(arena, size_t, nodes + 1);
  s->G_place = SALTUS_PUSH(arena, int, columns);
  s->H_place = SALTUS_PUSH(arena, int, columns);
  s->H_step = SALTUS_PUSH(arena, int, columns);
  s->pair_place = SALTUS_PUSH(arena, int, 2 * (size_t)shape->pairs);
  s->loops = SALTUS_PUSH(arena, saltusi_rank_revealing, nodes);
  s->null_count = SALTUS_PUSH(arena, int, nodes);
  s->null = SALTUS_PUSH(arena, double*, nodes);
}

/* Part of the plan that depends on the fill-in. */
static void fill_layout(saltusi_kkt_factor* s, size_t later, size_t targets, size_t values,
                        saltus_arena* arena) {
  s->later = SALTUS_PUSH(arena, int, later);
  s->upper = SALTUS_PUSH(arena, int, later);
  s->lower = SALTUS_PUSH(arena, int, later);
  s->target = SALTUS_PUSH(arena, int, targets);
  s->index = SALTUS_PUSH(arena, int, s->scalars);
  s->values = SALTUS_PUSH(arena, double, values);
  s->weight = SALTUS_PUSH(arena, double, s->scalars);
  s->y = SALTUS_PUSH(arena, double, s->scalars);
  s->spare = SALTUS_PUSH2(arena, double, 2, s->scalars);
  s->part = SALTUS_PUSH2(arena, double, s->widest, s->widest);
  s->pivot = SALTUS_PUSH(arena, int, s->widest);
  for (int c = 0; c < s->components; c++) {
    size_t n = s->first != NULL ? (size_t)saltusi_kkt_factor_loop_rows(s, c) : 0;
    double* LU = SALTUS_PUSH(arena, double, n* n);
    double* gram = SALTUS_PUSH(arena, double, n* n);
    double* scale = SALTUS_PUSH(arena, double, n);
    int* pivot = SALTUS_PUSH(arena, int, 2 * n);
    s->loops[c] = (saltusi_rank_revealing){.LU = LU, .gram = gram, .scale = scale, .pivot = pivot};
  }
}

size_t saltusi_kkt_factor_bytes(int bodies, int joints, int rows, int columns) {
  /* Estimate for a tree: each joint connects two bodies, every block is stored twice, plus half. */
  size_t nodes = (size_t)bodies + (size_t)joints;
  size_t each = rows > 0 && joints > 0 ? (size_t)(rows / joints + 1) : 1;
  size_t values = 3 * (size_t)columns * each + 8 * ((size_t)columns + (size_t)rows * each);
  return sizeof(double) * (values + 8 * ((size_t)columns + (size_t)rows)) +
         nodes * (64 * sizeof(int) + sizeof(saltusi_rank_revealing)) +
         16 * sizeof(int) * (size_t)columns + 8192;
}

/* Bodies of each joint once, joints of each body, partners by pairs. */
static void find_meetings(sketch* k) {
  const saltusi_kkt_factor_shape* shape = k->shape;
  int bodies = shape->bodies;
  int nodes = bodies + shape->joints;
  memset(k->meet_start, 0, ((size_t)nodes + 2) * sizeof(int));
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < nodes; i++) {
      k->mark[i] = -1;
    }
    for (int j = 0; j < shape->joints; j++) {
      for (int e = shape->at[j]; e < shape->at[j + 1]; e++) {
        int b = shape->body_of[shape->column[e]];
        if (k->mark[b] == j) {
          continue;
        }
        k->mark[b] = j;
        if (pass == 0) {
          k->meet_start[b + 2]++;
          k->meet_start[bodies + j + 2]++;
        } else {
          k->meet[k->meet_start[b + 1]++] = bodies + j;
          k->meet[k->meet_start[bodies + j + 1]++] = b;
        }
      }
    }
    for (int p = 0; p < shape->pairs; p++) {
      int a = shape->pair[2 * p];
      int b = shape->pair[2 * p + 1];
      if (pass == 0) {
        k->meet_start[a + 2]++;
        k->meet_start[b + 2]++;
      } else {
        k->meet[k->meet_start[a + 1]++] = b;
        k->meet[k->meet_start[b + 1]++] = a;
      }
    }
    for (int i = 0; i < nodes && pass == 0; i++) {
      k->meet_start[i + 2] += k->meet_start[i + 1];
    }
  }
}

/* The body that a joint leads to: not yet reached, with enough velocities for its rows. */
static int leads_to(const sketch* k, int j) {
  int node = k->shape->bodies + j;
  for (int e = k->meet_start[node]; e < k->meet_start[node + 1]; e++) {
    int b = k->meet[e];
    if (k->mark[b] == 0 && k->size[b] >= k->size[node]) {
      return b;
    }
  }
  return -1;
}

/* Assigns joint j to the body that it leads to, or as closing a loop. */
static void take(sketch* k, const bool* demoted, int j, int* used) {
  int b = demoted[j] ? -1 : leads_to(k, j);
  k->mark[k->shape->bodies + j] = 1;
  k->owner[j] = b;
  if (b >= 0) {
    k->owned[b] = j;
    k->mark[b] = 1;
    k->queue[(*used)++] = b;
  }
}

static void find_owners(sketch* k, const bool* demoted) {
  const saltusi_kkt_factor_shape* shape = k->shape;
  int bodies = shape->bodies;
  int used = 0;
  int done = 0;
  memset(k->mark, 0, (size_t)(bodies + shape->joints) * sizeof(int));
  for (int b = 0; b < bodies; b++) {
    k->owned[b] = -1;
  }
  for (int j = 0; j < shape->joints; j++) {
    if (k->meet_start[bodies + j + 1] - k->meet_start[bodies + j] == 1) {
      take(k, demoted, j, &used); /* the ground */
    }
  }
  for (int root = 0; root <= bodies; root++) {
    for (; done < used; done++) {
      int b = k->queue[done];
      for (int e = k->meet_start[b]; e < k->meet_start[b + 1]; e++) {
        int node = k->meet[e];
        if (node >= bodies && k->mark[node] == 0) {
          take(k, demoted, node - bodies, &used);
        }
      }
    }
    if (root < bodies && k->mark[root] == 0) {
      k->mark[root] = 1;
      k->queue[used++] = root;
    }
  }
}

/* Components in the order of their first bodies. */
static int find_components(sketch* k) {
  int bodies = k->shape->bodies;
  int nodes = bodies + k->shape->joints;
  int count = 0;
  for (int i = 0; i < nodes; i++) {
    k->component[i] = -1;
  }
  for (int root = 0; root < bodies; root++) {
    if (k->component[root] >= 0) {
      continue;
    }
    int used = 0;
    k->component[root] = count;
    k->queue[used++] = root;
    for (int done = 0; done < used; done++) {
      int i = k->queue[done];
      for (int e = k->meet_start[i]; e < k->meet_start[i + 1]; e++) {
        if (k->component[k->meet[e]] < 0) {
          k->component[k->meet[e]] = count;
          k->queue[used++] = k->meet[e];
        }
      }
    }
    count++;
  }
  return count;
}

/* Vertex of a node in the ordered graph: a body and its joint are one vertex. */
static int vertex_of(const sketch* k, int node) {
  int bodies = k->shape->bodies;
  int owner = node >= bodies ? k->owner[node - bodies] : node;
  return owner >= 0 ? owner : node;
}

/* Vertices of the ordered graph keep the numbers of their nodes; owned joints have no neighbours there. */
static void find_order(sketch* k) {
  int bodies = k->shape->bodies;
  int nodes = bodies + k->shape->joints;
  int used = 0;
  for (int i = 0; i < nodes; i++) {
    bool loop = i >= bodies && k->owner[i - bodies] < 0;
    k->late[i] = loop;
    k->graph_start[i] = used;
    for (int part = 0; part < 2 && vertex_of(k, i) == i; part++) {
      int from = part == 0 ? i : i < bodies && k->owned[i] >= 0 ? bodies + k->owned[i] : -1;
      for (int e = from >= 0 ? k->meet_start[from] : 0; from >= 0 && e < k->meet_start[from + 1];
           e++) {
        int other = vertex_of(k, k->meet[e]);
        if (other != i) {
          k->graph[used++] = other;
        }
      }
    }
  }
  k->graph_start[nodes] = used;
  saltusi_ordering(nodes, k->graph_start, k->graph, k->late, k->order, k->room);
}

/* Positions: component after component, in each a body and then its joint, loops last. */
static void place_nodes(saltusi_kkt_factor* s, sketch* k) {
  int bodies = k->shape->bodies;
  memset(k->next, 0, ((size_t)s->components + 1) * sizeof(int));
  for (int i = 0; i < s->nodes; i++) {
    k->next[k->component[i] + 1]++;
  }
  for (int c = 0; c < s->components; c++) {
    k->next[c + 1] += k->next[c];
    s->component_at[c] = k->next[c];
    s->loop_at[c] = k->next[c + 1];
  }
  s->component_at[s->components] = s->nodes;
  for (int p = 0; p < s->nodes; p++) {
    int vertex = k->order[p];
    if (vertex_of(k, vertex) != vertex) {
      continue;
    }
    int c = k->component[vertex];
    if (vertex >= bodies && k->next[c] < s->loop_at[c]) {
      s->loop_at[c] = k->next[c];
    }
    s->node[k->next[c]++] = vertex;
    if (vertex < bodies && k->owned[vertex] >= 0) {
      s->node[k->next[c]++] = bodies + k->owned[vertex];
    }
  }
  s->first[0] = 0;
  s->widest = 1;
  for (int p = 0; p < s->nodes; p++) {
    int size = k->size[s->node[p]];
    s->position[s->node[p]] = p;
    s->size[p] = size;
    s->first[p + 1] = s->first[p] + size;
    s->widest = size > s->widest ? size : s->widest;
  }
  s->scalars = s->first[s->nodes];
}

/* Earlier nodes whose lists contain position i, into `found`; extends the elimination tree. */
static int walk(const saltusi_kkt_factor* s, sketch* k, int i, int loops, int* found) {
  int node = s->node[i];
  int length = 0;
  k->mark[i] = i;
  for (int e = k->meet_start[node]; e < k->meet_start[node + 1]; e++) {
    for (int p = s->position[k->meet[e]]; p < i && p < loops && k->mark[p] != i; p = k->parent[p]) {
      if (k->parent[p] < 0) {
        k->parent[p] = i;
      }
      k->mark[p] = i;
      found[length++] = p;
    }
  }
  return length;
}

typedef struct fill_size {
  size_t later, targets, values;
} fill_size;

/* Traverses all rows; writes the lists if `later` is given. */
static void walk_all(saltusi_kkt_factor* s, sketch* k, bool write) {
  for (int i = 0; i < s->nodes; i++) {
    k->mark[i] = -1;
    k->parent[i] = write ? k->parent[i] : -1;
    k->next[i] = write ? s->later_start[i] : 0;
  }
  for (int c = 0; c < s->components; c++) {
    for (int i = s->component_at[c]; i < s->component_at[c + 1]; i++) {
      int length = walk(s, k, i, s->loop_at[c], k->queue);
      for (int a = 0; a < length; a++) {
        int p = k->queue[a];
        if (write) {
          s->later[k->next[p]] = i;
        }
        k->next[p]++;
      }
    }
  }
}

static fill_size count_fill(saltusi_kkt_factor* s, sketch* k) {
  fill_size size = {0};
  walk_all(s, k, false);
  for (int p = 0; p < s->nodes; p++) {
    size_t count = (size_t)k->next[p];
    s->later_start[p] = size.later < INT_MAX ? (int)size.later : INT_MAX;
    s->target_at[p] = size.targets;
    size.later += count;
    size.targets += count * count;
  }
  s->later_start[s->nodes] = size.later < INT_MAX ? (int)size.later : INT_MAX;
  s->target_at[s->nodes] = size.targets;
  size_t* blocks = &size.values;
  for (int c = 0; c < s->components; c++) {
    for (int p = s->component_at[c]; p < s->loop_at[c]; p++) {
      *blocks += (size_t)s->size[p] * (size_t)s->size[p];
    }
    size_t loops = (size_t)saltusi_kkt_factor_loop_rows(s, c);
    *blocks += loops * loops;
  }
  return size;
}

/* Number of values of off-diagonal blocks, by the same traversal. */
static size_t count_blocks(const saltusi_kkt_factor* s, sketch* k) {
  size_t values = 0;
  for (int i = 0; i < s->nodes; i++) {
    k->mark[i] = -1;
  }
  for (int c = 0; c < s->components; c++) {
    for (int i = s->component_at[c]; i < s->component_at[c + 1]; i++) {
      int length = walk(s, k, i, s->loop_at[c], k->queue);
      for (int a = 0; a < length; a++) {
        values += 2 * (size_t)s->size[i] * (size_t)s->size[k->queue[a]];
      }
    }
  }
  return values;
}

/* Indices of all blocks, contiguous for each position. */
static void place_blocks(saltusi_kkt_factor* s) {
  int used = 0;
  for (int c = 0; c < s->components; c++) {
    for (int p = s->component_at[c]; p < s->component_at[c + 1]; p++) {
      int n = s->size[p];
      s->diagonal[p] = used;
      used += p < s->loop_at[c] ? n * n : 0;
      for (int e = s->later_start[p]; e < s->later_start[p + 1]; e++) {
        s->upper[e] = used;
        used += n * s->size[s->later[e]];
        s->lower[e] = used;
        used += n * s->size[s->later[e]];
      }
    }
    int loops = saltusi_kkt_factor_loop_rows(s, c);
    s->dense[c] = used;
    used += loops * loops;
  }
  s->entries = (size_t)used;
}

/* Index of the block in row i and column j of component c; slot: entry in the list of the earlier one. */
static int place_of(const saltusi_kkt_factor* s, int c, const int* slot, int i, int j) {
  int loops = s->loop_at[c];
  if (i >= loops && j >= loops) {
    int base = s->first[loops];
    return s->dense[c] + (s->first[i] - base) * saltusi_kkt_factor_loop_rows(s, c) + s->first[j] -
           base;
  }
  return i == j ? s->diagonal[i] : i < j ? s->upper[slot[j]] : s->lower[slot[i]];
}

/* Updates by each position. */
static void place_targets(saltusi_kkt_factor* s, sketch* k, int c) {
  int* slot = k->queue;
  for (int p = s->component_at[c]; p < s->loop_at[c]; p++) {
    int begin = s->later_start[p];
    int count = s->later_start[p + 1] - begin;
    int* target = s->target + s->target_at[p];
    for (int a = 0; a < count; a++) {
      int i = s->later[begin + a];
      for (int e = s->later_start[i]; e < s->later_start[i + 1]; e++) {
        slot[s->later[e]] = e;
      }
      for (int b = a; b < count; b++) {
        int j = s->later[begin + b];
        target[a * count + b] = place_of(s, c, slot, i, j);
        target[b * count + a] = place_of(s, c, slot, j, i);
      }
    }
  }
}

/* The entry of the later of two nodes in the list of the earlier one. */
static int entry_of(const saltusi_kkt_factor* s, int a, int b) {
  int p = a < b ? a : b;
  int i = a < b ? b : a;
  int low = s->later_start[p];
  int high = s->later_start[p + 1] - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (s->later[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  assert(s->later[low] == i);
  return low;
}

/* Indices at which the caller writes rows and A. */
static void place_input(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape) {
  for (int j = 0; j < shape->joints; j++) {
    int own = s->position[shape->bodies + j];
    for (int e = shape->at[j]; e < shape->at[j + 1]; e++) {
      int v = shape->column[e];
      int body = s->position[shape->body_of[v]];
      int entry = entry_of(s, own, body);
      int G = body < own ? s->upper[entry] : s->lower[entry];
      int H = body < own ? s->lower[entry] : s->upper[entry];
      s->G_place[e] = G + shape->local[v] * shape->rows[j];
      s->H_place[e] = H + shape->local[v];
      s->H_step[e] = s->size[body];
    }
  }
  for (int p = 0; p < shape->pairs; p++) {
    int a = s->position[shape->pair[2 * p]];
    int b = s->position[shape->pair[2 * p + 1]];
    int entry = entry_of(s, a, b);
    s->pair_place[2 * p] = a < b ? s->upper[entry] : s->lower[entry];
    s->pair_place[2 * p + 1] = a < b ? s->lower[entry] : s->upper[entry];
  }
  for (int p = 0; p < s->nodes; p++) {
    int node = s->node[p];
    for (int i = 0; i < s->size[p]; i++) {
      s->index[s->first[p] + i] = node < shape->bodies
                                      ? shape->velocity[shape->body_start[node] + i]
                                      : -1 - (shape->row[node - shape->bodies] + i);
      s->weight[s->first[p] + i] = 0.0;
    }
  }
}

static bool same(const int* a, const int* b, int count) {
  return count == 0 || memcmp(a, b, (size_t)count * sizeof(int)) == 0;
}

/* Whether the present plan is valid for this shape and its demoted joints. */
static bool is_known(const saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape) {
  int joints = shape->joints;
  return s->planned && s->bodies == shape->bodies && s->joints == joints &&
         s->pairs == shape->pairs && same(s->joint_at, shape->at, joints + 1) &&
         same(s->joint_row, shape->row, joints) && same(s->joint_rows, shape->rows, joints) &&
         same(s->body_at, shape->body_start, shape->bodies + 1) &&
         same(s->velocities, shape->velocity, shape->body_start[shape->bodies]) &&
         same(s->coupled, shape->pair, 2 * shape->pairs) &&
         same(s->columns, shape->column, shape->at[joints]);
}

static void keep_shape(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape) {
  size_t joints = (size_t)shape->joints;
  memcpy(s->joint_at, shape->at, (joints + 1) * sizeof(int));
  memcpy(s->joint_row, shape->row, joints * sizeof(int));
  memcpy(s->joint_rows, shape->rows, joints * sizeof(int));
  memcpy(s->body_at, shape->body_start, ((size_t)shape->bodies + 1) * sizeof(int));
  memcpy(s->columns, shape->column, (size_t)shape->at[joints] * sizeof(int));
  memcpy(s->velocities, shape->velocity, (size_t)shape->body_start[shape->bodies] * sizeof(int));
  if (shape->pairs > 0) {
    memcpy(s->coupled, shape->pair, 2 * (size_t)shape->pairs * sizeof(int));
  }
  s->bodies = shape->bodies;
  s->joints = shape->joints;
  s->nodes = shape->bodies + shape->joints;
  s->pairs = shape->pairs;
}

static bool any_demoted(const saltusi_kkt_factor* s) {
  for (int j = 0; j < s->joints; j++) {
    if (s->demoted[j]) {
      return true;
    }
  }
  return false;
}

static bool has_many_loops(saltusi_kkt_factor* s, int most) {
  for (int c = 0; c < s->components; c++) {
    if (saltusi_kkt_factor_loop_rows(s, c) > most) {
      s->heavy = c;
      return true;
    }
  }
  return false;
}

/* Bytes of a layout that starts at `used`. */
static size_t lacks(saltusi_kkt_factor* s, size_t bytes) {
  s->wanted = bytes > s->memory.bytes ? bytes : 0;
  return s->wanted;
}

/* The plan for the shape and s->demoted. */
static bool make_plan(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape,
                      saltus_arena* arena, int loops_most) {
  sketch k = {0};
  saltus_arena trial = *arena;
  sketch_layout(&k, shape, &trial);
  for (int b = 0; b < shape->bodies; b++) {
    k.size[b] = shape->body_start[b + 1] - shape->body_start[b];
  }
  for (int j = 0; j < shape->joints; j++) {
    k.size[shape->bodies + j] = shape->rows[j];
  }
  find_meetings(&k);
  find_owners(&k, s->demoted);
  s->components = find_components(&k);
  find_order(&k);
  place_nodes(s, &k);
  if (has_many_loops(s, loops_most)) {
    return false;
  }
  fill_size size = count_fill(s, &k);
  size.values += count_blocks(s, &k);
  size_t begin = trial.used;
  saltus_arena counting = saltus_arena_counting();
  counting.used = begin;
  fill_layout(s, size.later, size.targets, size.values, &counting);
  if (size.values > INT_MAX || size.later > INT_MAX) {
    s->heavy = 0; /* indices are int: one component has to be excluded */
    return false;
  }
  if (lacks(s, counting.used) > 0) {
    return false;
  }
  fill_layout(s, size.later, size.targets, size.values, &trial);
  walk_all(s, &k, true);
  place_blocks(s);
  assert(s->entries == size.values);
  for (int c = 0; c < s->components; c++) {
    place_targets(s, &k, c);
  }
  place_input(s, shape);
  memset(s->open, true, (size_t)s->nodes * sizeof(bool));
  *arena = trial;
  return true;
}

bool saltusi_kkt_factor_plan(saltusi_kkt_factor* s, const saltusi_kkt_factor_shape* shape,
                             int loops_most) {
  assert(s != NULL && shape != NULL && loops_most >= 0);
  bool again = s->planned && s->repeat;
  s->wanted = 0;
  s->repeat = false;
  if (!again && is_known(s, shape) && !any_demoted(s)) {
    return true;
  }
  saltus_arena counting = saltus_arena_counting();
  sketch k;
  saltusi_kkt_factor kept = *s;
  plan_layout(s, shape, &counting);
  sketch_layout(&k, shape, &counting);
  *s = kept;
  s->planned = false;
  if (lacks(s, counting.used) > 0) {
    s->wanted += s->wanted; /* the fill-in is not computed yet */
    return false;
  }
  saltus_arena arena = saltus_arena_over(s->memory.block, s->memory.bytes);
  plan_layout(s, shape, &arena);
  if (!again) {
    memset(s->demoted, 0, (size_t)shape->joints * sizeof(bool));
  }
  keep_shape(s, shape);
  s->planned = make_plan(s, shape, &arena, loops_most);
  s->used = (arena.used + sizeof(double)) / sizeof(double) * sizeof(double);
  return s->planned;
}
