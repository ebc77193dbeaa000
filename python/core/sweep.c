/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sweep.c - parameter studies of a scene: axes, measures, table of results.
 */
#include "core.h"

#include <limits.h>
#include <stdlib.h>

enum { MOST_RUNS = 10000000 }; /* of a table in memory; the program writes larger ones to files */

/* Everything that a sweep needs while it is computed. */
typedef struct sweep_room {
  core_texts axes, measures;
  core_pairs overrides, options;
  saltus_run_def run;
  saltus_sweep* sweep;
  saltus_sweep_rows rows;
  long long* runs;
} sweep_room;

int core_texts_take(PyObject* tuple, core_texts* t) {
  Py_ssize_t count = PyTuple_Size(tuple), size;
  if (count < 0 || count > 10000) {
    PyErr_SetString(PyExc_ValueError, "too many texts");
    return -1;
  }
  t->count = (int)count;
  t->texts = calloc((size_t)count + 1, sizeof *t->texts);
  if (t->texts == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (int i = 0; i < t->count; i++) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    t->texts[i] = item != NULL ? PyUnicode_AsUTF8AndSize(item, &size) : NULL;
    if (t->texts[i] == NULL) {
      return -1;
    }
  }
  return 0;
}

static void free_room(sweep_room* room) {
  free((void*)room->axes.texts);
  free((void*)room->measures.texts);
  core_pairs_free(&room->overrides);
  core_pairs_free(&room->options);
  saltus_sweep_destroy(room->sweep);
  free(room->rows.values);
  free(room->rows.statuses);
  free((void*)room->rows.reasons);
  free(room->rows.done);
  free(room->runs);
}

/* Rows for all runs. */
static int take_rows(const saltus_sweep_view* view, sweep_room* room) {
  if (view->runs > MOST_RUNS) {
    PyErr_Format(PyExc_ValueError, "%lld runs are too many for a table in memory: saltus sweep",
                 view->runs);
    return -1;
  }
  size_t count = (size_t)view->runs, width = (size_t)view->axes + (size_t)view->measures;
  room->runs = calloc(count, sizeof *room->runs);
  room->rows = (saltus_sweep_rows){.values = calloc(count * width + 1, sizeof(double)),
                                   .statuses = calloc(count, sizeof(int)),
                                   .reasons = calloc(count, SALTUS_SWEEP_REASON),
                                   .done = calloc(count, sizeof(bool))};
  const saltus_sweep_rows* r = &room->rows;
  if (room->runs == NULL || r->values == NULL || r->statuses == NULL || r->reasons == NULL ||
      r->done == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (size_t i = 0; i < count; i++) {
    room->runs[i] = (long long)i;
  }
  return 0;
}

PyObject* core_texts_object(const char* const* texts, int count) {
  PyObject* list = PyList_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    PyObject* item = core_text(texts[i]);
    if (item == NULL || PyList_SetItem(list, i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* (status, reason) of every run that failed, by its number */
static PyObject* failures_object(const sweep_room* room, long long count) {
  PyObject* failures = PyDict_New();
  for (long long i = 0; failures != NULL && i < count; i++) {
    if (room->rows.statuses[i] == SALTUS_OK || !room->rows.done[i]) {
      continue;
    }
    PyObject* key = PyLong_FromLongLong(i);
    PyObject* value = Py_BuildValue("iN", room->rows.statuses[i], core_text(room->rows.reasons[i]));
    if (key == NULL || value == NULL || PyDict_SetItem(failures, key, value) != 0) {
      Py_CLEAR(failures);
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return failures;
}

/* The table takes over the values. */
static PyObject* table_object(const core_state* state, sweep_room* room, bool stopped) {
  const saltus_sweep_view* view = saltus_sweep_get_view(room->sweep);
  const int width = view->axes + view->measures;
  PyObject* values = core_array_give(state, room->rows.values, (Py_ssize_t)view->runs * width);
  room->rows.values = NULL;
  PyObject* d = values != NULL ? PyDict_New() : NULL;
  bool good = d != NULL && core_put(d, "values", values) == 0 &&
              core_put(d, "columns", core_texts_object(view->columns, width)) == 0 &&
              core_put(d, "axes", PyLong_FromLong(view->axes)) == 0 &&
              core_put(d, "grid", PyLong_FromLongLong(view->grid)) == 0 &&
              core_put(d, "samples", PyLong_FromLongLong(view->samples)) == 0 &&
              core_put(d, "done",
                       PyBytes_FromStringAndSize((const char*)room->rows.done,
                                                 (Py_ssize_t)view->runs)) == 0 &&
              core_put(d, "failures", failures_object(room, view->runs)) == 0 &&
              core_put(d, "stopped", PyBool_FromLong(stopped)) == 0;
  if (d == NULL) {
    Py_XDECREF(values);
  }
  if (!good) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

static int read_args(const core_state* state, PyObject* args, saltus_sweep_def* def,
                     sweep_room* room) {
  PyObject *overrides, *options, *axes, *measures, *flag;
  int sampling;
  unsigned long long seed;
  saltus_run_def* run = &room->run;
  if (!PyArg_ParseTuple(args, "(zzO)(zO)(ddddd)O!O!(LiKdizz)O!", &def->path, &def->text, &overrides,
                        &run->scheme, &options, &run->tol, &run->rtol, &run->atol, &run->step,
                        &run->until, (PyObject*)&PyTuple_Type, &axes, (PyObject*)&PyTuple_Type,
                        &measures, &def->samples, &sampling, &seed, &def->time_limit, &def->threads,
                        &def->backend, &def->devices, (PyObject*)state->flag_type, &flag)) {
    return -1;
  }
  if ((def->path == NULL && def->text == NULL) || sampling < 0 || sampling > 2) {
    PyErr_SetString(PyExc_ValueError, "a sweep needs a scene and a sampling");
    return -1;
  }
  def->sampling = (saltus_sampling)sampling;
  def->seed = seed;
  def->path = def->path != NULL ? def->path : "scene";
  def->cancel = &((core_flag*)flag)->value;
  return core_texts_take(axes, &room->axes) == 0 &&
                 core_texts_take(measures, &room->measures) == 0 &&
                 core_pairs_take(overrides, &room->overrides) == 0 &&
                 core_pairs_take(options, &room->options) == 0
             ? 0
             : -1;
}

static PyObject* compute(const core_state* state, saltus_sweep_def* def, sweep_room* room) {
  core_messages messages;
  def->log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_sweep_create(def, &room->sweep);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  const saltus_sweep_view* view = saltus_sweep_get_view(room->sweep);
  if (take_rows(view, room) != 0) {
    core_messages_free(&messages);
    return NULL;
  }
  released = PyEval_SaveThread();
  status = saltus_sweep_compute(room->sweep, room->runs, (int)view->runs, &room->rows);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK && status != SALTUS_ERR_STOPPED) {
    return core_raise(state, status, &messages);
  }
  int warned = core_warn(state, &messages);
  core_messages_free(&messages);
  return warned == 0 ? table_object(state, room, status != SALTUS_OK) : NULL;
}

/* sweep((path, text, overrides), (scheme, options), (tol, rtol, atol, step, until), axes, measures,
 *       (samples, sampling, seed, time_limit, threads, backend, devices), flag) */
PyObject* core_sweep(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  saltus_sweep_def def = saltus_sweep_def_default();
  sweep_room room = {.run = saltus_run_def_default()};
  PyObject* answer = NULL;
  if (read_args(state, args, &def, &room) == 0) {
    room.run.options = room.options.pairs;
    room.run.option_count = room.options.count;
    def.run = &room.run;
    def.overrides = room.overrides.pairs;
    def.override_count = room.overrides.count;
    def.axes = room.axes.texts;
    def.axis_count = room.axes.count;
    def.measures = room.measures.texts;
    def.measure_count = room.measures.count;
    answer = compute(state, &def, &room);
  }
  free_room(&room);
  return answer;
}
