/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * system.c - creates a system of functions from Python arguments.
 */
#include "functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void core_functions_free(core_functions* f) {
  if (f == NULL) {
    return;
  }
  for (int i = 0; i < CORE_FUNCTIONS; i++) {
    Py_XDECREF(f->function[i].object);
    free(f->function[i].constant);
  }
  for (int i = 0; i < f->text_count; i++) {
    free(f->texts[i]);
  }
  free(f->texts);
  free(f->q0);
  free(f->laws);
  free(f->q_labels);
  Py_XDECREF(f->raised);
  Py_XDECREF(f->keeps);
  free(f);
}

int core_functions_visit(core_functions* f, visitproc visit, void* arg) {
  for (int i = 0; f != NULL && i < CORE_FUNCTIONS; i++) {
    Py_VISIT(f->function[i].object);
  }
  if (f != NULL) {
    Py_VISIT(f->raised);
    Py_VISIT(f->keeps);
  }
  return 0;
}

/* `raised` stays, since deleted functions are reported there. */
void core_functions_clear(core_functions* f) {
  for (int i = 0; f != NULL && i < CORE_FUNCTIONS; i++) {
    Py_CLEAR(f->function[i].object);
  }
}

/* A function: None, an int (address), a callable object, or constant doubles. */
static int take_function(core_functions* f, int kind, PyObject* given, size_t count) {
  core_function* to = &f->function[kind];
  if (given == Py_None) {
    return 0;
  }
  to->count = count;
  if (PyLong_Check(given)) {
    void* address = PyLong_AsVoidPtr(given);
    if (address == NULL) {
      if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%s has the address 0", core_function_name(kind));
      }
      return -1;
    }
    memcpy(&to->address, &address, sizeof to->address);
    return 0;
  }
  if (PyCallable_Check(given)) {
    Py_INCREF(given);
    to->object = given;
    return 0;
  }
  core_reals reals;
  if (core_reals_take(given, core_function_name(kind), (Py_ssize_t)count, &reals) != 0) {
    return -1;
  }
  to->constant = malloc((count + 1) * sizeof(double));
  if (to->constant != NULL) {
    memcpy(to->constant, reals.data, count * sizeof(double));
  }
  core_reals_release(&reals);
  return to->constant != NULL ? 0 : (PyErr_NoMemory(), -1);
}

static int take_functions(core_functions* f, PyObject* given) {
  if (!PyTuple_Check(given) || PyTuple_Size(given) != CORE_FUNCTIONS) {
    PyErr_SetString(PyExc_TypeError, "functions are needed");
    return -1;
  }
  size_t nv = (size_t)f->system.dims.nv, nc = (size_t)f->system.dims.nc,
         nj = (size_t)f->system.dims.nj, rows = nc * f->rows;
  const size_t counts[CORE_FUNCTIONS] = {nv * nv, nv, nc, rows * nv, rows, rows,    nj,
                                         nj * nv, nj, nj, 1,         1,    nv * nv, nv * nv};
  for (int i = 0; i < CORE_FUNCTIONS; i++) {
    if (take_function(f, i, PyTuple_GetItem(given, i), counts[i]) != 0) {
      return -1;
    }
  }
  bool whole = f->function[CORE_MASS].count > 0 && f->function[CORE_FORCE].count > 0 &&
               (f->function[CORE_GAP].count > 0) == (nc > 0) &&
               (f->function[CORE_JOINT].count > 0) == (nj > 0);
  if (!whole) {
    PyErr_SetString(
        PyExc_ValueError,
        "a system needs mass and force, gaps of its contacts and joints of its joint rows");
    return -1;
  }
  return 0;
}

static const char* keep_text(core_functions* f, PyObject* text) {
  const char* from = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  char* copy = from != NULL ? malloc(strlen(from) + 1) : NULL;
  if (copy == NULL) {
    return NULL;
  }
  memcpy(copy, from, strlen(from) + 1);
  f->texts[f->text_count++] = copy;
  return copy;
}

/* Names of coordinates, velocities and contacts. */
static int take_names(core_functions* f, PyObject* names) {
  int nv = f->system.dims.nv, nc = f->system.dims.nc, all = 2 * nv + nc;
  if (!PyTuple_Check(names) || PyTuple_Size(names) != all) {
    PyErr_SetString(PyExc_ValueError,
                    "a name for every coordinate, velocity and contact is needed");
    return -1;
  }
  f->texts = calloc((size_t)all + 1, sizeof *f->texts);
  f->q_labels = calloc(2 * (size_t)nv + 1, sizeof *f->q_labels);
  if (f->texts == NULL || f->q_labels == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  f->v_labels = f->q_labels + nv;
  for (int i = 0; i < all; i++) {
    const char* name = keep_text(f, PyTuple_GetItem(names, i));
    if (name == NULL) {
      return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    }
    if (i < 2 * nv) {
      f->q_labels[i] = (saltus_label){name, ""};
    } else {
      f->laws[i - 2 * nv].name = name;
    }
  }
  return 0;
}

/* Restitution, friction and tangential restitution of each contact. */
static int take_laws(core_functions* f, PyObject* numbers, int tangents) {
  int nc = f->system.dims.nc;
  core_reals reals;
  f->laws = calloc((size_t)nc + 1, sizeof *f->laws);
  if (f->laws == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (core_reals_take(numbers, "laws", 3 * (Py_ssize_t)nc, &reals) != 0) {
    return -1;
  }
  for (int i = 0; i < nc; i++) {
    f->laws[i].tangents = tangents;
    f->laws[i].e_N = reals.data[3 * i];
    f->laws[i].mu = reals.data[3 * i + 1];
    f->laws[i].e_T = reals.data[3 * i + 2];
  }
  core_reals_release(&reals);
  return 0;
}

static int take_start(core_functions* f, PyObject* q, PyObject* v) {
  core_reals q0, v0;
  size_t nv = (size_t)f->system.dims.nv;
  f->q0 = calloc(2 * nv + 1, sizeof *f->q0);
  if (f->q0 == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  f->v0 = f->q0 + nv;
  if (core_reals_take(q, "q0", (Py_ssize_t)nv, &q0) != 0) {
    return -1;
  }
  memcpy(f->q0, q0.data, nv * sizeof(double));
  core_reals_release(&q0);
  if (core_reals_take(v, "v0", (Py_ssize_t)nv, &v0) != 0) {
    return -1;
  }
  memcpy(f->v0, v0.data, nv * sizeof(double));
  core_reals_release(&v0);
  return 0;
}

static void finish(core_functions* f) {
  saltus_system* s = &f->system;
  core_functions_ops(f);
  s->ops = &f->ops;
  s->self = f;
  s->dims.scratch = core_functions_scratch(f);
  s->laws = f->laws;
  s->law_count = s->dims.nc;
  s->q_labels = f->q_labels;
  s->v_labels = f->v_labels;
  s->traits = f->function[CORE_MASS].constant != NULL ? SALTUS_CONSTANT_MASS : 0U;
  bool constant = f->function[CORE_ROWS].constant != NULL && f->function[CORE_DRIFT].count == 0;
  s->traits |= constant || s->dims.nc == 0 ? SALTUS_CONSTANT_NORMALS : 0U;
}

/* system((nv, nc, nj, tangents), functions, laws, names, q0, v0, keeps): a Scene */
PyObject* core_system(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  int nv, nc, nj, tangents;
  PyObject *functions, *laws, *names, *q0, *v0, *keeps;
  if (!PyArg_ParseTuple(args, "(iiii)OOOOOO", &nv, &nc, &nj, &tangents, &functions, &laws, &names,
                        &q0, &v0, &keeps)) {
    return NULL;
  }
  if (nv < 1 || nv > 100000 || nc < 0 || nc > 100000 || nj < 0 || nj > 100000 || tangents < 0 ||
      tangents > 2) {
    PyErr_SetString(PyExc_ValueError, "sizes of the system are out of range");
    return NULL;
  }
  core_functions* f = calloc(1, sizeof *f);
  if (f == NULL) {
    return PyErr_NoMemory();
  }
  f->state = state;
  f->rows = 1 + (size_t)tangents;
  f->system.dims = (saltus_dims){.nq = nv, .nv = nv, .nj = nj, .nc = nc};
  f->raised = PyDict_New();
  Py_INCREF(keeps);
  f->keeps = keeps;
  core_messages messages = {0};
  bool good = f->raised != NULL && take_functions(f, functions) == 0 &&
              take_laws(f, laws, tangents) == 0 && take_names(f, names) == 0 &&
              take_start(f, q0, v0) == 0;
  if (good) {
    finish(f);
    saltus_status status = saltus_system_validate(&f->system, core_messages_log(&messages));
    good = status == SALTUS_OK;
    if (!good) {
      core_raise(state, status, &messages);
    }
  }
  core_messages_free(&messages);
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->scene_type, Py_tp_alloc);
  core_scene* scene = good ? (core_scene*)allocate(state->scene_type, 0) : NULL;
  if (scene == NULL) {
    core_functions_free(f);
    return NULL;
  }
  scene->functions = f;
  scene->view = saltus_run_system(&f->system, f->q0, f->v0);
  return (PyObject*)scene;
}
