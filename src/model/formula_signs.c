/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_signs.c - discontinuous forces that are dry friction: c sign(U) and c U/abs(U) in the forces Q.
 *
 *   U = G^T v + b(t,q), G constant      Q_i = ... - F G_i sign(U),  F > 0 the same for all i
 *
 * Such a force is -F in the direction of slip U, and any value in [-F, F] at U = 0 (Filippov): the law of dry friction.
 * Other signs, of positions or with an amplitude that varies, remain formulas.
 */
#include "formula/derive.h"
#include "model/formula_model.h"

#include <assert.h>

enum { TERMS_MOST = 256, STACK_MOST = 256, SIGNS_MOST = 64 };

/* A term factor * expr of a sum. */
typedef struct formula_term {
  saltusi_expr expr;
  double factor;
} formula_term;

/* Removes constant factors of an expression. */
static formula_term without_factor(const saltusi_graph* g, formula_term x) {
  for (;;) {
    const saltusi_graph_node* n = &g->nodes[x.expr];
    if (n->op == SALTUSI_NEG) {
      x = (formula_term){n->a, -x.factor};
    } else if (n->op == SALTUSI_MUL && saltusi_is_constant(g, n->a)) {
      x = (formula_term){n->b, x.factor * g->nodes[n->a].value};
    } else if (n->op == SALTUSI_DIV && saltusi_is_constant(g, n->b)) {
      x = (formula_term){n->a, x.factor / g->nodes[n->b].value};
    } else {
      return x;
    }
  }
}

/* The terms of a sum; false: too many. */
static bool list_terms(const saltusi_graph* g, saltusi_expr e, formula_term* terms, int* count) {
  formula_term stack[STACK_MOST] = {{e, 1.0}};
  int open = 1;
  *count = 0;
  while (open > 0) {
    const formula_term x = without_factor(g, stack[--open]);
    const saltusi_graph_node* n = &g->nodes[x.expr];
    const bool sum = n->op == SALTUSI_ADD || n->op == SALTUSI_SUB;
    if ((sum && open + 2 > STACK_MOST) || (!sum && *count == TERMS_MOST)) {
      return false;
    }
    if (sum) { /* the first operand is taken first */
      stack[open++] = (formula_term){n->b, n->op == SALTUSI_SUB ? -x.factor : x.factor};
      stack[open++] = (formula_term){n->a, x.factor};
    } else {
      terms[(*count)++] = x;
    }
  }
  return true;
}

/* Whether the term is factor * sign(rate), the rate linear in the velocities. */
static bool is_sign(saltusi_graph* g, formula_term term, formula_term* sign) {
  const saltusi_graph_node n = g->nodes[term.expr]; /* a copy: the graph grows */
  if (n.op == SALTUSI_SIGN) {
    *sign = (formula_term){n.a, term.factor};
  } else if (n.op == SALTUSI_DIV && g->nodes[n.b].op == SALTUSI_ABS) {
    *sign = without_factor(g, (formula_term){n.a, term.factor});
    const formula_term below = without_factor(g, (formula_term){g->nodes[n.b].a, 1.0});
    if (below.expr != sign->expr) {
      return false;
    }
    sign->factor /= fabs(below.factor);
  } else {
    return false;
  }
  if ((saltusi_depends(g, sign->expr) & SALTUSI_ON_VELOCITY) == 0 ||
      saltusi_kinks(g, sign->expr) != 0) {
    return false;
  }
  const saltusi_graph_span G = saltusi_gradient(g, sign->expr, SALTUSI_ON_VELOCITY);
  for (int k = 0; k < G.count; k++) {
    if (!saltusi_is_constant(g, g->entries[G.first + k].expr)) {
      return false;
    }
  }
  return G.count > 0;
}

/* Coefficient of sign(rate) in a force. */
static double coefficient_in(saltusi_graph* g, saltusi_expr Q, saltusi_expr rate) {
  formula_term terms[TERMS_MOST], sign;
  int count;
  double sum = 0.0;
  if (list_terms(g, Q, terms, &count)) {
    for (int k = 0; k < count; k++) {
      sum += is_sign(g, terms[k], &sign) && sign.expr == rate ? sign.factor : 0.0;
    }
  }
  return sum;
}

/* F of -F G_i sign(rate) in all forces; 0: they are not of this form. */
static double limit_of(saltusi_formula_builder* b, const saltusi_expr* Q, saltusi_expr rate) {
  saltusi_graph* g = &b->graph;
  const saltusi_graph_span G = saltusi_gradient(g, rate, SALTUSI_ON_VELOCITY);
  double limit = NAN;
  for (int i = 0, k = 0; i < b->nv; i++) {
    const bool has = k < G.count && g->entries[G.first + k].variable == saltusi_velocity(g, i);
    const double slope = has ? g->nodes[g->entries[G.first + k++].expr].value : 0.0;
    const double c = coefficient_in(g, Q[i], rate);
    if (has && isnan(limit)) {
      limit = -c / slope;
    }
    const double expected = has ? -limit * slope : 0.0;
    if (!(fabs(c - expected) <= 1e-14 * fabs(c))) {
      return 0.0;
    }
  }
  return limit > 0.0 && limit <= 1e300 ? limit : 0.0;
}

static bool is_listed(const saltusi_formula_builder* b, saltusi_expr rate) {
  bool found = false;
  for (int k = 0; k < b->sign_count; k++) {
    found = found || b->signs[k].rate == rate;
  }
  return found;
}

/* A force without the signs that are listed, or with U/abs(U) as sign(U), which is defined at rest. */
static saltusi_expr rewrite(saltusi_formula_builder* b, saltusi_expr Q) {
  saltusi_graph* g = &b->graph;
  formula_term terms[TERMS_MOST], sign;
  int count;
  saltusi_expr sum = g->zero;
  if (!list_terms(g, Q, terms, &count)) {
    return Q;
  }
  for (int k = 0; k < count; k++) {
    formula_term term = terms[k];
    if (is_sign(g, term, &sign) && is_listed(b, sign.expr)) {
      term = (formula_term){saltusi_apply(g, SALTUSI_SIGN, sign.expr, 0, 0),
                            b->set_valued ? 0.0 : sign.factor};
    }
    const saltusi_expr factor = saltusi_constant(g, term.factor);
    sum = saltusi_add(g, sum, saltusi_mul(g, factor, term.expr));
  }
  return sum;
}

saltus_status saltusi_formula_signs(saltusi_formula_builder* b, saltusi_expr* Q) {
  assert(b != NULL && Q != NULL);
  saltusi_graph* g = &b->graph;
  bool changes = b->set_valued;
  for (int i = 0; i < b->nv && g->status == SALTUS_OK; i++) {
    formula_term terms[TERMS_MOST], sign;
    int count;
    if ((saltusi_kinks(g, Q[i]) & SALTUSI_ON_VELOCITY) == 0 ||
        !list_terms(g, Q[i], terms, &count)) {
      continue;
    }
    for (int k = 0; k < count && b->sign_count < SIGNS_MOST; k++) {
      if (!is_sign(g, terms[k], &sign) || is_listed(b, sign.expr)) {
        continue;
      }
      const double limit = limit_of(b, Q, sign.expr);
      b->signs =
          b->signs != NULL ? b->signs : SALTUSI_TAKE(&b->work, saltusi_formula_sign, SIGNS_MOST);
      if (b->signs == NULL) {
        return SALTUS_ERR_MEMORY;
      }
      if (limit > 0.0) {
        changes = changes || g->nodes[terms[k].expr].op == SALTUSI_DIV;
        b->signs[b->sign_count++] = (saltusi_formula_sign){sign.expr, limit};
      }
    }
  }
  for (int i = 0; i < b->nv && changes && b->sign_count > 0; i++) {
    Q[i] = (saltusi_kinks(g, Q[i]) & SALTUSI_ON_VELOCITY) != 0 ? rewrite(b, Q[i]) : Q[i];
  }
  return g->status;
}
