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
                                .separate = separate != 0,
                                .visuals = true};
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

/* t, q and v [nv] or None of a scene; NULL after an exception. */
typedef struct scene_point {
  core_reals q, v;
  saltus_point at;
} scene_point;

static void point_free(scene_point* p) {
  core_reals_release(&p->q);
  core_reals_release(&p->v);
  free(p->at.scratch);
}

static bool point_take(const core_scene* self, double t, PyObject* q, PyObject* v, scene_point* p) {
  *p = (scene_point){0};
  if (self->scene == NULL) {
    PyErr_SetString(PyExc_TypeError, "a system of functions has no bodies");
    return false;
  }
  const saltus_dims* dims = &self->view.system->dims;
  if (core_reals_take(q, "q", dims->nq, &p->q) != 0 ||
      (v != Py_None && core_reals_take(v, "v", dims->nv, &p->v) != 0)) {
    point_free(p);
    return false;
  }
  p->at = (saltus_point){.t = t,
                         .q = p->q.data,
                         .v = v != Py_None ? p->v.data : NULL,
                         .scratch = calloc(dims->scratch + SALTUS_ALIGNMENT, 1)};
  if (p->at.scratch == NULL) {
    point_free(p);
    PyErr_NoMemory();
  }
  return p->at.scratch != NULL;
}

/* (M [nv x nv], F [nv]) */
static PyObject* scene_dynamics(PyObject* object, PyObject* args) {
  const core_scene* self = (core_scene*)object;
  PyObject *q, *v;
  double t;
  scene_point p;
  if (!PyArg_ParseTuple(args, "dOO", &t, &q, &v) || !point_take(self, t, q, v, &p)) {
    return NULL;
  }
  const saltus_system* sys = self->view.system;
  const size_t n = (size_t)sys->dims.nv;
  double *M = calloc(n * n + 1, sizeof *M), *F = calloc(n + 1, sizeof *F);
  if (M != NULL && F != NULL) {
    sys->ops->mass(sys->self, &p.at, M);
    sys->ops->force(sys->self, &p.at, F);
  }
  point_free(&p);
  if (M == NULL || F == NULL) {
    free(M);
    free(F);
    return PyErr_NoMemory();
  }
  PyObject* mass = core_array_give(state_of(object), M, (Py_ssize_t)(n * n));
  PyObject* force = core_array_give(state_of(object), F, (Py_ssize_t)n);
  if (mass == NULL || force == NULL) {
    Py_XDECREF(mass);
    Py_XDECREF(force);
    return NULL;
  }
  return Py_BuildValue("NN", mass, force);
}

/* Velocity of the origin of a frame and angular velocity, world axes, from velocities of the bodies. */
static void twist_of(const saltus_mechanism* m, const saltus_body_place* body, const double* w,
                     const double R[9], const double arm[3], double out[6]) {
  double spin[3] = {0.0, 0.0, 0.0};
  const bool plane = saltus_mechanism_sizes(m).dimension == 2;
  memset(out, 0, 6 * sizeof *out);
  if (body->v < 0) {
    return;
  }
  for (int i = 0; i < (plane ? 2 : 3); i++) {
    out[i] = w[body->v + i];
  }
  for (int i = 0; i < 3 && !plane; i++) {
    for (int k = 0; k < 3; k++) {
      spin[i] += R[3 * i + k] * w[body->v + 3 + k];
    }
  }
  spin[2] = plane ? w[body->v + 2] : spin[2];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] += spin[j] * arm[k] - spin[k] * arm[j];
    out[3 + i] = spin[i];
  }
}

/* Frame of a body or marker: position, axes (row major), then the Jacobian [6 x nv]. */
static PyObject* scene_frame(PyObject* object, PyObject* args) {
  const core_scene* self = (core_scene*)object;
  const char* name;
  PyObject* q;
  double t, at[3] = {0.0}, R[9] = {0.0}, twist[6];
  scene_point p;
  if (!PyArg_ParseTuple(args, "sdO", &name, &t, &q) || !point_take(self, t, q, Py_None, &p)) {
    return NULL;
  }
  const saltus_mechanism* m = self->view.mechanism;
  const int body = m != NULL ? saltus_mechanism_find_body(m, name) : -1;
  const int marker = m != NULL && body < 0 ? saltus_mechanism_find_marker(m, name) : -1;
  const int on = marker >= 0 ? saltus_mechanism_marker(m, marker).body : body;
  const size_t n = (size_t)self->view.system->dims.nv;
  const size_t inner = self->view.bodies != NULL ? (size_t)self->view.bodies->dims.nv : n;
  double *v = calloc(n + inner + 1, sizeof *v), *w = v != NULL ? v + n : NULL;
  double* out = calloc(12 + 6 * n, sizeof *out);
  if ((body < 0 && marker < 0) || v == NULL || out == NULL) {
    point_free(&p);
    free(v);
    free(out);
    return v == NULL || out == NULL
               ? PyErr_NoMemory()
               : PyErr_Format(PyExc_KeyError, "no body or marker is called \"%s\"", name);
  }
  if (marker >= 0) {
    saltus_mechanism_frame(m, marker, t, p.q.data, out, out + 3);
  } else {
    saltus_mechanism_pose(m, body, t, p.q.data, out, out + 3);
  }
  if (on >= 0) {
    saltus_mechanism_pose(m, on, t, p.q.data, at, R);
    const saltus_body_place place = saltus_mechanism_body(m, on);
    const double arm[3] = {out[0] - at[0], out[1] - at[1], out[2] - at[2]};
    for (size_t k = 0; k < n; k++) {
      v[k] = 1.0;
      if (self->view.tree != NULL) {
        saltus_tree_body_velocities(self->view.tree, p.q.data, v, w);
      } else {
        memcpy(w, v, inner * sizeof *w);
      }
      v[k] = 0.0;
      twist_of(m, &place, w, R, arm, twist);
      for (size_t i = 0; i < 6; i++) {
        out[12 + i * n + k] = twist[i];
      }
    }
  }
  point_free(&p);
  free(v);
  return core_array_give(state_of(object), out, (Py_ssize_t)(12 + 6 * n));
}

static PyMethodDef scene_methods[] = {
    {"dynamics", scene_dynamics, METH_VARARGS, "dynamics(t, q, v): mass matrix and forces."},
    {"frame", scene_frame, METH_VARARGS, "frame(name, t, q): position, axes, Jacobian."},
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
