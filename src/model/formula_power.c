/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_power.c - power terms of the ledger (docs/ledger.md):
 *
 *   given    Q . v, without the power of moving ends of dampers
 *   drive    V_t - T_t, and the power of moving ends of dampers
 *   frame    2 T - v . p  =  2 T(v = 0) + v . p(v = 0)
 *
 * Structurally zero without external forces and prescribed motion.
 */
#include "formula/derive.h"
#include "model/formula_model.h"

#include <assert.h>

void saltusi_formula_power(saltusi_formula_builder* b, const saltusi_formula_energies* e) {
  assert(b != NULL && e != NULL);
  saltusi_graph* g = &b->graph;
  saltusi_expr ends = saltusi_formula_springs_drive(b);
  saltusi_expr given = saltusi_sub(g, g->zero, ends);
  saltusi_expr frame = saltusi_at_rest(g, e->T);
  frame = saltusi_add(g, frame, frame);
  for (int i = 0; i < b->nv; i++) {
    saltusi_expr v = saltusi_velocity(g, i);
    given = saltusi_add(g, given, saltusi_mul(g, e->Q[i], v));
    frame = saltusi_add(g, frame, saltusi_mul(g, saltusi_at_rest(g, e->p[i]), v));
  }
  saltusi_expr drive =
      saltusi_sub(g, saltusi_explicit_rate(g, e->V), saltusi_explicit_rate(g, e->T));
  saltusi_formula_put(b, 0, given);
  saltusi_formula_put(b, 1, saltusi_add(g, drive, ends));
  saltusi_formula_make(b, 2, &b->model->power);
  if (frame != g->zero) {
    saltusi_formula_put(b, 0, frame);
    saltusi_formula_make(b, 1, &b->model->frame_energy);
  }
}
