/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * model_lines.c - see model_lines.h.
 */
#include "emit/model_lines.h"

#include "emit/body_lines.h"

#include <assert.h>
#include <string.h>

const saltus_mechanism* saltusi_model_mechanism(const saltus_formula_model* m) {
  assert(m != NULL && m->inner.first >= 0);
  return m->inner.system != NULL ? m->inner.system->self : NULL;
}

int* saltusi_model_take(const saltusi_model_lines* x, int count) {
  assert(x != NULL && count >= 0);
  int* list = SALTUSI_TAKE(x->pool, int, count + 1);
  x->lines->failed = x->lines->failed || list == NULL;
  return list;
}

int* saltusi_model_program(const saltusi_model_lines* x, const saltusi_line_state* at,
                           const saltusi_program* p) {
  assert(x != NULL && p != NULL && p->outputs >= 0);
  int* out = saltusi_model_take(x, p->outputs);
  if (!x->lines->failed) {
    saltusi_line_program(x->lines, p, at, out);
  }
  return out;
}

int* saltusi_model_mass(const saltusi_model_lines* x, const saltusi_line_state* at) {
  assert(x != NULL && x->sys->dims.nv > 0 && at != NULL);
  const saltus_mechanism* bodies = saltusi_model_mechanism(x->m);
  if (bodies == NULL) {
    return saltusi_model_program(x, at, &x->m->mass);
  }
  int* M = saltusi_model_take(x, x->sys->dims.nv * x->sys->dims.nv);
  if (!x->lines->failed) {
    saltusi_body_lines_matrix(x->lines, bodies, 0.0, 0.0, M);
  }
  return M;
}

int* saltusi_model_force(const saltusi_model_lines* x, const saltusi_line_state* at) {
  assert(x != NULL && at != NULL && at->q != NULL);
  const saltus_mechanism* bodies = saltusi_model_mechanism(x->m);
  if (bodies == NULL) {
    return saltusi_model_program(x, at, &x->m->force);
  }
  int* F = saltusi_model_take(x, x->sys->dims.nv);
  if (!x->lines->failed) {
    saltusi_body_lines_force(x->lines, bodies, at, F);
  }
  const int* own = x->m->force.length > 0 ? saltusi_model_program(x, at, &x->m->force) : NULL;
  for (int i = 0; own != NULL && i < x->m->force.outputs && !x->lines->failed; i++) {
    F[i] = saltusi_line_add(x->lines, F[i], own[i]);
  }
  return F;
}

/* own += factor value, where the value is not zero by its structure: zeros change no bit of the others. */
static void add_product(saltusi_line_graph* lines, int* own, int factor, int value) {
  if (!saltusi_line_is(lines, value, 0.0)) {
    *own = saltusi_line_add(lines, *own, saltusi_line_mul(lines, factor, value));
  }
}

/* A += factor x the matrix with these values on the structure of the system: blocks on the diagonal, then those of pairs. */
static void add_blocks(const saltusi_model_lines* x, int factor, const int* values, int* A) {
  const saltus_structure* s = x->sys->structure;
  const int n = x->sys->dims.nv;
  for (int b = 0; b < s->blocks + 2 * s->pairs && !x->lines->failed; b++) {
    const int p = b - s->blocks;
    const int i = p < 0 ? b : s->pair[p], j = p < 0 ? b : s->pair[p ^ 1];
    for (int r = s->start[i]; r < s->start[i + 1]; r++) {
      for (int c = s->start[j]; c < s->start[j + 1]; c++, values++) {
        add_product(x->lines, &A[r * n + c], factor, *values);
      }
    }
  }
}

/* Bodies: forces along rows, then formulas, as blocks() in formula_compose.c. */
int* saltusi_model_matrix(const saltusi_model_lines* x, const saltusi_line_state* at,
                          const double* factors, const int* M) {
  assert(x != NULL && at != NULL && factors[0] <= 0.0 && factors[1] <= 0.0 && M != NULL);
  const saltus_mechanism* bodies = saltusi_model_mechanism(x->m);
  const bool forces = (x->sys->traits & SALTUS_FREE_FORCE) == 0;
  const int all = x->sys->dims.nv * x->sys->dims.nv;
  const saltusi_program* programs[] = {bodies != NULL ? &x->m->force_v_blocks : &x->m->force_v,
                                       bodies != NULL ? &x->m->force_q_blocks : &x->m->force_q};
  int* A = saltusi_model_take(x, all);
  if (x->lines->failed) {
    return A;
  }
  memcpy(A, M, (size_t)all * sizeof(int));
  if (bodies != NULL && forces) {
    saltusi_body_lines_matrix(x->lines, bodies, factors[0], factors[1], A);
  }
  for (int k = 0; k < 2 && forces && !x->lines->failed; k++) {
    if (factors[k] == 0.0 || programs[k]->length == 0) {
      continue;
    }
    const int factor = saltusi_line_number(x->lines, factors[k]);
    const int* J = saltusi_model_program(x, at, programs[k]);
    if (bodies != NULL && !x->lines->failed) {
      add_blocks(x, factor, J, A);
    }
    for (int i = 0; i < all && bodies == NULL && !x->lines->failed; i++) {
      add_product(x->lines, &A[i], factor, J[i]);
    }
  }
  return A;
}

int* saltusi_model_rows(const saltusi_model_lines* x, const saltusi_line_state* at,
                        const saltusi_formula_rows* rows, int count) {
  assert(x != NULL && rows != NULL && count >= 0 && count <= rows->count);
  const int nv = x->sys->dims.nv;
  int* out = saltusi_model_take(x, count * (nv + 1));
  const int* given = rows->fixed == NULL ? saltusi_model_program(x, at, &rows->program) : NULL;
  for (int r = 0; r < count && !x->lines->failed; r++) {
    for (int i = 0, k = 0; i <= nv; i++) {
      const bool has = i == nv || (k < rows->width && rows->column[k] == i);
      const int from = i == nv ? rows->count * rows->width + r : r * rows->width + k;
      k += has && i < nv ? 1 : 0;
      out[r * (nv + 1) + i] = has && given != NULL
                                  ? given[from]
                                  : saltusi_line_number(x->lines, has ? rows->fixed[from] : 0.0);
    }
  }
  return out;
}

int* saltusi_model_joints(const saltusi_model_lines* x, const saltusi_line_state* at) {
  assert(x != NULL && at != NULL && x->sys->dims.nj >= 0);
  const saltus_mechanism* bodies = saltusi_model_mechanism(x->m);
  const int nj = x->sys->dims.nj, width = x->sys->dims.nv + 1;
  int* out = saltusi_model_take(x, nj * width);
  int row = 0;
  for (int j = 0; bodies != NULL && j < bodies->joint_count && !x->lines->failed; j++) {
    saltusi_body_lines_joint(x->lines, bodies, at, j, out + row * width);
    row += bodies->joints[j].rows;
  }
  for (int j = 0; row < nj && !x->lines->failed; j++) {
    const saltusi_formula_rows* own = &x->m->joints[j];
    const int* nodes = saltusi_model_rows(x, at, own, own->count);
    for (int i = 0; i < own->count * width && !x->lines->failed; i++) {
      out[row * width + i] = nodes[i];
    }
    row += own->count;
  }
  return out;
}
