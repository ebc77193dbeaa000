/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sensitivity.c - derivatives of runs of scenes.
 */
#include "core.h"

#include <stdlib.h>

/* Names as texts that live as long as the sequence; NULL with an exception. */
static const char** take_names(PyObject* sequence, Py_ssize_t* count) {
  *count = PySequence_Size(sequence);
  if (*count < 1) {
    if (*count == 0) {
      PyErr_SetString(PyExc_ValueError, "no parameter or start value is named");
    }
    return NULL;
  }
  const char** names = calloc((size_t)*count, sizeof *names);
  if (names == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  for (Py_ssize_t i = 0; i < *count; i++) {
    PyObject* item = PySequence_GetItem(sequence, i);
    names[i] = item != NULL ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
    Py_XDECREF(item); /* the sequence holds it */
    if (names[i] == NULL) {
      free((void*)names);
      return NULL;
    }
  }
  return names;
}

static const char* word_of(saltus_derivative derivative) {
  static const char* const words[] = {"exists", "grazing", "simultaneous", "limit"};
  return words[derivative];
}

/* Name of a function of the scene, of the features of a contact, or of its law. */
static PyObject* name_of(const saltus_scene_view* scene, const saltus_event* e) {
  const saltus_system* sys = scene->system;
  char features[96] = "";
  if (saltus_event_is_user_defined(e->kind)) {
    return PyUnicode_FromString(scene->observables->event_names[e->contact]);
  }
  if (sys->ops->contact_text != NULL) {
    sys->ops->contact_text(sys->self, e->identity, features, sizeof features);
  }
  const char* name = features[0] != '\0' ? features : sys->laws[e->law].name;
  return PyUnicode_FromString(name != NULL ? name : "");
}

/* [(kind, name, t, derivatives of t, whether it exists)]. */
static PyObject* events_of(const core_state* state, const saltus_scene_view* scene,
                           const saltus_sensitivity_view* v, int count) {
  PyObject* list = PyList_New((Py_ssize_t)v->event_count);
  for (long long i = 0; list != NULL && i < v->event_count; i++) {
    const saltus_sensitive_event* e = &v->events[i];
    PyObject* item =
        Py_BuildValue("sNdNs", saltus_event_kind_name(e->event.kind), name_of(scene, &e->event),
                      e->event.t, core_array_copy(state, e->dt, count), word_of(e->derivative));
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* Integrals and extremes of outputs; None where there are none. */
static int put_measures(const core_state* state, PyObject* dict, const saltus_sensitivity_view* v,
                        int count) {
  const struct {
    const char* name;
    const double* data;
    int rows;
  } all[] = {{"integrals", v->integrals, 1 + count},
             {"highest", v->highest, 2 + count},
             {"lowest", v->lowest, 2 + count}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    PyObject* value = Py_None;
    if (all[i].data != NULL) {
      value = core_array_copy(state, all[i].data, (Py_ssize_t)all[i].rows * v->output_count);
    } else {
      Py_INCREF(value);
    }
    if (core_put(dict, all[i].name, value) != 0) {
      return -1;
    }
  }
  return 0;
}

static PyObject* answer(const core_state* state, const saltus_sensitivity_view* v,
                        const saltus_scene_view* scene, int count, Py_ssize_t times) {
  const saltus_dims* d = &scene->system->dims;
  const Py_ssize_t record = (Py_ssize_t)(1 + count) * (d->nq + d->nv);
  PyObject* dict = PyDict_New();
  const bool good =
      dict != NULL && core_put(dict, "t", PyFloat_FromDouble(v->t)) == 0 &&
      core_put(dict, "q", core_array_copy(state, v->q, d->nq)) == 0 &&
      core_put(dict, "v", core_array_copy(state, v->v, d->nv)) == 0 &&
      core_put(dict, "dq", core_array_copy(state, v->dq, (Py_ssize_t)count * d->nq)) == 0 &&
      core_put(dict, "dv", core_array_copy(state, v->dv, (Py_ssize_t)count * d->nv)) == 0 &&
      core_put(dict, "outputs", core_array_copy(state, v->outputs, v->output_count)) == 0 &&
      core_put(dict, "doutputs",
               core_array_copy(state, v->doutputs, (Py_ssize_t)count * v->output_count)) == 0 &&
      core_put(dict, "records", core_array_copy(state, v->records, times * record)) == 0 &&
      put_measures(state, dict, v, count) == 0 &&
      core_put(dict, "events", events_of(state, scene, v, count)) == 0 &&
      core_put(dict, "derivative", core_text(word_of(v->derivative))) == 0 &&
      core_put(dict, "derivative_t", PyFloat_FromDouble(v->derivative_t)) == 0;
  if (!good) {
    Py_XDECREF(dict);
    return NULL;
  }
  return dict;
}

/* sensitivity(scene, names, until, tol, times, flag): a dictionary of numbers and arrays. */
PyObject* core_sensitivity(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  PyObject *object, *names_object, *flag;
  double until, tol;
  Py_buffer times;
  if (!PyArg_ParseTuple(args, "O!O!ddy*O!", state->scene_type, &object, &PyTuple_Type,
                        &names_object, &until, &tol, &times, state->flag_type, &flag)) {
    return NULL;
  }
  core_scene* scene = (core_scene*)object;
  if (scene->scene == NULL) {
    PyErr_SetString(PyExc_TypeError, "sensitivities are of scenes, not of systems of functions");
    PyBuffer_Release(&times);
    return NULL;
  }
  Py_ssize_t count = 0;
  const char** names = take_names(names_object, &count);
  if (names == NULL) {
    PyBuffer_Release(&times);
    return NULL;
  }
  const Py_ssize_t time_count = times.len / (Py_ssize_t)sizeof(double);
  core_messages messages;
  const saltus_log log = core_messages_log(&messages);
  saltus_scene_directions* directions = NULL;
  saltus_sensitivity* s = NULL;
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status =
      saltus_scene_directions_create(scene->scene, names, (int)count, log, &directions);
  if (status == SALTUS_OK) {
    saltus_sensitivity_def def = saltus_sensitivity_def_default();
    def.system = scene->view.system;
    def.t0 = scene->view.start;
    def.q0 = scene->view.q0;
    def.v0 = scene->view.v0;
    def.until = until;
    def.tol = tol;
    def.directions = saltus_scene_directions_get_view(directions);
    def.direction_count = (int)count;
    def.observables = scene->view.observables;
    def.changes = scene->view.input_changes;
    def.times = times.buf;
    def.time_count = time_count;
    def.cancel = &((core_flag*)flag)->value;
    def.log = log;
    status = saltus_sensitivity_create(&def, &s);
  }
  PyEval_RestoreThread(released);
  PyObject* result = NULL;
  if (status != SALTUS_OK) {
    core_raise(state, status, &messages);
  } else if (core_warn(state, &messages) == 0) {
    result = answer(state, saltus_sensitivity_get_view(s), &scene->view, (int)count, time_count);
  }
  PyBuffer_Release(&times);
  core_messages_free(&messages);
  saltus_sensitivity_destroy(s);
  saltus_scene_directions_destroy(directions);
  free((void*)names);
  return result;
}
