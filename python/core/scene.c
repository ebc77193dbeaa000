/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * scene.c - a scene of the library as an object of Python.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static core_state* state_of(PyObject* self) {
  return PyType_GetModuleState(Py_TYPE(self));
}

static PyObject* scene_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  const core_state* state = PyType_GetModuleState(type);
  const char *path, *text;
  PyObject* overrides;
  int separate;
  if (keywords != NULL && PyDict_Size(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Scene takes no keywords");
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "zzOp", &path, &text, &overrides, &separate)) {
    return NULL;
  }
  if (path == NULL && text == NULL) {
    PyErr_SetString(PyExc_TypeError, "a scene needs a path or a text");
    return NULL;
  }
  core_pairs pairs;
  if (core_pairs_take(overrides, &pairs) != 0) {
    return NULL;
  }
  core_messages messages;
  const saltus_scene_def def = {.path = path != NULL ? path : "scene",
                                .text = text,
                                .overrides = pairs.pairs,
                                .override_count = pairs.count,
                                .log = core_messages_log(&messages),
                                .separate = separate != 0};
  saltus_scene* scene;
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_scene_create(&def, &scene);
  PyEval_RestoreThread(released);
  core_pairs_free(&pairs);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  core_scene* self = core_warn(state, &messages) == 0 ? (core_scene*)allocate(type, 0) : NULL;
  core_messages_free(&messages);
  if (self == NULL) {
    saltus_scene_destroy(scene);
    return NULL;
  }
  self->scene = scene;
  self->view = *saltus_scene_get_view(scene);
  return (PyObject*)self;
}

static void scene_free(PyObject* object) {
  core_scene* self = (core_scene*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  saltus_scene_destroy(self->scene);
  core_functions_free(self->functions);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

/* Functions of a system may refer to the owner of the system (reference cycle). */
static int scene_visit(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  return core_functions_visit(((core_scene*)object)->functions, visit, arg);
}

static int scene_clear(PyObject* object) {
  core_functions_clear(((core_scene*)object)->functions);
  return 0;
}

static PyObject* input_names(const saltus_scene_view* view) {
  PyObject* list = PyTuple_New(view->input_count);
  for (int i = 0; list != NULL && i < view->input_count; i++) {
    PyObject* name = core_text(view->input_names[i]);
    if (name == NULL || PyTuple_SetItem(list, i, name) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* Facts of a scene, except arrays and column names. */
static PyObject* scene_about(PyObject* object, PyObject* unused) {
  (void)unused;
  const saltus_scene_view* view = &((core_scene*)object)->view;
  const saltus_dims* dims = &view->system->dims;
  const saltus_observables* own = view->observables;
  bool changing = (view->system->traits & SALTUS_CHANGING_CONTACTS) != 0;
  PyObject* d = PyDict_New();
  bool good = d != NULL && core_put(d, "name", core_text(view->name)) == 0 &&
              core_put(d, "description", core_text(view->description)) == 0 &&
              core_put(d, "text", core_text(view->text)) == 0 &&
              core_put(d, "nq", PyLong_FromLong(dims->nq)) == 0 &&
              core_put(d, "nv", PyLong_FromLong(dims->nv)) == 0 &&
              core_put(d, "nc", PyLong_FromLong(dims->nc)) == 0 &&
              core_put(d, "nj", PyLong_FromLong(dims->nj)) == 0 &&
              core_put(d, "changing", PyBool_FromLong(changing)) == 0 &&
              core_put(d, "start", PyFloat_FromDouble(view->start)) == 0 &&
              core_put(d, "until", PyFloat_FromDouble(view->until)) == 0 &&
              core_put(d, "step", PyFloat_FromDouble(view->step)) == 0 &&
              core_put(d, "tol", PyFloat_FromDouble(view->tol)) == 0 &&
              core_put(d, "scheme", core_text(view->scheme)) == 0 &&
              core_put(d, "reference", core_text(view->reference)) == 0 &&
              core_put(d, "inputs", input_names(view)) == 0 &&
              core_put(d, "switches", PyBool_FromLong(own != NULL && own->switching != NULL)) == 0;
  if (!good) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

/* The state at the start: (q0, v0). */
static PyObject* scene_start(PyObject* object, PyObject* unused) {
  (void)unused;
  const core_state* state = state_of(object);
  const saltus_scene_view* view = &((core_scene*)object)->view;
  PyObject* q = core_array_copy(state, view->q0, view->system->dims.nq);
  PyObject* v = core_array_copy(state, view->v0, view->system->dims.nv);
  if (q == NULL || v == NULL) {
    Py_XDECREF(q);
    Py_XDECREF(v);
    return NULL;
  }
  return Py_BuildValue("NN", q, v);
}

static PyObject* scene_set_input(PyObject* object, PyObject* args) {
  core_scene* self = (core_scene*)object;
  const char* name;
  double value;
  if (!PyArg_ParseTuple(args, "sd", &name, &value)) {
    return NULL;
  }
  saltus_status status =
      self->scene != NULL ? saltus_scene_set_input(self->scene, name, value) : SALTUS_ERR_NAME;
  if (status == SALTUS_ERR_NAME) {
    PyErr_Format(PyExc_KeyError, "the scene has no input \"%s\"", name);
    return NULL;
  }
  if (status != SALTUS_OK) {
    PyErr_Format(PyExc_ValueError, "input \"%s\" has to be finite", name);
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyObject* scene_input(PyObject* object, PyObject* args) {
  core_scene* self = (core_scene*)object;
  const char* name;
  double value;
  if (!PyArg_ParseTuple(args, "s", &name)) {
    return NULL;
  }
  if (self->scene == NULL || saltus_scene_input(self->scene, name, &value) != SALTUS_OK) {
    PyErr_Format(PyExc_KeyError, "the scene has no input \"%s\"", name);
    return NULL;
  }
  return PyFloat_FromDouble(value);
}

static PyObject* scene_labels(PyObject* object, PyObject* args) {
  return core_labels(&((core_scene*)object)->view, NULL, args);
}

static PyMethodDef scene_methods[] = {
    {"labels", scene_labels, METH_VARARGS, "labels(kind): names and units of columns."},
    {"about", scene_about, METH_NOARGS, "What the scene says, as a dict."},
    {"start", scene_start, METH_NOARGS, "The state at the start, two arrays."},
    {"set_input", scene_set_input, METH_VARARGS, "set_input(name, value)"},
    {"input", scene_input, METH_VARARGS, "input(name)"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot scene_slots[] = {
    {Py_tp_new, (void*)scene_new},
    {Py_tp_dealloc, (void*)scene_free},
    {Py_tp_traverse, (void*)scene_visit},
    {Py_tp_clear, (void*)scene_clear},
    {Py_tp_methods, scene_methods},
    {Py_tp_doc, (void*)"Scene(path, text, overrides, separate): a scene that was read."},
    {0, NULL}};

static PyType_Spec scene_spec = {.name = "saltus._core.Scene",
                                 .basicsize = sizeof(core_scene),
                                 .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 .slots = scene_slots};

int core_add_scene(PyObject* module, core_state* state) {
  state->scene_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &scene_spec, NULL);
  return state->scene_type != NULL ? PyModule_AddType(module, state->scene_type) : -1;
}
