/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_springs.c - springs and dampers with an elongation phi(t,q), stiffness k and damping d:
 *
 *   potential   k phi^2 / 2
 *   force       (f - d phi') D phi,            phi' = D phi . v + phi_t,  f a formula: a motor
 *
 * They are equivalent to terms of the potential and the forces. As springs, the model also provides the
 * Gauss-Newton parts of F_q and F_v, without the curvature of phi: -k D phi D phi^T and -d D phi D phi^T
 * are negative semidefinite for every motion (Potra et al. 2006, (10.13) and (10.14)).
 */
#include "formula/derive.h"
#include "model/formula_model.h"

#include <assert.h>

saltus_status saltusi_formula_springs_read(saltusi_formula_builder* b) {
  assert(b != NULL);
  const int count = b->def->spring_count;
  saltusi_formula_spring* springs = SALTUSI_TAKE(&b->work, saltusi_formula_spring, count);
  saltus_status status = b->work.failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
  for (int i = 0; i < count && status == SALTUS_OK; i++) {
    const saltus_formula_spring* from = &b->def->springs[i];
    saltus_formula_text f =
        saltusi_formula_called(b, &from->elongation, "elongation of spring", from->name);
    status =
        saltusi_parse(&b->scope, &f, SALTUSI_ON_TIME | SALTUSI_ON_POSITION, &springs[i].elongation);
    if (status == SALTUS_OK) {
      status = saltusi_formula_number(b, &from->stiffness, "stiffness of spring", from->name, 1e300,
                                      &springs[i].stiffness);
    }
    if (status == SALTUS_OK) {
      status = saltusi_formula_number(b, &from->damping, "damping of spring", from->name, 1e300,
                                      &springs[i].damping);
    }
    springs[i].force = b->graph.zero;
    if (status == SALTUS_OK && from->force != NULL) {
      f = saltusi_formula_called(b, from->force, "force of spring", from->name);
      status = saltusi_parse(&b->scope, &f, SALTUSI_ON_ANY, &springs[i].force);
    }
  }
  b->springs = springs;
  return status;
}

saltusi_expr saltusi_formula_springs_potential(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_graph* g = &b->graph;
  saltusi_expr V = g->zero;
  for (int i = 0; i < b->def->spring_count; i++) {
    const saltusi_formula_spring* spring = &b->springs[i];
    saltusi_expr square = saltusi_mul(g, spring->elongation, spring->elongation);
    V = saltusi_add(g, V, saltusi_mul(g, saltusi_constant(g, 0.5 * spring->stiffness), square));
  }
  return V;
}

void saltusi_formula_springs_force(saltusi_formula_builder* b, saltusi_expr* Q) {
  assert(b != NULL && Q != NULL);
  saltusi_graph* g = &b->graph;
  for (int i = 0; i < b->def->spring_count; i++) {
    const saltusi_formula_spring* spring = &b->springs[i];
    if (!(spring->damping > 0.0) && spring->force == g->zero) {
      continue;
    }
    const saltusi_expr rate = saltusi_rate(g, spring->elongation);
    const saltusi_graph_span span = saltusi_slopes(g, spring->elongation);
    for (int k = 0; k < span.count; k++) {
      const saltusi_entry entry = g->entries[span.first + k];
      saltusi_expr* force = &Q[entry.variable - saltusi_velocity(g, 0)];
      const saltusi_expr push = saltusi_mul(g, entry.expr, rate);
      *force = saltusi_sub(g, *force, saltusi_mul(g, saltusi_constant(g, spring->damping), push));
      *force = saltusi_add(g, *force, saltusi_mul(g, entry.expr, spring->force));
    }
  }
}

saltusi_expr saltusi_formula_springs_drive(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_graph* g = &b->graph;
  saltusi_expr power = g->zero;
  for (int i = 0; i < b->def->spring_count; i++) {
    const saltusi_formula_spring* spring = &b->springs[i];
    if (spring->damping > 0.0) {
      saltusi_expr moves = saltusi_mul(g, saltusi_rate(g, spring->elongation),
                                       saltusi_explicit_rate(g, spring->elongation));
      power = saltusi_add(g, power, saltusi_mul(g, saltusi_constant(g, spring->damping), moves));
    }
  }
  return power;
}

/* K -= factor D phi D phi^T, entries [n x n] */
static void add_square(saltusi_graph* g, saltusi_expr elongation, double factor, int n,
                       saltusi_expr* K) {
  const int first = saltusi_velocity(g, 0);
  const saltusi_graph_span span = saltusi_slopes(g, elongation);
  for (int i = 0; i < span.count; i++) {
    for (int j = 0; j < span.count; j++) {
      const saltusi_entry a = g->entries[span.first + i];
      const saltusi_entry b = g->entries[span.first + j];
      saltusi_expr* entry =
          &K[(size_t)(a.variable - first) * (size_t)n + (size_t)(b.variable - first)];
      saltusi_expr product =
          saltusi_mul(g, saltusi_constant(g, factor), saltusi_mul(g, a.expr, b.expr));
      *entry = saltusi_sub(g, *entry, product);
    }
  }
}

saltus_status saltusi_formula_springs_make(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_graph* g = &b->graph;
  const int n = b->nv;
  const size_t square = (size_t)n * (size_t)n;
  if (b->def->spring_count == 0) {
    return SALTUS_OK;
  }
  saltusi_expr* K = SALTUSI_TAKE(&b->work, saltusi_expr, square);
  if (K == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  for (int damping = 0; damping < 2; damping++) {
    for (size_t k = 0; k < square; k++) {
      K[k] = g->zero;
    }
    for (int i = 0; i < b->def->spring_count; i++) {
      const saltusi_formula_spring* spring = &b->springs[i];
      add_square(g, spring->elongation, damping == 1 ? spring->damping : spring->stiffness, n, K);
    }
    for (size_t k = 0; k < square; k++) {
      saltusi_formula_put(b, k, K[k]);
    }
    saltusi_formula_make(b, square, damping == 1 ? &b->model->spring_v : &b->model->spring_q);
  }
  return g->status;
}
