/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_split.c - a gap that is the smallest of several becomes several contacts.
 *
 *   min(a, b) >= 0 is a >= 0 and b >= 0, so each is a contact with the same law. Smallest parts s(e)
 *   and largest parts l(e), e = min s(e) = max l(e), propagate through monotone operations:
 *
 *   s(a + b) = s(a) + s(b), every pair       s(a - b) = s(a) - l(b)       s(-a) = -l(a)
 *   s(c a)   = c s(a), c l(a) for c < 0      s(min(a, b)) = s(a), s(b)
 *   l the same with max for min              l(abs(a)) = l(a), -s(a)
 *
 * Any other node is its own only part: max(a, b) >= 0 is one contact that switches.
 */
#include "formula/message.h"
#include "model/formula_model.h"

#include <assert.h>

enum { SMALLEST, LARGEST };

/* Parts of a node; count 0: not requested, MANY: more than a contact may have. */
typedef struct formula_split_parts {
  saltusi_expr* items;
  int count;
} formula_split_parts;

enum { MOST = SALTUSI_FORMULA_PARTS_MOST, MANY = -1 };

typedef struct splitter {
  saltusi_formula_builder* b;
  saltusi_graph* g;
  formula_split_parts (*found)[2]; /* [listed] by side; place in `home` of the mark */
} splitter;

static bool listed(const saltusi_graph* g, saltusi_expr e) {
  return g->marks[e].stamp == g->stamp;
}

/* An operand through which the node is monotone: its index, and whether it is decreasing. */
static int order_of(const saltusi_graph* g, const saltusi_graph_node* n, int k) {
  switch (n->op) {
  case SALTUSI_ADD:
  case SALTUSI_MIN:
  case SALTUSI_MAX:
  case SALTUSI_ABS:
    return 1;
  case SALTUSI_SUB:
    return k == 0 ? 1 : -1;
  case SALTUSI_NEG:
    return -1;
  case SALTUSI_MUL: /* constants stand in front */
    return k == 0 || !saltusi_is_constant(g, n->a) ? 0 : g->nodes[n->a].value > 0.0 ? 1 : -1;
  case SALTUSI_DIV:
    return k == 1 || !saltusi_is_constant(g, n->b) ? 0 : g->nodes[n->b].value > 0.0 ? 1 : -1;
  default:
    return 0;
  }
}

/* min has no largest parts, max and abs no smallest ones. */
static bool opaque(int op, int side) {
  return (op == SALTUSI_MIN && side == LARGEST) ||
         ((op == SALTUSI_MAX || op == SALTUSI_ABS) && side == SMALLEST);
}

static size_t list_nodes(saltusi_graph* g, saltusi_expr e) {
  size_t count = 0;
  if (!saltusi_graph_walk(g)) {
    return 0;
  }
  saltusi_graph_visit(g, e, &count);
  for (size_t i = 0; i < count; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    const int operands = saltusi_op_operands(n->op);
    for (int k = 0; k < operands; k++) {
      const saltusi_expr x = saltusi_operand(n, k);
      if (order_of(g, n, k) != 0 && saltusi_kinks(g, x) != 0) {
        saltusi_graph_visit(g, x, &count);
      }
    }
  }
  saltusi_sort_ascending(g->list, count);
  return count;
}

/* Determines from the root down which parts of which nodes are required, as bits of `adjoint`. */
static void spread_wants(saltusi_graph* g, size_t count) {
  for (size_t i = count; i-- > 0;) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    const int operands = saltusi_op_operands(n->op);
    for (int side = SMALLEST; side <= LARGEST; side++) {
      if ((g->marks[g->list[i]].adjoint & (1 << side)) == 0 || opaque(n->op, side)) {
        continue;
      }
      for (int k = 0; k < operands; k++) {
        const saltusi_expr x = saltusi_operand(n, k);
        const int order = order_of(g, n, k);
        if (order != 0 && listed(g, x)) {
          g->marks[x].adjoint |= 1 << (order > 0 ? side : 1 - side);
          g->marks[x].adjoint |= n->op == SALTUSI_ABS ? 3 : 0;
        }
      }
    }
  }
}

static formula_split_parts parts_of(const splitter* s, saltusi_expr* e, int side) {
  if (listed(s->g, *e)) {
    return s->found[s->g->marks[*e].home][side];
  }
  return (formula_split_parts){e, 1};
}

static void add_part(const splitter* s, formula_split_parts* p, saltusi_expr e) {
  if (p->count == MANY) {
    return;
  }
  for (int i = 0; i < p->count; i++) {
    if (p->items[i] == e) {
      return;
    }
  }
  if (p->count == MOST) {
    p->count = MANY;
    return;
  }
  if (p->items == NULL) {
    p->items = SALTUSI_TAKE(&s->b->work, saltusi_expr, MOST);
  }
  if (p->items != NULL) {
    p->items[p->count++] = e;
  }
}

/* Parts x of one operand, y of the other: the node's operation on every pair. */
static void join(const splitter* s, const saltusi_graph_node* n, formula_split_parts x,
                 formula_split_parts y, formula_split_parts* p) {
  saltusi_graph* g = s->g;
  for (int i = 0; i < x.count; i++) {
    for (int j = 0; j < y.count && p->count != MANY; j++) {
      add_part(s, p, saltusi_apply(g, n->op, x.items[i], y.items[j], 0));
    }
  }
  p->count = x.count == MANY || y.count == MANY ? MANY : p->count;
}

/* The parts of an operand as parts of its node, with reversed sign or not. */
static void take_over(const splitter* s, saltusi_expr x, int side, bool turned,
                      formula_split_parts* p) {
  const formula_split_parts of = parts_of(s, &x, side);
  for (int i = 0; i < of.count; i++) {
    add_part(s, p, turned ? saltusi_neg(s->g, of.items[i]) : of.items[i]);
  }
  p->count = of.count == MANY ? MANY : p->count;
}

static void find_parts(const splitter* s, saltusi_expr e, int side, formula_split_parts* p) {
  const saltusi_graph* g = s->g;
  const saltusi_graph_node n = g->nodes[e]; /* a copy: the graph grows */
  const int other = 1 - side;
  if (opaque(n.op, side) || (order_of(g, &n, 0) == 0 && order_of(g, &n, 1) == 0)) {
    add_part(s, p, e);
  } else if (n.op == SALTUSI_MIN || n.op == SALTUSI_MAX) {
    take_over(s, n.a, side, false, p);
    take_over(s, n.b, side, false, p);
  } else if (n.op == SALTUSI_ABS) {
    take_over(s, n.a, side, false, p);
    take_over(s, n.a, other, true, p);
  } else if (n.op == SALTUSI_NEG) {
    take_over(s, n.a, other, true, p);
  } else {
    /* a constant is its own smallest and largest part */
    saltusi_expr a = n.a, b = n.b;
    const formula_split_parts x = parts_of(s, &a, order_of(g, &n, 0) < 0 ? other : side);
    const formula_split_parts y = parts_of(s, &b, order_of(g, &n, 1) < 0 ? other : side);
    if (x.count == 1 && y.count == 1 && x.items[0] == a && y.items[0] == b) {
      add_part(s, p, e);
    } else {
      join(s, &n, x, y, p);
    }
  }
}

/* A part that is a positive constant never touches. */
static bool never(const saltusi_graph* g, saltusi_expr e) {
  return saltusi_is_constant(g, e) && g->nodes[e].value > 0.0;
}

saltus_status saltusi_formula_split(saltusi_formula_builder* b, const saltus_formula_text* formula,
                                    saltusi_expr e, saltusi_formula_parts* out) {
  assert(b != NULL && formula != NULL && out != NULL);
  saltusi_graph* g = &b->graph;
  *out = (saltusi_formula_parts){1, {e}};
  if (saltusi_kinks(g, e) == 0) {
    return SALTUS_OK;
  }
  const size_t count = list_nodes(g, e);
  splitter s = {.b = b, .g = g};
  s.found = saltusi_pool_take(&b->work, count, sizeof *s.found);
  int* nodes = SALTUSI_TAKE(&b->work, int, count);
  if (b->work.failed || g->status != SALTUS_OK) {
    return SALTUS_ERR_MEMORY;
  }
  g->marks[e].adjoint = 1 << SMALLEST;
  spread_wants(g, count);
  for (size_t i = 0; i < count; i++) {
    nodes[i] = g->list[i];
    g->marks[nodes[i]].home = (unsigned)i;
  }
  for (size_t i = 0; i < count; i++) {
    for (int side = SMALLEST; side <= LARGEST; side++) {
      if ((g->marks[nodes[i]].adjoint & (1 << side)) != 0) {
        find_parts(&s, nodes[i], side, &s.found[i][side]);
      }
    }
  }
  const formula_split_parts root = s.found[g->marks[e].home][SMALLEST];
  if (b->work.failed || g->status != SALTUS_OK) {
    return g->status != SALTUS_OK ? g->status : SALTUS_ERR_MEMORY;
  }
  if (root.count == MANY) {
    saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, formula,
                             "the gap is the smallest of more than %d formulas; each would be a "
                             "contact of its own, allowed are %d",
                             MOST, MOST);
    return SALTUS_ERR_INPUT;
  }
  out->count = 0;
  for (int i = 0; i < root.count; i++) {
    if (!never(g, root.items[i]) || (i == root.count - 1 && out->count == 0)) {
      out->items[out->count++] = root.items[i];
    }
  }
  return SALTUS_OK;
}
