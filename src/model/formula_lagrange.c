/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_lagrange.c - Lagrange's equations from T(t,q,v), V(t,q) and Q(t,q,v).
 *
 *   p = T_v                        momenta
 *   M = p_v                        must not depend on v
 *   F = Q + D T - D V - p_q v - p_t    D = N^T d/dq: derivatives along the velocities
 *
 * T may have terms that are linear in v or independent of it, as in moving frames. Only derivatives that are not
 * structurally zero are formed.
 */
#include "formula/derive.h"
#include "formula/lex.h"
#include "formula/message.h"
#include "model/formula_model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Derivatives of the formulas; arrays in the work pool. */
typedef struct formula_lagrange_motion {
  int n;
  saltusi_expr T, V;
  saltusi_expr* p;          /* [n] */
  saltusi_expr* T_q;        /* [n] */
  saltusi_expr* F;          /* [n] */
  saltusi_expr* Q;          /* [n] */
  saltusi_expr* Mv;         /* [n] */
  saltusi_formula_entry* M; /* lower triangle, by rows */
  size_t M_count, M_room;
  saltusi_formula_entry* F_x; /* by rows; columns 0..n-1 along velocities, n..2n-1 by them */
  size_t F_x_count, F_x_room;
} formula_lagrange_motion;

void saltusi_formula_put(saltusi_formula_builder* b, size_t place, saltusi_expr e) {
  assert(b != NULL);
  if (e == b->graph.zero) {
    return;
  }
  if (!saltusi_grow(&b->graph.allocator, (void**)&b->outputs, &b->output_room, b->output_count + 1,
                    sizeof *b->outputs)) {
    b->graph.status = SALTUS_ERR_MEMORY;
    return;
  }
  b->outputs[b->output_count++] = (saltusi_output){(int)place, e};
}

void saltusi_formula_make(saltusi_formula_builder* b, size_t length, saltusi_program* program) {
  assert(b != NULL && program != NULL);
  saltus_formula_model* m = b->model;
  saltus_status status =
      saltusi_compile(&b->graph, b->outputs, (int)b->output_count, (int)length, &m->pool, program);
  if (status != SALTUS_OK && b->graph.status == SALTUS_OK) {
    b->graph.status = status;
  }
  m->registers = program->registers > m->registers ? program->registers : m->registers;
  b->output_count = 0;
}

const char* saltusi_formula_velocity_name(const saltusi_formula_builder* b, int i) {
  assert(b != NULL && i >= 0);
  return b->model->system.v_labels[i].name;
}

size_t saltusi_formula_find_velocity(const saltusi_formula_builder* b, const char* text, int i) {
  assert(b != NULL && text != NULL);
  size_t offset = 0;
  const char* name = saltusi_formula_velocity_name(b, i);
  const size_t length = strcspn(name, "'");
  for (;;) {
    saltusi_token token = saltusi_lex(text, &offset);
    if (token.kind == SALTUSI_TOKEN_END) {
      return 0;
    }
    if (strlen(token.name) == length && strncmp(token.name, name, length) == 0 &&
        (token.primes > 0) == (name[length] != '\0')) {
      return token.offset;
    }
  }
}

/* Values in 0.3..1.7, always the same ones. Positive, so that logarithms and roots are defined;
 * formulas with sign changes are excluded, see saltusi_kinks. */
static void sample(double* x, int n, unsigned* seed) {
  for (int i = 0; i < n; i++) {
    *seed = *seed * 1664525U + 1013904223U;
    x[i] = 0.3 + 1.4 * ((double)(*seed >> 8) / 16777216.0);
  }
}

/* Derivatives of formulas such as (v + 1)^3 - v^3 - 3*v^2 vanish, but not structurally. They are evaluated at a few
 * points and have to be within rounding. */
bool saltusi_formula_velocity_free(saltusi_formula_builder* b, saltusi_expr* e) {
  assert(b != NULL && e != NULL);
  enum { POINTS = 3 };
  saltusi_graph* g = &b->graph;
  if ((saltusi_depends(g, *e) & SALTUSI_ON_VELOCITY) == 0) {
    return true;
  }
  const saltusi_graph_span span = saltusi_gradient(g, *e, SALTUSI_ON_VELOCITY);
  const saltusi_expr rest = saltusi_at_rest(g, *e);
  const int nq = g->sizes.positions, nv = g->sizes.velocities;
  saltusi_output* outputs = SALTUSI_TAKE(&b->work, saltusi_output, span.count + 1);
  double* values = SALTUSI_TAKE(&b->work, double, span.count + 1);
  double* q = SALTUSI_TAKE(&b->work, double, nq + nv);
  if (b->work.failed || g->status != SALTUS_OK) {
    return true; /* reported elsewhere */
  }
  outputs[0] = (saltusi_output){0, rest};
  for (int i = 0; i < span.count; i++) {
    outputs[i + 1] = (saltusi_output){i + 1, g->entries[span.first + i].expr};
  }
  saltusi_program program;
  saltus_status status =
      saltusi_compile(g, outputs, span.count + 1, span.count + 1, &b->work, &program);
  double* scratch = SALTUSI_TAKE(&b->work, double, program.registers);
  if (status != SALTUS_OK || scratch == NULL) {
    return true;
  }
  unsigned seed = 1;
  for (int k = 0; k < POINTS; k++) {
    sample(q, nq + nv, &seed);
    saltusi_run(&program, q[0], q, q + nq, scratch, values);
    for (int i = 0; i <= span.count; i++) {
      if (!isfinite(values[i]) || (i > 0 && fabs(values[i]) > 1e-10 * (1.0 + fabs(values[0])))) {
        return false;
      }
    }
  }
  *e = rest;
  return true;
}

static void add_entry(saltusi_formula_builder* b, saltusi_formula_entry** entries, size_t* count,
                      size_t* room, saltusi_formula_entry entry) {
  if (!saltusi_grow(&b->graph.allocator, (void**)entries, room, *count + 1, sizeof entry)) {
    b->graph.status = SALTUS_ERR_MEMORY;
    return;
  }
  (*entries)[(*count)++] = entry;
}

/* x[i] = derivative by or along the i-th velocity, zero where there is none */
static void spread(saltusi_formula_builder* b, saltusi_graph_span span, saltusi_expr* x) {
  saltusi_graph* g = &b->graph;
  for (int i = 0; i < b->nv; i++) {
    x[i] = g->zero;
  }
  for (int k = 0; k < span.count; k++) {
    x[g->entries[span.first + k].variable - saltusi_velocity(g, 0)] =
        g->entries[span.first + k].expr;
  }
}

static saltus_status report_not_quadratic(saltusi_formula_builder* b, int i, int j) {
  const saltus_formula_coordinate* c = b->def->coordinates;
  saltus_formula_text f = saltusi_formula_called(b, &b->def->kinetic, "kinetic", NULL);
  saltusi_formula_error(b->def->log, &f, saltusi_formula_find_velocity(b, f.text, i),
                        "the energy is not quadratic in the velocities: its derivative by %s' and "
                        "%s' still depends on velocities",
                        c[i].name, c[j].name);
  return SALTUS_ERR_INPUT;
}

static saltus_status report_kinked(saltusi_formula_builder* b) {
  saltus_formula_text f = saltusi_formula_called(b, &b->def->kinetic, "kinetic", NULL);
  saltusi_formula_complain(
      b->def->log, SALTUS_LEVEL_ERROR, &f,
      "the energy is not quadratic in the velocities: one occurs in abs, sign, "
      "min, max or a condition");
  return SALTUS_ERR_INPUT;
}

/* The lower triangle of M; the upper one is bitwise symmetric. */
static saltus_status derive_mass(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  saltusi_graph* g = &b->graph;
  if ((saltusi_kinks(g, m->T) & SALTUSI_ON_VELOCITY) != 0) {
    return report_kinked(b);
  }
  spread(b, saltusi_gradient(g, m->T, SALTUSI_ON_VELOCITY), m->p);
  for (int i = 0; i < b->def->coordinate_count && g->status == SALTUS_OK; i++) {
    const saltusi_graph_span span = saltusi_gradient(g, m->p[i], SALTUSI_ON_VELOCITY);
    if (span.count == 0) {
      saltus_formula_text f = saltusi_formula_called(b, &b->def->kinetic, "kinetic", NULL);
      saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f,
                               "%s' does not occur squared: coordinate \"%s\" has no mass",
                               b->def->coordinates[i].name, b->def->coordinates[i].name);
      return g->status == SALTUS_OK ? SALTUS_ERR_INPUT : g->status;
    }
    for (int k = 0; k < span.count; k++) {
      saltusi_entry entry = g->entries[span.first + k];
      int j = entry.variable - saltusi_velocity(g, 0);
      if (j > i) {
        break;
      }
      if (!saltusi_formula_velocity_free(b, &entry.expr)) {
        return report_not_quadratic(b, i, j);
      }
      add_entry(b, &m->M, &m->M_count, &m->M_room, (saltusi_formula_entry){i, j, entry.expr});
    }
  }
  return g->status;
}

/* Forces other than those of the potential. */
static saltus_status derive_given(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  saltusi_graph* g = &b->graph;
  for (int i = 0; i < m->n; i++) {
    m->Q[i] = g->zero;
  }
  for (int i = 0; i < b->def->coordinate_count; i++) {
    const saltus_formula_coordinate* c = &b->def->coordinates[i];
    if (c->force.text == NULL) {
      continue;
    }
    saltus_formula_text f = saltusi_formula_called(b, &c->force, "force on", c->name);
    saltus_status status = saltusi_parse(&b->scope, &f, SALTUSI_ON_ANY, &m->Q[i]);
    if (status != SALTUS_OK) {
      return status;
    }
  }
  saltusi_formula_springs_force(b, m->Q);
  saltus_status status = saltusi_formula_forces(b, m->Q);
  status = status == SALTUS_OK ? saltusi_formula_signs(b, m->Q) : status;
  return status != SALTUS_OK ? status : g->status;
}

/* Derivatives of F_i with respect to q (along N) and v. */
static void derive_force_entries(saltusi_formula_builder* b, formula_lagrange_motion* m, int i) {
  saltusi_graph* g = &b->graph;
  const int first = saltusi_velocity(g, 0);
  const saltusi_graph_span both =
      saltusi_gradient(g, m->F[i], SALTUSI_ON_POSITION | SALTUSI_ON_VELOCITY);
  const saltusi_graph_span along = saltusi_slopes_from(g, both);
  for (int k = 0; k < along.count; k++) {
    const saltusi_entry e = g->entries[along.first + k];
    add_entry(b, &m->F_x, &m->F_x_count, &m->F_x_room,
              (saltusi_formula_entry){i, e.variable - first, e.expr});
  }
  for (int k = 0; k < both.count; k++) {
    const saltusi_entry e = g->entries[both.first + k];
    if (e.variable >= first) {
      add_entry(b, &m->F_x, &m->F_x_count, &m->F_x_room,
                (saltusi_formula_entry){i, m->n + e.variable - first, e.expr});
    }
  }
}

static saltus_status derive_force(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  saltusi_graph* g = &b->graph;
  saltusi_expr* V_q = SALTUSI_TAKE(&b->work, saltusi_expr, m->n);
  if (V_q == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  spread(b, saltusi_slopes(g, m->T), m->T_q);
  spread(b, saltusi_slopes(g, m->V), V_q);
  saltus_status status = derive_given(b, m);
  for (int i = 0; i < m->n && status == SALTUS_OK; i++) {
    saltusi_expr F = saltusi_sub(g, saltusi_add(g, m->Q[i], m->T_q[i]), V_q[i]);
    m->F[i] = saltusi_sub(g, F, saltusi_rate(g, m->p[i]));
    derive_force_entries(b, m, i);
  }
  return status != SALTUS_OK ? status : g->status;
}

/* M v as expressions; for mass_q */
static void derive_momentum(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  saltusi_graph* g = &b->graph;
  for (int i = 0; i < m->n; i++) {
    m->Mv[i] = g->zero;
  }
  for (size_t k = 0; k < m->M_count && g->status == SALTUS_OK; k++) {
    const saltusi_formula_entry e = m->M[k];
    if ((saltusi_depends(g, e.expr) & SALTUSI_ON_POSITION) == 0) {
      continue; /* no contribution to the derivative */
    }
    saltusi_expr x = saltusi_mul(g, e.expr, saltusi_velocity(g, e.column));
    m->Mv[e.row] = saltusi_add(g, m->Mv[e.row], x);
    if (e.row != e.column) {
      x = saltusi_mul(g, e.expr, saltusi_velocity(g, e.row));
      m->Mv[e.column] = saltusi_add(g, m->Mv[e.column], x);
    }
  }
}

/* With bodies, matrices are stored by blocks; dense ones would be too large. */
static void make_matrices(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  const size_t n = (size_t)m->n;
  const bool dense = b->def->mechanism == NULL;
  for (size_t k = 0; k < m->M_count && dense; k++) {
    const saltusi_formula_entry e = m->M[k];
    saltusi_formula_put(b, (size_t)e.row * n + (size_t)e.column, e.expr);
    if (e.row != e.column) {
      saltusi_formula_put(b, (size_t)e.column * n + (size_t)e.row, e.expr);
    }
  }
  saltusi_formula_make(b, n * n, &b->model->mass);
  for (int velocity = 0; velocity < 2 && dense; velocity++) {
    for (size_t k = 0; k < m->F_x_count; k++) {
      const saltusi_formula_entry e = m->F_x[k];
      if ((e.column >= m->n) == (velocity == 1)) {
        saltusi_formula_put(b, (size_t)e.row * n + (size_t)e.column % n, e.expr);
      }
    }
    saltusi_formula_make(b, n * n, velocity ? &b->model->force_v : &b->model->force_q);
  }

  for (size_t k = 0; k < m->M_count; k++) {
    saltusi_formula_root(b, m->M[k].expr);
  }
  derive_momentum(b, m);
  for (size_t i = 0; i < n; i++) {
    const saltusi_graph_span span = saltusi_slopes(&b->graph, m->Mv[i]);
    for (int k = 0; k < span.count; k++) {
      const saltusi_entry e = b->graph.entries[span.first + k];
      saltusi_formula_put(b, i * n + (size_t)(e.variable - saltusi_velocity(&b->graph, 0)), e.expr);
    }
  }
  saltusi_formula_make(b, n * n, &b->model->mass_q);
}

/* Bounds of forces; for bodies including those of the mechanism. */
static saltus_status bound_forces(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  if (b->def->unbounded) {
    return SALTUS_OK;
  }
  bool* bounded = SALTUSI_TAKE(&b->work, bool, m->n);
  saltusi_expr* F = SALTUSI_TAKE(&b->work, saltusi_expr, m->n);
  if (b->work.failed) {
    return SALTUS_ERR_MEMORY;
  }
  memcpy(F, m->F, (size_t)m->n * sizeof *F);
  saltus_status status = saltusi_formula_bodies_forces(b, F, bounded);
  for (int i = 0; i < m->n && status == SALTUS_OK; i++) {
    if (bounded[i]) {
      saltusi_formula_bound_make(b, &F[i], 1, &b->model->forces[i]);
    }
    saltusi_formula_root(b, F[i]);
  }
  return status;
}

static void make_vectors(saltusi_formula_builder* b, const formula_lagrange_motion* m) {
  const size_t n = (size_t)m->n;
  for (size_t i = 0; i < n; i++) {
    saltusi_formula_put(b, i, m->F[i]);
  }
  saltusi_formula_make(b, n, &b->model->force);
  for (size_t i = 0; i < n; i++) {
    saltusi_formula_put(b, i, m->T_q[i]);
  }
  saltusi_formula_make(b, n, &b->model->kinetic_gradient);
  saltusi_formula_put(b, 0, m->T);
  saltusi_formula_make(b, 1, &b->model->kinetic);
  saltusi_formula_put(b, 0, m->V);
  saltusi_formula_make(b, 1, &b->model->potential);
}

/* sign(x) has derivative zero but is not constant, so derivatives of formulas with kinks prove nothing. */
static unsigned find_traits(const saltusi_graph* g, const formula_lagrange_motion* m) {
  const unsigned motion_kinds = SALTUSI_ON_POSITION | SALTUSI_ON_VELOCITY;
  bool fixed = true, affine = true, free_of_state = true;
  for (size_t k = 0; k < m->M_count; k++) {
    fixed = fixed && saltusi_is_constant(g, m->M[k].expr);
  }
  for (size_t k = 0; k < m->F_x_count; k++) {
    affine = affine && saltusi_is_constant(g, m->F_x[k].expr);
  }
  for (int i = 0; i < m->n; i++) {
    affine = affine && (saltusi_kinks(g, m->F[i]) & motion_kinds) == 0;
    free_of_state = free_of_state && (saltusi_depends(g, m->F[i]) & motion_kinds) == 0;
  }
  return (fixed ? SALTUS_CONSTANT_MASS : 0U) | (affine ? SALTUS_LINEAR_FORCE : 0U) |
         (free_of_state ? SALTUS_FREE_FORCE : 0U);
}

static saltus_status derive(saltusi_formula_builder* b, formula_lagrange_motion* m) {
  const saltus_formula_def* def = b->def;
  saltus_formula_text kinetic = saltusi_formula_called(b, &def->kinetic, "kinetic", NULL);
  saltus_status status = SALTUS_OK;
  m->T = b->graph.zero;
  m->V = b->graph.zero;
  if (def->coordinate_count > 0 || kinetic.text != NULL) {
    saltusi_scope scope = b->scope;
    scope.without_things =
        "bodies bring their kinetic energy themselves: this formula is that of the coordinates";
    status = saltusi_parse(&scope, &kinetic, SALTUSI_ON_ANY, &m->T);
  }
  if (status == SALTUS_OK && def->potential.text != NULL) {
    saltus_formula_text potential = saltusi_formula_called(b, &def->potential, "potential", NULL);
    status = saltusi_parse(&b->scope, &potential, SALTUSI_ON_TIME | SALTUSI_ON_POSITION, &m->V);
  }
  status = status == SALTUS_OK ? saltusi_formula_springs_read(b) : status;
  if (status == SALTUS_OK) {
    m->V = saltusi_add(&b->graph, m->V, saltusi_formula_springs_potential(b));
  }
  status = status == SALTUS_OK ? derive_mass(b, m) : status;
  status = status == SALTUS_OK ? derive_force(b, m) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  b->model->system.traits = find_traits(&b->graph, m);
  make_matrices(b, m);
  make_vectors(b, m);
  status = bound_forces(b, m);
  saltusi_formula_power(b, &(saltusi_formula_energies){.T = m->T, .V = m->V, .p = m->p, .Q = m->Q});
  status = status == SALTUS_OK ? saltusi_formula_springs_make(b) : status;
  if (status != SALTUS_OK) {
    return status;
  }
  status = saltusi_formula_structure(
      b,
      &(saltusi_formula_entries){
          .n = m->n, .M = m->M, .M_count = m->M_count, .F_x = m->F_x, .F_x_count = m->F_x_count});
  saltusi_formula_ops(b->model);
  return status != SALTUS_OK ? status : b->graph.status;
}

saltus_status saltusi_formula_lagrange(saltusi_formula_builder* b) {
  assert(b != NULL);
  formula_lagrange_motion m = {.n = b->nv};
  m.p = SALTUSI_TAKE(&b->work, saltusi_expr, m.n);
  m.T_q = SALTUSI_TAKE(&b->work, saltusi_expr, m.n);
  m.F = SALTUSI_TAKE(&b->work, saltusi_expr, m.n);
  m.Q = SALTUSI_TAKE(&b->work, saltusi_expr, m.n);
  m.Mv = SALTUSI_TAKE(&b->work, saltusi_expr, m.n);
  b->model->forces = SALTUSI_TAKE(&b->model->pool, saltusi_formula_bound, m.n);
  saltus_status status =
      b->work.failed || b->model->pool.failed ? SALTUS_ERR_MEMORY : derive(b, &m);
  saltusi_release(&b->graph.allocator, m.M, m.M_room, sizeof *m.M);
  saltusi_release(&b->graph.allocator, m.F_x, m.F_x_room, sizeof *m.F_x);
  return status;
}
