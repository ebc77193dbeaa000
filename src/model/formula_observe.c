/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * formula_observe.c - outputs and events of a scene: formulas over time, positions, velocities and
 * parameters, compiled into observables.
 */
#include "base/reserved.h"
#include "formula/enclose.h"
#include "formula/interval.h"
#include "formula/lex.h"
#include "formula/message.h"
#include "model/formula_model.h"
#include "saltus/mechanism.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct saltus_formula_observer {
  saltusi_pool pool; /* holds this struct too */
  saltus_observables view;
  saltusi_program outputs, events;
  int registers;
  int input_count;
  const saltus_mechanism* mechanism;
  int first;       /* coordinate of the mechanism */
  int joint_count; /* joints by type, where an output names the force of one; else 0 */
  int nq, nv;
};

const saltusi_program* saltusi_formula_observer_outputs(const saltus_formula_observer* observer) {
  assert(observer != NULL);
  return observer->outputs.length > 0 || observer->outputs.outputs > 0 ? &observer->outputs : NULL;
}

/* Inputs, then force and torque of each joint by type; forces NULL: not available. */
static void fill_values(const saltus_formula_observer* o, const saltus_point* at,
                        const double* forces, double* values) {
  for (int i = 0; i < o->input_count; i++) {
    values[i] = o->outputs.inputs[i];
  }
  double* load = values + o->input_count;
  for (int i = 0; i < o->joint_count; i++, load += 6) {
    for (int k = 0; k < 6; k++) {
      load[k] = NAN;
    }
    if (forces != NULL) {
      const int row = saltus_mechanism_joint(o->mechanism, i).row;
      saltus_mechanism_joint_load(o->mechanism, i, at->t, at->q + o->first, forces + row, load,
                                  load + 3);
    }
  }
}

static void run_with(const void* self, const saltus_point* at, const double* forces,
                     double* values) {
  const saltus_formula_observer* o = self;
  double* known = (double*)at->scratch + o->registers;
  saltusi_program program = o->outputs;
  fill_values(o, at, forces, known);
  program.inputs = known;
  saltusi_run(&program, at->t, at->q, at->v, at->scratch, values);
}

static void run_outputs(const void* self, const saltus_point* at, double* values) {
  const saltus_formula_observer* o = self;
  if (o->joint_count > 0) {
    run_with(self, at, NULL, values);
    return;
  }
  saltusi_run(&o->outputs, at->t, at->q, at->v, at->scratch, values);
}

static void run_events(const void* self, const saltus_point* at, double* values) {
  const saltus_formula_observer* o = self;
  saltusi_run(&o->events, at->t, at->q, at->v, at->scratch, values);
}

/* Half of the width of the enclosure over a box around the point. */
static void bound_events(const void* self, const saltus_point* at, const double* dq,
                         const double* dv, double* errors) {
  const saltus_formula_observer* o = self;
  saltus_interval* q = at->scratch;
  saltus_interval* v = q + o->nq;
  saltus_interval* out = v + o->nv;
  const saltus_interval t = saltusi_exactly(at->t);
  for (int i = 0; i < o->nq; i++) {
    q[i] = (saltus_interval){at->q[i] - dq[i], at->q[i] + dq[i]};
  }
  for (int i = 0; i < o->nv; i++) {
    v[i] = (saltus_interval){at->v[i] - dv[i], at->v[i] + dv[i]};
  }
  const saltus_course box = {
      .order = 0, .t = &t, .q = q, .v = v, .scratch = out + o->view.event_count};
  saltusi_enclose(&o->events, &box, out);
  for (int i = 0; i < o->view.event_count; i++) {
    errors[i] = 0.5 * (out[i].hi - out[i].lo);
  }
}

static size_t bound_bytes(const saltus_formula_observer* o, int event_count) {
  const size_t intervals = (size_t)o->nq + (size_t)o->nv + (size_t)event_count;
  return intervals * sizeof(saltus_interval) + saltusi_enclose_bytes(&o->events);
}

/* A name that is unique in its kind and has no other meaning in formulas. */
static saltus_status check_name(saltusi_formula_builder* b, const saltus_formula_text* formula,
                                const char* kind, const char* name) {
  const char* trouble = NULL;
  if (!saltusi_name_valid(name)) {
    trouble = "a name is made of letters, digits and underscores, does not start with a digit and "
              "has at most 63 characters";
  } else if (strcmp(name, "t") == 0) {
    trouble = "this is the name of time";
  } else {
    const saltusi_name* found = saltusi_names_find(&b->names, name);
    trouble =
        found != NULL && found->kind == SALTUSI_COORDINATE ? "a coordinate has this name" : NULL;
  }
  if (trouble == NULL) {
    return SALTUS_OK;
  }
  saltus_formula_text f = *formula;
  f.what = NULL; /* the error is in the name, not in the formula */
  f = saltusi_formula_called(b, &f, kind, name);
  saltusi_formula_complain(b->def->log, SALTUS_LEVEL_ERROR, &f, "%s", trouble);
  return SALTUS_ERR_INPUT;
}

/* Parses one formula into the next output of the program. */
static saltus_status put_formula(saltusi_formula_builder* b, size_t place, const char* kind,
                                 const char* name, const saltus_formula_text* formula) {
  saltus_status status = check_name(b, formula, kind, name);
  saltus_formula_text f = saltusi_formula_called(b, formula, kind, name);
  saltusi_expr e;
  if (status == SALTUS_OK) {
    saltusi_scope scope = b->scope;
    scope.results = scope.results && strcmp(kind, "output") == 0;
    status = saltusi_parse(&scope, &f, SALTUSI_ON_ANY, &e);
  }
  if (status == SALTUS_OK) {
    saltusi_formula_put(b, place, e);
  }
  return status;
}

/* Compiles the collected expressions and clears them. */
static saltus_status compile(saltusi_formula_builder* b, int count, saltusi_pool* pool,
                             saltusi_program* program) {
  int put = (int)b->output_count;
  b->output_count = 0;
  return saltusi_compile(&b->graph, b->outputs, put, count, pool, program);
}

static saltus_status build(saltusi_formula_builder* b, const saltus_formula_observer_def* def,
                           saltus_formula_observer* o) {
  saltusi_pool* pool = &o->pool;
  saltus_status status = saltusi_formula_names(b);
  saltus_label* labels = SALTUSI_TAKE(pool, saltus_label, def->output_count);
  const char** names = SALTUSI_TAKE(pool, const char*, def->event_count);
  saltus_crossing* directions = SALTUSI_TAKE(pool, saltus_crossing, def->event_count);
  if (status == SALTUS_OK && pool->failed) {
    status = SALTUS_ERR_MEMORY;
  }
  for (int i = 0; i < def->output_count && status == SALTUS_OK; i++) {
    const saltus_formula_output* f = &def->outputs[i];
    labels[i].name = saltusi_pool_text(pool, f->name);
    labels[i].unit = saltusi_pool_text(pool, f->unit != NULL ? f->unit : "");
    status = put_formula(b, (size_t)i, "output", f->name, &f->formula);
  }
  if (status == SALTUS_OK) {
    status = compile(b, def->output_count, pool, &o->outputs);
  }
  for (int i = 0; i < def->event_count && status == SALTUS_OK; i++) {
    const saltus_formula_event* f = &def->events[i];
    names[i] = saltusi_pool_text(pool, f->name);
    directions[i] = f->direction;
    status = put_formula(b, (size_t)i, "event", f->name, &f->formula);
  }
  if (status == SALTUS_OK) {
    status = compile(b, def->event_count, pool, &o->events);
    status = status == SALTUS_OK && pool->failed ? SALTUS_ERR_MEMORY : status;
  }
  const int registers =
      o->outputs.registers > o->events.registers ? o->outputs.registers : o->events.registers;
  const bool loads = b->bodies.named_results;
  o->registers = registers;
  o->input_count = def->model->input_count;
  o->mechanism = def->model->mechanism;
  o->first = def->model->coordinate_count;
  o->joint_count = loads ? b->bodies.joint_count : 0;
  o->nq = b->nq;
  o->nv = b->nv;
  const size_t known = loads ? (size_t)o->input_count + 6 * (size_t)o->joint_count : 0;
  const size_t values = ((size_t)registers + known) * sizeof(double);
  const size_t bounds = def->event_count > 0 ? bound_bytes(o, def->event_count) : 0;
  o->view = (saltus_observables){.output_count = def->output_count,
                                 .output_labels = labels,
                                 .event_count = def->event_count,
                                 .event_names = names,
                                 .directions = directions,
                                 .scratch = values > bounds ? values : bounds,
                                 .outputs_with = loads ? run_with : NULL,
                                 .outputs = run_outputs,
                                 .events = run_events,
                                 .event_errors = bound_events,
                                 .self = o};
  return status;
}

saltus_status saltus_formula_observer_create(const saltus_formula_observer_def* def,
                                             saltus_formula_observer** out) {
  assert(def != NULL && out != NULL && def->output_count >= 0 && def->event_count >= 0);
  *out = NULL;
  if (SALTUSI_RESERVED_CHECK(def, "saltus_formula_observer_def", def->model->log) != SALTUS_OK) {
    return SALTUS_ERR_RANGE;
  }
  saltusi_pool pool = saltusi_pool_over(def->model->allocator);
  saltus_formula_observer* o = SALTUSI_TAKE(&pool, saltus_formula_observer, 1);
  if (o == NULL) {
    return SALTUS_ERR_MEMORY;
  }
  o->pool = pool;
  saltusi_formula_builder b;
  saltus_status status = saltusi_formula_builder_start(
      &b, def->model, saltusi_formula_bodies_results(def->model->mechanism));
  status = status == SALTUS_OK ? build(&b, def, o) : status;
  saltusi_formula_builder_free(&b);
  if (status != SALTUS_OK) {
    saltus_formula_observer_destroy(o);
    return status;
  }
  *out = o;
  return SALTUS_OK;
}

void saltus_formula_observer_destroy(saltus_formula_observer* observer) {
  if (observer != NULL) {
    saltusi_pool pool = observer->pool;
    saltusi_pool_free(&pool);
  }
}

const saltus_observables* saltus_formula_observer_view(const saltus_formula_observer* observer) {
  assert(observer != NULL);
  return &observer->view;
}
