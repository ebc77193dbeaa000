/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * fit.c - parameters of a scene from measured motions, as a dict.
 */
#include "saltus/fit.h"
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { SCORES = 6 }; /* columns of the table of errors */

typedef struct fit_room {
  core_pairs overrides;
  saltus_fit* fit;
  saltus_fit_score* scores;
  saltus_fit_summary all, held_out;
  double* samples; /* [bootstrap x parameters] */
  int evaluate, folds, bootstrap;
  unsigned seed;
} fit_room;

static int put_number(PyObject* d, const char* name, double value) {
  return core_put(d, name, PyFloat_FromDouble(value));
}

static int put_array(const core_state* state, PyObject* d, const char* name, const double* x,
                     int count) {
  double* copy = calloc((size_t)count + 1, sizeof *copy);
  if (copy == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (count > 0) {
    memcpy(copy, x, (size_t)count * sizeof *copy);
  }
  return core_put(d, name, core_array_give(state, copy, count));
}

static PyObject* summary_object(const saltus_fit_summary* s) {
  return Py_BuildValue(
      "{s:i,s:i,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "experiments", s->experiments, "failed",
      s->failed, "window_position", s->window_position, "window_rotation", s->window_rotation,
      "position", s->position, "position_median", s->position_median, "rotation", s->rotation,
      "rotation_median", s->rotation_median, "face", s->face, "window_cpu", s->window_cpu);
}

static PyObject* names_object(const saltus_fit_view* v) {
  PyObject* list = PyTuple_New(v->parameters);
  for (int k = 0; list != NULL && k < v->parameters; k++) {
    PyObject* name = PyUnicode_FromString(v->names[k]);
    if (name == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyTuple_SetItem(list, k, name);
  }
  return list;
}

static PyObject* failures_object(const fit_room* room, int count) {
  PyObject* d = PyDict_New();
  for (int i = 0; d != NULL && i < count; i++) {
    const saltus_fit_score* s = &room->scores[i];
    if (s->reason[0] == '\0') {
      continue;
    }
    PyObject* id = PyFloat_FromDouble(s->id);
    PyObject* text = PyUnicode_DecodeUTF8(s->reason, (Py_ssize_t)strlen(s->reason), "replace");
    const int wrong = id == NULL || text == NULL || PyDict_SetItem(d, id, text) != 0;
    Py_XDECREF(id);
    Py_XDECREF(text);
    if (wrong) {
      Py_CLEAR(d);
    }
  }
  return d;
}

static int put_scores(const core_state* state, const fit_room* room, int count, PyObject* d) {
  double* table = calloc((size_t)count * SCORES + 1, sizeof *table);
  if (table == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (int i = 0; i < count; i++) {
    const saltus_fit_score* s = &room->scores[i];
    const double row[SCORES] = {s->id,       s->window_position, s->window_rotation,
                                s->position, s->rotation,        s->face ? 1.0 : 0.0};
    memcpy(table + (size_t)i * SCORES, row, sizeof row);
  }
  return core_put(d, "scores", core_array_give(state, table, (Py_ssize_t)count * SCORES));
}

static PyObject* answer_object(const core_state* state, const fit_room* room, bool stopped) {
  const saltus_fit_view* v = saltus_fit_get_view(room->fit);
  const int p = v->parameters;
  PyObject* d = PyDict_New();
  const bool good = d != NULL && core_put(d, "names", names_object(v)) == 0 &&
                    put_array(state, d, "values", v->values, p) == 0 &&
                    put_array(state, d, "covariance", v->covariance, p * p) == 0 &&
                    put_array(state, d, "weakest", v->weakest, p) == 0 &&
                    put_number(d, "factor", v->factor) == 0 &&
                    put_number(d, "loss", v->cost) == 0 &&
                    put_number(d, "condition", v->condition) == 0 &&
                    core_put(d, "iterations", PyLong_FromLong(v->iterations)) == 0 &&
                    core_put(d, "fallbacks", PyLong_FromLong(v->fallbacks)) == 0 &&
                    core_put(d, "runs", PyLong_FromLongLong(v->runs)) == 0 &&
                    core_put(d, "converged", PyBool_FromLong(v->converged)) == 0 &&
                    core_put(d, "stopped", PyBool_FromLong(stopped)) == 0 &&
                    core_put(d, "errors", summary_object(&room->all)) == 0 &&
                    core_put(d, "held_out", summary_object(&room->held_out)) == 0 &&
                    put_scores(state, room, v->experiments, d) == 0 &&
                    put_array(state, d, "samples", room->samples,
                              room->samples != NULL ? room->bootstrap * p : 0) == 0 &&
                    core_put(d, "failures", failures_object(room, v->experiments)) == 0;
  if (!good) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

static saltus_status compute(fit_room* room) {
  saltus_status status = room->evaluate ? SALTUS_OK : saltus_fit_execute(room->fit);
  if (status == SALTUS_OK && room->bootstrap > 0 && !room->evaluate) {
    const int p = saltus_fit_get_view(room->fit)->parameters;
    room->samples = calloc((size_t)room->bootstrap * (size_t)p + 1, sizeof *room->samples);
    status = room->samples != NULL
                 ? saltus_fit_bootstrap(room->fit, room->bootstrap, room->seed, room->samples)
                 : SALTUS_ERR_MEMORY;
  }
  if (status == SALTUS_OK && room->folds > 0) {
    status = saltus_fit_validate(room->fit, room->folds, room->seed, NULL, &room->held_out);
  }
  if (status == SALTUS_OK) {
    status = saltus_fit_evaluate(room->fit, room->scores, &room->all);
  }
  return status;
}

static PyObject* run(const core_state* state, saltus_fit_def* def, fit_room* room) {
  core_messages messages;
  def->log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_fit_create(def, &room->fit);
  if (status == SALTUS_OK) {
    room->scores =
        calloc((size_t)saltus_fit_get_view(room->fit)->experiments + 1, sizeof *room->scores);
    status = room->scores != NULL ? compute(room) : SALTUS_ERR_MEMORY;
  }
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK && (status != SALTUS_ERR_STOPPED || room->fit == NULL)) {
    return core_raise(state, status, &messages);
  }
  const int warned = core_warn(state, &messages);
  core_messages_free(&messages);
  return warned == 0 ? answer_object(state, room, status != SALTUS_OK) : NULL;
}

/* fit((path, text, overrides), (window, where, data), (evaluate, folds, bootstrap, seed, time_limit, threads), flag) */
PyObject* core_fit(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  saltus_fit_def def = {0};
  fit_room room = {.fit = NULL};
  PyObject *overrides, *flag, *answer = NULL;
  if (PyArg_ParseTuple(args, "(zzO)(zzz)(iiiIdi)O!", &def.path, &def.text, &overrides, &def.window,
                       &def.where, &def.data, &room.evaluate, &room.folds, &room.bootstrap,
                       &room.seed, &def.time_limit, &def.threads, (PyObject*)state->flag_type,
                       &flag) &&
      core_pairs_take(overrides, &room.overrides) == 0) {
    def.overrides = room.overrides.pairs;
    def.override_count = room.overrides.count;
    def.cancel = &((core_flag*)flag)->value;
    answer = run(state, &def, &room);
  }
  free(room.scores);
  free(room.samples);
  saltus_fit_destroy(room.fit);
  core_pairs_free(&room.overrides);
  return answer;
}
