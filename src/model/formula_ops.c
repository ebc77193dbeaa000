/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_ops.c - the callbacks of a formula model: each runs a program.
 */
#include "model/formula_model.h"

#include <assert.h>
#include <string.h>

static const saltus_formula_model* model_of(const void* self) {
  return self;
}

static void run(const saltusi_program* program, const saltus_point* at, double* out) {
  saltusi_run(program, at->t, at->q, at->v, at->scratch, out);
}

static void mass(const void* self, const saltus_point* at, double* M) {
  run(&model_of(self)->mass, at, M);
}

static void force(const void* self, const saltus_point* at, double* F) {
  run(&model_of(self)->force, at, F);
}

/* Every force has a program of its own, for its enclosure. */
static void force_some(const void* self, const saltus_point* at, int count, const int* velocity,
                       double* F) {
  const saltus_formula_model* m = self;
  for (int i = 0; i < count; i++) {
    run(&m->forces[velocity[i]].program, at, &F[i]);
  }
}

static void force_q(const void* self, const saltus_point* at, double* F_q) {
  run(&model_of(self)->force_q, at, F_q);
}

static void force_v(const void* self, const saltus_point* at, double* F_v) {
  run(&model_of(self)->force_v, at, F_v);
}

static void spring_q(const void* self, const saltus_point* at, double* K) {
  run(&model_of(self)->spring_q, at, K);
}

static void spring_v(const void* self, const saltus_point* at, double* D) {
  run(&model_of(self)->spring_v, at, D);
}

static void mass_q(const void* self, const saltus_point* at, double* Mv_q) {
  run(&model_of(self)->mass_q, at, Mv_q);
}

static void kinetic_gradient(const void* self, const saltus_point* at, double* T_q) {
  run(&model_of(self)->kinetic_gradient, at, T_q);
}

static double kinetic(const void* self, const saltus_point* at) {
  double T;
  run(&model_of(self)->kinetic, at, &T);
  return T;
}

static double potential(const void* self, const saltus_point* at) {
  double V;
  run(&model_of(self)->potential, at, &V);
  return V;
}

static void power(const void* self, const saltus_point* at, double out[2]) {
  run(&model_of(self)->power, at, out);
}

static double frame_energy(const void* self, const saltus_point* at) {
  double J;
  run(&model_of(self)->frame_energy, at, &J);
  return J;
}

static saltus_status contacts(const void* self, const saltus_point* at, saltus_contact_list* list) {
  const saltus_formula_model* m = self;
  if (list->capacity < m->system.dims.nc) {
    return SALTUS_RETRY_CAPACITY;
  }
  run(&m->gaps, at, list->gap);
  return SALTUS_OK;
}

static saltus_status gaps(const void* self, const saltus_point* at, int count,
                          const uint64_t* identity, double* gap) {
  const saltus_formula_model* m = self;
  for (int i = 0; i < count; i++) {
    run(&m->contacts[identity[i]].position.program, at, &gap[i]);
  }
  return SALTUS_OK;
}

static void joints(const void* self, const saltus_point* at, double* g) {
  run(&model_of(self)->constraints, at, g);
}

/* The caller may request fewer rows: only the normal. */
static void write_rows(const saltus_formula_model* m, const saltusi_formula_rows* r,
                       const saltus_point* at, saltus_rows* out) {
  double* buffer = (double*)at->scratch + m->registers;
  const double* values = r->fixed;
  if (values == NULL) {
    run(&r->program, at, buffer);
    values = buffer;
  }
  const int count = out->count < r->count ? out->count : r->count;
  for (int i = 0; i < count; i++) {
    double* G = out->G + (size_t)i * (size_t)out->stride;
    const double* row = values + (size_t)i * (size_t)r->width;
    for (int k = 0; k < r->width; k++) {
      G[out->column != NULL ? k : r->column[k]] = row[k];
    }
    out->b[i] = values[r->count * r->width + i];
  }
  if (out->column != NULL) {
    for (int k = 0; k < r->width; k++) {
      out->column[k] = r->column[k];
    }
    out->width = r->width;
  }
  if (out->c != NULL && r->bent) {
    run(&r->convective, at, buffer);
    memcpy(out->c, buffer, (size_t)count * sizeof *buffer);
  }
}

static void contact(const void* self, const saltus_point* at, uint64_t identity,
                    saltus_rows* rows) {
  int key = (int)identity;
  const saltus_formula_model* m = self;
  write_rows(m, &m->contacts[key], at, rows);
}

static void joint(const void* self, const saltus_point* at, int row, saltus_rows* rows) {
  const saltus_formula_model* m = self;
  write_rows(m, &m->joints[row], at, rows);
}

static void dry(const void* self, const saltus_point* at, int i, saltus_rows* rows) {
  const saltus_formula_model* m = self;
  write_rows(m, &m->dry_rows[i], at, rows);
}

static const char* formula(const void* self, saltus_part part, int i) {
  const saltus_formula_model* m = self;
  switch (part) {
  case SALTUS_PART_KINETIC:
    return m->kinetic_text;
  case SALTUS_PART_POTENTIAL:
    return m->potential_text;
  case SALTUS_PART_FORCE:
    return m->force_texts[i];
  case SALTUS_PART_GAP:
    return m->gap_texts[i];
  case SALTUS_PART_JOINT:
    return m->joint_texts[i];
  case SALTUS_PART_MASS:
    break; /* a derivative of the kinetic energy */
  }
  return NULL;
}

/* A = m M + fv F_v + fq F_q on the structure. */
static void blocks(const void* self, const saltus_point* at, double m, double fv, double fq,
                   double* values) {
  const saltus_formula_model* model = self;
  const saltusi_program* parts[2] = {&model->force_v_blocks, &model->force_q_blocks};
  const double factors[2] = {fv, fq};
  const size_t count = (size_t)model->mass_blocks.outputs;
  double* part = (double*)at->scratch + model->registers;
  run(&model->mass_blocks, at, values);
  for (size_t i = 0; m != 1.0 && i < count; i++) {
    values[i] *= m;
  }
  for (int k = 0; k < 2; k++) {
    if (factors[k] == 0.0 || parts[k]->length == 0) {
      continue;
    }
    run(parts[k], at, part);
    for (size_t i = 0; i < count; i++) {
      values[i] += factors[k] * part[i];
    }
  }
}

void saltusi_formula_ops(saltus_formula_model* m) {
  assert(m != NULL);
  m->ops = (saltus_system_ops){.mass = mass,
                               .force = force,
                               .force_some = force_some,
                               .contacts = contacts,
                               .contact = contact,
                               .gaps = gaps,
                               .joints = joints,
                               .joint = joint,

                               .dry = dry,
                               .force_q = force_q,
                               .force_v = force_v,
                               .spring_q = spring_q,
                               .spring_v = spring_v,
                               .mass_q = mass_q,
                               .kinetic_gradient = kinetic_gradient,
                               .kinetic = kinetic,
                               .potential = potential,
                               .formula = formula,
                               .power = power,
                               .frame_energy = m->frame_energy.length > 0 ? frame_energy : NULL,
                               .blocks = m->system.structure != NULL ? blocks : NULL,
                               .enclosure = &saltusi_formula_enclosure};
}
