/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * data.c - frames and events of a run or of a file: arrays over their memory, names of their columns.
 */
#include "core.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void data_free(PyObject* object) {
  core_data* self = (core_data*)object;
  PyTypeObject* type = Py_TYPE(object);
  saltus_run_destroy(self->run);
  core_frame_store_destroy(self->track);
  saltus_recording_data_destroy(self->read);
  core_messages_free(&self->messages);
  Py_XDECREF(self->watch.type);
  Py_XDECREF(self->watch.value);
  Py_XDECREF(self->watch.trace);
  Py_XDECREF((PyObject*)self->scene);
  Py_XDECREF((PyObject*)self->flag);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static core_shape shape_of(const core_series* series, const saltus_recording_data* d) {
  Py_ssize_t rows = series->per == CORE_PER_START ? (Py_ssize_t)d->count + 1
                    : series->per == CORE_PER_ROW ? (Py_ssize_t)d->table.count
                                                  : (Py_ssize_t)d->count;
  core_shape shape = {.format = series->format, .rank = 1, .size = {rows}};
  bool plain = series->per == CORE_PER_FRAME || series->per == CORE_PER_START ||
               (series->per == CORE_PER_ROW && series->components == 1);
  if (!plain) {
    Py_ssize_t width = (Py_ssize_t)core_series_width(series, d);
    shape.rank = 2;
    shape.size[1] = width;
    if (series->per == CORE_PER_CONTACT && series->components > 1) {
      shape.rank = 3;
      shape.size[1] = width / series->components;
      shape.size[2] = series->components;
    }
  }
  return shape;
}

/* array(name): None where there is no such data. */
static PyObject* data_array(PyObject* object, PyObject* argument) {
  const core_data* self = (core_data*)object;
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  if (name == NULL) {
    return NULL;
  }
  for (int i = 0; i < core_series_count; i++) {
    const core_series* series = &core_series_list[i];
    if (strcmp(series->name, name) == 0) {
      const void* data = core_series_get(series, self->data);
      bool absent = data == NULL && self->data->count > 0 &&
                    core_series_width(series, self->data) > 0 && series->per != CORE_PER_ROW;
      if (absent) {
        Py_RETURN_NONE;
      }
      return core_array(PyType_GetModuleState(Py_TYPE(object)), object, data,
                        shape_of(series, self->data));
    }
  }
  PyErr_Format(PyExc_KeyError, "no series \"%s\"", name);
  return NULL;
}

/* The events as bytes, in the layout of event_fields(). */
static PyObject* data_events(PyObject* object, PyObject* unused) {
  (void)unused;
  const core_data* self = (core_data*)object;
  Py_ssize_t bytes = (Py_ssize_t)self->data->event_count * (Py_ssize_t)sizeof(saltus_event);
  return core_array(PyType_GetModuleState(Py_TYPE(object)), object, self->data->events,
                    (core_shape){.format = 'B', .rank = 1, .size = {bytes}});
}

/* Name and unit number i of a kind of columns of a file; name NULL: it has none. */
static saltus_label label_of_file(const saltus_recording_data* d, char kind, int i) {
  switch (kind) {
  case 'q':
    return d->q_labels[i];
  case 'v':
    return d->v_labels[i];
  case 'o':
    return d->output_labels[i];
  case 'c':
    return (saltus_label){d->contact_names[i], ""};
  case 'j':
    return (saltus_label){d->joint_names[i], ""};
  case 'l':
    return (saltus_label){d->law_names[i], ""};
  default:
    return (saltus_label){d->event_names[i], ""};
  }
}

/* The same of a scene. */
static saltus_label label_of_view(const saltus_scene_view* view, char kind, int i) {
  const saltus_system* system = view->system;
  switch (kind) {
  case 'q':
    return system->q_labels != NULL ? system->q_labels[i] : (saltus_label){0};
  case 'v':
    return system->v_labels != NULL ? system->v_labels[i] : (saltus_label){0};
  case 'o':
    return view->observables->output_labels[i];
  case 'j':
    return (saltus_label){view->joint_names != NULL     ? view->joint_names[i]
                          : system->joint_names != NULL ? system->joint_names[i]
                                                        : NULL,
                          ""};
  case 'c':
    return (saltus_label){i < system->law_count ? system->laws[i].name : NULL, ""};
  case 'l':
    return (saltus_label){system->laws[i].name, ""};
  default:
    return (saltus_label){view->observables->event_names[i], ""};
  }
}

/* Numbers of labels, in the order of LABEL_KINDS. */
#define LABEL_KINDS "qvocjle"
enum { LABEL_KIND_COUNT = sizeof LABEL_KINDS - 1 };

static void counts_of_file(const saltus_recording_data* d, int counts[LABEL_KIND_COUNT]) {
  const int all[LABEL_KIND_COUNT] = {d->nq, d->nv,        d->output_count,    d->nc,
                                     d->nj, d->law_count, d->event_name_count};
  memcpy(counts, all, sizeof all);
}

static void counts_of_view(const saltus_scene_view* view, int counts[LABEL_KIND_COUNT]) {
  const saltus_system* s = view->system;
  const saltus_observables* own = view->observables;
  bool changing = (s->traits & SALTUS_CHANGING_CONTACTS) != 0;
  const int all[LABEL_KIND_COUNT] = {s->dims.nq,
                                     s->dims.nv,
                                     own != NULL ? own->output_count : 0,
                                     changing ? 0 : s->dims.nc,
                                     s->dims.nj,
                                     changing ? s->law_count : 0,
                                     own != NULL ? own->event_count : 0};
  memcpy(counts, all, sizeof all);
}

static PyObject* label_object(saltus_label label, char kind, int i) {
  static const struct {
    char kind;
    const char* stem;
  } stems[] = {{'q', "q"}, {'v', "v"}, {'c', "contact"}, {'j', "joint"}, {'l', "law"}};
  char own[32] = "";
  for (size_t k = 0; k < sizeof stems / sizeof stems[0]; k++) {
    if (stems[k].kind == kind && (label.name == NULL || label.name[0] == '\0')) {
      snprintf(own, sizeof own, "%s%d", stems[k].stem, i + 1);
      label.name = own;
    }
  }
  return Py_BuildValue("NN", core_text(label.name), core_text(label.unit));
}

PyObject* core_labels(const saltus_scene_view* view, const saltus_recording_data* file,
                      PyObject* args) {
  int letter, counts[LABEL_KIND_COUNT];
  if (!PyArg_ParseTuple(args, "C", &letter)) {
    return NULL;
  }
  const char* place = letter > 0 && letter < 128 ? strchr(LABEL_KINDS, letter) : NULL;
  if (place == NULL) {
    PyErr_SetString(PyExc_KeyError, "no such kind of columns");
    return NULL;
  }
  if (view != NULL) {
    counts_of_view(view, counts);
  } else {
    counts_of_file(file, counts);
  }
  char kind = (char)letter;
  int count = counts[place - LABEL_KINDS];
  PyObject* list = PyTuple_New(count);
  for (int i = 0; list != NULL && i < count; i++) {
    saltus_label label = view != NULL ? label_of_view(view, kind, i) : label_of_file(file, kind, i);
    PyObject* item = label_object(label, kind, i);
    if (item == NULL || PyTuple_SetItem(list, i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* labels(kind): names and units; kind "q", "v", "o"utputs, "c"ontacts, "j"oints, "l"aws or "e"vents. */
static PyObject* data_labels(PyObject* object, PyObject* args) {
  const core_data* self = (core_data*)object;
  return core_labels(self->scene != NULL ? &self->scene->view : NULL, self->data, args);
}

static PyObject* data_about(PyObject* object, PyObject* unused) {
  (void)unused;
  const saltus_recording_data* d = ((core_data*)object)->data;
  PyObject* about = PyDict_New();
  bool good = about != NULL && core_put(about, "count", PyLong_FromLongLong(d->count)) == 0 &&
              core_put(about, "nq", PyLong_FromLong(d->nq)) == 0 &&
              core_put(about, "nv", PyLong_FromLong(d->nv)) == 0 &&
              core_put(about, "nc", PyLong_FromLong(d->nc)) == 0 &&
              core_put(about, "nj", PyLong_FromLong(d->nj)) == 0 &&
              core_put(about, "changing", PyBool_FromLong(d->changing)) == 0 &&
              core_put(about, "name", core_text(d->name)) == 0 &&
              core_put(about, "scheme", core_text(d->scheme)) == 0 &&
              core_put(about, "options", core_text(d->options)) == 0 &&
              core_put(about, "scene", core_text(d->scene)) == 0 &&
              core_put(about, "version", core_text(d->version)) == 0 &&
              core_put(about, "status", core_text(d->status)) == 0 &&
              core_put(about, "accuracy", core_text(d->accuracy)) == 0 &&
              core_put(about, "steps", PyLong_FromLongLong(d->steps)) == 0;
  if (!good) {
    Py_XDECREF(about);
    return NULL;
  }
  return about;
}

/* The status of a run and its message; raises the exception of a signal handler. */
static PyObject* data_ended(PyObject* object, PyObject* unused) {
  (void)unused;
  core_data* self = (core_data*)object;
  const char* message = self->messages.error;
  if (message == NULL && self->run != NULL) {
    message = saltus_run_outcome(self->run)->reason;
  }
  PyObject* raised = self->watch.value != NULL ? self->watch.value : Py_None;
  return Py_BuildValue("iNO", (int)self->status, core_text(message), raised);
}

static PyMethodDef data_methods[] = {
    {"array", data_array, METH_O, "array(name): a series, or None."},
    {"events", data_events, METH_NOARGS, "The events as bytes."},
    {"labels", data_labels, METH_VARARGS, "labels(kind): names and units of columns."},
    {"about", data_about, METH_NOARGS, "Sizes and texts, as a dict."},
    {"ended", data_ended, METH_NOARGS, "(status, message, exception of a signal handler)"},
    {"stats", core_data_stats, METH_NOARGS, "What a run cost and found, as a dict."},
    {"settings", core_data_settings, METH_NOARGS, "What a run did, as a dict."},
    {"save", core_data_save, METH_VARARGS, "save(path, name, text, force)"},
    {"snapshot", core_data_snapshot, METH_VARARGS, "snapshot(target, text): bytes"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot data_slots[] = {{Py_tp_dealloc, (void*)data_free},
                                   {Py_tp_methods, data_methods},
                                   {Py_tp_doc, (void*)"Frames and events of a run or a file."},
                                   {0, NULL}};

static PyType_Spec data_spec = {.name = "saltus._core.Data",
                                .basicsize = sizeof(core_data),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                .slots = data_slots};

int core_add_data(PyObject* module, core_state* state) {
  state->data_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &data_spec, NULL);
  return state->data_type != NULL ? PyModule_AddType(module, state->data_type) : -1;
}

PyObject* core_load(PyObject* module, PyObject* args) {
  core_state* state = core_state_of(module);
  const char* path;
  if (!PyArg_ParseTuple(args, "s", &path)) {
    return NULL;
  }
  core_messages messages;
  saltus_recording_data* read;
  saltus_log log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_recording_read(path, log, NULL, &read);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->data_type, Py_tp_alloc);
  core_data* self =
      core_warn(state, &messages) == 0 ? (core_data*)allocate(state->data_type, 0) : NULL;
  core_messages_free(&messages);
  if (self == NULL) {
    saltus_recording_data_destroy(read);
    return NULL;
  }
  self->read = read;
  self->data = read;
  return (PyObject*)self;
}
