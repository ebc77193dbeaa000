/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * sim.c - simulations advanced by the caller. Schemes that choose their steps use an integrator, which has dense output
 * and stops at events; other schemes, and scenes with user-defined events, use a simulation.
 */
#include "core.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sim_object {
  PyObject_HEAD core_scene* scene;
  saltus_run* settled; /* resolves scheme, options and tolerances; is never executed */
  saltus_integrator* it;
  saltus_sim* sim; /* either of the two */
  double t0;       /* s, of the simulation */
  double *q0, *v0; /* its start */
  double duration; /* s; 0: no limit */
  int dense_steps; /* stored for dense output; 0: default of the library */
  core_frame_store* track;
  core_messages messages;
  core_watch watch;
  double piece;    /* s of motion between two tests for signals */
  long long every; /* steps between stored frames; 0: none */
  unsigned stop;
  volatile int stopped; /* at an event: ends a simulation after it */
  bool busy;
} sim_object;

static core_state* state_of(PyObject* self) {
  return PyType_GetModuleState(Py_TYPE(self));
}

static void sim_free(PyObject* object) {
  sim_object* self = (sim_object*)object;
  PyTypeObject* type = Py_TYPE(object);
  saltus_integrator_destroy(self->it);
  saltus_sim_destroy(self->sim);
  saltus_run_destroy(self->settled);
  core_frame_store_destroy(self->track);
  core_messages_free(&self->messages);
  free(self->q0);
  Py_XDECREF(self->watch.type);
  Py_XDECREF(self->watch.value);
  Py_XDECREF(self->watch.trace);
  Py_XDECREF((PyObject*)self->scene);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(object);
  Py_DECREF(type);
}

static const saltus_dims* dims_of(const sim_object* self) {
  return &self->scene->view.system->dims;
}

/* Stores events of a simulation; at a requested event the run ends after its step. */
static saltus_status on_event(void* user, const saltus_event* event) {
  sim_object* self = user;
  const saltus_recorder keep = core_frame_store_recorder(self->track);
  saltus_status status = keep.event(keep.user, event);
  if (status == SALTUS_OK && (self->stop & SALTUS_STOP(event->kind)) != 0U) {
    self->stopped = 1; /* not by a status: switching events are processed first */
  }
  return status;
}

static saltus_status on_frame(void* user, const saltus_frame* frame) {
  sim_object* self = user;
  const saltus_recorder keep = core_frame_store_recorder(self->track);
  return keep.frame(keep.user, frame);
}

static saltus_log log_of(sim_object* self) {
  core_messages_free(&self->messages);
  return core_messages_log(&self->messages);
}

static saltus_status make_integrator(sim_object* self) {
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  const saltus_scene_view* view = &self->scene->view;
  const saltus_adaptive_options* options = s->options;
  const saltus_integrator_def def = {.system = view->system,
                                     .t0 = self->t0,
                                     .q0 = self->q0,
                                     .v0 = self->v0,
                                     .scheme = s->scheme->name,
                                     .rtol = options->rtol,
                                     .atol = options->atol,
                                     .atol_velocity = options->atol_velocity,
                                     .atol_q = view->atol_q,
                                     .atol_v = view->atol_v,
                                     .h_max = options->h_max,
                                     .h_first = options->h_first,
                                     .duration = self->duration,
                                     .dense_steps = self->dense_steps,
                                     .event_room = 1 << 20,
                                     .log = log_of(self),
                                     .changes = view->input_count > 0 ? view->input_changes : NULL};
  return saltus_integrator_create(&def, &self->it);
}

static saltus_status make_sim(sim_object* self) {
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  const saltus_scene_view* view = &self->scene->view;
  const saltus_recorder recorder = {.frame = self->every > 0 ? on_frame : NULL,
                                    .event = on_event,
                                    .user = self,
                                    .contacts_unseen = self->every > 0 ? 0 : 1};
  const saltus_sim_def def = {.system = view->system,
                              .scheme = s->scheme->name,
                              .options = s->options,
                              .atol_q = view->atol_q,
                              .atol_v = view->atol_v,
                              .t0 = self->t0,
                              .h = s->scheme->chooses_step || s->control != NULL ? 0.0 : s->step,
                              .q0 = self->q0,
                              .v0 = self->v0,
                              .control = s->control,
                              .control_options = &s->control_options,
                              .recorders = &recorder,
                              .recorder_count = 1,
                              .record_every = self->every > 0 ? self->every : LLONG_MAX / 4,
                              .observables = view->observables,
                              .progress = core_watch_progress(&self->watch),
                              .cancel = &self->stopped,
                              .log = log_of(self),
                              .changes = view->input_count > 0 ? view->input_changes : NULL};
  saltus_sim* made;
  saltus_status status = saltus_sim_create(&def, &made);
  if (status == SALTUS_OK) {
    saltus_sim_destroy(self->sim);
    self->sim = made;
  }
  return status;
}

/* Selects integrator or simulation: only simulations support user-defined events and frames. */
static saltus_status make(sim_object* self) {
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  const saltus_observables* own = self->scene->view.observables;
  bool plain = own == NULL || (own->event_count == 0 && own->switching == NULL);
  bool family = strncmp(s->scheme->name, "adaptive", 8) == 0; /* whose options are those */
  return family && plain && self->every == 0 ? make_integrator(self) : make_sim(self);
}

static saltus_status settle(sim_object* self, saltus_run_def* def) {
  def->scene = &self->scene->view;
  def->log = log_of(self);
  double start = isnan(def->start) ? self->scene->view.start : def->start;
  def->until = start + 1e6; /* beyond any requested time; steps keep their length */
  saltus_status status = saltus_run_create(def, &self->settled);
  if (status == SALTUS_OK) {
    core_frame_store* track = core_frame_store_create(&self->scene->view, self->every > 0);
    self->track = track;
    self->t0 = start;
    status = track != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  }
  return status;
}

static int take_start(sim_object* self, PyObject* q, PyObject* v) {
  core_reals q0 = {0}, v0 = {0};
  const saltus_dims* dims = dims_of(self);
  if (core_reals_take(q, "q0", dims->nq, &q0) != 0 ||
      core_reals_take(v, "v0", dims->nv, &v0) != 0) {
    core_reals_release(&q0);
    return -1;
  }
  memcpy(self->q0, q0.data, (size_t)dims->nq * sizeof(double));
  memcpy(self->v0, v0.data, (size_t)dims->nv * sizeof(double));
  core_reals_release(&q0);
  core_reals_release(&v0);
  return 0;
}

/* Sim(scene, (scheme, options, control, control_options), (tol, rtol, atol, step, start, duration), dense_steps, q0,
 * v0, every) */
static PyObject* sim_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  const core_state* state = PyType_GetModuleState(type);
  PyObject *scene, *options, *control_options, *q, *v;
  saltus_run_def def = saltus_run_def_default();
  double duration;
  int dense_steps;
  long long every;
  if ((keywords != NULL && PyDict_Size(keywords) > 0) ||
      !PyArg_ParseTuple(args, "O!(zOzO)(dddddd)iOOL", (PyObject*)state->scene_type, &scene,
                        &def.scheme, &options, &def.control, &control_options, &def.tol, &def.rtol,
                        &def.atol, &def.step, &def.start, &duration, &dense_steps, &q, &v,
                        &every)) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_TypeError, "Sim takes no keywords");
    }
    return NULL;
  }
  core_pairs pairs = {0}, control_pairs = {0};
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  sim_object* self = (sim_object*)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  Py_INCREF(scene);
  self->scene = (core_scene*)scene;
  self->duration = duration;
  self->dense_steps = dense_steps;
  self->every = every;
  const saltus_dims* dims = dims_of(self);
  self->q0 = calloc((size_t)dims->nq + (size_t)dims->nv + 1, sizeof(double));
  self->v0 = self->q0 + dims->nq;
  bool taken = self->q0 != NULL && core_pairs_take(options, &pairs) == 0 &&
               core_pairs_take(control_options, &control_pairs) == 0 && take_start(self, q, v) == 0;
  saltus_status status = SALTUS_OK;
  if (taken) {
    def.options = pairs.pairs;
    def.option_count = pairs.count;
    def.control_options = control_pairs.pairs;
    def.control_option_count = control_pairs.count;
    status = settle(self, &def);
    status = status == SALTUS_OK ? make(self) : status;
    taken = core_functions_raised(self->scene) == 0;
  }
  if (taken && status != SALTUS_OK) {
    core_raise(state, status, &self->messages);
    taken = false;
  }
  taken = taken && core_warn(state, &self->messages) == 0;
  core_pairs_free(&pairs);
  core_pairs_free(&control_pairs);
  if (!taken) {
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  return (PyObject*)self;
}

/* Excludes concurrent calls; false with an exception. */
static bool enter(sim_object* self) {
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "the simulation is going on in another call");
    return false;
  }
  self->busy = true;
  return true;
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In subintervals, to handle signals; they do not influence the steps. */
static saltus_status advance_integrator(sim_object* self, double t, const saltus_event** event) {
  static const double look_every = 0.05, piece_least = 0.01; /* s of computing */
  const saltus_progress look = core_watch_progress(&self->watch);
  double from = saltus_integrator_time(self->it);
  double looked = seconds(), begun = looked;
  saltus_status status = SALTUS_OK;
  self->piece = self->piece > 0.0 ? self->piece : 1e-9 * (t - from);
  *event = NULL;
  do {
    double now = saltus_integrator_time(self->it);
    double to = t - now > self->piece ? now + self->piece : t;
    status = saltus_integrator_advance(self->it, to, self->stop, event);
    double end = seconds();
    if (end - begun < piece_least && to < t) {
      self->piece *= 2.0;
    } else if (end - begun > look_every) {
      self->piece /= 4.0;
    }
    begun = end;
    if (status == SALTUS_OK && end - looked > look_every) {
      looked = end;
      status = look.report(look.user, to, t, 0);
    }
  } while (status == SALTUS_OK && *event == NULL && saltus_integrator_time(self->it) < t);
  return status;
}

static saltus_status advance(sim_object* self, double t, const saltus_event** event) {
  self->stopped = 0;
  if (self->it != NULL) {
    return advance_integrator(self, t, event);
  }
  saltus_status status = saltus_sim_run_until(self->sim, t);
  bool found = self->stopped != 0 && (status == SALTUS_ERR_STOPPED || status == SALTUS_OK);
  self->stopped = 0;
  if (!found) {
    return status;
  }
  const saltus_recording_data* d = &self->track->data;
  for (long long i = d->event_count - 1; i >= 0 && *event == NULL; i--) {
    *event = (self->stop & SALTUS_STOP(d->events[i].kind)) != 0U ? &d->events[i] : NULL;
  }
  core_messages_free(&self->messages); /* messages of the stop */
  return SALTUS_OK;
}

static double time_of(const sim_object* self) {
  return self->it != NULL ? saltus_integrator_time(self->it) : saltus_sim_time(self->sim);
}

/* advance(t, stop): the event that stopped it as bytes, or None. */
static PyObject* sim_advance(PyObject* object, PyObject* args) {
  sim_object* self = (sim_object*)object;
  double t;
  unsigned stop;
  if (!PyArg_ParseTuple(args, "dI", &t, &stop) || !enter(self)) {
    return NULL;
  }
  if (!isfinite(t) || t < time_of(self)) {
    PyErr_Format(PyExc_ValueError, "cannot go back in time, or to a time that is not finite");
    self->busy = false;
    return NULL;
  }
  self->stop = stop;
  core_messages_free(&self->messages);
  const saltus_event* event = NULL;
  core_watch_begin(&self->watch);
  saltus_status status =
      t > time_of(self) || self->it != NULL ? advance(self, t, &event) : SALTUS_OK;
  int raised = core_watch_end(&self->watch);
  self->watch.type = self->watch.value = self->watch.trace = NULL;
  self->busy = false;
  if (raised != 0 || core_functions_raised(self->scene) != 0) {
    return NULL;
  }
  if (status != SALTUS_OK) {
    return core_raise(state_of(object), status, &self->messages);
  }
  if (core_warn(state_of(object), &self->messages) != 0) {
    return NULL;
  }
  if (event == NULL) {
    Py_RETURN_NONE;
  }
  return PyBytes_FromStringAndSize((const char*)event, (Py_ssize_t)sizeof *event);
}

/* state(): (t, q, v), copies. */
static PyObject* sim_state(PyObject* object, PyObject* unused) {
  (void)unused;
  sim_object* self = (sim_object*)object;
  if (!enter(self)) {
    return NULL;
  }
  const saltus_dims* dims = dims_of(self);
  const double* q = self->it != NULL ? saltus_integrator_q(self->it) : saltus_sim_q(self->sim);
  const double* v = self->it != NULL ? saltus_integrator_v(self->it) : saltus_sim_v(self->sim);
  PyObject* q_array = core_array_copy(state_of(object), q, dims->nq);
  PyObject* v_array = core_array_copy(state_of(object), v, dims->nv);
  double t = time_of(self);
  self->busy = false;
  if (q_array == NULL || v_array == NULL) {
    Py_XDECREF(q_array);
    Py_XDECREF(v_array);
    return NULL;
  }
  return Py_BuildValue("dNN", t, q_array, v_array);
}

static PyObject* sim_time(PyObject* object, PyObject* unused) {
  (void)unused;
  sim_object* self = (sim_object*)object;
  if (!enter(self)) {
    return NULL;
  }
  double t = time_of(self);
  self->busy = false;
  return PyFloat_FromDouble(t);
}

/* dense(t, left): (q, v) at a time within the stored dense output. */
static PyObject* sim_dense(PyObject* object, PyObject* args) {
  sim_object* self = (sim_object*)object;
  const saltus_dims* dims = dims_of(self);
  double t;
  int left;
  if (!PyArg_ParseTuple(args, "dp", &t, &left) || !enter(self)) {
    return NULL;
  }
  double* q = calloc((size_t)dims->nq + (size_t)dims->nv + 1, sizeof *q);
  saltus_status status =
      q == NULL          ? SALTUS_ERR_MEMORY
      : self->it == NULL ? SALTUS_ERR_UNSUPPORTED
      : isnan(t)         ? SALTUS_ERR_RANGE
                 : saltus_integrator_dense(self->it, t, left ? SALTUS_LEFT : SALTUS_RIGHT, q,
                                           q + dims->nq);
  self->busy = false;
  PyObject* answer = NULL;
  if (status == SALTUS_OK) {
    PyObject* q_array = core_array_copy(state_of(object), q, dims->nq);
    PyObject* v_array = core_array_copy(state_of(object), q + dims->nq, dims->nv);
    answer = q_array != NULL && v_array != NULL ? Py_BuildValue("NN", q_array, v_array) : NULL;
  } else {
    core_raise(state_of(object), status, &self->messages);
  }
  free(q);
  return answer;
}

/* events(): those since the start, as bytes. */
static PyObject* sim_events(PyObject* object, PyObject* unused) {
  (void)unused;
  sim_object* self = (sim_object*)object;
  if (!enter(self)) {
    return NULL;
  }
  long long count =
      self->it != NULL ? saltus_integrator_event_count(self->it) : self->track->data.event_count;
  PyObject* bytes =
      PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count * (Py_ssize_t)sizeof(saltus_event));
  char* to = bytes != NULL ? PyBytes_AsString(bytes) : NULL;
  for (long long i = 0; to != NULL && i < count; i++) {
    const saltus_event* event =
        self->it != NULL ? saltus_integrator_event(self->it, i) : &self->track->data.events[i];
    const saltus_event none = {0};
    memcpy(to + (size_t)i * sizeof none, event != NULL ? event : &none, sizeof none);
  }
  self->busy = false;
  return bytes;
}

static void forget(sim_object* self) {
  saltus_recording_data* d = &self->track->data;
  d->event_count = d->count = d->table.count = 0;
}

/* set_state(t, q, v): restarts from there, without the history of the scheme. */
static PyObject* sim_set_state(PyObject* object, PyObject* args) {
  sim_object* self = (sim_object*)object;
  PyObject *q, *v;
  double t;
  if (!PyArg_ParseTuple(args, "dOO", &t, &q, &v) || !enter(self)) {
    return NULL;
  }
  bool good = take_start(self, q, v) == 0;
  saltus_status status = SALTUS_OK;
  if (good) {
    core_messages_free(&self->messages);
    self->t0 = t;
    if (self->it != NULL) {
      status = saltus_integrator_restart(self->it, t, self->q0, self->v0);
    } else {
      forget(self); /* the first frame of the simulation comes with its creation */
      status = make_sim(self);
    }
  }
  self->busy = false;
  if (!good || core_functions_raised(self->scene) != 0) {
    return NULL;
  }
  if (status != SALTUS_OK) {
    return core_raise(state_of(object), status, &self->messages);
  }
  Py_RETURN_NONE;
}

/* The bytes of a simulation are preceded by its initial state, which has to be the same at loading. */
static size_t start_bytes(const sim_object* self) {
  return (1 + (size_t)dims_of(self)->nq + (size_t)dims_of(self)->nv) * sizeof(double);
}

static PyObject* sim_snapshot(PyObject* object, PyObject* unused) {
  (void)unused;
  sim_object* self = (sim_object*)object;
  if (!enter(self)) {
    return NULL;
  }
  size_t head = self->it != NULL ? 0 : start_bytes(self);
  size_t bytes = self->it != NULL ? saltus_integrator_snapshot_bytes(self->it)
                                  : saltus_sim_snapshot_bytes(self->sim);
  PyObject* snapshot = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(head + bytes));
  char* to = snapshot != NULL ? PyBytes_AsString(snapshot) : NULL;
  if (to != NULL && self->it != NULL) {
    saltus_integrator_snapshot_save(self->it, to);
  } else if (to != NULL) {
    memcpy(to, &self->t0, sizeof(double));
    memcpy(to + sizeof(double), self->q0, head - sizeof(double));
    saltus_sim_snapshot_save(self->sim, to + head);
  }
  self->busy = false;
  return snapshot;
}

static saltus_status load_sim(sim_object* self, const char* bytes, size_t size) {
  size_t head = start_bytes(self);
  if (size < head) {
    return SALTUS_ERR_INPUT;
  }
  double t0;
  memcpy(&t0, bytes, sizeof t0);
  saltus_status status = SALTUS_OK;
  if (t0 != self->t0 && isfinite(t0)) {
    self->t0 = t0;
    memcpy(self->q0, bytes + sizeof t0, head - sizeof t0);
    status = make_sim(self);
  }
  return status == SALTUS_OK ? saltus_sim_snapshot_load(self->sim, bytes + head, size - head)
                             : status;
}

static PyObject* sim_restore(PyObject* object, PyObject* argument) {
  sim_object* self = (sim_object*)object;
  char* bytes;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(argument, &bytes, &size) != 0 || !enter(self)) {
    return NULL;
  }
  core_messages_free(&self->messages);
  saltus_status status = self->it != NULL
                             ? saltus_integrator_snapshot_load(self->it, bytes, (size_t)size)
                             : load_sim(self, bytes, (size_t)size);
  forget(self);
  self->busy = false;
  if (status != SALTUS_OK) {
    return core_raise(state_of(object), status, &self->messages);
  }
  Py_RETURN_NONE;
}

/* Frames from `first` on and all events, copied: they outlive the simulation. */
static saltus_status copy_frames(sim_object* self, long long first, core_frame_store* to) {
  const saltus_recording_data* from = &self->track->data;
  const saltus_recorder put = core_frame_store_recorder(to);
  const long long most = core_frame_store_contacts(from);
  saltus_contact_frame* contacts = calloc((size_t)most + 1, sizeof *contacts);
  saltus_status status = contacts != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  for (long long i = first; i < from->count && status == SALTUS_OK; i++) {
    saltus_frame frame;
    core_frame_store_frame(from, i, contacts, &frame);
    status = put.frame(put.user, &frame);
  }
  for (long long i = 0; i < from->event_count && status == SALTUS_OK; i++) {
    status = put.event(put.user, &from->events[i]);
  }
  free(contacts);
  return status;
}

static void describe(const sim_object* self, saltus_recording_data* d) {
  const saltus_system* system = self->scene->view.system;
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  d->q_labels = (saltus_label*)(uintptr_t)system->q_labels; /* never modified */
  d->v_labels = (saltus_label*)(uintptr_t)system->v_labels;
  d->name = self->scene->view.name;
  d->scene = self->scene->view.text;
  d->scheme = s->scheme->name;
  d->version = saltus_version();
  d->status = "complete";
}

/* The frame of the start, which is otherwise stored with the first step. */
static void first_frame(sim_object* self) {
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  if (self->track->data.count > 0 || self->it != NULL) {
    return;
  }
  if (s->scheme->chooses_step || s->control != NULL) {
    saltus_sim_run_until(self->sim, saltus_sim_time(self->sim));
  } else {
    saltus_sim_run(self->sim, 0);
  }
}

/* data(last): the stored frames, or the last one alone. */
static PyObject* sim_data(PyObject* object, PyObject* args) {
  const core_state* state = state_of(object);
  sim_object* self = (sim_object*)object;
  int last;
  if (!PyArg_ParseTuple(args, "p", &last) || !enter(self)) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(state->data_type, Py_tp_alloc);
  core_data* data = (core_data*)allocate(state->data_type, 0);
  if (data != NULL) {
    data->track = core_frame_store_create(&self->scene->view, true);
    first_frame(self);
    const long long count = self->track->data.count;
    const saltus_status status =
        data->track == NULL ? SALTUS_ERR_MEMORY
                            : copy_frames(self, last && count > 0 ? count - 1 : 0, data->track);
    if (status != SALTUS_OK) {
      Py_DECREF((PyObject*)data);
      data = NULL;
      PyErr_NoMemory();
    } else {
      data->data = &data->track->data;
      data->scene = self->scene;
      Py_INCREF((PyObject*)self->scene);
      describe(self, &data->track->data);
    }
  }
  self->busy = false;
  return (PyObject*)data;
}

static PyObject* sim_about(PyObject* object, PyObject* unused) {
  (void)unused;
  sim_object* self = (sim_object*)object;
  if (!enter(self)) {
    return NULL;
  }
  const saltus_run_settings* s = saltus_run_get_settings(self->settled);
  saltus_work w =
      self->it != NULL ? saltus_integrator_costs(self->it).work : saltus_sim_work(self->sim);
  const saltus_tally* tally =
      self->it != NULL ? saltus_integrator_costs(self->it).tally : saltus_sim_tally(self->sim);
  self->busy = false;
  return Py_BuildValue("{s:s,s:d,s:d,s:d,s:L,s:L,s:L,s:L,s:d}", "scheme", s->scheme->name, "rtol",
                       s->rtol, "atol", s->atol, "step", s->step, "steps",
                       tally != NULL && tally->steps > 0 ? tally->steps : w.steps, "rejections",
                       tally != NULL ? tally->rejections : 0LL, "force_evaluations",
                       w.force_evaluations, "contact_solves", w.contact_solves, "dense_from",
                       self->it != NULL ? saltus_integrator_dense_from(self->it) : NAN);
}

static PyMethodDef sim_methods[] = {
    {"advance", sim_advance, METH_VARARGS, "advance(t, stop)"},
    {"state", sim_state, METH_NOARGS, "(t, q, v)"},
    {"time", sim_time, METH_NOARGS, "t"},
    {"data", sim_data, METH_VARARGS, "data(last)"},
    {"dense", sim_dense, METH_VARARGS, "dense(t, left): (q, v)"},
    {"events", sim_events, METH_NOARGS, "Events since the start as bytes."},
    {"set_state", sim_set_state, METH_VARARGS, "set_state(t, q, v)"},
    {"snapshot", sim_snapshot, METH_NOARGS, "bytes"},
    {"restore", sim_restore, METH_O, "restore(bytes)"},
    {"about", sim_about, METH_NOARGS, "Scheme and cost, as a dict."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot sim_slots[] = {{Py_tp_new, (void*)sim_new},
                                  {Py_tp_dealloc, (void*)sim_free},
                                  {Py_tp_methods, sim_methods},
                                  {Py_tp_doc, (void*)"A simulation that is driven by its user."},
                                  {0, NULL}};

static PyType_Spec sim_spec = {.name = "saltus._core.Sim",
                               .basicsize = sizeof(sim_object),
                               .flags = Py_TPFLAGS_DEFAULT,
                               .slots = sim_slots};

int core_add_sim(PyObject* module, core_state* state) {
  state->sim_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &sim_spec, NULL);
  return state->sim_type != NULL ? PyModule_AddType(module, state->sim_type) : -1;
}
