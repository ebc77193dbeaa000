/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_model.c - creates a system from a definition in text: names, equations of motion, rows, initial state.
 */
#include "model/formula_model.h"

#include "base/reserved.h"
#include "formula/message.h"
#include "model/elements.h"
#include "model/formula_constants.h"
#include "saltus/mechanism.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* nv x nv indices must fit in int. */
enum { COORDINATES_MOST = 20000 };

int saltusi_formula_law_place(const saltusi_formula_builder* b, int contact) {
  assert(b != NULL && contact >= 0);
  return 2 * b->def->coordinate_count + 3 * contact;
}

saltus_status saltusi_formula_member(saltusi_formula_builder* b, const saltus_formula_text* formula,
                                     int place, double* value) {
  assert(b != NULL && formula != NULL && value != NULL);
  saltus_formula_model* m = b->model;
  if (!b->def->members || place < 0) {
    return saltusi_parse_constant(&b->scope, formula, value);
  }
  saltusi_output output = {.place = 0};
  saltus_status status = saltusi_parse(&b->scope, formula, SALTUSI_ON_INPUT, &output.expr);
  if (status != SALTUS_OK) {
    return status;
  }
  if (m->members == NULL) {
    m->member_count = saltusi_formula_law_place(b, b->def->contact_count);
    m->members = SALTUSI_TAKE(&m->pool, saltusi_program, m->member_count);
  }
  saltusi_program program;
  status = saltusi_compile(&b->graph, &output, 1, 1, &m->pool, &program);
  double* scratch = SALTUSI_TAKE(&b->work, double, program.registers);
  if (status != SALTUS_OK || m->members == NULL || scratch == NULL) {
    return status != SALTUS_OK ? status : SALTUS_ERR_MEMORY;
  }
  if (!saltusi_is_constant(&b->graph, output.expr)) {
    m->members[place] = program;
  }
  saltusi_run(&program, 0.0, NULL, NULL, scratch, value);
  return SALTUS_OK;
}

const saltusi_program* saltusi_formula_member_program(const saltus_formula_model* m, int place) {
  assert(m != NULL && place >= 0);
  const bool varies = place < m->member_count && m->members[place].length > 0;
  return varies ? &m->members[place] : NULL;
}

const saltusi_program* saltusi_formula_member_law(const saltus_formula_model* m, int contact,
                                                  int which) {
  assert(m != NULL && contact >= 0 && which >= 0 && which < 3);
  const int written = saltus_formula_model_contact(m, contact);
  return written < 0 || m->members == NULL
             ? NULL
             : saltusi_formula_member_program(m, m->member_count -
                                                     3 * (m->written_contacts - written) + which);
}

static saltus_status read_start(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  const int n = b->def->coordinate_count;
  m->q0 = SALTUSI_TAKE(&m->pool, double, b->nq);
  m->v0 = SALTUSI_TAKE(&m->pool, double, b->nv);
  if (m->pool.failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < n; i++) {
    const saltus_formula_coordinate* c = &b->def->coordinates[i];
    for (int k = 0; k < 2; k++) {
      const saltus_formula_text* formula = k == 0 ? &c->start : &c->velocity;
      if (formula->text == NULL) {
        continue;
      }
      saltus_formula_text f =
          saltusi_formula_called(b, formula, k == 0 ? "start of" : "start velocity of", c->name);
      saltus_status status =
          saltusi_formula_member(b, &f, k == 0 ? i : n + i, k == 0 ? &m->q0[i] : &m->v0[i]);
      if (status != SALTUS_OK) {
        return status;
      }
    }
  }
  return SALTUS_OK;
}

/* x with unit m gives x' with unit m/s; no unit stays none. */
static saltus_status make_axis_labels(saltusi_formula_builder* b) {
  saltusi_pool* pool = &b->model->pool;
  const int n = b->def->coordinate_count;
  saltus_label* q = SALTUSI_TAKE(pool, saltus_label, b->nq);
  saltus_label* v = SALTUSI_TAKE(pool, saltus_label, b->nv);
  for (int i = 0; i < n && !pool->failed; i++) {
    const saltus_formula_coordinate* c = &b->def->coordinates[i];
    const char* unit = c->unit != NULL ? c->unit : "";
    char text[128];
    q[i].name = saltusi_pool_text(pool, c->name);
    q[i].unit = saltusi_pool_text(pool, unit);
    snprintf(text, sizeof text, "%s'", c->name);
    v[i].name = saltusi_pool_text(pool, text);
    snprintf(text, sizeof text, unit[0] != '\0' ? "%.100s/s" : "%s", unit[0] != '\0' ? unit : "");
    v[i].unit = saltusi_pool_text(pool, text);
  }
  if (b->bodies.mechanism != NULL && !pool->failed) {
    const saltus_system* inner = saltus_mechanism_system(b->bodies.mechanism);
    memcpy(q + n, inner->q_labels, (size_t)inner->dims.nq * sizeof *q);
    memcpy(v + n, inner->v_labels, (size_t)inner->dims.nv * sizeof *v);
  }
  b->model->system.q_labels = q;
  b->model->system.v_labels = v;
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

static void finish(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  saltus_system* s = &m->system;
  s->ops = &m->ops;
  s->self = m;
  s->impacts = b->def->impacts;
  s->dims.nq = b->nq;
  s->dims.nv = b->nv;
  m->ops.contacts = s->dims.nc > 0 ? m->ops.contacts : NULL;
  m->ops.contact = s->dims.nc > 0 ? m->ops.contact : NULL;
  m->ops.joints = s->dims.nj > 0 ? m->ops.joints : NULL;
  m->ops.joint = s->dims.nj > 0 ? m->ops.joint : NULL;
  m->ops.dry = s->dry_count > 0 ? m->ops.dry : NULL;
  m->ops.spring_q = b->def->spring_count > 0 ? m->ops.spring_q : NULL;
  m->ops.spring_v = b->def->spring_count > 0 ? m->ops.spring_v : NULL;
  s->traits |= b->constant_rows ? SALTUS_CONSTANT_NORMALS : 0U;
  s->dims.scratch = ((size_t)m->registers + m->buffer) * sizeof(double);
}

/* Reserved for later versions. */
static saltus_status check_reserved(const saltus_formula_def* def) {
  saltus_status status = SALTUSI_RESERVED_CHECK(def, "saltus_formula_def", def->log);
  for (int i = 0; i < def->coordinate_count && status == SALTUS_OK; i++) {
    status = SALTUSI_RESERVED_CHECK(&def->coordinates[i], "saltus_formula_coordinate", def->log);
  }
  for (int i = 0; i < def->joint_count && status == SALTUS_OK; i++) {
    status = SALTUSI_RESERVED_CHECK(&def->joints[i], "saltus_formula_joint", def->log);
  }
  for (int i = 0; i < def->spring_count && status == SALTUS_OK; i++) {
    status = SALTUSI_RESERVED_CHECK(&def->springs[i], "saltus_formula_spring", def->log);
  }
  return status;
}

static saltus_status check_counts(const saltus_formula_def* def) {
  const int least = def->mechanism != NULL ? 0 : 1;
  if (def->coordinate_count < least || def->coordinate_count > COORDINATES_MOST) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR, "a model has %d to %d coordinates, not %d", least,
                COORDINATES_MOST, def->coordinate_count);
    return SALTUS_ERR_INPUT;
  }
  if (def->force_count > 0 && def->mechanism == NULL) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "forces at markers need a mechanism; those on coordinates stand with them");
    return SALTUS_ERR_INPUT;
  }
  return SALTUS_OK;
}

static const char* keep_text(saltusi_pool* pool, const saltus_formula_text* formula) {
  return formula->text != NULL ? saltusi_pool_text(pool, formula->text) : NULL;
}

/* The formulas as they were written, for messages about values that are not finite. */
static saltus_status keep_texts(saltusi_formula_builder* b) {
  saltus_formula_model* m = b->model;
  const saltus_formula_def* def = b->def;
  saltusi_pool* pool = &m->pool;
  m->kinetic_text = keep_text(pool, &def->kinetic);
  m->potential_text = keep_text(pool, &def->potential);
  m->force_texts = SALTUSI_TAKE(pool, const char*, def->coordinate_count);
  m->gap_texts = SALTUSI_TAKE(pool, const char*, def->contact_count);
  m->joint_texts = SALTUSI_TAKE(pool, const char*, def->joint_count);
  if (pool->failed) {
    return SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < def->coordinate_count; i++) {
    m->force_texts[i] = keep_text(pool, &def->coordinates[i].force);
  }
  for (int i = 0; i < def->contact_count; i++) {
    m->gap_texts[i] = keep_text(pool, &def->contacts[i].gap);
  }
  for (int i = 0; i < def->joint_count; i++) {
    m->joint_texts[i] = keep_text(pool, &def->joints[i].constraint);
  }
  return pool->failed ? SALTUS_ERR_MEMORY : SALTUS_OK;
}

static saltus_status build(saltusi_formula_builder* b) {
  saltus_status status = saltusi_formula_names(b);
  status = status == SALTUS_OK ? saltusi_formula_labels(b) : status;
  status = status == SALTUS_OK ? read_start(b) : status;
  status = status == SALTUS_OK ? make_axis_labels(b) : status;
  status = status == SALTUS_OK ? saltusi_formula_lagrange(b) : status;
  status = status == SALTUS_OK ? saltusi_formula_constraints(b) : status;
  saltusi_formula_bodies_roots(b);
  status = status == SALTUS_OK ? saltusi_formula_switches(b) : status;
  status = status == SALTUS_OK ? keep_texts(b) : status;
  if (status == SALTUS_OK) {
    finish(b);
    status = saltusi_formula_compose(b);
  }
  return status;
}

saltus_status saltusi_formula_builder_start(saltusi_formula_builder* b,
                                            const saltus_formula_def* def, int results) {
  assert(b != NULL && def != NULL);
  const saltusi_formula_bodies_size bodies = saltusi_formula_bodies_measure(def->mechanism);
  *b = (saltusi_formula_builder){.def = def,
                                 .nq = def->coordinate_count + bodies.nq,
                                 .nv = def->coordinate_count + bodies.nv,
                                 .constant_rows = true,
                                 .member_place = -1};
  b->work = saltusi_pool_over(def->allocator);
  const saltusi_graph_sizes sizes = {.positions = b->nq,
                                     .velocities = b->nv,
                                     .inputs = def->input_count + results,
                                     .input_values = def->input_values};
  saltus_status status = saltusi_graph_start(&b->graph, &sizes, def->allocator);
  b->scope = (saltusi_scope){.graph = &b->graph,
                             .names = &b->names,
                             .log = def->log,
                             .results = results > 0,
                             .ramps = def->ramps ? def->input_count / 2 : 0};
  return status == SALTUS_OK ? saltusi_formula_bodies_start(b) : status;
}

void saltusi_formula_builder_free(saltusi_formula_builder* b) {
  assert(b != NULL);
  saltusi_release(&b->graph.allocator, b->outputs, b->output_room, sizeof *b->outputs);
  saltusi_release(&b->graph.allocator, b->roots, b->root_room, sizeof *b->roots);
  saltusi_graph_free(&b->graph);
  saltusi_pool_free(&b->work);
}

/* The model, or its set-valued form. *signs: number of forces that differ in the two. */
static saltus_status create(const saltus_formula_def* def, bool set_valued, int* signs,
                            saltus_formula_model** out) {
  saltus_status status = SALTUS_OK;
  saltusi_pool pool = saltusi_pool_over(def->allocator);
  saltus_formula_model* m = SALTUSI_TAKE(&pool, saltus_formula_model, 1);
  if (m == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  m->pool = pool;
  m->written_contacts = def->contact_count;

  saltusi_formula_builder b = {0};
  saltusi_pool element_texts = saltusi_pool_over(def->allocator);
  saltus_formula_def whole;
  status = saltusi_elements_expand(def, &element_texts, &whole);
  if (status == SALTUS_OK) {
    status = saltusi_formula_builder_start(&b, &whole, 0);
    b.model = m;
    b.set_valued = set_valued;
    status = status == SALTUS_OK ? build(&b) : status;
    *signs = b.sign_count;
  }
  if (status == SALTUS_OK && (m->pool.failed || b.work.failed)) {
    status = SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_ERR_INPUT && b.graph.status == SALTUS_ERR_INPUT) {
    saltusi_log(def->log, SALTUS_LEVEL_ERROR,
                "the formulas and their derivatives are too large, more than %d operations",
                SALTUSI_NODES_MOST);
  }
  if (b.def != NULL) {
    saltusi_formula_builder_free(&b);
  }
  saltusi_pool_free(&element_texts);
  if (status != SALTUS_OK) {
    saltus_formula_model_destroy(m);
    return status;
  }
  *out = m;
  return SALTUS_OK;
}

saltus_status saltus_formula_model_create(const saltus_formula_def* def,
                                          saltus_formula_model** out) {
  assert(def != NULL && out != NULL);
  assert(def->parameter_count >= 0 && def->joint_count >= 0 && def->contact_count >= 0);
  *out = NULL;
  int signs = 0;
  saltus_status status = check_counts(def);
  status = status == SALTUS_OK ? check_reserved(def) : status;
  status = status == SALTUS_OK ? create(def, false, &signs, out) : status;
  if (status == SALTUS_OK && signs > 0) {
    status = create(def, true, &signs, &(*out)->set_valued);
    if (status != SALTUS_OK) {
      saltus_formula_model_destroy(*out);
      *out = NULL;
      return status;
    }
    (*out)->system.set_valued = &(*out)->set_valued->system;
  }
  return status;
}

void saltus_formula_model_destroy(saltus_formula_model* model) {
  if (model != NULL) {
    saltus_formula_model_destroy(model->set_valued); /* has none itself */
    saltusi_pool pool = model->pool;                 /* the model lies in it */
    saltusi_pool_free(&pool);
  }
}

const saltus_system* saltus_formula_model_system(const saltus_formula_model* model) {
  assert(model != NULL);
  return &model->system;
}

const double* saltus_formula_model_q0(const saltus_formula_model* model) {
  assert(model != NULL);
  return model->q0;
}

const double* saltus_formula_model_v0(const saltus_formula_model* model) {
  assert(model != NULL);
  return model->v0;
}

const char* saltus_formula_model_joint_name(const saltus_formula_model* model, int j) {
  assert(model != NULL && j >= 0);
  return model->system.joint_names[j];
}

int saltus_formula_model_contact(const saltus_formula_model* model, int key) {
  assert(model != NULL && key >= 0);
  const int limits = model->inner.system != NULL ? model->inner.system->dims.nc : 0;
  const int written = key < limits ? -1 : model->contact_of[key - limits];
  return written < model->written_contacts ? written : -1;
}

struct saltusi_formula_constants {
  saltus_formula_def def;
  saltusi_formula_builder b;
};

saltus_status saltusi_formula_constants_open(const saltus_formula_def* def,
                                             saltusi_formula_constants** out) {
  assert(def != NULL && out != NULL);
  const saltus_allocator memory = saltus_allocator_default();
  saltusi_formula_constants* c = memory.alloc(sizeof *c, memory.user);
  *out = NULL;
  if (c == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  c->def = (saltus_formula_def){.parameters = def->parameters,
                                .parameter_count = def->parameter_count,
                                .input_names = def->input_names,
                                .input_values = def->input_values,
                                .input_count = def->input_count,
                                .members = def->members,
                                .ramps = def->ramps,
                                .log = def->log};
  saltus_status status = saltusi_formula_builder_start(&c->b, &c->def, 0);
  status = status == SALTUS_OK ? saltusi_formula_names(&c->b) : status;
  if (status != SALTUS_OK) {
    saltusi_formula_constants_close(c);
    return status;
  }
  *out = c;
  return SALTUS_OK;
}

saltus_status saltusi_formula_constants_value(saltusi_formula_constants* c,
                                              const saltus_formula_text* formula, double* value) {
  assert(c != NULL && formula != NULL);
  double result = 0.0;
  saltus_status status = saltusi_parse_constant(&c->b.scope, formula, &result);
  if (status == SALTUS_OK) {
    *value = result;
  }
  return status;
}

saltusi_formula_builder* saltusi_formula_constants_builder(saltusi_formula_constants* c) {
  assert(c != NULL);
  return &c->b;
}

void saltusi_formula_constants_close(saltusi_formula_constants* c) {
  if (c != NULL) {
    const saltus_allocator memory = saltus_allocator_default();
    saltusi_formula_builder_free(&c->b);
    memory.free(c, sizeof *c, memory.user);
  }
}

saltus_status saltus_formula_constant(const saltus_formula_parameter* parameters,
                                      int parameter_count, saltus_formula_text formula,
                                      saltus_log log, double* value) {
  assert(value != NULL && (parameters != NULL || parameter_count == 0));
  saltusi_formula_constants* constants;
  const saltus_formula_def def = {
      .parameters = parameters, .parameter_count = parameter_count, .log = log};
  saltus_status status = saltusi_formula_constants_open(&def, &constants);
  if (status == SALTUS_OK) {
    status = saltusi_formula_constants_value(constants, &formula, value);
    saltusi_formula_constants_close(constants);
  }
  return status;
}
