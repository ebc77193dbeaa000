/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * arrays.c - memory of the library as NumPy arrays through the buffer protocol, without copies and without headers of
 * NumPy. An array holds a reference to the owner of its memory. Also the reverse: buffers of callers as doubles.
 */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct array_object {
  PyObject_HEAD PyObject* owner; /* NULL: the array owns its memory */
  void* data;
  char format[2];
  int rank;
  Py_ssize_t size[3], stride[3], bytes;
} array_object;

static void array_free(PyObject* object) {
  array_object* self = (array_object*)object;
  PyTypeObject* type = Py_TYPE(object);
  if (self->owner == NULL) {
    free(self->data);
  }
  Py_XDECREF(self->owner);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static Py_ssize_t size_of(char format) {
  return format == 'B' ? 1 : format == 'i' ? 4 : 8;
}

static int array_buffer(PyObject* object, Py_buffer* view, int flags) {
  array_object* self = (array_object*)object;
  if ((flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, "results are read-only; copy them to change them");
    view->obj = NULL;
    return -1;
  }
  Py_INCREF(object);
  *view = (Py_buffer){.buf = self->data,
                      .obj = object,
                      .len = self->bytes,
                      .itemsize = size_of(self->format[0]),
                      .readonly = 1,
                      .ndim = self->rank,
                      .format = (flags & PyBUF_FORMAT) != 0 ? self->format : NULL,
                      .shape = self->size,
                      .strides = self->stride};
  return 0;
}

static PyType_Slot array_slots[] = {{Py_tp_dealloc, (void*)array_free},
                                    {Py_bf_getbuffer, (void*)array_buffer},
                                    {Py_tp_doc, (void*)"Memory of a result, read-only."},
                                    {0, NULL}};

static PyType_Spec array_spec = {
    .name = "saltus._core.Memory",
    .basicsize = sizeof(array_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = array_slots,
};

static PyObject* make_array(const core_state* state, PyObject* owner, void* data,
                            core_shape shape) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->array_type, Py_tp_alloc);
  array_object* self = (array_object*)allocate(state->array_type, 0);
  if (self == NULL) {
    return NULL;
  }
  Py_XINCREF(owner);
  self->owner = owner;
  self->data = data;
  self->format[0] = shape.format;
  self->rank = shape.rank;
  Py_ssize_t stride = size_of(shape.format);
  for (int k = shape.rank - 1; k >= 0; k--) {
    self->size[k] = shape.size[k];
    self->stride[k] = stride;
    stride *= shape.size[k];
  }
  self->bytes = stride;
  return (PyObject*)self;
}

PyObject* core_array(const core_state* state, PyObject* owner, const void* data, core_shape shape) {
  static const double nothing = 0.0; /* an array without numbers still has an address */
  return make_array(state, owner,
                    data != NULL ? (void*)(uintptr_t)data : (void*)(uintptr_t)&nothing, shape);
}

PyObject* core_array_give(const core_state* state, double* data, Py_ssize_t count) {
  PyObject* array =
      make_array(state, NULL, data, (core_shape){.format = 'd', .rank = 1, .size = {count}});
  if (array == NULL) {
    free(data);
  }
  return array;
}

PyObject* core_array_copy(const core_state* state, const double* data, Py_ssize_t count) {
  size_t bytes = (size_t)count * sizeof *data;
  double* copy = malloc(bytes > 0 ? bytes : 1);
  if (copy == NULL) {
    return PyErr_NoMemory();
  }
  if (bytes > 0) {
    memcpy(copy, data, bytes);
  }
  return core_array_give(state, copy, count);
}

int core_reals_take(PyObject* object, const char* name, Py_ssize_t count, core_reals* reals) {
  *reals = (core_reals){0};
  if (PyObject_GetBuffer(object, &reals->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    return -1;
  }
  const char* format = reals->buffer.format;
  if (format == NULL || strcmp(format, "d") != 0 || reals->buffer.itemsize != 8) {
    PyErr_Format(PyExc_TypeError, "%s: an array of float64 is needed", name);
    PyBuffer_Release(&reals->buffer);
    return -1;
  }
  reals->held = 1;
  reals->data = reals->buffer.buf;
  reals->count = reals->buffer.len / 8;
  if (count >= 0 && reals->count != count) {
    PyErr_Format(PyExc_ValueError, "%s has %zd numbers, %zd are needed", name, reals->count, count);
    core_reals_release(reals);
    return -1;
  }
  return 0;
}

int core_ints_take(PyObject* object, const char* name, Py_ssize_t count, core_ints* ints) {
  *ints = (core_ints){0};
  if (PyObject_GetBuffer(object, &ints->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    return -1;
  }
  const char* format = ints->buffer.format;
  Py_ssize_t there = ints->buffer.len / 4;
  bool fits = format != NULL && strcmp(format, "i") == 0 && ints->buffer.itemsize == 4;
  if (!fits || (count >= 0 && there != count)) {
    PyErr_Format(PyExc_ValueError, "%s: an array of %zd int32 is needed", name, count);
    PyBuffer_Release(&ints->buffer);
    return -1;
  }
  ints->held = 1;
  ints->data = ints->buffer.buf;
  ints->count = there;
  return 0;
}

void core_ints_release(core_ints* ints) {
  if (ints->held) {
    PyBuffer_Release(&ints->buffer);
  }
  *ints = (core_ints){0};
}

void core_reals_release(core_reals* reals) {
  if (reals->held) {
    PyBuffer_Release(&reals->buffer);
  }
  *reals = (core_reals){0};
}

static PyObject* flag_set(PyObject* object, PyObject* unused) {
  (void)unused;
  ((core_flag*)object)->value = 1;
  Py_RETURN_NONE;
}

static PyMethodDef flag_methods[] = {
    {"set", flag_set, METH_NOARGS, "Stops the runs that look at this flag."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot flag_slots[] = {
    {Py_tp_methods, flag_methods}, {Py_tp_doc, (void*)"A flag that stops runs."}, {0, NULL}};

static PyType_Spec flag_spec = {.name = "saltus._core.Flag",
                                .basicsize = sizeof(core_flag),
                                .flags = Py_TPFLAGS_DEFAULT,
                                .slots = flag_slots};

int core_add_arrays(PyObject* module, core_state* state) {
  state->array_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &array_spec, NULL);
  state->flag_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &flag_spec, NULL);
  if (state->array_type == NULL || state->flag_type == NULL) {
    return -1;
  }
  return PyModule_AddType(module, state->array_type) == 0 &&
                 PyModule_AddType(module, state->flag_type) == 0
             ? 0
             : -1;
}
