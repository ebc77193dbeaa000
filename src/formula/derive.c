/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * derive.c - symbolic reverse and forward differentiation over the shared graph.
 *
 *   backward  adjoint of the root is 1; for y = f(a, b), newest node first:
 *             adjoint(a) += adjoint(y) f_a,  adjoint(b) += adjoint(y) f_b
 *   forward   y' = f_a a' + f_b b',  t' = 1, q' = N(q) v, v' = 0
 *   along     D_j e = sum_k e_{q_k} N_kj
 *
 * A branching node y = c ? a : b enters the backward sweep as one function of the variables, with
 * the gradient c ? a_x : b_x. Masking adjoints by the condition would be wrong: the inactive branch can give 0 * inf
 * outside its domain.
 */
#include "formula/derive.h"

#include "base/pool.h"

#include <assert.h>

static saltusi_expr one_argument(saltusi_graph* g, saltusi_graph_node n, saltusi_expr y);
static saltusi_expr two_arguments(saltusi_graph* g, saltusi_graph_node n, saltusi_expr y, int k);

static saltusi_expr apply1(saltusi_graph* g, int op, saltusi_expr a) {
  return saltusi_apply(g, op, a, 0, 0);
}

/* 1 / x */
static saltusi_expr inverse(saltusi_graph* g, saltusi_expr x) {
  return saltusi_div(g, g->one, x);
}

static saltusi_expr times(saltusi_graph* g, double c, saltusi_expr x) {
  return saltusi_mul(g, saltusi_constant(g, c), x);
}

/* Derivative of node y with respect to its k-th operand. */
static saltusi_expr partial(saltusi_graph* g, saltusi_expr y, int k) {
  const saltusi_graph_node n = g->nodes[y];
  switch (n.op) {
  case SALTUSI_ADD:
    return g->one;
  case SALTUSI_SUB:
    return k == 0 ? g->one : saltusi_constant(g, -1.0);
  case SALTUSI_NEG:
    return saltusi_constant(g, -1.0);
  case SALTUSI_MUL:
    return k == 0 ? n.b : n.a;
  case SALTUSI_DIV:
    return k == 0 ? inverse(g, n.b) : saltusi_neg(g, saltusi_div(g, y, n.b));
  case SALTUSI_POWI:
    return times(g, n.b, saltusi_powi(g, n.a, n.b - 1));
  case SALTUSI_POW:
  case SALTUSI_ATAN2:
  case SALTUSI_HYPOT:
    return two_arguments(g, n, y, k);
  default:
    return one_argument(g, n, y);
  }
}

static saltusi_expr two_arguments(saltusi_graph* g, saltusi_graph_node n, saltusi_expr y, int k) {
  if (n.op == SALTUSI_POW) {
    if (k == 1) {
      return saltusi_mul(g, y, apply1(g, SALTUSI_LOG, n.a));
    }
    return saltusi_mul(g, n.b, saltusi_pow(g, n.a, saltusi_sub(g, n.b, g->one)));
  }
  if (n.op == SALTUSI_HYPOT) {
    return saltusi_div(g, k == 0 ? n.a : n.b, y);
  }
  const saltusi_expr square_a = saltusi_powi(g, n.a, 2);
  const saltusi_expr square = saltusi_add(g, square_a, saltusi_powi(g, n.b, 2));
  return k == 0 ? saltusi_div(g, n.b, square) : saltusi_neg(g, saltusi_div(g, n.a, square));
}

static saltusi_expr one_argument(saltusi_graph* g, saltusi_graph_node n, saltusi_expr y) {
  const saltusi_expr x = n.a;
  switch (n.op) {
  case SALTUSI_SIN:
    return apply1(g, SALTUSI_COS, x);
  case SALTUSI_COS:
    return saltusi_neg(g, apply1(g, SALTUSI_SIN, x));
  case SALTUSI_TAN:
    return saltusi_add(g, g->one, saltusi_powi(g, y, 2));
  case SALTUSI_ASIN:
  case SALTUSI_ACOS: {
    saltusi_expr root = apply1(g, SALTUSI_SQRT, saltusi_sub(g, g->one, saltusi_powi(g, x, 2)));
    return saltusi_div(g, saltusi_constant(g, n.op == SALTUSI_ASIN ? 1.0 : -1.0), root);
  }
  case SALTUSI_ATAN:
    return inverse(g, saltusi_add(g, g->one, saltusi_powi(g, x, 2)));
  case SALTUSI_SINH:
    return apply1(g, SALTUSI_COSH, x);
  case SALTUSI_COSH:
    return apply1(g, SALTUSI_SINH, x);
  case SALTUSI_TANH:
    return saltusi_sub(g, g->one, saltusi_powi(g, y, 2));
  case SALTUSI_EXP:
    return y;
  case SALTUSI_LOG:
    return inverse(g, x);
  case SALTUSI_LOG10:
    return saltusi_div(g, saltusi_constant(g, 0.43429448190325182765), x); /* 1 / ln 10 */
  case SALTUSI_SQRT:
    return saltusi_div(g, saltusi_constant(g, 0.5), y);
  case SALTUSI_ABS:
    return apply1(g, SALTUSI_SIGN, x);
  default: /* sign, comparisons, and, or, not */
    return g->zero;
  }
}

static bool branching(int op) {
  return op == SALTUSI_MIN || op == SALTUSI_MAX || op == SALTUSI_SELECT;
}

typedef struct branch {
  saltusi_expr condition, yes, no;
} branch;

/* min(a,b) = a <= b ? a : b,  max(a,b) = b <= a ? a : b */
static branch branch_of(saltusi_graph* g, saltusi_expr e) {
  const saltusi_graph_node n = g->nodes[e];
  if (n.op == SALTUSI_SELECT) {
    return (branch){n.a, n.b, n.c};
  }
  saltusi_expr small = n.op == SALTUSI_MIN ? n.a : n.b, large = n.op == SALTUSI_MIN ? n.b : n.a;
  return (branch){saltusi_apply(g, SALTUSI_LESS_EQUAL, small, large, 0), n.a, n.b};
}

static bool append(saltusi_graph* g, int variable, saltusi_expr e) {
  if (!saltusi_grow(&g->allocator, (void**)&g->entries, &g->entry_room, g->entry_count + 1,
                    sizeof *g->entries)) {
    g->status = SALTUS_ERR_MEMORY;
    return false;
  }
  g->entries[g->entry_count++] = (saltusi_entry){variable, e};
  return true;
}

/* Lists the subexpressions of e that depend on the requested variables; below a branching node the
 * list continues only if `through`. Conditions have no derivative and are left out. Ascending. */
static size_t collect(saltusi_graph* g, saltusi_expr e, unsigned wanted, bool through) {
  size_t listed = 0;
  if (!saltusi_graph_walk(g) || (saltusi_depends(g, e) & wanted) == 0) {
    return 0;
  }
  saltusi_graph_visit(g, e, &listed);
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    int count = branching(n->op) && !through ? 0 : saltusi_op_operands(n->op);
    for (int k = n->op == SALTUSI_SELECT ? 1 : 0; k < count; k++) {
      if ((saltusi_depends(g, saltusi_operand(n, k)) & wanted) != 0) {
        saltusi_graph_visit(g, saltusi_operand(n, k), &listed);
      }
    }
  }
  saltusi_sort_ascending(g->list, listed);
  return listed;
}

/* Adds to the adjoint of e. Variables that appear first in the gradient of a branching node are appended to the list,
 * at an end that is not read any more. */
static void gather(saltusi_graph* g, saltusi_expr e, saltusi_expr s, size_t* listed) {
  if (g->marks[e].stamp != g->stamp) {
    saltusi_graph_visit(g, e, listed);
    g->marks[e].adjoint = g->zero;
  }
  g->marks[e].adjoint = saltusi_add(g, g->marks[e].adjoint, s);
}

static void propagate(saltusi_graph* g, saltusi_expr y, unsigned wanted, size_t* listed) {
  const saltusi_graph_node n = g->nodes[y];
  const saltusi_expr s = g->marks[y].adjoint;
  if (branching(n.op)) {
    const saltusi_graph_span span = g->spans[n.gradient];
    for (int i = 0; i < span.count; i++) {
      const saltusi_entry entry = g->entries[span.first + i];
      if ((saltusi_depends(g, entry.variable) & wanted) != 0) {
        gather(g, entry.variable, saltusi_mul(g, s, entry.expr), listed);
      }
    }
    return;
  }
  int count = saltusi_op_operands(n.op);
  for (int k = 0; k < count; k++) {
    if ((saltusi_depends(g, saltusi_operand(&n, k)) & wanted) != 0) {
      gather(g, saltusi_operand(&n, k), saltusi_mul(g, s, partial(g, y, k)), listed);
    }
  }
}

/* The backward sweep; branching nodes below e must have their gradients. */
static saltusi_graph_span sweep(saltusi_graph* g, saltusi_expr e, unsigned wanted) {
  saltusi_graph_span span = {(int)g->entry_count, 0};
  size_t count = collect(g, e, wanted, false);
  size_t listed = count;
  for (size_t i = 0; i < count; i++) {
    g->marks[g->list[i]].adjoint = g->zero;
  }
  if (count > 0) {
    g->marks[e].adjoint = g->one;
  }
  for (size_t i = count; i-- > 0;) {
    saltusi_expr y = g->list[i];
    if (g->nodes[y].op != SALTUSI_VARIABLE && g->marks[y].adjoint != g->zero) {
      propagate(g, y, wanted, &listed);
    }
  }

  /* variables are the oldest nodes: after sorting they come first */
  saltusi_sort_ascending(g->list, listed);
  for (size_t i = 0; i < listed && g->nodes[g->list[i]].op == SALTUSI_VARIABLE; i++) {
    saltusi_expr derivative = g->marks[g->list[i]].adjoint;
    if (derivative != g->zero && append(g, g->list[i], derivative)) {
      span.count++;
    }
  }
  return span;
}

/* Merges the gradients of both branches and notes the result at the node. */
static void note_branch(saltusi_graph* g, saltusi_expr e) {
  const branch b = branch_of(g, e);
  const saltusi_graph_span yes = sweep(g, b.yes, SALTUSI_ON_ANY);
  const saltusi_graph_span no = sweep(g, b.no, SALTUSI_ON_ANY);
  saltusi_graph_span span = {(int)g->entry_count, 0};
  for (int i = 0, j = 0; i < yes.count || j < no.count;) {
    const saltusi_entry none = {1 + g->sizes.positions + g->sizes.velocities, g->zero};
    saltusi_entry p = i < yes.count ? g->entries[yes.first + i] : none;
    saltusi_entry q = j < no.count ? g->entries[no.first + j] : none;
    int variable = p.variable < q.variable ? p.variable : q.variable;
    saltusi_expr d = saltusi_select(g, b.condition, p.variable == variable ? p.expr : g->zero,
                                    q.variable == variable ? q.expr : g->zero);
    i += p.variable == variable;
    j += q.variable == variable;
    if (d != g->zero && append(g, variable, d)) {
      span.count++;
    }
  }
  if (!saltusi_grow(&g->allocator, (void**)&g->spans, &g->span_room, g->span_count + 1,
                    sizeof *g->spans)) {
    g->status = SALTUS_ERR_MEMORY;
    return;
  }
  g->nodes[e].gradient = (int)g->span_count;
  g->spans[g->span_count++] = span;
}

/* Gradients of all branching nodes below e, oldest first, since each uses those below it. */
static void note_branches(saltusi_graph* g, saltusi_expr e) {
  if (!g->nodes[e].branches) {
    return;
  }
  size_t count = collect(g, e, SALTUSI_ON_ANY, true);
  if (!saltusi_grow(&g->allocator, (void**)&g->branches, &g->branch_room, count,
                    sizeof *g->branches)) {
    g->status = SALTUS_ERR_MEMORY;
    return;
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (branching(g->nodes[g->list[i]].op) && g->nodes[g->list[i]].gradient < 0) {
      g->branches[kept++] = g->list[i];
    }
  }
  for (size_t i = 0; i < kept && g->status == SALTUS_OK; i++) {
    note_branch(g, g->branches[i]);
  }
}

saltusi_graph_span saltusi_gradient(saltusi_graph* g, saltusi_expr e, unsigned wanted) {
  assert(g != NULL && g->count <= g->node_room);
  note_branches(g, e);
  if (g->status != SALTUS_OK) {
    return (saltusi_graph_span){0, 0};
  }
  return sweep(g, e, wanted);
}

void saltusi_graph_move(saltusi_graph* g, int position, saltusi_expr rate) {
  assert(g != NULL && position >= 0 && position < g->sizes.positions);
  saltusi_graph_span N = {0, 0};
  if (g->nodes[rate].op != SALTUSI_VARIABLE) {
    N = saltusi_gradient(g, rate, SALTUSI_ON_VELOCITY);
  }
  g->rates[position] = (saltusi_rate_of){rate, N};
}

saltusi_graph_span saltusi_slopes_from(saltusi_graph* g, saltusi_graph_span gradient) {
  assert(g != NULL && g->count <= g->node_room);
  saltusi_graph_span span = {(int)g->entry_count, 0};
  size_t listed = 0;
  if (!saltusi_graph_walk(g)) {
    return span;
  }
  for (int k = 0; k < gradient.count; k++) {
    const saltusi_entry e = g->entries[gradient.first + k];
    if ((saltusi_depends(g, e.variable) & SALTUSI_ON_POSITION) == 0) {
      continue;
    }
    const saltusi_rate_of rate = g->rates[e.variable - saltusi_position(0)];
    if (g->nodes[rate.expr].op == SALTUSI_VARIABLE) {
      gather(g, rate.expr, e.expr, &listed);
    }
    for (int j = 0; j < rate.N.count; j++) {
      const saltusi_entry N = g->entries[rate.N.first + j];
      gather(g, N.variable, saltusi_mul(g, e.expr, N.expr), &listed);
    }
  }
  saltusi_sort_ascending(g->list, listed);
  for (size_t i = 0; i < listed; i++) {
    const saltusi_expr slope = g->marks[g->list[i]].adjoint;
    if (slope != g->zero && append(g, g->list[i], slope)) {
      span.count++;
    }
  }
  return span;
}

saltusi_graph_span saltusi_slopes(saltusi_graph* g, saltusi_expr e) {
  assert(g != NULL);
  return saltusi_slopes_from(g, saltusi_gradient(g, e, SALTUSI_ON_POSITION));
}

static saltusi_expr rate_of(const saltusi_graph* g, saltusi_expr e) {
  return (saltusi_depends(g, e) & (SALTUSI_ON_TIME | SALTUSI_ON_POSITION)) == 0 ? g->zero
                                                                                : g->nodes[e].rate;
}

static saltusi_expr rate_of_node(saltusi_graph* g, saltusi_expr y) {
  const saltusi_graph_node n = g->nodes[y];
  if (n.op == SALTUSI_VARIABLE) {
    return y == saltusi_time() ? g->one : g->rates[n.a - 1].expr;
  }
  if (branching(n.op)) {
    const branch b = branch_of(g, y);
    return saltusi_select(g, b.condition, rate_of(g, b.yes), rate_of(g, b.no));
  }
  int count = saltusi_op_operands(n.op);
  saltusi_expr sum = g->zero;
  for (int k = 0; k < count; k++) {
    saltusi_expr d = rate_of(g, saltusi_operand(&n, k));
    if (d != g->zero) {
      sum = saltusi_add(g, sum, saltusi_mul(g, partial(g, y, k), d));
    }
  }
  return sum;
}

saltusi_expr saltusi_rate(saltusi_graph* g, saltusi_expr e) {
  assert(g != NULL && g->count <= g->node_room);
  const unsigned moving = SALTUSI_ON_TIME | SALTUSI_ON_POSITION;
  if ((saltusi_depends(g, e) & moving) == 0 || g->status != SALTUS_OK) {
    return g->zero;
  }
  if (g->nodes[e].rate < 0) {
    size_t count = collect(g, e, moving, true);
    for (size_t i = 0; i < count && g->status == SALTUS_OK; i++) {
      saltusi_expr y = g->list[i];
      if (g->nodes[y].rate < 0) {
        saltusi_expr d = rate_of_node(g, y);
        g->nodes[y].rate = d;
      }
    }
  }
  return g->status == SALTUS_OK ? g->nodes[e].rate : g->zero;
}

saltusi_expr saltusi_explicit_rate(saltusi_graph* g, saltusi_expr e) {
  assert(g != NULL && g->count <= g->node_room);
  saltusi_graph_span span = saltusi_gradient(g, e, SALTUSI_ON_TIME);
  return span.count == 0 ? g->zero : g->entries[span.first].expr;
}

static saltusi_expr rested(const saltusi_graph* g, saltusi_expr e) {
  return (saltusi_depends(g, e) & SALTUSI_ON_VELOCITY) == 0 ? e : g->marks[e].adjoint;
}

saltusi_expr saltusi_at_rest(saltusi_graph* g, saltusi_expr e) {
  assert(g != NULL);
  size_t listed = 0;
  if ((saltusi_depends(g, e) & SALTUSI_ON_VELOCITY) == 0 || !saltusi_graph_walk(g)) {
    return e;
  }
  saltusi_graph_visit(g, e, &listed);
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node* n = &g->nodes[g->list[i]];
    int count = saltusi_op_operands(n->op);
    for (int k = 0; k < count; k++) {
      if ((saltusi_depends(g, saltusi_operand(n, k)) & SALTUSI_ON_VELOCITY) != 0) {
        saltusi_graph_visit(g, saltusi_operand(n, k), &listed);
      }
    }
  }
  saltusi_sort_ascending(g->list, listed);
  for (size_t i = 0; i < listed; i++) {
    const saltusi_graph_node n = g->nodes[g->list[i]];
    saltusi_expr a = rested(g, n.a);
    saltusi_expr still = n.op == SALTUSI_VARIABLE ? g->zero
                         : n.op == SALTUSI_POWI
                             ? saltusi_powi(g, a, n.b)
                             : saltusi_apply(g, n.op, a, rested(g, n.b), rested(g, n.c));
    g->marks[g->list[i]].adjoint = still;
  }
  return g->marks[e].adjoint;
}
