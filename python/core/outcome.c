/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * outcome.c - results of a run: numbers as dicts, recording, snapshot, certificate.
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The run of data that have one; NULL with an exception. */
static saltus_run* run_of(PyObject* object) {
  saltus_run* run = ((core_data*)object)->run;
  if (run == NULL) {
    PyErr_SetString(PyExc_ValueError, "these are data of a file, there is no run");
  }
  return run;
}

static PyObject* energies(const saltus_energy* e) {
  return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d}", "change", e->change, "external",
                       e->external, "start", e->start, "drive", e->drive, "friction", e->friction,
                       "impact", e->impact, "remainder", e->remainder, "created", e->created);
}

static PyObject* event_counts(const saltus_run_result* r) {
  PyObject* counts = PyDict_New();
  for (int k = 0; counts != NULL && k < SALTUS_EVENT_KINDS; k++) {
    if (core_put(counts, saltus_event_kind_name((saltus_event_kind)k),
                 PyLong_FromLongLong(r->events[k].count)) != 0) {
      Py_CLEAR(counts);
    }
  }
  return counts;
}

static PyObject* limits_of(const saltus_tally* tally) {
  PyObject* limits = PyDict_New();
  for (int k = 0; limits != NULL && tally != NULL && k < SALTUS_LIMITS; k++) {
    if (tally->limits[k] > 0 && core_put(limits, saltus_step_limit_name((saltus_step_limit)k),
                                         PyLong_FromLongLong(tally->limits[k])) != 0) {
      Py_CLEAR(limits);
    }
  }
  return limits;
}

static PyObject* methods_of(const saltus_tally* tally) {
  PyObject* methods = PyDict_New();
  for (int k = 0; methods != NULL && tally != NULL && k < SALTUS_METHODS_MAX; k++) {
    if (tally->methods[k] != NULL &&
        core_put(methods, tally->methods[k], PyLong_FromLongLong(tally->method_steps[k])) != 0) {
      Py_CLEAR(methods);
    }
  }
  return methods;
}

static PyObject* accuracy_of(const saltus_run_accuracy* a) {
  if (!a->known) {
    Py_RETURN_NONE;
  }
  return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:i,s:L}", "rtol", a->rtol, "atol", a->atol,
                       "part", a->part, "error", a->error, "t", a->t, "amplification",
                       a->amplification, "runs", a->trials, "steps", a->steps);
}

/* Captured intervals. */
static PyObject* captured_of(const saltus_tally* tally) {
  const saltus_captured none = {0}, *c = tally != NULL ? &tally->captured : &none;
  return Py_BuildValue("{s:L,s:d,s:d,s:d,s:d}", "steps", c->steps, "time", c->time, "error",
                       c->error, "first", c->first, "last", c->last);
}

PyObject* core_data_stats(PyObject* object, PyObject* unused) {
  (void)unused;
  const saltus_run* run = run_of(object);
  if (run == NULL) {
    return NULL;
  }
  const saltus_run_result* r = saltus_run_outcome(run);
  const saltus_work* w = &r->work;
  PyObject* stats = Py_BuildValue(
      "{s:s,s:d,s:L,s:d,s:L,s:L,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:L,s:d,s:L,s:L,s:L,s:L,s:L}", "status",
      r->reason, "t", r->t, "steps", r->steps, "cpu", r->cpu, "frames", r->frames, "rejections",
      r->tally != NULL && r->tally->rejections > 0 ? r->tally->rejections : r->rejections,
      "energy_start", r->energy_start, "energy_end", r->energy_end, "penetration", r->penetration,
      "residual_velocity", r->residual_velocity, "residual_impulse", r->residual_impulse,
      "joint_drift", r->joint_drift, "projection", r->projection, "energy_creations", r->creations,
      "impact_loss", r->impact_loss, "force_evaluations", w->force_evaluations, "contact_solves",
      w->contact_solves, "newton_iterations", w->newton_iterations, "factorizations",
      w->factorizations, "contact_iterations", w->contact_iterations);
  bool good = stats != NULL && core_put(stats, "ledger", energies(&r->ledger)) == 0 &&
              core_put(stats, "events", event_counts(r)) == 0 &&
              core_put(stats, "limits", limits_of(r->tally)) == 0 &&
              core_put(stats, "methods", methods_of(r->tally)) == 0 &&
              core_put(stats, "captured", captured_of(r->tally)) == 0 &&
              core_put(stats, "accuracy", accuracy_of(&r->accuracy)) == 0;
  if (!good) {
    Py_XDECREF(stats);
    return NULL;
  }
  return stats;
}

PyObject* core_data_settings(PyObject* object, PyObject* unused) {
  (void)unused;
  const saltus_run* run = run_of(object);
  if (run == NULL) {
    return NULL;
  }
  const saltus_run_settings* s = saltus_run_get_settings(run);
  return Py_BuildValue(
      "{s:s,s:s,s:z,s:d,s:d,s:d,s:d,s:d,s:L,s:L,s:d,s:N,s:N,s:N}", "scheme", s->scheme->name,
      "options", s->options_text, "control", s->control, "rtol", s->rtol, "atol", s->atol, "start",
      s->start, "until", s->until, "h", s->h, "steps", s->steps, "record_every", s->record_every,
      "record_dt", s->record_dt, "chooses_step", PyBool_FromLong(s->scheme->chooses_step), "dense",
      PyBool_FromLong(s->scheme->dense), "global", PyBool_FromLong(s->global));
}

/* Accuracy of the motion, as text of the program. */
static const char* accuracy_text(const saltus_run_accuracy* a, char* text, size_t bytes) {
  text[0] = '\0';
  if (a->known) {
    PyOS_snprintf(text, bytes,
                  "error=%.3g of rtol=%g atol=%g, part=%.3g amplification=%.3g runs=%d", a->error,
                  a->rtol, a->atol, a->part, a->amplification, a->trials);
  }
  return text;
}

/* Passes frames and events in their original order to the recorder of a file, for identical bytes. */
static saltus_status replay(const core_frame_store* track, saltus_recorder to) {
  const saltus_recording_data* d = &track->data;
  size_t most = (size_t)core_frame_store_contacts(d);
  saltus_contact_frame* contacts = calloc(most + 1, sizeof *contacts);
  saltus_status status = contacts != NULL ? SALTUS_OK : SALTUS_ERR_MEMORY;
  long long event = 0;
  for (long long i = 0; i <= d->count && status == SALTUS_OK; i++) {
    for (; event < d->event_count && track->frames_before[event] == i && status == SALTUS_OK;
         event++) {
      status = to.event(to.user, &d->events[event]);
    }
    if (i < d->count && status == SALTUS_OK) {
      saltus_frame frame;
      core_frame_store_frame(d, i, contacts, &frame);
      status = to.frame(to.user, &frame);
    }
  }
  free(contacts);
  return status;
}

char* core_explanation(const saltus_run* run) {
  const size_t bytes = saltus_run_explain(run, NULL, 0) + 1;
  char* text = malloc(bytes);
  if (text != NULL) {
    saltus_run_explain(run, text, bytes);
  }
  return text;
}

static saltus_status write_file(const core_data* self, const saltus_recording_def* def) {
  const saltus_run_result* result = saltus_run_outcome(self->run);
  saltus_recording* recording;
  saltus_status status = saltus_recording_create(def, &recording);
  if (status != SALTUS_OK) {
    return status;
  }
  status = replay(self->track, saltus_recording_recorder(recording));
  char* explanation = core_explanation(self->run);
  if (explanation != NULL) {
    saltus_recording_explain(recording, explanation);
  }
  free(explanation);
  const saltus_recording_summary summary = {.failure =
                                                result->status == SALTUS_OK ? NULL : result->reason,
                                            .steps = result->steps,
                                            .cpu_seconds = NAN};
  saltus_status closed = saltus_recording_close(recording, &summary);
  saltus_recording_destroy(recording);
  return status == SALTUS_OK ? closed : status;
}

PyObject* core_data_save(PyObject* object, PyObject* args) {
  const core_state* state = PyType_GetModuleState(Py_TYPE(object));
  core_data* self = (core_data*)object;
  const char *path, *name, *text;
  int force;
  char accuracy[256];
  if (!PyArg_ParseTuple(args, "sssp", &path, &name, &text, &force) || run_of(object) == NULL) {
    return NULL;
  }
  if (!self->track->contacts) {
    PyErr_SetString(PyExc_ValueError, "the contacts were not kept (contacts=False)");
    return NULL;
  }
  const saltus_run_settings* settings = saltus_run_get_settings(self->run);
  core_messages messages;
  saltus_recording_def def = saltus_recording_def_default();
  def.path = path;
  def.system = self->scene->view.system;
  def.joint_names = self->scene->view.joint_names;
  def.observables = self->scene->view.observables;
  def.name = name;
  def.scheme = settings->scheme->name;
  def.options = settings->options_text;
  def.accuracy = accuracy_text(&saltus_run_outcome(self->run)->accuracy, accuracy, sizeof accuracy);
  def.until = settings->until;
  def.scene = text;
  def.force = force != 0;
  def.log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = write_file(self, &def);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  int warned = core_warn(state, &messages);
  core_messages_free(&messages);
  if (warned != 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

PyObject* core_data_snapshot(PyObject* object, PyObject* args) {
  const saltus_run* run = run_of(object);
  const char *target, *text;
  if (run == NULL || !PyArg_ParseTuple(args, "ss", &target, &text)) {
    return NULL;
  }
  size_t bytes = saltus_run_snapshot_save(run, target, text, NULL);
  PyObject* snapshot = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
  if (snapshot != NULL) {
    saltus_run_snapshot_save(run, target, text, PyBytes_AsString(snapshot));
  }
  return snapshot;
}

PyObject* core_snapshot_scene(PyObject* module, PyObject* object) {
  char* bytes;
  Py_ssize_t size;
  core_messages messages;
  saltus_run_snapshot* snapshot;
  if (PyBytes_AsStringAndSize(object, &bytes, &size) != 0) {
    return NULL;
  }
  saltus_status status = saltus_run_snapshot_create("snapshot", bytes, (size_t)size,
                                                    core_messages_log(&messages), NULL, &snapshot);
  if (status != SALTUS_OK) {
    return core_raise(core_state_of(module), status, &messages);
  }
  core_messages_free(&messages);
  PyObject* text = core_text(snapshot->scene);
  saltus_run_snapshot_destroy(snapshot);
  return text;
}

static PyObject* item_object(const saltus_verify_result* r) {
  return Py_BuildValue("{s:s,s:s,s:s,s:N,s:L,s:L,s:L,s:d,s:d,s:d}", "name", r->name, "says", r->doc,
                       "unit", r->unit, "passed", PyBool_FromLong(r->passed), "checked", r->checked,
                       "skipped", r->skipped, "failures", r->failures, "value", r->value, "limit",
                       r->limit, "t", r->t);
}

static PyObject* certificate_object(const saltus_certificate* c, bool every) {
  PyObject* items = PyTuple_New(SALTUS_VERIFY_ITEMS);
  for (int i = 0; items != NULL && i < SALTUS_VERIFY_ITEMS; i++) {
    PyObject* item = item_object(&c->items[i]);
    if (item == NULL || PyTuple_SetItem(items, i, item) != 0) {
      Py_CLEAR(items);
    }
  }
  if (items == NULL) {
    return NULL;
  }
  return Py_BuildValue("{s:N,s:N,s:N,s:d,s:d,s:d,s:s,s:N}", "passed", PyBool_FromLong(c->passed),
                       "complete", PyBool_FromLong(c->complete), "every_step",
                       PyBool_FromLong(every), "span", c->span, "followed", c->followed, "balanced",
                       c->balanced, "unfollowed", c->unfollowed, "items", items);
}

/* verify(data, scene, own): own false: the run did not start at the initial state of the scene. */
PyObject* core_verify(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  PyObject *data_object, *scene_object;
  int own_start;
  if (!PyArg_ParseTuple(args, "O!O!p", (PyObject*)state->data_type, &data_object,
                        (PyObject*)state->scene_type, &scene_object, &own_start)) {
    return NULL;
  }
  const core_data* data = (core_data*)data_object;
  core_scene* scene = (core_scene*)scene_object;
  if (data->track != NULL && !data->track->contacts) {
    PyErr_SetString(PyExc_ValueError, "the contacts were not kept (contacts=False)");
    return NULL;
  }
  core_messages messages;
  saltus_verify_def def = saltus_verify_def_of(&scene->view, data->data);
  def.q0 = own_start ? def.q0 : NULL;
  def.v0 = own_start ? def.v0 : NULL;
  def.log = core_messages_log(&messages);
  saltus_certificate certificate;
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_verify(&def, &certificate);
  PyEval_RestoreThread(released);
  if (core_functions_raised(scene) != 0) {
    core_messages_free(&messages);
    return NULL;
  }
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  core_messages_free(&messages);
  const saltus_scheme_info* scheme = saltus_scheme_find(data->data->scheme);
  const bool dense = scheme != NULL && scheme->chooses_step && scheme->dense;
  const bool every = saltus_verify_has_steps(data->data, dense);
  if (!every) {
    saltus_certificate_without_steps(&certificate, dense);
  }
  return certificate_object(&certificate, every);
}

static PyObject* pairs_object(const saltus_comparison* c) {
  PyObject* list = PyList_New((Py_ssize_t)c->pair_count);
  for (long long i = 0; list != NULL && i < c->pair_count; i++) {
    const saltus_event_pair* p = &c->pairs[i];
    PyObject* item = Py_BuildValue("LLdd", p->a, p->b, p->dt, p->impulse);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject* comparison_object(const core_state* state, const saltus_comparison* c) {
  PyObject* d = PyDict_New();
  bool good = d != NULL && core_put(d, "start", PyFloat_FromDouble(c->start)) == 0 &&
              core_put(d, "end", PyFloat_FromDouble(c->end)) == 0 &&
              core_put(d, "q", core_array_copy(state, c->position, c->nq)) == 0 &&
              core_put(d, "q_at", core_array_copy(state, c->position_at, c->nq)) == 0 &&
              core_put(d, "q_mean", core_array_copy(state, c->position_mean, c->nq)) == 0 &&
              core_put(d, "q_graph", core_array_copy(state, c->position_graphs, c->nq)) == 0 &&
              core_put(d, "v_graph", core_array_copy(state, c->velocity_graphs, c->nv)) == 0 &&
              core_put(d, "pairs", pairs_object(c)) == 0 &&
              core_put(d, "only_a", PyLong_FromLongLong(c->only_a)) == 0 &&
              core_put(d, "only_b", PyLong_FromLongLong(c->only_b)) == 0;
  if (!good) {
    Py_XDECREF(d);
    return NULL;
  }
  return d;
}

/* compare(a, b, match, any) */
PyObject* core_compare(PyObject* module, PyObject* args) {
  const core_state* state = core_state_of(module);
  PyObject *first, *second;
  saltus_compare_def def = saltus_compare_def_default();
  int any;
  if (!PyArg_ParseTuple(args, "O!O!dp", (PyObject*)state->data_type, &first,
                        (PyObject*)state->data_type, &second, &def.match, &any)) {
    return NULL;
  }
  const core_data* a = (core_data*)first;
  const core_data* b = (core_data*)second;
  if (a->data->q_labels == NULL || a->data->v_labels == NULL || b->data->q_labels == NULL ||
      b->data->v_labels == NULL || !(def.match >= 0.0)) {
    PyErr_SetString(PyExc_ValueError, "motions without names of coordinates cannot be compared");
    return NULL;
  }
  core_messages messages;
  saltus_comparison* comparison;
  def.a = a->data;
  def.b = b->data;
  def.system = a->scene != NULL ? a->scene->view.system : NULL;
  def.any = any != 0;
  def.log = core_messages_log(&messages);
  PyThreadState* released = PyEval_SaveThread();
  saltus_status status = saltus_compare(&def, &comparison);
  PyEval_RestoreThread(released);
  if (status != SALTUS_OK) {
    return core_raise(state, status, &messages);
  }
  core_messages_free(&messages);
  PyObject* answer = comparison_object(state, comparison);
  saltus_comparison_destroy(comparison);
  return answer;
}
