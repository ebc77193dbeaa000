/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_turning.c - angular velocities of bodies in formulas.
 *
 *   free    R w, w in the axes of the body
 *   driven  R' R^T = [w], R of time
 */
#include "body/mechanism.h"
#include "formula/derive.h"
#include "model/formula_bodies.h"
#include "model/formula_model.h"

#include <assert.h>

/* sum + a b */
static saltusi_expr add_product(saltusi_graph* g, saltusi_expr sum, saltusi_expr a,
                                saltusi_expr b) {
  return saltusi_add(g, sum, saltusi_mul(g, a, b));
}

/* In the axes of the world. */
static void turning_of(saltusi_formula_builder* b, int i, saltusi_expr w[3]) {
  saltusi_graph* g = &b->graph;
  const saltus_mechanism* m = b->bodies.mechanism;
  const saltusi_body* body = &m->bodies[i];
  const saltusi_formula_frame* f = saltusi_formula_body_frame(b, i);
  const int v = b->def->coordinate_count + body->v;
  w[0] = w[1] = w[2] = g->zero;
  if (m->plane) {
    w[2] = saltusi_rate(g, f->angle);
    return;
  }
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3 && body->kind == SALTUS_BODY_FREE; j++) {
      w[k] = add_product(g, w[k], f->R[3 * k + j], saltusi_velocity(g, v + 3 + j));
    }
    const saltusi_expr *turned = f->R + 3 * ((k + 2) % 3), *other = f->R + 3 * ((k + 1) % 3);
    for (int j = 0; j < 3 && body->kind == SALTUS_BODY_DRIVEN; j++) {
      w[k] = add_product(g, w[k], saltusi_rate(g, turned[j]), other[j]);
    }
  }
}

saltusi_expr saltusi_formula_turning(saltusi_formula_builder* b, const int bodies[2],
                                     const saltusi_formula_frame* axes, int axis) {
  assert(b != NULL && bodies != NULL && axes != NULL && axis >= 0 && axis < 3);
  saltusi_expr w[2][3];
  for (int k = 0; k < 2; k++) {
    turning_of(b, bodies[k], w[k]);
  }
  saltusi_expr sum = b->graph.zero;
  for (int k = 0; k < 3; k++) {
    const saltusi_expr between = saltusi_sub(&b->graph, w[1][k], w[0][k]);
    sum = add_product(&b->graph, sum, axes->R[3 * k + axis], between);
  }
  return sum;
}
