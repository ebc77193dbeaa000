/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * optimize.c - parameters that minimise a measure of a scene, as a dict.
 */
#include "saltus/optimize.h"
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct optimize_room {
  core_texts variables, constraints, random;
  core_pairs overrides, options;
  saltus_run_def run;
  saltus_optimize* optimize;
} optimize_room;

static int put_array(const core_state* state, PyObject* d, const char* name, const double* x,
                     int count) {
  double* copy = calloc((size_t)count + 1, sizeof *copy);
  if (copy == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (x != NULL) {
    memcpy(copy, x, (size_t)count * sizeof *copy);
  }
  return core_put(d, name, core_array_give(state, copy, count));
}

static PyObject* answer_object(const core_state* state, const optimize_room* room, bool stopped) {
  const saltus_optimize_view* v = saltus_optimize_get_view(room->optimize);
  const int n = v->variables, m = v->functions;
  PyObject* d = PyDict_New();
  const bool good =
      d != NULL && core_put(d, "names", core_texts_object(v->names, n)) == 0 &&
      core_put(d, "texts", core_texts_object(v->texts, m)) == 0 &&
      put_array(state, d, "values", v->values, n) == 0 &&
      put_array(state, d, "results", v->results, m) == 0 &&
      put_array(state, d, "gradient", v->gradient, v->gradient != NULL ? m * n : 0) == 0 &&
      put_array(state, d, "bracket", v->bracket, 2) == 0 &&
      put_array(state, d, "history", v->history, v->evaluations * (n + m)) == 0 &&
      core_put(d, "method", core_text(v->method)) == 0 &&
      core_put(d, "note", core_text(v->note)) == 0 &&
      core_put(d, "runs", PyLong_FromLongLong(v->runs)) == 0 &&
      core_put(d, "feasible", PyBool_FromLong(v->feasible)) == 0 &&
      core_put(d, "converged", PyBool_FromLong(v->converged)) == 0 &&
      core_put(d, "stopped", PyBool_FromLong(stopped)) == 0;
  if (!good) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

static PyObject* search(const core_state* state, saltus_optimize_def* def, optimize_room* room) {
  core_messages messages;
  def->log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_optimize_create(def, &room->optimize);
  status = status == SALTUS_OK ? saltus_optimize_execute(room->optimize) : status;
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK && (status != SALTUS_ERR_STOPPED || room->optimize == NULL)) {
    return core_raise(state, status, &messages);
  }
  const int warned = core_warn(state, &messages);
  core_messages_free(&messages);
  return warned == 0 ? answer_object(state, room, status != SALTUS_OK) : NULL;
}

/* optimize((path, text, overrides), (scheme, options, method), (tol, step, until), (minimize, maximize, find), variables,
 *          constraints, random, (samples, sampling, seed, tolerance, evaluations, time_limit, threads), flag) */
PyObject* core_optimize(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  saltus_optimize_def def = saltus_optimize_def_default();
  optimize_room room = {.run = saltus_run_def_default()};
  PyObject *overrides, *options, *variables, *constraints, *random, *flag, *answer = NULL;
  unsigned long long seed;
  int sampling;
  if (PyArg_ParseTuple(args, "(zzO)(zOz)(ddd)(zzz)O!O!O!(LiKdidi)O!", &def.path, &def.text,
                       &overrides, &room.run.scheme, &options, &def.method, &room.run.tol,
                       &room.run.step, &room.run.until, &def.minimize, &def.maximize, &def.find,
                       (PyObject*)&PyTuple_Type, &variables, (PyObject*)&PyTuple_Type, &constraints,
                       (PyObject*)&PyTuple_Type, &random, &def.samples, &sampling, &seed,
                       &def.tolerance, &def.evaluations, &def.time_limit, &def.threads,
                       (PyObject*)state->flag_type, &flag) &&
      core_texts_take(variables, &room.variables) == 0 &&
      core_texts_take(constraints, &room.constraints) == 0 &&
      core_texts_take(random, &room.random) == 0 &&
      core_pairs_take(overrides, &room.overrides) == 0 &&
      core_pairs_take(options, &room.options) == 0) {
    room.run.options = room.options.pairs;
    room.run.option_count = room.options.count;
    def.run = &room.run;
    def.overrides = room.overrides.pairs;
    def.override_count = room.overrides.count;
    def.variables = room.variables.texts;
    def.variable_count = room.variables.count;
    def.constraints = room.constraints.texts;
    def.constraint_count = room.constraints.count;
    def.random = room.random.texts;
    def.random_count = room.random.count;
    def.sampling = (saltus_sampling)sampling;
    def.seed = seed;
    def.cancel = &((core_flag*)flag)->value;
    answer = search(state, &def, &room);
  }
  free((void*)room.variables.texts);
  free((void*)room.constraints.texts);
  free((void*)room.random.texts);
  core_pairs_free(&room.overrides);
  core_pairs_free(&room.options);
  saltus_optimize_destroy(room.optimize);
  return answer;
}
