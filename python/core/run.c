/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * run.c - a run of a scene from Python: the lock is released, signals are handled periodically, frames
 * and events are stored in memory.
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Arguments of run(), in the order of the tuple. */
typedef struct run_args {
  core_scene* scene;
  const char *scheme, *control;
  double tol, rtol, atol, until, step, start;
  PyObject *q0, *v0, *options, *control_options, *times, *flag, *resume;
  long long every;
  double dt;
  int beside; /* additional frames: 1 both sides of jumps, 2 midpoints of steps */
  int threads, global, contacts, quiet;
} run_args;

/* Data referenced by the definition of a run. */
typedef struct run_room {
  core_pairs options, control_options;
  core_reals q0, v0, times;
  saltus_run_snapshot* resume;
} run_room;

static void free_room(run_room* room) {
  core_pairs_free(&room->options);
  core_pairs_free(&room->control_options);
  core_reals_release(&room->q0);
  core_reals_release(&room->v0);
  core_reals_release(&room->times);
  saltus_run_snapshot_destroy(room->resume);
}

static int take_room(const core_state* state, const run_args* a, run_room* room) {
  const saltus_dims* dims = &a->scene->view.system->dims;
  if (core_pairs_take(a->options, &room->options) != 0 ||
      core_pairs_take(a->control_options, &room->control_options) != 0) {
    return -1;
  }
  if ((a->q0 == Py_None) != (a->v0 == Py_None)) {
    PyErr_SetString(PyExc_ValueError, "another start needs q0 and v0");
    return -1;
  }
  if (a->q0 != Py_None && (core_reals_take(a->q0, "q0", dims->nq, &room->q0) != 0 ||
                           core_reals_take(a->v0, "v0", dims->nv, &room->v0) != 0)) {
    return -1;
  }
  if (a->times != Py_None && core_reals_take(a->times, "times", -1, &room->times) != 0) {
    return -1;
  }
  if (room->times.count > INT_MAX) {
    PyErr_SetString(PyExc_ValueError, "too many times");
    return -1;
  }
  if (a->resume != Py_None) {
    char* bytes;
    Py_ssize_t size;
    core_messages messages;
    if (PyBytes_AsStringAndSize(a->resume, &bytes, &size) != 0) {
      return -1;
    }
    saltus_status status = saltus_run_snapshot_create(
        "snapshot", bytes, (size_t)size, core_messages_log(&messages), NULL, &room->resume);
    if (status != SALTUS_OK) {
      core_raise(state, status, &messages);
      return -1;
    }
    core_messages_free(&messages);
  }
  return 0;
}

static saltus_run_def define(const run_args* a, const run_room* room, core_data* self) {
  saltus_run_def def = saltus_run_def_default();
  def.scene = &a->scene->view;
  def.scheme = a->scheme;
  def.options = room->options.pairs;
  def.option_count = room->options.count;
  def.control = a->control;
  def.control_options = room->control_options.pairs;
  def.control_option_count = room->control_options.count;
  def.tol = a->tol;
  def.rtol = a->rtol;
  def.atol = a->atol;
  def.until = a->until;
  def.step = a->step;
  def.start = a->start;
  def.q0 = room->q0.data;
  def.v0 = room->v0.data;
  def.resume = room->resume;
  def.record_every = a->every;
  def.record_dt = a->dt;
  def.record_times = room->times.count > 0 ? room->times.data : NULL;
  def.record_time_count = (int)room->times.count;
  def.record_jumps = (a->beside & 1) != 0;
  def.record_middles = (a->beside & 2) != 0;
  def.threads = a->threads;
  def.global = a->global != 0;
  def.cancel = self->flag != NULL ? &self->flag->value : NULL;
  def.progress = core_watch_progress(&self->watch);
  def.log = core_messages_log(&self->messages);
  return def;
}

/* Header of the data of a run; texts are owned by the run and the scene. */
static void describe(core_data* self, const char* scheme) {
  saltus_recording_data* d = &self->track->data;
  const saltus_run_result* result = saltus_run_outcome(self->run);
  const saltus_system* system = self->scene->view.system;
  d->q_labels = (saltus_label*)(uintptr_t)system->q_labels; /* never modified */
  d->v_labels = (saltus_label*)(uintptr_t)system->v_labels;
  d->name = self->scene->view.name;
  d->scene = self->scene->view.text;
  d->scheme = scheme;
  d->options = saltus_run_get_settings(self->run)->options_text;
  d->version = saltus_version();
  d->steps = result->steps;
  d->cpu_seconds = result->cpu;
  d->status = result->status == SALTUS_OK ? "complete" : result->reason;
}

/* Creates and executes the run, without the lock. */
static saltus_status go(core_data* self, const saltus_run_def* def) {
  core_watch_begin(&self->watch);
  saltus_status status = saltus_run_create(def, &self->run);
  if (status == SALTUS_OK) {
    status = saltus_run_record(self->run, core_frame_store_recorder(self->track));
  }
  if (status == SALTUS_OK) {
    status = saltus_run_execute(self->run);
  }
  PyEval_RestoreThread(self->watch.released);
  return status;
}

static core_data* make_data(const core_state* state, const run_args* a) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->data_type, Py_tp_alloc);
  core_data* self = (core_data*)allocate(state->data_type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->track = core_frame_store_create(&a->scene->view, a->contacts != 0);
  if (self->track == NULL) {
    Py_DECREF((PyObject*)self);
    PyErr_NoMemory();
    return NULL;
  }
  self->data = &self->track->data;
  Py_INCREF((PyObject*)a->scene);
  self->scene = a->scene;
  if (a->flag != Py_None) {
    Py_INCREF(a->flag);
    self->flag = (core_flag*)a->flag;
  }
  return self;
}

static int read_args(const core_state* state, PyObject* args, run_args* a) {
  PyObject* scene;
  if (!PyArg_ParseTuple(args, "O(zOzO)(dddddd)(OO)(LdOi)(ipOO)pp", &scene, &a->scheme, &a->options,
                        &a->control, &a->control_options, &a->tol, &a->rtol, &a->atol, &a->until,
                        &a->step, &a->start, &a->q0, &a->v0, &a->every, &a->dt, &a->times,
                        &a->beside, &a->threads, &a->global, &a->flag, &a->resume, &a->contacts,
                        &a->quiet)) {
    return -1;
  }
  if (Py_TYPE(scene) != state->scene_type ||
      (a->flag != Py_None && Py_TYPE(a->flag) != state->flag_type)) {
    PyErr_SetString(PyExc_TypeError, "a scene is needed");
    return -1;
  }
  a->scene = (core_scene*)scene;
  return 0;
}

PyObject* core_run(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  run_args a;
  run_room room = {0};
  if (read_args(state, args, &a) != 0) {
    return NULL;
  }
  core_data* self = make_data(state, &a);
  if (self == NULL || take_room(state, &a, &room) != 0) {
    free_room(&room);
    Py_XDECREF((PyObject*)self);
    return NULL;
  }
  const saltus_run_def def = define(&a, &room, self);
  self->status = go(self, &def);
  PyObject* raised = core_functions_take(self->scene);
  if (raised != NULL && self->watch.value == NULL) {
    self->watch.value = raised;
  } else {
    Py_XDECREF(raised);
  }
  bool failed = self->run == NULL;
  if (failed && self->watch.value != NULL) {
    PyErr_SetObject((PyObject*)Py_TYPE(self->watch.value), self->watch.value);
  } else if (failed) {
    core_raise(state, self->status, &self->messages);
  }
  failed = failed || (!a.quiet && self->status != SALTUS_ERR_STOPPED &&
                      core_warn(state, &self->messages) != 0);
  if (!failed) {
    describe(self, saltus_run_get_settings(self->run)->scheme->name);
  }
  free_room(&room);
  if (failed) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}
